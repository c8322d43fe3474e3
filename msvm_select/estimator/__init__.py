"""What scikit-learn can use of the machines; extra ``msvm-select[sklearn]``.

``MSVMClassifier`` trains one machine, ``MSVMSearchCV`` chooses one; ``to_sklearn``
makes an SVC of a model.
"""

try:
    import sklearn.base  # noqa: F401 (without it what follows would not say what to do)
except ImportError as error:
    raise ImportError(
        "msvm_select.estimator needs scikit-learn: pip install 'msvm-select[sklearn]'"
    ) from error

from msvm_select.estimator.classifier import MSVMClassifier
from msvm_select.estimator.search import MSVMSearchCV
from msvm_select.estimator.svc import to_sklearn

__all__ = ["MSVMClassifier", "MSVMSearchCV", "to_sklearn"]

"""What the estimators share: samples as scikit-learn checks them, tags, score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from msvm_select.phrases import quoted
from msvm_select.records import Dataset


# scikit-learn ships no types, so its bases count as Any.
class Learner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator that learns from a Dataset; ``kernel`` is one of its parameters."""

    def __sklearn_tags__(self) -> Any:
        """A precomputed kernel is split along both axes."""
        tags = super().__sklearn_tags__()
        kernels = [self.kernel] if isinstance(self.kernel, str) else list(self.kernel)
        tags.input_tags.pairwise = kernels == ["precomputed"]
        return tags

    def _dataset(self, X: ArrayLike, y: ArrayLike) -> Dataset:
        """What scikit-learn's checks leave of X and y; the classes as 0, 1, ..."""
        samples, targets = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(targets)
        self.classes_, codes = np.unique(targets, return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError(
                f"The data have the one class {quoted(str(self.classes_[0]))}; two "
                "classes are needed at least."
            )
        n = samples.shape[1]
        names = getattr(self, "feature_names_in_", [f"x{j + 1}" for j in range(n)])
        classes = tuple(map(str, range(self.classes_.size)))
        return Dataset(samples, codes.astype(np.int64), classes, tuple(names))

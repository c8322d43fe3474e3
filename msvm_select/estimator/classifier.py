"""The machine as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted, validate_data

from msvm_select.errors import DataError, KernelError, SettingsError, SolverError
from msvm_select.estimator.base import Learner
from msvm_select.left_out import first_of_largest
from msvm_select.model.fitting import fit
from msvm_select.model.model import Model
from msvm_select.records import Dataset, Floats

USED = {
    "rbf": ("gamma",),
    "polynomial": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
}


def _knows_probabilities(machine: MSVMClassifier) -> bool:
    """Whether it was asked to; an AttributeError that says how."""
    if not machine.probability:
        raise AttributeError(
            "MSVMClassifier knows probabilities with probability=True only."
        )
    return True


@dataclass(eq=False, repr=False)
class MSVMClassifier(Learner):
    """The multi-class machine of Weston and Watkins, trained to a certified optimum.

    min 1/2 sum_k ||w_k||^2 + C sum_i sum_{k != y_i} xi_ik
    s.t. h_{y_i}(x_i) - h_k(x_i) >= 1 - xi_ik, xi_ik >= 0.

    With two classes it is the ordinary SVM at 2C. ``machine="ovo"`` is that of SVC and
    ``"ova"`` that of OneVsRestClassifier(SVC()), each with their C. Nothing is scaled
    unless ``scale`` says so: put a StandardScaler before it in a Pipeline.

    Parameters
    ----------
    C : the weight of the slacks.
    kernel : "linear", "polynomial" or "poly", "rbf", "sigmoid" or "precomputed".
    gamma : a number; "scale" for 1 / (features x variance); "auto" for 1 / features;
        None for the default of the kernel: 1 for the polynomial, else that of "scale".
    degree, coef0 : the polynomial is (gamma x.z + coef0)^degree; the sigmoid has coef0.
    machine : "ww", "ovo" or "ova".
    loss : "l1", the hinge, or "l2", the slacks of a sample squared together.
    class_weight : weights by class, by which C is multiplied, or "balanced".
    scale : "none", "standard" or "minmax".
    solver : "exact", "smo", "osqp" or "qp".
    probability : judge each sample without itself as well, for ``predict_proba``.
    tol : the relative duality gap to train to; a ConvergenceWarning if it is not met.
    allow_indefinite : train on a Gram matrix that fails Mercer's test.
    low_rank : at most so many dimensions for the kernel matrix, by pivots (Nystroem).

    Attributes
    ----------
    classes_ : (Q,) the classes, sorted.
    model_ : the trained Model, with its certificate.
    support_ : (n_sv,) the positions of the support vectors.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.
    """

    C: float = 1.0
    kernel: str = "rbf"
    _: KW_ONLY
    gamma: float | str | None = "scale"
    degree: float = 3
    coef0: float = 0.0
    machine: str = "ww"
    loss: str = "l1"
    class_weight: Any = None
    scale: str = "none"
    solver: str = "exact"
    tol: float = 1e-8
    probability: bool = False
    allow_indefinite: bool = False
    low_rank: int | None = None

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> MSVMClassifier:
        """Train on X (m, n) and y (m,); the C of sample i is C sample_weight_i."""
        given = self._given(X, y, sample_weight)
        self._keep(given.placed(self._trained(given.data)))
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """h_k(x) (p, Q); for two classes h_1(x) - h_0(x), of shape (p,).

        The machines of SVC and OneVsRestClassifier have theirs: with ``ovo`` the votes
        and a part below 1/3 for how clear they are, with ``ova`` and two classes half
        of the difference.
        """
        if self.machine == "ovo":
            f = self._asked(X, "pair_decisions")
            if self.classes_.size == 2:
                return -f[:, 0]
            return np.asarray(_ovr_decision_function(f <= 0.0, -f, self.classes_.size))
        h = self._asked(X, "outputs")
        if self.classes_.size > 2:
            return h
        return (h[:, 1] - h[:, 0]) / (2.0 if self.machine == "ova" else 1.0)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class (p,) of the largest h_k, or of most votes; the first in a tie."""
        best = first_of_largest(self._asked(X, "outputs"))
        labels: NDArray[Any] = self.classes_[best]
        return labels

    @available_if(_knows_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> Floats:
        """p (p, Q): softmax(h / T), one T for all that fits left-out samples best.

        The first of the largest is the class that ``predict`` gives. With ``ovo`` h are
        the votes and a part below 1/3 for how clear they are.
        """
        return self._asked(X, "probabilities")

    @available_if(_knows_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """ln p (p, Q)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _keep(self, model: Model) -> None:
        """It is the machine from now on."""
        self.model_, self.support_ = model, model.support
        if not model.certificate.converged:
            reason = model.certificate.reason
            warnings.warn(reason, ConvergenceWarning, stacklevel=3)

    def _asked(self, X: ArrayLike, what: str) -> Floats:
        """The model's ``outputs`` or ``pair_decisions``."""
        check_is_fitted(self)
        samples = validate_data(self, X, dtype=np.float64, reset=False)
        try:
            found: Floats = getattr(self.model_, what)(samples)
            return found
        except DataError as error:
            raise ValueError(str(error)) from error

    def _trained(self, data: Dataset) -> Model:
        """The model; errors as the kind that scikit-learn raises."""
        kernel = "polynomial" if self.kernel == "poly" else self.kernel
        given = {name: getattr(self, name) for name in USED.get(kernel, ())}
        try:
            return fit(
                data,
                kernel=kernel,
                C=self.C,
                **given,
                machine=self.machine,
                loss=self.loss,
                class_weight=self._class_weight,
                scale=self.scale,
                solver=self.solver,
                gap=self.tol,
                allow_indefinite=self.allow_indefinite,
                low_rank=self.low_rank,
                probabilities=self.probability,
            )
        except (DataError, KernelError, SettingsError, SolverError) as error:
            raise ValueError(str(error)) from error

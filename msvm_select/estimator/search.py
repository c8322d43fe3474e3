"""The estimator that chooses its own C, kernel and parameters, by a sweep."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

try:
    from sklearn.utils._repr_html.estimator import _VisualBlock
except ImportError:  # before scikit-learn 1.7
    from sklearn.utils._estimator_html_repr import _VisualBlock

from msvm_select.columns import Row
from msvm_select.errors import MsvmError
from msvm_select.estimator.base import Given, Learner
from msvm_select.estimator.classifier import MSVMClassifier
from msvm_select.estimator.cv_results import cv_results, in_grid_order, params_of
from msvm_select.model.fitting import calibration_of, model_of
from msvm_select.names import METRICS
from msvm_select.records import Dataset, Floats
from msvm_select.results.choosing import edges
from msvm_select.results.ranking import Results
from msvm_select.settings import Layer, Settings, sweep_settings
from msvm_select.sweep.cells import Kept
from msvm_select.sweep.headway import Headway
from msvm_select.sweep.loop import swept
from msvm_select.sweep.telling import Pace, lines, log_line
from msvm_select.train.events import CellDone, Event, silent

GRIDS = ("C", "kernel", "gamma", "degree", "coef0", "low_rank")
MACHINE = (*("machine", "loss", "class_weight", "scale", "solver", "allow_indefinite"),)
CHOICE = ("criteria", "metric", "rank_by", "select", "race", "extend", "time_budget")
HOW = ("jobs", "seed")


def _is_refitted(search: MSVMSearchCV) -> bool:
    """Whether there is a machine to ask; an AttributeError that says why not."""
    if not search.refit:
        raise AttributeError(
            "MSVMSearchCV has kept no machine, since refit=False: train one by "
            "MSVMClassifier(**search.best_params_)."
        )
    return True


def _has_probabilities(search: MSVMSearchCV) -> bool:
    """Whether that machine was asked for probabilities."""
    if not search.probability:
        raise AttributeError(
            "MSVMSearchCV knows probabilities with probability=True only."
        )
    return _is_refitted(search)


@dataclass(eq=False, repr=False)
class MSVMSearchCV(Learner):
    """A classifier that chooses its C, kernel and parameters by exact leave-one-out.

    Every cell of the grid C x kernel is trained on all samples and scored by the
    ``criteria``. The best machine is kept as it was trained: there is nothing to refit.

    >>> search = MSVMSearchCV(machine="ovo").fit(X, y)
    >>> search.best_params_, search.best_score_, search.predict(X)

    Parameters
    ----------
    C, gamma, degree, coef0 : grids: numbers, or text as the command line has it
        ("2^-3:2^9:7"). By default C = 1/8, 1/2, ..., 512 and five values of gamma
        around 1 / (features x variance), and the grid is widened at its edges.
    kernel : a kernel, or several.
    machine, loss, class_weight, scale, solver, tol, allow_indefinite : those of
        MSVMClassifier.
    criteria : "loo", "logo", "cv:5", "span" and so on, or several; see
        ``msvm-select show criteria``. By default "loo", or "logo" where ``fit`` is
        given groups.
    metric : "error", "balanced-error", "macro-f1", "log-loss", "smooth-error", "auc" or
        "cost:FILE", or several, of the answers of the first criterion that has some.
    rank_by : the one that decides; by default the first metric, else the first
        criterion.
    select : "best", "simplest" or "1se".
    race : only so many cells are judged to the end.
    extend : how often the grid may be widened; by default twice without a grid.
    time_budget : seconds, or "10m".
    jobs : kernel settings at the same time; the results do not depend on it.
    seed : for the criteria that shuffle, and for ``subsample``.
    subsample : sweep only so many of the samples, of each class its share, groups kept
        whole. The machine is then trained on these.
    low_rank : at most so many dimensions for the kernel matrix; or several numbers.
    refit : keep the machine, to predict with.
    probability : so that it has ``predict_proba``, as MSVMClassifier has it.
    verbose : 1 tells on stderr how far it is, 2 tells every cell.

    Attributes
    ----------
    results_ : the ranked Results of the sweep, with every column.
    cv_results_ : the same in scikit-learn's shape, in the order of the grid.
    best_params_, best_score_, best_index_ : the cell that was chosen; the score of an
        error rate is 1 - rate, of others the negative where less is better.
    best_estimator_ : its machine, an MSVMClassifier.
    classes_, n_features_in_, feature_names_in_ : as everywhere in scikit-learn.
    """

    C: Any = None
    kernel: Any = "rbf"
    _: KW_ONLY
    gamma: Any = None
    degree: Any = None
    coef0: Any = None
    machine: str = "ww"
    loss: str = "l1"
    class_weight: Any = None
    scale: str = "none"
    criteria: Any = None
    metric: Any = None
    rank_by: str | None = None
    select: str = "best"
    race: int | None = None
    extend: int | None = None
    time_budget: float | str | None = None
    jobs: int = 1
    seed: int = 0
    solver: str = "exact"
    tol: float = 1e-8
    allow_indefinite: bool = False
    refit: bool = True
    probability: bool = False
    verbose: int = 0
    subsample: int | None = None
    low_rank: Any = None

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> MSVMSearchCV:
        """Sweep the grid on X (m, n) and y (m,), choose a cell and keep its machine.

        The C of sample i is C sample_weight_i. ``groups`` (m,) says which samples
        belong together: no machine judges one of a group that it has seen.
        """
        given = self._given(X, y, sample_weight, groups)
        try:
            given = given.drawn(self.subsample, self.seed)
            settings = self._settings(given.data)
            progress = Aloud(self.verbose) if self.verbose else silent
            results, kept = swept(given.data, settings, progress)
        except MsvmError as error:
            raise ValueError(str(error)) from error
        row = _chosen(results)
        rows = in_grid_order(results)
        self.results_ = results
        self.cv_results_ = cv_results(rows, results)
        self.best_index_ = rows.index(row)
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        if self.verbose:
            _say_the_end(results, row)
        if self.refit:
            self.best_estimator_ = self._refitted(given, row, kept)
        return self

    @available_if(_is_refitted)  # type: ignore[untyped-decorator]
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class (p,) by the best machine."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(_is_refitted)  # type: ignore[untyped-decorator]
    def decision_function(self, X: ArrayLike) -> Floats:
        """That of the best machine."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> Floats:
        """That of the best machine."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict_proba(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """That of the best machine."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict_log_proba(X))

    def _settings(self, data: Dataset) -> Settings:
        """What was said, checked; with groups the criterion is another by default."""
        names = (*GRIDS, *MACHINE, *CHOICE, *HOW)
        values = {name: getattr(self, name) for name in names}
        usual = {"criteria": "loo" if data.groups is None else "logo"}
        more = {"gap": self.tol, "class_weight": self._class_weight}
        by = {} if values["criteria"] or _is_criterion(values["rank_by"]) else usual
        return sweep_settings([Layer({**values, **more, **by})])

    def _refitted(self, given: Given, row: Row, kept: Kept) -> MSVMClassifier:
        """The machine of the cell as it was trained, or trained again if not kept."""
        fixed = {name: getattr(self, name) for name in MACHINE}
        fixed |= {"tol": self.tol, "probability": self.probability}
        best = MSVMClassifier(**params_of(row), **fixed)
        best.classes_, best.n_features_in_ = self.classes_, self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            best.feature_names_in_ = self.feature_names_in_
        cell, data = kept.of(row), given.data
        if cell is None:
            model = best._trained(data)
        else:
            trained = cell.again(data, kept.settings)
            found = None
            if self.probability:
                loo = kept.settings.criteria[0] == "loo"
                found = calibration_of(trained, cell.left_out if loo else None)
            model = model_of(trained, self.solver, found)
        best._keep(given.placed(model))
        return best

    def _sk_visual_block_(self) -> Any:
        """In a notebook, once it is fitted: with the best machine within."""
        best = getattr(self, "best_estimator_", None)
        if best is None:
            return _VisualBlock(
                "single", self, names=type(self).__name__, name_details=str(self)
            )
        name = f"best_estimator_: {type(best).__name__}"
        return _VisualBlock("parallel", [best], names=[name], name_details=[str(best)])


def _is_criterion(rank_by: str | None) -> bool:
    """Whether what decides was told, and is no metric."""
    if rank_by is None:
        return False
    return rank_by.partition(":")[0].replace("_", "-") not in METRICS


def _chosen(results: Results) -> Row:
    """The row that was chosen; a ValueError with a reason where none counts."""
    if (row := results.chosen) is not None:
        return row
    reasons = [row.status_reason for row in results.rows if row.status_reason]
    why = reasons[0] if reasons else "it does not hold in any cell"
    raise ValueError(f"No cell has a score by {results.rank_by} that counts: {why}.")


class Aloud:
    """Tells on stderr how far a sweep is: now and then, or at every cell."""

    def __init__(self, verbose: int) -> None:
        """From 2 on at every cell."""
        began = time.monotonic()
        self.verbose, self.lock = verbose, threading.Lock()
        self.headway, self.pace = Headway(began), Pace(began, began)

    def __call__(self, event: Event) -> None:
        """Events may come from several threads."""
        now = time.monotonic()
        with self.lock:
            self.headway.hear(event, now)
            for line, is_detail in lines(event):
                if not is_detail or self.verbose > 1:
                    _say(line)
            if isinstance(event, CellDone) and (
                self.verbose > 1 or self.pace.is_due(now)
            ):
                _say(log_line(self.headway.facts(now)))


def _say_the_end(results: Results, row: Row) -> None:
    """The cell that was chosen, and the edges that the best one lies on."""
    column, cells = results.column, len(results.rows)
    value = f"{column} {row.value(column):.4g}"
    _say(f"Chosen of {cells} cells: {row.cell}, {value}")
    for edge in edges(results):
        _say(f"Warning: {edge.text}.")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

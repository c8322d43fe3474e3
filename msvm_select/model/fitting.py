"""One cell -> a trained Model; a cell of earlier results, trained again and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from msvm_select.columns import CELL, Row
from msvm_select.criteria.leave_group_out import LeaveOneGroupOut
from msvm_select.criteria.leave_one_out import every_margin_of
from msvm_select.data.read import split_reading
from msvm_select.errors import DataError, SettingsError
from msvm_select.handover import one_blas_thread
from msvm_select.kernels.low_rank import LowRank
from msvm_select.left_out import LeftOut
from msvm_select.metrics.base import Answers
from msvm_select.metrics.calibration import Calibration
from msvm_select.model.examined import check_optimum
from msvm_select.model.model import Certificate, Model, Training
from msvm_select.phrases import listed
from msvm_select.records import Columns, Dataset, Floats, Ints
from msvm_select.results.choosing import as_chosen
from msvm_select.results.ranking import Results, data_summary, versions
from msvm_select.settings import Settings, settings_from
from msvm_select.settings.catalogue import (
    READING,
    SETTINGS,
    TRAINING,
    reading_value,
)
from msvm_select.train.along_C import Trained, train_cell
from msvm_select.train.events import Progress, silent

TOLD = (*CELL, "machine", "loss", "solver")
REMEMBERED = tuple(
    name
    for name, option in SETTINGS.items()
    if option.heading == TRAINING and option.decides and not option.of_grids
)
"""What else decides a machine: a file of results has it among its settings."""
WORDS = {
    "n_samples": "samples",
    "n_features": "features",
    "n_classes": "classes",
    "features": "the names of the features",
    "classes": "the samples of each class",
    "target": "the class column",
}
SHORT = 60  # characters of a value that a message can hold
ROUNDING = 1e-6  # of the dual objective, beside what the gaps allow


def fit(
    data: Any,
    *,
    probabilities: bool = False,
    progress: Progress = silent,
    **values: Any,
) -> Model:
    """Train one machine, at one C and one kernel setting.

    ``data`` is a path, a DataFrame, a pair (X, y) or a Dataset. The ``values`` are
    those of ``run_sweep``: settings by name, with the same defaults but C = 1, each of
    one value; and the options of ``load_csv``, such as ``target``. ``machine="ovo"`` is
    LIBSVM's, one against one, and ``"ova"`` one against all; ``loss="l2"`` squares the
    slacks. A machine that does not converge says so in its certificate. With
    ``probabilities`` each sample is judged without itself, for ``model.probabilities``.

    >>> fit(load_csv("data/iris.csv"), C=1, gamma=0.25).save("iris.json")
    """
    data, values = split_reading(data, {"C": 1.0, **values})
    # numpy's own scalars, as a grid search hands them over, are numbers like others
    plain = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in values.items()
    }
    return fit_settings(data, settings_from(plain), progress, probabilities)


def fit_settings(
    data: Dataset,
    settings: Settings,
    progress: Progress = silent,
    probabilities: bool = False,
) -> Model:
    """The machine of the only cell that ``settings`` have."""
    with one_blas_thread():
        trained = train_cell(data, settings, progress)
        calibration = calibration_of(trained) if probabilities else None
    return model_of(trained, settings.solver, calibration)


def calibration_of(trained: Trained, known: LeftOut | None = None) -> Calibration:
    """By exact leave-one-out; ``known`` is what there is of it already.

    Where the rows have groups, a whole group is left out at a time: a machine that has
    seen others of its group would be too sure of a sample.
    """
    cell = trained.cell
    check_optimum(cell, "no probability")
    if cell.data.groups is None:
        left_out = every_margin_of(cell, known)
        answers: Answers | None = Answers.left_out(left_out, cell.data)
    else:
        asked = replace(cell, needs="outputs")
        answers = LeaveOneGroupOut().score(asked).answers
    assert answers is not None
    return Calibration.of(answers)


def model_of(
    trained: Trained, solver: str, calibration: Calibration | None = None
) -> Model:
    """What is to be kept of a trained machine."""
    cell, kernel = trained.cell, trained.kernel
    data, solution, machine = cell.data, cell.solution, cell.machine.name
    support = np.flatnonzero(solution.is_support_vector)
    low = kernel if isinstance(kernel, LowRank) else None
    if low is not None:
        kernel, support = low.base, low.pivots.rows
        weights = _expanded(solution, machine, low, cell.scaling.apply(data.X))
    else:
        weights = _weights(solution, machine, support)
    Z = cell.scaling.apply(data.X[support])
    target = data.target
    return Model(
        kernel=kernel,
        C=solution.dual.weight,
        classes=data.classes,
        columns=data.columns
        or Columns(
            (*data.features, target),
            target,
            missing="mean" if np.isnan(data.X).any() else "error",
        ),
        scaling=cell.scaling,
        support=support,
        Z=Z if kernel.is_vector_kernel else Z[:, :0],
        **weights,
        certificate=_certificate(trained),
        training=Training(
            data=data.name,
            m=data.m,
            n_sv=solution.n_sv,
            n_bounded=solution.n_bounded,
            train_errors=solution.train_errors,
            solver=solver,
            loss="l1" if solution.dual.quadratic is None else "l2",
            drawn_from=data.drawn_from,
            low_rank=None if low is None else low.rank,
            rank_error=None if low is None else low.pivots.error,
        ),
        versions=versions(),
        machine=machine,
        calibration=calibration,
    )


def _weights(solution: Any, machine: str, support: Ints) -> dict[str, Any]:
    """``tau`` and ``b`` of a model, with ``ovo`` also ``y``."""
    if machine == "ww":
        return {"tau": solution.tau[support], "b": solution.b}
    parts, alpha = solution.parts, solution.alpha[support]
    if machine == "ova":
        return {"tau": parts.signs[support] * alpha, "b": solution.b}
    y, Q = parts.y[support], parts.Q
    table = np.full((Q, Q), -np.inf)
    table[tuple(parts.pairs.T)] = solution.b
    tau = np.where(y[:, None] > np.arange(Q), -alpha, alpha)
    return {"tau": tau, "b": table[np.triu_indices(Q, 1)], "y": y}


def _expanded(solution: Any, machine: str, kernel: LowRank, X: Floats) -> Any:
    """The same of a kernel of low rank: what each pivot adds to each output.

    w = Z'tau of an output is a sum over the pivots, and so the machine is one of the
    kernel itself, with the pivots for its support vectors.
    """
    Z = kernel.features(X)
    if machine == "ww":
        return {"tau": kernel.expansion(Z.T @ solution.tau), "b": solution.b}
    parts, alpha = solution.parts, solution.alpha
    if machine == "ova":
        w = Z.T @ (parts.signs * alpha)
        return {"tau": kernel.expansion(w), "b": solution.b}
    Q, y = parts.Q, parts.y
    of_class = np.stack([Z[y == k].T @ alpha[y == k] for k in range(Q)])
    first, second = np.triu_indices(Q, 1)
    w = of_class[first, :, second] - of_class[second, :, first]
    table = np.full((Q, Q), -np.inf)
    table[tuple(parts.pairs.T)] = solution.b
    return {"tau": kernel.expansion(w.T), "b": table[first, second]}


def _certificate(trained: Trained) -> Certificate:
    solution = trained.solution
    return Certificate(
        converged=solution.converged,
        reason=solution.reason,
        gap=solution.gap,
        kkt_violation=solution.kkt_violation,
        flow_imbalance=solution.flow_imbalance,
        b_unique=solution.b_unique,
        dual_objective=solution.dual_objective,
        smallest_eigenvalue=trained.test.smallest_eigenvalue,
        indefinite=trained.test.indefinite,
    )


@dataclass(frozen=True)
class CellOfResults:
    """The row of ``results`` that is to be trained; ``path`` is for messages."""

    path: str
    results: Results
    row: Row

    @property
    def values(self) -> dict[str, Any]:
        """The settings that the file tells of the cell, by name."""
        told = {name: self.results.settings.get(name) for name in REMEMBERED}
        told |= {name: getattr(self.row, name) for name in TOLD}
        told |= {"machine": told["machine"] or "ww", "loss": told["loss"] or "l1"}
        told["seed"] = (self.results.data.get("reading") or {}).get("seed")
        return {name: v for name, v in told.items() if v is not None and v != ""}

    @property
    def reading(self) -> dict[str, Any]:
        """How the data were read, as far as it was said and the file tells."""
        told = self.results.data.get("reading")
        if not isinstance(told, Mapping):
            return {}
        return {
            name: reading_value(name, value, self.path)
            for name, value in told.items()
            if name in READING
        }

    def where(self, name: str) -> str:
        """Where an option was said, for messages."""
        return self.path

    @property
    def name(self) -> str:
        """``ranked.json, rank 1: rbf gamma=0.5 C=8``, and who chose it."""
        choice = self.results.choice
        rule = ""
        if choice is not None and choice.row.rank == self.row.rank:
            rule = f" (chosen by {choice.rule})" if choice.rule != "best" else ""
        rank = "" if self.row.rank is None else f", rank {self.row.rank}"
        return f"{self.path}{rank}: {self.row.cell}{rule}"

    def check_data(self, data: Dataset) -> None:
        """Refuse data that the results are not of, with all that differs."""
        differ = list(_differences(self._told(), data_summary(data)))
        if differ:
            lines = "".join(f"\n  {line}" for line in differ)
            raise DataError(f"{data.name} is not what {self.path} is of:{lines}")

    def check_machine(self, objective: float, gap: float) -> None:
        """Refuse a machine whose dual objective is not that of the row.

        Both are within their gaps of the same optimum, if data, scaling and all else
        are the same.
        """
        before = self.row.dual_objective
        if before is None:
            return
        size = max(1.0, abs(before), abs(objective))
        room = max(0.0, gap) + max(0.0, self.row.gap or 0.0) + ROUNDING
        if abs(objective - before) <= room * size:
            return
        raise DataError(
            f"This is not the machine of {self.path}: its dual objective is "
            f"{objective:.10g}, that of the row {before:.10g}. The data, the way they "
            "are read, the scaling or the class weights are not those of the sweep."
        )

    def _told(self) -> dict[str, Any]:
        """What the file says of its data; a csv says little."""
        row = {"n_samples": self.row.n_samples, "n_classes": self.row.n_classes}
        return {**{k: v for k, v in row.items() if v}, **self.results.data}


def cell_of(
    path: str, results: Results, rank: int | None = None, rule: str | None = None
) -> CellOfResults:
    """The row of this rank, or the one that ``rule`` chooses.

    Without them the one that the file chose, else its first.
    """
    if rank is None:
        if rule is not None:
            results = as_chosen(results, rule=rule)
            if results.choice is None:
                raise SettingsError(
                    f"{path}: no cell has a score by {results.rank_by} that counts."
                )
        choice = results.choice
        row = results.rows[0] if choice is None else choice.row
        return CellOfResults(path, results, row)
    numbered = {row.rank or i: row for i, row in enumerate(results.rows, 1)}
    if rank not in numbered:
        raise SettingsError(
            f"{path} has no row of rank {rank}; it has {min(numbered)} to "
            f"{max(numbered)}."
        )
    return CellOfResults(path, results, numbered[rank])


def _differences(told: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[str]:
    for name, word in WORDS.items():
        if name not in told or told[name] == here[name]:
            continue
        pair = [_short(here[name]), _short(told[name])]
        yield f"{word}: {pair[0]} here, {pair[1]} there"


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        value = [f"{name} {count}" for name, count in value.items()]
    text = listed(value) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= SHORT else f"{text[:SHORT]} ..."

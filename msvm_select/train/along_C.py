"""THE loop over C: every training of a machine in this program runs through it.

C ascends, and each training starts at the last solution. Beyond hard margin the last
solution is the next one too, and nothing is trained. A cell that cannot be trained is a
value like the others, ``Failed``, and not an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from msvm_select.columns import HARD, Row
from msvm_select.criteria.base import Cell
from msvm_select.errors import KernelError, MsvmError, SettingsError, SolverError
from msvm_select.handover import ALONE, Hands
from msvm_select.kernels.base import Kernel
from msvm_select.machines.base import Machine
from msvm_select.names import LOSSES, MACHINES
from msvm_select.records import Dataset, Gram
from msvm_select.settings import PARAMETERS, Settings
from msvm_select.solution import Solution
from msvm_select.solvers.base import Solver
from msvm_select.train import events
from msvm_select.train.compiling import noted
from msvm_select.train.events import GramTested, Progress, silent
from msvm_select.train.prepare import Prepared, make_solver, prepared, refusal, tested
from msvm_select.train.widest import widest


@dataclass(frozen=True, eq=False)
class Trained:
    """One trained cell, ready for any criterion; ``test`` is that of its Gram matrix.

    Callers ask the cell and not the solver, so that a machine may have several parts.
    """

    kernel: Kernel
    C: float
    cell: Cell
    test: GramTested

    @property
    def solution(self) -> Solution:
        """The machine, which certifies itself."""
        return self.cell.solution

    @property
    def point(self) -> dict[str, Any]:
        """Where on the grid it is, by column."""
        return {"kernel": self.kernel.name, **self.kernel.parameters, "C": self.C}

    @property
    def warning(self) -> str:
        """What is wrong with the Gram matrix; empty where nothing is."""
        return self.test.warning


@dataclass(frozen=True, eq=False)
class Failed:
    """A cell that could not be trained, and why."""

    kernel: Kernel
    C: float
    error: MsvmError
    reason: str


def along_C(
    ready: Prepared,
    kernel: Kernel,
    progress: Progress = silent,
    Cs: Iterable[float] | None = None,
    hands: Hands = ALONE,
) -> Iterator[Trained | Failed]:
    """The cells of one kernel setting at ``Cs`` (default: those of the settings).

    Where C falls, training begins anew. What is done in a cell may use
    as many threads as ``hands`` have for it then.
    """
    Cs = ready.settings.C if Cs is None else Cs
    try:
        gram, test = tested(kernel, ready)
    except KernelError as error:
        yield from (Failed(kernel, C, error, str(error)) for C in Cs)
        return
    progress(test)
    data, settings = ready.data, ready.settings
    if test.indefinite and not settings.allow_indefinite:
        reason = f"{test.warning}; --allow-indefinite trains it all the same"
        yield from (Failed(kernel, C, refusal(test), reason) for C in Cs)
        return
    solver = make_solver(settings)
    machine = MACHINES[settings.machine](LOSSES[settings.loss]())
    train = _trainer(ready, machine, solver, gram, not test.indefinite, hands)
    last: Any = None
    before = 0.0
    for C in Cs:
        last, before = last if C > before else None, C
        progress(events.CellStarted(kernel, C))
        try:
            solution = train(C, last)
        except SolverError as error:
            yield Failed(kernel, C, error, str(error))
            continue
        last = solution if settings.warm_start else None
        tell = events.counter(kernel, C, progress)
        cell = Cell(
            data, ready.scaling, kernel, solver, solution,
            hands.each, tell, settings.constants, machine, not test.indefinite,
            gram=gram,
        )  # fmt: skip
        yield Trained(kernel, C, cell, test)


def _trainer(
    ready: Prepared,
    machine: Machine,
    solver: Solver,
    gram: Gram,
    certain: bool,
    hands: Hands,
) -> Callable[[float, Any], Any]:
    """What trains at C from another machine; at C = inf, see ``widest``."""
    data = ready.data

    def train(C: float, start: Any) -> Any:
        return machine.train(
            solver, gram, data.y, data.Q, C, start, certain, hands.each, ready.weights
        )

    def at_any(C: float, start: Any) -> Any:
        return train(C, start) if C < HARD else widest(train, gram, data, start)

    return at_any


def one_setting(
    data: Dataset, settings: Settings, progress: Progress = silent
) -> Iterator[Trained]:
    """The cells of the only kernel setting of ``settings``; raises what fails."""
    ready = prepared(data, settings)
    if (count := len(ready.kernels)) > 1:
        raise SettingsError(
            f"Paths are those of one kernel setting, and there are {count}: "
            f"give one --kernel, and one value of each of {', '.join(PARAMETERS)}."
        )
    (kernel,) = ready.kernels
    ready.check_memory()
    progress(noted(ready.started()))
    for cell in along_C(ready, kernel, progress, hands=Hands(settings.jobs)):
        if isinstance(cell, Failed):
            raise cell.error
        yield cell
        progress(events.CellDone(Row(**cell.point)))


def train_cell(
    data: Dataset, settings: Settings, progress: Progress = silent
) -> Trained:
    """The only cell that ``settings`` have, trained, ready for any criterion."""
    for name in ("kernel", "C", *PARAMETERS):
        count = len(getattr(settings, name) or ())
        if count > 1:
            raise SettingsError(
                f"{name} has {count} values, but one machine is trained here: give one "
                "value, or let msvm-select sweep try them all."
            )
    return next(one_setting(data, settings, progress))

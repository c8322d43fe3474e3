"""The events of a training or a sweep, and the one road that they take.

Cells and rows are yielded. Everything else is told to a ``Progress``, a function that
takes an event. The events of one kernel setting come in order, from the thread that
trains it; those of several settings may come at the same time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msvm_select.columns import Row
from msvm_select.kernels.base import Kernel
from msvm_select.kernels.mercer import INDEFINITE
from msvm_select.left_out import LeftOut

if TYPE_CHECKING:
    from msvm_select.train.along_C import Trained


@dataclass(frozen=True)
class Started:
    """The training begins; what it will go through."""

    name: str
    m: int
    features: int
    Q: int
    kernels: int
    Cs: int
    solver: str
    loss: str = "l1"
    criteria: tuple[str, ...] = ()
    rank_by: str = ""
    jobs: int = 1
    machine: str = "ww"
    C: tuple[float, ...] = ()
    time_budget: float | None = None
    metrics: tuple[str, ...] = ()
    is_remote: bool = False  # other machines train
    note: str = ""

    @property
    def cells(self) -> int:
        """How many machines there are to train."""
        return self.kernels * self.Cs


@dataclass(frozen=True)
class Widened:
    """The grid of ``name`` gets more values, for the reason ``why``; round by round."""

    round: int
    rounds: int
    name: str
    values: tuple[float, ...]
    why: str
    cells: int


@dataclass(frozen=True)
class Resumed:
    """A journal was opened: so many of the cells are in it; what else to know."""

    journal: str
    cells: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class GramTested:
    """Mercer's test of one kernel setting; NaN where theory made it needless."""

    kernel: Kernel
    smallest_eigenvalue: float
    indefinite: bool
    seconds: float = 0.0  # of the Gram matrix and the test
    near_identity: bool = False  # too rough for these data: no two samples are alike

    @property
    def warning(self) -> str:
        """What is wrong with the Gram matrix; empty where nothing is."""
        return INDEFINITE.format(self.smallest_eigenvalue) if self.indefinite else ""

    @property
    def facts(self) -> dict[str, Any]:
        """What a JSON file says of it."""
        return {
            "kernel": self.kernel.name,
            **self.kernel.parameters,
            **self.kernel.facts,
            "smallest_eigenvalue": self.smallest_eigenvalue,
            "indefinite": self.indefinite,
        }


@dataclass(frozen=True)
class Workers:
    """Who works for us on a cluster, ``lanes`` chains at a time; who went and came."""

    cluster: str
    count: int
    lanes: int
    gone: tuple[str, ...] = ()
    came: tuple[str, ...] = ()


@dataclass(frozen=True)
class Noted:
    """A worker has something to say that a person should know."""

    text: str


@dataclass(frozen=True)
class CellStarted:
    """A machine is about to be trained."""

    kernel: Kernel
    C: float


@dataclass(frozen=True)
class CellProgress:
    """A criterion is at work on a cell: so many of so many steps are done."""

    kernel: Kernel
    C: float
    done: int
    of: int


@dataclass(frozen=True)
class Scored:
    """A criterion is through with a cell; what it took."""

    kernel: Kernel
    C: float
    criterion: str
    seconds: float


@dataclass(frozen=True, eq=False)
class CellDone:
    """A row is finished, or was in an earlier run (``resumed``).

    ``trained`` and ``left_out`` are its machine and what leave-one-out found, as far as
    they are there: for those who keep them, since they are large.
    """

    row: Row
    resumed: bool = False
    trained: Trained | None = None
    left_out: LeftOut | None = None


Event = (
    Started
    | Widened
    | Resumed
    | GramTested
    | Workers
    | Noted
    | CellStarted
    | CellProgress
    | Scored
    | CellDone
)
Progress = Callable[[Event], None]


def silent(event: Event) -> None:
    """Ignore the event."""


def counter(kernel: Kernel, C: float, progress: Progress) -> Callable[[int, int], None]:
    """What a criterion calls to tell how many of its steps on a cell are done."""

    def tell(done: int, of: int) -> None:
        progress(CellProgress(kernel, C, done, of))

    return tell


@dataclass(eq=False)
class Stopwatch:
    """Listens to a sweep and hands all on; ``scored`` keeps what each scoring took.

    The sweep's threads may tell at the same time, so nothing is added up on the way.
    """

    listener: Progress = silent
    scored: list[Scored] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        """Note the time of a scoring."""
        if isinstance(event, Scored):
            self.scored.append(event)
        self.listener(event)

    @property
    def seconds(self) -> dict[str, float]:
        """By criterion, over all cells."""
        sums: dict[str, float] = {}
        for event in self.scored:
            sums[event.criterion] = sums.get(event.criterion, 0.0) + event.seconds
        return sums

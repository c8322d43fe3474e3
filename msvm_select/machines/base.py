"""The contracts of a loss and of a machine.

A loss turns labels, Gram matrix and C into a ``Dual``, the problem to be solved. A
machine says which such problems there are, and decides from what solves them: one
problem for all classes (Weston-Watkins), or parts of two classes (``composed``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Unpack

from msvm_select.left_out import Asked, LeftOut
from msvm_select.records import Dual, Floats, Gram, Ints, Mask

if TYPE_CHECKING:
    from msvm_select.solvers.base import Solver


class Loss(ABC):
    """How slacks are paid for; known by its primal problem and the dual of it."""

    name: ClassVar[str]

    @abstractmethod
    def dual(
        self, gram: Gram, y: Ints, Q: int, C: float, weights: Floats | None = None
    ) -> Dual:
        """The training problem for the labels y (m,) in 0..Q-1, with C_i = C w_i."""


class Task(NamedTuple):
    """What to train on, and how: the arguments of ``Machine.train``."""

    solver: Solver
    gram: Gram
    y: Ints
    Q: int
    C: float
    certain: bool = True
    jobs: int = 1
    weights: Floats | None = None


class Machine(ABC):
    """A multi-class SVM with a loss. What it trains certifies itself."""

    name: ClassVar[str]

    def __init__(self, loss: Loss) -> None:
        """``loss``: of every problem that it trains."""
        self.loss = loss

    def train(
        self,
        solver: Solver,
        gram: Gram,
        y: Ints,
        Q: int,
        C: float,
        last: Any = None,
        certain: bool = True,
        jobs: int = 1,
        weights: Floats | None = None,
    ) -> Any:
        """The trained machine at C, begun at the ``last`` one along C.

        With ``weights`` (m,) C of sample i is C w_i.

        Where K may be indefinite nothing is ``certain`` to stay beyond hard margin.
        """
        return self._trained(Task(solver, gram, y, Q, C, certain, jobs, weights), last)

    @abstractmethod
    def _trained(self, task: Task, last: Any) -> Any:
        """As ``train``."""

    def C_of(self, machine: Any) -> float:
        """The C that a machine was trained at, as it was asked for."""
        C: float = machine.dual.weight
        return C

    @abstractmethod
    def on(self, gram: Gram, machine: Any) -> Any:
        """The trained machine with another copy of its Gram matrix, or with none.

        What can be computed, and what the solver keeps for the next C, is left out.
        """

    @abstractmethod
    def leave_out(
        self, solver: Solver, machine: Any, **asked: Unpack[Asked]
    ) -> LeftOut:
        """Every sample judged by the machine without it."""

    @abstractmethod
    def without(
        self, solver: Solver, machine: Any, samples: Mask, moved: Floats | None = None
    ) -> tuple[Any, Ints]:
        """The machine of the other samples, trained from this one less theirs.

        Every class must have some. Second: with which samples it takes kernel values.
        ``moved`` (m, Q): by how much leaving them moved alpha at another C.
        """

    def moved(self, machine: Any, without: Any) -> Floats | None:
        """That, from the machine and the one without; None where nothing is begun so.

        One problem of all classes would have to be brought back into its flow.
        """
        return None

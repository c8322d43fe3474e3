"""The contract of a criterion: a trained cell -> the columns it fills.

A criterion that trains again is *given* the kernel and the solver. What it wants to
find again at the next C of the same kernel setting (warm starts) it hands out in
``carry`` and gets back: state is an argument and a result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from msvm_select.errors import SettingsError
from msvm_select.left_out import LeftOut, Tell, Watch, quiet, unwatched
from msvm_select.metrics.base import Answers
from msvm_select.names import LOSSES, MACHINES
from msvm_select.records import Dataset, Gram, Scaling
from msvm_select.solution import Solution

if TYPE_CHECKING:  # their contracts; a criterion is given both
    from msvm_select.kernels.base import Kernel
    from msvm_select.machines.base import Machine
    from msvm_select.solvers.base import Solver


@dataclass(frozen=True)
class Constants:
    """What the bounds leave open, and the user settles.

    A bound holds with probability 1 - ``delta``. ``maurey_c`` is the universal constant
    of Lemma 1 (Maurey, Carl), whose value the paper does not give; ``dimension`` is
    that of the feature space, where it is known better than by the kernel; ``union``
    pays for the constants that are taken from the trained machine.
    """

    delta: float = 0.05
    maurey_c: float = 1.0
    union: bool = False
    dimension: int | None = None


@dataclass(frozen=True, eq=False)
class Cell:
    """A trained cell with what it was trained from and by.

    A criterion may use ``jobs`` threads, and tells how far it is. ``machine``
    is what was trained on the ``gram``, and trains other samples.
    Without ``mercer`` the Gram matrix is indefinite, and no bound holds. ``watch`` may
    end the judging of a cell that loses a race. ``needs``: what is asked of the answer
    for each sample, one of NEEDS.
    """

    data: Dataset
    scaling: Scaling
    kernel: Kernel
    solver: Solver
    solution: Solution
    jobs: int = 1
    tell: Tell = quiet
    constants: Constants = Constants()
    machine: Machine = field(default_factory=lambda: MACHINES["ww"](LOSSES["l1"]()))
    mercer: bool = True
    watch: Watch = unwatched
    needs: str = ""
    gram: Gram = field(default_factory=Gram)


@dataclass(frozen=True)
class Score:
    """Columns of the row by name, and what the next C may start from.

    ``notes`` says what is not as it should be (a machine that was trained for the score
    and did not converge); a row with notes counts as not converged. ``left_out`` holds
    the answers of the machines without each sample, if the score is of them, and
    ``answers`` those of other criteria, if they were asked for.
    ``missing`` says which numbers could not be computed; the others count.
    """

    columns: Mapping[str, float | int | bool | None]
    carry: Any = None
    notes: tuple[str, ...] = ()
    left_out: LeftOut | None = None
    answers: Answers | None = None
    missing: str = ""

    def pooled(self, data: Dataset) -> Answers | None:
        """The answers, for metrics; None where there are none."""
        if self.answers is None and self.left_out is not None:
            return Answers.left_out(self.left_out, data)
        return self.answers


def no_optimum(cell: Cell, what: str) -> Score | None:
    """No ``what`` of a machine that is not at its optimum; None where it is at it."""
    if cell.solution.converged:
        return None
    return Score({}, notes=(f"no {what} of a machine that is not at its optimum",))


KINDS = {
    "exact": "the number itself",
    "bound": "above the error, if it applies",
    "estimate": "of the error, from machines trained on a part, or predicted",
    "index": "a number to rank by; it does not count errors",
}


class Criterion(ABC):
    """A number to rank cells by: the smaller, the better.

    ``kind`` is one of KINDS; ``applies`` says when it is what it claims to be, ``cost``
    what it takes beside the training; ``losses`` and ``of_machines`` are those that it
    is defined for; one that ``needs_groups`` is for data that have some.
    """

    name: ClassVar[str]
    column: ClassVar[str]
    kind: ClassVar[str]
    applies: ClassVar[str]
    cost: ClassVar[str]
    needs_groups: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("l1", "l2")
    of_machines: ClassVar[tuple[str, ...]] = ("ww", "ovo", "ova")

    @classmethod
    def parse(cls, argument: str | None, seed: int) -> Criterion:
        """The criterion as typed, ``name`` or ``name:argument``."""
        if argument is not None:
            raise SettingsError(f"The criterion {cls.name} takes no {argument!r}.")
        return cls()

    @abstractmethod
    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The columns for this cell; ``carry`` is that of the previous C, if any."""

    def carried(self, cells: Sequence[Cell], carry: Any = None) -> Any:
        """What ``score`` would hand out after these cells, whose scores are known.

        They follow the cell of ``carry``, C ascending. Here they are scored again;
        whoever keeps nothing, or only the last cell's, can do with less.
        """
        for cell in cells:
            carry = self.score(cell, carry).carry
        return carry

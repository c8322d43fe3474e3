"""The contract of a machine: labels + Gram + C -> Dual, the problem to be solved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from msvm_select.records import Dual, Gram, Ints


class Machine(ABC):
    """A multi-class SVM, known by its primal problem and the dual of it.

    ``name`` is that of its loss on the command line.
    """

    name: ClassVar[str]

    @abstractmethod
    def dual(self, gram: Gram, y: Ints, Q: int, C: float) -> Dual:
        """The training problem for the labels y (m,) in 0..Q-1."""

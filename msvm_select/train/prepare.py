"""What every training begins with: scaled samples, kernel settings, what is refused."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from msvm_select.errors import DataError
from msvm_select.kernels.base import Kernel
from msvm_select.memory import refuse_gram
from msvm_select.records import Dataset, Floats, Scaling
from msvm_select.settings import Settings
from msvm_select.sweep.progress import Started
from msvm_select.train.along_C import make_solver


@dataclass(frozen=True, eq=False)
class Prepared:
    """The samples X as the ``scaling`` leaves them, and the kernel settings."""

    data: Dataset
    settings: Settings
    scaling: Scaling
    X: Floats
    kernels: tuple[Kernel, ...]

    def check_memory(self) -> None:
        """Refuse Gram matrices that would not fit; a linear kernel needs none."""
        whole = sum(kernel.name != "linear" for kernel in self.kernels)
        refuse_gram(self.data.name, self.data.m, min(self.settings.jobs, whole))

    def started(self, ranked: bool = False) -> Started:
        """The first event; ``ranked``: the cells are also scored and ranked."""
        data, settings = self.data, self.settings
        m, n = data.X.shape
        sizes = (m, n, data.Q, len(self.kernels), len(settings.C))
        how = (settings.solver, settings.loss)
        scored = (settings.criteria, settings.rank_by, settings.jobs)
        return Started(data.name, *sizes, *how, *(scored if ranked else ()))


def prepared(data: Dataset, settings: Settings) -> Prepared:
    """All of it; refuses a single class, and options that the solver does not take."""
    if np.unique(data.y).size < 2:
        raise DataError(f"{data.name} has no two classes to tell apart.")
    make_solver(settings)
    scaling = Scaling.fit(data.X, settings.scale)
    X = scaling.apply(data.X)
    return Prepared(data, settings, scaling, X, settings.kernels(X))

"""What every training begins with: scaled samples, kernel settings, Mercer's gate."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from msvm_select.errors import DataError, KernelError, SettingsError
from msvm_select.footprint import Footprint
from msvm_select.kernels.base import Kernel
from msvm_select.kernels.low_rank import LowRank
from msvm_select.kernels.mercer import is_indefinite, smallest_eigenvalue
from msvm_select.memory import refuse_gram
from msvm_select.metrics.base import Metric
from msvm_select.names import KERNELS, METRICS, SOLVERS
from msvm_select.records import Blocks, Dataset, Factored, Floats, Gram, Scaling
from msvm_select.settings import Settings
from msvm_select.settings.values import BALANCED, known, weights_by_class
from msvm_select.solvers.base import Solver
from msvm_select.train.events import GramTested, Started

WHOLE = 3000  # samples up to which a whole Gram matrix is always held
WHOLE_OF_ALL = 8000  # the same where one machine is of all samples
ALONE = 0.05  # likeness to the nearest sample, below which a sample is alone
LOOKED_AT = 500  # samples that are looked at
TOO_ROUGH = (
    "{} is far beyond the scale of the data: no two samples are alike, and every one "
    "becomes a support vector"
)


@dataclass(frozen=True, eq=False)
class Prepared:
    """The samples X as the ``scaling`` leaves them, and the kernel settings."""

    data: Dataset
    settings: Settings
    scaling: Scaling
    X: Floats
    kernels: tuple[Kernel, ...]

    @cached_property
    def weights(self) -> Floats | None:
        """C_i / C of each sample (m,), see ``weights_of``."""
        return weights_of(self.data, self.settings.class_weight)

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """What is made of the answers, the error rate apart; reads tables of costs."""
        asked = [one.partition(":") for one in self.settings.metric or ()]
        return tuple(
            METRICS[name].parse(argument if colon else None, self.data.classes)
            for name, colon, argument in asked
            if name != "error"
        )

    def check(self) -> None:
        """Refuse what does not fit into memory, and a bad table of costs."""
        self.check_memory()
        assert self.metrics is not None  # it is read now

    def check_memory(self) -> None:
        """Refuse Gram matrices that do not fit; some machines and kernels need none."""
        pairs, m = replace(self.settings, machine="ovo"), self.data.m
        never = all(in_blocks(kernel, m, pairs) for kernel in self._held)
        refuse_gram(self.data.name, self.footprint, never and self.data.Q > 2)

    @property
    def _held(self) -> list[Kernel]:
        """The kernel settings that need a matrix at all."""
        return [kernel for kernel in self.kernels if not is_linear(kernel)]

    @cached_property
    def footprint(self) -> Footprint:
        """What the sweep holds; where kernel settings differ, the larger."""
        data, settings, held = self.data, self.settings, self._held
        blocks = all(in_blocks(kernel, data.m, settings) for kernel in held)
        pairs = blocks and settings.machine == "ovo"
        sizes = np.sort(np.bincount(data.y, minlength=2))
        ranks = [kernel.rank for kernel in held if isinstance(kernel, LowRank)]
        return footprint_of(
            settings, data.m, data.Q,
            needs_none=not held, pair=int(sizes[-2:].sum()) if pairs else None,
            shrinks=blocks and not pairs, jobs=min(settings.at_once, max(1, len(held))),
            in_order=bool((np.diff(data.y) >= 0).all()),
            twins=np.unique(self.X, axis=0).shape[0] < data.m,
            rank=min(data.m, max(ranks, default=0)),
        )  # fmt: skip

    def started(self, ranked: bool = False) -> Started:
        """The first event; ``ranked``: the cells are also scored and ranked."""
        data, settings = self.data, self.settings
        m, n = data.X.shape
        sizes = (m, n, data.Q, len(self.kernels), len(settings.C))
        how = (settings.solver, settings.loss)
        scored = (settings.criteria, settings.rank_by, settings.jobs)
        started = Started(data.name, *sizes, *how, *(scored if ranked else ()))
        if ranked:
            started = replace(
                started,
                time_budget=settings.time_budget,
                metrics=settings.metric or (),
                is_remote=settings.cluster is not None,
            )
        return replace(started, machine=settings.machine, C=settings.C)


def prepared(data: Dataset, settings: Settings) -> Prepared:
    """All of it; refuses a single class, and options that the solver does not take."""
    if np.unique(data.y).size < 2:
        raise DataError(f"{data.name} has no two classes to tell apart.")
    make_solver(settings)
    for criterion in settings.parsed_criteria():
        if not criterion.needs_groups:
            continue
        if data.groups is None:
            raise SettingsError(
                f"{criterion.name} leaves out one group at a time: name the column "
                "that says which rows belong together with --group-column."
            )
        if np.unique(data.groups).size < 2:
            raise DataError(
                f"{criterion.name}: all rows of {data.name} are of one group; without "
                "it nothing is left to train on."
            )
    if settings.race is not None and data.weights is not None:
        raise SettingsError(
            "race: a race counts samples, and here they count by their weights: leave "
            "out --race or --weight-column."
        )
    check_kernels(data, settings)
    if "precomputed" in settings.kernel and data.drawn_from is not None:
        raise SettingsError(
            "--subsample draws rows, and of a precomputed kernel the columns would "
            "have to be drawn with them: leave it out."
        )
    scaling = Scaling.fit(data.X, settings.scale, data.weights)
    X = scaling.apply(data.X)
    kernels = tuple(k.on(X) for k in settings.kernels(X, data.weights))
    return Prepared(data, settings, scaling, X, kernels)


def footprint_of(settings: Settings, m: int, Q: int, **more: Any) -> Footprint:
    """That of m samples of Q classes, as far as the settings tell."""
    criteria: Any = settings.parsed_criteria()
    folds = tuple(one.K for one in criteria if one.name == "cv")
    leaves_out = any(one.kind == "exact" for one in criteria)
    sizes, how = (m, Q), (settings.machine, settings.loss)
    return Footprint(*sizes, *how, folds, leaves_out, Cs=len(settings.C), **more)


def check_kernels(data: Dataset, settings: Settings) -> None:
    """Refuse kernels of features on sequences, and of sequences on features."""
    for name in settings.kernel:
        wants = KERNELS[name].of == "sequences"
        if wants and not data.alphabet:
            raise SettingsError(
                f"The kernel {name} is for sequences, and {data.name} has features: "
                "give it a FASTA file, or choose another kernel."
            )
        if data.alphabet and not wants:
            raise SettingsError(
                f"{data.name} holds sequences, and the kernel {name} is for features: "
                "say --kernel spectrum or mismatch, or write their features with "
                "msvm-select encode."
            )


def weights_of(data: Dataset, class_weight: str | None) -> Floats | None:
    """Each sample's own weight times that of its class (m,); None where all are 1.

    ``balanced`` gives class k the weight M / (Q M_k), M_k the sum of the weights of its
    samples and M that of all. Class weights are those of the whole data set, whoever is
    left out: taken anew without a sample, they would tell of its class.
    """
    if class_weight is None:
        return data.weights
    own = np.ones(data.m) if data.weights is None else data.weights
    if class_weight == BALANCED:
        sums = np.bincount(data.y, own, minlength=data.Q)
        there = sums > 0.0
        by_class = np.divide(own.sum() / there.sum(), sums, where=there, out=sums)
        return np.asarray(own * by_class[data.y])
    given = weights_by_class(class_weight)
    for name in given:
        known(name, data.classes, "class")
    return np.asarray(own * np.array([given.get(c, 1.0) for c in data.classes])[data.y])


def make_solver(settings: Settings) -> Solver:
    """The solver that the settings name, with its options."""
    options: dict[str, Any] = {"gap": settings.gap}
    if settings.qp_backend is not None:
        options["backend"] = settings.qp_backend
    return SOLVERS[settings.solver](**options)


def gram_of(kernel: Kernel, ready: Prepared) -> Gram:
    """The Gram matrix as the machine needs it: whole, or a block of it at a time.

    One-versus-one trains on the blocks of two classes, and the exact solver on the
    samples that matter. Where the matrix of all samples is large, each block is
    computed when it is needed.
    """
    if in_blocks(kernel, ready.data.m, ready.settings):
        if isinstance(kernel, LowRank):
            return kernel.in_blocks(ready.X)
        if kernel.name == "linear":
            return Factored(X=ready.X, finite=kernel.finite)
        return Blocks(X=ready.X, between=kernel.between, finite=kernel.finite)
    return kernel.gram(ready.X)


def in_blocks(kernel: Kernel, m: int, settings: Settings) -> bool:
    """Whether the Gram matrix of m samples is never held as a whole."""
    if not (kernel.always_psd and kernel.is_vector_kernel):
        return False
    if settings.machine == "ovo":
        return m > WHOLE
    by_features = is_linear(kernel) and settings.machine == "ww"
    return shrinks(m, settings) and not by_features


def is_linear(kernel: Kernel) -> bool:
    """Whether the features are its own factor Z of K = Z Z'."""
    return kernel.name == "linear" and not isinstance(kernel, LowRank)


def shrinks(m: int, settings: Settings) -> bool:
    """Whether a machine of all m samples is trained on those that matter."""
    by_exact = settings.solver == "exact" and settings.loss == "l1"
    return m > WHOLE_OF_ALL and settings.machine != "ovo" and by_exact


def tested(kernel: Kernel, ready: Prepared) -> tuple[Gram, GramTested]:
    """The Gram matrix of the samples, and Mercer's test: the only place it is done.

    Beyond 4,000 samples a kernel that is positive semi-definite by theory is not
    tested, and the smallest eigenvalue is NaN.
    """
    began = time.perf_counter()
    gram = gram_of(kernel, ready)
    if isinstance(gram, Blocks):  # positive semi-definite by theory
        return gram, GramTested(kernel, math.nan, False)
    if isinstance(kernel, LowRank) and kernel.pivots.rank < gram.m:
        smallest = 0.0
    else:
        smallest = smallest_eigenvalue(gram, kernel.always_psd)
    indefinite = is_indefinite(smallest, gram, kernel.always_psd)
    seconds = time.perf_counter() - began
    alone = is_near_identity(gram)
    return gram, GramTested(kernel, smallest, indefinite, seconds, alone)


def is_near_identity(gram: Gram) -> bool:
    """Whether most samples are like no other: K_ij <= 0.05 sqrt(K_ii K_jj).

    Every sample is then a support vector and no machine can generalise; the parameters
    of the kernel are far beyond the scale of the data.
    """
    if gram.factor is not None or gram.m < 3:
        return False
    some = np.arange(0, gram.m, max(1, gram.m // LOOKED_AT))
    size = np.sqrt(np.maximum(gram.diagonal, 0.0))
    like = np.abs(gram.matrix[some])
    like[np.arange(some.size), some] = 0.0
    alone = (like <= ALONE * size[some, None] * size).all(axis=1)
    return bool(2 * alone.sum() > alone.size)


def refusal(test: GramTested) -> KernelError:
    """Why nothing is trained on a Gram matrix that fails the test, and the way out."""
    return KernelError(
        f"{test.kernel.name}: {test.warning}; allow_indefinite (--allow-indefinite) "
        "trains it all the same."
    )

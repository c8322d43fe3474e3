"""One sweep, checked: what it trains, how, and what it ranks by."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from msvm_select.columns import (
    HARD,
    MEASURED_BY,
    RANKED_BY,
    Column,
    answering,
    column_of,
    ranked_column,
    scored_columns,
)
from msvm_select.errors import SettingsError
from msvm_select.names import CRITERIA, KERNELS
from msvm_select.phrases import listed
from msvm_select.settings.catalogue import KERNEL, NOT_DECIDING, SETTINGS, Declared
from msvm_select.settings.values import AROUND, known

if TYPE_CHECKING:
    from msvm_select.criteria.base import Constants, Criterion
    from msvm_select.kernels.base import Kernel
    from msvm_select.records import Floats

GAMMA_FROM_DATA = ("rbf", "sigmoid")
STEPS = (4.0**-2, 4.0**-1, 1.0, 4.0, 4.0**2)  # of ``around``, by scale
PARAMETERS = tuple(
    name
    for name, option in SETTINGS.items()
    if option.heading == KERNEL and not option.of_grids and name not in ("kernel", "C")
)
"""Of kernels: gamma, sigma, degree, coef0."""
MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class Settings(Declared):
    """Made by ``settings_from``, which checks every value."""

    def kernels(
        self, X: Floats | None = None, weights: Floats | None = None
    ) -> tuple[Kernel, ...]:
        """The kernel settings of the grid, each kernel from smooth to rough.

        X (m, n) are the scaled features, which some values of gamma depend on, as do
        the weights of the samples; without them 1 stands for these.
        """
        return tuple(
            kernel
            for name in self.kernel
            for kernel in self._settings_of(name, X, weights)
        )

    def on(self, X: Floats, weights: Floats | None = None) -> Settings:
        """With ``around`` in numbers, for these X (m, n), so that the grid can grow.

        As they are where the kernels do not have the same values.
        """
        if AROUND not in (self.gamma or ()):
            return self
        found = {
            self._gammas(name, X, weights)
            for name in self.kernel
            if "gamma" in used_parameters((name,))
        }
        return self if len(found) > 1 else replace(self, gamma=found.pop())

    def parsed_criteria(self) -> tuple[Criterion, ...]:
        """The criteria, ready to score."""
        return tuple(parse_criterion(text, self.seed) for text in self.criteria)

    @property
    def at_once(self) -> int:
        """Kernel settings at the same time on this machine; 0 if others train them."""
        if self.cluster is None:
            return self.jobs
        scheme, _, count = self.cluster.partition(":")
        return int(count) if scheme == "local" else 0

    @property
    def constants(self) -> Constants:
        """What the bounds leave to the user."""
        from msvm_select.criteria.base import Constants

        return Constants(self.delta, self.maurey_c, self.union, self.dimension)

    def deciding(self) -> dict[str, Any]:
        """What decides the rows, by name."""
        every = asdict(self)
        return {name: every[name] for name in every if name not in NOT_DECIDING}

    def _settings_of(
        self, name: str, X: Floats | None, weights: Floats | None
    ) -> list[Kernel]:
        kind = KERNELS[name]
        grids: dict[str, tuple[float, ...]] = {}
        for field in fields(kind):
            gammas = self._gammas(name, X, weights) if field.name == "gamma" else ()
            if gammas:
                grids["gamma"] = gammas
            elif (grid := getattr(self, field.name)) is not None:
                grids[field.name] = grid
            elif field.default is not MISSING:
                grids[field.name] = (float(field.default),)
        points = itertools.product(*grids.values())
        chosen = [kind(**dict(zip(grids, point, strict=True))) for point in points]
        if self.low_rank is not None and kind.approximable:
            from msvm_select.kernels.low_rank import LowRank

            ranks = itertools.product(chosen, self.low_rank)
            chosen = [LowRank(kernel, rank) for kernel, rank in ranks]
        return sorted(chosen, key=lambda kernel: kernel.roughness)

    def _gammas(
        self, name: str, X: Floats | None, weights: Floats | None
    ) -> tuple[float, ...]:
        """The values of gamma; none where the kernel's own default counts.

        Beside ``around`` stand those that the grid was widened by, for the kernels
        that share it: they are too rough for one that keeps a default of its own.
        """
        if self.gamma is not None:
            if AROUND in self.gamma and keeps_its_gamma(name):
                return tuple(gamma_values(AROUND, name, X, weights))
            values = (gamma_values(given, name, X, weights) for given in self.gamma)
            return tuple(sorted(set(itertools.chain(*values))))
        if self.sigma is not None and name == "rbf":
            return tuple(1.0 / (2.0 * sigma**2) for sigma in self.sigma)
        if name not in GAMMA_FROM_DATA:
            return ()
        return (gamma_value("scale", X, weights),)


def keeps_its_gamma(name: str) -> bool:
    """Whether the kernel has a default for gamma that is not one of the data."""
    return "gamma" in used_parameters((name,)) and name not in GAMMA_FROM_DATA


def gamma_values(
    given: float | str, name: str, X: Floats | None, weights: Floats | None = None
) -> list[float]:
    """What one value of the grid stands for, for the kernel of this name.

    ``around`` is five values about scale, to 12 digits, so that they can be typed; and
    the default of a kernel that has one of its own.
    """
    if given != AROUND:
        return [gamma_value(given, X, weights)]
    if keeps_its_gamma(name):
        own: Any = KERNELS[name]
        return [float(own.gamma)]
    scale = gamma_value("scale", X, weights)
    return [float(f"{scale * step:.12g}") for step in STEPS]


def gamma_value(
    given: float | str, X: Floats | None, weights: Floats | None = None
) -> float:
    """A number as it is; ``auto`` is 1/n of X (m, n), ``scale`` 1/(n variance of X).

    As scikit-learn has them, but of the scaled features, which the kernel sees.
    """
    if not isinstance(given, str):
        return given
    if X is None:
        return 1.0
    return default_gamma(X, weights) if given == "scale" else 1.0 / int(X.shape[1])


def default_gamma(X: Floats, weights: Floats | None = None) -> float:
    """1 / (features x variance) of the scaled X (m, n); 1 / n where nothing varies.

    A sample of weight 2 counts as two.
    """
    variance, n = float(X.var()), int(X.shape[1])
    if weights is not None:
        share = weights / (n * weights.sum())
        variance = float(share @ ((X - float((share @ X).sum())) ** 2).sum(axis=1))
    return 1.0 / (n * (variance if variance > 0.0 else 1.0))


def parse_criterion(text: str, seed: int = 0) -> Criterion:
    """``name`` or ``name:argument`` -> the criterion."""
    name, colon, argument = text, "", ""
    if text not in CRITERIA:
        name, colon, argument = text.partition(":")
    kind = CRITERIA[known(name, CRITERIA, "criterion")]
    return kind.parse(argument if colon else None, seed)


def used_parameters(kernels: tuple[str, ...]) -> set[str]:
    """Those of PARAMETERS that one of the kernels has."""
    used = {field.name for name in kernels for field in fields(KERNELS[name])}
    if any(KERNELS[name].approximable for name in kernels):
        used.add("low_rank")
    return used | ({"sigma"} if "rbf" in kernels else set())


def check_together(settings: Settings) -> None:
    """Refuse settings that contradict each other."""
    _check_kernels(settings)
    _check_parameters(settings)
    if settings.qp_backend is not None and settings.solver != "qp":
        raise SettingsError("qp_backend is given, but only the solver 'qp' uses it.")
    _check_criteria(settings)
    _check_metrics(settings)
    if HARD in settings.C and settings.loss != "l1":
        raise SettingsError(
            "C = inf leaves no slacks to square: it is for the loss l1, whose machine "
            "that of l2 becomes as C grows."
        )
    check_rule(settings.select, settings.rank_by)
    if settings.race is not None and _column(settings.rank_by).name != "loo_rate":
        raise SettingsError(
            f"race: the best cells are those by loo, and {settings.rank_by!r} is "
            "ranked by, of which nothing is known before a cell is judged to its end: "
            "rank by loo, or leave race out."
        )
    if settings.shard is not None and (settings.extend or settings.time_budget):
        other = "extend" if settings.extend else "time_budget"
        raise SettingsError(
            f"shard: {other} looks at the best cell so far, and a part of a sweep does "
            f"not know it: leave {other} out."
        )
    _check_cluster(settings)
    check_gates(settings.rank_by, vars(settings))
    if settings.require_applicable:
        check_applicable(settings.rank_by)


def _check_cluster(settings: Settings) -> None:
    """Whole kernel settings go there; certificates are for tls alone."""
    if settings.cluster is not None and settings.time_budget is not None:
        raise SettingsError(
            "time_budget goes cell by cell, and a cluster takes whole kernel settings: "
            "give one of the two."
        )
    where = settings.cluster or ""
    for name in ("tls_ca", "tls_cert", "tls_key"):
        given = getattr(settings, name) is not None
        if given and not (where.startswith("tls://") or where.endswith(".json")):
            raise SettingsError(f"{name} is for --cluster tls://HOST:PORT.")


def _check_kernels(settings: Settings) -> None:
    """Those of one sweep take the same data; only features are scaled."""
    of = {KERNELS[name].of: name for name in settings.kernel}
    if "kernel values" in of and len(settings.kernel) > 1:
        raise SettingsError(
            "The precomputed kernel cannot be swept along with others: its columns "
            "are kernel values, theirs are features."
        )
    if len(of) > 1:
        raise SettingsError(
            f"The kernels {' and '.join(of.values())} cannot be swept together: "
            "one takes features, the other sequences."
        )
    if "features" in of or settings.scale == "none":
        return
    what = "precomputed kernel" if "kernel values" in of else "kernel of sequences"
    raise SettingsError(f"A {what} must not be scaled: leave out --scale.")


def _check_parameters(settings: Settings) -> None:
    """Parameters that some kernel uses, in range, and a grid of a sensible size."""
    if settings.gamma is not None and settings.sigma is not None:
        raise SettingsError(
            "gamma and sigma are both given, but gamma = 1/(2 sigma^2): give one."
        )
    used = used_parameters(settings.kernel)
    for name in PARAMETERS:
        if getattr(settings, name) is not None and name not in used:
            raise SettingsError(
                f"{name} is given, but no chosen kernel ({', '.join(settings.kernel)}) "
                "uses it."
            )
    sizes = (len(getattr(settings, name) or (0,)) for name in ("C", *PARAMETERS))
    if math.prod(sizes) > MOST_CELLS:
        raise SettingsError(f"The grid has more than {MOST_CELLS:,} cells.")
    settings.kernels()  # each kernel refuses parameters that it cannot have


def _check_criteria(settings: Settings) -> None:
    """Each of its form, and no two that would fill the same column."""
    for criterion in settings.parsed_criteria():
        if settings.loss not in criterion.losses:
            raise SettingsError(
                f"The criterion {criterion.name} is not for the loss {settings.loss}, "
                f"but for {' and '.join(criterion.losses)}."
            )
        if settings.machine not in criterion.of_machines:
            raise SettingsError(
                f"The criterion {criterion.name} is not for the machine "
                f"{settings.machine}, but for {' and '.join(criterion.of_machines)}."
            )
    columns: dict[str, str] = {}
    for one, column in scored_columns(settings.criteria).items():
        if (first := columns.setdefault(column, one)) != one:
            raise SettingsError(
                f"The criteria {first!r} and {one!r} fill the same column; sweep "
                "once with each."
            )


def _check_metrics(settings: Settings) -> None:
    """Metrics with the arguments that they take, and answers to compute them of."""
    for one in settings.metric or ():
        name, colon, argument = one.partition(":")
        if name == "cost" and not argument:
            raise SettingsError(
                "metric: cost takes a file, as in cost:costs.csv: a csv with a row and "
                "a column for each class."
            )
        if name != "cost" and colon:
            raise SettingsError(f"metric: {name} takes no {argument!r}.")
    names = [one.partition(":")[0] for one in settings.metric or ()]
    if names.count("cost") > 1:
        raise SettingsError(
            "metric: two tables of costs fill the same column; sweep once with each."
        )
    if names and answering(settings.criteria) is None:
        raise SettingsError(
            f"metric: none of the criteria {listed(settings.criteria)} has an answer "
            "for each sample; add loo, cv, holdout or train-errors to --criteria."
        )


def check_gates(by: str, gates: Mapping[str, Any]) -> None:
    """Refuse a gate on the side of the better values: it would fail what is good."""
    largest = _column(by).largest
    name, other = ("fail_above", "fail_below")[:: -1 if not largest else 1]
    if gates.get(name) is not None:
        best = "largest" if largest else "smallest"
        raise SettingsError(
            f"{name}: {by!r} is ranked by, and the {best} value of it is the best: "
            f"give {other}."
        )


def check_rule(rule: str, by: str) -> None:
    """Refuse one standard error of what has none."""
    if rule != "1se" or _column(by).role == "rate" or _column(by).error:
        return
    rates = [name for name, column in RANKED_BY.items() if column.role == "rate"]
    raise SettingsError(
        f"select: 1se takes the standard error of an error rate or a metric, and "
        f"{by!r} is none: rank by one of {listed([*rates, *MEASURED_BY], 20)}, or "
        "choose by best or simplest."
    )


def check_applicable(by: str) -> None:
    """Refuse to ask whether a number applies that always does: it would always pass."""
    if _column(by).conditional:
        return
    bounds = [name for name, column in RANKED_BY.items() if column.conditional]
    raise SettingsError(
        f"require_applicable: {by!r} is no bound that could fail to apply; rank by one "
        f"of {listed(bounds, 10)}, or leave the gate out."
    )


def _column(by: str) -> Column:
    """The column that a criterion, or a column, ranks by."""
    return column_of(ranked_column(by) or by)

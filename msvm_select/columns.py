"""The one table of columns: what a row holds, and when each of its values holds.

``Row`` is the table. Each field is declared once, with all that is known about it;
ranking, tables, charts, gates, docs and completion ask here. ``state_of`` is the only
answer to "does this value hold in this cell".

A new criterion adds its columns at the end of ``Row``, with ``appended=True``: the
columns above it are the output schema, version 1, and keep their order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, get_args, get_type_hints

from msvm_select.phrases import html_table

SCHEMA_VERSION = 1
HARD = 1e300  # stands for C = inf in rows and files: JSON knows no infinity
Value = str | float | int | bool | None
Setting = tuple[str | float | None, ...]  # a kernel's name, and PARAMETERS
STATES = {
    "ok": "a value",
    "ambiguous": "ambiguous (a left-out margin within 1e-7 of 0)",
    "vacuous": "a bound of 1 or more, which says nothing",
    "bounded": "a bound from below: the cell lost the race",
    "inapplicable": "does not apply",
    "none": "no value",
    "not_converged": "did not converge",
    "failed": "failed",
}
HOLDS = ("ok", "ambiguous")  # the value is what the column says it is
COUNTS = (*HOLDS, "vacuous")  # the value may be ranked and drawn with the others
_KEY = "column"  # under which a field of Row has what is known of its column


@dataclass(frozen=True)
class Column:
    """One column.

    kind, optional  the type of its values, and whether they may be missing
    label, unit     what it is called where there is room for words
    meaning, empty  for the docs: what it is, and when there is no value
    criterion       the criterion that fills it
    ranks           the criterion ranks by this column
    role            rate (of errors on new samples), count, bound or index: a score;
                    empty for all other columns
    applies_where   the column that is false where the value is not what it should be
    vacuous_where   the column that is true where the value is a bound that says
                    nothing; from ``vacuous_from`` on it says nothing either
    doubt           the column that is not 0 where the value is ambiguous
    at_least        the column that has a bound below on its errors, where a cell lost a
                    race and so was not judged to its end
    share           the column that has the same as a share of the samples
    look            a table shows it at first look
    appended        it follows the schema of version 1, where it was asked for
    largest         the largest value is the best; otherwise the smallest
    metric          the metric of the pooled answers that fills it
    error           the column that has its standard error
    parameter       of some kernel
    further         the form of its further columns (``cv10_error``), if it may have
                    some; ``usual`` is the argument that the column itself stands for
    """

    name: str
    kind: type
    optional: bool
    meaning: str
    label: str = ""
    unit: str = ""
    empty: str = ""
    criterion: str = ""
    ranks: bool = False
    role: str = ""
    applies_where: str = ""
    vacuous_where: str = ""
    vacuous_from: float = math.inf
    doubt: str = ""
    at_least: str = ""
    share: str = ""
    look: bool = False
    appended: bool = False
    largest: bool = False
    metric: str = ""
    error: str = ""
    parameter: bool = False
    further: str = ""
    usual: str = ""

    @property
    def text(self) -> str:
        """The label; the name where there is none."""
        return self.label or self.name

    @property
    def titled(self) -> str:
        """With the unit, as an axis has it."""
        return f"{self.text}, {self.unit}" if self.unit else self.text

    @property
    def sense(self) -> float:
        """Times this a value is the smaller, the better."""
        return -1.0 if self.largest else 1.0

    @property
    def factor(self) -> float:
        """A value is shown as this times it."""
        return 100.0 if self.unit == "%" else 1.0

    def shown(self, value: float) -> str:
        """A value in few characters, without its unit."""
        scaled = self.factor * value
        if self.unit == "%":
            return f"{scaled:.1f}"
        mantissa, e, exponent = f"{scaled:.3g}".partition("e")
        return f"{mantissa}e{int(exponent)}" if e else mantissa

    @property
    def conditional(self) -> bool:
        """Whether there are cells in which its value does not hold."""
        return bool(self.applies_where or self.vacuous_where)

    def of(self, argument: str) -> Column:
        """The further column of an argument, as ``cv10_error`` of 10."""
        name = self.further.format(argument)
        label = f"{self.label} ({self.criterion}:{argument})"
        meaning = f"{self.meaning} of `{self.criterion}:{argument}`"
        return replace(
            self, name=name, label=label, meaning=meaning, appended=True, further=""
        )


def column(meaning: str, label: str = "", default: Value = None, **known: Any) -> Any:
    """A field of ``Row``; ``known`` are fields of ``Column``."""
    told = {"meaning": meaning, "label": label, **known}
    return field(default=default, metadata={_KEY: told})


def _metric(metric: str, meaning: str, label: str, **known: Any) -> Any:
    """A metric of the pooled answers; its standard error has a column, too."""
    return column(
        f"{meaning}; of the pooled answers",
        label,
        empty=f"`--metric {metric}` was not asked for",
        metric=metric,
        error=f"{metric.replace('-', '_')}_se",
        role="metric",
        appended=True,
        **known,
    )


def _error_of(name: str) -> Any:
    """The standard error of a metric."""
    metric = name.replace("_", "-")
    return column(
        f"the standard error of `{name}`, by the jackknife",
        empty=f"`--metric {metric}` was not asked for",
        appended=True,
    )


@dataclass(frozen=True)
class Row:
    """One cell of the results. None stands for what is not there.

    ``further`` holds the columns of criteria that were asked for several times with
    different arguments, by name: ``cv10_error`` beside ``cv_error``. ``by_class`` has,
    where it is known, of each class how many samples are wrong and how many there are.
    """

    rank: int | None = column(
        "1 is the best; bounds that do not apply come after those that do, cells that "
        "did not converge or failed last",
        empty="never in a ranked file",
    )
    kernel: str = column(
        "`linear`, `polynomial`, `rbf`, `sigmoid`, `precomputed`, `spectrum` or "
        "`mismatch`",
        default="",
    )
    gamma: float | None = column(
        "parameter of the kernel", empty="the kernel has none", parameter=True
    )
    degree: float | None = column(
        "of the polynomial; the length of the words of sequences",
        empty="other kernels",
        parameter=True,
    )
    coef0: float | None = column(
        "parameter of polynomial and sigmoid", empty="other kernels", parameter=True
    )
    C: float = column(
        "weight of the slacks, see "
        "[the machine](../README.md#the-machine-and-what-c-and-gamma-mean-here)",
        default=0.0,
    )
    solver: str = column("`exact`, `smo`, `osqp` or `qp`", default="")
    status: str = column("`ok`, `not_converged` or `failed`", default="ok")
    status_reason: str = column(
        "why it is not `ok`; what else there is to know",
        default="",
        empty="there is nothing to tell",
    )
    n_samples: int = column("m, the samples trained on", default=0)
    n_classes: int = column("Q", default=0)
    train_errors: int | None = column(
        "training samples that the machine gets wrong; with ww a tie is",
        "training errors",
        unit="samples",
        empty="failed",
        criterion="train-errors",
        ranks=True,
        look=True,
    )
    n_sv: int | None = column(
        "support vectors: samples with some alpha_ik > 0",
        "support vectors",
        unit="samples",
        share="sv_rate",
        look=True,
    )
    n_bounded: int | None = column(
        "samples with some alpha_ik = C; 0 with `--loss l2`",
        "support vectors at C",
        unit="samples",
    )
    separable: bool | None = column("whether no training sample is wrong")
    dual_objective: float | None = column(r"sum alpha - 1/2 sum_k \|\|w_k\|\|^2")
    sum_alpha: float | None = column("the sum of all alpha_ik")
    norm_w: float | None = column(r"sqrt(sum_k \|\|w_k\|\|^2)")
    gap: float | None = column(
        r"the certificate: (primal - dual) / max(1, \|dual\|)",
        "relative duality gap",
        look=True,
    )
    kkt_violation: float | None = column(
        "the largest breach of the optimality conditions"
    )
    b_unique: bool | None = column(
        "whether the optimal biases are one point; if not, their centre is taken"
    )
    diameter: float | None = column(
        "D, of the smallest ball in feature space around the support vectors; of "
        "`ovo` and `ova` the largest of the parts",
        criterion="radius-margin",
    )
    diameter_all: float | None = column(
        "the same around all samples", criterion="radius-margin"
    )
    loo_errors: int | None = column(
        "samples that are wrong when trained without them",
        "leave-one-out errors",
        unit="samples",
        criterion="loo",
        role="count",
        doubt="loo_ambiguous",
        share="loo_rate",
        empty="`loo` was not asked for, or the cell lost a `--race`",
        at_least="loo_errors_low",
    )
    loo_rate: float | None = column(
        "`loo_errors` / `n_samples`; with a weight column the share of the weights",
        "leave-one-out error rate",
        unit="%",
        criterion="loo",
        ranks=True,
        role="rate",
        doubt="loo_ambiguous",
        empty="`loo` was not asked for, or the cell lost a `--race`",
        at_least="loo_errors_low",
    )
    loo_ambiguous: int | None = column(
        "left-out margins within 1e-7 of 0", criterion="loo"
    )
    loo_retrained: int | None = column(
        "samples for which the machine was trained again", criterion="loo"
    )
    radius_margin: float | None = column(
        "K D^2 sum alpha, on the scale of `loo_errors`; of `ovo` and `ova` the sum "
        "over the parts",
        "radius-margin bound",
        unit="samples",
        criterion="radius-margin",
        ranks=True,
        role="bound",
        applies_where="radius_margin_applicable",
    )
    radius_margin_applicable: bool | None = column(
        "whether that bound holds here; of `ovo` and `ova` in every part",
        criterion="radius-margin",
    )
    K: float | None = column(
        "the constant of the bound, 2 for two classes and for the parts of `ovo` and "
        "`ova`",
        criterion="radius-margin",
    )
    radius_margin_q: float | None = column(
        r"Q D_all^2 sum_k \|\|w_k\|\|^2, smooth in C and the kernel; to rank by; "
        "of `ovo` and `ova` the sum over the parts",
        "radius-margin index",
        criterion="radius-margin",
        role="index",
        applies_where="radius_margin_applicable",
    )
    radius_margin_count: int | None = column(
        "B*, the tightest proven bound on `loo_errors`; of `ovo` and `ova` the samples "
        "that some part counts",
        "count bound B*",
        unit="samples",
        empty="`radius-margin-count` was not asked for, or does not apply",
        criterion="radius-margin-count",
        ranks=True,
        role="bound",
        applies_where="radius_margin_applicable",
    )
    guaranteed_risk: float | None = column(
        "margin risk and what covering numbers add to it",
        "guaranteed risk",
        unit="%",
        empty="`guaranteed-risk` was not asked for, or the machine is `ovo`",
        criterion="guaranteed-risk",
        ranks=True,
        role="bound",
        vacuous_where="guaranteed_risk_vacuous",
        vacuous_from=1.0,
    )
    guaranteed_risk_gamma: float | None = column(
        "the margin at which it is least", criterion="guaranteed-risk"
    )
    guaranteed_risk_vacuous: bool | None = column(
        "whether it is 1 or more", criterion="guaranteed-risk"
    )
    sv_rate: float | None = column(
        "`n_sv` / `n_samples`",
        "share of support vectors",
        unit="%",
        criterion="sv-rate",
        ranks=True,
        role="bound",
        applies_where="b_unique",
    )
    compression_bound: float | None = column(
        "a bound on the risk by the number of support vectors",
        "compression bound on the risk",
        unit="%",
        empty="`compression` was not asked for, or every sample is a support vector",
        criterion="compression",
        ranks=True,
        role="bound",
        applies_where="b_unique",
        vacuous_from=1.0,
    )
    vc_dimension: float | None = column(
        "min(ceil(R^2/gamma^2), d) + 1",
        "VC dimension",
        criterion="vc",
        ranks=True,
        role="index",
        applies_where="separable",
    )
    cv_error: float | None = column(
        "error rate of cross-validation",
        "cross-validation error rate",
        unit="%",
        criterion="cv",
        ranks=True,
        role="rate",
        further="cv{}_error",
        usual="5",
    )
    holdout_error: float | None = column(
        "error rate on the share that is held out",
        "holdout error rate",
        unit="%",
        criterion="holdout",
        ranks=True,
        role="rate",
        further="holdout{}_error",
        usual="0.25",
    )
    iterations: int | None = column("steps of the training; 0 in a copied row")
    seconds: float | None = column(
        "of the training and of the scores; a copied row took no training",
        "training and scoring time",
        unit="s",
    )
    loss: str | None = column(
        "`l2`, with `--loss l2`", empty="never where it is there", appended=True
    )
    span_rate: float | None = column(
        "leave-one-out rate as the active set predicts it, unchecked",
        "span estimate of the leave-one-out error rate",
        unit="%",
        empty="the free variables are too many to factor, or have no factor "
        "(indefinite Gram matrix)",
        criterion="span",
        ranks=True,
        role="rate",
        appended=True,
    )
    radius_margin_l1: float | None = column(
        r"Q (D_all^2 + 1/C)(sum_k \|\|w_k\|\|^2 + 2C sum xi), an index",
        "softened radius-margin index",
        empty="failed",
        criterion="radius-margin-l1",
        ranks=True,
        role="index",
        appended=True,
    )
    machine: str | None = column(
        "`ovo` or `ova`, with `--machine`", empty="the machine is `ww`", appended=True
    )
    loo_errors_low: int | None = column(
        "with `--race`: what `loo_errors` is at least; equal to it where it is there",
        "leave-one-out errors, at least",
        unit="samples",
        empty="`--race` was not asked for",
        criterion="loo",
        appended=True,
    )
    loo_errors_high: int | None = column(
        "with `--race`: what `loo_errors` is at most; equal to it where it is there",
        "leave-one-out errors, at most",
        unit="samples",
        empty="`--race` was not asked for",
        criterion="loo",
        appended=True,
    )
    balanced_error: float | None = _metric(
        "balanced-error",
        "the mean over the classes of the share of each that is wrong",
        "balanced error rate",
        unit="%",
    )
    macro_f1: float | None = _metric(
        "macro-f1", "the mean of F1 over the classes", "macro F1", largest=True
    )
    log_loss: float | None = _metric(
        "log-loss",
        "the mean of -ln p of the class of the sample, p = softmax(outputs / T) with "
        "the T that is best",
        "log-loss",
    )
    auc: float | None = _metric(
        "auc",
        "the mean over the classes of the area under the curve of each against the "
        "rest, by what it leads by",
        "area under the curve",
        largest=True,
    )
    cost: float | None = _metric("cost", "the mean cost of the answers", "cost")
    logo_errors: int | None = column(
        "samples that are wrong when trained without their group",
        "leave-one-group-out errors",
        unit="samples",
        criterion="logo",
        role="count",
        share="logo_rate",
        appended=True,
    )
    logo_rate: float | None = column(
        "the same as a share of the samples, by their weights",
        "leave-one-group-out error rate",
        unit="%",
        criterion="logo",
        ranks=True,
        role="rate",
        appended=True,
    )
    loo_balanced_rate: float | None = column(
        "error rate of leave-one-out with the mass of each class kept",
        "balanced leave-one-out error rate",
        unit="%",
        criterion="loo:balanced",
        ranks=True,
        role="rate",
        appended=True,
    )
    smooth_error: float | None = _metric(
        "smooth-error", "the mean of 1/(1 + exp(4 margin))", "smooth error", unit="%"
    )
    balanced_error_se: float | None = _error_of("balanced_error")
    macro_f1_se: float | None = _error_of("macro_f1")
    log_loss_se: float | None = _error_of("log_loss")
    auc_se: float | None = _error_of("auc")
    cost_se: float | None = _error_of("cost")
    smooth_error_se: float | None = _error_of("smooth_error")
    low_rank: int | None = column(
        "how many dimensions the kernel matrix was to have at the most, by `--rank`",
        "rank of the kernel",
        empty="the kernel is exact",
        parameter=True,
        appended=True,
    )
    rank_used: int | None = column(
        "how many it has: fewer where nothing of the kernel matrix is left beyond",
        "dimensions",
        empty="the kernel is exact",
        appended=True,
    )
    rank_error: float | None = column(
        "what it lacks: the trace of K less Z Z', by the trace of K",
        "error of the kernel",
        empty="the kernel is exact",
        look=True,
        appended=True,
    )
    rank_residual: float | None = column(
        "the largest entry of K less Z Z'",
        "largest residual of the kernel",
        empty="the kernel is exact",
        appended=True,
    )
    drawn_from: int | None = column(
        "the rows of the data that the samples were drawn from, by `--subsample`",
        "rows drawn from",
        unit="samples",
        empty="all of them count",
        appended=True,
    )
    error_se: float | None = column(
        "the standard error of the rate of wrong answers, by the jackknife; a group "
        "counts as one",
        empty="the samples have no weights and no groups",
        appended=True,
    )
    further: Mapping[str, float | None] = field(default_factory=dict, hash=False)
    by_class: tuple[tuple[int, int], ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Row:
        """From values by column, further columns among them."""
        rest = {name: v for name, v in values.items() if name not in TABLE}
        own = {name: v for name, v in values.items() if name in TABLE}
        by_class = tuple((wrong, m) for wrong, m in rest.pop("by_class", ()))
        return cls(**own, further=rest, by_class=by_class)

    def value(self, name: str) -> Any:
        """The value of a column; None in a further column that this row lacks."""
        return getattr(self, name) if name in TABLE else self.further.get(name)

    def values(self) -> dict[str, Any]:
        """All values by column, the further columns last."""
        return {**{name: getattr(self, name) for name in TABLE}, **self.further}

    @classmethod
    def at(cls, setting: Setting, C: float = 0.0) -> Row:
        """A row that tells where it is, and nothing else."""
        return cls.of({**dict(zip(CELL, setting, strict=False)), "C": C})

    def at_rank(self, rank: int | None) -> Row:
        """The same row at another rank: ``replace``, without a look at each column."""
        found = object.__new__(Row)
        found.__dict__.update(self.__dict__, rank=rank)
        return found

    @property
    def setting(self) -> Setting:
        """The kernel with its parameters, which the cells along C share."""
        return self.kernel, *(getattr(self, name) for name in PARAMETERS)

    @property
    def parameters(self) -> dict[str, float]:
        """Those that the kernel has, by name, in order."""
        given = {name: getattr(self, name) for name in PARAMETERS}
        return {name: value for name, value in given.items() if value is not None}

    def point(self, sigma: bool = False) -> dict[str, float]:
        """The kernel's parameters; ``sigma``: in the place of gamma."""
        if sigma and self.kernel == "rbf" and self.gamma is not None:
            return {"sigma": 1.0 / math.sqrt(2.0 * self.gamma)}
        return self.parameters

    def in_words(self, sigma: bool = False, C: bool = True) -> str:
        """``rbf gamma=0.5 C=8``; without C, the kernel setting."""
        values = self.point(sigma) | ({"C": self.C} if C else {})
        told = (f"{k}={'inf' if v >= HARD else f'{v:.6g}'}" for k, v in values.items())
        return " ".join([self.kernel, *told])

    @property
    def cell(self) -> str:
        """``rbf gamma=0.5 C=8``, for a person."""
        return self.in_words()

    def __repr__(self) -> str:
        """A short line; ``values()`` has everything."""
        rank = "" if self.rank is None else f"rank {self.rank}: "
        status = "" if self.status == "ok" else f", {self.status}"
        return f"Row({rank}{self.cell}{status})"

    def _repr_html_(self) -> str:
        """What the row holds, in a notebook."""
        held = ((k, v) for k, v in self.values().items() if v is not None)
        return html_table(("column", "value"), held)


def _table() -> dict[str, Column]:
    hints = get_type_hints(Row)
    found = {}
    for one in fields(Row):
        if _KEY not in one.metadata:
            continue
        kinds = get_args(hints[one.name])  # of an optional value its type and None
        kind = kinds[0] if kinds else hints[one.name]
        told = Column(one.name, kind, bool(kinds), **one.metadata[_KEY])
        if not told.empty:
            empty = "failed" if told.optional else "never"
            asked = f"`{told.criterion}` was not asked for"
            told = replace(told, empty=asked if told.criterion else empty)
        found[one.name] = told
    return found


TABLE = _table()
PARAMETERS = tuple(c.name for c in TABLE.values() if c.parameter)
CELL = ("kernel", *PARAMETERS, "C")
COLUMNS = tuple(c.name for c in TABLE.values() if not c.appended)
EXTRA = tuple(c.name for c in TABLE.values() if c.appended)
NUMBERS = tuple(
    c.name for c in TABLE.values() if c.kind is not str and c.name != "rank"
)
SCORES = tuple(c.name for c in TABLE.values() if c.role)
RANKED_BY = {c.criterion: c for c in TABLE.values() if c.ranks}
MEASURED_BY = {c.metric: c for c in TABLE.values() if c.metric}
ANSWERING = ("loo", "logo", "cv", "holdout", "train-errors")
"""Criteria that have an answer for each sample, which metrics are computed of."""


def criterion_of(text: str) -> str:
    """The name of a criterion as typed: ``cv`` of ``cv:10``."""
    return text if text in RANKED_BY else text.partition(":")[0]


@lru_cache(maxsize=256)
def find_column(name: str) -> Column | None:
    """The column of this name, a further one too; None where there is none."""
    if name in TABLE:
        return TABLE[name]
    for one in RANKED_BY.values():
        before, form, after = one.further.partition("{}")
        if form and name.startswith(before) and name.endswith(after):
            argument = name[len(before) : len(name) - len(after)]
            if argument and argument == _argument(argument):
                return one.of(argument)
    return None


def column_of(name: str) -> Column:
    """The column of this name."""
    found = find_column(name)
    if found is None:
        raise KeyError(name)
    return found


def scored_columns(criteria: Iterable[str]) -> dict[str, str]:
    """The column that each criterion, as typed, is ranked by.

    Of several of one name (cv:5, cv:10) the usual one (cv:5), else the first, fills
    the column of that name; each of the others has a further column.
    """
    known = {
        text: RANKED_BY[name]
        for text in criteria
        if (name := criterion_of(text)) in RANKED_BY
    }
    arguments = {text: _argument_of(text) or c.usual for text, c in known.items()}
    found = {}
    for text, column in known.items():
        alike = [arguments[other] for other, c in known.items() if c is column]
        main = column.usual if column.usual in alike else alike[0]
        own = not column.further or arguments[text] == main
        found[text] = column.name if own else column.of(arguments[text]).name
    return found


def answering(criteria: Iterable[str]) -> str | None:
    """The first of these criteria that has answers to compute metrics of."""
    return next((c for c in criteria if c.partition(":")[0] in ANSWERING), None)


def ranked_column(by: str, known: Iterable[str] = ()) -> str | None:
    """The column that a criterion or column name stands for; None where there is none.

    ``known`` are the further columns at hand: with ``cv10_error`` among them, ``cv:10``
    is that one.
    """
    name = criterion_of(by)
    if (metric := by.partition(":")[0]) in MEASURED_BY:
        return MEASURED_BY[metric].name
    if name not in RANKED_BY:
        found = find_column(by)
        numeric = found is not None and found.kind is not str and by != "rank"
        return by if numeric else None
    column, argument = RANKED_BY[name], _argument_of(by)
    further = column.of(argument).name if column.further and argument else ""
    return further if further in set(known) else column.name


def state_of(row: Row, name: str) -> str:
    """What holds of the row's value there: one of STATES."""
    column, value = column_of(name), row.value(name)
    if row.status != "ok":
        return row.status if row.status in STATES else "failed"
    if value is None and lower_bound(row, name) is not None:
        return "bounded"
    if value is None or not math.isfinite(value):
        return "none"
    if column.applies_where and row.value(column.applies_where) is False:
        return "inapplicable"
    vacuous = column.vacuous_where and row.value(column.vacuous_where)
    if vacuous or value >= column.vacuous_from:
        return "vacuous"
    return "ambiguous" if column.doubt and row.value(column.doubt) else "ok"


def lower_bound(row: Row, name: str) -> float | None:
    """What a value that was not computed to its end is at least; None for others."""
    column = find_column(name)
    if column is None or not column.at_least or row.value(name) is not None:
        return None
    errors: int | None = row.value(column.at_least)
    if errors is None or column.role == "count":
        return errors
    return errors / row.n_samples if row.n_samples else None


def holds(row: Row, name: str) -> bool:
    """Whether the value is what the column says, and says something."""
    return state_of(row, name) in HOLDS


def counts(row: Row, name: str) -> bool:
    """Whether the value may be ranked and drawn with the others."""
    return state_of(row, name) in COUNTS


def is_filled(rows: Iterable[Row], name: str) -> bool:
    """Whether some row has a value there."""
    return any(row.value(name) is not None for row in rows)


def further_columns(rows: Iterable[Row], criteria: Sequence[str] = ()) -> list[str]:
    """The further columns of these rows, and of these criteria."""
    asked = [n for n in scored_columns(criteria).values() if n not in TABLE]
    return list(dict.fromkeys([*asked, *(n for row in rows for n in row.further)]))


def _argument_of(criterion: str) -> str:
    return _argument(criterion.partition(":")[2])


def _argument(text: str) -> str:
    """The argument of a criterion in one form: ``.5`` is ``0.5``."""
    try:
        number = float(text)
    except ValueError:
        return ""
    return f"{number:g}" if math.isfinite(number) else ""

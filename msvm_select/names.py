"""What can be chosen by name: kernels, machines, solvers, criteria, rules, formats.

Nothing heavy is imported here: a registry knows where each class is and imports it when
it is asked for. To add one, write its file and give it a line here.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeVar, cast

if TYPE_CHECKING:
    from msvm_select.criteria.base import Criterion
    from msvm_select.data.sequences.door import Fasta
    from msvm_select.kernels.base import Kernel
    from msvm_select.machines.base import Loss, Machine
    from msvm_select.metrics.base import Metric
    from msvm_select.solvers.base import Solver

T = TypeVar("T")


class Registry(MutableMapping[str, type[T]], Generic[T]):
    """Name -> class, in the order of the help; a class is imported on first use."""

    def __init__(self, **lines: tuple[str, str]) -> None:
        """``lines``: name -> ("module:Class" in this package, one-line summary).

        An underscore in a name stands for a hyphen.
        """
        self._lines = {key.replace("_", "-"): line for key, line in lines.items()}
        self._loaded: dict[str, type[T]] = {}

    def __getitem__(self, name: str) -> type[T]:
        """The class, imported now if need be; KeyError for an unknown name."""
        if name not in self._loaded:
            module, _, kind = self._lines[name][0].partition(":")
            found = getattr(import_module(f"msvm_select.{module}"), kind)
            self._loaded[name] = cast(type[T], found)
        return self._loaded[name]

    def __setitem__(self, name: str, kind: type[T]) -> None:
        """Add a class, or replace one, in this process."""
        self._loaded[name] = kind

    def __delitem__(self, name: str) -> None:
        """Take back what was added."""
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        """The names; nothing is imported."""
        yield from dict.fromkeys([*self._lines, *self._loaded])

    def __len__(self) -> int:
        """How many names there are."""
        return len({*self._lines, *self._loaded})

    def __contains__(self, name: object) -> bool:
        """Whether there is such a name; nothing is imported."""
        return name in self._lines or name in self._loaded

    def summary(self, name: str) -> str:
        """The one line that says what it is."""
        return self._lines[name][1]


KERNELS: Registry[Kernel] = Registry(
    linear=("kernels.inner_products:Linear", "x.z"),
    polynomial=("kernels.inner_products:Polynomial", "(gamma x.z + coef0)^degree"),
    rbf=("kernels.rbf:Rbf", "exp(-gamma ||x - z||^2), gamma = 1/(2 sigma^2)"),
    sigmoid=(
        "kernels.inner_products:Sigmoid",
        "tanh(gamma x.z + coef0), not a Mercer kernel in general",
    ),
    precomputed=(
        "kernels.precomputed:Precomputed",
        "the features are the kernel values to all samples",
    ),
    spectrum=(
        "kernels.sequences:Spectrum",
        "of sequences: the words of degree letters that they share",
    ),
    mismatch=(
        "kernels.sequences:Mismatch",
        "of sequences: the same, words with one other letter too",
    ),
)

READERS: Registry[Fasta] = Registry(
    fasta=("data.sequences.door:Fasta", "sequences, each in a row of letters"),
)
"""What reads the formats that are no tables."""

LOSSES: Registry[Loss] = Registry(
    l1=("machines.losses:Hinge", "one hinge for each sample and each other class"),
    l2=("machines.losses:Quadratic", "the slacks squared: a hard margin with a ridge"),
)

MACHINES: Registry[Machine] = Registry(
    ww=(
        "machines.weston_watkins:WestonWatkins",
        "one problem for all classes, by Weston and Watkins (default)",
    ),
    ovo=(
        "machines.composed:OneVersusOne",
        "one against one, as LIBSVM and scikit-learn's SVC, C as theirs",
    ),
    ova=(
        "machines.composed:OneVersusAll",
        "one against all, as OneVsRestClassifier(SVC()), C as there",
    ),
)

SOLVERS: Registry[Solver] = Registry(
    exact=(
        "solvers.exact.solver:Exact",
        "cycle steps, then Newton on the free variables (default)",
    ),
    smo=(
        "solvers.smo:Smo",
        "cycle steps alone, with shrinking, to --gap (for size)",
    ),
    osqp=("solvers.osqp:Osqp", "operator splitting (OSQP), kept alive along C"),
    qp=("solvers.qp:Qp", "any backend of qpsolvers, dense, for small sets"),
)

CRITERIA: Registry[Criterion] = Registry(
    loo=(
        "criteria.leave_one_out:LeaveOneOut",
        "leave-one-out error rate (default)",
    ),
    train_errors=(
        "criteria.leave_one_out:TrainErrors",
        "training samples that the machine gets wrong",
    ),
    sv_rate=(
        "criteria.leave_one_out:SupportCount",
        "share of support vectors, bounds the leave-one-out rate",
    ),
    radius_margin=(
        "criteria.radius_margin:RadiusMarginBound",
        "K D^2 sum alpha, above the errors of leave-one-out",
    ),
    radius_margin_count=(
        "criteria.radius_margin_count:RadiusMarginCount",
        "B*, the tightest proven bound on leave-one-out errors",
    ),
    span=(
        "criteria.span:Span",
        "leave-one-out as predicted by the active set, unchecked",
    ),
    radius_margin_l1=(
        "criteria.radius_margin:RadiusMarginL1",
        "softened radius-margin of Chung et al., loss l1 only",
    ),
    guaranteed_risk=(
        "criteria.guaranteed_risk:GuaranteedRisk",
        "margin risk + covering numbers, least over the margin",
    ),
    compression=(
        "criteria.risk_bounds:Compression",
        "bounds the risk by the number of support vectors",
    ),
    vc=("criteria.risk_bounds:VcDimension", "VC dimension by radius and margin"),
    cv=(
        "criteria.cross_validation:CrossValidation",
        "cv:K, the error of K-fold cross-validation",
    ),
    holdout=(
        "criteria.cross_validation:Holdout",
        "holdout:SHARE, the error on a share held out",
    ),
    logo=(
        "criteria.leave_group_out:LeaveOneGroupOut",
        "leave-one-group-out error rate, with --group-column",
    ),
    **{
        "loo:balanced": (
            "criteria.leave_one_out:Balanced",
            "leave-one-out with the mass of each class kept",
        )
    },
)

METRICS: Registry[Metric] = Registry(
    error=("metrics.counted:Error", "the share of samples that are wrong"),
    balanced_error=(
        "metrics.counted:BalancedError",
        "the mean of the shares of each class that are wrong",
    ),
    macro_f1=("metrics.counted:MacroF1", "the mean of F1 over the classes, 1 is best"),
    log_loss=(
        "metrics.scored:LogLoss",
        "of softmax(outputs / T), T fitted to the same answers",
    ),
    smooth_error=(
        "metrics.scored:SmoothError",
        "the mean of 1/(1 + exp(4 margin))",
    ),
    cost=("metrics.counted:Cost", "cost:FILE, what the errors cost by a csv"),
    auc=(
        "metrics.scored:Auc",
        "the mean area under the curve, each class against the rest",
    ),
)


@dataclass(frozen=True)
class Topic:
    """A lesson: the module in ``lessons/``, what it ``takes``, an example of that."""

    module: str
    summary: str
    takes: str | None = None
    eg: str = ""


LESSONS = {
    "solvers": Topic(
        "solvers", "the notes' procedures beside the exact solver", "data", "DATA"
    ),
    "margins": Topic("margins", "one machine taken apart", "data", "DATA"),
    "kkt": Topic("kkt", "a minimum under a condition, by cases", "a number", "1..4"),
    "disk": Topic("disk", "a plane of the feature space cuts off a disk"),
    "kernel-trick": Topic("kernel_trick", "features written out, and the kernel"),
    "vc": Topic("vc", "which labellings a line makes"),
    "selection-bias": Topic("selection_bias", "genes chosen on all rows, on noise"),
}
"""What ``teach`` computes."""

RULES = {
    "best": "the first of the ranking",
    "1se": "the simplest within one standard error of the best",
    "simplest": "the simplest of those that tie with the best",
}
"""How --select chooses a cell."""

SCALINGS = ("standard", "minmax", "none")

FORMATS = {
    "table": "the columns that matter most, rounded, for a person (.txt)",
    "csv": "every column, separated by commas (.csv)",
    "tsv": "every column, separated by tabs (.tsv)",
    "json": "one document with data, settings, versions and rows (.json)",
    "ndjson": "one row a line, each an object (.ndjson, .jsonl)",
    "markdown": "the columns of the table, rounded, for a page (.md)",
    "github": "annotations and a summary, for a GitHub Action",
    "junit": "a test case a gate and a cell, for a CI server (.xml)",
    "parquet": "every column with its type; needs msvm-select[io] (.parquet)",
}
"""Name -> summary."""

ENDINGS = {
    ".txt": "table",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".md": "markdown",
    ".xml": "junit",
    ".parquet": "parquet",
}
"""The format that the ending of a file's name stands for."""

INPUT_FORMATS = {
    "csv": "text with a delimiter between the fields (.csv, .tsv and all others)",
    "libsvm": "LIBSVM's text, index:value (.svm, .libsvm, .t)",
    "parquet": "Parquet; needs msvm-select[io] (.parquet, .pq)",
    "arrow": "Arrow and Feather; needs msvm-select[io] (.arrow, .feather, .ipc)",
    "arff": "Weka's ARFF, dense or sparse (.arff)",
    "excel": "a sheet of Excel; needs msvm-select[io] (.xlsx, .xlsm)",
    "fasta": "sequences, for the kernels of sequences (.fasta, .fa, .faa, .fna)",
}
"""Name -> summary; each may also be packed by gzip (.gz)."""

INPUT_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    **dict.fromkeys((".svm", ".libsvm", ".t"), "libsvm"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
    ".arff": "arff",
    **dict.fromkeys((".xlsx", ".xlsm"), "excel"),
    **dict.fromkeys((".fasta", ".fa", ".faa", ".fna"), "fasta"),
}
"""What a data file is by the ending of its name, but for .gz."""

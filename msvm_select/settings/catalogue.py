"""The one catalogue of options.

From an ``Option`` are made: click's option, the environment variable, the TOML key, the
completion, the place in ``--help`` and the check of its value. The settings of a sweep
are the fields of ``Declared``; how to read the data is in ``READING``, and what only
the command line can say in ``ON_THE_LINE``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from msvm_select.errors import SettingsError
from msvm_select.names import (
    CRITERIA,
    FORMATS,
    INPUT_FORMATS,
    KERNELS,
    LOSSES,
    MACHINES,
    METRICS,
    RULES,
    SCALINGS,
    SOLVERS,
)
from msvm_select.settings.values import (
    GAMMA_WORDS,
    Check,
    class_weights,
    cluster,
    duration,
    flag,
    gamma_grid,
    known,
    margin_grid,
    number,
    one_of,
    parse_grid,
    positive,
    positive_grid,
    probability,
    read_text,
    read_texts,
    shard,
    text,
    texts,
    whole,
    whole_grid,
)

PICTURE, KERNEL, TRAINING = "Picture", "Kernel and C", "Training"
SCORES, CHOICE, DATA, OUTPUT = "Scores", "Choice and gates", "Data", "Output"
CLUSTER, REST = "Cluster", "Options"
HEADINGS = (PICTURE, KERNEL, TRAINING, SCORES, CHOICE, CLUSTER, DATA, OUTPUT, REST)
"""In the order of ``--help``."""

FILE, COLUMN = "a file", "a column"
"""What completes a value that is not one of some words."""

DEFAULT_CRITERION = "loo"
ALIASES = {"poly": "polynomial"}  # scikit-learn's name
Grid = tuple[float, ...]


@dataclass(frozen=True)
class Option:
    """One option; one without a help is a kind of options, see ``of``.

    ``flags`` are as the line has them, by default made from the name. ``check`` makes
    the value that counts from what was given. A shell completes the value to ``words``,
    or to what ``completes`` names; of ``choices`` it must be one, and a whole number
    ``within`` the two. If an option that ``joins`` is given several times, all its
    values count; any other is refused then. One that does not ``decide`` changes no
    number of a row. A row of results tells what is ``of_rows``; where one machine is
    trained there is nothing ``of_grids``. No sweep widens a grid beyond ``farthest`` of
    itself: machines there are constant, or do not train. The ``default`` is None where
    other places than the line may say the value.
    """

    help: str = ""
    heading: str = REST
    metavar: str | None = None
    check: Check | None = None
    name: str = ""
    flags: tuple[str, ...] = ()
    words: Iterable[str] = ()
    completes: str = ""
    choices: tuple[str, ...] = ()
    within: tuple[int, int | None] | None = None
    joins: bool = False
    decides: bool = True
    of_rows: bool = False
    of_grids: bool = False
    farthest: tuple[float, float] = (1e-9, 1e9)
    required: bool = False
    default: Any = None

    def of(self, help: str, heading: str, **more: Any) -> Option:
        """An option of this kind."""
        return replace(self, help=help, heading=heading, **more)

    @property
    def is_flag(self) -> bool:
        """Whether it stands on the line without a value."""
        return self.check is flag

    def checked(self, value: Any) -> Any:
        """The value that counts; SettingsError where it cannot be one."""
        return value if self.check is None else self.check(value, self.name)

    @property
    def spelled(self) -> tuple[str, ...]:
        """The flags on the line; a flag whose default is open can be turned off too."""
        name = self.name.replace("_", "-")
        both = self.is_flag and self.default is None
        return self.flags or (f"--{name}/--no-{name}" if both else f"--{name}",)


def _kernel_names(value: Any, name: str) -> tuple[str, ...]:
    names = (ALIASES.get(one, one) for one in texts(value, name))
    return tuple(dict.fromkeys(known(one, KERNELS, "kernel") for one in names))


def _metric_names(value: Any, name: str) -> tuple[str, ...]:
    """With their arguments, each with hyphens, as the columns have underscores."""
    found = []
    for one in texts(value, name):
        metric, colon, argument = one.partition(":")
        metric = known(metric.replace("_", "-"), METRICS, "metric")
        found.append(f"{metric}{colon}{argument}")
    return tuple(dict.fromkeys(found))


def _named(names: Iterable[str], what: str, metavar: str = "NAME") -> Option:
    return Option(metavar=metavar, check=one_of(names, what), words=names)


PLAIN, FLAG = Option(), Option(check=flag)
SWITCH = Option(check=flag, default=False)
GRID = Option(metavar="GRID", check=positive_grid, joins=True)
ANY_GRID = replace(GRID, check=parse_grid)
GAMMAS = replace(GRID, check=gamma_grid, words=GAMMA_WORDS)
POSITIVE = Option(check=positive)
SHARE = Option(metavar="P", check=probability)
DURATION = Option(metavar="T", check=duration)
SHARD = Option(metavar="I/N", check=shard)
ADDRESS = Option(metavar="ADDRESS", check=cluster, words=("tcp://", "local:"))
PEM = Option(metavar="FILE.pem", check=text, completes=FILE)
NUMBER = Option(metavar="X", check=number)
ANY_COUNT, COUNT = (Option(metavar="N", check=whole(least)) for least in (0, 1))
NAME = Option(metavar="NAME", check=text)
NAMED_KERNELS = Option(metavar="NAME", check=_kernel_names, words=KERNELS, joins=True)
NAMED_CRITERIA = Option(metavar="A,B,..", check=texts, words=CRITERIA, joins=True)
NAMED_METRICS = replace(NAMED_CRITERIA, check=_metric_names, words=METRICS)
TEXT = Option(check=read_text)
MARK = replace(TEXT, metavar="MARK")
A_COLUMN = replace(TEXT, metavar="NAME|INDEX", completes=COLUMN)
SOME_COLUMNS = replace(A_COLUMN, check=read_texts, joins=True)
TEXTS = Option(metavar="A,B,..", check=read_texts, joins=True)
PATH = Option(metavar="FILE", completes=FILE)


def setting(heading: str, default: Any, kind: Option, help: str, **more: Any) -> Any:
    """A field of ``Settings``, declared with its option."""
    option = kind.of(help, heading, **more)
    return field(default=default, metadata={"option": option})


_kernel, _training = partial(setting, KERNEL), partial(setting, TRAINING)
_scores = partial(setting, SCORES)
_choice = partial(setting, CHOICE, decides=False)
_cluster = partial(setting, CLUSTER, None, decides=False, of_grids=True)
_output = partial(setting, OUTPUT, decides=False)


def _either(names: Iterable[str], default: str) -> str:
    """``a (default), b or c``, for a help text."""
    told = [f"{name} (default)" if name == default else name for name in names]
    return f"{', '.join(told[:-1])} or {told[-1]}"


def _criteria_told() -> str:
    """The criteria, with the form of those that take a number."""
    told = []
    for name in CRITERIA:
        form = CRITERIA.summary(name).partition(",")[0]
        told.append(form if form.startswith(f"{name}:") else name)
    return ", ".join(told).replace("loo", "loo (default)", 1)


@dataclass(frozen=True)
class Declared:
    """The fields of ``Settings``: heading, default, kind and help of each.

    ``gamma`` and its like are None where the kernels' own defaults count.
    """

    kernel: tuple[str, ...] = _kernel(
        ("rbf",),
        NAMED_KERNELS,
        f"{_either(KERNELS, 'rbf')}; poly is the polynomial. May repeat.",
    )
    C: Grid = _kernel(
        parse_grid("2^-3:2^9:7"),
        replace(GRID, check=margin_grid, words=("inf",)),
        "inf is the widest margin. Default: 2^-3:2^9:7.",
        flags=("--C",),
    )
    gamma: tuple[float | str, ...] | None = _kernel(
        None,
        GAMMAS,
        "Also scale, 1/(features x variance), auto, 1/features, and around, 5 values "
        "around scale. Default: around; 1 for the polynomial.",
    )
    sigma: Grid | None = _kernel(
        None, GRID, "For rbf: gamma = 1/(2 sigma^2).", farthest=(1e-5, 1e5)
    )
    degree: Grid | None = _kernel(
        None,
        GRID,
        "For the polynomial; for sequences, the length of the words. Default: 3.",
        farthest=(1.0, 10.0),
    )
    coef0: Grid | None = _kernel(
        None,
        ANY_GRID,
        "For polynomial and sigmoid. Default: 1 for the polynomial, 0 for sigmoid.",
        farthest=(-1e3, 1e3),
    )
    low_rank: tuple[int, ...] | None = _kernel(
        None,
        Option(metavar="R", check=whole_grid, joins=True),
        "Approximate K by Z Z' of rank R at most, from R pivots (Nystroem); all that "
        "follows is exact for that kernel. Default: K itself.",
        flags=("--low-rank", "--rank"),
    )
    machine: str = _training(
        "ww",
        _named(MACHINES, "machine"),
        f"{_either(MACHINES, 'ww')}: one problem for all classes, one machine for each "
        "pair of classes (LIBSVM, scikit-learn), or one for each class.",
        of_rows=True,
    )
    loss: str = _training(
        "l1",
        _named(LOSSES, "loss"),
        f"{_either(LOSSES, 'l1')}: the slacks as they are, or squared.",
        of_rows=True,
    )
    class_weight: str | None = _training(
        None,
        Option(metavar="W", check=class_weights, words=("balanced",), completes=FILE),
        "The C of each class is C times its weight: balanced, a=2,b=1, or a CSV file "
        "with the columns class and weight.",
    )
    scale: str = _training(
        "standard",
        _named(SCALINGS, "scaling", "KIND"),
        f"{_either(SCALINGS, 'standard')}.",
    )
    solver: str = _training(
        "exact", _named(SOLVERS, "solver"), f"{_either(SOLVERS, 'exact')}."
    )
    gap: float | None = _training(
        None,
        POSITIVE,
        "The relative duality gap to train to. Default: 1e-8; for smo 1e-3.",
        metavar="G",
    )
    qp_backend: str | None = _training(None, NAME, "For --solver qp.")
    criteria: tuple[str, ...] = _scores(
        (DEFAULT_CRITERION,),
        NAMED_CRITERIA,
        f"What to score each cell by: {_criteria_told()}.",
    )
    metric: tuple[str, ...] | None = _scores(
        None,
        NAMED_METRICS,
        "What to compute from the answers of the first criterion that has answers "
        "(loo, logo, "
        "cv, holdout, train-errors): "
        f"{', '.join(METRICS).replace('cost', 'cost:FILE')}. The first ranks.",
    )
    rank_by: str = _scores(
        DEFAULT_CRITERION,
        NAME,
        "A criterion or a metric. Default: the first metric, else the first criterion.",
        metavar="A",
    )
    race: int | None = _scores(
        None,
        COUNT,
        "Judge only the N best cells by loo to the end; drop the others as soon as "
        "they cannot be among them. Default: judge all.",
        of_grids=True,
    )
    seed: int = _scores(
        0, ANY_COUNT, "The seed of whatever is shuffled or drawn. Default: 0."
    )
    warm_start: bool = _training(
        True,
        FLAG,
        "Start from the previous C's solution. Default: on.",
        of_grids=True,
    )
    allow_indefinite: bool = _training(
        False, FLAG, "Train on a Gram matrix that fails Mercer's test. Default: refuse."
    )
    delta: float = _scores(
        0.05, SHARE, "The bounds hold with probability 1 - P. Default: 0.05."
    )
    maurey_c: float = _scores(
        1.0,
        POSITIVE,
        "The constant c of the guaranteed risk where the feature space is not finite; "
        "its value is not known. Default: 1.",
        metavar="C",
    )
    union: bool = _scores(
        False,
        FLAG,
        "Pay for the constants that are taken from the trained machine, so that the "
        "guaranteed risk is a guarantee. Default: off.",
    )
    dimension: int | None = _scores(
        None,
        COUNT,
        "The dimension of the feature space. Default: the kernel's, if it is finite.",
        metavar="D",
    )
    select: str = _choice(
        "best",
        _named(RULES, "rule", "RULE"),
        "best (default); simplest: of the cells that tie with the best; or 1se: the "
        "simplest within one standard error of the best. A smaller C is simpler, then "
        "a smoother kernel.",
    )
    extend: int = _kernel(
        0,
        ANY_COUNT,
        "If the best value is on the grid's edge, widen the grid and sweep the new "
        "cells, up to N times. Default: 2 if no grid is given, else 0.",
        decides=False,
        of_grids=True,
    )
    fail_above: float | None = _choice(
        None, NUMBER, "Exit 1 if the chosen cell's score is larger."
    )
    fail_below: float | None = _choice(
        None,
        NUMBER,
        "Exit 1 if the chosen cell's score is smaller: for macro-f1 and auc, of which "
        "the largest is the best.",
    )
    require_applicable: bool = _choice(
        False,
        FLAG,
        "Exit 1 if the bound that ranks does not apply to the chosen cell.",
    )
    require_converged: bool = _choice(
        False, FLAG, "Exit 1, not 5, if a cell failed or did not converge."
    )
    jobs: int = _training(
        1,
        COUNT,
        "Kernel settings at the same time. Default: 1.",
        decides=False,
        of_grids=True,
    )
    time_budget: float | None = _training(
        None,
        DURATION,
        "Stop after this time: 90s, 10m, 1h30m. A coarse grid comes first, then the "
        "cells around the best.",
        decides=False,
        of_grids=True,
    )
    shard: str | None = _training(
        None,
        SHARD,
        "Sweep part I of N of the cells. Each machine writes a --journal; `merge` puts "
        "them together.",
        decides=False,
        of_grids=True,
    )
    cluster: str | None = _cluster(
        kind=ADDRESS,
        help="Train on the workers of a Dask scheduler, tcp://HOST:PORT, "
        "tls://HOST:PORT or its FILE.json, or on N processes of this machine, local:N.",
    )
    tls_ca: str | None = _cluster(
        kind=PEM,
        help="For tls://: who signed the scheduler's certificate. Default: as Dask is "
        "configured.",
    )
    tls_cert: str | None = _cluster(kind=PEM, help="For tls://: our certificate.")
    tls_key: str | None = _cluster(kind=PEM, help="For tls://: its private key.")
    top: int | None = _output(None, COUNT, "Only the N best rows.")
    format: str | None = _output(
        None,
        _named(FORMATS, "format"),
        f"{_either(FORMATS, '')}. Default: by the ending of the -o file, else table.",
    )


def _by_name(**options: Option) -> dict[str, Option]:
    return {name: replace(option, name=name) for name, option in options.items()}


SETTINGS = _by_name(**{one.name: one.metadata["option"] for one in fields(Declared)})
"""The options of a sweep by name."""
SETTING_NAMES = tuple(SETTINGS)
NOT_DECIDING = tuple(name for name, one in SETTINGS.items() if not one.decides)
"""How the rows are got, shown, chosen from and judged."""


def _reading(kind: Option, help: str, **more: Any) -> Option:
    return kind.of(help, DATA, **more)


READING = _by_name(
    target=_reading(
        A_COLUMN,
        "The class column, by name or number (1-based, -1 is the last). Default: the "
        "one named class, target, label or y, else the last.",
    ),
    delimiter=_reading(
        TEXT,
        "The field separator: a character, or tab, comma, semicolon. Default: the one "
        "of these three that the first lines show.",
        metavar="CHAR",
        words=("tab", "semicolon", "comma"),
    ),
    encoding=_reading(TEXT, "The text encoding. Default: utf-8, else cp1252."),
    no_header=_reading(
        FLAG,
        "The first line is a sample; features are named x1, x2, ...",
        flags=("--no-header/--header",),
    ),
    id_column=_reading(A_COLUMN, "A column that names the rows and is not a feature."),
    weight_column=_reading(
        A_COLUMN,
        "A column of sample weights: a row of weight 2 counts as two, one of weight 0 "
        "is left out.",
    ),
    group_column=_reading(
        A_COLUMN,
        "A column that says which rows belong together: logo leaves out a group at a "
        "time, and cv keeps groups whole.",
    ),
    drop=_reading(SOME_COLUMNS, "A column to leave out. May repeat."),
    na_values=_reading(TEXTS, "More texts that stand for a missing value. May repeat."),
    one_hot=_reading(
        SOME_COLUMNS,
        "A text column to expand into one 0/1 feature per value. May repeat.",
        metavar="COL",
    ),
    missing=_reading(
        TEXT,
        "Missing values: refuse them, leave their rows out, or fill in the column's "
        "mean over the training part. Default: error.",
        choices=("error", "drop", "mean"),
    ),
    input_format=_reading(
        TEXT,
        f"{_either(INPUT_FORMATS, '')}. Default: by the ending of the name, else by "
        "the first bytes.",
        metavar="NAME",
        choices=tuple(INPUT_FORMATS),
    ),
    sheet=_reading(
        TEXT,
        "The sheet of an Excel file, by name or number. Default: the first that is "
        "not empty.",
        metavar="NAME|N",
    ),
    decimal=_reading(
        MARK,
        "The decimal mark, point or comma. Default: point, or comma in files with "
        "semicolons whose numbers show it.",
        words=("point", "comma"),
    ),
    thousands=_reading(
        MARK,
        "What separates the thousands of a number: comma, point, space, apostrophe or "
        "underscore. Default: nothing.",
        words=("comma", "point", "space", "apostrophe", "underscore"),
    ),
    subsample=_reading(
        COUNT,
        "Use N of the rows, drawn by --seed: each class keeps its share, and groups "
        "stay whole. Every output says so. Default: all.",
    ),
    label_from=_reading(
        TEXT,
        "For sequences: a pattern for the header, whose first group is the class. "
        "Default: class=([^ ]+).",
        metavar="PATTERN",
    ),
    labels=_reading(
        replace(TEXT, completes=FILE),
        "For sequences: a table of names and classes, if the headers have no classes.",
        metavar="FILE",
    ),
    alphabet=_reading(
        TEXT,
        "For sequences: dna or protein. Default: judged by the letters.",
        choices=("dna", "protein"),
        metavar="NAME",
    ),
)
"""How to read the data."""


def _line(kind: Option, help: str, heading: str = OUTPUT, **more: Any) -> Option:
    return kind.of(help, heading, **more)


ON_THE_LINE = _by_name(
    data=_line(PATH, "Another file than the one it names.", DATA, metavar="DATA"),
    source=_line(
        PATH,
        "Train the cell of a row of this result file; json files hold the most.",
        KERNEL,
        flags=("--from",),
        metavar="RESULTS",
    ),
    rank=_line(
        PLAIN,
        "With --from: the row to take. Default: the chosen one, else the first. "
        "Without --from: the same as --low-rank.",
        KERNEL,
        metavar="N",
    ),
    by=_line(
        PLAIN,
        "A criterion or a column. Default: what the sweep ranked by.",
        SCORES,
        metavar="A",
    ),
    against=_line(
        PATH,
        "Show what moved since the run of this file; exit 1 if the best got worse.",
        CHOICE,
        metavar="BEFORE",
    ),
    tolerance=_line(
        PLAIN,
        "For --against: by how much the best may get worse. Default: 0.",
        CHOICE,
        metavar="T",
    ),
    scores=_line(SWITCH, "Also h_k (with ovo: the votes), in one column per class."),
    probabilities=_line(SWITCH, "Also fit probabilities, by exact leave-one-out."),
    suspects=_line(
        SWITCH,
        "Only the rows whose class may be a mistake, the most suspicious first.",
    ),
    no_extend=_line(SWITCH, "Keep to the grid: --extend 0.", KERNEL),
    every=_line(
        SWITCH,
        "Show every sample in the table, the right ones too.",
        flags=("--all",),
    ),
    explain=_line(SWITCH, "Add each number's formula to the table."),
    output=_line(PATH, "Write to this file, not to stdout.", flags=("-o", "--output")),
    form=_line(
        PLAIN,
        "For people or for programs. Default: table.",
        flags=("--format",),
        choices=("table", "json"),
    ),
    partial=_line(SWITCH, "Merge what is there, though cells are missing."),
    all_columns=_line(SWITCH, "In markdown: every column, unrounded."),
    report=_line(
        PATH,
        "Also write a page, in one file: the answer, maps, curves, all cells.",
        metavar="FILE.html",
    ),
    journal=_line(
        PATH,
        "Append each finished cell to this file, so that a stopped sweep can resume.",
    ),
    resume=_line(SWITCH, "Continue from the journal, or begin it."),
    quiet=_line(SWITCH, "Print nothing on stderr but errors.", flags=("-q", "--quiet")),
    verbose=_line(
        SWITCH,
        "Also print what matters only for a closer look: eigenvalues, methods, "
        "certificates.",
        flags=("-v", "--verbose"),
    ),
    show_config=_line(SWITCH, "Print the settings in effect, as TOML, and stop."),
    dry_run=_line(
        SWITCH, "Print the grid, the memory and an estimate of the time, and stop."
    ),
    ascii=_line(SWITCH, "As text, on stdout: the map, or --reliability.", PICTURE),
    curves=_line(SWITCH, "All criteria along C, for one kernel setting.", PICTURE),
    boundary=_line(SWITCH, "Decision regions: FILE.. is MODEL DATA.", PICTURE),
    margins=_line(SWITCH, "With --boundary: where a class leads by 1.", PICTURE),
    left_out=_line(
        FLAG,
        "With --boundary: cross the samples that are wrong when left out. Default: "
        "on, up to 1000 samples.",
        PICTURE,
    ),
    paths=_line(SWITCH, "Samples along C: FILE.. is DATA.", PICTURE),
    reliability=_line(
        SWITCH,
        "How sure a model of `fit --probabilities` is, and how often it is right: "
        "FILE.. is MODEL, or MODEL DATA for these samples.",
        PICTURE,
    ),
    of=_line(
        PLAIN,
        "With --paths: what to draw. Default: alpha.",
        PICTURE,
        choices=("alpha", "outputs", "norm"),
    ),
    dpi=_line(
        PLAIN, "Dots per inch of a .png.", PICTURE, within=(30, 1200), default=150
    ),
    size=_line(PLAIN, "The size of the picture in inches.", PICTURE, metavar="W,H"),
    per_class=_line(
        PLAIN, "Samples of each class.", REST, within=(1, None), default=1000
    ),
    picture=_line(
        PATH, "Also draw it to this file.", PICTURE, metavar="FILE.svg|.png|.pdf"
    ),
    features=_line(
        PLAIN,
        "composition, kmer:K or window:W.",
        REST,
        metavar="KIND",
        words=("composition", "kmer:", "window:"),
        default="composition",
    ),
    states=_line(
        PATH,
        "For residues: their states, in a FASTA of the same names, or inline.",
        REST,
    ),
    sets=_line(
        PLAIN,
        "Training sets; with one, every C is shown.",
        REST,
        within=(1, None),
        default=8,
    ),
)
"""What only the command line can say."""

EVERY: Mapping[str, Option] = {**ON_THE_LINE, **READING, **SETTINGS}
"""The whole catalogue, by name."""


def reading_value(name: str, value: Any, where: str) -> Any:
    """The value of a reading option that counts; an error says where it was given."""
    try:
        return READING[name].checked(value)
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from None

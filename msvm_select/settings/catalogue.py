"""What an option is, and the options that are no settings of a sweep.

From an ``Option`` are made: click's option, the environment variable, the TOML key, the
completion, the place in ``--help``. The settings of a sweep are the fields of
``Settings``, each declared with its option; how to read the data is in ``READING``,
and what only the line can say in ``ON_THE_LINE``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from msvm_select.errors import SettingsError
from msvm_select.settings.values import Check, flag, read_text, read_texts

PICTURE, KERNEL, TRAINING = "Picture", "Kernel and C", "Training"
SCORES, CHOICE, DATA, OUTPUT = "Scores", "Choice and gates", "Data", "Output"
REST = "Options"
HEADINGS = (PICTURE, KERNEL, TRAINING, SCORES, CHOICE, DATA, OUTPUT, REST)
"""In the order of ``--help``."""

FILE, COLUMN = "a file", "a column"
"""What completes a value that is not one of some words."""


@dataclass(frozen=True)
class Option:
    """One option.

    ``flags`` are as the line has them, by default made from the name. ``check`` makes
    the value that counts from what was given. A shell completes the value to ``words``,
    or to what ``completes`` names; of ``choices`` it must be one. If an option that
    ``joins`` is given several times, all its values count; any other is refused then.
    One that does not ``decide`` changes no number of a row.
    """

    help: str
    heading: str = REST
    metavar: str | None = None
    check: Check | None = None
    name: str = ""
    flags: tuple[str, ...] = ()
    words: Iterable[str] = ()
    completes: str = ""
    choices: tuple[str, ...] = ()
    joins: bool = False
    decides: bool = True
    required: bool = False

    @property
    def is_flag(self) -> bool:
        """Whether it stands on the line without a value."""
        return self.check is flag

    def checked(self, value: Any) -> Any:
        """The value that counts; SettingsError where it cannot be one."""
        return value if self.check is None else self.check(value, self.name)

    @property
    def spelled(self) -> tuple[str, ...]:
        """The flags on the line."""
        name = self.name.replace("_", "-")
        either = f"--{name}/--no-{name}" if self.is_flag else f"--{name}"
        return self.flags or (either,)


def setting(default: Any, check: Check, heading: str, help: str, **more: Any) -> Any:
    """A field of ``Settings``, declared with its option."""
    option = Option(help, heading, check=check, **more)
    return field(default=default, metadata={"option": option})


def options_of(kind: Any) -> dict[str, Option]:
    """The options of a dataclass whose fields are settings, by name."""
    return _named(**{one.name: one.metadata["option"] for one in fields(kind)})


def _named(**options: Option) -> dict[str, Option]:
    return {name: replace(option, name=name) for name, option in options.items()}


def _reading(help: str, **more: Any) -> Option:
    return Option(help, DATA, **{"check": read_text, **more})


def _line(help: str, heading: str = OUTPUT, **more: Any) -> Option:
    return Option(help, heading, decides=False, **more)


READING = _named(
    target=_reading(
        "The class column, by name or number (1-based, -1 is the last). Default: the "
        "one named class, target, label or y, else the last.",
        metavar="NAME|INDEX",
        completes=COLUMN,
    ),
    delimiter=_reading(
        "The field separator: a character, or tab, comma, semicolon. Default: the one "
        "of these three that the first lines show.",
        metavar="CHAR",
        words=("tab", "semicolon", "comma"),
    ),
    encoding=_reading("The text encoding. Default: utf-8."),
    no_header=_reading(
        "The first line is a sample; features are named x1, x2, ...",
        check=flag,
        flags=("--no-header/--header",),
    ),
    id_column=_reading(
        "A column that names the rows and is not a feature.",
        metavar="NAME|INDEX",
        completes=COLUMN,
    ),
    drop=_reading(
        "A column to leave out. May repeat.",
        check=read_texts,
        metavar="NAME|INDEX",
        completes=COLUMN,
        joins=True,
    ),
    na_values=_reading(
        "More texts that stand for a missing value. May repeat.",
        check=read_texts,
        metavar="A,B,..",
        joins=True,
    ),
    one_hot=_reading(
        "A text column to expand into one 0/1 feature per value. May repeat.",
        check=read_texts,
        metavar="COL",
        completes=COLUMN,
        joins=True,
    ),
    missing=_reading(
        "Missing values: refuse them, leave their rows out, or fill in the column's "
        "mean over the training part. Default: error.",
        choices=("error", "drop", "mean"),
    ),
    input_format=_reading(
        "Default: libsvm for .svm, .libsvm and .t files, else csv.",
        choices=("csv", "libsvm"),
    ),
    decimal=_reading(
        "What marks the decimals of a number: point (default) or comma.",
        metavar="MARK",
        words=("point", "comma"),
    ),
    thousands=_reading(
        "What separates the thousands of a number: comma, point, space, apostrophe or "
        "underscore. Default: nothing.",
        metavar="MARK",
        words=("comma", "point", "space", "apostrophe", "underscore"),
    ),
)
"""How to read the data."""

ON_THE_LINE = _named(
    data=_line(
        "Another file than the one it names.", DATA, metavar="DATA", completes=FILE
    ),
    source=_line(
        "Train the cell of a row of this file of `sweep`; json files tell the most.",
        KERNEL,
        flags=("--from",),
        metavar="RESULTS",
        completes=FILE,
    ),
    rank=_line(
        "Which row of it. Default: the one that was chosen, else the first.",
        KERNEL,
        metavar="N",
    ),
    by=_line(
        "A criterion or a column. Default: what the sweep ranked by.",
        SCORES,
        metavar="A",
    ),
    against=_line(
        "Show what moved since the run of this file; exit 1 if the best got worse.",
        CHOICE,
        metavar="BEFORE",
        completes=FILE,
    ),
    tolerance=_line(
        "For --against: by how much the best may get worse. Default: 0.",
        CHOICE,
        metavar="T",
    ),
    scores=_line("Also h_k, in one column per class.", check=flag, flags=("--scores",)),
    every=_line(
        "Show every sample in the table, the right ones too.",
        check=flag,
        flags=("--all",),
    ),
    explain=_line(
        "Add each number's formula to the table.", check=flag, flags=("--explain",)
    ),
    output=_line(
        "Write to this file, not to stdout.",
        flags=("-o", "--output"),
        metavar="FILE",
        completes=FILE,
    ),
    form=_line(
        "For people or for programs. Default: table.",
        flags=("--format",),
        choices=("table", "json"),
    ),
    all_columns=_line(
        "In markdown: every column, unrounded.", check=flag, flags=("--all-columns",)
    ),
    report=_line(
        "Also write a page, in one file: the answer, maps, curves, all cells.",
        metavar="FILE.html",
        completes=FILE,
    ),
    journal=_line(
        "Append each finished cell to this file, so that a stopped sweep can resume.",
        metavar="FILE",
        completes=FILE,
    ),
    resume=_line(
        "Continue from the journal, or begin it.", check=flag, flags=("--resume",)
    ),
    quiet=_line(
        "Print nothing on stderr but errors.", check=flag, flags=("-q", "--quiet")
    ),
    verbose=_line(
        "Also print what matters only for a closer look: eigenvalues, methods, "
        "certificates.",
        check=flag,
        flags=("-v", "--verbose"),
    ),
    show_config=_line(
        "Print the settings that count as TOML, and stop.",
        check=flag,
        flags=("--show-config",),
    ),
    dry_run=_line(
        "Print the grid, the memory and an estimate of the time, and stop.",
        check=flag,
        flags=("--dry-run",),
    ),
)
"""What only the command line can say."""


def reading_value(name: str, value: Any, where: str) -> Any:
    """The value of a reading option that counts; an error says where it was given."""
    try:
        return READING[name].checked(value)
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from None

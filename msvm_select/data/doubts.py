"""What is wrong or odd in data, with its place and the way out; what they are like."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from msvm_select.errors import DataError
from msvm_select.phrases import counted, listed, quoted
from msvm_select.records import Dataset, Floats, Ints

MOST_LEVELS = 10  # numbers with decimals that may still be classes: doses, say
FEW_ROWS = 10  # whose numbers may well rise by chance
MANY_TWINS = 0.05  # of the rows: they are worth a word more
MANY_LEVELS = 2 * MOST_LEVELS  # of a target that nobody named

# What a cell looks like, what it has, the way out.
LOOKS: tuple[tuple[str, str, str], ...] = (
    (
        r"[-+]?\d{1,3},\d{3}",
        "a comma",
        "say --decimal comma if it is a decimal comma, or --thousands comma if it "
        "separates thousands",
    ),
    (
        r"[-+]?\d+,\d+([eE][-+]?\d+)?",
        "a decimal comma",
        "say --decimal comma, or write decimal points",
    ),
    (r"[-+]?\d+\.\d+([eE][-+]?\d+)?", "a decimal point", "say --decimal point"),
    (
        r"[-+]?\d{1,3}([.,' _\u00a0\u2009\u202f]\d{3})+([.,]\d*)?",
        "a thousands separator",
        "name it with --thousands, or write the digits without it",
    ),
    (r"[-+]?\d+(_\d+)+(\.\d*)?", "an underscore", "write the digits without it"),
    (r"[\u2212\u2013]\d.*", "a minus that is another character", "write '-'"),
    (r"[-+]?[\d.,]+\s?%", "a percent sign", "write the number alone"),
    (r"[$\u20ac\u00a3]\s?[-+]?[\d.,]+", "a currency", "write the number alone"),
    (r"0[xX][\da-fA-F]+", "hexadecimal digits", "write decimal ones"),
    (r"[-+]?\d+(\.\d*)?[dD][-+]?\d+", "a Fortran exponent", "write e for d"),
)


class UnusableDataError(DataError):
    """The data cannot be used, for each of the reasons in ``problems``.

    ``guessed`` is the column that was taken for the class because none was named.
    """

    def __init__(
        self, name: str, problems: Sequence[str], guessed: str | None = None
    ) -> None:
        """One message of all the problems in the file ``name``."""
        self.problems, self.guessed = tuple(problems), guessed
        lines = [f"{name}: {len(problems)} problems", *(f"- {p}" for p in problems)]
        super().__init__(problems[0] if len(problems) == 1 else "\n".join(lines))


@dataclass
class Problems:
    """What was found so far in one file; ``notes`` are worth saying, not errors.

    ``unit`` is what places are counted in: lines of a file, rows of a DataFrame.
    ``guessed`` is the column that was taken for the class when none was named, ``last``
    whether only because it is the last.
    """

    name: str
    found: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unit: str = "line"
    guessed: str | None = None
    last: bool = False

    def add(
        self, text: str, line: int | None = None, column: str | None = None
    ) -> None:
        """One more problem, at its place in the file."""
        where = [self.name]
        if line is not None:
            where.append(f"{self.unit} {line}")
        if column is not None:
            where.append(f"column {quoted(column)}")
        self.found.append(f"{', '.join(where)}: {text}")

    def note(self, text: str) -> None:
        """One more remark that does not stop anything."""
        self.notes.append(text)

    def stop(self, text: str, line: int | None = None) -> UnusableDataError:
        """The error to raise when nothing more can be read after this problem."""
        self.add(text, line)
        return UnusableDataError(self.name, self.found, self.guessed)

    def settle(self) -> None:
        """Raise when anything was found."""
        if self.found:
            raise UnusableDataError(self.name, self.found, self.guessed)


@dataclass
class NoNumbers:
    """The cells of one column that are no numbers: the first, how many, which."""

    line: int
    value: str
    count: int = 0
    distinct: set[str] = field(default_factory=set)

    def what_to_do(self, name: str, m: int, option: str, guessed: bool) -> str:
        """Of ``m`` rows; in words, for the column ``name``.

        ``option`` is what --id-column and --target call it. Where the target was
        ``guessed`` the column may be the true one.
        """
        name, shown, option = quoted(name), quoted(self.value), quoted(option)
        said = f"{shown} is not a number"
        for look, what, way_out in LOOKS:
            if re.fullmatch(look, self.value):
                return f"{said}: it has {what}; {way_out}"
        if self.count == m and len(self.distinct) == m > 2:
            return (
                f"{said}, and every row has another text here: say --id-column "
                f"{option} if it names the rows, or --one-hot {name} if it is a "
                "category"
            )
        if self.count * 2 >= m:
            is_class = f"--target {option} if it is the class, or " if guessed else ""
            return (
                f"{said}: say {is_class}--one-hot {name} if it is a category, or "
                f"--group-column {option} if it names groups of rows"
            )
        return (
            f"{said} ({self.count} such of {m} rows): correct it, or say --na-values "
            f"{shown} if it stands for a missing value, or --one-hot {name} if the "
            "column is a category"
        )


def is_number(cell: str) -> bool:
    """Whether the text is a number (also inf and nan), without digit separators."""
    if "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def check_classes(
    y: Ints, classes: tuple[str, ...], target: str, problems: Problems
) -> None:
    """One class cannot be told apart from anything; one sample is worth a word."""
    if len(classes) == 1:
        problems.add(
            f"every row has the class {quoted(classes[0])}; two classes are needed at "
            "least (--target names another column)",
            column=target,
        )
        return
    _note_alike(classes, problems)
    counts = np.bincount(y, minlength=len(classes))
    single = [classes[k] for k in np.flatnonzero(counts == 1)]
    odd = "every row has a class of its own" if len(single) == y.size > 2 else ""
    if not odd and len(classes) > MOST_LEVELS and _have_decimals(classes):
        odd = f"the {len(classes)} classes are numbers with decimals"
    if odd:
        problems.note(f"{odd}: is {quoted(target)} the target? (--target)")
    elif single:
        plural = "class has" if len(single) == 1 else "classes have"
        problems.note(f"{len(single)} {plural} a single sample: {listed(single)}")


def refuse_measurement(
    classes: tuple[str, ...], m: int, inputs: Sequence[str], X: Floats, p: Problems
) -> None:
    """Stop where the column that was taken for the class seems to be a measurement.

    ``inputs`` names the other columns, whose values are X (m, inputs).
    """
    decimals = _have_decimals(classes)
    nearly_each = p.last and len(classes) > 0.9 * m
    if len(classes) <= MANY_LEVELS or not (decimals or nearly_each):
        return
    like = "a measurement" if decimals else "no class"
    values = f"{len(classes)} different values in {m} rows"
    named = f"say which column is the class with --target ({_candidates(inputs, X)})"
    p.add(
        f"no --target was given, and this column, taken for the class, looks like "
        f"{like}: {values}{', with decimals' if decimals else ''}; {named}",
        column=p.guessed,
    )


def _candidates(inputs: Sequence[str], X: Floats) -> str:
    """Whole numbers, few, each in several rows; a column of text is told elsewhere."""
    found = []
    for name, x in zip(inputs, X.T, strict=True):
        values, counts = np.unique(x[~np.isnan(x)], return_counts=True)
        few = 2 <= values.size <= MANY_LEVELS and counts.min() > 1
        if few and (values == np.floor(values)).all():
            found.append(name)
    if not found:
        return "no other column of numbers looks like one"
    return f"{listed(found)} look{'s' if len(found) == 1 else ''} like one"


def _have_decimals(classes: tuple[str, ...]) -> bool:
    """Whether the classes are numbers, and not all of them whole."""
    if not all(map(is_number, classes)):
        return False
    return not all(float(name).is_integer() for name in classes)


def _note_alike(classes: tuple[str, ...], problems: Problems) -> None:
    """Classes that may be one, written in two ways."""
    first: dict[str, str] = {}
    for name in classes:
        other = first.setdefault(_key(name), name)
        if other != name:
            problems.note(
                f"the classes {quoted(other)} and {quoted(name)} are nearly written "
                "alike: are they one?"
            )
            return


def _key(name: str) -> str:
    """The same for names that differ in blanks, or in how a number is written."""
    if is_number(name):
        return repr(float(name))
    return "".join(unicodedata.normalize("NFKC", name).split())


def note_row_numbers(X: Floats, features: tuple[str, ...], problems: Problems) -> None:
    """A column that counts the rows is an id: in a sorted file it betrays the class.

    So does one of whole numbers that rise from row to row: the rows of a part.
    """
    m = X.shape[0]
    whole = np.flatnonzero((X[: min(m, FEW_ROWS)] % 1.0 == 0.0).all(axis=0))
    for j in whole if m > 2 else ():
        steps = np.diff(X[:, j])
        counts = X[0, j] in (0.0, 1.0) and bool((steps == 1.0).all())
        rises = m >= FEW_ROWS and bool(((steps > 0.0) & (steps % 1.0 == 0.0)).all())
        if not (counts or rises):
            continue
        name = quoted(features[j])
        what = "counts the rows" if counts else "rises from row to row"
        problems.note(f"column {name} {what}: say --id-column {name} if it names them")


@dataclass(frozen=True)
class ColumnSummary:
    """One feature: its range, mean and standard deviation (population), its gaps."""

    name: str
    minimum: float
    maximum: float
    mean: float
    sd: float
    missing: int


@dataclass(frozen=True)
class Description:
    """One Dataset, counted.

    A duplicate row has the features of an earlier row; it is conflicting when some row
    with the same features is of another class.
    """

    name: str
    rows: int
    features: int
    target: str
    classes: dict[str, int]
    columns: tuple[ColumnSummary, ...]
    constant_columns: tuple[str, ...]
    duplicate_columns: tuple[tuple[str, ...], ...]
    duplicate_rows: int
    conflicting_rows: int
    notes: tuple[str, ...]
    repeated_ids: int = 0
    groups: int | None = None
    total_weight: float | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """All that deserves a look, in words; none of it stops a training."""
        found = list(self.notes)
        if self.constant_columns:
            found.append(
                f"{_count(self.constant_columns, 'column')} constant: "
                f"{listed(self.constant_columns)}"
            )
        for group in self.duplicate_columns:
            found.append(f"columns {listed(group)} hold the same values")
        for what, count in (
            ("features", self.duplicate_rows), ("id", self.repeated_ids),
        ):  # fmt: skip
            if count:
                found.append(
                    f"rows with the {what} of an earlier row: {count}"
                    f"{self._alike(count)}"
                )
        if self.conflicting_rows:
            found.append(
                "rows with the features of a row of another class: "
                f"{self.conflicting_rows}; no kernel tells them apart"
            )
        return tuple(found)

    def _alike(self, count: int) -> str:
        """What to do about so many rows that may belong together."""
        if self.groups is not None or count < MANY_TWINS * self.rows:
            return ""
        return (
            "; leave-one-out judges such a row by its twin: if a column says which "
            "rows belong together, use --group-column and --criteria logo"
        )


def describe(dataset: Dataset) -> Description:
    """Count and measure everything that ``check`` shows."""
    X, names = dataset.X + 0.0, dataset.features  # + 0.0 makes -0.0 equal to 0.0
    ids, weights = dataset.ids, dataset.weights
    duplicate, conflicting = _repeated_rows(X, dataset)
    counts = np.bincount(dataset.y, minlength=dataset.Q).tolist()
    pairs = () if dataset.alphabet else zip(names, X.T, strict=True)
    columns = tuple(_summary(name, x) for name, x in pairs)
    equal = () if dataset.alphabet else _equal_columns(X, columns)
    return Description(
        name=dataset.name,
        rows=dataset.m,
        features=len(names),
        target=dataset.target,
        classes=dict(zip(dataset.classes, counts, strict=True)),
        columns=columns,
        constant_columns=tuple(c.name for c in columns if c.minimum == c.maximum),
        duplicate_columns=equal,
        duplicate_rows=duplicate,
        conflicting_rows=conflicting,
        notes=dataset.notes,
        repeated_ids=0 if ids is None else len(ids) - len(set(ids)),
        groups=None if dataset.groups is None else len(dataset.group_names),
        total_weight=None if weights is None else float(weights.sum()),
    )


def _summary(name: str, x: Floats) -> ColumnSummary:
    known = x[~np.isnan(x)]
    low, high = float(known.min()), float(known.max())
    mean, sd = float(known.mean()), float(known.std())
    if low == high:
        mean, sd = low, 0.0
    return ColumnSummary(name, low, high, mean, sd, int(x.size - known.size))


def _equal_columns(
    X: Floats, columns: Iterable[ColumnSummary]
) -> tuple[tuple[str, ...], ...]:
    """Groups of columns with the same values; constant ones are told elsewhere."""
    groups: dict[bytes, list[str]] = {}
    for column, x in zip(columns, X.T, strict=True):
        if column.minimum != column.maximum:
            groups.setdefault(x.tobytes(), []).append(column.name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _repeated_rows(X: Floats, dataset: Dataset) -> tuple[int, int]:
    """Rows equal to an earlier one; rows equal to some row of another class."""
    keys = [row.tobytes() for row in X]
    labels: dict[bytes, set[int]] = {}
    for key, k in zip(keys, dataset.y.tolist(), strict=True):
        labels.setdefault(key, set()).add(k)
    rows = Counter(keys)
    conflicting = sum(rows[key] for key, found in labels.items() if len(found) > 1)
    return len(keys) - len(rows), conflicting


def _count(names: Iterable[str], what: str) -> str:
    count = len(tuple(names))
    return f"{counted(count, what)} {'is' if count == 1 else 'are'}"

"""Which column is the target, the id, a feature: by name, by number, by default."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from msvm_select.data.doubts import Problems, is_number
from msvm_select.data.options import ReadOptions
from msvm_select.phrases import did_you_mean, listed, quoted
from msvm_select.records import Columns

# "y" is also a coordinate: it counts only where no column has a plainer name.
TARGET_NAMES = (("class", "target", "label"), ("y",))
SHOWN = 5


@dataclass(frozen=True)
class Heading:
    """The names of all columns; without a ``header`` the cells of the first line."""

    names: tuple[str, ...]
    header: bool = True
    line: int | None = None

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.names)


@dataclass(frozen=True)
class Roles:
    """Which column of a file is what, by position."""

    names: tuple[str, ...]
    inputs: tuple[int, ...]
    target: int | None = None
    id_column: int | None = None
    one_hot: tuple[int, ...] = ()
    drop: tuple[int, ...] = ()
    guessed: bool = False  # the target: the last column, for want of a better
    header: bool = True

    @property
    def numeric(self) -> tuple[int, ...]:
        """The columns that are read as numbers."""
        return tuple(i for i in self.inputs if i not in self.one_hot)

    @property
    def texts(self) -> tuple[int, ...]:
        """The columns that are read as text."""
        more = [i for i in (self.target, self.id_column) if i is not None]
        return (*self.one_hot, *more)

    @property
    def target_name(self) -> str | None:
        """The target's name."""
        return None if self.target is None else self.names[self.target]

    @property
    def id_name(self) -> str | None:
        """The id column's name."""
        return None if self.id_column is None else self.names[self.id_column]

    def option(self, i: int) -> str:
        """What an option calls the column: its name, or its number."""
        return self.names[i] if self.header else str(i + 1)


def find(wanted: str, names: Sequence[str], width: int) -> int | None:
    """The position of a column given by name, else by number (1-based, or from -1)."""
    if wanted in names:
        return names.index(wanted)
    try:
        number = int(wanted)
    except ValueError:
        return None
    if 1 <= number <= width:
        return number - 1
    return width + number if -width <= number <= -1 else None


class _Finder:
    """Finds columns that an option names; tells those that are not there."""

    def __init__(self, names: Sequence[str], width: int, problems: Problems) -> None:
        self.names, self.width, self.problems = names, width, problems

    def __call__(self, option: str, wanted: str) -> int:
        at = find(wanted, self.names, self.width)
        if at is not None:
            return at
        there = (
            f"the columns are {listed(self.names)}"
            if self.names
            else f"without a header, give a number from 1 to {self.width}"
        )
        near = did_you_mean(wanted, self.names)
        self.problems.add(f"{option} {quoted(wanted)}: no such column{near}; {there}")
        return -1

    def some(self, option: str, wanted: Sequence[str]) -> tuple[int, ...]:
        """The positions of several columns."""
        return tuple(sorted({self(option, name) for name in wanted} - {-1}))


def training_roles(heading: Heading, wanted: ReadOptions, problems: Problems) -> Roles:
    """The roles in data to learn from; raises where a column cannot be found."""
    names = heading.names if heading.header else ()
    found = _Finder(names, heading.width, problems)
    dropped = found.some("--drop", wanted.drop)
    named = _target_by_name(names, dropped, problems)
    at = _last(heading.width, dropped) if named is None else named
    if wanted.target is not None:
        at = found("--target", wanted.target)
    own = None if wanted.id_column is None else found("--id-column", wanted.id_column)
    if own is not None and own == at >= 0:
        problems.add(f"--id-column {quoted(str(wanted.id_column))} is also the target")
    if own in dropped or at in dropped:
        problems.add(f"--drop {listed(wanted.drop)}: the target or the id is in it")
    problems.settle()
    others = (at, own, *dropped)
    inputs = tuple(i for i in range(heading.width) if i not in others)
    if wanted.target is None:
        problems.guessed = heading.names[at] if heading.header else "class"
    if heading.header:
        _check_header(heading, inputs, at, problems)
    else:
        names = _made_up(heading.width, inputs, at, own)
    one_hot = _Finder(names, len(names), problems).some("--one-hot", wanted.one_hot)
    for i in one_hot:
        if i not in inputs:
            problems.add(f"--one-hot {quoted(names[i])}: this column is not a feature")
    if not inputs:
        problems.add(_no_features(heading))
    problems.settle()
    problems.last = wanted.target is None and named is None
    return Roles(
        tuple(names), inputs, at, own, one_hot, dropped, problems.last, heading.header
    )


def _target_by_name(
    names: Sequence[str], dropped: Sequence[int], problems: Problems
) -> int | None:
    """The one named class, target or label, else the one named y."""
    kept = [(i, name) for i, name in enumerate(names) if i not in dropped]
    for usual in TARGET_NAMES:
        found = [i for i, name in kept if name.lower() in usual]
        if len(found) > 1:
            raise problems.stop(
                f"columns {listed(names[i] for i in found)} could each be the target; "
                f"say which with --target (they are number {_numbered(found)})"
            )
        if found:
            return found[0]
    return None


def _last(width: int, dropped: Sequence[int]) -> int:
    """The last column that is kept."""
    return max((i for i in range(width) if i not in dropped), default=width - 1)


def _made_up(
    width: int, inputs: Sequence[int], target: int, own: int | None
) -> tuple[str, ...]:
    """Names where there is no header: features x1..xn, ``class``, ``id``."""
    number = {i: f"x{j + 1}" for j, i in enumerate(inputs)}
    number[target] = "class"
    if own is not None:
        number[own] = "id"
    return tuple(number.get(i, f"dropped{i + 1}") for i in range(width))


def _no_features(heading: Heading) -> str:
    second = heading.names[0].split()
    if len(second) > 1 and ":" in second[1]:
        return "this looks like LIBSVM text: say --input-format libsvm"
    return (
        "no feature column is left; if the columns are parted by something else than "
        "comma, semicolon or tab, say it with --delimiter"
    )


def _check_header(
    heading: Heading, inputs: Sequence[int], target: int, problems: Problems
) -> None:
    """Every column needs a name of its own; a line of numbers may be a sample."""
    names, line = heading.names, heading.line
    _check_duplicates(heading, problems)
    bare = [i for i in inputs if not names[i]]
    for i in bare[:SHOWN]:
        problems.add(
            f"column {i + 1} has no name; name it, or say --id-column {i + 1} if it "
            "names the rows",
            line,
        )
    if len(bare) > SHOWN:
        problems.add(f"{len(bare) - SHOWN} more columns have no name", line)
    if not names[target]:
        problems.add(
            f"column {target + 1}, with the classes, has no name; name it, or say "
            "--target NAME",
            line,
        )
    if line is not None and _looks_like_sample([names[i] for i in inputs]):
        problems.note(
            f"all features in line {line} are named by numbers: say --no-header if "
            "this line is a sample"
        )


def _looks_like_sample(features: Sequence[str]) -> bool:
    """Numbers for names, other than 0, 1, 2, ... (wavelengths may be names)."""
    if not features or not all(is_number(name) for name in features):
        return False
    first = float(features[0])
    return any(float(name) != first + j for j, name in enumerate(features))


def _check_duplicates(heading: Heading, problems: Problems) -> None:
    """Two columns of one name cannot be told apart."""
    counts = Counter(name for name in heading.names if name)
    double = [name for name, count in counts.items() if count > 1]
    if len(double) > SHOWN:
        problems.add(f"{len(double) - SHOWN} more names are those of several columns")
    for name in double[:SHOWN]:
        at = [i for i, other in enumerate(heading.names) if other == name]
        problems.add(
            f"columns {_numbered(at)} have the same name; rename one, or say "
            "--no-header if this line is a sample",
            heading.line,
            name,
        )


def _numbered(at: Sequence[int]) -> str:
    """``1, 2 and 3`` of the positions 0, 1 and 2; a long list is cut."""
    numbers = [str(i + 1) for i in at[:SHOWN]]
    if len(at) > SHOWN:
        numbers.append(f"{len(at) - SHOWN} more")
    return f"{', '.join(numbers[:-1])} and {numbers[-1]}"


def prediction_roles(
    heading: Heading, model: Columns, wanted: ReadOptions, problems: Problems
) -> Roles:
    """The roles in data to predict: the model's columns by name, in the model's order.

    Without a header they are told by their number: all columns that the model was
    trained on, or all but its target.
    """
    if heading.header:
        names = heading.names
        _check_duplicates(heading, problems)
    else:
        names = _model_names(heading, model, problems)
    found = _Finder(names, heading.width, problems)
    at = _optional(found, "--target", wanted.target, model.target)
    own = _optional(found, "--id-column", wanted.id_column, model.id_column)
    taken = {names[i] for i in (at, own) if i is not None}
    spare = [n for n in names if n not in {*model.inputs, *model.drop, *taken}]
    lost = [name for name in model.inputs if name not in names]
    if lost:
        hints = "".join(did_you_mean(name, spare) for name in lost[:1])
        others = f"; the file also has {listed(spare)}" if spare else ""
        problems.add(
            f"the model's {_columns(lost)} {listed(lost)} "
            f"{'is' if len(lost) == 1 else 'are'} missing{hints}{others}",
            heading.line,
        )
    elif spare:
        problems.note(f"not used by the model: {_columns(spare)} {listed(spare)}")
    problems.settle()
    inputs = tuple(names.index(name) for name in model.inputs)
    one_hot = tuple(names.index(name) for name in model.inputs if name in model.one_hot)
    return Roles(tuple(names), inputs, at, own, one_hot, header=heading.header)


def _optional(
    found: _Finder, option: str, wanted: str | None, usual: str | None
) -> int | None:
    if wanted is not None:
        return found(option, wanted)
    return found.names.index(usual) if usual in found.names else None


def _model_names(
    heading: Heading, model: Columns, problems: Problems
) -> tuple[str, ...]:
    bare = tuple(name for name in model.header if name != model.target)
    for names in (model.header, bare, model.inputs):
        if len(names) == heading.width:
            return names
    raise problems.stop(
        f"{heading.width} columns; the model was trained on {len(model.inputs)} "
        f"features ({listed(model.inputs)})",
        heading.line,
    )


def _columns(names: Sequence[str]) -> str:
    return "column" if len(names) == 1 else "columns"

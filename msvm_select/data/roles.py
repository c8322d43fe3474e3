"""Which column is the target, the id, a feature: by name, by number, by default."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

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
    weight: int | None = None
    group: int | None = None

    @property
    def numeric(self) -> tuple[int, ...]:
        """The columns that are read as numbers."""
        return tuple(i for i in self.inputs if i not in self.one_hot)

    @property
    def texts(self) -> tuple[int, ...]:
        """The columns that are read as text."""
        more = (self.target, self.id_column, self.weight, self.group)
        return (*self.one_hot, *(i for i in more if i is not None))

    @property
    def target_name(self) -> str | None:
        """The target's name."""
        return self._name(self.target)

    @property
    def id_name(self) -> str | None:
        """The id column's name."""
        return self._name(self.id_column)

    @property
    def weight_name(self) -> str | None:
        """The name of the column of weights."""
        return self._name(self.weight)

    @property
    def group_name(self) -> str | None:
        """The name of the column of groups."""
        return self._name(self.group)

    def _name(self, i: int | None) -> str | None:
        return None if i is None else self.names[i]

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

    def one(self, option: str, wanted: str | None) -> int | None:
        """The position of a column that need not be named."""
        return None if wanted is None else self(option, wanted)

    def some(self, option: str, wanted: Sequence[str]) -> tuple[int, ...]:
        """The positions of several columns."""
        return tuple(sorted({self(option, name) for name in wanted} - {-1}))


def training_roles(heading: Heading, wanted: ReadOptions, problems: Problems) -> Roles:
    """The roles in data to learn from; raises where a column cannot be found."""
    names = heading.names if heading.header else ()
    found = _Finder(names, heading.width, problems)
    dropped = found.some("--drop", wanted.drop)
    own = found.one("--id-column", wanted.id_column)
    weight = found.one("--weight-column", wanted.weight_column)
    group = found.one("--group-column", wanted.group_column)
    taken = (*dropped, weight, group)
    named = _target_by_name(names, taken, problems)
    at = _last(heading.width, taken) if named is None else named
    if wanted.target is not None:
        at = found("--target", wanted.target)
    _check_apart(heading, wanted, (at, own, weight, group), dropped, problems)
    problems.settle()
    others = (at, own, weight, group, *dropped)
    inputs = tuple(i for i in range(heading.width) if i not in others)
    if wanted.target is None:
        problems.guessed = heading.names[at] if heading.header else "class"
    if heading.header:
        _check_header(heading, inputs, at, problems)
    else:
        special: dict[int | None, str]
        special = {at: "class", own: "id", weight: "weight", group: "group"}
        names = _made_up(heading.width, inputs, special)
    one_hot = _Finder(names, len(names), problems).some("--one-hot", wanted.one_hot)
    for i in one_hot:
        if i not in inputs:
            problems.add(f"--one-hot {quoted(names[i])}: this column is not a feature")
    if not inputs:
        problems.add(_no_features(heading))
    problems.settle()
    problems.last = wanted.target is None and named is None
    return Roles(
        tuple(names), inputs, at, own, one_hot, dropped, problems.last, heading.header,
        weight, group,
    )  # fmt: skip


def _target_by_name(
    names: Sequence[str], taken: Sequence[int | None], problems: Problems
) -> int | None:
    """The one named class, target or label, else the one named y."""
    kept = [(i, name) for i, name in enumerate(names) if i not in taken]
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


def _last(width: int, taken: Sequence[int | None]) -> int:
    """The last column that is nothing else."""
    return max((i for i in range(width) if i not in taken), default=width - 1)


def _check_apart(
    heading: Heading,
    wanted: ReadOptions,
    special: Sequence[int | None],
    dropped: Sequence[int],
    problems: Problems,
) -> None:
    """No column may be two things at once."""
    what = dict(zip(("target", "id", "weight", "group"), special, strict=True))
    for (one, i), (other, j) in combinations(what.items(), 2):
        if i is not None and i == j and i >= 0:
            said = quoted(str(getattr(wanted, f"{other}_column")))
            problems.add(f"--{other}-column {said} is also the {one}")
    if clash := [name for name, i in what.items() if i in dropped]:
        problems.add(f"--drop {listed(wanted.drop)}: the {clash[0]} is in it")


def _made_up(
    width: int, inputs: Sequence[int], special: Mapping[int | None, str]
) -> tuple[str, ...]:
    """Names where there is no header: features x1..xn, and what is ``special``."""
    number = dict(special) | {i: f"x{j + 1}" for j, i in enumerate(inputs)}
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
            f"all features in {problems.unit} {line} are named by numbers: say "
            f"--no-header if this {problems.unit} is a sample"
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
    known = {*model.inputs, *model.beside, *taken}
    spare = [name for name in names if name not in known]
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

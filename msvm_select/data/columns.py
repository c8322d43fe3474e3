"""Which column is the target, the id, a feature: by name, by number, by default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from msvm_select.data.cells import Roles
from msvm_select.data.header import check_duplicates, check_header, numbered
from msvm_select.data.problems import Problems
from msvm_select.data.table import Table
from msvm_select.phrases import did_you_mean, listed, quoted
from msvm_select.records import Columns

# "y" is also a coordinate: it counts only where no column has a plainer name.
TARGET_NAMES = (("class", "target", "label"), ("y",))


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


def default_target(names: Sequence[str], problems: Problems) -> int | None:
    """The one named class, target or label, else the one named y."""
    for wanted in TARGET_NAMES:
        found = [i for i, name in enumerate(names) if name.lower() in wanted]
        if len(found) > 1:
            raise problems.stop(
                f"columns {listed(names[i] for i in found)} could each be the target; "
                f"say which with --target (they are number {numbered(found)})"
            )
        if found:
            return found[0]
    return None


def training_roles(
    table: Table,
    target: str | None,
    id_column: str | None,
    one_hot: Sequence[str],
    problems: Problems,
) -> Roles:
    """The roles in data to learn from; raises where a column cannot be found."""
    names = table.first if table.header else ()
    found = _Finder(names, table.width, problems)
    named = default_target(names, problems)
    at = table.width - 1 if named is None else named
    if target is not None:
        at = found("--target", target)
    own = found("--id-column", id_column) if id_column is not None else None
    if own is not None and own == at >= 0:
        problems.add(f"--id-column {quoted(str(id_column))} is also the target")
    problems.settle()
    inputs = tuple(i for i in range(table.width) if i not in (at, own))
    if table.header:
        check_header(table, inputs, at, problems)
    else:
        names = _made_up(table.width, inputs, at)
    expanded = _one_hot(names, inputs, one_hot, problems)
    if not inputs:
        problems.add(_no_features(table))
    problems.settle()
    guessed = target is None and named is None
    return Roles(tuple(names), inputs, at, own, expanded, guessed)


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


def _made_up(width: int, inputs: Sequence[int], target: int) -> tuple[str, ...]:
    """Names where there is no header: features x1..xn, ``class``, ``id``."""
    number = {i: f"x{j + 1}" for j, i in enumerate(inputs)}
    return tuple(number.get(i, "class" if i == target else "id") for i in range(width))


def _one_hot(
    names: Sequence[str],
    inputs: Sequence[int],
    wanted: Sequence[str],
    problems: Problems,
) -> tuple[int, ...]:
    found = _Finder(names, len(names), problems)
    expanded = sorted({found("--one-hot", name) for name in wanted} - {-1})
    for i in expanded:
        if i not in inputs:
            problems.add(f"--one-hot {quoted(names[i])}: this column is not a feature")
    return tuple(expanded)


def _no_features(table: Table) -> str:
    second = table.first[0].split()
    if len(second) > 1 and ":" in second[1]:
        return "this looks like LIBSVM text: say --input-format libsvm"
    return (
        "no feature column is left; if the columns are parted by something else than "
        "comma, semicolon or tab, say it with --delimiter"
    )


def prediction_roles(
    table: Table,
    model: Columns,
    target: str | None,
    id_column: str | None,
    problems: Problems,
) -> Roles:
    """The roles in data to predict: the model's columns by name, in the model's order.

    Without a header they are told by their number: all columns that the model was
    trained on, or all but its target.
    """
    names = table.first if table.header else _model_names(table, model, problems)
    if table.header:
        check_duplicates(table, problems)
    found = _Finder(names, table.width, problems)
    at = _optional(found, "--target", target, model.target)
    own = _optional(found, "--id-column", id_column, model.id_column)
    lost = [name for name in model.inputs if name not in names]
    spare = [
        name
        for i, name in enumerate(names)
        if name not in model.inputs and i not in (at, own)
    ]
    if lost:
        hints = "".join(did_you_mean(name, spare) for name in lost[:1])
        others = f"; the file also has {listed(spare)}" if spare else ""
        problems.add(
            f"the model's {_columns(lost)} {listed(lost)} "
            f"{'is' if len(lost) == 1 else 'are'} missing{hints}{others}",
            table.first_line,
        )
    elif spare:
        problems.note(f"not used by the model: {_columns(spare)} {listed(spare)}")
    problems.settle()
    inputs = tuple(names.index(name) for name in model.inputs)
    one_hot = tuple(names.index(name) for name in model.inputs if name in model.one_hot)
    return Roles(tuple(names), inputs, at, own, one_hot)


def _optional(
    found: _Finder, option: str, wanted: str | None, usual: str | None
) -> int | None:
    if wanted is not None:
        return found(option, wanted)
    return found.names.index(usual) if usual in found.names else None


def _model_names(table: Table, model: Columns, problems: Problems) -> tuple[str, ...]:
    bare = tuple(name for name in model.header if name != model.target)
    for names in (model.header, bare, model.inputs):
        if len(names) == table.width:
            return names
    raise problems.stop(
        f"{table.width} columns; the model was trained on {len(model.inputs)} features "
        f"({listed(model.inputs)})",
        table.first_line,
    )


def stored(columns: Columns) -> dict[str, Any]:
    """What a model file holds of the columns: only what JSON knows."""
    plain = asdict(columns)
    plain["one_hot"] = {name: list(v) for name, v in columns.one_hot.items()}
    return plain | {k: list(v) for k, v in plain.items() if isinstance(v, tuple)}


def restored(plain: Mapping[str, Any]) -> Columns:
    """The columns again, from what ``stored`` gave."""
    lists = {k: tuple(v) for k, v in plain.items() if isinstance(v, list | tuple)}
    one_hot = {name: tuple(values) for name, values in plain["one_hot"].items()}
    return Columns(**{**plain, **lists, "one_hot": one_hot})


def _columns(names: Sequence[str]) -> str:
    return "column" if len(names) == 1 else "columns"

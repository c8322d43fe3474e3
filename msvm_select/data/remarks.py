"""What is odd about samples: classes, categories, columns that count the rows."""

from __future__ import annotations

import unicodedata

import numpy as np

from msvm_select.data.cells import Cells, is_number
from msvm_select.data.problems import Problems
from msvm_select.phrases import listed, quoted
from msvm_select.records import Columns, Floats, Ints

MOST_LEVELS = 10  # numbers with decimals that may still be classes: doses, say


def note_unlabelled(cells: Cells, target: str, problems: Problems) -> None:
    """Labels of data to predict are for comparing: all of them or none."""
    lacking = int((cells.texts[target] == "").sum())
    if 0 < lacking < cells.lines.size:
        problems.note(
            f"{lacking} of {cells.lines.size} labels in column {quoted(target)} are "
            "missing: the column is not looked at"
        )


def check_categories(cells: Cells, columns: Columns, problems: Problems) -> None:
    """Data to predict may not hold a category that the model never saw."""
    for name, known in columns.one_hot.items():
        for i in np.flatnonzero(~np.isin(cells.texts[name], ["", *known]))[:1]:
            problems.add(
                f"the model knows no category {quoted(cells.texts[name][i])}; "
                f"it was trained on {listed(known)}",
                int(cells.lines[i]),
                name,
            )


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
    if not odd and _measured(classes):
        odd = f"the {len(classes)} classes are numbers with decimals"
    if odd:
        problems.note(f"{odd}: is {quoted(target)} the target? (--target)")
    elif single:
        plural = "class has" if len(single) == 1 else "classes have"
        problems.note(f"{len(single)} {plural} a single sample: {listed(single)}")


def _measured(classes: tuple[str, ...]) -> bool:
    """Whether the classes look like the values of a feature."""
    if len(classes) <= MOST_LEVELS or not all(map(is_number, classes)):
        return False
    return not all(float(name).is_integer() for name in classes)


def _note_alike(classes: tuple[str, ...], problems: Problems) -> None:
    """Classes that a slip of the hand may have made of one."""
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
    """A column that counts the rows is an id: in a sorted file it betrays the class."""
    if X.shape[0] < 3:
        return
    counts = (np.diff(X, axis=0) == 1.0).all(axis=0) & np.isin(X[0], [0.0, 1.0])
    for j in np.flatnonzero(counts):
        name = quoted(features[j])
        problems.note(
            f"column {name} counts the rows: say --id-column {name} if it names them"
        )

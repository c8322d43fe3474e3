"""Is the first line a header, with one name for each column?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msvm_select.data.cells import is_number
from msvm_select.data.problems import Problems
from msvm_select.data.table import Table

SHOWN = 5


def check_header(
    table: Table, inputs: Sequence[int], target: int, problems: Problems
) -> None:
    """Every column needs a name of its own; a line of numbers may be a sample."""
    features = [table.first[i] for i in inputs]
    check_duplicates(table, problems)
    bare = [i for i in inputs if not table.first[i]]
    for i in bare[:SHOWN]:
        problems.add(
            f"column {i + 1} has no name; name it, or say --id-column {i + 1} if it "
            "names the rows",
            table.first_line,
        )
    if len(bare) > SHOWN:
        problems.add(f"{len(bare) - SHOWN} more columns have no name", table.first_line)
    if not table.first[target]:
        problems.add(
            f"column {target + 1}, with the classes, has no name; name it, or say "
            "--target NAME",
            table.first_line,
        )
    if _looks_like_sample(features):
        problems.note(
            f"all features in line {table.first_line} are named by numbers: say "
            "--no-header if this line is a sample"
        )


def _looks_like_sample(features: Sequence[str]) -> bool:
    """Numbers for names, other than 0, 1, 2, ... (wavelengths may be names)."""
    if not features or not all(is_number(name) for name in features):
        return False
    first = float(features[0])
    return any(float(name) != first + j for j, name in enumerate(features))


def check_duplicates(table: Table, problems: Problems) -> None:
    """Two columns of one name cannot be told apart."""
    counts = Counter(name for name in table.first if name)
    double = [name for name, count in counts.items() if count > 1]
    if len(double) > SHOWN:
        problems.add(f"{len(double) - SHOWN} more names are those of several columns")
    for name in double[:SHOWN]:
        at = [i for i, other in enumerate(table.first) if other == name]
        problems.add(
            f"columns {numbered(at)} have the same name; rename one, or say "
            "--no-header if this line is a sample",
            table.first_line,
            name,
        )


def numbered(at: Sequence[int]) -> str:
    """``1, 2 and 3`` of the positions 0, 1 and 2; a long list is cut."""
    numbers = [str(i + 1) for i in at[:SHOWN]]
    if len(at) > SHOWN:
        numbers.append(f"{len(at) - SHOWN} more")
    return f"{', '.join(numbers[:-1])} and {numbers[-1]}"

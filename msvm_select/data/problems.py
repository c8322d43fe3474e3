"""All that is wrong with a file, gathered, so that one look mends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msvm_select.errors import DataError
from msvm_select.phrases import quoted


class UnusableDataError(DataError):
    """The data cannot be used, for each of the reasons in ``problems``."""

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        """One message of all the problems in the file ``name``."""
        self.problems = tuple(problems)
        super().__init__(_message(name, self.problems))


@dataclass
class Problems:
    """What was found so far in one file; ``notes`` are worth saying, not errors."""

    name: str
    found: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(
        self, text: str, line: int | None = None, column: str | None = None
    ) -> None:
        """One more problem, at its place in the file."""
        self.found.append(f"{self.place(line, column)}: {text}")

    def note(self, text: str) -> None:
        """One more remark that does not stop anything."""
        self.notes.append(text)

    def place(self, line: int | None = None, column: str | None = None) -> str:
        """``iris.csv, line 3, column 'width'``."""
        where = [self.name]
        if line is not None:
            where.append(f"line {line}")
        if column is not None:
            where.append(f"column {quoted(column)}")
        return ", ".join(where)

    def stop(self, text: str, line: int | None = None) -> UnusableDataError:
        """The error to raise when nothing more can be read after this problem."""
        self.add(text, line)
        return UnusableDataError(self.name, self.found)

    def settle(self) -> None:
        """Raise when anything was found."""
        if self.found:
            raise UnusableDataError(self.name, self.found)


def _message(name: str, problems: tuple[str, ...]) -> str:
    if len(problems) == 1:
        return problems[0]
    return "\n".join(
        [f"{name}: {len(problems)} problems", *(f"- {p}" for p in problems)]
    )

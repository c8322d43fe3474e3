"""One answer of the program as a sheet, and its text in every format.

The machine formats (csv, tsv, json, ndjson) hold all columns of all rows. Floats are
written as ``repr`` writes them, truth values as true and false, and what is missing or
not finite as nothing (null, or an empty field). A JSON document has ``schema_version``
and facts around the rows, and so has Parquet; the line formats have the rows alone. The
table and Markdown are for people: some columns, rounded. JUnit and GitHub tell a
pipeline what passed and what did not.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unicodedata import combining, east_asian_width

from msvm_select.columns import HARD, SCHEMA_VERSION
from msvm_select.phrases import in_a_line
from msvm_select.records import Plain, PlainRow, finite
from msvm_select.results import parquet
from msvm_select.show import pipeline
from msvm_select.show.pipeline import Case

GAP = "  "  # between two columns of a table
WIDTH = 80  # of what is not for a terminal
SUMMARY = 20  # rows of the table in the summary of a job
BOLD, CHOSEN, END = "\x1b[1m", "\x1b[1;32m", "\x1b[0m"  # chosen: bold and green
MARKS = str.maketrans(  # of Markdown, and of HTML within it
    {"\\": "\\\\", "|": "\\|", "`": "\\`", "*": "\\*", "<": "&lt;", "&": "&amp;"}
    | {"\r": "", "\n": "<br>"}
)


@dataclass(frozen=True)
class Look:
    """A column: its name in machine formats, and how people see it.

    ``heading`` replaces the name in a table, ``text`` the rounding to ``digits``.
    ``instead`` says what a row has in the place of a value, where it has none.
    """

    name: str
    heading: str = ""
    left: bool = False
    digits: int = 4
    text: Callable[[Plain], str] | None = None
    instead: Callable[[PlainRow], Plain] | None = None

    @property
    def title(self) -> str:
        """What stands above the column."""
        return self.heading or self.name

    def __call__(self, value: Plain) -> str:
        """One value for a person."""
        return self.text(value) if self.text else shown(value, self.digits)

    def of(self, row: PlainRow) -> str:
        """What a person sees of a row."""
        value = row[self.name]
        if value is None and self.instead is not None:
            value = self.instead(row)
        return self(value)


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """One answer.

    columns, rows  every column and every row, for the machine formats
    facts, blocks  what a JSON document has before and after its rows
    rows_as        the rows' name in a JSON document; without one they are left out
    shown          the columns of a table, in order of reading; of these ``spare`` (the
                   most important first) are left out where ``width`` has no room;
                   ``implied`` ones are for Markdown: the lines below a table tell them
    listed         the rows of the table (default: all); ``marked`` is the chosen one
    above, below   lines of the table around its rows
    told, notes    lines for stderr: ``told`` unless a table on stdout says the same;
                   ``details`` are for a closer look only
    title, cases   for pipelines: what it is of, and what passed and what did not
    """

    columns: Sequence[Look]
    rows: Sequence[PlainRow]
    facts: Mapping[str, Any] = field(default_factory=dict)
    blocks: Mapping[str, Any] = field(default_factory=dict)
    rows_as: str = "rows"
    shown: Sequence[str] = ()
    spare: Sequence[str] = ()
    implied: Sequence[str] = ()
    width: int | None = None
    listed: Sequence[PlainRow] | None = None
    marked: int | None = None
    above: Sequence[str] = ()
    below: Sequence[str] = ()
    told: Sequence[str] = ()
    notes: Sequence[str] = ()
    details: Sequence[str] = ()
    title: str = ""
    cases: Sequence[Case] = ()

    @property
    def names(self) -> list[str]:
        """The columns by name."""
        return [look.name for look in self.columns]

    def render(
        self,
        format: str,
        width: int | None = None,
        colour: bool = False,
        all_columns: bool = False,
    ) -> str:
        """The answer as text.

        ``width`` and ``colour`` are for the table. With ``all_columns`` Markdown has
        what csv has.
        """
        match format:
            case "table":
                return self._table(width or self.width, colour)
            case "markdown":
                grid = self._grid(self.rows, self.shown, self.width)
                people = list(zip(*grid.values(), strict=True))
                return _markdown(self._whole() if all_columns else people)
            case "json":
                return json_document(self.document)
            case "ndjson":
                rows = self._plain_rows()
                return "".join(f"{json.dumps(row, allow_nan=False)}\n" for row in rows)
            case "junit":
                return pipeline.junit(self.cases, self.title or "msvm-select")
            case "github":
                return self.annotations + self.summary
        return _separated(self._whole(), {"csv": ",", "tsv": "\t"}[format])

    @property
    def packed(self) -> bytes:
        """The answer as Parquet."""
        about = {k: v for k, v in self.document.items() if k != self.rows_as}
        return parquet.packed(self.names, self._plain_rows(), _sound(about))

    @property
    def annotations(self) -> str:
        """What GitHub shows beside a job: commands of a workflow, a line each."""
        return pipeline.workflow_commands(self.cases)

    @property
    def summary(self) -> str:
        """What GitHub shows of a job, in Markdown: gates, the answer, the best rows."""
        name = f": {_marked(self.title)}" if self.title else ""
        gates = [case for case in self.cases if case.kind == pipeline.GATE]
        told = [f"{_marked(line)}\n" for line in (*self.told, *self.notes)]
        grid = self._grid(self.rows[:SUMMARY], self.shown, None) if self.rows else {}
        table = _markdown(list(zip(*grid.values(), strict=True))) if grid else ""
        more = len(self.rows) - SUMMARY
        rest = [f"{more} more rows are not shown.\n"] if more > 0 else []
        whole = [f"### msvm-select{name}\n", *map(_gate_told, gates), "", *told, table]
        return "\n".join([*whole, *rest]) + "\n"

    @property
    def document(self) -> dict[str, Any]:
        """What a JSON file holds."""
        names = set(self.names)
        rows = [
            {name: finite(value) for name, value in row.items() if name in names}
            for row in self.rows
        ]
        return {
            "schema_version": SCHEMA_VERSION,
            **self.facts,
            **({self.rows_as: rows} if self.rows_as else {}),
            **self.blocks,
        }

    def _plain_rows(self) -> list[dict[str, Plain]]:
        names = self.names
        return [{name: finite(row[name]) for name in names} for row in self.rows]

    def _whole(self) -> list[list[str]]:
        """The headings and every value of every row, unrounded."""
        rows = ([_field(value) for value in r.values()] for r in self._plain_rows())
        return [self.names, *rows]

    def _table(self, width: int | None, colour: bool) -> str:
        rows = self.rows if self.listed is None else self.listed
        names = [name for name in self.shown if name not in self.implied]
        if not rows or not names:
            return "\n".join([*self.above, *self.below]).strip("\n") + "\n"
        grid = self._grid(rows, names, width)
        looks = {look.name: look for look in self.columns}
        left = [looks[name].left for name in grid]
        lines = aligned(list(zip(*grid.values(), strict=True)), left).split("\n")
        if colour:
            lines[0] = f"{BOLD}{lines[0]}{END}"
            if self.marked is not None and self.marked < len(rows):
                at = 1 + self.marked
                lines[at] = f"{CHOSEN}{lines[at]}{END}"
        return "\n".join([*self.above, *lines, *self.below]).rstrip("\n") + "\n"

    def _grid(
        self, rows: Sequence[PlainRow], names: Sequence[str], width: int | None
    ) -> dict[str, list[str]]:
        """The columns to show, each with its heading and a text a row."""
        looks = {look.name: look for look in self.columns}
        grid = {
            name: [looks[name].title, *(looks[name].of(row) for row in rows)]
            for name in names
        }
        if self.marked is not None and self.marked < len(rows):
            first = grid[names[0]]
            first[1 + self.marked] = f"* {first[1 + self.marked]}"
        fitting = names if width is None else self._fitting(grid, width)
        return {name: grid[name] for name in fitting}

    def _fitting(self, grid: Mapping[str, Sequence[str]], width: int) -> list[str]:
        """The names of the columns to show: the spare ones while there is room."""
        needed = {n: len(GAP) + max(map(_width, texts)) for n, texts in grid.items()}
        chosen = [name for name in grid if name not in self.spare]
        room = width - sum(needed[name] for name in chosen)
        for name in self.spare:
            if needed[name] <= room:
                chosen.append(name)
                room -= needed[name]
        return [name for name in grid if name in chosen]


def shown(value: Plain, digits: int = 4) -> str:
    """One value for a person: rounded, yes or no, a dash for nothing."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    return "inf" if value >= HARD else f"{value:.{digits}g}"


def aligned(rows: Sequence[Sequence[str]], left: Sequence[bool]) -> str:
    """Columns two spaces apart, to the left or to the right, whatever their width."""
    rows = [[in_a_line(cell) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(row, widths, left, strict=True)
        lines.append(GAP.join(_padded(*cell) for cell in cells).rstrip())
    return "\n".join(lines)


def json_document(value: Any) -> str:
    """A whole document, indented; null for every number that is not finite."""
    whole = json.dumps(_sound(value), indent=2, ensure_ascii=False, allow_nan=False)
    return f"{whole}\n"


def _sound(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sound(part) for key, part in value.items()}
    return [*map(_sound, value)] if isinstance(value, list | tuple) else finite(value)


def _separated(lines: Sequence[Sequence[str]], delimiter: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(lines)
    return out.getvalue()


def _markdown(lines: Sequence[Sequence[str]]) -> str:
    head, *body = lines
    cells = [[cell.translate(MARKS) for cell in line] for line in body]
    return "".join(
        f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *cells)
    )


def _gate_told(gate: Case) -> str:
    word = "passed" if gate.state == pipeline.OK else "failed"
    return f"- **{word}** {_marked(gate.text or gate.name)}"


def _marked(text: str) -> str:
    """The text within Markdown."""
    return text.strip().translate(MARKS)


def _field(value: Plain) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _padded(text: str, width: int, at_left: bool) -> str:
    space = " " * (width - _width(text))
    return text + space if at_left else space + text


def _width(text: str) -> int:
    """How many places a terminal gives it: two to a Chinese letter, none to an accent
    that stands for itself.
    """
    return sum(
        0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1
        for letter in text
    )

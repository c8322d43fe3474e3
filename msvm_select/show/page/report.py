"""All that the page of a sweep tells, gathered."""

from __future__ import annotations

from dataclasses import dataclass

from msvm_select.results.ranking import Results
from msvm_select.row import Row
from msvm_select.show.answers.loo import LeftOutReport


@dataclass(frozen=True, eq=False)
class Report:
    """All that the page tells.

    ``judged`` is the best cell's leave-one-out, or ``why_not`` says why there is none;
    ``command`` makes the page again; ``cells`` is the size of the whole grid, of which
    an interrupted sweep has done a part; ``source`` tells where the data are.
    """

    results: Results
    command: str = ""
    judged: LeftOutReport | None = None
    why_not: str = ""
    source: str | None = None
    digest: str | None = None
    notes: tuple[str, ...] = ()
    cells: int | None = None

    @property
    def chosen(self) -> Row | None:
        """The cell that the page is about."""
        return self.results.chosen

    @property
    def name(self) -> str:
        """What the data are called."""
        return str(self.results.data.get("name") or "Results")

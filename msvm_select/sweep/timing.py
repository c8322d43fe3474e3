"""What a sweep's criteria cost, told on the way and not in its rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from msvm_select.train.events import Event, Progress, Scored, silent


@dataclass(eq=False)
class Stopwatch:
    """Listens to a sweep and hands all on; ``scored`` keeps what each scoring took.

    The sweep's threads may tell at the same time, so nothing is added up on the way.
    """

    listener: Progress = silent
    scored: list[Scored] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        """Note the time of a scoring."""
        if isinstance(event, Scored):
            self.scored.append(event)
        self.listener(event)

    @property
    def seconds(self) -> dict[str, float]:
        """By criterion, over all cells."""
        sums: dict[str, float] = {}
        for event in self.scored:
            sums[event.criterion] = sums.get(event.criterion, 0.0) + event.seconds
        return sums

"""What a worker does: a chain, told cell by cell to those who wait for it."""

from __future__ import annotations

import pickle
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from io import BytesIO
from typing import Any

from msvm_select.errors import MsvmError
from msvm_select.results.ranking import version_of
from msvm_select.sweep.cells import Chain
from msvm_select.train.compiling import compiling_note
from msvm_select.train.events import (
    CellDone,
    CellProgress,
    CellStarted,
    Event,
    GramTested,
    Noted,
)

COMPARED = ("msvm-select", "numpy", "numba")
"""What rows depend on to the last bit."""
TOLD = 0.5  # seconds between two words on a long cell
Versions = Mapping[str, str | None]


def versions_here() -> dict[str, str | None]:
    """Of the packages that are compared; None for one that is not installed."""
    return {package: version_of(package) for package in COMPARED}


def difference(address: str, theirs: Versions, ours: Versions) -> str:
    """What one worker has otherwise than we; empty if nothing."""
    parts = [
        f"{name} {theirs.get(name) or 'not installed'} (here {ours[name]})"
        for name in COMPARED
        if theirs.get(name) != ours[name]
    ]
    return f"{address}: {', '.join(parts)}" if parts else ""


def refusal(differing: Sequence[str]) -> str:
    """The message, with a line for each worker."""
    lines = "".join(f"\n  {text}" for text in differing)
    return (
        f"The workers must have the versions of this machine, or their rows would be "
        f"others. They differ:{lines}\nInstall the same versions there and here, and "
        "start the workers again."
    )


class _Packer(pickle.Pickler):
    """Leaves out what was sent already, by its place there."""

    def __init__(self, file: Any, shared: Sequence[Any]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.shared = shared

    def persistent_id(self, thing: Any) -> int | None:
        for place, other in enumerate(self.shared):
            if thing is other and other is not None:
                return place
        return None


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: Any, shared: Sequence[Any]) -> None:
        super().__init__(file)
        self.shared = shared

    def persistent_load(self, place: int) -> Any:
        return self.shared[place]


def packed(chain: Chain, shared: Sequence[Any]) -> bytes:
    """A chain without what is ``shared``, and sent by itself."""
    file = BytesIO()
    _Packer(file, shared).dump(chain)
    return file.getvalue()


def run_there(
    samples: bytes, packed: bytes, number: int, topic: str, ours: Versions
) -> list[Event]:
    """The task, on a worker: all cells of a chain, each told when it is finished."""
    from distributed import get_worker

    worker = get_worker()
    if text := difference(worker.address, versions_here(), ours):
        raise MsvmError(refusal([text]))
    chain: Chain = _Unpacker(BytesIO(packed), pickle.loads(samples)).load()
    teller = _Teller(worker, number, topic)
    if note := compiling_note(chain.ready.started(ranked=True)):
        teller.tell(Noted(f"{worker.address}: {note}"))
    for done in chain.run(teller):
        teller.tell(CellDone(done.row))
    return teller.told


class _Teller:
    """Hears a chain on a worker and tells those who wait for it."""

    def __init__(self, worker: Any, number: int, topic: str) -> None:
        self.worker, self.number, self.topic = worker, number, topic
        self.task = worker.get_current_task()
        self.told: list[Event] = []
        self.spoke = time.monotonic()

    def __call__(self, event: Event) -> None:
        """Hand on what a local run would show; end a chain that nobody waits for."""
        state = self.worker.state.tasks.get(self.task)
        if state is None or state.state == "cancelled":
            raise CancelledError
        if isinstance(event, CellProgress):
            if time.monotonic() - self.spoke < TOLD:
                return
            self.spoke = time.monotonic()
            self._send(event)
        elif isinstance(event, GramTested):
            self.tell(event)
        elif isinstance(event, CellStarted):
            self._send(event)

    def tell(self, event: Event) -> None:
        """What may not be lost: it is in the result of the task, too."""
        self.told.append(event)
        self._send(event)

    def _send(self, event: Event) -> None:
        self.worker.log_event(self.topic, pickle.dumps((self.number, event)))

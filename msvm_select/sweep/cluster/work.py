"""The chains of one round of a sweep, submitted to a scheduler and heard of."""

from __future__ import annotations

import pickle
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from msvm_select.errors import DataError, MsvmError
from msvm_select.footprint import PROGRAM
from msvm_select.phrases import sized
from msvm_select.sweep.cells import Chain
from msvm_select.sweep.cluster.connect import hushed
from msvm_select.sweep.cluster.there import packed, run_there, versions_here
from msvm_select.sweep.costs import as_a_rule
from msvm_select.sweep.shards import parts
from msvm_select.train.events import (
    CellDone,
    CellProgress,
    CellStarted,
    Event,
    GramTested,
    Noted,
    Progress,
    Workers,
)
from msvm_select.train.prepare import Prepared

if TYPE_CHECKING:
    from msvm_select.sweep.cluster.client import Cluster

GATHER = 30.0  # seconds to wait for rows that were not told
LOOK = 2.0  # seconds between two looks at who is there
AGAIN = 3  # times that a chain is sent anew after others cancelled it
MEMORY = "msvm-select-memory"
"""The resource of a worker that counts what chains may use, in bytes."""


class Work:
    """The chains of one round: submitted, heard of, sent again where it must be."""

    def __init__(
        self, cluster: Cluster, chains: Sequence[Chain], progress: Progress
    ) -> None:
        """Nothing is sent yet; DataError where no worker could hold a chain."""
        chains = cut(chains, sum(cluster.workers.values()))
        self.cluster, self.chains, self.progress = cluster, chains, progress
        self.client = cluster.client
        self.topic = f"msvm-select-{uuid.uuid4().hex}"
        self.come = SimpleQueue[Any]()
        self.futures: dict[int, Any] = {}
        ready = chains[0].ready
        self.shared = (ready.data, ready.X, ready.weights)  # read here, not there
        self.versions = versions_here()
        self.samples = pickle.dumps(self.shared, pickle.HIGHEST_PROTOCOL)
        self.lacking = [set(chain.lacking) for chain in chains]
        self.times = [0] * len(chains)
        self.tested, self.noted = set[Any](), False
        self.failures: list[str] = []
        self.there: dict[str, int] = {}
        self.looked, self.looks = 0.0, 0
        self.resources = _resources(cluster, chains[0].ready)
        self.ended = False

    def cells(self) -> Iterator[CellDone]:
        """All of them; CancelledError if somebody ends it before."""
        self._look()
        # a handler runs in the client's thread; all else in that of who draws the cells
        self.client.subscribe_topic(self.topic, lambda event: self.come.put(event[1]))
        for number in range(len(self.chains)):
            self._submit(number)
        while self.futures or self.ended:
            if self.ended:
                raise CancelledError
            if time.monotonic() - self.looked > LOOK:
                self._look()
            try:
                what = self.come.get(timeout=LOOK)
            except Empty:
                continue
            if isinstance(what, bytes):
                yield from self._heard(*pickle.loads(what))
            elif what is not None:
                yield from self._ended(*what)
        if self.failures:
            raise MsvmError("\n".join(self.failures))

    def end(self) -> None:
        """Cancel what is not done."""
        if self.ended:
            return
        self.ended = True
        futures, self.futures = list(self.futures.values()), {}
        self.come.put(None)
        with hushed(), suppress(Exception):  # nobody hears it: nothing to cancel
            self.client.cancel(futures)
            self.client.unsubscribe_topic(self.topic)

    def _submit(self, number: int) -> None:
        """A chain, the dearest first; a race has an order of its own."""
        chain = self.chains[number]
        ready, race = chain.ready, chain.ready.settings.race
        costs = as_a_rule(len(ready.kernels))
        place = ready.kernels.index(chain.kernel)
        self.times[number] += 1
        future = self.client.submit(
            run_there,
            self.cluster.sent(self.samples),
            *(packed(chain, self.shared), number, self.topic, self.versions),
            key=f"msvm-select-{chain.kernel.name}-{uuid.uuid4().hex}",
            priority=-number if race else float(costs[place]),
            resources=self.resources,
            pure=False,
        )
        self.futures[number] = future
        future.add_done_callback(lambda future: self.come.put((number, future)))

    def _heard(self, number: int, event: Event) -> Iterator[CellDone]:
        """What a worker told; nothing twice, though a chain may be done again."""
        match event:
            case CellDone(row):
                if row.C in self.lacking[number]:
                    self.lacking[number].remove(row.C)
                    yield event
            case GramTested():
                if event.kernel not in self.tested:
                    self.tested.add(event.kernel)
                    self.progress(event)
            case Noted():
                if not self.noted:
                    self.noted = True
                    self.progress(event)
            case CellStarted(_, C) | CellProgress(_, C):
                if C in self.lacking[number]:
                    self.progress(event)

    def _ended(self, number: int, future: Any) -> Iterator[CellDone]:
        """A task is done, failed or cancelled by others than us."""
        if number not in self.futures or self.futures[number] is not future:
            return  # another was sent since
        if future.status == "finished":
            if self.lacking[number]:  # not all was told
                for event in self._result(future):
                    yield from self._heard(number, event)
            del self.futures[number]
            return
        if future.status == "error":
            del self.futures[number]
            self._failed(number, future.exception(timeout=GATHER))
        elif not self.cluster.is_open:
            raise self._gone()
        else:
            self._cancelled(number)

    def _result(self, future: Any) -> list[Event]:
        try:
            found: list[Event] = future.result(timeout=GATHER)
        except (OSError, TimeoutError, CancelledError) as error:
            raise self._gone() from error
        return found

    def _cancelled(self, number: int) -> None:
        """Somebody restarted the workers, or the scheduler; the chain is sent again."""
        if self.times[number] > AGAIN:
            raise MsvmError(
                f"{self.cluster.name}: {self.chains[number].kernel} was cancelled "
                f"{self.times[number]} times by somebody else."
            )
        self._submit(number)

    def _failed(self, number: int, error: BaseException) -> None:
        """A chain whose workers died again and again; anything else ends the sweep."""
        from distributed.scheduler import KilledWorker

        if isinstance(error, KilledWorker):
            kernel = self.chains[number].kernel
            self.failures.append(
                f"{kernel}: every worker that began it died, most likely for want of "
                f"memory (the last: {error.last_worker.address}); give the workers "
                "more (--memory-limit), or fewer threads."
            )
        elif isinstance(error, ImportError):
            raise MsvmError(f"A worker cannot do it: {error}.") from error
        else:
            raise error

    def _gone(self) -> MsvmError:
        return MsvmError(
            f"The scheduler {self.cluster.name} is gone, or cannot be reached any more."
        )

    def _look(self) -> None:
        """Tell who came and who went; who came tells its memory, if that matters."""
        self.looked = time.monotonic()
        try:
            there = self.cluster.workers
        except (OSError, RuntimeError):  # out of reach: the tasks will tell
            return
        if not self.cluster.is_open or there == self.there:
            return
        gone = tuple(sorted(self.there.keys() - there.keys()))
        came = tuple(sorted(there.keys() - self.there.keys()))
        if self.resources and came:
            with suppress(Exception):  # gone again
                self.client.run(_tell_memory, workers=list(came))
        lanes, new = sum(there.values()), came if self.looks else ()
        self.progress(Workers(self.cluster.name, len(there), lanes, gone, new))
        self.there, self.looks = there, self.looks + 1


def cut(chains: Sequence[Chain], lanes: int) -> list[Chain]:
    """More chains, cut along C, where fewer than ``lanes`` would leave some idle.

    A piece that begins in the middle of C trains the machines below, too, and does not
    judge them: its rows are the same to the last bit.
    """
    lacking = [chain.lacking for chain in chains]
    most = max(map(len, lacking))
    if lanes <= len(chains):
        return list(chains)
    return [
        replace(chains[i], asked=tuple(lacking[i][places.start : places.stop]))
        for part in parts(len(chains), most, lanes)
        for i, places in part.items()
        if lacking[i][places.start : places.stop]
    ]


def _resources(cluster: Cluster, ready: Prepared) -> dict[str, float] | None:
    """What a chain asks of a worker, where not every one has room for all its threads.

    The memory of each worker is told to the scheduler, which then never gives one more
    chains than it has room for, by estimate. Refused is what certainly does not fit.
    """
    limits, threads = cluster.limits(), cluster.workers
    each = ready.footprint.each_bytes
    if all(PROGRAM + threads.get(at, 1) * each <= limits[at] for at in limits):
        return None
    most = max(limits.values())
    certain = replace(ready.footprint, jobs=1).certain_bytes
    if PROGRAM + certain > most and len(limits) == len(threads):
        raise DataError(
            f"{ready.data.name}: a chain takes about {sized(PROGRAM + certain)}, and "
            f"no worker of {cluster.name} may use more than {sized(most)}: start "
            "workers with a larger --memory-limit, or take a part of the rows"
            + ("" if ready.settings.machine == "ovo" else ", or say --machine ovo")
        )
    return {MEMORY: min(each, most - PROGRAM) if most > PROGRAM else each}


async def _tell_memory(dask_worker: Any) -> None:
    """On a worker: what it may use, told to the scheduler as a resource."""
    limit = dask_worker.memory_manager.memory_limit
    room = max(limit - PROGRAM, 0.0) if limit else float("1e18")
    if dask_worker.state.total_resources.get(MEMORY) != room:
        await dask_worker.set_resources(**{MEMORY: room})

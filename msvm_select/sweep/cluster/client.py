"""Chains on the workers of a Dask scheduler: the rows of a local run, as they come.

A chain, one kernel setting with all its C, is a task. The samples are sent once, as a
task of their own, which the scheduler does again if a worker dies with the only copy; a
chain goes without them. What a chain tells while it runs (the test of its Gram matrix,
each row) comes back by a topic of the scheduler, so that a row is in the journal when
it is finished, and not when its chain is.

If a worker dies, the scheduler gives its chains to others, which do them from their
beginning: a row that was here already is not taken again. If the scheduler dies, the
rows so far are what there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any

from msvm_select.errors import MsvmError
from msvm_select.extras import need
from msvm_select.settings import Settings
from msvm_select.sweep.cells import Chain
from msvm_select.sweep.cluster.connect import connected, end_processes, hushed
from msvm_select.sweep.cluster.there import COMPARED, difference, refusal, versions_here
from msvm_select.sweep.cluster.work import Work
from msvm_select.train.events import CellDone, Progress

ARRIVAL = 30.0  # seconds to wait for the first worker
LEAVE = 3.0  # seconds to take leave in


class Cluster:
    """A scheduler that is connected; ``done`` trains chains on its workers.

    >>> with closing(Cluster.of(settings)) as cluster:
    ...     rows = list(iterate(data, settings, elsewhere=cluster.done))
    """

    def __init__(self, client: Any, name: str, local: Any = None) -> None:
        """``local``: the processes on this machine, which end with it."""
        self.client, self.name, self.local = client, name, local
        self.samples: Any = None  # a future
        self.works: list[Work] = []

    @classmethod
    def of(cls, settings: Settings) -> Cluster:
        """Connected as the settings say, with a worker at least, all of our versions.

        MsvmError where nobody listens, where nobody works, and where versions differ.
        """
        need("distributed", "--cluster")
        assert settings.cluster is not None
        with hushed():
            found = cls(*connected(settings))
        try:
            found._check_workers()
        except BaseException:
            found.close()
            raise
        return found

    @property
    def workers(self) -> dict[str, int]:
        """By address, how many tasks each takes at a time."""
        return dict(self.client.nthreads())

    def done(self, chains: Sequence[Chain], progress: Progress) -> Iterator[CellDone]:
        """The cells of the chains as they are finished; the machines stay there."""
        if not chains:
            return
        work = Work(self, chains, progress)
        self.works.append(work)
        try:
            yield from work.cells()
        finally:
            self.works.remove(work)
            work.end()

    @property
    def is_open(self) -> bool:
        """Whether the scheduler was still there a moment ago."""
        return bool(self.client.status == "running")

    def sent(self, samples: bytes) -> Any:
        """The samples there, sent once, under a name that two sweeps of them share."""
        from dask import config

        key = f"msvm-select-samples-{sha256(samples).hexdigest()}"
        gone = self.samples is None or self.samples.status in ("cancelled", "lost")
        if gone or self.samples.key != key:
            with config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
                self.samples = self.client.submit(bytes, samples, key=key)
        return self.samples

    def stop(self) -> None:
        """Cancel all tasks, from any thread; a running one ends at its next word."""
        for work in list(self.works):
            work.end()

    def close(self) -> None:
        """Cancel all tasks, and part."""
        self.stop()
        with hushed(), suppress(Exception):  # a scheduler that is gone hears nothing
            self.client.close(timeout=LEAVE)
        if self.local is not None:
            end_processes(self.local)
            with hushed(), suppress(Exception):
                self.local.close(timeout=LEAVE)

    def limits(self) -> dict[str, int]:
        """Of each worker with a limit: the bytes that it may use."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        limits = (
            (at, int(one.get("memory_limit") or 0)) for at, one in workers.items()
        )
        return {at: limit for at, limit in limits if limit}

    def _check_workers(self) -> None:
        """Wait for the first; refuse other versions than ours."""
        try:
            self.client.wait_for_workers(1, timeout=ARRIVAL)
        except TimeoutError:
            raise MsvmError(
                f"{self.name} has no workers, and none came within {ARRIVAL:g} s: "
                f"start some (`dask worker {self.name} --nthreads 1`)."
            ) from None
        there = self.client.get_versions(check=False, packages=COMPARED)["workers"]
        ours = versions_here()
        differing = [
            text
            for address, one in there.items()
            if (text := difference(address, one["packages"] if one else {}, ours))
        ]
        if differing:
            raise MsvmError(refusal(differing))

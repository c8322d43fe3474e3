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

import json
import logging
import pickle
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any

from msvm_select.errors import DataError, MsvmError, SettingsError
from msvm_select.extras import need
from msvm_select.footprint import PROGRAM
from msvm_select.phrases import sized
from msvm_select.settings import Settings
from msvm_select.sweep.cells import Chain
from msvm_select.sweep.costs import as_a_rule
from msvm_select.train.compiling import compiling_note
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

COMPARED = ("msvm-select", "numpy", "numba")
"""What rows depend on to the last bit."""
CONNECT = 10.0  # seconds to wait for the scheduler
GATHER = 30.0  # seconds to wait for its first worker, or for rows that were not told
PAUSE = 0.2  # seconds between two looks at a file
LOOK = 2.0  # seconds between two looks at who is there
TOLD = 0.5  # seconds between two words of a worker on a long cell
LEAVE = 3.0  # seconds to take leave in
AGAIN = 3  # times that a chain is sent anew after others cancelled it
MEMORY = "msvm-select-memory"
"""The resource of a worker that counts what chains may use, in bytes."""
LOGGERS = ("distributed", "distributed.client", "distributed.nanny", "tornado")

Versions = Mapping[str, str | None]


class Cluster:
    """A scheduler that is connected; ``done`` trains chains on its workers.

    >>> with Cluster.of(settings) as cluster:
    ...     rows = list(iterate(data, settings, elsewhere=cluster.done))
    """

    def __init__(self, client: Any, name: str, local: Any = None) -> None:
        """``local``: the processes on this machine, which end with it."""
        self.client, self.name, self.local = client, name, local
        self.samples: Any = None  # a future
        self.works: list[_Work] = []

    @classmethod
    def of(cls, settings: Settings) -> Cluster:
        """Connected as the settings say, with a worker at least, all of our versions.

        MsvmError where nobody listens, where nobody works, and where versions differ.
        """
        need("distributed", "--cluster")
        assert settings.cluster is not None
        with _hushed():
            found = cls(*_connected(settings))
        try:
            found._check_workers()
        except BaseException:
            found.close()
            raise
        return found

    def __enter__(self) -> Cluster:
        """It is connected."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Cancel what is not done, and part."""
        self.close()

    @property
    def workers(self) -> dict[str, int]:
        """By address, how many tasks each takes at a time."""
        with suppress(OSError, RuntimeError):
            return dict(self.client.nthreads())
        return {}

    def done(self, chains: Sequence[Chain], progress: Progress) -> Iterator[CellDone]:
        """The cells of the chains as they are finished; the machines stay there."""
        if not chains:
            return
        work = _Work(self, chains, progress)
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
        """The same, and part."""
        self.stop()
        with _hushed(), suppress(Exception):  # a scheduler that is gone hears nothing
            self.client.close(timeout=LEAVE)
        if self.local is not None:
            with _hushed(), suppress(Exception):
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
            self.client.wait_for_workers(1, timeout=GATHER)
        except TimeoutError:
            raise MsvmError(
                f"{self.name} has no workers, and none came within {GATHER:g} s: start "
                f"some (`dask worker {self.name} --nthreads 1`)."
            ) from None
        there = self.client.get_versions(check=False, packages=COMPARED)["workers"]
        ours = versions_here()
        differing = [
            text
            for address, one in there.items()
            if (text := _difference(address, one["packages"] if one else {}, ours))
        ]
        if differing:
            raise MsvmError(_refusal(differing))


def _connected(settings: Settings) -> tuple[Any, str, Any]:
    """The client, the scheduler's name, and the processes on this machine, if any."""
    from distributed import Client, LocalCluster

    name = str(settings.cluster)
    if name.startswith("local:"):
        local = LocalCluster(
            n_workers=int(name.partition(":")[2]),
            threads_per_worker=1,
            memory_limit=0,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # serves nothing
            silence_logs=logging.CRITICAL,
        )
        return Client(local, set_as_default=False), name, local
    if name.endswith(".json"):
        name = _address_in(name)
    security = _security(settings, name)
    try:
        client = Client(
            name, timeout=CONNECT, set_as_default=False, security=security,
            name="msvm-select",
        )  # fmt: skip
    except (OSError, RuntimeError, ValueError) as error:
        reason = str(error.__cause__ or error).partition("\n")[0]
        raise MsvmError(
            f"No Dask scheduler answers at {name} ({reason}): is it running (`dask "
            "scheduler`), and can this machine reach that port?"
        ) from error
    return client, name, None


def _address_in(file: str) -> str:
    """The address that a scheduler has written down; it may take a moment to come."""
    until = time.monotonic() + CONNECT
    while True:
        try:
            return str(json.loads(Path(file).read_text())["address"])
        except FileNotFoundError:
            if time.monotonic() > until:
                raise MsvmError(
                    f"{file} is not there: does a scheduler run that writes it (`dask "
                    f"scheduler --scheduler-file {file}`)?"
                ) from None
            time.sleep(PAUSE)
        except (OSError, ValueError, LookupError, TypeError):
            raise SettingsError(f"{file} is no file of a Dask scheduler.") from None


def _security(settings: Settings, address: str) -> Any:
    """Our certificate and who signed theirs; by default what Dask's config says."""
    from distributed import Security

    files = {
        "tls_ca_file": settings.tls_ca,
        "tls_client_cert": settings.tls_cert,
        "tls_client_key": settings.tls_key,
    }
    for name in ("tls_ca", "tls_cert", "tls_key"):
        path = getattr(settings, name)
        if path is not None and not Path(path).is_file():
            raise SettingsError(f"{name}: there is no file {path}.")
    if not address.startswith("tls://"):
        return None
    given = {name: path for name, path in files.items() if path is not None}
    security = Security(require_encryption=True, **given)
    if security.tls_ca_file is None or security.tls_client_cert is None:
        raise SettingsError(
            f"{address} needs certificates: --tls-ca, --tls-cert and "
            "--tls-key, or distributed.comm.tls in Dask's configuration."
        )
    return security


@contextmanager
def _hushed() -> Iterator[None]:
    """Dask's own log says nothing: what matters is told by us."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def versions_here() -> dict[str, str | None]:
    """Of the packages that are compared; None for one that is not installed."""
    found: dict[str, str | None] = dict.fromkeys(COMPARED)
    for package in COMPARED:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _difference(address: str, theirs: Versions, ours: Versions) -> str:
    """What one worker has otherwise than we; empty if nothing."""
    parts = [
        f"{name} {theirs.get(name) or 'not installed'} (here {ours[name]})"
        for name in COMPARED
        if theirs.get(name) != ours[name]
    ]
    return f"{address}: {', '.join(parts)}" if parts else ""


def _refusal(differing: Sequence[str]) -> str:
    lines = "".join(f"\n  {text}" for text in differing)
    return (
        f"The workers must have the versions of this machine, or their rows would be "
        f"others. They differ:{lines}\nInstall the same versions there and here, and "
        "start the workers again."
    )


class _Work:
    """The chains of one round: submitted, heard of, sent again where it must be."""

    def __init__(
        self, cluster: Cluster, chains: Sequence[Chain], progress: Progress
    ) -> None:
        self.cluster, self.chains, self.progress = cluster, chains, progress
        self.client = cluster.client
        self.topic = f"msvm-select-{uuid.uuid4().hex}"
        self.come = SimpleQueue[Any]()
        self.futures: dict[int, Any] = {}
        ready = chains[0].ready
        self.shared = (ready.data, ready.X, ready.weights)  # read here, not there
        self.samples = pickle.dumps(self.shared, pickle.HIGHEST_PROTOCOL)
        self.lacking = [set(chain.lacking) for chain in chains]
        self.times = [0] * len(chains)
        self.tested, self.noted = set[int](), False
        self.failures: list[str] = []
        self.there: dict[str, int] = {}
        self.looked = 0.0
        self.resources = _resources(cluster, chains[0].ready)
        self.ended = False

    def cells(self) -> Iterator[CellDone]:
        """All of them; CancelledError if somebody ends it before."""
        self._look()
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
        with _hushed(), suppress(Exception):  # nobody hears it: nothing to cancel
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
            *(_packed(chain, self.shared), number, self.topic, versions_here()),
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
                if number not in self.tested:
                    self.tested.add(number)
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
        """Tell who came and who went."""
        self.looked = time.monotonic()
        there = self.cluster.workers
        if self.client.status == "running" and there != self.there:
            gone = tuple(sorted(self.there.keys() - there.keys()))
            came = tuple(sorted(there.keys() - self.there.keys())) if self.there else ()
            self.there = there
            lanes = sum(there.values())
            told = Workers(self.cluster.name, len(there), lanes, gone, came)
            self.progress(told)


def _resources(cluster: Cluster, ready: Prepared) -> dict[str, float] | None:
    """What a chain asks of a worker, where not every one has room for all its threads.

    The memory of each worker is told to the scheduler, which then never gives one more
    chains than it has room for.
    """
    limits, threads = cluster.limits(), cluster.workers
    each = ready.footprint.each_bytes
    if all(PROGRAM + threads.get(at, 1) * each <= limits[at] for at in limits):
        return None
    most = max(limits.values())
    if PROGRAM + each > most and len(limits) == len(threads):
        raise DataError(
            f"{ready.data.name}: a chain takes about {sized(PROGRAM + each)}, and no "
            f"worker of {cluster.name} may use more than {sized(most)}: start workers "
            "with a larger --memory-limit, or take a part of the rows"
            + ("" if ready.settings.machine == "ovo" else ", or say --machine ovo")
        )
    cluster.client.run(_tell_memory)
    return {MEMORY: each}


async def _tell_memory(dask_worker: Any) -> None:
    """On a worker: what it may use, told to the scheduler as a resource."""
    limit = dask_worker.memory_manager.memory_limit
    room = max(limit - PROGRAM, 0.0) if limit else float("1e18")
    if dask_worker.state.total_resources.get(MEMORY) != room:
        await dask_worker.set_resources(**{MEMORY: room})


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


def _packed(chain: Chain, shared: Sequence[Any]) -> bytes:
    file = BytesIO()
    _Packer(file, shared).dump(chain)
    return file.getvalue()


def run_there(
    samples: bytes, packed: bytes, number: int, topic: str, ours: Versions
) -> list[Event]:
    """The task, on a worker: all cells of a chain, each told when it is finished."""
    from distributed import get_worker

    worker = get_worker()
    if text := _difference(worker.address, versions_here(), ours):
        raise MsvmError(_refusal([text]))
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

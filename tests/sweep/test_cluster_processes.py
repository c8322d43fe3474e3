"""``--cluster`` with schedulers and workers as processes, some of which die."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from msvm_select.errors import MsvmError
from msvm_select.results.ranking import Results
from msvm_select.sweep.cluster import work
from msvm_select.sweep.loop import run_sweep
from msvm_select.train.events import CellDone, Event, GramTested, Workers
from tests.conftest import DATA, rows_of
from tests.sweep.test_cluster import untimed

distributed = pytest.importorskip(
    "distributed", reason="the extra cluster is not installed"
)
pytestmark = pytest.mark.slow

HOUSE = Path(__file__).parents[2]
VEHICLE, GLASS = DATA / "vehicle.csv", DATA / "glass.csv"
GRID = {"gamma": "2^-7:2^1:5", "C": "1:64:4"}
LINE = tuple(w for name, value in GRID.items() for w in (f"--{name}", value))
PATIENCE = 120.0  # seconds after which something is taken for hung


class Far:
    """A scheduler and its workers, each a process, on loopback."""

    def __init__(self, folder: Path, *secure: str) -> None:
        """No worker yet; ``secure``: options of scheduler and workers."""
        self.folder, self.secure = folder, secure
        self.file = folder / "dask.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        where = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        http = ("--dashboard-address", "127.0.0.1:0")
        self.scheduler = self._begun("scheduler", *where, *http)
        until(self.file.exists)

    @property
    def address(self) -> str:
        """Of the scheduler."""
        return str(json.loads(self.file.read_text())["address"])

    def worker(self, *options: str, **around: str) -> subprocess.Popen[bytes]:
        """One of one thread, and ``around`` in its environment."""
        few = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
        space = ("--local-directory", str(self.folder), "--memory-limit", "2GB")
        return self._begun("worker", *few, *space, *options, **around)

    def close(self) -> None:
        """Nothing is left."""
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    def _begun(
        self, what: str, *options: str, **around: str
    ) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}"]
        command += ["--scheduler-file", str(self.file), *self.secure, *options]
        path = os.pathsep.join([around.pop("PYTHONPATH", ""), str(HOUSE)])
        log = (self.folder / f"{what}{len(self.processes)}.log").open("wb")
        around |= {"PYTHONPATH": path.strip(os.pathsep), "OPENBLAS_NUM_THREADS": "1"}
        with log:
            process = subprocess.Popen(
                command, env=os.environ | around, stdout=log, stderr=log,
                cwd=self.folder,
            )  # fmt: skip
        self.processes.append(process)
        return process


def until(true: Callable[[], Any]) -> None:
    """Wait for it."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def far(tmp_path: Path) -> Iterator[Far]:
    """With no worker yet."""
    found = Far(tmp_path)
    yield found
    found.close()


@pytest.fixture(scope="module")
def glass() -> Results:
    """A sweep of glass as one process does it."""
    return run_sweep(GLASS, **GRID)


def begun(*words: object) -> subprocess.Popen[str]:
    """A command line of ours, begun; it hears Ctrl-C."""
    command = [sys.executable, "-m", "msvm_select", *map(str, words)]
    path = {"PYTHONPATH": str(HOUSE)}
    return subprocess.Popen(
        command, env=os.environ | path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def lines(journal: Path) -> int:
    """Of a journal, so far."""
    return len(journal.read_bytes().splitlines()) if journal.exists() else 0


def test_a_worker_killed_in_the_middle(
    far: Far, glass: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same table; only the chain that it had is begun again."""
    heard, times = list[Event](), Counter[int]()
    workers = [far.worker(), far.worker()]
    hear = work.Work._heard

    def counted(self: Any, number: int, event: Event) -> Any:
        times[number] += isinstance(event, GramTested)
        return hear(self, number, event)

    def told(event: Event) -> None:
        heard.append(event)
        if sum(isinstance(one, CellDone) for one in heard) == 2:
            workers[0].kill()

    monkeypatch.setattr(work.Work, "_heard", counted)
    monkeypatch.setattr(work, "LOOK", 0.2)
    with distributed.Client(far.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
    found = run_sweep(GLASS, cluster=far.address, progress=told, **GRID)
    assert untimed(found) == untimed(glass)
    assert found.gram == glass.gram
    assert sum(isinstance(one, CellDone) for one in heard) == 20
    assert any(isinstance(one, Workers) and one.gone for one in heard)
    assert sum(times.values()) <= len(times) + 1


def test_the_only_worker_killed(far: Far, glass: Results) -> None:
    """The sweep waits for another one, and the samples are sent there too."""
    first, heard = far.worker(), list[Event]()

    def told(event: Event) -> None:
        heard.append(event)
        if sum(isinstance(one, CellDone) for one in heard) == 3:
            first.kill()
        if isinstance(event, Workers) and not event.count:
            far.worker()

    found = run_sweep(GLASS, cluster=str(far.file), progress=told, **GRID)
    assert untimed(found) == untimed(glass)
    assert [one.count for one in heard if isinstance(one, Workers)] == [1, 0, 1]


def other_version(folder: Path, package: str) -> dict[str, str]:
    """What makes Python take the package for another version."""
    info = folder / "other" / f"{package}-0.0.9.dist-info"
    info.mkdir(parents=True)
    text = f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.0.9\n"
    (info / "METADATA").write_text(text)
    return {"PYTHONPATH": str(info.parent)}


def test_a_worker_with_another_version(far: Far, tmp_path: Path) -> None:
    """Is named before work starts, with both versions."""
    far.worker()
    far.worker(**other_version(tmp_path, "numba"))
    with distributed.Client(far.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
    heard: list[Event] = []
    with pytest.raises(MsvmError, match=r"tcp://\S+: numba 0.0.9 \(here \d") as caught:
        run_sweep(GLASS, cluster=far.address, progress=heard.append, **GRID)
    assert heard == []
    assert str(caught.value).count("tcp://") == 1


def test_a_worker_that_comes_late_with_another_version(
    far: Far, tmp_path: Path
) -> None:
    """Does no cell."""
    far.worker()
    other = other_version(tmp_path, "msvm_select")
    late: list[Any] = []

    def told(event: Event) -> None:
        if isinstance(event, CellDone) and not late:
            late.append(far.worker(**other))

    with pytest.raises(MsvmError, match=r"msvm-select 0\.0\.9 \(here"):
        run_sweep(VEHICLE, cluster=far.address, progress=told, **GRID)


def test_a_scheduler_that_goes_away(far: Far, tmp_path: Path) -> None:
    """What is finished is told, the exit code is 1, and the last lines go on."""
    far.worker()
    journal = tmp_path / "run.ndjson"
    line = ("sweep", VEHICLE, *LINE, "--format", "csv", "--journal", journal)
    process = begun(*line, "--cluster", far.address)
    until(lambda: lines(journal) > 3)
    far.scheduler.kill()
    out, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert f"The scheduler {far.address} is gone" in told
    assert f"--cluster {far.address} --resume\n" in told
    assert len(rows_of(out)) == lines(journal) - 1 >= 3
    rest = begun(*line, "--resume")
    out, told = rest.communicate(timeout=PATIENCE)
    assert rest.returncode == 0
    assert len(rows_of(out)) == 20


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=str
)
def test_ctrl_c_cancels_the_tasks(
    far: Far, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """Those that wait, and the one under way; at once."""
    far.worker()
    journal = tmp_path / "run.ndjson"
    line = ("sweep", VEHICLE, *LINE, "--journal", journal, "--cluster", far.file)
    process = begun(*line)
    until(lambda: lines(journal) > 2)
    began = time.monotonic()
    process.send_signal(number)
    _, told = process.communicate(timeout=PATIENCE)
    assert time.monotonic() - began < 10.0
    assert process.returncode == code
    assert "--resume" in told
    with distributed.Client(far.address, set_as_default=False) as client:
        until(lambda: not any(client.processing().values()))
        busy = "lambda dask_worker: dask_worker.state.executing_count"
        until(lambda: not any(client.run(eval(busy)).values()))
        left = "lambda dask_scheduler: list(dask_scheduler.tasks)"
        until(lambda: not client.run_on_scheduler(eval(left)))


def test_two_sweeps_at_once(far: Far, glass: Results) -> None:
    """Each gets its own rows."""
    far.worker()
    far.worker()
    wine = run_sweep(DATA / "wine.csv", **GRID)
    found: dict[str, Results] = {}

    def work(name: str) -> None:
        found[name] = run_sweep(DATA / f"{name}.csv", cluster=far.address, **GRID)

    threads = [threading.Thread(target=work, args=[name]) for name in ("wine", "glass")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert untimed(found["wine"]) == untimed(wine)
    assert untimed(found["glass"]) == untimed(glass)


def test_processes_of_this_machine(glass: Results, tmp_path: Path) -> None:
    """The same file as without them; none outlives the sweep, even if it is killed."""
    psutil = pytest.importorskip("psutil")
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    whole = begun("sweep", GLASS, *LINE, "-q", "-o", here)
    assert whole.communicate(timeout=PATIENCE) == ("", "")
    journal = tmp_path / "run.ndjson"
    line = ("sweep", GLASS, *LINE, "-q", "--journal", journal, "--cluster", "local:2")
    process = begun(*line, "-o", there)
    until(lambda: lines(journal) > 1)
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2
    assert process.communicate(timeout=PATIENCE) == ("", "")
    until(lambda: not any(child.is_running() for child in children))
    for one, other in zip(
        *(rows_of(file.read_text()) for file in (here, there)), strict=True
    ):
        assert one | {"seconds": ""} == other | {"seconds": ""}
    journal.unlink()
    killed = begun(*line)
    until(lambda: lines(journal) > 1)
    children = psutil.Process(killed.pid).children(recursive=True)
    killed.kill()
    killed.communicate(timeout=PATIENCE)
    until(lambda: not any(child.is_running() for child in children))


def test_tls(tmp_path: Path, glass: Results) -> None:
    """With certificates of one's own; without them, or with none of theirs, refused."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make certificates with")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=dask", "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    files = {"tls_ca": str(cert), "tls_cert": str(cert), "tls_key": str(key)}
    options = (
        "--tls-ca-file",
        str(cert),
        "--tls-cert",
        str(cert),
        "--tls-key",
        str(key),
    )
    secure = Far(tmp_path, "--protocol", "tls", *options)
    try:
        secure.worker()
        assert secure.address.startswith("tls://")
        found = run_sweep(GLASS, cluster=secure.address, **files, **GRID)
        assert untimed(found) == untimed(glass)
        with pytest.raises(MsvmError, match="No Dask scheduler answers"):
            run_sweep(GLASS, cluster=f"tcp{secure.address[3:]}", **GRID)
    finally:
        secure.close()

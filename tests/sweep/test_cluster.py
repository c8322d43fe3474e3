"""``--cluster``: the same rows from workers of a Dask scheduler, whoever dies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from msvm_select.columns import Row
from msvm_select.errors import DataError, MsvmError, SettingsError
from msvm_select.footprint import Footprint
from msvm_select.records import Dataset
from msvm_select.results.ranking import Results
from msvm_select.settings import settings_from
from msvm_select.sweep.cluster import client, connect, work
from msvm_select.sweep.journal import Journal
from msvm_select.sweep.loop import run_sweep
from msvm_select.train.events import CellDone, Event, GramTested, Workers
from tests.conftest import DATA, IRIS, run

distributed = pytest.importorskip(
    "distributed", reason="the extra cluster is not installed"
)
GRID: dict[str, Any] = {"C": "0.5,10,1000", "gamma": "0.1,0.5,5", "criteria": "loo"}
VEHICLE = ("sweep", str(DATA / "vehicle.csv"), "--gamma", "2^-7:2^1:5", "--C", "1:64:4")
PATIENCE = 120.0  # seconds until something is taken for hung


def untimed(results: Results) -> tuple[Row, ...]:
    """The rows, but for what differs from run to run."""
    return tuple(replace(row, seconds=None) for row in results.rows)


def _near(**how: Any) -> Any:
    """A scheduler in this process, and workers; it shows nothing to browsers."""
    return distributed.LocalCluster(
        processes=False,
        protocol="tcp",
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
        **how,
    )


@pytest.fixture(scope="module")
def near() -> Iterator[str]:
    """The address of a scheduler in this process, with one worker of two threads."""
    with _near(n_workers=1, threads_per_worker=2, memory_limit="4GB") as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize(
    "values", [{}, {"machine": "ovo", "criteria": "loo,cv:3", "jobs": 2}], ids=str
)
def test_rows_are_those_of_a_local_run(
    data: Dataset, near: str, values: dict[str, Any]
) -> None:
    """To the last bit, with what Mercer's test found, and the choice."""
    whole = run_sweep(data, **{**GRID, **values})
    heard: list[Event] = []
    found = run_sweep(data, cluster=near, progress=heard.append, **{**GRID, **values})
    assert untimed(found) == untimed(whole)
    assert found.gram == whole.gram
    assert found.settings == whole.settings
    told = [event for event in heard if isinstance(event, Workers)]
    assert [(one.count, one.lanes) for one in told] == [(1, 2)]
    assert sum(isinstance(event, GramTested) for event in heard) == 3


@pytest.mark.parametrize("values", [{}, {"machine": "ova", "criteria": "loo,cv:3"}])
def test_more_workers_than_kernel_settings_cut_them(
    data: Dataset, near: str, values: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Along C, the dearest most; the rows are the same to the last bit."""
    found: list[list[Any]] = []
    monkeypatch.setattr(client.Cluster, "workers", {"a": 3, "b": 4})

    def cut(chains: Any, lanes: int) -> Any:
        found.append(pieces(chains, lanes))
        return found[-1]

    pieces = work.cut
    monkeypatch.setattr(work, "cut", cut)
    there = run_sweep(data, cluster=near, **{**GRID, **values})
    here = run_sweep(data, **{**GRID, **values})
    assert untimed(there) == untimed(here)
    assert there.gram == here.gram
    asked = [(chain.kernel, C) for chain in found[0] for C in chain.asked]
    assert len(found[0]) == 7
    assert len(asked) == len(set(asked)) == 9


def test_a_row_comes_when_it_is_finished(data: Dataset, near: str) -> None:
    """And not when its chain is: the first while others of the chain are not there."""
    asked = settings_from({**GRID, "C": "2^-3:2^9:7", "gamma": "0.5", "cluster": near})
    heard: list[Event] = []
    run_sweep(data, asked, progress=heard.append)
    kinds = [type(event).__name__ for event in heard]
    assert kinds.index("CellDone") < len(kinds) - 1 - kinds[::-1].index("CellStarted")


def test_a_journal_and_a_grid_that_widens(
    data: Dataset, near: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that a sweep does goes on; the samples are sent once for all rounds."""
    sent: list[Any] = []
    submit = distributed.Client.submit

    def submitted(client: Any, task: Any, *given: Any, **how: Any) -> Any:
        if task is bytes:
            sent.append(how["key"])
        return submit(client, task, *given, **how)

    monkeypatch.setattr(distributed.Client, "submit", submitted)
    file, grid = tmp_path / "run.ndjson", {**GRID, "C": "0.01,0.1", "extend": 2}
    found = run_sweep(data, cluster=near, journal=Journal(file), **grid)
    again = run_sweep(data, cluster=near, journal=Journal(file, True), **grid)
    assert untimed(found) == untimed(run_sweep(data, **grid)) == untimed(again)
    assert len(found.settings["C"]) > 2
    assert len(sent) == 1  # and nothing was left to do the second time


def test_files_are_only_where_the_sweep_was_started(
    data: Dataset, near: str, tmp_path: Path
) -> None:
    """Weights of classes and costs are read here, before a task is sent."""
    weights, costs = tmp_path / "weights.csv", tmp_path / "costs.csv"
    weights.write_text("class,weight\na,2\n")
    costs.write_text("class,a,b,c\na,0,1,2\nb,1,0,1\nc,5,1,0\n")
    grid = {**GRID, "class_weight": str(weights), "metric": f"cost:{costs}"}
    whole = run_sweep(data, **grid)

    def hear(event: Event) -> None:
        if isinstance(event, Workers):
            weights.unlink()
            costs.unlink()

    found = run_sweep(data, cluster=near, progress=hear, journal=None, **grid)
    assert untimed(found) == untimed(whole)


def test_what_a_worker_could_not_hold_is_refused(
    data: Dataset, near: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By name; where only some chains fit at a time, the scheduler is told so."""
    monkeypatch.setattr(work, "PROGRAM", 4e9 - 1e3)
    with pytest.raises(DataError, match=r"three: a chain takes about .* 4 GB"):
        run_sweep(data, cluster=near, **GRID)
    asked: list[Any] = []
    resources = work._resources
    monkeypatch.setattr(
        work,
        "_resources",
        lambda *given: asked.append(resources(*given)) or asked[-1],
    )
    each = 1e6
    monkeypatch.setattr(Footprint, "each_bytes", each)
    monkeypatch.setattr(work, "PROGRAM", 4e9 - 1.5 * each)
    found = run_sweep(data, cluster=near, **GRID)
    assert asked == [{work.MEMORY: each}]
    assert untimed(found) == untimed(run_sweep(data, **GRID))


def test_a_chain_that_kills_its_workers(
    data: Dataset, near: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are done, and kept; then it is named."""

    def deadly(samples: Any, packed: Any, number: int, *more: Any) -> Any:
        if number == 1:
            last = SimpleNamespace(address="tcp://last:1")
            raise distributed.scheduler.KilledWorker("chain", last, 3)
        return task(samples, packed, number, *more)

    task = work.run_there
    monkeypatch.setattr(work, "run_there", deadly)
    heard: list[Event] = []
    with pytest.raises(MsvmError, match=r"rbf gamma=0.5: every worker .* tcp://last:1"):
        run_sweep(data, cluster=near, progress=heard.append, **GRID)
    assert sum(isinstance(event, CellDone) for event in heard) == 6


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("tcp:/here:1", "must be tcp://HOST:PORT"),
        ("here:8786", "did you mean tcp://here:8786?"),
        ("http://here:8786", "did you mean tcp://here:8786?"),
        ("tcp://here", "must be tcp://HOST:PORT"),
        ("local:0", "local:N, N processes"),
        ("local", "local:N, N processes"),
        ("local:two", "local:N, N processes"),
    ],
)
def test_addresses_of_no_form_are_refused(given: str, said: str) -> None:
    """With the form, before anything is done."""
    found = run("sweep", IRIS, "--cluster", given)
    assert found.exit_code == 2
    assert said in found.stderr


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--tls-ca", "ca.pem"), "tls_ca is for --cluster tls://HOST:PORT"),
        (("--cluster", "local:1", "--tls-key", "k"), "tls_key is for --cluster tls:"),
        (("--cluster", "local:1", "--time-budget", "9s"), "give one of the two"),
        (("--cluster", "tls://h:1", "--tls-ca", "ca.pem"), "there is no file ca.pem"),
        (("--cluster", "tls://h:1"), "needs certificates: --tls-ca"),
    ],
)
def test_options_that_do_not_go_together(more: tuple[str, ...], said: str) -> None:
    """Are named."""
    found = run("sweep", IRIS, *more)
    assert found.exit_code == 2
    assert said in found.stderr


def test_nobody_there(monkeypatch: pytest.MonkeyPatch, data: Dataset) -> None:
    """No scheduler, no worker, no package: by name, with the way out."""
    monkeypatch.setattr(client, "ARRIVAL", 0.3)
    with monkeypatch.context() as hasty:
        hasty.setattr(connect, "CONNECT", 0.3)
        found = run("sweep", IRIS, "--cluster", "tcp://127.0.0.1:9", "-q")
    assert found.exit_code == 1
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in found.stderr
    # On a busy machine the time is up before the first try has failed.
    assert re.search(r"\(.*refused.*\)|\(nothing came within 0.3 s\)", found.stderr)
    assert "<" not in found.stderr
    with (
        _near(n_workers=0) as empty,
        pytest.raises(MsvmError, match="has no workers, and none came within"),
    ):
        run_sweep(data, cluster=empty.scheduler_address, **GRID)
    monkeypatch.setattr(connect, "CONNECT", 0.3)
    with pytest.raises(MsvmError, match=r"dask.json is not there: does a scheduler"):
        run_sweep(data, cluster="dask.json", **GRID)
    monkeypatch.setattr("msvm_select.extras.find_spec", lambda name: None)
    found = run("sweep", IRIS, "--cluster", "local:1", "-q")
    assert found.exit_code == 1
    assert "pip install 'msvm-select[cluster]'" in found.stderr


def test_the_file_of_a_scheduler(data: Dataset, near: str, tmp_path: Path) -> None:
    """Has the address; a file that has none is refused."""
    file = tmp_path / "dask.json"
    file.write_text(json.dumps({"address": near}))
    grid = {**GRID, "C": "1", "gamma": "0.1"}
    found = run_sweep(data, cluster=str(file), **grid)
    assert untimed(found) == untimed(run_sweep(data, **grid))
    file.write_text("[]")
    with pytest.raises(SettingsError, match="no file of a Dask scheduler"):
        run_sweep(data, cluster=str(file), **grid)


def test_a_dry_run_asks_nobody() -> None:
    """It tells what one worker takes, or so many processes."""
    told = {}
    for where in ("tcp://nowhere:1", "local:2", None):
        more = () if where is None else ("--cluster", where)
        found = run("sweep", IRIS, *more, "--dry-run", "--format", "json")
        assert found.exit_code == 0, found.stderr
        told[where] = json.loads(found.stdout)
        assert told[where].get("cluster") == where
    one, two, here = (told[where]["peak_bytes"] for where in told)
    assert one == pytest.approx(here, rel=0.1)
    assert two > one


def test_an_executor_and_a_cluster(data: Dataset) -> None:
    """Both say where to train."""
    with pytest.raises(SettingsError, match="both say where to train"):
        run_sweep(data, cluster="local:1", executor=object(), **GRID)  # type: ignore[arg-type]


def test_several_data_sets_share_a_client(
    clone: Path, near: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for all of them; closed at the end."""
    made: list[client.Cluster] = []
    of = client.Cluster.of
    monkeypatch.setattr(
        client.Cluster, "of", lambda settings: made.append(of(settings)) or made[-1]
    )
    configs = ("configs/iris.toml", "configs/wine.toml")
    grid = ("--C", "1,8", "--gamma", "0.1", "--cluster", near)
    found = run("run", *configs, *grid, "-o", "there", "-q")
    assert found.exit_code == 0, found.stderr
    assert len(made) == 1
    assert not made[0].is_open
    assert run("run", *configs, *grid[:-2], "-o", "here", "-q").exit_code == 0
    for name in ("iris", "wine"):
        here, there = (
            json.loads(Path(folder, f"{name}.json").read_text())
            for folder in ("here", "there")
        )
        for document in (here, there):
            for one in document["rows"]:
                del one["seconds"]
        assert here == there

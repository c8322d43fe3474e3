"""A sweep: the kernel settings, each with its loop over C, and the rows of all.

What does not depend on C (the Gram matrix, Mercer's test) is done once for a kernel
setting. The settings are independent of each other, so they may run at the same time.

A sweep widens its grid where the best value lies on its edge. Round by round, each
parameter on whose edge the best value lies gets some more values on that side, in the
steps of the grid, and the new cells alone are trained. So the grid stays a product of
its parameters: the rows are those of one sweep of the whole of it. It ends when the
best value lies within, or one from within does as well; when the rounds are used up; or
where the parameter has no sensible values any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from threading import Lock
from typing import Any

from msvm_select.columns import Row, answering
from msvm_select.data.read import split_reading
from msvm_select.errors import SettingsError
from msvm_select.handover import Hands, interleave, one_blas_thread
from msvm_select.kernels.base import Kernel
from msvm_select.records import Dataset, Scaling
from msvm_select.results.choosing import Edge, chosen, edges
from msvm_select.results.ranking import Results, data_summary, rank, versions
from msvm_select.settings import (
    PARAMETERS,
    Layer,
    Settings,
    settings_from,
    sweep_settings,
)
from msvm_select.settings.catalogue import SETTINGS
from msvm_select.settings.settings import keeps_its_gamma, used_parameters
from msvm_select.settings.values import AROUND, parse_grid
from msvm_select.sweep.budget import Budget, learning
from msvm_select.sweep.cells import Chain, Kept
from msvm_select.sweep.cluster.client import Cluster
from msvm_select.sweep.heats import Heats
from msvm_select.sweep.journal import Journal
from msvm_select.sweep.race import Race, middle_first
from msvm_select.sweep.shards import share_of
from msvm_select.sweep.tasks import Elsewhere, done_on
from msvm_select.train.compiling import noted
from msvm_select.train.events import (
    CellDone,
    Event,
    GramTested,
    Progress,
    Resumed,
    Started,
    Widened,
    Workers,
    silent,
)
from msvm_select.train.prepare import Prepared, prepared

NO_EXECUTOR = {
    "time_budget": "time_budget goes cell by cell, and an executor takes whole kernel "
    "settings",
    "cluster": "cluster and executor both say where to train",
}
Known = dict[Kernel, dict[float, Row]]
Share = dict[Kernel, tuple[float, ...]]
Sweep = Callable[[Settings, Progress], Iterator[Row]]
"""What trains the cells of the settings, and tells of it"""


def run_sweep(
    data: Any,
    settings: Settings | None = None,
    *,
    progress: Progress = silent,
    journal: Journal | None = None,
    executor: Executor | None = None,
    **values: Any,
) -> Results:
    """Train and score every cell; ``values`` are settings by name, over ``settings``.

    ``data`` is a path, a DataFrame, a pair (X, y) or a Dataset; among the ``values``
    may be the options of ``load_csv``, such as ``target``. Without ``settings`` and
    ``gamma`` five values are tried, and without any grid it is widened at its edges.

    >>> run_sweep("data/iris.csv", C="0.1,1,10", gamma=[0.1, 1]).best
    >>> run_sweep(frame, target="species").to_frame()

    With ``time_budget`` there may be fewer rows than cells. With a ``Journal`` each
    finished cell is kept at once, and found again later. An ``executor`` of
    ``concurrent.futures`` (threads, processes, loky, Dask, mpi4py) runs the kernel
    settings; ``jobs`` are then those within each.
    """
    data, values = split_reading(data, values)
    if settings is None:
        settings = sweep_settings([Layer(values)])
    elif values:
        settings = settings_from(values, settings)
    for name in ("time_budget", "cluster"):
        if executor is not None and getattr(settings, name) is not None:
            raise SettingsError(f"{NO_EXECUTOR[name]}: give one of the two.")
    return swept(data, settings, progress, journal, executor)[0]


def swept(
    data: Dataset,
    settings: Settings,
    progress: Progress = silent,
    journal: Journal | None = None,
    executor: Executor | None = None,
) -> tuple[Results, Kept]:
    """The results of the whole sweep, and the machines that it has kept."""
    settings = on_data(data, settings)
    kept = Kept(settings, progress)
    budget = Budget(settings.time_budget)
    race = Race.of(settings)
    with (
        one_blas_thread(),
        journal or nullcontext(),
        lent(settings, executor) as elsewhere,
    ):
        each = partial(iterate, data, journal=journal, race=race, elsewhere=elsewhere)
        sweep = Extension(each, settings, budget.watched(kept))
        rows = list(budget.within(sweep))
    return gather(data, sweep.settings, rows, settings, kept.gram), kept


@contextmanager
def lent(
    settings: Settings, executor: Executor | None = None
) -> Iterator[Elsewhere | None]:
    """Where the chains are run, if not here: on the executor, or the cluster."""
    if executor is not None:
        yield partial(done_on, executor)
    elif settings.cluster is not None:
        with closing(Cluster.of(settings)) as cluster:
            yield cluster.done
    else:
        yield None


def on_data(data: Dataset, settings: Settings) -> Settings:
    """The settings with a grid of numbers, where it depends on the data."""
    scaling = Scaling.fit(data.X, settings.scale, data.weights)
    return settings.on(scaling.apply(data.X), data.weights)


def gather(
    data: Dataset,
    settings: Settings,
    rows: list[Row],
    asked: Settings | None = None,
    gram: tuple[Mapping[str, Any], ...] = (),
) -> Results:
    """The rows that are finished, ranked, one chosen, with what they came from.

    ``asked`` are the settings before the grid was widened, if it was; ``gram`` says
    what Mercer's test found of each kernel setting.
    """
    of = answering(settings.criteria) if settings.metric else None
    ranked = Results(
        rows=rank(rows, settings.rank_by, settings.criteria),
        rank_by=settings.rank_by,
        data=data_summary(data),
        settings={
            **settings.deciding(),
            **({"metric_of": of} if of else {}),
            **grown_from(asked, settings),
        },
        versions=versions(),
        gram=gram,
    )
    return chosen(ranked, settings.select)


def iterate(
    data: Dataset,
    settings: Settings,
    progress: Progress = silent,
    journal: Journal | None = None,
    race: Race | None = None,
    elsewhere: Elsewhere | None = None,
) -> Iterator[Row]:
    """Yields rows as cells finish, unranked; a caller that stops early keeps them.

    Each is in the ``journal`` before it comes; those that were there come first.
    ``race`` knows of cells that were finished before. With a time budget they come in
    the order of ``budget``. The chains are run here, or by ``elsewhere``.
    """
    race, ready = race or Race.of(settings), prepared(data, settings)
    ready.check()
    share = _begun(ready, progress)
    known = _known(ready, journal, race, progress)
    rows = [row for rows in known.values() for row in rows.values()]
    for row in rows:
        progress(CellDone(row, resumed=True))
        yield row
    hands, writing = Hands(settings.jobs), Lock()

    def chain(kernel: Kernel) -> Chain:
        return Chain(ready, kernel, known[kernel], hands, race, share[kernel])

    def told(cells: Iterator[CellDone]) -> Iterator[Row]:
        """Each row kept in the journal and told before it comes."""
        for done in cells:
            race.finished(done.row)
            if journal is not None:
                with writing:
                    journal.add(done.row)
            progress(done)
            yield done.row

    lacking = _lacking(ready, known, share)
    parts = _streams(ready, rows, lacking, chain, progress, elsewhere, race)
    for part in parts:
        for row in interleave([told(stream) for stream in part], hands):
            rows.append(row)
            yield row


def _streams(
    ready: Prepared,
    rows: list[Row],
    lacking: list[Kernel],
    chain: Callable[[Kernel], Chain],
    progress: Progress,
    elsewhere: Elsewhere | None,
    race: Race,
) -> Iterator[list[Iterator[CellDone]]]:
    """Cells as they are finished, in streams that may run at the same time."""
    if ready.settings.time_budget is not None:
        return learning(ready, rows, lambda kernel, Cs: chain(kernel).run(progress, Cs))
    chains = [chain(kernel) for kernel in lacking]
    if elsewhere is not None:
        return iter([[elsewhere(chains, progress)]])
    if Heats.pay(ready):
        return Heats(chains, race, progress).streams(ready.settings.jobs)
    return iter([[one.run(progress) for one in chains]])


def _begun(ready: Prepared, progress: Progress) -> Share:
    """The cells that are to be done, which the first event tells of."""
    settings = ready.settings
    share = share_of(settings.shard, ready.kernels, settings.C)
    Cs = next(iter(share.values()), ())  # alike for all
    whole = ready.started(ranked=True)
    progress(noted(replace(whole, kernels=len(share), Cs=len(Cs), C=Cs)))
    return share


def _lacking(ready: Prepared, known: Known, share: Share) -> list[Kernel]:
    """The kernel settings that are not done; for a race those in the middle first.

    With several jobs the roughest begin. They mostly take longest, and the one that is
    left alone at the end should be short.
    """
    race = ready.settings.race
    lacking = [kernel for kernel, Cs in share.items() if {*Cs} - known[kernel].keys()]
    if race is not None:
        return middle_first(lacking)
    return lacking[::-1] if ready.settings.jobs > 1 else lacking


def _known(
    ready: Prepared, journal: Journal | None, race: Race, progress: Progress
) -> Known:
    """The rows that the journal has, of each kernel setting by C.

    Not those of cells that lost another race and might be among the best of this one.
    """
    if journal is None:
        return {kernel: {} for kernel in ready.kernels}
    journal.begin(ready.data, ready.settings, ready.kernels)
    known = {k: journal.known(k, ready.settings.C) for k in ready.kernels}
    for row in (row for rows in known.values() for row in rows.values()):
        race.finished(row)
    known = {
        kernel: {C: row for C, row in rows.items() if not race.is_open(row)}
        for kernel, rows in known.items()
    }
    if journal.notes:
        count = sum(len(rows) for rows in known.values())
        progress(Resumed(str(journal.path), count, journal.notes))
        journal.notes = ()
    return known


class Extension:
    """The rows of a sweep, and of what its grid is widened by; ``settings`` grows."""

    def __init__(
        self, sweep: Sweep, settings: Settings, progress: Progress = silent
    ) -> None:
        """``settings.extend`` rounds at most."""
        self.sweep, self.settings, self.progress = sweep, settings, progress
        self.asked = settings
        self.rows: list[Row] = []
        self.tested: set[Any] = set()
        self.workers: Workers | None = None

    def __iter__(self) -> Iterator[Row]:
        """The rows as they are finished."""
        yield from self._swept(self.settings, self._tell)
        for number in range(1, self.asked.extend + 1):
            steps = self._steps()
            if not steps:
                return
            for name, edge, values in steps:
                yield from self._widened(number, name, edge, values)

    def _steps(self) -> list[tuple[str, Edge, tuple[float, ...]]]:
        """What each grid gets, for the edges that the best value lies on."""
        by = self.settings.rank_by
        rows = rank(self.rows, by, self.settings.criteria)
        ranked = Results(rows, by, settings=asdict(self.settings))
        found = [(edge.name, edge, self._new(edge)) for edge in edges(ranked)]
        return [step for step in found if step[2]]

    def _new(self, edge: Edge) -> tuple[float, ...]:
        """The values beyond the edge that the kernels can have."""
        if edge.beyond is None:
            return ()
        least, most = SETTINGS[edge.name].farthest
        new = tuple(
            value
            for value in parse_grid(edge.beyond)
            if least <= value <= most and _is_beyond(value, edge)
        )
        try:
            self._with(edge.name, (*self._grid(edge.name), *new))
        except SettingsError:  # the grid is as large as one may be
            return ()
        return new

    def _widened(
        self, number: int, name: str, edge: Edge, new: tuple[float, ...]
    ) -> Iterator[Row]:
        only = replace(self._with(name, new), kernel=self._widening(name))
        self.settings = self._with(name, (*self._grid(name), *new))

        def tell(event: Event) -> None:
            if isinstance(event, Started):
                of, cells = self.asked.extend, event.cells
                event = Widened(number, of, name, new, edge.text, cells)
            self._tell(event)

        yield from self._swept(only, tell)

    def _widening(self, name: str) -> tuple[str, ...]:
        """The kernels of which new values of this parameter make new settings."""
        every, grid = self.settings.kernel, self._grid(name)
        if name == "C":
            return every
        takers = (kernel for kernel in every if name in used_parameters((kernel,)))
        return tuple(k for k in takers if AROUND not in grid or not keeps_its_gamma(k))

    def _swept(self, settings: Settings, progress: Progress) -> Iterator[Row]:
        for row in self.sweep(settings, progress):
            self.rows.append(row)
            yield row

    def _tell(self, event: Event) -> None:
        """All but what was told before: tests of Gram matrices, who works for us."""
        if isinstance(event, GramTested):
            if event.kernel in self.tested:
                return
            self.tested.add(event.kernel)
        if isinstance(event, Workers):
            if event == self.workers:
                return
            self.workers = event
        self.progress(event)

    def _grid(self, name: str) -> tuple[float | str, ...]:
        grid: tuple[float | str, ...] = getattr(self.settings, name)
        return grid

    def _with(self, name: str, values: tuple[float | str, ...]) -> Settings:
        return settings_from({name: values}, self.settings)


def _is_beyond(value: float, edge: Edge) -> bool:
    """And not the edge itself, written a little otherwise."""
    room = 1e-9 * abs(edge.value)
    return value > edge.value + room if edge.upward else value < edge.value - room


def grown_from(asked: Settings | None, settings: Settings) -> dict[str, Any]:
    """``extended_from``: the grids that were asked for, of those that were widened."""
    grown = {
        name: grid
        for name in ("C", *PARAMETERS)
        if asked and (grid := getattr(asked, name)) != getattr(settings, name)
    }
    return {"extended_from": grown} if grown else {}

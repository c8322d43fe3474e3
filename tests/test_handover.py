from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from msvm_select import fit, run_sweep
from msvm_select.cli.interrupts import beside, patiently
from msvm_select.handover import (
    BLAS_THREADS,
    Handover,
    Hands,
    NothingYetError,
    interleave,
    one_blas_thread,
)
from msvm_select.train.events import Event
from tests.conftest import IRIS


def test_items_come_in_order_and_then_none() -> None:
    """What one thread makes another takes, to the end."""
    handover = Handover[int]()
    threading.Thread(target=handover.give, args=([1, 2],), daemon=True).start()
    assert [handover.take() for _ in range(3)] == [(1,), (2,), None]
    with pytest.raises(NothingYetError):
        handover.take(timeout=0.0)


def test_who_gives_stops_when_nobody_takes_any_more() -> None:
    """Items without end are no more made once it was stopped."""
    handover = Handover[int]()
    handover.stopped.set()
    made: list[int] = []

    def endless() -> Iterator[int]:
        while True:
            made.append(len(made))
            yield made[-1]

    handover.give(endless())
    assert made == [0]


@pytest.mark.parametrize("error", [queue.Empty, KeyboardInterrupt, ZeroDivisionError])
def test_any_error_of_the_work_comes_out(error: type[BaseException]) -> None:
    """Even one that looks like a pause, or like Ctrl-C, is not taken for one."""

    def work() -> None:
        raise error

    with pytest.raises(error):
        patiently(work)


def test_what_is_made_beside_is_made_by_another_thread() -> None:
    """So that the main thread hears of Ctrl-C however long an item takes."""

    def items() -> Iterator[str]:
        time.sleep(0.15)  # longer than one look for a signal
        yield threading.current_thread().name

    assert list(beside(items())) != [threading.current_thread().name]


def test_who_runs_out_of_work_helps() -> None:
    """Two at work have a thread each of two; the one that is left has both."""
    hands, both = Hands(2), threading.Barrier(2)

    def short() -> Iterator[int]:
        both.wait(60.0)
        yield hands.each
        both.wait(60.0)

    def long() -> Iterator[int]:
        yield from short()
        until = time.monotonic() + 60.0
        while len(hands.at_work) > 1 and time.monotonic() < until:
            time.sleep(0.001)
        yield hands.each

    assert list(interleave([short(), long()], hands)) == [1, 1, 2]
    assert Hands(7).each == 7


def blas_threads() -> set[int]:
    """How many threads each BLAS has that is loaded."""
    return {
        one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"
    }


@pytest.fixture
def two_blas_threads() -> Iterator[None]:
    """BLAS has two, as it would on a machine of two cores."""
    with threadpool_limits(limits=2, user_api="blas"):
        assert blas_threads() == {2}
        yield


@pytest.mark.usefixtures("two_blas_threads")
def test_blas_has_one_thread_while_somebody_computes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many do, and whoever ends first; then it has what it had before."""
    for name in BLAS_THREADS:
        monkeypatch.delenv(name, raising=False)
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == {2}

    seen = set[int]()

    def hear(event: Event) -> None:
        seen.update(blas_threads())

    run_sweep(IRIS, C="1", gamma="0.5", progress=hear)
    fit(IRIS, progress=hear)
    assert seen == {1}
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_a_variable_decides_how_many_threads_blas_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As it does on the command line."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    with one_blas_thread():
        assert blas_threads() == {2}

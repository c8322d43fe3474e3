"""Cholesky factors without Python's lock: scipy's to the last bit."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from scipy.linalg import lapack as scipys

from msvm_select import lapack
from msvm_select.lapack import SMALL, Floats

ORDERS = (1, SMALL - 1, SMALL, SMALL + 50)


def definite(n: int, rank: int | None = None) -> Floats:
    """A random matrix (n, n), positive definite unless of a smaller rank."""
    Z = np.random.default_rng(n).normal(size=(n, rank or n + 5))
    return Z @ Z.T


@pytest.mark.parametrize("n", ORDERS)
@pytest.mark.parametrize("lower", [0, 1])
def test_they_are_scipys_to_the_last_bit(n: int, lower: int) -> None:
    """Factor, inverse and solutions, whatever the order of the memory."""
    H = definite(n)
    for given in (H, H.T, np.asfortranarray(H)):
        for clean in (0, 1):
            mine = lapack.dpotrf(given, lower, clean)
            theirs = scipys.dpotrf(given, lower, clean)
            assert mine[1] == theirs[1] == 0
            assert np.array_equal(mine[0], theirs[0])
    factor = scipys.dpotrf(H, lower)[0]
    inverse = lapack.dpotri(factor, lower)[0]
    assert np.array_equal(inverse, scipys.dpotri(factor, lower)[0])
    for right in (np.ones(n), np.asfortranarray(H[:, :3]), H[:, :3]):
        solved = lapack.dpotrs(factor, right, lower)[0]
        assert np.array_equal(solved, scipys.dpotrs(factor, right, lower)[0])


@pytest.mark.parametrize("n", ORDERS[1:])
def test_the_factor_with_pivots_is_scipys(n: int) -> None:
    """Its pivots, its rank and its columns up to that."""
    H = definite(n, rank=7)
    mine, theirs = lapack.dpstrf(H, 1e-6), scipys.dpstrf(H, 1e-6)
    assert mine[2:] == theirs[2:]
    assert mine[2] == 7
    assert np.array_equal(mine[1], theirs[1])
    assert np.array_equal(mine[0][:7, :7], theirs[0][:7, :7])


@pytest.mark.parametrize("n", ORDERS)
def test_only_what_may_be_overwritten_is(n: int) -> None:
    """And then in place, without a copy; an indefinite matrix is told by its minor."""
    H = np.asfortranarray(definite(n))
    kept = H.copy()
    lapack.dpotrf(H)
    assert np.array_equal(H, kept)
    assert np.shares_memory(lapack.dpotrf(H, overwrite_a=1)[0], H)
    kept[n - 1, n - 1] = -1.0
    assert lapack.dpotrf(kept)[1] == n


def test_others_run_meanwhile() -> None:
    """Another thread is never kept waiting for as long as a large factor takes."""
    H, done = definite(2500), threading.Event()

    def factor() -> None:
        lapack.dpotri(lapack.dpotrf(H)[0])
        done.set()

    began = last = time.perf_counter()
    threading.Thread(target=factor).start()
    longest = 0.0
    while not done.is_set():
        time.sleep(0.001)
        longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
    assert longest < 0.5 * (last - began)

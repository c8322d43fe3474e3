"""LAPACK's routines for Cholesky factors, by scipy's names and with its arguments.

scipy's own hold Python's lock while they compute: for a matrix of 10,000 rows, ten
seconds in which no other thread runs and no Ctrl-C is heard. Here the same compiled
routines are called without the lock; the results are the same to the last bit. (Small
matrices go scipy's way, which is shorter.)
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack as scipys

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

SMALL = 400  # rows: a factor takes a millisecond


def dpotrf(
    a: Floats, lower: int = 0, clean: int = 1, overwrite_a: int = 0
) -> tuple[Floats, int]:
    """The factor of a (n, n) and 0, or the order of the first minor that has none."""
    if a.shape[0] < SMALL:
        found: tuple[Floats, int] = scipys.dpotrf(a, lower, clean, overwrite_a)
        return found
    c = _columnwise(a, overwrite_a)
    info = _call("dpotrf", _side(lower), c.shape[0], c, _step(c))
    if clean:
        c[...] = np.tril(c) if lower else np.triu(c)
    return c, info


def dpotri(c: Floats, lower: int = 0, overwrite_c: int = 0) -> tuple[Floats, int]:
    """One triangle of the inverse, from the factor c."""
    if c.shape[0] < SMALL:
        found: tuple[Floats, int] = scipys.dpotri(c, lower, overwrite_c)
        return found
    inverse = _columnwise(c, overwrite_c)
    return inverse, _call("dpotri", _side(lower), c.shape[0], inverse, _step(c))


def dpotrs(c: Floats, b: Floats, lower: int = 0) -> tuple[Floats, int]:
    """The solution for the right-hand sides b (n,) or (n, k), from the factor c."""
    if c.shape[0] < SMALL:
        found: tuple[Floats, int] = scipys.dpotrs(c, b, lower)
        return found
    c, x = _columnwise(c, True), _columnwise(b, False)
    columns = 1 if x.ndim == 1 else x.shape[1]
    n = c.shape[0]
    return x, _call("dpotrs", _side(lower), n, columns, c, _step(c), x, _step(x))


def dpstrf(
    a: Floats, tol: float = -1.0, lower: int = 0, overwrite_a: int = 0
) -> tuple[Floats, Ints, int, int]:
    """The factor with pivoting: it, the pivots from 1 on, the rank to ``tol``, info."""
    if a.shape[0] < SMALL:
        found: tuple[Floats, Ints, int, int] = scipys.dpstrf(a, tol, lower, overwrite_a)
        return found
    c = _columnwise(a, overwrite_a)
    n = c.shape[0]
    pivots, rank = np.zeros(n, np.int32), np.zeros(1, np.int32)
    room = np.empty(2 * n)
    info = _call(
        "dpstrf", _side(lower), n, c, _step(c), pivots, rank, np.array([tol]), room
    )
    return c, pivots, int(rank[0]), info


def _columnwise(a: Floats, overwrite: int) -> Floats:
    """``a`` in Fortran's order: itself if that may be, else a copy."""
    return np.array(a, np.float64, order="F", copy=None if overwrite else True)


def _side(lower: int) -> bytes:
    return b"L" if lower else b"U"


def _step(a: Floats) -> int:
    """From one column to the next."""
    return max(1, int(a.shape[0]))


def _call(name: str, *arguments: Any) -> int:
    """Run it; everything goes by its address, last of all what it returns."""
    info = ctypes.c_int(0)
    _routine(name, len(arguments) + 1)(*map(_address, arguments), ctypes.byref(info))
    if info.value < 0:
        raise ValueError(f"{name}: argument {-info.value} is none that it takes")
    return info.value


def _address(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return value if isinstance(value, bytes) else ctypes.byref(ctypes.c_int(value))


@cache
def _routine(name: str, arguments: int) -> Any:
    """The routine that scipy was built with, from where compiled code finds it."""
    from scipy.linalg import cython_lapack

    exported: dict[str, Any] = vars(cython_lapack)["__pyx_capi__"]
    capsule = ctypes.py_object(exported[name])
    signature = ctypes.pythonapi.PyCapsule_GetName
    signature.restype = ctypes.c_char_p
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    address = pointer(capsule, ctypes.c_char_p(signature(capsule)))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)

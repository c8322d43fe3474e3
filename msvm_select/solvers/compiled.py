"""How kernels are compiled: without Python's lock, and kept on the disk.

numba's cache does not see edits in other files than a kernel's own: whoever changes an
option here also deletes ``__pycache__``.
"""

from __future__ import annotations

from typing import Any

from numba import njit

# An inner kernel is called by kernels alone: without the wrapper for calls from Python,
# which would unbox all its arrays, it compiles in half the time.
INNER: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
inner = njit(**INNER)
# Likewise, without numba's count of who holds an array, which took three quarters of
# the time where short functions pass many arrays on. Such a function asks for no
# memory, and returns arrays to its like only.
BARE = INNER | {"_nrt": False}
bare = njit(**BARE)
kernel = njit(cache=True, nogil=True, error_model="numpy")

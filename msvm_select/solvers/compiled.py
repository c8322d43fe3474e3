"""How kernels are compiled: without Python's lock, and kept on the disk.

numba's cache does not see edits in other files than a kernel's own: whoever changes an
option here also deletes ``__pycache__``.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

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


def _subtract_four(typing, out, first, a, A, b, B, c, C, d, D):
    """out -= a A + b B + c C + d D, eight numbers of each from place ``first`` on.

    LLVM makes vectors of long loops only: it runs the last eight to thirty turns one by
    one, and the rows of a small system are no longer than that.
    """
    eight = ir.VectorType(ir.DoubleType(), 8)
    none, zero = ir.Constant(eight, ir.Undefined), ir.Constant(ir.IntType(32), 0)
    same = ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8)

    def emit(context, builder, signature, args):
        def place(k):
            array = context.make_array(signature.args[k])(context, builder, args[k])
            at = builder.gep(array.data, [args[1]])
            return builder.bitcast(at, eight.as_pointer())

        found = builder.load(place(0), align=8)
        for k in range(2, 10, 2):
            weight = builder.insert_element(none, args[k], zero)
            weight = builder.shuffle_vector(weight, none, same)
            row = builder.load(place(k + 1), align=8)
            product = builder.fmul(weight, row, flags=("contract",))
            found = builder.fsub(found, product, flags=("contract",))
        builder.store(found, place(0), align=8)
        return context.get_dummy_value()

    one = types.float64
    return types.void(out, types.int64, one, A, one, B, one, C, one, D), emit


subtract_four: Any = intrinsic(_subtract_four)

"""``teach selection-bias``: genes chosen on all rows make 0 % error out of noise.

X (m, p), p >> m, is noise and the classes are those of a coin. Keep the q genes of the
largest

    |t_j| = |mean_1j - mean_0j| / sqrt(var_1j + var_0j)

and leave out one sample at a time. Where the genes are chosen once, by all samples, the
one left out has had its say in the choice; where they are chosen anew without it, it
has not, and the error is that of guessing.
"""

from __future__ import annotations

import numpy as np

from msvm_select.kernels.inner_products import Linear
from msvm_select.lessons.base import Lesson
from msvm_select.names import SOLVERS
from msvm_select.records import Dual, Floats, Ints, Plain
from msvm_select.show.sheet import Look, Sheet

M, P, C = 40, 5000, 1.0
KEPT = (20, 200, P)


def noise(seed: int = 0) -> tuple[Floats, Ints]:
    """X (40, 5000), and twenty samples of each class."""
    X = np.random.default_rng(seed).standard_normal((M, P))
    return X, np.repeat(np.arange(2, dtype=np.int64), M // 2)


def best_genes(X: Floats, y: Ints, q: int) -> Ints:
    """The columns of the q largest |t_j|; one that is constant tells nothing."""
    first, second = X[y == 0], X[y == 1]
    spread = np.sqrt(first.var(axis=0) + second.var(axis=0))
    apart = np.abs(first.mean(axis=0) - second.mean(axis=0))
    t = np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0.0)
    return np.argsort(-t, kind="stable")[:q]


def left_out_errors(X: Floats, y: Ints, q: int, inside: bool) -> int:
    """How many samples the machines without them get wrong.

    ``inside``: the genes are chosen anew without each sample.
    """
    once, errors = best_genes(X, y, q), 0
    for i in range(y.size):
        others = np.arange(y.size) != i
        genes = best_genes(X[others], y[others], q) if inside else once
        Z, z = X[np.ix_(others, genes)], X[i, genes]
        kernel = Linear()
        found = SOLVERS["exact"]().solve(Dual(kernel.gram(Z), y[others], 2, C / q))
        h = found.outputs_at(kernel.between(z[None], Z))[0]
        errors += bool(h[y[i]] <= h[1 - y[i]])
    return errors


def _percent(value: Plain) -> str:
    return f"{100.0 * float(value or 0.0):.1f} %"


def lesson(argument: str = "") -> Lesson:
    """The two ways, for a few genes and for all of them."""
    X, y = noise()
    rows: list[dict[str, Plain]] = [
        {
            "genes": q,
            "on_all": left_out_errors(X, y, q, inside=False) / M,
            "inside": left_out_errors(X, y, q, inside=True) / M,
        }
        for q in KEPT
    ]
    columns = [
        Look("genes", "genes kept"),
        Look("on_all", "chosen on all rows", text=_percent),
        Look("inside", "chosen without the sample", text=_percent),
    ]
    sheet = Sheet(
        columns=columns,
        rows=rows,
        shown=["genes", "on_all", "inside"],
        above=[f"Noise: {M} samples, {P} genes, 2 classes; leave-one-out error", ""],
        below=["", "The classes have nothing to do with the genes."],
    )
    return Lesson(sheet)

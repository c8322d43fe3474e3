"""``teach kernel-trick`` (Vitay, part 5; Vert, 5.3): phi written out, and the kernel.

For x in R^3,  <x, z>^2 = sum_ij (x_i x_j)(z_i z_j) = <phi(x), phi(z)>,  phi(x) all nine
products x_i x_j. Products of the same two count once, weighed by sqrt 2: six features
do. (Vert's example leaves out the sqrt 2.) For any degree p and dimension d these are
binom(d + p - 1, p) features, not d^p; the kernel takes d multiplications and a power.
"""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from math import comb, factorial, sqrt

import numpy as np

from msvm_select.kernels.inner_products import Polynomial
from msvm_select.lessons.base import Lesson
from msvm_select.records import Floats, Plain
from msvm_select.show.sheet import Look, Sheet

X = np.array([1.0, 2.0, 3.0])
Z = np.array([0.5, -1.0, 2.0])
DIMENSIONS = ((3, 2), (3, 3), (10, 3), (100, 5))


def ordered(x: Floats, p: int) -> Floats:
    """All d^p products of p coordinates."""
    return np.array(
        [x[list(places)].prod() for places in product(range(x.size), repeat=p)]
    )


def distinct(x: Floats, p: int) -> Floats:
    """binom(d + p - 1, p) products, each times the root of how often it occurs."""
    values = []
    for places in combinations_with_replacement(range(x.size), p):
        times = factorial(p)
        for count in np.bincount(places):
            times //= factorial(int(count))
        values.append(sqrt(times) * x[list(places)].prod())
    return np.array(values)


def lesson(argument: str = "") -> Lesson:
    """<x, z>^2 in three ways, and how the number of features grows."""
    kernel = Polynomial(gamma=1.0, degree=2.0, coef0=0.0)
    ways = (
        ("9 products", float(ordered(X, 2) @ ordered(Z, 2)), ordered(X, 2).size),
        ("6 products", float(distinct(X, 2) @ distinct(Z, 2)), distinct(X, 2).size),
        ("kernel", float(kernel.between(X[None], Z[None])[0, 0]), X.size),
    )
    rows: list[dict[str, Plain]] = [
        {"way": name, "value": value, "terms": size} for name, value, size in ways
    ]
    columns = [Look("way", left=True), Look("value"), Look("terms")]
    grown = [
        f"d = {d}, p = {p}: {d**p:,} products, {comb(d + p - 1, p):,} of them different"
        for d, p in DIMENSIONS
    ]
    sheet = Sheet(
        columns=columns,
        rows=rows,
        shown=["way", "value", "terms"],
        above=["<x, z>^2 of x = (1, 2, 3) and z = (0.5, -1, 2)", ""],
        below=["", *grown],
    )
    return Lesson(sheet)

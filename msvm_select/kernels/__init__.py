"""Kernels: what a sweep may measure similarity with.

To add one: write its file with a subclass of ``Kernel`` (its fields are the parameters,
``between`` is the formula), put it in ``KERNELS`` here, and give it a line in the table
of settings of ``tests/test_kernels.py``; the contract tests then run over it.
"""

from msvm_select.kernels.base import Kernel
from msvm_select.kernels.linear import Linear
from msvm_select.kernels.mercer import is_indefinite, smallest_eigenvalue
from msvm_select.kernels.polynomial import Polynomial
from msvm_select.kernels.precomputed import Precomputed
from msvm_select.kernels.rbf import Rbf
from msvm_select.kernels.sigmoid import Sigmoid

__all__ = [
    "KERNELS",
    "Kernel",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Rbf",
    "Sigmoid",
    "is_indefinite",
    "smallest_eigenvalue",
]

KERNELS: dict[str, type[Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "rbf": Rbf,
    "sigmoid": Sigmoid,
    "precomputed": Precomputed,
}

"""Kernels: what a sweep may measure similarity with.

To add one: write its file with a subclass of ``Kernel`` (its fields are its parameters,
``between`` is the formula), give it a line in ``msvm_select/names.py`` and a line in
the table of settings of ``tests/kernels/test_kernels.py``, whose contracts then run
over it.
"""

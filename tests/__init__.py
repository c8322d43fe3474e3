"""The tests; like the program, they give the BLAS one thread, before numpy is there."""

import os

from msvm_select.cli import BLAS_THREADS

for name in BLAS_THREADS:
    os.environ.setdefault(name, "1")

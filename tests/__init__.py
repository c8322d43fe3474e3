"""The tests, with one BLAS thread as the command line has it.

Several threads would wait for each other in every process that runs tests: the suite
was seen to take ten times as long.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

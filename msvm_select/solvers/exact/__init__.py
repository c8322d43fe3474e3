"""The exact solver: its driver and its compiled kernels."""

"""A grid of kernel settings and of C -> the rows of its cells; what it will cost."""

"""A sweep on a Dask cluster: the door of dask and distributed."""

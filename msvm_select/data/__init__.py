"""Files, DataFrames and arrays -> Dataset, to train on or to classify.

A file goes source (bytes, encoding) -> table (rows) -> roles (which column is what) ->
cells (numbers) -> samples (missing values, categories, classes); ``doubts`` gathers on
the way what is wrong, and where. ``read`` is the road for files, ``frames`` the one for
what Python holds; ``describe`` is what a person should know of its end.
"""

from msvm_select.data.read import (
    INPUT_FORMATS,
    MISSING_POLICIES,
    ReadOptions,
    load_csv,
    read_dataset,
    read_features,
)

__all__ = [
    "INPUT_FORMATS",
    "MISSING_POLICIES",
    "ReadOptions",
    "load_csv",
    "read_dataset",
    "read_features",
]

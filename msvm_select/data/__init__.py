"""CSV or LIBSVM text -> Dataset: the one door for data, to train on or to classify.

A file goes source (bytes, encoding) -> table (rows) -> columns (which is what) ->
cells (numbers) -> samples (missing values, categories, classes); ``problems`` gathers
on the way what is wrong, and where. ``read`` is the road, ``describe`` what a person
should know of its end.
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

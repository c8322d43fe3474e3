"""Files, DataFrames and arrays -> Dataset, to train on or to classify.

A file goes source (bytes, encoding) -> table (rows) -> roles (which column is what) ->
cells (numbers) -> samples (missing values, categories, classes); ``doubts`` gathers on
the way what is wrong, and where. ``read`` is the door, for files and for what Python
holds; ``options`` says how to read.
"""

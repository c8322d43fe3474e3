"""Parquet, Arrow and Feather -> columns; extra ``msvm-select[io]``."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from msvm_select.data.doubts import Problems
from msvm_select.data.held import Held
from msvm_select.data.options import ReadOptions
from msvm_select.data.roles import Heading
from msvm_select.data.source import Source
from msvm_select.extras import need
from msvm_select.memory import refuse_large
from msvm_select.phrases import listed
from msvm_select.records import Floats

KINDS = {"parquet": "a Parquet file", "arrow": "an Arrow file"}
A_NUMBER = 8  # bytes
NAMED = ("target", "id_column", "weight_column", "group_column")


class ArrowTable(Held):
    """The columns of a table of pyarrow, its rows counted from 1."""

    def __init__(self, table: Any) -> None:
        """All of it."""
        super().__init__(
            Heading(tuple(table.column_names)), np.arange(1, table.num_rows + 1)
        )
        self.table = table

    def refused(self, i: int) -> str:
        """A column of lists or records has no place in a table of samples."""
        import pyarrow as pa

        kind = _plain(self.table.column(i)).type
        ways = "leave it out with --drop, or write its parts as columns of their own"
        if pa.types.is_nested(kind):
            return f"a nested column ({kind}): {ways}"
        binary = (pa.types.is_binary, pa.types.is_large_binary)
        if any(is_it(kind) for is_it in (*binary, pa.types.is_fixed_size_binary)):
            return f"a column of bytes ({kind}): {ways}"
        return ""

    def numbers(self, i: int) -> Floats | None:
        """Of whole numbers, floats, decimals and truth values; of nothing at all."""
        import pyarrow as pa

        column, types = _plain(self.table.column(i)), pa.types
        kinds = (types.is_integer, types.is_floating, types.is_decimal)
        if not any(is_it(column.type) for is_it in (*kinds, types.is_boolean)):
            empty = types.is_null(column.type)
            return np.full(len(column), np.nan) if empty else None
        # beyond 2^53 a whole number is rounded, as it is where a CSV is read
        found = column.cast(pa.float64(), safe=False)
        return np.asarray(found.to_numpy(), dtype=np.float64)

    def values(self, i: int) -> Sequence[Any]:
        """As Python has them; a whole number keeps all its digits."""
        found: list[Any] = _plain(self.table.column(i)).to_pylist()
        return found


def _plain(column: Any) -> Any:
    """The values themselves, where a column is coded by a dictionary."""
    import pyarrow as pa

    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column


def read_arrow(source: Source, options: ReadOptions, problems: Problems) -> ArrowTable:
    """The table of a Parquet, Arrow or Feather file."""
    need("pyarrow", f"{source.name}: {KINDS[source.format]}")
    import pyarrow as pa

    try:
        table = (_parquet if source.format == "parquet" else _ipc)(source)
    except (pa.ArrowException, OSError, ValueError) as error:
        told = str(error).partition("\n")[0].rstrip(".")
        raise problems.stop(
            f"this is not {KINDS[source.format]}, or not a whole one: {told}"
        ) from None
    if not table.num_columns:
        raise problems.stop("the file has no columns")
    return ArrowTable(_without_index(table, options, problems))


def _parquet(source: Source) -> Any:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(io.BytesIO(source.data))
    about = file.metadata
    # what is packed well takes many times the size of the file
    refuse_large(
        f"{source.name}, unpacked,", A_NUMBER * about.num_rows * about.num_columns, 0
    )
    return file.read()


def _ipc(source: Source) -> Any:
    """A file, a stream, or Feather of the first version."""
    import pyarrow as pa

    if source.data.startswith(b"FEA1"):
        from pyarrow import feather

        return feather.read_table(io.BytesIO(source.data), memory_map=False)
    is_file = source.data.startswith(b"ARROW1")
    opened = pa.ipc.open_file if is_file else pa.ipc.open_stream
    with opened(pa.BufferReader(source.data)) as reader:
        return reader.read_all()


def _without_index(table: Any, options: ReadOptions, problems: Problems) -> Any:
    """Without the columns that hold the index of the DataFrame it was written from."""
    about = (table.schema.metadata or {}).get(b"pandas")
    try:
        index = json.loads(about or b"{}").get("index_columns", [])
    except (ValueError, AttributeError):
        return table
    asked = [getattr(options, name) for name in NAMED]
    found = [
        name
        for name in index
        if isinstance(name, str) and name in table.column_names and name not in asked
    ]
    if not found or len(found) == table.num_columns:
        return table
    problems.note(
        f"the index of the DataFrame that the file was written from is left out: "
        f"{listed(found)}"
    )
    return table.drop_columns(found)

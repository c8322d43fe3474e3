"""Rows -> Parquet and back, each column with its type; extra ``msvm-select[io]``.

What a JSON document has around its rows is in the metadata of the schema: as a JSON
text under ``msvm-select``, and ``schema_version`` by itself too.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msvm_select.columns import SCHEMA_VERSION, find_column
from msvm_select.errors import DataError
from msvm_select.extras import need
from msvm_select.records import Plain

ABOUT, VERSION = b"msvm-select", b"schema_version"
MARK = b"PAR1"
ORDER: tuple[type, ...] = (bool, int, float, str)  # each can hold those before it


def packed(
    names: Sequence[str],
    rows: Sequence[Mapping[str, Plain]],
    about: Mapping[str, Any],
) -> bytes:
    """The file; ``about`` is what else is known, as far as JSON knows it."""
    need("pyarrow", "Parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
    columns, schema = [], []
    for name in names:
        values = [row[name] for row in rows]
        kind = _kind(name, values)
        columns.append(pa.array([_as(kind, v) for v in values], types[kind]))
        schema.append(pa.field(name, types[kind]))
    text = json.dumps(about, ensure_ascii=False, allow_nan=False)
    told = {ABOUT: text.encode(), VERSION: str(SCHEMA_VERSION).encode()}
    out = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, schema=pa.schema(schema, told)), out)
    return out.getvalue()


def _kind(name: str, values: Iterable[Plain]) -> type:
    """That of the column of results; of another column what holds all its values."""
    known = find_column(name)
    there = {type(value) for value in values if value is not None}
    if known is not None and there <= {known.kind, int}:
        return known.kind
    return max(there, key=ORDER.index, default=str)


def _as(kind: type, value: Plain) -> Plain:
    return value if value is None else kind(value)


def unpacked(name: str, data: bytes) -> dict[str, Any]:
    """What a JSON document would hold: the rows, and all around them."""
    need("pyarrow", f"{name}: a Parquet file")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(data))
        told = (table.schema.metadata or {}).get(ABOUT, b"{}")
        about = dict(json.loads(told))
        rows = table.to_pylist()
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        why = str(error).partition("\n")[0].rstrip(".")
        raise DataError(
            f"{name} is no Parquet file of results, or not a whole one: {why}."
        ) from None
    return {"schema_version": SCHEMA_VERSION, **about, "rows": rows}

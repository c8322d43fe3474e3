"""Samples that a model has classified -> csv, tsv, json or ndjson.

The columns are the id, where there is one, ``predicted``, and for the scores h_k, one
column a class. Floats are written as ``repr`` writes them; the output -inf of a class
that had no samples is null, or an empty field.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msvm_select.columns import SCHEMA_VERSION
from msvm_select.data.read import DataFrame, as_samples, index_of, to_frame
from msvm_select.errors import SettingsError
from msvm_select.model.file import load_model
from msvm_select.model.model import NO_PROBABILITIES, TIE, Model, Samples
from msvm_select.phrases import listed
from msvm_select.records import Dataset, Floats

PREDICTED = "predicted"
TWO_TABLES = (
    "--scores and --probabilities would each have a column for every class: give one."
)
DELIMITERS = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """h (n, Q) and the labels (n,) that it stands for.

    ``p`` (n, Q) are the probabilities, where the model knows them.
    ``wrong`` counts those that differ from the classes of the data, where it has them.
    """

    name: str
    classes: tuple[str, ...]
    ids: tuple[str, ...] | None
    id_column: str | None
    h: Floats
    labels: NDArray[np.str_]
    wrong: int | None
    notes: tuple[str, ...]
    index: Any = None
    p: Floats | None = None

    def __repr__(self) -> str:
        """How many samples and of which class, in one line."""
        counts = Counter(self.labels.tolist())
        told = ", ".join(f"{name} {count}" for name, count in counts.most_common(6))
        wrong = "" if self.wrong is None else f"; {self.wrong} wrong"
        return f"<Predictions {self.name}: {len(self.labels)} samples: {told}{wrong}>"

    def to_frame(self, scores: bool = False, probabilities: bool = False) -> DataFrame:
        """A row a sample: its id, its class, and each h_k or each p_k.

        The index is that of the DataFrame that was classified.
        """
        columns = {} if self.ids is None else {str(self.id_column): list(self.ids)}
        columns[PREDICTED] = self.labels.tolist()
        table = self._table(scores, probabilities)
        if table is not None:
            columns |= dict(zip(self.classes, table.T.tolist(), strict=True))
        self._header(table is not None)
        return to_frame(columns, self.index)

    def render(
        self, format: str, scores: bool = False, probabilities: bool = False
    ) -> str:
        """All of it as text, with h_k or p_k where they are wanted."""
        table = self._table(scores, probabilities)
        header = self._header(table is not None)
        if format in DELIMITERS:
            out = io.StringIO()
            writer = csv.writer(out, delimiter=DELIMITERS[format], lineterminator="\n")
            writer.writerow(header)
            writer.writerows(self._rows(table))
            return out.getvalue()
        rows = (dict(zip(header, row, strict=True)) for row in self._rows(table))
        if format == "ndjson":
            return "".join(f"{_json(row)}\n" for row in rows)
        about = {"schema_version": SCHEMA_VERSION, "data": self.name}
        classes = {"classes": list(self.classes)}
        lines = ",\n".join(f"  {_json(row)}" for row in rows)
        return f'{_json({**about, **classes})[:-1]}, "rows": [\n{lines}\n]}}\n'

    def _table(self, scores: bool, probabilities: bool) -> Floats | None:
        """What stands in the columns of the classes."""
        if probabilities:
            if scores:
                raise SettingsError(TWO_TABLES)
            if self.p is None:
                raise SettingsError(NO_PROBABILITIES)
            return self.p
        return self.h if scores else None

    def _header(self, by_class: bool) -> list[str]:
        header = [] if self.id_column is None else [self.id_column]
        header += [PREDICTED, *(self.classes if by_class else ())]
        double = [name for name, count in Counter(header).items() if count > 1]
        if double:
            raise SettingsError(
                f"Two columns of the output would have the name {listed(double)}: "
                "leave out the columns of the classes, or name another --id-column."
            )
        return header

    def _rows(self, table: Floats | None) -> Iterator[list[str | float | None]]:
        labels, ids = self.labels.tolist(), self.ids
        for i, label in enumerate(labels):
            row: list[str | float | None] = [] if ids is None else [ids[i]]
            row.append(label)
            if table is not None:
                values = table[i].tolist()
                row += [value if math.isfinite(value) else None for value in values]
            yield row


def predict(model: Model | str | Path, data: Samples, **reading: Any) -> Predictions:
    """The classes that a model, or the model in a file, gives to samples.

    ``data`` is a path, a DataFrame, an array or a Dataset; ``reading`` are options of
    ``load_csv``, over those that the model was trained with.

    >>> predict("iris.json", frame).to_frame(scores=True)
    """
    trained = model if isinstance(model, Model) else load_model(model)
    samples = as_samples(data, trained.columns, **reading)
    if samples is None:
        samples = trained.unnamed(data)
    found = predictions(trained, samples)
    return replace(found, index=index_of(data, samples))


def predictions(model: Model, samples: Dataset) -> Predictions:
    """The samples' classes; the errors too, where the samples have their own."""
    h = model.outputs(samples)
    labels = model.labels(h)
    p = None if model.calibration is None else model.probabilities(samples)
    notes = []
    ties = int((labels == TIE).sum()) if TIE not in model.classes else 0
    if ties:
        notes.append(f"exact ties, which give {TIE!r}: {ties}")
    wrong = None
    if samples.y.size:
        wrong = int((np.array(samples.classes)[samples.y] != labels).sum())
        strange = [name for name in samples.classes if name not in model.classes]
        if strange:
            notes.append(
                f"classes that the model does not know, always wrong: {listed(strange)}"
            )
    return Predictions(
        name=samples.name,
        classes=model.classes,
        ids=samples.ids,
        id_column=samples.id_column,
        h=h,
        labels=labels,
        wrong=wrong,
        notes=tuple(notes),
        p=p,
    )


def check_table(model: Model, scores: bool) -> None:
    """Refuse, before the samples are read, probabilities that cannot be told."""
    if scores:
        raise SettingsError(TWO_TABLES)
    if model.calibration is None:
        raise SettingsError(NO_PROBABILITIES)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)

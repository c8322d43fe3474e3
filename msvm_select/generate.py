"""Artificial data with a known law, the same for the same seed."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable

import numpy as np

from msvm_select.data.sequences.chains import proteins
from msvm_select.errors import SettingsError
from msvm_select.phrases import did_you_mean, listed
from msvm_select.records import Columns, Dataset

ROOT = 2.5 * math.sqrt(3.0)
CENTRES = ((ROOT, -2.5), (0.0, 5.0), (-ROOT, -2.5))
VARIANCES = (1.0, 4.0, 16.0)


def three_gaussians(per_class: int = 1000, seed: int = 0) -> Dataset:
    """Three classes in the plane, x ~ N(c_k, sigma_k^2 I) for class k = 1, 2, 3.

    The centres (5/2 sqrt 3, -5/2), (0, 5), (-5/2 sqrt 3, -5/2) are the corners of an
    equilateral triangle around 0; the variances sigma_k^2 are 1, 4 and 16. A class
    draws from a stream of its own: more points keep the first ones.
    """
    X = np.concatenate(
        [
            np.array(centre)
            + math.sqrt(variance)
            * np.random.default_rng([seed, k]).standard_normal((per_class, 2))
            for k, (centre, variance) in enumerate(zip(CENTRES, VARIANCES, strict=True))
        ]
    )
    return Dataset(
        X=X,
        y=np.repeat(np.arange(3, dtype=np.int64), per_class),
        classes=("1", "2", "3"),
        features=("x1", "x2"),
        name="three_gaussians",
        columns=Columns(("x1", "x2", "class")),
    )


GENERATORS: dict[str, Callable[[int, int], str]] = {
    "three-gaussians": lambda per_class, seed: as_csv(three_gaussians(per_class, seed)),
    "proteins": proteins,
}


def generate(name: str, per_class: int = 1000, seed: int = 0) -> str:
    """The named problem, as the text of a file."""
    if name not in GENERATORS:
        raise SettingsError(
            f"no problem named {name!r}{did_you_mean(name, GENERATORS)}; "
            f"there is {listed(GENERATORS)}"
        )
    return GENERATORS[name](per_class, seed)


def as_csv(dataset: Dataset) -> str:
    """A header, the features with all their digits, the class label last."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*dataset.features, dataset.target])
    for x, k in zip(dataset.X.tolist(), dataset.y.tolist(), strict=True):
        writer.writerow([*map(repr, x), dataset.classes[k]])
    return text.getvalue()

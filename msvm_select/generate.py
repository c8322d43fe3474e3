"""Artificial data with a known law, the same for the same seed."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator

import numpy as np

from msvm_select.errors import SettingsError
from msvm_select.kernels.sequences import PROTEIN
from msvm_select.phrases import did_you_mean, listed
from msvm_select.records import Columns, Dataset, Floats, Ints

ROOT = 2.5 * math.sqrt(3.0)
CENTRES = ((ROOT, -2.5), (0.0, 5.0), (-ROOT, -2.5))
VARIANCES = (1.0, 4.0, 16.0)
FAMILIES = 3
SHORTEST, LONGEST = 60, 180
HABIT = 0.1  # how often the next residue is the one that the family prefers
TILT = 1.3  # how much more often a family has every third amino acid
LINE = 60  # letters a line of FASTA


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


def _law(k: int) -> tuple[Floats, Ints]:
    """Of family k: the shares of the residues, and which one each prefers to precede.

    P(next = b | a) = 0.9 share_b + 0.1 [b = preferred_a], where every third share,
    from the k-th on, is 1.3 times the others.
    """
    share = np.where(np.arange(len(PROTEIN)) % FAMILIES == k, TILT, 1.0)
    preferred = np.random.default_rng([20, k]).permutation(len(PROTEIN))
    return share / share.sum(), preferred


def _chain(k: int, rng: np.random.Generator) -> str:
    """One sequence of family k, of 60 to 180 residues."""
    share, preferred = _law(k)
    length = int(rng.integers(SHORTEST, LONGEST + 1))
    drawn = rng.choice(len(PROTEIN), size=length, p=share)
    habit = rng.random(length) < HABIT
    at = [int(drawn[0])]
    for free, follows in zip(drawn[1:].tolist(), habit[1:].tolist(), strict=True):
        at.append(int(preferred[at[-1]]) if follows else free)
    return "".join(PROTEIN[i] for i in at)


def _records(per_class: int, seed: int) -> Iterator[str]:
    for k in range(FAMILIES):
        rng = np.random.default_rng([seed, k])
        for number in range(1, per_class + 1):
            letters = _chain(k, rng)
            lines = [letters[at : at + LINE] for at in range(0, len(letters), LINE)]
            name = f"f{k + 1}_{number}"
            yield "\n".join([f">{name} class=family{k + 1} synthetic", *lines, ""])


def proteins(per_class: int = 1000, seed: int = 0) -> str:
    """FASTA; a family draws from a stream of its own: more keep the first ones."""
    return "".join(_records(per_class, seed))


GENERATORS: dict[str, Callable[[int, int], str]] = {
    "three-gaussians": lambda per_class, seed: as_csv(three_gaussians(per_class, seed)),
    "proteins": proteins,
}


def generate(name: str, per_class: int = 1000, seed: int = 0) -> str:
    """The named problem, as the text of a file."""
    if name not in GENERATORS:
        raise SettingsError(
            f"There is no problem {name!r}{did_you_mean(name, GENERATORS)}; "
            f"there are {listed(GENERATORS)}."
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

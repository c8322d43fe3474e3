"""Artificial proteins of three families: Markov chains, the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from msvm_select.kernels.sequences import PROTEIN
from msvm_select.records import Floats, Ints

FAMILIES = 3
SHORTEST, LONGEST = 60, 180
HABIT = 0.1  # how often the next residue is the one that the family prefers
TILT = 1.3  # how much more often a family has every third amino acid
LINE = 60  # letters a line of FASTA


def law(k: int) -> tuple[Floats, Ints]:
    """Of family k: the shares of the residues, and which one each prefers to precede.

    P(next = b | a) = 0.9 share_b + 0.1 [b = preferred_a], where every third share,
    from the k-th on, is 1.3 times the others.
    """
    share = np.where(np.arange(len(PROTEIN)) % FAMILIES == k, TILT, 1.0)
    preferred = np.random.default_rng([20, k]).permutation(len(PROTEIN))
    return share / share.sum(), preferred


def chain(k: int, rng: np.random.Generator) -> str:
    """One sequence of family k, of 60 to 180 residues."""
    share, preferred = law(k)
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
            letters = chain(k, rng)
            lines = [letters[at : at + LINE] for at in range(0, len(letters), LINE)]
            name = f"f{k + 1}_{number}"
            yield "\n".join([f">{name} class=family{k + 1} synthetic", *lines, ""])


def proteins(per_class: int = 1000, seed: int = 0) -> str:
    """FASTA; a family draws from a stream of its own: more keep the first ones."""
    return "".join(_records(per_class, seed))

"""Grids of a parameter: ``0.1,1,10``, ``2^-3:2^9:7`` and ``0.01:0.5:+0.01`` -> values.

Numbers are held as fractions until the end, so that powers of two come out exact and
0.01 steps come out as the decimals a person would write.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from numbers import Real

from msvm_select.errors import SettingsError

GridLike = str | float | Iterable["str | float"]
"""What a grid may be given as: text, a number, or a list of either."""

MOST_VALUES = 1_000_000
FORMS = (
    "a list 0.1,1,10, a geometric range 2^-3:2^9:7 (7 values, ends included) "
    "or an arithmetic one 0.01:0.5:+0.01"
)

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_EXACT_EXPONENTS = 1100  # beyond it a power of two is no float any more
_LONGEST = 400  # characters; a float has no more digits that matter


def parse_grid(given: GridLike, name: str = "the grid") -> tuple[float, ...]:
    """The values, ascending and each once; ``name`` is for the message of an error."""
    pieces: list[str] = []
    for part in [given] if isinstance(given, str) else _parts(given):
        pieces += part.split(",") if isinstance(part, str) else [_repr(part, name)]
    values: set[float] = set()
    for piece in pieces:
        values.update(_piece(piece.strip(), name))
        if len(values) > MOST_VALUES:
            raise SettingsError(_too_many(name))
    if not values:
        raise SettingsError(f"{name} is empty: give {FORMS}.")
    return tuple(sorted(values))


def _parts(given: object) -> Iterable[object]:
    return given if isinstance(given, Iterable) else [given]


def _repr(part: object, name: str) -> str:
    """A number as text that loses nothing of it."""
    if isinstance(part, bool) or not isinstance(part, Real):
        raise SettingsError(f"{name}: {part!r} is not a number; give {FORMS}.")
    try:
        return repr(float(part))
    except OverflowError:
        raise SettingsError(f"{name}: one of its numbers is too large.") from None


def parse_number(text: str, name: str = "the number") -> Fraction:
    """A decimal or a power ``a^b``, exact wherever a fraction can be."""
    base, power, exponent = text.partition("^")
    if power and base.startswith("-"):
        return -parse_number(text[1:], name)
    if power:
        return _power(parse_number(base, name), parse_number(exponent, name), name)
    if len(text) > _LONGEST or not _DECIMAL.fullmatch(text):
        text = text[:_LONGEST]
        raise SettingsError(f"{name}: {text!r} is not a number; give {FORMS}.")
    value = float(text)
    if math.isinf(value):
        raise SettingsError(f"{name}: {text} is too large.")
    return Fraction(text) if value else Fraction(0)


def _power(base: Fraction, exponent: Fraction, name: str) -> Fraction:
    """base^exponent, by fractions for whole exponents of a sensible size."""
    try:
        if exponent.denominator == 1 and abs(exponent) <= _EXACT_EXPONENTS:
            value = Fraction(base ** int(exponent))
        else:
            value = Fraction(float(base) ** float(exponent))
        float(value)
    except (OverflowError, ZeroDivisionError, TypeError, ValueError):
        raise SettingsError(f"{name}: a power in it is no finite number.") from None
    return value


def _piece(piece: str, name: str) -> list[float]:
    """The values of one piece between commas: a number or a range."""
    parts = [part.strip() for part in piece.split(":")]
    if len(parts) == 1:
        return [float(parse_number(piece, name))]
    if len(parts) != 3:
        raise SettingsError(f"{name}: {piece!r} has no known form; give {FORMS}.")
    low, high = parse_number(parts[0], name), parse_number(parts[1], name)
    if low >= high:
        raise SettingsError(
            f"{name}: the range {piece!r} is reversed or empty; write the smaller "
            "end first."
        )
    if parts[2].startswith("+"):
        return _arithmetic(low, high, parse_number(parts[2][1:], name), name)
    return _geometric(low, high, parts[2], name)


def _arithmetic(
    low: Fraction, high: Fraction, step: Fraction, name: str
) -> list[float]:
    """low, low + step, ..; high too, if a step hits it up to rounding."""
    if step <= 0:
        raise SettingsError(f"{name}: the step of a range must be greater than 0.")
    count = int((high - low) / step + Fraction(1, 10**9)) + 1
    if count > MOST_VALUES:
        raise SettingsError(_too_many(name))
    values = [float(low + i * step) for i in range(count)]
    if abs(low + (count - 1) * step - high) < step / 10**9:
        values[-1] = float(high)
    return values


def _geometric(low: Fraction, high: Fraction, count: str, name: str) -> list[float]:
    """``count`` values from low to high, each the same multiple of the one before."""
    if not count.isascii() or not count.isdigit() or int(count) < 2:
        raise SettingsError(
            f"{name}: a geometric range ends in how many values it has, 2 or more, "
            f"not {count!r}; an arithmetic one in +step, as in 0.01:0.5:+0.01."
        )
    steps = int(count) - 1
    if steps >= MOST_VALUES:
        raise SettingsError(_too_many(name))
    if low <= 0:
        raise SettingsError(
            f"{name}: a geometric range needs ends greater than 0; write "
            "an arithmetic one, as in 0:3:+1."
        )
    ratio = _exact_root(low, high, steps)
    if ratio is not None:
        return [float(low * ratio**i) for i in range(steps + 1)]
    shares = [i / steps for i in range(1, steps)]
    between = [float(low) ** (1.0 - t) * float(high) ** t for t in shares]
    clean = [float(f"{value:.15g}") for value in between]
    return [float(low), *clean, float(high)]


def _exact_root(low: Fraction, high: Fraction, steps: int) -> Fraction | None:
    """The ``steps``-th root of high / low, if it is simple, as that of 2^-3:2^9:7 is.

    Long ranges are left to floats: their exact powers would grow without end.
    """
    if steps > _EXACT_EXPONENTS:
        return None
    logarithm = (math.log(high) - math.log(low)) / steps
    if logarithm > 700.0:
        return None
    root = Fraction(math.exp(logarithm)).limit_denominator(1000)
    return root if low * root**steps == high else None


def _too_many(name: str) -> str:
    return f"{name} has more than {MOST_VALUES:,} values; choose a coarser grid."

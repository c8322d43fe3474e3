"""The checks of single settings: a value as typed or parsed -> the value that counts.

Each check is called with the value and the setting's name, for the error's message.
Grids are ``0.1,1,10``, ``2^-3:2^9:7`` or ``0.01:0.5:+0.01``. Numbers are held as
fractions until the end, so that powers of two come out exact and 0.01 steps come out as
the decimals a person would write.
"""

from __future__ import annotations

import csv
import io
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from numbers import Real
from typing import Any

from msvm_select.columns import HARD
from msvm_select.errors import SettingsError
from msvm_select.phrases import did_you_mean, listed

Check = Callable[[Any, str], Any]
GridLike = str | float | Iterable["str | float"]
"""What a grid may be given as: text, a number, or a list of either."""

AROUND = "around"
BALANCED = "balanced"
GAMMA_WORDS = ("scale", "auto", AROUND)
MOST_VALUES = 1_000_000
FORMS = (
    "a list 0.1,1,10, a geometric range 2^-3:2^9:7 (7 values, ends included) "
    "or an arithmetic one 0.01:0.5:+0.01"
)

SCHEMES = ("tcp", "tls")

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_TIME = r"(\d+\.?\d*|\.\d+)(sec|s|min|m|h|d)"
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_WORDS = re.compile(r"\b(spectrum|(mismatch)):(\d+)(?(2)(?:,1)?)(?=,|$)")
_EXACT_EXPONENTS = 1100  # beyond it a power of two is no float any more
_LONGEST = 400  # characters; a float has no more digits that matter


def known(name: str, names: Iterable[str], what: str) -> str:
    """The name itself where it is one of ``names``; an error with the near ones."""
    names = tuple(names)
    if name not in names:
        hint = did_you_mean(name, names) or f"; there are {listed(names, 12)}"
        raise SettingsError(f"There is no {what} {name!r}{hint}.")
    return name


def one_of(names: Iterable[str], what: str) -> Check:
    """A check that the value is one of ``names``."""
    return lambda value, name: known(str(value).strip(), names, what)


def text(value: Any, name: str) -> str:
    """Some text."""
    if not isinstance(value, str) or not value.strip():
        raise SettingsError(f"{name} = {value!r} must be a name.")
    return value.strip()


def texts(value: Any, name: str) -> tuple[str, ...]:
    """A list of names, typed with commas or given as a sequence; each once."""
    parts = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(part, str) for part in parts):
        raise SettingsError(f"{name} = {value!r} must be a name, or a list of names.")
    texts = [text.strip() for part in parts for text in part.split(",")]
    if not all(texts) or not texts:
        raise SettingsError(f"{name}: one of its names is empty.")
    return tuple(dict.fromkeys(texts))


def spelled_out(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """With ``spectrum:4`` as the kernel and the degree 4; ``mismatch:4,1`` likewise.

    The 1 says how many letters of a word may differ: there is no other number yet.
    """
    given = values.get("kernel")
    named = [given] if isinstance(given, str) else given
    if not isinstance(named, list | tuple) or ":" not in "".join(map(str, named)):
        return values
    whole = ",".join(map(str, named))
    lengths = {float(found[3]) for found in _WORDS.finditer(whole)}
    if lengths and values.get("degree") not in (None, ()):
        raise SettingsError(f"kernel = {whole!r} and degree both say one: give one.")
    kernels = _WORDS.sub(r"\1", whole)
    return {**values, "kernel": kernels, **({"degree": lengths} if lengths else {})}


def read_text(value: Any, name: str) -> str:
    """Some text of a reading option; a whole number counts as the text that it is."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise SettingsError(f"{name} = {value!r} must be text in quotes.")


def read_texts(value: Any, name: str) -> tuple[str, ...]:
    """One text of a reading option, or several."""
    parts = value if isinstance(value, list | tuple) else [value]
    return tuple(read_text(part, name) for part in parts)


def positive_grid(value: Any, name: str) -> tuple[float, ...]:
    """A grid whose values are all greater than 0."""
    values = parse_grid(value, name)
    if values[0] <= 0.0:
        raise SettingsError(f"{name} = {values[0]:g} must be greater than 0.")
    return values


def margin_grid(value: Any, name: str) -> tuple[float, ...]:
    """A grid of C, in which ``inf`` is the widest margin."""
    pieces = _pieces(value)
    infinite = [p for p in pieces if str(p).lower() in ("inf", "infinity")]
    numbers = [piece for piece in pieces if piece not in infinite]
    finite = positive_grid(numbers, name) if numbers or not infinite else ()
    return (*finite, *([HARD] if infinite and HARD not in finite else []))


def gamma_grid(value: Any, name: str) -> tuple[float | str, ...]:
    """A grid of numbers greater than 0; GAMMA_WORDS may be among them."""
    pieces = _pieces(value)
    words = [word for word in GAMMA_WORDS if word in pieces]
    numbers = [piece for piece in pieces if piece not in words]
    if words and not numbers:
        return tuple(words)
    return (*positive_grid(numbers, name), *words)


def number(value: Any, name: str) -> float:
    """One number."""
    return _single(parse_grid(value, name), name)


def positive(value: Any, name: str) -> float:
    """One number greater than 0."""
    return _single(positive_grid(value, name), name)


def class_weights(value: Any, name: str) -> str | None:
    """``balanced``, or ``a=2,b=1``, which is also made of a mapping and of a file.

    A class whose name has a comma is written in quotes: ``"x,y=2",b=1``.
    """
    if value is None or value == BALANCED:
        return None if value is None else BALANCED
    if not isinstance(value, str | Mapping):
        raise SettingsError(f"{name} = {value!r} must be text, or weights by class.")
    if not isinstance(value, Mapping) and "=" not in value:
        value = _weights_in(value.strip(), name)
    weights = weights_by_class(value, name) if isinstance(value, str) else dict(value)
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(
        f"{one}={positive(weight, f'{name} of {one}'):.17g}"
        for one, weight in weights.items()
    )
    return line.getvalue()


def weights_by_class(text: str, name: str = "class_weight") -> dict[str, float]:
    """The weights that ``a=2,b=1`` says."""
    weights: dict[str, float] = {}
    for item in next(csv.reader([text])):
        one, equals, weight = item.strip().rpartition("=")
        if not equals or not one.strip():
            raise SettingsError(
                f"{name}: {item!r} must be a class and its weight, a=2."
            )
        if (one := one.strip()) in weights:
            raise SettingsError(f"{name}: the class {one!r} is there twice.")
        weights[one] = positive(weight, f"{name} of {one}")
    return weights


def _weights_in(path: str, name: str) -> dict[str, Any]:
    """Those of a CSV file of two columns, class and weight."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if any(map(str.strip, row))]
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise SettingsError(
            f"{name} must be balanced, weights such as a=2,b=1, or a CSV file; "
            f"{path!r} is none of these ({why}){did_you_mean(path, [BALANCED])}."
        ) from None
    if rows and rows[0][-1].strip().lower() == "weight":
        del rows[0]
    if not rows or any(len(row) != 2 for row in rows):
        raise SettingsError(f"{path} must have two columns, class and weight.")
    names = [one.strip() for one, _ in rows]
    if double := [one for i, one in enumerate(names) if one in names[:i]]:
        raise SettingsError(f"{path}: the class {double[0]!r} is there twice.")
    return {one: weight for one, (_, weight) in zip(names, rows, strict=True)}


def duration(value: Any, name: str) -> float:
    """Seconds, as a number, or with units: 90s, 10m, 1.5h, 1h30m."""
    if not isinstance(value, str) or _DECIMAL.fullmatch(value.strip()):
        return positive(value, name)
    text = "".join(value.split())
    if not re.fullmatch(f"({_TIME})+", text):
        raise SettingsError(
            f"{name} = {value!r} is no time; give seconds, or 90s, 10m, 1h30m."
        )
    parts = re.findall(_TIME, text)
    seconds = sum(float(number) * _SECONDS[unit[0]] for number, unit in parts)
    return positive(seconds, name)


def probability(value: Any, name: str) -> float:
    """One number between 0 and 1, neither of them."""
    number = positive(value, name)
    if number >= 1.0:
        raise SettingsError(f"{name} = {number:g} must be less than 1.")
    return number


def whole(least: int) -> Check:
    """A check for whole numbers from ``least`` upward."""

    def check(value: Any, name: str) -> int:
        number: Any = value
        if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
            number = int(value)
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            number = least - 1
        if operator.index(number) < least:
            raise SettingsError(
                f"{name} = {value!r} must be a whole number, {least} or more."
            )
        return operator.index(number)

    return check


def whole_grid(value: Any, name: str) -> tuple[int, ...]:
    """A grid of whole numbers from 1 upward."""
    return tuple(whole(1)(_if_whole(one), name) for one in parse_grid(value, name))


def _if_whole(value: float) -> float | int:
    return int(value) if value.is_integer() else value


def shard(value: Any, name: str) -> str:
    """``3/16``, the third of sixteen."""
    number, slash, count = str(value).replace(" ", "").partition("/")
    known = slash and number.isdecimal() and count.isdecimal()
    if not known or not 1 <= int(number) <= int(count):
        raise SettingsError(
            f"{name} = {value!r} must be I/N, the I-th of N parts, as in 3/16."
        )
    return f"{int(number)}/{int(count)}"


def cluster(value: Any, name: str) -> str:
    """``tcp://host:8786``, ``tls://..``, a scheduler's file, or ``local:4``."""
    given = str(value).strip()
    if given.endswith(".json"):
        return given
    scheme, colon, rest = given.partition(":")
    if scheme == "local" and rest.isdecimal() and int(rest) > 0:
        return f"local:{int(rest)}"
    host, _, port = rest.removeprefix("//").rstrip("/").rpartition(":")
    if rest.startswith("//") and scheme in SCHEMES and host and port.isdecimal():
        return f"{scheme}://{host}:{int(port)}"
    likely = given.rpartition("//")[2].rstrip("/")
    hint = ""
    if re.fullmatch(r"[\w.-]+:\d+", likely) and scheme != "local":
        hint = f"; did you mean tcp://{likely}?"
    raise SettingsError(
        f"{name} = {value!r} must be tcp://HOST:PORT or tls://HOST:PORT, where a Dask "
        "scheduler listens, FILE.json, its --scheduler-file, or local:N, N processes "
        f"on this machine{hint or '.'}"
    )


def flag(value: Any, name: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise SettingsError(f"{name} = {value!r} must be true or false.")
    return value


def _single(values: tuple[float, ...], name: str) -> float:
    if len(values) > 1:
        raise SettingsError(f"{name} takes one number, not {len(values)}.")
    return values[0]


def parse_grid(given: GridLike, name: str = "the grid") -> tuple[float, ...]:
    """The values, ascending and each once; ``name`` is for the message of an error."""
    values: set[float] = set()
    for piece in _pieces(given):
        values.update(_piece(_written(piece, name), name))
        if len(values) > MOST_VALUES:
            raise _too_many(name)
    if not values:
        raise SettingsError(f"{name} is empty: give {FORMS}.")
    return tuple(sorted(values))


def _pieces(given: Any) -> list[Any]:
    """What stands between the commas of texts, and what is no text, in order."""
    alone = isinstance(given, str) or not isinstance(given, Iterable)
    pieces: list[Any] = []
    for part in [given] if alone else given:
        pieces += map(str.strip, part.split(",")) if isinstance(part, str) else [part]
    return pieces


def _written(part: object, name: str) -> str:
    """A piece as text that loses nothing of a number."""
    if isinstance(part, str):
        return part
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
        raise _too_many(name)
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
        raise _too_many(name)
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


def _too_many(name: str) -> SettingsError:
    return SettingsError(
        f"{name} has more than {MOST_VALUES:,} values; choose a coarser grid."
    )

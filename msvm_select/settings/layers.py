"""Values given at several places -> one Settings: the later place wins.

In the order of a command: its defaults, a file, the environment, the line. A variable
of the environment is ``MSVM_SELECT_`` and the option's name in capitals; an empty one
counts as not set, and lists are separated by commas.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from msvm_select.columns import answering, criterion_of
from msvm_select.errors import SettingsError
from msvm_select.names import KERNELS, METRICS
from msvm_select.phrases import did_you_mean, listed
from msvm_select.settings.catalogue import (
    DEFAULT_CRITERION,
    EVERY,
    READING,
    SETTING_NAMES,
    SETTINGS,
    reading_value,
)
from msvm_select.settings.settings import (
    PARAMETERS,
    Settings,
    check_together,
    used_parameters,
)
from msvm_select.settings.values import AROUND, spelled_out

PREFIX = "MSVM_SELECT_"
ROUNDS = 2  # that a sweep is widened by if no grid was said
WORDS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


@dataclass(frozen=True)
class Layer:
    """Values by name, as typed or parsed, None where not given.

    ``where`` tells of a name where it was said, for messages; nothing where that is
    plain to see.
    """

    values: Mapping[str, Any]
    where: Callable[[str], str] = lambda name: ""


@dataclass(frozen=True)
class _Said:
    """One value, in which layer it was said, and where that is."""

    value: Any
    level: int
    where: str


def settings_from(values: Mapping[str, Any], base: Settings | None = None) -> Settings:
    """Settings from values by name, over those of ``base``."""
    return settings_of([Layer({} if base is None else asdict(base)), Layer(values)])


def settings_of(layers: Iterable[Layer]) -> Settings:
    """The settings that count; what served only a loser goes with it.

    They are those of one machine, or of a sweep of the grids that were said; see
    ``sweep_settings``.
    """
    said = {name: _checked(name, one) for name, one in _said(layers).items()}
    for name in _outdone(said):
        said.pop(name, None)
    try:
        settings = Settings(**_completed({n: one.value for n, one in said.items()}))
        check_together(settings)
    except SettingsError as error:
        note_places(error, {name: one.where for name, one in said.items()})
        raise
    return settings


def sweep_settings(layers: Iterable[Layer]) -> Settings:
    """The same for a sweep, which tries several values of gamma where none was said.

    A sweep of no grid at all is also widened where its best value is on an edge.
    """
    layers = list(layers)
    # no part of a sweep knows whether its best cell is that of the whole
    grids = {"C", *PARAMETERS, "shard"} - {"low_rank"}
    grids &= _said(layers).keys()
    usual = {"gamma": AROUND, "extend": 0 if grids else ROUNDS}
    return settings_of([Layer(usual), *layers])


def checked_values(layers: Iterable[Layer]) -> dict[str, Any]:
    """What is said, each value checked by itself."""
    return {name: _checked(name, one).value for name, one in _said(layers).items()}


def note_places(error: Exception, places: Mapping[str, str]) -> None:
    """Note on the error where each name that it mentions was said."""
    for name, where in places.items():
        if where and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", str(error)):
            error.add_note(f"{name} is from {where}.")


def _said(layers: Iterable[Layer]) -> dict[str, _Said]:
    """The last word on each name."""
    said: dict[str, _Said] = {}
    for level, layer in enumerate(layers):
        for name, value in spelled_out(layer.values).items():
            if value is None:
                continue
            if name not in SETTING_NAMES:
                raise SettingsError(
                    f"There is no setting {name!r}{did_you_mean(name, SETTING_NAMES)}."
                )
            said[name] = _Said(value, level, layer.where(name))
    return said


def _checked(name: str, one: _Said) -> _Said:
    """With the value that counts, or an error that tells where it was said."""
    try:
        return replace(one, value=SETTINGS[name].checked(one.value))
    except SettingsError as error:
        if not one.where:
            raise
        raise SettingsError(f"{one.where}: {error}") from None


def _outdone(said: Mapping[str, _Said]) -> set[str]:
    """Names that go with what a later layer has replaced.

    A new sigma replaces an old gamma, a new kernel drops the old one's parameters, and
    new criteria drop a ranking by another.
    """
    return {
        name
        for name, rival in _rivals(said)
        if name in said and rival in said and said[name].level < said[rival].level
    }


def _rivals(said: Mapping[str, _Said]) -> list[tuple[str, str]]:
    """(a name, what drops it when it was said later)."""
    rivals = [("gamma", "sigma"), ("sigma", "gamma")]
    if "metric" in said:
        rivals.append(("rank_by", "metric"))
    metrics = said["metric"].value if "metric" in said else None
    ranking = [said[name].value for name in ("criteria", "rank_by") if name in said]
    if len(ranking) == 2 and _find(ranking[0], metrics, ranking[1]) is None:
        rivals += [("rank_by", "criteria"), ("criteria", "rank_by")]
    if "kernel" in said:
        kernels = said["kernel"].value
        used = used_parameters(kernels)
        rivals += [(name, "kernel") for name in PARAMETERS if name not in used]
        rivals += [("scale", "kernel")] if _unscaled(kernels) else []
    if "solver" in said and said["solver"].value != "qp":
        rivals.append(("qp_backend", "solver"))
    return rivals


def _completed(checked: dict[str, Any]) -> dict[str, Any]:
    """With the defaults that depend on other settings."""
    by, metrics = checked.get("rank_by"), checked.get("metric")
    if by is not None and _metric_of(by):
        metrics = metrics or (_metric_of(by),)
        checked["metric"] = metrics
    elif by is not None and "criteria" not in checked:
        checked["criteria"] = (by,)
    criteria = checked.setdefault("criteria", (DEFAULT_CRITERION,))
    by = by or (metrics or criteria)[0]
    if (found := _find(criteria, metrics, by)) is None:
        raise SettingsError(
            f"rank_by: {by!r} is not among the criteria {listed(criteria)}"
            + (f", nor the metrics {listed(metrics)}" if metrics else "")
            + f"; add it to {'--metric' if _metric_of(by) else '--criteria'}."
        )
    checked["rank_by"] = found
    if _unscaled(checked.get("kernel", ())):
        checked.setdefault("scale", "none")
    return checked


def _unscaled(kernels: Iterable[str]) -> bool:
    """Whether one of them takes what cannot be scaled."""
    return any(KERNELS[name].of != "features" for name in kernels)


def _find(
    criteria: tuple[str, ...], metrics: tuple[str, ...] | None, rank_by: str
) -> str | None:
    """The criterion that is meant by ``cv:5`` or, for short, ``cv``; or the metric.

    The error rate has the column of the criterion that it is of.
    """
    metric = _metric_of(rank_by)
    if metric == "error":
        return answering(criteria) or criteria[0]
    if metric:
        named = (m for m in metrics or () if metric in (m, m.partition(":")[0]))
        return next(named, None)
    named = (c for c in criteria if rank_by in (c, criterion_of(c)))
    return next(named, None)


def _metric_of(rank_by: str) -> str:
    """The metric that is meant, also by its column; empty for anything else."""
    name, colon, argument = rank_by.partition(":")
    name = name.replace("_", "-")
    return f"{name}{colon}{argument}" if name in METRICS else ""


def variable(name: str) -> str:
    """``C`` is in MSVM_SELECT_C, ``rank_by`` in MSVM_SELECT_RANK_BY."""
    return PREFIX + name.upper()


def environment(names: Iterable[str]) -> Layer:
    """What the environment says of these settings and reading options."""
    given = {name: os.environ.get(variable(name), "") for name in names}
    values = {name: _understood(name, text) for name, text in given.items() if text}
    return Layer(values, _said_in)


def _said_in(name: str) -> str:
    """The variable and what it holds, for a message."""
    return f"{variable(name)}={os.environ.get(variable(name), '')!r}"


def unknown_variables() -> list[str]:
    """A remark on each variable that looks like a setting's and is none's."""
    known = {name.upper() for name in (*SETTING_NAMES, *READING)}
    ours = [name for name in os.environ if name.startswith(PREFIX)]
    rest = {name.removeprefix(PREFIX) for name in ours}
    return [
        f"{PREFIX}{name} is set, but no setting is {name}{did_you_mean(name, known)}."
        for name in sorted(rest - known)
    ]


def _understood(name: str, text: str) -> Any:
    """A flag as true or false, where it is a word for that; a list in parts."""
    value: Any = text
    option = EVERY[name]
    if option.is_flag:
        value = WORDS.get(text.strip().lower(), text)
    elif name in READING and option.joins:
        value = [part.strip() for part in text.split(",")]
    return reading_value(name, value, _said_in(name)) if name in READING else value

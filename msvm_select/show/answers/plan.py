"""What a sweep would go through -> a sheet: a row a fact, in JSON the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Any

from msvm_select.phrases import between, counted, exactly, roughly, sized
from msvm_select.settings import Settings
from msvm_select.show.sheet import WIDTH, Look, Sheet
from msvm_select.sweep.plan import Plan
from msvm_select.train.prepare import TOO_ROUGH

INDENT = 10


def sheet(plan: Plan) -> Sheet:
    """Lines of a name and what it stands for."""
    lines = _lines(plan)
    return Sheet(
        columns=[Look("fact", left=True), Look("value", left=True)],
        rows=[{"fact": name, "value": value} for name, value in lines],
        rows_as="",
        facts=_facts(plan),
        shown=["fact", "value"],
        listed=[],
        above=[line for name, value in lines for line in _wrapped(name, value)],
    )


def _facts(plan: Plan) -> dict[str, Any]:
    """All of it by name; bytes and seconds are not rounded."""
    settings = plan.settings
    return {
        "data": plan.data.name,
        "n_samples": plan.data.m,
        "n_features": int(plan.data.X.shape[1]),
        "n_classes": plan.data.Q,
        "kernels": [{"kernel": k.name, **k.parameters} for k in plan.kernels],
        "C": list(settings.C),
        "cells": plan.cells,
        "criteria": list(settings.criteria),
        **{n: getattr(settings, n) for n in ("rank_by", "solver", "loss", "jobs")},
        **({"shard": settings.shard} if settings.shard else {}),
        **({"cluster": settings.cluster} if settings.cluster else {}),
        "gram_bytes": plan.gram_bytes,
        **({"factor_bytes": plan.factor_bytes} if plan.rank else {}),
        "peak_bytes": plan.peak_bytes,
        "too_rough": [{"kernel": k.name, **k.parameters} for k in plan.too_rough],
        "seconds": plan.time and [plan.time.low, plan.time.high],
    }


def _lines(plan: Plan) -> list[tuple[str, str]]:
    settings, data = plan.settings, plan.data
    n = data.X.shape[1]
    sizes = f"{data.m} samples, {counted(n, 'feature')}, {data.Q} classes"
    solver = f"{settings.solver}, loss {settings.loss}, jobs {settings.jobs}"
    ranked = f"{', '.join(settings.criteria)}; ranked by {settings.rank_by}"
    peak = f"about {sized(plan.peak_bytes)} in all"
    if plan.rank:
        peak = f"{sized(plan.factor_bytes)} for {plan.rank} dimensions; {peak}"
    return [
        ("data", f"{data.name}: {sizes}"),
        *([("shard", _shard(plan))] if settings.shard else []),
        ("kernels", str(len(plan.kernels))),
        *(("", text) for text in _kernels(plan)),
        ("C", f"{len(settings.C)}: {_listed(settings.C)}"),
        ("cells", str(plan.cells) + _more(settings.extend)),
        ("criteria", ranked),
        ("solver", solver),
        ("memory", f"{sized(plan.gram_bytes)} a Gram matrix; {peak}"),
        ("time", _time(plan) + _limits(plan)),
        *([("cluster", _cluster(settings))] if settings.cluster else []),
        *([("note", plan.quicker)] if plan.quicker else []),
        *(("note", TOO_ROUGH.format(kernel)) for kernel in plan.too_rough),
    ]


def _shard(plan: Plan) -> str:
    empty = "empty: there are more parts than cells"
    return f"{plan.settings.shard}, {'the cells below' if plan.kernels else empty}"


def _cluster(settings: Settings) -> str:
    """Who is to train; only this machine is known."""
    if settings.at_once:
        return f"{settings.at_once} processes of this machine"
    return (
        f"{settings.cluster}, which was not asked; memory and time are those of one "
        "worker that does one kernel setting after another, as fast as this machine"
    )


def _more(rounds: int) -> str:
    """What may come to the cells that are counted."""
    often = {1: "once", 2: "twice"}.get(rounds, f"{rounds} times")
    return f"; more, up to {often}, if the best is on an edge" if rounds else ""


def _kernels(plan: Plan) -> Iterator[str]:
    """Each name with the grids that its settings are the product of."""
    for name in dict.fromkeys(kernel.name for kernel in plan.kernels):
        alike = [kernel for kernel in plan.kernels if kernel.name == name]
        grids = [
            f"{parameter} {_listed({k.parameters[parameter] for k in alike})}"
            for parameter in alike[0].parameters
        ]
        yield " ".join([name, "; ".join(grids)]).rstrip()


def _time(plan: Plan) -> str:
    if plan.note:
        return f"not known yet. {plan.note}"
    if plan.time is None:
        return "not known"
    low, high, part = plan.time.low, plan.time.high, plan.time.samples
    of = f", judged by {part} of the samples" if 0 < part < plan.data.m else ""
    if high is None:
        return f"at least {roughly(low)}{of}"
    return f"{between(low, high)}{of}"


def _limits(plan: Plan) -> str:
    """What the estimate, of all cells to their end, does not know of."""
    race, budget = plan.settings.race, plan.settings.time_budget
    found = "" if race is None else f"; less with --race {race}"
    return found if budget is None else f"{found}; --time-budget {exactly(budget)}"


def _wrapped(name: str, text: str) -> list[str]:
    first, *more = wrap(text, WIDTH - INDENT, break_on_hyphens=False) or [""]
    return [f"{name:<{INDENT}}{first}", *(f"{'':<{INDENT}}{line}" for line in more)]


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.6g}" for value in sorted(values))

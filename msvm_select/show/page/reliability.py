"""The reliability diagram of the page: bars of the share right, dots at the claims."""

from __future__ import annotations

from msvm_select.show.charts.reliability import ACROSS, UP, Bin, ReliabilityChart
from msvm_select.show.charts.scale import Scale
from msvm_select.show.page.markup import Html, el

WIDTH, HEIGHT = 320, 232
LEFT, RIGHT, TOP, BOTTOM = 46, 304, 10, 190
GAP = 1.5  # pixels on each side of a bar
SHARES = Scale(0.0, 1.0)


def reliability(chart: ReliabilityChart) -> Html:
    """The figure; what each bar says is its title, too."""
    claim = el("path", d=f"M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}", class_="claim")
    picture = el(
        "svg",
        _rules(),
        *(_bar(one) for one in chart.bins),
        claim,
        *(el("circle", cx=_x(b.claimed), cy=_y(b.right), r=3.2) for b in chart.bins),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        class_="sure",
        role="img",
        aria_label=f"{UP} over {ACROSS}: {chart.verdict}",
    )
    verdict = chart.verdict[0].upper() + chart.verdict[1:]
    caption = el("figcaption", f"{UP} over {ACROSS}")
    about = (
        f"{verdict}. Bars are the {UP}, dots stand at the mean claim; on the dashed "
        "line a machine is as often right as it claims to be."
    )
    return el("figure", caption, picture, el("p", about, class_="aside"), id="sure")


def _x(value: float) -> float:
    return round(LEFT + SHARES.share(value) * (RIGHT - LEFT), 1)


def _y(value: float) -> float:
    return round(BOTTOM + SHARES.share(value) * (TOP - BOTTOM), 1)


def _bar(one: Bin) -> Html:
    told = (
        f"{one.name}: {one.samples:g} samples, claimed {one.claimed:.3f}, right "
        f"{one.right:.3f}"
    )
    wide = _x(one.high) - _x(one.low) - 2 * GAP
    place = {"x": _x(one.low) + GAP, "y": _y(one.right), "width": round(wide, 1)}
    height = round(BOTTOM - _y(one.right), 1)
    return el("g", el("title", told), el("rect", **place, height=height))


def _rules() -> Html:
    rules = []
    for share in SHARES.ticks(5):
        y, text = _y(share), f"{share:.1f}"
        rules.append(el("path", d=f"M{LEFT} {y}H{RIGHT}"))
        rules.append(el("text", text, x=LEFT - 6, y=y + 3.5, class_="up"))
        rules.append(el("text", text, x=_x(share), y=BOTTOM + 16))
    axis = el("text", ACROSS, x=(LEFT + RIGHT) / 2, y=BOTTOM + 33, class_="axis")
    return el("g", *rules, axis, class_="grid")

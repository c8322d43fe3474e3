"""Pictures: what is in them, what the files are, what is said when it cannot be."""

from __future__ import annotations

import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner, Result

from msvm_select import extras, fit, load_csv
from msvm_select.cli import cli
from msvm_select.columns import Row
from msvm_select.results.choosing import chosen as choose
from msvm_select.results.ranking import Results, rank
from msvm_select.show.charts.curves import bundles_of, curves_of
from msvm_select.show.charts.heat import heat_map_of
from msvm_select.show.charts.scale import SHADES, Grid, Scale, colour, compact
from msvm_select.show.figures import look
from msvm_select.show.figures.look import short, thinned
from msvm_select.show.page.charts import Painting, style
from msvm_select.show.text import ASCII_SHADES, heat_text
from tests.conftest import DATA, render, run

pytest.importorskip("matplotlib")

CS = (0.5, 2.0, 8.0)
GAMMAS = (0.25, 1.0)


def row(C: float, gamma: float | None, errors: int | None, **more: object) -> Row:
    """One of 50 samples' results; ``errors`` None is a failed cell."""
    failed = {"status": "failed", "status_reason": "no memory"}
    values = {
        "kernel": "linear" if gamma is None else "rbf",
        "gamma": gamma,
        "C": C,
        "solver": "exact",
        "n_samples": 50,
        "loo_errors": errors,
        "loo_rate": None if errors is None else errors / 50,
        "loo_ambiguous": None if errors is None else 0,
        **(failed if errors is None else {"train_errors": 1}),
        **more,
    }
    return Row(**values)  # type: ignore[arg-type]


def results(*rows: Row, **settings: object) -> Results:
    """The rows ranked by leave-one-out, as a sweep of the file two.csv has them."""
    by = {"rank_by": "loo", **settings}
    return Results(rank(rows, "loo"), "loo", {"name": "two"}, by)


@pytest.fixture
def swept() -> Results:
    """Six cells of an rbf kernel: one failed, one ambiguous; the best at (1, 8)."""
    return results(
        row(0.5, 0.25, 20),
        row(2.0, 0.25, 10),
        row(8.0, 0.25, None),
        row(0.5, 1.0, 9),
        row(2.0, 1.0, 8, loo_ambiguous=2),
        row(8.0, 1.0, 5),
    )


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A file of iris with its last two features."""
    lines = (DATA / "iris.csv").read_text(encoding="utf-8").splitlines()
    path = tmp_path / "two.csv"
    path.write_text("\n".join(",".join(x.split(",")[2:]) for x in lines) + "\n")
    return path


def kept(found: Results, path: Path) -> Path:
    """The results in a JSON file."""
    path.write_text(render(found, "json"), encoding="utf-8")
    return path


def plot(*arguments: object, stdin: str | None = None) -> Result:
    """``msvm-select plot``."""
    return CliRunner().invoke(cli, ["plot", *map(str, arguments)], input=stdin)


def test_the_map_on_a_terminal(swept: Results) -> None:
    """Every cell in its place, marked, with a legend; exact to the letter."""
    assert heat_text(heat_map_of(swept), 80) == (
        "two: leave-one-out error rate, %\n"
        "\n"
        "rbf: C across, gamma up\n"
        "gamma |    0.5      2      8\n"
        "    1 |  ░18.0 ~░16.0 * 10.0\n"
        " 0.25 |  █40.0  ░20.0      x\n"
        "\n"
        "' ' 10.0 to '█' 40.0 %: the more ink, the larger\n"
        "* best by loo: rbf gamma=1 C=8 (10.0 %)\n"
        "~ ambiguous (a left-out margin within 1e-7 of 0)\n"
        "x failed\n"
    )


@pytest.mark.parametrize("count", [1, 7, 40, 400])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_map_keeps_within_the_width(count: int, width: int) -> None:
    """Whatever the number of C; each of them is there, or the first and the last."""
    found = results(*(row(1.0 + i, g, i % 9) for i in range(count) for g in GAMMAS))
    text = heat_text(heat_map_of(found), width, ASCII_SHADES)
    assert max(map(len, text.splitlines())) <= width
    assert text.isascii()
    assert f" {count}" in text
    assert text.count("*") == 2  # the cell and the legend


def test_two_varying_parameters_make_panels_or_one_of_the_best() -> None:
    """Up to four settings have their panels; with more the title says "best over"."""
    few, many = (
        results(
            *(
                row(C, g, 3, kernel="polynomial", degree=float(d), coef0=1.0)
                for C in CS
                for g in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
                for d in range(1, degrees + 1)
            )
        )
        for degrees in (2, 5)
    )
    titles = [panel.title for panel in heat_map_of(few).panels]
    assert titles == ["polynomial degree=1 coef0=1", "polynomial degree=2 coef0=1"]
    (panel,) = heat_map_of(many).panels
    assert panel.title == "polynomial, best over degree"
    assert panel.name == "gamma"
    assert len(panel.cells) == 18


def test_kernels_have_their_panels_in_order() -> None:
    """The linear one is a line, and an axis is labelled by sigma where it was swept."""
    found = results(*(row(C, g, 3) for C in CS for g in (2.0, None)), sigma=[0.5])
    linear, rbf = heat_map_of(found).panels
    assert (linear.title, linear.name) == ("linear", None)
    assert rbf.title == "rbf sigma=0.5"


def test_the_heat_map_shows_every_cell(swept: Results) -> None:
    """A number, or a hatch and none; the best framed; axes by name and true value."""
    from msvm_select.show.figures.heat import HATCHES, heat_map

    figure = heat_map(heat_map_of(swept))
    axes = figure.axes[0]
    assert [t.get_text() for t in axes.texts] == ["10.0", "18.0", "20.0", "40.0"]
    hatches = sorted(h for p in axes.patches if (h := p.get_hatch()))
    assert hatches == sorted([HATCHES["ambiguous"], HATCHES["failed"]])
    assert [t.get_text() for t in axes.get_xticklabels()] == ["0.5", "2", "8"]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["0.25", "1"]
    assert axes.get_xlabel() == "C (logarithmic)"
    assert axes.get_ylabel() == "gamma (logarithmic)"
    frames = [p for p in axes.patches if not p.get_fill()]
    assert {p.get_xy() for p in frames} == {(2.0, -1.0)}
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert told[0] == "best by loo: rbf gamma=1 C=8 (10.0 %)"
    assert told[2] == "failed"
    assert figure.axes[1].get_ylabel() == "leave-one-out error rate, %"


def test_the_largest_is_the_brightest_where_it_is_the_best() -> None:
    """Of auc the first shade is the largest value, in the map, its legends, its bar."""
    from msvm_select.show.figures.heat import heat_map

    found = results(*(row(C, None, 9, auc=auc) for C, auc in ((0.5, 0.6), (2.0, 0.9))))
    chart = heat_map_of(found, "auc")
    shades = {c.value: chart.level(c) for c in chart.cells}
    assert shades == {0.9: 0, 0.6: SHADES - 1}
    assert Painting(found, "auc").ends() == ("0.9", "0.6")
    assert "' ' 0.9 to 'O' 0.6: the more ink, the smaller" in heat_text(
        chart, 80, ASCII_SHADES
    )
    drawing = heat_map(chart)
    drawing.canvas.draw()
    bar = drawing.axes[-1].collections[-1]
    top = bar.cmap(bar.norm(0.9))
    assert top[:3] == pytest.approx([c / 255.0 for c in colour(0)])


@pytest.mark.parametrize(("worst", "is_log"), [(40, False), (50, False), (51, True)])
def test_text_picture_and_page_shade_alike(worst: int, is_log: bool) -> None:
    """One rule: logarithmic beyond a ratio of 10, in all three; equal colours."""
    from msvm_select.show.figures.heat import heat_map

    errors = (5, 9, 17, worst, worst // 2)
    found = results(*(row(2.0**i, None, n) for i, n in enumerate(errors)))
    chart, painting = heat_map_of(found), Painting(found, "loo_rate")
    assert chart.scale is not None
    assert chart.scale.is_log == is_log
    assert ("by its logarithm" in heat_text(chart)) == is_log
    assert ("logarithmic" in painting.legend()) == is_log
    bar = heat_map(chart).axes[-1]
    assert (bar.get_yscale() == "log") == is_log
    rules = dict(re.findall(r"\.(s\d+) rect\{fill:(#\w+)\}", style()))
    for cell in chart.cells:
        level = chart.level(cell)
        painted = chart.shade(cell)
        assert level is not None
        assert painted is not None
        assert painting.style(cell) == f"s{level}"
        assert rules[f"s{level}"] == painted[0]
        text_level = chart.level(cell, len(ASCII_SHADES))
        assert f"{ASCII_SHADES[text_level or 0]}{2.0 * cell.row.loo_errors:.1f}" in (
            heat_text(chart, 80, ASCII_SHADES)
        )


def test_one_cell_makes_a_picture() -> None:
    """And so do a row and a column; no number is outside its cell."""
    from msvm_select.show.figures.heat import heat_map

    for Cs, gammas in (((1.0,), (1.0,)), (CS, (1.0,)), ((1.0,), GAMMAS)):
        found = results(*(row(C, g, 4) for C in Cs for g in gammas))
        figure = heat_map(heat_map_of(found))
        assert len(figure.axes[0].texts) == len(Cs) * len(gammas)


def test_numbers_are_left_out_where_they_do_not_fit() -> None:
    """A hundred values of C: labels are thinned, colours remain."""
    from msvm_select.show.figures.heat import heat_map

    found = results(*(row(0.01 * i, 1.0, i % 7) for i in range(1, 101)))
    axes = heat_map(heat_map_of(found)).axes[0]
    assert not axes.texts
    assert len(axes.get_xticks()) < 101
    assert axes.get_xlabel() == "C"  # even steps: no logarithm


def test_the_curves_show_each_kind_in_its_panel(swept: Results) -> None:
    """Rates from 0, bounds on a log axis, dashed where they do not apply."""
    from msvm_select.show.figures.curves import curves

    bound = {"radius_margin": 500.0, "radius_margin_q": 7.0}
    rows = [
        replace(r, **bound, radius_margin_applicable=r.C > 2.0)
        for r in swept.rows
        if r.gamma == 1.0
    ]
    chart = curves_of(results(*rows))
    assert chart.chosen == 8.0
    assert chart.band[1] == (12.0, 20.0)
    rates, bounds, indices = curves(chart).axes
    assert rates.get_ylabel() == "error rate, %"
    assert (bounds.get_yscale(), rates.get_yscale()) == ("log", "linear")
    assert indices.get_ylabel() == "index, no unit"
    told = [text.get_text() for text in rates.get_legend().get_texts()]
    assert told == [
        "leave-one-out error rate",
        "its ambiguous band",
        "training errors",
        "best by loo: C=8",
    ]
    assert any(line.is_dashed() for line in bounds.lines if len(line.get_xdata()) == 2)
    values = [c.values for c in chart.bounds if c.column == "radius_margin"]
    assert values == [(1000.0, 1000.0, 1000.0)]  # 500 of 50 samples, in percent


def test_page_and_picture_have_the_same_curves(swept: Results) -> None:
    """The chosen setting comes first, with the values of the picture."""
    (bundle,) = bundles_of(swept, ["loo_rate", "sv_rate"])  # nobody asked for the other
    assert bundle.chosen == (8.0, 10.0)
    assert len(bundle.curves) == len(GAMMAS)
    assert bundle.curves[0] == curves_of(swept).rates[0]


def test_an_axis_has_round_values() -> None:
    """From 0; powers of ten beyond a ratio of 100."""
    even = Scale.upward([3.0, 17.0])
    assert (even.low, even.high, even.is_log) == (0.0, 17.0, False)
    assert even.ticks(5) == [0.0, 5.0, 10.0, 15.0]
    steep = Scale.upward([0.5, 2e6])
    assert steep.titled("bound") == "bound (logarithmic)"
    assert steep.ticks(5) == [1.0, 1e2, 1e4, 1e6]
    assert Scale.upward([0.0]).ticks(5)[0] == 0.0


def test_the_curves_show_each_cross_validation() -> None:
    """``cv:5`` and ``cv:10`` are two columns, and both are drawn as points."""
    from msvm_select.show.figures.curves import curves

    found = [row(C, 1.0, 5, cv_error=0.1, further={"cv10_error": 0.2}) for C in CS]
    chart = curves_of(results(*found))
    assert {c.column: c.values[0] for c in chart.rates} == {
        "loo_rate": 10.0,
        "cv_error": 10.0,
        "cv10_error": 20.0,
        "train_errors": 2.0,
    }
    (axes,) = curves(chart).axes
    names = {chart.rates[i].name for i in (1, 2)}
    points = {x.get_label() for x in axes.lines if x.get_linestyle() == "None"}
    assert len(names) == 2
    assert names <= points


def test_the_curves_are_of_the_setting_that_is_named(swept: Results) -> None:
    """Given with few digits; failed cells are gaps; an unknown one lists what is."""
    chart = curves_of(swept, None, {"kernel": "rbf", "gamma": 0.25000001})
    assert chart.setting == "rbf gamma=0.25"
    assert chart.troubled == (8.0,)
    assert math.isnan(chart.rates[0].values[2])
    with pytest.raises(Exception, match=r"'rbf gamma=1'"):
        curves_of(swept, None, {"gamma": 3.0})


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_files_of_each_kind(swept: Results, tmp_path: Path, ending: str) -> None:
    """By the ending, the same bytes each time, text as text in an SVG."""
    source = kept(swept, tmp_path / "two.json")
    paths = [tmp_path / f"{name}{ending}" for name in ("one", "again")]
    for path in paths:
        found = plot(source, "-o", path, "--dpi", "60")
        assert found.exit_code == 0, found.output
        assert found.output == f"Written: {path}\n"
    one, again = (path.read_bytes() for path in paths)
    assert one == again
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[ending]
    assert one.startswith(start)
    if ending == ".svg":
        words = "".join(ElementTree.fromstring(one).itertext())
        assert "best by loo: rbf gamma=1 C=8" in words


def test_the_size_is_that_which_is_asked_for(swept: Results, tmp_path: Path) -> None:
    """Inches times dots."""
    from matplotlib.image import imread

    source = kept(swept, tmp_path / "two.json")
    plot(source, "-o", tmp_path / "a.png", "--size", "5,4", "--dpi", "40")
    assert imread(tmp_path / "a.png").shape[:2] == (160, 200)


def test_results_may_come_through_a_pipe(swept: Results) -> None:
    """As csv, whose rows do not say what they were ranked by."""
    found = plot("-", "--ascii", stdin=render(swept, "csv"))
    assert found.exit_code == 0
    assert "* best by loo: rbf gamma=1 C=8 (10.0 %)" in found.stdout


def test_the_regions_of_a_machine(two: Path) -> None:
    """Axes in the data's units, every class, rings, and the errors when left out."""
    from msvm_select.show.charts.samples import plane_of
    from msvm_select.show.figures import samples as figures

    data = load_csv(two)
    model = fit(data, C=10, gamma=0.5)
    plane = plane_of(model, data)
    assert plane.meaning == "wrong when left out"
    assert np.allclose(plane.support, data.X[model.support])
    figure = figures.plane(plane, margins=True)
    axes = figure.axes[0]
    assert axes.get_xlabel() == "petal_length_cm"
    assert axes.get_xlim()[0] < 1.0 < 6.9 < axes.get_xlim()[1]
    told = [text.get_text() for text in axes.get_legend().get_texts()]
    assert told[:4] == ["ahead by 1", "setosa", "versicolor", "virginica"]
    wrong = int(plane.wrong.sum())
    assert told[4:] == [
        f"support vector ({model.support.size})",
        f"wrong when left out ({wrong} of 150)",
    ]


def test_left_out_errors_are_those_of_the_loo_command(two: Path) -> None:
    """The same number."""
    from msvm_select.show.charts.samples import plane_of

    data = load_csv(two)
    plane = plane_of(fit(data, C=2, gamma=1.0, scale="minmax"), data)
    options = ["--C", "2", "--gamma", "1", "--scale", "minmax", "--format", "json"]
    found = run("loo", str(two), *options, "-q")
    rows = json.loads(found.stdout)["rows"]
    assert plane.wrong.tolist() == [row["wrong"] for row in rows]


def test_other_data_have_errors_of_their_own(two: Path, tmp_path: Path) -> None:
    """They are crossed as such; to leave them out is refused."""
    model = tmp_path / "two.model.json"
    fit(load_csv(two), C=1, gamma=0.5).save(model)
    lines = two.read_text().splitlines()
    other = tmp_path / "other.csv"
    other.write_text("\n".join(lines[:100]) + "\n")
    figure = tmp_path / "regions.svg"
    found = plot("--boundary", model, other, "-o", figure)
    assert found.exit_code == 0, found.output
    assert ">wrong (" in figure.read_text()
    found = plot("--boundary", model, other, "--left-out", "-o", figure)
    assert found.exit_code == 2
    assert "is not what the model was trained on (two, 150 samples)" in found.stderr


def test_paths_of_the_samples(two: Path) -> None:
    """A line a sample; ten by name, the others in grey; a guide at the box."""
    from msvm_select.settings import settings_from
    from msvm_select.show.charts.samples import paths_of
    from msvm_select.show.figures.samples import paths

    settings = settings_from({"C": "0.1,1,10", "gamma": 0.5})
    chart = paths_of(load_csv(two), settings)
    assert chart.lines.shape == (150, 3)
    assert 0.0 <= chart.lines.min() <= chart.lines.max() <= 2.0
    axes = paths(chart).axes[0]
    named = {text.get_text() for text in axes.texts}
    assert named == {*(chart.names[i] for i in chart.named), "one alpha at C"}
    assert "the other 140" in [t.get_text() for t in axes.get_legend().get_texts()]
    norms = paths_of(load_csv(two), settings, "norm")
    assert norms.names == ("setosa", "versicolor", "virginica")
    assert (np.diff(norms.lines.sum(axis=0)) > 0.0).all()
    outputs = paths_of(load_csv(two), settings, "outputs")
    model = fit(load_csv(two), C=1, gamma=0.5)
    wrong = int((outputs.lines[:, 1] <= 0.0).sum())
    assert wrong == model.training.train_errors


def test_paths_on_the_command_line(two: Path, tmp_path: Path) -> None:
    """Written, with its name on stderr and nothing on stdout."""
    figure = tmp_path / "paths.png"
    found = plot("--paths", two, "--C", "1,10", "--of", "norm", "-o", figure)
    assert found.exit_code == 0, found.output
    assert found.stdout == ""
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("two.json",), 2, "-o FIGURE.png"),
        (("-o", "a.png"), 2, "takes RESULTS (a file that sweep -o wrote)"),
        (("two.json", "-o", "a.gif"), 2, "'.svg'"),
        (("two.json", "-o", "no/a.png"), 2, "there is no folder"),
        (("two.json", "-o", "a.png", "--by", "lo"), 2, "did you mean 'loo'"),
        (("two.json", "-o", "a.png", "--by", "cv"), 2, "--criteria cv"),
        (("two.json", "-o", "a.png", "--of", "norm"), 2, "but for --paths"),
        (("two.json", "-o", "a.png", "--size", "8"), 2, "as in 8,5"),
        (("two.json", "--ascii", "--curves"), 2, "give one"),
        (("tow.json", "-o", "a.png"), 3, "did you mean 'two.json'"),
        (("--curves", "two.json", "-o", "a.png", "--gamma", "1,2"), 2, "one gamma"),
        (("--boundary", "wide.json", "wide.csv", "-o", "a.png"), 2, "cut -d,"),
        (("--paths", "wide.csv", "--gamma", "1,2", "-o", "a.png"), 2, "there are 2"),
    ],
)
def test_what_cannot_be_drawn_is_told_with_a_way_out(
    arguments: tuple[str, ...],
    code: int,
    said: str,
    swept: Results,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No file is begun."""
    monkeypatch.chdir(tmp_path)
    kept(swept, tmp_path / "two.json")
    (tmp_path / "wide.csv").write_text("a,b,c,class\n1,2,3,x\n2,1,3,y\n0,2,1,x\n")
    fit(load_csv(tmp_path / "wide.csv"), gamma=1.0).save("wide.json")
    found = plot(*arguments)
    assert found.exit_code == code
    assert said in found.stderr
    assert not (tmp_path / "a.png").exists()


def test_all_failed_is_told_with_the_reason(tmp_path: Path) -> None:
    """There is nothing to draw, and why."""
    source = tmp_path / "two.csv"
    source.write_text(render(results(row(1.0, 1.0, None)), "csv"))
    found = plot(source, "--ascii")
    assert found.exit_code == 3
    assert "all 1 cells failed. The first: no memory." in found.stderr


def test_without_matplotlib_the_map_is_still_printed(
    swept: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pictures say what to install, exit 1; ``--ascii`` needs nothing."""
    source = kept(swept, tmp_path / "two.json")
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    found = plot(source, "-o", tmp_path / "a.png")
    assert found.exit_code == 1
    assert "pip install 'msvm-select[plot]'" in found.stderr
    assert plot(source, "--ascii").exit_code == 0


def test_a_name_is_never_a_formula(swept: Results) -> None:
    """Dollars, underscores and line ends stay what they are; letters that the font
    has not are told of.
    """
    from msvm_select.show.figures.heat import heat_map

    odd = replace(swept, data={"name": "a$_b$\n\u4e2d"})
    drawn = look.picture(lambda: heat_map(heat_map_of(odd)), "x.svg", 50)
    assert "a$_b$ \u4e2d: leave-one-out" in drawn.content.decode()
    assert "letters" in drawn.notes[0]


def test_scales_are_even_where_the_grid_is() -> None:
    """Geometric grids by their logarithms, arithmetic ones as they are."""
    assert Grid((0.5, 1.0, 2.0)).places == (-1.0, 0.0, 1.0)
    assert not Grid((1.0, 2.0, 3.0, 4.0)).is_log
    assert not Grid((0.0, 1.0)).is_log
    assert Grid((2.0,)).edges == (-0.5, 0.5)
    assert Grid((1.0, 2.0, 3.0)).edges == (0.5, 1.5, 2.5, 3.5)
    assert (compact(1e-7), compact(0.0078125), compact(1e6)) == (
        "1e-7",
        "0.0078125",
        "1e6",
    )
    assert list(thinned(10, 4)) == [0, 3, 6, 9]


def test_long_names_are_cut_in_the_middle() -> None:
    """On one line, and as long as there is room for."""
    assert short("a" * 40 + "z", 10) == "aaaaaa…aaz"
    assert short("kept as\nit is") == "kept as it is"


def test_pictures_open_no_window(
    swept: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backend that cannot work, and a style of one's own, change nothing."""
    import matplotlib

    from msvm_select.show.figures.heat import heat_map

    def draw() -> bytes:
        return look.picture(lambda: heat_map(heat_map_of(swept)), "x.png", 40).content

    plain = draw()
    monkeypatch.setenv("MPLBACKEND", "tkagg")
    monkeypatch.delenv("DISPLAY", raising=False)
    with matplotlib.rc_context({"font.size": 30.0}):
        assert draw() == plain
    assert io.BytesIO(plain).read(4) == b"\x89PNG"


def test_a_cell_that_the_sweep_chose_is_the_marked_one(tmp_path: Path) -> None:
    """By its criterion; by another one the best is."""
    few = results(row(8.0, 1.0, 5), row(2.0, 0.25, 6), row(0.5, 0.25, 9))
    chosen = choose(few, "1se")
    source = kept(chosen, tmp_path / "a.json")
    told = "chosen by loo, 1se"
    assert f"* {told}: rbf gamma=0.25 C=2 (12.0 %)" in plot(source, "--ascii").stdout
    other = plot(source, "--ascii", "--by", "train-errors").stdout
    assert "* best by train-errors" in other
    curves = curves_of(chosen)
    assert (curves.verdict, curves.chosen, curves.setting) == (
        told,
        2.0,
        "rbf gamma=0.25",
    )


@pytest.mark.parametrize("machine", ["ovo", "ova"])
def test_regions_of_other_machines_are_their_answers(
    machine: str, two: Path, tmp_path: Path
) -> None:
    """Every point of the plane is in the region of its class, ties of votes too."""
    from msvm_select.show.charts.samples import plane_of

    path = tmp_path / "two.json"
    data = load_csv(two)
    model = fit(data, machine=machine, gamma=1)
    model.save(path)
    plane = plane_of(model, data, left_out=False)
    grid = np.stack(np.meshgrid(plane.x, plane.y), axis=-1).reshape(-1, 2)
    there = plane.leads.reshape(3, -1).argmax(axis=0)
    assert np.array_equal(np.array(model.classes)[there], model.predict(grid))
    assert plane.cell.startswith(f"{machine} rbf")
    line = ("plot", "--boundary", path, two, "--margins", "-o", tmp_path / "x.png")
    refused = run(*line)
    assert refused.exit_code == 2
    assert "leads by 1" in refused.stderr


def test_paths_of_other_machines(tmp_path: Path) -> None:
    """Norms of one against all are those of its parts; pairs have none of a class."""
    from msvm_select.settings import settings_from
    from msvm_select.show.charts.samples import paths_of
    from msvm_select.train.along_C import train_cell

    data = load_csv(DATA / "iris.csv")
    values = {"kernel": "linear", "machine": "ova", "C": 2.0}
    drawn = paths_of(data, settings_from(values), "norm")
    parts = train_cell(data, settings_from(values)).solution.solutions()
    # a part as a machine of two outputs has w_1 = -w_2 = w/2
    norms = [np.sqrt(2.0 * solution.norm_w_squared) for _, solution in parts]
    assert np.allclose(drawn.lines[:, 0], norms, rtol=1e-6)
    assert drawn.setting.startswith("ova linear")
    line = ("plot", "--paths", DATA / "iris.csv", "--machine", "ovo", "--C", "1,2")
    for of, code in (("alpha", 0), ("outputs", 2), ("norm", 2)):
        found = run(*line, "--of", of, "-o", tmp_path / "x.png")
        assert found.exit_code == code
        assert (code == 0) or "those of pairs" in found.stderr

"""The page of a sweep, as text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
import tomllib
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from msvm_select import run_sweep
from msvm_select.cli import cli
from msvm_select.columns import Row
from msvm_select.model.examined import judged
from msvm_select.names import SOLVERS
from msvm_select.results.choosing import Choice
from msvm_select.results.ranking import Results, rank
from msvm_select.settings import Layer, settings_from, sweep_settings
from msvm_select.settings.values import parse_grid
from msvm_select.show.charts.curves import by_setting
from msvm_select.show.charts.scale import SHADES, Scale, colour, ink_on, luminance
from msvm_select.show.page.charts import Painting
from msvm_select.show.page.markup import EMPTY, el, script_data
from msvm_select.show.page.page import Report, render
from msvm_select.show.page.words import command_line, file_digest, grid_text
from msvm_select.solvers.exact.solver import Exact
from tests.conftest import DATA, run
from tests.show.pages import EVIL, SETTINGS, large, report, samples


class Page(HTMLParser):
    """What a browser would make of the text: elements, their texts, attributes."""

    def __init__(self, text: str) -> None:
        """All of it."""
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.texts: dict[str, list[str]] = {}
        self.by_id: dict[str, str] = {}
        self.ids: list[str | None] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in (*EMPTY, "meta"):
            self.open.append(tag)
            self.ids.append(dict(attrs).get("id"))
            self.texts.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        """An element that holds nothing."""
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        """The innermost element ends."""
        assert self.open.pop() == tag
        self.ids.pop()

    def handle_data(self, data: str) -> None:
        """Text, of every element around it."""
        for tag, id in zip(self.open, self.ids, strict=True):
            self.texts[tag][-1] += data
            if id:
                self.by_id[id] = self.by_id.get(id, "") + data


def test_the_page_says_how_sure_the_machine_is(text: str) -> None:
    """A bar a bin, with its numbers; the error in words; nothing without answers."""
    chart = report().reliability
    assert chart is not None
    page, bins = Page(text), list(chart.bins)
    told = f"xpected calibration error {chart.reliability.error:.4f}, on 40 samples"
    assert told in page.by_id["sure"]
    for one in bins:
        assert f"{one.name}: {one.samples:g} samples, claimed" in page.by_id["sure"]
    bare = Page(render(replace(report(), reliability=None)))
    assert "sure" not in bare.by_id


@pytest.fixture(scope="module")
def text() -> str:
    """The page of a sweep of two kernels."""
    return render(report())


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    """The same, parsed."""
    return Page(text)


def data_of(page: Page) -> Any:
    """What the page's script works on."""
    return json.loads(page.by_id["data"])


def test_every_element_is_closed(page: Page) -> None:
    """In the order in which they were opened."""
    assert page.open == []
    assert page.texts["main"]


def test_nothing_is_loaded(text: str, page: Page) -> None:
    """No address but those within the page, and the policy forbids any other."""
    links = [v for _, n, v in page.attributes if n in ("src", "href", "action")]
    assert len(links) > 5
    assert all(link and link.startswith("#") for link in links)
    assert "http:" not in text
    assert "https:" not in text
    assert set(re.findall(r"url\(.", text)) <= {"url(#"}
    assert ("meta", "http-equiv", "Content-Security-Policy") in page.attributes
    assert "default-src 'none'" in text.replace("&#x27;", "'")


def test_the_policy_names_the_only_script(text: str) -> None:
    """Its hash is that of what stands there; no handler is written inline."""
    script = text.partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"sha256-{digest}" in text
    assert text.count("<script") == 2
    assert not re.search(r"<[^>]+ on\w+=", text)


def test_every_link_leads_somewhere(page: Page) -> None:
    """Each anchor is the id of one element, and no id occurs twice."""
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    links = [v for _, name, v in page.attributes if name == "href" and v]
    assert {link[1:] for link in links} <= set(ids)


def test_each_cell_is_there_once(page: Page) -> None:
    """A row in the table, unrounded values in the data, a cell in a map."""
    rows = report().results.rows
    data = data_of(page)
    for column in ("kernel", "C", "gamma", "loo_rate", "gap"):
        at = data["columns"].index(column)
        assert [row[at] for row in data["rows"]] == [getattr(r, column) for r in rows]
    places = [int(v) for t, n, v in page.attributes if n == "data-row" and v]
    assert sorted(places) == sorted(2 * list(range(len(rows))))


def test_the_answer_is_one_sentence_with_its_error() -> None:
    """k of m samples, the rate and sqrt(p(1 - p)/m)."""
    found = report()
    assert found.chosen is not None
    errors, m = found.chosen.loo_errors, found.chosen.n_samples
    assert errors
    p = errors / m
    spread = 100 * (p * (1 - p) / m) ** 0.5
    (answer,) = [t for t in Page(render(found)).texts["p"] if "best by leave" in t]
    plain = answer.replace("\xa0", " ")
    assert f"{errors} of {m} samples" in plain
    assert f"{100 * p:.1f} % ± {spread:.1f} %" in plain


def test_the_answer_of_weighted_samples_is_that_of_the_table() -> None:
    """The share of the weights, and the error by the jackknife."""
    found = report()
    weighed = replace(found.chosen, loo_rate=0.25, error_se=0.09)
    others = [row for row in found.results.rows if row is not found.chosen]
    results = Results((weighed, *others), "loo", settings=found.results.settings)
    page = Page(render(replace(found, results=results)))
    text = " ".join(page.texts["p"]).replace("\xa0", " ")
    assert "error rate, by their weights, of 25.0 % ± 9.0 %" in text
    assert "jackknife, in which a group counts as one sample." in text


def test_the_confusion_matrix_counts_every_sample(page: Page) -> None:
    """Its rows are those of the leave-one-out of the chosen cell."""
    chart = report().confusion
    assert chart is not None
    matrix = chart.counts
    totals = matrix.sum(axis=1)
    wrong = totals - matrix[:, :-1].diagonal()
    shares = [f"{a} of {b}" for a, b in zip(wrong, totals, strict=True)]
    assert [share for share in page.texts["td"] if " of " in share][:3] == shares
    assert chart.errors == report().results.rows[0].loo_errors


def test_names_are_text_and_no_markup() -> None:
    """Whatever the classes and the data are called, they come out as they are."""
    found = Page(render(report(EVIL)))
    assert len(found.texts["script"]) == 2
    assert found.texts["h1"] == [EVIL[0]]
    assert all(name in found.texts["th"] for name in EVIL)


def test_data_for_a_script_cannot_end_it() -> None:
    """No angle bracket and no line separator is left; the value is the same."""
    markup = script_data(list(EVIL), "x")
    inner = markup.partition(">")[2].rpartition("<")[0]
    assert not set(inner) & set("<>&\u2028\u2029")
    assert json.loads(inner) == list(EVIL)


def test_an_element_quotes_text_but_not_elements() -> None:
    """Text in an attribute, too; None and False are left out."""
    made = el(
        "p", "a<b", el("b", "c"), class_='"x"', hidden=False, title=None, data_i=0
    )
    assert made == '<p class="&quot;x&quot;" data-i="0">a&lt;b<b>c</b></p>'


def test_failed_cells_are_told_and_marked() -> None:
    """Their reason stands in the notes, their map has crosses and no shade."""
    data = samples()
    settings = settings_from({"kernel": ["sigmoid", "linear"], "C": "1,2", "gamma": 9})
    results = run_sweep(data, settings)
    assert results.count("failed") == 2
    painting = Painting(results, "loo_rate").data()
    assert painting["texts"][2:] == ["\N{MULTIPLICATION SIGN}"] * 2
    assert painting["styles"][2:] == ["failed"] * 2
    notes = Page(render(Report(results))).texts["li"]
    assert any("2 cells failed: the Gram matrix is indefinite" in n for n in notes)


@pytest.mark.parametrize(
    ("criteria", "told"),
    [
        ("loo", set()),
        ("loo,cv:3", {"seed"}),
        ("loo,vc", {"dimension"}),
        ("loo,guaranteed-risk", {"delta", "maurey_c", "union", "dimension"}),
    ],
)
def test_settings_that_no_criterion_uses_are_not_told(
    criteria: str, told: set[str]
) -> None:
    """The constants of a bound only where the sweep has that bound."""
    given = {"C": 1, "kernel": "linear", "criteria": criteria, "dimension": 3}
    results = run_sweep(samples(), settings_from(given))
    names = set(Page(render(Report(results))).texts["dt"])
    of_bounds = {"delta", "maurey_c", "union", "dimension", "seed"}
    assert names & of_bounds == told
    assert {"kernel", "C", "scale"} <= names


def test_reasons_that_differ_in_a_number_are_told_once() -> None:
    """With their count and the first of them."""
    why = "the Gram matrix is indefinite (smallest eigenvalue {})"
    rows = [
        Row(kernel="sigmoid", C=C, status="failed", status_reason=why.format(-C / 8))
        for C in (1.0, 2.0, 4.0)
    ]
    notes = Page(render(Report(Results(rank(rows, "loo"), "loo")))).texts["li"]
    (told,) = [note for note in notes if "failed" in note and "cells" in note]
    assert told == f"3 cells failed; the first: {why.format(-0.125)}."


def test_a_sweep_without_an_answer_has_a_page() -> None:
    """Every cell failed: it says so, and shows no certificate."""
    settings = settings_from({"kernel": "sigmoid", "C": "1,2", "gamma": 9})
    found = Page(render(Report(run_sweep(samples(), settings))))
    assert any("none has a score by loo" in text for text in found.texts["p"])
    assert "confusion" not in found.by_id


def test_an_interrupted_sweep_says_so() -> None:
    """How many cells of how many, and why there is no confusion matrix."""
    part = replace(report(), cells=99, confusion=None, why_not="it was cut short.")
    told = " ".join(Page(render(part)).texts["p"])
    assert "12 of 99 cells are done" in told
    assert "No confusion matrix: it was cut short." in told


def test_a_single_cell_has_no_curves() -> None:
    """One C is no axis; the page stands all the same."""
    found = Page(render(Report(run_sweep(samples(), C=1, kernel="linear"))))
    assert "along-c" not in found.by_id
    assert "over-the-grid" in found.by_id


def test_rows_alone_have_a_page() -> None:
    """Results that were read back from a csv: no data, no settings, no versions."""
    rows = rank([Row(kernel="linear", C=1.0, loo_rate=0.5, n_samples=4)], "loo")
    found = Page(render(Report(Results(rows, "loo"), why_not="the samples are away.")))
    assert found.texts["h1"] == ["Results"]


def test_a_painting_marks_the_best_by_its_own_score() -> None:
    """Not that of the ranking; bounds that do not apply have no shade."""
    results = report().results
    for column in ("sv_rate", "train_errors"):
        first = Painting(results, column).data()["first"]
        assert first is not None
        least = min(getattr(row, column) for row in results.rows)
        assert getattr(results.rows[first], column) == least
    styles = Painting(results, "radius_margin").data()["styles"]
    for row, style in zip(results.rows, styles, strict=True):
        shaded = style.startswith("s")
        assert shaded == bool(row.radius_margin_applicable)


def test_many_cells_stay_small() -> None:
    """A thousand cells in nearly all columns are less than 3 MB."""
    assert len(render(large()).encode()) < 3_000_000


def test_shades_keep_their_order_in_grey_and_their_text_readable() -> None:
    """Darker from step to step; every text has a contrast of 4.5 or more."""
    light = [luminance(colour(shade)) for shade in range(SHADES)]
    assert all(a > b for a, b in pairwise(light))
    for value, shade in zip(light, range(SHADES), strict=True):
        other = 1.0 if ink_on(colour(shade)) == "#fff" else 0.0
        high, low = max(value, other), min(value, other)
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_the_scale_goes_from_the_least_to_the_largest() -> None:
    """Bright for the least; of the logarithm where the values span much."""
    scale = Scale.over([0.0, 5.0, 10.0])
    assert [scale.level(v, SHADES) for v in (0.0, 10.0)] == [0, SHADES - 1]
    wide = Scale.over([1.0, 100.0, 10_000.0])
    assert wide.share(100.0) == pytest.approx(0.5)
    assert Scale.over([3.0]).level(3.0, SHADES) == 0


@pytest.mark.parametrize(
    "typed",
    [
        "2^-3:2^9:7",
        "0.01:0.5:+0.01",
        "0.1,1,10",
        "1e-5:3:9",
        "-2:2:+0.5",
        "7",
        "-1,0,1",
    ],
)
def test_a_grid_is_told_as_it_is_read(typed: str) -> None:
    """The text stands for exactly the same values, and is no longer than need be."""
    values = parse_grid(typed)
    assert parse_grid(grid_text(values)) == values
    assert len(grid_text(values)) < 30


@pytest.mark.parametrize(
    ("reading", "values"),
    [
        ({}, {}),
        ({"target": "my class", "one_hot": ("a b", "c"), "no_header": True}, SETTINGS),
        ({}, {"kernel": "sigmoid", "coef0": "-1,0", "warm_start": False, "gap": 1e-4}),
        ({}, {"kernel": "rbf", "sigma": "1:8:4", "criteria": "cv:3,loo", "loss": "l2"}),
        (
            {},
            {"rank_by": "sv-rate", "criteria": "loo,sv-rate", "seed": 3, "delta": 0.1},
        ),
        ({}, {"select": "1se", "C": "0.01:0.5:+0.01", "jobs": 2}),
    ],
)
def test_the_command_sweeps_alike(
    reading: dict[str, Any], values: dict[str, Any]
) -> None:
    """The line, split as a shell does, comes to the same settings and reading."""
    settings = sweep_settings([Layer(values)])
    line = shlex.split(command_line("my data.csv", reading, settings, "a b.html"))
    assert line[:3] == ["msvm-select", "sweep", "my data.csv"]
    shown = CliRunner().invoke(cli, [*line[1:], "--show-config"])
    assert shown.exit_code == 0, shown.output
    found = tomllib.loads(shown.stdout)
    for name, value in settings.deciding().items():
        told = found.get(name)
        assert value == (tuple(told) if isinstance(told, list) else told), name
    for name, value in reading.items():
        assert found[name] == (list(value) if isinstance(value, tuple) else value)


def test_the_chosen_cell_is_that_of_the_sweep() -> None:
    """Also where sigma was asked for, or gamma came from the data."""
    data = samples()
    for values in ({"sigma": "1,2"}, {"kernel": ["linear", "rbf"]}):
        settings = settings_from({"C": "1,4", **values})
        for row in run_sweep(data, settings).rows:
            found = judged(data, settings, row)
            assert found.left_out.errors == row.loo_errors
            assert found.solution.n_sv == row.n_sv


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    """What ``sha256sum`` prints; none of standard input."""
    file = tmp_path / "x"
    file.write_bytes(b"abc")
    assert str(file_digest(str(file))).startswith("ba7816bf8f01cfea")
    assert file_digest("-") is None


class Deaf(Exact):
    """A solver that Ctrl-C reaches when the first sample is left out."""

    name = "deaf"

    def leave_out(self, *arguments: Any, **more: Any) -> Any:
        """Does not come to it."""
        raise KeyboardInterrupt


class Stopped(Exact):
    """A solver that Ctrl-C reaches at its second cell."""

    name = "stopped"
    cells = 0

    def solve(self, *arguments: Any, **more: Any) -> Any:
        """As exact does, the first time."""
        type(self).cells += 1
        if type(self).cells > 1:
            raise KeyboardInterrupt
        return super().solve(*arguments, **more)


def sweep(*arguments: object) -> Any:
    """The command, on iris."""
    line = ["sweep", str(DATA / "iris.csv"), "--quiet", *map(str, arguments)]
    return run(*line)


def test_the_sweep_writes_it(tmp_path: Path) -> None:
    """Beside its table, with the file's hash and the line that makes it again."""
    path = tmp_path / "out.html"
    done = sweep("--C", "1,2", "--kernel", "linear", "--report", path)
    assert done.exit_code == 0
    assert "loo_rate" in done.stdout
    page = Page(path.read_text(encoding="utf-8"))
    assert page.by_id["command"].endswith(f"--report {path}")
    assert str(file_digest(str(DATA / "iris.csv"))) in page.texts["dd"]
    assert "confusion" in page.by_id


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("none/out.html", "no folder"),
        (".", "folder"),
        ("-", "name"),
        ("same.csv", "overwrite"),
    ],
)
def test_an_impossible_page_is_told_before_the_sweep(
    path: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 2, nothing trained, nothing written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(SOLVERS, "exact", Stopped)
    done = sweep("-o", "same.csv", "--report", path)
    assert done.exit_code == 2
    assert word in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_a_page_of_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One cell of three: exit 130, and the page says so."""
    monkeypatch.setitem(SOLVERS, "stopped", Stopped)
    monkeypatch.setattr(Stopped, "cells", 0)
    path = tmp_path / "out.html"
    grid = ("--C", "1,2,4", "--gamma", "1")
    done = sweep(*grid, "--solver", "stopped", "--report", path)
    assert done.exit_code == 130
    assert "1 of 3 cells are done" in path.read_text(encoding="utf-8")


def test_ctrl_c_while_judging_still_leaves_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All cells are there, the confusion matrix is not; exit 130."""
    monkeypatch.setitem(SOLVERS, "deaf", Deaf)
    path = tmp_path / "out.html"
    line = ("--C", 1, "--criteria", "sv-rate", "--solver", "deaf")
    done = sweep(*line, "--report", path)
    assert done.exit_code == 130
    page = path.read_text(encoding="utf-8")
    assert "No confusion matrix: judging the samples" in page
    assert "was interrupted:" not in page


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_rows_that_were_kept_become_a_page(ending: str, tmp_path: Path) -> None:
    """``rank --report``: all but the confusion matrix, which needs the samples."""
    kept, path = tmp_path / f"rows.{ending}", tmp_path / "out.html"
    assert sweep("--C", "1,2", "--kernel", "linear", "-o", kept).exit_code == 0
    line = ["rank", str(kept), "--by", "n_sv", "--report", str(path)]
    done = run(*line)
    assert done.exit_code == 0
    page = Page(path.read_text(encoding="utf-8"))
    assert any("is the best by n_sv" in text for text in page.texts["p"])
    assert any("does not hold the samples" in text for text in page.texts["p"])
    same = CliRunner().invoke(cli, [*line[:-1], str(kept)])
    assert same.exit_code == 2


def test_the_bold_line_is_that_of_the_chosen_cell() -> None:
    """Also where one standard error chose another than the first of the ranking."""
    rows = report().results.rows
    other = next(row for row in rows if row.gamma != rows[0].gamma)
    choice = Choice("1se", other, tied=1, eligible=7, limit=0.1)
    results = replace(report().results, choice=choice)
    first = next(iter(by_setting(results).values()))
    assert other in first
    assert [row.C for row in first] == sorted(row.C for row in first)
    assert "simplest of the 7 within one standard error" in render(Report(results))

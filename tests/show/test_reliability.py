"""The reliability diagram: its bins, in characters and as a picture."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from msvm_select import load_csv, load_model, run_sweep
from msvm_select.model.examined import judged
from msvm_select.settings import settings_from
from msvm_select.show.charts.reliability import reliability_of, reliability_of_each
from msvm_select.show.text import ASCII_SHADES, reliability_text
from tests.conftest import DATA, run
from tests.show.pages import samples

GLASS = DATA / "glass.csv"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Glass, with a class whose samples are hard to tell."""
    path = tmp_path_factory.mktemp("model") / "glass.json"
    line = ("fit", GLASS, "--machine", "ovo", "--C", 8, "--gamma", 0.125)
    assert run(*line, "--probabilities", "-q", "-o", path).exit_code == 0
    return path


def test_the_bins_are_those_of_the_model(model: Path) -> None:
    """Those with samples; all of them together."""
    trained = load_model(model)
    chart = reliability_of(trained)
    bins = list(chart.bins)
    assert sum(one.samples for one in bins) == 214
    assert sum(one.share for one in bins) == pytest.approx(1.0)
    assert all(one.low <= one.claimed <= one.high for one in bins)
    error = sum(one.share * abs(one.claimed - one.right) for one in bins)
    assert chart.reliability.error == pytest.approx(error)
    assert f"{error:.4f}, on 214 samples that were left out" in chart.verdict


def test_of_new_samples_the_predictions_are_judged(model: Path) -> None:
    """By the share that is right; a class that the model does not know never is."""
    trained, data = load_model(model), load_csv(GLASS)
    chart = reliability_of(trained, data)
    right = sum(one.samples * one.right for one in chart.bins)
    labels = np.array(data.classes)[data.y]
    assert right == pytest.approx((trained.predict(data) == labels).sum())


def test_the_bars_are_as_long_as_the_shares(model: Path) -> None:
    """With a mark where they are claimed to end, within the width."""
    chart = reliability_of(load_model(model))
    lines = reliability_text(chart, 80, ASCII_SHADES).splitlines()
    assert all(len(line) <= 80 for line in lines)
    head = next(line for line in lines if line.startswith("probability"))
    room = 80 - len(head) - 4
    for one in chart.bins:
        (line,) = (line for line in lines if line.startswith(one.name))
        bar = line[len(head) + 2 :]
        claimed, right = round(one.claimed * room), round(one.right * room)
        assert bar.index("|") == claimed
        assert bar.count("O") == right - (claimed < right)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_picture(model: Path, ending: str, tmp_path: Path) -> None:
    """With the error in its title; of the same bytes each time."""
    paths = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for path in paths:
        result = run("plot", "--reliability", model, "-o", path)
        assert (result.exit_code, result.stderr) == (0, f"Written: {path}\n")
    one, two = (path.read_bytes() for path in paths)
    assert one == two
    if ending == "svg":
        text = one.decode()
        assert "expected calibration error 0." in text
        assert "as often right as claimed" in text


def test_in_characters(model: Path) -> None:
    """Of the left-out samples, or those of DATA, on stdout."""
    result = run("plot", "--reliability", model, "--ascii")
    assert result.exit_code == 0
    assert result.stdout.startswith("glass: how often it is right")
    result = run("plot", "--reliability", model, GLASS, "--ascii")
    assert "on 214 samples of known classes" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("words", "told", "code"),
    [
        ((), "takes MODEL and [DATA]", 2),
        (("model", "--ascii", "-o", "x.png"), "-o is not for plot --ascii", 2),
        (("model",), "give -o FIGURE", 2),
        (("model", "--curves"), "two pictures", 2),
        (("model", "bare.csv", "--ascii"), "no class column", 3),
        (("plain.json", "--ascii"), "The model knows no probabilities", 3),
        (("nowhere.json", "--ascii"), "No such file", 3),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    model: Path,
    words: tuple[str, ...],
    told: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In words, with the way out."""
    monkeypatch.chdir(tmp_path)
    header, *lines = GLASS.read_text().splitlines()
    bare = [line.rpartition(",")[0] for line in (header, *lines[:5])]
    Path("bare.csv").write_text("\n".join(bare) + "\n")
    run("fit", GLASS, "--C", 1, "-q", "-o", "plain.json")
    line = [str(model) if word == "model" else word for word in words]
    result = run("plot", "--reliability", *line)
    assert result.exit_code == code, result.stderr
    assert told in result.stderr


def test_the_page_says_that_no_group_was_left_out() -> None:
    """Its samples are left out one by one, as ``fit`` does it only without groups."""
    data, settings = samples(), settings_from({"C": 1.0, "gamma": 0.5})
    grouped = replace(data, groups=np.arange(data.m) % 5)
    for given, said in ((data, "left out"), (grouped, "one by one, not by groups")):
        row = run_sweep(given, settings).best
        assert row is not None
        chart = reliability_of_each(judged(given, settings, row))
        assert chart.verdict.endswith(said)

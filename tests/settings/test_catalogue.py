"""The catalogue: every option said once, light to import, true wherever it is used."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import click
import numpy as np
import pytest

from msvm_select import columns
from msvm_select.cli import cli, options
from msvm_select.data.options import ReadOptions
from msvm_select.errors import SettingsError
from msvm_select.names import KERNELS
from msvm_select.settings import (
    PARAMETERS,
    Layer,
    Settings,
    settings_from,
    sweep_settings,
)
from msvm_select.settings.catalogue import (
    KERNEL,
    NOT_DECIDING,
    ON_THE_LINE,
    READING,
    SETTINGS,
    TRAINING,
)
from msvm_select.settings.settings import default_gamma, gamma_value
from tests.conftest import IRIS, run

EVERY = cli.list_commands(click.Context(cli))
HEAVY = {"numpy", "scipy", "numba", "pandas", "rich", "qpsolvers", "osqp"}
ROOMS = {"settings", "columns", "names", "errors", "phrases"}


def params(name: str) -> dict[str, click.Parameter]:
    """The parameters of a command, by name."""
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return {param.name or "": param for param in found.params}


@pytest.mark.parametrize("module", ["settings", "columns", "names"])
def test_importing_the_settings_loads_nothing_heavy(module: str) -> None:
    """No numba, no solver, no scipy, and of this package only the light rooms."""
    code = f"import sys, msvm_select.{module}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert not HEAVY & set(loaded)
    rooms = {name.split(".")[1] for name in loaded if name.startswith("msvm_select.")}
    assert rooms <= ROOMS


def test_the_catalogue_has_every_setting_and_every_option_of_reading() -> None:
    """The fields of the records, under their names."""
    assert set(SETTINGS) == set(Settings.__dataclass_fields__)
    own = {
        "no_header" if n == "header" else n for n in ReadOptions.__dataclass_fields__
    }
    assert set(READING) == own - {"seed"}  # a setting, which reading is told of
    assert not (set(SETTINGS) & set(READING)) | (set(SETTINGS) & set(ON_THE_LINE))


def test_what_does_not_decide_is_how_rows_are_got_and_shown() -> None:
    """A journal goes on although these were changed."""
    assert set(NOT_DECIDING) == {
        *("jobs", "time_budget", "top", "format", "select", "extend"),
        *("fail_above", "fail_below", "shard"),
        *("cluster", "tls_ca", "tls_cert", "tls_key"),
        *("require_applicable", "require_converged"),
    }


@pytest.mark.parametrize("name", [n for n, one in SETTINGS.items() if one.joins])
def test_a_list_that_is_given_twice_is_joined(name: str) -> None:
    """``--gamma 0.1 --gamma 1`` sweeps both."""
    first, second = {
        "kernel": ("linear", "rbf"),
        "criteria": ("loo", "sv-rate"),
        "metric": ("auc", "log-loss"),
        "low_rank": ("5", "9"),
    }.get(name, ("0.25", "1"))
    kernel = {"degree": "polynomial", "coef0": "sigmoid"}.get(name)
    more = [] if kernel is None else ["--kernel", kernel]
    flag = SETTINGS[name].spelled[0]
    line = ["sweep", IRIS, *more, flag, first, flag, second, "--show-config"]
    shown = run(*line)
    assert shown.exit_code == 0, shown.output
    joined = run("sweep", IRIS, *more, flag, f"{first},{second}", "--show-config")
    assert shown.stdout == joined.stdout


@pytest.mark.parametrize(
    "line",
    [
        ("sweep", IRIS, "--id-column", "a", "--id-column", "b"),
        ("sweep", IRIS, "--gap", "1e-3", "--gap", "1e-8"),
        ("sweep", IRIS, "--rank-by", "loo", "--rank-by", "cv"),
        ("sweep", IRIS, "-o", "a.csv", "--output", "b.csv"),
        ("check", IRIS, "--target", "class", "--target", "x"),
        ("plot", "a.json", "-o", "a.png", "--dpi", "90", "--dpi", "100"),
        ("experiment", "three-gaussians", "--sets", "1", "--sets", "2"),
    ],
    ids=lambda line: line[-2],
)
def test_one_value_is_not_given_twice(line: tuple[object, ...]) -> None:
    """The first would be lost without a word."""
    result = run(*line)
    assert result.exit_code == 2
    assert f"{line[-2]} is given 2 times; it takes one value" in result.stderr


def test_a_switch_may_be_turned_back() -> None:
    """The last word counts, so that an alias of the shell can be overruled."""
    shown = run("sweep", IRIS, "--union", "--no-union", "--show-config")
    assert "union = false" in shown.stdout


def test_the_words_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    """``poly``, and gamma by ``scale`` and ``auto``, from the line and around it."""
    said = run(
        *("sweep", IRIS, "--kernel", "poly", "--gamma", "auto,0.5", "--show-config")
    )
    assert 'kernel = ["polynomial"]' in said.stdout
    assert 'gamma = [0.5, "auto"]' in said.stdout
    monkeypatch.setenv("MSVM_SELECT_GAMMA", "scale")
    assert 'gamma = ["scale"]' in run("sweep", IRIS, "--show-config").stdout
    assert settings_from({"kernel": "poly", "gamma": ["scale", 2]}).gamma == (
        2.0,
        "scale",
    )
    with pytest.raises(SettingsError, match="'skale' is not a number"):
        settings_from({"gamma": "skale"})


def test_gamma_from_the_data() -> None:
    """auto is 1/n, scale 1/(n variance) of the scaled features; each value once."""
    X = np.array([[0.0, 2.0, 1.0, 1.0], [2.0, 0.0, 3.0, 1.0]])
    assert gamma_value("auto", X) == 0.25
    assert gamma_value("scale", X) == default_gamma(X) == 1.0 / (4 * X.var())
    settings = settings_from({"gamma": "0.25,auto,scale"})
    gammas = [kernel.parameters["gamma"] for kernel in settings.kernels(X)]
    assert gammas == sorted({0.25, default_gamma(X)})
    polynomial = settings_from({"kernel": "poly", "gamma": "scale"})
    assert polynomial.kernels(X)[0].parameters["gamma"] == default_gamma(X)
    assert settings_from({"kernel": "poly"}).kernels(X)[0].parameters["gamma"] == 1.0


def test_gamma_by_a_word_is_swept(tmp_path: Path) -> None:
    """The same rows, beside others; and results are read again."""
    grid = ("sweep", IRIS, "--C", "1,4", "--format", "json")
    words = run(*grid, "--gamma", "scale,0.5", "-o", tmp_path / "a.json")
    assert words.exit_code == 0, words.output
    rows = json.loads((tmp_path / "a.json").read_text())["rows"]
    plain = json.loads(run(*grid, "--gamma", "scale").stdout)["rows"]
    assert {row["gamma"] for row in plain} < {row["gamma"] for row in rows}
    again = run("rank", tmp_path / "a.json", "--by", "n_sv", "--format", "csv")
    assert again.exit_code == 0, again.output


@pytest.mark.parametrize(
    "name", ["sweep", "run", "fit", "loo", "bound", "margins", "compare"]
)
def test_the_commands_that_talk_can_say_more(name: str) -> None:
    """``-v`` beside ``-q``."""
    assert params(name)["verbose"].opts == ["-v", "--verbose"]
    assert "quiet" in params(name)


@pytest.mark.parametrize("name", EVERY)
def test_an_option_of_one_name_is_one_option(name: str) -> None:
    """Whatever command takes it, a catalogue option has the catalogue's flags."""
    every = {**ON_THE_LINE, **READING, **SETTINGS}
    for key, param in params(name).items():
        if key in every and isinstance(param, click.Option) and key != "form":
            flags = {*param.opts, *param.secondary_opts}
            spelled = set("/".join(every[key].spelled).split("/"))
            if key == "low_rank" and "rank" in params(name):  # whose --rank may mean it
                spelled -= {"--rank"}
            assert flags == spelled


@pytest.mark.parametrize(
    "name", ["sweep", "run", "compare", "fit", "loo", "bound", "margins", "plot"]
)
def test_every_command_that_trains_takes_the_options_of_training(name: str) -> None:
    """Such an option needs its entry in the catalogue and nothing else."""
    sweeps = name in ("sweep", "run", "compare")
    wanted = {
        key
        for key, one in SETTINGS.items()
        if one.heading in (KERNEL, TRAINING) and (sweeps or not one.of_grids)
    }
    if name == "compare":
        wanted -= {"extend", "time_budget", "shard"}
    assert wanted <= set(params(name))


def test_the_parameters_of_kernels_are_the_same_in_both_tables() -> None:
    """The catalogue has those of the columns, and sigma, which stands for gamma.

    A rank is of no kernel, but of what stands for its matrix.
    """
    assert set(PARAMETERS) == {*columns.PARAMETERS, "sigma"}
    own = {one.name for kind in KERNELS.values() for one in fields(kind)}
    assert own | {"low_rank"} == set(columns.PARAMETERS)


def test_options_are_made_from_the_catalogue_alone() -> None:
    """No command declares one by itself; --version and --debug are the group's."""
    folder = Path(options.__file__).parent
    own = {path.stem for path in folder.glob("*.py") if "click.option(" in _code(path)}
    assert own == {"options", "__init__"}


def _code(path: Path) -> str:
    return path.read_text(encoding="utf-8").replace("click.Option(", "click.option(")


def test_without_a_grid_gamma_is_tried_and_the_grid_grows() -> None:
    """7 values of C, 5 of gamma around scale; every grid that is said counts alone."""
    X = np.random.default_rng(0).normal(size=(60, 4)) * [1, 2, 3, 4]
    every = sweep_settings([])
    assert (len(every.C), every.gamma, every.extend) == (7, ("around",), 2)
    scale = default_gamma(X)
    gammas = every.on(X).gamma
    assert gammas is not None
    assert gammas == pytest.approx([scale * 4.0**k for k in range(-2, 3)], rel=1e-11)
    assert [k.parameters["gamma"] for k in every.kernels(X)] == list(gammas)
    only_C = sweep_settings([Layer({"C": "1,2"})])
    assert (only_C.gamma, only_C.extend) == (("around",), 0)
    only_gamma = sweep_settings([Layer({"gamma": "scale"})])
    assert (only_gamma.gamma, only_gamma.extend) == (("scale",), 0)
    by_sigma = sweep_settings([Layer({"sigma": "1,2"})])
    assert (by_sigma.gamma, by_sigma.extend) == (None, 0)
    assert sweep_settings([Layer({"extend": 0})]).extend == 0
    assert sweep_settings([Layer({"C": 1, "extend": 3})]).extend == 3


@pytest.mark.parametrize(
    ("kernel", "count"),
    [("linear", 1), ("polynomial", 1), ("precomputed", 1), ("sigmoid", 5)],
)
def test_other_kernels_without_a_grid(kernel: str, count: int) -> None:
    """They are widened along C; the polynomial's gamma is 1."""
    X = np.eye(6) + 1.0
    settings = sweep_settings([Layer({}), Layer({"kernel": kernel})])
    assert (len(settings.kernels(X)), settings.extend) == (count, 2)
    both = sweep_settings([Layer({"kernel": "polynomial,rbf"})])
    assert both.on(X) == both  # the two do not have the same values
    found = [kernel.parameters["gamma"] for kernel in both.kernels(X)]
    assert found[0] == 1.0
    assert len(found) == 6


def test_one_machine_has_one_gamma() -> None:
    """The settings of ``fit`` and its like are not those of a sweep."""
    assert settings_from({}).gamma is None
    assert len(settings_from({}).kernels(np.eye(3))) == 1
    shown = run("loo", IRIS, "--gamma", "around", "--C", "1")
    assert shown.exit_code == 2


def test_extend_is_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """``--no-extend``; MSVM_SELECT_EXTEND and a file's extend count as before."""
    line = ("sweep", IRIS, "--show-config")
    assert "extend = 2" in run(*line).stdout
    assert "extend = 0" in run(*line, "--no-extend").stdout
    assert "extend = 0" in run(*line, "--kernel", "linear", "--C", "1").stdout
    assert "extend = 2" in run(*line, "--kernel", "linear").stdout
    both = run(*line, "--extend", "1", "--no-extend")
    assert (both.exit_code, "both given" in both.stderr) == (2, True)
    monkeypatch.setenv("MSVM_SELECT_EXTEND", "1")
    assert "extend = 1" in run(*line).stdout
    monkeypatch.setenv("MSVM_SELECT_C", "1,2")
    monkeypatch.delenv("MSVM_SELECT_EXTEND")
    assert "extend = 0" in run(*line).stdout

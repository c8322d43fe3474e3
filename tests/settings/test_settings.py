"""Grids, settings and TOML: what is understood, and what is refused in words."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msvm_select.errors import SettingsError
from msvm_select.kernels.rbf import Rbf
from msvm_select.settings import Settings, default_gamma, settings_from
from msvm_select.settings.config import load_config, to_toml
from msvm_select.settings.values import parse_grid

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.1,1,10", (0.1, 1.0, 10.0)),
        ("10, 1,0.1,1", (0.1, 1.0, 10.0)),
        ("2^-3:2^9:7", (0.125, 0.5, 2.0, 8.0, 32.0, 128.0, 512.0)),
        ("0.125:512:7", (0.125, 0.5, 2.0, 8.0, 32.0, 128.0, 512.0)),
        ("1e-4:1:5", (1e-4, 1e-3, 1e-2, 1e-1, 1.0)),
        ("1:2:+0.3", (1.0, 1.3, 1.6, 1.9)),
        ("0:3:+1", (0.0, 1.0, 2.0, 3.0)),
        ("2^-1,3,10:40:3", (0.5, 3.0, 10.0, 20.0, 40.0)),
        ("-1,-2^2", (-4.0, -1.0)),
        (5, (5.0,)),
        ([1, "2^3", 0.1], (0.1, 1.0, 8.0)),
        (np.array([1.0, 0.5]), (0.5, 1.0)),
    ],
)
def test_a_grid_is_read_in_each_of_its_forms(
    text: Any, values: tuple[float, ...]
) -> None:
    """Lists, geometric and arithmetic ranges, powers: exact, ascending, each once."""
    assert parse_grid(text) == values


def test_steps_of_a_hundredth_are_the_decimals_one_would_type() -> None:
    """0.01:0.5:+0.01 has 50 values without a rounding tail, its end included."""
    assert parse_grid("0.01:0.5:+0.01") == tuple(i / 100 for i in range(1, 51))


@given(st.integers(-60, 60), st.integers(1, 12), st.integers(1, 8))
def test_powers_of_two_are_exact(low: int, step: int, count: int) -> None:
    """A geometric range between powers of two, by whole exponents, holds such."""
    grid = parse_grid(f"2^{low}:2^{low + step * count}:{count + 1}")
    assert grid == tuple(2.0 ** (low + step * i) for i in range(count + 1))


@given(st.floats(1e-300, 1e300), st.floats(1.001, 1e5), st.integers(2, 40))
def test_a_geometric_range_keeps_its_ends_and_its_ratio(
    low: float, factor: float, count: int
) -> None:
    """The ends are what was typed, and neighbours have one ratio."""
    high = low * factor
    grid = parse_grid(f"{low!r}:{high!r}:{count}")
    assert (grid[0], grid[-1], len(grid)) == (low, high, count)
    ratios = [math.log(b) - math.log(a) for a, b in zip(grid, grid[1:], strict=False)]
    assert max(ratios) - min(ratios) < 1e-9


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a number"),
        ("1,,2", "not a number"),
        ("x", "2^-3:2^9:7"),
        ("nan", "not a number"),
        (float("nan"), "not a number"),
        ("1e999", "too large"),
        ("2^99999", "no finite number"),
        ("0^-1", "no finite number"),
        ("(-1)^.5", "not a number"),
        ("5:1:3", "reversed"),
        ("1:1:3", "reversed"),
        ("1:5:1", "2 or more"),
        ("1:5:3.5", "2 or more"),
        ("1:5", "no known form"),
        ("1:5:+0", "greater than 0"),
        ("0:1:3", "ends greater than 0"),
        ("1:2:10000000", "1,000,000"),
        ("0:1:+1e-9", "1,000,000"),
        ([], "empty"),
        ("9" * 5000, "not a number"),
    ],
)
def test_a_grid_of_no_form_is_refused_with_the_forms(text: Any, said: str) -> None:
    """The message names the setting and what is wrong with the text."""
    with pytest.raises(SettingsError, match="^C") as caught:
        parse_grid(text, "C")
    assert said in str(caught.value)


QUARTER = np.array([[1.0, -1.0, 1.0, -1.0]])  # 1/(features x variance) is 1/4


def test_defaults_make_a_whole_sweep() -> None:
    """With nothing given: rbf at its default gamma, 7 values of C, by loo."""
    settings = settings_from({})
    assert settings == Settings()
    assert settings.kernels(QUARTER) == (Rbf(0.25),)
    assert parse_grid("2^-3:2^9:7") == settings.C
    assert settings.rank_by == settings.criteria[0] == "loo"


def test_sigma_is_another_way_to_write_gamma() -> None:
    """Sigma gives gamma = 1/(2 sigma^2), listed from the smoothest on."""
    kernels = settings_from({"sigma": "0.5,1"}).kernels(QUARTER)
    assert kernels == (Rbf(0.5), Rbf(2.0))


def test_gamma_defaults_differ_by_kernel() -> None:
    """1 for the polynomial, that of the data for rbf and sigmoid."""
    settings = settings_from({"kernel": ["polynomial", "rbf", "sigmoid", "linear"]})
    gammas = {k.name: k.parameters.get("gamma") for k in settings.kernels(QUARTER)}
    assert gammas == {"polynomial": 1, "rbf": 0.25, "sigmoid": 0.25, "linear": None}


def test_a_kernel_uses_its_own_parameters_only() -> None:
    """The product of the grids, for each kernel of those that it has."""
    settings = settings_from(
        {"kernel": "linear,polynomial,rbf", "gamma": "1,2", "degree": "2,3"}
    )
    names = [kernel.name for kernel in settings.kernels()]
    assert names == ["linear"] + ["polynomial"] * 4 + ["rbf"] * 2


def test_the_default_gamma_is_of_the_scaled_data() -> None:
    """1 / (features x variance), and 1 / features where nothing varies."""
    X = np.array([[0.0, 2.0], [2.0, 0.0]])
    assert default_gamma(X) == 1 / 2
    assert default_gamma(3 * X) == 1 / 18
    assert default_gamma(np.zeros((3, 4))) == 1 / 4


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"C": "0,1"}, "C = 0 must be greater than 0"),
        ({"C": "-1"}, "greater than 0"),
        ({"gamma": 1, "sigma": 1}, "both"),
        ({"kernel": "linear", "gamma": 1}, "no chosen kernel (linear) uses it"),
        ({"kernel": "polynomial", "sigma": 1}, "no chosen kernel"),
        ({"degree": 2}, "no chosen kernel (rbf)"),
        ({"kernel": "rfb"}, "did you mean 'rbf'"),
        ({"kernel": "precomputed,rbf"}, "along with others"),
        ({"kernel": "precomputed", "scale": "standard"}, "must not be scaled"),
        ({"solver": "exakt"}, "did you mean 'exact'"),
        ({"qp_backend": "clarabel"}, "only the solver 'qp'"),
        ({"gap": 0}, "greater than 0"),
        ({"gap": "1,2"}, "one number"),
        ({"criteria": "sv-rat"}, "did you mean 'sv-rate'"),
        ({"criteria": "cv:x"}, "cv:x"),
        ({"criteria": "cv,cv:5"}, "same column"),
        ({"criteria": "sv-rate", "rank_by": "cv:5"}, "not among"),
        ({"scale": "standart"}, "did you mean 'standard'"),
        ({"jobs": 0}, "1 or more"),
        ({"jobs": True}, "whole number"),
        ({"seed": 1.5}, "whole number"),
        ({"warm_start": "yes"}, "true or false"),
        ({"format": "jsn"}, "did you mean 'json'"),
        ({"C": "1:1001:1001", "gamma": "1:1000:1000"}, "1,000,000 cells"),
        ({"kernl": "rbf"}, "did you mean 'kernel'"),
    ],
)
def test_a_wrong_setting_is_refused_in_words(values: dict[str, Any], said: str) -> None:
    """Each message says what is wrong, and a near name where there is one."""
    with pytest.raises(SettingsError) as caught:
        settings_from(values)
    assert said in str(caught.value)


def test_ranking_names_may_leave_out_their_argument() -> None:
    """``cv`` means ``cv:5`` when that is swept; alone it becomes the criterion."""
    assert settings_from({"criteria": "sv-rate,cv:5", "rank_by": "cv"}).rank_by == (
        "cv:5"
    )
    assert settings_from({"rank_by": "cv:5"}).criteria == ("cv:5",)


def test_new_values_go_over_old_settings() -> None:
    """A new criterion takes the ranking along, a new sigma replaces the old gamma."""
    old = settings_from({"criteria": "sv-rate,cv:5", "gamma": 2, "seed": 3})
    new = settings_from({"criteria": "train-errors", "sigma": 1}, old)
    assert (new.rank_by, new.gamma, new.sigma, new.seed) == (
        *("train-errors", None, (1.0,)),
        3,
    )


def test_precomputed_is_not_scaled() -> None:
    """The kernel values are taken as they are."""
    assert settings_from({"kernel": "precomputed"}).scale == "none"


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda p: p.stem)
def test_every_config_is_ready(path: Path) -> None:
    """Its settings hold, its data are there, three lines say what it shows."""
    config = load_config(path)
    settings_from(config.values)
    assert config.data is not None
    assert Path(config.data).is_file()
    lines = path.read_text(encoding="utf-8").splitlines()
    assert all(line.startswith("# ") for line in lines[:3])


def test_what_is_printed_is_read_back(tmp_path: Path) -> None:
    """``to_toml`` and ``load_config`` are each other's inverse."""
    values = {"kernel": ("rbf", "linear"), "C": (0.1, 2.0), "gap": None, "jobs": 2}
    path = tmp_path / "sub" / "x.toml"
    path.parent.mkdir()
    path.write_text(to_toml({"data": '../d "q".csv', "na_values": ("NA",), **values}))
    config = load_config(path)
    assert config.data == str(tmp_path / 'd "q".csv')
    assert config.reading == {"na_values": ("NA",)}
    assert settings_from(config.values) == settings_from(values)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kernl = 'rbf'", "did you mean 'kernel'"),
        ("C = = 1", "line 1"),
        ("data = 3", "path in quotes"),
        ("no_header = 'x'", "true or false"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """The message names the file and what is wrong in it."""
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load_config(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_refused_with_a_near_name() -> None:
    """``irs.toml`` may have meant ``iris.toml``."""
    with pytest.raises(SettingsError, match=r"did you mean 'iris\.toml'"):
        load_config(CONFIGS / "irs.toml")


def test_keys_may_be_written_with_dashes(tmp_path: Path) -> None:
    """``rank-by`` is ``rank_by``, as on the command line."""
    path = tmp_path / "x.toml"
    path.write_text('rank-by = "cv:5"\ntarget = -1\n')
    config = load_config(path)
    assert config.values == {"rank_by": "cv:5"}
    assert config.reading == {"target": "-1"}

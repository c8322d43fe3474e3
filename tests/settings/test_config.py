"""Where a setting comes from: the line, the environment, a file, the defaults."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msvm_select.errors import SettingsError
from msvm_select.settings import SETTING_NAMES, Settings, settings_from
from msvm_select.settings.catalogue import READING, SETTINGS
from msvm_select.settings.config import load_config, to_toml
from msvm_select.settings.layers import variable
from tests.conftest import run

HOUSE = Path(__file__).parents[2]
DATA = HOUSE / "data" / "iris.csv"
READY = (("data", "*.csv"), ("configs", "*.toml"))

# What a file says, what the environment says over it, what the line says over both.
VALUES: dict[str, tuple[Any, Any, Any]] = {
    "kernel": (["linear"], ["polynomial", "rbf"], ["sigmoid"]),
    "C": ([1.0], [2.0, 3.0], [4.0]),
    "gamma": ([1.0], [2.0, 3.0], [4.0]),
    "sigma": ([1.0], [2.0, 3.0], [4.0]),
    "degree": ([1.0], [2.0, 3.0], [4.0]),
    "low_rank": ([5], [6, 7], [8]),
    "coef0": ([-1.0], [0.0, 1.0], [2.0]),
    "loss": ("l2", "l1", "l2"),
    "machine": ("ovo", "ww", "ovo"),
    "scale": ("minmax", "none", "standard"),
    "solver": ("smo", "osqp", "qp"),
    "gap": (1e-4, 1e-5, 1e-6),
    "qp_backend": ("clarabel", "osqp", "scs"),
    "criteria": (["sv-rate"], ["loo", "vc"], ["cv:5"]),
    "rank_by": ("vc", "loo", "cv:5"),
    "metric": (["auc"], ["error", "log-loss"], ["macro-f1"]),
    "race": (2, 3, 4),
    "seed": (1, 2, 3),
    "warm_start": (False, True, False),
    "allow_indefinite": (True, False, True),
    "delta": (0.1, 0.2, 0.3),
    "maurey_c": (2.0, 3.0, 4.0),
    "union": (True, False, True),
    "dimension": (2, 3, 4),
    "select": ("1se", "simplest", "best"),
    "extend": (1, 2, 3),
    "fail_above": (0.1, 0.2, 0.3),
    "fail_below": (0.1, 0.2, 0.3),
    "require_applicable": (True, False, True),
    "require_converged": (True, False, True),
    "jobs": (2, 3, 4),
    "time_budget": (60.0, 120.0, 180.0),
    "shard": ("1/2", "2/3", "3/16"),
    "top": (2, 3, 4),
    "format": ("csv", "json", "markdown"),
    "cluster": ("local:1", "tcp://h:1", "tls://h:2"),
    **{name: ("a", "b", "c") for name in ("tls_ca", "tls_cert", "tls_key")},
    "target": ("a", "b", "c"),
    "delimiter": (";", "tab", ","),
    "encoding": ("latin-1", "utf-16", "utf-8"),
    "no_header": (True, False, True),
    "id_column": ("a", "b", "c"),
    "na_values": (["-"], ["?", "NA"], ["none"]),
    "one_hot": (["a"], ["b", "c"], ["d"]),
    "missing": ("mean", "drop", "error"),
    "input_format": ("libsvm", "csv", "libsvm"),
    "sheet": ("a", "2", "b c"),
    "decimal": ("comma", "point", "comma"),
    "drop": (["a"], ["b", "c"], ["d"]),
    "thousands": ("comma", "point", "space"),
    "weight_column": ("a", "b", "c"),
    "group_column": ("a", "b", "c"),
    "subsample": (20, 30, 40),
    "label_from": ("(a)", "(b)", "(c)"),
    "labels": ("a.csv", "b.csv", "c.csv"),
    "alphabet": ("dna", "protein", "dna"),
    "class_weight": ("balanced", "a=2,b=1", "c=3"),
}
FLAGS = [n for n, one in {**READING, **SETTINGS}.items() if one.is_flag]
# What else must be said for a setting to have a sense.
BESIDE = {
    "degree": ("--kernel", "polynomial"),
    "coef0": ("--kernel", "polynomial"),
    "qp_backend": ("--solver", "qp"),
    "rank_by": ("--criteria", "sv-rate,vc,cv:5,loo"),
    "fail_below": ("--metric", "auc"),
    "require_applicable": ("--criteria", "radius-margin"),
    **{name: ("--cluster", "tls://h:1") for name in ("tls_ca", "tls_cert", "tls_key")},
}


@pytest.fixture(autouse=True)
def no_settings_around(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of whoever runs the tests."""
    for name in os.environ:
        if name.startswith("MSVM_SELECT_"):
            monkeypatch.delenv(name)


def shown(*arguments: object) -> dict[str, Any]:
    """What ``--show-config`` prints, as TOML has it."""
    result = run(*arguments, "--show-config")
    assert result.exit_code == 0, result.output
    return tomllib.loads(result.stdout)


def on_the_line(name: str, value: Any) -> list[str]:
    """The option with the value, or the flag."""
    option = name if name == "C" else name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{'' if value else 'no-'}{option}".replace("--no-no-", "--")]
    return [f"--{option}", text_of(value)]


def text_of(value: Any) -> str:
    """As one types it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def written(path: Path, text: str) -> Path:
    """A config of that text."""
    path.write_text(f"data = {str(DATA)!r}\n{text}\n", encoding="utf-8")
    return path


def test_every_setting_is_tried() -> None:
    """The table above has them all."""
    assert set(VALUES) == {*SETTING_NAMES, *READING}


@pytest.mark.parametrize("name", list(VALUES))
def test_line_over_environment_over_file_over_default(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One level after the other is added, and each wins over those below it."""
    config, beside = tmp_path / "x.toml", BESIDE.get(name, ())
    low, middle, high = VALUES[name]
    line = ("run", written(config, ""), *beside)
    default = shown(*line).get(name)
    if name in SETTING_NAMES:
        bare = run("sweep", DATA, *beside, "--show-config").stdout
        assert default == tomllib.loads(bare).get(name)
    written(config, to_toml({name: low}))
    assert shown(*line)[name] == low != default
    monkeypatch.setenv(variable(name), text_of(middle))
    assert shown(*line)[name] == middle
    assert shown(*line, *on_the_line(name, high))[name] == high
    monkeypatch.setenv(variable(name), "")
    assert shown(*line)[name] == low


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize(
    ("word", "truth"),
    [("0", False), ("false", False), ("No", False), ("1", True), ("on", True)],
)
def test_flags_are_read_as_words(
    name: str, word: str, truth: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``0`` and ``no`` switch off, whatever the default is."""
    monkeypatch.setenv(variable(name), word)
    assert shown("sweep", DATA, *BESIDE.get(name, ()))[name] is truth


def test_an_unknown_variable_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, with the name that may be meant; not with --quiet, and never fatally."""
    monkeypatch.setenv("MSVM_SELECT_GAMA", "1")
    result = run("sweep", DATA, "--show-config")
    assert result.exit_code == 0
    assert result.stderr.count("MSVM_SELECT_GAMA is set, but") == 1
    assert "no setting is GAMA (did you mean 'GAMMA'?)" in result.stderr
    assert run("sweep", DATA, "--show-config", "--quiet").stderr == ""


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("C", "abc", "MSVM_SELECT_C='abc': C: 'abc' is not a number"),
        ("KERNEL", "rfb", "MSVM_SELECT_KERNEL='rfb': There is no kernel 'rfb'"),
        ("UNION", "maybe", "MSVM_SELECT_UNION='maybe': union = 'maybe' must be"),
        ("JOBS", "two", "MSVM_SELECT_JOBS='two': jobs = 'two' must be a whole"),
        ("NO_HEADER", "x", "MSVM_SELECT_NO_HEADER='x': no_header = 'x' must be"),
        ("DEGREE", "2", "degree is from MSVM_SELECT_DEGREE='2'."),
        ("TARGET", "clas", "--target is from MSVM_SELECT_TARGET='clas'."),
        ("MISSING", "x", "--missing is from MSVM_SELECT_MISSING='x'."),
        ("ENCODING", "x", "--encoding is from MSVM_SELECT_ENCODING='x'."),
    ],
)
def test_a_bad_value_of_the_environment_is_told_with_its_variable(
    name: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody looks for it on the line."""
    monkeypatch.setenv(f"MSVM_SELECT_{name}", value)
    result = run("sweep", DATA)
    assert result.exit_code in (2, 3)
    assert result.stdout == ""
    assert said in result.stderr


def test_a_bad_value_that_the_line_replaces_does_no_harm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only what counts is checked."""
    monkeypatch.setenv("MSVM_SELECT_C", "abc")
    assert shown("sweep", DATA, "--C", 1)["C"] == [1.0]


def test_an_empty_option_is_not_taken_for_none() -> None:
    """``--C "$C"`` where C is not set would else sweep another grid than was meant."""
    for option in ("--C", "--kernel", "--criteria", "--format", "--target"):
        assert run("sweep", DATA, option, "").exit_code in (2, 3), option


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\nC = 'abc'", "x.toml, line 3: C: 'abc' is not a number"),
        ("C = true", "C: True is not a number"),
        ("C = [[1, 2]]", "C: [1, 2] is not a number"),
        ("C = 2024-01-01", "is not a number"),
        (f"C = 1{'0' * 400}", "too large"),
        ("kernel = 3", "must be a name"),
        ("kernel = []", "names is empty"),
        ("jobs = [2]", "jobs = [2] must be a whole number"),
        ("jobs = 2024-01-01", "must be a whole number"),
        ("union = 'yes'", "must be true or false"),
        ("kernl = 'rbf'", "x.toml, line 2: there is no setting 'kernl' (did you mean"),
        ("[grid]\nC = 1", "without [tables]"),
        ("rank-by = 'loo'\nrank_by = 'vc'", "rank_by is given twice"),
        ("C = 1\nC = 2", "x.toml is not TOML"),
        ("C = [1,\n", "at line 3, column 1, the end"),
        ("C = = 1", "at line 2, column 5"),
        ("C = 9999-99-99", "x.toml is not TOML"),
        (f"C = {'[' * 5000}", "x.toml is not TOML"),
        ("target = [1]", "target = [1] must be text"),
        ("na_values = [-9.5]", "must be text in quotes"),
        ("no_header = 1", "must be true or false"),
        ("target = 'clas'", "--target is from"),
        ("gamma = 1\nsigma = 1", "gamma is from"),
    ],
)
def test_a_bad_file_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    """The file, mostly the line, and what is wrong; never a traceback."""
    result = run("run", written(tmp_path / "x.toml", text))
    assert result.exit_code in (2, 3)
    assert said in result.stderr
    assert "x.toml" in result.stderr
    assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize(
    ("file", "line", "name", "value"),
    [
        ("gamma = 1", ("--sigma", "2"), "gamma", None),
        ("gamma = 1", ("--kernel", "linear"), "gamma", None),
        ("gamma = 1", ("--kernel", "linear,rbf"), "gamma", [1.0]),
        ("solver = 'qp'\nqp_backend = 'osqp'", ("--solver", "smo"), "qp_backend", None),
        ("rank_by = 'vc'\ncriteria = ['vc']", ("--criteria", "cv"), "rank_by", "cv"),
        ("rank_by = 'vc'", ("--criteria", "loo,vc"), "rank_by", "vc"),
        ("criteria = ['vc', 'cv:3']", ("--rank-by", "cv"), "rank_by", "cv:3"),
        ("criteria = ['vc', 'cv:3']", ("--rank-by", "loo"), "criteria", ["loo"]),
        ("scale = 'minmax'", ("--kernel", "precomputed"), "scale", "none"),
    ],
)
def test_what_served_a_loser_goes_with_it(
    tmp_path: Path, file: str, line: tuple[str, ...], name: str, value: Any
) -> None:
    """A kernel on the line needs no parameters unsaid that the file has for another."""
    config = written(tmp_path / "x.toml", file)
    assert shown("run", config, *line).get(name) == value


def test_a_config_may_come_from_a_pipe() -> None:
    """``sweep .. --show-config | run -``."""
    printed = run("sweep", DATA, "--C", 3, "--show-config").stdout
    again = run("run", "-", "--show-config", input=printed)
    assert again.stdout == printed


odd = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(odd, st.lists(odd), st.floats(1e-300, 1e300), st.booleans())
def test_what_is_printed_is_read_back(
    tmp_path: Path, text: str, texts: list[str], number: float, truth: bool
) -> None:
    """Quotes, backslashes, control characters, emoji, numbers with all their digits."""
    path = tmp_path / "x.toml"
    told = {"data": f"./{text}", "target": text, "na_values": texts, "gap": number}
    path.write_text(to_toml({**told, "union": truth}), encoding="utf-8", newline="")
    config = load_config(path)
    assert config.reading == {"target": text, "na_values": tuple(texts)}
    assert Path(config.data or "") == Path(os.path.normpath(tmp_path / f"./{text}"))
    read = settings_from(config.values)
    assert (read.gap, read.union) == (number, truth)


@pytest.mark.parametrize("data", ["-", "./-", 'a "b"\\c.csv', "naïve 🌍.csv"])
def test_odd_data_names_survive_show_config(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``-`` stays standard input; another name leads to the same file from anywhere."""
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "sub" / "x.toml"
    config.parent.mkdir()
    config.write_text(run("sweep", data, "--show-config").stdout, encoding="utf-8")
    wanted = "-" if data == "-" else str((tmp_path / data).resolve())
    assert load_config(config).data == wanted


def test_what_is_no_text_cannot_be_printed() -> None:
    """A name of bytes that are no UTF-8 is an error in words."""
    with pytest.raises(SettingsError, match="not Unicode"):
        to_toml({"target": "\udcff"})


def test_settings_of_python_are_as_before() -> None:
    """``settings_from`` knows no environment."""
    os.environ["MSVM_SELECT_C"] = "5"
    try:
        assert settings_from({}) == Settings()
    finally:
        del os.environ["MSVM_SELECT_C"]


def test_every_data_file_has_a_ready_config() -> None:
    """Of the same name, and none is left over."""
    names = [{p.stem for p in (HOUSE / d).glob(g)} for d, g in READY]
    assert names[0] == names[1]


@pytest.mark.parametrize("config", sorted((HOUSE / "configs").glob("*.toml")))
def test_every_config_runs(config: Path, tmp_path: Path) -> None:
    """On some of its samples, to the last cell, without a word of trouble."""
    head, *rows = (HOUSE / "data" / f"{config.stem}.csv").read_text().splitlines()
    few = tmp_path / "few.csv"
    step = 5 if len(rows) < 300 else 20 if len(rows) < 3000 else 100
    few.write_text("\n".join([head, *rows[::step]]) + "\n")
    result = run("run", config, "--data", few, "--format", "csv")
    assert result.exit_code == 0
    assert "Error" not in result.stderr
    assert len(result.stdout.splitlines()) > 12

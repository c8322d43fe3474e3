"""Whatever is thrown at the doors for files: an error with its place, or the truth.

``MSVM_SELECT_FUZZ=30`` makes each of these tests thirty times as long, and draws other
examples at each run; that is for whoever changed a door.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from click import Context
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from msvm_select import fit, run_sweep
from msvm_select.cli import cli
from msvm_select.columns import COLUMNS
from msvm_select.data.cells import MISSING
from msvm_select.data.read import load_csv
from msvm_select.errors import DataError, MsvmError, SettingsError
from msvm_select.model.file import load_model
from msvm_select.records import Dataset
from msvm_select.results.reread import read_results
from msvm_select.settings import settings_from
from msvm_select.settings.config import load_config
from tests.conftest import IRIS, render, run

TIMES = int(os.environ.get("MSVM_SELECT_FUZZ", "1"))
T = TypeVar("T")
LINES = IRIS.read_text(encoding="utf-8").splitlines()
SMALL = "\n".join([LINES[0], *LINES[1::15]])


def fuzz(examples: int) -> settings:
    """So many examples, or TIMES as many."""
    return settings(
        max_examples=examples * TIMES,
        derandomize=TIMES == 1,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def attempted(kind: type[MsvmError], begins: str, do: Callable[[], T]) -> T | None:
    """What it gives; None where it is refused with a message that begins so."""
    try:
        return do()
    except kind as error:
        said = str(error)
    assert said
    assert said.startswith(begins)
    return None


NUMBERS = st.one_of(
    st.integers(-99, 99).map(str),
    st.floats().map(repr),
    st.sampled_from(
        ["1e400", "1_000", "0x1f", "3,5", "1.234,5", " 7 ", "+.5", "1e", "--1", "1d3"]
        + ["", "NA", "nan", "inf", "?", "−2", "٣", "1e-320", "\xa05"]
    ),
)
LABELS = st.one_of(
    st.sampled_from(["x", "y", "1", "1.0", "a b", 'say "x"', "p,q", "NA", " z ", "é"]),
    st.text(max_size=4),
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
MARKS = st.sampled_from([",", ";", "\t"])


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """A CSV as one might be written, with something odd in it here and there."""
    width, mark = draw(st.integers(1, 4)), draw(MARKS)
    names = draw(st.lists(LABELS, min_size=width, max_size=width))
    row = st.tuples(*[NUMBERS] * (width - 1), LABELS)
    rows = draw(st.lists(row, max_size=6))
    out = io.StringIO()
    end, quoting = draw(ENDS), draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    writer = csv.writer(out, delimiter=mark, lineterminator=end, quoting=quoting)
    writer.writerows([names, *rows])
    data = out.getvalue().encode(
        draw(st.sampled_from(["utf-8", "utf-8-sig"])), "ignore"
    )
    return damaged(draw, data) if draw(st.booleans()) else data


def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """A piece of it replaced by other bytes, or by another piece of it."""
    a, b = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
    piece = draw(st.one_of(st.binary(max_size=3), st.just(data[a:b]), st.just(b'"')))
    at = draw(st.integers(0, len(data)))
    return data[:at] + piece + data[at + draw(st.integers(0, 3)) :]


def decoded(data: bytes) -> str:
    """The text, which is UTF-8 or else of Windows."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252")


def plain(data: bytes, delimiter: str) -> list[list[str]]:
    """The rows that the csv module alone finds, blank lines left out."""
    text = io.StringIO(decoded(data), newline="")
    rows = csv.reader(text, delimiter=delimiter, skipinitialspace=True)
    return [row for row in rows if len(row) > 1 or (row and row[0].strip())]


def read(data: bytes, **options: Any) -> Dataset | None:
    """The dataset, or None where it is refused by name."""
    return attempted(
        DataError, "standard input", lambda: load_csv(io.BytesIO(data), **options)
    )


def same(found: float, cell: str) -> bool:
    """Whether a cell was read as what Python reads in it; a missing one as NaN."""
    cell = cell.strip()
    if "," in cell:  # decimal commas are recognised beside semicolons
        cell = cell.replace(",", ".")
    if math.isnan(found):
        return cell in MISSING or cell.lower().lstrip("+-") == "nan"
    return "_" not in cell and float(cell) == found


def check_truth(dataset: Dataset, rows: list[list[str]], at: list[int]) -> None:
    """The dataset has the numbers and labels of these rows, the target at ``at``."""
    (target,) = at
    assert dataset.m == len(rows)
    for i, row in enumerate(rows):
        cells = [cell for j, cell in enumerate(row) if j != target]
        assert len(cells) == dataset.X.shape[1]
        pairs = zip(dataset.X[i].tolist(), cells, strict=True)
        assert all(same(found, cell) for found, cell in pairs)
        assert dataset.classes[dataset.y[i]] == row[target].strip()


@fuzz(80)
@given(st.one_of(tables(), st.binary(max_size=60)), MARKS, st.booleans())
def test_csv_door(data: bytes, mark: str, header: bool) -> None:
    """A DataError that names the place, or the very numbers and labels of the file."""
    options = {"delimiter": mark, "header": header, "missing": "mean"}
    dataset = read(data, **options)
    if dataset is None:
        return
    rows = plain(data, mark)
    names = [name.strip() for name in rows[0]] if header else []
    at = names.index(dataset.target) if header else len(rows[0]) - 1
    check_truth(dataset, rows[1:] if header else rows, [at])


@fuzz(50)
@given(tables())
def test_csv_door_finds_the_delimiter_or_says_so(data: bytes) -> None:
    """Without --delimiter, the file is read by one of the three, or refused."""
    dataset = read(data, missing="mean")
    if dataset is None:
        return
    widths = [[len(row) for row in plain(data, mark)] for mark in ",;\t"]
    assert any(set(found) == {dataset.X.shape[1] + 1} for found in widths)


@fuzz(60)
@given(
    st.lists(
        st.tuples(st.floats(-1e9, 1e9).map(lambda x: round(x, 9)), LABELS), min_size=2
    )
)
def test_decimal_commas(rows: list[tuple[float, str]]) -> None:
    """With --decimal comma, numbers written so are the numbers."""
    labels = [label.strip() for _, label in rows]
    assume(len(set(labels)) > 1 and not MISSING & set(labels))
    assume(all("\0" not in label for label in labels))
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";", quoting=csv.QUOTE_ALL)
    commas = [(repr(x).replace(".", ","), label) for x, label in rows]
    writer.writerows([("a", "class"), *commas])
    data = out.getvalue().encode("utf-8", "replace")
    assume(b"?" not in data)
    dataset = load_csv(io.BytesIO(data), decimal="comma")
    assert dataset.X[:, 0].tolist() == [x for x, _ in rows]


TOKENS = st.one_of(
    st.tuples(st.integers(-1, 9), NUMBERS).map(lambda pair: f"{pair[0]}:{pair[1]}"),
    st.sampled_from(["#", "qid:1", "1:", ":1", "1:2:3", "99999999999999999999:1"]),
    LABELS,
)
SAMPLES = st.tuples(LABELS, st.lists(TOKENS, max_size=4)).map(
    lambda pair: " ".join([pair[0], *pair[1]])
)


@fuzz(80)
@given(st.lists(SAMPLES, max_size=6), ENDS)
def test_libsvm_door(lines: list[str], end: str) -> None:
    """A DataError that names the place, or the numbers where they stand."""
    data = end.join(lines).encode("utf-8", "ignore")
    dataset = read(data, input_format="libsvm", missing="mean")
    if dataset is None:
        return
    text = io.StringIO(decoded(data), newline="")
    rows = [row for line in text if (row := line.partition("#")[0].split())]
    assert dataset.m == len(rows)
    for x, k, row in zip(dataset.X, dataset.y, rows, strict=True):
        assert dataset.classes[k] == row[0]
        pairs = dict(token.split(":") for token in row[1:])
        assert all(same(x[int(j) - 1], cell) for j, cell in pairs.items())
        assert np.count_nonzero(x) <= len(pairs)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of a small sweep, in each format to be read back."""
    folder = tmp_path_factory.mktemp("results")
    found = run_sweep(load_csv(IRIS), C=[1, 2], criteria="sv-rate", gamma=0.5)
    for form in ("csv", "tsv", "json", "ndjson"):
        (folder / f"ranked.{form}").write_text(render(found, form), encoding="utf-8")
    (folder / "small.csv").write_text(SMALL, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a trained machine."""
    path = tmp_path_factory.mktemp("model") / "iris.json"
    fit(load_csv(IRIS), C=0.5, gamma=0.5).save(path)
    return path


@st.composite
def edits(draw: st.DrawFn) -> list[tuple[float, bytes, int]]:
    """Places (as shares of a file), what to put there, how much to leave out."""
    bits = st.one_of(
        st.binary(max_size=3),
        st.sampled_from(
            [b"null", b"NaN", b"1e999", b"-1", b'"', b"{}", b"[]", b"true", b"\n"]
            + [b"9" * 400, b"", b",", b"rbf", b"linear", b"\xff"]
        ),
    )
    one = st.tuples(st.floats(0, 1), bits, st.integers(0, 8))
    return draw(st.lists(one, min_size=1, max_size=3))


def edited(data: bytes, changes: list[tuple[float, bytes, int]]) -> bytes:
    """The file after these edits."""
    for share, piece, left_out in changes:
        at = int(share * len(data))
        data = data[:at] + piece + data[at + left_out :]
    return data


@fuzz(70)
@given(st.sampled_from(["csv", "tsv", "json", "ndjson"]), edits())
def test_result_file_door(
    results: Path,
    form: str,
    changes: list[tuple[float, bytes, int]],
) -> None:
    """A damaged result file is refused by name, or ranked as rows of the schema."""
    path = results / f"damaged.{form}"
    path.write_bytes(edited((results / f"ranked.{form}").read_bytes(), changes))
    ranked = attempted(MsvmError, "", lambda: read_results(path).ranked("sv-rate"))
    if ranked is None:
        return
    assert render(ranked, "table")
    assert render(ranked, "markdown")
    for row in json.loads(render(ranked, "json"))["rows"]:
        assert set(COLUMNS) <= set(row)
        assert isinstance(row["C"], float)


@fuzz(70)
@given(changes=edits())
def test_model_file_door(
    model_file: Path, changes: list[tuple[float, bytes, int]]
) -> None:
    """A damaged model file is refused by name, or gives a class to every sample."""
    path = model_file.with_name("damaged.json")
    path.write_bytes(edited(model_file.read_bytes(), changes))
    model = attempted(DataError, str(path), lambda: load_model(path))
    if model is None:
        return
    if model.kernel.is_vector_kernel and len(model.columns.features) == 4:
        with np.errstate(all="ignore"):
            found = model.predict(load_csv(IRIS).X)
        assert set(found) <= {*model.classes, "?"}


VALUES = st.recursive(
    st.one_of(
        st.booleans().map(lambda x: str(x).lower()),
        st.integers().map(str),
        st.floats().map(lambda x: repr(x).replace("inf", "1e5")),
        st.sampled_from(['"1,2"', '"2^-3:2^9:7"', '"rbf"', '""', '"loo,cv:5"', "'l2'"]),
        st.text(max_size=5).map(lambda s: json.dumps(s)),
        st.just("2020-01-01"),
    ),
    lambda inner: st.lists(inner, max_size=3).map(lambda v: f"[{', '.join(v)}]"),
    max_leaves=4,
)
KEYS = st.sampled_from(
    ["C", "gamma", "kernel", "criteria", "rank-by", "scale", "seed", "jobs", "top"]
    + ["data", "target", "na_values", "no-header", "decimal", "kernl", "[table]", "gap"]
)


@fuzz(80)
@given(st.lists(st.tuples(KEYS, VALUES), max_size=4), edits(), st.booleans())
def test_toml_door(
    tmp_path_factory: pytest.TempPathFactory,
    pairs: list[tuple[str, str]],
    changes: list[tuple[float, bytes, int]],
    whole: bool,
) -> None:
    """A SettingsError with a message, or settings that are whole."""
    path = tmp_path_factory.getbasetemp() / "fuzz.toml"
    text = "".join(f"{key} = {value}\n" for key, value in pairs)
    data = text.encode("utf-8", "ignore")
    path.write_bytes(data if whole else edited(data, changes))
    config = attempted(SettingsError, "", lambda: load_config(path))
    values = dict(config.layer.values) if config is not None else {"C": 1}
    found = attempted(SettingsError, "", lambda: settings_from(values))
    if found is None:
        return
    assert all(math.isfinite(C) and C > 0 for C in found.C)
    assert found.rank_by


OPTIONS = st.sampled_from(
    ["--C", "--gamma", "--kernel", "--criteria", "--rank-by", "--scale", "--solver"]
    + ["--top", "--format", "--target", "--delimiter", "--encoding", "--id-column"]
    + ["--no-header", "--missing", "--one-hot", "--na-values", "--loss", "--gap"]
    + ["--jobs", "--seed", "--decimal", "--input-format", "--quiet", "--delta"]
    + [
        "--show-config",
        "--allow-indefinite",
        "--select",
        "--by",
        "--extend",
        "--dry-run",
    ]
)
WORDS = st.one_of(
    st.sampled_from(
        [
            "1",
            "0.1,1",
            "1:2:2",
            "rbf",
            "linear",
            "sigmoid",
            "cv:2",
            "loo",
            "json",
            "csv",
        ]
        + [
            "0",
            "-1",
            "nan",
            "1e999",
            "class",
            "5",
            "utf-16",
            "rot13",
            "comma",
            ";",
            "smo",
        ]
        + ["", "table", "l2", "none", "drop", "libsvm", "sv-rate", "1e-300", "1e300"]
    ),
    st.text(max_size=3),
)
CODES = {0, 1, 2, 3, 4, 5}


GOOD = st.sampled_from(
    [
        *("--C 0.1,1", "--C 1", "--gamma 0.5", "--gamma 1e-3,1", "--kernel linear"),
        *("--kernel sigmoid", "--kernel polynomial", "--criteria sv-rate,cv:2"),
        *("--criteria radius-margin,vc", "--criteria loo,span", "--loss l2"),
        *("--scale none", "--scale minmax", "--solver smo", "--solver osqp", "--top 1"),
        *("--format json", "--format csv", "--format table", "--format ndjson"),
        *("--target 5", "--target 1", "--target -2", "--id-column 1", "--jobs 2"),
        *("--missing drop", "--decimal comma", "--delimiter ,", "--quiet", "--seed 3"),
        *("--select 1se", "--one-hot 1", "--allow-indefinite", "--by sv-rate", "--all"),
        *("--by C", "--no-header", "--dry-run", "--show-config", "--na-values 0.2"),
        *("--gap 1e-3", "--fail-above 0.1", "--require-converged", "--extend 1"),
    ]
).map(str.split)
ODD = st.tuples(OPTIONS, WORDS).map(list)
NEEDED = {"fit": ["-o", "{}/model.json"], "rank": ["--by", "C"], "sweep": ["--C", "1"]}
COMMANDS = {
    **dict.fromkeys(("sweep", "loo", "bound", "margins", "check", "fit"), "small.csv"),
    "rank": "ranked.csv",
}


def known(command: str, option: list[str]) -> bool:
    """Whether the command has the option."""
    params = cli.get_command(Context(cli), command).params
    return any(option[0] in param.opts for param in params)


@fuzz(60)
@given(
    st.sampled_from([*COMMANDS, "sweep", "sweep"]),
    st.lists(st.one_of(GOOD, GOOD, GOOD, ODD), max_size=4),
)
def test_random_command_lines(
    results: Path, command: str, options: list[list[str]]
) -> None:
    """Never a traceback; exit 0 only with output that is whole."""
    line = [command, str(results / COMMANDS[command])]
    line += [part.format(results) for part in NEEDED.get(command, [])]
    line += [part for option in options if known(command, option) for part in option]
    done = run(*line)
    assert done.exception is None or isinstance(done.exception, SystemExit), line
    assert done.exit_code in CODES, line
    assert "Traceback" not in done.output
    if done.exit_code > 1:
        assert done.stderr, line
        return
    assert done.stdout or done.exit_code or command == "fit", line
    if command == "sweep" and options[-1:] == [["--format", "json"]] and done.stdout:
        check_rows(done.stdout, line)


def check_rows(text: str, line: list[str]) -> None:
    """Rows of the small file, each cell with what it was asked for."""
    if {"--show-config", "--dry-run"} & set(line):
        return
    document = json.loads(text)
    assert document["data"]["n_samples"] <= len(LINES[1::15])
    for row in document["rows"]:
        assert set(COLUMNS) <= set(row)
        rates = [row[name] for name in ("loo_rate", "sv_rate", "cv_error")]
        assert all(rate is None or 0.0 <= rate <= 1.0 for rate in rates)
        assert row["status"] != "ok" or row["gap"] < 0.1

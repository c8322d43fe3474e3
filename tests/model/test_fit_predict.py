"""``fit`` and ``predict`` as a user meets them: files, streams, exit codes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from msvm_select import load_csv, load_model
from msvm_select.names import SOLVERS
from tests.conftest import IRIS, rows_of, run
from tests.model.test_model import Idle

ODD = 'id,a,b,class\n1,0,0,"x, y"\n2,0,1,"x, y"\n3,4,4,"say ""z"""\n4,4,5,"say ""z"""\n'


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of whoever runs the tests."""
    for name in ("C", "KERNEL", "GAMMA", "SOLVER", "SCALE"):
        monkeypatch.delenv(f"MSVM_SELECT_{name}", raising=False)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of iris."""
    path = tmp_path / "iris.json"
    assert run("fit", IRIS, "--gamma", 0.25, "-o", path, "-q").exit_code == 0
    return path


@pytest.fixture
def odd(tmp_path: Path) -> tuple[Path, Path]:
    """Data with an id and labels that need quotes, and a model of them."""
    data, path = tmp_path / "odd.csv", tmp_path / "odd.npz"
    data.write_text(ODD)
    fitted = run("fit", data, "--id-column", "id", "--kernel", "linear", "-o", path)
    assert fitted.exit_code == 0, fitted.stderr
    return data, path


def test_fit_certifies_on_stderr_and_writes_the_model(tmp_path: Path) -> None:
    """Nothing on stdout; sizes, errors and certificate on stderr, and no grid."""
    path = tmp_path / "iris.npz"
    result = run("fit", IRIS, "--gamma", 0.25, "--C", "2^1", "-o", path)
    assert (result.exit_code, result.stdout) == (0, "")
    first, *_, last = result.stderr.splitlines()
    assert first == "iris: 150 samples, 4 features, 3 classes"
    assert last == f"Written: {path}"
    for words in ("training samples wrong", "relative gap"):
        assert words in result.stderr
    assert "eigenvalue" not in result.stderr
    assert load_model(path).C == 2.0


def test_fit_can_be_quiet(tmp_path: Path) -> None:
    """Not a word on stderr."""
    assert run("fit", IRIS, "-q", "-o", tmp_path / "m.json").stderr == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Missing option '-o'"),
        (("-o", "model.pkl"), ".json or a .npz"),
        (("-o", "nowhere/m.json"), "no folder"),
        (("-o", "m.json", "--C", "0.1,1"), "C has 2 values"),
        (("-o", "m.json", "--kernel", "rbf", "--kernel", "linear"), "sweep"),
        (("-o", "m.json", "--gamma", "1", "--sigma", "1"), "give one"),
        (("-o", "m.json", "--kernel", "rbff"), "did you mean 'rbf'"),
    ],
)
def test_fit_refuses_a_line_that_is_not_right(
    arguments: tuple[str, ...],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exit 2, the reason in words, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    result = run("fit", IRIS, *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_fit_refuses_bad_data(tmp_path: Path) -> None:
    """Exit 3 and no model."""
    (tmp_path / "one.csv").write_text("a,class\n1,x\n2,x\n")
    result = run("fit", tmp_path / "one.csv", "-o", tmp_path / "m.json")
    assert result.exit_code == 3
    assert "two classes" in result.stderr
    assert not (tmp_path / "m.json").exists()


def test_fit_refuses_an_indefinite_matrix(tmp_path: Path) -> None:
    """Exit 1 with the way out, which then warns."""
    line = ("fit", IRIS, "--kernel", "sigmoid", "-o", tmp_path / "m.json")
    refused = run(*line)
    assert refused.exit_code == 1
    assert "--allow-indefinite" in refused.stderr
    assert not (tmp_path / "m.json").exists()
    allowed = run(*line, "--allow-indefinite")
    assert allowed.exit_code in (0, 5)
    assert "Warning: the Gram matrix is indefinite" in allowed.stderr


def test_fit_writes_what_did_not_converge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 5 and the reason, and the model is there."""
    monkeypatch.setitem(SOLVERS, "exact", Idle)
    path = tmp_path / "m.json"
    result = run("fit", IRIS, "-o", path)
    assert result.exit_code == 5
    assert "Warning: the training did not converge: nothing was" in result.stderr
    assert not load_model(path).certificate.converged


def test_predict_writes_labels_and_counts_the_errors(model: Path) -> None:
    """One row a sample on stdout, the share of errors on stderr."""
    result = run("predict", model, IRIS)
    assert result.exit_code == 0
    assert result.stdout.startswith("predicted\nsetosa\n")
    assert len(rows_of(result.stdout)) == 150
    wrong = load_model(model).training.train_errors
    assert result.stderr == f"{wrong} of 150 wrong ({wrong / 1.5:.1f} %)\n"
    assert run("predict", model, IRIS, "--quiet").stderr == ""


def test_predict_needs_no_classes_and_no_order(model: Path, tmp_path: Path) -> None:
    """Features alone, turned round and with a spare one, give the same labels."""
    whole = run("predict", model, IRIS).stdout
    lines = [line.split(",") for line in IRIS.read_text().splitlines()]
    turned = [",".join([line[0], *line[3:0:-1], line[0]]) for line in lines]
    turned[0] = ",".join([*lines[0][:1], *lines[0][3:0:-1], "spare"])
    path = tmp_path / "turned.csv"
    path.write_text("\n".join(turned))
    result = run("predict", model, path)
    assert (result.exit_code, result.stdout) == (0, whole)
    assert result.stderr == "Note: not used by the model: column 'spare'\n"


def test_predict_reads_stdin(model: Path) -> None:
    """``-`` is the data."""
    piped = run("predict", model, "-", input=IRIS.read_bytes())
    assert piped.stdout == run("predict", model, IRIS).stdout


def test_predict_names_what_is_lost(model: Path, tmp_path: Path) -> None:
    """Exit 3; the missing column and its likely name, or the number of columns."""
    text = IRIS.read_text()
    (tmp_path / "d.csv").write_text(text.replace("petal_width_cm", "petal_w_cm", 1))
    result = run("predict", model, tmp_path / "d.csv")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "'petal_width_cm' is missing (did you mean 'petal_w_cm'?)" in result.stderr
    (tmp_path / "d.csv").write_text("1,2,3\n")
    result = run("predict", model, tmp_path / "d.csv", "--no-header")
    assert result.exit_code == 3
    assert "3 columns; the model was trained on 4 features" in result.stderr


def test_predict_refuses_what_is_no_model(tmp_path: Path) -> None:
    """Exit 3, in words."""
    result = run("predict", IRIS, IRIS)
    assert (result.exit_code, result.stdout) == (3, "")
    assert "is no model file" in result.stderr
    assert run("predict", tmp_path / "none.json", IRIS).exit_code == 3


def test_scores_are_the_outputs_in_full(model: Path) -> None:
    """One column a class, each number as it is in memory."""
    found = rows_of(run("predict", model, IRIS, "--scores").stdout)
    data = load_csv(IRIS)
    assert list(found[0]) == ["predicted", *data.classes]
    h = [[float(row[name]) for name in data.classes] for row in found]
    assert np.array_equal(h, load_model(model).outputs(data))


def test_odd_labels_and_ids_come_through(odd: tuple[Path, Path]) -> None:
    """Commas and quotes are quoted again; the id column comes first."""
    data, model = odd
    result = run("predict", model, data, "--scores")
    labels = ["x, y", "x, y", 'say "z"', 'say "z"']
    found = rows_of(result.stdout)
    assert list(found[0]) == ["id", "predicted", 'say "z"', "x, y"]
    assert [row["predicted"] for row in found] == labels
    assert [row["id"] for row in found] == ["1", "2", "3", "4"]
    assert "0 of 4 wrong (0.0 %)" in result.stderr


@pytest.mark.parametrize("scores", [(), ("--scores",)])
def test_every_format_holds_the_same(
    odd: tuple[Path, Path], scores: tuple[str, ...]
) -> None:
    """csv, tsv, json and ndjson have the same columns and values."""
    data, model = odd
    line = ("predict", model, data, *scores, "--format")
    document = json.loads(run(*line, "json").stdout)
    assert document["schema_version"] == 1
    assert document["classes"] == ['say "z"', "x, y"]
    text = [{k: str(v) for k, v in row.items()} for row in document["rows"]]
    assert rows_of(run(*line, "csv").stdout) == text
    tabs = csv.DictReader(io.StringIO(run(*line, "tsv").stdout), delimiter="\t")
    assert list(tabs) == text
    lines = run(*line, "ndjson").stdout.splitlines()
    assert [json.loads(one) for one in lines] == document["rows"]


def test_the_ending_tells_the_format(model: Path, tmp_path: Path) -> None:
    """Nothing on stdout; endings of other formats are refused before the work."""
    out = tmp_path / "p.json"
    result = run("predict", model, IRIS, "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"Written: {out}" in result.stderr
    assert len(json.loads(out.read_text())["rows"]) == 150
    refused = run("predict", model, IRIS, "-o", tmp_path / "p.md")
    assert refused.exit_code == 2
    assert "csv, tsv, json, ndjson" in refused.stderr
    named = run("predict", model, IRIS, "-o", tmp_path / "p.md", "--format", "csv")
    assert named.exit_code == 0


def test_a_tie_is_a_question_mark_and_an_error(tmp_path: Path) -> None:
    """Half way between two samples: ``?``, remarked and counted as wrong."""
    data, model = tmp_path / "d.csv", tmp_path / "m.json"
    data.write_text("x,class\n-1,left\n1,right\n")
    run("fit", data, "--kernel", "linear", "--scale", "none", "-o", model)
    data.write_text("x,class\n0,left\n1,right\n")
    result = run("predict", model, data)
    assert result.stdout == "predicted\n?\nright\n"
    assert "exact ties, which give '?': 1" in result.stderr
    assert "1 of 2 wrong (50.0 %)" in result.stderr


def test_a_class_that_the_model_never_saw_is_told(model: Path, tmp_path: Path) -> None:
    """It counts as wrong, with a word why."""
    data = tmp_path / "d.csv"
    lines = IRIS.read_text().splitlines()[:3]
    data.write_text("\n".join(lines).replace("setosa", "tulip", 1) + "\n")
    result = run("predict", model, data)
    assert "the model does not know, always wrong: 'tulip'" in result.stderr
    assert "1 of 2 wrong" in result.stderr


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    """A class named as the id column: exit 2 with --scores, none without."""
    data, model = tmp_path / "d.csv", tmp_path / "m.json"
    data.write_text("id,x,class\na,-1,id\nb,1,other\n")
    run("fit", data, "--id-column", "id", "-o", model)
    assert run("predict", model, data).exit_code == 0
    refused = run("predict", model, data, "--scores")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "would have the name 'id'" in refused.stderr


def test_a_precomputed_kernel_is_fitted_and_predicted(tmp_path: Path) -> None:
    """From a table of kernel values; the wrong number of columns is told."""
    x = np.array([-2.0, -1.0, 1.0, 2.0])
    K = np.outer(x, x) + 1.0
    lines = ["k1,k2,k3,k4,class"]
    lines += [",".join([*map(str, row), "ab"[i > 1]]) for i, row in enumerate(K)]
    data, model = tmp_path / "K.csv", tmp_path / "m.json"
    data.write_text("\n".join(lines))
    fitted = run("fit", data, "--kernel", "precomputed", "-o", model)
    assert fitted.exit_code == 0, fitted.stderr
    assert run("predict", model, data).stdout.split() == ["predicted", *"aabb"]
    data.write_text("k1,k2,k3\n1,1,1\n")
    short = run("predict", model, data)
    assert short.exit_code == 3
    assert "'k4' is missing" in short.stderr


def test_gaps_are_filled_by_a_model_that_learnt_to(tmp_path: Path) -> None:
    """Without that they are refused with line and column; --missing is the way out."""
    data, model = tmp_path / "d.csv", tmp_path / "m.json"
    data.write_text("a,b,class\n1,2,x\n2,1,x\n5,6,y\n6,5,y\n")
    run("fit", data, "-o", model)
    data.write_text("a,b\n1,\n")
    refused = run("predict", model, data)
    assert refused.exit_code == 3
    assert "line 2, column 'b'" in refused.stderr
    assert run("predict", model, data, "--missing", "mean").exit_code == 0


@pytest.mark.parametrize("name", ["fit", "predict"])
def test_help_is_there(name: str) -> None:
    """With an example; predict offers nothing that the model already knows."""
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"msvm-select {name}" in result.stdout
    assert ("--one-hot" in result.stdout) == (name == "fit")


def test_predict_reads_numbers_as_fit_did(tmp_path: Path) -> None:
    """Decimal commas, thousands and a dropped column are kept in the model file."""
    data, path = tmp_path / "commas.csv", tmp_path / "m.json"
    data.write_text("a;note;class\n1.000,5;u;x\n2,5;v;y\n1.010,5;w;x\n3;u;y\n")
    line = ("--decimal", "comma", "--thousands", "point", "--drop", "note", "-q")
    assert run("fit", data, *line, "-o", path).exit_code == 0
    found = run("predict", path, data)
    assert found.exit_code == 0, found.stderr
    assert [row["predicted"] for row in rows_of(found.stdout)] == ["x", "y", "x", "y"]
    assert "note" not in found.stderr


def test_a_measurement_in_the_last_column_stops_fit(tmp_path: Path) -> None:
    """Exit 3 with the columns that look like classes; --target overrides."""
    data, path = tmp_path / "fraud.csv", tmp_path / "m.json"
    rows = (f"{i % 2},{i * 0.37:.2f},{i * 0.19:.3f}" for i in range(40))
    data.write_text("\n".join(["is_fraud,amount,age", *rows]))
    refused = run("fit", data, "-o", path)
    assert refused.exit_code == 3
    assert "--target ('is_fraud' looks like one)" in refused.stderr
    assert run("fit", data, "--target", "is_fraud", "-o", path).exit_code == 0

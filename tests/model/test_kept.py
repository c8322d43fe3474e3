"""Model files of every version of the format: what was written once is read for ever.

``kept/`` has a tiny model of each; none of them is ever written anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from msvm_select.errors import DataError
from msvm_select.model.file import FORMAT_VERSION, load_model
from msvm_select.model.predictions import predict

KEPT = Path(__file__).parent / "kept"
EXPECTED: dict[str, Any] = json.loads((KEPT / "expected.json").read_text("utf-8"))


def test_there_is_one_of_each_version() -> None:
    """A new version of the format brings its file."""
    versions = {int(name.split("-")[1][0]) for name in EXPECTED}
    assert versions == set(range(1, FORMAT_VERSION + 1))


@pytest.mark.parametrize("name", EXPECTED)
def test_an_old_model_says_what_it_said(name: str, tmp_path: Path) -> None:
    """Labels, and outputs to the last digits; written again it has its version."""
    told, model = EXPECTED[name], load_model(KEPT / name)
    X = told.get("X", str(KEPT / "new.csv"))
    found = predict(model, X)
    assert found.labels.tolist() == told["labels"]
    numbers = [(found.h, told["outputs"])]
    if "probabilities" in told:
        numbers.append((model.probabilities(X), told["probabilities"]))
    for table, expected in numbers:
        for one, other in zip(table.tolist(), expected, strict=True):
            assert one == pytest.approx(other, rel=1e-12, abs=1e-12)
    again = tmp_path / "again.json"
    model.save(again)
    assert json.loads(again.read_text())["format_version"] == int(name.split("-")[1][0])


def test_a_newer_model_is_refused_with_a_word(tmp_path: Path) -> None:
    """Both versions, and what to do."""
    newer = json.loads((KEPT / "version-1.json").read_text("utf-8"))
    newer |= {"format_version": FORMAT_VERSION + 1, "something": "new"}
    path = tmp_path / "newer.json"
    path.write_text(json.dumps(newer))
    said = f"model format {FORMAT_VERSION + 1}, and this program reads {FORMAT_VERSION}"
    with pytest.raises(DataError, match=said) as caught:
        load_model(path)
    assert "update msvm-select" in str(caught.value)

"""Gates for pipelines: what breaks them, and the exit code that follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from msvm_select.cli import EXIT_CODES
from msvm_select.cli.streams import gated_exit_code
from msvm_select.columns import Row
from msvm_select.errors import SettingsError
from msvm_select.results.choosing import chosen
from msvm_select.results.notes import broken
from msvm_select.results.ranking import Results, rank
from msvm_select.settings.settings import check_applicable
from tests.conftest import IRIS, render, row, run

SMALL = ("sweep", IRIS, "--C", "1,10", "--gamma", "0.1", "--criteria")


def ranked(*rows: Row, by: str = "loo", rule: str = "best") -> Results:
    """Results of these rows, one chosen."""
    return chosen(Results(rank(rows, by), by), rule)


def test_a_score_above_breaks_the_gate() -> None:
    """Named with its cell; the limit itself is still good enough."""
    results = ranked(row(1.0, loo_rate=0.0533), row(2.0, loo_rate=0.07))
    assert broken(results, fail_above=0.0533) == []
    assert broken(results, fail_above=0.05) == [
        "loo_rate 0.0533 of the best cell (rbf gamma=0.5 C=1) is above 0.05"
    ]


def test_it_is_the_chosen_cell_that_is_judged() -> None:
    """Under 1se it is that one which would be used."""
    cells = (row(8.0, loo_rate=0.1, gamma=1.0), row(8.0, loo_rate=0.12, gamma=0.1))
    assert broken(ranked(*cells), fail_above=0.11) == []
    (sentence,) = broken(ranked(*cells, rule="1se"), fail_above=0.11)
    assert sentence.startswith("loo_rate 0.12 of the chosen cell (rbf gamma=0.1 C=8)")


def test_without_a_score_no_gate_holds() -> None:
    """No cell counts: there is nothing below the limit, and nothing applies."""
    lost = ranked(row(radius_margin=1.0, radius_margin_applicable=False),
                  by="radius-margin")  # fmt: skip
    assert broken(lost, fail_above=9.0, require_applicable=True) == [
        "no cell has a score by radius-margin that counts",
        "radius_margin applies to none of 1 cells",
    ]


@pytest.mark.parametrize(
    ("by", "columns", "holds"),
    [
        ("radius-margin", {"radius_margin_applicable": True}, True),
        ("radius-margin", {"radius_margin_applicable": None}, False),
        ("sv-rate", {"b_unique": True}, True),
        ("sv-rate", {"b_unique": False}, False),
        ("compression", {"b_unique": None}, False),
        ("guaranteed-risk", {"guaranteed_risk_vacuous": False}, True),
        ("guaranteed-risk", {"guaranteed_risk_vacuous": True}, False),
        ("vc", {"separable": True}, True),
    ],
)
def test_a_bound_must_apply(by: str, columns: dict[str, Any], holds: bool) -> None:
    """As each bound has it: applicable, b unique, not vacuous, separable."""
    names = ("radius_margin", "sv_rate", "compression_bound", "guaranteed_risk")
    scores = dict.fromkeys((*names, "vc_dimension"), 0.5)
    found = broken(ranked(row(**scores, **columns), by=by), require_applicable=True)
    assert (found == []) == holds


def test_what_always_applies_cannot_be_asked_for() -> None:
    """A gate that cannot fail would be trusted for nothing."""
    for by in ("loo", "cv:5", "train-errors", "n_sv"):
        with pytest.raises(SettingsError, match="no bound that could fail to apply"):
            check_applicable(by)
    refused = run(*SMALL, "loo", "--require-applicable")
    assert (refused.exit_code, refused.stdout) == (2, "")


def test_cells_in_trouble_are_named() -> None:
    """The first three, the others counted."""
    cells = [row(float(C), loo_rate=0.1, status="failed") for C in range(1, 6)]
    results = ranked(row(9.0, loo_rate=0.1), *cells)
    (sentence,) = broken(results, require_converged=True)
    assert sentence == (
        "5 of 6 cells did not converge or failed: rbf gamma=0.5 C=1 (failed), rbf "
        "gamma=0.5 C=2 (failed), rbf gamma=0.5 C=3 (failed), 2 more"
    )
    assert broken(ranked(row(loo_rate=0.1)), require_converged=True) == []


@pytest.mark.parametrize(
    ("states", "gate", "code"),
    [
        (("ok", "ok"), {}, 0),
        (("ok", "ok"), {"fail_above": 0.05}, 1),
        (("ok", "not_converged"), {}, 5),
        (("ok", "not_converged"), {"fail_above": 0.5}, 5),
        (("ok", "not_converged"), {"fail_above": 0.05}, 1),
        (("ok", "failed"), {"require_converged": True}, 1),
        (("failed", "failed"), {"require_converged": True}, 4),
    ],
)
def test_all_failed_goes_before_a_gate_and_a_gate_before_some_trouble(
    states: tuple[str, ...],
    gate: dict[str, Any],
    code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """4, then 1, then 5; a broken gate is said in any case."""
    cells = [row(float(i), loo_rate=0.1, status=s) for i, s in enumerate(states, 1)]
    assert gated_exit_code(ranked(*cells), gate) == code
    assert code in EXIT_CODES
    assert ("Gate failed: " in capsys.readouterr().err) == (code in (1, 4))


def test_a_broken_gate_is_one_line_and_the_results_are_written() -> None:
    """Exit 1, even in quiet; stdout has what it always has."""
    passed = run(*SMALL, "train-errors", "--format", "csv", "-q", "--fail-above", "99")
    failed = run(*SMALL, "train-errors", "--format", "csv", "-q", "--fail-above", "0")
    assert (passed.exit_code, failed.exit_code) == (0, 1)
    without_times = [line.rsplit(",", 1)[0] for line in passed.stdout.splitlines()]
    assert [x.rsplit(",", 1)[0] for x in failed.stdout.splitlines()] == without_times
    assert failed.stderr.splitlines() == [
        "Gate failed: train_errors 2 of the best cell (rbf gamma=0.1 C=10) is above 0"
    ]
    wrong = run(*SMALL, "train-errors", "--fail-above", "few")
    assert (wrong.exit_code, wrong.stdout) == (2, "")


def test_rank_and_loo_have_gates(tmp_path: Path) -> None:
    """The same lines and the same code."""
    path = tmp_path / "ranked.csv"
    path.write_text(render(ranked(row(loo_rate=0.1)), "csv"))
    found = run("rank", path, "--fail-above", "0.05")
    assert found.exit_code == 1
    assert "Gate failed: loo_rate 0.1 of the best cell" in found.stderr
    assert (
        run("rank", path, "--fail-above", "0.1", "--require-converged").exit_code == 0
    )
    for limit, code in (("0.01", 1), ("0.5", 0)):
        line = ("loo", IRIS, "--C", "1", "--gamma", "0.25", "--fail-above", limit)
        judged = run(*line)
        assert judged.exit_code == code
        assert "Leave-one-out:" in judged.stdout
        assert ("Gate failed: loo_rate 0.0" in judged.stderr) == bool(code)

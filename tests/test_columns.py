"""The one table of columns, and the one answer to "does this value hold here"."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from msvm_select.columns import (
    COLUMNS,
    EXTRA,
    RANKED_BY,
    SCORES,
    TABLE,
    column_of,
    counts,
    find_column,
    further_columns,
    holds,
    ranked_column,
    scored_columns,
    state_of,
)
from msvm_select.names import CRITERIA
from msvm_select.results.notes import broken
from msvm_select.results.ranking import Results, rank
from msvm_select.show.answers.compare import Comparison
from msvm_select.show.charts.curves import curves_of
from msvm_select.show.charts.heat import heat_map_of
from tests.conftest import row

VERSION_1 = (
    "rank kernel gamma degree coef0 C solver status status_reason n_samples n_classes "
    "train_errors n_sv n_bounded separable dual_objective sum_alpha norm_w gap "
    "kkt_violation b_unique diameter diameter_all loo_errors loo_rate loo_ambiguous "
    "loo_retrained radius_margin radius_margin_applicable K radius_margin_q "
    "radius_margin_count guaranteed_risk guaranteed_risk_gamma guaranteed_risk_vacuous "
    "sv_rate compression_bound vc_dimension cv_error holdout_error iterations seconds"
)


def test_the_schema_of_version_1_stands() -> None:
    """In its order; what is new follows it."""
    assert " ".join(COLUMNS) == VERSION_1
    assert EXTRA[:3] == ("loss", "span_rate", "radius_margin_l1")


def test_the_table_loads_neither_numba_nor_numpy() -> None:
    """Completion and settings ask it before anything is computed."""
    code = (
        "import sys, msvm_select.columns;"
        "heavy = {'numba', 'numpy', 'msvm_select.criteria', 'msvm_select.solvers'};"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_table_knows_the_columns_of_the_criteria() -> None:
    """Each criterion ranks by the one column that the table says, and by a score."""
    assert {n: c.name for n, c in RANKED_BY.items()} == {
        name: kind.column for name, kind in CRITERIA.items()
    }
    assert {c.criterion for c in TABLE.values()} - {""} == CRITERIA.keys()


def test_every_column_that_another_one_names_is_there() -> None:
    """And is of the type that it must be."""
    for column in TABLE.values():
        for name in (column.applies_where, column.vacuous_where):
            assert not name or TABLE[name].kind is bool
        for name in (column.doubt, column.share):
            assert not name or TABLE[name].kind in (int, float)
        assert column.meaning
        assert column.empty
        assert bool(column.role) <= bool(column.label)


@pytest.mark.parametrize(
    ("column", "columns", "state"),
    [
        ("loo_rate", {"loo_rate": 0.1}, "ok"),
        ("loo_rate", {"loo_rate": 0.1, "loo_ambiguous": 2}, "ambiguous"),
        ("loo_rate", {}, "none"),
        ("loo_rate", {"loo_rate": 0.1, "status": "not_converged"}, "not_converged"),
        ("loo_rate", {"loo_rate": 0.1, "status": "failed"}, "failed"),
        ("sv_rate", {"sv_rate": 0.5, "b_unique": True}, "ok"),
        ("sv_rate", {"sv_rate": 0.5, "b_unique": False}, "inapplicable"),
        ("compression_bound", {"compression_bound": 0.9, "b_unique": True}, "ok"),
        ("compression_bound", {"compression_bound": 1.2, "b_unique": True}, "vacuous"),
        ("vc_dimension", {"vc_dimension": 7.0, "separable": False}, "inapplicable"),
        (
            "radius_margin",
            {"radius_margin": 7.0, "radius_margin_applicable": False},
            "inapplicable",
        ),
        (
            "guaranteed_risk",
            {"guaranteed_risk": 0.9, "guaranteed_risk_vacuous": False},
            "ok",
        ),
        (
            "guaranteed_risk",
            {"guaranteed_risk": 2.9, "guaranteed_risk_vacuous": True},
            "vacuous",
        ),
    ],
)
def test_the_state_of_a_value(column: str, columns: dict[str, Any], state: str) -> None:
    """What the table says, from the row alone; a vacuous value can still be ranked."""
    one = row(**columns)
    assert state_of(one, column) == state
    assert holds(one, column) == (state in ("ok", "ambiguous"))
    assert counts(one, column) == (state in ("ok", "ambiguous", "vacuous"))


def test_all_rooms_give_one_answer() -> None:
    """Ranking, gates, compare and charts: sv-rate does not hold without a unique b."""
    rows = [
        row(1.0, sv_rate=0.2, b_unique=False, loo_rate=0.3),
        row(2.0, sv_rate=0.4, b_unique=True, loo_rate=0.2),
        row(4.0, sv_rate=0.6, b_unique=False, loo_rate=0.1),
    ]
    settings = {"criteria": ("loo", "sv-rate"), "rank_by": "loo"}
    by_loo = Results(rank(rows, "loo"), "loo", settings=settings)
    by_sv = by_loo.ranked("sv-rate")
    assert [r.C for r in by_sv.rows] == [2.0, 1.0, 4.0]
    assert [r.C for r in by_sv.counting] == [2.0]
    compared = {r["criterion"]: r for r in Comparison(by_loo, {}).rows}
    assert compared["sv-rate"]["applies"] == 1
    assert compared["sv-rate"]["C"] == 2.0
    (curve,) = [c for c in curves_of(by_loo).bounds if c.column == "sv_rate"]
    assert curve.counts == (False, True, False)
    states = [c.state for c in heat_map_of(by_loo, "sv-rate").panels[0].cells.values()]
    assert sorted(states) == ["inapplicable", "inapplicable", "ok"]
    assert broken(by_sv, require_applicable=True) == []
    last = replace(by_sv, rows=by_sv.rows[1:])
    assert broken(last, require_applicable=True) == [
        "sv_rate applies to none of 2 cells"
    ]


@pytest.mark.parametrize(
    ("criteria", "columns"),
    [
        (("cv:5", "cv:10"), ["cv_error", "cv10_error"]),
        (("cv:10", "cv:5"), ["cv10_error", "cv_error"]),
        (("cv:10",), ["cv_error"]),
        (("cv:3", "cv:10"), ["cv_error", "cv10_error"]),
        (("cv", "cv:10"), ["cv_error", "cv10_error"]),
        (("cv", "cv:5"), ["cv_error", "cv_error"]),
        (("holdout:0.5", "holdout:.1"), ["holdout_error", "holdout0.1_error"]),
        (("holdout", "holdout:0.5"), ["holdout_error", "holdout0.5_error"]),
        (("loo", "sv-rate"), ["loo_rate", "sv_rate"]),
    ],
)
def test_a_criterion_of_several_arguments_has_several_columns(
    criteria: tuple[str, ...], columns: list[str]
) -> None:
    """The usual one, else the first, has the column of the schema."""
    found = scored_columns(criteria)
    assert list(found) == list(criteria)
    assert list(found.values()) == columns
    for text, name in found.items():
        assert ranked_column(text, columns) == name
        column = column_of(name)
        assert (column.name, column.role) == (name, RANKED_BY[text.split(":")[0]].role)


def test_a_further_column_is_a_column() -> None:
    """Found by its name in one form, with a label of its own; other names are none."""
    assert column_of("cv10_error").titled == ("cross-validation error rate (cv:10), %")
    for name in ("cv_10_error", "cv010_error", "cvx_error", "cvinf_error", "loo5_rate"):
        assert find_column(name) is None
    one = row(cv_error=0.1, cv10_error=0.2)
    assert one.further == {"cv10_error": 0.2}
    assert (one.value("cv10_error"), one.value("cv3_error")) == (0.2, None)
    assert list(one.values()) == [*TABLE, "cv10_error"]
    assert further_columns([row(), one]) == ["cv10_error"]
    assert further_columns([], ("cv", "cv:7")) == ["cv7_error"]


def test_a_row_is_short_on_the_screen() -> None:
    """Its cell and its status; not all columns."""
    assert repr(row(8.0, rank=3, loo_rate=0.1)) == "Row(rank 3: rbf gamma=0.5 C=8)"
    assert repr(row(8.0, status="failed")) == "Row(rbf gamma=0.5 C=8, failed)"
    page = row(8.0, rank=3, loo_rate=0.1)._repr_html_()
    assert "<td>loo_rate</td><td>0.1</td>" in page
    assert "cv_error" not in page


def test_scores_are_shown_in_the_unit_of_their_column() -> None:
    """Rates in percent to a tenth, other values in three digits."""
    assert column_of("loo_rate").shown(0.0533) == "5.3"
    assert column_of("gap").shown(1.23456e-9) == "1.23e-9"
    assert column_of("radius_margin").shown(2.1e6) == "2.1e6"
    assert all(TABLE[name].label for name in SCORES)

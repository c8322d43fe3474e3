"""The notes' procedures against the exact solver; the examples by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from msvm_select.kernels.inner_products import Linear
from msvm_select.kernels.rbf import Rbf
from msvm_select.lessons import disk, kernel_trick, kkt, selection_bias, vc
from msvm_select.lessons.base import slope, tau_of
from msvm_select.lessons.chunking import chunking, smo_steps
from msvm_select.lessons.frank_wolfe import frank_wolfe
from msvm_select.lessons.perceptron import narrowest, perceptron
from msvm_select.lessons.stochastic import optimum_without_bias, stochastic_ascent
from msvm_select.lessons.subgradient import subgradient
from msvm_select.names import LESSONS
from msvm_select.records import Dataset, Dual
from msvm_select.settings import settings_from
from msvm_select.solution import Solution
from msvm_select.solvers.exact.solver import Exact
from msvm_select.train.along_C import train_cell
from tests.conftest import IRIS, PROBLEMS, run


@pytest.fixture(params=["two", "three"])
def dual(request: pytest.FixtureRequest) -> Dual:
    """Problems of two and of three classes."""
    return PROBLEMS[request.param].dual(Rbf(0.3), 2.0)


@pytest.fixture(name="best")
def optimum(dual: Dual) -> Solution:
    """The exact machine."""
    return Exact().solve(dual)


@pytest.mark.parametrize("procedure", [chunking, smo_steps])
def test_chunking_and_smo_reach_the_optimum(procedure, dual: Dual, best: Solution):
    """The exact objective; J never falls; the last step knows that it is the last."""
    steps = list(procedure(dual))
    values = [step.objective for step in steps]
    assert values[-1] == pytest.approx(best.dual_objective, rel=1e-7)
    assert np.diff(values).min(initial=0.0) > -1e-7
    assert [step.ended for step in steps] == [False] * (len(steps) - 1) + [True]
    assert steps[-1].errors == best.train_errors


def test_chunking_holds_few_samples(dual: Dual, best: Solution) -> None:
    """At most M new ones beside the support vectors of the step before."""
    steps = list(chunking(dual, M=4))
    support = [set(np.flatnonzero(step.alpha.any(axis=1))) for step in steps]
    for before, after in zip(support, support[1:], strict=False):
        assert len(after - before) <= 4
    assert steps[-1].objective == pytest.approx(best.dual_objective, rel=1e-7)


def test_frank_wolfe_bounds_its_own_distance(dual: Dual, best: Solution) -> None:
    """Feasible, rising, and below the optimum by less than a few per cent."""
    steps = list(frank_wolfe(dual, most=60))
    values = [step.objective for step in steps]
    assert np.diff(values).min() > -1e-12
    assert 0.0 <= best.dual_objective - values[-1] < 0.03 * best.dual_objective
    assert np.abs(tau_of(dual, steps[-1].alpha).sum(axis=0)).max() < 1e-9
    assert (steps[-1].alpha >= 0.0).all()
    assert (steps[-1].alpha <= dual.C + 1e-12).all()


def test_averaged_subgradients_come_near_the_primal(dual: Dual, best: Solution) -> None:
    """From above, ever nearer, and without knowing it."""
    steps = list(subgradient(dual, most=2000))
    P = best.primal_objective
    assert P - 1e-9 <= steps[-1].objective < 1.02 * P
    assert steps[-1].objective < steps[20].objective
    assert not any(step.ended for step in steps)


def test_stochastic_ascent_trains_another_machine(dual: Dual, best: Solution) -> None:
    """It reaches the optimum without biases, which is not that with them."""
    steps = list(stochastic_ascent(dual, most=2000))
    own = optimum_without_bias(dual)
    assert steps[-1].objective == pytest.approx(own, rel=1e-6)
    assert own > best.dual_objective + 1e-6
    alpha = steps[-1].alpha
    assert np.abs(tau_of(dual, alpha).sum(axis=0)).max() > 1e-3
    g = slope(dual, dual.gram.product(tau_of(dual, alpha)))
    room = np.where(g > 0.0, dual.C - alpha, alpha)
    assert np.minimum(np.abs(g), room).max() < 1e-4


@pytest.mark.parametrize("Q", [2, 3])
def test_the_perceptron_separates_what_can_be_separated(Q: int) -> None:
    """Within its bound on mistakes; its margin is no wider than the widest."""
    rng = np.random.default_rng(Q)
    y = np.repeat(np.arange(Q), 12)
    angle = 2.0 * np.pi * y / Q
    X = 4.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    X += rng.uniform(-1.0, 1.0, X.shape)
    hard = Dual(Linear().gram(X), y, Q, 1e6)
    last = list(perceptron(hard))[-1]
    assert (last.ended, last.errors) == (True, 0)
    widest = 1.0 / np.sqrt(optimum_without_bias(hard))
    assert last.alpha.sum() <= 2.0 * (X**2).sum(axis=1).max() / widest**2
    assert np.equal(np.mod(last.alpha, 1.0), 0.0).all()
    if Q == 2:
        # ||w_0 - w_1|| = 2 ||w_0||, and J = 1/2 sum_k ||w_k||^2 = ||w_0||^2
        assert 0.0 < narrowest(hard, last.alpha) <= 0.5 * widest + 1e-6


def test_the_perceptron_never_ends_where_nothing_separates() -> None:
    """Equal samples of two classes."""
    dual = Dual(Linear().gram(np.ones((4, 1))), np.array([0, 1, 0, 1]), 2, 1.0)
    steps = list(perceptron(dual, most=30))
    assert len(steps) == 30
    assert not steps[-1].ended


def test_the_examples_of_kkt_are_those_of_the_notes() -> None:
    """(0, 0); (-1/5, -2/5) with 2/5, free to have any sign or not; (0, 0) again."""
    for number, optimum, alphas in (
        ("1", (0.0, 0.0), [0.0]),
        ("2", (-0.2, -0.4), [0.4]),
        ("3", (-0.2, -0.4), [0.0, 0.4]),
        ("4", (0.0, 0.0), [0.0, -0.4]),
    ):
        found = kkt.cases(number)
        (best,) = [one for one in found if not one.why]
        assert best.z == pytest.approx(optimum)
        assert [one.alpha for one in found] == pytest.approx(alphas)


def test_a_plane_cuts_off_the_disk() -> None:
    """No line does; the trained curve lies in the empty ring."""
    X, y = disk.samples()
    assert disk.plane(X, y)[2].train_errors > 0
    w, b, found = disk.plane(disk.phi(X), y)
    assert found.train_errors == 0
    x, z = disk._curve(w, b, np.linspace(0.0, 6.0, 50))
    assert disk.phi(np.stack([x, z], axis=1)) @ w + b == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize(("d", "p"), [(2, 2), (3, 2), (3, 3), (4, 3)])
def test_features_written_out_are_the_kernel(d: int, p: int) -> None:
    """All products, the different ones, and <x, z>^p."""
    x, z = np.random.default_rng(d * p).standard_normal((2, d))
    for phi in (kernel_trick.ordered, kernel_trick.distinct):
        assert phi(x, p) @ phi(z, p) == pytest.approx((x @ z) ** p)
    assert kernel_trick.ordered(x, p).size == d**p


def test_what_a_line_shatters() -> None:
    """Cover: m points in general position have 2 sum_{i <= d} binom(m - 1, i)."""
    made = {
        name: vc.labellings(np.array(points, dtype=float))[0]
        for name, points in vc.POINTS.items()
    }
    assert list(made.values()) == [4, 8, 6, 14, 14]


@pytest.mark.parametrize("topic", ["kkt", "disk", "kernel-trick", "vc"])
def test_examples_from_the_line(topic: str, tmp_path: Path) -> None:
    """A table, json, and a picture where there is one."""
    more = ["3"] if topic == "kkt" else []
    done = run("teach", topic, *more)
    assert done.exit_code == 0, done.stderr
    rows = json.loads(run("teach", topic, *more, "--format", "json").stdout)["rows"]
    assert rows
    path = tmp_path / "picture.svg"
    drawn = run("teach", topic, *more, "--picture", path)
    assert drawn.exit_code == (2 if topic == "kernel-trick" else 0)
    assert path.exists() == (topic != "kernel-trick")


def test_genes_chosen_on_all_rows_are_biased() -> None:
    """On noise: hardly an error one way, guessing the other; all need no choice."""
    X, y = selection_bias.noise()
    errors = {
        (q, inside): selection_bias.left_out_errors(X[::2], y[::2], q, inside)
        for q in (50, X.shape[1])
        for inside in (False, True)
    }
    assert errors[50, False] <= 1
    assert errors[50, True] >= 6
    assert errors[X.shape[1], False] == errors[X.shape[1], True]


def test_wide_data_with_constant_genes() -> None:
    """They change nothing, and the machine is that of the inner products."""
    X, y = selection_bias.noise(1)
    flat = np.hstack([X[:, :300], np.full((len(X), 40), 7.0)])
    with_them = train_cell(_data(flat, y), settings_from(LINEAR)).solution
    without = train_cell(_data(X[:, :300], y), settings_from(LINEAR)).solution
    assert with_them.dual.gram.m == 40
    assert with_them.dual_objective == pytest.approx(without.dual_objective, rel=1e-9)


LINEAR = {"kernel": "linear", "C": 0.01}


def _data(X: np.ndarray, y: np.ndarray) -> Dataset:
    names = tuple(f"g{j}" for j in range(X.shape[1]))
    return Dataset(X, y, ("a", "b"), names)


def two_of_iris(tmp_path: Path, *names: str) -> Path:
    """The samples of some classes of iris."""
    head, *rows = IRIS.read_text(encoding="utf-8").splitlines()
    path = tmp_path / "part.csv"
    kept = [row for row in rows if row.endswith(names)]
    path.write_text("\n".join([head, *kept[::3]]) + "\n")
    return path


def test_solvers_from_the_line(tmp_path: Path) -> None:
    """A row a step; the last of each procedure in the table."""
    data = two_of_iris(tmp_path, "versicolor", "virginica")
    line = ("teach", "solvers", data, "--C", 1, "--gamma", 0.2)
    done = run(*line, "--format", "json", "--picture", tmp_path / "p.svg")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    last = {row["procedure"]: row for row in told["rows"]}
    assert list(last) == [
        *("chunking", "smo", "frank-wolfe", "subgradient", "stochastic", "perceptron"),
    ]
    for name in ("chunking", "smo", "stochastic"):
        assert last[name]["distance"] < 1e-6
    assert told["optimum_without_biases"] > told["optimum"]
    assert last["perceptron"]["objective"] is None
    assert (tmp_path / "p.svg").exists()


def test_margins_of_two_classes(tmp_path: Path) -> None:
    """At hard margin alpha'H alpha = ||v||^2 = sum alpha = 1 / gamma^2."""
    data = two_of_iris(tmp_path, "setosa", "virginica")
    line = ("teach", "margins", data, "--kernel", "linear", "--C", 1000)
    rows = json.loads(run(*line, "--format", "json").stdout)["rows"]
    told = {(row["of"], row["what"]): row["value"] for row in rows}
    assert told["margins", "separable"]
    assert told["notes", "all three equal"]
    norm = told["notes", "||v||^2"]
    assert told["notes", "sum alpha"] == pytest.approx(norm, rel=1e-9)
    assert told["notes", "1 / gamma^2"] == pytest.approx(norm, rel=1e-9)
    counted = [v for (of, _), v in told.items() if of == "states"]
    assert sum(counted) == sum(v for (of, _), v in told.items() if of == "slacks")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("solver",), "did you mean 'solvers'"),
        (("kkt",), "needs a number"),
        (("kkt", "5"), "1, 2, 3 and 4"),
        (("vc", "5"), "takes nothing more"),
        (("solvers",), "needs data"),
        (("solvers", IRIS, "--machine", "ovo"), "of the machine ww"),
        (("margins", IRIS, "--loss", "l2"), "of the machine ww"),
        (("disk", "--picture", "disk.gif"), "ends in one of"),
    ],
)
def test_what_cannot_be_taught(words: tuple[object, ...], told: str) -> None:
    """Exit 2, with the way out."""
    done = run("teach", *words)
    assert done.exit_code == 2
    assert told in done.stderr


def test_every_topic_is_in_the_help() -> None:
    """By its name."""
    text = run("teach", "--help").stdout
    assert all(topic in text for topic in LESSONS)

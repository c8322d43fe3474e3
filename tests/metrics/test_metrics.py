"""Each metric beside scikit-learn's, with weights, and its jackknife term by term."""

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import softmax as softmax_of
from sklearn import metrics as peer

from msvm_select.errors import DataError, SettingsError
from msvm_select.left_out import graded_votes
from msvm_select.metrics.base import Answers, lead
from msvm_select.metrics.calibration import softmax, temperature
from msvm_select.metrics.counted import Cost
from msvm_select.names import METRICS

CLASSES = ("a", "b", "c", "d")
COSTS = np.array([[0, 1, 2, 9], [3, 0, 1, 1], [1, 1, 0, 4], [8, 2, 2, 0.0]])
METRIC_NAMES = [name for name in METRICS if name != "cost"]


def answers(m=60, Q=4, seed=0, weighted=True, right=1.0):
    """Outputs that are right more often than not; one class is rare."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.integers(0, Q + 2, m), Q - 1)
    h = rng.normal(size=(m, Q))
    h[np.arange(m), y] += right
    w = rng.integers(1, 4, m).astype(float) if weighted else None
    return Answers.of(y, h.argmax(axis=1), h, None, w)


def metric(name):
    """The metric by name; cost has its table."""
    return Cost(COSTS) if name == "cost" else METRICS[name].parse(None, CLASSES)


def by_scikit_learn(name, a):
    """The same number."""
    y, told, w = a.y, a.predicted, a.weights
    match name:
        case "error":
            return 1.0 - peer.accuracy_score(y, told, sample_weight=w)
        case "balanced-error":
            return 1.0 - peer.balanced_accuracy_score(y, told, sample_weight=w)
        case "macro-f1":
            return peer.f1_score(y, told, average="macro", sample_weight=w)
        case "auc":
            scores = lead(a.outputs)
            each = [
                peer.roc_auc_score(y == k, scores[:, k], sample_weight=w)
                for k in np.unique(y)
            ]
            return np.mean(each)
        case "log-loss":

            def loss(log_T):
                p = softmax_of(a.outputs / np.exp(log_T), axis=1)
                return peer.log_loss(y, p, sample_weight=w, labels=range(a.Q))

            return minimize_scalar(loss, bounds=(-5, 5), method="bounded").fun
    margin = a.outputs[np.arange(y.size), y] - np.where(
        np.eye(a.Q)[y] > 0, -np.inf, a.outputs
    ).max(axis=1)
    return np.average(1.0 / (1.0 + np.exp(4.0 * margin)), weights=w)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("Q", [2, 4])
@pytest.mark.parametrize("name", METRIC_NAMES)
def test_the_value_is_scikit_learns(name, Q, weighted):
    """To rounding, with weights and without."""
    a = answers(Q=Q, weighted=weighted)
    near = 1e-6 if name == "log-loss" else 1e-12
    assert metric(name).value(a) == pytest.approx(by_scikit_learn(name, a), abs=near)


def without(a, i):
    """The answers but one."""
    keep = np.arange(a.y.size) != i
    return Answers.of(
        a.y[keep], a.predicted[keep], a.outputs[keep], a.margin[keep], a.weights[keep]
    )


@pytest.mark.parametrize("name", [*METRIC_NAMES, "cost"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_jackknife_is_that_of_leaving_each_out(name, seed):
    """Every value without a sample, even of one that is alone in its class."""
    a = answers(m=40, seed=seed)
    y = a.y.copy()
    y[y == 0] = 1
    y[0] = 0
    a = Answers.of(y, a.predicted, a.outputs, None, a.weights)
    one = metric(name)
    each = np.array([one.value(without(a, i)) for i in range(y.size)])
    # of the log-loss the second order is enough: far less than the spread
    near = 0.02 * each.std() if name == "log-loss" else 1e-12
    assert np.abs(one.of(a)[1] - each).max() < near
    spread = ((each - each.mean()) ** 2).sum() * (y.size - 1) / y.size
    assert one.measured(a)[1] == pytest.approx(np.sqrt(spread), rel=0.01)


@pytest.mark.parametrize("name", [*METRIC_NAMES, "cost"])
def test_a_group_leaves_the_jackknife_as_one(name):
    """Every value without a group: one holds a whole class, one all others of some."""
    a, one = answers(m=60), metric(name)
    groups = np.random.default_rng(1).integers(2, 9, 60)
    groups[a.y == 0] = 0
    groups[a.y == 1] = np.where(np.arange((a.y == 1).sum()) < 3, 5, 1)
    parts = a.y, np.where(a.wrong & (groups == 3), -1, a.predicted), a.outputs
    whole = Answers.of(*parts, None, a.weights, groups)
    each = []
    for g in np.unique(groups):
        keep = groups != g
        left = (part[keep] for part in parts)
        each.append(one.value(Answers.of(*left, None, a.weights[keep])))
    without = one.of(whole)[1]
    near = 0.1 * np.std(each) if name == "log-loss" else 1e-12
    assert np.abs(without - each).max() < near
    n, spread = len(each), np.var(each)
    if name != "log-loss":
        assert one.measured(whole)[1] == pytest.approx(np.sqrt((n - 1) * spread))


@pytest.mark.parametrize("name", [*METRIC_NAMES, "cost"])
def test_a_weight_is_a_number_of_copies(name):
    """Weight 2 is the row twice, weight 0 its absence."""
    a = answers(m=30, weighted=False)
    w = np.arange(30) % 3
    rows = np.repeat(np.arange(30), w)
    one, parts = metric(name), (a.y, a.predicted, a.outputs, a.margin)
    weighed = one.value(Answers.of(*parts, w.astype(float)))
    assert weighed == pytest.approx(one.value(Answers.of(*(p[rows] for p in parts))))


def test_the_smooth_error_is_on_the_side_of_the_answer():
    """Where votes go against a margin, the answer counts."""
    a = answers()
    assert ((a.margin < 0) <= a.wrong).all()
    turned = Answers.of(a.y, a.y, a.outputs, -np.ones(a.y.size))
    assert metric("smooth-error").value(turned) == pytest.approx(0.5)


def test_a_tie_is_no_class():
    """It is an error, counts for no class in F1, and costs the most there is."""
    y = np.array([0, 0, 1, 1])
    a = Answers.of(y, np.array([0, -1, 1, -1]), np.zeros((4, 2)))
    assert metric("error").value(a) == metric("balanced-error").value(a) == 0.5
    expected = peer.f1_score(y, [0, 2, 1, 2], labels=[0, 1], average="macro")
    assert metric("macro-f1").value(a) == pytest.approx(expected)
    assert Cost(np.array([[0, 2.0], [6.0, 1.0]])).value(a) == (0 + 2 + 1 + 6) / 4


def test_the_temperature_where_all_are_right():
    """The loss falls for ever; it ends at ln 2 / (m + 1), whatever the scale."""
    y = np.arange(20) % 3
    h = 1.0 * np.eye(3)[y] + 0.1 * np.random.default_rng(0).random((20, 3))
    for scale in (1e-3, 1.0, 1e3):
        T = temperature(y, scale * h)
        loss = peer.log_loss(y, softmax(scale * h, T))
        assert loss == pytest.approx(np.log(2) / 21, rel=1e-6)


def test_the_temperature_of_outputs_that_say_nothing():
    """Finite, and the probabilities are almost even; also of outputs all alike."""
    y = np.arange(40) % 2
    against = np.eye(2)[1 - y]
    T = temperature(y, against)
    assert np.isfinite(T)
    assert np.abs(softmax(against, T) - 0.5).max() < 1e-3
    assert temperature(y, np.ones((40, 2))) == 1.0


def test_an_absent_class():
    """Its sample says nothing of T, and has the largest loss and no probability."""
    a = answers(m=40, weighted=False)
    h = np.vstack([a.outputs, [-np.inf, 0.0, 0.0, 0.0]])
    y = np.append(a.y, 0)
    assert temperature(y, h) == pytest.approx(temperature(a.y, a.outputs))
    assert softmax(h, 1.0)[-1].tolist() == [0.0, 1 / 3, 1 / 3, 1 / 3]
    both = Answers.of(y, np.append(a.predicted, -1), h)
    loss = metric("log-loss")
    assert loss.value(both) == pytest.approx((40 * loss.value(a) + 36.0) / 41)
    assert 0.0 < metric("auc").value(both) < 1.0


def test_votes_with_their_confidences():
    """The order is that of the votes; of a tie the first class has the most."""
    votes = np.array([[2.0, 2.0, 2.0, 0.0], [0.0, 3.0, 1.0, 2.0]])
    sums = np.array([[-5.0, 7.0, 1.0, 0.0], [9.0, -9.0, 9.0, -9.0]])
    h = graded_votes(votes, sums)
    assert h.argmax(axis=1).tolist() == [0, 1]
    assert h[1].argsort().tolist() == [0, 2, 3, 1]
    assert np.abs(h - votes).max() < 1 / 3


def table(path: Path, text: str) -> str:
    """A file of costs."""
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_costs_are_read_by_name(tmp_path):
    """In any order of rows and columns."""
    file = table(tmp_path / "c.csv", "was,c,a,b\nb,5,6,0\na,1,0,2\nc,0,7,8\n\n")
    costs = METRICS["cost"].parse(file, ("a", "b", "c")).costs
    assert costs.tolist() == [[0, 2, 1], [6, 0, 5], [7, 8, 0]]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("was,a,b\na,0,1\n", "lacks the row for 'b'"),
        ("was,a\na,0\nb,1\n", "lacks the column for 'b'"),
        ("was,a,b\na,0,x\nb,1,0\n", "'x', no number"),
        ("was,a,b\na,0,1\nb,1\n", "has 1 costs"),
        ("was,a,b\na,0,1\nb,1,0\nb,1,0\n", "more than one row for 'b'"),
        ("was,a,bb\na,0,1\nb,1,0\n", "'bb' is no class of the data"),
        ("\n", "needs a header"),
    ],
)
def test_a_table_of_costs_that_is_none(tmp_path, text, told):
    """The message names what is missing."""
    with pytest.raises(DataError, match=told):
        METRICS["cost"].parse(table(tmp_path / "c.csv", text), ("a", "b"))
    with pytest.raises(SettingsError, match="takes a file"):
        METRICS["cost"].parse(None, ("a", "b"))
    with pytest.raises(SettingsError, match="takes no"):
        METRICS["auc"].parse("x", ("a", "b"))

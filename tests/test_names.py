"""The registry: every name leads to its class, and nothing is imported before."""

from __future__ import annotations

import subprocess
import sys

import pytest

from msvm_select.names import (
    CRITERIA,
    ENDINGS,
    FORMATS,
    KERNELS,
    MACHINES,
    METRICS,
    SOLVERS,
    Registry,
)

REGISTRIES = {
    "kernels": KERNELS,
    "machines": MACHINES,
    "solvers": SOLVERS,
    "criteria": CRITERIA,
    "metrics": METRICS,
}


@pytest.mark.parametrize("what", REGISTRIES)
def test_every_name_is_that_of_its_class(what: str) -> None:
    """The class is in the folder, has the name, and a line says what it is."""
    registry: Registry[object] = REGISTRIES[what]  # type: ignore[assignment]
    for name in registry:
        kind = registry[name]
        assert kind.__module__.startswith(f"msvm_select.{what}.")
        assert kind.name == name  # type: ignore[attr-defined]
        summary = registry.summary(name)
        assert summary
        assert "\n" not in summary


def test_an_unknown_name_is_a_key_error() -> None:
    """As of any mapping."""
    assert "nothing" not in KERNELS
    assert KERNELS.get("nothing") is None
    with pytest.raises(KeyError):
        KERNELS["nothing"]


def test_to_know_the_names_imports_nothing_heavy() -> None:
    """Names, lengths and summaries are there without numpy and without any plug-in."""
    code = (
        "import sys; from msvm_select.names import CRITERIA, KERNELS\n"
        "assert 'rbf' in KERNELS and len(list(CRITERIA)) == len(CRITERIA)\n"
        "assert KERNELS.summary('rbf')\n"
        "print([m for m in sys.modules if m.startswith('msvm_select.')"
        " or m.split('.')[0] in ('numpy', 'scipy', 'numba')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['msvm_select.names']"


def test_a_class_may_be_put_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """For this process; what was there is there again afterwards."""
    before = dict(KERNELS.items())
    with monkeypatch.context() as patched:
        patched.setitem(KERNELS, "mine", before["rbf"])
        patched.setitem(KERNELS, "rbf", before["linear"])
        assert list(KERNELS) == [*before, "mine"]
        assert KERNELS["rbf"] is before["linear"]
    assert dict(KERNELS.items()) == before


def test_every_ending_is_that_of_a_format() -> None:
    """And every format has an ending, but the one that is not for a file alone."""
    assert {*ENDINGS.values(), "github"} == set(FORMATS)

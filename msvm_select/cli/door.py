"""The one lazy door: what a command imports is loaded when the command first uses it.

The commands import at the top of their files, as all modules do. While the door is open
the modules of this package are made but not run, until something of them is asked for;
so ``--help`` loads neither numpy nor a solver. A command that is to find them lazily
imports the module and not what is in it: ``from msvm_select.sweep import loop``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

LAZY: list[str] = []
"""The modules that were found so, in this order."""


class _Door(MetaPathFinder):
    """Finds the modules of this package, to be run later."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """As the path has it, with a loader that waits."""
        if not fullname.startswith("msvm_select."):
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
            LAZY.append(fullname)
        return spec


@contextmanager
def opened() -> Iterator[None]:
    """The door open: modules that are imported now are run when they are used."""
    door = _Door()
    sys.meta_path.insert(0, door)
    try:
        yield
    finally:
        sys.meta_path.remove(door)


def load_all() -> None:
    """Run what still waits: two threads must not be the first to use a module."""
    for name in LAZY:
        vars(sys.modules[name])  # any attribute makes it run

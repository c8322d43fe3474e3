"""``--journal`` and ``--resume``: what is finished is kept, and gone on from."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msvm_select import files
from msvm_select.cli import PROGRAM
from msvm_select.errors import SettingsError
from msvm_select.sweep import journal as journals

if TYPE_CHECKING:
    from msvm_select.sweep.journal import Journal


def opened_journal(
    options: Mapping[str, Any], *others: str | None
) -> journals.Journal | None:
    """That of the line, if any; ``others`` are files that it must not be."""
    path = options["journal"]
    if path is None:
        if options["resume"]:
            raise SettingsError("--resume goes on from a journal: name it, --journal.")
        return None
    files.check_apart("--journal", path, *others)
    return journals.Journal(path, options["resume"])


def how_to_go_on(journal: Journal | None, data: str) -> str:
    """After a stop: the line to type, or what would have made it possible."""
    if journal is None:
        return "To be able to go on after a stop: --journal FILE, and then --resume."
    same = ", with the same data on standard input" if data == "-" else ""
    return f"To go on{same}: {resuming_line(sys.argv[1:])}"


def resuming_line(arguments: list[str]) -> str:
    """The line that was typed, and ``--resume``."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    resume = [] if "--resume" in arguments else ["--resume"]
    return f"{_program()} {shlex.join([*arguments[:at], *resume, *arguments[at:]])}"


def _program() -> str:
    """This program as it can be typed here."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return shlex.join([sys.executable, "-m", "msvm_select"])
    found = shutil.which(PROGRAM)
    if found is not None and Path(found).resolve() == called.resolve():
        return PROGRAM
    return shlex.quote(sys.argv[0])

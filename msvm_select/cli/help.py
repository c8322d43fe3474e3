"""``msvm-select help COMMAND``: what ``COMMAND --help`` prints; and the versions."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of

import click

from msvm_select.cli import cli
from msvm_select.cli.options import Command

PACKAGES = (
    *("numpy", "scipy", "numba", "osqp", "qpsolvers", "click", "pandas", "rich"),
    *("matplotlib", "scikit-learn"),
)


@click.command("help", cls=Command, short_help="Print the help of a command.")
@click.argument("name", metavar="[COMMAND]", required=False)
@click.pass_context
def command(context: click.Context, name: str | None) -> None:
    """Print the help of a command, or of the whole program.

    \b
    msvm-select help
    msvm-select help sweep
    """
    line = ["--help"] if name is None else [name, "--help"]
    root = context.find_root()
    cli.main(line, prog_name=root.info_name, standalone_mode=False)


def versions_text() -> str:
    """A line each, this program first; packages are asked for, not imported."""
    lines = [
        ("msvm-select", version_of("msvm-select")),
        ("Python", platform.python_version()),
        *((package, _version(package)) for package in PACKAGES),
        ("platform", f"{platform.system()} {platform.release()} {platform.machine()}"),
    ]
    return "\n".join(f"{name} {found}" for name, found in lines)


def _version(package: str) -> str:
    try:
        return version_of(package)
    except PackageNotFoundError:
        return "(not installed)"

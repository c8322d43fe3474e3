"""``msvm-select``: the group of commands, and what becomes of an error.

Here alone an MsvmError turns into a message and an exit code. Commands are imported
when they are asked for; each lives in the module of its name, as ``command``.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from msvm_select.cli.door import opened
from msvm_select.errors import (
    DataError,
    MsvmError,
    NotSeparableError,
    SettingsError,
)
from msvm_select.handover import BLAS_THREADS
from msvm_select.phrases import did_you_mean

with opened():
    from msvm_select.cli.interrupts import heed_sigterm, leave_threads_behind, stop_code
    from msvm_select.cli.streams import hold_standard_streams, lost_output

COMMANDS = {
    "sweep": ("sweep:command", "Train and rank the cells of a grid."),
    "run": ("sweep:run", "Sweep as a TOML file says."),
    "merge": ("merge:command", "Put the parts of a sweep together."),
    "rank": ("rank:command", "Rank a result file by another criterion."),
    "show": ("show:command", "List kernels, machines, criteria, formats."),
    "check": ("check:command", "Report what is in a data file."),
    "generate": ("generate:command", "Write artificial data as CSV or FASTA."),
    "encode": ("encode:command", "Write the features of sequences as CSV."),
    "fit": ("fit:command", "Train one machine and save it."),
    "predict": ("predict:command", "Classify samples with a model of fit."),
    "loo": ("examine:loo", "Judge each sample by a machine without it."),
    "bound": ("examine:bound", "Show every term of every bound of one cell."),
    "margins": ("examine:margins", "Show the margin between each pair of classes."),
    "plot": ("plot:command", "Draw results, a machine, samples along C."),
    "compare": ("compare:command", "Compare how well the criteria choose."),
    "teach": ("teach:command", "Compute a procedure or an example of the notes."),
    "experiment": ("experiment:command", "Repeat the experiment of a paper."),
    "completion": ("show:completion", "Print the script for completion in a shell."),
    "help": ("show:show_help", "Print the help of a command."),
}
"""Name -> ("module:function", one line for the help)."""
FIRST = "first:command"
"""What is done with a file that stands in the place of a command."""
PACKAGES = (
    *("numpy", "scipy", "numba", "osqp", "qpsolvers", "click", "pandas", "rich"),
    *("matplotlib", "scikit-learn"),
)
PROGRAM = "msvm-select"
COMPLETE_VARIABLE = "_MSVM_SELECT_COMPLETE"  # set by what ``completion`` prints
EXIT_CODES = {
    0: "all is well",
    1: "a failure while running, or a gate that the results do not pass",
    2: "the command line or a setting is not right",
    3: "the data cannot be used",
    4: "every cell failed",
    5: "the results are written, but some cells did not converge or failed",
    130: "interrupted by Ctrl-C; what was finished is kept",
    141: "the program that read the output stopped reading",
    143: "ended by SIGTERM; what was finished is kept",
}

DEBUG = click.Option(
    ["--debug"],
    is_flag=True,
    expose_value=False,
    help="Show the traceback of an error.",
    callback=lambda context, option, value: _note_debug(context, value),
)


class Group(click.Group):
    """The commands by name, in order; errors become messages and exit codes."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """As click does it; --help and --version print here."""
        with lost_output():
            return super().make_context(*args, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All of them, in the order of the help."""
        return list(COMMANDS)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """The names and their lines; no command is imported for it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; every one takes ``--debug``."""
        if cmd_name not in COMMANDS and not _is_path(cmd_name):
            return None
        place = COMMANDS[cmd_name][0] if cmd_name in COMMANDS else FIRST
        module, _, name = place.partition(":")
        with opened():
            found = import_module(f"{__name__}.{module}")
            command: click.Command = getattr(found, name)
        if DEBUG not in command.params:
            command.params.append(DEBUG)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the names that an unknown one may have meant.

        A file in the place of a command is what the first command is to read.
        """
        if args[0] not in COMMANDS and _is_path(args[0]):
            return "DATA", self.get_command(ctx, args[0]), args
        if ctx.resilient_parsing:  # a shell asks, and hears nothing of mistakes
            return super().resolve_command(ctx, args)
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}{did_you_mean(args[0], COMMANDS)}.")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Commands and options; a file where there is none of this name."""
        found = super().shell_complete(ctx, incomplete)
        file = [] if incomplete.startswith("-") else [incomplete]
        return found or [CompletionItem(start, type="file") for start in file]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; end with the exit code that its outcome calls for."""
        with lost_output():
            try:
                return super().invoke(ctx)
            except MsvmError as error:
                tell(error)
                ctx.exit(exit_code(error))
            except KeyboardInterrupt as stop:
                click.echo("Interrupted.", err=True)
                ctx.exit(stop_code(stop))


def _is_path(word: str) -> bool:
    """Whether it is a file, looks like one, or is ``-``; commands never do."""
    named = os.sep in word or os.path.splitext(word)[1] != ""
    return word == "-" or not word.startswith("-") and (named or os.path.exists(word))


def tell(error: BaseException) -> None:
    """The message on stderr; with ``--debug`` where it came from, too."""
    if (click.get_current_context().find_root().obj or {}).get("debug"):
        import traceback

        traceback.print_exception(error)
    for line in (f"Error: {error}", *getattr(error, "__notes__", ())):
        click.echo(line, err=True)


def exit_code(error: MsvmError) -> int:
    """3 for the data's fault, 2 for the settings', 4 and 1 for others."""
    if isinstance(error, NotSeparableError):
        return 4
    if isinstance(error, DataError):
        return 3
    return 2 if isinstance(error, SettingsError) else 1


def _note_debug(context: click.Context, value: bool) -> None:
    if value:
        context.find_root().ensure_object(dict)["debug"] = True


def _print_version(
    context: click.Context, option: click.Parameter, value: bool
) -> None:
    if value:
        click.echo(_versions())
        context.exit()


def _versions() -> str:
    """A line each, this program first; packages are asked for, not imported."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    def told(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "(not installed)"

    lines = [
        (PROGRAM, version(PROGRAM)),
        ("Python", platform.python_version()),
        *((package, told(package)) for package in PACKAGES),
        ("platform", f"{platform.system()} {platform.release()} {platform.machine()}"),
    ]
    return "\n".join(f"{name} {found}" for name, found in lines)


@click.group(
    cls=Group,
    params=[DEBUG],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version, and those of the packages that it uses.",
)
def cli() -> None:
    """Choose the hyperparameters of multi-class support vector machines, exactly.

    \b
    msvm-select data/iris.csv                        check and sweep a file
    msvm-select sweep data/iris.csv                  train a grid, rank its cells
    msvm-select sweep data/iris.csv --kernel linear --C 2^-7:2^7:8 -o ranked.csv
    msvm-select run configs/iris.toml                the same from a file
    msvm-select rank ranked.csv --by train-errors    rank it again

    Results go to stdout or to the -o file, everything else to stderr. To see what
    you can choose from: msvm-select show kernels.
    """


def main() -> None:
    """The console script."""
    # On a busy machine the threads of a BLAS wait for each other: with two of them a
    # sweep was seen to take twenty times as long. --jobs puts the cores to better use.
    for name in BLAS_THREADS:
        os.environ.setdefault(name, "1")
    hold_standard_streams()
    if COMPLETE_VARIABLE in os.environ:
        import_module(f"{__name__}.completing")
    heed_sigterm()
    try:
        cli(prog_name=PROGRAM, complete_var=COMPLETE_VARIABLE)
    except SystemExit as end:
        leave_threads_behind(end.code)
        raise
    except Exception as fault:
        if "--debug" in sys.argv:
            raise
        what = f"{type(fault).__name__}: {fault}"
        with lost_output():
            click.echo(
                f"Error: a fault of {PROGRAM}; --debug shows it. {what}", err=True
            )
        leave_threads_behind(1)
        sys.exit(1)

"""``msvm-select completion SHELL``: the script that lets a shell complete the line.

click's completion, mended where names have spaces, commas or colons. Importing this
module registers the three shells with click.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from msvm_select.cli import COMPLETE_VARIABLE, PROGRAM, cli
from msvm_select.cli.options import Command

SHELLS = ("bash", "zsh", "fish")


class Quiet(ShellComplete):
    """A line without sense completes to nothing; ``--option=VALUE`` stays whole."""

    def get_completions(
        self, args: list[str], incomplete: str
    ) -> list[CompletionItem[str]]:
        """As click does it, but with ``--option=`` again before the value."""
        option, equals, _ = incomplete.partition("=")
        before = option + equals if equals and option.startswith("-") else ""
        try:
            found = super().get_completions(args, incomplete)
        except click.ClickException:
            return []
        for item in found:
            item.value = before + item.value
        return found


@add_completion_class
class Bash(Quiet, BashComplete):
    """Bash cuts words at ``:`` and ``=`` too, and does not quote what it inserts."""

    source_template = """\
%(complete_func)s() {
    local type value
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done < <(env COMP_WORDS="${COMP_LINE:0:COMP_POINT}" \
%(complete_var)s=bash_complete "$1" 2>/dev/null)
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words of the line up to the cursor."""
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)
        self.quote = _open_quote(line)
        ended = not self.quote and re.search(r"(^|[^\\])\s$", line)
        return (words[1:], "") if ended else (words[1:-1], words[-1])

    def get_completions(
        self, args: list[str], incomplete: str
    ) -> list[CompletionItem[str]]:
        """The end of each value that bash takes for a word of its own, quoted."""
        found = super().get_completions(args, incomplete)
        cut = 0 if self.quote else max(map(incomplete.rfind, ":=")) + 1
        for item in found:
            if item.type == "plain":
                item.value = _quoted(item.value[cut:], self.quote)
        return found


@add_completion_class
class Zsh(Quiet, ZshComplete):
    """zsh quotes what it inserts."""


@add_completion_class
class Fish(Quiet, FishComplete):
    """fish quotes what it inserts; its values may have commas."""

    source_template = FishComplete.source_template.replace(
        'string split ","', 'string split --max 1 ","'
    )


def script(shell: str, cli: click.Command, program: str, variable: str) -> str:
    """What the shell is to evaluate."""
    classes: dict[str, type[Any]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}
    text: str = classes[shell](cli, {}, program, variable).source()
    return text


def _open_quote(line: str) -> str:
    """The quote that the line ends within, or nothing."""
    line = line.rstrip("\\")
    if _balanced(line):
        return ""
    return next((quote for quote in "\"'" if _balanced(line + quote)), "")


def _balanced(line: str) -> bool:
    try:
        shlex.split(line)
    except ValueError:
        return False
    return True


def _quoted(value: str, quote: str) -> str:
    """As it must stand on the line, within the quote that is open."""
    if quote == '"':
        return re.sub(r'(["\\$`])', r"\\\1", value)
    return value if quote else re.sub(r"([^\w@%+=:,./~-])", r"\\\1", value)


@click.command(
    "completion", cls=Command, short_help="Print what lets a shell complete the line."
)
@click.argument("shell", metavar="bash|zsh|fish", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script by which a shell completes the line at a TAB.

    \b
    msvm-select completion bash > ~/.msvm-select.bash
    msvm-select completion zsh > ~/.msvm-select.zsh
    msvm-select completion fish > ~/.config/fish/completions/msvm-select.fish

    \b
    Then, once:
      bash  echo 'source ~/.msvm-select.bash' >> ~/.bashrc
      zsh   echo 'source ~/.msvm-select.zsh' >> ~/.zshrc, below its compinit
      fish  nothing: it looks there by itself

    Completed are commands, options, files and the values of options: kernels, solvers,
    formats, criteria (in lists too: --criteria loo,rad), configs of `run`, and for
    --target, --id-column and --one-hot the columns of the DATA that stands before them.
    """
    click.echo(script(shell, cli, PROGRAM, COMPLETE_VARIABLE), nl=False)

"""``msvm-select completion SHELL``: the script that lets a shell complete the line."""

from __future__ import annotations

import click

from msvm_select.cli import COMPLETE_VARIABLE, PROGRAM, cli
from msvm_select.cli.completing import SHELLS
from msvm_select.cli.options import Command


@click.command("completion", cls=Command)
@click.argument("shell", metavar="bash|zsh|fish", type=click.Choice(list(SHELLS)))
def command(shell: str) -> None:
    """Print the script that lets a shell complete commands when you press Tab.

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
    source = SHELLS[shell](cli, {}, PROGRAM, COMPLETE_VARIABLE).source()
    click.echo(source, nl=False)

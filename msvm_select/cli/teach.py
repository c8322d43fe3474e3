"""``msvm-select teach TOPIC``: the notes' procedures and examples, computed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from msvm_select import files, names
from msvm_select.cli.interrupts import patiently
from msvm_select.cli.one_cell import Asked
from msvm_select.cli.options import (
    READ,
    REPORT,
    Command,
    argument,
    takes_one_cell,
)
from msvm_select.cli.streams import Output
from msvm_select.errors import SettingsError
from msvm_select.settings.values import known
from msvm_select.show.figures import drawing, look

NO_ROW = dict.fromkeys(("source", "rank", "select"))  # no earlier results


@click.command("teach", cls=Command)
@argument("topic")
@argument("what", metavar="[DATA|NUMBER]", required=False)
@takes_one_cell("picture", *READ, "seed", *REPORT, "verbose")
def command(topic: str, what: str | None, picture: str | None, **options: Any) -> None:
    """Compute a procedure or an example of the lecture notes.

    \b
    msvm-select teach solvers data/iris.csv --kernel linear --C 1
    msvm-select teach margins data/iris.csv --kernel linear --C 10
    msvm-select teach kkt 3
    msvm-select teach disk --picture disk.svg

    solvers: chunking, SMO, Frank-Wolfe, subgradients, stochastic ascent and the dual
    perceptron beside the exact solver. margins: one machine taken apart: margins,
    slacks, states, identities. kkt 1..4: a minimum under a condition, by cases. disk: a
    plane of the feature space cuts off a disk. kernel-trick: the features written out,
    and the kernel. vc: which labellings of points a line can make. selection-bias: how
    genes chosen on all rows make 0 % error out of noise.

    The first two train a machine on DATA, as the options say; the others need none.
    """
    line = names.LESSONS[known(topic, names.LESSONS, "topic")]
    if picture is not None:
        look.check_figure(picture)
        files.check_writable(picture)
    asked = Asked(what or "", {**NO_ROW, **options})
    inputs = [] if what is None else [what]
    output = Output.of(options, asked.settings.format, asked.talk, *inputs)
    module = import_module(f"msvm_select.lessons.{line.module}")
    if line.takes and what is None:
        raise SettingsError(
            f"teach {topic} needs {line.takes}: teach {topic} {line.eg}"
        )
    if line.takes is None and what is not None:
        raise SettingsError(f"teach {topic} takes nothing more; {what!r} is given.")
    if line.takes == "data":
        if (asked.settings.machine, asked.settings.loss) != ("ww", "l1"):
            raise SettingsError(
                f"teach {topic} is of the machine ww with the loss l1: leave out "
                "--machine and --loss."
            )
        with asked.talk:
            trained = asked.optimal("nothing to take apart")
            lesson = patiently(module.lesson, trained)
    else:
        lesson = patiently(module.lesson, what or "")
    output.deliver(lesson.sheet)
    if picture is not None:
        if lesson.drawing is None:
            raise SettingsError(f"teach {topic} has no picture: leave out --picture.")
        drawn = look.picture(lambda: drawing.drawn(lesson.drawing), picture)
        files.write_whole(picture, drawn.content)
        asked.talk.say(f"Written: {picture}")

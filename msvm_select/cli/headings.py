"""A command whose help has its options under headings."""

from __future__ import annotations

from typing import Any

import click

from msvm_select.cli.completing import complete_params

HEADINGS = {
    "Picture": (
        *("ascii", "curves", "boundary", "margins", "left_out", "paths", "of"),
        *("dpi", "size"),
    ),
    "Kernel and C": (
        *("source", "rank"),
        *("kernel", "C", "gamma", "sigma", "degree", "coef0", "extend"),
    ),
    "Training": (
        *("loss", "scale", "solver", "gap", "qp_backend", "warm_start"),
        *("allow_indefinite", "jobs"),
    ),
    "Scores": (
        *("criteria", "rank_by", "by", "seed"),
        *("delta", "maurey_c", "dimension", "union"),
    ),
    "Choice and gates": (
        *("select", "against", "tolerance"),
        *("fail_above", "require_applicable", "require_converged"),
    ),
    "Data": (
        *(
            "data",
            "target",
            "delimiter",
            "decimal",
            "encoding",
            "no_header",
            "id_column",
        ),
        *("na_values", "one_hot", "missing", "input_format"),
    ),
    "Output": (
        *("scores", "every", "explain"),
        *("output", "format", "form", "top", "report", "journal", "resume"),
        *("quiet", "show_config", "dry_run"),
    ),
}
FEW = 12  # options that one list can hold
REST = "Options"

Record = tuple[str, str]


class Command(click.Command):
    """The help: usage, one sentence, examples, details, then options under headings.

    What is known of the values of its parameters is there for a shell to complete.
    """

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        """As any command."""
        super().__init__(*arguments, **attributes)
        complete_params(self.params)

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Under the headings of their kind, where there are many."""
        records = [
            (param.name or "", record)
            for param in self.get_params(ctx)
            if isinstance(param, click.Option)
            if (record := param.get_help_record(ctx)) is not None
        ]
        for heading, listed in _sorted(records):
            with formatter.section(heading):
                formatter.write_dl(listed)


def _sorted(records: list[tuple[str, Record]]) -> list[tuple[str, list[Record]]]:
    """The records by heading; those of no heading, or of few, under ``Options``."""
    if len(records) <= FEW:
        return [(REST, [record for _, record in records])]
    heading_of = {
        name: heading for heading, names in HEADINGS.items() for name in names
    }
    found: dict[str, list[Record]] = {heading: [] for heading in (*HEADINGS, REST)}
    for name, record in records:
        found[heading_of.get(name, REST)].append(record)
    return [(heading, listed) for heading, listed in found.items() if listed]

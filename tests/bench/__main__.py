"""``python -m tests.bench WHAT [--sets iris,..] [--reps N]``."""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # one core, for us and for the peer

import click  # noqa: E402 (numpy must not be loaded before the lines above)

from tests.bench import (  # noqa: E402
    answers,
    bounds,
    cluster,
    growth,
    hard,
    loo,
    memory,
    parts,
    probabilities,
    rank,
    scale,
    search,
    startup,
    train,
)


@click.command()
@click.argument(
    "what",
    type=click.Choice(
        [
            "train",
            "loo",
            "bounds",
            "parts",
            "choice",
            "growth",
            "hard",
            "memory",
            "answers",
            "probabilities",
            "rank",
            "scale",
            "search",
            "cluster",
            "startup",
        ]
    ),
)
@click.option("--sets", default="iris,wine,glass,vehicle", show_default=True)
@click.option(
    "--reps",
    type=int,
    help="How often each is measured; the least counts. Of choice and probabilities: "
    "seeds.",
)
@click.option("--measure", is_flag=True, help="Of scale: measure its constants anew.")
def main(what: str, sets: str, reps: int | None, measure: bool) -> None:
    """Measure, and print a line a data set."""
    names = sets.split(",")
    if what == "train":
        train.run(names, reps or 5)
    elif what == "loo":
        loo.run(names, reps or 3)
    elif what == "bounds":
        bounds.run(names, reps or 3)
    elif what == "parts":
        parts.run(names, reps or 3)
        parts.letters(2000, reps or 3)
        parts.letters(20000, 1)
        for name in ("vowel", "digits"):
            parts.rests(name, reps or 3)
    elif what == "choice":
        parts.choice(names, reps or 5)
    elif what == "answers":
        answers.run(names, reps or 3)
    elif what == "probabilities":
        probabilities.run(probabilities.SETS, reps or 5)
    elif what == "rank":
        rank.run()
    elif what == "memory":
        memory.run()
    elif what == "scale":
        scale.run(measure)
    elif what == "search":
        search.run(names, reps or 2)
    elif what == "cluster":
        cluster.run("vehicle", reps or 3)
    elif what == "growth":
        growth.run(reps or 1)
    elif what == "hard":
        hard.run()
    else:
        startup.run(reps or 3)


main()

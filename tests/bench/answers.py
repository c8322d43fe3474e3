"""What all metrics together add to a sweep with leave-one-out."""

from functools import partial
from time import process_time

from msvm_select import load_csv, run_sweep
from tests.bench.grid import CS, DATA, GAMMAS, least

METRICS = ("balanced-error", "macro-f1", "log-loss", "smooth-error", "auc")


def run(names: list[str], reps: int) -> None:
    """The 35-cell grid with metrics and without, in turn; CPU seconds, the least."""
    print("set      machine    plain   metrics     more  a cell")
    sums = [0.0, 0.0]
    for name in names:
        data = load_csv(DATA / f"{name}.csv")
        for machine in ("ww", "ovo"):
            swept = partial(run_sweep, data, C=CS, gamma=GAMMAS, machine=machine)
            swept(C=1.0, metric=METRICS)  # what is compiled
            took = [float("inf")] * 2
            for _ in range(reps):
                for i, metric in enumerate((None, METRICS)):
                    work = partial(swept, metric=metric)
                    took[i] = min(took[i], least(1, work, process_time)[0])
            plain, more = took
            sums = [old + new for old, new in zip(sums, took, strict=True)]
            share, each = 100 * (more / plain - 1), 1e3 * (more - plain) / 35
            line = f"{name:8} {machine:7} {plain:8.3f} {more:9.3f} {share:+7.1f} %"
            print(f"{line} {each:6.2f} ms", flush=True)
    print(f"all {100 * (sums[1] / sums[0] - 1):+.1f} %")

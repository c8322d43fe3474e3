"""The estimator that chooses against scikit-learn's, on the same grid."""

import time
from collections.abc import Sequence

from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from msvm_select.estimator import MSVMSearchCV
from tests.bench.grid import CS, GAMMAS, least, load


def run(names: Sequence[str], reps: int) -> None:
    """A ratio of processor time a data set: choice, machine and all, on one core."""
    grid = {"C": CS, "gamma": GAMMAS}
    clock = time.process_time
    MSVMSearchCV(**grid, machine="ovo").fit(*load("iris")[:2])  # compiled
    for name in names:
        X, y, _ = load(name)
        theirs = GridSearchCV(SVC(), grid, cv=5)
        peer, _ = least(reps, lambda X=X, y=y, s=theirs: s.fit(X, y), clock)
        ours = MSVMSearchCV(**grid, machine="ovo")
        took, _ = least(reps, lambda X=X, y=y, s=ours: s.fit(X, y), clock)
        print(
            f"{name}: MSVMSearchCV, each sample left out, {took / peer:.2f} x "
            f"GridSearchCV(SVC(), cv=5) ({took:.2f} s / {peer:.2f} s); best "
            f"{ours.best_score_:.4f} / {theirs.best_score_:.4f}"
        )

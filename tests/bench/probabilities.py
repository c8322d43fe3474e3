"""How far probabilities are off on new samples, ours and scikit-learn's."""

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from msvm_select.estimator import MSVMClassifier, MSVMSearchCV
from msvm_select.metrics.calibration import Reliability
from tests.bench.grid import CS, GAMMAS, load

SETS = ("iris", "wine", "glass", "vehicle", "vowel", "digits")
Floats = NDArray[np.float64]


def run(names: Sequence[str], seeds: int) -> None:
    """Calibration error and log-loss on halves, with the C and gamma that ovo chose."""
    warnings.filterwarnings("ignore", module="sklearn")
    better = {"SVC": 0, "CalibratedClassifierCV": 0}
    for name in names:
        X, y, _ = load(name)
        found = np.mean([halves(X, y, seed) for seed in range(seeds)], axis=0)
        told = zip(("ovo", "SVC", "CalibratedClassifierCV", "ww"), found, strict=True)
        print(
            f"{name}: calibration error / log-loss "
            + ", ".join(f"{who} {ece:.3f} / {loss:.3f}" for who, (ece, loss) in told),
            flush=True,
        )
        for who, (ece, _) in zip(better, found[1:3], strict=True):
            better[who] += bool(found[0][0] <= ece)
    for who, count in better.items():
        print(f"ovo is no worse than {who} on {count} of {len(names)} by the error")


def halves(X: Floats, y: NDArray[np.int64], seed: int) -> list[tuple[float, float]]:
    """Of ours with ovo, of SVC, of CalibratedClassifierCV and of ours with ww."""
    A, B, y_A, y_B = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=seed
    )
    scaler = StandardScaler().fit(A)
    A, B = scaler.transform(A), scaler.transform(B)
    search = MSVMSearchCV(CS, gamma=GAMMAS, machine="ovo", probability=True).fit(A, y_A)
    point = {name: search.best_params_[name] for name in ("C", "gamma")}
    # the C of ww is that of two classes at half of it; with more there is no such rule
    ww = MSVMClassifier(0.5 * point["C"], gamma=point["gamma"], probability=True)
    machines = (
        search,
        SVC(**point, probability=True, random_state=0).fit(A, y_A),
        CalibratedClassifierCV(SVC(**point)).fit(A, y_A),
        ww.fit(A, y_A),
    )
    return [judged(y_B, one.predict_proba(B)) for one in machines]


def judged(y: NDArray[np.int64], p: Floats) -> tuple[float, float]:
    """The expected calibration error, and the mean of -ln p_y."""
    own = np.maximum(p[np.arange(y.size), y], 1e-15)
    error = Reliability.of(y, p.argmax(axis=1), p).error
    return error, float(-np.log(own).mean())

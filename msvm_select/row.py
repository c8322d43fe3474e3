"""One cell of the results: what every format writes and reads again."""

from __future__ import annotations

from dataclasses import dataclass, fields

Setting = tuple[str, float | None, float | None, float | None]
PARAMETERS = ("gamma", "degree", "coef0")
CELL = ("kernel", *PARAMETERS, "C")


@dataclass(frozen=True)
class Row:
    """One cell of the ranked table: the output schema, version 1, in its order.

    None stands for what was not asked for or does not apply. The last columns, EXTRA,
    are not of the schema: they follow it, and only where they were asked for.
    """

    rank: int | None = None
    kernel: str = ""
    gamma: float | None = None
    degree: float | None = None
    coef0: float | None = None
    C: float = 0.0
    solver: str = ""
    status: str = "ok"
    status_reason: str = ""
    n_samples: int = 0
    n_classes: int = 0
    train_errors: int | None = None
    n_sv: int | None = None
    n_bounded: int | None = None
    separable: bool | None = None
    dual_objective: float | None = None
    sum_alpha: float | None = None
    norm_w: float | None = None
    gap: float | None = None
    kkt_violation: float | None = None
    b_unique: bool | None = None
    diameter: float | None = None
    diameter_all: float | None = None
    loo_errors: int | None = None
    loo_rate: float | None = None
    loo_ambiguous: int | None = None
    loo_retrained: int | None = None
    radius_margin: float | None = None
    radius_margin_applicable: bool | None = None
    K: float | None = None
    radius_margin_q: float | None = None
    radius_margin_count: int | None = None
    guaranteed_risk: float | None = None
    guaranteed_risk_gamma: float | None = None
    guaranteed_risk_vacuous: bool | None = None
    sv_rate: float | None = None
    compression_bound: float | None = None
    vc_dimension: float | None = None
    cv_error: float | None = None
    holdout_error: float | None = None
    iterations: int | None = None
    seconds: float | None = None
    loss: str | None = None
    span_rate: float | None = None
    radius_margin_l1: float | None = None

    @property
    def setting(self) -> Setting:
        """The kernel with its parameters, which the cells along C share."""
        return self.kernel, self.gamma, self.degree, self.coef0

    @property
    def parameters(self) -> dict[str, float]:
        """Those that the kernel has, by name, in order."""
        given = {name: getattr(self, name) for name in PARAMETERS}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def cell(self) -> str:
        """``rbf gamma=0.5 C=8``, for a person."""
        point = {**self.parameters, "C": self.C}
        return " ".join([self.kernel, *(f"{k}={v:.6g}" for k, v in point.items())])


EXTRA = ("loss", "span_rate", "radius_margin_l1")
COLUMNS = tuple(f.name for f in fields(Row) if f.name not in EXTRA)
SCHEMA_VERSION = 1

"""What a column of results is called where there is room for words, and its unit."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Label:
    """``text`` for a title; a value is shown as ``factor`` times it, in ``unit``."""

    text: str
    unit: str = ""
    factor: float = 1.0

    @property
    def titled(self) -> str:
        """With the unit, as an axis has it."""
        return f"{self.text}, {self.unit}" if self.unit else self.text

    def shown(self, value: float) -> str:
        """A value as short as it can be told, without its unit."""
        scaled = self.factor * value
        if self.unit == "%":
            return f"{scaled:.1f}"
        return re.sub(r"e([+-])0*(\d)", _exponent, f"{scaled:.3g}")


def _exponent(found: re.Match[str]) -> str:
    sign = found[1].replace("+", "")
    return f"e{sign}{found[2]}"


def _rate(text: str) -> Label:
    return Label(text, "%", 100.0)


LABELS = {
    "loo_rate": _rate("leave-one-out error rate"),
    "loo_errors": Label("leave-one-out errors", "samples"),
    "train_errors": Label("training errors", "samples"),
    "cv_error": _rate("cross-validation error rate"),
    "holdout_error": _rate("holdout error rate"),
    "span_rate": _rate("span estimate of the leave-one-out error rate"),
    "sv_rate": _rate("share of support vectors"),
    "radius_margin": Label("radius-margin bound", "samples"),
    "radius_margin_q": Label("radius-margin index"),
    "radius_margin_l1": Label("softened radius-margin index"),
    "radius_margin_count": Label("count bound B*", "samples"),
    "guaranteed_risk": _rate("guaranteed risk"),
    "compression_bound": _rate("compression bound on the risk"),
    "vc_dimension": Label("VC dimension"),
    "n_sv": Label("support vectors", "samples"),
    "n_bounded": Label("support vectors at C", "samples"),
    "gap": Label("relative duality gap"),
    "seconds": Label("training and scoring time", "s"),
}


def label_of(column: str) -> Label:
    """That of a column; its own name where there is no better one."""
    return LABELS.get(column, Label(column))

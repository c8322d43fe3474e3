"""Criteria: what a sweep may rank its cells by.

To add one: write its file with a subclass of ``Criterion``, put it in ``CRITERIA``
here, and say in ``tests/test_criteria.py`` what must hold of it.
"""

from msvm_select.criteria.base import Criterion
from msvm_select.criteria.compression import Compression
from msvm_select.criteria.cross_validation import CrossValidation
from msvm_select.criteria.guaranteed_risk import GuaranteedRisk
from msvm_select.criteria.holdout import Holdout
from msvm_select.criteria.leave_one_out import LeaveOneOut
from msvm_select.criteria.radius_margin import RadiusMarginBound
from msvm_select.criteria.radius_margin_count import RadiusMarginCount
from msvm_select.criteria.radius_margin_l1 import RadiusMarginL1
from msvm_select.criteria.span import Span
from msvm_select.criteria.support_count import SupportCount
from msvm_select.criteria.train_errors import TrainErrors
from msvm_select.criteria.vc import VcDimension

CRITERIA: dict[str, type[Criterion]] = {
    "loo": LeaveOneOut,
    "train-errors": TrainErrors,
    "sv-rate": SupportCount,
    "radius-margin": RadiusMarginBound,
    "radius-margin-count": RadiusMarginCount,
    "span": Span,
    "radius-margin-l1": RadiusMarginL1,
    "guaranteed-risk": GuaranteedRisk,
    "compression": Compression,
    "vc": VcDimension,
    "cv": CrossValidation,
    "holdout": Holdout,
}

"""Criteria: what a sweep may rank its cells by.

To add one: write its file with a subclass of ``Criterion``, put it in ``CRITERIA``
here, and say in ``tests/test_criteria.py`` what must hold of it.
"""

from msvm_select.criteria.base import Criterion
from msvm_select.criteria.cross_validation import CrossValidation
from msvm_select.criteria.guaranteed_risk import GuaranteedRisk
from msvm_select.criteria.holdout import Holdout
from msvm_select.criteria.leave_one_out import LeaveOneOut
from msvm_select.criteria.support_count import SupportCount
from msvm_select.criteria.train_errors import TrainErrors

CRITERIA: dict[str, type[Criterion]] = {
    "loo": LeaveOneOut,
    "train-errors": TrainErrors,
    "sv-rate": SupportCount,
    "guaranteed-risk": GuaranteedRisk,
    "cv": CrossValidation,
    "holdout": Holdout,
}

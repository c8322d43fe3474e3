"""What the estimators share: samples as scikit-learn checks them, tags, score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from msvm_select.data.options import options_of
from msvm_select.data.subsample import drawn, subsampled
from msvm_select.model.model import Model
from msvm_select.phrases import listed, quoted
from msvm_select.records import Columns, Dataset, Ints, Scaling
from msvm_select.settings.values import BALANCED, weights_by_class


@dataclass(frozen=True, eq=False)
class Given:
    """The samples that count, and where they stand among those that were given."""

    data: Dataset
    rows: Ints
    features: tuple[str, ...]

    def drawn(self, count: int | None, seed: int) -> Given:
        """A subsample of them."""
        options, data = options_of(subsample=count, seed=seed), self.data
        some = subsampled(data, options)
        if count is None or some.drawn_from is None:
            return self
        keep = drawn(data.y, data.Q, count, seed, data.groups)
        return replace(self, data=some, rows=self.rows[keep])

    def placed(self, model: Model) -> Model:
        """The model, whose support vectors are told by their places there."""
        if self.rows.size == self.rows[-1] + 1:
            return model
        found = replace(model, support=self.rows[model.support])
        if model.kernel.is_vector_kernel:
            return found
        target, n = self.data.target, len(self.features)
        columns = Columns((*self.features, target), target)
        return replace(
            found, columns=columns, scaling=Scaling.fit(np.zeros((1, n)), "none")
        )


# scikit-learn ships no types, so its bases count as Any.
class Learner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator that learns from a Dataset.

    ``kernel`` and ``class_weight`` are among its parameters.
    """

    def __sklearn_tags__(self) -> Any:
        """A precomputed kernel is split along both axes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_pairwise
        return tags

    @property
    def _is_pairwise(self) -> bool:
        kernels = [self.kernel] if isinstance(self.kernel, str) else list(self.kernel)
        return kernels == ["precomputed"]

    def _given(
        self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None, groups: Any = None
    ) -> Given:
        """What scikit-learn's checks leave of X and y; the classes by their names.

        A sample of weight 0 is not there, nor is a class that has no others.
        """
        samples, targets = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(targets)
        m, n = samples.shape
        weights, rows = None, np.arange(m)
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, samples, dtype=np.float64, ensure_non_negative=True
            )
            rows = np.flatnonzero(weights > 0.0)
            weights = weights[rows]
        self.classes_, codes = np.unique(targets[rows], return_inverse=True)
        if self.classes_.size < 2:
            told = ", ".join(quoted(str(name)) for name in self.classes_)
            raise ValueError(
                f"The data have the one class {told}; two classes are needed at least."
            )
        names = getattr(self, "feature_names_in_", [f"x{j + 1}" for j in range(n)])
        cut = samples[rows]
        columns = rows if self._is_pairwise and m == n else np.arange(n)
        data = Dataset(
            np.ascontiguousarray(cut[:, columns]),
            codes.astype(np.int64),
            self._names,
            tuple(names[j] for j in columns),
            weights=weights,
            **_grouped(groups, rows, m),
        )
        return Given(data, rows, tuple(names))

    @property
    def _names(self) -> tuple[str, ...]:
        """Of the classes; their numbers, where two labels have one name."""
        names = tuple(map(str, self.classes_.tolist()))
        numbers = tuple(map(str, range(len(names))))
        return names if len(set(names)) == len(names) else numbers

    @property
    def _class_weight(self) -> Any:
        """As the settings have it: by the names of the classes."""
        given: Any = self.class_weight
        if given is None or (isinstance(given, str) and given == BALANCED):
            return given
        labels = self.classes_.tolist()
        if not isinstance(given, Mapping):
            given = weights_by_class(given) if "=" in str(given) else given
            labels = list(map(str, labels))
        if not isinstance(given, Mapping):
            raise ValueError(
                f"class_weight = {given!r} must be None, balanced or weights by class."
            )
        for name in given:
            if name not in labels:
                raise ValueError(
                    f"class_weight: there is no class {name!r} in y, which has "
                    f"{listed(map(str, labels))}."
                )
        return {self._names[labels.index(k)]: weight for k, weight in given.items()}


def _grouped(groups: Any, rows: Ints, m: int) -> dict[str, Any]:
    """The fields of a Dataset that say which of the rows belong together."""
    if groups is None:
        return {}
    check_consistent_length(np.empty(m), groups)
    names, codes = np.unique(column_or_1d(groups)[rows], return_inverse=True)
    told = tuple(map(str, names))
    return {"groups": codes.astype(np.int64), "group_names": told}

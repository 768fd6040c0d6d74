"""Thresholds and calibration maps chosen inside the training cases: estimators around an estimator.

What is chosen on cases is not judged on them: inner folds of the training cases choose, the test cases judge.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold

from scorespace.decisions.threshold import best_threshold
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.experiments.estimators import answers, taken
from scorespace.measures import parse
from scorespace.probabilities.fit import fit_map
from scorespace.tables import Array, Counts, ScoreTable, class_table
from scorespace.tables.labels import label_text, positive_index


class _Inside(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What both share: the estimator fitted to all training cases, and what inner folds say of each of them."""

    estimator: Any
    folds: int
    seed: int

    def _inner(self, features: Any, truth: NDArray[Any]) -> Array:
        """Fit to all cases, and return scores (cases, classes) of each by a fit that had not seen it."""
        self.classes_, codes = np.unique(truth, return_inverse=True)
        fewest = int(np.bincount(codes).min())
        if self.classes_.size < 2 or min(self.folds, fewest) < 2:
            raise ScoreSpaceError(
                "a class has too few training cases to choose on.",
                seen=f"{fewest} cases in the smallest class",
                hint="more cases of it, or fewer folds outside",
            )
        self.estimator_ = clone(self.estimator).fit(features, truth)
        said = np.empty((truth.size, self.classes_.size))
        inner = StratifiedKFold(min(self.folds, fewest), shuffle=True, random_state=self.seed)
        for train, test in inner.split(np.zeros(truth.size), codes):
            model = clone(self.estimator).fit(taken(features, train), truth[train])
            said[test] = answers(model, taken(features, test))
        return said

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(map(label_text, self.classes_.tolist()))


class Calibrated(_Inside):
    """An estimator whose scores a map turns into probabilities; inner folds of the training cases fit the map.

    Of two classes the second one is mapped, and the first has the rest; of several, each against the rest.
    """

    def __init__(self, estimator: Any = None, method: str = "isotonic", folds: int = 5, seed: int = 0) -> None:
        self.estimator, self.method, self.folds, self.seed = estimator, method, folds, seed

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - as scikit-learn names it
        truth = np.asarray(y)
        said = self._inner(X, truth)
        table: Any = class_table(truth, dict(zip(self._names, said.T, strict=True)))
        self.map_ = fit_map(table.inside(ScoreTable, self._names[1]) if self.classes_.size == 2 else table, self.method)
        return self

    def predict_proba(self, X: Any) -> Array:  # noqa: N803
        said = answers(self.estimator_, X)
        if self.classes_.size == 2:
            mapped = self.map_.apply(said[:, 1])
            return np.stack([1 - mapped, mapped], axis=-1)
        return self.map_.apply(said)

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Thresholded(_Inside):
    """An estimator that decides between two classes at the threshold best for a measure on inner folds.

    `measure` is of decisions, such as cost(fp=1, fn=5); `threshold_` is what was chosen, and `inner_score_` what it
    gave there. It says 1 or 0, since with a threshold chosen there is nothing more to say.
    """

    def __init__(
        self, estimator: Any = None, measure: str = "acc", positive: Any = None, folds: int = 5, seed: int = 0
    ) -> None:
        self.estimator, self.measure, self.positive, self.folds, self.seed = estimator, measure, positive, folds, seed

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        truth, spec = np.asarray(y), parse(self.measure)
        if spec.measure.table is not Counts or spec.at is not None or spec.of is not None:
            raise MeasureError(f"{spec} is not what a threshold is chosen for.", hint="such as f1 or cost(fp=1, fn=5)")
        said = self._inner(X, truth)
        self.place_ = positive_index(self._names, self.positive)
        table: Any = class_table(truth, dict(zip(self._names, said.T, strict=True)))
        found = best_threshold(table.inside(ScoreTable, self._names[self.place_]), spec.measure, **dict(spec.options))
        self.threshold_, self.inner_score_ = found.threshold, found.value
        return self

    def predict_proba(self, X: Any) -> Array:  # noqa: N803
        chosen = answers(self.estimator_, X)[:, self.place_] >= self.threshold_
        found = np.empty((chosen.size, 2))
        found[:, self.place_], found[:, 1 - self.place_] = chosen, ~chosen
        return found

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def calibrate_inside(estimator: Any, method: str = "isotonic", *, folds: int = 5, seed: int = 0) -> Calibrated:
    """An estimator for `benchmark` and scikit-learn whose scores are calibrated inside its training cases."""
    return Calibrated(estimator, method, folds, seed)


def threshold_inside(
    estimator: Any, measure: str = "acc", *, positive: Any = None, folds: int = 5, seed: int = 0
) -> Thresholded:
    """An estimator that decides at a threshold chosen inside its training cases: for cost(fp=1, fn=5), say."""
    parse(measure)  # an unknown measure is told at once
    return Thresholded(estimator, measure, positive, folds, seed)

"""Estimators that choose a threshold or fit a calibration map by inner cross-validation.

The choice is made on inner folds of the training cases, so that test cases give an unbiased assessment.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold

from scorespace.calibration.fit import fit_map
from scorespace.decisions.threshold import best_threshold
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.experiments.estimators import predict_scores, take_cases
from scorespace.measures import parse
from scorespace.tables import Array, Counts, ScoreTable, class_table
from scorespace.tables.labels import label_text, positive_index


class _MetaEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base class: an estimator fitted to all training cases, with out-of-fold scores of inner folds."""

    estimator: Any
    folds: int
    seed: int

    def _fit_with_out_of_fold_scores(self, features: Any, truth: NDArray[Any]) -> Array:
        """Fit to all cases, and return out-of-fold scores (cases, classes)."""
        self.classes_, codes = np.unique(truth, return_inverse=True)
        fewest = int(np.bincount(codes).min())
        if self.classes_.size < 2 or min(self.folds, fewest) < 2:
            raise ScoreSpaceError(
                "a class has too few training cases for inner folds.",
                seen=f"{fewest} cases in the smallest class",
                hint="use more cases of it, or fewer outer folds",
            )
        self.estimator_ = clone(self.estimator).fit(features, truth)
        scores = np.empty((truth.size, self.classes_.size))
        inner = StratifiedKFold(min(self.folds, fewest), shuffle=True, random_state=self.seed)
        for train, test in inner.split(np.zeros(truth.size), codes):
            model = clone(self.estimator).fit(take_cases(features, train), truth[train])
            scores[test] = predict_scores(model, take_cases(features, test))
        return scores

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(map(label_text, self.classes_.tolist()))


class CalibratedEstimator(_MetaEstimator):
    """Estimator with scores calibrated by a map fitted to out-of-fold scores of inner folds.

    For two classes the second one is calibrated; for more, each class against the rest.
    """

    def __init__(self, estimator: Any = None, method: str = "isotonic", folds: int = 5, seed: int = 0) -> None:
        self.estimator, self.method, self.folds, self.seed = estimator, method, folds, seed

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - as scikit-learn names it
        truth = np.asarray(y)
        scores = self._fit_with_out_of_fold_scores(X, truth)
        table: Any = class_table(truth, dict(zip(self._names, scores.T, strict=True)))
        self.map_ = fit_map(table.inside(ScoreTable, self._names[1]) if self.classes_.size == 2 else table, self.method)
        return self

    def predict_proba(self, X: Any) -> Array:  # noqa: N803
        scores = predict_scores(self.estimator_, X)
        if self.classes_.size == 2:
            mapped = self.map_.apply(scores[:, 1])
            return np.stack([1 - mapped, mapped], axis=-1)
        return self.map_.apply(scores)

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class ThresholdedEstimator(_MetaEstimator):
    """Binary classifier that decides at the threshold that is best for a measure on inner folds.

    `measure` is one of decisions, such as cost(fp=1, fn=5). `threshold_` is the chosen threshold and `inner_score_` its
    value on inner folds. The predicted probabilities are 0 or 1.
    """

    def __init__(
        self, estimator: Any = None, measure: str = "acc", positive: Any = None, folds: int = 5, seed: int = 0
    ) -> None:
        self.estimator, self.measure, self.positive, self.folds, self.seed = estimator, measure, positive, folds, seed

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        truth, spec = np.asarray(y), parse(self.measure)
        if spec.measure.table is not Counts or spec.at is not None or spec.of is not None:
            raise MeasureError(
                f"{spec} cannot select a threshold.", hint="use a measure such as f1 or cost(fp=1, fn=5)"
            )
        said = self._fit_with_out_of_fold_scores(X, truth)
        self.place_ = positive_index(self._names, self.positive)
        table: Any = class_table(truth, dict(zip(self._names, said.T, strict=True)))
        found = best_threshold(table.inside(ScoreTable, self._names[self.place_]), spec.measure, **dict(spec.options))
        self.threshold_, self.inner_score_ = found.threshold, found.value
        return self

    def predict_proba(self, X: Any) -> Array:  # noqa: N803
        chosen = predict_scores(self.estimator_, X)[:, self.place_] >= self.threshold_
        found = np.empty((chosen.size, 2))
        found[:, self.place_], found[:, 1 - self.place_] = chosen, ~chosen
        return found

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def calibrate_inside(estimator: Any, method: str = "isotonic", *, folds: int = 5, seed: int = 0) -> CalibratedEstimator:
    """Wrap an estimator so that its scores are calibrated within the training cases.

    Parameters
    ----------
    estimator : estimator
        A classifier of scikit-learn.
    method : {"isotonic", "platt", "temperature", "minmax", "logistic"}
        The method of recalibration.
    folds : int
        Number of inner folds.
    seed : int
        Seed of all random draws; equal seeds give equal results.

    Returns
    -------
    CalibratedEstimator
        An estimator of scikit-learn.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model = calibrate_inside(GaussianNB()).fit([[0.1], [0.4], [0.6], [0.9]] * 10, [0, 0, 1, 1] * 10)
    >>> model.predict_proba([[0.0], [1.0]]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return CalibratedEstimator(estimator, method, folds, seed)


def threshold_inside(
    estimator: Any, measure: str = "acc", *, positive: Any = None, folds: int = 5, seed: int = 0
) -> ThresholdedEstimator:
    """Wrap an estimator so that its threshold is selected within the training cases.

    Parameters
    ----------
    estimator : estimator
        A classifier of scikit-learn.
    measure : str
        The measure of decisions that the threshold optimises.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.
    folds : int
        Number of inner folds.
    seed : int
        Seed of all random draws; equal seeds give equal results.

    Returns
    -------
    ThresholdedEstimator
        An estimator of scikit-learn.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model = threshold_inside(GaussianNB(), "f1").fit([[0.1], [0.4], [0.6], [0.9]] * 10, [0, 0, 1, 1] * 10)
    >>> model.inner_score_
    1.0
    """
    parse(measure)  # refuses an unknown measure early
    return ThresholdedEstimator(estimator, measure, positive, folds, seed)

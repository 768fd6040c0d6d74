"""Naive Bayes for numbers and levels together, which scikit-learn has only apart."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

Array = NDArray[np.float64]

_SMOOTHING = 1e-9  # of the largest variance, as scikit-learn's GaussianNB adds to all of them


class MixedNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """log p(c) + Σ log p(x_j | c): normal densities of numbers, (n + laplace) / (N + laplace · levels) of levels.

    What is missing, and a level that no training row has, adds nothing.
    """

    def __init__(self, nominal: NDArray[np.bool_] | None = None, laplace: float = 1.0) -> None:
        self.nominal = nominal
        self.laplace = laplace

    def fit(self, X: Array, y: NDArray[Any]) -> Self:  # noqa: N803 - as scikit-learn names it
        self.classes_, codes = np.unique(y, return_inverse=True)
        member = (codes[:, None] == np.arange(self.classes_.size)).astype(np.float64)
        is_nominal = np.zeros(X.shape[1], dtype=bool) if self.nominal is None else self.nominal
        self.log_prior_ = np.log(member.mean(axis=0))
        self._fit_numbers(X[:, ~is_nominal], member)
        levels = X[:, is_nominal]
        self.log_share_ = [self._shares(column, member) for column in levels.T]
        self.is_nominal_ = is_nominal
        return self

    def _fit_numbers(self, numbers: Array, member: Array) -> None:
        there = np.isfinite(numbers)
        filled = np.where(there, numbers, 0.0)
        count = member.T @ there
        with np.errstate(invalid="ignore", divide="ignore"):
            self.mean_ = (member.T @ filled) / count
            centred = np.where(there, numbers - self.mean_[member.argmax(axis=1)], 0.0)
            variance = (member.T @ centred**2) / count
            overall = np.where(there, numbers, np.nan)
            spread = np.nanvar(overall, axis=0).max() if there.any(axis=0).all() and numbers.size else 1.0
        self.variance_ = variance + _SMOOTHING * (spread or 1.0)

    def _shares(self, column: Array, member: Array) -> tuple[Array, Array]:
        """The levels of the training rows, and for each the log of its share in every class."""
        there = np.isfinite(column)
        found, place = np.unique(column[there], return_inverse=True)
        counts = np.zeros((found.size, member.shape[1]))
        np.add.at(counts, place, member[there])
        counts += self.laplace
        with np.errstate(divide="ignore", invalid="ignore"):
            return found, np.log(counts / counts.sum(axis=0))

    def predict_joint_log_proba(self, X: Array) -> Array:  # noqa: N803
        numbers, levels = X[:, ~self.is_nominal_], X[:, self.is_nominal_]
        joint = np.tile(self.log_prior_, (X.shape[0], 1))
        for each in range(numbers.shape[1]):  # a column at a time: rows × classes and no larger array
            value = numbers[:, each, None]
            variance = self.variance_[:, each]
            density = -0.5 * ((value - self.mean_[:, each]) ** 2 / variance + np.log(2 * np.pi * variance))
            joint += np.where(np.isfinite(density), density, 0.0)
        for each, (found, log_share) in enumerate(self.log_share_):
            if found.size:
                place = np.minimum(np.searchsorted(found, levels[:, each]), found.size - 1)
                known = found[place] == levels[:, each]
                joint += np.where(known[:, None], log_share[place], 0.0)
        return joint

    def predict_proba(self, X: Array) -> Array:  # noqa: N803
        joint = self.predict_joint_log_proba(X)
        joint -= joint.max(axis=1, keepdims=True)
        likelihood = np.exp(joint)
        return likelihood / likelihood.sum(axis=1, keepdims=True)

    def predict(self, X: Array) -> NDArray[Any]:  # noqa: N803
        return self.classes_[self.predict_joint_log_proba(X).argmax(axis=1)]

"""Learners that scikit-learn lacks: naive Bayes for mixed features, probability trees, and pruned trees."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

Array = NDArray[np.float64]

_SMOOTHING = 1e-9  # share of the largest variance, as in scikit-learn's GaussianNB


class MixedNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes: normal densities for numbers, (n + laplace) / (N + laplace · levels) for nominal levels.

    Missing values and levels unseen in training contribute nothing.
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
        is_known = np.isfinite(numbers)
        filled = np.where(is_known, numbers, 0.0)
        count = member.T @ is_known
        with np.errstate(invalid="ignore", divide="ignore"):
            self.mean_ = (member.T @ filled) / count
            centred = np.where(is_known, numbers - self.mean_[member.argmax(axis=1)], 0.0)
            variance = (member.T @ centred**2) / count
            overall = np.where(is_known, numbers, np.nan)
            spread = np.nanvar(overall, axis=0).max() if is_known.any(axis=0).all() and numbers.size else 1.0
        self.variance_ = variance + _SMOOTHING * (spread or 1.0)

    def _shares(self, column: Array, member: Array) -> tuple[Array, Array]:
        """Levels of the training rows, and the log share of each in every class."""
        is_known = np.isfinite(column)
        levels, level_index = np.unique(column[is_known], return_inverse=True)
        counts = np.zeros((levels.size, member.shape[1]))
        np.add.at(counts, level_index, member[is_known])
        counts += self.laplace
        with np.errstate(divide="ignore", invalid="ignore"):
            return levels, np.log(counts / counts.sum(axis=0))

    def predict_joint_log_proba(self, X: Array) -> Array:  # noqa: N803
        numbers, levels = X[:, ~self.is_nominal_], X[:, self.is_nominal_]
        joint = np.tile(self.log_prior_, (X.shape[0], 1))
        for column in range(numbers.shape[1]):  # column by column, to keep arrays at rows × classes
            value = numbers[:, column, None]
            variance = self.variance_[:, column]
            density = -0.5 * ((value - self.mean_[:, column]) ** 2 / variance + np.log(2 * np.pi * variance))
            joint += np.where(np.isfinite(density), density, 0.0)
        for column, (known_levels, log_share) in enumerate(self.log_share_):
            if known_levels.size:
                level_index = np.minimum(np.searchsorted(known_levels, levels[:, column]), known_levels.size - 1)
                known = known_levels[level_index] == levels[:, column]
                joint += np.where(known[:, None], log_share[level_index], 0.0)
        return joint

    def predict_proba(self, X: Array) -> Array:  # noqa: N803
        joint = self.predict_joint_log_proba(X)
        joint -= joint.max(axis=1, keepdims=True)
        likelihood = np.exp(joint)
        return likelihood / likelihood.sum(axis=1, keepdims=True)

    def predict(self, X: Array) -> NDArray[Any]:  # noqa: N803
        return self.classes_[self.predict_joint_log_proba(X).argmax(axis=1)]


_N_PRUNING_STRENGTHS = 12
"""Number of pruning strengths tried, spread evenly over the pruning path."""


class ProbabilityTree(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Unpruned entropy tree with Laplace-smoothed leaves: (n + laplace) / (N + laplace · K)."""

    def __init__(self, leaf: int = 2, laplace: float = 1.0, random_state: int | None = None) -> None:
        self.leaf = leaf
        self.laplace = laplace
        self.random_state = random_state

    def fit(self, X: Array, y: NDArray[Any]) -> Self:  # noqa: N803 - as scikit-learn names it
        self.tree_ = DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=self.leaf, random_state=self.random_state
        ).fit(X, y)
        self.classes_ = self.tree_.classes_
        inner = self.tree_.tree_
        shares = inner.value[:, 0, :]
        counts = np.round(shares / shares.sum(axis=1, keepdims=True) * inner.n_node_samples[:, None])
        smooth = counts + self.laplace
        self.leaf_proba_ = smooth / smooth.sum(axis=1, keepdims=True)
        return self

    def predict_proba(self, X: Array) -> Array:  # noqa: N803
        return self.leaf_proba_[self.tree_.apply(X)]

    def predict(self, X: Array) -> NDArray[Any]:  # noqa: N803
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class _PrunedTree(BaseEstimator):  # type: ignore[misc]
    """Tree with cost-complexity pruning; the strength is chosen by inner cross-validation."""

    kind: ClassVar[type]
    measure: ClassVar[str]

    def __init__(self, leaf: int = 2, folds: int = 5, random_state: int | None = None) -> None:
        self.leaf = leaf
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Array, y: NDArray[Any]) -> Self:  # noqa: N803
        strengths = self._strengths(X, y)
        loss = np.zeros(strengths.size)
        for train, test in self._inner(y):
            for index, strength in enumerate(strengths):
                grown = self._tree(strength).fit(X[train], y[train])
                loss[index] += test.size * (1 - grown.score(X[test], y[test]))
        best = strengths[np.flatnonzero(loss <= loss.min())[-1]]  # ties go to the smallest tree
        self.inner_score_ = 1 - float(loss.min()) / y.size
        self.tree_ = self._tree(best).fit(X, y)
        return self

    def _tree(self, strength: float) -> Any:
        return self.kind(min_samples_leaf=self.leaf, random_state=self.random_state, ccp_alpha=strength)

    def _strengths(self, X: Array, y: NDArray[Any]) -> Array:  # noqa: N803
        path = np.unique(np.maximum(self._tree(0.0).cost_complexity_pruning_path(X, y).ccp_alphas, 0.0))
        between = np.append(np.sqrt(path[:-1] * path[1:]), path[-1])
        chosen = np.unique(np.linspace(0, between.size - 1, _N_PRUNING_STRENGTHS).round().astype(int))
        return between[chosen]

    def _inner(self, y: NDArray[Any]) -> Any:
        folds = min(self.folds, y.size)
        if self.kind is DecisionTreeClassifier:
            counts = np.unique(y, return_counts=True)[1]
            if counts.min() >= folds:
                return StratifiedKFold(folds, shuffle=True, random_state=self.random_state).split(y, y)
        return KFold(folds, shuffle=True, random_state=self.random_state).split(y)

    def predict(self, X: Array) -> NDArray[Any]:  # noqa: N803
        return self.tree_.predict(X)


class PrunedClassifier(ClassifierMixin, _PrunedTree):  # type: ignore[misc]
    """Classification tree, pruned with the strength that minimises errors in inner folds."""

    kind = DecisionTreeClassifier
    measure = "acc"

    @property
    def classes_(self) -> NDArray[Any]:
        return self.tree_.classes_

    def predict_proba(self, X: Array) -> Array:  # noqa: N803
        return self.tree_.predict_proba(X)


class PrunedRegressor(RegressorMixin, _PrunedTree):  # type: ignore[misc]
    """Regression tree, pruned with the strength that minimises squared error in inner folds."""

    kind = DecisionTreeRegressor
    measure = "r2"

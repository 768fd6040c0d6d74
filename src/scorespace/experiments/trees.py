"""Trees that estimate probabilities, and trees pruned by what inner folds prefer."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

Array = NDArray[np.float64]

_STRENGTHS = 12
"""How many strengths of pruning are tried, spread evenly over all that make a different tree."""


class ProbabilityTree(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An unpruned entropy tree whose leaves say (n + laplace) / (N + laplace · K)."""

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


class _Pruned(BaseEstimator):  # type: ignore[misc]
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
            for place, strength in enumerate(strengths):
                grown = self._tree(strength).fit(X[train], y[train])
                loss[place] += test.size * (1 - grown.score(X[test], y[test]))
        best = strengths[np.flatnonzero(loss <= loss.min())[-1]]  # of equals the smallest tree
        self.inner_score_ = 1 - float(loss.min()) / y.size
        self.tree_ = self._tree(best).fit(X, y)
        return self

    def _tree(self, strength: float) -> Any:
        return self.kind(min_samples_leaf=self.leaf, random_state=self.random_state, ccp_alpha=strength)

    def _strengths(self, X: Array, y: NDArray[Any]) -> Array:  # noqa: N803
        path = np.unique(np.maximum(self._tree(0.0).cost_complexity_pruning_path(X, y).ccp_alphas, 0.0))
        between = np.append(np.sqrt(path[:-1] * path[1:]), path[-1])
        chosen = np.unique(np.linspace(0, between.size - 1, _STRENGTHS).round().astype(int))
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


class PrunedClassifier(ClassifierMixin, _Pruned):  # type: ignore[misc]
    """A classification tree pruned with the strength of fewest errors in inner folds."""

    kind = DecisionTreeClassifier
    measure = "acc"

    @property
    def classes_(self) -> NDArray[Any]:
        return self.tree_.classes_

    def predict_proba(self, X: Array) -> Array:  # noqa: N803
        return self.tree_.predict_proba(X)


class PrunedRegressor(RegressorMixin, _Pruned):  # type: ignore[misc]
    """A regression tree pruned with the strength of least squared error in inner folds."""

    kind = DecisionTreeRegressor
    measure = "r2"

"""Multiple testing: p values adjusted to control the family-wise error rate, or the rate of false discoveries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from scorespace.errors import DataError, ScoreSpaceError, closest_name, listing
from scorespace.tables import Array


def bonferroni(p: ArrayLike) -> Array:
    """Bonferroni: each p value times the number of tests, min(1, m p).

    >>> bonferroni([0.01, 0.04, 0.5])
    array([0.03, 0.12, 1.  ])
    """
    return _apply_steps(p, lambda ordered: ordered.size * ordered)


def holm(p: ArrayLike) -> Array:
    """Holm's step-down method (1979): max over j ≤ i of (m − j + 1) p(j), at most 1.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    return _apply_steps(p, lambda ordered: np.maximum.accumulate(_n_remaining(ordered) * ordered))


def hochberg(p: ArrayLike) -> Array:
    """Hochberg's step-up method (1988): min over j ≥ i of (m − j + 1) p(j).

    For independent or positively dependent tests; never larger than Holm's.

    >>> hochberg([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    return _apply_steps(p, lambda ordered: np.minimum.accumulate((_n_remaining(ordered) * ordered)[::-1])[::-1])


def finner(p: ArrayLike) -> Array:
    """Finner's step-down method (1993): max over j ≤ i of 1 − (1 − p(j))^(m / j).

    For independent or positively dependent tests, such as comparisons with one control.

    >>> finner([0.01, 0.04, 0.03]).round(4)
    array([0.0297, 0.0447, 0.0447])
    """

    def step(ordered: Array) -> Array:
        power = ordered.size / np.arange(1, ordered.size + 1)
        with np.errstate(divide="ignore"):  # log(0) for p = 1, whose adjusted value is 1
            return np.maximum.accumulate(-np.expm1(power * np.log1p(-ordered)))

    return _apply_steps(p, step)


def shaffer(p: ArrayLike) -> Array:
    """Shaffer's static step-down method (1986) for all pairs of k models: max over j ≤ i of t(j) p(j).

    t(j) is the largest number of pairs that can be equal when j − 1 pairs differ; the k (k − 1) / 2 p values may be in
    any order.

    >>> shaffer([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.03])
    """
    tests = int(np.size(p))
    models = round((1 + (1 + 8 * tests) ** 0.5) / 2)
    if models * (models - 1) // 2 != tests:
        raise DataError(
            f"{tests} p-values are not the number of pairs of any number of models.",
            hint="one for each pair: 1, 3, 6, 10, 15, …",
        )
    if np.isnan(np.asarray(p, dtype=np.float64)).any():
        raise DataError("a pair without a p-value leaves Shaffer's adjustment undefined.", hint="holm")
    max_equal = _max_equal_pairs(models)
    return _apply_steps(p, lambda ordered: np.maximum.accumulate(max_equal * ordered))


ADJUSTMENTS: Final[Mapping[str, Callable[[ArrayLike], Array]]] = {
    one.__name__: one for one in (holm, hochberg, bonferroni, finner, shaffer)
}
"""Adjustment methods by name."""


def benjamini_yekutieli(p: ArrayLike) -> Array:
    """Benjamini and Yekutieli's step-up method (2001) for false discoveries: min over j ≥ i of m Σ 1/k p(j) / j.

    >>> benjamini_yekutieli([0.01, 0.04, 0.03]).round(4)
    array([0.055 , 0.0733, 0.0733])
    """

    def step(ordered: Array) -> Array:
        rank = np.arange(1, ordered.size + 1)
        scaled = ordered.size * (1 / rank).sum() * ordered / rank
        return np.minimum.accumulate(scaled[::-1])[::-1]

    return _apply_steps(p, step)


def adjust(p: ArrayLike, method: str = "holm") -> Array:
    """Adjust p values by the named method; undefined ones stay NaN and are not counted.

    >>> adjust([0.01, float("nan"), 0.04])
    array([0.02,  nan, 0.04])
    """
    title(method)
    return ADJUSTMENTS[method](p)


def title(method: str, *, pairs: bool = True) -> str:
    """Return the name of a method in the possessive; an error if unknown, or if it is only for all `pairs` of models.

    >>> title("finner")
    "Finner's"
    """
    if method not in ADJUSTMENTS:
        near = closest_name(method, ADJUSTMENTS)
        raise ScoreSpaceError(
            f"adjust={method!r} is not an adjustment.",
            seen=f"known are {listing(ADJUSTMENTS)}",
            hint=f'adjust="{near}"' if near else None,
        )
    if method == shaffer.__name__ and not pairs:
        raise ScoreSpaceError(
            "Shaffer's method is for all pairs of models.",
            hint='adjust="holm"',
        )
    return f"{method.title()}'s"


def _apply_steps(p: ArrayLike, step: Callable[[Array], Array]) -> Array:
    """Apply a step function to the defined p values in increasing order, and restore their order and shape."""
    values = np.asarray(p, dtype=np.float64)
    defined = ~np.isnan(values)
    p_values = values[defined]
    outside = p_values[(p_values < 0) | (p_values > 1)]
    if outside.size:
        raise DataError(f"{outside[0]:g} is not a p-value.", hint="values between 0 and 1; NaN where undefined")
    order = np.argsort(p_values, kind="stable")
    stepped = np.empty_like(p_values)
    stepped[order] = np.minimum(1.0, step(p_values[order]))
    adjusted = np.full_like(values, np.nan)
    adjusted[defined] = stepped
    return adjusted


def _n_remaining(ordered: Array) -> Array:
    return np.arange(ordered.size, 0, -1)


def _max_equal_pairs(models: int) -> Array:
    """For each of the ordered pairs, the largest number of pairs that can be equal if all earlier ones differ."""
    # Equality is transitive: the equal pairs are those within the blocks of a partition of the models.
    counts: list[set[int]] = [{0}]
    for total in range(1, models + 1):
        sizes = range(1, total + 1)
        counts.append({size * (size - 1) // 2 + rest for size in sizes for rest in counts[total - size]})
    pairs = models * (models - 1) // 2
    return np.array([max(count for count in counts[models] if count <= left) for left in range(pairs, 0, -1)])

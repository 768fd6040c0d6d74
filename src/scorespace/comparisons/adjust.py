"""Many tests at once: p-values adjusted so that the chance of any false alarm keeps its bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from scorespace.errors import DataError, ScoreSpaceError, listing, nearest
from scorespace.tables import Array


def bonferroni(p: ArrayLike) -> Array:
    """Each p-value times the number of tests: min(1, m p).

    >>> bonferroni([0.01, 0.04, 0.5])
    array([0.03, 0.12, 1.  ])
    """
    return _stepped(p, lambda ordered: ordered.size * ordered)


def holm(p: ArrayLike) -> Array:
    """Holm's step down from the smallest: max over j ≤ i of (m − j + 1) p(j), at most 1.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    return _stepped(p, lambda ordered: np.maximum.accumulate(_remaining(ordered) * ordered))


def hochberg(p: ArrayLike) -> Array:
    """Hochberg's step up from the largest: min over j ≥ i of (m − j + 1) p(j).

    Needs tests that are independent or positively dependent, and is then never larger than Holm's.

    >>> hochberg([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    return _stepped(p, lambda ordered: np.minimum.accumulate((_remaining(ordered) * ordered)[::-1])[::-1])


def finner(p: ArrayLike) -> Array:
    """Finner's step down: max over j ≤ i of 1 − (1 − p(j))^(m / j).

    Needs tests that are independent or positively dependent, as comparisons with one control are.

    >>> finner([0.01, 0.04, 0.03]).round(4)
    array([0.0297, 0.0447, 0.0447])
    """

    def step(ordered: Array) -> Array:
        power = ordered.size / np.arange(1, ordered.size + 1)
        with np.errstate(divide="ignore"):  # log(0) for p = 1, whose adjusted value is 1
            return np.maximum.accumulate(-np.expm1(power * np.log1p(-ordered)))

    return _stepped(p, step)


def shaffer(p: ArrayLike) -> Array:
    """Shaffer's static step down for all pairs of k models: max over j ≤ i of t(j) p(j).

    t(j) is how many of the pairs can still be equal when j − 1 are known to differ; the k (k − 1) / 2
    p-values come in any order.

    >>> shaffer([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.03])
    """
    tests = int(np.size(p))
    models = round((1 + (1 + 8 * tests) ** 0.5) / 2)
    if models * (models - 1) // 2 != tests:
        raise DataError(
            f"{tests} p-values are not all pairs of any number of models.", hint="one for each pair: 1, 3, 6, 10, 15, …"
        )
    if np.isnan(np.asarray(p, dtype=np.float64)).any():
        raise DataError("a pair without a p-value leaves Shaffer's adjustment undefined.", hint="holm")
    still = _possibly_equal(models)
    return _stepped(p, lambda ordered: np.maximum.accumulate(still * ordered))


ADJUSTMENTS: Final[Mapping[str, Callable[[ArrayLike], Array]]] = {
    one.__name__: one for one in (holm, hochberg, bonferroni, finner, shaffer)
}
"""The adjustments by name."""


def adjust(p: ArrayLike, method: str = "holm") -> Array:
    """The p-values adjusted by the method of that name; undefined ones stay NaN and are not counted.

    >>> adjust([0.01, float("nan"), 0.04])
    array([0.02,  nan, 0.04])
    """
    title(method)
    return ADJUSTMENTS[method](p)


def title(method: str, *, pairs: bool = True) -> str:
    """Whose method it is; refused where there is none of that name, or none but for all `pairs` of models.

    >>> title("finner")
    "Finner's"
    """
    if method not in ADJUSTMENTS:
        near = nearest(method, ADJUSTMENTS)
        raise ScoreSpaceError(
            f"adjust={method!r} is not an adjustment.",
            seen=f"known are {listing(ADJUSTMENTS)}",
            hint=f'adjust="{near}"' if near else None,
        )
    if method == shaffer.__name__ and not pairs:
        raise ScoreSpaceError(
            "Shaffer's method is for all pairs of models: it knows that not all of them can differ alone.",
            hint='adjust="holm"',
        )
    return f"{method.title()}'s"


def _stepped(p: ArrayLike, step: Callable[[Array], Array]) -> Array:
    """The step applied to the defined p-values from the smallest up, back in their places and shape."""
    values = np.asarray(p, dtype=np.float64)
    defined = ~np.isnan(values)
    given = values[defined]
    outside = given[(given < 0) | (given > 1)]
    if outside.size:
        raise DataError(f"{outside[0]:g} is not a p-value.", hint="values between 0 and 1; NaN where undefined")
    order = np.argsort(given, kind="stable")
    placed = np.empty_like(given)
    placed[order] = np.minimum(1.0, step(given[order]))
    adjusted = np.full_like(values, np.nan)
    adjusted[defined] = placed
    return adjusted


def _remaining(ordered: Array) -> Array:
    return np.arange(ordered.size, 0, -1)


def _possibly_equal(models: int) -> Array:
    """For each of the ordered pairs, the most pairs that can be equal once all earlier ones differ."""
    # Equality is transitive: the equal pairs are those inside the cells of some partition of the models.
    counts: list[set[int]] = [{0}]
    for total in range(1, models + 1):
        sizes = range(1, total + 1)
        counts.append({size * (size - 1) // 2 + rest for size in sizes for rest in counts[total - size]})
    pairs = models * (models - 1) // 2
    return np.array([max(count for count in counts[models] if count <= left) for left in range(pairs, 0, -1)])

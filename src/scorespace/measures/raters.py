"""Measures of agreement between raters beyond chance: neither is the truth."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final, Literal

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.measure import INF, NOT_SIMULATED, measure
from scorespace.tables import Array, ratio
from scorespace.tables.labels import natural_order
from scorespace.tables.rating import RatingTable

_PAIRS: Final = "no instance was judged by two raters"
_agreement = partial(
    measure,
    range=(-INF, 1),
    best="high",
    undefined="all ratings are the same class",
    interval="bootstrap",
    covers=NOT_SIMULATED,
)

Weights = Annotated[
    Literal["none", "linear", "quadratic"], "how much near classes count as agreement, in the order of the classes"
]
Metric = Annotated[
    Literal["nominal", "ordinal", "interval"], "how far two classes are apart: any, by their order, or as numbers"
]


@_agreement(title="Observed agreement of raters", range=(0, 1), undefined=_PAIRS)
def agreed(t: RatingTable) -> Array:
    """Share of the pairs of raters who give an instance the same class: mean of Σ_k r_k (r_k − 1) / (r (r − 1))."""
    return _observed(t)


@_agreement(title="Cohen's kappa of two raters", range=(-1, 1), aliases=("cohen", "weighted_kappa"))
def rater_kappa(t: RatingTable, *, weights: Weights = "none") -> Array:
    """Agreement of two raters beyond what their own shares of classes bring: (p_o − p_e) / (1 − p_e)."""
    if len(t.raters) != 2:
        raise MeasureError("Cohen's kappa is of two raters.", seen=f"{len(t.raters)} raters", hint="fleiss")
    near = _closeness(len(t.classes), weights)
    both = t.joint
    total = both.sum(axis=(-2, -1))
    shares = ratio(both, total[..., None, None])
    expected = np.einsum("...k,...l,kl->...", shares.sum(axis=-1), shares.sum(axis=-2), near)
    return _beyond(np.einsum("...kl,kl->...", shares, near), expected)


@_agreement(title="Fleiss' kappa")
def fleiss(t: RatingTable) -> Array:
    """Agreement of any number of raters beyond that of their common shares p: (p_o − Σ p²) / (1 − Σ p²)."""
    return _beyond(_observed(t), np.square(_shares(t)).sum(axis=-1))


@_agreement(title="Scott's pi", aliases=("scott_pi", "scotts_pi"))
def scott(t: RatingTable) -> Array:
    """Agreement of two raters beyond that of their common shares of classes: Fleiss' kappa of two raters."""
    if len(t.raters) != 2:
        raise MeasureError("Scott's pi is of two raters.", seen=f"{len(t.raters)} raters", hint="fleiss")
    return _beyond(_observed(t), np.square(_shares(t)).sum(axis=-1))


@_agreement(title="Gwet's AC1", range=(-1, 1), undefined=_PAIRS, aliases=("gwet", "gwet_ac1"))
def ac1(t: RatingTable) -> Array:
    """Agreement beyond chance that stays sensible where one class is rare: p_e = Σ p (1 − p) / (K − 1)."""
    shares = _shares(t)
    return _beyond(_observed(t), ratio((shares * (1 - shares)).sum(axis=-1), len(t.classes) - 1))


@_agreement(title="Krippendorff's alpha", aliases=("alpha", "krippendorff_alpha"))
def krippendorff(t: RatingTable, *, metric: Metric = "nominal") -> Array:
    """Disagreement of pairs of ratings against that of ratings paired by chance: 1 − D_o / D_e; gaps are allowed."""
    given = t.votes.sum(axis=1)
    paired = given > 1
    votes, given = t.votes[paired], given[paired]
    pairs = votes[:, :, None] * votes[:, None, :] - votes[:, :, None] * np.eye(len(t.classes))
    together = np.tensordot(t.counts[..., paired], pairs / (given - 1)[:, None, None], axes=(-1, 0))
    totals = together.sum(axis=-1)
    apart = _distance(t.classes, totals, metric)
    observed = (together * apart).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * apart).sum(axis=(-2, -1))
    return 1 - ratio(observed * (totals.sum(axis=-1) - 1), expected)


def _observed(t: RatingTable) -> Array:
    """The mean over instances with two ratings or more of the share of their pairs that agree."""
    given = t.votes.sum(axis=1)
    same = ratio((t.votes * (t.votes - 1)).sum(axis=1), given * (given - 1))
    paired = given > 1
    return ratio(t.counts[..., paired] @ same[paired], t.counts[..., paired].sum(axis=-1))


def _shares(t: RatingTable) -> Array:
    """The share of each class (…, K): the mean over instances of the share of their ratings."""
    given = t.votes.sum(axis=1)
    judged = given > 0
    each = t.votes[judged] / given[judged, None]
    return ratio(t.counts[..., judged] @ each, t.counts[..., judged].sum(axis=-1)[..., None])


def _beyond(observed: Array, expected: Array) -> Array:
    """(p_o − p_e) / (1 − p_e), undefined where chance alone agrees always."""
    possible = 1 - np.asarray(expected)
    return ratio(observed - expected, np.where(possible > 1e-12, possible, np.nan))


def _closeness(size: int, weights: str) -> Array:
    """How much each pair of classes counts as agreement (K, K): 1 on the diagonal."""
    gap = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) / max(size - 1, 1)
    return {"none": (gap == 0).astype(np.float64), "linear": 1 - gap, "quadratic": 1 - gap**2}[weights]


def _distance(classes: tuple[str, ...], totals: Array, metric: str) -> Array:
    """The squared distance of each pair of classes (…, K, K)."""
    if metric == "nominal":
        return 1 - np.eye(len(classes))
    if metric == "ordinal":
        upto = np.cumsum(totals, axis=-1) - totals / 2
        return np.square(upto[..., :, None] - upto[..., None, :])
    worded = [name for name in classes if natural_order(name)[0]]
    if worded:
        raise MeasureError("metric=interval needs classes that are numbers.", seen=worded[0], hint="metric=ordinal")
    values = np.array(classes, dtype=np.float64)
    return np.square(np.subtract.outer(values, values))

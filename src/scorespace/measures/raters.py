"""Inter-rater agreement: measures corrected for chance, in which no rater is the truth."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final, Literal

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.measure import INF, NOT_SIMULATED, measure
from scorespace.tables import Array, ratio
from scorespace.tables.labels import natural_order
from scorespace.tables.ratings import RatingTable

_NO_PAIRS: Final = "no instance was rated by two raters"
_agreement = partial(
    measure,
    range=(-INF, 1),
    best="high",
    undefined="all ratings are the same class",
    interval="bootstrap",
    coverage_note=NOT_SIMULATED,
)

Weights = Annotated[
    Literal["none", "linear", "quadratic"], "weights of disagreement by the distance of ordered classes"
]
Metric = Annotated[
    Literal["nominal", "ordinal", "interval"], "distance of two classes: equal for all, by order, or numeric"
]


@_agreement(title="Observed agreement of raters", range=(0, 1), undefined=_NO_PAIRS)
def agreed(t: RatingTable) -> Array:
    """Share of pairs of raters who assign the same class to an instance: mean of Σ_k r_k (r_k − 1) / (r (r − 1))."""
    return _observed(t)


@_agreement(title="Cohen's kappa of two raters", range=(-1, 1), aliases=("cohen", "weighted_kappa"))
def rater_kappa(t: RatingTable, *, weights: Weights = "none") -> Array:
    """Agreement of two raters, corrected by their own class shares: (p_o − p_e) / (1 − p_e) (Cohen 1960)."""
    if len(t.raters) != 2:
        raise MeasureError("Cohen's kappa is defined for two raters.", seen=f"{len(t.raters)} raters", hint="fleiss")
    similarity = _agreement_weights(len(t.classes), weights)
    both = t.joint
    total = both.sum(axis=(-2, -1))
    shares = ratio(both, total[..., None, None])
    expected = np.einsum("...k,...l,kl->...", shares.sum(axis=-1), shares.sum(axis=-2), similarity)
    return _chance_corrected(np.einsum("...kl,kl->...", shares, similarity), expected)


@_agreement(title="Fleiss' kappa")
def fleiss(t: RatingTable) -> Array:
    """Agreement of several raters, corrected by common class shares p: (p_o − Σ p²) / (1 − Σ p²) (Fleiss 1971)."""
    return _chance_corrected(_observed(t), np.square(_shares(t)).sum(axis=-1))


@_agreement(title="Scott's pi", aliases=("scott_pi", "scotts_pi"))
def scott(t: RatingTable) -> Array:
    """Agreement of two raters, corrected by their common class shares: Fleiss' kappa of two raters (Scott 1955)."""
    if len(t.raters) != 2:
        raise MeasureError("Scott's pi is defined for two raters.", seen=f"{len(t.raters)} raters", hint="fleiss")
    return _chance_corrected(_observed(t), np.square(_shares(t)).sum(axis=-1))


@_agreement(title="Gwet's AC1", range=(-1, 1), undefined=_NO_PAIRS, aliases=("gwet", "gwet_ac1"))
def ac1(t: RatingTable) -> Array:
    """Agreement corrected for chance, robust to rare classes: p_e = Σ p (1 − p) / (K − 1) (Gwet 2008)."""
    shares = _shares(t)
    return _chance_corrected(_observed(t), ratio((shares * (1 - shares)).sum(axis=-1), len(t.classes) - 1))


@_agreement(title="Krippendorff's alpha", aliases=("alpha", "krippendorff_alpha"))
def krippendorff(t: RatingTable, *, metric: Metric = "nominal") -> Array:
    """Observed disagreement relative to that of randomly paired ratings: 1 − D_o / D_e; missing ratings are allowed."""
    ratings = t.votes.sum(axis=1)
    is_paired = ratings > 1
    votes, ratings = t.votes[is_paired], ratings[is_paired]
    pairs = votes[:, :, None] * votes[:, None, :] - votes[:, :, None] * np.eye(len(t.classes))
    coincidences = np.tensordot(t.counts[..., is_paired], pairs / (ratings - 1)[:, None, None], axes=(-1, 0))
    totals = coincidences.sum(axis=-1)
    distance = _distance(t.classes, totals, metric)
    observed = (coincidences * distance).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1))
    return 1 - ratio(observed * (totals.sum(axis=-1) - 1), expected)


def _observed(t: RatingTable) -> Array:
    """Mean, over instances with at least two ratings, of the share of agreeing pairs."""
    ratings = t.votes.sum(axis=1)
    agreeing = ratio((t.votes * (t.votes - 1)).sum(axis=1), ratings * (ratings - 1))
    is_paired = ratings > 1
    return ratio(t.counts[..., is_paired] @ agreeing[is_paired], t.counts[..., is_paired].sum(axis=-1))


def _shares(t: RatingTable) -> Array:
    """Share of each class (…, K): the mean over instances of its share of their ratings."""
    ratings = t.votes.sum(axis=1)
    is_rated = ratings > 0
    shares = t.votes[is_rated] / ratings[is_rated, None]
    return ratio(t.counts[..., is_rated] @ shares, t.counts[..., is_rated].sum(axis=-1)[..., None])


def _chance_corrected(observed: Array, expected: Array) -> Array:
    """(p_o − p_e) / (1 − p_e); undefined if agreement by chance is certain."""
    possible = 1 - np.asarray(expected)
    return ratio(observed - expected, np.where(possible > 1e-12, possible, np.nan))


def _agreement_weights(size: int, weights: str) -> Array:
    """Weight of agreement of each pair of classes (K, K): 1 on the diagonal."""
    gap = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) / max(size - 1, 1)
    return {"none": (gap == 0).astype(np.float64), "linear": 1 - gap, "quadratic": 1 - gap**2}[weights]


def _distance(classes: tuple[str, ...], totals: Array, metric: str) -> Array:
    """Squared distance of each pair of classes, shape (…, K, K)."""
    if metric == "nominal":
        return 1 - np.eye(len(classes))
    if metric == "ordinal":
        midranks = np.cumsum(totals, axis=-1) - totals / 2
        return np.square(midranks[..., :, None] - midranks[..., None, :])
    not_numeric = [name for name in classes if natural_order(name)[0]]
    if not_numeric:
        raise MeasureError("metric=interval needs numeric classes.", seen=not_numeric[0], hint="metric=ordinal")
    values = np.array(classes, dtype=np.float64)
    return np.square(np.subtract.outer(values, values))

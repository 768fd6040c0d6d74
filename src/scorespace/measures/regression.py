"""Measures of predicted numbers: how far they miss, against what, on which side, and in which order."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np

from scorespace.curves.isotonic import isotonic_spread
from scorespace.errors import MeasureError
from scorespace.measures.decomposition import cal, ref, unc
from scorespace.measures.measure import INF, NO_CASES, NOT_SIMULATED, measure
from scorespace.measures.ranking import concordant_pairs
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.order import concordance, median, midranks, quantile
from scorespace.tables.residual import IntervalTable, ResidualTable
from scorespace.tables.sums import ErrorSums

_CONSTANT_TRUTH = "all truths are the same"
_CONSTANT = "all truths or all predictions are the same"
_AT_BASELINE = "every truth equals the baseline, or samples with other baselines were merged"
_JACKKNIFE = "jackknife"
_HEAVY = "of errors with infinite fourth moments it holds the truth in 84 to 92 % of samples"
_loss = partial(measure, range=(0, INF), best="low", undefined=NO_CASES, interval=_JACKKNIFE)
_gain = partial(measure, range=(-INF, 1), best="high", undefined=_CONSTANT_TRUTH, interval=_JACKKNIFE)
_correlation = partial(measure, range=(-1, 1), best="high", undefined=_CONSTANT, interval="fisher-t")

Alpha = Annotated[float, "share of the loss that under-prediction has: 2/3 makes it twice as dear"]
Quantile = Annotated[float, "the quantile that is predicted"]


# --- how far


@_loss(title="Mean absolute error", aliases=("mean_absolute_error",), loss=True, sizes=True)
def mae(s: ErrorSums) -> Array:
    """How far predictions miss on average: Σ |ŷ − y| / n."""
    return s.mean("absolute")


@_loss(title="Root mean squared error", aliases=("root_mean_squared_error", "rmsd"), covers=_HEAVY)
def rmse(s: ErrorSums) -> Array:
    """How far predictions miss when large misses count more, in the unit of the truth: √(Σ (ŷ − y)² / n)."""
    return np.sqrt(s.squared)


@_loss(title="Mean squared error", aliases=("mean_squared_error",), loss=True, covers=_HEAVY)
def mse(s: ErrorSums) -> Array:
    """Mean of the squared errors, the variance of the errors and the square of the bias: Σ (ŷ − y)² / n."""
    return s.squared


@_loss(title="Median absolute error", aliases=("median_absolute_error",), interval="bootstrap", sizes=True)
def medae(t: ResidualTable) -> Array:
    """How far half of the predictions miss at most, whatever the largest misses are: median |ŷ − y|."""
    if t.weight is None and t.numbers.error.size:
        return np.median(np.abs(t.numbers.error), overwrite_input=True)  # without sorting all
    order = t.numbers.by_size
    return median(np.abs(t.numbers.error)[order], t.cells[..., order])


@_loss(
    title="Largest absolute error",
    aliases=("max_absolute_error",),
    interval="extreme",
    biased="too low on small samples: among more cases there are larger errors",
)
def max_error(t: ResidualTable) -> Array:
    """The farthest miss: max |ŷ − y|."""
    size, cells = np.abs(t.numbers.error), t.cells
    largest = np.where(cells > 0, size, -INF).max(axis=-1, initial=-INF)
    return np.where(largest < 0, np.nan, largest)


@_loss(
    title="Mean absolute percentage error",
    covers=NOT_SIMULATED,
    infinite="a truth is zero, and its prediction is not",
    aliases=("mean_absolute_percentage_error",),
)
def mape(s: ErrorSums) -> Array:
    """How far predictions miss as a share of the truth, 1 being 100 %: Σ |ŷ − y| / |y| / n."""
    return s.mean("relative")


@_loss(
    title="Symmetric mean absolute percentage error",
    range=(0, 2),
    aliases=("symmetric_mean_absolute_percentage_error",),
)
def smape(s: ErrorSums) -> Array:
    """How far predictions miss as a share of the mean size of both: Σ 2 |ŷ − y| / (|y| + |ŷ|) / n."""
    return s.mean("symmetric")


@_loss(title="Huber loss", aliases=("huber_loss",), interval="skew-t")
def huber(t: ResidualTable, *, delta: Annotated[float, "size from which on errors count as such"] = 1.0) -> Array:
    """Squares of small errors and sizes of large ones: mean of e²/2 up to |e| = δ, beyond it of δ(|e| − δ/2)."""
    if not delta > 0:
        raise MeasureError(f"delta={delta:g} is not a size of errors.", hint="a number above 0, such as delta=1")
    size = np.abs(t.numbers.error)
    loss = np.where(size <= delta, size**2 / 2, delta * (size - delta / 2))
    return ratio(t.cells @ loss, t.total)


# --- against what


@_loss(title="Relative absolute error", undefined=_AT_BASELINE, aliases=("relative_absolute_error",))
def rae(s: ErrorSums) -> Array:
    """Absolute error as a share of that of the baseline b, the mean of these truths unless stated: Σ|ŷ−y| / Σ|b−y|."""
    return _part(s.mean("absolute"), s.off)


@_loss(title="Relative squared error", undefined=_AT_BASELINE, aliases=("relative_squared_error",), covers=_HEAVY)
def rse(s: ErrorSums) -> Array:
    """Squared error as a share of that of the baseline b, the mean of these truths unless stated: Σ(ŷ−y)² / Σ(b−y)²."""
    return _part(s.squared, s.off_squared)


@_loss(
    title="Root relative squared error", undefined=_AT_BASELINE, aliases=("root_relative_squared_error",), covers=_HEAVY
)
def rrse(s: ErrorSums) -> Array:
    """The root of the relative squared error: √RSE."""
    return np.sqrt(_part(s.squared, s.off_squared))


@_gain(title="Coefficient of determination", aliases=("r_squared", "r2_score"), covers=_HEAVY)
def r2(s: ErrorSums) -> Array:
    """What is spared of the squared error of the mean of these truths; below 0 it is worse: 1 − MSE / var(y)."""
    return 1 - _part(s.squared, s.truth_spread)


@_gain(title="Explained variance", aliases=("evs", "explained_variance_score"), covers=_HEAVY)
def explained_variance(s: ErrorSums) -> Array:
    """The same as r2 for predictions shifted to have no bias: 1 − var(ŷ − y) / var(y)."""
    return 1 - _part(s.error_spread, s.truth_spread)


@_gain(
    title="Share of the pinball loss that is spared", aliases=("d2_absolute_error", "d2_pinball"), interval="bootstrap"
)
def d2(t: ResidualTable, *, q: Quantile = 0.5) -> Array:
    """What is spared of the pinball loss of always predicting the q-quantile of these truths: 1 − L_q(ŷ) / L_q(y_q)."""
    _check_share("q", q)
    order = t.numbers.by_truth
    truth, cells = t.numbers.truth[order], t.cells[..., order]
    level = quantile(truth, cells, q)
    error = np.asarray(level)[..., None] - truth
    constant = np.vecdot(cells, np.where(error < 0, -q * error, (1 - q) * error))
    return 1 - _part(_pinball(t.sums, q) * t.total, constant)


def _part(loss: Array, of: Array) -> Array:
    """A loss as a part of another; of nothing there is no part."""
    return ratio(loss, np.where(of > 0, of, np.nan))


# --- on which side


@_loss(title="Mean error", range=(-INF, INF), best=None, aliases=("mean_error", "mean_bias_error"))
def bias(s: ErrorSums) -> Array:
    """By how much predictions are too high on average, too low where it is negative: Σ (ŷ − y) / n."""
    return s.error


@_loss(title="Variance of the errors", aliases=("error_variance",), covers=_HEAVY)
def err_var(s: ErrorSums) -> Array:
    """What is left of the squared error when the bias is taken off: MSE − bias²."""
    return s.error_spread


@_loss(title="Area over the RROC curve", aliases=("area_over_curve", "area_over_rroc"), covers=_HEAVY)
def aoc(s: ErrorSums) -> Array:
    """Area between the RROC curve and the perfect corner, on mean axes: var(ŷ − y) / 2."""
    return s.error_spread / 2


@_loss(title="Asymmetric absolute error", aliases=("asymmetric_loss", "asymmetric_absolute_error"), loss=True)
def asym(s: ErrorSums, *, alpha: Alpha = 0.5) -> Array:
    """Absolute error with two prices, α = 1/2 being the MAE: Σ 2α(y − ŷ)₊ + 2(1 − α)(ŷ − y)₊, divided by n."""
    _check_share("alpha", alpha)
    return 2 * alpha * s.under + 2 * (1 - alpha) * s.over


@_loss(title="Pinball loss", aliases=("pinball_loss", "quantile_loss", "mean_pinball_loss"), loss=True)
def pinball(s: ErrorSums, *, q: Quantile = 0.5) -> Array:
    """The loss that is least for the q-quantile of the truth, half of asym: Σ q(y − ŷ)₊ + (1 − q)(ŷ − y)₊, by n."""
    _check_share("q", q)
    return _pinball(s, q)


def _pinball(s: ErrorSums, q: float) -> Array:
    return q * s.under + (1 - q) * s.over


def _check_share(name: str, share: float) -> None:
    if not 0 < share < 1:
        raise MeasureError(f"{name}={share:g} is not a share.", hint=f"between 0 and 1, such as {name}=0.5")


# --- in which order


@_correlation(title="Pearson's correlation", aliases=("correlation", "r"), interval=_JACKKNIFE, covers=_HEAVY)
def pearson(s: ErrorSums) -> Array:
    """How nearly predictions are on a rising line with the truth, on whichever line: cov(ŷ, y) / √(var(ŷ) var(y))."""
    with_truth = s.truth_spread + s.together
    predicted = s.error_spread + s.truth_spread + 2 * s.together
    # What is left of a constant is rounding of its parts, above the line as below it: not x / 0, but no number.
    constant = (predicted <= 1e-12 * (s.error_spread + s.truth_spread)) | (s.truth_spread <= 0)
    return np.clip(ratio(with_truth, np.sqrt(s.truth_spread * np.where(constant, np.nan, predicted))), -1, 1)


@_correlation(title="Spearman's rank correlation", aliases=("spearman_rho", "rank_correlation"))
def spearman(t: ResidualTable) -> Array:
    """How nearly predictions stand in the order of the truth: the correlation of the ranks, ties in the middle."""
    numbers, cells = t.numbers, t.cells
    total = t.total[..., None]
    a = midranks(numbers.predicted, numbers.by_prediction, cells) - total / 2
    b = midranks(numbers.truth, numbers.by_truth, cells) - total / 2
    spreads = np.vecdot(cells * a, a) * np.vecdot(cells * b, b)
    return np.clip(ratio(np.vecdot(cells * a, b), np.sqrt(spreads)), -1, 1)


@_correlation(title="Kendall's rank correlation", aliases=("kendall_tau", "tau_b"))
def kendall(t: ResidualTable) -> Array:
    """Pairs in the right order less those in the wrong one, among those not tied: τ_b = (C − D) / √(P_ŷ P_y)."""
    found = concordance(t.numbers.truth, t.numbers.predicted, t.cells)
    return ratio(found.right - found.wrong, np.sqrt(found.truth_apart * found.predicted_apart))


@spearman.on
def _spearman_of_scores(t: ScoreTable) -> Array:
    """Of scores and two classes: the truth has two ranks, of the negatives and of the positives."""
    size, total, n_pos, n_neg = t.pos + t.neg, t.total, t.n_pos, t.n_neg
    a = total[..., None] / 2 - np.cumsum(size, axis=-1) + size / 2
    together = (n_neg * np.vecdot(t.pos, a) - n_pos * np.vecdot(t.neg, a)) / 2
    return np.clip(ratio(together, np.sqrt(np.vecdot(size * a, a) * n_pos * n_neg * total / 4)), -1, 1)


@kendall.on
def _kendall_of_scores(t: ScoreTable) -> Array:
    size, pairs = t.pos + t.neg, t.n_pos * t.n_neg
    apart = (t.total**2 - np.vecdot(size, size)) / 2
    return ratio(2 * concordant_pairs(t) - pairs, np.sqrt(pairs * apart))


@_correlation(
    title="Concordance index",
    range=(0, 1),
    undefined=_CONSTANT_TRUTH,
    aliases=("c_index", "harrell_c"),
    interval="logit-t",
)
def cindex(t: ResidualTable) -> Array:
    """Share of pairs with different truths that are predicted in their order, ties half: (C + T/2) / P_y."""
    found = concordance(t.numbers.truth, t.numbers.predicted, t.cells)
    tied = found.truth_apart - found.right - found.wrong
    return ratio(found.right + tied / 2, found.truth_apart)


@_correlation(title="Gini correlation", undefined=_CONSTANT_TRUTH, aliases=("normalised_gini", "gap_correlation"))
def gini_correlation(t: ResidualTable) -> Array:
    """Order that knows distances, right pairs less wrong ones by how far apart: cov(y, rank ŷ) / cov(y, rank y).

    It is Σ (yᵢ − yⱼ) sign(ŷᵢ − ŷⱼ) / Σ |yᵢ − yⱼ| over all pairs, so that two cases in the wrong order cost as much as
    their truths differ; of a truth of 0 and 1 it is 2 AUC − 1.

    >>> from scorespace.tables import residual_table
    >>> near, far = residual_table([1, 2, 9], [2, 1, 3]), residual_table([1, 2, 9], [1, 3, 2])
    >>> gini_correlation(near), gini_correlation(far)
    (0.875, 0.125)
    """
    numbers, cells = t.numbers, t.cells
    total = t.total[..., None]
    predicted = midranks(numbers.predicted, numbers.by_prediction, cells) - total / 2
    actual = midranks(numbers.truth, numbers.by_truth, cells) - total / 2
    truth = numbers.truth - numbers.truth.mean()  # any origin will do; a far one would cost digits
    most = np.vecdot(cells * actual, truth)
    return np.clip(ratio(np.vecdot(cells * predicted, truth), np.where(most > 0, most, np.nan)), -1, 1)


# --- can they be taken at their word


@cal.on
def _miscalibration(t: ResidualTable) -> Array:
    """What the mean truth for each prediction (isotonic) would spare of the squared error: MSE(ŷ) − MSE(isotonic)."""
    return np.maximum(t.sums.squared - isotonic_spread(t), 0.0)


ref.on(isotonic_spread)


@_loss(
    title="Discrimination of numbers",
    best="high",
    aliases=("discrimination",),
    interval="shifted",
    biased="too high on small samples: the rising curve is fitted to the same cases",
)
def dsc(t: ResidualTable) -> Array:
    """What recalibrated predictions know of the truth beyond its mean: var(y) − MSE(isotonic)."""
    return np.maximum(t.sums.truth_spread - isotonic_spread(t), 0.0)


@unc.on
def _variance_of_truth(s: ErrorSums) -> Array:
    return s.truth_spread


cal.ranges[ResidualTable] = ref.ranges[ResidualTable] = unc.ranges[ErrorSums] = (0, INF)
cal.intervals[ResidualTable], ref.intervals[ResidualTable] = "inverted-numbers", "corrected-numbers"
unc.intervals[ErrorSums] = _JACKKNIFE


# --- prediction intervals

Level = Annotated[float | None, "share of the truths that the intervals were made to hold; without it, the stated one"]


@measure(
    title="Coverage of the prediction intervals",
    range=(0, 1),
    best=None,
    undefined=NO_CASES,
    aliases=("interval_coverage", "picp"),
    trials="total",
)
def coverage(i: IntervalTable) -> Array:
    """Share of the truths that lie in their prediction interval, ends included: #{low ≤ y ≤ high} / n."""
    held = (i.low <= i.truth) & (i.truth <= i.high)
    return ratio(i.cells @ held.astype(np.float64), i.total)


@_loss(title="Mean width of the prediction intervals", aliases=("interval_width", "mpiw"), interval="skew-t")
def width(i: IntervalTable) -> Array:
    """How wide the prediction intervals are: Σ (high − low) / n."""
    return ratio(i.cells @ (i.high - i.low), i.total)


@_loss(title="Interval score", aliases=("winkler", "winkler_score"), interval="skew-t", covers=NOT_SIMULATED)
def interval_score(i: IntervalTable, *, level: Level = None) -> Array:
    """Width, and a fine for each truth outside, growing with its distance d: Σ (high − low + 2d / (1 − level)) / n."""
    nominal = i.level if level is None else level
    if nominal is None:
        raise MeasureError(
            "interval_score needs the nominal level of the prediction intervals.",
            seen="intervals without a level, or of several",
            hint="interval_score(level=0.9)",
        )
    _check_share("level", nominal)
    outside = np.maximum(i.low - i.truth, 0) + np.maximum(i.truth - i.high, 0)
    return ratio(i.cells @ (i.high - i.low + 2 * outside / (1 - nominal)), i.total)

"""Regression measures: errors, relative errors, bias, rank correlation, calibration and prediction intervals."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np

from scorespace.curves.isotonic import isotonic_mse
from scorespace.errors import MeasureError
from scorespace.measures.decomposition import cal, ref, unc
from scorespace.measures.measure import INF, NO_CASES, NOT_SIMULATED, measure
from scorespace.measures.ranking import concordant_pairs
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.error_sums import ErrorSums
from scorespace.tables.regression import IntervalTable, ResidualTable
from scorespace.tables.weighted_quantiles import concordance, median, midranks, quantile

_CONSTANT_TRUTH = "all truths are the same"
_CONSTANT = "all truths or all predictions are the same"
_AT_BASELINE = "every truth equals the baseline, or samples with other baselines were merged"
_JACKKNIFE = "jackknife"
_HEAVY = "errors with infinite fourth moment: covers in 84 to 92 % of samples"
_loss = partial(measure, range=(0, INF), best="low", undefined=NO_CASES, interval=_JACKKNIFE)
_gain = partial(measure, range=(-INF, 1), best="high", undefined=_CONSTANT_TRUTH, interval=_JACKKNIFE)
_correlation = partial(measure, range=(-1, 1), best="high", undefined=_CONSTANT, interval="fisher-t")

Alpha = Annotated[float, "weight of under-prediction; 2/3 if it costs twice as much as over-prediction"]
Quantile = Annotated[float, "the predicted quantile"]


# --- size of the errors


@_loss(title="Mean absolute error", aliases=("mean_absolute_error",), loss=True, absolute_error=True)
def mae(s: ErrorSums) -> Array:
    """Mean absolute error: Σ |ŷ − y| / n."""
    return s.mean("absolute")


@_loss(title="Root mean squared error", aliases=("root_mean_squared_error", "rmsd"), coverage_note=_HEAVY)
def rmse(s: ErrorSums) -> Array:
    """Root mean squared error, in the unit of the truth: √(Σ (ŷ − y)² / n)."""
    return np.sqrt(s.squared)


@_loss(title="Mean squared error", aliases=("mean_squared_error",), loss=True, coverage_note=_HEAVY)
def mse(s: ErrorSums) -> Array:
    """Mean squared error, the sum of error variance and squared bias: Σ (ŷ − y)² / n."""
    return s.squared


@_loss(title="Median absolute error", aliases=("median_absolute_error",), interval="bootstrap", absolute_error=True)
def medae(t: ResidualTable) -> Array:
    """Median absolute error, robust to large errors: median |ŷ − y|."""
    if t.weight is None and t.numbers.error.size:
        return np.median(np.abs(t.numbers.error), overwrite_input=True)  # a partial sort suffices
    order = t.numbers.by_size
    return median(np.abs(t.numbers.error)[order], t.cells[..., order])


@_loss(
    title="Largest absolute error",
    aliases=("max_absolute_error",),
    interval="sample-maximum",
    biased="too low in small samples: more cases include larger errors",
)
def max_error(t: ResidualTable) -> Array:
    """Largest absolute error: max |ŷ − y|."""
    size, cells = np.abs(t.numbers.error), t.cells
    largest = np.where(cells > 0, size, -INF).max(axis=-1, initial=-INF)
    return np.where(largest < 0, np.nan, largest)


@_loss(
    title="Mean absolute percentage error",
    coverage_note=NOT_SIMULATED,
    infinite="a truth is zero, and its prediction is not",
    aliases=("mean_absolute_percentage_error",),
)
def mape(s: ErrorSums) -> Array:
    """Mean absolute error relative to the truth, 1 being 100 %: Σ |ŷ − y| / |y| / n."""
    return s.mean("relative")


@_loss(
    title="Symmetric mean absolute percentage error",
    range=(0, 2),
    aliases=("symmetric_mean_absolute_percentage_error",),
)
def smape(s: ErrorSums) -> Array:
    """Mean absolute error relative to the mean magnitude of truth and prediction: Σ 2 |ŷ − y| / (|y| + |ŷ|) / n."""
    return s.mean("symmetric")


@_loss(title="Huber loss", aliases=("huber_loss",), interval="skew-t")
def huber(t: ResidualTable, *, delta: Annotated[float, "error size at which the loss becomes linear"] = 1.0) -> Array:
    """Huber loss, quadratic for small errors and linear for large ones: e²/2 up to |e| = δ, then δ(|e| − δ/2)."""
    if not delta > 0:
        raise MeasureError(f"delta={delta:g} is not an error size.", hint="a number above 0, such as delta=1")
    size = np.abs(t.numbers.error)
    loss = np.where(size <= delta, size**2 / 2, delta * (size - delta / 2))
    return ratio(t.cells @ loss, t.total)


# --- relative to a baseline


@_loss(title="Relative absolute error", undefined=_AT_BASELINE, aliases=("relative_absolute_error",))
def rae(s: ErrorSums) -> Array:
    """Absolute error relative to that of a baseline b, by default the mean of the truth: Σ|ŷ−y| / Σ|b−y|."""
    return _relative(s.mean("absolute"), s.off)


@_loss(
    title="Relative squared error", undefined=_AT_BASELINE, aliases=("relative_squared_error",), coverage_note=_HEAVY
)
def rse(s: ErrorSums) -> Array:
    """Squared error relative to that of a baseline b, by default the mean of the truth: Σ(ŷ−y)² / Σ(b−y)²."""
    return _relative(s.squared, s.off_squared)


@_loss(
    title="Root relative squared error",
    undefined=_AT_BASELINE,
    aliases=("root_relative_squared_error",),
    coverage_note=_HEAVY,
)
def rrse(s: ErrorSums) -> Array:
    """Square root of the relative squared error: √RSE."""
    return np.sqrt(_relative(s.squared, s.off_squared))


@_gain(title="Coefficient of determination", aliases=("r_squared", "r2_score"), coverage_note=_HEAVY)
def r2(s: ErrorSums) -> Array:
    """Share of the variance of the truth that is explained; negative if worse than its mean: 1 − MSE / var(y)."""
    return 1 - _relative(s.squared, s.truth_spread)


@_gain(title="Explained variance", aliases=("evs", "explained_variance_score"), coverage_note=_HEAVY)
def explained_variance(s: ErrorSums) -> Array:
    """R² of predictions without their bias: 1 − var(ŷ − y) / var(y)."""
    return 1 - _relative(s.error_spread, s.truth_spread)


@_gain(title="Skill of the pinball loss (D²)", aliases=("d2_absolute_error", "d2_pinball"), interval="bootstrap")
def d2(t: ResidualTable, *, q: Quantile = 0.5) -> Array:
    """Reduction of the pinball loss relative to predicting the q-quantile of the truth: 1 − L_q(ŷ) / L_q(y_q)."""
    _check_share("q", q)
    order = t.numbers.by_truth
    truth, cells = t.numbers.truth[order], t.cells[..., order]
    level = quantile(truth, cells, q)
    error = np.asarray(level)[..., None] - truth
    constant = np.vecdot(cells, np.where(error < 0, -q * error, (1 - q) * error))
    return 1 - _relative(_pinball(t.sums, q) * t.total, constant)


def _relative(loss: Array, reference: Array) -> Array:
    """Loss relative to a reference; NaN if the reference is zero."""
    return ratio(loss, np.where(reference > 0, reference, np.nan))


# --- bias and asymmetric loss


@_loss(title="Mean error", range=(-INF, INF), best=None, aliases=("mean_error", "mean_bias_error"))
def bias(s: ErrorSums) -> Array:
    """Mean error, positive if predictions are too high: Σ (ŷ − y) / n."""
    return s.error


@_loss(title="Variance of the errors", aliases=("error_variance",), coverage_note=_HEAVY)
def err_var(s: ErrorSums) -> Array:
    """Squared error without the bias: MSE − bias²."""
    return s.error_spread


@_loss(title="Area over the RROC curve", aliases=("area_over_curve", "area_over_rroc"), coverage_note=_HEAVY)
def aoc(s: ErrorSums) -> Array:
    """Area between the RROC curve and the ideal point, with means on the axes: var(ŷ − y) / 2."""
    return s.error_spread / 2


@_loss(title="Asymmetric absolute error", aliases=("asymmetric_loss", "asymmetric_absolute_error"), loss=True)
def asym(s: ErrorSums, *, alpha: Alpha = 0.5) -> Array:
    """Asymmetric absolute error, the MAE for α = 1/2: Σ 2α(y − ŷ)₊ + 2(1 − α)(ŷ − y)₊, divided by n."""
    _check_share("alpha", alpha)
    return 2 * alpha * s.under + 2 * (1 - alpha) * s.over


@_loss(title="Pinball loss", aliases=("pinball_loss", "quantile_loss", "mean_pinball_loss"), loss=True)
def pinball(s: ErrorSums, *, q: Quantile = 0.5) -> Array:
    """Pinball loss, minimised by the q-quantile of the truth: Σ q(y − ŷ)₊ + (1 − q)(ŷ − y)₊, divided by n."""
    _check_share("q", q)
    return _pinball(s, q)


def _pinball(s: ErrorSums, q: float) -> Array:
    return q * s.under + (1 - q) * s.over


def _check_share(name: str, share: float) -> None:
    if not 0 < share < 1:
        raise MeasureError(f"{name}={share:g} is not a share.", hint=f"between 0 and 1, such as {name}=0.5")


# --- correlation and order


@_correlation(title="Pearson's correlation", aliases=("correlation", "r"), interval=_JACKKNIFE, coverage_note=_HEAVY)
def pearson(s: ErrorSums) -> Array:
    """Linear correlation of prediction and truth: cov(ŷ, y) / √(var(ŷ) var(y))."""
    predicted, both, truth = s.covariances
    constant = (predicted <= 0) | (truth <= 0)
    return np.clip(ratio(both, np.sqrt(truth * np.where(constant, np.nan, predicted))), -1, 1)


@_correlation(title="Spearman's rank correlation", aliases=("spearman_rho", "rank_correlation"))
def spearman(t: ResidualTable) -> Array:
    """Correlation of the ranks of prediction and truth, with mean ranks for ties."""
    numbers, cells = t.numbers, t.cells
    total = t.total[..., None]
    a = midranks(numbers.predicted, numbers.by_prediction, cells) - total / 2
    b = midranks(numbers.truth, numbers.by_truth, cells) - total / 2
    spreads = np.vecdot(cells * a, a) * np.vecdot(cells * b, b)
    return np.clip(ratio(np.vecdot(cells * a, b), np.sqrt(spreads)), -1, 1)


@_correlation(title="Kendall's rank correlation", aliases=("kendall_tau", "tau_b"))
def kendall(t: ResidualTable) -> Array:
    """Concordant minus discordant pairs relative to untied pairs: τ_b = (C − D) / √(P_ŷ P_y)."""
    pairs = concordance(t.numbers.truth, t.numbers.predicted, t.cells)
    return ratio(pairs.right - pairs.wrong, np.sqrt(pairs.truth_apart * pairs.predicted_apart))


@spearman.on
def _spearman_of_scores(t: ScoreTable) -> Array:
    """For scores and two classes, the truth has two midranks."""
    size, total, n_pos, n_neg = t.pos + t.neg, t.total, t.n_pos, t.n_neg
    a = total[..., None] / 2 - np.cumsum(size, axis=-1) + size / 2
    covariance = (n_neg * np.vecdot(t.pos, a) - n_pos * np.vecdot(t.neg, a)) / 2
    return np.clip(ratio(covariance, np.sqrt(np.vecdot(size * a, a) * n_pos * n_neg * total / 4)), -1, 1)


@kendall.on
def _kendall_of_scores(t: ScoreTable) -> Array:
    size, pairs = t.pos + t.neg, t.n_pos * t.n_neg
    untied = (t.total**2 - np.vecdot(size, size)) / 2
    return ratio(2 * concordant_pairs(t) - pairs, np.sqrt(pairs * untied))


@_correlation(
    title="Concordance index",
    range=(0, 1),
    undefined=_CONSTANT_TRUTH,
    aliases=("c_index", "harrell_c"),
    interval="logit-t",
)
def cindex(t: ResidualTable) -> Array:
    """Share of pairs with different truths that are predicted in order, ties counting half: (C + T/2) / P_y."""
    pairs = concordance(t.numbers.truth, t.numbers.predicted, t.cells)
    tied = pairs.truth_apart - pairs.right - pairs.wrong
    return ratio(pairs.right + tied / 2, pairs.truth_apart)


@_correlation(title="Gini correlation", undefined=_CONSTANT_TRUTH, aliases=("normalised_gini", "gap_correlation"))
def gini_correlation(t: ResidualTable) -> Array:
    """Rank correlation weighted by the differences of the truth: cov(y, rank ŷ) / cov(y, rank y).

    It equals Σ (yᵢ − yⱼ) sign(ŷᵢ − ŷⱼ) / Σ |yᵢ − yⱼ| over all pairs, so a discordant pair costs as much as its truths
    differ; for a truth of 0 and 1 it is 2 AUC − 1.

    >>> from scorespace.tables import residual_table
    >>> near, far = residual_table([1, 2, 9], [2, 1, 3]), residual_table([1, 2, 9], [1, 3, 2])
    >>> gini_correlation(near), gini_correlation(far)
    (0.875, 0.125)
    """
    numbers, cells = t.numbers, t.cells
    total = t.total[..., None]
    predicted = midranks(numbers.predicted, numbers.by_prediction, cells) - total / 2
    actual = midranks(numbers.truth, numbers.by_truth, cells) - total / 2
    truth = numbers.truth - numbers.truth.mean()  # centred to keep digits
    largest = np.vecdot(cells * actual, truth)
    return np.clip(ratio(np.vecdot(cells * predicted, truth), np.where(largest > 0, largest, np.nan)), -1, 1)


# --- calibration


@cal.on
def _miscalibration(t: ResidualTable) -> Array:
    """Reduction of the squared error by isotonic recalibration: MSE(ŷ) − MSE(isotonic)."""
    return np.maximum(t.sums.squared - isotonic_mse(t), 0.0)


ref.on(isotonic_mse)


@_loss(
    title="Discrimination (regression)",
    best="high",
    aliases=("discrimination",),
    interval="bias-shifted",
    biased="too high in small samples: the isotonic curve is fitted to the same cases",
)
def dsc(t: ResidualTable) -> Array:
    """Variance of the truth explained by recalibrated predictions: var(y) − MSE(isotonic)."""
    return np.maximum(t.sums.truth_spread - isotonic_mse(t), 0.0)


@unc.on
def _variance_of_truth(s: ErrorSums) -> Array:
    return s.truth_spread


cal.ranges[ResidualTable] = ref.ranges[ResidualTable] = unc.ranges[ErrorSums] = (0, INF)
cal.intervals[ResidualTable], ref.intervals[ResidualTable] = "test-inversion-regression", "bias-corrected-regression"
unc.intervals[ErrorSums] = _JACKKNIFE


# --- prediction intervals

Level = Annotated[float | None, "nominal level of the intervals; by default the stated one"]


@measure(
    title="Coverage of the prediction intervals",
    range=(0, 1),
    best=None,
    undefined=NO_CASES,
    aliases=("interval_coverage", "picp"),
    trials="total",
    coverage_note="with --time and an autocorrelation of 0.9: covers in 80 to 93 % of samples",
)
def coverage(i: IntervalTable) -> Array:
    """Share of true values inside their prediction interval, limits included: #{low ≤ y ≤ high} / n."""
    return ratio(i.cells @ i.is_covered.astype(np.float64), i.total)


_misses = partial(measure, range=(0, 1), best=None, undefined=NO_CASES, trials="total")


@_misses(title="Share of true values below their prediction interval")
def below_interval(i: IntervalTable) -> Array:
    """Share of true values below the lower limit; half of the misses if the interval is central: #{y < low} / n."""
    return ratio(i.cells @ (i.truth < i.low).astype(np.float64), i.total)


@_misses(title="Share of true values above their prediction interval")
def above_interval(i: IntervalTable) -> Array:
    """Share of true values above the upper limit: #{y > high} / n."""
    return ratio(i.cells @ (i.truth > i.high).astype(np.float64), i.total)


@_loss(title="Mean width of the prediction intervals", aliases=("interval_width", "mpiw"), interval="skew-t")
def width(i: IntervalTable) -> Array:
    """Mean width of the prediction intervals: Σ (high − low) / n."""
    return ratio(i.cells @ (i.high - i.low), i.total)


@_loss(title="Interval score", aliases=("winkler", "winkler_score"), interval="skew-t", coverage_note=NOT_SIMULATED)
def interval_score(i: IntervalTable, *, level: Level = None) -> Array:
    """Width plus a penalty for true values outside at distance d: Σ (high − low + 2d / (1 − level)) / n."""
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

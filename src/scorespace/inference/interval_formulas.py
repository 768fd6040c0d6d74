"""Formulas for confidence limits from values, replicates and counts; docs/coverage.md shows their coverage.

All functions take arrays: replicates are the last axis, and axes before it are separate intervals. NaN replicates are
ignored. Limits are returned as a pair (low, high).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, stdtrit

from scorespace.inference.proportion import Limits, normal_quantile, pair
from scorespace.inference.proportion import wilson as wilson
from scorespace.tables import Array

FEW_ERRORS: Final = 10.0
"""DeLong's interval of an AUC A is reliable if the rarer class size times min(A, 1 − A) is at least this."""
_BIAS_UNCERTAINTY: Final = (
    0.4  # relative standard error of a bias estimated from smooth rates, by simulation (docs/coverage.md)
)
_MIN_CASES_FOR_T: Final = (
    10.0  # class size below which Newcombe's variance is used without a t correction for that size
)
_SKEWNESS_LIMIT: Final = (
    1.5  # skewness above which a quantile of the replicates, not a multiple of their sd, is the limit
)
NEAREST_MODEL: Final = 2  # place of the model closest to the data on a path of models
_LOG_WEIGHT_NOISE: Final = (
    4.0  # variance of log(Q/W) times the effective sample size, for weights as skewed as lognormal ones
)
_BISECTIONS: Final = 60  # bisections until two floats in [0, 1] are adjacent


def percentile(values: ArrayLike, level: float = 0.95) -> Limits:
    """Quantiles of the replicates at (1 ∓ level) / 2.

    >>> percentile([1, 2, 3, 4, 5], 0.5)
    (2.0, 4.0)
    """
    return pair(*np.nanquantile(np.asarray(values, dtype=np.float64), tail_probabilities(level), axis=-1))


def bias_shifted(value: ArrayLike, values: ArrayLike, level: float = 0.95) -> Limits:
    """Quantiles minus twice the bootstrap bias: replicates exceed the value by as much as it exceeds the truth.

    >>> bias_shifted(3, [2, 3, 4, 5, 6], 0.5)
    (1.0, 3.0)
    """
    low, high = percentile(values, level)
    bias = np.nanmean(np.asarray(values, dtype=np.float64), axis=-1) - value
    return pair(low - 2 * bias, high - 2 * bias)


def logit_t(
    value: ArrayLike, values: ArrayLike, cases: ArrayLike, level: float = 0.95, *, df_cases: ArrayLike | None = None
) -> Limits:
    """Limits of a proportion v from its replicates on the logit scale: expit(logit v ± t · sd(logit v*)).

    t has `cases` − 1 degrees of freedom, with `cases` of the rarer class, so few cases give a wider interval;
    `df_cases` − 1 if given. Logits are bounded at half a case from 0 and 1. If the replicates do not vary, Wilson's
    interval for `cases` trials is used.

    >>> low, high = logit_t(0.8, [0.7, 0.75, 0.8, 0.85, 0.9], 50)
    >>> round(low, 3), round(high, 3)
    (0.606, 0.912)
    """
    proportion, replicates, n_cases = (np.asarray(v, dtype=np.float64) for v in (value, values, cases))
    margin = (0.5 / (n_cases + 1)) / 10
    spread = np.nanstd(_logits(replicates, margin[..., None]), axis=-1)
    half = student_quantile(level, n_cases if df_cases is None else df_cases) * spread
    centre = _logits(proportion, margin)
    low, high = expit(centre - half), expit(centre + half)
    fallback = wilson(proportion * n_cases, n_cases, level)
    is_constant = spread <= 1e-12
    low, high = np.where(is_constant, fallback[0], low), np.where(is_constant, fallback[1], high)
    low, high = (
        np.minimum(low, proportion),
        np.maximum(high, proportion),
    )  # finite logits must not leave out an extreme value
    return pair(np.where(proportion <= 0, 0.0, low), np.where(proportion >= 1, 1.0, high))


def log_t(value: ArrayLike, values: ArrayLike, level: float = 0.95) -> Limits:
    """Limits of a mean loss from its replicates on the log scale: v · exp(± z · sd(log v*)).

    Losses are skewed, since few cases dominate them; on this scale the upper limit is farther away than the lower one.

    >>> low, high = log_t(0.2, [0.15, 0.18, 0.2, 0.22, 0.26])
    >>> round(low, 3), round(high, 3)
    (0.139, 0.288)
    """
    loss, replicates = np.asarray(value, dtype=np.float64), np.asarray(values, dtype=np.float64)
    spread = np.nanstd(np.log(np.where(replicates > 0, replicates, np.nan)), axis=-1)
    factor = np.exp(normal_quantile(level) * spread)
    return pair(loss / factor, loss * factor)


def bias_corrected(
    value: ArrayLike,
    model_value: ArrayLike,
    values: ArrayLike,
    cases: ArrayLike,
    level: float = 0.95,
    *,
    spread: ArrayLike = 0.0,
    range_: tuple[float, float] = (0.0, 1.0),
) -> Limits:
    """Limits of a value v that is biased, with bias and error estimated by a parametric bootstrap.

    `model_value` is the value under the fitted model and `values` are its replicates. Bias b and error e shrink
    towards the ends of the range, here 0 and 1, by g(θ) = √(θ (1 − θ)), as those of a proportion do. So the limits are
    the θ with v − θ = c g(θ), c = b/g ± t e/g, which is Wilson's quadratic; t has `cases` − 1 degrees of freedom. e is
    the larger of the parametric and the nonparametric bootstrap error (`spread`), plus the error of the bias, which is
    two fifths of it. On the side of the bias the error does not shrink: that limit is at least v − b − t e away. An end
    of the range within this distance belongs to the interval.

    >>> low, high = bias_corrected(0.5, 0.4, [0.4, 0.45, 0.5, 0.55], 40)
    >>> round(low, 3), round(high, 3)
    (0.297, 0.55)
    """
    bottom, top = range_
    scale = top - bottom
    observed, expected = ((np.asarray(v, dtype=np.float64) - bottom) / scale for v in (value, model_value))
    replicates = (np.asarray(values, dtype=np.float64) - bottom) / scale
    bias, parametric_error = np.nanmean(replicates, axis=-1) - expected, np.nanstd(replicates, axis=-1)
    bootstrap_error = np.asarray(spread, dtype=np.float64) / scale
    margin = 0.5 / (np.asarray(cases, dtype=np.float64) + 1)
    g_expected, g_observed = (
        np.sqrt(at * (1 - at)) for at in (np.clip(v, margin, 1 - margin) for v in (expected, observed))
    )
    t, bias_error = student_quantile(level, cases), _BIAS_UNCERTAINTY * bias
    reach = t * np.hypot(
        np.maximum(parametric_error / g_expected, bootstrap_error / g_observed), bias_error / g_expected
    )
    low, high = (_wilson_root(observed, bias / g_expected + side) for side in (reach, -reach))
    unscaled = t * np.hypot(np.maximum(parametric_error, bootstrap_error), bias_error)
    least, most = observed - bias - unscaled, observed - bias + unscaled
    low = np.where((bias > 0) | (least <= 0), np.minimum(low, least), low)
    high = np.where((bias < 0) | (most >= 1), np.maximum(high, most), high)
    return pair(bottom + scale * np.clip(low, 0.0, 1.0), bottom + scale * np.clip(high, 0.0, 1.0))


def is_consistent_with(
    value: ArrayLike, model_value: ArrayLike, values: ArrayLike, cases: ArrayLike, level: float = 0.95
) -> Array:
    """Whether a value is within t standard errors of the mean of replicates under a model with value `model_value`.

    >>> [bool(is_consistent_with(value, 0.0, [0.08, 0.1, 0.12], 50)) for value in (0.2, 0.12)]
    [False, True]
    """
    replicates = np.asarray(values, dtype=np.float64)
    mean, side = np.nanmean(replicates, axis=-1), np.sign(np.nanmean(replicates, axis=-1) - np.asarray(model_value))
    return np.asarray(
        side * (np.asarray(value) - mean) <= student_quantile(level, cases) * np.nanstd(replicates, axis=-1)
    )


def _wilson_root(value: Array, c: Array) -> Array:
    """Solve v − θ = c √(θ (1 − θ)) for θ, as in Wilson's interval: below v for c > 0, above it for c < 0."""
    inner = np.maximum(value * (1 - value), 0.0)
    return np.asarray((value + c * c / 2 - c * np.sqrt(inner + c * c / 4)) / (1 + c * c))


def invert_test(
    value: ArrayLike,
    model_values: ArrayLike,
    values: ArrayLike,
    cases: ArrayLike,
    level: float = 0.95,
    *,
    spread: ArrayLike = 0.0,
    nearest: int = NEAREST_MODEL,
) -> Limits:
    """Confidence limits by test inversion, for a measure that is 0 under the first model and grows along the path.

    `model_values` (…, w) holds the value under each model and `values` (…, w, replicates) its parametric replicates. A
    model is accepted if the observed value is within t standard errors of the mean of its replicates, t with `cases`
    − 1 degrees of freedom; limits are interpolated linearly between models. If the nonparametric `spread` exceeds that
    of model number `nearest` (closest to the data), the excess is added to the errors, in proportion to the measure up
    to the observed value.

    >>> models, noise = np.array([0.0, 1.0, 2.0, 3.0]), np.linspace(-0.5, 0.5, 9)
    >>> low, high = invert_test(1.5, models, models[:, None] + noise, 1000)
    >>> round(low, 2), round(high, 2)
    (0.87, 2.13)
    """
    observed = np.asarray(value, dtype=np.float64)[..., None]
    expected, replicates = np.asarray(model_values, dtype=np.float64), np.asarray(values, dtype=np.float64)
    mean, error = np.nanmean(replicates, axis=-1), np.nanstd(replicates, axis=-1)
    excess = np.maximum(0.0, np.asarray(spread, dtype=np.float64)[..., None] ** 2 - error[..., nearest, None] ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        fraction = np.where(observed > 0, np.minimum(1.0, expected / observed), 1.0)
    reach = np.asarray(student_quantile(level, cases))[..., None] * np.sqrt(error**2 + excess * fraction**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = np.nanmean((replicates - mean[..., None]) ** 3, axis=-1) / error**3
    upper_quantile = np.nanquantile(replicates, tail_probabilities(level)[1], axis=-1)
    low = _interpolate_crossing(
        observed[..., 0],
        np.where(skew > _SKEWNESS_LIMIT, np.maximum(mean + reach, upper_quantile), mean + reach),
        expected,
    )
    high = _interpolate_crossing(observed[..., 0], mean - reach, expected)
    return pair(np.maximum(low, 0.0), np.maximum(high, 0.0))


def _interpolate_crossing(value: Array, curve: Array, known: Array) -> Array:
    """Interpolate `known` where the curve first reaches the value; 0 if it starts above, else extrapolated."""
    rising = np.maximum.accumulate(curve, axis=-1)
    place = (rising < value[..., None]).sum(axis=-1)  # of the first model that reaches the value
    last = rising.shape[-1] - 1
    after, before = np.clip(place, 1, last)[..., None], np.clip(place - 1, 0, last - 1)[..., None]
    y1, y0 = (np.take_along_axis(rising, at, -1)[..., 0] for at in (after, before))
    x1, x0 = (np.take_along_axis(known, at, -1)[..., 0] for at in (after, before))
    with np.errstate(divide="ignore", invalid="ignore"):
        between = np.where(y1 > y0, x0 + (x1 - x0) * (value - y0) / (y1 - y0), x1)
    beyond = value - (rising[..., -1] - known[..., -1])
    return np.where(place == 0, 0.0, np.where(place > last, beyond, between))


def dirichlet_posterior(
    counts: ArrayLike, rng: np.random.Generator, draws: int, *, prior: ArrayLike = 0.5, unit: ArrayLike = 1.0
) -> Array:
    """Draw cell probabilities (draws, …, cells) from Dirichlet(counts + prior), Jeffreys' prior with 1/2.

    Percentiles of a measure on them cover where the bootstrap does not, since cells without cases are drawn, too. For
    weighted cases, `counts` are the weights of the cells and `unit` is the weight of one effective case in each.

    >>> dirichlet_posterior([9, 0, 1], np.random.default_rng(0), 1000).mean(axis=0).round(2)
    array([0.83, 0.04, 0.13])
    """
    unit_weight = np.asarray(unit, dtype=np.float64)
    shape = np.asarray(counts, dtype=np.float64) / unit_weight + np.asarray(prior)
    drawn = rng.standard_gamma(shape, (draws, *shape.shape)) * unit_weight
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


def cell_prior(classes: int) -> float:
    """Prior count of each cell of a K × K confusion matrix: one error in total, 1 / (K (K − 1)); ½ for two classes.

    A half in every cell would outweigh the errors of a good model where there are many classes.

    >>> cell_prior(2), cell_prior(5)
    (0.5, 0.05)
    """
    return 1 / (classes * max(1, classes - 1))


def newcombe_variance(area: ArrayLike, n_pos: ArrayLike, n_neg: ArrayLike) -> Array:
    """Variance of an AUC θ (Newcombe 2006, method 5): θ(1 − θ)[1 + (N − 1)((1 − θ)/(2 − θ) + θ/(1 + θ))] / (m n).

    N = (m + n)/2, so that both classes have the same role.

    >>> round(float(newcombe_variance(0.8, 50, 50)), 6)
    0.00198
    """
    theta, m, n = (np.asarray(v, dtype=np.float64) for v in (area, n_pos, n_neg))
    size = (m + n) / 2
    tails = (1 - theta) / (2 - theta) + theta / (1 + theta)
    return np.asarray(theta * (1 - theta) * (1 + (size - 1) * tails) / (m * n))


def newcombe_auc(
    area: ArrayLike,
    n_pos: ArrayLike,
    n_neg: ArrayLike,
    level: float = 0.95,
    *,
    variance: ArrayLike | None = None,
    df_cases: ArrayLike = np.inf,
) -> Limits:
    """Newcombe's score interval of an AUC (2006): the θ with |A − θ| = z √(f V(θ)), within [0, 1], of width > 0 at 1.

    f = 1 is his method 5, which assumes a model of the scores. With `variance` (DeLong's), f is its ratio to V(A) where
    that exceeds 1, as for bimodal scores or unequal variances. Few cases estimate it badly, so it is multiplied by
    (t / z)², t with the size of the rarer class (at least 10) minus 1 degrees of freedom, or `df_cases` − 1 if fewer.

    >>> low, high = newcombe_auc(1.0, 10, 10)
    >>> round(low, 3), round(high, 3)
    (0.8, 1.0)
    """
    theta = np.asarray(area, dtype=np.float64)
    factor = np.ones_like(theta)
    z = normal_quantile(level)
    if variance is not None:
        model_variance = newcombe_variance(theta, n_pos, n_neg)
        rarer = np.maximum(np.minimum(n_pos, n_neg), _MIN_CASES_FOR_T)
        inflated = np.asarray(variance) * (student_quantile(level, np.minimum(rarer, df_cases)) / z) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.where(model_variance > 0, np.maximum(1.0, inflated / model_variance), 1.0)
            factor = np.where(np.isfinite(factor), factor, 1.0)

    def limit(outer: Array) -> Array:
        inner = theta.copy()
        for _ in range(_BISECTIONS):
            middle = (inner + outer) / 2
            is_rejected = np.abs(theta - middle) > z * np.sqrt(factor * newcombe_variance(middle, n_pos, n_neg))
            inner, outer = np.where(is_rejected, inner, middle), np.where(is_rejected, middle, outer)
        return np.asarray(inner)

    low, high = limit(np.zeros_like(theta)), limit(np.ones_like(theta))
    return pair(np.where(theta <= 0, 0.0, low), np.where(theta >= 1, 1.0, high))


def is_delong_reliable(area: ArrayLike, n_pos: ArrayLike, n_neg: ArrayLike) -> Array:
    """Whether DeLong's interval is reliable: the rarer class size times min(A, 1 − A) is at least ten.

    >>> bool(is_delong_reliable(0.8, 50, 500)), bool(is_delong_reliable(0.96, 50, 500))
    (True, False)
    """
    theta = np.asarray(area, dtype=np.float64)
    return np.asarray(np.minimum(n_pos, n_neg) * np.minimum(theta, 1 - theta) >= FEW_ERRORS - 1e-9)


def effective_sample_size(weight_sum: ArrayLike, square_sum: ArrayLike) -> Array:
    """Kish's effective sample size of weighted cases: (Σw)² / Σw².

    >>> float(effective_sample_size(4.0, 4.0)), float(effective_sample_size(5.0, 17.0))  # weights 1, 1, 1, 1; 4, 1
    (4.0, 1.4705882352941178)
    """
    total, squares = np.asarray(weight_sum, dtype=np.float64), np.asarray(square_sum, dtype=np.float64)
    return np.asarray(np.divide(total**2, squares, out=np.zeros(np.broadcast(total, squares).shape), where=squares > 0))


def effective_case_weights(cells: ArrayLike, squares: ArrayLike) -> Array:
    """Weight of one effective case in each cell (…, classes, decisions) of a table of weighted outcomes.

    A cell of weight W and squared weight Q counts as W²/Q cases of weight Q/W (Fay and Feuer 1997). Q/W is noisy for
    few cases: log(Q/W) is modelled as an effect of the class, one of the decision and their interaction, each shrunk by
    its noise (James and Stein 1961), and a cell has at least the shrunk value. Two cells with exactly the same Q/W have
    weights by design, without noise. An empty cell has the sum of both effects: in a case-control sample it has the
    weight of its class, in a sample verified by score that of its decision.

    >>> cells, squares = [[60.0, 0.0], [20.0, 700.0]], [[60.0, 0.0], [20.0, 7000.0]]  # low scores: 1 in 10 verified
    >>> effective_case_weights(cells, squares).round(1).tolist()
    [[1.0, 10.0], [1.0, 10.0]]
    """
    weight, squared = np.asarray(cells, dtype=np.float64), np.asarray(squares, dtype=np.float64)
    filled = (weight > 0) & (squared > 0)
    cell_unit = np.divide(squared, weight, out=np.ones_like(weight), where=filled)
    total, total_squares = (sums.sum(axis=(-2, -1), keepdims=True) for sums in (weight, squared))
    pooled = np.divide(total_squares, total, out=np.ones_like(total), where=total > 0)
    log_ratio = np.where(filled, np.log(cell_unit / pooled), 0.0)
    is_noisy = filled & ~_is_repeated(np.where(filled, cell_unit, np.nan))
    noise = np.divide(
        _LOG_WEIGHT_NOISE, effective_sample_size(weight, squared), out=np.zeros_like(weight), where=is_noisy
    )
    mean_noise = noise.sum(axis=(-2, -1), keepdims=True) / np.maximum(filled.sum(axis=(-2, -1), keepdims=True), 1)
    grid = np.where(filled, log_ratio, _fit_additive(log_ratio, filled))
    overall = grid.mean(axis=(-2, -1), keepdims=True)
    class_effect = grid.mean(axis=-1, keepdims=True) - overall
    decision_effect = grid.mean(axis=-2, keepdims=True) - overall
    interaction = grid - overall - class_effect - decision_effect
    n_classes, n_decisions = weight.shape[-2:]
    shrunk = overall + sum(
        _shrink(effect, mean_noise * free)
        for effect, free in (
            (class_effect, (n_classes - 1) / n_decisions),
            (decision_effect, (n_decisions - 1) / n_classes),
            (interaction, (n_classes - 1) * (n_decisions - 1)),
        )
    )
    model_unit = pooled * np.exp(shrunk)
    model_total = np.where(filled, weight * model_unit, 0.0).sum(axis=(-2, -1), keepdims=True)
    model_unit = model_unit * np.divide(
        total_squares, model_total, out=np.ones_like(model_total), where=model_total > 0
    )
    return np.asarray(np.where(filled, np.maximum(cell_unit, model_unit), model_unit))


def unit_weights(strata: Array, cells: Array, squares: Array) -> Array:
    """Return `effective_case_weights` for flat cells, with the same number of decisions for each class.

    >>> unit_weights(np.array([1, 1, 0, 0]), np.array([6.0, 4, 20, 60]), np.array([6.0, 4, 400, 1200])).round(1)
    array([ 1.,  1., 20., 20.])
    """
    order = np.argsort(strata, kind="stable")
    shape = int(np.unique(strata).size), -1
    units = np.empty(cells.size)
    units[order] = effective_case_weights(cells[order].reshape(shape), squares[order].reshape(shape)).ravel()
    return units


def _is_repeated(values: Array) -> Array:
    """Whether each value (…, rows, columns) occurs more than once, up to rounding; NaN equals nothing."""
    flat = values.reshape(*values.shape[:-2], -1)
    order = np.argsort(flat, axis=-1)
    ordered = np.take_along_axis(flat, order, -1)
    same = np.diff(ordered, axis=-1) <= 1e-9 * ordered[..., 1:]
    edge = np.zeros((*same.shape[:-1], 1), dtype=bool)
    is_repeated = np.zeros(flat.shape, dtype=bool)
    np.put_along_axis(
        is_repeated, order, np.concatenate([edge, same], axis=-1) | np.concatenate([same, edge], axis=-1), axis=-1
    )
    return is_repeated.reshape(values.shape)


def _fit_additive(values: Array, filled: Array) -> Array:
    """Fit row and column effects to the filled cells and return their sums; shared effects go to the rows."""
    rows, columns = values.shape[-2:]
    row, column = np.divmod(np.arange(rows * columns), columns)
    design = np.concatenate([np.ones((row.size, 1)), np.eye(rows)[row], np.eye(columns)[column]], axis=1)
    weights = filled.reshape(*filled.shape[:-2], -1).astype(np.float64)
    filled_values = values.reshape(*values.shape[:-2], -1) * weights
    ridge = np.diag(np.repeat([1e-9, 1e-6, 1e-3], [1, rows, columns]))
    left = np.einsum("ik,...i,il->...kl", design, weights, design) + ridge
    effects = np.linalg.solve(left, (filled_values @ design)[..., None])[..., 0]
    return np.asarray((effects @ design.T).reshape(values.shape))


def _shrink(effect: Array, noise: Array) -> Array:
    """Shrink effects by the share of their sum of squares that noise explains."""
    size = (effect**2).sum(axis=(-2, -1), keepdims=True)
    return np.asarray(effect * np.maximum(0.0, 1 - np.divide(noise, size, out=np.ones_like(size), where=size > 0)))


def rarest_class_size(strata: Array, cells: ArrayLike | None, squares: ArrayLike | None = None) -> float:
    """Effective sample size of the rarest class that occurs; 0 without cases.

    >>> rarest_class_size(np.array([0, 0, 2]), [3.0, 1.0, 2.0]), rarest_class_size(np.array([0]), [5.0], [17.0])
    (2.0, 1.4705882352941178)
    """
    totals = np.bincount(strata, cells)
    sizes = totals if squares is None else effective_sample_size(totals, np.bincount(strata, squares))
    return float(sizes[totals > 0].min()) if totals.any() else 0.0


def student_quantile(level: float, cases: ArrayLike) -> Array:
    """Half width of a two-sided interval in standard errors: quantile of Student's t, `cases` − 1 degrees of freedom.

    >>> round(float(student_quantile(0.95, 10)), 3)
    2.262
    """
    return np.asarray(stdtrit(np.maximum(np.asarray(cases, dtype=np.float64) - 1, 1), (1 + level) / 2))


def tail_probabilities(level: float) -> Array:
    """Tail probabilities of a two-sided interval of that level, as arguments for quantiles."""
    return np.array([(1 - level) / 2, (1 + level) / 2])


def _logits(share: Array, margin: Array) -> Array:
    return np.asarray(logit(np.clip(share, margin, 1 - margin)))

"""Limits of intervals from numbers alone: a value, its replicates, counts; which method covers is shown in the docs.

Everything here takes arrays: replicates stand on the last axis, and axes before it are intervals found at once.
NaN among replicates is left out. Limits come as a pair (low, high).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from scorespace.resampling.share import Limits, normal_quantile, pair
from scorespace.resampling.share import wilson as wilson
from scorespace.special import expit, logit, stdtrit
from scorespace.tables import Array

FEW_ERRORS: Final = 10.0
"""DeLong's interval of an AUC is good from this many cases of the rarer class times min(A, 1 − A)."""
_UNSURE: Final = 0.4  # share of a bias that smooth rates leave open: seen in simulations, docs/coverage.md
_ENOUGH: Final = 10.0  # cases below which Newcombe's own variance, and not DeLong's, has to cover
_SKEWED: Final = 1.5  # skewness from which on a quantile of the draws, and no multiple of their spread, is their end
_UNIT_NOISE: Final = 4.0  # variance of log(Q/W) times effective cases, of weights as skewed as lognormal ones
_STEPS: Final = 60  # halvings until nothing is left between two floats of [0, 1]


def percentile(values: ArrayLike, level: float = 0.95) -> Limits:
    """The quantiles of the replicates at (1 ∓ level) / 2.

    >>> percentile([1, 2, 3, 4, 5], 0.5)
    (2.0, 4.0)
    """
    return pair(*np.nanquantile(np.asarray(values, dtype=np.float64), tails(level), axis=-1))


def shifted(value: ArrayLike, values: ArrayLike, level: float = 0.95) -> Limits:
    """The quantiles less twice the bias of the replicates: they stand as far above the value as it above the truth.

    >>> shifted(3, [2, 3, 4, 5, 6], 0.5)
    (1.0, 3.0)
    """
    low, high = percentile(values, level)
    bias = np.nanmean(np.asarray(values, dtype=np.float64), axis=-1) - value
    return pair(low - 2 * bias, high - 2 * bias)


def on_logit(
    value: ArrayLike, values: ArrayLike, cases: ArrayLike, level: float = 0.95, *, borne: ArrayLike | None = None
) -> Limits:
    """A share v with the spread of its replicates on the logit scale: expit(logit v ± t · sd(logit v*)).

    t has `cases` − 1 degrees of freedom, the cases of the rarer class, so few cases give a wider interval; `borne` − 1
    where only so many bear the spread. Logits are kept finite at half a case from 0 and 1; without any spread Wilson's
    interval for `cases` trials stands in.

    >>> low, high = on_logit(0.8, [0.7, 0.75, 0.8, 0.85, 0.9], 50)
    >>> round(low, 3), round(high, 3)
    (0.606, 0.912)
    """
    share, drawn, count = (np.asarray(v, dtype=np.float64) for v in (value, values, cases))
    nearest = (0.5 / (count + 1)) / 10
    spread = np.nanstd(_logits(drawn, nearest[..., None]), axis=-1)
    half = student(level, count if borne is None else borne) * spread
    middle = _logits(share, nearest)
    low, high = expit(middle - half), expit(middle + half)
    stands = wilson(share * count, count, level)
    flat = spread <= 1e-12
    low, high = np.where(flat, stands[0], low), np.where(flat, stands[1], high)
    low, high = np.minimum(low, share), np.maximum(high, share)  # finite logits must not leave out an extreme value
    return pair(np.where(share <= 0, 0.0, low), np.where(share >= 1, 1.0, high))


def on_log(value: ArrayLike, values: ArrayLike, level: float = 0.95) -> Limits:
    """A mean loss with the spread of its replicates on the log scale: v · exp(± z · sd(log v*)).

    Losses are skewed, a few cases bear most of them; on this scale the upper limit lies further away than the lower.

    >>> low, high = on_log(0.2, [0.15, 0.18, 0.2, 0.22, 0.26])
    >>> round(low, 3), round(high, 3)
    (0.139, 0.288)
    """
    loss, drawn = np.asarray(value, dtype=np.float64), np.asarray(values, dtype=np.float64)
    spread = np.nanstd(np.log(np.where(drawn > 0, drawn, np.nan)), axis=-1)
    factor = np.exp(normal_quantile(level) * spread)
    return pair(loss / factor, loss * factor)


def corrected(
    value: ArrayLike,
    world: ArrayLike,
    values: ArrayLike,
    cases: ArrayLike,
    level: float = 0.95,
    *,
    spread: ArrayLike = 0.0,
    within: tuple[float, float] = (0.0, 1.0),
) -> Limits:
    """Limits for a value v that chance makes too good: its bias is seen in a world where the truth is known.

    `world` is the measure in that world (smoothed rates), `values` are its values on samples from it. Bias b and
    error e shrink towards the ends of the range, here 0 and 1, by g(θ) = √(θ (1 − θ)), as those of a share do. So the
    limits are the θ with v − θ = c g(θ), c = b/g ± t e/g, which is Wilson's quadratic; t has `cases` − 1 degrees of
    freedom. e is that of `values` or of a bootstrap (`spread`), whichever is larger, and of the bias, which is known
    to two fifths of itself. Towards chance, where the bias comes from, it does not shrink: there the limit is at least
    v − b − t e. An end of the range that is within such reach belongs to the interval.

    >>> low, high = corrected(0.5, 0.4, [0.4, 0.45, 0.5, 0.55], 40)
    >>> round(low, 3), round(high, 3)
    (0.297, 0.55)
    """
    bottom, top = within
    scale = top - bottom
    seen, known = ((np.asarray(v, dtype=np.float64) - bottom) / scale for v in (value, world))
    drawn = (np.asarray(values, dtype=np.float64) - bottom) / scale
    bias, own = np.nanmean(drawn, axis=-1) - known, np.nanstd(drawn, axis=-1)
    again = np.asarray(spread, dtype=np.float64) / scale
    half_a_case = 0.5 / (np.asarray(cases, dtype=np.float64) + 1)
    g_known, g_seen = (
        np.sqrt(at * (1 - at)) for at in (np.clip(v, half_a_case, 1 - half_a_case) for v in (known, seen))
    )
    t, unsure = student(level, cases), _UNSURE * bias
    reach = t * np.hypot(np.maximum(own / g_known, again / g_seen), unsure / g_known)
    low, high = (_quadratic(seen, bias / g_known + side) for side in (reach, -reach))
    plain = t * np.hypot(np.maximum(own, again), unsure)
    least, most = seen - bias - plain, seen - bias + plain
    low = np.where((bias > 0) | (least <= 0), np.minimum(low, least), low)
    high = np.where((bias < 0) | (most >= 1), np.maximum(high, most), high)
    return pair(bottom + scale * np.clip(low, 0.0, 1.0), bottom + scale * np.clip(high, 0.0, 1.0))


def as_by_chance(value: ArrayLike, world: ArrayLike, values: ArrayLike, cases: ArrayLike, level: float = 0.95) -> Array:
    """Whether samples from a world are as far from its own value as this one: at most t errors beyond their mean.

    >>> bool(as_by_chance(0.2, 0.0, [0.08, 0.1, 0.12], 50)), bool(as_by_chance(0.12, 0.0, [0.08, 0.1, 0.12], 50))
    (False, True)
    """
    drawn = np.asarray(values, dtype=np.float64)
    mean, side = np.nanmean(drawn, axis=-1), np.sign(np.nanmean(drawn, axis=-1) - np.asarray(world))
    return np.asarray(side * (np.asarray(value) - mean) <= student(level, cases) * np.nanstd(drawn, axis=-1))


def _quadratic(value: Array, c: Array) -> Array:
    """The θ with v − θ = c √(θ (1 − θ)): Wilson's limit of a share, below v for c > 0 and above it for c < 0."""
    inner = np.maximum(value * (1 - value), 0.0)
    return np.asarray((value + c * c / 2 - c * np.sqrt(inner + c * c / 4)) / (1 + c * c))


def inverted(
    value: ArrayLike,
    worlds: ArrayLike,
    values: ArrayLike,
    cases: ArrayLike,
    level: float = 0.95,
    *,
    spread: ArrayLike = 0.0,
    plain: int = 2,
) -> Limits:
    """The worlds that the value agrees with, for a measure that is 0 in the first world and grows along them.

    `worlds` (…, w) holds the measure in each world and `values` (…, w, replicates) its values on samples from it.
    A world agrees when the value is within t standard errors of the mean of its samples, t with `cases` − 1 degrees
    of freedom; limits lie between worlds by straight lines. A bootstrap's `spread` above that in world number `plain`
    (the one nearest to the data) is added to the errors, in proportion to the measure up to the value.

    >>> worlds, noise = np.array([0.0, 1.0, 2.0, 3.0]), np.linspace(-0.5, 0.5, 9)
    >>> low, high = inverted(1.5, worlds, worlds[:, None] + noise, 1000)
    >>> round(low, 2), round(high, 2)
    (0.87, 2.13)
    """
    seen = np.asarray(value, dtype=np.float64)[..., None]
    known, drawn = np.asarray(worlds, dtype=np.float64), np.asarray(values, dtype=np.float64)
    mean, error = np.nanmean(drawn, axis=-1), np.nanstd(drawn, axis=-1)
    more = np.maximum(0.0, np.asarray(spread, dtype=np.float64)[..., None] ** 2 - error[..., plain, None] ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(seen > 0, np.minimum(1.0, known / seen), 1.0)
    reach = np.asarray(student(level, cases))[..., None] * np.sqrt(error**2 + more * part**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = np.nanmean((drawn - mean[..., None]) ** 3, axis=-1) / error**3
    furthest = np.nanquantile(drawn, tails(level)[1], axis=-1)
    low = _crossing(seen[..., 0], np.where(skew > _SKEWED, np.maximum(mean + reach, furthest), mean + reach), known)
    high = _crossing(seen[..., 0], mean - reach, known)
    return pair(np.maximum(low, 0.0), np.maximum(high, 0.0))


def _crossing(value: Array, curve: Array, known: Array) -> Array:
    """What is known where the curve first reaches the value; 0 when it starts above, and beyond its end by its gap."""
    rising = np.maximum.accumulate(curve, axis=-1)
    place = (rising < value[..., None]).sum(axis=-1)  # of the first world that reaches the value
    last = rising.shape[-1] - 1
    after, before = np.clip(place, 1, last)[..., None], np.clip(place - 1, 0, last - 1)[..., None]
    y1, y0 = (np.take_along_axis(rising, at, -1)[..., 0] for at in (after, before))
    x1, x0 = (np.take_along_axis(known, at, -1)[..., 0] for at in (after, before))
    with np.errstate(divide="ignore", invalid="ignore"):
        between = np.where(y1 > y0, x0 + (x1 - x0) * (value - y0) / (y1 - y0), x1)
    beyond = value - (rising[..., -1] - known[..., -1])
    return np.where(place == 0, 0.0, np.where(place > last, beyond, between))


def posterior(
    counts: ArrayLike, rng: np.random.Generator, draws: int, *, prior: float = 0.5, unit: ArrayLike = 1.0
) -> Array:
    """Shares of the cells (draws, …, cells) given their counts: Dirichlet(counts + prior), Jeffreys' with 1/2.

    Percentiles of a measure on them cover where the bootstrap cannot, since a cell without cases is still drawn. Of
    weighted cases, `counts` are the weights of the cells and `unit` is what one effective case of each weighs.

    >>> posterior([9, 0, 1], np.random.default_rng(0), 1000).mean(axis=0).round(2)
    array([0.83, 0.04, 0.13])
    """
    each = np.asarray(unit, dtype=np.float64)
    shape = np.asarray(counts, dtype=np.float64) / each + prior
    drawn = rng.standard_gamma(shape, (draws, *shape.shape)) * each
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


def cell_prior(classes: int) -> float:
    """What to add to each cell of a matrix of so many classes: one error in all, 1 / (K (K − 1)); ½ for two classes.

    A half in each of many cells would drown the errors of a good model.

    >>> cell_prior(2), cell_prior(5)
    (0.5, 0.05)
    """
    return 1 / (classes * max(1, classes - 1))


def newcombe_variance(area: ArrayLike, n_pos: ArrayLike, n_neg: ArrayLike) -> Array:
    """Variance of an AUC θ in Newcombe's method 5: θ(1 − θ)[1 + (N − 1)((1 − θ)/(2 − θ) + θ/(1 + θ))] / (m n).

    N = (m + n)/2, so that both classes count alike.

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
    borne: ArrayLike = np.inf,
) -> Limits:
    """Newcombe's score interval of an AUC: the θ with |A − θ| = z √(f V(θ)), within [0, 1] and wide also at A = 1.

    f = 1 is his method 5, which rests on a model of the scores. With `variance`, DeLong's, f is its ratio to V(A)
    where that is above 1, as for two humps or spreads that differ between the classes; few cases know it badly, so it
    counts (t / z)² times, t with one degree of freedom less than the rarer class has cases, or nine; with `borne` − 1
    where fewer cases bear it.

    >>> low, high = newcombe_auc(1.0, 10, 10)
    >>> round(low, 3), round(high, 3)
    (0.8, 1.0)
    """
    theta = np.asarray(area, dtype=np.float64)
    factor = np.ones_like(theta)
    z = normal_quantile(level)
    if variance is not None:
        usual = newcombe_variance(theta, n_pos, n_neg)
        rarer = np.maximum(np.minimum(n_pos, n_neg), _ENOUGH)
        seen = np.asarray(variance) * (student(level, np.minimum(rarer, borne)) / z) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.where(usual > 0, np.maximum(1.0, seen / usual), 1.0)
            factor = np.where(np.isfinite(factor), factor, 1.0)

    def limit(outside: Array) -> Array:
        inside = theta.copy()
        for _ in range(_STEPS):
            middle = (inside + outside) / 2
            apart = np.abs(theta - middle) > z * np.sqrt(factor * newcombe_variance(middle, n_pos, n_neg))
            inside, outside = np.where(apart, inside, middle), np.where(apart, middle, outside)
        return np.asarray(inside)

    low, high = limit(np.zeros_like(theta)), limit(np.ones_like(theta))
    return pair(np.where(theta <= 0, 0.0, low), np.where(theta >= 1, 1.0, high))


def delong_suits(area: ArrayLike, n_pos: ArrayLike, n_neg: ArrayLike) -> Array:
    """Whether DeLong's interval covers: ten cases of the rarer class times min(A, 1 − A) or more.

    >>> bool(delong_suits(0.8, 50, 500)), bool(delong_suits(0.96, 50, 500))
    (True, False)
    """
    theta = np.asarray(area, dtype=np.float64)
    return np.asarray(np.minimum(n_pos, n_neg) * np.minimum(theta, 1 - theta) >= FEW_ERRORS - 1e-9)


def kish(weight_sum: ArrayLike, square_sum: ArrayLike) -> Array:
    """How many equal cases tell as much as weighted ones: (Σw)² / Σw².

    >>> float(kish(4.0, 4.0)), float(kish(5.0, 17.0))  # four of weight 1; one of 4 and one of 1
    (4.0, 1.4705882352941178)
    """
    total, squares = np.asarray(weight_sum, dtype=np.float64), np.asarray(square_sum, dtype=np.float64)
    return np.asarray(np.divide(total**2, squares, out=np.zeros(np.broadcast(total, squares).shape), where=squares > 0))


def cell_units(cells: ArrayLike, squares: ArrayLike) -> Array:
    """What one effective case weighs in each cell (…, classes, decisions) of a table of weighted outcomes.

    A cell of weight W and squared weight Q counts as W²/Q cases of weight Q/W, as in the gamma intervals of Fay and
    Feuer (1997). Few cases know Q/W badly: log(Q/W) is the sum of an effect of the class, one of the decision and their
    interaction, each shrunk by what chance adds to it (James and Stein), and a cell has at least the shrunk value; two
    cells of exactly the same Q/W have weights by design, to which chance adds nothing. A cell without cases has the sum
    of both effects: in a case-control sample it weighs like its class, in a sample verified by score like its decision.

    >>> cell_units([[60.0, 0.0], [20.0, 700.0]], [[60.0, 0.0], [20.0, 7000.0]]).round(1).tolist()  # low scores: 1 in 10
    [[1.0, 10.0], [1.0, 10.0]]
    """
    weight, squared = np.asarray(cells, dtype=np.float64), np.asarray(squares, dtype=np.float64)
    filled = (weight > 0) & (squared > 0)
    own = np.divide(squared, weight, out=np.ones_like(weight), where=filled)
    total, both = (one.sum(axis=(-2, -1), keepdims=True) for one in (weight, squared))
    pooled = np.divide(both, total, out=np.ones_like(total), where=total > 0)
    apart = np.where(filled, np.log(own / pooled), 0.0)
    random = filled & ~_repeated(np.where(filled, own, np.nan))
    noise = np.divide(_UNIT_NOISE, kish(weight, squared), out=np.zeros_like(weight), where=random)
    chance = noise.sum(axis=(-2, -1), keepdims=True) / np.maximum(filled.sum(axis=(-2, -1), keepdims=True), 1)
    grid = np.where(filled, apart, _additive(apart, filled))
    middle = grid.mean(axis=(-2, -1), keepdims=True)
    of_class = grid.mean(axis=-1, keepdims=True) - middle
    of_decision = grid.mean(axis=-2, keepdims=True) - middle
    between = grid - middle - of_class - of_decision
    kinds, decisions = weight.shape[-2:]
    shrunk = middle + sum(
        _shrunk(effect, chance * free)
        for effect, free in (
            (of_class, (kinds - 1) / decisions),
            (of_decision, (decisions - 1) / kinds),
            (between, (kinds - 1) * (decisions - 1)),
        )
    )
    common = pooled * np.exp(shrunk)
    used = np.where(filled, weight * common, 0.0).sum(axis=(-2, -1), keepdims=True)
    common = common * np.divide(both, used, out=np.ones_like(used), where=used > 0)
    return np.asarray(np.where(filled, np.maximum(own, common), common))


def unit_weights(strata: Array, cells: Array, squares: Array) -> Array:
    """The same of flat cells, of which each class has as many: one for each decision.

    >>> unit_weights(np.array([1, 1, 0, 0]), np.array([6.0, 4, 20, 60]), np.array([6.0, 4, 400, 1200])).round(1)
    array([ 1.,  1., 20., 20.])
    """
    order = np.argsort(strata, kind="stable")
    shape = int(np.unique(strata).size), -1
    units = np.empty(cells.size)
    units[order] = cell_units(cells[order].reshape(shape), squares[order].reshape(shape)).ravel()
    return units


def _repeated(values: Array) -> Array:
    """Whether another of the values (…, rows, columns) is the same, but for rounding; NaN is like none."""
    flat = values.reshape(*values.shape[:-2], -1)
    order = np.argsort(flat, axis=-1)
    ordered = np.take_along_axis(flat, order, -1)
    same = np.diff(ordered, axis=-1) <= 1e-9 * ordered[..., 1:]
    edge = np.zeros((*same.shape[:-1], 1), dtype=bool)
    found = np.zeros(flat.shape, dtype=bool)
    np.put_along_axis(
        found, order, np.concatenate([edge, same], axis=-1) | np.concatenate([same, edge], axis=-1), axis=-1
    )
    return found.reshape(values.shape)


def _additive(values: Array, filled: Array) -> Array:
    """The sum of an effect of the row and one of the column, fitted to the filled cells; rows explain what both can."""
    rows, columns = values.shape[-2:]
    row, column = np.divmod(np.arange(rows * columns), columns)
    design = np.concatenate([np.ones((row.size, 1)), np.eye(rows)[row], np.eye(columns)[column]], axis=1)
    used = filled.reshape(*filled.shape[:-2], -1).astype(np.float64)
    held = values.reshape(*values.shape[:-2], -1) * used
    ridge = np.diag(np.repeat([1e-9, 1e-6, 1e-3], [1, rows, columns]))
    left = np.einsum("ik,...i,il->...kl", design, used, design) + ridge
    effects = np.linalg.solve(left, (held @ design)[..., None])[..., 0]
    return np.asarray((effects @ design.T).reshape(values.shape))


def _shrunk(effect: Array, chance: Array) -> Array:
    """Effects made smaller by the share of their squares that chance explains."""
    size = (effect**2).sum(axis=(-2, -1), keepdims=True)
    return np.asarray(effect * np.maximum(0.0, 1 - np.divide(chance, size, out=np.ones_like(size), where=size > 0)))


def rarest(strata: Array, cells: ArrayLike | None, squares: ArrayLike | None = None) -> float:
    """How many cases the rarest class has, of those that occur, or equal ones that are worth its weights; else 0.

    >>> rarest(np.array([0, 0, 2]), [3.0, 1.0, 2.0]), rarest(np.array([0]), [5.0], [17.0])
    (2.0, 1.4705882352941178)
    """
    totals = np.bincount(strata, cells)
    sizes = totals if squares is None else kish(totals, np.bincount(strata, squares))
    return float(sizes[totals > 0].min()) if totals.any() else 0.0


def student(level: float, cases: ArrayLike) -> Array:
    """Half width of a two-sided interval in standard errors, Student's t with `cases` − 1 degrees of freedom.

    >>> round(float(student(0.95, 10)), 3)
    2.262
    """
    return np.asarray(stdtrit(np.maximum(np.asarray(cases, dtype=np.float64) - 1, 1), (1 + level) / 2))


def tails(level: float) -> Array:
    """What is left on either side of an interval of that level, as places of quantiles."""
    return np.array([(1 - level) / 2, (1 + level) / 2])


def _logits(share: Array, nearest: Array) -> Array:
    return np.asarray(logit(np.clip(share, nearest, 1 - nearest)))

"""Tests of calibration and confidence bands of the calibration curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

import numpy as np
from scipy.special import chdtrc, ndtr

from scorespace.curves.brier import probabilities
from scorespace.curves.calibration import BINS, CalibrationCurve, calibration, curve_of_groups
from scorespace.curves.hull import hull_edges
from scorespace.errors import ScoreSpaceError
from scorespace.inference.bands import Band, band, pointwise_limits
from scorespace.inference.bootstrap import REPLICATES, evaluate_replicates
from scorespace.inference.calibration_null import as_counts, label_resampler, merge_scores
from scorespace.inference.estimate import check_level
from scorespace.inference.proportion import clopper_pearson, wilson
from scorespace.inference.subsampling import CONDENSED_ROWS, MAX_JOINT_CASES
from scorespace.measures.logistic_recalibration import dot
from scorespace.results import SCHEMA, AsTable, Note, Progress, Row, decimals, to_json_types
from scorespace.tables import Array, ScoreTable
from scorespace.tables.chunks import map_chunks

POINTS: Final = 101
BinInterval = Literal["wilson", "clopper-pearson"]

_NO_COUNTS: Final = "undefined: the weights do not give the number of cases"
GROUPED: Final = "undefined: cases are grouped, so labels are not independent"


@dataclass(frozen=True)
class CalibrationTest(AsTable):
    """Test of perfect calibration; NaN with a reason where it is undefined."""

    test: str
    statistic: float
    df: float
    p: float
    reason: str | None = None

    @property
    def notes(self) -> tuple[Note, ...]:
        return ()

    def rows(self) -> list[Row]:
        return [to_json_types(vars(self))]

    def to_dict(self) -> Row:
        return {"schema": SCHEMA, **self.rows()[0]}

    def __repr__(self) -> str:
        if math.isnan(self.p):
            return f"{self.test}: {self.reason}"
        df = "" if math.isnan(self.df) else f", df {self.df:g}"
        return f"{self.test}: statistic {decimals(self.statistic, 3)}{df}, p {self.p:.3g}"


def spiegelhalter(table: ScoreTable) -> CalibrationTest:
    """Spiegelhalter's z test (1986): z = Σ (y − p)(1 − 2p) / √Σ (1 − 2p)² p (1 − p).

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.

    Returns
    -------
    CalibrationTest
        Statistic and p-value.

    References
    ----------
    Spiegelhalter, D. J. (1986). Probabilistic prediction in patient management and clinical trials. Statistics in
    Medicine, 5(5), 421-433.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> spiegelhalter(score_table([1, 0, 1, 0], [0.9, 0.2, 0.8, 0.3]))
    spiegelhalter: statistic −0.968, p 0.333
    """
    p, counts = probabilities(table), as_counts(table)
    if counts is None:
        return undefined_test("spiegelhalter", _NO_COUNTS)
    columns = counts.columns

    def sums(rows: slice) -> tuple[float, float]:
        at, (pos, neg) = p[rows], (column[rows].astype(np.float64) for column in columns)
        cases, variance_terms = pos + neg, at * (1 - at)
        pos -= cases * at
        # (1 − 2p)² is 1 − 4p(1 − p)
        return float(dot(pos, 1 - 2 * at)), float(dot(cases, variance_terms * (1 - 4 * variance_terms)))

    deviation, variance = map(sum, zip(*map_chunks(sums, p.size), strict=True))
    if variance == 0:
        return undefined_test("spiegelhalter", "undefined: all scores are 0, one half or 1")
    z = deviation / math.sqrt(variance)
    return CalibrationTest("spiegelhalter", z, math.nan, float(2 * ndtr(-abs(z))))


def hosmer_lemeshow(table: ScoreTable, groups: int = 10, *, fitted: bool = True) -> CalibrationTest:
    """Hosmer and Lemeshow's test (1980): χ² = Σ (positives − Σp)² / (Σp · (1 − mean p)) over quantile groups of scores.

    Quantiles are R's type 7; ties may leave fewer groups.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.
    groups : int
        Number of quantile groups.
    fitted : bool
        Whether the scores were fitted to these cases, which costs two degrees of freedom; on new cases there are as
        many as groups.

    Returns
    -------
    CalibrationTest
        Statistic, degrees of freedom and p-value.

    References
    ----------
    Hosmer, D. W., & Lemeshow, S. (1980). Goodness of fit tests for the multiple logistic regression model.
    Communications in Statistics - Theory and Methods, 9(10), 1043-1069.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> hosmer_lemeshow(score_table([1, 0, 1, 0, 1, 0], [0.9, 0.2, 0.8, 0.3, 0.6, 0.6]), groups=3)
    hosmer-lemeshow: statistic 1.103, df 1, p 0.294
    """
    probabilities(table)
    if groups < 2:
        raise ScoreSpaceError(f"groups={groups} is too few groups.", hint="2 or more, usually 10")
    counts = as_counts(table)
    if counts is None:
        return undefined_test("hosmer-lemeshow", _NO_COUNTS)
    return hosmer_lemeshow_test(curve_of_groups(counts, quantile_starts(counts, groups), "count"), fitted=fitted)


def hosmer_lemeshow_test(curve: CalibrationCurve, *, fitted: bool = True) -> CalibrationTest:
    """Hosmer-Lemeshow test on given groups."""
    expected = curve.x * curve.cases
    variance = expected * (1 - curve.x)
    squared_difference = np.square(curve.hits - expected)
    with np.errstate(all="ignore"):
        parts = np.where(
            squared_difference > 0, squared_difference / variance, 0.0
        )  # a group without events and with p = 0 fits perfectly
    df = curve.x.size - (2 if fitted else 0)
    if df < 1:
        return undefined_test("hosmer-lemeshow", f"undefined: ties leave only {curve.x.size} groups")
    statistic = float(parts.sum())
    return CalibrationTest("hosmer-lemeshow", statistic, float(df), float(chdtrc(df, statistic)))


def undefined_test(test: str, reason: str) -> CalibrationTest:
    """Return an undefined test with its reason."""
    return CalibrationTest(test, math.nan, math.nan, math.nan, reason)


def quantile_starts(table: ScoreTable, groups: int) -> Array:
    """Return the first rows of quantile groups (low, high], without empty groups."""
    last = int(table.total) - 1
    position = [last * k for k in range(1, groups)]  # integers, since 0.1 · 9 has a rounding error
    # Without ties every row is a case.
    running = np.cumsum(table.counts.sum(axis=-2, dtype=np.float64)) if last >= table.score.size else None

    def score_at(index: list[int]) -> Array:
        descending = last - np.array(index)
        return table.score[descending if running is None else np.searchsorted(running, descending, side="right")]

    low, high = score_at([p // groups for p in position]), score_at([-(-p // groups) for p in position])
    edges = low + np.array([p % groups / groups for p in position]) * (high - low)
    above = table.score.size - np.searchsorted(table.score[::-1], edges, side="right")
    starts = np.unique(np.append(0, above))
    return starts[starts < table.score.size]


@band(calibration)
def calibration_band(
    table: ScoreTable,
    *,
    by: str = "isotonic",
    bins: int = BINS,
    level: float = 0.95,
    simultaneous: bool = False,
    interval: BinInterval = "wilson",
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Band:
    """Consistency band of the calibration curve under perfect calibration; for bins, intervals of their rates.

    Isotonic: labels are drawn from the scores and the curve is refitted (a consistency band around the diagonal); a
    curve outside it indicates miscalibration.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.
    by : {"isotonic", "width", "count"}
        Groups by isotonic regression, or bins of equal width or count.
    bins : int
        Number of bins, unless groups are isotonic.
    level : float
        Confidence level of the band.
    simultaneous : bool
        Whether the band contains the whole curve: the same number of extreme replicates is excluded at every score.
    interval : {"wilson", "clopper-pearson"}
        Interval of the rates of bins.
    replicates : int
        Number of labellings drawn from the scores.
    seed : int
        Seed of all random draws; equal seeds give equal results.
    progress : callable, optional
        Called with the share of the work that is done, from 0 to 1.

    Returns
    -------
    Band
        Limits at scores or bins.

    References
    ----------
    Dimitriadis, T., Gneiting, T., & Jordan, A. I. (2021). Stable reliability diagrams for probabilistic classifiers.
    Proceedings of the National Academy of Sciences, 118(8), e2016191118.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1])
    >>> calibration_band(table, by="width", bins=2).high.round(4)
    array([0.6576, 1.    ])
    """
    check_level(level)
    counts = as_counts(table)
    curve = calibration(counts or table, by=by, bins=bins)
    if counts is None:
        undefined = np.full(curve.x.shape, np.nan)
        return Band("calibration", curve.x, curve.y, undefined, undefined, level, None, simultaneous, _NO_COUNTS)
    if by != "isotonic":
        return _bin_intervals(curve, level, simultaneous, interval)
    light = merge_scores(counts, CONDENSED_ROWS) if counts.score.size > MAX_JOINT_CASES else counts
    grid = np.unique(np.linspace(light.score[-1], light.score[0], POINTS))
    values = evaluate_replicates(
        label_resampler(light),
        partial(_isotonic_at, grid=grid),
        light.counts.size,
        replicates=replicates,
        seed=seed,
        progress=progress,
    )
    low, high = _envelope(values, level) if simultaneous else pointwise_limits(values, level)
    line = curve.line()
    y = np.interp(grid, line.x, line.y)
    method = "labels drawn from the scores" + ("" if light is counts else ", condensed")
    return Band("calibration", grid, y, low, high, level, method, simultaneous)


def _isotonic_at(drawn: ScoreTable, grid: Array) -> Array:
    """Evaluate the isotonic fit of every replicate on a grid of scores, interpolated linearly."""
    pos, neg = drawn.columns
    edges = hull_edges(pos, neg)
    size, owner = drawn.score.size, np.arange(len(pos))[:, None]
    rate = edges.pos / (edges.pos + edges.neg)
    ascending = drawn.score[::-1]
    after = np.searchsorted(ascending, grid, side="left").clip(0, size - 1)
    before = np.where(ascending[after] > grid, after - 1, after).clip(0, size - 1)
    width = ascending[after] - ascending[before]
    share = np.divide(grid - ascending[before], width, out=np.zeros_like(width), where=width > 0)
    ends = edges.owner * size + edges.end
    low, high = (rate[np.searchsorted(ends, owner * size + (size - 1 - place))] for place in (before, after))
    return np.asarray(low + share * (high - low))


def _envelope(values: Array, level: float) -> tuple[Array, Array]:
    """Simultaneous limits that contain the share `level` of whole replicates.

    The rank of a replicate is its most extreme rank over the grid; the most extreme replicates are excluded, and the
    limits are the values of the first remaining rank at every point.
    """
    ordered, count = np.sort(values, axis=0), len(values)
    min_inside = count - int((count - 1) * (1 - level))  # minimum number of replicates inside
    rank, upper = 1, (count + 1) // 2 + 1
    while upper - rank > 1:  # bisection: fewer replicates are between higher ranks
        middle = (rank + upper) // 2
        is_inside = (values >= ordered[middle - 1]) & (values <= ordered[count - middle])
        rank, upper = (middle, upper) if is_inside.all(axis=1).sum() >= min_inside else (rank, middle)
    return ordered[rank - 1], ordered[count - rank]


def _bin_intervals(curve: CalibrationCurve, level: float, simultaneous: bool, interval: BinInterval) -> Band:
    """Confidence interval of the rate in each bin, with Bonferroni correction if simultaneous."""
    bounds = {"wilson": wilson, "clopper-pearson": clopper_pearson}
    if interval not in bounds:
        raise ScoreSpaceError(f"interval={interval!r} is unknown.", hint=" or ".join(bounds))
    bin_level = 1 - (1 - level) / curve.x.size if simultaneous else level
    pairs = [bounds[interval](float(h), float(n), bin_level) for h, n in zip(curve.hits, curve.cases, strict=True)]
    low, high = np.array(pairs).T
    method = f"{interval}, Bonferroni" if simultaneous else interval
    return Band("calibration", curve.x, curve.y, low, high, level, method, simultaneous)

"""Whether scores can be trusted as probabilities: bands of the calibration curve and tests of calibration."""

from __future__ import annotations

import math
from functools import partial
from typing import Final, Literal

import numpy as np

from scorespace.curves.brier import probabilities
from scorespace.curves.calibration import BINS, CalibrationCurve, calibration, curve_of_groups
from scorespace.curves.hull import hull_edges
from scorespace.errors import ScoreSpaceError
from scorespace.frozen import dataclass
from scorespace.measures.cox import dot
from scorespace.resampling.band import Band, at_each_point, band
from scorespace.resampling.chance import counts_of, label_resampler, merged
from scorespace.resampling.draw import REPLICATES, replicated
from scorespace.resampling.estimate import check_level
from scorespace.resampling.lighter import MOST_ROWS, ROWS
from scorespace.resampling.share import clopper_pearson, wilson
from scorespace.results import SCHEMA, Note, Progress, Row, decimals, plain
from scorespace.special import chdtrc, ndtr
from scorespace.tables import Array, ScoreTable
from scorespace.tables.pieces import over_pieces

POINTS: Final = 101
BinInterval = Literal["wilson", "clopper-pearson"]

_UNCOUNTED: Final = "undefined: the weights do not tell how many cases there are"
IN_GROUPS: Final = "undefined: cases come in groups, and labels of one group go together"


@dataclass(frozen=True)
class CalibrationTest:
    """A test of the claim that scores are probabilities; NaN with a reason where it cannot be made."""

    test: str
    statistic: float
    df: float
    p: float
    reason: str | None = None

    @property
    def notes(self) -> tuple[Note, ...]:
        return ()

    def rows(self) -> list[Row]:
        return [plain(vars(self))]

    def to_dict(self) -> Row:
        return {"schema": SCHEMA, **self.rows()[0]}

    def __repr__(self) -> str:
        if math.isnan(self.p):
            return f"{self.test}: {self.reason}"
        df = "" if math.isnan(self.df) else f", df {self.df:g}"
        return f"{self.test}: statistic {decimals(self.statistic, 3)}{df}, p {self.p:.3g}"


def spiegelhalter(table: ScoreTable) -> CalibrationTest:
    """Spiegelhalter's z = Σ (y − p)(1 − 2p) / √Σ (1 − 2p)² p (1 − p): is the Brier score what the scores promise?

    >>> from scorespace.tables import score_table
    >>> spiegelhalter(score_table([1, 0, 1, 0], [0.9, 0.2, 0.8, 0.3]))
    spiegelhalter: statistic −0.968, p 0.333
    """
    p, counts = probabilities(table), counts_of(table)
    if counts is None:
        return untested("spiegelhalter", _UNCOUNTED)
    columns = counts.columns

    def sums(rows: slice) -> tuple[float, float]:
        at, (pos, neg) = p[rows], (column[rows].astype(np.float64) for column in columns)
        cases, doubt = pos + neg, at * (1 - at)
        pos -= cases * at
        # (1 − 2p)² is 1 − 4p(1 − p)
        return float(dot(pos, 1 - 2 * at)), float(dot(cases, doubt * (1 - 4 * doubt)))

    deviation, variance = map(sum, zip(*over_pieces(sums, p.size), strict=True))
    if variance == 0:
        return untested("spiegelhalter", "undefined: all scores are 0, one half or 1")
    z = deviation / math.sqrt(variance)
    return CalibrationTest("spiegelhalter", z, math.nan, float(2 * ndtr(-abs(z))))


def hosmer_lemeshow(table: ScoreTable, groups: int = 10, *, fitted: bool = True) -> CalibrationTest:
    """Hosmer and Lemeshow's χ² = Σ (hits − Σp)² / (Σp · (1 − mean p)) over groups between quantiles of the scores.

    Quantiles are those of R (type 7); ties may leave fewer groups. `fitted`: the scores were fitted to
    these cases, which costs two degrees of freedom, as is usual; on new cases there are as many as groups.

    >>> from scorespace.tables import score_table
    >>> hosmer_lemeshow(score_table([1, 0, 1, 0, 1, 0], [0.9, 0.2, 0.8, 0.3, 0.6, 0.6]), groups=3)
    hosmer-lemeshow: statistic 1.103, df 1, p 0.294
    """
    probabilities(table)
    if groups < 2:
        raise ScoreSpaceError(f"groups={groups} is no number of groups.", hint="2 or more, usually 10")
    counts = counts_of(table)
    if counts is None:
        return untested("hosmer-lemeshow", _UNCOUNTED)
    return chi_squared(curve_of_groups(counts, quantile_starts(counts, groups), "count"), fitted=fitted)


def chi_squared(found: CalibrationCurve, *, fitted: bool = True) -> CalibrationTest:
    """Hosmer and Lemeshow's test on groups already formed."""
    expected = found.x * found.cases
    spread = expected * (1 - found.x)
    missed = np.square(found.hits - expected)
    with np.errstate(all="ignore"):
        parts = np.where(missed > 0, missed / spread, 0.0)  # a group of zeros in which nothing happens is as promised
    df = found.x.size - (2 if fitted else 0)
    if df < 1:
        return untested("hosmer-lemeshow", f"undefined: ties leave {found.x.size} groups only")
    statistic = float(parts.sum())
    return CalibrationTest("hosmer-lemeshow", statistic, float(df), float(chdtrc(df, statistic)))


def untested(test: str, reason: str) -> CalibrationTest:
    """A test that cannot be made, with the reason."""
    return CalibrationTest(test, math.nan, math.nan, math.nan, reason)


def quantile_starts(table: ScoreTable, groups: int) -> Array:
    """The rows at which the groups between quantiles begin, (low, high] each, those without cases left out."""
    last = int(table.total) - 1
    position = [last * k for k in range(1, groups)]  # in whole numbers: 0.1 · 9 has a rounding error
    # Without ties the cases are the rows.
    running = np.cumsum(table.counts.sum(axis=-2, dtype=np.float64)) if last >= table.score.size else None

    def ascending(place: list[int]) -> Array:
        down = last - np.array(place)
        return table.score[down if running is None else np.searchsorted(running, down, side="right")]

    low, high = ascending([p // groups for p in position]), ascending([-(-p // groups) for p in position])
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
    """Where the calibration curve would lie if the scores were probabilities; for bins, intervals of their rates.

    Isotonic: labels are drawn from the scores themselves and the curve is fitted again (a consistency
    band, which surrounds the diagonal): a curve outside it is not calibrated there. `simultaneous`
    bands hold the whole curve: the same number of extreme replicates is left out at every score.

    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1])
    >>> calibration_band(table, by="width", bins=2).high.round(4)
    array([0.6576, 1.    ])
    """
    check_level(level)
    counts = counts_of(table)
    curve = calibration(counts or table, by=by, bins=bins)
    if counts is None:
        nothing = np.full(curve.x.shape, np.nan)
        return Band("calibration", curve.x, curve.y, nothing, nothing, level, None, simultaneous, _UNCOUNTED)
    if by != "isotonic":
        return _bin_intervals(curve, level, simultaneous, interval)
    light = merged(counts, ROWS) if counts.score.size > MOST_ROWS else counts
    grid = np.unique(np.linspace(light.score[-1], light.score[0], POINTS))
    values = replicated(
        label_resampler(light),
        partial(_isotonic_at, grid=grid),
        light.counts.size,
        replicates=replicates,
        seed=seed,
        progress=progress,
    )
    low, high = _envelope(values, level) if simultaneous else at_each_point(values, level)
    line = curve.line()
    y = np.interp(grid, line.x, line.y)
    method = "labels drawn from the scores" + ("" if light is counts else ", condensed")
    return Band("calibration", grid, y, low, high, level, method, simultaneous)


def _isotonic_at(drawn: ScoreTable, grid: Array) -> Array:
    """The isotonic fit of every replicate, straight between the scores, on a grid of scores."""
    pos, neg = drawn.columns
    edges = hull_edges(pos, neg)
    size, owner = drawn.score.size, np.arange(len(pos))[:, None]
    rate = edges.pos / (edges.pos + edges.neg)
    rising = drawn.score[::-1]
    after = np.searchsorted(rising, grid, side="left").clip(0, size - 1)
    before = np.where(rising[after] > grid, after - 1, after).clip(0, size - 1)
    width = rising[after] - rising[before]
    share = np.divide(grid - rising[before], width, out=np.zeros_like(width), where=width > 0)
    ends = edges.owner * size + edges.end
    low, high = (rate[np.searchsorted(ends, owner * size + (size - 1 - place))] for place in (before, after))
    return np.asarray(low + share * (high - low))


def _envelope(values: Array, level: float) -> tuple[Array, Array]:
    """Bounds that hold the share `level` of the replicates over their whole length.

    A replicate is as extreme as the rank it has where it is most extreme; the most extreme ones are
    left out, and the bounds are the values of the first rank kept at every point.
    """
    ordered, count = np.sort(values, axis=0), len(values)
    inside = count - int((count - 1) * (1 - level))  # so many stay at least
    kept, beyond = 1, (count + 1) // 2 + 1
    while beyond - kept > 1:  # halving: fewer replicates stay between later ranks
        middle = (kept + beyond) // 2
        between = (values >= ordered[middle - 1]) & (values <= ordered[count - middle])
        kept, beyond = (middle, beyond) if between.all(axis=1).sum() >= inside else (kept, middle)
    return ordered[kept - 1], ordered[count - kept]


def _bin_intervals(curve: CalibrationCurve, level: float, simultaneous: bool, interval: BinInterval) -> Band:
    """An interval of the rate of each bin; all together keep the level where each errs by its part (Bonferroni)."""
    bounds = {"wilson": wilson, "clopper-pearson": clopper_pearson}
    if interval not in bounds:
        raise ScoreSpaceError(f"interval={interval!r} is unknown.", hint=" or ".join(bounds))
    each = 1 - (1 - level) / curve.x.size if simultaneous else level
    pairs = [bounds[interval](float(h), float(n), each) for h, n in zip(curve.hits, curve.cases, strict=True)]
    low, high = np.array(pairs).T
    method = f"{interval}, Bonferroni" if simultaneous else interval
    return Band("calibration", curve.x, curve.y, low, high, level, method, simultaneous)

"""Parity between slices: how far apart rates are, by the criteria that fairness is usually judged by.

A criterion looks at rates of all slices at once. Its difference is the highest minus the lowest, its ratio the lowest
over the highest. Both are extremes over pairs of slices, so the intervals of all pairs, at a level that is adjusted for
their number (Bonferroni), bound them: max of lows ≤ max of differences ≤ max of highs. A sample without any gap has 0
in the interval of the difference as often as the level says, which a resampled maximum would never have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Final

import numpy as np

from scorespace.comparisons.difference import Bounds, combined, interval_at
from scorespace.comparisons.question import bindable, count_rarest, count_units, model_of
from scorespace.frozen import dataclass
from scorespace.measures.catalog import MeasureSpec, parse
from scorespace.measures.request import Request, bind
from scorespace.resampling.draw import Draws
from scorespace.resampling.estimate import UNCOUNTED
from scorespace.results import Row, limits, plain
from scorespace.special import stdtrit
from scorespace.tables import Table

FOUR_FIFTHS: Final = 0.8
"""The ratio of selection rates below which US agencies look closer (the four-fifths rule)."""

_TAIL: Final = 25  # replicates beyond a limit from which on their quantile tells it


@dataclass(frozen=True)
class Criterion:
    """A criterion of fairness: the measures that should be the same in all slices, and whether their ratio is told.

    `four_fifths`: whether that rule is about its ratio.
    """

    name: str
    measures: tuple[str, ...]
    ratio: bool = True
    placed: bool = True
    four_fifths: bool = False


CRITERIA: Final[list[Criterion]] = [
    Criterion("demographic parity", ("pp_rate",), four_fifths=True),
    Criterion("equal opportunity", ("tpr",)),
    Criterion("equalised odds", ("tpr", "fpr")),
    Criterion("predictive parity", ("ppv",)),
    Criterion("mean calibration", ("cal_large",), ratio=False, placed=False),
]
"""Those that are told of models with a positive class, in this order; a plug-in may add to them."""


@dataclass(frozen=True)
class Parity:
    """How far a criterion is from being met by a model: the two slices that are furthest apart, and by how much."""

    model: str
    criterion: str
    measure: str
    highest: str
    lowest: str
    difference: float
    low: float
    high: float
    ratio: float
    ratio_low: float
    ratio_high: float
    level: float
    reason: str | None = None

    def row(self) -> Row:
        return plain(vars(self))

    @property
    def size(self) -> str:
        return limits(self.difference, self.low, self.high)

    @property
    def share(self) -> str:
        return "" if math.isnan(self.ratio) else limits(self.ratio, self.ratio_low, self.ratio_high)

    @property
    def words(self) -> str | None:
        """What the four-fifths rule says of selection rates; None where it is kept."""
        ruled = any(one.four_fifths for one in CRITERIA if one.name == self.criterion)
        if not (ruled and self.ratio < FOUR_FIFTHS):
            return None
        sure = "beyond chance" if self.ratio_high < FOUR_FIFTHS else "which chance could have done"
        fewer = f"{self.model} selects {self.lowest} less than four fifths as often as {self.highest}"
        return f"{fewer} ({self.share}), {sure}."


def ratio_interval(a: float, of_a: Bounds, b: float, of_b: Bounds) -> Bounds:
    """The interval of a / b from the intervals of both, by Donner and Zou (2012); beyond all bounds where b may be 0.

    low = l (2a − l) / (ab + √((ab)² − l (2a − l) u (2b − u))) with l the low of a and u the high of b;
    high = (ab + √((ab)² − h (2a − h) k (2b − k))) / (k (2b − k)) with h the high of a and k the low of b.

    >>> tuple(round(x, 3) for x in ratio_interval(0.4, (0.3, 0.5), 0.5, (0.4, 0.6)))
    (0.57, 1.097)
    """
    if any(map(math.isnan, (*of_a, *of_b))):
        return math.nan, math.nan

    def parts(x: float, y: float) -> tuple[float, float, float]:
        of_x, of_y = x * (2 * a - x), y * (2 * b - y)
        return of_x, of_y, a * b + math.sqrt(max(0.0, (a * b) ** 2 - of_x * of_y))

    lower, _, below = parts(of_a[0], of_b[1])
    _, beside, above = parts(of_a[1], of_b[0])
    return (lower / below if below > 0 else 0.0), (above / beside if beside > 0 else math.inf)


def parities(
    model: str,
    samples: Mapping[str, Draws],
    at: float | None,
    *,
    prevalence: float | None = None,
    level: float = 0.95,
) -> list[Parity]:
    """Every criterion that suits a model with a positive class, over samples that are its slices.

    With a `prevalence`, rates that depend on it are those of slices in which positives have that share.

    >>> from scorespace.tables import confusion
    >>> two = {"a": confusion([[8, 2], [4, 6]]), "b": confusion([[3, 7], [5, 5]])}
    >>> found = parities("m", {name: Draws({"m": table}) for name, table in two.items()}, None)
    >>> [(one.criterion, round(one.difference, 2)) for one in found][:2]
    [('demographic parity', 0.2), ('equal opportunity', 0.1)]
    """
    tables = [next(iter(draws.tables.values())) for draws in samples.values()]
    if any(table.positive_name is None for table in tables):
        return []
    found = []
    for criterion in CRITERIA:
        if not (criterion.placed or all(table.thresholded for table in tables)):
            continue  # of decisions there are no probabilities
        placed = (_placed(name, at if criterion.placed else None, tables[0]) for name in criterion.measures)
        specs = [spec.for_prevalence(prevalence) for spec in placed]
        if all(bindable(spec, tables) for spec in specs):
            found.append(_parity(model, criterion, specs, samples, level))
    return found


def _placed(name: str, at: float | None, table: Table) -> MeasureSpec:
    return parse(name if at is None or not table.thresholded else f"{name}@{at!r}")


@dataclass(frozen=True)
class _Rate:
    """A rate of a slice with its interval; `flat` where no replicate changes it, so that nothing is known of it."""

    slice: str
    spec: MeasureSpec
    value: float
    ends: Bounds
    flat: bool = False


def _parity(
    model: str, criterion: Criterion, specs: Sequence[MeasureSpec], samples: Mapping[str, Draws], level: float
) -> Parity:
    pairs = len(specs) * len(samples) * (len(samples) - 1) // 2
    each = 1 - (1 - level) / max(1, pairs)
    rates = {spec: [_rate(name, spec, draws, each) for name, draws in samples.items()] for spec in specs}
    silent = sorted({one.slice for several in rates.values() for one in several if math.isnan(one.value)})
    couples = [
        (a, b)
        for several in rates.values()
        for a, b in permutations([one for one in several if not math.isnan(one.value)], 2)
    ]
    flat = [f"{spec} in {one.slice}" for spec, several in rates.items() for one in several if one.flat]
    reason = f"undefined in {', '.join(silent)}" if silent else None
    if flat:
        reason = reason or f"no replicate changes {', '.join(flat)}, and no width is not certainty"
    label = " and ".join(spec.canonical for spec in specs)
    nan = math.nan
    if not couples:
        return Parity(model, criterion.name, label, "", "", nan, nan, nan, nan, nan, nan, level, reason)
    apart = [(a.value - b.value, *combined(a.value, a.ends, b.value, b.ends)) for a, b in couples]
    place = max(range(len(apart)), key=lambda k: apart[k][0])
    a, b = couples[place]
    ratio: tuple[float, float, float] = (nan, nan, nan)
    if criterion.ratio:
        shares = [
            (b.value / a.value, *ratio_interval(b.value, b.ends, a.value, a.ends)) for a, b in couples if a.value > 0
        ]
        if shares:
            least, low, high = np.min(shares, axis=0).tolist()  # NaN where one is
            ratio = least, low, min(high, 1.0)
    _, low, high = np.max(apart, axis=0).tolist()
    if math.isnan(low):
        reason = reason or UNCOUNTED
    return Parity(
        model, criterion.name, label, a.slice, b.slice, apart[place][0], max(low, 0.0), high, *ratio, level, reason
    )


def _rate(name: str, spec: MeasureSpec, draws: Draws, level: float) -> _Rate:
    model = model_of(draws)
    request = bind(spec, draws.tables[model])
    found = interval_at(request, model, draws, level)
    low, high = found.low, found.high
    if "bootstrap" in (found.method or "") and (1 - level) / 2 * draws.replicates < _TAIL:
        low, high = _by_spread(request, model, draws, level)
    flat = low == high
    return _Rate(name, spec, request.value, (math.nan, math.nan) if flat else (low, high), flat)


def _by_spread(request: Request, model: str, draws: Draws, level: float) -> Bounds:
    """The interval at a level that quantiles of so few replicates cannot tell: Student's t times their spread.

    Of 15 slices there are 105 pairs, each at 99.95 %: so far out, quantiles of replicates called a gap in 10 to 20 % of
    samples without any.
    """
    values = draws.of(model, request)
    units = count_rarest(draws) if request.within else count_units(draws)
    freedom = max(1.0, units - 1.0)
    error = float(np.std(values[np.isfinite(values)])) * math.sqrt(1 + 1 / freedom)
    reach = float(stdtrit(freedom, (1 + level) / 2)) * error
    lowest, highest = request.range
    return max(lowest, request.value - reach), min(highest, request.value + reach)

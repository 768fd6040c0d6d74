"""Parity between slices: differences and ratios of rates, by the usual criteria of fairness.

The difference of a criterion is the highest minus the lowest rate over slices, its ratio the lowest over the highest.
Both are extremes over pairs of slices, so simultaneous intervals of all pairs (Bonferroni) bound them: max of lower
limits ≤ max of differences ≤ max of upper limits. Without any true gap the interval of the difference contains 0 at the
stated level, which a bootstrap of the maximum would not achieve.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np
from scipy.special import stdtrit

from scorespace.comparisons.design import bindable, count_units, model_of, rarest_class_units
from scorespace.comparisons.difference import Bounds, interval_at, mover_interval
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import UNCOUNTED
from scorespace.measures.catalog import MeasureSpec, parse
from scorespace.measures.request import Request, bind
from scorespace.results import Row, format_interval, to_json_types
from scorespace.tables import Table

FOUR_FIFTHS: Final = 0.8
"""Ratio of selection rates below which the four-fifths rule of US agencies is violated."""

_MIN_TAIL_REPLICATES: Final = 25  # replicates in a tail that are needed to estimate its quantile


@dataclass(frozen=True)
class FairnessCriterion:
    """A criterion of fairness: the measures that should be equal in all slices, and whether their ratio is reported.

    `placed`: the measures need a threshold. `four_fifths`: the four-fifths rule applies to the ratio.
    """

    name: str
    measures: tuple[str, ...]
    ratio: bool = True
    placed: bool = True
    four_fifths: bool = False


CRITERIA: Final[list[FairnessCriterion]] = [
    FairnessCriterion("demographic parity", ("pp_rate",), four_fifths=True),
    FairnessCriterion("equal opportunity", ("tpr",)),
    FairnessCriterion("equalised odds", ("tpr", "fpr")),
    FairnessCriterion("predictive parity", ("ppv",)),
    FairnessCriterion("mean calibration", ("cal_large",), ratio=False, placed=False),
]
"""The criteria for models with a positive class, in this order; plug-ins may add others."""


@dataclass(frozen=True)
class Parity:
    """Largest violation of a criterion by a model: the two most different slices, their difference and ratio."""

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
        return to_json_types(vars(self))

    @property
    def size(self) -> str:
        return format_interval(self.difference, self.low, self.high)

    @property
    def share(self) -> str:
        return "" if math.isnan(self.ratio) else format_interval(self.ratio, self.ratio_low, self.ratio_high)

    @property
    def words(self) -> str | None:
        """Verdict of the four-fifths rule on selection rates; None where it is met."""
        is_rule_applicable = any(criterion.four_fifths for criterion in CRITERIA if criterion.name == self.criterion)
        if not (is_rule_applicable and self.ratio < FOUR_FIFTHS):
            return None
        significance = "significantly" if self.ratio_high < FOUR_FIFTHS else "not significantly"
        text = f"{self.model} selects {self.lowest} less than four fifths as often as {self.highest}"
        return f"{text} ({self.share}), {significance}."


def ratio_interval(a: float, of_a: Bounds, b: float, of_b: Bounds) -> Bounds:
    """Interval of a / b from the intervals of both (Donner and Zou 2012); unbounded where b may be 0.

    low = l (2a − l) / (ab + √((ab)² − l (2a − l) u (2b − u))) with l the low of a and u the high of b;
    high = (ab + √((ab)² − h (2a − h) k (2b − k))) / (k (2b − k)) with h the high of a and k the low of b.

    >>> tuple(round(x, 3) for x in ratio_interval(0.4, (0.3, 0.5), 0.5, (0.4, 0.6)))
    (0.57, 1.097)
    """
    if any(map(math.isnan, (*of_a, *of_b))):
        return math.nan, math.nan

    def terms(x: float, y: float) -> tuple[float, float, float]:
        x_term, y_term = x * (2 * a - x), y * (2 * b - y)
        return x_term, y_term, a * b + math.sqrt(max(0.0, (a * b) ** 2 - x_term * y_term))

    lower, _, below = terms(of_a[0], of_b[1])
    _, denominator, above = terms(of_a[1], of_b[0])
    return (lower / below if below > 0 else 0.0), (above / denominator if denominator > 0 else math.inf)


def fairness_criteria(
    model: str,
    samples: Mapping[str, BootstrapDraws],
    at: float | None,
    *,
    prevalence: float | None = None,
    level: float = 0.95,
    columns: int = 1,
) -> list[Parity]:
    """Return every applicable criterion of a model with a positive class, over its slices.

    With a `prevalence`, rates that depend on it are those at that prevalence in every slice. Intervals are simultaneous
    over the pairs of slices, and over the `columns` columns that make slices.

    >>> from scorespace.tables import confusion
    >>> two = {"a": confusion([[8, 2], [4, 6]]), "b": confusion([[3, 7], [5, 5]])}
    >>> found = fairness_criteria("m", {name: BootstrapDraws({"m": table}) for name, table in two.items()}, None)
    >>> [(one.criterion, round(one.difference, 2)) for one in found][:2]
    [('demographic parity', 0.2), ('equal opportunity', 0.1)]
    """
    tables = [next(iter(draws.tables.values())) for draws in samples.values()]
    if any(table.positive_name is None for table in tables):
        return []
    results = []
    for criterion in CRITERIA:
        if not (criterion.placed or all(table.thresholded for table in tables)):
            continue  # decisions have no probabilities
        specs_at = (_spec_at(name, at if criterion.placed else None, tables[0]) for name in criterion.measures)
        specs = [spec.for_prevalence(prevalence) for spec in specs_at]
        if all(bindable(spec, tables) for spec in specs):
            results.append(_parity(model, criterion, specs, samples, level, columns))
    return results


def _spec_at(name: str, at: float | None, table: Table) -> MeasureSpec:
    return parse(name if at is None or not table.thresholded else f"{name}@{at!r}")


@dataclass(frozen=True)
class _SliceRate:
    """A rate of a slice with its interval; `flat` where all replicates give the same value."""

    slice: str
    spec: MeasureSpec
    value: float
    ends: Bounds
    flat: bool = False


def _parity(
    model: str,
    criterion: FairnessCriterion,
    specs: Sequence[MeasureSpec],
    samples: Mapping[str, BootstrapDraws],
    level: float,
    columns: int,
) -> Parity:
    pairs = columns * len(specs) * len(samples) * (len(samples) - 1) // 2
    pair_level = 1 - (1 - level) / max(1, pairs)
    rates = {spec: [_rate(name, spec, draws, pair_level) for name, draws in samples.items()] for spec in specs}
    undefined = sorted({rate.slice for slice_rates in rates.values() for rate in slice_rates if math.isnan(rate.value)})
    couples = [
        (a, b)
        for slice_rates in rates.values()
        for a, b in permutations([rate for rate in slice_rates if not math.isnan(rate.value)], 2)
    ]
    flat = [f"{spec} in {rate.slice}" for spec, slice_rates in rates.items() for rate in slice_rates if rate.flat]
    reason = f"undefined in {', '.join(undefined)}" if undefined else None
    if flat:
        reason = reason or f"all bootstrap replicates gave the same value of {', '.join(flat)}"
    label = " and ".join(spec.canonical for spec in specs)
    nan = math.nan
    if not couples:
        return Parity(model, criterion.name, label, "", "", nan, nan, nan, nan, nan, nan, level, reason)
    differences = [(a.value - b.value, *mover_interval(a.value, a.ends, b.value, b.ends)) for a, b in couples]
    index = max(range(len(differences)), key=lambda k: differences[k][0])
    a, b = couples[index]
    ratio: tuple[float, float, float] = (nan, nan, nan)
    if criterion.ratio:
        shares = [
            (b.value / a.value, *ratio_interval(b.value, b.ends, a.value, a.ends)) for a, b in couples if a.value > 0
        ]
        if shares:
            least, low, high = np.min(shares, axis=0).tolist()  # NaN where one of them is NaN
            ratio = least, low, min(high, 1.0)
    _, low, high = np.max(differences, axis=0).tolist()
    if math.isnan(low):
        reason = reason or UNCOUNTED
    return Parity(
        model,
        criterion.name,
        label,
        a.slice,
        b.slice,
        differences[index][0],
        max(low, 0.0),
        high,
        *ratio,
        level,
        reason,
    )


def _rate(name: str, spec: MeasureSpec, draws: BootstrapDraws, level: float) -> _SliceRate:
    model = model_of(draws)
    request = bind(spec, draws.tables[model])
    interval = interval_at(request, model, draws, level)
    low, high = interval.low, interval.high
    if "bootstrap" in (interval.method or "") and (1 - level) / 2 * draws.replicates < _MIN_TAIL_REPLICATES:
        low, high = _normal_interval(request, model, draws, level)
    flat = low == high
    return _SliceRate(name, spec, request.value, (math.nan, math.nan) if flat else (low, high), flat)


def _normal_interval(request: Request, model: str, draws: BootstrapDraws, level: float) -> Bounds:
    """Interval at a level too high for quantiles of the replicates: Student's t times their standard deviation.

    For 15 slices there are 105 pairs, each at 99.95 %: there, quantiles of replicates rejected in 10 to 20 % of samples
    without any gap.
    """
    values = draws.of(model, request)
    units = rarest_class_units(draws) if request.within else count_units(draws)
    df = max(1.0, units - 1.0)
    error = float(np.std(values[np.isfinite(values)])) * math.sqrt(1 + 1 / df)
    half_width = float(stdtrit(df, (1 + level) / 2)) * error
    lowest, highest = request.range
    return max(lowest, request.value - half_width), min(highest, request.value + half_width)

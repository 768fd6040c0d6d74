"""Costs of each case: tables of scores with costs, and the costs of decisions at an operating point.

Up to a million cases are kept one by one. Larger tables hold, for each bin of scores, sums of the products
w^j · a^p · b^q of the weight, the cost of acting and the cost of not acting; these sums add over shards, and give the
mean cost with the moments that its confidence interval needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.case_costs import SIDES, CaseCosts
from scorespace.errors import DataError
from scorespace.results import ByValue, grouped
from scorespace.tables.bins import bin_of_score
from scorespace.tables.periods import NO_PERIODS, PeriodTable
from scorespace.tables.table import Array, NoTableError, Table, Wanted
from scorespace.tables.threshold import At, TopCases

MAX_CASES: Final = 1_000_000
"""Number of cases up to which costs are kept case by case."""

_PLAIN: Final = tuple((1, p, q) for p in range(5) for q in range(5 - p))
_WEIGHTED: Final = (
    (0, 0, 0),
    *((j, p, q) for j in range(1, 5) for p in range(j + 1) for q in range(j + 1 - p)),
)


def cost_terms(weighted: bool) -> tuple[tuple[int, int, int], ...]:
    """Exponents of weight, cost of acting and cost of not acting in the sums of a table."""
    return _WEIGHTED if weighted else _PLAIN


class Moments(NamedTuple):
    """Mean of a value per case, number of cases, and sums of powers of its deviations U: ΣU², ΣU³, ΣU⁴."""

    mean: float
    cases: float
    second: float
    third: float
    fourth: float


@dataclass(frozen=True, eq=False)
class CostColumns(ByValue):
    """Costs of the four outcomes of every case: each a number, or one value for each case.

    >>> CostColumns(CaseCosts(fp=5, fn="amount"), 5, np.array([20.0, 150.0])).acting(np.array([0, 1])).tolist()
    [5.0, 0.0]
    """

    stated: CaseCosts
    fp: Any = 0.0
    fn: Any = 0.0
    tp: Any = 0.0
    tn: Any = 0.0

    def part(self, chosen: NDArray[np.intp]) -> CostColumns:
        """The costs of a subset of the cases."""
        values = {name: getattr(self, name) for name in SIDES}
        kept = {name: value[chosen] if np.ndim(value) else value for name, value in values.items()}
        return CostColumns(self.stated, **kept)

    def acting(self, label: ArrayLike) -> Array:
        """Cost of acting on each case, given which are positive."""
        return np.asarray(np.where(np.asarray(label, dtype=bool), self.tp, self.fp), dtype=np.float64)

    def waiting(self, label: ArrayLike) -> Array:
        """Cost of not acting on each case, given which are positive."""
        return np.asarray(np.where(np.asarray(label, dtype=bool), self.fn, self.tn), dtype=np.float64)

    def expected_gain(self, probability: Array) -> Array:
        """Expected gain of acting on each case: p · (FN − TP) − (1 − p) · (FP − TN)."""
        return np.asarray(probability * (self.fn - self.tp) - (1 - probability) * (self.fp - self.tn))


def cost_columns(stated: CaseCosts, arrays: dict[str, Array]) -> CostColumns:
    """Costs with the arrays of their columns."""
    values = {name: getattr(stated, name) for name in SIDES}
    return CostColumns(stated, **{name: arrays[v] if isinstance(v, str) else v for name, v in values.items()})


@dataclass(frozen=True, eq=False)
class CostSums(Table):
    """Costs of the decisions at one operating point: each case has the cost of acting or that of not acting.

    Either case by case, with the share of each that is acted on (fractions only where ties share the last places), or
    as sums (2, terms) over the cases that are acted on, and over the others.
    """

    stated: CaseCosts
    table: CostTable
    acted: Array
    exact: bool = True

    holds = "costs of each case"
    closed_form = True

    def described(self) -> str:
        return "costs of decisions"

    @property
    def cells(self) -> Array:
        return np.array([self.table.cases])

    def with_cells(self, cells: Array) -> Self:
        raise NoTableError("cannot be resampled: costs of decisions are sums")

    def __add__(self, other: Self) -> Self:
        """Refuse: tables of scores and costs merge, and decisions follow."""
        raise NoTableError("cannot be merged: merge the tables of scores and costs instead")

    @property
    def coarse(self) -> bool:
        return not self.exact

    @property
    def mean(self) -> float:
        """Mean cost per case."""
        return self.moments((1, 0), (0, 1)).mean

    @property
    def mean_of_acting(self) -> float:
        """Mean cost of acting on every case."""
        return self.moments((1, 0), (1, 0)).mean

    @property
    def mean_of_waiting(self) -> float:
        """Mean cost of acting on none."""
        return self.moments((0, 1), (0, 1)).mean

    @property
    def nonnegative(self) -> bool:
        """Whether no cost is negative."""
        return self.table.nonnegative

    def moments(self, acted: tuple[float, float], rest: tuple[float, float]) -> Moments:
        """Moments of α · a + β · b per case, with the factors of the cases that are acted on, and of the rest."""
        return self.table.moments_of(self.acted, acted, rest)


@dataclass(frozen=True, eq=False)
class CostTable(Table):
    """Scores with the costs of acting (a) and of not acting (b) on each case.

    Case by case, `score`, `act` and `wait` have one value for each case, in the order of the cases. Otherwise `score`
    is the lowest score of each bin, descending, and `sums` (bins, terms) holds sums of products of weight and costs; no
    bin contains one of the `edges`. `period` is the period of each case, `periods` the table of their scores.

    >>> costs = cost_columns(CaseCosts(fp=5, fn="x", tp=5), {"x": np.array([20.0, 150.0])})
    >>> table = cost_table(costs, [0, 1], [0.1, 0.9])
    >>> table.at(0.5).mean, table.as_sums().at(0.5).mean
    (2.5, 2.5)
    """

    stated: CaseCosts
    score: NDArray[np.float64]
    act: Array | None = None
    wait: Array | None = None
    weight: Array | None = None
    group: NDArray[np.int32] | None = None
    copies: bool = False
    sums: Array | None = None
    nonnegative: bool = True
    single: bool = field(default=False)
    edges: tuple[float, ...] = ()
    period: NDArray[np.int32] | None = None
    periods: PeriodTable | None = None

    holds = "scores and costs of each case"

    def described(self) -> str:
        return "scores with costs of each case"

    @property
    def cells(self) -> Array:
        return np.array([self.cases])

    def with_cells(self, cells: Array) -> Self:
        raise NoTableError("cannot be resampled: the costs of cases are not kept by score")

    @property
    def is_listed(self) -> bool:
        """Whether each case is kept, not only sums."""
        return self.sums is None

    @property
    def cases(self) -> float:
        """Number of cases."""
        if self.sums is None:
            weighted = self.weight is not None and self.copies
            return float(self.weight.sum()) if weighted and self.weight is not None else float(self.score.size)
        return float(self.sums[:, 0].sum())

    @property
    def terms(self) -> tuple[tuple[int, int, int], ...]:
        """Exponents of weight, cost of acting and cost of not acting in each sum."""
        return _PLAIN if self.sums is None or self.sums.shape[1] == len(_PLAIN) else _WEIGHTED

    @cached_property
    def ranking(self) -> tuple[NDArray[np.float64], Array, Array]:
        """Distinct scores, descending, with the weight of the cases and the total of a − b at each."""
        if self.sums is not None:
            terms = self.terms
            both = self.sums[:, terms.index((1, 1, 0))] - self.sums[:, terms.index((1, 0, 1))]
            return self.score, self.sums[:, terms.index((1, 0, 0))], both
        assert self.act is not None
        assert self.wait is not None
        weight = np.ones(self.score.size) if self.weight is None else self.weight
        values, place = np.unique(-self.score, return_inverse=True)
        differences = weight * (self.act - self.wait)
        cases, totals = (np.bincount(place, column, values.size) for column in (weight, differences))
        return -values, cases, totals

    @property
    def total_weight(self) -> float:
        """Total weight of the cases."""
        return float(self.ranking[1].sum())

    @cached_property
    def mean_of_waiting(self) -> float:
        """Mean cost of acting on no case."""
        return self.at(np.inf).mean

    def sweep(self) -> tuple[Array, Array, Array]:
        """Thresholds from +inf down, the share of cases acted on, and the mean cost at each: one cumulative sum."""
        score, weight, difference = self.ranking
        total = max(self.total_weight, 1e-300)
        shares, costs = (np.concatenate([[0.0], np.cumsum(column)]) / total for column in (weight, difference))
        return np.append(np.inf, score), shares, self.mean_of_waiting + costs

    def at(self, at: At) -> CostSums:
        """Costs if cases with a score of at least the threshold, or the highest-ranked cases, are acted on."""
        if isinstance(at, TopCases):
            return CostSums(self.stated, self, self._top(at))
        limit = float(np.float32(at)) if self.single and math.isfinite(at) else at
        exact = self.is_listed or not math.isfinite(at) or at in self.edges or bool((self.score == at).any())
        return CostSums(self.stated, self, (self.score >= limit).astype(np.float64), exact)

    def _top(self, at: TopCases) -> Array:
        """Share of each case or bin that is acted on; ties share the last places."""
        if at.per is not None:
            if self.periods is None or self.period is None:
                raise NoTableError(NO_PERIODS, hint="--per COL, a column of dates or periods")
            return self.periods.share_of(at, self.period, self.score)
        score, weight, _ = self.ranking
        places = float(at.of(self.total_weight))
        before = np.cumsum(weight) - weight
        share = np.clip((places - before) / np.maximum(weight, 1e-300), 0.0, 1.0)
        if self.sums is not None:
            return np.asarray(share)
        return np.asarray(share[::-1][np.searchsorted(score[::-1], self.score)])

    def moments_of(self, acted: Array, above: tuple[float, float], below: tuple[float, float]) -> Moments:
        """Moments of α · a + β · b per case, with one pair of factors where it is acted on, another elsewhere."""
        if self.sums is None:
            return self._moments_by_case(acted, above, below)
        zones = (acted @ self.sums, (1 - acted) @ self.sums)
        index = {term: k for k, term in enumerate(self.terms)}
        weighted = self.terms is _WEIGHTED

        def power(j: int, centre: float) -> float:
            """Σ w^j (α a + β b − c)^j over both zones."""
            total = 0.0
            for sums, (alpha, beta) in zip(zones, (above, below), strict=True):
                for p in range(j + 1):
                    for q in range(j + 1 - p):
                        s = j - p - q
                        factor = math.factorial(j) // (math.factorial(p) * math.factorial(q) * math.factorial(s))
                        value = sums[index[(j if weighted else 1, p, q)]]
                        total += factor * alpha**p * beta**q * (-centre) ** s * float(value)
            return total

        cases, weight = self.cases, self.total_weight
        mean = power(1, 0.0) / weight if weight else math.nan
        scale = cases / weight if weight else math.nan
        second, third, fourth = (power(j, mean) * scale**j for j in (2, 3, 4))
        return Moments(mean, cases, max(0.0, second), third, max(0.0, fourth))

    def _moments_by_case(self, acted: Array, above: tuple[float, float], below: tuple[float, float]) -> Moments:
        assert self.act is not None
        assert self.wait is not None
        value = acted * (above[0] * self.act + above[1] * self.wait)
        value = value + (1 - acted) * (below[0] * self.act + below[1] * self.wait)
        return moments_of_cases(value, self.weight, self.group, copies=self.copies)

    def as_sums(self, bits: int = 0) -> CostTable:
        """The table with sums for each distinct score, or for each bin of scores that agree in their first digits."""
        if self.sums is not None:
            return self
        assert self.act is not None
        assert self.wait is not None
        key = self.score if not bits else np.asarray(bin_of_score(self.score, bits))
        values, place = np.unique(-key, return_inverse=True)
        low = np.full(values.size, np.inf)
        np.minimum.at(low, place, self.score)
        weighted = self.weight is not None and not self.copies
        columns = []
        for j, p, q in _WEIGHTED if weighted else _PLAIN:
            product = self.act**p * self.wait**q
            if self.weight is not None:
                product = product * (self.weight**j if weighted else self.weight)
            columns.append(np.bincount(place, product, values.size))
        sums = np.stack(columns, axis=1)
        return replace(self, score=low, act=None, wait=None, weight=None, group=None, copies=False, sums=sums)

    def __add__(self, other: Self) -> CostTable:
        """Merge the tables of two samples: case by case up to a million cases, else as sums."""
        if self.stated != other.stated:
            raise DataError("these tables hold different costs.", hint="the same costs in both")
        nonnegative = self.nonnegative and other.nonnegative
        if self.is_listed and other.is_listed and self.score.size + other.score.size <= MAX_CASES:
            same_kind = self.copies == other.copies and (self.weight is None) == (other.weight is None)
            if same_kind and self.group is None and other.group is None:
                columns: dict[str, Any] = {
                    name: None if getattr(self, name) is None else np.concatenate([getattr(self, name), one])
                    for name in ("score", "act", "wait", "weight")
                    for one in [getattr(other, name)]
                }
                return replace(self, **columns, nonnegative=nonnegative, single=self.single and other.single)
        a, b = self.as_sums(), other.as_sums()
        if a.terms != b.terms:
            raise DataError("a weighted and an unweighted table cannot be merged.", hint="weights in both")
        values, place = np.unique(np.concatenate([-a.score, -b.score]), return_inverse=True)
        sums = np.zeros((values.size, len(a.terms)))
        np.add.at(sums, place, np.concatenate([a.sums, b.sums]))
        return replace(a, score=-values, sums=sums, nonnegative=nonnegative)

    def __repr__(self) -> str:
        kept = "case by case" if self.is_listed else f"in {grouped(self.score.size)} bins"
        return f"CostTable: {grouped(self.cases)} cases, {kept}; {self.stated.describe()}"


def moments_of_cases(
    value: Array, weight: Array | None = None, group: NDArray[Any] | None = None, *, copies: bool = False
) -> Moments:
    """Moments of a value per case; of cases in groups, moments of the totals of the groups.

    >>> moments_of_cases(np.array([1.0, 2.0, 6.0]))
    Moments(mean=3.0, cases=3.0, second=14.0, third=18.0, fourth=98.0)
    """
    if weight is None:
        mean, deviations = float(value.mean()), value - value.mean()
    else:
        mean = float(weight @ value) / float(weight.sum())
        deviations = value - mean if copies else weight * (value - mean) * (weight.size / weight.sum())
    times = weight if copies and weight is not None else None
    cases = float(value.size if times is None else times.sum())
    if group is not None:
        totals = np.bincount(group, deviations if times is None else times * deviations)
        deviations, times, cases = totals * totals.size / cases, None, float(totals.size)
    powers = (deviations**j for j in (2, 3, 4))
    return Moments(mean, cases, *(float(one.sum() if times is None else times @ one) for one in powers))


def cost_table(
    costs: CostColumns,
    label: ArrayLike,
    score: ArrayLike,
    *,
    weight: Array | None = None,
    group: NDArray[np.int32] | None = None,
    copies: bool = False,
    single: bool = False,
) -> CostTable:
    """Build the table of scores and costs case by case; `label` says which cases are positive."""
    act, wait = costs.acting(label), costs.waiting(label)
    values = np.asarray(score, dtype=np.float64)
    nonnegative = bool(act.min(initial=0.0) >= 0 and wait.min(initial=0.0) >= 0)
    return CostTable(costs.stated, values, act, wait, weight, group, copies, nonnegative=nonnegative, single=single)


COST_TABLES: Final[tuple[type[Table], ...]] = (CostSums, CostTable)
"""Tables that are made from the costs of a table of scores or decisions."""

NO_COSTS: Final = "needs the costs of each case"


def costs_inside(costs: CostTable | None, wanted: type[Wanted], is_positive: bool, at: At | None) -> Wanted:
    """The costs of a table, or those of its decisions at an operating point."""
    if costs is None or not is_positive:
        raise NoTableError(NO_COSTS, hint="--cost-fn COL --cost-fp 5, or condition=CaseCosts(fp=5, fn=COLUMN)")
    if wanted is CostTable:
        return cast(Wanted, costs)
    if at is None:
        raise NoTableError("of a score needs a threshold", hint="{label}@0.5")
    return cast(Wanted, costs.at(at))


def merge_costs(a: Any, b: Any) -> CostTable | None:
    """The costs of two tables of scores together, if both have them."""
    return None if a.costs is None or b.costs is None else a.costs + b.costs

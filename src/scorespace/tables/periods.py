"""Periods: the scores of cases within days, weeks or other periods, of which the highest ones are acted on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.tables.counts import Counts
from scorespace.tables.labels import encode
from scorespace.tables.table import Array, NoTableError, Table
from scorespace.tables.threshold import TopCases

NO_PERIODS = "limits the alerts of each period, but the cases have no periods"


@dataclass(frozen=True, eq=False)
class PeriodTable(Table):
    """Distinct scores of each period, descending within it, with the number of positives and of cases at each.

    >>> table = period_table([1, 0, 0, 1], [0.9, 0.4, 0.6, 0.7], ["mon", "mon", "tue", "tue"])
    >>> table.counts(TopCases(1, per="day")).tp.tolist()
    [1.0, 1.0]
    """

    periods: tuple[str, ...]
    period: NDArray[np.intp]
    score: NDArray[np.float64]
    positives: Array
    size_at: Array

    holds = "scores in periods"

    def described(self) -> str:
        return "scores in periods"

    @property
    def cells(self) -> Array:
        return np.asarray(self.size_at)

    def with_cells(self, cells: Array) -> Self:
        raise NoTableError("cannot be resampled: periods are the units")

    @cached_property
    def cases_of(self) -> Array:
        """Number of cases of each period."""
        return np.bincount(self.period, self.size_at, len(self.periods))

    @cached_property
    def positives_of(self) -> Array:
        """Number of positives of each period."""
        return np.bincount(self.period, self.positives, len(self.periods))

    @cached_property
    def before(self) -> Array:
        """Number of cases of the period with a higher score."""
        cumulative = np.cumsum(self.size_at) - self.size_at
        starts = np.searchsorted(self.period, np.arange(len(self.periods)))
        return cumulative - cumulative[starts][self.period]

    def shares(self, top: TopCases) -> Array:
        """Share of the cases at each score that is acted on; ties share the last places."""
        places = np.asarray(top.of(self.cases_of), dtype=np.float64) * np.ones(len(self.periods))
        return np.clip((places[self.period] - self.before) / self.size_at, 0.0, 1.0)

    def counts(self, top: TopCases) -> Counts:
        """Outcomes of each period if its highest scores are predicted positive; all, where there are fewer cases."""
        share, size = self.shares(top), len(self.periods)
        hits = np.bincount(self.period, share * self.positives, size)
        false = np.bincount(self.period, share * self.size_at, size) - hits
        negatives = self.cases_of - self.positives_of
        return Counts(tp=hits, fp=false, fn=self.positives_of - hits, tn=negatives - false)

    def share_of(self, top: TopCases, period: NDArray[Any], score: Array) -> Array:
        """Share of each case that is acted on, given the period and the score of the cases of this table."""
        order = np.lexsort((-score, period))
        is_new = np.append(True, (np.diff(period[order]) != 0) | (np.diff(score[order]) != 0))
        share = np.empty(score.size)
        share[order] = self.shares(top)[np.cumsum(is_new) - 1]
        return share

    def __add__(self, other: Self) -> Self:
        """Merge the cases of two samples; periods of the same name are one."""
        names = tuple(dict.fromkeys([*self.periods, *other.periods]))
        codes = [np.array([names.index(name) for name in one.periods])[one.period] for one in (self, other)]
        return cast(
            Self,
            _merged(
                names,
                np.concatenate(codes),
                np.concatenate([self.score, other.score]),
                np.concatenate([self.positives, other.positives]),
                np.concatenate([self.size_at, other.size_at]),
            ),
        )


def _merged(names: tuple[str, ...], period: NDArray[Any], score: Array, positives: Array, size: Array) -> PeriodTable:
    """The table with equal scores of a period merged."""
    order = np.lexsort((-score, period))
    period, score, positives, size = period[order], score[order], positives[order], size[order]
    is_new = np.append(True, (np.diff(period) != 0) | (np.diff(score) != 0))
    starts = np.flatnonzero(is_new)
    sums = (np.add.reduceat(column, starts) for column in (positives, size))
    return PeriodTable(names, period[starts].astype(np.intp), score[starts], *sums)


def period_table(label: ArrayLike, score: ArrayLike, period: Any) -> PeriodTable:
    """Build the table from labels (1 for positives), scores, and the period of each case.

    >>> period_table([1, 0], [0.9, 0.4], ["mon", "tue"]).periods
    ('mon', 'tue')
    """
    codes, names = encode(period, "period")
    return period_table_of_codes(label, score, codes, names)


def period_table_of_codes(label: ArrayLike, score: ArrayLike, codes: Array, names: tuple[str, ...]) -> PeriodTable:
    """Build the table from labels, scores, and the index of each case's period."""
    positives = np.asarray(label, dtype=np.float64)
    return _merged(tuple(names), codes, np.asarray(score, dtype=np.float64), positives, np.ones(positives.size))


def pooled(counts: Counts) -> Counts:
    """Outcomes of all periods together."""
    return Counts(*(getattr(counts, side).sum(axis=-1) for side in ("tp", "fp", "fn", "tn")))


def periods_of(table: Any) -> PeriodTable:
    """The scores of a table in periods; refused where there are none."""
    if table.periods is None:
        raise NoTableError(NO_PERIODS, hint="--per COL, a column of dates or periods")
    return cast(PeriodTable, table.periods)

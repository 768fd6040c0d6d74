"""Stability of scores and characteristics between two samples (PSI, CSI), and migration between grades.

References: Siddiqi (2006), "Credit Risk Scorecards", Wiley (population and characteristic stability index); Yurdakul
and Naranjo (2020), "Statistical properties of the population stability index", Journal of Risk Model Validation 14;
Kullback (1959), "Information Theory and Statistics", Wiley.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, listing
from scorespace.inference.divergence import divergence_test
from scorespace.inference.proportion import wilson
from scorespace.measures.scorecard import BINS, jeffreys_divergence, quantile_bins
from scorespace.results import Note, Result, Row, decimals, format_interval, grouped, p_text, percent, to_json_types
from scorespace.tables import Array, ScoreTable
from scorespace.tables.labels import is_missing, label_text, natural_order
from scorespace.tables.threshold import threshold_text

MISSING: Final = "missing"
_MODERATE, _LARGE = 0.1, 0.25
CLEAR: Final = 0.05


@dataclass(frozen=True)
class StabilityIndex:
    """PSI of a score, or CSI of a characteristic: how much its distribution changed, beside what chance explains.

    `bins` are the bins of the reference sample, `before` and `after` their counts.
    """

    measure: str
    name: str
    value: float
    low: float
    high: float
    expected: float
    df: int
    p: float
    bins: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def rule(self) -> str:
        """The usual rule of thumb, which ignores the numbers of cases."""
        return "small" if self.value < _MODERATE else "moderate" if self.value < _LARGE else "large"

    @property
    def text(self) -> str:
        """Value and interval."""
        return format_interval(self.value, self.low, self.high)

    def row(self) -> Row:
        """A tidy row, with the counts of the bins."""
        names = ("measure", "name", "value", "low", "high", "expected", "df", "p")
        bins = zip(self.bins, self.before, self.after, strict=True)
        values = {name: getattr(self, name) for name in names} | {"rule_of_thumb": self.rule}
        return to_json_types(values | {"bins": [{"bin": b, "before": r, "after": c} for b, r, c in bins]})


@dataclass(frozen=True)
class MeasureChange:
    """A measure of a model before and after, with the test of its difference."""

    measure: str
    name: str
    before: str
    after: str
    value: float
    low: float
    high: float
    p: float
    test: str
    reason: str | None = None

    @property
    def text(self) -> str:
        """Difference and interval."""
        return format_interval(self.value, self.low, self.high, sign=True)

    def row(self) -> Row:
        """A tidy row."""
        return to_json_types(vars(self))


@dataclass(frozen=True)
class Migration:
    """Cases of both samples by their grade before (rows) and after (columns), grades in order."""

    name: str
    grades: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    only_before: int = 0
    only_after: int = 0
    measure: str = "migration"

    @property
    def shares(self) -> dict[str, tuple[float, float, float]]:
        """Shares of the cases that stayed, and that moved to a later or an earlier grade, with Wilson's limits."""
        counts = np.array(self.matrix)
        found = {"same": np.trace(counts), "up": np.triu(counts, 1).sum(), "down": np.tril(counts, -1).sum()}
        total = float(counts.sum())
        return {name: (float(count) / total, *wilson(float(count), total)) for name, count in found.items()}

    def row(self) -> Row:
        """A tidy row, with the matrix."""
        shares = {
            f"{name}{suffix}": value
            for name, values in self.shares.items()
            for suffix, value in zip(("", "_low", "_high"), values, strict=True)
        }
        names = ("measure", "name", "grades", "matrix", "only_before", "only_after")
        return to_json_types({name: getattr(self, name) for name in names} | shares)


@dataclass(frozen=True, repr=False)
class Stability(Result):
    """Stability indices, changes of measures and migrations between two samples."""

    sizes: tuple[int, int]
    indices: tuple[StabilityIndex, ...] = ()
    changes: tuple[MeasureChange, ...] = ()
    migrations: tuple[Migration, ...] = ()
    sample_notes: tuple[Note, ...] = ()

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the samples."""
        return self.sample_notes

    @property
    def words(self) -> str:
        """What changed beyond chance, in a few sentences."""
        return " ".join(
            [*self._index_words(), *map(_change_words, self.changes), *map(_migration_words, self.migrations)]
        )

    def _index_words(self) -> list[str]:
        clear = [one for one in self.indices if one.p < CLEAR]
        if not self.indices:
            return []
        if not clear:
            largest = max(self.indices, key=lambda one: one.value)
            text = f"{decimals(largest.value, 4)}, by chance {decimals(largest.expected, 4)}, {p_text(largest.p)}"
            return [f"No distribution changed beyond chance (largest: {largest.measure} of {largest.name} {text})."]
        texts = [
            f"{one.measure} of {one.name} {decimals(one.value, 4)} (by chance {decimals(one.expected, 4)}, "
            f"{p_text(one.p)}, {one.rule} by the rule of thumb)"
            for one in sorted(clear, key=lambda one: -one.value)[:3]
        ]
        more = f"; {len(clear) - 3} more" if len(clear) > 3 else ""
        return [f"Changed beyond chance: {'; '.join(texts)}{more}."]

    def rows(self) -> list[Row]:
        """One row for each index, change and migration."""
        rows = [one.row() for one in self.indices] + [one.row() for one in self.changes]
        return rows + [one.row() for one in self.migrations]

    def facts(self) -> Row:
        """Numbers of cases."""
        return {"data": {"before": self.sizes[0], "after": self.sizes[1]}}


def _change_words(one: MeasureChange) -> str:
    p = "" if math.isnan(one.p) else f", {p_text(one.p)}"
    return f"{one.measure} of {one.name}: {one.before} before, {one.after} after ({one.text}{p})."


def _migration_words(one: Migration) -> str:
    same, up, down = (one.shares[name][0] for name in ("same", "up", "down"))
    moved = f"{percent(up)} moved to a later one and {percent(down)} to an earlier one"
    return f"{one.name}: {percent(same)} kept their grade, {moved}."


def stability_index(
    before: Any, after: Any, *, measure: str = "psi", name: str = "score", bins: int = BINS, level: float = 0.95
) -> StabilityIndex:
    """PSI of a column of two samples: bins by quantiles of the first; categories and missing values have own bins.

    >>> found = stability_index(np.arange(1000) % 10, np.repeat(np.arange(10), 100))
    >>> round(found.value, 6), found.df
    (0.0, 9)
    """
    labels, first, second = bin_counts(before, after, bins)
    return index_of_counts(first, second, labels=labels, measure=measure, name=name, level=level)


def index_of_counts(
    before: Sequence[float] | Array,
    after: Sequence[float] | Array,
    *,
    labels: Sequence[str] = (),
    measure: str = "psi",
    name: str = "score",
    level: float = 0.95,
) -> StabilityIndex:
    """PSI of two rows of counts: Σ (q − p) · ln(q / p) of their shares, with ½ added to every count."""
    first, second = (np.asarray(counts, dtype=np.float64) for counts in (before, after))
    value = float(jeffreys_divergence(second, first))
    found = divergence_test(value, first.size, float(first.sum()), float(second.sum()), level)
    names = tuple(labels) or tuple(str(k + 1) for k in range(first.size))
    counts = tuple(map(float, first)), tuple(map(float, second))
    return StabilityIndex(
        measure, name, value, found.low, found.high, found.expected, found.df, found.p, names, *counts
    )


def index_of_tables(before: ScoreTable, after: ScoreTable, name: str, level: float = 0.95) -> StabilityIndex:
    """PSI of the scores of two tables, with bins by quantiles of the first; of weighted cases, effective sizes.

    >>> from scorespace.tables import score_table
    >>> table = score_table([0, 1] * 50, range(100))
    >>> index_of_tables(table, table, "nb").value
    0.0
    """
    cases = before.pos + before.neg
    bin_ = quantile_bins(before.score, cases, BINS)
    size = int(bin_.max(initial=0)) + 1
    starts = np.full(size, np.inf)
    np.minimum.at(starts, bin_, before.score)
    place = np.maximum(np.searchsorted(starts, after.score, side="right") - 1, 0)
    rows = np.bincount(bin_, cases, size), np.bincount(place, after.pos + after.neg, size)
    scaled = [row * (table.cases / float(table.total)) for row, table in zip(rows, (before, after), strict=True)]
    labels = [f"from {threshold_text(float(start))}" for start in starts]
    labels[0] = f"below {threshold_text(float(starts[1]))}" if size > 1 else "all"
    return index_of_counts(*(row.tolist() for row in scaled), labels=labels, name=name, level=level)


def bin_counts(before: Any, after: Any, bins: int = BINS) -> tuple[tuple[str, ...], Array, Array]:
    """Bins of a column from its first sample, and their counts in both."""
    first, second = _numbers(before), _numbers(after)
    if first is None or second is None:
        return _count_categories(before, after)
    known = [values[~np.isnan(values)] for values in (first, second)]
    values, counts = np.unique(known[0], return_counts=True)
    if not values.size:
        raise DataError("a column has no value in the first sample.", hint="another column")
    bin_ = quantile_bins(values, counts.astype(np.float64), bins)
    starts = values[np.flatnonzero(np.append(True, np.diff(bin_) > 0))]
    rows = [
        np.bincount(np.maximum(np.searchsorted(starts, one, side="right") - 1, 0), minlength=starts.size)
        for one in known
    ]
    labels = [f"below {threshold_text(float(starts[1]))}" if starts.size > 1 else "all"]
    labels += [f"from {threshold_text(float(start))}" for start in starts[1:]]
    absent = [float(np.isnan(one).sum()) for one in (first, second)]
    if any(absent):
        labels.append(MISSING)
        rows = [np.append(row, count) for row, count in zip(rows, absent, strict=True)]
    return tuple(labels), rows[0].astype(np.float64), rows[1].astype(np.float64)


def _numbers(values: Any) -> NDArray[np.float64] | None:
    """A numeric column with NaN for missing values; None for other columns."""
    array = np.ma.asarray(values) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    if array.dtype.kind not in "iuf":
        return None
    return np.asarray(np.ma.filled(array.astype(np.float64), np.nan), dtype=np.float64)


def _count_categories(before: Any, after: Any) -> tuple[tuple[str, ...], Array, Array]:
    """Counts of categories in both samples."""
    texts = [
        [MISSING if is_missing(value) else label_text(value) for value in np.ma.asarray(values).tolist()]
        for values in (before, after)
    ]
    names = sorted({*texts[0], *texts[1]}, key=natural_order)
    index = {name: k for k, name in enumerate(names)}
    rows = [np.bincount([index[text] for text in one], minlength=len(names)).astype(np.float64) for one in texts]
    return tuple(names), rows[0], rows[1]


def migration(before: tuple[Any, Any], after: tuple[Any, Any], name: str, order: Sequence[str] = ()) -> Migration:
    """Migration of the cases of both samples: identifiers and grades before and after.

    >>> found = migration((["a", "b", "c"], ["1", "2", "2"]), (["b", "a", "d"], ["2", "2", "1"]), "grade")
    >>> found.matrix, found.only_before
    (((0.0, 1.0), (0.0, 1.0)), 1)
    """
    grades = [dict(zip(map(label_text, ids), map(label_text, values), strict=True)) for ids, values in (before, after)]
    for (ids, _), found in zip((before, after), grades, strict=True):
        if len(found) < len(ids):
            raise DataError(
                "an identifier occurs more than once in a sample.",
                seen=f"{grouped(len(ids))} rows, {grouped(len(found))} identifiers",
                hint="one row per case",
            )
    both = [one for one in grades[0] if one in grades[1]]
    if not both:
        raise DataError("no case is in both samples.", hint="--id COL, a column that names the cases in both")
    names = list(order) or sorted({*grades[0].values(), *grades[1].values()}, key=natural_order)
    unknown = [one for found in grades for one in found.values() if one not in names]
    if unknown:
        raise DataError(f"the grade {unknown[0]!r} is not in the order.", seen=listing(names), hint="name every grade")
    codes = [encode_with([found[one] for one in both], names) for found in grades]
    matrix = np.zeros((len(names), len(names)))
    np.add.at(matrix, tuple(codes), 1)
    counts = tuple(tuple(map(float, row)) for row in matrix)
    return Migration(name, tuple(names), counts, len(grades[0]) - len(both), len(grades[1]) - len(both))


def encode_with(labels: Sequence[str], names: Sequence[str]) -> NDArray[np.intp]:
    """Index of each label among the names."""
    index = {name: k for k, name in enumerate(names)}
    return np.array([index[label] for label in labels], dtype=np.intp)

"""Find columns that are equal, linearly or monotonically related, recoded, or nearly equal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import gammaln

from scorespace.audit.column import AuditedColumn
from scorespace.audit.column_kinds import number_text
from scorespace.audit.finding import Occurrence, finding
from scorespace.results import decimals

_MAX_SAMPLE_ROWS = 5_000
_N_ANCHORS = 200
_NEAR_RANK_CORRELATION = 0.9995
_NEAR_SHARE = 0.98
_MAX_LEVELS = 100


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """Fingerprint of a column: digests of its row codes, some of its values, and a sample of its rows.

    `surprise` is minus the log probability that a random column with the same counts agrees up to recoding;
    `ordered_surprise` that it agrees in order as well.
    """

    name: str
    number: bool
    feature: bool
    distinct: int
    common: bool
    order: bytes
    reverse: bytes
    alike: bytes
    surprise: float
    ordered_surprise: float
    values: NDArray[np.float64] = field(repr=False)
    codes: NDArray[np.int32] = field(repr=False)
    sample: NDArray[np.float64] = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """Fingerprints of all columns except the target."""

    prints: tuple[Fingerprint, ...]


def make_fingerprint(column: AuditedColumn, rows: NDArray[np.int64]) -> Fingerprint:
    """Fingerprint of a column; `rows` is the sample of rows shared by all columns."""
    values = column.held
    number = values.stored in ("number", "date")
    order, reverse, alike = values.digests()
    arrangements = float(gammaln(column.known + 1) - np.sum(gammaln(values.counts + 1)))
    _, repeated = np.unique(values.counts, return_counts=True)
    codes = values.codes[rows]
    half = np.linspace(0, (values.distinct - 1) // 2, min(values.distinct, _N_ANCHORS) // 2 + 1).astype(np.int64)
    places = np.unique(np.append(half, values.distinct - 1 - half))  # symmetric, so that reversed columns compare
    sample = np.append(values.values.astype(np.float64), np.nan)[codes] if number else codes.astype(np.float64)
    return Fingerprint(
        column.name,
        number,
        column.kind.feature,
        values.distinct,
        4 * values.distinct <= column.known,
        order,
        reverse,
        alike,
        arrangements - float(np.sum(gammaln(repeated + 1))),
        arrangements,
        values.values[places].astype(np.float64) if number else np.zeros(0),
        codes,
        sample,
        () if number else tuple(str(value) for value in values.values[:_MAX_LEVELS]),
    )


def sample_rows(rows: int) -> NDArray[np.int64]:
    """Evenly spaced rows at which near duplicates are compared."""
    return np.unique(np.linspace(0, rows - 1, min(rows, _MAX_SAMPLE_ROWS)).astype(np.int64))


@finding("SS120", "warning", "duplicate columns", "Keep one of them.")
def find_duplicates(prints: Fingerprints) -> Iterator[Occurrence]:
    pairs = max(1, len(prints.prints) * (len(prints.prints) - 1) // 2)
    reported: set[str] = set()
    for index, column in enumerate(prints.prints):
        if column.distinct < 2 or column.name in reported:
            continue
        found = [
            (other, relation)
            for other in prints.prints[index + 1 :]
            if other.distinct == column.distinct
            and other.name not in reported
            and (relation := _describe_relation(column, other, pairs))
        ]
        reported |= {other.name for other, _ in found}
        if found:
            group = [column, *(other for other, _ in found)]
            text = "; ".join(relation for _, relation in found) + "."
            level = "" if all(item.feature for item in group) else "info"
            names = tuple(item.name for item in group)
            yield Occurrence(names, text, {"columns": len(names)}, level=level)


def _describe_relation(first: Fingerprint, second: Fingerprint, pairs: int) -> str:
    """How the second column follows from the first; empty if it does not."""
    min_surprise = math.log(1000 * pairs)
    names = f"{first.name!r} and {second.name!r}"
    rising, falling = second.order == first.order, second.order == first.reverse
    if (
        first.number
        and second.number
        and (rising or falling)
        and min(first.ordered_surprise, second.ordered_surprise) > min_surprise
    ):
        theirs = second.values if rising else second.values[::-1]
        if rising and np.array_equal(first.values, theirs):
            return f"{names} are equal in every row"
        line = _linear_relation(first.values, theirs)
        if line:
            return f"{second.name!r} is {line.format(repr(first.name))} in every row"
        return f"{names} are {'increasing' if rising else 'decreasing'} functions of each other in every row"
    # Duplicate rows make any two columns of distinct values match, so only repeated labels count as recodings.
    if (
        first.alike == second.alike
        and first.common
        and second.common
        and min(first.surprise, second.surprise) > min_surprise
    ):
        if first.texts and first.texts == second.texts:
            return f"{names} are equal in every row"
        return f"{names} are one-to-one recodings of each other"
    return ""


def _linear_relation(x: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    """Linear relation as text if it holds for all points, otherwise empty."""
    if x.size < 3 or not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        return ""
    slope = (y[-1] - y[0]) / (x[-1] - x[0])
    level = y[0] - slope * x[0]
    if np.max(np.abs(level + slope * x - y)) > 1e-6 * max(abs(y[-1] - y[0]), 1e-300):
        return ""
    level = 0.0 if abs(level) < 1e-9 * np.max(np.abs(y)) else level
    shift = "" if level == 0 else f" {'+' if level > 0 else '−'} {number_text(abs(float(level)))}"
    return f"{number_text(float(slope))} · {{}}{shift}"


@finding("SS121", "warning", "nearly duplicate columns", "Check where they differ, and keep one.")
def find_near_duplicates(prints: Fingerprints) -> Iterator[Occurrence]:
    pairs = max(1, len(prints.prints) * (len(prints.prints) - 1) // 2)
    features = [column for column in prints.prints if column.feature and column.distinct > 1]
    distinct_columns = [
        one
        for index, one in enumerate(features)
        if not any(
            other.distinct == one.distinct and _describe_relation(other, one, pairs) for other in features[:index]
        )
    ]
    for one, other, share, rank in _find_near_pairs(distinct_columns):
        names, both = (one.name, other.name), f"{one.name!r} and {other.name!r}"
        if share >= _NEAR_SHARE:
            yield Occurrence(names, f"{both} agree in {100 * share:.1f} % of the rows.", {"share": share})
        else:
            text = f"{both} have almost the same ranks (rank correlation {decimals(rank, 4)})."
            yield Occurrence(names, text, {"rank_correlation": rank}, level="info")


def _find_near_pairs(prints: Sequence[Fingerprint]) -> Iterator[tuple[Fingerprint, Fingerprint, float, float]]:
    """Pairs that agree in nearly all sampled rows, or nearly in ranks, with both numbers."""
    numbers = [column for column in prints if column.number and column.distinct > 10]
    if len(numbers) > 1 and numbers[0].codes.size >= 30:
        ranks = np.stack([_normalised_ranks(column.codes) for column in numbers])
        correlations = np.nan_to_num(ranks @ ranks.T)
        for a, b in zip(*np.nonzero(np.triu(np.abs(correlations), 1) > 0.95), strict=True):
            share = _agreement_beyond_chance(numbers[a].sample, numbers[b].sample)
            if share >= _NEAR_SHARE or abs(correlations[a, b]) >= _NEAR_RANK_CORRELATION:
                yield numbers[a], numbers[b], share, float(correlations[a, b])
    labels = [
        column for column in prints if not (column.number and column.distinct > 10) and column.distinct <= _MAX_LEVELS
    ][:200]
    for index, column in enumerate(labels):
        for other in labels[index + 1 :]:
            share = _matched_label_share(column.codes, other.codes)
            if share >= _NEAR_SHARE:
                yield column, other, share, math.nan


def _normalised_ranks(codes: NDArray[np.int32]) -> NDArray[np.float64]:
    ranks = stats.rankdata(codes)
    ranks -= ranks.mean()
    length = float(np.sqrt(np.sum(ranks**2)))
    return ranks / length if length else ranks


def _agreement_beyond_chance(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Share of equal rows if it clearly exceeds chance agreement, otherwise 0."""
    both_known = ~(np.isnan(a) | np.isnan(b))
    if both_known.sum() < 30:
        return 0.0
    _, counts = np.unique(a[both_known], return_counts=True)
    chance = counts.max() / counts.sum()
    share = float(np.mean(a[both_known] == b[both_known]))
    return share if (share - chance) / (1 - chance) >= 0.9 else 0.0


def _matched_label_share(a: NDArray[np.int32], b: NDArray[np.int32]) -> float:
    """Share of rows that agree if each label is matched to its most frequent partner, in the worse direction."""
    both_known = (a >= 0) & (b >= 0)
    if both_known.sum() < 30:
        return 0.0
    high = int(b[both_known].max()) + 1
    cells = np.bincount(
        a[both_known].astype(np.int64) * high + b[both_known], minlength=(int(a[both_known].max()) + 1) * high
    )
    table = cells.reshape(-1, high)
    total = int(table.sum())
    chance = max(table.sum(axis=0).max(), table.sum(axis=1).max()) / total
    if chance > 0.98 or np.count_nonzero(table.sum(axis=0)) < 2 or np.count_nonzero(table.sum(axis=1)) < 2:
        return 0.0
    share = min(int(table.max(axis=0).sum()), int(table.max(axis=1).sum())) / total
    return share if (share - chance) / (1 - chance) >= 0.9 else 0.0

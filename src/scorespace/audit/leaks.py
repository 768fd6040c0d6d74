"""Target leakage: identifiers and row order sorted by the target, and columns that predict it too well."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from scorespace.audit.association import Association, MissingAssociation, TargetOutcome, spearman_test
from scorespace.audit.cheap_checks import sortedness
from scorespace.audit.finding import Occurrence, finding
from scorespace.audit.vocabulary import POST_OUTCOME_WORDS, name_words
from scorespace.comparisons.multiple_testing import holm
from scorespace.results import decimals, p_text

IMPLAUSIBLE_STRENGTH: Final = 0.985
"""AUC or R² that a single column should not reach."""

LEAK_SIGNIFICANCE: Final = 0.01
"""Family-wise error rate over all columns (Holm)."""

_LEADING_AUC = 0.7


@dataclass(frozen=True, eq=False)
class TargetOrder:
    """How the target is ordered along a column of numbers or times, or along the rows (no column)."""

    column: str
    time: bool
    place: NDArray[np.float64] = field(repr=False)
    sorted: float = 0.0
    rho: float = 0.0
    p: float = 1.0
    with_rows: float = 0.0


@dataclass(frozen=True, eq=False)
class LeakCandidates:
    """Relations of all columns with the target: orders (first that of the rows), associations, missingness."""

    target: TargetOutcome
    orders: list[TargetOrder]
    associations: list[Association] = field(default_factory=list)
    gaps: list[MissingAssociation] = field(default_factory=list)

    @cached_property
    def adjusted(self) -> list[float]:
        """Holm-adjusted p-values of orders, then associations."""
        p = [*(order.p for order in self.orders), *(item.p for item in self.associations)]
        return holm([1.0 if math.isnan(value) else value for value in p]).tolist() if p else []

    @property
    def by_column(self) -> list[tuple[Association, float]]:
        return list(zip(self.associations, self.adjusted[len(self.orders) :], strict=True))

    def sorting(self, least: float) -> Iterator[tuple[TargetOrder, float]]:
        """Orders that clearly sort the target, for classes at least to this degree.

        Orders that follow a time column are skipped: then the target may change over time without having been sorted.
        """
        times = [other for other in self.orders if other.time]
        for order, p in zip(self.orders, self.adjusted, strict=False):
            # A strong trend is not a sort.
            if (
                p < LEAK_SIGNIFICANCE
                and order.sorted >= (least if self.target.classes else 0.8)
                and not _is_explained_by_time(order, times)
            ):
                yield order, p

    def seen(self, order: TargetOrder, p: float, columns: tuple[str, ...], words: str) -> Occurrence:
        """Occurrence for an order that sorts the target."""
        tested = f"{decimals(order.rho)}, {p_text(p)} after Holm's correction for {len(self.adjusted)} tests."
        numbers = {"rank_correlation": order.rho, "sortedness": order.sorted, "p": order.p, "p_adjusted": p}
        return Occurrence((*columns, self.target.name), f"{words} {tested}", numbers, _example_rows(order, self.target))


def order_of_target(
    column: str, position: NDArray[np.float64], target: TargetOutcome, *, time: bool = False
) -> TargetOrder:
    """How sorted the target is along a column, and their rank correlation."""
    known = np.flatnonzero(np.isfinite(position))
    if known.size < 10:
        return TargetOrder(column, time, position)
    row_order = known[np.argsort(position[known], kind="stable")]
    codes = target.codes[row_order]
    truth = target.rank[known]
    if target.classes:  # classes are ordered by their mean position
        known_codes, known_position = target.codes[known], position[known]
        mean_position = np.array(
            [
                known_position[known_codes == k].mean() if (known_codes == k).any() else 0
                for k in range(len(target.classes))
            ]
        )
        truth = np.argsort(np.argsort(mean_position)).astype(np.float64)[target.codes[known]]
    rho, p = spearman_test(position[known], truth)
    with_rows = _rank_correlation(position[known], known.astype(np.float64))
    return TargetOrder(column, time, position, sortedness(codes, bool(target.classes)), rho, p, with_rows)


def _rank_correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    both_known = np.isfinite(a) & np.isfinite(b)
    x, y = stats.rankdata(a[both_known]), stats.rankdata(b[both_known])
    return float(np.corrcoef(x, y)[0, 1]) if x.size > 2 and np.ptp(x) and np.ptp(y) else 0.0


def _is_explained_by_time(order: TargetOrder, times: Sequence[TargetOrder]) -> bool:
    strong = [time for time in times if time is not order and abs(time.rho) >= 0.9 * abs(order.rho)]
    return any(abs(_rank_correlation(time.place, order.place)) >= 0.95 for time in strong)


@finding(
    "SS101",
    "warning",
    "an identifier predicts the target",
    "It was assigned after sorting by the target: exclude it from every model.",
    leak=True,
)
def identifier_leak(candidates: LeakCandidates) -> Iterator[Occurrence]:
    for order, p in candidates.sorting(0.9):
        if order.column and not order.time:
            row_text = ", as does the row order" if abs(order.with_rows) > 0.999 else ""
            words = f"{order.column!r} is an identifier, but predicts {candidates.target.name!r}{row_text}:"
            yield candidates.seen(order, p, (order.column,), f"{words} rank correlation")


@finding(
    "SS102",
    "warning",
    "the order of the rows predicts the target",
    "Shuffle before splitting, and exclude columns numbered along the rows.",
    leak=True,
)
def row_order_leak(candidates: LeakCandidates) -> Iterator[Occurrence]:
    is_reported = any(abs(order.with_rows) > 0.999 and not order.time for order in candidates.orders if order.column)
    for order, p in candidates.sorting(0.95):
        if not order.column and not is_reported:
            words = f"the rows are sorted by {candidates.target.name!r}: the rank correlation of the row number is"
            yield candidates.seen(order, p, (), words)


@finding(
    "SS103",
    "warning",
    "a single column nearly determines the target",
    "Check whether it is known before the target; if not, exclude it.",
    leak=True,
)
def single_column_leak(candidates: LeakCandidates) -> Iterator[Occurrence]:
    for association, p in candidates.by_column:
        if p >= LEAK_SIGNIFICANCE or (
            not math.isnan(association.neighbour_strength) and association.neighbour_strength < 0.9
        ):
            continue
        if association.strength >= IMPLAUSIBLE_STRENGTH:
            words = (
                f"{association.column!r} alone predicts {candidates.target.name!r} with {association.measure} "
                f"{decimals(association.strength)}"
            )
        elif association.class_strength >= IMPLAUSIBLE_STRENGTH and _names_class(
            association.labels, association.of_class
        ):
            words = (
                f"{association.column!r} alone separates {association.of_class!r} from the other classes of "
                f"{candidates.target.name!r} with AUC {decimals(association.class_strength)}, and one of its "
                "labels names that class"
            )
        else:
            continue
        yield Occurrence(
            (association.column, candidates.target.name),
            f"{words} (cross-fitted; {p_text(p)} after Holm's correction for {len(candidates.adjusted)} tests).",
            {
                "strength": association.strength,
                "class_strength": association.class_strength,
                "p": association.p,
                "p_adjusted": p,
            },
        )


@finding(
    "SS104",
    "warning",
    "the strongest column may be known only after the target",
    "Exclude it unless it is known at prediction time.",
    leak=True,
)
def post_outcome_column(candidates: LeakCandidates) -> Iterator[Occurrence]:
    """One column predicts far better than all others, and its name suggests that it follows the target."""
    ranked = sorted(candidates.by_column, key=lambda pair: -_strength_above_chance(pair[0]))
    if not ranked:
        return
    (first, p), rest = ranked[0], [_strength_above_chance(association) for association, _ in ranked[1:]]
    lead = _strength_above_chance(first) - max(rest, default=0.0)
    has_late_name = bool(name_words(first.column) & POST_OUTCOME_WORDS)
    is_far_ahead = _strength_above_chance(first) >= _LEADING_AUC - 0.5 and lead >= 0.3 * _strength_above_chance(first)
    if p < LEAK_SIGNIFICANCE and first.strength < IMPLAUSIBLE_STRENGTH and has_late_name and is_far_ahead:
        yield Occurrence(
            (first.column, candidates.target.name),
            f"{first.column!r} predicts {candidates.target.name!r} far better than any other column "
            f"({first.measure} {decimals(first.strength)}, cross-fitted; {p_text(p)}), and its name suggests that "
            "it is known only after the target.",
            {"strength": first.strength, "lead": lead, "p": first.p, "p_adjusted": p},
        )


def _strength_above_chance(association: Association) -> float:
    """AUC − 1/2, or another measure as it is; 0 if undefined."""
    strength = association.strength - 0.5 if association.measure == "AUC" else association.strength
    return 0.0 if math.isnan(strength) else strength


def _names_class(labels: Sequence[str], of_class: str) -> bool:
    """Whether a label shares a word stem with the class, such as 'Not_a_Fatality' and 'Fatal_Injury'."""
    stems = {word[:5] for word in re.split(r"[^a-z]+", of_class.lower()) if len(word) >= 5}
    return any(word[:5] in stems for label in labels for word in re.split(r"[^a-z]+", label.lower()) if len(word) >= 5)


def _example_rows(order: TargetOrder, target: TargetOutcome) -> tuple[dict[str, object], ...]:
    """First, middle and last row in this order."""
    known = np.flatnonzero(np.isfinite(order.place))
    row_order = known[np.argsort(order.place[known], kind="stable")]
    chosen = row_order[[0, row_order.size // 2, -1]]
    return tuple({"row": int(target.rows[row]) + 1} for row in chosen)

"""What hands the target to a model: identifiers and row order after sorting by it, and columns that know too much."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from scorespace.auditing.association import Association, Gap, Outcome, rank_p
from scorespace.auditing.finding import Seen, finding
from scorespace.auditing.free import sortedness
from scorespace.auditing.words import AFTERWARDS, name_words
from scorespace.comparisons.adjust import holm
from scorespace.frozen import dataclass
from scorespace.results import decimals, p_text

NEAR_ONE: Final = 0.985
"""An AUC or R² that one column alone should not reach."""

SURE: Final = 0.01
"""The chance of any false alarm among all columns, by Holm's correction."""

_LEADING = 0.7


@dataclass(frozen=True, eq=False)
class Order:
    """The target in the order of a column of numbers or times, or of the rows (no column)."""

    column: str
    time: bool
    place: NDArray[np.float64] = field(repr=False)
    sorted: float = 0.0
    rho: float = 0.0
    p: float = 1.0
    with_rows: float = 0.0


@dataclass(frozen=True, eq=False)
class Leads:
    """All that could lead to the target, column by column: orders, first that of the rows, associations and gaps."""

    target: Outcome
    orders: list[Order]
    associations: list[Association] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)

    @cached_property
    def adjusted(self) -> list[float]:
        """The p-values of orders, then of associations, all together by Holm's correction."""
        p = [*(one.p for one in self.orders), *(one.p for one in self.associations)]
        return holm([1.0 if math.isnan(value) else value for value in p]).tolist() if p else []

    @property
    def by_column(self) -> list[tuple[Association, float]]:
        return list(zip(self.associations, self.adjusted[len(self.orders) :], strict=True))

    def sorting(self, least: float) -> Iterator[tuple[Order, float]]:
        """The orders that surely sort the target, of classes to that degree at least.

        Not those that a column of times runs along with: then time may move the target, and nobody sorted by it.
        """
        times = [one for one in self.orders if one.time]
        for one, p in zip(self.orders, self.adjusted, strict=False):
            # A trend, however strong, does not sort.
            if p < SURE and one.sorted >= (least if self.target.classes else 0.8) and not _explained(one, times):
                yield one, p

    def seen(self, one: Order, p: float, columns: tuple[str, ...], words: str) -> Seen:
        """What is said of an order that sorts the target."""
        tested = f"{decimals(one.rho)}, {p_text(p)} after correction for {len(self.adjusted)} tests."
        numbers = {"rank_correlation": one.rho, "sortedness": one.sorted, "p": one.p, "p_adjusted": p}
        return Seen((*columns, self.target.name), f"{words} {tested}", numbers, _ends(one, self.target))


def ordered(column: str, place: NDArray[np.float64], target: Outcome, *, time: bool = False) -> Order:
    """The target in that order: how near to sorted, and its rank correlation where it has an order itself."""
    there = np.flatnonzero(np.isfinite(place))
    if there.size < 10:
        return Order(column, time, place)
    path = there[np.argsort(place[there], kind="stable")]
    codes = target.codes[path]
    truth = target.rank[there]
    if target.classes:  # classes have no order of their own: take them in that of their mean place
        middle = np.array([place[there][target.codes[there] == k].mean() if (target.codes[there] == k).any() else 0
                           for k in range(len(target.classes))])  # fmt: skip
        truth = np.argsort(np.argsort(middle)).astype(np.float64)[target.codes[there]]
    rho, p = rank_p(place[there], truth)
    with_rows = _rank_correlation(place[there], there.astype(np.float64))
    return Order(column, time, place, sortedness(codes, bool(target.classes)), rho, p, with_rows)


def _rank_correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    there = np.isfinite(a) & np.isfinite(b)
    x, y = stats.rankdata(a[there]), stats.rankdata(b[there])
    return float(np.corrcoef(x, y)[0, 1]) if x.size > 2 and np.ptp(x) and np.ptp(y) else 0.0


def _explained(one: Order, times: Sequence[Order]) -> bool:
    strong = [time for time in times if time is not one and abs(time.rho) >= 0.9 * abs(one.rho)]
    return any(abs(_rank_correlation(time.place, one.place)) >= 0.95 for time in strong)


@finding(
    "SS101",
    "warning",
    "an identifier predicts the target",
    "It was given after sorting by the target: leave it out of every model.",
    leak=True,
)
def identifier(leads: Leads) -> Iterator[Seen]:
    for one, p in leads.sorting(0.9):
        if one.column and not one.time:
            along = " (and so does the order of the rows, which is the same)" if abs(one.with_rows) > 0.999 else ""
            words = f"{one.column!r} is an identifier, and yet it predicts {leads.target.name!r}{along}:"
            yield leads.seen(one, p, (one.column,), f"{words} rank correlation")


@finding(
    "SS102",
    "warning",
    "the order of the rows predicts the target",
    "Shuffle before splitting, and leave out whatever was numbered along the rows.",
    leak=True,
)
def row_order(leads: Leads) -> Iterator[Seen]:
    told = any(abs(one.with_rows) > 0.999 and not one.time for one in leads.orders if one.column)
    for one, p in leads.sorting(0.95):
        if not one.column and not told:
            words = f"the rows are sorted by {leads.target.name!r}: the rank correlation of the row number is"
            yield leads.seen(one, p, (), words)


@finding(
    "SS103",
    "warning",
    "a single column gives the target away",
    "Ask whether it is known before the target is; if not, leave it out.",
    leak=True,
)
def giveaway(leads: Leads) -> Iterator[Seen]:
    for one, p in leads.by_column:
        if p >= SURE or (not math.isnan(one.steady) and one.steady < 0.9):
            continue
        if one.strength >= NEAR_ONE:
            words = f"{one.column!r} alone predicts {leads.target.name!r} with {one.measure} {decimals(one.strength)}"
        elif one.class_strength >= NEAR_ONE and _names_class(one.labels, one.of_class):
            words = (
                f"{one.column!r} alone tells {one.of_class!r} from the other classes of {leads.target.name!r} "
                f"with AUC {decimals(one.class_strength)}, and one of its labels speaks of that class"
            )
        else:
            continue
        yield Seen(
            (one.column, leads.target.name),
            f"{words} (cross-fitted; {p_text(p)} after correction for {len(leads.adjusted)} tests).",
            {"strength": one.strength, "class_strength": one.class_strength, "p": one.p, "p_adjusted": p},
        )


@finding(
    "SS104",
    "warning",
    "the leading column may be known only afterwards",
    "Leave it out unless it is known when the prediction is needed.",
    leak=True,
)
def afterwards(leads: Leads) -> Iterator[Seen]:
    """One column predicts far better than every other, and its name says that it comes after the target."""
    ranked = sorted(leads.by_column, key=lambda pair: -_effect(pair[0]))
    if not ranked:
        return
    (first, p), rest = ranked[0], [_effect(one) for one, _ in ranked[1:]]
    lead = _effect(first) - max(rest, default=0.0)
    late = bool(name_words(first.column) & AFTERWARDS)
    far = _effect(first) >= _LEADING - 0.5 and lead >= 0.3 * _effect(first)
    if p < SURE and first.strength < NEAR_ONE and late and far:
        yield Seen(
            (first.column, leads.target.name),
            f"{first.column!r} predicts {leads.target.name!r} far better than any other column "
            f"({first.measure} {decimals(first.strength)}, cross-fitted; {p_text(p)}), and its name suggests that "
            "it is known only once the target is.",
            {"strength": first.strength, "lead": lead, "p": first.p, "p_adjusted": p},
        )


def _effect(one: Association) -> float:
    """The strength above chance: AUC − 1/2, or what else it is as such."""
    found = one.strength - 0.5 if one.measure == "AUC" else one.strength
    return 0.0 if math.isnan(found) else found


def _names_class(labels: Sequence[str], of_class: str) -> bool:
    """Whether a label of the column shares a word stem with the class: 'Not_a_Fatality' and 'Fatal_Injury'."""
    stems = {word[:5] for word in re.split(r"[^a-z]+", of_class.lower()) if len(word) >= 5}
    return any(word[:5] in stems for label in labels for word in re.split(r"[^a-z]+", label.lower()) if len(word) >= 5)


def _ends(one: Order, target: Outcome) -> tuple[dict[str, object], ...]:
    """The first, middle and last row in that order."""
    there = np.flatnonzero(np.isfinite(one.place))
    path = there[np.argsort(one.place[there], kind="stable")]
    shown = path[[0, path.size // 2, -1]]
    return tuple({"row": int(target.rows[row]) + 1} for row in shown)

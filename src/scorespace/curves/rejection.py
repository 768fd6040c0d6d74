"""Rejection: how accuracy grows when the least certain cases are handed to somebody else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Annotated, Final

import numpy as np

from scorespace.conditions import Condition, CostMatrix
from scorespace.curves.brier import probabilities
from scorespace.curves.curve import UNIT, Curve, curve
from scorespace.curves.hull import ALWAYS, NEVER
from scorespace.errors import ConditionError, CurveError
from scorespace.frozen import dataclass
from scorespace.special import digamma
from scorespace.tables import Array, ClassTable, ScoreTable, ratio
from scorespace.tables.lead import LeadTable
from scorespace.tables.score import grouped_scores


def margin_table(table: ScoreTable, at: float = 0.5) -> ScoreTable:
    """The score table whose score is the distance from the threshold and whose classes are right and wrong.

    >>> from scorespace.tables import score_table
    >>> margin_table(score_table([1, 0, 1, 0], [0.9, 0.4, 0.3, 0.1])).pos
    array([2., 0., 1.])
    """
    decided = table.score >= table.in_precision(at)
    right = np.where(decided, table.pos, table.neg)
    score, counts = grouped_scores(margins_of(table.score, at), np.stack([table.pos + table.neg - right, right]))
    return ScoreTable(score, counts, ("wrong", "right"), 1, table.resolution)


def margins_of(score: Array, at: float) -> Array:
    # 0.7 and 0.3 are equally far from 0.5, but not in floating point: compare at 12 decimals of their size.
    size = np.ldexp(1.0, np.frexp(np.max(np.abs([*score[:1], *score[-1:], at])))[1] - 1)
    return np.asarray(np.round(np.abs(score - at) / size, 12) * size) if size else np.abs(score - at)


@dataclass(frozen=True, eq=False, repr=False)
class RejectionCurve(Curve):
    """Accuracy among the kept cases (y) against the share rejected (x); equal margins leave together."""

    table: ScoreTable

    def area(self) -> float:
        """Mean error among the k most certain cases, over all k (AURC): lower is better."""
        return float(risk_area(self.table.neg, self.table.pos + self.table.neg))


def risk_area(wrong: Array, size: Array) -> Array:
    """The mean error among the k most certain cases over all k, of groups (…, m) from the most certain on.

    Within a group of equal margins the errors are spread evenly.
    """
    before, errors = (np.cumsum(each, axis=-1) - each for each in (size, wrong))
    share = np.where(size > 0, ratio(wrong, size), 0.0)
    # Σ_{k=b+1}^{b+s} (E + share·(k − b))/k = s·share + (E − share·b)·(H_{b+s} − H_b)
    sums = wrong + (errors - share * before) * (_harmonic(before + size) - _harmonic(before))
    return ratio(sums.sum(axis=-1), size.sum(axis=-1))


@curve(
    title="Rejection curve",
    x="Share rejected",
    y="Accuracy of the rest",
    aliases=("accuracy_rejection", "risk_coverage"),
    x_ends=UNIT,
    from_zero=False,
    placed="at",
    area="the mean error over all shares kept (AURC); lower is better",
)
def rejection(
    table: ScoreTable,
    *,
    at: Annotated[float | None, "the threshold; that of the model unless stated, else 0.5"] = None,
) -> RejectionCurve:
    """Accuracy on the cases kept when those nearest to the threshold are rejected first.

    Of several classes, those first whose highest score leads least.

    >>> from scorespace.tables import score_table
    >>> rejection(score_table([1, 0, 1, 0], [0.9, 0.4, 0.3, 0.1])).y
    array([0.75      , 0.66666667, 1.        ])
    """
    return by_margin(margin_table(table, 0.5 if at is None else at))


@rejection.on
def _by_lead(table: ClassTable | LeadTable, *, at: float | None = None) -> RejectionCurve:
    if at is not None:
        raise CurveError(
            "rejection of several classes has no threshold: the lead of the highest score counts.", hint="rejection"
        )
    return by_margin(table.margins)


def by_margin(margins: ScoreTable) -> RejectionCurve:
    kept = margins.sweep[1:]  # rejecting everything leaves no accuracy
    x, y = 1 - ratio(kept.pp, kept.total), ratio(kept.tp, kept.pp)
    return RejectionCurve("rejection", x[::-1], y[::-1], margins.score[::-1], rejection.x, rejection.y, margins)


REJECT_ALL: Final = "reject all"
DECIDE_ALL: Final = "decide all"


@dataclass(frozen=True, eq=False)
class Prices:
    """What each cell of a table costs under a rule, and under the rules that reject nothing or everything.

    `weight` is that of the cells, `positive` which of them are of the positive class, `right` which decisions of each
    rule are right. The last `spare` cells are without weight: what no case cost is rare, and not impossible.
    """

    weight: Array
    positive: Array
    paid: Array
    beside: Mapping[str, Array]
    right: Mapping[str, Array]
    spare: int


@dataclass(frozen=True)
class RejectRule:
    """Chow's rule for calibrated probabilities: reject a case when every decision is expected to cost more.

    Without other costs, when max(p, 1 − p) < 1 − cost. `cost` is that per case. Of several classes there is no zone,
    and without a cost matrix a `lead` of the best class over the second below which a case is rejected; it is chosen on
    the cases, so `honest` is the cost on others. `outcomes` are the cases that cost alike, by what each costs: of both
    classes apart where the share of positives is stated.
    """

    low: float
    high: float
    rejected: float
    accuracy: float
    cost: float
    lead: float | None = None
    honest: float | None = None
    outcomes: tuple[Mapping[float, float], ...] = field(default=(), repr=False)
    prices: Prices | None = field(default=None, repr=False, compare=False)


def chow(table: ScoreTable, cost: float, condition: Condition | None = None) -> RejectRule:
    """Chow's rule when an error costs 1, or as stated, and a rejection `cost`: the zone, and what it does here.

    A case is rejected when both p·tp + (1 − p)·fp and p·fn + (1 − p)·tn are above `cost`. With a stated prevalence,
    p is that of a case there, and so is the share of each class in what it costs.

    >>> from scorespace.tables import score_table
    >>> chow(score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1]), cost=0.2)
    RejectRule(low=0.2, high=0.8, rejected=0.5, accuracy=1.0, cost=0.1, lead=None, honest=None)
    """
    c = Condition() if condition is None else condition
    if c.fn <= c.tn or c.fp <= c.tp:
        raise ConditionError(
            "between these costs there is nobody to hand doubtful cases to: an error is cheaper than a right decision.",
            seen=f"fp={c.fp:g}, tn={c.tn:g}, fn={c.fn:g}, tp={c.tp:g}",
            hint="each error must cost more than either right decision",
        )
    cut = c.calibrated_threshold
    least, most = min(c.tp, c.tn), c.tn + cut * (c.fn - c.tn)
    if not least <= cost <= most:
        beside = f" is no choice beside errors that cost {c.fp:g} and {c.fn:g}."
        problem = f"a rejection that costs {cost:g}" + (" errors is no choice." if condition is None else beside)
        raise ConditionError(problem, hint=f"between {least:.4g} and {most:.4g}")
    score, there = probabilities(table), _in_use(table, c.prevalence)
    zone = [(cost - c.tn) / (c.fn - c.tn), (c.fp - cost) / (c.fp - c.tp)]
    low, high = (_here(min(max(p, 0.0), 1.0), *there) for p in zone)
    rejected = (score > low) & (score < high)
    alarm = (score >= _here(cut, *there)) & ~rejected
    quiet = ~alarm & ~rejected
    sides = [
        (table.pos, ((alarm, c.tp), (quiet, c.fn), (rejected, cost))),
        (table.neg, ((alarm, c.fp), (quiet, c.tn), (rejected, cost))),
    ]
    outcomes = [_by_price((price, float(cases[where].sum())) for where, price in spent) for cases, spent in sides]
    pos, neg = (cases * times for (cases, _), times in zip(sides, there, strict=True))
    total = float((pos + neg).sum())
    share = float((pos + neg)[rejected].sum()) / total
    accuracy = float(ratio(pos[alarm].sum() + neg[quiet].sum(), (pos + neg)[~rejected].sum()))
    paid = sum(
        times * price * cases for times, one in zip(there, outcomes, strict=True) for price, cases in one.items()
    )
    if c.prevalence is None:
        outcomes = [_by_price(pair for one in outcomes for pair in one.items())]
    every = score >= _here(cut, *there)
    prices = _prices_of_two(table, c, cost, every, rejected)
    return RejectRule(low, high, share, accuracy, paid / total, outcomes=tuple(outcomes), prices=prices)


def _prices_of_two(table: ScoreTable, c: Condition, cost: float, alarm: Array, rejected: Array) -> Prices:
    """The prices of the cells of a score table; behind them one cell for each outcome that there can be."""
    size, classes = table.score.size, len(table.classes)
    positive = np.repeat(np.arange(classes) == table.positive, size)
    weight = np.broadcast_to(table.counts, (classes, size)).reshape(-1).astype(np.float64)
    four = np.array([True, False, True, False])
    positive = np.concatenate([positive, np.repeat([True, False], 4)])
    alarm = np.concatenate([np.tile(alarm, classes), four, four])
    rejected = np.concatenate([np.tile(rejected, classes), np.repeat([True, False, True, False], 2)])
    kept = np.where(positive, np.where(alarm, c.tp, c.fn), np.where(alarm, c.fp, c.tn))
    beside = {
        REJECT_ALL: np.full(positive.size, float(cost)),
        DECIDE_ALL: kept,
        ALWAYS: np.where(positive, c.tp, c.fp),
        NEVER: np.where(positive, c.fn, c.tn),
    }
    right = {DECIDE_ALL: alarm == positive, ALWAYS: positive, NEVER: ~positive}
    weight = np.concatenate([weight, np.zeros(8)])
    return Prices(weight, positive, np.where(rejected, cost, kept), beside, right, 8)


def chow_of_classes(table: ClassTable, cost: float, costs: CostMatrix) -> RejectRule:
    """Chow's rule of several classes: each case has the decision of least expected cost, and none above `cost`.

    >>> import numpy as np
    >>> table = ClassTable(np.array([[0.9, 0.5], [0.1, 0.5]]), np.array([0, 1]), ("a", "b"))
    >>> chow_of_classes(table, 0.3, CostMatrix(("a", "b"), [[0, 1], [1, 0]])).cost
    0.15
    """
    least = float(costs.matrix.min())
    if not cost >= least:
        problem = f"a rejection that costs {cost:g} is cheaper than any decision, so all cases would be handed over."
        raise ConditionError(problem, hint=f"at least {least:.4g}")
    if not table.probabilities:
        raise ConditionError("expected costs of several classes need probabilities.", hint="scores that add up to 1")
    aligned = costs.aligned(table.classes)
    expected, weight = aligned.expected(table.score.T), table.case_weight
    decided, rejected = expected.argmin(axis=1), expected.min(axis=1) > cost
    price = np.where(rejected, cost, aligned.matrix[table.label, decided])
    total, kept = float(weight.sum()), float(weight[~rejected].sum())
    right = float(weight[~rejected & (decided == table.label)].sum())
    # What no case cost is rare, and not impossible; handing over for more than the dearest decision is.
    possible = np.append(aligned.matrix, cost) if cost <= aligned.matrix.max() else aligned.matrix
    values = np.unique(possible)
    counts = np.bincount(np.searchsorted(values, price), weight, minlength=values.size)
    outcomes = dict(zip(values.tolist(), counts.tolist(), strict=True))
    spent = float(weight @ price) / total
    accuracy = right / kept if kept else math.nan
    prices = _prices_of_classes(aligned, cost, table.label, decided, rejected, weight)
    return RejectRule(math.nan, math.nan, 1 - kept / total, accuracy, spent, outcomes=(outcomes,), prices=prices)


def _prices_of_classes(
    costs: CostMatrix, cost: float, label: Array, decided: Array, rejected: Array, weight: Array
) -> Prices:
    """The prices of cases of several classes; behind them one cell for each outcome that there can be."""
    size = len(costs.classes)
    actual, taken = (side.ravel() for side in np.indices((size, size)))
    label, decided = np.concatenate([label, actual, actual]), np.concatenate([decided, taken, taken])
    rejected = np.concatenate([rejected, np.zeros(size**2, bool), np.full(size**2, cost <= costs.matrix.max())])
    kept = costs.matrix[label, decided]
    beside = {REJECT_ALL: np.full(label.size, float(cost)), DECIDE_ALL: kept}
    beside |= {f"always {name}": costs.matrix[label, k] for k, name in enumerate(costs.classes)}
    right = {DECIDE_ALL: decided == label} | {f"always {name}": label == k for k, name in enumerate(costs.classes)}
    weight = np.concatenate([weight, np.zeros(2 * size**2)])
    return Prices(weight, np.ones(label.size, bool), np.where(rejected, cost, kept), beside, right, 2 * size**2)


def _in_use(table: ScoreTable, prevalence: float | None) -> tuple[float, float]:
    """How many times as common the positives and the negatives are where the model will be used."""
    share = float(table.n_pos) / float(table.total)
    if prevalence is None or not 0 < share < 1:
        return 1.0, 1.0
    return prevalence / share, (1 - prevalence) / (1 - share)


def _here(p: float, positives: float, negatives: float) -> float:
    """The probability in the sample of a case that has `p` where the classes are so many times as common."""
    return p if positives == negatives else p / positives / (p / positives + (1 - p) / negatives)


def _by_price(pairs: Iterable[tuple[float, float]]) -> dict[float, float]:
    found: dict[float, float] = {}
    for price, cases in pairs:
        found[price] = found.get(price, 0.0) + cases
    return found


def _harmonic(n: Array) -> Array:
    """Harmonic numbers, also of weights that are not whole: H_n = ψ(n + 1) + γ."""
    return np.asarray(digamma(n + 1) + np.euler_gamma)

"""Reject option: accuracy–rejection curves, and Chow's rule for rejecting uncertain cases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

import numpy as np
from scipy.special import digamma

from scorespace.costs import Condition, CostMatrix
from scorespace.curves.brier import probabilities
from scorespace.curves.curve import UNIT, Curve, curve
from scorespace.curves.hull import ALWAYS, NEVER
from scorespace.errors import ConditionError, CurveError
from scorespace.tables import Array, ClassTable, ScoreTable, ratio
from scorespace.tables.margin import MarginTable
from scorespace.tables.score_arrays import merge_equal_scores


def margin_table(table: ScoreTable, at: float = 0.5) -> ScoreTable:
    """Score table whose score is the distance from the threshold; correct decisions are the positive class.

    >>> from scorespace.tables import score_table
    >>> margin_table(score_table([1, 0, 1, 0], [0.9, 0.4, 0.3, 0.1])).pos
    array([2., 0., 1.])
    """
    is_positive = table.score >= table.in_precision(at)
    correct = np.where(is_positive, table.pos, table.neg)
    score, counts = merge_equal_scores(
        threshold_margins(table.score, at), np.stack([table.pos + table.neg - correct, correct])
    )
    return ScoreTable(score, counts, ("wrong", "right"), 1, table.resolution)


def threshold_margins(score: Array, at: float) -> Array:
    """Distance of each score from the threshold, rounded so that equal distances tie."""
    # 0.7 and 0.3 are equally far from 0.5, but not in floating point: round to 12 decimals relative to their size.
    size = np.ldexp(1.0, np.frexp(np.max(np.abs([*score[:1], *score[-1:], at])))[1] - 1)
    return np.asarray(np.round(np.abs(score - at) / size, 12) * size) if size else np.abs(score - at)


@dataclass(frozen=True, eq=False, repr=False)
class RejectionCurve(Curve):
    """Accuracy of the accepted cases (y) against the share rejected (x); equal margins are rejected together."""

    table: ScoreTable

    def area(self) -> float:
        """Area under the risk–coverage curve (AURC): mean error of the k most certain cases, over all k."""
        return float(risk_area(self.table.neg, self.table.pos + self.table.neg))


def risk_area(wrong: Array, size: Array) -> Array:
    """Mean error of the k most certain cases over all k; groups (…, m) in descending order of certainty.

    Within a group of equal margins the errors are spread evenly (Geifman & El-Yaniv 2017).
    """
    before, errors = (np.cumsum(counts, axis=-1) - counts for counts in (size, wrong))
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
    """Accuracy of the accepted cases if those closest to the threshold are rejected first.

    For a multiclass model, cases with the smallest margin of the highest score over the second are rejected first.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.
    at : float, optional
        The threshold; that of the model unless stated, else 0.5.

    Returns
    -------
    RejectionCurve
        Share rejected (x) and accuracy of the rest (y).

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> rejection(score_table([1, 0, 1, 0], [0.9, 0.4, 0.3, 0.1])).y
    array([0.75      , 0.66666667, 1.        ])
    """
    return by_margin(margin_table(table, 0.5 if at is None else at))


@rejection.on
def _multiclass_rejection(table: ClassTable | MarginTable, *, at: float | None = None) -> RejectionCurve:
    if at is not None:
        raise CurveError(
            "rejection of a multiclass model has no threshold: it is by the margin of the highest score.",
            hint="rejection",
        )
    return by_margin(table.margins)


def by_margin(margins: ScoreTable) -> RejectionCurve:
    """The rejection curve of a score table of margins."""
    accepted = margins.sweep[1:]  # the accuracy is undefined if everything is rejected
    x, y = 1 - ratio(accepted.pp, accepted.total), ratio(accepted.tp, accepted.pp)
    return RejectionCurve("rejection", x[::-1], y[::-1], margins.score[::-1], rejection.x, rejection.y, margins)


REJECT_ALL: Final = "reject all"
DECIDE_ALL: Final = "decide all"


@dataclass(frozen=True, eq=False)
class CellCosts:
    """Cost of each cell of a table under a reject rule (`paid`), and under the trivial rules (`beside`).

    `weight` is the weight of the cells, `positive` marks cells of the positive class, `right` the correct decisions of
    each rule. The last `spare` cells have zero weight: they represent outcomes that are possible but did not occur.
    """

    weight: Array
    positive: Array
    paid: Array
    beside: Mapping[str, Array]
    right: Mapping[str, Array]
    spare: int


@dataclass(frozen=True)
class RejectRule:
    """Chow's (1970) rule for calibrated probabilities: reject a case if every decision has a higher expected cost.

    With equal error costs of 1 this means max(p, 1 − p) < 1 − cost. `cost` is the cost per case. For a multiclass model
    there is no rejection zone; without a cost matrix, cases are rejected below a margin `lead` of the best class over
    the second, which is chosen on these cases, so `out_of_sample` is the out-of-sample cost. `outcomes` maps each cost
    to the weight of the cases with it, separately for both classes if a prevalence is stated.
    """

    low: float
    high: float
    rejected: float
    accuracy: float
    cost: float
    lead: float | None = None
    out_of_sample: float | None = None
    outcomes: tuple[Mapping[float, float], ...] = field(default=(), repr=False)
    prices: CellCosts | None = field(default=None, repr=False, compare=False)


def chow(table: ScoreTable, cost: float, condition: Condition | None = None) -> RejectRule:
    """Chow's rule if an error costs 1, or as stated, and a rejection `cost`: the rejection zone and its performance.

    A case is rejected if both p·tp + (1 − p)·fp and p·fn + (1 − p)·tn exceed the cost of a rejection. With a stated
    prevalence, p and the class shares are those of that population.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.
    cost : float
        Cost of rejecting a case.
    condition : Condition, optional
        Costs of the outcomes, and the prevalence; by default each error costs 1.

    Returns
    -------
    RejectRule
        The rejection zone, the share rejected, and the accuracy and cost that result.

    References
    ----------
    Chow, C. K. (1970). On optimum recognition error and reject tradeoff. IEEE Transactions on Information Theory,
    16(1), 41-46.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> chow(score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1]), cost=0.2)
    RejectRule(low=0.2, high=0.8, rejected=0.5, accuracy=1.0, cost=0.1, lead=None, out_of_sample=None)
    """
    c = Condition() if condition is None else condition
    if c.fn <= c.tn or c.fp <= c.tp:
        raise ConditionError(
            "with these costs no case can be rejected: an error is cheaper than a correct decision.",
            seen=f"fp={c.fp:g}, tn={c.tn:g}, fn={c.fn:g}, tp={c.tp:g}",
            hint="each error must cost more than either correct decision",
        )
    cut = c.calibrated_threshold
    least, most = min(c.tp, c.tn), c.tn + cut * (c.fn - c.tn)
    if not least <= cost <= most:
        costs = f" is never or always optimal with errors that cost {c.fp:g} and {c.fn:g}."
        problem = f"a rejection cost of {cost:g}" + (" errors is never optimal." if condition is None else costs)
        raise ConditionError(problem, hint=f"between {least:.4g} and {most:.4g}")
    score, factors = probabilities(table), _class_factors(table, c.prevalence)
    zone = [(cost - c.tn) / (c.fn - c.tn), (c.fp - cost) / (c.fp - c.tp)]
    limits = [_to_sample(min(max(p, 0.0), 1.0), *factors) for p in (*zone, cut)]
    low, high, cut = table.in_precision(limits).tolist()
    rejected = (score > low) & (score < high)
    is_positive = (score >= cut) & ~rejected
    is_negative = ~is_positive & ~rejected
    sides = [
        (table.pos, ((is_positive, c.tp), (is_negative, c.fn), (rejected, cost))),
        (table.neg, ((is_positive, c.fp), (is_negative, c.tn), (rejected, cost))),
    ]
    outcomes = [_sum_by_price((price, float(cases[where].sum())) for where, price in spent) for cases, spent in sides]
    pos, neg = (cases * factor for (cases, _), factor in zip(sides, factors, strict=True))
    total = float((pos + neg).sum())
    share = float((pos + neg)[rejected].sum()) / total
    accuracy = float(ratio(pos[is_positive].sum() + neg[is_negative].sum(), (pos + neg)[~rejected].sum()))
    paid = sum(
        factor * price * cases
        for factor, by_price in zip(factors, outcomes, strict=True)
        for price, cases in by_price.items()
    )
    if c.prevalence is None:
        outcomes = [_sum_by_price(pair for by_price in outcomes for pair in by_price.items())]
    without_rejection = score >= cut
    prices = _binary_costs(table, c, cost, without_rejection, rejected)
    return RejectRule(low, high, share, accuracy, paid / total, outcomes=tuple(outcomes), prices=prices)


def _binary_costs(table: ScoreTable, c: Condition, cost: float, is_positive: Array, rejected: Array) -> CellCosts:
    """Costs of the cells of a score table, followed by one cell for each possible outcome."""
    size, classes = table.score.size, len(table.classes)
    positive = np.repeat(np.arange(classes) == table.positive, size)
    weight = np.broadcast_to(table.counts, (classes, size)).reshape(-1).astype(np.float64)
    decisions = np.array([True, False, True, False])
    positive = np.concatenate([positive, np.repeat([True, False], 4)])
    is_positive = np.concatenate([np.tile(is_positive, classes), decisions, decisions])
    rejected = np.concatenate([np.tile(rejected, classes), np.repeat([True, False, True, False], 2)])
    decided = np.where(positive, np.where(is_positive, c.tp, c.fn), np.where(is_positive, c.fp, c.tn))
    beside = {
        REJECT_ALL: np.full(positive.size, float(cost)),
        DECIDE_ALL: decided,
        ALWAYS: np.where(positive, c.tp, c.fp),
        NEVER: np.where(positive, c.fn, c.tn),
    }
    right = {DECIDE_ALL: is_positive == positive, ALWAYS: positive, NEVER: ~positive}
    weight = np.concatenate([weight, np.zeros(8)])
    return CellCosts(weight, positive, np.where(rejected, cost, decided), beside, right, 8)


def multiclass_chow(table: ClassTable, cost: float, costs: CostMatrix) -> RejectRule:
    """Multiclass Chow rule: decide for the lowest expected cost, and reject if that exceeds `cost`.

    >>> import numpy as np
    >>> table = ClassTable(np.array([[0.9, 0.5], [0.1, 0.5]]), np.array([0, 1]), ("a", "b"))
    >>> multiclass_chow(table, 0.3, CostMatrix(("a", "b"), [[0, 1], [1, 0]])).cost
    0.15
    """
    least = float(costs.matrix.min())
    if not cost >= least:
        problem = f"a rejection cost of {cost:g} is below that of any decision, so all cases would be rejected."
        raise ConditionError(problem, hint=f"at least {least:.4g}")
    if not table.probabilities:
        raise ConditionError("expected costs of a multiclass model need probabilities.", hint="scores that sum to 1")
    aligned = costs.aligned(table.classes)
    expected, weight = aligned.expected(table.score.T), table.case_weight
    decided, rejected = expected.argmin(axis=1), expected.min(axis=1) > cost
    price = np.where(rejected, cost, aligned.matrix[table.label, decided])
    total, accepted = float(weight.sum()), float(weight[~rejected].sum())
    right = float(weight[~rejected & (decided == table.label)].sum())
    # Costs that did not occur are possible, except a rejection that costs more than any decision.
    possible = np.append(aligned.matrix, cost) if cost <= aligned.matrix.max() else aligned.matrix
    values = np.unique(possible)
    counts = np.bincount(np.searchsorted(values, price), weight, minlength=values.size)
    outcomes = dict(zip(values.tolist(), counts.tolist(), strict=True))
    spent = float(weight @ price) / total
    accuracy = right / accepted if accepted else math.nan
    prices = _multiclass_costs(aligned, cost, table.label, decided, rejected, weight)
    return RejectRule(math.nan, math.nan, 1 - accepted / total, accuracy, spent, outcomes=(outcomes,), prices=prices)


def _multiclass_costs(
    costs: CostMatrix, cost: float, label: Array, decided: Array, rejected: Array, weight: Array
) -> CellCosts:
    """Costs of multiclass cases, followed by one cell for each possible outcome."""
    size = len(costs.classes)
    actual, decision = (side.ravel() for side in np.indices((size, size)))
    label, decided = np.concatenate([label, actual, actual]), np.concatenate([decided, decision, decision])
    rejected = np.concatenate([rejected, np.zeros(size**2, bool), np.full(size**2, cost <= costs.matrix.max())])
    decision_cost = costs.matrix[label, decided]
    beside = {REJECT_ALL: np.full(label.size, float(cost)), DECIDE_ALL: decision_cost}
    beside |= {f"always {name}": costs.matrix[label, k] for k, name in enumerate(costs.classes)}
    right = {DECIDE_ALL: decided == label} | {f"always {name}": label == k for k, name in enumerate(costs.classes)}
    weight = np.concatenate([weight, np.zeros(2 * size**2)])
    paid = np.where(rejected, cost, decision_cost)
    return CellCosts(weight, np.ones(label.size, bool), paid, beside, right, 2 * size**2)


def _class_factors(table: ScoreTable, prevalence: float | None) -> tuple[float, float]:
    """Factors of positives and negatives from the sample to the population in use."""
    share = float(table.n_pos) / float(table.total)
    if prevalence is None or not 0 < share < 1:
        return 1.0, 1.0
    return prevalence / share, (1 - prevalence) / (1 - share)


def _to_sample(p: float, positives: float, negatives: float) -> float:
    """Convert a probability in the population in use to the sample, given the class factors."""
    return p if positives == negatives else p / positives / (p / positives + (1 - p) / negatives)


def _sum_by_price(pairs: Iterable[tuple[float, float]]) -> dict[float, float]:
    sums: dict[float, float] = {}
    for price, cases in pairs:
        sums[price] = sums.get(price, 0.0) + cases
    return sums


def _harmonic(n: Array) -> Array:
    """Harmonic numbers, also for fractional weights: H_n = ψ(n + 1) + γ."""
    return np.asarray(digamma(n + 1) + np.euler_gamma)

"""Rejection: how accuracy grows when the least certain cases are handed to somebody else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from scorespace.conditions import Condition
from scorespace.curves.brier import probabilities
from scorespace.curves.curve import UNIT, Curve, curve
from scorespace.errors import ConditionError, CurveError
from scorespace.tables import Array, ClassTable, ScoreTable, ratio
from scorespace.tables.lead import LeadTable
from scorespace.tables.score import grouped_scores


def margin_table(table: ScoreTable, at: float = 0.5) -> ScoreTable:
    """The score table whose score is the distance from the threshold and whose classes are right and wrong.

    >>> from scorespace.tables import score_table
    >>> margin_table(score_table([1, 0, 1, 0], [0.9, 0.4, 0.3, 0.1])).pos
    array([2., 0., 1.])
    """
    decided = table.score >= at
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
        """Mean error among the k most certain cases, over all k (AURC): lower is better.

        Within a group of equal margins the errors are spread evenly.
        """
        wrong, size = self.table.neg, self.table.pos + self.table.neg
        before = np.cumsum(size) - size
        errors = np.cumsum(wrong) - wrong
        share = ratio(wrong, size)
        # Σ_{k=b+1}^{b+s} (E + share·(k − b))/k = s·share + (E − share·b)·(H_{b+s} − H_b)
        sums = size * share + (errors - share * before) * (_harmonic(before + size) - _harmonic(before))
        return float(sums.sum() / size.sum())


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
def _rejection_of_classes(table: ClassTable, *, at: float | None = None) -> RejectionCurve:
    return _by_lead(table.margins, at)


@rejection.on
def _rejection_of_leads(table: LeadTable, *, at: float | None = None) -> RejectionCurve:
    return _by_lead(table.margins, at)


def _by_lead(margins: ScoreTable, at: float | None) -> RejectionCurve:
    if at is not None:
        raise CurveError(
            "rejection of several classes has no threshold: the lead of the highest score counts.", hint="rejection"
        )
    return by_margin(margins)


def by_margin(margins: ScoreTable) -> RejectionCurve:
    kept = margins.sweep[1:]  # rejecting everything leaves no accuracy
    x, y = 1 - ratio(kept.pp, kept.total), ratio(kept.tp, kept.pp)
    return RejectionCurve("rejection", x[::-1], y[::-1], margins.score[::-1], rejection.x, rejection.y, margins)


@dataclass(frozen=True)
class RejectRule:
    """Chow's rule for calibrated probabilities: reject a case when either decision is expected to cost more.

    Without other costs, when max(p, 1 − p) < 1 − cost. `cost` is that per case. Of several classes there is no zone,
    but a `lead` of the best class over the second below which a case is rejected; it is chosen on the cases, so
    `honest` is the cost on others.
    """

    low: float
    high: float
    rejected: float
    accuracy: float
    cost: float
    lead: float | None = None
    honest: float | None = None


def chow(table: ScoreTable, cost: float, condition: Condition | None = None) -> RejectRule:
    """Chow's rule when an error costs 1, or as stated, and a rejection `cost`: the zone, and what it does here.

    >>> from scorespace.tables import score_table
    >>> chow(score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1]), cost=0.2)
    RejectRule(low=0.2, high=0.8, rejected=0.5, accuracy=1.0, cost=0.1, lead=None, honest=None)
    """
    if condition is not None:
        return _priced(table, cost, condition)
    if not 0 <= cost <= 0.5:
        raise ConditionError(f"a rejection that costs {cost:g} errors is no choice.", hint="between 0 and 0.5")
    score = probabilities(table)
    size = table.pos + table.neg
    rejected = np.maximum(score, 1 - score) < 1 - cost
    right = np.where(score >= 0.5, table.pos, table.neg)[~rejected].sum()
    share = float(size[rejected].sum() / size.sum())
    kept = float(size[~rejected].sum())
    wrong = (kept - right) / float(size.sum())
    return RejectRule(cost, 1 - cost, share, float(ratio(right, kept)), float(wrong + cost * share))


def _priced(table: ScoreTable, cost: float, condition: Condition) -> RejectRule:
    """The same with costs of both errors: reject p when p·fn and (1 − p)·fp are both above `cost`.

    >>> from scorespace.tables import score_table
    >>> chow(score_table([1, 0, 1, 0], [0.9, 0.4, 0.1, 0.05]), 0.2, Condition(fp=1, fn=5)).low
    0.04
    """
    if condition.tp or condition.tn or condition.prevalence is not None:
        raise ConditionError(
            "a rejection is weighed against the costs of both errors alone.", hint="no other costs, and no prevalence"
        )
    fp, fn = condition.fp, condition.fn
    most = fp * fn / (fp + fn)
    if not 0 <= cost <= most:
        raise ConditionError(
            f"a rejection that costs {cost:g} is no choice beside errors that cost {fp:g} and {fn:g}.",
            hint=f"between 0 and {most:.4g}",
        )
    score, size = probabilities(table), table.pos + table.neg
    low, high = cost / fn, 1 - cost / fp
    rejected = (score > low) & (score < high)
    alarm = (score >= condition.calibrated_threshold) & ~rejected
    quiet = ~alarm & ~rejected
    total = float(size.sum())
    share = float(size[rejected].sum()) / total
    spent = (fp * table.neg[alarm].sum() + fn * table.pos[quiet].sum()) / total
    right = table.pos[alarm].sum() + table.neg[quiet].sum()
    accuracy = float(ratio(right, size[~rejected].sum()))
    return RejectRule(low, high, share, accuracy, float(spent + cost * share))


def _harmonic(n: Array) -> Array:
    """Harmonic numbers, also of weights that are not whole: H_n = ψ(n + 1) + γ."""
    from scorespace.special import digamma  # loads SciPy only for the area

    return np.asarray(digamma(n + 1) + np.euler_gamma)

"""Agreement of raters, people or models, who each decide and say how strongly: their smooth ROC curves side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.curves.distance import CurveDistance, distance
from scorespace.curves.smooth import SmoothCurve, smooth
from scorespace.errors import ConditionError, DataError, ScoreError, listing
from scorespace.frozen import dataclass
from scorespace.measures import parse
from scorespace.measures.confusion import kappa
from scorespace.measures.ranking import auc
from scorespace.measures.regression import kendall, spearman
from scorespace.resampling.draw import Asked, Draws
from scorespace.resampling.estimate import Estimate, check_level, estimate, estimates
from scorespace.resampling.limits import tails
from scorespace.results import Note, Result, Row, decimals, grouped, percent, plain, so_many
from scorespace.tables import Array, ConfusionTable, ScoreTable, confusion, residual_table, score_table
from scorespace.tables.columns import weights_of
from scorespace.tables.rating import RatingTable, rating_table

TOLERANCE: Final = 0.1
"""Scores that differ by no more than this are called alike."""

BEYOND_CHANCE: Final = ("fleiss", "ac1", "krippendorff")
BEYOND_CHANCE_OF_TWO: Final = ("scott", "ac1", "krippendorff")
"""What is told of the decisions of all raters; Cohen's kappa stands with the pairs."""

_ROUNDING: Final = 1e-12  # 0.9 − 0.8 is a little less than 0.1, and 0.8 − 0.7 a little more
_NAMED: Final = 5  # instances that a sentence names


@dataclass(frozen=True, eq=False)
class Rater:
    """A person or model: for each instance a decision (positive or not) and a score between 0 and 1.

    In the rater's smooth ROC curve the rater's own decisions are the labels, so it shows how the scores back them.
    `auc` holds the scores against the truth, where that is known.
    """

    name: str
    decision: NDArray[np.bool_] = field(repr=False)
    score: Array = field(repr=False)
    auc: float = math.nan
    weight: Array | None = field(default=None, repr=False)

    @cached_property
    def curve(self) -> SmoothCurve:
        return smooth(_table(self.decision.astype(np.uint8), self.score, self.weight))

    @property
    def positive(self) -> float:
        """The share of instances that the rater decides positive."""
        return float(np.average(self.decision, weights=self.weight))

    def row(self) -> Row:
        curve = self.curve
        found = {"rater": self.name, "positive": self.positive, "midpoint": curve.midpoint, "smauc": curve.area()}
        fit = {"appropriate": curve.appropriate, "inappropriate": curve.inappropriate}
        return plain({**found, **fit, "auc": self.auc})


@dataclass(frozen=True)
class RaterPair:
    """How two raters agree: in decisions, in the order of the scores, in their curves, and instance by instance.

    `alike` are the ids of instances whose scores agree within the tolerance although the decisions differ;
    `apart` those with the same decision whose scores differ by more.
    """

    a: str
    b: str
    agreement: Estimate
    kappa: Estimate
    spearman: float
    kendall: float
    distance: CurveDistance
    alike: tuple[Any, ...]
    apart: tuple[Any, ...]

    @property
    def reason(self) -> str | None:
        """Why a number is undefined."""
        constant = "a rater gives every instance the same score" if math.isnan(self.spearman) else None
        return self.kappa.reason or constant

    def row(self) -> Row:
        found: Row = {"a": self.a, "b": self.b}
        for name, one in (("agreement", self.agreement), ("kappa", self.kappa)):
            found |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
        found |= {"spearman": self.spearman, "kendall": self.kendall}
        found |= {"area": self.distance.area, "largest": self.distance.largest}
        return plain(found | {"alike": len(self.alike), "apart": len(self.apart), "reason": self.reason})


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """Raters on the same instances: each with a curve, every pair of them compared.

    `chance` holds the agreement of all of them beyond chance, `together` the ids on which all decide alike with scores
    within the tolerance.
    """

    raters: tuple[Rater, ...]
    pairs: tuple[RaterPair, ...]
    ids: tuple[Any, ...] = field(repr=False)
    tolerance: float
    positive: str
    notes: tuple[Note, ...] = ()
    negative: str = "no"
    chance: tuple[Estimate, ...] = ()
    together: tuple[Any, ...] = ()

    @property
    def cases(self) -> int:
        return len(self.ids)

    @property
    def words(self) -> str:
        """One paragraph per pair."""
        every = _named(self.together, f"All decide alike with scores within {self.tolerance:g}")
        return "\n".join([*map(self._words, self.pairs), every])

    def _words(self, pair: RaterPair) -> str:
        kappa = "" if math.isnan(pair.kappa.value) else f" (kappa {decimals(pair.kappa.value, 2)})"
        order = f", Spearman's correlation of their scores {decimals(pair.spearman, 2)}"
        order = "" if math.isnan(pair.spearman) else order
        area = "" if math.isnan(pair.distance.area) else f", area between their curves {decimals(pair.distance.area)}"
        alike = _named(pair.alike, f"Their scores lie within {self.tolerance:g} although they decide differently")
        apart = _named(pair.apart, f"They decide alike with scores more than {self.tolerance:g} apart")
        return (
            f"{pair.a} and {pair.b} decide alike on {percent(pair.agreement.value, 0)} of {grouped(self.cases)} "
            f"instances{kappa}{order}{area}. {alike} {apart}"
        )

    def matrix(self, what: str = "area") -> Array:
        """A number of every pair, such as area or kappa, as a symmetric matrix in the order of the raters."""
        names = [rater.name for rater in self.raters]
        same = 0.0 if what in ("area", "largest", "alike", "apart") else 1.0
        found = np.full((len(names), len(names)), same)
        for pair in self.pairs:
            value = pair.row()[what]
            place = names.index(pair.a), names.index(pair.b)
            found[place] = found[place[::-1]] = math.nan if value is None else value
        return found

    def instances(self) -> list[Row]:
        """The instances on which a pair agrees in one way and not in the other, the widest gaps first."""
        place = {identity: k for k, identity in enumerate(self.ids)}
        raters = {rater.name: rater for rater in self.raters}
        rows = []
        for pair in self.pairs:
            a, b = raters[pair.a], raters[pair.b]
            for kind, found in (("alike", pair.alike), ("apart", pair.apart)):
                for identity in found:
                    k = place[identity]
                    decisions = {"decision_a": a.decision[k], "decision_b": b.decision[k]}
                    scores = {"score_a": a.score[k], "score_b": b.score[k]}
                    rows.append(plain({"a": a.name, "b": b.name, "id": identity, "kind": kind, **decisions, **scores}))
        return rows

    def rows(self) -> list[Row]:
        return [pair.row() for pair in self.pairs]

    def facts(self) -> Row:
        return {
            "data": {"rows": self.cases, "positive": self.positive},
            "tolerance": self.tolerance,
            "raters": [rater.row() for rater in self.raters],
            "chance": [one.row() for one in self.chance],
            "together": list(self.together),
        }

    def to_dict(self) -> Row:
        return {**super().to_dict(), "instances": self.instances()}


def agreement(
    raters: Mapping[str, tuple[Any, Any]],
    *,
    ids: Sequence[Any] | None = None,
    truth: Any = None,
    tolerance: float = TOLERANCE,
    positive: str = "positive",
    negative: str = "negative",
    weight: Any = None,
    level: float = 0.95,
    seed: int = 0,
    notes: tuple[Note, ...] = (),
) -> Agreement:
    """Raters compared, each with decisions (true where positive) and scores in [0, 1] of the same instances.

    `truth` is true where the instance is positive. Without `ids` instances are numbered from 1. `weight` is that of
    each instance, for all numbers but the lists.

    >>> ann = [True, True, False], [0.9, 0.6, 0.2]
    >>> bob = [True, False, False], [0.8, 0.55, 0.6]
    >>> agreement({"Ann": ann, "Bob": bob}).pairs[0].alike
    (2,)
    """
    if len(raters) < 2:
        raise DataError(
            "agreement needs at least two raters.", seen=listing(raters), hint="a decision and a score of each"
        )
    check_level(level)
    if not 0 <= tolerance <= 1:
        raise ConditionError(
            f"tolerance={tolerance:g} is no difference of scores.", hint="between 0 and 1, such as 0.1"
        )
    actual = None if truth is None else np.asarray(truth, dtype=np.uint8)
    size = len(np.asarray(next(iter(raters.values()))[0]))
    weights = None if weight is None else weights_of(weight, size)
    found = tuple(_rater(name, decision, score, actual, weights) for name, (decision, score) in raters.items())
    if any(rater.decision.size != size or rater.score.size != size for rater in found):
        raise DataError(
            "the raters judged different numbers of instances.", hint="one value of each rater for each instance"
        )
    named = tuple(range(1, size + 1)) if ids is None else tuple(ids)
    if len(set(named)) < size or len(named) != size:
        raise DataError(
            "ids must name every instance once.",
            seen=f"{len(set(named))} different ids of {size}",
            hint="a column in which no value occurs twice, or no ids",
        )
    pairs = tuple(_pair(a, b, named, tolerance, level, seed) for a, b in combinations(found, 2))
    scores = np.stack([rater.score for rater in found])
    decided = np.stack([rater.decision for rater in found])
    alike = (decided == decided[0]).all(axis=0) & (np.ptp(scores, axis=0) <= tolerance + _ROUNDING)
    together = tuple(named[k] for k in np.flatnonzero(alike))
    chance = _beyond_chance(found, level, seed)
    return Agreement(found, pairs, named, tolerance, positive, notes, negative, chance, together)


def _beyond_chance(raters: Sequence[Rater], level: float, seed: int) -> tuple[Estimate, ...]:
    """Agreement of the decisions of all raters beyond chance, each with its interval."""
    table = rating_table({rater.name: _said(rater) for rater in raters}, classes=("no", "yes"), weight=raters[0].weight)
    names = BEYOND_CHANCE_OF_TWO if len(raters) == 2 else BEYOND_CHANCE
    return tuple(estimates({"": list(map(parse, names))}, Draws({"": table}, seed=seed), level=level))


def _said(rater: Rater) -> Array:
    return np.where(rater.decision, "yes", "no")


def _table(label: Array, score: Array, weight: Array | None) -> ScoreTable:
    return score_table(label, score, classes=("no", "yes"), positive="yes", weight=weight)


def _rater(name: str, decision: Any, score: Any, truth: Array | None, weight: Array | None) -> Rater:
    decided, values = np.asarray(decision, dtype=bool), np.asarray(score, dtype=np.float64)
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        raise ScoreError(
            f"the scores of {name} do not lie between 0 and 1.",
            seen=f"from {values.min():g} to {values.max():g}",
            hint='scale="0..10", if they are ratings from 0 to 10; they are never squashed silently',
        )
    if truth is None or decided.size != values.size or values.size != truth.size:  # the lengths are told apart later
        return Rater(name, decided, values, weight=weight)
    return Rater(name, decided, values, float(auc(_table(truth, values, weight))), weight)


def _pair(a: Rater, b: Rater, ids: tuple[Any, ...], tolerance: float, level: float, seed: int) -> RaterPair:
    table = confusion(*map(_said, (a, b)), classes=("no", "yes"), positive="yes", weight=a.weight)
    gap = np.abs(a.score - b.score)
    near, same = gap <= tolerance + _ROUNDING, a.decision == b.decision
    alike, apart = np.flatnonzero(near & ~same), np.flatnonzero(~near & same)
    apart = apart[np.argsort(-gap[apart], kind="stable")]
    return RaterPair(
        a.name,
        b.name,
        estimate(parse("acc"), table, level=level, seed=seed),
        _kappa(table, level, seed),
        *_correlations(a.score, b.score, a.weight),
        distance(a.curve, b.curve),
        tuple(ids[k] for k in alike),
        tuple(ids[k] for k in apart),
    )


def _kappa(table: ConfusionTable, level: float, seed: int) -> Estimate:
    """Cohen's kappa, with percentiles of kappa over instances drawn again: neither rater is the truth."""
    spec, value = parse("kappa"), float(kappa(table))
    if math.isnan(value):
        return Estimate("", spec, value, math.nan, math.nan, level, None, "both raters decide the same every time")
    if table.squares is not None:
        ratings = RatingTable(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), table.cells, ("no", "yes"), ("a", "b"))
        found = estimate(parse("rater_kappa"), replace(ratings, squares=table.cell_squares), level=level, seed=seed)
        return replace(found, spec=spec)
    (values,) = Draws({"": table}, seed=seed).all([Asked("", spec.name, kappa, within=False)])
    low, high = np.nanquantile(values, tails(level))
    return Estimate("", spec, value, float(low), float(high), level, "bootstrap", None)


def _correlations(a: Array, b: Array, weight: Array | None) -> tuple[float, float]:
    """Spearman's ρ and Kendall's τ-b; NaN when a rater's scores are all the same."""
    both = residual_table(a, b, weight=weight)
    return float(spearman(both)), float(kendall(both))


def _named(ids: tuple[Any, ...], what: str) -> str:
    if not ids:
        return f"{what} on no instance."
    some = ", ".join(map(str, ids[:_NAMED])) + (f" and {grouped(len(ids) - _NAMED)} more" if len(ids) > _NAMED else "")
    return f"{what} on {so_many(len(ids), 'instance')}: {some}."

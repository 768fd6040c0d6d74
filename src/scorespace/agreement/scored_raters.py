"""Agreement of raters with decisions and scores: kappa, rank correlation, and distance of smooth ROC curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.curves.curve import CurveDistance, distance
from scorespace.curves.smooth import SmoothCurve, smooth
from scorespace.errors import ConditionError, DataError, ScoreError, listing
from scorespace.inference.bootstrap import BootstrapDraws, ReplicateRequest
from scorespace.inference.estimate import Estimate, check_level, estimate, estimates
from scorespace.inference.interval_formulas import tail_probabilities
from scorespace.measures import parse
from scorespace.measures.confusion import kappa
from scorespace.measures.ranking import auc
from scorespace.measures.regression import kendall, spearman
from scorespace.results import Note, Result, Row, count_noun, decimals, grouped, percent, to_json_types
from scorespace.tables import Array, ConfusionTable, ScoreTable, confusion, residual_table, score_table
from scorespace.tables.columns import validate_weights
from scorespace.tables.ratings import RatingTable, rating_table

TOLERANCE: Final = 0.1
"""Scores that differ by no more than this count as equal."""

CHANCE_CORRECTED: Final = ("fleiss", "ac1", "krippendorff")
CHANCE_CORRECTED_OF_PAIR: Final = ("scott", "ac1", "krippendorff")
"""Chance-corrected measures of all raters; Cohen's kappa is given by pair."""

VERDICTS: Final = np.array(
    [
        "different decisions, different scores",
        "similar scores, different decisions",
        "same decision, different scores",
        "same decision, similar scores",
    ]
)
"""Verdicts on an instance, by 2 · same decision + similar scores."""

_ROUNDING: Final = 1e-12  # 0.8 − 0.7 is slightly more than 0.1
_MAX_IDS_LISTED: Final = 5  # in a sentence


@dataclass(frozen=True, eq=False)
class Rater:
    """A person or model with a decision (positive or not) and a score in [0, 1] for each instance.

    In the smooth ROC curve the rater's own decisions are the labels, so it shows how well scores support them. `auc` is
    that of the scores against the truth, if known.
    """

    name: str
    decision: NDArray[np.bool_] = field(repr=False)
    score: Array = field(repr=False)
    auc: float = math.nan
    weight: Array | None = field(default=None, repr=False)

    @cached_property
    def curve(self) -> SmoothCurve:
        return smooth(_decision_table(self.decision.astype(np.uint8), self.score, self.weight))

    @property
    def positive(self) -> float:
        """Share of instances decided positive."""
        return float(np.average(self.decision, weights=self.weight))

    def row(self) -> Row:
        curve = self.curve
        summary = {"rater": self.name, "positive": self.positive, "midpoint": curve.midpoint, "smauc": curve.area()}
        shares = {"appropriate": curve.appropriate, "inappropriate": curve.inappropriate}
        return to_json_types({**summary, **shares, "auc": self.auc})


@dataclass(frozen=True)
class RaterPair:
    """Agreement of two raters: decisions, ranks of scores, smooth ROC curves, and single instances.

    `alike` are the ids with similar scores but different decisions, `apart` those with the same decision but different
    scores.
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
        """Why a measure is undefined."""
        constant = "a rater gives every instance the same score" if math.isnan(self.spearman) else None
        return self.kappa.reason or constant

    def row(self) -> Row:
        row: Row = {"a": self.a, "b": self.b}
        for name, item in (("agreement", self.agreement), ("kappa", self.kappa)):
            row |= {name: item.value, f"{name}_low": item.low, f"{name}_high": item.high}
        row |= {"spearman": self.spearman, "kendall": self.kendall}
        row |= {"area": self.distance.area, "largest": self.distance.largest}
        return to_json_types(row | {"alike": len(self.alike), "apart": len(self.apart), "reason": self.reason})


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """Agreement of raters on the same instances: a curve for each, and a comparison of every pair.

    `chance` holds chance-corrected measures of all raters, `together` the ids on which all decide alike with similar
    scores.
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
        common = _ids_sentence(self.together, f"All raters decide alike with scores within {self.tolerance:g}")
        return "\n".join([*map(self._words, self.pairs), common])

    def _words(self, pair: RaterPair) -> str:
        kappa = "" if math.isnan(pair.kappa.value) else f" (kappa {decimals(pair.kappa.value, 2)})"
        order = f", Spearman's correlation of their scores {decimals(pair.spearman, 2)}"
        order = "" if math.isnan(pair.spearman) else order
        area = "" if math.isnan(pair.distance.area) else f", area between their curves {decimals(pair.distance.area)}"
        alike = _ids_sentence(
            pair.alike, f"Their scores lie within {self.tolerance:g} although they decide differently"
        )
        apart = _ids_sentence(pair.apart, f"They decide alike with scores more than {self.tolerance:g} apart")
        return (
            f"{pair.a} and {pair.b} decide alike on {percent(pair.agreement.value, 0)} of {grouped(self.cases)} "
            f"instances{kappa}{order}{area}. {alike} {apart}"
        )

    def matrix(self, quantity: str = "area") -> Array:
        """A quantity of every pair, such as area or kappa, as a symmetric matrix of raters."""
        names = [rater.name for rater in self.raters]
        diagonal = 0.0 if quantity in ("area", "largest", "alike", "apart") else 1.0
        values = np.full((len(names), len(names)), diagonal)
        for pair in self.pairs:
            value = pair.row()[quantity]
            index = names.index(pair.a), names.index(pair.b)
            values[index] = values[index[::-1]] = math.nan if value is None else value
        return values

    def instances(self) -> list[Row]:
        """Instances on which a pair agrees in decisions or in scores, but not both; largest differences first."""
        index_of = {identity: k for k, identity in enumerate(self.ids)}
        raters = {rater.name: rater for rater in self.raters}
        rows = []
        for pair in self.pairs:
            a, b = raters[pair.a], raters[pair.b]
            for kind, ids in (("alike", pair.alike), ("apart", pair.apart)):
                for identity in ids:
                    k = index_of[identity]
                    decisions = {"decision_a": a.decision[k], "decision_b": b.decision[k]}
                    scores = {"score_a": a.score[k], "score_b": b.score[k]}
                    rows.append(
                        to_json_types({"a": a.name, "b": b.name, "id": identity, "kind": kind, **decisions, **scores})
                    )
        return rows

    def verdicts(self) -> list[Row]:
        """Every instance for each pair of raters, with whether they decide alike and with similar scores."""
        rows: list[Row] = []
        for a, b in combinations(self.raters, 2):
            same, similar = a.decision == b.decision, _are_similar(a, b, self.tolerance)
            columns = (a.decision, b.decision, a.score, b.score, VERDICTS[2 * same + similar])
            names = ("decision_a", "decision_b", "score_a", "score_b", "verdict")
            rows += [
                {"a": a.name, "b": b.name, "id": identity, **dict(zip(names, cells, strict=True))}
                for identity, *cells in zip(self.ids, *map(to_json_types, columns), strict=True)
            ]
        return rows

    def rows(self) -> list[Row]:
        return [pair.row() for pair in self.pairs]

    def facts(self) -> Row:
        return {
            "data": {"rows": self.cases, "positive": self.positive},
            "tolerance": self.tolerance,
            "raters": [rater.row() for rater in self.raters],
            "chance": [item.row() for item in self.chance],
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
    """Agreement of raters, each with decisions (true where positive) and scores in [0, 1] of the same instances.

    `truth` is true for positive instances. Without `ids` instances are numbered from 1. `weight` gives instance
    weights, which affect all measures, but not the lists.

    >>> ann = [True, True, False], [0.9, 0.6, 0.2]
    >>> bob = [True, False, False], [0.8, 0.55, 0.6]
    >>> agreement({"Ann": ann, "Bob": bob}).pairs[0].alike
    (2,)
    """
    if len(raters) < 2:
        raise DataError(
            "agreement needs at least two raters.", seen=listing(raters), hint="give a decision and a score of each"
        )
    check_level(level)
    if not 0 <= tolerance <= 1:
        raise ConditionError(
            f"tolerance={tolerance:g} is not a difference of scores.", hint="between 0 and 1, such as 0.1"
        )
    actual = None if truth is None else np.asarray(truth, dtype=np.uint8)
    size = len(np.asarray(next(iter(raters.values()))[0]))
    weights = None if weight is None else validate_weights(weight, size)
    rater_list = tuple(
        _make_rater(name, decision, score, actual, weights) for name, (decision, score) in raters.items()
    )
    if any(rater.decision.size != size or rater.score.size != size for rater in rater_list):
        raise DataError("the raters have different numbers of instances.", hint="one value per rater and instance")
    instance_ids = tuple(range(1, size + 1)) if ids is None else tuple(ids)
    if len(set(instance_ids)) < size or len(instance_ids) != size:
        raise DataError(
            "ids must be unique.",
            seen=f"{len(set(instance_ids))} different ids of {size}",
            hint="use a column of unique values, or no ids",
        )
    pairs = tuple(_compare_raters(a, b, instance_ids, tolerance, level, seed) for a, b in combinations(rater_list, 2))
    scores = np.stack([rater.score for rater in rater_list])
    decisions = np.stack([rater.decision for rater in rater_list])
    is_common = (decisions == decisions[0]).all(axis=0) & (np.ptp(scores, axis=0) <= tolerance + _ROUNDING)
    together = tuple(instance_ids[k] for k in np.flatnonzero(is_common))
    chance = _chance_corrected_agreement(rater_list, level, seed)
    return Agreement(rater_list, pairs, instance_ids, tolerance, positive, notes, negative, chance, together)


def _chance_corrected_agreement(raters: Sequence[Rater], level: float, seed: int) -> tuple[Estimate, ...]:
    """Chance-corrected agreement of all raters' decisions, with intervals."""
    table = rating_table(
        {rater.name: _decision_labels(rater) for rater in raters}, classes=("no", "yes"), weight=raters[0].weight
    )
    names = CHANCE_CORRECTED_OF_PAIR if len(raters) == 2 else CHANCE_CORRECTED
    return tuple(estimates({"": list(map(parse, names))}, BootstrapDraws({"": table}, seed=seed), level=level))


def _decision_labels(rater: Rater) -> Array:
    return np.where(rater.decision, "yes", "no")


def _decision_table(label: Array, score: Array, weight: Array | None) -> ScoreTable:
    return score_table(label, score, classes=("no", "yes"), positive="yes", weight=weight)


def _make_rater(name: str, decision: Any, score: Any, truth: Array | None, weight: Array | None) -> Rater:
    decisions, values = np.asarray(decision, dtype=bool), np.asarray(score, dtype=np.float64)
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        raise ScoreError(
            f"the scores of {name} are not between 0 and 1.",
            seen=f"from {values.min():g} to {values.max():g}",
            hint='scale="0..10" if they are ratings from 0 to 10; scores are never rescaled silently',
        )
    if truth is None or decisions.size != values.size or values.size != truth.size:  # lengths are checked later
        return Rater(name, decisions, values, weight=weight)
    return Rater(name, decisions, values, float(auc(_decision_table(truth, values, weight))), weight)


def _compare_raters(a: Rater, b: Rater, ids: tuple[Any, ...], tolerance: float, level: float, seed: int) -> RaterPair:
    table = confusion(*map(_decision_labels, (a, b)), classes=("no", "yes"), positive="yes", weight=a.weight)
    difference = np.abs(a.score - b.score)
    is_similar, is_same_decision = _are_similar(a, b, tolerance), a.decision == b.decision
    alike, apart = np.flatnonzero(is_similar & ~is_same_decision), np.flatnonzero(~is_similar & is_same_decision)
    apart = apart[np.argsort(-difference[apart], kind="stable")]
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


def _are_similar(a: Rater, b: Rater, tolerance: float) -> NDArray[np.bool_]:
    return np.abs(a.score - b.score) <= tolerance + _ROUNDING


def _kappa(table: ConfusionTable, level: float, seed: int) -> Estimate:
    """Cohen's kappa with a percentile bootstrap interval over instances; neither rater is the truth."""
    spec, value = parse("kappa"), float(kappa(table))
    if math.isnan(value):
        return Estimate("", spec, value, math.nan, math.nan, level, None, "both raters always decide the same class")
    if table.squares is not None:
        ratings = RatingTable(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), table.cells, ("no", "yes"), ("a", "b"))
        result = estimate(parse("rater_kappa"), replace(ratings, squares=table.cell_squares), level=level, seed=seed)
        return replace(result, spec=spec)
    (values,) = BootstrapDraws({"": table}, seed=seed).all([ReplicateRequest("", spec.name, kappa, within=False)])
    low, high = np.nanquantile(values, tail_probabilities(level))
    return Estimate("", spec, value, float(low), float(high), level, "bootstrap", None)


def _correlations(a: Array, b: Array, weight: Array | None) -> tuple[float, float]:
    """Spearman's ρ and Kendall's τ-b; NaN if a rater's scores are constant."""
    both = residual_table(a, b, weight=weight)
    return float(spearman(both)), float(kendall(both))


def _ids_sentence(ids: tuple[Any, ...], statement: str) -> str:
    if not ids:
        return f"{statement} on no instance."
    listed = ", ".join(map(str, ids[:_MAX_IDS_LISTED])) + (
        f" and {grouped(len(ids) - _MAX_IDS_LISTED)} more" if len(ids) > _MAX_IDS_LISTED else ""
    )
    return f"{statement} on {count_noun(len(ids), 'instance')}: {listed}."

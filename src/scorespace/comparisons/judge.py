"""A judge against people: does a model agree with human raters less than they agree with each other?

References: Calderon, Reichart and Dror (2025), "The alternative annotator test for LLM-as-a-judge: how to statistically
justify replacing human annotators with LLMs", ACL; Benjamini and Yekutieli (2001), "The control of the false discovery
rate in multiple testing under dependency", Annals of Statistics 29.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Any, ClassVar, Final, Literal

import numpy as np
from scipy.special import stdtr, stdtrit

from scorespace.comparisons.design import Design
from scorespace.comparisons.multiple_testing import benjamini_yekutieli
from scorespace.comparisons.resampling_tests import Replicates, bootstrap
from scorespace.comparisons.result import Comparison, rounded
from scorespace.comparisons.test import test
from scorespace.errors import DataError, MeasureError, ScoreSpaceError, WeightError, listing
from scorespace.inference.bootstrap import REPLICATES, BootstrapDraws, ReplicateRequest
from scorespace.inference.interval_formulas import effective_sample_size
from scorespace.results import Row, decimals, p_text, to_json_types
from scorespace.tables import Array, ratio
from scorespace.tables.ratings import NOT_RATED, RatingTable

PEOPLE: Final = "people"
"""Name of the other side of a comparison: the mean over all pairs of human raters."""

MIN_INSTANCES: Final = 30
"""Instances per person that the alternative annotator test needs."""

_FALSE_DISCOVERIES: Final = 0.05
_PASSING: Final = 0.5  # share of the people whom the judge must be shown to replace

Metric = Annotated[
    Literal["nominal", "numeric"], "agreement with the others: share of equal classes, or negative RMSE of numbers"
]


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgeAgainstPeople(Design[RatingTable]):
    """A judge and the human raters: the mean agreement of their pairs, on resampled instances."""

    ratings: RatingTable
    judge: str
    seed: int = 0
    asks: ClassVar[str] = "compare the agreement of a judge with people to that among people"

    @property
    def tables(self) -> tuple[RatingTable, ...]:
        return (self.ratings,)

    @property
    def position(self) -> int:
        return self.ratings.raters.index(self.judge)

    @property
    def people(self) -> list[int]:
        """Places of the human raters."""
        return [k for k in range(len(self.ratings.raters)) if k != self.position]

    @property
    def pairs_of_judge(self) -> list[tuple[int, int]]:
        return self._sharing([(person, self.position) for person in self.people])

    @property
    def pairs_of_people(self) -> list[tuple[int, int]]:
        return self._sharing(list(combinations(self.people, 2)))

    def _sharing(self, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The pairs of raters that rated any instance in common."""
        rated = (self.ratings.pattern != NOT_RATED).astype(np.float64)
        shared = rated.T @ (rated * np.asarray(self.ratings.counts)[:, None])
        return [(a, b) for a, b in pairs if shared[a, b] > 0]


@bootstrap.on(directed=True)
def judge_difference(design: JudgeAgainstPeople, *, replicates: Replicates = REPLICATES) -> Comparison:
    """Mean agreement of the judge with each person minus that of pairs of people; t with instances − 1 df."""
    spec = design.spec
    if spec is None:
        raise MeasureError("a judge is compared by a measure of agreement.", hint="rater_kappa")
    ratings = design.ratings
    sides = [design.pairs_of_judge, design.pairs_of_people]
    value, other = (float(_mean_agreement(ratings, pairs, spec)) for pairs in sides)
    found = Comparison(
        design.judge, PEOPLE, "bootstrap", str(spec), value - other, level=design.level, value_a=value, value_b=other
    )
    if math.isnan(value - other):
        unshared = f"{design.judge} and people rated no instance in common"
        unshared = unshared if not sides[0] else "no two people rated an instance in common"
        return replace(found, reason=unshared if not all(sides) else f"undefined: {spec.measure.undefined}")

    def difference(table: Any) -> Array:
        return _mean_agreement(table, sides[0], spec) - _mean_agreement(table, sides[1], spec)

    wanted = ReplicateRequest("", f"{design.judge}: {spec}", difference, within=False)
    drawn = BootstrapDraws({"": ratings}, replicates=replicates, seed=design.seed).all([wanted])[0]
    spread = float(drawn[np.isfinite(drawn)].std(ddof=1)) if np.isfinite(drawn).sum() > 1 else math.nan
    squares = ratings.counts if ratings.squares is None else ratings.squares
    df = float(effective_sample_size(ratings.counts.sum(), squares.sum())) - 1
    if not spread > 0 or df < 1:
        return replace(found, reason="the difference is the same in every bootstrap replicate")
    statistic = (value - other) / spread
    half = float(stdtrit(df, (1 + design.level) / 2)) * spread
    p = 2 * float(stdtr(df, -abs(statistic)))
    return replace(found, low=value - other - half, high=value - other + half, statistic=statistic, df=df, p=p)


def _mean_agreement(table: RatingTable, pairs: Sequence[tuple[int, int]], spec: Any) -> Array:
    """Mean of the measure over pairs of raters; replicates are an axis of the table."""
    if not pairs:
        return np.asarray(np.nan)
    raters = table.raters
    values = [
        spec.measure.function(
            replace(table, pattern=table.pattern[:, list(pair)], raters=tuple(raters[k] for k in pair)),
            **dict(spec.options),
        )
        for pair in pairs
    ]
    return np.asarray(np.mean(values, axis=0))


@dataclass(frozen=True, kw_only=True, repr=False)
class AlternativeAnnotator(Comparison):
    """Result of the alternative annotator test of judge `a`; `people` has the test beside each person.

    `winning_rate` is the share of people whom the judge is shown to replace, `epsilon` the advantage granted to them.
    """

    people: tuple[Comparison, ...]
    winning_rate: float
    epsilon: float

    def row(self) -> Row:
        values = {"winning_rate": self.winning_rate, "epsilon": self.epsilon, "passed": self.is_significant}
        return super().row() | to_json_types(values)

    def rows(self) -> list[Row]:
        return [self.row(), *(one.row() for one in self.people)]

    @property
    def is_significant(self) -> bool:
        """Whether the judge passes: it is shown to replace at least half of the people."""
        return self.winning_rate >= _PASSING

    @property
    def words(self) -> str:
        """Whether the judge passes, and its advantage beside that of people."""
        name = f"Alternative annotator test (epsilon {self.epsilon:g})"
        if math.isnan(self.winning_rate):
            return f"{name}: {self.reason}."
        passed = f"{self.a} {'passes' if self.is_significant else 'does not pass'}"
        n_tested = sum(not math.isnan(one.p) for one in self.people)
        won = f"it is shown to replace {round(self.winning_rate * n_tested)} of {n_tested} people"
        sides = f"{decimals(self.value_a, 2)} of the instances, and a person as often as it does in"
        return (
            f"{name}: {passed}; {won} (winning rate {decimals(self.winning_rate, 2)}, passing from {_PASSING:g}). It "
            f"agrees with the others at least as often as a person does in {sides} {decimals(self.value_b, 2)}."
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class BesidePerson(Comparison):
    """The alternative annotator test of judge `a` beside one person `b`."""

    @property
    def words(self) -> str:
        if math.isnan(self.p):
            return f"{self.a} beside {self.b}: {self.reason}."
        shown = "shown to replace" if self.is_significant else "not shown to replace"
        return f"{self.a} is {shown} {self.b} ({p_text(self.reported_p)})."

    @property
    def is_significant(self) -> bool:
        return self.reported_p < _FALSE_DISCOVERIES


@test(
    title="Alternative annotator test",
    for_="a judge, such as a language model, beside each human rater: may it replace them?",
    aliases=("alternative_annotator",),
)
def alt_test(
    design: JudgeAgainstPeople,
    *,
    epsilon: Annotated[float | None, "advantage granted to people: 0.2 for experts, 0.15 skilled, 0.1 crowd"] = None,
    metric: Metric = "nominal",
) -> Comparison:
    """One-sided t of W_h − W_f < ε for each person, W: agrees with the others at least as well as the other does.

    W_f is 1 where the judge agrees with the other people at least as well as this person does, W_h the reverse. The
    judge passes if it is shown to replace at least half of the people; their p-values are adjusted by Benjamini and
    Yekutieli's method (Calderon, Reichart and Dror 2025).
    """
    if epsilon is None or not 0 <= epsilon < 1:
        seen = None if epsilon is None else f"epsilon={epsilon:g}"
        raise ScoreSpaceError(
            "the alternative annotator test needs epsilon, a share.", seen=seen, hint="epsilon=0.2 for experts"
        )
    table = design.ratings
    if table.squares is not None:
        raise WeightError("the alternative annotator test takes no weights.", hint="leave out the weight")
    for_judge, for_person, usable = _wins(design, metric)
    counts = np.where(usable, np.asarray(table.counts)[:, None], 0.0)
    cases = counts.sum(axis=0)
    gap = for_person - for_judge
    mean, wins, wins_of_person = (ratio((counts * one).sum(axis=0), cases) for one in (gap, for_judge, for_person))
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt((counts * (gap - mean) ** 2).sum(axis=0) / (cases - 1) / cases)
        statistic = np.where(error > 0, (mean - epsilon) / error, np.where(mean < epsilon, -np.inf, np.inf))
    enough = cases >= MIN_INSTANCES
    p = np.where(enough, stdtr(np.maximum(cases - 1, 1), statistic), np.nan)
    adjusted = benjamini_yekutieli(p)
    half = stdtrit(np.maximum(cases - 1, 1), (1 + design.level) / 2) * error
    few = f"fewer than {MIN_INSTANCES} instances rated by it, by the judge and by another person"
    people = tuple(
        BesidePerson(
            design.judge,
            table.raters[person],
            alt_test.name,
            "advantage",
            -float(mean[k]),
            -float(mean[k] + half[k]),
            -float(mean[k] - half[k]),
            design.level,
            float(statistic[k]),
            float(cases[k] - 1),
            float(p[k]),
            float(adjusted[k]),
            None if enough[k] else few,
            value_a=float(wins[k]),
            value_b=float(wins_of_person[k]),
        )
        for k, person in enumerate(design.people)
    )
    rate = float(np.mean(adjusted[enough] < _FALSE_DISCOVERIES)) if enough.any() else math.nan
    advantage, other = (float(np.mean(one[enough])) if enough.any() else math.nan for one in (wins, wins_of_person))
    return AlternativeAnnotator(
        design.judge,
        PEOPLE,
        alt_test.name,
        "advantage",
        advantage - other,
        level=design.level,
        reason=None if enough.any() else f"no person has {MIN_INSTANCES} instances rated by the judge and by another",
        value_a=advantage,
        value_b=other,
        people=people,
        winning_rate=rate,
        epsilon=epsilon,
    )


def _wins(design: JudgeAgainstPeople, metric: str) -> tuple[Array, Array, Array]:
    """Whether judge and person agree with the other people at least as well as the other does, and where both can.

    Shapes (patterns, people).
    """
    table = design.ratings
    codes, judge = table.pattern[:, design.people], table.pattern[:, [design.position]]
    rated = codes != NOT_RATED
    others = rated.sum(axis=1, keepdims=True) - 1
    usable = rated & (judge != NOT_RATED) & (others >= 1)
    if metric == "nominal":
        votes = np.stack([(codes == k).sum(axis=1) for k in range(len(table.classes))], axis=1)
        of_judge = np.take_along_axis(votes, np.maximum(judge, 0), axis=1) - (codes == judge)
        of_person = np.take_along_axis(votes, np.maximum(codes, 0), axis=1) - 1
        return (of_judge >= of_person).astype(float), (of_person >= of_judge).astype(float), usable
    values = _numbers(table.classes)
    x = np.where(rated, values[np.maximum(codes, 0)], 0.0)
    y = values[np.maximum(judge, 0)]
    sums, squares, n = x.sum(axis=1, keepdims=True), (x**2).sum(axis=1, keepdims=True), others + 1
    of_person = n * x**2 - 2 * x * sums + squares  # Σ (x − x_k)² over all people; its own term is 0
    of_judge = n * y**2 - 2 * y * sums + squares - (y - x) ** 2
    gap = rounded(of_judge - of_person, np.maximum(squares, n * y**2))
    return (gap <= 0).astype(float), (gap >= 0).astype(float), usable


def _numbers(classes: tuple[str, ...]) -> Array:
    try:
        return np.array(classes, dtype=np.float64)
    except ValueError:
        raise DataError("metric=numeric needs numeric classes.", seen=listing(classes), hint="metric=nominal") from None

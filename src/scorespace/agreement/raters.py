"""Agreement of raters on nominal or ordinal classes, without scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final

import numpy as np

from scorespace.comparisons.judge import AlternativeAnnotator, JudgeAgainstPeople, alt_test
from scorespace.comparisons.margin import Margin, MarginTest
from scorespace.comparisons.resampling_tests import bootstrap
from scorespace.comparisons.result import Alternative, Comparison, adjust_tests
from scorespace.errors import DataError, ScoreSpaceError, listing
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import Estimate, check_level, estimates
from scorespace.measures import parse
from scorespace.results import Note, Result, Row, decimals, format_interval, grouped, join_words, note, p_text, percent
from scorespace.tables.labels import natural_order
from scorespace.tables.ratings import NOT_RATED, RatingTable, rating_table

OVERALL_MEASURES: Final = ("agreed", "fleiss", "ac1", "krippendorff")
PAIR_MEASURES: Final = ("agreed", "rater_kappa", "scott")
ORDINAL_MEASURES: Final = ("krippendorff(metric=ordinal)",)
ORDINAL_PAIR_MEASURES: Final = ("rater_kappa(weights=linear)", "rater_kappa(weights=quadratic)")
"""Measures of all raters and of pairs; ordinal ones weight disagreements by their distance."""

JUDGE_MEASURES: Final = ("rater_kappa", "krippendorff", "ac1", "agreed")
ORDINAL_JUDGE_MEASURES: Final = ("rater_kappa(weights=quadratic)", "krippendorff(metric=ordinal)")
"""Measures of pairs by which a judge is compared with people."""

FEW_INSTANCES: Final = 100  # below, the comparison of a judge with people has little power

_MAX_IDS_LISTED: Final = 5  # in a sentence


@dataclass(frozen=True, eq=False, repr=False)
class RaterAgreement(Result):
    """Agreement of raters on the same instances: overall, by pair, and the ids where they differ."""

    table: RatingTable
    ids: tuple[Any, ...] = field(repr=False)
    together: tuple[Estimate, ...]
    pairs: tuple[tuple[str, str, tuple[Estimate, ...]], ...]
    differing: tuple[Row, ...]
    gaps: int = 0
    ordered: bool = False
    notes: tuple[Note, ...] = ()
    judged: tuple[Comparison, ...] = ()
    """Each judge against people: differences of the agreement, then the alternative annotator test."""

    @property
    def cases(self) -> int:
        return len(self.ids)

    @property
    def words(self) -> str:
        """How far the raters agree, and where they differ; of judges, whether they agree with people less."""
        if self.judged:
            return " ".join(judge_words(self))
        names, by_measure = join_words(self.table.raters), {str(item.spec): item for item in self.together}
        agreed, beyond = by_measure["agreed"], by_measure["fleiss"]
        summary = f"{names} agree in {percent(agreed.value, 0)} of the pairs of ratings of an instance"
        if np.isfinite(beyond.value):
            summary += f"; Fleiss' kappa {format_interval(beyond.value, beyond.low, beyond.high)}"
        if not self.differing:
            return f"{summary}. They differ on no instance."
        ids = ", ".join(str(row["id"]) for row in self.differing[:_MAX_IDS_LISTED])
        n_more = len(self.differing) - _MAX_IDS_LISTED
        where = f"{grouped(len(self.differing))} of {grouped(self.cases)} instances"
        return f"{summary}. They differ on {where}: {ids}{f' and {grouped(n_more)} more' if n_more > 0 else ''}."

    def rows(self) -> list[Row]:
        """One row per measure: of judges against people, where compared, of all raters, then of every pair."""
        overall = [{"a": None, "b": None, **item.row()} for item in self.together]
        by_pair = [{"a": a, "b": b, **item.row()} for a, b, found in self.pairs for item in found]
        judged = [row for one in self.judged for row in one.rows()]
        rows = [{name: value for name, value in row.items() if name != "model"} for row in (*overall, *by_pair)]
        return [*judged, *rows]

    def facts(self) -> Row:
        return {
            "data": {"rows": self.cases, "raters": list(self.table.raters), "classes": list(self.table.classes)},
            "ordered": self.ordered,
            "gaps": self.gaps,
            "instances": list(self.differing),
        }


def rater_agreement(
    ratings: Mapping[str, Any],
    *,
    ids: Sequence[Any] | None = None,
    order: Sequence[Any] | None = None,
    weight: Any = None,
    level: float = 0.95,
    seed: int = 0,
    notes: tuple[Note, ...] = (),
    judges: Sequence[str] = (),
    margin: Margin | None = None,
    epsilon: float | None = None,
) -> RaterAgreement:
    """Agreement of raters on classes, None where a rating is missing; `order` lists classes from lowest to highest.

    The agreement of each of the `judges` with the other raters, people, is compared with that among people; with a
    `margin`, for non-inferiority, and with `epsilon` also by the alternative annotator test.

    >>> found = rater_agreement({"Ann": ["a", "b", "c", "a"], "Bob": ["a", "b", "b", "a"], "Cy": ["a", "b", "c", None]})
    >>> round(found.together[0].value, 3), [row["id"] for row in found.differing]
    (0.833, [3])
    """
    check_level(level)
    table = rating_table(ratings, classes=order, weight=weight)
    size = len(next(iter(ratings.values())))
    instance_ids = tuple(range(1, size + 1)) if ids is None else tuple(ids)
    ordered = order is not None and len(table.classes) > 2
    together = [parse(name) for name in (*OVERALL_MEASURES, *(ORDINAL_MEASURES if ordered else ()))]
    pair_measures = [parse(name) for name in (*PAIR_MEASURES, *(ORDINAL_PAIR_MEASURES if ordered else ()))]
    pairs: list[tuple[str, str, tuple[Estimate, ...]]] = []
    for a, b in combinations(range(len(table.raters)), 2):
        pair_table = replace(table, pattern=table.pattern[:, [a, b]], raters=(table.raters[a], table.raters[b]))
        pair_estimates = tuple(estimates({"": pair_measures}, BootstrapDraws({"": pair_table}, seed=seed), level=level))
        pairs.append((pair_table.raters[0], pair_table.raters[1], pair_estimates))
    ratings_by_instance = table.given
    differing = np.flatnonzero([len(set(row[row != NOT_RATED].tolist())) > 1 for row in ratings_by_instance])
    names = np.array([*table.classes, None], dtype=object)
    rows = tuple(
        {"id": instance_ids[k], **dict(zip(table.raters, names[ratings_by_instance[k]].tolist(), strict=True))}
        for k in differing.tolist()
    )
    overall = tuple(estimates({"": together}, BootstrapDraws({"": table}, seed=seed), level=level))
    judged, judge_notes = _compare_judges(table, judges, ordered, margin, epsilon, level, seed)
    gaps = int((ratings_by_instance == NOT_RATED).sum())
    return RaterAgreement(
        table, instance_ids, overall, tuple(pairs), rows, gaps, ordered, (*notes, *judge_notes), judged
    )


def _compare_judges(
    table: RatingTable,
    judges: Sequence[str],
    ordered: bool,
    margin: Margin | None,
    epsilon: float | None,
    level: float,
    seed: int,
) -> tuple[tuple[Comparison, ...], tuple[Note, ...]]:
    """Compare each judge with people by every measure, with p adjusted over the judges, and by the alternative test."""
    if not judges:
        for name, stated in {"margin": margin, "epsilon": epsilon}.items():
            if stated is not None:
                raise ScoreSpaceError(f"{name} is for a judge that is compared with people.", hint="compare=…")
        return (), ()
    unknown = [name for name in judges if name not in table.raters]
    if unknown or len(set(judges)) < len(judges):
        raise DataError(
            f"compare={unknown[0]} is not a rater." if unknown else "a judge is named twice in compare.",
            seen=listing(table.raters),
            hint="one of these",
        )
    people = [k for k, name in enumerate(table.raters) if name not in judges]
    if len(people) < 2:
        raise DataError(
            "a judge is compared with at least two people.",
            seen=listing([table.raters[k] for k in people]) or "none",
            hint="the ratings of two people, so that their agreement with each other is known",
        )
    designs = []
    for judge in judges:
        chosen = [*people, table.raters.index(judge)]
        part = replace(table, pattern=table.pattern[:, chosen], raters=tuple(table.raters[k] for k in chosen))
        design = JudgeAgainstPeople(spec=None, ratings=part, judge=judge, level=level, seed=seed)
        designs.append(design)
    direction: Alternative = "less" if margin is None else "two-sided"
    found: list[Comparison] = []
    notes: tuple[Note, ...] = ()
    for name in (*JUDGE_MEASURES, *(ORDINAL_JUDGE_MEASURES if ordered else ())):
        tests = [
            bootstrap(replace(design, spec=parse(name), margin=margin, alternative=direction)) for design in designs
        ]
        adjusted, _, notes = adjust_tests(tests, "judges, for each measure,")
        found += adjusted
    if epsilon is not None:
        has_numbers = ordered and not any(natural_order(name)[0] for name in table.classes)
        metric = "numeric" if has_numbers else "nominal"
        found += [alt_test(design, epsilon=epsilon, metric=metric) for design in designs]
    n_instances = float(table.counts.sum())
    if n_instances < FEW_INSTANCES:
        text = f"{grouped(n_instances)} instances: a judge as good as a person is then often not shown to be so"
        notes = (*notes, note("SS160", f"{text}; below 50 the interval covers in about 91 % of samples."))
    return tuple(found), notes


def judge_words(agreement: RaterAgreement) -> list[str]:
    """Sentences on each judge: its agreement with people beside theirs, by the first measure, and further tests."""
    by_judge = {one.a: one for one in reversed(agreement.judged) if not isinstance(one, AlternativeAnnotator)}
    people = join_words([name for name in agreement.table.raters if name not in by_judge])
    sentences = [_judge_sentence(one, people) for one in reversed(by_judge.values())]
    return sentences + [one.words for one in agreement.judged if isinstance(one, AlternativeAnnotator)]


def _judge_sentence(one: Comparison, people: str) -> str:
    if math.isnan(one.p):
        return f"{one.a}: no test is possible: {one.reason}."
    title = parse(one.measure).measure.title.removesuffix(" of two raters")
    values = f"{title} {decimals(one.value_a)} against {decimals(one.value_b)}, difference {one.size}"
    adjusted = "" if math.isnan(one.p_adjusted) else ", adjusted"
    tested = f"{values}, {p_text(one.reported_p)} (one-sided{adjusted})"
    if isinstance(one, MarginTest):
        claim = f"{one.a} agrees with {people} as well as they agree with each other, within {one.margin.size:g}"
        return f"{claim}: {tested}." if one.is_significant else f"It is not shown that {claim}: {tested}."
    if one.is_significant:
        return f"{one.a} agrees with {people} less than they agree with each other: {tested}."
    return (
        f"No evidence that {one.a} agrees with {people} less than they agree with each other: {tested}. It may lack up "
        f"to {decimals(max(0.0, -one.low))}; a margin stated beforehand tests whether it agrees as well."
    )

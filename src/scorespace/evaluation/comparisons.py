"""Comparisons between an evaluation's models, with another sample, and with a value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Final, Protocol

import numpy as np

from scorespace.comparisons import paired, unpaired
from scorespace.comparisons.calibration import ScoresOfModel, run_calibration_tests, run_coverage_tests
from scorespace.comparisons.coverage import IntervalsOfModel
from scorespace.comparisons.design import ACCURACY
from scorespace.comparisons.leaderboard import Leaderboard, can_lead, leaderboard, refuse_unless_means
from scorespace.comparisons.paired import default_measure
from scorespace.comparisons.result import Comparison, Comparisons, adjust_tests, pool
from scorespace.errors import MeasureError, ScoreError, ScoreSpaceError, listing
from scorespace.evaluation.default_measures import directed, stated_on
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.calibration_null import at_sample_prevalence
from scorespace.inference.estimate import Estimate
from scorespace.measures import MeasureSpec, parse, parse_list
from scorespace.measures.request import bind, can_compute, stated_threshold
from scorespace.report import comparison as view
from scorespace.report import notebook
from scorespace.report.protocol import ResultsView
from scorespace.results import note, notebook_html
from scorespace.tables import Counts, NoTableError
from scorespace.tables.models import Models
from scorespace.tables.paired import PairTable
from scorespace.tables.regression import IntervalTable
from scorespace.tables.threshold import user_threshold

MAX_T: Final = "max_t"
"""Adjustment by the largest studentised difference of all pairs in replicates."""
QUICK: Final = 5_000
"""Scores up to which every measure has a difference; beyond, only the tested one."""


@notebook_html.register
def _shown(found: Comparisons) -> str:
    """What a notebook shows of comparisons: what a terminal does."""
    return str(notebook.html(view.page("", "", found)))


class ResampledModels(Protocol):
    """Models, and what was drawn of their cases."""

    @property
    def models(self) -> Models: ...

    @property
    def draws(self) -> BootstrapDraws: ...


def compare_models(
    evaluation: ResultsView, models: Sequence[str], measure: MeasureSpec | None, **asked: Any
) -> Comparisons:
    """Tests between models on the same cases."""
    if len(evaluation.models) < 2:
        raise ScoreSpaceError(
            "a comparison needs two models.",
            seen=listing(evaluation.models),
            hint='values=["a", "b"]'
            if next(iter(evaluation.models.values())).holds == "values per case"
            else 'scores=["a", "b"], or compare one with a value or on another sample',
        )
    spec, asked["default_at"] = _spec(evaluation, measure, models), _stated_threshold(evaluation)
    joint = _jointly(evaluation, tuple(models) or tuple(evaluation.models), spec, asked)
    if joint is not None:
        return _with_gaps(evaluation, _with_values(evaluation, _as_asked(joint.pairs, joint.spec), None))
    asked["adjust"] = asked["adjust"] or "holm"
    if asked["at"] is not None and math.isnan(asked["at"]):
        raise ScoreError("at=nan is not a threshold.", hint="a number, such as 0.5")
    if asked["at"] is not None and evaluation.models.scale is not None:
        asked["at"] = user_threshold(asked["at"], evaluation.models.scale)
    if spec is None and evaluation.prevalence is not None and _decided(evaluation, models, asked["at"]):
        # Which decisions are right is counted in the sample; how many would be is a measure.
        spec, asked["at"] = replace(ACCURACY, at=asked["at"], prevalence=evaluation.prevalence), None
    asked |= {"spec": spec, "level": evaluation.level}
    if _are_matrices(evaluation, models):
        found = _compare_matrices(evaluation, tuple(models) or tuple(evaluation.models), **asked)
    elif evaluation.models.pairs is None and evaluation.models.couples:
        names = tuple(models) or tuple(evaluation.models)
        couples = {two: _pairs(evaluation, two) for two in combinations(names, 2)}
        found = paired.compare_matched_pairs(couples, names, evaluation.draws, **asked)
    else:
        pairs = _pairs(evaluation, models)
        found = paired.compare(pairs, models=tuple(models) or pairs.models, draws=evaluation.draws, **asked)
    return _with_gaps(evaluation, _with_values(evaluation, _as_asked(found, spec), asked["at"]))


def _are_matrices(evaluation: ResultsView, models: Sequence[str]) -> bool:
    """Whether nothing but the confusion matrices of the models is known."""
    known = evaluation.models
    has_classes = all(known[name].class_names for name in models or known)
    return has_classes and _decided(evaluation, models, None) and known.pairs is None and not known.couples


def _compare_matrices(
    evaluation: ResultsView, names: Sequence[str], *, spec: MeasureSpec | None, adjust: str, **asked: Any
) -> Comparisons:
    """Models that are given by their confusion matrices, which tell nothing of the errors they share."""
    if asked["at"] is not None:
        raise ScoreError("confusion matrices have no scores to compare at a threshold.", hint="leave the threshold out")
    spec = spec or ACCURACY
    settings = {name: asked[name] for name in ("test", "alternative", "margin", "level")}
    tests = [
        unpaired.compare_samples(sample_of(evaluation, a), sample_of(evaluation, b), spec, names=(a, b), **settings)
        for a, b in combinations(names, 2)
    ]
    tests, method, adjustment_notes = adjust_tests(tests, "pairs", adjust)
    text = (
        "confusion matrices do not say which cases both models get right: they are compared as independent samples, "
        "which usually gives wider intervals than a comparison on the same cases."
    )
    notes = (note_ for test in tests for note_ in test.notes)
    return Comparisons(tuple(names), tuple(tests), method, (note("SS105", text), *notes, *adjustment_notes))


def _jointly(
    evaluation: ResultsView, names: tuple[str, ...], spec: MeasureSpec | None, asked: Mapping[str, Any]
) -> Leaderboard | None:
    """All differences of several means over cases with joint intervals, unless a test or a direction is stated."""
    if asked["adjust"] not in (None, MAX_T):
        return None
    plain = not (asked["test"] or asked["at"] or asked.get("margin")) and asked["alternative"] == "two-sided"
    paired_cases = plain and evaluation.draws.pairs is not None
    found = spec or (default_measure([evaluation.models[name] for name in names]) if paired_cases else None)
    if asked["adjust"] == MAX_T:
        if not plain:
            raise MeasureError(
                'adjust="max_t" has its own intervals and p-values.', hint="leave out test, at, margin and alternative"
            )
        found = refuse_unless_means(evaluation.draws, names, found)
    elif found is None or not plain or not can_lead(evaluation.draws, names, found):
        return None
    return leaderboard_of(evaluation, names, found)


def leaderboard_of(evaluation: ResultsView, names: Sequence[str], spec: MeasureSpec) -> Leaderboard:
    """The leaderboard of models by a mean over cases."""
    estimates = [one for one in evaluation.estimated(spec) if one.model in names]
    estimates.sort(key=lambda one: names.index(one.model))
    return leaderboard(evaluation.draws, estimates, estimates[0].spec, evaluation.level)


def _with_values(evaluation: ResultsView, found: Comparisons, at: float | None) -> Comparisons:
    """The comparisons with the value of each model, where these give the differences; means over folds do not."""

    def with_values(one: Comparison) -> Comparison:
        if one.several or math.isnan(one.difference):
            return one
        try:
            spec = parse(one.measure)
            spec = replace(spec, at=at if spec.at is None else spec.at)
            a, b = (bind(spec, evaluation.models[name]).value for name in (one.a, one.b))
        except MeasureError:
            return one
        return replace(one, value_a=a, value_b=b) if math.isclose(a - b, one.difference, abs_tol=1e-9) else one

    return replace(found, comparisons=tuple(map(with_values, found)))


def compare_samples(
    evaluation: ResultsView, other: ResultsView, models: Sequence[str], measure: MeasureSpec | None, **asked: Any
) -> Comparisons:
    """Each model against the one of the same name on another, independent sample."""
    mine, theirs = evaluation.models, other.models
    names = tuple(models) or tuple(mine)
    mine.refuse_unlike(theirs, names)
    spec = _spec(evaluation, measure, names)
    found = unpaired.compare_models(
        {name: sample_of(evaluation, name) for name in names},
        {name: sample_of(other, name) for name in names},
        spec,
        sides=("the first sample", "the second sample") if mine.name == theirs.name else (mine.name, theirs.name),
        level=evaluation.level,
        **asked,
    )
    return _with_gaps(other, _with_gaps(evaluation, _as_asked(found, spec)))


def compare_with(
    evaluation: ResultsView, value: float, models: Sequence[str], measure: MeasureSpec | None, **asked: Any
) -> Comparisons:
    """Each model's usual measure, or another one, against a value."""
    samples = {name: sample_of(evaluation, name) for name in models or evaluation.models}
    spec = _spec(evaluation, measure, models)
    found = unpaired.compare_with_value(samples, value, spec, level=evaluation.level, **asked)
    return _with_gaps(evaluation, _as_asked(found, spec))


def tests_of_calibration(evaluation: ResultsView, tests: Sequence[str]) -> Comparisons:
    """Tests of whether the scores of each model are calibrated, and its prediction intervals cover at their level."""
    found: list[Comparison] = []
    for name, summary in evaluation.calibrations.items():
        table, share = evaluation.models.score_table(name), evaluation.prevalence
        sample = table if share is None else at_sample_prevalence(table, share)
        settings: dict[str, Any] = {"in_groups": evaluation.models.grouped, "level": evaluation.level}
        found += run_calibration_tests(
            ScoresOfModel(spec=None, model=name, sample=sample, summary=summary, **settings), tests
        )
    models = [*evaluation.calibrations]
    for name, intervals, order in _prediction_intervals(evaluation):
        models.append(name)
        design = IntervalsOfModel(
            spec=None, model=name, sample=intervals, order=order, level=evaluation.level, seed=evaluation.seed
        )
        found += run_coverage_tests(design, tests)
    return Comparisons(tuple(models), tuple(found))


def _prediction_intervals(evaluation: ResultsView) -> Iterator[tuple[str, IntervalTable, Any]]:
    """Prediction intervals of each model that has them, with the time order of its cases."""
    pairs = evaluation.models.pairs
    for name, table in evaluation.models.tables.items():
        try:
            intervals = table.inside(IntervalTable)
        except NoTableError:
            continue
        times = None if pairs is None else pairs.time
        order = None if times is None else np.argsort(np.asarray(times), kind="stable")
        if order is not None and pairs is not None:
            order = pairs.cell[pairs.index(name)][order]
        yield name, intervals, order


def by_each(
    compare_one: Callable[[MeasureSpec | None], Comparisons], measure: str | Sequence[str] | None, adjust: str | None
) -> Comparisons:
    """Compare by each of the measures, with p-values adjusted over all of them."""
    if measure is None:
        return compare_one(None)
    texts = [measure] if isinstance(measure, str) else measure
    specs = list(dict.fromkeys(spec for text in texts for spec in parse_list(text)))
    if not specs:
        raise MeasureError("no measure to compare is named.", hint="auc")
    return pool([compare_one(spec) for spec in specs], "holm" if adjust in (None, MAX_T) else adjust)


def _stated_threshold(evaluation: ResultsView) -> float | None:
    """The threshold that a request or the evaluation states."""
    stated = stated_threshold(evaluation.requested)
    return evaluation.stated_threshold if stated is None else stated


def _spec(evaluation: ResultsView, measure: MeasureSpec | None, models: Sequence[str]) -> MeasureSpec | None:
    """The requested measure for the stated prevalence and threshold, which is in the units of the stated scale."""
    if measure is None:
        return None
    (spec,) = stated_on(evaluation.models.scale, [directed(measure, next(iter(evaluation.models.values())))])
    if spec.measure.table is Counts and spec.at is None:
        placed = replace(spec, at=_stated_threshold(evaluation))
        if all(can_compute(placed, evaluation.models[name]) for name in models or evaluation.models):
            spec = placed
    return spec.for_prevalence(evaluation.prevalence)


def _decided(evaluation: ResultsView, models: Sequence[str], at: float | None) -> bool:
    """Whether decisions are compared: at a threshold, or of models that only decide."""
    tables = [evaluation.models[name] for name in models or evaluation.models]
    return at is not None or not any(table.thresholded or table.scores_classes for table in tables)


def differences(
    models: Models,
    draws: BootstrapDraws,
    summary: Iterable[Estimate],
    level: float,
    tested: Sequence[MeasureSpec] = (),
) -> dict[str, Comparison]:
    """Differences of two models by measure; the first of `tested`, else of all, has a p-value."""
    if not models.comparable or len(models) != 2:
        return {}
    a, b = models
    pairs = models.paired(a, b)
    if pairs is None:
        return {}
    shown = {name: [one.spec for one in summary if one.model == name] for name in (a, b)}
    specs = [spec for spec in shown[a] if spec in shown[b]]
    if not specs:
        return {}
    sized = max(table.size for table in models.tables.values())
    # A measure under two names is one.
    unique = list(dict.fromkeys([*(spec for spec in tested if spec in specs), *specs]))
    found = paired.differences(pairs, draws, a, b, unique if sized <= QUICK else unique[:1], level=level)
    return {str(spec): found[spec] for spec in specs if spec in found}


def best_two(evaluation: ResultsView, ordered: Sequence[Estimate]) -> Comparison:
    """The test of the best model against the next by the measure that they were ordered by."""
    names = tuple(one.model for one in ordered[:2])
    if evaluation.leaderboard is not None and evaluation.leaderboard.spec == ordered[0].spec:
        return next(oriented(one, names[0]) for one in evaluation.leaderboard.pairs if {one.a, one.b} == set(names))
    asked: dict[str, Any] = {"spec": ordered[0].spec, "draws": evaluation.draws, "level": evaluation.level}
    return paired.compare(_pairs(evaluation, names), models=names, **asked)[0]


def against_best(evaluation: ResultsView, ordered: Sequence[Estimate]) -> dict[str, Comparison]:
    """Tests of the first model against each other one by a measure, with p-values adjusted over all pairs."""
    names = tuple(one.model for one in ordered)
    asked: dict[str, Any] = {"spec": ordered[0].spec, "draws": evaluation.draws, "level": evaluation.level}
    board = evaluation.leaderboard
    tests = (
        board.pairs
        if board is not None and board.spec == ordered[0].spec
        else paired.compare(_pairs(evaluation, names), models=names, **asked)
    )
    pairs = [oriented(one, names[0]) for one in tests if not one.several and names[0] in (one.a, one.b)]
    return {one.b: one for one in pairs}


def oriented(test: Comparison, first: str) -> Comparison:
    """The comparison with this model first: differences change their sign."""
    if test.a == first:
        return test
    difference, low, high = -test.difference, -test.high, -test.low
    return replace(test, a=test.b, b=test.a, difference=difference, low=low, high=high, statistic=-test.statistic)


def _pairs(evaluation: ResultsView, models: Sequence[str]) -> PairTable:
    """What ties the models together; refused where they cannot be compared case by case."""
    for model in models:
        evaluation.models[model]  # refuses an unknown name
    pairs = evaluation.models.pairs
    if pairs is None and len(models) == 2:
        pairs = evaluation.models.paired(*models)
    alone = [model for model in models or evaluation.models if pairs is None or model not in pairs.models]
    if pairs is None or alone:
        raise ScoreSpaceError(
            "these models cannot be compared case by case.",
            seen="tables, or more rows than are kept" if pairs is None else f"no cases of {listing(alone)}",
            hint="paired=True",
        )
    return pairs


def sample_of(evaluation: ResampledModels, model: str) -> BootstrapDraws:
    """One model with what was drawn of it: whole groups where there are such."""
    draws, pairs = evaluation.draws, evaluation.models.pairs
    if pairs is None or model not in pairs.models:
        return draws.fresh_copy(tables={model: evaluation.models[model]}, pairs=None)
    return replace(draws, tables={model: evaluation.models[model]})


def _as_asked(found: Comparisons, spec: MeasureSpec | None) -> Comparisons:
    """The comparisons under the name that the user wrote; data keep the measure's own."""
    if spec is None or spec.asked is None:
        return found
    named = (replace(one, asked=str(spec)) if one.measure == spec.canonical else one for one in found)
    return replace(found, comparisons=tuple(named))


def _with_gaps(evaluation: ResultsView, found: Comparisons) -> Comparisons:
    """The comparisons, with the note that rows were dropped: what is missing need not be missing by chance."""
    dropped = tuple(one for one in evaluation.sample_notes if one.code == "SS009")
    return replace(found, notes=(*dropped, *found.notes)) if dropped else found

"""Comparisons between an evaluation's models, with another sample, and with a value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, Protocol

from scorespace.comparisons import paired, unpaired
from scorespace.comparisons.answer import Comparison, Comparisons
from scorespace.comparisons.question import RIGHT
from scorespace.errors import ScoreError, ScoreSpaceError, listing
from scorespace.evaluation.shown import stated_on
from scorespace.later import later
from scorespace.measures import MeasureSpec, parse
from scorespace.measures.request import stated_threshold
from scorespace.resampling.draw import Draws
from scorespace.resampling.estimate import Estimate
from scorespace.results import in_notebook
from scorespace.tables.models import Models
from scorespace.tables.pair import PairTable
from scorespace.tables.threshold import typed_threshold

if TYPE_CHECKING:
    from scorespace.views import comparison as view
    from scorespace.views import notebook
    from scorespace.views.answers import Answers
else:  # for notebooks alone
    view, notebook = later("scorespace.views.comparison"), later("scorespace.views.notebook")

QUICK: Final = 5_000
"""Scores up to which every measure that is shown is also shown as a difference; beyond, the one that is tested."""


@in_notebook.register
def _shown(found: Comparisons) -> str:
    """What a notebook shows of comparisons: what a terminal does."""
    return str(notebook.html(view.page("", "", found)))


class Drawn(Protocol):
    """Models, and what was drawn of their cases."""

    @property
    def models(self) -> Models: ...

    @property
    def draws(self) -> Draws: ...


def compare_models(evaluation: Answers, models: Sequence[str], measure: str | None, **asked: Any) -> Comparisons:
    """Tests between models on the same cases."""
    if len(evaluation.models) < 2:
        raise ScoreSpaceError(
            "a comparison needs two models.",
            seen=listing(evaluation.models),
            hint='scores=["a", "b"], or compare one with a value or on another sample',
        )
    spec, asked["default_at"] = _spec(evaluation, measure), stated_threshold(evaluation.requested)
    if asked["at"] is not None and math.isnan(asked["at"]):
        raise ScoreError("at=nan is not a threshold.", hint="a number, such as 0.5")
    if asked["at"] is not None and evaluation.models.scale is not None:
        asked["at"] = typed_threshold(asked["at"], evaluation.models.scale)
    if spec is None and evaluation.prevalence is not None and _decided(evaluation, models, asked["at"]):
        # Which decisions are right is counted in the sample; how many would be is a measure.
        spec, asked["at"] = replace(RIGHT, at=asked["at"], prevalence=evaluation.prevalence), None
    asked |= {"spec": spec, "level": evaluation.level}
    if evaluation.models.pairs is None and evaluation.models.couples:
        names = tuple(models) or tuple(evaluation.models)
        couples = {two: _pairs(evaluation, two) for two in combinations(names, 2)}
        found = paired.compare_couples(couples, names, evaluation.draws, **asked)
    else:
        pairs = _pairs(evaluation, models)
        found = paired.compare(pairs, models=tuple(models) or pairs.models, draws=evaluation.draws, **asked)
    return _with_gaps(evaluation, _as_asked(found, spec))


def compare_samples(
    evaluation: Answers, other: Answers, models: Sequence[str], measure: str | None, **asked: Any
) -> Comparisons:
    """Each model against the one of the same name on another, independent sample."""
    mine, theirs = evaluation.models, other.models
    names = tuple(models) or tuple(mine)
    mine.refuse_unlike(theirs, names)
    spec = _spec(evaluation, measure)
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
    evaluation: Answers, value: float, models: Sequence[str], measure: str | None, **asked: Any
) -> Comparisons:
    """Each model's usual measure, or another one, against a value."""
    samples = {name: sample_of(evaluation, name) for name in models or evaluation.models}
    spec = _spec(evaluation, measure)
    found = unpaired.compare_with_value(samples, value, spec, level=evaluation.level, **asked)
    return _with_gaps(evaluation, _as_asked(found, spec))


def _spec(evaluation: Answers, measure: str | None) -> MeasureSpec | None:
    """The requested measure for the stated prevalence, its threshold in the units of the scale that is stated."""
    if measure is None:
        return None
    (spec,) = stated_on(evaluation.models.scale, [parse(measure)])
    return spec.for_prevalence(evaluation.prevalence)


def _decided(evaluation: Answers, models: Sequence[str], at: float | None) -> bool:
    """Whether decisions are compared: at a threshold, or of models that only decide."""
    tables = [evaluation.models[name] for name in models or evaluation.models]
    return at is not None or not any(table.thresholded or table.scores_classes for table in tables)


def differences(models: Models, draws: Draws, summary: Iterable[Estimate], level: float) -> dict[str, Comparison]:
    """The measures shown of two models compared, by measure: the first is tested, the others have intervals alone."""
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
    unique = list(dict.fromkeys(specs))  # a measure under two names is one
    found = paired.differences(pairs, draws, a, b, unique if sized <= QUICK else unique[:1], level=level)
    return {str(spec): found[spec] for spec in specs if spec in found}


def best_two(evaluation: Answers, ordered: Sequence[Estimate]) -> Comparison:
    """The test of the best model against the next by the measure that they were ordered by."""
    names = tuple(one.model for one in ordered[:2])
    asked: dict[str, Any] = {"spec": ordered[0].spec, "draws": evaluation.draws, "level": evaluation.level}
    return paired.compare(_pairs(evaluation, names), models=names, **asked)[0]


def _pairs(evaluation: Answers, models: Sequence[str]) -> PairTable:
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


def sample_of(evaluation: Drawn, model: str) -> Draws:
    """One model with what was drawn of it: whole groups where there are such."""
    draws, pairs = evaluation.draws, evaluation.models.pairs
    if pairs is None or model not in pairs.models:
        return draws.anew(tables={model: evaluation.models[model]}, pairs=None)
    return replace(draws, tables={model: evaluation.models[model]})


def _as_asked(found: Comparisons, spec: MeasureSpec | None) -> Comparisons:
    """The comparisons under the name that the user wrote; data keep the measure's own."""
    if spec is None or spec.asked is None:
        return found
    named = (replace(one, asked=str(spec)) if one.measure == spec.canonical else one for one in found)
    return replace(found, comparisons=tuple(named))


def _with_gaps(evaluation: Answers, found: Comparisons) -> Comparisons:
    """The comparisons, with the note that rows were dropped: what is missing need not be missing by chance."""
    dropped = tuple(one for one in evaluation.sample_notes if one.code == "SS009")
    return replace(found, notes=(*dropped, *found.notes)) if dropped else found

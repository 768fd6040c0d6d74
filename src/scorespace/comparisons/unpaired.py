"""Differences without pairs: one model on two independent samples, and a model against a fixed value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

from scorespace.comparisons.answer import Alternative, Comparison, Comparisons, adjusted, check_alternative
from scorespace.comparisons.difference import SAME, Bounds, combined, interval_at, judged, least_p, touching
from scorespace.comparisons.paired import Replicates, bootstrap, grouped_notes, usual
from scorespace.comparisons.question import Against, Question, Unpaired, model_of
from scorespace.comparisons.suits import by_request, enough_cases, of_a_measure, of_replicates
from scorespace.comparisons.test import chosen, test
from scorespace.errors import ScoreSpaceError
from scorespace.measures.catalog import MeasureSpec, parse
from scorespace.measures.request import bind
from scorespace.resampling.draw import REPLICATES, Draws, stream_seed
from scorespace.resampling.estimate import UNCOUNTED, check_level
from scorespace.results import Note, Progress, note
from scorespace.tables import Table
from scorespace.tables.pair import PairTable

Sample = Table | PairTable | Draws
"""A table, the pair table of one model whose cases come in groups, or what is already drawn from either."""

# --- tests


@test(
    title="test by intervals",
    for_="one number against a value, and two samples: the test that agrees with the intervals shown",
    suits=(of_a_measure,),
    name="interval",
    general=True,
    directed=True,
)
def by_intervals(question: Against[Table]) -> Comparison:
    """p is one minus the level at which the interval of the measure would just reach the value."""
    request = question.bound[0]

    def bounds(level: float) -> Bounds:
        found = interval_at(request, question.model, question.draws, level)
        return found.low, found.high

    usual_one = interval_at(request, question.model, question.draws, question.level)
    found = _found(question, usual_one.method or "interval")
    if found.reason is not None:
        return found
    if usual_one.method is None:
        return replace(found, reason=usual_one.reason)
    found = replace(found, low=usual_one.low - question.value, high=usual_one.high - question.value)
    return _by_inversion(found, bounds, question.value, question)


@by_intervals.on(of_a_measure)
def _by_two_intervals(question: Unpaired[Table]) -> Comparison:
    """The intervals of both samples, combined; p is one minus the level at which zero would just be reached."""
    requests = question.bound
    a, b = (request.value for request in requests)

    def bounds(level: float) -> Bounds:
        first, second = (
            interval_at(request, model_of(draws), draws, level)
            for request, draws in zip(requests, question.samples, strict=True)
        )
        return combined(a, (first.low, first.high), b, (second.low, second.high))

    found = _found(question, "interval, unpaired")
    if found.reason is not None:
        return found
    low, high = bounds(question.level)
    if math.isnan(low):
        return replace(found, reason="one of the two numbers has no interval")
    return _by_inversion(replace(found, low=low, high=high), bounds, 0.0, question)


def _by_inversion(found: Comparison, bounds: Any, target: float, question: Question[Table]) -> Comparison:
    if found.high - found.low <= 1e-12:
        return replace(found, low=math.nan, high=math.nan, reason=SAME)
    drawn = 2 / (1 + REPLICATES) if "bootstrap" in found.test else 0.0
    return touching(found, bounds, target, max(least_p(question.units), _in_any_order(question), drawn))


def _in_any_order(question: Question[Table]) -> float:
    """Of areas, how often noise puts r of n cases first or last: 2 / C(n, r), the least p of any test of ranks."""
    if question.bound[0].measure.area is None or question.bound[0].averaged:
        return 0.0
    return 2 / math.comb(max(1, question.units), int(question.fewest))


@bootstrap.on(of_a_measure, of_replicates, enough_cases)
def _two_drawn(question: Unpaired[Table], *, replicates: Replicates = REPLICATES) -> Comparison:
    """Both samples drawn again, by streams of their own."""
    return _drawn(question, f"bootstrap{' of groups' if question.grouped else ''}, unpaired", replicates)


@bootstrap.on(of_a_measure, by_request)
def _one_drawn(question: Against[Table], *, replicates: Replicates = REPLICATES) -> Comparison:
    """The one sample drawn again."""
    return _drawn(question, f"bootstrap{' of groups' if question.grouped else ''}", replicates)


def _drawn(question: Unpaired[Table] | Against[Table], test: str, replicates: int) -> Comparison:
    found = _found(question, test)
    if found.reason is not None:
        return found
    drawn = question.differences(replicates)
    return judged(found, drawn, range=question.range, least=least_p(question.units), fewest=question.fewest)


def _found(question: Unpaired[Table] | Against[Table], test: str) -> Comparison:
    """The difference alone, or the reason why there is none, or none that could be judged."""
    reasons = [one.reason(one.value) for one in question.bound]
    if not all(table.counted for table in question.tables):
        reasons.append(UNCOUNTED.removeprefix("no interval: "))
    return question.answer(test, reason=next(filter(None, reasons), None), notes=grouped_notes(question))


# --- what is asked


def compare_samples(
    a: Sample,
    b: Sample,
    spec: MeasureSpec | str | None = None,
    *,
    test: str | None = None,
    names: tuple[str, str] = ("the first sample", "the second sample"),
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """A measure on two independent samples, by the test that is named or the first that suits.

    Cases are drawn within the classes of each sample, or its groups, by streams of their own.

    >>> from scorespace.tables import score_table
    >>> first = score_table([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.4, 0.5, 0.2, 0.1])
    >>> second = score_table([1, 1, 0, 0, 0], [0.7, 0.3, 0.6, 0.4, 0.1])
    >>> compare_samples(first, second, names=("before", "after")).test
    'interval, unpaired'
    """
    check_level(level)
    check_alternative(alternative)
    first, second = (_draws(sample, "", seed, k, progress) for k, sample in enumerate((a, b)))
    wanted = _spec(spec, [*first.tables.values(), *second.tables.values()])
    question: Unpaired[Table] = Unpaired(
        spec=wanted, level=level, alternative=alternative, first=first, second=second, names=names
    )
    return _answered(question, test)


def against_value(
    sample: Sample,
    value: float,
    spec: MeasureSpec | str | None = None,
    *,
    test: str | None = None,
    name: str = "",
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Whether a measure differs from a value: by the interval that is shown of it, unless a test is named.

    >>> from scorespace.tables import score_table
    >>> found = against_value(score_table([1, 0] * 30, range(60)), 0.5, name="nb")
    >>> round(found.difference, 4), found.p > 0.5
    (-0.0167, True)
    """
    check_level(level)
    check_alternative(alternative)
    if not math.isfinite(value):
        raise ScoreSpaceError(f"against={value:g} is not a value to test against.", hint="against=0.5")
    draws = _draws(sample, name, seed, 0, progress)
    model = name if name in draws.tables else model_of(draws)
    wanted = _spec(spec, [draws.tables[model]])
    low, high = bind(wanted, draws.tables[model]).range
    if not low <= value <= high:
        raise ScoreSpaceError(f"against={value:g} is no value of {wanted}.", hint=f"from {low:g} to {high:g}")
    question: Against[Table] = Against(
        spec=wanted, level=level, alternative=alternative, draws=draws, model=model, value=value
    )
    return _answered(question, test)


def _answered(question: Unpaired[Table] | Against[Table], test: str | None) -> Comparison:
    """What the test answers that is named or suits first, with why it was chosen, and what to know about it."""
    choice = chosen(test, question)
    found = choice.kind(question, **choice.call.options)
    return replace(found, reason=found.reason or choice.reason, notes=(*found.notes, *choice.notes))


def compare_models(
    first: Mapping[str, Sample],
    second: Mapping[str, Sample],
    spec: MeasureSpec | None = None,
    *,
    sides: tuple[str, str] = ("first", "second"),
    test: str | None = None,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    adjust: str = "holm",
) -> Comparisons:
    """Each model on one sample against itself on another, adjusted by Holm or as stated where there are several.

    Without a measure, scores are compared by their area and decisions by their accuracy.
    """
    asked: dict[str, Any] = {"test": test, "level": level, "alternative": alternative}
    found, values, same = [], {}, []
    for model, one in first.items():
        other = second[model]
        names = (f"{model} in {sides[0]}", f"{model} in {sides[1]}")
        found.append(compare_samples(one, other, spec, names=names, **asked))
        tables = _table(one), _table(other)
        wanted = _spec(spec, tables)
        values[model] = (bind(wanted, tables[0]).value, bind(wanted, tables[1]).value)
        if tables[0].cells.size > tables[0].strata.max(initial=0) + 1 and tables[0] == tables[1]:
            same.append(model)
    text = (
        f"the scores of {', '.join(same)} are the same in both samples, class by class: these look like the same "
        "cases, which are not independent; compare models on the same cases as columns of one file."
    )
    return _gathered(found, [note("SS032", text)] if same else [], sides, values, adjust)


def compare_with_value(
    samples: Mapping[str, Sample],
    value: float,
    spec: MeasureSpec | None = None,
    *,
    test: str | None = None,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    adjust: str = "holm",
) -> Comparisons:
    """Each model against a fixed value, adjusted by Holm or as stated where there are several models."""
    asked: dict[str, Any] = {"test": test, "level": level, "alternative": alternative}
    found = [against_value(one, value, spec, name=model, **asked) for model, one in samples.items()]
    values = {model: (bind(_spec(spec, [_table(one)]), _table(one)).value, value) for model, one in samples.items()}
    sides = (" or ".join(dict.fromkeys(one.measure for one in found)), "value")
    return _gathered(found, [], sides, values, adjust)


def _gathered(
    found: Sequence[Comparison],
    notes: Sequence[Note],
    sides: tuple[str, str],
    values: Mapping[str, tuple[float, float]],
    adjust: str,
) -> Comparisons:
    placed, method, said = adjusted(found, "models", adjust)
    told = dict.fromkeys((*notes, *(each for one in found for each in one.notes), *said))
    return Comparisons(tuple(values), tuple(placed), method, tuple(told), sides, values)


@singledispatch
def _draws(sample: Any, model: str, seed: int, stream: int, progress: Progress | None) -> Draws:
    """What is drawn from a sample, a table unless another kind is registered: the same twice by streams of its own."""
    return Draws({model: sample}, seed=stream_seed(seed, stream), progress=progress)


@_draws.register
def _(sample: PairTable, model: str, seed: int, stream: int, progress: Progress | None) -> Draws:
    one = replace(sample, models=(model,))
    return Draws({model: sample.tables[0]}, one, seed=stream_seed(seed, stream), progress=progress)


@_draws.register
def _(sample: Draws, model: str, seed: int, stream: int, progress: Progress | None) -> Draws:
    return sample if stream == 0 else replace(sample, seed=stream_seed(sample.seed, stream), kept={})


def _table(sample: Sample) -> Any:
    return next(iter(_draws(sample, "", 0, 0, None).tables.values()))


def _spec(spec: MeasureSpec | str | None, tables: Sequence[Table]) -> MeasureSpec:
    return parse(spec) if isinstance(spec, str) else spec or usual(tables)

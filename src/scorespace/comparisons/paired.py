"""Models on the same cases: the right test for each pair of them, and the tests that are for any measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain, combinations
from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from scorespace.arguments import check
from scorespace.comparisons.answer import (
    UNTESTED,
    Alternative,
    Comparison,
    Comparisons,
    adjusted,
    check_alternative,
    one_sided,
)
from scorespace.comparisons.difference import Bounds, combined, interval_at, judged, least_p, touching
from scorespace.comparisons.question import RIGHT, Paired, Question, Several, bindable, decides
from scorespace.comparisons.suits import (
    about_decisions,
    each_case_once,
    enough_apart,
    enough_cases,
    not_in_folds,
    of_a_measure,
)
from scorespace.comparisons.test import Choice, Doubt, Refused, chosen, parse_test, test
from scorespace.declaration import Call
from scorespace.errors import MeasureError, ScoreSpaceError, listing
from scorespace.measures.catalog import MeasureSpec, measures, parse
from scorespace.resampling.draw import REPLICATES, Draws, replicated
from scorespace.resampling.estimate import check_level
from scorespace.results import Note, Progress, note
from scorespace.tables import Array, NoTableError, Table
from scorespace.tables.pair import PairTable

USUAL: Final = ("auc[hand_till]", "auc", "acc", "mae")
"""What is compared when nothing is asked: the first that all models have; decisions are compared as such."""

_FIXED: Final = ("p", "n", "total")  # cases that a share may be of, as many whatever is swapped

Replicates = Annotated[int, "how often the cases are drawn again"]


# --- tests of any measure


@test(
    title="bootstrap",
    for_="any measure: draws the cases, or whole groups of them, again for both models alike",
    suits=(of_a_measure, each_case_once, not_in_folds, enough_cases, enough_apart),
    general=True,
    directed=True,
)
def bootstrap(question: Paired[Table], *, replicates: Replicates = REPLICATES) -> Comparison:
    """Quantiles of the difference over replicates; p is twice the share of them beyond zero."""
    difference = question.difference
    drawn = "bootstrap of groups" if question.grouped else "bootstrap"
    found = Comparison(*question.names, drawn, question.of, difference, level=question.level)
    if not math.isfinite(difference):
        return _undefined(found, question)
    values = question.differences(_counted(replicates))
    found = replace(found, notes=grouped_notes(question))
    alike = "both models behave alike on every case"
    return judged(found, values, alike, range=question.range, least=least_p(question.units), fewest=question.fewest)


def swappable(question: Paired[Table]) -> Refused | None:
    """Models of one kind, whose cases can change places."""
    if question.cases.times is not None:
        seen = "cases counted in bins"
        return Refused("{title} swaps cases one by one.", seen=seen, hint='test="bootstrap"', error=MeasureError)
    try:
        _shared(question)
    except NoTableError as error:
        return Refused(f"{{title}} {error.reason}.", hint='test="bootstrap"', error=MeasureError)
    return None


@test(
    title="permutation test",
    for_="any measure, and few cases: swaps the models case by case, or group by group",
    suits=(of_a_measure, each_case_once, not_in_folds, swappable),
    general=True,
    directed=True,
)
def permutation(
    question: Paired[Table],
    *,
    replicates: Annotated[int, "how often cases are swapped; all ways are tried where there are no more"] = REPLICATES,
    null: Annotated[
        Literal["equal", "exchangeable"],
        "what is tested: equal measures, with p at least that of the interval; exchangeable models, by swaps alone",
    ] = "equal",
) -> Comparison:
    """Share of swaps whose difference is as large as the one seen: p = (1 + #{|swapped| ≥ |seen|}) / (1 + swaps).

    Ranking measures swap ranks within each model, since their scores may be on different scales; measures at a
    threshold and those of probabilities swap the scores. Swaps are exact where models are exchangeable, and for shares
    of cases. Models of equal AUC whose scores spread differently were called different in up to 14 % of samples (5 to
    15 positives), so p is not below that of the interval, one minus the level at which it would just reach zero: with
    it, in 2 to 5 %.
    """
    difference = question.difference
    found = Comparison(*question.names, "permutation", question.of, difference, level=question.level)
    if not math.isfinite(difference):
        return _undefined(found, question)
    bounds = _bounds(question)
    low, high = bounds(question.level)
    found = replace(found, low=low, high=high, statistic=difference, notes=grouped_notes(question, "swapped"))
    if not question.tested:
        return found
    gaps, every = _swapped_gaps(question, _counted(replicates))
    sign = {"two-sided": 0, "greater": 1, "less": -1}[question.alternative]
    swapped, seen = (sign * gaps, sign * difference) if sign else (np.abs(gaps), abs(difference))
    # Rounding must not decide a tie between a swapped and the observed difference; an undefined one counts as extreme.
    extreme = int((~(swapped < seen - 1e-12)).sum())
    found = replace(found, alternative=question.alternative)
    if every:
        found = replace(found, test="permutation, exact", p=extreme / gaps.size)
    else:
        found = replace(found, p=(1 + extreme) / (1 + gaps.size))
    shares = question.bound[0].measure.trials in _FIXED
    return found if null == "exchangeable" or shares or abs(difference) <= 1e-12 else _at_least(found, bounds)


def _at_least(found: Comparison, bounds: Callable[[float], Bounds]) -> Comparison:
    """The comparison with the p of its interval, where that is larger."""
    both = touching(replace(found, alternative="two-sided"), bounds, 0.0, 0.0)
    p = one_sided(both, found.alternative).p
    return replace(found, test="permutation, interval", p=p) if p > found.p else found


def _swapped_gaps(question: Paired[Table], replicates: int) -> tuple[Array, bool]:
    """The difference after each of so many random swaps, or after each there is; whether it is each."""
    pairs, (table, *maps) = question.cases, _shared(question)
    k = [pairs.index(model) for model in question.names]
    places = [of_model[pairs.cell[row]] for of_model, row in zip(maps, k, strict=True)]
    unit, units = np.arange(pairs.cases), pairs.cases
    if pairs.group is not None:
        unit = np.unique(pairs.group, return_inverse=True)[1]
        units = int(unit.max(initial=-1)) + 1
    every = units <= 31 and 2 ** (units - 1) <= replicates
    size, request = int(table.cells.shape[-1]), question.bound[0]

    def gaps(swapped: NDArray[np.bool_]) -> Array:
        of_case = swapped[:, unit]
        first, second = np.where(of_case, places[1], places[0]), np.where(of_case, places[0], places[1])
        return request.on(_filled(table, first, size, pairs)) - request.on(_filled(table, second, size, pairs))

    def swap(rng: np.random.Generator, number: int) -> NDArray[np.bool_]:
        return rng.integers(0, 2, (number, units), dtype=np.uint8).view(bool)

    if every:  # the first case stays, since swapping all cases turns the sign alone
        ways = (np.arange(2 ** max(0, units - 1))[:, None] >> np.arange(units)) & 1
        half = gaps(np.roll(ways, 1, axis=1).astype(bool))
        return np.concatenate([half, -half]), True
    draws = question.draws
    cost = 2 * pairs.cases + 2 * size
    return replicated(swap, gaps, cost, replicates=replicates, seed=draws.seed, progress=draws.progress), False


def _filled(table: Any, places: Array, size: int, pairs: PairTable) -> Any:
    """The table of a model over replicates: the places (replicates, cases) of its cases."""
    count = places.shape[0]
    cells = places + (np.arange(count) * size)[:, None]
    weight = None if pairs.weight is None else np.broadcast_to(pairs.weight, places.shape).ravel()
    return table.with_cells(np.bincount(cells.ravel(), weight, minlength=count * size).reshape(count, size))


def _shared(question: Paired[Table]) -> tuple[Any, Array, Array]:
    """One table for both models, and the places of their cells there."""
    spec = question.spec
    sized = spec is None or spec.at is not None or spec.measure.probability
    a, b = question.tables
    found: tuple[Any, Array, Array] = a.shared_with(b, sized=sized)
    return found


def _bounds(question: Paired[Table]) -> Callable[[float], Bounds]:
    """The interval of the difference by its level, from those of both models and from how far they move together."""
    draws = question.drawn(REPLICATES)
    values = np.stack([draws.of(model, one) for model, one in zip(question.names, question.bound, strict=True)])
    values = values[:, np.isfinite(values).all(axis=0)]
    reach = np.ptp(values, axis=1, keepdims=True) if values.shape[1] > 1 else np.zeros(1)
    # In units of their reach: the squares of costs of 1e300 are no numbers.
    together = float(np.corrcoef((values - values[:, :1]) / reach)[0, 1]) if (reach > 1e-12).all() else 0.0
    a, b = (request.value for request in question.bound)

    def bounds(level: float) -> Bounds:
        of_a, of_b = (
            interval_at(request, model, draws, level)
            for model, request in zip(question.names, question.bound, strict=True)
        )
        return combined(a, (of_a.low, of_a.high), b, (of_b.low, of_b.high), together)

    return bounds


def _undefined(found: Comparison, question: Paired[Table]) -> Comparison:
    """The comparison of a measure that has no value, with the reason."""
    reasons = (one.reason(one.value) for one in question.bound)
    return replace(found, difference=math.nan, reason=next(filter(None, reasons), None))


def grouped_notes(question: Question[Table], how: str = "drawn") -> tuple[Note, ...]:
    """The note that groups of related cases are drawn, or swapped, whole."""
    if not question.grouped:
        return ()
    return (note("SS016", f"cases of a group are not independent, so whole groups are {how}."),)


def _counted(replicates: int) -> int:
    check("replicates", replicates, int)
    if replicates < 1:
        raise ScoreSpaceError(f"replicates={replicates} leaves nothing to judge by.", hint=f"replicates={REPLICATES}")
    return replicates


# --- all pairs of models


def compare(
    pairs: PairTable,
    *,
    test: str | None = None,
    spec: MeasureSpec | None = None,
    at: float | None = None,
    default_at: float | None = None,
    models: Sequence[str] = (),
    draws: Draws | None = None,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    adjust: str = "holm",
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparisons:
    """Test all pairs of the chosen models, or of all, adjusted by Holm or as stated where there are several.

    Without a test, the first that suits is used: `scorespace tests` lists them. `at` is the threshold of decisions, and
    asks for them; `default_at` is theirs where the test alone asks for them, and 0.5 of probabilities without it.
    Three or more models are first tested all at once, where there is such a test.

    >>> from scorespace.tables.pair import pair_table
    >>> scores = {"a": [0.9, 0.4, 0.6, 0.7, 0.2], "b": [0.9, 0.4, 0.6, 0.7, 0.2]}
    >>> compare(pair_table([1, 0, 1, 0, 0], scores))[0].p
    1.0
    """
    names = tuple(models) or pairs.models
    drawn = draws or Draws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs, seed=seed, progress=progress)
    asked: dict[str, Any] = {"spec": spec, "level": level, "alternative": alternative}
    question, choice, found = _tested(pairs, names, drawn, test, at, default_at, **asked)
    return _gathered(question, [(choice, found)], adjust)


def compare_couples(
    couples: Mapping[tuple[str, str], PairTable],
    models: tuple[str, ...],
    draws: Draws,
    *,
    test: str | None = None,
    at: float | None = None,
    default_at: float | None = None,
    adjust: str = "holm",
    **asked: Any,
) -> Comparisons:
    """The same where no cases of all models are known, but what ties every two of them together."""
    _refuse_alone(models)
    tested = [_tested(pairs, two, draws, test, at, default_at, **asked) for two, pairs in couples.items()]
    question = replace(tested[0][0], models=models, couples=couples)
    return _gathered(question, [(choice, found) for _, choice, found in tested], adjust)


def _tested(
    pairs: PairTable,
    names: tuple[str, ...],
    draws: Draws,
    test: str | None,
    at: float | None,
    default_at: float | None,
    **asked: Any,
) -> tuple[Several[Table], Choice, list[Comparison]]:
    """What is asked of models, the test that answers it, and its answers for every two of them."""
    check_level(asked["level"])
    check_alternative(asked["alternative"])
    _refuse_alone(names)
    for name in names:
        pairs.index(name)
    spec: MeasureSpec | None = asked["spec"]
    if at is not None and spec is not None:
        raise MeasureError(
            f"at={at:g} asks for decisions, and {spec} is a measure.", hint=f'measure="{replace(spec, at=at)}"'
        )
    if at is not None and any(pairs.tables[pairs.index(name)].scores_classes for name in names):
        raise MeasureError(
            "a threshold is for two classes: of several, the highest score decides.", hint="no threshold"
        )
    several: Several[Table] = Several(**asked, cases=pairs, draws=_drawn_of(draws, pairs), models=names)
    question = _completed(several, at, test, default_at)
    kept: dict[Any, Any] = {}
    questions = [_of_two(question, couple, names, kept) for couple in combinations(names, 2)]
    return question, *_answered(chosen(test, questions[0]), questions)


def _drawn_of(draws: Draws, pairs: PairTable) -> Draws:
    """What is drawn of cases that are known one by one, or of bins that tie two models together."""
    return draws if pairs.times is None else draws.anew(pairs=pairs)


def _refuse_alone(names: tuple[str, ...]) -> None:
    if len(names) < 2:
        raise ScoreSpaceError("a comparison needs two models.", seen=listing(names), hint="name another model")


def _answered(choice: Choice, questions: Sequence[Paired[Table]]) -> tuple[Choice, list[Comparison]]:
    """What a test answers; where it was not named and cannot judge a difference, the permutation does."""
    found = [choice.kind(one, **choice.call.options) for one in questions]
    at_a_loss = [one for one in found if math.isnan(one.p) and not math.isnan(one.difference)]
    if at_a_loss and not choice.stated and questions[0].tested and permutation.misfit(questions[0]) is None:
        doubt = Doubt(f"{choice.kind.named} cannot judge: {at_a_loss[0].reason}", "SS012")
        choice = Choice(Call(permutation), (*choice.doubts, doubt), stated=False)
        found = [permutation(one) for one in questions]
    return choice, [one if one.reason else replace(one, reason=choice.reason) for one in found]


def _gathered(question: Several[Table], tested: Sequence[tuple[Choice, list[Comparison]]], adjust: str) -> Comparisons:
    """The tests of all pairs, after that of all models at once, with adjusted p and their notes."""
    (choice, _), *_ = tested
    kind, together = choice.kind, []
    if len(question.models) > 2 and not isinstance(kind.misfit(question), Refused):
        form = kind.forms[Several]
        known = {option.name for option in form.options}
        together = [form.function(question, **{k: v for k, v in choice.call.options.items() if k in known})]
    told = [(*choice.notes, *(each for one in found for each in one.notes)) for choice, found in tested]
    placed, method, said = adjusted([one for _, found in tested for one in found], "pairs", adjust)
    every = tuple(replace(one, level=question.level) for one in (*together, *placed))
    return Comparisons(question.models, every, method, (*dict.fromkeys(chain(*told)), *said))


def differences(
    pairs: PairTable, draws: Draws, a: str, b: str, specs: Sequence[MeasureSpec], *, level: float = 0.95
) -> dict[MeasureSpec, Comparison]:
    """The difference of two models in each measure with its interval; the first of them alone is tested.

    One stated test needs no adjustment; the others show how large the differences are.

    >>> from scorespace.tables.pair import pair_table
    >>> pairs = pair_table([1, 0] * 30, {"a": range(60), "b": [k % 7 for k in range(60)]})
    >>> draws = Draws(dict(zip(pairs.models, pairs.tables)), pairs)
    >>> found = differences(pairs, draws, "a", "b", [parse("auc"), parse("ks")])
    >>> [(one.test, one.p > 0) for one in found.values()]
    [('delong', True), ('bootstrap', False)]
    """
    kept: dict[Any, Any] = {}
    draws = _drawn_of(draws, pairs)
    asked: dict[str, Any] = {"level": level, "cases": pairs, "draws": draws, "models": (a, b)}
    questions = [_of_two(_completed(Several(spec=spec, **asked)), (a, b), (), kept) for spec in specs]
    questions = [replace(one, tested=k == 0) for k, one in enumerate(questions)]
    choices = [chosen(None, question) for question in questions]
    together = [spec for spec, choice in zip(specs, choices, strict=True) if choice.kind.general]
    if together and all(one.draws is draws for one in questions):
        questions[0].drawn(REPLICATES, *together)  # once for all measures
    found: dict[MeasureSpec, Comparison] = {}
    for spec, question, choice in zip(specs, questions, choices, strict=True):
        _, (one,) = _answered(choice, [question])
        found[spec] = one if question.tested else _untested(one, specs[0])
    return found


def _untested(one: Comparison, tested: MeasureSpec) -> Comparison:
    reason = one.reason if math.isnan(one.difference) else f"{UNTESTED}: the test is of {tested}"
    return replace(one, p=math.nan, statistic=math.nan, df=math.nan, reason=reason)


def _of_two(
    question: Several[Table], couple: tuple[str, str], among: tuple[str, ...], kept: dict[Any, Any]
) -> Paired[Table]:
    shared = {one.name: getattr(question, one.name) for one in fields(question)}
    return Paired(**{**shared, "models": couple}, among=among, kept=kept)


def _completed(
    question: Several[Table], at: float | None = None, test: str | None = None, default_at: float | None = None
) -> Several[Table]:
    """What is asked of these models: a measure as stated, decisions, or the usual measure of their tables."""
    pairs, draws, names, spec = question.cases, question.draws, question.models, question.spec
    tables = [pairs.tables[pairs.index(name)] for name in names]
    stated = default_at if at is None else at
    # 0.5 was not chosen on these cases, as any other cut would be.
    halves = (name for name, table in zip(names, tables, strict=True) if table.thresholded and table.probabilities)
    cuts = dict.fromkeys(halves, 0.5) if stated is None else dict.fromkeys(names, stated)
    question = replace(question, at=cuts)
    if spec is None:
        named = test is not None and about_decisions(parse_test(test).noun)
        cut = all(name in cuts or decides(table) for name, table in zip(names, tables, strict=True))
        if at is not None or named or (test is None and cut and _crisp(tables)):
            whole = at is None and all(map(decides, tables))
            return replace(question, spec=RIGHT) if whole else question
        spec = RIGHT if all(map(decides, tables)) and _crisp(tables) else usual(tables)
    scoring = _scoring(pairs, tables, spec)
    if scoring is not None:
        held = dict(zip(scoring.models, scoring.tables, strict=True))
        pairs, draws = scoring, Draws(held, scoring, draws.replicates, draws.seed, draws.progress)
    return replace(question, spec=spec, cases=pairs, draws=draws)


def usual(tables: Sequence[Table]) -> MeasureSpec:
    """What is compared when nothing is asked for: the first usual measure that all of these tables have.

    >>> from scorespace.tables import score_table
    >>> str(usual([score_table([1, 0, 1], [0.9, 0.4, 0.6])]))
    'auc'
    """
    known = (*map(parse, USUAL), *(MeasureSpec(one.name) for one in measures()))
    for spec in known:
        if bindable(spec, tables):
            return spec
    raise MeasureError("no measure is defined for all of these models.", hint='measure="…"')


def _crisp(tables: Sequence[Table]) -> bool:
    """Whether decisions are compared when nothing else is asked for: one of the models has nothing else."""
    return any(map(decides, tables)) and not bindable(parse(USUAL[0]), tables)


def _scoring(pairs: PairTable, tables: Sequence[Table], spec: MeasureSpec) -> PairTable | None:
    """All models as scores, where a decision among them is asked for its rank or at a threshold."""
    if not any(map(decides, tables)) or (bindable(spec, tables) and spec.measure.area is None):
        return None
    try:
        return pairs.scoring()
    except NoTableError:
        return None

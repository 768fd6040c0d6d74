"""Models on the same cases: choose the test, run it for each pair of models, and adjust p values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain, combinations
from typing import Any, Final

from scorespace.comparisons.design import ACCURACY, MultipleModels, PairedModels, bindable, has_decisions
from scorespace.comparisons.eligibility import (
    is_decision_test,
)
from scorespace.comparisons.margin import Margin
from scorespace.comparisons.resampling_tests import permutation
from scorespace.comparisons.result import (
    UNTESTED,
    Alternative,
    Comparison,
    Comparisons,
    adjust_tests,
    check_alternative,
)
from scorespace.comparisons.test import ChosenTest, Discouraged, NotApplicable, chosen, parse_test
from scorespace.errors import MeasureError, ScoreSpaceError, listing
from scorespace.inference.bootstrap import REPLICATES, BootstrapDraws
from scorespace.inference.estimate import check_level
from scorespace.measures.catalog import MeasureSpec, measures, parse
from scorespace.registry import Call
from scorespace.results import Progress
from scorespace.tables import NoTableError, Table
from scorespace.tables.paired import PairTable

DEFAULT_MEASURES: Final = ("auc[hand_till]", "auc", "acc", "mae", "mean", "ndcg@10")
"""Default measures of a comparison: the first that all models have; decisions are compared as such."""


def compare(
    pairs: PairTable,
    *,
    test: str | None = None,
    spec: MeasureSpec | None = None,
    at: float | None = None,
    default_at: float | None = None,
    models: Sequence[str] = (),
    draws: BootstrapDraws | None = None,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    margin: Margin | None = None,
    adjust: str = "holm",
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparisons:
    """Test all pairs of models, with p values adjusted by Holm's method or as stated.

    Without a test, the first applicable one is used: `scorespace tests` lists them. `at` requests a comparison of
    decisions at this threshold; `default_at` is used where only the test implies decisions, and 0.5 for probabilities
    otherwise. Three or more models are first tested all at once, where there is such a test.

    >>> from scorespace.tables.paired import pair_table
    >>> scores = {"a": [0.9, 0.4, 0.6, 0.7, 0.2], "b": [0.9, 0.4, 0.6, 0.7, 0.2]}
    >>> compare(pair_table([1, 0, 1, 0, 0], scores))[0].p
    1.0
    """
    names = tuple(models) or pairs.models
    drawn = draws or BootstrapDraws(
        dict(zip(pairs.models, pairs.tables, strict=True)), pairs, seed=seed, progress=progress
    )
    settings: dict[str, Any] = {"spec": spec, "level": level, "alternative": alternative, "margin": margin}
    design, choice, results = _test_pairs(pairs, names, drawn, test, at, default_at, **settings)
    return _combine(design, [(choice, results)], adjust)


def compare_matched_pairs(
    couples: Mapping[tuple[str, str], PairTable],
    models: tuple[str, ...],
    draws: BootstrapDraws,
    *,
    test: str | None = None,
    at: float | None = None,
    default_at: float | None = None,
    adjust: str = "holm",
    **settings: Any,
) -> Comparisons:
    """Compare models whose cases are matched only pair by pair."""
    _check_two_models(models)
    tested = [_test_pairs(pairs, names, draws, test, at, default_at, **settings) for names, pairs in couples.items()]
    design = replace(tested[0][0], models=models, couples=couples)
    return _combine(design, [(choice, results) for _, choice, results in tested], adjust)


def _test_pairs(
    pairs: PairTable,
    names: tuple[str, ...],
    draws: BootstrapDraws,
    test: str | None,
    at: float | None,
    default_at: float | None,
    **settings: Any,
) -> tuple[MultipleModels[Table], ChosenTest, list[Comparison]]:
    """Return the design, the chosen test, and its results for every pair of models."""
    check_level(settings["level"])
    check_alternative(settings["alternative"])
    _check_two_models(names)
    for name in names:
        pairs.index(name)
    spec: MeasureSpec | None = settings["spec"]
    if at is not None and spec is not None:
        raise MeasureError(
            f"at={at:g} requests decisions, and {spec} is a measure.", hint=f'measure="{replace(spec, at=at)}"'
        )
    if at is not None and any(pairs.tables[pairs.index(name)].scores_classes for name in names):
        raise MeasureError(
            "a threshold is for two classes; multiclass decisions use the highest score.", hint="no threshold"
        )
    design: MultipleModels[Table] = MultipleModels(
        **settings, cases=pairs, draws=_draws_of_pairs(draws, pairs), models=names
    )
    design = _complete_design(design, at, test, default_at)
    cache: dict[Any, Any] = {}
    questions = [_paired_design(design, couple, names, cache) for couple in combinations(names, 2)]
    return design, *_run_test(chosen(test, questions[0]), questions)


def _draws_of_pairs(draws: BootstrapDraws, pairs: PairTable) -> BootstrapDraws:
    """Return the draws for matched cases, or for bins that match two models."""
    return draws if pairs.times is None else draws.fresh_copy(pairs=pairs)


def _check_two_models(names: tuple[str, ...]) -> None:
    if len(names) < 2:
        raise ScoreSpaceError("a comparison needs two models.", seen=listing(names), hint="name another model")


def _run_test(choice: ChosenTest, questions: Sequence[PairedModels[Table]]) -> tuple[ChosenTest, list[Comparison]]:
    """Run a test; where it was not requested and is undefined, use the permutation test instead."""
    results = [choice.kind(result, **choice.call.options) for result in questions]
    undefined = [result for result in results if math.isnan(result.p) and not math.isnan(result.difference)]
    if undefined and not choice.stated and questions[0].tested and permutation.misfit(questions[0]) is None:
        doubt = Discouraged(f"{choice.kind.named} is undefined: {undefined[0].reason}", "SS012")
        choice = ChosenTest(Call(permutation), (*choice.doubts, doubt), stated=False)
        results = [permutation(result) for result in questions]
    return choice, [result if result.reason else replace(result, reason=choice.reason) for result in results]


def _combine(
    design: MultipleModels[Table], tested: Sequence[tuple[ChosenTest, list[Comparison]]], adjust: str
) -> Comparisons:
    """Combine the tests of all pairs, after that of all models at once, with adjusted p values and notes."""
    (choice, _), *_ = tested
    kind, omnibus = choice.kind, []
    if len(design.models) > 2 and design.margin is None and not isinstance(kind.misfit(design), NotApplicable):
        form = kind.forms[MultipleModels]
        known = {option.name for option in form.options}
        omnibus = [form.function(design, **{k: v for k, v in choice.call.options.items() if k in known})]
    notes = [(*choice.notes, *(note_ for result in results for note_ in result.notes)) for choice, results in tested]
    adjusted_results, method, adjustment_notes = adjust_tests(
        [result for _, results in tested for result in results], "pairs", adjust
    )
    level = design.level if design.margin is None else design.margin.shown_level(design.level)
    comparisons = tuple(replace(result, level=level) for result in (*omnibus, *adjusted_results))
    return Comparisons(design.models, comparisons, method, (*dict.fromkeys(chain(*notes)), *adjustment_notes))


def differences(
    pairs: PairTable, draws: BootstrapDraws, a: str, b: str, specs: Sequence[MeasureSpec], *, level: float = 0.95
) -> dict[MeasureSpec, Comparison]:
    """Return the difference of two models in each measure with its interval; only the first is tested.

    A single prespecified test needs no adjustment; the others show how large the differences are.

    >>> from scorespace.tables.paired import pair_table
    >>> pairs = pair_table([1, 0] * 30, {"a": range(60), "b": [k % 7 for k in range(60)]})
    >>> draws = BootstrapDraws(dict(zip(pairs.models, pairs.tables)), pairs)
    >>> found = differences(pairs, draws, "a", "b", [parse("auc"), parse("ks")])
    >>> [(one.test, one.p > 0) for one in found.values()]
    [('delong', True), ('bootstrap', False)]
    """
    cache: dict[Any, Any] = {}
    draws = _draws_of_pairs(draws, pairs)
    settings: dict[str, Any] = {"level": level, "cases": pairs, "draws": draws, "models": (a, b)}
    questions = [
        _paired_design(_complete_design(MultipleModels(spec=spec, **settings)), (a, b), (), cache) for spec in specs
    ]
    questions = [replace(item, tested=k == 0) for k, item in enumerate(questions)]
    choices = [chosen(None, design) for design in questions]
    general_specs = [spec for spec, choice in zip(specs, choices, strict=True) if choice.kind.general]
    if general_specs and all(item.draws is draws for item in questions):
        questions[0].drawn(REPLICATES, *general_specs)  # one set of replicates for all measures
    results: dict[MeasureSpec, Comparison] = {}
    for spec, design, choice in zip(specs, questions, choices, strict=True):
        _, (item,) = _run_test(choice, [design])
        results[spec] = item if design.tested else _without_test(item, specs[0])
    return results


def _without_test(comparison: Comparison, tested: MeasureSpec) -> Comparison:
    reason = comparison.reason if math.isnan(comparison.difference) else f"{UNTESTED}: the test is of {tested}"
    return replace(comparison, p=math.nan, statistic=math.nan, df=math.nan, reason=reason)


def _paired_design(
    design: MultipleModels[Table], couple: tuple[str, str], among: tuple[str, ...], cache: dict[Any, Any]
) -> PairedModels[Table]:
    settings = {field_.name: getattr(design, field_.name) for field_ in fields(design)}
    return PairedModels(**{**settings, "models": couple}, among=among, kept=cache)


def _complete_design(
    design: MultipleModels[Table], at: float | None = None, test: str | None = None, default_at: float | None = None
) -> MultipleModels[Table]:
    """Complete a design: the requested measure, decisions, or the default measure of the tables."""
    pairs, draws, names, spec = design.cases, design.draws, design.models, design.spec
    tables = [pairs.tables[pairs.index(name)] for name in names]
    stated = default_at if at is None else at
    # Unlike other thresholds, 0.5 was not chosen on these cases.
    probability_models = (
        name for name, table in zip(names, tables, strict=True) if table.thresholded and table.probabilities
    )
    thresholds = dict.fromkeys(probability_models, 0.5) if stated is None else dict.fromkeys(names, stated)
    design = replace(design, at=thresholds)
    if spec is None:
        named = test is not None and is_decision_test(parse_test(test).noun)
        is_decidable = all(
            name in thresholds or has_decisions(table) for name, table in zip(names, tables, strict=True)
        )
        if at is not None or named or (test is None and is_decidable and _compares_decisions(tables)):
            has_only_decisions = at is None and all(map(has_decisions, tables))
            return replace(design, spec=ACCURACY) if has_only_decisions else design
        spec = ACCURACY if all(map(has_decisions, tables)) and _compares_decisions(tables) else default_measure(tables)
    scoring = _as_scores(pairs, tables, spec)
    if scoring is not None:
        tables_by_model = dict(zip(scoring.models, scoring.tables, strict=True))
        pairs, draws = scoring, BootstrapDraws(tables_by_model, scoring, draws.replicates, draws.seed, draws.progress)
    return replace(design, spec=spec, cases=pairs, draws=draws)


def default_measure(tables: Sequence[Table]) -> MeasureSpec:
    """Return the default measure: the first that all of these tables have.

    >>> from scorespace.tables import score_table
    >>> str(default_measure([score_table([1, 0, 1], [0.9, 0.4, 0.6])]))
    'auc'
    """
    candidates = (*map(parse, DEFAULT_MEASURES), *(MeasureSpec(measure.name) for measure in measures()))
    for spec in candidates:
        if bindable(spec, tables):
            return spec
    raise MeasureError("no measure is defined for all of these models.", hint='measure="…"')


def _compares_decisions(tables: Sequence[Table]) -> bool:
    """Whether decisions are compared by default: one of the models has nothing else."""
    return any(map(has_decisions, tables)) and not bindable(parse(DEFAULT_MEASURES[0]), tables)


def _as_scores(pairs: PairTable, tables: Sequence[Table], spec: MeasureSpec) -> PairTable | None:
    """Convert all models to scores, where the measure needs the ranking or a threshold for decisions."""
    if not any(map(has_decisions, tables)) or (bindable(spec, tables) and spec.measure.area is None):
        return None
    try:
        return pairs.scoring()
    except NoTableError:
        return None

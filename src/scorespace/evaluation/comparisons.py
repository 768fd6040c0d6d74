"""Comparisons between an evaluation's models, with another sample, and with a value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scorespace.comparisons import unpaired
from scorespace.comparisons.classes import compare_classes, compare_decisions
from scorespace.comparisons.compare import compare
from scorespace.comparisons.comparison import Comparison, Comparisons
from scorespace.decisions import best_value, decided_by_half
from scorespace.errors import MeasureError, ScoreSpaceError, listing
from scorespace.measures import MeasureSpec, parse
from scorespace.results import Note, note
from scorespace.tables import ClassTable, ConfusionTable, ScoreTable

if TYPE_CHECKING:
    from scorespace.evaluation.evaluation import Evaluation

_BOOTSTRAPPED_SCORES: Final = 5_000


def compare_models(
    evaluation: Evaluation,
    models: Sequence[str],
    *,
    test: str | None,
    measure: str | None,
    at: float | None = None,
    rope: float | None = None,
) -> Comparisons:
    """Tests between models on the same cases."""
    if len(evaluation.models) < 2:
        raise ScoreSpaceError("a comparison needs two models.", seen=listing(evaluation.models))
    if measure is not None and (test or "").startswith("mcnemar"):
        raise MeasureError(f"McNemar's test is for acc, not for {measure}.", hint="test bootstrap instead")
    if evaluation.pairs is None and evaluation.comparable:
        return _with_gaps(evaluation, _compare_classes(evaluation, models, test, measure, at))
    if evaluation.pairs is None:
        raise ScoreSpaceError(
            "these models cannot be compared case by case.",
            seen="weights, tables, several classes, or more rows than are kept",
            hint="paired=True, two classes and no weights",
        )
    if at is not None and (measure is not None or not (test or "mcnemar").startswith("mcnemar")):
        wanted = parse(measure).label if measure else "acc"
        raise MeasureError(f"at={at:g} is for McNemar's test.", hint=f"measure={wanted + f'@{at:g}'!r}")
    names = tuple(models) or evaluation.pairs.models
    crisp = [name for name in names if isinstance(evaluation.table(name), ConfusionTable)]
    thresholds, pairs = None, evaluation.pairs
    if at is not None or (measure is None and crisp) or (test or "").startswith("mcnemar"):
        thresholds = {name: _cut(evaluation, name, at) for name in evaluation.pairs.models}
    fitted = _chosen_cuts(evaluation) if thresholds is not None and at is None else []
    if thresholds is not None and fitted:
        # By accuracy, which the test is about. Cut by another measure, models that are alike differ in it for real.
        pairs = decided_by_half(pairs, fitted, best_value(MeasureSpec("acc")), seed=evaluation.seed)
        thresholds |= dict.fromkeys(fitted, 0.5)
    found = compare(
        pairs,
        test=test,
        spec=None if measure is None else parse(measure),
        thresholds=thresholds,
        chosen=names,
        level=evaluation.level,
        seed=evaluation.seed,
        rope=rope,
        progress=evaluation.progress,
    )
    return _with_gaps(evaluation, replace(found, notes=(*found.notes, *_half_notes(fitted, names))))


def _chosen_cuts(evaluation: Evaluation) -> list[str]:
    """The models whose cut these very cases would choose: by costs, or by Youden's index of what is no probability."""
    chosen = evaluation.condition is not None
    scored = {name: table for name, table in evaluation.models.items() if isinstance(table, ScoreTable)}
    return [name for name, table in scored.items() if chosen or not table.probabilities]


def _half_notes(fitted: Sequence[str], names: Sequence[str]) -> Iterator[Note]:
    """The note that half of the cases chose the thresholds at which the other half is compared."""
    shown = [name for name in fitted if name in names]
    if shown:
        text = f"no threshold is stated for {', '.join(shown)}: half of the cases choose it, where most of them come"
        yield note(
            "SS013", f"{text} right, and the other half is compared; a threshold stated before needs no such split."
        )


def _compare_classes(
    evaluation: Evaluation, names: Sequence[str], test: str | None, measure: str | None, at: float | None
) -> Comparisons:
    """Tests between models of several classes: of their scores where all have such, else of their decisions."""
    if at is not None:
        raise MeasureError(f"at={at:g} is for two classes: here the highest score decides.", hint="no threshold")
    tables = {name: evaluation.table(name) for name in names or evaluation.right or evaluation.class_models}
    scored = {name: table for name, table in tables.items() if isinstance(table, ClassTable)}
    if len(scored) < len(tables) and measure is None:
        unknown = [name for name in tables if name not in evaluation.right]
        if unknown:
            raise ScoreSpaceError(f"{unknown[0]} cannot be compared case by case.", seen=listing(evaluation.right))
        return compare_decisions({name: evaluation.right[name] for name in tables}, test=test, level=evaluation.level)
    if len(scored) < len(tables):
        other = next(name for name in tables if name not in scored)
        raise MeasureError(
            f"{measure} is compared by scores of the classes, and {other} has none.", hint="test mcnemar, for acc"
        )
    return compare_classes(
        scored,
        test=test,
        spec=None if measure is None else parse(measure),
        level=evaluation.level,
        seed=evaluation.seed,
        progress=evaluation.progress,
    )


def compare_samples(
    evaluation: Evaluation, other: Evaluation, models: Sequence[str], *, test: str | None, measure: str | None
) -> Comparisons:
    """Each model against the one of the same name on another, independent sample."""
    names = tuple(models) or tuple(evaluation.models)
    if evaluation.positive != other.positive:
        raise ScoreSpaceError(
            "the two samples have different positive classes.", seen=listing([evaluation.positive, other.positive])
        )
    absent = [name for name in names if name not in other.models]
    if absent:
        raise ScoreSpaceError(f"there is no model {absent[0]!r} in {other.name}.", seen=listing(other.models))
    alike = evaluation.name == other.name
    found = unpaired.compare_models(
        {name: _sample(evaluation, name) for name in names},
        {name: _sample(other, name) for name in names},
        None if measure is None else parse(measure),
        sides=("the first sample", "the second sample") if alike else (evaluation.name, other.name),
        test=test,
        level=evaluation.level,
        seed=evaluation.seed,
    )
    return _with_gaps(other, _with_gaps(evaluation, found))


def compare_with(
    evaluation: Evaluation, value: float, models: Sequence[str], *, test: str | None, measure: str | None
) -> Comparisons:
    """Each model's AUC, or another measure, against a value."""
    samples = {name: _sample(evaluation, name) for name in models or evaluation.models}
    spec = None if measure is None else parse(measure)
    found = unpaired.compare_with_value(samples, value, spec, test=test, level=evaluation.level, seed=evaluation.seed)
    return _with_gaps(evaluation, found)


def differences(evaluation: Evaluation) -> dict[str, Comparison]:
    """The measures shown of two scoring models compared, by measure."""
    scoring = [name for name, table in evaluation.models.items() if not isinstance(table, ConfusionTable)]
    if not evaluation.comparable or len(evaluation.models) != 2 or len(scoring) != 2:
        return {}
    asked = [{str(one.spec) for one in evaluation.summary if one.model == name} for name in scoring]
    specs = [one.spec for one in evaluation.summary if one.model == scoring[0] and str(one.spec) in asked[1]]
    scores = len(evaluation.classes) if evaluation.class_models else 1
    quick = evaluation.rows * scores <= _BOOTSTRAPPED_SCORES
    independent = evaluation.pairs is not None and evaluation.pairs.group is None

    def test(spec: MeasureSpec) -> str:
        return "delong" if spec == MeasureSpec("auc") and independent else "bootstrap"

    return {
        str(spec): evaluation.compare(*scoring, measure=str(spec), test=test(spec))[0]
        for spec in specs
        if quick or test(spec) == "delong"
    }


def _sample(evaluation: Evaluation, model: str) -> unpaired.Sample:
    """What is drawn again to judge one model alone: its table, or its cases by groups where there are such."""
    pairs = evaluation.pairs
    if pairs is not None and pairs.group is not None and model in pairs.models:
        return pairs.only(model)
    return evaluation.table(model)


def _with_gaps(evaluation: Evaluation, found: Comparisons) -> Comparisons:
    """The comparisons, with the note that rows were dropped: what is missing need not be missing by chance."""
    dropped = tuple(one for one in evaluation.sample_notes if one.code == "SS009")
    return replace(found, notes=(*dropped, *found.notes)) if dropped else found


def _cut(evaluation: Evaluation, model: str, at: float | None) -> float:
    """Where decisions are cut: a crisp one between 0 and 1, a score where stated or where it is shown."""
    if isinstance(evaluation.models[model], ConfusionTable):
        return 0.5
    return evaluation.threshold(model) if at is None else at

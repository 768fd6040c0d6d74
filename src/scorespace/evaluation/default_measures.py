"""Which measures are computed: the requested ones that suit a model, else the default ones of its kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Final

from scorespace.case_costs import CaseCosts
from scorespace.costs import Condition, CostMatrix
from scorespace.errors import ScoreSpaceError
from scorespace.measures import MeasureSpec, measures, parse
from scorespace.measures.confusion import youden
from scorespace.measures.request import bind, can_compute, operating_point, stated_threshold
from scorespace.options import Implied
from scorespace.profiles import GENERAL, PROFILES, Profile
from scorespace.tables import ClassBins, ClassTable, ConfusionTable, Counts, ScoreTable, Table
from scorespace.tables.models import Models
from scorespace.tables.threshold import Scale, Threshold, to_scale_units, user_threshold

COST: Final = "cost"
YOUDEN: Final = youden.name
RARE_MEASURE: Final = "ap"
RARE: Final = 0.05
"""Share of positives below which average precision leads: ROC areas hide how many predicted positives are wrong."""

_ALL_RANKING: Final = ("auc", "auprc", "ks", "h")
_ALL_PROBABILITY: Final = ("brier", "logloss", "cal", "ref", "smauc")
_ALL_AT_THRESHOLD: Final = ("tpr", "fpr", "tnr", "ppv", "npv", "f1", "mcc")
_ALL_DECISIONS: Final = ("acc", "bacc", "tpr", "fpr", "tnr", "ppv", "npv", "f1", "mcc", "kappa")
_MULTICLASS: Final = ("acc", "bacc", "f1[macro]")
_ALL_MULTICLASS: Final = ("acc", "bacc", "kappa", "mcc", "f1[macro]", "f1[weighted]")
_ORDINAL: Final = ("kappa(weights=quadratic)", "class_distance")
_MAX_MEASURES_OF_PLUGIN: Final = 12

OperatingCondition = Condition | CostMatrix | CaseCosts


def has_rare_positives(table: Table) -> bool:
    """Whether fewer than 5 % of the cases are positive, so that precision and recall lead.

    >>> from scorespace.tables import score_table
    >>> has_rare_positives(score_table([1] + [0] * 30, range(31)))
    True
    """
    return table.thresholded and 0 < float(table.inside(ScoreTable).n_pos) < RARE * float(table.total)


@singledispatch
def default_measures(
    table: Table, at: float | None = None, profile: Profile = PROFILES[GENERAL], full: bool = False
) -> list[MeasureSpec]:
    """The measures shown when none are requested; `full` gives all that are usual for this kind of table."""
    return [MeasureSpec(one.name) for one in measures() if type(table) in one.functions][:_MAX_MEASURES_OF_PLUGIN]


@default_measures.register
def _(
    table: ScoreTable, at: float | None = None, profile: Profile = PROFILES[GENERAL], full: bool = False
) -> list[MeasureSpec]:
    ranking, proper, decided = profile.ranking, profile.probability, profile.threshold
    if full:
        ranking, proper, decided = _ALL_RANKING, _ALL_PROBABILITY, _ALL_AT_THRESHOLD
    if has_rare_positives(table):
        ranking = (RARE_MEASURE, *(name for name in ranking if name != RARE_MEASURE and (full or name != "auprc")))
    names = dict.fromkeys((*ranking, *(proper if table.probabilities else ())))
    return [*map(MeasureSpec, names), *(MeasureSpec(name, at=at) for name in decided)]


@default_measures.register(ClassBins)
@default_measures.register(ClassTable)
def _(
    table: ClassTable | ClassBins,
    at: float | None = None,
    profile: Profile = PROFILES[GENERAL],
    full: bool = False,
) -> list[MeasureSpec]:
    areas = ("auc",) if len(table.class_names) == 2 else ("auc[hand_till]", *(("auc[weighted]",) if full else ()))
    proper = (("brier", "logloss", "ece") if full else ("logloss",)) if table.probabilities else ()
    ordinal = (*(("rps",) if table.probabilities else ()), *_ORDINAL) if table.ordinal else ()
    return [*map(parse, (*areas, *proper, *(_ALL_MULTICLASS if full else _MULTICLASS), *ordinal))]


@default_measures.register
def _(
    table: ConfusionTable, at: float | None = None, profile: Profile = PROFILES[GENERAL], full: bool = False
) -> list[MeasureSpec]:
    if table.positive is not None:
        return [*map(parse, _ALL_DECISIONS if full else profile.decisions)]
    return [*map(parse, (*(_ALL_MULTICLASS if full else _MULTICLASS), *(_ORDINAL if table.ordinal else ())))]


def wanted(
    models: Models,
    requested: Sequence[MeasureSpec],
    at: Mapping[str, float | None],
    condition: OperatingCondition | None,
    profile: Profile = PROFILES[GENERAL],
    full: bool = False,
) -> dict[str, list[MeasureSpec]]:
    """The measures of every model: the requested ones that suit it, or the default ones and the cost."""
    found = {}
    for name, table in models.items():
        if requested:
            found[name] = applicable_specs(requested, table, at[name], condition)
            continue
        costs = [] if condition is None else applicable_specs([MeasureSpec(COST)], table, at[name], condition)
        defaults = default_measures(table, at[name], profile, full or profile.full)
        found[name] = [*(under(spec, table, condition) for spec in defaults), *costs]
    return found


def applicable_specs(
    requested: Sequence[MeasureSpec], table: Table, at: float | None, condition: OperatingCondition | None = None
) -> list[MeasureSpec]:
    """The requests that apply to a model, at its threshold where one is needed and none is stated."""
    specs = (placed(spec, table, at, condition) for spec in requested)
    return unique(spec for spec in specs if can_compute(spec, table))


def with_companions(requested: Sequence[MeasureSpec]) -> list[MeasureSpec]:
    """The requests, each with the companion measure that it should be read beside.

    >>> [str(spec) for spec in with_companions([parse("smauc")])]
    ['auc', 'smauc']
    """
    named = ((spec, spec.measure.companion) for spec in requested)
    pairs = ([*([_companion(spec, name)] if name else []), spec] for spec, name in named)
    return unique(spec for pair in pairs for spec in pair)


def unique(specs: Iterable[MeasureSpec]) -> list[MeasureSpec]:
    """The requests without repeated names; one measure under two names is shown twice."""
    return list({str(spec): spec for spec in specs}.values())


def _companion(spec: MeasureSpec, name: str) -> MeasureSpec:
    """Another measure of the same class at the same operating point."""
    return replace(spec, name=name, options=(), asked=None, prevalence=None).for_prevalence(spec.prevalence)


def placed(
    spec: MeasureSpec, table: Table, at: float | None, condition: OperatingCondition | None = None
) -> MeasureSpec:
    """The request at the model's threshold and under the stated costs, where it needs them and states none.

    >>> from scorespace.tables import score_table
    >>> str(placed(parse("cost"), score_table([1, 0], [0.9, 0.4]), 0.5, Condition(fp=1, fn=5)))
    'cost(fp=1, fn=5)@0.5'
    """
    spec, needs_decisions = directed(spec, table), spec.measure.table is Counts
    return under(replace(spec, at=operating_point(spec, table, at)) if needs_decisions else spec, table, condition)


def directed(spec: MeasureSpec, table: Table) -> MeasureSpec:
    """The request with the direction of the values, where it has one and states none.

    >>> from scorespace.tables import value_table
    >>> directed(parse("mean"), value_table([1.0, 2.0], lower=True)).best
    'low'
    """
    known = {option.name for option in spec.measure.options}
    if not table.low_is_better or "best" not in known - dict(spec.options).keys():
        return spec
    return replace(spec, options=(*spec.options, ("best", Implied("low"))))


def under(spec: MeasureSpec, table: Table, condition: OperatingCondition | None) -> MeasureSpec:
    """The request with the costs and the prevalence of the condition, where it does not state its own."""
    if condition is None:
        return spec
    if not spec.measure.conditioned:
        prevalence = condition.prevalence if isinstance(condition, Condition) else None
        return spec if table.positive_name is None else spec.for_prevalence(prevalence)
    if spec.of not in (None, table.positive_name):
        if isinstance(condition, CostMatrix) or spec.of not in table.class_names:
            return spec  # one class against the rest, or an average: no costs are stated for these
        condition = condition.swapped()
    stated = condition.stated(table.class_names) | dict(spec.options)
    options = tuple((one.name, stated[one.name]) for one in spec.measure.options if one.name in stated)
    return replace(spec, options=options)


def stated_on(scale: Scale, requested: Sequence[MeasureSpec]) -> list[MeasureSpec]:
    """The requests with thresholds converted from the units of a scale to scores.

    >>> stated_on((0, 10), [parse("tpr@5")])[0].at
    0.5
    """
    if scale is None:
        return list(requested)
    return [
        replace(spec, at=user_threshold(spec.at, scale))
        if isinstance(spec.at, float) and not isinstance(spec.at, Threshold)
        else spec
        for spec in requested
    ]


def check_requests(
    models: Models,
    specs: Sequence[MeasureSpec],
    at: Mapping[str, float | None],
    condition: OperatingCondition | None = None,
) -> None:
    """Refuse a request that applies to none of the models, with the reason."""
    for spec in specs:
        if not any(applicable_specs([spec], table, at[name], condition) for name, table in models.items()):
            name, table = next(iter(models.items()))
            bind(placed(spec, table, at[name], condition), table)  # raises the error that says why


def shown_threshold(
    model: str, table: Table, requested: Sequence[MeasureSpec], minimum_cost: float | None = None
) -> float:
    """The threshold at which a model is shown.

    The first stated one; else that of minimum cost; else 0.5 for probabilities; else that of maximum Youden index.
    """
    stated = stated_threshold(requested)
    if stated is not None:
        return stated
    if not table.thresholded:
        how = "decides by the highest score" if table.scores_classes else "gives decisions"
        how = how if table.class_names else f"holds {table.described()}"
        raise ScoreSpaceError(f"{model} {how}, so it has no threshold.", hint="leave out the threshold")
    if minimum_cost is not None:
        return minimum_cost
    scores = table.inside(ScoreTable)
    if scores.probabilities:
        return 0.5 if scores.scale is None else user_threshold(to_scale_units(0.5, scores.scale), scores.scale)
    from scorespace.decisions.threshold import best_threshold  # loaded only where a threshold is chosen

    return best_threshold(scores, youden).threshold

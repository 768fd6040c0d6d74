"""Which measures to show for which model: those asked for, where they make sense, or the usual ones of its kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Final

from scorespace.conditions import Condition, CostMatrix
from scorespace.errors import ScoreSpaceError
from scorespace.measures import MeasureSpec, measures, parse
from scorespace.measures.confusion import youden
from scorespace.measures.request import bind, operating_point, stated_threshold, suits
from scorespace.tables import ClassBins, ClassTable, ConfusionTable, Counts, ScoreTable, Table
from scorespace.tables.models import Models
from scorespace.tables.threshold import Scale, Threshold, in_units, typed_threshold

RANKING: Final = ("auc", "auprc", "ks", "h")
RARE_FIRST: Final = "auprc"
OF_PROBABILITIES: Final = ("brier", "cal", "ref", "smauc")
AT_THRESHOLD: Final = ("tpr", "fpr", "ppv", "f1", "mcc")
OF_DECISIONS: Final = ("acc", "bacc", "tpr", "fpr", "ppv", "f1", "mcc", "kappa")
OF_CLASSES: Final = ("acc", "bacc", "kappa", "mcc", "f1[macro]", "f1[weighted]")
OF_ORDER: Final = ("kappa(weights=quadratic)", "class_distance")
OF_CLASS_SCORES: Final = ("auc[hand_till]", "auc[weighted]")
OF_CLASS_PROBABILITIES: Final = ("brier", "logloss", "ece")
COST: Final = "cost"
YOUDEN: Final = youden.name
_MOST_OF_OTHERS: Final = 12
RARE: Final = 0.05
"""Share of positives below which precision and recall tell more than areas that average over all negatives."""


def rare(table: Table) -> bool:
    """Whether positives are so rare that precision-recall leads.

    >>> from scorespace.tables import score_table
    >>> rare(score_table([1] + [0] * 30, range(31)))
    True
    """
    return table.thresholded and 0 < float(table.inside(ScoreTable).n_pos) < RARE * float(table.total)


Stated = Condition | CostMatrix
"""An operating condition: of two classes, or of several."""


@singledispatch
def usual(table: Table, at: float | None = None) -> list[MeasureSpec]:
    """What is shown of a table when nothing is asked for; of a kind that names nothing, what is declared on it."""
    return [MeasureSpec(one.name) for one in measures() if type(table) in one.functions][:_MOST_OF_OTHERS]


@usual.register
def _(table: ScoreTable, at: float | None = None) -> list[MeasureSpec]:
    sized = OF_PROBABILITIES if table.probabilities else ()
    ranking = (RARE_FIRST, *(name for name in RANKING if name != RARE_FIRST)) if rare(table) else RANKING
    return [*map(MeasureSpec, (*ranking, *sized)), *(MeasureSpec(name, at=at) for name in AT_THRESHOLD)]


@usual.register(ClassBins)
@usual.register(ClassTable)
def _(table: ClassTable | ClassBins, at: float | None = None) -> list[MeasureSpec]:
    proper = OF_CLASS_PROBABILITIES if table.probabilities else ()
    ordered = (*(("rps",) if table.probabilities else ()), *OF_ORDER) if table.ordinal else ()
    areas = ("auc",) if len(table.class_names) == 2 else OF_CLASS_SCORES
    return [*map(parse, (*areas, *proper, *OF_CLASSES, *ordered))]


@usual.register
def _(table: ConfusionTable, at: float | None = None) -> list[MeasureSpec]:
    ordered = OF_ORDER if table.ordinal else ()
    return [*map(parse, OF_DECISIONS if table.positive is not None else (*OF_CLASSES, *ordered))]


def wanted(
    models: Models, asked: Sequence[MeasureSpec], at: Mapping[str, float | None], condition: Stated | None
) -> dict[str, list[MeasureSpec]]:
    """The measures of every model: those asked for that suit it, or the usual ones and the cost under a condition."""
    found = {}
    for name, table in models.items():
        costs = [] if condition is None else suiting([MeasureSpec(COST)], table, at[name], condition)
        own = (under(spec, table, condition) for spec in usual(table, at[name]))
        found[name] = suiting(asked, table, at[name], condition) if asked else [*own, *costs]
    return found


def suiting(
    asked: Sequence[MeasureSpec], table: Table, at: float | None, condition: Stated | None = None
) -> list[MeasureSpec]:
    """The requests that make sense for a model, at its threshold where one is needed and none is stated."""
    found = (one for one in (placed(spec, table, at, condition) for spec in asked) if suits(one, table))
    return by_name(found)


def with_beside(asked: Sequence[MeasureSpec]) -> list[MeasureSpec]:
    """The requests with what a measure is misread without before it, as a screen shows them.

    >>> [str(one) for one in with_beside([parse("smauc")])]
    ['auc', 'smauc']
    """
    pairs = ([*([_beside(one, one.measure.beside)] if one.measure.beside else []), one] for one in asked)
    return by_name(one for pair in pairs for one in pair)


def by_name(specs: Iterable[MeasureSpec]) -> list[MeasureSpec]:
    """The requests without those that are repeated under the same name; under two names, both are shown."""
    return list({str(one): one for one in specs}.values())


def _beside(spec: MeasureSpec, name: str) -> MeasureSpec:
    """The other measure of the same class at the same place."""
    return replace(spec, name=name, options=(), asked=None, prevalence=None).for_prevalence(spec.prevalence)


def placed(spec: MeasureSpec, table: Table, at: float | None, condition: Stated | None = None) -> MeasureSpec:
    """The request at the model's threshold and under the stated condition, where it needs them and states none.

    >>> from scorespace.tables import score_table
    >>> str(placed(parse("cost"), score_table([1, 0], [0.9, 0.4]), 0.5, Condition(fp=1, fn=5)))
    'cost(fp=1, fn=5)@0.5'
    """
    decides = spec.measure.table is Counts
    return under(replace(spec, at=operating_point(spec, table, at)) if decides else spec, table, condition)


def under(spec: MeasureSpec, table: Table, condition: Stated | None) -> MeasureSpec:
    """The request with the costs and the prevalence of the condition for those it does not state itself."""
    if condition is None:
        return spec
    if not spec.measure.conditioned:
        share = condition.prevalence if isinstance(condition, Condition) else None
        return spec if table.positive_name is None else spec.for_prevalence(share)
    if spec.of not in (None, table.positive_name):
        if isinstance(condition, CostMatrix) or spec.of not in table.class_names:
            return spec  # a class against the rest, or an average: the costs of neither are stated
        condition = condition.swapped()
    given = condition.stated(table.class_names) | dict(spec.options)
    return replace(
        spec, options=tuple((one.name, given[one.name]) for one in spec.measure.options if one.name in given)
    )


def stated_on(scale: Scale, asked: Sequence[MeasureSpec]) -> list[MeasureSpec]:
    """The requests with the thresholds that were stated in the units of a scale.

    >>> stated_on((0, 10), [parse("tpr@5")])[0].at
    0.5
    """
    if scale is None:
        return list(asked)
    return [
        replace(one, at=typed_threshold(one.at, scale))
        if isinstance(one.at, float) and not isinstance(one.at, Threshold)
        else one
        for one in asked
    ]


def check_requests(
    models: Models, specs: Sequence[MeasureSpec], at: Mapping[str, float | None], condition: Stated | None = None
) -> None:
    """Refuse a request that suits none of the models, with the reason."""
    for spec in specs:
        if not any(suiting([spec], table, at[name], condition) for name, table in models.items()):
            name, table = next(iter(models.items()))
            bind(placed(spec, table, at[name], condition), table)  # raises the error that says why


def shown_threshold(model: str, table: Table, asked: Sequence[MeasureSpec], chosen: float | None = None) -> float:
    """The threshold a model is shown at.

    The first one asked for; else that of least cost under the condition; else 0.5 for probabilities; else that
    of the highest Youden index.
    """
    stated = stated_threshold(asked)
    if stated is not None:
        return stated
    if not table.thresholded:
        how = "decides by the highest score" if table.scores_classes else "gives decisions"
        how = how if table.class_names else f"holds {table.described()}"
        raise ScoreSpaceError(f"{model} {how}, so it has no threshold.", hint="leave out the threshold")
    if chosen is not None:
        return chosen
    scores = table.inside(ScoreTable)
    if scores.probabilities:
        return 0.5 if scores.scale is None else typed_threshold(in_units(0.5, scores.scale), scores.scale)
    from scorespace.decisions.threshold import best_threshold  # decisions load for those who take some

    return best_threshold(scores, youden).threshold

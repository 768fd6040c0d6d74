"""The picture of each kind of curve: one line per curve, or what is declared for the kind here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from scorespace.curves import (
    calibration,
    cost_curve,
    hull,
    isotonic,
    predicted,
    quantiles,
    residuals,
    roc,
    rroc,
    smooth,
)
from scorespace.curves.classes import mean
from scorespace.curves.cost import cost_lines
from scorespace.curves.curve import Addition, Curve, CurveKind, beside
from scorespace.decisions import Decision
from scorespace.resampling.band import Band
from scorespace.resampling.estimate import Estimate
from scorespace.tables import ConfusionTable, ScoreTable
from scorespace.views.answers import Answers
from scorespace.views.charts.calibration import calibration_chart
from scorespace.views.charts.classes import class_curves_chart, confusion_chart
from scorespace.views.charts.curves import Parts, crisp_points, curve_chart, part_layers
from scorespace.views.charts.decision import chosen_marks, cost_space_chart
from scorespace.views.charts.estimates import measures_chart
from scorespace.views.charts.marks import Spec
from scorespace.views.charts.numbers import isotonic_chart, quantile_chart, rroc_chart, scatter_chart
from scorespace.views.charts.scores import distribution_chart, stacked_ranks_chart
from scorespace.views.charts.several import beside_each_other
from scorespace.views.charts.smooth import smooth_chart
from scorespace.views.classes import two_by_two

Curves = Mapping[str, Any]
Tables = Mapping[str, Any]
Bands = Mapping[str, Band]

RARE: Final = 0.01
"""Share of positives below which false alarms need a log axis."""

_LINES: Final = 12  # of single thresholds in cost space: more of them weave a moiré

picture: Addition[Callable[[Curves, Tables, Bands], Any]] = Addition()
"""The chart of a kind of curve that is more than its lines: from the curves, their tables and bands, by name."""


Drawn = Callable[[Answers], Spec]
PICTURES: Final[dict[str, Drawn]] = {}
"""The pictures of an evaluation that are no curves, by name."""


def shows(function: Drawn) -> Drawn:
    """Add a picture of evaluations, under the name of its function."""
    PICTURES[function.__name__.strip("_")] = function
    return function


@shows
def confusion(evaluation: Answers) -> Spec:
    """Which class is taken for which by each model, a two-class one at its threshold."""
    charts = [confusion_chart(table, name) for name, table in _decisions(evaluation).items()]
    return charts[0] if len(charts) == 1 else beside_each_other(charts)


@shows
def distribution(evaluation: Answers) -> Spec:
    """The scores of both classes, one panel per model."""
    return distribution_chart(_score_tables(evaluation))


@shows
def ranks(evaluation: Answers) -> Spec:
    """The stacked ranks behind Mann and Whitney's U: below each positive, the negatives that it outranks."""
    return stacked_ranks_chart(_score_tables(evaluation))


@shows
def measures(evaluation: Answers) -> Spec:
    """Every measure of every model with its interval."""
    by_measure: dict[str, list[Estimate]] = {}
    for one in evaluation.summary:
        by_measure.setdefault(str(replace(one.spec, at=None)), []).append(one)
    return measures_chart(list(by_measure.values()))


def _decisions(evaluation: Answers) -> dict[str, ConfusionTable]:
    models, two = evaluation.models, evaluation.models.two_class
    counted = {name: two_by_two(evaluation, evaluation.counts(name)) for name in two}
    several = {name: table for name, table in models.items() if table.class_names and name not in counted}
    found = counted | {name: table.inside(ConfusionTable) for name, table in several.items()}
    return {name: found[name] for name in models if name in found}


def _score_tables(evaluation: Answers) -> dict[str, ScoreTable]:
    return {name: evaluation.models[name] for name in evaluation.models.thresholded}


def as_altair(spec: Spec) -> Any:
    """The chart for people who go on with Altair: the same spec, not checked and not changed."""
    import altair  # loads only for them

    forms: dict[str, Any] = {
        "layer": altair.LayerChart,
        "facet": altair.FacetChart,
        "concat": altair.ConcatChart,
        "hconcat": altair.HConcatChart,
        "vconcat": altair.VConcatChart,
    }
    form = next(kind for part, kind in forms.items() if part in spec)
    return form.from_dict(spec, validate=False)


@picture(roc)
def _roc(curves: Curves, tables: Tables, bands: Bands) -> Any:
    rare = _log_from(tables)
    return curve_chart(curves, bands=bands, below=part_layers(curves), above=crisp_points(curves), log_from=rare)


@picture(cost_curve)
def _cost(curves: Curves, tables: Tables, bands: Bands) -> Any:
    lines = {name: cost_lines(table, 0) for name, table in tables.items()}  # of thresholds on the hull alone
    return cost_space_chart(
        curves, {name: ends[:: -(-len(ends) * len(lines) // _LINES)] for name, ends in lines.items()}
    )


@picture(calibration)
def _calibration(curves: Curves, tables: Tables, bands: Bands) -> Any:
    return calibration_chart(curves, tables, bands or None)


decided: Addition[Callable[[Curves, Bands, Decision], Any]] = Addition()
"""The same with a decision: its line of equal cost, and the chosen point."""


@decided(roc)
def _roc_decided(curves: Curves, bands: Bands, decision: Decision) -> Any:
    below, above = part_layers(curves), [*crisp_points(curves), *chosen_marks(decision)]
    return curve_chart(curves, bands=bands, below=below, above=above)


@decided(hull)
def _hull_decided(curves: Curves, bands: Bands, decision: Decision) -> Any:
    return curve_chart(curves, above=chosen_marks(decision))


def _alone(chart: Callable[..., Any], **more: Any) -> Callable[[Curves, Tables, Bands], Any]:
    """What draws the curves, whatever their tables and bands."""
    return lambda curves, tables, bands: chart(curves, **more)


picture(smooth)(_alone(smooth_chart))
picture(rroc)(_alone(rroc_chart))
picture(quantiles)(_alone(quantile_chart))
picture(isotonic)(_alone(isotonic_chart))
picture(predicted)(_alone(scatter_chart, diagonal=True, words="Truth against prediction"))
picture(residuals)(_alone(scatter_chart, diagonal=False, words="Error against prediction"))


def draw(
    kind: CurveKind[Any],
    curves: Curves,
    tables: Tables,
    bands: Bands,
    classes: Mapping[str, str] | None = None,
    decision: Decision | None = None,
    parts: Parts | None = None,
) -> Any:
    """The curves of a kind as a chart, with what belongs beside them.

    `classes`: the class of each, where they are those of one model; then their mean is drawn, too. `decision`: the
    line of equal cost is drawn through its point, in ROC space. `parts`: the model of each curve and what it shows.
    """
    deciding = decided.of(kind)
    if decision is not None and deciding is not None:
        return deciding(curves, bands, decision)
    averaged, special = mean.of(kind), picture.of(kind)
    if classes and averaged is not None and not bands:
        named = {classes[name]: curve for name, curve in curves.items()}
        return class_curves_chart(named, averaged(curves.values()), kind.name)
    if special is not None:
        return special(curves, tables, bands)
    others, of = _beside(kind, tables)
    return curve_chart({**curves, **others}, bands=bands, baseline=_level(kind, tables), of=of, parts=parts)


def _log_from(tables: Tables) -> float | None:
    """Where a log axis of false alarms begins, where positives are rare: about the rate of a single one."""
    shares = [float(table.n_pos / table.total) for table in tables.values() if float(table.total)]
    negatives = max((float(table.n_neg) for table in tables.values()), default=0.0)
    return 10.0 ** -math.ceil(math.log10(negatives)) if shares and max(shares) < RARE and negatives > 1 else None


def _beside(kind: CurveKind[Any], tables: Tables) -> tuple[dict[str, Curve], dict[str, str]]:
    """The curves that belong beside those of a kind, and whose colour each has; one that all share is drawn once."""
    companions = beside.of(kind)
    if companions is None:
        return {}, {}
    found: dict[str, dict[str, Curve]] = {}
    for model, table in tables.items():
        for name, curve in companions(table).items():
            found.setdefault(name, {})[model] = curve
    drawn: dict[str, Curve] = {}
    owner: dict[str, str] = {}
    for name, of_models in found.items():
        first, *others = of_models.values()
        if "{model}" not in name and all(other == first for other in others):
            drawn[name] = first
        else:
            named = name if "{model}" in name else f"{{model}}, {name}"
            drawn |= {named.replace("{model}", model): curve for model, curve in of_models.items()}
            owner |= {named.replace("{model}", model): model for model in of_models}
    return drawn, owner


def _level(kind: CurveKind[Any], tables: Tables) -> float | None:
    """The height that chance reaches, where it is the same for all."""
    levels = {kind.level(table) for table in tables.values()} if kind.level is not None else set()
    return levels.pop() if len(levels) == 1 else None

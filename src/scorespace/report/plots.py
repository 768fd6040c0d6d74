"""Chart of each kind of curve: one line per curve, or a chart registered here for the kind."""

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
from scorespace.curves.cost import cost_lines
from scorespace.curves.curve import Curve, CurveExtension, CurveKind
from scorespace.curves.curve import companion_curves as beside
from scorespace.curves.macro_average import mean
from scorespace.decisions import Decision
from scorespace.inference.bands import Band
from scorespace.inference.estimate import Estimate
from scorespace.report.calibration import calibration_chart
from scorespace.report.chart_files import concatenate
from scorespace.report.chart_theme import Spec
from scorespace.report.confusion import two_by_two
from scorespace.report.confusion_charts import class_curves_chart, confusion_chart
from scorespace.report.curve_charts import Parts, crisp_points, curve_chart, part_layers
from scorespace.report.decision import chosen_marks, cost_space_chart
from scorespace.report.measures import measures_chart
from scorespace.report.protocol import EvaluationView
from scorespace.report.regression_charts import isotonic_chart, quantile_chart, rroc_chart, scatter_chart
from scorespace.report.score_charts import distribution_chart, stacked_ranks_chart
from scorespace.report.smooth import smooth_chart
from scorespace.tables import ConfusionTable, ScoreTable

Curves = Mapping[str, Any]
Tables = Mapping[str, Any]
Bands = Mapping[str, Band]

RARE: Final = 0.01
"""Prevalence below which the false positive rate has a log axis."""

_MAX_COST_LINES: Final = 12  # cost lines of single thresholds; more would produce a moiré pattern

picture: CurveExtension[Callable[[Curves, Tables, Bands], Any]] = CurveExtension()
"""Charts of kinds of curves that are more than lines: functions of curves, tables and bands, by name."""


Drawn = Callable[[EvaluationView], Spec]
PICTURES: Final[dict[str, Drawn]] = {}
"""Charts of an evaluation without curve data, by name."""


def shows(function: Drawn) -> Drawn:
    """Register a chart of evaluations under the name of its function."""
    PICTURES[function.__name__.strip("_")] = function
    return function


@shows
def confusion(evaluation: EvaluationView) -> Spec:
    """Confusion matrix of each model, binary classifiers at their threshold."""
    charts = [confusion_chart(table, name) for name, table in _decisions(evaluation).items()]
    return charts[0] if len(charts) == 1 else concatenate(charts)


@shows
def distribution(evaluation: EvaluationView) -> Spec:
    """Score distributions of both classes, one panel per model."""
    return distribution_chart(_score_tables(evaluation))


@shows
def ranks(evaluation: EvaluationView) -> Spec:
    """Stacked ranks: below each positive, the negatives it outranks; the area is the Mann-Whitney U."""
    return stacked_ranks_chart(_score_tables(evaluation))


@shows
def measures(evaluation: EvaluationView) -> Spec:
    """All measures of all models with their confidence intervals."""
    by_measure: dict[str, list[Estimate]] = {}
    for estimate in evaluation.summary:
        by_measure.setdefault(str(replace(estimate.spec, at=None)), []).append(estimate)
    return measures_chart(list(by_measure.values()))


def _decisions(evaluation: EvaluationView) -> dict[str, ConfusionTable]:
    models, binary = evaluation.models, evaluation.models.two_class
    binary_tables = {name: two_by_two(evaluation, evaluation.counts(name)) for name in binary}
    multiclass = {name: table for name, table in models.items() if table.class_names and name not in binary_tables}
    tables = binary_tables | {name: table.inside(ConfusionTable) for name, table in multiclass.items()}
    return {name: tables[name] for name in models if name in tables}


def _score_tables(evaluation: EvaluationView) -> dict[str, ScoreTable]:
    return {name: evaluation.models[name] for name in evaluation.models.thresholded}


def plot_curve(curve: Curve) -> Any:
    """One curve as an Altair chart."""
    return as_altair(curve_chart({curve.kind: curve}))


def as_altair(spec: Spec) -> Any:
    """The chart as an Altair object, with the same spec."""
    import altair  # optional dependency

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
    log_from = _log_from(tables)
    return curve_chart(curves, bands=bands, below=part_layers(curves), above=crisp_points(curves), log_from=log_from)


@picture(cost_curve)
def _cost(curves: Curves, tables: Tables, bands: Bands) -> Any:
    lines = {name: cost_lines(table, 0) for name, table in tables.items()}  # thresholds on the convex hull only
    return cost_space_chart(
        curves,
        {name: line_ends[:: -(-len(line_ends) * len(lines) // _MAX_COST_LINES)] for name, line_ends in lines.items()},
    )


@picture(calibration)
def _calibration(curves: Curves, tables: Tables, bands: Bands) -> Any:
    return calibration_chart(curves, tables, bands or None)


decision_chart: CurveExtension[Callable[[Curves, Bands, Decision], Any]] = CurveExtension()
"""Charts with a decision: its iso-cost line and the chosen point."""


@decision_chart(roc)
def _roc_decided(curves: Curves, bands: Bands, decision: Decision) -> Any:
    below, above = part_layers(curves), [*crisp_points(curves), *chosen_marks(decision)]
    return curve_chart(curves, bands=bands, below=below, above=above)


@decision_chart(hull)
def _hull_decided(curves: Curves, bands: Bands, decision: Decision) -> Any:
    return curve_chart(curves, above=chosen_marks(decision))


def _ignoring_tables(chart: Callable[..., Any], **settings: Any) -> Callable[[Curves, Tables, Bands], Any]:
    """A chart function of the curves only."""
    return lambda curves, tables, bands: chart(curves, **settings)


picture(smooth)(_ignoring_tables(smooth_chart))
picture(rroc)(_ignoring_tables(rroc_chart))
picture(quantiles)(_ignoring_tables(quantile_chart))
picture(isotonic)(_ignoring_tables(isotonic_chart))
picture(predicted)(_ignoring_tables(scatter_chart, diagonal=True, title="Truth against prediction"))
picture(residuals)(_ignoring_tables(scatter_chart, diagonal=False, title="Error against prediction"))


def draw(
    kind: CurveKind[Any],
    curves: Curves,
    tables: Tables,
    bands: Bands,
    classes: Mapping[str, str] | None = None,
    decision: Decision | None = None,
    parts: Parts | None = None,
) -> Any:
    """Chart of the curves of a kind, with companion curves.

    `classes`: class of each curve of a multiclass model, whose mean is drawn, too. `decision`: its iso-cost line is
    drawn in ROC space. `parts`: model and quantity of each curve.
    """
    draw_decision = decision_chart.of(kind)
    if decision is not None and draw_decision is not None:
        return draw_decision(curves, bands, decision)
    average, draw_kind = mean.of(kind), picture.of(kind)
    if classes and average is not None and not bands:
        curves_by_class = {classes[name]: curve for name, curve in curves.items()}
        return class_curves_chart(curves_by_class, average(curves.values()), kind.name)
    if draw_kind is not None:
        return draw_kind(curves, tables, bands)
    companions, model_of = _companions(kind, tables)
    return curve_chart(
        {**curves, **companions}, bands=bands, baseline=_chance_level(kind, tables), of=model_of, parts=parts
    )


def _log_from(tables: Tables) -> float | None:
    """Start of the log axis of false positive rates if positives are rare: about the rate of one case."""
    prevalences = [float(table.n_pos / table.total) for table in tables.values() if float(table.total)]
    negatives = max((float(table.n_neg) for table in tables.values()), default=0.0)
    return (
        10.0 ** -math.ceil(math.log10(negatives)) if prevalences and max(prevalences) < RARE and negatives > 1 else None
    )


def _companions(kind: CurveKind[Any], tables: Tables) -> tuple[dict[str, Curve], dict[str, str]]:
    """Companion curves of a kind, and the model whose colour each shares; one common to all models is drawn once."""
    companions = beside.of(kind)
    if companions is None:
        return {}, {}
    curves_by_name: dict[str, dict[str, Curve]] = {}
    for model, table in tables.items():
        for name, curve in companions(table).items():
            curves_by_name.setdefault(name, {})[model] = curve
    companion_curves: dict[str, Curve] = {}
    model_of: dict[str, str] = {}
    for name, curves_by_model in curves_by_name.items():
        first, *others = curves_by_model.values()
        if "{model}" not in name and all(other == first for other in others):
            companion_curves[name] = first
        else:
            name_template = name if "{model}" in name else f"{{model}}, {name}"
            companion_curves |= {
                name_template.replace("{model}", model): curve for model, curve in curves_by_model.items()
            }
            model_of |= {name_template.replace("{model}", model): model for model in curves_by_model}
    return companion_curves, model_of


def _chance_level(kind: CurveKind[Any], tables: Tables) -> float | None:
    """Chance level, if it is the same for all models."""
    levels = {kind.level(table) for table in tables.values()} if kind.level is not None else set()
    return levels.pop() if len(levels) == 1 else None

"""Chart of each kind of curve: one line per curve, or a chart registered here for the kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
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
from scorespace.curves.curve import Curve, CurveExtension, CurveKind
from scorespace.decisions import Decision
from scorespace.inference.bands import Band
from scorespace.inference.estimate import Estimate
from scorespace.report.calibration import calibration_chart
from scorespace.report.chart_files import concatenate, svg
from scorespace.report.chart_theme import Spec
from scorespace.report.confusion_charts import class_curves_chart, confusion_chart
from scorespace.report.curve_charts import Parts, crisp_points, curve_chart, part_layers
from scorespace.report.decision import cost_space_chart
from scorespace.report.few_cases import Labels, counts_chart, has_few_cases, rank_staircase_chart, threshold_labels
from scorespace.report.hull_charts import chosen_marks, hull_chart
from scorespace.report.mean_charts import means_chart
from scorespace.report.measures import measures_chart
from scorespace.report.protocol import EvaluationView
from scorespace.report.regression_charts import isotonic_chart, quantile_chart, rroc_chart, scatter_chart
from scorespace.report.score_charts import distribution_chart, stacked_ranks_chart
from scorespace.report.smooth_charts import sets_chart, smooth_chart, smooth_steps_chart
from scorespace.tables import ScoreTable, ratio

Curves = Mapping[str, Any]
Tables = Mapping[str, Any]
Bands = Mapping[str, Band]

_MAX_COST_LINES: Final = 12  # cost lines of single thresholds; more would produce a moiré pattern

picture: CurveExtension[Callable[[Curves, Tables, Bands], Any]] = CurveExtension()
"""Charts of kinds of curves that are more than lines: functions of curves, tables and bands, by name."""


CaseNames = Mapping[str, Labels]
"""Names of the cases of each model at each score."""


@dataclass(frozen=True)
class ChartKind:
    """A chart of an evaluation that is not a curve."""

    name: str
    title: str
    function: Callable[[EvaluationView, CaseNames], Spec]

    def __call__(self, evaluation: EvaluationView, names: CaseNames) -> Spec:
        """The chart; `names` labels cases where there are few."""
        return self.function(evaluation, names)


PICTURES: Final[dict[str, ChartKind]] = {}
"""Charts of an evaluation that are not curves, by name."""


def shows(title: str) -> Callable[[Callable[[EvaluationView, CaseNames], Spec]], ChartKind]:
    """Register a chart of evaluations under the name of its function."""

    def register(function: Callable[[EvaluationView, CaseNames], Spec]) -> ChartKind:
        kind = ChartKind(function.__name__, title, function)
        PICTURES[kind.name] = kind
        return kind

    return register


@shows("Confusion matrix")
def confusion(evaluation: EvaluationView, names: CaseNames) -> Spec:
    """Confusion matrix of each model, binary classifiers at their threshold."""
    charts = [confusion_chart(table, name) for name, table in evaluation.decision_tables.items()]
    return charts[0] if len(charts) == 1 else concatenate(charts)


@shows("Score distributions")
def distribution(evaluation: EvaluationView, names: CaseNames) -> Spec:
    """Score distributions of both classes, one panel per model."""
    return distribution_chart(_score_tables(evaluation))


@shows("Mann-Whitney U as stacked ranks")
def ranks(evaluation: EvaluationView, names: CaseNames) -> Spec:
    """Ranks whose area is U: of few cases in three steps, of many below each positive the negatives it outranks."""
    tables = _score_tables(evaluation)
    if len(tables) == 1 and all(map(has_few_cases, tables.values())):
        return rank_staircase_chart(*next(iter(tables.items())))
    return stacked_ranks_chart(tables)


@shows("Smooth ROC curve step by step")
def smooth_steps(evaluation: EvaluationView, names: CaseNames) -> Spec:
    """Construction of the smooth ROC curve of at most 30 cases, each segment with its case, class and score."""
    return _each(evaluation, lambda name, table: smooth_steps_chart(name, smooth(table), names.get(name)))


@shows("Four sets around the midpoint")
def sets(evaluation: EvaluationView, names: CaseNames) -> Spec:
    """Scores of both classes around the midpoint: high and low, positive and negative."""
    return _each(evaluation, lambda name, table: sets_chart(table, smooth(table).midpoint))


@shows("Means of precision and recall")
def means(evaluation: EvaluationView, names: CaseNames) -> Spec:
    """Arithmetic, geometric and harmonic mean (F1) over the plane of precision and recall, with the models on it."""
    counts = {name: evaluation.counts(name) for name in evaluation.models.two_class}
    return means_chart({name: (float(c.tp / c.p), float(ratio(c.tp, c.tp + c.fp))) for name, c in counts.items()})


@shows("Measures with intervals")
def measures(evaluation: EvaluationView, names: CaseNames) -> Spec:
    """All measures of all models with their confidence intervals."""
    by_measure: dict[str, list[Estimate]] = {}
    for estimate in evaluation.summary:
        by_measure.setdefault(str(replace(estimate.spec, at=None)), []).append(estimate)
    return measures_chart(list(by_measure.values()))


def _each(evaluation: EvaluationView, draw: Callable[[str, ScoreTable], Spec]) -> Spec:
    """A chart of each model with scores."""
    charts = [draw(name, table) for name, table in _score_tables(evaluation).items()]
    return charts[0] if len(charts) == 1 else concatenate(charts)


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
    return _offline(form).from_dict(spec, validate=False)


@cache
def _offline(form: Any) -> Any:
    """The Altair class with notebook output that needs no network and no extension: the chart as SVG.

    Altair's own output loads Vega from a content delivery network.
    """

    def bundle(self: Any, *_: Any, **__: Any) -> dict[str, str]:
        return {"image/svg+xml": svg(self.to_dict()), "text/plain": f"<{form.__name__}>"}

    return type(form.__name__, (form,), {"_repr_mimebundle_": bundle, "__module__": form.__module__})


def _roc_chart(curves: Curves, bands: Bands, log_from: float | None, names: CaseNames) -> Any:
    """ROC curves on linear axes, or with a log axis of false positive rates; in counts with one scale on both."""
    above = crisp_points(curves)
    if not above and not bands and len(curves) == 1 and all(has_few_cases(curve.table) for curve in curves.values()):
        above = [layer for name, curve in curves.items() for layer in threshold_labels(curve, names.get(name))]
    if any(curve.chance for curve in curves.values()):
        return counts_chart(curves, above)
    return curve_chart(curves, bands=bands, below=part_layers(curves), above=above, log_from=log_from)


@picture(cost_curve)
def _cost(curves: Curves, tables: Tables, bands: Bands) -> Any:
    lines = {name: curve.lines for name, curve in curves.items()}
    return cost_space_chart(
        curves,
        {name: line_ends[:: -(-len(line_ends) * len(lines) // _MAX_COST_LINES)] for name, line_ends in lines.items()},
    )


@picture(calibration)
def _calibration(curves: Curves, tables: Tables, bands: Bands) -> Any:
    return calibration_chart(curves, tables, bands or None)


Decisions = Sequence[Decision]
decision_chart: CurveExtension[Callable[[Curves, Tables, Bands, Decisions], Any]] = CurveExtension()
"""Charts with decisions: their iso-cost lines and the chosen points."""


@decision_chart(roc)
def _roc_decided(curves: Curves, tables: Tables, bands: Bands, decisions: Decisions) -> Any:
    below, above = part_layers(curves), [*crisp_points(curves), *chosen_marks(*decisions)]
    return curve_chart(curves, bands=bands, below=below, above=above)


@decision_chart(hull)
def _hull_decided(curves: Curves, tables: Tables, bands: Bands, decisions: Decisions) -> Any:
    *_, common = curves.values()  # the hull of all models, or of the only one
    return hull_chart({name: roc(table) for name, table in tables.items()}, common, decisions)


@picture(hull)
def _hull(curves: Curves, tables: Tables, bands: Bands) -> Any:
    return _hull_decided(curves, tables, bands, ())


def _ignoring_tables(chart: Callable[..., Any], **settings: Any) -> Callable[[Curves, Tables, Bands], Any]:
    """A chart function of the curves only."""
    return lambda curves, tables, bands: chart(curves, **settings)


picture(smooth)(_ignoring_tables(smooth_chart))
picture(rroc)(_ignoring_tables(rroc_chart))
picture(quantiles)(_ignoring_tables(quantile_chart))
picture(isotonic)(_ignoring_tables(isotonic_chart))
picture(predicted)(_ignoring_tables(scatter_chart, diagonal=True, title="Truth against prediction"))
picture(residuals)(_ignoring_tables(scatter_chart, diagonal=False, title="Error against prediction"))


@dataclass(frozen=True)
class Drawing:
    """Curves of a kind, with everything that their chart shows.

    `by_class`: curves of the classes of one model, with their `average`. `companions`: further curves with the model
    whose colour each shares. `chance`: the chance level, if all models share it. `parts`: model and quantity of each
    curve. `log_from`: start of a log x axis, of ROC curves. `names`: names of few cases.
    """

    kind: CurveKind[Any]
    curves: Curves
    tables: Tables
    bands: Bands
    by_class: Curves
    average: Curve | None
    companions: Curves
    model_of: Mapping[str, str]
    chance: float | None
    parts: Parts | None
    log_from: float | None = None
    names: CaseNames = field(default_factory=dict)

    def chart(self, decisions: Decisions = ()) -> Any:
        """The chart; with decisions, their iso-cost lines in ROC space."""
        draw_decisions, draw_kind = decision_chart.of(self.kind), picture.of(self.kind)
        if decisions and draw_decisions is not None:
            return draw_decisions(self.curves, self.tables, self.bands, decisions)
        if self.average is not None and not self.bands:
            return class_curves_chart(self.by_class, self.average, self.kind.name)
        if self.kind is roc:
            return _roc_chart(self.curves, self.bands, self.log_from, self.names)
        if draw_kind is not None:
            return draw_kind(self.curves, self.tables, self.bands)
        curves = {**self.curves, **self.companions}
        return curve_chart(curves, bands=self.bands, baseline=self.chance, of=self.model_of, parts=self.parts)

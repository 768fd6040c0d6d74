"""The curves of an evaluation's models, by the kind and the name that users type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any, Final

from scorespace.calibration.score_bands import bands as bands_of_scores
from scorespace.calibration.tests import calibration_band
from scorespace.comparisons import fold_curves as folded
from scorespace.comparisons.grades import grades
from scorespace.curves import roc
from scorespace.curves.bounds import bounded_area
from scorespace.curves.curve import CURVES, Curve, CurveKind, companion_curves, joint_curve
from scorespace.curves.macro_average import mean
from scorespace.decisions import Decision
from scorespace.errors import CurveError, listing
from scorespace.inference.bands import BANDS, SIMULTANEOUS, Band
from scorespace.inference.bands import band as bands
from scorespace.inference.clinical_bands import smooth_calibration_band
from scorespace.inference.distribution_bands import quantile_reliability_band
from scorespace.measures.threshold_curves import threshold
from scorespace.options import check_options, split_at_commas
from scorespace.registry import Call
from scorespace.report import plots
from scorespace.report.curve_charts import band_grid, log_start
from scorespace.report.protocol import EvaluationView
from scorespace.tables import Table
from scorespace.tables.models import Models
from scorespace.tables.table import ResolvedTable

AXES: Final = ("linear", "log")
"""Axes of charts; on a log axis, false positive rates start at about the rate of one case."""

COMMON: Final = "all together"
"""Name of the curve of all models together."""

_FROM_ABOVE = (
    *(threshold, calibration_band, smooth_calibration_band, quantile_reliability_band, bands_of_scores, grades),
)
"""Declared in packages above curves/."""


def kinds() -> tuple[CurveKind[Any], ...]:
    """Every kind of curve, third-party ones included."""
    return tuple(CURVES)


def find(name: str) -> CurveKind[Any]:
    """The kind of that name or alias."""
    return CURVES.find(name)


def requested(kind: str, **options: Any) -> Call[CurveKind[Any]]:
    """The requested kind of curve, with the options in its parentheses and further ones.

    >>> requested("calibration(by=count)", bins=20)
    Call(noun=calibration: ..., given=(('by', 'count'), ('bins', 20)))
    """
    call = CURVES.parse(kind)
    for name in call.options:
        if name in options:
            raise CurveError(f"the option {name!r} of {kind!r} is stated twice.", hint="each option once")
    check_options(call.noun, options, CurveError)
    return replace(call, given=(*call.given, *options.items()))


@dataclass(frozen=True)
class CurveFamily:
    """The curves of one kind with their tables, by model, or by model and class: nb[setosa].

    `classes` holds the class of each, where all are of one model. Where an option holds several values, there is a
    curve for each, and `parts` has the model of each curve and its value of `by`, the option.
    """

    kind: CurveKind[Any]
    curves: Mapping[str, Curve]
    tables: Mapping[str, Table]
    classes: Mapping[str, str]
    by: str = ""
    parts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def picture(
        self,
        drawn: Mapping[str, Band] | None = None,
        decisions: Sequence[Decision] = (),
        axes: str = "linear",
        names: plots.CaseNames | None = None,
    ) -> Any:
        """The curves as a chart, with reference lines, and with bands and decisions where given."""
        several = len({model for model, _ in self.parts.values()}) > 1
        average, class_of = mean.of(self.kind), self.classes
        companions, model_of = _companions(self.kind, self.tables)
        levels = {self.kind.level(table) for table in self.tables.values()} if self.kind.level is not None else set()
        drawing = plots.Drawing(
            self.kind,
            self.curves,
            self.tables,
            drawn or {},
            {class_of[name]: curve for name, curve in self.curves.items()} if class_of else {},
            average(self.curves.values()) if class_of and average is not None else None,
            companions,
            model_of,
            levels.pop() if len(levels) == 1 else None,
            self.parts if several else None,
            self.log_start(axes),
            names or {},
        )
        if decisions and drawing.log_from is not None:
            raise CurveError("iso-cost lines are drawn on linear axes only.", hint="leave out the costs or the axes")
        return drawing.chart(decisions)

    def log_start(self, axes: str) -> float | None:
        """Start of a log axis; None on linear axes."""
        if axes not in AXES:
            raise CurveError(f"there are no {axes!r} axes.", hint=f"one of {', '.join(AXES)}")
        if axes == "linear":
            return None
        tables: Any = self.tables.values()  # of a ROC curve, score tables
        start = log_start(tables) if self.kind is roc and not self.classes else None
        if start is None:
            raise CurveError(f"{self.kind.name} has no log axis.", hint="a ROC curve of several cases, or linear axes")
        return start

    def grid(self, axes: str) -> dict[str, Any]:
        """The rates at which bands are computed, as an option; by default evenly spaced ones."""
        start = self.log_start(axes)
        return {} if start is None else {"grid": band_grid(start)}

    @property
    def y_title(self) -> str:
        """The title that the curves share, or that of the kind."""
        titles = {curve.y_title for curve in self.curves.values()}
        return titles.pop() if len(titles) == 1 else self.kind.y

    @property
    def areas(self) -> dict[str, float]:
        """The area under each curve, for kinds that have one."""
        with_area = {kind.name for kind in kinds() if kind.area}
        return {name: curve.area() for name, curve in self.curves.items() if curve.kind in with_area}

    @property
    def certified_areas(self) -> dict[str, tuple[float, float]]:
        """Certified bounds of the areas of binned scores, where known."""
        bounds = bounded_area.of(self.kind)
        if bounds is None or not self.areas:
            return {}
        options = dict(self.options)
        return {name: bounds(table, **options) for name, table in self.tables.items() if table.coarse}


def family(
    evaluation: EvaluationView,
    call: Call[CurveKind[Any]],
    each: Mapping[str, Mapping[str, Any]] | None = None,
    models: Sequence[str] = (),
) -> CurveFamily:
    """The curves of all or the named models that have this kind, or of their classes; `each` holds options by model.

    An option that holds several values makes a curve of each.
    """
    for option in (one.name for one in call.noun.options if one.several and one.name in call.options):
        values = [one.strip() for one in split_at_commas(call.options[option], str(call), CurveError) if one.strip()]
        if len(values) > 1:
            return _several(evaluation, call, option, values, each)
    kind, found, classes = call.noun, dict[str, ResolvedTable](), dict[str, str]()
    for model, table in _models(evaluation, kind).items():
        if models and model not in models:
            continue
        whole = kind.fits(table)
        if whole is not None:
            found[model] = whole
            continue
        named = (name for name in table.class_names if evaluation.models.classes.get(name))
        present = [
            f'"{name}"' if name in kind.also else name for name in named
        ]  # a class that is named like an average
        for of in (*present, *kind.also):
            part = kind.fits(table, of)
            if part is not None:
                found[f"{model}[{of}]"], classes[f"{model}[{of}]"] = part, of
    curves = {name: _traced(evaluation, call, name, one, (each or {}).get(name, {})) for name, one in found.items()}
    together = joint_curve.of(kind)
    if together is not None and len(found) > 1 and not classes and COMMON not in found:
        curves[COMMON] = together({name: _models(evaluation, kind)[name] for name in found})
    of_one = len(evaluation.models) == 1
    tables = {name: one.table for name, one in found.items()}
    return CurveFamily(kind, curves, tables, classes if of_one else {}, options=call.options)


def _several(
    evaluation: EvaluationView, call: Call[CurveKind[Any]], name: str, values: Sequence[str], each: Any
) -> CurveFamily:
    """The curves for each value of an option, named by the value, and by the model if there are several."""
    given = {one: replace(call, given=tuple((call.options | {name: one}).items())) for one in values}
    families = {value: family(evaluation, one, each) for value, one in given.items()}
    alone = len({model for one in families.values() for model in one.curves}) == 1
    parts = {
        value if alone else f"{model}, {value}": (model, value)
        for value, one in families.items()
        for model in one.curves
    }
    curves = {shown: families[value].curves[model] for shown, (model, value) in parts.items()}
    tables = {shown: families[value].tables[model] for shown, (model, value) in parts.items()}
    return CurveFamily(call.noun, curves, tables, {}, name, parts)


def curve(evaluation: EvaluationView, call: Call[CurveKind[Any]], model: str | None) -> Curve:
    """The curve of one model, or of one class of a multiclass model."""
    name = model if model is not None else evaluation.models.only()
    return _traced(evaluation, call, name, _way(evaluation, call.noun, name), {})


def by_class(
    evaluation: EvaluationView, call: Call[CurveKind[Any]], model: str
) -> tuple[dict[str, Curve], Curve | None]:
    """The curves of the classes of a multiclass model against the rest, and their mean."""
    table = _models(evaluation, call.noun)[model]
    found = {name: call.noun(table.one_vs_rest(k), **call.options) for k, name in enumerate(table.classes)}
    average = mean.of(call.noun)
    return found, None if average is None else average(found.values())


def band(evaluation: EvaluationView, call: Call[CurveKind[Any]], model: str, simultaneous: bool, **more: Any) -> Band:
    """The confidence band of a model's curve."""
    draw = bands.of(call.noun)
    if draw is None:
        seen = f"bands of {listing(bands.functions)}"
        raise CurveError(f"{call.noun.name} has no band.", seen=seen, hint="leave out the band")
    name, of = evaluation.models.split_class(model)
    table = call.noun.fit(evaluation.models[name], of, name).table
    asked = {"level": evaluation.level, "simultaneous": simultaneous, "seed": evaluation.seed, **call.options, **more}
    takes, own = signature(draw).parameters, model in evaluation.models and table is evaluation.models[model]
    if own and "draws" in takes:  # use the same bootstrap replicates as the measures
        asked |= {"draws": evaluation.draws, "model": model}
    if evaluation.prevalence is not None and not call.noun.stratified:
        if "prevalence" not in takes:
            problem = f"{call.noun.name} has no band for a stated prevalence."
            raise CurveError(problem, hint="leave out the band, or the prevalence")
        asked |= {"prevalence": evaluation.prevalence}
    return draw(table, **asked)


def named_bands(
    evaluation: EvaluationView, call: Call[CurveKind[Any]], found: CurveFamily, kind: bool | str, axes: str = "linear"
) -> dict[str, Band]:
    """The bands of all curves, of a kind by name; none for False, simultaneous ones for True."""
    if kind is False:
        return {}
    name = SIMULTANEOUS if kind is True else kind
    if name not in BANDS:
        raise CurveError(f"band={kind!r} is unknown.", seen=listing(BANDS), hint=f'band="{SIMULTANEOUS}"')
    grid = found.grid(axes)
    return {model: band(evaluation, call, model, name == SIMULTANEOUS, **grid) for model in found.curves}


def averaged(
    evaluation: EvaluationView, call: Call[CurveKind[Any]], model: str | None, how: str
) -> folded.AveragedCurve:
    """The mean of a model's curves over folds."""
    name, of = evaluation.models.split_class(model if model is not None else evaluation.models.only())
    evaluation.models[name]  # refuses an unknown name
    pairs = evaluation.models.pairs
    if pairs is None or pairs.fold is None:
        raise CurveError("curves are averaged over folds, and no fold column is stated.", hint="fold=…, or no average")
    if evaluation.prevalence is not None and not call.noun.stratified:
        problem = f"the mean of {call.noun.name} over folds cannot use a stated prevalence."
        raise CurveError(problem, hint="leave out the average, or the prevalence")
    return folded.average_over_folds(pairs, name, call.noun, how, of=of, level=evaluation.level, **call.options)


def _traced(
    evaluation: EvaluationView, call: Call[CurveKind[Any]], name: str, found: ResolvedTable, more: Mapping[str, Any]
) -> Curve:
    kind, options = call.noun, {**call.options, **more}
    # Distances to a threshold refer to that of the model, unless stated.
    own = name in evaluation.models and found.table is _models(evaluation, kind)[name] and found.kind is kind.table
    if kind.placed is not None and own:
        options.setdefault(kind.placed, evaluation.threshold(name))
    return kind.certified_curve(found.table, found.function(found.table, **options), **options)


def _way(evaluation: EvaluationView, kind: CurveKind[Any], name: str) -> ResolvedTable:
    """The table that a kind of curve needs, of a model or of one of its classes."""
    model, of = evaluation.models.split_class(name)
    return kind.fit(_models(evaluation, kind)[model], of, model)


def _models(evaluation: EvaluationView, kind: CurveKind[Any]) -> Models:
    """The models, reweighted to the stated prevalence if the curve depends on it."""
    return evaluation.models if kind.stratified else evaluation.at_stated_prevalence


def _companions(kind: CurveKind[Any], tables: Mapping[str, Any]) -> tuple[dict[str, Curve], dict[str, str]]:
    """Companion curves of a kind, and the model whose colour each shares; one common to all models is drawn once."""
    companions = companion_curves.of(kind)
    if companions is None:
        return {}, {}
    curves_by_name: dict[str, dict[str, Curve]] = {}
    for model, table in tables.items():
        for name, curve in companions(table).items():
            curves_by_name.setdefault(name, {})[model] = curve
    shared: dict[str, Curve] = {}
    model_of: dict[str, str] = {}
    for name, curves_by_model in curves_by_name.items():
        first, *others = curves_by_model.values()
        if "{model}" not in name and all(other == first for other in others):
            shared[name] = first
        else:
            name_template = name if "{model}" in name else f"{{model}}, {name}"
            shared |= {name_template.replace("{model}", model): curve for model, curve in curves_by_model.items()}
            model_of |= {name_template.replace("{model}", model): model for model in curves_by_model}
    return shared, model_of

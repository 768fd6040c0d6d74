"""The curves of an evaluation's models, by the kind and the name that users type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Final

from scorespace.curves.certain import bounded_area
from scorespace.curves.curve import CURVES, Curve, CurveKind, common
from scorespace.declaration import Call, check_options, split_list
from scorespace.errors import CurveError, listing
from scorespace.frozen import dataclass
from scorespace.later import later
from scorespace.measures.sweep import threshold
from scorespace.probabilities.tests import calibration_band
from scorespace.resampling.band import Band
from scorespace.resampling.band import band as bands
from scorespace.tables import Table
from scorespace.tables.models import Models
from scorespace.tables.table import Way

if TYPE_CHECKING:
    from scorespace.comparisons import fold_curves as folded
    from scorespace.decisions import Decision
    from scorespace.views import plots
    from scorespace.views.answers import Answers
else:
    folded, plots = later("scorespace.comparisons.fold_curves"), later("scorespace.views.plots")

COMMON: Final = "all together"
"""What the curve of all models together is called."""

_FROM_ABOVE = (threshold, calibration_band)  # a kind and a band that rooms above curves/ declare


def kinds() -> tuple[CurveKind[Any], ...]:
    """Every kind of curve, third-party ones included."""
    return tuple(CURVES)


def find(name: str) -> CurveKind[Any]:
    """The kind of that name or alias."""
    return CURVES.find(name)


def requested(kind: str, **options: Any) -> Call[CurveKind[Any]]:
    """The kind of curve that a text asks for, with the options in its parentheses and those given besides.

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
class Family:
    """The curves of one kind, by the name of the model, or of a class of it in brackets, with the tables they are of.

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

    def picture(self, drawn: Mapping[str, Band] | None = None, decision: Decision | None = None) -> Any:
        """The curves as a chart, with what belongs beside them, and bands and a decision where given."""
        several = len({model for model, _ in self.parts.values()}) > 1
        parts = self.parts if several else None
        return plots.draw(self.kind, self.curves, self.tables, drawn or {}, self.classes, decision, parts)

    @property
    def y_title(self) -> str:
        """What the curves show: the title that they share, or that of the kind."""
        titles = {curve.y_title for curve in self.curves.values()}
        return titles.pop() if len(titles) == 1 else self.kind.y

    @property
    def areas(self) -> dict[str, float]:
        """The area of each curve, where it means anything."""
        told = {kind.name for kind in kinds() if kind.area}
        return {name: curve.area() for name, curve in self.curves.items() if curve.kind in told}

    @property
    def certified_areas(self) -> dict[str, tuple[float, float]]:
        """What the areas of coarse tables lie between, where that is known."""
        bounds = bounded_area.of(self.kind)
        if bounds is None or not self.areas:
            return {}
        options = dict(self.options)
        return {name: bounds(table, **options) for name, table in self.tables.items() if table.coarse}


def family(
    evaluation: Answers, call: Call[CurveKind[Any]], each: Mapping[str, Mapping[str, Any]] | None = None
) -> Family:
    """The curves of all models that have such a one, or else of their classes; `each` holds options by name.

    An option that holds several values makes a curve of each.
    """
    for option in (one.name for one in call.noun.options if one.several and one.name in call.options):
        values = [one.strip() for one in split_list(call.options[option], str(call), CurveError) if one.strip()]
        if len(values) > 1:
            return _several(evaluation, call, option, values, each)
    kind, found, classes = call.noun, dict[str, Way](), dict[str, str]()
    for model, table in _models(evaluation, kind).items():
        whole = kind.fits(table)
        if whole is not None:
            found[model] = whole
            continue
        named = (name for name in table.class_names if evaluation.models.classes.get(name))
        present = [f'"{name}"' if name in kind.also else name for name in named]  # a class with the name of a whole
        for of in (*present, *kind.also):
            part = kind.fits(table, of)
            if part is not None:
                found[f"{model}[{of}]"], classes[f"{model}[{of}]"] = part, of
    curves = {name: _traced(evaluation, call, name, one, (each or {}).get(name, {})) for name, one in found.items()}
    together = common.of(kind)
    if together is not None and len(found) > 1 and not classes and COMMON not in found:
        curves[COMMON] = together({name: _models(evaluation, kind)[name] for name in found})
    of_one = len(evaluation.models) == 1
    tables = {name: one.table for name, one in found.items()}
    return Family(kind, curves, tables, classes if of_one else {}, options=call.options)


def _several(evaluation: Answers, call: Call[CurveKind[Any]], name: str, values: Sequence[str], each: Any) -> Family:
    """The curves for each value of an option, named by it, and by the model where there are more."""
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
    return Family(call.noun, curves, tables, {}, name, parts)


def curve(evaluation: Answers, call: Call[CurveKind[Any]], model: str | None) -> Curve:
    """The curve of one model, or of one class of a model that scores several."""
    name = model if model is not None else evaluation.models.only()
    return _traced(evaluation, call, name, _way(evaluation, call.noun, name), {})


def band(evaluation: Answers, call: Call[CurveKind[Any]], model: str, simultaneous: bool) -> Band:
    """The band around the curve of one model."""
    draw = bands.of(call.noun)
    if draw is None:
        seen = f"bands of {listing(bands.functions)}"
        raise CurveError(f"{call.noun.name} has no band.", seen=seen, hint="leave out the band")
    name, of = evaluation.models.parted(model)
    table = call.noun.fit(evaluation.models[name], of, name).table
    asked = {"level": evaluation.level, "simultaneous": simultaneous, "seed": evaluation.seed, **call.options}
    takes, own = signature(draw).parameters, model in evaluation.models and table is evaluation.models[model]
    if own and "draws" in takes:  # then its replicates are those of the measures
        asked |= {"draws": evaluation.draws, "model": model}
    if evaluation.prevalence is not None and not call.noun.within_classes:
        if "prevalence" not in takes:
            problem = f"{call.noun.name} has no band for a stated prevalence."
            raise CurveError(problem, hint="leave out the band, or the prevalence")
        asked |= {"prevalence": evaluation.prevalence}
    return draw(table, **asked)


def averaged(evaluation: Answers, call: Call[CurveKind[Any]], model: str | None, how: str) -> folded.Averaged:
    """The mean of the curves of one model within folds."""
    name, of = evaluation.models.parted(model if model is not None else evaluation.models.only())
    evaluation.models[name]  # refuses an unknown name
    pairs = evaluation.models.pairs
    if pairs is None or pairs.fold is None:
        raise CurveError("curves are averaged over folds, and none are known.", hint="fold=…, or no average")
    if evaluation.prevalence is not None and not call.noun.within_classes:
        problem = f"the mean over folds of {call.noun.name} is that of the prevalence in each fold."
        raise CurveError(problem, hint="leave out the average, or the prevalence")
    return folded.average(pairs, name, call.noun, how, of=of, level=evaluation.level, **call.options)


def _traced(evaluation: Answers, call: Call[CurveKind[Any]], name: str, found: Way, more: Mapping[str, Any]) -> Curve:
    kind, options = call.noun, {**call.options, **more}
    # Nearness to a threshold is nearness to that of the model, where it has one of its own.
    own = name in evaluation.models and found.table is _models(evaluation, kind)[name] and found.kind is kind.table
    if kind.placed is not None and own:
        options.setdefault(kind.placed, evaluation.threshold(name))
    return kind.certain(found.table, found.function(found.table, **options), **options)


def _way(evaluation: Answers, kind: CurveKind[Any], name: str) -> Way:
    """The way to the table of a model, or of the class in brackets behind its name."""
    model, of = evaluation.models.parted(name)
    return kind.fit(_models(evaluation, kind)[model], of, model)


def _models(evaluation: Answers, kind: CurveKind[Any]) -> Models:
    """The models as such a curve has them: weighed to the stated prevalence, where it depends on that."""
    return evaluation.models if kind.within_classes else evaluation.in_use

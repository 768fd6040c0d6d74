"""The picture of each kind of curve: one line per curve, or what is declared for the kind here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scorespace.curves import calibration, cost_curve, hull, roc, smooth
from scorespace.curves.classes import mean
from scorespace.curves.cost import cost_lines
from scorespace.curves.curve import Addition, Curve, CurveKind, beside
from scorespace.decisions import Decision
from scorespace.resampling.band import Band
from scorespace.views.charts import (
    calibration_chart,
    class_curves_chart,
    cost_space_chart,
    curve_chart,
    smooth_chart,
)
from scorespace.views.charts.curves import crisp_points, part_layers
from scorespace.views.charts.decision import chosen_marks
from scorespace.views.charts.marks import Spec

Curves = Mapping[str, Any]
Tables = Mapping[str, Any]
Bands = Mapping[str, Band]

picture: Addition[Callable[[Curves, Tables, Bands], Any]] = Addition()
"""The chart of a kind of curve that is more than its lines: from the curves, their tables and bands, by name."""


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
    return curve_chart(curves, bands=bands, below=part_layers(curves), above=crisp_points(curves))


@picture(smooth)
def _smooth(curves: Curves, tables: Tables, bands: Bands) -> Any:
    return smooth_chart(curves)


@picture(cost_curve)
def _cost(curves: Curves, tables: Tables, bands: Bands) -> Any:
    return cost_space_chart(curves, {name: cost_lines(table) for name, table in tables.items()})


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


def draw(
    kind: CurveKind[Any],
    curves: Curves,
    tables: Tables,
    bands: Bands,
    classes: Mapping[str, str] | None = None,
    decision: Decision | None = None,
) -> Any:
    """The curves of a kind as a chart, with what belongs beside them.

    `classes`: the class of each, where they are those of one model; then their mean is drawn, too. `decision`: the
    line of equal cost is drawn through its point, in ROC space.
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
    return curve_chart({**curves, **_beside(kind, tables)}, bands=bands, baseline=_level(kind, tables))


def _beside(kind: CurveKind[Any], tables: Tables) -> dict[str, Curve]:
    """The curves that belong beside those of a kind; one that is the same for all models is drawn once."""
    companions = beside.of(kind)
    if companions is None:
        return {}
    found: dict[str, dict[str, Curve]] = {}
    for model, table in tables.items():
        for name, curve in companions(table).items():
            found.setdefault(name, {})[model] = curve
    drawn: dict[str, Curve] = {}
    for name, of_models in found.items():
        first, *others = of_models.values()
        if "{model}" not in name and all(other == first for other in others):
            drawn[name] = first
        else:
            named = name if "{model}" in name else f"{{model}}, {name}"
            drawn |= {named.replace("{model}", model): curve for model, curve in of_models.items()}
    return drawn


def _level(kind: CurveKind[Any], tables: Tables) -> float | None:
    """The height that chance reaches, where it is the same for all."""
    levels = {kind.level(table) for table in tables.values()} if kind.level is not None else set()
    return levels.pop() if len(levels) == 1 else None

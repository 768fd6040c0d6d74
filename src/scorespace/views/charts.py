"""Pictures of curves, scores and estimates, as Altair charts that hold tables and never the rows behind them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import altair as alt
import numpy as np
import vl_convert

from scorespace.comparisons.interval import Estimate
from scorespace.curves import Curve, PrCurve, sweep
from scorespace.errors import DataError, listing
from scorespace.measures import Measure
from scorespace.results import Row, grouped
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.views import report
from scorespace.views.document import Document, Picture, Section

POINTS: Final = 400
"""Most points drawn per curve."""

ENDINGS: Final = (".png", ".svg", ".pdf", ".html", ".json")
"""What `save` can write."""

BINS: Final = 40
"""Most bars drawn per class in a distribution of scores."""

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""The palette of Okabe and Ito, safe for colour-blind readers, without the two that vanish on white or on black."""

DASHES: Final = ((1, 0), (7, 3), (3, 2), (10, 3, 2, 3), (5, 2, 1, 2, 1, 2))
"""One dash per model, so that a print without colour still tells them apart; 5 against 6 colours gives 30 pairs."""

_INK, _SOFT, _FAINT = "#2b323b", "#5d6773", "#98a2ae"
_HOVER: Final = "hover"

# All text that comes from data is a value, never a field name or an expression: Vega would read dots and brackets.
_THEME: Final[Mapping[str, Any]] = {
    "background": "white",
    "font": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "domainColor": _FAINT,
        "gridColor": "#e3e7ec",
        "labelFlush": False,
        "labelColor": _SOFT,
        "labelFontSize": 12,
        "labelPadding": 6,
        "tickColor": _FAINT,
        "tickSize": 4,
        "titleColor": _INK,
        "titleFontSize": 13,
        "titleFontWeight": 500,
        "titlePadding": 10,
    },
    "header": {"labelColor": _INK, "labelFontSize": 13, "labelFontWeight": 600, "title": None},
    "legend": {
        "columnPadding": 20,
        "labelColor": _INK,
        "labelFontSize": 13,
        "labelLimit": 280,
        "offset": 10,
        "orient": "top",
        "rowPadding": 4,
        "symbolSize": 500,
        "symbolStrokeWidth": 2.4,
        "symbolType": "stroke",
        "title": None,
    },
    "line": {"strokeWidth": 2.4, "strokeJoin": "round", "strokeCap": "butt"},
    "text": {"color": _SOFT, "fontSize": 12},
}


@dataclass(frozen=True)
class _Frame:
    """How a kind of curve is framed: ends of the axes, shape, and the line that chance would draw."""

    x: tuple[float, float] | None = None
    y: tuple[float, float] | None = None
    square: bool = False
    chance: tuple[tuple[float, float], tuple[float, float]] | None = None
    steps: bool = False


_UNIT: Final = (0.0, 1.0)
_DIAGONAL: Final = ((0.0, 0.0), (1.0, 1.0))
_FRAMES: Final[Mapping[str, _Frame]] = {
    "roc": _Frame(_UNIT, _UNIT, square=True, chance=_DIAGONAL),
    "hull": _Frame(_UNIT, _UNIT, square=True, chance=_DIAGONAL),
    "pr": _Frame(_UNIT, _UNIT, square=True),
    "gain": _Frame(_UNIT, _UNIT, square=True, chance=_DIAGONAL),
    "lift": _Frame(_UNIT, chance=((0.0, 1.0), (1.0, 1.0))),
    # Between two scores nothing changes, so a measure is constant from one threshold down to the next.
    "threshold": _Frame(steps=True),
}


def curve_chart(curves: Mapping[str, Curve], *, baseline: float | None = None) -> alt.LayerChart:
    """One line per model, with the line of chance; `baseline` is the height that chance reaches in PR space."""
    if not curves:
        raise DataError("there is no curve to draw.")
    first = next(iter(curves.values()))
    frame = _FRAMES.get(first.kind, _Frame())
    chance = frame.chance if baseline is None else ((0.0, baseline), (1.0, baseline))
    lines = _lines(curves, frame, first.x_title, first.y_title, "Model")
    layers = lines if chance is None else [_reference(*chance), *lines]
    title = f"{first.y_title} against {first.x_title.lower()}: {', '.join(curves)}."
    width, height = (420, 420) if frame.square else (560, 320)
    return _themed(alt.layer(*layers).properties(width=width, height=height, description=title))


def threshold_chart(table: ScoreTable, measures: Sequence[Measure], at: float | None = None) -> alt.LayerChart:
    """Several measures of decisions against the threshold, with a rule at the chosen one."""
    if not measures:
        raise DataError("there is no measure to draw.")
    shares = all(0 <= measure.range[0] and measure.range[1] <= 1 for measure in measures)
    frame = replace(_FRAMES["threshold"], x=_unit_or_none(table.score), y=_UNIT if shares else None)
    curves = {measure.title: sweep(table, measure) for measure in measures}
    layers = _lines(curves, frame, "Threshold", "Value", "Measure")
    if at is not None and math.isfinite(at):
        chosen = alt.Chart(alt.InlineData(values=[{"x": _short(at), "label": f"{at:.4g}"}])).encode(x="x:Q")
        label = chosen.mark_text(align="left", baseline="top", dx=5, color=_INK).encode(text="label:N", y=alt.value(2))
        layers = [chosen.mark_rule(color=_INK, strokeWidth=1.5), *layers, label]
    title = f"{', '.join(curves)} against the threshold."
    return _themed(alt.layer(*layers).properties(width=560, height=320, description=title))


def distribution_chart(tables: Mapping[str, ScoreTable]) -> alt.FacetChart:
    """Where the scores of both classes lie, per model: positives upwards, the others downwards, as shares of the class."""
    if not tables:
        raise DataError("there are no scores to draw.")
    rows = [row for place, (name, table) in enumerate(tables.items()) for row in _bars(place, name, table)]
    common = all(_unit_or_none(table.score) for table in tables.values())
    lowest, highest = min(row["signed"] for row in rows), max(row["signed"] for row in rows)
    room = 0.15 * (highest - lowest)  # above and below the bars, for the names of the classes
    share = alt.Axis(labelExpr="format(abs(datum.value), '.0%')", tickCount=4, grid=False)
    bars = (
        alt.Chart()
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("low:Q", bin="binned", title="Score", axis=_axis(common), scale=_scale(_UNIT if common else None)),
            x2="high:Q",
            y=alt.Y("signed:Q", title="Share of class", axis=share, scale=_scale((lowest - room, highest + room))),
            color=_coloured("model", tables, legend=None),
            opacity=alt.Opacity("side:O", scale=alt.Scale(domain=["up", "down"], range=[1, 0.45]), legend=None),
            tooltip=[
                alt.Tooltip("model:N", title="Model"),
                alt.Tooltip("class:N", title="Class"),
                alt.Tooltip("span:N", title="Scores"),
                alt.Tooltip("share:Q", title="Share of class", format=".1%"),
            ],
        )
    )
    above = alt.Chart().mark_text(align="left", baseline="top").transform_filter("datum.label && datum.side == 'up'")
    below = (
        alt.Chart().mark_text(align="right", baseline="bottom").transform_filter("datum.label && datum.side == 'down'")
    )
    panel = alt.layer(
        bars,
        alt.Chart().mark_rule(color=_FAINT).encode(y=alt.datum(0)),
        above.encode(text="label:N", x=alt.value(6), y=alt.value(2)),
        below.encode(text="label:N", x=alt.value("width"), y=alt.value("height")),
    ).properties(width=560, height=140)
    by_model = alt.Facet(
        "model:N",
        sort=alt.EncodingSortField("place", op="min"),
        header=alt.Header(labelAnchor="start", labelPadding=4),
    )
    panels = panel.facet(by_model, columns=1, data=alt.InlineData(values=rows))
    if not common:
        panels = panels.resolve_scale(x="independent")
    title = f"Distribution of the scores of both classes: {', '.join(tables)}."
    return _themed(panels.properties(description=title, spacing=18))


def interval_chart(estimates: Iterable[Estimate]) -> alt.LayerChart:
    """One measure of every model as a dot, with its interval as a whisker."""
    estimates = list(estimates)
    if not estimates:
        raise DataError("there is no estimate to draw.")
    names = list(dict.fromkeys(estimate.model for estimate in estimates))
    rows = [
        {
            "model": estimate.model,
            # Two lines per label: the name, and the numbers that the dot and whisker stand for.
            "label": f"{' '.join(estimate.model.split())}\n{estimate.text}",
            "text": estimate.text,
            "reason": estimate.reason or "",
            **{key: _short(getattr(estimate, key)) for key in ("value", "low", "high")},
        }
        for estimate in estimates
    ]
    spec, level = estimates[0].spec, estimates[0].level
    measured = (
        spec.measure.title + (f" of {spec.of}" if spec.of else "") + ("" if spec.at is None else f" at {spec.at:g}")
    )
    label = alt.Axis(labelExpr=r"split(datum.value, '\n')", labelLimit=220, labelOffset=-8, labelColor=_INK)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("label:N", sort=None, title=None, axis=label),
        color=_coloured("model", names, legend=None),
        tooltip=[
            alt.Tooltip("model:N", title="Model"),
            alt.Tooltip("text:N", title=measured),
            *([alt.Tooltip("reason:N", title="Reason")] if any(estimate.reason for estimate in estimates) else []),
        ],
    )
    value = alt.X("value:Q", title=f"{measured} ({100 * level:g} % interval)", scale=alt.Scale(zero=False, padding=12))
    dots = base.mark_point(filled=True, size=110, opacity=1).encode(x=value)
    whiskers = base.mark_rule(strokeWidth=2.4).encode(x="low:Q", x2="high:Q")
    title = f"{measured}: {'; '.join(f'{estimate.model} {estimate.text}' for estimate in estimates)}."
    return _themed(alt.layer(whiskers, dots).properties(width=420, height=alt.Step(48), description=title))


def save(chart: alt.TopLevelMixin, path: str | Path, scale: float = 2.0) -> None:
    """Write a chart as .png, .svg, .pdf, .html or .json (Vega-Lite), by the ending; failing leaves no file behind."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise DataError(f"{str(path)!r} is no picture that can be written.", hint=f"an ending of {', '.join(ENDINGS)}")
    report.write_file(path, _encoded(chart.to_dict(), ending, scale))


def _encoded(spec: Row, ending: str, scale: float) -> bytes:
    if ending == ".json":
        return json.dumps(spec, indent=1).encode()
    if ending == ".html":
        picture = Picture(lambda: spec, alt=spec["description"])
        return report.render(Document("", "", (Section("chart", "", (picture,)),))).encode()
    still = _still(spec)
    if ending == ".svg":
        return vl_convert.vegalite_to_svg(still).encode()
    if ending == ".pdf":
        return vl_convert.vegalite_to_pdf(still)
    return vl_convert.vegalite_to_png(still, scale=scale)


def _still(spec: Row) -> Row:
    """The spec without what only a pointer can see."""
    shown = [layer for layer in spec.get("layer", ()) if layer.get("name") != _HOVER]
    kept = {key: value for key, value in spec.items() if key != "params"}
    return kept | {"layer": shown} if shown else kept


def _lines(curves: Mapping[str, Curve], frame: _Frame, x_title: str, y_title: str, what: str) -> list[alt.Chart]:
    """The curves as lines, and under the pointer the nearest point with its numbers."""
    data = alt.InlineData(values=[row for name, curve in curves.items() for row in _points(name, curve)])
    x = alt.X("x:Q", title=x_title, axis=_axis(frame.x == _UNIT), scale=_scale(frame.x))
    y = alt.Y("y:Q", title=y_title, axis=_axis(frame.y == _UNIT), scale=_scale(frame.y))
    line = alt.Chart(data).mark_line(interpolate="step-after" if frame.steps else "linear", clip=True)
    nearest = alt.selection_point(name="nearest", on="pointerover", nearest=True, empty=False, clear="pointerout")
    shown = [
        alt.Tooltip("name:N", title=what),
        alt.Tooltip("x:Q", title=x_title, format=".4~g"),
        alt.Tooltip("y:Q", title=y_title, format=".4~g"),
        alt.Tooltip("threshold:N", title="Threshold"),
    ]
    dot = alt.Chart(data, name=_HOVER).mark_point(filled=True, size=90, aria=False)
    return [
        line.encode(x, y, color=_coloured("name", curves), strokeDash=_dashed("name", curves), order="place:Q"),
        dot.encode(
            x,
            y,
            color=_coloured("name", curves),
            opacity=alt.condition(nearest, alt.value(1), alt.value(0)),
            tooltip=shown[:1] + shown[2:] if frame.steps else shown,
        ).add_params(nearest),
    ]


def _points(name: str, curve: Curve) -> list[Row]:
    """The points of a curve that can be drawn, few enough for a page."""
    if isinstance(curve, PrCurve):
        curve = curve.interpolated()
        # Points along a bend bear the threshold of its end; only mixing two thresholds reaches them.
        reached = np.append(curve.threshold[1:] != curve.threshold[:-1], True)
        curve = replace(curve, threshold=np.where(reached, curve.threshold, np.nan))
    curve = curve.thinned(POINTS - 1)  # thinning may add the last point
    drawn = np.isfinite(curve.x) & np.isfinite(curve.y)
    return [
        {"name": name, "place": place, "x": _short(x), "y": _short(y), "threshold": _threshold_text(threshold)}
        for place, (x, y, threshold) in enumerate(
            zip(curve.x[drawn], curve.y[drawn], curve.threshold[drawn], strict=True)
        )
    ]


def _bars(place: int, name: str, table: ScoreTable) -> list[Row]:
    """The histogram of each class on the same bins, the others' shares negative."""
    low, high = _unit_or_none(table.score) or (float(table.score.min()), float(table.score.max()))
    edges = np.unique(np.linspace(low, high, BINS + 1))
    if edges.size < 2:  # one single score
        edges = np.array([low - max(0.5, abs(low) / 2), low + max(0.5, abs(low) / 2)])
    positive = table.classes[table.positive]
    others = [label for label in table.classes if label != positive]
    negative = others[0] if len(others) == 1 else f"not {positive}"
    rows: list[Row] = []
    for side, label, weight, total in (
        ("up", positive, table.pos, table.n_pos),
        ("down", negative, table.neg, table.n_neg),
    ):
        shares = ratio(np.histogram(table.score, bins=edges, weights=weight)[0], total)
        mark = "▲" if side == "up" else "▼"
        for start, end, share in zip(edges[:-1], edges[1:], np.nan_to_num(shares), strict=True):
            rows.append(
                {
                    "place": place,
                    "model": name,
                    "class": label,
                    "side": side,
                    "low": _short(start),
                    "high": _short(end),
                    "span": f"{start:.3g} to {end:.3g}",
                    "share": _short(share),
                    "signed": _short(share if side == "up" else -share),
                }
            )
        rows[-1]["label"] = f"{mark} {label} ({grouped(float(total))})"
    return rows


def _reference(start: tuple[float, float], end: tuple[float, float]) -> alt.LayerChart:
    """The line that guessing would draw, with its name on the side where curves seldom run."""
    data = alt.InlineData(values=[{"x": _short(x), "y": _short(y)} for x, y in (start, end)])
    name = alt.InlineData(values=[{"x": _short((start[0] + 3 * end[0]) / 4), "y": _short((start[1] + 3 * end[1]) / 4)}])
    line = alt.Chart(data).mark_line(color=_FAINT, strokeWidth=1.2, strokeDash=[2, 3], aria=False)
    text = alt.Chart(name).mark_text(text="chance", align="left", baseline="top", dx=6, dy=6)
    return alt.layer(line.encode(x="x:Q", y="y:Q"), text.encode(x="x:Q", y="y:Q"))


def _coloured(field: str, names: Iterable[str], **options: Any) -> alt.Color:
    """Colour by position, so that a model keeps its colour in every chart of a page."""
    names = list(names)
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(names))]
    options = {"legend": alt.Legend(columns=_legend_columns(names))} | options
    return alt.Color(f"{field}:N", title=None, scale=alt.Scale(domain=names, range=colours), **options)


def _dashed(field: str, names: Iterable[str]) -> alt.StrokeDash:
    names = list(names)
    dashes = [list(DASHES[place % len(DASHES)]) for place in range(len(names))]
    return alt.StrokeDash(f"{field}:N", title=None, scale=alt.Scale(domain=names, range=dashes))


def _legend_columns(names: Sequence[str]) -> int:
    """As many columns as fit a narrow page, at about 6.2 pixels per letter."""
    for columns in range(len(names), 1, -1):
        if sum(46 + 6.2 * max(map(len, names[first::columns])) for first in range(columns)) <= 370:
            return columns
    return 1


def _axis(unit: bool) -> alt.Axis:
    """Few ticks between 0 and 1, the library's choice elsewhere."""
    return alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f") if unit else alt.Axis()


def _scale(ends: tuple[float, float] | None) -> alt.Scale:
    return alt.Scale(zero=False) if ends is None else alt.Scale(domain=list(ends), nice=False)


def _unit_or_none(score: Array) -> tuple[float, float] | None:
    """The ends 0 and 1 when all scores lie between them, as probabilities do."""
    return _UNIT if score.size and score.min() >= 0 and score.max() <= 1 else None


def _short(value: float) -> float | None:
    """Six significant digits: more than a picture can show, and half the file."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _threshold_text(threshold: float) -> str:
    if math.isnan(threshold):
        return "between two"
    return "∞" if math.isinf(threshold) else f"{threshold:.6g}"


def _themed(chart: Any) -> Any:
    return chart.configure(**_THEME)

"""Charts of the means of precision and recall over their plane, with the models on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from scorespace.report.chart_theme import (
    INK,
    UNIT,
    Spec,
    axis,
    data_values,
    datum,
    field,
    layered,
    mark,
    panel_title,
    points,
    scale,
    themed,
)
from scorespace.results import Row, decimals
from scorespace.tables import Array, ratio

_LEVELS: Final = np.arange(1, 10) / 10
_CELLS: Final = 25
_SIDE: Final = 260
_POSITION: Final[Spec] = {"x": "x:Q", "y": "y:Q"}
_MEANS: Final[Mapping[str, tuple[Callable[[Array, Array], Array], Callable[[Array, float], Array]]]] = {
    "Arithmetic mean": (lambda r, p: (r + p) / 2, lambda r, mean: 2 * mean - r),
    "Geometric mean": (lambda r, p: np.sqrt(r * p), lambda r, mean: ratio(mean**2, r)),
    "Harmonic mean (F1)": (lambda r, p: ratio(2 * r * p, r + p), lambda r, mean: ratio(mean * r, 2 * r - mean)),
}
"""Each mean of recall and precision, and the precision that gives it at a recall."""


def means_chart(models: Mapping[str, tuple[float, float]]) -> Spec:
    """Lines of equal arithmetic, geometric and harmonic mean, and recall and precision of each model as a point."""
    panels = [_panel(title, *functions, models) for title, functions in _MEANS.items()]
    values = "; ".join(f"{name}: recall {decimals(r)}, precision {decimals(p)}" for name, (r, p) in models.items())
    description = f"Means of precision and recall; the harmonic one is low where either is low. {values}."
    return themed({"hconcat": panels, "spacing": 30, "description": description})


def _panel(
    title: str,
    mean: Callable[[Array, Array], Array],
    precision: Callable[[Array, float], Array],
    models: Mapping[str, tuple[float, float]],
) -> Spec:
    """One mean over the plane."""
    x = np.linspace(1e-6, 1, 401)  # at a recall of 0 the precision would be infinite
    lines: list[Row] = []
    labels: list[Row] = []
    for level in _LEVELS.tolist():
        y = precision(x, level)
        inside = np.isclose(mean(x, y), level) & (y >= 0) & (y < 1.5)
        lines += points(x[inside], y[inside], level=level)
        labels.append({"x": level, "y": level, "label": f"{level:.1f}"})  # all means of equal values are that value
    centre = (np.arange(_CELLS) + 0.5) / _CELLS
    grid_x, grid_y = (axis_values.ravel() for axis_values in np.meshgrid(centre, centre))
    half = 0.5 / _CELLS
    cells = [
        {"left": datum(a - half), "right": datum(a + half), "low": datum(b - half), "high": datum(b + half), "mean": v}
        for a, b, v in zip(grid_x.tolist(), grid_y.tolist(), data_values(mean(grid_x, grid_y)), strict=True)
    ]
    shade = {"domain": [0, 1], "range": ["#ffffff", "#8fb8d6"], "interpolate": "rgb"}
    fill = field("mean:Q", scale=shade, legend=None)
    position = {
        "x": field("left:Q", title="Recall", axis=axis(UNIT), scale=scale(UNIT)),
        "x2": "right",
        "y": field("low:Q", title="Precision", axis=axis(UNIT), scale=scale(UNIT)),
        "y2": "high",
    }
    rows = [
        {
            "x": datum(r),
            "y": datum(p),
            "name": name,
            "label": f"{name} {decimals(float(mean(np.array(r), np.array(p))))}",
        }
        for name, (r, p) in models.items()
        if np.isfinite([r, p]).all()
    ]
    text = _POSITION | {"text": "label:N"}
    style = {"color": INK, "fontWeight": 600}
    layers = [
        mark("rect", cells, position | {"fill": fill}, aria=False, strokeWidth=0),
        mark(
            "line", lines, _POSITION | {"detail": "level:N", "order": "place:Q"}, color=INK, strokeWidth=0.9, clip=True
        ),
        mark("text", labels, text, fontSize=10, stroke="white", strokeWidth=3),
        mark("text", labels, text, fontSize=10),
        mark("point", rows, _POSITION, filled=True, size=90, color=INK, opacity=1),
        mark("text", rows, text, align="right", baseline="bottom", dx=-7, dy=-4, stroke="white", strokeWidth=3),
        mark("text", rows, text, align="right", baseline="bottom", dx=-7, dy=-4, **style),
    ]
    return layered(layers, _SIDE, _SIDE, title=panel_title(title))

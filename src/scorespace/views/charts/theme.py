"""The look that all charts share: colours, dashes, axes, fonts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from scorespace.results import Row
from scorespace.tables import Array
from scorespace.views.charts.marks import Spec, field, mark, with_tables

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""The palette of Okabe and Ito, safe for colour-blind readers, without the two that vanish on white or on black."""

DASHES: Final = ((1, 0), (7, 3), (3, 2), (10, 3, 2, 3), (5, 2, 1, 2, 1, 2))
"""One dash per model, so that a print without colour still tells them apart; 5 against 6 colours gives 30 pairs."""

# The report's style sheet knows these four, to change them on a dark page.
INK: Final = "#2b323b"
SOFT: Final = "#5d6773"
FAINT: Final = "#98a2ae"
GRID: Final = "#e3e7ec"

UNIT: Final = (0.0, 1.0)

THEME: Final[Mapping[str, Any]] = {
    "background": "white",
    "font": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "domainColor": FAINT,
        "gridColor": GRID,
        "labelColor": SOFT,
        "labelFlush": False,
        "labelFontSize": 12,
        "labelPadding": 6,
        "labelSeparation": 6,
        "tickColor": FAINT,
        "tickSize": 4,
        "titleColor": INK,
        "titleFontSize": 13,
        "titleFontWeight": 500,
        "titlePadding": 10,
    },
    "header": {"labelColor": INK, "labelFontSize": 13, "labelFontWeight": 600, "title": None},
    "legend": {
        "columnPadding": 20,
        "labelColor": INK,
        "labelFontSize": 13,
        "labelLimit": 280,
        "offset": 22,
        "orient": "top",
        "rowPadding": 4,
        "symbolOpacity": 1,
        "symbolSize": 500,
        "symbolStrokeWidth": 2.4,
        "symbolType": "stroke",
        "title": None,
    },
    "line": {"strokeCap": "butt", "strokeJoin": "round", "strokeWidth": 2.4},
    "text": {"color": SOFT, "fontSize": 12},
}

SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"


def themed(spec: Spec) -> Spec:
    """The chart with the shared look, on white paper."""
    return {"$schema": SCHEMA, "config": THEME, **with_tables(spec)}


def coloured(
    column: str,
    names: Iterable[str],
    *,
    legend: bool = True,
    of: Mapping[str, str] | None = None,
    areas: bool = False,
) -> Spec:
    """Colour by position, so that a model keeps its colour in every chart of a page.

    `of` names the model whose colour another name has; with `areas` the legend adds those of the parameter.
    """
    names = list(names)
    scale = {"domain": names, "range": [COLOURS[place % len(COLOURS)] for place in _places(names, of)]}
    shown: Spec | None = {"columns": _legend_columns(names)} if legend else None
    if shown is not None and areas:
        shown["labelExpr"] = "datum.label + (areas[datum.label] ? '  ' + areas[datum.label] : '')"
    return field(f"{column}:N", title=None, scale=scale, legend=shown)


def colour_of(name: str, models: Iterable[str]) -> str:
    """The colour that a model has in every chart of a page."""
    return COLOURS[list(models).index(name) % len(COLOURS)]


def dashed(column: str, names: Iterable[str], *, of: Mapping[str, str] | None = None) -> Spec:
    """Dashes by position, to go with the colours; `of` names what several have the dashes of."""
    names = list(names)
    scale = {"domain": names, "range": [list(DASHES[place % len(DASHES)]) for place in _places(names, of)]}
    return field(f"{column}:N", title=None, scale=scale)


def _places(names: Sequence[str], of: Mapping[str, str] | None) -> list[int]:
    """The place of each name, or of what it is of: those of the names come first."""
    of = of or {}
    first = dict.fromkeys((*(name for name in names if name not in of), *of.values()))
    places = {name: place for place, name in enumerate(first)}
    return [places[of.get(name, name)] for name in names]


def axis(ends: tuple[float, float] | None) -> Spec:
    """Few ticks between 0 and 1, the library's choice elsewhere."""
    return {"values": [0, 0.2, 0.4, 0.6, 0.8, 1], "format": ".1f"} if ends == UNIT else {}


def scale(ends: tuple[float, float] | None, *, zero: bool = False) -> Spec:
    """From one end to the other, or as far as the data go and, if wished, from zero."""
    return {"zero": zero} if ends is None else {"domain": list(ends), "nice": False}


def unit_or_none(values: Array) -> tuple[float, float] | None:
    """The ends 0 and 1 when all values lie between them, as probabilities do."""
    return UNIT if values.size and values.min() >= 0 and values.max() <= 1 else None


def unit_or_less(*several: Array) -> tuple[float, float] | None:
    """From 0 to 1 for probabilities; where all of them are low, as for rare events, to the next round number.

    >>> import numpy as np
    >>> unit_or_less(np.array([0.7, 0.1])), unit_or_less(np.array([0.13, 0.01])), unit_or_less(np.array([3.0]))
    ((0.0, 1.0), (0.0, 0.2), None)
    """
    if any(unit_or_none(values) is None for values in several):
        return None
    highest = max(float(values.max()) for values in several)
    if not 0 < highest <= 0.5:
        return UNIT
    power = 10.0 ** math.floor(math.log10(highest))
    return 0.0, min(round(step * power, 12) for step in (1, 2, 5, 10) if step * power >= highest)


def short(value: float) -> float | None:
    """Six significant digits: more than a picture can show, and half the file.

    >>> short(1 / 3), short(float("inf"))
    (0.333333, None)
    """
    return float(f"{value:.6g}") if math.isfinite(value) else None


def shortened(values: Array) -> list[float | None]:
    """The same of many."""
    return [short(value) for value in values.tolist()]


def points(x: Array, y: Array, **same: Any) -> list[Row]:
    """A row for each place along a line that is known, with what all of them share.

    >>> import numpy as np
    >>> points(np.array([0.0, 1.0]), np.array([np.nan, 0.5]), name="nb")
    [{'name': 'nb', 'place': 1, 'x': 1.0, 'y': 0.5}]
    """
    found = enumerate(zip(shortened(x), shortened(y), strict=True))
    return [{**same, "place": k, "x": a, "y": b} for k, (a, b) in found if a is not None and b is not None]


def reference(ends: Sequence[Row]) -> Spec:
    """A faint line to compare with: chance, or what is perfect."""
    place = {"x": "x:Q", "y": "y:Q"}
    return mark("line", ends, place, color=FAINT, strokeWidth=1.2, strokeDash=[2, 3], aria=False)


def headed(words: str) -> Spec:
    """The title of one panel of several."""
    return {"text": words, "anchor": "start", "color": INK}


def _legend_columns(names: Sequence[str]) -> int:
    """As many columns as fit a narrow page, at about 6.2 pixels per letter."""
    for columns in range(len(names), 1, -1):
        widths = (46 + 6.2 * max(map(len, names[first::columns])) for first in range(columns))
        if sum(widths) <= 370:
            return columns
    return 1

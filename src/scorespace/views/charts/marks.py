"""The words of Vega-Lite that the charts use, as plain dictionaries: nothing is copied or checked while drawing.

Whether Vega-Lite understands them is checked in tests, by its own schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from scorespace.results import Row

Spec = dict[str, Any]
"""A chart, or a part of one, as Vega-Lite reads it."""

_TYPES: Final = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}
_PARTS: Final = ("layer", "concat", "hconcat", "vconcat")


def field(name: str, **more: Any) -> Spec:
    """A column of the rows with its type, if it needs one.

    >>> field("x:Q", title="Score"), field("high")
    ({'field': 'x', 'type': 'quantitative', 'title': 'Score'}, {'field': 'high'})
    """
    column, _, kind = name.partition(":")
    return {"field": column, **({"type": _TYPES[kind]} if kind else {}), **more}


def mark(
    kind: str,
    rows: Iterable[Row] | None,
    encoding: Mapping[str, Any],
    *,
    where: Any = None,
    **look: Any,
) -> Spec:
    """A layer: rows drawn in one way, each channel by a column or a value; without rows, those of the whole chart.

    >>> mark("rule", [{"x": 0.5}], {"x": "x:Q"}, color="red")["mark"]
    {'type': 'rule', 'color': 'red'}
    """
    layer: Spec = {} if rows is None else {"data": {"values": rows}}
    layer["mark"] = {"type": kind, **look}
    if where is not None:
        layer["transform"] = [{"filter": where}]
    layer["encoding"] = {
        channel: field(given) if isinstance(given, str) else given for channel, given in encoding.items()
    }
    return layer


def layered(layers: list[Spec], width: int, height: int | Spec, **more: Any) -> Spec:
    """Layers on top of each other."""
    return {"width": width, "height": height, **more, "layer": layers}


def by_model(rows: list[Row], panel: Spec, columns: int, description: str) -> Spec:
    """A panel for each model of the rows, in the order of their `place`."""
    header = {"labelAnchor": "start", "labelPadding": 4}
    facet = field("model:N", sort={"field": "place", "op": "min"}, header=header)
    look = {"columns": columns, "spacing": 18, "description": description}
    return {"data": {"values": rows}, "facet": facet, "spec": panel, **look}


def with_tables(spec: Spec) -> Spec:
    """The chart with its rows beside it, each table once, however many layers draw it."""
    tables: dict[int, list[Row]] = {}

    def named(part: Spec) -> Spec:
        part = dict(part)
        if "values" in part.get("data", ()):
            rows = part["data"]["values"]
            tables[id(rows)] = rows
            part["data"] = {"name": f"table {list(tables).index(id(rows)) + 1}"}
        for key in _PARTS:
            if key in part:
                part[key] = list(map(named, part[key]))
        return part

    spec = named(spec)
    return {**spec, "datasets": {f"table {place}": rows for place, rows in enumerate(tables.values(), start=1)}}

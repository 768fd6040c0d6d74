"""Points along the first two principal axes, in the colours of their clusters."""

from __future__ import annotations

from typing import Final

import numpy as np

from scorespace.groups.clusters import Clusters, Labelling
from scorespace.results import Row
from scorespace.tables import Array
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.theme import COLOURS, INK, headed, shortened, themed

_POINTS: Final = 1500
_SIZE: Final = 380
_SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "cross")
_MOST_NAMED: Final = 12


def cluster_chart(found: Clusters) -> Spec:
    """A panel for each labelling, up to four of them, all on the axes of the first."""
    shown = list(found)[:4]
    middle, axes, shares = principal(shown[0].table.point, shown[0].table.weight)
    panels = [_panel(one, middle, axes, shares, len(shown) > 1) for one in shown]
    names = ", ".join(one.name for one in shown)
    words = f"Points of {names} along the first two principal axes."
    apart = {"scale": {"color": "independent", "shape": "independent"}}  # each labelling has its own clusters
    whole = {"hconcat": panels, "spacing": 36, "resolve": apart} if len(panels) > 1 else panels[0]
    return themed({**whole, "description": words})


def principal(point: Array, weight: Array) -> tuple[Array, Array, Array]:
    """The mean, the first two principal axes (d, 2) and their shares of the spread; of one feature the second is none.

    The sign of an axis is that of its largest part, so that a picture does not turn by chance.
    """
    middle = np.average(point, axis=0, weights=weight)
    moved = point - middle
    covariance = (moved * weight[:, None]).T @ moved / weight.sum()
    spreads, directions = np.linalg.eigh(covariance)
    order = np.argsort(-spreads)[:2]
    axes = directions[:, order]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    shares = np.maximum(spreads[order], 0.0) / max(float(spreads.sum()), np.finfo(float).tiny)
    if axes.shape[1] == 1:
        axes, shares = np.column_stack([axes, np.zeros(len(axes))]), np.append(shares, 0.0)
    return middle, axes, shares


def _panel(one: Labelling, middle: Array, axes: Array, shares: Array, several: bool) -> Spec:
    table = one.table
    rows = _sampled(table.label, len(table.names))
    places = (table.point[rows] - middle) @ axes
    names = list(table.names)
    dots = [
        {"cluster": names[k], "x": x, "y": y}
        for k, x, y in zip(table.label[rows], shortened(places[:, 0]), shortened(places[:, 1]), strict=True)
    ]
    centres = (table.centroids - middle) @ axes
    marks: list[Row] = [
        {"cluster": name, "x": x, "y": y}
        for name, x, y in zip(names, shortened(centres[:, 0]), shortened(centres[:, 1]), strict=True)
    ]
    colours = {"domain": names, "range": [COLOURS[k % len(COLOURS)] for k in range(len(names))]}
    # As many pairs of colour and shape as there are, so that neighbours in number never look alike.
    shapes = {"domain": names, "range": [_SHAPES[(k // len(COLOURS) + k) % len(_SHAPES)] for k in range(len(names))]}
    titles = [
        f"{order} principal axis ({100 * share:.0f} % of the spread)"
        for order, share in zip(("First", "Second"), shares, strict=True)
    ]
    encoding = {
        "x": field("x:Q", title=titles[0], scale={"zero": False}),
        "y": field("y:Q", title=titles[1], scale={"zero": False}),
        "color": field("cluster:N", title=None, scale=colours, legend=None),
        "shape": field("cluster:N", title=None, scale=shapes, legend=None),
        "tooltip": [field("cluster:N")],
    }
    place = {"x": field("x:Q"), "y": field("y:Q")}
    layers = [mark("point", dots, encoding, filled=True, size=22, opacity=0.55)]
    layers.append(mark("point", marks, place, shape="cross", filled=True, size=90, color=INK))
    if len(names) <= _MOST_NAMED:
        label = place | {"text": field("cluster:N")}
        look = {"dy": -13, "color": INK, "fontSize": 13, "fontWeight": 600, "limit": 160}
        layers.append(mark("text", marks, label, **look, stroke="white", strokeWidth=3))
        layers.append(mark("text", marks, label, **look))
    return layered(layers, _SIZE, _SIZE, **({"title": headed(one.name)} if several else {}))


def _sampled(label: Array, clusters: int) -> Array:
    """Every k-th point of each cluster, at least ten of each, where there are many."""
    if label.size <= _POINTS:
        return np.arange(label.size)
    sizes = np.bincount(label, minlength=clusters)
    kept = np.minimum(sizes, np.maximum(10, sizes * _POINTS // label.size))
    within = np.arange(kept.sum()) - np.repeat(np.cumsum(kept) - kept, kept)
    step = within * np.repeat(sizes, kept) // np.repeat(np.maximum(kept, 1), kept)
    return np.repeat(np.cumsum(sizes) - sizes, kept) + step

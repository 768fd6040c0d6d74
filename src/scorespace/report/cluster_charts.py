"""Charts of clusters: in the plane of two features as they are, on principal axes beyond two."""

from __future__ import annotations

from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from scorespace.report.chart_theme import (
    COLOURS,
    FAINT,
    INK,
    SOFT,
    Spec,
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
from scorespace.results import Row
from scorespace.tables import Array
from scorespace.tables.clusters import ClusterTable
from scorespace.unsupervised.clusters import Clusters, Labelling

_MAX_POINTS: Final = 1500
_SIZE: Final = 380
_SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "cross")
_MAX_LABELS: Final = 12
_MAX_OUTLINED: Final = 5  # clusters up to which radii and distances are legible
_POINTS_OF_CIRCLE: Final = 97


class Plane(NamedTuple):
    """The plane of a chart: origin, directions (d, 2), titles of both axes, and whether distances are to scale."""

    origin: Array
    directions: Array
    titles: tuple[str, str]
    is_to_scale: bool

    def __call__(self, point: Array) -> Array:
        """Coordinates of points in the plane."""
        return np.asarray((point - self.origin) @ self.directions)


def cluster_chart(clusters: Clusters) -> Spec:
    """Points of up to four labellings, each in a panel; the plane is that of the first."""
    labellings = list(clusters)[:4]
    plane = _plane(clusters, labellings[0].table)
    size = 1.2 * _SIZE if len(labellings) == 1 and plane.is_to_scale else _SIZE
    panels = [_panel(labelling, plane, size, len(labellings) > 1) for labelling in labellings]
    names = ", ".join(labelling.name for labelling in labellings)
    description = f"Points of {names}: {plane.titles[1]} against {plane.titles[0]}."
    independent = {"scale": {"color": "independent", "shape": "independent"}}  # labellings have different clusters
    chart = {"hconcat": panels, "spacing": 36, "resolve": independent} if len(panels) > 1 else panels[0]
    return themed({**chart, "description": description})


def _plane(clusters: Clusters, table: ClusterTable) -> Plane:
    """Two features as they are, or the first two principal axes."""
    if table.point.shape[1] == 2:
        unit = ", in standard deviations" if clusters.scale == "standard" else ""
        across, up = (f"{name}{unit}" for name in clusters.features)
        return Plane(np.zeros(2), np.eye(2), (across, up), is_to_scale=True)
    centre, axes, shares = principal(table.point, table.weight)
    first, second = (
        f"{order} principal axis ({100 * share:.0f} % of the variance)"
        for order, share in zip(("First", "Second"), shares, strict=True)
    )
    return Plane(centre, axes, (first, second), is_to_scale=False)


def principal(point: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Mean, first two principal axes (d, 2) and their shares of the variance; with one feature the second is zero.

    The largest component of each axis is positive, so that charts are reproducible.
    """
    centre = np.average(point, axis=0, weights=weight)
    centred = point - centre
    covariance = (centred * weight[:, None]).T @ centred / weight.sum()
    variances, directions = np.linalg.eigh(covariance)
    order = np.argsort(-variances)[:2]
    axes = directions[:, order]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    shares = np.maximum(variances[order], 0.0) / max(float(variances.sum()), np.finfo(float).tiny)
    if axes.shape[1] == 1:
        axes, shares = np.column_stack([axes, np.zeros(len(axes))]), np.append(shares, 0.0)
    return centre, axes, shares


def _panel(labelling: Labelling, plane: Plane, size: float, has_title: bool) -> Spec:
    table = labelling.table
    names = list(table.names)
    rows = _select_points(table.label, len(names))
    drawn = _named(names, plane(table.point[rows]), table.label[rows])
    centroids = _named(names, plane(table.centroids), np.arange(len(names)))
    # Colours and shapes cycle together, so that consecutive clusters differ in both.
    colours = {"domain": names, "range": [COLOURS[k % len(COLOURS)] for k in range(len(names))]}
    shapes = {"domain": names, "range": [_SHAPES[(k // len(COLOURS) + k) % len(_SHAPES)] for k in range(len(names))]}
    colour = field("cluster:N", title=None, scale=colours, legend=None)
    across, up = _axes_to_scale(labelling, plane) if plane.is_to_scale else ({"zero": False}, {"zero": False})
    encoding = {
        "x": field("x:Q", title=plane.titles[0], scale=across),
        "y": field("y:Q", title=plane.titles[1], scale=up),
        "color": colour,
        "shape": field("cluster:N", title=None, scale=shapes, legend=None),
        "tooltip": [field("cluster:N")],
    }
    position = {"x": field("x:Q"), "y": field("y:Q")}
    layers = [mark("point", drawn, encoding, filled=True, size=22, opacity=0.55)]
    if plane.is_to_scale and len(names) <= _MAX_OUTLINED:
        layers = [*_outlines(labelling, position | {"color": colour}), *layers, *_distances(labelling, position)]
    layers.append(mark("point", centroids, position, shape="cross", filled=True, size=90, color=INK))
    if len(names) <= _MAX_LABELS:
        label = position | {"text": field("cluster:N")}
        style = {"dy": -13, "color": INK, "fontSize": 13, "fontWeight": 600, "limit": 160}
        layers.append(mark("text", centroids, label, **style, stroke="white", strokeWidth=3))
        layers.append(mark("text", centroids, label, **style))
    return layered(layers, int(size), int(size), **({"title": panel_title(labelling.name)} if has_title else {}))


def _named(names: list[str], position: Array, label: Array) -> list[Row]:
    columns = zip(label.tolist(), *map(data_values, position.T), strict=True)
    return [{"cluster": names[k], "x": x, "y": y} for k, x, y in columns]


def _axes_to_scale(labelling: Labelling, plane: Plane) -> tuple[Spec, Spec]:
    """Scales of equal length that hold all points and, if they are drawn, the circles around centroids."""
    position = plane(labelling.table.point)
    low, high = position.min(axis=0), position.max(axis=0)
    if len(labelling.clusters) <= _MAX_OUTLINED:
        centres = plane(labelling.table.centroids)
        reach = np.array([[cluster.radius] for cluster in labelling.clusters])
        low, high = np.minimum(low, (centres - reach).min(axis=0)), np.maximum(high, (centres + reach).max(axis=0))
    half = 0.53 * float((high - low).max()) or 1.0
    middle = (low + high) / 2
    across, up = (scale((float(at - half), float(at + half))) for at in middle)
    return across, up


def _outlines(labelling: Labelling, encoding: Spec) -> list[Spec]:
    """The border of each cluster, and the circle around its centroid that holds its points."""
    table, borders, circles = labelling.table, [], []
    angle = np.linspace(0, 2 * np.pi, _POINTS_OF_CIRCLE)
    for k, cluster in enumerate(labelling.clusters):
        border = _hull(table.point[table.label == k])
        borders += points(*border.T, cluster=cluster.name)
        circle = table.centroids[k] + cluster.radius * np.column_stack([np.cos(angle), np.sin(angle)])
        circles += points(*circle.T, cluster=cluster.name)
    line = encoding | {"order": "place:Q"}
    return [
        mark("line", borders, line, strokeWidth=1.6, interpolate="linear-closed", aria=False),
        mark("line", circles, line, strokeWidth=1, strokeDash=[4, 4], opacity=0.7, aria=False),
    ]


def _hull(point: Array) -> Array:
    """Corners of the convex hull of points in a plane, counter-clockwise (Andrew's monotone chain)."""
    ordered = np.unique(point, axis=0)
    if len(ordered) < 3:
        return ordered

    def chain(sequence: Array) -> list[Array]:
        corners: list[Array] = []
        for one in sequence:
            while len(corners) > 1 and _turn(corners[-2], corners[-1], one) <= 0:
                corners.pop()
            corners.append(one)
        return corners[:-1]

    return np.array([*chain(ordered), *chain(ordered[::-1])])


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _distances(labelling: Labelling, position: Spec) -> list[Spec]:
    """Lines between centroids with their distance, and between the nearest points of two clusters."""
    table, centres, borders, labels = labelling.table, [], [], []
    for a, b in combinations(range(len(table.names)), 2):
        ends = table.centroids[[a, b]]
        pair = f"{table.names[a]}, {table.names[b]}"
        centres += points(*ends.T, pair=pair)
        x, y = ends.mean(axis=0)
        labels.append({"x": datum(x), "y": datum(y), "label": f"{float(np.hypot(*(ends[1] - ends[0]))):#.3g}"})
        borders += points(*_nearest(table.point[table.label == a], table.point[table.label == b]).T, pair=pair)
    by_pair = position | {"detail": field("pair:N")}
    text, style = position | {"text": field("label:N")}, {"fontSize": 11, "aria": False}
    return [
        mark("line", centres, by_pair, strokeWidth=1, color=FAINT, aria=False),
        mark("line", borders, by_pair, strokeWidth=1.6, strokeDash=[2, 3], color=INK, aria=False),
        mark("text", labels, text, **style, stroke="white", strokeWidth=3),
        mark("text", labels, text, **style, color=SOFT),
    ]


def _nearest(first: Array, second: Array) -> Array:
    """The two points, one of each cluster, with the smallest distance."""
    first, second = (one[_select_points(np.zeros(len(one), dtype=np.intp), 1)] for one in (first, second))
    gaps = ((first[:, None, :] - second[None, :, :]) ** 2).sum(axis=-1)
    i, j = np.unravel_index(int(gaps.argmin()), gaps.shape)
    return np.array([first[i], second[j]])


def _select_points(label: Array, n_clusters: int) -> Array:
    """Evenly spaced points of each cluster, at least ten of each; all points if there are few."""
    if label.size <= _MAX_POINTS:
        return np.arange(label.size)
    sizes = np.bincount(label, minlength=n_clusters)
    n_selected = np.minimum(sizes, np.maximum(10, sizes * _MAX_POINTS // label.size))
    index_in_cluster = np.arange(n_selected.sum()) - np.repeat(np.cumsum(n_selected) - n_selected, n_selected)
    position = index_in_cluster * np.repeat(sizes, n_selected) // np.repeat(np.maximum(n_selected, 1), n_selected)
    return np.repeat(np.cumsum(sizes) - sizes, n_selected) + position

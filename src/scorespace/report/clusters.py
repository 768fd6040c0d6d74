"""Clusterings: validity indices, single clusters, agreement of labellings, and a chart of the points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from scorespace.report.chart_theme import COLOURS, INK, Spec, data_values, field, layered, mark, panel_title, themed
from scorespace.report.document import Block, Document, Grid, Notes, Picture, Section, Verdict
from scorespace.report.measures import measure_grid
from scorespace.results import Row, decimals, grouped
from scorespace.tables import Array
from scorespace.unsupervised.clusters import Clusters, Labelling

_MAX_POINTS: Final = 1500
_SIZE: Final = 380
_SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "cross")
_MAX_LABELS: Final = 12


def cluster_chart(clusters: Clusters) -> Spec:
    """Points of up to four labellings, each in a panel, on the principal axes of the first."""
    labellings = list(clusters)[:4]
    centre, axes, shares = principal(labellings[0].table.point, labellings[0].table.weight)
    panels = [_panel(labelling, centre, axes, shares, len(labellings) > 1) for labelling in labellings]
    names = ", ".join(labelling.name for labelling in labellings)
    description = f"Points of {names} on the first two principal axes."
    independent = {"scale": {"color": "independent", "shape": "independent"}}  # labellings have different clusters
    chart = {"hconcat": panels, "spacing": 36, "resolve": independent} if len(panels) > 1 else panels[0]
    return themed({**chart, "description": description})


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


def _panel(labelling: Labelling, centre: Array, axes: Array, shares: Array, has_title: bool) -> Spec:
    table = labelling.table
    rows = _select_points(table.label, len(table.names))
    coordinates = (table.point[rows] - centre) @ axes
    names = list(table.names)
    points = [
        {"cluster": names[k], "x": x, "y": y}
        for k, x, y in zip(
            table.label[rows], data_values(coordinates[:, 0]), data_values(coordinates[:, 1]), strict=True
        )
    ]
    centres = (table.centroids - centre) @ axes
    centroids: list[Row] = [
        {"cluster": name, "x": x, "y": y}
        for name, x, y in zip(names, data_values(centres[:, 0]), data_values(centres[:, 1]), strict=True)
    ]
    colours = {"domain": names, "range": [COLOURS[k % len(COLOURS)] for k in range(len(names))]}
    # Colours and shapes cycle together, so that consecutive clusters differ in both.
    shapes = {"domain": names, "range": [_SHAPES[(k // len(COLOURS) + k) % len(_SHAPES)] for k in range(len(names))]}
    titles = [
        f"{order} principal axis ({100 * share:.0f} % of the variance)"
        for order, share in zip(("First", "Second"), shares, strict=True)
    ]
    encoding = {
        "x": field("x:Q", title=titles[0], scale={"zero": False}),
        "y": field("y:Q", title=titles[1], scale={"zero": False}),
        "color": field("cluster:N", title=None, scale=colours, legend=None),
        "shape": field("cluster:N", title=None, scale=shapes, legend=None),
        "tooltip": [field("cluster:N")],
    }
    position = {"x": field("x:Q"), "y": field("y:Q")}
    layers = [mark("point", points, encoding, filled=True, size=22, opacity=0.55)]
    layers.append(mark("point", centroids, position, shape="cross", filled=True, size=90, color=INK))
    if len(names) <= _MAX_LABELS:
        label = position | {"text": field("cluster:N")}
        style = {"dy": -13, "color": INK, "fontSize": 13, "fontWeight": 600, "limit": 160}
        layers.append(mark("text", centroids, label, **style, stroke="white", strokeWidth=3))
        layers.append(mark("text", centroids, label, **style))
    return layered(layers, _SIZE, _SIZE, **({"title": panel_title(labelling.name)} if has_title else {}))


def _select_points(label: Array, n_clusters: int) -> Array:
    """Evenly spaced points of each cluster, at least ten of each; all points if there are few."""
    if label.size <= _MAX_POINTS:
        return np.arange(label.size)
    sizes = np.bincount(label, minlength=n_clusters)
    n_selected = np.minimum(sizes, np.maximum(10, sizes * _MAX_POINTS // label.size))
    index_in_cluster = np.arange(n_selected.sum()) - np.repeat(np.cumsum(n_selected) - n_selected, n_selected)
    position = index_in_cluster * np.repeat(sizes, n_selected) // np.repeat(np.maximum(n_selected, 1), n_selected)
    return np.repeat(np.cumsum(sizes) - sizes, n_selected) + position


_MAX_CLUSTERS_IN_TEXT: Final = 12  # clusters per labelling in text output
_MAX_DISTANCES: Final = 12


def document(clusters: Clusters) -> Document:
    """Document of clusterings."""
    blocks: list[Block] = [
        _measures(clusters),
        *(_clusters(labelling, clusters) for labelling in clusters),
        *_agreement(clusters),
    ]
    brief: list[Block] = [
        _measures(clusters),
        *(_clusters(labelling, clusters, _MAX_CLUSTERS_IN_TEXT) for labelling in clusters),
    ]
    brief += [*_agreement(clusters), Verdict(clusters.words), *([Notes(clusters.notes)] if clusters.notes else [])]
    notes = (Section("notes", "Notes", (Notes(clusters.notes),)),) if clusters.notes else ()
    sections = (
        Section("measures", "Measures", (Verdict(clusters.words), *blocks), brief=True, short=tuple(brief)),
        *notes,
        Section("picture", "Chart of the points", (picture(clusters),)),
        *([Section("distances", "Distances between clusters", far)] if (far := tuple(_distances(clusters))) else []),
    )
    return Document(clusters.name, facts(clusters), sections)


def facts(clusters: Clusters) -> str:
    features = f"{len(clusters.features)} features" if len(clusters.features) > 1 else f"feature {clusters.features[0]}"
    parts = [
        f"{grouped(clusters.points)} points",
        features + (", standardised" if clusters.scale == "standard" else ""),
    ]
    return "   ".join([*parts, f"truth = {clusters.truth}"] if clusters.truth else parts)


def _measures(clusters: Clusters) -> Grid:
    grid = measure_grid(
        [estimate for labelling in clusters for estimate in labelling.estimates],
        [estimate.name for estimate in clusters],
    )
    level = f"Value and {100 * clusters.level:g} % confidence interval; ↑ higher is better, ↓ lower is better."
    return replace(grid, caption=level)


def _clusters(labelling: Labelling, clusters: Clusters, max_rows: int | None = None) -> Grid:
    """Statistics of single clusters; with `max_rows`, the first ones and fewer columns."""
    listed = labelling.clusters[:max_rows]
    columns = {
        "points": [grouped(cluster.points) for cluster in listed],
        "silhouette": [decimals(cluster.silhouette, 2) for cluster in listed],
        "border": [
            "–" if cluster.nearest is None else f"{number(cluster.border_distance)} to {cluster.nearest}"
            for cluster in listed
        ],
        "centroid": [number(cluster.centroid_distance) for cluster in listed],
        "radius": [number(cluster.radius) for cluster in listed],
        "mean radius": [number(cluster.mean_radius) for cluster in listed],
        "density": [number(cluster.density) for cluster in listed],
        "stability": [decimals(cluster.jaccard, 2) for cluster in listed],
    }
    hidden_columns = {"stability"} if labelling.stability is None else set()
    hidden_columns |= {"centroid", "mean radius"} if max_rows is not None else set()
    columns = {name: cells for name, cells in columns.items() if name not in hidden_columns}
    rows = [(cluster.name, *cells) for cluster, *cells in zip(listed, *columns.values(), strict=True)]
    if len(listed) < len(labelling.clusters):
        rows.append((f"… {len(labelling.clusters) - len(listed)} more", *[""] * len(columns)))
    caption = "Border: distance to the nearest point of another cluster; centroid: to the nearest other centroid; "
    caption += "radius: largest and mean distance to the centroid; density: points per volume of the enclosing ball."
    caption += (
        "" if labelling.stability is None else " Stability: mean Jaccard index with the same cluster in resamples."
    )
    return Grid((f"{labelling.name} cluster" if len(clusters) > 1 else "cluster", *columns), tuple(rows), caption)


def _agreement(clusters: Clusters) -> Sequence[Block]:
    if not clusters.agreement:
        return []
    rows = tuple((f"{a}, {b}", decimals(rand), decimals(shared)) for a, b, rand, shared in clusters.agreement)
    caption = "Agreement of two labellings: 1 is identical, 0 is chance level."
    return [Grid(("labellings", "adjusted Rand", "adjusted mutual information"), rows, caption)]


def _distances(clusters: Clusters) -> Sequence[Block]:
    blocks: list[Block] = []
    for labelling in clusters:
        pairs = sorted(labelling.distances, key=lambda pair: pair[2])
        if len(pairs) < 2:
            continue
        nearest = pairs[:_MAX_DISTANCES]
        rows = tuple((f"{a}, {b}", number(border), number(gap)) for a, b, border, gap in nearest)
        omitted_note = "" if len(nearest) == len(pairs) else f" The nearest {len(nearest)} of {len(pairs)}."
        caption = (
            f"{labelling.name}: distance of nearest points and of centroids for each pair of clusters.{omitted_note}"
        )
        blocks.append(Grid(("clusters", "borders", "centroids"), rows, caption))
    return blocks


def picture(clusters: Clusters) -> Picture:
    """Chart of the points, coloured by cluster."""
    alt = "Points on the first two principal axes, coloured by cluster, with the centroids."
    caption = (
        "The two directions of largest variance, each on its own scale; clusters may be separated in other directions."
    )
    return Picture(lambda: cluster_chart(clusters), alt, caption)


def number(value: float) -> str:
    """Three significant digits.

    >>> number(0.012345), number(1234.5), number(math.nan)
    ('0.0123', '1 230', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞"
    if value == 0:
        return "0"
    n_decimals = 2 - math.floor(math.log10(abs(value)))
    if n_decimals > 6:
        return f"{value:.1e}".replace("-", "−")
    return decimals(value, n_decimals) if n_decimals >= 0 else grouped(round(value, n_decimals))

"""Clusterings: validity indices, single clusters, agreement of labellings, and a chart of the points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from scorespace.report.cluster_charts import cluster_chart
from scorespace.report.document import Block, Document, Grid, Notes, Picture, Section, Verdict
from scorespace.report.measures import measure_grid
from scorespace.results import decimals, grouped
from scorespace.unsupervised.clusters import Clusters, Labelling

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
    if next(iter(clusters)).table.point.shape[1] == 2:
        alt = "Points in the plane of both features, coloured by cluster, with borders, centroids and radii."
        caption = (
            "Crosses are centroids, circles the largest distance of a point to its centroid; numbers are the distances "
            "between centroids, and dotted lines join the nearest points of two clusters."
        )
    else:
        alt = "Points on the first two principal axes, coloured by cluster, with the centroids."
        caption = (
            "The two directions of largest variance, each on its own scale; clusters may be separated in other "
            "directions."
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

"""The page of clusters: the indices of each labelling, its clusters one by one, a picture, and words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from scorespace.groups.clusters import Clusters, Labelling
from scorespace.results import decimals, grouped
from scorespace.views.charts.clusters import cluster_chart
from scorespace.views.document import Block, Document, Grid, Notes, Picture, Section, Verdict
from scorespace.views.measures import measure_grid

_MOST_LINES: Final = 12  # clusters of a labelling that a terminal shows
_MOST_DISTANCES: Final = 12


def document(found: Clusters) -> Document:
    """The whole page."""
    head: list[Block] = [_measures(found), *(_clusters(one, found) for one in found), *_agreement(found)]
    brief: list[Block] = [_measures(found), *(_clusters(one, found, _MOST_LINES) for one in found)]
    brief += [*_agreement(found), Verdict(found.words), *([Notes(found.notes)] if found.notes else [])]
    notes = (Section("notes", "Notes", (Notes(found.notes),)),) if found.notes else ()
    sections = (
        Section("measures", "Measures", (Verdict(found.words), *head), brief=True, short=tuple(brief)),
        *notes,
        Section("picture", "Where the points are", (picture(found),)),
        *([Section("distances", "Distances between clusters", far)] if (far := tuple(_distances(found))) else []),
    )
    return Document(found.name, facts(found), sections)


def facts(found: Clusters) -> str:
    features = f"{len(found.features)} features" if len(found.features) > 1 else f"feature {found.features[0]}"
    parts = [f"{grouped(found.points)} points", features + (", standardised" if found.scale == "standard" else "")]
    return "   ".join([*parts, f"truth = {found.truth}"] if found.truth else parts)


def _measures(found: Clusters) -> Grid:
    grid = measure_grid([one for each in found for one in each.estimates], [one.name for one in found])
    level = f"Value and {100 * found.level:g} % interval; ↑ higher is better, ↓ lower is better."
    return replace(grid, caption=level)


def _clusters(one: Labelling, found: Clusters, most: int | None = None) -> Grid:
    """The clusters one by one; where there is little room, the first and less of each."""
    shown = one.clusters[:most]
    columns = {
        "points": [grouped(each.points) for each in shown],
        "silhouette": [decimals(each.silhouette, 2) for each in shown],
        "border": [
            "–" if each.nearest is None else f"{number(each.border_distance)} to {each.nearest}" for each in shown
        ],
        "centroid": [number(each.centroid_distance) for each in shown],
        "radius": [number(each.radius) for each in shown],
        "mean radius": [number(each.mean_radius) for each in shown],
        "density": [number(each.density) for each in shown],
        "holds": [decimals(each.jaccard, 2) for each in shown],
    }
    dropped = {"holds"} if one.stability is None else set()
    dropped |= {"centroid", "mean radius"} if most is not None else set()
    columns = {name: cells for name, cells in columns.items() if name not in dropped}
    rows = [(each.name, *cells) for each, *cells in zip(shown, *columns.values(), strict=True)]
    if len(shown) < len(one.clusters):
        rows.append((f"… {len(one.clusters) - len(shown)} more", *[""] * len(columns)))
    about = "Border: distance to the nearest point of another cluster; centroid: to the nearest other centroid; "
    about += "radius: largest and mean distance to the centroid; density: points per volume of the ball around it."
    about += "" if one.stability is None else " Holds: mean Jaccard index with the same cluster in resamples."
    return Grid((f"{one.name} cluster" if len(found) > 1 else "cluster", *columns), tuple(rows), about)


def _agreement(found: Clusters) -> Sequence[Block]:
    if not found.agreement:
        return []
    rows = tuple((f"{a}, {b}", decimals(rand), decimals(shared)) for a, b, rand, shared in found.agreement)
    about = "How alike two labellings are: 1 the same, 0 as by chance."
    return [Grid(("labellings", "adjusted Rand", "adjusted mutual information"), rows, about)]


def _distances(found: Clusters) -> Sequence[Block]:
    blocks: list[Block] = []
    for one in found:
        near = sorted(one.distances, key=lambda pair: pair[2])
        if len(near) < 2:
            continue
        cut = near[:_MOST_DISTANCES]
        rows = tuple((f"{a}, {b}", number(border), number(gap)) for a, b, border, gap in cut)
        more = "" if len(cut) == len(near) else f" The nearest {len(cut)} of {len(near)}."
        about = f"{one.name}: of every two clusters the nearest points, and the centroids.{more}"
        blocks.append(Grid(("clusters", "borders", "centroids"), rows, about))
    return blocks


def picture(found: Clusters) -> Picture:
    """The points, in the colours of their clusters."""
    alt = "Points along the first two principal axes, in the colour of their cluster, with the centroids."
    about = (
        "The two directions in which the points spread most, each on its own scale; clusters may be apart in others."
    )
    return Picture(lambda: cluster_chart(found), alt, about)


def number(value: float) -> str:
    """Three significant digits, whatever the unit.

    >>> number(0.012345), number(1234.5), number(math.nan)
    ('0.0123', '1 230', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞"
    if value == 0:
        return "0"
    places = 2 - math.floor(math.log10(abs(value)))
    if places > 6:
        return f"{value:.1e}".replace("-", "−")
    return decimals(value, places) if places >= 0 else grouped(round(value, places))

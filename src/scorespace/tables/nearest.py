"""How near two clusters come, and how wide one is, without all distances between points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.tables.table import Array

_FIRST: Final = 64  # points of each side that face the other: the nearer they are, the fewer others need be asked
_PAIRS: Final = 500_000  # distances that are computed at once rather than asked of a tree
_ROWS: Final = 512


def borders(parts: Sequence[Array], *, whole: bool) -> NDArray[np.float64]:
    """The distance (K, K) of the nearest two points of every two clusters; infinite to itself and to an empty one.

    Not `whole`, pairs that are nearest for neither of the two stay infinite. Clusters lie in balls: what the distance
    of their centres less both radii rules out is not looked at.
    """
    from scipy.spatial import KDTree  # loads with the first cluster

    filled = [k for k, part in enumerate(parts) if len(part)]
    held = [parts[k] for k in filled]
    every = np.full((len(parts), len(parts)), np.inf)
    if len(held) < 2:
        return every
    centres = np.array([part.mean(axis=0) for part in held])
    radii = np.array([np.sqrt(_squares(part, centre).max()) for part, centre in zip(held, centres, strict=True)])
    apart = np.sqrt(np.maximum(0.0, ((centres[:, None] - centres) ** 2).sum(axis=-1)))
    pairs = np.stack(np.triu_indices(len(held), 1), axis=1)
    least = (apart - radii[:, None] - radii)[pairs[:, 0], pairs[:, 1]]
    tree = cache(lambda k: KDTree(held[k], leafsize=32))
    found, nearest = np.full(apart.shape, np.inf), np.full(len(held), np.inf)
    for place in np.argsort(least, kind="stable"):
        a, b = sorted(pairs[place].tolist(), key=lambda k: len(held[k]))
        # Rounding of the bound must not rule out a pair that touches.
        if not whole and least[place] * (1 - 1e-9) > max(nearest[a], nearest[b]):
            continue
        best = _nearest(held[a], held[b], centres[a], centres[b], partial(tree, b))
        found[a, b] = found[b, a] = best
        nearest[[a, b]] = np.minimum(nearest[[a, b]], best)
    every[np.ix_(filled, filled)] = found
    return every


def _nearest(points: Array, others: Array, own: Array, centre: Array, tree: Callable[[], Any]) -> float:
    """The distance of the nearest two points of two clusters with these centres.

    Along the line between the centres no two points are nearer than their shadows: with a near pair known, those of
    either side that lie too far back are out of the question.
    """
    from scipy.spatial.distance import cdist

    line = centre - own
    length = float(np.sqrt(line @ line))
    line = line / length if length > 0 else np.eye(line.size)[0]
    near, far = points @ line, others @ line
    forward, back = np.argsort(-near, kind="stable"), np.argsort(far, kind="stable")
    best = float(cdist(points[forward[:_FIRST]], others[back[:_FIRST]]).min())
    room = best * (1 + 1e-9)  # rounding must not rule out a pair that touches
    points = points[forward[: np.searchsorted(-near[forward], room - far[back[0]], side="right")]]
    others = others[back[: np.searchsorted(far[back], room + near[forward[0]], side="right")]]
    if len(points) * len(others) <= _PAIRS:
        return min(best, float(cdist(points, others).min())) if len(points) and len(others) else best
    start, many = 0, _FIRST
    while start < len(points) and best > 0:
        distance, _ = tree().query(points[start : start + many], distance_upper_bound=best)
        best = min(best, float(distance.min()))
        start, many = start + many, many * 4
    return best


def diameter(points: Array) -> float:
    """The largest distance between two points of a cluster.

    Two points are no farther apart than both are from the centre together: with a pair that is far apart already,
    points near the centre are out of the question.
    """
    if len(points) < 2:
        return 0.0
    centre = points.mean(axis=0)
    away = np.sqrt(_squares(points, centre))
    order = np.argsort(-away, kind="stable")
    points, away = points[order], away[order]
    one = points[0]
    best = 0.0
    for _ in range(3):  # from the farthest to the farthest from it
        distances = _squares(points, one)
        far = int(np.argmax(distances))
        best, one = max(best, float(np.sqrt(distances[far]))), points[far]
    for start in range(0, len(points), _ROWS):
        if 2 * away[start] * (1 + 1e-9) <= best:
            break
        some = points[start : start + _ROWS]
        most = int(np.searchsorted(-away, -(best - away[start]) / (1 + 1e-9), side="right"))
        rest = points[start:most]
        if len(rest):
            best = max(best, _widest(some, rest))
    return best


def _widest(some: Array, rest: Array) -> float:
    from scipy.spatial.distance import cdist

    return max(float(cdist(some, rest[start : start + 4 * _ROWS]).max()) for start in range(0, len(rest), 4 * _ROWS))


def _squares(points: Array, centre: Array) -> Array:
    return np.asarray(((points - centre) ** 2).sum(axis=1))

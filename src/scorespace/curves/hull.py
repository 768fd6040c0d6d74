"""ROC convex hull: of one model by isotonic regression, of several as the envelope of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Final, Literal, Self

import numpy as np

from scorespace.curves.curve import Curve, joint_curve, roc_space_curve
from scorespace.curves.isotonic import pool_adjacent_violators
from scorespace.errors import DataError, ScoreSpaceError, listing
from scorespace.results import Row, to_json_types
from scorespace.tables import Array, ConfusionTable, ScoreTable, ratio
from scorespace.tables.chunks import CHUNK_ROWS, map_chunks
from scorespace.tables.score_arrays import cumulate

_MIN_ROWS_FOR_CHUNKS: Final = 4 * CHUNK_ROWS


@dataclass(frozen=True)
class HullVertex:
    """A classifier on the hull: a model at a threshold, or a trivial rule."""

    model: str
    threshold: float
    fpr: float
    tpr: float


@dataclass(frozen=True)
class Mixture:
    """A point of the hull as a randomised mixture: use `first` with probability `share`, else `second`."""

    first: HullVertex
    second: HullVertex
    share: float

    @property
    def fpr(self) -> float:
        return self.share * self.first.fpr + (1 - self.share) * self.second.fpr

    @property
    def tpr(self) -> float:
        return self.share * self.first.tpr + (1 - self.share) * self.second.tpr


@dataclass(frozen=True)
class Region:
    """Range of iso-cost slopes for which a vertex of the hull is optimal."""

    model: str
    slope_low: float
    slope_high: float
    threshold: float

    def row(self) -> Row:
        return to_json_types(asdict(self))


@dataclass(frozen=True, eq=False, repr=False)
class Hull(Curve):
    """Upper convex hull in ROC space; the slopes of its edges decrease from left to right.

    Its area is AUCH.

    Parameters
    ----------
    kind : str
        Name of the kind of curve, such as "roc".
    x, y : ndarray of shape (n_points,)
        Coordinates of the points.
    threshold : ndarray of shape (n_points,)
        The threshold of each point.
    x_title, y_title : str
        Titles of the axes.
    model : tuple of str
        The model of each vertex.
    probability : ndarray of shape (n_points - 1,)
        Calibrated probability of the cases on each edge: for one model their share of positives.
    certified_low, certified_high : ndarray, optional
        Bounds of y for a binned table; NaN where they are unknown.
    """

    model: tuple[str, ...]
    probability: Array

    def thinned(self, most: int = 400) -> Self:
        """A hull has few vertices; all are kept.

        Parameters
        ----------
        most : int
            Not used.

        Returns
        -------
        Hull
            This hull.
        """
        return self

    @property
    def slope(self) -> Array:
        """Slope of each edge, ΔTPR / ΔFPR; infinite if vertical."""
        return ratio(np.diff(self.y), np.diff(self.x))

    def corner(self, index: int) -> HullVertex:
        """One vertex of the hull.

        Parameters
        ----------
        index : int
            Index of the vertex, from the left.

        Returns
        -------
        HullVertex
            Model, threshold, FPR and TPR.
        """
        return HullVertex(self.model[index], float(self.threshold[index]), float(self.x[index]), float(self.y[index]))

    def regions(self) -> list[Region]:
        """For each vertex, from left to right, the range of slopes for which it is optimal."""
        edges = np.concatenate([[np.inf], self.slope, [0.0]])
        return [
            Region(self.model[k], float(edges[k + 1]), float(edges[k]), float(self.threshold[k]))
            for k in range(self.x.size)
            if edges[k] > edges[k + 1]
        ]

    def best(self, slope: float) -> HullVertex:
        """The vertex where a line of this slope touches the hull; the left one if an edge has the slope.

        Parameters
        ----------
        slope : float
            Slope of the iso-cost lines; see `Condition.slope`.

        Returns
        -------
        HullVertex
            The vertex of lowest expected cost.
        """
        height = self.y - slope * self.x
        return self.corner(int(np.argmax(height >= height.max() - 1e-12 * (1 + slope))))  # equal up to rounding

    def mixture(self, *, fpr: float | None = None, tpr: float | None = None) -> Mixture:
        """The two vertices, and the probability of using the first, that realise the hull at an FPR or a TPR.

        Parameters
        ----------
        fpr : float, optional
            The false positive rate; either this or `tpr` is given.
        tpr : float, optional
            The true positive rate.

        Returns
        -------
        Mixture
            Both vertices and the probability of the first.

        References
        ----------
        Provost, F., & Fawcett, T. (2001). Robust classification for imprecise environments. Machine Learning, 42,
        203-231.

        Examples
        --------
        >>> from scorespace.tables import score_table
        >>> hull(score_table([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1])).mixture(fpr=0.25).share
        0.5
        """
        if (fpr is None) == (tpr is None):
            raise ScoreSpaceError("specify the point of the hull by fpr or by tpr.", hint="mixture(fpr=0.1)")
        along, target = (self.x, fpr) if tpr is None else (self.y, tpr)
        if target is None or not 0 <= target <= 1:
            raise ScoreSpaceError(f"{target} is not a rate.", hint="between 0 and 1")
        # On a vertical first edge the upper end is meant; on a horizontal last edge the left end.
        side: Literal["left", "right"] = "right" if tpr is None else "left"
        second = int(np.clip(np.searchsorted(along, target, side=side), 1, along.size - 1))
        first = second - 1
        width = along[second] - along[first]
        share = (along[second] - target) / width if width else 0.0
        return Mixture(self.corner(first), self.corner(second), float(share))

    def dominated(self, models: Mapping[str, ScoreTable | ConfusionTable]) -> dict[str, str]:
        """Models that are never optimal, each with the reason.

        Parameters
        ----------
        models : mapping of str to table
            The table of each model.

        Returns
        -------
        dict of str to str
            The reason for each dominated model.
        """
        rivals = listing([name for name in dict.fromkeys(self.model) if name not in TRIVIAL]) or "the trivial rules"
        reasons = {}
        for name in [model for model in models if model not in self.model]:
            own_hull = hull(models[name])
            gap = float(
                np.max(self.y - np.interp(self.x, own_hull.x, own_hull.y))
            )  # largest at a vertex of the upper hull
            by = f", by up to {gap:.3f} of TPR" if gap > 0 else ""
            reasons[name] = f"everywhere on or below the hull of {rivals}{by}"
        return reasons


NEVER, ALWAYS = "always negative", "always positive"
TRIVIAL = (NEVER, ALWAYS)
"""The two rules that need no model: the points (0, 0) and (1, 1)."""


@roc_space_curve(title="ROC convex hull", aliases=("roc_hull", "convex_hull"), area="the area under the hull (AUCH)")
def hull(table: ScoreTable) -> Hull:
    """Best ROC points that mixtures of thresholds reach: the convex hull of the ROC curve (Provost & Fawcett 2001).

    For several models by name, including decisions, it is their common hull.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.

    Returns
    -------
    Hull
        The vertices, with the calibrated probability of each edge.

    References
    ----------
    Provost, F., & Fawcett, T. (2001). Robust classification for imprecise environments. Machine Learning, 42, 203-231.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> h = hull(score_table([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1]))
    >>> h.y, h.probability
    (array([0.        , 0.33333333, 1.        , 1.        ]), array([1.        , 0.66666667, 0.        ]))
    """
    edges = edges_of(table)
    neg, pos = (cumulate(side) for side in (edges.neg, edges.pos))
    names = (NEVER, *([""] * (edges.pos.size - 1)), ALWAYS) if edges.pos.size else (NEVER,)
    threshold, share = np.append(np.inf, table.score[edges.end]), ratio(edges.pos, edges.pos + edges.neg)
    return Hull("hull", ratio(neg, neg[-1]), ratio(pos, pos[-1]), threshold, hull.x, hull.y, names, share)


def _hull_of_models(tables: Mapping[str, ScoreTable | ConfusionTable]) -> Hull:
    if not tables:
        raise DataError("a hull needs at least one model.", hint="name a model with scores")
    hulls = [_hull_of_model(table, name) for name, table in tables.items()]
    first = next(iter(tables.values())).inside(ScoreTable)
    if len(hulls) == 1 or not (first.n_pos and first.n_neg):  # with one class only, all hulls are undefined
        return hulls[0]
    return _envelope(hulls, float(first.n_pos / first.total))


hull.functions[Mapping] = _hull_of_models
joint_curve(hull)(_hull_of_models)


def _hull_of_model(table: ScoreTable | ConfusionTable, model: str) -> Hull:
    scores = table.inside(ScoreTable)
    own_hull = hull.function(scores)
    # Decisions become scores 1 and 0, but their vertex has no usable threshold.
    threshold = own_hull.threshold if scores is table else np.where(np.isinf(own_hull.threshold), np.inf, np.nan)
    return replace(own_hull, threshold=threshold, model=tuple(name or model for name in own_hull.model))


def _envelope(hulls: list[Hull], prevalence: float) -> Hull:
    """Hull of several hulls: the least concave majorant of their vertices, by isotonic regression of the slopes."""
    x, y = (np.concatenate([getattr(each, axis) for each in hulls]) for axis in "xy")
    threshold = np.concatenate([each.threshold for each in hulls])
    model = np.concatenate([each.model for each in hulls])
    order = np.lexsort((-y, x))  # by x, the highest first; the first model wins a tie
    order = order[np.append(True, np.diff(x[order]) > 0)]
    has_vertical_edge = x[order][0] == 0 and y[order][0] > 0  # the edge up from (0, 0) is no function of x
    top_x, top_y = x[order], y[order]
    width = np.diff(top_x)
    blocks = pool_adjacent_violators(np.diff(top_y) / width, width)
    vertices = order[_turning_points(top_x[blocks], top_y[blocks], blocks)]
    if has_vertical_edge:
        vertices = np.concatenate([[int(np.flatnonzero((x == 0) & (y == 0))[0])], vertices])
    models = tuple(str(name) for name in model[vertices])
    hull_x, hull_y = x[vertices], y[vertices]
    odds = ratio(prevalence * np.diff(hull_y), (1 - prevalence) * np.diff(hull_x))
    share = np.where(np.isinf(odds), 1.0, ratio(odds, 1 + odds))
    first = hulls[0]
    return Hull("hull", hull_x, hull_y, threshold[vertices], first.x_title, first.y_title, models, share)


def _turning_points(x: Array, y: Array, index: Array) -> Array:
    """Vertices at which the hull turns by more than rounding error."""
    dx, dy = np.diff(x), np.diff(y)
    turn = dy[:-1] * dx[1:] - dy[1:] * dx[:-1]
    return index[np.concatenate([[True], turn > 1e-15, [True]])]


@dataclass(frozen=True)
class HullEdges:
    """Edges of one or more hulls in order: index of the hull, index of the last score, and weights on the edge."""

    owner: Array
    end: Array
    pos: Array
    neg: Array

    def added(self, values: Array, table: ScoreTable) -> Array:
        """Sum over the edges of each hull, in the shape of the table's replicates."""
        return np.bincount(self.owner, values, minlength=max(1, table.n_pos.size)).reshape(table.n_pos.shape)


def edges_of(table: ScoreTable) -> HullEdges:
    """Edges of the hulls of a table, cached for all measures that use them."""
    if "hull_edges" not in table.__dict__:
        table.__dict__["hull_edges"] = hull_edges(*table.columns)
    edges: HullEdges = table.__dict__["hull_edges"]
    return edges


def hull_edges(pos: Array, neg: Array) -> HullEdges:
    """Edges of the hulls of one table (m,) or of many replicates (R, m), by one isotonic regression.

    Replicate r is shifted by −2r, more than proportions can differ, so no block spans replicates. For very many rows
    the hulls of chunks are computed first: the hull of their edges is that of all rows. Many replicates are processed
    in cache-sized batches.
    """
    if pos.ndim == 2 and pos.size > CHUNK_ROWS:
        step = max(1, CHUNK_ROWS // pos.shape[1])
        starts = range(0, len(pos), step)
        parts = [_edges(pos[start : start + step], neg[start : start + step]) for start in starts]
        parts = [replace(part, owner=part.owner + start) for part, start in zip(parts, starts, strict=True)]
        columns = ([getattr(part, column.name) for part in parts] for column in fields(HullEdges))
        return HullEdges(*map(np.concatenate, columns))
    if pos.ndim == 1 and pos.size > _MIN_ROWS_FOR_CHUNKS:
        parts = map_chunks(lambda rows: _edges(pos[rows], neg[rows]), pos.size)
        ends = np.concatenate([part.end + first * CHUNK_ROWS for first, part in enumerate(parts)])
        edges = _edges(*(np.concatenate([getattr(part, side) for part in parts]) for side in ("pos", "neg")))
        return replace(edges, end=ends[edges.end])
    return _edges(pos, neg)


def _edges(pos: Array, neg: Array) -> HullEdges:
    scores = pos.shape[-1]
    pos, neg = pos.ravel(), neg.ravel()
    place = None
    occupied = (pos > 0) | (neg > 0)
    if not occupied.all():  # a replicate may have no cases at a score
        place = np.flatnonzero(occupied)
        pos, neg = pos[place], neg[place]
    if not pos.size:
        return HullEdges(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0), np.empty(0))
    # The curve can only turn downwards after positives and before negatives; other steps are merged beforehand.
    can_turn = (pos[:-1] > 0) & (neg[1:] > 0)
    if place is not None:
        owners = place // scores
        can_turn |= owners[1:] != owners[:-1]
    else:
        can_turn[scores - 1 :: scores] = True  # between replicates
    starts = np.append(0, np.flatnonzero(can_turn) + 1)
    ends = np.append(starts[1:], pos.size) - 1
    at = ends if place is None else place[ends]
    owner = at // scores
    step_pos, step_neg = _steps(pos, neg, starts, ends, several=pos.size > scores)
    weight = step_pos + step_neg
    pooled = pool_adjacent_violators(step_pos / weight - 2.0 * owner, weight)[:-1]
    edge_pos, edge_neg = np.add.reduceat(step_pos, pooled), np.add.reduceat(step_neg, pooled)
    # Rounding may leave two collinear edges: merge them if the exact cross product is zero.
    bends = edge_pos[:-1] * edge_neg[1:] != edge_pos[1:] * edge_neg[:-1]
    edges = np.flatnonzero(np.append(True, bends | (owner[pooled[1:]] != owner[pooled[:-1]])))
    last = np.append(pooled[1:], starts.size)[np.append(edges[1:], pooled.size) - 1] - 1
    return HullEdges(owner[last], at[last] % scores, np.add.reduceat(edge_pos, edges), np.add.reduceat(edge_neg, edges))


def _steps(pos: Array, neg: Array, starts: Array, ends: Array, several: bool) -> tuple[Array, Array]:
    """Weights of both classes on each step, which goes right and then up."""
    is_binary = pos.dtype == neg.dtype == np.uint8 and pos.max() <= 1 and np.array_equal(pos, neg ^ 1)
    if several or not is_binary:
        up, across = (_sums(column, starts, ends) for column in (pos, neg))
        return up, across
    # With distinct scores each row is one case: the index where a step turns up suffices, and is faster than sums.
    turns = np.flatnonzero(pos[1:] > pos[:-1]) + 1
    turns = np.concatenate([[0] if pos[0] else [], turns, [] if pos[-1] else [pos.size]]).astype(np.intp)
    return (np.append(starts[1:], pos.size) - turns).astype(np.float64), (turns - starts).astype(np.float64)


def _sums(column: Array, starts: Array, ends: Array) -> Array:
    """Sums over the rows of each step; for integers as differences of cumulative sums, which are exact and faster."""
    if column.dtype.kind not in "iu":
        return np.add.reduceat(column, starts, dtype=np.float64)
    return np.diff(np.cumsum(column, dtype=np.int64)[ends], prepend=0).astype(np.float64)

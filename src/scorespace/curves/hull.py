"""The ROC convex hull: of one model by isotonic regression, of many as the envelope of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Final, Literal, Self

import numpy as np

from scorespace.curves.curve import Curve, common, in_roc_space
from scorespace.curves.pool import pools
from scorespace.errors import DataError, ScoreSpaceError, listing
from scorespace.frozen import dataclass
from scorespace.results import Row, plain
from scorespace.tables import Array, ConfusionTable, ScoreTable, ratio
from scorespace.tables.pieces import PIECE, over_pieces
from scorespace.tables.score import cumulated

_MANY: Final = 4 * PIECE


@dataclass(frozen=True)
class Corner:
    """A classifier on the hull: a model at a threshold, or a trivial rule."""

    model: str
    threshold: float
    fpr: float
    tpr: float


@dataclass(frozen=True)
class Mixture:
    """A point of the hull realised by chance: use `first` with probability `share`, else `second`."""

    first: Corner
    second: Corner
    share: float

    @property
    def fpr(self) -> float:
        return self.share * self.first.fpr + (1 - self.share) * self.second.fpr

    @property
    def tpr(self) -> float:
        return self.share * self.first.tpr + (1 - self.share) * self.second.tpr


@dataclass(frozen=True)
class Region:
    """The slopes (of lines of equal cost) for which a corner of the hull is the best classifier."""

    model: str
    slope_low: float
    slope_high: float
    threshold: float

    def row(self) -> Row:
        return plain(asdict(self))


@dataclass(frozen=True, eq=False, repr=False)
class Hull(Curve):
    """The upper convex hull in ROC space; its edges fall in slope from left to right.

    `model` names the model of each corner. `probability` is the calibrated probability of the cases on
    each edge: for one model their share of positives. Its area is AUCH.
    """

    model: tuple[str, ...]
    probability: Array

    def thinned(self, most: int = 400) -> Self:
        """A hull has few corners, and each is needed."""
        return self

    @property
    def slope(self) -> Array:
        """Slope of each edge: TPR gained per FPR, infinite on a vertical one."""
        return ratio(np.diff(self.y), np.diff(self.x))

    def corner(self, index: int) -> Corner:
        """One corner of the hull."""
        return Corner(self.model[index], float(self.threshold[index]), float(self.x[index]), float(self.y[index]))

    def regions(self) -> list[Region]:
        """For each corner, from the left, the slopes for which it is best: between those of its edges."""
        edges = np.concatenate([[np.inf], self.slope, [0.0]])
        return [
            Region(self.model[k], float(edges[k + 1]), float(edges[k]), float(self.threshold[k]))
            for k in range(self.x.size)
            if edges[k] > edges[k + 1]
        ]

    def best(self, slope: float) -> Corner:
        """The corner where a line of that slope touches the hull; the left one when an edge has the slope."""
        height = self.y - slope * self.x
        return self.corner(int(np.argmax(height >= height.max() - 1e-12 * (1 + slope))))  # equal up to rounding

    def mixture(self, *, fpr: float | None = None, tpr: float | None = None) -> Mixture:
        """The two corners, and the chance of using the first, that realise the hull at an FPR or a TPR.

        >>> from scorespace.tables import score_table
        >>> hull(score_table([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1])).mixture(fpr=0.25).share
        0.5
        """
        if (fpr is None) == (tpr is None):
            raise ScoreSpaceError("state the point of the hull by fpr or by tpr.", hint="mixture(fpr=0.1)")
        along, wanted = (self.x, fpr) if tpr is None else (self.y, tpr)
        if wanted is None or not 0 <= wanted <= 1:
            raise ScoreSpaceError(f"{wanted} is not a rate.", hint="between 0 and 1")
        # On a vertical first edge the higher end is meant; on a horizontal last one, the left.
        side: Literal["left", "right"] = "right" if tpr is None else "left"
        second = int(np.clip(np.searchsorted(along, wanted, side=side), 1, along.size - 1))
        first = second - 1
        width = along[second] - along[first]
        share = (along[second] - wanted) / width if width else 0.0
        return Mixture(self.corner(first), self.corner(second), float(share))

    def dominated(self, models: Mapping[str, ScoreTable | ConfusionTable]) -> dict[str, str]:
        """The models that are best under no condition, each with the reason."""
        rivals = listing([one for one in dict.fromkeys(self.model) if one not in TRIVIAL]) or "the trivial rules"
        found = {}
        for name in [one for one in models if one not in self.model]:
            best = hull(models[name])
            gap = float(np.max(self.y - np.interp(self.x, best.x, best.y)))  # widest at a corner of the upper one
            by = f", by up to {gap:.3f} of TPR" if gap > 0 else ""
            found[name] = f"everywhere on or below the hull of {rivals}{by}"
        return found


NEVER, ALWAYS = "always negative", "always positive"
TRIVIAL = (NEVER, ALWAYS)
"""The two rules that need no model: the corners (0, 0) and (1, 1)."""


@in_roc_space(title="ROC convex hull", aliases=("roc_hull", "convex_hull"), area="the area under the hull (AUCH)")
def hull(table: ScoreTable) -> Hull:
    """The best that mixing the thresholds of a model reaches in ROC space: the convex hull of its curve.

    Of several models by name, crisp ones included, it is that of all together.

    >>> from scorespace.tables import score_table
    >>> h = hull(score_table([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1]))
    >>> h.y, h.probability
    (array([0.        , 0.33333333, 1.        , 1.        ]), array([1.        , 0.66666667, 0.        ]))
    """
    edges = edges_of(table)
    neg, pos = (cumulated(side) for side in (edges.neg, edges.pos))
    names = (NEVER, *([""] * (edges.pos.size - 1)), ALWAYS) if edges.pos.size else (NEVER,)
    threshold, share = np.append(np.inf, table.score[edges.end]), ratio(edges.pos, edges.pos + edges.neg)
    return Hull("hull", ratio(neg, neg[-1]), ratio(pos, pos[-1]), threshold, hull.x, hull.y, names, share)


def _hull_of_models(tables: Mapping[str, ScoreTable | ConfusionTable]) -> Hull:
    if not tables:
        raise DataError("a hull needs at least one model.", hint="name a model with scores")
    hulls = [_hull_of_model(table, name) for name, table in tables.items()]
    first = next(iter(tables.values())).inside(ScoreTable)
    if len(hulls) == 1 or not (first.n_pos and first.n_neg):  # of one class all hulls are alike: nowhere
        return hulls[0]
    return _envelope(hulls, float(first.n_pos / first.total))


hull.functions[Mapping] = _hull_of_models
common(hull)(_hull_of_models)


def _hull_of_model(table: ScoreTable | ConfusionTable, model: str) -> Hull:
    scores = table.inside(ScoreTable)
    found = hull.function(scores)
    # A crisp decision counts as a score, but its corner has no threshold that anybody could use.
    threshold = found.threshold if scores is table else np.where(np.isinf(found.threshold), np.inf, np.nan)
    return replace(found, threshold=threshold, model=tuple(name or model for name in found.model))


def _envelope(hulls: list[Hull], prevalence: float) -> Hull:
    """The hull of several hulls: the least concave majorant of their corners, by regression of the slopes."""
    x, y = (np.concatenate([getattr(one, axis) for one in hulls]) for axis in "xy")
    threshold = np.concatenate([one.threshold for one in hulls])
    model = np.concatenate([one.model for one in hulls])
    order = np.lexsort((-y, x))  # by x, the highest first; the first model wins a tie
    order = order[np.append(True, np.diff(x[order]) > 0)]
    left = x[order][0] == 0 and y[order][0] > 0  # the vertical edge from (0, 0) belongs to no function of x
    top_x, top_y = x[order], y[order]
    width = np.diff(top_x)
    blocks = pools(np.diff(top_y) / width, width)
    kept = order[_bending(top_x[blocks], top_y[blocks], blocks)]
    if left:
        kept = np.concatenate([[int(np.flatnonzero((x == 0) & (y == 0))[0])], kept])
    corners = tuple(str(name) for name in model[kept])
    hull_x, hull_y = x[kept], y[kept]
    odds = ratio(prevalence * np.diff(hull_y), (1 - prevalence) * np.diff(hull_x))
    share = np.where(np.isinf(odds), 1.0, ratio(odds, 1 + odds))
    first = hulls[0]
    return Hull("hull", hull_x, hull_y, threshold[kept], first.x_title, first.y_title, corners, share)


def _bending(x: Array, y: Array, index: Array) -> Array:
    """The corners at which the hull really turns, up to rounding."""
    ahead_x, ahead_y = np.diff(x), np.diff(y)
    turn = ahead_y[:-1] * ahead_x[1:] - ahead_y[1:] * ahead_x[:-1]
    return index[np.concatenate([[True], turn > 1e-15, [True]])]


@dataclass(frozen=True)
class HullEdges:
    """Edges of one or many hulls, in order: which hull, last score index, and the weights on the edge."""

    owner: Array
    end: Array
    pos: Array
    neg: Array

    def added(self, values: Array, table: ScoreTable) -> Array:
        """The sum over the edges of each hull, in the shape of the replicates of their table."""
        return np.bincount(self.owner, values, minlength=max(1, table.n_pos.size)).reshape(table.n_pos.shape)


def edges_of(table: ScoreTable) -> HullEdges:
    """The edges of a table's hulls, found once for all measures that ask for them."""
    if "hull_edges" not in table.__dict__:
        table.__dict__["hull_edges"] = hull_edges(*table.columns)
    edges: HullEdges = table.__dict__["hull_edges"]
    return edges


def hull_edges(pos: Array, neg: Array) -> HullEdges:
    """Edges of the hulls of one table (m,) or of many replicates (R, m), in one isotonic regression.

    Replicate r is lowered by 2r, more than any share can differ, so no pool crosses replicates. Of very
    many rows the hulls of pieces come first: the hull of their edges is that of all rows. Many replicates are gone
    through some at a time, which stay in the cache.
    """
    if pos.ndim == 2 and pos.size > PIECE:
        step = max(1, PIECE // pos.shape[1])
        starts = range(0, len(pos), step)
        parts = [_edges(pos[start : start + step], neg[start : start + step]) for start in starts]
        parts = [replace(part, owner=part.owner + start) for part, start in zip(parts, starts, strict=True)]
        return HullEdges(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(HullEdges)))
    if pos.ndim == 1 and pos.size > _MANY:
        parts = over_pieces(lambda rows: _edges(pos[rows], neg[rows]), pos.size)
        ends = np.concatenate([part.end + first * PIECE for first, part in enumerate(parts)])
        found = _edges(*(np.concatenate([getattr(part, side) for part in parts]) for side in ("pos", "neg")))
        return replace(found, end=ends[found.end])
    return _edges(pos, neg)


def _edges(pos: Array, neg: Array) -> HullEdges:
    scores = pos.shape[-1]
    pos, neg = pos.ravel(), neg.ravel()
    place = None
    filled = (pos > 0) | (neg > 0)
    if not filled.all():  # a replicate may have drawn none of the cases at a score
        place = np.flatnonzero(filled)
        pos, neg = pos[place], neg[place]
    if not pos.size:
        return HullEdges(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0), np.empty(0))
    # A curve can only bend downwards after positives and before negatives: all else is one step at once.
    corner = (pos[:-1] > 0) & (neg[1:] > 0)
    if place is not None:
        owners = place // scores
        corner |= owners[1:] != owners[:-1]
    else:
        corner[scores - 1 :: scores] = True  # between replicates
    starts = np.append(0, np.flatnonzero(corner) + 1)
    ends = np.append(starts[1:], pos.size) - 1
    at = ends if place is None else place[ends]
    owner = at // scores
    step_pos, step_neg = _steps(pos, neg, starts, ends, several=pos.size > scores)
    weight = step_pos + step_neg
    pooled = pools(step_pos / weight - 2.0 * owner, weight)[:-1]
    edge_pos, edge_neg = np.add.reduceat(step_pos, pooled), np.add.reduceat(step_neg, pooled)
    # Rounding may leave two edges on one line: join them where the exact cross product is zero.
    bends = edge_pos[:-1] * edge_neg[1:] != edge_pos[1:] * edge_neg[:-1]
    kept = np.flatnonzero(np.append(True, bends | (owner[pooled[1:]] != owner[pooled[:-1]])))
    last = np.append(pooled[1:], starts.size)[np.append(kept[1:], pooled.size) - 1] - 1
    return HullEdges(owner[last], at[last] % scores, np.add.reduceat(edge_pos, kept), np.add.reduceat(edge_neg, kept))


def _steps(pos: Array, neg: Array, starts: Array, ends: Array, several: bool) -> tuple[Array, Array]:
    """The weights of both classes on each step, which leads across and then up."""
    single = pos.dtype == neg.dtype == np.uint8 and pos.max() <= 1 and np.array_equal(pos, neg ^ 1)
    if several or not single:
        up, across = (_sums(column, starts, ends) for column in (pos, neg))
        return up, across
    # With distinct scores each row is one case: where a step turns up says all, and sums take several times as long.
    turns = np.flatnonzero(pos[1:] > pos[:-1]) + 1
    turns = np.concatenate([[0] if pos[0] else [], turns, [] if pos[-1] else [pos.size]]).astype(np.intp)
    return (np.append(starts[1:], pos.size) - turns).astype(np.float64), (turns - starts).astype(np.float64)


def _sums(column: Array, starts: Array, ends: Array) -> Array:
    """Sums over the rows of each step; of whole numbers as differences of running sums, which are exact and quicker."""
    if column.dtype.kind not in "iu":
        return np.add.reduceat(column, starts, dtype=np.float64)
    return np.diff(np.cumsum(column, dtype=np.int64)[ends], prepend=0).astype(np.float64)

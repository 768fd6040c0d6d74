"""The ROC convex hull, by isotonic regression of the score table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from scorespace.curves.curve import Curve
from scorespace.tables import Array, ScoreTable, ratio


@dataclass(frozen=True, eq=False)
class Hull(Curve):
    """The upper convex hull of a ROC curve; its edges fall in slope from left to right.

    `probability` is the calibrated probability of the cases on each edge: their share of positives.
    """

    probability: Array

    @property
    def slope(self) -> Array:
        """Slope of each edge: TPR gained per FPR, infinite on the vertical one."""
        return ratio(np.diff(self.y), np.diff(self.x))


def hull(table: ScoreTable) -> Hull:
    """The convex hull of a score table's ROC curve.

    >>> from scorespace.tables import score_table
    >>> h = hull(score_table([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1]))
    >>> h.y, h.probability
    (array([0.        , 0.33333333, 1.        , 1.        ]), array([1.        , 0.66666667, 0.        ]))
    """
    edges = hull_edges(table.pos, table.neg)
    corners_pos = np.concatenate([[0.0], np.cumsum(edges.pos)])
    corners_neg = np.concatenate([[0.0], np.cumsum(edges.neg)])
    return Hull(
        "hull",
        ratio(corners_neg, corners_neg[-1]),
        ratio(corners_pos, corners_pos[-1]),
        np.concatenate([[np.inf], table.score[edges.end]]),
        "False positive rate",
        "True positive rate",
        ratio(edges.pos, edges.pos + edges.neg),
    )


@dataclass(frozen=True)
class HullEdges:
    """Edges of one or many hulls, in order: which hull, last score index, and the weights on the edge."""

    owner: Array
    end: Array
    pos: Array
    neg: Array


def hull_edges(pos: Array, neg: Array) -> HullEdges:
    """Edges of the hulls of one table (m,) or of many replicates (R, m), in one isotonic regression.

    Replicate r is lowered by 2r, more than any share can differ, so no pool crosses replicates.
    """
    pos, neg = np.atleast_2d(pos), np.atleast_2d(neg)
    weight = pos + neg
    owner, index = np.nonzero(weight)
    if not owner.size:
        return HullEdges(owner, index, np.empty(0), np.empty(0))
    flat_pos, flat_neg, flat_weight = pos[owner, index], neg[owner, index], weight[owner, index]
    fitted = isotonic_regression(flat_pos / flat_weight - 2.0 * owner, weights=flat_weight, increasing=False)
    starts = fitted.blocks[:-1]
    edge_pos, edge_neg = np.add.reduceat(flat_pos, starts), np.add.reduceat(flat_neg, starts)
    # Rounding may leave two edges on one line: join them where the exact cross product is zero.
    bends = edge_pos[:-1] * edge_neg[1:] != edge_pos[1:] * edge_neg[:-1]
    kept = np.flatnonzero(np.append(True, bends | (owner[starts[1:]] != owner[starts[:-1]])))
    ends = np.append(starts[1:], owner.size)[np.append(kept[1:], starts.size) - 1] - 1
    return HullEdges(owner[ends], index[ends], np.add.reduceat(edge_pos, kept), np.add.reduceat(edge_neg, kept))

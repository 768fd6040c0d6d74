"""Cost curves (Drummond & Holte 2006): normalised expected cost over all operating conditions; and iso-cost lines."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from scorespace.curves.curve import UNIT, Curve, curve
from scorespace.curves.hull import Hull, hull
from scorespace.tables import Array, ScoreTable


@dataclass(frozen=True, eq=False, repr=False)
class CostCurve(Curve):
    """The lower envelope of the lines of all thresholds.

    `lines` holds the line of each threshold on the hull: its cost at x = 0 and at x = 1, which are FPR and FNR.
    """

    lines: Array = field(kw_only=True)


@curve(
    title="Cost curve",
    x="Probability-weighted cost of positives",
    y="Normalised expected cost",
    name="cost",
    aliases=("cost_curve",),
    x_ends=UNIT,
    y_ends=(0.0, 0.55),
    chance=((0.0, 0.0), (0.5, 0.5), (1.0, 0.0)),
    chance_name="no model",
    area="the mean cost when all conditions are equally likely; lower is better",
    stratified=True,
)
def cost_curve(table: ScoreTable) -> CostCurve:
    """Lowest normalised cost of any threshold (y) for each x = π·c_FN / (π·c_FN + (1−π)·c_FP).

    It is the dual of the convex hull: an edge of slope m becomes a vertex at x = 1 / (1 + m). The threshold of a point
    is optimal from there to the next point.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.

    Returns
    -------
    CostCurve
        Probability-weighted cost of positives (x) and normalised expected cost (y).

    References
    ----------
    Drummond, C., & Holte, R. C. (2006). Cost curves: an improved method for visualizing classifier performance. Machine
    Learning, 65, 95-130.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> cost_curve(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])).y
    array([0.  , 0.25, 0.  ])
    """
    return envelope(hull(table))


def envelope(of: Hull) -> CostCurve:
    """The cost curve of a convex hull, of one model or of several."""
    # As x increases, the optimal vertex moves from (0, 0) to (1, 1).
    slopes = of.slope
    bend = np.where(np.isinf(slopes), 0.0, 1 / (1 + np.where(np.isinf(slopes), 0.0, slopes)))
    before = slice(None, -1)
    at_bend = bend * (1 - of.y[before]) + (1 - bend) * of.x[before]
    is_inner = (bend > 0) & (bend < 1)
    x = np.concatenate([[0.0], bend[is_inner], [1.0]])
    y = np.concatenate([[0.0], at_bend[is_inner], [0.0]])
    vertex = np.flatnonzero(np.concatenate([[False], is_inner]))
    first = 1 if slopes.size and np.isinf(slopes[0]) else 0
    threshold = np.concatenate([[of.threshold[first]], of.threshold[vertex], [of.threshold[-1]]])
    return CostCurve("cost", x, y, threshold, cost_curve.x, cost_curve.y, lines=np.stack([of.x, 1 - of.y], axis=1))


@dataclass(frozen=True)
class IsoLine:
    """An iso-cost line in ROC space: all its points have the same expected cost."""

    slope: float
    fpr: tuple[float, float]
    tpr: tuple[float, float]


def iso_line(slope: float, fpr: float, tpr: float) -> IsoLine:
    """The iso-cost line through a point of ROC space, clipped to the unit square.

    Parameters
    ----------
    slope : float
        Slope of the line; see `Condition.slope`.
    fpr, tpr : float
        The point.

    Returns
    -------
    IsoLine
        Both ends of the line.

    Examples
    --------
    >>> iso_line(1.0, 0.2, 0.6)
    IsoLine(slope=1.0, fpr=(0.0, 0.6), tpr=(0.4, 1.0))
    """
    if np.isinf(slope):
        return IsoLine(slope, (fpr, fpr), (0.0, 1.0))
    at_left = tpr - slope * fpr
    ends: list[tuple[float, float]] = []
    candidates = [(0.0, at_left), (1.0, at_left + slope)]
    if slope > 0:
        candidates += [(-at_left / slope, 0.0), ((1 - at_left) / slope, 1.0)]
    for x, y in candidates:
        point = (round(x, 12) + 0.0, round(y, 12) + 0.0)
        if 0 <= point[0] <= 1 and 0 <= point[1] <= 1 and point not in ends:
            ends.append(point)
    ends.sort()
    return IsoLine(slope, (ends[0][0], ends[-1][0]), (ends[0][1], ends[-1][1]))

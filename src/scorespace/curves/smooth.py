"""Smooth ROC curves: each case moves the curve up and to the right, in proportion to its score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Final

import numpy as np

from scorespace.curves.curve import unit_square_with_diagonal
from scorespace.curves.hull import Hull, hull, hull_edges
from scorespace.curves.midpoint import Midpoint, Recentre, count_high, midpoint_ends, midpoints, require_midpoint
from scorespace.curves.roc import RocCurve, roc
from scorespace.errors import ScoreError
from scorespace.results import SCHEMA, AsTable, ByValue, Note, Row, decimals, grouped, note, to_json_types
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.score_arrays import cumulate

MIN_SHARE_OF_SMALLER_CLASS: Final = 0.3
"""Below this share of the smaller class, smAUC mostly measures the larger one."""


def softened(table: ScoreTable, midpoint: str | float = "mean", recentre: bool = False) -> ScoreTable:
    """The table with soft labels: each case counts as c positives and 1 − c negatives.

    c = s for an appropriate score (a positive above the midpoint, a negative at or below it), else 1 − s. Bootstrap
    replicates each have their own midpoint.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.
    midpoint : str or float
        What separates high from low scores: "mean", "class_weighted", "cross_weighted", "median", "class_medians",
        "half", or a number.
    recentre : bool
        Whether to map the midpoint to 0.5 first, piecewise linearly.

    Returns
    -------
    ScoreTable
        The table with soft labels.

    References
    ----------
    Klement, W., Flach, P., Japkowicz, N., & Matwin, S. (2011). Smooth receiver operating characteristics (smROC)
    curves. In Machine Learning and Knowledge Discovery in Databases (ECML PKDD).

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> softened(score_table([1, 0, 0], [0.9, 0.6, 0.0])).pos
    array([0.9, 0.4, 0. ])
    """
    check_probabilities(table)
    pos, neg = table.pos, table.neg
    return _soft_table(table, pos, neg, _middle(table, pos, neg, midpoint), recentre)


def _middle(table: ScoreTable, pos: Array, neg: Array, midpoint: str | float) -> Array:
    if table.bins is None:
        return midpoints(table.score, pos, neg, midpoint)
    return np.asarray(sum(midpoint_ends(table, midpoint)) / 2)


@dataclass(frozen=True)
class MidpointSums:
    """Sums of scores above and below the midpoint of a binned table, for certified bounds.

    `high` marks the bins above the midpoint and `low` those at or below it, wherever it lies within its bounds `ends`;
    other bins are undetermined. Linear functions of the scores on one side are summed exactly.
    """

    table: ScoreTable
    ends: tuple[float, float]
    high: Array
    low: Array

    def line(self, positive: bool, start: float, slope: float) -> Array:
        """Σ (start + slope · s) over the positives in each bin, or over the negatives."""
        bins, own = self.table.binned, self.table.positive
        first = bins.first[own] if positive else bins.first.sum(axis=0) - bins.first[own]
        return start * (self.table.pos if positive else self.table.neg) + slope * first


def split_at_midpoint(table: ScoreTable, midpoint: str | float) -> MidpointSums:
    """Classify the bins of a binned table by the midpoint."""
    check_probabilities(table)
    ends = midpoint_ends(table, midpoint)
    return MidpointSums(table, ends, table.binned.low > ends[1], table.binned.high <= ends[0])


def soft_label_bounds(
    table: ScoreTable, midpoint: str | float = "mean", recentre: bool = False
) -> tuple[Array, Array] | None:
    """Bounds of the sum of soft labels Σ c in each bin; None if recentring is undefined (midpoint 0 or 1).

    On each side of the midpoint c is linear in the score, so its sum is known. In the bin that contains the midpoint, a
    case may have any c in the range there.

    >>> from scorespace.tables import score_table
    >>> soft_label_bounds(score_table([1, 0, 0], [0.734375, 0.71875, 0.1]).rounded(50), 0.5)
    (array([1.015625, 0.1     ]), array([1.015625, 0.1     ]))
    """
    sums = split_at_midpoint(table, midpoint)
    least, most = sums.ends
    if recentre and not (least > _END_TOLERANCE and most < 1 - _END_TOLERANCE):
        return None
    ends = []
    for one, other in ((most, least), (least, most)):  # recentred scores decrease with the midpoint
        above, of_others = (_lines(at)[0] if recentre else (0.0, 1.0) for at in (one, other))
        below, of_own = (_lines(at)[1] if recentre else (0.0, 1.0) for at in (one, other))
        high = sums.line(True, *above) + table.neg - sums.line(False, *of_others)
        low = table.pos - sums.line(True, *of_own) + sums.line(False, *below)
        ends.append(np.where(sums.high, high, low))
    assert table.bins is not None
    (rise, slope), (start, fall) = (_lines(least)[0], _lines(most)[1]) if recentre else ((0.0, 1.0), (0.0, 1.0))
    top, bottom = rise + slope * table.bins.high, start + fall * table.bins.low
    undetermined = ~(sums.high | sums.low)
    size = table.pos + table.neg
    lower = np.where(undetermined, size * np.minimum(bottom, 1 - top), np.minimum(*ends))
    upper = np.where(undetermined, size * np.maximum(top, 1 - bottom), np.maximum(*ends))
    return np.clip(lower, 0, size), np.clip(upper, 0, size)


_END_TOLERANCE: Final = 1e-9


def _lines(middle: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Intercept and slope of the two lines that map the midpoint to 0.5, above and below it."""
    return (0.5 - middle / (2 * (1 - middle)), 1 / (2 * (1 - middle))), (0.0, 1 / (2 * middle))


def check_probabilities(table: ScoreTable) -> None:
    """Refuse scores outside [0, 1] and suggest how to map them."""
    if not table.probabilities:
        raise ScoreError(
            "smooth ROC needs scores between 0 and 1, because their values matter.",
            seen=f"scores from {table.score[-1]:g} to {table.score[0]:g}",
            hint="map them first: scorespace calibrate --method minmax, logistic or isotonic",
        )


@dataclass(frozen=True, eq=False, repr=False)
class SmoothCurve(RocCurve):
    """The ROC curve of a table with soft labels.

    A score is appropriate if it is on the side of the midpoint of its class.

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
    table : ScoreTable
        The table with soft labels.
    given : ScoreTable
        The original table.
    midpoint : float
        What separates high from low scores.
    tau_v, tau_h : float
        Height and width of the curve before normalisation: Σ c and Σ (1 − c).
    appropriate, inappropriate : float
        Weights of the cases with appropriate and with inappropriate scores.
    normalised : bool
        Whether the axes are rates instead of counts.
    certified_low, certified_high : ndarray, optional
        Bounds of y for a binned table; NaN where they are unknown.
    part : mapping
        Range of rates whose partial area is reported, if any.
    """

    given: ScoreTable
    midpoint: float
    tau_v: float
    tau_h: float
    appropriate: float
    inappropriate: float
    normalised: bool = True

    @cached_property
    def roc(self) -> RocCurve:
        """The ordinary ROC curve of the same scores."""
        return roc(self.given)

    @property
    def auc(self) -> float:
        """Area under the ordinary ROC curve of the same scores."""
        return self.roc.area()

    @property
    def smaller(self) -> float:
        """Share of the smaller class."""
        return float(ratio(min(self.given.n_pos, self.given.n_neg), self.given.total))

    @property
    def rotation(self) -> float:
        """τv / τh: the ratio of the two axis scales; 1 leaves slopes unchanged."""
        return float(ratio(self.tau_v, self.tau_h))

    def hull(self) -> Hull:
        """The upper convex hull of the curve, on the same axes."""
        own = replace(hull(self.table), x_title=self.x_title, y_title=self.y_title)
        return own if self.normalised else replace(own, x=own.x * self.tau_h, y=own.y * self.tau_v)

    def gap(self) -> float:
        """Area of the hull minus that of the curve: a measure of miscalibration."""
        return max(0.0, self.hull().area() - self.area())

    @property
    def beside_area(self) -> dict[str, float]:
        """The AUC of the original labels, unless the axes are counts."""
        return {"auc": self.auc} if self.normalised else {}

    def findings(self, model: str = "") -> tuple[Note, ...]:
        """Notes on the curve of that model: class imbalance, midpoint, separated classes.

        Parameters
        ----------
        model : str
            Name of the model.

        Returns
        -------
        tuple of Note
            The notes, if any.
        """
        of, middle = f" of {model}" if model else "", decimals(self.midpoint)
        texts: dict[str, str] = {}
        if self.smaller == 0:
            return ()
        if self.smaller < MIN_SHARE_OF_SMALLER_CLASS:
            texts["SS027"] = (
                f"the smaller class has {100 * self.smaller:.2g} % of the cases, so smAUC{of} mostly reflects the "
                "larger class. Report it together with AUC, and do not compare it across prevalences."
            )
        if not self.appropriate:
            texts["SS065"] = (
                f"no score{of} is appropriate: all positives are at or below the midpoint {middle} and all negatives "
                "above it; the classes may be swapped."
            )
        elif not self.inappropriate:
            texts["SS028"] = (
                f"no score{of} is on the wrong side of the midpoint {middle}: the classes do not overlap, and smAUC "
                "reflects only how extreme the scores are."
            )
        elif text := self._midpoint_outside_overlap(of):
            texts["SS066"] = text
        return tuple(note(code, text) for code, text in texts.items())

    def _midpoint_outside_overlap(self, of: str) -> str | None:
        """The text of the note that the midpoint lies outside the overlap of the classes; None if it lies inside."""
        scores = [self.given.score[side > 0] for side in (self.given.pos, self.given.neg)]
        # The overlap starts at the higher of both lowest scores; one class may lie inside the other.
        lowest, highest = max(float(side.min()) for side in scores), min(float(side.max()) for side in scores)
        low, high = min(lowest, highest), max(lowest, highest)
        if low <= self.midpoint <= high:
            return None
        where = "overlap" if lowest <= highest else "meet"
        side = "low" if self.midpoint > high else "high"
        return (
            f"the midpoint {decimals(self.midpoint)}{of} is outside the scores {decimals(low)} to {decimals(high)} "
            f"where the classes {where}: all cases there count as {side}. A midpoint of "
            f"{decimals((low + high) / 2)} would separate them."
        )

    def facts(self) -> Row:
        """Summary values of the curve, including the AUC."""
        names = ("auc", "midpoint", "tau_v", "tau_h", "rotation", "appropriate", "inappropriate")
        return to_json_types({"area": self.area(), **{name: getattr(self, name) for name in names}})

    def to_dict(self) -> Row:
        """The curve as a dict for JSON, with its summary values and notes."""
        return {**super().to_dict(), **self.facts(), "notes": [note.to_dict() for note in self.notes]}

    def __repr__(self) -> str:
        area = f"area {decimals(self.area())} (AUC {decimals(self.auc)}), " if self.normalised else ""
        return (
            f"smooth ROC curve: {area}midpoint {decimals(self.midpoint)}, {grouped(self.appropriate)} appropriate and "
            f"{grouped(self.inappropriate)} inappropriate scores, rotation {decimals(self.rotation)}"
        )


@unit_square_with_diagonal(
    title="Smooth ROC curve",
    x="Smooth false positive rate",
    y="Smooth true positive rate",
    aliases=("smooth_roc", "smroc"),
    probability=True,
    area="the AUC of soft labels (smAUC); in counts, none",
)
def smooth(
    table: ScoreTable,
    *,
    midpoint: Midpoint = "mean",
    recentre: Recentre = False,
    normalised: Annotated[bool, "rates on both axes instead of counts"] = True,
) -> SmoothCurve:
    """ROC curve of soft labels; a case counts as c positives and 1 − c negatives: c = s if appropriate, else 1 − s.

    If not `normalised`, the axes are counts: Σ (1 − c) and Σ c.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.
    midpoint : str or float
        What separates high from low scores: "mean", "class_weighted", "cross_weighted", "median", "class_medians",
        "half", or a number.
    recentre : bool
        Whether to map the midpoint to 0.5 first, piecewise linearly.
    normalised : bool
        Rates on both axes instead of counts.

    Returns
    -------
    SmoothCurve
        The curve, with the AUC of the original labels.

    References
    ----------
    Klement, W., Flach, P., Japkowicz, N., & Matwin, S. (2011). Smooth receiver operating characteristics (smROC)
    curves. In Machine Learning and Knowledge Discovery in Databases (ECML PKDD).

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> smooth(score_table([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.7, 0.3, 0.2, 0.1]))
    smooth ROC curve: area 0.844 (AUC 1.000), midpoint 0.500, 6 appropriate and 0 inappropriate scores, rotation 1.000
    """
    check_probabilities(table)
    pos, neg = table.pos, table.neg
    middle = require_midpoint(_middle(table, pos, neg, midpoint), midpoint)
    high = count_high(table.score, middle)
    appropriate = float(pos[:high].sum() + neg[high:].sum())
    soft = _soft_table(table, pos, neg, np.asarray(middle), recentre)
    across, up = (cumulate(soft.counts[k]) for k in (1 - soft.positive, soft.positive))
    tau_h, tau_v = float(across[-1]), float(up[-1])
    if normalised:
        with np.errstate(invalid="ignore"):
            across /= tau_h
            up /= tau_v
    return SmoothCurve(
        "smooth" if normalised else "smooth_counts",
        across,
        up,
        table.thresholds,
        smooth.x if normalised else "Sum of soft negatives",
        smooth.y if normalised else "Sum of soft positives",
        soft,
        table,
        middle,
        tau_v,
        tau_h,
        appropriate,
        float(pos[high:].sum() + neg[:high].sum()),
        normalised,
    )


@dataclass(frozen=True, eq=False)
class Gaps(ByValue, AsTable):
    """Gaps between the ROC and smooth ROC curves of a model and their hulls, before and after isotonic calibration.

    `roc` and `smooth` are hull area minus area. After calibration the ROC gap is zero and that of the smooth curve is
    `smooth_calibrated`. `rotation` is τv / τh.
    """

    roc: float
    smooth: float
    smooth_calibrated: float
    rotation: float
    rotation_calibrated: float

    def rows(self) -> list[Row]:
        """One row before calibration and one after."""
        return [
            {"scores": "given", "roc": self.roc, "smooth": self.smooth, "rotation": self.rotation},
            {
                "scores": "calibrated",
                "roc": 0.0,
                "smooth": self.smooth_calibrated,
                "rotation": self.rotation_calibrated,
            },
        ]

    @property
    def notes(self) -> tuple[Note, ...]:
        return ()

    def to_dict(self) -> Row:
        return {"schema": SCHEMA, "rows": to_json_types(self.rows())}

    def __repr__(self) -> str:
        return (
            f"gap to the hull: ROC {decimals(self.roc)}, smooth ROC {decimals(self.smooth)}; "
            f"rotation {decimals(self.rotation)}, calibrated {decimals(self.rotation_calibrated)}"
        )


def gaps(table: ScoreTable, midpoint: str | float = "mean", recentre: bool = False) -> Gaps:
    """Gaps of ROC and smooth ROC to their hulls, and rotation, before and after isotonic calibration.

    >>> from scorespace.tables import score_table
    >>> gaps(score_table([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.01]), "half")
    gap to the hull: ROC 0.056, smooth ROC 0.006; rotation 0.858, calibrated 1.000
    """
    before = smooth(table, midpoint, recentre)
    after = smooth(hull_calibrated(table), midpoint, recentre)
    line = roc(table)
    return Gaps(max(0.0, line.hull().area() - line.area()), before.gap(), after.gap(), before.rotation, after.rotation)


def hull_calibrated(table: ScoreTable) -> ScoreTable:
    """Isotonic calibration: replace each score by the share of positives on its edge of the ROC hull."""
    edges = hull_edges(*table.columns)
    classes, positive = _two_names(table)
    counts = np.stack([edges.pos, edges.neg] if positive == 0 else [edges.neg, edges.pos])
    return ScoreTable(ratio(edges.pos, edges.pos + edges.neg), counts, classes, positive)


def _soft_table(table: ScoreTable, pos: Array, neg: Array, middle: Array, recentre: bool) -> ScoreTable:
    score = table.score
    if table.bins is None:
        change = pos - neg
        change *= _recentred(score, middle) if recentre else score
    else:
        change = _score_differences(table, pos - neg, float(middle), recentre)
    if np.isnan(middle).any():  # without a midpoint the soft labels are undefined
        change = change + np.where(np.isnan(middle), np.nan, 0.0)[..., None]
    classes, positive = _two_names(table)
    counts = np.empty((*change.shape[:-1], 2, score.size))
    up, across = counts[..., positive, :], counts[..., 1 - positive, :]
    # Scores are descending, so high ones come first; only those between the replicates' midpoints need a mask.
    highest, lowest = float(np.fmax.reduce(middle, axis=None)), float(np.fmin.reduce(middle, axis=None))
    high, low = count_high(score, highest), count_high(score, lowest)
    np.add(neg[..., :high], change[..., :high], out=up[..., :high])
    np.subtract(pos[..., :high], change[..., :high], out=across[..., :high])
    np.subtract(pos[..., low:], change[..., low:], out=up[..., low:])
    np.add(neg[..., low:], change[..., low:], out=across[..., low:])
    if low > high:
        above = score[high:low] > middle[..., None]
        toward, away = neg[..., high:low] + change[..., high:low], pos[..., high:low] - change[..., high:low]
        up[..., high:low], across[..., high:low] = np.where(above, toward, away), np.where(above, away, toward)
    return ScoreTable(score, counts, classes, positive, table.resolution)


def _score_differences(table: ScoreTable, excess: Array, middle: float, recentre: bool) -> Array:
    """Sum of the scores of positives minus that of negatives in each bin, recentred or not."""
    assert table.bins is not None
    difference = 2 * table.bins.first[table.positive] - table.bins.first.sum(axis=0)
    if not recentre or not _END_TOLERANCE < middle < 1 - _END_TOLERANCE:
        return excess * _recentred(table.score, np.asarray(middle)) if recentre else difference
    (above, steep), (below, flat) = _lines(middle)
    high = table.score > middle
    return np.where(high, above, below) * excess + np.where(high, steep, flat) * difference


def _recentred(score: Array, middle: Array) -> Array:
    """Map the midpoint to 0.5 piecewise linearly, with 0 and 1 fixed."""
    at = middle[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = score / (2 * at), 0.5 + (score - at) / (2 * (1 - at))
    recentred = np.where(score > at, high, np.where(at > 0, low, 0.5))
    return recentred if middle.ndim else recentred.reshape(score.shape)


def _two_names(table: ScoreTable) -> tuple[tuple[str, ...], int]:
    """Names of two classes, the others merged into one, and the index of the positive one."""
    if len(table.classes) == 2:
        return table.classes, table.positive
    name = table.classes[table.positive]
    return (name, f"not {name}"), 0

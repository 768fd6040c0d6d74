"""The smooth ROC curve: every case moves it up and across, by as much as its score says."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

import numpy as np

from scorespace.curves.curve import beside_chance
from scorespace.curves.hull import Hull, hull, hull_edges
from scorespace.curves.midpoint import Midpoint, Recentre, count_high, defined, midpoint_ends, midpoints
from scorespace.curves.roc import RocCurve, roc
from scorespace.errors import ScoreError
from scorespace.frozen import dataclass
from scorespace.results import SCHEMA, ByValue, Note, Row, decimals, grouped, note, plain
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.score import cumulated

FEW_OF_A_CLASS: Final = 0.3
"""Below this share of the smaller class, smAUC mostly measures the larger one."""


def softened(table: ScoreTable, midpoint: str | float = "mean", recentre: bool = False) -> ScoreTable:
    """The table in which each case is c of a positive and 1 − c of a negative.

    c = s for an appropriate score (a positive above the midpoint, a negative at or below it), else
    1 − s. `recentre` first maps the midpoint to 0.5 by two straight lines. Replicates have each their
    own midpoint.

    >>> from scorespace.tables import score_table
    >>> softened(score_table([1, 0, 0], [0.9, 0.6, 0.0])).pos
    array([0.9, 0.4, 0. ])
    """
    check_probabilities(table)
    pos, neg = table.pos, table.neg
    return _softened(table, pos, neg, _middle(table, pos, neg, midpoint), recentre)


def _middle(table: ScoreTable, pos: Array, neg: Array, midpoint: str | float) -> Array:
    if table.bins is None:
        return midpoints(table.score, pos, neg, midpoint)
    return np.asarray(sum(midpoint_ends(table, midpoint)) / 2)


@dataclass(frozen=True)
class Sides:
    """What is known of scores beside a midpoint: sums over the bins of a coarse table, at most and at least.

    `high` and `low` tell which bins lie above the midpoint and which at or below it, wherever in its `ends` it is; the
    others may do either. A straight line over the scores of a side is added up exactly.
    """

    table: ScoreTable
    ends: tuple[float, float]
    high: Array
    low: Array

    def line(self, positive: bool, start: float, slope: float) -> Array:
        """Σ (start + slope · s) of the positive cases in each bin, or of the others."""
        bins, own = self.table.binned, self.table.positive
        first = bins.first[own] if positive else bins.first.sum(axis=0) - bins.first[own]
        return start * (self.table.pos if positive else self.table.neg) + slope * first


def sides(table: ScoreTable, midpoint: str | float) -> Sides:
    """The bins of a coarse table beside the midpoint."""
    check_probabilities(table)
    ends = midpoint_ends(table, midpoint)
    return Sides(table, ends, table.binned.low > ends[1], table.binned.high <= ends[0])


def soft_ends(table: ScoreTable, midpoint: str | float = "mean", recentre: bool = False) -> tuple[Array, Array] | None:
    """The least and the most soft positives Σ c in each bin of a coarse table; None where the midpoint is 0 or 1.

    Beside the midpoint c is a straight line over the scores, whose sum is known. In the bin that holds the midpoint, a
    case has any c from there.

    >>> from scorespace.tables import score_table
    >>> soft_ends(score_table([1, 0, 0], [0.734375, 0.71875, 0.1]).rounded(50), 0.5)
    (array([1.015625, 0.1     ]), array([1.015625, 0.1     ]))
    """
    found = sides(table, midpoint)
    least, most = found.ends
    if recentre and not (least > _AT_AN_END and most < 1 - _AT_AN_END):
        return None
    ends = []
    for one, other in ((most, least), (least, most)):  # recentred scores fall with the midpoint
        above, of_others = (_lines(at)[0] if recentre else (0.0, 1.0) for at in (one, other))
        below, of_own = (_lines(at)[1] if recentre else (0.0, 1.0) for at in (one, other))
        high = found.line(True, *above) + table.neg - found.line(False, *of_others)
        low = table.pos - found.line(True, *of_own) + found.line(False, *below)
        ends.append(np.where(found.high, high, low))
    assert table.bins is not None
    (rise, slope), (start, fall) = (_lines(least)[0], _lines(most)[1]) if recentre else ((0.0, 1.0), (0.0, 1.0))
    top, bottom = rise + slope * table.bins.high, start + fall * table.bins.low
    open_ = ~(found.high | found.low)
    size = table.pos + table.neg
    fewest = np.where(open_, size * np.minimum(bottom, 1 - top), np.minimum(*ends))
    largest = np.where(open_, size * np.maximum(top, 1 - bottom), np.maximum(*ends))
    return np.clip(fewest, 0, size), np.clip(largest, 0, size)


_AT_AN_END: Final = 1e-9


def _lines(middle: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The two lines that move a midpoint to 0.5, above it and below: start and slope of each."""
    return (0.5 - middle / (2 * (1 - middle)), 1 / (2 * (1 - middle))), (0.0, 1 / (2 * middle))


def check_probabilities(table: ScoreTable) -> None:
    """Refuse scores outside [0, 1], with the ways to bring them there."""
    if not table.probabilities:
        raise ScoreError(
            "smooth curves need scores between 0 and 1, because their size counts.",
            seen=f"scores from {table.score[-1]:g} to {table.score[0]:g}",
            hint="map them first: scorespace calibrate --method minmax, logistic (the link) or isotonic; "
            "they are never squashed silently",
        )


@dataclass(frozen=True, eq=False, repr=False)
class SmoothCurve(RocCurve):
    """The ROC curve of a softened table; `table` is that table, `given` the one that was softened.

    `tau_v` and `tau_h` are its height and width before they are scaled to 1: Σ c and Σ (1 − c). A score is
    appropriate when it lies on its class's side of the midpoint.
    """

    given: ScoreTable
    midpoint: float
    tau_v: float
    tau_h: float
    appropriate: float
    inappropriate: float
    normalised: bool = True

    @property
    def auc(self) -> float:
        """The area under the plain ROC curve of the same scores, which belongs beside the smooth one."""
        return roc(self.given).area()

    @property
    def smaller(self) -> float:
        """Share of the smaller class."""
        return float(ratio(min(self.given.n_pos, self.given.n_neg), self.given.total))

    @property
    def rotation(self) -> float:
        """τv / τh: how far the two axes are scaled apart; 1 leaves every slope as it is."""
        return float(ratio(self.tau_v, self.tau_h))

    def hull(self) -> Hull:
        """The upper convex hull of the curve, on the same axes."""
        found = hull(self.table)
        if self.normalised:
            return replace(found, x_title=self.x_title, y_title=self.y_title)
        return replace(
            found, x=found.x * self.tau_h, y=found.y * self.tau_v, x_title=self.x_title, y_title=self.y_title
        )

    def gap(self) -> float:
        """Area of the hull less that of the curve: a distance from calibration."""
        return max(0.0, self.hull().area() - self.area())

    @property
    def beside_area(self) -> dict[str, float]:
        return {"auc": self.auc} if self.normalised else {}

    def findings(self, model: str = "") -> tuple[Note, ...]:
        """What to know before reading the curve of that model: imbalance, the midpoint, classes that do not overlap."""
        of, middle = f" of {model}" if model else "", decimals(self.midpoint)
        found: dict[str, str] = {}
        if self.smaller == 0:
            return ()
        if self.smaller < FEW_OF_A_CLASS:
            found["SS027"] = (
                f"the smaller class has {100 * self.smaller:.2g} % of the cases: smAUC{of} mostly measures how "
                "well the larger class is scored. Read it beside AUC, never across class shares."
            )
        if not self.appropriate:
            found["SS065"] = (
                f"no score{of} is appropriate: all positives lie at or below the midpoint {middle} and all negatives "
                "above it, as if the classes were swapped."
            )
        elif not self.inappropriate:
            found["SS028"] = (
                f"no score{of} lies on the wrong side of the midpoint {middle}: the classes do not overlap, and "
                "smAUC shows only how sure the scores are."
            )
        elif astray := self._astray(of):
            found["SS066"] = astray
        return tuple(note(code, text) for code, text in found.items())

    def _astray(self, of: str) -> str | None:
        """That the midpoint parts other scores than those on which the classes meet."""
        held = [self.given.score[side > 0] for side in (self.given.pos, self.given.neg)]
        # One class may lie inside the other: they overlap from the higher of both lowest scores on.
        lowest, highest = max(float(one.min()) for one in held), min(float(one.max()) for one in held)
        low, high = min(lowest, highest), max(lowest, highest)
        if low <= self.midpoint <= high:
            return None
        where = "overlap" if lowest <= highest else "meet"
        side = "low" if self.midpoint > high else "high"
        return (
            f"the midpoint {decimals(self.midpoint)}{of} lies outside the scores {decimals(low)} to {decimals(high)} "
            f"where the classes {where}: all cases there count as {side}. A midpoint of "
            f"{decimals((low + high) / 2)} would part them."
        )

    def facts(self) -> Row:
        """The numbers that belong to the curve, AUC among them."""
        names = ("auc", "midpoint", "tau_v", "tau_h", "rotation", "appropriate", "inappropriate")
        return plain({"area": self.area(), **{name: getattr(self, name) for name in names}})

    def to_dict(self) -> Row:
        return {**super().to_dict(), **self.facts(), "notes": [one.to_dict() for one in self.notes]}

    def __repr__(self) -> str:
        area = f"area {decimals(self.area())} (AUC {decimals(self.auc)}), " if self.normalised else ""
        return (
            f"smooth ROC curve: {area}midpoint {decimals(self.midpoint)}, {grouped(self.appropriate)} appropriate and "
            f"{grouped(self.inappropriate)} inappropriate scores, rotation {decimals(self.rotation)}"
        )


@beside_chance(
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
    normalised: Annotated[bool, "rates on both axes, and not counts"] = True,
) -> SmoothCurve:
    """ROC of soft labels, each case c of a positive and 1 − c of a negative: c = s if appropriate, else 1 − s.

    Not `normalised`, its axes are counts: Σ (1 − c) and Σ c.

    >>> from scorespace.tables import score_table
    >>> smooth(score_table([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.7, 0.3, 0.2, 0.1]))
    smooth ROC curve: area 0.844 (AUC 1.000), midpoint 0.500, 6 appropriate and 0 inappropriate scores, rotation 1.000
    """
    check_probabilities(table)
    pos, neg = table.pos, table.neg
    middle = defined(_middle(table, pos, neg, midpoint), midpoint)
    high = count_high(table.score, middle)
    appropriate = float(pos[:high].sum() + neg[high:].sum())
    soft = _softened(table, pos, neg, np.asarray(middle), recentre)
    across, up = (cumulated(soft.counts[k]) for k in (1 - soft.positive, soft.positive))
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
class Gaps(ByValue):
    """How far a model's curves lie below their hulls, and how calibration by its hull turns its smooth curve.

    `roc` and `smooth` are hull area less area. After calibration the ROC gap is zero; that of the smooth
    curve is `smooth_calibrated`. `rotation` is τv / τh.
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
        return {"schema": SCHEMA, "rows": plain(self.rows())}

    def __repr__(self) -> str:
        return (
            f"gap to the hull: ROC {decimals(self.roc)}, smooth ROC {decimals(self.smooth)}; "
            f"rotation {decimals(self.rotation)}, calibrated {decimals(self.rotation_calibrated)}"
        )


def gaps(table: ScoreTable, midpoint: str | float = "mean", recentre: bool = False) -> Gaps:
    """The gaps of ROC and smooth ROC to their hulls, and the rotation before and after isotonic calibration.

    >>> from scorespace.tables import score_table
    >>> gaps(score_table([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.01]), "half")
    gap to the hull: ROC 0.056, smooth ROC 0.006; rotation 0.858, calibrated 1.000
    """
    before = smooth(table, midpoint, recentre)
    after = smooth(hull_calibrated(table), midpoint, recentre)
    line = roc(table)
    return Gaps(max(0.0, line.hull().area() - line.area()), before.gap(), after.gap(), before.rotation, after.rotation)


def hull_calibrated(table: ScoreTable) -> ScoreTable:
    """The table with each score replaced by the share of positives on its edge of the ROC hull."""
    edges = hull_edges(*table.columns)
    classes, positive = _two_names(table)
    counts = np.stack([edges.pos, edges.neg] if positive == 0 else [edges.neg, edges.pos])
    return ScoreTable(ratio(edges.pos, edges.pos + edges.neg), counts, classes, positive)


def _softened(table: ScoreTable, pos: Array, neg: Array, middle: Array, recentre: bool) -> ScoreTable:
    score = table.score
    if table.bins is None:
        moved = pos - neg
        moved *= _recentred(score, middle) if recentre else score
    else:
        moved = _summed(table, pos - neg, float(middle), recentre)
    if np.isnan(middle).any():  # undefined where a class that it needs is absent: so are the soft labels
        moved = moved + np.where(np.isnan(middle), np.nan, 0.0)[..., None]
    classes, positive = _two_names(table)
    counts = np.empty((*moved.shape[:-1], 2, score.size))
    up, across = counts[..., positive, :], counts[..., 1 - positive, :]
    # Scores fall, so the high ones come first; only those between two replicates' midpoints need a mask.
    highest, lowest = float(np.fmax.reduce(middle, axis=None)), float(np.fmin.reduce(middle, axis=None))
    high, low = count_high(score, highest), count_high(score, lowest)
    np.add(neg[..., :high], moved[..., :high], out=up[..., :high])
    np.subtract(pos[..., :high], moved[..., :high], out=across[..., :high])
    np.subtract(pos[..., low:], moved[..., low:], out=up[..., low:])
    np.add(neg[..., low:], moved[..., low:], out=across[..., low:])
    if low > high:
        above = score[high:low] > middle[..., None]
        toward, away = neg[..., high:low] + moved[..., high:low], pos[..., high:low] - moved[..., high:low]
        up[..., high:low], across[..., high:low] = np.where(above, toward, away), np.where(above, away, toward)
    return ScoreTable(score, counts, classes, positive, table.resolution)


def _summed(table: ScoreTable, apart: Array, middle: float, recentre: bool) -> Array:
    """Σ s of the positives less that of the others in each bin of a coarse table, recentred or not."""
    assert table.bins is not None
    found = 2 * table.bins.first[table.positive] - table.bins.first.sum(axis=0)
    if not recentre or not _AT_AN_END < middle < 1 - _AT_AN_END:
        return apart * _recentred(table.score, np.asarray(middle)) if recentre else found
    (above, steep), (below, flat) = _lines(middle)
    high = table.score > middle
    return np.where(high, above, below) * apart + np.where(high, steep, flat) * found


def _recentred(score: Array, middle: Array) -> Array:
    """The scores with the midpoint moved to 0.5 by two straight lines that leave 0 and 1 where they are."""
    at = middle[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = score / (2 * at), 0.5 + (score - at) / (2 * (1 - at))
    found = np.where(score > at, high, np.where(at > 0, low, 0.5))
    return found if middle.ndim else found.reshape(score.shape)


def _two_names(table: ScoreTable) -> tuple[tuple[str, ...], int]:
    """The positive class and the other, or all others as one."""
    if len(table.classes) == 2:
        return table.classes, table.positive
    name = table.classes[table.positive]
    return (name, f"not {name}"), 0

"""Calibration curves: observed rates of groups of cases against their mean predicted probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self, get_args

import numpy as np

from scorespace.curves.brier import probabilities
from scorespace.curves.curve import Curve, unit_square_with_diagonal
from scorespace.curves.hull import hull_edges
from scorespace.errors import ScoreSpaceError, did_you_mean
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.chunks import CHUNK_ROWS, map_chunks
from scorespace.tables.class_scores import TOP
from scorespace.tables.weighted_quantiles import run_starts

BINS: Final = 10
Grouping = Literal["isotonic", "width", "count"]
GROUPINGS: Final = get_args(Grouping)


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationCurve(Curve):
    """Mean score (x) and observed rate (y) of groups of neighbouring scores, in ascending order.

    Parameters
    ----------
    kind : str
        Name of the kind of curve, such as "roc".
    x, y : ndarray of shape (n_points,)
        Coordinates of the points.
    threshold : ndarray of shape (n_points,)
        Lowest score of each group.
    x_title, y_title : str
        Titles of the axes.
    highest : ndarray of shape (n_points,)
        Highest score of each group.
    cases : ndarray of shape (n_points,)
        Weight of the cases of each group.
    hits : ndarray of shape (n_points,)
        Weight of the positives of each group.
    by : {"isotonic", "width", "count"}
        How the groups were formed.
    certified_low, certified_high : ndarray, optional
        Bounds of y for a binned table; NaN where they are unknown.
    """

    highest: Array
    cases: Array
    hits: Array
    by: str

    def line(self) -> Curve:
        """The curve as drawn: isotonic groups extend from their lowest to their highest score.

        >>> from scorespace.tables import score_table
        >>> calibration(score_table([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9])).line().x
        array([0.1, 0.4, 0.6, 0.9])
        """
        x, y, threshold = self.x, self.y, self.threshold
        if self.by == "isotonic":
            is_wide = self.highest > self.threshold
            is_point = np.stack([np.ones_like(is_wide), is_wide], axis=1).ravel()
            x = np.stack([self.threshold, self.highest], axis=1).ravel()[is_point]
            y, threshold = np.repeat(self.y, 2)[is_point], np.repeat(self.threshold, 2)[is_point]
        return Curve(self.kind, x, y, threshold, "Score", self.y_title)

    def thinned(self, most: int = 400) -> Self:
        """The curve with about `most` groups, evenly spaced, including the lowest and the highest.

        Parameters
        ----------
        most : int
            Largest number of groups.

        Returns
        -------
        CalibrationCurve
            The thinned curve.
        """
        if self.x.size <= most:
            return self
        return self.at(np.linspace(0, self.x.size - 1, max(2, most)).astype(np.intp))

    @property
    def columns(self) -> dict[str, Array]:
        """Columns of the groups by name."""
        names = ("x", "y", "threshold", "highest", "cases", "hits")
        return {name: getattr(self, name) for name in names} | self.certified

    def __repr__(self) -> str:
        how = {"isotonic": "by isotonic regression", "width": "of equal width", "count": "of equal count"}[self.by]
        return f"calibration curve: {self.x.size} groups {how}, {self.y_title.lower()} against {self.x_title.lower()}"


@unit_square_with_diagonal(
    title="Calibration curve (reliability diagram)",
    x="Mean score",
    y="Observed rate",
    aliases=("reliability", "reliability_diagram"),
    chance_name="calibrated",
    probability=True,
    also=(TOP,),
)
def calibration(
    table: ScoreTable,
    *,
    by: Annotated[Grouping, "groups by isotonic regression, or bins of equal width or count"] = "isotonic",
    bins: Annotated[int, "number of bins, unless groups are isotonic"] = BINS,
) -> CalibrationCurve:
    """Observed rate against mean score of groups of neighbouring scores.

    Groups are formed by isotonic regression, or are bins of equal width or count. Bins of equal width are
    [k/bins, (k+1)/bins), the last one closed; bins of equal count never split tied scores. Empty bins have no point.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.
    by : {"isotonic", "width", "count"}
        Groups by isotonic regression, or bins of equal width or count.
    bins : int
        Number of bins, unless groups are isotonic.

    Returns
    -------
    CalibrationCurve
        Mean score and observed rate of each group.

    References
    ----------
    Dimitriadis, T., Gneiting, T., & Jordan, A. I. (2021). Stable reliability diagrams for probabilistic classifiers.
    Proceedings of the National Academy of Sciences, 118(8), e2016191118.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> curve = calibration(score_table([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9]))
    >>> curve.x, curve.y
    (array([0.1, 0.5, 0.9]), array([0. , 0.5, 1. ]))
    """
    probabilities(table)
    pos, neg = table.columns
    if by == "isotonic":
        ends = hull_edges(pos, neg).end
        return curve_of_groups(table, np.append(0, ends[:-1] + 1), by)
    check_bins(by, bins)
    if by == "width":
        return curve_of_groups(table, width_starts(table.score, bins), by)
    part = equal_count_bins(table.counts.sum(axis=-2, dtype=np.float64), bins)
    return curve_of_groups(table, run_starts(part), by)


def curve_of_groups(table: ScoreTable, starts: Array, by: str, sums: Array | None = None) -> CalibrationCurve:
    """The curve of groups that start at the given rows of the table, highest score first."""
    ends = np.append(starts[1:], table.score.size) - 1
    cases, hits, scores = group_sums(table, starts) if sums is None else sums
    highest, lowest = table.score[starts], table.score[ends]
    # Rounding must not move a mean out of its group.
    mean = np.clip(ratio(scores, cases), lowest, highest)
    ascending = slice(None, None, -1)
    return CalibrationCurve(
        "calibration",
        mean[ascending],
        ratio(hits, cases)[ascending],
        lowest[ascending],
        calibration.x,
        calibration.y,
        highest[ascending],
        cases[ascending],
        hits[ascending],
        by,
    )


def group_sums(table: ScoreTable, starts: Array) -> Array:
    """Cases, positives and sum of scores, shape (3, n_groups), of the groups that start at the given rows."""
    cuts = np.union1d(starts, np.arange(0, table.score.size, CHUNK_ROWS))

    def sums(rows: slice) -> Array:
        begins = cuts[np.searchsorted(cuts, rows.start) : np.searchsorted(cuts, rows.stop)] - rows.start
        pos, neg = (column[rows].astype(np.float64) for column in table.columns)
        neg += pos
        return np.stack([np.add.reduceat(column, begins) for column in (neg, pos, neg * table.score[rows])])

    parts = np.concatenate(map_chunks(sums, table.score.size), axis=1)
    return np.add.reduceat(parts, np.searchsorted(cuts, starts), axis=1)


def width_starts(score: Array, bins: int) -> Array:
    """Rows, highest score first, at which the non-empty bins of equal width start.

    Scores are compared with k/bins itself, because 0.29 · 100 is below 29 in floating point. A score of 1 is in the
    last bin and 0 in the first.

    >>> width_starts(np.array([1.0, 0.29, 0.28, 0.0]), 100)
    array([0, 1, 2, 3])
    """
    edges = np.arange(bins - 1, 0, -1) / bins
    at_least = score.size - np.searchsorted(score[::-1], edges, side="left")
    starts = np.unique(np.append(0, at_least))
    return starts[starts < score.size]


def equal_count_bins(cases: Array, bins: int) -> Array:
    """Bin of equal count that contains the median case of each score, for every replicate.

    >>> equal_count_bins(np.array([1.0, 1.0, 4.0, 1.0, 1.0]), 2)
    array([0, 0, 1, 1, 1])
    """
    middle = np.cumsum(cases, axis=-1)
    total = middle[..., -1:].copy()
    middle -= cases / 2
    middle *= bins
    return np.minimum(ratio(middle, np.where(total > 0, total, 1)), bins - 1).astype(np.intp)


def possible_groups(table: ScoreTable, bins: int, by: str) -> tuple[Array, Array]:
    """First and last group, of equal width or count, that may contain cases of each bin of a binned table.

    Groups of equal width are numbered from the lowest score, those of equal count from the highest.

    >>> from scorespace.tables import score_table
    >>> possible_groups(score_table([1, 0, 1], [0.9, 0.41, 0.4]).rounded(51), 2, "count")
    (array([0, 0]), array([0, 1]))
    """
    if by == "width":
        edges = np.arange(1, bins) / bins
        first, last = (np.searchsorted(edges, end, side="right") for end in (table.binned.low, table.binned.high))
        return first, last
    cases = table.counts.sum(axis=-2, dtype=np.float64)
    after = np.cumsum(cases)
    reach = np.where(table.binned.is_mixed, cases / 2, 0.0)  # tied cases are in the group of their median
    middle, total = after - cases / 2, after[-1] if after.size else 1.0
    ends = (bins * (middle - reach) / total - _ROUNDING, bins * (middle + reach) / total + _ROUNDING)
    first, last = (np.clip(np.floor(end), 0, bins - 1).astype(np.intp) for end in ends)
    return first, last


_ROUNDING: Final = 1e-9
_MAX_BINS: Final = 10_000


def check_bins(by: str, bins: int, groupings: tuple[str, ...] = GROUPINGS) -> None:
    """Refuse an unknown grouping, fewer than one bin, and more bins than fit into memory for all replicates."""
    if by not in groupings:
        raise ScoreSpaceError(
            f"by={by!r} is an unknown grouping.",
            seen=f"{', '.join(groupings[:-1])} or {groupings[-1]}",
            hint=did_you_mean(by, groupings),
        )
    if bins < 1:
        raise ScoreSpaceError(f"bins={bins} is not a number of bins.", hint="1 or more, such as bins=10")
    if bins > _MAX_BINS:
        raise ScoreSpaceError(f"bins={bins} is too large.", hint=f"up to {_MAX_BINS}, such as bins=10")

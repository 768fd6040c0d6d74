"""The calibration curve: how often what was given a probability happens."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self, get_args

import numpy as np

from scorespace.curves.brier import probabilities
from scorespace.curves.curve import Curve, beside_chance
from scorespace.curves.hull import hull_edges
from scorespace.errors import ScoreSpaceError, did_you_mean
from scorespace.frozen import dataclass
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.classes import TOP
from scorespace.tables.order import starts_of
from scorespace.tables.pieces import PIECE, over_pieces

BINS: Final = 10
Grouping = Literal["isotonic", "width", "count"]
GROUPINGS: Final = get_args(Grouping)


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationCurve(Curve):
    """Groups of neighbouring scores, the lowest first: mean score (x) and observed rate (y) of each.

    `threshold` and `highest` are the ends of a group, `cases` and `hits` the weights of all its cases
    and of the positive ones. `by` says how the groups were formed.
    """

    highest: Array
    cases: Array
    hits: Array
    by: str

    def line(self) -> Curve:
        """What is drawn: groups by isotonic regression reach from their lowest to their highest score.

        >>> from scorespace.tables import score_table
        >>> calibration(score_table([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9])).line().x
        array([0.1, 0.4, 0.6, 0.9])
        """
        x, y, threshold = self.x, self.y, self.threshold
        if self.by == "isotonic":
            wide = self.highest > self.threshold
            kept = np.stack([np.ones_like(wide), wide], axis=1).ravel()
            x = np.stack([self.threshold, self.highest], axis=1).ravel()[kept]
            y, threshold = np.repeat(self.y, 2)[kept], np.repeat(self.threshold, 2)[kept]
        return Curve(self.kind, x, y, threshold, "Score", self.y_title)

    def thinned(self, most: int = 400) -> Self:
        """About that many of the groups, evenly spaced, the lowest and the highest among them."""
        if self.x.size <= most:
            return self
        return self.at(np.linspace(0, self.x.size - 1, max(2, most)).astype(np.intp))

    @property
    def columns(self) -> dict[str, Array]:
        names = ("x", "y", "threshold", "highest", "cases", "hits")
        return {name: getattr(self, name) for name in names} | self.certified

    def __repr__(self) -> str:
        how = {"isotonic": "by isotonic regression", "width": "of equal width", "count": "of equal count"}[self.by]
        return f"calibration curve: {self.x.size} groups {how}, {self.y_title.lower()} against {self.x_title.lower()}"


@beside_chance(
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
    """Mean score and observed rate of groups of neighbouring scores, against each other.

    Groups are formed by isotonic regression, or are bins of equal width or count. Bins of equal width are
    [k/bins, (k+1)/bins), the last with its upper end; bins of equal count never part tied scores. Bins without
    cases have no point.

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
    part = count_parts(table.counts.sum(axis=-2, dtype=np.float64), bins)
    return curve_of_groups(table, starts_of(part), by)


def curve_of_groups(table: ScoreTable, starts: Array, by: str, sums: Array | None = None) -> CalibrationCurve:
    """The curve of groups that begin at the given rows of the table, from the highest score down."""
    ends = np.append(starts[1:], table.score.size) - 1
    cases, hits, scores = group_sums(table, starts) if sums is None else sums
    highest, lowest = table.score[starts], table.score[ends]
    # Rounding must not carry a mean out of its group.
    mean = np.clip(ratio(scores, cases), lowest, highest)
    up = slice(None, None, -1)
    return CalibrationCurve(
        "calibration",
        mean[up],
        ratio(hits, cases)[up],
        lowest[up],
        calibration.x,
        calibration.y,
        highest[up],
        cases[up],
        hits[up],
        by,
    )


def group_sums(table: ScoreTable, starts: Array) -> Array:
    """Cases, positives and sum of scores (3, groups) of the groups that begin at the given rows."""
    cuts = np.union1d(starts, np.arange(0, table.score.size, PIECE))

    def sums(rows: slice) -> Array:
        begins = cuts[np.searchsorted(cuts, rows.start) : np.searchsorted(cuts, rows.stop)] - rows.start
        pos, neg = (column[rows].astype(np.float64) for column in table.columns)
        neg += pos
        return np.stack([np.add.reduceat(column, begins) for column in (neg, pos, neg * table.score[rows])])

    parts = np.concatenate(over_pieces(sums, table.score.size), axis=1)
    return np.add.reduceat(parts, np.searchsorted(cuts, starts), axis=1)


def width_starts(score: Array, bins: int) -> Array:
    """The rows (from the highest score down) at which bins of equal width begin, empty ones left out.

    A score is compared with k/bins itself: 0.29 · 100 is below 29 in floating point. 1 falls into the
    last bin and 0 into the first.

    >>> width_starts(np.array([1.0, 0.29, 0.28, 0.0]), 100)
    array([0, 1, 2, 3])
    """
    edges = np.arange(bins - 1, 0, -1) / bins
    at_least = score.size - np.searchsorted(score[::-1], edges, side="left")
    starts = np.unique(np.append(0, at_least))
    return starts[starts < score.size]


def count_parts(cases: Array, bins: int) -> Array:
    """The bin of equal count in which the middle of each score's cases falls, for every replicate.

    >>> count_parts(np.array([1.0, 1.0, 4.0, 1.0, 1.0]), 2)
    array([0, 0, 1, 1, 1])
    """
    middle = np.cumsum(cases, axis=-1)
    total = middle[..., -1:].copy()
    middle -= cases / 2
    middle *= bins
    return np.minimum(ratio(middle, np.where(total > 0, total, 1)), bins - 1).astype(np.intp)


def groups_reached(table: ScoreTable, bins: int, by: str) -> tuple[Array, Array]:
    """The first and the last group, of equal width or count, that the cases of each bin of a coarse table may be in.

    Groups of equal width are numbered from the lowest score up, those of equal count from the highest down.

    >>> from scorespace.tables import score_table
    >>> groups_reached(score_table([1, 0, 1], [0.9, 0.41, 0.4]).rounded(51), 2, "count")
    (array([0, 0]), array([0, 1]))
    """
    if by == "width":
        edges = np.arange(1, bins) / bins
        first, last = (np.searchsorted(edges, end, side="right") for end in (table.binned.low, table.binned.high))
        return first, last
    cases = table.counts.sum(axis=-2, dtype=np.float64)
    after = np.cumsum(cases)
    reach = np.where(table.binned.loose, cases / 2, 0.0)  # equal scores are in the group of their middle
    middle, total = after - cases / 2, after[-1] if after.size else 1.0
    ends = (bins * (middle - reach) / total - _ROUNDING, bins * (middle + reach) / total + _ROUNDING)
    first, last = (np.clip(np.floor(end), 0, bins - 1).astype(np.intp) for end in ends)
    return first, last


_ROUNDING: Final = 1e-9
_MOST_BINS: Final = 10_000


def check_bins(by: str, bins: int, groupings: tuple[str, ...] = GROUPINGS) -> None:
    """Refuse a grouping that there is not, less than one bin, and more than memory holds for every replicate."""
    if by not in groupings:
        raise ScoreSpaceError(
            f"by={by!r} is no way to form groups.",
            seen=f"{', '.join(groupings[:-1])} or {groupings[-1]}",
            hint=did_you_mean(by, groupings),
        )
    if bins < 1:
        raise ScoreSpaceError(f"bins={bins} is no number of bins.", hint="1 or more, such as bins=10")
    if bins > _MOST_BINS:
        raise ScoreSpaceError(f"bins={bins} are too many.", hint=f"up to {_MOST_BINS}, such as bins=10")

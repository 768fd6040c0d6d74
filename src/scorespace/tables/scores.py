"""Score tables: distinct scores in descending order, with the weight of every class at each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.argument_checks import check_arguments
from scorespace.errors import DataError, ScoreError
from scorespace.results import grouped
from scorespace.tables.bins import BinSums
from scorespace.tables.case_costs import COST_TABLES, costs_inside, merge_costs
from scorespace.tables.columns import nearest_single, validate_scores, validate_weights
from scorespace.tables.counts import Counts, ratio
from scorespace.tables.labels import add_absent_class, encode_classes, natural_order, negative_name
from scorespace.tables.periods import PeriodTable, periods_of, pooled
from scorespace.tables.score_arrays import align_classes, count_two_classes, merge_equal_scores
from scorespace.tables.score_table_base import ScoreTableBase
from scorespace.tables.table import Array, NoTableError, StoredTable, Table, Wanted
from scorespace.tables.threshold import At, Threshold, TopCases, round_threshold, threshold_text, to_scale_units

_MAX_TYPED_THRESHOLDS = 100  # more thresholds than this were not typed by a user


@dataclass(frozen=True, eq=False)
class ScoreTable(ScoreTableBase):
    """The sufficient statistic of ranking, threshold and calibration measures; one sort of the scores builds it.

    Integer types of `counts` are the smallest that fit, so sum or cumulate before subtracting. The score of a bin is
    its lowest one, so outcomes at every score of the table are exact.

    Parameters
    ----------
    score : ndarray of shape (n_scores,)
        Distinct scores, descending.
    counts : ndarray of shape (…, n_classes, n_scores)
        Weight of each class at each score; leading axes are replicates.
    classes : tuple of str
        Names of the classes.
    positive : int
        Index of the positive class.
    resolution : float
        Width to which scores were coarsened; 0 if they are exact.
    squares : ndarray, optional
        Sums of squared weights in the same shape, if cases are weighted.
    bins : BinSums, optional
        Scores inside the rows of a binned table.
    scale : tuple of float, optional
        Range of the ratings that the scores were computed from; thresholds are shown in its units.
    costs : CostTable, optional
        The same scores with the costs of each case.
    periods : PeriodTable, optional
        The same scores in periods.

    Examples
    --------
    >>> t = score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    >>> t
    ScoreTable: 4 cases, 2 '1' (positive), 2 '0', 3 distinct scores
    >>> t.score, t.pos, t.neg
    (array([0.9, 0.4, 0.1]), array([1., 1., 0.]), array([0., 1., 1.]))
    """

    holds = "scores"
    thresholded = True

    def described(self) -> str:
        """Description for messages: "a score table"."""
        return "a score table"

    @property
    def size(self) -> int:
        """Number of distinct scores."""
        return int(self.score.size)

    @property
    def strata(self) -> NDArray[np.intp]:
        """Index of the class of each cell, for stratified resampling."""
        return np.repeat(np.arange(len(self.classes)), self.score.size)

    @property
    def probabilities(self) -> bool:
        """Whether all scores are in [0, 1], so that they can be probabilities."""
        if not self.score.size:
            return True
        highest = self.score[0] if self.bins is None else self.bins.high[0]
        return bool(highest <= 1 and self.score[-1] >= 0)

    @property
    def coarse(self) -> bool:
        """Whether scores are binned, so that values have certified bounds only."""
        return self.bins is not None

    def scores_seen(self) -> str:
        """Description of scores that are not probabilities, for messages."""
        return f"scores from {self.score[-1]:g} to {self.score[0]:g}"

    def inside(
        self, wanted: type[Wanted], of: str | None = None, at: At | None = None, *, sized: bool = False
    ) -> Wanted:
        """Derive the outcomes at an operating point, or the scores with the other of two classes as positive.

        Parameters
        ----------
        wanted : type of Table
            The kind of table that is derived.
        of : str, optional
            Name of the class that is positive; that of the table by default.
        at : float or TopCases, optional
            The operating point: a threshold, or the number of highest-ranked cases.
        sized : bool
            Whether values of the scores matter, not only their order.

        Returns
        -------
        Table
            A table of the wanted kind.
        """
        if wanted in COST_TABLES:
            return costs_inside(self.costs, wanted, of in (None, self.positive_name), at)
        if wanted is PeriodTable and at is None:
            return cast(Wanted, periods_of(self))
        if wanted is not Counts and at is not None:
            raise NoTableError("specifies a threshold, but {label} covers all thresholds", hint="{label}")
        if wanted is Counts and at is None:
            raise NoTableError("of a score needs a threshold", hint="{label}@0.5")
        is_negative = of is not None and self.place_of(of) != self.positive
        if is_negative and len(self.classes) > 2:
            raise NoTableError(
                "names a class that this score does not rank", seen=f"a score of {self.classes[self.positive]!r}"
            )
        if wanted is Counts:
            counts = self._outcomes(cast(At, at))
            return cast(Wanted, counts.swapped() if is_negative else counts)
        if not is_negative:
            return Table.inside(self.sized() if sized else self, wanted)
        # The other class has the probability 1 − p; ranking uses −p, because rounding 1 − p could create ties.
        flipped = self.complemented() if sized and self.probabilities else self.swapped()
        return Table.inside(flipped.sized() if sized else flipped, wanted)

    def _outcomes(self, at: At) -> Counts:
        """Outcomes at an operating point; the last result is cached, because many measures use the same threshold."""
        cached = self.__dict__.get("last_outcomes")
        if cached is None or type(at) is not type(cached[0]) or at != cached[0]:
            cached = self.__dict__["last_outcomes"] = at, self.top(at) if isinstance(at, TopCases) else self.at(at)
        outcomes: Counts = cached[1]
        return outcomes

    def bounds_at(self, at: At, of: str | None = None) -> tuple[Counts, Counts]:
        """Bounds of the outcomes at a threshold or rank inside a bin: all of that bin positive, or none of it.

        Parameters
        ----------
        at : float or TopCases
            The operating point: a threshold, or the number of highest-ranked cases.
        of : str, optional
            Name of the class that is positive; that of the table by default.

        Returns
        -------
        tuple of Counts
            The outcomes with the most and with the fewest predicted positives.

        Examples
        --------
        >>> table = score_table([1, 0, 1], [0.9, 0.41, 0.4]).rounded(51)
        >>> [float(counts.fp) for counts in table.bounds_at(0.405)]
        [1.0, 0.0]
        """
        most = fewest = self._outcomes(at)
        if self.bins is not None:
            low, high = self.bins.low, self.bins.high
            affected = (
                self.bins.is_mixed & (low == self.cut(at)) if isinstance(at, TopCases) else (low < at) & (at <= high)
            )
            for bin_ in np.flatnonzero(affected):
                most, fewest = self.at(low[bin_]), self.at(np.nextafter(high[bin_], np.inf))
        swap = of is not None and self.place_of(of) != self.positive
        return (fewest.swapped(), most.swapped()) if swap else (most, fewest)

    def right(self, at: At | None = None) -> NDArray[np.bool_]:
        """Whether the decision on each cell is correct at an operating point.

        Parameters
        ----------
        at : float or TopCases, optional
            The operating point: a threshold, or the number of highest-ranked cases.

        Returns
        -------
        ndarray of bool
            One value per cell.
        """
        if at is None:
            raise NoTableError("of a score needs a threshold", hint="{label}@0.5")
        at = self.cut(at) if isinstance(at, TopCases) else at  # all cases tied at the threshold
        positive = (np.arange(len(self.classes)) == self.positive)[:, None]
        return ((self.score >= self.in_precision(at)) == positive).ravel()

    def ranked(self, cell: NDArray[np.int32]) -> tuple[Table, NDArray[np.int32]]:
        """The score table of the positive class: this one.

        Parameters
        ----------
        cell : ndarray of int
            The cell of each case.

        Returns
        -------
        tuple
            This table, and the cells as they are.
        """
        return self, cell

    def shared_with(self, other: Table, *, sized: bool) -> tuple[Table, Array, Array]:
        """Both models on one axis: that of the scores, or that of the midranks, which do not depend on the scale.

        Parameters
        ----------
        other : Table
            The table of the other model.
        sized : bool
            Whether values of the scores matter, not only their order.

        Returns
        -------
        tuple
            The common table, and the index there of each cell of the first and of the second model.
        """
        if not isinstance(other, ScoreTable) or self.classes != other.classes:
            return super().shared_with(other, sized=sized)
        levels = [table.score if sized else table.midranks for table in (self, other)]
        grid, place = np.unique(np.concatenate(levels), return_inverse=True)
        row, classes = grid.size - 1 - place, np.arange(len(self.classes))[:, None]
        ours, theirs = ((classes * grid.size + rows).ravel() for rows in np.split(row, [self.score.size]))
        empty = np.zeros((len(self.classes), grid.size), dtype=np.int64)
        return replace(self, score=grid[::-1].copy(), counts=empty, squares=None, bins=None), ours, theirs

    @property
    def midranks(self) -> Array:
        """Rank of each score among all cases, lowest first, with mean ranks for ties.

        >>> score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]).midranks
        array([4. , 2.5, 1. ])
        """
        size = self.counts.sum(axis=-2, dtype=np.float64)
        return size.sum() - np.cumsum(size) + (size + 1) / 2

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """Threshold of each entry of the sweep; positive is predicted if score ≥ threshold."""
        return np.concatenate([[np.inf], self.score])

    @cached_property
    def single(self) -> bool:
        """Whether all scores are single-precision numbers, as in a float32 column."""
        with np.errstate(over="ignore"):
            head = self.score[:100]  # a cheap test that fails for most columns of doubles
            return all(bool((values == values.astype(np.float32)).all()) for values in (head, self.score))

    def in_precision(self, threshold: ArrayLike) -> Array:
        """Round a typed threshold to the precision of the scores: for float32 scores, 0.7 means float32(0.7).

        Parameters
        ----------
        threshold : array_like
            Typed thresholds.

        Returns
        -------
        ndarray
            The rounded thresholds.
        """
        values = np.asarray(threshold, dtype=np.float64)
        return nearest_single(values) if self.single and values.size <= _MAX_TYPED_THRESHOLDS else values

    def threshold(self, at: float) -> Threshold:
        """A threshold with just enough digits to classify every case alike; with all digits if scores were coarsened.

        Parameters
        ----------
        at : float
            The threshold with all digits.

        Returns
        -------
        Threshold
            The threshold and its text.

        Examples
        --------
        >>> score_table([1, 0, 1], [0.123306, 0.12329, 0.1]).threshold(0.123306).text
        '0.1233'
        """
        if self.coarse or self.resolution:  # the scores between two rows are unknown
            return Threshold(at, threshold_text(to_scale_units(at, self.scale)), to_scale_units(at, self.scale))
        place = self.score.size - int(np.searchsorted(self.score[::-1], self.in_precision(at), side="left"))
        below = float(self.score[place]) if place < self.score.size else -math.inf
        if self.single and math.isfinite(
            below
        ):  # a value closer to `below` than to the next float32 would mean `below`
            below = (below + float(np.nextafter(np.float32(below), np.float32(np.inf)))) / 2
        return round_threshold(at, below, self.scale)

    @check_arguments
    def at(self, threshold: ArrayLike) -> Counts:
        """Outcomes if every score ≥ threshold is predicted positive.

        Parameters
        ----------
        threshold : array_like
            One or several thresholds.

        Returns
        -------
        Counts
            The outcomes, in the shape of `threshold`.

        Examples
        --------
        >>> float(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]).at(0.4).fp)
        1.0
        """
        threshold = np.asarray(threshold, dtype=np.float64)
        if np.isnan(threshold).any():
            raise ScoreError("threshold=nan is not a threshold.", hint="a number, or inf to predict no positives")
        predicted = self.score.size - np.searchsorted(self.score[::-1], self.in_precision(threshold), side="left")
        if threshold.ndim or "sweep" in self.__dict__ or self.squares is not None:
            return self.sweep[..., predicted]
        # For one threshold of many replicates, two sums are faster than cumulating along the scores.
        tp, fp = (column[..., :predicted].sum(axis=-1, dtype=np.float64) for column in self.columns)
        return Counts(tp=tp, fp=fp, fn=self.n_pos - tp, tn=self.n_neg - fp)

    def top(self, top: TopCases) -> Counts:
        """Outcomes if the cases with the highest scores are predicted positive.

        Cases tied at the lowest selected score share the remaining places in proportion to their classes: the
        expectation over random tie breaking.

        Parameters
        ----------
        top : TopCases
            Number or percentage of the cases with the highest scores.

        Returns
        -------
        Counts
            The outcomes.

        Examples
        --------
        >>> c = score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]).top(TopCases(2))
        >>> float(c.tp), float(c.fp)
        (1.5, 0.5)
        """
        if top.per is not None:
            return pooled(periods_of(self).counts(top))
        # Totals of replicates differ by rounding; selecting all cases must stay possible.
        size = np.asarray(self.total)
        places = np.asarray(top.of(size), dtype=np.float64)[..., None]
        if (places > size[..., None] * (1 + 1e-9)).any():
            seen = f"{grouped(float(np.min(size)))} cases"
            raise NoTableError(f"selects the {grouped(top.size)} highest scores, but there are fewer cases", seen=seen)
        sweep, squares = self.sweep, self.sweep.squares
        last = sweep.tp.shape[-1] - 1
        place = np.clip((sweep.pp < places).sum(axis=-1, keepdims=True), 1, last)
        below, above = (np.take_along_axis(sweep.pp, index, axis=-1) for index in (place - 1, place))
        share = np.clip(ratio(places - below, above - below), 0.0, 1.0)
        return _interpolate(sweep, place, share, None if squares is None else _interpolate(squares, place, share))

    @property
    def constant(self) -> bool:
        """Whether all cases have the same score."""
        return int((self.counts.sum(axis=-2) > 0).sum()) == 1

    def cut(self, top: TopCases) -> float:
        """The lowest score among the selected highest-ranked cases.

        Parameters
        ----------
        top : TopCases
            Number or percentage of the cases with the highest scores.

        Returns
        -------
        float
            The score.

        Examples
        --------
        >>> score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]).cut(TopCases(2))
        0.4
        """
        if top.per is not None:
            raise NoTableError("selects the highest scores of each period, which have no common threshold")
        return float(self.thresholds[max(1, int((self.sweep.pp < float(top.of(self.total))).sum()))])

    def stored(self) -> StoredTable:
        """Convert to columns for storage."""
        bins = self.binned
        about = {"kind": "scores", "positive": self.positive, "weighted": self.squares is not None}
        about |= {"exact": self.bins is None, "bits": bins.bits, "edges": list(bins.edges)}
        size = len(self.classes)
        columns = {"actual": self.strata, "low": np.tile(bins.low, size), "high": np.tile(bins.high, size)}
        sums = {"weight": self.counts, "squares": self.squares, "first": bins.first, "second": bins.second}
        columns |= {name: column.ravel() for name, column in sums.items() if column is not None}
        return StoredTable(about, columns)

    def __add__(self, other: Self) -> Self:
        """Merge the tables of two samples."""
        if self.classes[self.positive] != other.classes[other.positive]:
            raise DataError(
                "tables with different positive classes cannot be merged.",
                seen=f"{self.classes[self.positive]!r} and {other.classes[other.positive]!r}",
                hint="use the same positive class in both",
            )
        names = {name for table in (self, other) for name in table.classes}
        placeholder = negative_name(self.classes[self.positive])
        if (
            len(names) > 2
            and placeholder in names
            and not _weight_of(self, placeholder) + _weight_of(other, placeholder)
        ):
            names.remove(placeholder)
        classes = tuple(sorted(names, key=natural_order))

        def joined_columns(ours: Array, theirs: Array) -> Array:
            sides = align_classes(ours, self.classes, classes), align_classes(theirs, other.classes, classes)
            return np.concatenate(sides, axis=-1)

        both, counts = np.concatenate([self.score, other.score]), joined_columns(self.counts, other.counts)
        squares = self.squares_with(other, joined_columns)
        positive = classes.index(self.classes[self.positive])
        if self.bins is not None or other.bins is not None:
            aligned = ((t, partial(align_classes, classes=t.classes, wanted=classes)) for t in (self, other))
            bins = [t.binned.with_sums(align) for t, align in aligned]
            return replace(self.from_bins(bins, counts, squares, classes, positive), costs=merge_costs(self, other))
        score, counts = merge_equal_scores(both, counts)
        squares = None if squares is None else merge_equal_scores(both, squares)[1]
        resolution, costs = max(self.resolution, other.resolution), merge_costs(self, other)
        return type(self)(score, counts, classes, positive, resolution, squares, costs=costs)

    def __repr__(self) -> str:
        positives = f"{grouped(self.n_pos.sum())} {self.classes[self.positive]!r} (positive)"
        others = [k for k in range(len(self.classes)) if k != self.positive]
        totals = self.class_totals.reshape(-1, len(self.classes)).sum(axis=0)
        rest = "".join(f", {grouped(totals[k])} {self.classes[k]!r}" for k in others)
        coarse = f", coarsened to {self.resolution:g}" if self.resolution and self.bins is None else ""
        rows = "distinct scores" if self.bins is None else "bins"
        return (
            f"ScoreTable: {grouped(totals.sum())} cases, {positives}{rest}, {grouped(self.score.size)} {rows}{coarse}"
        )


def _interpolate(sweep: Counts, place: Array, share: Array, squares: Counts | None = None) -> Counts:
    """Interpolate the outcomes between two neighbouring thresholds."""

    def value_at(values: Array) -> Array:
        before, after = (np.take_along_axis(values, index, axis=-1) for index in (place - 1, place))
        return (before + share * (after - before))[..., 0]

    tp, fp = value_at(sweep.tp), value_at(sweep.fp)
    return Counts(tp=tp, fp=fp, fn=sweep.p[..., 0] - tp, tn=sweep.n[..., 0] - fp, squares=squares)


def score_table(
    truth: Any,
    score: Any,
    *,
    positive: Any = None,
    weight: Any = None,
    copies: bool = False,
    classes: Sequence[str] | None = None,
) -> ScoreTable:
    """Build a score table from labels and scores.

    A case of weight 2 counts twice and one of weight 0 is ignored; intervals treat it as one case, unless the weights
    are copies.

    Parameters
    ----------
    truth : array_like of shape (n_cases,)
        Actual class of each case; with `classes`, its index.
    score : array_like of shape (n_cases,)
        Scores; higher means more likely positive.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.
    weight : array_like of shape (n_cases,), optional
        Weight of each case; 1 by default.
    copies : bool
        Whether weights are frequencies, each unit being one case.
    classes : sequence of str, optional
        Names of the classes; by default the labels of the truth.

    Returns
    -------
    ScoreTable
        The table of ranking, threshold and calibration measures.

    Examples
    --------
    >>> score_table(["bad", "good", "bad"], [0.7, 0.2, 0.4], positive="bad")
    ScoreTable: 3 cases, 2 'bad' (positive), 1 'good', 3 distinct scores
    """
    if classes is None:
        codes, names = encode_classes(truth)
    else:
        codes, names = np.asarray(truth), tuple(classes)
        if codes.size and not (codes.min() >= 0 and codes.max() < len(names)):
            raise DataError(
                "truth holds codes without a class.",
                seen=f"codes up to {codes.max()}, {len(names)} classes",
                hint="codes from 0 to the number of classes minus one",
            )
    values = validate_scores(score, codes.size)
    weights = None if weight is None else validate_weights(weight, codes.size)
    if weights is not None and not weights.all():
        used = weights > 0  # a case of weight 0 is treated as absent, also for which classes and scores exist
        codes, values, weights = codes[used], values[used], weights[used]
        if classes is None:
            present, codes = np.unique(codes, return_inverse=True)
            names = tuple(names[k] for k in present)
    names, index, codes = add_absent_class(names, positive, codes)
    if len(names) == 2 and weights is None:
        return ScoreTable(*count_two_classes(values, codes), names, index)
    columns = np.zeros((len(names), values.size), dtype=np.uint8 if weights is None else np.float64)
    columns[codes, np.arange(values.size)] = 1 if weights is None else weights
    squares = None if weights is None or copies else merge_equal_scores(values, columns**2)[1]
    return ScoreTable(*merge_equal_scores(values, columns), names, index, squares=squares)


def binned_score_table(
    codes: NDArray[np.intp],
    weight: Array,
    squares: Array | None,
    low: Array,
    high: Array,
    first: Array,
    second: Array,
    classes: tuple[str, ...],
    positive: str | None,
    bits: int,
    edges: Sequence[float] = (),
) -> ScoreTable:
    """Build a binned table from groups of cases of one class (a code) and one bin, with the sums of their scores."""
    classes, index, codes = add_absent_class(classes, positive, codes)

    def by_class(column: Array) -> Array:
        out = np.zeros((len(classes), codes.size), dtype=column.dtype)
        out[codes, np.arange(codes.size)] = column
        return out

    bins = BinSums(low, high, by_class(first), by_class(second), bits, tuple(edges))
    spread = None if squares is None else by_class(squares)
    return ScoreTable.from_bins([bins], by_class(weight), spread, classes, index)


def _weight_of(table: ScoreTable, name: str) -> float:
    return float(table.class_totals[..., table.classes.index(name)].sum()) if name in table.classes else 0.0

"""Base of score tables: weights of the classes at each score, and transformations such as swapping and binning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ScoreError
from scorespace.tables.bins import BITS, BinSums, exact_bins, merge_bins
from scorespace.tables.case_costs import CostTable
from scorespace.tables.counts import Counts
from scorespace.tables.periods import PeriodTable
from scorespace.tables.score_arrays import add_runs, cumulate, merge_equal_scores, prevalence_factors
from scorespace.tables.table import Array, NamedClasses, WeightedTable
from scorespace.tables.threshold import Scale
from scorespace.tables.weighted_quantiles import run_starts


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTableBase(NamedClasses, WeightedTable):
    """Distinct scores in descending order with the weight of every class, and the tables made from them.

    `ScoreTable` documents the fields.
    """

    weights, axes = "counts", 2
    score: NDArray[np.float64]
    counts: Array
    classes: tuple[str, ...]
    positive: int
    resolution: float = 0.0
    squares: Array | None = field(default=None, compare=False, repr=False)
    bins: BinSums | None = field(default=None, repr=False)
    scale: Scale = field(default=None, compare=False, repr=False)
    costs: CostTable | None = field(default=None, compare=False, repr=False)
    periods: PeriodTable | None = field(default=None, compare=False, repr=False)

    @classmethod
    def from_bins(
        cls, parts: Sequence[BinSums], counts: Array, squares: Array | None, classes: tuple[str, ...], positive: int
    ) -> Self:
        """Build a binned table from bins in any order, with their weights (K, m) and squared weights."""
        bins, order, starts = merge_bins(*parts)
        merged = add_runs(counts[:, order], starts)
        squares = None if squares is None else add_runs(squares[:, order], starts)
        return cls(bins.low, merged, classes, positive, bins.width, squares, bins)

    @property
    def pos(self) -> Array:
        """Weight of positives at each score."""
        return np.asarray(self.counts[..., self.positive, :], dtype=np.float64)

    @property
    def neg(self) -> Array:
        """Weight of negatives (all other classes) at each score."""
        if len(self.classes) == 2:
            return np.asarray(self.counts[..., 1 - self.positive, :], dtype=np.float64)
        return self.counts.sum(axis=-2, dtype=np.float64) - self.pos

    @property
    def columns(self) -> tuple[Array, Array]:
        """Weights of positives and of negatives at each score, in their stored type: cumulate, never subtract."""
        if len(self.classes) == 2:
            return self.counts[..., self.positive, :], self.counts[..., 1 - self.positive, :]
        return self.pos, self.neg

    @cached_property
    def class_totals(self) -> Array:
        """Weight of each class, shape (…, K)."""
        return self.counts.sum(axis=-1, dtype=np.float64)

    @property
    def n_pos(self) -> Array:
        return self.class_totals[..., self.positive]

    @property
    def n_neg(self) -> Array:
        if len(self.classes) == 2:  # soft labels may leave a tiny class: avoid cancellation
            return self.class_totals[..., 1 - self.positive]
        return self.class_totals.sum(axis=-1) - self.n_pos

    @cached_property
    def sweep(self) -> Counts:
        """Outcomes at every threshold: +inf first, then each distinct score in descending order.

        >>> from scorespace.tables.scores import score_table

        >>> score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]).sweep.tp
        array([0., 1., 2., 2.])
        """
        tp, fp = (cumulate(column) for column in self.columns)
        squares = None if self.squares is None else replace(self, counts=self.squares, squares=None).sweep
        return Counts.along(tp, fp, tp[..., -1:], fp[..., -1:], squares)

    def with_cells(self, cells: Array) -> Self:
        return replace(super().with_cells(cells), bins=None)

    @property
    def corners(self) -> Counts:
        """Extreme outcomes (4, m) at the thresholds inside each bin; for an exact row its own outcomes.

        >>> from scorespace.tables.scores import score_table

        >>> score_table([1, 0, 1], [0.9, 0.41, 0.4]).rounded(51).corners.fp
        array([[0., 1.],
               [0., 0.],
               [0., 1.],
               [0., 0.]])
        """
        sweep = self.sweep
        loose = np.zeros(self.score.size, dtype=bool) if self.bins is None else self.bins.is_mixed
        tp, fp = sweep.tp[..., 1:], sweep.fp[..., 1:]
        fewer_tp, fewer_fp = np.where(loose, sweep.tp[..., :-1], tp), np.where(loose, sweep.fp[..., :-1], fp)
        corners = np.stack([tp, tp, fewer_tp, fewer_tp]), np.stack([fp, fewer_fp, fp, fewer_fp])
        return Counts.along(*corners, self.n_pos, self.n_neg)

    def sized(self) -> Self:
        """The table for measures of score values: the score of each bin becomes its mean."""
        if self.bins is None or not self.score.size:
            return self
        return replace(self, score=self.bins.mean(self.counts.sum(axis=-2, dtype=np.float64)))

    def ordered(self, best: bool) -> Self:
        """The best order inside bins, positives at the highest score and negatives at the lowest; or the worst order.

        The curves and areas of the original cases lie between those of the two.

        >>> from scorespace.tables.scores import score_table

        >>> score_table([1, 0, 1], [0.9, 0.41, 0.4]).rounded(51).ordered(best=True).pos
        array([1., 1., 0.])
        """
        if self.bins is None:
            return self
        loose = self.bins.is_mixed
        score = np.stack([self.bins.high, self.bins.low], axis=-1).ravel()
        counts = np.zeros((*self.counts.shape, 2), dtype=self.counts.dtype)
        counts[..., 0] = np.where(loose, 0, self.counts)
        positive_end, negative_end = (0, 1) if best else (1, 0)
        for k in range(len(self.classes)):
            end = positive_end if k == self.positive else negative_end
            counts[..., k, loose, end] = self.counts[..., k, loose]
        flat = counts.reshape(*counts.shape[:-2], -1)
        occupied = flat.any(axis=0)
        return replace(self, score=score[occupied], counts=flat[:, occupied], resolution=0.0, squares=None, bins=None)

    @property
    def open_pairs(self) -> Array:
        """Share of all positive–negative pairs that fall into each bin, where their order is unknown."""
        all_pairs = float(self.n_pos * self.n_neg)
        if self.bins is None or not all_pairs:
            return np.zeros(self.score.size)
        return np.where(self.bins.is_mixed, self.pos * self.neg / all_pairs, 0.0)

    def at_prevalence(self, share: float) -> Self:
        factor = prevalence_factors(self.strata, self.cells, self.positive, share).reshape(self.counts.shape)
        counts = self.counts * factor
        if counts.ndim > 2:  # replicates
            return replace(self, counts=counts, squares=None, costs=None)
        squares = self.counts if self.squares is None else self.squares
        bins = None if self.bins is None else self.bins.with_sums(lambda sums: sums * factor)
        return replace(self, counts=counts, squares=squares * factor**2, bins=bins, costs=None)

    def swapped(self) -> Self:
        """The table with the other of two classes as positive; scores are negated, so that high means positive."""
        other = self._other()
        # Adding 0.0 turns -0.0 into 0.0.
        squares = None if self.squares is None else self.squares[..., ::-1]
        bins = None if self.bins is None else self.bins.negated()
        score = -self.score[::-1] + 0.0 if bins is None else bins.low
        return type(self)(score, self.counts[..., ::-1], self.classes, other, self.resolution, squares, bins)

    def _other(self) -> int:
        """Index of the other of two classes."""
        if len(self.classes) != 2:
            raise ScoreError(
                "only tables of two classes can be swapped.",
                seen=f"{len(self.classes)} classes",
                hint="a table of two classes",
            )
        return 1 - self.positive

    def complemented(self) -> Self:
        """The table with the other of two classes as positive, by its probability 1 − score; rounding may create ties.

        >>> from scorespace.tables.scores import score_table

        >>> score_table([1, 0, 1], [0.75, 0.5, 0.25]).complemented().score
        array([0.75, 0.5 , 0.25])
        """
        other = self._other()
        if self.bins is None:
            return replace(self._rescored(1 - self.score), positive=other)
        bins = self.bins.complemented(self.counts)
        squares = None if self.squares is None else self.squares[:, ::-1]
        return self.from_bins([bins], self.counts[:, ::-1], squares, self.classes, other)

    def rounded(self, bits: int = BITS, edges: Sequence[float] = ()) -> Self:
        """Bin the scores: those that agree in their first 53 − bits binary digits share a bin.

        No bin straddles one of the edges, so outcomes there are exact. Shards that are rounded alike can be merged.

        >>> from scorespace.tables.scores import score_table

        >>> score_table([1, 0, 1], [0.91, 0.5502, 0.55]).rounded(46)
        ScoreTable: 3 cases, 2 '1' (positive), 1 '0', 2 bins
        """
        bins = replace(self.binned, bits=bits, edges=(*self.binned.edges, *edges))
        return self.from_bins([bins], self.counts, self.squares, self.classes, self.positive)

    def refined(self, chosen: NDArray[np.bool_], finer: Self) -> Self:
        """Replace some bins by those of a finer table of the same cases."""
        old, new = self.binned.rows(~chosen), finer.binned
        low = np.concatenate([old.low, new.low])
        order = np.argsort(-low)

        def both(ours: Array, theirs: Array) -> Array:
            return np.concatenate([ours, theirs], axis=-1)[..., order]

        first, second = both(old.first, new.first), both(old.second, new.second)
        bins = BinSums(low[order], both(old.high, new.high), first, second, new.bits, new.edges)
        squares = None
        if self.squares is not None and finer.squares is not None:
            squares = both(self.squares[:, ~chosen], finer.squares)
        counts = both(self.counts[:, ~chosen], finer.counts)
        return replace(self, score=low[order], counts=counts, squares=squares, bins=bins, resolution=bins.width)

    @property
    def binned(self) -> BinSums:
        """The bins; those of an exact table hold one score each."""
        return exact_bins(self.score, self.counts) if self.bins is None else self.bins

    def coarsen(self, width: float) -> Self:
        """Merge scores that fall into the same cell of a grid; the new score is the lower edge of the cell.

        The grid starts at 0 for all data, so shards that are coarsened separately can be merged.

        >>> from scorespace.tables.scores import score_table

        >>> score_table([1, 0, 1], [0.91, 0.55, 0.52]).coarsen(0.1).score
        array([0.9, 0.5])
        """
        if not (width > 0 and np.isfinite(width)):
            raise ScoreError(f"width={width} is not a bin width.", hint="a positive number, such as 0.001")
        cell = np.floor(self.score / width)
        # The quotient is rounded: correct scores at an edge that fell into the neighbouring cell.
        cell += (cell + 1) * width <= self.score
        cell -= cell * width > self.score
        return replace(self._rescored(cell * width), resolution=max(width, self.resolution))

    def _rescored(self, score: NDArray[np.float64]) -> Self:
        """Replace the scores and merge those that become equal."""
        values, counts = merge_equal_scores(score, self.counts)
        squares = None if self.squares is None else merge_equal_scores(score, self.squares)[1]
        return replace(self, score=values, counts=counts, squares=squares, bins=None)

    def uncertain(self) -> Self:
        return self if self.bins is None else replace(self, bins=None, resolution=self.bins.width)

    def condensed(self, rows: int) -> Self:
        """Merge neighbouring scores into about `rows` rows, finer towards both ends; each keeps its lowest score.

        The weight of a row is about (π / rows) · √(u (1 − u)) at quantile u (arcsine transformation), so that few
        cases are merged in the tails, where few cases matter most.

        >>> from scorespace.tables.scores import score_table

        >>> score_table([1, 0, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.3, 0.1]).condensed(3).score
        array([0.9, 0.3, 0.1])
        """
        if self.score.size <= rows:
            return self
        starts = self._row_starts(rows)
        score = self.score[np.append(starts[1:], self.score.size) - 1]
        squares = None if self.squares is None else add_runs(self.squares, starts)
        width = max(float((self.score[starts] - score).max()), self.resolution)
        counts = add_runs(self.counts, starts)
        return replace(self, score=score, counts=counts, resolution=width, squares=squares, bins=None)

    def condensed_cells(self, rows: int) -> NDArray[np.int32] | None:
        if self.score.size <= rows:
            return None
        starts = self._row_starts(rows)
        row = np.zeros(self.score.size, dtype=np.int32)
        row[starts[1:]] = 1
        merged = np.cumsum(row, dtype=np.int32)
        return (np.arange(len(self.classes), dtype=np.int32)[:, None] * np.int32(starts.size) + merged).ravel()

    def _row_starts(self, rows: int) -> NDArray[np.intp]:
        """Index of the first score of each row of the condensed table."""
        weight = self.counts.sum(axis=-2, dtype=np.float64)
        share = (np.cumsum(weight) - weight / 2) / weight.sum()
        row = (np.arcsin(np.sqrt(np.clip(share, 0, 1))) * (2 * rows / np.pi)).astype(np.int64)
        return run_starts(row)

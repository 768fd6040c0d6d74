"""The score table: distinct scores from the highest down, and for each the weight of every class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.arguments import checked
from scorespace.errors import DataError, ScoreError
from scorespace.frozen import dataclass
from scorespace.results import grouped
from scorespace.tables.bins import BITS, Bins, exact_bins, joined
from scorespace.tables.columns import nearest_single, scores_of, weights_of
from scorespace.tables.counts import Counts, class_factors, ratio
from scorespace.tables.labels import encode_classes, label_text, natural_order, positive_index
from scorespace.tables.order import starts_of
from scorespace.tables.table import Array, At, NoTableError, OfClasses, Stored, Table, Top, Wanted, Weighed
from scorespace.tables.threshold import Scale, Threshold, in_units, rounded_threshold, threshold_text

# Bits of +inf: subtracting the bits of a score ≥ 0 from it turns ascending into descending order.
_INFINITY_BITS = np.uint64(0x7FF0_0000_0000_0000)
_TYPED = 100  # thresholds that somebody may have typed; more of them come from the scores themselves


@dataclass(frozen=True, eq=False)
class ScoreTable(OfClasses, Weighed):
    """Everything that ranking, thresholds and calibration depend on, from one sort of the scores.

    `score` (m,) is distinct and descending; `counts` (…, K, m) holds the weight of each class at each
    score, in the smallest type that fits, so sum or cumulate before subtracting. Leading axes of
    `counts` are replicates. `resolution` is the width to which scores were coarsened (0: exact). `squares` (K, m)
    sums the squared weights of weighted cases; without it every unit of weight is a case. `bins` tells what scores the
    rows of a coarse table hold; each bears its lowest one, so that every threshold of the table is exact. `scale` are
    the ends of ratings that scores were made of: thresholds are told in their units.

    >>> t = score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    >>> t
    ScoreTable: 4 cases, 2 '1' (positive), 2 '0', 3 distinct scores
    >>> t.score, t.pos, t.neg
    (array([0.9, 0.4, 0.1]), array([1., 1., 0.]), array([0., 1., 1.]))
    """

    holds = "scores"
    weights, axes = "counts", 2
    thresholded = True
    score: NDArray[np.float64]
    counts: Array
    classes: tuple[str, ...]
    positive: int
    resolution: float = 0.0
    squares: Array | None = field(default=None, compare=False, repr=False)
    bins: Bins | None = field(default=None, repr=False)
    scale: Scale = field(default=None, compare=False, repr=False)

    def described(self) -> str:
        return "a score table"

    @property
    def size(self) -> int:
        return int(self.score.size)

    @property
    def strata(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.classes)), self.score.size)

    def with_cells(self, cells: Array) -> Self:
        return replace(super().with_cells(cells), bins=None)

    @property
    def pos(self) -> Array:
        """Weight of the positive class at each score."""
        return np.asarray(self.counts[..., self.positive, :], dtype=np.float64)

    @property
    def neg(self) -> Array:
        """Weight of all other classes at each score."""
        if len(self.classes) == 2:
            return np.asarray(self.counts[..., 1 - self.positive, :], dtype=np.float64)
        return self.counts.sum(axis=-2, dtype=np.float64) - self.pos

    @property
    def columns(self) -> tuple[Array, Array]:
        """Weights of positives and of the others at each score, in their stored type: cumulate, never subtract."""
        if len(self.classes) == 2:
            return self.counts[..., self.positive, :], self.counts[..., 1 - self.positive, :]
        return self.pos, self.neg

    @cached_property
    def class_totals(self) -> Array:
        """Weight of each class over all scores."""
        return self.counts.sum(axis=-1, dtype=np.float64)

    @property
    def n_pos(self) -> Array:
        return self.class_totals[..., self.positive]

    @property
    def n_neg(self) -> Array:
        if len(self.classes) == 2:  # soft labels may leave next to nothing of a class: no difference of large sums
            return self.class_totals[..., 1 - self.positive]
        return self.class_totals.sum(axis=-1) - self.n_pos

    @property
    def probabilities(self) -> bool:
        """Whether all scores lie in [0, 1], so that they can be read as probabilities."""
        if not self.score.size:
            return True
        highest = self.score[0] if self.bins is None else self.bins.high[0]
        return bool(highest <= 1 and self.score[-1] >= 0)

    @property
    def coarse(self) -> bool:
        return self.bins is not None

    def scores_seen(self) -> str:
        return f"scores from {self.score[-1]:g} to {self.score[0]:g}"

    def inside(
        self, wanted: type[Wanted], of: str | None = None, at: At | None = None, *, sized: bool = False
    ) -> Wanted:
        """Its outcomes at a threshold, or its scores with the other class of two as positive."""
        if wanted is not Counts and at is not None:
            raise NoTableError("asks for a threshold, but {label} covers all thresholds", hint="{label}")
        if wanted is Counts and at is None:
            raise NoTableError("of a score needs a threshold", hint="{label}@0.5")
        other = of is not None and self.place_of(of) != self.positive
        if other and len(self.classes) > 2:
            raise NoTableError(
                "names a class that this score does not rank", seen=f"a score for {self.classes[self.positive]!r}"
            )
        if wanted is Counts:
            counts = self._outcomes(cast(At, at))
            return cast(Wanted, counts.swapped() if other else counts)
        if not other:
            return Table.inside(self.sized() if sized else self, wanted)
        # The other class has the probability 1 − p; for all else the order counts, which rounding could tie.
        turned = self.complemented() if sized and self.probabilities else self.swapped()
        return Table.inside(turned.sized() if sized else turned, wanted)

    def _outcomes(self, at: At) -> Counts:
        """The outcomes at an operating point; the last ones are held, as one measure after the other asks for them."""
        known = self.__dict__.get("last_outcomes")
        if known is None or type(at) is not type(known[0]) or at != known[0]:
            known = self.__dict__["last_outcomes"] = at, self.top(at) if isinstance(at, Top) else self.at(at)
        found: Counts = known[1]
        return found

    def around(self, at: At, of: str | None = None) -> tuple[Counts, Counts]:
        """The outcomes at a threshold, or by rank, when all of the bin that it cuts is taken, and when none of it is.

        >>> table = score_table([1, 0, 1], [0.9, 0.41, 0.4]).rounded(51)
        >>> [float(counts.fp) for counts in table.around(0.405)]
        [1.0, 0.0]
        """
        most = fewest = self._outcomes(at)
        if self.bins is not None:
            low, high = self.bins.low, self.bins.high
            reached = self.bins.loose & (low == self.cut(at)) if isinstance(at, Top) else (low < at) & (at <= high)
            for bin_ in np.flatnonzero(reached):
                most, fewest = self.at(low[bin_]), self.at(np.nextafter(high[bin_], np.inf))
        swap = of is not None and self.place_of(of) != self.positive
        return (fewest.swapped(), most.swapped()) if swap else (most, fewest)

    @property
    def corners(self) -> Counts:
        """The extremes (4, m) of the outcomes at the thresholds that cut each bin; those of an exact row are its own.

        >>> score_table([1, 0, 1], [0.9, 0.41, 0.4]).rounded(51).corners.fp
        array([[0., 1.],
               [0., 0.],
               [0., 1.],
               [0., 0.]])
        """
        sweep = self.sweep
        loose = np.zeros(self.score.size, dtype=bool) if self.bins is None else self.bins.loose
        tp, fp = sweep.tp[..., 1:], sweep.fp[..., 1:]
        fewer_tp, fewer_fp = np.where(loose, sweep.tp[..., :-1], tp), np.where(loose, sweep.fp[..., :-1], fp)
        found = np.stack([tp, tp, fewer_tp, fewer_tp]), np.stack([fp, fewer_fp, fp, fewer_fp])
        return Counts.along(*found, self.n_pos, self.n_neg)

    def sized(self) -> Self:
        """The table for what depends on the size of scores: each bin of a coarse one bears its mean."""
        if self.bins is None or not self.score.size:
            return self
        return replace(self, score=self.bins.mean(self.counts.sum(axis=-2, dtype=np.float64)))

    def ordered(self, best: bool) -> Self:
        """The best order inside the bins, positives at the highest score and others at the lowest; or the worst.

        Every curve and area of the cases lies between those of the two.

        >>> score_table([1, 0, 1], [0.9, 0.41, 0.4]).rounded(51).ordered(best=True).pos
        array([1., 1., 0.])
        """
        if self.bins is None:
            return self
        loose = self.bins.loose
        score = np.stack([self.bins.high, self.bins.low], axis=-1).ravel()
        counts = np.zeros((*self.counts.shape, 2), dtype=self.counts.dtype)
        counts[..., 0] = np.where(loose, 0, self.counts)
        own, rest = (0, 1) if best else (1, 0)
        for k in range(len(self.classes)):
            place = own if k == self.positive else rest
            counts[..., k, loose, place] = self.counts[..., k, loose]
        flat = counts.reshape(*counts.shape[:-2], -1)
        kept = flat.any(axis=0)
        return replace(self, score=score[kept], counts=flat[:, kept], resolution=0.0, squares=None, bins=None)

    @property
    def open_pairs(self) -> Array:
        """Of each bin, the share of all pairs of a positive and another case that are both in it, in unknown order."""
        every = float(self.n_pos * self.n_neg)
        if self.bins is None or not every:
            return np.zeros(self.score.size)
        return np.where(self.bins.loose, self.pos * self.neg / every, 0.0)

    def at_prevalence(self, share: float) -> Self:
        factor = prevalence_factors(self.strata, self.cells, self.positive, share).reshape(self.counts.shape)
        counts = self.counts * factor
        if counts.ndim > 2:  # replicates
            return replace(self, counts=counts, squares=None)
        squares = self.counts if self.squares is None else self.squares
        bins = None if self.bins is None else self.bins.with_sums(lambda sums: sums * factor)
        return replace(self, counts=counts, squares=squares * factor**2, bins=bins)

    def right(self, at: At | None = None) -> NDArray[np.bool_]:
        if at is None:
            raise NoTableError("of a score needs a threshold", hint="{label}@0.5")
        at = self.cut(at) if isinstance(at, Top) else at  # all cases that tie at the cut
        positive = (np.arange(len(self.classes)) == self.positive)[:, None]
        return ((self.score >= self.in_precision(at)) == positive).ravel()

    def ranked(self, cell: NDArray[np.int32]) -> tuple[Table, NDArray[np.int32]]:
        return self, cell

    def shared_with(self, other: Table, *, sized: bool) -> tuple[Table, Array, Array]:
        """Both on one axis: that of the scores, or that of the midranks, which know no scale."""
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
        """The rank of each score among all cases from the lowest, tied cases at the mean of theirs.

        >>> score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]).midranks
        array([4. , 2.5, 1. ])
        """
        size = self.counts.sum(axis=-2, dtype=np.float64)
        return size.sum() - np.cumsum(size) + (size + 1) / 2

    @cached_property
    def sweep(self) -> Counts:
        """The outcomes at every threshold: +inf first, then each distinct score downwards.

        >>> score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]).sweep.tp
        array([0., 1., 2., 2.])
        """
        tp, fp = (cumulated(column) for column in self.columns)
        squares = None if self.squares is None else replace(self, counts=self.squares, squares=None).sweep
        return Counts.along(tp, fp, tp[..., -1:], fp[..., -1:], squares)

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """The threshold of each entry of the sweep; positive is predicted when score ≥ threshold."""
        return np.concatenate([[np.inf], self.score])

    @cached_property
    def single(self) -> bool:
        """Whether all scores are single-precision numbers, as those of a float32 column are."""
        with np.errstate(over="ignore"):
            few = self.score[:100]
            return all(bool((one == one.astype(np.float32)).all()) for one in (few, self.score))

    def in_precision(self, threshold: ArrayLike) -> Array:
        """A threshold in the precision of the scores: of single-precision ones 0.7 means 0.7 as they hold it."""
        found = np.asarray(threshold, dtype=np.float64)
        return nearest_single(found) if self.single and found.size <= _TYPED else found

    def threshold(self, at: float) -> Threshold:
        """A threshold with the digits that keep every case on its side; all of them where scores were coarsened.

        >>> score_table([1, 0, 1], [0.123306, 0.12329, 0.1]).threshold(0.123306).text
        '0.1233'
        """
        if self.coarse or self.resolution:  # what lies between two rows is not known
            return Threshold(at, threshold_text(in_units(at, self.scale)), in_units(at, self.scale))
        place = self.score.size - int(np.searchsorted(self.score[::-1], self.in_precision(at), side="left"))
        below = float(self.score[place]) if place < self.score.size else -math.inf
        if self.single and math.isfinite(below):  # what is nearer to it than to the next number would mean it
            below = (below + float(np.nextafter(np.float32(below), np.float32(np.inf)))) / 2
        return rounded_threshold(at, below, self.scale)

    @checked
    def at(self, threshold: ArrayLike) -> Counts:
        """The outcomes when every score ≥ threshold is predicted positive.

        >>> float(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]).at(0.4).fp)
        1.0
        """
        threshold = np.asarray(threshold, dtype=np.float64)
        if np.isnan(threshold).any():
            raise ScoreError("threshold=nan is not a threshold.", hint="a number, or inf to predict no positives")
        predicted = self.score.size - np.searchsorted(self.score[::-1], self.in_precision(threshold), side="left")
        if threshold.ndim or "sweep" in self.__dict__ or self.squares is not None:
            return self.sweep[..., predicted]
        # At one threshold of many replicates, two sums are quicker than all that run along the scores.
        above = (column[..., :predicted].sum(axis=-1, dtype=np.float64) for column in self.columns)
        tp, fp = above
        return Counts(tp=tp, fp=fp, fn=self.n_pos - tp, tn=self.n_neg - fp)

    def top(self, top: Top) -> Counts:
        """The outcomes when the cases with the highest scores are predicted positive.

        Cases with the score at the cut share the places that are left, each class its part of them: what ordering
        them by lot gives on average.

        >>> c = score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]).top(Top(2))
        >>> float(c.tp), float(c.fp)
        (1.5, 0.5)
        """
        # Totals of replicates differ by rounding: all of them is all of them.
        size = np.asarray(self.total)
        places = np.asarray(top.of(size), dtype=np.float64)[..., None]
        if (places > size[..., None] * (1 + 1e-9)).any():
            seen = f"{grouped(float(np.min(size)))} cases"
            raise NoTableError(f"asks for the {grouped(top.size)} highest scores of fewer cases", seen=seen)
        found, squares = self.sweep, self.sweep.squares
        last = found.tp.shape[-1] - 1
        place = np.clip((found.pp < places).sum(axis=-1, keepdims=True), 1, last)
        below, above = (np.take_along_axis(found.pp, one, axis=-1) for one in (place - 1, place))
        share = np.clip(ratio(places - below, above - below), 0.0, 1.0)
        return _between(found, place, share, None if squares is None else _between(squares, place, share))

    @property
    def constant(self) -> bool:
        """Whether all cases have the same score, so that nothing is ranked."""
        return int((self.counts.sum(axis=-2) > 0).sum()) == 1

    def cut(self, top: Top) -> float:
        """The score down to which the highest-ranked cases reach.

        >>> score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]).cut(Top(2))
        0.4
        """
        return float(self.thresholds[max(1, int((self.sweep.pp < float(top.of(self.total))).sum()))])

    def swapped(self) -> Self:
        """The other class of two as positive, with the scores negated so that higher still means positive."""
        other = self._other()
        # Adding 0.0 keeps a negated zero from becoming -0.0.
        squares = None if self.squares is None else self.squares[..., ::-1]
        bins = None if self.bins is None else self.bins.turned()
        score = -self.score[::-1] + 0.0 if bins is None else bins.low
        return type(self)(score, self.counts[..., ::-1], self.classes, other, self.resolution, squares, bins)

    def _other(self) -> int:
        """The other class of two."""
        if len(self.classes) != 2:
            raise ScoreError(
                "only two classes can be swapped.", seen=f"{len(self.classes)} classes", hint="a table of two classes"
            )
        return 1 - self.positive

    def complemented(self) -> Self:
        """The other class of two as positive, with its own probability 1 − score; rounding may tie scores near 0.

        >>> score_table([1, 0, 1], [0.75, 0.5, 0.25]).complemented().score
        array([0.75, 0.5 , 0.25])
        """
        other = self._other()
        if self.bins is None:
            return replace(self._rescored(1 - self.score), positive=other)
        bins = self.bins.complemented(self.counts)
        squares = None if self.squares is None else self.squares[:, ::-1]
        return cast(Self, merged_table([bins], self.counts[:, ::-1], squares, self.classes, other))

    def rounded(self, bits: int = BITS, edges: Sequence[float] = ()) -> Self:
        """The coarse table: scores that are the same in the first 53 − bits binary digits share a bin.

        No bin straddles one of the edges, so that outcomes there are exact. Shards rounded alike still merge.

        >>> score_table([1, 0, 1], [0.91, 0.5502, 0.55]).rounded(46)
        ScoreTable: 3 cases, 2 '1' (positive), 1 '0', 2 bins
        """
        bins = replace(self.binned, bits=bits, edges=(*self.binned.edges, *edges))
        return cast(Self, merged_table([bins], self.counts, self.squares, self.classes, self.positive))

    def refined(self, chosen: NDArray[np.bool_], finer: ScoreTable) -> Self:
        """The table with some of its bins replaced by those of a finer table of the same cases."""
        kept, new = self.binned.rows(~chosen), finer.binned
        low = np.concatenate([kept.low, new.low])
        order = np.argsort(-low)

        def both(ours: Array, theirs: Array) -> Array:
            return np.concatenate([ours, theirs], axis=-1)[..., order]

        first, second = both(kept.first, new.first), both(kept.second, new.second)
        bins = Bins(low[order], both(kept.high, new.high), first, second, new.bits, new.edges)
        squares = None
        if self.squares is not None and finer.squares is not None:
            squares = both(self.squares[:, ~chosen], finer.squares)
        counts = both(self.counts[:, ~chosen], finer.counts)
        return replace(self, score=low[order], counts=counts, squares=squares, bins=bins, resolution=bins.width)

    @property
    def binned(self) -> Bins:
        """Its bins; those of an exact table hold one score each, and leave nothing open."""
        return exact_bins(self.score, self.counts) if self.bins is None else self.bins

    def coarsen(self, width: float) -> Self:
        """Merge scores that share a cell of the grid of that width; each cell bears its lower edge.

        The grid starts at 0 whatever the data, so shards coarsened apart still merge.

        >>> score_table([1, 0, 1], [0.91, 0.55, 0.52]).coarsen(0.1).score
        array([0.9, 0.5])
        """
        if not (width > 0 and np.isfinite(width)):
            raise ScoreError(f"width={width} is not a width.", hint="a positive number, such as 0.001")
        cell = np.floor(self.score / width)
        # The quotient is rounded: a score on or beside an edge may have got into the wrong cell.
        cell += (cell + 1) * width <= self.score
        cell -= cell * width > self.score
        return replace(self._rescored(cell * width), resolution=max(width, self.resolution))

    def _rescored(self, score: NDArray[np.float64]) -> Self:
        """The table with other scores in place of its own; those that become equal are merged."""
        values, counts = grouped_scores(score, self.counts)
        squares = None if self.squares is None else grouped_scores(score, self.squares)[1]
        return replace(self, score=values, counts=counts, squares=squares, bins=None)

    def stored(self) -> Stored:
        bins = self.binned
        about = {"kind": "scores", "positive": self.positive, "weighted": self.squares is not None}
        about |= {"exact": self.bins is None, "bits": bins.bits, "edges": list(bins.edges)}
        size = len(self.classes)
        columns = {"actual": self.strata, "low": np.tile(bins.low, size), "high": np.tile(bins.high, size)}
        sums = {"weight": self.counts, "squares": self.squares, "first": bins.first, "second": bins.second}
        columns |= {name: column.ravel() for name, column in sums.items() if column is not None}
        return Stored(about, columns)

    def uncertain(self) -> Self:
        return self if self.bins is None else replace(self, bins=None, resolution=self.bins.width)

    def condensed(self, rows: int) -> Self:
        """Merge neighbouring scores into about that many rows, finer towards both ends; each bears its lowest score.

        A row holds about (π / rows) · √(u (1 − u)) of the weight at the share u of it, as the arcsine spreads shares
        evenly: where few cases decide, few are merged.

        >>> score_table([1, 0, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.3, 0.1]).condensed(3).score
        array([0.9, 0.3, 0.1])
        """
        if self.score.size <= rows:
            return self
        starts = self._merging(rows)
        score = self.score[np.append(starts[1:], self.score.size) - 1]
        squares = None if self.squares is None else _runs_added(self.squares, starts)
        width = max(float((self.score[starts] - score).max()), self.resolution)
        counts = _runs_added(self.counts, starts)
        return replace(self, score=score, counts=counts, resolution=width, squares=squares, bins=None)

    def condensed_cells(self, rows: int) -> NDArray[np.int32] | None:
        if self.score.size <= rows:
            return None
        starts = self._merging(rows)
        row = np.zeros(self.score.size, dtype=np.int32)
        row[starts[1:]] = 1
        merged = np.cumsum(row, dtype=np.int32)
        return (np.arange(len(self.classes), dtype=np.int32)[:, None] * np.int32(starts.size) + merged).ravel()

    def _merging(self, rows: int) -> NDArray[np.intp]:
        """Where the rows of the condensed table begin."""
        weight = self.counts.sum(axis=-2, dtype=np.float64)
        share = (np.cumsum(weight) - weight / 2) / weight.sum()
        part = (np.arcsin(np.sqrt(np.clip(share, 0, 1))) * (2 * rows / np.pi)).astype(np.int64)
        return starts_of(part)

    def __add__(self, other: Self) -> Self:
        """The table of both samples together."""
        if self.classes[self.positive] != other.classes[other.positive]:
            raise DataError(
                "tables with different positive classes cannot be merged.",
                seen=f"{self.classes[self.positive]!r} and {other.classes[other.positive]!r}",
                hint="the same positive class in both",
            )
        named = {name for table in (self, other) for name in table.classes}
        nameless = _nameless(self.classes[self.positive])
        if len(named) > 2 and nameless in named and not _weight_of(self, nameless) + _weight_of(other, nameless):
            named.remove(nameless)
        classes = tuple(sorted(named, key=natural_order))

        def joined_columns(ours: Array, theirs: Array) -> Array:
            sides = _realigned(ours, self.classes, classes), _realigned(theirs, other.classes, classes)
            return np.concatenate(sides, axis=-1)

        both, counts = np.concatenate([self.score, other.score]), joined_columns(self.counts, other.counts)
        squares = self.squares_with(other, joined_columns)
        positive = classes.index(self.classes[self.positive])
        if self.bins is not None or other.bins is not None:
            aligned = ((t, partial(_realigned, classes=t.classes, wanted=classes)) for t in (self, other))
            bins = [t.binned.with_sums(align) for t, align in aligned]
            return cast(Self, merged_table(bins, counts, squares, classes, positive))
        score, counts = grouped_scores(both, counts)
        squares = None if squares is None else grouped_scores(both, squares)[1]
        return type(self)(score, counts, classes, positive, max(self.resolution, other.resolution), squares)

    def __repr__(self) -> str:
        shown = f"{grouped(self.n_pos.sum())} {self.classes[self.positive]!r} (positive)"
        others = [k for k in range(len(self.classes)) if k != self.positive]
        totals = self.class_totals.reshape(-1, len(self.classes)).sum(axis=0)
        rest = "".join(f", {grouped(totals[k])} {self.classes[k]!r}" for k in others)
        coarse = f", coarsened to {self.resolution:g}" if self.resolution and self.bins is None else ""
        rows = "distinct scores" if self.bins is None else "bins"
        return f"ScoreTable: {grouped(totals.sum())} cases, {shown}{rest}, {grouped(self.score.size)} {rows}{coarse}"


def _between(along: Counts, place: Array, share: Array, squares: Counts | None = None) -> Counts:
    """The outcomes part of the way to a place along the thresholds."""

    def part(values: Array) -> Array:
        before, after = (np.take_along_axis(values, one, axis=-1) for one in (place - 1, place))
        return (before + share * (after - before))[..., 0]

    tp, fp = part(along.tp), part(along.fp)
    return Counts(tp=tp, fp=fp, fn=along.p[..., 0] - tp, tn=along.n[..., 0] - fp, squares=squares)


def score_table(
    truth: Any,
    score: Any,
    *,
    positive: Any = None,
    weight: Any = None,
    copies: bool = False,
    classes: Sequence[str] | None = None,
) -> ScoreTable:
    """The score table of a sample, from a column of labels and a column of scores.

    `positive` may be left out for {0, 1}, {-1, 1} and booleans. `classes` given: truth holds codes
    into them. Values take weight 2 as the case twice and weight 0 as the case absent; intervals take it as
    one case, unless the weights are `copies` of it.

    >>> score_table(["bad", "good", "bad"], [0.7, 0.2, 0.4], positive="bad")
    ScoreTable: 3 cases, 2 'bad' (positive), 1 'good', 3 distinct scores
    """
    if classes is None:
        codes, names = encode_classes(truth)
    else:
        codes, names = np.asarray(truth), tuple(classes)
        if codes.size and not (codes.min() >= 0 and codes.max() < len(names)):
            raise DataError(
                "truth holds codes of no class.",
                seen=f"codes up to {codes.max()}, {len(names)} classes",
                hint="codes from 0 to the number of classes less one",
            )
    values = scores_of(score, codes.size)
    weights = None if weight is None else weights_of(weight, codes.size)
    if weights is not None and not weights.all():
        kept = weights > 0  # weight 0 equals an absent row, also for which classes and scores exist
        codes, values, weights = codes[kept], values[kept], weights[kept]
        if classes is None:
            present, codes = np.unique(codes, return_inverse=True)
            names = tuple(names[k] for k in present)
    names, index, codes = _with_both(names, positive, codes)
    if len(names) == 2 and weights is None:
        return ScoreTable(*_two_classes(values, codes), names, index)
    columns = np.zeros((len(names), values.size), dtype=np.uint8 if weights is None else np.float64)
    columns[codes, np.arange(values.size)] = 1 if weights is None else weights
    squares = None if weights is None or copies else grouped_scores(values, columns**2)[1]
    return ScoreTable(*grouped_scores(values, columns), names, index, squares=squares)


def coarse_table(
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
    """The coarse table of groups of cases, each of one class (a code) and one bin, with the sums of their scores."""
    classes, index, codes = _with_both(classes, positive, codes)

    def by_class(column: Array) -> Array:
        out = np.zeros((len(classes), codes.size), dtype=column.dtype)
        out[codes, np.arange(codes.size)] = column
        return out

    bins = Bins(low, high, by_class(first), by_class(second), bits, tuple(edges))
    spread = None if squares is None else by_class(squares)
    return merged_table([bins], by_class(weight), spread, classes, index)


def merged_table(
    several: Sequence[Bins], counts: Array, squares: Array | None, classes: tuple[str, ...], positive: int
) -> ScoreTable:
    """The coarse table of bins in any order, with the weights (K, m) in them and the sums of their squares."""
    bins, order, starts = joined(*several)
    merged = _runs_added(counts[:, order], starts)
    squares = None if squares is None else _runs_added(squares[:, order], starts)
    return ScoreTable(bins.low, merged, classes, positive, bins.width, squares, bins)


def prevalence_factors(strata: Array, cells: Array, positive: int, share: float) -> Array:
    """What the weight of each cell (…, m) is multiplied by so that positives have that share of an unchanged total."""
    own = strata == positive
    pos, neg = (cells[..., side].sum(axis=-1, dtype=np.float64, keepdims=True) for side in (own, ~own))
    return np.where(own, *class_factors(pos, neg, share))


def _two_classes(score: NDArray[np.float64], label: NDArray[Any]) -> tuple[NDArray[np.float64], Array]:
    """Distinct scores and counts of two classes by sorting values, not indices.

    The bits of floats ≥ 0 sort like the floats and leave the sign bit free, so `bits << 1 | label`
    carries the label through one unsigned sort. Negative scores are sorted apart, by magnitude.
    """
    bits = (score + 0.0).view(np.uint64)  # a copy, in which -0.0 has become 0.0
    if bits.size and bits.view(np.int64).min() < 0:
        below = score < 0
        high = _two_classes(score[~below], label[~below])
        low = _two_classes(-score[below], label[below])
        return np.concatenate([high[0], -low[0][::-1]]), np.concatenate([high[1], low[1][:, ::-1]], axis=1)
    np.subtract(_INFINITY_BITS, bits, out=bits)
    bits <<= np.uint64(1)
    bits |= label.astype(np.uint8, copy=False)
    bits.sort()
    ones = bits.astype(np.uint8)
    ones &= 1
    bits >>= np.uint64(1)
    np.subtract(_INFINITY_BITS, bits, out=bits)
    values = bits.view(np.float64)
    last = np.append(values[1:] != values[:-1], True) if values.size else np.empty(0, dtype=bool)
    if last.all():
        counts = np.empty((2, ones.size), dtype=np.uint8)
        counts[1] = ones
        np.subtract(1, ones, out=counts[0])
        return values, counts
    ends = np.flatnonzero(last)
    with_ones = np.diff(np.cumsum(ones, dtype=np.int64)[ends], prepend=0)
    return values[ends], np.stack([np.diff(ends, prepend=-1) - with_ones, with_ones])


def grouped_scores(score: NDArray[np.float64], counts: Array) -> tuple[NDArray[np.float64], Array]:
    """Sort the columns of counts by descending score and add up those of equal score."""
    order = np.argsort(-score, kind="stable")
    values = score[order] + 0.0
    starts = starts_of(values)
    return values[starts], _runs_added(counts[..., order], starts)


def _runs_added(columns: Array, starts: NDArray[np.intp]) -> Array:
    """The sums over runs of rows (…, m) that begin at these places; small whole numbers have room to grow."""
    wide = np.float64 if columns.dtype.kind == "f" else np.int64
    return np.add.reduceat(columns, starts, axis=-1, dtype=wide) if starts.size else columns.astype(wide)


def cumulated(column: Array) -> Array:
    """Running sums along the scores, starting with the 0 of the threshold +inf.

    >>> cumulated(np.array([1, 0, 2]))
    array([0., 1., 1., 3.])
    """
    out = np.zeros((*column.shape[:-1], column.shape[-1] + 1))
    # Whole numbers are added several times as fast as floats are, which wait for each other.
    out[..., 1:] = np.cumsum(column, axis=-1, dtype=np.int64 if column.dtype.kind in "iu" else np.float64)
    return out


def _realigned(counts: Array, classes: tuple[str, ...], wanted: tuple[str, ...]) -> Array:
    """The rows of counts in the order of the wanted classes, with zeros for those it lacks."""
    out = np.zeros((*counts.shape[:-2], len(wanted), counts.shape[-1]), dtype=np.result_type(counts, np.int64))
    kept = [k for k, name in enumerate(classes) if name in wanted]
    out[..., [wanted.index(classes[k]) for k in kept], :] = counts[..., kept, :]
    return out


def _weight_of(table: ScoreTable, name: str) -> float:
    return float(table.class_totals[..., table.classes.index(name)].sum()) if name in table.classes else 0.0


def _with_both(names: tuple[str, ...], positive: Any, codes: NDArray[Any]) -> tuple[tuple[str, ...], int, NDArray[Any]]:
    """The classes, which of them is positive, and the codes; an only class is joined by the one that is absent."""
    if len(names) > 1:
        return names, positive_index(names, positive, codes), codes
    opposite = {"1": "0", "0": "1", "-1": "1", "True": "False", "False": "True"}.get(names[0])
    if positive is None and opposite is not None:
        wanted = "True" if "True" in (names[0], opposite) else "1"
    elif positive is None or label_text(positive) == names[0]:
        wanted, opposite = names[positive_index(names, positive)], opposite or _nameless(names[0])
    else:
        wanted = opposite = label_text(positive)
    both = tuple(sorted((names[0], opposite), key=natural_order))
    return both, both.index(wanted), np.full_like(codes, both.index(names[0]), dtype=np.uint8)


def _nameless(positive: str) -> str:
    """What stands for the negatives of a sample that has none."""
    return f"not {positive}"

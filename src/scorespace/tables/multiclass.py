"""Class tables: the scores of every case for every class, from which multiclass measures are computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Self, cast

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ScoreError, listing
from scorespace.results import grouped
from scorespace.tables.class_scores import ROUNDING, TOP, ClassScores
from scorespace.tables.columns import validate_scores, validate_weights
from scorespace.tables.confusion import ConfusionTable
from scorespace.tables.counts import Counts, ratio
from scorespace.tables.labels import at_least_index, class_ranks, encode_classes, label_text, to_array
from scorespace.tables.paired import binary_class_names
from scorespace.tables.scores import ScoreTable, score_table
from scorespace.tables.table import Array, NoTableError, Table, Wanted
from scorespace.tables.threshold import At
from scorespace.tables.weighted_quantiles import run_starts, sum_by_index

__all__ = ["ROUNDING", "TOP", "ClassScores", "ClassTable", "class_table", "rounded_sums"]

_MAX_CACHED: Final = 5_000_000  # scores of all classes up to which one-vs-rest tables are cached
_NEAR_ZERO: Final = 1e-9  # below this, 1 − P loses digits


def rounded_sums(sums: Array) -> Array:
    """Round sums of scores to 14 digits, so that equal ones tie: 0.7 + 0.1 must equal 0.8 despite rounding.

    >>> rounded_sums(np.array([0.7 + 0.1, 0.1 + 0.2])).tolist()
    [0.8, 0.3]
    """
    with np.errstate(divide="ignore"):
        digits = 13 - np.floor(np.log10(np.abs(sums)))
    scale = 10.0 ** np.clip(digits, -290, 290)
    return np.where(sums == 0, 0.0, np.rint(sums * scale) / scale)


@dataclass(frozen=True)
class _RankPlaces:
    """Cases sorted by class and own score, and indices into their cumulated weights for each class and case.

    `above` is the end of the cases of the class with a higher score, `level` the end of those with an equal or
    higher score; None if there are no ties.
    """

    by_class: NDArray[np.intp]
    starts: NDArray[np.intp]
    above: NDArray[np.intp]
    level: NDArray[np.intp] | None


@dataclass(frozen=True, eq=False)
class ClassTable(ClassScores):
    """Scores of each class and the actual class of each case.

    Unlike other tables it keeps the cases, because each class ranks them in another order.

    Parameters
    ----------
    score : ndarray of shape (n_classes, n_cases)
        Score of each class for each case.
    label : ndarray of int
        Index of the actual class of each case.
    classes : tuple of str
        Names of the classes.
    weight : ndarray of shape (…, n_cases), optional
        Weight of each case; leading axes are replicates.
    group : ndarray of int, optional
        Index of the group of each case, if cases are grouped.
    copies : bool
        Whether weights are frequencies, each unit being one case.
    ranked_classes : bool
        Whether the classes are in a stated order.

    Examples
    --------
    >>> t = class_table(["a", "b", "c"], {"a": [0.8, 0.1, 0.2], "b": [0.1, 0.6, 0.3], "c": [0.1, 0.3, 0.5]})
    >>> t
    ClassTable: 3 cases, 3 classes: 'a' (1 row), 'b' (1 row), 'c' (1 row)
    >>> t.one_vs_rest(1)
    ScoreTable: 3 cases, 1 'b' (positive), 2 'not b', 3 distinct scores
    """

    holds = "scores of every class"
    by_case = True
    score: NDArray[np.float64]
    label: NDArray[np.intp]
    classes: tuple[str, ...]
    weight: Array | None = None
    group: NDArray[np.int32] | None = None
    copies: bool = field(default=False, compare=False, repr=False)
    ranked_classes: bool = field(default=False, repr=False)

    def in_order(self, order: Sequence[Any]) -> Self:
        """Return the table with its classes in the given order, lowest first.

        Parameters
        ----------
        order : sequence
            Names of all classes, lowest first.

        Returns
        -------
        ClassTable
            The same cases with ordered classes.
        """
        place = class_ranks(order, self.classes)
        names = tuple(name for name in place if name in self.classes)  # the order may name classes without scores
        new_label = np.array([names.index(name) for name in self.classes])
        score = self.score[[self.classes.index(name) for name in names]]
        return replace(self, score=score, label=new_label[self.label], classes=names, ranked_classes=True)

    def described(self) -> str:
        """Description for messages, such as "scores of 3 classes"."""
        return f"scores of {len(self.classes)} classes"

    @property
    def cells(self) -> Array:
        """Weight of each case, shape (…, n_cases)."""
        return self.case_weight

    @property
    def size(self) -> int:
        """Number of scores: classes times cases."""
        return int(self.score.size)

    @property
    def strata(self) -> NDArray[np.intp]:
        """Index of the actual class of each case, for stratified resampling."""
        return self.label

    @property
    def cell_squares(self) -> Array | None:
        """Squared weight of each case, if cases are weighted."""
        return None if self.weight is None or self.copies else np.square(self.weight)

    @property
    def grouping(self) -> NDArray[np.int32] | None:
        """Index of the group of each case, if cases are grouped."""
        return self.group

    def scores_seen(self) -> str:
        """Description of scores that are not probabilities, for messages."""
        lowest, highest = float(self.score.min()), float(self.score.max())
        if lowest >= 0 and highest <= 1:
            return f"class scores whose sum differs from one by up to {self.excess:.2g}"
        return f"scores from {lowest:g} to {highest:g}"

    def inside(
        self, wanted: type[Wanted], of: str | None = None, at: At | None = None, *, sized: bool = False
    ) -> Wanted:
        """Derive a table of the required kind; for ordered classes also that of a class with all above it: `>=class`.

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
        least = at_least_index(of, self.classes, self.ordinal)
        if least is None or wanted not in (ScoreTable, Counts):
            return super().inside(wanted, of, at, sized=sized)
        if wanted is Counts and at is None:
            return self.decisions.inside(wanted, of)
        return self._at_least(least).inside(wanted, None, at, sized=sized)

    def right(self, at: At | None = None) -> NDArray[np.bool_]:
        """Whether the class with the highest score is the actual one, for each case.

        Parameters
        ----------
        at : None
            Must be omitted: a multiclass model decides by its highest score.

        Returns
        -------
        ndarray of bool
            One value per case.
        """
        if at is not None:
            raise NoTableError("specifies a threshold, but a multiclass model decides by its highest score")
        return self.decided == self.label

    def shared_with(self, other: Table, *, sized: bool) -> tuple[Table, Array, Array]:
        """Concatenate the cases of both models, because each has its own scores.

        Parameters
        ----------
        other : Table
            The table of the other model.
        sized : bool
            Whether values of the scores matter, not only their order.

        Returns
        -------
        tuple
            The common table, and the index there of each case of the first and of the second model.
        """
        if not isinstance(other, ClassTable) or self.classes != other.classes:
            return super().shared_with(other, sized=sized)
        places = np.arange(self.label.size)
        score, label = np.hstack([self.score, other.score]), np.concatenate([self.label, other.label])
        return type(self)(score, label, self.classes), places, places + self.label.size

    def part(self, cell: NDArray[np.int32]) -> tuple[Self, NDArray[np.int32]]:
        """The table of a subset of cases, given by their indices, and their cells in that table.

        Parameters
        ----------
        cell : ndarray of int
            The cell of each case.

        Returns
        -------
        tuple
            The table, and the cell of each case in it.
        """
        return cast(Self, self.taken(cell.astype(np.intp))), np.arange(cell.size, dtype=np.int32)

    def with_cells(self, cells: Array) -> Self:
        """Return the same cases with other weights, without sorting again.

        Parameters
        ----------
        cells : ndarray of shape (…, n_cells)
            The new weight of each cell; leading axes are replicates.

        Returns
        -------
        ClassTable
            The reweighted table.
        """
        table = replace(self, weight=cells, copies=True)
        table.__dict__["placing"] = self.rank_places
        return table

    def taken(self, cases: NDArray[np.intp]) -> ClassTable:
        """The table of a subset of the cases, given by their indices.

        Parameters
        ----------
        cases : ndarray of int
            Indices of the cases.

        Returns
        -------
        ClassTable
            The table of these cases.
        """
        weight = None if self.weight is None else self.weight[..., cases]
        group = None if self.group is None else self.group[cases]
        return replace(self, score=self.score[:, cases], label=self.label[cases], weight=weight, group=group)

    @property
    def case_weight(self) -> Array:
        """Weight of each case."""
        return np.ones(self.label.size) if self.weight is None else self.weight

    @cached_property
    def class_totals(self) -> Array:
        """Weight of each class (…, K)."""
        return sum_by_index(self.label, self.case_weight, len(self.classes))

    @cached_property
    def excess(self) -> float:
        """Largest difference between one and the sum of the scores of a case."""
        return float(np.abs(self.score.sum(axis=0) - 1).max(initial=0.0))

    @property
    def probabilities(self) -> bool:
        """Whether the scores of each case are in [0, 1] and sum to one, apart from rounding."""
        in_range = bool(self.score.min(initial=0.0) >= 0 and self.score.max(initial=0.0) <= 1)
        return in_range and self.excess <= ROUNDING

    @cached_property
    def decided(self) -> NDArray[np.intp]:
        """Index of the class with the highest score of each case; the first one if tied."""
        return self.score.argmax(axis=0)

    @property
    def decisions(self) -> ConfusionTable:
        """Confusion table of the decisions by the highest score."""
        size = len(self.classes)
        cells = sum_by_index(self.label * size + self.decided, self.case_weight, size * size)
        squares = None
        if self.cell_squares is not None:
            squares = sum_by_index(self.label * size + self.decided, self.cell_squares, size * size).reshape(size, size)
        shape = (*cells.shape[:-1], size, size)
        return ConfusionTable(cells.reshape(shape), self.classes, squares=squares, ranked_classes=self.ranked_classes)

    @property
    def top(self) -> ScoreTable:
        """Score table of the highest score of each case, with correct decisions as the positive class."""
        return self._correct_by(self.score.max(axis=0))

    @property
    def exact_lead(self) -> Array:
        """Margin of each case: highest minus second highest score, unrounded."""
        second, highest = np.partition(self.score, -2, axis=0)[-2:]
        return highest - second

    @property
    def lead(self) -> Array:
        """Margin of each case, rounded: highest minus second highest score."""
        # 0.7 − 0.3 and 0.6 − 0.2 are equal margins, but not in floating point.
        return np.round(self.exact_lead, 12)

    @property
    def margins(self) -> ScoreTable:
        """Score table of the margins, with correct decisions as the positive class."""
        return self._correct_by(self.lead)

    def _correct_by(self, score: Array) -> ScoreTable:
        """Score table of a confidence score, with correct decisions as the positive class."""
        return _score_table(self.right(), score, ("wrong", "right"), self.weight, self.copies)

    def left(self, lead: Array) -> Array:
        """Confusion counts (n_margins, K²) of the cases whose margin is at least each of the given, ascending ones.

        Parameters
        ----------
        lead : ndarray of shape (n_margins,)
            Margins of the highest score over the second, ascending.

        Returns
        -------
        ndarray of shape (n_margins, n_classes²)
            Flattened confusion matrices, rows actual.
        """
        size = len(self.classes)
        last = np.searchsorted(lead, self.lead, side="right")  # number of given margins that a case reaches
        counts = np.bincount(
            last * size**2 + self.label * size + self.decided, self.case_weight, minlength=(lead.size + 1) * size**2
        )
        return np.cumsum(counts.reshape(lead.size + 1, -1)[::-1], axis=0)[-2::-1]

    def spread(self, index: int) -> list[tuple[Array, Array]]:
        """Distribution of the score of one class within each actual class: descending scores and their weights.

        Parameters
        ----------
        index : int
            Index of the class that is scored.

        Returns
        -------
        list of tuple
            For each actual class, descending scores and their weights.
        """
        order = np.lexsort((-self.score[index], self.label))
        ends = np.cumsum(np.bincount(self.label, minlength=len(self.classes)))[:-1]
        sides = (np.split(side[order], ends) for side in (self.score[index], self.case_weight))
        return list(zip(*sides, strict=True))

    def pooled(self, wanted: type[Wanted]) -> Wanted:
        """Pool all scores into one table (micro average): a score is positive if it is of the case's own class.

        Parameters
        ----------
        wanted : type of Table
            The kind of table that is derived.

        Returns
        -------
        ScoreTable
            The pooled table.
        """
        is_own = (self.label == np.arange(len(self.classes))[:, None]).ravel()
        weight = None if self.weight is None else np.tile(self.weight, len(self.classes))
        table = _score_table(is_own, self.score.ravel(), ("other class", "own class"), weight, self.copies)
        return cast(Wanted, table)

    def one_vs_rest(self, index: int) -> ScoreTable:
        """Score table of one class against all others; cached unless there are many cases.

        Parameters
        ----------
        index : int
            Index of the positive class.

        Returns
        -------
        ScoreTable
            The scores of that class.
        """
        cache: dict[int, ScoreTable] = self.__dict__.setdefault("rests", {})
        if index in cache:
            return cache[index]
        names = binary_class_names(self.classes, index)
        table = _score_table(self.label == index, self.score[index], names, self.weight, self.copies)
        if self.score.size <= _MAX_CACHED:
            cache[index] = table
        return table

    def _at_least(self, index: int) -> ScoreTable:
        """Score table of a class and all above it, by the sum of their scores, against the classes below."""
        sides = f"< {self.classes[index]}", f"≥ {self.classes[index]}"
        total = self.score[index:].sum(axis=0)
        if self.probabilities and index < len(self.classes) - index:  # fewer terms in 1 − P(< class)
            total = np.where(total < _NEAR_ZERO, total, 1 - self.score[:index].sum(axis=0))
        return _score_table(self.label >= index, rounded_sums(total), sides, self.weight, self.copies)

    def one_vs_one(self, index: int, other: int) -> ScoreTable:
        """Score table of the cases of two classes, by the score of the first.

        Parameters
        ----------
        index : int
            Index of the positive class.
        other : int
            Index of the negative class.

        Returns
        -------
        ScoreTable
            The scores of the first class, for cases of the two classes.
        """
        among = np.flatnonzero((self.label == index) | (self.label == other))
        weight = None if self.weight is None else self.weight[..., among]
        names = self.classes[other], self.classes[index]
        return _score_table(self.label[among] == index, self.score[index, among], names, weight, self.copies)

    @cached_property
    def rank_places(self) -> _RankPlaces:
        """Rank of every case among the cases of each class, by the score of that class; all classes in one sort."""
        size = len(self.classes)
        own_score = np.take_along_axis(self.score, self.label[None, :], axis=0)[0]
        by_class = np.lexsort((-own_score, self.label))
        starts = np.searchsorted(self.label[by_class], np.arange(size))
        order = np.argsort(-self.score, axis=1)
        higher = np.cumsum(self.label[order] == np.arange(size)[:, None], axis=1)
        above = level = _unsort(higher, order)[:, by_class]
        blocks = _tie_blocks(np.take_along_axis(self.score, order, axis=1))
        if blocks is not None:
            before = np.concatenate([np.zeros((size, 1), dtype=higher.dtype), higher], axis=1)
            above, level = (_unsort(np.take_along_axis(before, place, axis=1), order)[:, by_class] for place in blocks)
        return _RankPlaces(
            by_class, starts, starts[:, None] + above, None if blocks is None else starts[:, None] + level
        )

    def concordant_pairs(self) -> Array:
        """Weight of concordant pairs (…, K, K) by the row's score, row class above column class; ties count half.

        One cumulative sum over the cases in order of their own class and score; every case of another class looks up
        the weight of the row's class above it. The diagonal is meaningless.
        """
        placing, size = self.rank_places, len(self.classes)
        weight = self.case_weight[..., placing.by_class]
        reached = np.zeros((*weight.shape[:-1], weight.shape[-1] + 1))
        np.cumsum(weight, axis=-1, out=reached[..., 1:])
        higher = np.take(reached, placing.above, axis=-1)
        if placing.level is not None:
            higher += np.take(reached, placing.level, axis=-1)
            higher /= 2
        higher -= reached[..., placing.starts, None]
        higher *= weight[..., None, :]
        present = np.flatnonzero(np.diff(placing.starts, append=self.label.size))
        pairs = np.zeros((*higher.shape[:-1], size))
        pairs[..., present] = np.add.reduceat(higher, placing.starts[present], axis=-1)
        return pairs

    def pair_areas(self) -> Array:
        """A(i|j) (…, K, K): how often a case of class i scores higher for i than one of class j (Hand & Till 2001).

        NaN on the diagonal and for classes without cases.
        """
        totals = self.class_totals
        pairs = totals[..., :, None] * totals[..., None, :]
        return np.where(np.eye(len(self.classes), dtype=bool), np.nan, ratio(self.concordant_pairs(), pairs))

    def __add__(self, other: Self) -> Self:
        """Merge the tables of two samples."""
        if self.classes != other.classes:
            raise self.different_classes_error(other)
        unweighted = self.weight is None and other.weight is None
        weight = None if unweighted else np.concatenate([self.case_weight, other.case_weight])
        score = np.concatenate([self.score, other.score], axis=1)
        copies = self.copies and other.copies
        return type(self)(score, np.concatenate([self.label, other.label]), self.classes, weight, copies=copies)

    def __repr__(self) -> str:
        if self.class_totals.ndim > 1:
            return f"ClassTable: {grouped(self.label.size)} cases, {self.class_totals.shape[:-1]} replicates"
        return super().__repr__()


def class_table(
    truth: Any, scores: Any, *, classes: Sequence[Any] | None = None, weight: Any = None, copies: bool = False
) -> ClassTable:
    """Build a class table from labels and the scores of each class.

    Parameters
    ----------
    truth : array_like of shape (n_cases,)
        Actual class of each case.
    scores : mapping of class to array_like, or array_like of shape (n_cases, n_classes)
        Score of each class for each case.
    classes : sequence, optional
        The class of each column of an array; by default the classes of the truth in order.
    weight : array_like of shape (n_cases,), optional
        Weight of each case; 1 by default.
    copies : bool
        Whether weights are frequencies, each unit being one case.

    Returns
    -------
    ClassTable
        The table of multiclass measures and curves.

    Examples
    --------
    >>> class_table(["x", "y", "z"], [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]).decisions.matrix.trace()
    np.float64(3.0)
    """
    codes, seen = encode_classes(truth)
    columns = _columns(scores, seen if classes is None else tuple(map(label_text, classes)), codes.size)
    absent = [name for name in seen if name not in columns]
    if absent:
        raise ScoreError(
            f"the class {absent[0]!r} has no scores.",
            seen=f"scores for {listing(columns)}",
            hint="one column for each class of the truth",
        )
    # In the order of the truth's labels, followed by scored classes that do not occur.
    names = (*seen, *(name for name in columns if name not in seen))
    weights = None if weight is None else validate_weights(weight, codes.size)
    table = ClassTable(
        np.stack([columns[name] for name in names]), codes.astype(np.intp), names, weights, copies=copies
    )
    return table if weights is None or weights.all() else table.taken(np.flatnonzero(weights))


def _columns(scores: Any, classes: tuple[str, ...], size: int) -> dict[str, NDArray[np.float64]]:
    if isinstance(scores, Mapping):
        return {label_text(name): validate_scores(column, size) for name, column in scores.items()}
    array = to_array(scores)
    if array.shape != (size, len(classes)):
        raise ScoreError(
            "scores must have a row for each case and a column for each class.",
            seen=f"shape {array.shape}, {grouped(size)} cases and classes {listing(classes)}",
            hint="classes=… names the columns",
        )
    return {name: validate_scores(array[:, k], size) for k, name in enumerate(classes)}


def _score_table(
    is_positive: NDArray[np.bool_], score: Array, classes: tuple[str, str], weight: Array | None, copies: bool
) -> ScoreTable:
    """Score table of two classes, the second being positive; weights may have leading replicate axes."""
    label = is_positive.astype(np.intp)
    if weight is None or weight.ndim == 1:
        return score_table(label, score, weight=weight, copies=copies, classes=classes, positive=classes[1])
    order = np.argsort(-score)
    values = score[order] + 0.0
    starts = run_starts(values)
    columns = [np.add.reduceat(weight[..., order] * (label[order] == k), starts, axis=-1) for k in (0, 1)]
    return ScoreTable(values[starts], np.stack(columns, axis=-2), classes, 1)


def _unsort(values: Array, order: NDArray[np.intp]) -> Array:
    """Put sorted values back at their original indices, along each row."""
    result = np.empty_like(values)
    np.put_along_axis(result, order, values, axis=1)
    return result


def _tie_blocks(ordered: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """First index of each block of tied scores and the index after its last; None if there are no ties."""
    new = np.ones(ordered.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=new[:, 1:])
    if new.all():
        return None
    place = np.broadcast_to(np.arange(ordered.shape[1]), ordered.shape)
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    final = np.append(new[:, 1:], np.ones((len(new), 1), dtype=bool), axis=1)
    last = np.minimum.accumulate(np.where(final, place, place.shape[1])[:, ::-1], axis=1)[:, ::-1]
    return first, last + 1

"""The class table: the scores of every case for every class, from which all K-class measures follow."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any, Final, Self, cast

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, ScoreError, listing
from scorespace.frozen import dataclass
from scorespace.results import grouped
from scorespace.tables.columns import scores_of, weights_of
from scorespace.tables.confusion import ConfusionTable
from scorespace.tables.counts import Counts, ratio
from scorespace.tables.labels import array_of, at_least, class_listing, encode_classes, label_text, places_in
from scorespace.tables.order import added_at, starts_of
from scorespace.tables.pair import two_names
from scorespace.tables.score import ScoreTable, score_table
from scorespace.tables.table import Array, At, NoTableError, OfClasses, Table, Wanted

TOP: Final = "top"
"""Stands for the highest score of each case where a class is asked for."""

_MOST_KEPT: Final = 5_000_000  # scores of all classes up to which the table of each class is kept
_NEXT_TO_ZERO: Final = 1e-9  # where 1 − P loses digits
ROUNDING: Final = 0.01
"""How far the scores of a case may be from adding up to one and still be probabilities, printed with few digits."""


class ClassScores(OfClasses):
    """What tables of the scores of several classes share: each class against the rest, and what the highest decides."""

    scores_classes = True
    if TYPE_CHECKING:

        @property
        def decisions(self) -> ConfusionTable: ...

        @property
        def top(self) -> ScoreTable: ...

    @abstractmethod
    def one_vs_rest(self, index: int) -> ScoreTable:
        """The score table of one class against all others."""

    @abstractmethod
    def one_vs_one(self, index: int, other: int) -> ScoreTable:
        """The score table of one class, by its own score, against one other."""

    def deciding(self) -> ConfusionTable:
        return self.decisions

    def inside(
        self, wanted: type[Wanted], of: str | None = None, at: At | None = None, *, sized: bool = False
    ) -> Wanted:
        """The scores of one class against the rest, its outcomes, or the decisions by the highest score."""
        if of == TOP and wanted is ScoreTable:
            return self.top.inside(wanted, None, at, sized=sized)
        of = None if of is None else self.classes[self.place_of(of)]
        if at is not None and of is None:
            raise NoTableError("of several classes needs a class", hint=f"{{label}}[{self.classes[0]}]@{at:g}")
        if (wanted is Counts and at is None) or (wanted is ConfusionTable and of is None):
            return self.decisions.inside(wanted, of)
        if of is not None:
            return self.one_vs_rest(self.classes.index(of)).inside(wanted, None, at, sized=sized)
        found = self.whole_inside(wanted)
        if found is None:
            hint = "name a class or an average: {label}[macro]"
            raise NoTableError(f"cannot be computed from {self.described()}", hint=hint)
        return cast(Wanted, found)

    def averaged_over(self, wanted: type[Table]) -> Table:
        return self.decisions if wanted is Counts else self

    def each(self, wanted: type[Wanted]) -> list[Wanted]:
        return [cast(Wanted, self.one_vs_rest(k)) for k in range(len(self.classes))]

    def pairwise(self, wanted: type[Wanted]) -> Iterator[tuple[int, int, Wanted]]:
        for i, j in permutations(range(len(self.classes)), 2):
            yield i, j, cast(Wanted, self.one_vs_one(i, j))

    def unlike(self, other: ClassScores) -> DataError:
        """Why tables of other classes have no sum."""
        return DataError(
            "tables that score different classes cannot be merged.",
            seen=f"{listing(self.classes)} and {listing(other.classes)}",
            hint="tables of the same classes",
        )

    def __repr__(self) -> str:
        shown = class_listing(self.classes, self.class_totals.tolist())
        return f"{type(self).__name__}: {grouped(float(self.total))} cases, {len(self.classes)} classes: {shown}"


def rounded_sums(sums: Array) -> Array:
    """Sums of scores to 14 digits, so that equal ones tie: 0.7 + 0.1 is 0.8, whatever floating point makes of it.

    >>> rounded_sums(np.array([0.7 + 0.1, 0.1 + 0.2])).tolist()
    [0.8, 0.3]
    """
    with np.errstate(divide="ignore"):
        digits = 13 - np.floor(np.log10(np.abs(sums)))
    scale = 10.0 ** np.clip(digits, -290, 290)
    return np.where(sums == 0, 0.0, np.rint(sums * scale) / scale)


@dataclass(frozen=True)
class _Placing:
    """The cases by class and own score, and into their cumulated weights, for each class and case, two places.

    `above` is the place just before the cases of the class that score higher end, `level` that after
    those of equal score; None when no two scores are equal.
    """

    by_class: NDArray[np.intp]
    starts: NDArray[np.intp]
    above: NDArray[np.intp]
    level: NDArray[np.intp] | None


@dataclass(frozen=True, eq=False)
class ClassTable(ClassScores):
    """Scores (K, cases) and the class of each case; `weight` (…, cases) may have axes of replicates before.

    `group` numbers the groups of related cases, where there are such. Unlike the other tables it keeps the
    cases, because those of one class stand in K orders at once. Weights are `copies` of a case, or a case weighs
    more or less than one.

    >>> t = class_table(["a", "b", "c"], {"a": [0.8, 0.1, 0.2], "b": [0.1, 0.6, 0.3], "c": [0.1, 0.3, 0.5]})
    >>> t
    ClassTable: 3 cases, 3 classes: 'a' (1 row), 'b' (1 row), 'c' (1 row)
    >>> t.one_vs_rest(1)
    ScoreTable: 3 cases, 1 'b' (positive), 2 'not b', 3 distinct scores
    """

    holds = "scores of several classes"
    by_case = True
    score: NDArray[np.float64]
    label: NDArray[np.intp]
    classes: tuple[str, ...]
    weight: Array | None = None
    group: NDArray[np.int32] | None = None
    copies: bool = field(default=False, compare=False, repr=False)
    ranked_classes: bool = field(default=False, repr=False)

    def in_order(self, order: Sequence[Any]) -> Self:
        place = places_in(order, self.classes)
        names = tuple(name for name in place if name in self.classes)  # a class without scores has no place
        again = np.array([names.index(name) for name in self.classes])
        score = self.score[[self.classes.index(name) for name in names]]
        return replace(self, score=score, label=again[self.label], classes=names, ranked_classes=True)

    def described(self) -> str:
        return f"scores of {len(self.classes)} classes"

    @property
    def cells(self) -> Array:
        return self.case_weight

    @property
    def size(self) -> int:
        return int(self.score.size)

    @property
    def strata(self) -> NDArray[np.intp]:
        return self.label

    @property
    def cell_squares(self) -> Array | None:
        return None if self.weight is None or self.copies else np.square(self.weight)

    @property
    def grouping(self) -> NDArray[np.int32] | None:
        return self.group

    def scores_seen(self) -> str:
        lowest, highest = float(self.score.min()), float(self.score.max())
        if lowest >= 0 and highest <= 1:
            return f"scores of a case that miss one by up to {self.excess:.2g} when added up"
        return f"scores from {lowest:g} to {highest:g}"

    def inside(
        self, wanted: type[Wanted], of: str | None = None, at: At | None = None, *, sized: bool = False
    ) -> Wanted:
        """The same, and of classes in order one with all above it: `>=class`."""
        least = at_least(of, self.classes, self.ordinal)
        if least is None or wanted not in (ScoreTable, Counts):
            return super().inside(wanted, of, at, sized=sized)
        if wanted is Counts and at is None:
            return self.decisions.inside(wanted, of)
        return self._from(least).inside(wanted, None, at, sized=sized)

    def right(self, at: At | None = None) -> NDArray[np.bool_]:
        if at is not None:
            raise NoTableError("asks for a threshold, but here the highest score decides")
        return self.decided == self.label

    def shared_with(self, other: Table, *, sized: bool) -> tuple[Table, Array, Array]:
        """The cases of both models below each other, as each has its own scores."""
        if not isinstance(other, ClassTable) or self.classes != other.classes:
            return super().shared_with(other, sized=sized)
        places = np.arange(self.label.size)
        score, label = np.hstack([self.score, other.score]), np.concatenate([self.label, other.label])
        return type(self)(score, label, self.classes), places, places + self.label.size

    def part(self, cell: NDArray[np.int32]) -> tuple[Self, NDArray[np.int32]]:
        return cast(Self, self.taken(cell.astype(np.intp))), np.arange(cell.size, dtype=np.int32)

    def with_cells(self, cells: Array) -> Self:
        """The same cases under other weights, without sorting again."""
        again = replace(self, weight=cells, copies=True)
        again.__dict__["placing"] = self.placing
        return again

    def taken(self, cases: NDArray[np.intp]) -> ClassTable:
        """The table of some of the cases."""
        weight = None if self.weight is None else self.weight[..., cases]
        group = None if self.group is None else self.group[cases]
        return replace(self, score=self.score[:, cases], label=self.label[cases], weight=weight, group=group)

    @property
    def case_weight(self) -> Array:
        """The weight of each case."""
        return np.ones(self.label.size) if self.weight is None else self.weight

    @cached_property
    def class_totals(self) -> Array:
        """Weight of each class (…, K)."""
        return added_at(self.label, self.case_weight, len(self.classes))

    @cached_property
    def excess(self) -> float:
        """How far the scores of a case are from adding up to one, at most."""
        return float(np.abs(self.score.sum(axis=0) - 1).max(initial=0.0))

    @property
    def probabilities(self) -> bool:
        """Whether the scores of each case lie in [0, 1] and add up to one, but for rounding."""
        inside = bool(self.score.min(initial=0.0) >= 0 and self.score.max(initial=0.0) <= 1)
        return inside and self.excess <= ROUNDING

    @cached_property
    def decided(self) -> NDArray[np.intp]:
        """The class of the highest score of each case; of several, the first."""
        return self.score.argmax(axis=0)

    @property
    def decisions(self) -> ConfusionTable:
        """The decisions by the highest score."""
        size = len(self.classes)
        cells = added_at(self.label * size + self.decided, self.case_weight, size * size)
        squares = None
        if self.cell_squares is not None:
            squares = added_at(self.label * size + self.decided, self.cell_squares, size * size).reshape(size, size)
        shape = (*cells.shape[:-1], size, size)
        return ConfusionTable(cells.reshape(shape), self.classes, squares=squares, ranked_classes=self.ranked_classes)

    @property
    def top(self) -> ScoreTable:
        """The highest score of each case, with the decision for it right or wrong as classes."""
        return self._right_by(self.score.max(axis=0))

    @property
    def exact_lead(self) -> Array:
        """By how much the highest score of each case is above the second, as it is computed."""
        second, highest = np.partition(self.score, -2, axis=0)[-2:]
        return highest - second

    @property
    def lead(self) -> Array:
        """By how much the highest score of each case is above the second."""
        # 0.7 − 0.3 and 0.6 − 0.2 are the same lead, but not in floating point.
        return np.round(self.exact_lead, 12)

    @property
    def margins(self) -> ScoreTable:
        """The lead of the highest score over the second, with the decision right or wrong as classes."""
        return self._right_by(self.lead)

    def _right_by(self, score: Array) -> ScoreTable:
        """Whether the decisions are right, by a score of how sure they are."""
        return _score_table(self.right(), score, ("wrong", "right"), self.weight, self.copies)

    def left(self, lead: Array) -> Array:
        """What is taken for what (places, K²) among the cases that lead by at least so much; leads rise."""
        size = len(self.classes)
        last = np.searchsorted(lead, self.lead, side="right")  # at so many places a case is still decided
        held = np.bincount(
            last * size**2 + self.label * size + self.decided, self.case_weight, minlength=(lead.size + 1) * size**2
        )
        return np.cumsum(held.reshape(lead.size + 1, -1)[::-1], axis=0)[-2::-1]

    def spread(self, index: int) -> list[tuple[Array, Array]]:
        """Of each class the scores for one class that its cases have, from the highest down, and their weights."""
        order = np.lexsort((-self.score[index], self.label))
        ends = np.cumsum(np.bincount(self.label, minlength=len(self.classes)))[:-1]
        sides = (np.split(side[order], ends) for side in (self.score[index], self.case_weight))
        return list(zip(*sides, strict=True))

    def pooled(self, wanted: type[Wanted]) -> Wanted:
        """All scores in one table: positive where a score is that of the case's own class."""
        own = (self.label == np.arange(len(self.classes))[:, None]).ravel()
        weight = None if self.weight is None else np.tile(self.weight, len(self.classes))
        table = _score_table(own, self.score.ravel(), ("other class", "own class"), weight, self.copies)
        return cast(Wanted, table)

    def one_vs_rest(self, index: int) -> ScoreTable:
        """The score table of one class against all others, which stays with the table unless there are many cases."""
        kept: dict[int, ScoreTable] = self.__dict__.setdefault("rests", {})
        if index in kept:
            return kept[index]
        names = two_names(self.classes, index)
        found = _score_table(self.label == index, self.score[index], names, self.weight, self.copies)
        if self.score.size <= _MOST_KEPT:
            kept[index] = found
        return found

    def _from(self, index: int) -> ScoreTable:
        """The score table of that class and all above it, by the sum of their scores, against those below."""
        sides = f"< {self.classes[index]}", f"≥ {self.classes[index]}"
        total = self.score[index:].sum(axis=0)
        if self.probabilities and index < len(self.classes) - index:  # fewer terms below: 1 − P(< class)
            total = np.where(total < _NEXT_TO_ZERO, total, 1 - self.score[:index].sum(axis=0))
        return _score_table(self.label >= index, rounded_sums(total), sides, self.weight, self.copies)

    def one_vs_one(self, index: int, other: int) -> ScoreTable:
        among = np.flatnonzero((self.label == index) | (self.label == other))
        weight = None if self.weight is None else self.weight[..., among]
        two = self.classes[other], self.classes[index]
        return _score_table(self.label[among] == index, self.score[index, among], two, weight, self.copies)

    @cached_property
    def placing(self) -> _Placing:
        """Where every case stands among the cases of each class, by the score of that class: K sorts in one call."""
        size = len(self.classes)
        own_score = np.take_along_axis(self.score, self.label[None, :], axis=0)[0]
        by_class = np.lexsort((-own_score, self.label))
        starts = np.searchsorted(self.label[by_class], np.arange(size))
        order = np.argsort(-self.score, axis=1)
        reached = np.cumsum(self.label[order] == np.arange(size)[:, None], axis=1)
        above = level = _scattered(reached, order)[:, by_class]
        blocks = _tie_blocks(np.take_along_axis(self.score, order, axis=1))
        if blocks is not None:
            before = np.concatenate([np.zeros((size, 1), dtype=reached.dtype), reached], axis=1)
            above, level = (
                _scattered(np.take_along_axis(before, place, axis=1), order)[:, by_class] for place in blocks
            )
        return _Placing(by_class, starts, starts[:, None] + above, None if blocks is None else starts[:, None] + level)

    def concordant_pairs(self) -> Array:
        """Pairs (…, K, K) in the right order by the row's score, row class above column class; ties half.

        One cumulated sum over the cases in order of their own class and score; every case of another
        class looks up how much of the row's class is above it. The diagonal means nothing.
        """
        placing, size = self.placing, len(self.classes)
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
        """A(i|j) (…, K, K): how often a case of class i has a higher score for i than one of class j.

        Undefined on the diagonal and for classes without cases.
        """
        totals = self.class_totals
        among = totals[..., :, None] * totals[..., None, :]
        return np.where(np.eye(len(self.classes), dtype=bool), np.nan, ratio(self.concordant_pairs(), among))

    def __add__(self, other: Self) -> Self:
        """The table of both samples together."""
        if self.classes != other.classes:
            raise self.unlike(other)
        alone = self.weight is None and other.weight is None
        weight = None if alone else np.concatenate([self.case_weight, other.case_weight])
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
    """The class table of a sample, from labels and the scores of each class.

    `scores` is a mapping of class to column, or an array (cases, K) with `classes` naming its
    columns; without names they are those of the truth, in order.

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
    # In the order of the truth's labels; scored classes that never occur come last.
    names = (*seen, *(name for name in columns if name not in seen))
    weights = None if weight is None else weights_of(weight, codes.size)
    table = ClassTable(
        np.stack([columns[name] for name in names]), codes.astype(np.intp), names, weights, copies=copies
    )
    return table if weights is None or weights.all() else table.taken(np.flatnonzero(weights))


def _columns(scores: Any, classes: tuple[str, ...], size: int) -> dict[str, NDArray[np.float64]]:
    if isinstance(scores, Mapping):
        return {label_text(name): scores_of(column, size) for name, column in scores.items()}
    array = array_of(scores)
    if array.shape != (size, len(classes)):
        raise ScoreError(
            "scores must have a row for each case and a column for each class.",
            seen=f"shape {array.shape}, {grouped(size)} cases and classes {listing(classes)}",
            hint="classes=… names the columns",
        )
    return {name: scores_of(array[:, k], size) for k, name in enumerate(classes)}


def _score_table(
    own: NDArray[np.bool_], score: Array, classes: tuple[str, str], weight: Array | None, copies: bool
) -> ScoreTable:
    """The table of two classes, the second, `own`, positive; weights may have axes of replicates before."""
    label = own.astype(np.intp)
    if weight is None or weight.ndim == 1:
        return score_table(label, score, weight=weight, copies=copies, classes=classes, positive=classes[1])
    order = np.argsort(-score)
    values = score[order] + 0.0
    starts = starts_of(values)
    columns = [np.add.reduceat(weight[..., order] * (label[order] == k), starts, axis=-1) for k in (0, 1)]
    return ScoreTable(values[starts], np.stack(columns, axis=-2), classes, 1)


def _scattered(values: Array, order: NDArray[np.intp]) -> Array:
    """Values along the orders, back at the cases they belong to."""
    found = np.empty_like(values)
    np.put_along_axis(found, order, values, axis=1)
    return found


def _tie_blocks(ordered: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Where the block of equal scores around each place begins, and where it has ended; None without such blocks."""
    new = np.ones(ordered.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=new[:, 1:])
    if new.all():
        return None
    place = np.broadcast_to(np.arange(ordered.shape[1]), ordered.shape)
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    final = np.append(new[:, 1:], np.ones((len(new), 1), dtype=bool), axis=1)
    last = np.minimum.accumulate(np.where(final, place, place.shape[1])[:, ::-1], axis=1)[:, ::-1]
    return first, last + 1

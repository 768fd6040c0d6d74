"""The pair table: several models' scores on the same cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, listing
from scorespace.frozen import dataclass
from scorespace.results import ByValue, grouped
from scorespace.tables.columns import scores_of
from scorespace.tables.labels import encode, encode_classes, positive_index
from scorespace.tables.order import counted_at
from scorespace.tables.pieces import threads
from scorespace.tables.score import ScoreTable, prevalence_factors
from scorespace.tables.table import Array, At

_MANY: Final = 20_000  # cases from which on a second thread pays


@dataclass(frozen=True, eq=False)
class PairTable(ByValue):
    """For each case its class and its cell in every model's table: all that ties the models of a sample together.

    `cell` (models, cases) indexes the cells of `tables`; `code` is the class of each case, an index into
    `classes`, of which `positive` may be one. `group` numbers the groups of related cases, `fold` the folds they
    were tested in, and `repeat` the repeats of the whole procedure, in each of which every case was tested once;
    `weight` is the weight of each case, and `time` its place in time; where there are such. Counted in bins, a row
    stands for `times` cases: all that share a bin of every model. `ratio` is that of test to training cases in a fold,
    where it is known.

    >>> pairs = pair_table([1, 0, 1, 0], {"a": [0.9, 0.4, 0.6, 0.7], "b": [1, 0, 1, 0]})
    >>> pairs
    PairTable: 2 models on 4 cases, 2 positive
    >>> pairs.place.tolist()
    [[0, 3, 2, 1], [0, 1, 0, 1]]
    """

    models: tuple[str, ...]
    tables: tuple[Any, ...]
    cell: NDArray[np.int32]
    code: NDArray[Any]
    classes: tuple[str, ...] = ("negative", "positive")
    positive: int | None = 1
    group: NDArray[np.int32] | None = None
    fold: NDArray[np.int32] | None = None
    repeat: NDArray[np.int32] | None = None
    weight: NDArray[np.float64] | None = None
    time: NDArray[np.int32] | None = None
    times: NDArray[np.int64] | None = None
    ratio: float | None = None

    @property
    def cases(self) -> int:
        """How many rows there are: as many as cases, unless they were counted in bins."""
        return int(self.code.size)

    def counted(self, chosen: NDArray[np.bool_]) -> int:
        """How many cases the chosen rows stand for."""
        return int(chosen.sum() if self.times is None else self.times[chosen].sum())

    @cached_property
    def label(self) -> NDArray[np.uint8]:
        """1 for positives, 0 for all others."""
        return (self.code == (-1 if self.positive is None else self.positive)).astype(np.uint8)

    @cached_property
    def place(self) -> NDArray[np.int32]:
        """Each case's place among the distinct scores of every model (models, cases)."""
        rows = np.array([table.score.size for table in self.tables], dtype=np.int32)
        return self.cell % rows[:, None]

    def index(self, model: str) -> int:
        """The row of a model."""
        if model not in self.models:
            raise DataError(f"there is no model {model!r}.", seen=listing(self.models), hint="one of these")
        return self.models.index(model)

    def only(self, *models: str) -> PairTable:
        """The table of some of the models, in that order."""
        kept = [self.index(model) for model in models]
        return replace(self, models=tuple(models), cell=self.cell[kept], tables=tuple(self.tables[k] for k in kept))

    def scoring(self) -> PairTable:
        """The same with every model as scores of the positive class; a crisp decision scores 1 or 0."""
        return self._with(lambda table, cell: table.ranked(cell))

    def _with(self, change: Callable[[Any, Array], tuple[Any, Array]], **more: Any) -> PairTable:
        """The same with another table of every model, and the cell of each case there."""
        found = [change(table, cell) for table, cell in zip(self.tables, self.cell, strict=True)]
        return replace(
            self, tables=tuple(table for table, _ in found), cell=np.stack([cell for _, cell in found]), **more
        )

    def scores(self, model: int) -> Array:
        """The scores of a model, case by case."""
        return self.tables[model].score[self.place[model]]

    def decisions(self, model: int, at: float) -> NDArray[np.bool_]:
        """Which cases a model calls positive at a threshold."""
        return self.scores(model) >= self.tables[model].in_precision(at)

    def right(self, model: int, at: At | None = None) -> NDArray[np.bool_]:
        """Which cases a model decides right, at a threshold or down to a rank where it needs one."""
        return self.tables[model].right(at)[self.cell[model]]

    def condensed(self, rows: int) -> PairTable:
        """The same cases with every model's table condensed to about that many rows."""

        def merged(table: Any, cell: Array) -> tuple[Any, Array]:
            there = table.condensed_cells(rows)
            return table.condensed(rows), cell if there is None else there[cell]

        return self._with(merged)

    def at_prevalence(self, share: float) -> PairTable:
        """The same cases weighed so that positives have that share."""
        if self.positive is None:
            return self
        held = np.ones(self.cases) if self.weight is None else self.weight
        weight = held * prevalence_factors(self.code, held, self.positive, share)
        return replace(self, tables=tuple(table.at_prevalence(share) for table in self.tables), weight=weight)

    def part(self, chosen: NDArray[np.intp]) -> PairTable:
        """The table of some of the cases."""
        names = ("group", "fold", "repeat", "weight", "time")
        kept = {name: None if (held := getattr(self, name)) is None else held[chosen] for name in names}
        return self._with(lambda table, cell: table.part(cell[chosen]), code=self.code[chosen], **kept)

    def __repr__(self) -> str:
        positives = "" if self.positive is None else f", {grouped(self.counted(self.label == 1))} positive"
        every = self.counted(np.ones(self.cases, dtype=bool))
        return f"PairTable: {len(self.models)} models on {grouped(every)} cases{positives}"


def pair_table(truth: Any, scores: Mapping[str, Any], *, positive: Any = None, group: Any = None) -> PairTable:
    """The pair table of models that scored the same cases; a crisp decision is a score of 1 or 0."""
    codes, classes = encode_classes(truth)
    index = positive_index(classes, positive, codes)
    label = (codes == index).astype(np.uint8)
    groups = None if group is None else encode(group, "group")[0].astype(np.int32)
    checked = {name: scores_of(values, label.size) for name, values in scores.items()}
    return paired(label, checked, groups, two_names(classes, index))


def two_names(classes: Sequence[str], positive: int) -> tuple[str, str]:
    """The names of the negatives and of the positive class.

    >>> two_names(("bad", "good"), 0), two_names(("a", "b", "c"), 1)
    (('good', 'bad'), ('not b', 'b'))
    """
    named = classes[positive]
    others = [name for name in classes if name != named]
    return (others[0] if len(others) == 1 else f"not {named}"), named


def paired(
    code: NDArray[Any],
    scores: Mapping[str, Array],
    group: NDArray[np.int32] | None = None,
    classes: tuple[str, ...] = ("negative", "positive"),
    positive: int = 1,
    weight: NDArray[np.float64] | None = None,
    copies: bool = False,
) -> PairTable:
    """The pair table from class codes and checked scores: every model is sorted once, and its table made on the way."""
    if not scores:
        raise DataError("a pair table needs at least one model.", hint="a table of a model")
    placed = each_model(
        lambda values: _placed(code, values, classes, positive, weight, copies), scores.values(), code.size
    )
    cells = np.stack([cell for cell, _ in placed])
    tables = tuple(table for _, table in placed)
    return PairTable(tuple(scores), tables, cells, code, classes, positive, group, weight=weight)


PAIR_BITS: Final = 46
"""So many bits of a score are rounded away where two models are counted together: some hundred bins of each."""


def binned_pair(
    keys: Mapping[str, Array],
    code: Array,
    times: Array,
    classes: tuple[str, ...],
    positive: int,
    group: NDArray[np.int32] | None = None,
) -> PairTable:
    """The pair table of models from how many cases of a class share a bin of every one of them.

    `keys` are the bins of the rows in each model, as `cell` names them, which rise with the scores; `code` is the class
    of a row, `times` its cases, of one `group` where there are such. The tables are coarser than those of models alone.

    >>> bins = np.array([0.9, 0.4])
    >>> binned_pair({"a": bins, "b": bins}, np.array([1, 0]), np.array([20, 30]), ("0", "1"), 1)
    PairTable: 2 models on 50 cases, 20 positive
    """
    tables, cells = [], []
    for key in keys.values():
        values, place = np.unique(np.asarray(key, dtype=np.float64) + 0.0, return_inverse=True)
        cell = code.astype(np.int32) * np.int32(values.size) + (values.size - 1 - place).astype(np.int32)
        counts = np.bincount(cell, times, minlength=len(classes) * values.size).astype(np.int64)
        tables.append(ScoreTable(values[::-1].copy(), counts.reshape(len(classes), -1), classes, positive))
        cells.append(cell)
    order = np.lexsort(cells[::-1])  # a cell tells the class: those of a class keep together
    held = np.stack(cells)[:, order]
    group = None if group is None else group[order]
    return PairTable(tuple(keys), tuple(tables), held, code[order], classes, positive, group, times=times[order])


def each_model(function: Callable[[Any], Any], models: Iterable[Any], cases: int) -> list[Any]:
    """The function's value for every model; on threads where there are many cases, as sorting releases the GIL."""
    if cases < _MANY:
        return list(map(function, models))
    with threads() as pool:
        return list(pool.map(function, models))


def _placed(
    code: NDArray[Any],
    score: Array,
    classes: tuple[str, ...],
    positive: int,
    weight: NDArray[np.float64] | None,
    copies: bool,
) -> tuple[NDArray[np.int32], ScoreTable]:
    """The cell of each case in the table of its scores, and that table; one sort of indices."""
    order = np.argsort(-score)
    values = score[order] + 0.0
    new = np.append(True, values[1:] != values[:-1])
    row = np.cumsum(new, dtype=np.int32) - np.int32(1)
    cell = np.empty_like(row)
    cell[order] = row
    values = values[new]
    cell += code.astype(np.int32) * np.int32(values.size)
    counts, squares = counted_at(cell, (len(classes), values.size), weight, copies)
    if weight is None:  # mostly ones: bytes hold them, and memory is what takes the time
        counts = counts.astype(np.min_scalar_type(int(counts.max())))
    return cell, ScoreTable(values, counts, classes, positive, squares=squares)

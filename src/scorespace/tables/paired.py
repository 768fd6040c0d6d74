"""Pair tables: the scores of several models on the same cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, listing
from scorespace.results import ByValue, grouped
from scorespace.tables.case_costs import CostColumns, cost_table
from scorespace.tables.chunks import thread_pool
from scorespace.tables.columns import validate_scores
from scorespace.tables.labels import encode, encode_classes, positive_index
from scorespace.tables.periods import period_table_of_codes
from scorespace.tables.score_arrays import prevalence_factors
from scorespace.tables.scores import ScoreTable
from scorespace.tables.table import Array
from scorespace.tables.threshold import At
from scorespace.tables.weighted_quantiles import count_by_index

_MIN_CASES_FOR_THREADS: Final = 20_000  # number of cases from which threads are faster


@dataclass(frozen=True, eq=False)
class PairTable(ByValue):
    """The class of each case and its cell in the table of every model, which links the models of a sample.

    `cell` (n_models, n_cases) indexes the cells of `tables`; `code` is the class of each case, an index of `classes`,
    one of which may be `positive`. `group` is the group index of each case, `fold` the fold in which it was tested and
    `repeat` the repetition of the cross-validation; `weight` is its weight, `time` its rank in time, `costs` the costs
    of its outcomes and `period` its period, an index of `periods`; each of these is optional. For binned data, a row
    represents `times` cases that share a bin of every model. `ratio` is the ratio
    of test to training cases in a fold, if known.

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
    costs: CostColumns | None = None
    period: NDArray[np.int32] | None = None
    periods: tuple[str, ...] = ()

    @property
    def cases(self) -> int:
        """Number of rows: the number of cases, unless they are binned."""
        return int(self.code.size)

    def counted(self, chosen: NDArray[np.bool_]) -> int:
        """Number of cases in the chosen rows."""
        return int(chosen.sum() if self.times is None else self.times[chosen].sum())

    @cached_property
    def label(self) -> NDArray[np.uint8]:
        """1 for positives, 0 for all other cases."""
        return (self.code == (-1 if self.positive is None else self.positive)).astype(np.uint8)

    @cached_property
    def place(self) -> NDArray[np.int32]:
        """Index of each case among the distinct scores of every model, shape (n_models, n_cases)."""
        rows = np.array([table.score.size for table in self.tables], dtype=np.int32)
        return self.cell % rows[:, None]

    def index(self, model: str) -> int:
        """Row of a model."""
        if model not in self.models:
            raise DataError(f"there is no model {model!r}.", seen=listing(self.models), hint="one of these")
        return self.models.index(model)

    def only(self, *models: str) -> PairTable:
        """The table of a subset of the models, in the given order."""
        rows = [self.index(model) for model in models]
        return replace(self, models=tuple(models), cell=self.cell[rows], tables=tuple(self.tables[k] for k in rows))

    def scoring(self) -> PairTable:
        """The table with every model as scores of the positive class; decisions score 1 or 0."""
        return self._map_tables(lambda table, cell: table.ranked(cell))

    def _map_tables(self, change: Callable[[Any, Array], tuple[Any, Array]], **fields: Any) -> PairTable:
        """Transform the table of every model together with the cells of its cases."""
        changed = [change(table, cell) for table, cell in zip(self.tables, self.cell, strict=True)]
        tables, cells = zip(*changed, strict=True)
        return replace(self, tables=tuple(tables), cell=np.stack(cells), **fields)

    def scores(self, model: int) -> Array:
        """Score of each case by a model."""
        return self.tables[model].score[self.place[model]]

    def decisions(self, model: int, at: float) -> NDArray[np.bool_]:
        """Which cases a model predicts positive at a threshold."""
        return self.scores(model) >= self.tables[model].in_precision(at)

    def right(self, model: int, at: At | None = None) -> NDArray[np.bool_]:
        """Which cases a model classifies correctly, at an operating point if it needs one."""
        return self.tables[model].right(at)[self.cell[model]]

    def condensed(self, rows: int) -> PairTable:
        """The cases with every model's table condensed to about `rows` rows."""

        def condense(table: Any, cell: Array) -> tuple[Any, Array]:
            merged = table.condensed_cells(rows)
            return table.condensed(rows), cell if merged is None else merged[cell]

        return self._map_tables(condense)

    def at_prevalence(self, share: float) -> PairTable:
        """The cases reweighted to the given prevalence."""
        if self.positive is None:
            return self
        old = np.ones(self.cases) if self.weight is None else self.weight
        weight = old * prevalence_factors(self.code, old, self.positive, share)
        return replace(self, tables=tuple(table.at_prevalence(share) for table in self.tables), weight=weight)

    def part(self, chosen: NDArray[np.intp]) -> PairTable:
        """The table of a subset of the cases."""
        names = ("group", "fold", "repeat", "weight", "time")
        fields = {name: None if (column := getattr(self, name)) is None else column[chosen] for name in names}
        part = self._map_tables(lambda table, cell: table.part(cell[chosen]), code=self.code[chosen], **fields)
        part = part if self.costs is None else part.with_costs(self.costs.part(chosen))
        return part if self.period is None else part.with_periods(self.period[chosen], self.periods)

    def with_periods(self, period: NDArray[np.int32], names: tuple[str, ...]) -> PairTable:
        """The cases in periods, also in the tables of the models and of their costs."""
        tables = []
        for table, cell in zip(self.tables, self.cell, strict=True):
            if not isinstance(table, ScoreTable):
                tables.append(table)
                continue
            score = table.score[cell % np.int32(table.score.size)]
            found = period_table_of_codes(self.label, score, period, names)
            costs = None if table.costs is None else replace(table.costs, period=period, periods=found)
            tables.append(replace(table, periods=found, costs=costs))
        return replace(self, tables=tuple(tables), period=period, periods=names)

    def with_costs(self, costs: CostColumns) -> PairTable:
        """The cases with the costs of each, also in the tables of the models."""
        columns: dict[str, Any] = {"weight": self.weight, "group": self.group}
        tables = []
        for table, cell in zip(self.tables, self.cell, strict=True):
            if table.positive_name is None:
                tables.append(table)
                continue
            scores, ranked = table.ranked(cell)
            values = scores.score[ranked % np.int32(scores.score.size)]
            single = table.thresholded and scores.single
            tables.append(replace(table, costs=cost_table(costs, self.label, values, single=single, **columns)))
        return replace(self, tables=tuple(tables), costs=costs)

    def __repr__(self) -> str:
        positives = "" if self.positive is None else f", {grouped(self.counted(self.label == 1))} positive"
        total = self.counted(np.ones(self.cases, dtype=bool))
        return f"PairTable: {len(self.models)} models on {grouped(total)} cases{positives}"


def pair_table(truth: Any, scores: Mapping[str, Any], *, positive: Any = None, group: Any = None) -> PairTable:
    """Build a pair table from the scores of several models on the same cases; decisions score 1 or 0."""
    codes, classes = encode_classes(truth)
    index = positive_index(classes, positive, codes)
    label = (codes == index).astype(np.uint8)
    groups = None if group is None else encode(group, "group")[0].astype(np.int32)
    values = {name: validate_scores(column, label.size) for name, column in scores.items()}
    return build_pair_table(label, values, groups, binary_class_names(classes, index))


def binary_class_names(classes: Sequence[str], positive: int) -> tuple[str, str]:
    """Names of the negative and of the positive class.

    >>> binary_class_names(("bad", "good"), 0), binary_class_names(("a", "b", "c"), 1)
    (('good', 'bad'), ('not b', 'b'))
    """
    name = classes[positive]
    others = [other for other in classes if other != name]
    return (others[0] if len(others) == 1 else f"not {name}"), name


def build_pair_table(
    code: NDArray[Any],
    scores: Mapping[str, Array],
    group: NDArray[np.int32] | None = None,
    classes: tuple[str, ...] = ("negative", "positive"),
    positive: int = 1,
    weight: NDArray[np.float64] | None = None,
    copies: bool = False,
) -> PairTable:
    """Build a pair table from class codes and validated scores; each model is sorted once."""
    if not scores:
        raise DataError("a pair table needs at least one model.", hint="the scores of a model")
    placed = map_models(
        lambda values: _cells_and_table(code, values, classes, positive, weight, copies), scores.values(), code.size
    )
    cells = np.stack([cell for cell, _ in placed])
    tables = tuple(table for _, table in placed)
    return PairTable(tuple(scores), tables, cells, code, classes, positive, group, weight=weight)


PAIR_BITS: Final = 46
"""Bits of a score that are rounded away when two models are binned jointly: a few hundred bins of each."""


def binned_pair(
    keys: Mapping[str, Array],
    code: Array,
    times: Array,
    classes: tuple[str, ...],
    positive: int,
    group: NDArray[np.int32] | None = None,
) -> PairTable:
    """Build a pair table from the number of cases of a class that share a bin of every model.

    `keys` holds the bin of each row in each model, ascending with the scores; `code` is the class of a row, `times` its
    number of cases, of one `group` if cases are grouped. Its tables are coarser than those of the single models.

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
    order = np.lexsort(cells[::-1])  # sorts by class, because a cell implies the class
    sorted_cells = np.stack(cells)[:, order]
    group = None if group is None else group[order]
    return PairTable(
        tuple(keys), tuple(tables), sorted_cells, code[order], classes, positive, group, times=times[order]
    )


def map_models(function: Callable[[Any], Any], models: Iterable[Any], cases: int) -> list[Any]:
    """Apply the function to every model, in threads if there are many cases (sorting releases the GIL)."""
    if cases < _MIN_CASES_FOR_THREADS:
        return list(map(function, models))
    with thread_pool() as pool:
        return list(pool.map(function, models))


def _cells_and_table(
    code: NDArray[Any],
    score: Array,
    classes: tuple[str, ...],
    positive: int,
    weight: NDArray[np.float64] | None,
    copies: bool,
) -> tuple[NDArray[np.int32], ScoreTable]:
    """The cell of each case in its score table, and that table, from one argsort."""
    order = np.argsort(-score)
    values = score[order] + 0.0
    new = np.append(True, values[1:] != values[:-1])
    row = np.cumsum(new, dtype=np.int32) - np.int32(1)
    cell = np.empty_like(row)
    cell[order] = row
    values = values[new]
    cell += code.astype(np.int32) * np.int32(values.size)
    counts, squares = count_by_index(cell, (len(classes), values.size), weight, copies)
    if weight is None:  # counts are mostly 1: the smallest integer type saves memory bandwidth
        counts = counts.astype(np.min_scalar_type(int(counts.max())))
    return cell, ScoreTable(values, counts, classes, positive, squares=squares)

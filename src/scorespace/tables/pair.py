"""The pair table: several models' scores on the same cases."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, listing
from scorespace.results import ByValue, grouped
from scorespace.tables.labels import encode, positive_index
from scorespace.tables.score import ScoreTable, scores_of
from scorespace.tables.table import Array

_MANY: Final = 20_000  # cases from which on a second thread pays


@dataclass(frozen=True, eq=False)
class PairTable(ByValue):
    """For each case its class and its place in every model's score table: all that paired tests depend on.

    `place` (models, cases) indexes the rows of `tables`; `label` is 1 for positives; `group` numbers
    the groups of related cases, `fold` the folds they were tested in, and `repeat` the repeats of the whole
    procedure, in each of which every case was tested once; where there are such.

    >>> pairs = pair_table([1, 0, 1, 0], {"a": [0.9, 0.4, 0.6, 0.7], "b": [1, 0, 1, 0]})
    >>> pairs
    PairTable: 2 models on 4 cases, 2 positive
    >>> pairs.place.tolist()
    [[0, 3, 2, 1], [0, 1, 0, 1]]
    """

    models: tuple[str, ...]
    place: NDArray[np.int32]
    label: NDArray[np.uint8]
    tables: tuple[ScoreTable, ...]
    group: NDArray[np.int32] | None = None
    fold: NDArray[np.int32] | None = None
    repeat: NDArray[np.int32] | None = None

    @property
    def cases(self) -> int:
        return int(self.label.size)

    def index(self, model: str) -> int:
        """The row of a model."""
        if model not in self.models:
            raise DataError(f"there is no model {model!r}.", seen=listing(self.models))
        return self.models.index(model)

    def only(self, *models: str) -> PairTable:
        """The table of some of the models, in that order."""
        kept = [self.index(model) for model in models]
        return replace(
            self,
            models=tuple(models),
            place=self.place[kept],
            tables=tuple(self.tables[k] for k in kept),
        )

    def scores(self, model: int) -> Array:
        """The scores of a model, case by case."""
        return self.tables[model].score[self.place[model]]

    def decisions(self, model: int, at: float) -> NDArray[np.bool_]:
        """Which cases a model calls positive at a threshold."""
        return self.scores(model) >= at

    def __repr__(self) -> str:
        positives = grouped(int(self.label.sum()))
        return f"PairTable: {len(self.models)} models on {grouped(self.cases)} cases, {positives} positive"


def pair_table(truth: Any, scores: Mapping[str, Any], *, positive: Any = None, group: Any = None) -> PairTable:
    """The pair table of models that scored the same cases; a crisp decision is a score of 1 or 0."""
    codes, classes = encode(truth)
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
    label: NDArray[np.uint8],
    scores: Mapping[str, Array],
    group: NDArray[np.int32] | None = None,
    classes: tuple[str, str] = ("negative", "positive"),
) -> PairTable:
    """The pair table from labels (1 positive, 0 negative) and checked scores."""
    if not scores:
        raise DataError("a pair table needs at least one model.")
    placed = each_model(lambda values: _placed(label, values, classes), scores.values(), label.size)
    places = np.stack([place for place, _ in placed])
    return PairTable(tuple(scores), places, label, tuple(table for _, table in placed), group)


def each_model(function: Callable[[Any], Any], models: Iterable[Any], cases: int) -> list[Any]:
    """The function's value for every model; on threads where there are many cases, as sorting releases the GIL."""
    if cases < _MANY:
        return list(map(function, models))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, models))


def _placed(label: NDArray[np.uint8], score: Array, classes: tuple[str, str]) -> tuple[NDArray[np.int32], ScoreTable]:
    """Where each case stands among the distinct scores, and their table; one sort of indices."""
    order = np.argsort(-score)
    values, ones = score[order] + 0.0, label[order]
    new = np.append(True, values[1:] != values[:-1])
    if new.all():
        row = np.arange(values.size, dtype=np.int32)
        counts = np.stack([1 - ones, ones])
    else:
        row = np.cumsum(new, dtype=np.int32) - np.int32(1)
        starts = np.flatnonzero(new)
        values, ones = values[starts], np.add.reduceat(ones, starts, dtype=np.int64)
        counts = np.stack([np.diff(starts, append=order.size) - ones, ones])
    place = np.empty_like(row)
    place[order] = row
    return place, ScoreTable(values, counts, classes, 1)

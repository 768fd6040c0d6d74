"""The pair table: several models' scores on the same cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, listing
from scorespace.results import ByValue, grouped
from scorespace.tables.counts import Array
from scorespace.tables.labels import encode, positive_index
from scorespace.tables.score import ScoreTable, scores_of


@dataclass(frozen=True, eq=False)
class PairTable(ByValue):
    """For each case its class and its place in every model's score table: all that paired tests depend on.

    `place` (models, cases) indexes the rows of `tables`; `label` is 1 for positives; `group` numbers
    the groups of related cases and `fold` the folds they were tested in, where there are such.

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

    @property
    def cases(self) -> int:
        return int(self.label.size)

    def index(self, model: str) -> int:
        """The row of a model."""
        if model not in self.models:
            raise DataError(f"there is no model {model!r}.", seen=listing(self.models))
        return self.models.index(model)

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
    placed = [_placed(label, values, classes) for values in scores.values()]
    places = np.stack([place for place, _ in placed])
    return PairTable(tuple(scores), places, label, tuple(table for _, table in placed), group)


def _placed(label: NDArray[np.uint8], score: Array, classes: tuple[str, str]) -> tuple[NDArray[np.int32], ScoreTable]:
    """Where each case stands among the distinct scores, and their table; one sort of indices."""
    order = np.argsort(-score)
    values = score[order] + 0.0
    new = np.append(True, values[1:] != values[:-1])
    row = np.cumsum(new, dtype=np.int32) - np.int32(1)
    place = np.empty_like(row)
    place[order] = row
    size = int(row[-1]) + 1
    ones = np.bincount(row, label[order], minlength=size).astype(np.int64)
    counts = np.stack([np.bincount(row, minlength=size) - ones, ones])
    return place, ScoreTable(values[new], counts, classes, 1)

"""From cases that were tested in folds and repeats to the tests over them: each design has its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scorespace.comparisons.comparison import Comparison
from scorespace.comparisons.folds import bayes_correlated_t, corrected_t, five_by_two_f, five_by_two_t, paired_t
from scorespace.comparisons.repeated import ROPE, PairTest, Posterior, extent
from scorespace.errors import DataError, ScoreSpaceError
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.request import bind
from scorespace.results import Note, grouped, note
from scorespace.tables import Array
from scorespace.tables.pair import PairTable

FIVE_BY_TWO: Final = {"5x2cv-t": five_by_two_t, "5x2cv-f": five_by_two_f}
OVER_FOLDS: Final = ("corrected-t", "paired-t", *FIVE_BY_TWO, "bayes-t")
"""The tests of differences within folds, by the name users type."""


def fold_places(pairs: PairTable) -> tuple[NDArray[np.int64], tuple[int, int]]:
    """The place of each case in the array of repeats × folds, and the shape of that array.

    Folds are numbered within their repeat, so that it does not matter whether every repeat names its folds anew.

    >>> from scorespace.tables.pair import pair_table
    >>> fold, repeat = np.array([3, 4, 1, 2], dtype=np.int32), np.array([1, 1, 0, 0], dtype=np.int32)
    >>> pairs = replace(pair_table([1, 0, 1, 0], {"a": [4, 3, 2, 1]}), fold=fold, repeat=repeat)
    >>> fold_places(pairs)
    (array([2, 3, 0, 1]), (2, 2))
    """
    assert pairs.fold is not None
    repeat = np.zeros(pairs.cases, dtype=np.int64) if pairs.repeat is None else pairs.repeat.astype(np.int64)
    step = int(pairs.fold.max()) + 1
    present, place = np.unique(repeat * step + pairs.fold, return_inverse=True)
    folds = np.unique(np.unique(present // step, return_counts=True)[1])
    if folds.size > 1:
        raise DataError(
            "the repeats have different numbers of folds.",
            seen=f"from {folds[0]} to {folds[-1]} folds",
            hint="all folds of every repeat",
        )
    return place, (present.size // int(folds[0]), int(folds[0]))


def by_fold(pairs: PairTable, model: int, spec: MeasureSpec) -> Array:
    """A measure of one model within each fold, as repeats × folds; NaN where it is undefined there."""
    place, shape = fold_places(pairs)
    table, count = pairs.tables[model], shape[0] * shape[1]
    cells = (place * 2 + pairs.label) * table.score.size + pairs.place[model]
    counts = np.bincount(cells, minlength=count * 2 * table.score.size).reshape(*shape, 2, table.score.size)
    found = bind(spec, replace(table, counts=counts))
    return np.asarray(found.formula(found.table), dtype=np.float64)


def over_folds(
    kind: str,
    pairs: PairTable,
    i: int,
    j: int,
    spec: MeasureSpec,
    *,
    level: float = 0.95,
    rope: float = ROPE,
) -> Comparison:
    """The test of that kind of the differences within folds; folds in which the measure is undefined are counted.

    The k folds of a repeat tell the ratio of test to training cases, 1/(k − 1), and their correlation, 1/k.
    """
    values = [by_fold(pairs, k, spec) for k in (i, j)]
    names, measure = (pairs.models[i], pairs.models[j]), str(spec)
    usable = np.isfinite(values[0]) & np.isfinite(values[1])
    repeats, folds = usable.shape
    if folds < 2:
        raise ScoreSpaceError(f"{kind} compares folds, but there is only one.", hint="fold=… a column of two or more")
    if kind in FIVE_BY_TWO:
        if (repeats, folds) != (5, 2):
            raise DataError(
                f"{kind} needs five repeats of two folds.",
                seen=f"{extent(repeats, 'repeats')} of {extent(folds, 'folds')}",
                hint="repeat=…" if pairs.repeat is None else 'test="corrected-t" is for any number',
            )
        if not usable.all():
            reason = f"{spec} is undefined in {int((~usable).sum())} of the ten folds"
            return Comparison(*names, kind, measure, level=level, reason=reason)
        return FIVE_BY_TWO[kind](*values, names=names, measure=measure, level=level)
    if usable.sum() < 2:
        return Comparison(*names, kind, measure, level=level, reason="it is defined in fewer than two folds")
    a, b = (table[usable] for table in values)
    found: PairTest | Posterior
    if kind == "bayes-t":
        posterior = bayes_correlated_t(a, b, rho=1 / folds, rope=rope, names=names, measure=measure)
        found = replace(posterior, level=level)
    elif kind == "paired-t":
        found = paired_t(a, b, names=names, measure=measure, level=level)
    else:
        found = corrected_t(a, b, ratio=1 / (folds - 1), names=names, measure=measure, level=level)
    lost = int((~usable).sum())
    if not lost:
        return found
    text = f"{lost} of {usable.size} folds are left out: {spec} is undefined there."
    return replace(found, notes=(*found.notes, note("SS019", text)))


def design_notes(pairs: PairTable) -> list[Note]:
    """Whether related cases stand in different folds of a repeat: then models were trained on kin of test cases."""
    if pairs.group is None:
        return []
    place, (repeats, folds) = fold_places(pairs)
    seen = np.unique(pairs.group.astype(np.int64) * repeats * folds + place)  # each group in each fold once
    within, times = np.unique(seen // folds, return_counts=True)  # folds of a group within a repeat
    split = np.unique(within[times > 1] // repeats)
    if not split.size:
        return []
    text = (
        f"{grouped(split.size)} of {grouped(int(pairs.group.max()) + 1)} groups occur in several folds, so models "
        "were trained on cases related to those they are tested on: what holds within these groups need not hold for "
        "new ones."
    )
    return [note("SS032", text)]

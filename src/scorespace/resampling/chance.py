"""What calibrated scores show by chance: labels drawn from the scores as they stand, once for all who ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scorespace.resampling.draw import replicated
from scorespace.resampling.lighter import ROWS, Draw
from scorespace.resampling.worlds import labels_again, relabelled
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.counts import class_factors
from scorespace.tables.order import starts_of

LABELLINGS: Final = 400
_QUANTILES: Final = 32  # of a class, between which its share runs straight


def by_chance(
    table: ScoreTable,
    name: str,
    formula: Callable[[ScoreTable], Array],
    *,
    replicates: int = LABELLINGS,
    seed: int = 0,
    prevalence: float | None = None,
) -> tuple[float, Array] | None:
    """A measure, and its values where every case is positive with the probability of its score; None without counts.

    Neighbouring scores are merged where they are many, and the value is that of the merged ones too, with which the
    others can be compared. What is found stays with the table, so that whoever asks has the same numbers. For a stated
    `prevalence`, scores are probabilities there, and labels of the sample are drawn with the odds of its own shares.

    >>> from scorespace.measures.decomposition import cal
    >>> from scorespace.tables import score_table
    >>> seen, drawn = by_chance(score_table([1, 0, 1, 0], [1, 0, 1, 0]), "cal", cal.function)
    >>> seen, float(drawn.max())
    (0.0, 0.0)
    """
    kept = table.__dict__.setdefault("by_chance", {})
    key = name, replicates, seed, prevalence
    if key not in kept:
        counts = counts_of(table)
        if counts is None:
            return None
        light = merged(counts, ROWS)
        source = light if prevalence is None else in_sample(light, prevalence)

        # A case keeps the weight of its class in the sample: calibrated scores have a prevalence of their own.
        pos, neg = (1, 1) if prevalence is None else class_factors(light.n_pos, light.n_neg, prevalence)
        of_class = np.where(np.arange(len(light.classes)) == light.positive, pos, neg)[:, None]

        def value(table: ScoreTable) -> Array:
            return formula(replace(table, score=light.score, counts=table.counts * of_class))

        drawn = replicated(label_resampler(source), value, light.counts.size, replicates=replicates, seed=seed)
        kept[key] = float(np.asarray(value(light))), drawn
    found: tuple[float, Array] = kept[key]
    return found


def in_sample(table: ScoreTable, prevalence: float) -> ScoreTable:
    """The table with the scores that are calibrated in it where its own are at that prevalence.

    Odds are multiplied by those of the sample over those of the prevalence.

    >>> from scorespace.tables import score_table
    >>> in_sample(score_table([1, 0], [0.2, 0.1]), 0.2).score.round(3).tolist()
    [0.5, 0.308]
    """
    pos, neg = class_factors(np.asarray(prevalence), np.asarray(1 - prevalence), float(table.n_pos / table.total))
    return replace(table, score=ratio(table.score * pos, table.score * pos + (1 - table.score) * neg), bins=None)


def counts_of(table: ScoreTable) -> ScoreTable | None:
    """The table with a count of cases in every cell, where that is known: of copies, or of cases that weigh the same.

    >>> from scorespace.tables import score_table
    >>> counts_of(score_table([1, 0, 1], [0.9, 0.4, 0.4], weight=[100, 100, 100])).pos.tolist()
    [1.0, 1.0]
    """
    cells, squares = table.cells, table.cell_squares
    if squares is None:
        return table if table.whole else None
    weight = squares[cells > 0] / cells[cells > 0]  # that of each case, where all cases of a cell have the same
    if not weight.size or np.ptp(weight) > 1e-9 * weight.max():
        return None
    return table.with_cells(np.rint(cells / weight[0]))


def merging(table: ScoreTable, rows: int) -> NDArray[np.intp]:
    """Where the rows of the merged table begin.

    The share of a class runs straight between a few of its quantiles, so that no row is cut out around a single case:
    labels that are drawn again would not be.
    """
    cases = table.counts.sum(axis=-2, dtype=np.float64)
    middle = np.cumsum(cases) - cases / 2
    present = [column.astype(np.float64) for column in table.columns if column.any()]
    share = np.zeros(table.score.size)
    for column in present:
        steps = np.linspace(0, 1, 1 + max(1, min(_QUANTILES, int(np.count_nonzero(column)) // 5)))
        reached = np.cumsum(column) / column.sum()
        places = middle[np.minimum(np.searchsorted(reached, steps[1:-1]), middle.size - 1)]
        share += np.interp(middle, [0.0, *places, float(cases.sum())], steps) / len(present)
    return starts_of((np.arcsin(np.sqrt(np.clip(share, 0, 1))) * (2 * rows / np.pi)).astype(np.int64))


def merged(table: ScoreTable, rows: int) -> ScoreTable:
    """Neighbouring scores merged into about that many rows, each at its mean score: enough to draw labels from.

    A row holds a like share of both classes together, ½ (TPR + FPR), finer towards both ends: where positives are
    rare, half of them would else lie in a few rows, and what is fitted to them would hardly show.

    >>> from scorespace.tables import score_table
    >>> merged(score_table([1, 0, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.3, 0.1]), 3).score.round(2)
    array([0.9 , 0.45, 0.1 ])
    """
    if table.score.size <= rows:
        return table
    starts = merging(table, rows)
    ends = np.append(starts[1:], table.score.size) - 1
    cases = table.counts.sum(axis=-2, dtype=np.float64)
    sums = cases * table.score if table.bins is None else table.bins.first.sum(axis=0)
    weight, scored = (np.add.reduceat(column, starts) for column in (cases, sums))
    # Rounding must not carry a mean out of its row.
    mean = np.divide(scored, weight, out=table.score[ends].copy(), where=weight > 0)
    score = np.clip(mean, table.score[ends], table.score[starts])
    counts = np.add.reduceat(table.counts.astype(np.float64), starts, axis=-1)
    squares = None if table.squares is None else np.add.reduceat(table.squares, starts, axis=-1)
    width = max(float((table.score[starts] - table.score[ends]).max()), table.resolution)
    return replace(table, score=score, counts=counts, squares=squares, bins=None, resolution=width)


def label_resampler(table: ScoreTable) -> Draw:
    """What draws replicates of a table in which every case is positive with the probability of its score."""
    cases = table.counts.sum(axis=-2, dtype=np.int64)
    single, inner = bool((cases == 1).all()), bool(((table.score > 0) & (table.score < 1)).all())

    def draw(rng: np.random.Generator, count: int) -> ScoreTable:
        hits: Array
        if single:
            hits = (rng.random((count, cases.size)) < table.score).astype(np.uint8)
        elif inner:
            hits = labels_again(cases, table.score, rng, count)
        else:
            hits = rng.binomial(cases, table.score, (count, cases.size))
        return relabelled(table, hits)

    return draw

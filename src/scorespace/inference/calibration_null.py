"""Null distribution of calibration measures: labels drawn from the scores, as if these were perfectly calibrated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scorespace.inference.bootstrap import evaluate_replicates
from scorespace.inference.parametric_bootstrap import draw_labels, with_positives
from scorespace.inference.subsampling import CONDENSED_ROWS, Draw
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.counts import class_factors
from scorespace.tables.weighted_quantiles import run_starts

LABELLINGS: Final = 400
_QUANTILES: Final = 32  # quantiles of a class between which its cumulative share is linear


def calibration_null(
    table: ScoreTable,
    name: str,
    formula: Callable[[ScoreTable], Array],
    *,
    replicates: int = LABELLINGS,
    seed: int = 0,
    prevalence: float | None = None,
) -> tuple[float, Array] | None:
    """Return a measure and its values under perfect calibration; None where cells hold no counts of cases.

    Every case is drawn positive with the probability of its score. Where there are many scores, neighbours are merged,
    and the returned value is that of the merged table, comparable to the draws. Results are cached on the table, so
    that all callers have the same numbers. For a stated `prevalence`, scores are probabilities at that prevalence, and
    labels are drawn with odds adjusted to the sample.

    >>> from scorespace.measures.decomposition import cal
    >>> from scorespace.tables import score_table
    >>> seen, drawn = calibration_null(score_table([1, 0, 1, 0], [1, 0, 1, 0]), "cal", cal.function)
    >>> seen, float(drawn.max())
    (0.0, 0.0)
    """
    cache = table.__dict__.setdefault("by_chance", {})
    key = name, replicates, seed, prevalence
    if key not in cache:
        counts = as_counts(table)
        if counts is None:
            return None
        light = merge_scores(counts, CONDENSED_ROWS)
        source = light if prevalence is None else at_sample_prevalence(light, prevalence)

        # A case keeps the weight of its class in the sample, since drawn labels have another prevalence.
        pos, neg = (1, 1) if prevalence is None else class_factors(light.n_pos, light.n_neg, prevalence)
        class_weights = np.where(np.arange(len(light.classes)) == light.positive, pos, neg)[:, None]

        def value(table: ScoreTable) -> Array:
            return formula(replace(table, score=light.score, counts=table.counts * class_weights))

        drawn = evaluate_replicates(label_resampler(source), value, light.counts.size, replicates=replicates, seed=seed)
        cache[key] = float(np.asarray(value(light))), drawn
    result: tuple[float, Array] = cache[key]
    return result


def at_sample_prevalence(table: ScoreTable, prevalence: float) -> ScoreTable:
    """Return the table with scores recalibrated from the stated prevalence to that of the sample.

    Odds are multiplied by the prevalence odds of the sample over the stated ones.

    >>> from scorespace.tables import score_table
    >>> at_sample_prevalence(score_table([1, 0], [0.2, 0.1]), 0.2).score.round(3).tolist()
    [0.5, 0.308]
    """
    pos, neg = class_factors(np.asarray(prevalence), np.asarray(1 - prevalence), float(table.n_pos / table.total))
    return replace(table, score=ratio(table.score * pos, table.score * pos + (1 - table.score) * neg), bins=None)


def as_counts(table: ScoreTable) -> ScoreTable | None:
    """Return the table with counts of cases in its cells, where known: unweighted, copies, or equal weights; else None.

    >>> from scorespace.tables import score_table
    >>> as_counts(score_table([1, 0, 1], [0.9, 0.4, 0.4], weight=[100, 100, 100])).pos.tolist()
    [1.0, 1.0]
    """
    cells, squares = table.cells, table.cell_squares
    if squares is None:
        return table if table.whole else None
    weight = squares[cells > 0] / cells[cells > 0]  # weight of each case, if all cases of a cell have the same
    if not weight.size or np.ptp(weight) > 1e-9 * weight.max():
        return None
    return table.with_cells(np.rint(cells / weight[0]))


def merge_starts(table: ScoreTable, rows: int) -> NDArray[np.intp]:
    """Return the first row of each merged row.

    The cumulative share of a class is linear between a few of its quantiles, so that no row isolates a single case,
    which would not happen with newly drawn labels.
    """
    cases = table.counts.sum(axis=-2, dtype=np.float64)
    middle = np.cumsum(cases) - cases / 2
    present = [column.astype(np.float64) for column in table.columns if column.any()]
    share = np.zeros(table.score.size)
    for column in present:
        steps = np.linspace(0, 1, 1 + max(1, min(_QUANTILES, int(np.count_nonzero(column)) // 5)))
        reached = np.cumsum(column) / column.sum()
        knots = middle[np.minimum(np.searchsorted(reached, steps[1:-1]), middle.size - 1)]
        share += np.interp(middle, [0.0, *knots, float(cases.sum())], steps) / len(present)
    return run_starts((np.arcsin(np.sqrt(np.clip(share, 0, 1))) * (2 * rows / np.pi)).astype(np.int64))


def merge_scores(table: ScoreTable, rows: int) -> ScoreTable:
    """Merge neighbouring scores into about `rows` rows, each at its mean score: enough to draw labels from.

    Rows have similar shares of both classes, ½ (TPR + FPR), finer towards both ends. Otherwise half of the positives of
    a rare class would be in a few rows, and overfitting to them would hardly show.

    >>> from scorespace.tables import score_table
    >>> merge_scores(score_table([1, 0, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.3, 0.1]), 3).score.round(2)
    array([0.9 , 0.45, 0.1 ])
    """
    if table.score.size <= rows:
        return table
    starts = merge_starts(table, rows)
    ends = np.append(starts[1:], table.score.size) - 1
    cases = table.counts.sum(axis=-2, dtype=np.float64)
    sums = cases * table.score if table.bins is None else table.bins.first.sum(axis=0)
    weight, scored = (np.add.reduceat(column, starts) for column in (cases, sums))
    # Rounding must not move a mean out of its row.
    mean = np.divide(scored, weight, out=table.score[ends].copy(), where=weight > 0)
    score = np.clip(mean, table.score[ends], table.score[starts])
    counts = np.add.reduceat(table.counts.astype(np.float64), starts, axis=-1)
    squares = None if table.squares is None else np.add.reduceat(table.squares, starts, axis=-1)
    width = max(float((table.score[starts] - table.score[ends]).max()), table.resolution)
    return replace(table, score=score, counts=counts, squares=squares, bins=None, resolution=width)


def label_resampler(table: ScoreTable) -> Draw:
    """Return a sampler of tables in which every case is positive with the probability of its score."""
    cases = table.counts.sum(axis=-2, dtype=np.int64)
    is_one_case_each, is_open_interval = bool((cases == 1).all()), bool(((table.score > 0) & (table.score < 1)).all())

    def draw(rng: np.random.Generator, count: int) -> ScoreTable:
        positives: Array
        if is_one_case_each:
            positives = (rng.random((count, cases.size)) < table.score).astype(np.uint8)
        elif is_open_interval:
            positives = draw_labels(cases, table.score, rng, count)
        else:
            positives = rng.binomial(cases, table.score, (count, cases.size))
        return with_positives(table, positives)

    return draw

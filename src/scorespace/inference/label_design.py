"""Which rows to label next: probabilities of being chosen that keep the variance of a measure small.

Reference: Särndal, Swensson and Wretman (1992), "Model Assisted Survey Sampling", chapter 3 (Poisson sampling).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from scorespace.errors import MeasureError
from scorespace.inference.prediction_powered import reason_not_smooth
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.request import Request, bind
from scorespace.tables import Array, ScoreTable, TopCases

SAFETY: Final = 0.2
"""Share of the probabilities that is alike for all rows, against wrong probabilities of the classes."""
_ROWS: Final = 512  # distinct scores at which influences are computed
_STEP: Final = 1e-5  # step of numerical derivatives, as a share of all cases


def soft_table(score: Array, probability: Array) -> tuple[ScoreTable, Array]:
    """Table of cases that are positive with a probability, and the place of each case among its distinct scores.

    >>> table, place = soft_table(np.array([0.2, 0.9, 0.2]), np.array([0.2, 0.9, 0.2]))
    >>> table.pos.tolist(), place.tolist()
    ([0.9, 0.4], [1, 0, 1])
    """
    values, inverse = np.unique(-score, return_inverse=True)
    weights = np.stack([np.bincount(inverse, part, values.size) for part in (1 - probability, probability)])
    return ScoreTable(-values + 0.0, weights, ("negative", "positive"), 1), inverse


def influences(request: Request, table: ScoreTable) -> Array:
    """Influence of a case in each cell on a measure: n · dθ/dw, shape (2, distinct scores); negatives first.

    >>> from scorespace.measures import parse
    >>> table = ScoreTable(np.array([0.9, 0.4]), np.array([[1.0, 3.0], [3.0, 1.0]]), ("n", "p"), 1)
    >>> influences(bind(parse("acc@0.5"), table), table).round(2).tolist()
    [[-0.75, 0.25], [0.25, -0.75]]
    """
    cells = np.asarray(table.cells, dtype=np.float64)
    step = _STEP * cells.sum()
    moved = np.asarray(request.on(table.with_cells(cells + step * np.eye(cells.size))), dtype=np.float64)
    return np.asarray((moved - float(request.on(table.with_cells(cells)))) * cells.sum() / step).reshape(2, -1)


def spreads(spec: MeasureSpec, score: Array, probability: Array) -> Array:
    """Root mean square influence of each case on a measure, over its unknown class: √(p ψ₁² + (1 − p) ψ₀²)."""
    if isinstance(spec.at, TopCases) and not spec.at.percent:
        raise MeasureError(
            f"{spec} needs the truth of the highest scores only.",
            hint=f"label the {spec.at.size:g} rows with the highest scores: the value is then exact for these rows",
        )
    full, place = soft_table(score, probability)
    merged = full.condensed_cells(_ROWS)
    table = full if merged is None else full.condensed(_ROWS)
    request = bind(spec, table)
    reason = reason_not_smooth(request)
    if reason is not None:
        raise MeasureError(f"{spec} gives no probabilities of labelling: {reason}.", hint="auc, tpr@0.5 or cost@0.5")
    found = influences(request, table)
    if merged is not None:
        place = merged[: full.score.size][place] % table.score.size
    psi = np.nan_to_num(found)[:, place]
    return np.sqrt(probability * psi[1] ** 2 + (1 - probability) * psi[0] ** 2)


def label_probabilities(spread: Array, budget: int, safety: float = SAFETY) -> Array:
    """Probability of each row to be labelled: in proportion to its spread, with a part alike for all; at most 1.

    >>> label_probabilities(np.array([0.0, 1.0, 1.0, 8.0]), 2).round(2).tolist()
    [0.16, 0.42, 0.42, 1.0]
    """
    mean = spread.mean()
    relative = (1 - safety) * (spread / mean if mean > 0 else np.ones_like(spread)) + safety
    order = np.sort(relative)[::-1]
    rest = np.cumsum(order[::-1])[::-1]  # sum of what remains when the first k rows have probability 1
    capped = np.arange(order.size)
    is_enough = (budget - capped) * order <= rest
    first = int(is_enough.argmax())
    return np.minimum(1.0, (budget - first) * relative / rest[first])


def gain(spread: Array, probability: Array) -> float:
    """How many random labels one chosen label is worth: ratio of the variances at the same expected number."""
    budget = probability.sum()
    random, chosen = spread.size / budget * (spread**2).sum(), (spread**2 / probability).sum()
    return float(random / chosen) if chosen > 0 else 1.0

"""Columns of scores: were they made for rows that the model had learnt, and was a row scored twice?"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from scorespace.auditing.association import area
from scorespace.auditing.finding import Seen, finding, first_rows
from scorespace.auditing.free import torn_apart
from scorespace.frozen import dataclass
from scorespace.results import Row, decimals, grouped, p_text

_BETTER = 0.03
_BOLDER = 0.02


@dataclass(frozen=True)
class Judged:
    """How well a score separates, how far it is from the truth and how much further than it claims, with errors."""

    area: float
    error: float
    squares: float
    rows: int
    beyond: float = math.nan
    beyond_error: float = math.nan


@dataclass(frozen=True)
class Scored:
    """A column of scores on these rows, and on held-out rows where there are any."""

    column: str
    target: str
    here: Judged
    held_out: Judged | None
    other: str
    twice: int = 0
    differing: int = 0
    examples: tuple[Row, ...] = ()


def judged(score: NDArray[np.float64], positive: NDArray[np.bool_]) -> Judged:
    """AUC with its error (DeLong), and where scores are probabilities the mean square of score − truth.

    Calibrated scores claim a mean square of s (1 − s); what it is beyond that is 0 for them, and above for bold ones.
    """
    there = np.isfinite(score)
    score, positive = score[there], positive[there]
    hits, others = int(positive.sum()), int((~positive).sum())
    if not hits or not others:
        return Judged(math.nan, math.nan, math.nan, score.size)
    ranks = stats.rankdata(score)
    own = np.empty_like(ranks)
    own[positive], own[~positive] = stats.rankdata(score[positive]), stats.rankdata(score[~positive])
    above = (ranks - own)[positive] / others
    below = (ranks - own)[~positive] / hits
    variance = np.var(above, ddof=min(1, hits - 1)) / hits + np.var(below, ddof=min(1, others - 1)) / others
    found, error = area(score, positive), math.sqrt(float(variance))
    if score.min() < 0 or score.max() > 1:
        return Judged(found, error, math.nan, score.size)
    squares = (score - positive) ** 2
    beyond = squares - score * (1 - score)
    of_beyond = float(beyond.std(ddof=1)) / math.sqrt(score.size)
    return Judged(found, error, float(squares.mean()), score.size, float(beyond.mean()), of_beyond)


def scored_twice(cases: NDArray[np.uint64], score: NDArray[np.float64]) -> tuple[int, int, tuple[Row, ...]]:
    """How many rows score a case again, how many of these cases got different scores, and some of them."""
    inverse, counts, differ = torn_apart(score, cases)
    again = int(np.sum(counts - 1))
    return again, int(differ.sum()), first_rows(inverse == np.argmax(counts)) if again else ()


@finding(
    "SS170",
    "warning",
    "scores of rows that the model had learnt",
    "Judge the model on rows it has not seen: cross-validate, or hold some out.",
)
def learnt(scored: Scored) -> Iterator[Seen]:
    here, there = scored.here, scored.held_out
    if there is not None and not math.isnan(there.area + here.area):
        difference = here.area - there.area
        p = _above(difference, here.error, there.error)
        bolder = there.beyond - here.beyond
        p_bolder = _above(bolder, here.beyond_error, there.beyond_error)
        if difference >= _BETTER and p < 0.01:
            squares = (
                f", its mean squared error {decimals(here.squares)} instead of {decimals(there.squares)}"
                if here.squares < there.squares
                else ""
            )
            yield Seen(
                (scored.column, scored.target),
                f"{scored.column!r} separates the classes better here (AUC {decimals(here.area)}) than in "
                f"{scored.other} ({decimals(there.area)}; {p_text(p)}){squares}: it seems fitted to these rows.",
                {"auc": here.area, "auc_held_out": there.area, "p": p},
            )
        elif bolder >= _BOLDER and there.beyond >= _BOLDER and p_bolder < 0.01:
            yield Seen(
                (scored.column, scored.target),
                f"{scored.column!r} is as far from the truth here as it claims (mean squared error "
                f"{decimals(here.squares)}), and further in {scored.other} ({decimals(there.squares)}, "
                f"{decimals(there.beyond)} beyond its claim; {p_text(p_bolder)}): it seems fitted to these rows.",
                {"squares": here.squares, "squares_held_out": there.squares, "p": p_bolder},
            )
    elif here.area >= 0.999 and here.rows >= 30:
        yield Seen(
            (scored.column, scored.target),
            f"{scored.column!r} separates the classes of {scored.target!r} almost perfectly "
            f"(AUC {decimals(here.area, 4)}): scores of new cases hardly ever do.",
            {"auc": here.area},
        )


def _above(difference: float, *errors: float) -> float:
    """The one-sided p of a difference with these errors."""
    error = math.hypot(*errors)
    return float(stats.norm.sf(difference / error)) if error > 0 else float(not difference > 0)


@finding("SS171", "warning", "rows that are scored twice", "Keep one row for each case and model.")
def twice(scored: Scored) -> Iterator[Seen]:
    if scored.twice:
        different = f", {grouped(scored.differing)} cases with different scores" if scored.differing else ""
        yield Seen(
            (scored.column,),
            f"{grouped(scored.twice)} rows of {scored.column!r} score a case again{different}.",
            {"rows": scored.twice, "differing": scored.differing},
            scored.examples,
        )

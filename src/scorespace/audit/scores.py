"""Checks of score columns: scores of training rows, and cases scored twice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from scorespace.audit.association import auc
from scorespace.audit.cheap_checks import find_split_groups
from scorespace.audit.finding import Occurrence, finding, first_rows
from scorespace.results import Row, decimals, grouped, p_text

_AUC_GAP = 0.03
_CALIBRATION_GAP = 0.02


@dataclass(frozen=True)
class ScoreQuality:
    """AUC and mean squared error of a score, and its excess over that of calibrated scores, with standard errors."""

    area: float
    error: float
    squares: float
    rows: int
    beyond: float = math.nan
    beyond_error: float = math.nan


@dataclass(frozen=True)
class AuditedScores:
    """Quality of a score column on these rows, and on held-out rows if there are any."""

    column: str
    target: str
    here: ScoreQuality
    held_out: ScoreQuality | None
    other: str
    twice: int = 0
    differing: int = 0
    examples: tuple[Row, ...] = ()


def assess_quality(score: NDArray[np.float64], positive: NDArray[np.bool_]) -> ScoreQuality:
    """AUC with its standard error (DeLong et al. 1988), and for probabilities the mean squared error.

    Calibrated scores have mean squared error s (1 − s); the excess is 0 for them and positive for overconfident ones.
    """
    is_finite = np.isfinite(score)
    score, positive = score[is_finite], positive[is_finite]
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    if not n_positive or not n_negative:
        return ScoreQuality(math.nan, math.nan, math.nan, score.size)
    ranks = stats.rankdata(score)
    own_ranks = np.empty_like(ranks)
    own_ranks[positive], own_ranks[~positive] = stats.rankdata(score[positive]), stats.rankdata(score[~positive])
    above = (ranks - own_ranks)[positive] / n_negative
    below = (ranks - own_ranks)[~positive] / n_positive
    variance = (
        np.var(above, ddof=min(1, n_positive - 1)) / n_positive
        + np.var(below, ddof=min(1, n_negative - 1)) / n_negative
    )
    auc_value, error = auc(score, positive), math.sqrt(float(variance))
    if score.min() < 0 or score.max() > 1:
        return ScoreQuality(auc_value, error, math.nan, score.size)
    squares = (score - positive) ** 2
    excess = squares - score * (1 - score)
    excess_error = float(excess.std(ddof=1)) / math.sqrt(score.size)
    return ScoreQuality(auc_value, error, float(squares.mean()), score.size, float(excess.mean()), excess_error)


def find_repeated_scores(cases: NDArray[np.uint64], score: NDArray[np.float64]) -> tuple[int, int, tuple[Row, ...]]:
    """Number of rows that score a case again, number of cases with different scores, and examples."""
    inverse, counts, differ = find_split_groups(score, cases)
    n_repeated = int(np.sum(counts - 1))
    return n_repeated, int(differ.sum()), first_rows(inverse == np.argmax(counts)) if n_repeated else ()


@finding(
    "SS170",
    "warning",
    "scores of training rows",
    "Evaluate the model on unseen rows: cross-validation or a holdout.",
)
def scores_of_training_rows(scored: AuditedScores) -> Iterator[Occurrence]:
    quality, held_out = scored.here, scored.held_out
    if held_out is not None and not math.isnan(held_out.area + quality.area):
        difference = quality.area - held_out.area
        p = _one_sided_p_value(difference, quality.error, held_out.error)
        excess_gap = held_out.beyond - quality.beyond
        p_excess = _one_sided_p_value(excess_gap, quality.beyond_error, held_out.beyond_error)
        if difference >= _AUC_GAP and p < 0.01:
            squares = (
                f", its mean squared error {decimals(quality.squares)} instead of {decimals(held_out.squares)}"
                if quality.squares < held_out.squares
                else ""
            )
            yield Occurrence(
                (scored.column, scored.target),
                f"{scored.column!r} has a higher AUC here ({decimals(quality.area)}) than in "
                f"{scored.other} ({decimals(held_out.area)}; {p_text(p)}){squares}: probably fitted to these rows.",
                {"auc": quality.area, "auc_held_out": held_out.area, "p": p},
            )
        elif excess_gap >= _CALIBRATION_GAP and held_out.beyond >= _CALIBRATION_GAP and p_excess < 0.01:
            yield Occurrence(
                (scored.column, scored.target),
                f"{scored.column!r} is calibrated here (mean squared error "
                f"{decimals(quality.squares)}), but overconfident in {scored.other} ({decimals(held_out.squares)}, "
                f"{decimals(held_out.beyond)} more than expected; {p_text(p_excess)}): probably fitted to these rows.",
                {"squares": quality.squares, "squares_held_out": held_out.squares, "p": p_excess},
            )
    elif quality.area >= 0.999 and quality.rows >= 30:
        yield Occurrence(
            (scored.column, scored.target),
            f"{scored.column!r} separates the classes of {scored.target!r} almost perfectly "
            f"(AUC {decimals(quality.area, 4)}), which is rare for unseen cases.",
            {"auc": quality.area},
        )


def _one_sided_p_value(difference: float, *errors: float) -> float:
    """One-sided p-value of a difference with these standard errors."""
    error = math.hypot(*errors)
    return float(stats.norm.sf(difference / error)) if error > 0 else float(not difference > 0)


@finding("SS171", "warning", "cases scored more than once", "Keep one row per case and model.")
def repeated_scores(scored: AuditedScores) -> Iterator[Occurrence]:
    if scored.twice:
        different = f", {grouped(scored.differing)} cases with different scores" if scored.differing else ""
        yield Occurrence(
            (scored.column,),
            f"{grouped(scored.twice)} rows of {scored.column!r} score a case that was already scored{different}.",
            {"rows": scored.twice, "differing": scored.differing},
            scored.examples,
        )

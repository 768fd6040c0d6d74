"""The section on folds: means over them beside pooled values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from scorespace.results import decimals, grouped
from scorespace.views.answers import Answers
from scorespace.views.document import Block, Grid, Text

if TYPE_CHECKING:
    from scorespace.comparisons.fold_means import OverFolds

_FEW: Final = 4
"""Measures of each model that fit one screen."""


def blocks(evaluation: Answers) -> Sequence[Block]:
    """Every measure as mean over folds with its spread, and pooled; both are named, for they differ."""
    found = evaluation.over_folds
    return [Text(words(found)), grid(found)] if found else []


def brief(evaluation: Answers) -> Sequence[Block]:
    """The first measures alone."""
    found = evaluation.over_folds
    few = [one for model in evaluation.models for one in [each for each in found if each.model == model][:_FEW]]
    return [grid(few)] if few else []


def grid(found: Sequence[OverFolds]) -> Grid:
    """One row for each model and measure."""
    several = len({one.model for one in found}) > 1
    gaps = any(one.undefined for one in found)
    rows = [
        (
            f"{one.model} {one.spec}" if several else str(one.spec),
            one.text,
            decimals(one.pooled),
            *([f"{grouped(one.undefined)} of {grouped(one.folds)}"] if gaps else []),
        )
        for one in found
    ]
    columns = ("over folds", "mean ± sd", "pooled", *(["undefined folds"] if gaps else []))
    count = grouped(found[0].folds)
    caption = f"Mean and standard deviation over {count} folds; pooled is the value of all cases thrown together."
    return Grid(columns, tuple(rows), caption)


def words(found: Sequence[OverFolds]) -> str:
    """The first measure of each model in a sentence."""
    first = {one.model: one for one in reversed(found)}
    said = [f"{one.model} has {one.spec} {one.text}" for one in reversed(first.values())]
    return f"Over {grouped(found[0].folds)} folds {', '.join(said)}."

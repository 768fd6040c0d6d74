"""The pages of studies of one learner: what permuted labels give, and how it learns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from scorespace.experiments.nested import Nested
from scorespace.experiments.overfitting import LOSSES, BiasVariance, LearningCurve
from scorespace.experiments.permute import PermutationTest
from scorespace.results import decimals, grouped, p_cell, percent
from scorespace.views.charts.experiments import bias_chart, learning_chart, permutation_chart
from scorespace.views.document import Document, Grid, Picture, Section, Verdict


def permutation(found: PermutationTest) -> Document:
    """The score beside those of permuted labels, and where it lies among them."""
    null = found.null[np.isfinite(found.null)]
    ends = np.quantile(null, [0.05, 0.5, 0.95]) if null.size else np.full(3, np.nan)
    row = (
        found.model,
        decimals(found.observed),
        *map(decimals, map(float, ends)),
        p_cell(found.p),
    )
    columns = ("learner", found.measure, "permuted: 5 %", "median", "95 %", "p")
    grid = Grid(columns, (row,), f"Mean over {grouped(found.splits)} splits; {grouped(found.null.size)} permutations.")
    return _page(found, "permutation", "Permuted labels", grid, permutation_chart)


def learning(found: LearningCurve) -> Document:
    """Training and test scores by the number of training cases."""
    cells: dict[int, list[str]] = {}
    for row in found.rows():
        mean, sd = (float("nan") if row[name] is None else float(row[name]) for name in ("mean", "sd"))
        cells.setdefault(row["size"], []).append(f"{decimals(mean)} ± {decimals(sd)}")
    rows = tuple((grouped(size), *pair) for size, pair in cells.items())
    caption = f"{found.measure}: mean ± standard deviation over {grouped(found.test.shape[1])} splits."
    grid = Grid(("training cases", "on training cases", "on test cases"), rows, caption)
    return _page(found, "learning", "Learning curve", grid, learning_chart)


def _page(found: Any, name: str, title: str, grid: Grid, draw: Callable[[Any], Any]) -> Document:
    blocks = (grid, Verdict(found.words), Picture(lambda: draw(found), found.words))
    return Document(title, f"{found.model}   {found.measure}", (Section(name, title, blocks, brief=True),))


def inner(found: Sequence[tuple[str, Nested]]) -> Document:
    """What choices promised on inner folds, and what they did on others."""
    words = " ".join(one.words[0].upper() + one.words[1:] for _, one in found)
    held = (inner_grid(found, several=len({name for name, _ in found}) > 1), Verdict(words))
    return Document("Inner and outer", "", (Section("inner", "Inner and outer", held, brief=True),))


def inner_grid(found: Sequence[tuple[str, Nested]], *, several: bool) -> Grid:
    """A row per learner that chose something inside its training cases, by data set where there are several."""
    rows = [
        (
            f"{name}, {one.model}" if several else one.model,
            one.measure,
            decimals(one.fit.training),
            decimals(one.fit.test),
            "overfits its choice" if one.fit.overfits else "",
        )
        for name, one in found
    ]
    caption = "Mean over splits of the measure that chose: on the inner folds of the training cases, and on test cases."
    return Grid(("learner", "measure", "inner", "outer", "fit"), tuple(rows), caption).without_blanks()


def bias(found: Sequence[tuple[str, BiasVariance]], resampling: str) -> Document:
    """The error of each learner in two parts: what its mean answer misses, and how its answers vary."""
    several = len({name for name, _ in found}) > 1
    rows = [
        (
            f"{name}, {one.model}" if several else one.model,
            LOSSES[one.loss],
            *map(decimals, (one.error, one.bias2, one.variance)),
            "" if math.isnan(one.share) else percent(one.share, 0),
        )
        for name, one in found
    ]
    caption = (
        f"error = bias² + variance between the training samples of {grouped(found[0][1].repeats)} repeats; what no "
        "model could know is part of the bias."
    )
    grid = Grid(("learner", "of the", "error", "bias²", "variance", "share"), tuple(rows), caption)
    about = "The error of each learner in two parts, what its mean answer misses and how its answers vary."
    shown = (grid, Picture(lambda: bias_chart(found), about))
    question = "How much of the error is variance?"
    section = Section("bias", "Bias and variance", shown, brief=True, short=(grid,), question=question)
    return Document("Bias and variance", resampling, (section,))

"""The pages of studies of one learner: what permuted labels give, and how it learns."""

from __future__ import annotations

from typing import Any

import numpy as np

from scorespace.experiments.learning import LearningCurve
from scorespace.experiments.permute import PermutationTest
from scorespace.results import decimals, grouped, p_text
from scorespace.views.charts.experiments import learning_chart, permutation_chart
from scorespace.views.document import Document, Grid, Picture, Section, Verdict


def permutation(found: PermutationTest) -> Document:
    """The score beside those of permuted labels, and where it lies among them."""
    null = found.null[np.isfinite(found.null)]
    ends = np.quantile(null, [0.05, 0.5, 0.95]) if null.size else np.full(3, np.nan)
    row = (
        found.model,
        decimals(found.observed),
        *map(decimals, map(float, ends)),
        p_text(found.p).removeprefix("p = "),
    )
    columns = ("learner", found.measure, "permuted: 5 %", "median", "95 %", "p")
    grid = Grid(columns, (row,), f"Mean over {grouped(found.splits)} splits; {grouped(found.null.size)} permutations.")
    picture = Picture(lambda: permutation_chart(found), found.words)
    section = Section("permutation", "Permuted labels", (grid, Verdict(found.words), picture), brief=True)
    return Document("Permuted labels", f"{found.model}   {found.measure}", (section,))


def learning(found: LearningCurve) -> Document:
    """Training and test scores by the number of training cases."""
    cells: dict[int, list[str]] = {}
    for row in found.rows():
        mean, sd = (float("nan") if row[name] is None else float(row[name]) for name in ("mean", "sd"))
        cells.setdefault(row["size"], []).append(f"{decimals(mean)} ± {decimals(sd)}")
    rows = tuple((grouped(size), *pair) for size, pair in cells.items())
    caption = f"{found.measure}: mean ± standard deviation over {grouped(found.test.shape[1])} splits."
    grid = Grid(("training cases", "on training cases", "on test cases"), rows, caption)
    picture = Picture(lambda: learning_chart(found), found.words)
    section = Section("learning", "Learning curve", (grid, Verdict(found.words), picture), brief=True)
    return Document("Learning curve", f"{found.model}   {found.measure}", (section,))


def chart(found: PermutationTest | LearningCurve) -> Any:
    """The picture of a study."""
    return permutation_chart(found) if isinstance(found, PermutationTest) else learning_chart(found)

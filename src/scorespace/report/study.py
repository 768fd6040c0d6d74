"""Studies of single learners: permutation test, learning curve, nested cross-validation, bias and variance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from scorespace.experiments.label_permutation import PermutationTest
from scorespace.experiments.nested import NestedScores
from scorespace.experiments.overfitting import LOSSES, BiasVariance, LearningCurve
from scorespace.report.chart_files import concatenate
from scorespace.report.chart_theme import FAINT, INK, Spec, coloured, dashed, datum, field, layered, mark, themed
from scorespace.report.document import Document, Grid, Picture, Section, Verdict
from scorespace.results import decimals, format_p_cell, grouped, p_text, percent

_BINS: Final = 30
_PARTS: Final = ("training", "test")
_ERRORS: Final = ("bias²", "variance")


def permutation_chart(test: PermutationTest) -> Spec:
    """Histogram of the scores with permuted labels, and the observed score."""
    null = test.null[np.isfinite(test.null)]
    low, high = (float(limit(np.append(null, test.observed))) for limit in (np.min, np.max))
    edges = np.linspace(low, high if high > low else low + 1, _BINS + 1)
    counts, _ = np.histogram(null, edges)
    bars = [
        {"from": datum(a), "to": datum(b), "count": int(count)}
        for a, b, count in zip(edges[:-1], edges[1:], counts, strict=True)
        if count
    ]
    title = f"{test.measure} on test cases"
    encoding = {
        "x": field("from:Q", title=title, scale={"zero": False}),
        "x2": "to",
        "y": field("count:Q", title="Permutations", axis={"tickMinStep": 1}),
        "y2": {"datum": 0},
        "tooltip": [field("from:Q"), field("to:Q"), field("count:Q", title="permutations")],
    }
    observed_mark = [{"x": datum(test.observed), "text": f"observed {decimals(test.observed)}, {p_text(test.p)}"}]
    # The label is on the side with more space.
    is_label_right = test.observed < (low + high) / 2
    layers = [
        mark("bar", bars, encoding, color=FAINT, binSpacing=0, stroke="white"),
        mark("rule", observed_mark, {"x": "x:Q"}, color=INK, strokeWidth=2),
        mark(
            "text",
            observed_mark,
            {"x": "x:Q", "y": {"value": -8}, "text": "text:N"},
            align="left" if is_label_right else "right",
            dx=6 if is_label_right else -6,
            color=INK,
        ),
    ]
    return themed(layered(layers, 420, 220, description=test.words))


def learning_chart(learning_curve: LearningCurve) -> Spec:
    """Mean scores on training and test cases by training set size, with standard deviations over splits."""
    rows = [
        {
            "size": row["size"],
            "part": f"{row['part']} cases",
            "mean": datum(row["mean"]),
            "low": datum(row["mean"] - (row["sd"] or 0)),
            "high": datum(row["mean"] + (row["sd"] or 0)),
        }
        for row in learning_curve.rows()
        if row["mean"] is not None
    ]
    parts = [f"{part} cases" for part in _PARTS]
    size = field("size:Q", title="Training cases", scale={"zero": False})
    title = f"{learning_curve.measure}, mean ± standard deviation"
    encoding = {"x": size, "color": coloured("part", parts)}
    layers = [
        mark(
            "area",
            rows,
            {**encoding, "y": field("low:Q", title=title, scale={"zero": False}), "y2": "high"},
            opacity=0.15,
        ),
        mark("line", rows, {**encoding, "y": "mean:Q", "strokeDash": dashed("part", parts)}, strokeWidth=2),
        mark("point", rows, {**encoding, "y": "mean:Q"}, filled=True, size=40, opacity=1),
    ]
    return themed(layered(layers, 420, 280, description=learning_curve.words))


def bias_chart(decompositions: Sequence[tuple[str, BiasVariance]]) -> Spec:
    """Error of each learner as a stacked bar of bias² and variance; one panel per loss."""
    has_many_datasets, colour = len({name for name, _ in decompositions}) > 1, coloured("part", _ERRORS)
    square = {**colour["legend"], "symbolType": "square", "symbolSize": 130}
    panels: list[Spec] = []
    for loss in dict.fromkeys(decomposition.loss for _, decomposition in decompositions):
        rows = [
            {
                "learner": f"{name}, {decomposition.model}" if has_many_datasets else decomposition.model,
                "part": part,
                "size": datum(size),
                "error": datum(decomposition.error),
            }
            for name, decomposition in decompositions
            if decomposition.loss == loss
            for part, size in zip(_ERRORS, (decomposition.bias2, decomposition.variance), strict=True)
        ]
        encoding = {
            "y": field("learner:N", sort=None, title=None, axis={"labelColor": INK, "ticks": False, "labelLimit": 240}),
            "x": field("size:Q", title=LOSSES[loss][0].upper() + LOSSES[loss][1:], stack="zero", axis={"tickCount": 6}),
            "color": {**colour, "legend": None if panels else square},
            "order": field("part:N", sort="ascending"),
            "tooltip": [field("learner:N"), field("part:N"), field("size:Q"), field("error:Q")],
        }
        parts = "; ".join(f"{row['learner']} {row['part']} {row['size']}" for row in rows)
        description = f"Decomposition of the {LOSSES[loss]}: {parts}."
        panels.append(
            themed(layered([mark("bar", rows, encoding, height=16)], 420, {"step": 28}, description=description))
        )
    return panels[0] if len(panels) == 1 else concatenate(panels, columns=1)


def permutation(test: PermutationTest) -> Document:
    """Document of a permutation test: the observed score against those of permuted labels."""
    null = test.null[np.isfinite(test.null)]
    quantiles = np.quantile(null, [0.05, 0.5, 0.95]) if null.size else np.full(3, np.nan)
    row = (
        test.model,
        decimals(test.observed),
        *map(decimals, map(float, quantiles)),
        format_p_cell(test.p),
    )
    columns = ("learner", test.measure, "permuted: 5 %", "median", "95 %", "p")
    grid = Grid(columns, (row,), f"Mean over {grouped(test.splits)} splits; {grouped(test.null.size)} permutations.")
    return _page(test, "permutation", "Permutation test", grid, permutation_chart)


def learning(learning_curve: LearningCurve) -> Document:
    """Document of a learning curve: training and test scores by training set size."""
    cells: dict[int, list[str]] = {}
    for row in learning_curve.rows():
        mean, sd = (float("nan") if row[name] is None else float(row[name]) for name in ("mean", "sd"))
        cells.setdefault(row["size"], []).append(f"{decimals(mean)} ± {decimals(sd)}")
    rows = tuple((grouped(size), *pair) for size, pair in cells.items())
    caption = (
        f"{learning_curve.measure}: mean ± standard deviation over {grouped(learning_curve.test.shape[1])} splits. On "
        "training cases it is also called inner, on test cases outer."
    )
    grid = Grid(("training cases", "on training cases", "on test cases"), rows, caption)
    return _page(learning_curve, "learning", "Learning curve", grid, learning_chart)


def _page(result: Any, name: str, title: str, grid: Grid, draw: Callable[[Any], Any]) -> Document:
    blocks = (grid, Verdict(result.words), Picture(lambda: draw(result), result.words))
    return Document(title, f"{result.model}   {result.measure}", (Section(name, title, blocks, brief=True),))


def inner(nested: Sequence[tuple[str, NestedScores]]) -> Document:
    """Document of nested cross-validation: scores on inner and outer folds."""
    verdict = " ".join(scores.words[0].upper() + scores.words[1:] for _, scores in nested)
    blocks = (inner_grid(nested, has_many_datasets=len({name for name, _ in nested}) > 1), Verdict(verdict))
    return Document("Nested cross-validation", "", (Section("inner", "Inner and outer folds", blocks, brief=True),))


def inner_grid(nested: Sequence[tuple[str, NestedScores]], *, has_many_datasets: bool) -> Grid:
    """One row per learner that selects on inner folds, by data set if there are several."""
    rows = [
        (
            f"{name}, {scores.model}" if has_many_datasets else scores.model,
            scores.measure,
            decimals(scores.fit.training),
            decimals(scores.fit.test),
            "overfits the selection" if scores.fit.overfits else "",
        )
        for name, scores in nested
    ]
    caption = (
        "Mean over splits of the selection measure: on inner folds of the training cases, and on test cases. `study "
        "learning` compares training cases themselves with test cases."
    )
    return Grid(("learner", "measure", "inner", "outer", "fit"), tuple(rows), caption).without_blanks()


def bias(decompositions: Sequence[tuple[str, BiasVariance]], resampling: str) -> Document:
    """Document of the bias-variance decomposition of each learner."""
    has_many_datasets = len({name for name, _ in decompositions}) > 1
    rows = [
        (
            f"{name}, {decomposition.model}" if has_many_datasets else decomposition.model,
            LOSSES[decomposition.loss],
            *map(decimals, (decomposition.error, decomposition.bias2, decomposition.variance)),
            "" if math.isnan(decomposition.share) else percent(decomposition.share, 0),
        )
        for name, decomposition in decompositions
    ]
    caption = (
        f"error = bias² + variance over the training samples of {grouped(decompositions[0][1].repeats)} repeats; "
        "irreducible error is part of the bias."
    )
    grid = Grid(("learner", "of the", "error", "bias²", "variance", "share"), tuple(rows), caption)
    alt = "Error of each learner as the sum of bias² and variance."
    blocks = (grid, Picture(lambda: bias_chart(decompositions), alt))
    question = "How much of the error is variance?"
    section = Section("bias", "Bias and variance", blocks, brief=True, short=(grid,), question=question)
    return Document("Bias and variance", resampling, (section,))

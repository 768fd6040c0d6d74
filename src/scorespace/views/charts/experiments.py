"""Experiments in pictures: learners over data sets, learning curves, and what permuted labels give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from scorespace.experiments.overfitting import LOSSES, BiasVariance, LearningCurve
from scorespace.experiments.permute import PermutationTest
from scorespace.experiments.results import Benchmark
from scorespace.results import decimals, p_text
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.several import beside_each_other
from scorespace.views.charts.theme import FAINT, INK, coloured, dashed, short, themed

_BINS: Final = 30
_PARTS: Final = ("training", "test")
_ERRORS: Final = ("bias²", "variance")


def benchmark_chart(found: Benchmark) -> Spec:
    """Every data set on a line of its own: the mean of each learner as a dot, its spread over folds as a whisker."""
    known = [one for one in found.results if np.isfinite(one.over.mean)]
    rows = [
        {
            "dataset": one.dataset,
            "learner": one.over.model,
            "mean": short(one.over.mean),
            "low": short(one.over.mean - (one.over.sd if np.isfinite(one.over.sd) else 0)),
            "high": short(one.over.mean + (one.over.sd if np.isfinite(one.over.sd) else 0)),
            "text": one.over.text,
        }
        for one in known
    ]
    shared = {
        "y": field("dataset:N", sort=None, title=None, axis={"labelColor": INK, "ticks": False, "labelLimit": 200}),
        "yOffset": field("learner:N", sort=None),
        "color": coloured("learner", found.learners),
        "tooltip": [field("dataset:N"), field("learner:N"), field("text:N", title=str(found.spec))],
    }
    title = f"{found.spec}, mean and standard deviation over folds"
    across: Spec = {"title": title, "scale": {"zero": False}, "axis": {"tickCount": 6}}
    layers = [
        mark("rule", rows, {**shared, "x": field("low:Q", **across), "x2": "high"}, strokeWidth=1.6),
        mark("point", rows, {**shared, "x": field("mean:Q", **across)}, filled=True, size=60, opacity=1),
    ]
    about = f"{found.spec} of {', '.join(found.learners)} on {len(found.datasets)} data sets."
    return themed(layered(layers, 420, {"step": 12}, description=about))


def permutation_chart(found: PermutationTest) -> Spec:
    """How often each score came from permuted labels, and where the labels as they are lie."""
    null = found.null[np.isfinite(found.null)]
    low, high = (float(end(np.append(null, found.observed))) for end in (np.min, np.max))
    edges = np.linspace(low, high if high > low else low + 1, _BINS + 1)
    counts, _ = np.histogram(null, edges)
    bars = [
        {"from": short(a), "to": short(b), "count": int(count)}
        for a, b, count in zip(edges[:-1], edges[1:], counts, strict=True)
        if count
    ]
    title = f"{found.measure} on test cases"
    encoding = {
        "x": field("from:Q", title=title, scale={"zero": False}),
        "x2": "to",
        "y": field("count:Q", title="Permutations", axis={"tickMinStep": 1}),
        "y2": {"datum": 0},
        "tooltip": [field("from:Q"), field("to:Q"), field("count:Q", title="permutations")],
    }
    here = [{"x": short(found.observed), "text": f"labels as they are {decimals(found.observed)}, {p_text(found.p)}"}]
    # The words stand on the side that has room.
    right = found.observed < (low + high) / 2
    layers = [
        mark("bar", bars, encoding, color=FAINT, binSpacing=0, stroke="white"),
        mark("rule", here, {"x": "x:Q"}, color=INK, strokeWidth=2),
        mark(
            "text",
            here,
            {"x": "x:Q", "y": {"value": -8}, "text": "text:N"},
            align="left" if right else "right",
            dx=6 if right else -6,
            color=INK,
        ),
    ]
    return themed(layered(layers, 420, 220, description=found.words))


def learning_chart(found: LearningCurve) -> Spec:
    """Mean scores on training and on test cases by the number of training cases, with their spread over splits."""
    rows = [
        {
            "size": row["size"],
            "part": f"{row['part']} cases",
            "mean": short(row["mean"]),
            "low": short(row["mean"] - (row["sd"] or 0)),
            "high": short(row["mean"] + (row["sd"] or 0)),
        }
        for row in found.rows()
        if row["mean"] is not None
    ]
    parts = [f"{part} cases" for part in _PARTS]
    size = field("size:Q", title="Training cases", scale={"zero": False})
    title = f"{found.measure}, mean ± standard deviation"
    shared = {"x": size, "color": coloured("part", parts)}
    layers = [
        mark(
            "area",
            rows,
            {**shared, "y": field("low:Q", title=title, scale={"zero": False}), "y2": "high"},
            opacity=0.15,
        ),
        mark("line", rows, {**shared, "y": "mean:Q", "strokeDash": dashed("part", parts)}, strokeWidth=2),
        mark("point", rows, {**shared, "y": "mean:Q"}, filled=True, size=40, opacity=1),
    ]
    return themed(layered(layers, 420, 280, description=found.words))


def bias_chart(found: Sequence[tuple[str, BiasVariance]]) -> Spec:
    """The error of each learner as a bar of two parts, bias² and variance; a panel for each kind of loss."""
    several, colour = len({name for name, _ in found}) > 1, coloured("part", _ERRORS)
    square = {**colour["legend"], "symbolType": "square", "symbolSize": 130}
    panels: list[Spec] = []
    for loss in dict.fromkeys(one.loss for _, one in found):
        rows = [
            {
                "learner": f"{name}, {one.model}" if several else one.model,
                "part": part,
                "size": short(size),
                "error": short(one.error),
            }
            for name, one in found
            if one.loss == loss
            for part, size in zip(_ERRORS, (one.bias2, one.variance), strict=True)
        ]
        encoding = {
            "y": field("learner:N", sort=None, title=None, axis={"labelColor": INK, "ticks": False, "labelLimit": 240}),
            "x": field("size:Q", title=LOSSES[loss][0].upper() + LOSSES[loss][1:], stack="zero", axis={"tickCount": 6}),
            "color": {**colour, "legend": None if panels else square},
            "order": field("part:N", sort="ascending"),
            "tooltip": [field("learner:N"), field("part:N"), field("size:Q"), field("error:Q")],
        }
        told = "; ".join(f"{row['learner']} {row['part']} {row['size']}" for row in rows)
        about = f"The {LOSSES[loss]} in two parts: {told}."
        panels.append(themed(layered([mark("bar", rows, encoding, height=16)], 420, {"step": 28}, description=about)))
    return panels[0] if len(panels) == 1 else beside_each_other(panels, columns=1)

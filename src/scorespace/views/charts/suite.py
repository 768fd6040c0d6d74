"""Charts of the published experiment: each data set a dot, and the diagonal between more and less."""

from __future__ import annotations

from typing import Any

import numpy as np

from scorespace.experiments.smooth import SmoothReport
from scorespace.results import Row
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.theme import coloured, reference, short, themed


def spread_chart(found: SmoothReport) -> Spec:
    """The standard deviation of smAUC against that of AUC: below the diagonal it varies less."""
    rows = [
        {"set": one.dataset, "learner": one.learner, "x": short(one.auc_sd), "y": short(one.smauc_sd)}
        for one in found.cells
    ]
    titles = "Standard deviation of AUC over the folds", "Standard deviation of smAUC"
    return _against(rows, titles, found.learners, "below the diagonal, smAUC varies less")


def difference_chart(found: SmoothReport) -> Spec:
    """How far two learners are apart by smAUC against how far by AUC: above the diagonal smAUC has the larger one."""
    rows: list[Row] = [
        {"set": name, "learner": f"{a} and {b}", "x": short(by_auc), "y": short(by_smauc)}
        for place, a in enumerate(found.learners)
        for b in found.learners[place + 1 :]
        for name, by_auc, by_smauc in zip(
            found.datasets, _apart(found, a, b, "auc"), _apart(found, a, b, "smauc"), strict=True
        )
    ]
    titles = "Difference of the learners in AUC", "Difference in smAUC"
    names = list(dict.fromkeys(str(row["learner"]) for row in rows))
    return _against(rows, titles, names, "above the diagonal, smAUC tells them further apart")


def area_chart(found: SmoothReport, learner: str) -> Spec:
    """Mean and standard deviation of both areas of a learner, a row per data set."""
    rows: list[Row] = [
        {"set": one.dataset, "area": name, "value": short(mean), "low": short(mean - sd), "high": short(mean + sd)}
        for one in found.cells
        if one.learner == learner
        for name, mean, sd in (("AUC", one.auc, one.auc_sd), ("smAUC", one.smauc, one.smauc_sd))
    ]
    by_set = {
        "y": field("set:N", title=None, sort=None),
        "yOffset": field("area:N"),
        "color": coloured("area", ["AUC", "smAUC"]),
    }
    area = field("value:Q", title=f"Area of {learner}, mean ± standard deviation", scale={"zero": False})
    shown = [field("set:N", title="Data set"), field("value:Q", title="Area")]
    layers = [
        mark("rule", None, {**by_set, "x": "low:Q", "x2": "high"}, strokeWidth=1.6),
        mark("point", None, {**by_set, "x": area, "tooltip": shown}, filled=True, size=40, opacity=1),
    ]
    about = f"Mean and standard deviation of AUC and smAUC of {learner} over the folds."
    return themed(layered(layers, 340, {"step": 9}, data={"values": rows}, description=about))


def _apart(found: SmoothReport, a: str, b: str, name: str) -> Any:
    return np.abs(found.column(a, name) - found.column(b, name)).tolist()


def _against(rows: list[Row], titles: tuple[str, str], names: Any, about: str) -> Spec:
    most = max((max(row["x"] or 0, row["y"] or 0) for row in rows), default=1) * 1.05
    ends: Spec = {"domain": [0, most], "nice": False}
    dots = {
        "x": field("x:Q", title=titles[0], scale=ends, axis={"tickCount": 7}),
        "y": field("y:Q", title=titles[1], scale=ends, axis={"tickCount": 7}),
        "color": coloured("learner", names),
        "shape": field("learner:N", legend=None),
        "tooltip": [field("set:N", title="Data set"), field("x:Q", title=titles[0]), field("y:Q", title=titles[1])],
    }
    line: list[Row] = [{"x": 0, "y": 0}, {"x": most, "y": most}]
    layers = [
        reference(line),
        mark("point", rows, dots, size=70, strokeWidth=1.8),
    ]
    return themed(layered(layers, 380, 380, description=f"{titles[1]} against {titles[0].lower()}; {about}."))

"""Replication of the published smooth ROC experiment: AUC and smAUC on every data set, and the claims tested."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any, Final

import numpy as np

from scorespace.experiments.smooth_roc_suite import SmoothReport
from scorespace.report.chart_theme import INK, Spec, coloured, datum, field, layered, mark, reference, themed
from scorespace.report.document import Block, Document, Grid, Picture, Section, Verdict
from scorespace.results import Row, grouped


def spread_chart(report: SmoothReport) -> Spec:
    """Standard deviation of smAUC against that of AUC: below the diagonal, smAUC varies less."""
    rows = [
        {"set": cell.dataset, "learner": cell.learner, "x": datum(cell.auc_sd), "y": datum(cell.smauc_sd)}
        for cell in report.cells
    ]
    titles = "Standard deviation of AUC over the folds", "Standard deviation of smAUC"
    return _scatter(rows, titles, report.learners, "below the diagonal, smAUC varies less")


def difference_chart(report: SmoothReport) -> Spec:
    """Difference between two learners in smAUC against that in AUC: above the diagonal, smAUC discriminates more."""
    rows: list[Row] = [
        {"set": name, "learner": f"{a} and {b}", "x": datum(by_auc), "y": datum(by_smauc)}
        for index, a in enumerate(report.learners)
        for b in report.learners[index + 1 :]
        for name, by_auc, by_smauc in zip(
            report.datasets, _differences(report, a, b, "auc"), _differences(report, a, b, "smauc"), strict=True
        )
    ]
    titles = "Difference of the learners in AUC", "Difference in smAUC"
    names = list(dict.fromkeys(str(row["learner"]) for row in rows))
    return _scatter(rows, titles, names, "above the diagonal, the difference in smAUC is larger")


def signed_chart(report: SmoothReport, a: str, b: str) -> Spec:
    """Difference a − b in AUC and smAUC on every data set: bars above zero where a is better, below where b is."""
    signed = {title: report.column(a, name) - report.column(b, name) for title, name in _AREAS.items()}
    rows: list[Row] = [
        {"set": dataset, "area": title, "difference": datum(float(value))}
        for title, values in signed.items()
        for dataset, value in zip(report.datasets, values, strict=True)
    ]
    colour = coloured("area", list(_AREAS))
    square = {**colour["legend"], "symbolType": "square", "symbolSize": 130}
    encoding = {
        "x": field("set:N", title=None, sort=None, axis={"labelAngle": -40, "labelColor": INK, "labelLimit": 140}),
        "xOffset": field("area:N"),
        "y": field("difference:Q", title=f"{a} − {b}"),
        "color": {**colour, "legend": square},
        "tooltip": [field("set:N", title="Data set"), field("area:N"), field("difference:Q", format="+.3f")],
    }
    layers = [mark("bar", rows, encoding), mark("rule", [{"zero": 0}], {"y": field("zero:Q")}, color=INK)]
    description = f"{a} minus {b} in AUC and smAUC on every data set: above zero {a} is better, below it {b}."
    return themed(layered(layers, 560, 280, description=description))


_AREAS: Final = {"AUC": "auc", "smAUC": "smauc"}


def area_chart(report: SmoothReport, learner: str) -> Spec:
    """Mean and standard deviation of AUC and smAUC of a learner, one row per data set."""
    rows: list[Row] = [
        {"set": cell.dataset, "area": name, "value": datum(mean), "low": datum(mean - sd), "high": datum(mean + sd)}
        for cell in report.cells
        if cell.learner == learner
        for name, mean, sd in (("AUC", cell.auc, cell.auc_sd), ("smAUC", cell.smauc, cell.smauc_sd))
    ]
    encoding = {
        "y": field("set:N", title=None, sort=None),
        "yOffset": field("area:N"),
        "color": coloured("area", ["AUC", "smAUC"]),
    }
    area = field("value:Q", title=f"Area of {learner}, mean ± standard deviation", scale={"zero": False})
    tooltip = [field("set:N", title="Data set"), field("value:Q", title="Area")]
    layers = [
        mark("rule", None, {**encoding, "x": "low:Q", "x2": "high"}, strokeWidth=1.6),
        mark("point", None, {**encoding, "x": area, "tooltip": tooltip}, filled=True, size=40, opacity=1),
    ]
    description = f"Mean and standard deviation of AUC and smAUC of {learner} over the folds."
    return themed(layered(layers, 340, {"step": 9}, data={"values": rows}, description=description))


def _differences(report: SmoothReport, a: str, b: str, name: str) -> Any:
    return np.abs(report.column(a, name) - report.column(b, name)).tolist()


def _scatter(rows: list[Row], titles: tuple[str, str], names: Any, note: str) -> Spec:
    axis_end = max((max(row["x"] or 0, row["y"] or 0) for row in rows), default=1) * 1.05
    axis_scale: Spec = {"domain": [0, axis_end], "nice": False}
    encoding = {
        "x": field("x:Q", title=titles[0], scale=axis_scale, axis={"tickCount": 7}),
        "y": field("y:Q", title=titles[1], scale=axis_scale, axis={"tickCount": 7}),
        "color": coloured("learner", names),
        "shape": field("learner:N", legend=None),
        "tooltip": [field("set:N", title="Data set"), field("x:Q", title=titles[0]), field("y:Q", title=titles[1])],
    }
    line: list[Row] = [{"x": 0, "y": 0}, {"x": axis_end, "y": axis_end}]
    layers = [
        reference(line),
        mark("point", rows, encoding, size=70, strokeWidth=1.8),
    ]
    return themed(layered(layers, 380, 380, description=f"{titles[1]} against {titles[0].lower()}; {note}."))


def document(report: SmoothReport, facts: str = "") -> Document:
    """Document of the replication; text output shows the table and the findings."""
    grid = area_grid(report)
    pictures: list[Block] = [Picture(lambda: spread_chart(report), _alt(report, "varies less"))]
    if len(report.learners) > 1:
        pictures.append(Picture(lambda: difference_chart(report), _alt(report, "further apart")))
    for a, b in combinations(report.learners, 2):
        alt = f"{a} minus {b} in AUC and smAUC on every data set."
        pictures.append(Picture(partial(signed_chart, report, a, b), alt))
    alt = "Mean and standard deviation of AUC and smAUC on every data set, of "
    pictures += [Picture(partial(area_chart, report, learner), f"{alt}{learner}.") for learner in report.learners]
    sections = (
        Section("sets", "Every data set", (grid, Verdict(report.words)), brief=True),
        Section("pictures", "Charts of the claims", tuple(pictures)),
    )
    return Document(report.title, facts, sections)


def area_grid(report: SmoothReport) -> Grid:
    """One row per data set: mean ± standard deviation over the folds."""
    cells_by_key = {(cell.dataset, cell.learner): cell for cell in report.cells}
    columns = ("data set", *(f"{name} {learner}" for learner in report.learners for name in ("AUC", "smAUC")))
    rows = []
    for name in report.datasets:
        cells = [cells_by_key[name, learner] for learner in report.learners]
        areas = ((mean, sd) for cell in cells for mean, sd in ((cell.auc, cell.auc_sd), (cell.smauc, cell.smauc_sd)))
        rows.append((name, *(f"{mean:.3f} ± {sd:.3f}" for mean, sd in areas)))
    n_undefined = sum(cell.undefined for cell in report.cells)
    caption = "Mean ± standard deviation over the folds" + (
        f"; {grouped(n_undefined)} folds lack a class." if n_undefined else "."
    )
    return Grid(columns, tuple(rows), caption)


def _alt(report: SmoothReport, claim: str) -> str:
    return " ".join(finding.words for finding in report.findings if claim in finding.claim)

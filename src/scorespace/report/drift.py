"""Drift between two samples, nearest samples, and monitoring of batches over time: documents and charts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from scorespace.curves import roc
from scorespace.drift.monitor import ALARM, BATCH_QUANTITIES, Monitoring, evidence_text
from scorespace.drift.nearest_sample import SampleMatches
from scorespace.drift.result import FAMILY, Drift, DriftAspect, ModelDrift
from scorespace.report.chart_files import curve_panel
from scorespace.report.chart_theme import (
    FAINT,
    INK,
    SOFT,
    Spec,
    axis,
    coloured,
    dashed,
    datum,
    field,
    layered,
    mark,
    panel_title,
    scale,
    themed,
    unit_or_none,
)
from scorespace.report.document import Block, Document, Grid, Notes, Picture, Section, Text, Verdict, one_section
from scorespace.results import Row, count_noun, decimals, format_interval, format_p_cell, format_signed, grouped
from scorespace.tables import Array, ScoreTable, ratio

SAMPLES: Final = ("before", "after")
_BINS: Final = 20


def drift_chart(drift: Drift) -> Spec:
    """Score distributions within classes, ROC and smooth ROC curves of both samples, for each model."""
    rows = [
        {"hconcat": [draw() for draw in _panels(drift, model_drift)], "spacing": 28} for model_drift in drift.models
    ]
    names = ", ".join(model_drift.model for model_drift in drift.models)
    return themed({"vconcat": rows, "spacing": 36, "description": f"Scores and curves of both samples: {names}."})


def drift_panels(drift: Drift) -> list[Callable[[], Spec]]:
    """The same panels as separate charts, which narrow pages do not shrink."""
    return [lambda draw=draw: themed(draw()) for model_drift in drift.models for draw in _panels(drift, model_drift)]  # type: ignore[misc]


def match_chart(matches: SampleMatches) -> Spec:
    """Score distributions and curves of the reference and of all samples, nearest first, for each model."""
    first = next(iter(matches.drifts.values()))
    rows = []
    for k, model_drift in enumerate(first.models):
        others = {name: matches.drifts[name].models[k] for name in matches.ranked}
        names = [matches.before, *others]
        tables = [model_drift.tables[0], *(other.tables[1] for other in others.values())]
        curves: dict[str, list[Any]] = {"ROC": list(map(roc, tables))} if first.labelled else {}
        if model_drift.curves is not None and all(other.curves is not None for other in others.values()):
            after = [other.curves[1] for other in others.values() if other.curves is not None]
            curves["Smooth ROC, at the prevalence before"] = [model_drift.curves[0], *after]
        title = f"{model_drift.model}: " if len(first.models) > 1 else ""
        panels = _panels_of(dict(zip(names, tables, strict=True)), curves, first.labelled, title)
        rows.append({"hconcat": [draw() for draw in panels], "spacing": 28})
    return themed({"vconcat": rows, "spacing": 36, "description": f"Scores and curves of {', '.join(names)}."})


def match_picture(matches: SampleMatches) -> Picture:
    """Chart of the reference and all samples."""
    return Picture(lambda: match_chart(matches), "Distributions of the scores and curves of all samples.")


def _panels(drift: Drift, model_drift: ModelDrift) -> list[Callable[[], Spec]]:
    curves: dict[str, Sequence[Any]] = {"ROC": model_drift.roc_curves} if drift.labelled else {}
    if model_drift.curves is not None:
        curves["Smooth ROC, at the prevalence before"] = model_drift.curves
    title = f"{model_drift.model}: " if len(drift.models) > 1 else ""
    return _panels_of(dict(zip(SAMPLES, model_drift.tables, strict=True)), curves, drift.labelled, title)


def _panels_of(
    tables: Mapping[str, ScoreTable], curves: Mapping[str, Sequence[Any]], labelled: bool, title_prefix: str
) -> list[Callable[[], Spec]]:
    """Distributions of the scores of each sample, and each kind of curves that all samples have."""
    defined = {title: found for title, found in curves.items() if all(np.isfinite(curve.y).all() for curve in found)}
    curve_charts = (
        partial(curve_panel, dict(zip(tables, found, strict=True)), title, 300, "sample")
        for title, found in defined.items()
    )
    return [partial(_distributions, tables, labelled, title_prefix), *curve_charts]


def _distributions(tables: Mapping[str, ScoreTable], labelled: bool, title_prefix: str) -> Spec:
    """Histograms of the samples: the positive class upwards, the other classes downwards."""
    scores = np.concatenate([table.score for table in tables.values()])
    score_range = unit_or_none(scores)
    low, high = score_range or (float(scores.min()), float(scores.max()))
    edges = np.linspace(low, high if high > low else low + 1, _BINS + 1)
    rows = [row for name, table in tables.items() for row in _steps(name, table, edges, labelled)]
    share_axis = {"labelExpr": "format(abs(datum.value), '.0%')", "tickCount": 5, "grid": False}
    encoding = {
        "x": field("x:Q", title="Score", axis=axis(score_range), scale=scale(score_range)),
        "y": field("y:Q", title="Share of class" if labelled else "Share of cases", axis=share_axis),
        "color": coloured("sample", tables),
        "strokeDash": dashed("sample", tables),
        "detail": "side:N",
        "order": "place:Q",
        "tooltip": [field("sample:N"), field("class:N"), field("share:Q", format=".1%")],
    }
    layers = [
        mark("rule", [{}], {"y": {"datum": 0}}, color=FAINT),
        mark("line", rows, encoding, interpolate="step-after", strokeWidth=2),
    ]
    if labelled:
        first = next(iter(tables.values()))
        positive = first.classes[first.positive]
        others = [name for name in first.classes if name != positive]
        layers += [_class_label(f"▲ {positive}", "top"), _class_label(f"▼ {', '.join(others)}", "bottom")]
    title = f"{title_prefix}{'Scores within the classes' if labelled else 'Scores'}"
    return layered(layers, 330, 300, title=panel_title(title))


def _class_label(text: str, side: str) -> Spec:
    offset = 4 if side == "top" else -4
    position = {"text": "text:N", "x": {"value": "width"}, "y": {"value": 0 if side == "top" else "height"}}
    return mark("text", [{"text": text}], position, align="right", baseline=side, dx=-4, dy=offset)


def _steps(sample: str, table: ScoreTable, edges: Array, labelled: bool) -> list[Row]:
    sides = [("up", table.pos, 1), ("down", table.neg, -1)] if labelled else [("up", table.pos + table.neg, 1)]
    names = {"up": table.classes[table.positive], "down": f"not {table.classes[table.positive]}"}
    rows: list[Row] = []
    # A score on an edge belongs to the bin above it, despite rounding: 3 · 0.05 > 0.15.
    bins = np.append(edges[:-1] - 1e-9, edges[-1] + 1e-9)
    for side, weight, sign in sides:
        shares = np.nan_to_num(ratio(np.histogram(table.score, bins=bins, weights=weight)[0], weight.sum()))
        heights = np.append(shares, shares[-1])  # end of the last step
        rows += [
            {
                "sample": sample,
                "side": side,
                "class": names[side],
                "place": index,
                "x": datum(float(x)),
                "share": datum(float(height)),
                "y": datum(sign * float(height)),
            }
            for index, (x, height) in enumerate(zip(edges, heights, strict=True))
        ]
    return rows


_ADJUSTED_NOTE = "Adjusted: after, reweighted to the prevalence before; change = adjusted − before."


def document(drift: Drift, names: tuple[str, str] = ("before", "after")) -> Document:
    """Document of drift between two samples, with charts."""
    blocks = (block for model_drift in drift.models for block in grids(drift, model_drift))
    page = one_section("Drift", facts(drift, names), "Drift", blocks, drift.words, drift.notes)
    charts = tuple(
        Picture(draw, "Distributions of the scores and curves, before and after.") for draw in drift_panels(drift)
    )
    return page.add(Section("charts", "Before and after", charts))


def match_document(matches: SampleMatches) -> Document:
    """Document of several samples compared with a reference, nearest first."""
    first_drift = next(iter(matches.drifts.values()))
    lines = tuple(
        (
            name,
            grouped(drift.sizes[1]),
            decimals(drift.prevalence.after),
            decimals(matches.distance(name)),
            format_p_cell(smallest_p(drift)),
            "yes" if not drift.moved else f"no: {drift.cause}",
        )
        for name in matches.ranked
        for drift in (matches.drifts[name],)
    )
    columns = ("sample", "cases", "prevalence", "distance", "smallest p", "matches")
    caption = (
        "Distance: area between the smooth ROC curves, or the KS statistic of the scores. p is adjusted for all tests."
    )
    reference = f"{matches.before}: {grouped(first_drift.sizes[0])} cases"
    line = f"{reference}   {len(matches.drifts)} samples   positive = {first_drift.positive}"
    page = one_section("Drift", line, "Drift", [Grid(columns, lines, caption)], matches.words, matches.notes)
    return page.add(Section("charts", "All samples", (match_picture(matches),)))


def smallest_p(drift: Drift) -> float:
    """Smallest adjusted p of the tests behind the verdict."""
    aspects = (aspect for model in drift.models for aspect in model.aspects if aspect.name in FAMILY)
    adjusted = [aspect.p_adjusted for aspect in (drift.prevalence, *aspects) if not math.isnan(aspect.p_adjusted)]
    return min(adjusted, default=math.nan)


def facts(drift: Drift, names: tuple[str, str]) -> str:
    parts = [f"{name}: {grouped(size)} cases" for name, size in zip(names, drift.sizes, strict=True)]
    return "   ".join([*parts, f"positive = {drift.positive}"])


def grids(drift: Drift, model_drift: ModelDrift) -> Sequence[Block]:
    """Tests behind the verdict, further statistics, and reasons for undefined ones."""
    family = [drift.prevalence, *(aspect for aspect in model_drift.aspects if aspect.name in FAMILY)]
    others = [aspect for aspect in model_drift.aspects if aspect.name not in FAMILY]
    heading_suffix = f" of {model_drift.model}" if len(drift.models) > 1 else ""
    blocks: list[Block] = [
        Grid((f"tests{heading_suffix}", "before", "after", "change", "p", "p adjusted"), tuple(map(_test, family)))
    ]
    if others:
        columns = (f"aspects{heading_suffix}", "before", "after", "adjusted", "change", "p")
        blocks += [Grid(columns, tuple(map(_aspect, others))), Text(_ADJUSTED_NOTE)]
    reasons: dict[str, dict[str, None]] = {}  # aspects by common reason
    for aspect in (*family, *others):
        if aspect.reason:
            reasons.setdefault(aspect.reason, {})[aspect.title] = None
    if reasons:
        undefined = "; ".join(f"{', '.join(titles)} ({reason})" for reason, titles in reasons.items())
        blocks.append(Text(f"Undefined: {undefined}."))
    return blocks


def _test(aspect: DriftAspect) -> tuple[str, ...]:
    change = format_signed(aspect.change) if aspect.name in ("prevalence", "meaning") else decimals(aspect.change)
    is_prevalence = aspect.name == "prevalence"
    values = (decimals(aspect.before), decimals(aspect.after)) if is_prevalence else ("", "")
    return aspect.title, *values, change, format_p_cell(aspect.p), format_p_cell(aspect.p_adjusted)


def _aspect(aspect: DriftAspect) -> tuple[str, ...]:
    is_distance = math.isnan(aspect.before) and not math.isnan(aspect.change)
    values = ("", "", "") if is_distance else map(decimals, (aspect.before, aspect.after, aspect.same))
    change = decimals(aspect.change) if is_distance else format_signed(aspect.change)
    return aspect.title, *values, change, format_p_cell(aspect.p)


def picture(drift: Drift) -> Picture:
    """Charts of scores and curves of both samples."""
    return Picture(lambda: drift_chart(drift), "Distributions of the scores and curves, before and after.")


_MIN_EVIDENCE = 1e-4
_MAX_NAMED_BATCHES = 60  # batches whose names fit an axis


def monitor_chart(monitoring: Monitoring) -> Spec:
    """Evidence (e-value) after each batch on a log axis, with the alarm threshold and the batch of the alarm."""
    values = [min(max(value, _MIN_EVIDENCE), 1e9) for value in monitoring.evidence.tolist()]
    rows = [
        {"place": index, "batch": batch.name, "cases": batch.cases, "evidence": float(f"{value:.4g}")}
        for index, (batch, value) in enumerate(zip(monitoring.batches, values, strict=True), start=1)
    ]
    # The alarm threshold is always visible.
    domain = [min(_MIN_EVIDENCE * 100, *values), max(100.0, *values)]
    encoding = {
        "x": _batch_axis(len(rows)),
        "y": field("evidence:Q", title="Evidence", scale={"type": "log", "domain": domain}, axis={"tickCount": 6}),
        "tooltip": [field("batch:N"), field("cases:Q"), field("evidence:Q")],
    }
    bound = {"y": {"datum": ALARM}}
    layers = [
        mark("rule", [{}], bound, color=SOFT, strokeDash=[4, 4]),
        mark(
            "text", [{"text": "alarm"}], {**bound, "x": {"value": 4}, "text": "text:N"}, align="left", dy=-7, color=SOFT
        ),
        mark("line", rows, encoding, color=INK, strokeWidth=2, point={"color": INK, "size": 26}),
    ]
    if monitoring.alarm is not None:
        label = {"x": encoding["x"], "y": encoding["y"], "text": "batch:N"}
        layers.append(
            mark("text", [rows[monitoring.alarm]], label, align="right", dx=-8, dy=-8, color=INK, fontWeight=600)
        )
        layers.append(mark("rule", [rows[monitoring.alarm]], {"x": encoding["x"]}, color=FAINT))
    description = f"Evidence of a change since {monitoring.before}, by batch."
    return themed({**layered(layers, 560, 260), "description": description})


def quantity_chart(monitoring: Monitoring, quantity: str) -> Spec:
    """A quantity of each batch with its interval, by model, and its value in the reference sample as a line."""
    models = [model for model, recorded in monitoring.seen if recorded == quantity]
    rows = [
        {
            "place": index,
            "batch": batch.name,
            "model": model,
            "value": datum(seen.value),
            "low": datum(seen.low),
            "high": datum(seen.high),
        }
        for index, batch in enumerate(monitoring.batches, start=1)
        for model in models
        if (seen := batch.seen.get((model, quantity))) is not None
    ]
    has_many_models = len(models) > 1
    names = monitoring.models if has_many_models else models
    colour = {"color": coloured("model", names, legend=has_many_models)}
    shared = {"x": _batch_axis(len(monitoring.batches)), **colour}
    shared |= (
        {"xOffset": field("model:N", sort=None)}
        if has_many_models and len(monitoring.batches) <= _MAX_NAMED_BATCHES
        else {}
    )
    title = BATCH_QUANTITIES[quantity][0].upper() + BATCH_QUANTITIES[quantity][1:]
    y_axis = {"title": title, "scale": {"zero": False, "nice": True}, "axis": {"tickCount": 6}}
    tooltip = [field("batch:N"), *([field("model:N")] if has_many_models else []), field("value:Q", title=title)]
    before = [{"model": model, "before": datum(monitoring.seen[model, quantity].value)} for model in models]
    layers = [
        mark("rule", before, {"y": field("before:Q", **y_axis), **colour}, strokeDash=[4, 4], opacity=0.8),
        mark("rule", rows, {**shared, "y": field("low:Q", **y_axis), "y2": "high"}, strokeWidth=1.4, opacity=0.6),
        mark("point", rows, {**shared, "y": field("value:Q", **y_axis), "tooltip": tooltip}, filled=True, opacity=1),
    ]
    description = f"{title} of each batch; dashed line: {monitoring.before}."
    return themed({**layered(layers, 520, 200), "description": description})


def _batch_axis(n_batches: int) -> Spec:
    """x axis of the batches, with their names if there are few."""
    if n_batches <= _MAX_NAMED_BATCHES:
        return field("batch:O", title="Batch", sort=None, axis={"labelOverlap": True, "labelAngle": 0, "grid": False})
    return field("place:Q", title="Batch", axis={"tickMinStep": 1, "grid": False})


_MAX_ROWS = 20


def monitor_document(monitoring: Monitoring) -> Document:
    """Document of monitoring; text output shows the batches and the verdict."""
    line = f"{monitoring.before}: {count_noun(monitoring.cases, 'case')}   {_batch_count(len(monitoring.batches))}"
    title, facts = "Drift over time", f"{line}   positive = {monitoring.positive}"
    table = grid(monitoring)
    sections = [
        Section("verdict", "Verdict", (Verdict(monitoring.words),), brief=True),
        Section("evidence", "Evidence", (monitor_picture(monitoring), table), True, (table,), "Is there a change?"),
        Section("questions", "Tests", _tests(monitoring), question="What changed?"),
    ]
    if any(batch.seen for batch in monitoring.batches):
        blocks = (*_measures(monitoring), *_so_far(monitoring))
        sections.append(Section("numbers", "Measures", blocks, question="How did the measures change?"))
    if monitoring.notes:
        sections.append(Section("notes", "Notes", (Notes(monitoring.notes),), brief=True))
    return Document(title, facts, tuple(sections))


def grid(monitoring: Monitoring) -> Grid:
    """One row per batch; of many, the last ones, the change point and the alarm."""
    rows = []
    for index, (batch, evidence) in enumerate(zip(monitoring.batches, monitoring.evidence.tolist(), strict=True)):
        share = "–" if batch.positives is None or not batch.cases else decimals(batch.positives / batch.cases)
        alarm = (
            ""
            if monitoring.alarm is None or index < monitoring.alarm
            else "alarm"
            if index == monitoring.alarm
            else "·"
        )
        if index >= len(monitoring.batches) - _MAX_ROWS or index in (monitoring.alarm, monitoring.began):
            rows.append((batch.name, grouped(batch.cases), share, evidence_text(evidence), alarm))
    n_hidden = len(monitoring.batches) - len(rows)
    hidden_note = (
        f" {_batch_count(n_hidden, 'earlier ')} {'is' if n_hidden == 1 else 'are'} not shown." if n_hidden else ""
    )
    caption = f"Evidence (e-value) of a change from all batches so far; alarm at {ALARM:g}.{hidden_note}"
    return Grid(("batch", "cases", "positives", "evidence", ""), tuple(rows), caption).without_blanks()


def monitor_picture(monitoring: Monitoring) -> Picture:
    """Chart of the evidence after each batch."""
    alt = "Evidence of a change after each batch, with the alarm threshold."
    return Picture(lambda: monitor_chart(monitoring), alt)


def _tests(monitoring: Monitoring) -> tuple[Block, ...]:
    """Evidence of each test, strongest first, at the alarm or so far."""
    index = len(monitoring.batches) - 1 if monitoring.alarm is None else monitoring.alarm
    when = "so far" if monitoring.alarm is None else f"at the alarm, {monitoring.batches[index].name}"
    changed = monitoring.moved
    answer = f"Strongest evidence of a change: {changed[0]}." if changed else "No test shows evidence of a change."
    ranked_tests = sorted(monitoring.alone(index).items(), key=lambda pair: -pair[1])
    rows = [
        (
            monitoring.title(key),
            evidence_text(evidence),
            decimals(monitoring.batches[index].p.get(key, math.nan)),
            "changed" if evidence >= ALARM else "",
        )
        for key, evidence in ranked_tests
    ]
    caption = (
        f"Evidence of each single test {when}, and p of that batch against all cases before it. The alarm combines "
        "all tests."
    )
    columns = ("test", "evidence", "p of the batch", "")
    return Text(answer[0].upper() + answer[1:]), Grid(columns, tuple(rows), caption).without_blanks()


def _so_far(monitoring: Monitoring) -> list[Block]:
    """Prevalence and AUC over all batches so far, after each batch."""
    keys = list(dict.fromkeys(key for batch in monitoring.batches for key in batch.so_far))
    rows = [
        (batch.name, *(format_interval(*batch.so_far[key]) if key in batch.so_far else "" for key in keys))
        for batch in monitoring.batches[-_MAX_ROWS:]
    ]
    if not keys:
        return []
    titles = (" ".join(filter(None, [BATCH_QUANTITIES[name], model])) for model, name in keys)
    caption = "All batches so far, with 95 % intervals that hold at every look, if cases come from one population."
    return [Grid(("batches up to", *titles), tuple(rows), caption).without_blanks()]


def _measures(monitoring: Monitoring) -> tuple[Block, ...]:
    """Measures of each batch and of the reference sample, as charts and table."""
    quantities = [
        name for name in BATCH_QUANTITIES if any(key[1] == name for batch in monitoring.batches for key in batch.seen)
    ]
    keys = [key for name in quantities for key in monitoring.seen if key[1] == name]
    last = monitoring.batches[-1]
    changes = [
        f"{_quantity_name(monitoring, key)} {decimals(monitoring.seen[key].value)} and {decimals(last.seen[key].value)}"
        for key in keys
        if key in last.seen
    ]
    description = "of each batch with confidence interval; dashed line:"
    pictures = [
        Picture(
            partial(quantity_chart, monitoring, name),
            f"{BATCH_QUANTITIES[name][0].upper()}{BATCH_QUANTITIES[name][1:]} {description} {monitoring.before}.",
        )
        for name in quantities
    ]
    samples = [
        (monitoring.before, monitoring.seen),
        *((batch.name, batch.seen) for batch in monitoring.batches[-_MAX_ROWS:]),
    ]
    rows = tuple(
        (name, *(format_interval(*estimates[key]) if key in estimates else "–" for key in keys))
        for name, estimates in samples
    )
    caption = "95 % confidence intervals of single batches; changes are tested above, over all batches together."
    columns = ("batch", *(_quantity_name(monitoring, key) for key in keys))
    table = Grid(columns, rows, caption, folded="Measures of each batch")
    return Text(f"In {monitoring.before} and in {last.name}: {'; '.join(changes)}."), *pictures, table


def _quantity_name(monitoring: Monitoring, key: tuple[str, str]) -> str:
    """Name of a quantity, with the model if there are several."""
    model, name = key
    return f"{BATCH_QUANTITIES[name]} of {model}" if model and len(monitoring.models) > 1 else BATCH_QUANTITIES[name]


def _batch_count(count: int, qualifier: str = "") -> str:
    return f"{grouped(count)} {qualifier}batch{'es' * (count != 1)}"

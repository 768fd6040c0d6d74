"""Sections of the clinical profile: flow of participants, and what STARD 2015 and TRIPOD+AI ask to report.

References: Bossuyt et al. (2015), "STARD 2015", BMJ 351; Collins et al. (2024), "TRIPOD+AI statement", BMJ 385. Topics
are in our own words. An item has a number only where independent public checklists agree on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from scorespace.inference.estimate import Estimate
from scorespace.measures.catalog import MeasureSpec, parse
from scorespace.measures.request import can_compute
from scorespace.report.document import Block, Grid, Text
from scorespace.report.protocol import EvaluationView
from scorespace.results import count_noun, decimals, grouped
from scorespace.tables.threshold import threshold_text

AUTHOR: Final = "author"
"""Answer to an item that the data cannot fill in."""

_STARD_OF_AUTHOR: Final = (
    *("design: prospective or retrospective", "eligibility, recruitment and sampling", "setting and dates"),
    *("index test and reference standard in detail", "why this reference standard", "blinding of readers"),
    *("baseline characteristics and severity", "time between the tests", "adverse events", "limitations"),
    *("implications for practice", "registration, protocol and funding"),
)
_TRIPOD_OF_AUTHOR: Final = (
    *("title, abstract and objectives", "source, setting and dates of the data", "eligibility and treatments"),
    *("outcome and its assessment", "predictors and their assessment", "how the model was built and is computed"),
    *("ethics, funding and conflicts of interest", "availability of data and code", "patient involvement"),
    *("limitations and usability",),
)
_Item = tuple[str, str, str]
_DISCRIMINATION, _CALIBRATION = ("auc",), ("oe", "cal_slope", "cal_offset", "ici")


def flow_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Cases that were left out, with the reason, and those that were analysed, by class."""
    if not evaluation.profile.checklists:
        return []
    models = evaluation.models
    rows: list[tuple[str, str]] = []
    excluded, dropped = _facts(evaluation, "SS090"), _facts(evaluation, "SS009")
    if excluded:
        rows.append(("rows in the data", grouped(excluded["rows"])))
        rows.append(("excluded by the stated condition, or unknown", grouped(excluded["rows"] - excluded["included"])))
    if dropped:
        rows.append(("eligible rows", grouped(dropped["rows"])))
        rows += [(f"no result in {column!r}", grouped(count)) for column, count in dropped["missing"].items()]
        rows.append(("left out: any of these missing", grouped(dropped["dropped"])))
    rows.append(("analysed", grouped(models.rows)))
    rows += [(f"with reference standard {name}", grouped(count)) for name, count in models.classes.items()]
    text = f"{count_noun(models.rows, 'case')} analysed" + (
        f"; {grouped(dropped['dropped'])} left out for missing or indeterminate results."
        if dropped
        else "; none missing."
    )
    caption = "An indeterminate result is a field left empty in the column of its test; a row may lack several."
    return [Text(text), Grid(("participants", "number"), tuple(rows), caption)]


def checklist_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """What the two guidelines ask for: filled in where the data answer it, else named as the author's."""
    if not evaluation.profile.checklists or not evaluation.models.two_class:
        return []
    columns = ("item", "topic", "answer")
    stard, tripod = _stard(evaluation), _tripod(evaluation)
    filled = sum(answer != AUTHOR for items in (stard, tripod) for _, _, answer in items)
    return [
        Text(f"{filled} items are filled in from the data; the others are the author's."),
        Text("STARD 2015, for the accuracy of a diagnostic test:"),
        Grid(columns, tuple(stard), prose=True),
        Text("TRIPOD+AI, for a prediction model:"),
        Grid(
            columns,
            tuple(tripod),
            "Topics in our own words; a number is given where independent public checklists agree on it.",
            prose=True,
        ),
    ]


def _stard(evaluation: EvaluationView) -> list[_Item]:
    names = evaluation.models.two_class
    scored = [name for name in names if evaluation.models[name].thresholded]
    thresholds = [f"{name} {threshold_text(evaluation.threshold(name))}" for name in scored]
    cut = f"{', '.join(thresholds)}; whether prespecified: {AUTHOR}" if thresholds else "decisions, no threshold"
    counts = [(name, evaluation.counts(name)) for name in names]
    tabulated = "; ".join(
        f"{name}: TP {grouped(float(c.tp))}, FP {grouped(float(c.fp))}, FN {grouped(float(c.fn))}, "
        f"TN {grouped(float(c.tn))}"
        for name, c in counts
    )
    methods = dict.fromkeys(one.method for one in evaluation.summary if one.method)
    return [
        ("12a", "positivity threshold of the index test", cut),
        ("14", "methods of estimation and comparison", f"intervals: {', '.join(methods)}"),
        ("15", "how indeterminate results were handled", _indeterminate(evaluation)),
        ("16", "how missing results were handled", _missing(evaluation)),
        ("17", "variability in accuracy", _subgroups(evaluation)),
        ("18", "intended sample size", AUTHOR),
        ("19", "flow of participants", "see the section Flow of participants"),
        ("23", "index test against reference standard", tabulated),
        ("24", "accuracy with its precision", _accuracy(evaluation, names)),
        *(("", topic, AUTHOR) for topic in _STARD_OF_AUTHOR),
    ]


def _tripod(evaluation: EvaluationView) -> list[_Item]:
    names = [name for name in evaluation.models.two_class if evaluation.models[name].thresholded]
    found = {kind: _estimates(evaluation, names, specs) for kind, specs in _performance(evaluation, names).items()}
    kinds = [
        f"{kind} ({', '.join(dict.fromkeys(str(one.spec) for one in estimates))})"
        for kind, estimates in found.items()
        if estimates
    ]
    values = "; ".join(_text(one) for estimates in found.values() for one in estimates)
    models = evaluation.models
    events = f"{grouped(models.rows)} cases, {grouped(_events(evaluation))} with {models.positive}"
    return [
        ("", "missing data", _missing(evaluation)),
        ("", "sample size", f"{events}; how it was determined: {AUTHOR}"),
        ("12e", "measures of performance", "; ".join(kinds) or AUTHOR),
        ("21", "participants and events in each analysis", f"{events}{_slice_sizes(evaluation)}"),
        ("23a", "performance with intervals", values or _accuracy(evaluation, models.two_class)),
        ("23a", "performance in key subgroups", _subgroups(evaluation)),
        ("23b", "heterogeneity between clusters", _clusters(evaluation)),
        ("24", "results of model updating", f"calibrate --report shows them; {AUTHOR}"),
        *(("", topic, AUTHOR) for topic in _TRIPOD_OF_AUTHOR),
    ]


def _performance(evaluation: EvaluationView, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Measures by what they are for; net benefit at the threshold of the first model with probabilities."""
    at = next((evaluation.threshold(name) for name in names if evaluation.models[name].probabilities), math.nan)
    utility = (f"nb@{at:.6g}",) if 0 < at < 1 else ()
    return {"discrimination": _DISCRIMINATION, "calibration": _CALIBRATION, "clinical utility": utility}


def _estimates(evaluation: EvaluationView, names: Sequence[str], texts: Sequence[str]) -> list[Estimate]:
    """The measures of the models that have them."""
    specs: list[MeasureSpec] = [
        spec for spec in map(parse, texts) if any(can_compute(spec, evaluation.models[name]) for name in names)
    ]
    return [one for one in evaluation.estimated(*specs) if one.model in names] if specs else []


def _accuracy(evaluation: EvaluationView, names: Sequence[str]) -> str:
    found = [one for one in evaluation.summary if one.model in names and one.spec.name in ("tpr", "tnr", "ppv", "npv")]
    estimates = found or [one for one in evaluation.summary if one.model in names]
    return "; ".join(f"{one.model} {evaluation.profile.label(one.spec)} {one.text}" for one in estimates)


def _text(one: Estimate) -> str:
    return f"{one.model} {one.spec} {one.text}"


def _subgroups(evaluation: EvaluationView) -> str:
    if evaluation.slices is None:
        return f"none analysed (--by COL); {AUTHOR}"
    return f"by {', '.join(evaluation.slices.by)}: see the section Subgroups; prespecified or exploratory: {AUTHOR}"


def _slice_sizes(evaluation: EvaluationView) -> str:
    return "" if evaluation.slices is None else "; of each subgroup in the section Subgroups"


def _clusters(evaluation: EvaluationView) -> str:
    if evaluation.over_folds:
        return "over folds: see the section Folds"
    return f"intervals resample whole groups; {AUTHOR}" if evaluation.models.grouped else AUTHOR


def _missing(evaluation: EvaluationView) -> str:
    dropped = _facts(evaluation, "SS009")
    if not dropped:
        return f"no missing values in the columns used ({count_noun(evaluation.models.rows, 'case')})"
    columns = ", ".join(f"{column!r} {grouped(count)}" for column, count in dropped["missing"].items())
    share = decimals(dropped["dropped"] / dropped["rows"])
    left_out = f"{grouped(dropped['dropped'])} of {grouped(dropped['rows'])} rows left out ({share})"
    return f"complete cases: {left_out}: {columns}"


def _indeterminate(evaluation: EvaluationView) -> str:
    if not _facts(evaluation, "SS009"):
        return f"no empty results; {AUTHOR}"
    return f"empty results are left out and counted in the flow of participants; {AUTHOR}"


def _events(evaluation: EvaluationView) -> float:
    return float(evaluation.models.classes.get(str(evaluation.models.positive), 0))


def _facts(evaluation: EvaluationView, code: str) -> dict[str, Any]:
    """The numbers of the first note with a code; empty without such a note."""
    found = next((note for note in evaluation.sample_notes if note.code == code and note.facts), None)
    return {} if found is None else dict(found.facts)

"""Catalogues of measures, curves and tests: tables, and the details of single entries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from scorespace.comparisons.test import TestKind
from scorespace.curves.curve import CurveKind
from scorespace.inference.bands import band
from scorespace.measures import Measure
from scorespace.measures.average import AVERAGES, PAIR_AVERAGES
from scorespace.options import Registered, format_call
from scorespace.report.document import Grid
from scorespace.results import Row
from scorespace.tables import ClassTable, ConfusionTable, Counts, ScoreTable, Table
from scorespace.tables.clusters import ClusterTable
from scorespace.tables.table import required_input_of

_CLASSIFICATION_TABLES: Final = (Counts, ScoreTable, ConfusionTable, ClassTable)
_DIRECTION = {"high": "higher is better", "low": "lower is better", None: "no direction is better"}


# --- measures


def entry(measure: Measure) -> Row:
    """A measure as a row of data."""
    return {
        "name": measure.name,
        "title": measure.title,
        "topic": measure.topic,
        "summary": measure.summary,
        "needs": _needs(measure.table),
        "low": measure.range[0],
        "high": measure.range[1],
        "best": measure.best,
        "undefined": measure.undefined,
        "interval": measure.interval,
        "coverage_note": measure.coverage_note,
        "covers": measure.coverage_note,  # name before 0.2, to be removed in 0.3
        "options": options_text(measure),
        "aliases": ", ".join(measure.aliases),
    }


def described(measures: Sequence[Measure]) -> Grid:
    """Short catalogue by topic: name, direction and summary."""
    rows: list[tuple[str, ...]] = []
    for topic, topic_measures in by_topic(measures).items():
        rows += [
            ("", "", ""),
            ("", "", f"{topic}:"),
            *((measure.name, measure.arrow, measure.summary) for measure in topic_measures),
        ]
    return Grid(("measure", "", "definition"), tuple(rows), prose=True)


def by_topic(measures: Sequence[Measure]) -> dict[str, list[Measure]]:
    """Measures by topic, in the order of the catalogue."""
    topics: dict[str, list[Measure]] = {}
    for measure in measures:
        topics.setdefault(measure.topic, []).append(measure)
    return topics


def explained(measure: Measure) -> Grid:
    """Details of a measure."""
    low, high = (f"{bound:g}" if math.isfinite(bound) else ("−∞" if bound < 0 else "∞") for bound in measure.range)
    requirements = _needs(measure.table, measure.probability)
    facts = [
        (measure.name, measure.title),
        ("definition", measure.summary),
        ("range", f"{low} to {high}; {_DIRECTION[measure.best]}"),
        ("undefined", f"when {measure.undefined}"),
        (
            "interval",
            measure.interval if measure.coverage_note is None else f"{measure.interval}; {measure.coverage_note}",
        ),
        ("needs", f"{requirements}; write {example(measure)}"),
        *([("multiclass", classes)] if (classes := _class_forms(measure)) else []),
        ("names", ", ".join((measure.name, *measure.aliases))),
        *(
            [("also", "; ".join(f"{name} is {text}" for name, text in measure.shorthands.items()))]
            if measure.shorthands
            else []
        ),
    ]
    if measure.biased:
        facts.insert(2, ("caution", measure.biased))
    if measure.infinite:
        facts.insert(4, ("infinite", f"when {measure.infinite}"))
    return Grid(("", ""), (*facts, *_option_rows(measure)), prose=True)


def example(measure: Measure) -> str:
    """How to request the measure."""
    return f"{measure.name}@0.5" if measure.table is Counts else measure.name


def _class_forms(measure: Measure) -> str:
    """How to request the measure for multiclass models or single clusters; empty if it has no such form."""
    name = measure.name
    if measure.table not in _CLASSIFICATION_TABLES:
        return f"{name}[CLUSTER]" if measure.table is ClusterTable else ""
    multiclass_forms = [name] if {ConfusionTable, ClassTable} & set(measure.functions) else []
    averages = AVERAGES if measure.table is Counts else (*AVERAGES, *PAIR_AVERAGES)
    return ", ".join([*multiclass_forms, f"{name}[CLASS]", *(f"{name}[{average}]" for average in averages)])


# --- curves


def curve_entry(kind: CurveKind[Any]) -> Row:
    """A kind of curve as a row of data."""
    return {
        "name": kind.name,
        "title": kind.title,
        "summary": kind.summary,
        "needs": _needs(kind.table, kind.probability),
        "x": kind.x,
        "y": kind.y,
        "area": kind.area or None,
        "band": band.of(kind) is not None,
        "options": options_text(kind),
        "aliases": ", ".join(kind.aliases),
    }


def curves_described(kinds: Sequence[CurveKind[Any]]) -> Grid:
    """Short catalogue: name and summary."""
    return Grid(("curve", "definition"), tuple((kind.name, kind.summary) for kind in kinds), prose=True)


def explained_curve(kind: CurveKind[Any]) -> Grid:
    """Details of a kind of curve."""
    facts = [
        (kind.name, kind.title),
        ("definition", kind.summary),
        ("axes", f"{kind.y.lower()} against {kind.x.lower()}"),
        ("area", kind.area or "no interpretation"),
        ("band", "simultaneous confidence band with --band" if band.of(kind) else "none"),
        ("needs", f"{_needs(kind.table, kind.probability)}; write {curve_example(kind)}"),
        ("names", ", ".join((kind.name, *kind.aliases))),
    ]
    return Grid(("", ""), (*facts, *_option_rows(kind)), prose=True)


def curve_example(kind: CurveKind[Any]) -> str:
    """How to request the curve, with its first option if it has one."""
    if not kind.options:
        return f"--kind {kind.name}"
    first = kind.options[0]
    value = first.choices[-1] if first.choices else 0.5 if first.default is None else first.default
    return f'--kind "{format_call(kind.name, ((first.name, value),))}"'


# --- common to all


def options_text(noun: Registered) -> str:
    """Options, one per line, with defaults and descriptions."""
    return "\n".join(option.text for option in noun.options)


def _option_rows(noun: Registered) -> list[tuple[str, str]]:
    return [("" if index else "options", option.text) for index, option in enumerate(noun.options)]


def _needs(table: type, probability: bool = False) -> str:
    return required_input_of(table) + (" between 0 and 1" if probability else "")


def test_entry(kind: TestKind) -> Row:
    """A test as a row of data."""
    return {
        "name": kind.name,
        "title": kind.title,
        "summary": kind.summary,
        "for": kind.for_,
        "asked": [form.asks for form in kind.forms],
        "sides": sides(kind),
        "options": [option.text for option in kind.options],
        "aliases": ", ".join(kind.aliases),
    }


def tests_grid(kinds: Sequence[TestKind]) -> Grid:
    """Short catalogue: name and purpose."""
    return Grid(("test", "purpose"), tuple((kind.name, kind.for_) for kind in kinds), prose=True)


def explained_test(kind: TestKind) -> Grid:
    """Details of a test."""
    facts = [
        (kind.name, kind.title),
        ("definition", kind.summary),
        ("purpose", kind.for_),
        ("compares", "; ".join(form.asks for form in kind.forms)),
        ("requires", "; ".join(requirements(kind))),
        ("sides", sides(kind)),
        ("names", ", ".join((kind.name, *kind.aliases))),
        *(("option" if k == 0 else "", option.text) for k, option in enumerate(kind.options)),
    ]
    return Grid(("", ""), tuple(facts), prose=True)


def sides(kind: TestKind) -> str:
    """Whether the test can be one-sided."""
    return "two, or one with --alternative" if kind.directed else "two"


def requirements(kind: TestKind) -> list[str]:
    """Conditions under which the test is valid, in words."""
    form = next(iter(kind.forms.values()))
    table = [] if form.table is Table else [f"models with a {form.table.__name__}"]
    rule_texts = ((rule.__doc__ or "").strip().splitlines()[0].rstrip(".") for rule in form.suits)
    return [*table, *((text[:1].lower() + text[1:]).removeprefix("requires ") for text in rule_texts)]

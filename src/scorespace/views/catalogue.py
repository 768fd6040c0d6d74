"""Declared nouns described for people: the catalogues of measures and of curves, and one entry of each explained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from scorespace.curves.curve import CurveKind
from scorespace.declaration import Noun, call_text
from scorespace.measures import Measure
from scorespace.measures.average import AVERAGES, OVER_PAIRS
from scorespace.resampling.band import band
from scorespace.results import Row
from scorespace.tables import ClassTable, ConfusionTable, Counts, ScoreTable
from scorespace.tables.cluster import ClusterTable
from scorespace.tables.table import held
from scorespace.views.document import Grid

_OF_CLASSES: Final = (Counts, ScoreTable, ConfusionTable, ClassTable)
_BETTER = {"high": "higher is better", "low": "lower is better", None: "neither direction is better"}


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
        "covers": measure.covers,
        "options": options_text(measure),
        "aliases": ", ".join(measure.aliases),
    }


def described(measures: Sequence[Measure]) -> Grid:
    """The catalogue in short, topic by topic: name, direction, and what it is."""
    rows: list[tuple[str, ...]] = []
    for topic, found in by_topic(measures).items():
        rows += [("", "", ""), ("", "", f"{topic}:"), *((one.name, one.arrow, one.summary) for one in found)]
    return Grid(("measure", "", "what it is"), tuple(rows), prose=True)


def by_topic(measures: Sequence[Measure]) -> dict[str, list[Measure]]:
    """The measures under the topics of their files, in the order of the catalogue."""
    topics: dict[str, list[Measure]] = {}
    for one in measures:
        topics.setdefault(one.topic, []).append(one)
    return topics


def explained(measure: Measure) -> Grid:
    """Everything a reader needs to know about one measure."""
    low, high = (f"{bound:g}" if math.isfinite(bound) else ("−∞" if bound < 0 else "∞") for bound in measure.range)
    needed = _needs(measure.table, measure.probability)
    facts = [
        (measure.name, measure.title),
        ("what", measure.summary),
        ("range", f"{low} to {high}; {_BETTER[measure.best]}"),
        ("undefined", f"when {measure.undefined}"),
        ("interval", measure.interval if measure.covers is None else f"{measure.interval}; {measure.covers}"),
        ("needs", f"{needed}; write {example(measure)}"),
        *([("classes", classes)] if (classes := _of_classes(measure)) else []),
        ("names", ", ".join((measure.name, *measure.aliases))),
        *(
            [("also", "; ".join(f"{name} is {text}" for name, text in measure.spelled.items()))]
            if measure.spelled
            else []
        ),
    ]
    if measure.biased:
        facts.insert(2, ("beware", measure.biased))
    if measure.infinite:
        facts.insert(4, ("infinite", f"when {measure.infinite}"))
    return Grid(("", ""), (*facts, *_option_rows(measure)), prose=True)


def example(measure: Measure) -> str:
    """How a user writes it."""
    return f"{measure.name}@0.5" if measure.table is Counts else measure.name


def _of_classes(measure: Measure) -> str:
    """How it is written for several classes, or of one cluster; where it knows neither, nothing."""
    name = measure.name
    if measure.table not in _OF_CLASSES:
        return f"{name}[CLUSTER]" if measure.table is ClusterTable else ""
    whole = [name] if {ConfusionTable, ClassTable} & set(measure.functions) else []
    averages = AVERAGES if measure.table is Counts else (*AVERAGES, *OVER_PAIRS)
    return ", ".join([*whole, f"{name}[CLASS]", *(f"{name}[{how}]" for how in averages)])


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
    """The catalogue in short: name and what it shows."""
    return Grid(("curve", "what it shows"), tuple((one.name, one.summary) for one in kinds), prose=True)


def explained_curve(kind: CurveKind[Any]) -> Grid:
    """Everything a reader needs to know about one kind of curve."""
    facts = [
        (kind.name, kind.title),
        ("what", kind.summary),
        ("axes", f"{kind.y.lower()} against {kind.x.lower()}"),
        ("area", kind.area or "none that means anything"),
        ("band", "--band draws one for the whole curve" if band.of(kind) else "none"),
        ("needs", f"{_needs(kind.table, kind.probability)}; write {curve_example(kind)}"),
        ("names", ", ".join((kind.name, *kind.aliases))),
    ]
    return Grid(("", ""), (*facts, *_option_rows(kind)), prose=True)


def curve_example(kind: CurveKind[Any]) -> str:
    """How a user writes it, with its first option where it has one."""
    if not kind.options:
        return f"--kind {kind.name}"
    first = kind.options[0]
    value = first.choices[-1] if first.choices else 0.5 if first.default is None else first.default
    return f'--kind "{call_text(kind.name, ((first.name, value),))}"'


# --- what all have


def options_text(noun: Noun) -> str:
    """The options, a line each, with their defaults and what they are for."""
    return "\n".join(option.text for option in noun.options)


def _option_rows(noun: Noun) -> list[tuple[str, str]]:
    return [("" if place else "options", option.text) for place, option in enumerate(noun.options)]


def _needs(table: type, probability: bool = False) -> str:
    return held(table) + (" between 0 and 1" if probability else "")

"""Measures described for people: the catalogue and one measure explained."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scorespace.measures import Measure
from scorespace.measures.average import AVERAGES, OVER_PAIRS
from scorespace.results import Row
from scorespace.tables import ClassTable, ConfusionTable, Counts, ScoreTable
from scorespace.views.document import Grid

_NEEDS = {Counts: "decisions", ScoreTable: "scores", ConfusionTable: "decisions on several classes"}
_BETTER = {"high": "higher is better", "low": "lower is better", None: "neither direction is better"}


def entry(measure: Measure) -> Row:
    """A measure as a row of data."""
    return {
        "name": measure.name,
        "title": measure.title,
        "summary": measure.summary,
        "needs": _NEEDS.get(measure.table, measure.table.__name__),
        "low": measure.range[0],
        "high": measure.range[1],
        "best": measure.best,
        "undefined": measure.undefined,
        "interval": measure.interval,
        "options": ", ".join(f"{option.name}={_default(option.default)}" for option in measure.options),
        "aliases": ", ".join(measure.aliases),
    }


def described(measures: Sequence[Measure]) -> Grid:
    """The catalogue in short: name, direction, and what it is."""
    return Grid(
        ("measure", "", "what it is"), tuple((one.name, one.arrow, one.summary) for one in measures), prose=True
    )


def explained(measure: Measure) -> Grid:
    """Everything a reader needs to know about one measure."""
    low, high = (f"{bound:g}" if math.isfinite(bound) else ("−∞" if bound < 0 else "∞") for bound in measure.range)
    facts = [
        (measure.name, measure.title),
        ("what", measure.summary),
        ("range", f"{low} to {high}; {_BETTER[measure.best]}"),
        ("undefined", f"when {measure.undefined}"),
        ("interval", measure.interval),
        ("needs", f"{_needed(measure)}; write {example(measure)}"),
        ("classes", _of_classes(measure)),
        ("names", ", ".join((measure.name, *measure.aliases))),
    ]
    if measure.infinite:
        facts.insert(4, ("infinite", f"when {measure.infinite}"))
    if measure.options:
        facts.append(("options", ", ".join(f"{option.name}={_default(option.default)}" for option in measure.options)))
    return Grid(("", ""), tuple(facts), prose=True)


def example(measure: Measure) -> str:
    """How a user writes it."""
    return f"{measure.name}@0.5" if measure.table is Counts else measure.name


def _needed(measure: Measure) -> str:
    needed = _NEEDS.get(measure.table, "")
    return f"{needed} between 0 and 1" if measure.probability else needed


def _of_classes(measure: Measure) -> str:
    """How it is written for several classes."""
    name = measure.name
    whole = [name] if {ConfusionTable, ClassTable} & set(measure.functions) else []
    averages = AVERAGES if measure.table is Counts else (*AVERAGES, *OVER_PAIRS)
    return ", ".join([*whole, f"{name}[CLASS]", *(f"{name}[{how}]" for how in averages)])


def _default(value: object) -> str:
    if value is None:
        return "…"
    return f"{value:g}" if isinstance(value, float) else str(value).lower()

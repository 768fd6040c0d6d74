"""Tests described for people: the list of them, and one explained."""

from __future__ import annotations

from collections.abc import Sequence

from scorespace.comparisons.test import TestKind
from scorespace.results import Row
from scorespace.tables import Table
from scorespace.views.document import Grid


def entry(kind: TestKind) -> Row:
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
    """All tests in short: name and what each is for."""
    return Grid(("test", "what it is for"), tuple((one.name, one.for_) for one in kinds), prose=True)


def explained(kind: TestKind) -> Grid:
    """Everything a reader needs to know about one test."""
    facts = [
        (kind.name, kind.title),
        ("what", kind.summary),
        ("for", kind.for_),
        ("can", "; ".join(form.asks for form in kind.forms)),
        ("suits", "; ".join(suiting(kind))),
        ("sides", sides(kind)),
        ("names", ", ".join((kind.name, *kind.aliases))),
        *(("option" if k == 0 else "", option.text) for k, option in enumerate(kind.options)),
    ]
    return Grid(("", ""), tuple(facts), prose=True)


def sides(kind: TestKind) -> str:
    """Whether it can speak for one direction alone."""
    return "two, or one with --alternative" if kind.directed else "two"


def suiting(kind: TestKind) -> list[str]:
    """What its rules ask for, in words."""
    form = next(iter(kind.forms.values()))
    table = [] if form.table is Table else [f"models with a {form.table.__name__}"]
    said = ((rule.__doc__ or "").strip().splitlines()[0].rstrip(".") for rule in form.suits)
    return [*table, *(text[:1].lower() + text[1:] for text in said)]

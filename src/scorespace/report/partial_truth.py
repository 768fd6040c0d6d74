"""Estimates from partial truth: values with and without the proxy, and what the labels are worth; rows to label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from scorespace.report.document import Document, Grid, one_section
from scorespace.results import Note, decimals, grouped, percent


class PartialTruthView(Protocol):
    """An evaluation with partial truth as its document sees it."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def labels(self) -> int: ...

    @property
    def proxy(self) -> str | None: ...

    @property
    def positive(self) -> str | None: ...

    @property
    def estimates(self) -> Sequence[Any]: ...

    @property
    def words(self) -> str: ...

    @property
    def notes(self) -> tuple[Note, ...]: ...


class LabelPlanView(Protocol):
    """A choice of rows to label as its document sees it."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def words(self) -> str: ...

    @property
    def notes(self) -> tuple[Note, ...]: ...

    def rows(self) -> list[dict[str, Any]]: ...


def document(found: PartialTruthView) -> Document:
    """The document of an evaluation with partial truth."""
    facts = f"{grouped(found.size)} cases   {grouped(found.labels)} with a truth ({percent(found.labels / found.size)})"
    facts += "" if found.positive is None else f"   positive = {found.positive}"
    several = len({one.model for one in found.estimates}) > 1
    rows: list[tuple[str, ...]] = []
    for one in found.estimates:
        worth = "–" if math.isnan(one.worth) else grouped(round(one.worth))
        name = f"{one.model} {one.spec}" if several else str(one.spec)
        name = f"{name} {one.spec.measure.arrow}".rstrip()
        rows.append((name, one.text, decimals(one.truth_alone, 3), decimals(one.tuning, 2), worth))
    heads: tuple[str, ...] = ("", "estimate", "truth alone", "proxy weight", "worth")
    if found.proxy is None:
        heads, rows = heads[:2], [row[:2] for row in rows]
    return one_section(found.name, facts, "Measures", [Grid(heads, tuple(rows))], found.words, found.notes)


def label_document(plan: LabelPlanView) -> Document:
    """The document of a choice of rows to label."""
    rows = tuple(
        (str(row["scores"]), grouped(row["rows"]), grouped(row["chosen"]), decimals(row["probability"], 4))
        for row in plan.rows()
    )
    grid = Grid(("scores", "rows", "to label", "mean probability"), rows)
    return one_section(plan.name, f"{grouped(plan.size)} cases", "Rows to label", [grid], plan.words, plan.notes)

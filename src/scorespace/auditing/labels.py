"""Columns that say little, labels written in several ways, and gaps that know the target."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from scorespace.auditing.column import Column
from scorespace.auditing.finding import Seen, finding
from scorespace.auditing.leaks import Leads
from scorespace.comparisons.adjust import holm
from scorespace.results import decimals, grouped, p_text


@finding("SS150", "warning", "a constant column", "Leave it out: it says nothing.")
def constant(column: Column) -> Iterator[Seen]:
    if column.kind.name == "constant" and column.held.rows > 1:
        yield column.seen(f"in {column.name!r} {column.evidence}.")


@finding("SS151", "info", "a nearly constant column", "It can hardly help, and a split may leave it constant.")
def nearly_constant(column: Column) -> Iterator[Seen]:
    held = column.held
    if held.distinct < 2 or column.target or column.known < 50:
        return
    code = int(np.argmax(held.counts))
    share = int(held.counts[code]) / column.known
    if share >= 0.99:
        yield column.seen(f"{column.text(code)} fills {100 * share:.1f} % of {column.name!r}.", {"share": share})


@finding("SS152", "info", "a column with many gaps", "Ask why they are missing before filling them.")
def gaps(column: Column) -> Iterator[Seen]:
    share = column.held.missing / column.held.rows
    if column.kind.name != "constant" and share >= 0.2 and not column.target:
        yield column.seen(f"{100 * share:.0f} % of {column.name!r} is missing.", {"share": share})


@finding("SS153", "warning", "one label written in several ways", "Write it in one way.")
def variants(column: Column) -> Iterator[Seen]:
    """Labels that differ in case, blanks or hyphens only."""
    held = column.held
    if held.stored != "text" or column.kind.name in ("identifier", "text"):
        return
    by_folded: dict[str, list[int]] = {}
    for code, value in enumerate(held.values):
        by_folded.setdefault(re.sub(r"[\s_-]+", " ", str(value)).strip().casefold(), []).append(code)
    several = [codes for codes in by_folded.values() if len(codes) > 1]
    if several:
        shown = "; ".join(
            " = ".join(f"{column.text(code)} ({grouped(int(held.counts[code]))})" for code in codes[:4])
            for codes in several[:3]
        )
        more = f" and {len(several) - 3} more" if len(several) > 3 else ""
        many = f"{len(several)} {'label' if len(several) == 1 else 'labels'}"
        text = f"{column.name!r} writes {many} in several ways: {shown}{more}."
        yield column.seen(text, {"labels": len(several)}, several[0][-1])


@finding("SS154", "warning", "levels that were not stated", "Correct the rows, or state the level too.")
def unstated(column: Column) -> Iterator[Seen]:
    """Values outside the levels that the user stated."""
    if column.stated is None or not column.stated.levels:
        return
    found = [
        code for code in range(column.held.values.size) if column.text(code).strip("'") not in column.stated.levels
    ]
    if found:
        shown = ", ".join(f"{column.text(code)} ({grouped(int(column.held.counts[code]))})" for code in found[:5])
        text = f"{column.name!r} holds values that are none of the stated levels: {shown}."
        yield column.seen(text, code=found[0])


@finding(
    "SS155",
    "warning",
    "missing values depend on the target",
    "Filling them hides this, and dropping the rows changes the classes: keep missing as a value of its own, and ask "
    "whether it is known beforehand.",
)
def telling_gaps(leads: Leads) -> Iterator[Seen]:
    adjusted = holm([one.p for one in leads.gaps]).tolist() if leads.gaps else []
    target = leads.target.name
    for one, p in zip(leads.gaps, adjusted, strict=True):
        effect = abs(one.area - 0.5)
        if p < 0.01 and effect >= 0.05:
            more = "more" if (one.area > 0.5) else "less"
            words = (
                f"{one.column!r} is missing {more} often where {target!r} is {one.of_class!r}"
                if one.of_class
                else f"{target!r} is {'higher' if one.area > 0.5 else 'lower'} where {one.column!r} is missing"
            )
            yield Seen(
                (one.column, target),
                f"{words} (AUC {decimals(max(one.area, 1 - one.area))}, {p_text(p)} after correction; "
                f"{100 * one.share:.0f} % are missing).",
                {"auc": one.area, "p": one.p, "p_adjusted": p, "share": one.share},
                level="warning" if effect >= 0.1 else "info",
            )

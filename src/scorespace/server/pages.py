"""The pages of the server: each is a page of the report, with the bar above it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from scorespace.frames.behind import Behind
from scorespace.results import Row, grouped
from scorespace.server.asked import MODELS, ONCE, Asked, stem
from scorespace.server.folder import Folder
from scorespace.server.proposal import Column, Look, Proposal
from scorespace.tables.labels import label_text
from scorespace.views.document import Block, Document, Grid, Section, Text
from scorespace.views.report.page import Served, part, render, templates

SLOT: Final = "<!-- the bar -->"
"""Where the bar goes in a page that is kept: the files of the folder may be others by then."""

_HERE: Final = Path(__file__).parent
_WIDEST: Final = 200  # signs of a text that are shown
_FOOT: Final = "This page is served on your own computer, to you alone, and loads nothing from the network."
_CONTROLS: Final = (
    ("truth", "radio"),
    *((name, "checkbox") for name in MODELS),
    *((name, "radio") for name in ONCE),
    ("by", "checkbox"),
)
_PARTS: Final = 4  # into which a column of many numbers is proposed to be cut
_COSTS: Final = (
    ("cost-fp", "A false alarm costs"),
    ("cost-fn", "A miss costs"),
    ("prevalence", "Share of positives in use"),
    ("cost-under", "Too low costs"),
    ("cost-over", "Too high costs"),
)


def around(bar: str, *, linked: bool = False) -> Served:
    """What is put around a page; one that is linked leads to the rows behind its numbers."""
    return Served(bar, part(_HERE / "serve.css"), _FOOT, part(_HERE / "rows.js") if linked else "")


def bar(
    folder: Folder,
    asked: Asked,
    found: tuple[Look, Proposal] | None,
    *,
    open: bool = False,
    ready: bool = False,
    working: bool = False,
    rows: Row | None = None,
) -> str:
    """The bar: the files of the folder, the columns of the one that is open, and what to do with a page."""
    look, proposal = found or (None, None)
    names = folder.names()
    columns = [*(proposal.patterns if proposal else ()), *(look.columns if look else ())]
    named = {one.name for one in columns}
    cuts = {_cut(one, asked) for one in columns}
    typed = [name for name in asked.every("score") if name not in named]  # such as votes=sum(d*)
    typed += [name for name in asked.every("by") if name not in cuts]
    columns = [*(Column(name, "pattern", "as the address says") for name in typed), *columns]
    return (
        templates(_HERE)
        .get_template("bar.html")
        .render(
            asked=asked,
            files=names,
            look=look,
            columns=columns,
            why={one.name: proposal.why.get(one.name, "") if proposal else "" for one in columns},
            labelled=[one for one in columns if one.kind != "pattern" and 2 <= len(one.labels) <= 20],
            roles=_CONTROLS,
            value=lambda role, one: _value(role, one, asked),
            once=ONCE,
            costs=_COSTS,
            matrices=[name for name in names if name.casefold().endswith(".csv") and name != asked.file],
            open=open,
            ready=ready,
            working=working,
            rows=rows,
            free=folder.free(f"{stem(asked.file)}.html"),
        )
    )


def _value(role: str, one: Column, asked: Asked) -> str:
    """What the address says once a column is ticked for a role; nothing where it cannot have it."""
    if one.kind == "pattern":
        return one.name if role == ("by" if one.name in asked.every("by") else "score") else ""
    return _cut(one, asked) if role == "by" else one.name


def _cut(one: Column, asked: Asked) -> str:
    """How a column makes slices: as the address says, or else by its labels, in parts of its numbers, or by months.

    >>> [_cut(one, Asked()) for one in (Column("age", "ratio", ends=(18.0, 90.0)), Column("sex", labels=("f", "m")))]
    ['age(bins=4)', 'sex']
    """
    said = [text for text in asked.every("by") if text == one.name or text.startswith(f"{one.name}(")]
    if said or one.labels or not one.kind:
        return said[0] if said else one.name
    return f"{one.name}(every=month)" if one.dates else f"{one.name}(bins={_PARTS})" if one.ends else ""


def page(bar: str, title: str, blocks: Sequence[Block], *, facts: str = "", command: str = "") -> bytes:
    """A page of its own, under the bar."""
    section = Section("answer", "", tuple(blocks))
    made = ("The command that makes the page again:", command) if command else ()
    return render(Document(title, facts, (section,), made), around(bar)).encode(errors="replace")


def rows_page(bar: str, title: str, found: Behind, most: int) -> bytes:
    """The first rows behind a number, with all their columns."""
    first = found.first(most)
    shown = f", of which {grouped(len(first))} are shown" if found.total > len(first) else ""
    lines = tuple(tuple(map(_cell, row)) for row in first)
    grid = Grid(("row", *found.columns), lines, "Row is the number in the file, from 1; the highest score comes first.")
    return page(bar, title, [Text(f"{grouped(found.total)} rows{shown}."), *([grid] if lines else [])])


def rows_csv(found: Behind) -> Iterator[bytes]:
    """All rows behind a number as CSV, a piece at a time; what stood in them stays as it stood."""
    yield _csv([("row", *found.columns)])
    for piece in found.pieces():
        yield _csv(piece)


def _csv(rows: Sequence[Sequence[Any]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([[_plain(value) for value in row] for row in rows])
    return out.getvalue().encode(errors="replace")


def _plain(value: Any) -> Any:
    return label_text(value) if isinstance(value, float) and math.isfinite(value) else value


def _cell(value: Any) -> str:
    text = "–" if value is None else str(_plain(value))
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"


def filled(kept: bytes, bar: str) -> bytes:
    """A page that was kept, with the bar of now."""
    return kept.replace(SLOT.encode(), bar.encode(errors="replace"), 1)


def error_blocks(error: Row) -> list[Any]:
    """The three lines of an error: the problem, what was seen, one thing to do."""
    problem = str(error["problem"])
    lines = (
        problem[:1].upper() + problem[1:],
        error["seen"] and f"Seen: {error['seen']}",
        error["hint"] and f"Hint: {error['hint']}",
    )
    return [Text(str(line)) for line in lines if line]

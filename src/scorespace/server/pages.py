"""The pages of the server: each is a page of the report, with the bar above it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from scorespace.frames.behind import Behind
from scorespace.results import Row, grouped
from scorespace.server.asked import MODELS, ONCE, Asked, stem
from scorespace.server.folder import Folder
from scorespace.server.proposal import Look, Proposal
from scorespace.tables.labels import label_text
from scorespace.views.document import Block, Document, Grid, Section, Text
from scorespace.views.report.page import Served, render

SLOT: Final = "<!-- the bar -->"
"""Where the bar goes in a page that is kept: the files of the folder may be others by then."""

_HERE: Final = Path(__file__).parent
_WIDEST: Final = 200  # signs of a text that are shown
_FOOT: Final = "This page is served on your own computer, to you alone, and loads nothing from the network."
_CONTROLS: Final = (("truth", "radio"), *((name, "checkbox") for name in MODELS), *((name, "radio") for name in ONCE))
_COSTS: Final = (
    ("cost-fp", "A false alarm costs"),
    ("cost-fn", "A miss costs"),
    ("prevalence", "Share of positives in use"),
    ("cost-under", "Too low costs"),
    ("cost-over", "Too high costs"),
)


def around(bar: str, *, linked: bool = False) -> Served:
    """What is put around a page; one that is linked leads to the rows behind its numbers."""
    return Served(bar, _part("serve.css"), _FOOT, _part("rows.js") if linked else "")


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
    columns = [*(proposal.patterns if proposal else ()), *(look.columns if look else ())]
    return (
        _environment()
        .get_template("bar.html")
        .render(
            asked=asked,
            files=folder.names(),
            look=look,
            columns=columns,
            why={one.name: proposal.why.get(one.name, "") if proposal else "" for one in columns},
            labelled=[one for one in columns if one.kind != "pattern" and 2 <= len(one.labels) <= 20],
            roles=_CONTROLS,
            once=ONCE,
            costs=_COSTS,
            open=open,
            ready=ready,
            working=working,
            rows=rows,
            free=folder.free(f"{stem(asked.file)}.html"),
        )
    )


def page(bar: str, title: str, blocks: Sequence[Block], *, facts: str = "", command: str = "") -> bytes:
    """A page of its own, under the bar."""
    section = Section("answer", "", tuple(blocks))
    made = ("The command that makes the page again:", command) if command else ()
    return render(Document(title, facts, (section,), made), around(bar)).encode(errors="replace")


def rows_page(bar: str, title: str, found: Behind, most: int) -> bytes:
    """The first rows behind a number, with all their columns."""
    first = found.first(most)
    told = grouped(found.total) if found.total > len(first) else "all"
    words = f"{grouped(found.total)} rows" + (f", of which {grouped(len(first))} are shown" if told != "all" else "")
    lines = tuple(tuple(map(_cell, row)) for row in first)
    grid = Grid(("row", *found.columns), lines, "Row is the number in the file, from 1; the highest score comes first.")
    return page(bar, title, [Text(f"{words}."), *([grid] if lines else [])])


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


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["grouped"] = grouped
    return environment


@cache
def _part(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")

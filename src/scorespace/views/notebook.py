"""A document as a small piece of HTML for notebooks."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any, Final

from scorespace.views.document import Block, Document, Grid, Notes, Panel, Picture, Text, Verdict
from scorespace.views.still import svg

_STYLE: Final = (
    ".scorespace{max-width:60rem;font:14px/1.5 system-ui,sans-serif}"
    ".scorespace .verdict{padding:.6rem 1rem;border-left:4px solid #0072b2;background:rgb(0 114 178/8%);font-size:15px}"
    # Headings wrap and a table that is still too wide scrolls by itself: a notebook has no room to the right.
    ".scorespace table{display:block;max-width:100%;overflow-x:auto;margin:.7rem 0;border-collapse:collapse}"
    ".scorespace table{font:13px/1.45 system-ui,sans-serif;font-variant-numeric:tabular-nums}"
    ".scorespace :is(th,td){padding:.25rem .8rem .25rem 0;border-bottom:1px solid rgb(128 128 128/30%)}"
    ".scorespace :is(th,td){text-align:left;white-space:nowrap}"
    ".scorespace th{white-space:normal;vertical-align:bottom}.scorespace td small{opacity:.75}"
    ".scorespace summary{cursor:pointer}.scorespace svg{max-width:28rem;height:auto;background:white}"
)


def html(document: Document, draw: Callable[[], Any] | None = None) -> str:
    """The document as an HTML fragment without scripts: the answer first, notes behind one line; data are escaped.

    With what draws a chart it is a first screen: the chart stands in place of the words beside the tables.
    """
    blocks = [block for section in document.sections for block in section.blocks]
    shown: list[Block] = [one for one in blocks if isinstance(one, Verdict)]
    shown += [one for one in blocks if isinstance(one, Grid) or (draw is None and isinstance(one, Text))]
    notes = [note for one in blocks if isinstance(one, Notes) for note in one.notes]
    count = f"{len(notes)} {'note' if len(notes) == 1 else 'notes'} to know"
    told = f"<details><summary>{count}</summary>{_block(Notes(tuple(notes)))}</details>" if notes else ""
    spec = None if draw is None else draw()
    chart = "" if spec is None else svg(spec)
    head = f"<p><strong>{escape(document.title)}</strong> {escape(document.facts)}</p>" if document.title else ""
    content = head + "".join(map(_block, shown)) + told + chart
    return f'<div class="scorespace"><style>{_STYLE}</style>{content}</div>'


def _block(block: Block) -> str:
    match block:
        case Verdict(words):
            return f'<p class="verdict">{escape(words)}</p>'
        case Text(words):
            return f"<p>{escape(words)}</p>"
        case Grid():
            head = "".join(f"<th>{escape(name)}</th>" for name in block.columns)
            body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in block.rows)
            return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        case Notes(notes):
            items = "".join(f"<li><code>{one.code}</code> {escape(one.text)}</li>" for one in notes)
            return f"<ul>{items}</ul>"
        case Picture() | Panel():
            return ""


def _cell(text: str) -> str:
    """A cell with its interval set apart, as the page has it."""
    number, bracket, interval = text.partition(" [")
    return f"{escape(number)} <small>[{escape(interval)}</small>" if bracket else escape(text)

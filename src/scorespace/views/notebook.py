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
    ".scorespace table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    ".scorespace :is(th,td){padding:.3rem .8rem .3rem 0;border-bottom:1px solid rgb(128 128 128/30%)}"
    ".scorespace :is(th,td){text-align:left;white-space:nowrap}"
    ".scorespace summary{cursor:pointer}.scorespace svg{max-width:28rem;height:auto;background:white}"
)


def first_screen(document: Document, draw: Callable[[], Any]) -> str:
    """The first screen of a page, styled, with a chart as a picture; notes are behind one line."""
    blocks = [block for section in document.sections for block in section.blocks]
    verdicts = "".join(f'<p class="verdict">{escape(one.text)}</p>' for one in blocks if isinstance(one, Verdict))
    grids = "".join(_block(one) for one in blocks if isinstance(one, Grid))
    notes = [note for one in blocks if isinstance(one, Notes) for note in one.notes]
    count = f"{len(notes)} {'note' if len(notes) == 1 else 'notes'} to know"
    told = f"<details><summary>{count}</summary>{_block(Notes(tuple(notes)))}</details>" if notes else ""
    spec = draw()
    chart = "" if spec is None else svg(spec)
    head = f"<p><strong>{escape(document.title)}</strong> {escape(document.facts)}</p>"
    return f'<div class="scorespace"><style>{_STYLE}</style>{head}{verdicts}{grids}{told}{chart}</div>'


def html(document: Document) -> str:
    """The document as an HTML fragment without scripts; all text from data is escaped."""
    blocks = [_block(block) for section in document.sections for block in section.blocks]
    head = f"<p><strong>{escape(document.title)}</strong> {escape(document.facts)}</p>"
    return f"<div>{head}{''.join(blocks)}</div>"


def _block(block: Block) -> str:
    match block:
        case Verdict(words):
            return f"<p><strong>{escape(words)}</strong></p>"
        case Text(words):
            return f"<p>{escape(words)}</p>"
        case Grid():
            head = "".join(f"<th>{escape(name)}</th>" for name in block.columns)
            body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in block.rows)
            return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        case Notes(notes):
            items = "".join(f"<li><code>{one.code}</code> {escape(one.text)}</li>" for one in notes)
            return f"<ul>{items}</ul>"
        case Picture() | Panel():
            return ""

"""HTML fragment of a document for notebooks."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any, Final

from scorespace.report.chart_files import svg
from scorespace.report.document import Block, Document, Grid, Notes, Panel, Picture, Text, Verdict

_STYLE: Final = (
    ".scorespace{max-width:50rem;font:14px/1.5 system-ui,sans-serif}"
    ".scorespace .verdict{padding:.6rem 1rem;border-left:4px solid #0072b2;background:rgb(0 114 178/8%);font-size:15px}"
    # Headings wrap, and wide tables scroll: a notebook cell has a fixed width.
    ".scorespace table{display:block;max-width:100%;overflow-x:auto;margin:.7rem 0;border-collapse:collapse}"
    ".scorespace table{font:13px/1.45 system-ui,sans-serif;font-variant-numeric:tabular-nums}"
    ".scorespace :is(th,td){padding:.25rem .8rem .25rem 0;border-bottom:1px solid rgb(128 128 128/30%)}"
    ".scorespace :is(th,td){text-align:left;white-space:nowrap}"
    ".scorespace th{white-space:normal;vertical-align:bottom}.scorespace td small{opacity:.75}"
    ".scorespace summary{cursor:pointer}.scorespace svg{max-width:28rem;height:auto;background:white}"
)


def html(document: Document, draw: Callable[[], Any] | None = None) -> str:
    """The document as an HTML fragment without scripts: verdict first, notes collapsed, all text escaped.

    With `draw`, a chart replaces the paragraphs of text.
    """
    blocks = [block for section in document.sections for block in section.blocks]
    visible: list[Block] = [block for block in blocks if isinstance(block, Verdict)]
    visible += [block for block in blocks if isinstance(block, Grid) or (draw is None and isinstance(block, Text))]
    notes = [note for block in blocks if isinstance(block, Notes) for note in block.notes]
    count = f"{len(notes)} {'note' if len(notes) == 1 else 'notes'}"
    note_list = f"<details><summary>{count}</summary>{_block(Notes(tuple(notes)))}</details>" if notes else ""
    spec = None if draw is None else draw()
    chart = "" if spec is None else svg(spec)
    head = f"<p><strong>{escape(document.title)}</strong> {escape(document.facts)}</p>" if document.title else ""
    content = head + "".join(map(_block, visible)) + note_list + chart
    return f'<div class="scorespace"><style>{_STYLE}</style>{content}</div>'


def _block(block: Block) -> str:
    match block:
        case Verdict(text):
            return f'<p class="verdict">{escape(text)}</p>'
        case Text(text):
            return f"<p>{escape(text)}</p>"
        case Grid():
            head = "".join(f"<th>{escape(name)}</th>" for name in block.columns)
            body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in block.rows)
            return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        case Notes(notes):
            items = "".join(f"<li><code>{note.code}</code> {escape(note.text)}</li>" for note in notes)
            return f"<ul>{items}</ul>"
        case Picture() | Panel():
            return ""


def _cell(text: str) -> str:
    """A cell with its confidence interval in small print, as in the HTML report."""
    number, bracket, interval = text.partition(" [")
    return f"{escape(number)} <small>[{escape(interval)}</small>" if bracket else escape(text)

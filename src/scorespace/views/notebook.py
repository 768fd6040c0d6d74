"""A document as a small piece of HTML for notebooks."""

from __future__ import annotations

from html import escape

from scorespace.views.document import Block, Document, Grid, Notes, Panel, Picture, Text, Verdict


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

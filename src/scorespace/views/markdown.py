"""A document as Markdown, for pull requests and notebooks."""

from __future__ import annotations

from scorespace.errors import shown
from scorespace.views.document import Block, Document, Grid, Notes, Panel, Picture, Text, Verdict


def text(document: Document) -> str:
    """The document as Markdown; pictures are named, not drawn."""
    parts = [f"# {_escaped(document.title)}", _escaped(document.facts)]
    for section in document.sections:
        parts.append(f"## {_escaped(section.title)}")
        parts += filter(None, map(_block, section.blocks))
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    match block:
        case Verdict(words):
            return f"**{_escaped(words)}**"
        case Text(words):
            return _escaped(words)
        case Grid():
            return table(block)
        case Notes(notes):
            return "\n".join(f"- `{one.code}` {one.level}: {_escaped(one.text)}" for one in notes)
        case Panel():
            return ""
        case Picture():
            return f"*{_escaped(block.caption or block.alt)}* (picture in the report)"


def table(grid: Grid) -> str:
    """A grid as a Markdown table, the first column left and the others right."""
    lines = [grid.columns, tuple(":--" if place == 0 else "--:" for place in range(len(grid.columns))), *grid.rows]
    cells = [[_escaped(cell) if number != 1 else cell for cell in line] for number, line in enumerate(lines)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(grid.columns))]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in cells
    )


def _escaped(words: str) -> str:
    """Text that Markdown shows as it is."""
    words = shown(words.replace("\n", " "))
    for sign in "\\`*_[]<>|#":
        words = words.replace(sign, f"\\{sign}")
    return words

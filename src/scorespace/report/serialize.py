"""Results as JSON and CSV; documents as Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Any, Final

from scorespace.errors import escape_control_characters
from scorespace.report.document import Block, Document, Grid, Notes, Panel, Picture, Text, Verdict
from scorespace.results import Row, decimals, to_json_types

_LATEX: Final = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\N{NO-BREAK SPACE}": "~"},
    **{"–": "--", "…": r"\dots{}", "²": "$^2$", "<": "$<$", ">": "$>$", "|": "$|$", '"': "''"},
    **{symbol: f"${name}$" for symbol, name in {"−": "-", "↑": r"\uparrow", "↓": r"\downarrow"}.items()},
    **{symbol: f"${name}$" for symbol, name in {"±": r"\pm", "×": r"\times", "·": r"\cdot", "→": r"\to"}.items()},
    **{symbol: f"${name}$" for symbol, name in {"≥": r"\ge", "≤": r"\le", "≠": r"\ne", "∞": r"\infty"}.items()},
    "√": r"$\surd$",
    **{symbol: f"${name}$" for symbol, name in {"α": r"\alpha", "β": r"\beta", "χ": r"\chi", "π": r"\pi"}.items()},
}
"""LaTeX of special characters and symbols."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def as_json(content: Any, ascii: bool = False) -> str:
    """Strict JSON: NaN and infinity become null; with `ascii`, other characters are escaped."""
    text = json.dumps(to_json_types(content), ensure_ascii=ascii, indent=1, allow_nan=False)
    return text if ascii or _can_encode(text) else as_json(content, ascii=True)


def as_csv(rows: list[Row], header: Sequence[str] = ()) -> str:
    """CSV with a header: undefined values are empty, and text cannot become a spreadsheet formula.

    `header` names the columns if there are no rows.

    >>> print(as_csv([{"model": "=1+1", "auc": -0.5}]), end="")
    model,auc
    '=1+1,-0.5
    """
    out = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row)) or list(header)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(escape_formula, names))
    for row in to_json_types(rows):
        writer.writerow([escape_formula(row.get(name)) for name in names])
    text = out.getvalue()
    return text if _can_encode(text) else text.encode("utf-8", "backslashreplace").decode()


def escape_formula(value: Any) -> Any:
    """Prefix text that a spreadsheet would evaluate with an apostrophe."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def _can_encode(text: str) -> bool:
    """Whether the text can be encoded; a lone surrogate cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def text(document: Document) -> str:
    """The document as Markdown; charts are represented by their captions."""
    parts = [f"# {_escaped(document.title)}", _escaped(document.facts)]
    for section in document.sections:
        parts.append(f"## {_escaped(section.title)}")
        parts += filter(None, map(_block, section.blocks))
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    match block:
        case Verdict(text):
            return f"**{_escaped(text)}**"
        case Text(text):
            return _escaped(text)
        case Grid():
            return table(block)
        case Notes(notes, more):
            listed = "\n".join(f"- `{note.code}` {note.level}: {_escaped(note.text)}" for note in notes)
            return "\n\n".join(filter(None, (listed, _escaped(more))))
        case Panel():
            return ""
        case Picture():
            return f"*{_escaped(block.caption or block.alt)}* (chart in the HTML report)"


def table(grid: Grid) -> str:
    """A grid as a Markdown table."""
    lines = [grid.columns, tuple(":--" if column == 0 else "--:" for column in range(len(grid.columns))), *grid.rows]
    cells = [[_escaped(cell) if row_number != 1 else cell for cell in line] for row_number, line in enumerate(lines)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(grid.columns))]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in cells
    )


def _escaped(text: str) -> str:
    """Escape Markdown syntax."""
    text = escape_control_characters(text.replace("\n", " "))
    for character in "\\`*_[]<>|#":
        text = text.replace(character, f"\\{character}")
    return text


def latex(document: Document) -> str:
    """The document as LaTeX: its tables with booktabs, its sentences as paragraphs; charts are left out."""
    parts = [f"% \\usepackage{{booktabs}}\n{_latex_escaped(document.title)}: {_latex_escaped(document.facts)}"]
    parts += (_latex_block(block) for section in document.sections for block in section.blocks)
    return "\n\n".join(filter(None, parts)) + "\n"


def _latex_block(block: Block) -> str:
    match block:
        case Verdict(text) | Text(text):
            return _latex_escaped(text)
        case Grid():
            return latex_table(block)
        case Notes(notes):
            return "\n\n".join(f"{note.code}: {_latex_escaped(note.text)}" for note in notes)
        case Panel() | Picture():
            return ""


def latex_table(grid: Grid) -> str:
    r"""A grid as a LaTeX table with the rules of booktabs.

    >>> print(latex_table(Grid(("", "a_b"), (("AUC", "0.8 %"),))))
    \begin{tabular}{ll}
    \toprule
     & a\_b \\
    \midrule
    AUC & 0.8 \% \\
    \bottomrule
    \end{tabular}
    """
    head, *rows = (" & ".join(map(_latex_escaped, line)) + r" \\" for line in (grid.columns, *grid.rows))
    begin = f"\\begin{{tabular}}{{{'l' * len(grid.columns)}}}"
    return "\n".join([begin, r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"])


def latex_rows(rows: Sequence[Row]) -> str:
    """Rows as a LaTeX table; empty columns are left out."""

    def cell(value: Any) -> str:
        return "" if value is None else decimals(value) if isinstance(value, float) else str(value)

    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = tuple(tuple(cell(row.get(name)) for name in names) for row in rows)
    return latex_table(Grid(tuple(names), lines).without_blanks()) + "\n"


def _latex_escaped(text: str) -> str:
    """Escape what LaTeX would interpret."""
    text = escape_control_characters(" ".join(text.split()))
    return "".join(_LATEX.get(character, character) for character in text)

"""The page of a report in HTML, with charts and all that draws them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from scorespace.results import NOTE_KINDS, Note, Row, grouped
from scorespace.views.document import Document, Grid, Notes, Panel, Picture, Section, Text, Verdict
from scorespace.views.report.bundle import vega
from scorespace.views.still import svg

_HERE: Final = Path(__file__).parent
_LONG: Final = 16  # signs of a name that fit a column
_KINDS: Final = {Text: "text", Grid: "grid", Picture: "pictures", Notes: "notes", Panel: "panel"}


class Served(NamedTuple):
    """What a server adds to a page: HTML above it, its style, what the page says of it at its foot, and a script."""

    bar: str
    style: str
    foot: str
    script: str = ""


def render(document: Document, served: Served | None = None) -> str:
    """The page as HTML; the verdict moves to its top."""
    blocks = [block for section in document.sections for block in section.blocks]
    drawn = any(isinstance(block, (Picture, Panel)) for block in blocks)
    panels = [block.content for block in blocks if isinstance(block, Panel)]
    moving = [*dict.fromkeys(one.script for one in panels), *(["charts.js"] if drawn else [])]
    first = [part(_HERE / name) for name in ("numbers.js", "address.js", *moving)]
    parts = [*first, served.script if served else "", part(_HERE / "page.js")]
    own = "\n".join(filter(None, parts))
    scripts = [vega(), own] if drawn else [own]
    holds = f"names {document.names} of the data" if document.names else "holds summaries and no rows of the data"
    return (
        templates(_HERE)
        .get_template("page.html")
        .render(
            title=document.title,
            facts=[fact for fact in re.split(r"\s{2,}", document.facts.strip()) if fact],
            verdicts=[block.text for block in blocks if isinstance(block, Verdict)],
            sections=list(filter(None, map(_shown, document.sections))),
            made=document.made,
            movable=bool(panels),
            style=Markup(part(_HERE / "style.css") + (served.style if served else "")),
            bar=Markup(served.bar if served else ""),
            foot=served.foot if served else f"This page {holds}, and loads nothing from the network.",
            scripts=[Markup(script) for script in scripts],
            # Only these very scripts may run, and nothing may be fetched: no text can turn into either.
            policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src {' '.join(map(_fingerprint, scripts))}",
        )
    )


def _shown(section: Section) -> Row | None:
    """A section as the template takes it, its first text as the answer to its question; None if the verdict is all."""
    rest = [block for block in section.blocks if not isinstance(block, Verdict)]
    if not rest:
        return None
    answer = rest[0].text if section.question and isinstance(rest[0], Text) else ""
    # Neighbouring blocks of a kind stand together, so that pictures can stand side by side, and fold under a title.
    alike = groupby(rest[1:] if answer else rest, key=lambda one: (_KINDS[type(one)], getattr(one, "folded", "")))
    return {
        "name": section.name,
        "title": section.title,
        "question": section.question,
        "answer": answer,
        "folded": section.folded,
        "groups": [(kind, title, list(group)) for (kind, title), group in alike],
    }


def _drawn(picture: Picture) -> Row:
    """The Vega-Lite spec of a picture."""
    drawn: Any = picture.draw()
    spec: Row = drawn if isinstance(drawn, dict) else drawn.to_dict()
    return spec | {"background": "transparent"}


def _data(content: Row) -> Markup:
    """JSON that no text inside can end early."""
    # ASCII alone, so that neither U+2028 nor half a surrogate pair can upset the reader of the file.
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _by_code(notes: Sequence[Note]) -> list[Row]:
    """Notes of one code together, whichever model they are on, under what the code says."""
    groups: dict[str, Row] = {}
    for one in notes:
        kind = NOTE_KINDS.get(one.code)
        title = one.text if kind is None else kind.title
        groups.setdefault(one.code, {"code": one.code, "level": one.level, "title": title, "texts": []})
        groups[one.code]["texts"].append(one.text)
    return list(groups.values())


def _cell(text: str) -> Markup:
    """A cell with its interval set apart: the number first, then how sure we are of it."""
    number, bracket, interval = text.partition(" [")
    return escape(text) if not bracket else Markup('{} <span class="interval">[{}</span>').format(number, interval)


def _unbroken(text: str) -> str:
    """The text with numbers such as 12 345 and 30 % kept on one line."""
    return re.sub(r"(?<=\d) (?=\d{3}(?!\d)|%)", "\N{NO-BREAK SPACE}", text)


def _breakable(text: str) -> Markup:
    """A long name that may go on in the next line behind an underscore; an arrow stays beside its name."""
    text = re.sub(r" (?=[↑↓]$)", "\N{NO-BREAK SPACE}", text)
    return Markup("<wbr>").join(re.split(r"(?<=_)(?=[^_])", text) if len(text) > _LONG else [text])


@cache
def templates(folder: Path) -> Environment:
    """The templates of a folder, which escape all that they are given."""
    strict: Any = {"autoescape": True, "undefined": StrictUndefined}
    environment = Environment(loader=FileSystemLoader(folder), **strict, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "drawn": _drawn,
        "still": lambda spec: Markup(svg(spec)),
        "data": _data,
        "cell": _cell,
        "unbroken": _unbroken,
        "breakable": _breakable,
        "by_code": _by_code,
        "grouped": grouped,
    }
    return environment


@cache
def part(path: Path) -> str:
    """A script or a style, as it stands in its file."""
    return path.read_text(encoding="utf-8")


def _fingerprint(script: str) -> str:
    """How a content security policy names a script: by its hash."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"

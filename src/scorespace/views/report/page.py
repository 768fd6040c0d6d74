"""The page of a report in HTML, with charts and all that draws them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from scorespace.results import Row
from scorespace.views.document import Block, Document, Grid, Notes, Picture, Text, Verdict
from scorespace.views.report.bundle import vega

_HERE: Final = Path(__file__).parent
_KINDS: Final = {Text: "text", Verdict: "verdict", Grid: "grid", Picture: "pictures", Notes: "notes"}


def render(document: Document) -> str:
    """The page as HTML; the verdict moves to its top."""
    blocks = [block for section in document.sections for block in section.blocks]
    sections = [
        {"name": section.name, "title": section.title, "groups": list(_groups(rest))}
        for section in document.sections
        if (rest := [block for block in section.blocks if not isinstance(block, Verdict)])
    ]
    drawn = any(isinstance(block, Picture) for block in blocks)
    scripts = [vega(), _part("page.js")] if drawn else [_part("page.js")]
    return (
        _environment()
        .get_template("page.html")
        .render(
            title=document.title,
            facts=[fact for fact in re.split(r"\s{2,}", document.facts.strip()) if fact],
            verdicts=[block.text for block in blocks if isinstance(block, Verdict)],
            sections=sections,
            style=Markup(_part("style.css")),
            scripts=[Markup(script) for script in scripts],
            # Only these very scripts may run, and nothing may be fetched: no text can turn into either.
            policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src {' '.join(map(_fingerprint, scripts))}",
        )
    )


def _groups(blocks: Iterable[Block]) -> Iterator[tuple[str, list[Block]]]:
    """Neighbouring blocks of a kind together, so that pictures can stand side by side."""
    for kind, group in groupby(blocks, key=lambda block: _KINDS[type(block)]):
        yield kind, list(group)


def _spec(picture: Picture) -> Markup:
    """The Vega-Lite spec of a picture, as JSON that no text inside can end early."""
    drawn: Any = picture.draw()
    spec: Row = drawn if isinstance(drawn, dict) else drawn.to_dict()
    # ASCII alone, so that neither U+2028 nor half a surrogate pair can upset the reader of the file.
    text = json.dumps(spec | {"background": "transparent"}, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _cell(text: str) -> Markup:
    """A cell with its interval set apart: the number first, then how sure we are of it."""
    number, bracket, interval = text.partition(" [")
    return escape(text) if not bracket else Markup('{} <span class="interval">[{}</span>').format(number, interval)


def _unbroken(text: str) -> str:
    """The text with numbers such as 12 345 and 30 % kept on one line."""
    return re.sub(r"(?<=\d) (?=\d{3}(?!\d)|%)", "\N{NO-BREAK SPACE}", text)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"spec": _spec, "cell": _cell, "unbroken": _unbroken}
    return environment


@cache
def _part(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _fingerprint(script: str) -> str:
    """How a content security policy names a script: by its hash."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"

"""HTML report: a single file with charts and the scripts that draw them."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from scorespace.errors import DataError
from scorespace.files import check_target, write_file
from scorespace.report.chart_theme import THEME
from scorespace.report.document import Document, Dot, Grid, Notes, Panel, Picture, Section, Text, Verdict
from scorespace.results import NOTE_KINDS, Note, Row, grouped

SNIPPET: Final = "window.vegaEmbed = vegaEmbed;"
"""Statement appended to the Vega bundle: exposes `vegaEmbed`."""


@cache
def vega() -> str:
    """The Vega script, escaped for a script element; cached, because building it takes two seconds."""
    cache_file = vega_cache_file()
    script = None if cache_file is None else _read(cache_file)
    if script is None:
        script = _build_vega()
        if cache_file is not None:
            _write_cache(script, cache_file)
    # These would end the script element or open a comment; in JavaScript strings the backslash has no effect.
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("\r\n", "\n")


def vega_cache_file() -> Path | None:
    """Cache file of this version and snippet, or None without a home directory."""
    homes = {"win32": ("LOCALAPPDATA", "AppData/Local"), "darwin": ("XDG_CACHE_HOME", "Library/Caches")}
    variable, default = homes.get(sys.platform, ("XDG_CACHE_HOME", ".cache"))
    try:
        folder = Path(os.environ.get(variable, ""))
        if not folder.is_absolute():  # also if the variable is not set
            folder = Path.home() / default
    except RuntimeError:  # there is no home directory
        return None
    digest = hashlib.sha256(SNIPPET.encode()).hexdigest()[:12]
    return folder / "scorespace" / f"vega-{version('vl-convert-python')}-{digest}.js"


def _build_vega() -> str:
    import vl_convert  # 90 MB, not needed if the cache exists

    script: str = vl_convert.javascript_bundle(SNIPPET)
    return script


def _read(cache_file: Path) -> str | None:
    """Read the cached script; None if it is missing or its hash, in the first line, does not match."""
    try:
        expected, _, script = cache_file.read_bytes().partition(b"\n")
        return script.decode() if expected.decode() == _hash(script) else None
    except (OSError, ValueError):
        return None


def _write_cache(script: str, cache_file: Path) -> None:
    """Write the script to the cache; if that fails, it is built again next time."""
    content = script.encode()
    with suppress(OSError, DataError):
        cache_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_file(cache_file, _hash(content).encode() + b"\n" + content)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


_ASSETS: Final = Path(__file__).parent / "assets"
_LONG_NAME: Final = 16  # characters from which a name may wrap
_KINDS: Final = {Text: "text", Grid: "grid", Picture: "pictures", Notes: "notes", Panel: "panel"}


class ServerParts(NamedTuple):
    """Additions of the server: HTML above the report, CSS, the footer text, and a script."""

    bar: str
    style: str
    foot: str
    script: str = ""


def render(document: Document, server: ServerParts | None = None) -> str:
    """Render the document as HTML, with the verdict at the top."""
    blocks = [block for section in document.sections for block in section.blocks]
    has_charts = any(isinstance(block, (Picture, Panel)) for block in blocks)
    panels = [block.content for block in blocks if isinstance(block, Panel)]
    optional_scripts = [*dict.fromkeys(panel.script for panel in panels), *(["charts.js"] if has_charts else [])]
    scripts = [read_asset(_ASSETS / name) for name in ("numbers.js", "address.js", *optional_scripts)]
    scripts += [f"const THEME = {json.dumps(dict(THEME))};"] if has_charts else []
    all_own = [*scripts, server.script if server else "", read_asset(_ASSETS / "page.js")]
    own_script = "\n".join(filter(None, all_own))
    all_scripts = [vega(), own_script] if has_charts else [own_script]
    content_note = (
        f"lists {document.names} of the data" if document.names else "contains summaries but no rows of the data"
    )
    verdicts = [block for block in blocks if isinstance(block, Verdict)]
    parts, counts = _parts(document), _counts(document)
    parted = bool(parts and parts[0]["title"])
    warned = "warned" if "warning" in counts else ""
    return (
        templates(_ASSETS)
        .get_template("page.html")
        .render(
            title=document.title,
            facts=[fact for fact in re.split(r"\s{2,}", document.facts.strip()) if fact],
            verdicts=verdicts,
            status=next((verdict.status for verdict in verdicts if verdict.status), warned),
            counts=counts,
            parts=parts,
            parted=parted,
            entries=parts if parted else [one for part in parts for one in part["sections"] if one["title"]],
            made=document.made,
            movable=bool(panels),
            spec_of=_SpecsOnce(),
            style=Markup(read_asset(_ASSETS / "style.css") + (server.style if server else "")),
            bar=Markup(server.bar if server else ""),
            foot=server.foot if server else f"This report {content_note} and loads nothing from the network.",
            scripts=[Markup(script) for script in all_scripts],
            # Only these scripts may run, and nothing may be fetched, so that no text of the data can do either.
            policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src {' '.join(map(_csp_hash, all_scripts))}",
        )
    )


def _parts(document: Document) -> list[Row]:
    """The sections by part, each an entry of the navigation; in documents without parts, sections are the entries."""
    found: dict[str, list[Row]] = {}
    for section in document.sections:
        content = _section_content(section)
        if content is not None:
            found.setdefault(section.part, []).append(content)
    return [
        {"title": title, "id": f"part-{title.lower()}", "sections": sections, "level": "h3" if title else "h2"}
        for title, sections in found.items()
    ]


def _counts(document: Document) -> str:
    """The numbers of warnings and remarks of the section of notes."""
    levels = [
        note.level
        for section in document.sections
        for block in section.blocks
        if section.name == "notes" and isinstance(block, Notes)
        for note in block.notes
    ]
    counts = {"warning": len(levels) - levels.count("info"), "remark": levels.count("info")}
    return " · ".join(f"{count} {label}{'s' * (count != 1)}" for label, count in counts.items() if count)


class _SpecsOnce:
    """Specs of charts; one that is shown twice refers to the first by its key."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def __call__(self, picture: Picture) -> Row:
        if picture.key and picture.key in self.seen:
            return {"same": picture.key}
        self.seen.add(picture.key)
        return _chart_spec(picture)


def _dots(grid: Grid) -> list[list[tuple[float, float, float] | None]]:
    """Limits and value of each cell as fractions of the axis of its column."""
    columns = []
    for column in zip(*grid.dots, strict=True):
        ends = [end for dot in column if dot is not None for end in dot if math.isfinite(end)]
        low, high = min(ends, default=0.0), max(ends, default=1.0)
        columns.append([None if dot is None else _on_axis(dot, low, (high - low) or 1.0) for dot in column])
    return [list(row) for row in zip(*columns, strict=True)]


def _on_axis(dot: Dot, start: float, length: float) -> tuple[float, float, float]:
    """Lower limit, value and upper limit as fractions; without limits, all are the value."""
    value, low, high = ((end - start) / length for end in dot)
    low, high = (end if math.isfinite(end) else value for end in (low, high))
    return round(low, 4), round(value, 4), round(high, 4)


def _section_content(section: Section) -> Row | None:
    """Template variables of a section, with its first text as the short answer; None if it only holds the verdict."""
    blocks = [block for block in section.blocks if not isinstance(block, Verdict)]
    if not blocks:
        return None
    answer = blocks[0].text if section.question and isinstance(blocks[0], Text) else ""
    # Adjacent blocks of the same kind are grouped, so that charts appear side by side and collapse together.
    groups = groupby(
        blocks[1:] if answer else blocks, key=lambda block: (_KINDS[type(block)], getattr(block, "folded", ""))
    )
    return {
        "name": section.name,
        "id": section.name,
        "printed": section.printed,
        "title": section.title,
        "question": section.question,
        "answer": answer,
        "folded": section.folded,
        "groups": [(kind, title, list(group)) for (kind, title), group in groups],
    }


def _chart_spec(picture: Picture) -> Row:
    """Vega-Lite specification of a chart."""
    chart: Any = picture.draw()
    spec: Row = chart if isinstance(chart, dict) else chart.to_dict()
    spec = {name: value for name, value in spec.items() if name != "config" or value != THEME}  # stored once
    return spec | {"background": "transparent"}


def _json_for_script(content: Row) -> Markup:
    """JSON that is safe inside a script element."""
    # ASCII only: U+2028 and lone surrogates are not valid in every parser.
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _group_by_code(notes: Sequence[Note]) -> list[Row]:
    """Group notes by their code, with the title of the code."""
    groups: dict[str, Row] = {}
    for note in notes:
        kind = NOTE_KINDS.get(note.code)
        title = note.text if kind is None else kind.title
        groups.setdefault(note.code, {"code": note.code, "level": note.level, "title": title, "texts": []})
        groups[note.code]["texts"].append(note.text)
    return list(groups.values())


def _cell(text: str) -> Markup:
    """A cell with its confidence interval in a separate span."""
    number, bracket, interval = text.partition(" [")
    return escape(text) if not bracket else Markup('{} <span class="interval">[{}</span>').format(number, interval)


def _keep_numbers_unbroken(text: str) -> str:
    """Keep numbers such as 12 345 and 30 % on one line."""
    return re.sub(r"(?<=\d) (?=\d{3}(?!\d)|%)", "\N{NO-BREAK SPACE}", text)


def _allow_breaks(text: str) -> Markup:
    """Allow line breaks after underscores of a long name; keep an arrow next to its name."""
    text = re.sub(r" (?=[↑↓]$)", "\N{NO-BREAK SPACE}", text)
    return Markup("<wbr>").join(re.split(r"(?<=_)(?=[^_])", text) if len(text) > _LONG_NAME else [text])


@cache
def templates(folder: Path) -> Environment:
    """Jinja environment of a folder, with automatic escaping."""
    settings: Any = {"autoescape": True, "undefined": StrictUndefined}
    environment = Environment(loader=FileSystemLoader(folder), **settings, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "dots": _dots,
        "data": _json_for_script,
        "cell": _cell,
        "unbroken": _keep_numbers_unbroken,
        "breakable": _allow_breaks,
        "by_code": _group_by_code,
        "grouped": grouped,
    }
    return environment


@cache
def read_asset(path: Path) -> str:
    """Read a script or style sheet."""
    return path.read_text(encoding="utf-8")


def _csp_hash(script: str) -> str:
    """Hash of a script for the content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def write(document: Document, path: str | Path) -> Path:
    """Write the report to a file and return its path; a failure leaves no partial file."""
    check_target(Path(path), (".html",))
    return write_file(Path(path), render(document).encode(errors="replace"))

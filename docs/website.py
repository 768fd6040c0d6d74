"""Build the documentation website: `python docs/website.py FOLDER`; it works from disk, without a network.

The tables of links in docs/index.md define the pages, their order and their groups.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

HERE = Path(__file__).parent
LIVE = {"report.png": "scorespace-demo.html"}
"""Images that link to the page they show."""
_LINK = re.compile(r"^\| \[(?P<title>[^]]+)\]\((?P<file>[^)]+)\) \| (?P<about>.+) \|$")


# --- pages


def address(file: str) -> str:
    """Return the file name of a page in the website, which has no subfolders for pages."""
    return f"{Path(file).stem.lower()}.html"


class Page(NamedTuple):
    """A page in index.md: its file, its short title, and what it answers."""

    file: str
    title: str
    about: str

    @property
    def address(self) -> str:
        return address(self.file)


class Group(NamedTuple):
    """Pages under one heading of index.md."""

    title: str
    pages: list[Page]


def groups(index: str) -> list[Group]:
    """Return the groups of pages in the order of index.md; index.md itself comes first."""
    found: list[Group] = []
    heading = ""
    for line in index.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif link := _LINK.match(line):
            if not found or found[-1].title != heading:
                found.append(Group(heading, []))
            found[-1].pages.append(Page(link["file"], link["title"], link["about"]))
    found[0].pages.insert(0, Page("index.md", "A first look", "What scorespace answers, and which page says how"))
    return found


# --- Markdown to HTML


def anchor(title: str) -> str:
    """Return the anchor of a heading, as on GitHub."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


class Section(NamedTuple):
    """A search result: a heading with the text below it, or a named row of a table."""

    anchor: str
    title: str
    text: str


class Rendered(NamedTuple):
    """A page as HTML, its headings below the title, and its search results."""

    title: str
    html: Markup
    headings: list[Section]
    sections: list[Section]


def rendered(text: str) -> Rendered:
    """Render Markdown as HTML, with links to the pages of the website."""
    tokens = _MARKDOWN.parse(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))
    headings, rows = list(_named_headings(tokens)), list(_named_rows(tokens))
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        for child in token.children or ():
            _redirect(child)
        if before.type == "th_open" and not token.content:
            before.tag = after.tag = "td"  # an empty header cell is no header
    title, *below = headings
    sections = [*_texts(tokens, headings), *rows]
    return Rendered(title.title, Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})), below, sections)


def _named_headings(tokens: list[Token]) -> Iterator[Section]:
    """Give every heading its anchor; repeated headings get a number."""
    seen: Counter[str] = Counter()
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            title = _plain(inside)
            name = anchor(title)
            place = f"{name}-{seen[name]}" if seen[name] else name
            seen[name] += 1
            token.attrSet("id", place)
            yield Section(place, title, token.tag)


def _named_rows(tokens: list[Token]) -> Iterator[Section]:
    """Give a table row whose first cell is a name in code, such as a measure, that name as its anchor."""
    taken = {token.attrs.get("id") for token in tokens}
    for at, token in enumerate(tokens):
        first = tokens[at + 2] if token.type == "tr_open" else None
        name = first.children[0] if first and first.children and len(first.children) == 1 else None
        if name and name.type == "code_inline" and re.fullmatch(r"\w+", name.content) and name.content not in taken:
            taken.add(name.content)
            token.attrSet("id", name.content)
            end = next(i for i in range(at, len(tokens)) if tokens[i].type == "tr_close")
            cells = [cell for cell in tokens[at + 3 : end] if cell.type == "inline"]
            codes = (code.content for cell in cells for code in cell.children or () if code.type == "code_inline")
            names = [name.content, *(code for code in codes if re.fullmatch(r"\w+", code))]  # tpr, recall, …
            yield Section(name.content, ", ".join(names), " · ".join(filter(None, map(_plain, cells))))


def _texts(tokens: list[Token], headings: list[Section]) -> Iterator[Section]:
    """Yield the text below each heading."""
    starts = [at for at, token in enumerate(tokens) if token.type == "heading_open"]
    for heading, start, end in zip(headings, starts, [*starts[1:], len(tokens)], strict=True):
        inside = [token for token in tokens[start + 3 : end] if token.type in ("inline", "fence")]
        yield Section(heading.anchor, heading.title, " ".join(map(_plain, inside)))


def _plain(token: Token) -> str:
    """Return the text of a token without markup."""
    if token.children is None:
        return " ".join(token.content.split()) if token.type in ("inline", "fence") else ""
    return "".join(child.content if child.type in ("text", "code_inline") else " " for child in token.children).strip()


def _redirect(token: Token) -> None:
    """Point a link to a Markdown page to its HTML file."""
    if token.type == "link_open":
        path, mark, place = str(token.attrs["href"]).partition("#")
        token.attrSet("href", (address(path) if path.endswith(".md") else path) + mark + place)


def _code(self: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    """Render a code block with syntax highlighting."""
    language = tokens[index].info.strip() or "text"
    code = highlight(tokens[index].content, get_lexer_by_name(language), HtmlFormatter(nowrap=True))
    return f'<div class="code"><pre tabindex="0"><code class="{language}">{code}</code></pre></div>\n'


def _picture(self: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    """Render an image; an image in LIVE links to its page."""
    source, alt = str(tokens[index].attrs["src"]), Markup.escape(tokens[index].content)
    image = Markup('<img src="{}" alt="{}" loading="lazy">').format(source, alt)
    return Markup('<a href="{}">{}</a>').format(LIVE[source], image) if source in LIVE else image


def _wide(self: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    """Render a table that scrolls on narrow screens."""
    return '<div class="table" tabindex="0"><table>\n' if tokens[index].nesting == 1 else "</table></div>\n"


_MARKDOWN = MarkdownIt("commonmark").enable("table")
for _kind, _rule in {"fence": _code, "image": _picture, "table_open": _wide, "table_close": _wide}.items():
    _MARKDOWN.add_render_rule(_kind, _rule)


# --- the folder


def build(folder: Path) -> list[Path]:
    """Write the website into a folder and return the files of its pages."""
    map_ = groups((HERE / "index.md").read_text(encoding="utf-8"))
    pages = [page for group in map_ for page in group.pages]
    template = Environment(
        loader=FileSystemLoader(HERE / "website"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    ).get_template("page.html")
    folder.mkdir(parents=True, exist_ok=True)
    shown, found = [], []
    for before, page, after in zip([None, *pages], pages, [*pages[1:], None], strict=False):
        content = rendered((HERE / page.file).read_text(encoding="utf-8"))
        html = template.render(page=page, content=content, groups=map_, before=before, after=after)
        shown.append(folder / page.address)
        shown[-1].write_text(html, encoding="utf-8")
        found += [(page.address, page.title, *section) for section in content.sections]
    words = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    (folder / "found.js").write_text(f"found({words});\n", encoding="utf-8")
    for name in ("style.css", "page.js"):
        shutil.copyfile(HERE / "website" / name, folder / name)
    for picture in (*HERE.glob("*.png"), *HERE.glob("*/*.svg")):
        target = folder / picture.relative_to(HERE)
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(picture, target)
    return shown


def report(folder: Path) -> None:
    """Write the report that docs/report.png shows."""
    subprocess.run([sys.executable, "-m", "scorespace", "demo"], cwd=folder, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    pages = build(target)
    report(target)
    print(f"{len(pages)} pages, beginning with {pages[0]}")

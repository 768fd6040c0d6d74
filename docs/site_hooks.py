"""Hooks of MkDocs: pages of the root, charts of the gallery, the live report, anchors of rows, and the search."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, Final

from mkdocs.structure.files import File, Files

ROOT: Final = Path(__file__).parents[1]
PAGES_OF_THE_ROOT: Final = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
GENERATE: Final = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "generate.py")))
REPORT: Final = "scorespace-demo.html"
_FIGURE = re.compile(r"\(gallery/(?P<name>[\w-]+\.svg)\)")
_ROW = re.compile(r"<tr>\s*<td[^>]*><code>(?P<name>\w+)</code></td>")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of the root, the demo report, and the charts of all pages, drawn by the commands below them."""
    for name in PAGES_OF_THE_ROOT:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    with TemporaryDirectory() as name:
        _run(["demo"], Path(name))
        files.append(File.generated(config, REPORT, content=(Path(name) / REPORT).read_bytes()))
    for page in sorted((ROOT / "docs").glob("*.md")):
        for name, content in _figures(page.read_text(encoding="utf-8")).items():
            files.append(File.generated(config, f"gallery/{name}", content=content))
    return files


def _figures(page: str) -> dict[str, bytes]:
    """The charts that a page shows, drawn by its own commands on the files that it has."""
    wanted = set(_FIGURE.findall(page))
    if not wanted:
        return {}
    with GENERATE.folder() as here:
        lines = []
        for command in GENERATE.commands(page):
            GENERATE.prepare(command, here)
            if command.ours and (wanted & set(command.line.split()) or " demo --example " in command.line):
                lines.append(command.line.removeprefix("scorespace "))
        _run(lines, here)
        return {name: (here / name).read_bytes() for name in wanted}


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Point links to the root, and between pages of the root, to the pages of the site."""
    for name in PAGES_OF_THE_ROOT:
        markdown = markdown.replace(f"](../{name}", f"]({name}")
    if page.file.src_uri in PAGES_OF_THE_ROOT:
        markdown = re.sub(r"\]\(docs/", "](", markdown)
        markdown = re.sub(r"\[([^]]+)\]\((?!https?:|#)(?![\w-]+\.md)[^)]+\)", r"\1", markdown)  # files of the code
    return markdown


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Give a table row that begins with a name in code, such as a measure, that name as its anchor."""
    seen = set(re.findall(r'id="([^"]+)"', html))

    def named(row: re.Match[str]) -> str:
        if row["name"] in seen:
            return row[0]
        seen.add(row["name"])
        return row[0].replace("<tr>", f'<tr id="{escape(row["name"])}">', 1)

    return _ROW.sub(named, html)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Load the script of the search from the site itself."""
    return output.replace("https://unpkg.com/iframe-worker/shim", "site.js")


def _run(lines: list[str], folder: Path) -> None:
    """Run commands of scorespace in a folder, all in one process."""
    steps = "import shlex, sys\nfrom scorespace.cli import main\nfor line in sys.argv[1:]:\n"
    steps += "    sys.argv = ['scorespace', *shlex.split(line)]\n    try:\n        main()\n"
    steps += "    except SystemExit as end:\n        if end.code:\n            raise\n"
    subprocess.run([sys.executable, "-c", steps, *lines], cwd=folder, check=True, stdout=subprocess.DEVNULL)

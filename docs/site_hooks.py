"""Hooks of MkDocs: pages of the root, charts of the gallery, the live report, anchors of rows, and the search."""

from __future__ import annotations

import re
import subprocess
import sys
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from mkdocs.structure.files import File, Files

ROOT: Final = Path(__file__).parents[1]
PAGES_OF_THE_ROOT: Final = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
REPORT: Final = "scorespace-demo.html"
_FIGURE = re.compile(r"\(gallery/(?P<name>[\w-]+)\.svg\)\n+```console\n\$ scorespace (?P<line>.+)\n```")
_ROW = re.compile(r"<tr>\s*<td[^>]*><code>(?P<name>\w+)</code></td>")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of the root, the demo report, and the charts of the gallery, drawn by the commands below them."""
    for name in PAGES_OF_THE_ROOT:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    figures = list(_FIGURE.finditer((ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")))
    with TemporaryDirectory() as name:
        _run(["demo", "demo --copy", *(found["line"] for found in figures)], Path(name))
        drawn = {f"gallery/{found['name']}.svg": f"{found['name']}.svg" for found in figures} | {REPORT: REPORT}
        for path, written in drawn.items():
            files.append(File.generated(config, path, content=(Path(name) / written).read_bytes()))
    return files


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

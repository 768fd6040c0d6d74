"""The report: one HTML file with text, tables, charts and all that draws them, which asks the network nothing."""

from __future__ import annotations

from pathlib import Path

from scorespace.files import check_target, write_file
from scorespace.views.document import Document


def render(document: Document) -> str:
    """The page as HTML; the verdict moves to its top."""
    from scorespace.views.report import page  # the template engine loads only for pages

    return page.render(document)


def write(document: Document, path: str | Path) -> Path:
    """Write the page to a file and return where it is; a failure leaves no half a file behind."""
    check_target(Path(path), (".html",))
    return write_file(Path(path), render(document).encode(errors="replace"))

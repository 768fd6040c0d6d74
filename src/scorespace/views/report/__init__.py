"""The report: one HTML file with text, tables, charts and all that draws them, which asks the network nothing."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from scorespace.errors import DataError
from scorespace.views.document import Document


def render(document: Document) -> str:
    """The page as HTML; the verdict moves to its top."""
    from scorespace.views.report import page  # the template engine loads only for pages

    return page.render(document)


def write(document: Document, path: str | Path) -> Path:
    """Write the page to a file and return where it is; a failure leaves no half a file behind."""
    return write_file(Path(path), render(document).encode(errors="replace"))


def write_file(path: Path, content: bytes) -> Path:
    """Put the content in place in one step, so that a reader sees the old file or the new one."""
    if not path.parent.is_dir():
        raise DataError(f"{str(path)!r} cannot be written.", seen=f"there is no folder {str(path.parent)!r}")
    if path.is_dir():
        raise DataError(f"{str(path)!r} cannot be written.", seen="it is a folder")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be written.", seen=error.strerror) from None
    finally:
        temporary.unlink(missing_ok=True)
    return path

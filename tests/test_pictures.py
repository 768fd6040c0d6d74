"""The pictures of the pages are the ones that docs/pictures.py draws."""

import re
import runpy
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_every_picture_is_drawn_and_shown(tmp_path):
    drawn = {path.name for path in runpy.run_path(str(DOCS / "pictures.py"))["draw"](tmp_path)}
    pages = [(DOCS / name).read_text(encoding="utf-8") for name in ("smooth.md", "resampling.md")]
    shown = {name for page in pages for name in re.findall(r"\]\(smooth/([^)]+)\)", page)}
    assert drawn == shown == {path.name for path in (DOCS / "smooth").iterdir()}

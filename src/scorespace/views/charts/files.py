"""Charts as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from scorespace.errors import DataError
from scorespace.files import write_file
from scorespace.views import report
from scorespace.views.charts.curves import HOVER
from scorespace.views.charts.marks import Spec
from scorespace.views.document import Document, Picture, Section

ENDINGS: Final = (".png", ".svg", ".pdf", ".html", ".json")
"""What `save` can write."""


def save(chart: Any, path: str | Path, scale: float = 2.0) -> Path:
    """Write a chart as picture, page or Vega-Lite spec, by the ending; `scale` is for .png. Failing leaves no file.

    A chart of Altair will do, too.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise DataError(f"{str(path)!r} is no picture that can be written.", hint=f"an ending of {', '.join(ENDINGS)}")
    return write_file(path, _encoded(chart if isinstance(chart, dict) else chart.to_dict(), ending, scale))


def _encoded(spec: Spec, ending: str, scale: float) -> bytes:
    content: str | bytes
    if ending == ".json":
        content = json.dumps(spec, indent=1)
    elif ending == ".html":
        picture = Picture(lambda: spec, alt=spec.get("description", "Chart"))
        content = report.render(Document("", "", (Section("chart", "", (picture,)),)))
    else:
        import vl_convert  # 90 MB, which pages and specs do without

        convert = getattr(vl_convert, f"vegalite_to_{ending[1:]}")
        content = convert(_still(_drawable(spec)), **({"scale": scale} if ending == ".png" else {}))
    return content.encode(errors="replace") if isinstance(content, str) else content


_NO_XML: Final = dict.fromkeys(
    [*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], "\N{REPLACEMENT CHARACTER}"
)


def _drawable(part: Any) -> Any:
    """A part of a spec without the characters that no SVG may hold: what draws it would end the process."""
    if isinstance(part, str):
        return part.translate(_NO_XML)
    if isinstance(part, dict):
        return {_drawable(key): _drawable(value) for key, value in part.items()}
    return [_drawable(value) for value in part] if isinstance(part, (list, tuple)) else part


def _still(spec: Spec) -> Spec:
    """The spec without what only a pointer can see."""
    shown = [layer for layer in spec.get("layer", ()) if layer.get("name") != HOVER]
    kept = {**spec, "params": [param for param in spec.get("params", ()) if "select" not in param]}
    return kept | {"layer": shown} if shown else kept

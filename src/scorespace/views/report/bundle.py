"""Vega, Vega-Lite and Vega-Embed as one script: made once for a version of vl-convert, then read from a cache."""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from scorespace.errors import DataError
from scorespace.files import write_file

SNIPPET: Final = "window.vegaEmbed = vegaEmbed;"
"""What the script does once it is read: it sets `vegaEmbed`."""


@cache
def vega() -> str:
    """The script, fit for a script element; making it takes two seconds, and reading it no time."""
    place = kept_at()
    script = None if place is None else _read(place)
    if script is None:
        script = _made()
        if place is not None:
            _keep(script, place)
    # In a script element these would end it or open a comment; in JavaScript strings the backslash means nothing.
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("\r\n", "\n")


def kept_at() -> Path | None:
    """The file of this version and snippet in the user's cache, or None where there is no place for one."""
    homes = {"win32": ("LOCALAPPDATA", "AppData/Local"), "darwin": ("XDG_CACHE_HOME", "Library/Caches")}
    stated, usual = homes.get(sys.platform, ("XDG_CACHE_HOME", ".cache"))
    try:
        folder = Path(os.environ.get(stated, ""))
        if not folder.is_absolute():  # also when nothing is stated
            folder = Path.home() / usual
    except RuntimeError:  # nobody's home
        return None
    about = hashlib.sha256(SNIPPET.encode()).hexdigest()[:12]
    return folder / "scorespace" / f"vega-{version('vl-convert-python')}-{about}.js"


def _made() -> str:
    import vl_convert  # 90 MB, which a warm cache spares

    script: str = vl_convert.javascript_bundle(SNIPPET)
    return script


def _read(place: Path) -> str | None:
    """What was kept, unless it is absent or its hash, in the first line, says that it is not whole."""
    try:
        stated, _, script = place.read_bytes().partition(b"\n")
        return script.decode() if stated.decode() == _hash(script) else None
    except (OSError, ValueError):
        return None


def _keep(script: str, place: Path) -> None:
    """Put it in place whole; where that cannot be done, it is made again next time."""
    content = script.encode()
    with suppress(OSError, DataError):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_file(place, _hash(content).encode() + b"\n" + content)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

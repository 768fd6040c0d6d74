"""A real browser for the tests of the page, and Vega-Lite's own schema for those of charts."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def valid() -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A chart that Vega-Lite's schema allows, as Altair knows it; its rows are plain numbers, texts and gaps."""
    import altair

    def check(spec: dict[str, Any]) -> dict[str, Any]:
        cells = (cell for rows in spec["datasets"].values() for row in rows for cell in row.values())
        assert {type(cell) for cell in cells} <= {str, int, float, type(None)}
        json.dumps(spec, allow_nan=False)
        altair.Chart.from_dict({**spec, "datasets": {name: [] for name in spec["datasets"]}}, validate=True)
        return spec

    return check


_NAMES = ("chromium", "chromium-browser", "google-chrome")
_QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--allow-file-access-from-files",  # so that the frame below can be looked into
    "--enable-logging=stderr",
    "--virtual-time-budget=10000",
)

# Chromium makes no window narrower than 500 pixels, a frame may be as narrow as a phone.
_FRAME = """<!doctype html><body style="margin:0">
<iframe src="{address}" style="border:0;width:{width}px;height:900px"></iframe>
<pre id="answer"></pre>
<script>
const frame = document.querySelector("iframe");
const settled = () => !frame.contentDocument.querySelector("figure.picture:not([data-drawn])");
frame.addEventListener("load", async () => {{
  const page = frame.contentDocument, root = page.documentElement;
  for (let turn = 0; turn < 60 && !settled(); turn += 1) await new Promise((done) => setTimeout(done, 50));
  const answer = await (async () => {{ {script} }})();
  document.getElementById("answer").textContent = JSON.stringify(answer);
}});
</script>"""


@dataclass(frozen=True)
class Visit:
    """What a page answered and what it said on the console."""

    answer: Any
    console: list[str]


@dataclass(frozen=True)
class Browser:
    """Chromium without a window, in a fresh profile."""

    executable: str
    folder: Path

    def visit(self, page: Path, script: str, *, width: int = 1200, options: tuple[str, ...] = ()) -> Visit:
        """Open the page in a frame of that width, wait for its charts, and return what the script returns.

        The script sees the document as `page`, its root element as `root` and its window as `frame.contentWindow`.
        """
        wrapper = self.folder / "frame.html"
        wrapper.write_text(_FRAME.format(address=page.as_uri(), width=width, script=script), encoding="utf-8")
        run = subprocess.run(
            [
                self.executable,
                *_QUIET,
                *options,
                f"--user-data-dir={self.folder / 'profile'}",
                f"--window-size={max(width, 500)},1000",
                "--dump-dom",
                wrapper.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        found = re.search(r'<pre id="answer">(.*?)</pre>', run.stdout, re.DOTALL)
        assert found is not None
        assert found[1], f"the page gave no answer\n{run.stderr[-2000:]}"
        return Visit(json.loads(html.unescape(found[1])), re.findall(r'CONSOLE[^"]*"(.*)", source', run.stderr))


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    """Chromium; where it is missing, a skip at home and a failure in CI."""
    executable = next(filter(None, map(shutil.which, _NAMES)), None)
    if executable is None:
        reason = f"no browser found ({', '.join(_NAMES)}): make browser"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return Browser(executable, tmp_path)

"""Pages in the browser, and Vega-Lite's own schema for those of charts."""

from __future__ import annotations

import json
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


_DRAWN = "figure.picture:not([data-drawn=yes])"


@dataclass
class Visit:
    """A page in the browser, what it said on the console, and what it asked the network for."""

    page: Any
    console: list[str]
    requests: list[str]

    def settle(self) -> Visit:
        """Wait until every chart is drawn, and what was changed is shown."""
        for _ in range(200):
            if not self.page.locator(_DRAWN).count():
                break
            self.page.wait_for_timeout(50)
        return self.shown()

    def shown(self) -> Visit:
        """Wait until what was changed is shown: events are heard, then two frames drawn."""
        self.page.evaluate(
            "() => new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 20))"
        )
        return self

    def said(self, name: str) -> str:
        """What the page says at the first place of that name."""
        return self.page.locator(f"[data-say='{name}']").first.text_content()


def entered(context: Any, path: Path, fragment: str = "") -> Visit:
    """A file opened in a window, watched."""
    found = Visit(context.new_page(), [], [])
    found.page.on("console", lambda message: found.console.append(message.text))
    found.page.on("pageerror", lambda error: found.console.append(str(error)))
    found.page.on("request", lambda request: found.requests.append(request.url))
    found.page.goto(path.as_uri() + fragment)
    return found


@pytest.fixture
def visit(chromium):
    """Open a file in a fresh window and wait for its charts."""
    contexts = []

    def visited(
        path: Path, *, width: int = 1200, height: int = 900, fragment: str = "", settle: bool = True, **options: Any
    ) -> Visit:
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        found = entered(context, path, fragment)
        return found.settle() if settle else found

    yield visited
    for context in contexts:
        context.close()

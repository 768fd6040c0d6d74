"""What all tests share: how Hypothesis searches, a cache of their own, and one browser for each process.

In CI Hypothesis tries the same examples every time, elsewhere new ones; `make laws` tries more of them.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from components import missing

EXAMPLES = int(os.environ.get("EXAMPLES", "30"))
settings.register_profile("repeatable", deadline=None, max_examples=EXAMPLES, derandomize=True)
settings.register_profile("searching", deadline=None, max_examples=EXAMPLES)
settings.load_profile("repeatable" if os.environ.get("CI") else "searching")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is kept between runs comes from these tests and not from what was run before them."""
    folder = str(tmp_path_factory.mktemp("cache"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", folder)
        patch.setenv("LOCALAPPDATA", folder)
        yield


_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The system's Chromium, without a window. Playwright can be begun only once in a process."""
    executable = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if executable is None:
        missing(f"no browser ({', '.join(_BROWSERS)}) found: make browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("no Playwright found: make setup")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, which finds what keeps people from using a page."""
    place = Path(__file__).parents[1] / ".venv" / "axe.js"
    if not place.exists():
        missing("no axe-core found: make axe")
    return place.read_text(encoding="utf-8")

"""The website of the docs: every link leads somewhere, and it works from disk without a network."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built strictly: a link or an anchor that leads nowhere is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def opened(site, chromium):
    """Open a page from disk; what it asks of the network is kept."""
    contexts = []

    def one(name, width=1400, **options):
        contexts.append(chromium.new_context(viewport={"width": width, "height": 900}, **options))
        page, requests = contexts[-1].new_page(), []
        page.on("request", lambda request: requests.append(request.url))
        page.goto((site / name).as_uri())
        return page, requests

    yield one
    for context in contexts:
        context.close()


def test_every_page_has_its_place():
    class Loader(yaml.SafeLoader):
        """YAML with the Python names of MkDocs as text."""

    Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)
    configured = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)

    def files(entries):
        for entry in entries:
            for target in entry.values():
                yield from [target] if isinstance(target, str) else files(target)

    listed = list(files(configured["nav"]))
    assert len(listed) == len(set(listed))
    assert {name for name in listed if (ROOT / "docs" / name).exists()} == {
        path.name for path in (ROOT / "docs").glob("*.md")
    }


def test_every_chart_of_the_gallery_is_drawn_by_its_command(site):
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")]
    named = [name for page in pages for name in re.findall(r"\(gallery/([\w-]+\.svg)\)", page)]
    assert len(named) == len(set(named)) > 35
    assert {path.name for path in (site / "gallery").glob("*.svg")} == set(named)
    assert (site / "scorespace-demo.html").exists()


def test_the_api_shows_parameters_and_types(site):
    page = (site / "api.html").read_text(encoding="utf-8")
    assert 'id="scorespace.evaluation.api.evaluate"' in page
    assert page.count("Parameters:") > 80


def test_the_search_works_from_disk_and_asks_nobody(opened):
    page, requests = opened("index.html")
    page.locator("input[name=query]").click()
    page.locator("input[name=query]").press_sequentially("net benefit")
    page.get_by_text("matching documents").wait_for()
    found = [one.get_attribute("href") for one in page.locator(".md-search-result__link").all()]
    assert any("measures.html" in one for one in found)
    assert {url.split(":")[0] for url in requests} <= {"file", "data", "blob"}


@pytest.mark.parametrize("name", ["index.html", "measures.html", "commands.html", "coverage.html", "gallery.html"])
def test_no_page_is_wider_than_a_phone(opened, name):
    page, _ = opened(name, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("name", ["index.html", "measures.html", "api.html"])
def test_no_table_is_wider_than_its_page(opened, name):
    page, _ = opened(name)
    tables = page.locator(".md-typeset__scrollwrap").all()
    wide = "table => table.scrollWidth > table.clientWidth + 1"
    assert [table.inner_text()[:80] for table in tables if table.evaluate(wide)] == []


@pytest.mark.parametrize(("name", "scheme"), [("decide.html", "light"), ("gallery.html", "dark")])
def test_everybody_can_use_it(opened, axe, name, scheme):
    page, _ = opened(name, color_scheme=scheme)
    page.add_script_tag(content=axe)
    found = page.evaluate("axe.run(document.querySelector('article'))")
    serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    assert [f"{one['id']}: {one['nodes'][0]['html']}" for one in serious] == []

"""The website of the docs: every link and anchor leads somewhere, and it works from disk without a network."""

import runpy
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest

DOCS = Path(__file__).parents[2] / "docs"
website = SimpleNamespace(**runpy.run_path(str(DOCS / "website.py")))


class Read(HTMLParser):
    """The anchors of a page, where it leads, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded = [], [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []
        self.loaded += [found[name] for name in ("src", "href") if name in found and tag != "a"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    website.build(folder)
    for name in website.LIVE.values():
        (folder / name).write_text("the report, which takes seconds and has tests of its own", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path.name: Read(path) for path in site.glob("*.html") if path.name not in website.LIVE.values()}


# --- the map


def test_every_page_is_on_the_map_once():
    listed = [page.file for group in website.groups((DOCS / "index.md").read_text()) for page in group.pages]
    assert len(listed) == len(set(listed))
    assert {name for name in listed if "/" not in name} == {path.name for path in DOCS.glob("*.md")}


def test_groups_are_the_tables_under_headings():
    index = "# Home\n### One?\n| page | answers |\n|:--|:--|\n| [A](a.md) | why |\n\n### Two?\n| [B](../B.md) | how |"
    first, second = website.groups(index)
    assert [(page.title, page.address) for page in first.pages] == [("A first look", "index.html"), ("A", "a.html")]
    assert second == ("Two?", [("../B.md", "B", "how")])


# --- links


def test_every_link_and_anchor_leads_somewhere(site, pages):
    dead = []
    for name, page in pages.items():
        for link in page.links:
            path, _, place = link.partition("#")
            target = path or name
            if "://" not in link and (not (site / target).exists() or (place and place not in pages[target].ids)):
                dead.append(f"{name}: {link}")
    assert dead == []


def test_a_page_loads_what_lies_beside_it_and_nothing_else(site, pages):
    assert [one for page in pages.values() for one in page.loaded if not (site / one).exists()] == []
    assert "@import" not in (site / "style.css").read_text()
    assert "url(" not in (site / "style.css").read_text()


def test_anchors_are_unique(pages):
    assert {name: [one for one in page.ids if page.ids.count(one) > 1] for name, page in pages.items()} == {
        name: [] for name in pages
    }


def test_every_page_leads_to_every_page(pages):
    assert all(set(pages) <= set(page.links) for page in pages.values())


# --- Markdown


def test_code_pictures_links_and_rows_of_tables():
    text = (
        "# Title\n<!-- unseen -->\n## Why not `0.5`?\n[there](../SECURITY.md#read) ![ROC](smooth/six.svg) "
        "![it](report.png)\n```console\n$ scorespace demo\nout < 1\n```\n"
        "| Name | Also |\n|:--|:--|\n| `tpr` | `recall`, `beta=1` |\n"
    )
    found = website.rendered(text)
    assert (found.title, found.headings) == ("Title", [("why-not-05", "Why not 0.5?", "h2")])
    assert 'href="security.html#read"' in found.html
    assert '<img src="smooth/six.svg" alt="ROC" loading="lazy">' in found.html
    assert f'<a href="{website.LIVE["report.png"]}"><img' in found.html
    assert '<span class="gp">$ </span>scorespace<span class="w"> </span>demo' in found.html
    assert '<span class="go">out &lt; 1</span>' in found.html
    assert '<tr id="tpr">' in found.html
    assert "unseen" not in found.html
    assert found.sections[-1] == ("tpr", "tpr, recall", "recall, beta=1")


# --- in a browser, from disk


@pytest.fixture
def opened(site, visit):
    def one(name, **options):
        found = visit(site / name, settle=False, **options)
        assert found.console == []
        return found

    return one


def test_the_search_finds_names_and_headings(opened):
    found = opened("index.html")
    for asked, first in {
        "recall": "measures.html#tpr",
        "Hit rate": "measures.html#tpr",
        "ss007": "notes.html#SS007",
        "why not 0.5": "decide.html#why-not-05",
        "delong": "tests.html#delong",
    }.items():
        found.page.keyboard.press("/")
        found.page.keyboard.type(asked)
        found.page.locator("#answers [aria-selected=true]").wait_for()
        found.page.keyboard.press("Enter")
        found.page.wait_for_url(f"**/{first}")
    assert {url.split(":")[0] for url in found.requests} == {"file"}


def test_copy_takes_what_can_be_run(opened):
    found = opened("index.html", permissions=["clipboard-read", "clipboard-write"])
    blocks = found.page.locator(".code", has=found.page.locator("code.console"))
    blocks.first.hover()
    blocks.first.get_by_role("button", name="Copy").click()
    blocks.first.get_by_role("button", name="Copied").wait_for()
    text = found.page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("scorespace demo --copy\nscorespace evaluate credit.csv")
    assert all(line.startswith("scorespace ") for line in text.replace("\\\n", "").splitlines())  # no answers


@pytest.mark.parametrize("name", ["index.html", "measures.html", "commands.html", "coverage.html"])
def test_no_page_is_wider_than_a_phone(opened, name):
    assert opened(name, width=360).page.evaluate("document.documentElement.scrollWidth") == 360


def test_pages_are_behind_a_button_on_a_phone_and_beside_the_text_elsewhere(opened):
    phone = opened("decide.html", width=390).page
    assert not phone.get_by_role("navigation").is_visible()
    phone.get_by_role("button", name="Pages").click()
    phone.get_by_role("link", name="Monitoring").click()
    phone.wait_for_url("**/monitor.html")
    assert opened("decide.html").page.get_by_role("navigation").is_visible()


def test_light_or_dark_is_remembered(opened):
    page = opened("index.html", color_scheme="light").page
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(paper)
    page.get_by_role("button", name="Light or dark").click()
    dark = page.evaluate(paper)
    page.reload()
    assert page.evaluate(paper) == dark != light


@pytest.mark.parametrize(("name", "scheme"), [("decide.html", "light"), ("index.html", "dark")])
def test_everybody_can_use_it(opened, axe, name, scheme):
    page = opened(name, color_scheme=scheme).page
    page.add_script_tag(content=axe)
    found = page.evaluate("axe.run().then(found => found.violations.map(one => `${one.id}: ${one.nodes[0].html}`))")
    assert found == []

"""The report: what the page says, that it asks the network nothing, and how it behaves in a real browser."""

import base64
import hashlib
import json
import re
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest

from scorespace.curves import gain, lift_curve, pr, roc
from scorespace.errors import DataError
from scorespace.inference.estimate import estimate
from scorespace.measures import confusion, parse
from scorespace.report import chart_theme, html
from scorespace.report.curve_charts import curve_chart, threshold_chart
from scorespace.report.document import Document, Grid, Notes, Picture, Section, Text, Verdict
from scorespace.report.measures import measures_chart
from scorespace.report.score_charts import distribution_chart
from scorespace.results import Note, note
from scorespace.tables import score_table

HOSTILE = "</script><img src=x onerror=alert(1)>"


def table(seed, size=400):
    source = np.random.default_rng(seed)
    truth = source.integers(0, 2, size)
    return score_table(truth, 1 / (1 + np.exp(-source.normal(truth, 1))))


def pictures(names):
    tables = {name: table(seed) for seed, name in enumerate(names)}
    return [
        Picture(draw, f"A chart of {', '.join(names)}", "What it shows.")
        for draw in (
            lambda: curve_chart({name: roc(one) for name, one in tables.items()}),
            lambda: curve_chart({name: pr(one) for name, one in tables.items()}, baseline=0.5),
            lambda: curve_chart({name: gain(one) for name, one in tables.items()}),
            lambda: curve_chart({name: lift_curve(one) for name, one in tables.items()}),
            lambda: distribution_chart(tables),
            lambda: threshold_chart(tables[names[0]], [confusion.tpr, confusion.fpr, confusion.ppv, confusion.f1]),
            lambda: measures_chart([[estimate(parse("auc"), one, model=name) for name, one in tables.items()]]),
        )
    ]


def page(names=("naive_bayes", "tree", "logistic"), words="tree"):
    """A page with every kind of block, in which all text from data is `words`."""
    grid = Grid(
        ("", *names),
        tuple((row, *["0.787 [0.757, 0.817]"] * len(names)) for row in ("auc ↑", f"of {words}")),
        f"Caption of {words}",
        (("auc ↑", f"Explains {words}"),),
    )
    return Document(
        f"Report on {words}",
        f"{words}.csv   1 000 cases   positive = {words}",
        (
            Section("measures", "Measures", (grid, Verdict(f"Use {words} at 0.17.")), brief=True),
            Section("verdict", "Verdict", (Verdict("It costs least."),), brief=True),
            Section(
                "notes", "Notes", (Notes((note("SS001", f"{words} has few cases."), Note("SS999", "info", words))),)
            ),
            Section("curves", "Curves", (Text(f"All of {words}"), *pictures(names)[:4])),
            Section("scores", f"Scores of {words}", tuple(pictures(names)[4:])),
        ),
    )


class Reader(HTMLParser):
    """The elements of a page with their attributes, and its text outside scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.text, self.scripts, self.within = [], "", [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.within = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.within = ""

    def handle_data(self, data):
        if self.within == "script":
            self.scripts[-1] += data
        elif self.within != "style":
            self.text += data

    def having(self, name):
        return [attributes[name] for _, attributes in self.elements if name in attributes]


@pytest.fixture(scope="module")
def plain():
    return html.render(page())


@pytest.fixture(scope="module")
def hostile():
    return html.render(page((HOSTILE, 'a.b["c"]', "it's 贝叶斯"), HOSTILE))


# The page as text


def test_the_verdict_comes_first_and_its_emptied_section_is_gone(plain):
    read = Reader(plain)
    assert read.text.index("Use tree at 0.17.") < read.text.index("It costs least.") < read.text.index("0.787")
    assert read.having("href") == ["#measures", "#notes", "#curves", "#scores"]
    assert [name for tag, attributes in read.elements if tag == "section" and (name := attributes.get("id"))] == [
        "measures",
        "notes",
        "curves",
        "scores",
    ]


def test_facts_numbers_intervals_hints_and_notes(plain):
    assert "<li>1\N{NO-BREAK SPACE}000 cases</li>" in plain
    assert '<td>0.787 <span class="interval">[0.757, 0.817]</span></td>' in plain
    assert '<button type="button" class="hint" title="Explains tree">auc ↑</button>' in plain
    assert '<span class="level">Warning</span>' in plain
    assert '<code class="statistical">SS001</code>' in plain


def test_pictures_are_described_for_those_who_cannot_see_them(plain):
    read = Reader(plain)
    described = [attributes for _, attributes in read.elements if attributes.get("class") == "chart"]
    assert len(described) == 7
    assert {attributes["aria-label"] for attributes in described} == {"A chart of naive_bayes, tree, logistic"}


def test_seven_charts_fit_in_two_megabytes_with_one_copy_of_vega(plain):
    assert len(plain.encode()) < 2_000_000
    assert len(Reader(plain).scripts) == 7 + 2


def test_a_page_without_pictures_carries_no_vega():
    small = html.render(Document("Words", "", (Section("a", "A", (Text("only"),)),)))
    assert len(small) < 50_000
    assert "<nav" not in small


def test_prose_may_wrap():
    grid = Grid(("name", "meaning"), (("auc", "A long sentence."),), prose=True)
    assert 'class="grid prose"' in html.render(Document("", "", (Section("a", "", (grid,)),)))


def test_nothing_is_loaded_from_anywhere(plain):
    read = Reader(plain)
    assert not read.having("src")
    assert all(link.startswith("#") for link in read.having("href"))
    assert not re.search(r"url\(|@import", re.search(r"<style>(.*?)</style>", plain, re.DOTALL)[1])


def test_only_the_scripts_of_the_page_may_run(plain):
    read = Reader(plain)
    policy = read.having("content")[0]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-eval" not in policy
    running = [script for script in read.scripts if not script.startswith("{")]
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in running]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes


def test_text_from_data_stays_text(hostile):
    read = Reader(hostile)
    assert not [tag for tag, _ in read.elements if tag in ("img", "iframe", "object")]
    assert not [name for _, attributes in read.elements for name in attributes if name.startswith("on")]
    assert len(read.scripts) == 7 + 2
    assert f"<h1>Report on {escape(HOSTILE)}</h1>" in hostile
    assert read.text.count(HOSTILE) > 10


def test_specs_survive_the_trip_through_the_page(hostile):
    specs = [json.loads(script) for script in Reader(hostile).scripts if script.startswith("{")]
    names = {row.get("name") for spec in specs for values in spec["datasets"].values() for row in values}
    assert HOSTILE in names
    assert "it's 贝叶斯" in names
    assert {spec["background"] for spec in specs} == {"transparent"}


def test_the_style_sheet_knows_the_neutral_colours_of_the_charts(plain):
    style = re.search(r"<style>(.*?)</style>", plain, re.DOTALL)[1]
    assert all(
        f'="{colour}"]' in style for colour in (chart_theme.INK, chart_theme.SOFT, chart_theme.FAINT, chart_theme.GRID)
    )


# Files


def test_write_replaces_the_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    small = Document("Words", "", (Section("a", "A", (Text("only"),)),))
    assert html.write(small, str(path)) == path
    assert path.read_text(encoding="utf-8") == html.render(small)
    assert list(tmp_path.iterdir()) == [path]
    html.write(small, tmp_path / "new.html")
    assert (tmp_path / "new.html").stat().st_mode & 0o444 == 0o444


def test_places_that_cannot_be_written_are_refused(tmp_path):
    small = Document("Words", "", ())
    with pytest.raises(DataError, match=r"folder '.*absent' for report\.html does not exist"):
        html.write(small, tmp_path / "absent" / "report.html")
    with pytest.raises(DataError, match="it is a folder"):
        html.write(small, tmp_path)


# The page in a browser


@pytest.fixture(scope="module")
def written(tmp_path_factory, plain):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(plain, encoding="utf-8")
    return path


def test_every_chart_is_drawn_and_nothing_complains(visit, written):
    found = visit(written)
    assert found.console == []
    assert found.page.locator("figure.picture[data-drawn=yes]").count() == 7
    text = " ".join(found.page.locator("figure.picture").all_text_contents())
    assert all(name in text for name in ("naive_bayes", "False positive rate", "Share of class"))
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 1200


def test_a_phone_shows_it_without_scrolling_sideways(visit, written):
    found = visit(written, width=390)
    assert found.console == []
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 390
    widths = [box["width"] for box in (one.bounding_box() for one in found.page.locator(".chart svg").all()) if box]
    assert min(widths) > 300
    assert max(widths) <= 390


def test_charts_follow_a_dark_page(visit, written):
    look = "getComputedStyle(document.querySelector('.role-axis-title text')).fill"
    light, dark = (visit(written, color_scheme=one).page.evaluate(look) for one in ("light", "dark"))
    brightness = [sum(map(int, re.findall(r"\d+", colour))) for colour in (light, dark)]
    assert brightness[0] < 200
    assert brightness[1] > 600


def test_hostile_names_are_shown_as_text_also_under_the_pointer(visit, tmp_path, hostile):
    path = tmp_path / "report.html"
    path.write_text(hostile, encoding="utf-8")
    found = visit(path)
    found.page.locator("figure.picture").first.scroll_into_view_if_needed()
    found.page.locator('[class*="voronoi"] path').nth(100).dispatch_event("pointerover", {"bubbles": True})
    box = found.page.locator("figure.picture .chart svg").first.bounding_box()
    found.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    found.page.wait_for_timeout(300)
    tooltip = found.page.locator("#vg-tooltip-element").text_content()
    assert "Threshold" in tooltip
    assert any(name in tooltip for name in (HOSTILE, 'a.b["c"]', "it's 贝叶斯"))
    found.page.locator(".hint").first.focus()
    assert found.page.locator("#hint").text_content() == f"Explains {HOSTILE}"
    assert found.page.locator("#hint").is_visible()
    assert found.page.locator("img").count() == 0
    assert found.console == []


def test_a_chart_that_cannot_be_drawn_says_so(visit, tmp_path):
    broken = Picture(lambda: {"mark": "no such mark", "data": {"values": []}}, "broken")
    path = html.write(Document("Broken", "", (Section("a", "A", (broken,)),)), tmp_path / "report.html")
    found = visit(path, settle=False)
    found.page.wait_for_timeout(1500)
    assert found.page.locator(".chart").text_content().startswith("This chart could not be drawn")
    assert found.console  # so the silence of the other pages means something

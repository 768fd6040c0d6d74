"""A document as a piece of HTML for notebooks."""

from html.parser import HTMLParser

from scorespace.report import notebook
from scorespace.report.document import Document, Grid, Notes, Picture, Section, Text, Verdict
from scorespace.results import note

HOSTILE = "<script>alert(1)</script>&\"'"


class Reader(HTMLParser):
    """Tags and text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.words, self.open = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def page(text):
    blocks = (
        Grid(("", text), ((text, "0.750"),)),
        Verdict(text),
        Text(text),
        Notes((note("SS001", text),)),
        Picture(lambda: 1 / 0, text),
    )
    return Document(text, text, (Section("all", text, blocks),))


def test_every_text_is_shown_and_none_is_markup():
    read = Reader(notebook.html(page(HOSTILE)))
    assert "script" not in read.tags
    assert "".join(read.words).count(HOSTILE) == 7  # title, facts, two cells, verdict, paragraph, note
    assert read.open == []


def test_a_grid_is_a_table():
    read = Reader(notebook.html(page("nb")))
    assert read.tags.count("table") == 1
    assert read.tags.count("tr") == 2
    assert "SS001" in read.words

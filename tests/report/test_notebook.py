"""A document as a piece of HTML for notebooks."""

from html.parser import HTMLParser

import scorespace as ss
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


# --- in a notebook


DATA = {"y": [1, 0, 1, 1, 0, 0], "s": [0.9, 0.8, 0.7, 0.4, 0.3, 0.1], "t": [0.8, 0.9, 0.7, 0.1, 0.3, 0.2]}


def test_the_text_of_an_evaluation_is_returned_and_not_displayed(monkeypatch, capsys):
    """Rich displays what is printed in a notebook: the evaluation appeared twice, and its text was empty."""
    ev = ss.evaluate(DATA, truth="y", scores=["s", "t"])
    expected = str(ev)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    displayed = []
    monkeypatch.setattr("rich.jupyter.display", lambda *given: displayed.append(given))
    assert str(ev) == expected
    assert "AUC" in expected
    assert displayed == []
    assert capsys.readouterr().out == ""


def test_charts_need_no_network():
    chart = ss.evaluate(DATA, truth="y", scores=["s", "t"]).plot("roc")
    bundle = chart._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "http" not in bundle["image/svg+xml"].replace("http://www.w3.org", "")
    assert set(bundle) == {"image/svg+xml", "text/plain"}


def test_every_result_has_an_html_form(visit, tmp_path):
    ev = ss.evaluate(DATA, truth="y", scores=["s", "t"])
    results = [
        *(ev, ev.summary, ev.comparisons, ev.decide(ss.Condition(fp=1, fn=3)), ev.curve("roc", "s")),
        *(ev.band("roc", "s"), *ev.calibrations.values()),
    ]
    forms = [one._repr_html_() for one in results]
    path = tmp_path / "cells.html"
    cells = "".join(f"<div style='width: 800px; overflow: hidden'>{form}</div>" for form in forms)
    path.write_text(f"<!doctype html><meta charset=utf-8><body style='margin: 0'>{cells}", encoding="utf-8")
    found = visit(path, width=800, settle=False)
    assert found.requests == [path.as_uri()]
    wide = found.page.evaluate("[...document.querySelectorAll('body > div')].map(cell => cell.scrollWidth)")
    assert max(wide) <= 800

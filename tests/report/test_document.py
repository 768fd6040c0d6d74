"""A page as data: what of it fits one screen of text, and in which order."""

from scorespace.report.document import Document, Grid, Notes, Section, Text, Verdict
from scorespace.results import note

GRID, SHORT = Grid(("", "a"), (("auc", "0.8"),)), Text("in short")
PAGE = Document(
    "Title",
    "facts",
    (
        Section("verdict", "Verdict", (Verdict("Use a."),), brief=True),
        Section("notes", "Notes", (Notes((note("SS001", "few"),)),), brief=True),
        Section("curves", "Curves", (Text("many words"),)),
        Section("measures", "Measures", (GRID,), brief=True),
        Section("classes", "Classes", (GRID, GRID), brief=True, short=(SHORT,)),
    ),
)


def test_in_brief_the_answer_comes_last():
    assert [one.name for one in PAGE.brief().sections] == ["measures", "classes", "verdict", "notes"]


def test_in_brief_a_section_shows_its_short_form_where_it_has_one():
    found = {one.name: one.blocks for one in PAGE.brief().sections}
    assert found["classes"] == (SHORT,)
    assert found["measures"] == (GRID,)
    assert PAGE.sections[4].blocks == (GRID, GRID)  # and the page itself stays whole

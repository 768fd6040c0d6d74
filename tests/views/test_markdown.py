"""A document as Markdown."""

from scorespace.results import note
from scorespace.views import markdown
from scorespace.views.document import Document, Grid, Notes, Picture, Section, Text, Verdict

PAGE = Document(
    "data.csv",
    "4 cases",
    (
        Section("measures", "Measures", (Grid(("", "nb"), (("auc ↑", "0.750"),)),)),
        Section("verdict", "Verdict", (Verdict("nb has AUC 0.750."), Text("That is all."))),
        Section("notes", "Notes", (Notes((note("SS001", "class 'a' has only 2 cases."),)),)),
        Section("roc", "ROC", (Picture(lambda: 1 / 0, "The curve of nb.", "ROC curve"),)),
    ),
)


def test_a_whole_page():
    assert markdown.text(PAGE) == (
        "# data.csv\n\n4 cases\n\n"
        "## Measures\n\n"
        "|       | nb    |\n"
        "| :--   | --:   |\n"
        "| auc ↑ | 0.750 |\n\n"
        "## Verdict\n\n**nb has AUC 0.750.**\n\nThat is all.\n\n"
        "## Notes\n\n- `SS001` warning: class 'a' has only 2 cases.\n\n"
        "## ROC\n\n*ROC curve* (picture in the report)\n"
    )


def test_signs_of_markdown_in_names_are_shown_as_they_are():
    hostile = "a|b_c*d`e[f]<g>#\\h"
    shown = "a\\|b\\_c\\*d\\`e\\[f\\]\\<g\\>\\#\\\\h"
    assert markdown.table(Grid(("", hostile), ((hostile, "1"),))).splitlines()[0] == f"| {' ' * len(shown)} | {shown} |"
    assert markdown.text(Document(hostile, "", ())).startswith(f"# {shown}\n")


def test_a_line_break_in_a_name_does_not_break_the_table():
    assert len(markdown.table(Grid(("", "two\nlines"), (("a\nb", "1"),))).splitlines()) == 3

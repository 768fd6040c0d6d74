"""Results as data: strict JSON, and CSV that other programs read back."""

import csv
import io
import json
import math

import numpy as np

from scorespace.report import serialize
from scorespace.report.document import Document, Grid, Notes, Picture, Section, Text, Verdict
from scorespace.results import note

ROWS = [
    {"model": 'a "quoted", name', "value": np.float64(0.1), "note": None},
    {"model": "zwei\nZeilen", "value": math.nan, "note": "größer"},
]


def test_json_is_strict():
    text = serialize.as_json({"a": math.nan, "b": [math.inf, -math.inf, np.float64(0.5)], "c": np.int64(3)})
    assert json.loads(text, parse_constant=lambda token: 1 / 0) == {"a": None, "b": [None, None, 0.5], "c": 3}


def test_json_keeps_every_digit_and_letter():
    assert json.loads(serialize.as_json({"ä": 0.1 + 0.2})) == {"ä": 0.30000000000000004}
    assert "ä" in serialize.as_json({"ä": 1})


def test_csv_reads_back():
    first, second = csv.DictReader(io.StringIO(serialize.as_csv(ROWS), newline=""))
    assert first == {"model": 'a "quoted", name', "value": "0.1", "note": ""}
    assert second == {"model": "zwei\nZeilen", "value": "", "note": "größer"}


def test_csv_without_rows():
    assert serialize.as_csv([]).strip() == ""


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
    assert serialize.text(PAGE) == (
        "# data.csv\n\n4 cases\n\n"
        "## Measures\n\n"
        "|       | nb    |\n"
        "| :--   | --:   |\n"
        "| auc ↑ | 0.750 |\n\n"
        "## Verdict\n\n**nb has AUC 0.750.**\n\nThat is all.\n\n"
        "## Notes\n\n- `SS001` warning: class 'a' has only 2 cases.\n\n"
        "## ROC\n\n*ROC curve* (chart in the HTML report)\n"
    )


def test_signs_of_markdown_in_names_are_shown_as_they_are():
    hostile = "a|b_c*d`e[f]<g>#\\h"
    shown = "a\\|b\\_c\\*d\\`e\\[f\\]\\<g\\>\\#\\\\h"
    assert (
        serialize.table(Grid(("", hostile), ((hostile, "1"),))).splitlines()[0] == f"| {' ' * len(shown)} | {shown} |"
    )
    assert serialize.text(Document(hostile, "", ())).startswith(f"# {shown}\n")


def test_a_line_break_in_a_name_does_not_break_the_table():
    assert len(serialize.table(Grid(("", "two\nlines"), (("a\nb", "1"),))).splitlines()) == 3

"""A document as terminal text."""

import io
import re
from itertools import pairwise

import pytest
from rich.cells import cell_len
from rich.console import Console

from scorespace.report import terminal
from scorespace.report.document import Document, Grid, Notes, Picture, Section, Text, Verdict
from scorespace.results import note

LONG = "The first of 1 000 cases is decided at 5 % of the cost, and this sentence has to be wrapped somewhere."


def shown(*blocks, width=100, title="data.csv", facts="4 cases"):
    return terminal.text(Document(title, facts, (Section("all", "All", blocks),)), width)


def test_title_and_facts_share_a_line_where_they_fit():
    assert shown().splitlines() == ["data.csv   4 cases"]
    assert shown(width=12).splitlines() == ["data.csv", "4 cases"]


def test_a_grid_has_its_first_column_on_the_left():
    grid = Grid(("", "nb", "tree"), (("auc ↑", "0.750", "0.700"), ("ppv@0.5 ↑", "–", "1.000")))
    assert shown(grid).splitlines()[2:] == [
        "            nb      tree",
        "auc ↑       0.750   0.700",
        "ppv@0.5 ↑   –       1.000",
    ]


def test_a_grid_that_is_too_wide_goes_on_below():
    grid = Grid(("", "first model", "second model", "third model"), (("auc ↑", "1", "2", "3"),))
    lines = shown(grid, width=40).splitlines()
    assert max(map(len, lines)) <= 40
    assert [line.split()[1:] for line in lines if line.startswith("auc")] == [["↑", "1", "2"], ["↑", "3"]]


def test_what_goes_on_below_leaves_out_rows_that_say_nothing_there():
    grid = Grid(("", "first model", "second model", "a − b"), (("auc ↑", "1", "2", "3"), ("threshold", "4", "", "")))
    below = shown(grid, width=40).split("a − b")[1]
    assert [line.split()[0] for line in below.splitlines() if line] == ["auc"]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_wide_letters_keep_to_the_width(width):
    names = tuple(f"{place}号模型的名称相当长而且很难缩写" for place in range(6))
    grid = Grid(("", *names), (("auc ↑", *("0.750 [0.700, 0.800]",) * 6),))
    lines = shown(grid, width=width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert all(name in "\n".join(lines) for name in names)


def test_prose_wraps_in_its_column():
    lines = shown(Grid(("measure", "definition"), (("auc", LONG),), prose=True), width=50).splitlines()
    assert max(map(len, lines)) <= 50
    assert all(line.startswith(" " * 10) for line in lines[4:])


@pytest.mark.parametrize("block", [Verdict, Text])
def test_sentences_wrap_without_tearing_numbers_apart(block):
    for width in range(20, 60):
        lines = shown(block(LONG), width=width).splitlines()[2:]
        assert max(map(len, lines)) <= width
        assert " ".join(lines) == LONG
        assert not any(line.startswith(("000", "%")) for line in lines)


def test_notes_hang_under_their_text():
    both = Notes((note("SS001", LONG), note("SS007", "short.")))
    lines = shown(both, width=50).splitlines()[2:]
    assert lines[0].startswith("notes SS001 The first")
    assert all(line.startswith(" " * 12) for line in lines[1:-1])
    assert lines[-1] == "      SS007 short."
    assert max(map(len, lines)) <= 50


def test_pictures_are_not_drawn():
    assert shown(Picture(lambda: 1 / 0, "a curve")).splitlines() == ["data.csv   4 cases"]


def test_markup_in_names_is_plain_text():
    name = "[bold red]nb[/] :smile: [link=x]"
    text = shown(Grid(("", name), (("a", name),)), Verdict(name), Notes((note("SS001", name),)), title=name, facts=name)
    assert text.count(name) == 6


def test_colour_is_only_an_addition():
    page = Document("data.csv", "", (Section("all", "All", (Verdict("Use nb."), Notes((note("SS001", "few."),)))),))
    out = io.StringIO()
    terminal.show(page, Console(file=out, width=80, force_terminal=True, color_system="standard"))
    assert "\x1b[" in out.getvalue()
    assert "Use nb." in out.getvalue()
    assert "\x1b[" not in terminal.text(page)


def test_names_stay_whole_where_a_long_reason_has_to_wrap():
    grid = Grid(("", "nb"), (("calibration slope", f"– {LONG}"), ("auc ↑", "0.750")))
    lines = shown(grid, width=60).splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[3].startswith("calibration slope   – The first of 1 000")
    assert "auc ↑               0.750" in lines


def test_no_text_of_the_data_commands_the_terminal():
    grid = Grid(("measure", "\x1b]0;title\x07m"), (("tpr[line\nbreak]", "\x1b[31m0.5"),))
    words = (Text("\x1b[2Jall\nnext"), Verdict("\u202eturned"), Notes((note("SS001", "\x9bred"),)))
    told = shown(grid, *words, title="\x1b[1mfile", facts="1 case \x1b[0m")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", told)
    assert r"\x1b[31m0.5" in told
    assert r"tpr[line\nbreak]" in told
    assert "all\nnext" in told


def test_rows_that_two_columns_name_keep_both_where_a_grid_is_split():
    rows = (("nb", "auc", "0.7 and so on", "further"), ("nb", "brier", "0.2 and so on", "more"))
    told = shown(Grid(("model", "since", "now", "then"), rows), width=34)
    assert told.splitlines()[-3:] == ["model   since   then", "nb      auc     further", "nb      brier   more"]


@pytest.mark.parametrize("width", range(30, 50))
def test_sentences_with_wide_letters_wrap_once(width):
    words = "Over ten data sets the ranks differ, and Ünïcode_模型 ranks best of all: Ünïcode_模型 above the others."
    lines = shown(Verdict(words), width=width).splitlines()[2:]
    assert " ".join(lines) == words
    assert all(cell_len(line) <= width for line in lines)
    # No line could have taken the first word of the next one.
    assert all(cell_len(f"{a} {b.split()[0]}") > width for a, b in pairwise(lines))

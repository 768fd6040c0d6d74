"""Smooth ROC in the report, and its charts."""

import pytest

import scorespace as ss
from scorespace.decisions.cases import SETS
from scorespace.views import sections, terminal
from scorespace.views import smooth as view
from scorespace.views.document import Grid, Picture, Text
from views.shown import SIX


def section(evaluation):
    return [part for part in sections.document(evaluation).sections if part.name == "smooth"]


def test_the_section_of_a_report(valid):
    (part,) = section(ss.evaluate(SIX, truth="y", scores="s"))
    pictures = [block for block in part.blocks if isinstance(block, Picture)]
    (grid,) = (block for block in part.blocks if isinstance(block, Grid))
    cells = dict(grid.rows)
    assert len(pictures) == 3  # the curves, the zones, and what handing over cases brings
    assert (cells["auc ↑"], cells["smauc ↑"]) == ("0.889", "0.840")  # ELKI
    assert (cells["on their side"], cells["on the wrong side"]) == ("5", "1")
    assert [cells[f"– {one}"] for one in SETS] == ["3", "2", "0", "1"]
    assert (cells["τv"], cells["τh"], cells["gap of ROC"]) == ("2.77", "3.23", "0.056")
    assert not part.brief
    assert set(dict(grid.hints)) == set(cells)
    for picture in pictures:
        assert valid(picture.draw())


def test_words_of_the_section():
    words = [block.text for block in view.blocks(ss.evaluate(SIX, truth="y", scores="s")) if isinstance(block, Text)]
    assert words == [
        "s is right without doubt about 67 % of the cases, sure and wrong about 0 %; of those in doubt it gets 1 right "
        "and 1 wrong."
    ]


@pytest.mark.parametrize(
    "data", [{"y": [1, 0, 1], "s": [3, 1, 2]}, {"y": [1, 1], "s": [0.4, 0.3]}], ids=["no probabilities", "one class"]
)
def test_no_section_without_probabilities_of_both_classes(data):
    assert section(ss.evaluate(data, truth="y", scores="s", positive=1)) == []


def test_the_page_of_cases():
    found = ss.cases(SIX["y"], SIX["s"], id=list("abcdef"))
    text = terminal.text(view.document("six.csv", "s", found))
    assert "hard" in text
    assert found.words.split(".")[0] in text


def test_plots_of_an_evaluation():
    found = ss.evaluate(SIX, truth="y", scores="s")
    assert found.plot("smooth").to_dict()
    assert found.curve("smooth", midpoint="median").midpoint == pytest.approx(0.555)

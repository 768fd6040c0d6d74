"""The sections of an evaluation's page."""

import pytest

import scorespace as ss
from scorespace.views import sections
from scorespace.views.document import Grid, Notes, Picture, Text, Verdict

SMALL = {"y": [1, 0, 1, 1, 0, 0], "s": [0.9, 0.8, 0.7, 0.4, 0.3, 0.1], "d": [1, 0, 1, 0, 0, 1]}
SMALL["t"] = [10 * score for score in SMALL["s"]]
CLASSES = {"y": list("aabbcc"), "d": list("aabbca")}


def page(data=SMALL, **options):
    asked = {"truth": "y", "scores": "s", "measures": "auc", **options}
    return sections.document(ss.evaluate(data, **asked))


def blocks(document, name, kind=Grid):
    found = [section for section in document.sections if section.name == name]
    return [block for section in found for block in section.blocks if isinstance(block, kind)]


def names(document):
    return [section.name for section in document.sections]


# --- which sections there are


def test_a_scoring_model_has_every_section():
    wanted = ["verdict", "panel", "models", "notes", "thresholds", "curves", "distributions", "measures", "method"]
    assert [name for name in names(page()) if name in wanted] == wanted


def test_decisions_have_no_scores_to_show():
    found = names(page(scores=(), decisions="d"))
    assert "curves" in found
    assert not {"distributions", "panel"} & set(found)


def test_several_classes_show_the_confusion_table():
    document = page(CLASSES, scores=(), decisions="d", measures="acc")
    assert "curves" not in names(document)
    (grid,) = blocks(document, "thresholds")
    assert grid.columns == ("actual \\ decided", "a", "b", "c", "total")
    assert grid.rows[:3] == (("a", "2", "0", "0", "2"), ("b", "0", "2", "0", "2"), ("c", "1", "0", "1", "2"))
    assert blocks(document, "thresholds", Text) == [Text("d decides 5 of 6 cases right.")]


def test_the_brief_page_is_measures_verdict_notes():
    assert names(page().brief()) == ["measures", "verdict", "notes"]


def test_without_findings_there_is_no_section_of_notes():
    # As many b as the scores promise.
    data = {"y": ["b" if 0.618 * k % 1 < k / 200 else "a" for k in range(200)], "s": [k / 200 for k in range(200)]}
    assert "notes" not in names(page(data, positive="b", measures="auc"))


def test_title_and_facts():
    document = page()
    assert document.title == "arrays"
    assert document.facts == "6 cases   positive = 1 (3, 50.0 %)   negative = 0 (3)"


def test_facts_of_several_classes():
    document = page(CLASSES, scores=(), decisions="d", measures="acc")
    assert document.facts == "6 cases   a (2)   b (2)   c (2)"


def test_verdict_and_notes_are_those_of_the_evaluation():
    evaluation = ss.evaluate(SMALL, truth="y", scores="s", measures="auc")
    document = sections.document(evaluation)
    assert blocks(document, "verdict", Verdict) == [Verdict(evaluation.verdict)]
    assert blocks(document, "notes", Notes) == [Notes(evaluation.notes)]


@pytest.mark.parametrize("name", ["curves", "distributions", "thresholds"])
def test_pictures_are_drawn_when_asked(name, valid):
    pictures = blocks(page(scores=["s", "t"]), name, Picture)
    assert pictures
    for picture in pictures:
        assert valid(picture.draw())
        assert picture.alt


# --- the grid of measures


def rows(**options):
    document = page(**options)
    return blocks(document, "measures")[0].rows


def test_models_are_columns_and_measures_rows():
    (grid,) = blocks(page(scores=["s", "t"], measures="auc,ks"), "measures")
    assert grid.columns[:3] == ("", "s", "t")
    assert [row[0] for row in grid.rows] == ["auc ↑", "ks ↑"]
    assert "95 % interval" in grid.caption


def test_a_threshold_that_all_share_is_part_of_the_name():
    assert [row[0] for row in rows(scores=["s", "t"], measures="tpr@0.5,fpr@0.5")] == ["tpr@0.5 ↑", "fpr@0.5 ↓"]


def test_two_thresholds_of_one_measure_are_two_rows():
    assert [row[0] for row in rows(measures="tpr@0.5,tpr@0.123456789")] == ["tpr@0.5 ↑", "tpr@0.123456789 ↑"]


def test_thresholds_that_differ_have_a_row_of_their_own():
    # s is shown at 0.5; t is no probability and shown where Youden's index is highest, at 4.
    found = rows(scores=["s", "t"], measures="tpr")
    assert [row[0] for row in found] == ["threshold", "tpr ↑"]
    assert found[0][1:] == ("0.5", "4")


def test_a_measure_that_does_not_suit_a_model_leaves_its_cell_empty():
    (row,) = rows(scores="s", decisions="d", measures="tpr@0.5")
    assert row[2] == ""


def test_an_undefined_value_is_a_dash_with_the_reason():
    (row,) = rows(measures="ppv@inf")
    assert row == ("ppv@inf ↑", "– nothing is predicted positive")


def test_the_cost_of_the_condition_is_named_in_short():
    found = rows(measures=(), condition=ss.Condition(fp=1, fn=5))
    assert found[-1][0] == "cost here@0.4 ↓"
    assert found[-1][1].startswith("0.167")
    found = rows(scores=["s", "t"], measures=(), condition=ss.Condition(fp=1, fn=5))  # t is cut elsewhere
    assert found[-1][0] == "cost here ↓"


def test_every_row_of_a_measure_has_a_hint():
    (grid,) = blocks(page(measures="auc,ppv@0.5"), "measures")
    hints = dict(grid.hints)
    assert set(hints) == {row[0] for row in grid.rows}
    assert hints["ppv@0.5 ↑"].startswith("Positive predictive value. Share of predicted positives")


# --- outcomes


def test_outcomes_at_the_threshold_and_of_decisions():
    (grid,) = blocks(page(decisions="d"), "thresholds")
    assert grid.rows == (("s", "0.5", "2", "1", "1", "2"), ("d", "–", "2", "1", "1", "2"))


def test_a_section_can_be_added(monkeypatch):
    monkeypatch.setattr(sections, "SECTIONS", list(sections.SECTIONS))

    @sections.section("Size")
    def size(evaluation):
        return [Text(f"{evaluation.models.rows} rows")]

    assert blocks(page(), "size", Text) == [Text("6 rows")]
    assert names(page())[-2:] == ["size", "method"]  # behind the others, before how it was made


def test_every_section_asks_a_question_and_those_for_specialists_are_folded():
    document = page()
    assert all(section.question.endswith("?") for section in document.sections if section.name != "verdict")
    folded = [section.name for section in document.sections if section.folded]
    assert folded == ["distributions", "smooth", "measures", "method"]


def test_sections_can_be_chosen_under_the_verdict():
    found = sections.document(ss.evaluate(SMALL, truth="y", scores="s", measures="auc"), "Title", ["measures"])
    assert names(found) == ["verdict", "measures"]
    assert found.title == "Title"
    assert not found.sections[-1].folded


def test_one_row_for_each_model_with_the_measures_asked_for():
    (grid,) = blocks(page(scores=["s", "t"], measures="ks,recall@0.5,auc"), "models")
    assert grid.columns == ("model", "ks ↑", "recall ↑", "auc ↑", "threshold")
    assert [row[0] for row in grid.rows] == ["s", "t"]

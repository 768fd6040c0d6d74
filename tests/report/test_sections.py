"""The sections of an evaluation's page."""

import pytest

import scorespace as ss
from scorespace.report import sections
from scorespace.report.document import Block, Grid, Notes, Picture, Text, Verdict

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
    wanted = [
        "verdict",
        "models",
        "panel",
        "thresholds",
        "targeting",
        "notes",
        "distributions",
        "measures",
        "method",
    ]
    assert [name for name in names(page()) if name in wanted] == wanted


def test_decisions_have_no_scores_to_show():
    found = names(page(scores=(), decisions="d"))
    assert "panel" in found  # the matrix, and points in ROC space
    assert not {"distributions", "curves"} & set(found)


def test_several_classes_show_the_confusion_table():
    document = page(CLASSES, scores=(), decisions="d", measures="acc")
    assert "curves" not in names(document)
    (grid,) = blocks(document, "thresholds")
    assert grid.columns == ("actual \\ predicted", "a", "b", "c", "total")
    assert grid.rows[:3] == (("a", "2", "0", "0", "2"), ("b", "0", "2", "0", "2"), ("c", "1", "0", "1", "2"))
    assert blocks(document, "thresholds", Text) == [Text("d classifies 5 of 6 cases correctly.")]


def test_the_brief_page_is_models_verdict_notes():
    assert names(page().brief()) == ["models", "verdict", "notes"]


def test_sections_stand_in_the_order_in_which_a_reader_asks(tmp_path):
    """How good, what changed, what differs; thresholds and costs; for whom it is worse; then what specialists ask."""
    data = {**SMALL, "ward": list("aabbaa"), "f": [1, 1, 2, 2, 1, 2]}
    ss.evaluate(data, truth="y", scores=["s", "t"], measures="auc").save(tmp_path / "then.json")
    asked = {"scores": ["s", "t"], "by": "ward", "fold": "f", "baseline": str(tmp_path / "then.json")}
    assert names(page(data, **asked)) == [
        *("verdict", "models", "panel"),
        *("thresholds", "decision", "targeting"),
        *("since", "comparison"),
        *("notes", "calibration", "slices", "folds"),
        *("distributions", "smooth", "measures", "method"),
    ]


def test_what_was_asked_for_is_not_folded():
    document = page({**SMALL, "ward": list("aabbaa")}, by="ward")
    assert [section.folded for section in document.sections if section.name == "slices"] == [False]


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
    assert blocks(document, "verdict", Verdict) == [Verdict(evaluation.verdict, *evaluation.headline)]
    assert blocks(document, "notes", Notes) == [Notes(evaluation.notes)]


@pytest.mark.parametrize("name", ["calibration", "distributions", "thresholds"])
def test_pictures_are_drawn_when_asked(name, valid):
    pictures = blocks(page(scores=["s", "t"]), name, Picture)
    assert pictures
    for picture in pictures:
        assert valid(picture.draw())
        assert picture.alt


# --- outcomes


def test_outcomes_at_the_threshold_and_of_decisions():
    (grid,) = blocks(page(decisions="d"), "thresholds")
    assert grid.rows == (("s", "0.5", "2", "1", "1", "2"), ("d", "–", "2", "1", "1", "2"))


def test_outcomes_of_decisions_alone_are_seen_at_once():
    document = page(scores=(), decisions="d", measures="acc")
    (grid,) = blocks(document, "thresholds")
    assert grid.columns == ("model", "true positives", "false positives", "false negatives", "true negatives")
    assert (grid.rows, grid.folded) == ((("d", "2", "1", "1", "2"),), "")
    assert grid.caption == "Confusion counts."
    assert blocks(document, "thresholds", Text) == [Text("d predicts 3 of 6 cases as 1 (TP 2, FP 1, FN 1, TN 2).")]
    known = blocks(document, "method")[0].rows[0][1]
    assert "\n" not in known


def test_a_section_can_be_added(monkeypatch):
    monkeypatch.setattr(sections, "SECTIONS", list(sections.SECTIONS))

    @sections.section("Size")
    def size(evaluation):
        return [Text(f"{evaluation.models.rows} rows")]

    assert blocks(page(), "size", Text) == [Text("6 rows")]
    assert names(page())[-2:] == ["size", "method"]  # behind the others, before how it was made


def test_every_section_asks_a_question_and_those_for_specialists_are_folded():
    document = page()
    asking = [section for section in document.sections if section.part != "Summary"]
    assert all(section.question.endswith("?") for section in asking)
    folded = [section.name for section in document.sections if section.folded]
    assert folded == ["targeting", "distributions", "smooth", "measures", "method"]


def test_sections_can_be_chosen_under_the_verdict():
    found = sections.document(ss.evaluate(SMALL, truth="y", scores="s", measures="auc"), "Title", ["measures"])
    assert names(found) == ["verdict", "measures"]
    assert found.title == "Title"
    assert not found.sections[-1].folded


def test_decisions_are_their_matrix_and_points_with_crosses(valid):
    truth, decided = [1] * 60 + [0] * 40, [1] * 48 + [0] * 12 + [1] * 10 + [0] * 30
    data = {"y": truth, "d": decided, "e": [1 - one for one in decided]}
    matrix, picture = blocks_of = blocks(page(data, scores=(), decisions=["d", "e"], measures=()), "panel", Block)
    assert len(blocks_of) == 2
    assert matrix.rows == (("1", "48 (80 %)", "12 (20 %)"), ("0", "10 (25 %)", "30 (75 %)"))
    spec = valid(picture.draw())
    rows = next(rows for rows in spec["datasets"].values() if "x_low" in rows[0])
    (row,) = [row for row in rows if row["name"] == "d"]
    assert (row["x"], row["y"]) == (0.25, 0.8)
    # Wilson (1927): 48 of 60, and 1 minus the interval of 30 of 40.
    assert (row["y_low"], row["y_high"]) == pytest.approx((0.6822, 0.8817), abs=1e-4)
    assert (row["x_low"], row["x_high"]) == pytest.approx((0.1419, 0.4019), abs=1e-4)


def test_regression_opens_with_truth_against_prediction():
    data = {"y": [1.0, 2.0, 3.0, 4.0, 5.0], "p": [1.1, 1.9, 3.2, 3.8, 5.3]}
    document = sections.document(ss.evaluate(data, truth="y", predictions="p"))
    assert blocks(document, "panel", Picture)[0].key == "predicted"
    assert "predicted" not in {picture.key for picture in blocks(document, "errors", Picture)}

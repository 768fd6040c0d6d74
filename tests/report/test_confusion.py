"""Class by class: the tables, words and pictures of models that know several classes."""

import re

import numpy as np
import pytest

import scorespace as ss
from helpers.classed import ABSENT, NEVER, scored
from scorespace.measures.class_measures import class_measures
from scorespace.report import confusion as classes
from scorespace.report import sections, terminal
from scorespace.report.document import Grid, Picture, Text
from scorespace.tables import confusion


def frame(table):
    labels = [table.classes[k] for k in table.label]
    decided = [table.classes[k] for k in table.decided]
    return {"y": labels, "d": decided} | {f"m_{name}": table.score[k] for k, name in enumerate(table.classes)}


def evaluated(table, measures="acc", **options):
    return ss.evaluate(frame(table), truth="y", measures=measures, **options)


def scores_of(table):
    return {"m": {name: f"m_{name}" for name in table.classes}}


def cells(grid, row):
    return dict(zip(grid.columns, next(line for line in grid.rows if line[0] == row), strict=True))


def class_grid(table, areas=None):
    return classes.class_grid(class_measures(table, areas))


def kinds(blocks):
    return [type(block) for block in blocks]


# --- the table class by class


def test_rates_by_hand():
    grid = class_grid(confusion([[6, 2, 0], [1, 3, 0], [0, 0, 4]], classes=["a", "b", "c"]))
    assert cells(grid, "a")["TP rate"] == "0.750"  # 6/8
    assert cells(grid, "a")["FP rate"] == "0.125"  # 1/8
    assert cells(grid, "a")["precision"] == "0.857"  # 6/7
    assert cells(grid, "a")["F-measure"] == "0.800"  # 12/15
    assert cells(grid, "a")["MCC"] == "0.630"  # (6·7 − 1·2) / √(8·8·7·9)
    assert cells(grid, "weighted mean")["TP rate"] == "0.812"  # (6 + 3 + 4)/16 = 0.8125
    assert "of 3 classes" not in grid.caption


def test_areas_are_shown_only_where_given():
    table = confusion([[6, 2], [1, 3]], classes=["a", "b"])
    assert "ROC area" not in class_grid(table).columns
    grid = class_grid(table, {"auc": np.array([0.9, 0.6]), "auprc": np.array([0.8, 0.2])})
    assert grid.columns[-2:] == ("ROC area", "PRC area")
    assert grid.rows[-1][-2:] == ("0.800", "0.600")  # (8·0.9 + 4·0.6)/12 and (8·0.8 + 4·0.2)/12


def test_precision_without_decisions_is_a_dash_and_not_zero():
    # WEKA 3.6 prints 0 here, and averages it (METHODS §11).
    grid = class_grid(NEVER)
    assert (cells(grid, "b")["precision"], cells(grid, "b")["MCC"]) == ("–", "–")
    assert cells(grid, "b")["TP rate"] == "0.000"
    assert cells(grid, "b")["F-measure"] == "0.000"  # F1 exists where precision does not
    assert cells(grid, "weighted mean")["precision"] == "0.650"  # (4/5 + 5/10)/2, not the third as 0
    assert "mean of precision and MCC is over 2 of 3 classes" in grid.caption
    assert "nothing is predicted positive" in grid.caption
    assert dict(grid.hints)["b"].startswith("precision is undefined: nothing is predicted positive")
    assert set(dict(grid.hints)) == {"b"}


def test_a_class_without_cases_has_no_part_in_the_mean():
    # torchmetrics 1664 counted it as 0.
    grid = class_grid(ABSENT, {"auc": np.array([0.9, 0.7, np.nan])})
    assert cells(grid, "c")["TP rate"] == cells(grid, "c")["ROC area"] == "–"
    assert cells(grid, "c")["FP rate"] == "0.100"
    assert cells(grid, "weighted mean")["TP rate"] == "0.700"
    assert cells(grid, "weighted mean")["ROC area"] == "0.800"
    assert "over 2 of 3 classes: no cases of 'c'" in grid.caption


def test_a_single_class_leaves_the_false_positive_rate_undefined():
    grid = class_grid(confusion([[5, 0], [0, 0]], classes=["a", "b"]))
    assert cells(grid, "weighted mean")["FP rate"] == "–"
    assert "mean of FP rate and MCC is over 0 of 2 classes" in grid.caption


# --- the confusion table and its words


def test_confusion_grid_with_totals():
    grid = classes.confusion_grid(confusion([[1200, 3], [0, 40]], classes=["a", "b"]))
    assert grid.columns == ("actual \\ predicted", "a", "b", "total")
    assert grid.rows == (("a", "1 200", "3", "1 203"), ("b", "0", "40", "40"), ("total", "1 200", "43", "1 243"))


def test_most_confused_pairs_in_words():
    table = confusion([[40, 10, 0, 0], [3, 47, 0, 0], [0, 1, 48, 1], [0, 0, 7, 1]], classes=list("abcd"))
    assert classes.describe_confusions(table, max_pairs=2) == (
        "a is predicted as b in 10 of 50 cases (20 %); d is predicted as c in 7 of 8 cases (87.5 %). "
        "Other confusions: 5 cases."
    )


def test_of_as_many_cases_the_larger_share_comes_first():
    table = confusion([[98, 2], [2, 8]], classes=["often", "seldom"])
    assert classes.describe_confusions(table).startswith("seldom is predicted as often in 2 of 10 cases (20 %)")


def test_one_case_left():
    table = confusion([[5, 2, 0], [1, 5, 0], [0, 0, 5]], classes=list("abc"))
    assert classes.describe_confusions(table, max_pairs=1).endswith("Other confusions: 1 case.")


def test_nothing_is_confused():
    assert classes.describe_confusions(confusion([[3, 0], [0, 2]])) == "No case is misclassified."


# --- the sections


def test_a_model_that_scores_has_tables_words_and_pictures(valid):
    table = scored()
    found = classes.blocks(evaluated(table, scores=scores_of(table)))
    assert kinds(found) == [Text, Grid, Picture, Picture, Grid, Text, Picture]
    assert found[4] == classes.pair_grid(table)
    assert found[1].columns[-2:] == ("ROC area", "PRC area")
    for picture in found:
        if isinstance(picture, Picture):
            assert valid(picture.draw())
            assert picture.alt


def test_a_model_that_decides_has_no_curves():
    found = classes.blocks(evaluated(scored(), decisions="d"))
    assert kinds(found) == [Text, Grid, Text, Picture]
    assert "ROC area" not in found[1].columns


def test_several_models_are_named():
    table = scored()
    evaluation = evaluated(table, scores=scores_of(table), decisions="d")
    names = [block.text for block in classes.blocks(evaluation) if isinstance(block, Text)]
    assert names[0].startswith("F1 of m is highest for ")
    assert {"m", "d"} <= set(names)
    (grid,) = classes.short_blocks(evaluation)
    assert grid.columns == ("f1 of class", "m", "d")
    assert {row[1] == row[2] for row in grid.rows} == {True}  # d is what m decides


def test_two_classes_with_a_positive_one_have_no_such_section():
    data = {"y": [1, 0, 1, 0], "s": [0.9, 0.1, 0.4, 0.3], "d": [1, 0, 0, 0]}
    document = sections.document(ss.evaluate(data, truth="y", scores="s", decisions="d", measures="tpr"))
    assert "class_by_class" not in [section.name for section in document.sections]


@pytest.mark.parametrize("size", [3, 12])
@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_shows_the_classes_on_one_screen(size, width):
    table = scored(size, names=[f"Iris-versicolor{k}" for k in range(size)])
    document = sections.document(evaluated(table, scores=scores_of(table))).brief()
    lines = terminal.text(document, width).splitlines()
    assert max(map(len, lines)) <= width
    (header,) = [line for line in lines if line.startswith("class ")]  # in one piece, not split into two
    assert header.split() == ["class", "tpr", "fpr", "ppv", "f1", "mcc", "auc", "auprc"]
    assert sum(bool(re.fullmatch(r"Iris-versicolor\d+(\s+[\d.–−]+){7}", line)) for line in lines) == size
    assert [section.name for section in document.sections][:3] == ["models", "class_by_class", "verdict"]


@pytest.mark.parametrize("size", [2, 13])
def test_the_terminal_leaves_out_two_and_many_classes(size):
    data = frame(scored(size))
    document = sections.document(ss.evaluate(data, truth="y", decisions="d", measures="acc"))
    assert "class_by_class" in [section.name for section in document.sections]
    assert "class_by_class" not in [section.name for section in document.brief().sections]


def test_the_terminal_says_what_a_mean_leaves_out():
    data = {"y": list("aaabbbccc"), "d": list("aaacccccc")}
    text = terminal.text(sections.document(ss.evaluate(data, truth="y", decisions="d", measures="acc")).brief(), 200)
    assert "The mean of ppv and mcc is over 2 of 3 classes: undefined (–) for 'b'" in text
    assert "b is predicted as c in 3 of 3 cases (100 %)." in text


def test_the_report(tmp_path):
    table = scored(names=["<i>", "c & d", "e"])
    page = evaluated(table, scores=scores_of(table)).report(tmp_path / "page.html").read_text()
    assert 'id="class_by_class" tabindex="-1">' in page
    assert "PRC area" in page
    assert "&lt;i&gt; is predicted as" in page or "taken for &lt;i&gt;" in page
    assert "<i>" not in page.split("<main>")[1].split('<script type="module">')[0]


def test_of_several_classes_all_but_the_positive_one_are_one():
    data = {"y": list("abcabc"), "s": [0.9, 0.8, 0.1, 0.7, 0.2, 0.3]}
    found = classes.detailed_rows(ss.evaluate(data, truth="y", scores="s", positive="a"))
    assert [row["class"] for row in found] == ["a", "not a"]
    # Of 2 · 4 pairs only (0.7, 0.8) is in the wrong order, and either class ranks them alike.
    assert [row["auc"] for row in found] == [7 / 8, 7 / 8]
    assert [row["tpr"] for row in found] == [1.0, 3 / 4]

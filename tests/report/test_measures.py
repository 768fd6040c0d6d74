"""The measures of all models side by side."""

import pytest

import scorespace as ss
from scorespace.comparisons.result import Comparison
from scorespace.measures import parse
from scorespace.report import measures

SMALL = {"y": [1, 0, 1, 1, 0, 0], "s": [0.9, 0.8, 0.7, 0.4, 0.3, 0.1], "d": [1, 0, 1, 0, 0, 1]}
SMALL["t"] = [10 * score for score in SMALL["s"]]


def evaluated(**options):
    return ss.evaluate(SMALL, **{"truth": "y", "scores": "s", "measures": "auc", **options})


def shown(**options):
    return measures.measure_blocks(evaluated(**options))[0]


def rows(**options):
    return shown(**options).rows


def test_models_are_columns_and_measures_rows():
    grid = shown(scores=["s", "t"], measures="auc,ks")
    assert grid.columns[:3] == ("", "s", "t")
    assert [row[0] for row in grid.rows] == ["auc ↑", "ks ↑"]
    assert "95 % confidence interval" in grid.caption


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
    assert found[-1][0] == "cost, apparent ↓"
    assert found[-1][1].startswith("0.167")
    found = rows(scores=["s", "t"], measures=(), condition=ss.Condition(fp=1, fn=5))  # t is cut elsewhere
    assert found[-1][0] == "cost, apparent ↓"


def test_every_row_of_a_measure_has_a_hint():
    grid = shown(measures="auc,ppv@0.5")
    hints = dict(grid.hints)
    assert set(hints) == {row[0] for row in grid.rows}
    assert hints["ppv@0.5 ↑"].startswith("Positive predictive value. Share of predicted positives")


# --- a row for each model


def test_one_row_for_each_model_with_the_measures_asked_for():
    grid = measures.model_grid(evaluated(scores=["s", "t"], measures="ks,recall@0.5,auc"))
    assert grid.columns == ("model", "KS ↑", "recall ↑", "AUC ↑", "threshold")
    assert sorted(row[0] for row in grid.rows) == ["s", "t"]


def test_the_measure_of_the_headline_is_in_the_table():
    data = {"q": [1, 1, 1, 2, 2, 2], "y": [1, 0, 0, 0, 1, 0], "s": [3, 2, 1, 1, 3, 2], "t": [1, 2, 3, 3, 1, 2]}
    ev = ss.evaluate(data, truth="y", scores=["s", "t"], query="q")
    assert ev.headline[0] == "No clear difference in nDCG@10 between s and t."
    grid = measures.model_grid(ev)
    assert grid.columns[:3] == ("model", "nDCG@10 ↑", "reciprocal rank ↑")
    assert "threshold" not in grid.columns


def test_a_page_writes_the_usual_names_of_measures_asked_for():
    told = [evaluated(scores=["s", "t"], measures=asked).headline[0] for asked in ("auc", "acc@0.5", "recall@0.5")]
    assert all(name in text for name, text in zip(("AUC", "accuracy@0.5", "recall@0.5"), told, strict=True))


def test_every_model_has_a_cell_in_every_column():
    grid = measures.model_grid(evaluated(decisions="d", measures=(), condition=ss.Condition(fp=1, fn=5)))
    assert {len(row) for row in grid.rows} == {len(grid.columns)}


def test_decisions_have_one_cost_since_nothing_is_chosen():
    rule = ss.confusion([[60, 20], [10, 30]], classes=["yes", "no"], positive="yes")
    told = str(ss.evaluate({"rule": rule}, condition=ss.Condition(fp=1, fn=5)))
    assert [line.split()[0] for line in told.splitlines() if line.startswith("cost")] == ["cost/case"]


@pytest.mark.parametrize(("seen", "told"), [(("auc", "tpr@0.4", "auc", "tpr@0.6"), False), (("auc", "ks") * 2, True)])
def test_that_only_one_difference_is_told_is_said_where_more_could_be(seen, told):
    difference = Comparison("nb", "tree", "delong", "auc", 0.1, 0.0, 0.2, level=0.95)
    assert ("only the first difference" in measures.missing_differences({"auc": difference}, seen)) is told


def test_counts_have_no_decimals_and_limits_no_plus_sign():
    # At 0.5: tp 2 and 1 of three positives.
    found = ss.evaluate([1, 0, 1, 0, 1, 0], {"a": [0.9, 0.4, 0.6, 0.7, 0.3, 0.2], "b": [0.6, 0.5, 0.4, 0.7, 0.3, 0.1]})
    first, second = found.measures("tp@0.5")
    assert (first.value_text, second.value_text) == ("2", "1")
    assert [type(row["value"]) for row in found.measures("tp@0.5").rows()] == [int, int]
    assert found.compare(measure="tp@0.5")[0].size.startswith("+1 [")
    assert "[+" not in str(found)


def test_the_direction_of_the_best_value_is_that_of_its_measure():
    assert (parse("best(measure=cost)").arrow, parse("best(measure=f1)").arrow) == ("↓", "↑")

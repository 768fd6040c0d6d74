"""Where scores lie: bars of each class, whatever the scores are."""

import pytest
import vl_convert

from helpers.drawn_charts import rows, table
from scorespace.report.score_charts import distribution_chart
from scorespace.tables import score_table


def bars(drawn, side):
    return [row for row in rows(drawn) if row["side"] == side]


def test_bars_are_shares_of_each_class_and_few():
    drawn = distribution_chart({"nb": table(size=20_000)})
    assert len(rows(drawn)) <= 2 * 40
    for side, sign in (("up", 1), ("down", -1)):
        assert sum(row["share"] for row in bars(drawn, side)) == pytest.approx(1, abs=1e-4)
        assert all(row["signed"] == sign * row["share"] for row in bars(drawn, side))


def test_a_score_of_one_is_in_the_last_bin_and_zero_in_the_first():
    drawn = distribution_chart({"nb": score_table([1, 0], [1.0, 0.0])})
    assert bars(drawn, "up")[-1] | {"share": 1.0, "high": 1.0} == bars(drawn, "up")[-1]
    assert bars(drawn, "down")[0] | {"share": 1.0, "low": 0.0} == bars(drawn, "down")[0]


def test_weights_count():
    drawn = distribution_chart({"nb": score_table([1, 1, 0], [0.9, 0.1, 0.5], weight=[3, 1, 1])})
    assert sorted(row["share"] for row in bars(drawn, "up"))[-2:] == [0.25, 0.75]


def test_classes_are_named_once_per_panel_and_several_others_together():
    drawn = distribution_chart({"nb": score_table(list("aabc"), [3, 2, 1, 0], positive="a")})
    assert [row["label"] for row in rows(drawn) if "label" in row] == ["▲ a (2)", "▼ not a (2)"]


@pytest.mark.parametrize("scores", [[7, 7, 7], [1e300, 1e300, 1e300], [1.0, 1.0 + 2**-52, 1.0], [-1e9, 0, 1e9]])
def test_any_scores_make_bars_that_can_be_drawn(scores):
    drawn = distribution_chart({"nb": score_table([1, 0, 1], scores)})
    assert all(row["low"] <= row["high"] for row in rows(drawn))
    assert sum(row["share"] for row in bars(drawn, "up")) == pytest.approx(1)
    assert vl_convert.vegalite_to_svg(drawn)


def test_an_empty_class_has_no_bars():
    assert {
        row["share"] for row in bars(distribution_chart({"nb": score_table([0, 0], [0.1, 0.2], positive=1)}), "up")
    } == {0}


def test_panels_are_in_the_order_of_the_models_and_share_an_axis_only_for_probabilities():
    spec = distribution_chart({"z": table(1), "a": table(2)})
    svg = vl_convert.vegalite_to_svg(spec)
    assert svg.index(">z<") < svg.index(">a<")
    assert "resolve" not in spec
    assert distribution_chart({"margin": score_table([1, 0], [-3, 4])})["resolve"]["scale"] == {"x": "independent"}

"""Curves of models, and measures against the threshold: points, frames, lines of chance, colours."""

import numpy as np
import pytest

from helpers.drawn_charts import TABLES, points, rows, table, within
from scorespace.curves import cost_curve, gain, hull, lift_curve, net_benefit, pr, roc, sweep
from scorespace.inference.estimate import estimate
from scorespace.measures import confusion, parse
from scorespace.report.chart_theme import COLOURS, DASHES
from scorespace.report.curve_charts import curve_chart, part_layers, threshold_chart
from scorespace.report.measures import measures_chart
from scorespace.tables import score_table


def test_a_curve_of_many_cases_is_drawn_with_few_points():
    drawn = curve_chart({"nb": roc(table(size=20_000)), "tree": roc(table(2, 20_000))})
    assert 300 < len(points(drawn)) <= 400
    assert len(rows(drawn)) <= 2 * 400 + 3  # and the line of chance


@pytest.mark.parametrize(
    ("kind", "square", "chance"),
    [
        (roc, True, [(0, 0), (1, 1)]),
        (hull, True, [(0, 0), (1, 1)]),
        (gain, True, [(0, 0), (1, 1)]),
        (lift_curve, False, [(0, 1), (1, 1)]),
        (cost_curve, False, [(0, 0), (0.5, 0.5), (1, 0)]),
    ],
)
def test_each_kind_has_its_frame_and_its_line_of_chance(kind, square, chance):
    curves = {name: kind(one) for name, one in TABLES.items()}
    drawn = curve_chart(curves)
    spec = drawn
    assert (spec["width"] == spec["height"]) == square
    assert [(row["x"], row["y"]) for row in rows(drawn) if "name" not in row and "label" not in row] == chance
    first = next(iter(curves.values()))
    assert {first.x_title, first.y_title} <= set(within(spec, "title"))


def test_precision_and_recall_show_the_prevalence_and_bend_between_points():
    tied = pr(score_table([1, 0, 0, 1, 0, 0], [2, 2, 2, 1, 1, 1]))
    drawn = curve_chart({"nb": tied}, baseline=1 / 3)
    assert {row["y"] for row in rows(drawn) if "name" not in row} == {0.333333}
    assert len(points(drawn)) > 50
    # Only the ends of a bend are reached by a threshold.
    assert [row["threshold"] for row in points(drawn) if row["threshold"] != "between two thresholds"] == [
        "∞",
        "2",
        "1",
    ]


def test_without_a_prevalence_there_is_no_line_of_chance():
    assert not [row for row in rows(curve_chart({"nb": pr(table())}, baseline=float("nan"))) if "name" not in row]


def test_points_keep_their_order_on_vertical_steps():
    drawn = curve_chart({"nb": roc(score_table([1, 1, 0, 0], [4, 3, 2, 1]))})
    assert [(row["place"], row["x"], row["y"]) for row in points(drawn)] == [
        (0, 0, 0),
        (1, 0, 0.5),
        (2, 0, 1),
        (3, 0.5, 1),
        (4, 1, 1),
    ]
    assert {"field": "place", "type": "quantitative"} in within(drawn, "order")


def test_the_first_threshold_is_infinite_and_undefined_points_are_left_out():
    assert points(curve_chart({"nb": roc(table())}))[0]["threshold"] == "∞"
    one_class = score_table([0, 0], [0.1, 0.2], positive=1)
    assert points(curve_chart({"nb": roc(one_class)})) == []
    assert points(curve_chart({"nb": pr(one_class)}, baseline=0.0)) == []


def test_a_net_benefit_that_falls_without_end_is_cut():
    spec = curve_chart({"nb": net_benefit(table())})
    low, high = next(
        found["domain"] for found in within(spec, "scale") if found.get("domain", [0])[0] != 0 and "range" not in found
    )
    assert -0.5 < low < 0 < high < 1


def test_models_differ_in_colour_and_in_dash():
    pairs = {(COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]) for place in range(30)}
    assert len(pairs) == 30
    spec = curve_chart({f"model {place}": roc(table(place)) for place in range(8)})
    scales = {
        len(found["range"]): found for found in within(spec, "scale") if found.get("domain", [""])[0] == "model 0"
    }
    assert list(scales) == [8]


def test_a_model_keeps_its_colour_in_every_chart():
    charts = [
        curve_chart({name: roc(one) for name, one in TABLES.items()}),
        measures_chart([[estimate(parse("auc"), one, model=name) for name, one in TABLES.items()]]),
    ]
    colours = [found["scale"]["range"] for drawn in charts for found in within(drawn, "color") if "scale" in found]
    assert len(colours) >= 2
    assert all(found == list(COLOURS[:2]) for found in colours)


def test_measures_are_steps():
    shown = (confusion.tpr, confusion.ppv)
    drawn = threshold_chart(table(), shown)
    assert {row["name"] for row in rows(drawn) if "name" in row} == {measure.title for measure in shown}
    assert "step-after" in within(drawn, "interpolate")
    assert max(row["x"] for row in rows(drawn)) <= 1  # +inf is not drawn
    assert len(rows(drawn)) <= 2 * 400


def test_measures_beyond_one_find_their_own_scale():
    spec = threshold_chart(table(), [parse("tp").measure, parse("fp").measure])
    assert [0, 1] not in [found.get("domain") for part in within(spec, "y") for found in within(part, "scale")]


def test_of_several_models_and_measures_the_colour_is_the_measure_and_the_dash_the_model():
    names = {f"{model}, {what}": (model, what) for what in ("tpr", "fpr") for model in "ab"}
    spec = curve_chart({name: roc(TABLES["nb"]) for name in names}, parts=names)
    line = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "line" and "color" in layer["encoding"])
    colours, dashes = (line["encoding"][channel]["scale"]["range"] for channel in ("color", "strokeDash"))
    assert colours == [COLOURS[0], COLOURS[0], COLOURS[1], COLOURS[1]]
    assert dashes == [list(DASHES[0]), list(DASHES[1]), list(DASHES[0]), list(DASHES[1])]


@pytest.mark.parametrize("part", [{"tpr_low": 0.5}, {"tpr_low": 0.25, "tpr_high": 0.75}, {"fpr_high": 0.25}])
def test_a_partial_area_is_shaded_inside_the_curve(part):
    """The corners in their order enclose the area that is told, by the shoelace formula."""
    curve = roc(score_table([1, 1, 0, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]), **part)
    (layer,) = part_layers({"nb": curve})
    assert layer["encoding"]["order"]["field"] == "place"
    corners = sorted(layer["data"]["values"], key=lambda row: row["place"])
    x, y = np.array([[row["x"], row["y"]] for row in corners]).T
    area = abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2
    assert area == pytest.approx(curve.partial_area(**part))


def test_on_a_log_axis_lines_between_points_are_bent_as_chance_is():
    crisp = roc(score_table([1, 0] * 500 + [0] * 9000, [1, 0, 0, 1] * 250 + [1, 0] * 4500))
    drawn = points(curve_chart({"nb": crisp}, log_from=1e-4))
    assert len(drawn) > 40
    expected = np.interp([row["x"] for row in drawn], crisp.x, crisp.y)
    assert [row["y"] for row in drawn] == pytest.approx(expected, abs=1e-4)
    gaps = np.diff(np.log10([max(row["x"], 1e-4) for row in drawn]))
    assert gaps.max() < 0.1
    assert len(points(curve_chart({"nb": crisp}))) == 3


def test_a_measure_is_drawn_at_all_thresholds_of_probabilities():
    drawn = points(curve_chart({"nb": sweep(score_table([0, 1, 1], [0.2, 0.6, 0.8]), confusion.tpr)}))
    assert [(point["x"], point["y"]) for point in drawn] == [(1, 0), (0.8, 0.5), (0.6, 1), (0.2, 1), (0, 1)]
    ranks = points(curve_chart({"nb": sweep(score_table([0, 1, 1], [2, 6, 8]), confusion.tpr)}))
    assert [point["x"] for point in ranks] == [8, 6, 2]

"""Charts: what they hold, how they look, and how they become files."""

import json
import re

import altair as alt
import numpy as np
import pytest
import vl_convert

from scorespace.curves import cost_curve, gain, hull, lift_curve, net_benefit, pr, roc
from scorespace.errors import DataError
from scorespace.measures import confusion, parse
from scorespace.resampling.estimate import Estimate, estimate
from scorespace.tables import score_table
from scorespace.views.charts import curve_chart, distribution_chart, interval_chart, save, threshold_chart
from scorespace.views.charts.theme import COLOURS, DASHES

HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    'a.b["c"][0]',
    "it's {{7*7}} \\",
    "naïve 贝叶斯",
    "two\nlines",
    "datum.x",
]
FIELDS = {"name", "model", "label", "text", "reason", "class", "span", "side", "place", "threshold"} | {
    "x",
    "y",
    "low",
    "high",
    "value",
    "share",
    "signed",
}


def table(seed=0, size=500, positive=1):
    source = np.random.default_rng(seed)
    truth = source.integers(0, 2, size)
    return score_table(truth, 1 / (1 + np.exp(-source.normal(truth, 1))), positive=positive)


TABLES = {"nb": table(1), "tree": table(2)}


def within(spec, key):
    """Every value of that key, at any depth of a spec."""
    if isinstance(spec, dict):
        found = [spec[key]] if key in spec else []
        return found + [value for part in spec.values() for value in within(part, key)]
    return [value for part in spec for value in within(part, key)] if isinstance(spec, list) else []


def rows(chart):
    return [row for values in chart["datasets"].values() for row in values]


def points(chart, name="nb"):
    return [row for row in rows(chart) if row.get("name") == name]


# Curves


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
    assert [row["threshold"] for row in points(drawn) if row["threshold"] != "between two"] == ["∞", "2", "1"]


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
        distribution_chart(TABLES),
        interval_chart([estimate(parse("auc"), one, model=name) for name, one in TABLES.items()]),
    ]
    colours = [found["scale"]["range"] for drawn in charts for found in within(drawn, "color") if "scale" in found]
    assert len(colours) >= 3
    assert all(found == list(COLOURS[:2]) for found in colours)


# Measures against the threshold


def test_measures_are_steps_and_the_chosen_threshold_is_marked():
    shown = (confusion.tpr, confusion.ppv)
    drawn = threshold_chart(table(), shown, at=0.25)
    assert {row["name"] for row in rows(drawn) if "name" in row} == {measure.title for measure in shown}
    assert "step-after" in within(drawn, "interpolate")
    assert [(row["x"], row["label"]) for row in rows(drawn) if "label" in row] == [(0.25, "0.25")]
    assert max(row["x"] for row in rows(drawn)) <= 1  # +inf is not drawn
    assert len(rows(drawn)) <= 2 * 400 + 1


def test_a_threshold_that_is_infinite_or_absent_is_not_marked():
    for at in (None, float("inf")):
        assert not [row for row in rows(threshold_chart(table(), [confusion.f1], at)) if "label" in row]


def test_measures_beyond_one_find_their_own_scale():
    spec = threshold_chart(table(), [confusion.tp, confusion.fp])
    assert [0, 1] not in [found.get("domain") for part in within(spec, "y") for found in within(part, "scale")]


# Distributions


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


# Intervals


def test_dots_and_whiskers_hold_the_estimates():
    found = [estimate(parse("auc"), one, model=name) for name, one in TABLES.items()]
    drawn = interval_chart(found)
    assert [(row["model"], row["low"], row["value"], row["high"]) for row in rows(drawn)] == [
        (one.model, *(pytest.approx(number, rel=1e-5) for number in (one.low, one.value, one.high))) for one in found
    ]
    assert rows(drawn)[0]["label"] == f"nb\n{found[0].text}"
    assert "Area under the ROC curve (95 % interval)" in within(drawn, "title")


def test_an_undefined_estimate_keeps_its_row_and_says_why():
    nan = float("nan")
    undefined = Estimate("nb", parse("ppv@0.5"), nan, nan, nan, 0.95, None, "undefined: nothing is predicted positive")
    (row,) = rows(interval_chart([undefined]))
    assert row["value"] is row["low"] is row["high"] is None
    assert row["label"] == "nb\n–"
    assert "nothing is predicted positive" in row["reason"]


# All charts


@pytest.mark.parametrize("draw", [curve_chart, distribution_chart])
def test_nothing_to_draw_is_an_error(draw):
    with pytest.raises(DataError, match="to draw"):
        draw({})


def test_no_measure_and_no_estimate_to_draw_are_errors():
    with pytest.raises(DataError, match="to draw"):
        threshold_chart(table(), [])
    with pytest.raises(DataError, match="to draw"):
        interval_chart([])


def hostile_charts():
    tables = {
        name: score_table(
            np.where(np.arange(60) % 3, "</script>", "no\"'"), np.arange(60) * place % 17, positive="</script>"
        )
        for place, name in enumerate(HOSTILE, start=1)
    }
    return [
        curve_chart({name: roc(one) for name, one in tables.items()}),
        distribution_chart(tables),
        interval_chart([estimate(parse("auc"), one, model=name) for name, one in tables.items()]),
    ]


@pytest.mark.parametrize("drawn", hostile_charts())
def test_text_from_data_is_never_a_field_name_or_an_expression(drawn):
    spec = drawn
    assert set(within(spec, "field")) <= FIELDS
    code = [*within(spec, "expr"), *within(spec, "labelExpr"), *within(spec, "filter"), *within(spec, "signal")]
    assert not [name for name in HOSTILE for part in code if name in json.dumps(part)]


@pytest.mark.parametrize("drawn", hostile_charts())
def test_any_name_can_be_drawn_and_stands_in_the_picture_as_text(drawn):
    svg = vl_convert.vegalite_to_svg(drawn)
    assert "<img" not in svg
    assert "<script" not in svg
    assert "贝叶斯" in svg
    assert "&lt;img src=x" in svg


# Files


@pytest.fixture(scope="module")
def drawn():
    return curve_chart({name: roc(one) for name, one in TABLES.items()})


def test_png(drawn, tmp_path):
    path = save(drawn, tmp_path / "roc.png")
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(content) > 10_000
    width = int.from_bytes(content[16:20], "big")
    assert int.from_bytes(save(drawn, tmp_path / "small.PNG", scale=1).read_bytes()[16:20], "big") == pytest.approx(
        width / 2, abs=1
    )


def test_svg(drawn, tmp_path):
    svg = save(drawn, str(tmp_path / "roc.svg")).read_text(encoding="utf-8")
    assert all(f">{words}<" in svg for words in ("False positive rate", "True positive rate", "chance"))
    assert all(f">{name} " in svg for name in ("nb", "tree"))  # with the areas behind them
    assert "voronoi" not in svg  # what only a pointer can see stays out of still pictures


def test_pdf(drawn, tmp_path):
    assert save(drawn, tmp_path / "roc.pdf").read_bytes().startswith(b"%PDF-")


def test_json_is_the_spec(drawn, tmp_path):
    assert json.loads(save(drawn, tmp_path / "roc.json").read_text()) == drawn


def test_html_holds_all_it_needs(drawn, tmp_path):
    page = save(drawn, tmp_path / "roc.html").read_text(encoding="utf-8")
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"(src|href)=|url\(|@import", outside)
    assert not re.search(r"cdn|jsdelivr|unpkg", page)
    assert "True positive rate against false positive rate: nb, tree." in page


def test_a_chart_of_somebody_else_can_be_saved_too(tmp_path):
    other = alt.Chart(alt.InlineData(values=[{"a": 1}])).mark_point().encode(x="a:Q")
    for ending in ("svg", "html"):
        assert save(other, tmp_path / f"other.{ending}").stat().st_size > 100


@pytest.mark.parametrize("name", ["roc.gif", "roc", ".png"])
def test_an_unknown_ending_is_refused_with_the_known_ones(drawn, tmp_path, name):
    with pytest.raises(DataError, match=r"\.png, \.svg, \.pdf, \.html, \.json"):
        save(drawn, tmp_path / name)


def test_a_folder_that_is_not_there_is_refused(drawn, tmp_path):
    with pytest.raises(DataError, match="there is no folder"):
        save(drawn, tmp_path / "absent" / "roc.json")


def test_a_failure_leaves_the_old_file_and_nothing_else(drawn, tmp_path, monkeypatch):
    path = tmp_path / "roc.json"
    path.write_text("old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(DataError, match="No space left"):
        save(drawn, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]

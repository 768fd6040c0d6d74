"""The page of a ranking."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
import vl_convert

from oracles.load import reference
from scorespace.comparisons.datasets import dataset_table
from scorespace.comparisons.friedman import nemenyi, rank_groups
from scorespace.comparisons.ranking import rank_models
from scorespace.errors import DataError
from scorespace.report import ranking as view
from scorespace.report.chart_files import save
from scorespace.report.document import Grid, Notes, Picture, Text, Verdict
from scorespace.report.ranking import rank_chart
from scorespace.results import note


def demsar(**named):
    theirs = reference("r_friedman_nemenyi")
    return rank_models(theirs["data"], theirs["names"], measure="auc", **named)


def blocks(found, kind, **named):
    (section,) = view.document(found, "demsar.csv", **named).sections
    return [block for block in section.blocks if isinstance(block, kind)]


def test_the_page():
    found = demsar()
    page = view.document(found, "demsar.csv")
    assert (page.title, page.facts) == ("demsar.csv", "14 data sets   4 models   auc, higher is better")
    assert [grid.columns[0] for grid in blocks(found, Grid)] == ["model", "omnibus test", "rank of row − column"]
    assert blocks(found, Text) == [Text("No significant difference within: C4.5+m+cf, C4.5+m, C4.5+cf, C4.5.")]
    assert blocks(found, Verdict) == [Verdict(found.words)]
    assert len(blocks(found, Picture)) == 1


def test_models_stand_from_the_best():
    grid = view.rank_grid(demsar())
    assert [row[0] for row in grid.rows] == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    assert grid.rows[0][1] == "1.96"
    assert grid.columns[2] == "mean auc"


def test_stars_mark_the_critical_difference():
    found = rank_models([[3, 2, 1]] * 8, ["a", "b", "c"], best="high")
    grid = view.nemenyi_grid(found.nemenyi)
    assert [[cell.endswith("*") for cell in row[1:]] for row in grid.rows] == [[False, True], [False, False]]
    assert "critical difference 1.17" in grid.caption


def test_a_control_has_its_own_table():
    found = demsar(control="C4.5")
    grid = blocks(found, Grid)[-1]
    assert grid.columns == ("against C4.5", "rank difference", "z", "p", "Holm", "Hochberg")
    assert grid.rows[0] == ("C4.5+m", "−1.14", "−2.342", "0.019", "0.047", "0.038")  # R


def test_pairs_show_medians():
    grids = blocks(demsar(test="sign"), Grid)
    assert [grid.columns[0] for grid in grids] == ["model", "median of row − column", "models"]
    assert grids[1].caption == "Median over data sets of row minus column; * marks p < 0.05."
    assert blocks(demsar(test="sign"), Picture) == []


def test_notes_on_the_data_come_first():
    (notes,) = blocks(demsar(), Notes, notes=[note("SS009", "gone.")])
    assert [one.code for one in notes.notes] == ["SS009", "SS018"]


@pytest.mark.parametrize("named", [{}, {"control": "C4.5"}])
def test_the_picture_can_be_drawn(named, valid):
    (picture,) = blocks(demsar(**named), Picture)
    assert picture.alt.startswith("Average ranks, 1 is best: C4.5 3.14")
    spec = valid(picture.draw())
    assert "without significant difference" in spec["description"]


def test_two_models_may_be_drawn_too(valid):
    found = rank_models({"a": [1, 2, 3], "b": [2, 1, 1]}, best="low", test="friedman")
    assert valid(view.picture(found).draw())
    assert view.document(found, "two").facts == "3 data sets   2 models   lower is better"


HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    'a.b["c"][0]',
    "it's {{7*7}} \\",
    "naïve 贝叶斯",
    "two\nlines",
    "datum.x",
]


def within(spec, key):
    """Every value of that key, at any depth of a spec."""
    if isinstance(spec, dict):
        found = [spec[key]] if key in spec else []
        return found + [value for part in spec.values() for value in within(part, key)]
    return [value for part in spec for value in within(part, key)] if isinstance(spec, list) else []


def rows(chart, key):
    """The rows that have that field."""
    return [row for values in chart["datasets"].values() for row in values if key in row]


def drawn(count=7, seed=0, best="high"):
    rng = np.random.default_rng(seed)
    values = rng.normal(np.linspace(0, 2, count), 1, (30, count))
    found = nemenyi(dataset_table(values, [f"model {place}" for place in range(count)], best=best))
    return rank_chart(found.models, found.average_ranks, found.critical_difference, found.groups), found


def bars(chart):
    return sorted((row["y"], row["x"], row["x2"]) for row in rows(chart, "members"))


@pytest.mark.parametrize("count", range(3, 16))
def test_any_number_of_models_is_drawn_with_every_name_and_rank(count):
    chart, found = drawn(count)
    svg = vl_convert.vegalite_to_svg(chart)
    for name, rank in zip(found.models, found.average_ranks, strict=True):
        assert f">{name}<" in svg
        assert f">{rank:.2f}<" in svg
    assert f">critical difference {found.critical_difference:.2f}<" in svg
    assert ">average rank (1 is best)<" in svg


def test_a_dot_stands_at_each_rank_and_the_best_is_at_the_left():
    chart, found = drawn()
    dots = {row["model"]: row["x"] for row in rows(chart, "model") if "side" not in row}
    assert dots == pytest.approx(dict(zip(found.models, found.average_ranks, strict=True)), rel=1e-5)
    low, high = next(found["domain"] for found in within(chart, "scale") if found["domain"][0] < 1)
    assert low < 1 < 7 < high


@pytest.mark.parametrize("count", [3, 4, 9])
def test_the_better_half_is_named_left_and_the_rest_right(count):
    chart, found = drawn(count)
    labels = [row for row in rows(chart, "side") if "x2" not in row]
    order = [found.models[place] for place in np.argsort(found.average_ranks)]
    assert [row["model"] for row in labels if row["side"] == "left"] == order[: (count + 1) // 2]
    assert [row["model"] for row in labels if row["side"] == "right"] == order[(count + 1) // 2 :]


@pytest.mark.parametrize("count", [3, 8, 15])
def test_leader_lines_do_not_cross(count):
    chart, _ = drawn(count)
    lines = [row for row in rows(chart, "side") if "x2" in row]
    down = [row for row in lines if row["x"] == row["x2"]]
    across = [row for row in lines if row["y"] == row["y2"]]
    for one in down:
        for other in across:
            if one["model"] != other["model"]:
                low, high = sorted((other["x"], other["x2"]))
                assert not (low < one["x"] < high and one["y"] < other["y"] < one["y2"])


def test_each_group_has_a_bar_that_holds_its_models():
    chart, found = drawn(9)
    ranks = dict(zip(found.models, found.average_ranks, strict=True))
    shown = {row["members"]: (row["x"], row["x2"]) for row in rows(chart, "members")}
    assert list(shown) == [", ".join(group) for group in found.groups]
    for group, (low, high) in zip(found.groups, shown.values(), strict=True):
        inside = {name for name, rank in ranks.items() if low <= rank <= high}
        assert inside >= set(group)


@pytest.mark.parametrize("count", [5, 9, 15])
def test_bars_on_one_level_keep_apart(count):
    for one, other in combinations(bars(drawn(count)[0]), 2):
        assert one[0] != other[0] or one[2] < other[1]


def test_bars_that_almost_touch_are_on_two_levels():
    chart = rank_chart("abcdef", [1, 1.5, 3.1, 3.12, 5.5, 6], 2.2, [("a", "b", "c"), ("d", "e", "f")])
    assert len({row[0] for row in bars(chart)}) == 2


def test_a_group_of_equal_ranks_is_still_seen():
    ((_, low, high),) = bars(rank_chart("abc", [2, 2, 2], 1.9, [("a", "b", "c")]))
    assert low < 2 < high


def test_the_bracket_is_as_long_as_the_critical_difference():
    chart = rank_chart("abcd", [1, 2, 3, 4], 1.25, [])
    lengths = {round(row["x2"] - row["x"], 6) for row in rows(chart, "x2") if set(row) == {"x", "x2", "y", "y2"}}
    assert lengths == {0, 3, 1.25}  # ticks and caps, the axis, the bracket


@pytest.mark.parametrize("difference", [5.0, 20.0])
def test_a_critical_difference_longer_than_the_axis_still_fits(difference):
    spec = rank_chart("abc", [1, 2, 3], difference, [("a", "b", "c")])
    assert max(found["domain"][1] for found in within(spec, "scale")) > 1 + difference


def test_without_a_critical_difference_there_is_no_bracket():
    svg = vl_convert.vegalite_to_svg(rank_chart("abc", [1, 2, 3], math.nan, []))
    assert "critical" not in svg
    assert ">average rank (1 is best)<" in svg


def test_a_minimised_measure_puts_its_best_model_left():
    chart, found = drawn(5, best="low")
    labels = [row["model"] for row in rows(chart, "side") if row["side"] == "left" and "x2" not in row]
    assert labels[0] == found.models[int(np.argmin(found.average_ranks))]
    assert labels[0] == "model 0"


def test_the_description_says_it_in_words():
    chart = rank_chart(["nb", "tree", "svm"], [1.2, 1.9, 2.9], 1.0, [("nb", "tree")])
    assert chart["description"] == (
        "Average ranks, 1 is best: nb 1.20, tree 1.90, svm 2.90. Groups without significant difference: nb, tree."
    )


def hostile():
    ranks = dict(zip(HOSTILE, [1.5, 2.0, 3.0, 4.5, 5.0, 5.0], strict=True))
    groups = rank_groups(ranks, lambda one, other: abs(ranks[one] - ranks[other]) >= 1.2)
    return rank_chart(HOSTILE, list(ranks.values()), 1.2, groups)


def test_text_from_data_is_never_a_field_name_or_an_expression():
    spec = hostile()
    assert set(within(spec, "field")) <= {"x", "x2", "y", "y2", "model", "rank", "label", "members"}
    code = [*within(spec, "expr"), *within(spec, "labelExpr"), *within(spec, "filter"), *within(spec, "signal")]
    assert not [name for name in HOSTILE for part in code if name in json.dumps(part)]


def test_any_name_can_be_drawn_and_stands_in_the_picture_as_text():
    svg = vl_convert.vegalite_to_svg(hostile())
    assert "<img" not in svg
    assert "<script" not in svg
    assert "贝叶斯" in svg
    assert ">two lines<" in svg


def test_png(tmp_path):
    content = save(drawn(15)[0], tmp_path / "ranks.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(content) > 10_000


@pytest.mark.parametrize(
    ("names", "ranks", "groups", "message"),
    [
        (["a"], [1.0], [], "a chart of ranks needs at least two models.\n  hint: two or more models"),
        (
            ["a", "b"],
            [1.0],
            [],
            "every model needs an average rank.\n  seen: 2 models, 1 ranks\n  hint: a rank for each name",
        ),
        (
            ["a", "b"],
            [1.0, 3.0],
            [],
            "average ranks lie between 1 and 2.\n  seen: 1, 3\n  hint: average ranks of rank_models",
        ),
        (
            ["a", "b"],
            [1.0, math.nan],
            [],
            "average ranks lie between 1 and 2.\n  seen: 1, nan\n  hint: average ranks of rank_models",
        ),
        (
            ["a", "b"],
            [1.0, 2.0],
            [("a", "c")],
            "a group contains models that are not in the chart.\n  seen: 'c'\n"
            "  hint: groups of the models in the chart",
        ),
    ],
)
def test_what_cannot_be_drawn(names, ranks, groups, message):
    with pytest.raises(DataError) as caught:
        rank_chart(names, ranks, 1.0, groups)
    assert str(caught.value) == message

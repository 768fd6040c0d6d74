"""Charts of few cases, of hulls and of means: numbers that are computed by hand."""

import re

import pytest

import scorespace as ss
from helpers.shown import SIX, rows
from scorespace.costs import Condition
from scorespace.curves import hull, roc, smooth
from scorespace.errors import DataError
from scorespace.report.chart_files import save
from scorespace.report.few_cases import counts_chart, rank_staircase_chart, threshold_labels
from scorespace.report.hull_charts import hull_chart
from scorespace.report.mean_charts import means_chart
from scorespace.report.plots import PICTURES
from scorespace.report.smooth_charts import sets_chart, smooth_steps_chart
from scorespace.tables import score_table

TABLE = score_table(SIX["y"], SIX["s"])
NAMES = dict(zip(SIX["s"], "abcdef", strict=True))
MATRICES = {  # (FPR, TPR) of four crisp classifiers, 100 cases of each class
    "A": ss.confusion([[60, 40], [20, 80]], classes=["ill", "healthy"], positive="ill"),
    "B": ss.confusion([[90, 10], [50, 50]], classes=["ill", "healthy"], positive="ill"),
    "C": ss.confusion([[30, 70], [5, 95]], classes=["ill", "healthy"], positive="ill"),
    "D": ss.confusion([[50, 50], [40, 60]], classes=["ill", "healthy"], positive="ill"),
}


def texts(chart):
    return [row["label"] for row in rows(chart) if "label" in row]


def test_ranks_in_three_steps():
    drawn = rank_staircase_chart("s", score_table([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.3, 0.1]))
    # Ranks of the positives 6, 5 and 3: R1 = 14, less 1 + 2 + 3 is U = 8 of 9 pairs.
    assert "R1 − n1 (n1 + 1) / 2 = 14 − 6" in str(drawn)
    assert "AUC = U / (n1 · n2) = 8 / 9 = 0.889" in str(drawn)
    first = [(row["rank"], row["class"]) for row in rows(drawn) if "rank" in row]
    assert first == [
        (6, "1"),
        (5, "1"),
        (4, "0"),
        (3, "1"),
        (2, "0"),
        (1, "0"),
    ]
    (staircase,) = {panel["layer"][0]["data"]["name"] for panel in drawn["hconcat"][2:]}
    assert sum(row["high"] - row["low"] for row in drawn["datasets"][staircase]) == 8


def test_every_threshold_of_few_cases_is_labelled():
    layers = threshold_labels(roc(TABLE))
    labels = [row["label"] for layer in layers[1:3] for row in layer["data"]["values"]]
    assert labels == [f"{score:g}" for score in sorted(SIX["s"], reverse=True)]
    named = [row["label"] for layer in threshold_labels(roc(TABLE), NAMES)[1:3] for row in layer["data"]["values"]]
    assert named == [NAMES[score] for score in sorted(SIX["s"], reverse=True)]
    assert "best accuracy 83 %" in str(layers)  # five of six at the second or fourth case


def test_segments_of_the_smooth_curve():
    drawn = smooth_steps_chart("s", smooth(TABLE), NAMES)
    assert "smAUC 0.840" in str(drawn)  # ELKI
    sides = {row["case"]: row["side"] for row in rows(drawn) if "case" in row}
    assert list(sides.values()).count("inappropriate") == 1
    assert sorted(text[0] for text in texts(drawn)) == list("abcdef")


def test_the_four_sets_are_counted():
    found = texts(sets_chart(TABLE, smooth(TABLE).midpoint))
    sizes = {text[:2]: int(text.rpartition(" ")[2]) for text in found if re.match("[HL][+−]", text)}
    assert sizes == {"H+": 3, "L−": 2, "L+": 0, "H−": 1}


def test_counts_have_one_scale_on_both_axes():
    curve = roc(score_table([1, 1, 0, 0, 0, 0], [6, 5, 4, 3, 2, 1]), normalised=False)
    drawn = counts_chart({"s": curve}, [])
    assert drawn["width"] / 4 == pytest.approx(drawn["height"] / 2)


def test_hull_of_crisp_classifiers_names_all_and_greys_the_dominated():
    evaluation = ss.evaluate_tables(MATRICES)
    slopes = [Condition(fp=slope, fn=1, prevalence=0.5) for slope in (2, 0.5)]
    decisions = [evaluation.decide(one) for one in slopes]
    drawn = hull_chart(evaluation.curves("roc"), decisions[0].hull, decisions)
    named = {row["name"]: row["best"] for row in rows(drawn) if "best" in row}
    assert named == {"A": True, "B": True, "C": True, "D": False}
    assert {"slope 2", "slope 0.5"} <= set(texts(drawn))


def test_hull_over_its_own_curve_shows_the_gap():
    drawn = hull_chart({"s": roc(TABLE)}, hull(TABLE))
    assert any(layer["mark"].get("interpolate") == "linear-closed" for layer in drawn["layer"])


def test_lines_of_equal_mean():
    drawn = means_chart({"m": (2 / 3, 1 / 3)})
    assert [text for text in texts(drawn) if text.startswith("m")] == ["m 0.500", "m 0.471", "m 0.444"]
    means = (lambda r, p: (r + p) / 2, lambda r, p: (r * p) ** 0.5, lambda r, p: 2 * r * p / (r + p))
    for panel, mean in zip(drawn["hconcat"], means, strict=True):
        lines = drawn["datasets"][panel["layer"][1]["data"]["name"]]
        assert {round(row["level"], 1) for row in lines} == {round(k / 10, 1) for k in range(1, 10)}
        assert all(mean(row["x"], row["y"]) == pytest.approx(row["level"], abs=1e-3) for row in lines)


@pytest.mark.parametrize("kind", sorted(PICTURES))
@pytest.mark.parametrize("y", [[1, 1, 1], [1, 0, 1]], ids=["one class", "both classes"])
def test_every_chart_is_drawn_or_refused(kind, y, tmp_path):
    evaluation = ss.evaluate({"y": y, "s": [0.9, 0.5, 0.1]}, truth="y", scores="s", positive=1)
    if len(set(y)) == 1 and kind == "ranks":
        with pytest.raises(DataError, match="class"):
            evaluation.plot(kind)
    else:
        assert save(evaluation.plot(kind), tmp_path / "a.svg").stat().st_size > 1000

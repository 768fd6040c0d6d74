"""Many classes in pictures: which is predicted as which, and the curve of each."""

import json
import re

import numpy as np
import pytest
import vl_convert

from helpers.classed import ABSENT, HOSTILE, NEVER, scored
from scorespace.curves import pr, roc
from scorespace.curves.macro_average import average_pr, average_roc
from scorespace.errors import DataError
from scorespace.report.chart_theme import COLOURS, INK
from scorespace.report.confusion_charts import class_curves_chart, confusion_chart
from scorespace.tables import class_table, confusion

# --- the confusion chart


def rows(chart):
    spec = chart
    return [row for values in spec["datasets"].values() for row in values]


def texts(spec):
    """The fields that a chart writes out."""
    return [layer["encoding"]["text"]["field"] for layer in spec["layer"] if "text" in layer["encoding"]]


def luminance(colour):
    parts = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_cells_hold_counts_and_shares_of_the_row():
    found = {(row["actual"], row["decided"]): row for row in rows(confusion_chart(NEVER))}
    assert len(found) == 9
    assert (found["a", "c"]["count"], found["a", "c"]["share"]) == ("1", "20 %")
    assert (found["a", "b"]["count"], found["a", "b"]["share"]) == ("0", "0 %")
    empty = {row["decided"]: row for row in rows(confusion_chart(ABSENT)) if row["actual"] == "c"}
    assert {row["share"] for row in empty.values()} == {"–"}


def test_shares_are_never_rounded_to_none_or_all():
    found = rows(confusion_chart(confusion([[999, 1], [0, 5]])))
    assert [row["share"] for row in found] == [">99 %", "<1 %", "0 %", "100 %"]


def test_letters_stand_out_from_every_cell():
    right = np.arange(41)  # of 40 cases: every share of right and of wrong decisions
    table = confusion(np.diag(right) + np.roll(np.diag(40 - right), 1, axis=1))
    for row in rows(confusion_chart(table)):
        light, dark = sorted([luminance(row["fill"]), luminance(row["ink"])], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5
        assert row["ink"] != INK  # a dark page would turn it light, on cells that stay light


def test_a_larger_share_is_darker_also_without_colour():
    table = confusion([[100 - k if i == j else k for j in range(2)] for i, k in enumerate((10, 40))])
    right_much, wrong_little, wrong_much, right_little = (
        luminance(row["fill"]) for row in rows(confusion_chart(table))
    )
    assert right_much < right_little
    assert wrong_much < wrong_little


@pytest.mark.parametrize(
    ("size", "wanted"), [(2, ["count", "count", "share"]), (10, ["count", "count", "share"]), (26, []), (60, [])]
)
def test_numbers_are_dropped_where_cells_are_small(size, wanted):
    table = confusion(np.eye(size) * 90 + 1, classes=[f"k{k}" for k in range(size)])
    chart = confusion_chart(table)
    assert texts(chart) == wanted
    assert len(rows(chart)) == size**2


def test_large_counts_are_dropped_rather_than_cut():
    assert texts(confusion_chart(confusion(np.eye(10) * 12_345_678))) == []


def test_the_order_of_the_classes_is_kept():
    encoding = confusion_chart(confusion([[1, 0], [0, 1]], classes=["z", "a"]))["layer"][0]["encoding"]
    assert encoding["x"]["sort"] == encoding["y"]["sort"] == ["z", "a"]


# --- the curves of the classes


def curves(table, curve=roc):
    return {name: curve(table.one_vs_rest(k)) for k, name in enumerate(table.classes)}


def keys(chart):
    return [row["label"] for row in rows(chart) if set(row) == {"label"}]


def coloured(chart):
    found = [layer["encoding"].get("color", {}).get("scale", {}).get("domain") for layer in chart["layer"]]
    return next(domain for domain in found if domain)


@pytest.mark.parametrize(("curve", "averaged"), [(roc, average_roc), (pr, average_pr)])
def test_each_class_has_its_colour_and_area(curve, averaged):
    found = curves(scored(3), curve)
    mean = averaged(found.values())
    chart = class_curves_chart(found, mean, mean.kind)
    assert coloured(chart) == [f"{name} ({one.area():.3f})" for name, one in found.items()]
    assert keys(chart) == [f"thick: mean of 3 classes ({mean.area():.3f})"]


def test_of_many_classes_the_worst_are_told_apart():
    found = curves(scored(26, 520))
    chart = class_curves_chart(found, average_roc(found.values()))
    worst = sorted(found, key=lambda name: found[name].area())[:5]
    assert [label.rsplit(" (", 1)[0] for label in coloured(chart)] == worst
    assert len(coloured(chart)) <= len(COLOURS)
    assert keys(chart)[0] == "thin: 21 other classes"
    assert {row["name"] for row in rows(chart) if row.get("name") in found} == set(found) - set(worst)


def test_undefined_curves_are_not_drawn():
    table = class_table(["a", "b", "a"], {"a": [0.8, 0.1, 0.6], "b": [0.1, 0.8, 0.3], "c": [0.1, 0.1, 0.1]})
    found = curves(table)
    chart = class_curves_chart(found, average_roc(found.values()))
    assert coloured(chart) == ["a (1.000)", "b (1.000)"]
    assert "mean of 2 classes" in keys(chart)[0]
    assert "c –" in chart["description"]


def test_without_any_curve_there_is_no_chart():
    table = class_table(["a", "a"], {"a": [0.8, 0.1], "b": [0.2, 0.9]})
    with pytest.raises(DataError, match="no curve"):
        class_curves_chart(curves(table))


def test_the_pointer_names_the_class():
    assert '"Class": ' in json.dumps(class_curves_chart(curves(scored()))).replace("\\", "")


def test_names_are_values_and_never_code():
    table = scored(len(HOSTILE), names=list(HOSTILE))
    for chart in (confusion_chart(table.decisions, HOSTILE[0]), class_curves_chart(curves(table))):
        svg = vl_convert.vegalite_to_svg(chart)
        assert "<img" not in svg
        for expression in re.findall(r'"(?:filter|expr|labelExpr)": "([^"]*)"', json.dumps(chart)):
            assert not any(name in expression for name in HOSTILE)

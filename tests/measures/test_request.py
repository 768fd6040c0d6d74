"""A request bound to a table: its value, its value on other tables like it, and how cases are drawn for it."""

import numpy as np
import pytest

from scorespace.errors import MeasureError
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.tables import ConfusionTable, Counts, ScoreTable, class_table, confusion, score_table

SCORES = score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7])
THREE = confusion([[5, 0, 1], [0, 2, 2], [1, 1, 3]], classes=["a", "b", "c"])
CLASSES = class_table(list("xyz"), {"x": [0.6, 0.2, 0.1], "y": [0.3, 0.5, 0.3], "z": [0.1, 0.3, 0.6]})


@pytest.mark.parametrize(
    ("text", "table", "kind", "value"),
    [
        ("auc", SCORES, ScoreTable, 3 / 4),
        ("ppv@0.65", SCORES, Counts, 1 / 2),
        ("tpr[0]@0.65", SCORES, Counts, 1 / 2),
        ("acc", THREE, ConfusionTable, 10 / 15),
        ("tpr[b]", THREE, Counts, 2 / 4),
        ("tpr[macro]", THREE, ConfusionTable, (5 / 6 + 2 / 4 + 3 / 5) / 3),
        ("brier[y]", CLASSES, ScoreTable, (0.3**2 + 0.5**2 + 0.3**2) / 3),
        ("fbeta(beta=2)@0.65", SCORES, Counts, 5 * 1 / (5 * 1 + 4 * 1 + 1)),
    ],
)
def test_the_value_of_the_table_inside(text, table, kind, value):
    found = bind(parse(text), table)
    assert type(found.table) is kind
    assert found.value == pytest.approx(value)
    assert found.on(table) == pytest.approx(value)


def test_replicates_are_each_their_own_table():
    request = bind(parse("ppv@0.5"), SCORES)
    drawn = np.random.default_rng(1).integers(0, 4, (20, SCORES.cells.size))
    one_by_one = [float(request.on(SCORES.with_cells(cells))) for cells in drawn]
    assert request.on(SCORES.with_cells(drawn)) == pytest.approx(np.array(one_by_one), nan_ok=True)


def test_a_class_named_like_an_average_is_meant_in_quotes():
    table = confusion([[5, 1], [2, 2]], classes=["macro", "other"])
    assert bind(parse('tpr["macro"]'), table).value == pytest.approx(5 / 6)
    assert not bind(parse('tpr["macro"]'), table).averaged
    assert bind(parse("tpr[macro]"), table).value == pytest.approx((5 / 6 + 2 / 4) / 2)


@pytest.mark.parametrize(
    ("text", "table", "within"),
    [
        ("auc", SCORES, True),
        ("tpr@0.5", SCORES, True),
        ("ppv@0.5", SCORES, False),
        ("cost@0.5", SCORES, False),
        ("cost(prevalence=0.3)@0.5", SCORES, True),
        ("tpr[b]", THREE, False),  # another class of the rest may be multiplied
        ("auc[hand_till]", CLASSES, True),
        ("auc[weighted]", CLASSES, False),
    ],
)
def test_cases_are_drawn_within_classes_where_class_sizes_do_not_count(text, table, within):
    assert bind(parse(text), table).within == within


def test_the_range_is_that_on_this_table():
    # The sum over the classes of several is up to 2.
    assert [bind(parse("brier"), table).range for table in (SCORES, CLASSES)] == [(0, 1), (0, 2)]


def test_an_average_has_no_single_threshold():
    with pytest.raises(MeasureError) as caught:
        bind(parse("tpr[macro]@0.5"), CLASSES)
    assert str(caught.value) == "tpr[macro]@0.5: an average has no single threshold.\n  hint: tpr[macro]"

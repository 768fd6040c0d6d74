"""The section on costs."""

import scorespace as ss
from scorespace.views.costs import blocks
from scorespace.views.document import Grid, Picture, Text

DATA = {"y": [1, 0, 1, 1, 0, 0], "s": [0.9, 0.8, 0.7, 0.4, 0.3, 0.1]}


def test_without_costs_it_tells_for_which_a_model_is_best(valid):
    words, *rest = blocks(ss.evaluate(DATA, truth="y", scores="s"))
    # The hull has the corners (0, 1/3) and (1/3, 1), above always and never at every slope but none and all.
    assert words == Text("Without stated costs: best is s while a miss costs 0 to ∞ false alarms.")
    assert [type(one) for one in rest] == [Picture, Picture, Picture, Grid]
    assert all(valid(one.draw()) for one in rest[:3])


def test_stated_costs_are_answered_and_the_cells_folded():
    words, *rest = blocks(ss.evaluate(DATA, truth="y", scores="s", condition=ss.Condition(fp=1, fn=5)))
    assert isinstance(words, Text)
    assert [one.folded for one in rest if isinstance(one, Grid)].count(
        "Outcomes and costs of 1 000 cases, model by model"
    ) == 2


def test_numbers_have_none():
    assert blocks(ss.evaluate({"y": [1.5, 2.0, 3.0], "p": [1.0, 2.0, 3.5]}, truth="y", predictions="p")) == []

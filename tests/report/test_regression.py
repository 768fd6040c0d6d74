"""The part of a page about predicted numbers: each section answers, and the parts of the MSE add up."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.report.document import Grid, Picture, Text
from scorespace.report.regression import error_blocks, reliability_blocks, rroc_blocks

TRUTH = np.arange(20.0)
DATA = {"y": TRUTH, "m": TRUTH + np.tile([-1.0, 0, 1, 4], 5)}


@pytest.fixture(scope="module")
def evaluation():
    return ss.evaluate(DATA, truth="y", predictions="m")


def test_each_section_begins_with_its_answer(evaluation):
    assert error_blocks(evaluation)[0] == Text("m: median absolute error 1.000, mean 1.500.")
    assert rroc_blocks(evaluation)[0] == Text("Mean over- and underprediction per case: m by 1.250 and 0.250.")
    decided = ss.evaluate(DATA, truth="y", predictions="m", condition=ss.Asymmetry(under=1, over=3))
    assert rroc_blocks(decided)[0] == Text(decided.decision.words)
    assert reliability_blocks(evaluation)[0].text.startswith("Share of the mean squared error due to miscalibration")


def test_pictures_can_be_drawn(evaluation, valid):
    every = [*error_blocks(evaluation), *rroc_blocks(evaluation), *reliability_blocks(evaluation)]
    pictures = [block for block in every if isinstance(block, Picture)]
    assert len(pictures) == 6
    for picture in pictures:
        valid(picture.draw())


def test_the_parts_of_the_squared_error_add_up(evaluation):
    (grid,) = (block for block in reliability_blocks(evaluation) if isinstance(block, Grid))
    (row,) = grid.rows
    squared, miscalibrated, told_apart, uncertain = map(float, row[1:])
    assert squared == pytest.approx(miscalibrated - told_apart + uncertain, abs=0.2)
    assert squared == pytest.approx(np.mean((DATA["m"] - TRUTH) ** 2))


def test_of_classes_there_is_nothing_to_say():
    two = ss.evaluate({"y": [0, 1, 1], "s": [0.1, 0.2, 0.3]}, truth="y", scores="s")
    assert not error_blocks(two) + rroc_blocks(two) + reliability_blocks(two)

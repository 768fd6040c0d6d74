"""The section on the cases with the highest scores: its sentence, and the numbers of the top few per cent."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.report import ranked_targeting

# Of 100 cases 20 are positive: 9 of them among the first 10, 14 among the first 20, all among the first 50.
TRUTH = np.zeros(100, dtype=int)
TRUTH[[*range(9), 10, 11, 12, 13, 14, 30, 32, 34, 36, 38, 40]] = 1
SCORE = np.linspace(0.99, 0.01, 100)


@pytest.fixture(scope="module")
def blocks():
    return ranked_targeting.blocks(ss.evaluate(TRUTH, {"m": SCORE}, positive=1))


def test_the_answer_is_a_sentence(blocks):
    assert blocks[0].text == "The 10 % of cases with the highest scores contain, of all positives, 45.0 % with m."


def test_the_numbers_of_the_highest_scores(blocks):
    assert blocks[-1].columns == ("highest scores", "m")
    assert blocks[-1].rows == (
        ("1 %", "recall 5.0 %, precision 100.0 %, lift 5.00"),
        ("5 %", "recall 25.0 %, precision 100.0 %, lift 5.00"),
        ("10 %", "recall 45.0 %, precision 90.0 %, lift 4.50"),
        ("20 %", "recall 70.0 %, precision 70.0 %, lift 3.50"),
        ("50 %", "recall 100.0 %, precision 40.0 %, lift 2.00"),
    )


def test_gain_and_lift_are_drawn(blocks):
    titles = [picture.draw()["description"] for picture in blocks[1:3]]
    assert [title.split(" against ")[0] for title in titles] == ["Share of positives reached", "Lift"]


def test_decisions_have_no_highest_scores():
    assert ranked_targeting.blocks(ss.evaluate({"y": TRUTH, "d": TRUTH}, truth="y", decisions="d")) == []

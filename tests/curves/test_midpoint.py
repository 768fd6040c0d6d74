"""The midpoint of smooth ROC: rules, rounding, and learning it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from laws.strategies import samples
from scorespace.curves import smooth
from scorespace.curves.midpoint import learn_midpoint, midpoint_ends, midpoint_of
from scorespace.errors import ScoreError
from scorespace.tables import score_table

SIX = score_table([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.01])
some = settings(max_examples=50)
FIVE = score_table([1, 1, 0, 0, 0], [0.9, 0.6, 0.5, 0.2, 0.1])


@pytest.mark.parametrize(
    ("how", "value"),
    [
        ("mean", 2.3 / 5),
        ("class_weighted", 2.3 / 5),
        ("cross_weighted", (3 * 0.75 + 2 * 0.8 / 3) / 5),
        ("median", 0.5),
        ("class_medians", (0.75 + 0.2) / 2),
        ("half", 0.5),
        (0.3, 0.3),
        (0, 0),
        (1, 1),
    ],
)
def test_midpoints(how, value):
    assert midpoint_of(FIVE, how) == pytest.approx(value)
    assert smooth(FIVE, how).midpoint == pytest.approx(value)


@given(sample=samples(both=True))
@some
def test_median_is_that_of_the_cases(sample):
    assert midpoint_of(sample.unweighted(), "median") == pytest.approx(float(np.median(sample.score)), abs=1e-12)


@pytest.mark.parametrize("score", [[0.6, 0.4, 0.2], [0.3, 0.2, 0.1], [0.7, 0.1, 0.1, 0.1]])
@pytest.mark.parametrize("times", [1, 3, 7])
def test_a_score_at_the_mean_is_low_whatever_the_rounding(score, times):
    # 1.2 / 3 is less than 0.4 in floating point.
    score = [*score, sum(score) / len(score)] if len(score) == 4 else score
    table = score_table([1, *[0] * (len(score) - 1)] * times, score * times)
    assert smooth(table).inappropriate == 0


def test_unknown_midpoints_are_refused():
    with pytest.raises(ScoreError, match="you mean median"):
        smooth(SIX, "medain")
    for wrong in (1.5, -0.1, math.nan):
        with pytest.raises(ScoreError, match="between 0 and 1"):
            smooth(SIX, wrong)


@pytest.mark.parametrize("how", ["cross_weighted", "class_medians"])
def test_a_midpoint_of_both_classes_needs_both(how):
    with pytest.raises(ScoreError, match="a class has no cases"):
        smooth(score_table([1, 1], [0.9, 0.4]), how)


def test_learned_midpoint_has_the_highest_youden_index():
    # Cuts of + + − + −: after the second positive TPR − FPR = 2/3, the highest; its gap is .8 to .4.
    assert learn_midpoint(score_table([1, 1, 0, 1, 0], [0.9, 0.8, 0.4, 0.3, 0.1])) == pytest.approx(0.6)


def test_learned_midpoint_takes_the_widest_of_equal_gaps():
    # + − + −: after the first and after the third case TPR − FPR = ½; the gap .8–.5 is wider than .4–.3.
    assert learn_midpoint(score_table([1, 0, 1, 0], [0.8, 0.5, 0.4, 0.3])) == pytest.approx(0.65)


@pytest.mark.parametrize(("truth", "score"), [([1, 0], [0.4, 0.4]), ([1, 1], [0.4, 0.6]), ([0], [0.7])])
def test_nothing_is_learned_from_one_class_or_one_score(truth, score):
    with pytest.raises(ScoreError, match="learned from cases"):
        learn_midpoint(score_table(truth, score, positive=1))


@pytest.mark.parametrize("how", ["mean", "class_weighted", "cross_weighted", "half", 0.3])
def test_bins_do_not_hide_a_mean(how):
    truth, score = [1, 0, 1, 1, 0, 0, 0], [0.91, 0.92, 0.53, 0.71, 0.32, 0.33, 0.07]
    exact, coarse = score_table(truth, score), score_table(truth, score).rounded(51)
    assert coarse.binned.width > 0.01
    low, high = midpoint_ends(coarse, how)
    assert low <= midpoint_of(exact, how) <= high
    assert high - low < 1e-9

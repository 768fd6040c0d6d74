"""The calibration curve: groups by isotonic regression and by bins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import scorespace as ss
from scorespace.curves.calibration import equal_count_bins, width_starts
from scorespace.errors import ScoreError, ScoreSpaceError
from scorespace.tables.chunks import CHUNK_ROWS

TABLE = ss.score_table([0, 0, 1, 0, 1, 1], [0.0, 0.15, 0.25, 0.45, 0.45, 1.0])


def test_isotonic_groups_by_hand():
    curve = ss.calibration(TABLE)
    # 0 and 0.15 are both negative; a rate of 1 at 0.25 is pooled with the half at 0.45.
    assert_allclose(curve.y, [0, 2 / 3, 1])
    assert_allclose(curve.x, [0.075, (0.25 + 0.45 + 0.45) / 3, 1])
    assert_array_equal(curve.threshold, [0, 0.25, 1])
    assert_array_equal(curve.highest, [0.15, 0.45, 1])
    assert_array_equal(curve.cases, [2, 3, 1])
    assert_array_equal(curve.hits, [0, 2, 1])


def test_the_line_of_isotonic_groups_has_their_ends():
    line = ss.calibration(TABLE).line()
    assert_array_equal(line.x, [0, 0.15, 0.25, 0.45, 1])
    assert_allclose(line.y, [0, 0, 2 / 3, 2 / 3, 1])


def test_bins_of_equal_width_by_hand():
    curve = ss.calibration(TABLE, by="width", bins=4)
    # [0, 0.25), [0.25, 0.5), none in [0.5, 0.75), and [0.75, 1] with the score 1 itself.
    assert_allclose(curve.x, [0.075, 1.15 / 3, 1])
    assert_allclose(curve.y, [0, 2 / 3, 1])
    assert_array_equal(curve.cases, [2, 3, 1])
    assert_array_equal(curve.line().x, curve.x)


def test_bins_of_equal_count_keep_ties_together():
    curve = ss.calibration(ss.score_table([0, 1, 0, 1], [0.2, 0.5, 0.5, 0.9]), by="count", bins=4)
    assert_array_equal(curve.cases, [1, 2, 1])
    assert_array_equal(curve.y, [0, 0.5, 1])


def test_bins_of_equal_count_have_equal_counts():
    score = np.linspace(0, 1, 40)
    curve = ss.calibration(ss.score_table(np.arange(40) % 2, score), by="count", bins=8)
    assert_array_equal(curve.cases, [5] * 8)


@pytest.mark.parametrize("by", ["isotonic", "width", "count"])
def test_constant_scores_are_one_group(by):
    curve = ss.calibration(ss.score_table([1, 0, 0, 0], [0.3] * 4), by=by)
    assert (curve.x.tolist(), curve.y.tolist(), curve.cases.tolist()) == ([0.3], [0.25], [4])


def test_weights_count_as_cases():
    weighted = ss.score_table([1, 0], [0.6, 0.6], weight=[3, 1])
    curve = ss.calibration(weighted)
    assert (curve.y[0], curve.cases[0], curve.hits[0]) == (0.75, 4, 3)


def test_the_first_and_the_last_bin_hold_0_and_1():
    assert_array_equal(width_starts(np.array([1.0, 0.5, 0.0]), 2), [0, 2])
    assert_array_equal(width_starts(np.array([1.0]), 10), [0])
    assert_array_equal(width_starts(np.array([0.0]), 10), [0])


@pytest.mark.parametrize("percent", [29, 57, 58])
def test_edges_are_not_missed_by_rounding(percent):
    score = np.array([percent / 100, np.nextafter(percent / 100, 0)])
    assert_array_equal(width_starts(score, 100), [0, 1])


def test_parts_of_replicates_are_their_own():
    cases = np.array([[1.0, 1.0, 1.0, 1.0], [4.0, 0.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0]])
    assert_array_equal(equal_count_bins(cases, 2)[:2, [0, 3]], [[0, 1], [0, 1]])


def test_more_rows_than_a_piece_are_grouped_alike():
    rng = np.random.default_rng(0)
    score = rng.random(5 * CHUNK_ROWS // 2)
    truth = (rng.random(score.size) < score).astype(int)
    curve = ss.calibration(ss.score_table(truth, score), by="width", bins=7)
    which = np.searchsorted(np.arange(8) / 7, score, side="right") - 1
    assert_array_equal(curve.cases, np.bincount(which))
    assert_array_equal(curve.hits, np.bincount(which, truth))
    assert_allclose(curve.x, np.bincount(which, score) / np.bincount(which), rtol=1e-12)


def test_rows_and_repr():
    curve = ss.calibration(TABLE, by="width", bins=4)
    assert curve.rows()[0] == {"x": 0.075, "y": 0.0, "threshold": 0.0, "highest": 0.15, "cases": 2.0, "hits": 0.0}
    assert curve.to_dict()["kind"] == "calibration"
    assert repr(curve) == "calibration curve: 3 groups of equal width, observed rate against mean score"


def test_a_thinned_curve_keeps_its_ends():
    curve = ss.calibration(TABLE)
    thin = curve.thinned(2)
    assert_array_equal(thin.x, curve.x[[0, 2]])
    assert_array_equal(thin.cases, curve.cases[[0, 2]])
    assert curve.thinned(3) is curve


def test_scores_that_are_no_probabilities_are_refused():
    with pytest.raises(ScoreError, match="not probabilities"):
        ss.calibration(ss.score_table([1, 0], [2.0, 0.1]))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": "widht"}, "did you mean width"),
        ({"by": "count", "bins": 0}, "bins=0"),
        ({"by": "width", "bins": 10**6}, "too large"),  # memory does not hold the edges
    ],
)
def test_groups_that_make_no_sense(options, words):
    with pytest.raises(ScoreSpaceError, match=words):
        ss.calibration(TABLE, **options)

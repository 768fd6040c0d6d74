"""Bins, calibration in the large, and the logistic fit: by hand, and where they are undefined."""

import math

import pytest

import scorespace as ss
from scorespace.errors import ScoreSpaceError

# Three cases of 0.2 (one positive) and two of 0.8 (one positive).
TRUTH, SCORE = [1, 0, 0, 1, 0], [0.2, 0.2, 0.2, 0.8, 0.8]
TABLE = ss.score_table(TRUTH, SCORE)


# --- bins: TRAPS, "Calibration bins"


@pytest.mark.parametrize("by", ["width", "count"])
def test_scores_of_0_and_1_fall_into_the_outer_bins(by):
    # torchmetrics 3510 and 1646: a phantom bin above 1, and the index −1 for 0.
    t = ss.score_table([0, 0, 1, 1], [0.0, 0.05, 0.95, 1.0])
    assert ss.ece(t, bins=2, by=by) == pytest.approx((0.05 + 0.05) / 4)
    assert ss.mce(t, bins=2, by=by) == pytest.approx(0.025)


def test_bins_take_the_mean_score_and_not_their_centre():
    # pycalib 4: with the centre 0.5 the error would be 0.5.
    assert ss.ece(ss.score_table([1, 1], [0.9, 0.9], positive=1), bins=1) == pytest.approx(0.1)


@pytest.mark.parametrize("bins", [1, 2, 15])
def test_constant_scores_are_one_bin(bins):
    t = ss.score_table([1, 0, 0, 0], [0.5] * 4)
    for by in ("width", "count"):
        assert ss.ece(t, bins=bins, by=by) == ss.mce(t, bins=bins, by=by) == 0.25


def test_bins_compare_with_their_edges_exactly():
    # 0.29 · 100 is below 29 in floating point, yet 0.29 belongs to [0.29, 0.30).
    apart = ss.score_table([1, 0], [0.29, 0.285])
    together = ss.score_table([1, 0], [0.29, 0.295])
    assert ss.mce(apart, bins=100) == pytest.approx(0.71)
    assert ss.mce(together, bins=100) == pytest.approx(0.5 - 0.2925)


@pytest.mark.parametrize("options", [{"bins": 0}, {"by": "size"}, {"by": "isotonic"}])
def test_bins_that_make_no_sense(options):
    with pytest.raises(ScoreSpaceError):
        ss.ece(TABLE, **options)


# --- logistic recalibration


def test_calibration_in_the_large():
    assert ss.cal_large(TABLE) == pytest.approx(2 / 5 - 2.2 / 5)


def test_slope_and_intercept_of_two_groups_by_hand():
    # Logits ±log 4; the fit passes both observed rates, 1/3 and 1/2, exactly.
    low, high = math.log(0.5), math.log(1.0)
    assert ss.cal_slope(TABLE) == pytest.approx((high - low) / (2 * math.log(4)))
    assert ss.cal_intercept(TABLE) == pytest.approx((high + low) / 2)


def test_scores_of_0_and_1_are_left_out_of_the_fit():
    more = ss.score_table([*TRUTH, 0, 1], [*SCORE, 1.0, 0.0])
    for measure in (ss.cal_slope, ss.cal_intercept, ss.cal_offset):
        assert measure(more) == pytest.approx(measure(TABLE))


@pytest.mark.parametrize(
    ("truth", "score"),
    [
        ([1, 1, 0, 0], [0.9, 0.8, 0.3, 0.2]),  # separated
        ([0, 0, 1, 1], [0.9, 0.8, 0.3, 0.2]),  # separated the other way
        ([1, 0, 1, 0], [0.4] * 4),  # constant
        ([1, 0, 0], [0.9, 0.9, 0.2]),  # separated but for a tie
        ([1, 0], [1.0, 0.0]),  # nothing is left
    ],
)
def test_no_slope_without_overlap(truth, score):
    t = ss.score_table(truth, score)
    assert math.isnan(ss.cal_slope(t))
    assert math.isnan(ss.cal_intercept(t))
    assert "overlap" in ss.cal_slope.reason(math.nan)

"""The smooth ROC curve: soft labels, midpoints, hull and gap."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from laws.strategies import samples, stacked_scores, tied_scores
from scorespace.curves import hull, roc, smooth, softened
from scorespace.curves.midpoint import MIDPOINTS, midpoint_of
from scorespace.curves.smooth import gaps, hull_calibrated
from scorespace.errors import ScoreError
from scorespace.tables import ScoreTable, score_table

SIX = score_table([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.01])
APART = score_table([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.7, 0.3, 0.2, 0.1])
some = settings(max_examples=50)


def soft_labels(truth, score, midpoint):
    """c of each case, case by case as the definition has it."""
    return np.array([s if (s > midpoint) == bool(y) else 1 - s for y, s in zip(truth, score, strict=True)])


def area_by_pairs(truth, score, weight, midpoint):
    """The area by its double sum over all ordered pairs of cases, ties and the case itself half."""
    c = soft_labels(truth, score, midpoint)
    score, weight = np.array(score), np.array(weight)
    before = (score[:, None] > score) + 0.5 * (score[:, None] == score)
    up, across = weight * c, weight * (1 - c)
    return up @ before @ across / (up.sum() * across.sum())


# --- the definition


@given(sample=samples(score=tied_scores, both=True))
@some
def test_area_is_the_double_sum_over_pairs(sample):
    table = sample.table()
    middle = float(np.average(sample.score, weights=sample.weight))
    # Eighths and quarters: the mean is exact up to the division, and nearer to no score than 1e-3 unless it is one.
    middle = round(middle * 8) / 8 if abs(middle * 8 - round(middle * 8)) < 1e-9 else middle
    assert midpoint_of(table) == pytest.approx(middle, abs=1e-12)
    expected = area_by_pairs(sample.truth, sample.score, sample.weight, middle)
    assert_allclose(smooth(table).area(), expected, rtol=1e-12, atol=1e-12)


@given(sample=samples(both=True), midpoint=st.floats(0.05, 0.95))
@some
def test_area_is_the_weighted_area_of_soft_labels(sample, midpoint):
    c, w = soft_labels(sample.truth, sample.score, midpoint), np.array(sample.weight)
    assume((w * c).sum() > 1e-6 and (w * (1 - c)).sum() > 1e-6)
    twice = np.r_[np.ones(len(c)), np.zeros(len(c))]
    expected = roc_auc_score(twice, np.r_[sample.score, sample.score], sample_weight=np.r_[w * c, w * (1 - c)])
    assert_allclose(smooth(sample.table(), midpoint).area(), expected, rtol=1e-9, atol=1e-9)


@given(sample=samples(both=True))
@some
def test_the_curve_is_the_roc_curve_of_the_softened_table(sample):
    table = sample.table()
    found, plain = smooth(table), roc(softened(table))
    assert_allclose(found.x, plain.x, rtol=1e-12, atol=1e-15)
    assert_allclose(found.y, plain.y, rtol=1e-12, atol=1e-15)


@given(sample=samples(score=st.sampled_from([0.0, 1.0]), both=True))
@some
def test_crisp_scores_give_the_plain_curve(sample):
    table = sample.table()
    assume(table.score.size == 2)
    found, plain = smooth(table), roc(table)
    assert_allclose(found.x, plain.x, atol=1e-15)
    assert_allclose(found.y, plain.y, atol=1e-15)


@pytest.mark.parametrize("midpoint", [*MIDPOINTS, 0.4])
@pytest.mark.parametrize("recentre", [False, True])
@given(sample=samples(score=tied_scores, both=True))
@settings(max_examples=20, suppress_health_check=[HealthCheck.filter_too_much])
def test_classes_swapped_with_mirrored_scores_leave_the_area(midpoint, recentre, sample):
    table = sample.table()
    middle = midpoint_of(table, midpoint)
    assume(np.abs(table.score - middle).min() > 1e-9)  # at the midpoint a score is low on either side
    mirror = replace(table.swapped(), score=1 - table.score[::-1])
    mirrored = 1 - midpoint if isinstance(midpoint, float) else midpoint
    assert midpoint_of(mirror, mirrored) == pytest.approx(1 - middle, abs=1e-12)
    assert_allclose(
        smooth(mirror, mirrored, recentre).area(), smooth(table, midpoint, recentre).area(), rtol=1e-10, atol=1e-10
    )


def test_perfect_separation_is_not_one():
    assert smooth(APART).area() == pytest.approx(0.84444444444444)
    assert smooth(APART).auc == 1


def test_six_cases_of_the_talk():
    # + + − + − −, with .70, .60 and .51 as given there: AUC 8/9, hull 1 1 .5 .5 0 0.
    assert smooth(SIX).auc == pytest.approx(8 / 9)
    assert round(smooth(SIX).area(), 4) == 0.8403
    assert hull(SIX).probability.tolist() == [1, 0.5, 0]


def test_a_negative_at_060_moves_up_040_and_across_060():
    found = smooth(SIX, normalised=False)
    assert (found.x[3] - found.x[2], found.y[3] - found.y[2]) == (pytest.approx(0.6), pytest.approx(0.4))


def test_counts_end_at_the_sums_of_soft_labels():
    found = smooth(SIX, normalised=False)
    assert (found.x[-1], found.y[-1]) == (found.tau_h, found.tau_v) == (pytest.approx(3.23), pytest.approx(2.77))
    assert found.rotation == pytest.approx(2.77 / 3.23)
    assert (found.kind, found.hull().y[-1]) == ("smooth_counts", pytest.approx(2.77))


def test_equal_scores_are_one_segment():
    found = smooth(score_table([1, 0, 1, 0], [0.8, 0.8, 0.3, 0.3]), normalised=False)
    # 0.8: a positive (.2, .8) and a negative (.8, .2); 0.3: (.3, .7) and (.7, .3).
    assert_allclose(np.column_stack([found.x, found.y]), [[0, 0], [1, 1], [2, 2]])


def test_monotone_maps_change_the_area():
    squared = score_table([1, 1, 1, 0, 0, 0], np.array([0.9, 0.8, 0.7, 0.3, 0.2, 0.1]) ** 2)
    assert abs(smooth(squared).area() - smooth(APART).area()) > 0.01


@given(stack=stacked_scores())
@settings(max_examples=30)
@pytest.mark.parametrize("midpoint", [*MIDPOINTS, 0.4])
@pytest.mark.parametrize("recentre", [False, True])
def test_each_replicate_has_its_own_midpoint(midpoint, recentre, stack):
    found = softened(stack, midpoint, recentre)
    for cells, soft in zip(stack.counts, found.counts, strict=True):
        alone = softened(ScoreTable(stack.score, cells, stack.classes, stack.positive), midpoint, recentre)
        if alone.n_pos * alone.n_neg:
            assert_allclose(soft, alone.counts, atol=1e-12)


def test_other_classes_count_as_negative():
    several = score_table(["a", "b", "c", "a"], [0.9, 0.4, 0.2, 0.3], positive="a")
    two = score_table([1, 0, 0, 1], [0.9, 0.4, 0.2, 0.3])
    assert smooth(several).area() == smooth(two).area()
    assert softened(several).classes == ("a", "not a")


# --- what it says


def test_appropriate_scores_are_counted():
    found = smooth(SIX)
    assert (found.appropriate, found.inappropriate) == (5, 1)  # the negative at 0.60 alone lies above the mean .495


def test_weights_count():
    found = smooth(score_table([1, 0, 0], [0.9, 0.8, 0.1], weight=[2, 0.5, 1]))
    assert found.midpoint == pytest.approx((1.8 + 0.4 + 0.1) / 3.5)
    assert (found.appropriate, found.inappropriate) == (3, 0.5)


def test_no_overlap_is_a_note():
    assert [one.code for one in smooth(APART).notes] == ["SS028"]
    assert [one.code for one in smooth(SIX).notes] == ["SS066"]  # the mean 0.495 is below the overlap, 0.51 to 0.6
    assert smooth(SIX, midpoint="median").notes == ()


@pytest.mark.parametrize(("positives", "codes"), [(29, ["SS027"]), (30, []), (70, []), (71, ["SS027"])])
def test_imbalance_is_a_note(positives, codes):
    truth = np.arange(100) < positives
    assert [one.code for one in smooth(score_table(truth, np.tile([0.9, 0.1], 50))).notes] == codes


def test_the_answer_shows_auc_beside_the_area():
    assert repr(smooth(APART)).startswith("smooth ROC curve: area 0.844 (AUC 1.000)")
    content = smooth(APART).to_dict()
    assert (content["schema"], content["auc"], content["inappropriate"]) == (1, 1, 0)
    assert content["area"] == pytest.approx(0.8444444)
    assert content["notes"][0]["code"] == "SS028"


def test_one_class_leaves_a_curve_of_soft_labels():
    found = smooth(score_table([1, 1], [0.9, 0.4]))
    assert found.area() == pytest.approx((0.9 * 0.4 + 0.5 * (0.9 * 0.1 + 0.6 * 0.4)) / (1.5 * 0.5))
    assert math.isnan(found.auc)


@pytest.mark.parametrize("score", [[1.2, 0.3], [0.4, -0.1], [-3, 5]])
def test_scores_outside_the_unit_interval_are_refused(score):
    for function in (smooth, softened, gaps):
        with pytest.raises(ScoreError, match="scorespace calibrate") as error:
            function(score_table([1, 0], score))
        assert all(way in str(error.value) for way in ("minmax", "logistic", "isotonic"))


# --- recentring


def test_recentring_moves_the_midpoint_to_one_half():
    # Midpoint .2: 0.6 → .75, 0.2 → .5, 0.1 → .25; the positive at .1 is inappropriate: c = 1 − .25.
    soft = softened(score_table([1, 0, 1], [0.6, 0.2, 0.1]), 0.2, recentre=True)
    assert_allclose(soft.pos, [0.75, 0.5, 0.75])
    assert_allclose(soft.score, [0.6, 0.2, 0.1])  # the order and the thresholds stay


@pytest.mark.parametrize("midpoint", [0, 1])
def test_recentring_at_an_end_of_the_scale(midpoint):
    soft = softened(score_table([1, 0, 1, 0], [1, 0.6, 0.4, 0]), midpoint, recentre=True)
    assert np.isfinite(soft.counts).all()
    assert_allclose(soft.pos + soft.neg, 1)


@given(sample=samples(both=True))
@some
def test_recentring_at_one_half_changes_nothing(sample):
    assert_allclose(softened(sample.table(), "half", recentre=True).counts, softened(sample.table(), "half").counts)


# --- hull and gaps


def test_gaps_of_the_six_cases():
    found = gaps(SIX, "half")
    # ROC: the triangle of − then + over 3 × 3; smooth: segments (.6, .4), (.49, .51) under their chord.
    assert found.roc == pytest.approx(0.5 / 9)
    assert found.smooth == pytest.approx(0.5 * (0.6 * 0.51 - 0.49 * 0.4) / (3.23 * 2.77))
    assert found.rotation == pytest.approx(2.77 / 3.23)
    # Calibrated 1 1 .5 .5 0 0: at .5 a score is low; soft positives 1 1 .5 .5 0 0.
    assert found.rotation_calibrated == pytest.approx(1)
    assert [row["scores"] for row in found.rows()] == ["given", "calibrated"]


@given(sample=samples(both=True))
@some
def test_calibrated_scores_leave_no_gap_around_one_half(sample):
    # Shares p of positives: above ½ the soft label is p² + (1 − p)², below 2p(1 − p); both rise with p.
    assert gaps(sample.table(), "half").smooth_calibrated == pytest.approx(0, abs=1e-12)


@given(sample=samples(both=True))
@some
def test_the_hull_lies_on_or_above_the_curve(sample):
    found = smooth(sample.table())
    assume(found.tau_v > 1e-9 and found.tau_h > 1e-9)
    top = found.hull()
    assert np.all(np.interp(found.x, top.x, top.y) >= found.y - 1e-9)
    assert found.gap() >= 0
    assert found.gap() == pytest.approx(top.area() - found.area(), abs=1e-12)


def test_hull_calibration_replaces_scores_by_shares():
    table = hull_calibrated(SIX)
    assert (table.score.tolist(), table.pos.tolist(), table.neg.tolist()) == ([1, 0.5, 0], [2, 1, 0], [0, 1, 2])


def test_a_midpoint_outside_the_overlap_is_told_where_one_class_lies_inside_the_other():
    inside = score_table([1, 1, 1, 1, 0, 0, 0], [0.05, 0.1, 0.8, 0.95, 0.6, 0.65, 0.7])
    (found,) = smooth(inside, midpoint=0.3).notes
    assert found.code == "SS066"
    assert "outside the scores 0.600 to 0.700 where the classes overlap" in found.text
    assert smooth(inside, midpoint=0.65).notes == ()
    outside = score_table([0, 0, 0, 0, 1, 1, 1], [0.05, 0.1, 0.8, 0.95, 0.6, 0.65, 0.7])
    assert [one.code for one in smooth(outside, midpoint=0.9).notes] == ["SS066"]

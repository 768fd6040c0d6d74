"""Laws of probabilities: Brier = CAL + REF, with ties and weights."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from laws.strategies import samples
from scorespace.curves import brier_curve, calibration, optimal_curve
from scorespace.curves.hull import hull_edges
from scorespace.measures.calibration import ece, mce
from scorespace.measures.decomposition import cal, murphy_residual, ref, rel, res, unc
from scorespace.measures.probability import brier, logloss
from scorespace.tables import ScoreTable

some = settings(max_examples=40)


@given(sample=samples())
@some
def test_brier_is_calibration_plus_refinement(sample):
    t = sample.table()
    assert cal(t) >= 0
    assert ref(t) >= 0
    assert cal(t) + ref(t) == pytest.approx(brier(t), abs=1e-15)
    assert ref(t) <= unc(t) + 1e-15


# Squares keep the order of scores that are not too close for floating point, and [0, 1].
MAPS = {"square": lambda s: s * s, "half": lambda s: s / 2, "upper half": lambda s: (1 + s) / 2}


@pytest.mark.parametrize("by", MAPS)
@given(sample=samples())
@some
def test_refinement_is_unchanged_by_increasing_maps(by, sample):
    mapped = np.array([MAPS[by](s) for s in sample.score])
    if np.unique(mapped).size == np.unique(sample.score).size:  # else rounding has tied scores
        moved = replace(sample, score=tuple(mapped.tolist()))
        assert ref(moved.table()) == pytest.approx(ref(sample.table()), abs=1e-15)


@given(sample=samples())
@some
def test_isotonic_scores_have_no_calibration_loss(sample):
    t = sample.table()
    edges = hull_edges(*t.columns)
    score = edges.pos / (edges.pos + edges.neg)
    recalibrated = ScoreTable(score, np.stack([edges.neg, edges.pos]), ("0", "1"), 1)
    assert cal(recalibrated) == pytest.approx(0, abs=1e-15)
    assert brier(recalibrated) == pytest.approx(ref(t), abs=1e-15)


@given(sample=samples())
@some
def test_areas_of_brier_curves_are_brier_and_refinement(sample):
    t = sample.table()
    assert brier_curve(t).area() == pytest.approx(brier(t), abs=1e-12)
    assert optimal_curve(t).area() == pytest.approx(ref(t), abs=1e-12)


@given(sample=samples())
@some
def test_murphy_terms_add_up(sample):
    t = sample.table()
    assert rel(t) - res(t) + unc(t) == pytest.approx(brier(t), abs=1e-14)
    assert rel(t, bins=3) - res(t, bins=3) + unc(t) + murphy_residual(t, bins=3) == pytest.approx(brier(t), abs=1e-14)


@given(sample=samples())
@some
def test_calibration_errors_are_ordered(sample):
    t = sample.table()
    for by in ("width", "count"):
        assert ece(t, bins=4, by=by) <= mce(t, bins=4, by=by) + 1e-15
        assert np.square(ece(t, bins=4, by=by)) <= rel(t, bins=4) + 1e-12 or by == "count"


@given(sample=samples(both=True))
@some
def test_clipping_never_leaves_log_loss_infinite(sample):
    t = sample.table()
    assert np.isfinite(logloss(t, eps=1e-15))
    assert logloss(t, eps=1e-15) <= logloss(t) + 1e-12


@given(sample=samples())
@some
def test_a_calibration_curve_loses_no_case(sample):
    t = sample.table()
    for options in ({}, {"by": "width", "bins": 4}, {"by": "count", "bins": 4}):
        curve = calibration(t, **options)
        assert curve.cases.sum() == pytest.approx(float(t.total))
        assert curve.hits.sum() == pytest.approx(float(t.n_pos))
        assert np.all(curve.threshold <= curve.x)
        assert np.all(curve.x <= curve.highest)
        assert np.all(np.diff(curve.x) > 0)
    assert np.all(np.diff(calibration(t).y) > 0)

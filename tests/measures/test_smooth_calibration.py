"""The smooth calibration curve beside an independent spline regression, and the distances from it."""

import numpy as np
import pytest
from scipy.special import expit

import scorespace as ss
from scorespace.curves.smooth_calibration import fit_spline
from scorespace.errors import ScoreSpaceError

RNG = np.random.default_rng(1)
LOGIT = RNG.normal(-0.5, 1.2, 600)
SCORE = expit(LOGIT)
TRUTH = (RNG.random(600) < expit(0.6 * LOGIT + 0.2 * LOGIT**2)).astype(int)
TABLE = ss.score_table(TRUTH, SCORE)


def regression(x, y, knots):
    """Logistic regression on Harrell's restricted cubic spline, by Newton's method from its formulas."""
    *inner, before, last = np.quantile(x, knots)
    columns = [np.ones_like(x), x]
    for t in inner:
        cubic = [np.maximum(x - at, 0) ** 3 for at in (t, before, last)]
        columns.append(cubic[0] - cubic[1] * (last - t) / (last - before) + cubic[2] * (before - t) / (last - before))
    design, beta = np.stack(columns, axis=1), np.zeros(len(columns))
    for _ in range(60):
        rate = expit(design @ beta)
        beta += np.linalg.solve(design.T @ (design * (rate * (1 - rate))[:, None]), design.T @ (y - rate))
    return expit(design @ beta)


@pytest.mark.parametrize(
    ("knots", "shares"),
    [(3, (0.1, 0.5, 0.9)), (4, (0.05, 0.35, 0.65, 0.95)), (5, (0.05, 0.275, 0.5, 0.725, 0.95))],
)
def test_without_ridge_it_is_the_spline_regression(knots, shares):
    rate = regression(LOGIT, TRUTH, shares)
    assert np.allclose(fit_spline(TABLE, knots, 0.0).rate(SCORE), rate, atol=1e-7)
    distance = np.abs(rate - SCORE)
    values = [measure(TABLE, knots=knots, ridge=0.0) for measure in (ss.ici, ss.e50, ss.e90, ss.emax)]
    assert values == pytest.approx([distance.mean(), *np.quantile(distance, [0.5, 0.9]), distance.max()], abs=1e-7)


def test_copies_of_cases_and_tied_scores():
    """Weights that count cases give the value of the repeated cases."""
    score, truth = np.round(SCORE, 2), TRUTH
    rows, times = np.unique(np.stack([score, truth]), axis=1, return_counts=True)
    counted = ss.score_table(rows[1].astype(int), rows[0], weight=times)
    repeated = ss.score_table(truth, score)
    for measure in (ss.ici, ss.e50, ss.e90, ss.emax):
        assert measure(counted) == pytest.approx(measure(repeated), abs=1e-9)


def test_replicates_are_fitted_together():
    draws = RNG.binomial(1, SCORE[np.argsort(-SCORE)], (3, 600))
    tables = [ss.score_table(y, np.sort(SCORE)[::-1]) for y in draws]
    from scorespace.inference.parametric_bootstrap import with_positives

    together = with_positives(TABLE, draws)
    assert ss.ici(together, knots=4) == pytest.approx([ss.ici(table, knots=4) for table in tables], abs=1e-9)


@pytest.mark.parametrize(
    ("truth", "score"), [([1, 0, 1], [0.0, 0.5, 1.0]), ([1, 0], [0.5, 0.5]), ([1, 0] * 20, [0.9, 0.1] * 20)]
)
def test_few_distinct_scores_separation_and_scores_of_0_and_1(truth, score):
    for measure in (ss.ici, ss.e50, ss.e90, ss.emax):
        assert 0 <= measure(truth, score) < 1


def test_one_class_and_bad_options():
    assert np.isnan(ss.ici([1, 1], [0.2, 0.3], positive=1))
    with pytest.raises(ScoreSpaceError, match="knots=7"):
        ss.ici(TABLE, knots=7)


def test_large_tables_are_merged_for_the_fit():
    x = np.random.default_rng(3).normal(-1, 1.2, 60_000)
    y = (np.random.default_rng(4).random(x.size) < expit(0.8 * x)).astype(int)
    rate = regression(x, y, (0.05, 0.275, 0.5, 0.725, 0.95))
    assert ss.ici(ss.score_table(y, expit(x))) == pytest.approx(np.abs(rate - expit(x)).mean(), abs=2e-4)


def test_intervals_contain_zero_for_calibrated_scores_and_exclude_it_else():
    def interval(truth, name):
        found = ss.evaluate({"y": truth, "p": SCORE}, truth="y", scores="p", positive=1).measures(name)[0]
        assert found.low <= found.value <= found.high
        return found

    calibrated = (np.random.default_rng(8).random(600) < SCORE).astype(int)
    assert interval(calibrated, "ici").low == 0
    assert interval(TRUTH, "ici").low > 0
    assert interval(TRUTH, "emax").low > 0  # from 500 cases on
    few = ss.evaluate({"y": TRUTH[:200], "p": SCORE[:200]}, truth="y", scores="p").measures("emax")[0]
    assert np.isnan(few.low)


def test_the_band_holds_the_fitted_curve_and_widens():
    data = ss.evaluate({"y": TRUTH, "p": SCORE}, truth="y", scores="p", positive=1)
    points, whole = (data.band("smooth_calibration", "p", simultaneous=wide) for wide in (False, True))
    assert (points.low < points.y).all()
    assert (whole.low <= points.low).all()
    assert (whole.high >= points.high).all()

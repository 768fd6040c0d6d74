"""Bootstraps corrected by what one case does, against SciPy and the plain loop."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from helpers.resampled import ONE_POSITIVE, RESAMPLED, SCORE, TABLE, TRUTH, of
from scorespace.errors import MeasureError
from scorespace.inference.auc_variance import delong_variance
from scorespace.inference.bca import acceleration, bca_interval, jackknife_error
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.interval import IntervalRequest, applicable_methods
from scorespace.inference.subsampling import SingleSample
from scorespace.measures import parse
from scorespace.measures.confusion import f1, ppv
from scorespace.measures.ranking import ap, auc, ks
from scorespace.measures.request import bind
from scorespace.tables import Counts, score_table

MEMBER = {1: TRUTH == 1, 0: TRUTH == 0}


def again(table, rng, count):
    """BootstrapDraws of a table, drawn within classes."""
    return SingleSample({"": table}, False).drawer(True)(rng, count)[""]


@pytest.mark.parametrize(
    ("text", "method"),
    [("auc", "studentised, delong"), ("tpr@0.5", "studentised, binomial"), ("ap", "studentised, jackknife")],
)
def test_the_method_names_the_standard_error(text, method):
    assert of(text, method="studentised").method == method


def test_a_jackknife_in_every_replicate_of_a_large_table_is_refused():
    large = score_table(np.arange(2000) % 2, np.arange(2000.0))
    assert "studentised" in applicable_methods(bind(parse("auc"), large))
    with pytest.raises(MeasureError) as caught:
        of("ap", large, method="studentised", replicates=2000)
    assert str(caught.value) == (
        "method='studentised' takes too long for ap in a sample of this size.\n  hint: bootstrap or bca"
    )


def left_out(measure):
    """The value without each case in turn, by building each table anew."""
    return np.array([measure(score_table(np.delete(TRUTH, i), np.delete(SCORE, i))) for i in range(TRUTH.size)])


@pytest.mark.parametrize("measure", [auc, ap, ks])
def test_the_jackknife_is_that_of_cases(measure):
    values = left_out(measure)
    variance = sum(
        (n - 1) / n * ((values[MEMBER[label]] - values[MEMBER[label]].mean()) ** 2).sum()
        for label, n in ((1, 18), (0, 25))
    )
    assert float(jackknife_error(measure.function, TABLE)(TABLE)) == pytest.approx(math.sqrt(variance))


@pytest.mark.parametrize("measure", [auc, ap, ks])
def test_the_acceleration_is_that_of_cases(measure):
    values = left_out(measure)
    parts = [(n - 1) / n * (values[MEMBER[label]].mean() - values[MEMBER[label]]) for label, n in ((1, 18), (0, 25))]
    influence = np.concatenate(parts)
    expected = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
    assert acceleration(measure.function, TABLE) == pytest.approx(expected)


def test_jackknife_errors_of_replicates_are_those_of_each():
    drawn = again(TABLE, np.random.default_rng(0), 10)
    tables = [replace(TABLE, counts=counts) for counts in drawn.counts]
    error = jackknife_error(ap.function, TABLE)
    assert error(drawn) == pytest.approx(np.array([float(jackknife_error(ap.function, t)(t)) for t in tables]))


def test_the_jackknife_of_a_mean_is_its_standard_error():
    table = Counts(tp=30, fp=2, fn=10, tn=8)
    assert float(jackknife_error(lambda c: c.tp / c.p, table)(table)) == pytest.approx(math.sqrt(0.75 * 0.25 / 39))


def test_the_acceleration_is_zero_without_influence_and_nan_when_a_case_is_needed():
    assert acceleration(lambda c: c.p * 0, Counts(tp=3, fp=1, fn=1, tn=3)) == 0
    assert math.isnan(acceleration(ppv.function, Counts(tp=1, fp=0, fn=1, tn=3)))


def test_the_jackknife_goes_through_a_table_in_pieces(monkeypatch):
    whole = acceleration(ap.function, TABLE)
    monkeypatch.setattr("scorespace.inference.bca._CELLS_AT_ONCE", 200)
    assert acceleration(ap.function, TABLE) == whole


def scipy_bca(statistic, samples, level=0.95, n=4000):
    rng = np.random.default_rng(5)
    found = stats.bootstrap(
        samples, statistic, n_resamples=n, method="BCa", confidence_level=level, rng=rng, vectorized=False
    )
    return found.confidence_interval


def mann_whitney(pos, neg):
    gaps = pos[:, None] - neg
    return ((gaps > 0).mean() + (gaps == 0).mean() / 2).item()


def test_bca_of_the_area_as_in_scipy():
    theirs = scipy_bca(mann_whitney, (SCORE[TRUTH == 1], SCORE[TRUTH == 0]))
    found = of("auc", method="bca", replicates=8000)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.012)


def test_bca_of_the_accuracy_as_in_scipy():
    right = (SCORE >= 0.5) == TRUTH
    theirs = scipy_bca(np.mean, (right,))
    found = of("acc@0.5", method="bca", replicates=8000)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1.01 / 43)


def test_bca_of_f1_as_in_scipy():
    outcome = 2 * (SCORE >= 0.5) + TRUTH  # 3 hit, 2 false alarm, 1 miss

    def statistic(cases):
        return 2 * (cases == 3).sum() / (2 * (cases == 3).sum() + (cases == 2).sum() + (cases == 1).sum())

    theirs = scipy_bca(statistic, (outcome,))
    assert f1(TABLE.at(0.5)) == pytest.approx(statistic(outcome))
    found = of("f1@0.5", method="bca", replicates=8000)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.02)


def test_studentised_is_the_plain_loop():
    stream = np.random.SeedSequence([3, 1]).spawn(1)[0]
    drawn = again(TABLE, np.random.Generator(np.random.SFC64(stream)), 400)
    ratios = []
    for counts in drawn.counts:
        table = replace(TABLE, counts=counts)
        ratios.append((auc(table) - auc(TABLE)) / math.sqrt(delong_variance(table)))
    few, many = np.quantile(ratios, [0.025, 0.975])
    error = math.sqrt(delong_variance(TABLE))
    found = of("auc", method="studentised", seed=3)
    assert (found.low, found.high) == pytest.approx((auc(TABLE) - many * error, auc(TABLE) - few * error))


def test_studentised_stays_within_the_range():
    nearly = score_table([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8])
    for method in RESAMPLED:
        found = of("auc", nearly, method=method)
        assert 0 <= found.low <= found.high <= 1


def test_replicates_without_an_error_are_counted():
    nearly = score_table([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8])
    reason = of("auc", nearly, method="studentised").reason
    assert reason.startswith("interval excludes ")
    assert reason.endswith(" of 400 replicates without a standard error")


def test_a_proportion_of_all_hits_has_an_error():
    found = of("tpr@0.5", score_table([1, 1, 1, 1, 0, 0], [6, 5, 4, 3, 2, 0.1]), method="studentised")
    assert (found.low, found.high, found.reason) == (1, 1, "the measure is the same in every replicate")


def test_one_case_in_a_class_leaves_the_other_to_resample():
    found = of("auc", ONE_POSITIVE, method="bca")
    assert found.method == "bca"
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_bca_says_when_a_case_is_needed():
    # Without the one false positive the likelihood ratio is infinite.
    found = of("lr_pos@0.5", score_table([1, 1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.7, 0.2, 0.6, 0.1, 0.3]), method="bca")
    assert found.method is None
    assert found.reason == "no interval: leaving out one case makes the measure undefined, so BCa has no acceleration"


def test_bca_says_when_the_value_is_beyond_all_replicates():
    draws = BootstrapDraws({"": TABLE}, replicates=50)
    found = bca_interval.function(IntervalRequest(bind(parse("auc"), TABLE), "", TABLE, 1.5, 0.95, draws))
    assert math.isnan(found.low)
    assert found.reason == "no interval: all replicates lie on one side of the value, so BCa cannot correct their bias"

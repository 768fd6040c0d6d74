import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.runs import bootstrapped, folded, summary
from scorespace.experiments.bootstrap import bootstrap_632, bootstrap_632_plus, is_bootstrap, pair_independently
from scorespace.experiments.results import benchmark_summary
from scorespace.experiments.store import open_run
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.tables.array_tables import table_of_arrays

share = st.floats(0, 1)


def test_632():
    assert bootstrap_632(0.1, 0.3) == pytest.approx(0.368 * 0.1 + 0.632 * 0.3)


def test_632_plus_worked_by_hand():
    # err = 0.1, Err1 = 0.3, gamma = 0.5: R = 0.2 / 0.4 = 0.5, w = 0.632 / (1 - 0.184) = 0.7745098…
    found = bootstrap_632_plus(0.1, 0.3, 0.5)
    assert found.overfitting == pytest.approx(0.5)
    assert found.weight == pytest.approx(0.632 / 0.816)
    assert found.value == pytest.approx(0.1 + (0.632 / 0.816) * 0.2)


def test_by_heart_on_noise_is_chance():
    # The case that .632 gets wrong: no training error, and 0.5 on others.
    assert bootstrap_632(0, 0.5) == pytest.approx(0.316)
    assert bootstrap_632_plus(0, 0.5, 0.5).value == pytest.approx(0.5)


def test_clipping():
    worse = bootstrap_632_plus(0.1, 0.7, 0.5)  # left out is worse than chance: R and Err1 stop there
    assert (worse.overfitting, worse.value) == (1.0, pytest.approx(0.5))
    better = bootstrap_632_plus(0.3, 0.2, 0.5)  # left out is better than training: R = 0
    assert better.overfitting == 0
    assert better.value == pytest.approx(bootstrap_632(0.3, 0.2))
    useless = bootstrap_632_plus(0.6, 0.7, 0.5)  # training is worse than chance: R = 0, Err1 is chance
    assert useless.overfitting == 0
    assert useless.value == pytest.approx(bootstrap_632(0.6, 0.5))


@given(share, share, share)
def test_632_plus_lies_between_its_parts(training, left_out, chance):
    found = bootstrap_632_plus(training, left_out, chance)
    ends = training, min(left_out, chance)
    assert min(ends) - 1e-12 <= found.value <= max(ends) + 1e-12
    assert 0 <= found.overfitting <= 1
    assert 0.632 - 1e-12 <= found.weight <= 1 + 1e-12


def test_undefined_stays_so():
    found = bootstrap_632_plus(0.1, math.nan, 0.5)
    assert math.isnan(found.value)
    assert found.reason == "the error of left out is undefined"
    assert found.to_dict()["value"] is None


def no_information(measure, truth, said):
    spec = parse(measure)
    actual, told, weight = pair_independently(truth, said)
    return bind(spec, table_of_arrays(actual, told, tuple(spec.measure.functions), weight=weight)).value


def pairs(loss, truth, said):
    return np.mean([loss(a, b) for a in truth for b in said])


def test_no_information_is_the_mean_over_all_pairs():
    rng = np.random.default_rng(1)
    truth, score = rng.integers(0, 2, 30), rng.random(30)
    assert no_information("brier", truth, score) == pytest.approx(pairs(lambda y, p: (y - p) ** 2, truth, score))
    assert no_information("auc", truth, score) == pytest.approx(0.5)
    numbers = rng.normal(size=30)
    told = numbers + rng.normal(size=30)
    assert no_information("mae", numbers, told) == pytest.approx(pairs(lambda y, p: abs(y - p), numbers, told))


def test_no_information_of_decisions_is_the_closed_form():
    truth, said = list("aaabbc"), list("aabbbc")
    p, q = np.array([3, 2, 1]) / 6, np.array([2, 3, 1]) / 6
    assert no_information("err", truth, said) == pytest.approx(np.sum(p * (1 - q)))
    scores = np.eye(3)[["abc".index(one) for one in said]]
    assert no_information("err", truth, scores) == pytest.approx(np.sum(p * (1 - q)))


def test_which_runs_are_a_bootstrap():
    assert is_bootstrap(open_run(bootstrapped()))
    assert not is_bootstrap(open_run(folded()))
    assert summary().result("iris", "tree").corrected is None


def test_a_mean_loss_is_the_mean_over_cases_and_not_over_samples():
    run = open_run(bootstrapped())
    found = benchmark_summary(run, measure="brier").result("noise", "naive_bayes")
    said = run.predictions("noise", "naive_bayes", part="test")
    loss = (said["p_1"] - (said["truth"] == "1")) ** 2
    each = [loss[said["row"] == row].mean() for row in np.unique(said["row"])]
    assert found.corrected.left_out == pytest.approx(np.mean(each))
    assert found.corrected.left_out != pytest.approx(found.over.mean, abs=1e-6)


def test_chance_is_every_prediction_beside_every_truth():
    run = open_run(bootstrapped())
    found = benchmark_summary(run, measure="brier").result("noise", "naive_bayes").corrected
    said = run.predictions("noise", "naive_bayes", part="train")
    whole = said["repeat"] < 0
    truth, p = said["truth"][whole] == "1", said["p_1"][whole]
    assert found.chance == pytest.approx(np.mean((truth[:, None] - p[None, :].astype(float)) ** 2))
    assert found.training == pytest.approx(np.mean((truth - p) ** 2))

"""The bootstrap of a run, corrected: .632+ of each learner, from the predictions themselves."""

import numpy as np
import pytest

import scorespace as ss
from experiments.runs import bootstrapped
from scorespace.experiments.results import benchmark_summary
from scorespace.experiments.store import open_run


def test_632_plus_of_a_run_is_that_of_the_losses():
    run = open_run(bootstrapped())
    found = benchmark_summary(run, measure="err").result("noise", "knn(k=1)")
    said = run.predictions("noise", "knn(k=1)")
    wrong = ((said["p_1"] > said["p_0"]) != (said["truth"] == "1")).astype(float)
    test = said["part"] == "test"
    each = [wrong[test & (said["row"] == row)] for row in range(60)]
    left_out = np.mean([one.mean() for one in each if one.size])
    whole = said["repeat"] < 0
    training = wrong[whole].mean()
    p, q = np.mean(said["truth"][whole] == "1"), np.mean(said["p_1"][whole] > said["p_0"][whole])
    chance = p * (1 - q) + (1 - p) * q
    overfits = min(1, (left_out - training) / (chance - training))
    weight = 0.632 / (1 - 0.368 * overfits)
    assert found.corrected.training == training == 0
    assert found.corrected.left_out == pytest.approx(left_out)
    assert found.corrected.value == pytest.approx((1 - weight) * training + weight * min(left_out, chance))
    assert found.row()["bootstrap_632"] == pytest.approx(0.632 * left_out)


def test_632_plus_of_an_area():
    found = benchmark_summary(bootstrapped()).result("noise", "naive_bayes")
    plus = found.corrected
    assert plus.left_out == pytest.approx(found.over.mean)
    assert plus.chance == pytest.approx(0.5)
    expected = ss.bootstrap_632_plus(1 - plus.training, 1 - plus.left_out, 0.5)
    assert plus.value == pytest.approx(1 - expected.value)
    assert any(one.code == "SS074" for one in ss.evaluate(bootstrapped()).notes)

import numpy as np
import pytest

from experiments.runs import bootstrapped, folded, summary
from scorespace.experiments.corrected import is_bootstrap
from scorespace.experiments.results import benchmark_summary
from scorespace.experiments.store import open_run


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

"""Evaluation without labels."""

import json
import math

import numpy as np
import pytest
from scipy.special import expit, logit

import scorespace as ss
from scorespace.calibration.unlabelled import em_prevalence, shifted, soft_table
from scorespace.errors import ScoreSpaceError
from scorespace.evaluation.assumed import assume


def sample(prevalence=0.3, n=20_000, seed=0):
    """Labels, and probabilities that are calibrated at a prevalence of 0.3."""
    rng = np.random.default_rng(seed)
    label = (rng.random(n) < prevalence).astype(int)
    x = rng.normal(size=n) + 1.5 * label
    return label, expit(1.5 * x - 1.125 + logit(0.3))


def test_soft_labels_are_expected_values():
    p = np.array([0.9, 0.6, 0.2])
    counts = soft_table(p).at(0.5)
    assert (counts.tp, counts.fp, counts.fn, counts.tn) == pytest.approx((1.5, 0.5, 0.2, 0.8))
    assert ss.brier(soft_table(p)) == pytest.approx((p * (1 - p)).mean())


def test_calibrated_scores_give_the_true_values():
    label, p = sample()
    found = assume({"p": p}, "calibrated", "p")
    truth = ss.evaluate(label, p).measures("auc", "acc@0.5", "tpr@0.5", "tnr@0.5", "ppv@0.5")
    assert [row["value"] for row in found.rows()] == pytest.approx([one.value for one in truth], abs=0.015)
    assert {row["method"] for row in found.rows()} == {"assumed(calibrated)"}
    assert {row["low"] for row in found.rows()} == {None}


def test_a_prior_shift_is_estimated_and_both_assumptions_are_shown():
    label, p = sample(0.1)
    found = assume({"p": p}, "prior_shift(trained=0.3)", "p", measures="acc@0.5,ppv@0.5")
    shift = found.shifts["p"]
    assert shift.prevalence == pytest.approx(label.mean(), abs=0.01)
    assert shift.differs
    truth = [one.value for one in ss.evaluate(label, p).measures("acc@0.5", "ppv@0.5")]
    by_method = {(row["measure"], row["method"]): row["value"] for row in found.rows()}
    assert by_method["acc", "assumed(prior_shift)"] == pytest.approx(truth[0], abs=0.01)
    assert by_method["ppv", "assumed(prior_shift)"] == pytest.approx(truth[1], abs=0.03)
    assert by_method["ppv", "assumed(calibrated)"] > truth[1] + 0.2
    assert "disagree" in found.words


def test_without_a_shift_the_assumptions_mostly_agree():
    disagree = [em_prevalence(sample(n=1000, seed=seed)[1], 0.3).differs for seed in range(200)]
    assert np.mean(disagree) < 0.1


def test_em_finds_the_prevalence_of_largest_likelihood():
    _, p = sample(0.15, n=2000)
    found = em_prevalence(p, 0.3)
    grid = np.linspace(0.05, 0.4, 3501)[:, None]
    likelihood = np.log(grid * p / 0.3 + (1 - grid) * (1 - p) / 0.7).sum(axis=1)
    assert found.prevalence == pytest.approx(float(grid[likelihood.argmax(), 0]), abs=2e-4)
    assert shifted(p, 0.3, found.prevalence).mean() == pytest.approx(found.prevalence, abs=1e-6)


def test_sure_probabilities_are_labels():
    found = assume({"p": [1.0, 1.0, 0.0]}, "calibrated", "p", measures="auc,acc@0.5")
    assert [row["value"] for row in found.rows()] == [1.0, 1.0]
    one_class = assume({"p": [1.0, 1.0]}, "prior_shift(trained=0.5)", "p", measures="auc")
    assert math.isnan(next(iter(one_class.values.values())))


@pytest.mark.parametrize(
    ("data", "how"),
    [
        ({"p": [0.5, 2.0]}, "calibrated"),
        ({"p": [0.5, 0.2]}, "prior_shift"),
        ({"p": [0.5, 0.2]}, "prior_shift(trained=2)"),
        ({"p": [0.5, 0.2]}, "prior_shift(trained=x)"),
        ({"p": [0.5, 0.2]}, "nothing"),
        ({"q": [0.5, 0.2]}, "calibrated"),
        ({"p": [0.5, None]}, "calibrated"),
    ],
)
def test_bad_input(data, how):
    with pytest.raises(ScoreSpaceError, match="hint"):
        assume(data, how, "p")


def test_json_holds_the_assumption():
    found = json.loads(json.dumps(assume({"p": [0.5, 0.2]}, "calibrated", "p").to_dict()))
    assert found["assumed"] == "calibrated"
    assert [note["code"] for note in found["notes"]] == ["SS199"]

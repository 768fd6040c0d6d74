"""Calibration errors over several classes: what chance shows, and what lies beyond it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from scorespace.inference.estimate import estimate
from scorespace.inference.multiclass_calibration import recalibrations
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.tables import class_table

NAMES = np.array(["a", "b", "c"])


def sample(rng, cases, sharp=1.0, weight=None):
    """Cases of three classes; their probabilities are calibrated unless sharpened."""
    scores = softmax(rng.normal(scale=1.5, size=(cases, 3)), axis=1)
    label = (rng.random((cases, 1)) > np.cumsum(scores, axis=1)[:, :-1]).sum(axis=1)
    shown = softmax(sharp * np.log(scores), axis=1)
    return class_table(NAMES[label], dict(zip(NAMES, shown.T, strict=True)), weight=weight)


@pytest.mark.parametrize("name", ["cal", "ece[macro]", "ece[weighted]", "ece[micro]", "log_cal[macro]"])
def test_intervals_of_calibrated_scores_hold_0(name):
    # Percentiles of the bootstrap did in none of 20.
    rng = np.random.default_rng(5)
    found = [estimate(parse(name), sample(rng, 200), replicates=100) for _ in range(20)]
    assert sum(one.low == 0 for one in found) >= 17
    assert {one.method for one in found} == {"test-inversion"}


def test_what_is_far_from_calibrated_is_told_from_chance():
    rng = np.random.default_rng(6)
    table = sample(rng, 400, sharp=2.5)
    for name in ("cal", "ece[macro]"):
        found = estimate(parse(name), table)
        assert 0 < found.low < found.value < found.high


@pytest.mark.parametrize("name", ["cal", "ece[macro]"])
def test_the_chance_value_is_what_labels_drawn_from_the_scores_show(name):
    rng = np.random.default_rng(7)
    table = sample(rng, 200)
    brute = []
    for _ in range(200):
        label = (rng.random((200, 1)) > np.cumsum(table.score.T, axis=1)[:, :-1]).sum(axis=1)
        brute.append(bind(parse(name), class_table(NAMES[label], dict(zip(NAMES, table.score, strict=True)))).value)
    assert estimate(parse(name), table).chance == pytest.approx(np.mean(brute), rel=0.07)


def test_the_recalibration_is_that_of_a_general_optimiser():
    rng = np.random.default_rng(8)
    table = sample(rng, 150, sharp=1.8)
    logs = np.log(table.score)
    bases = []
    for one in logs:
        z = (one - one.mean()) / one.std()
        bases.append(np.linalg.qr(np.stack([np.ones(150), z, z * z], axis=1) / np.sqrt(150))[0] * np.sqrt(150))

    def loss(at):
        logits = logs + np.array([b @ c for b, c in zip(bases, at.reshape(3, 3), strict=True)])
        chosen = np.log(softmax(logits, axis=0))[table.label, np.arange(150)]
        return -chosen.sum() + (at**2 * np.tile([1e-3, 0.3, 0.3], 3)).sum() / 2

    at = minimize(loss, np.zeros(9), method="BFGS", options={"gtol": 1e-7}).x
    expected = softmax(logs + np.array([b @ c for b, c in zip(bases, at.reshape(3, 3), strict=True)]), axis=0)
    rates = list(recalibrations(table))
    np.testing.assert_allclose(rates[0], table.score, atol=1e-12)
    # The fit itself, step 1, lies halfway between the steps 0.8 and 1.2 on the scale of logarithms.
    halfway = softmax((np.log(rates[2]) + np.log(rates[3])) / 2, axis=0)
    np.testing.assert_allclose(halfway, expected, atol=1e-4)


def test_many_cases_and_weights_are_taken_too():
    rng = np.random.default_rng(9)
    many = estimate(parse("cal"), sample(rng, 25_000), replicates=20)
    assert many.low == 0
    assert many.high < 0.01
    weighted = estimate(parse("cal"), sample(rng, 300, weight=rng.lognormal(0, 1, 300)), replicates=100)
    assert weighted.low <= weighted.value <= weighted.high


def test_groups_have_none():
    rng = np.random.default_rng(10)
    table = replace(sample(rng, 90), group=np.repeat(np.arange(30), 3).astype(np.int32))
    found = estimate(parse("cal"), table, replicates=50)
    assert (found.method, "grouped" in found.reason) == (None, True)

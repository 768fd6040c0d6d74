"""The shift of least loss, judged on cases that did not choose it."""

import numpy as np
import pytest

from scorespace.costs import Asymmetry
from scorespace.decisions import choose_shift, decide_shift, evaluate_shift_on
from scorespace.errors import ConditionError
from scorespace.tables import residual_table

TWICE = Asymmetry(under=2, over=1)


def table(error):
    return residual_table(np.zeros(error.size), error)


def loss(error, under=2.0, over=1.0):
    return np.where(error < 0, -under * error, over * error).mean()


def test_the_apparent_loss_is_that_of_the_shifted_errors():
    error = np.random.default_rng(1).normal(0, 2, 200)
    found = decide_shift({"nb": table(error)}, TWICE)
    assert found.best.loss == pytest.approx(loss(error + found.best.shift))
    assert found.best.as_is == pytest.approx(loss(error))
    assert (error + found.best.shift > 0).mean() == pytest.approx(2 / 3, abs=1 / 200)


@pytest.mark.parametrize("cases", [30, 100])
def test_honest_losses_are_those_on_new_cases(cases):
    rng = np.random.default_rng(cases)
    # Normal errors: the loss of a shift q is known in closed form.
    from scipy.stats import norm

    def true_loss(q):
        over = q * norm.cdf(q) + norm.pdf(q)
        return over + 2 * (over - q)

    apparent, honest, true, held = [], [], [], []
    for _ in range(150):
        found = decide_shift({"nb": table(rng.normal(0, 1, cases))}, TWICE)
        apparent.append(found.best.loss)
        honest.append(found.out_of_sample.value)
        true.append(true_loss(found.best.shift))
        held.append(found.out_of_sample.low <= true[-1] <= found.out_of_sample.high)
    assert np.mean(apparent) < np.mean(true)
    assert np.mean(honest) == pytest.approx(np.mean(true), rel=0.03)
    assert 0.89 <= np.mean(held) <= 0.995


def test_a_shift_that_only_fits_chance_is_not_shown_to_spare_anything():
    rng = np.random.default_rng(7)
    shown = [decide_shift({"nb": table(rng.normal(0, 1, 40))}, Asymmetry(1, 1)).shown for _ in range(60)]
    assert np.mean(shown) <= 0.1


def test_another_sample_judges():
    rng = np.random.default_rng(2)
    here, there = rng.normal(0, 1, 300), rng.normal(0, 1, 4000)
    chosen = choose_shift({"nb": table(here)}, TWICE)
    found = evaluate_shift_on(chosen, {"nb": table(there)}, fitted="last year")
    assert found.out_of_sample.value == pytest.approx(loss(there + chosen.best.shift))
    assert "chosen on last year" in found.words
    assert found.notes == ()


def test_words_and_rows():
    error = np.tile([-3.0, -1.0, 0.0, 1.0, 2.0], 20)
    found = decide_shift({"near": table(error), "far": table(3 * error)}, Asymmetry(under=3, over=1))
    assert found.words == (
        "Use near shifted by +1: cross-fitted loss of choosing model and shift 2.4 [2, 2.86] per case (apparent 2.4), "
        "0.6 [0.187, 1.03] less than without a shift. The others, each with its optimal shift, have cross-fitted "
        "loss far "
        "7.2 [6.01, 8.57]. On these cases far is never the better choice, whatever the costs."
    )
    assert found.to_dict()["regions"] == [{"model": "near", "alpha_low": 0.0, "alpha_high": 1.0}]
    assert found.to_dict()["alpha"] == 0.75
    assert [row["model"] for row in found.rows()] == ["near", "far"]


def test_few_cases_and_parts_of_copies_are_not_judged():
    few = decide_shift({"nb": table(np.arange(5.0))}, TWICE)
    assert "is unknown: there are fewer than ten cases" in few.words
    parts = residual_table(np.zeros(20), np.arange(20.0), weight=np.linspace(1, 2, 20), copies=True)
    why = "the weights are too large, or not whole numbers, to assign copies of cases to folds"
    assert decide_shift({"nb": parts}, TWICE).out_of_sample.reason == why
    chosen = choose_shift({"nb": table(np.arange(20.0))}, TWICE)
    assert evaluate_shift_on(chosen, {"nb": parts}, fitted="other").out_of_sample.reason == why


def values(found):
    return [each for one in (found.out_of_sample, found.gain) for each in (one.value, one.low, one.high)]


def test_weights_that_are_all_the_same_change_nothing_and_copies_are_cases():
    rng = np.random.default_rng(2)
    error, times = rng.exponential(2, 60) - 1, rng.integers(1, 4, 60)
    equal = residual_table(np.zeros(60), error, weight=np.full(60, 7.0))
    assert values(decide_shift({"nb": equal}, TWICE)) == pytest.approx(
        values(decide_shift({"nb": table(error)}, TWICE))
    )
    copies = residual_table(np.zeros(60), error, weight=times, copies=True)
    again = decide_shift({"nb": table(np.repeat(error, times))}, TWICE)
    assert values(decide_shift({"nb": copies}, TWICE)) == pytest.approx(values(again))


def test_the_honest_loss_of_weighted_cases_holds_the_true_one():
    """Cases of one kind count six times as much as the others; 92 to 95 % of 450 samples held it."""

    def draw(size, rng):
        kind = rng.random(size) < 0.3
        error = np.where(kind, rng.normal(2, 2, size), rng.exponential(1, size) - 1)
        return error, np.where(kind, 3.0, 0.5) * rng.uniform(0.5, 1.5, size)

    rng = np.random.default_rng(3)
    everyone, weight = draw(200_000, rng)
    held, honest, apparent, true = [], [], [], []
    for seed in range(60):
        error, by = draw(60, rng)
        found = decide_shift({"nb": residual_table(np.zeros(60), error, weight=by)}, TWICE, seed=seed)
        shifted = everyone + found.best.shift
        true.append(np.average(np.where(shifted < 0, -2 * shifted, shifted), weights=weight))
        held.append(found.out_of_sample.low <= true[-1] <= found.out_of_sample.high)
        honest.append(found.out_of_sample.value)
        apparent.append(found.best.loss)
    assert np.mean(held) > 0.85
    assert np.mean(apparent) < np.mean(true) - 0.02
    assert np.mean(honest) == pytest.approx(np.mean(true), abs=0.12)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"under": 0}, "under=0 is not a cost"),
        ({"over": -1}, "over=-1 is not a cost"),
        ({"under": 1e99, "over": 1e-99}, r"under=1e\+99, over=1e-99"),
    ],
)
def test_costs_are_checked(costs, message):
    with pytest.raises(ConditionError, match=message):
        Asymmetry(**costs)

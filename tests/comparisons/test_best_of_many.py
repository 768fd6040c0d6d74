"""The best of many models on one test set."""

import numpy as np
import pytest
from scipy.special import ndtri

from scorespace.comparisons.best_of_many import best_of_many, ladder_answer
from scorespace.inference.proportion import wilson


def noise(models=40, n=300, seed=1):
    """Accuracies of models that guess: on all cases, in replicates, and on the cases left out."""
    rng = np.random.default_rng(seed)
    right = (rng.random((models, n)) < 0.5).astype(float)
    times = rng.multinomial(n, np.full(n, 1 / n), size=500)
    left_out = (times == 0).astype(float)
    return right.mean(axis=1), right @ times.T / n, right @ left_out.T / left_out.sum(axis=1)


def test_the_best_of_noise_is_corrected_to_noise():
    values, inside, outside = noise()
    found = best_of_many(values, inside, outside, trials=np.full(40, 300.0))
    assert found.value == values.max() >= 0.54
    assert found.corrected == pytest.approx(0.5, abs=0.03)
    assert found.bound < 0.5
    assert found.quantile > ndtri(0.95)


def test_a_single_model_keeps_its_value_and_the_one_sided_bound():
    values, inside, outside = noise(models=1)
    found = best_of_many(values, inside, outside, trials=np.array([300.0]))
    assert found.corrected == pytest.approx(values[0], abs=0.005)
    assert found.bound == pytest.approx(wilson(values[0] * 300, 300, 0.9)[0], abs=0.006)


def test_errors_are_accuracies_turned_round():
    values, inside, outside = noise(models=5)
    high = best_of_many(values, inside, outside, trials=np.full(5, 300.0))
    low = best_of_many(1 - values, 1 - inside, 1 - outside, best="low", trials=np.full(5, 300.0))
    assert (low.place, low.value, low.corrected, low.bound) == pytest.approx(
        (high.place, 1 - high.value, 1 - high.corrected, 1 - high.bound)
    )


def test_models_without_replicates_count_by_bonferroni():
    values, inside, outside = noise(models=2)
    few, many = (best_of_many(values, inside, outside, models=models) for models in (2, 1000))
    assert many.quantile == pytest.approx(ndtri(1 - 0.05 / 1000))
    assert many.bound < few.bound


def test_undefined_replicates_and_values_without_limits():
    values, inside, outside = noise(models=3)
    inside, outside = inside.copy(), outside.copy()
    inside[0, :50] = outside[1, :20] = np.nan
    found = best_of_many(values, inside, outside)
    assert np.isfinite([found.corrected, found.bound]).all()
    net = best_of_many(10 * values - 7, 10 * inside - 7, 10 * outside - 7, unit=False)
    assert net.bound < net.corrected < 0


def test_the_ladder_answers_clear_gains_only():
    rng = np.random.default_rng(2)
    old = rng.normal(0.7, 0.02, 500)
    new = old + rng.normal(0.0, 0.01, 500)
    assert not ladder_answer(0.705, new, 0.7, old)
    assert ladder_answer(0.72, new, 0.7, old)
    assert ladder_answer(0.28, new, 0.3, old, "low")
    assert not ladder_answer(float("nan"), new, 0.7, old)

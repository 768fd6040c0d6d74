"""What calibrated scores show by chance, the same for whoever asks."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.inference.calibration_null import calibration_null
from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.measures.decomposition import cal


def sample(size, seed=0, weight=None, digits=9):
    rng = np.random.default_rng(seed)
    score = rng.random(size).round(digits)
    return ss.score_table(rng.random(size) < score, score, weight=weight)


def by_hand(table, seed=0):
    seen, drawn = calibration_null(table, "cal", cal.function, replicates=100, seed=seed)
    return drawn.mean(), np.mean(np.append(drawn, seen) >= seen - 1e-12)


def test_chance_shows_as_calibration_loss_in_small_samples():
    small, large = (by_hand(sample(n))[0] for n in (50, 5000))
    assert small > 5 * large > 0


def test_calibrated_samples_are_seldom_called_miscalibrated():
    p = np.array([by_hand(sample(200, seed), seed)[1] for seed in range(60)])
    assert np.mean(p < 0.05) <= 0.12
    assert 0.3 < np.mean(p < 0.5) < 0.7


@pytest.mark.parametrize("size", [80, 3000])
@pytest.mark.parametrize("weight", [None, 4.0])
def test_tables_and_the_section_on_probabilities_tell_one_number(size, weight):
    table = sample(size, weight=None if weight is None else np.full(size, weight))
    for seed in (0, 3):
        shown = estimate(parse("cal"), table, seed=seed, replicates=20).chance
        assert ss.calibration_summary(table, seed=seed).cal_chance == shown > 0


def test_it_is_drawn_once():
    table, asked = sample(50), []

    def counted(drawn):
        asked.append(1)
        return cal.function(drawn)

    first = calibration_null(table, "cal", counted)
    calls = len(asked)
    assert calibration_null(table, "cal", counted) is first
    assert len(asked) == calls


def test_weights_that_differ_tell_no_counts():
    assert calibration_null(sample(50, weight=np.arange(1.0, 51)), "cal", cal.function) is None

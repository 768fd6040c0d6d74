"""Net benefit of two models: McNemar's test with two prices, beside hand computation and McNemar's own statistic."""

import math

import numpy as np
import pytest

import scorespace as ss
from scorespace.comparisons.mcnemar import mcnemar_p
from scorespace.errors import MeasureError, ScoreSpaceError

# (acts a, acts b, positive): b₊ 7, c₊ 3, b₋ 4, c₋ 2, and 44 cases on which both decide alike.
CELLS = {(1, 0, 1): 7, (0, 1, 1): 3, (1, 0, 0): 4, (0, 1, 0): 2, (1, 1, 1): 8, (0, 0, 0): 30, (1, 1, 0): 6}
ROWS = np.array([cell for cell, count in CELLS.items() for _ in range(count)])
TRUTH, SCORES = ROWS[:, 2], {"a": 0.1 + 0.8 * ROWS[:, 0], "b": 0.1 + 0.8 * ROWS[:, 1]}


def compared(measure, **options):
    return ss.compare(TRUTH, SCORES, measure=measure, **options)[0]


def test_at_a_price_of_one_half_it_is_mcnemars_uncorrected_statistic():
    found = compared("nb@0.5")
    chi2, p = mcnemar_p(7 + 2, 3 + 4, "uncorrected")  # a is right on 7 positives, and on the 2 negatives of b alone
    assert found.test == "mcnemar_prices"
    assert (found.statistic**2, found.p) == pytest.approx((chi2, p))


def test_by_hand_at_another_price():
    found = compared("nb@0.2")
    assert found.difference == pytest.approx((7 - 3 - 0.25 * (4 - 2)) / 60)
    assert found.statistic == pytest.approx((4 - 0.25 * 2) / math.sqrt(10 + 0.0625 * 6))
    assert found.low < found.difference < found.high


def test_it_equals_the_difference_of_the_values_and_scales():
    one, relative, fewer = (compared(name) for name in ("nb@0.2", "snb@0.2", "avoided@0.2"))
    assert one.difference == pytest.approx(one.value_a - one.value_b)
    assert (relative.p, fewer.p) == (one.p, one.p)
    assert fewer.difference == pytest.approx(100 * one.difference * 4)
    assert (fewer.low, fewer.high) == pytest.approx((400 * one.low, 400 * one.high))
    assert relative.difference == pytest.approx(one.difference * 60 / 18)


def test_one_sided_and_without_discordant_cases():
    assert compared("nb@0.2", alternative="greater").p == pytest.approx(compared("nb@0.2").p / 2)
    same = ss.compare(TRUTH, {"a": SCORES["a"], "b": SCORES["a"]}, measure="nb@0.2")[0]
    assert (same.p, same.difference) == (1.0, 0.0)
    assert same.low < 0 < same.high


def test_it_is_refused_for_another_measure():
    with pytest.raises(MeasureError, match="is for nb, snb, avoided, not for auc"):
        compared("auc", test="mcnemar_prices")
    weighted = ss.evaluate(
        {"y": TRUTH, **SCORES, "w": np.linspace(1, 2, 60)}, truth="y", scores=["a", "b"], columns={"weight": "w"}
    )
    with pytest.raises(ScoreSpaceError, match="unweighted"):
        weighted.compare(measure="nb@0.2", test="mcnemar_prices")


def test_it_holds_its_level():
    rng, rejected = np.random.default_rng(5), 0
    for _ in range(60):
        truth = rng.random(300) < 0.2
        a, b = (1 / (1 + np.exp(1.8 - 1.2 * truth - rng.normal(size=300))) for _ in range(2))
        rejected += ss.compare(truth, {"a": a, "b": b}, measure="nb@0.2", positive=True)[0].p < 0.05
    assert rejected <= 8  # 3 expected

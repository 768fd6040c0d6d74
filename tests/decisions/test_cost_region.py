"""Regret over a range of cost ratios."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scorespace as ss
from laws.strategies import samples
from scorespace.costs import Condition
from scorespace.decisions import cost_region
from scorespace.decisions.out_of_sample import costs_of
from scorespace.errors import ConditionError
from scorespace.tables import score_table

# At the thresholds 3, 4 and 5: (FP, FN) = (40, 2), (20, 6) and (8, 14) of 60 negatives and 40 positives.
POSITIVES, NEGATIVES = [5] * 26 + [4] * 8 + [3] * 4 + [0] * 2, [5] * 8 + [4] * 12 + [3] * 20 + [0] * 20
WORKED = score_table([1] * 40 + [0] * 60, POSITIVES + NEGATIVES)


def apparent(at, ratios=(3, 10)):
    return [end.apparent for end in cost_region({"m": WORKED}, ratios, at=at).choices[0].ends]


def test_the_worked_example():
    assert apparent(3) == pytest.approx([46 / 38 - 1, 0])
    assert apparent(4) == pytest.approx([0, 80 / 60 - 1])
    assert apparent(3, (5, 5)) == apparent(4, (5, 5)) == pytest.approx([0, 0])  # their costs cross at 5
    assert cost_region({"m": WORKED}, (3, 10)).best.threshold == 3  # 0.211 against 0.333


@given(samples(), st.floats(0.1, 3), st.floats(1, 10))
def test_regret_is_largest_at_an_end_and_small_in_one_interval(sample, low, factor):
    table = sample.table()
    if not (table.n_pos and table.n_neg):
        return
    found = cost_region({"m": table}, (low, low * factor), within=0.1).best
    ratios = np.linspace(low, low * factor, 11)
    costs = np.array([costs_of(table.sweep, Condition(fp=1, fn=ratio)) for ratio in ratios])
    best, own = costs.min(axis=1), costs[:, int(np.count_nonzero(table.score >= float(found.threshold)))]
    if not found.relative:
        assert (own - best <= found.apparent + 1e-9).all()
        return
    assert (own / best - 1 <= found.apparent + 1e-9).all()
    near, (begin, end) = own / best - 1, found.within
    assert (near[(ratios > begin * (1 + 1e-9)) & (ratios < end * (1 - 1e-9))] <= 0.1 + 1e-9).all()
    assert (near[~((ratios > begin * (1 - 1e-9)) & (ratios < end * (1 + 1e-9)))] >= 0.1 - 1e-9).all()


def test_the_cost_at_one_ratio_is_that_of_the_decision_by_costs():
    ev = ss.evaluate([1] * 40 + [0] * 60, POSITIVES + NEGATIVES)
    assert ev.regret((5, 5)).best.threshold == ev.decide(fp=1, fn=5).best.threshold
    stated = ss.evaluate([1] * 40 + [0] * 60, POSITIVES + NEGATIVES, condition=Condition(1, 5, prevalence=0.1))
    assert cost_region({"m": WORKED}, (5, 5), prevalence=0.1).best.threshold == stated.decide().best.threshold


def test_a_bound_is_above_its_estimate_and_weights_that_are_no_counts_have_none():
    choice = cost_region({"m": WORKED}, (3, 10)).best
    assert all(0 <= end.value <= end.high for end in choice.ends)
    weighted = score_table([1, 0, 1, 0] * 9, [4, 3, 2, 1] * 9, weight=[0.5, 1.5] * 18)
    found = cost_region({"m": weighted}, (3, 10))
    assert np.isnan(found.best.high)
    assert "cannot be assigned to folds" in found.words
    whole = score_table([1, 0, 1, 0] * 9, [4, 3, 2, 1] * 9, weight=[1, 3] * 18)
    assert np.isnan(cost_region({"m": whole}, (3, 10)).best.high)
    copies = score_table([1, 0, 1, 0] * 9, [4, 3, 2, 1] * 9, weight=[1, 3] * 18, copies=True)
    assert cost_region({"m": copies}, (3, 10)).best.high > 0


def test_without_any_cost_the_regret_is_a_difference():
    clean = score_table([1] * 5 + [0] * 5, [3, 3, 2, 2, 2, 1, 1, 0, 0, 0])
    found = cost_region({"m": clean}, (3, 10), at=3).best
    assert (found.relative, found.apparent) == (False, pytest.approx(3.0))  # 3 of 10 cases missed, at 10 each


@pytest.mark.parametrize("wrong", [{"ratios": (0, 3)}, {"within": -1}, {"at": float("nan")}, {"ratios": (1, np.inf)}])
def test_bad_input(wrong):
    with pytest.raises(ConditionError):
        cost_region({"m": WORKED}, **{"ratios": (3, 10)} | wrong)


@pytest.mark.parametrize("wrong", [3, "3:10", (3,), (1, 2, 3)])
def test_a_range_has_two_ends(wrong):
    with pytest.raises(ConditionError, match="not a range of cost ratios"):
        ss.evaluate([1] * 40 + [0] * 60, POSITIVES + NEGATIVES).regret(wrong)


def test_all_negative_decisions_are_near_the_lowest_cost_at_no_ratio_above_zero():
    table = score_table([1, 1, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    found = cost_region({"m": table}, (1, 5), at=99)
    assert np.isnan(found.best.within).all()
    assert "For no cost ratio" in found.words


def test_the_cheapest_model_comes_first():
    # Noise has nearly no regret: all of its thresholds are as bad. It is no reason to use it.
    rng = np.random.default_rng(0)
    truth = (rng.random(1000) < 0.3).astype(int)
    evaluation = ss.evaluate(truth, {"noise": rng.random(1000), "good": rng.normal(size=1000) + 1.5 * truth})
    region = evaluation.regret((3, 10))
    assert [choice.model for choice in region.choices] == ["good", "noise"]
    assert region.choices[0].apparent > region.choices[1].apparent

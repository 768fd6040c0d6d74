"""Rules that reject everything or nothing: what they cost, and what a rule spares against them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.strategies import samples
from scorespace.decisions import choose_rejection
from scorespace.tables import score_table
from scorespace.tables.paired import pair_table


@given(samples(), st.integers(1, 50))
def test_each_alternative_costs_what_its_cases_cost(sample, percent):
    cost = percent / 100
    truth, score, weight = map(np.array, (sample.truth, sample.score, sample.weight))
    found = choose_rejection({"m": sample.table()}, cost).alternatives
    mean = {
        "reject all": cost,
        "m, decide all": np.average((score >= 0.5) != truth, weights=weight),
        "always positive": np.average(truth == 0, weights=weight),
        "always negative": np.average(truth == 1, weights=weight),
    }
    assert {name: one.cost.value for name, one in found.items()} == pytest.approx(mean)


def test_noise_is_not_recommended_where_rejecting_all_is_cheaper():
    """A score that knows nothing cost 0.340 and was recommended, where rejecting every case costs 0.200."""
    rng = np.random.default_rng(8)
    table = score_table(rng.random(2000) < 0.5, rng.random(2000), positive=True)
    found = choose_rejection({"noise": table}, 0.2)
    assert found.rules["noise"].cost > 0.3
    assert (found.best, found.cheapest, found.recommended, found.shown) == ("noise", "reject all", "reject all", False)
    assert found.to_dict()["recommended"] == "reject all"
    assert found.words.startswith("Reject every case: an error counting 1, 0.200 per case. noise, rejecting")
    assert {row["model"] for row in found.rows()} >= {"reject all", "noise, decide all", "always positive"}


def test_what_is_spared_is_the_difference_of_the_costs():
    rng = np.random.default_rng(9)
    p = rng.random(3000)
    table = score_table(rng.random(3000) < p, p, positive=True)
    found = choose_rejection({"good": table}, 0.2)
    assert found.gain.value == pytest.approx(0.2 - found.rules["good"].cost)
    assert found.recommended == "good"
    dear = choose_rejection({"good": table}, 0.49)  # hardly anything is rejected: not shown to beat deciding all
    assert dear.cheapest == "good, decide all"
    assert dear.gain.value == pytest.approx(dear.alternatives["good, decide all"].cost.value - dear.rules["good"].cost)


def test_the_best_of_many_that_know_nothing_is_seldom_recommended():
    """The model is chosen on the same cases: without another split for that, the best of ten would seem to pay."""
    rng, often = np.random.default_rng(10), 0
    for seed in range(40):
        truth = rng.random(200) < 0.5
        scores = {f"m{k}": np.where(rng.random(200) < 0.2, 0.95, 0.5) for k in range(10)}  # 0.95 knows nothing
        pairs = pair_table(truth, scores)
        models = dict(zip(pairs.models, pairs.tables, strict=True))
        often += choose_rejection(models, 0.45, pairs=pairs, seed=seed).shown
    assert often <= 4

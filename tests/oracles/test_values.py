"""Values per case and rankings per query against worked examples, SciPy, scikit-learn, and all orders of ties."""

from fractions import Fraction
from itertools import groupby, permutations
from math import log2

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import ndcg_score

import scorespace as ss
from oracles.load import columns, reference
from scorespace.inference.case_values import crossed_mean, order_ranks
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.tables import Table

WORKED = reference("values")


def value_of(name: str, table: Table) -> float:
    return bind(parse(name), table).value


def test_items_in_runs():
    worked = WORKED["repeats"]
    table = np.array(worked["table"], dtype=float)
    estimate, components = crossed_mean(table)
    assert estimate.centre == pytest.approx(worked["mean"], abs=5e-4)
    assert estimate.error == pytest.approx(worked["runs"]["error"], abs=5e-5)
    assert estimate.df == pytest.approx(worked["runs"]["df"], abs=5e-3)
    assert estimate.limits(0.95) == pytest.approx(worked["runs"]["limits"], abs=5e-4)
    assert (components.items, components.runs, components.rest) == pytest.approx(worked["components"], abs=5e-4)
    item, run = (column.ravel() for column in np.indices(table.shape))
    data = {"item": item, "run": run, "v": table.ravel()}
    ev = ss.evaluate(data, values="v", columns={"group": "item", "repeat": "run"})
    items, runs = ev.measures("mean", "mean(over=runs)")
    assert (items.low, items.high) == pytest.approx(worked["items"], abs=5e-4)
    assert (runs.low, runs.high) == pytest.approx(worked["runs"]["limits"], abs=5e-4)


def test_leaderboard_of_five_models():
    worked, data = WORKED["leaderboard"], columns("values_leaderboard")
    board = ss.evaluate(data, values=list(data)).leaderboard
    assert [one.model for one in board.entries] == worked["order"]
    assert [one.estimate.value for one in board.entries] == pytest.approx(worked["means"])
    assert board.critical == pytest.approx(worked["critical"], abs=0.05)  # a quantile of replicates
    assert [[one.rank_low, one.rank_high] for one in board.entries] == worked["ranks"]
    assert [one.letters for one in board.entries] == worked["letters"]
    pair = next(one for one in board.pairs if {one.a, one.b} == {"m3", "m4"})
    difference, half = worked["first_minus_second"]
    assert (abs(pair.difference), (pair.high - pair.low) / 2) == pytest.approx((difference, half), abs=0.01)


def test_means_differences_and_shares_are_those_of_scipy():
    data = columns("values_leaderboard")
    ev = ss.evaluate(data, values=["m0", "m2"])
    found, expected = ev.measures("mean", model="m0")[0], stats.ttest_1samp(data["m0"], 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    test, paired = ev.compare(measure="mean")[0], stats.ttest_rel(data["m0"], data["m2"])
    assert (test.statistic, test.p) == pytest.approx((paired.statistic, paired.pvalue))
    assert (test.low, test.high) == pytest.approx(tuple(paired.confidence_interval()))
    share = ev.measures("share(at_least=3)", model="m0")[0]
    wilson = stats.binomtest(int((data["m0"] >= 3).sum()), 40).proportion_ci(method="wilson")
    assert (share.low, share.high) == pytest.approx((wilson.low, wilson.high))
    assert ev.measures("sd", model="m0")[0].value == pytest.approx(np.std(data["m0"], ddof=1))


@pytest.mark.parametrize(("n", "q"), [(20, 0.5), (50, 0.5), (200, 0.9), (60, 0.1)])
def test_order_statistics_have_tails_of_the_binomial(n, q):
    low, high = order_ranks(n, q, 0.95)
    tail = stats.binom(n, q)
    assert tail.cdf(low) <= 0.025 < tail.cdf(low + 1)  # at most `low` values lie below the quantile
    assert 1 - tail.cdf(high) <= 0.025 < 1 - tail.cdf(high - 1) + 1e-12
    if q == 0.5:
        assert low + high == n - 1


@pytest.mark.parametrize("k", range(len(reference("rankings")["lists"])))
def test_worked_rankings(k):
    worked = reference("rankings")["lists"][k]
    table = ss.rank_table(worked["relevance"], worked["score"], [1] * len(worked["score"]))
    for name, value in worked["values"].items():
        assert value_of(name, table) == pytest.approx(value, abs=1e-6), name


def test_linear_ndcg_is_that_of_scikit_learn():
    rng = np.random.default_rng(3)
    relevance, score = rng.integers(0, 4, (30, 12)), rng.integers(0, 5, (30, 12)) / 4
    table = ss.rank_table(relevance.ravel(), score.ravel(), np.repeat(np.arange(30), 12))
    assert value_of("ndcg(gain=linear)", table) == pytest.approx(ndcg_score(relevance, score), abs=1e-14)
    assert value_of("ndcg(gain=linear)@5", table) == pytest.approx(ndcg_score(relevance, score, k=5), abs=1e-14)


def _of_order(grades: list[int], k: int) -> dict[str, float]:
    """The measures of one ranking without ties, from their definitions."""
    hits = [grade > 0 for grade in grades]
    best = sorted(grades, reverse=True)
    dcg, ideal = (sum((2**g - 1) / log2(j + 2) for j, g in enumerate(one[:k])) for one in (grades, best))
    first = next((j + 1 for j, hit in enumerate(hits[:k]) if hit), None)
    precisions = [sum(hits[: j + 1]) / (j + 1) for j, hit in enumerate(hits[:k]) if hit]
    return {
        f"ndcg@{k}": dcg / ideal,
        f"rr@{k}": 1 / first if first else 0.0,
        f"ap[query]@{k}": sum(precisions) / min(sum(hits), k),
        f"ppv[query]@top{k}": sum(hits[:k]) / k,
        f"tpr[query]@top{k}": sum(hits[:k]) / sum(hits),
    }


def test_ties_are_the_mean_over_all_their_orders():
    rng = np.random.default_rng(11)
    for _ in range(25):
        n, k = int(rng.integers(3, 7)), int(rng.integers(1, 8))
        grades = rng.integers(0, 3, n)
        grades[rng.integers(n)] = 1
        scores = np.sort(rng.integers(0, 3, n))[::-1]
        blocks = [[g for _, g in each] for _, each in groupby(zip(scores, grades, strict=True), key=lambda one: one[0])]
        orders = [[]]
        for block in blocks:
            orders = [[*head, *map(int, tail)] for head in orders for tail in permutations(block)]
        every = [_of_order(order, k) for order in orders]
        table = ss.rank_table(grades, scores, [0] * n)
        for name in every[0]:
            values = [one[name] for one in every]
            assert value_of(name, table) == pytest.approx(sum(values) / len(values), abs=1e-12), name
        assert value_of(f"ndcg(ties=first)@{k}", table) == pytest.approx(max(one[f"ndcg@{k}"] for one in every))
        assert value_of(f"ndcg(ties=last)@{k}", table) == pytest.approx(min(one[f"ndcg@{k}"] for one in every))


def test_randomisation_counts_all_signs():
    rng = np.random.default_rng(5)
    relevance, queries = rng.integers(0, 2, 60), np.repeat(np.arange(10), 6)
    relevance[::6] = 1
    a, b = relevance + rng.normal(0, 1, 60), rng.normal(0, 1, 60)
    ev = ss.evaluate(
        {"y": relevance, "q": queries, "a": a, "b": b}, truth="y", scores=["a", "b"], columns={"query": "q"}
    )
    test = ev.compare(measure="rr")[0]
    gaps = [
        Fraction(1, 1 + int((a[q][relevance[q] == 0] > a[q][relevance[q] == 1].max()).sum()))
        - Fraction(1, 1 + int((b[q][relevance[q] == 0] > b[q][relevance[q] == 1].max()).sum()))
        for q in (queries == k for k in range(10))
    ]
    signs = ((np.arange(2**10)[:, None] >> np.arange(10)) & 1) * 2 - 1
    means = np.abs(signs @ np.array(gaps, dtype=float))
    assert test.p == pytest.approx((means >= abs(float(sum(gaps))) - 1e-12).mean())
    assert test.test == "randomisation, exact"

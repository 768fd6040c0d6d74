"""Costs that differ from case to case: values beside empulse, cross-fitting, rules by expected gain, and sums."""

import numpy as np
import pandas as pd
import pytest

import scorespace as ss
from oracles.load import reference
from scorespace.case_costs import CaseCosts
from scorespace.errors import ScoreSpaceError
from scorespace.tables.case_costs import CostColumns, cost_table, moments_of_cases

EMPULSE = next(case for case in reference("trades") if case["topic"] == "costs per case")
STATED = CaseCosts(fp=5, fn="amount", tp=5)


def example(**options):
    given = EMPULSE["inputs"]
    data = {"y": given["y"], "s": given["score"], "amount": given["amount"]}
    return ss.evaluate(data, truth="y", scores="s", condition=STATED, **options)


def frauds(cases=2000, seed=0, prevalence=0.1):
    rng = np.random.default_rng(seed)
    label = (rng.random(cases) < prevalence).astype(int)
    z = rng.normal(size=(2, cases)) + 1.6 * label
    data = {"y": label, "amount": rng.lognormal(4, 1, cases)}
    odds = np.exp(-1.28 + np.log(prevalence / (1 - prevalence)) + 1.6 * z)
    return pd.DataFrame(data | {"a": odds[0] / (1 + odds[0]), "b": odds[1] / (1 + odds[1])})


@pytest.mark.parametrize("name", ["cost@0.3", "cost@0.5", "savings@0.3", "savings@0.5"])
def test_values_are_those_of_empulse(name):
    assert example().measures(name)[0].value == pytest.approx(EMPULSE["expected"][name])


def test_the_casewise_rule_costs_what_empulse_says():
    found = ss.decide(
        *(EMPULSE["inputs"][name] for name in ("y", "score")),
        **{"fp": 5, "fn": EMPULSE["inputs"]["amount"], "tp": 5},
        rule="casewise",
    )
    assert found.best.threshold == 0
    assert found.out_of_sample.value == pytest.approx(EMPULSE["expected"]["cost casewise Bayes"])


def test_sums_give_the_moments_of_single_cases():
    rng = np.random.default_rng(1)
    label, score, weight = rng.integers(0, 2, 400), rng.normal(size=400).round(1), rng.integers(1, 5, 400).astype(float)
    costs = CostColumns(CaseCosts(fp=2, fn="x", tn="g"), 2.0, rng.lognormal(0, 1, 400), 0.0, -rng.random(400))
    for options in ({}, {"weight": weight}, {"weight": weight, "copies": True}):
        table = cost_table(costs, label, score, **options)
        for pair in (((1, 0), (0, 1)), ((0.4, 0), (-0.6, 1))):
            listed, summed = (one.at(0.3).moments(*pair) for one in (table, table.as_sums()))
            np.testing.assert_allclose(summed, listed, rtol=1e-8)
    shards = [cost_table(costs.part(part), label[part], score[part]).as_sums() for part in np.split(np.arange(400), 4)]
    whole = cost_table(costs, label, score).as_sums()
    merged = shards[0] + shards[1] + shards[2] + shards[3]
    np.testing.assert_allclose(merged.at(0.0).moments((1, 0), (0, 1)), whole.at(0.0).moments((1, 0), (0, 1)))


def test_the_chosen_threshold_is_the_cheapest():
    data = frauds()
    found = ss.decide(data["y"], {"a": data["a"]}, fp=5, fn=data["amount"].to_numpy(), tp=5)
    costs = [np.where(data["a"] >= at, 5, data["y"] * data["amount"]).mean() for at in [*data["a"].unique(), np.inf]]
    assert found.best.cost_per_case == pytest.approx(min(costs))
    assert found.out_of_sample.value > found.best.cost_per_case
    assert found.out_of_sample.low < found.out_of_sample.value < found.out_of_sample.high


def test_equal_amounts_agree_with_one_cost():
    data = frauds().assign(amount=50.0)
    by_case = ss.evaluate(data, truth="y", scores=["a"], cost_fp=5, cost_fn="amount", cost_tp=5)
    shared = ss.evaluate(data, truth="y", scores=["a"], cost_fp=5, cost_fn=50, cost_tp=5)
    assert by_case.measures("cost@0.2")[0].value == pytest.approx(shared.measures("cost@0.2")[0].value)
    assert by_case.decide().best.threshold == pytest.approx(shared.decide().best.threshold)


def test_larger_than_memory_equals_in_memory():
    data = frauds()
    options = {"truth": "y", "scores": ["a"], "condition": STATED}
    inside = ss.evaluate(data, **options, settings={"memory": "1KB", "at": [0.2]})
    whole = ss.evaluate(data, **options)
    for name in ("cost@0.2", "savings@0.2"):
        one, other = inside.measures(name)[0], whole.measures(name)[0]
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_two_models_are_compared_case_by_case():
    data = frauds()
    ev = ss.evaluate(data, truth="y", scores=["a", "b"], condition=STATED)
    found = ev.compare("a", "b", measure="cost(fp=5, fn=amount, tp=5)@0.2")[0]
    losses = [np.where(data[name] >= 0.2, 5, data["y"] * data["amount"]) for name in "ab"]
    difference = losses[0] - losses[1]
    assert found.difference == pytest.approx(difference.mean())
    assert found.statistic == pytest.approx(difference.mean() / (difference.std(ddof=1) / np.sqrt(len(data))))


def test_two_equal_cases_of_a_group_count_once():
    once = frauds(600)
    twice = pd.concat([once] * 2, ignore_index=True).assign(card=[*range(600)] * 2)
    single = ss.evaluate(once, truth="y", scores="a", condition=STATED).measures("cost@0.2")[0]
    grouped = ss.evaluate(twice, truth="y", scores="a", condition=STATED, columns={"group": "card"})
    one = grouped.measures("cost@0.2")[0]
    assert (one.low, one.high) == pytest.approx((single.low, single.high))


def test_moments_of_groups_are_those_of_their_totals():
    value, group = np.arange(8.0), np.repeat(np.arange(4), 2)
    totals = moments_of_cases(value.reshape(4, 2).mean(axis=1))
    assert moments_of_cases(value, group=group)[1:] == pytest.approx(totals[1:])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"amount": lambda d: d["amount"].where(d["y"] == 1)}, "is empty for every case of class '0'"),
        ({"amount": lambda d: d["amount"].astype(str) + "x"}, "holds text, not costs"),
    ],
)
def test_unusable_costs_are_refused(change, said):
    with pytest.raises(ScoreSpaceError, match=said):
        ss.evaluate(frauds(200).assign(**change), truth="y", scores="a", condition=STATED)


def test_a_cost_known_only_after_the_outcome_decides_on_no_case():
    data = frauds().assign(amount=lambda d: d["amount"] * d["y"])
    condition = CaseCosts(fp=5, fn="amount", tp=5, rule="casewise")
    with pytest.raises(ScoreSpaceError, match="known before the outcome"):
        ss.evaluate(data, truth="y", scores="a", condition=condition).decide()


def test_few_cases_that_bear_the_cost_are_noted():
    ev = example()
    assert "SS045" in {note.code for note in ev.decide().notes}
    assert "rests on about" in ev.measures("cost@0.5")[0].reason


def test_the_other_sample_chooses():
    options = {"truth": "y", "scores": ["a", "b"], "condition": STATED}
    before, now = (ss.evaluate(frauds(seed=seed), **options) for seed in (1, 2))
    found = now.decide(fit=before)
    assert found.kind == "external"
    at = float(found.best.threshold)
    wanted = now.measures(f"cost@{at!r}", model=found.best.model)[0]
    assert found.out_of_sample.value == pytest.approx(wanted.value)


def test_evaluate_shows_the_cross_fitted_cost():
    ev = ss.evaluate(frauds(), truth="y", scores=["a", "b"], condition=STATED)
    assert "cost/case" in repr(ev)
    assert "savings" in ev.verdict

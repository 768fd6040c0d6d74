"""How sure a choice is: an interval on the threshold of least cost, and how often a dominated model stays so."""

import math
from dataclasses import replace

import numpy as np
import pytest

from scorespace.conditions import Condition
from scorespace.decisions import decide
from scorespace.decisions.choice import dominance_support, with_intervals
from scorespace.tables import confusion, score_table
from scorespace.tables.pair import pair_table

CONDITION = Condition(fp=1, fn=3)


def scored(size=200, seed=1, spread=1.0, **options):
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < 0.4
    return score_table(truth, rng.normal(truth, spread), **options)


MODELS = {"good": scored(spread=0.5), "fair": scored(), "rule": confusion([[60, 20], [30, 90]], positive=0)}
DECISION = decide(MODELS, CONDITION)


def bounded(models=MODELS, condition=CONDITION, **options):
    return with_intervals(decide(models, condition), models, **{"replicates": 500, **options})


def test_the_same_seed_gives_the_same_intervals():
    assert [choice.row() for choice in bounded(seed=7).choices] == [choice.row() for choice in bounded(seed=7).choices]
    few = {"replicates": 10}
    limits = [bounded(seed=seed, **few).choices[1].threshold_interval for seed in range(7, 10)]
    assert len(set(limits)) > 1


def test_all_else_stays():
    found = bounded()
    empty = {"threshold_interval": (math.nan, math.nan)}
    assert [replace(one, **empty).row() for one in found.choices] == [one.row() for one in DECISION.choices]
    found = replace(found, support={})
    assert (found.words, found.prevalence, found.hull) == (DECISION.words, DECISION.prevalence, DECISION.hull)


def test_a_higher_level_is_wider():
    def limits(level):
        return bounded(level=level).choices[1].threshold_interval

    assert limits(0.99)[0] <= limits(0.5)[0] <= limits(0.5)[1] <= limits(0.99)[1]


@pytest.mark.parametrize("model", ["good", "fair"])
def test_bounds_of_the_threshold_are_scores(model):
    chosen = next(one for one in bounded().choices if one.model == model)
    low, high = chosen.threshold_interval
    assert low <= chosen.threshold <= high
    assert {low, high} <= set(MODELS[model].thresholds)


def test_a_threshold_may_be_infinite():
    # Hardly informative scores and dear false alarms: in many replicates nothing should be called positive.
    models = {"weak": scored(spread=20)}
    low, high = bounded(models, Condition(fp=1, fn=1.2)).choices[0].threshold_interval
    assert high == math.inf
    assert low in models["weak"].score


def test_a_crisp_rule_has_an_interval_on_its_cost_only():
    chosen = bounded().choices[2]
    assert np.isnan(chosen.threshold_interval).all()
    assert chosen.honest.known


@pytest.mark.parametrize("table", [scored(weight=np.full(200, 0.5)), confusion([[6.5, 2], [3, 9]], positive=1)])
def test_fractional_weights_leave_the_intervals_undefined(table):
    chosen = bounded({"weighted": table}).choices[0]
    assert np.isnan(chosen.threshold_interval).all()
    assert not chosen.honest.known
    assert chosen.honest.reason == "the weights are not whole numbers, so cases cannot be kept apart"


def test_weights_that_are_whole_numbers_count_cases():
    chosen = bounded({"twice": scored(weight=np.full(200, 2.0))}).choices[0]
    assert np.isfinite(chosen.threshold_interval).all()
    assert chosen.honest.known


def test_progress_is_told():
    told = []
    bounded(replicates=50, progress=told.append)
    assert told == pytest.approx([1 / 3, 2 / 3, 1])


# --- dominated models


def dominated_by_hand(pos, neg, others):
    """Whether a curve reaches above others nowhere, over many slopes."""
    x = np.linspace(0, 1, 201)

    def reach(pos, neg):
        tpr, fpr = np.cumsum([0, *pos]) / np.sum(pos), np.cumsum([0, *neg]) / np.sum(neg)
        return np.max([x * t - (1 - x) * f for t, f in zip(tpr, fpr, strict=True)], axis=0)

    return bool((reach(pos, neg) <= np.max([reach(*one) for one in others], axis=0) + 1e-12).all())


def test_support_is_the_share_of_resamples_by_hand():
    rng = np.random.default_rng(3)
    truth = (rng.random(60) < 0.4).astype(int)
    scores = {"good": rng.integers(0, 6, 60) + 2 * truth, "weak": rng.integers(0, 6, 60) + truth}
    pairs = pair_table(truth, scores, positive=1)
    models = dict(zip(pairs.models, pairs.tables, strict=True))
    found = dominance_support(models, ["weak"], pairs=pairs, replicates=300, seed=5)["weak"]
    held = []
    for drawn in np.random.default_rng(5).integers(0, 60, (300, 60)):
        y = truth[drawn]
        of = {
            name: [
                [((np.array(s)[drawn] == v) & (y == label)).sum() for v in sorted(set(s), reverse=True)]
                for label in (1, 0)
            ]
            for name, s in scores.items()
        }
        held.append(dominated_by_hand(*of["weak"], [of["good"]]))
    assert 0 < found < 1
    assert found == pytest.approx(np.mean(held))


def test_a_rule_that_does_nothing_is_never_the_better_choice():
    idle = confusion([[0, 80], [0, 120]], positive=0)
    found = bounded({"rule": MODELS["rule"], "idle": idle})
    assert found.support == {"idle": 1.0}
    assert found.words.endswith("idle is never the better choice, whatever the costs: so it is in 100 % of resamples.")


def test_what_resamples_do_not_support_is_not_said():
    truth = [1, 1, 0, 1, 0, 0] * 3
    models = {
        "a": score_table(truth, [6, 5, 4, 3, 2, 1] * 3),
        "b": score_table(truth, [6, 4, 5, 3, 2, 1] * 3),
    }
    found = bounded(models)
    assert list(found.dominated) == ["b"]
    assert 0 < found.support["b"] < 0.9
    assert "never" not in found.words


def test_without_dominated_models_nothing_is_drawn():
    assert dominance_support(MODELS, []) == {}

"""How sure a choice is: intervals on the threshold of least cost and on its cost."""

import math
from dataclasses import replace

import numpy as np
import pytest

from scorespace.conditions import Condition
from scorespace.decisions import decide
from scorespace.decisions.choice import with_intervals
from scorespace.tables import confusion, score_table

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
    assert bounded(seed=7).choices[0].cost_interval != bounded(seed=8).choices[0].cost_interval


def test_all_else_stays():
    found = bounded()
    empty = {"threshold_interval": (math.nan, math.nan), "cost_interval": (math.nan, math.nan)}
    assert [replace(one, **empty).row() for one in found.choices] == [one.row() for one in DECISION.choices]
    assert (found.words, found.prevalence, found.hull) == (DECISION.words, DECISION.prevalence, DECISION.hull)


@pytest.mark.parametrize("model", MODELS)
def test_the_interval_holds_the_cost(model):
    chosen = next(one for one in bounded().choices if one.model == model)
    low, high = chosen.cost_interval
    assert low < chosen.cost_per_case < high


@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_width_of_the_interval_on_the_cost(prevalence):
    # Misses and false alarms are two independent binomials: 20 of 80 and 30 of 120.
    models = {"rule": MODELS["rule"]}
    share = 0.4 if prevalence is None else prevalence
    found = bounded(models, replace(CONDITION, prevalence=prevalence), replicates=4000).choices[0]
    sd = math.sqrt((share * 3) ** 2 * 0.25 * 0.75 / 80 + (1 - share) ** 2 * 0.25 * 0.75 / 120)
    low, high = found.cost_interval
    assert high - low == pytest.approx(2 * 1.96 * sd, rel=0.1)


def test_a_higher_level_is_wider():
    def width(level):
        low, high = bounded(level=level).choices[1].cost_interval
        return high - low

    assert width(0.5) < width(0.9) < width(0.99)


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
    assert np.isfinite(chosen.cost_interval).all()


@pytest.mark.parametrize("table", [scored(weight=np.full(200, 0.5)), confusion([[6.5, 2], [3, 9]], positive=1)])
def test_fractional_weights_leave_the_intervals_undefined(table):
    chosen = bounded({"weighted": table}).choices[0]
    assert np.isnan([*chosen.cost_interval, *chosen.threshold_interval]).all()


def test_weights_that_are_whole_numbers_count_cases():
    chosen = bounded({"twice": scored(weight=np.full(200, 2.0))}).choices[0]
    assert np.isfinite(chosen.cost_interval).all()


def test_progress_is_told():
    told = []
    bounded(replicates=50, progress=told.append)
    assert told == pytest.approx([1 / 3, 2 / 3, 1])

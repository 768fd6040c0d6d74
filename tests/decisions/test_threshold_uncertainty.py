"""How sure a choice is: an interval on the threshold of least cost, and how often a dominated model stays so."""

import math
from dataclasses import replace

import numpy as np
import pytest

from scorespace.costs import Condition
from scorespace.decisions import choose, decide
from scorespace.decisions.threshold_uncertainty import add_threshold_intervals, dominance_support, threshold_bounds
from scorespace.inference.bootstrap import BootstrapDraws, ReplicateRequest
from scorespace.inference.subsampling import MAX_JOINT_CASES, joint_sample
from scorespace.tables import confusion, score_table
from scorespace.tables.paired import pair_table

CONDITION = Condition(fp=1, fn=3)


def scored(size=200, seed=1, spread=1.0, **options):
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < 0.4
    return score_table(truth, rng.normal(truth, spread), **options)


MODELS = {"good": scored(spread=0.5), "fair": scored(), "rule": confusion([[60, 20], [30, 90]], positive=0)}
DECISION = choose(MODELS, CONDITION)


def bounded(models=MODELS, condition=CONDITION, level=0.95, **options):
    draws = BootstrapDraws(models, **{"replicates": 500, **options})
    return add_threshold_intervals(choose(models, condition), draws, level=level)


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
    found = add_threshold_intervals(decide(MODELS, CONDITION), BootstrapDraws(MODELS, replicates=10)).choices[2]
    assert np.isnan(found.threshold_interval).all()
    assert found.out_of_sample.known


@pytest.mark.parametrize("table", [scored(weight=np.full(200, 0.5)), confusion([[6.5, 2], [3, 9]], positive=1)])
def test_fractional_weights_leave_the_intervals_undefined(table):
    found = bounded({"weighted": table, "again": table})
    assert np.isnan([one.threshold_interval for one in found.choices]).all()
    assert found.support == {}


def test_weights_that_are_whole_numbers_count_cases():
    chosen = bounded({"twice": scored(weight=np.full(200, 2.0))}).choices[0]
    assert np.isfinite(chosen.threshold_interval).all()


def cases(size, seed=2):
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < 0.4
    good = rng.normal(truth, 1)
    return truth, {"good": good, "worse": good + rng.normal(0, 2, size)}


def by_hand(truth, score, drawn, condition):
    """The threshold of least cost of every sample, the highest of equal ones."""
    cuts = np.append(np.inf, np.sort(np.unique(score))[::-1])
    y, called = truth[drawn][..., None], score[drawn][..., None] >= cuts
    cost = (condition.fp * (called & ~y) + condition.fn * (~called & y)).sum(axis=1)
    return cuts[np.argmin(cost, axis=1)]


def test_limits_are_quantiles_of_the_thresholds_chosen_on_samples_drawn_by_hand():
    truth, scores = cases(60)
    pairs = pair_table(truth, scores, positive=True)
    models = dict(zip(pairs.models, pairs.tables, strict=True))
    limits = threshold_bounds(BootstrapDraws(models, pairs), ["good"], CONDITION)["good"]
    drawn = np.random.default_rng(5).integers(0, 60, (2000, 60))
    again = np.sort(by_hand(truth, scores["good"], drawn, CONDITION))
    # Another draw: the shares of its thresholds outside are the tails, as nearly as 2000 of them tell.
    assert np.mean(again < limits[0]) <= 0.035 <= np.mean(again <= limits[0]) + 0.02
    assert np.mean(again > limits[1]) <= 0.035 <= np.mean(again >= limits[1]) + 0.02


def test_thresholds_and_dominance_come_from_the_draw_of_the_measures():
    truth, scores = cases(300)
    pairs = pair_table(truth, scores, positive=True)
    models = dict(zip(pairs.models, pairs.tables, strict=True))
    draws = BootstrapDraws(models, pairs, replicates=50)
    decision = choose(models, CONDITION)
    add_threshold_intervals(decision, draws)

    def kept():
        """What was drawn: of each model for its threshold, of all joint_sample for dominance, each in one way."""
        sources = [*draws.sources.values(), *draws.joint.sources.values()]
        return [{piece: id(drawn) for piece, drawn in way.items()} for one in sources for way in one.drawn.values()]

    before = kept()
    assert len(before) == len(models) + 1
    add_threshold_intervals(choose(models, Condition(fp=2, fn=1)), draws)
    assert kept() == before


def test_of_condensed_scores_limits_are_scores_still_and_hold_the_threshold():
    truth, scores = cases(3000)
    pairs = pair_table(truth, scores, positive=True)
    models = dict(zip(pairs.models, pairs.tables, strict=True))
    draws = BootstrapDraws(models, pairs, replicates=200)
    assert draws.source("good").is_reduced
    for one in add_threshold_intervals(choose(models, CONDITION), draws).choices:
        low, high = one.threshold_interval
        assert {low, high} <= set(models[one.model].thresholds)
        assert low <= one.threshold <= high


def test_a_part_of_the_cases_draws_no_thresholds():
    # 12 000 cases in groups of two: every second group is drawn, from which thresholds spread too much.
    truth, scores = cases(MAX_JOINT_CASES + 2000)
    pairs = pair_table(truth, scores, positive=True, group=np.arange(truth.size) // 2)
    models = dict(zip(pairs.models, pairs.tables, strict=True))
    draws = BootstrapDraws(models, pairs, replicates=100)
    assert draws.source("good").scale < 1
    alone = BootstrapDraws({"good": models["good"]}, replicates=100)
    assert threshold_bounds(draws, ["good"], CONDITION)["good"] == threshold_bounds(alone, ["good"], CONDITION)["good"]


def test_groups_are_drawn_whole():
    truth, scores = cases(50)
    times = 8
    pairs = pair_table(
        np.repeat(truth, times),
        {name: np.repeat(one, times) for name, one in scores.items()},
        positive=True,
        group=np.repeat(np.arange(50), times),
    )
    models = dict(zip(pairs.models, pairs.tables, strict=True))

    def width(draws):
        low, high = threshold_bounds(draws, ["good"], CONDITION)["good"]
        return high - low

    # Eight copies of a case tell no more than one.
    once = pair_table(truth, scores, positive=True)
    single = BootstrapDraws(dict(zip(once.models, once.tables, strict=True)), once)
    assert width(BootstrapDraws(models, pairs)) == pytest.approx(width(single), rel=0.25)
    assert width(BootstrapDraws(models, replace(pairs, group=None))) < 0.8 * width(single)


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
    draws = BootstrapDraws(models, pairs, replicates=300, seed=5)
    found = dominance_support(draws, list(models), ["weak"])["weak"]
    held = []
    for times in joint_sample(pairs).drawer(within=False).draw(_stream(draws), 300):
        drawn = np.repeat(np.arange(60), times)
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


def _stream(draws):
    """The random numbers of the first piece of a draw from all cases."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence([draws.seed, 0]).spawn(1)[0]))


def test_of_the_same_cases_more_is_said_than_of_models_drawn_apart():
    truth, scores = cases(400)
    pairs = pair_table(truth, scores, positive=True)
    models = dict(zip(pairs.models, pairs.tables, strict=True))
    side_by_side, apart = (
        dominance_support(draws, list(models), ["worse"])["worse"]
        for draws in (BootstrapDraws(models, pairs, replicates=300), BootstrapDraws(models, replicates=300))
    )
    assert apart < side_by_side


def test_a_rule_that_does_nothing_is_never_the_better_choice():
    idle = confusion([[0, 80], [0, 120]], positive=0)
    found = bounded({"rule": MODELS["rule"], "idle": idle})
    assert found.support == {"idle": 1.0}
    assert found.words.endswith(
        "idle is never the better choice, whatever the costs: dominated in 100 % of bootstrap replicates."
    )


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
    draws = BootstrapDraws(MODELS)
    assert dominance_support(draws, list(MODELS), []) == {}
    assert not draws.kept


def test_with_a_stated_prevalence_cases_are_drawn_within_classes():
    table = scored(60)
    share = float(table.n_pos / table.total)

    def spread(drawn):
        return drawn.counts.sum(axis=-1)[..., 0]

    sizes = BootstrapDraws({"m": table}).all(
        [ReplicateRequest("m", f"positives {within}", spread, within=within) for within in (True, False)]
    )
    assert [np.ptp(one) > 0 for one in sizes] == [False, True]
    found = {}
    for within in (True, False):
        draws, condition = BootstrapDraws({"m": table}), Condition(fp=1, fn=3, prevalence=share if within else None)
        threshold_bounds(draws, ["m"], condition)
        found[within] = [one.within for one in draws.kept]
    assert found == {True: [True], False: [False]}

"""Outcomes as they may be, also of decisions by rank."""

import math

import numpy as np
import pytest
from scipy import stats

from scorespace.errors import MeasureError
from scorespace.inference.estimate import estimate
from scorespace.inference.interval import applicable_methods
from scorespace.inference.jeffreys import jeffreys_limits
from scorespace.inference.proportion import wilson
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.tables import score_table


def ranked(rng, cases, share, gap):
    truth = rng.random(cases) < share
    return score_table(truth, rng.normal(size=cases) + gap * truth, positive=True)


@pytest.mark.parametrize("name", ["ppv", "tpr", "f1", "lift"])
def test_a_cut_by_rank_is_covered(name):
    # A slice of a simulation: 92 to 99 % of 300 samples of 100 to 2 000 cases, where Wilson's interval of ppv has 90 %.
    rng = np.random.default_rng(4)
    spec = parse(f"{name}@top10%")
    truth = bind(spec, ranked(rng, 400_000, 0.2, 2.0)).value
    found = [estimate(spec, ranked(rng, 200, 0.2, 2.0), replicates=400) for _ in range(120)]
    assert np.mean([one.low <= truth <= one.high for one in found]) > 0.9
    assert {one.method for one in found} == {"jeffreys"}


def test_a_cut_by_rank_moves_with_the_cases():
    # The share of positives in the top p varies as p · E[(Y − η)²] − p² (ppv − η)² over p², η the rate at the cut.
    rng = np.random.default_rng(5)
    table = ranked(rng, 20_000, 0.3, 1.5)
    cut = table.cut(parse("ppv@top20%").at)
    value = bind(parse("ppv@top20%"), table).value
    near = (table.score > cut - 0.1) & (table.score < cut + 0.1)
    rate = table.pos[near].sum() / table.counts[:, near].sum()
    error = math.sqrt((value * (1 - value) + 0.8 * (value - rate) ** 2) / 0.2 / 20_000)
    found = estimate(parse("ppv@top20%"), table)
    assert (found.high - found.low) / (2 * 1.96 * error) == pytest.approx(1, abs=0.08)


def test_a_share_by_rank_has_no_wilson_interval():
    table = score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7])
    assert "wilson" not in applicable_methods(bind(parse("ppv@top50%"), table))
    with pytest.raises(MeasureError, match="method='wilson' does not suit ppv@top50%"):
        estimate(parse("ppv@top50%"), table, method="wilson")


def test_so_many_by_rank_are_a_share_of_what_is_drawn():
    table = score_table([1, 0, 1, 0] * 10, list(range(40)))
    request = bind(parse("tpr@top10"), table)
    assert request.on(table.with_cells(table.cells * 3)) == request.value
    whole = estimate(parse("pp_rate@top10"), table, method="bootstrap")
    assert whole.low == pytest.approx(0.25)
    assert whole.high == pytest.approx(0.25)


@pytest.mark.parametrize("of", ["0", "1"])
def test_a_cut_by_rank_is_the_same_seen_from_either_class(of):
    rng = np.random.default_rng(6)
    truth = (rng.random(300) < 0.3).astype(int)
    table = score_table(truth, rng.normal(size=300) + truth)
    one, other = (estimate(parse(text), table) for text in (f"mcc[{of}]@top20%", "mcc@top20%"))
    assert [one.value, one.low, one.high] == pytest.approx([other.value, other.low, other.high], abs=0.02)


# --- weights


def test_a_share_of_classes_that_weigh_differently_is_a_share_of_their_cases():
    # Of cases weighed by class alone, the odds of a share are those of a beta variable times the ratio of the weights.
    hits, alarms, per_hit, per_alarm = 14, 9, 1.0, 20.0
    truth = np.repeat([1, 1, 0, 0], [hits, 6, alarms, 40])
    score = np.repeat([0.9, 0.1, 0.9, 0.1], [hits, 6, alarms, 40])
    table = score_table(truth, score, weight=np.where(truth == 1, per_hit, per_alarm))
    found = estimate(parse("ppv@0.5"), table, replicates=20_000)
    share = stats.beta.ppf([0.025, 0.975], hits + 0.5, alarms + 0.5)
    expected = per_hit * share / (per_hit * share + per_alarm * (1 - share))
    assert (found.low, found.high) == pytest.approx(tuple(expected), rel=0.02)
    assert found.method == "jeffreys"
    sensitivity = estimate(parse("tpr@0.5"), table)  # within a class all weigh alike
    assert (sensitivity.low, sensitivity.high) == pytest.approx(wilson(hits, hits + 6))


def sampled(rng, design):
    """A sample of which the low scores, or the negatives, are thinned out and weigh more."""
    cases, share = (1000, 0.1) if design == "verified" else (2000, 0.05)
    truth = rng.random(cases) < share
    score = rng.normal(size=cases) + 1.5 * truth
    chance = np.where(score > 0.75, 1.0, 0.1) if design == "verified" else np.where(truth, 1.0, 0.05)
    kept = rng.random(cases) < chance
    return score_table(truth[kept], score[kept], positive=True, weight=1 / chance[kept])


@pytest.mark.parametrize(
    ("design", "name"), [("verified", "tpr"), ("verified", "bacc"), ("case-control", "ppv"), ("case-control", "f1")]
)
def test_weights_that_depend_on_score_or_class_are_covered(design, name):
    # By the effective sample size tpr was held in 76 %, ppv in 98 to 100 % or, at higher thresholds, in 75 %.
    rng, share = np.random.default_rng(6), 0.1 if design == "verified" else 0.05
    above, alarms = stats.norm.sf(0.75 - 1.5), stats.norm.sf(0.75)
    truths = {
        "tpr": above,
        "bacc": (above + 1 - alarms) / 2,
        "ppv": share * above / (share * above + (1 - share) * alarms),
        "f1": 2 * share * above / (share * above + (1 - share) * alarms + share),
    }
    found = [estimate(parse(f"{name}@0.75"), sampled(rng, design)) for _ in range(200)]
    assert 0.91 <= np.mean([one.low <= truths[name] <= one.high for one in found]) <= 0.99


def test_weights_without_relation_to_outcomes_are_covered_too():
    rng, held = np.random.default_rng(7), 0
    for _ in range(200):
        truth = rng.random(200) < 0.3
        score = rng.normal(size=200) + truth
        one = estimate(parse("tpr@0.5"), score_table(truth, score, positive=True, weight=rng.lognormal(0, 1, 200)))
        held += one.low <= stats.norm.cdf(0.5) <= one.high
    assert held >= 0.91 * 200


def test_an_outcome_that_was_not_seen_weighs_like_its_like():
    # Nothing was missed, but one in ten of the low scores was looked at: a miss would have weighed ten.
    truth, score = np.repeat([1, 0, 0], [60, 20, 70]), np.repeat([0.9, 0.9, 0.1], [60, 20, 70])
    light, heavy = (
        estimate(parse("tpr@0.5"), score_table(truth, score, weight=np.where(score > 0.5, 1.0, weight)))
        for weight in (1.0, 10.0)
    )
    assert 1 - heavy.low > 4 * (1 - light.low)


def test_along_many_places_the_limits_are_those_of_each():
    rng = np.random.default_rng(3)
    truth = rng.random(150) < 0.4
    score, weight = (rng.normal(size=150) + truth).round(1), rng.exponential(size=150)
    table = score_table(truth, score, positive=True, weight=weight)
    counts = table.sweep[np.array([3, 10, 20])]
    request = bind(parse("mcc@0.5"), table)
    for seed in (0, 1):
        low, high = jeffreys_limits(request, counts.cells, 0.95, seed, squares=counts.cell_squares)
        for place, at in enumerate(table.thresholds[[3, 10, 20]]):
            one = estimate(parse(f"mcc@{float(at)}"), table, seed=seed)
            assert (low[place], high[place]) == pytest.approx((one.low, one.high))

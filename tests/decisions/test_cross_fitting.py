"""Thresholds chosen on some cases and judged on others."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scorespace as ss
from scorespace.costs import Condition
from scorespace.decisions import best_value, crossfit, decide, least_cost
from scorespace.decisions.cross_fitting import (
    NOT_WHOLE,
    TOO_FEW_CASES,
    argmin_price,
    condensed_rows,
    cost_paths,
    split_cases,
)
from scorespace.measures import parse
from scorespace.tables import confusion, score_table
from scorespace.tables.paired import pair_table

CONDITION = Condition(fp=1, fn=3)
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@st.composite
def small(draw, models=1):
    """Labels with at least two of each class, and scores with ties."""
    labels = [1, 1, 0, 0, *draw(st.lists(st.integers(0, 1), max_size=8))]
    scores = st.lists(st.integers(0, 6), min_size=len(labels), max_size=len(labels))
    return labels, [draw(scores) for _ in range(models)]


def sample(cases=300, seed=0, shifts=(1.0, 0.5), prevalence=0.4):
    rng = np.random.default_rng(seed)
    truth = (rng.random(cases) < prevalence).astype(int)
    return truth, {f"m{k}": rng.normal(size=cases) + shift * truth for k, shift in enumerate(shifts)}


def outcomes(truth, alarms):
    truth, alarms = np.asarray(truth) == 1, np.asarray(alarms)
    return [
        int((alarms & truth).sum()),
        int((alarms & ~truth).sum()),
        int((~alarms & truth).sum()),
        int((~alarms & ~truth).sum()),
    ]


def cost(tp, fp, fn, tn, weight=(1.0, 1.0)):
    return (fp * weight[1] + 3 * fn * weight[0]) / ((tp + fn) * weight[0] + (fp + tn) * weight[1])


def chosen_by_hand(truth, score, left_out, stratified):
    """The highest threshold of least cost without one case, and its cost, by trying all."""
    kept = [k for k in range(len(truth)) if k != left_out]
    y, s = np.array(truth)[kept], np.array(score)[kept]
    weight = (1.0, 1.0)
    if stratified:
        weight = (np.sum(truth) / y.sum(), (len(truth) - np.sum(truth)) / (len(y) - y.sum()))
    prices = {t: cost(*outcomes(y, s >= t), weight) for t in (np.inf, *sorted(set(score), reverse=True))}
    lowest = min(prices.values())
    return next((t, price) for t, price in prices.items() if price <= lowest + 1e-9)


# --- by hand: with as many folds as cases each is left out alone, whatever the seed


@pytest.mark.parametrize("stratified", [False, True])
@given(small())
@settings(max_examples=40)
def test_each_case_left_out_alone(stratified, given_sample):
    truth, (score,) = given_sample
    alarms = [score[k] >= chosen_by_hand(truth, score, k, stratified)[0] for k in range(len(truth))]
    table = score_table(truth, score, positive=1)
    found = crossfit({"m": table}, least_cost(CONDITION), folds=len(truth), repeats=3, stratified=stratified).chosen
    counts = found.counts
    assert [counts.tp, counts.fp, counts.fn, counts.tn] == outcomes(truth, alarms)
    assert found.outcomes.tp.shape == (3,)


@given(small(models=2))
@settings(max_examples=40)
def test_the_model_is_chosen_without_the_case_too(given_sample):
    truth, scores = given_sample
    alarms, alone = [], [[], []]
    for k in range(len(truth)):
        best = [chosen_by_hand(truth, score, k, False) for score in scores]
        winner = 0 if best[0][1] <= best[1][1] + 1e-12 else 1
        alarms.append(scores[winner][k] >= best[winner][0])
        for m in (0, 1):
            alone[m].append(scores[m][k] >= best[m][0])
    pairs = pair_table(truth, dict(zip("ab", scores, strict=True)), positive=1)
    models = dict(zip("ab", pairs.tables, strict=True))
    found = crossfit(models, least_cost(CONDITION), pairs=pairs, folds=len(truth), repeats=2)
    counts = found.chosen.counts
    assert [counts.tp, counts.fp, counts.fn, counts.tn] == outcomes(truth, alarms)
    for m, name in enumerate("ab"):
        expected = cost(*outcomes(truth, alone[m])) - cost(*outcomes(truth, alarms))
        assert found.over(name, CONDITION).value == pytest.approx(expected)


@given(small())
@settings(max_examples=25)
def test_pairs_and_tables_agree(given_sample):
    truth, (score,) = given_sample
    pairs = pair_table(truth, {"m": score}, positive=1)
    rule = best_value(parse("youden"))
    by_case = crossfit({"m": pairs.tables[0]}, rule, pairs=pairs, folds=len(truth))
    assert by_case.chosen.counts == crossfit({"m": pairs.tables[0]}, rule, folds=len(truth)).chosen.counts


# --- folds


@pytest.mark.parametrize("stratified", [False, True])
def test_every_case_is_judged_once_in_every_repeat(stratified):
    truth, scores = sample()
    found = crossfit({"m": score_table(truth, scores["m0"], positive=1)}, least_cost(CONDITION), stratified=stratified)
    assert set(found.chosen.outcomes.p) == {truth.sum()}
    assert set(found.chosen.outcomes.n) == {300 - truth.sum()}


def test_folds_are_even_and_within_classes_too():
    truth, scores = sample(cases=103)
    pairs = pair_table(truth, scores, positive=1)
    for within, parts in ((False, [truth >= 0]), (True, [truth == 1, truth == 0])):
        fold = split_cases(pairs, within, 5, 10, np.random.default_rng(0))
        for part in parts:
            sizes = np.stack([np.bincount(one, minlength=10) for one in fold[:, part]])
            assert sizes.max() - sizes.min() <= 1
    assert not (fold[0] == fold[1]).all()


def test_related_cases_stay_together_and_widen_the_interval():
    truth, scores = sample(cases=60)
    group = np.repeat(np.arange(60), 5)
    pairs = pair_table(np.repeat(truth, 5), {"m": np.repeat(scores["m0"], 5)}, positive=1, group=group)
    fold = split_cases(pairs, False, 4, 10, np.random.default_rng(0))
    assert (fold.reshape(4, 60, 5) == fold[:, ::5, None]).all()
    found = crossfit({"m": pairs.tables[0]}, least_cost(CONDITION), pairs=pairs).chosen
    assert found.spread == pytest.approx(5 * 10 / 9)  # five copies of every case; folds share their choices


def test_the_same_seed_gives_the_same_numbers():
    truth, scores = sample()
    models = {"m": score_table(truth, scores["m0"], positive=1)}
    values = [crossfit(models, least_cost(CONDITION), seed=seed).chosen.cost(CONDITION) for seed in (1, 1, 2)]
    assert values[0] == values[1] != values[2]


# --- few and odd cases


def test_a_single_case_of_a_class_leaves_nothing_to_choose_on():
    found = crossfit({"m": score_table([1, 0, 0], [3, 2, 1])}, least_cost(CONDITION))
    assert found.chosen.reason == found.models["m"].reason == TOO_FEW_CASES
    assert not found.chosen.cost(CONDITION).known


def test_two_cases_of_a_class_are_enough():
    found = crossfit({"m": score_table([1, 0, 1, 0], [4, 3, 2, 1])}, least_cost(CONDITION))
    assert found.chosen.cost(CONDITION).known


def test_fractional_weights_cannot_be_split():
    table = score_table([1, 0, 1, 0], [4, 3, 2, 1], weight=[0.5, 1, 1, 1])
    assert crossfit({"m": table}, least_cost(CONDITION)).chosen.reason == NOT_WHOLE


def test_a_decision_is_not_chosen():
    rule = confusion([[60, 20], [30, 90]], positive=0)
    found = crossfit({"rule": rule}, least_cost(CONDITION)).chosen
    assert [float(getattr(found.counts, side)) for side in ("tp", "fp", "fn", "tn")] == [60, 30, 20, 90]
    assert found.outcomes.tp.std() == 0


def test_a_decision_that_is_never_positive_among_pairs():
    pairs = pair_table([1, 0, 1, 0], {"idle": [0, 0, 0, 0], "s": [4, 3, 2, 1]}, positive=1)
    models = {"idle": confusion([1, 0, 1, 0], [0, 0, 0, 0], positive=1), "s": pairs.tables[1]}
    assert crossfit(models, least_cost(CONDITION), pairs=pairs).models["idle"].counts.pp == 0


# --- many cases


def test_few_positives_among_many_keep_their_rows():
    rng = np.random.default_rng(0)
    truth = np.zeros(60_000, dtype=int)
    truth[:20] = 1
    table = score_table(truth, rng.normal(size=60_000) + 4 * truth)
    row, rows = condensed_rows(table)
    assert rows < 2100
    held = np.bincount(row, weights=table.pos + table.neg)[row[table.pos > 0]]
    assert (held == 1).all()


def test_merged_scores_hardly_change_the_cost():
    truth, scores = sample(cases=40_000, shifts=(1.0,))
    table = score_table(truth, scores["m0"], positive=1)
    fine = decide({"m": table}, CONDITION)
    assert fine.out_of_sample.value == pytest.approx(fine.best.cost_per_case, rel=0.01)


@pytest.mark.parametrize("cases", [90_000, 250_000])
def test_the_honest_cost_of_very_many_cases(cases):
    # Beyond 100 000 cases folds are of random size; either way the apparent cost is all but honest.
    truth, scores = sample(cases=cases, shifts=(1.0, 1.0))
    pairs = pair_table(truth, scores, positive=1)
    models = dict(zip(pairs.models, pairs.tables, strict=True))
    apparent = decide({"m0": models["m0"]}, CONDITION)
    assert apparent.out_of_sample.value == pytest.approx(apparent.best.cost_per_case, rel=0.005)
    together = crossfit(models, least_cost(CONDITION), pairs=pairs)
    assert together.models["m0"].cost(CONDITION).value == pytest.approx(apparent.out_of_sample.value, rel=0.005)


# --- what is promised, on a small slice of the simulation in benchmarks/honest.py


@pytest.fixture
def simulation(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import honest

    yield honest
    for name in ("honest", "rounds"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("shape", ["binormal", "ties", "skewed"])
def test_the_honest_cost_is_near_the_true_one_and_the_apparent_is_not(simulation, shape):
    found = simulation.simulate(simulation.SHAPES[shape], 0.3, 100, 120)
    assert abs(found.bias) < 4 * found.error
    assert found.apparent < 0.95 * found.true
    assert found.of_threshold > 0.8


@pytest.mark.parametrize("shape", ["t", "wide"])
def test_other_shapes_are_judged_as_honestly(simulation, shape):
    found = simulation.simulate(simulation.OTHERS[shape], 0.3, 100, 80)
    assert abs(found.bias) < 4 * found.error
    assert found.of_procedure > 0.8


@pytest.mark.parametrize("cases", [100, 500])
def test_noise_is_not_recommended(simulation, cases):
    assert simulation.simulate(simulation.SHAPES["noise"], 0.3, cases, 100).recommended <= 0.1


def test_a_good_model_is_recommended(simulation):
    assert simulation.simulate(simulation._binormal(3.0), 0.3, 500, 40).recommended > 0.95


def test_the_simulation_makes_its_tables(simulation):
    cells = [("binormal", 0.5, 40), ("t", 0.5, 40)]
    found = {cell: simulation.honest_costs.run(cell, np.random.default_rng(1), 5, 0) for cell in cells}
    assert [line[:22] for line in simulation.in_full(found).splitlines()[2:]] == ["| binormal | 0.5 | 40 |"[:22]]
    assert [line.split(" | ")[0] for line in simulation.in_short(found).splitlines()[2:]] == ["| binormal", "| t"]


# --- the least


def test_of_equal_prices_the_first_and_of_undefined_ones_any_other():
    assert int(argmin_price(np.zeros(3), np.array([np.nan, 0.2, 0.2]))) == 1
    assert int(argmin_price(np.array([0.1, 0.0, 0.0]), np.array([0.0, 9.0, 8.0]))) == 2
    assert int(argmin_price(np.array([1.0, 0.5]), np.array([np.nan, np.nan]))) == 1


# --- under all costs at once


@pytest.mark.parametrize("prevalence", [None, 0.05, 0.6])
@pytest.mark.parametrize("paired", [True, False])
def test_paths_hold_what_crossfit_finds_under_any_costs(prevalence, paired):
    chance = np.random.default_rng(8)
    truth = (chance.random(300) < 0.35).astype(int)
    data = {"y": truth, "a": chance.normal(truth, 1).round(1), "b": chance.normal(truth, 2)}
    models = ss.evaluate(data, truth="y", scores=["a", "b"]).models
    pairs = models.pairs if paired else None
    within = prevalence is not None
    found = cost_paths(models.deciding, pairs=pairs, stratified=within)
    positives = float(truth.sum())
    for ratio in (0.01, 0.3, 1.0, 1.5, 2.0, 5.0, 17.3, 400.0):
        condition = ss.Condition(fp=1, fn=ratio, prevalence=prevalence)
        judged = crossfit(models.deciding, least_cost(condition), pairs=pairs, stratified=within).models
        worth = ratio if prevalence is None else ratio * prevalence * (300 - positives) / ((1 - prevalence) * positives)
        for name, path in found.items():
            place = np.searchsorted(path.worth * (1 + 1e-10), worth)
            assert path.tp[place] == pytest.approx(float(judged[name].counts.tp), abs=1e-9)
            assert path.fp[place] == pytest.approx(float(judged[name].counts.fp), abs=1e-9)


def test_a_path_of_very_many_changes_keeps_the_choice_behind_each_that_stays():
    path = cost_paths({"a": score_table([1, 1, 0, 1, 0, 0] * 20, list(range(6, 0, -1)) * 20)})["a"]
    assert path.thinned(path.worth.size) is path
    thin = path.thinned(2)
    assert thin.worth.tolist() == path.worth[[0, -1]].tolist()
    for worth, place in zip(thin.worth, range(2), strict=True):
        assert thin.fp[place] == path.fp[np.searchsorted(path.worth, worth)]
    assert thin.tp[-1] == path.tp[-1]

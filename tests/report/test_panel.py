"""The operating point: which thresholds are kept, and that what is said is what users get elsewhere."""

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scorespace as ss
from scorespace.curves.hull import edges_of
from scorespace.evaluation.operating_panel import MAX_CLASSES
from scorespace.evaluation.operating_points import encode_points
from scorespace.evaluation.panel_measures import encode_array
from scorespace.evaluation.panel_thresholds import (
    MAX_THRESHOLDS,
    TOP_BUTTONS,
    button_indices,
    describe_ties,
    select_thresholds,
    top_index,
)


def sample(size, seed=0, share=0.3):
    chance = np.random.default_rng(seed)
    truth = (chance.random(size) < share).astype(int)
    return truth, 1 / (1 + np.exp(-chance.normal(1.5 * truth - 1, 1)))


@pytest.fixture(scope="module")
def large():
    return ss.score_table(*sample(60_000))


def test_of_few_thresholds_all_are_kept():
    table = ss.score_table(*sample(500))
    assert select_thresholds(table, 0.5).tolist() == list(range(501))


def test_of_many_no_hull_corner_and_no_pixel_is_lost(large):
    kept = select_thresholds(large, 0.5)
    assert kept.size <= MAX_THRESHOLDS
    assert set(edges_of(large).end + 1) <= set(kept.tolist())
    assert {0, large.score.size} <= set(kept.tolist())
    counts = large.sweep
    for side in (counts.tp / counts.tp[-1], counts.fp / counts.fp[-1]):
        assert np.diff(side[kept]).max() < 1 / 400  # of a plot of 400 pixels
    assert {top_index(large, top) for top in ("1%", "200")} <= set(kept.tolist())


def test_the_top_flags_no_more_than_asked(large):
    assert float(large.sweep.pp[top_index(large, "1%")]) == 600
    assert float(large.sweep.pp[top_index(large, "200")]) == 200
    tied = ss.score_table([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1])
    assert float(tied.sweep.pp[top_index(tied, "2")]) == 1  # the two in the middle cannot be told apart


@given(st.lists(st.integers(0, 5), min_size=2, max_size=400), st.sampled_from(["1%", "10%", "200"]))
def test_a_tie_is_told_where_no_threshold_flags_just_so_many(scores, top):
    table = ss.score_table([0, 1] * (len(scores) // 2) + [1] * (len(scores) % 2), scores)
    most = min(200, len(scores)) if top == "200" else len(scores) * int(top[:-1]) // 100
    flagged = [0, *(sum(score >= at for score in scores) for at in sorted(set(scores), reverse=True))]
    words = describe_ties(table, top)
    assert bool(words) == (most not in flagged)
    if words:
        below, beyond = max(n for n in flagged if n < most), min(n for n in flagged if n > most)
        assert f" {below} case" in words
        assert f", {beyond} with them" in words
        assert {flagged.index(below), flagged.index(beyond)} <= set(button_indices(table))


def test_ties_are_told_of_bins_as_bins():
    table = ss.score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    start = "No threshold selects exactly the 2 highest scores: 1 case without those"
    assert describe_ties(table, "2") == f"{start} tied at 0.4, 3 with them."
    coarse = ss.score_table([1, 0, 1, 0], [0.9, 0.4, 0.4001, 0.1]).rounded(46)
    assert describe_ties(coarse, "2") == f"{start} in the bin from 0.4, 3 with them."
    assert describe_ties(table, "1") == ""


def test_arrays_survive_packing():
    values = np.array([np.inf, 0.25, np.nan])
    kind, code = encode_array(values).split()
    assert kind == "f8"
    assert np.array_equal(np.frombuffer(base64.b64decode(code), "<f8"), values, equal_nan=True)


def test_measures_at_a_stated_prevalence_are_those_of_the_evaluation():
    truth, score = sample(800)
    data, costs = {"y": truth, "s": score}, ss.Condition(fn=4, prevalence=0.1)
    ev = ss.evaluate(data, truth="y", scores="s", condition=costs, measures="tpr, fpr, ppv, f1")
    found, (one,) = ev.operating, ev.operating.models
    at = float(one.threshold[300])
    said = found.texts(0, 300, at, prevalence=0.1)
    for k, name in enumerate(("tpr", "fpr", "ppv", "f1")):
        assert said[f"measure {k}"] == ev.measures(f"{name}@{at!r}")[0].text
    choice = ev.decision.choices[0]
    assert found.initial_texts()["cross_fitted"] == f"{choice.out_of_sample.value:.3f}"
    assert found.initial_texts()["cost"] == f"{choice.cost_per_case:.3f}"


def test_weighted_cases_have_the_intervals_of_their_weights():
    truth, score = sample(400)
    weight = np.random.default_rng(3).uniform(0.5, 2, 400)
    ev = ss.evaluate({"y": truth, "s": score, "w": weight}, truth="y", scores="s", weight="w")
    (one,) = ev.operating.models
    at = float(one.threshold[100])
    said = ev.operating.texts(0, 100, at)
    assert said["measure 0"] == ev.measures(f"tpr@{at!r}")[0].text
    assert said["cross_fitted"] == "–"  # such cases cannot be kept apart


def test_costs_keep_their_unit_and_what_right_decisions_cost():
    truth, score = sample(300)
    condition = ss.Condition(fp=100, fn=2000, tp=-50, tn=10)
    ev = ss.evaluate({"y": truth, "s": score}, truth="y", scores="s", condition=condition)
    (choice,) = ev.decision.choices
    assert ev.operating.initial_texts()["cost"] == f"{choice.cost_per_case:.1f}".replace("-", "−")
    assert ev.operating.initial_texts()["cross_fitted"] == f"{choice.out_of_sample.value:.1f}".replace("-", "−")


def test_cases_of_groups_in_bins_all_count_where_they_do_not_choose(tmp_path):
    truth, score = sample(20_000)
    rows = zip(truth, score.round(2), np.arange(truth.size) % 40, strict=True)
    data = tmp_path / "data.csv"
    data.write_text("y,s,g\n" + "".join(f"{y},{s},{g}\n" for y, s, g in rows))
    ev = ss.evaluate(data, truth="y", scores="s", group="g", memory="1kB")
    assert ev.models.pairs.times is not None
    (one,) = ev.operating.models
    assert one.cross_fitted[0].tp[-1] > 0.95 * one.positives  # where misses cost most, all are flagged but a few
    assert one.cross_fitted[0].fp[-1] > 0.95 * one.negatives


def test_decisions_have_a_single_point():
    truth, score = sample(300)
    data = {"y": truth, "s": score, "d": (score > 0.4).astype(int)}
    ev = ss.evaluate(data, truth="y", scores="s", decisions="d")
    crisp = ev.operating.models[1]
    assert crisp.kept.tolist() == [1]
    said = ev.operating.texts(1, 0, crisp.at)
    assert said["threshold"] == "–"
    assert said["measure 0"] == ev.measures("tpr", model="d")[0].text


def test_without_scores_or_without_both_classes_there_is_nothing_to_move():
    assert ss.evaluate({"y": [0, 1, 1], "d": [0, 1, 0]}, truth="y", decisions="d").operating is None
    assert ss.evaluate({"y": [1, 1, 1], "s": [0.1, 0.2, 0.3]}, truth="y", scores="s", positive=1).operating is None


def test_of_too_many_classes_the_page_says_which_are_left_out():
    chance = np.random.default_rng(0)
    truth = np.arange(300) % 15
    score = chance.dirichlet(np.ones(15), 300)
    found = ss.evaluate({"m": ss.class_table([f"c{k:02}" for k in truth], score)}).operating
    assert len(found.models) == MAX_CLASSES
    assert "'m[c12]', 'm[c13]', 'm[c14]'" in found.left_out


def test_simulated_limits_are_exact_where_buttons_lead_and_near_elsewhere():
    truth, score = sample(900)
    ev = ss.evaluate({"y": truth, "s": score}, truth="y", scores="s", condition=ss.Condition(fn=4), measures="mcc")
    (one,) = ev.operating.models
    mcc = next(each for each in one.measures if each.spec.name == "mcc")
    led = [one.index_at(one.at), *(int(np.searchsorted(one.kept, top_index(one.table, top))) for top in TOP_BUTTONS)]
    for place in (*led, 333, 601):
        held = ev.measures(f"mcc@{float(one.threshold[place])!r}")[0]
        near = 1e-12 if place in led else 0.01
        assert (mcc.low[place], mcc.high[place]) == pytest.approx((held.low, held.high), abs=near)
    price = ev.measures(f"cost(fp=1, fn=4)@{one.at!r}")[0]
    place = one.index_at(one.at)
    assert (one.cost.low[place], one.cost.high[place]) == pytest.approx((price.low, price.high), abs=1e-12)


def test_what_depends_on_costs_is_told_by_the_panel_itself():
    truth, score = sample(200)
    data = {"y": truth, "s": score}
    ev = ss.evaluate(data, truth="y", scores="s", condition=ss.Condition(fn=4), measures="cost, nec, tpr")
    assert [each.spec.name for each in ev.operating.models[0].measures] == ["tpr", "tnr", "ppv", "npv"]


def test_thresholds_of_rated_scores_are_in_the_units_of_the_scale():
    evaluation = ss.evaluate(
        {"y": [0, 1, 0, 1, 1], "points": [2, 5, 4, 9, 7]}, truth="y", scores="points", scale=(0, 10)
    )
    found = evaluation.operating
    one = found.models[0]
    assert found.texts(0, one.index_at(0.5), 0.5)["threshold"] == "5"  # a score of the sample
    assert found.texts(0, one.index_at(0.45), 0.45)["threshold"] == "4.5"  # typed
    assert encode_points(one)["scale"] == (0, 10)


def test_without_intervals_the_page_says_why():
    truth, score = sample(300)
    ev = ss.evaluate({"y": truth, "s": score, "g": np.arange(300) % 30}, truth="y", scores="s", group="g")
    assert "because cases are grouped or repeated" in ev.operating.without_intervals
    plain = {"y": truth, "s": score}
    assert ss.evaluate(plain, truth="y", scores="s").operating.without_intervals == ""
    for method, reason in {"any-look": "those by any-look are of stated thresholds", "none": "asked for"}.items():
        ev = ss.evaluate(plain, truth="y", scores="s", settings={"interval": method})
        assert reason in ev.operating.without_intervals

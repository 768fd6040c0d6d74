"""The model and threshold of least cost under an operating condition."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

import scorespace as ss
from laws.strategies import samples
from scorespace.costs import Condition
from scorespace.decisions import choose, decide, evaluate_on
from scorespace.errors import ConditionError, DataError
from scorespace.tables import confusion, score_table


def crisp(tp, fp, fn, tn):
    return confusion([[tp, fn], [fp, tn]], classes=["broken", "fine"], positive="broken")


VALVES = {"c1": crisp(300, 500, 200, 99_000), "c2": crisp(0, 0, 500, 99_500), "c3": crisp(400, 5400, 100, 94_100)}
TRUTH = [1, 1, 0, 1, 0, 0]
TABLE = score_table(TRUTH, [0.9, 0.8, 0.7, 0.4, 0.3, 0.1])


# --- the valve of the lecture


def test_the_valve():
    found = decide(VALVES, Condition(fp=100, fn=2000))
    assert found.best.model == "c1"
    assert found.slope == pytest.approx(9.95)
    assert_allclose([choice.cost_per_case for choice in found.choices], [4.5, 10, 7.4])
    assert_allclose([choice.relative_cost for choice in found.choices], [0.45, 1, 0.74])
    assert list(found.dominated) == ["c2"]


def test_the_valve_in_words():
    assert repr(decide(VALVES, Condition(fp=100, fn=2000))) == (
        "Use c1: cross-fitted cost of choosing model 4.500 per case [3.982, 5.095] (apparent 4.500). That is 2 900 per "
        "1 000 less than c3, 5 500 per 1 000 less than c2 and 5 500 per 1 000 less than predicting every case to be "
        "fine "
        "[4 857, 6 219]."
    )


def test_the_valve_where_more_are_broken():
    # At 5 % the slope is 0.95, below 199/49 where c3 takes over from c1.
    found = decide(VALVES, Condition(fp=100, fn=2000, prevalence=0.05))
    rates = {"c1": (500 / 99_500, 0.4), "c2": (0, 1), "c3": (5400 / 99_500, 0.2)}
    assert found.best.model == "c3"
    assert found.slope == pytest.approx(0.95)
    for choice in found.choices:
        fpr, fnr = rates[choice.model]
        assert choice.relative_cost == pytest.approx(fnr + 0.95 * fpr)
        assert choice.cost_per_case == pytest.approx(0.05 * 2000 * fnr + 0.95 * 100 * fpr)


def test_the_valve_where_hardly_any_is_broken():
    # At 0.04 % the slope is 124.95, above 119.4: no classifier pays.
    found = decide(VALVES, Condition(fp=100, fn=2000, prevalence=0.0004))
    assert found.slope == pytest.approx(124.95)
    assert found.words.startswith(
        "Use no model: predicting every case to be fine: 0.800 per case. That is the same as c2 ["
    )


def test_ranges_of_the_valve():
    found = decide(VALVES, Condition(fp=100, fn=2000))
    slopes = [119.4, 199 / 49, 199 / 941]
    names, low, high = zip(*found.model_ranges(), strict=True)
    assert names == ("always negative", "c1", "c3", "always positive")
    assert_allclose(low, [*slopes, 0])
    assert_allclose(high, [math.inf, *slopes])
    # With one broken in 200, c1 and c3 cost the same when a miss costs 199·49/199 = 49 false alarms.
    assert found.cost_ratio(slopes[1]) == pytest.approx(49)
    assert found.cost_ratio(0) == math.inf


def test_a_crisp_classifier_has_no_threshold():
    best = decide(VALVES, Condition(fp=100, fn=2000)).best
    assert math.isnan(best.threshold)
    assert math.isnan(best.calibrated_threshold)
    assert (best.counts.tp, best.counts.fp, best.counts.fn, best.counts.tn) == (300, 500, 200, 99_000)


# --- thresholds


@pytest.mark.parametrize(
    ("fp", "fn", "threshold", "above", "cost"),
    [
        (10, 1, 0.8, 0.7, 1 / 6),  # one positive missed
        (1, 10, 0.4, 0.3, 1 / 6),  # one false alarm
        (1, 1, 0.8, 0.7, 1 / 6),  # as cheap as at 0.4: the fewer alarms
    ],
)
def test_least_cost_threshold(fp, fn, threshold, above, cost):
    best = decide({"nb": TABLE}, Condition(fp=fp, fn=fn)).best
    assert (best.threshold, best.above) == (threshold, above)
    assert best.cost_per_case == pytest.approx(cost)


def test_rounding_does_not_decide_between_equal_costs():
    # Three misses at 0.1 are as dear as a false alarm at 0.3, though not in floating point.
    assert 3 * 0.1 > 0.3
    table = score_table([1, 1, 1, 1, 0, 0], [0.9, 0.3, 0.3, 0.3, 0.3, 0.1])
    assert decide({"nb": table}, Condition(fp=0.3, fn=0.1)).best.threshold == 0.9


@given(samples(both=True))
@settings(max_examples=50)
def test_thresholds_in_the_interval_decide_alike(sample):
    table = sample.table()
    chosen = decide({"nb": table}, Condition(fp=1, fn=2)).choices[0]
    low, high = max(chosen.above, -1.0), min(chosen.threshold, 2.0)
    tried = (*np.linspace(low, high, 7), np.nextafter(low, high))
    inside = [t for t in tried if chosen.above < table.in_precision(t) and t <= chosen.threshold]
    assert all(table.at(t) == chosen.counts for t in (chosen.threshold, *inside))
    if chosen.above > -math.inf:
        assert table.at(chosen.above) != chosen.counts


def test_all_positive_has_no_lower_bound():
    best = decide({"nb": TABLE}, Condition(fp=1, fn=1, prevalence=0.999)).choices[0]
    assert best.above == 0.3  # all positives are found at 0.4 already
    best = decide({"nb": score_table([0, 1], [0.9, 0.1])}, Condition(fp=1, fn=9)).choices[0]
    assert (best.threshold, best.above) == (0.1, -math.inf)


def test_closed_form_threshold_and_its_cost():
    # 1/(1 + 4) = 0.2 alarms on five of six, two of them falsely; the best threshold 0.4 costs one false alarm.
    chosen = decide({"nb": TABLE}, Condition(fp=1, fn=4)).choices[0]
    assert chosen.calibrated_threshold == pytest.approx(0.2)
    assert chosen.calibrated_cost == pytest.approx(2 / 6)
    assert chosen.cost_per_case == pytest.approx(1 / 6)


def test_closed_form_threshold_at_another_prevalence():
    # Odds in use of 1/4 (costs) at 1 positive to 3: in a balanced sample odds of 3/4.
    chosen = decide({"nb": TABLE}, Condition(fp=1, fn=4, prevalence=0.25)).choices[0]
    assert chosen.calibrated_threshold == pytest.approx(3 / 7)


def test_scores_that_are_no_probabilities_have_no_closed_form():
    chosen = decide({"svm": score_table(TRUTH, [3, 2, 1, 0, -1, -2])}, Condition()).choices[0]
    assert math.isnan(chosen.calibrated_threshold)
    assert math.isnan(chosen.calibrated_cost)


# --- ties and trivial rules


def test_equal_costs_go_to_the_first_model():
    assert decide({"a": TABLE, "b": TABLE}, Condition()).best.model == "a"
    assert decide({"b": TABLE, "a": TABLE}, Condition()).best.model == "b"


def test_costs_of_the_trivial_rules():
    found = decide(VALVES, Condition(fp=100, fn=2000, tp=-5, tn=1))
    assert [choice.model for choice in found.trivial] == ["always negative", "always positive"]
    assert_allclose(
        [choice.cost_per_case for choice in found.trivial],
        [0.005 * 2000 + 0.995 * 1, 0.995 * 100 - 0.005 * 5],
    )


def test_a_model_that_decides_nothing_is_no_model():
    # The highest score is a negative's and false alarms are dear: nobody should be called positive.
    found = decide({"nb": score_table([0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.2, 0.1])}, Condition(fp=5, fn=1))
    assert found.best.model == "always negative"
    assert found.hull.best(found.slope).model == found.best.model


# --- what it says


# Twenty times 1 1 0 1 0 0: so often that no fold moves the threshold, which makes one false alarm of six cases.
STEADY = score_table(TRUTH * 20, [0.9, 0.8, 0.7, 0.4, 0.3, 0.1] * 20)


def test_words_of_a_scored_model():
    # 20 false alarms and 40 left alone of 120 cases, and no miss; folds share their choices, so that intervals are
    # those of nine tenths as many. Wilson's: 18 of 108 are 0.108 to 0.248, 36 of 108 are 0.251 to 0.427, and 0 of 108
    # up to 0.0343, five times as dear. 0.167 + √(0.081² + 0.172²) = 0.357, and 0.333 − √(0.082² + 0.172²) = 0.143.
    found = decide({"nb": STEADY}, Condition(fp=1, fn=5))
    assert found.words == (
        "Use nb at threshold 0.4: cross-fitted cost 0.167 per case [0.108, 0.357] (apparent 0.167). "
        "That is 333 per 1 000 less than predicting every case to be positive [143, 427]."
    )
    assert found.shown
    assert found.recommended is found.best


def test_words_where_a_model_is_not_shown_to_pay():
    # Left out alone, each of the two lowest positives makes the others choose a threshold above it.
    found = decide({"nb": TABLE}, Condition(fp=1, fn=10))
    assert found.words.startswith(
        "nb is not clearly better than predicting every case to be positive, which costs 0.500 per case. nb at "
        "threshold 0.4 "
        "has cross-fitted cost 1.833 "
    )
    assert " (apparent 0.167): 1 333 per 1 000 more than that [" in found.words
    assert found.best.model == "nb"
    assert found.recommended.model == "always positive"
    assert found.to_dict()["recommended"] == "always positive"


def test_words_of_several_models_of_which_none_is_shown_to_pay():
    words = decide({"a": TABLE, "b": TABLE}, Condition(fp=1, fn=10)).words
    assert words.startswith(
        "No model is clearly better than predicting every case to be positive, which costs 0.500 per case. The cheap"
    )


def test_a_small_gain_may_be_nothing():
    rng = np.random.default_rng(2)
    truth = (rng.random(150) < 0.3).astype(int)
    found = decide({"nb": score_table(truth, rng.normal(truth), positive=1)}, Condition(fp=1, fn=5))
    assert found.gain.low <= 0 < found.gain.value
    assert found.words.endswith(", which is not significant.")


def test_equal_costs_are_not_zero_less():
    words = decide({"a": STEADY, "b": STEADY}, Condition(fp=1, fn=5)).words
    assert "the same as b" in words
    assert " 0 per 1 000" not in words


def test_a_chosen_threshold_is_noted_with_what_it_flatters():
    (note,) = decide({"nb": TABLE}, Condition()).notes
    assert note.code == "SS013"
    assert note.text == (
        "the threshold of nb was chosen on these cases, so values at it are apparent: cross-fitted cost 0.500 per case "
        "[0.262, 0.967] (apparent 0.167)."
    )
    assert decide(VALVES, Condition(fp=100, fn=2000)).notes == ()


def test_a_chosen_threshold_that_cannot_be_judged():
    found = decide({"nb": score_table([1, 0, 0], [0.9, 0.5, 0.1])}, Condition())
    assert found.words == (
        "nb is not clearly better than predicting every case to be negative, which costs 0.333 per case. nb at "
        "threshold 0.9 "
        "has apparent cost 0.000 per case; the out-of-sample cost is unknown: a class has fewer than two cases, so "
        "there are none to choose a threshold on."
    )
    assert found.notes[0].text == (
        "the threshold of nb was chosen on these cases, so values at it are apparent; the out-of-sample cost is "
        "unknown: a class has fewer than two cases, so there are none to choose a threshold on."
    )


def test_outcomes_per_thousand_are_for_the_stated_prevalence():
    # All positives are found, and a third of the negatives raise an alarm.
    found = decide({"nb": STEADY}, Condition(fp=1, fn=5, prevalence=0.1))
    best = found.best
    assert found.per_thousand(best) == pytest.approx({"tp": 200 / 3, "fp": 0, "fn": 100 / 3, "tn": 900})
    assert found.rows()[0]["tp_per_1000"] == pytest.approx(200 / 3)
    assert found.rows()[0]["tp"] == 40


# --- chosen on one sample, judged on another


def test_judged_on_another_sample():
    # Chosen at 0.4; there, scores of 0.9 and 0.5 are positives, 0.6 and 0.45 negatives, 0.2 a positive: two of three
    # positives found and both negatives alarmed.
    other = score_table([1, 1, 1, 0, 0], [0.9, 0.5, 0.2, 0.6, 0.45])
    chosen = choose({"nb": TABLE}, Condition(fp=1, fn=5))
    found = evaluate_on(chosen, {"nb": other}, fitted="spring.csv")
    assert (found.best.threshold, found.out_of_sample.value) == (0.4, pytest.approx((2 + 5) / 5))
    assert found.gain.value == pytest.approx(2 / 5 - 7 / 5)
    given = found.to_dict()
    assert [given[name] for name in ("tp", "fp", "fn", "tn")] == [2, 2, 1, 0]
    assert (given["fitted"], given["cross_fitted_cost"]) == ("spring.csv", pytest.approx(7 / 5))
    assert given["cost_per_case"] == pytest.approx(1 / 6)
    assert "nb at threshold 0.4, chosen on spring.csv has external cost 1.400 per case [" in found.words
    assert "(apparent 0.167)" in found.words
    assert found.notes == ()


def test_a_model_that_the_other_sample_lacks():
    with pytest.raises(DataError) as caught:
        evaluate_on(choose({"nb": TABLE}, Condition()), {"tree": TABLE}, fitted="spring.csv")
    assert (
        str(caught.value)
        == "there is no model 'nb' in the second sample.\n  seen: tree\n  hint: the same columns in both samples"
    )


def test_dictionary():
    given = decide(VALVES, Condition(fp=100, fn=2000)).to_dict()
    assert given["schema"] == 1
    assert (given["model"], given["threshold"], given["slope"]) == ("c1", None, pytest.approx(9.95))
    assert (given["tp"], given["fp"], given["fn"], given["tn"]) == (300, 500, 200, 99_000)
    assert given["cost_per_case"] == pytest.approx(4.5)
    assert [one["model"] for one in given["dominated"]] == ["c2"]
    assert set(given["regions"][0]) == {"model", "slope_low", "slope_high", "threshold"}
    assert [row["model"] for row in given["rows"]] == ["c1", "c2", "c3", "always negative", "always positive"]


# --- refusals


def test_no_models():
    with pytest.raises(DataError, match=r"model to decide between\."):
        decide({}, Condition())


def test_one_class_only():
    with pytest.raises(ConditionError) as caught:
        decide({"nb": score_table([0, 0], [0.1, 0.2])}, Condition())
    assert (
        str(caught.value)
        == "a decision needs cases of both classes.\n  seen: one class only\n  hint: cases of the other class, too"
    )


def test_several_classes_without_a_positive_one():
    table = confusion(np.eye(3), classes=["a", "b", "c"])
    with pytest.raises(ConditionError) as caught:
        decide({"nb": table}, Condition())
    assert str(caught.value) == (
        "nb decides between 3 classes without a positive one.\n"
        "  hint: a cost matrix (--costs FILE.csv) for multiclass models, or state the positive class"
    )


# --- coarse scores


@given(sample=samples(both=True))
@settings(max_examples=40)
def test_no_order_inside_bins_costs_less_than_is_certified(sample):
    table, condition = sample.unweighted(), Condition(fp=1, fn=3)
    coarse = choose({"a": table.rounded(50)}, condition).choices[0]
    low, high = coarse.certified
    assert low - 1e-12 <= choose({"a": table}, condition).choices[0].cost_per_case <= high + 1e-12
    exact = table.at(coarse.threshold)
    assert float(condition.fp * exact.fp + condition.fn * exact.fn) == pytest.approx(high * float(table.total))


def test_a_note_says_what_the_bins_leave_open():
    tied = choose({"a": TABLE.rounded(52)}, Condition(fp=1, fn=3)).notes
    assert tied[-1].text == (
        "scores were binned: costs at the thresholds shown are exact, and no other threshold of a costs less."
    )
    wide = score_table(TRUTH, [0.91, 0.9, 0.7, 0.41, 0.4, 0.1]).rounded(51)
    assert choose({"a": wide}, Condition(fp=1, fn=3)).notes[-1].text.endswith(" costs less by more than 0.2 per case.")


def test_the_former_name_of_out_of_sample_costs_works_with_a_warning():
    found = ss.decide([1, 0, 1, 0] * 5, [0.9, 0.4, 0.6, 0.7] * 5, fp=1, fn=5)
    with pytest.warns(FutureWarning, match="out_of_sample"):
        assert found.honest == found.out_of_sample
    given = found.to_dict()
    assert given["honest_cost"] == given["cross_fitted_cost"]

"""The best threshold and model under constraints."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.strategies import samples
from scorespace.decisions import Constraint, best_threshold, choose_under, evaluate_choice_on
from scorespace.errors import MeasureError
from scorespace.measures import find, parse
from scorespace.measures.confusion import youden
from scorespace.results import decimals
from scorespace.tables import confusion, score_table
from scorespace.tables.threshold import threshold_text

TABLE = score_table([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.4, 0.3, 0.1])
WEAK = score_table([1, 1, 0, 1, 0, 0], [0.9, 0.2, 0.7, 0.1, 0.3, 0.8])


def at_least(text, bound):
    return Constraint(parse(text), bound)


def at_most(text, bound):
    return Constraint(parse(text), bound, least=False)


# --- by brute force

PAIRS = [
    ("ppv", "tpr", True),
    ("tpr", "fpr", False),
    ("fpr", "tpr", True),
    ("f1", "pp_rate", False),
    ("youden", "ppv", True),
    ("cost(fp=2, fn=5)", "fdr", False),
    ("corner", "tnr", True),
]


def value(spec, counts):
    return float(spec.measure(counts, **dict(spec.options)))


@pytest.mark.parametrize(("objective", "bounded", "least"), PAIRS)
@given(sample=samples(both=True), bound=st.sampled_from([0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]))
@settings(max_examples=25)
def test_best_of_all_thresholds_that_keep_the_bound(objective, bounded, least, sample, bound):
    table, wanted, limited = sample.table(), parse(objective), parse(bounded)
    sign = 1 if wanted.measure.best == "high" else -1
    values = []
    for threshold in table.thresholds:
        reached = value(limited, table.at(threshold))
        kept = reached >= bound - 1e-12 if least else reached <= bound + 1e-12
        if kept and not math.isnan(value(wanted, table.at(threshold))):
            values.append(sign * value(wanted, table.at(threshold)))
    best = choose_under({"nb": table}, wanted, [Constraint(limited, bound, least)]).best
    if not values:
        assert best is None
        return
    assert sign * best.value == max(values)
    assert table.at(best.threshold) == best.counts
    assert best.reached == (value(limited, best.counts),)


@given(samples(both=True), st.sampled_from([0.5, 0.9, 1.0]), st.sampled_from([0, 0.1, 0.3]))
@settings(max_examples=50)
def test_the_nearest_misses_by_least(sample, tpr, fpr):
    table = sample.table()
    bounds = [at_least("tpr", tpr), at_most("fpr", fpr)]
    found = choose_under({"nb": table}, parse("ppv"), bounds)
    c = table.sweep
    missed = np.maximum(np.maximum(tpr - c.tp / c.p, c.fp / c.n - fpr), 0)
    near = found.nearest
    assert max(tpr - near.reached[0], near.reached[1] - fpr, 0) == pytest.approx(missed.min(), abs=1e-12)
    assert near.kept == (missed.min() <= 1e-12)


@given(samples(both=True))
@settings(max_examples=25)
def test_without_constraints_the_best_threshold(sample):
    found = choose_under({"nb": sample.table()}, parse("youden")).best
    assert found.value == best_threshold(sample.table(), youden).value


# --- by hand


def test_highest_precision_of_those_that_find_all():
    best = choose_under({"nb": TABLE, "weak": WEAK}, parse("ppv"), [at_least("tpr", 1)]).best
    assert (best.model, best.threshold, best.value) == ("nb", 0.4, 0.75)


# Twenty times the same cases: no fold moves a threshold.
MANY = score_table([1, 1, 0, 1, 0, 0] * 20, [0.9, 0.8, 0.7, 0.4, 0.3, 0.1] * 20)
MANY_WEAK = score_table([1, 1, 0, 1, 0, 0] * 20, [0.9, 0.2, 0.7, 0.1, 0.3, 0.8] * 20)


def test_words():
    # 60 of 80 alarms are right and 60 of 60 positives found: Wilson's intervals of nine tenths as many.
    found = choose_under({"nb": MANY, "weak": MANY_WEAK}, parse("ppv"), [at_least("tpr", 1)])
    assert repr(found) == (
        "Use nb at threshold 0.4: cross-fitted ppv 0.750 [0.639, 0.836] (apparent 0.750), the best among those with "
        "tpr ≥ 1; weak reaches 0.500. The bound: cross-fitted tpr 1.000 [0.934, 1.000] (apparent 1.000)."
    )


def test_words_where_the_model_was_chosen_too():
    # Two models that are noise: whichever seems best here, on other cases it is as likely to be the worse one.
    source = np.random.default_rng(4)
    truth = source.random(60) < 0.5
    models = {name: score_table(truth, source.random(60)) for name in "ab"}
    found = choose_under(models, parse("acc"))
    (best,) = (one for one in found.candidates if one is found.best)
    (other,) = (one for one in found.candidates if one is not found.best)
    own, whole = decimals(best.out_of_sample.value), decimals(found.out_of_sample.value)
    assert own != whole
    at = threshold_text(best.threshold)
    assert found.words.startswith(f"Use {best.model} at threshold {at}: cross-fitted acc {own} [")
    assert f"the best; {other.model} reaches {decimals(other.out_of_sample.value)}. " in found.words
    assert f"With the model chosen too, cross-fitted acc {whole} [" in found.words
    assert found.notes[0].text.startswith(
        f"the threshold of {best.model} was chosen on these cases, so values at it are apparent: "
        f"cross-fitted acc {own} ["
    )


def test_words_where_other_cases_tell_another_story():
    # Left out alone, the positive at 0.4 is missed, and so is a tenth of all.
    found = choose_under({"nb": TABLE}, parse("ppv"), [at_least("tpr", 1)])
    assert found.words.startswith("Use nb at threshold 0.4: cross-fitted ppv ")
    assert "(apparent 0.750)" in found.words
    assert found.notes[0].text.endswith("(apparent 0.750).")


def test_words_where_a_model_fails():
    # weak finds one positive above its first false alarm, then none before three.
    models = {"weak": MANY_WEAK, "nb": MANY}
    found = choose_under(models, parse("tpr"), [at_least("tpr", 0.5), at_most("fpr", 0.1)])
    assert found.words.startswith("Use nb at threshold 0.8: cross-fitted tpr 0.667 [")
    assert found.words.endswith(" No threshold of weak satisfies tpr ≥ 0.5 and fpr ≤ 0.1.")


def test_judged_on_another_sample():
    chosen = choose_under({"nb": TABLE}, parse("ppv"), [at_least("tpr", 1)])
    other = score_table([1, 1, 1, 0, 0], [0.9, 0.5, 0.2, 0.6, 0.1])
    found = evaluate_choice_on(chosen, {"nb": other}, fitted="spring.csv")
    assert (found.out_of_sample.value, found.held[0].value) == pytest.approx((2 / 3, 2 / 3))
    assert found.words.startswith("Use nb at threshold 0.4, chosen on spring.csv: external ppv 0.667 [")
    assert "(apparent 0.750)" in found.words
    assert found.notes == ()


def test_nothing_satisfies():
    found = choose_under({"nb": TABLE}, parse("ppv"), [at_least("tpr", 1), at_most("fpr", 0.1)])
    assert found.best is None
    assert found.words == (
        "No threshold of any model satisfies tpr ≥ 1 and fpr ≤ 0.1. "
        "The nearest is nb at threshold 0.4, with tpr 1.000, fpr 0.333."
    )
    given = found.to_dict()
    assert (given["model"], given["threshold"], given["verdict"]) == (None, None, found.words)
    assert found.notes == ()


def test_an_undefined_objective_is_not_an_unsatisfied_bound():
    # Only predicting nothing has no false alarms here, and then precision is undefined.
    table = score_table([0, 1, 0], [0.9, 0.5, 0.1])
    found = choose_under({"nb": table}, parse("ppv"), [at_most("fpr", 0)])
    assert found.best is None
    assert found.words == "ppv is undefined at every threshold with fpr ≤ 0."


def test_undefined_values_are_not_chosen():
    # tpr ≥ 0 holds everywhere; ppv is undefined at +inf only.
    assert choose_under({"nb": TABLE}, parse("ppv"), [at_least("tpr", 0)]).best.threshold == 0.9


def test_a_model_whose_objective_is_undefined_is_not_named_as_second():
    bounds = [at_most("fpr", 0)]
    found = choose_under({"nb": TABLE, "bad": score_table([0, 1, 0], [0.9, 0.5, 0.1])}, parse("ppv"), bounds)
    assert "bad" not in found.words


def test_an_undefined_bound_is_not_kept():
    # Precision is undefined at +inf, so that threshold satisfies no bound on it, not even 0.
    best = choose_under({"nb": TABLE}, parse("fpr"), [at_least("ppv", 0)]).best
    assert best.threshold == 0.9


@pytest.mark.parametrize(("found", "cases", "bound"), [(27, 30, 0.9), (7, 10, 0.7), (3, 10, 0.3), (29, 50, 0.58)])
def test_a_bound_is_kept_by_the_same_share(found, cases, bound):
    table = score_table([1] * cases + [0], [1] * found + [0] * (cases - found) + [0])
    best = choose_under({"nb": table}, parse("ppv"), [at_least("tpr", bound)]).best
    assert (best.threshold, best.value) == (1, 1)
    misses = choose_under({"nb": table}, parse("ppv"), [at_most("fnr", 1 - bound)]).best
    assert (misses.threshold, misses.value) == (1, 1)


def test_crisp_models_have_no_threshold():
    crisp = confusion([[8, 2], [1, 9]], classes=["p", "n"], positive="p")
    found = choose_under({"rule": crisp}, parse("ppv"), [at_least("tpr", 0.8)])
    assert math.isnan(found.best.threshold)
    assert found.best.value == pytest.approx(8 / 9)
    assert found.notes == ()
    # Wilson's interval of 8 of 9.
    assert found.words == "Use rule: ppv 0.889 [0.565, 0.980], the best among those with tpr ≥ 0.8."
    assert choose_under({"rule": crisp}, parse("ppv"), [at_least("tpr", 0.9)]).words == (
        "No threshold of any model satisfies tpr ≥ 0.9. The nearest is rule, with tpr 0.800."
    )


def test_youden_and_the_corner_are_different_rules():
    # (0, 0.6) has J 0.6 and distance 0.4; (0.3, 0.8) has J 0.5 and distance √0.13 ≈ 0.36.
    scores = [3] * 6 + [2] * 2 + [1] * 2 + [2] * 3 + [1] * 7
    table = score_table([1] * 10 + [0] * 10, scores)
    assert choose_under({"nb": table}, parse("youden")).best.threshold == 3
    assert choose_under({"nb": table}, parse("corner")).best.threshold == 2
    assert best_threshold(table, find("corner")).value == pytest.approx(math.sqrt(0.13))


# --- refusals


def refusal(objective, *constraints):
    with pytest.raises(MeasureError) as caught:
        choose_under({"nb": TABLE}, parse(objective), constraints)
    return str(caught.value)


def test_an_objective_without_direction_is_refused():
    assert (
        refusal("pp_rate") == "pp_rate has no best value: neither direction is better.\n"
        '  hint: a measure with a best end, such as maximise="ppv"'
    )


@pytest.mark.parametrize("text", ["auc", "ppv@0.5", "f1[macro]"])
def test_only_measures_of_decisions_at_the_threshold_to_be_found(text):
    expected = f"{text} cannot be chosen by threshold.\n  hint: a measure of decisions, such as tpr or ppv"
    assert refusal(text) == expected
    assert refusal("ppv", at_least(text, 0.5)) == expected


# --- rows


def test_rows_and_dictionary():
    found = choose_under({"nb": TABLE, "weak": WEAK}, parse("ppv"), [at_least("tpr", 1)])
    expected = {
        "model": "nb",
        "threshold": 0.4,
        "value": 0.75,
        "kept": True,
        "tpr": 1.0,
        "tp": 3.0,
        "fp": 1.0,
        "fn": 0.0,
        "tn": 2.0,
    }
    assert expected.items() <= found.rows()[0].items()
    assert {"cross_fitted_value", "cross_fitted_low", "cross_fitted_high", "cross_fitted_tpr"} <= set(found.rows()[0])
    given = found.to_dict()
    assert (given["schema"], given["model"], given["threshold"], given["tp"], given["fp"]) == (1, "nb", 0.4, 3, 1)
    assert [note["code"] for note in given["notes"]] == ["SS013"]


# --- scores counted in bins


@pytest.mark.parametrize(("objective", "bounded", "least"), PAIRS)
@given(
    sample=samples(both=True), bits=st.sampled_from([52, 51, 49]), bound=st.sampled_from([0, 0.25, 0.5, 0.75, 0.9, 1])
)
@settings(max_examples=12)
def test_no_threshold_of_the_cases_goes_beyond_what_is_certified(objective, bounded, least, sample, bits, bound):
    table, wanted, limit = sample.table(), parse(objective), Constraint(parse(bounded), bound, least)
    (found,) = choose_under({"nb": table.rounded(bits)}, wanted, [limit]).candidates
    (true,) = choose_under({"nb": table}, wanted, [limit]).candidates
    if not true.kept or math.isnan(true.value):
        return
    assert found.certified is not None
    low, high = found.certified
    if not math.isnan(low):
        assert low - 1e-12 <= true.value <= high + 1e-12
    if found.kept and not math.isnan(found.value):
        assert found.value in (low, high) or math.isnan(low)


def test_what_bins_leave_open_of_a_choice_is_told():
    coarse = score_table([1, 0, 1, 0] * 30, [0.9, 0.41, 0.4, 0.1] * 30).rounded(51)
    choice = choose_under({"nb": coarse}, parse("ppv"), [at_least("tpr", 0.9)])
    assert choice.rows()[0]["certified_high"] == 1.0
    assert choice.notes[-1].text == (
        "scores were binned: values at the threshold of nb are exact, and no other that meets the constraints "
        "has ppv above 0.666667 by more than 0.3."
    )
    exact = choose_under({"nb": TABLE}, parse("ppv"), [at_least("tpr", 0.9)])
    assert "certified_low" not in exact.rows()[0]

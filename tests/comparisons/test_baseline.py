"""Changes since a baseline: the tests of two samples, adjusted together, in words that say no more than is known."""

import math

import numpy as np
import pytest
from scipy.stats import chi2_contingency, norm

import scorespace as ss
from scorespace.comparisons.baseline import Baseline, _prevalence_p, baseline_changes
from scorespace.comparisons.multiple_testing import holm
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import Estimate, estimates
from scorespace.measures import parse
from scorespace.tables import score_table


def sample(seed, *, lift=1.0, size=400, share=0.3):
    rng = np.random.default_rng(seed)
    truth = (rng.random(size) < share).astype(int)
    return score_table(truth, 1 / (1 + np.exp(-rng.normal(lift * truth, 1))).round(3))


def weights(table):
    return dict(zip(table.classes, table.class_totals.tolist(), strict=True))


def changed(now, then, measures="auc, brier, tpr@0.5", **more):
    share = more.pop("prevalence", None)
    specs = [parse(name.strip()).for_prevalence(share) for name in measures.split(",")]
    draws = BootstrapDraws({"nb": now})
    found = estimates({"nb": specs}, draws, level=0.95, method=None, strict=False)
    change_text = {"classes": weights(now), "leads": {"nb": specs[0]}} | more
    return baseline_changes(then, {"nb": found}, lambda model: draws, **change_text)


def before(table, **more):
    return Baseline("e.json", "2026-11-03", {"nb": table}, classes=weights(table), positive="1", **more)


def test_each_is_the_test_of_two_samples_and_all_are_adjusted_together():
    now, then = sample(1, lift=0.6), sample(2, lift=1.4)
    found = changed(now, before(then))
    alone = [ss.compare_samples(now, then, name) for name in ("auc", "brier", "tpr@0.5")]
    assert [one.test.difference for one in found.gaps] == [one.difference for one in alone]
    assert found.gaps[0].test.p == pytest.approx(alone[0].p, rel=1e-12)
    assert found.gaps[0].test.low == pytest.approx(alone[0].low, rel=1e-12)
    assert [one.test.p_adjusted for one in found.gaps] == holm([one.test.p for one in found.gaps]).tolist()
    assert found.rows()[0]["baseline"] == ss.auc(then)


def test_a_fall_in_words():
    now, then = sample(1, lift=0.4), sample(2, lift=1.8)
    found = changed(now, before(then))
    alone = ss.compare_samples(then, now, "auc")
    assert found.words == (
        "Since the baseline of 2026-11-03 (p after Holm over 3 tests, intervals single): auc of nb fell by "
        f"{alone.difference:.3f} [{alone.low:.3f}, {alone.high:.3f}], statistically significant (p < 0.001)."
    )
    assert found.gaps[0].worse
    assert [one.code for one in found.notes] == ["SS095"]
    assert found.notes[0].text.startswith(
        "nb is worse than in the baseline of 2026-11-03, significantly, in brier (+0."
    )


def test_no_change_in_words_says_what_is_excluded():
    found = changed(sample(3), before(sample(4)), "auc")
    low = found.gaps[0].test.low
    assert found.words.startswith("Since the baseline of 2026-11-03: auc of nb shows no significant change, ")
    assert f"which excludes a fall by more than {-low:.3f} (p = 0." in found.words
    assert "excludes a rise by more than" in changed(sample(3), before(sample(4)), "brier").words


def test_the_same_cases_do_not_differ():
    found = changed(sample(3), before(sample(3)))
    assert [one.test.difference for one in found.gaps] == [0.0] * 3
    assert [one.test.p for one in found.gaps] == [1.0] * 3
    assert found.notes[0].text.startswith("the baseline has as many cases of each class: if they are the same cases")


def test_numbers_without_a_table_have_intervals_alone():
    row = {"model": "nb", "measure": "auc", "at": None, "class": None}
    kept = Baseline(
        "e.json", rows=[{**row, "value": 0.9, "low": 0.85, "high": 0.94, "level": 0.95}], without={"nb": "."}
    )
    one = changed(sample(1), kept, "auc, brier").gaps
    now = one[0].estimate
    # MOVER by hand
    low = now.value - 0.9 - math.hypot(now.value - now.low, 0.94 - 0.9)
    assert one[0].test.low == pytest.approx(low, rel=1e-12)
    assert math.isnan(one[0].test.p)
    words = changed(sample(1), kept, "auc").words
    change_text = f"auc of nb changed by {one[0].test.size} (interval only: the baseline has no table)."
    assert words == f"Since the baseline e.json: {change_text}"
    assert one[1].test.reason == "neither the value nor a table was saved"
    assert math.isnan(changed(sample(1), kept, "auc", level=0.9).gaps[0].test.low)  # that of another level


def saved(changes_of):
    """A baseline of numbers alone beside models that changed by so much, each known within ± 0.05 on both sides."""
    spec, names = parse("auc"), [f"m{k}" for k in range(len(changes_of))]
    row = {"measure": "auc", "at": None, "class": None, "value": 0.8, "low": 0.75, "high": 0.85, "level": 0.95}
    kept = Baseline("e.json", rows=[{**row, "model": name} for name in names], without=dict.fromkeys(names, "."))
    now = {
        name: [Estimate(name, spec, 0.8 + by, 0.75 + by, 0.85 + by, 0.95, "wilson", None)]
        for name, by in zip(names, changes_of, strict=True)
    }
    draws = BootstrapDraws({"nb": sample(1)})
    return baseline_changes(kept, now, lambda model: draws, classes={}, leads=dict.fromkeys(names, spec))


def test_chance_explains_what_lies_within_the_interval_of_one_number():
    reach = math.hypot(0.05, 0.05)
    for by, explained in ((-1.001 * reach, False), (-0.999 * reach, True), (0.0, True), (1.001 * reach, False)):
        found = saved([by])
        assert found.by_chance(found.gaps[0]) == explained


def test_intervals_of_several_numbers_are_adjusted_as_their_tests_would_be():
    """p of 0.04 beside four models that stayed is 0.2 by Holm's method; alone, or as 0.009, it is no chance."""
    reach = math.hypot(0.05, 0.05) / 1.959964
    by = {p: float(norm.isf(p / 2)) * reach for p in (0.04, 0.009, 0.011)}
    for p, beside, explained in ((0.04, 0, False), (0.04, 4, True), (0.009, 4, False), (0.011, 4, True)):
        found = saved([-by[p]] + [0.0] * beside)
        assert found.by_chance(found.gaps[0]) == explained


def test_chance_explains_nothing_where_there_is_neither_test_nor_interval():
    row = {"model": "nb", "measure": "auc", "at": None, "class": None, "value": 0.9}
    found = changed(sample(1), Baseline("e.json", rows=[row], without={"nb": "."}), "auc")
    assert not found.by_chance(found.gaps[0])


def test_one_of_five_unchanged_models_seldom_fails():
    """A slice of a simulation: by intervals of ks alone, one of five was worse in 13 % of 400 samples, now in 3 %."""
    spec, names = parse("ks"), [f"m{k}" for k in range(5)]
    failed = 0
    for seed in range(20):
        then, now = (
            {name: sample(1000 * seed + 10 * k + side, size=100) for k, name in enumerate(names)} for side in (0, 1)
        )
        draws = {name: BootstrapDraws({name: table}, seed=seed) for name, table in now.items()}
        change_text = {
            name: estimates({name: [spec]}, draws[name], level=0.95, method=None, strict=False) for name in names
        }
        kept = Baseline("e.json", tables=then, positive="1")
        found = baseline_changes(kept, change_text, lambda model, draws=draws: draws[model], classes={}, leads={})
        failed += any(one.worse and not found.by_chance(one) for one in found.gaps)
    assert failed <= 3


def test_a_measure_that_does_not_suit_the_baseline():
    ranks = score_table([1, 0, 1, 0] * 30, range(120))
    found = changed(sample(1), before(ranks), "brier")
    assert math.isnan(found.gaps[0].rest)
    assert found.words.startswith("Since the baseline of 2026-11-03: brier of nb cannot be compared: ")


def test_what_depends_on_the_number_of_cases_is_not_tested():
    found = changed(sample(1), before(sample(2)), "ks")
    assert found.gaps[0].test.reason.startswith("interval only: the measure depends on the number of cases")


def test_a_prevalence_that_moved_is_told_with_what_moves_along():
    now, then = sample(1, share=0.5), sample(2, share=0.2)
    found = changed(now, before(then), "auc, ppv@0.5")
    assert "a significant difference: ppv@0.5 changes with it" in found.notes[0].text
    stated = changed(now, before(then), "ppv@0.5", prevalence=0.3)
    assert stated.notes == ()
    tpr, fpr = ss.tpr(then.at(0.5)), ss.fpr(then.at(0.5))
    assert stated.gaps[0].rest == pytest.approx(0.3 * tpr / (0.3 * tpr + 0.7 * fpr), rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [((30, 70), (45, 55)), ((3, 9), (400, 800)), ((5, 5), (5, 5))])
def test_shares_are_compared_as_scipy_does(a, b):
    named = [dict(zip("yn", counts, strict=True)) for counts in (a, b)]
    assert _prevalence_p(*named, "y") == pytest.approx(chi2_contingency([a, b], correction=False).pvalue, rel=1e-9)


def test_nothing_is_said_of_shares_that_are_not_known():
    assert (
        _prevalence_p({}, {"y": 3, "n": 4}, "y")
        == _prevalence_p({"y": 3}, {"y": 4}, "y")
        == _prevalence_p({"y": 3}, {"y": 4}, None)
        == 1
    )


def test_an_undefined_number_is_told_as_that():
    one = Estimate("nb", parse("auc"), math.nan, math.nan, math.nan, 0.95, None, "undefined: one class")
    draws = BootstrapDraws({"nb": sample(1)})
    found = baseline_changes(before(sample(1)), {"nb": [one]}, lambda _: draws, classes={}, leads={"nb": parse("auc")})
    assert found.rows()[0]["value"] is None

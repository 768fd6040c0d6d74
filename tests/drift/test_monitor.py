"""Batches over time: bets that are fair when nothing moves, and an alarm when something does."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from scorespace.drift.monitor import ALARM, MonitoredBatch, Monitoring, accumulate_evidence, e_value, monitor
from scorespace.drift.permutation import Permutations
from scorespace.errors import DataError, WeightError
from scorespace.tables import score_table

chances = st.lists(st.floats(1e-4, 1), min_size=1, max_size=12)


def sample(rng, cases, *, share=0.3, lift=1.0, shift=0.0):
    label = (rng.random(cases) < share).astype(int)
    return {"nb": score_table(label, np.round(1 / (1 + np.exp(-rng.normal(lift * label + shift, 1))), 2))}


def of(p, name="scores", model="nb"):
    batches = tuple(MonitoredBatch(f"day {k}", 10, 3, {(model, name): one}) for k, one in enumerate(p))
    return Monitoring("spring.csv", 100, "1", ("nb",), batches)


# --- bets


def test_a_factor_is_worth_one_on_average():
    assert quad(lambda p: float(e_value([p])[0]), 0, 1)[0] == pytest.approx(1, abs=1e-6)


@given(chances)
@settings(max_examples=50)
def test_evidence_is_the_sum_over_beginnings(p):
    bets, size = e_value(p), len(p)
    begun = sum(np.prod(bets[j:]) / ((j + 1) * (j + 2)) for j in range(size))
    assert accumulate_evidence(p)[-1] == pytest.approx(begun + 1 / (size + 1), rel=1e-9)


@given(chances, st.floats(1e-4, 1))
@settings(max_examples=50)
def test_smaller_p_is_more_evidence_and_none_is_neutral(p, less):
    assert (accumulate_evidence([min(one, less) for one in p]) >= accumulate_evidence(p) - 1e-12).all()
    assert accumulate_evidence([math.nan] * 5).tolist() == pytest.approx([1.0] * 5)


def test_evidence_of_uniform_p_rarely_reaches_the_bound():
    drawn = np.random.default_rng(0).random((1000, 200))
    reached = np.mean([accumulate_evidence(p).max() >= ALARM for p in drawn])
    assert reached <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1000)
    assert reached > 0.01  # and the bound is of use


# --- alarms


def test_p_of_a_batch_is_by_chance_when_nothing_moves():
    # Uniform or larger, and the same whatever was before: the squares of the correlations are those of chance.
    rng = np.random.default_rng(3)
    found = []
    for seed in range(40):
        days = {str(k): sample(rng, 30) for k in range(3)}
        held = monitor(sample(rng, 60), days, replicates=60, seed=seed)
        found.append([[one.p[key] for key in (("nb", "scores"), ("", "prevalence"))] for one in held.batches])
    p = np.array(found)
    for aspect in range(2):
        assert np.mean(p[..., aspect] <= 0.1) <= 0.1 + 3 * math.sqrt(0.09 / 120)
        assert abs(np.corrcoef(p[:, 0, aspect], p[:, 1, aspect])[0, 1]) < 3.5 / math.sqrt(40)


@pytest.mark.parametrize(
    ("change", "moved"),
    [({"shift": 1.5}, "scores"), ({"share": 0.8}, "share of positives"), ({"lift": -1.5}, "AUC")],
)
def test_an_alarm_after_a_change_and_not_before(change, moved):
    rng = np.random.default_rng(12)
    days = {f"day {k}": sample(rng, 120, **(change if k >= 5 else {})) for k in range(10)}
    found = monitor(sample(rng, 300), days, replicates=300)
    assert found.alarm in (5, 6, 7, 8)
    assert moved in found.moved
    assert 3 <= found.began <= found.alarm  # a little before is by chance
    assert found.words.startswith(f"Alarm at day {found.alarm}, batch {found.alarm + 1} of 10: ")


def test_without_truths_scores_alone_are_judged_and_truths_may_come_late():
    rng = np.random.default_rng(2)
    days = {f"day {k}": sample(rng, 150, share=0.9 if k >= 1 else 0.3) for k in range(4)}
    silent = monitor(sample(rng, 300), days, unlabelled=list(days), replicates=200)
    assert all(set(one.p) == {("nb", "scores")} and one.positives is None for one in silent.batches)
    late = monitor(sample(rng, 300), days, unlabelled=["day 0", "day 1"], replicates=200)
    assert [len(one.p) for one in late.batches] == [1, 1, 5, 5]
    assert late.rows()[0]["p_prevalence"] is None
    assert late.rows()[-1]["p_prevalence"] < 0.05


def test_a_batch_without_truths_is_no_part_of_the_labelled_cases():
    rng = np.random.default_rng(8)
    before, second, third = sample(rng, 300), sample(rng, 200, share=0.4), sample(rng, 200)
    (scores,) = (table.score for table in sample(rng, 400).values())
    found = []
    for label in (0, 1):  # the class that cases without a truth are put into
        first = {"nb": score_table(np.full(scores.size, label), scores, positive="1", classes=("0", "1"))}
        batches = {"first": first, "second": second, "third": third}
        found.append([one.p for one in monitor(before, batches, unlabelled=["first"], replicates=199).batches[1:]])
    assert str(found[0]) == str(found[1])


def test_each_batch_has_its_own_permutations(monkeypatch):
    seeds = []

    def permutations(replicates, seed):
        seeds.append(seed)
        return Permutations(replicates, seed)

    monkeypatch.setitem(monitor.__globals__, "Permutations", permutations)
    rng = np.random.default_rng(9)
    for seed in (0, 1):
        monitor(sample(rng, 60), {name: sample(rng, 60) for name in "abc"}, replicates=20, seed=seed)
    assert len(set(seeds)) == 6


def test_a_batch_of_one_class_and_one_of_a_single_case():
    rng = np.random.default_rng(4)
    alone = {"nb": score_table([0] * 5 + [1], [0.1] * 6)}
    days = {"none": {"nb": alone["nb"].with_cells(np.where(alone["nb"].strata == 1, 0, alone["nb"].cells))}}
    found = monitor(sample(rng, 100), days, replicates=50)
    assert ("nb", "auc") not in found.batches[0].p
    assert math.isfinite(found.evidence[0])


# --- words


def test_no_alarm_in_words():
    found = of([0.5, 0.2])
    assert found.words == (
        f"No alarm in 2 batches: evidence of change since spring.csv is {found.evidence[-1]:.3g} (alarm at 20)."
    )
    assert (found.moved, found.began) == ((), None)


def test_an_alarm_in_words_and_rows():
    found = of([0.5, 0.001, 0.001, 0.001, 0.6])
    assert found.words == (
        f"Alarm at day 2, batch 3 of 5: scores changed; the change most likely began at day 1. The evidence reached "
        f"{found.evidence[2]:.3g}; the probability of any false alarm is at most 5 % over all batches, however many."
    )
    assert [row["alarm"] for row in found.rows()] == [False, False, True, True, True]
    told = found.to_dict()
    assert (told["alarm"], told["began"], told["moved"], told["bound"]) == ("day 2", "day 1", ["scores"], 20.0)


def test_half_of_the_bets_are_on_scores_and_the_rest_is_shared():
    p = [0.001] * 4
    whole = accumulate_evidence(p)
    assert of(p).evidence == pytest.approx(whole / 2)
    assert of(p, "meaning").evidence == pytest.approx(np.maximum(whole / 8, 0.5))


def test_two_models_are_named():
    batches = tuple(MonitoredBatch(f"{k}", 9, 3, {("b", "auc"): 0.0005}) for k in range(4))
    found = Monitoring("x", 9, "1", ("a", "b"), batches)
    assert found.moved == ("AUC of b",)
    assert "p_auc[b]" in found.rows()[0]


# --- refused


def test_what_is_refused():
    rng = np.random.default_rng(0)
    base = sample(rng, 20)
    with pytest.raises(DataError, match="batches to compare"):
        monitor(base, {})
    with pytest.raises(DataError, match="same models"):
        monitor(base, {"monday": {"tree": base["nb"]}})
    half = {"nb": score_table([1, 0], [0.2, 0.4], weight=[0.5, 1])}
    with pytest.raises(WeightError, match="monitoring compares individual"):
        monitor(base, {"monday": half})


def test_each_batch_tells_its_own_numbers():
    """Wilson's share, the AUC with its interval, and Student's mean; without truths the mean score alone."""
    table = score_table([1, 1, 0, 0, 0], [0.9, 0.4, 0.5, 0.2, 0.2])
    found = monitor({"nb": table}, {"a": {"nb": table}, "b": {"nb": table}}, unlabelled=["b"], replicates=20)
    known, late = found.batches[0].seen, found.batches[1].seen
    assert known == found.seen
    assert known["", "prevalence"] == pytest.approx(proportion_confint(2, 5))
    assert known["nb", "auc"].value == pytest.approx(5 / 6)
    scores = [0.9, 0.4, 0.5, 0.2, 0.2]
    reach = stats.t.ppf(0.975, 4) * stats.sem(scores)
    assert known["nb", "mean"] == pytest.approx((0.44, 0.44 - reach, 0.44 + reach))
    assert set(late) == {("nb", "mean")}
    rows = found.rows()
    assert rows[0]["auc"] == pytest.approx(5 / 6)
    assert rows[0]["mean_low"] == pytest.approx(0.44 - reach)
    assert "auc" not in rows[1]
    both = monitor({"nb": table, "tree": table}, {"a": {"nb": table, "tree": table}}, replicates=20)
    assert both.rows()[0]["auc[tree]"] == pytest.approx(5 / 6)
    assert both.rows()[0]["prevalence"] == pytest.approx(0.4)


def proportion_confint(hits, trials):
    """The share with Wilson's interval, from SciPy."""
    found = stats.binomtest(hits, trials).proportion_ci(method="wilson")
    return hits / trials, found.low, found.high


def test_without_permutations_nothing_can_be_shown():
    table = score_table([1, 1, 0, 0, 0], [0.9, 0.4, 0.5, 0.2, 0.2])
    with pytest.raises(DataError, match="replicates=0 cannot show"):
        monitor({"nb": table}, {"a": {"nb": table}}, replicates=0)


def test_so_far_covers_all_labelled_batches_with_wider_intervals():
    rng = np.random.default_rng(3)

    def day(n):
        label = rng.random(n) < 0.4
        return {"m": score_table(label.astype(int), rng.normal(size=n) + label)}

    days = {str(k): day(100) for k in range(4)}
    found = monitor(day(300), days, unlabelled=("2",), replicates=20)
    rows = found.rows()
    positives = [float(one["m"].n_pos) for one in days.values()]
    assert rows[1]["prevalence_so_far"] == pytest.approx((positives[0] + positives[1]) / 200)
    assert rows[2]["prevalence_so_far"] == rows[1]["prevalence_so_far"]  # no labels that day
    first = rows[0]
    assert first["auc_so_far_low"] < first["auc_low"] < first["auc_high"] < first["auc_so_far_high"]

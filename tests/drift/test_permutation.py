"""Cases dealt out again: statistics and chances of other programs, and of all ways to deal."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit, logit

from scorespace.drift.permutation import (
    Permutations,
    at_prevalence,
    follows_prevalence,
    has_frequency_weights,
    largest_gap,
    mean_score,
    meaning_test,
    permute_counts,
    pooled,
    prevalence_test,
    score_test,
    within_tests,
)
from scorespace.tables import score_table


def model(rng, cases, share=0.3, apart=1.2):
    """Labels and the scores of a binormal model, calibrated at 30 % positives."""
    label = rng.random(cases) < share
    z = rng.normal(size=cases) + apart * label
    return label.astype(int), expit(apart * z - apart**2 / 2 + logit(0.3))


def test_ks_and_its_p_are_those_of_scipy():
    rng = np.random.default_rng(2)
    (y, s), (_, t) = model(rng, 300), model(rng, 250)
    t = expit(logit(t) + 0.2)
    both = pooled(score_table(y, s), score_table(np.r_[y[:249], 1], t))
    found = score_test(both, Permutations(4000, 0))
    expected = stats.ks_2samp(s, t)
    assert found.value == pytest.approx(expected.statistic, abs=1e-12)
    assert found.p == pytest.approx(expected.pvalue, abs=0.03)


def test_the_difference_at_equal_scores_is_that_of_mantel_and_haenszel():
    # Two scores: 10 of 40 against 20 of 40, and 5 of 20 against 30 of 60.
    before = score_table([1] * 10 + [0] * 30 + [1] * 5 + [0] * 15, [0.8] * 40 + [0.2] * 20)
    after = score_table([1] * 20 + [0] * 20 + [1] * 30 + [0] * 30, [0.8] * 40 + [0.2] * 60)
    found = meaning_test(pooled(before, after), Permutations(999, 0))
    weights = np.array([40 * 40 / 80, 20 * 60 / 80])
    assert found.value == pytest.approx((weights @ [0.25, 0.25]) / weights.sum())
    # Each stratum by its hypergeometric variance: 5² / 4.747 + 3.75² / 3.738, and two strata are two contrasts.
    assert found.p == pytest.approx(stats.chi2.sf(5**2 / 4.7468 + 3.75**2 / 3.7381, 2), abs=0.01)


def test_its_p_is_about_chi_squared_with_three_degrees_of_freedom():
    rng = np.random.default_rng(4)
    chances = [
        meaning_test(pooled(*(score_table(*model(rng, 400)) for _ in "ab")), Permutations(199, k)).p for k in range(60)
    ]
    assert stats.kstest(chances, "uniform").pvalue > 0.001


SMALL = pooled(score_table([1, 1, 0, 0, 0], [0.9, 0.6, 0.7, 0.3, 0.1]), score_table([1, 0, 1, 0], [0.8, 0.8, 0.5, 0.2]))


def every_deal(cells, taken):
    """All ways to take so many cases out of the cells, each case told from the others."""
    cases = np.repeat(np.arange(cells.size), cells)
    for chosen in combinations(range(cases.size), taken):
        yield np.bincount(cases[list(chosen)], minlength=cells.size)


def test_samples_are_pooled_on_common_scores():
    assert SMALL.score.tolist() == [0.9, 0.8, 0.7, 0.6, 0.5, 0.3, 0.2, 0.1]
    assert SMALL.positives.tolist() == [[1, 0, 0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0, 0, 0]]
    assert SMALL.negatives.tolist() == [[0, 0, 1, 0, 0, 1, 0, 1], [0, 1, 0, 0, 0, 0, 1, 0]]
    assert (SMALL.sizes.tolist(), SMALL.prevalence.tolist(), SMALL.classes_shared) == ([5, 4], [0.4, 0.5], True)
    many = score_table([1, 0] * 3000, np.random.default_rng(1).random(6000))
    coarse = pooled(many, many)
    assert coarse.score.size <= 1001
    assert coarse.sizes.tolist() == [6000, 6000]


def test_the_p_of_prevalence_is_the_share_of_all_deals():
    found = prevalence_test(SMALL, Permutations(20_000, 1))
    labels = np.array([5, 4])  # negatives and positives of both samples
    gaps = [abs((4 - deal[1]) / 4 - deal[1] / 5) for deal in every_deal(labels, 5)]
    assert found.value == pytest.approx(0.1)
    assert found.p == pytest.approx(np.mean(np.array(gaps) >= 0.1 - 1e-12), abs=0.015)


def test_the_p_of_scores_is_the_share_of_all_deals():
    found = score_test(SMALL, Permutations(20_000, 1))
    total = (SMALL.positives + SMALL.negatives).sum(axis=0)
    gaps = [np.abs(np.cumsum(deal) / 5 - np.cumsum(total - deal) / 4).max() for deal in every_deal(total, 5)]
    assert found.value == pytest.approx(stats.ks_2samp([0.9, 0.6, 0.7, 0.3, 0.1], [0.8, 0.8, 0.5, 0.2]).statistic)
    assert found.p == pytest.approx(np.mean(np.array(gaps) >= found.value - 1e-9), abs=0.015)


def test_scores_within_classes_are_dealt_within_classes():
    names = ("positives", "negatives", "auc", "midpoint", "within")
    found = within_tests(SMALL, names, Permutations(20_000, 1))
    of_pos, of_neg = SMALL.positives.sum(axis=0), SMALL.negatives.sum(axis=0)

    def area(pos, neg):
        above = np.cumsum(pos) - pos / 2
        return float(above @ neg / (pos.sum() * neg.sum()))

    gaps = {"auc": [], "positives": []}
    for pos in every_deal(of_pos, 2):
        gaps["positives"].append(np.abs(np.cumsum(pos) / 2 - np.cumsum(of_pos - pos) / 2).max())
        for neg in every_deal(of_neg, 3):
            gaps["auc"].append(abs(area(pos, neg) - area(of_pos - pos, of_neg - neg)))
    before, after = (area(SMALL.positives[k], SMALL.negatives[k]) for k in (0, 1))
    assert found["auc"].value == pytest.approx(abs(after - before))
    for name, all_of_them in gaps.items():
        assert found[name].p == pytest.approx(np.mean(np.array(all_of_them) >= found[name].value - 1e-9), abs=0.015)
    # At the prevalence before, 0.4: class means weighted by it.
    before, after = 0.4 * 0.75 + 0.6 * 1.1 / 3, 0.4 * 0.65 + 0.6 * 0.5
    assert found["midpoint"].value == pytest.approx(abs(after - before))
    # Both classes together: n₁n₂ / (n₁ + n₂) · KS², summed.
    together = 2 * 2 / 4 * found["positives"].value ** 2 + 3 * 2 / 5 * found["negatives"].value ** 2
    assert found["within"].value == pytest.approx(together)


def test_statistics_of_a_class_that_a_sample_lacks_are_undefined():
    both = pooled(score_table([1, 0, 0], [0.9, 0.5, 0.2]), score_table([0, 0], [0.4, 0.1], positive=1))
    assert not both.classes_shared
    found = within_tests(both, ("positives", "negatives", "within", "auc"), Permutations(99, 0))
    assert [math.isnan(one.value) for one in found.values()] == [True, False, False, True]
    assert [math.isnan(one.p) for one in found.values()] == [True, False, False, True]
    apart = pooled(score_table([1, 0], [0.9, 0.8]), score_table([1, 0], [0.2, 0.1]))
    assert math.isnan(meaning_test(apart, Permutations(99, 0)).p)  # no score is near one of the other sample


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6).filter(any), st.data())
def test_cases_are_dealt_without_replacement(cells, data):
    cells = np.array(cells)
    taken = data.draw(st.integers(0, int(cells.sum())))
    drawn = permute_counts(cells, taken, np.random.default_rng(3), 5)
    assert drawn.shape == (5, cells.size)
    assert np.all((drawn >= 0) & (drawn <= cells))
    assert np.all(drawn.sum(axis=1) == taken)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # SciPy's, of the p of so few cases
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8))
def test_the_largest_gap_is_that_of_scipy(rows):
    before, after = np.array(rows).T
    if not (before.any() and after.any()):
        assert math.isnan(float(largest_gap(before, after)))
        return
    one, other = (np.repeat(np.arange(side.size), side) for side in (before, after))
    assert float(largest_gap(before, after)) == pytest.approx(stats.ks_2samp(one, other).statistic)


def test_classes_weighed_to_a_share_keep_their_scores():
    table = at_prevalence(SMALL.score, (SMALL.positives[0], SMALL.negatives[0]), 0.25)
    assert float(table.n_pos / table.total) == pytest.approx(0.25)
    assert float(mean_score(table)) == pytest.approx(0.25 * 0.75 + 0.75 * 1.1 / 3)


def test_the_smooth_curve_of_equal_samples_is_at_no_distance():
    y, s = model(np.random.default_rng(6), 60)
    same = pooled(score_table(y, s), score_table(y, s))
    found = within_tests(same, ("smooth", "smauc", "cal", "cal_large"), Permutations(49, 0))
    assert all(one.value == pytest.approx(0, abs=1e-12) and one.p == 1 for one in found.values())


@pytest.mark.parametrize(("share", "label", "follows"), [(0.6, None, True), (0.3, 0.5, False)])
def test_whether_scores_moved_as_a_change_of_prevalence_moves_them(share, label, follows):
    rng = np.random.default_rng(7)
    y, s = model(rng, 4000, share)
    if label is not None:  # the same scores mean less: positives are thinned out, whatever their score
        y = np.where(rng.random(4000) < label, 0, y)
    assert follows_prevalence(pooled(score_table(*model(rng, 4000)), score_table(y, s))) is follows


# --- cases with weights that are no numbers of copies


def weighed_sample(rng, cases, positives, shift=0.0):
    label = np.arange(cases) < positives
    return label.astype(int), expit(rng.normal(shift, 1, cases) + label), rng.uniform(0.3, 3, cases)


def weighed_pair(seed, before=(9, 4), after=(7, 3)):
    rng = np.random.default_rng(seed)
    samples = weighed_sample(rng, *before), weighed_sample(rng, *after)
    return samples, pooled(*(score_table(y, s, weight=w) for y, s, w in samples))


def test_weighed_tests_by_all_ways_to_deal_out():
    samples, both = weighed_pair(3, (6, 3), (5, 2))
    label, score, weight = (np.concatenate(one) for one in zip(*samples, strict=True))
    size, total = 6, label.size

    def gap(chosen):
        ends = np.sort(score)
        parts = [(score[one], weight[one]) for one in (chosen, ~chosen)]
        shares = [np.array([w[s <= end].sum() for end in ends]) / w.sum() for s, w in parts]
        return np.abs(shares[0] - shares[1]).max()

    def shares(chosen):
        return abs(
            np.average(label[chosen], weights=weight[chosen]) - np.average(label[~chosen], weights=weight[~chosen])
        )

    own = np.arange(total) < size
    deals = [np.isin(np.arange(total), one) for one in combinations(range(total), size)]
    for statistic, tested in ((gap, score_test), (shares, prevalence_test)):
        found = tested(both, Permutations(4000, 1))
        assert found.value == pytest.approx(statistic(own))
        exact = np.mean([statistic(one) >= statistic(own) - 1e-12 for one in deals])
        assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 4000) + 1e-3)


def test_equal_weights_say_what_no_weights_say():
    rng = np.random.default_rng(6)
    samples = [weighed_sample(rng, 120, 50), weighed_sample(rng, 90, 40, 0.4)]
    plain = pooled(*(score_table(y, s) for y, s, _ in samples))
    equal = pooled(*(score_table(y, s, weight=np.full(y.size, 1.5)) for y, s, _ in samples))
    assert equal.weighted_cases is not None
    assert equal.cases == plain.cases == (120, 90)
    many = Permutations(3000, 2)
    for tested in (prevalence_test, score_test, meaning_test):
        a, b = tested(plain, many), tested(equal, many)
        assert b.value == pytest.approx(a.value)
        assert b.p == pytest.approx(a.p, abs=0.04)
    names = ("within", "positives", "auc", "smauc")
    a, b = (within_tests(one, names, many) for one in (plain, equal))
    for name in names:
        factor = 1.5 if name == "within" else 1.0  # n₁n₂ / (n₁ + n₂) counts the weight
        assert b[name].value == pytest.approx(factor * a[name].value)
        assert b[name].p == pytest.approx(a[name].p, abs=0.04)


def test_cases_of_weights_are_counted_by_their_squares():
    table = score_table([1, 1, 0, 0], [0.9, 0.9, 0.2, 0.1], weight=[0.5, 0.5, 1.5, 2])
    both = pooled(table, score_table([1, 0], [0.8, 0.2]))
    assert both.cases == (4, 2)
    assert sorted(both.weighted_cases.weight.tolist()) == [0.5, 0.5, 1, 1, 1.5, 2]
    assert has_frequency_weights(score_table([1, 0], [0.9, 0.2], weight=[2, 3]))
    assert not has_frequency_weights(score_table([1, 1, 0], [0.9, 0.9, 0.2], weight=[0.5, 0.5, 1]))


def test_weighed_tests_keep_their_size():
    below = np.zeros(4)
    for seed in range(60):
        _, both = weighed_pair([seed, 9], (60, 25), (45, 19))
        few = Permutations(99, seed)
        tests = [prevalence_test(both, few), score_test(both, few), meaning_test(both, few)]
        below += [one.p <= 0.1 for one in (*tests, within_tests(both, ("within",), few)["within"])]
    assert (below[1:] <= 14).all()  # 6 are expected; the share of positives was fixed, and is not tested here

"""Several models over data sets: Friedman, Nemenyi and all against a control, as other programs compute them."""

import math
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from scorespace.comparisons.datasets import dataset_table
from scorespace.comparisons.friedman import against_control, friedman, nemenyi, rank_groups

RNG = np.random.default_rng(5)
VALUES = RNG.normal([0.86, 0.8, 0.82, 0.75], 0.05, (12, 4))
NAMES = ("nb", "tree", "forest", "svm")
TABLE = dataset_table(VALUES, NAMES, best="high", measure="auc")
SAME = dataset_table(np.full((4, 3), 0.7), "abc", best="high")
ONE = dataset_table([[3.0, 2.0, 1.0]], "abc", best="high")


def two(d, best="high"):
    """Two models with these differences."""
    return dataset_table({"a": np.asarray(d, dtype=float), "b": np.zeros(len(d))}, best=best)


def test_identical_models_rank_alike():
    found = friedman(SAME)
    assert [row["statistic"] for row in found.rows()] == [0, 0, 0, 0]
    assert [row["p"] for row in found.rows()] == [1, 1, 1, 1]
    assert found.words == "The models do not differ: all models are equal on every data set."
    assert nemenyi(SAME).p.tolist() == [[1, 1, 1]] * 3
    assert nemenyi(SAME).groups == (("a", "b", "c"),)
    assert nemenyi(SAME).words == "a, b and c have equal ranks over 4 data sets (Nemenyi)."
    assert [(one.statistic, one.p, one.p_adjusted) for one in against_control(SAME, "a").comparisons] == [(0, 1, 1)] * 2


@pytest.mark.parametrize("digits", [8, 1])
def test_friedman_is_that_of_scipy(digits):
    values = np.round(VALUES, digits)  # one digit makes ties
    theirs = stats.friedmanchisquare(*values.T)
    found = friedman(dataset_table(values, NAMES, best="high"))
    assert (found.chi2.value, found.chi2.p) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_without_ties_both_forms_are_the_same():
    found = friedman(TABLE)
    assert found.chi2.value == found.chi2_uncorrected.value
    assert found.f.value == found.f_uncorrected.value


@pytest.mark.parametrize("k", range(2, 8))
@pytest.mark.parametrize("count", [2, 3, 7])
def test_models_ranked_alike_everywhere_make_f_infinite(count, k):
    found = friedman(dataset_table([range(k)] * count, [f"m{place}" for place in range(k)], best="low"))
    assert found.chi2.value == pytest.approx(count * (k - 1))
    assert (found.f.value, found.f.p) == (math.inf, pytest.approx(math.factorial(k) ** (1 - count)))
    assert found.f.reason == "infinite: every data set has the same ranking, and p is exact"
    assert found.rows()[2]["statistic"] is None


@pytest.mark.parametrize("row", [(1, 2, 3), (1, 1, 2), (1, 2, 2, 3)])
def test_the_chance_that_all_rank_alike_is_that_of_all_orders(row):
    orders = set(permutations(row))
    alike = sum(len(set(chosen)) == 1 for chosen in product(orders, repeat=3))
    names = [f"m{place}" for place in range(len(row))]
    found = friedman(dataset_table([row] * 3, names, best="high"))
    assert found.f.p == pytest.approx(alike / len(orders) ** 3)
    assert "not differ significantly" in friedman(dataset_table([(1, 2)] * 2, ["a", "b"], best="high")).words


def test_degrees_of_freedom():
    found = friedman(TABLE)
    assert found.chi2.df == 3
    assert found.f.df == (3, 33)


def test_few_data_sets_or_models_are_noted():
    assert [note.code for note in friedman(TABLE).notes] == ["SS018"]
    assert not friedman(dataset_table(RNG.random((11, 6)), "abcdef", best="high")).notes


def test_friedman_of_two_models_is_the_sign_statistic():
    d = np.array([1, 2, 3, -1, 4, 5, 6, -2])
    assert friedman(two(d)).chi2.value == pytest.approx((6 - 2) ** 2 / 8)


def test_two_models_make_a_normal_test():
    found = nemenyi(two(np.arange(1.0, 9)))
    assert found.q == pytest.approx(stats.norm.ppf(0.975), abs=1e-12)
    assert found.p[0, 1] == pytest.approx(2 * stats.norm.sf(1 / math.sqrt(1 / 8)), abs=1e-12)


def test_p_and_the_critical_difference_agree():
    found = nemenyi(TABLE, level=0.9)
    ranks = np.array(found.average_ranks)
    apart = np.abs(ranks[:, None] - ranks) >= found.critical_difference
    assert apart.any()
    assert np.array_equal(apart, found.p <= 0.1)
    assert_allclose(found.p, found.p.T)


def groups_of(names, ranks, difference):
    rank = dict(zip(names, ranks, strict=True))
    return rank_groups(rank, lambda one, other: abs(rank[one] - rank[other]) >= difference)


@pytest.mark.parametrize(
    ("ranks", "difference", "expected"),
    [
        ([1, 2, 3, 4], 0.5, ()),
        ([1, 2, 3, 4], 1.5, (("a", "b"), ("b", "c"), ("c", "d"))),
        ([4, 3, 2, 1], 1.5, (("d", "c"), ("c", "b"), ("b", "a"))),
        ([1, 2, 3, 4], 1.0, ()),  # a difference of the critical one is distinct
        ([1, 1.2, 1.4, 4], 0.5, (("a", "b", "c"),)),
        ([1, 1.2, 3, 3.1], 0.5, (("a", "b"), ("c", "d"))),
        ([2, 2, 2, 2], 0.1, (("a", "b", "c", "d"),)),
        ([1, 2, 3, 4], 9, (("a", "b", "c", "d"),)),
    ],
)
def test_groups(ranks, difference, expected):
    assert groups_of("abcd", ranks, difference) == expected


@given(st.lists(st.floats(1, 9), min_size=2, max_size=9), st.floats(0.01, 9))
def test_groups_are_the_largest_without_a_distinct_pair(ranks, difference):
    names = [str(place) for place in range(len(ranks))]
    rank = dict(zip(names, ranks, strict=True))
    groups = [set(group) for group in groups_of(names, ranks, difference)]
    for group in groups:
        assert max(map(rank.get, group)) - min(map(rank.get, group)) < difference
    assert not any(one < other or one == other for one, other in pairwise(groups))
    for one in names:
        for other in names:
            if one != other and abs(rank[one] - rank[other]) < difference:
                assert any({one, other} <= group for group in groups)


def test_z_is_negative_for_a_model_that_ranks_better():
    table = dataset_table([[3, 2, 1]] * 12, "abc", best="high")
    (better, worse) = against_control(table, "b").comparisons
    assert (better.a, worse.a) == ("a", "c")
    assert better.statistic < 0 < worse.statistic
    assert against_control(table, "b").words == "Against b over 12 data sets (Holm): better: a; worse: c."


def test_adjusted_values_are_ordered():
    found = against_control(TABLE, "svm", adjust="bonferroni")
    p = np.array([one.p for one in found.comparisons])
    assert list(found.chances) == ["holm", "hochberg", "bonferroni"]
    assert (p <= found.chances["hochberg"]).all()
    assert (found.chances["hochberg"] <= found.chances["holm"]).all()
    assert (found.chances["holm"] <= found.chances["bonferroni"]).all()


def test_words_of_several():
    table = dataset_table([[3, 2, 1]] * 12, "abc", best="high")
    assert friedman(table).words == (
        "Over 12 data sets the ranks differ significantly, and a ranks best, 1.00 "
        "(χ²(2) = 24.00, p < 0.001; Iman–Davenport F(2, 22) = ∞, p < 0.001)."
    )
    assert nemenyi(table).words == (
        "a ranks best, 1.00 on average over 12 data sets; it beats b and c (Nemenyi, critical difference 0.96)."
    )


def test_pairs_of_nemenyi_are_rows():
    rows = nemenyi(TABLE).rows()
    assert len(rows) == 6
    assert (rows[0]["a"], rows[0]["b"], rows[0]["test"], rows[0]["measure"]) == ("nb", "tree", "Nemenyi", "auc")
    for one in nemenyi(TABLE, level=0.9).comparisons:
        assert (one.p < 0.1) == (not one.low < 0 < one.high)


def test_comparisons_with_a_control_are_rows():
    found = against_control(TABLE, "svm")
    for row, one in zip(found.rows(), found.comparisons, strict=True):
        assert row == one.row() | {"hochberg": row["hochberg"]}
        assert (row["b"], row["p_adjusted"]) == ("svm", one.p_adjusted)
        assert row["p"] <= row["hochberg"] <= row["p_adjusted"]
        assert row["difference"] < 0  # all rank better than svm


def test_one_data_set_leaves_no_degrees_of_freedom():
    found = friedman(ONE)
    assert found.chi2.value == 2
    assert math.isnan(found.f.p)
    assert found.f.reason == "a single data set leaves no degrees of freedom"
    assert found.words == "Over 1 data set the ranks do not differ significantly (χ²(2) = 2.00, p = 0.368)."
    assert nemenyi(ONE).groups == (("a", "b", "c"),)


def test_nemenyi_is_the_table_of_demsar():
    # Demšar (2006), table 5(a): q at 0.05 for 2 to 10 classifiers, some of them cut and not rounded.
    table = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)
    for k, q in zip(range(2, 11), table, strict=True):
        found = nemenyi(dataset_table([range(k)] * 5, [f"m{place}" for place in range(k)], best="low"))
        assert found.q == pytest.approx(q, abs=1e-3)
        assert found.critical_difference == pytest.approx(found.q * math.sqrt(k * (k + 1) / 30))


def test_against_a_control_is_a_normal_test():
    found = against_control(TABLE, "nb")
    for one in found.comparisons:
        gap = TABLE.average_ranks[NAMES.index(one.a)] - TABLE.average_ranks[0]
        assert (one.difference, one.statistic) == pytest.approx((gap, gap / math.sqrt(4 * 5 / (6 * 12))))
        assert one.p == pytest.approx(2 * stats.norm.sf(abs(one.statistic)))

"""Do models differ over data sets: ranks that know their direction, and tests that name what they do with ties."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scorespace.comparisons.datasets import bayes_signed_rank, dataset_table, sign_test, wilcoxon
from scorespace.comparisons.friedman import against_control, friedman, nemenyi
from scorespace.errors import DataError, ScoreSpaceError

RNG = np.random.default_rng(5)
VALUES = RNG.normal([0.86, 0.8, 0.82, 0.75], 0.05, (12, 4))
NAMES = ("nb", "tree", "forest", "svm")
TABLE = dataset_table(VALUES, NAMES, best="high", measure="auc")
SAME = dataset_table(np.full((4, 3), 0.7), "abc", best="high")
ONE = dataset_table([[3.0, 2.0, 1.0]], "abc", best="high")


def two(d, best="high"):
    """Two models with these differences."""
    return dataset_table({"a": np.asarray(d, dtype=float), "b": np.zeros(len(d))}, best=best)


# --- ranks


def test_rank_1_is_the_best_also_when_the_measure_is_minimised():
    # mlr3benchmark 29: the ranking ignored whether the measure is minimised.
    high = dataset_table([[0.9, 0.5, 0.7]], "abc", best="high")
    low = dataset_table([[0.9, 0.5, 0.7]], "abc", best="low")
    assert high.ranks.tolist() == [[1, 3, 2]]
    assert low.ranks.tolist() == [[3, 1, 2]]


def test_an_error_rate_gives_the_same_tests_as_the_accuracy():
    errors = dataset_table(1 - VALUES, NAMES, best="low", measure="auc")
    assert friedman(errors) == friedman(TABLE)
    assert nemenyi(errors) == nemenyi(TABLE)
    assert against_control(errors, "nb") == against_control(TABLE, "nb")
    assert wilcoxon(errors.only("nb", "svm")).wins == wilcoxon(TABLE.only("nb", "svm")).wins
    assert wilcoxon(errors.only("nb", "svm")).words == wilcoxon(TABLE.only("nb", "svm")).words


def test_equal_models_share_the_mean_rank():
    table = dataset_table([[0.9, 0.9, 0.5], [0.7, 0.7, 0.7], [0.1 + 0.2, 0.3, 0.2]], "abc", best="high")
    assert table.ranks.tolist() == [[1.5, 1.5, 3], [2, 2, 2], [1.5, 1.5, 3]]


@given(st.integers(1, 6), st.integers(2, 6), st.integers(0, 3), st.randoms())
def test_average_ranks_add_up(count, k, spread, random):
    values = [[random.randint(0, spread) for _ in range(k)] for _ in range(count)]
    table = dataset_table(values, [f"m{place}" for place in range(k)], best="low")
    assert table.average_ranks.sum() == pytest.approx(k * (k + 1) / 2)


def test_a_mapping_is_a_table_by_columns():
    assert dataset_table(dict(zip(NAMES, VALUES.T, strict=True)), best="high", measure="auc") == TABLE
    assert repr(TABLE).startswith("12 data sets, average ranks: nb 1.")


# --- the sign test


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("up", range(8))
def test_sign_test_is_the_binomial_test(up, alternative):
    found = sign_test(two([1] * up + [-1] * (7 - up)), alternative=alternative)
    assert found.statistic == up
    assert found.p == pytest.approx(stats.binomtest(up, 7, alternative=alternative).pvalue)


def test_equal_data_sets_are_dropped_or_split():
    d = [1] * 6 + [-1] + [0] * 3
    assert sign_test(two(d)).p == pytest.approx(stats.binomtest(6, 7).pvalue)
    assert sign_test(two(d), zeros="split").p == pytest.approx(stats.binomtest(7, 9).pvalue)


# --- the signed-rank test


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("size", [1, 2, 5, 12, 25])
def test_exact_p_is_the_share_of_all_signs(size, alternative):
    d = np.random.default_rng(size).normal(0.3, 1, size)
    found = wilcoxon(two(d), alternative=alternative)
    assert found.method == "exact"
    ranks = np.argsort(np.argsort(np.abs(d))) + 1
    ways = np.zeros(size * (size + 1) // 2 + 1)
    ways[0] = 1
    for rank in ranks:
        ways[rank:] = ways[rank:] + ways[: ways.size - rank]
    ways /= ways.sum()
    place = int(found.statistic)
    less, greater = ways[: place + 1].sum(), ways[place:].sum()
    expected = {"less": less, "greater": greater, "two-sided": min(1, 2 * min(less, greater))}[alternative]
    assert found.p == pytest.approx(expected)


def test_more_than_25_differences_are_normal():
    assert wilcoxon(two(np.arange(1.0, 26))).method == "exact"
    assert wilcoxon(two(np.arange(1.0, 27))).method == "normal"


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("zeros", ["drop", "pratt"])
@pytest.mark.parametrize(
    "d",
    [
        [1, 1, 2],
        [0, 1, 2, -2],
        [1, -1, 2, 2, 3, 0, 0, -3, 4],
        [0.5, 0.5, -0.5],
        [0, 0, 1, 1, -2, 3, 3, 4, -4, 5, 6, 7, 7, -1, 2, 2, 9, 0],  # more than ten
    ],
)
def test_few_differences_with_ties_and_zeros_are_exact(d, zeros, alternative):
    found = wilcoxon(two(d), zeros=zeros, alternative=alternative)
    values = np.array(d, dtype=float)
    kept = values[values != 0] if zeros == "drop" else values
    ranks = stats.rankdata(np.abs(kept))[kept != 0]
    signs = np.array(list(itertools.product([0, 1], repeat=ranks.size)))  # every way the signs could have fallen
    sums, observed = signs @ ranks, ranks[kept[kept != 0] > 0].sum()
    less, greater = (sums <= observed + 1e-9).mean(), (sums >= observed - 1e-9).mean()
    expected = {"less": less, "greater": greater, "two-sided": min(1, 2 * min(less, greater))}[alternative]
    assert (found.method, found.p) == ("exact", pytest.approx(expected))


def test_ties_and_zeros_leave_it_exact_up_to_25_differences():
    d = [1, 1, *range(2, 25)]
    assert wilcoxon(two(d)).method == "exact"
    assert wilcoxon(two([0, 0, *d])).method == "exact"  # zeros are dropped
    assert wilcoxon(two([*d, 30])).method == "normal"
    assert wilcoxon(two([0, 0, *d]), zeros="split").method == "normal"


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(("zeros", "theirs"), [("drop", "wilcox"), ("pratt", "pratt"), ("split", "zsplit")])
def test_normal_p_is_that_of_scipy(zeros, theirs, alternative):
    # An even number of zeros: SciPy splits an odd number, too.
    d = np.array([0, 0, 1, 1, -2, 3, 3, 4, -4, 5, 6, 7])
    expected = stats.wilcoxon(d, zero_method=theirs, alternative=alternative, method="approx")
    found = wilcoxon(two(d), zeros=zeros, alternative=alternative, method="normal")
    assert found.zeros == zeros
    assert found.p == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(("zeros", "theirs"), [("drop", "wilcox"), ("pratt", "pratt")])
@pytest.mark.parametrize("d", [[0, 0, 0, -1], [3, -1, 4, 1.5, -9, 2.6, 5]])
def test_the_normal_p_of_few_is_to_be_had_by_name(d, zeros, theirs):
    # SciPy's own tests force it, too; exact p-values are those of a handful unless it is asked for.
    expected = stats.wilcoxon(d, zero_method=theirs, method="asymptotic")
    found = wilcoxon(two(np.array(d)), zeros=zeros, method="normal")
    assert (found.p, found.method) == (pytest.approx(expected.pvalue), "normal")
    assert wilcoxon(two(np.array(d)), zeros=zeros).method == "exact"


def test_one_of_an_odd_number_of_zeros_is_dropped_before_the_split():
    odd, even = [0, 0, 0, 1, 2, -3], [0, 0, 1, 2, -3]
    one, other = wilcoxon(two(odd), zeros="split"), wilcoxon(two(even), zeros="split")
    assert (one.statistic, one.p) == (other.statistic, other.p)
    assert one.equal == 3


def test_the_result_names_what_was_done_with_zeros():
    d = [0, 1, 2, -3]
    named = [wilcoxon(two(d), zeros=zeros).test for zeros in ("drop", "split", "pratt")]
    assert named == [
        "Wilcoxon signed rank, exact, equal data sets dropped",
        "Wilcoxon signed rank, normal, equal data sets split",
        "Wilcoxon signed rank, exact, Pratt's ranks",
    ]


@pytest.mark.parametrize("test", [sign_test, wilcoxon])
@pytest.mark.parametrize("best", ["high", "low"])
def test_a_one_sided_p_is_not_reversed(test, best):
    # pROC 64: "greater" is about the values, whichever end is best.
    d = [5, 4, 3, 2, 1, -0.5]
    assert test(two(d, best), alternative="greater").p < 0.5 < test(two(d, best), alternative="less").p
    assert test(two(d, best).only("b", "a"), alternative="less").p == test(two(d, best), alternative="greater").p


@pytest.mark.parametrize("test", [sign_test, wilcoxon])
def test_turning_the_models_keeps_p(test):
    one, other = test(TABLE.only("nb", "svm")), test(TABLE.only("svm", "nb"))
    assert one.p == pytest.approx(other.p)
    assert one.difference == -other.difference
    assert (one.wins, one.losses) == (other.losses, other.wins)


# --- identical models


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(
    ("test", "zeros"),
    [(sign_test, "drop"), (sign_test, "split"), (wilcoxon, "drop"), (wilcoxon, "split"), (wilcoxon, "pratt")],
)
def test_identical_models_have_difference_0_and_p_1(test, zeros, alternative):
    found = test(SAME.only("a", "b"), zeros=zeros, alternative=alternative)
    assert (found.difference, found.p) == (0, 1)
    assert found.words == "a and b do not differ: they are equal on every data set."


def test_identical_models_are_practically_equal():
    found = bayes_signed_rank(SAME.only("a", "b"), rope=0)
    assert (found.left, found.rope, found.right) == (0, 1, 0)
    assert found.reason == "they are equal on every data set"


# --- one data set


def test_one_data_set():
    assert wilcoxon(ONE.only("a", "b")).p == 1
    assert sign_test(ONE.only("a", "b")).p == 1
    assert bayes_signed_rank(ONE.only("a", "b")).left < 0.5


# --- the Bayesian signed-rank test


def test_the_seed_alone_decides():
    one, again = (bayes_signed_rank(TABLE.only("nb", "forest"), seed=1) for _ in range(2))
    assert one == again
    assert one != bayes_signed_rank(TABLE.only("nb", "forest"), seed=2)


def test_pieces_do_not_matter(monkeypatch):
    whole = bayes_signed_rank(TABLE.only("nb", "forest"))
    monkeypatch.setattr("scorespace.comparisons.datasets._NUMBERS_PER_CHUNK", 1000)
    assert bayes_signed_rank(TABLE.only("nb", "forest")) == whole


def test_probabilities_add_up_and_turn_with_the_models():
    one, other = (bayes_signed_rank(TABLE.only(*names)) for names in (("nb", "forest"), ("forest", "nb")))
    assert one.left + one.rope + one.right == pytest.approx(1)
    assert (one.left, one.rope, one.right) == pytest.approx((other.right, other.rope, other.left), abs=0.02)


def test_differences_on_the_edge_of_the_rope_are_in_it():
    table = dataset_table({"a": [0.31, 0.91, 0.56], "b": [0.3, 0.9, 0.55]}, best="high")
    assert bayes_signed_rank(table, rope=0.01).rope == 1


def test_a_single_difference_by_hand():
    # All pairs but that of the prior with itself are right of the rope: right wins when w₀² < ½, and P(w₀ < w) = √w.
    found = bayes_signed_rank(two([1.0]), rope=0.1)
    assert found.left == 0
    assert found.right == pytest.approx(math.sqrt(math.sqrt(0.5)), abs=0.02)
    assert found.rope == pytest.approx(1 - math.sqrt(math.sqrt(0.5)), abs=0.02)


# --- what a user can get wrong


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: dataset_table([[0.9, 0.8], [0.7, math.nan]], ["nb", "tree"], best="high"),
            "1 of the 4 values is missing or infinite.\n  seen: nan for tree on data set 2\n"
            "  hint: exclude that data set for all models",
        ),
        (
            lambda: dataset_table([0.9, 0.8], ["nb", "tree"], best="high"),
            "a comparison over data sets needs at least one data set and two models.\n  seen: an array of 2\n"
            "  hint: rows are data sets, columns are models",
        ),
        (
            lambda: dataset_table([[0.9], [0.8]], ["nb"], best="high"),
            "a comparison over data sets needs at least one data set and two models.\n  seen: an array of 2 × 1",
        ),
        (
            lambda: dataset_table(np.zeros((2, 3)), ["nb", "tree"], best="high"),
            "there must be one name for each column.\n  seen: 2 models, 3 columns",
        ),
        (
            lambda: dataset_table(np.zeros((2, 2)), ["nb", "nb"], best="high"),
            "two models have the same name.\n  seen: 'nb'\n  hint: a unique name for each model",
        ),
        (
            lambda: dataset_table({"nb": [1, 2], "tree": [1]}, best="high"),
            "the models were not measured on the same data sets.\n  seen: 2 for nb, 1 for tree\n"
            "  hint: a value of every model for every data set",
        ),
        (lambda: dataset_table([["a", "b"]], ["nb", "tree"], best="high"), "the values are not a matrix of numbers."),
    ],
)
def test_data_that_cannot_be_used(call, message):
    with pytest.raises(DataError) as caught:
        call()
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dataset_table(VALUES, NAMES, best="up"), "best='up' is not a direction."),
        (lambda: dataset_table(VALUES, best="high"), "the models have no names.\n  hint: models=[…], 4 of them"),
        (lambda: dataset_table({"a": [1], "b": [2]}, "ab", best="high"), "models= is for a matrix"),
        (
            lambda: wilcoxon(TABLE.only("nb", "forrest")),
            "'forrest' is not a model of this table.\n  seen: 'nb', 'tree', 'forest', 'svm'\n  hint: forest",
        ),
        (lambda: against_control(TABLE, "knn"), "'knn' is not a model of this table."),
        (lambda: nemenyi(TABLE, level=5), "level=5 is not a confidence level."),
        (lambda: bayes_signed_rank(TABLE.only("nb", "svm"), rope=-1), "rope=-1 is not a half width."),
    ],
)
def test_options_that_cannot_be_used(call, message):
    with pytest.raises(ScoreSpaceError) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_the_direction_must_be_stated():
    with pytest.raises(TypeError, match="best"):
        dataset_table(VALUES, NAMES)


# --- results


def test_words_of_a_pair():
    table = dataset_table({"nb": [5, 4, 3, 2, 1], "tree": [4, 2, 0, 2, 1.5]}, best="low", measure="brier")
    assert wilcoxon(table).words == (
        "nb is better than tree in brier on 1 of 5 data sets, worse on 3 and equal on 1, "
        "not statistically significant (Wilcoxon signed rank, exact, equal data sets dropped, p = 0.250)."
    )
    assert repr(wilcoxon(table)) == (
        "nb − tree +1.000  p = 0.250  Wilcoxon signed rank, exact, equal data sets dropped, 5 data sets"
    )


@pytest.mark.parametrize(
    "found",
    [
        *(test(table.only("a", "b")) for test in (sign_test, wilcoxon, bayes_signed_rank) for table in (SAME, ONE)),
        *(test(table) for test in (friedman, nemenyi) for table in (SAME, ONE, TABLE)),
        against_control(SAME, "a"),
    ],
)
def test_a_result_is_rows_and_json(found):
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["schema"] == 1
    assert told["rows"] == json.loads(json.dumps(found.rows()))
    assert told["verdict"] == found.words
    assert isinstance(found.notes, tuple)

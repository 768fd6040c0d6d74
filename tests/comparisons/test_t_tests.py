"""t-tests of paired numbers: against SciPy, and against what others got wrong."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from scorespace.comparisons.result import count_text, rounded
from scorespace.comparisons.t_tests import bayes_correlated_t, corrected_t, five_by_two_f, five_by_two_t, paired_t
from scorespace.errors import DataError, ScoreSpaceError

NAN = float("nan")
RNG = np.random.default_rng(3)
A, B = RNG.normal(0.85, 0.03, (3, 10)), RNG.normal(0.83, 0.03, (3, 10))
FIVE = RNG.normal(0.01, 0.02, (5, 2))
T_TESTS = [paired_t, lambda *values, **options: corrected_t(*values, ratio=0.25, **options)]
FIVE_BY_TWO = [five_by_two_t, five_by_two_f]


# --- the same numbers, given otherwise


def test_differences_alone_are_enough():
    two, one = corrected_t(A, B), corrected_t(A - B)
    assert (one.statistic, one.p) == pytest.approx((two.statistic, two.p))


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_paired_t_is_that_of_scipy(alternative):
    theirs = stats.ttest_rel(A.ravel(), B.ravel(), alternative=alternative)
    found = paired_t(A, B, alternative=alternative)
    assert (found.statistic, found.p) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_an_array_of_repeats_and_folds_tells_its_design():
    by_shape = corrected_t(A, B)
    assert by_shape == corrected_t(A.ravel(), B.ravel(), folds=10)
    assert by_shape.p == pytest.approx(corrected_t(A, B, ratio=1 / 9).p)
    assert bayes_correlated_t(A, B) == bayes_correlated_t(A.ravel(), B.ravel(), rho=0.1)


def test_a_ratio_of_zero_is_the_plain_test():
    assert corrected_t(A, B, ratio=0).p == pytest.approx(paired_t(A, B).p)


def test_the_correction_makes_p_larger_and_the_interval_wider():
    plain, corrected = paired_t(A, B), corrected_t(A, B)
    assert corrected.p > plain.p
    assert corrected.high - corrected.low > plain.high - plain.low


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_p_and_the_interval_agree(level):
    for found in (paired_t(A, B, level=level), corrected_t(A, B, level=level)):
        assert (found.p < 1 - level) == (not found.low <= 0 <= found.high)


# --- traps


def test_a_one_sided_p_is_not_reversed():
    # pROC 64: "greater" means that a is greater.
    assert A.mean() > B.mean()
    greater, less = (corrected_t(A, B, alternative=one).p for one in ("greater", "less"))
    assert greater < 0.5 < less
    assert greater + less == pytest.approx(1)
    assert corrected_t(B, A, alternative="less").p == pytest.approx(greater)


def test_the_plain_test_says_that_it_is_optimistic():
    found = paired_t(A, B, names=("nb", "tree"))
    assert [(note.level, note.code) for note in found.notes] == [("warning", "SS017")]
    assert "optimistic" in found.words
    assert not corrected_t(A, B).notes


@pytest.mark.parametrize("test", T_TESTS)
def test_identical_models_have_difference_0_and_p_1(test):
    # WEKA agrees here; for another constant difference it claims p = 0.
    found = test(A, A)
    assert (found.difference, found.statistic, found.p) == (0, 0, 1)
    assert found.reason == "they are equal in every fold"
    assert found.words == "a and b do not differ: they are equal in every fold."


@pytest.mark.parametrize("test", T_TESTS)
def test_a_constant_difference_has_no_p_and_says_why(test):
    found = test([0.3, 0.9, 0.6], [0.2, 0.8, 0.5])  # 0.1 each, but for rounding
    assert found.difference == 0.1
    assert math.isnan(found.statistic)
    assert math.isnan(found.p)
    assert found.reason == "the difference is the same in every fold, so its variance is zero"
    assert "no test is possible" in found.words


@pytest.mark.parametrize("test", FIVE_BY_TWO)
def test_five_by_two_of_identical_models(test):
    assert (test(FIVE, FIVE).difference, test(FIVE, FIVE).p) == (0, 1)


@pytest.mark.parametrize("test", FIVE_BY_TWO)
def test_five_by_two_without_spread_within_repeats(test):
    found = test([[0.1, 0.1], [0.2, 0.2], [0.1, 0.1], [0.3, 0.3], [0.1, 0.1]])
    assert math.isnan(found.p)
    assert found.reason == "the two folds of each repeat have the same difference, so its variance is zero"


def test_the_t_of_five_by_two_depends_on_one_arbitrary_fold_and_the_f_does_not():
    turned = FIVE[::-1]
    assert five_by_two_t(FIVE).p != pytest.approx(five_by_two_t(turned).p)
    assert five_by_two_f(FIVE).p == pytest.approx(five_by_two_f(turned).p)


# --- few folds


def test_two_folds_are_enough_for_a_test():
    found = corrected_t([0.1, 0.3], folds=2)
    assert found.df == 1
    assert found.statistic == pytest.approx(0.2 / math.sqrt((1 / 2 + 1) * 0.02))
    assert 0 < found.p < 1


@pytest.mark.parametrize("test", T_TESTS)
def test_one_fold_is_not(test):
    found = test([0.1])
    assert (found.difference, found.reason) == (0.1, "a single difference has no variance")
    assert math.isnan(found.p)
    assert test([0.0]).p == 1


# --- the posterior


def test_the_posterior_adds_up_and_turns_with_the_models():
    found, turned = bayes_correlated_t(A, B), bayes_correlated_t(B, A)
    assert found.left + found.rope + found.right == pytest.approx(1)
    assert (found.left, found.rope, found.right) == pytest.approx((turned.right, turned.rope, turned.left))
    assert found.right > found.left  # a is higher


@pytest.mark.parametrize(
    ("difference", "expected"),
    [(0.0, (0, 1, 0)), (0.005, (0, 1, 0)), (0.01, (0, 1, 0)), (0.02, (0, 0, 1)), (-0.02, (1, 0, 0))],
)
def test_without_spread_the_posterior_is_a_point(difference, expected):
    found = bayes_correlated_t([difference] * 4, folds=4)
    assert (found.left, found.rope, found.right) == expected
    assert found.reason == "the difference is the same in every fold, so the posterior is a point"


def test_one_difference_has_no_posterior():
    found = bayes_correlated_t([0.1], rho=0.1)
    assert all(map(math.isnan, (found.left, found.rope, found.right)))
    assert found.words == "a and b cannot be compared: a single difference has no variance."


def test_a_wider_rope_holds_more():
    shares = [bayes_correlated_t(A, B, rope=rope).rope for rope in (0, 0.01, 0.05, 1)]
    assert shares == sorted(shares)
    assert shares[0] == pytest.approx(0, abs=1e-12)
    assert shares[-1] == pytest.approx(1)


# --- what a user can get wrong


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: paired_t([0.9, NAN, 0.8], [0.8, 0.9, 0.7], names=("nb", "tree")),
            "1 of the values of nb is missing or infinite.\n  seen: nan in fold 2\n"
            "  hint: exclude that fold for both models",
        ),
        (
            lambda: corrected_t([[0.1, 0.2], [math.inf, 0.1]]),
            "1 of the differences is missing or infinite.\n  seen: inf in repeat and fold 2, 1\n"
            "  hint: exclude that fold for both models",
        ),
        (
            lambda: paired_t([1, 2, 3], [1, 2]),
            "the two models were not measured on the same folds.\n  seen: 3 values for a, 2 values for b\n"
            "  hint: the same folds for both, in the same order",
        ),
        (
            lambda: paired_t([]),
            "the differences are neither a list nor a table of folds.\n  seen: 0 values\n"
            "  hint: one value per fold, or an array of repeats × folds",
        ),
        (
            lambda: five_by_two_t(np.zeros((2, 5))),
            "a 5×2cv test needs five repeats of two folds.\n  seen: an array of 2 × 5\n"
            "  hint: an array of 5 rows (repeats) and 2 columns (folds)",
        ),
        (lambda: paired_t(["high", "low"]), "the differences are not an array of numbers."),
    ],
)
def test_data_that_cannot_be_used(call, message):
    with pytest.raises(DataError) as caught:
        call()
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: corrected_t([0.1, 0.2, 0.3]),
            "the number of folds is unknown.\n  seen: 3 values\n"
            "  hint: folds=10, an array of repeats × folds, or ratio=1/9 (test cases by training cases)",
        ),
        (lambda: corrected_t([0.1, 0.2, 0.3], folds=2), "folds=2 does not divide the 3 differences."),
        (lambda: corrected_t([0.1, 0.2], folds=1), "folds=1 leaves no cases to train on."),
        (lambda: corrected_t(A, B, folds=10, ratio=0.1), "folds= and ratio= are two ways to say the same."),
        (lambda: corrected_t(A, B, ratio=-1), "ratio=-1 is not a ratio of test to training cases."),
        (lambda: bayes_correlated_t(A, B, rho=1), "rho=1 is not a correlation of folds."),
        (lambda: bayes_correlated_t(A, B, folds=10, rho=0.1), "folds= and rho= are two ways to say the same."),
        (lambda: bayes_correlated_t(A, B, rope=-0.1), "rope=-0.1 is not a half width."),
        (lambda: bayes_correlated_t(A, B, rope=NAN), "rope=nan is not a half width."),
        (lambda: paired_t(A, B, alternative="more"), "alternative='more' is not an alternative."),
        (lambda: paired_t(A, B, level=95), "level=95 is not a confidence level."),
        (lambda: paired_t(A, B, names=("nb",)), "names=('nb',) does not name two models."),
        (lambda: paired_t(A, B, names=3), "names=3 does not name two models."),
        (lambda: paired_t(np.array([1j, 2j])), "the differences are not an array of numbers."),
        (lambda: paired_t([10**400, 1]), "the differences are not an array of numbers."),
    ],
)
def test_options_that_cannot_be_used(call, message):
    with pytest.raises(ScoreSpaceError) as caught:
        call()
    assert str(caught.value).startswith(message)


# --- results


def test_text():
    found = corrected_t([0.02, 0.01, 0.04, 0.01], folds=4, names=("nb", "tree"), measure="auc")
    assert repr(found) == "nb − tree +0.020 [−0.014, 0.054]  p = 0.161  corrected t, 4 folds"
    assert found.words == (
        "nb is 0.02 higher than tree in auc on average over 4 folds, not statistically significant "
        "(corrected t, p = 0.161)."
    )
    sure = corrected_t([0.02, 0.021, 0.022, 0.02], folds=4, alternative="greater")
    assert sure.words == (
        "a is 0.0208 higher than b on average over 4 folds, statistically significant "
        "(corrected t, p < 0.001, one-sided: a greater)."
    )


def test_text_of_a_posterior():
    found = bayes_correlated_t([0.02, 0.01, 0.04, 0.01], folds=4, names=("nb", "tree"))
    assert found.words == (
        "nb is higher than tree by more than 0.01 with probability 0.789, lower by more than 0.01 with 0.035, "
        "and practically equal with 0.177 (Bayesian correlated t, 4 folds)."
    )


@pytest.mark.parametrize(
    "found",
    [paired_t(A, B), corrected_t(A, A), paired_t([0.1]), five_by_two_f(FIVE), bayes_correlated_t([0.1], rho=0.1)],
)
def test_a_result_is_rows_and_json(found):
    (row,) = found.rows()
    assert {"a", "b", "test", "measure", "difference", "reason"} <= set(row)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["schema"] == 1
    assert told["verdict"] == found.words
    assert told["over"] == "folds"
    assert all(note["code"].startswith("SS") for note in told["notes"])


def test_rows_carry_what_every_comparison_does():
    (row,) = five_by_two_f(FIVE, names=("nb", "tree"), measure="auc").rows()
    assert (row["a"], row["b"], row["test"], row["measure"]) == ("nb", "tree", "5×2cv F", "auc")
    assert row["df"] == [10, 5]
    assert row["low"] is row["high"] is None
    assert {"statistic", "p"} <= set(row)


def test_results_are_equal_by_value():
    assert paired_t(A, B) == paired_t(A, B)
    assert paired_t([0.1]) == paired_t([0.1])
    assert paired_t(A, B) != paired_t(B, A)


# --- numbers


def test_differences_that_mean_the_same_are_the_same():
    d = np.array([0.3 - 0.2, 0.9 - 0.8, 0.15 - 0.05])
    assert len(set(d)) > 1
    assert set(rounded(d, [0.3, 0.9, 0.15])) == {0.1}


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e9, 1e300])
def test_rounding_keeps_the_scale(scale):
    assert rounded(np.array([scale, 0.0, -scale / 3]), [scale, 0.0, scale]) == pytest.approx(
        [scale, 0, -scale / 3], rel=1e-10, abs=0
    )


def test_tests_do_not_depend_on_the_scale():
    small = corrected_t(A * 1e-9, B * 1e-9)
    assert small.p == pytest.approx(corrected_t(A, B).p)


def test_extent():
    assert [count_text(count, "data sets") for count in (1, 2)] == ["1 data set", "2 data sets"]

"""Columns of numbers: which scores and weights are taken, and what is said of the others."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from scorespace.errors import ScoreError, WeightError
from scorespace.measures.ranking import auc
from scorespace.tables import score_table
from scorespace.tables.columns import (
    MAX_EXACT_INTEGER,
    MAX_MAGNITUDE,
    MIN_MAGNITUDE,
    check_magnitudes,
    check_weight_sum,
)

TRUTH, SCORE = [1, 0, 1, 0, 1], [0.9, 0.8, 0.4, 0.4, 0.1]


# --- scores that cannot be used

SCORES_OF_ANY_KIND = [
    np.array(SCORE, dtype=np.float64),
    pd.Series(SCORE),
    pd.array(SCORE, dtype="Float64"),
    pl.Series(SCORE),
    pa.array(SCORE),
    tuple(SCORE),
    np.array(SCORE, dtype=object),
]


@pytest.mark.parametrize("score", SCORES_OF_ANY_KIND, ids=lambda score: type(score).__name__)
def test_scores_of_any_kind(score):
    assert score_table(TRUTH, score) == score_table(TRUTH, SCORE)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, None])
def test_missing_and_infinite_scores_are_refused(bad):
    with pytest.raises(ScoreError) as caught:
        score_table(TRUTH, [0.1, bad, 0.2, 0.3, bad])
    assert str(caught.value) == (
        "score has missing or infinite values.\n"
        "  seen: 2 of 5 cases\n"
        "  hint: drop those cases, or replace infinities by the largest finite score"
    )


def test_finite_scores_whose_sum_is_infinite_are_fine():
    assert auc(score_table([1, 0], [1.7e308, 1.6e308])) == 1


def test_scores_outside_0_and_1_are_taken_as_they_are():
    # torchmetrics squashed each batch with such values, so the area depended on the batch size (2819, 2195).
    assert score_table([1, 0, 1], [-3.0, 0.5, 7.0]).score.tolist() == [7.0, 0.5, -3.0]


def test_text_is_no_score():
    with pytest.raises(ScoreError, match="must be numbers"):
        score_table([1, 0], ["high", "low"])


def test_truth_and_score_of_different_length_are_refused():
    with pytest.raises(ScoreError) as caught:
        score_table([1, 0, 1], [0.1, 0.2])
    assert (
        str(caught.value) == "truth and score differ in length.\n  seen: 3 labels and scores of shape (2,)\n"
        "  hint: one score for each label"
    )


# --- weights


@pytest.mark.parametrize("weight", [[1, 1], [1] * 6, 1, [[1, 1, 1, 1, 1]]])
def test_weights_of_the_wrong_length_are_refused(weight):
    # PyCM ignored them.
    with pytest.raises(WeightError) as caught:
        score_table(TRUTH, SCORE, weight=weight)
    shape = np.shape(weight)
    assert (
        str(caught.value) == f"truth and weight differ in length.\n  seen: 5 labels and weights of shape {shape}\n"
        "  hint: one weight for each label"
    )


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), None])
def test_negative_and_missing_weights_are_refused(bad):
    # scikit-learn accepted negative weights (15531).
    with pytest.raises(WeightError) as caught:
        score_table(TRUTH, SCORE, weight=[1, 1, bad, 1, 1])
    assert str(caught.value) == (
        "weights must be finite and not negative.\n  seen: 1 of 5 weights are invalid\n  hint: weight 0 excludes a case"
    )


def test_weights_that_are_no_numbers_are_refused():
    with pytest.raises(WeightError):
        score_table(TRUTH, SCORE, weight=list("abcde"))


def test_weights_must_not_all_be_zero():
    with pytest.raises(
        WeightError,
        match=r"^all weights are zero: there is nothing to evaluate.\n  hint: a weight above 0, or no weights$",
    ):
        score_table(TRUTH, SCORE, weight=[0] * 5)


@pytest.mark.parametrize(
    "weights", [[MAX_EXACT_INTEGER], [MAX_EXACT_INTEGER / 2, MAX_EXACT_INTEGER / 2], [1.0, MIN_MAGNITUDE / 2]]
)
def test_weights_that_cannot_be_counted_or_multiplied_are_refused(weights):
    with pytest.raises(WeightError, match=r"the weights (is|are) too (large|small)"):
        check_weight_sum(np.array(weights), "the weights")


@pytest.mark.parametrize("numbers", [[2 * MAX_MAGNITUDE, 1.0], [MIN_MAGNITUDE / 2, 0.0]])
def test_numbers_whose_squares_are_none_are_refused(numbers):
    with pytest.raises(ScoreError, match=r"whose squares (over|under)flow"):
        check_magnitudes(np.array(numbers), "these are numbers")


def test_the_largest_and_the_smallest_are_taken():
    check_weight_sum(np.array([MAX_EXACT_INTEGER - 1, MIN_MAGNITUDE, 0.0]), "the weights")
    check_magnitudes(np.array([MAX_MAGNITUDE, MIN_MAGNITUDE, 0.0]), "these are numbers")

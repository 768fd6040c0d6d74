"""Tests between coarse tables hold whatever the order of the cases inside the bins."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorespace.comparisons.bounds import widen_by_bounds
from scorespace.comparisons.delong import binned_covariance, delong_covariance
from scorespace.comparisons.result import Comparison, one_sided
from scorespace.errors import ScoreSpaceError
from scorespace.evaluation.api import evaluate
from scorespace.tables import score_table
from scorespace.tables.bins import bin_keys
from scorespace.tables.paired import binned_pair, pair_table


@st.composite
def two_models(draw):
    """Cases of both classes with the scores of two models, tied or not."""
    cases = draw(st.integers(6, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = np.arange(cases) % 2
    levels = draw(st.sampled_from([4, 30, 10**6]))
    a = np.round(rng.random(cases) * levels) / levels
    b = np.where(rng.random(cases) < draw(st.floats(0, 1)), a, rng.random(cases))
    return truth, a, b


def binned(truth, scores, fine, coarse, edges=()):
    """The fine tables of two models, and the bins of both together."""
    tables = {name: score_table(truth, score).rounded(fine, edges) for name, score in scores.items()}
    keys = [bin_keys(score, coarse, edges) for score in scores.values()]
    rows, times = np.unique(np.stack([*keys, truth]), axis=1, return_counts=True)
    named = dict(zip(scores, rows[:2], strict=True))
    return tables, binned_pair(named, rows[2].astype(int), times, ("0", "1"), 1)


@given(drawn=two_models(), fine=st.sampled_from([38, 48, 50]))
@settings(max_examples=40)
def test_the_true_standard_error_is_no_larger(drawn, fine):
    truth, a, b = drawn
    scores = {"a": a, "b": b}
    _, exact = delong_covariance(pair_table(truth, scores))
    tables, pairs = binned(truth, scores, fine, 50)
    _, found, spread = binned_covariance(pairs, list(tables.values()))
    true = exact[0, 0] + exact[1, 1] - 2 * exact[0, 1]
    told = found[0, 0] + found[1, 1] - 2 * found[0, 1]
    assert math.isinf(spread) or true <= told * spread**2 * (1 + 1e-9) + 1e-12


@given(drawn=two_models())
@settings(max_examples=40)
def test_bins_of_single_scores_give_the_test_of_the_cases(drawn):
    truth, a, b = drawn
    scores = {"a": a, "b": b}
    areas, exact = delong_covariance(pair_table(truth, scores))
    tables, pairs = binned(truth, scores, 0, 0)
    found_areas, found, spread = binned_covariance(pairs, list(tables.values()))
    assert found_areas == pytest.approx(areas)
    assert found == pytest.approx(exact, abs=1e-12)
    if all(np.unique(score).size == score.size for score in (a, b)):
        assert spread == pytest.approx(1.0, abs=1e-6) or exact[0, 0] + exact[1, 1] - 2 * exact[0, 1] < 1e-9


@pytest.fixture(scope="module")
def both():
    """The same cases evaluated one by one and in bins: two models that are alike, and a third."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 4000)
    z, noise = rng.normal(size=(2, truth.size))
    logits = {"a": z + truth, "b": z + 0.95 * truth + 0.3 * noise, "c": z + 0.9 * truth - 0.5 * noise}
    columns = {"y": truth, **{name: 1 / (1 + np.exp(-one)) for name, one in logits.items()}}
    import polars as pl

    roles = {"truth": "y", "scores": list(logits)}
    exact = evaluate(columns, paired=True, **roles)
    return exact, evaluate(pl.DataFrame(columns).lazy(), memory=1000, paired=True, at=[0.3], **roles)


@pytest.mark.parametrize(
    ("asked", "close"),
    [
        ({}, 0.05),
        ({"measure": "gini"}, 0.05),
        ({"test": "bootstrap"}, 0.15),
        ({"measure": "brier"}, 0.15),
        ({"measure": "tpr@0.3"}, 0.15),
        ({"at": 0.3}, 1e-9),
        ({"test": "mcnemar"}, 1e-9),
    ],
)
def test_the_answers_are_those_of_the_cases(both, asked, close):
    exact, coarse = (one.compare("a", "b", **asked)[0] for one in both)
    low, high = coarse.certified
    assert low - 1e-12 <= exact.difference <= high + 1e-12
    assert coarse.high - coarse.low == pytest.approx(exact.high - exact.low, rel=close)
    if exact.test == "delong":
        assert coarse.low <= exact.low
        assert coarse.high >= exact.high
        assert coarse.p >= exact.p
        assert coarse.statistic == pytest.approx(exact.statistic, rel=5e-3)
    if exact.table is not None:
        assert coarse.table == exact.table


def test_several_models_two_by_two(both):
    exact, coarse = (one.compare() for one in both)
    assert [(one.a, one.b) for one in coarse] == [(one.a, one.b) for one in exact]
    assert coarse[0].statistic == pytest.approx(exact[0].statistic, rel=5e-2)
    assert coarse[0].df[0] == 2
    assert coarse.adjustment == "holm"


@pytest.mark.parametrize("asked", [{"alternative": "greater"}, {"test": "mcnemar"}, {"measure": "brier"}])
def test_of_bins_all_at_once_are_tested_where_the_test_says_so(both, asked):
    assert len(both[1].compare(**asked)) == 3  # one-sided, of decisions and of any measure there is no such test


def test_one_model_of_bins_is_not_compared(both):
    with pytest.raises(ScoreSpaceError, match=r"a comparison needs two models\.\n  seen: 'a'"):
        both[1].compare("a")


def test_swapping_needs_the_cases(both):
    from scorespace.errors import MeasureError

    with pytest.raises(MeasureError) as refused:
        both[1].compare("a", "b", test="permutation")
    assert str(refused.value) == (
        'The permutation test swaps cases one by one.\n  seen: binned cases\n  hint: test="bootstrap"'
    )


def test_rows_tell_what_is_certain(both):
    row = both[1].compare("a", "b").rows()[0]
    assert row["certified_low"] < row["difference"] < row["certified_high"]
    assert "certified_low" not in both[0].compare("a", "b").rows()[0]


@pytest.mark.parametrize("asked", [{}, {"test": "delong"}, {"test": "bootstrap"}, {"measure": "brier"}])
def test_against_a_value_and_another_sample(both, asked):
    exact, coarse = (one.compare_against(0.7, "a", **asked)[0] for one in both)
    assert coarse.certified[0] - 1e-12 <= exact.difference <= coarse.certified[1] + 1e-12
    assert coarse.low <= exact.low + 2e-3
    other = both[1].compare_with(both[1], "a", **asked)[0]
    assert other.certified[0] <= 0 <= other.certified[1]
    assert other.p == 1.0 or math.isnan(other.p)


def test_what_is_not_known_is_said(both):
    found = both[1].compare_against(0.6, "a", measure="cal_slope")
    assert math.isnan(found[0].certified[0])
    assert "the binning error of this difference is unknown" in found[0].notes[-1].text


def test_no_difference_is_shown_where_the_bounds_hold_zero():
    found = widen_by_bounds(Comparison("a", "b", "delong", "auc", 0.001, 0.0005, 0.0015, p=1e-6), (-0.001, 0.003))
    assert found.p == 1.0
    assert (found.low, found.high) == pytest.approx((-0.0015, 0.0035))


def test_one_side_alone_is_widened_as_half_of_both():
    found = Comparison("a", "b", "delong", "auc", 0.1, 0.02, 0.18, p=0.0143)
    both, one = widen_by_bounds(found, (0.08, 0.12)), widen_by_bounds(one_sided(found, "greater"), (0.08, 0.12))
    assert one.p == pytest.approx(both.p / 2, rel=1e-12)

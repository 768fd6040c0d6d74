"""Parity between slices: fairlearn's numbers, Donner and Zou's ratio, and intervals that hold."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.oracles.load import reference

import scorespace as ss
from scorespace.comparisons.difference import mover_interval
from scorespace.comparisons.parity import fairness_criteria, ratio_interval
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.tables import confusion, score_table


def rates(positives: int, cases: int) -> BootstrapDraws:
    """A slice with so many selected of so many cases, half of them positive."""
    half = cases // 2
    tp = min(positives, half)
    return BootstrapDraws(
        {"m": confusion([[tp, half - tp], [positives - tp, cases - half - positives + tp]], classes=["1", "0"])}
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_fairlearn(weighted: bool) -> None:
    oracle = reference("fairness")
    given_, expected = oracle["input"], oracle["expected"]["weighted" if weighted else "plain"]
    data = {name: list(given_[name]) for name in ("group", "truth", "decision")}
    data["weight"] = [int(one) / 2 for one in given_["twice_weight"]]
    evaluation = ss.evaluate(
        data,
        truth="truth",
        decisions="decision",
        by="group",
        measures="acc",
        columns={"weight": "weight" if weighted else None},
        settings={"parity": True},
    )
    assert evaluation.slices is not None
    found = {one.criterion: one for one in evaluation.slices.parity}
    assert set(found) == set(expected)
    for name, (difference, ratio) in expected.items():
        assert found[name].difference == pytest.approx(difference)
        assert found[name].ratio == pytest.approx(ratio)
        assert found[name].low <= difference <= found[name].high
        assert found[name].ratio_low <= ratio <= found[name].ratio_high


def test_calibration_in_the_large_of_scores() -> None:
    low, high = score_table([1, 0, 1, 0] * 10, [0.5, 0.5, 0.6, 0.4] * 10), score_table([1, 1, 0, 1] * 10, [0.4] * 40)
    found = fairness_criteria("m", {"a": BootstrapDraws({"m": low}), "b": BootstrapDraws({"m": high})}, 0.5)
    assert found[-1].criterion == "mean calibration"
    assert found[-1].difference == pytest.approx(0.35)  # 0.75 − 0.4 against 0
    assert math.isnan(found[-1].ratio)


def test_four_fifths_in_words() -> None:
    def words(*selected: int) -> str | None:
        slices = {name: rates(one, 200) for name, one in zip("ab", selected, strict=True)}
        return fairness_criteria("m", slices, None)[0].words

    assert words(80, 70) is None
    told = "m selects b less than four fifths as often as a"
    assert words(100, 40) == f"{told} (0.400 [0.293, 0.543]), significantly."
    assert words(30, 23) == f"{told} (0.767 [0.464, 1.000]), not significantly."


def test_four_fifths_are_a_note() -> None:
    """SS093 is told of an evaluation by slices, once for each model that breaks the rule, and else not."""

    def codes(*selected: int) -> list[str]:
        score = [k < share for share in selected for k in range(200)]
        data = {"y": [k % 2 for k in range(400)], "p": np.array(score, float), "g": np.repeat(["a", "b"], 200)}
        found = ss.evaluate(data, truth="y", scores="p", by="g", settings={"parity": True})
        return [one.code for one in found.notes if one.code == "SS093"]

    assert codes(100, 40) == ["SS093"]
    assert codes(80, 70) == []


def test_a_slice_without_a_class_is_named_and_left_out() -> None:
    none = BootstrapDraws({"m": confusion([[0, 0], [3, 7]], classes=["1", "0"])})
    found = {
        one.criterion: one for one in fairness_criteria("m", {"a": rates(9, 20), "b": rates(5, 20), "c": none}, None)
    }
    assert found["equal opportunity"].reason == "undefined in c"
    assert found["equal opportunity"].difference == pytest.approx(0.4)
    assert found["demographic parity"].reason is None


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.floats(0.01, 0.9), st.floats(0.01, 0.9))
def test_a_bound_of_a_ratio_is_where_the_difference_would_just_be_zero(a: float, b: float, u: float, v: float) -> None:
    """The definition of MOVER's ratio: at r, the interval of a − r b by `mover_interval` touches 0."""
    of_a, of_b = (a * (1 - u), a + (1 - a) * u), (b * (1 - v), b + (1 - b) * v)
    low, high = ratio_interval(a, of_a, b, of_b)
    assert low <= a / b <= high
    for ratio, side in ((low, 0), (high, 1)):
        bounds = mover_interval(a, of_a, ratio * b, (ratio * of_b[0], ratio * of_b[1]))
        assert bounds[side] == pytest.approx(0, abs=1e-9)


def test_without_a_gap_the_interval_of_the_difference_reaches_zero() -> None:
    rng = np.random.default_rng(3)
    above = 0
    for _ in range(60):
        slices = {name: rates(int(rng.binomial(60, 0.4)), 60) for name in "abcd"}
        above += fairness_criteria("m", slices, None)[0].low > 0
    assert above <= 7  # 0.05 · 60 and two standard errors


def test_weights_that_are_no_copies_leave_parity_without_an_interval() -> None:
    rng = np.random.default_rng(5)
    data = {"y": rng.integers(0, 2, 60), "s": rng.random(60), "part": ["a", "b"] * 30, "w": rng.choice([0.5, 1, 2], 60)}
    found = ss.evaluate(data, truth="y", scores="s", weight="w", weights="copies", by="part", measures="acc@0.5").slices
    assert found is not None
    for one in found.parity:
        assert one.difference >= 0
        assert math.isnan(one.low)
        assert math.isnan(one.high)
        assert "not whole numbers" in str(one.reason)


def test_several_columns_widen_the_intervals() -> None:
    two = {"a": rates(80, 200), "b": rates(60, 200)}
    one, both = (fairness_criteria("m", two, None, columns=columns)[0] for columns in (1, 2))
    wider = fairness_criteria("m", two, None, level=0.975)[0]  # Bonferroni over two columns
    assert (both.low, both.high, both.ratio_low) == (wider.low, wider.high, wider.ratio_low)
    assert one.high < both.high
    assert (one.level, both.level) == (0.95, 0.95)


def test_an_unknown_end_leaves_the_interval_unknown() -> None:
    unknown = (math.nan, math.nan)
    assert all(map(math.isnan, mover_interval(0.4, unknown, 0.5, (0.4, 0.6))))
    assert all(map(math.isnan, ratio_interval(0.4, unknown, 0.5, (0.4, 0.6))))


def test_a_rate_that_no_group_changes_is_not_certain() -> None:
    rng = np.random.default_rng(0)
    data = {
        "y": [*rng.integers(0, 2, 60).tolist(), *[0] * 6],
        "d": [*rng.integers(0, 2, 60).tolist(), 1, 1, 0, 0, 0, 0],
        "patient": [*(k // 2 for k in range(66))],
        "ward": ["A"] * 30 + ["B"] * 30 + ["C"] * 6,
    }
    roles = {"truth": "y", "decisions": "d", "columns": {"group": "patient"}, "by": "ward"}
    found = ss.evaluate(data, **roles, measures="acc, ppv", settings={"parity": True}).slices
    assert found is not None
    (one,) = [one for one in found.parity if one.criterion == "predictive parity"]
    assert (one.lowest, one.ratio) == ("C", 0.0)
    assert all(map(math.isnan, (one.low, one.high, one.ratio_low, one.ratio_high)))
    assert one.reason == "all bootstrap replicates gave the same value of ppv in C"
    (told,) = [note.text for note in found.notes if note.code == "SS012"]
    assert told == "all bootstrap replicates gave the same value of ppv of d for C: this interval is not informative."


def test_many_slices_are_judged_by_students_t_and_not_by_far_quantiles():
    # 15 slices have 105 pairs, each at 1 − 0.05 / 105: of 2 000 replicates, half a one lies beyond that.
    rng = np.random.default_rng(5)
    samples, slices = {}, {}
    for name in "abcdefghijklmno":
        score = rng.beta(1, 3, 80)
        label = (rng.random(80) < score).astype(int)
        slices[name] = label - score
        samples[name] = BootstrapDraws({"m": score_table(label, score, positive=1)})
    found = next(one for one in fairness_criteria("m", samples, 0.5) if one.criterion == "mean calibration")
    level = 1 - 0.05 / 105
    ends = {}
    for name, gaps in slices.items():
        reach = stats.t.ppf((1 + level) / 2, 79) * gaps.std(ddof=1) / math.sqrt(80)
        ends[name] = gaps.mean(), gaps.mean() - reach, gaps.mean() + reach
    highs = [a[0] - b[0] + math.hypot(a[2] - a[0], b[0] - b[1]) for a, b in itertools.permutations(ends.values(), 2)]
    assert found.difference == pytest.approx(max(a[0] for a in ends.values()) - min(a[0] for a in ends.values()))
    assert found.high == pytest.approx(max(highs), rel=0.05)  # the spread is that of replicates
    assert found.low == 0


@pytest.mark.slow
def test_fifteen_slices_without_a_gap_are_called_unfair_in_at_most_one_of_twenty_samples():
    rng = np.random.default_rng(6)
    called = 0
    for _ in range(120):
        samples = {}
        for name in "abcdefghijklmno":
            score = rng.beta(1, 3, 60)
            label = (rng.random(60) < score).astype(int)
            samples[name] = BootstrapDraws({"m": score_table(label, score, positive=1)}, seed=ord(name))
        called += (
            next(one for one in fairness_criteria("m", samples, 0.5) if one.criterion == "mean calibration").low > 0
        )
    assert called / 120 <= 0.065

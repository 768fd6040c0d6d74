"""Values per case: models, groups, repeats, ranges and directions, and what is wrong with data."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.comparisons.leaderboard import FROM_MODELS
from scorespace.errors import ColumnError, DataError, MeasureError, ScoreError, ScoreSpaceError

RNG = np.random.default_rng(4)
BASE = RNG.normal(0, 1, 36)
VALUES = {f"m{k}": BASE + 0.4 * k + RNG.normal(0, 0.6, 36) for k in range(5)}
TWO = {name: VALUES[name] for name in ("m0", "m1")}
GROUPS = np.repeat(np.arange(12), 3)


def codes(evaluation):
    return {one.code for one in evaluation.notes}


def test_arrays_columns_and_frames_are_alike():
    frame = {**TWO, "g": GROUPS}
    found = ss.evaluate(values=TWO)
    assert found.measures("mean")[0].value == pytest.approx(TWO["m0"].mean())
    assert [*found.measures("mean")] == [*ss.evaluate(frame, values=["m0", "m1"]).measures("mean")]
    assert [*found.measures("mean")] == [*ss.evaluate(frame, values={"m0": "m0", "m1": TWO["m1"]}).measures("mean")]
    assert found.verdict.startswith("m1 is best") or "No clear difference in mean" in found.verdict


def test_a_difference_in_compare_is_that_of_the_values():
    ev = ss.evaluate(values=TWO)
    for measure in ("mean", "share(at_least=0.5)", "sd", "worst", "quantile(q=0.25)"):
        a, b = ev.measures(measure)
        assert ev.compare(measure=measure)[0].difference == pytest.approx(a.value - b.value)


def test_the_median_of_differences_is_another_number():
    ev = ss.evaluate(values=TWO)
    within = ev.compare(measure="median")[0]
    assert within.difference == pytest.approx(np.median(TWO["m0"] - TWO["m1"]))
    assert np.isnan(within.value_a)
    between = ev.compare(measure="median", test="median_difference(diff=between)")[0]
    assert between.difference == pytest.approx(np.median(TWO["m0"]) - np.median(TWO["m1"]))


def test_identical_values_differ_by_exactly_zero():
    test = ss.evaluate(values={"a": BASE, "b": BASE}).compare()[0]
    assert (test.difference, test.low, test.high, test.p) == (0, 0, 0, 1)


def test_repeated_rows_of_groups_do_not_narrow_the_interval():
    grouped = ss.evaluate({"g": np.repeat(np.arange(36), 4)}, values={"a": np.repeat(BASE, 4)}, columns={"group": "g"})
    one, alone = grouped.measures("mean")[0], ss.evaluate(values={"a": BASE}).measures("mean")[0]
    assert (one.value, one.low, one.high) == pytest.approx((alone.value, alone.low, alone.high))
    assert one.method == "mean-t of groups"


def test_few_groups_are_noted():
    groups = np.repeat(np.arange(4), 9)
    assert "SS183" in codes(ss.evaluate({"g": groups}, values={"a": BASE}, columns={"group": "g"}))
    one = ss.evaluate({"g": np.zeros(36)}, values={"a": BASE}, columns={"group": "g"}).measures("mean")[0]
    assert np.isnan(one.low)
    assert "1 case" in one.reason


def test_weights_of_two_are_not_rows_of_two_but_values_agree():
    weight = RNG.integers(1, 4, 36)
    weighted = ss.evaluate({"w": weight}, values={"a": BASE}, columns={"weight": "w"}).measures("mean", "median", "sd")
    rows = ss.evaluate(values={"a": np.repeat(BASE, weight)}).measures("mean", "median")
    assert [one.value for one in weighted][:2] == pytest.approx([one.value for one in rows])
    assert weighted[1].method == "woodruff"


def test_copies_are_cases():
    copies = RNG.integers(1, 4, 36)
    data, names = {"w": copies}, ("mean", "median", "worst", "share(at_least=0)")
    columns = {"weight": "w", "weights": "copies"}
    counted = ss.evaluate(data, values={"a": BASE}, columns=columns).measures(*names)
    rows = ss.evaluate(values={"a": np.repeat(BASE, copies)}).measures(*names)
    for one, other in zip(counted, rows, strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high)), one.spec


def test_items_without_a_value_in_every_run_are_means_of_items():
    data = {"item": [1, 1, 2, 2, 2, 3, 3], "run": [1, 2, 1, 2, 3, 1, 2], "v": [1.0, 3, 2, 2, 5, 4, 4]}
    ev = ss.evaluate(data, values="v", columns={"group": "item", "repeat": "run"})
    assert ev.measures("mean")[0].value == pytest.approx((2 + 3 + 4) / 3)
    assert "SS182" in codes(ev)
    with pytest.raises(MeasureError, match="every item in every run"):
        ev.measures("mean(over=runs)")


def test_low_values_can_be_better():
    ev = ss.evaluate(values=VALUES, columns={"lower_is_better": True})
    assert ev.leaderboard.entries[0].model == "m0"
    assert ev.measures("mean")[0].spec.best == "low"
    assert str(ev.measures("mean")[0].spec) == "mean"
    high = ss.evaluate(values=VALUES).measures("worst")[0].value
    assert ev.measures("worst")[0].value > high
    assert ev.measures("worst")[0].value == pytest.approx(
        -ss.evaluate(values={name: -one for name, one in VALUES.items()}).measures("worst")[0].value
    )


def test_intervals_stay_in_the_stated_range():
    values = np.r_[np.ones(20), 0.9, 0.5]
    one = ss.evaluate(values={"a": values}, columns={"scale": (0, 1)}).measures("mean")[0]
    assert one.high <= 1
    with pytest.raises(DataError, match="outside the stated range"):
        ss.evaluate(values={"a": values}, columns={"scale": "0.6..1"})


def test_skewed_values_have_an_interval_that_leans_to_their_tail():
    rng = np.random.default_rng(0)
    one = ss.evaluate(values={"a": rng.lognormal(0, 1.2, 60)}).measures("mean")[0]
    assert one.method == "mean-t, skewed"
    assert one.high - one.value > one.value - one.low
    assert "SS180" in codes(ss.evaluate(values={"a": np.r_[np.full(14, 0.9), 0.0]}))


def test_passes_and_failures_are_a_share():
    a, b = np.r_[np.ones(45), np.zeros(5)], np.r_[np.ones(40), np.zeros(10)]
    ev = ss.evaluate(values={"a": a, "b": b})
    assert ev.measures("mean")[0].method == "wilson"
    test = ev.compare()[0]
    assert test.test == "mean_difference, Agresti–Min"
    assert test.low < test.difference < test.high


def test_leaderboards_do_not_depend_on_the_order_of_models():
    assert len(VALUES) >= FROM_MODELS
    one = ss.evaluate(values=VALUES).leaderboard
    two = ss.evaluate(values=dict(reversed(VALUES.items()))).leaderboard
    rows = {row["model"]: (row["letters"], row["rank_low"], row["rank_high"]) for row in one.rows()}
    assert rows == {row["model"]: (row["letters"], row["rank_low"], row["rank_high"]) for row in two.rows()}
    assert ss.evaluate(values=TWO).leaderboard is None


def test_verdict_comparison_and_leaderboard_agree():
    ev = ss.evaluate(values=VALUES)
    pairs = {frozenset((one.a, one.b)): one for one in ev.leaderboard.pairs}
    for test in ev.compare():
        joint = pairs[frozenset((test.a, test.b))]
        assert (test.low, test.high, test.p_adjusted) == (joint.low, joint.high, joint.p_adjusted)
    assert {one.test for one in ev.compare(adjust="holm")} == {"mean_difference"}
    with pytest.raises(MeasureError, match="max_t"):
        ev.compare(adjust="max_t", measure="sd")


def test_models_that_always_differ_by_the_same_are_clearly_different():
    board = ss.evaluate(values={"a": BASE, "b": BASE - 1, "c": BASE}).leaderboard
    assert [(one.model, one.letters, one.ranks) for one in board.entries] == [
        ("a", "a", "1–2"),
        ("c", "a", "1–2"),
        ("b", "b", "3"),
    ]


def test_slices_of_values():
    data = {**TWO, "site": np.where(GROUPS % 2, "x", "y")}
    slices = ss.evaluate(data, values=["m0", "m1"], by="site").slices
    values = {
        (one.slice, one.estimate.model): one.estimate.value for one in slices.gaps if str(one.estimate.spec) == "mean"
    }
    assert values["x", "m0"] == pytest.approx(TWO["m0"][GROUPS % 2 == 1].mean())


def test_a_saved_evaluation_is_a_baseline(tmp_path):
    ss.evaluate(values=TWO).save(tmp_path / "old.json")
    better = ss.evaluate(
        values={name: one + 1 for name, one in TWO.items()}, columns={"baseline": tmp_path / "old.json"}
    )
    gap = next(iter(better.changes.gaps))
    assert gap.estimate.value - gap.rest == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({}, DataError, "no data"),
        ({"values": {"a": [1.0, 2.0], "b": [1.0]}}, DataError, "differ in length"),
        ({"values": {"a": [1.0, np.nan, 3.0]}}, DataError, "missing values"),
        ({"values": {"a": [1.0, np.inf]}}, ScoreError, "infinite values"),
        ({"values": {"a": ["x", "y"]}}, ColumnError, "text, not values"),
        ({"values": {"a": []}}, DataError, "no rows"),
        ({"values": {"a": [1.0, 2.0]}, "truth": "a"}, ColumnError, "truth='a' does not go with values"),
        ({"values": {"a": [1.0, 2.0]}, "positive": "x"}, ColumnError, "positive='x' does not go with values"),
        ({"values": {"a": [1.0, 2.0]}, "measures": "auc"}, MeasureError, "values per case"),
        ({"values": {"a": [1.0, 2.0]}, "measures": "quantile(q=2)"}, MeasureError, "is not a share"),
    ],
)
def test_what_is_wrong_with_values_is_said(arguments, error, text):
    with pytest.raises(error) as caught:
        print(ss.evaluate(**arguments))
    assert text in str(caught.value)
    assert "hint" in str(caught.value)


@pytest.mark.parametrize("values", [[3.0], [2.0, 2.0, 2.0], [1.0, 2.0]])
def test_few_and_constant_values_have_a_mean(values):
    ev = ss.evaluate(values={"a": values})
    assert ev.measures("mean")[0].value == pytest.approx(np.mean(values))
    assert ev.verdict
    assert ("SS181" in codes(ev)) == (len(values) > 2)


def test_report_of_values(tmp_path):
    ss.evaluate(values=VALUES).report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert "Leaderboard" in text
    assert "share a letter" in text


# --- rankings per query

DOCUMENTS = {
    "q": np.repeat(["q1", "q2", "q3", "q4"], 5),
    "rel": [0, 2, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 2],
    "a": np.tile([0.9, 0.8, 0.5, 0.5, 0.1], 4),
    "b": np.r_[np.arange(15.0), np.nan, np.nan, 1, 0, 2],
}


def ranked(**changes):
    return ss.evaluate({**DOCUMENTS, **changes}, truth="rel", scores=["a", "b"], columns={"query": "q"})


def test_rankings_are_averaged_over_queries():
    ev = ranked()
    assert [str(one.spec) for one in ev.summary if one.model == "a"] == ["ndcg@10", "rr", "ap[query]"]
    rr = {one.model: one.value for one in ev.measures("rr")}
    assert rr["a"] == pytest.approx((1 / 2 + 1 + 1) / 3)
    assert rr["b"] == pytest.approx((1 / 2 + 1 / 5 + 1) / 3)  # documents without score are not returned
    assert "SS184" in codes(ev)
    zero = {one.model: one.value for one in ev.measures("rr(empty=zero)")}
    assert zero["a"] == pytest.approx((1 / 2 + 1 + 1) / 4)
    assert ev.measures("recall@top5[query]", model="b")[0].value == pytest.approx((1 + 1 + 1 / 3) / 3)
    assert ev.compare(measure="ndcg@3")[0].test == "randomisation, exact"


def test_ties_across_the_cut_are_noted_with_bounds():
    ev = ss.evaluate(DOCUMENTS, truth="rel", scores="a", columns={"query": "q"}, measures="ndcg@3, ndcg(ties=first)@3")
    expected, best = (one.value for one in ev.summary)
    assert expected < best
    assert "SS185" in codes(ev)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"columns": {"query": "q", "group": "q"}}, ColumnError, "group='q' does not go with rankings"),
        ({"measures": "ndcg@2.5"}, MeasureError, "whole number of documents"),
        ({"measures": "ppv[query]@top10%"}, MeasureError, "rankings per query"),
        ({"measures": "auc"}, MeasureError, "rankings per query"),
        ({"columns": {"query": "nope"}}, ColumnError, "nope"),
    ],
)
def test_what_is_wrong_with_rankings_is_said(arguments, error, text):
    with pytest.raises(error, match=text):
        ss.evaluate(DOCUMENTS, truth="rel", scores="a", **{"columns": {"query": "q"}, **arguments})


def test_negative_grades_and_varying_weights_are_refused():
    with pytest.raises(ScoreSpaceError, match="not a grade"):
        ranked(rel=-np.arange(20))
    with pytest.raises(ScoreSpaceError, match="weight of a query differs"):
        ss.evaluate(
            {**DOCUMENTS, "w": np.arange(1, 21)}, truth="rel", scores="a", columns={"query": "q", "weight": "w"}
        )

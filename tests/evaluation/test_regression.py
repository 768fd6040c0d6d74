"""What is said of predicted numbers: findings, verdict, and the whole page in the terminal."""

import json

import numpy as np
import pytest

import scorespace as ss
from scorespace.errors import ColumnError, ConditionError, DataError, MeasureError, ScoreError
from scorespace.report import terminal

RNG = np.random.default_rng(21)
TRUTH = RNG.uniform(5, 50, 300)
NEAR = TRUTH + RNG.normal(0, 2, 300)


def evaluated(predicted=NEAR, truth=TRUTH, **more):
    return ss.evaluate({"y": truth, "m": predicted}, truth="y", predictions="m", **more)


def codes(evaluation):
    return {note.code for note in evaluation.notes}


def text(evaluation, code):
    return next(note.text for note in evaluation.notes if note.code == code)


def test_good_predictions_have_no_findings():
    assert codes(evaluated()) == set()


def test_bias():
    found = evaluated(NEAR - 3)
    lean = 3 - (NEAR - TRUTH).mean()
    size = np.abs(NEAR - 3 - TRUTH).mean()
    assert f"too low by {lean:.3g} on average, {100 * lean / size:.0f} % of its MAE" in text(found, "SS040")


def test_errors_that_grow_with_the_prediction():
    found = evaluated(
        np.abs(TRUTH - 25) + RNG.normal(0, 1, 300) * (0.2 + np.abs(TRUTH - 25) / 5), TRUTH * 0 + np.abs(TRUTH - 25)
    )
    assert "SS041" in codes(found)
    assert text(found, "SS041").startswith("the errors of m grow with its predictions (rank correlation 0.")


def test_a_target_that_is_better_on_a_log_scale():
    found = evaluated(TRUTH * RNG.lognormal(0, 0.3, 300))
    assert "SS044" in codes(found)
    assert "SS041" not in codes(found)
    assert "log scale" in text(found, "SS044")


def test_outliers_that_make_the_squared_error():
    wild = NEAR.copy()
    wild[:2] += 200
    told = text(evaluated(wild), "SS042")
    assert told.startswith("3 cases make 9")
    assert "without them its RMSE is 1.9" in told


def test_a_constant_prediction():
    found = evaluated(np.full(300, 27.0))
    assert text(found, "SS043") == "m predicts 27 for every case: it does not distinguish cases."
    rows = {row["measure"]: row for row in found.measures("pearson").rows()}
    assert rows["pearson"]["value"] is None
    assert rows["pearson"]["reason"] == "undefined: all truths or all predictions are the same"


def test_no_better_than_the_mean():
    assert text(evaluated(RNG.permutation(TRUTH)), "SS047").startswith(
        "m is no better than predicting the mean for every case: its absolute error is 1"
    )


def test_few_cases():
    assert text(evaluated(NEAR[:5], TRUTH[:5]), "SS045") == "only 5 cases: all estimates are imprecise."


def test_the_baseline_is_named():
    assert "relative to 20" in text(evaluated(baseline=20), "SS046")
    rows = {"y": TRUTH, "m": NEAR, "naive": np.roll(TRUTH, 1)}
    found = ss.evaluate(rows, truth="y", predictions="m", baseline="naive")
    assert "relative to the predictions of the baseline" in text(found, "SS046")
    assert found.measures("rae")[0].value == pytest.approx(
        np.abs(NEAR - TRUTH).sum() / np.abs(np.roll(TRUTH, 1) - TRUTH).sum()
    )
    assert evaluated(baseline="mean").measures("rae") == evaluated().measures("rae")


def test_a_constant_truth_leaves_relative_errors_undefined():
    found = evaluated(NEAR, np.full(300, 7.0))
    reasons = {row["measure"]: row["reason"] for row in found.measures("rae,r2,mae").rows()}
    assert reasons["r2"] == "undefined: all truths are the same"
    assert reasons["rae"].startswith("undefined: every truth equals the baseline")
    assert reasons["mae"] is None


def test_the_verdict_of_one_and_of_two():
    one = evaluated()
    mae = one.measures("mae")[0]
    half = np.median(np.abs(NEAR - TRUTH))
    squared = one.measures("r2")[0].value
    assert one.verdict == f"m: MAE {mae.text}. R² = {squared:.3f}; half of the predictions miss by at most {half:.3g}."
    rows = {"y": TRUTH, "near": NEAR, "far": TRUTH + RNG.normal(0, 6, 300)}
    two = ss.evaluate(rows, truth="y", predictions=["near", "far"])
    assert two.verdict.startswith("near is most accurate: MAE ")
    assert "p < 0.001" in two.verdict


def test_intervals_are_judged():
    rows = {"y": TRUTH, "m": NEAR, "low": NEAR - 3.92, "high": NEAR + 3.92}
    found = ss.evaluate(rows, truth="y", predictions="m", intervals=("low", "high", 0.9))
    shown = {row["measure"]: row for row in found.summary.rows()}
    inside = (np.abs(NEAR - TRUTH) <= 3.92).mean()
    assert shown["coverage"]["value"] == pytest.approx(inside)
    assert shown["coverage"]["method"] == "wilson"
    assert shown["width"]["value"] == pytest.approx(7.84)
    outside = np.maximum(np.abs(NEAR - TRUTH) - 3.92, 0)
    assert shown["interval_score"]["value"] == pytest.approx(7.84 + 2 / 0.1 * outside.mean())
    assert f"cover {100 * inside:.0f} % of the cases (nominal 90 %)." in found.verdict


def test_the_page_fits_the_terminal_and_json_is_plain():
    found = evaluated(NEAR - 3, condition=ss.Asymmetry(under=2, over=1))
    told = terminal.text(found.brief, width=80)
    assert all(len(line) <= 80 for line in told.splitlines())
    assert "Use m shifted by +" in told
    kept = json.loads(json.dumps(found.to_dict()))
    assert kept["decision"]["alpha"] == pytest.approx(2 / 3)
    assert kept["data"] == {"rows": 300, "classes": {}, "positive": None}


def test_every_kind_of_curve_has_a_picture():
    from scorespace.evaluation.curves import kinds

    own = [kind.name for kind in kinds() if kind.table is ss.ResidualTable]
    assert {"rroc", "predicted", "residuals", "quantiles", "error_size", "isotonic"} <= set(own)
    many = ss.evaluate({"y": np.tile(TRUTH, 6), "m": np.tile(NEAR, 6)}, truth="y", predictions="m")
    for name in own:
        drawn = json.dumps(many.drawing(name))
        assert len(drawn) < 200_000
        assert '"m"' in drawn


def test_groups_and_weights_and_copies():
    rows = {"y": TRUTH, "m": NEAR, "g": np.arange(300) // 3, "w": np.tile([1.0, 2.0, 3.0], 100)}
    grouped = ss.evaluate(rows, truth="y", predictions="m", group="g")
    assert grouped.measures("mae")[0].method == "bootstrap of groups"
    weighted = ss.evaluate(rows, truth="y", predictions="m", weight="w").measures("mae,spearman,medae")
    assert weighted[0].value == pytest.approx(np.average(np.abs(NEAR - TRUTH), weights=rows["w"]))
    copies = ss.evaluate(rows, truth="y", predictions="m", weight="w", weights="copies").measures("mae,spearman,medae")
    for one, other in zip(weighted, copies, strict=True):
        assert one.value == pytest.approx(other.value)
        assert one.high - one.low > other.high - other.low


@pytest.mark.parametrize(
    ("data", "more", "error", "message"),
    [
        ({"m": ["a"] * 3}, {}, ColumnError, "column 'm' holds text, not numbers."),
        ({"y": [1.0, np.inf, 2.0]}, {}, ScoreError, "column 'y' has infinite numbers."),
        ({"y": [1.0, None, 2.0]}, {}, DataError, "column 'y' has missing values."),
        ({}, {"scores": "m"}, ColumnError, "scores and decisions need a class as truth"),
        ({}, {"baseline": "nowhere"}, ColumnError, "baseline='nowhere' is neither a column nor a number."),
        ({}, {"intervals": {"x": ("a", "b")}}, ColumnError, "there is no prediction 'x' to have an interval."),
        (
            {},
            {"intervals": {"m": "ab"}},
            ColumnError,
            "the prediction interval of 'm' needs two columns and its nominal level.",
        ),
        ({}, {"measures": "auc"}, MeasureError, "auc cannot be computed from numeric predictions."),
        ({}, {"measures": "coverage"}, MeasureError, "coverage needs prediction intervals."),
    ],
)
def test_what_cannot_be(data, more, error, message):
    rows = {"y": [1.0, 2.0, 3.0], "m": [1.0, 2.5, 3.0], **data}
    with pytest.raises(error) as caught:
        ss.evaluate(rows, truth="y", predictions="m", **more)
    assert str(caught.value).startswith(message)


def test_numbers_of_an_engine_are_those_of_memory():
    from scorespace import io
    from scorespace.io.out_of_core import count_in_engine

    source = io.read({"y": TRUTH, "m": NEAR, "b": np.roll(TRUTH, 1)})
    named = io.resolve_roles(source, truth="y", predictions="m", baseline="b")
    here, there = map(ss.evaluate, (io.count_tables(io.validate(source, named)), count_in_engine(source, named)[1]))
    for one, other in zip(
        here.measures("mae,rmse,bias,r2,rae,rse,mape"), there.measures("mae,rmse,bias,r2,rae,rse,mape"), strict=True
    ):
        assert other.value == pytest.approx(one.value, rel=1e-9)
    assert there.verdict.startswith("m: MAE ")
    with pytest.raises(MeasureError, match="medae cannot"):
        there.measures("medae")


def test_costs_of_another_kind_of_model():
    with pytest.raises(ConditionError) as caught:
        evaluated(condition=ss.Condition(fp=1, fn=5)).decision  # noqa: B018
    assert "numeric predictions" in str(caught.value)
    assert "Asymmetry(under=2, over=1)" in str(caught.value)
    scored = ss.evaluate({"y": [1, 0, 1, 0], "s": [0.9, 0.4, 0.6, 0.7]}, truth="y", scores="s")
    with pytest.raises(ConditionError, match="too low"):
        scored.decide(ss.Asymmetry(under=2, over=1))


def test_errors_with_heavy_tails_are_told_with_the_coverage_of_squared_errors():
    rng = np.random.default_rng(3)
    truth = rng.normal(size=200)
    wild, tame = rng.standard_t(2, 200), rng.normal(size=200)
    told, silent = (
        [
            one.text
            for one in ss.evaluate({"y": truth, "p": truth + e}, truth="y", predictions="p").notes
            if one.code == "SS100"
        ]
        for e in (wild, tame)
    )
    assert not silent
    assert told[0].endswith("intervals of r2, rmse cover 84 to 92 % in such samples.")

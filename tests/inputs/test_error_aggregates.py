"""Sums of errors inside the engine: the numbers of the cases themselves, in one pass that also looks at the rows."""

import math
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import scorespace as ss
from scorespace import io
from scorespace.errors import ScoreSpaceError
from scorespace.evaluation.regression import terms_of
from scorespace.inference.estimate import estimate
from scorespace.io import error_aggregates as module
from scorespace.io.error_aggregates import aggregate_errors, error_sums
from scorespace.io.source import Source
from scorespace.measures import parse

RNG = np.random.default_rng(5)
MEASURES = ("mae", "mse", "bias", "r2", "pearson", "rae", "rse", "mape", "smape", "aoc", "asym(alpha=0.8)")


def columns(n: int = 3000) -> dict[str, np.ndarray]:
    truth = RNG.gamma(5, 4, n)
    return {
        "y": truth,
        "m": truth + RNG.normal(0.5, 3, n),
        "far": 1.1 * truth + RNG.normal(0, 2, n),
        "w": RNG.uniform(0.5, 2, n).round(3),
        "k": RNG.integers(0, 4, n),
        "b": truth + RNG.normal(0, 6, n),
    }


def tallied(data, **roles):
    source = io.read(data)
    return aggregate_errors(source, io.resolve_roles(source, truth="y", **roles))


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"weight": "w"},
        {"weight": "k", "weights": "copies"},
        {"weight": "k"},
        {"baseline": 20.0},
        {"baseline": "b", "weight": "w"},
    ],
    ids=str,
)
def test_values_and_intervals_are_those_of_the_cases(engine, more):
    data = columns()
    given = data if engine == "duckdb" else pl.DataFrame(data).lazy()
    sample, found = tallied(given, predictions=["m", "far"], **more)
    cases = io.count_tables(io.validate(sample.source, sample.roles))
    assert sample.rows == (int((data["k"] > 0).sum()) if more.get("weight") == "k" else 3000)
    for model in ("m", "far"):
        for name in MEASURES:
            a, b = (estimate(parse(name), tables[model]) for tables in (cases, found))
            assert b.value == pytest.approx(a.value, rel=1e-11), name
            assert b.high - b.low == pytest.approx(a.high - a.low, rel=0.08), name


def test_sums_are_the_same_whether_rows_were_checked_before_or_on_the_way():
    sample, found = tallied(columns(), predictions="m", weight="w")
    again = error_sums(io.validate(sample.source, sample.roles))["m"]
    assert np.array_equal(found["m"].sums, again.sums)
    assert np.array_equal(found["m"].products, again.products, equal_nan=True)


@pytest.fixture
def asked(monkeypatch):
    """How many numbers each question to the engine brought back."""
    counts = []
    plain = Source.arrays

    def arrays(self, frame):
        found = plain(self, frame)
        counts.append(len(found))
        return found

    monkeypatch.setattr(Source, "arrays", arrays)
    return counts


def test_rows_are_passed_once_after_the_mean_of_the_truths_and_the_first_rows(asked):
    tallied(columns(), predictions=["m", "far"])
    assert asked[:2] == [2, 5]  # the sum of the truths; of the first rows, the truths, two errors and their squares
    assert len(asked) == 3
    asked.clear()
    tallied(columns(), predictions="m", baseline=20.0)
    assert len(asked) == 2  # no mean is needed


def test_many_models_are_added_up_some_at_a_time(asked):
    data = columns(200)
    more = {f"m{k}": data["m"] + k for k in range(module._MODELS_PER_PASS + 1)}
    _, found = tallied({**data, **more}, predictions=list(more))
    assert [round(float(table.error - found["m0"].error), 9) for table in found.values()] == list(range(len(more)))
    assert len(asked) == 5


def test_digits_survive_far_from_zero():
    truth = RNG.normal(0, 1, 4000)
    predicted = RNG.normal(0, 0.5, 4000)
    data = {"y": 1e9 + truth, "m": 3e9 + predicted}
    error = (data["m"] - data["y"]).astype(np.longdouble)
    _, found = tallied(data, predictions="m")
    assert float(found["m"].error_spread) == pytest.approx(float(error.var()), rel=1e-12)
    assert float(found["m"].truth_spread) == pytest.approx(float(data["y"].astype(np.longdouble).var()), rel=1e-12)


def test_first_rows_unlike_all_others_cost_few_digits(monkeypatch):
    monkeypatch.setattr(module, "_ORIGIN_ROWS", 10)
    error = np.concatenate([np.full(10, 1e6), RNG.normal(0, 1, 9990)])
    truth = np.concatenate([np.full(10, -1e6), RNG.normal(0, 1, 9990)])
    _, found = tallied({"y": truth, "m": truth + error}, predictions="m", baseline=0.0)
    exact = (truth + error).astype(np.longdouble) - truth.astype(np.longdouble)
    assert float(found["m"].error_spread) == pytest.approx(float(exact.var()), rel=1e-9)
    assert float(found["m"].truth_spread) == pytest.approx(float(truth.astype(np.longdouble).var()), rel=1e-9)


def test_a_truth_of_zero_is_in_order(asked):
    _, found = tallied({"y": [0.0, 1.0, 2.0], "m": [0.5, 1.0, 3.0]}, predictions="m")
    assert len(asked) == 3
    assert math.isinf(float(found["m"].mean("relative")))
    assert float(found["m"].mean("symmetric")) == pytest.approx((2 + 0 + 2 / 5) / 3)


WRONG = {
    "missing truth": {"y": [1.0, None, 3.0]},
    "NaN": {"m": [1.0, math.nan, 3.0]},
    "infinite": {"m": [1.0, math.inf, 3.0]},
    "infinite both": {"y": [1.0, math.inf, 3.0], "m": [1.0, math.inf, 3.0]},
    "huge": {"y": [1.0, 1e75, 3.0]},
    "huge prediction": {"m": [1.0, -1e75, 3.0]},
    "tiny": {"m": [1e-80, 2e-80, 0.0]},
    "missing weight": {"w": [1.0, None, 1.0]},
    "negative weight": {"w": [1.0, -1.0, 1.0]},
    "light weight": {"w": [1.0, 1e-80, 1.0]},
    "heavy weights": {"w": [1.0, 1e17, 1.0]},
    "no weight": {"w": [0.0, 0.0, 0.0]},
    "missing baseline": {"b": [1.0, None, 3.0]},
    "huge baseline": {"b": [1.0, 1e75, 3.0]},
    "tiny baseline": {"b": [1e-80, 1e-80, 0.0]},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_told_as_elsewhere(wrong):
    data = {"y": [1.0, 2.0, 4.0], "m": [1.5, 2.0, 3.0], "w": [1.0, 2.0, 1.0], "b": [2.0, 2.0, 2.0]} | WRONG[wrong]
    source = io.read(pl.DataFrame(data, strict=False).lazy())
    roles = io.resolve_roles(source, truth="y", predictions="m", weight="w", baseline="b")
    with pytest.raises(ScoreSpaceError) as told:
        io.validate(source, roles)
    with pytest.raises(ScoreSpaceError) as here:
        aggregate_errors(source, roles)
    assert str(here.value) == str(told.value)


def test_no_rows_are_told():
    with pytest.raises(ScoreSpaceError, match="has no rows"):
        tallied(pl.DataFrame({"y": [], "m": []}, schema={"y": pl.Float64, "m": pl.Float64}).lazy(), predictions="m")


def test_rows_with_gaps_are_left_out_when_asked():
    data = columns(500)
    data["m"][::7] = np.nan
    source = io.read(pl.DataFrame(data).lazy())
    sample, found = aggregate_errors(source, io.resolve_roles(source, truth="y", predictions="m"), missing="drop")
    kept = ~np.isnan(data["m"])
    assert (sample.rows, sample.dropped) == (int(kept.sum()), int((~kept).sum()))
    assert float(found["m"].mean("absolute")) == pytest.approx(np.abs(data["m"] - data["y"])[kept].mean(), rel=1e-12)


def test_rows_of_weight_zero_do_not_count_even_where_they_hold_no_number():
    data = {"y": [1.0, 2.0, math.inf, 5.0], "m": [1.5, 2.0, 3.0, 4.0], "w": [1.0, 2.0, 0.0, 1.0]}
    sample, found = tallied(pl.DataFrame(data).lazy(), predictions="m", weight="w")
    assert sample.rows == 3
    assert float(found["m"].mean("absolute")) == pytest.approx((0.5 + 0 + 1) / 4)


def test_decimals_and_whole_numbers_are_added_up_as_doubles():
    data = pl.DataFrame({"y": [Decimal("1.5"), Decimal("2.5")], "m": [1, 4]}).lazy()
    assert float(tallied(data, predictions="m")[1]["m"].mean("absolute")) == 1.0


def test_a_file_beyond_the_memory_is_evaluated_by_its_sums(tmp_path):
    data = columns(5000)
    pl.DataFrame(data).write_parquet(tmp_path / "numbers.parquet")
    here, there = (
        ss.evaluate(one, truth="y", predictions=["m", "far"], memory=memory, paired=False).measures("mae", "r2", "rae")
        for one, memory in ((data, None), (tmp_path / "numbers.parquet", "1KB"))
    )
    assert [one.value for one in there] == pytest.approx([one.value for one in here], rel=1e-11)


@pytest.mark.parametrize("more", [{}, {"weight": "w"}, {"weight": "k", "weights": "copies"}], ids=str)
@pytest.mark.parametrize("shift", [0.0, 1e6], ids=["near", "far"])
def test_the_sums_that_one_measure_needs_say_what_all_say_of_it(more, shift):
    data = columns()
    data["m"] = data["m"] + shift
    _, all_of_them = tallied(data, predictions="m", **more)
    source = io.read(data)
    roles = io.resolve_roles(source, truth="y", predictions="m", **more)
    for name in MEASURES:
        spec = parse(name)
        _, few = aggregate_errors(source, roles, needs=terms_of([spec]))
        a, b = estimate(spec, all_of_them["m"]), estimate(spec, few["m"])
        assert (b.value, b.low, b.high) == pytest.approx((a.value, a.low, a.high), rel=1e-9), name


def test_what_nobody_asks_for_is_not_added_up(asked):
    source = io.read(columns())
    roles = io.resolve_roles(source, truth="y", predictions="m")
    _, found = aggregate_errors(source, roles, needs=terms_of([parse("mse")]))
    assert asked == [3, 7]  # of the first rows; rows, those known, and |e|, e, e², e⁴, y²
    with pytest.raises(ScoreSpaceError, match=r"\(truth\) were not computed"):
        _ = found["m"].truth_spread


@pytest.mark.parametrize("wrong", [name for name in WRONG if "weight" not in name and "baseline" not in name])
def test_few_sums_see_what_is_wrong(wrong):
    data = {"y": [1.0, 2.0, 4.0], "m": [1.5, 2.0, 3.0]} | WRONG[wrong]
    source = io.read(pl.DataFrame(data, strict=False).lazy())
    roles = io.resolve_roles(source, truth="y", predictions="m")
    with pytest.raises(ScoreSpaceError) as told:
        io.validate(source, roles)
    with pytest.raises(ScoreSpaceError) as here:
        aggregate_errors(source, roles, needs=terms_of([]))
    assert str(here.value) == str(told.value)


def test_measures_named_beside_others_can_be_asked_for_later():
    data = columns(4000)
    evaluation = ss.evaluate(data, truth="y", predictions="m", measures="mse", further="rae", memory="1KB")
    whole = ss.evaluate(data, truth="y", predictions="m", memory="1KB")
    assert evaluation.measures("rae")[0].value == pytest.approx(whole.measures("rae")[0].value, rel=1e-12)
    with pytest.raises(ScoreSpaceError, match="were not computed"):
        evaluation.measures("mape")

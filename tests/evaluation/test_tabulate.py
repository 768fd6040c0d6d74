"""Columns become tables: side by side where that is of use, and beyond the memory counted where they are."""

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import scorespace as ss
from helpers.evaluation_data import SMALL
from scorespace.errors import ScoreSpaceError


@pytest.mark.parametrize(
    ("roles", "kept"),
    [
        ({"scores": ["s", "t"]}, True),
        ({"scores": "s"}, False),
        ({"scores": "s", "group": "g"}, True),  # groups are drawn whole
        ({"scores": ["s", "t"], "paired": False}, False),
        ({"scores": ["s", "t"], "weight": "w", "weights": "copies"}, False),  # a row stands for many cases
        ({"scores": "s", "decisions": "d"}, True),
    ],
)
def test_cases_are_kept_side_by_side_where_that_is_of_use(roles, kept):
    data = {**SMALL, "t": SMALL["s"][::-1], "g": [1, 1, 2, 2, 3, 3], "w": [1, 2, 1, 2, 1, 2]}
    assert (ss.evaluate(data, truth="y", **roles).models.pairs is not None) == kept


def test_many_rows_are_kept_side_by_side_only_when_asked_for(monkeypatch):
    monkeypatch.setattr("scorespace.evaluation.tabulate._PAIRED_ROWS", 5)
    data = {**SMALL, "t": SMALL["s"][::-1]}
    assert ss.evaluate(data, truth="y", scores=["s", "t"]).models.pairs is None
    assert ss.evaluate(data, truth="y", scores=["s", "t"], paired=True).models.pairs is not None


def test_cases_of_one_class_rank_nothing():
    found = ss.evaluate({"y": [0, 0], "s": [0.2, 0.4], "t": [0.1, 0.3]}, truth="y", scores=["s", "t"])
    assert found.measures("auc")[0].reason == "undefined: only one class is present"
    assert found.models.pairs is None


def grouped_cases():
    rng = np.random.default_rng(6)
    group = rng.integers(0, 60, 3000)
    effect = rng.normal(size=60)[group]
    truth = (rng.random(3000) < 1 / (1 + np.exp(-effect))).astype(int)
    score = 1 / (1 + np.exp(-(rng.normal(size=3000) + truth + effect)))
    return {"y": truth, "s": score, "g": [f"clinic {k}" for k in group]}


def test_groups_are_counted_with_their_bins_and_drawn_whole():
    columns = grouped_cases()
    roles = {"truth": "y", "scores": "s", "group": "g", "measures": "auc"}
    (exact,), (coarse,) = (
        ss.evaluate(columns, **roles).summary,
        ss.evaluate(pl.DataFrame(columns).lazy(), memory=1000, **roles).summary,
    )
    (apart,) = ss.evaluate(columns, truth="y", scores="s", measures="auc").summary
    assert coarse.certified[0] <= exact.value <= coarse.certified[1]
    assert coarse.high - coarse.low == pytest.approx(exact.high - exact.low, rel=0.15)
    assert coarse.high - coarse.low > 1.2 * (apart.high - apart.low)


def test_errors_of_numbers_are_added_up_where_they_are():
    rng = np.random.default_rng(8)
    truth = rng.normal(size=2000)
    columns = {"y": truth, "m": truth + rng.normal(size=2000)}
    asked = {"truth": "y", "predictions": "m", "measures": "mae,rmse,r2,bias"}
    here, there = (ss.evaluate(columns, **asked), ss.evaluate(pl.DataFrame(columns).lazy(), memory=1000, **asked))
    for one, other in zip(here.summary, there.summary, strict=True):
        assert other.value == pytest.approx(one.value, rel=1e-12)
        assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=5e-3)


ROWS = 600
RNG = np.random.default_rng(5)
TRUTH = RNG.integers(0, 2, ROWS)
WARD = np.array(["A", "B", "C"])[RNG.integers(0, 3, ROWS)]
SCORE = 1 / (1 + np.exp(-RNG.normal(size=ROWS) - (2 * TRUTH - 1) * np.where(WARD == "B", 0.1, 1.5)))
DATA = {"y": TRUTH, "s": SCORE, "d": (SCORE > 0.5).astype(int), "ward": WARD, "g": RNG.integers(0, 90, ROWS)}


def sliced(**roles: Any) -> ss.Evaluation:
    return ss.evaluate(DATA, truth="y", by="ward", **({"scores": "s", "measures": "auc, tpr@0.5"} | roles))


def test_every_slice_has_the_numbers_of_its_rows() -> None:
    found = sliced().slices
    assert found is not None
    for name in "ABC":
        alone = ss.evaluate(
            {key: values[name == WARD] for key, values in DATA.items()}, truth="y", scores="s", measures="auc, tpr@0.5"
        )
        own = {str(one.estimate.spec): one.estimate for one in found.gaps if one.slice == name}
        for one in alone.summary:
            same = own[str(one.spec)]
            assert (same.value, same.low, same.high) == pytest.approx((one.value, one.low, one.high))


def test_json_rows_carry_the_slice() -> None:
    content = sliced().to_dict()
    json.dumps(content)
    assert [row["slice"] for row in content["rows"]] == [None, None, "A", "B", "C", "A", "B", "C"]
    row = content["rows"][3]
    assert row["measure"] == "auc"
    assert row["gap"] == pytest.approx(row["value"] - row["rest"])
    assert row["gap_low"] < row["gap"] < row["gap_high"] < 0
    assert row["p_adjusted"] < 0.001
    assert content["slices"]["by"] == ["ward"]
    assert content["slices"]["slices"] == {name: int((name == WARD).sum()) for name in "ABC"}
    assert content["verdict"].endswith("p < 0.001).")
    assert "slice" not in ss.evaluate(DATA, truth="y", scores="s", measures="auc").to_dict()["rows"][0]


def test_coarse_slices_hold_the_exact_numbers_in_their_certificates() -> None:
    exact, coarse = sliced().slices, sliced(memory="1KB").slices
    assert exact is not None
    assert coarse is not None
    for one, other in zip(exact.gaps, coarse.gaps, strict=True):
        assert one.slice == other.slice
        certified = other.estimate.certified
        assert certified is not None
        assert certified[0] <= one.estimate.value <= certified[1]
        assert other.test.difference == pytest.approx(one.test.difference, abs=1e-3)
    for one, other in zip(exact.parity[:4], coarse.parity[:4], strict=True):
        assert one.difference == other.difference


@pytest.mark.parametrize("memory", [None, "1KB"])
def test_decisions_classes_and_numbers(memory: str | None) -> None:
    decided = ss.evaluate(DATA, truth="y", decisions="d", by="ward", measures="acc", memory=memory).slices
    assert decided is not None
    right = DATA["d"] == TRUTH
    assert [one.estimate.value for one in decided.gaps] == pytest.approx([right[n == WARD].mean() for n in "ABC"])
    numbers = {"y": RNG.normal(size=90), "p": RNG.normal(size=90), "ward": np.repeat(["A", "B", "C"], 30)}
    found = ss.evaluate(numbers, truth="y", predictions="p", by="ward", measures="mae", memory=memory).slices
    assert found is not None
    error = np.abs(numbers["p"] - numbers["y"])
    assert [one.estimate.value for one in found.gaps] == pytest.approx(error.reshape(3, 30).mean(axis=1))
    assert [one.rest for one in found.gaps] == pytest.approx([error[numbers["ward"] != name].mean() for name in "ABC"])
    assert found.parity == ()
    classes = {"y": np.tile(["a", "b", "c"], 40), "ward": np.repeat(["A", "B"], 60)}
    classes |= {f"m_{name}": RNG.random(120) for name in "abc"}
    several = ss.evaluate(classes, truth="y", scores="m_*", by="ward", measures="acc", memory=memory).slices
    assert several is not None
    best = np.array(["a", "b", "c"])[np.argmax([classes[f"m_{name}"] for name in "abc"], axis=0)] == classes["y"]
    assert [one.estimate.value for one in several.gaps] == pytest.approx([best[:60].mean(), best[60:].mean()])


def test_groups_are_drawn_whole_and_told_where_slices_share_them() -> None:
    evaluation = sliced(group="g", measures="tpr@0.5")
    assert evaluation.slices is not None
    shared = [np.unique(WARD[DATA["g"] == one]).size > 1 for one in range(90)]
    assert evaluation.slices.shared == sum(shared)
    assert {one.estimate.method for one in evaluation.slices.gaps} == {"bootstrap of groups"}
    assert "SS094" in [one.code for one in evaluation.notes]


def test_a_numeric_column_is_cut_on_request() -> None:
    evaluation = ss.evaluate(DATA, truth="y", scores="s", by="ward * g(bins=2)", measures="auc")
    assert evaluation.slices is not None
    assert evaluation.slices.title == "ward × g"
    assert len(evaluation.slices.rows_of) == 6
    assert next(iter(evaluation.slices.rows_of)).startswith("A × < ")


def test_tables_have_no_rows_to_slice() -> None:
    table = ss.score_table([1, 0, 1], [0.9, 0.2, 0.4])
    with pytest.raises(ScoreSpaceError, match="by='ward' selects rows"):
        ss.evaluate({"m": table}, by="ward")
    with pytest.raises(ScoreSpaceError, match="where='s > 1' selects rows"):
        ss.evaluate({"m": table}, where="s > 1")

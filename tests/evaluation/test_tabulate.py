"""Columns become tables: side by side where that is of use, and beyond the memory counted where they are."""

import numpy as np
import polars as pl
import pytest

import scorespace as ss
from evaluation.given import SMALL


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

"""Tables that are counted where the rows are: the same bins on every engine, and rows that are checked on the way."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from helpers.engines import ENGINES, POSITIVES, TIES, TRUTHS, Data, arrow, as_parquet, same
from scorespace.errors import ColumnError, ScoreSpaceError
from scorespace.io import Sample, read, resolve_roles
from scorespace.io.out_of_core import count_in_engine
from scorespace.tables import ScoreTable, score_table


def tallied(data: Any, missing: str = "error", bits: int = 49, **named: Any) -> tuple[Sample, ScoreTable]:
    source = read(data)
    more = {name: named.pop(name) for name in ("edges", "precision") if name in named}
    sample, tables = count_in_engine(source, resolve_roles(source, **named), missing=missing, bits=bits, **more)
    return sample, tables["s"]


def same_bins(found: ScoreTable, expected: ScoreTable) -> None:
    """The same bins to the bit; sums of scores may differ by the order in which engines add."""
    same(found, expected)
    assert found.bins is not None
    assert expected.bins is not None
    assert found.bins.low.tolist() == expected.bins.low.tolist()
    assert found.bins.high.tolist() == expected.bins.high.tolist()
    np.testing.assert_allclose(found.bins.first, expected.bins.first, rtol=1e-12)
    np.testing.assert_allclose(found.bins.second, expected.bins.second, rtol=1e-12)


SCORES = [*np.linspace(0, 1, 60), -0.0, 5e-324, 1e-7, 1 - 1e-9, -3.25, 1e140, 0.5, 0.30000000000000004, 0.3]
LABELS = [int(k % 3 == 0) for k in range(len(SCORES))]


@pytest.mark.parametrize("bits", [38, 49])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_bins_are_the_same_to_the_bit_on_every_engine(engine: str, bits: int, tmp_path: Path) -> None:
    data: Data = {"y": LABELS, "s": SCORES}
    sample, table = tallied(ENGINES[engine](data, tmp_path), bits=bits, edges=[0.7], truth="y", scores="s")
    same_bins(table, score_table(LABELS, SCORES).rounded(bits, [0.7]))
    assert sample.rows == len(SCORES)


@pytest.mark.parametrize("group", [2, 100])
@pytest.mark.parametrize("bits", [0, 38])
def test_nan_is_seen_in_parquet_although_no_range_tells_of_it(group: int, bits: int, tmp_path: Path) -> None:
    data: Data = {"y": [1, 0, 1, 0, 1, 0], "s": [0.5, math.nan, 0.25, 0.3, 0.9, 0.01]}
    parquet.write_table(arrow(data), tmp_path / "sample.parquet", row_group_size=group)
    path = str(tmp_path / "sample.parquet")
    with pytest.raises(ScoreSpaceError, match=r"'s' \(1\) of 6 rows"):
        tallied(path, bits=bits, truth="y", scores="s")
    sample, table = tallied(path, "drop", bits, truth="y", scores="s")
    assert sample.dropped == 1
    exact = score_table([1, 1, 0, 1, 0], [0.5, 0.25, 0.3, 0.9, 0.01])
    assert table.score.tolist() == exact.score.tolist()
    assert table.counts.tolist() == exact.counts.tolist()


def test_nan_in_a_frame_of_duckdb_over_parquet_is_no_score(tmp_path: Path) -> None:
    parquet.write_table(arrow({"y": [1, 0, 1], "s": [0.5, math.nan, 0.5]}), tmp_path / "sample.parquet")
    frame = duckdb.read_parquet(str(tmp_path / "sample.parquet"))
    with pytest.raises(ScoreSpaceError, match=r"NaN|missing"):
        tallied(frame, truth="y", scores="s")


@pytest.mark.parametrize("kind", TRUTHS)
@pytest.mark.parametrize("engine", ["pandas", "polars lazy", "pyarrow", "duckdb", "csv", "parquet"])
def test_labels_of_any_kind_are_read_in_the_pass_that_counts(engine: str, kind: str, tmp_path: Path) -> None:
    truth, positive = TRUTHS[kind], POSITIVES.get(kind)
    made = ENGINES[engine]({"y": truth, "s": TIES}, tmp_path)
    sample, table = tallied(made, bits=38, edges=[0.4, 0.41], truth="y", scores="s", positive=positive)
    same_bins(table, score_table(truth, TIES, positive=positive).rounded(38, [0.4, 0.41]))
    assert sum(sample.class_counts) == 8


@pytest.mark.parametrize("bits", [38, 49])
@pytest.mark.parametrize("engine", ENGINES)
def test_coarse_with_missing_rows_and_weights(engine: str, bits: int, tmp_path: Path) -> None:
    data: Data = {
        "y": ["bad", "good", None, "bad", "good", "bad", "good", "bad", "odd"],
        "s": [0.5, -0.0, 0.5, None, 0.0, math.nan, 0.25, 0.0, math.nan],
        "w": [2.0, 1.5, 1.0, 1.0, 3.0, 1.0, None, 0.5, 0.0],
    }
    named = {"truth": "y", "scores": "s", "weight": "w", "positive": "bad"}
    sample, table = tallied(ENGINES[engine](data, tmp_path), "drop", bits, **named)
    weight = [2, 1.5, 3, 0.5]
    exact = score_table(["bad", "good", "good", "bad"], [0.5, 0.0, 0.0, 0.0], positive="bad", weight=weight)
    same_bins(table, exact.rounded(bits))
    np.testing.assert_allclose(table.squares, exact.squares)
    assert (sample.rows, sample.dropped, sample.classes) == (4, 4, ("bad", "good"))


def test_the_pass_that_counts_sees_what_is_not_in_order(tmp_path: Path) -> None:
    good: Data = {"y": [0, 1, 1, 0], "s": [0.1, 0.7, 0.2, 0.9], "w": [1.0, 2.0, 1.0, 3.0]}
    for column, value, said in (
        ("s", math.inf, "infinite scores"),
        ("s", 1e160, "scores beyond 1e150"),
        ("s", None, "missing values"),
        ("y", None, "missing values"),
        ("y", 0.5, "looks like a number, not a class"),
        ("w", -1.0, "negative weights"),
        ("w", None, "missing values"),
        ("w", 1e18, "the weights in column 'w' add up to more than doubles count exactly"),
    ):
        data = {**good, column: [*good[column][:3], value]}
        with pytest.raises(ScoreSpaceError, match=said):
            tallied(pl.LazyFrame(data, strict=False), truth="y", scores="s", weight="w", positive=1)


def test_rows_of_weight_zero_are_absent_but_accounted_for(tmp_path: Path) -> None:
    data: Data = {"y": [0, 1, 1, 2], "s": [0.1, 0.7, 0.2, 0.9], "w": [1.0, 2.0, 1.0, 0.0]}
    sample, table = tallied(as_parquet(data, tmp_path), truth="y", scores="s", weight="w")
    assert (sample.rows, sample.classes) == (3, ("0", "1"))
    same_bins(table, score_table([0, 1, 1], [0.1, 0.7, 0.2], weight=[1, 2, 1]).rounded(49))


@pytest.mark.parametrize("engine", ["parquet", "polars lazy", "duckdb"])
def test_without_rounding_the_table_is_exact(engine: str, tmp_path: Path) -> None:
    _, table = tallied(ENGINES[engine]({"y": LABELS, "s": SCORES}, tmp_path), bits=0, truth="y", scores="s")
    assert table == score_table(LABELS, SCORES)


@pytest.mark.parametrize("precision", [1e-2, 1e-4, 0.0])
@pytest.mark.parametrize("engine", ["parquet", "polars lazy"])
def test_a_second_pass_splits_the_bins_that_matter(engine: str, precision: float, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 3000)
    score = np.where(rng.random(3000) < 0.5, rng.random(3000), 0.5 + rng.random(3000) / 1000)
    data: Data = {"y": truth.tolist(), "s": score.tolist()}
    made = ENGINES[engine](data, tmp_path)
    _, once = tallied(made, bits=47, truth="y", scores="s", edges=[0.3])
    _, table = tallied(made, bits=47, truth="y", scores="s", edges=[0.3], precision=precision)
    exact = score_table(truth, score)
    assert float(table.open_pairs.sum()) <= precision
    assert float(once.open_pairs.sum()) > 1e-3
    assert table.class_totals.tolist() == exact.class_totals.tolist()
    assert table.bins is not None
    assert np.all(table.bins.low[:-1] > table.bins.high[1:])
    assert table.at(0.3).tp == exact.at(0.3).tp
    assert table.at(table.score).fp.tolist() == exact.at(table.score).fp.tolist()
    if precision:
        assert table.score.size < exact.score.size  # only those that matter were split


@pytest.mark.parametrize("label", ["bad", 1, 0])
def test_coarse_with_one_class_only(label: Any) -> None:
    _, table = tallied(pl.LazyFrame({"y": [label] * 3, "s": [0.1, 0.5, 0.5]}), truth="y", scores="s", positive=label)
    assert float(table.n_pos) == 3
    assert float(table.n_neg) == 0


def test_a_truth_of_names_is_refused_before_it_is_grouped_by() -> None:
    data = pl.LazyFrame({"y": [f"case {k}" for k in range(3000)], "s": np.linspace(0, 1, 3000)})
    with pytest.raises(ColumnError, match="free text"):
        tallied(data, truth="y", scores="s")


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize(
    ("labels", "late"),
    [((0, 1), 0), ((1, 0), 1), ((0, 2), 2), ((0.0, 1.0), 1.0), (("good", "bad"), "bad"), ((False, True), True)],
)
def test_parquet_is_counted_by_number_as_by_hash(
    labels: tuple[Any, Any], late: Any, weight: str | None, tmp_path: Path
) -> None:
    """The same scores from a file, which tells ranges, and from a frame, which does not."""
    rng = np.random.default_rng(3)
    truth = [*(labels[k] for k in rng.integers(0, 2, 3000)), late]
    frame = pa.table({"y": truth, "s": rng.uniform(-0.1, 1.1, 3001), "w": rng.integers(0, 3, 3001) / 2})
    parquet.write_table(frame, tmp_path / "frame.parquet")

    def counted(data: Any) -> ScoreTable:
        source = read(data)
        named = resolve_roles(source, truth="y", scores="s", weight=weight, positive=labels[1])
        table = count_in_engine(source, named, edges=(0.3,))[1]["s"]
        assert isinstance(table, ScoreTable)
        return table

    found, expected = counted(str(tmp_path / "frame.parquet")), counted(frame)
    same(found, expected)
    assert found.bins is not None
    assert expected.bins is not None
    assert found.bins.high.tolist() == expected.bins.high.tolist()
    assert found.bins.first == pytest.approx(expected.bins.first, rel=1e-12)


@pytest.mark.parametrize("late", [2, -1])
def test_a_label_beyond_those_of_the_first_rows(late: int, tmp_path: Path) -> None:
    truth = [*[0, 1] * 3000, late]
    parquet.write_table(pa.table({"y": truth, "s": np.linspace(0.2, 0.8, 6001)}), tmp_path / "frame.parquet")
    source = read(str(tmp_path / "frame.parquet"))
    sample, _ = count_in_engine(source, resolve_roles(source, truth="y", scores="s", positive=1))
    assert sorted(zip(sample.classes, sample.class_counts, strict=True)) == [
        *sorted([("0", 3000), ("1", 3000), (str(late), 1)])
    ]

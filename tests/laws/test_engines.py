"""The whole catalogue says the same of a sample on every engine, ±0.0, NaN and null included."""

import math
from dataclasses import replace
from decimal import Decimal
from importlib.util import find_spec

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from components import missing
from helpers.binned import class_bins
from laws.strategies import samples, value
from scorespace.errors import ScoreSpaceError
from scorespace.io import count_tables, read, resolve_roles, validate
from scorespace.io.out_of_core import count_groups, count_in_engine, count_model_pairs
from scorespace.measures import measures
from scorespace.tables import Counts, ScoreTable, class_table, score_table
from scorespace.tables.bins import bin_of_score
from scorespace.tables.paired import PAIR_BITS

ENGINES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}
signed_scores = st.sampled_from([-0.0, 0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1, allow_subnormal=False)


@pytest.mark.parametrize("engine", ENGINES)
@given(sample=samples(signed_scores, both=True))
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
def test_every_measure_is_the_same_on_every_engine(engine, sample):
    # A last row without a score, missing as NaN where NumPy holds it and as null elsewhere, is dropped.
    columns = {"y": [*sample.truth, 1], "s": [*sample.score, None], "w": [*sample.weight, 1.0]}
    if engine == "pandas":
        columns["s"][-1] = np.nan
    source = read(ENGINES[engine](columns))
    asked = resolve_roles(source, truth="y", scores="s", weight="w", positive=1)
    checked = validate(source, asked, missing="drop")
    assert checked.dropped == 1
    expected = sample.table()
    for found in (count_tables(checked)["s"], count_in_engine(source, asked, missing="drop", bits=0)[1]["s"]):
        for measure in (one for one in measures() if one.table in (Counts, ScoreTable)):
            assert_array_equal(value(measure, found), value(measure, expected), err_msg=measure.name)


@pytest.mark.parametrize("engine", ENGINES)
@given(sample=samples(signed_scores, both=True), edge=st.sampled_from([0.3, 0.5]), bits=st.sampled_from([38, 48, 51]))
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
def test_bins_are_the_same_on_every_engine(engine, sample, edge, bits):
    columns = {"y": [*sample.truth, 1], "s": [*sample.score, None], "w": [*sample.weight, 1.0]}
    if engine == "pandas":
        columns["s"][-1] = np.nan
    source = read(ENGINES[engine](columns))
    asked = resolve_roles(source, truth="y", scores="s", weight="w", positive=1)
    _, found = count_in_engine(source, asked, missing="drop", bits=bits, edges=[edge])
    expected = sample.table().rounded(bits, [edge])
    assert found["s"].score.tolist() == expected.score.tolist()
    assert found["s"].bins.high.tolist() == expected.bins.high.tolist()
    for measure in (one for one in measures() if one.table in (Counts, ScoreTable) and not one.probability):
        assert_array_equal(value(measure, found["s"]), value(measure, expected), err_msg=measure.name)


@pytest.fixture(scope="module")
def two_models():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 300)
    scores = {"a": np.round(rng.random(300), 3), "b": rng.random(300)}
    return {"y": truth, **scores, "g": np.array([f"group {k}" for k in rng.integers(0, 9, 300)])}


@pytest.mark.parametrize("engine", ENGINES)
def test_two_models_and_groups_are_counted_alike(engine, two_models):
    source = read(ENGINES[engine](two_models))
    asked = resolve_roles(source, truth="y", scores=["a", "b"], positive=1, group="g")
    sample, tables = count_in_engine(source, asked)
    pairs = count_model_pairs(sample, tables)["a", "b"]
    keys = np.stack([two_models["y"], *(bin_of_score(two_models[name], PAIR_BITS) for name in "ab")])
    expected, times = np.unique(keys, axis=1, return_counts=True)
    found = np.stack([pairs.code, *(pairs.scores(k) for k in (0, 1))])
    order = np.lexsort(found[::-1])
    assert found[:, order].tolist() == expected.tolist()
    assert pairs.times[order].tolist() == times.tolist()
    grouped = count_groups(sample, tables)
    sizes = np.bincount(grouped.group, grouped.times)
    assert sizes.tolist() == np.unique(two_models["g"], return_counts=True)[1].tolist()


@pytest.mark.parametrize("bits", [0, 38, 50])
@pytest.mark.parametrize("engine", ENGINES)
def test_scores_of_classes_are_counted_alike(engine, bits):
    rng = np.random.default_rng(4)
    truth, score = np.array(list("abc"))[rng.integers(0, 3, 200)], np.round(rng.dirichlet([1, 1, 1], 200), 3)
    columns = {"y": truth, **{f"m_{name}": score[:, k] for k, name in enumerate("abc")}}
    source = read(ENGINES[engine](columns))
    _, tables = count_in_engine(source, resolve_roles(source, truth="y", scores="m_*"), bits=bits)
    expected = class_bins(class_table(truth, score), bits)
    found = tables["m"]
    for one, other in zip((*found.tables, found.top), (*expected.tables, expected.top), strict=True):
        assert one.score.tolist() == other.score.tolist()
        assert one.counts.tolist() == other.counts.tolist()
    assert found.decisions == expected.decisions
    assert found.leads == expected.leads
    assert found.excess == pytest.approx(expected.excess)


@pytest.mark.parametrize("bits", [0, 38])
def test_dask_counts_alike(bits, two_models):
    if find_spec("dask") is None:
        missing("dask is not installed")
    frames = pytest.importorskip("dask.dataframe", reason="dask without its data frames")
    source = read(frames.from_pandas(pd.DataFrame(two_models), npartitions=3))
    sample, tables = count_in_engine(source, resolve_roles(source, truth="y", scores=["a", "b"], positive=1), bits=bits)
    for name in "ab":
        expected = score_table(two_models["y"], two_models[name])
        expected = expected.rounded(bits) if bits else expected
        assert tables[name].score.tolist() == expected.score.tolist()
        assert tables[name].counts.tolist() == expected.counts.tolist()
    assert count_model_pairs(sample, tables)["a", "b"].times.sum() == 300


LABELS = {
    "whole": (0, 1, pa.int16()),
    "boolean": (False, True, pa.bool_()),
    "text": ("good", "bad", pa.string()),
    "decimal": (Decimal("0"), Decimal("1"), pa.decimal128(4, 1)),
}
SCORES = {
    "float": (st.sampled_from([-0.0, 0.0, 0.5, 0.3, 1.0, -2.5, 1e-9, math.nan]) | st.floats(0, 1), pa.float64()),
    "single": (st.floats(0, 1, width=32), pa.float32()),
    "decimal": (st.integers(-30, 130).map(lambda k: Decimal(k) / 100), pa.decimal128(6, 2)),
    "boolean": (st.booleans(), pa.bool_()),
}


@st.composite
def mixed(draw):
    """A frame of any kinds of columns: null in any of them, NaN among floats, weights of zero, groups."""
    label, score = draw(st.sampled_from(list(LABELS))), draw(st.sampled_from(list(SCORES)))
    (low, high, kind), (values, numbers) = LABELS[label], SCORES[score]
    sizes = st.sampled_from([0.0, 0.25, 1.0, 2.0])
    row = st.tuples(
        st.none() | st.sampled_from([low, high, low, high]), st.none() | values | values, st.none() | sizes | sizes
    )
    rows = [(low, draw(values), 1.0), (high, draw(values), 0.5), *draw(st.lists(row, max_size=14))]
    given_weight = draw(st.booleans())
    columns = dict(zip("ysw", zip(*rows, strict=True), strict=True))
    kinds = {"y": kind, "s": numbers, "w": pa.float64()}
    made = {name: pa.array(column, kinds[name]) for name, column in columns.items()}
    made["g"] = pa.array([f"group {k % 3}" for k in range(len(rows))])
    kept = [
        (truth == high, float(value), float(weight or 0) if given_weight else 1.0)
        for truth, value, weight in rows
        if truth is not None and value is not None and value == value and not (given_weight and weight is None)
    ]
    return pa.table(made), high, "w" if given_weight else None, [one for one in kept if one[2]]


ANY_ENGINE = {
    "pandas": lambda frame, _: frame.to_pandas(),
    "polars": lambda frame, _: pl.from_arrow(frame),
    "polars lazy": lambda frame, _: pl.from_arrow(frame).lazy(),
    "pyarrow": lambda frame, _: frame,
    "duckdb": lambda frame, _: duckdb.from_arrow(frame),
    "parquet": lambda frame, folder: written(frame, folder),
}


def written(frame, folder):
    pq.write_table(frame, folder / "frame.parquet")
    return str(folder / "frame.parquet")


@pytest.mark.parametrize("engine", ANY_ENGINE)
@given(drawn=mixed(), bits=st.sampled_from([0, 38, 50]), edges=st.sampled_from([(), (0.3,), (0.25, 0.5001)]))
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_frames_of_any_kind_give_the_tables_of_their_cases(engine, drawn, bits, edges, tmp_path):
    frame, positive, weight, cases = drawn
    truth, score, weights = zip(*cases, strict=True) if cases else ((), (), ())
    assume(len(set(truth)) == 2)
    source = read(ANY_ENGINE[engine](frame, tmp_path))
    asked = resolve_roles(source, truth="y", scores="s", weight=weight, positive=positive)
    _, tables = count_in_engine(source, asked, missing="drop", bits=bits, edges=edges)
    exact = score_table(truth, score, positive=True, weight=weights if weight else None)
    expected, found = exact.rounded(bits, edges) if bits else exact, tables["s"]
    if found.positive != expected.positive:  # bad stands before good, False before True
        expected = replace(expected, counts=expected.counts[::-1])
    assert found.score.tolist() == expected.score.tolist()
    assert found.counts.tolist() == expected.counts.tolist()
    if bits:
        assert found.bins.high.tolist() == expected.bins.high.tolist()
    if weight is None:
        grouped, _ = count_in_engine(source, replace(asked, group="g"), missing="drop", bits=bits, edges=edges)
        assert count_groups(grouped, tables, edges=edges).times.sum() == len(cases)


@pytest.mark.parametrize("engine", ANY_ENGINE)
@pytest.mark.parametrize("bits", [0, 38])
def test_infinities_are_refused_alike(engine, bits, tmp_path):
    frame = pa.table({"y": [1, 0, 1, 0], "s": [0.5, math.inf, math.nan, -math.inf]})
    source = read(ANY_ENGINE[engine](frame, tmp_path))
    with pytest.raises(ScoreSpaceError) as told:
        count_in_engine(source, resolve_roles(source, truth="y", scores="s"), missing="drop", bits=bits)
    assert str(told.value) == (
        "column 's' has infinite scores.\n  seen: 2 of 3 rows\n"
        "  hint: replace them by a number beyond the largest finite score"
    )

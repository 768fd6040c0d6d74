"""The whole catalogue says the same of a sample on every engine, ±0.0, NaN and null included."""

from importlib.util import find_spec

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from components import missing
from laws.strategies import samples, value
from scorespace.frames import check, count, couples, grouped_bins, read, roles, tally
from scorespace.measures import measures
from scorespace.tables import Counts, ScoreTable, class_bins, class_table, score_table
from scorespace.tables.bins import cell
from scorespace.tables.pair import PAIR_BITS

ENGINES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}
signed_scores = st.sampled_from([-0.0, 0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1, allow_subnormal=False)


@pytest.mark.parametrize("in_memory", [0, 1_000], ids=["grouped by the engine", "in memory"])
@pytest.mark.parametrize("engine", ENGINES)
@given(sample=samples(signed_scores, both=True))
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
def test_every_measure_is_the_same_on_every_engine(engine, in_memory, sample):
    # A last row without a score, missing as NaN where NumPy holds it and as null elsewhere, is dropped.
    columns = {"y": [*sample.truth, 1], "s": [*sample.score, None], "w": [*sample.weight, 1.0]}
    if engine == "pandas":
        columns["s"][-1] = np.nan
    source = read(ENGINES[engine](columns))
    checked = check(source, roles(source, truth="y", scores="s", weight="w", positive=1), missing="drop")
    assert checked.dropped == 1
    found = count(checked, rows_in_memory=in_memory)["s"]
    expected = sample.table()
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
    asked = roles(source, truth="y", scores="s", weight="w", positive=1)
    _, found = tally(source, asked, missing="drop", bits=bits, edges=[edge])
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
    asked = roles(source, truth="y", scores=["a", "b"], positive=1, group="g")
    sample, tables = tally(source, asked)
    pairs = couples(sample, tables)["a", "b"]
    keys = np.stack([two_models["y"], *(cell(two_models[name], PAIR_BITS) for name in "ab")])
    expected, times = np.unique(keys, axis=1, return_counts=True)
    found = np.stack([pairs.code, *(pairs.scores(k) for k in (0, 1))])
    order = np.lexsort(found[::-1])
    assert found[:, order].tolist() == expected.tolist()
    assert pairs.times[order].tolist() == times.tolist()
    grouped = grouped_bins(sample, tables)
    sizes = np.bincount(grouped.group, grouped.times)
    assert sizes.tolist() == np.unique(two_models["g"], return_counts=True)[1].tolist()


@pytest.mark.parametrize("bits", [0, 38, 50])
@pytest.mark.parametrize("engine", ENGINES)
def test_scores_of_classes_are_counted_alike(engine, bits):
    rng = np.random.default_rng(4)
    truth, score = np.array(list("abc"))[rng.integers(0, 3, 200)], np.round(rng.dirichlet([1, 1, 1], 200), 3)
    columns = {"y": truth, **{f"m_{name}": score[:, k] for k, name in enumerate("abc")}}
    source = read(ENGINES[engine](columns))
    _, tables = tally(source, roles(source, truth="y", scores="m_*"), bits=bits)
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
    sample, tables = tally(source, roles(source, truth="y", scores=["a", "b"], positive=1), bits=bits)
    for name in "ab":
        expected = score_table(two_models["y"], two_models[name])
        expected = expected.rounded(bits) if bits else expected
        assert tables[name].score.tolist() == expected.score.tolist()
        assert tables[name].counts.tolist() == expected.counts.tolist()
    assert couples(sample, tables)["a", "b"].times.sum() == 300

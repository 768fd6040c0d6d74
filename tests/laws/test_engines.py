"""The whole catalogue says the same of a sample on every engine, ±0.0, NaN and null included."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from laws.strategies import samples, value
from scorespace.frames import check, count, read, roles
from scorespace.measures import measures
from scorespace.tables import Counts, ScoreTable

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

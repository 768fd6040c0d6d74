"""Predicted numbers: the RROC curve beside a sort of the errors, measures beside scikit-learn, a file beside a scan."""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import parquet
from sklearn.metrics import mean_absolute_error, median_absolute_error, r2_score
from timing import Aim, Line, in_turns

from scorespace.curves.rroc import rroc
from scorespace.evaluation.enter import evaluate
from scorespace.measures.regression import mae, medae, r2
from scorespace.tables.residual import residual_table

FULL = 10**7


def predicted(rows: int) -> None:
    """From arrays to the curve and to single measures; from a Parquet file to the measures that are sums."""
    rng = np.random.default_rng(0)
    truth = rng.gamma(2, 10, rows)
    guess = truth + rng.normal(0, 3, rows)
    full = rows >= FULL
    runs = 1 if full else 3
    times = in_turns(lambda: rroc(residual_table(truth, guess)).area(), lambda: np.sort(guess - truth), runs=3)
    print(Line("RROC curve and its area", times[0], "np.sort of the errors", times[1], Aim(slower=2 if full else None)))
    for name, ours, theirs in (
        ("mean absolute error", mae, mean_absolute_error),
        ("R²", r2, r2_score),
        ("median absolute error", medae, median_absolute_error),
    ):
        times = in_turns(lambda f=ours: f(residual_table(truth, guess)), lambda f=theirs: f(truth, guess), runs=runs)
        print(Line(name, times[0], "scikit-learn", times[1]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers.parquet"
        parquet.write_table(pa.table({"truth": truth, "guess": guess}), path)
        scan = f"SELECT avg(abs(guess - truth)), avg((guess - truth) ** 2), var_pop(truth) FROM '{path}'"
        times = in_turns(
            lambda: evaluate(str(path), truth="truth", predictions="guess", measures="mae, rmse, r2").measures("mae"),
            lambda: duckdb.sql(scan).fetchall(),
            runs=runs,
        )
        print(Line("file to mae, rmse, r2 with intervals", times[0], "a scan by DuckDB", times[1]))

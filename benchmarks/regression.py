"""Predicted numbers: the RROC curve beside a sort of the errors, measures beside scikit-learn, a file beside a scan."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from large import asked, written
from sklearn.metrics import mean_absolute_error, median_absolute_error, r2_score
from timing import Aim, Line, in_turns, shown

from scorespace.curves.rroc import rroc
from scorespace.measures.regression import mae, medae, r2
from scorespace.tables.regression import residual_table

FULL = 10**7


def predicted(rows: int) -> None:
    """From arrays to the curve and to single measures."""
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
        print(Line(name, times[0], "scikit-learn", times[1], Aim(slower=3 if full else None)))


def sums_of_errors(rows: int) -> None:
    """Measures that are sums, from a file beyond the memory, beside one scan of the two columns."""
    with tempfile.TemporaryDirectory(prefix="scorespace-bench-") as folder:
        path = Path(folder) / "numbers.parquet"
        written(path, rows)
        codes = [_SCAN, *(_SUMS.replace("MORE", more) for more, _, _ in _ASKED)]
        turns = [[asked(code, path) for code in codes] for _ in range(2)]  # in turns: others may use the machine
        bare, *ours = ({name: min(one[name] for one in runs) for name in runs[0]} for runs in zip(*turns, strict=True))
        for found, (_, name, most) in zip(ours, _ASKED, strict=True):
            aim = Aim(slower=most if rows >= 10**8 else None)  # below, loading weighs as much
            print(Line(name, found["seconds"], "bare sums of both columns", bare["seconds"], aim))
            ratio = f"{found['worked'] / bare['worked']:.1f} times as much, {found['memory']:.0f} MB"
            print(f"  {'processor time':<36}{shown(found['worked']):>9}   {shown(bare['worked'])}   {ratio}")


_BEGUN = "start, begun = time.perf_counter(), time.process_time()\n"
_ENDED = "found = {'seconds': time.perf_counter() - start, 'worked': time.process_time() - begun}\n"
_SCAN = f"""
import duckdb
{_BEGUN}
duckdb.sql(f"SELECT sum(p), sum(q) FROM '{{path}}'").fetchnumpy()
{_ENDED}
"""
# All is loaded before the clock starts, as DuckDB is for the scan.
_SUMS = f"""
import duckdb, scorespace as ss
ss.evaluate({{"p": [1.0, 2.0, 4.0], "q": [1.0, 3.0, 3.0]}}, truth="p", predictions="q").summary
{_BEGUN}
ss.evaluate(path, truth="p", predictions="q", memory="1MB", MORE).summary
{_ENDED}
"""
# Each sum takes about a tenth of the time of reading both columns, and intervals need sums of products.
_ASKED = (
    ('measures="mae,mse", further=()', "mae, mse, with intervals", 2),
    ("further=()", "mae, rmse, bias, r2, with intervals", 2.5),
    ('measures="mae,rmse,bias,r2,rae,pearson", further=()', "and rae, pearson", None),
    ("further=None", "sums for every measure", None),
)

"""Predicted numbers: the RROC curve beside the sort that it needs, and sums of errors beside a scan of the file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from large import asked, written
from timing import Aim, Line, in_turns, shown

from scorespace.curves import rroc
from scorespace.tables import residual_table


def rroc_curve(rows: int) -> None:
    """The curve from a table at hand, beside NumPy's sort of its errors."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=rows)
    predicted = truth + rng.normal(size=rows)
    error = predicted - truth
    table = residual_table(truth, predicted)
    ours, sort = in_turns(lambda: rroc(table), lambda: np.sort(error))
    print(Line("RROC curve", ours, "sort of the errors", sort, Aim(slower=2.0)))


def sums_of_errors(rows: int) -> None:
    """Measures that are sums, from a file beyond the memory, beside one scan of the two columns."""
    with tempfile.TemporaryDirectory(prefix="scorespace-bench-") as folder:
        path = Path(folder) / "numbers.parquet"
        written(path, rows)
        bare, ours = asked(_SCAN, path), asked(_SUMS, path)
        print(Line("mae, rmse, r2, bias of a model", ours["seconds"], "bare sums of both columns", bare["seconds"]))
        print(f"  {'processor time':<36}{shown(ours['busy']):>9}   {shown(bare['busy'])}   {ours['memory']:.0f} MB")


_SCAN = """
import duckdb
start = time.perf_counter()
duckdb.sql(f"SELECT sum(p), sum(q), sum((q - p) * (q - p)), count(*) FROM '{path}'").fetchnumpy()
found = {"seconds": time.perf_counter() - start}
"""
_SUMS = """
import scorespace as ss
start = time.perf_counter()
ss.evaluate(path, truth="p", predictions="q", memory="1MB").measures("mae", "rmse", "r2", "bias")
found = {"seconds": time.perf_counter() - start}
"""

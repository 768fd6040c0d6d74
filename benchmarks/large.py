"""More rows than memory should hold: our one pass beside a bare group-by, polars and Spark's own evaluator."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from timing import Aim, Line, installed, shown

CELLS = 65_536
MOST_MEMORY = 1000  # MB
WIDTH = 1.2e-5  # of the certificate
MOST_FOR_SPARK = 10**6


def large(rows: int) -> None:
    """Parquet with a score and a label, written in pieces and deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="scorespace-bench-") as folder:
        path = Path(folder) / "large.parquet"
        print(f"  {'writing the file':<36}{shown(written(path, rows)):>9}   {path.stat().st_size / 1e6:.0f} MB")
        both = [(asked(_BARE, path), asked(_OURS, path)) for _ in range(2)]  # in turns: others may use the machine
        ours = min((one for _, one in both), key=lambda one: one["seconds"])
        bare = min(one["seconds"] for one, _ in both)
        busy = min(own["busy"] for _, own in both) / min(one["busy"] for one, _ in both)
        whole = rows >= 10**8
        aim = Aim(slower=2.5 if whole else None)
        print(Line("tables of one model, certified", ours["seconds"], "bare group-by of floor(65536 p)", bare, aim))
        print(f"  {'':<36}{busy:.2f} times its processor time, loading included")
        _memory("", ours["memory"])
        width = ours["high"] - ours["low"]
        verdict = "met" if width < WIDTH else "MISSED"
        print(f"  AUC {ours['value']:.9f}, certified within {width:.2g}   aim < {WIDTH:g}: {verdict}")
        report = asked(_REPORT, path)
        print(Line("evaluate two models with report", report["seconds"], "bare group-by", bare))
        _memory("", report["memory"])
        middle = (ours["low"] + ours["high"]) / 2
        _peer("polars, streaming, floor(65536 p)", asked(_POLARS, path), middle)
        # Spark's evaluator sorts all scores before it thins them: it is run where that takes minutes at most.
        if rows > MOST_FOR_SPARK or not installed("pyspark"):
            why = "make spark installs it" if rows <= MOST_FOR_SPARK else f"at most {MOST_FOR_SPARK:.0e} rows"
            print(f"  Spark's evaluator was not run: {why}.")
        else:
            _peer("Spark's evaluator, 1000 bins, local", asked(_SPARK, path), middle)


def _memory(name: str, used: float) -> None:
    print(f"  {name:<36}peak memory {used:.0f} MB   aim < 1 GB: {'met' if used < MOST_MEMORY else 'MISSED'}")


def _peer(name: str, found: dict[str, float], ours: float) -> None:
    print(
        f"  {name:<36}{shown(found['seconds']):>9}   AUC {found['value']:.9f}, {found['value'] - ours:+.1e} from ours"
    )


def written(path: Path, rows: int) -> float:
    """Write scores of two fairly good models, 30 % of the cases positive; how long it took."""
    import duckdb

    began = time.perf_counter()
    connection = duckdb.connect()
    connection.execute("SET memory_limit = '1GB'; SET preserve_insertion_order = false; SELECT setseed(0.5)")
    normal = "sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"
    cases = f"SELECT (random() < 0.3)::TINYINT AS y, {normal} AS z, {normal} AS e FROM range({rows})"
    scored = f"SELECT 1 / (1 + exp(-(z + y))) AS p, 1 / (1 + exp(-(z + 0.9 * y + 0.4 * e))) AS q, y FROM ({cases})"
    connection.execute(f"COPY ({scored}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 1000000)")
    return time.perf_counter() - began


def asked(code: str, path: Path) -> dict[str, float]:
    """What code prints as JSON in a process of its own, with its peak memory in MB."""
    ending = "import resource\nused = resource.getrusage(resource.RUSAGE_SELF)\n"
    ending += "found |= {'memory': used.ru_maxrss / 1024, 'busy': used.ru_utime + used.ru_stime}\n"
    whole = f"import json, time\npath = {str(path)!r}\n{code}\n{ending}print(json.dumps(found))"
    done = subprocess.run([sys.executable, "-c", whole], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


_BARE = f"""
import duckdb
start = time.perf_counter()
duckdb.sql(f"SELECT floor({CELLS} * p) AS bin, y, count(*) FROM '{{path}}' GROUP BY 1, 2").fetchnumpy()
found = {{"seconds": time.perf_counter() - start}}
"""
_OURS = """
import duckdb  # loaded before the clock starts, as for the bare query
from scorespace.evaluation.tabulate import count_tables
from scorespace.measures import parse
from scorespace.measures.bounds import certified
from scorespace.measures.ranking import auc
start = time.perf_counter()
table = count_tables(path, truth="y", scores="p", bins=True).tables["p"]
low, high = certified(parse("auc"), table)
found = {"seconds": time.perf_counter() - start, "low": low, "high": high, "value": auc(table)}
"""
_REPORT = """
import sys
from pathlib import Path
from scorespace.cli import main
start = time.perf_counter()
sys.argv = ["scorespace", "evaluate", path, "--truth", "y", "--score", "p", "--score", "q", "--memory", "1MB",
            "--report", str(Path(path).with_suffix(".html"))]
try:
    main()
except SystemExit:
    pass
found = {"seconds": time.perf_counter() - start}
"""
_POLARS = f"""
import numpy as np, polars as pl
start = time.perf_counter()
bins = (pl.scan_parquet(path).group_by((pl.col("p") * {CELLS}).floor().alias("bin"))
        .agg(pl.col("y").cast(pl.Int64).sum().alias("pos"), pl.len().alias("all")))
bins = bins.sort("bin").collect(engine="streaming")
pos, every = bins["pos"].to_numpy().astype(float), bins["all"].to_numpy().astype(float)
neg = every - pos
area = float((pos * (np.cumsum(neg) - neg / 2)).sum() / pos.sum() / neg.sum())
found = {{"seconds": time.perf_counter() - start, "value": area}}
"""
_SPARK = """
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.sql import SparkSession
start = time.perf_counter()
quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "3g"}
builder = SparkSession.builder.master("local[2]")
for key, value in quiet.items():
    builder = builder.config(key, value)
frame = builder.getOrCreate().read.parquet(path)
judge = BinaryClassificationEvaluator(rawPredictionCol="p", labelCol="y")
found = {"value": judge.evaluate(frame), "seconds": time.perf_counter() - start}
"""

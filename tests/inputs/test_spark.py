"""Spark on a stand-alone cluster of one master and two workers: the tables of NumPy, and a worker killed in mid-job."""

from __future__ import annotations

import contextlib
import decimal
import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import scorespace as ss
from components import missing
from scorespace.errors import DataError, ScoreSpaceError
from scorespace.io import read, resolve_roles, spark_source
from scorespace.io.out_of_core import count_in_engine
from scorespace.tables import score_table

MISSING = [name for name, there in (("pyspark", find_spec("pyspark")), ("java", shutil.which("java"))) if not there]
if MISSING:
    missing(f"{' and '.join(MISSING)} not installed: make spark", whole_file=True)

PATIENCE = 120.0
ROWS = 4000


class Cluster:
    """A master and two workers, each a process group of its own."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self.home, self.folder = Path(pyspark.__file__).parent, folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self._start("master", "org.apache.spark.deploy.master.Master", "--port", "0")
        self.master = "spark://" + self._said("master", "Starting Spark master at spark://")
        for name in ("one", "two"):
            more = ("-c", "1", "-m", "700m", "-d", str(folder / f"work-{name}"), self.master)
            self._start(name, "org.apache.spark.deploy.worker.Worker", *more)
        for name in ("one", "two"):
            self._said(name, "Successfully registered with master spark://")

    def kill(self, place: int) -> None:
        """End a worker and its executors at once, as a power cut would."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.processes[place].pid, signal.SIGKILL)
        self.processes[place].wait(30)

    def stop(self) -> None:
        for place in range(len(self.processes)):
            self.kill(place)

    def _start(self, name: str, kind: str, *words: str) -> None:
        settings = {"SPARK_HOME": str(self.home), "SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_IP": "127.0.0.1"}
        with (self.folder / f"{name}.log").open("wb") as log:
            started = subprocess.Popen(
                [self.home / "bin" / "spark-class", kind, "--host", "127.0.0.1", "--webui-port", "0", *words],
                env={**os.environ, **settings},
                cwd=self.folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.processes.append(started)

    def _said(self, name: str, what: str) -> str:
        """What follows the words in the log, once they are there."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            log = (self.folder / f"{name}.log").read_text(errors="replace")
            if what in log:
                return log.split(what, 1)[1].split()[0]
            time.sleep(0.2)
        raise TimeoutError(log[-2000:])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Any:
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    yield found
    found.stop()


@pytest.fixture(scope="module")
def spark(cluster: Cluster) -> Any:
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master(cluster.master).appName("tests of scorespace")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "700m",
        "spark.executor.memory": "600m",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "ERROR",
        # Python would be started on the workers with this, and is not there: nothing of ours may need it.
        "spark.pyspark.python": "/nowhere/python",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def columns() -> dict[str, Any]:
    rng = np.random.default_rng(7)
    truth = (rng.random(ROWS) < 0.4).astype(int)
    score = 1 / (1 + np.exp(-(rng.normal(size=ROWS) + truth)))
    score[::9] = np.round(score[::9], 1)
    score[:4] = [0.0, -0.0, 1.0, 0.5]
    return {
        "y": truth,
        "s": score,
        "t": rng.random(ROWS),
        "w": rng.integers(0, 4, ROWS) / 4,
        "label": np.where(truth == 1, "bad", "good"),
        "flag": truth == 1,
        "decimal": [decimal.Decimal(int(x * 1000)) / 1000 for x in score],
        "decided": (score > 0.4).astype(int),
        "kind": np.array(["low", "middle", "high"])[np.arange(ROWS) % 3],
    }


@pytest.fixture(scope="module")
def files(columns: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "sample.parquet"
    folder.mkdir()
    whole = pa.table(columns)
    for part in range(4):
        pq.write_table(whole.slice(part * ROWS // 4, ROWS // 4), folder / f"part-{part}.parquet")
    return folder


@pytest.fixture(scope="module")
def frame(spark: Any, files: Path) -> Any:
    return spark.read.parquet(str(files))


@pytest.mark.parametrize(
    ("truth", "model", "weight", "bits"), [("y", "s", None, 38), ("label", "s", "w", 48), ("flag", "decimal", None, 0)]
)
def test_the_tables_are_those_of_numpy(frame, columns, truth, model, weight, bits):
    source = read(frame)
    positive = "bad" if truth == "label" else None
    sample, tables = count_in_engine(
        source, resolve_roles(source, truth=truth, scores=model, weight=weight, positive=positive), bits=bits
    )
    given = None if weight is None else columns[weight]
    assert sample.rows == (ROWS if given is None else int((given > 0).sum()))
    score = np.asarray(columns[model], dtype=float)
    expected = score_table(columns[truth], score, positive=sample.classes[sample.positive], weight=given)
    expected = expected.rounded(bits) if bits else expected
    found = tables[model]
    assert found.score.tolist() == expected.score.tolist()
    assert found.counts.tolist() == expected.counts.tolist()
    if bits:
        assert found.bins.high.tolist() == expected.bins.high.tolist()
        np.testing.assert_allclose(found.bins.first, expected.bins.first, rtol=1e-13)


def test_evaluations_say_the_same(frame, columns):
    named = {"truth": "y", "scores": "s", "decisions": "decided"}
    on_cluster = ss.evaluate(frame, **named)
    here = ss.evaluate({name: columns[name] for name in ("y", "s", "decided")}, **named, paired=False)
    assert on_cluster.models.tables["s"] == here.models.tables["s"]  # from which every measure follows
    assert on_cluster.models.tables["decided"] == here.models.tables["decided"]
    assert on_cluster.measures("auc", "brier", "mcc").rows() == here.measures("auc", "brier", "mcc").rows()


def test_missing_values_and_infinities(spark):
    rows = [(1, 0.5), (0, None), (1, math.nan), (None, 0.25), (0, -0.0), (1, 0.0), (0, 0.75)]
    frame = spark.createDataFrame(rows, "y int, s double")
    with pytest.raises(ScoreSpaceError, match="'y' and 's'"):
        ss.evaluate(frame, truth="y", scores="s")
    found = ss.evaluate(frame, truth="y", scores="s", missing="drop").models["s"]
    assert found == score_table([1, 0, 1, 0], [0.5, 0.0, 0.0, 0.75])
    endless = spark.createDataFrame([(1, math.inf), (0, 0.5)], "y int, s double")
    with pytest.raises(ScoreSpaceError, match="infinite scores"):
        ss.evaluate(endless, truth="y", scores="s")


def test_a_path_is_read_by_the_workers(spark, files, columns, cluster):
    evaluation = ss.evaluate(str(files), truth="y", scores="s", engine="spark", master=cluster.master, measures="auc")
    assert evaluation.models.name == "sample.parquet"
    assert evaluation.models["s"] == score_table(columns["y"], columns["s"])


def test_precision_takes_a_second_pass(frame, columns):
    evaluation = ss.evaluate(frame, truth="y", scores="s", memory="1KB", precision=0, measures="auc")
    (one,) = evaluation.summary
    assert one.certified == (one.value, one.value)
    assert one.value == pytest.approx(ss.auc(score_table(columns["y"], columns["s"])), abs=1e-15)


def test_what_would_collect_cases_is_refused(frame):
    with pytest.raises(DataError, match="groups, other"):
        ss.evaluate(frame, truth="y", scores="s", weight="w", group="decided")
    with pytest.raises(DataError, match="predictions with intervals"):
        ss.evaluate(frame, truth="t", predictions="s", intervals=["w", "decimal", 0.9])


def test_errors_of_numbers_are_added_up_on_the_workers(frame, columns):
    here = ss.evaluate({name: columns[name] for name in ("t", "s")}, truth="t", predictions="s")
    there = ss.evaluate(frame, truth="t", predictions="s")
    for one, other in zip(*(each.measures("mae", "rmse", "r2", "bias") for each in (here, there)), strict=True):
        assert other.value == pytest.approx(one.value, rel=1e-12)


def test_models_are_compared_and_classes_and_groups_counted(frame, columns):
    named = {"truth": "y", "scores": ["s", "t"]}
    both = [ss.evaluate(frame, **named, memory="1KB"), ss.evaluate({n: columns[n] for n in ("y", "s", "t")}, **named)]
    coarse, exact = (one.compare()[0] for one in both)
    assert coarse.certified[0] <= exact.difference <= coarse.certified[1]
    assert coarse.statistic == pytest.approx(exact.statistic, rel=1e-2)
    by_class = {"nb": {"low": "s", "middle": "t", "high": "w"}}
    found = ss.evaluate(frame, truth="kind", scores=by_class).models["nb"]
    here = {name: columns[name] for name in ("kind", "s", "t", "w")}
    expected = ss.evaluate(here, truth="kind", scores=by_class).models["nb"]
    assert found.decisions == expected.decisions
    assert found.pair_areas() == pytest.approx(expected.pair_areas(), nan_ok=True, abs=1e-12)
    grouped = ss.evaluate(frame, truth="y", scores="s", group="decided", measures="auc")
    assert grouped.models.pairs.times.sum() == ROWS


def test_the_whole_catalogue_follows_from_the_tables_of_the_workers(frame, columns):
    from laws.strategies import value
    from scorespace.measures import measures
    from scorespace.tables import Counts, ScoreTable

    source = read(frame)
    _, tables = count_in_engine(
        source, resolve_roles(source, truth="label", scores="s", weight="w", positive="bad"), bits=0
    )
    expected = score_table(columns["label"], columns["s"], positive="bad", weight=columns["w"])
    for measure in (one for one in measures() if one.table in (Counts, ScoreTable)):
        np.testing.assert_array_equal(value(measure, tables["s"]), value(measure, expected), err_msg=measure.name)


# --- Spark Connect: a server of its own, and a client process that holds no Java

CLIENT = """
import json, sys
import scorespace as ss
from pyspark.sql import SparkSession

address, files = sys.argv[1:]
spark = SparkSession.builder.remote(address).getOrCreate()
frame = spark.read.parquet(files)
assert type(frame).__module__.startswith("pyspark.sql.connect")
coarse = ss.evaluate(frame, truth="label", positive="bad", scores="s", memory="1KB", measures="auc, tpr@0.3")
table = coarse.models["s"]
found = {"score": table.score.tolist(), "counts": table.counts.tolist(), "rows": coarse.measures("auc").rows()}
print(json.dumps(found))
spark.stop()
"""


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Any:
    import pyspark

    if find_spec("grpc") is None:
        missing("grpcio not installed: make spark")
    home, folder = Path(pyspark.__file__).parent, tmp_path_factory.mktemp("connect")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.memory": "700m",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.pyspark.python": "/nowhere/python",
    }
    words = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [home / "bin" / "spark-submit", "--master", "local[1]", *words, "--class", SERVER, "spark-internal"],
            env={**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"},
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        end = time.monotonic() + PATIENCE
        while socket.socket().connect_ex(("127.0.0.1", port)):
            if time.monotonic() > end or server.poll() is not None:
                raise TimeoutError((folder / "server.log").read_text(errors="replace")[-2000:])
            time.sleep(0.2)
        yield f"sc://127.0.0.1:{port}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait(30)


SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


def test_a_frame_of_connect_is_counted_where_it_is(connect, files, columns):
    without_java = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, connect, str(files)],
        env=without_java | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    exact = score_table(columns["label"], columns["s"], positive="bad")
    expected = exact.rounded(38, [0.3])
    assert found["score"] == expected.score.tolist()
    assert found["counts"] == expected.counts.tolist()
    assert found["rows"][0]["certified_low"] <= ss.auc(exact) <= found["rows"][0]["certified_high"]


def test_what_cannot_be_read_is_told_in_a_line(spark, tmp_path):
    with pytest.raises(DataError, match=r"could not read nowhere\.parquet") as told:
        spark_source(str(tmp_path / "nowhere.parquet"))
    assert len(str(told.value).splitlines()) == 3
    with pytest.raises(DataError, match="supported with Spark"):
        spark_source("a.xlsx")


def test_a_worker_killed_in_mid_job_changes_no_digit(spark, cluster):
    from pyspark.sql import functions as f

    rows = 3_000_000
    noise = f.abs(f.xxhash64("id")) / float(2**63)
    truth = (f.abs(f.xxhash64("id", f.lit(1))) / float(2**63) < 0.3).cast("int")
    frame = spark.range(0, rows, numPartitions=48).select(truth.alias("y"), noise.alias("u"))
    frame = frame.select("y", (f.pow("u", f.lit(2.0) - f.col("y"))).alias("s"))
    asked = {"truth": "y", "scores": "s", "memory": "1KB", "measures": "auc, ks, ap, brier, logloss, tpr@0.5"}
    before = ss.evaluate(frame, **asked)
    killed = threading.Event()

    def kill_soon() -> None:
        tracker, end = spark.sparkContext.statusTracker(), time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for stage in tracker.getActiveStageIds():
                about = tracker.getStageInfo(stage)
                if about and about.numTasks == 48 and about.numCompletedTasks >= 4:
                    cluster.kill(1)
                    killed.set()
                    return
            time.sleep(0.02)

    killer = threading.Thread(target=kill_soon)
    killer.start()
    after = ss.evaluate(frame, **asked)
    killer.join()
    assert killed.is_set()
    assert cluster.processes[1].returncode == -signal.SIGKILL
    table, again = before.models["s"], after.models["s"]
    assert table.total == rows
    assert table.counts.tolist() == again.counts.tolist()
    assert table.bins.low.tolist() == again.bins.low.tolist()
    assert table.bins.high.tolist() == again.bins.high.tolist()
    for one, other in zip(before.summary, after.summary, strict=True):
        assert one.text == other.text
        assert one.value == pytest.approx(other.value, rel=1e-14)  # sums of doubles depend on their order

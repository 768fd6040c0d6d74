"""Runs: stopped at any moment and resumed, twice at once, with failures: always the predictions of one calm run."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from components import missing
from scorespace.errors import ScoreSpaceError
from scorespace.experiments import run as runs
from scorespace.experiments.data import Dataset
from scorespace.experiments.run import RunState, benchmark
from scorespace.experiments.store import open_run

X, Y = load_breast_cancer(return_X_y=True)
WDBC = Dataset("wdbc", {f"x{k}": column for k, column in enumerate(X[:150, :6].T)}, Y[:150], "classes")
LEARNERS = ["naive_bayes", "pet", "forest(trees=3)"]
HOW = "10x5"
SCRIPT = """
import sys
from sklearn.datasets import load_breast_cancer
from scorespace.experiments import run
from scorespace.experiments.data import Dataset
run._MAX_SPLITS_PER_JOB = 5
if __name__ == "__main__":
    X, Y = load_breast_cancer(return_X_y=True)
    data = Dataset("wdbc", {f"x{k}": column for k, column in enumerate(X[:150, :6].T)}, Y[:150], "classes")
    print("begun", flush=True)
    run.benchmark(["naive_bayes", "pet", "forest(trees=3)"], data, "10x5", sys.argv[1], workers=int(sys.argv[2]))
"""


@pytest.fixture(autouse=True)
def _small_jobs(monkeypatch):
    """Many jobs of few splits, so that there is something to stop in the midst of."""
    monkeypatch.setattr(runs, "_MAX_SPLITS_PER_JOB", 5)


def same(one: Path, other: Path) -> bool:
    """Whether two runs hold the same predictions, bit for bit."""
    runs = open_run(one), open_run(other)
    assert runs[0].learners == runs[1].learners
    for learner in runs[0].learners:
        found = [run.predictions("wdbc", learner) for run in runs]
        for name in found[0]:
            if not np.array_equal(found[0][name], found[1][name]):
                return False
    return True


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """An uninterrupted run."""
    where = tmp_path_factory.mktemp("runs") / "calm"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "_MAX_SPLITS_PER_JOB", 5)
        benchmark(LEARNERS, WDBC, HOW, where, workers=1)
    return where


def jobs(where: Path) -> list[Path]:
    """The files of finished jobs."""
    return [file for file in where.glob("jobs/*/*/*.parquet") if not file.name.startswith(".")]


def started(where: Path, workers: int, script: Path) -> subprocess.Popen:
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(where), str(workers)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    return process


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_and_resumed_is_the_calm_run(tmp_path, calm, workers):
    where = tmp_path / "killed"
    pauses = random.Random(workers)
    for finished in range(2):  # once before anything may be finished, and once in the midst
        process = started(where, workers, tmp_path / "go.py")
        patience = time.monotonic() + 60
        while len(jobs(where)) < finished and time.monotonic() < patience:
            time.sleep(0.02)
        time.sleep(pauses.uniform(0.0, 1.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
    benchmark(LEARNERS, WDBC, HOW, where, workers=1)
    assert open_run(where).status().finished
    assert same(where, calm)
    assert (
        not [name for _, _, names in os.walk(where) for name in names if name.startswith(".scorespace-")] or workers > 1
    )


def test_two_processes_on_one_directory(tmp_path, calm):
    where = tmp_path / "two"
    both = [started(where, 1, tmp_path / f"go{k}.py") for k in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert open_run(where).status().finished
    assert same(where, calm)
    benchmark(LEARNERS, WDBC, HOW, where, workers=1)
    assert sum(one.done for one in open_run(where).status().job_statuses) == 150


def test_workers_give_what_one_gives(tmp_path, calm):
    benchmark(LEARNERS, WDBC, HOW, tmp_path / "r", workers=2)
    assert same(tmp_path / "r", calm)


def test_processes_are_started_only_where_that_pays(tmp_path, calm, monkeypatch):
    """Quick fits are done here; a learner that is not quick, or more than a little work left, starts processes."""
    started = []

    def beside(run, jobs, workers):
        started.append(next(iter(left := list(jobs))).learner.name)
        return (runs._finish_job(run, job) for job in left)

    monkeypatch.setattr(runs, "_run_in_processes", beside)
    monkeypatch.setattr(runs, "_MIN_PARALLEL_SECONDS", 1000.0)
    benchmark(["naive_bayes", "majority"], WDBC, HOW, tmp_path / "quick", workers=2)
    assert started == []
    benchmark(LEARNERS, WDBC, HOW, tmp_path / "mixed", workers=2)
    assert started == ["forest(trees=3)"]
    monkeypatch.setattr(runs, "_MIN_PARALLEL_SECONDS", 0.0)
    benchmark("naive_bayes", WDBC, HOW, tmp_path / "long", workers=2)
    assert started == ["forest(trees=3)", "naive_bayes"]
    assert same(tmp_path / "mixed", calm)


def test_what_is_finished_is_not_done_again(calm):
    files = {file: file.stat().st_mtime_ns for file in calm.rglob("*.parquet")}
    states = []
    benchmark(LEARNERS, WDBC, HOW, calm, workers=1, watch=states.append)
    assert {file: file.stat().st_mtime_ns for file in calm.rglob("*.parquet")} == files
    assert [(one.done, one.total) for one in states] == [(150, 150)]


def test_progress_tells_rate_and_time_left(tmp_path):
    states: list[RunState] = []
    benchmark("majority", WDBC, HOW, tmp_path / "r", workers=1, watch=states.append)
    assert (states[0].done, states[-1].done) == (0, 50)
    assert all(one.done < other.done for one, other in pairwise(states))
    middle = RunState(done=300, total=1000, failed=0, seconds=20.0, before=100)
    assert (middle.rate, middle.left) == (10.0, 70.0)


def test_failed_fits_are_kept_and_done_again_when_asked(tmp_path):
    few = Dataset("few", {"x": np.arange(8.0)}, np.arange(8) % 2, "classes")
    run = benchmark("knn(k=7)", few, "2", tmp_path / "r", workers=1)  # four training rows have no seven neighbours
    (standing,) = run.status().job_statuses
    assert (standing.done, standing.failed) == (2, 2)
    assert "n_neighbors" in (standing.error or "")
    assert len(run.errors) == 2
    assert run.predictions("few", "knn(k=7)")["row"].size == 0
    states: list[RunState] = []
    benchmark("knn(k=7)", few, "2", tmp_path / "r", workers=1, watch=states.append)
    assert len(states) == 1
    benchmark("knn(k=7)", few, "2", tmp_path / "r", workers=1, watch=states.append, retry=True)
    assert states[-1].failed == 2
    assert len(states) == 3


def test_twins_in_the_data_are_noted(tmp_path):
    twins = Dataset("twins", {"x": np.repeat(np.arange(10.0), 2)}, np.tile([0, 1], 10), "classes")
    run = benchmark("majority", twins, "loo", tmp_path / "r", workers=1)
    (told,) = run.status().notes
    assert told.code == "SS080"
    assert told.text == "twins: 20 of 20 test rows have a training row with identical features, in 20 splits."


@pytest.fixture
def cluster():
    """A Dask scheduler and two workers, each a process of its own."""
    if find_spec("distributed") is None:
        missing("Dask is not installed: make dask")
    serve = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    scheduler = subprocess.Popen([*serve, "--no-dashboard"], stderr=subprocess.PIPE, text=True)
    address = next(found[0] for line in scheduler.stderr if (found := re.search(r"tcp://127.0.0.1:\d+", line)))
    work = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny"]
    workers = [subprocess.Popen([*work, "--no-dashboard"], stderr=subprocess.DEVNULL) for _ in range(2)]
    yield address, workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def test_a_cluster_that_loses_a_worker(tmp_path, calm, cluster):
    """Nothing is lost or counted twice, and the predictions are those of this machine."""
    address, workers = cluster
    done = []

    def watch(state):
        done.append(state.done)
        if len(done) == 5:
            workers[0].send_signal(signal.SIGKILL)

    run = benchmark(LEARNERS, WDBC, HOW, tmp_path / "r", dask=address, watch=watch)
    assert done == list(range(0, 151, 5))
    assert run.status().finished
    assert same(tmp_path / "r", calm)


def test_no_scheduler(tmp_path, monkeypatch):
    if find_spec("distributed") is None:
        missing("Dask is not installed: make dask")
    monkeypatch.setattr(runs, "_SCHEDULER_TIMEOUT", 0.5)
    with pytest.raises(ScoreSpaceError, match=r"scheduler at 'tcp://127.0.0.1:9'\."):
        benchmark("majority", WDBC, "2", tmp_path / "r", dask="tcp://127.0.0.1:9")


def test_too_few_workers(tmp_path):
    with pytest.raises(ScoreSpaceError, match="workers=0 is too few"):
        benchmark("majority", WDBC, "2", tmp_path / "r", workers=0)

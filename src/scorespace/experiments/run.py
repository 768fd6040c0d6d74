"""Learners × data sets × splits: all jobs, on the cores here or on a Dask cluster, each finished one kept at once."""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset, datasets_of
from scorespace.experiments.fit import Done, check_task, fit_all
from scorespace.experiments.golden import Split, overlap
from scorespace.experiments.learners import Fitting, learners_of
from scorespace.experiments.resampling import parse
from scorespace.experiments.scheme import Resampling
from scorespace.experiments.store import Planned, Run, open_run, plan_run, write_job
from scorespace.files import remove_scratch
from scorespace.frozen import dataclass
from scorespace.parts import required
from scorespace.results import grouped

_QUICK_ROWS: Final = 200_000
_SLOW_ROWS: Final = 20_000
"""Rows to be learnt from in one job, all its splits together: enough that starting it costs little."""
_MOST_SPLITS: Final = 50
_MOST_KEPT: Final = 5_000_000
"""Rows in all splits together up to which these are kept in memory."""
_PAYS: Final = 2.0
"""Seconds of work that pay for starting processes, each of which must load scikit-learn."""
_PATIENCE: Final = 10
"""Seconds to wait for a scheduler."""


@dataclass(frozen=True)
class State:
    """How far a run is, while it is under way."""

    done: int
    total: int
    failed: int
    seconds: float
    before: int = 0

    @property
    def rate(self) -> float:
        """Fits per second since the run began, not counting those that were there before."""
        return (self.done - self.before) / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds left at this rate."""
        return (self.total - self.done) / self.rate if self.rate > 0 else None

    @property
    def words(self) -> str:
        """The state in a line.

        >>> State(done=300, total=1000, failed=2, seconds=20.0, before=100).words
        '300 of 1 000 fits, 10 per second, 70 s left, 2 failed'
        """
        parts = [f"{grouped(self.done)} of {grouped(self.total)} fits"]
        if self.rate:
            parts.append(f"{self.rate:.3g} per second")
        if self.left:
            parts.append(f"{_duration(self.left)} left")
        if self.failed:
            parts.append(f"{grouped(self.failed)} failed")
        return ", ".join(parts)


Watch = Callable[[State], None]


@dataclass(frozen=True, eq=False)
class Job:
    """Some splits of one data set for one learner, and where their predictions go."""

    learner: Fitting
    data: Dataset
    splits: tuple[Split, ...] = field(repr=False)
    seed: int
    train: bool
    file: Path


def benchmark(
    learners: Any,
    datasets: Any,
    resampling: Any = "10x10",
    out: str | os.PathLike[str] = "runs/",
    *,
    seed: int = 0,
    workers: int | None = None,
    dask: str | None = None,
    train: bool = False,
    replace: bool = False,
    retry: bool = False,
    watch: Watch | None = None,
) -> Run:
    """Fit every learner to every split of every data set and keep what it says of the rows that it has not seen.

    `resampling` is a notation such as "10x10" or "logo:speaker", or a splitter of scikit-learn. What is finished in the
    directory `out` stays, and the rest is done. `workers` processes work at a time, as many as
    there are cores if not stated; with `dask`, the workers of that scheduler. `train` also keeps what each model says
    of its training rows. `retry` does failed fits again, `replace` those of a changed learner or data set.
    """
    found, sets = learners_of(learners), datasets_of(datasets)
    scheme = parse(resampling)
    for data in sets:
        for one in found:
            check_task(one, data)
    if workers is not None and workers < 1:
        raise ScoreSpaceError(f"workers={workers} is too few.", hint="workers=1, or none for all cores")
    required("sklearn", "experiments")
    drawn = [_drawn(data, scheme, seed) for data in sets]
    digests = {one.name: one.digest for one in found}
    run = plan_run(Path(out), str(scheme), seed, train, [one.plan for one in drawn], digests, replace)
    _work(run, found, drawn, scheme, workers, dask, retry, watch)
    return open_run(run.path)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A data set with its plan; its splits are kept where they are few, and drawn again where they are many."""

    data: Dataset
    plan: Planned
    kept: list[Split] | None = field(repr=False)

    def splits(self, scheme: Resampling, seed: int) -> Iterator[Split]:
        return scheme.draw(self.data, seed) if self.kept is None else iter(self.kept)


def _drawn(data: Dataset, scheme: Resampling, seed: int) -> Drawn:
    """What is written down of a data set; every split is checked for the golden rule on the way."""
    kept: list[Split] = []
    count = 0
    drawn = hashlib.sha256()

    def counted() -> Iterator[Split]:
        nonlocal count
        for split in scheme.draw(data, seed):
            count += 1
            if count * data.rows <= _MOST_KEPT:
                kept.append(split)
            if not scheme.says_all:
                drawn.update(f"{split.repeat} {split.fold} {split.train.size}".encode())
                drawn.update(split.train.tobytes() + split.test.tobytes())
            yield split

    notes = overlap(counted(), data).notes(data.name)
    plan = Planned(
        data.name,
        data.digest,
        data.rows,
        len(data.features),
        data.task,
        data.classes,
        data.positive,
        count,
        scheme.described(data),
        notes,
        "" if scheme.says_all else drawn.hexdigest(),
    )
    return Drawn(data, plan, kept if len(kept) == count else None)


def _work(
    run: Run,
    learners: Sequence[Fitting],
    sets: Sequence[Drawn],
    scheme: Resampling,
    workers: int | None,
    dask: str | None,
    retry: bool,
    watch: Watch | None,
) -> None:
    total = sum(one.plan.splits for one in sets) * len(learners)
    there = {
        job["file"]: (len(job["splits"]), len(job["errors"]))
        for each in sets
        for one in learners
        for job in run.about(each.plan.name, one.name)
    }
    if retry:
        for file in [file for file, (_, failed) in there.items() if failed]:
            Path(file).unlink(missing_ok=True)
            del there[file]
    before = sum(splits for splits, _ in there.values())
    failed = sum(failed for _, failed in there.values())
    done, began = before, time.monotonic()

    def tell() -> None:
        if watch is not None:
            watch(State(done, total, failed, time.monotonic() - began, before))

    tell()
    if done >= total:
        return
    jobs = (job for job in _jobs(run, learners, sets, scheme) if str(job.file) not in there)
    for splits, errors in _on_dask(run, jobs, dask) if dask else _here(run, jobs, workers or _cores(), total - done):
        done, failed = done + splits, failed + errors
        tell()


def _jobs(run: Run, learners: Sequence[Fitting], sets: Sequence[Drawn], scheme: Resampling) -> Iterator[Job]:
    """All jobs in order: the splits of a data set are drawn once for all learners."""
    for each in sets:
        data, drawn = each.data, each.splits(scheme, run.seed)
        most = _per_job(data, quick=True)
        first = 0
        while block := tuple(islice(drawn, most)):
            for one in learners:
                size = min(most, _per_job(data, quick=one.quick))
                for start in range(0, len(block), size):
                    part = block[start : start + size]
                    low = first + start
                    file = run.file(data.name, one.name, low, low + len(part) - 1)
                    yield Job(one, data, part, run.seed, run.train, file)
            first += len(block)


def _per_job(data: Dataset, *, quick: bool) -> int:
    """How many splits make a job: by the size of the data alone, so that every run has the same jobs."""
    return max(1, min(_MOST_SPLITS, (_QUICK_ROWS if quick else _SLOW_ROWS) // data.rows))


def compute(job: Job) -> Done:
    """The predictions of a job."""
    return fit_all(job.learner, job.data, job.splits, job.seed, train=job.train)


def _finish(run: Run, job: Job) -> tuple[int, int]:
    """Compute a job and keep it, unless another process did so meanwhile; how many splits, and how many failed."""
    if job.file.is_file():
        return len(job.splits), 0
    done = compute(job)
    write_job(run, job.data.name, job.learner.name, job.file, done)
    return len(job.splits), len(done.errors)


def _here(run: Run, jobs: Iterator[Job], workers: int, splits: int) -> Iterator[tuple[int, int]]:
    """The jobs in processes of this machine; a single worker is this process itself.

    So are all while they are quick and what is left would take less time than other processes need to start.
    """
    began = time.monotonic()
    done = 0
    for job in jobs:
        left = (splits - done) * (time.monotonic() - began) / done if done else 0.0  # seconds, at the rate so far
        small = job.learner.quick and job.data.rows <= _QUICK_ROWS
        if workers > 1 and (left > _PAYS or not small):
            yield from _in_processes(run, chain([job], jobs), workers)
            return
        yield _finish(run, job)
        done += len(job.splits)


def _in_processes(run: Run, jobs: Iterator[Job], workers: int) -> Iterator[tuple[int, int]]:
    """The jobs in processes beside this one, which end with it."""
    joblib = required("joblib", "experiments")
    parallel = joblib.Parallel(
        n_jobs=workers,
        backend="loky",
        return_as="generator_unordered",
        batch_size=1,
        initializer=_end_with,
        initargs=(os.getpid(),),
    )
    try:
        yield from parallel(joblib.delayed(_finish)(run, job) for job in jobs)
    except joblib.externals.loky.process_executor.TerminatedWorkerError:
        raise ScoreSpaceError(
            "a worker process was ended from outside, perhaps for want of memory.",
            hint="run again with fewer workers: what is finished stays",
        ) from None


def _end_with(parent: int) -> None:
    """End this worker soon after the process that it works for, however that ended; nothing is said of a Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all of us, and the parent says it
    # The thread below keeps modules alive to the end, of which DuckDB would write pages: leave before it looks.
    atexit.register(os._exit, 0)

    def look() -> None:
        while True:
            time.sleep(1.0)
            if os.getppid() != parent:
                remove_scratch()
                os._exit(1)

    threading.Thread(target=look, daemon=True).start()


def _on_dask(run: Run, jobs: Iterator[Job], address: str) -> Iterator[tuple[int, int]]:
    """The jobs on the workers of a Dask scheduler; files are written here, so that they share no disk with us.

    A job whose worker is lost is given to another one, and only its first answer is kept.
    """
    distributed = required("distributed", "dask")
    logging.getLogger("distributed").setLevel(logging.ERROR)  # that it gives a job to another worker is no news
    try:
        client = distributed.Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise ScoreSpaceError(
            f"there is no Dask scheduler at {address!r}.",
            seen=str(error)[:200],
            hint="start one with dask scheduler, or leave it out: workers=2",
        ) from None
    with client:
        ahead = 2 * max(1, sum(client.nthreads().values()))
        waiting: dict[Any, Job] = {}
        completed = distributed.as_completed()

        def submit(count: int) -> None:
            for job in islice(jobs, count):
                if not job.file.is_file():
                    future = client.submit(compute, job, pure=False)
                    waiting[future.key] = job
                    completed.add(future)

        submit(ahead)
        for future in completed:
            job = waiting.pop(future.key)
            try:
                done = future.result()
            except distributed.KilledWorker as error:
                raise ScoreSpaceError(
                    f"a job of {job.learner.name} on {job.data.name} ended several workers, one after the other.",
                    seen=str(error)[:200],
                    hint="workers with more memory; what is finished stays",
                ) from None
            if not job.file.is_file():
                write_job(run, job.data.name, job.learner.name, job.file, done)
            future.release()
            yield len(job.splits), len(done.errors)
            submit(1)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> _duration(70), _duration(400), _duration(9000)
    ('70 s', '7 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"

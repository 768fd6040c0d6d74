"""Run all jobs of learners × data sets × splits, on local cores or a Dask cluster; finished jobs are stored at once."""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from scorespace.dependencies import import_optional
from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset, resolve_datasets
from scorespace.experiments.fit import FinishedJob, check_task, fit_all
from scorespace.experiments.leakage_checks import TrainTestSplit, find_overlap
from scorespace.experiments.learners import ResolvedLearner, resolve_learners
from scorespace.experiments.resampling import parse_resampling
from scorespace.experiments.splits import Resampling
from scorespace.experiments.store import PlannedDataset, Run, open_run, plan_run, write_job
from scorespace.files import remove_temporary_files
from scorespace.results import grouped

_QUICK_JOB_ROWS: Final = 200_000
_SLOW_JOB_ROWS: Final = 20_000
"""Training rows of one job over all its splits, large enough that starting a job costs little."""
_MAX_SPLITS_PER_JOB: Final = 50
_MAX_CACHED_ROWS: Final = 5_000_000
"""Rows of all splits together up to which splits are kept in memory."""
_MIN_PARALLEL_SECONDS: Final = 2.0
"""Seconds of work that justify starting processes, each of which imports scikit-learn."""
_SCHEDULER_TIMEOUT: Final = 10
"""Seconds to wait for a scheduler."""


@dataclass(frozen=True)
class RunState:
    """Progress of a run."""

    done: int
    total: int
    failed: int
    seconds: float
    before: int = 0

    @property
    def rate(self) -> float:
        """Fits per second since the start, not counting those finished before."""
        return (self.done - self.before) / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Estimated seconds left."""
        return (self.total - self.done) / self.rate if self.rate > 0 else None

    @property
    def words(self) -> str:
        """Progress in one line.

        >>> RunState(done=300, total=1000, failed=2, seconds=20.0, before=100).words
        '300 of 1 000 fits, 10 per second, 70 s left, 2 failed'
        """
        parts = [f"{grouped(self.done)} of {grouped(self.total)} fits"]
        if self.rate:
            parts.append(f"{self.rate:.3g} per second")
        if self.left:
            parts.append(f"{_format_duration(self.left)} left")
        if self.failed:
            parts.append(f"{grouped(self.failed)} failed")
        return ", ".join(parts)


Watch = Callable[[RunState], None]


@dataclass(frozen=True, eq=False)
class FitJob:
    """Some splits of one data set for one learner, and the file for their predictions."""

    learner: ResolvedLearner
    data: Dataset
    splits: tuple[TrainTestSplit, ...] = field(repr=False)
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
    """Fit every learner to every split of every data set, and store its predictions for the test rows.

    Finished jobs in the directory are kept.

    Parameters
    ----------
    learners : str, estimator, sequence or mapping of these
        Names from the catalogue of learners, or estimators of scikit-learn.
    datasets : Dataset, sequence of Dataset, or mapping of str to (X, y)
        The data sets; see `dataset`.
    resampling : str or splitter
        A notation such as "10x10" or "logo:speaker", or a splitter of scikit-learn.
    out : path
        The run directory.
    seed : int
        Seed of all random draws; equal seeds give equal results.
    workers : int, optional
        Number of processes; one per core by default.
    dask : str, optional
        Address of a Dask scheduler, whose workers are used.
    train : bool
        Whether to store predictions for the training rows, too.
    replace : bool
        Whether to repeat the fits of a changed learner or data set.
    retry : bool
        Whether to repeat failed fits.
    watch : callable, optional
        Called with the state of the run, at the start and after each job.

    Returns
    -------
    Run
        The run, with its predictions.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> data = {"toy": ([[0.1], [0.4], [0.6], [0.9]] * 10, [0, 0, 1, 1] * 10)}
    >>> with TemporaryDirectory() as folder:
    ...     benchmark(["majority", "naive_bayes"], data, "2x5", f"{folder}/run", workers=1).learners
    ('majority', 'naive_bayes')
    """
    resolved, data_sets = resolve_learners(learners), resolve_datasets(datasets)
    scheme = parse_resampling(resampling)
    for data in data_sets:
        for resolved_learner in resolved:
            check_task(resolved_learner, data)
    if workers is not None and workers < 1:
        raise ScoreSpaceError(f"workers={workers} is too few.", hint="workers=1, or omit it for all cores")
    import_optional("sklearn", "experiments")
    planned = [_plan_splits(data, scheme, seed) for data in data_sets]
    digests = {resolved_learner.name: resolved_learner.digest for resolved_learner in resolved}
    run = plan_run(Path(out), str(scheme), seed, train, [item.plan for item in planned], digests, replace)
    _run_jobs(run, resolved, planned, scheme, workers, dask, retry, watch)
    return open_run(run.path)


@dataclass(frozen=True, eq=False)
class PlannedSplits:
    """A data set with its plan; splits are cached if few, otherwise drawn again."""

    data: Dataset
    plan: PlannedDataset
    kept: list[TrainTestSplit] | None = field(repr=False)

    def splits(self, scheme: Resampling, seed: int) -> Iterator[TrainTestSplit]:
        return scheme.draw(self.data, seed) if self.kept is None else iter(self.kept)


def _plan_splits(data: Dataset, scheme: Resampling, seed: int) -> PlannedSplits:
    """Draw and check every split of a data set, and describe it for the run directory."""
    cached: list[TrainTestSplit] = []
    count = 0
    splits_hash = hashlib.sha256()

    def checked_splits() -> Iterator[TrainTestSplit]:
        nonlocal count
        for split in scheme.draw(data, seed):
            count += 1
            if count * data.rows <= _MAX_CACHED_ROWS:
                cached.append(split)
            if not scheme.is_determined_by_notation:
                splits_hash.update(f"{split.repeat} {split.fold} {split.train.size}".encode())
                splits_hash.update(split.train.tobytes() + split.test.tobytes())
            yield split

    notes = find_overlap(checked_splits(), data).notes(data.name)
    plan = PlannedDataset(
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
        "" if scheme.is_determined_by_notation else splits_hash.hexdigest(),
    )
    return PlannedSplits(data, plan, cached if len(cached) == count else None)


def _run_jobs(
    run: Run,
    learners: Sequence[ResolvedLearner],
    planned: Sequence[PlannedSplits],
    scheme: Resampling,
    workers: int | None,
    dask: str | None,
    retry: bool,
    watch: Watch | None,
) -> None:
    total = sum(item.plan.splits for item in planned) * len(learners)
    finished = {
        job["file"]: (len(job["splits"]), len(job["errors"]))
        for item in planned
        for learner in learners
        for job in run.about(item.plan.name, learner.name)
    }
    if retry:
        for file in [file for file, (_, failed) in finished.items() if failed]:
            Path(file).unlink(missing_ok=True)
            del finished[file]
    before = sum(splits for splits, _ in finished.values())
    failed = sum(failed for _, failed in finished.values())
    done, began = before, time.monotonic()

    def report_progress() -> None:
        if watch is not None:
            watch(RunState(done, total, failed, time.monotonic() - began, before))

    report_progress()
    if done >= total:
        return
    jobs = (job for job in _make_jobs(run, learners, planned, scheme) if str(job.file) not in finished)
    for splits, errors in (
        _run_on_dask(run, jobs, dask) if dask else _run_locally(run, jobs, workers or _available_cores(), total - done)
    ):
        done, failed = done + splits, failed + errors
        report_progress()


def _make_jobs(
    run: Run, learners: Sequence[ResolvedLearner], planned: Sequence[PlannedSplits], scheme: Resampling
) -> Iterator[FitJob]:
    """Yield all jobs in order; the splits of a data set are drawn once for all learners."""
    for item in planned:
        data, splits = item.data, item.splits(scheme, run.seed)
        most = _splits_per_job(data, quick=True)
        first = 0
        while block := tuple(islice(splits, most)):
            for learner in learners:
                size = min(most, _splits_per_job(data, quick=learner.quick))
                for start in range(0, len(block), size):
                    part = block[start : start + size]
                    low = first + start
                    file = run.file(data.name, learner.name, low, low + len(part) - 1)
                    yield FitJob(learner, data, part, run.seed, run.train, file)
            first += len(block)


def _splits_per_job(data: Dataset, *, quick: bool) -> int:
    """Number of splits per job, which depends on the data only, so that every run has the same jobs."""
    return max(1, min(_MAX_SPLITS_PER_JOB, (_QUICK_JOB_ROWS if quick else _SLOW_JOB_ROWS) // data.rows))


def compute_job(job: FitJob) -> FinishedJob:
    """Compute the predictions of a job."""
    return fit_all(job.learner, job.data, job.splits, job.seed, train=job.train)


def _finish_job(run: Run, job: FitJob) -> tuple[int, int]:
    """Compute and store a job unless another process has; returns the numbers of splits and failures."""
    if job.file.is_file():
        return len(job.splits), 0
    done = compute_job(job)
    write_job(run, job.data.name, job.learner.name, job.file, done)
    return len(job.splits), len(done.errors)


def _run_locally(run: Run, jobs: Iterator[FitJob], workers: int, splits: int) -> Iterator[tuple[int, int]]:
    """Run jobs in processes of this machine; with a single worker, in this process.

    Quick jobs also run in this process while the estimated rest is shorter than starting processes.
    """
    began = time.monotonic()
    done = 0
    for job in jobs:
        seconds_left = (splits - done) * (time.monotonic() - began) / done if done else 0.0  # estimated seconds left
        is_small = job.learner.quick and job.data.rows <= _QUICK_JOB_ROWS
        if workers > 1 and (seconds_left > _MIN_PARALLEL_SECONDS or not is_small):
            yield from _run_in_processes(run, chain([job], jobs), workers)
            return
        yield _finish_job(run, job)
        done += len(job.splits)


def _run_in_processes(run: Run, jobs: Iterator[FitJob], workers: int) -> Iterator[tuple[int, int]]:
    """Run jobs in worker processes, which end with this one."""
    joblib = import_optional("joblib", "experiments")
    parallel = joblib.Parallel(
        n_jobs=workers,
        backend="loky",
        return_as="generator_unordered",
        batch_size=1,
        initializer=_end_with_parent,
        initargs=(os.getpid(),),
    )
    try:
        yield from parallel(joblib.delayed(_finish_job)(run, job) for job in jobs)
    except joblib.externals.loky.process_executor.TerminatedWorkerError:
        raise ScoreSpaceError(
            "a worker process was killed, perhaps for lack of memory.",
            hint="run again with fewer workers; finished jobs are kept",
        ) from None


def _end_with_parent(parent: int) -> None:
    """End this worker process within a second after its parent, however that ended; ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to the parent as well, which reports it
    stopping = threading.Event()

    def watch_parent() -> None:
        while not stopping.wait(1.0):
            if os.getppid() != parent:
                remove_temporary_files()
                os.kill(os.getpid(), signal.SIGTERM)

    watcher = threading.Thread(target=watch_parent, daemon=True)
    watcher.start()

    def stop_watching() -> None:
        # A thread that runs during interpreter shutdown keeps modules alive, which DuckDB reports as leaks.
        stopping.set()
        watcher.join()

    atexit.register(stop_watching)


def _run_on_dask(run: Run, jobs: Iterator[FitJob], address: str) -> Iterator[tuple[int, int]]:
    """Run jobs on a Dask cluster; files are written here, so that workers need no shared disk.

    Jobs of lost workers are rescheduled by Dask, and only the first result is stored.
    """
    distributed = import_optional("distributed", "dask")
    logging.getLogger("distributed").setLevel(logging.ERROR)  # rescheduling is not worth a message
    try:
        client = distributed.Client(address, timeout=_SCHEDULER_TIMEOUT)
    except (OSError, ValueError) as error:
        raise ScoreSpaceError(
            f"there is no Dask scheduler at {address!r}.",
            seen=str(error)[:200],
            hint="start one with dask scheduler, or run locally: workers=2",
        ) from None
    with client:
        ahead = 2 * max(1, sum(client.nthreads().values()))
        waiting: dict[Any, FitJob] = {}
        completed = distributed.as_completed()

        def submit(count: int) -> None:
            for job in islice(jobs, count):
                if not job.file.is_file():
                    future = client.submit(compute_job, job, pure=False)
                    waiting[future.key] = job
                    completed.add(future)

        submit(ahead)
        for future in completed:
            job = waiting.pop(future.key)
            try:
                done = future.result()
            except distributed.KilledWorker as error:
                raise ScoreSpaceError(
                    f"a job of {job.learner.name} on {job.data.name} killed several workers.",
                    seen=str(error)[:200],
                    hint="use workers with more memory; finished jobs are kept",
                ) from None
            if not job.file.is_file():
                write_job(run, job.data.name, job.learner.name, job.file, done)
            future.release()
            yield len(job.splits), len(done.errors)
            submit(1)


def _available_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _format_duration(seconds: float) -> str:
    """Format seconds as s, min or h.

    >>> _format_duration(70), _format_duration(400), _format_duration(9000)
    ('70 s', '7 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"

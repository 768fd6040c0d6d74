"""Run directory: the plan of a run as JSON, and one Parquet file per finished job, read with DuckDB.

    run.json                    resampling and seed
    data/NAME.json              a data set: its digest, classes, splits
    learners/NAME.json          a learner: its digest
    jobs/DATA/LEARNER/0-49.KEY.parquet

KEY is a hash of all that affects the predictions; files with another key are ignored.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, PositiveError, ScoreSpaceError, did_you_mean, listing
from scorespace.experiments.data import PREFIX, Dataset, Task
from scorespace.files import atomic_write, write_file
from scorespace.io.duckdb_engine import connect, identifier, literal, read_footers, read_parquet, write_parquet
from scorespace.results import SCHEMA, Note, Row, grouped, note
from scorespace.tables.labels import positive_index

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from scorespace.experiments.fit import FinishedJob  # it loads all learners, and a run is read without them

_RUN_FILE: Final = "run.json"
_FOOTER_KEY: Final = "scorespace.job"
_VERSIONED_PACKAGES: Final = ("scorespace", "scikit-learn", "numpy", "scipy", "joblib")


@dataclass(frozen=True)
class PlannedDataset:
    """A data set as described in the run directory, enough to evaluate predictions without the data.

    `drawn` is a hash of its splits if the notation does not determine them.
    """

    name: str
    digest: str
    rows: int
    features: int
    task: Task
    classes: tuple[str, ...]
    positive: str | None
    splits: int
    described: str
    notes: tuple[Note, ...] = ()
    drawn: str = ""

    @property
    def columns(self) -> dict[str, str]:
        """Prediction columns and their names in files, which must differ in lower case."""
        if self.task == "numbers":
            return {"prediction": "prediction"}
        names: dict[str, str] = {}
        for index, name in enumerate(self.classes):
            column = f"{PREFIX}{name}"
            exists = column.lower() in {stored.lower() for stored in names.values()}
            names[column] = f"{column}~{index + 1}" if exists else column
        return names


@dataclass(frozen=True)
class JobStatus:
    """Progress of one learner on one data set: finished and failed splits, and their time."""

    dataset: str
    learner: str
    splits: int
    done: int
    failed: int
    seconds: float
    error: str | None = None


@dataclass(frozen=True)
class RunStatus:
    """Progress of a run."""

    path: str
    resampling: str
    seed: int
    job_statuses: tuple[JobStatus, ...]
    notes: tuple[Note, ...] = ()

    @property
    def finished(self) -> bool:
        return all(item.done == item.splits for item in self.job_statuses)

    def rows(self) -> list[Row]:
        return [asdict(item) for item in self.job_statuses]

    def to_dict(self) -> Row:
        return {
            "schema": SCHEMA,
            "run": self.path,
            "resampling": self.resampling,
            "seed": self.seed,
            "finished": self.finished,
            "rows": self.rows(),
            "notes": [item.to_dict() for item in self.notes],
        }

    @property
    def words(self) -> str:
        """Progress in a sentence."""
        total, done = (sum(getattr(item, name) for item in self.job_statuses) for name in ("splits", "done"))
        failed, seconds = (sum(getattr(item, name) for item in self.job_statuses) for name in ("failed", "seconds"))
        progress = f"{grouped(done)} of {grouped(total)} fits are done" + (
            f", {grouped(failed)} failed" if failed else ""
        )
        return f"{progress}; they took {grouped(round(seconds, 1))} s of computing."

    def __repr__(self) -> str:
        return f"{self.path}   {self.resampling}   seed {self.seed}\n{self.words}"


@dataclass(frozen=True)
class Run:
    """A run directory: data sets × learners with out-of-sample predictions.

    Parameters
    ----------
    path : Path
        The directory.
    resampling : str
        Notation of the resampling.
    seed : int
        Seed of the run.
    train : bool
        Whether predictions for the training rows are stored, too.
    plans : mapping of str to PlannedDataset
        The data sets by name.
    digests : mapping of str to str
        Hash of each learner by name.
    """

    path: Path
    resampling: str
    seed: int
    train: bool = False
    plans: Mapping[str, PlannedDataset] = field(default_factory=dict, repr=False)
    digests: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the data sets."""
        return tuple(self.plans)

    @property
    def learners(self) -> tuple[str, ...]:
        """Names of the learners."""
        return tuple(self.digests)

    def of(self, dataset: str) -> PlannedDataset:
        """Description of a data set.

        Parameters
        ----------
        dataset : str
            Name of the data set.

        Returns
        -------
        PlannedDataset
            Its rows, features, classes and splits.
        """
        return self.plans[_check_name(dataset, self.datasets, "data set")]

    def predictions(self, dataset: str, learner: str, *, part: str | None = None) -> dict[str, NDArray[Any]]:
        """Columns row, repeat, fold, part, truth and p_CLASS or prediction, sorted by repeat, fold, part and row.

        The truth of classes is text. A single grouping adds the column group.

        Parameters
        ----------
        dataset : str
            Name of the data set.
        learner : str
            Name of the learner.
        part : {"test", "train"}, optional
            Which rows; all by default.

        Returns
        -------
        dict of str to ndarray
            The columns by name.
        """
        plan, files = self.of(dataset), self.files(dataset, learner)
        if not files:
            raise DataError(f"{learner} has finished nothing on {dataset} yet.", hint="scorespace benchmark status")
        condition = "" if part is None else f"WHERE part = {literal(part)} "
        arrays = read_parquet(list(map(str, files)), str(self.path), f"{condition}ORDER BY repeat, fold, part, row")
        columns = {name: np.asarray(arrays[name]) for name in ("row", "repeat", "fold", "part", "truth")}
        has_groups = "group" in arrays and not np.ma.is_masked(arrays["group"])  # absent in files of older versions
        columns |= {"group": np.asarray(arrays["group"])} if has_groups else {}
        return columns | {name: np.asarray(arrays[stored]) for name, stored in plan.columns.items()}

    def files(self, dataset: str, learner: str) -> list[Path]:
        """Parquet files of finished jobs.

        Parameters
        ----------
        dataset : str
            Name of the data set.
        learner : str
            Name of the learner.

        Returns
        -------
        list of Path
            The files, in the order of their splits.
        """
        plan = self.of(dataset)
        key = self.key(plan, self.digests[_check_name(learner, self.learners, "learner")])
        folder = job_folder(self.path, dataset, learner)
        return sorted(folder.glob(f"*.{key}.parquet"), key=lambda file: int(file.name.partition("-")[0]))

    def key(self, plan: PlannedDataset, learner: str) -> str:
        """Hash of all that affects the predictions.

        Parameters
        ----------
        plan : PlannedDataset
            The data set.
        learner : str
            Hash of the learner.

        Returns
        -------
        str
            The hash.
        """
        drawn = (plan.drawn,) if plan.drawn else ()
        text = "\0".join((plan.digest, learner, self.resampling, str(self.seed), str(self.train), *drawn))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def file(self, dataset: str, learner: str, first: int, last: int) -> Path:
        """File of the job with these splits.

        Parameters
        ----------
        dataset : str
            Name of the data set.
        learner : str
            Name of the learner.
        first, last : int
            Indices of the first and the last split.

        Returns
        -------
        Path
            The file, which need not exist.
        """
        key = self.key(self.plans[dataset], self.digests[learner])
        return job_folder(self.path, dataset, learner) / f"{first}-{last}.{key}.parquet"

    def about(self, dataset: str, learner: str) -> list[Row]:
        """Metadata of the finished jobs: splits with timings, errors, warnings, versions.

        Parameters
        ----------
        dataset : str
            Name of the data set.
        learner : str
            Name of the learner.

        Returns
        -------
        list of dict
            One entry per job.
        """
        files = [str(file) for file in self.files(dataset, learner)]
        if not files:
            return []
        try:
            found = read_footers(files, _FOOTER_KEY)
            return [{**found[file], "file": file} for file in files]
        except (ValueError, KeyError) as error:
            raise DataError(
                f"a job of {dataset} and {learner} cannot be read.",
                seen=str(error.__cause__ or error).splitlines()[0],
                hint="remove its files in jobs/, and run the benchmark again",
            ) from None

    def status(self) -> RunStatus:
        """Progress of each learner on each data set."""
        pairs = [(item, each) for item in self.datasets for each in self.learners]
        job_statuses = tuple(self._job_status(*pair) for pair in pairs)
        notes = [item for plan in self.plans.values() for item in plan.notes]
        notes += [
            note("SS082", f"{item.learner} failed in {item.failed} of {item.done} fits on {item.dataset}: {item.error}")
            for item in job_statuses
            if item.failed
        ]
        return RunStatus(str(self.path), self.resampling, self.seed, job_statuses, tuple(notes))

    def _job_status(self, dataset: str, learner: str) -> JobStatus:
        """Progress of a learner on a data set."""
        jobs = self.about(dataset, learner)
        done = sum(len(job["splits"]) for job in jobs)
        errors = [error for job in jobs for error in job["errors"]]
        seconds = sum(split[4] for job in jobs for split in job["splits"])
        first = errors[0][2] if errors else None
        return JobStatus(dataset, learner, self.plans[dataset].splits, done, len(errors), seconds, first)

    def inner(self, dataset: str, learner: str) -> tuple[str, dict[tuple[int, int], float]]:
        """Measure of inner selection, and its scores by repeat and fold; empty if nothing was selected.

        Parameters
        ----------
        dataset : str
            Name of the data set.
        learner : str
            Name of the learner.

        Returns
        -------
        tuple of str and dict
            The measure, and its scores.
        """
        jobs = [job for job in self.about(dataset, learner) if job.get("inner")]
        found = {(repeat, fold): value for job in jobs for repeat, fold, value in job["inner"]}
        return (str(jobs[0]["chosen_by"]) if jobs else ""), found

    @cached_property
    def errors(self) -> list[Row]:
        """Failed fits with their errors."""
        return [
            {"dataset": dataset, "learner": learner, "repeat": error[0], "fold": error[1], "error": error[2]}
            for dataset in self.datasets
            for learner in self.learners
            for job in self.about(dataset, learner)
            for error in job["errors"]
        ]

    def __repr__(self) -> str:
        return repr(self.status())


def open_run(path: str | os.PathLike[str]) -> Run:
    """Open a run directory.

    Parameters
    ----------
    path : path
        The directory.

    Returns
    -------
    Run
        The run, with its predictions.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scorespace.experiments.run import benchmark
    >>> data = {"toy": ([[0.1], [0.4], [0.6], [0.9]] * 10, [0, 0, 1, 1] * 10)}
    >>> with TemporaryDirectory() as folder:
    ...     path = benchmark("majority", data, "2x5", f"{folder}/run", workers=1).path
    ...     open_run(path).resampling
    '2x5'
    """
    folder = Path(path)
    if not (folder / _RUN_FILE).is_file():
        raise DataError(f"{str(folder)!r} is not a run directory.", hint=f"scorespace benchmark … --out {folder}")
    description = _read_json(folder / _RUN_FILE)
    if description.get("schema") != SCHEMA:
        raise DataError(
            f"{str(folder)!r} was written by another version.",
            seen=f"schema {description.get('schema')}",
            hint="use the version that wrote it, or start a new run in another folder",
        )
    plans = [_read_json(file) for file in sorted((folder / "data").glob("*.json"))]
    learners = [_read_json(file) for file in sorted((folder / "learners").glob("*.json"))]
    try:
        restored = sorted((_restore_plan(item) for item in plans), key=lambda item: item.name)
        return Run(
            folder,
            str(description["resampling"]),
            int(description["seed"]),
            bool(description["train"]),
            {item.name: item for item in restored},
            {str(item["name"]): str(item["digest"]) for item in sorted(learners, key=lambda item: str(item["name"]))},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"the run in {str(folder)!r} cannot be read.",
            seen=f"wrong: {error}",
            hint="repeat the run in another folder",
        ) from None


def resolve_positive(data: Dataset | PlannedDataset, stated: Any = None) -> str | None:
    """Positive class: as stated, of the data set, or implied by two class names; None otherwise."""
    classes, positive = data.classes, data.positive if stated is None else stated
    try:
        return classes[positive_index(classes, positive)] if positive is not None or len(classes) == 2 else None
    except PositiveError:
        if positive is not None:
            raise
        return None


def is_run(path: Any) -> bool:
    """Whether a path is a run directory."""
    return isinstance(path, (str, os.PathLike)) and (Path(path) / _RUN_FILE).is_file()


def plan_run(
    path: Path,
    resampling: str,
    seed: int,
    train: bool,
    plans: list[PlannedDataset],
    learners: Mapping[str, str],
    replace: bool,
) -> Run:
    """Write the plan of a run, adding to an existing one; changes of existing parts are refused.

    Each part is a separate file written once, so that concurrent processes do not overwrite each other.
    """
    if (path / _RUN_FILE).is_file():
        existing = open_run(path)
        stated = {"resampling": resampling, "seed": seed, "train": train}
        for name, value in stated.items():
            if getattr(existing, name) != value:
                raise ScoreSpaceError(
                    f"{str(path)!r} contains a run with another {name}.",
                    seen=f"{name}={getattr(existing, name)!r}, and now {value!r}",
                    hint=f"--out with another directory, or {name}={getattr(existing, name)!r}",
                )
    else:
        if path.exists() and not (path.is_dir() and _is_unstarted_run(path)):
            raise DataError(f"{str(path)!r} is neither a run directory nor empty.", hint="another --out")
        try:
            for name in ("data", "learners", "jobs"):
                (path / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"{str(path)!r} cannot be created.", seen=error.strerror, hint="another --out") from None
        _write_json(path / _RUN_FILE, {"schema": SCHEMA, "resampling": resampling, "seed": seed, "train": train})
    for plan in plans:
        _store_plan(path, "data", "data set", plan.name, asdict(plan), replace)
    for name, digest in learners.items():
        _store_plan(path, "learners", "learner", name, {"name": name, "digest": digest}, replace)
    return open_run(path)


def write_job(run: Run, dataset: str, learner: str, file: Path, done: FinishedJob) -> None:
    """Write the predictions of a finished job atomically."""
    plan = run.plans[dataset]
    metadata = {
        "schema": SCHEMA,
        "dataset": dataset,
        "learner": learner,
        "data_digest": plan.digest,
        "learner_digest": run.digests[learner],
        "resampling": run.resampling,
        "seed": run.seed,
        "splits": done.splits,
        "errors": done.errors,
        "warnings": done.warned,
        **({"inner": done.inner, "chosen_by": done.chosen_by} if done.inner else {}),
        "versions": _versions(),
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as temporary:
        connection = _writing_connection(run.path.resolve())
        file_columns = plan.columns
        connection.register("job", {file_columns.get(name, name): column for name, column in done.columns.items()})
        truth = f"([{', '.join(map(literal, plan.classes))}])[truth + 1]" if plan.task == "classes" else "truth"
        part = "CASE WHEN part THEN 'train' ELSE 'test' END AS part"
        others = [
            identifier(name) for name in (*file_columns.values(), *(("group",) if "group" in done.columns else ()))
        ]
        rows = f"SELECT row, repeat, fold, {part}, {truth} AS truth, {', '.join(others)} FROM job"
        try:
            hint = "free some disk space and run again; finished jobs are kept"
            write_parquet(connection, rows, temporary, file, _FOOTER_KEY, metadata, hint)
        finally:
            connection.unregister("job")


@lru_cache(maxsize=1)
def _writing_connection(path: Path) -> DuckDBPyConnection:
    """Connection that writes the jobs of a run, reused because starting it takes longer than writing."""
    return connect(folder=path)


@cache
def _versions() -> dict[str, str]:
    return {name: version(name) for name in _VERSIONED_PACKAGES}


def job_folder(path: Path, dataset: str, learner: str) -> Path:
    """Folder of the jobs of a learner on a data set."""
    return path / "jobs" / _safe_file_name(dataset) / _safe_file_name(learner)


def _store_plan(path: Path, folder: str, what: str, name: str, content: Row, replace: bool) -> None:
    """Store the plan of a data set or learner; one with another digest or splits is refused or replaced."""
    file = path / folder / f"{_safe_file_name(name)}.json"
    if file.is_file():
        existing = _read_json(file)
        changed_key = next((key for key in ("digest", "drawn") if existing.get(key, "") != content.get(key, "")), None)
        if changed_key is None:
            return
        if not replace:
            reason = "its rows or roles" if what == "data set" else "its parameters, code or versions"
            reason = "its splits" if changed_key == "drawn" else reason
            raise ScoreSpaceError(
                f"the {what} {name!r} differs from the one in {str(path)!r}: {reason} have changed.",
                seen=f"digest {str(existing.get(changed_key))[:12]}, and now {content[changed_key][:12]}",
                hint="another name or --out, or --replace, which removes its old predictions",
            )
        stale = [path / "jobs" / file.stem] if folder == "data" else (path / "jobs").glob(f"*/{glob.escape(file.stem)}")
        for outdated in stale:
            shutil.rmtree(outdated, ignore_errors=True)
    _write_json(file, content)


def _restore_plan(content: Row) -> PlannedDataset:
    return PlannedDataset(
        **{**content, "classes": tuple(content["classes"]), "notes": tuple(Note(**note) for note in content["notes"])}
    )


def _is_unstarted_run(path: Path) -> bool:
    """Whether the directory holds only the empty folders of a run that was stopped at once."""
    names = {entry.name for entry in path.iterdir() if not entry.name.startswith(".scorespace-")}
    return names <= {"data", "learners", "jobs"}


def _check_name(name: str, names: tuple[str, ...], what: str) -> str:
    if name not in names:
        hint = did_you_mean(name, names, quoted=True)
        raise ScoreSpaceError(f"the run has no {what} {name!r}.", seen=listing(names), hint=hint)
    return name


def _safe_file_name(name: str) -> str:
    """File name without special characters; a hash keeps changed names distinct."""
    safe = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip(".")[:60]
    return safe if safe == name else f"{safe}~{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _read_json(file: Path) -> Row:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError(type(found).__name__)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{str(file)!r} cannot be read.", seen=str(error).splitlines()[0], hint="repeat the run in another folder"
        ) from None
    return found


def _write_json(file: Path, content: Row) -> None:
    write_file(file, json.dumps(content, indent=1, ensure_ascii=False).encode())

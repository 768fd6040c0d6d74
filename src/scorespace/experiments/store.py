"""The run directory is the database: what was planned, one Parquet file per finished job, and DuckDB to read them.

    run.json                    how rows are split, and from which seed
    data/NAME.json              a data set: its digest, classes, splits
    learners/NAME.json          a learner: its digest
    jobs/DATA/LEARNER/0-49.KEY.parquet

KEY is a hash of all that decides the predictions; a file with another key is not read.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, field
from functools import cache, cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, PositiveError, ScoreSpaceError, did_you_mean, listing
from scorespace.experiments.data import PREFIX, Dataset, Task
from scorespace.files import replacing, write_file
from scorespace.frames.engine import connect, footers, identifier, literal, read_parquet, write_parquet
from scorespace.frozen import dataclass
from scorespace.results import SCHEMA, Note, Row, grouped, note
from scorespace.tables.labels import positive_index

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from scorespace.experiments.fit import Done  # it loads all learners, and a run is read without them

_RUN: Final = "run.json"
_KEY: Final = "scorespace.job"
_VERSIONS: Final = ("scorespace", "scikit-learn", "numpy", "scipy", "joblib")


@dataclass(frozen=True)
class Planned:
    """A data set of a run, as its file tells: enough to read and judge the predictions without the data.

    `drawn` is a hash of its splits, where the notation does not say all of them.
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
        """The columns of predictions, and how files name them: engines take upper and lower case for the same."""
        if self.task == "numbers":
            return {"prediction": "prediction"}
        found: dict[str, str] = {}
        for place, name in enumerate(self.classes):
            column = f"{PREFIX}{name}"
            taken = column.lower() in {one.lower() for one in found.values()}
            found[column] = f"{column}~{place + 1}" if taken else column
        return found


@dataclass(frozen=True)
class Standing:
    """How far one learner is on one data set: splits done and failed, and the seconds they took."""

    dataset: str
    learner: str
    splits: int
    done: int
    failed: int
    seconds: float
    error: str | None = None


@dataclass(frozen=True)
class Status:
    """Where a run stands."""

    path: str
    resampling: str
    seed: int
    standings: tuple[Standing, ...]
    notes: tuple[Note, ...] = ()

    @property
    def finished(self) -> bool:
        return all(one.done == one.splits for one in self.standings)

    def rows(self) -> list[Row]:
        return [asdict(one) for one in self.standings]

    def to_dict(self) -> Row:
        return {
            "schema": SCHEMA,
            "run": self.path,
            "resampling": self.resampling,
            "seed": self.seed,
            "finished": self.finished,
            "rows": self.rows(),
            "notes": [one.to_dict() for one in self.notes],
        }

    @property
    def words(self) -> str:
        """How much is done, in a sentence."""
        all_, done = (sum(getattr(one, name) for one in self.standings) for name in ("splits", "done"))
        failed, seconds = (sum(getattr(one, name) for one in self.standings) for name in ("failed", "seconds"))
        said = f"{grouped(done)} of {grouped(all_)} fits are done" + (f", {grouped(failed)} failed" if failed else "")
        return f"{said}; they took {grouped(round(seconds, 1))} s of computing."

    def __repr__(self) -> str:
        return f"{self.path}   {self.resampling}   seed {self.seed}\n{self.words}"


@dataclass(frozen=True)
class Run:
    """A run directory: data sets × learners, and the predictions of rows that no model had seen."""

    path: Path
    resampling: str
    seed: int
    train: bool = False
    plans: Mapping[str, Planned] = field(default_factory=dict, repr=False)
    digests: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(self.plans)

    @property
    def learners(self) -> tuple[str, ...]:
        return tuple(self.digests)

    def of(self, dataset: str) -> Planned:
        """What is known of a data set."""
        return self.plans[_known(dataset, self.datasets, "data set")]

    def predictions(self, dataset: str, learner: str, *, part: str | None = None) -> dict[str, NDArray[Any]]:
        """The columns row, repeat, fold, part, truth and p_CLASS or prediction, by repeat, fold, part and row.

        `part` is "test" or "train" for these rows alone. The truth of classes is text. Where rows belong together in
        one way, `group` says which.
        """
        plan, files = self.of(dataset), self.files(dataset, learner)
        if not files:
            raise DataError(f"{learner} has finished nothing on {dataset} yet.", hint="scorespace benchmark status")
        chosen = "" if part is None else f"WHERE part = {literal(part)} "
        found = read_parquet(list(map(str, files)), str(self.path), f"{chosen}ORDER BY repeat, fold, part, row")
        head = {name: np.asarray(found[name]) for name in ("row", "repeat", "fold", "part", "truth")}
        whole = "group" in found and not np.ma.is_masked(found["group"])  # files of before know none
        head |= {"group": np.asarray(found["group"])} if whole else {}
        return head | {name: np.asarray(found[stored]) for name, stored in plan.columns.items()}

    def files(self, dataset: str, learner: str) -> list[Path]:
        """The files of finished jobs, for whoever reads Parquet."""
        plan = self.of(dataset)
        key = self.key(plan, self.digests[_known(learner, self.learners, "learner")])
        folder = job_folder(self.path, dataset, learner)
        return sorted(folder.glob(f"*.{key}.parquet"), key=lambda file: int(file.name.partition("-")[0]))

    def key(self, plan: Planned, learner: str) -> str:
        """The hash of all that decides predictions."""
        drawn = (plan.drawn,) if plan.drawn else ()
        text = "\0".join((plan.digest, learner, self.resampling, str(self.seed), str(self.train), *drawn))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def file(self, dataset: str, learner: str, first: int, last: int) -> Path:
        """Where the job of these splits is written."""
        key = self.key(self.plans[dataset], self.digests[learner])
        return job_folder(self.path, dataset, learner) / f"{first}-{last}.{key}.parquet"

    def about(self, dataset: str, learner: str) -> list[Row]:
        """What the footers of the finished jobs say: splits with their seconds, errors, warnings, versions."""
        files = [str(file) for file in self.files(dataset, learner)]
        if not files:
            return []
        try:
            found = footers(files, _KEY)
            return [{**found[file], "file": file} for file in files]
        except (ValueError, KeyError) as error:
            raise DataError(
                f"a job of {dataset} and {learner} cannot be read.",
                seen=str(error.__cause__ or error).splitlines()[0],
                hint="remove its files below jobs/, and run the benchmark again",
            ) from None

    def status(self) -> Status:
        """How far each learner is on each data set."""
        pairs = [(one, each) for one in self.datasets for each in self.learners]
        standings = tuple(self._standing(*pair) for pair in pairs)
        notes = [one for plan in self.plans.values() for one in plan.notes]
        notes += [
            note("SS082", f"{one.learner} failed in {one.failed} of {one.done} fits on {one.dataset}: {one.error}")
            for one in standings
            if one.failed
        ]
        return Status(str(self.path), self.resampling, self.seed, standings, tuple(notes))

    def _standing(self, dataset: str, learner: str) -> Standing:
        jobs = self.about(dataset, learner)
        done = sum(len(job["splits"]) for job in jobs)
        errors = [error for job in jobs for error in job["errors"]]
        seconds = sum(split[4] for job in jobs for split in job["splits"])
        first = errors[0][2] if errors else None
        return Standing(dataset, learner, self.plans[dataset].splits, done, len(errors), seconds, first)

    def inner(self, dataset: str, learner: str) -> tuple[str, dict[tuple[int, int], float]]:
        """What choices inside the training rows promised, by repeat and fold, and by which measure; else nothing."""
        jobs = [job for job in self.about(dataset, learner) if job.get("inner")]
        found = {(repeat, fold): value for job in jobs for repeat, fold, value in job["inner"]}
        return (str(jobs[0]["chosen_by"]) if jobs else ""), found

    @cached_property
    def errors(self) -> list[Row]:
        """The fits that failed, each with its error."""
        return [
            {"dataset": one, "learner": each, "repeat": error[0], "fold": error[1], "error": error[2]}
            for one in self.datasets
            for each in self.learners
            for job in self.about(one, each)
            for error in job["errors"]
        ]

    def __repr__(self) -> str:
        return repr(self.status())


def open_run(path: str | os.PathLike[str]) -> Run:
    """The run in a directory."""
    where = Path(path)
    if not (where / _RUN).is_file():
        raise DataError(f"{str(where)!r} holds no run.", hint=f"scorespace benchmark … --out {where}")
    about = _read(where / _RUN)
    if about.get("schema") != SCHEMA:
        raise DataError(
            f"{str(where)!r} was written by another version.",
            seen=f"schema {about.get('schema')}",
            hint="the version that wrote it, or a new run in another folder",
        )
    plans = [_read(file) for file in sorted((where / "data").glob("*.json"))]
    learners = [_read(file) for file in sorted((where / "learners").glob("*.json"))]
    try:
        found = sorted((_planned(one) for one in plans), key=lambda one: one.name)
        return Run(
            where,
            str(about["resampling"]),
            int(about["seed"]),
            bool(about["train"]),
            {one.name: one for one in found},
            {str(one["name"]): str(one["digest"]) for one in sorted(learners, key=lambda one: str(one["name"]))},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{str(where)!r} holds no run that can be read.",
            seen=f"wrong: {error}",
            hint="the run again in another folder",
        ) from None


def positive_of(of: Dataset | Planned, stated: Any = None) -> str | None:
    """The positive class: as stated or the data set's own, or of two classes that tell it by their names; else none."""
    classes, positive = of.classes, of.positive if stated is None else stated
    try:
        return classes[positive_index(classes, positive)] if positive is not None or len(classes) == 2 else None
    except PositiveError:
        if positive is not None:
            raise
        return None


def is_run(path: Any) -> bool:
    """Whether the path is a run directory."""
    return isinstance(path, (str, os.PathLike)) and (Path(path) / _RUN).is_file()


def plan_run(
    path: Path,
    resampling: str,
    seed: int,
    train: bool,
    plans: list[Planned],
    learners: Mapping[str, str],
    replace: bool,
) -> Run:
    """Write down what a run is to do, beside what is planned there already; a changed part of it is refused.

    Each part is a file of its own, written once: two processes that plan at the same time do not undo each other.
    """
    if (path / _RUN).is_file():
        there = open_run(path)
        stated = {"resampling": resampling, "seed": seed, "train": train}
        for name, value in stated.items():
            if getattr(there, name) != value:
                raise ScoreSpaceError(
                    f"{str(path)!r} holds a run with another {name}.",
                    seen=f"{name}={getattr(there, name)!r}, and now {value!r}",
                    hint=f"--out with another directory, or {name}={getattr(there, name)!r}",
                )
    else:
        if path.exists() and not (path.is_dir() and _is_begun(path)):
            raise DataError(f"{str(path)!r} is neither a run nor an empty directory.", hint="another --out")
        try:
            for name in ("data", "learners", "jobs"):
                (path / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"{str(path)!r} cannot be made.", seen=error.strerror, hint="another --out") from None
        _write(path / _RUN, {"schema": SCHEMA, "resampling": resampling, "seed": seed, "train": train})
    for plan in plans:
        _enter(path, "data", "data set", plan.name, asdict(plan), replace)
    for name, digest in learners.items():
        _enter(path, "learners", "learner", name, {"name": name, "digest": digest}, replace)
    return open_run(path)


def write_job(run: Run, dataset: str, learner: str, file: Path, done: Done) -> None:
    """The predictions of a finished job in one step: after a kill the file is there as a whole or not at all."""
    plan = run.plans[dataset]
    about = {
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
    with replacing(file) as temporary:
        connection = _writer(run.path.resolve())
        named = plan.columns
        connection.register("job", {named.get(name, name): column for name, column in done.columns.items()})
        truth = f"([{', '.join(map(literal, plan.classes))}])[truth + 1]" if plan.task == "classes" else "truth"
        part = "CASE WHEN part THEN 'train' ELSE 'test' END AS part"
        others = [identifier(one) for one in (*named.values(), *(("group",) if "group" in done.columns else ()))]
        rows = f"SELECT row, repeat, fold, {part}, {truth} AS truth, {', '.join(others)} FROM job"
        try:
            hint = "make room and run again: what is finished stays"
            write_parquet(connection, rows, temporary, file, _KEY, about, hint)
        finally:
            connection.unregister("job")


@lru_cache(maxsize=1)
def _writer(path: Path) -> DuckDBPyConnection:
    """The engine that writes the jobs of a run, kept for the next one: to start it takes longer than to write."""
    return connect(folder=path)


@cache
def _versions() -> dict[str, str]:
    return {name: version(name) for name in _VERSIONS}


def job_folder(path: Path, dataset: str, learner: str) -> Path:
    """Where the jobs of a learner on a data set lie."""
    return path / "jobs" / _file_name(dataset) / _file_name(learner)


def _enter(path: Path, folder: str, what: str, name: str, content: Row, replace: bool) -> None:
    """Keep the plan of a data set or learner; one with another digest or other splits is refused, or replaced."""
    file = path / folder / f"{_file_name(name)}.json"
    if file.is_file():
        there = _read(file)
        other = next((key for key in ("digest", "drawn") if there.get(key, "") != content.get(key, "")), None)
        if other is None:
            return
        if not replace:
            why = "its rows or roles" if what == "data set" else "its parameters, code or versions"
            why = "the splits that were drawn of it" if other == "drawn" else why
            raise ScoreSpaceError(
                f"the {what} {name!r} is not the one in {str(path)!r}: {why} have changed.",
                seen=f"digest {str(there.get(other))[:12]}, and now {content[other][:12]}",
                hint="another name or --out, or --replace, which removes its old predictions",
            )
        stale = [path / "jobs" / file.stem] if folder == "data" else (path / "jobs").glob(f"*/{glob.escape(file.stem)}")
        for each in stale:
            shutil.rmtree(each, ignore_errors=True)
    _write(file, content)


def _planned(told: Row) -> Planned:
    return Planned(**{**told, "classes": tuple(told["classes"]), "notes": tuple(Note(**one) for one in told["notes"])})


def _is_begun(path: Path) -> bool:
    """Whether the directory holds nothing but the empty folders of a run that was stopped at once."""
    names = {entry.name for entry in path.iterdir() if not entry.name.startswith(".scorespace-")}
    return names <= {"data", "learners", "jobs"}


def _known(name: str, names: tuple[str, ...], what: str) -> str:
    if name not in names:
        hint = did_you_mean(name, names, quoted=True)
        raise ScoreSpaceError(f"the run has no {what} {name!r}.", seen=listing(names), hint=hint)
    return name


def _file_name(name: str) -> str:
    """A name that every file system takes: where signs are replaced, with a hash that keeps it apart from others."""
    safe = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip(".")[:60]
    return safe if safe == name else f"{safe}~{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _read(file: Path) -> Row:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError(type(found).__name__)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{str(file)!r} cannot be read.", seen=str(error).splitlines()[0], hint="the run again in another folder"
        ) from None
    return found


def _write(file: Path, content: Row) -> None:
    write_file(file, json.dumps(content, indent=1, ensure_ascii=False).encode())

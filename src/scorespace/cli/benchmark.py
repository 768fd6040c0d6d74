"""`scorespace benchmark`: learners on data sets, every row predicted by models that have not seen it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from scorespace.cli import options, output
from scorespace.cli.options import flag, switch
from scorespace.errors import DataError, listing, nearest

if TYPE_CHECKING:
    from scorespace.experiments.data import Dataset
    from scorespace.experiments.run import State, Watch
    from scorespace.experiments.store import Run

_WHAT, _HOW = "What is compared", "How it runs"
_EVERY = 30.0  # seconds between lines of progress where there is no terminal


class How(NamedTuple):
    """How a run is made, by the names that `benchmark` of the library has for it."""

    workers: Annotated[int | None, flag("N", "Processes at a time; all cores if not stated.", _HOW, min=1)] = None
    dask: Annotated[str | None, flag("ADDRESS", "A Dask scheduler, such as tcp://host:8786.", _HOW)] = None
    seed: Annotated[int, flag(None, "Seed of splits and learners.", _HOW, min=0)] = 0
    train: Annotated[bool, switch("--train", "Keep predictions of training rows, too.", _HOW)] = False
    retry: Annotated[bool, switch("--retry", "Do failed fits again.", _HOW)] = False
    replace: Annotated[bool, switch("--replace", "Remove what a changed learner or data set left.", _HOW)] = False


def benchmark(
    *,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[status DIR]", help="Say where the run in a directory stands, and do nothing."),
    ] = None,
    paths: Annotated[list[str], flag("PATH", "A file to learn from; repeatable.", _WHAT, "--data")] = [],
    target: Annotated[list[str], flag("COL", "The column to predict: one for all files, or one for each.", _WHAT)] = [],
    suite: Annotated[str | None, flag("NAME", "Data sets and learners under one name: smooth-roc.", _WHAT)] = None,
    learner: Annotated[
        list[str],
        flag(
            "NAME",
            (
                "naive_bayes, pet, tree, logistic, linear, knn(k=5), forest, boosting, majority, mean, "
                "module:factory, or NAME=any of these; repeatable."
            ),
            _WHAT,
        ),
    ] = [],
    resampling: Annotated[
        str | None,
        flag(
            "HOW",
            (
                "10x10, 5, holdout:0.3, loo, logo:COL, lpgo:2:COL, logo:COL*COL, bootstrap:200, time:5; "
                "10x10 if not stated."
            ),
            _WHAT,
        ),
    ] = None,
    group: Annotated[
        list[str], flag("COL", "Groups of related rows, which folds keep whole; repeatable.", options.ROLES)
    ] = [],
    ids: Annotated[str | None, flag("COL", "What says which rows are one case.", options.ROLES, "--id")] = None,
    order: Annotated[str | None, flag("COL", "The time of each row, for time:5.", options.ROLES, "--time")] = None,
    drop: Annotated[list[str], flag("COL", "A column that is no feature; repeatable.", options.ROLES)] = [],
    positive: options.Positive = None,
    task: Annotated[
        Literal["classes", "numbers"] | None, flag(None, "Whether whole numbers are classes or numbers.", options.ROLES)
    ] = None,
    allow_remote: options.AllowRemote = False,
    folder: Annotated[Path, flag("DIR", "The run directory; what is finished there stays.", _HOW, "--out")] = Path(
        "runs"
    ),
    how: How,
    report: options.Report = None,
    format: options.OutputFormat = "table",
) -> None:
    """Let learners predict rows that they have not seen: resampled, in parallel, resumed where it stopped.

    Example: scorespace benchmark --data loans.csv --target risk --learner forest --learner logistic --out runs
    """
    from scorespace.experiments.store import open_run

    if words:
        if len(words) != 2 or words[0] != "status":
            hint = "benchmark status DIR" if nearest(words[0], ["status"]) else "--data PATH"
            raise DataError(f"benchmark does not know {' '.join(words)!r}.", hint=hint)
        _show(open_run(words[1]), format, None)
        return
    options.check_output(report, (".html",), *paths)
    from scorespace.experiments.resampling import parse
    from scorespace.experiments.run import benchmark as run_all
    from scorespace.experiments.suites import SUITES

    found = None if suite is None else SUITES.find(suite)
    if (found is None) == (not paths):
        raise DataError("benchmark wants data or a suite.", hint="--data PATH --target COL, or --suite smooth-roc")
    scheme = parse(resampling or (found.resampling if found is not None else "10x10"))
    names = learner or list(found.learners if found is not None else ())
    if not names:
        raise DataError("no learner is named.", hint="--learner naive_bayes --learner forest")
    if found is not None:
        if target or group or ids or order or drop or positive or task:
            raise DataError(
                f"the suite {found.name} says itself which column is what.", hint="--data PATH for your own"
            )
        sets = tuple(found.function())
    else:
        groups = list(dict.fromkeys([*group, *scheme.groups]))
        roles: dict[str, Any] = {"groups": groups, "order": order, "ids": ids, "drop": drop, "positive": positive}
        sets = _read(paths, target, task, roles)
    with _quiet_workers():
        run = run_all(names, sets, scheme, folder, **how._asdict(), watch=_watch())
    _show(run, format, report, None if found is None else found.report)


@contextmanager
def _quiet_workers() -> Iterator[None]:
    """No warnings of our workers, nor of what counts their locks after a Ctrl-C."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]


def _read(paths: list[str], target: list[str], task: Any, roles: dict[str, Any]) -> tuple[Dataset, ...]:
    from scorespace.experiments.data import dataset, datasets_of

    if len(target) not in (1, len(paths)):
        raise DataError(
            "the targets do not fit the files.",
            seen=f"{len(paths)} files and {len(target)} targets",
            hint="--target COL, once for all or once for each --data",
        )
    columns = target * len(paths) if len(target) == 1 else target
    sets = [dataset(path, column, task=task, **roles) for path, column in zip(paths, columns, strict=True)]
    names = [one.name for one in sets]
    if len(set(names)) < len(names):
        raise DataError("two files have the same name.", seen=listing(names), hint="files of different names")
    return datasets_of(sets)


def _show(run: Run, form: options.Format, report: Path | None, summed_up: Any = None) -> None:
    from scorespace.views import run as view

    document, content = view.document(run), run.status().to_dict()
    if summed_up is not None:
        from scorespace.views import suite

        found = summed_up(run)
        document, content = suite.document(found, view.facts(run)), found.to_dict()
    output.result(document, content, form, report=report)


def _watch() -> Watch:
    """Progress on stderr: one line that changes on a terminal, and a line now and then elsewhere."""
    alive = sys.stderr.isatty()
    told = time.monotonic()

    def tell(state: State) -> None:
        nonlocal told
        now = time.monotonic()
        last = state.done >= state.total
        if alive:
            output.say("\r\x1b[K" + ("" if last else state.words))
        elif now - told >= _EVERY:
            told = now
            output.say(f"{state.words}\n")

    return tell

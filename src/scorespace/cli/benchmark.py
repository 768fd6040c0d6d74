"""`scorespace benchmark`: cross-validated predictions of learners on data sets."""

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
from scorespace.cli.verbs import verb
from scorespace.errors import DataError, closest_name, listing

if TYPE_CHECKING:
    from scorespace.experiments.data import Dataset
    from scorespace.experiments.run import RunState, Watch
    from scorespace.experiments.store import Run

_WHAT, _HOW = "Data and learners", "Execution"
_LINE_INTERVAL = 30.0  # seconds between lines of progress if stderr is not a terminal


class BenchmarkOptions(NamedTuple):
    """Options of `benchmark` in the library, under the same names."""

    workers: Annotated[int | None, flag("N", "Parallel processes; by default one per core.", _HOW, min=1)] = None
    dask: Annotated[str | None, flag("ADDRESS", "Address of a Dask scheduler, such as tcp://host:8786.", _HOW)] = None
    seed: Annotated[int, flag(None, "Seed of splits and learners.", _HOW, min=0)] = 0
    train: Annotated[bool, switch("--train", "Also store predictions of the training rows.", _HOW)] = False
    retry: Annotated[bool, switch("--retry", "Repeat failed fits.", _HOW)] = False
    replace: Annotated[bool, switch("--replace", "Delete results of a changed learner or data set.", _HOW)] = False


@verb("Data, clusters, learners", 4)
def benchmark(
    *,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[status DIR]", help="Show the state of the run in a directory, without running it."),
    ] = None,
    paths: Annotated[list[str], flag("PATH", "Data file; repeatable.", _WHAT, "--data")] = [],
    target: Annotated[list[str], flag("COL", "Column to predict: one for all files, or one for each.", _WHAT)] = [],
    suite: Annotated[str | None, flag("NAME", "Named suite of data sets and learners: smooth-roc.", _WHAT)] = None,
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
            ("10x10, 5, holdout:0.3, loo, logo:COL, lpgo:2:COL, logo:COL*COL, bootstrap:200, time:5; default 10x10."),
            _WHAT,
        ),
    ] = None,
    group: Annotated[
        list[str], flag("COL", "Groups of related rows, kept in the same fold; repeatable.", options.ROLES)
    ] = [],
    ids: Annotated[
        str | None, flag("COL", "Case identifier, equal in rows of the same case.", options.ROLES, "--id")
    ] = None,
    order: Annotated[str | None, flag("COL", "Time of each row, for time:5.", options.ROLES, "--time")] = None,
    drop: Annotated[list[str], flag("COL", "Column to exclude from the features; repeatable.", options.ROLES)] = [],
    positive: options.Positive = None,
    task: Annotated[
        Literal["classes", "numbers"] | None,
        flag(None, "Treat an integer target as classes or as numbers.", options.ROLES),
    ] = None,
    sheet: options.Sheet = None,
    no_header: options.NoHeader = False,
    allow_remote: options.AllowRemote = False,
    folder: Annotated[Path, flag("DIR", "Run directory; finished fits in it are reused.", _HOW, "--out")] = Path(
        "runs"
    ),
    run_options: BenchmarkOptions,
    report: options.Report = None,
    format: options.OutputFormat = "table",
) -> None:
    """Cross-validate learners on data sets, in parallel; an interrupted run resumes.

    Example: scorespace benchmark --data loans.csv --target risk --learner forest --learner logistic --out runs
    """
    from scorespace.experiments.store import open_run

    if arguments:
        if len(arguments) != 2 or arguments[0] != "status":
            hint = "benchmark status DIR" if closest_name(arguments[0], ["status"]) else "--data PATH"
            raise DataError(f"benchmark has no argument {' '.join(arguments)!r}.", hint=hint)
        _show(open_run(arguments[1]), format, None)
        return
    options.check_output(report, (".html",), *paths)
    from scorespace.experiments.resampling import parse_resampling
    from scorespace.experiments.run import benchmark as run_all
    from scorespace.experiments.smooth_roc_suite import SUITES

    named_suite = None if suite is None else SUITES.find(suite)
    if (named_suite is None) == (not paths):
        raise DataError("pass either data or a suite.", hint="--data PATH --target COL, or --suite smooth-roc")
    scheme = parse_resampling(resampling or (named_suite.resampling if named_suite is not None else "10x10"))
    names = learner or list(named_suite.learners if named_suite is not None else ())
    if not names:
        raise DataError("no learner is named.", hint="--learner naive_bayes --learner forest")
    if named_suite is not None:
        if target or group or ids or order or drop or positive or task:
            raise DataError(
                f"the suite {named_suite.name} defines the column roles itself.", hint="--data PATH for other data"
            )
        datasets = tuple(named_suite.function())
    else:
        groups = list(dict.fromkeys([*group, *scheme.groups]))
        roles: dict[str, Any] = {"groups": groups, "order": order, "ids": ids, "drop": drop, "positive": positive}
        datasets = _read(paths, target, task, roles)
    with _quiet_workers():
        run = run_all(names, datasets, scheme, folder, **run_options._asdict(), watch=_watch())
    _show(run, format, report, None if named_suite is None else named_suite.report)


@contextmanager
def _quiet_workers() -> Iterator[None]:
    """Silence warnings of the worker processes, including those about locks after Ctrl-C."""
    previous = os.environ.get("PYTHONWARNINGS")
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    try:
        yield
    finally:
        if previous is None:
            del os.environ["PYTHONWARNINGS"]


def _read(paths: list[str], target: list[str], task: Any, roles: dict[str, Any]) -> tuple[Dataset, ...]:
    from scorespace.experiments.data import dataset, resolve_datasets

    if len(target) not in (1, len(paths)):
        raise DataError(
            "the number of targets does not match the number of files.",
            seen=f"{len(paths)} files and {len(target)} targets",
            hint="--target COL, once for all or once for each --data",
        )
    columns = target * len(paths) if len(target) == 1 else target
    datasets = [dataset(path, column, task=task, **roles) for path, column in zip(paths, columns, strict=True)]
    names = [dataset.name for dataset in datasets]
    if len(set(names)) < len(names):
        raise DataError("two files have the same name.", seen=listing(names), hint="rename one of the files")
    return resolve_datasets(datasets)


def _show(run: Run, form: options.Format, report: Path | None, summarise: Any = None) -> None:
    from scorespace.report import experiments as view

    document, content = view.run_document(run), run.status().to_dict()
    page = None if report is None or summarise is not None else view.results_page(run)
    if summarise is not None:
        from scorespace.report import suite

        summary = summarise(run)
        document, content = suite.document(summary, view.facts(run)), summary.to_dict()
    output.write_result(document, content, form, report=report, page=page)


def _watch() -> Watch:
    """Report progress on stderr: a line that is overwritten on a terminal, otherwise a line every 30 seconds."""
    is_terminal = sys.stderr.isatty()
    last_line = time.monotonic()

    def report(state: RunState) -> None:
        nonlocal last_line
        now = time.monotonic()
        is_finished = state.done >= state.total
        if is_terminal:
            output.write_stderr("\r\x1b[K" + ("" if is_finished else state.words))
        elif now - last_line >= _LINE_INTERVAL:
            last_line = now
            output.write_stderr(f"{state.words}\n")

    return report

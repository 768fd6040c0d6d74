"""`evaluate` and `compare` on a benchmark run with several data sets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scorespace.cli import options, output
from scorespace.cli.common_options import DataOptions
from scorespace.errors import ScoreSpaceError


def has_many_datasets(data: Any, dataset: str | None) -> bool:
    """Whether the data are a run of several data sets, of which none is selected."""
    if dataset is not None or not isinstance(data, str) or not Path(data).is_dir():
        return False
    from scorespace.experiments.store import is_run, open_run

    return is_run(data) and len(open_run(data).datasets) > 1


def refuse(options_group: Any, names: str, other_options: Mapping[str, Any] | None = None) -> None:
    """Reject options that apply to a single data set: the named fields of an option group, and others."""
    flags = {f"--{name.replace('_', '-')}": getattr(options_group, name) for name in names.split()}
    for flag, value in {**flags, **(other_options or {})}.items():
        if value not in (None, "", [], False):
            raise ScoreSpaceError(f"{flag} needs a single data set of the run.", hint="--dataset NAME")


def evaluate(data_options: DataOptions, report: Path | None, form: options.Format, **settings: Any) -> None:
    """Write means over folds for each learner and data set, and ranks over all data sets."""
    from scorespace.experiments.results import benchmark_summary
    from scorespace.report import experiments as view

    summary = benchmark_summary(
        str(data_options.data),
        learners=options.split_columns(data_options.score, None),
        positive=data_options.positive,
        **settings,
    )
    output.write_result(view.document(summary, output.command()), summary.to_dict(), form, report=report)


def compare(data_options: DataOptions, form: options.Format, **settings: Any) -> None:
    """Write differences on each data set, and ranks over all data sets with their tests."""
    from scorespace.experiments.results import benchmark_summary
    from scorespace.report import experiments as view

    summary = benchmark_summary(
        str(data_options.data),
        learners=options.split_columns(data_options.score, None),
        positive=data_options.positive,
        **settings,
    )
    output.write(view.comparison(summary), summary.to_dict(), form)

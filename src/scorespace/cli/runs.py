"""`evaluate` and `compare` on a run of several data sets: the same verbs, for a whole benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scorespace.cli import options, output
from scorespace.cli.given import Given
from scorespace.errors import ScoreSpaceError


def several(data: Any, dataset: str | None) -> bool:
    """Whether the data are a run of several data sets, none of which is named."""
    if dataset is not None or not isinstance(data, str) or not Path(data).is_dir():
        return False
    from scorespace.experiments.store import is_run, open_run

    return is_run(data) and len(open_run(data).datasets) > 1


def refuse(given: Any, names: str, others: Mapping[str, Any] | None = None) -> None:
    """Refuse options that are about one data set: those of a group with these names, and others."""
    own = {f"--{name.replace('_', '-')}": getattr(given, name) for name in names.split()}
    for flag, value in {**own, **(others or {})}.items():
        if value not in (None, "", [], False):
            raise ScoreSpaceError(f"{flag} is for one data set of a run.", hint="--dataset NAME")


def evaluate(given: Given, report: Path | None, form: options.Format, **asked: Any) -> None:
    """Means over folds of every learner on every data set, and ranks over all."""
    from scorespace.experiments.results import benchmark_summary
    from scorespace.views import benchmark as view

    found = benchmark_summary(str(given.data), learners=given.score, positive=given.positive, **asked)
    output.result(view.document(found, output.command()), found.to_dict(), form, report=report)


def compare(given: Given, form: options.Format, **asked: Any) -> None:
    """The differences on each data set, and the ranks over all with their tests."""
    from scorespace.experiments.results import benchmark_summary
    from scorespace.views import benchmark as view

    found = benchmark_summary(str(given.data), learners=given.score, positive=given.positive, **asked)
    output.write(view.comparison(found), found.to_dict(), form)

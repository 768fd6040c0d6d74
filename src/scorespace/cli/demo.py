"""`scorespace demo`: the main job on bundled predictions."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.cli.evaluate import show
from scorespace.conditions import Condition
from scorespace.evaluation.enter import evaluate

DATA = "german_credit.csv"
MODELS = ("naive_bayes", "tree", "logistic")
COSTS = Condition(fp=1, fn=5)
"""The official costs of the data set: refusing a good customer 1, accepting a bad one 5."""


def demo(
    report: Annotated[Path, typer.Option(metavar="FILE.html", help="Where the report is written.")] = Path(
        "scorespace-demo.html"
    ),
    format: options.OutputFormat = options.Format.table,
) -> None:
    """Evaluate the bundled German credit predictions of three models and write the report."""
    options.check_output(report, (".html",))
    with as_file(files("scorespace.data") / DATA) as path, output.progress("bootstrap") as progress:
        evaluation = evaluate(
            path, truth="outcome", scores=list(MODELS), positive="bad", condition=COSTS, progress=progress
        )
        evaluation.summary  # noqa: B018 - computed here, under the progress bar
    show(evaluation, report, format)

"""`scorespace demo`: evaluate bundled predictions."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Final

from scorespace.cli import options, output
from scorespace.cli.evaluate import show
from scorespace.cli.options import flag, switch
from scorespace.cli.verbs import verb
from scorespace.costs import Condition
from scorespace.errors import DataError
from scorespace.evaluation.assemble import evaluate_data
from scorespace.files import check_target, write_file
from scorespace.report.document import Grid
from scorespace.results import SCHEMA

DATA: Final = "german_credit.csv"
MODELS: Final = ("naive_bayes", "tree", "logistic")
COSTS: Final = Condition(fp=1, fn=5)
"""Costs published with the data set: rejecting a good customer 1, accepting a bad one 5."""

COPIES: Final = {"credit.csv": DATA, "iris.csv": "iris.csv", "deliveries.csv": "deliveries.csv"}
"""Bundled files under the names used in README and docs."""

_MODEL_ARGUMENTS: Final = "credit.csv --truth outcome --positive bad --score naive_bayes,tree"
NEXT: Final = (
    f"scorespace evaluate {_MODEL_ARGUMENTS}",
    f"scorespace decide {_MODEL_ARGUMENTS} --cost-fp 1 --cost-fn 5",
)
"""Commands to try on the copies, as in README."""


@verb("Reference and tools", 1, runs_without_arguments=True)
def demo(
    report: Annotated[Path, flag("FILE.html", "Output file of the report.")] = Path("scorespace-demo.html"),
    copy: Annotated[
        bool, switch("--copy", "Write the bundled data files into this folder, for the examples in README.")
    ] = False,
    format: options.OutputFormat = "table",
) -> None:
    """Evaluate bundled predictions of three models on the German credit data, and write a report."""
    if copy:
        _copy(format)
        return
    options.check_output(report, (".html",))
    with as_file(files("scorespace.data") / DATA) as path, output.progress("bootstrap") as progress:
        evaluation = evaluate_data(
            path, truth="outcome", scores=list(MODELS), positive="bad", condition=COSTS, progress=progress
        )
        evaluation.summary  # noqa: B018 - computed here, while the progress bar is shown
    show(evaluation, report, format)
    if format == "table":
        _suggest("scorespace demo --copy", *NEXT)


def _copy(form: options.Format) -> None:
    """Write the bundled files into the current folder, without overwriting other files."""
    content = {Path(name): (files("scorespace.data") / bundled).read_bytes() for name, bundled in COPIES.items()}
    for path, data in content.items():
        check_target(path, (".csv",))
        if path.exists() and path.read_bytes() != data:
            raise DataError(f"{str(path)!r} exists with other content.", hint="use an empty folder")
    for path, data in content.items():
        write_file(path, data)
    if form == "table":
        output.write_line(f"wrote   {', '.join(map(str, content))}")
        _suggest(*NEXT)
        return
    rows = [{"file": str(path), "bytes": len(held)} for path, held in content.items()]
    grid = Grid(("file", "bytes"), tuple((str(path), str(len(held))) for path, held in content.items()))
    output.write_grid(grid, {"schema": SCHEMA, "rows": rows, "next": list(NEXT)}, form)


def _suggest(*commands: str) -> None:
    """Print commands to try next, one per line, ready to copy."""
    for position, command in enumerate(commands):
        output.write_line(f"{'' if position else 'next':8}{command}")

"""`scorespace demo`: evaluate bundled predictions."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Final

from scorespace.cli import options, output
from scorespace.cli.evaluate import show
from scorespace.cli.examples import EXAMPLES
from scorespace.cli.examples import example as example_file
from scorespace.cli.options import flag, switch
from scorespace.cli.verbs import verb
from scorespace.costs import Condition
from scorespace.errors import DataError, did_you_mean, listing
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
    example: Annotated[
        list[str],
        flag("NAME", f"Write an example file of the docs, computed from the loans: {', '.join(EXAMPLES)}."),
    ] = [],
    format: options.OutputFormat = "table",
) -> None:
    """Evaluate bundled predictions of three models on the German credit data, and write a report."""
    if example:
        names = [name.strip() for text in example for name in text.split(",")]
        _write({Path(name): _example(name) for name in names}, (), format)
        return
    if copy:
        _write(
            {Path(name): (files("scorespace.data") / held).read_bytes() for name, held in COPIES.items()}, NEXT, format
        )
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


def _example(name: str) -> bytes:
    if name not in EXAMPLES:
        raise DataError(
            f"there is no example {name!r}.", hint=did_you_mean(name, EXAMPLES, f"one of {listing(EXAMPLES)}")
        )
    return example_file(name)


def _write(content: dict[Path, bytes], following: Sequence[str], form: options.Format) -> None:
    """Write files into the current folder, without overwriting other files, and name the commands to try next."""
    for path, data in content.items():
        check_target(path, (".csv",))
        if path.exists() and path.read_bytes() != data:
            raise DataError(f"{str(path)!r} exists with other content.", hint="use an empty folder")
    for path, data in content.items():
        write_file(path, data)
    if form == "table":
        output.write_line(f"wrote   {', '.join(map(str, content))}")
        _suggest(*following)
        return
    rows = [{"file": str(path), "bytes": len(held)} for path, held in content.items()]
    grid = Grid(("file", "bytes"), tuple((str(path), str(len(held))) for path, held in content.items()))
    output.write_grid(grid, {"schema": SCHEMA, "rows": rows, "next": list(following)}, form)


def _suggest(*commands: str) -> None:
    """Print commands to try next, one per line, ready to copy."""
    for position, command in enumerate(commands):
        output.write_line(f"{'' if position else 'next':8}{command}")

"""`scorespace demo`: the main job on bundled predictions."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Final

from scorespace.cli import options, output
from scorespace.cli.evaluate import show
from scorespace.cli.options import flag, switch
from scorespace.conditions import Condition
from scorespace.errors import DataError
from scorespace.evaluation.enter import evaluate
from scorespace.files import check_target, write_file
from scorespace.results import SCHEMA
from scorespace.views.document import Grid

DATA: Final = "german_credit.csv"
MODELS: Final = ("naive_bayes", "tree", "logistic")
COSTS: Final = Condition(fp=1, fn=5)
"""The official costs of the data set: refusing a good customer 1, accepting a bad one 5."""

COPIES: Final = {"credit.csv": DATA, "iris.csv": "iris.csv"}
"""The bundled files by the names that README and docs use."""

_ASKED: Final = "credit.csv --truth outcome --positive bad --score naive_bayes --score tree"
NEXT: Final = (
    f"scorespace evaluate {_ASKED} --report credit.html",
    f"scorespace decide {_ASKED} --cost-fp 1 --cost-fn 5",
)
"""What to try on the copies, as README has it."""


def demo(
    report: Annotated[Path, flag("FILE.html", "Where the report is written.")] = Path("scorespace-demo.html"),
    copy: Annotated[
        bool, switch("--copy", "Instead: write the bundled files here, for the commands of the README.")
    ] = False,
    format: options.OutputFormat = "table",
) -> None:
    """Evaluate the bundled German credit predictions of three models and write the report."""
    if copy:
        _copy(format)
        return
    options.check_output(report, (".html",))
    with as_file(files("scorespace.data") / DATA) as path, output.progress("bootstrap") as progress:
        evaluation = evaluate(
            path, truth="outcome", scores=list(MODELS), positive="bad", condition=COSTS, progress=progress
        )
        evaluation.summary  # noqa: B018 - computed here, under the progress bar
    show(evaluation, report, format)
    if format == "table":
        _go_on("scorespace demo --copy", *NEXT)


def _copy(form: options.Format) -> None:
    """Write the bundled files into the folder; one of another content is left alone."""
    content = {Path(name): (files("scorespace.data") / bundled).read_bytes() for name, bundled in COPIES.items()}
    for path, held in content.items():
        check_target(path, (".csv",))
        if path.exists() and path.read_bytes() != held:
            raise DataError(f"{str(path)!r} is there already, and is another file.", hint="an empty folder")
    for path, held in content.items():
        write_file(path, held)
    if form == "table":
        output.line(f"wrote   {', '.join(map(str, content))}")
        _go_on(*NEXT)
        return
    rows = [{"file": str(path), "bytes": len(held)} for path, held in content.items()]
    grid = Grid(("file", "bytes"), tuple((str(path), str(len(held))) for path, held in content.items()))
    output.write_grid(grid, {"schema": SCHEMA, "rows": rows, "next": list(NEXT)}, form)


def _go_on(*commands: str) -> None:
    """The commands to try next, a line each: they are to be copied."""
    for place, command in enumerate(commands):
        output.line(f"{'' if place else 'next':8}{command}")

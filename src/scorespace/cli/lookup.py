"""`scorespace measures`, `curves` and `tests`: catalogues to list and search; `doctor`: installed components."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from scorespace.cli import options, output
from scorespace.cli.options import Format, Side, flag, switch
from scorespace.cli.verbs import verb
from scorespace.comparisons.test import TESTS, tests_in_order
from scorespace.curves.curve import CURVES
from scorespace.dependencies import list_dependencies
from scorespace.errors import DataError, MeasureError, listing
from scorespace.evaluation.curves import kinds
from scorespace.measures import measures as all_measures
from scorespace.measures.measure import MEASURES
from scorespace.registry import Declared, Registry
from scorespace.report.catalogue import (
    curve_entry,
    curves_described,
    described,
    entry,
    explained,
    explained_curve,
    explained_test,
    test_entry,
    tests_grid,
)
from scorespace.report.document import Document, Grid, Section, Text
from scorespace.report.formulas import measures_of_decisions, worked, worked_grid
from scorespace.report.plots import PICTURES, ChartKind
from scorespace.results import SCHEMA, Row, grouped
from scorespace.tables import Counts

_HELP = "A name or alias, or words to search for."


def search_argument(completed: Callable[[str], Any]) -> Any:
    """Declare the argument with a name or search terms."""
    return typer.Argument(metavar="[NAME]", help=_HELP, autocompletion=completed)


def look_up(
    registry: Registry[Declared],
    terms: Sequence[str] | None,
    form: Format,
    *,
    all_entries: Sequence[Declared],
    list_grid: Callable[[Sequence[Declared]], Grid],
    detail_grid: Callable[[Declared], Grid],
    row: Callable[[Declared], Row],
) -> None:
    """Write the whole catalogue, the entries that match the terms, or the details of a single match."""
    query = " ".join(terms or ())
    entries = registry.search(query) if query else all_entries
    grid = detail_grid(entries[0]) if query and len(entries) == 1 else list_grid(entries)
    output.write_grid(grid, {"schema": SCHEMA, "rows": [row(one) for one in entries]}, form)


_MeasureName = Annotated[list[str] | None, search_argument(MEASURES.completed)]


@verb("Reference and tools", 2, runs_without_arguments=True)
def measures(
    name: _MeasureName = None,
    on: Annotated[
        str | None,
        flag("MATRIX", "Put the counts of a confusion matrix into the formulas: 'TP FN; FP TN', or FILE.csv."),
    ] = None,
    rows: Annotated[
        Side | None, flag(None, "Whether rows of the matrix are actual or predicted classes; actual by default.")
    ] = None,
    positive: options.Positive = None,
    format: options.OutputFormat = "table",
) -> None:
    """List, search or explain measures; with --on, their formulas with the numbers put in.

    Example: scorespace measures precision

    Example: scorespace measures ppv --on "6 2; 1 3"
    """
    if on is not None:
        _work_out(name, _counts_of(on, rows, positive), format)
        return
    look_up(MEASURES, name, format, all_entries=all_measures(), list_grid=described, detail_grid=explained, row=entry)


def _counts_of(matrix: str, rows: Side | None, positive: str | None) -> Counts:
    """The four counts of a confusion matrix of two classes."""
    table = next(iter(options.data_and_matrices(None, [matrix], rows, positive)[0].values()))
    if table.positive is None or len(table.classes) != 2:
        raise DataError(
            "formulas need a matrix of two classes, one of them positive.",
            seen=listing(table.classes),
            hint="'6 2; 1 3', or --positive CLASS",
        )
    return table.counts_of(table.positive)


def _work_out(name: list[str] | None, counts: Counts, form: Format) -> None:
    """Write the formulas of some or all measures of decisions with the counts put in."""
    found = [MEASURES.find(one) for one in name or ()] or measures_of_decisions()
    for one in found:
        if one.table is not Counts:
            raise MeasureError(f"{one.name} is not computed from four counts.", hint="ppv, tpr, acc or f1")
    rows = [{"name": one.name, "value": float(one(counts)), "formula": worked(one, counts)} for one in found]
    output.write_grid(worked_grid(counts, found), {"schema": SCHEMA, "rows": rows}, form)


_CurveName = Annotated[list[str] | None, search_argument(CURVES.completed)]


@verb("Reference and tools", 3, runs_without_arguments=True)
def curves(name: _CurveName = None, format: options.OutputFormat = "table") -> None:
    """List, search or explain kinds of curves: axes, options, areas and bands.

    Example: scorespace curves calibration
    """
    chart = PICTURES.get("_".join(name or ()).lower().replace("-", "_"))
    if chart is not None:
        _write_chart(chart, format)
        return
    look_up(
        CURVES,
        name,
        format,
        all_entries=kinds(),
        list_grid=curves_described,
        detail_grid=explained_curve,
        row=curve_entry,
    )


def _write_chart(chart: ChartKind, form: Format) -> None:
    """Explain a chart that is not a curve."""
    about = (chart.function.__doc__ or "").strip()
    row = {"name": chart.name, "title": chart.title, "summary": about}
    facts = ((chart.name, chart.title), ("definition", about), ("needs", f"write --kind {chart.name} --out FILE.png"))
    output.write_grid(Grid(("", ""), facts, prose=True), {"schema": SCHEMA, "rows": [row]}, form)


# ruff: noqa: PT028 - this verb lists statistical tests and is not a pytest function


_TestName = Annotated[list[str] | None, search_argument(TESTS.completed)]


@verb("Reference and tools", 4, runs_without_arguments=True)
def tests(name: _TestName = None, format: options.OutputFormat = "table") -> None:
    """List, search or explain statistical tests of differences between models.

    Example: scorespace tests mcnemar
    """
    look_up(
        TESTS,
        name,
        format,
        all_entries=tests_in_order(),
        list_grid=tests_grid,
        detail_grid=explained_test,
        row=test_entry,
    )


@verb("Reference and tools", 6, runs_without_arguments=True)
def doctor(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="A data file: propose what its columns are.")
    ] = None,
    guess: Annotated[bool, switch("--guess", "Evaluate the file with the proposed roles.")] = False,
    reference: Annotated[
        bool, switch("--reference", "Compute 40 small data sets, and count correct digits; 1 if fewer than promised.")
    ] = False,
    sheet: options.Sheet = None,
    no_header: options.NoHeader = False,
    format: options.OutputFormat = "table",
) -> None:
    """Check the installation, or propose roles for the columns of a file and the command to type next.

    Without a file: versions, missing optional packages, and how to install them; exits with 1 if a required package is
    missing. `scorespace FILE` is short for `scorespace doctor FILE`.

    Example: scorespace doctor

    With --reference: the correct digits of 40 data sets whose measures are known exactly; exits with 1 if a value has
    fewer than 14 without a stated reason.

    Example: scorespace doctor credit.csv

    Example: scorespace doctor --reference
    """
    if reference:
        _check_reference(file, format)
        return
    if file is not None:
        stated = [*(("--sheet", sheet) if sheet else ()), *(("--no-header",) if no_header else ())]
        _propose(file, stated, guess, format)
        return
    components = list_dependencies()
    missing = [component for component in components if component.needed and component.version is None]
    if missing:  # Rich, which prints tables, may be missing
        for component in missing:
            output.write_line(f"{component.name} is missing, for {component.purpose_text}")
        raise typer.Exit(1)
    rows = tuple((component.name, component.version or "missing", component.purpose_text) for component in components)
    grid = Grid(("component", "version", "used for"), rows, prose=True)
    output.write_grid(grid, {"schema": SCHEMA, "rows": [component.row() for component in components]}, format)


def _check_reference(file: str | None, form: Format) -> None:
    """Write the correct digits of the reference sets; exit with 1 if there are fewer than promised."""
    from scorespace.evaluation.reference import check_reference, reference_grid, summary

    if file is not None:
        raise DataError("--reference checks the installation.", seen=file, hint="scorespace doctor --reference")
    checked = check_reference()
    rows = [one.row() for one in checked]
    section = Section("digits", "Correct digits", (reference_grid(checked), Text(summary(checked))), brief=True)
    output.write(Document("reference sets", "", (section,)), {"schema": SCHEMA, "rows": rows}, form)
    if not all(one.is_as_promised for one in checked):
        raise typer.Exit(1)


def _propose(file: str, stated: Sequence[str], guess: bool, form: Format) -> None:
    """Print the columns of a file with their proposed roles, or evaluate it with these roles.

    `stated` are flags that say how the file is read.
    """
    from scorespace.evaluation.proposal import preview, propose, sentence

    seen = preview(file)
    found = propose(seen.columns)
    arguments = [*found.arguments("evaluate", file), *stated]
    command = shlex.join(["scorespace", *arguments]) if found.is_complete else ""
    if guess:
        if not found.is_complete:
            raise DataError(sentence(found, seen.rows), hint=f"scorespace evaluate {shlex.quote(file)} --truth COL …")
        from scorespace.cli.verbs import load, verbs

        output.write_stderr(f"{command}\n")
        load(verbs()["evaluate"])([*arguments[1:], "--format", form], standalone_mode=False)
        return
    columns = (*found.patterns, *seen.columns)
    rows = [
        {"column": one.name, "kind": one.kind, "role": role, "reason": reason}
        for one in columns
        for role, _, reason in [found.why.get(one.name, "").partition(": ")]
    ]
    others = [name for name in found.candidates if name not in found.roles.get("truth", ())]
    content = {"schema": SCHEMA, "rows": rows, "roles": found.roles, "truth_candidates": list(found.candidates)}
    content |= {"sentence": sentence(found, seen.rows), "command": command or None}
    grid = Grid(("column", "kind", "role", "reason"), tuple(tuple(map(str, row.values())) for row in rows), prose=True)
    texts = [Text(sentence(found, seen.rows))]
    texts += [Text(f"Other candidates for the truth: {', '.join(others)}.")] if others else []
    if command:
        texts.append(Text(f"next    {command}\nor      {shlex.join(['scorespace', file, *stated])} --guess"))
    section = Section("columns", "Columns", (grid, *texts), brief=True)
    output.write(Document(file, f"{grouped(seen.rows)} rows", (section,)), content, form)

"""`scorespace ranks`: rank models over data sets and test their differences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from scorespace.cli import options, output
from scorespace.cli.common_options import CHART_AS_DRAWN, FigureOptions
from scorespace.cli.options import flag, switch
from scorespace.cli.verbs import verb
from scorespace.comparisons.ranking import dataset_tests, direction, rank_models
from scorespace.errors import DataError
from scorespace.io.result_tables import read_results
from scorespace.report import ranking as view

_TESTS = ", ".join(dataset_tests())
_FORM, _TEST = "Columns of the results", "Test"


class RankOptions(NamedTuple):
    """Options of `rank_models` in the library, under the same names."""

    control: Annotated[str | None, flag("NAME", "Compare every model with this control only.", _TEST)] = None
    test: Annotated[
        str | None,
        flag("TEST", f"{_TESTS}, such as 'wilcoxon(zeros=pratt)'; by default the first valid one.", _TEST),
    ] = None
    alternative: options.Alternative = "two-sided"
    adjust: Annotated[
        str | None,
        flag(
            "METHOD",
            (
                "Correction for multiple tests: holm, hochberg, bonferroni, finner or, for all pairs, shaffer. "
                "After Friedman's test it replaces Nemenyi's test."
            ),
            "Hypothesis test",
        ),
    ] = None
    level: options.Level = 0.95
    seed: options.Seed = 0


@verb("Drift, raters, rankings", 3)
def ranks(
    results: Annotated[
        str,
        typer.Argument(metavar="RESULTS", help="File with a row per data set and a column per model, or a long table."),
    ],
    *,
    dataset: Annotated[str | None, flag("COL", "Column of the data set names.", _FORM)] = None,
    model: Annotated[str | None, flag("COL", "Long table: column of the model names.", _FORM)] = None,
    value: Annotated[str | None, flag("COL", "Long table: column of the results.", _FORM)] = None,
    missing: options.MissingRows = "error",
    sheet: options.Sheet = None,
    no_header: options.NoHeader = False,
    allow_remote: options.AllowRemote = False,
    measure: Annotated[str, flag("NAME", "Measure in the results; determines which direction is better.", _TEST)] = "",
    lower: Annotated[bool, switch("--lower-is-better", "Lower results are better.", _TEST)] = False,
    higher: Annotated[bool, switch("--higher-is-better", "Higher results are better.", _TEST)] = False,
    rank_options: RankOptions,
    out: Annotated[
        Path | None, flag("FILE", "Critical difference diagram: .png .svg .pdf .html.", options.OUTPUT)
    ] = None,
    figure: FigureOptions = CHART_AS_DRAWN,
    report: options.Report = None,
    format: options.OutputFormat = "table",
) -> None:
    """Rank models over several data sets and test their differences: Friedman with Nemenyi, or pairwise tests.

    Example: scorespace ranks results.csv --measure auc --out ranks.png
    """
    options.check_output(out, options.PICTURES, results)
    figure.check(out)
    options.check_output(report, (".html",), results)
    if lower and higher:
        raise DataError(
            "--lower-is-better and --higher-is-better exclude each other.", hint="pass one, or --measure auc"
        )
    best = direction(measure, "low" if lower else "high" if higher else None)
    table = read_results(results, dataset=dataset, model=model, value=value, missing=missing)
    ranking = rank_models(table.values, table.models, measure=measure, best=best, **rank_options._asdict())
    if out is not None and ranking.friedman is None:
        raise DataError("the chart needs ranks of all models, not pairwise tests.", hint='test="friedman"')
    content = ranking.to_dict()
    content["notes"] = [*(note.to_dict() for note in table.notes), *content["notes"]]
    page, draw = view.document(ranking, table.name, table.notes), view.picture(ranking).draw
    output.write_result(page, content, format, report=report, out=out, draw=figure.drawing(draw), out_label="ranks")

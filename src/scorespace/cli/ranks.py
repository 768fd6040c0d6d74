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
from scorespace.report.protocol import facts

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
    value: Annotated[
        list[str],
        flag("COL", "Column of the results of a long table; or several: values per case, one column a model.", _FORM),
    ] = [],
    group: Annotated[str | None, flag("COL", "Groups of related cases, with several --value.", _FORM)] = None,
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

    Of values per case (several --value), all differences of the means have joint intervals, and models that share a
    letter do not differ clearly.

    Example: scorespace ranks results.csv --measure auc --out ranks.png

    Example: scorespace ranks dice.csv --value unet,vnet,swin --group patient --format markdown
    """
    options.check_output(out, options.PICTURES, results)
    figure.check(out)
    options.check_output(report, (".html",), results)
    if lower and higher:
        raise DataError(
            "--lower-is-better and --higher-is-better exclude each other.", hint="pass one, or --measure auc"
        )
    columns = options.split_columns(value, results)
    if model is None and (len(columns) > 1 or any("*" in name for name in columns)):
        _rank_values(results, columns, group, measure, lower, rank_options, missing, out, figure, report, format)
        return
    if group is not None or len(columns) > 1:
        raise DataError("--group is for values per case.", hint="--value a,b,c --group patient, without --model")
    best = direction(measure, "low" if lower else "high" if higher else None)
    table = read_results(results, dataset=dataset, model=model, value=next(iter(columns), None), missing=missing)
    ranking = rank_models(table.values, table.models, measure=measure, best=best, **rank_options._asdict())
    if out is not None and ranking.friedman is None:
        raise DataError("the chart needs ranks of all models, not pairwise tests.", hint='test="friedman"')
    content = ranking.to_dict()
    content["notes"] = [*(note.to_dict() for note in table.notes), *content["notes"]]
    page, draw = view.document(ranking, table.name, table.notes), view.picture(ranking).draw
    output.write_result(page, content, format, report=report, out=out, draw=figure.drawing(draw), out_label="ranks")


def _rank_values(
    data: str,
    columns: list[str],
    group: str | None,
    measure: str,
    lower: bool,
    stated: RankOptions,
    missing: str,
    out: Path | None,
    figure: FigureOptions,
    report: Path | None,
    format: options.Format,
) -> None:
    """Write the leaderboard of values per case."""
    from scorespace.evaluation.assemble import evaluate_data
    from scorespace.report import leaderboard as board_view

    other = [
        name
        for name, default in RankOptions._field_defaults.items()
        if name not in ("level", "seed") and getattr(stated, name) != default
    ]
    if other:
        raise DataError(
            f"--{other[0]} is for results over data sets.", hint="leave it out, or scorespace compare for other tests"
        )
    evaluation = evaluate_data(
        data,
        values=columns,
        group=group,
        measures=measure or "mean",
        lower_is_better=lower,
        missing=missing,
        paired=True,
        level=stated.level,
        seed=stated.seed,
    )
    board = evaluation.leaderboard
    if board is None:
        raise DataError(
            "a leaderboard needs at least three models and a mean over cases.",
            seen=f"{', '.join(evaluation.models)}; {measure or 'mean'}",
            hint="scorespace compare for two models or other measures",
        )
    content = board.to_dict()
    content["notes"] = [one.to_dict() for one in (*evaluation.notes, *board.notes)]
    page = board_view.document(board, evaluation.models.name, facts(evaluation.models), evaluation.notes)
    draw = figure.drawing(board_view.picture(board).draw)
    output.write_result(page, content, format, report=report, out=out, draw=draw, out_label="leaderboard")

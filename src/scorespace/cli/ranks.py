"""`scorespace ranks`: models over many data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from scorespace.cli import options, output
from scorespace.cli.options import flag, switch
from scorespace.comparisons.ranking import direction, over_datasets, rank_models
from scorespace.errors import DataError
from scorespace.frames.outcomes import read_outcomes
from scorespace.views import ranking as view

_TESTS = ", ".join(over_datasets())
_FORM, _TEST = "How the table is laid out", "Which test"


class Asked(NamedTuple):
    """What is asked of the ranks, by the names that `rank_models` has for it."""

    control: Annotated[str | None, flag("NAME", "Compare every model with this one only.", _TEST)] = None
    test: Annotated[
        str | None,
        flag("TEST", f"{_TESTS}, such as 'wilcoxon(zeros=pratt)'; the suiting one if not stated.", _TEST),
    ] = None
    alternative: options.Alternative = "two-sided"
    adjust: Annotated[
        str | None,
        flag(
            "METHOD",
            (
                "How p-values are adjusted: holm, hochberg, bonferroni, finner or, of all pairs, shaffer. After "
                "Friedman's test it stands in place of Nemenyi's."
            ),
            "How to judge",
        ),
    ] = None
    level: options.Level = 0.95
    seed: options.Seed = 0


def ranks(
    results: Annotated[
        str,
        typer.Argument(
            metavar="RESULTS", help="A file with a row per data set and a column per model, or a long table."
        ),
    ],
    *,
    dataset: Annotated[str | None, flag("COL", "The column that names the data set.", _FORM)] = None,
    model: Annotated[str | None, flag("COL", "Of a long table: the column that names the model.", _FORM)] = None,
    value: Annotated[str | None, flag("COL", "Of a long table: the column with the results.", _FORM)] = None,
    missing: options.MissingRows = "error",
    allow_remote: options.AllowRemote = False,
    measure: Annotated[str, flag("NAME", "What the results are; says which end is best.", _TEST)] = "",
    lower: Annotated[bool, switch("--lower-is-better", "The smallest result is the best.", _TEST)] = False,
    higher: Annotated[bool, switch("--higher-is-better", "The largest result is the best.", _TEST)] = False,
    asked: Asked,
    out: Annotated[Path | None, flag("FILE", "Draw the ranks: .png .svg .pdf .html.", options.OUTPUT)] = None,
    report: options.Report = None,
    format: options.OutputFormat = "table",
) -> None:
    """Rank models over data sets, and test which of them differ: Friedman and Nemenyi, or tests of pairs.

    Example: scorespace ranks results.csv --measure auc --out ranks.png
    """
    options.check_output(out, options.PICTURES, results)
    options.check_output(report, (".html",), results)
    if lower and higher:
        raise DataError("lower and higher cannot both be better.", hint="one of them, or --measure auc")
    best = direction(measure, "low" if lower else "high" if higher else None)
    found = read_outcomes(results, dataset=dataset, model=model, value=value, missing=missing)
    ranking = rank_models(found.values, found.models, measure=measure, best=best, **asked._asdict())
    if out is not None and ranking.friedman is None:
        raise DataError("ranks are drawn of all models, and not of pairs.", hint='test="friedman"')
    content = ranking.to_dict()
    content["notes"] = [*(note.to_dict() for note in found.notes), *content["notes"]]
    page, draw = view.document(ranking, found.name, found.notes), view.picture(ranking).draw
    output.result(page, content, format, report=report, out=out, draw=draw, called="ranks")

"""`scorespace agree`: agreement of raters on decisions and scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

from scorespace.agreement.raters import RaterAgreement
from scorespace.agreement.scored_raters import TOLERANCE
from scorespace.cli import options, output
from scorespace.cli.common_options import CHART_AS_DRAWN, FigureOptions
from scorespace.cli.options import flag
from scorespace.cli.verbs import verb
from scorespace.errors import ColumnError, DataError
from scorespace.evaluation.two_samples import agree as agree_on
from scorespace.report import agreement as view

_JUDGE = "Judge against people"


class AgreeOptions(NamedTuple):
    """Options of `agree` in the library, under the same names."""

    positive: options.Positive = None
    truth: Annotated[
        str | None, flag("COL", "Actual class, where known: adds the AUC of each rater.", options.ROLES)
    ] = None
    id: Annotated[str | None, flag("COL", "Identifier of the instances; by default the row.", options.ROLES)] = None
    weight: options.Weight = None
    order: options.Order = ""
    scale: options.Scale = None
    missing: options.MissingRows = "error"


@verb("Drift, raters, rankings", 2)
def agree(
    data: options.Data,
    rater: Annotated[
        list[str],
        flag(
            "NAME=DECISION[,SCORE]",
            "Columns of a rater: label and, optionally, a score from 0 to 1; repeat for each rater, or list columns of "
            "labels: ann,bob,cy.",
            options.ROLES,
        ),
    ],
    agree_options: AgreeOptions,
    compare: Annotated[
        list[str],
        flag(
            "RATER",
            "A judge, such as a language model: does it agree with the other raters, people, less than they agree with "
            "each other?",
            _JUDGE,
        ),
    ] = [],
    margin: Annotated[
        float | None, flag("X", "Show that the judge's agreement is at most X lower (non-inferiority).", _JUDGE)
    ] = None,
    epsilon: Annotated[
        float | None,
        flag(
            "X",
            "Alternative annotator test, with X granted to people: 0.2 experts, 0.15 skilled annotators, 0.1 crowd.",
            _JUDGE,
        ),
    ] = None,
    where: options.Where = None,
    sheet: options.Sheet = None,
    no_header: options.NoHeader = False,
    allow_remote: options.AllowRemote = False,
    tolerance: Annotated[
        float, flag("X", "Scores count as equal if they differ by at most X.", options.ROLES)
    ] = TOLERANCE,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None, flag("FILE", "Chart: .png .svg .pdf .html; all instances: .csv .json.", options.OUTPUT)
    ] = None,
    figure: FigureOptions = CHART_AS_DRAWN,
    report: options.Report = None,
    format: options.OutputFormat = "table",
) -> None:
    """Measure the agreement of raters (people or models): decisions, scores, and a smooth ROC curve for each rater.

    Also lists instances with equal scores but different decisions, and the reverse. --compare tests whether a judge
    agrees with people less than they agree with each other.

    Example: scorespace agree films.csv --rater Ann=ann,ann_score --rater Bob=bob,bob_score --positive yes

    Example: scorespace agree answers.csv --rater ann,bob,cy,llm --compare llm --margin 0.1
    """
    options.check_output(out, (*options.PICTURES, *options.DATA_FILES), data)
    options.check_output(report, (".html",), data)
    figure.check(out)
    settings = agree_options._asdict() | {"tolerance": tolerance, "level": level, "seed": seed}
    settings |= {"compare": options.split_columns(compare, data), "margin": margin, "epsilon": epsilon}
    agreement = agree_on(options.filter_rows(data, where), raters=_raters(rater), **settings)
    has_many_files = isinstance(data, list)
    name = f"{Path(data[0]).name} and {len(data) - 1} more" if has_many_files else Path(data).name
    if isinstance(agreement, RaterAgreement):
        if out is not None and out.suffix.lower() in options.PICTURES and not agreement.judged:
            raise DataError("the chart needs scores, and these raters have none.", hint="--out FILE.csv or .json")
        found = agreement
        page, draw = view.rating_document(found, name), (lambda: view.judge_chart(found)) if found.judged else None
        rows = lambda: list(found.differing)  # noqa: E731
    else:
        page, draw, rows = view.document(agreement, name), view.picture(agreement).draw, agreement.verdicts
    output.write_result(
        page,
        agreement.to_dict(),
        format,
        report=report,
        out=out,
        draw=figure.drawing(draw),
        rows=rows,
        out_label="agree",
    )


def _raters(texts: list[str]) -> dict[str, tuple[str, ...]]:
    raters: dict[str, tuple[str, ...]] = {}
    for name, columns in (one for text in texts for one in _columns(text)):
        if name in raters:
            raise ColumnError(f"rater {name!r} is named twice.", hint="use a different name for each rater")
        raters[name] = columns
    return raters


def _columns(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Split NAME=DECISION,SCORE or NAME=DECISION; a column alone is also the name of the rater.

    Three columns or more without a name are one rater each; two could be a decision and a score.
    """
    name, equals, columns = text.partition("=")
    listed = text.split(",")
    if not equals and len(listed) > 2 and all(listed):
        return [(one.strip(), (one.strip(),)) for one in listed]
    columns = columns if equals or "," in text else name
    parts = tuple(columns.split(","))
    if not (name and all(parts)) or len(parts) > 2:
        without_name = f"--rater {text.split(',')[0]}={text}"
        hint = "--rater NAME=DECISION,SCORE or NAME=DECISION" if "=" in text else without_name
        raise ColumnError(f"--rater {text} cannot be parsed.", hint=hint)
    return [(name, parts)]

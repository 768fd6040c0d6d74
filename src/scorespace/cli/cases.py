"""`scorespace cases`: hard and easy cases of a model."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from scorespace import io
from scorespace.cli import options, output
from scorespace.cli.common_options import CHART_AS_DRAWN, FigureOptions
from scorespace.cli.options import flag
from scorespace.cli.verbs import verb
from scorespace.curves.midpoint import MIDPOINTS
from scorespace.curves.midpoint import learn_midpoint as learned_midpoint
from scorespace.decisions.hard_cases import COLUMNS, SETS, HardCases, SubSample, cases_of_codes, subsample
from scorespace.errors import DataError, ScoreError
from scorespace.evaluation.assemble import evaluate_data
from scorespace.evaluation.evaluation import Evaluation
from scorespace.io.derived_scores import parse_scale, rescale
from scorespace.report import smooth as view
from scorespace.results import Note, Row
from scorespace.tables.threshold import to_scale_units, user_threshold

_LIST = "Selection of cases"


@verb("Evaluate models", 6)
def cases(
    data: options.Data,
    truth: options.Truth,
    score: Annotated[str, flag("COL", "Scores of the model, between 0 and 1.")],
    positive: options.Positive = None,
    scale: options.Scale = None,
    id: Annotated[str | None, flag("COL", "Case identifier; by default the row number from 1.", None, "--id")] = None,
    midpoint: Annotated[
        str, flag("RULE", f"Midpoint between low and high scores: {', '.join(MIDPOINTS)}, or a number.")
    ] = "mean",
    learn_midpoint: Annotated[
        str | None, flag("DATA", "Learn the midpoint on a validation sample with the same columns.")
    ] = None,
    zone: Annotated[
        Literal["easy", "rescued", "hard", "error"] | None, flag(None, "List only cases of this zone.", _LIST)
    ] = None,
    set: Annotated[
        Literal["high-positive", "low-negative", "low-positive", "high-negative", "all"] | None,
        flag(
            None,
            "Tabulate sets by side of the midpoint and class (all or one) against the predicted class.",
            _LIST,
        ),
    ] = None,
    at: Annotated[
        float | None, flag("T", "Threshold of the predicted class: TP, FN, FP or TN; default 0.5.", _LIST)
    ] = None,
    sample: Annotated[
        int | None, flag("N", "Propose a subsample of N cases with a similar curve.", _LIST, min=2)
    ] = None,
    most: Annotated[int, flag("N", "Maximum number of cases per zone.", _LIST, min=1)] = view.MOST,
    missing: options.MissingRows = "error",
    where: options.Where = None,
    sheet: options.Sheet = None,
    no_header: options.NoHeader = False,
    allow_remote: options.AllowRemote = False,
    out: Annotated[Path | None, flag("FILE", "All cases: .csv .json; chart: .png .svg .pdf .html.")] = None,
    figure: FigureOptions = CHART_AS_DRAWN,
    format: options.MaybeFormat = None,
) -> None:
    """List hard and easy cases of a model: scores near or far from the midpoint, correct or wrong.

    Example: scorespace cases credit.csv --truth outcome --positive bad --score naive_bayes --zone error
    """
    from scorespace.report.smooth_charts import zones_chart

    options.check_output(out, (*options.DATA_FILES, *options.PICTURES), data, learn_midpoint)
    figure.check(out)
    if [zone, set, sample].count(None) < 2:
        raise ScoreError("--zone, --set and --sample are alternatives.", hint="pass one of them")
    source = io.read(options.filter_rows(data, where))
    roles = io.resolve_roles(source, truth=truth, scores=options.split_columns([score], data), positive=positive)
    if [*roles.scores.values()] != [score]:
        raise ScoreError("cases are listed for one model.", hint="--score with the name of one column")
    if at is not None and math.isnan(at):
        raise ScoreError("--at nan is not a threshold.", hint="a number, such as --at 0.5")
    score_range = parse_scale(scale)
    source = rescale(source, [score], score_range)
    threshold = user_threshold(to_scale_units(0.5, score_range) if at is None else at, score_range)
    checked = io.validate(source, roles, missing=missing)
    columns = io.fetch_columns(checked, [truth, score, *([id] if id else [])])
    midpoint_value: str | float = midpoint
    with suppress(ValueError):  # the name of a rule, not a number
        midpoint_value = float(midpoint)
    if learn_midpoint is not None:
        if midpoint != "mean":
            raise DataError("--midpoint and --learn-midpoint are alternatives.", hint="pass one of them")
        roles_of_validation: dict[str, Any] = {"truth": truth, "scores": score, "positive": positive, "scale": scale}
        other = evaluate_data(learn_midpoint, **roles_of_validation, missing=missing, where=where)
        midpoint_value = learn_midpoints(other)[score]
    positive_label = None if checked.positive is None else checked.classes[checked.positive]
    hard_cases = cases_of_codes(
        columns[truth],
        columns[score],
        checked.classes,
        columns[id] if id else 1 + np.flatnonzero(io.used_rows(checked)),
        positive=positive_label,
        midpoint=midpoint_value,
        at=threshold,
    )
    selection = CaseOptions(
        zone,
        None if set is None else () if set == "all" else (set.replace("-", " and "),),
        None if sample is None else subsample(hard_cases, sample),
    )
    if out is not None:
        content_of_all = partial(_content, hard_cases, selection, checked.notes)
        draw = figure.drawing(lambda: zones_chart(hard_cases.table, hard_cases.zones))
        output.save(out, draw, content_of_all, header=COLUMNS)
        output.list_files(None, cases=out)
        if format is None:
            return
    format = format or "table"
    is_data = format in ("json", "csv")  # tables are shortened, data are complete
    content = _content(hard_cases, selection, checked.notes) if is_data else {}
    page = view.document(
        source.name,
        score,
        hard_cases,
        selection.zone,
        most,
        checked.notes,
        sets=selection.sets,
        subsample=selection.part,
    )
    output.write(page, content, format, header=COLUMNS)


def learn_midpoints(validation: Evaluation) -> dict[str, float]:
    """Midpoint of each model that maximises Youden's index on a validation sample."""
    return {name: learned_midpoint(table) for name, table in validation.models.items() if table.thresholded}


class CaseOptions(NamedTuple):
    """Selection of cases: a zone, sets with predicted classes (an empty tuple means all four), or a subsample."""

    zone: str | None
    sets: tuple[str, ...] | None
    part: SubSample | None

    def rows(self, hard_cases: HardCases, all_rows: list[Row]) -> list[Row]:
        """Rows of the selected cases."""
        if self.sets is not None:
            return [row for name in self.sets or SETS for row in hard_cases.members(name)]
        if self.part is not None:
            return [all_rows[position] for position in self.part.places]
        return all_rows if self.zone is None else hard_cases.of(self.zone)


def _content(hard_cases: HardCases, selection: CaseOptions, notes: tuple[Note, ...]) -> Row:
    content = hard_cases.to_dict()
    if selection.sets is not None:
        cells = hard_cases.contingency().tolist()
        counts = {
            name: dict(zip(("positive", "negative"), row, strict=True)) for name, row in zip(SETS, cells, strict=True)
        }
        content["decisions"] = {"at": hard_cases.at, "sets": counts}
    if selection.part is not None:
        content["sample"] = selection.part.facts()
    rows = selection.rows(hard_cases, content["rows"])
    return {**content, "rows": rows, "notes": [*(note.to_dict() for note in notes), *content["notes"]]}

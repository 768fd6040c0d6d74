"""`scorespace cases`: the hard and the easy cases of a model, one by one."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from scorespace import frames
from scorespace.cli import options, output
from scorespace.cli.options import flag
from scorespace.curves.midpoint import MIDPOINTS
from scorespace.curves.midpoint import learn_midpoint as learned_midpoint
from scorespace.decisions.cases import COLUMNS, SETS, Cases, SubSample, of_codes, sub_sample
from scorespace.errors import DataError, ScoreError
from scorespace.evaluation.enter import evaluate
from scorespace.evaluation.evaluation import Evaluation
from scorespace.frames.scale import scale_of, scaled
from scorespace.results import Note, Row
from scorespace.tables.threshold import in_units, typed_threshold
from scorespace.views import smooth as view

_LIST = "Which cases"


def cases(
    data: options.Data,
    truth: options.Truth,
    score: Annotated[str, flag("COL", "The model's scores, between 0 and 1.")],
    positive: options.Positive = None,
    scale: options.Scale = None,
    id: Annotated[str | None, flag("COL", "Names the cases; else rows are numbered from 1.", None, "--id")] = None,
    midpoint: Annotated[
        str, flag("RULE", f"What parts high from low scores: {', '.join(MIDPOINTS)}, or a number.")
    ] = "mean",
    learn_midpoint: Annotated[
        str | None, flag("DATA", "Instead: learn it on a validation sample with the same columns.")
    ] = None,
    zone: Annotated[
        Literal["easy", "rescued", "hard", "error"] | None, flag(None, "List the cases of one kind only.", _LIST)
    ] = None,
    set: Annotated[
        Literal["high-positive", "low-negative", "low-positive", "high-negative", "all"] | None,
        flag(
            None,
            "Instead: the sets by side of the midpoint and class, all or one of them, against the decisions.",
            _LIST,
        ),
    ] = None,
    at: Annotated[float | None, flag("T", "The threshold of the decisions beside --set; else half way.", _LIST)] = None,
    sample: Annotated[int | None, flag("N", "Propose N cases that keep the shape of the curve.", _LIST, min=2)] = None,
    most: Annotated[int, flag("N", "How many of each kind to list.", _LIST, min=1)] = view.MOST,
    missing: options.MissingRows = "error",
    where: options.Where = None,
    allow_remote: options.AllowRemote = False,
    out: Annotated[Path | None, flag("FILE", "All cases: .csv .json; their picture: .png .svg .pdf .html.")] = None,
    format: options.MaybeFormat = None,
) -> None:
    """List the hard and the easy cases of a model: in doubt or sure, right or wrong.

    Example: scorespace cases credit.csv --truth outcome --positive bad --score naive_bayes --zone error
    """
    from scorespace.views.charts.smooth import zones_chart

    options.check_output(out, (*options.DATA_FILES, *options.PICTURES), data, learn_midpoint)
    if [zone, set, sample].count(None) < 2:
        raise ScoreError("--zone, --set and --sample are three ways to choose cases.", hint="one of them at a time")
    source = frames.read(options.chosen(data, where))
    roles = frames.roles(source, truth=truth, scores=score, positive=positive)
    if score not in roles.scores.values():
        raise ScoreError("cases are those of one model.", hint="--score with the name of one column")
    if at is not None and math.isnan(at):
        raise ScoreError("--at nan is not a threshold.", hint="a number, such as --at 0.5")
    ends = scale_of(scale)
    source = scaled(source, [score], ends)
    cut = typed_threshold(in_units(0.5, ends) if at is None else at, ends)
    checked = frames.check(source, roles, missing=missing)
    columns = frames.columns(checked, [truth, score, *([id] if id else [])])
    middle: str | float = midpoint
    with suppress(ValueError):  # the name of a rule
        middle = float(midpoint)
    if learn_midpoint is not None:
        if midpoint != "mean":
            raise DataError("the midpoint is stated and learned.", hint="either --midpoint or --learn-midpoint")
        columns_of: dict[str, Any] = {"truth": truth, "scores": score, "positive": positive, "scale": scale}
        other = evaluate(learn_midpoint, **columns_of, missing=missing)
        middle = learned(other)[score]
    named = None if checked.positive is None else checked.classes[checked.positive]
    found = of_codes(
        columns[truth],
        columns[score],
        checked.classes,
        columns[id] if id else 1 + np.flatnonzero(frames.rows_in_use(checked)),
        positive=named,
        midpoint=middle,
    )
    asked = Asked(
        zone,
        None if set is None else () if set == "all" else (set.replace("-", " and "),),
        cut,
        None if sample is None else sub_sample(found, sample),
    )
    if out is not None:
        whole = partial(_content, found, asked, checked.notes)
        output.save(out, lambda: zones_chart(found.table, found.zones), whole, header=COLUMNS)
        output.wrote(None, cases=out)
        if format is None:
            return
    format = format or "table"
    listed = format in ("json", "csv")  # people see a few cases, programs all of them
    content = _content(found, asked, checked.notes) if listed else {}
    page = view.document(
        source.name, score, found, asked.zone, most, checked.notes, sets=asked.sets, at=cut, part=asked.part
    )
    output.write(page, content, format, header=COLUMNS)


def learned(validation: Evaluation) -> dict[str, float]:
    """The midpoint of each model with the highest Youden index on a validation sample."""
    return {name: learned_midpoint(table) for name, table in validation.models.items() if table.thresholded}


class Asked(NamedTuple):
    """Which cases are listed: of a zone, of sets (none named: of all four) with the decisions, or a part of them."""

    zone: str | None
    sets: tuple[str, ...] | None
    at: float
    part: SubSample | None

    def rows(self, found: Cases, every: list[Row]) -> list[Row]:
        """The rows of the cases that are asked for."""
        if self.sets is not None:
            return [row for name in self.sets or SETS for row in found.members(name)]
        if self.part is not None:
            return [every[place] for place in self.part.places]
        return every if self.zone is None else found.of(self.zone)


def _content(found: Cases, asked: Asked, notes: tuple[Note, ...]) -> Row:
    content = found.to_dict()
    if asked.sets is not None:
        cells = found.contingency(asked.at).tolist()
        counts = {
            name: dict(zip(("positive", "negative"), row, strict=True)) for name, row in zip(SETS, cells, strict=True)
        }
        content["decisions"] = {"at": asked.at, "sets": counts}
    if asked.part is not None:
        content["sample"] = asked.part.facts()
    rows = asked.rows(found, content["rows"])
    return {**content, "rows": rows, "notes": [*(one.to_dict() for one in notes), *content["notes"]]}

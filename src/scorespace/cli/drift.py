"""`scorespace drift`: did scores, calibration or prevalence move between two samples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from scorespace.cli import options, output
from scorespace.cli.given import Given, only
from scorespace.cli.options import flag, switch
from scorespace.errors import DataError, listing
from scorespace.evaluation.samples import drift as drift_of
from scorespace.evaluation.samples import match, monitor
from scorespace.samples.drift import REPLICATES
from scorespace.samples.match import Matches
from scorespace.samples.monitor import Monitoring
from scorespace.samples.moved import Drift
from scorespace.views import drift as view
from scorespace.views import monitor as monitor_view

_ALIKE = ("truth", "positive", "scale", "missing", "memory")


def drift(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="The earlier sample: a file, as for evaluate.")],
    after: Annotated[
        list[str],
        typer.Argument(
            metavar="AFTER...",
            help="The later sample; without the column of the truth, scores alone. Of several, which one matches, "
            "or with --over-time whether something moved.",
        ),
    ],
    given: Annotated[Given, only("score", "name", "where", "allow_remote", *_ALIKE)],
    weight: Annotated[str | None, flag("COL", "How often each row occurred, or what it weighs.")] = None,
    over_time: Annotated[
        bool,
        switch(
            "--over-time", "The later samples are batches in this order: an alarm when something moved, and no other."
        ),
    ] = False,
    by: Annotated[
        str | None,
        flag(
            "COL",
            "The batches of one later sample over time: each value of a column, or COL(every=week) of dates.",
        ),
    ] = None,
    fail_on_alarm: Annotated[
        bool, switch("--fail-on-alarm", "Of batches over time: exit with 1 where there is an alarm.")
    ] = False,
    replicates: Annotated[int, flag("N", "Permutations behind each p-value.", options.OUTPUT)] = REPLICATES,
    seed: Annotated[int, flag(None, "Seed of the permutations.", options.OUTPUT, min=0)] = 0,
    out: Annotated[
        Path | None, flag("FILE", "Where to draw: .png .svg .pdf .html; .csv .json for the numbers.", options.OUTPUT)
    ] = None,
    report: options.Report = None,
    format: options.OutputFormat = "table",
) -> None:
    """Tell what moved between two samples: prevalence, the scores, or what the scores mean.

    Of batches over time it raises an alarm when something moved: over all of them, a false one has a chance of 5 %.

    A shift of prevalence changes the scores and their calibration by itself; it is then named as that alone. Of several
    later samples, it tells which one matches.

    Example: scorespace drift spring.csv autumn.csv --truth outcome --positive bad --score naive_bayes --out drift.png

    Example: scorespace drift spring.json monday.csv tuesday.csv --over-time --truth outcome --score p --report d.html
    """
    options.check_output(out, (*options.PICTURES, *options.DATA_FILES), before, *after)
    options.check_output(report, (".html",), before, *after)
    names = {Path(one).name: one for one in after}
    if len(names) < len(after):
        raise DataError("two samples have the same name.", seen=listing(after), hint="a name for each file")
    timed = over_time or by is not None
    if fail_on_alarm and not timed:
        raise DataError("--fail-on-alarm is for batches over time.", hint="--over-time, or --by COL")
    if by is not None and len(after) > 1:
        raise DataError("--by makes batches of one file.", seen=listing(after), hint="one AFTER, or --over-time")
    if len(after) > 1 and not timed and out is not None and out.suffix.lower() not in options.DATA_FILES:
        raise DataError("a picture is of two samples.", seen=listing(after), hint="one AFTER, or --out FILE.csv")
    with output.progress("permuting") as progress:
        named: dict[str, Any] = {name: getattr(given, name) for name in _ALIKE}
        named |= {"scores": given.score, "names": options.renames(given.name), "weight": weight}
        named |= {"replicates": replicates, "seed": seed, "progress": progress}
        earlier = options.chosen(before, given.where)
        later = {name: options.chosen(one, given.where) for name, one in names.items()}
        found: Drift | Matches | Monitoring
        draw = None
        if timed:
            batches = later if by is None else next(iter(later.values()))
            found = monitor(earlier, batches, by=by, name=Path(before).name, **named)
            draw = monitor_view.picture(found).draw
            page = monitor_view.document(found)
        elif len(after) == 1:
            found = drift_of(earlier, next(iter(later.values())), **named)
            draw = view.picture(found).draw
            page = view.document(found, (Path(before).name, Path(after[0]).name))
        else:
            found = match(earlier, later, name=Path(before).name, **named)
            page = view.match_document(found)
    content = found.to_dict()
    output.result(page, content, format, report=report, out=out, draw=draw, rows=found.rows, called="drift")
    if fail_on_alarm and content["alarm"] is not None:
        raise typer.Exit(1)

"""`scorespace drift`: test for changes of prevalence, scores or calibration between samples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from scorespace.cli import options, output
from scorespace.cli.common_options import CHART_AS_DRAWN, DataOptions, FigureOptions, only
from scorespace.cli.options import flag, switch
from scorespace.cli.verbs import verb
from scorespace.drift.drift import REPLICATES
from scorespace.drift.monitor import Monitoring
from scorespace.drift.nearest_sample import SampleMatches
from scorespace.drift.result import Drift
from scorespace.errors import DataError, listing
from scorespace.evaluation.stability import stability
from scorespace.evaluation.two_samples import drift as drift_of
from scorespace.evaluation.two_samples import match, monitor
from scorespace.report import drift as view
from scorespace.report import stability as stability_view

_COMMON_NAMES = ("truth", "positive", "scale", "missing", "memory")  # the same here and in the library


@verb("Drift, raters, rankings", 1)
def drift(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="Reference sample: a file, as for evaluate.")],
    after: Annotated[
        list[str],
        typer.Argument(
            metavar="AFTER...",
            help="New sample; without the truth column, only scores are compared. Several: the most similar one is "
            "found, or with --over-time they are monitored as batches.",
        ),
    ],
    data_options: Annotated[DataOptions, only("score", "name", "where", "allow_remote", *_COMMON_NAMES)],
    weight: Annotated[str | None, flag("COL", "Case weights or counts.")] = None,
    measures: Annotated[
        list[str],
        flag(
            "NAMES",
            "Instead of the tests: psi, csi, migration, or measures of both samples such as gini; separated by commas.",
            None,
            "--measures",
        ),
    ] = [],
    feature: Annotated[list[str], flag("COL", "Characteristic for csi, or a pattern such as 'x*'; repeatable.")] = [],
    id: Annotated[str | None, flag("COL", "Names the cases of both samples, for migration.")] = None,
    order: Annotated[str, flag("LIST", "Grades from the best to the worst, for migration.")] = "",
    over_time: Annotated[
        bool,
        switch("--over-time", "Monitor the new samples as batches in this order; the first change raises an alarm."),
    ] = False,
    by: Annotated[
        str | None,
        flag(
            "COL",
            "Monitor one new sample in batches: by the values of a column, or COL(every=week) for dates.",
        ),
    ] = None,
    fail_on_alarm: Annotated[bool, switch("--fail-on-alarm", "With monitoring: exit with 1 on an alarm.")] = False,
    replicates: Annotated[int, flag("N", "Permutations per p-value.", options.OUTPUT)] = REPLICATES,
    seed: Annotated[int, flag(None, "Seed of the permutations.", options.OUTPUT, min=0)] = 0,
    out: Annotated[
        Path | None, flag("FILE", "Chart: .png .svg .pdf .html; numbers: .csv .json.", options.OUTPUT)
    ] = None,
    figure: FigureOptions = CHART_AS_DRAWN,
    report: options.Report = None,
    format: options.OutputFormat = "table",
) -> None:
    """Test what changed between two samples: prevalence, score distribution, or calibration.

    Monitoring of batches over time (--over-time, --by) has a false alarm probability of 5 % over all batches.

    A change of prevalence also changes scores and calibration; it is then reported as the only change. With several
    new samples, the one most similar to the reference is reported.

    Example: scorespace drift spring.csv autumn.csv --truth outcome --positive bad --score naive_bayes --out drift.png

    Example: scorespace drift spring.csv autumn.csv --score points --feature 'x*' --measures psi,csi

    Example: scorespace drift spring.json monday.csv tuesday.csv --over-time --truth outcome --score p --report d.html
    """
    options.check_output(out, (*options.PICTURES, *options.DATA_FILES), before, *after)
    options.check_output(report, (".html",), before, *after)
    figure.check(out)
    names = {Path(path).name: path for path in after}
    if len(names) < len(after):
        raise DataError("two samples have the same name.", seen=listing(after), hint="rename one of the files")
    is_monitoring = over_time or by is not None
    if fail_on_alarm and not is_monitoring:
        raise DataError("--fail-on-alarm needs batches over time.", hint="--over-time, or --by COL")
    if by is not None and len(after) > 1:
        raise DataError("--by splits one file into batches.", seen=listing(after), hint="one AFTER, or --over-time")
    scores = options.split_columns(data_options.score, before)
    if measures or feature or id is not None:
        refuse_over_time = over_time or by is not None or len(after) > 1 or weight is not None
        if refuse_over_time or (out is not None and out.suffix.lower() not in options.DATA_FILES):
            raise DataError(
                "--measures compares two samples, without weights, as a table.",
                hint="one AFTER, without --over-time and --by; --out FILE.csv or --report FILE.html",
            )
        stable = stability(
            options.filter_rows(before, data_options.where),
            options.filter_rows(after[0], data_options.where),
            scores=scores,
            features=feature,
            measures=measures or ("psi", "csi"),
            truth=data_options.truth,
            positive=data_options.positive,
            names=options.renames(data_options.name),
            id=id,
            order=order,
            seed=seed,
        )
        page = stability_view.document(stable, (Path(before).name, Path(after[0]).name))
        output.write_result(
            page, stable.to_dict(), format, report=report, out=out, draw=None, rows=stable.rows, out_label="drift"
        )
        return
    with output.progress("permutations") as progress:
        settings: dict[str, Any] = {name: getattr(data_options, name) for name in _COMMON_NAMES}
        settings |= {"scores": scores, "names": options.renames(data_options.name), "weight": weight}
        settings |= {"replicates": replicates, "seed": seed, "progress": progress}
        reference = options.filter_rows(before, data_options.where)
        samples = {name: options.filter_rows(path, data_options.where) for name, path in names.items()}
        result: Drift | SampleMatches | Monitoring
        draw = None
        if is_monitoring:
            batches = samples if by is None else next(iter(samples.values()))
            result = monitor(reference, batches, by=by, name=Path(before).name, **settings)
            draw = view.monitor_picture(result).draw
            page = view.monitor_document(result)
        elif len(after) == 1:
            result = drift_of(reference, next(iter(samples.values())), **settings)
            draw = view.picture(result).draw
            page = view.document(result, (Path(before).name, Path(after[0]).name))
        else:
            result = match(reference, samples, name=Path(before).name, **settings)
            draw = view.match_picture(result).draw
            page = view.match_document(result)
    content = result.to_dict()
    output.write_result(
        page, content, format, report=report, out=out, draw=figure.drawing(draw), rows=result.rows, out_label="drift"
    )
    if fail_on_alarm and content["alarm"] is not None:
        raise typer.Exit(1)

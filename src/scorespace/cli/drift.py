"""`scorespace drift`: did scores, calibration or prevalence move between two samples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.evaluation.samples import drift as drift_of
from scorespace.files import write_file
from scorespace.samples.drift import REPLICATES
from scorespace.samples.moved import Drift
from scorespace.views import drift as view
from scorespace.views import tidy

_OUTPUT = "Output"


def drift(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="The earlier sample: a file, as for evaluate.")],
    after: Annotated[
        str, typer.Argument(metavar="AFTER", help="The later sample; without the column of the truth, scores alone.")
    ],
    truth: options.MaybeTruth = None,
    score: options.Score = [],  # noqa: B006 - Typer copies defaults
    positive: options.Positive = None,
    name: options.Name = [],  # noqa: B006
    missing: options.MissingRows = options.Missing.error,
    allow_remote: options.AllowRemote = False,
    memory: options.Memory = None,
    replicates: Annotated[
        int, typer.Option(metavar="N", help="Permutations behind each p-value.", rich_help_panel=_OUTPUT)
    ] = REPLICATES,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the permutations.", rich_help_panel=_OUTPUT)] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where to draw: .png .svg .pdf .html; .csv .json for the numbers.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """Tell what moved between two samples: prevalence, the scores, or what the scores mean.

    A shift of prevalence changes the scores and their calibration by itself; it is then named as that alone.

    Example: scorespace drift spring.csv autumn.csv --truth outcome --positive bad --score nb --out drift.png
    """
    options.check_output(out, (*options.PICTURES, *options.DATA_FILES), before, after)
    with output.progress("permuting") as progress:
        found = drift_of(
            before,
            after,
            truth=truth,
            scores=score,
            positive=positive,
            names=options.renames(name),
            missing=missing.value,
            memory=memory,
            replicates=replicates,
            seed=seed,
            progress=progress,
        )
    page = view.document(found, (Path(before).name, Path(after).name))
    if out is not None:
        _write(found, out)
    output.write(page.brief(), found.to_dict(), format)
    if out is not None:
        typer.echo(f"drift  {out}", err=True)


def _write(found: Drift, out: Path) -> None:
    match out.suffix.lower():
        case ".csv":
            write_file(out, tidy.as_csv(found.rows()).encode())
        case ".json":
            write_file(out, tidy.as_json(found.to_dict()).encode())
        case _:
            from scorespace.views.charts.drift import drift_chart
            from scorespace.views.charts.files import save

            save(drift_chart(found), out)

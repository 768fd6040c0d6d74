"""`scorespace drift`: did scores, calibration or prevalence move between two samples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from scorespace.cli import options, output
from scorespace.cli.options import flag
from scorespace.errors import DataError, listing
from scorespace.evaluation.samples import drift as drift_of
from scorespace.evaluation.samples import match
from scorespace.files import write_file
from scorespace.samples.drift import REPLICATES
from scorespace.samples.match import Matches
from scorespace.samples.moved import Drift
from scorespace.views import drift as view
from scorespace.views import tidy


def drift(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="The earlier sample: a file, as for evaluate.")],
    after: Annotated[
        list[str],
        typer.Argument(
            metavar="AFTER...",
            help="The later sample; without the column of the truth, scores alone. Of several, which one matches.",
        ),
    ],
    truth: options.MaybeTruth = None,
    score: options.Score = [],
    positive: options.Positive = None,
    name: options.Name = [],
    weight: Annotated[str | None, flag("COL", "How often each row occurred, or what it weighs.")] = None,
    scale: options.Scale = None,
    missing: options.MissingRows = options.Missing.error,
    where: options.Where = None,
    allow_remote: options.AllowRemote = False,
    memory: options.Memory = None,
    replicates: Annotated[int, flag("N", "Permutations behind each p-value.", options.OUTPUT)] = REPLICATES,
    seed: Annotated[int, flag(None, "Seed of the permutations.", options.OUTPUT, min=0)] = 0,
    out: Annotated[
        Path | None, flag("FILE", "Where to draw: .png .svg .pdf .html; .csv .json for the numbers.", options.OUTPUT)
    ] = None,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """Tell what moved between two samples: prevalence, the scores, or what the scores mean.

    A shift of prevalence changes the scores and their calibration by itself; it is then named as that alone. Of several
    later samples, it tells which one matches.

    Example: scorespace drift spring.csv autumn.csv --truth outcome --positive bad --score nb --out drift.png
    """
    options.check_output(out, (*options.PICTURES, *options.DATA_FILES), before, *after)
    names = {Path(one).name: one for one in after}
    if len(names) < len(after):
        raise DataError("two samples have the same name.", seen=listing(after), hint="a name for each file")
    if len(after) > 1 and out is not None and out.suffix.lower() not in options.DATA_FILES:
        raise DataError("a picture is of two samples.", seen=listing(after), hint="one AFTER, or --out FILE.csv")
    with output.progress("permuting") as progress:
        named: dict[str, Any] = {
            "truth": truth,
            "scores": score,
            "positive": positive,
            "names": options.renames(name),
            "weight": weight,
            "scale": scale,
            "missing": missing.value,
            "memory": memory,
            "replicates": replicates,
            "seed": seed,
            "progress": progress,
        }
        earlier, later = (
            options.chosen(before, where),
            {name: options.chosen(one, where) for name, one in names.items()},
        )
        found: Drift | Matches
        if len(after) == 1:
            found = drift_of(earlier, next(iter(later.values())), **named)
            page = view.document(found, (Path(before).name, Path(after[0]).name)).brief()
        else:
            found = match(earlier, later, name=Path(before).name, **named)
            page = view.match_document(found)
    if out is not None:
        _write(found, out)
    output.write(page, found.to_dict(), format)
    if out is not None:
        typer.echo(f"drift  {out}", err=True)


def _write(found: Drift | Matches, out: Path) -> None:
    match out.suffix.lower():
        case ".csv":
            write_file(out, tidy.as_csv(found.rows()).encode())
        case ".json":
            write_file(out, tidy.as_json(found.to_dict()).encode())
        case _:
            assert isinstance(found, Drift)
            from scorespace.views.charts.drift import drift_chart
            from scorespace.views.charts.files import save

            save(drift_chart(found), out)

"""`scorespace clusters`: how well apart clusters are, and how well they agree with known classes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from scorespace.cli import options, output
from scorespace.cli.options import flag
from scorespace.errors import ColumnError


class Asked(NamedTuple):
    """What is asked of the clusters, by the names that `clusters` of the library has for it."""

    labels: Annotated[list[str], flag("COL", "The cluster of each point; repeatable.", options.ROLES, "--label")] = []
    features: Annotated[
        list[str],
        flag("COL", "A column of numbers, or a pattern such as 'x*'; repeatable.", options.ROLES, "--feature"),
    ] = []
    truth: Annotated[str | None, flag("COL", "The known class of each point.", options.ROLES)] = None
    noise: Annotated[str | None, flag("LABEL", "The label of points in no cluster, such as -1.", options.ROLES)] = None
    weight: options.Weight = None
    group: options.Group = None
    missing: options.MissingRows = "error"
    scale: Annotated[
        Literal["none", "standard"], flag(None, "Features as they are, or divided by their standard deviation.")
    ] = "none"
    measures: Annotated[
        str | None, flag("LIST", 'Such as "silhouette, radius(how=mean), silhouette[a]".', options.OUTPUT)
    ] = None
    resamples: Annotated[
        int, flag(None, "How often points are drawn again to see whether clusters hold.", options.OUTPUT, min=0)
    ] = 100
    level: options.Level = 0.95
    seed: options.Seed = 0


def clusters(
    data: options.Data,
    asked: Asked,
    where: options.Where = None,
    allow_remote: options.AllowRemote = False,
    report: options.Report = None,
    out: Annotated[Path | None, flag("FILE", "Where to draw the points: .png .svg .pdf .html.", options.OUTPUT)] = None,
    format: options.OutputFormat = "table",
) -> None:
    """Judge clusters: how far apart, how wide, how dense, whether they hold, and whether they are known classes.

    Example: scorespace clusters points.csv --label kmeans --label ward --feature 'x*' --report clusters.html
    """
    if not asked.labels:
        raise ColumnError("no column of labels is named.", hint="--label COL")
    options.check_output(report, (".html",), data)
    options.check_output(out, options.PICTURES, data)
    from scorespace.groups.clusters import clusters as judge  # loads what it computes with
    from scorespace.views import clusters as view

    with output.progress("looking at the clusters") as progress:
        found = judge(options.chosen(data, where), **asked._asdict(), progress=progress)
    shown, draw = view.document(found), view.picture(found).draw
    output.result(shown, found.to_dict(), format, report=report, out=out, draw=draw)

"""`scorespace clusters`: validity and stability of clusterings, and agreement with known classes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from scorespace.cli import options, output
from scorespace.cli.common_options import CHART_AS_DRAWN, FigureOptions
from scorespace.cli.options import flag
from scorespace.cli.verbs import verb
from scorespace.errors import ColumnError


class ClusterOptions(NamedTuple):
    """Options of `clusters` in the library, under the same names."""

    labels: Annotated[list[str], flag("COL", "Cluster label of each point; repeatable.", options.ROLES, "--label")] = []
    features: Annotated[
        list[str],
        flag("COL", "Numeric feature, or a pattern such as 'x*'; repeatable.", options.ROLES, "--feature"),
    ] = []
    truth: Annotated[str | None, flag("COL", "Known class of each point.", options.ROLES)] = None
    noise: Annotated[str | None, flag("LABEL", "Label of points in no cluster, such as -1.", options.ROLES)] = None
    weight: options.Weight = None
    group: options.Group = None
    missing: options.MissingRows = "error"
    scale: Annotated[
        Literal["none", "standard"], flag(None, "Use features unscaled, or divided by their standard deviation.")
    ] = "none"
    measures: Annotated[
        str | None, flag("LIST", 'Such as "silhouette, radius(how=mean), silhouette[a]".', options.OUTPUT)
    ] = None
    resamples: Annotated[
        int, flag(None, "Number of bootstrap resamples for the stability of clusters.", options.OUTPUT, min=0)
    ] = 100
    level: options.Level = 0.95
    seed: options.Seed = 0


@verb("Data, clusters, learners", 2)
def clusters(
    data: options.Data,
    cluster_options: ClusterOptions,
    where: options.Where = None,
    sheet: options.Sheet = None,
    no_header: options.NoHeader = False,
    allow_remote: options.AllowRemote = False,
    report: options.Report = None,
    out: Annotated[Path | None, flag("FILE", "Chart of the points: .png .svg .pdf .html.", options.OUTPUT)] = None,
    figure: FigureOptions = CHART_AS_DRAWN,
    format: options.OutputFormat = "table",
) -> None:
    """Evaluate clusterings: separation, compactness, density, stability, and agreement with known classes.

    Example: scorespace clusters points.csv --label kmeans --label ward --feature 'x*' --report clusters.html
    """
    if not cluster_options.labels:
        raise ColumnError("no column of cluster labels is named.", hint="--label COL")
    options.check_output(report, (".html",), data)
    options.check_output(out, options.PICTURES, data)
    figure.check(out)
    from scorespace.report import clusters as view
    from scorespace.unsupervised.clusters import clusters as evaluate_clusters  # imports SciPy

    with output.progress("evaluating clusters") as progress:
        result = evaluate_clusters(options.filter_rows(data, where), **cluster_options._asdict(), progress=progress)
    page, draw = view.document(result), view.picture(result).draw
    output.write_result(page, result.to_dict(), format, report=report, out=out, draw=figure.drawing(draw))

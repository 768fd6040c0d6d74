"""`scorespace table`: write sufficient statistics of models, to merge and evaluate elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from scorespace.cli import options, output
from scorespace.cli.common_options import DataOptions, only
from scorespace.cli.options import flag, switch
from scorespace.cli.verbs import verb
from scorespace.errors import DataError
from scorespace.evaluation.tabulate import count_tables
from scorespace.io import TableCollection, is_table_file, load_tables, save_tables

_COMMON_NAMES = (
    *("truth", "positive", "weight", "weights", "missing", "where", "memory", "precision", "engine", "master"),
)  # the same here and in the library
_OPTIONS = only("score", "decision", "name", "allow_remote", *_COMMON_NAMES)


@verb("Data, clusters, learners", 6)
def table(
    data: options.Data,
    out: Annotated[Path, flag("FILE.parquet", "Output file.")],
    data_options: Annotated[DataOptions, _OPTIONS],
    at: Annotated[list[float], flag("THRESHOLD", "Keep counts exact at this threshold; repeatable.")] = [],
    bins: Annotated[bool, switch("--bins", "Bin the scores even if they fit in memory.")] = False,
    pairs: Annotated[bool, switch("--pairs", "Also store joint tables of all pairs of models, for compare.")] = False,
) -> None:
    """Write sufficient statistics of models (counts without cases), to merge and evaluate elsewhere.

    Merges table files if DATA names such files: scorespace table 'shard-*.parquet' --out all.parquet

    Example: scorespace table credit.csv --truth outcome --positive bad --score naive_bayes --out credit.tables.parquet
    """
    options.check_output(out, (".parquet",), data)
    if data_options.engine != "spark" and is_table_file(data):
        if data_options.truth is not None or data_options.score or data_options.decision:
            raise DataError(f"{data} holds tables, which have no columns.", hint="leave out the columns")
        tables: TableCollection = load_tables(data)
    else:
        settings = {name: getattr(data_options, name) for name in _COMMON_NAMES}
        settings |= {
            "scores": options.split_columns(data_options.score, data),
            "decisions": options.split_columns(data_options.decision, data),
            "names": options.renames(data_options.name),
        }
        tables = count_tables(data, at=at, bins=bins, pairs=pairs, **settings)
    save_tables(tables, out)
    for model, model_table in tables.tables.items():
        output.write_line(f"{model}  {model_table!r}")

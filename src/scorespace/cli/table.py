"""`scorespace table`: the tables alone, to merge and evaluate elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from scorespace.cli import options, output
from scorespace.cli.given import Given, only
from scorespace.cli.options import flag, switch
from scorespace.errors import DataError
from scorespace.evaluation.tabulate import count_tables
from scorespace.frames import Tables, holds_tables, load_tables, save_tables

_ALIKE = ("truth", "positive", "weight", "weights", "missing", "where", "memory", "precision", "engine", "master")
_TAKEN = only("score", "decision", "name", "allow_remote", *_ALIKE)


def table(
    data: options.Data,
    out: Annotated[Path, flag("FILE.parquet", "Where the tables are written.")],
    given: Annotated[Given, _TAKEN],
    at: Annotated[list[float], flag("THRESHOLD", "A threshold at which outcomes stay exact; repeatable.")] = [],
    bins: Annotated[bool, switch("--bins", "Count scores in bins however few they are.")] = False,
    pairs: Annotated[
        bool, switch("--pairs", "Count every two models together, too, so that they can be compared.")
    ] = False,
) -> None:
    """Write the tables of models, which hold no cases, to merge and evaluate them elsewhere.

    Tables of several files are merged where DATA names such: scorespace table 'shard-*.parquet' --out all.parquet

    Example: scorespace table credit.csv --truth outcome --positive bad --score naive_bayes --out credit.tables.parquet
    """
    options.check_output(out, (".parquet",), data)
    if given.engine != "spark" and holds_tables(data):
        if given.truth is not None or given.score or given.decision:
            raise DataError(f"{data} holds tables, which have no columns.", hint="leave out the columns")
        held: Tables = load_tables(data)
    else:
        asked = {name: getattr(given, name) for name in _ALIKE}
        asked |= {"scores": given.score, "decisions": given.decision, "names": options.renames(given.name)}
        held = count_tables(data, at=at, bins=bins, pairs=pairs, **asked)
    save_tables(held, out)
    for model, one in held.tables.items():
        output.line(f"{model}  {one!r}")

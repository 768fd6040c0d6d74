"""`scorespace table`: the tables alone, to merge and evaluate elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from scorespace.cli import options, output
from scorespace.cli.options import flag, switch
from scorespace.errors import DataError
from scorespace.evaluation.tabulate import count_tables
from scorespace.frames import Tables, holds_tables, load_tables, save_tables


def table(
    data: options.Data,
    out: Annotated[Path, flag("FILE.parquet", "Where the tables are written.")],
    truth: options.MaybeTruth = None,
    score: options.Score = [],
    decision: options.Decision = [],
    positive: options.Positive = None,
    name: options.Name = [],
    weight: options.Weight = None,
    weights: options.Weights = "cases",
    missing: options.MissingRows = "error",
    where: options.Where = None,
    allow_remote: options.AllowRemote = False,
    at: Annotated[list[float], flag("THRESHOLD", "A threshold at which outcomes stay exact; repeatable.")] = [],
    bins: Annotated[bool, switch("--bins", "Count scores in bins however few they are.")] = False,
    pairs: Annotated[
        bool, switch("--pairs", "Count every two models together, too, so that they can be compared.")
    ] = False,
    memory: options.Memory = None,
    precision: options.Precision = None,
    engine: options.Engine = None,
    master: options.Master = None,
) -> None:
    """Write the tables of models, which hold no cases, to merge and evaluate them elsewhere.

    Tables of several files are merged where DATA names such: scorespace table 'shard-*.parquet' --out all.parquet

    Example: scorespace table credit.csv --truth outcome --positive bad --score naive_bayes --out credit.tables.parquet
    """
    options.check_output(out, (".parquet",), data)
    if engine != "spark" and holds_tables(data):
        if truth is not None or score or decision:
            raise DataError(f"{data} holds tables, which have no columns.", hint="leave out the columns")
        held: Tables = load_tables(data)
    else:
        held = count_tables(
            data,
            truth=truth,
            scores=score,
            decisions=decision,
            positive=positive,
            names=options.renames(name),
            weight=weight,
            weights=weights,
            where=where,
            missing=missing,
            at=at,
            bins=bins,
            pairs=pairs,
            memory=memory,
            precision=precision,
            engine=engine,
            master=master,
        )
    save_tables(held, out)
    for model, one in held.tables.items():
        output.line(f"{model}  {one!r}")

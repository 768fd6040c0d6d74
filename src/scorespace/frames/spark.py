"""Data on a cluster: Spark reads it, groups it where it is, and sends back tables."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import urlsplit

from scorespace.errors import DataError
from scorespace.frames.engine import told
from scorespace.frames.roles import Roles
from scorespace.frames.source import Source, frame_source

ENGINES: Final = ("duckdb", "spark")
_QUIET: Final = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
_READERS: Final = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".orc": "orc",
}


def check_engine(engine: str | None, master: str | None) -> None:
    """Refuse an engine that there is not, and a cluster for another one than Spark."""
    if engine is not None and engine not in ENGINES:
        raise DataError(f"engine={engine!r} is unknown.", seen=f"engines: {', '.join(ENGINES)}", hint='engine="spark"')
    if master is not None and engine != "spark":
        raise DataError(f"master={master!r} is the address of a Spark cluster.", hint='engine="spark" beside it')


def refuse_on_cluster(roles: Roles, grouped: bool = False) -> None:
    """Refuse what would bring the cases themselves here: only tables leave a cluster."""
    asked = {
        "groups of cases, beyond their scores,": grouped,
        "numbers with intervals": roles.numbers and not roles.summed,
    }
    for what, wanted in asked.items():
        if wanted:
            raise DataError(
                f"{what} are not counted on a cluster.",
                seen="they need each case, and only tables leave it",
                hint="a sample of the rows as a frame of pandas, polars or pyarrow",
            )


def spark_source(data: Any, master: str | None = None) -> Source:
    """The columns of files that the workers of a Spark cluster read; without `master`, Spark's own setting."""
    if not isinstance(data, (str, os.PathLike)):
        return frame_source(data)
    path = os.fsdecode(data)
    ending = os.path.splitext(urlsplit(path).path.removesuffix("/").removesuffix(".gz"))[1].lower()
    if ending and ending not in _READERS:
        raise DataError(
            f"{os.path.basename(path)} has an ending that Spark does not read here.",
            seen=repr(ending),
            hint=f"one of {', '.join(_READERS)}, or a folder of Parquet files",
        )
    with told(os.path.basename(path)):
        reader = _session(master).read
        kind = _READERS.get(ending, "parquet")
        if kind == "csv":
            reader = reader.option("header", True).option("inferSchema", True).option("mode", "FAILFAST")
            reader = reader.option("sep", "\t" if ending == ".tsv" else ",")
        frame = reader.format(kind).load(path)
    return replace(frame_source(frame), name=os.path.basename(path.removesuffix("/")))


def _session(master: str | None) -> Any:
    """The session of this process, or a quiet one of its own."""
    if find_spec("pyspark") is None:
        raise DataError("Spark is not installed.", hint="pip install 'scorespace[spark]', and Java 17 or newer")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("scorespace")
    for key, value in _QUIET.items():
        builder = builder.config(key, value)
    return (builder if master is None else builder.master(master)).getOrCreate()

"""Read data on a Spark cluster, which groups rows and returns only tables."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import urlsplit

from scorespace.errors import DataError
from scorespace.io.duckdb_engine import engine_errors
from scorespace.io.roles import Roles
from scorespace.io.source import Source, frame_source

ENGINES: Final = ("duckdb", "spark")
_QUIET_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
_READERS: Final = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".orc": "orc",
}


def check_engine(engine: str | None, master: str | None) -> None:
    """Refuse an unknown engine, and a cluster address for an engine other than Spark."""
    if engine is not None and engine not in ENGINES:
        raise DataError(f"engine={engine!r} is unknown.", seen=f"engines: {', '.join(ENGINES)}", hint='engine="spark"')
    if master is not None and engine != "spark":
        raise DataError(f"master={master!r} is the address of a Spark cluster.", hint='add engine="spark"')


def refuse_unsupported_on_cluster(roles: Roles, grouped: bool = False) -> None:
    """Refuse what needs individual cases, since only tables leave a cluster."""
    unsupported = {
        "groups, other than for scores,": grouped,
        "predictions with intervals": roles.numbers and not roles.summed,
    }
    for feature, is_requested in unsupported.items():
        if is_requested:
            raise DataError(
                f"{feature} are not supported on a cluster.",
                seen="they need individual cases, but only tables leave the cluster",
                hint="a sample of the rows as a pandas, polars or pyarrow frame",
            )


def spark_source(data: Any, master: str | None = None) -> Source:
    """Read files with Spark; without `master`, with Spark's own configuration."""
    if not isinstance(data, (str, os.PathLike)):
        return frame_source(data)
    path = os.fsdecode(data)
    ending = os.path.splitext(urlsplit(path).path.removesuffix("/").removesuffix(".gz"))[1].lower()
    if ending and ending not in _READERS:
        raise DataError(
            f"{os.path.basename(path)} has an extension that is not supported with Spark.",
            seen=repr(ending),
            hint=f"one of {', '.join(_READERS)}, or a folder of Parquet files",
        )
    with engine_errors(os.path.basename(path)):
        reader = _session(master).read
        kind = _READERS.get(ending, "parquet")
        if kind == "csv":
            reader = reader.option("header", True).option("inferSchema", True).option("mode", "FAILFAST")
            reader = reader.option("sep", "\t" if ending == ".tsv" else ",")
        frame = reader.format(kind).load(path)
    return replace(frame_source(frame), name=os.path.basename(path.removesuffix("/")))


def _session(master: str | None) -> Any:
    """Current Spark session, or a new one with quiet settings."""
    if find_spec("pyspark") is None:
        raise DataError("Spark is not installed.", hint="pip install 'scorespace[spark]', and Java 17 or newer")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("scorespace")
    for key, value in _QUIET_SETTINGS.items():
        builder = builder.config(key, value)
    return (builder if master is None else builder.master(master)).getOrCreate()

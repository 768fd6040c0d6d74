"""Memory limit for the columns; larger data stay in their engine and are counted there."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

import narwhals as nw

from scorespace.errors import ScoreSpaceError
from scorespace.io.roles import Roles
from scorespace.io.source import Frame, Source

_DECIMAL_UNITS: Final = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_BINARY_UNITS: Final = {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_SIZE: Final = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-z]*)\s*")
_BYTES_PER_SCORE: Final = 100
"""Peak memory per case and model: columns, the sort, and cumulative sums along the scores."""

_MIN_BYTES_PER_ROW: Final = 4
"""Bytes of the shortest possible line with a label and a score."""


def parse_memory(text: str | float | None) -> int:
    """Parse a size such as 2GB; by default, a quarter of the free memory.

    >>> parse_memory("2GB"), parse_memory("512 MiB")
    (2000000000, 536870912)
    """
    if text is None:
        return free_memory() // 4
    found = _SIZE.fullmatch(str(text))
    unit = None if found is None else {**_DECIMAL_UNITS, **_BINARY_UNITS}.get(found["unit"].upper())
    if found is None or unit is None or not float(found["number"]):
        raise ScoreSpaceError(f"memory={text} is not a size in bytes.", hint='memory="2GB"')
    return int(float(found["number"]) * unit)


def free_memory() -> int:
    """Free memory in bytes, limited by the container if there is one."""
    free = [_available_memory()]
    limit, used = (_read_integer(Path("/sys/fs/cgroup") / name) for name in ("memory.max", "memory.current"))
    if limit is not None and used is not None:
        free.append(limit - used)
    return max(min(free), 2**28)


def _available_memory() -> int:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 2**32


def _read_integer(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):  # "max" means no limit
        return None


def fits_in_memory(source: Source, roles: Roles, memory: int) -> bool:
    """Whether the columns in use fit into memory; eager frames already do."""
    if not isinstance(source.frame, nw.LazyFrame):
        return True
    n_class_columns = sum(map(len, roles.class_scores.values()))
    models = max(1, len(roles.scores) + len(roles.decisions) + n_class_columns + len(roles.numbers))
    max_rows = memory // (_BYTES_PER_SCORE * models)
    if source.text_bytes is not None and source.text_bytes // _MIN_BYTES_PER_ROW <= max_rows:
        return True  # counting the lines of a text file means reading it
    return count_rows(source) <= max_rows


def count_rows(source: Source) -> int:
    """Number of rows; Parquet files store it."""
    return source.counts(rows=nw.len())["rows"]


def is_distributed(frame: Frame) -> bool:
    """Whether the frame is on a Spark cluster, from which only tables are collected."""
    kind = frame.implementation
    return kind.is_pyspark() or kind.is_pyspark_connect()

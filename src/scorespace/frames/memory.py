"""How much memory there is for the columns: beyond it they stay in their engine and are counted there."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

import narwhals as nw

from scorespace.errors import ScoreSpaceError
from scorespace.frames.roles import Roles
from scorespace.frames.source import Frame, Source

_UNITS: Final = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS_OF_TWO: Final = {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_SIZE: Final = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-z]*)\s*")
_BYTES_PER_SCORE: Final = 100
"""What a case takes for each model at the height of an evaluation: columns, the sort, and the sums along the scores."""

_SHORTEST_ROW: Final = 4
"""Bytes of the shortest line with a label and a score."""


def memory_of(text: str | float | None) -> int:
    """The bytes of a size such as 2GB; a quarter of what is free when none is stated.

    >>> memory_of("2GB"), memory_of("512 MiB")
    (2000000000, 536870912)
    """
    if text is None:
        return free_memory() // 4
    found = _SIZE.fullmatch(str(text))
    unit = None if found is None else {**_UNITS, **_UNITS_OF_TWO}.get(found["unit"].upper())
    if found is None or unit is None or not float(found["number"]):
        raise ScoreSpaceError(f"memory={text} is not a size.", hint='memory="2GB"')
    return int(float(found["number"]) * unit)


def free_memory() -> int:
    """The bytes that programs could still take: what the system says, or what is left of a container's limit."""
    free = [_available()]
    limit, used = (_number(Path("/sys/fs/cgroup") / name) for name in ("memory.max", "memory.current"))
    if limit is not None and used is not None:
        free.append(limit - used)
    return max(min(free), 2**28)


def _available() -> int:
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


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):  # "max": there is no limit
        return None


def fits(source: Source, roles: Roles, memory: int) -> bool:
    """Whether the columns in use may come to NumPy: those of an eager frame are in memory anyway."""
    if not isinstance(source.frame, nw.LazyFrame):
        return True
    of_classes = sum(map(len, roles.class_scores.values()))
    models = max(1, len(roles.scores) + len(roles.decisions) + of_classes + len(roles.numbers))
    most = memory // (_BYTES_PER_SCORE * models)
    if source.text_bytes is not None and source.text_bytes // _SHORTEST_ROW <= most:
        return True  # a text file must be read to count its lines: not for a small one
    return rows_of(source) <= most


def rows_of(source: Source) -> int:
    """How many rows there are; a Parquet file says so without being read."""
    return source.counts(rows=nw.len())["rows"]


def distributed(frame: Frame) -> bool:
    """Whether the frame lives on a cluster, from which nothing but tables is collected."""
    kind = frame.implementation
    return kind.is_pyspark() or kind.is_pyspark_connect()

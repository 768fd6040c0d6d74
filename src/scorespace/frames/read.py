"""A path, URI, standard input, frame or dict of arrays becomes one source of named columns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scorespace.frames.arrays import plain_arrays
from scorespace.frames.engine import connect
from scorespace.frames.files import read_path
from scorespace.frames.paths import Copy
from scorespace.frames.source import Source, frame_source, relation_source
from scorespace.frozen import dataclass


@dataclass(frozen=True)
class Chosen:
    """Data of which only the rows take part for which a condition holds."""

    data: Any
    where: str


def read(data: Any, *, writing: Path | None = None) -> Source:
    """The columns of a file, several files, standard input ('-'), a frame, or a dict of arrays.

    `writing` is a file that the engine may write, too: else it may write none.

    >>> read({"truth": [1, 0], "score": [0.9, 0.2]})
    Source(name='arrays', columns=('truth', 'score'))
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, Chosen):
        from scorespace.frames.where import where  # most commands state no condition

        return where(read(data.data, writing=writing), data.where)
    if isinstance(data, (str, bytes, os.PathLike, Copy)):
        return read_path(path_text(data), writing=writing)
    if isinstance(data, (list, tuple)) and data and all(isinstance(one, (str, os.PathLike)) for one in data):
        return read_path([os.fsdecode(one) for one in data], writing=writing)
    if isinstance(data, Mapping):
        columns, connection = plain_arrays(data), connect(writing=writing)
        connection.register("arrays", columns)
        return relation_source(connection.table("arrays"), "arrays", connection)
    return frame_source(data)


def path_text(path: str | bytes | os.PathLike[str] | Copy | list[str]) -> str | Copy | list[str]:
    """A path of any kind as text; several stay several."""
    return path if isinstance(path, (Copy, list)) else os.fsdecode(path)

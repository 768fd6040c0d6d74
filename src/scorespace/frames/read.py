"""A path, URI, standard input, frame or dict of arrays becomes one source of named columns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from scorespace.frames.arrays import plain_arrays
from scorespace.frames.files import read_path
from scorespace.frames.source import Source, connect, frame_source, relation_source


def read(data: Any) -> Source:
    """The columns of a file, several files, standard input ('-'), a frame, or a dict of arrays.

    >>> read({"truth": [1, 0], "score": [0.9, 0.2]})
    Source(name='arrays', columns=('truth', 'score'))
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, (str, os.PathLike)):
        return read_path(os.fspath(data))
    if isinstance(data, Mapping):
        return _read_arrays(data)
    return frame_source(data)


def _read_arrays(data: Mapping[Any, Any]) -> Source:
    columns = plain_arrays(data)
    connection = connect()
    connection.register("arrays", columns)
    return relation_source(connection.table("arrays"), "arrays", connection)

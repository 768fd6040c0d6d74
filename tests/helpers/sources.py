"""What the tests of sources share: files written on the spot, and what is read of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scorespace.errors import DataError, ScoreSpaceError
from scorespace.io import read

CREDIT: dict[str, list[Any]] = {"outcome": ["good", "bad"], "nb": [0.2, 0.7]}


def write(name: str, content: str | bytes = "outcome,nb\ngood,0.2\nbad,0.7\n") -> str:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def values(data: Any) -> dict[str, list[Any]]:
    source = read(data)
    return {name: array.tolist() for name, array in source.arrays(source.frame).items()}


def refused(data: Any, kind: type[ScoreSpaceError] = DataError) -> str:
    with pytest.raises(kind) as caught:
        read(data)
    assert type(caught.value) is kind
    return str(caught.value)

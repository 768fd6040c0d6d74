"""What goes back to a browser, and how its questions are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from urllib.parse import parse_qs

from scorespace.errors import DataError
from scorespace.frozen import dataclass

Query = Mapping[str, Sequence[str]]
"""The values of an address or a form, by name."""


@dataclass(frozen=True)
class Answer:
    """A body, at once or in pieces, and how to take it."""

    body: bytes | Iterator[bytes] = b""
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


def moved(address: str, **headers: str) -> Answer:
    """The browser is sent on."""
    return Answer(status=303, headers={"Location": address, **headers})


def read_query(text: str) -> dict[str, list[str]]:
    """The names and values of an address or a form.

    >>> read_query("file=a.csv&score=nb&score=tree&weight=")
    {'file': ['a.csv'], 'score': ['nb', 'tree'], 'weight': ['']}
    """
    try:
        return parse_qs(text, keep_blank_values=True, max_num_fields=2000, errors="replace")
    except ValueError:
        raise DataError("the address holds too many words.", hint="fewer columns") from None


def first(query: Query, name: str) -> str:
    """The first value of a name, or nothing."""
    return next(iter(query.get(name, ())), "")

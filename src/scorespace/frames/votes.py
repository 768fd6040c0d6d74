"""Votes: the decisions of many models, added up to a score of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import narwhals as nw

from scorespace.errors import ColumnError, listing
from scorespace.frames.source import Source
from scorespace.tables.labels import label_text

_VOTES: Final = re.compile(r"\s*(?P<name>[^=()]+?)\s*=\s*(?P<how>sum|mean)\((?P<columns>[^()]+)\)\s*")


def with_votes(source: Source, scores: Any, positive: Any) -> tuple[Source, Any]:
    """The source with a column of votes for each score such as `votes=sum(d*)`, and the scores by their columns.

    A column of numbers votes with them, 1 for yes and 0 for no; a column of labels votes yes with the positive one.

    >>> from scorespace.frames import read
    >>> data = read({"d1": [1, 0], "d2": [1, 1]})
    >>> source, scores = with_votes(data, ["votes=sum(d*)"], None)
    >>> scores, source.arrays(source.frame.select("votes"))["votes"].tolist()
    (['votes'], [2.0, 1.0])
    """
    if not isinstance(scores, str | Sequence):  # by model, or nothing that names columns
        return source, scores
    texts: Sequence[Any] = [scores] if isinstance(scores, str) else scores
    named: list[Any] = []
    for text in texts:
        match = _VOTES.fullmatch(text) if isinstance(text, str) and text not in source.columns else None
        if match is None:
            named.append(text)
            continue
        source = _with_column(source, match["name"], match["how"], match["columns"], positive)
        named.append(match["name"])
    return source, (scores if named == list(texts) else named)


def _with_column(source: Source, name: str, how: str, wanted: str, positive: Any) -> Source:
    """The source with one more column: how many of the wanted columns vote for the positive class."""
    if name in source.columns:
        raise ColumnError(f"the votes {name!r} would replace a column of that name.", hint="another name for the votes")
    columns = _taken(source, wanted)
    schema = source.frame.collect_schema()
    yes = []
    for column in columns:
        kind = schema[column]
        if kind.is_numeric() or kind == nw.Boolean:
            yes.append(nw.col(column).cast(nw.Float64))
            continue
        if positive is None:
            raise ColumnError(
                f"column {column!r} holds labels, and which of them votes yes is not stated.",
                hint="positive=… the positive class",
            )
        yes.append((nw.col(column) == label_text(positive)).cast(nw.Float64))
    # A sum by +, in which a missing vote leaves the whole missing, as for every other score.
    total = sum(yes[1:], start=yes[0])
    votes = total / len(yes) if how == "mean" else total
    return replace(source, frame=source.frame.with_columns(votes.alias(name)), columns=(*source.columns, name))


def _taken(source: Source, wanted: str) -> list[str]:
    """The columns that are named, or that a pattern with a star takes."""
    found: list[str] = []
    for piece in (one.strip() for one in wanted.split(",")):
        before, star, after = piece.partition("*")
        like = [
            column
            for column in source.columns
            if column == piece
            or (star and len(column) >= len(piece) - 1 and column.startswith(before) and column.endswith(after))
        ]
        if not like:
            raise ColumnError(
                f"no column is named like {piece!r}.",
                seen=listing(source.columns),
                hint="a pattern such as d*, or the names of columns",
            )
        found += [column for column in like if column not in found]
    return found

"""Scores made of columns: the decisions of many models added up, and scores of which low ones mean positive."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import narwhals as nw

from scorespace.errors import ColumnError, listing
from scorespace.frames.source import Frame, Source
from scorespace.frames.values import holds_numbers, number, refuse_text
from scorespace.results import note
from scorespace.tables.labels import label_text

_HOW: Final = re.compile(r"\s*(?P<how>sum|mean|minus)\((?P<columns>[^()]+)\)\s*")
_NAMED: Final = re.compile(rf"\s*(?P<name>[^=()]+?)\s*=(?P<made>{_HOW.pattern})")


def with_votes(source: Source, scores: Any, positive: Any) -> tuple[Source, Any]:
    """The source with a column for each score such as `votes=sum(d*)`, and the scores by their columns.

    A column of numbers votes with them, 1 for yes and 0 for no; a column of labels votes yes with the positive one.
    `card=minus(score)` is a score of which low ones mean positive, with its sign changed.

    >>> from scorespace.frames import read
    >>> data = read({"d1": [1, 0], "d2": [1, 1]})
    >>> source, scores = with_votes(data, ["votes=sum(d*)"], None)
    >>> scores, source.arrays(source.frame.select("votes"))["votes"].tolist()
    (['votes'], [2.0, 1.0])
    >>> with_votes(data, {"card": "minus(d1)"}, None)[1]
    {'card': 'card'}
    """
    if not isinstance(scores, str | Sequence | Mapping):  # nothing that names columns
        return source, scores
    by_model, listed = isinstance(scores, Mapping), [scores] if isinstance(scores, str) else scores
    given: dict[Any, Any] = dict(listed) if isinstance(listed, Mapping) else dict(enumerate(listed))
    named = dict(given)
    for key, text in given.items():
        pattern = _HOW if by_model else _NAMED
        made = pattern.fullmatch(text) if isinstance(text, str) and text not in source.columns else None
        if made is None and isinstance(text, str) and text not in source.columns and _HOW.fullmatch(text):
            raise ColumnError(f"the score {text!r} has no name.", hint=f"a name for it: model={text.strip()}")
        if made is not None:
            named[key] = str(key) if by_model else made["name"]
            source = _with_column(source, named[key], made["how"], made["columns"], positive)
    if by_model:
        return source, named
    return source, (scores if named == given else list(named.values()))


def _with_column(source: Source, name: str, how: str, wanted: str, positive: Any) -> Source:
    """The source with one more column, made of those wanted."""
    if name in source.columns:
        raise ColumnError(f"the score {name!r} would replace a column of that name.", hint="another name for the score")
    columns = _taken(source, wanted)
    made = _minus(source, columns) if how == "minus" else _votes(source, how, columns, positive)
    written = source.as_text

    def as_text(texts: Collection[str]) -> Frame:
        # What the score is made of stays numbers, which may be written with a comma.
        assert written is not None
        kept = [each for each in texts if each not in columns and each != name]
        return written(kept).with_columns(made.alias(name))

    told = f"{name} is minus {columns[0]}, so that low ones mean positive: a threshold of -5 takes the cases whose "
    further = (note("SS097", f"{told}{columns[0]} is 5 or less."),) if how == "minus" else ()
    return replace(
        source,
        frame=source.frame.with_columns(made.alias(name)),
        columns=(*source.columns, name),
        as_text=None if written is None else as_text,
        notes=(*source.notes, *further),
    )


def _minus(source: Source, columns: Sequence[str]) -> nw.Expr:
    if len(columns) > 1:
        raise ColumnError("minus(…) is of one column.", seen=listing(columns), hint="a score of its own for each")
    refuse_text(source, columns[0], source.frame.collect_schema()[columns[0]], "score")
    return 0.0 - number(columns[0])  # and no -0.0


def _votes(source: Source, how: str, columns: Sequence[str], positive: Any) -> nw.Expr:
    """How many of the columns vote for the positive class, or which share of them."""
    schema = source.frame.collect_schema()
    yes = []
    for column in columns:
        if holds_numbers(schema[column]):
            yes.append(number(column))
            continue
        if positive is None:
            raise ColumnError(
                f"column {column!r} holds labels, and which of them votes yes is not stated.",
                hint="positive=… the positive class",
            )
        yes.append((nw.col(column) == label_text(positive)).cast(nw.Float64))
    # A sum by +, in which a missing vote leaves the whole missing, as for every other score.
    total = sum(yes[1:], start=yes[0])
    return total / len(yes) if how == "mean" else total


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

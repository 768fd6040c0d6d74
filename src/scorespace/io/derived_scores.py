"""Scores derived from other columns: ratings rescaled to [0, 1], votes of classifiers, and sign changes."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import narwhals as nw

from scorespace.errors import ColumnError, ScoreError, listing
from scorespace.io.column_values import as_number, is_numeric_type, refuse_text
from scorespace.io.roles import refuse_star_column
from scorespace.io.source import Frame, Source
from scorespace.results import note
from scorespace.tables.labels import label_text

Scale = tuple[float, float] | None
"""Lowest and highest value of a rating scale; None leaves scores unchanged."""


def rescale(source: Source, columns: Iterable[str], scale: Scale) -> Source:
    """Map columns from a stated scale to [0, 1]: (s − low) / (high − low).

    The stated ends are used, not the observed ones, so that samples and raters stay comparable.

    >>> from scorespace.io import read
    >>> stars = rescale(read({"y": [1, 0], "stars": [5, 2]}), ["stars"], (1, 5))
    >>> stars.arrays(stars.frame.select("stars"))["stars"].tolist()
    [1.0, 0.25]
    """
    names = list(dict.fromkeys(columns))
    if scale is None or not names:
        return source
    low, high = (float(end) for end in scale)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ScoreError(
            f"{low:g}..{high:g} is not a rating scale: the ends must be finite and ascending.",
            hint="lowest and highest rating: scale=(0, 10)",
        )
    schema = source.frame.collect_schema()
    for name in names:
        refuse_star_column(name)
        refuse_text(source, name, schema[name], "score")
    ends = source.arrays(
        source.frame.select(
            *(as_number(name).min().alias(f"{name} from") for name in names),
            *(as_number(name).max().alias(f"{name} to") for name in names),
        )
    )
    for name in names:
        lowest, highest = (float(ends[f"{name} {end}"][0]) for end in ("from", "to"))
        if lowest < low or highest > high:
            raise ScoreError(
                f"column {name!r} has ratings outside the scale {low:g}..{high:g}.",
                seen=f"ratings from {lowest:g} to {highest:g}",
                hint=f'scale="{min(low, lowest):g}..{max(high, highest):g}", if that is the scale',
            )
    mapped = (((as_number(name) - low) / (high - low)).alias(name) for name in names)
    return replace(source, frame=source.frame.with_columns(*mapped), as_text=None)


def parse_scale(given: str | tuple[float, float] | None) -> Scale:
    """Parse a scale: a pair, or text LOW..HIGH.

    >>> parse_scale("0..10"), parse_scale((1, 5)), parse_scale(None)
    ((0.0, 10.0), (1.0, 5.0), None)
    """
    if given is None:
        return None
    parts = given.split("..") if isinstance(given, str) else list(given)
    try:
        low, high = (float(part) for part in parts)
    except (TypeError, ValueError):
        raise ScoreError(f"the scale {given!r} is not of the form LOW..HIGH.", hint='scale="0..10"') from None
    return low, high


_FORMULA: Final = re.compile(r"\s*(?P<how>sum|mean|minus)\((?P<columns>[^()]+)\)\s*")
_NAMED_FORMULA: Final = re.compile(rf"\s*(?P<name>[^=()]+?)\s*=(?P<made>{_FORMULA.pattern})")


def add_derived_scores(source: Source, scores: Any, positive: Any) -> tuple[Source, Any]:
    """Add a column for each derived score such as `votes=sum(d*)`, and replace the formulas by column names.

    Numeric columns vote with their values, columns of labels with 1 for the positive class. `card=minus(score)` negates
    a score whose low values mean positive.

    >>> from scorespace.io import read
    >>> data = read({"d1": [1, 0], "d2": [1, 1]})
    >>> source, scores = add_derived_scores(data, ["votes=sum(d*)"], None)
    >>> scores, source.arrays(source.frame.select("votes"))["votes"].tolist()
    (['votes'], [2.0, 1.0])
    >>> add_derived_scores(data, {"card": "minus(d1)"}, None)[1]
    {'card': 'card'}
    """
    if not isinstance(scores, str | Sequence | Mapping):  # arrays, not column names
        return source, scores
    by_model, requested = isinstance(scores, Mapping), [scores] if isinstance(scores, str) else scores
    formulas: dict[Any, Any] = dict(requested) if isinstance(requested, Mapping) else dict(enumerate(requested))
    resolved = dict(formulas)
    for key, text in formulas.items():
        pattern = _FORMULA if by_model else _NAMED_FORMULA
        match = pattern.fullmatch(text) if isinstance(text, str) and text not in source.columns else None
        if match is None and isinstance(text, str) and text not in source.columns and _FORMULA.fullmatch(text):
            raise ColumnError(f"the score {text!r} has no name.", hint=f"a name for it: model={text.strip()}")
        if match is not None:
            resolved[key] = str(key) if by_model else match["name"]
            source = _add_column(source, resolved[key], match["how"], match["columns"], positive)
    if by_model:
        return source, resolved
    return source, (scores if resolved == formulas else list(resolved.values()))


def _add_column(source: Source, name: str, operation: str, pattern: str, positive: Any) -> Source:
    """Add a derived column."""
    if name in source.columns:
        raise ColumnError(
            f"the score {name!r} would replace a column of that name.", hint="choose another name for the score"
        )
    columns = match_columns(source, pattern)
    expression = (
        _negate(source, columns) if operation == "minus" else _count_votes(source, operation, columns, positive)
    )
    text_reader = source.as_text

    def as_text(texts: Collection[str]) -> Frame:
        # Keep the source columns numeric: their text may have decimal commas.
        assert text_reader is not None
        text_columns = [text for text in texts if text not in columns and text != name]
        return text_reader(text_columns).with_columns(expression.alias(name))

    meaning = f"{name} is −{columns[0]}, since low values mean positive: a threshold of -5 selects cases whose "
    notes = (note("SS097", f"{meaning}{columns[0]} is 5 or less."),) if operation == "minus" else ()
    return replace(
        source,
        frame=source.frame.with_columns(expression.alias(name)),
        columns=(*source.columns, name),
        as_text=None if text_reader is None else as_text,
        notes=(*source.notes, *notes),
    )


def add_mean(source: Source, name: str, columns: Sequence[str]) -> Source:
    """Add a column that is the mean of others, or a copy of one."""
    return _add_column(source, name, "mean", ",".join(columns), None)


def _negate(source: Source, columns: Sequence[str]) -> nw.Expr:
    if len(columns) > 1:
        raise ColumnError("minus(…) takes one column.", seen=listing(columns), hint="one minus(…) for each column")
    refuse_text(source, columns[0], source.frame.collect_schema()[columns[0]], "score")
    return 0.0 - as_number(columns[0])  # 0.0 - 0.0 is 0.0, not -0.0


def _count_votes(source: Source, operation: str, columns: Sequence[str], positive: Any) -> nw.Expr:
    """Number, or with `mean` the share, of columns that vote for the positive class."""
    schema = source.frame.collect_schema()
    votes = []
    for column in columns:
        if is_numeric_type(schema[column]):
            votes.append(as_number(column))
            continue
        if positive is None:
            raise ColumnError(
                f"column {column!r} holds labels, and no positive class is given.",
                hint="positive=… the positive class",
            )
        votes.append((nw.col(column) == label_text(positive)).cast(nw.Float64))
    # Adding with + makes the score missing where any vote is missing.
    total = sum(votes[1:], start=votes[0])
    return total / len(votes) if operation == "mean" else total


def match_columns(source: Source, patterns: str) -> list[str]:
    """Columns named in a comma-separated list, or matched by patterns with a star."""
    matches: list[str] = []
    for pattern in (part.strip() for part in patterns.split(",")):
        before, star, after = pattern.partition("*")
        matching = [
            column
            for column in source.columns
            if column == pattern
            or (star and len(column) >= len(pattern) - 1 and column.startswith(before) and column.endswith(after))
        ]
        if not matching:
            raise ColumnError(
                f"no column matches {pattern!r}.",
                seen=listing(source.columns),
                hint="a pattern such as d*, or column names",
            )
        matches += [column for column in matching if column not in matches]
    return matches

"""Ratings on any scale, such as 0 to 10, as scores between 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from scorespace.errors import ScoreError
from scorespace.frames.roles import refuse_star
from scorespace.frames.source import Source
from scorespace.frames.values import number, refuse_text

Scale = tuple[float, float] | None
"""The ends of a scale, lowest first; None leaves scores as they are."""


def scaled(source: Source, columns: Iterable[str], scale: Scale) -> Source:
    """The source with columns mapped from a stated scale to [0, 1]: (s − low) / (high − low).

    The ends are stated and not those seen, so that two samples, or two raters, stay comparable.

    >>> from scorespace.frames import read
    >>> stars = scaled(read({"y": [1, 0], "stars": [5, 2]}), ["stars"], (1, 5))
    >>> stars.arrays(stars.frame.select("stars"))["stars"].tolist()
    [1.0, 0.25]
    """
    names = list(dict.fromkeys(columns))
    if scale is None or not names:
        return source
    low, high = (float(end) for end in scale)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ScoreError(
            f"{low:g}..{high:g} is not a scale.", hint="the lowest rating, then the highest: scale=(0, 10)"
        )
    schema = source.frame.collect_schema()
    for name in names:
        refuse_star(name)
        refuse_text(source, name, schema[name], "score")
    ends = source.arrays(
        source.frame.select(
            *(number(name).min().alias(f"{name} from") for name in names),
            *(number(name).max().alias(f"{name} to") for name in names),
        )
    )
    for name in names:
        lowest, highest = (float(ends[f"{name} {end}"][0]) for end in ("from", "to"))
        if lowest < low or highest > high:
            raise ScoreError(
                f"column {name!r} leaves the scale {low:g}..{high:g}.",
                seen=f"ratings from {lowest:g} to {highest:g}",
                hint=f'scale="{min(low, lowest):g}..{max(high, highest):g}", if that is what they mean',
            )
    mapped = (((number(name) - low) / (high - low)).alias(name) for name in names)
    return replace(source, frame=source.frame.with_columns(*mapped), as_text=None)


def scale_of(given: str | tuple[float, float] | None) -> Scale:
    """The ends of a scale, as a pair or written LOW..HIGH.

    >>> scale_of("0..10"), scale_of((1, 5)), scale_of(None)
    ((0.0, 10.0), (1.0, 5.0), None)
    """
    if given is None:
        return None
    parts = given.split("..") if isinstance(given, str) else list(given)
    try:
        low, high = (float(part) for part in parts)
    except (TypeError, ValueError):
        raise ScoreError(f"the scale {given!r} cannot be read.", hint='scale="0..10"') from None
    return low, high

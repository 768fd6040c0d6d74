"""Average ranks of models over data sets: the diagram of critical differences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from scorespace.errors import DataError, listing
from scorespace.frozen import dataclass
from scorespace.results import Row, decimals
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.theme import FAINT, INK, SOFT, short, themed

# All heights are in pixels from the top, so that the picture grows with the models and not its parts.
_WIDTH: Final = 440
_SIDE: Final = 40  # room beside the axis for the number on a leader line
_BRACKET: Final = 22
_AXIS: Final = 60
_FIRST_BAR: Final = _AXIS + 16
_BAR_STEP: Final = 10
_FIRST_NAME: Final = 22  # below the last bar
_NAME_STEP: Final = 24
_OVERHANG: Final = 4  # of a bar beyond its models, so that it is seen to hold them

Ranked = list[tuple[float, str]]


@dataclass(frozen=True)
class _Bar:
    """A group of models that cannot be told apart, from one average rank to another, on a level of its own."""

    low: float
    high: float
    members: str
    level: int


def rank_chart(
    names: Sequence[str],
    average_ranks: Sequence[float],
    critical_difference: float,
    groups: Iterable[Sequence[str]],
) -> Spec:
    """Models along their average ranks, the best at the left; a bar joins those that cannot be told apart.

    The bracket is the critical difference: models that far apart or further are distinct.
    """
    ranked = _ranked(names, average_ranks)
    known = math.isfinite(critical_difference)
    span = max(len(ranked) - 1, critical_difference if known else 0)
    pixel = span / (_WIDTH - 2 * _SIDE)
    ends = (1 - _SIDE * pixel, 1 + span + _SIDE * pixel)
    bars = _bars(ranked, groups, _OVERHANG * pixel)
    first = _FIRST_BAR + _BAR_STEP * max((bar.level for bar in bars), default=-1) + _FIRST_NAME
    height = first + _NAME_STEP * ((len(ranked) - 1) // 2) + 12

    point: Spec = {
        "x": field("x:Q", axis=None, scale={"domain": [short(end) for end in ends], "nice": False, "zero": False}),
        "y": field("y:Q", axis=None, scale={"domain": [height, 0], "nice": False}),
    }
    line: Spec = {**point, "x2": "x2", "y2": "y2"}
    label, model, rank = ({**point, "text": f"{column}:N"} for column in ("label", "model", "rank"))
    tip = {"tooltip": [field("model:N", title="Model"), field("rank:N", title="Average rank")]}
    alike = {"tooltip": [field("members:N", title="Not distinguishable")]}
    ticks = [{"x": place, "x2": place, "y": _AXIS - 5, "y2": _AXIS} for place in range(1, len(ranked) + 1)]
    numbers = [{"x": place, "y": _AXIS, "label": str(place)} for place in range(1, len(ranked) + 1)]
    title = {"x": short(ends[0]), "y": _AXIS, "label": "average rank (1 is best)"}
    dots = [{"x": short(rank), "y": _AXIS, "model": name, "rank": decimals(rank, 2)} for rank, name in ranked]
    joined = [_level(bar.low, bar.high, _FIRST_BAR + _BAR_STEP * bar.level) | {"members": bar.members} for bar in bars]
    leaders, labels = _leaders(ranked, ends, first)
    left, right = ([row for row in labels if row["side"] == side] for side in ("left", "right"))
    name: dict[str, Any] = {"color": INK, "fontSize": 13, "limit": 200}
    number: dict[str, Any] = {"color": SOFT, "fontSize": 11, "dy": -7}
    layers = [
        mark("rule", [_level(1, len(ranked), _AXIS), *ticks], line, color=FAINT),
        mark("text", numbers, label, baseline="bottom", dy=-8),
        mark("text", [title], label, align="right", dx=-8),
        mark("rule", leaders, line | tip, color=SOFT, strokeWidth=1.2),
        mark("rule", joined, line | alike, color=INK, strokeWidth=5),
        mark("point", dots, point | tip, filled=True, size=45, color=INK, opacity=1),
        mark("text", left, model | tip, align="right", dx=-8, **name),
        mark("text", left, rank, align="left", dx=2, **number),
        mark("text", right, model | tip, align="left", dx=8, **name),
        mark("text", right, rank, align="right", dx=-2, **number),
    ]
    if known:
        words = {"x": 1, "y": _BRACKET, "label": f"critical difference {decimals(critical_difference, 2)}"}
        layers += [
            mark("rule", _bracket(critical_difference), line, color=INK, strokeWidth=1.5),
            mark("text", [words], label, align="left", baseline="bottom", dy=-7, color=INK),
        ]
    return themed(layered(layers, _WIDTH, height, description=_description(ranked, bars)))


def _ranked(names: Sequence[str], average_ranks: Sequence[float]) -> Ranked:
    """The models from the best to the worst, each on one line of text."""
    ranks = [float(rank) for rank in average_ranks]
    if len(names) != len(ranks):
        raise DataError(
            "every model needs an average rank to be drawn.",
            seen=f"{len(names)} models, {len(ranks)} ranks",
            hint="a rank for each name",
        )
    if len(names) < 2:
        raise DataError("there are no two models to draw ranks of.", hint="two models or more")
    if not all(1 <= rank <= len(ranks) for rank in ranks):
        raise DataError(
            f"average ranks lie between 1 and {len(ranks)}.",
            seen=", ".join(f"{rank:g}" for rank in ranks),
            hint="ranks as rank_models gives them",
        )
    return sorted(zip(ranks, map(_line, names), strict=True), key=lambda pair: pair[0])


def _bars(ranked: Ranked, groups: Iterable[Sequence[str]], overhang: float) -> list[_Bar]:
    """The bar of each group, on the first level where it keeps clear of the bars before it."""
    ranks = {name: rank for rank, name in ranked}
    bars: list[_Bar] = []
    reached: list[float] = []
    for group in groups:
        members = [_line(name) for name in group]
        unknown = [name for name in members if name not in ranks]
        if unknown:
            raise DataError(
                "a group names models that are not drawn.",
                seen=listing(unknown),
                hint="groups of the models that are drawn",
            )
        low = min(ranks[name] for name in members) - overhang
        high = max(ranks[name] for name in members) + overhang
        level = next((level for level, end in enumerate(reached) if end + overhang < low), len(reached))
        reached[level : level + 1] = [high]
        bars.append(_Bar(low, high, ", ".join(members), level))
    return bars


def _leaders(ranked: Ranked, ends: tuple[float, float], first: float) -> tuple[list[Row], list[Row]]:
    """Lines from each model's rank down and out to its name: the better half left, the rest right."""
    half = (len(ranked) + 1) // 2
    leaders, labels = [], []
    for place, (rank, name) in enumerate(ranked):
        left = place < half
        # The outermost model has the topmost line, so that no two lines cross.
        y = first + _NAME_STEP * (place if left else len(ranked) - 1 - place)
        end = short(ends[0] if left else ends[1])
        told = {"model": name, "rank": decimals(rank, 2), "side": "left" if left else "right"}
        leaders += [
            told | {"x": short(rank), "x2": short(rank), "y": _AXIS, "y2": y},
            told | {"x": end, "x2": short(rank), "y": y, "y2": y},
        ]
        labels.append(told | {"x": end, "y": y})
    return leaders, labels


def _bracket(critical_difference: float) -> list[Row]:
    low, high = 1.0, 1 + critical_difference
    caps = [{"x": short(end), "x2": short(end), "y": _BRACKET - 4, "y2": _BRACKET + 4} for end in (low, high)]
    return [_level(low, high, _BRACKET), *caps]


def _level(low: float, high: float, y: float) -> Row:
    """A horizontal line."""
    return {"x": short(low), "x2": short(high), "y": y, "y2": y}


def _description(ranked: Ranked, bars: list[_Bar]) -> str:
    ranks = ", ".join(f"{name} {decimals(rank, 2)}" for rank, name in ranked)
    alike = "; ".join(bar.members for bar in bars) or "none"
    return f"Average ranks, 1 is best: {ranks}. Not distinguishable: {alike}."


def _line(name: object) -> str:
    return " ".join(str(name).split())

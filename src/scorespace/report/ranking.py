"""Ranking of models over data sets: average ranks, tests, and the critical difference diagram."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from scorespace.comparisons.friedman import AgainstControl, Nemenyi
from scorespace.comparisons.ranking import Ranking
from scorespace.comparisons.result import Comparison, Comparisons, count_text
from scorespace.errors import DataError, listing
from scorespace.report import comparison
from scorespace.report.chart_theme import FAINT, INK, SOFT, Spec, datum, field, layered, mark, themed
from scorespace.report.document import Block, Document, Grid, Picture, Text, one_section
from scorespace.results import Note, Row, decimals, format_p_cell

# Heights are in pixels from the top, so that the chart grows with the number of models.
_WIDTH: Final = 440
_SIDE: Final = 40  # pixels beside the axis for the rank on a leader line
_BRACKET: Final = 22
_AXIS: Final = 60
_FIRST_BAR: Final = _AXIS + 16
_BAR_STEP: Final = 10
_FIRST_NAME: Final = 22  # below the last bar
_NAME_STEP: Final = 24
_OVERHANG: Final = 4  # pixels by which a bar extends beyond its models

Ranked = list[tuple[float, str]]


@dataclass(frozen=True)
class _RankGroup:
    """A group of models without significant differences: its range of average ranks and the level of its bar."""

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
    """Critical difference diagram (Demšar 2006): average ranks, best left.

    Bars join models without significant difference. The bracket shows the critical difference.
    """
    ranked = _ranked(names, average_ranks)
    has_difference = math.isfinite(critical_difference)
    rank_range = max(len(ranked) - 1, critical_difference if has_difference else 0)
    ranks_per_pixel = rank_range / (_WIDTH - 2 * _SIDE)
    domain = (1 - _SIDE * ranks_per_pixel, 1 + rank_range + _SIDE * ranks_per_pixel)
    bars = _bars(ranked, groups, _OVERHANG * ranks_per_pixel)
    first_label_y = _FIRST_BAR + _BAR_STEP * max((bar.level for bar in bars), default=-1) + _FIRST_NAME
    height = first_label_y + _NAME_STEP * ((len(ranked) - 1) // 2) + 12

    point: Spec = {
        "x": field("x:Q", axis=None, scale={"domain": [datum(end) for end in domain], "nice": False, "zero": False}),
        "y": field("y:Q", axis=None, scale={"domain": [height, 0], "nice": False}),
    }
    line: Spec = {**point, "x2": "x2", "y2": "y2"}
    label, model, rank = ({**point, "text": f"{column}:N"} for column in ("label", "model", "rank"))
    tooltip = {"tooltip": [field("model:N", title="Model"), field("rank:N", title="Average rank")]}
    group_tooltip = {"tooltip": [field("members:N", title="No significant difference")]}
    ticks = [{"x": rank, "x2": rank, "y": _AXIS - 5, "y2": _AXIS} for rank in range(1, len(ranked) + 1)]
    numbers = [{"x": rank, "y": _AXIS, "label": str(rank)} for rank in range(1, len(ranked) + 1)]
    title = {"x": datum(domain[0]), "y": _AXIS, "label": "average rank (1 is best)"}
    model_points = [{"x": datum(rank), "y": _AXIS, "model": name, "rank": decimals(rank, 2)} for rank, name in ranked]
    group_bars = [
        _horizontal_line(bar.low, bar.high, _FIRST_BAR + _BAR_STEP * bar.level) | {"members": bar.members}
        for bar in bars
    ]
    leaders, labels = _leaders(ranked, domain, first_label_y)
    left, right = ([row for row in labels if row["side"] == side] for side in ("left", "right"))
    name_style: dict[str, Any] = {"color": INK, "fontSize": 13, "limit": 200}
    rank_style: dict[str, Any] = {"color": SOFT, "fontSize": 11, "dy": -7}
    layers = [
        mark("rule", [_horizontal_line(1, len(ranked), _AXIS), *ticks], line, color=FAINT),
        mark("text", numbers, label, baseline="bottom", dy=-8),
        mark("text", [title], label, align="right", dx=-8),
        mark("rule", leaders, line | tooltip, color=SOFT, strokeWidth=1.2),
        mark("rule", group_bars, line | group_tooltip, color=INK, strokeWidth=5),
        mark("point", model_points, point | tooltip, filled=True, size=45, color=INK, opacity=1),
        mark("text", left, model | tooltip, align="right", dx=-8, **name_style),
        mark("text", left, rank, align="left", dx=2, **rank_style),
        mark("text", right, model | tooltip, align="left", dx=8, **name_style),
        mark("text", right, rank, align="right", dx=-2, **rank_style),
    ]
    if has_difference:
        bracket_label = {"x": 1, "y": _BRACKET, "label": f"critical difference {decimals(critical_difference, 2)}"}
        layers += [
            mark("rule", _bracket(critical_difference), line, color=INK, strokeWidth=1.5),
            mark("text", [bracket_label], label, align="left", baseline="bottom", dy=-7, color=INK),
        ]
    return themed(layered(layers, _WIDTH, height, description=_description(ranked, bars)))


def _ranked(names: Sequence[str], average_ranks: Sequence[float]) -> Ranked:
    """Models from best to worst, with names on one line."""
    ranks = [float(rank) for rank in average_ranks]
    if len(names) != len(ranks):
        raise DataError(
            "every model needs an average rank.",
            seen=f"{len(names)} models, {len(ranks)} ranks",
            hint="a rank for each name",
        )
    if len(names) < 2:
        raise DataError("a chart of ranks needs at least two models.", hint="two or more models")
    if not all(1 <= rank <= len(ranks) for rank in ranks):
        raise DataError(
            f"average ranks lie between 1 and {len(ranks)}.",
            seen=", ".join(f"{rank:g}" for rank in ranks),
            hint="average ranks of rank_models",
        )
    return sorted(zip(ranks, map(_one_line, names), strict=True), key=lambda pair: pair[0])


def _bars(ranked: Ranked, groups: Iterable[Sequence[str]], overhang: float) -> list[_RankGroup]:
    """Bar of each group, on the first level without overlap."""
    ranks = {name: rank for rank, name in ranked}
    bars: list[_RankGroup] = []
    level_ends: list[float] = []
    for group in groups:
        members = [_one_line(name) for name in group]
        unknown = [name for name in members if name not in ranks]
        if unknown:
            raise DataError(
                "a group contains models that are not in the chart.",
                seen=listing(unknown),
                hint="groups of the models in the chart",
            )
        low = min(ranks[name] for name in members) - overhang
        high = max(ranks[name] for name in members) + overhang
        level = next((level for level, end in enumerate(level_ends) if end + overhang < low), len(level_ends))
        level_ends[level : level + 1] = [high]
        bars.append(_RankGroup(low, high, ", ".join(members), level))
    return bars


def _leaders(ranked: Ranked, domain: tuple[float, float], first_label_y: float) -> tuple[list[Row], list[Row]]:
    """Leader lines from each rank to the model's name: the better half left, the others right."""
    half = (len(ranked) + 1) // 2
    leaders, labels = [], []
    for position, (rank, name) in enumerate(ranked):
        is_left = position < half
        # Outer models have the upper lines, so that lines do not cross.
        y = first_label_y + _NAME_STEP * (position if is_left else len(ranked) - 1 - position)
        end = datum(domain[0] if is_left else domain[1])
        labels_of_model = {"model": name, "rank": decimals(rank, 2), "side": "left" if is_left else "right"}
        leaders += [
            labels_of_model | {"x": datum(rank), "x2": datum(rank), "y": _AXIS, "y2": y},
            labels_of_model | {"x": end, "x2": datum(rank), "y": y, "y2": y},
        ]
        labels.append(labels_of_model | {"x": end, "y": y})
    return leaders, labels


def _bracket(critical_difference: float) -> list[Row]:
    low, high = 1.0, 1 + critical_difference
    caps = [{"x": datum(end), "x2": datum(end), "y": _BRACKET - 4, "y2": _BRACKET + 4} for end in (low, high)]
    return [_horizontal_line(low, high, _BRACKET), *caps]


def _horizontal_line(low: float, high: float, y: float) -> Row:
    """A horizontal line."""
    return {"x": datum(low), "x2": datum(high), "y": y, "y2": y}


def _description(ranked: Ranked, bars: list[_RankGroup]) -> str:
    ranks = ", ".join(f"{name} {decimals(rank, 2)}" for rank, name in ranked)
    group_text = "; ".join(bar.members for bar in bars) or "none"
    return f"Average ranks, 1 is best: {ranks}. Groups without significant difference: {group_text}."


def _one_line(name: object) -> str:
    return " ".join(str(name).split())


def document(ranking: Ranking, title: str, notes: Sequence[Note] = ()) -> Document:
    """Document of a ranking; `notes` are those on the data."""
    table = ranking.table
    direction = "higher is better" if table.best == "high" else "lower is better"
    facts = [count_text(table.datasets, "data sets"), count_text(len(table.models), "models")]
    facts.append(f"{table.measure}, {direction}" if table.measure else direction)
    blocks: list[Block] = [rank_grid(ranking)]
    if ranking.friedman is not None:
        blocks.append(all_grid(ranking.friedman))
    if ranking.nemenyi is not None:
        blocks.append(nemenyi_grid(ranking.nemenyi))
    if ranking.control is not None:
        blocks.append(control_grid(ranking.control))
    if ranking.pairs is not None:
        blocks += pair_grids(ranking.pairs, of_ranks=ranking.friedman is not None)
    if ranking.control is None and ranking.groups:
        groups = "; ".join(", ".join(group) for group in ranking.groups)
        blocks.append(Text(f"No significant difference within: {groups}."))
    if ranking.friedman is not None:
        blocks.append(picture(ranking))
    return one_section(title, "   ".join(facts), "Ranking", blocks, ranking.words, (*notes, *ranking.notes))


def rank_grid(ranking: Ranking) -> Grid:
    """Average rank and mean value of each model, best first."""
    means = ranking.table.values.mean(axis=0)
    order = np.argsort(ranking.table.average_ranks, kind="stable")
    rows = [
        (
            ranking.table.models[k],
            decimals(float(ranking.table.average_ranks[k]), 2),
            decimals(float(means[k])),
        )
        for k in order
    ]
    return Grid(("model", "average rank", f"mean {ranking.table.measure or 'value'}"), tuple(rows))


def all_grid(test: Comparison) -> Grid:
    """Omnibus tests: Friedman's χ² and the F statistic of Iman and Davenport (1980)."""
    rows = [
        (statistic.test, decimals(statistic.value, 3), comparison.degrees(statistic), format_p_cell(statistic.p))
        for statistic in test.statistics
    ]
    return Grid(("omnibus test", "statistic", "df", "p"), tuple(rows))


def nemenyi_grid(nemenyi: Nemenyi) -> Grid:
    """Differences of average ranks, row minus column; a star marks those of at least the critical difference."""
    matrix = comparison.matrix_grid(Comparisons(nemenyi.models, nemenyi.comparisons))
    critical_difference = decimals(nemenyi.critical_difference, 2)
    caption = (
        f"Average rank of row minus column ± the critical difference {critical_difference}; * marks significant ones."
    )
    return Grid(("rank of row − column", *matrix.columns[1:]), matrix.rows, caption)


def pair_grids(comparisons: Comparisons, *, of_ranks: bool = False) -> Sequence[Block]:
    """Matrix and tests of pairs: differences of average ranks, or medians of the differences over data sets."""
    matrix = comparison.matrix_grid(comparisons)
    content = "Average rank of row minus column" if of_ranks else "Median over data sets of row minus column"
    head = "rank of row − column" if of_ranks else "median of row − column"
    caption = f"{content}; {matrix.caption.rpartition('; ')[2]}"
    return [Grid((head, *matrix.columns[1:]), matrix.rows, caption), comparison.test_grid(comparisons)]


def control_grid(against_control: AgainstControl) -> Grid:
    """Each model against the control, with raw and adjusted p-values."""
    rows = [
        (
            test_result.a,
            decimals(test_result.difference, 2),
            decimals(test_result.statistic, 3),
            *map(format_p_cell, (test_result.p, *adjusted)),
        )
        for test_result, *adjusted in zip(against_control.comparisons, *against_control.chances.values(), strict=True)
    ]
    titles = (name.title() for name in against_control.chances)
    return Grid((f"against {against_control.control}", "rank difference", "z", "p", *titles), tuple(rows))


def picture(ranking: Ranking) -> Picture:
    """Critical difference diagram, or groups without significant difference from the control."""
    ranks = ", ".join(f"{model} {decimals(rank, 2)}" for model, rank in ranking.average_ranks.items())
    critical_difference = float("nan") if ranking.nemenyi is None else ranking.nemenyi.critical_difference
    values = list(ranking.average_ranks.values())
    draw = partial(rank_chart, ranking.table.models, values, critical_difference, ranking.groups)
    return Picture(draw, f"Average ranks, 1 is best: {ranks}.")

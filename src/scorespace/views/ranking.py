"""The page of a ranking: average ranks, the tests, and which models cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from scorespace.comparisons.answer import Comparison, Comparisons, extent
from scorespace.comparisons.friedman import AgainstControl, Nemenyi
from scorespace.comparisons.ranking import Ranking
from scorespace.results import Note, decimals, p_cell
from scorespace.views import comparison
from scorespace.views.charts.ranking import rank_chart
from scorespace.views.document import Block, Document, Grid, Picture, Text, one_section


def document(ranking: Ranking, title: str, notes: Sequence[Note] = ()) -> Document:
    """The whole page of a ranking; `notes` are those on the data."""
    table = ranking.table
    better = "higher is better" if table.best == "high" else "lower is better"
    facts = [extent(table.datasets, "data sets"), extent(len(table.models), "models")]
    facts.append(f"{table.measure}, {better}" if table.measure else better)
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
        blocks.append(Text(f"Cannot be told apart: {'; '.join(', '.join(group) for group in ranking.groups)}."))
    if ranking.friedman is not None:
        blocks.append(picture(ranking))
    return one_section(title, "   ".join(facts), "Ranking", blocks, ranking.words, (*notes, *ranking.notes))


def rank_grid(ranking: Ranking) -> Grid:
    """Models from the best average rank, with their mean value."""
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


def all_grid(found: Comparison) -> Grid:
    """What a test of all models at once judges by: Friedman's χ², and Iman and Davenport's F."""
    rows = [(one.test, decimals(one.value, 3), comparison.degrees(one), p_cell(one.p)) for one in found.statistics]
    return Grid(("test of all", "statistic", "df", "p"), tuple(rows))


def nemenyi_grid(found: Nemenyi) -> Grid:
    """Row minus column in average rank; a star marks those that differ by the critical difference or more."""
    matrix = comparison.matrix_grid(Comparisons(found.models, found.comparisons))
    reach = decimals(found.critical_difference, 2)
    caption = f"Row minus column in average rank ± the critical difference {reach}; * marks that much or more."
    return Grid(("rank of row − column", *matrix.columns[1:]), matrix.rows, caption)


def pair_grids(found: Comparisons, *, of_ranks: bool = False) -> Sequence[Block]:
    """As for models on the same cases, of the medians of the differences, or of the average ranks."""
    matrix = comparison.matrix_grid(found)
    what = "Row minus column in average rank" if of_ranks else "Median of row minus column over data sets"
    head = "rank of row − column" if of_ranks else "median of row − column"
    caption = f"{what}; {matrix.caption.rpartition('; ')[2]}"
    return [Grid((head, *matrix.columns[1:]), matrix.rows, caption), comparison.test_grid(found)]


def control_grid(found: AgainstControl) -> Grid:
    """Each model against the control, with p raw and adjusted."""
    rows = [
        (
            one.a,
            decimals(one.difference, 2),
            decimals(one.statistic, 3),
            *map(p_cell, (one.p, *adjusted)),
        )
        for one, *adjusted in zip(found.comparisons, *found.chances.values(), strict=True)
    ]
    titles = (name.title() for name in found.chances)
    return Grid((f"against {found.control}", "rank difference", "z", "p", *titles), tuple(rows))


def picture(ranking: Ranking) -> Picture:
    """The diagram of critical differences, or of what cannot be told from the control."""
    ranks = ", ".join(f"{model} {decimals(rank, 2)}" for model, rank in ranking.average_ranks.items())
    reach = float("nan") if ranking.nemenyi is None else ranking.nemenyi.critical_difference
    values = list(ranking.average_ranks.values())
    draw = partial(rank_chart, ranking.table.models, values, reach, ranking.groups)
    return Picture(draw, f"Average ranks, 1 is best: {ranks}.")

"""Thresholds of the interactive panel: which are kept, which buttons select, and where intervals are simulated."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from scorespace.curves.hull import edges_of
from scorespace.results import grouped
from scorespace.tables import Array, ScoreTable

MAX_THRESHOLDS: Final = 2000
"""Maximum number of thresholds per model; with more than three models fewer each, at least a quarter."""

MAX_SIMULATED: Final = 300
"""Thresholds, over all models, at which intervals are simulated; between them limits are interpolated."""

TOP_BUTTONS: Final = ("1%", "5%", "10%", "200")
"""Numbers of top-ranked cases that buttons select."""


def max_thresholds(n_models: int) -> int:
    """Maximum number of thresholds per model."""
    return max(MAX_THRESHOLDS // 4, min(MAX_THRESHOLDS, 3 * MAX_THRESHOLDS // n_models))


def select_thresholds(table: ScoreTable, threshold: float, max_points: int = MAX_THRESHOLDS) -> Array:
    """Indices of the thresholds to keep: all, or the corners of the ROC hull and enough others for a smooth chart.

    The others are evenly spaced along the ROC curve and over the ranks, denser towards both ends.
    """
    n_thresholds = table.score.size + 1
    if n_thresholds <= max_points:
        return np.arange(n_thresholds)
    counts = table.sweep
    roc_length = counts.tp / counts.tp[-1] + counts.fp / counts.fp[-1]
    positive_rate = counts.pp / counts.pp[-1]
    on_hull = np.append(0, edges_of(table).end + 1)
    on_buttons = button_indices(table)
    n_free = max(2, max_points - on_hull.size - len(on_buttons) - 3)
    along_roc = np.searchsorted(roc_length, np.linspace(0, 2, n_free // 2))
    along_ranks = np.searchsorted(positive_rate, (1 - np.cos(np.linspace(0, np.pi, n_free - n_free // 2))) / 2)
    required = [np.searchsorted(-table.score, -threshold, side="right"), n_thresholds - 1]
    return np.unique(
        np.concatenate([on_hull, along_roc, along_ranks, on_buttons, required]).clip(0, n_thresholds - 1)
    ).astype(np.intp)


def top_index(table: ScoreTable, top: str) -> int:
    """Index of the lowest threshold that selects no more than the top cases, given as a percentage or a number."""
    return int(np.searchsorted(table.sweep.pp, _n_top_cases(table, top) * (1 + 1e-12), side="right")) - 1


def describe_ties(table: ScoreTable, top: str) -> str:
    """A note if ties prevent a threshold from selecting exactly the top cases; otherwise empty.

    >>> from scorespace.tables import score_table
    >>> describe_ties(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), "2")
    'No threshold selects exactly the 2 highest scores: 1 case without those tied at 0.4, 3 with them.'
    """
    n_cases, index, n_selected = _n_top_cases(table, top), top_index(table, top), table.sweep.pp
    if index == n_selected.size - 1 or float(n_selected[index]) >= n_cases * (1 - 1e-12):
        return ""
    n_without, threshold = float(n_selected[index]), table.threshold(float(table.thresholds[index + 1])).text
    tie_text = "in the bin from" if table.coarse else "tied at"
    count = f"{grouped(n_without)} {'case' if n_without == 1 else 'cases'}"
    return (
        f"No threshold selects exactly the {grouped(n_cases)} highest scores: {count} without those {tie_text} "
        f"{threshold}, {grouped(float(n_selected[index + 1]))} with them."
    )


def _n_top_cases(table: ScoreTable, top: str) -> float:
    """Number of top cases, an integer if cases are unweighted."""
    total = float(table.total)
    n_cases = float(top[:-1]) / 100 * total if top.endswith("%") else min(float(top), total)
    return math.floor(n_cases * (1 + 1e-12)) if table.whole else n_cases


def button_indices(table: ScoreTable) -> list[int]:
    """Indices of the thresholds that buttons select, without and with tied cases."""
    return [
        top_index(table, top) + offset for top in TOP_BUTTONS for offset in range(2 if describe_ties(table, top) else 1)
    ]


def simulation_nodes(table: ScoreTable, kept: Array, threshold: float, n_models: int) -> Array:
    """Positions among the kept thresholds at which intervals are simulated: buttons, hull corners, evenly between."""
    max_nodes = max(40, MAX_SIMULATED // n_models)
    initial = (
        int(np.searchsorted(-table.thresholds[kept], -threshold, side="right")) - 1 if math.isfinite(threshold) else 0
    )
    on_buttons = np.searchsorted(kept, button_indices(table))
    corners = np.flatnonzero(np.isin(kept, np.append(0, edges_of(table).end + 1)))
    evenly_spaced = np.linspace(0, kept.size - 1, max(2, max_nodes - min(corners.size, max_nodes // 2))).astype(np.intp)
    thinned_corners = corners[np.linspace(0, corners.size - 1, min(corners.size, max_nodes // 2)).astype(np.intp)]
    return np.unique(
        np.concatenate([evenly_spaced, thinned_corners, on_buttons, [initial]]).clip(0, kept.size - 1)
    ).astype(np.intp)

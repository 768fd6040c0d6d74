"""How sure a choice is: an interval on the threshold of least cost, and how often a dominated model stays so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from scorespace.curves.hull import hull_edges
from scorespace.decisions.honest import Models, condensed_rows, least
from scorespace.decisions.model import Choice, Decision, least_cost
from scorespace.resampling.draw import bootstrap
from scorespace.results import Progress
from scorespace.tables import Array, ConfusionTable, ScoreTable, ratio
from scorespace.tables.pair import PairTable

_THRESHOLDS: Final = 500  # replicates: the ends of an interval of thresholds are observed scores, and rough
_RESAMPLES: Final = 200
_PAIRED: Final = 20_000  # cases up to which models are drawn together; apart they differ more, and less is said
_CONDITIONS: Final = np.linspace(0, 1, 201)  # shares of the cost that misses have: all slopes from ∞ to 0


def with_intervals(
    decision: Decision,
    models: Models,
    *,
    pairs: PairTable | None = None,
    level: float = 0.95,
    seed: int = 0,
    replicates: int = _THRESHOLDS,
    progress: Progress | None = None,
) -> Decision:
    """The decision with bootstrap intervals on each model's threshold, chosen anew in every replicate.

    And with the share of resamples in which each dominated model is so too. Left undefined where the weights
    are not whole numbers.
    """
    done = []
    for number, choice in enumerate(decision.choices, start=1):
        done.append(_bounded(choice, decision, models[choice.model], level, seed, replicates))
        if progress is not None:
            progress(number / len(decision.choices))
    whole = all(table.whole for table in models.values())
    support = dominance_support(models, list(decision.dominated), pairs=pairs, seed=seed) if whole else {}
    return replace(decision, choices=tuple(done), support=support)


def dominance_support(
    models: Models, names: list[str], *, pairs: PairTable | None = None, replicates: int = _RESAMPLES, seed: int = 0
) -> dict[str, float]:
    """In which share of resamples a model is the cheapest under no condition, for each of the names.

    >>> from scorespace.tables import confusion
    >>> rules = {"idle": confusion([[0, 5], [0, 9]], positive=0), "good": confusion([[4, 1], [2, 7]], positive=0)}
    >>> dominance_support(rules, ["idle"])
    {'idle': 1.0}
    """
    if not names:
        return {}
    rng = np.random.default_rng(seed)
    together = pairs is not None and pairs.cases <= _PAIRED
    drawn = _drawn_cases(pairs.only(*models), replicates, rng) if together and pairs is not None else {}
    reach = {
        name: _reach(*(drawn[name] if name in drawn else _drawn_rows(table, replicates, rng)), _crisp(table))
        for name, table in models.items()
    }
    nothing = np.maximum(0.0, 2 * _CONDITIONS - 1)
    best = {
        name: np.max([np.broadcast_to(nothing, its.shape), *(one for other, one in reach.items() if other != name)], 0)
        for name, its in reach.items()
        if name in names
    }
    return {name: float((reach[name] <= others + 1e-12).all(axis=-1).mean()) for name, others in best.items()}


def _bounded(
    choice: Choice, decision: Decision, table: ScoreTable | ConfusionTable, level: float, seed: int, replicates: int
) -> Choice:
    if not table.whole or not table.thresholded:
        return choice
    table = _merged(table.inside(ScoreTable))
    thresholds, price = table.thresholds, least_cost(decision.condition)

    def threshold_again(drawn: ScoreTable) -> Array:
        return thresholds[least(*price(drawn.sweep))]

    within = decision.condition.prevalence is not None
    again = bootstrap(threshold_again, table, replicates=replicates, seed=seed, within=within)
    # Quantiles that are observed values: a threshold of +inf must not be mixed with a finite one.
    low, high = np.quantile(again, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    return replace(choice, threshold_interval=(float(low), float(high)))


def _merged(table: ScoreTable) -> ScoreTable:
    """The table with neighbouring scores merged where they are very many; each row bears its lowest score."""
    row, rows = condensed_rows(table)
    if rows == table.score.size:
        return table
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    counts = np.add.reduceat(table.counts, starts, axis=-1, dtype=np.int64)
    return replace(table, score=table.score[np.append(starts[1:], row.size) - 1], counts=counts)


def _crisp(table: ScoreTable | ConfusionTable) -> bool:
    return not table.thresholded


def _drawn_cases(pairs: PairTable, replicates: int, rng: np.random.Generator) -> Mapping[str, tuple[Array, Array]]:
    """Positives and negatives at each row (replicates, rows) of each model, all on the same cases drawn."""
    drawn = rng.integers(0, pairs.cases, (replicates, pairs.cases))
    label = pairs.label[drawn] == 1
    found = {}
    for k, name in enumerate(pairs.models):
        row, rows = condensed_rows(pairs.tables[k])
        where = np.arange(replicates)[:, None] * rows + row[pairs.place[k]][drawn]
        cells = [np.bincount(where[one], minlength=replicates * rows).reshape(-1, rows) for one in (label, ~label)]
        if rows == 1 and pairs.tables[k].score[0] < 0.5:  # a decision that is never positive has a first row too
            cells = [np.concatenate([np.zeros_like(one), one], axis=1) for one in cells]
        found[name] = (cells[0], cells[1])
    return found


def _drawn_rows(table: ScoreTable | ConfusionTable, replicates: int, rng: np.random.Generator) -> tuple[Array, Array]:
    scores = _merged(table.inside(ScoreTable))
    cells = np.concatenate([scores.pos, scores.neg])
    drawn = rng.multinomial(int(cells.sum()), cells / cells.sum(), replicates)
    return drawn[:, : scores.score.size], drawn[:, scores.score.size :]


def _reach(pos: Array, neg: Array, crisp: bool) -> Array:
    """The most that a model spares under each condition x (replicates, conditions): max of x · TPR − (1 − x) · FPR."""
    positives, negatives = pos.sum(axis=1), neg.sum(axis=1)
    x = _CONDITIONS
    if crisp:
        return np.outer(ratio(pos[:, 0], positives), x) - np.outer(ratio(neg[:, 0], negatives), 1 - x)
    edges = hull_edges(pos, neg)
    starts = np.flatnonzero(np.diff(edges.owner, prepend=-1))
    up, across = np.cumsum(edges.pos), np.cumsum(edges.neg)
    before = np.repeat(starts, np.diff(starts, append=edges.owner.size))
    tpr = ratio(up - (up - edges.pos)[before], positives[edges.owner])
    fpr = ratio(across - (across - edges.neg)[before], negatives[edges.owner])
    return np.asarray(np.maximum.reduceat(np.outer(tpr, x) - np.outer(fpr, 1 - x), starts, axis=0))

"""Score bands: counts, bad rate, odds, weight of evidence and KS by band of the scores."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from scorespace.curves.curve import UNIT, curve
from scorespace.curves.tabular import TabularCurve
from scorespace.errors import CurveError
from scorespace.inference.proportion import wilson
from scorespace.measures.scorecard import ADDED, BINS, quantile_bins
from scorespace.results import decimals, grouped, percent
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.threshold import round_threshold, threshold_text

Edges = Annotated[str, "lower ends of the bands above the lowest, separated by blanks: '0.1 0.2 0.5'"]


def _bins(table: ScoreTable, n: int, edges: str) -> Array:
    """Band of each distinct score, lowest first."""
    if edges.strip():
        try:
            ends = np.array([float(end) for end in edges.replace(";", " ").split()])
        except ValueError:
            raise CurveError(f"edges={edges!r} are not numbers.", hint="edges=0.1 0.2 0.5") from None
        return np.unique(np.searchsorted(np.sort(ends), table.score, side="right"), return_inverse=True)[1]
    if n < 1:
        raise CurveError(f"n={n} is not a number of bands.", hint="n=10")
    return quantile_bins(table.score, table.pos + table.neg, n)


@curve(
    title="Score bands",
    x="Mean score",
    y="Share of positives",
    name="bands",
    aliases=("score_bands", "gains_table"),
    y_ends=UNIT,
)
def bands(
    table: ScoreTable,
    *,
    n: Annotated[int, "bands with about equally many cases; equal scores share one"] = BINS,
    edges: Edges = "",
) -> TabularCurve:
    """Positives and negatives by band of the scores, lowest first: share, odds, weight of evidence, cumulative, KS.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.
    n : int
        Number of bands with about equally many cases.
    edges : str
        Lower ends of the bands instead, separated by blanks.

    Returns
    -------
    TabularCurve
        Mean score (x) and share of positives (y) of each band, with its counts.

    References
    ----------
    Siddiqi, N. (2006). Credit risk scorecards. Wiley.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> bands(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), n=2).table["ks"].tolist()
    [0.5, 0.0]
    """
    bin_ = _bins(table, n, edges)
    size = int(bin_.max(initial=0)) + 1
    positives, negatives, sums = (
        np.bincount(bin_, column, size) for column in (table.pos, table.neg, (table.pos + table.neg) * table.score)
    )
    cases = positives + negatives
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, bin_, table.score)
    np.maximum.at(high, bin_, table.score)
    limits = np.array([wilson(p, c) for p, c in zip(positives, cases, strict=True)])
    cumulative = [np.cumsum(side) / max(side.sum(), 1e-300) for side in (positives, negatives)]
    shares = [(side + ADDED) / (side.sum() + ADDED * size) for side in (positives, negatives)]
    numbers: dict[str, Array] = {
        "low": low,
        "high": high,
        "cases": cases,
        "share": cases / max(cases.sum(), 1e-300),
        "positives": positives,
        "negatives": negatives,
        "rate_low": limits[:, 0],
        "rate_high": limits[:, 1],
        "odds": ratio(negatives, positives),
        "woe": np.log(shares[1] / shares[0]),
        "cumulative_positives": cumulative[0],
        "cumulative_negatives": cumulative[1],
        "ks": np.abs(cumulative[0] - cumulative[1]),
    }
    rate = ratio(positives, cases)
    mean = ratio(sums, cases)
    return TabularCurve(
        "bands",
        mean,
        rate,
        low,
        "Mean score",
        "Share of positives",
        table=numbers,
        shown=_shown(numbers, rate, table),
        words=_words(numbers),
    )


def _shown(numbers: dict[str, Array], rate: Array, table: ScoreTable) -> dict[str, tuple[str, ...]]:
    """The bands as text, with the names of the classes."""
    positive = table.classes[table.positive]
    others = [name for name in table.classes if name != positive]
    negative = others[0] if len(others) == 1 else f"not {positive}"
    below = np.append(-np.inf, numbers["high"][:-1])
    largest = int(np.argmax(numbers["ks"]))

    def text(column: Array, write: Any = grouped) -> tuple[str, ...]:
        return tuple("∞" if np.isinf(value) else write(float(value)) for value in column)

    rates = zip(rate, numbers["rate_low"], numbers["rate_high"], strict=True)
    return {
        "score from": tuple(
            threshold_text(round_threshold(float(at), float(end)))
            for at, end in zip(numbers["low"], below, strict=True)
        ),
        "cases": text(numbers["cases"]),
        f"{positive}": text(numbers["positives"]),
        f"{positive} rate": tuple(f"{percent(r)} [{percent(a)}, {percent(b)}]" for r, a, b in rates),
        f"odds {negative}:{positive}": text(numbers["odds"], lambda value: decimals(value, 1)),
        f"WoE ln({negative}/{positive})": text(numbers["woe"], lambda value: decimals(value, 2)),
        f"cum. {positive}": text(numbers["cumulative_positives"], percent),
        f"cum. {negative}": text(numbers["cumulative_negatives"], percent),
        "KS": tuple(
            f"{decimals(value, 3)}{' max' if k == largest else ''}" for k, value in enumerate(numbers["ks"].tolist())
        ),
    }


def _words(numbers: dict[str, Array]) -> str:
    """Whether the share of positives is monotone over the bands."""
    rate = ratio(numbers["positives"], numbers["cases"])
    steps = np.diff(rate)
    against = int(min((steps > 0).sum(), (steps < 0).sum()))
    if rate.size < 2:
        return ""
    if against == 0:
        return "The share of positives is monotone over the bands."
    return f"The share of positives turns {against} time{'s' * (against != 1)} over the {rate.size} bands."

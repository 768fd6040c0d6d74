"""Leaderboards: all differences of several models with joint intervals, ranges of ranks, and letters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from scorespace.comparisons.letters import compact_letters
from scorespace.comparisons.result import Comparison, Comparisons
from scorespace.errors import MeasureError, ScoreSpaceError, listing
from scorespace.inference.bootstrap import BootstrapDraws, replicate_request
from scorespace.inference.case_values import MeanSpread, column_of, groups_of, is_mean_over_cases
from scorespace.inference.estimate import Estimate
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.request import Request, bind
from scorespace.results import Note, Result, Row, decimals, join_words, note, to_json_types
from scorespace.tables import Array

FROM_MODELS: Final = 3
"""Models from which on differences have joint intervals."""
_BLOCK: Final = 2_000_000  # studentised differences that are held at once
_NONE: Final = 1e-14  # relative variance of a difference below which two columns are the same


@dataclass(frozen=True)
class Entry:
    """A model in a leaderboard: its estimate, range of ranks, and letters."""

    estimate: Estimate
    rank_low: int
    rank_high: int
    letters: str

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.estimate.model

    @property
    def ranks(self) -> str:
        """The range of ranks as text."""
        return f"{self.rank_low}" if self.rank_low == self.rank_high else f"{self.rank_low}–{self.rank_high}"


@dataclass(frozen=True, repr=False)
class Leaderboard(Result):
    """Models by a mean over cases, the best first.

    `pairs` has every difference with joint intervals and p values; models that share a letter do not differ clearly.

    Attributes
    ----------
    measure : str
        The measure.
    level : float
        Confidence level.
    entries : tuple of Entry
        The models, the best first.
    pairs : Comparisons
        All pairs of models.
    critical : float
        Standard errors by which a difference must exceed zero.
    """

    measure: str
    level: float
    entries: tuple[Entry, ...]
    pairs: Comparisons = field(repr=False)
    critical: float

    @property
    def spec(self) -> MeasureSpec:
        """The measure."""
        return self.entries[0].estimate.spec

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the pairs."""
        return self.pairs.notes

    def rows(self) -> list[Row]:
        """One row per model."""
        return [
            one.estimate.row() | {"rank_low": one.rank_low, "rank_high": one.rank_high, "letters": one.letters}
            for one in self.entries
        ]

    def facts(self) -> Row:
        """The measure, the critical value, and all pairs."""
        facts = {"measure": self.measure, "level": self.level, "critical": self.critical}
        return to_json_types(facts) | {"pairs": self.pairs.rows()}

    @property
    def words(self) -> str:
        """The best model, and those that do not clearly differ from it."""
        first, *others = self.entries
        alike = [one.model for one in others if set(one.letters) & set(first.letters)]
        text = f"{first.model} is best by {self.measure}, {decimals(first.estimate.value)}"
        level = f"{100 * self.level:g} % joint intervals of {len(self.pairs)} differences"
        if not alike:
            return f"{text}, and better than all others ({level})."
        shown = join_words(alike) if len(alike) <= 5 else f"{len(alike)} others"
        return f"{text}; no clear difference to {shown} ({level})."


def leaderboard(
    draws: BootstrapDraws, estimates: Sequence[Estimate], spec: MeasureSpec, level: float = 0.95
) -> Leaderboard:
    """Compare all models by a mean over cases; intervals and p values of all differences hold jointly.

    The critical value is the quantile of max |d* − d| / s over all pairs in replicates (max-t), mapped from the normal
    distribution to Student's t, without which too few samples have all differences covered. Simulated joint coverage:
    0.92 to 0.94 for 10 models with 20 and 50 normal values, 0.94 for 30 models with 100.
    """
    names = tuple(one.model for one in estimates)
    spread, requests = joint_spread(draws, names, spec)
    value = np.array([request.value for request in requests])
    first, second = np.triu_indices(len(names), 1)
    errors = _pair_errors(spread, first, second)
    peaks = _largest(draws, names, requests, value, first, second, errors, spread.units)
    df = spread.df
    critical = (
        float(stdtrit(df, ndtr(np.quantile(peaks, level)))) if peaks.size else 0.0
    )  # all differences are constant
    differs = np.zeros((len(names), len(names)), dtype=bool)
    gap = value[first] - value[second]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(errors > 0, gap / errors, np.where(gap == 0, 0.0, np.sign(gap) * math.inf))
    is_clear = np.abs(t) > critical
    differs[first, second] = differs[second, first] = is_clear
    pairs = [
        _pair(names[i], names[j], spec, level, float(gap[k]), float(errors[k]), float(t[k]), df, critical, peaks)
        for k, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
    ]
    entries = _entries(estimates, value, differs, spec)
    text = f"intervals and p-values of the {len(pairs)} differences hold jointly (max-t over bootstrap replicates)."
    found = Comparisons(names, tuple(pairs), "max_t", (note("SS015", text),))
    return Leaderboard(str(spec), level, entries, found, critical)


def can_lead(draws: BootstrapDraws, names: Sequence[str], spec: MeasureSpec) -> bool:
    """Whether models have a leaderboard by a measure: several, on the same cases, by a mean over cases."""
    pairs = draws.pairs
    if len(names) < FROM_MODELS or pairs is None or not set(names) <= set(pairs.models):
        return False
    try:
        requests = [bind(spec, draws.tables[name]) for name in names]
    except MeasureError:
        return False
    return all(map(is_mean_over_cases, requests)) and not any(math.isnan(request.value) for request in requests)


def joint_spread(
    draws: BootstrapDraws, names: Sequence[str], spec: MeasureSpec
) -> tuple[MeanSpread, tuple[Request, ...]]:
    """The spread of the means of all models on the same cases, and the measure of each."""
    requests = tuple(bind(spec, draws.tables[name]) for name in names)
    columns = [column_of(request) for request in requests]
    values, weight, group = np.stack([values for values, _ in columns]), columns[0][1], groups_of(draws)
    defined = np.isfinite(values).all(axis=0)
    spread = MeanSpread(values[:, defined], weight[defined], None if group is None else group[defined])
    if not spread.units > 1 + 1e-9:
        raise ScoreSpaceError(
            "a leaderboard needs several cases.", seen=f"{spread.units:.3g} cases or groups", hint="more cases"
        )
    return spread, requests


def _pair_errors(spread: MeanSpread, first: Array, second: Array) -> Array:
    """Standard error of the difference of each pair; exactly 0 for the same columns."""
    covariance = spread.covariance
    variance = np.diag(covariance)
    scale = variance[first] + variance[second]
    of_pair = scale - 2 * covariance[first, second]
    return np.sqrt(np.where(of_pair > _NONE * scale, of_pair, 0.0))


def _largest(
    draws: BootstrapDraws,
    names: Sequence[str],
    requests: Sequence[Request],
    value: Array,
    first: Array,
    second: Array,
    errors: Array,
    units: float,
) -> Array:
    """Largest studentised deviation of any difference in each replicate."""
    drawn = draws.joint.all([replicate_request(*pair) for pair in zip(names, requests, strict=True)])
    deviation = (np.stack(drawn) - value[:, None]) * math.sqrt(units / (units - 1))  # replicates vary less by that
    varies = errors > 0
    if not varies.any():
        return np.zeros(0)
    i, j, error = first[varies], second[varies], errors[varies, None]
    blocks = np.array_split(deviation, max(1, math.ceil(error.size * deviation.shape[1] / _BLOCK)), axis=1)
    return np.concatenate([(np.abs(block[i] - block[j]) / error).max(axis=0) for block in blocks])


def _pair(
    a: str,
    b: str,
    spec: MeasureSpec,
    level: float,
    gap: float,
    error: float,
    t: float,
    df: float,
    critical: float,
    peaks: Array,
) -> Comparison:
    """The difference of two models with its joint interval, p and adjusted p."""
    comparison = Comparison(a, b, "max_t", spec.canonical, gap, level=level)
    if error == 0:
        reason = "both have the same values in every case" if gap == 0 else "the difference is the same in every case"
        p = 1.0 if gap == 0 else 0.0
        return replace(comparison, low=gap, high=gap, p=p, p_adjusted=p, reason=reason)
    z = float(ndtri(stdtr(df, abs(t))))
    adjusted = (1 + int((peaks >= z).sum())) / (1 + peaks.size)
    found: dict[str, Any] = {"statistic": t, "df": df, "p": 2 * float(stdtr(df, -abs(t))), "p_adjusted": adjusted}
    return replace(comparison, low=gap - critical * error, high=gap + critical * error, **found)


def _entries(estimates: Sequence[Estimate], value: Array, differs: Array, spec: MeasureSpec) -> tuple[Entry, ...]:
    """The models in order, with ranks between 1 + the clearly better ones and all but the clearly worse ones."""
    sign = -1.0 if spec.best == "low" else 1.0
    better = differs & (sign * (value[:, None] - value) < 0)  # row: the column is clearly better
    low, high = 1 + better.sum(axis=1), value.size - better.sum(axis=0)
    order = np.argsort(-sign * value, kind="stable")
    letters = compact_letters(differs[np.ix_(order, order)])
    found = zip(order.tolist(), letters, strict=True)
    return tuple(Entry(estimates[k], int(low[k]), int(high[k]), text) for k, text in found)


def refuse_unless_means(draws: BootstrapDraws, names: Sequence[str], spec: MeasureSpec | None) -> MeasureSpec:
    """The measure, or an error that says why there is no leaderboard."""
    if spec is not None and can_lead(draws, names, spec):
        return spec
    what: Mapping[bool, str] = {True: f"{spec} is not a defined mean over cases or queries", False: "too few models"}
    raise MeasureError(
        'adjust="max_t" needs at least three models and a mean over cases or queries.',
        seen=what[len(names) >= FROM_MODELS] if spec is not None else listing(names),
        hint='adjust="holm"',
    )

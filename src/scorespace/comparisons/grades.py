"""Calibration of rating grades: default rates beside the stated probabilities, with tests and a traffic light.

References: European Central Bank (2019), "Instructions for reporting the validation results of internal models"
(Jeffreys test, Herfindahl index); Basel Committee (2005), "Studies on the validation of internal rating systems"
(binomial test); Vasicek (2002), "The distribution of loan portfolio value", Risk 15 (correlation).
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Final

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import betainc, betaincinv, ndtr, ndtri

from scorespace.comparisons.multiple_testing import holm
from scorespace.curves.curve import UNIT, curve
from scorespace.curves.tabular import TabularCurve
from scorespace.errors import CurveError
from scorespace.results import decimals, grouped, p_text, percent
from scorespace.tables import Array, ScoreTable

YELLOW: Final = 0.05
RED: Final = 0.01
MAX_GRADES: Final = 40
"""Distinct probabilities up to which they are taken as grades."""

_NODES: Final = 64


def jeffreys_p(defaults: Array, cases: Array, stated: Array) -> Array:
    """P(true rate ≤ PD) under the posterior Beta(D + ½, N − D + ½): small where the PD is too low (one-sided).

    >>> round(float(jeffreys_p(np.array(9), np.array(500), np.array(0.01))), 4)
    0.0462
    """
    return np.asarray(betainc(defaults + 0.5, cases - defaults + 0.5, stated))


def binomial_p(defaults: Array, cases: Array, stated: Array, correlation: float = 0.0) -> Array:
    """P(X ≥ D) of X defaults in N cases with probability PD, or with defaults correlated by a common factor.

    >>> round(float(binomial_p(np.array([9.0]), np.array([500.0]), np.array([0.01]))[0]), 4)
    0.0671
    """
    if not correlation:
        return _upper_tail(defaults, cases, stated)
    nodes, weights = hermegauss(_NODES)
    rates = ndtr((ndtri(stated)[..., None] - math.sqrt(correlation) * nodes) / math.sqrt(1 - correlation))
    tails = _upper_tail(np.asarray(defaults)[..., None], np.asarray(cases)[..., None], rates)
    return np.asarray(tails @ weights / weights.sum())


def _upper_tail(defaults: Array, cases: Array, rate: Array) -> Array:
    """P(X ≥ D) of a binomial count, from the incomplete beta function."""
    tail = betainc(np.maximum(defaults, 1), np.maximum(cases - defaults + 1, 1), rate)
    return np.where(defaults > 0, tail, 1.0)


def herfindahl(counts: Array) -> dict[str, float]:
    """Σ R² of the shares R of grades, their coefficient of variation, and the ECB's index in [0, 1].

    >>> {name: round(value, 3) for name, value in herfindahl(np.array([5, 15, 35, 25, 15, 5])).items()}
    {'sum_squares': 0.235, 'cv': 0.64, 'hi': 0.192}
    """
    shares = np.asarray(counts, dtype=np.float64) / np.sum(counts)
    grades = shares.size
    cv = math.sqrt(grades * float(((shares - 1 / grades) ** 2).sum()))
    index = 1 + math.log((cv**2 + 1) / grades) / math.log(grades) if grades > 1 else math.nan
    return {"sum_squares": float((shares**2).sum()), "cv": cv, "hi": index}


def lights(p: Array) -> tuple[str, ...]:
    """Traffic light of p-values: green from 0.05, yellow from 0.01, red below."""
    return tuple("" if math.isnan(x) else "green" if x >= YELLOW else "yellow" if x >= RED else "red" for x in p)


@curve(
    title="Calibration of grades",
    x="Stated probability",
    y="Share of positives",
    name="grades",
    aliases=("rating_grades", "pd_calibration"),
    x_ends=UNIT,
    y_ends=UNIT,
    probability=True,
)
def grades(
    table: ScoreTable,
    *,
    correlation: Annotated[float, "correlation of the outcomes by a common factor, 0 to below 1"] = 0.0,
) -> TabularCurve:
    """Share of positives of each distinct probability (grade), with binomial and Jeffreys tests that it is not higher.

    Parameters
    ----------
    table : ScoreTable
        Probabilities, one for each grade, with the classes of the cases; see `score_table`.
    correlation : float
        Correlation of the outcomes by a common factor, for the binomial test; 0 makes the tests strict.

    Returns
    -------
    TabularCurve
        Stated probability (x) and share of positives (y) of each grade, with counts, tests and traffic light.

    References
    ----------
    European Central Bank (2019). Instructions for reporting the validation results of internal models.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> found = grades(score_table([1] * 9 + [0] * 491, [0.01] * 500))
    >>> found.table["jeffreys_p"].round(4).tolist(), found.shown["light"]
    ([0.0462], ('yellow',))
    """
    if table.score.size > MAX_GRADES:
        raise CurveError(
            "grades have few distinct probabilities.",
            seen=f"{grouped(table.score.size)} distinct scores",
            hint="--kind bands, or a column with the probability of each grade",
        )
    if not 0 <= correlation < 1:
        raise CurveError(f"correlation={correlation:g} is not between 0 and 1.", hint="correlation=0.1")
    stated, defaults = table.score[::-1], np.asarray(table.pos[::-1], dtype=np.float64)
    cases = defaults + np.asarray(table.neg[::-1], dtype=np.float64)
    p = jeffreys_p(defaults, cases, stated)
    binomial = binomial_p(defaults, cases, stated, correlation)
    adjusted = np.asarray(holm(p.tolist()))
    numbers: dict[str, Array] = {
        "cases": cases,
        "positives": defaults,
        "rate_low": betaincinv(defaults + 0.5, cases - defaults + 0.5, 0.025),
        "rate_high": betaincinv(defaults + 0.5, cases - defaults + 0.5, 0.975),
        "jeffreys_p": p,
        "binomial_p": binomial,
        "jeffreys_p_holm": adjusted,
    }
    total, mean = float(cases.sum()), float(cases @ stated / cases.sum())
    portfolio = {
        "cases": total,
        "positives": float(defaults.sum()),
        "stated": mean,
        "rate": float(defaults.sum() / total),
        "jeffreys_p": float(jeffreys_p(defaults.sum(), cases.sum(), np.asarray(mean))),
        "binomial_p": float(binomial_p(defaults.sum()[None], cases.sum()[None], np.array([mean]), correlation)[0]),
    }
    facts = {"portfolio": portfolio, "herfindahl": herfindahl(cases)}
    rate = defaults / cases
    return TabularCurve(
        "grades",
        stated,
        rate,
        stated,
        "Stated probability",
        "Share of positives",
        table=numbers,
        shown=_shown(stated, rate, numbers, table),
        facts_=facts,
        words=_words(numbers, rate, facts, correlation),
    )


def _shown(stated: Array, rate: Array, numbers: dict[str, Array], table: ScoreTable) -> dict[str, tuple[str, ...]]:
    """The grades as text."""
    positive = table.classes[table.positive]
    rates = zip(rate, numbers["rate_low"], numbers["rate_high"], strict=True)
    return {
        "stated": tuple(map(percent, stated.tolist())),
        "cases": tuple(map(grouped, numbers["cases"].tolist())),
        f"{positive}": tuple(map(grouped, numbers["positives"].tolist())),
        f"{positive} rate": tuple(f"{percent(r)} [{percent(a)}, {percent(b)}]" for r, a, b in rates),
        "Jeffreys p": tuple(decimals(x, 3) for x in numbers["jeffreys_p"].tolist()),
        "binomial p": tuple(decimals(x, 3) for x in numbers["binomial_p"].tolist()),
        "Holm p": tuple(decimals(x, 3) for x in numbers["jeffreys_p_holm"].tolist()),
        "light": lights(numbers["jeffreys_p"]),
        "light, Holm": lights(numbers["jeffreys_p_holm"]),
    }


def _words(numbers: dict[str, Array], rate: Array, facts: dict[str, Any], correlation: float) -> str:
    """What the tests say about the grades and the portfolio, and how concentrated the grades are."""
    portfolio, index = facts["portfolio"], facts["herfindahl"]
    low = int((numbers["jeffreys_p_holm"] < YELLOW).sum())
    inversions = int((np.diff(rate) < 0).sum())
    sentences = [
        f"Portfolio: stated {percent(portfolio['stated'])}, observed {percent(portfolio['rate'])} "
        f"(Jeffreys {p_text(portfolio['jeffreys_p'])}).",
        f"{f'{low} of {rate.size} grades' if low else 'No grade'} {'have' if low > 1 else 'has'} more positives than "
        "stated after Holm's adjustment.",
    ]
    if inversions:
        sentences.append(f"{inversions} grade{'s' * (inversions != 1)} with a lower rate than the grade below.")
    if rate.size > 1:
        sentences.append(f"Herfindahl index {decimals(index['sum_squares'], 3)} (ECB {decimals(index['hi'], 3)}).")
    if not correlation:
        sentences.append("Outcomes are taken as independent; correlation=0.1 allows for a common factor.")
    return " ".join(sentences)

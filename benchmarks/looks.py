"""Regret over a range of costs, and printed numbers that do not add up."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from populations import Array
from rounds import Cell, Found, Part, markdown
from scipy.special import ndtr

from scorespace.audit.printed_numbers import consistent_tables
from scorespace.decisions import cost_region
from scorespace.measures import parse
from scorespace.tables import Counts, score_table

RATIOS, PREVALENCE, SHIFT, STATED = (3.0, 10.0), 0.3, 1.19, -0.1
_GRID = np.linspace(-6, 6, 12001)


def _cost(threshold: float | Array, ratio: float) -> Array:
    """The true cost of a threshold of two normal classes."""
    return np.asarray((1 - PREVALENCE) * ndtr(-threshold) + PREVALENCE * ratio * ndtr(threshold - SHIFT))


_LOWEST = {ratio: float(_cost(_GRID, ratio).min()) for ratio in RATIOS}


def _regret(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    del replicates
    cases, found = int(cell[0]), {}
    for seed in range(samples):
        label = (rng.random(cases) < PREVALENCE).astype(int)
        models = {"m": score_table(label, rng.normal(size=cases) + SHIFT * label)}
        for kind, at in (("stated", STATED), ("chosen", None)):
            choice = cost_region(models, RATIOS, at=at, seed=seed).best
            true = max(float(_cost(float(choice.threshold), ratio)) / _LOWEST[ratio] - 1 for ratio in RATIOS)
            sums = found.setdefault(kind, dict.fromkeys(("samples", "true", "apparent", "value", "high", "holds"), 0.0))
            values = (1, true, choice.apparent, choice.largest.value, choice.high, choice.high >= true)
            found[kind] = dict(zip(sums, map(sum, zip(sums.values(), values, strict=True)), strict=True))
    return found


def _of_regret(found: Mapping[Cell, Found]) -> str:
    rows = [
        [f"{kind}, {cases} cases", *(f"{sums[name] / sums['samples']:.3f}" for name in list(sums)[1:])]
        for (cases,), one in found.items()
        for kind, sums in one.items()
    ]
    return markdown(["threshold", "true", "apparent", "cross-fitted", "bound", "the bound holds"], rows)


regret = Part(((300,), (1000,), (4000,)), _regret, _of_regret)
"""The largest regret over cost ratios of 3 to 10, of a stated and of a chosen threshold."""


# --- printed numbers ------------------------------------------------------------------------------------------------

THREE, FIVE = ("acc", "tpr", "tnr"), ("acc", "tpr", "tnr", "ppv", "f1")


def random_table(rng: np.random.Generator, n: int) -> Counts:
    """A confusion matrix of n cases with a prevalence, sensitivity and specificity drawn at random."""
    p = int(rng.integers(max(2, n // 20), n // 2 + 1))
    tp, tn = rng.binomial(p, rng.uniform(0.5, 0.99)), rng.binomial(n - p, rng.uniform(0.5, 0.99))
    return Counts(tp=tp, fp=n - p - tn, fn=p - tp, tn=tn)


def printed(table: Counts, names: tuple[str, ...], digits: int) -> dict[str, str]:
    """Measures of a table as printed; measures that are undefined are left out."""
    values = {name: float(parse(name).along(table)) for name in names}
    return {name: f"{value:.{digits}f}" for name, value in values.items() if np.isfinite(value)}


def altered(rng: np.random.Generator, numbers: dict[str, str]) -> dict[str, str]:
    """The numbers with another last or last but one digit in one of them."""
    name = list(numbers)[int(rng.integers(len(numbers)))]
    text, place = numbers[name], -int(rng.integers(1, 3))
    digit = str((int(text[place]) + int(rng.integers(1, 10))) % 10)
    other = text[:place] + digit + (text[place + 1 :] if place < -1 else "")
    if float(other) > 1:
        other = text.replace("1.", "0.").replace("00", "98")
    return {**numbers, name: other}


def _adding(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    del replicates
    n, digits, known = int(cell[0]), int(cell[1]), bool(cell[2])
    found = {}
    for names in (THREE, FIVE):
        accused = detected = 0
        for _ in range(samples):
            table = random_table(rng, n)
            positives = int(table.p) if known else None
            numbers = printed(table, names, digits)
            accused += not consistent_tables(n, numbers, positives=positives, explain=False).consistent
            wrong = altered(rng, numbers)
            detected += not consistent_tables(n, wrong, positives=positives, explain=False).consistent
        found[str(len(names))] = {"samples": samples, "accused": accused, "detected": detected}
    return found


def _of_adding(found: Mapping[Cell, Found]) -> str:
    rows = [
        [f"{n} cases, {digits} decimals, positives {'known' if known else 'unknown'}"]
        + [f"{one[name]['accused']:.0f}, {one[name]['detected'] / one[name]['samples']:.2f}" for name in ("3", "5")]
        for (n, digits, known), one in found.items()
    ]
    return markdown(["table", "acc, tpr, tnr", "and ppv, f1"], rows)


adding_up = Part(
    (
        (100, 2, 1),
        (300, 2, 1),
        (1000, 2, 1),
        (100, 3, 1),
        (300, 3, 1),
        (100, 2, 0),
        (300, 2, 0),
        (100, 3, 0),
        (300, 3, 0),
    ),
    _adding,
    _of_adding,
    times=20,
)
"""How often true tables are accused, and how often an altered digit is detected."""

"""How often the intervals, bands and tests of the clinic hold: net benefit, calibration distances, rates, margins."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
from populations import Array
from rejected import LIKELY
from rounds import Cell, Found, Part, markdown
from scipy.special import expit, ndtr, ndtri

import scorespace as ss
from scorespace.comparisons.paired import compare
from scorespace.inference import bias_corrected
from scorespace.inference.bands import band
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.clinical_bands import smooth_calibration_band
from scorespace.inference.estimate import estimates
from scorespace.measures import parse
from scorespace.tables import ScoreTable, score_table
from scorespace.tables.paired import pair_table

LEVEL = 0.95
SHAPES = {
    "calibrated": lambda x: x,
    "slope 0.6": lambda x: 0.6 * x,
    "shift": lambda x: x + 0.5,
    "bend": lambda x: x + 0.25 * (x + 1) ** 2 - 0.3,
}
MEASURES = ("nb@0.2", "snb@0.2", "avoided@0.2", "oe", "ici", "e50", "e90", "emax")
RISKS: tuple[Cell, ...] = tuple(
    (shape, mean, cases) for shape in SHAPES for mean, cases in ((-0.5, 100), (-0.5, 500), (-2.5, 300))
)


def _sample(cell: Cell, rng: np.random.Generator) -> ScoreTable:
    shape, mean, cases = str(cell[0]), float(cell[1]), int(cell[2])
    truth = np.zeros(0)
    while not 2 <= truth.sum() <= cases - 2:
        x = rng.normal(mean, 1.2, cases)
        truth = rng.random(cases) < expit(SHAPES[shape](x))
    return score_table(truth.astype(int), expit(x), positive=1)


@cache
def _population(shape: str, mean: float) -> tuple[Array, Array]:
    """Scores and true rates at many quantiles."""
    x = mean + 1.2 * ndtri((np.arange(200_000) + 0.5) / 200_000)
    return expit(x), expit(SHAPES[shape](x))


def _true_benefit(shape: str, mean: float, at: Array) -> Array:
    score, rate = _population(shape, mean)
    size, place = score.size, np.searchsorted(score, at)
    hits = np.append(np.cumsum(rate[::-1])[::-1], 0.0)[place] / size
    return hits - ((size - place) / size - hits) * at / (1 - at)


def _truths(shape: str, mean: float) -> dict[str, float]:
    score, rate = _population(shape, mean)
    distance, share = np.abs(rate - score), float(rate.mean())
    benefit = float(_true_benefit(shape, mean, np.array([0.2]))[0])
    all_acted = share - (1 - share) / 4
    found = {"nb@0.2": benefit, "snb@0.2": benefit / share, "avoided@0.2": 100 * (benefit - all_acted) * 4}
    found |= {"oe": share / float(score.mean()), "ici": float(distance.mean()), "emax": float(distance.max())}
    return found | {f"e{q}": float(np.quantile(distance, q / 100)) for q in (50, 90)}


def _risks(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    shape, mean = str(cell[0]), float(cell[1])
    truths, found = _truths(shape, mean), dict[str, dict[str, float]]()

    def count(name: str, held: bool) -> None:
        sums = found.setdefault(name, {"samples": 0, "held": 0})
        sums["samples"] += 1
        sums["held"] += held

    for k in range(samples):
        table = _sample(cell, rng)
        draws = BootstrapDraws({"": table}, replicates=replicates, seed=k)
        with patch.object(bias_corrected, "_INVERSION_DRAWS", max(25, replicates // 5)), np.errstate(all="ignore"):
            shown = estimates({"": [parse(name) for name in MEASURES]}, draws, level=LEVEL)
        for name, one in zip(MEASURES, shown, strict=True):
            if not math.isnan(one.low):
                count(name, one.low <= truths[name] <= one.high)
        _bands(table, shape, mean, replicates, k, count)
    return found


def _bands(table: ScoreTable, shape: str, mean: float, replicates: int, seed: int, count: Any) -> None:
    """Whether bands hold the whole curve, and a pointwise one its middle."""
    benefit, smooth = band.functions["net_benefit"], smooth_calibration_band
    whole = benefit(table, simultaneous=True, replicates=replicates, seed=seed)
    truth = _true_benefit(shape, mean, whole.x)
    count("band of net benefit, simultaneous", bool(((whole.low <= truth) & (truth <= whole.high)).all()))
    points, middle = benefit(table, seed=seed), whole.x.size // 2
    count("band of net benefit, pointwise", bool(points.low[middle] <= truth[middle] <= points.high[middle]))
    score, rate = _population(shape, mean)
    low, high = np.quantile(score, [0.05, 0.95])
    for simultaneous in (True, False):
        one = smooth(table, simultaneous=simultaneous, seed=seed)
        inside = (one.x >= low) & (one.x <= high)
        curve = np.interp(one.x, score, rate)
        held = (one.low <= curve) & (curve <= one.high)
        name = "simultaneous" if simultaneous else "pointwise"
        count(
            f"smooth calibration, {name}", bool(held[inside].all() if simultaneous else held[inside][inside.sum() // 2])
        )


def _of_risks(found: Mapping[Cell, Found]) -> str:
    names = list(dict.fromkeys(name for one in found.values() for name in one))
    head = ["measure or band", *(f"{shape}, {mean:g}, {cases}" for shape, mean, cases in found)]
    rows = [
        [name, *(f"{one[name]['held'] / one[name]['samples']:.2f}" if name in one else "–" for one in found.values())]
        for name in names
    ]
    return markdown(head, rows)


clinic = Part(RISKS, _risks, _of_risks)
"""Intervals and bands of risks: calibrated, and miscalibrated in three ways; mean logit and number of cases."""

RATES: tuple[Cell, ...] = tuple(
    (spec, positives, negatives)
    for spec in (0.9, 0.95)
    for positives, negatives in ((25, 25), (50, 50), (100, 100), (200, 200), (30, 200), (200, 30))
)


def _rates(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    spec, positives, negatives = float(cell[0]), int(cell[1]), int(cell[2])
    found: Found = {}
    truth = float(1 - ndtr(ndtri(spec) - 1.6))
    names = (f"sens@spec={spec}", f"spec@sens={spec}")
    for k in range(samples):
        scores = np.concatenate([rng.normal(1.6, 1, positives), rng.normal(size=negatives)])
        table = score_table(np.repeat([1, 0], [positives, negatives]), scores, positive=1)
        draws = BootstrapDraws({"": table}, replicates=replicates, seed=k)
        for name, one in zip(("tpr_at", "tnr_at"), estimates({"": list(map(parse, names))}, draws), strict=True):
            sums = found.setdefault(name, {"samples": 0, "held": 0})
            sums["samples"] += 1
            sums["held"] += one.low <= truth <= one.high
    return found


def _of_rates(found: Mapping[Cell, Found]) -> str:
    head = ["value", *(f"{spec:g}, {pos:g} + {neg:g}" for spec, pos, neg in found)]
    names = {"tpr_at": "sensitivity at that specificity", "tnr_at": "specificity at that sensitivity"}
    rows = [
        [text, *(f"{one[name]['held'] / one[name]['samples']:.2f}" for one in found.values())]
        for name, text in names.items()
    ]
    return markdown(head, rows)


rates = Part(RATES, _rates, _of_rates, times=4)
"""Rates at a stated other rate, equal variances."""

NULLS: tuple[Cell, ...] = (
    ("net benefit", 100, 0.2),
    ("net benefit", 500, 0.1),
    ("net benefit, t 0.5", 300, 0.4),
    ("calibration", 200, -1.0),
    ("calibration", 1000, -2.5),
    ("AUC worse by the margin", 100, 0.5),
    ("AUC worse by the margin", 400, 0.25),
    ("AUC at the margin, equivalence", 400, 0.5),
    ("Brier worse by the margin", 300, 0.3),
)


def _p_values(cell: Cell, rng: np.random.Generator, seed: int) -> dict[str, float]:
    what, cases, other = str(cell[0]), int(cell[1]), float(cell[2])
    if what == "calibration":
        p = expit(rng.normal(other, 1.2, cases))
        data = {"y": (rng.random(cases) < p).astype(int), "p": p}
        found = ss.evaluate(data, truth="y", scores="p", positive=1, measures="auc", settings={"seed": seed})
        return {one.test: one.p for one in found.calibration_tests("spiegelhalter", "hosmer_lemeshow", "cox")}
    positives = round(cases * other)
    truth = np.repeat([1, 0], [positives, cases - positives])
    shared, noise = rng.normal(size=cases), rng.normal(size=(2, cases))
    if what.startswith("AUC"):
        margin = 0.05
        apart = [math.sqrt(2) * float(ndtri(area)) for area in (0.8 - margin, 0.8)]
        scores = [(shared + noise[k]) / math.sqrt(2) + apart[k] * truth for k in range(2)]
        return _margin_p(truth, scores, "auc", margin, what.endswith("equivalence"), seed)
    scores = [expit((shared + noise[k]) / math.sqrt(2) + 1.2 * truth - 1.4) for k in range(2)]
    if what.startswith("Brier"):  # of a mixture with the mean score, whose true Brier score is higher by the margin
        return _brier_margin(truth, scores, seed)
    at = 0.5 if what.endswith("0.5") else 0.2
    pairs = pair_table(truth, {"a": scores[0], "b": scores[1]})
    return {what: compare(pairs, spec=parse(f"nb@{at}"), seed=seed)[0].p}


def _brier_margin(truth: Array, scores: list[Array], seed: int) -> dict[str, float]:
    """Scores of one model with noise of variance 0.02 on the probability: its Brier score is higher by so much."""
    rng = np.random.default_rng([seed, 5])
    noisy = scores[0] + math.sqrt(0.02) * np.where(rng.random(truth.size) < 0.5, 1, -1)
    inside = (noisy > 0) & (noisy < 1)
    other = np.where(inside, noisy, scores[0] + np.where(noisy <= 0, 1, -1) * math.sqrt(0.02))
    gap = float(np.mean((other - scores[0]) ** 2 + 2 * (other - scores[0]) * (scores[0] - _rate(scores[0]))))
    return _margin_p(truth, [other, scores[0]], "brier", max(gap, 1e-3), False, seed)


def _rate(score: Array) -> Array:
    """True rate of positives at a score of the normal population with spread 1 in each class."""
    x = np.log(score / (1 - score)) + 1.4
    return expit(1.2 * x - 0.72 + math.log(0.3 / 0.7))


def _margin_p(
    truth: Array, scores: list[Array], measure: str, margin: float, equivalent: bool, seed: int
) -> dict[str, float]:
    kind = "equivalent" if equivalent else "noninferior"
    found = ss.compare(
        truth, {"a": scores[0], "b": scores[1]}, measure=measure, margin=margin, margin_kind=kind, seed=seed
    )[0]
    return {f"{measure}, {kind}": found.p if equivalent else 2 * found.p}  # so that both nominal levels are 5 %


def _nulls(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    del replicates
    found: Found = {}
    for k in range(samples):
        for name, p in _p_values(cell, rng, k).items():
            sums = found.setdefault(name, {"samples": 0, "rejected": 0})
            sums["samples"] += 1
            sums["rejected"] += p < LIKELY
    return found


def _of_nulls(found: Mapping[Cell, Found]) -> str:
    rows = [
        [str(what) if len(one) == 1 else name, f"{cases:g}", f"{other:g}", f"{sums['rejected'] / sums['samples']:.3f}"]
        for (what, cases, other), one in found.items()
        for name, sums in one.items()
    ]
    return markdown(["test", "cases", "share of positives, or mean logit", "rejected"], rows)


clinic_tests = Part(NULLS, _nulls, _of_nulls, times=4)
"""True nulls of the tests of net benefit and of calibration, and differences that equal the margin."""

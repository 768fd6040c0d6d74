"""How often intervals from partial truth hold: with a proxy, with verification by test result, with chosen labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rounds import Cell, Found, Part, markdown
from scipy.special import expit, logit

from scorespace.inference.label_design import label_probabilities, spreads
from scorespace.inference.prediction_powered import estimates_with_proxy
from scorespace.measures import parse
from scorespace.tables import score_table
from scorespace.tables.paired import pair_table
from scorespace.tables.partial_truth import PartialTruth, partial_truth

Array = NDArray[Any]
ROWS, SEPARATION, CUT = 4000, 1.5, 0.3
MANY = 1_000_000  # cases of which the truth of a cell is taken
MEASURES = {
    "acc": f"acc@{CUT}",
    "tpr": f"tpr@{CUT}",
    "ppv": f"ppv@{CUT}",
    "auc": "auc",
    "ap": "ap",
    "brier": "brier",
    "net benefit": f"nb@{CUT}",
    "cost": f"cost(fp=1, fn=5)@{CUT}",
}
SPECS = {name: parse(text) for name, text in MEASURES.items()}


def drawn(rng: np.random.Generator, rows: int, share: float, proxy: str) -> tuple[Array, Array, Array]:
    """Truth, calibrated scores of two normal distributions, and a proxy."""
    truth = (rng.random(rows) < share).astype(np.int64)

    def posterior(separation: float) -> Array:
        raw = separation * (truth + rng.normal(size=rows) / separation) if separation else np.zeros(rows)
        return np.asarray(expit(logit(share) + separation * raw - separation**2 / 2))

    score = posterior(SEPARATION)
    if proxy.endswith("flipped"):
        return truth, score, np.where(rng.random(rows) < float(proxy.split()[0]) / 100, 1 - truth, truth)
    if proxy == "sens .6, spec .95":
        return truth, score, (rng.random(rows) < np.where(truth == 1, 0.6, 0.05)).astype(np.int64)
    if proxy == "calibrated probability":
        other = posterior(1.6)
        odds = logit(score) + logit(other) - logit(share)  # a stronger model that knows the first one
        return truth, score, np.asarray(expit(odds))
    if proxy == "sides with the model":
        flip = rng.random(rows) < 0.1
        return truth, score, np.where(flip, score < CUT, score >= CUT).astype(np.int64)
    return truth, score, (rng.random(rows) < share).astype(np.int64)


def sample_of(truth: Array, score: Array, proxy: Array | None, gold: Array, **fields: Any) -> PartialTruth:
    """The sample in which only some rows have a truth; a fractional proxy is a probability."""
    rows = np.flatnonzero(gold)
    places, labels, shares = [rows], [truth[rows]], [np.ones(rows.size)]
    if proxy is not None:
        of_class = np.stack([1 - proxy, proxy], axis=1)
        of_row, label = np.nonzero((of_class > 0) | gold[:, None])
        places, labels = [*places, of_row], [*labels, label]
        shares = [*shares, of_class[of_row, label]]
    row = np.concatenate(places)
    pairs = pair_table(np.concatenate(labels), {"s": score[row]}, positive=1)
    return partial_truth(pairs, row, rows.size, truth.size, np.concatenate(shares), **fields)


def true_values(cell: Cell, share: float) -> dict[str, float]:
    """The measures of many cases; two seeds at most are behind a cell."""
    rng = np.random.default_rng(round(1000 * share))
    truth, score, _ = drawn(rng, MANY, share, "none")
    table = score_table(truth, score, positive=1)
    return {name: float(_value(spec, table)) for name, spec in SPECS.items()}


def _value(spec: Any, table: Any) -> float:
    from scorespace.measures.request import bind

    return bind(spec, table).value


# --- a proxy -------------------------------------------------------------------------------------------------------

PROXIES = (
    "5 % flipped",
    "20 % flipped",
    "sens .6, spec .95",
    "calibrated probability",
    "sides with the model",
    "useless",
)
PROXY_CELLS: tuple[Cell, ...] = (
    *((proxy, 600.0, 0.3) for proxy in PROXIES),
    ("5 % flipped", 600.0, 0.05),
    ("5 % flipped", 120.0, 0.3),
    ("5 % flipped", 0.0, 0.3),
)
"""Proxy, labels (0: probability .3 from the threshold on and .08 below) and share of positives."""


def _proxies(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    kind, labels, share = str(cell[0]), int(cell[1]), float(cell[2])
    truths = true_values(cell, share)
    found: Found = {name: {"samples": 0, "held": 0, "ratio": 0.0} for name in SPECS}
    for number in range(samples):
        truth, score, proxy = drawn(rng, ROWS, share, kind)
        gold, chance = rng.permutation(ROWS) < labels, None
        if not labels:
            chance = np.where(score >= CUT, 0.3, 0.08)
            gold = rng.random(ROWS) < chance
        sample = sample_of(truth, score, proxy.astype(np.float64), gold, probability=chance)
        every = estimates_with_proxy(sample, {"s": list(SPECS.values())}, replicates=replicates, seed=number)
        for name, one in zip(SPECS, every, strict=True):
            sums = found[name]
            sums["samples"] += 1
            sums["held"] += one.low <= truths[name] <= one.high
            sums["ratio"] += (one.labels / one.worth) ** 0.5
    return found


def _proxy_rows(found: Mapping[Cell, Found]) -> str:
    rows = []
    for (kind, labels, share), sums in found.items():
        cells = (f"{one['held'] / one['samples']:.3f} · {one['ratio'] / one['samples']:.2f}" for one in sums.values())
        chosen = f"{labels:g} labels" if labels else "known probabilities"
        rows.append((f"{kind}, {chosen}, {share:g} positive", *cells))
    return markdown(("proxy", *MEASURES), rows)


proxies = Part(PROXY_CELLS, _proxies, _proxy_rows, times=2)
"""Intervals from labels of some rows and a proxy of all, and their width relative to the labels alone."""


# --- verification --------------------------------------------------------------------------------------------------

VERIFIED_CELLS: tuple[Cell, ...] = ((2000.0, 0.1), (2000.0, 0.05), (2000.0, 0.025))


def _verified(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    """Sensitivity .8 and specificity .9 of a test; most positive and few negative results are verified."""
    rows, low = int(cell[0]), float(cell[1])
    found: Found = {name: {"samples": 0, "held": 0, "sum": 0.0, "naive": 0.0} for name in ("tpr", "tnr")}
    values = {"tpr": 0.8, "tnr": 0.9}
    for number in range(samples):
        ill = (rng.random(rows) < 0.1).astype(np.int64)
        test = (rng.random(rows) < np.where(ill == 1, 0.8, 0.1)).astype(np.int64)
        gold = rng.random(rows) < np.where(test == 1, 0.9, low)
        if np.bincount(ill[gold & (test == 0)], minlength=2)[1] == 0:
            continue  # no verified miss: there is no estimate below 1
        sample = sample_of(ill, test.astype(np.float64), None, gold, stratum=test, strata=("-", "+"))
        specs = [parse(f"{name}@1") for name in values]
        for one in estimates_with_proxy(sample, {"s": specs}, replicates=replicates, seed=number):
            sums, true = found[one.spec.name], values[one.spec.name]
            sums["samples"] += 1
            sums["held"] += one.low <= true <= one.high
            sums["sum"] += one.value
            sums["naive"] += float(
                test[gold & (ill == 1)].mean() if true == 0.8 else 1 - test[gold & (ill == 0)].mean()
            )
    return found


def _verified_rows(found: Mapping[Cell, Found]) -> str:
    rows = []
    for (_, low), sums in found.items():
        cells = []
        for one in sums.values():
            n = max(1.0, one["samples"])
            cells += [f"{one['naive'] / n:.3f}", f"{one['sum'] / n:.3f}", f"{one['held'] / n:.3f}"]
        rows.append((f"{40 * float(low):g}", *cells))
    heads = ("verified misses", *(f"{name} {what}" for name in ("tpr", "tnr") for what in ("naive", "mean", "holds")))
    return markdown(heads, rows)


verified = Part(VERIFIED_CELLS, _verified, _verified_rows, times=4)
"""A test of which mostly positive results are verified: sensitivity and specificity weighted by test result."""


# --- labels --------------------------------------------------------------------------------------------------------

LABEL_CELLS: tuple[Cell, ...] = (("right",), ("overconfident",), ("odds / 3",), ("noise",))
LABEL_ROWS, BUDGET, LABEL_SHARE = 10_000, 500, 0.05
LABEL_SPECS = {"auc": parse("auc"), "cost": parse("cost(fp=1, fn=9)@0.1"), "tpr": parse("tpr@0.1")}


def _labels(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    """Labels chosen for a measure, and as many at random, on the same rows: squared errors and coverage."""
    kind = str(cell[0])
    names = [f"{name} {how}" for name in LABEL_SPECS for how in ("random", "chosen")]
    found: Found = {name: {"samples": 0, "held": 0, "squares": 0.0} for name in names}
    for number in range(samples):
        truth, score, _ = drawn(rng, LABEL_ROWS, LABEL_SHARE, "none")
        if kind == "noise":
            score = rng.permutation(score)
        odds = {"overconfident": 2 * logit(score), "odds / 3": logit(score) - np.log(3)}.get(kind, logit(score))
        score = np.asarray(expit(odds))
        table = score_table(truth, score, positive=1)
        specs = dict(LABEL_SPECS)
        plans = [("random", specs, np.full(LABEL_ROWS, BUDGET / LABEL_ROWS))]
        for name, spec in specs.items():
            plans.append(("chosen", {name: spec}, label_probabilities(spreads(spec, score, score), BUDGET)))
        for how, wanted, chance in plans:
            sample = sample_of(truth, score, score, rng.random(LABEL_ROWS) < chance, probability=chance)
            every = estimates_with_proxy(sample, {"s": list(wanted.values())}, replicates=replicates, seed=number)
            for name, one in zip(wanted, every, strict=True):
                true, sums = _value(wanted[name], table), found[f"{name} {how}"]
                sums["samples"] += 1
                sums["held"] += one.low <= true <= one.high
                sums["squares"] += (one.value - true) ** 2
    return found


def _label_rows(found: Mapping[Cell, Found]) -> str:
    rows = []
    for (kind,), sums in found.items():
        cells = []
        for name in LABEL_SPECS:
            random, chosen = sums[f"{name} random"], sums[f"{name} chosen"]
            cells.append(f"{random['squares'] / chosen['squares']:.1f}")
            cells += [f"{one['held'] / one['samples']:.3f}" for one in (random, chosen)]
        rows.append((str(kind), *cells))
    heads = [f"{name}: {what}" for name in LABEL_SPECS for what in ("gain", "random holds", "chosen holds")]
    return markdown(("proxy", *heads), rows)


labels = Part(LABEL_CELLS, _labels, _label_rows, times=4)
"""Labels chosen for a measure: how many random labels each is worth, and how often both intervals hold."""

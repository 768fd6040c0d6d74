"""How often tests reject a true null elsewhere: five models, spreads that differ, many slices, losses in time order."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from populations import Array
from rejected import LIKELY
from rounds import Cell, Found, Part, markdown
from scipy.special import expit, ndtri

import scorespace as ss
from scorespace.comparisons.delong import delong_omnibus
from scorespace.comparisons.paired import compare
from scorespace.comparisons.parity import fairness_criteria
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.measures import parse
from scorespace.tables import score_table
from scorespace.tables.paired import pair_table

Rejections = dict[str, float]


def _label(positives: int, negatives: int) -> Array:
    return np.repeat([1, 0], [positives, negatives])


def _five_models(rng: np.random.Generator, cases: tuple[int, int], heavy: bool) -> Rejections:
    """The p-value of the test that five AUCs are equal."""
    label = _label(*cases)

    def noise() -> Array:
        return rng.exponential(size=label.size) if heavy else rng.normal(size=label.size)

    shared = noise()
    scores = {f"model {k}": label + shared + noise() for k in range(5)}
    return {"five AUCs are equal (DeLong)": delong_omnibus(pair_table(label, scores)).p}


def _spreads(rng: np.random.Generator, cases: tuple[int, int], seed: int) -> Rejections:
    """The p-value of the default test between equal AUCs, the positives of one model spread three times as widely."""
    label = _label(*cases)
    apart = float(ndtri(0.75))
    even = rng.normal(size=label.size) + math.sqrt(2) * apart * label
    wide = rng.normal(size=label.size) * np.where(label == 1, 3.0, 1.0) + math.sqrt(10) * apart * label
    pairs = pair_table(label, {"even": expit(even), "wide": expit(wide)})
    draws = BootstrapDraws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs, seed=seed)
    return {"two AUCs are equal, spreads differ": compare(pairs, spec=parse("auc"), draws=draws)[0].p}


def _slices(rng: np.random.Generator, number: int, cases: int, seed: int) -> Rejections:
    """Whether parity of slices that are alike is rejected, by criterion: 0 for yes, 1 for no."""
    samples = {}
    for k in range(number):
        score = expit(rng.normal(size=cases) - 1)
        table = score_table((rng.random(cases) < score).astype(int), score, positive=1)
        samples[f"slice {k}"] = BootstrapDraws({"m": table}, replicates=400, seed=seed)
    found = {f"parity: {one.criterion}": float(not one.low > 0) for one in fairness_criteria("m", samples, 0.3)}
    return {name: p for name, p in found.items() if not math.isnan(p)}


def _slices_told(rng: np.random.Generator, number: int, cases: int, seed: int) -> Rejections:
    """Whether a slice is told to be worse where all are alike: 0 for yes, 1 for no."""
    score = expit(rng.normal(size=number * cases) - 0.5)
    data = {"y": (rng.random(score.size) < score).astype(int), "m": score, "part": np.arange(score.size) % number}
    found = ss.evaluate(
        data,
        truth="y",
        positive=1,
        scores="m",
        by="part",
        measures="auc,brier,tpr@0.4,ppv@0.4",
        settings={"seed": seed},
    )
    return {"a slice is worse (SS091)": float(not found.slices.worse)}


def _in_time(rng: np.random.Generator, times: int, related: float) -> Rejections:
    """The p-value of the default test of two models whose losses are related over time."""
    errors = rng.normal(size=(2, times))
    for t in range(1, times):
        errors[:, t] = related * errors[:, t - 1] + math.sqrt(1 - related**2) * errors[:, t]
    truth = rng.normal(size=times)
    data = {"y": truth, "a": truth + np.exp(errors[0]), "b": truth + np.exp(errors[1]), "t": np.arange(times)}
    found = ss.evaluate(data, truth="y", predictions=["a", "b"], columns={"time": "t"}, measures="mae")
    return {"two mean errors are equal, in time": found.compare()[0].p}


NULLS: tuple[Cell, ...] = (
    ("five models", 10, 40),
    ("five models", 20, 200),
    ("five models, exponential", 20, 200),
    ("spreads differ", 10, 10),
    ("spreads differ", 12, 60),
    ("slices", 6, 60),
    ("slices", 15, 60),
    ("slices told", 15, 60),
    ("in time, 0.5", 60, 0.5),
    ("in time, 0.8", 120, 0.8),
)


def _one(cell: Cell, rng: np.random.Generator, seed: int) -> Rejections:
    what, first, second = str(cell[0]), int(cell[1]), float(cell[2])
    if what.startswith("five"):
        return _five_models(rng, (first, int(second)), what.endswith("exponential"))
    if what.startswith("in time"):
        return _in_time(rng, first, second)
    if what == "spreads differ":
        return _spreads(rng, (first, int(second)), seed)
    return (_slices if what == "slices" else _slices_told)(rng, first, int(second), seed)


def _nulls(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    del replicates
    found: Found = {}
    for k in range(samples):
        for name, p in _one(cell, rng, k).items():
            sums = found.setdefault(name, {"samples": 0, "rejected": 0, "p": 0.0})
            sums["samples"] += 1
            sums["rejected"] += p < LIKELY
            sums["p"] += 0.0 if math.isnan(p) else p
    return found


_SIZES = {"five": "{} + {}", "spreads": "{} + {}", "slices": "{} slices of {}", "in": "{} times, autocorrelation {}"}


def _of_nulls(found: Mapping[Cell, Found]) -> str:
    rows = []
    for (what, first, second), one in found.items():
        size = next(form for begin, form in _SIZES.items() if str(what).startswith(begin)).format(first, second)
        scores = ", exponential scores" if str(what).endswith("exponential") else ""
        rows += [[name, size + scores, f"{sums['rejected'] / sums['samples']:.3f}"] for name, sums in one.items()]
    return markdown(["what is true", "cases", "rejected"], rows)


other_nulls = Part(NULLS, _nulls, _of_nulls, times=2)
"""True nulls of five models, of spreads that differ, of many slices and of losses in time order."""

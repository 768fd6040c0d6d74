"""How often default intervals hold the truth, by measure, population and number of cases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from populations import AREAS, POPULATIONS, Array, Population, class_sample
from rounds import SEED, Cell, Found, Part, Sums, markdown
from scipy.special import ndtri
from scipy.stats import rankdata

from scorespace.inference import bias_corrected, interval_formulas
from scorespace.inference.bootstrap import REPLICATES, BootstrapDraws
from scorespace.inference.estimate import estimates
from scorespace.inference.interval import INTERVALS, default_interval
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.tables import ScoreTable, score_table

LEVEL = 0.95
# Few replicates make the intervals of these methods too short: they are drawn as often as by default.
PERCENTILES = tuple(INTERVALS.find(name) for name in ("jeffreys", "bootstrap", "bias-shifted"))
PREVALENCES, SIZES = (0.5, 0.1, 0.02), (50, 100, 200, 500, 2000)


# --- intervals of two classes -------------------------------------------------------------------------------------

OF_SCORES = (
    "auc",
    "gini",
    "auprc",
    "ap",
    "smauc",
    "ks",
    "h",
    "auch",
    "ref",
    "brier",
    "logloss",
    "cal_large",
    "cal",
    "ece",
)
OF_COUNTS = ("tpr", "fpr", "ppv", "acc", "f1", "bacc", "mcc", "kappa", "cost(fp=1, fn=5)")


def requests(prevalence: float) -> list[str]:
    """Every measure; those of decisions at 0.5, and at the prevalence where few scores reach 0.5."""
    cuts = dict.fromkeys((0.5, prevalence))
    return [*OF_SCORES, *(f"{name}@{cut:g}" for cut in cuts for name in OF_COUNTS)]


def value(measure: str, table: Any) -> Array:
    """The measure on the table or on each of its replicates."""
    with np.errstate(all="ignore"):
        return np.asarray(bind(parse(measure), table).value, dtype=np.float64)


def bounds_of(names: Sequence[str], table: Any, replicates: int, seed: int) -> list[tuple[float, float, str]]:
    """The default interval of each measure and how it was found: what `evaluate` shows."""
    in_full = [name for name in names if default_interval(bind(parse(name), table)) in PERCENTILES]
    if 0 < len(in_full) < len(names):
        rest = [name for name in names if name not in in_full]
        both = dict(zip(in_full, bounds_of(in_full, table, REPLICATES, seed), strict=True))
        both |= zip(rest, bounds_of(rest, table, replicates, seed), strict=True)
        return [both[name] for name in names]
    draws = BootstrapDraws({"": table}, replicates=REPLICATES if in_full else replicates, seed=seed)
    # The worlds of a study of thousands of intervals are as short as its replicates, and those of others are not.
    with (
        patch.object(bias_corrected, "_BIAS_DRAWS", max(50, replicates // 2)),
        patch.object(bias_corrected, "_INVERSION_DRAWS", max(25, replicates // 5)),
        np.errstate(all="ignore"),
    ):
        found = estimates({"": [parse(name) for name in names]}, draws, level=LEVEL)
    return [(one.low, one.high, one.method or "none") for one in found]


class Coverage(NamedTuple):
    """How often intervals held the truth, how often there was one, how wide they were, and how most were found."""

    share: float
    defined: float
    width: float
    method: str

    @classmethod
    def of(cls, sums: Sums) -> Coverage:
        defined = sums["defined"]
        ways = {name[3:].removesuffix(", condensed"): count for name, count in sums.items() if name.startswith("by ")}
        way = max(ways, key=lambda name: ways[name]) if ways else ""
        if not defined:
            return cls(math.nan, 0.0, math.nan, way)
        return cls(sums["held"] / defined, defined / sums["samples"], sums["width"] / defined, way)


def tried(names: Sequence[str], tables: Iterable[Any], truths: Sequence[float], replicates: int) -> Found:
    """How often the default interval of each measure held the truth, over tables; how it was found is counted too."""
    found: Found = {name: {"samples": 0, "defined": 0, "held": 0, "width": 0.0} for name in names}
    for k, table in enumerate(tables):
        for name, truth, (low, high, way) in zip(names, truths, bounds_of(names, table, replicates, k), strict=True):
            sums = found[name]
            sums["samples"] += 1
            if math.isfinite(low) and math.isfinite(high):
                slack = 1e-6 * max(1.0, abs(truth))  # the truth comes from a fine grid, not from an integral
                sums["defined"] += 1
                sums["held"] += low <= truth + slack and truth <= high + slack
                sums["width"] += high - low
                sums[f"by {way}"] = sums.get(f"by {way}", 0) + 1
    return found


@cache
def truths_of(population: Population, prevalence: float, names: tuple[str, ...]) -> list[float]:
    """The measures in the population itself."""
    whole = population.whole(prevalence)
    return [float(value(name, whole)) for name in names]


def covered(
    population: Population,
    prevalence: float,
    cases: int,
    rng: np.random.Generator,
    samples: int,
    replicates: int,
    names: Sequence[str],
) -> Found:
    """The same over samples of that many cases from a population."""
    truths = truths_of(population, prevalence, tuple(names))
    tables = (population.sample(prevalence, cases, rng) for _ in range(samples))
    return tried(names, tables, truths, replicates)


def coverage(
    population: Population,
    prevalence: float,
    cases: int,
    *,
    samples: int,
    replicates: int,
    only: Iterable[str] | None = None,
    seed: int = SEED,
) -> dict[str, Coverage]:
    """The coverage of every measure's interval, over samples of that many cases."""
    rng = np.random.default_rng([seed, cases, round(1000 * prevalence)])
    names = requests(prevalence) if only is None else list(only)
    found = covered(population, prevalence, cases, rng, samples, replicates, names)
    return {name: Coverage.of(sums) for name, sums in found.items()}


def shown(sums: Sums | None) -> str:
    """A share with two digits; in brackets where the measure was undefined in more than a tenth of the samples."""
    if sums is None:
        return "–"
    found = Coverage.of(sums)
    if math.isnan(found.share) or found.defined < 0.1:
        return "–"
    return f"{found.share:.2f}" if found.defined >= 0.9 else f"({found.share:.2f})"


def _at_prevalence(name: str, prevalence: float) -> str:
    """The name of a measure whose operating point is the prevalence, where that is not 0.5."""
    base, _, at = name.partition("@")
    return f"{base}@π" if at and at == f"{prevalence:g}" and at != "0.5" else name


def _two_classes(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    prevalence, cases = float(cell[0]), int(cell[1])
    names = requests(prevalence)
    found = covered(POPULATIONS["binormal, AUC 0.80"], prevalence, cases, rng, samples, replicates, names)
    return {_at_prevalence(name, prevalence): sums for name, sums in found.items()}


def _of_two_classes(found: Mapping[Cell, Found]) -> str:
    names = dict.fromkeys(name for one in found.values() for name in one)
    rows = []
    for name in names:
        ways = dict.fromkeys(Coverage.of(one[name]).method for one in found.values() if name in one)
        row = [name, ", ".join(way for way in ways if way), *(shown(one.get(name)) for one in found.values())]
        rows.append(row)
    return markdown(["measure", "method", *(f"{p:g} / {n}" for p, n in found)], rows)


two_classes = Part(tuple(product(PREVALENCES, SIZES)), _two_classes, _of_two_classes)
"""Measures by prevalence and number of cases, for normal scores."""

SHAPES = ((0.5, 100), (0.1, 200), (0.1, 500))


def _other_shapes(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    population, prevalence, cases = POPULATIONS[str(cell[0])], float(cell[1]), int(cell[2])
    names = [*OF_SCORES, *(f"{name}@{prevalence:g}" for name in OF_COUNTS)]
    found = covered(population, prevalence, cases, rng, samples, replicates, names)
    return {f"{name.partition('@')[0]}@π" if "@" in name else name: sums for name, sums in found.items()}


def _of_other_shapes(found: Mapping[Cell, Found]) -> str:
    shapes = dict.fromkeys(shape for shape, *_ in found)
    names = dict.fromkeys(name for one in found.values() for name in one)
    rows = [
        [name, *(" ".join(shown(one.get(name)) for (s, *_), one in found.items() if s == shape) for shape in shapes)]
        for name in names
    ]
    return markdown(["measure", *map(str, shapes)], rows)


other_shapes = Part(tuple((shape, p, n) for shape in POPULATIONS for p, n in SHAPES), _other_shapes, _of_other_shapes)
"""Measures by population: the coverage at each of a few sizes."""


# --- the AUC with few cases ---------------------------------------------------------------------------------------


def placements(pos: Array, neg: Array) -> tuple[Array, Array]:
    """DeLong's placements of positives (samples, m) and negatives (samples, n), ties half."""
    m, n = pos.shape[-1], neg.shape[-1]
    ranks = rankdata(np.concatenate([pos, neg], axis=-1), axis=-1)
    return (
        (ranks[..., :m] - rankdata(pos, axis=-1)) / n,
        1 - (ranks[..., m:] - rankdata(neg, axis=-1)) / m,
    )


def area_and_variances(pos: Array, neg: Array) -> tuple[Array, Array]:
    """AUCs (samples,) and the two parts (samples, 2) of DeLong's variance."""
    of_pos, of_neg = placements(pos, neg)
    parts = [v.var(axis=-1, ddof=1) / v.shape[-1] for v in (of_pos, of_neg)]
    return of_pos.mean(axis=-1), np.stack(parts, axis=-1)


FEW = ((3, 100), (5, 50), (10, 10), (10, 90), (10, 490), (20, 180), (50, 50), (50, 450), (100, 1900))


def _few(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    """How often DeLong's, Newcombe's and our interval of an AUC hold it, by the cases of each class."""
    del replicates
    truth, draw = AREAS[str(cell[0])]
    m, n = int(cell[1]), int(cell[2])
    area, parts = area_and_variances(*draw(rng, samples, m, n))
    variance = parts.sum(axis=-1)
    half = float(ndtri((1 + LEVEL) / 2)) * np.sqrt(variance)
    delong = np.stack([np.clip(area - half, 0, 1), np.clip(area + half, 0, 1)])
    plain = np.stack(interval_formulas.newcombe_auc(area, m, n, LEVEL))
    scaled = np.stack(interval_formulas.newcombe_auc(area, m, n, LEVEL, variance=variance))
    ours = np.where(interval_formulas.is_delong_reliable(area, m, n), delong, scaled)
    return {
        name: {
            "samples": samples,
            "defined": samples,
            "width": 0.0,
            "held": float(((low <= truth) & (truth <= high)).sum()),
        }
        for name, (low, high) in (("delong", delong), ("newcombe", plain), ("ours", ours))
    }


def _of_few(found: Mapping[Cell, Found]) -> str:
    shapes = dict.fromkeys(shape for shape, *_ in found)
    rows = [
        [str(shape), *(" ".join(map(shown, one.values())) for (s, *_), one in found.items() if s == shape)]
        for shape in shapes
    ]
    return markdown(["scores", *(f"{m} + {n}" for m, n in FEW)], rows)


areas_with_few = Part(tuple((shape, m, n) for shape in AREAS for m, n in FEW), _few, _of_few, times=10)


# --- several classes ----------------------------------------------------------------------------------------------

CLASS_SHARES = {"even": (1 / 3, 1 / 3, 1 / 3), "0.6, 0.3, 0.1": (0.6, 0.3, 0.1), "0.8, 0.17, 0.03": (0.8, 0.17, 0.03)}
OF_CLASSES = ("acc", "bacc", "kappa", "mcc", "f1[macro]", "f1[weighted]")
OF_CLASS_SCORES = ("auc[hand_till]", "auc[weighted]", "brier", "logloss", "ece", "cal", "ece[macro]")
CLASS_SETTINGS = (
    ("even", 100, 1.2, 1.0),
    ("even", 100, 2.0, 1.0),
    ("0.6, 0.3, 0.1", 100, 1.2, 1.0),
    ("0.6, 0.3, 0.1", 200, 1.5, 1.5),
    ("0.8, 0.17, 0.03", 500, 1.2, 1.0),
    ("0.6, 0.3, 0.1", 500, 1.2, 1.0),
)


@cache
def class_truths(shares: str, apart: float, sharp: float, names: tuple[str, ...]) -> list[float]:
    """The measures in a sample so large that it stands for the population."""
    whole = class_sample(np.array(CLASS_SHARES[shares]), 300_000, apart, sharp, np.random.default_rng(SEED))
    return [float(value(name, whole)) for name in names]


def _three_classes(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    shares, cases, apart, sharp = str(cell[0]), int(cell[1]), float(cell[2]), float(cell[3])
    chance, names = np.array(CLASS_SHARES[shares]), (*OF_CLASS_SCORES, *OF_CLASSES)
    truths = class_truths(shares, apart, sharp, names)
    tables = (class_sample(chance, cases, apart, sharp, rng) for _ in range(samples))
    return tried(names, tables, truths, replicates)


def _by_measure(found: Mapping[Cell, Found], heads: Iterable[str]) -> str:
    names = dict.fromkeys(name for one in found.values() for name in one)
    rows = [
        [name, ", ".join(dict.fromkeys(Coverage.of(one[name]).method for one in found.values() if name in one))]
        + [shown(one.get(name)) for one in found.values()]
        for name in names
    ]
    return markdown(["measure", "method", *heads], rows)


three_classes = Part(
    CLASS_SETTINGS,
    _three_classes,
    lambda found: _by_measure(found, (f"{s}; {n}; {a:g}; {b:g}" for s, n, a, b in found)),
)
"""Measures of three classes: normal scores in a plane, by shares of the classes, cases, distance and sharpness."""


# --- weights ------------------------------------------------------------------------------------------------------

WEIGHTED = ("auc", "auprc", "ks", "h", "brier", "logloss", "cal", "ece", "tpr@0.5", "f1@0.5", "acc@0.5", "mcc@0.5")


def _weighted(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    population, prevalence, cases = POPULATIONS["binormal, AUC 0.80"], float(cell[0]), int(cell[1])

    def table() -> ScoreTable:
        count = int(np.clip(rng.binomial(cases, prevalence), 2, cases - 2))
        scores = population.scores((rng.random(count), rng.random(cases - count)), prevalence)
        label = np.repeat([1, 0], [count, cases - count])
        return score_table(label, scores, positive=1, weight=rng.lognormal(0, 1, cases))

    truths = truths_of(population, prevalence, WEIGHTED)
    return tried(WEIGHTED, (table() for _ in range(samples)), truths, replicates)


weighted_cases = Part(
    ((0.3, 100), (0.3, 200), (0.3, 500)),
    _weighted,
    lambda found: _by_measure(found, (f"{p:g} / {n}" for p, n in found)),
)
"""Cases of lognormal weight, which has nothing to do with their scores."""

"""How often default intervals hold the truth, by measure, population and number of cases."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from populations import AREAS, POPULATIONS, Array, Population, class_sample
from progress import SEED, settings
from scipy.special import ndtri
from scipy.stats import rankdata

from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.resampling import interval, limits
from scorespace.resampling.draw import Draws
from scorespace.resampling.estimate import estimates
from scorespace.tables import score_table

LEVEL = 0.95
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
    # The worlds of a study of thousands of intervals are as short as its replicates.
    interval._WORLD_DRAWS, interval._INVERTED_DRAWS = max(50, replicates // 2), max(25, replicates // 5)  # type: ignore[misc]
    draws = Draws({"": table}, replicates=replicates, seed=seed)
    with np.errstate(all="ignore"):
        found = estimates({"": [parse(name) for name in names]}, draws, level=LEVEL)
    return [(one.low, one.high, one.method or "none") for one in found]


class Coverage(NamedTuple):
    """How often intervals held the truth, how often there was one, how wide they were, and how most were found."""

    share: float
    defined: float
    width: float
    method: str = ""


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
    whole = population.whole(prevalence)
    names = requests(prevalence) if only is None else list(only)
    bounds = np.empty((samples, len(names), 2))
    ways: list[Counter[str]] = [Counter() for _ in names]
    for k in range(samples):
        found = bounds_of(names, population.sample(prevalence, cases, rng), replicates, seed=k)
        bounds[k] = [(low, high) for low, high, _ in found]
        for way, (_, _, method) in zip(ways, found, strict=True):
            way[method] += 1
    return {
        name: held(bounds[:, k], float(value(name, whole)))._replace(method=ways[k].most_common(1)[0][0])
        for k, name in enumerate(names)
    }


def held(bounds: Array, truth: float) -> Coverage:
    """How often bounds (samples, 2) held the truth; samples without them are left out and counted."""
    defined = np.isfinite(bounds).all(axis=1)
    if not defined.any():
        return Coverage(math.nan, 0.0, math.nan)
    low, high = bounds[defined].T
    slack = 1e-6 * max(1.0, abs(truth))  # the truth comes from a fine grid, not from an integral
    inside = (low <= truth + slack) & (truth <= high + slack)
    return Coverage(float(inside.mean()), float(defined.mean()), float((high - low).mean()))


def two_classes(samples: int, replicates: int) -> str:
    """Measures by prevalence and number of cases, for normal scores."""
    found: dict[tuple[str, float], list[Coverage]] = {}
    for prevalence, cases in settings("two classes", list(product(PREVALENCES, SIZES))):
        one = coverage(POPULATIONS["binormal, AUC 0.80"], prevalence, cases, samples=samples, replicates=replicates)
        for name, share in one.items():
            base, _, at = name.partition("@")
            key = f"{base}@0.5" if at == "0.5" else f"{base}@π" if at else base
            found.setdefault((key, prevalence), []).append(share)
    names = list(dict.fromkeys(name for name, _ in found))
    lines = [
        "| measure | method | " + " | ".join(f"{p:g} / {n}" for p in PREVALENCES for n in SIZES) + " |",
        "|:--|:--|" + "--:|" * (len(PREVALENCES) * len(SIZES)),
    ]
    for name in names:
        all_found = [c for p in PREVALENCES for c in found.get((name, p), [Coverage(math.nan, 0, 0)] * len(SIZES))]
        how = ", ".join(dict.fromkeys(c.method for c in all_found if c.method not in ("", "none")))
        lines.append(f"| {name} | {how} | " + " | ".join(map(shown, all_found)) + " |")
    return "\n".join(lines)


def shown(found: Coverage) -> str:
    """A share with two digits; in brackets where the measure was undefined in more than a tenth of the samples."""
    if math.isnan(found.share) or found.defined < 0.1:
        return "–"
    return f"{found.share:.2f}" if found.defined >= 0.9 else f"({found.share:.2f})"


SHAPES = ((0.5, 100), (0.1, 200), (0.1, 500))


def other_shapes(samples: int, replicates: int) -> str:
    """Measures by population: the coverage at each of a few sizes."""
    names = [name for name in requests(0.1) if name.partition("@")[2] != "0.5"]
    cells: dict[str, list[str]] = {name: [] for name in names}
    for population in settings("other shapes", POPULATIONS.values()):
        found = []
        for p, n in SHAPES:
            only = [f"{name.partition('@')[0]}@{p:g}" if "@" in name else name for name in names]
            one = coverage(population, p, n, samples=samples, replicates=replicates, only=only, seed=SEED + 1)
            found.append([one[name] for name in only])
        for k, name in enumerate(names):
            cells[name].append(" ".join(shown(column[k]) for column in found))
    lines = ["| measure | " + " | ".join(POPULATIONS) + " |", "|:--|" + ":-:|" * len(POPULATIONS)]
    lines += [f"| {name.replace('@0.1', '@π')} | " + " | ".join(cells[name]) + " |" for name in names]
    return "\n".join(lines)


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


def areas_with_few(samples: int, replicates: int) -> str:
    """DeLong's, Newcombe's and our interval of an AUC by the cases of each class."""
    del replicates
    lines = ["| scores | " + " | ".join(f"{m} + {n}" for m, n in FEW) + " |", "|:--|" + ":-:|" * len(FEW)]
    for name, (truth, draw) in settings("few cases", AREAS.items()):
        cells = []
        for m, n in FEW:
            rng = np.random.default_rng([SEED, m, n])
            area, parts = area_and_variances(*draw(rng, 5 * samples, m, n))
            variance = parts.sum(axis=-1)
            half = float(ndtri((1 + LEVEL) / 2)) * np.sqrt(variance)
            delong = np.stack([np.clip(area - half, 0, 1), np.clip(area + half, 0, 1)], axis=-1)
            plain = np.stack(limits.newcombe_auc(area, m, n, LEVEL), axis=-1)
            scaled = np.stack(limits.newcombe_auc(area, m, n, LEVEL, variance=variance), axis=-1)
            ours = np.where(limits.delong_suits(area, m, n)[:, None], delong, scaled)
            cells.append(" ".join(f"{held(bounds, truth).share:.2f}" for bounds in (delong, plain, ours)))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


# --- several classes ----------------------------------------------------------------------------------------------

CLASS_SHARES = {"even": (1 / 3, 1 / 3, 1 / 3), "0.6, 0.3, 0.1": (0.6, 0.3, 0.1), "0.8, 0.17, 0.03": (0.8, 0.17, 0.03)}
OF_CLASSES = ("acc", "bacc", "kappa", "mcc", "f1[macro]", "f1[weighted]")
OF_CLASS_SCORES = ("auc[hand_till]", "auc[weighted]", "brier", "logloss", "ece")
CLASS_SETTINGS = (
    ("even", 100, 1.2, 1.0),
    ("even", 100, 2.0, 1.0),
    ("0.6, 0.3, 0.1", 100, 1.2, 1.0),
    ("0.6, 0.3, 0.1", 200, 1.5, 1.5),
    ("0.8, 0.17, 0.03", 500, 1.2, 1.0),
    ("0.6, 0.3, 0.1", 500, 1.2, 1.0),
)


def three_classes(samples: int, replicates: int) -> str:
    """Measures of three classes: normal scores in a plane, by shares of the classes, cases, distance and sharpness."""
    columns = []
    for shares, cases, apart, sharp in settings("three classes", CLASS_SETTINGS):
        rng = np.random.default_rng([SEED, cases])
        chance = np.array(CLASS_SHARES[shares])
        whole = class_sample(chance, 300_000, apart, sharp, rng)
        asked = (*OF_CLASS_SCORES, *OF_CLASSES)
        bounds = np.empty((samples, len(asked), 2))
        for k in range(samples):
            table = class_sample(chance, cases, apart, sharp, rng)
            bounds[k] = [(low, high) for low, high, _ in bounds_of(asked, table, replicates, seed=k)]
        columns.append({name: held(bounds[:, j], float(value(name, whole))) for j, name in enumerate(asked)})
    names = [f"{s}; {n}; {a:g}; {b:g}" for s, n, a, b in CLASS_SETTINGS]
    lines = ["| measure | " + " | ".join(names) + " |", "|:--|" + "--:|" * len(names)]
    for name in columns[0]:
        lines.append(f"| {name} | " + " | ".join(shown(column[name]) for column in columns) + " |")
    return "\n".join(lines)


# --- weights ------------------------------------------------------------------------------------------------------


def weighted_cases(samples: int, replicates: int) -> str:
    """Cases of lognormal weight, which has nothing to do with their scores."""
    names = ("auc", "auprc", "ks", "h", "brier", "logloss", "cal", "ece", "tpr@0.5", "f1@0.5", "acc@0.5", "mcc@0.5")
    sizes = (100, 200, 500)
    population, prevalence = POPULATIONS["binormal, AUC 0.80"], 0.3
    whole = population.whole(prevalence)
    columns = []
    for cases in settings("weights", sizes):
        rng = np.random.default_rng([SEED, cases])
        bounds, ways = np.empty((samples, len(names), 2)), [""] * len(names)
        for k in range(samples):
            count = int(np.clip(rng.binomial(cases, prevalence), 2, cases - 2))
            scores = population.scores((rng.random(count), rng.random(cases - count)), prevalence)
            label = np.repeat([1, 0], [count, cases - count])
            table = score_table(label, scores, positive=1, weight=rng.lognormal(0, 1, cases))
            found = bounds_of(names, table, replicates, seed=k)
            bounds[k], ways = [(low, high) for low, high, _ in found], [way for *_, way in found]
        columns.append([held(bounds[:, j], float(value(name, whole))) for j, name in enumerate(names)])
    lines = [
        "| measure | method | " + " | ".join(f"0.3 / {n}" for n in sizes) + " |",
        "|:--|:--|" + "--:|" * len(sizes),
    ]
    for j, name in enumerate(names):
        lines.append(f"| {name} | {ways[j]} | " + " | ".join(shown(column[j]) for column in columns) + " |")
    return "\n".join(lines)

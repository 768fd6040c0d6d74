"""Simulate many samples of which the truth is known, and count how often intervals hold it and tests reject it.

`python benchmarks/coverage.py` fills the tables of docs/coverage.md, `--only PART` one of them; `--samples` and
`--replicates` say how long it takes. Every part has its own seed, so a part run alone gives the same numbers.
"""

from __future__ import annotations

import argparse
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri, softmax
from scipy.stats import rankdata
from scipy.stats import t as student_t

from scorespace.comparisons.mcnemar import mcnemar_p
from scorespace.comparisons.paired import compare
from scorespace.comparisons.unpaired import against_value, compare_samples
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.resampling import interval, limits
from scorespace.resampling.draw import Draws
from scorespace.resampling.estimate import estimates
from scorespace.tables import ClassTable, ScoreTable, class_table, score_table
from scorespace.tables.pair import pair_table

Array = NDArray[np.float64]
PAGE = Path(__file__).parent.parent / "docs" / "coverage.md"
SEED, LEVEL, LIKELY = 1, 0.95, 0.05
SAMPLES, REPLICATES = 300, 300
PREVALENCES, SIZES = (0.5, 0.1, 0.02), (50, 100, 200, 500, 2000)


# --- populations of two classes -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Population:
    """The latent scores of both classes by their quantile functions, and the probability that is shown for them."""

    negative: Callable[[Array], Array]
    positive: Callable[[Array], Array]
    shown: Callable[[Array, float], Array]

    def scores(self, chances: tuple[Array, Array], prevalence: float) -> Array:
        """The scores of positives, then of negatives, at these chances."""
        latent = np.concatenate([self.positive(chances[0]), self.negative(chances[1])])
        return np.clip(self.shown(latent, prevalence), 1e-12, 1 - 1e-12)

    def sample(self, prevalence: float, cases: int, rng: np.random.Generator) -> ScoreTable:
        """A sample with at least two cases of each class."""
        count = 0
        while not 2 <= count <= cases - 2:
            count = int(rng.binomial(cases, prevalence))
        scores = self.scores((rng.random(count), rng.random(cases - count)), prevalence)
        return score_table(np.repeat([1, 0], [count, cases - count]), scores, positive=1)

    def whole(self, prevalence: float, points: int = 100_000) -> ScoreTable:
        """The population itself, by that many quantiles of each class."""
        chance = (np.arange(points) + 0.5) / points
        weight = np.repeat([prevalence, 1 - prevalence], points)
        return score_table(
            np.repeat([1, 0], points), self.scores((chance, chance), prevalence), positive=1, weight=weight
        )


def binormal(area: float, *, slope: float = 1.0, shift: float = 0.0, steps: int | None = None) -> Population:
    """Normal scores one apart by the area, shown as calibrated probabilities unless bent; `steps` makes ties."""
    apart = math.sqrt(2) * float(ndtri(area))

    def stepped(x: Array) -> Array:
        return x if steps is None else np.clip(np.round(x * steps), -steps - 1, 3 * steps) / steps

    return Population(
        lambda u: stepped(ndtri(u)),
        lambda u: stepped(ndtri(u) + apart),
        lambda x, p: expit(slope * (apart * x - apart**2 / 2 + logit(p)) + shift),
    )


def _two_humps() -> Callable[[Array], Array]:
    grid = np.linspace(-8, 8, 200_001)
    below = 0.5 * ndtr(grid) + 0.5 * ndtr((grid - 3) / 0.5)
    return lambda u: np.interp(u, below, grid)


POPULATIONS = {
    "binormal, AUC 0.80": binormal(0.8),
    "binormal, AUC 0.65": binormal(0.65),
    "binormal, AUC 0.95": binormal(0.95),
    "two humps": Population(ndtri, _two_humps(), lambda x, p: expit(1.5 * x - 2 + logit(p))),
    "5 distinct scores": binormal(0.8, steps=1),
    "10 distinct scores": binormal(0.8, steps=2),
    "exponential": Population(
        lambda u: -np.log1p(-u), lambda u: -4 * np.log1p(-u), lambda x, p: expit(0.75 * x - math.log(4) + logit(p))
    ),
    "t, 3 degrees of freedom": Population(
        lambda u: student_t.ppf(u, 3),
        lambda u: student_t.ppf(u, 3) + 1.3,
        lambda x, p: expit(x - 0.65 + logit(p)),
    ),
    "miscalibrated": binormal(0.8, slope=2.0, shift=0.7),
}


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
    for prevalence in PREVALENCES:
        for cases in SIZES:
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
    for population in POPULATIONS.values():
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


Draw = Callable[[np.random.Generator, int], tuple[Array, Array]]


def _normal_scores(area: float, spread: float = 1.0) -> tuple[float, Callable[..., tuple[Array, Array]]]:
    apart = math.sqrt(1 + spread**2) * float(ndtri(area))

    def draw(rng: np.random.Generator, samples: int, m: int, n: int) -> tuple[Array, Array]:
        return spread * rng.normal(size=(samples, m)) + apart, rng.normal(size=(samples, n))

    return area, draw


def _exponential_scores(scale: float) -> tuple[float, Callable[..., tuple[Array, Array]]]:
    def draw(rng: np.random.Generator, samples: int, m: int, n: int) -> tuple[Array, Array]:
        return rng.exponential(scale, (samples, m)), rng.exponential(1, (samples, n))

    return scale / (1 + scale), draw


def _humped_scores() -> tuple[float, Callable[..., tuple[Array, Array]]]:
    def draw(rng: np.random.Generator, samples: int, m: int, n: int) -> tuple[Array, Array]:
        near = rng.random((samples, m)) < 0.5
        pos = np.where(near, rng.normal(size=(samples, m)), 3 + 0.5 * rng.normal(size=(samples, m)))
        return pos, rng.normal(size=(samples, n))

    return 0.25 + 0.5 * float(ndtr(3 / math.sqrt(1.25))), draw


AREAS = {
    "normal, 0.65": _normal_scores(0.65),
    "normal, 0.80": _normal_scores(0.8),
    "normal, 0.96": _normal_scores(0.96),
    "normal, 0.99": _normal_scores(0.99),
    "positives 2.5 times as wide, 0.80": _normal_scores(0.8, 2.5),
    "positives 2.5 times as wide, 0.95": _normal_scores(0.95, 2.5),
    "exponential, 0.80": _exponential_scores(4),
    "exponential, 0.95": _exponential_scores(20),
    "two humps, 0.75": _humped_scores(),
}
FEW = ((3, 100), (5, 50), (10, 10), (10, 90), (10, 490), (20, 180), (50, 50), (50, 450), (100, 1900))


def areas_with_few(samples: int, replicates: int) -> str:
    """DeLong's, Newcombe's and our interval of an AUC by the cases of each class."""
    del replicates
    lines = ["| scores | " + " | ".join(f"{m} + {n}" for m, n in FEW) + " |", "|:--|" + ":-:|" * len(FEW)]
    for name, (truth, draw) in AREAS.items():
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
    for shares, cases, apart, sharp in CLASS_SETTINGS:
        rng = np.random.default_rng([SEED, cases])
        chance = np.array(CLASS_SHARES[shares])
        whole = _class_sample(chance, 300_000, apart, sharp, rng)
        asked = (*OF_CLASS_SCORES, *OF_CLASSES)
        bounds = np.empty((samples, len(asked), 2))
        for k in range(samples):
            table = _class_sample(chance, cases, apart, sharp, rng)
            bounds[k] = [(low, high) for low, high, _ in bounds_of(asked, table, replicates, seed=k)]
        columns.append({name: held(bounds[:, j], float(value(name, whole))) for j, name in enumerate(asked)})
    names = [f"{s}; {n}; {a:g}; {b:g}" for s, n, a, b in CLASS_SETTINGS]
    lines = ["| measure | " + " | ".join(names) + " |", "|:--|" + "--:|" * len(names)]
    for name in columns[0]:
        lines.append(f"| {name} | " + " | ".join(shown(column[name]) for column in columns) + " |")
    return "\n".join(lines)


def _class_sample(chance: Array, cases: int, apart: float, sharp: float, rng: np.random.Generator) -> ClassTable:
    label = np.zeros(cases, dtype=np.int64)
    while np.bincount(label, minlength=3).min() < 2:
        label = rng.choice(3, cases, p=chance)
    centres = apart * np.array([[1, 0], [-0.5, math.sqrt(0.75)], [-0.5, -math.sqrt(0.75)]])
    place = centres[label] + rng.normal(size=(cases, 2))
    shown_as = softmax(sharp * (place @ centres.T + np.log(chance)), axis=1)
    names = np.array(["a", "b", "c"])
    return class_table(names[label], {name: shown_as[:, k] for k, name in enumerate(names)})


# --- tests --------------------------------------------------------------------------------------------------------

COMPARED = ("auc", "auprc", "ks", "h", "brier", "logloss", "f1@0.5", "mcc@0.5", "acc@0.5")
PAIRS = ((2, 2), (3, 3), (3, 100), (5, 100), (10, 10), (10, 100), (20, 200), (50, 50))


def _models(
    rng: np.random.Generator, samples: int, m: int, n: int, apart: float, shared: float = 0.5
) -> tuple[list[Array], list[Array]]:
    """Scores of two equally good models on the same positives (samples, m) and negatives (samples, n)."""

    def two(count: int, centre: float) -> list[Array]:
        common = math.sqrt(shared) * rng.normal(size=(samples, count))
        return [centre + common + math.sqrt(1 - shared) * rng.normal(size=(samples, count)) for _ in range(2)]

    return two(m, apart), two(n, 0.0)


def paired_delong(rng: np.random.Generator, samples: int, m: int, n: int, apart: float) -> dict[str, float]:
    """How often DeLong's paired test rejects equal AUCs, whatever the number of cases."""
    pos, neg = _models(rng, samples, m, n, apart)
    (p1, n1), (p2, n2) = (placements(*one) for one in zip(pos, neg, strict=True))
    parts = np.stack([(p1 - p2).var(axis=-1, ddof=1) / m, (n1 - n2).var(axis=-1, ddof=1) / n], axis=-1)
    gap, total = (p1 - p2).mean(axis=-1), parts.sum(axis=-1)
    testable = total > 1e-18
    with np.errstate(all="ignore"):
        z = gap / np.sqrt(total)
    return {"DeLong, z": float((testable & (2 * ndtr(-np.abs(z)) < LIKELY)).mean())}


def against_half(rng: np.random.Generator, samples: int, m: int, n: int) -> dict[str, float]:
    """How often noise is taken for an AUC other than 0.5: DeLong's z, and Mann-Whitney's."""
    area, parts = area_and_variances(rng.normal(size=(samples, m)), rng.normal(size=(samples, n)))
    variance = parts.sum(axis=-1)
    with np.errstate(all="ignore"):
        z = (area - 0.5) / np.sqrt(variance)
    known = (area - 0.5) / math.sqrt((m + n + 1) / (12 * m * n))
    return {
        "AUC = 0.5, DeLong": float(((variance > 1e-18) & (2 * ndtr(-np.abs(z)) < LIKELY)).mean()),
        "AUC = 0.5, Mann-Whitney": float((2 * ndtr(-np.abs(known)) < LIKELY).mean()),
    }


def rejected(
    rng: np.random.Generator, samples: int, m: int, n: int, apart: float, names: Sequence[str]
) -> dict[str, float]:
    """How often the tests that are used when none is named reject a true null at 5 %, by what is asked.

    Two models on the same cases by each measure; one model on two samples, 50 + 500 in the second; one against 0.5.
    """
    p: dict[str, list[float]] = {}
    label, other = np.repeat([1, 0], [m, n]), np.repeat([1, 0], [50, 500])
    for k in range(samples):
        pos, neg = _models(rng, 1, m, n, apart)
        scores = {
            name: expit(1.2 * np.concatenate([a[0], b[0]]) - 0.72 + math.log(m / n))
            for name, a, b in zip("ab", pos, neg, strict=True)
        }
        pairs = pair_table(label, scores)
        draws = Draws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs, seed=k)
        for name in names:
            p.setdefault(name, []).append(compare(pairs, spec=parse(name), draws=draws)[0].p)
        first = score_table(label, scores["a"])
        second = score_table(other, rng.normal(size=550) + apart * other)
        p.setdefault("two samples, auc", []).append(compare_samples(first, second, seed=k).p)
        if apart == 0:
            p.setdefault("auc against 0.5", []).append(against_value(first, 0.5, seed=k).p)
    return {name: float((np.array(found) < LIKELY).mean()) for name, found in p.items()}


def sizes_of_tests(samples: int, replicates: int) -> str:
    """How often default tests reject a true null at 5 %, by the cases of each class and how far these are apart."""
    del replicates
    rows: dict[str, list[str]] = {}
    for m, n in PAIRS:
        for apart in (0.0, 1.2):
            rng = np.random.default_rng([SEED, m, n, round(10 * apart)])
            found = rejected(rng, samples, m, n, apart, COMPARED)
            found |= paired_delong(rng, 10 * samples, m, n, apart)
            found |= against_half(rng, 10 * samples, m, n) if apart == 0 else {}
            for name, share in found.items():
                rows.setdefault(name, []).append(f"{share:.3f}")
    lines = ["| test | " + " | ".join(f"{m} + {n}" for m, n in PAIRS) + " |", "|:--|" + ":-:|" * len(PAIRS)]
    for name, cells in rows.items():
        per = len(cells) // len(PAIRS)
        grouped = [" ".join(cells[k * per : (k + 1) * per]) for k in range(len(PAIRS))]
        lines.append(f"| {name} | " + " | ".join(grouped) + " |")
    return "\n".join(lines)


def mcnemar_null(rng: np.random.Generator, samples: int, cases: int = 200) -> dict[str, float]:
    """How often each form of McNemar's test rejects that two equal accuracies are equal."""
    label = rng.random((samples, cases)) < 0.3
    common = math.sqrt(0.5) * rng.normal(size=label.shape)
    right = [(label + common + math.sqrt(0.5) * rng.normal(size=label.shape) >= 0.5) == label for _ in range(2)]
    only_a, only_b = (right[0] & ~right[1]).sum(axis=1), (right[1] & ~right[0]).sum(axis=1)
    pairs, times = np.unique(np.stack([only_a, only_b]), axis=1, return_counts=True)
    found = {}
    for method in ("corrected", "uncorrected", "exact", "midp"):
        p = np.array([mcnemar_p(int(one), int(other), method)[1] for one, other in pairs.T])
        found[method] = float(times @ (p < LIKELY) / samples)
    return found


def forms_of_mcnemar(samples: int, replicates: int) -> str:
    """How often McNemar's test rejects equal accuracies, by form and number of cases."""
    del replicates
    sizes = (20, 50, 100, 200, 1000)
    columns = [mcnemar_null(np.random.default_rng([SEED, n]), 50 * samples, n) for n in sizes]
    lines = ["| form | " + " | ".join(f"{n} cases" for n in sizes) + " |", "|:--|" + "--:|" * len(sizes)]
    lines += [f"| {form} | " + " | ".join(f"{column[form]:.3f}" for column in columns) + " |" for form in columns[0]]
    return "\n".join(lines)


# --- weights ------------------------------------------------------------------------------------------------------


def weighted_cases(samples: int, replicates: int) -> str:
    """Cases of lognormal weight, which has nothing to do with their scores."""
    names = ("auc", "auprc", "ks", "h", "brier", "logloss", "cal", "tpr@0.5", "f1@0.5", "acc@0.5", "mcc@0.5")
    sizes = (100, 200, 500)
    population, prevalence = POPULATIONS["binormal, AUC 0.80"], 0.3
    whole = population.whole(prevalence)
    columns = []
    for cases in sizes:
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


# --- the page -----------------------------------------------------------------------------------------------------

PARTS: dict[str, Callable[[int, int], str]] = {
    "two": two_classes,
    "shapes": other_shapes,
    "areas": areas_with_few,
    "three": three_classes,
    "tests": sizes_of_tests,
    "mcnemar": forms_of_mcnemar,
    "weights": weighted_cases,
}


def filled(page: str, part: str, table: str) -> str:
    """The page with the table between the marks of the part."""
    begin, end = f"<!-- {part} -->", f"<!-- end {part} -->"
    if begin not in page:
        raise ValueError(f"the page has no mark {begin}")
    pattern = re.escape(begin) + ".*?" + re.escape(end)
    return re.sub(pattern, lambda _: f"{begin}\n{table}\n{end}", page, flags=re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="How often intervals hold the truth and tests reject it.")
    parser.add_argument("--only", choices=tuple(PARTS), action="append", help="this part alone; repeatable")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--print", action="store_true", help="print the tables instead of writing them to the page")
    asked = parser.parse_args(arguments)
    for part in asked.only or PARTS:
        began = time.perf_counter()
        table = PARTS[part](asked.samples, asked.replicates)
        if asked.print:
            print(table, end="\n\n")
        else:
            PAGE.write_text(filled(PAGE.read_text("utf-8"), part, table), "utf-8")
        print(f"{part}: {asked.samples} samples, {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()

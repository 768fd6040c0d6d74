"""How often intervals hold the truth elsewhere: weights by design, other populations, groups, predicted numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from covered import LEVEL, OF_COUNTS, OF_SCORES, _by_measure, tried, truths_of, value
from populations import DESIGNS, FURTHER, POPULATIONS, Array, Population, binormal
from rounds import SEED, Cell, Found, Part
from scipy.special import expit, logit

from scorespace.inference.bootstrap import REPLICATES, BootstrapDraws
from scorespace.inference.estimate import estimates
from scorespace.measures import parse
from scorespace.tables.paired import pair_table
from scorespace.tables.regression import residual_table

# --- weights by design --------------------------------------------------------------------------------------------

OF_DESIGNS = (
    *(name for name in OF_SCORES if name != "gini"),
    *("cal_slope", "rel(bins=10)", "res(bins=10)", "best(measure=f1)", "brier_skill", "sauc"),
    "pauc(fpr_high=0.2)",
)


def _design(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    design = DESIGNS[str(cell[0])]
    names = (*OF_DESIGNS, *(f"{name}@{design.prevalence:g}" for name in (*OF_COUNTS, "npv")))
    truths = truths_of(design.population, design.prevalence, names)
    found = tried(names, (design.sample(rng) for _ in range(samples)), truths, replicates)
    return {f"{name.partition('@')[0]}@π" if "@" in name else name: sums for name, sums in found.items()}


def _one_column_each(found: Mapping[Cell, Found]) -> str:
    return _by_measure(found, (", ".join(map(str, cell)) for cell in found))


by_design = Part(tuple((name,) for name in DESIGNS), _design, _one_column_each)
"""Weights that depend on score or class."""


# --- measures and populations that are in no other table ----------------------------------------------------------

OTHER_SCORES = (
    *("pauc(fpr_high=0.2)", "mean_score", "brier_skill", "unc", "log_cal"),
    *("log_ref", "log_unc", "rel", "rel(bins=10)", "res(bins=10)", "murphy_residual(bins=10)", "mce", "cal_slope"),
    *("cal_intercept", "cal_offset", "ease_err", "sauc", "prob_auc", "best(measure=f1)", "aurc"),
)
OTHER_COUNTS = (
    *("err", "tnr", "fnr", "npv", "fdr", "fomr", "fbeta(beta=2)", "fm", "ber", "youden", "markedness", "lr_pos"),
    *("lr_neg", "dor", "jaccard", "gmean", "prevalence", "nir", "pt", "pp_rate", "lift", "nec(fp=1, fn=5)", "corner"),
)
OTHERS = {"normal": POPULATIONS["binormal, AUC 0.80"], "near 1": POPULATIONS["binormal, AUC 0.95"], **FURTHER}
OTHER_CELLS = (
    ("normal", 0.3, 200),
    ("normal", 0.01, 2000),
    ("near 1", 0.1, 300),
    ("labels flipped", 0.2, 300),
    ("heavy tails", 0.2, 300),
    ("3 distinct scores", 0.3, 200),
)


@cache
def _truths(population: Population, prevalence: float, names: tuple[str, ...]) -> list[float]:
    """As elsewhere; groups of equal scores are fine bins of a population that has any score."""
    few = np.unique(population.whole(prevalence).score).size < 1000
    return truths_of(population, prevalence, tuple("rel(bins=1000)" if n == "rel" and not few else n for n in names))


def _other(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    population, prevalence, cases = OTHERS[str(cell[0])], float(cell[1]), int(cell[2])
    usual = () if cell[0] == "normal" else (*OF_SCORES, *(f"{name}@{prevalence:g}" for name in OF_COUNTS))
    # Of a thousandth of the cases the quantiles of a population are too few to know its largest error.
    scores = [name for name in OTHER_SCORES if name != "mce" or prevalence > 0.05]
    names = (*usual, *scores, *(f"{name}@{prevalence:g}" for name in OTHER_COUNTS))
    tables = (population.sample(prevalence, cases, rng) for _ in range(samples))
    found = tried(names, tables, _truths(population, prevalence, names), replicates)
    return {f"{name.partition('@')[0]}@π" if "@" in name else name: sums for name, sums in found.items()}


other_measures = Part(OTHER_CELLS, _other, _one_column_each)
"""Measures that are in no other table, and populations that no interval was chosen on."""


# --- many cases, few positives ------------------------------------------------------------------------------------

RARE = ("cal", "ece", "ref", "ks", "h", "brier")


def _rare(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    area, sharp, cases = float(cell[0]), float(cell[1]), int(cell[2])
    population = _rarely(area, sharp)
    tables = (population.sample(0.001, cases, rng) for _ in range(samples))
    return tried(RARE, tables, truths_of(population, 0.001, RARE), replicates)


@cache
def _rarely(area: float, sharp: float) -> Population:
    return binormal(area, slope=sharp)


rare_positives = Part(
    ((0.98, 1.0, 200_000), (0.98, 1.3, 200_000), (0.8, 1.0, 200_000), (0.8, 1.3, 200_000), (0.98, 1.0, 2_000_000)),
    _rare,
    lambda found: _by_measure(found, (f"AUC {a:g}; {b:g}; {n:_}".replace("_", " ") for a, b, n in found)),
)
"""One positive in a thousand, by AUC, how much the probabilities are sharpened, and number of cases."""


# --- cases in groups ----------------------------------------------------------------------------------------------

IN_GROUPS = (
    *("auc", "ap", "ks", "h", "brier", "logloss", "cal_large"),
    *("tpr@0.3", "ppv@0.3", "acc@0.3", "f1@0.3", "mcc@0.3"),
)


def _patients(rng: np.random.Generator, patients: int, visits: int) -> tuple[Array, Array, Array]:
    """Labels and scores of patients who come about so often; what a patient has in common is half of the noise."""
    count = 1 + rng.poisson(visits - 1, patients)
    group = np.repeat(np.arange(patients), count)
    label = rng.random(group.size) < np.where(rng.random(patients) < 0.5, 0.1, 0.5)[group]
    noise = math.sqrt(0.5) * (rng.normal(size=patients)[group] + rng.normal(size=group.size))
    return label, expit(1.2 * (noise + 1.2 * label) - 0.72 + logit(0.3)), group


@cache
def _of_patients(names: tuple[str, ...]) -> list[float]:
    label, score, _ = _patients(np.random.default_rng(SEED), 60_000, 8)
    table: Any = pair_table(label, {"": score}, positive=True).tables[0]
    return [float(value(name, table)) for name in names]


def _grouped(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    def draws() -> Iterator[BootstrapDraws]:
        for k in range(samples):
            label, score, group = _patients(rng, int(cell[0]), int(cell[1]))
            pairs = pair_table(label, {"": score}, positive=True, group=group)
            yield BootstrapDraws({"": pairs.tables[0]}, pairs, replicates=REPLICATES, seed=k)

    return tried_on(IN_GROUPS, draws(), _of_patients(IN_GROUPS))


def tried_on(names: tuple[str, ...], draws: Iterator[BootstrapDraws], truths: list[float]) -> Found:
    """How often default intervals hold the truth, over draws of samples."""
    found: Found = {name: {"samples": 0, "defined": 0, "held": 0, "width": 0.0} for name in names}
    for one in draws:
        with np.errstate(all="ignore"):
            limits = estimates({"": [parse(name) for name in names]}, one, level=LEVEL)
        for name, truth, each in zip(names, truths, limits, strict=True):
            sums = found[name]
            sums["samples"] += 1
            if math.isfinite(each.low) and math.isfinite(each.high):
                sums["defined"] += 1
                sums["held"] += each.low <= truth <= each.high
                sums["width"] += each.high - each.low
                sums[f"by {each.method}"] = sums.get(f"by {each.method}", 0) + 1
    return found


in_groups = Part(
    ((40, 8), (100, 4), (300, 8)),
    _grouped,
    lambda found: _by_measure(found, (f"{p} patients, {v} visits" for p, v in found)),
)
"""Cases of patients who come several times."""


# --- predicted numbers --------------------------------------------------------------------------------------------

OF_NUMBERS = (
    *("mae", "rmse", "mse", "medae", "smape", "huber", "rae", "rse", "rrse", "r2", "explained_variance", "d2"),
    *("bias", "err_var", "aoc", "asym", "pinball", "pearson", "spearman", "kendall", "cindex", "gini_correlation"),
    *("cal", "ref", "dsc", "coverage", "width"),
)
ERRORS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "skewed": lambda rng, n: rng.exponential(size=n) - 1,
    "t, 5": lambda rng, n: rng.standard_t(5, n) * math.sqrt(3 / 5),
    "t, 3": lambda rng, n: rng.standard_t(3, n) / math.sqrt(3),
}


def _numbers(rng: np.random.Generator, errors: str, cases: int) -> Any:
    truth = 10 + 2 * rng.normal(size=cases)
    predicted = truth - 0.2 * (truth - 10) + ERRORS[errors](rng, cases)
    return residual_table(truth, predicted, interval=(predicted - 2, predicted + 2, 0.95))


@cache
def _of_numbers(errors: str) -> list[float]:
    whole = _numbers(np.random.default_rng(SEED), errors, 100_000)
    return [float(value(name, whole)) for name in OF_NUMBERS]


def _predicted(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    tables = (_numbers(rng, str(cell[0]), int(cell[1])) for _ in range(samples))
    return tried(OF_NUMBERS, tables, _of_numbers(str(cell[0])), replicates)


predicted_numbers = Part(
    tuple((errors, cases) for errors in ERRORS for cases in (50, 200)),
    _predicted,
    lambda found: _by_measure(found, (f"{errors}; {n}" for errors, n in found)),
)
"""Predicted numbers, by the distribution of the errors and the number of cases."""

"""Regret over a range of costs, printed numbers, intervals at every look, and the best of many models."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from populations import Array
from rounds import Cell, Found, Part, markdown
from scipy.special import expit, logit, ndtr

from scorespace.audit.printed_numbers import consistent_tables
from scorespace.calibration.unlabelled import em_prevalence, shifted, weighted_table
from scorespace.comparisons.best_of_many import best_of_many, ladder_answer
from scorespace.decisions import cost_region
from scorespace.inference.any_look import START, auc_limits, bounded_limits, log_evidence, mean_limits, spread_rate
from scorespace.inference.auc_variance import delong_variance
from scorespace.inference.proportion import wilson
from scorespace.measures import parse
from scorespace.measures.ranking import auc
from scorespace.measures.request import bind
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


# --- intervals at every look ----------------------------------------------------------------------------------------

LEVELS = ("both", "low", "high")
LOOKS = np.concatenate([np.arange(25, 500, 25), np.arange(500, 5001, 100)])
"""Numbers of cases at which one looks."""
COSTS, BENEFIT = np.array([0.0, 1.0, 5.0, 0.0]), np.array([1.0, -0.2, 0.0, 0.0])
"""Costs of TP, FP, FN and TN; and net benefit at a threshold of 1/6."""


def _missed(low: Array, high: Array, true: float) -> Array:
    """Whether any interval of a stream (last axis) misses; looks without an interval do not."""
    return ((low > true) | (high < true)).any(axis=-1)


def _shares(share: float, rng: np.random.Generator, samples: int) -> dict[str, Array]:
    counts = np.array([np.cumsum(rng.random(LOOKS[-1]) < share)[LOOKS - 1] for _ in range(samples)])
    found = {"daily": _missed(*wilson(counts, LOOKS), share)}
    for side in LEVELS:
        rate = spread_rate(0.05 if side == "both" else 0.1, 1000)
        against = log_evidence(counts, LOOKS - counts, np.full(counts.shape, share), rate, side)
        found[side] = (against >= -np.log(0.05)).any(axis=-1)
    return found


def _areas(prevalence: float, shift: float, rng: np.random.Generator, samples: int) -> dict[str, Array]:
    true, found = float(ndtr(shift / np.sqrt(2))), {name: [] for name in ("daily", *LEVELS)}
    for _ in range(samples):
        label = (rng.random(LOOKS[-1]) < prevalence).astype(int)
        score = rng.normal(size=label.size) + shift * label
        known = []
        for n in LOOKS:
            table = score_table(label[:n], score[:n])
            if min(table.n_pos, table.n_neg) >= START:
                known.append((auc(table), table.n_pos, table.n_neg, delong_variance(table)))
        area, p, n, variance = np.array(known).T
        half = 1.96 * np.sqrt(variance)
        found["daily"].append(_missed(area - half, area + half, true))
        for side in LEVELS:
            found[side].append(_missed(*auc_limits(area, p, n, variance, side=side), true))
    return {name: np.array(one) for name, one in found.items()}


def _means(values: Array, prevalence: float, shift: float, rng: np.random.Generator, samples: int) -> dict[str, Array]:
    """The dearer errors are false negatives; a benefit starts with the rarer class."""
    cut = (np.log((1 - prevalence) / prevalence / 5) + shift**2 / 2) / shift
    rates = ndtr(shift - cut), ndtr(-cut)
    shares = np.array([rates[0] * prevalence, rates[1] * (1 - prevalence)])
    shares = np.append(shares, [prevalence - shares[0], 1 - prevalence - shares[1]])
    true = float(values @ shares)
    steps = np.diff(LOOKS, prepend=0)
    cells = np.stack([rng.multinomial(size, shares, size=samples) for size in steps], axis=1).cumsum(axis=1)
    positives = cells[..., 0] + cells[..., 2]
    enough = cells[..., 2] if values is COSTS else np.minimum(positives, LOOKS - positives)
    mean = cells @ values / LOOKS
    half = 1.96 * np.sqrt((cells @ values**2 / LOOKS - mean**2) / LOOKS)
    found = {"daily": _missed(mean - half, mean + half, true)}
    for side in LEVELS:
        ends = zip(bounded_limits(cells, values, side=side), mean_limits(cells, values, side=side), strict=True)
        low, high = (np.where(enough < START, exact, asymptotic) for exact, asymptotic in ends)
        found[side] = _missed(low, high, true)
    return found


def _looks(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    del replicates
    kind, prevalence, shift = str(cell[0]), float(cell[1]), float(cell[2])
    if kind == "share":
        missed = _shares(prevalence, rng, samples)
    elif kind == "AUC":
        missed = _areas(prevalence, shift, rng, samples)
    else:
        missed = _means(COSTS if kind == "cost" else BENEFIT, prevalence, shift, rng, samples)
    return {name: {"samples": samples, "missed": float(one.sum())} for name, one in missed.items()}


def _of_looks(found: Mapping[Cell, Found]) -> str:
    rows = []
    for (kind, prevalence, shift), one in found.items():
        about = (
            f" {prevalence}" if kind == "share" else f", {prevalence} positive, AUC {ndtr(float(shift) / 2**0.5):.3f}"
        )
        rows.append([f"{kind}{about}", *(f"{sums['missed'] / sums['samples']:.3f}" for sums in one.values())])
    return markdown(
        ["measure", "an interval for one look", "both limits", "lower limit alone", "upper limit alone"], rows
    )


any_look = Part(
    (
        *(("share", share, 0.0) for share in (0.5, 0.9, 0.98, 0.999)),
        *((kind, p, d) for kind in ("AUC", "cost", "net benefit") for p in (0.3, 0.05) for d in (1.5, 3.0)),
    ),
    _looks,
    _of_looks,
    times=4,
)
"""How often an interval, or a limit alone, misses at any of 65 looks."""


# --- the best of many models ----------------------------------------------------------------------------------------

REPLICATES = 500


def _weights(rng: np.random.Generator, n: int) -> Array:
    """How often each case is drawn in each replicate."""
    drawn = rng.integers(n, size=(REPLICATES, n)) + n * np.arange(REPLICATES)[:, None]
    return np.bincount(drawn.ravel(), minlength=REPLICATES * n).reshape(REPLICATES, n)


def _accuracies(right: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Accuracies of models (models, n): on all cases, in each replicate, and on the cases left out."""
    left_out = (weights == 0).astype(float)
    return right.mean(axis=1), right @ weights.T / right.shape[1], right @ left_out.T / left_out.sum(axis=1)


def _areas_of(label: Array, scores: Array, weights: Array) -> tuple[Array, Array, Array]:
    found = []
    for score in scores:
        table = score_table(label, score)
        place = np.searchsorted(-table.score, -score)
        both = []
        for times in (weights, weights == 0):
            cells = np.zeros((REPLICATES, 2, table.score.size))
            cells[:, label, place] = times
            both.append(auc(table.with_cells(cells.reshape(REPLICATES, -1))))
        found.append((auc(table), *both))
    return tuple(map(np.array, zip(*found, strict=True)))  # type: ignore[return-value]


def _attacked(rng: np.random.Generator, n: int, models: int, weights: Array, ladder: bool) -> Array:
    """Noise models and the majority vote of those whose answers were above one half, or new with the Ladder."""
    right = (rng.random((models, n)) < 0.5).astype(float)
    values, inside, _ = _accuracies(right, weights)
    if ladder:
        told, best = np.zeros(models, dtype=bool), None
        for k in range(models):
            if best is None or ladder_answer(values[k], inside[k], values[best], inside[best]):
                told[k], best = True, k
    else:
        told = values > 0.5
    votes = right[told].mean(axis=0) if told.any() else np.full(n, 0.5)
    vote = np.where(votes == 0.5, rng.random(n) < 0.5, votes > 0.5)
    return np.vstack([right, vote])


def _best(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    del replicates
    kind, models, n = str(cell[0]), int(cell[1]), int(cell[2])
    sums = dict.fromkeys(("samples", "apparent", "true", "corrected", "bound", "single", "holds"), 0.0)
    for _ in range(samples):
        weights = _weights(rng, n)
        true, trials = np.full(models + kind.startswith("adaptive"), 0.5), np.full(models + 1, float(n))
        if kind.startswith("adaptive"):
            values, inside, outside = _accuracies(_attacked(rng, n, models, weights, "Ladder" in kind), weights)
        elif kind == "equal AUC":
            label = (rng.random(n) < 0.4).astype(int)
            common = np.sqrt(0.8) * rng.normal(size=n) + np.sqrt(2) * 0.8416 * label
            true = np.full(models, 0.8)
            scores = common + np.sqrt(0.2) * rng.normal(size=(models, n))
            values, inside, outside = _areas_of(label, scores, weights)
        else:
            ends = {"noise": (0.5, 0.5), "equal": (0.8, 0.8), "spread": (0.75, 0.85)}[kind]
            true, shared = np.linspace(*ends, models), 0.0 if kind == "noise" else 0.8
            latent = np.sqrt(shared) * rng.normal(size=n) + np.sqrt(1 - shared) * rng.normal(size=(models, n))
            values, inside, outside = _accuracies((ndtr(latent) < true[:, None]).astype(float), weights)
        share = kind != "equal AUC"
        found = best_of_many(values, inside, outside, trials=trials[: len(values)] if share else None)
        spread = inside[found.place].std()
        single = wilson(found.value * n, n, 0.9)[0] if share else found.value - 1.645 * spread
        reached = true[found.place]
        counted = (1, found.value, reached, found.corrected, found.bound, single <= reached, found.bound <= reached)
        sums = dict(zip(sums, map(sum, zip(sums.values(), counted, strict=True)), strict=True))
    return {"best": sums}


def _of_best(found: Mapping[Cell, Found]) -> str:
    rows = [
        [
            f"{models} {kind}, {n} cases",
            *(f"{one['best'][name] / one['best']['samples']:.3f}" for name in list(one["best"])[1:]),
        ]
        for (kind, models, n), one in found.items()
    ]
    return markdown(["models", "apparent", "true", "corrected", "bound", "bound of one holds", "bound holds"], rows)


best_models = Part(
    (
        ("noise", 100, 500),
        ("equal", 20, 500),
        ("equal", 20, 100),
        ("spread", 20, 500),
        ("equal AUC", 20, 300),
        ("adaptive", 100, 1000),
        ("adaptive, with the Ladder", 100, 1000),
    ),
    _best,
    _of_best,
    times=2,
)
"""The best of many models on one test set: apparent, true and corrected value, and how often its bound holds."""


# --- without labels -------------------------------------------------------------------------------------------------

NAMES = ("acc@0.5", "ppv@0.5", "tpr@0.5", "auc")
TRAINED, APART = 0.3, 1.5


def _drawn(kind: str, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Labels and probabilities that are calibrated where nothing changed."""
    label = (rng.random(n) < (0.1 if kind == "prevalence 0.1" else TRAINED)).astype(int)
    x = rng.normal(size=n) + (APART / 2 if kind == "separation halved" else APART) * label
    if kind == "other cases":  # x is drawn anew, and the label by its probability
        x = x + 0.5
    logits = APART * x - APART**2 / 2 + logit(TRAINED)
    if kind == "other cases":
        label = (rng.random(n) < expit(logits)).astype(int)
    return label, expit(2 * logits if kind == "logits doubled" else logits)


def _assumed(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    del replicates
    found = {way: dict.fromkeys(("samples", *NAMES), 0.0) for way in ("true", "calibrated", "prior shift")}
    for _ in range(samples):
        label, p = _drawn(str(cell[0]), rng, 5000)
        tables = {"true": score_table(label, p), "calibrated": weighted_table(p, p)}
        tables["prior shift"] = weighted_table(p, shifted(p, TRAINED, em_prevalence(p, TRAINED).prevalence))
        for way, table in tables.items():
            for name in NAMES:
                found[way][name] += bind(parse(name), table).value
            found[way]["samples"] += 1
    return found


def _of_assumed(found: Mapping[Cell, Found]) -> str:
    rows = [
        [str(kind) if way == "true" else "", way, *(f"{sums[name] / sums['samples']:.3f}" for name in NAMES)]
        for (kind,), one in found.items()
        for way, sums in one.items()
    ]
    return markdown(["change", "values", *NAMES], rows)


without_labels = Part(
    (("none",), ("other cases",), ("prevalence 0.1",), ("separation halved",), ("logits doubled",)),
    _assumed,
    _of_assumed,
)
"""True values and those that follow from each assumption, by what changed."""

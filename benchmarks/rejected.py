"""How often default tests reject a true null, by what is asked and the number of cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
from covered import area_and_variances, placements
from populations import Array
from rounds import Cell, Found, Part, markdown
from scipy.special import expit, ndtr

from scorespace.comparisons.mcnemar import mcnemar_p
from scorespace.comparisons.paired import compare
from scorespace.comparisons.unpaired import against_value, compare_samples
from scorespace.inference import bootstrap
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.measures import parse
from scorespace.tables import score_table
from scorespace.tables.paired import pair_table

LIKELY = 0.05
PIECE = 5_000_000  # numbers that are drawn at once


@contextmanager
def in_one_piece() -> Iterator[None]:
    """Tests that draw all of their replicates in one piece."""
    with patch.object(bootstrap, "_COUNTS_PER_BLOCK", PIECE):
        yield


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


def _shown(pos: list[Array], neg: list[Array], m: int, n: int) -> dict[str, Array]:
    """The scores of one sample of two models as probabilities, positives first."""
    return {
        name: expit(1.2 * np.concatenate([a[0], b[0]]) - 0.72 + math.log(m / n))
        for name, a, b in zip("ab", pos, neg, strict=True)
    }


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
    found = p_values(rng, samples, m, n, apart, names)
    return {name: float((p < LIKELY).mean()) for name, p in found.items()}


def p_values(
    rng: np.random.Generator, samples: int, m: int, n: int, apart: float, names: Sequence[str]
) -> dict[str, Array]:
    """The p-values of the same tests."""
    p: dict[str, list[float]] = {}
    label, other = np.repeat([1, 0], [m, n]), np.repeat([1, 0], [50, 500])
    with in_one_piece():
        for k in range(samples):
            scores = _shown(*_models(rng, 1, m, n, apart), m, n)
            pairs = pair_table(label, scores)
            draws = BootstrapDraws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs, seed=k)
            for name in names:
                p.setdefault(name, []).append(compare(pairs, spec=parse(name), draws=draws)[0].p)
            first = score_table(label, scores["a"])
            second = score_table(other, rng.normal(size=550) + apart * other)
            p.setdefault("two samples, auc", []).append(compare_samples(first, second, seed=k).p)
            if apart == 0:
                p.setdefault("auc against 0.5", []).append(against_value(first, 0.5, seed=k).p)
    return {name: np.array(found) for name, found in p.items()}


def _counted(shares: Mapping[str, float], samples: int) -> Found:
    return {name: {"samples": samples, "rejected": round(share * samples)} for name, share in shares.items()}


def _judged(p: Mapping[str, Array]) -> Found:
    """How often each rejects, and the sum of its p-values, by which the study knows whether the code has changed."""
    return {
        name: {"samples": one.size, "rejected": int((one < LIKELY).sum()), "p": float(np.nansum(one))}
        for name, one in p.items()
    }


def _share(found: Found, name: str) -> str:
    return f"{found[name]['rejected'] / found[name]['samples']:.3f}" if name in found else ""


def _sizes(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    del replicates
    m, n, apart = int(cell[0]), int(cell[1]), float(cell[2])
    found = _judged(p_values(rng, samples, m, n, apart, COMPARED))
    found |= _counted(paired_delong(rng, 10 * samples, m, n, apart), 10 * samples)
    return found | (_counted(against_half(rng, 10 * samples, m, n), 10 * samples) if apart == 0 else {})


def _of_sizes(found: Mapping[Cell, Found]) -> str:
    names = dict.fromkeys(name for one in found.values() for name in one)
    rows = [
        [name, *(" ".join(_share(found[m, n, apart], name) for apart in APART).strip() for m, n in PAIRS)]
        for name in names
    ]
    return markdown(["test", *(f"{m} + {n}" for m, n in PAIRS)], rows)


APART = (0.0, 1.2)
sizes_of_tests = Part(tuple((m, n, apart) for m, n in PAIRS for apart in APART), _sizes, _of_sizes, times=2)
"""How often default tests reject a true null at 5 %, by the cases of each class and how far these are apart."""

CLOSER = (("auc", 20, 200), ("auc", 30, 300), ("auprc", 10, 10), ("h", 10, 10))


def paired_only(rng: np.random.Generator, samples: int, m: int, n: int, apart: float, name: str) -> Array:
    """The p-values of the default test of one measure, of two equal models on the same cases."""
    label, spec, p = np.repeat([1, 0], [m, n]), parse(name), np.empty(samples)
    for k in range(samples):
        pairs = pair_table(label, _shown(*_models(rng, 1, m, n, apart), m, n))
        draws = BootstrapDraws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs, replicates=100, seed=k)
        p[k] = compare(pairs, spec=spec, draws=draws)[0].p
    return p


def _closer(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    del replicates
    name, m, n = str(cell[0]), int(cell[1]), int(cell[2])
    with in_one_piece():
        return _judged({f"{apart:g}": paired_only(rng, samples, m, n, apart, name) for apart in APART})


closer_look = Part(
    CLOSER,
    _closer,
    lambda found: markdown(
        ["measure", "cases", "noise", "1.2 apart"],
        [
            [str(name), f"{m} + {n}", *(_share(one, f"{apart:g}") for apart in APART)]
            for (name, m, n), one in found.items()
        ],
    ),
    times=5,
)
"""Where a few hundred samples leave a doubt, more of them."""


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


def _forms(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    del replicates
    return _counted(mcnemar_null(rng, samples, int(cell[0])), samples)


def _of_forms(found: Mapping[Cell, Found]) -> str:
    forms = dict.fromkeys(form for one in found.values() for form in one)
    rows = [[form, *(_share(one, form) for one in found.values())] for form in forms]
    return markdown(["form", *(f"{n} cases" for (n,) in found)], rows)


forms_of_mcnemar = Part(((20,), (50,), (100,), (200,), (1000,)), _forms, _of_forms, times=50)
"""How often McNemar's test rejects equal accuracies, by form and number of cases."""

"""How often the comparison of a judge with people holds: intervals, one-sided tests, the alternative annotator test."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from rounds import Cell, Found, Part, markdown

from scorespace.agreement.raters import rater_agreement
from scorespace.comparisons.judge import AlternativeAnnotator
from scorespace.measures import parse

SHARES = {"2 classes": (0.5, 0.5), "3 classes": (1 / 3, 1 / 3, 1 / 3), "rare": (0.9, 0.1)}
SKILL = 0.8  # of people: the true class with this probability, else a class by chance
EPSILON = 0.1
JUDGES: tuple[Cell, ...] = (
    ("2 classes", 50, 3, 0.8),
    ("3 classes", 100, 3, 0.8),
    ("3 classes", 300, 3, 0.8),
    ("3 classes", 200, 2, 0.8),
    ("rare", 200, 3, 0.8),
    ("2 classes", 100, 3, 0.7),
    ("3 classes", 300, 3, 0.7),
    ("rare", 300, 3, 0.7),
)


def _truths(shares: Mapping[int, float] | tuple[float, ...], skill: float) -> dict[str, float]:
    """The true differences: raters who err by chance have the kappa of the product of their skills."""
    with_people, among = skill * SKILL, SKILL**2
    chance = float(np.square(shares).sum())
    return {"rater_kappa": with_people - among, "agreed": (with_people - among) * (1 - chance)}


def _judges(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    del replicates
    shares, items, people, skill = SHARES[str(cell[0])], int(cell[1]), int(cell[2]), float(cell[3])
    truths = _truths(shares, skill)
    found: Found = {name: {"samples": 0, "held": 0, "lower": 0} for name in truths} | {
        "alt_test": {"samples": 0, "passed": 0}
    }
    for _ in range(samples):
        truth = rng.choice(len(shares), items, p=shares)
        ratings = {
            name: np.where(rng.random(items) < one, truth, rng.choice(len(shares), items, p=shares))
            for name, one in ({f"h{k}": SKILL for k in range(people)} | {"judge": skill}).items()
        }
        for test in rater_agreement(ratings, judges=["judge"], epsilon=EPSILON).judged:
            if isinstance(test, AlternativeAnnotator):
                found["alt_test"]["samples"] += 1
                found["alt_test"]["passed"] += test.is_significant
            elif (name := parse(test.measure).name) in truths:
                found[name]["samples"] += 1
                found[name]["held"] += test.low <= truths[name] <= test.high
                found[name]["lower"] += test.p < 0.05
    return found


def _rows(found: Mapping[Cell, Found]) -> str:
    rows = []
    for (shares, items, people, skill), sums in found.items():
        kappa, agreed, passed = sums["rater_kappa"], sums["agreed"], sums["alt_test"]
        held = [f"{one['held'] / one['samples']:.2f}" for one in (kappa, agreed)]
        lower = f"{kappa['lower'] / kappa['samples']:.3f}"
        title = f"{shares}, {items:g} items, {people:g} people, judge {skill:g}"
        rows.append((title, *held, lower, f"{passed['passed'] / passed['samples']:.2f}"))
    return markdown(("", "kappa", "agreement", "p < 0.05, kappa lower", "alt_test passes"), rows)


judges = Part(JUDGES, _judges, _rows, times=4)
"""A judge as skilled as people (0.8), where the one-sided test has its level, or less skilled."""

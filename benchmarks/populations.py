"""Populations of which the truth is known: scores of two classes, of three, and of few cases."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, expit, logit, ndtr, ndtri, softmax
from scipy.stats import t as student_t

from scorespace.tables import ClassTable, ScoreTable, class_table, score_table

Array = NDArray[np.float64]


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


def spreading(area: float, spread: float) -> Population:
    """Normal scores of which those of the positives spread more or less than those of the negatives."""
    apart = math.sqrt(1 + spread**2) * float(ndtri(area))
    return Population(
        ndtri, lambda u: apart + spread * ndtri(u), lambda x, p: expit(apart * (x - apart / 2) + logit(p))
    )


def _humps(share: float, first: tuple[float, float], second: tuple[float, float]) -> Callable[[Array], Array]:
    """The quantiles of two normal humps, each by centre and spread, the first with that share."""
    grid = np.linspace(-8, 8, 200_001)
    below = share * ndtr((grid - first[0]) / first[1]) + (1 - share) * ndtr((grid - second[0]) / second[1])
    return lambda u: np.interp(u, below, grid)


POPULATIONS = {
    "binormal, AUC 0.80": binormal(0.8),
    "binormal, AUC 0.65": binormal(0.65),
    "binormal, AUC 0.95": binormal(0.95),
    "two humps": Population(ndtri, _humps(0.5, (0, 1), (3, 0.5)), lambda x, p: expit(1.5 * x - 2 + logit(p))),
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
    "noise": Population(ndtri, ndtri, lambda x, p: expit(0.5 * x + logit(p))),
    "positives twice as wide, AUC 0.95": spreading(0.95, 2.0),
    "positives half as wide, AUC 0.97": spreading(0.97, 0.5),
    "binormal, AUC 0.99": binormal(0.99),
    "beta": Population(lambda u: betaincinv(2, 5, u), lambda u: betaincinv(5, 2, u), lambda x, p: x),
    "humps of both classes": Population(
        _humps(0.7, (-2, 0.7), (2, 0.7)), _humps(0.3, (-2, 0.7), (2, 0.7)), lambda x, p: expit(0.6 * x + logit(p))
    ),
}

FURTHER = {
    "labels flipped": Population(
        _humps(0.95, (0, 1), (1.19, 1)), _humps(0.15, (0, 1), (1.19, 1)), lambda x, p: expit(1.19 * x - 0.71 + logit(p))
    ),
    "heavy tails": Population(
        lambda u: student_t.ppf(u, 1.5),
        lambda u: student_t.ppf(u, 1.5) + 1.5,
        lambda x, p: expit(np.clip(x, -20, 20) - 0.75 + logit(p)),
    ),
    "3 distinct scores": Population(
        lambda u: np.digitize(u, [0.5, 0.85]).astype(np.float64),
        lambda u: np.digitize(u, [0.2, 0.5]).astype(np.float64),
        lambda x, p: expit(1.2 * x - 1.1 + logit(p)),
    ),
}
"""Populations that no interval was chosen on."""


# --- weights that depend on score or class --------------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """Which cases of a population come into the sample; the others are stood for by the weights, 1 / chance."""

    population: Population
    prevalence: float
    cases: int
    chance: Callable[[NDArray[np.bool_], Array, Array], Array]

    def sample(self, rng: np.random.Generator) -> ScoreTable:
        """A sample with at least two cases of each class."""
        while True:
            count = int(rng.binomial(self.cases, self.prevalence))
            chances = rng.random(count), rng.random(self.cases - count)
            scores = self.population.scores(chances, self.prevalence)
            label = np.repeat([True, False], [count, self.cases - count])
            chance = self.chance(label, scores, rng.random(self.cases))
            kept = rng.random(self.cases) < chance
            if min(label[kept].sum(), (~label[kept]).sum()) >= 2:
                return score_table(label[kept], scores[kept], positive=True, weight=1 / chance[kept])


def _verified(cut: float, part: float) -> Callable[..., Array]:
    return lambda label, score, u: np.where(score >= cut, 1.0, part)


def _controls(part: float) -> Callable[..., Array]:
    return lambda label, score, u: np.where(label, 1.0, part)


DESIGNS = {
    "low scores verified 1:10": Design(binormal(0.8), 0.3, 500, _verified(0.3, 0.1)),
    "verified 1:10, rare": Design(binormal(0.85), 0.1, 1500, _verified(0.1, 0.1)),
    "verified 1:5, two humps": Design(POPULATIONS["two humps"], 0.3, 500, _verified(0.4, 0.2)),
    "controls 1:20": Design(binormal(0.8), 0.05, 1500, _controls(0.05)),
    "controls 1:20, exponential": Design(POPULATIONS["exponential"], 0.03, 3000, _controls(0.05)),
    "controls 1:20, ties": Design(POPULATIONS["10 distinct scores"], 0.05, 1500, _controls(0.05)),
    "by score": Design(binormal(0.8), 0.2, 600, lambda label, score, u: np.clip(score**0.7 + 0.02, 0, 1)),
    "high scores seldom": Design(binormal(0.8), 0.2, 600, lambda label, score, u: (1 - score) ** 2 * 0.97 + 0.03),
}
"""Samples in which weights depend on score or class."""


# --- scores of few cases, drawn many samples at once ------------------------------------------------------------------

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


# --- several classes ----------------------------------------------------------------------------------------------


def class_sample(chance: Array, cases: int, apart: float, sharp: float, rng: np.random.Generator) -> ClassTable:
    label = np.zeros(cases, dtype=np.int64)
    while np.bincount(label, minlength=3).min() < 2:
        label = rng.choice(3, cases, p=chance)
    centres = apart * np.array([[1, 0], [-0.5, math.sqrt(0.75)], [-0.5, -math.sqrt(0.75)]])
    place = centres[label] + rng.normal(size=(cases, 2))
    shown_as = softmax(sharp * (place @ centres.T + np.log(chance)), axis=1)
    names = np.array(["a", "b", "c"])
    return class_table(names[label], {name: shown_as[:, k] for k, name in enumerate(names)})

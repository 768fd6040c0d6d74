"""Samples whose probabilities are known, and ways to distort what is shown of them."""

import numpy as np

import scorespace as ss


def sample(cases, seed=0, distort=lambda p: p):
    """Cases that are positive with probability p, and are scored distort(p)."""
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 2, cases)
    return ss.score_table((rng.random(cases) < p).astype(int), distort(p))


def overconfident(p):
    odds = (p / (1 - p)) ** 2.5
    return odds / (1 + odds)


def underconfident(p):
    odds = (p / (1 - p)) ** 0.4
    return odds / (1 + odds)

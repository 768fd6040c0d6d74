"""Fisher's exact test of independence for many 2 × 2 tables at once, and χ² for large tables."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.special import chdtrc, gammaln

from scorespace.tables import Array, ratio
from scorespace.tables.rules import RuleTable

MIN_EXPECTED_FOR_CHI2: Final = 500.0
"""Expected count in every cell from which on χ² is used."""
_SUMMED_SDS: Final = 12.0  # standard deviations around the expected count that are summed, and
_SUMMED_EXTRA: Final = 40  # additional counts
_TABLES_PER_CHUNK: Final = 1000
_TIE_TOLERANCE: Final = 1e-7  # relative tolerance of ties in probability


def independence(rule: RuleTable) -> Array:
    """Two-sided p value of independence of antecedent and consequent of each rule; NaN for constant sides.

    Fisher's exact test: total probability of all counts no more likely than the observed one, given the margins. If at
    least 500 transactions are expected in every cell, χ² = n (ad − bc)² / (product of margins).

    >>> independence(RuleTable(both=[8, 5], antecedent=10, consequent=9, total=20)).round(4)
    array([0.0055, 1.    ])
    """
    both, a, b, n = (np.atleast_1d(part) for part in (rule.both, rule.antecedent, rule.consequent, rule.total))
    min_expected = ratio(np.minimum(a, n - a) * np.minimum(b, n - b), n)  # smallest expected cell
    p = np.full(both.shape, np.nan)
    large = min_expected >= MIN_EXPECTED_FOR_CHI2
    squares = ratio((both * n - a * b) ** 2 / n, (a * b / n) * (n - a) * (n - b) / n)
    p[large] = chdtrc(1.0, squares[large])
    small = np.flatnonzero((min_expected > 0) & ~large)
    small = small[np.argsort(min_expected[small])]  # so that tables of one chunk have sums of similar length
    for start in range(0, small.size, _TABLES_PER_CHUNK):
        chunk = small[start : start + _TABLES_PER_CHUNK]
        p[chunk] = _fisher(both[chunk], a[chunk], b[chunk], n[chunk])
    return p.reshape(rule.both.shape)


def _fisher(both: Array, a: Array, b: Array, n: Array) -> Array:
    """Two-sided Fisher p value: sum of hypergeometric probabilities up to that of the observed count."""
    lowest, highest = np.maximum(0.0, a + b - n), np.minimum(a, b)
    expected = np.floor(a * b / n)
    half = np.ceil(_SUMMED_SDS * np.sqrt((a * b / n) * (1 - a / n) * (1 - b / n))) + _SUMMED_EXTRA
    begin = np.maximum(lowest, expected - half)
    width = int((np.minimum(highest, expected + half) - begin).max(initial=0))
    counts = begin[:, None] + np.arange(width + 1)
    total = _log_choose(n, a)
    logs = np.where(
        counts <= highest[:, None],
        _log_choose(b[:, None], counts)
        + _log_choose((n - b)[:, None], np.clip(a[:, None] - counts, 0, (n - b)[:, None])),
        -np.inf,
    )
    probabilities = np.exp(logs - total[:, None])
    observed = np.exp(_log_choose(b, both) + _log_choose(n - b, a - both) - total)
    tail = np.where(probabilities <= observed[:, None] * (1 + _TIE_TOLERANCE), probabilities, 0.0).sum(axis=1)
    return np.clip(tail, observed, 1.0)  # the observed count is included even if outside the summed range


def _log_choose(n: Array, k: Array) -> Array:
    """Logarithm of the binomial coefficient; −inf where k exceeds n."""
    return np.where(k > n, -np.inf, gammaln(n + 1) - gammaln(np.minimum(k, n) + 1) - gammaln(np.maximum(n - k, 0) + 1))

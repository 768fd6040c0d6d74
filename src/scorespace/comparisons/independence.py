"""Are two things independent: Fisher's exact test of many 2 × 2 tables at once, χ² where that says the same."""

from __future__ import annotations

from typing import Final

import numpy as np

from scorespace.special import chdtrc, gammaln
from scorespace.tables import Array, ratio
from scorespace.tables.rule import RuleTable

ENOUGH: Final = 500.0
"""Expected transactions in every cell from which on χ² is used."""
_SPREAD: Final = 12.0  # standard deviations to either side of the expected count that are added up, and
_AROUND: Final = 40  # so many counts more
_AT_ONCE: Final = 1000
_TIE: Final = 1e-7  # outcomes as likely as the one seen, but for rounding


def independence(rule: RuleTable) -> Array:
    """The p-value, two-sided, of each rule's sides being independent; NaN where a side occurs never or always.

    Fisher's exact test: the chance of all counts that are no likelier than the one seen, with both margins fixed.
    Where at least 500 transactions are expected in every cell, χ² = n (ad − bc)² / (product of margins).

    >>> independence(RuleTable(both=[8, 5], antecedent=10, consequent=9, total=20)).round(4)
    array([0.0055, 1.    ])
    """
    both, a, b, n = (np.atleast_1d(part) for part in (rule.both, rule.antecedent, rule.consequent, rule.total))
    least = ratio(np.minimum(a, n - a) * np.minimum(b, n - b), n)  # the smallest expected cell
    p = np.full(both.shape, np.nan)
    large = least >= ENOUGH
    squares = ratio((both * n - a * b) ** 2 / n, (a * b / n) * (n - a) * (n - b) / n)
    p[large] = chdtrc(1.0, squares[large])
    small = np.flatnonzero((least > 0) & ~large)
    small = small[np.argsort(least[small])]  # tables of one piece then have sums of about the same length
    for start in range(0, small.size, _AT_ONCE):
        few = small[start : start + _AT_ONCE]
        p[few] = _fisher(both[few], a[few], b[few], n[few])
    return p.reshape(rule.both.shape)


def _fisher(both: Array, a: Array, b: Array, n: Array) -> Array:
    """Fisher's two-sided p: the sum of hypergeometric chances up to that of the count seen."""
    lowest, highest = np.maximum(0.0, a + b - n), np.minimum(a, b)
    expected = np.floor(a * b / n)
    half = np.ceil(_SPREAD * np.sqrt((a * b / n) * (1 - a / n) * (1 - b / n))) + _AROUND
    begin = np.maximum(lowest, expected - half)
    width = int((np.minimum(highest, expected + half) - begin).max(initial=0))
    counts = begin[:, None] + np.arange(width + 1)
    whole = _ways(n, a)
    logs = np.where(
        counts <= highest[:, None],
        _ways(b[:, None], counts) + _ways((n - b)[:, None], np.clip(a[:, None] - counts, 0, (n - b)[:, None])),
        -np.inf,
    )
    chances = np.exp(logs - whole[:, None])
    seen = np.exp(_ways(b, both) + _ways(n - b, a - both) - whole)
    rarer = np.where(chances <= seen[:, None] * (1 + _TIE), chances, 0.0).sum(axis=1)
    return np.clip(rarer, seen, 1.0)  # beyond all that was added up, the count seen is the likeliest of the rest


def _ways(n: Array, k: Array) -> Array:
    """The logarithm of n over k; of no ways where k is above n."""
    return np.where(k > n, -np.inf, gammaln(n + 1) - gammaln(np.minimum(k, n) + 1) - gammaln(np.maximum(n - k, 0) + 1))

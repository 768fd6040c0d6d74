"""Two samples pooled, and the statistics of their difference when the cases are dealt out to them again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

import numpy as np

from scorespace.curves.smooth import softened
from scorespace.frozen import dataclass
from scorespace.measures.calibration import cal_large
from scorespace.measures.decomposition import cal
from scorespace.measures.ranking import auc
from scorespace.measures.smooth import smauc
from scorespace.resampling.draw import replicated
from scorespace.resampling.worlds import mid_ranks
from scorespace.results import Progress
from scorespace.tables import Array, ScoreTable, ratio

ROWS: Final = 1000
"""Neighbouring scores are merged to so many rows before cases are dealt out: a step of 0.1 % of the cases."""

STRATA: Final = 64
"""Groups of equal scores within which labels are dealt out, to judge what a score means."""

_GROUPS: Final = 20  # of about equal scores, to tell a change of prevalence from one of calibration
_GRID: Final = np.linspace(0, 1, 257)  # where smooth ROC curves are compared in replicates
_ROUNDING: Final = 1e-9

Sides = tuple[Array, Array]
"""Counts of the positives and of the negatives of one sample at each score."""


@dataclass(frozen=True, eq=False)
class Weighed:
    """Cases that are dealt out with their weights: the row of each, its weight, its class, and its sample."""

    row: Array
    weight: Array
    positive: Array
    after: Array

    def of_before(self, among: Array, place: Array, rows: int, rng: np.random.Generator, count: int) -> Array:
        """Sums of weights (count, rows) at the places of as many of these cases as the sample before has, by lot."""
        chosen = np.flatnonzero(among)
        taken = int((~self.after[chosen]).sum())
        # The cases with the lowest of random keys.
        lot = np.argpartition(rng.random((count, chosen.size)), min(taken, chosen.size - 1), axis=1)[:, :taken]
        cell = place[chosen][lot] + rows * np.arange(count)[:, None]
        found = np.bincount(cell.ravel(), self.weight[chosen][lot].ravel(), minlength=count * rows)
        return found.reshape(count, rows)


@dataclass(frozen=True)
class Pooled:
    """Both samples on common scores, descending: the cases of each class in each, and all that follows.

    `weighed` holds the cases where weights are not numbers of copies.

    >>> from scorespace.tables import score_table
    >>> both = pooled(score_table([1, 0], [0.9, 0.2]), score_table([1, 0], [0.9, 0.4]))
    >>> both.score.tolist(), both.positives.tolist()
    ([0.9, 0.4, 0.2], [[1, 0, 0], [1, 0, 0]])
    """

    score: Array
    positives: Array  # (2, rows): before, after
    negatives: Array
    weighed: Weighed | None = None

    @cached_property
    def n_pos(self) -> Array:
        return self.positives.sum(axis=1)

    @cached_property
    def n_neg(self) -> Array:
        return self.negatives.sum(axis=1)

    @property
    def sizes(self) -> Array:
        return self.n_pos + self.n_neg

    @property
    def cases(self) -> tuple[int, int]:
        """How many cases each sample has, whatever they weigh."""
        if self.weighed is None:
            return int(self.sizes[0]), int(self.sizes[1])
        return int((~self.weighed.after).sum()), int(self.weighed.after.sum())

    def dealt(self, positive: bool | None, rng: np.random.Generator, count: int) -> Array:
        """The counts (count, rows) of the sample before when the cases of a class, or all, are dealt out again."""
        if self.weighed is not None:
            every = np.ones(self.weighed.row.size, dtype=bool)
            among = every if positive is None else self.weighed.positive == positive
            return self.weighed.of_before(among, self.weighed.row, self.score.size, rng, count)
        held = self.positives + self.negatives if positive is None else self.positives if positive else self.negatives
        return dealt(held.sum(axis=0), int(held[0].sum()), rng, count)

    @property
    def drawn(self) -> int:
        """How many numbers a draw takes."""
        return self.score.size if self.weighed is None else max(self.score.size, self.weighed.row.size)

    @property
    def classes_shared(self) -> bool:
        """Whether both samples hold both classes."""
        return bool(self.n_pos.all() and self.n_neg.all())

    @property
    def prevalence(self) -> Array:
        return ratio(self.n_pos, self.sizes)


def pooled(before: ScoreTable, after: ScoreTable, rows: int = ROWS) -> Pooled:
    """Two samples on the same scores, coarsened to that many rows of about equal weight."""
    score = np.concatenate([before.score, after.score])
    whole = copied(before) and copied(after)
    counts = np.zeros((4, score.size), dtype=np.int64 if whole else np.float64)
    size = before.score.size
    counts[0, :size], counts[1, :size] = before.pos, before.neg
    counts[2, size:], counts[3, size:] = after.pos, after.neg
    values, place = np.unique(-score, return_inverse=True)
    merged = np.stack([np.bincount(place, row, minlength=values.size) for row in counts]).astype(counts.dtype)
    names = ("pos before", "neg before", "pos after", "neg after")
    fine = ScoreTable(-values + 0.0, merged, names, 0)
    table = fine.condensed(rows)
    if whole:
        return Pooled(table.score, table.counts[[0, 2]], table.counts[[1, 3]])
    cells = fine.condensed_cells(rows)
    row = place if cells is None else cells[: values.size][place]
    weighed = _weighed(((before, row[:size]), (after, row[size:])))
    return Pooled(table.score, table.counts[[0, 2]], table.counts[[1, 3]], weighed)


def copied(table: ScoreTable) -> bool:
    """Whether weights count the copies of cases: all of them, and not only their sums, are whole numbers."""
    return table.whole and (table.squares is None or bool(np.all(table.squares == np.floor(table.squares))))


def _weighed(samples: Any) -> Weighed:
    """The cases of both samples; those of a class that share a score are taken to weigh the same."""
    parts = []
    for sample, (table, row) in enumerate(samples):
        squares = table.counts if table.squares is None else table.squares
        for code in range(len(table.classes)):
            there = table.counts[code] > 0
            total, square = table.counts[code][there].astype(np.float64), squares[code][there]
            many = np.maximum(1, np.rint(total**2 / square)).astype(np.int64)
            each = (
                row[there],
                total / many,
                np.full(many.size, code == table.positive),
                np.full(many.size, sample == 1),
            )
            parts.append([np.repeat(one, many) for one in each])
    return Weighed(*(np.concatenate(column) for column in zip(*parts, strict=True)))


@dataclass(frozen=True)
class Outcome:
    """A statistic of two samples, and the share of permutations in which it is as large."""

    value: float
    p: float


@dataclass(frozen=True)
class Permutations:
    """How the cases are dealt out: how often, from which seed, and whom to tell of the progress."""

    replicates: int
    seed: int
    progress: Progress | None = None

    def p(self, draw: Any, statistic: Any, observed: Array, cells: int, stream: int) -> Array:
        """(1 + replicates at least as large) / (1 + replicates), for each statistic along the last axis."""
        seed = int(np.random.SeedSequence([self.seed, stream]).generate_state(1)[0])
        drawn = replicated(draw, statistic, 4 * cells, replicates=self.replicates, seed=seed, progress=self.progress)
        reached = drawn >= observed - _ROUNDING * np.maximum(1e-3, np.abs(observed))
        return (1 + reached.sum(axis=0)) / (1 + self.replicates)


def prevalence_test(both: Pooled, permutations: Permutations) -> Outcome:
    """|π_after − π_before| when all cases are dealt out to the two samples again; with weights, shares of these."""
    weighed, totals = both.weighed, np.array([both.n_neg.sum(), both.n_pos.sum()])

    def statistic(of_before: Array) -> Array:
        shares = (ratio(one[..., 1], one.sum(axis=-1)) for one in (of_before, totals - of_before))
        return np.abs(np.subtract(*shares))

    def draw(rng: np.random.Generator, count: int) -> Array:
        if weighed is None:
            positives = rng.hypergeometric(totals[1], totals[0], both.sizes[0], size=count)
            return np.stack([both.sizes[0] - positives, positives], axis=-1)
        every = np.ones(weighed.row.size, dtype=bool)
        return weighed.of_before(every, weighed.positive.astype(np.intp), 2, rng, count)

    observed = statistic(np.array([both.n_neg[0], both.n_pos[0]]))
    cells = 1 if weighed is None else both.drawn
    return Outcome(float(observed), float(permutations.p(draw, statistic, observed, cells, 0)))


def score_test(both: Pooled, permutations: Permutations) -> Outcome:
    """The Kolmogorov–Smirnov distance of all scores, whatever their class."""
    cases = both.positives + both.negatives
    total = cases.sum(axis=0)

    def statistic(of_before: Array) -> Array:
        return largest_gap(of_before, total - of_before)

    def draw(rng: np.random.Generator, count: int) -> Array:
        return both.dealt(None, rng, count)

    observed = statistic(cases[0])
    return Outcome(float(observed), float(permutations.p(draw, statistic, observed, both.drawn, 1)))


def meaning_test(both: Pooled, permutations: Permutations) -> Outcome:
    """The difference in the share of positives among cases of (nearly) equal score.

    Within strata of the score, labels are dealt out to the two samples again. The statistic is the sum of
    squares of three independent contrasts of observed less expected positives over the strata: level, slope
    and curvature. The value is the common difference of shares, Σ(o − e) / Σ(t(n − t)/n), as of Mantel and
    Haenszel.
    """
    stratum = _strata((both.positives + both.negatives).sum(axis=0), STRATA)
    if both.weighed is not None:
        return _weighed_meaning(both.weighed, stratum[both.weighed.row], permutations)
    good, bad, of_after, taken = (
        np.bincount(stratum, row, minlength=STRATA).astype(np.int64)
        for row in (
            both.positives.sum(axis=0),
            both.negatives.sum(axis=0),
            both.positives[1],
            both.positives[1] + both.negatives[1],
        )
    )
    size = good + bad
    # Where all labels are equal nothing differs: that counts for the mean difference, and tells nothing in the test.
    shared = (taken > 0) & (taken < size)
    excess = (of_after - taken * ratio(good, size))[shared].sum()
    weight = ratio(taken * (size - taken), size)[shared].sum()
    tells = (good > 0) & (bad > 0) & (taken > 0) & (taken < size)
    if not tells.any():
        return Outcome(np.nan, np.nan)
    good, bad, of_after, taken, size = (row[tells] for row in (good, bad, of_after, taken, size))
    expected = taken * good / size
    variance = expected * bad / size * (size - taken) / (size - 1)
    contrasts = _contrasts(np.flatnonzero(tells) / STRATA, variance)

    def statistic(positives: Array) -> Array:
        return (((positives - expected) @ contrasts) ** 2).sum(axis=-1)

    def draw(rng: np.random.Generator, count: int) -> Array:
        return rng.hypergeometric(good, bad, taken, size=(count, good.size))

    p = permutations.p(draw, statistic, statistic(of_after), good.size, 2)
    return Outcome(float(excess / weight), float(p))


def _weighed_meaning(weighed: Weighed, stratum: Array, permutations: Permutations) -> Outcome:
    """The same of cases with weights: how much w · (y − share) of its stratum the cases after have, in each."""
    order = np.argsort(stratum, kind="stable")
    stratum, weight, label, after = (
        one[order] for one in (stratum, weighed.weight, weighed.positive.astype(np.float64), weighed.after)
    )

    def added(values: Array) -> Array:
        return np.bincount(stratum, values, minlength=STRATA)

    total = added(weight)
    excess = weight * (label - np.nan_to_num(ratio(added(weight * label), total))[stratum])
    cases, taken = added(np.ones_like(weight)), added(after.astype(np.float64))
    shared = (taken > 0) & (taken < cases)
    of_after = added(weight * after)
    value = ratio(added(excess * after)[shared].sum(), ratio(of_after * (total - of_after), total)[shared].sum())
    variance = ratio(taken * (cases - taken) * added(excess**2), cases * (cases - 1))
    tells = shared & (added(label) > 0) & (added(label) < cases)
    if not tells.any():
        return Outcome(np.nan, np.nan)
    contrasts = _contrasts(np.flatnonzero(tells) / STRATA, variance[tells])
    starts = np.searchsorted(stratum, np.flatnonzero(cases))
    # Among the cases of a stratum in the order of the lot, as many first ones as it has after.
    first = np.arange(stratum.size) - np.searchsorted(stratum, stratum) < taken[stratum]
    filled = tells[np.flatnonzero(cases)]

    def statistic(sums: Array) -> Array:
        return ((sums @ contrasts) ** 2).sum(axis=-1)

    def draw(rng: np.random.Generator, count: int) -> Array:
        lot = np.argsort(stratum + rng.random((count, stratum.size)), axis=1)
        return np.add.reduceat(np.where(first, excess[lot], 0.0), starts, axis=1)[:, filled]

    observed = statistic(added(excess * after)[tells])
    return Outcome(float(value), float(permutations.p(draw, statistic, observed, stratum.size, 2)))


def within_tests(both: Pooled, names: tuple[str, ...], permutations: Permutations) -> dict[str, Outcome]:
    """Statistics of how the scores of each class changed, when cases are dealt out within their class.

    That leaves the share of positives of both samples as it is, so a change of it alone moves none of them:
    they compare the samples at the prevalence before.
    """
    prevalence = float(both.prevalence[0])
    totals = both.positives.sum(axis=0), both.negatives.sum(axis=0)

    def statistics(drawn: tuple[Array, Array]) -> Array:
        before = drawn
        after = totals[0] - drawn[0], totals[1] - drawn[1]
        return np.stack(
            np.broadcast_arrays(*(_STATISTICS[name](both, before, after, prevalence) for name in names)), axis=-1
        )

    def draw(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        return both.dealt(True, rng, count), both.dealt(False, rng, count)

    observed = statistics((both.positives[:1], both.negatives[:1]))[0]
    p = permutations.p(draw, statistics, observed, 2 * both.drawn, 3)
    defined = ~np.isnan(observed)
    return {
        name: Outcome(float(value), float(chance) if known else np.nan)
        for name, value, chance, known in zip(names, observed, p, defined, strict=True)
    }


def follows_prevalence(both: Pooled) -> bool:
    """Whether the scores moved as the change of prevalence moves them, rather than not at all.

    Each case bears u, the share of positives among cases of about its score: the direction in which a change of
    prevalence moves scores. A change Δπ moves the mean of u by Δπ · (its mean among positives − among negatives);
    a change in what scores mean leaves it. The answer is the nearer of the two.
    """
    cases = both.positives + both.negatives
    place = _strata(cases.sum(axis=0), _GROUPS)
    inside = (np.bincount(place, rows.sum(axis=0), minlength=_GROUPS) for rows in (both.positives, cases))
    share = np.nan_to_num(ratio(*inside))[place]
    moved = np.diff(ratio(cases @ share, both.sizes))[0]
    of_pos, of_neg = (ratio(rows.sum(axis=0) @ share, rows.sum()) for rows in (both.positives, both.negatives))
    expected = np.diff(both.prevalence)[0] * (of_pos - of_neg)
    return bool(abs(moved - expected) <= abs(moved))  # scores that tell nothing leave the simpler cause


def dealt(cells: Array, taken: int, rng: np.random.Generator, count: int) -> Array:
    """So many of the cases in the cells, drawn without replacement: counts (count, cells)."""
    total = int(cells.sum())
    # Shuffling the cases is cheaper than a draw for each cell, unless there are many cases in a cell.
    method = "count" if total <= 20 * cells.size else "marginals"
    return rng.multivariate_hypergeometric(cells, taken, size=count, method=method)  # type: ignore[arg-type]


def _strata(cases: Array, groups: int) -> Array:
    """The group of each score, of so many groups with about equally many cases."""
    return np.minimum((mid_ranks(cases) * groups).astype(np.int64), groups - 1)


def largest_gap(before: Array, after: Array) -> Array:
    """The Kolmogorov–Smirnov distance between counts on the same scores; NaN when a sample has no cases."""
    below = [ratio(np.cumsum(counts, axis=-1), counts.sum(axis=-1)[..., None]) for counts in (before, after)]
    return np.abs(below[0] - below[1]).max(axis=-1)


def _contrasts(place: Array, variance: Array) -> Array:
    """Constant, straight and bent weights over the strata, each of variance 1 and independent of the others."""
    powers = np.vander((place - 0.5) * 2, min(3, place.size), increasing=True) * np.sqrt(variance)[:, None]
    return np.linalg.qr(powers)[0] / np.sqrt(variance)[:, None]


def _within(both: Pooled, before: Sides, after: Sides, prevalence: float) -> Array:
    """Both classes together: Σ n₁n₂/(n₁ + n₂) · KS², over the classes that both samples have."""
    parts = []
    for old, new in zip(before, after, strict=True):
        sizes = old.sum(axis=-1), new.sum(axis=-1)
        if all(float(one.flat[0]) for one in sizes):
            parts.append(sizes[0] * sizes[1] / (sizes[0] + sizes[1]) * largest_gap(old, new) ** 2)
    return np.asarray(sum(parts)) if parts else np.full(before[0].shape[:-1], np.nan)


def _of_class(place: int) -> Any:
    return lambda both, before, after, prevalence: largest_gap(before[place], after[place])


def _change(measure: Callable[[ScoreTable], Any]) -> Any:
    """|measure after − measure before|, both at the prevalence before."""

    def statistic(both: Pooled, before: Sides, after: Sides, prevalence: float) -> Array:
        old, new = (at_prevalence(both.score, side, prevalence) for side in (before, after))
        return np.abs(np.asarray(measure(new)) - np.asarray(measure(old)))

    return statistic


def at_prevalence(score: Array, side: Sides, prevalence: float) -> ScoreTable:
    """The table of these scores with the classes weighted to a share of positives."""
    pos, neg = (ratio(counts, counts.sum(axis=-1)[..., None]) for counts in side)
    counts = np.stack([(1 - prevalence) * neg, prevalence * pos], axis=-2)
    return ScoreTable(score, counts, ("negative", "positive"), 1)


def mean_score(table: ScoreTable) -> Array:
    """The grand mean of the scores, which is the midpoint of the smooth ROC curve."""
    return ratio((table.pos + table.neg) @ table.score, table.total)


def _smooth_distance(both: Pooled, before: Sides, after: Sides, prevalence: float) -> Array:
    """The area between the smooth ROC curves, on a grid of the smooth false positive rate."""
    old, new = (_on_grid(softened(at_prevalence(both.score, side, prevalence))) for side in (before, after))
    return np.abs(old - new).mean(axis=-1)


def _on_grid(soft: ScoreTable) -> Array:
    """The heights of many curves at the same places, in one interpolation: curve k is moved 2k to the right."""
    counts = soft.sweep
    x, y = ratio(counts.fp, counts.n), ratio(counts.tp, counts.p)
    shift = 2.0 * np.arange(x.shape[0])[:, None]
    return np.interp((_GRID + shift).ravel(), (x + shift).ravel(), y.ravel()).reshape(-1, _GRID.size)


MEASURES: Final[Mapping[str, Callable[[ScoreTable], Any]]] = {
    "auc": auc,
    "midpoint": mean_score,
    "cal_large": cal_large,
    "cal": cal,
    "smauc": smauc,
}
"""What is compared at the prevalence before, by name."""

_STATISTICS: Final[dict[str, Any]] = {
    "within": _within,
    "positives": _of_class(0),
    "negatives": _of_class(1),
    **{name: _change(measure) for name, measure in MEASURES.items()},
    "smooth": _smooth_distance,
}

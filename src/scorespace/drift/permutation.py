"""Permutation tests of two pooled samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from scorespace.curves.smooth import softened
from scorespace.inference.bootstrap import evaluate_replicates
from scorespace.inference.parametric_bootstrap import mid_ranks
from scorespace.measures.calibration import cal_large
from scorespace.measures.decomposition import cal
from scorespace.measures.ranking import auc
from scorespace.measures.smooth import smauc
from scorespace.results import Progress
from scorespace.tables import Array, ScoreTable, ratio

MAX_DISTINCT_SCORES: Final = 1000
"""Distinct scores kept in permutation tests; neighbours are merged, a step of 0.1 % of cases."""

N_STRATA: Final = 64
"""Strata of similar scores within which labels are permuted."""

_N_SCORE_GROUPS: Final = 20  # groups of similar scores, to distinguish prevalence from calibration drift
_GRID: Final = np.linspace(0, 1, 257)  # where smooth ROC curves are compared
_ROUNDING: Final = 1e-9

ClassCounts = tuple[Array, Array]
"""Counts of positives and negatives of one sample at each score."""


@dataclass(frozen=True, eq=False)
class WeightedCases:
    """Individual weighted cases: row of the score, weight, class and sample."""

    row: Array
    weight: Array
    positive: Array
    after: Array

    def draw_first_sample(
        self, is_eligible: Array, place: Array, rows: int, rng: np.random.Generator, count: int
    ) -> Array:
        """Sums of weights (count, rows) for random subsets of the size of the earlier sample."""
        eligible = np.flatnonzero(is_eligible)
        n_drawn = int((~self.after[eligible]).sum())
        # Random subset: the cases with the smallest random keys.
        drawn = np.argpartition(rng.random((count, eligible.size)), min(n_drawn, eligible.size - 1), axis=1)[
            :, :n_drawn
        ]
        cell = place[eligible][drawn] + rows * np.arange(count)[:, None]
        sums = np.bincount(cell.ravel(), self.weight[eligible][drawn].ravel(), minlength=count * rows)
        return sums.reshape(count, rows)


@dataclass(frozen=True)
class PooledSamples:
    """Both samples on common descending scores, with counts by sample and class.

    `weighted_cases` holds individual cases if weights are not frequencies.

    >>> from scorespace.tables import score_table
    >>> both = pooled(score_table([1, 0], [0.9, 0.2]), score_table([1, 0], [0.9, 0.4]))
    >>> both.score.tolist(), both.positives.tolist()
    ([0.9, 0.4, 0.2], [[1, 0, 0], [1, 0, 0]])
    """

    score: Array
    positives: Array  # (2, rows): before, after
    negatives: Array
    weighted_cases: WeightedCases | None = None

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
        """Number of cases in each sample, regardless of weight."""
        if self.weighted_cases is None:
            return int(self.sizes[0]), int(self.sizes[1])
        return int((~self.weighted_cases.after).sum()), int(self.weighted_cases.after.sum())

    def permute(self, positive: bool | None, rng: np.random.Generator, count: int) -> Array:
        """Counts (count, rows) of the earlier sample after permuting the cases of one class, or all."""
        if self.weighted_cases is not None:
            all_cases = np.ones(self.weighted_cases.row.size, dtype=bool)
            is_eligible = all_cases if positive is None else self.weighted_cases.positive == positive
            return self.weighted_cases.draw_first_sample(
                is_eligible, self.weighted_cases.row, self.score.size, rng, count
            )
        counts = self.positives + self.negatives if positive is None else self.positives if positive else self.negatives
        return permute_counts(counts.sum(axis=0), int(counts[0].sum()), rng, count)

    @property
    def draw_size(self) -> int:
        """Number of random numbers per permutation."""
        return self.score.size if self.weighted_cases is None else max(self.score.size, self.weighted_cases.row.size)

    @property
    def classes_shared(self) -> bool:
        """Whether both samples have both classes."""
        return bool(self.n_pos.all() and self.n_neg.all())

    @property
    def prevalence(self) -> Array:
        return ratio(self.n_pos, self.sizes)


def pooled(before: ScoreTable, after: ScoreTable, rows: int = MAX_DISTINCT_SCORES) -> PooledSamples:
    """Pool two samples on common scores, merged to at most this many rows of about equal weight."""
    score = np.concatenate([before.score, after.score])
    have_frequencies = has_frequency_weights(before) and has_frequency_weights(after)
    counts = np.zeros((4, score.size), dtype=np.int64 if have_frequencies else np.float64)
    size = before.score.size
    counts[0, :size], counts[1, :size] = before.pos, before.neg
    counts[2, size:], counts[3, size:] = after.pos, after.neg
    values, score_index = np.unique(-score, return_inverse=True)
    merged = np.stack([np.bincount(score_index, row, minlength=values.size) for row in counts]).astype(counts.dtype)
    names = ("pos before", "neg before", "pos after", "neg after")
    full_table = ScoreTable(-values + 0.0, merged, names, 0)
    table = full_table.condensed(rows)
    if have_frequencies:
        return PooledSamples(table.score, table.counts[[0, 2]], table.counts[[1, 3]])
    cells = full_table.condensed_cells(rows)
    row = score_index if cells is None else cells[: values.size][score_index]
    weighted_cases = _expand_weighted_cases(((before, row[:size]), (after, row[size:])))
    return PooledSamples(table.score, table.counts[[0, 2]], table.counts[[1, 3]], weighted_cases)


def has_frequency_weights(table: ScoreTable) -> bool:
    """Whether weights are frequencies: all of them, not only their sums, are integers."""
    return table.whole and (table.squares is None or bool(np.all(table.squares == np.floor(table.squares))))


def _expand_weighted_cases(samples: Any) -> WeightedCases:
    """Individual cases of both samples, assuming equal weights within score and class."""
    parts = []
    for sample, (table, row) in enumerate(samples):
        squares = table.counts if table.squares is None else table.squares
        for code in range(len(table.classes)):
            is_present = table.counts[code] > 0
            total, square = table.counts[code][is_present].astype(np.float64), squares[code][is_present]
            n_cases = np.maximum(1, np.rint(total**2 / square)).astype(np.int64)
            fields = (
                row[is_present],
                total / n_cases,
                np.full(n_cases.size, code == table.positive),
                np.full(n_cases.size, sample == 1),
            )
            parts.append([np.repeat(values, n_cases) for values in fields])
    return WeightedCases(*(np.concatenate(column) for column in zip(*parts, strict=True)))


@dataclass(frozen=True)
class PermutationOutcome:
    """A statistic of two samples, and its permutation p-value."""

    value: float
    p: float


@dataclass(frozen=True)
class Permutations:
    """Number of permutations, seed, and progress callback."""

    replicates: int
    seed: int
    progress: Progress | None = None

    def p(self, draw: Any, statistic: Any, observed: Array, cells: int, stream: int) -> Array:
        """(1 + permutations at least as large) / (1 + permutations), for each statistic along the last axis."""
        seed = int(np.random.SeedSequence([self.seed, stream]).generate_state(1)[0])
        permuted = evaluate_replicates(
            draw, statistic, 4 * cells, replicates=self.replicates, seed=seed, progress=self.progress
        )
        is_as_large = permuted >= observed - _ROUNDING * np.maximum(1e-3, np.abs(observed))
        return (1 + is_as_large.sum(axis=0)) / (1 + self.replicates)


def prevalence_test(samples: PooledSamples, permutations: Permutations) -> PermutationOutcome:
    """Test |π_after − π_before| by permuting all cases between the samples."""
    weighted, totals = samples.weighted_cases, np.array([samples.n_neg.sum(), samples.n_pos.sum()])

    def statistic(before: Array) -> Array:
        shares = (ratio(counts[..., 1], counts.sum(axis=-1)) for counts in (before, totals - before))
        return np.abs(np.subtract(*shares))

    def draw(rng: np.random.Generator, count: int) -> Array:
        if weighted is None:
            positives = rng.hypergeometric(totals[1], totals[0], samples.sizes[0], size=count)
            return np.stack([samples.sizes[0] - positives, positives], axis=-1)
        all_cases = np.ones(weighted.row.size, dtype=bool)
        return weighted.draw_first_sample(all_cases, weighted.positive.astype(np.intp), 2, rng, count)

    observed = statistic(np.array([samples.n_neg[0], samples.n_pos[0]]))
    cells = 1 if weighted is None else samples.draw_size
    return PermutationOutcome(float(observed), float(permutations.p(draw, statistic, observed, cells, 0)))


def score_test(samples: PooledSamples, permutations: Permutations) -> PermutationOutcome:
    """Kolmogorov–Smirnov test of all scores, regardless of class."""
    cases = samples.positives + samples.negatives
    total = cases.sum(axis=0)

    def statistic(before: Array) -> Array:
        return largest_gap(before, total - before)

    def draw(rng: np.random.Generator, count: int) -> Array:
        return samples.permute(None, rng, count)

    observed = statistic(cases[0])
    return PermutationOutcome(float(observed), float(permutations.p(draw, statistic, observed, samples.draw_size, 1)))


def meaning_test(samples: PooledSamples, permutations: Permutations) -> PermutationOutcome:
    """Test the difference in the share of positives among cases of similar score.

    Labels are permuted between the samples within strata of the score. The statistic is the sum of squares of three
    orthogonal contrasts (constant, linear, quadratic) of observed minus expected positives over the strata. The value
    is the common difference of shares, Σ(o − e) / Σ(t(n − t)/n) (Mantel and Haenszel 1959).
    """
    stratum = _strata((samples.positives + samples.negatives).sum(axis=0), N_STRATA)
    if samples.weighted_cases is not None:
        return _weighted_meaning_test(samples.weighted_cases, stratum[samples.weighted_cases.row], permutations)
    all_positives, all_negatives, later_positives, n_later = (
        np.bincount(stratum, row, minlength=N_STRATA).astype(np.int64)
        for row in (
            samples.positives.sum(axis=0),
            samples.negatives.sum(axis=0),
            samples.positives[1],
            samples.positives[1] + samples.negatives[1],
        )
    )
    size = all_positives + all_negatives
    # Strata with equal labels enter the mean difference, but carry no information for the test.
    in_both = (n_later > 0) & (n_later < size)
    excess = (later_positives - n_later * ratio(all_positives, size))[in_both].sum()
    weight = ratio(n_later * (size - n_later), size)[in_both].sum()
    is_informative = (all_positives > 0) & (all_negatives > 0) & (n_later > 0) & (n_later < size)
    if not is_informative.any():
        return PermutationOutcome(np.nan, np.nan)
    all_positives, all_negatives, later_positives, n_later, size = (
        row[is_informative] for row in (all_positives, all_negatives, later_positives, n_later, size)
    )
    expected = n_later * all_positives / size
    variance = expected * all_negatives / size * (size - n_later) / (size - 1)
    contrasts = _contrasts(np.flatnonzero(is_informative) / N_STRATA, variance)

    def statistic(permuted: Array) -> Array:
        return (((permuted - expected) @ contrasts) ** 2).sum(axis=-1)

    def draw(rng: np.random.Generator, count: int) -> Array:
        return rng.hypergeometric(all_positives, all_negatives, n_later, size=(count, all_positives.size))

    p = permutations.p(draw, statistic, statistic(later_positives), all_positives.size, 2)
    return PermutationOutcome(float(excess / weight), float(p))


def _weighted_meaning_test(
    cases_weighted: WeightedCases, stratum: Array, permutations: Permutations
) -> PermutationOutcome:
    """The same for weighted cases, with sums of w · (y − share of its stratum) of the later cases."""
    order = np.argsort(stratum, kind="stable")
    stratum, weight, label, after = (
        values[order]
        for values in (stratum, cases_weighted.weight, cases_weighted.positive.astype(np.float64), cases_weighted.after)
    )

    def sum_by_stratum(values: Array) -> Array:
        return np.bincount(stratum, values, minlength=N_STRATA)

    total = sum_by_stratum(weight)
    excess = weight * (label - np.nan_to_num(ratio(sum_by_stratum(weight * label), total))[stratum])
    cases, n_later = sum_by_stratum(np.ones_like(weight)), sum_by_stratum(after.astype(np.float64))
    in_both = (n_later > 0) & (n_later < cases)
    later_weight = sum_by_stratum(weight * after)
    value = ratio(
        sum_by_stratum(excess * after)[in_both].sum(),
        ratio(later_weight * (total - later_weight), total)[in_both].sum(),
    )
    variance = ratio(n_later * (cases - n_later) * sum_by_stratum(excess**2), cases * (cases - 1))
    is_informative = in_both & (sum_by_stratum(label) > 0) & (sum_by_stratum(label) < cases)
    if not is_informative.any():
        return PermutationOutcome(np.nan, np.nan)
    contrasts = _contrasts(np.flatnonzero(is_informative) / N_STRATA, variance[is_informative])
    starts = np.searchsorted(stratum, np.flatnonzero(cases))
    # In random order, the first cases of each stratum form the later sample.
    is_later = np.arange(stratum.size) - np.searchsorted(stratum, stratum) < n_later[stratum]
    informative = is_informative[np.flatnonzero(cases)]

    def statistic(sums: Array) -> Array:
        return ((sums @ contrasts) ** 2).sum(axis=-1)

    def draw(rng: np.random.Generator, count: int) -> Array:
        shuffled = np.argsort(stratum + rng.random((count, stratum.size)), axis=1)
        return np.add.reduceat(np.where(is_later, excess[shuffled], 0.0), starts, axis=1)[:, informative]

    observed = statistic(sum_by_stratum(excess * after)[is_informative])
    return PermutationOutcome(float(value), float(permutations.p(draw, statistic, observed, stratum.size, 2)))


def within_tests(
    samples: PooledSamples, names: tuple[str, ...], permutations: Permutations
) -> dict[str, PermutationOutcome]:
    """Test changes of the score distributions within classes by permuting cases within their class.

    This keeps the prevalence of both samples, so that statistics are compared at the earlier prevalence.
    """
    prevalence = float(samples.prevalence[0])
    totals = samples.positives.sum(axis=0), samples.negatives.sum(axis=0)

    def statistics(counts_before: tuple[Array, Array]) -> Array:
        after = totals[0] - counts_before[0], totals[1] - counts_before[1]
        return np.stack(
            np.broadcast_arrays(*(_STATISTICS[name](samples, counts_before, after, prevalence) for name in names)),
            axis=-1,
        )

    def draw(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        return samples.permute(True, rng, count), samples.permute(False, rng, count)

    observed = statistics((samples.positives[:1], samples.negatives[:1]))[0]
    p = permutations.p(draw, statistics, observed, 2 * samples.draw_size, 3)
    defined = ~np.isnan(observed)
    return {
        name: PermutationOutcome(float(value), float(p_value) if known else np.nan)
        for name, value, p_value, known in zip(names, observed, p, defined, strict=True)
    }


def follows_prevalence(samples: PooledSamples) -> bool:
    """Whether scores changed as expected from the change of prevalence, rather than not at all.

    Each case gets u, the share of positives among cases of similar score. A change Δπ shifts the mean of u by
    Δπ · (mean among positives − mean among negatives), a change of calibration leaves it; the nearer one decides.
    """
    cases = samples.positives + samples.negatives
    group = _strata(cases.sum(axis=0), _N_SCORE_GROUPS)
    totals = (np.bincount(group, rows.sum(axis=0), minlength=_N_SCORE_GROUPS) for rows in (samples.positives, cases))
    share = np.nan_to_num(ratio(*totals))[group]
    shift = np.diff(ratio(cases @ share, samples.sizes))[0]
    mean_of_positives, mean_of_negatives = (
        ratio(rows.sum(axis=0) @ share, rows.sum()) for rows in (samples.positives, samples.negatives)
    )
    expected = np.diff(samples.prevalence)[0] * (mean_of_positives - mean_of_negatives)
    return bool(abs(shift - expected) <= abs(shift))  # for uninformative scores, the simpler cause


def permute_counts(cells: Array, n_drawn: int, rng: np.random.Generator, count: int) -> Array:
    """Draw this many cases from the cells without replacement: counts (count, cells)."""
    total = int(cells.sum())
    # Shuffling is faster than hypergeometric draws unless cells hold many cases.
    method = "count" if total <= 20 * cells.size else "marginals"
    return rng.multivariate_hypergeometric(cells, n_drawn, size=count, method=method)  # type: ignore[arg-type]


def _strata(cases: Array, groups: int) -> Array:
    """Stratum of each score, with about equal numbers of cases per stratum."""
    return np.minimum((mid_ranks(cases) * groups).astype(np.int64), groups - 1)


def largest_gap(before: Array, after: Array) -> Array:
    """Kolmogorov–Smirnov distance of counts on the same scores; NaN if a sample is empty."""
    cumulative = [ratio(np.cumsum(counts, axis=-1), counts.sum(axis=-1)[..., None]) for counts in (before, after)]
    return np.abs(cumulative[0] - cumulative[1]).max(axis=-1)


def _contrasts(place: Array, variance: Array) -> Array:
    """Orthonormal constant, linear and quadratic contrasts over the strata."""
    powers = np.vander((place - 0.5) * 2, min(3, place.size), increasing=True) * np.sqrt(variance)[:, None]
    return np.linalg.qr(powers)[0] / np.sqrt(variance)[:, None]


def _within(both: PooledSamples, before: ClassCounts, after: ClassCounts, prevalence: float) -> Array:
    """Both classes together: Σ n₁n₂/(n₁ + n₂) · KS² over the classes present in both samples."""
    parts = []
    for old, new in zip(before, after, strict=True):
        sizes = old.sum(axis=-1), new.sum(axis=-1)
        if all(float(size.flat[0]) for size in sizes):
            parts.append(sizes[0] * sizes[1] / (sizes[0] + sizes[1]) * largest_gap(old, new) ** 2)
    return np.asarray(sum(parts)) if parts else np.full(before[0].shape[:-1], np.nan)


def _class_distance(index: int) -> Any:
    return lambda both, before, after, prevalence: largest_gap(before[index], after[index])


def _change(measure: Callable[[ScoreTable], Any]) -> Any:
    """Statistic |measure after − measure before| at the earlier prevalence."""

    def statistic(both: PooledSamples, before: ClassCounts, after: ClassCounts, prevalence: float) -> Array:
        old, new = (at_prevalence(both.score, side, prevalence) for side in (before, after))
        return np.abs(np.asarray(measure(new)) - np.asarray(measure(old)))

    return statistic


def at_prevalence(score: Array, side: ClassCounts, prevalence: float) -> ScoreTable:
    """Table with classes reweighted to a prevalence."""
    pos, neg = (ratio(counts, counts.sum(axis=-1)[..., None]) for counts in side)
    counts = np.stack([(1 - prevalence) * neg, prevalence * pos], axis=-2)
    return ScoreTable(score, counts, ("negative", "positive"), 1)


def mean_score(table: ScoreTable) -> Array:
    """Mean score, which is the midpoint of the smooth ROC curve."""
    return ratio((table.pos + table.neg) @ table.score, table.total)


def _smooth_distance(both: PooledSamples, before: ClassCounts, after: ClassCounts, prevalence: float) -> Array:
    """Area between the smooth ROC curves on a grid of the smooth false positive rate."""
    old, new = (_interpolate_on_grid(softened(at_prevalence(both.score, side, prevalence))) for side in (before, after))
    return np.abs(old - new).mean(axis=-1)


def _interpolate_on_grid(soft: ScoreTable) -> Array:
    """Heights of many curves on the grid in one interpolation, with curve k shifted by 2k."""
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
"""Measures compared at the earlier prevalence, by name."""

_STATISTICS: Final[dict[str, Any]] = {
    "within": _within,
    "positives": _class_distance(0),
    "negatives": _class_distance(1),
    **{name: _change(measure) for name, measure in MEASURES.items()},
    "smooth": _smooth_distance,
}

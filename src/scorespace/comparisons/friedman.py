"""Several models over several data sets: Friedman's test, Nemenyi's test, and comparisons with a control."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.special import chdtrc, fdtrc, ndtr

from scorespace.comparisons.datasets import DatasetTable
from scorespace.comparisons.multiple_testing import adjust as adjusted_p
from scorespace.comparisons.multiple_testing import title
from scorespace.comparisons.result import Comparison, Comparisons, TestStatistic, adjust_tests, count_text
from scorespace.inference.estimate import check_level
from scorespace.results import ByValue, Note, Result, Row, decimals, join_words, note, p_text
from scorespace.tables import Array


@dataclass(frozen=True, kw_only=True, repr=False)
class Friedman(Comparison):
    """Whether any of several models differ in rank: four forms of one test, of which `f` is used for the verdict."""

    models: tuple[str, ...]
    average_ranks: tuple[float, ...]
    datasets: int
    chi2: TestStatistic
    chi2_uncorrected: TestStatistic
    f: TestStatistic
    f_uncorrected: TestStatistic

    def rows(self) -> list[Row]:
        return [statistic_.row() for statistic_ in (self.chi2, self.chi2_uncorrected, self.f, self.f_uncorrected)]

    def facts(self) -> Row:
        return {"datasets": self.datasets, "average_ranks": dict(zip(self.models, self.average_ranks, strict=True))}

    @property
    def statistics(self) -> tuple[TestStatistic, ...]:
        return self.chi2, self.f

    @property
    def words(self) -> str:
        """Whether the ranks differ significantly, and which model ranks best."""
        if self.chi2.reason is not None:
            return f"The models do not differ: {self.chi2.reason}."
        statistics = f"χ²({self.chi2.df}) = {decimals(self.chi2.value, 2)}, {p_text(self.chi2.p)}"
        if not math.isnan(self.f.p):
            statistics += f"; Iman–Davenport F{self.f.df} = {decimals(self.f.value, 2)}, {p_text(self.f.p)}"
        scope = f"Over {count_text(self.datasets, 'data sets')}"
        if self.p < 1 - self.level:
            first, rank = _best_models_text(self.models, self.average_ranks), decimals(min(self.average_ranks), 2)
            return f"{scope} the ranks differ significantly, and {first} best, {rank} ({statistics})."
        return f"{scope} the ranks do not differ significantly ({statistics})."


def friedman(table: DatasetTable, *, level: float = 0.95) -> Friedman:
    """Friedman's test of equal ranks (1937), and Iman and Davenport's F (1980), each with and without ties correction.

    With rank sums Sⱼ over N data sets, D = Σ(Sⱼ − N(k+1)/2)² and A = Σ(rᵢⱼ − (k+1)/2)²: χ² = (k−1) D/A and
    F = (N−1) D/(N A − D), infinite when all data sets rank the models in the same order; then p is exact. Without ties
    A is N k(k²−1)/12, as in the uncorrected forms (Demšar 2006).

    >>> from scorespace.comparisons.datasets import dataset_table
    >>> friedman(dataset_table([[3, 2, 1], [3, 1, 2], [3, 2, 1], [2, 3, 1]], ["a", "b", "c"], best="high"))
    Over 4 data sets the ranks do not differ significantly (χ²(2) = 4.50, p = 0.105; \
Iman–Davenport F(2, 6) = 3.86, p = 0.084).
    """
    check_level(level)
    count, k = table.values.shape
    mean_rank = (k + 1) / 2
    # Ranks are multiples of ½, so these sums are exact, and so is the infinite case.
    between = float(np.sum((table.ranks.sum(axis=0) - count * mean_rank) ** 2))
    tied, untied = float(np.sum((table.ranks - mean_rank) ** 2)), count * k * (k * k - 1) / 12
    small_sample_note: tuple[Note, ...] = ()
    if count <= 10 or k <= 5:
        text = f"{count_text(count, 'data sets')} and {count_text(k, 'models')} are too few for Friedman's χ²: use F."
        small_sample_note = (note("SS018", text),)
    chi2, f = _chi2("Friedman χ²", between, tied, k), _iman_davenport("Iman–Davenport F", between, tied, table.ranks)
    preferred = chi2 if math.isnan(f.p) else f
    return Friedman(
        table.models[0],
        ", ".join(table.models[1:]),
        "friedman",
        table.measure,
        level=level,
        statistic=preferred.value,
        df=preferred.df,
        p=preferred.p,
        reason=preferred.reason,
        notes=small_sample_note,
        models=table.models,
        average_ranks=tuple(map(float, table.average_ranks)),
        datasets=count,
        chi2=chi2,
        chi2_uncorrected=_chi2("Friedman χ², ties uncorrected", between, untied, k),
        f=f,
        f_uncorrected=_iman_davenport("Iman–Davenport F, ties uncorrected", between, untied, table.ranks),
    )


@dataclass(frozen=True, eq=False, repr=False)
class Nemenyi(Result, ByValue):
    """All pairs of models by average rank; a difference of at least the critical difference is significant.

    `p` (models × models) is adjusted for all pairs; `groups` are the largest sets without a significant pair.
    """

    models: tuple[str, ...]
    average_ranks: tuple[float, ...]
    datasets: int
    level: float
    q: float
    critical_difference: float
    p: Array
    groups: tuple[tuple[str, ...], ...]
    measure: str = ""
    notes: tuple[Note, ...] = ()

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Each pair: the difference of average ranks ± the critical difference, and p."""
        return tuple(self._pair(i, j) for i, j in combinations(range(len(self.models)), 2))

    def _pair(self, i: int, j: int) -> Comparison:
        gap, critical = self.average_ranks[i] - self.average_ranks[j], self.critical_difference
        return Comparison(
            self.models[i],
            self.models[j],
            "Nemenyi",
            self.measure,
            gap,
            gap - critical,
            gap + critical,
            self.level,
            statistic=abs(gap) * self.q / critical,
            p=float(self.p[i, j]),
        )

    def rows(self) -> list[Row]:
        return [comparison.row() for comparison in self.comparisons]

    def facts(self) -> Row:
        return {
            "datasets": self.datasets,
            "level": self.level,
            "average_ranks": dict(zip(self.models, self.average_ranks, strict=True)),
            "critical_difference": self.critical_difference,
            "groups": self.groups,
        }

    @property
    def words(self) -> str:
        """The critical difference, the best model, and those not significantly different from it."""
        ranked = sorted(zip(self.average_ranks, self.models, strict=True), key=lambda is_single: is_single[0])
        rank = ranked[0][0]
        if ranked[-1][0] == rank:
            return (
                f"{join_words(self.models)} have equal ranks over {count_text(self.datasets, 'data sets')} (Nemenyi)."
            )
        others = [(value - rank, model) for value, model in ranked if value > rank]
        similar = [model for gap, model in others if gap < self.critical_difference]
        worse = [model for gap, model in others if gap >= self.critical_difference]
        is_single = len(ranked) == len(others) + 1
        best_text = "it" if is_single else "them"
        verb = "does" if len(similar) == 1 else "do"
        parts = [
            f"{join_words(similar)} {verb} not differ significantly from {best_text}" if similar else "",
            f"{'it beats' if is_single else 'they beat'} {join_words(worse)}" if worse else "",
        ]
        best = _best_models_text(self.models, self.average_ranks)
        return (
            f"{best} best, {decimals(rank, 2)} on average over {count_text(self.datasets, 'data sets')}; "
            f"{'; '.join(filter(None, parts))} (Nemenyi, critical difference {decimals(self.critical_difference, 2)})."
        )


def nemenyi(table: DatasetTable, *, level: float = 0.95) -> Nemenyi:
    """Nemenyi's test of all pairs (1963): CD = q √(k(k+1)/6N), q the studentized range of k with infinite df over √2.

    >>> from scorespace.comparisons.datasets import dataset_table
    >>> nemenyi(dataset_table([[3, 2, 1]] * 8, ["a", "b", "c"], best="high"))
    a ranks best, 1.00 on average over 8 data sets; b does not differ significantly from it; it beats c \
(Nemenyi, critical difference 1.17).
    """
    from scipy.stats import studentized_range  # importing it takes half a second

    check_level(level)
    count, k = table.values.shape
    ranks, error = table.average_ranks, _rank_error(table)
    by_name = dict(zip(table.models, ranks.tolist(), strict=True))
    q = float(studentized_range.ppf(level, k, np.inf)) / math.sqrt(2)
    gaps = np.abs(ranks[:, None] - ranks)
    return Nemenyi(
        table.models,
        tuple(by_name.values()),
        count,
        level,
        q,
        q * error,
        np.clip(studentized_range.sf(gaps / error * math.sqrt(2), k, np.inf), 0.0, 1.0),
        rank_groups(by_name, lambda model, other: abs(by_name[model] - by_name[other]) >= q * error),
        table.measure,
    )


def rank_groups(ranks: Mapping[str, float], is_different: Callable[[str, str], bool]) -> tuple[tuple[str, ...], ...]:
    """Return the largest groups of at least two neighbours in average rank without a significant pair.

    >>> ranks = {"a": 1.0, "b": 1.9, "c": 2.8, "d": 4.3}
    >>> rank_groups(ranks, lambda one, other: abs(ranks[one] - ranks[other]) >= 1.5)
    (('a', 'b'), ('b', 'c'))
    """
    ordered, groups, reached = sorted(ranks, key=ranks.__getitem__), [], 0
    for first in range(len(ordered)):
        last = first + 1
        while last < len(ordered) and not any(is_different(model, ordered[last]) for model in ordered[first:last]):
            last += 1
        if last > max(first + 1, reached):  # neither a single model nor part of the previous group
            groups.append(tuple(ordered[first:last]))
            reached = last
    return tuple(groups)


@dataclass(frozen=True, repr=False)
class AgainstControl(Result):
    """Each model against a control by average ranks; a negative difference means that the model ranks better."""

    control: str
    comparisons: tuple[Comparison, ...]
    datasets: int
    level: float
    notes: tuple[Note, ...] = ()
    adjustment: str = "holm"

    @property
    def chances(self) -> dict[str, Array]:
        """Adjusted p values of all models by method: Holm's, Hochberg's, and the stated one."""
        p = [comparison.p for comparison in self.comparisons]
        return {name: adjusted_p(p, name) for name in ("holm", "hochberg", self.adjustment)}

    def rows(self) -> list[Row]:
        """Return one row per model, with the adjusted p value and Hochberg's."""
        hochberg = self.chances["hochberg"].tolist()
        return [comparison.row() | {"hochberg": p} for comparison, p in zip(self.comparisons, hochberg, strict=True)]

    def facts(self) -> Row:
        return {"control": self.control, "datasets": self.datasets}

    @property
    def words(self) -> str:
        """Which models rank significantly better and worse than the control, and which do not differ significantly."""
        groups = {
            "better": [
                comparison.a
                for comparison in self.comparisons
                if comparison.is_significant and comparison.difference < 0
            ],
            "worse": [
                comparison.a
                for comparison in self.comparisons
                if comparison.is_significant and comparison.difference > 0
            ],
            "not significantly different": [
                comparison.a for comparison in self.comparisons if not comparison.is_significant
            ],
        }
        parts = [f"{relation}: {join_words(models)}" for relation, models in groups.items() if models]
        scope = f"{count_text(self.datasets, 'data sets')} ({self.adjustment.title()})"
        return f"Against {self.control} over {scope}: {'; '.join(parts)}."


def against_control(table: DatasetTable, control: str, *, level: float = 0.95, adjust: str = "holm") -> AgainstControl:
    """Each model against a control: z = (R − R_control) / √(k(k+1)/6N), two-sided, adjusted by Holm or as stated.

    >>> from scorespace.comparisons.datasets import dataset_table
    >>> against_control(dataset_table([[3, 2, 1]] * 8, ["a", "b", "c"], best="high"), "c")
    Against c over 8 data sets (Holm): better: a and b.
    """
    check_level(level)
    title(adjust, pairs=False)
    table.index(control)  # raises an error for an unknown name
    comparisons = [
        _compare_ranks(table, model, control, table.measure, level) for model in table.models if model != control
    ]
    chances = adjusted_p([comparison.p for comparison in comparisons], adjust).tolist()
    adjusted_comparisons = tuple(
        replace(comparison, p_adjusted=p) for comparison, p in zip(comparisons, chances, strict=True)
    )
    return AgainstControl(control, adjusted_comparisons, table.datasets, level, adjustment=adjust)


def rank_pairs(table: DatasetTable, adjust: str = "shaffer", *, level: float = 0.95) -> Comparisons:
    """All pairs by average rank: z = (R_a − R_b) / √(k(k+1)/6N), with a stepwise adjustment instead of Nemenyi's q.

    The difference is one of ranks: if negative, the first of two models ranks better.

    >>> from scorespace.comparisons.datasets import dataset_table
    >>> found = rank_pairs(dataset_table([[3, 2, 1]] * 8, ["a", "b", "c"], best="high"))
    >>> [round(one.p_adjusted, 4) for one in found]
    [0.0455, 0.0002, 0.0455]
    """
    check_level(level)
    comparisons = [_compare_ranks(table, a, b, "rank", level) for a, b in combinations(table.models, 2)]
    adjusted_comparisons, method, notes = adjust_tests(comparisons, "pairs", adjust)
    return Comparisons(table.models, tuple(adjusted_comparisons), method, notes)


def _compare_ranks(table: DatasetTable, a: str, b: str, measure: str, level: float) -> Comparison:
    ranks, error = table.average_ranks, _rank_error(table)
    gap = float(ranks[table.index(a)] - ranks[table.index(b)])
    p = 2 * float(ndtr(-abs(gap) / error))
    return Comparison(a, b, "average ranks", measure, gap, level=level, statistic=gap / error, p=p)


def _chi2(test: str, between: float, within: float, k: int) -> TestStatistic:
    if not between and not within:
        return TestStatistic(test, 0.0, k - 1, 1.0, "all models are equal on every data set")
    value = (k - 1) * between / within
    return TestStatistic(test, value, k - 1, float(chdtrc(k - 1, value)))


def _iman_davenport(test: str, between: float, within: float, ranks: Array) -> TestStatistic:
    count, k = ranks.shape
    df = (k - 1, (k - 1) * (count - 1))
    if not within:
        return TestStatistic(test, 0.0, df, 1.0, "all models are equal on every data set")
    if count < 2:
        return TestStatistic(test, math.nan, df, math.nan, "a single data set leaves no degrees of freedom")
    denominator = count * within - between
    if denominator <= 0:
        # The F distribution would give p = 0 even for two data sets. Under the null each data set has the ranking of
        # the first with probability Π t! / k!, where t models share a rank.
        ties = np.unique(ranks[0], return_counts=True)[1].tolist()
        p = (math.prod(map(math.factorial, ties)) / math.factorial(k)) ** (count - 1)
        return TestStatistic(test, math.inf, df, p, "infinite: every data set has the same ranking, and p is exact")
    value = (count - 1) * between / denominator
    return TestStatistic(test, value, df, float(fdtrc(*df, value)))


def _rank_error(table: DatasetTable) -> float:
    """Standard error of the difference of two average ranks: √(k(k+1)/6N)."""
    count, k = table.values.shape
    return math.sqrt(k * (k + 1) / (6 * count))


def _best_models_text(models: Sequence[str], average_ranks: Sequence[float]) -> str:
    """Name the model or models with the best rank."""
    best = [model for model, rank in zip(models, average_ranks, strict=True) if rank == min(average_ranks)]
    return f"{join_words(best)} {'ranks' if len(best) == 1 else 'rank'}"

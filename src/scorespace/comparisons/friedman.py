"""Several models over several data sets: Friedman, Nemenyi, and all against a control."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from scorespace.comparisons.adjust import adjust as adjusted_p
from scorespace.comparisons.adjust import title
from scorespace.comparisons.answer import Comparison, Comparisons, Statistic, adjusted, extent
from scorespace.comparisons.datasets import DatasetTable
from scorespace.frozen import dataclass
from scorespace.resampling.estimate import check_level
from scorespace.results import ByValue, Note, Result, Row, decimals, joined, note, p_text
from scorespace.special import chdtrc, fdtrc, ndtr
from scorespace.tables import Array


@dataclass(frozen=True, kw_only=True, repr=False)
class Friedman(Comparison):
    """Whether any of several models differ in rank: four forms of one test, of which `f` is the one to judge by."""

    models: tuple[str, ...]
    average_ranks: tuple[float, ...]
    datasets: int
    chi2: Statistic
    chi2_uncorrected: Statistic
    f: Statistic
    f_uncorrected: Statistic

    def rows(self) -> list[Row]:
        return [one.row() for one in (self.chi2, self.chi2_uncorrected, self.f, self.f_uncorrected)]

    def facts(self) -> Row:
        return {"datasets": self.datasets, "average_ranks": dict(zip(self.models, self.average_ranks, strict=True))}

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        return self.chi2, self.f

    @property
    def words(self) -> str:
        """Whether the ranks differ by more than chance, and which model ranks best."""
        if self.chi2.reason is not None:
            return f"The models do not differ: {self.chi2.reason}."
        told = f"χ²({self.chi2.df}) = {decimals(self.chi2.value, 2)}, {p_text(self.chi2.p)}"
        if not math.isnan(self.f.p):
            told += f"; Iman–Davenport F{self.f.df} = {decimals(self.f.value, 2)}, {p_text(self.f.p)}"
        over = f"Over {extent(self.datasets, 'data sets')}"
        if self.p < 1 - self.level:
            first, rank = _leading(self.models, self.average_ranks), decimals(min(self.average_ranks), 2)
            return f"{over} the ranks differ by more than chance explains, and {first} best, {rank} ({told})."
        return f"{over} the ranks are not distinguishable from chance ({told})."


def friedman(table: DatasetTable, *, level: float = 0.95) -> Friedman:
    """Friedman's test of equal ranks, with Iman and Davenport's F, each with and without allowance for ties.

    With rank sums Sⱼ over N data sets, D = Σ(Sⱼ − N(k+1)/2)² and A = Σ(rᵢⱼ − (k+1)/2)²:
    χ² = (k−1) D/A and F = (N−1) D/(N A − D), infinite when all data sets rank the models alike; then p is how
    often chance does so. Without ties A is N k(k²−1)/12, which gives the uncorrected forms of Demšar.

    >>> from scorespace.comparisons.datasets import dataset_table
    >>> friedman(dataset_table([[3, 2, 1], [3, 1, 2], [3, 2, 1], [2, 3, 1]], ["a", "b", "c"], best="high"))
    Over 4 data sets the ranks are not distinguishable from chance (χ²(2) = 4.50, p = 0.105; \
Iman–Davenport F(2, 6) = 3.86, p = 0.084).
    """
    check_level(level)
    count, k = table.values.shape
    middle = (k + 1) / 2
    # Ranks are multiples of ½, so these are exact, and the infinite case is met exactly.
    between = float(np.sum((table.ranks.sum(axis=0) - count * middle) ** 2))
    tied, untied = float(np.sum((table.ranks - middle) ** 2)), count * k * (k * k - 1) / 12
    few: tuple[Note, ...] = ()
    if count <= 10 or k <= 5:
        text = f"{extent(count, 'data sets')} and {extent(k, 'models')} are few for the χ² of Friedman: prefer F."
        few = (note("SS018", text),)
    chi2, f = _chi2("Friedman χ²", between, tied, k), _iman_davenport("Iman–Davenport F", between, tied, table.ranks)
    judge = chi2 if math.isnan(f.p) else f
    return Friedman(
        table.models[0],
        ", ".join(table.models[1:]),
        "friedman",
        table.measure,
        level=level,
        statistic=judge.value,
        df=judge.df,
        p=judge.p,
        reason=judge.reason,
        notes=few,
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
    """All pairs of models by their average ranks: those that differ by the critical difference or more are distinct.

    `p` (models × models) is adjusted for all pairs; `groups` are the largest sets without a distinct pair.
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
        gap, reach = self.average_ranks[i] - self.average_ranks[j], self.critical_difference
        return Comparison(
            self.models[i],
            self.models[j],
            "Nemenyi",
            self.measure,
            gap,
            gap - reach,
            gap + reach,
            self.level,
            statistic=abs(gap) * self.q / reach,
            p=float(self.p[i, j]),
        )

    def rows(self) -> list[Row]:
        return [one.row() for one in self.comparisons]

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
        """The critical difference, the best model, and those that cannot be told from it."""
        ranked = sorted(zip(self.average_ranks, self.models, strict=True), key=lambda one: one[0])
        rank = ranked[0][0]
        if ranked[-1][0] == rank:
            return f"{joined(self.models)} rank alike over {extent(self.datasets, 'data sets')} (Nemenyi)."
        behind = [(value - rank, model) for value, model in ranked if value > rank]
        beside = [model for gap, model in behind if gap < self.critical_difference]
        beyond = [model for gap, model in behind if gap >= self.critical_difference]
        one = len(ranked) == len(behind) + 1
        parts = [
            f"{joined(beside)} cannot be told from {'it' if one else 'them'}" if beside else "",
            f"{'it beats' if one else 'they beat'} {joined(beyond)}" if beyond else "",
        ]
        best = _leading(self.models, self.average_ranks)
        return (
            f"{best} best, {decimals(rank, 2)} on average over {extent(self.datasets, 'data sets')}; "
            f"{'; '.join(filter(None, parts))} (Nemenyi, critical difference {decimals(self.critical_difference, 2)})."
        )


def nemenyi(table: DatasetTable, *, level: float = 0.95) -> Nemenyi:
    """Nemenyi's test of all pairs: CD = q √(k(k+1)/6N), q the studentized range of k with infinite df over √2.

    >>> from scorespace.comparisons.datasets import dataset_table
    >>> nemenyi(dataset_table([[3, 2, 1]] * 8, ["a", "b", "c"], best="high"))
    a ranks best, 1.00 on average over 8 data sets; b cannot be told from it; it beats c \
(Nemenyi, critical difference 1.17).
    """
    from scipy.stats import studentized_range  # loading it takes half a second

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
        rank_groups(by_name, lambda one, other: abs(by_name[one] - by_name[other]) >= q * error),
        table.measure,
    )


def rank_groups(ranks: Mapping[str, float], apart: Callable[[str, str], bool]) -> tuple[tuple[str, ...], ...]:
    """The largest groups of two or more neighbours in average rank of which no two are apart.

    >>> ranks = {"a": 1.0, "b": 1.9, "c": 2.8, "d": 4.3}
    >>> rank_groups(ranks, lambda one, other: abs(ranks[one] - ranks[other]) >= 1.5)
    (('a', 'b'), ('b', 'c'))
    """
    ordered, groups, reached = sorted(ranks, key=ranks.__getitem__), [], 0
    for first in range(len(ordered)):
        last = first + 1
        while last < len(ordered) and not any(apart(one, ordered[last]) for one in ordered[first:last]):
            last += 1
        if last > max(first + 1, reached):  # neither a single model nor part of the group before
            groups.append(tuple(ordered[first:last]))
            reached = last
    return tuple(groups)


@dataclass(frozen=True, repr=False)
class AgainstControl(Result):
    """Each model against one control by average ranks; a difference below 0 means that the model ranks better."""

    control: str
    comparisons: tuple[Comparison, ...]
    datasets: int
    level: float
    notes: tuple[Note, ...] = ()
    adjustment: str = "holm"

    @property
    def chances(self) -> dict[str, Array]:
        """The p-values adjusted for all models, by adjustment: Holm's, Hochberg's, and the one that was stated."""
        p = [one.p for one in self.comparisons]
        return {name: adjusted_p(p, name) for name in ("holm", "hochberg", self.adjustment)}

    def rows(self) -> list[Row]:
        """One row per model, with the adjusted p, by Holm's method unless stated, and Hochberg's beside it."""
        beside = self.chances["hochberg"].tolist()
        return [one.row() | {"hochberg": p} for one, p in zip(self.comparisons, beside, strict=True)]

    def facts(self) -> Row:
        return {"control": self.control, "datasets": self.datasets}

    @property
    def words(self) -> str:
        """Which models rank better and worse than the control by the adjusted p, and which cannot be told from it."""
        told = {
            "better": [one.a for one in self.comparisons if one.sure and one.difference < 0],
            "worse": [one.a for one in self.comparisons if one.sure and one.difference > 0],
            "not distinguishably different": [one.a for one in self.comparisons if not one.sure],
        }
        parts = [f"{how}: {joined(models)}" for how, models in told.items() if models]
        over = f"{extent(self.datasets, 'data sets')} ({self.adjustment.title()})"
        return f"Against {self.control} over {over}: {'; '.join(parts)}."


def against_control(table: DatasetTable, control: str, *, level: float = 0.95, adjust: str = "holm") -> AgainstControl:
    """Each model against a control: z = (R − R_control) / √(k(k+1)/6N), two-sided, adjusted by Holm or as stated.

    >>> from scorespace.comparisons.datasets import dataset_table
    >>> against_control(dataset_table([[3, 2, 1]] * 8, ["a", "b", "c"], best="high"), "c")
    Against c over 8 data sets (Holm): better: a and b.
    """
    check_level(level)
    title(adjust, pairs=False)
    table.index(control)  # refuses an unknown name
    found = [_of_ranks(table, model, control, table.measure, level) for model in table.models if model != control]
    chances = adjusted_p([one.p for one in found], adjust).tolist()
    placed = tuple(replace(one, p_adjusted=p) for one, p in zip(found, chances, strict=True))
    return AgainstControl(control, placed, table.datasets, level, adjustment=adjust)


def rank_pairs(table: DatasetTable, adjust: str = "shaffer", *, level: float = 0.95) -> Comparisons:
    """All pairs by their average ranks: z = (R_a − R_b) / √(k(k+1)/6N), p adjusted by steps in place of Nemenyi's q.

    The difference is one of ranks: below 0, the first of two models ranks better.

    >>> from scorespace.comparisons.datasets import dataset_table
    >>> found = rank_pairs(dataset_table([[3, 2, 1]] * 8, ["a", "b", "c"], best="high"))
    >>> [round(one.p_adjusted, 4) for one in found]
    [0.0455, 0.0002, 0.0455]
    """
    check_level(level)
    found = [_of_ranks(table, a, b, "rank", level) for a, b in combinations(table.models, 2)]
    placed, method, notes = adjusted(found, "pairs", adjust)
    return Comparisons(table.models, tuple(placed), method, notes)


def _of_ranks(table: DatasetTable, a: str, b: str, measure: str, level: float) -> Comparison:
    ranks, error = table.average_ranks, _rank_error(table)
    gap = float(ranks[table.index(a)] - ranks[table.index(b)])
    p = 2 * float(ndtr(-abs(gap) / error))
    return Comparison(a, b, "average ranks", measure, gap, level=level, statistic=gap / error, p=p)


def _chi2(test: str, between: float, within: float, k: int) -> Statistic:
    if not between and not within:
        return Statistic(test, 0.0, k - 1, 1.0, "all models are equal on every data set")
    value = (k - 1) * between / within
    return Statistic(test, value, k - 1, float(chdtrc(k - 1, value)))


def _iman_davenport(test: str, between: float, within: float, ranks: Array) -> Statistic:
    count, k = ranks.shape
    df = (k - 1, (k - 1) * (count - 1))
    if not within:
        return Statistic(test, 0.0, df, 1.0, "all models are equal on every data set")
    if count < 2:
        return Statistic(test, math.nan, df, math.nan, "a single data set leaves no degrees of freedom")
    rest = count * within - between
    if rest <= 0:
        # The F distribution would call even two data sets sure. Each ranks as the first does by a chance of Π t! / k!,
        # where t models share a rank.
        ties = np.unique(ranks[0], return_counts=True)[1].tolist()
        p = (math.prod(map(math.factorial, ties)) / math.factorial(k)) ** (count - 1)
        return Statistic(test, math.inf, df, p, "infinite: every data set ranks the models alike, and p is exact")
    value = (count - 1) * between / rest
    return Statistic(test, value, df, float(fdtrc(*df, value)))


def _rank_error(table: DatasetTable) -> float:
    """Standard error of the difference of two average ranks: √(k(k+1)/6N)."""
    count, k = table.values.shape
    return math.sqrt(k * (k + 1) / (6 * count))


def _leading(models: Sequence[str], average_ranks: Sequence[float]) -> str:
    """Who ranks best, or all who do: every sentence names the same."""
    best = [model for model, rank in zip(models, average_ranks, strict=True) if rank == min(average_ranks)]
    return f"{joined(best)} {'ranks' if len(best) == 1 else 'rank'}"

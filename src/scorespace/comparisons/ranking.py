"""Models over data sets: average ranks, the applicable test, and which models differ significantly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Any, Literal, cast

from scorespace.comparisons.datasets import DatasetTable, Zeros, bayes_signed_rank, dataset_table, sign_test, wilcoxon
from scorespace.comparisons.design import AllOverDatasets, OverDatasets
from scorespace.comparisons.eligibility import requires_no_alternative, requires_two_sided_omnibus
from scorespace.comparisons.friedman import AgainstControl, Nemenyi, against_control, nemenyi, rank_groups, rank_pairs
from scorespace.comparisons.friedman import friedman as friedman_test
from scorespace.comparisons.regression import signed_ranks
from scorespace.comparisons.result import ROPE, Alternative, Comparison, Comparisons, adjust_tests, check_alternative
from scorespace.comparisons.test import check_applicable, parse_test, test, tests_in_order, with_options
from scorespace.errors import DataError, MeasureError, ScoreSpaceError
from scorespace.inference.estimate import check_level
from scorespace.measures.catalog import find
from scorespace.measures.measure import Best
from scorespace.results import Note, Result, Row

_Zeros = Annotated[
    Literal["drop", "split", "pratt", "wilcox"],
    "data sets on which both are equal: dropped, their ranks split, or Pratt's method",
]


@test(
    title="Friedman's test",
    for_="ranks of several models over data sets: whether any of them differ",
    suits=(requires_two_sided_omnibus,),
)
def friedman(design: AllOverDatasets) -> Comparison:
    """Iman and Davenport's F of the ranks, F = (N−1) D/(N A − D), corrected for ties; Nemenyi's test follows it."""
    return friedman_test(design.outcomes, level=design.level)


@signed_ranks.on(directed=True)
def _over_datasets(
    design: OverDatasets,
    *,
    zeros: _Zeros = "drop",
    method: Annotated[Literal["auto", "normal"], "normal: also for few data sets; auto: exact for few"] = "auto",
) -> Comparison:
    """Rank sum of the differences over the data sets on which a is higher."""
    zeros_method: Zeros = "drop" if zeros == "wilcox" else zeros  # the name in R and SciPy
    settings: dict[str, Any] = {"alternative": design.alternative, "level": design.level}
    return wilcoxon(design.outcomes.only(*design.names), zeros=zeros_method, method=method, **settings)


@test(title="sign test", for_="the number of data sets on which one model is better, by any amount", directed=True)
def sign(
    design: OverDatasets,
    *,
    zeros: Annotated[Literal["drop", "split", "wilcox"], "data sets on which both are equal: drop, or split"] = "drop",
) -> Comparison:
    """Number of data sets on which a is higher, Binomial(n, ½) under the null; exact."""
    zeros_method: Literal["drop", "split"] = "drop" if zeros == "wilcox" else zeros
    settings: dict[str, Any] = {"alternative": design.alternative, "level": design.level}
    return sign_test(design.outcomes.only(*design.names), zeros=zeros_method, **settings)


@test(
    name="bayes_signed_rank",
    title="Bayesian signed ranks",
    for_="probability that one model is better over data sets, or that both are practically equal",
    suits=(requires_no_alternative,),
)
def bayes_over_datasets(
    design: OverDatasets, *, rope: Annotated[float, "half width of the region of practical equivalence"] = ROPE
) -> Comparison:
    """Shares of draws from a Dirichlet process in which a is mostly lower, equal within the rope, or higher."""
    result = bayes_signed_rank(design.outcomes.only(*design.names), rope=rope, seed=design.seed)
    return replace(result, level=design.level)


def dataset_tests() -> tuple[str, ...]:
    """Return the names of the tests over data sets: of all models, and of pairs."""
    return tuple(kind.name for kind in tests_in_order() if {AllOverDatasets, OverDatasets} & kind.forms.keys())


@dataclass(frozen=True)
class Ranking(Result):
    """Average ranks of models over data sets, with Friedman's test and its post-hoc tests, or tests of pairs.

    `friedman` is another omnibus test, if requested. `groups` are the largest sets of models without a significant
    difference; with a control, the models not significantly different from it.
    """

    table: DatasetTable
    level: float
    friedman: Comparison | None = None
    nemenyi: Nemenyi | None = None
    control: AgainstControl | None = None
    pairs: Comparisons | None = None

    @property
    def average_ranks(self) -> dict[str, float]:
        """Mean rank of each model, 1 for the best."""
        return dict(zip(self.table.models, map(float, self.table.average_ranks), strict=True))

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        if self.nemenyi is not None:
            return self.nemenyi.groups
        if self.friedman is not None and self.pairs is not None:
            different = {
                frozenset((comparison.a, comparison.b)) for comparison in self.pairs if comparison.is_significant
            }
            return rank_groups(self.average_ranks, lambda *two: frozenset(two) in different)
        if self.control is None:
            return ()
        similar = [comparison.a for comparison in self.control.comparisons if not comparison.is_significant]
        ordered = sorted([self.control.control, *similar], key=self.average_ranks.__getitem__)
        return (tuple(ordered),) if similar else ()

    @property
    def parts(self) -> list[Result]:
        """The tests, that of all models first."""
        return [result for result in (self.friedman, self.nemenyi, self.control, self.pairs) if result is not None]

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(note_ for part in self.parts for note_ in part.notes)

    @property
    def words(self) -> str:
        """One sentence per test."""
        return "\n".join(part.words for part in self.parts)

    def rows(self) -> list[Row]:
        """One row per pair of models, or per model and the control."""
        return [row for part in self.parts if part is not self.friedman for row in part.rows()]

    def facts(self) -> Row:
        return {
            "data": {"datasets": self.table.datasets, "models": list(self.table.models)},
            "measure": self.table.measure or None,
            "best": self.table.best,
            "level": self.level,
            "average_ranks": self.average_ranks,
            "friedman": None if self.friedman is None else self.friedman.rows(),
            "critical_difference": None if self.nemenyi is None else self.nemenyi.critical_difference,
            "control": None if self.control is None else self.control.control,
            "groups": self.groups,
        }

    def __repr__(self) -> str:
        return f"{self.table!r}\n{self.words}"


def rank_models(
    values: Any,
    models: Sequence[str] | None = None,
    *,
    measure: str = "",
    best: Best | None = None,
    control: str | None = None,
    test: str | None = None,
    zeros: str | None = None,
    alternative: Alternative = "two-sided",
    adjust: str | None = None,
    level: float = 0.95,
    rope: float | None = None,
    seed: int = 0,
) -> Ranking:
    """Rank models over data sets.

    Two models are compared by Wilcoxon's signed-rank test, several by Friedman's test, followed by Nemenyi's or, with a
    control, by Holm's.

    Parameters
    ----------
    values : array_like of shape (n_datasets, n_models), data frame, or mapping of str to array_like
        The value of each model on each data set.
    models : sequence of str, optional
        Names of the models, if the values do not name them.
    measure : str
        Name of the measure; the catalogue says which direction is best.
    best : {"high", "low"}, optional
        Which direction is best, for a measure that is not in the catalogue.
    control : str, optional
        The model that all others are compared with.
    test : str, optional
        Name of the test; by default "wilcoxon" for two models, "friedman" for more or with a control.
    zeros : str, optional
        Treatment of data sets on which two models are equal, such as "drop" or "split".
    alternative : {"two-sided", "greater", "less"}
        Whether the first of two models differs, has the greater, or has the lesser values.
    adjust : {"holm", "hochberg", "bonferroni", "finner", "shaffer"}, optional
        Adjustment of the p-values instead of Holm's; after Friedman's test a stepwise method instead of Nemenyi's.
    level : float
        Confidence level of the intervals.
    rope : float, optional
        Half width of the region of practical equivalence, for Bayesian tests.
    seed : int
        Seed of all random draws; equal seeds give equal results.

    Returns
    -------
    Ranking
        Average ranks and tests.

    References
    ----------
    Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning
    Research, 7, 1-30.

    Examples
    --------
    >>> rank_models({"nb": [0.8, 0.7, 0.9, 0.6], "tree": [0.7, 0.62, 0.85, 0.4]}, measure="auc")
    4 data sets, average ranks: nb 1.00, tree 2.00
    nb is better than tree in auc on 4 of 4 data sets, worse on 0 and equal on 0, \
not statistically significant (Wilcoxon signed rank, exact, p = 0.125).
    """
    check_level(level)
    check_alternative(alternative)
    table = values if isinstance(values, DatasetTable) else _as_table(values, models, measure, best)
    _check_range(table, measure)
    if table.datasets < 2:
        raise DataError(
            "a comparison over data sets needs at least two of them.",
            seen=f"{table.datasets} data set",
            hint="a row for each data set",
        )
    default_test = friedman if len(table.models) > 2 or control is not None else signed_ranks
    call = with_options(parse_test(test or default_test.name), {"zeros": zeros, "rope": rope}, OverDatasets)
    settings: dict[str, Any] = {"spec": None, "outcomes": table, "alternative": alternative, "level": level}
    if AllOverDatasets in call.noun.forms:
        check_applicable(call.noun, AllOverDatasets(**settings))
        omnibus = call.noun(AllOverDatasets(**settings), **call.options)
        if control is not None:
            control_tests = against_control(table, control, level=level, adjust=adjust or "holm")
            return Ranking(table, level, omnibus, control=control_tests)
        if adjust is not None:
            return Ranking(table, level, omnibus, pairs=rank_pairs(table, adjust, level=level))
        return Ranking(table, level, omnibus, nemenyi=nemenyi(table, level=level))
    questions = [OverDatasets(**settings, names=names, seed=seed) for names in combinations(table.models, 2)]
    check_applicable(call.noun, questions[0])
    if control is not None:
        raise ScoreSpaceError(
            f"control={control} needs the test {friedman.name}, not {call.noun.name}.",
            hint=f'test="{friedman.name}"',
        )
    pairs = [call.noun(design, **call.options) for design in questions]
    adjusted_pairs, method, notes = adjust_tests(pairs, "pairs", adjust or "holm")
    return Ranking(table, level, pairs=Comparisons(table.models, tuple(adjusted_pairs), method, notes))


def _check_range(table: DatasetTable, measure: str) -> None:
    """Raise an error for values outside the range of the measure."""
    try:
        low, high = find(_base_name(measure)).range
    except MeasureError:  # a measure that is not in the catalogue
        return
    is_invalid = (table.values < low - 1e-9) | (table.values > high + 1e-9)
    if is_invalid.any():
        raise MeasureError(
            f"{measure} lies between {low:g} and {high:g}, and some values do not.",
            seen=", ".join(f"{value:g}" for value in table.values[is_invalid][:3]),
            hint="correct them, or omit the measure and state which direction is best",
        )


def _base_name(measure: str) -> str:
    """Return the name of a measure without options, threshold and class."""
    return measure.split("(")[0].split("@")[0].split("[")[0]


def direction(measure: str, best: Best | None = None) -> Best:
    """Return which direction of a measure is best: as stated, or from the catalogue.

    >>> direction("auc"), direction("err"), direction("my own", "low")
    ('high', 'low', 'low')
    """
    catalogue_best: Best | None = None
    if measure:
        try:
            catalogue_best = find(_base_name(measure)).best
        except MeasureError:
            if best is None:
                raise
    if best is not None and catalogue_best is not None and best != catalogue_best:
        raise MeasureError(
            f"best={best!r}, but {measure} is better when it is {'higher' if catalogue_best == 'high' else 'lower'}.",
            hint="omit one of the two",
        )
    if best is None and catalogue_best is None:
        raise MeasureError(
            f"the better direction of {measure} is unknown."
            if measure
            else "the better direction of the values is unknown.",
            hint='measure="auc", best="high" or best="low"',
        )
    return cast(Best, best or catalogue_best)


def _as_table(values: Any, models: Sequence[str] | None, measure: str, best: Best | None) -> DatasetTable:
    if not isinstance(values, Mapping) and models is None and hasattr(values, "columns"):
        models, values = list(map(str, values.columns)), values.to_numpy()
    return dataset_table(values, models, best=direction(measure, best), measure=measure)

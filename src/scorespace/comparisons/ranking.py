"""Models over data sets, whole: average ranks, the test that suits, and which models it tells apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Annotated, Any, Literal, cast

from scorespace.comparisons.answer import ROPE, Alternative, Comparison, Comparisons, adjusted, check_alternative
from scorespace.comparisons.datasets import DatasetTable, Zeros, bayes_signed_rank, dataset_table, sign_test, wilcoxon
from scorespace.comparisons.friedman import (
    AgainstControl,
    Nemenyi,
    against_control,
    nemenyi,
    rank_groups,
    rank_pairs,
)
from scorespace.comparisons.friedman import friedman as friedman_test
from scorespace.comparisons.numbers import signed_ranks
from scorespace.comparisons.question import AllOverDatasets, OverDatasets
from scorespace.comparisons.suits import any_of_several, each_side_by_itself
from scorespace.comparisons.test import parse_test, ranked, refuse_misfit, test, with_options
from scorespace.errors import DataError, MeasureError, ScoreSpaceError
from scorespace.frozen import dataclass
from scorespace.measures.catalog import find
from scorespace.measures.measure import Best
from scorespace.resampling.estimate import check_level
from scorespace.results import Note, Result, Row

_Dropped = Annotated[
    Literal["drop", "split", "pratt", "wilcox"],
    "data sets on which both are equal: dropped, their ranks split, or Pratt's",
]


@test(
    title="Friedman's test",
    for_="ranks of several models over data sets: does any of them differ",
    suits=(any_of_several,),
)
def friedman(question: AllOverDatasets) -> Comparison:
    """Iman and Davenport's F of the ranks, F = (N−1) D/(N A − D), allowing for ties; Nemenyi's test follows it."""
    return friedman_test(question.outcomes, level=question.level)


@signed_ranks.on(directed=True)
def _over_datasets(
    question: OverDatasets,
    *,
    zeros: _Dropped = "drop",
    method: Annotated[Literal["auto", "normal"], "normal: also where there are few; auto: exact for few"] = "auto",
) -> Comparison:
    """Sum of the ranks of the differences over the data sets on which a is higher."""
    handled: Zeros = "drop" if zeros == "wilcox" else zeros  # R and SciPy name it after Wilcoxon
    asked: dict[str, Any] = {"alternative": question.alternative, "level": question.level}
    return wilcoxon(question.outcomes.only(*question.names), zeros=handled, method=method, **asked)


@test(title="sign test", for_="on how many data sets one model is better, whatever by how much", directed=True)
def sign(
    question: OverDatasets,
    *,
    zeros: Annotated[Literal["drop", "split", "wilcox"], "data sets on which both are equal: drop, or split"] = "drop",
) -> Comparison:
    """The number of data sets on which a is higher, Binomial(n, ½) if they are equal; exact."""
    handled: Literal["drop", "split"] = "drop" if zeros == "wilcox" else zeros
    asked: dict[str, Any] = {"alternative": question.alternative, "level": question.level}
    return sign_test(question.outcomes.only(*question.names), zeros=handled, **asked)


@test(
    name="bayes_signed_rank",
    title="Bayesian signed ranks",
    for_="how probable it is that one model is better over data sets, or that both are practically equal",
    suits=(each_side_by_itself,),
)
def bayes_over_datasets(
    question: OverDatasets, *, rope: Annotated[float, "differences within ± this are none"] = ROPE
) -> Comparison:
    """Shares of draws from a Dirichlet process in which a is lower, equal within the rope, or higher most often."""
    found = bayes_signed_rank(question.outcomes.only(*question.names), rope=rope, seed=question.seed)
    return replace(found, level=question.level)


def over_datasets() -> tuple[str, ...]:
    """The tests over data sets by name: of all models, and of pairs."""
    return tuple(one.name for one in ranked() if {AllOverDatasets, OverDatasets} & one.forms.keys())


@dataclass(frozen=True)
class Ranking(Result):
    """The average ranks of models over data sets, with Friedman's test and what follows it, or tests of pairs.

    `friedman` is another test of all models, where one was asked for.
    `groups` are the largest sets of models that cannot be told apart; with a control, those not told from it.
    """

    table: DatasetTable
    level: float
    friedman: Comparison | None = None
    nemenyi: Nemenyi | None = None
    control: AgainstControl | None = None
    pairs: Comparisons | None = None

    @property
    def average_ranks(self) -> dict[str, float]:
        """The mean rank of each model, 1 for the best."""
        return dict(zip(self.table.models, map(float, self.table.average_ranks), strict=True))

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        if self.nemenyi is not None:
            return self.nemenyi.groups
        if self.friedman is not None and self.pairs is not None:
            apart = {frozenset((one.a, one.b)) for one in self.pairs if one.sure}
            return rank_groups(self.average_ranks, lambda *two: frozenset(two) in apart)
        if self.control is None:
            return ()
        alike = [one.a for one in self.control.comparisons if not one.sure]
        ordered = sorted([self.control.control, *alike], key=self.average_ranks.__getitem__)
        return (tuple(ordered),) if alike else ()

    @property
    def parts(self) -> list[Result]:
        """The tests that were made, that of all models first."""
        return [one for one in (self.friedman, self.nemenyi, self.control, self.pairs) if one is not None]

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(one for part in self.parts for one in part.notes)

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
    """Rank models over data sets, rows data sets and columns models, or a mapping from model to values.

    Two models are compared by Wilcoxon's signed ranks, several by Friedman's test, followed by Nemenyi's or, with a
    control, by Holm's. The measure says which end is best, where it is in the catalogue; `best` says it otherwise.
    `adjust` names another adjustment than Holm's, and after Friedman's test pairs of ranks in place of Nemenyi's:
    hochberg, bonferroni, finner or, of all pairs, shaffer. `alternative` is about the values of the first of two.

    >>> rank_models({"nb": [0.8, 0.7, 0.9, 0.6], "tree": [0.7, 0.62, 0.85, 0.4]}, measure="auc")
    4 data sets, average ranks: nb 1.00, tree 2.00
    nb is better than tree in auc on 4 of 4 data sets, worse on 0 and equal on 0, \
not distinguishable from chance here (Wilcoxon signed rank, exact, p = 0.125).
    """
    check_level(level)
    check_alternative(alternative)
    table = values if isinstance(values, DatasetTable) else _table(values, models, measure, best)
    _refuse_impossible(table, measure)
    if table.datasets < 2:
        raise DataError(
            "a comparison over data sets needs at least two of them.",
            seen=f"{table.datasets} data set",
            hint="a row for each data set",
        )
    usual = friedman if len(table.models) > 2 or control is not None else signed_ranks
    call = with_options(parse_test(test or usual.name), {"zeros": zeros, "rope": rope}, OverDatasets)
    asked: dict[str, Any] = {"spec": None, "outcomes": table, "alternative": alternative, "level": level}
    if AllOverDatasets in call.noun.forms:
        refuse_misfit(call.noun, AllOverDatasets(**asked))
        found = call.noun(AllOverDatasets(**asked), **call.options)
        if control is not None:
            judged = against_control(table, control, level=level, adjust=adjust or "holm")
            return Ranking(table, level, found, control=judged)
        if adjust is not None:
            return Ranking(table, level, found, pairs=rank_pairs(table, adjust, level=level))
        return Ranking(table, level, found, nemenyi=nemenyi(table, level=level))
    questions = [OverDatasets(**asked, names=names, seed=seed) for names in combinations(table.models, 2)]
    refuse_misfit(call.noun, questions[0])
    if control is not None:
        raise ScoreSpaceError(
            f"control={control} is for the test {friedman.name}, and not for {call.noun.name}.",
            hint=f'test="{friedman.name}"',
        )
    pairs = [call.noun(question, **call.options) for question in questions]
    placed, method, notes = adjusted(pairs, "pairs", adjust or "holm")
    return Ranking(table, level, pairs=Comparisons(table.models, tuple(placed), method, notes))


def _refuse_impossible(table: DatasetTable, measure: str) -> None:
    """Refuse values that the measure cannot have, by its range in the catalogue."""
    try:
        low, high = find(_bare(measure)).range
    except MeasureError:  # a name of one's own
        return
    wrong = (table.values < low - 1e-9) | (table.values > high + 1e-9)
    if wrong.any():
        raise MeasureError(
            f"{measure} lies between {low:g} and {high:g}, and some values do not.",
            seen=", ".join(f"{value:g}" for value in table.values[wrong][:3]),
            hint="correct them, or leave out the measure and say which end is best",
        )


def _bare(measure: str) -> str:
    """The name of a measure without options, threshold and class."""
    return measure.split("(")[0].split("@")[0].split("[")[0]


def direction(measure: str, best: Best | None = None) -> Best:
    """Which end of a measure is best: as stated, or as the catalogue says.

    >>> direction("auc"), direction("err"), direction("my own", "low")
    ('high', 'low', 'low')
    """
    known: Best | None = None
    if measure:
        try:
            known = find(_bare(measure)).best
        except MeasureError:
            if best is None:
                raise
    if best is not None and known is not None and best != known:
        raise MeasureError(
            f"best={best!r}, but {measure} is better when it is {'higher' if known == 'high' else 'lower'}.",
            hint="leave out one of the two",
        )
    if best is None and known is None:
        raise MeasureError(
            f"which end of {measure} is best is not known." if measure else "which end of the values is best?",
            hint='measure="auc", best="high" or best="low"',
        )
    return cast(Best, best or known)


def _table(values: Any, models: Sequence[str] | None, measure: str, best: Best | None) -> DatasetTable:
    if not isinstance(values, Mapping) and models is None and hasattr(values, "columns"):
        models, values = list(map(str, values.columns)), values.to_numpy()
    return dataset_table(values, models, best=direction(measure, best), measure=measure)

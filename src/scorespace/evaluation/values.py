"""Values per case: default measures and findings."""

from __future__ import annotations

from typing import Final

from scorespace.evaluation.default_measures import default_measures, directed
from scorespace.evaluation.findings import FindingContext, finding
from scorespace.inference.case_values import FEW_SKEWED, components_of, values_spread
from scorespace.measures import MeasureSpec, parse
from scorespace.profiles import GENERAL, PROFILES, Profile
from scorespace.results import count_noun, grouped, short
from scorespace.tables import RankTable, ValueTable
from scorespace.tables.rankings import queries_text
from scorespace.tables.threshold import TopCases

_RANKINGS: Final = ("ndcg@10", "rr", "ap[query]")
_ALL_RANKINGS: Final = ("ppv[query]@top10", "tpr[query]@top10", "ndcg")
_ALL: Final = ("mean", "median", "worst", "sd", "quantile(q=0.25)", "quantile(q=0.75)")


@default_measures.register
def _(
    table: ValueTable, at: float | None = None, profile: Profile = PROFILES[GENERAL], full: bool = False
) -> list[MeasureSpec]:
    if table.numbers.binary:
        names: tuple[str, ...] = ("mean",)
    else:
        over_runs = () if table.numbers.runs is None else ("mean(over=runs)",)
        names = ("mean", *over_runs, *(_ALL[1:] if full else _ALL[1:3]))
    return [directed(parse(name), table) for name in names]


@default_measures.register
def _(
    table: RankTable, at: float | None = None, profile: Profile = PROFILES[GENERAL], full: bool = False
) -> list[MeasureSpec]:
    return [*map(parse, (*_RANKINGS, *(_ALL_RANKINGS if full else ())))]


@finding("SS180")
def few_skewed_values(table: ValueTable, context: FindingContext) -> str | None:
    """Reported where the mean of so few and so skewed values has an interval that is too narrow."""
    spread = values_spread(table)
    if table.numbers.binary or not 1 < spread.units < FEW_SKEWED or not spread.estimate().skew:
        return None
    return (
        f"the values of {context.model} are skewed, and {spread.units:.3g} cases are few: the interval of the mean "
        "covers in 83 to 86 % of such samples."
    )


@finding("SS181")
def constant_values(table: ValueTable, context: FindingContext) -> str | None:
    value = table.numbers.value
    if value.size < 2 or value.min() < value.max():
        return None
    return f"all {grouped(value.size)} values of {context.model} are {short(float(value[0]))}: intervals have no width."


@finding("SS182")
def variance_components(table: ValueTable, context: FindingContext) -> str | None:
    """Where items were repeated: what the interval is about, and whether more items or more runs would narrow it."""
    rows, found = table.numbers.rows, components_of(table)
    if rows is None:
        return None
    if found is None:
        fewest, most = int(rows.min()), int(rows.max())
        each = count_noun(most, "value") if fewest == most else f"{fewest} to {most} values"
        return (
            f"{context.model}: means of {grouped(rows.size)} items with {each} each; "
            "intervals are about new items, as not every item has one value in every run."
        )
    more = "items" if found.more_items_help else "runs"
    return (
        f"{context.model}: variance between items {short(found.items)}, between runs {short(found.runs)}, rest "
        f"{short(found.rest)} ({found.n_items} items, {found.n_runs} runs). More {more} would help more. mean is about "
        "new items in these runs, mean(over=runs) about new items and new runs."
    )


@finding("SS184")
def empty_queries(table: RankTable, context: FindingContext) -> str | None:
    empty = int((table.data.relevant == 0).sum())
    if not empty:
        return None
    verb = "has" if empty == 1 else "have"
    return (
        f"{grouped(empty)} of {queries_text(table.data.queries)} {verb} no relevant document: nDCG, reciprocal rank, "
        "average precision and recall leave them out; precision counts them as 0."
    )


@finding("SS185")
def ties_at_cut(table: RankTable, context: FindingContext) -> str | None:
    """Reported where the order of tied scores would change what is among the first."""
    points = (one.spec.at for one in context.estimates)
    cuts = {at.size for at in points if isinstance(at, TopCases)}
    for cut in sorted(cuts):
        if queries := table.data.cut_by_ties(cut):
            return (
                f"{context.model} has tied scores across the first {cut:g} documents in {queries_text(queries)}: "
                "values are means over all orders of ties. trec_eval orders them by document, and differs; "
                f"ndcg(ties=first)@{cut:g} and ndcg(ties=last)@{cut:g} are bounds."
            )
    return None

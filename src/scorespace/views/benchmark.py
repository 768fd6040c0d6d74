"""The page of a benchmark: learners over data sets, their differences and ranks, and how they fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from scorespace.comparisons.answer import Comparison
from scorespace.experiments.results import Benchmark
from scorespace.results import decimals, grouped, p_text, signed
from scorespace.views import ranking as ranks
from scorespace.views.charts.experiments import benchmark_chart
from scorespace.views.document import Block, Document, Grid, Notes, Picture, Section, Text, Verdict, made, one_section
from scorespace.views.study import inner_grid


def document(found: Benchmark, command: str | None = None) -> Document:
    """The whole page; the terminal shows the means, the tests and the verdict."""
    arrow = "higher is better" if found.spec.measure.best == "high" else "lower is better"
    facts = [f"{grouped(len(found.datasets))} data sets", f"{grouped(len(found.learners))} learners"]
    facts += [found.resampling, f"{found.spec}, {arrow}"]
    about = f"Mean {found.spec} of each learner on each data set, with its standard deviation over folds."
    means, drawn = mean_grid(found), Picture(lambda: benchmark_chart(found), about)
    sections = [
        Section("verdict", "Verdict", (Verdict(found.words),), brief=True),
        Section("results", "Results", (means, drawn), True, (means,), "How good is each learner?"),
    ]
    if found.comparisons:
        grid = difference_grid(found)
        question = "On which data sets do the learners differ?"
        sections.append(Section("differences", "Differences", (Text(_wins(found)), grid), True, (grid,), question))

    def add(name: str, title: str, question: str, *blocks: Block, folded: bool = False) -> None:
        sections.append(Section(name, title, blocks, question=question, folded=folded))

    if found.ranking is not None:
        add("ranks", "Ranks", "Which learner is best over all data sets?", *_ranks(found))
    if any(one.fit is not None for one in found.results):
        add("fit", "Training and test", "Do they overfit or underfit?", fit_grid(found))
    if any(one.corrected is not None for one in found.results):
        add("bootstrap", "Bootstrap", "What would they do on new cases?", bootstrap_grid(found))
    if found.nested:
        question = "Does what they chose on inner folds hold on others?"
        add("inner", "Inner and outer", question, inner_grid(found.nested, several=len(found.datasets) > 1))
    add("pooled", "Pooled", "Mean over folds or pooled?", Text(_POOLED), pooled_grid(found), folded=True)
    notes = (*found.notes, *(() if found.ranking is None else found.ranking.notes))
    if notes:
        sections.append(Section("notes", "Notes", (Notes(notes),), brief=True))
    told = made(found.name, found.resampling, f"seed {found.seed}", command=command)
    return Document(f"{found.name}: benchmark", "   ".join(facts), tuple(sections), told)


def comparison(found: Benchmark) -> Document:
    """What `compare` shows of a benchmark: the differences, and the ranks with their tests."""
    blocks: list[Block] = [difference_grid(found)] if found.comparisons else []
    blocks += [] if found.ranking is None else [one for one in _ranks(found) if not isinstance(one, Picture)]
    notes = () if found.ranking is None else found.ranking.notes
    page = document(found)
    return replace(one_section(page.title, page.facts, "Comparison", blocks, found.words, notes), made=page.made)


_POOLED = (
    "The mean over folds takes each fit by itself; pooled values throw the scores of all fits together, whose scales "
    "may differ. Both are shown because they are different numbers."
)


def mean_grid(found: Benchmark) -> Grid:
    """Data sets by learners: mean ± standard deviation over folds, the best of each data set with a star."""
    rows = []
    for name in found.datasets:
        best = found.best(name)
        cells = [(each, found.result(name, each)) for each in found.learners]
        rows.append((name, *("–" if one is None else one.over.text + " *" * (each == best) for each, one in cells)))
    if len(found.datasets) > 1:
        rows.append(("mean", *(decimals(_mean(found, each)) for each in found.learners)))
    caption = f"{found.spec}: mean ± standard deviation over folds; * the best on a data set."
    return Grid(("data set", *found.learners), tuple(rows), caption)


def _mean(found: Benchmark, learner: str) -> float:
    """The mean over the data sets on which all learners have a value."""
    means = {(one.dataset, one.over.model): one.over.mean for one in found.results}
    whole = [
        name
        for name in found.datasets
        if all(not math.isnan(means.get((name, each), math.nan)) for each in found.learners)
    ]
    return sum(means[name, learner] for name in whole) / len(whole) if whole else math.nan


def difference_grid(found: Benchmark) -> Grid:
    """The differences on each data set by the corrected t-test; a star marks what chance hardly explains."""
    pairs = list(dict.fromkeys((one.a, one.b) for held in found.comparisons.values() for one in held))
    rows = []
    for name, held in found.comparisons.items():
        by_pair = {(one.a, one.b): one for one in held}
        rows.append((name, *(_difference(by_pair.get(pair), 1 - found.level) for pair in pairs)))
    caption = "Difference of means and p of the corrected t-test over folds; * chance hardly explains it (after Holm)."
    return Grid(("data set", *(f"{a} − {b}" for a, b in pairs)), tuple(rows), caption)


def _difference(one: Comparison | None, alpha: float) -> str:
    if one is None or math.isnan(one.difference):
        return "–"
    p = "" if math.isnan(one.p) else f"  {p_text(one.p)}"
    return f"{signed(one.difference)}{p}{' *' * _sure(one, alpha)}"


def _sure(one: Comparison, alpha: float) -> bool:
    return (one.p if math.isnan(one.p_adjusted) else one.p_adjusted) < alpha


def _wins(found: Benchmark) -> str:
    """How often each learner is better than each other by more than chance explains."""
    high = found.spec.measure.best == "high"
    told = []
    for a, b in dict.fromkeys((one.a, one.b) for held in found.comparisons.values() for one in held):
        pair = [one for held in found.comparisons.values() for one in held if (one.a, one.b) == (a, b)]
        sure = [one for one in pair if _sure(one, 1 - found.level)]
        won = sum((one.difference > 0) == high for one in sure)
        apart = f"better than {b} on {won}, worse on {len(sure) - won}"
        told.append(f"{a} is {apart}, and not told apart on {len(pair) - len(sure)}")
    return f"By the corrected t-test on each data set: {'; '.join(told)}."


def _ranks(found: Benchmark) -> Sequence[Block]:
    assert found.ranking is not None
    (section,) = ranks.document(found.ranking, found.name).sections
    return [block for block in section.blocks if not isinstance(block, Verdict | Notes)]


def fit_grid(found: Benchmark) -> Grid:
    """Training beside test scores."""
    rows = [
        (
            f"{one.dataset}, {one.over.model}" if len(found.datasets) > 1 else one.over.model,
            decimals(one.fit.training),
            decimals(one.fit.test),
            signed(-one.fit.gap if found.spec.measure.best == "high" else one.fit.gap),
            "overfits" if one.fit.overfits else "",
        )
        for one in found.results
        if one.fit is not None
    ]
    caption = f"Mean {found.spec} over folds on training and on test cases."
    return Grid(("learner", "training", "test", "test − training", "fit"), tuple(rows), caption).without_blanks()


def bootstrap_grid(found: Benchmark) -> Grid:
    """Training, left out and chance, and what .632 and .632+ make of them."""
    rows = [
        (
            f"{one.dataset}, {one.over.model}" if len(found.datasets) > 1 else one.over.model,
            *map(decimals, (plus.training, plus.left_out, plus.chance, one.plain_632, plus.value)),
            decimals(plus.overfitting, 2),
        )
        for one in found.results
        if (plus := one.corrected) is not None
    ]
    caption = ".632+ weighs the cases left out by how much a learner overfits, from 0 (not at all) to 1 (by heart)."
    return Grid(("learner", "training", "left out", "chance", ".632", ".632+", "overfitting"), tuple(rows), caption)


def pooled_grid(found: Benchmark) -> Grid:
    """The mean over folds beside the pooled value."""
    rows = [
        (
            f"{one.dataset}, {one.over.model}",
            one.over.text,
            decimals(one.over.pooled),
            f"{grouped(one.over.undefined)} of {grouped(one.over.folds)}" if one.over.undefined else "",
        )
        for one in found.results
    ]
    return Grid(("learner", "mean ± sd over folds", "pooled", "undefined folds"), tuple(rows)).without_blanks()

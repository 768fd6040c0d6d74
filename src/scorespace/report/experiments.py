"""Benchmarks of learners: results on each data set, differences, ranks and fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from scorespace.comparisons.result import Comparison
from scorespace.errors import ScoreSpaceError
from scorespace.experiments.results import Benchmark, benchmark_summary
from scorespace.experiments.store import Run, RunStatus
from scorespace.report import ranking as ranks
from scorespace.report.chart_theme import INK, Spec, coloured, datum, field, layered, mark, themed
from scorespace.report.document import Block, Document, Grid, Notes, Picture, Section, Text, Verdict, one_section
from scorespace.report.document import provenance as made
from scorespace.report.study import inner_grid
from scorespace.results import count_noun, decimals, format_signed, grouped, p_text


def run_document(run: Run) -> Document:
    """Document of the state of a run."""
    status = run.status()
    return one_section(status.path, facts(run), "Run", [status_grid(status)], status.words, status.notes)


def results_page(run: Run) -> Document:
    """The page of a run: its results, if every data set has some, and the fits."""
    fits = run_document(run)
    with suppress(ScoreSpaceError):  # the fits say what failed
        results, (section,) = document(benchmark_summary(run)), fits.sections
        blocks = tuple(Text(block.text) if isinstance(block, Verdict) else block for block in section.blocks)
        return replace(results, title=fits.title, sections=(*results.sections, replace(section, blocks=blocks)))
    return fits


def facts(run: Run) -> str:
    """Number of data sets and learners, the resampling scheme and the seed."""
    descriptions = {plan.described for plan in run.plans.values()}
    split = next(iter(descriptions)) if len(descriptions) == 1 else run.resampling
    sets, learners = count_noun(len(run.datasets), "data set"), count_noun(len(run.learners), "learner")
    return "   ".join((sets, learners, split, f"seed {run.seed}"))


def status_grid(status: RunStatus) -> Grid:
    """One row per data set and learner."""
    rows = [
        (
            standing.dataset,
            standing.learner,
            f"{grouped(standing.done)} of {grouped(standing.splits)}",
            grouped(standing.failed) if standing.failed else "",
            decimals(standing.seconds, 2),
        )
        for standing in status.job_statuses
    ]
    return Grid(("data set", "learner", "fits", "failed", "seconds"), tuple(rows)).without_blanks()


def benchmark_chart(benchmark: Benchmark) -> Spec:
    """One row per data set: the mean of each learner with its standard deviation over folds."""
    defined = [result for result in benchmark.results if np.isfinite(result.over.mean)]
    rows = [
        {
            "dataset": result.dataset,
            "learner": result.over.model,
            "mean": datum(result.over.mean),
            "low": datum(result.over.mean - (result.over.sd if np.isfinite(result.over.sd) else 0)),
            "high": datum(result.over.mean + (result.over.sd if np.isfinite(result.over.sd) else 0)),
            "text": result.over.text,
        }
        for result in defined
    ]
    encoding = {
        "y": field("dataset:N", sort=None, title=None, axis={"labelColor": INK, "ticks": False, "labelLimit": 200}),
        "yOffset": field("learner:N", sort=None),
        "color": coloured("learner", benchmark.learners),
        "tooltip": [field("dataset:N"), field("learner:N"), field("text:N", title=str(benchmark.spec))],
    }
    title = f"{benchmark.spec}, mean and standard deviation over folds"
    x_axis: Spec = {"title": title, "scale": {"zero": False}, "axis": {"tickCount": 6}}
    layers = [
        mark("rule", rows, {**encoding, "x": field("low:Q", **x_axis), "x2": "high"}, strokeWidth=1.6),
        mark("point", rows, {**encoding, "x": field("mean:Q", **x_axis)}, filled=True, size=60, opacity=1),
    ]
    description = f"{benchmark.spec} of {', '.join(benchmark.learners)} on {len(benchmark.datasets)} data sets."
    return themed(layered(layers, 420, {"step": 12}, description=description))


def document(benchmark: Benchmark, command: str | None = None) -> Document:
    """Document of a benchmark; text output shows the means, the tests and the verdict."""
    arrow = "higher is better" if benchmark.spec.best == "high" else "lower is better"
    facts = [f"{grouped(len(benchmark.datasets))} data sets", f"{grouped(len(benchmark.learners))} learners"]
    facts += [benchmark.resampling, f"{benchmark.spec}, {arrow}"]
    alt = f"Mean {benchmark.spec} of each learner on each data set, with its standard deviation over folds."
    means, chart = mean_grid(benchmark), Picture(lambda: benchmark_chart(benchmark), alt)
    sections = [
        Section("verdict", "Verdict", (Verdict(benchmark.words),), brief=True),
        Section("results", "Results", (means, chart), True, (means,), "How good is each learner?"),
    ]
    if benchmark.comparisons:
        grid = difference_grid(benchmark)
        question = "On which data sets do the learners differ?"
        sections.append(
            Section("differences", "Differences", (Text(_describe_wins(benchmark)), grid), True, (grid,), question)
        )

    def add(name: str, title: str, question: str, *blocks: Block, folded: bool = False) -> None:
        sections.append(Section(name, title, blocks, question=question, folded=folded))

    if benchmark.ranking is not None:
        add("ranks", "Ranks", "Which learner is best over all data sets?", *_ranks(benchmark))
    if any(result.fit is not None for result in benchmark.results):
        add("fit", "Training and test", "Do they overfit or underfit?", fit_grid(benchmark))
    if any(result.corrected is not None for result in benchmark.results):
        add("bootstrap", "Bootstrap", "How do they perform on new cases?", bootstrap_grid(benchmark))
    if benchmark.nested:
        question = "Do selections on inner folds hold on outer folds?"
        add(
            "inner",
            "Nested cross-validation",
            question,
            inner_grid(benchmark.nested, has_many_datasets=len(benchmark.datasets) > 1),
        )
    add("pooled", "Pooled", "Mean over folds or pooled?", Text(_POOLED), pooled_grid(benchmark), folded=True)
    notes = (*benchmark.notes, *(() if benchmark.ranking is None else benchmark.ranking.notes))
    if notes:
        sections.append(Section("notes", "Notes", (Notes(notes),), brief=True))
    provenance = made(benchmark.name, benchmark.resampling, f"seed {benchmark.seed}", command=command)
    return Document(f"{benchmark.name}: benchmark", "   ".join(facts), tuple(sections), provenance)


def comparison(benchmark: Benchmark) -> Document:
    """Document of `compare` on a benchmark: differences, and ranks with their tests."""
    blocks: list[Block] = [difference_grid(benchmark)] if benchmark.comparisons else []
    blocks += (
        [] if benchmark.ranking is None else [block for block in _ranks(benchmark) if not isinstance(block, Picture)]
    )
    notes = () if benchmark.ranking is None else benchmark.ranking.notes
    page = document(benchmark)
    return replace(one_section(page.title, page.facts, "Comparison", blocks, benchmark.words, notes), made=page.made)


_POOLED = (
    "The mean over folds evaluates each fit separately; the pooled value combines the scores of all fits, whose scales "
    "may differ."
)


def mean_grid(benchmark: Benchmark) -> Grid:
    """Mean ± standard deviation over folds by data set and learner; a star marks the best on each data set."""
    rows = []
    for name in benchmark.datasets:
        best = benchmark.best(name)
        cells = [(learner, benchmark.result(name, learner)) for learner in benchmark.learners]
        rows.append(
            (
                name,
                *("–" if result is None else result.over.text + " *" * (learner == best) for learner, result in cells),
            )
        )
    if len(benchmark.datasets) > 1:
        rows.append(("mean", *(decimals(_mean(benchmark, learner)) for learner in benchmark.learners)))
    caption = f"{benchmark.spec}: mean ± standard deviation over folds; * the best on a data set."
    return Grid(("data set", *benchmark.learners), tuple(rows), caption)


def _mean(benchmark: Benchmark, learner: str) -> float:
    """Mean over the data sets on which all learners have a value."""
    means = {(result.dataset, result.over.model): result.over.mean for result in benchmark.results}
    complete_datasets = [
        name
        for name in benchmark.datasets
        if all(not math.isnan(means.get((name, other_learner), math.nan)) for other_learner in benchmark.learners)
    ]
    return (
        sum(means[name, learner] for name in complete_datasets) / len(complete_datasets)
        if complete_datasets
        else math.nan
    )


def difference_grid(benchmark: Benchmark) -> Grid:
    """Differences on each data set by the corrected resampled t-test (Nadeau & Bengio 2003)."""
    pairs = list(
        dict.fromkeys(
            (comparison.a, comparison.b) for comparisons in benchmark.comparisons.values() for comparison in comparisons
        )
    )
    rows = []
    for name, comparisons in benchmark.comparisons.items():
        by_pair = {(comparison.a, comparison.b): comparison for comparison in comparisons}
        rows.append((name, *(_difference(by_pair.get(pair), 1 - benchmark.level) for pair in pairs)))
    caption = "Difference of means and p of the corrected t-test over folds; * significant after Holm's adjustment."
    return Grid(("data set", *(f"{a} − {b}" for a, b in pairs)), tuple(rows), caption)


def _difference(comparison: Comparison | None, alpha: float) -> str:
    if comparison is None or math.isnan(comparison.difference):
        return "–"
    p = "" if math.isnan(comparison.p) else f"  {p_text(comparison.p)}"
    return f"{format_signed(comparison.difference)}{p}{' *' * _is_significant(comparison, alpha)}"


def _is_significant(comparison: Comparison, alpha: float) -> bool:
    return (comparison.p if math.isnan(comparison.p_adjusted) else comparison.p_adjusted) < alpha


def _describe_wins(benchmark: Benchmark) -> str:
    """Significant wins and losses of each pair of learners over the data sets, in a sentence."""
    is_high_better = benchmark.spec.best == "high"
    sentences = []
    for a, b in dict.fromkeys(
        (comparison.a, comparison.b) for comparisons in benchmark.comparisons.values() for comparison in comparisons
    ):
        pair = [
            comparison
            for comparisons in benchmark.comparisons.values()
            for comparison in comparisons
            if (comparison.a, comparison.b) == (a, b)
        ]
        significant = [comparison for comparison in pair if _is_significant(comparison, 1 - benchmark.level)]
        n_better = sum((comparison.difference > 0) == is_high_better for comparison in significant)
        counts = f"better than {b} on {n_better}, worse on {len(significant) - n_better}"
        sentences.append(f"{a} is significantly {counts}, without a clear difference on {len(pair) - len(significant)}")
    return f"By the corrected t-test on each data set: {'; '.join(sentences)}."


def _ranks(benchmark: Benchmark) -> Sequence[Block]:
    assert benchmark.ranking is not None
    (section,) = ranks.document(benchmark.ranking, benchmark.name).sections
    return [block for block in section.blocks if not isinstance(block, Verdict | Notes)]


def fit_grid(benchmark: Benchmark) -> Grid:
    """Training and test scores."""
    rows = [
        (
            f"{result.dataset}, {result.over.model}" if len(benchmark.datasets) > 1 else result.over.model,
            decimals(result.fit.training),
            decimals(result.fit.test),
            format_signed(-result.fit.gap if benchmark.spec.best == "high" else result.fit.gap),
            "overfits" if result.fit.overfits else "",
        )
        for result in benchmark.results
        if result.fit is not None
    ]
    caption = f"Mean {benchmark.spec} over folds on training and on test cases."
    return Grid(("learner", "training", "test", "test − training", "fit"), tuple(rows), caption).without_blanks()


def bootstrap_grid(benchmark: Benchmark) -> Grid:
    """Training, out-of-bag and no-information scores with the .632 and .632+ estimates (Efron & Tibshirani 1997)."""
    rows = [
        (
            f"{result.dataset}, {result.over.model}" if len(benchmark.datasets) > 1 else result.over.model,
            *map(decimals, (plus.training, plus.left_out, plus.chance, result.plain_632, plus.value)),
            decimals(plus.overfitting, 2),
        )
        for result in benchmark.results
        if (plus := result.corrected) is not None
    ]
    caption = ".632+ weights the out-of-bag score by the relative overfitting rate, from 0 (none) to 1 (complete)."
    columns = ("learner", "training", "out-of-bag", "no information", ".632", ".632+", "overfitting")
    return Grid(columns, tuple(rows), caption)


def pooled_grid(benchmark: Benchmark) -> Grid:
    """Mean over folds and pooled value."""
    rows = [
        (
            f"{result.dataset}, {result.over.model}",
            result.over.text,
            decimals(result.over.pooled),
            f"{grouped(result.over.undefined)} of {grouped(result.over.folds)}" if result.over.undefined else "",
        )
        for result in benchmark.results
    ]
    return Grid(("learner", "mean ± sd over folds", "pooled", "undefined folds"), tuple(rows)).without_blanks()

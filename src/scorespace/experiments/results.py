"""Summary of a run by one measure: scores over folds, comparisons, and ranks over data sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from scorespace.comparisons.folds import FoldSummary, measure_by_fold, summarise_folds
from scorespace.comparisons.ranking import Ranking, rank_models
from scorespace.comparisons.result import Alternative, Comparison, Comparisons, adjust_tests
from scorespace.comparisons.t_tests import corrected_t
from scorespace.errors import MeasureError, listing
from scorespace.experiments.bootstrap import BootstrapError, bootstrap_632, estimate_632_plus, is_bootstrap
from scorespace.experiments.estimators import EstimatorColumns, decides_by_highest_score
from scorespace.experiments.nested import NestedScores, nested_of_run
from scorespace.experiments.overfitting import Fit, assess_fit, fit_notes
from scorespace.experiments.run_predictions import (
    failed_learner_note,
    learners_with_predictions,
    pair_predictions,
    prediction_columns_of_run,
    ratio_of_test_to_training,
)
from scorespace.experiments.single_fit import default_measure
from scorespace.experiments.store import Run, open_run, resolve_positive
from scorespace.measures import MeasureSpec, parse, parse_list
from scorespace.measures.request import Request, bind
from scorespace.results import Note, Result, Row, decimals, grouped, note, to_json_types
from scorespace.tables import Array

# --- data sets × learners


@dataclass(frozen=True)
class LearnerScore:
    """A learner on a data set: a measure over folds, and its values by repeat and fold.

    `training` holds values on training cases if stored, `ratio` is that of test to training cases, and `corrected` the
    .632+ estimate of a bootstrap in the units of the measure.
    """

    dataset: str
    over: FoldSummary
    values: Array = field(repr=False, compare=False)
    training: Array | None = field(default=None, repr=False, compare=False)
    ratio: float = 0.0
    corrected: BootstrapError | None = None

    @property
    def fit(self) -> Fit | None:
        """Comparison of training and test scores."""
        if self.training is None:
            return None
        return assess_fit(self.over.model, self.over.spec.canonical, self.training, self.values, self.ratio)

    def row(self) -> Row:
        fit = {} if self.fit is None else {"training": self.fit.training}
        plus = {} if self.corrected is None else {"bootstrap_632_plus": self.corrected.value}
        both = {"bootstrap_632": self.plain_632, **plus} if plus else {}
        return {"dataset": self.dataset, **self.over.row(), **to_json_types({**fit, **both})}

    @property
    def plain_632(self) -> float:
        """The .632 estimate, which is too optimistic for learners that memorise."""
        found = self.corrected
        return math.nan if found is None else bootstrap_632(found.training, found.left_out)


@dataclass(frozen=True)
class Benchmark(Result):
    """Summary of a run by one measure: mean and spread of every learner on every data set, tests, and ranks.

    Parameters
    ----------
    name : str
        Name of the run.
    resampling : str
        Notation of the resampling.
    seed : int
        Seed of the run.
    spec : MeasureSpec
        The measure.
    datasets : tuple of str
        Names of the data sets.
    learners : tuple of str
        Names of the learners.
    results : tuple of LearnerScore
        The measure of each learner on each data set.
    comparisons : dict of str to Comparisons
        For each data set, tests over its folds.
    ranking : Ranking, optional
        Ranks over data sets, by their means.
    notes : tuple of Note
        Notes on the run.
    level : float
        Confidence level of the intervals.
    nested : tuple of tuple
        Data set, and inner and outer scores of a learner that selects within training cases.
    """

    name: str
    resampling: str
    seed: int
    spec: MeasureSpec
    datasets: tuple[str, ...]
    learners: tuple[str, ...]
    results: tuple[LearnerScore, ...]
    comparisons: dict[str, Comparisons]
    ranking: Ranking | None
    notes: tuple[Note, ...] = ()
    level: float = 0.95
    nested: tuple[tuple[str, NestedScores], ...] = ()

    def result(self, dataset: str, learner: str) -> LearnerScore | None:
        """Score of a learner on a data set, if finished.

        Parameters
        ----------
        dataset : str
            Name of the data set.
        learner : str
            Name of the learner.

        Returns
        -------
        LearnerScore or None
            None if it is not finished.
        """
        return next((score for score in self.results if (score.dataset, score.over.model) == (dataset, learner)), None)

    def best(self, dataset: str) -> str | None:
        """Learner with the best mean on a data set.

        Parameters
        ----------
        dataset : str
            Name of the data set.

        Returns
        -------
        str or None
            Name of the learner; None if there are no values.
        """
        known = [score.over for score in self.results if score.dataset == dataset and not math.isnan(score.over.mean)]
        if not known:
            return None
        best_of = max if self.spec.best == "high" else min
        return best_of(known, key=lambda summary: summary.mean).model

    @property
    def words(self) -> str:
        """The result in a few sentences."""
        if self.ranking is not None:
            return self.ranking.words
        if len(self.comparisons) == 1:
            return next(iter(self.comparisons.values())).words
        (first, *_) = self.results
        return f"{first.over!r}."

    def rows(self) -> list[Row]:
        """One row per data set and learner."""
        return [score.row() for score in self.results]

    def facts(self) -> Row:
        """The run, the measure, all tests, fits and inner scores, for JSON."""
        tests = [{"dataset": name, **row} for name, comparison in self.comparisons.items() for row in comparison.rows()]
        return {
            "data": {"run": self.name, "datasets": list(self.datasets), "learners": list(self.learners)},
            "resampling": self.resampling,
            "seed": self.seed,
            "measure": self.spec.canonical,
            "comparisons": tests,
            **({} if self.ranking is None else {"ranking": self.ranking.to_dict()}),
            "fits": [{"dataset": item.dataset, **item.fit.row()} for item in self.results if item.fit is not None],
            "inner": [{"dataset": name, **item.row()} for name, item in self.nested],
        }

    def __repr__(self) -> str:
        return "\n".join([*(f"{score.dataset}: {score.over!r}" for score in self.results), self.words])


def benchmark_summary(
    run: Any,
    *,
    measure: str | None = None,
    datasets: Sequence[str] = (),
    learners: Sequence[str] = (),
    positive: Any = None,
    test: str | None = None,
    control: str | None = None,
    alternative: Alternative = "two-sided",
    adjust: str | None = None,
    level: float = 0.95,
) -> Benchmark:
    """Summarise a run by one measure: means over folds, pairwise tests, and ranks over data sets.

    Pairwise tests on a data set are corrected resampled t tests; those over data sets as in `rank_models`.

    Parameters
    ----------
    run : Run or path
        The run, or its directory.
    measure : str, optional
        The measure; the default depends on the data sets.
    datasets : sequence of str
        Names of data sets; all by default.
    learners : sequence of str
        Names of learners; all by default.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.
    test : str, optional
        Name of the test over data sets; see `rank_models`.
    control : str, optional
        The learner that all others are compared with.
    alternative : {"two-sided", "greater", "less"}
        Whether the first model of a pair differs, has the greater, or has the lesser value.
    adjust : {"holm", "hochberg", "bonferroni", "finner", "shaffer"}, optional
        Adjustment of the p-values for multiple comparisons.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    Benchmark
        Means over folds, tests and ranks.

    References
    ----------
    Nadeau, C., & Bengio, Y. (2003). Inference for the generalization error. Machine Learning, 52, 239-281.

    Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning
    Research, 7, 1-30.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scorespace.experiments.run import benchmark
    >>> data = {"toy": ([[0.1], [0.4], [0.6], [0.9]] * 10, [0, 0, 1, 1] * 10)}
    >>> with TemporaryDirectory() as folder:
    ...     run = benchmark(["majority", "naive_bayes"], data, "2x5", f"{folder}/run", workers=1)
    ...     benchmark_summary(run, measure="acc").best("toy")
    'naive_bayes'
    """
    opened = run if isinstance(run, Run) else open_run(run)
    dataset_names, learner_names = tuple(datasets) or opened.datasets, tuple(learners) or opened.learners
    for name in learner_names:
        opened.files(opened.datasets[0], name)  # refuses an unknown name
    spec = _resolve_measure(opened, dataset_names, measure, positive)
    notes: list[Note] = []
    results: list[LearnerScore] = []
    for dataset in dataset_names:
        scores, score_notes = _score_learners(opened, dataset, learner_names, spec, positive)
        results += scores
        notes += score_notes
    if not results:
        raise MeasureError(
            f"{spec} applies to no data set of the run.",
            seen=listing(dataset_names),
            hint="use a measure of the predictions: auc for classes, mae for numbers",
        )
    test_options: dict[str, Any] = {"alternative": alternative, "adjust": adjust, "level": level}
    by_dataset = {name: [item for item in results if item.dataset == name] for name in dataset_names}
    comparisons = {
        name: item
        for name, held in by_dataset.items()
        if (item := _compare_pairs(held, spec, **test_options)) is not None
    }
    ranking = _rank_learners(dataset_names, learner_names, results, spec, test=test, control=control, **test_options)
    for dataset in dataset_names:
        fits = [item.fit for item in results if item.dataset == dataset and item.fit is not None]
        notes_on_fit = fit_notes(fits, spec.best or "high")
        notes += [
            replace(item, text=f"{dataset}: {item.text}") if len(dataset_names) > 1 else item for item in notes_on_fit
        ]
    notes += [_bootstrap_note(item, len(dataset_names) > 1) for item in results if item.corrected is not None]
    nested = _nested_scores(opened, dataset_names, learner_names, positive)
    notes += [_nested_note(name, item, len(dataset_names) > 1) for name, item in nested]
    undefined = sum(item.over.undefined for item in results)
    if undefined:
        n_folds = grouped(sum(item.over.folds for item in results))
        notes.append(
            note("SS019", f"{spec} is undefined in {grouped(undefined)} of {n_folds} folds, which are excluded.")
        )
    return Benchmark(
        opened.path.name,
        opened.resampling,
        opened.seed,
        spec,
        tuple(name for name in dataset_names if any(item.dataset == name for item in results)),
        tuple(name for name in learner_names if any(item.over.model == name for item in results)),
        tuple(results),
        comparisons,
        ranking,
        tuple(notes),
        level,
        nested,
    )


def _resolve_measure(run: Run, datasets: Sequence[str], measure: str | None, positive: Any) -> MeasureSpec:
    """Requested measure, or the default for the data sets."""
    if measure is not None:
        specs = parse_list(measure)
        if len(specs) != 1:
            raise MeasureError("a benchmark summary needs one measure.", seen=measure, hint='measure="auc"')
        spec = specs[0]
    else:
        plans = [run.of(name) for name in datasets]
        tasks = {plan.task for plan in plans}
        if len(tasks) > 1:
            raise MeasureError(
                "the run has both classification and regression data sets.", seen=listing(datasets), hint="dataset=…"
            )
        known = [resolve_positive(plan, positive) for plan in plans]
        spec = parse(default_measure(tasks.pop(), "all" if all(known) else None))
    if spec.best is None:
        raise MeasureError(f"{spec} has no best direction, so it cannot rank learners.", hint='measure="auc"')
    return spec


def _score_learners(
    run: Run, dataset: str, learners: Sequence[str], spec: MeasureSpec, positive: Any
) -> tuple[list[LearnerScore], tuple[Note, ...]]:
    """Scores of the learners on a data set, and notes."""
    with_predictions, failed = learners_with_predictions(run, dataset)
    finished = [name for name in learners if name in with_predictions]
    failure_notes = tuple(failed_learner_note(name, dataset) for name in learners if name in failed)
    if not finished:
        return [], (*failure_notes, note("SS073", f"no learner has finished anything on {dataset}."))
    positive_class = resolve_positive(run.of(dataset), positive)
    columns, fold_values = _fold_values(run, dataset, finished, spec, positive, "test")
    if len(fold_values) < len(finished):
        return [], (
            *failure_notes,
            *columns.notes,
            note("SS073", f"{spec} does not apply to {dataset}, which is excluded."),
        )
    training_values = _fold_values(run, dataset, finished, spec, positive, "train")[1] if run.train else {}
    ratio = ratio_of_test_to_training(run, dataset, finished[0])
    scores = []
    for name, (pooled, values) in fold_values.items():
        over = summarise_folds(name, spec, values, pooled)
        estimate_632 = (
            estimate_632_plus(run, dataset, name, over, values, positive_class) if is_bootstrap(run) else None
        )
        training = training_values[name][1] if name in training_values else None
        scores.append(LearnerScore(dataset, over, values, training, ratio, estimate_632))
    return scores, (*failure_notes, *(item for item in columns.notes if item.code == "SS073"))


def _fold_values(
    run: Run, dataset: str, learners: Sequence[str], spec: MeasureSpec, positive: Any, part: str
) -> tuple[EstimatorColumns, dict[str, tuple[float, Array]]]:
    """Value of the measure for each learner: over all cases, and by repeat and fold.

    Without folds, or if every case is tested alone, the overall value is used for both.
    """
    needs_all_classes = spec.of is not None or decides_by_highest_score(
        spec
    )  # an average over all classes, or decisions by the highest score
    columns = prediction_columns_of_run(
        run, dataset, learners, positive=positive, part=part, every_class=needs_all_classes
    )
    pairs = pair_predictions(columns, every_class=needs_all_classes)
    values_by_learner = {}
    for name, table in zip(pairs.models, pairs.tables, strict=True):
        request = _bind_measure(spec, table, resolve_positive(run.of(dataset), positive))
        if request is not None:
            has_no_folds = pairs.fold is None
            values_by_learner[name] = (
                request.value,
                np.array([[request.value]]) if has_no_folds else measure_by_fold(pairs, name, request),
            )
    return columns, values_by_learner


def _bootstrap_note(score: LearnerScore, with_dataset: bool) -> Note:
    assert score.corrected is not None
    estimate, label = score.corrected, f"{score.over.model} on {score.dataset}" if with_dataset else score.over.model
    return note(
        "SS074",
        f"{score.over.spec} of {label} is {decimals(estimate.value)} by .632+ (training {decimals(estimate.training)}, "
        f"left out {decimals(estimate.left_out)}, chance {decimals(estimate.chance)}; .632: "
        f"{decimals(score.plain_632)}).",
    )


def _nested_scores(
    run: Run, datasets: Sequence[str], learners: Sequence[str], positive: Any
) -> tuple[tuple[str, NestedScores], ...]:
    """Inner and outer scores of the learners that select within their training cases."""
    candidates = ((name, nested_of_run(run, name, learner, positive)) for name in datasets for learner in learners)
    return tuple((name, scores) for name, scores in candidates if scores is not None)


def _nested_note(dataset: str, scores: NestedScores, with_dataset: bool) -> Note:
    return note("SS075", f"{dataset}: {scores.words}" if with_dataset else scores.words)


def fit_notes_of_run(run: Run, dataset: str, learners: Sequence[str] = (), positive: Any = None) -> tuple[Note, ...]:
    """Notes on over- and underfitting, inner selection and .632+ of learners on a data set."""
    if not run.train and not is_bootstrap(run):
        nested = _nested_scores(run, [dataset], tuple(learners) or run.learners, positive)
        return tuple(_nested_note(*item, with_dataset=False) for item in nested)
    summary = benchmark_summary(run, datasets=[dataset], learners=learners, positive=positive)
    return tuple(item for item in summary.notes if item.code in ("SS070", "SS071", "SS074", "SS075"))


def _bind_measure(spec: MeasureSpec, table: Any, positive: str | None) -> Request | None:
    """Measure bound to a table; for decisions, of the positive class. None if it does not apply."""
    is_binary_decision = positive is not None and spec.of is None and decides_by_highest_score(spec)
    for candidate in (replace(spec, of=positive), spec) if is_binary_decision else (spec,):
        try:
            return bind(candidate, table)
        except MeasureError:
            continue
    return None


def _compare_pairs(
    results: Iterable[LearnerScore], spec: MeasureSpec, *, alternative: Alternative, adjust: str | None, level: float
) -> Comparisons | None:
    """Pairwise comparisons on one data set, over the folds where both learners have a value."""
    scores = list(results)
    if len(scores) < 2:
        return None
    pairs = []
    for a, b in combinations(scores, 2):
        known = np.isfinite(a.values) & np.isfinite(b.values)
        names = (a.over.model, b.over.model)
        if known.sum() < 2:
            single_fold = "there is only one fold, so its variance is unknown"
            reason = single_fold if known.size == 1 else "the measure is defined in fewer than two folds"
            pairs.append(Comparison(*names, "corrected t", spec.canonical, level=level, reason=reason))
            continue
        values = (score.values[known] for score in (a, b))
        options: dict[str, Any] = {"measure": spec.canonical, "alternative": alternative, "level": level}
        pairs.append(corrected_t(*values, ratio=a.ratio, names=names, **options))
    adjusted_pairs, method, notes = adjust_tests(pairs, "pairs", adjust or "holm")
    return Comparisons(tuple(one.over.model for one in scores), tuple(adjusted_pairs), method, notes)


def _rank_learners(
    datasets: Sequence[str],
    learners: Sequence[str],
    results: Sequence[LearnerScore],
    spec: MeasureSpec,
    **options: Any,
) -> Ranking | None:
    """Ranks over the data sets where all learners have a mean; None for a single one."""
    means = {(score.dataset, score.over.model): score.over.mean for score in results}
    table = np.array([[means.get((name, learner), math.nan) for learner in learners] for name in datasets])
    table = table[np.isfinite(table).all(axis=1)]
    if len(table) < 2 or len(learners) < 2:
        return None
    return rank_models(table, learners, measure=str(spec), **options)

"""What a run says: the predictions of its learners side by side, and its measures over folds and over data sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from itertools import combinations
from typing import Any, Final

import numpy as np

from scorespace import frames
from scorespace.comparisons.answer import Alternative, Comparison, Comparisons, adjusted
from scorespace.comparisons.fold_means import OverFolds, summed_up
from scorespace.comparisons.folds import by_fold
from scorespace.comparisons.ranking import Ranking, rank_models
from scorespace.comparisons.t_tests import corrected_t
from scorespace.errors import DataError, MeasureError, listing
from scorespace.experiments.bootstrap import Corrected, bootstrap_632, corrected, is_bootstrap
from scorespace.experiments.data import PREFIX
from scorespace.experiments.estimators import Given, by_highest
from scorespace.experiments.nested import Nested, nested_of_run
from scorespace.experiments.overfitting import Fit, fit_notes, fit_of
from scorespace.experiments.store import Run, open_run, positive_of
from scorespace.experiments.trial import usual_measure
from scorespace.frozen import dataclass
from scorespace.measures import MeasureSpec, parse, parse_list
from scorespace.measures.request import Request, bind
from scorespace.results import Note, Result, Row, decimals, grouped, note, plain
from scorespace.tables import Array
from scorespace.tables.pair import PairTable

TRUTH: Final = "truth"
FOLD: Final = "fold"
REPEAT: Final = "repeat"
CASE: Final = "row"
GROUP: Final = "group"


def predictions(
    run: Run,
    dataset: str,
    learners: Sequence[str] = (),
    *,
    positive: Any = None,
    part: str = "test",
    every_class: bool = False,
) -> Given:
    """The columns of what the learners of a run say of the same cases of a data set, and their roles.

    Splits that not all of them finished are left out for all, and told. Rows that belong together are drawn, and kept
    from choosing, together: those of a group, or, where cases were tested in several repeats, all answers on a case.
    Of two classes the positive one is scored, where it is known, unless `every_class` is asked for.
    """
    plan = run.of(dataset)
    names, idle = (tuple(learners), ()) if learners else answering(run, dataset)
    if not names:
        raise DataError(f"no learner has finished anything on {dataset} yet.", hint="scorespace benchmark status")
    found = {name: run.predictions(dataset, name, part=part) for name in names}
    found = {name: _kept(one, one[REPEAT] >= 0) for name, one in found.items()}
    keys = {name: _keys(one) for name, one in found.items()}
    shared = keys[names[0]]
    for name in names[1:]:
        shared = np.intersect1d(shared, keys[name], assume_unique=True)
    lost = [name for name in names if keys[name].size != max(one.size for one in keys.values())]
    found = {name: _kept(one, np.isin(keys[name], shared)) for name, one in found.items()}
    first = found[names[0]]
    if not shared.size:
        raise DataError(
            f"no split of {dataset} was finished by all of {listing(names)}.",
            hint="finish the run: the same benchmark again, with --retry where fits failed",
        )
    repeat, fold, splits = _numbered(first)
    columns: dict[str, Any] = {TRUTH: first[TRUTH]}
    roles: Row = {"truth": TRUTH}
    alone = splits > 1 and splits == repeat.size and not repeat.any()
    if splits > 1 and not alone:
        columns, roles = columns | {FOLD: fold}, roles | {"fold": FOLD}
    if repeat.any():
        columns |= {REPEAT: repeat, CASE: first[CASE]}
        roles |= {"repeat": REPEAT, "group": CASE}
    if GROUP in first:
        columns, roles = columns | {GROUP: first[GROUP]}, roles | {"group": GROUP}
    named = None if every_class else positive_of(plan, positive)
    for place, name in enumerate(names):
        column = f"answers {place}"  # engines take upper and lower case for the same, and models need not
        if plan.task == "numbers":
            columns[column] = found[name]["prediction"]
            roles.setdefault("predictions", {})[name] = column
        elif named is not None:
            columns[column] = found[name][f"{PREFIX}{named}"]
            roles.setdefault("scores", {})[name] = column
        else:
            by_class = {label: f"{column} of {k}" for k, label in enumerate(plan.classes)}
            columns |= {column: found[name][f"{PREFIX}{label}"] for label, column in by_class.items()}
            roles.setdefault("scores", {})[name] = by_class
    if named is not None:
        roles["positive"] = named
    notes = [_idle_note(name, dataset) for name in idle]
    if lost:
        told = f"{listing(lost)} did not finish every split of {dataset}"
        notes.append(note("SS073", f"{told}: all are judged on the splits that all finished."))
    if REPEAT in columns:
        cases, repeats = np.unique(first[CASE]).size, np.unique(first[REPEAT]).size
        told = f"{grouped(cases)} cases were tested in {grouped(repeats)} repeats ({run.resampling})"
        notes.append(note("SS016", f"{told}, and all answers on a case are drawn together."))
    if alone:
        told = f"every case was tested alone ({run.resampling}), so the answers of {grouped(splits)} fits are pooled"
        why = "one that only follows the shares of the classes ranks each case against its own class"
        notes.append(note("SS019", told + ("." if plan.task == "numbers" else f": {why}.")))
    return Given(columns, roles, tuple(notes), share_tested(run, dataset, names[0]))


def _numbered(columns: dict[str, Any]) -> tuple[Array, Array, int]:
    """Repeat and fold of each answer, and the number of splits; where repeats lost folds, each split is a repeat."""
    repeat, fold = (columns[name].astype(np.int64) for name in (REPEAT, FOLD))
    step = int(fold.max()) + 1
    splits, place = np.unique(repeat * step + fold, return_inverse=True)
    if np.unique(np.unique(splits // step, return_counts=True)[1]).size > 1:
        return place, np.zeros_like(fold), splits.size
    return repeat - repeat.min(), fold, splits.size


def _kept(columns: dict[str, Any], rows: Array) -> dict[str, Any]:
    return columns if rows.all() else {name: values[rows] for name, values in columns.items()}


def _keys(columns: dict[str, Any]) -> Array:
    """A number for each answer that says which case it is about, and in which split."""
    repeat, fold, row = (columns[name].astype(np.int64) for name in (REPEAT, FOLD, CASE))
    if not row.size:
        return row
    return (repeat * (fold.max() + 1) + fold) * (row.max() + 1) + row


def _idle_note(name: str, dataset: str) -> Note:
    return note("SS073", f"every fit of {name} on {dataset} failed, so it is left out.")


def answering(run: Run, dataset: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The learners of a run with an answer on a data set, and those of which every fit failed."""
    begun = [name for name in run.learners if run.files(dataset, name)]
    failed = {
        name for name in begun if all(len(job["errors"]) == len(job["splits"]) for job in run.about(dataset, name))
    }
    return tuple(name for name in begun if name not in failed), tuple(name for name in begun if name in failed)


def pairs_of(given: Given, *, every_class: bool = False) -> PairTable:
    """The cases of a data set with the answers of all learners; of `every_class`, also where one could be positive."""
    source = frames.read(given.columns)
    sample = frames.check(source, frames.roles(source, **given.roles))
    return replace(frames.pair(replace(sample, positive=None) if every_class else sample), ratio=given.ratio)


# --- data sets × learners


@dataclass(frozen=True)
class LearnerScore:
    """A learner on a data set: a measure over folds, and its values within them (repeats × folds).

    `training` are those on the training cases of each split, where the run kept them; `ratio` is that of test to
    training cases; `corrected` is the .632+ estimate of a bootstrap, in the units of the measure.
    """

    dataset: str
    over: OverFolds
    values: Array = field(repr=False, compare=False)
    training: Array | None = field(default=None, repr=False, compare=False)
    ratio: float = 0.0
    corrected: Corrected | None = None

    @property
    def fit(self) -> Fit | None:
        """Training beside test."""
        if self.training is None:
            return None
        return fit_of(self.over.model, self.over.spec.canonical, self.training, self.values, self.ratio)

    def row(self) -> Row:
        fit = {} if self.fit is None else {"training": self.fit.training}
        plus = {} if self.corrected is None else {"bootstrap_632_plus": self.corrected.value}
        both = {"bootstrap_632": self.plain_632, **plus} if plus else {}
        return {"dataset": self.dataset, **self.over.row(), **plain({**fit, **both})}

    @property
    def plain_632(self) -> float:
        """The .632 estimate, which trusts a learner by heart too much."""
        found = self.corrected
        return math.nan if found is None else bootstrap_632(found.training, found.left_out)


@dataclass(frozen=True)
class Benchmark(Result):
    """What a run says by one measure: mean and spread of every learner on every data set, differences, and ranks.

    `comparisons` are by data set, over its folds; `ranking` is over the data sets, of the means within each; `nested`
    are the learners that chose something on inner folds, with their data set.
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
    nested: tuple[tuple[str, Nested], ...] = ()

    def result(self, dataset: str, learner: str) -> LearnerScore | None:
        """A learner on a data set, where it has finished there."""
        return next((one for one in self.results if (one.dataset, one.over.model) == (dataset, learner)), None)

    def best(self, dataset: str) -> str | None:
        """The learner with the best mean on a data set."""
        known = [one.over for one in self.results if one.dataset == dataset and not math.isnan(one.over.mean)]
        if not known:
            return None
        chosen = max if self.spec.measure.best == "high" else min
        return chosen(known, key=lambda one: one.mean).model

    @property
    def words(self) -> str:
        """The answer in a few sentences."""
        if self.ranking is not None:
            return self.ranking.words
        if len(self.comparisons) == 1:
            return next(iter(self.comparisons.values())).words
        (first, *_) = self.results
        return f"{first.over!r}."

    def rows(self) -> list[Row]:
        """One row per data set and learner."""
        return [one.row() for one in self.results]

    def facts(self) -> Row:
        tests = [{"dataset": name, **row} for name, found in self.comparisons.items() for row in found.rows()]
        return {
            "data": {"run": self.name, "datasets": list(self.datasets), "learners": list(self.learners)},
            "resampling": self.resampling,
            "seed": self.seed,
            "measure": self.spec.canonical,
            "comparisons": tests,
            **({} if self.ranking is None else {"ranking": self.ranking.to_dict()}),
            "fits": [{"dataset": one.dataset, **one.fit.row()} for one in self.results if one.fit is not None],
            "inner": [{"dataset": name, **one.row()} for name, one in self.nested],
        }

    def __repr__(self) -> str:
        return "\n".join([*(f"{one.dataset}: {one.over!r}" for one in self.results), self.words])


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
    """Every learner of a run on every data set by one measure: means over folds, differences, and ranks over data sets.

    Differences on a data set are tested by Nadeau and Bengio's corrected t, with the sizes of the run's own splits;
    those over data sets as by `rank_models`, with its `test`, `control`, `alternative` and `adjust`.
    """
    opened = run if isinstance(run, Run) else open_run(run)
    sets, names = tuple(datasets) or opened.datasets, tuple(learners) or opened.learners
    for each in names:
        opened.files(opened.datasets[0], each)  # refuses an unknown name
    spec = _asked(opened, sets, measure, positive)
    notes: list[Note] = []
    results: list[LearnerScore] = []
    for dataset in sets:
        found, told = _results(opened, dataset, names, spec, positive)
        results += found
        notes += told
    if not results:
        raise MeasureError(
            f"{spec} suits no data set of the run.",
            seen=listing(sets),
            hint="a measure of what was predicted: auc of classes, mae of numbers",
        )
    how: dict[str, Any] = {"alternative": alternative, "adjust": adjust, "level": level}
    by_set = {name: [one for one in results if one.dataset == name] for name in sets}
    tested = {name: one for name, held in by_set.items() if (one := _compared(held, spec, **how)) is not None}
    ranking = _ranked(sets, names, results, spec, test=test, control=control, **how)
    for dataset in sets:
        fits = [one.fit for one in results if one.dataset == dataset and one.fit is not None]
        fitted = fit_notes(fits, spec.measure.best or "high")
        notes += [replace(one, text=f"{dataset}: {one.text}") if len(sets) > 1 else one for one in fitted]
    notes += [_bootstrap_note(one, len(sets) > 1) for one in results if one.corrected is not None]
    nested = _nested(opened, sets, names, positive)
    notes += [_nested_note(name, one, len(sets) > 1) for name, one in nested]
    undefined = sum(one.over.undefined for one in results)
    if undefined:
        many = grouped(sum(one.over.folds for one in results))
        notes.append(note("SS019", f"{spec} is undefined in {grouped(undefined)} of {many} folds, which are left out."))
    return Benchmark(
        opened.path.name,
        opened.resampling,
        opened.seed,
        spec,
        tuple(name for name in sets if any(one.dataset == name for one in results)),
        tuple(name for name in names if any(one.over.model == name for one in results)),
        tuple(results),
        tested,
        ranking,
        tuple(notes),
        level,
        nested,
    )


def _asked(run: Run, datasets: Sequence[str], measure: str | None, positive: Any) -> MeasureSpec:
    """The measure asked for, or the usual one of what the data sets have in common."""
    if measure is not None:
        specs = parse_list(measure)
        if len(specs) != 1:
            raise MeasureError("a benchmark is summed up by one measure.", seen=measure, hint='measure="auc"')
        spec = specs[0]
    else:
        plans = [run.of(name) for name in datasets]
        tasks = {plan.task for plan in plans}
        if len(tasks) > 1:
            raise MeasureError("the run predicts classes and numbers.", seen=listing(datasets), hint="dataset=…")
        known = [positive_of(plan, positive) for plan in plans]
        spec = parse(usual_measure(tasks.pop(), "all" if all(known) else None))
    if spec.measure.best is None:
        raise MeasureError(f"neither end of {spec} is best, so nothing can be ranked by it.", hint='measure="auc"')
    return spec


def _results(
    run: Run, dataset: str, learners: Sequence[str], spec: MeasureSpec, positive: Any
) -> tuple[list[LearnerScore], tuple[Note, ...]]:
    answered, failed = answering(run, dataset)
    done = [name for name in learners if name in answered]
    idle = tuple(_idle_note(name, dataset) for name in learners if name in failed)
    if not done:
        return [], (*idle, note("SS073", f"no learner has finished anything on {dataset}."))
    named = positive_of(run.of(dataset), positive)
    given, within = _within_folds(run, dataset, done, spec, positive, "test")
    if len(within) < len(done):
        return [], (*idle, *given.notes, note("SS073", f"{spec} does not suit {dataset}, which is left out."))
    trained = _within_folds(run, dataset, done, spec, positive, "train")[1] if run.train else {}
    ratio = share_tested(run, dataset, done[0])
    found = []
    for name, (pooled, values) in within.items():
        over = summed_up(name, spec, values, pooled)
        plus = corrected(run, dataset, name, over, values, named) if is_bootstrap(run) else None
        training = trained[name][1] if name in trained else None
        found.append(LearnerScore(dataset, over, values, training, ratio, plus))
    return found, (*idle, *(one for one in given.notes if one.code == "SS073"))


def _within_folds(
    run: Run, dataset: str, learners: Sequence[str], spec: MeasureSpec, positive: Any, part: str
) -> tuple[Given, dict[str, tuple[float, Array]]]:
    """The measure of each learner that it suits: of all cases, and within each fold (repeats × folds).

    Where cases are tested once or each alone, that of all stands for both.
    """
    whole = spec.of is not None or by_highest(spec)  # an average over all classes, or decisions by the highest score
    given = predictions(run, dataset, learners, positive=positive, part=part, every_class=whole)
    pairs = pairs_of(given, every_class=whole)
    found = {}
    for name, table in zip(pairs.models, pairs.tables, strict=True):
        request = _bound(spec, table, positive_of(run.of(dataset), positive))
        if request is not None:
            alone = pairs.fold is None
            found[name] = request.value, np.array([[request.value]]) if alone else by_fold(pairs, name, request)
    return given, found


def _bootstrap_note(one: LearnerScore, several: bool) -> Note:
    assert one.corrected is not None
    found, what = one.corrected, f"{one.over.model} on {one.dataset}" if several else one.over.model
    return note(
        "SS074",
        f"{one.over.spec} of {what} is {decimals(found.value)} by .632+ ({decimals(found.training)} on training cases, "
        f"{decimals(found.left_out)} on those left out, {decimals(found.chance)} by chance; .632 alone says "
        f"{decimals(one.plain_632)}).",
    )


def _nested(
    run: Run, datasets: Sequence[str], learners: Sequence[str], positive: Any
) -> tuple[tuple[str, Nested], ...]:
    """Inner beside outer scores of the learners that chose something inside their training cases."""
    found = ((name, nested_of_run(run, name, each, positive)) for name in datasets for each in learners)
    return tuple((name, one) for name, one in found if one is not None)


def _nested_note(dataset: str, one: Nested, several: bool) -> Note:
    return note("SS075", f"{dataset}: {one.words}" if several else one.words)


def study_notes(run: Run, dataset: str, learners: Sequence[str] = (), positive: Any = None) -> tuple[Note, ...]:
    """What a run says about how learners fit a data set, where it knows: over- and underfitting, choices, and .632+."""
    if not run.train and not is_bootstrap(run):
        found = _nested(run, [dataset], tuple(learners) or run.learners, positive)
        return tuple(_nested_note(*one, several=False) for one in found)
    whole = benchmark_summary(run, datasets=[dataset], learners=learners, positive=positive)
    return tuple(one for one in whole.notes if one.code in ("SS070", "SS071", "SS074", "SS075"))


def share_tested(run: Run, dataset: str, learner: str) -> float:
    """The ratio of test to training cases in the splits of a run."""
    splits = [split for job in run.about(dataset, learner) for split in job["splits"] if split[0] >= 0 and split[3]]
    return float(np.mean([split[3] / split[2] for split in splits])) if splits else 0.0


def _bound(spec: MeasureSpec, table: Any, positive: str | None) -> Request | None:
    """The measure on a table; of decisions, that of the positive class. None where it does not suit."""
    decided = positive is not None and spec.of is None and by_highest(spec)
    for each in (replace(spec, of=positive), spec) if decided else (spec,):
        try:
            return bind(each, table)
        except MeasureError:
            continue
    return None


def _compared(
    results: Iterable[LearnerScore], spec: MeasureSpec, *, alternative: Alternative, adjust: str | None, level: float
) -> Comparisons | None:
    """The learners on one data set in pairs, over the folds in which both have a value."""
    held = list(results)
    if len(held) < 2:
        return None
    found = []
    for a, b in combinations(held, 2):
        known = np.isfinite(a.values) & np.isfinite(b.values)
        names = (a.over.model, b.over.model)
        if known.sum() < 2:
            alone = "all cases are in one fold, which has no spread"
            reason = alone if known.size == 1 else "it is defined in fewer than two folds"
            found.append(Comparison(*names, "corrected t", spec.canonical, level=level, reason=reason))
            continue
        values = (one.values[known] for one in (a, b))
        asked: dict[str, Any] = {"measure": spec.canonical, "alternative": alternative, "level": level}
        found.append(corrected_t(*values, ratio=a.ratio, names=names, **asked))
    placed, method, notes = adjusted(found, "pairs", adjust or "holm")
    return Comparisons(tuple(one.over.model for one in held), tuple(placed), method, notes)


def _ranked(
    datasets: Sequence[str],
    learners: Sequence[str],
    results: Sequence[LearnerScore],
    spec: MeasureSpec,
    **how: Any,
) -> Ranking | None:
    """The learners over the data sets on which all of them have a mean; None for a single one."""
    means = {(one.dataset, one.over.model): one.over.mean for one in results}
    table = np.array([[means.get((name, each), math.nan) for each in learners] for name in datasets])
    table = table[np.isfinite(table).all(axis=1)]
    if len(table) < 2 or len(learners) < 2:
        return None
    return rank_models(table, learners, measure=str(spec), **how)

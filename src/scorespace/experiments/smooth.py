"""The published experiment on smooth ROC: two learners on many data sets, AUC beside smAUC over the folds.

What was published: over resamples of one learner smAUC varies less than AUC; and it tells learners further apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, field, replace
from itertools import combinations
from typing import Final

import numpy as np

from scorespace.comparisons.datasets import DatasetTest, dataset_table, sign_test
from scorespace.comparisons.folds import by_fold
from scorespace.errors import DataError
from scorespace.experiments.data import PREFIX
from scorespace.experiments.store import Run
from scorespace.frozen import dataclass
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.results import Result, Row, p_text, plain
from scorespace.tables import Array
from scorespace.tables.pair import pair_table

MEASURES: Final = ("auc", "smauc")


@dataclass(frozen=True)
class Cell:
    """A learner on a data set: mean and standard deviation of both areas over the folds in which they are defined."""

    dataset: str
    learner: str
    folds: int
    undefined: int
    auc: float
    auc_sd: float
    smauc: float
    smauc_sd: float


@dataclass(frozen=True)
class Finding:
    """A published claim, on how many data sets it holds here, and the sign test of it."""

    claim: str
    holds: int
    fails: int
    p: float

    @property
    def words(self) -> str:
        """The claim with what was found, in a sentence."""
        equal = "" if self.p == self.p else ", too few to test"
        return f"{self.claim}: on {self.holds} of {self.holds + self.fails} sets{equal} ({p_text(self.p)}, sign test)."


@dataclass(frozen=True, repr=False)
class SmoothReport(Result):
    """AUC beside smAUC for every data set and learner, and what became of the published claims."""

    cells: tuple[Cell, ...]
    findings: tuple[Finding, ...]
    title: str = field(default="26 UCI-style sets")

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.dataset for one in self.cells))

    @property
    def learners(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.learner for one in self.cells))

    def column(self, learner: str, name: str) -> Array:
        """One number of a learner over the data sets."""
        return np.array([getattr(one, name) for one in self.cells if one.learner == learner])

    @property
    def words(self) -> str:
        """The findings, a sentence each."""
        return "\n".join(one.words for one in self.findings)

    def rows(self) -> list[Row]:
        return [plain(asdict(one)) for one in self.cells]

    def facts(self) -> Row:
        return {"findings": [asdict(one) for one in self.findings]}


def smooth_report(run: Run) -> SmoothReport:
    """The report of a run: every data set with two classes and a positive one that all its learners finished."""
    usable = [name for name in run.datasets if len(run.of(name).classes) == 2 and run.of(name).positive]
    usable = [name for name in usable if all(run.files(name, one) for one in run.learners)]
    if not usable:
        raise DataError("no data set with two classes and a positive one is finished.", hint="benchmark status DIR")
    cells = tuple(_cell(run, name, one) for name in usable for one in run.learners)
    found = SmoothReport(cells, ())
    return replace(found, findings=tuple(_findings(found)))


def fold_values(run: Run, dataset: str, learner: str, measure: str) -> Array:
    """A measure of the positive class within each fold, as repeats × folds; NaN where it is undefined."""
    plan = run.of(dataset)
    told = run.predictions(dataset, learner, part="test")
    scores = told[f"{PREFIX}{plan.positive}"]
    found = []
    for repeat in np.unique(told["repeat"]):  # a repeat at a time: its scores alone make a small table
        own = told["repeat"] == repeat
        pairs = pair_table(told["truth"][own], {learner: scores[own]}, positive=plan.positive)
        pairs = replace(pairs, fold=told["fold"][own].astype(np.int32))
        found.append(by_fold(pairs, learner, bind(parse(measure), pairs.tables[0])))
    return np.concatenate(found)


def _cell(run: Run, dataset: str, learner: str) -> Cell:
    auc, smauc = (fold_values(run, dataset, learner, name) for name in MEASURES)
    known = ~np.isnan(auc) & ~np.isnan(smauc)
    numbers = [float(each) for one in (auc[known], smauc[known]) for each in (one.mean(), one.std(ddof=1))]
    return Cell(dataset, learner, auc.size, int((~known).sum()), *numbers)


def _findings(found: SmoothReport) -> Iterator[Finding]:
    """The claims: smAUC varies less within a learner, and tells learners further apart.

    An area that is drawn towards ½ varies less by that alone; so each claim is also asked of numbers without a
    scale: the spread for the distance from ½, and the difference in standard deviations.
    """
    for learner in found.learners:
        sds = [found.column(learner, f"{name}_sd") for name in MEASURES]
        above = [np.abs(found.column(learner, name) - 0.5) for name in MEASURES]
        less = f"smAUC of {learner} varies less over the folds than its AUC"
        yield _tested(less, sds[0], sds[1])
        yield _tested(f"{less}, for its distance from ½", sds[0] * above[1], sds[1] * above[0])
    for a, b in combinations(found.learners, 2):
        apart = [np.abs(found.column(a, name) - found.column(b, name)) for name in MEASURES]
        spread = [np.hypot(found.column(a, f"{name}_sd"), found.column(b, f"{name}_sd")) for name in MEASURES]
        more = f"smAUC tells {a} and {b} further apart than AUC"
        yield _tested(more, apart[1], apart[0])
        yield _tested(f"{more}, in standard deviations", apart[1] * spread[0], apart[0] * spread[1])


def _tested(claim: str, larger: Array, smaller: Array) -> Finding:
    test: DatasetTest = sign_test(dataset_table({"a": larger, "b": smaller}, best="high"))
    return Finding(claim, test.higher, test.lower, float(test.p))

"""Inner beside outer: what a choice inside the training cases promised there, and what it did on others."""

from __future__ import annotations

from typing import Any

import numpy as np

from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.experiments.bootstrap import answers_of
from scorespace.experiments.fit import fit_predict, inner_score
from scorespace.experiments.overfitting import Fit, fit_of
from scorespace.experiments.resampling import parse
from scorespace.experiments.store import Run, positive_of
from scorespace.experiments.trial import judge_of, measured, studied
from scorespace.frozen import dataclass
from scorespace.measures import parse as parse_measure
from scorespace.results import SCHEMA, ByValue, Row, decimals, plain
from scorespace.tables import Array


@dataclass(frozen=True, eq=False)
class Nested(ByValue):
    """What a search that chose inside the training cases promised (`inner`), and what its choice did on others."""

    model: str
    measure: str
    inner: Array
    outer: Array
    ratio: float

    @property
    def fit(self) -> Fit:
        """Inner as training, outer as test."""
        return fit_of(self.model, self.measure, self.inner, self.outer, self.ratio)

    @property
    def words(self) -> str:
        found = self.fit
        told = f"{self.measure} {decimals(found.training)} on the inner folds that chose"
        answer = f"{self.model} overfits its choice" if found.overfits else f"the choice of {self.model} holds"
        return f"{answer}: {told}, {decimals(found.test)} on others."

    def row(self) -> Row:
        """The means of both over the splits."""
        found = self.fit
        told = {"model": self.model, "measure": self.measure, "inner": found.training, "outer": found.test}
        return plain({**told, "splits": self.inner.size, "overfits": found.overfits})

    def to_dict(self) -> Row:
        both = {"inner": self.inner, "outer": self.outer}
        return {
            "schema": SCHEMA,
            **plain({"model": self.model, "measure": self.measure, **both}),
            "verdict": self.words,
        }

    def __repr__(self) -> str:
        return self.words


def nested_scores(
    learner: Any, data: Any, *, resampling: Any = "10", measure: str | None = None, positive: Any = None, seed: int = 0
) -> Nested:
    """The inner score of an estimator that chooses inside its training cases, beside the outer one on test cases.

    A search of scikit-learn has `best_score_`, `threshold_inside` and the learner `tree` have `inner_score_`. Both
    scores are of the measure that chose; a `measure` is stated only where that is none of ours.
    """
    fitting, cases = studied(learner, data)
    splits = [split for split in parse(resampling).splits(cases, seed) if split.test.size]
    said = [fit_predict(fitting, cases, split, seed) for split in splits]
    promised = [one for one in (inner_score(each.model) for each in said) if one is not None]
    if not promised:
        raise ScoreSpaceError(
            f"{fitting.name} chooses nothing inside its training cases.", hint="GridSearchCV, or threshold_inside"
        )
    chosen_by = promised[0].measure
    if measure is not None and chosen_by and parse_measure(measure).canonical != parse_measure(chosen_by).canonical:
        raise ScoreSpaceError(
            f"{fitting.name} chooses by {chosen_by}, and {measure} is asked for.", hint=f'measure="{chosen_by}"'
        )
    judge = judge_of(cases, measure or chosen_by or None, positive)
    # The score of a search whose measure is not known is one for which high is always good.
    sign = -1 if judge.best == "low" and not chosen_by else 1
    outer = [judge.value(split.test, one.test) for split, one in zip(splits, said, strict=True)]
    ratio = float(np.mean([split.test.size / split.train.size for split in splits]))
    inner = np.array([sign * one.value for one in promised])
    return Nested(fitting.name, str(judge.spec), inner, np.array(outer), ratio)


def nested_of_run(run: Run, dataset: str, learner: str, positive: Any = None) -> Nested | None:
    """The same of a learner of a run, which kept its inner scores, so that nothing is fitted again.

    None where it chose nothing, or by what is no measure of these answers.
    """
    chosen_by, inner = run.inner(dataset, learner)
    if not chosen_by:
        return None
    plan, spec = run.of(dataset), parse_measure(chosen_by)
    named = positive_of(plan, positive)
    said = answers_of(run, dataset, learner, "test")
    ratios = {(one[0], one[1]): one[3] / one[2] for job in run.about(dataset, learner) for one in job["splits"]}
    known = sorted(key for key in inner if key[0] >= 0)
    outer = []
    for repeat, fold in known:
        held = (said["repeat"] == repeat) & (said["fold"] == fold)
        try:
            outer.append(measured(plan, spec, named, said["truth"][held], said["answers"][held]))
        except MeasureError:
            return None
    if not known:
        return None
    promised, ratio = np.array([inner[key] for key in known]), float(np.mean([ratios[key] for key in known]))
    return Nested(learner, chosen_by, promised, np.array(outer), ratio)

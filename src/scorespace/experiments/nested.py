"""Nested cross-validation: inner scores that selected a model beside its outer scores on test cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.experiments.bootstrap import read_predictions
from scorespace.experiments.fit import fit_predict, inner_score
from scorespace.experiments.overfitting import Fit, assess_fit
from scorespace.experiments.resampling import parse_resampling
from scorespace.experiments.single_fit import make_split_scorer, measure_predictions, resolve_study
from scorespace.experiments.store import Run, resolve_positive
from scorespace.measures import parse as parse_measure
from scorespace.results import SCHEMA, ByValue, Row, decimals, to_json_types
from scorespace.tables import Array


@dataclass(frozen=True, eq=False)
class NestedScores(ByValue):
    """Inner scores of a search within the training cases, and outer scores of its choice on test cases."""

    model: str
    measure: str
    inner: Array
    outer: Array
    ratio: float

    @property
    def fit(self) -> Fit:
        """Inner scores as training, outer scores as test."""
        return assess_fit(self.model, self.measure, self.inner, self.outer, self.ratio)

    @property
    def words(self) -> str:
        fit = self.fit
        inner_text = f"{self.measure} {decimals(fit.training)} on the inner folds"
        conclusion = (
            f"the selection by {self.model} overfits"
            if fit.overfits
            else f"no sign that selection by {self.model} overfits"
        )
        return f"{conclusion}: {inner_text}, {decimals(fit.test)} on the outer test folds."

    def row(self) -> Row:
        """Means of inner and outer scores over the splits."""
        fit = self.fit
        means = {"model": self.model, "measure": self.measure, "inner": fit.training, "outer": fit.test}
        return to_json_types({**means, "splits": self.inner.size, "overfits": fit.overfits})

    def to_dict(self) -> Row:
        both = {"inner": self.inner, "outer": self.outer}
        return {
            "schema": SCHEMA,
            **to_json_types({"model": self.model, "measure": self.measure, **both}),
            "verdict": self.words,
        }

    def __repr__(self) -> str:
        return self.words


def nested_scores(
    learner: Any, data: Any, *, resampling: Any = "10", measure: str | None = None, positive: Any = None, seed: int = 0
) -> NestedScores:
    """Compare the inner score of an estimator that selects within its training cases with its outer score.

    Scikit-learn searches have `best_score_`; `threshold_inside` and the learner `tree` have `inner_score_`.

    Parameters
    ----------
    learner : str or estimator
        A name from the catalogue of learners, an estimator of scikit-learn, or a mapping of one name to it.
    data : Dataset or tuple of X and y
        The cases; see `dataset`.
    resampling : str or splitter
        A notation such as "10x10" or "logo:speaker", or a splitter of scikit-learn.
    measure : str, optional
        The selecting measure, for both scores; needed only if scorespace does not know it.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.
    seed : int
        Seed of all random draws; equal seeds give equal results.

    Returns
    -------
    NestedScores
        Inner and outer scores of each split.

    References
    ----------
    Cawley, G. C., & Talbot, N. L. C. (2010). On over-fitting in model selection and subsequent selection bias in
    performance evaluation. Journal of Machine Learning Research, 11, 2079-2107.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from scorespace.experiments.meta_estimators import threshold_inside
    >>> cases = [[0.1], [0.4], [0.6], [0.9]] * 10, [0, 0, 1, 1] * 10
    >>> nested_scores(threshold_inside(GaussianNB()), cases, resampling="5").outer.tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    fitting, cases = resolve_study(learner, data)
    splits = [split for split in parse_resampling(resampling).splits(cases, seed) if split.test.size]
    fits = [fit_predict(fitting, cases, split, seed) for split in splits]
    inner_scores = [score for score in (inner_score(fit.model) for fit in fits) if score is not None]
    if not inner_scores:
        raise ScoreSpaceError(
            f"{fitting.name} selects nothing within its training cases.", hint="GridSearchCV, or threshold_inside"
        )
    chosen_by = inner_scores[0].measure
    if measure is not None and chosen_by and parse_measure(measure).canonical != parse_measure(chosen_by).canonical:
        raise ScoreSpaceError(
            f"{fitting.name} selects by {chosen_by}, not by {measure}.", hint=f'measure="{chosen_by}"'
        )
    split_scorer = make_split_scorer(cases, measure or chosen_by or None, positive)
    # Scores of a search with an unknown measure are high for good.
    sign = -1 if split_scorer.best == "low" and not chosen_by else 1
    outer = [split_scorer.value(split.test, fit.test) for split, fit in zip(splits, fits, strict=True)]
    ratio = float(np.mean([split.test.size / split.train.size for split in splits]))
    inner = np.array([sign * score.value for score in inner_scores])
    return NestedScores(fitting.name, str(split_scorer.spec), inner, np.array(outer), ratio)


def nested_of_run(run: Run, dataset: str, learner: str, positive: Any = None) -> NestedScores | None:
    """Nested scores of a learner in a run, from its stored inner scores.

    None if it selects nothing, or by a measure that does not apply.
    """
    chosen_by, inner = run.inner(dataset, learner)
    if not chosen_by:
        return None
    plan, spec = run.of(dataset), parse_measure(chosen_by)
    positive_class = resolve_positive(plan, positive)
    predictions = read_predictions(run, dataset, learner, "test")
    ratios = {
        (split[0], split[1]): split[3] / split[2] for job in run.about(dataset, learner) for split in job["splits"]
    }
    known = sorted(key for key in inner if key[0] >= 0)
    outer = []
    for repeat, fold in known:
        in_split = (predictions["repeat"] == repeat) & (predictions["fold"] == fold)
        try:
            outer.append(
                measure_predictions(
                    plan, spec, positive_class, predictions["truth"][in_split], predictions["answers"][in_split]
                )
            )
        except MeasureError:
            return None
    if not known:
        return None
    inner_values, ratio = np.array([inner[key] for key in known]), float(np.mean([ratios[key] for key in known]))
    return NestedScores(learner, chosen_by, inner_values, np.array(outer), ratio)

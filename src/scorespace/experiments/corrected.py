"""The bootstrap of a run, corrected: training, left out and chance of each learner, and .632+ of them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

import numpy as np

from scorespace.comparisons.means import OverFolds
from scorespace.experiments.data import PREFIX
from scorespace.experiments.estimate import Corrected, bootstrap_632_plus, independent
from scorespace.experiments.store import Planned, Run
from scorespace.experiments.trial import table_of_answers
from scorespace.measures import MeasureSpec
from scorespace.measures.request import bind
from scorespace.tables import Array, residual_table

_ROUNDING: Final = 1e-9


def is_bootstrap(run: Run) -> bool:
    """Whether training cases were drawn with replacement, and one model was fitted to all of them."""
    return run.resampling.startswith("bootstrap:")


def corrected(
    run: Run, dataset: str, learner: str, over: OverFolds, values: Array, positive: str | None = None
) -> Corrected:
    """The .632+ estimate of a measure, in its own units; `values` are those within the samples, summed up in `over`.

    The measure of a mean over cases is that of the cases left out, each with the mean of its own answers; any other,
    such as an area, is averaged over the samples. One that is better when it is high enters by what it lacks.
    """
    plan, spec = run.of(dataset), over.spec
    whole = answers_of(run, dataset, learner, "train")
    fitted = whole["repeat"] < 0
    truth, said = whole["truth"][fitted], whole["answers"][fitted]
    training = measured(plan, spec, positive, truth, said)
    chance = measured(plan, spec, positive, *independent(truth, said))
    left_out = over.mean
    tested = answers_of(run, dataset, learner, "test")
    sizes = np.unique(tested["repeat"], return_counts=True)[1]
    if sizes.size == values.size and abs(sizes @ values.ravel() / sizes.sum() - over.pooled) < _ROUNDING:
        times = np.bincount(tested["row"])[tested["row"]]
        left_out = measured(plan, spec, positive, tested["truth"], tested["answers"], 1 / times)
    if spec.measure.best != "high":
        return bootstrap_632_plus(training, left_out, chance)
    top = spec.measure.range[1] if math.isfinite(spec.measure.range[1]) else 0.0
    found = bootstrap_632_plus(top - training, top - left_out, top - chance)
    return replace(found, training=training, left_out=left_out, chance=chance, value=top - found.value)


def answers_of(run: Run, dataset: str, learner: str, part: str) -> dict[str, Array]:
    """The predictions of a learner, with an array of its scores (rows, classes) or numbers (rows, 1)."""
    found = run.predictions(dataset, learner, part=part)
    names = [name for name in found if name == "prediction" or name.startswith(PREFIX)]
    return {**found, "answers": np.stack([found[name] for name in names], axis=-1)}


def measured(
    plan: Planned, spec: MeasureSpec, positive: str | None, truth: Any, said: Array, weight: Any = None
) -> float:
    """A measure of answers on the cases of a data set."""
    if plan.task == "numbers":
        return bind(spec, residual_table(truth, said[:, 0], weight=weight)).value
    return bind(spec, table_of_answers(spec, truth, said, plan.classes, positive, weight)).value

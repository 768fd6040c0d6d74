"""Public function that evaluates models where only some rows have a truth, with a proxy or with known selection."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scorespace import io
from scorespace.costs import Condition, CostMatrix
from scorespace.errors import MeasureError
from scorespace.evaluation.assemble import specs_of
from scorespace.evaluation.default_measures import applicable_specs, default_measures, under
from scorespace.inference.prediction_powered import ProxyEstimate, estimates_with_proxy, reason_not_smooth
from scorespace.io.partial_truth import read_partial_truth
from scorespace.measures import MeasureSpec
from scorespace.measures.request import bind, stated_threshold
from scorespace.profiles import find_profile
from scorespace.results import Note, Progress, Result, Row, count_noun, grouped, note
from scorespace.tables import Table
from scorespace.tables.partial_truth import MIN_VERIFIED, PartialTruth, selected_by_proxy

_GAIN_WORTH_NAMING = 1.05


@dataclass(frozen=True, repr=False)
class PartialTruthEvaluation(Result):
    """Measures of models on all rows, of which only some have a truth.

    Attributes
    ----------
    name : str
        Name of the data.
    size, labels : int
        Number of rows, and of rows with a truth.
    design : {"random", "probabilities", "strata"}
        How the rows with a truth were chosen.
    proxy : str or None
        Column of the proxy.
    positive : str or None
        The positive class.
    estimates : tuple of ProxyEstimate
        The measures of every model with their intervals.
    sample_notes : tuple of Note
        What the estimates assume, and what speaks against it.
    """

    name: str
    size: int
    labels: int
    design: str
    proxy: str | None
    positive: str | None
    estimates: tuple[ProxyEstimate, ...]
    sample_notes: tuple[Note, ...] = ()

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the estimates assume, and what is wrong with the rows."""
        return self.sample_notes

    def rows(self) -> list[Row]:
        """One row for each model and measure."""
        return [one.row() for one in self.estimates]

    def facts(self) -> Row:
        """Numbers of rows, and how those with a truth were chosen."""
        data = {"rows": self.size, "labels": self.labels, "design": self.design, "proxy": self.proxy}
        return {"data": data | {"positive": self.positive}}

    @property
    def words(self) -> str:
        """The first measure of each model, and what the proxy is worth."""
        firsts = {one.model: one for one in reversed(self.estimates)}
        return " ".join(map(self._words_of, reversed(firsts.values())))

    def _words_of(self, one: ProxyEstimate) -> str:
        text = f"{one.spec} of {one.model}: {one.text}"
        if self.proxy is None or math.isnan(one.worth):
            return f"{text}, from {count_noun(self.labels, 'row')} with a truth."
        labels = f"{count_noun(self.labels, 'row')} with a truth"
        if one.worth < _GAIN_WORTH_NAMING * self.labels:
            return f"{text}, from {labels}; the proxy {self.proxy} does not narrow it."
        return f"{text}; with the proxy {self.proxy}, {labels} are worth {grouped(round(one.worth))}."

    def __iter__(self) -> Any:
        return iter(self.estimates)


def evaluate_partial_truth(
    data: Any,
    *,
    truth: str | None = None,
    scores: Any = (),
    decisions: Any = (),
    predictions: Any = (),
    proxy: str | None = None,
    probability: str | None = None,
    verified_by: str | None = None,
    positive: Any = None,
    measures: str | Sequence[str] = (),
    at: float | None = None,
    condition: Condition | CostMatrix | None = None,
    where: str | None = None,
    names: Mapping[str, str] | None = None,
    missing: str = "error",
    profile: str | None = None,
    full: bool = False,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> PartialTruthEvaluation:
    """Evaluate models where only some rows have a truth, with a proxy of the truth for all, or with known selection.

    Parameters
    ----------
    data : path, data frame, or mapping of arrays
        The data; the truth may have gaps.
    truth : str
        Column of the ground truth.
    scores, decisions, predictions : str, sequence of str, or mapping of name to column
        Columns of scores, of class decisions, and of predicted values in regression, one per model.
    proxy : str, optional
        Column with a label, or the probability of the positive class, for all rows: a judge, an earlier label, a model.
    probability : str, optional
        Column with the probability with which each row was chosen to have its truth found; by default all are alike.
    verified_by : str, optional
        Column that decided which rows were verified, such as the test result; weights are estimated by its values.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.
    measures : str or sequence of str, optional
        Which measures; all must be smooth in the weights of the cases, such as "auc, tpr@0.5, cost(fp=1, fn=9)@0.1".
    at : float, optional
        Threshold of measures that state none; 0.5 for probabilities.
    condition : Condition or CostMatrix, optional
        Costs and prevalence where the models are used.
    where : str, optional
        Condition on the rows in use.
    names : mapping of str to str, optional
        Names of models by column.
    missing : {"error", "drop"}
        What to do with rows without a score or a proxy.
    profile : str, optional
        Default measures of a profession.
    full : bool
        Whether to show all usual measures.
    level : float
        Confidence level.
    seed : int
        Seed of the bootstrap.
    progress : callable, optional
        Called with the share of the work that is done.

    Returns
    -------
    PartialTruthEvaluation
        Measures with intervals about all rows, and the number of rows with a truth that they are worth.

    See Also
    --------
    rows_to_label

    References
    ----------
    Angelopoulos, A. N., Duchi, J. C., & Zrnic, T. (2023). PPI++: Efficient prediction-powered inference.
    arXiv:2311.01453.

    Begg, C. B., & Greenes, R. A. (1983). Assessment of diagnostic tests when disease verification is subject to
    selection bias. Biometrics, 39(1), 207-215.

    Examples
    --------
    >>> truth = [k % 2 if k < 60 else None for k in range(400)]
    >>> rows = {"y": truth, "judge": [k % 2 for k in range(400)], "d": [k % 3 % 2 for k in range(400)]}
    >>> found = evaluate_partial_truth(rows, truth="y", decisions="d", proxy="judge", positive=1, measures="acc")
    >>> found.labels, round(found.estimates[0].value, 2)
    (60, 0.5)
    """
    chosen_profile, requested = find_profile(profile), specs_of(measures)
    source = io.read(data) if where is None else io.read(io.FilteredData(io.read(data), where))
    columns: dict[str, Any] = {"scores": scores, "decisions": decisions, "predictions": predictions}
    columns |= {"proxy": proxy, "probability": probability, "verified_by": verified_by}
    sample, name, notes = read_partial_truth(
        source, truth=truth, positive=positive, names=names, missing=missing, **columns
    )
    wanted: dict[str, list[MeasureSpec]] = {}
    for model, table in zip(sample.cases.models, sample.cases.tables, strict=True):
        threshold = stated_threshold(requested) if at is None else at
        threshold = 0.5 if threshold is None and table.thresholded and table.probabilities else threshold
        if requested:
            wanted[model] = applicable_specs(requested, table, threshold, condition)
        else:
            defaults = default_measures(table, threshold, chosen_profile, full or chosen_profile.full)
            wanted[model] = [spec for spec in (under(one, table, condition) for one in defaults) if _fits(spec, table)]
    for spec in requested:
        if not any(spec.name == one.name for specs in wanted.values() for one in specs):
            bind(spec, sample.cases.tables[0])  # raises the error that says why
    if not any(wanted.values()):
        raise MeasureError("no measure can be estimated.", hint='measures="auc, tpr@0.5"')
    found = estimates_with_proxy(sample, wanted, level=level, seed=seed, progress=progress)
    every = (*notes, *_notes(sample, proxy, verified_by))
    positive_name = sample.cases.tables[0].positive_name
    counts = sample.rows, sample.truths, sample.design
    return PartialTruthEvaluation(name, *counts, proxy, positive_name, tuple(found), every)


def _fits(spec: MeasureSpec, table: Table) -> bool:
    """Whether a default measure can be computed and is smooth in the weights."""
    needs_threshold = table.thresholded and spec.at is None and spec.measure.table.counts_outcomes
    return not needs_threshold and reason_not_smooth(bind(spec, table)) is None


def _notes(sample: PartialTruth, proxy: str | None, verified_by: str | None) -> list[Note]:
    """What the estimates assume, and what speaks against it."""
    chosen = {
        "random": "The rows with a truth were chosen at random",
        "probabilities": "The rows with a truth were chosen with the stated probabilities",
        "strata": f"Within each value of {verified_by}, who has a truth does not depend on the truth",
    }[sample.design]
    wrong = "; the proxy may be wrong in any way, and can at worst fail to help" if proxy else ""
    found = [note("SS190", f"Assumed: {chosen[0].lower() + chosen[1:]}{wrong}.")]
    selection = selected_by_proxy(sample)
    if selection is not None:
        means = f"mean {selection.labelled:.3g} with a truth, {selection.others:.3g} without"
        found.append(
            note(
                "SS191",
                f"The proxy differs between rows with and without a truth ({means}; {abs(selection.z):.1f} standard "
                "errors): these rows were not chosen at random, so the estimates are biased. State how they were "
                "chosen: --probability COL or --verified-by COL.",
            )
        )
    fewest = sample.fewest_verified()
    if fewest is not None and fewest[0] < MIN_VERIFIED:
        count, stratum, label = fewest
        found.append(
            note(
                "SS192",
                f"Of the rows with a truth and {verified_by} = {stratum}, only {grouped(count)} "
                f"{'is' if count == 1 else 'are'} {label}: intervals are unreliable below {MIN_VERIFIED}.",
            )
        )
    return found + (_proxy_notes(sample, proxy) if proxy else [])


def _proxy_notes(sample: PartialTruth, proxy: str | None) -> list[Note]:
    """Notes on a proxy that cannot help, or that looks like a copy of the truth."""
    if sample.truths == sample.rows:
        return [note("SS193", f"Every row has a truth, so the proxy {proxy} is not needed.")]
    n, values = sample.truths, sample.proxy_values
    if values is None or sample.numeric:
        return []
    agrees = values[sample.row[:n], sample.cases.code[:n].astype(np.intp)] == 1
    if not agrees.all():
        return []
    return [note("SS193", f"The proxy {proxy} equals the truth in all {grouped(n)} rows with a truth: is it a copy?")]

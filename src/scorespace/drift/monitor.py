"""Sequential monitoring of batches against a baseline with e-values, valid at any stopping time.

Each batch is compared with all earlier cases, baseline and earlier batches, by the permutation tests of `drift`. If
nothing changes and cases are independent, every division into batches is equally likely, so the p-values with
randomised ties are independent and uniform; those used are at least as large, which keeps the bound. (Comparing with
the baseline alone would make p-values dependent: every batch differs from an unusual baseline.)

The calibrator f(p) = 1 / (2 √p) has mean at most 1 and turns each p-value into an e-value. The evidence for a change
since batch j is the product of e-values from j on, averaged over j with weights 1 / (j (j + 1)). By Ville's
inequality it ever reaches c with probability at most 1 / c, however often one looks (Vovk and Wang 2021). Each
hypothesis (scores, prevalence, …) gets a share of the total weight, and there is an alarm if the weighted evidence of
one reaches 20, a false alarm probability of at most 5 % over all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from scipy.special import stdtrit

from scorespace.drift import permutation
from scorespace.drift.permutation import Permutations, has_frequency_weights, pooled
from scorespace.drift.result import SIGNIFICANCE_LEVEL, TITLES, refuse_new_labels
from scorespace.errors import DataError, WeightError, listing
from scorespace.inference.any_look import ANY_LOOK, share_limits
from scorespace.inference.estimate import estimate
from scorespace.inference.proportion import wilson
from scorespace.measures import parse
from scorespace.results import Note, Progress, Result, Row, join_words, short, to_json_types
from scorespace.tables import Array, ScoreTable

REPLICATES: Final = 1000
ROWS: Final = 200
"""Distinct scores kept in permutation tests; neighbouring scores are merged."""

ALARM: Final = 1 / SIGNIFICANCE_LEVEL
_SCORE_WEIGHT: Final = 0.5
"""Weight of the score hypotheses, which need no truth; the rest is shared by those that do."""

_LABELLED_HYPOTHESES: Final = ("prevalence", "within", "meaning", "auc")

BATCH_QUANTITIES: Final = {"prevalence": "share of positives", "auc": "AUC", "mean": "mean score"}
"""Quantities shown for each sample, by name."""


class BatchEstimate(NamedTuple):
    """A quantity of a sample with its 95 % confidence interval."""

    value: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class MonitoredBatch:
    """A batch: its name, cases, positives if known, and p-values by model and hypothesis.

    `seen` holds its estimates by model and name: mean score, and with truth AUC and prevalence. `so_far` holds the
    latter two over all batches up to this one, with intervals that hold at every look.
    """

    name: str
    cases: int
    positives: int | None
    p: Mapping[tuple[str, str], float]
    seen: Mapping[tuple[str, str], BatchEstimate] = field(default_factory=dict)
    so_far: Mapping[tuple[str, str], BatchEstimate] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Monitoring(Result):
    """Result of monitoring: evidence of change batch by batch, and the alarm.

    `seen` holds the estimates of the baseline; `sample_notes` are notes from reading the samples.
    """

    before: str
    cases: int
    positive: str
    models: tuple[str, ...]
    batches: tuple[MonitoredBatch, ...]
    seen: Mapping[tuple[str, str], BatchEstimate] = field(default_factory=dict)
    sample_notes: tuple[Note, ...] = field(default=())

    @property
    def evidence(self) -> Array:
        """Largest weighted evidence of any hypothesis after each batch; the alarm is at 20."""
        return np.max(list(self.evidence_path.values()), axis=0)

    @cached_property
    def evidence_path(self) -> dict[tuple[str, str], Array]:
        """Weighted evidence of each hypothesis after each batch."""
        return {
            key: share * accumulate_evidence([batch.p.get(key, math.nan) for batch in self.batches])
            for key, share in self._shares.items()
        }

    @property
    def _shares(self) -> dict[tuple[str, str], float]:
        """Weights of the hypotheses: half for scores, half for those that need the truth."""
        truths = [("", "prevalence"), *((model, name) for model in self.models for name in _LABELLED_HYPOTHESES[1:])]
        scores = [(model, "scores") for model in self.models]
        half = 1 - _SCORE_WEIGHT
        return {key: half / len(truths) for key in truths} | {key: _SCORE_WEIGHT / len(scores) for key in scores}

    @property
    def alarm(self) -> int | None:
        """Index of the first batch at which the evidence reached the bound; None if never."""
        reached = np.flatnonzero(self.evidence >= ALARM)
        return int(reached[0]) if reached.size else None

    @property
    def moved(self) -> tuple[str, ...]:
        """Hypotheses whose unweighted evidence reached the bound at the alarm, strongest first."""
        if self.alarm is None:
            return ()
        evidence_at_alarm = self.alone(self.alarm)
        ordered = sorted(
            (key for key in evidence_at_alarm if evidence_at_alarm[key] >= ALARM),
            key=lambda key: -evidence_at_alarm[key],
        )
        return tuple(map(self.title, ordered))

    def alone(self, place: int = -1) -> dict[tuple[str, str], float]:
        """Unweighted evidence of each hypothesis after a batch."""
        return {key: float(values[place]) / self._shares[key] for key, values in self.evidence_path.items()}

    def title(self, key: tuple[str, str]) -> str:
        """Name of a hypothesis, with the model if there are several."""
        model, name = key
        label = {"scores": "scores", "auc": "AUC"}.get(name, TITLES[name])
        return f"{label} of {model}" if model and len(self.models) > 1 else label

    @property
    def began(self) -> int | None:
        """Most likely first batch of the change, by the product of e-values up to the alarm."""
        if self.alarm is None:
            return None
        key, _ = max(self.evidence_path.items(), key=lambda pair: float(pair[1][self.alarm or 0]))
        factors = e_value([batch.p.get(key, math.nan) for batch in self.batches[: self.alarm + 1]])
        return int(np.argmax(np.cumprod(factors[::-1])[::-1]))

    @property
    def words(self) -> str:
        """The result in a few sentences: alarm, what changed and since when."""
        n_batches = len(self.batches)
        if self.alarm is None or self.began is None:
            last = float(self.evidence[-1])
            return (
                f"No alarm in {n_batches} batch{'es' * (n_batches != 1)}: evidence of change since "
                f"{self.before} is {evidence_text(last)} (alarm at {ALARM:g})."
            )
        at, since = self.batches[self.alarm].name, self.batches[self.began].name
        onset_text = "" if at == since else f"; the change most likely began at {since}"
        return (
            f"Alarm at {at}, batch {self.alarm + 1} of {n_batches}: {join_words(self.moved)} changed{onset_text}. The "
            f"evidence reached {evidence_text(float(self.evidence[self.alarm]))}; the probability of any false alarm "
            f"is at most {100 * SIGNIFICANCE_LEVEL:g} % over all batches, however many."
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        return self.sample_notes

    def rows(self) -> list[Row]:
        """One row per batch: accumulated evidence, p-values against all earlier cases, and estimates."""
        rows = []
        for index, (batch, evidence) in enumerate(zip(self.batches, self.evidence.tolist(), strict=True)):
            row = {"batch": batch.name, "cases": batch.cases, "positives": batch.positives, "evidence": evidence}
            alarm = self.alarm is not None and index >= self.alarm
            p_values = {f"p_{name}{self._of(model)}": batch.p.get((model, name)) for model, name in self._shares}
            estimates = {
                f"{name}{since}{end}{self._of(model)}": getattr(number, end.strip("_") or "value")
                for since, known in (("", batch.seen), ("_so_far", batch.so_far))
                for (model, name), number in known.items()
                for end in ("", "_low", "_high")
            }
            rows.append(to_json_types({**row, "alarm": alarm, **p_values, **estimates}))
        return rows

    def _of(self, model: str) -> str:
        return f"[{model}]" if len(self.models) > 1 and model else ""

    def facts(self) -> Row:
        at = None if self.alarm is None else self.batches[self.alarm].name
        since = None if self.began is None else self.batches[self.began].name
        data = {"before": self.cases, "batches": len(self.batches), "positive": self.positive}
        return {"data": data, "bound": ALARM, "alarm": at, "began": since, "moved": self.moved}


def e_value(p: Sequence[float] | Array) -> Array:
    """Calibrator 1 / (2 √p) from p-value to e-value, with mean 1 under the null; NaN gives 1.

    >>> e_value([0.0001, 0.01, 0.25, 1.0, math.nan])
    array([50. ,  5. ,  1. ,  0.5,  1. ])
    """
    given = np.asarray(p, dtype=np.float64)
    return np.where(np.isnan(given), 1.0, 0.5 / np.sqrt(np.where(np.isnan(given), 1.0, given)))


def evidence_text(value: float) -> str:
    """Format evidence with three significant digits.

    >>> evidence_text(4.2), evidence_text(1013.7), evidence_text(2.5e12)
    ('4.2', '1 010', '2.5e+12')
    """
    text = f"{value:.3g}"
    return short(float(text)) if 1000 <= value < 1e9 else text


def accumulate_evidence(p: Sequence[float]) -> Array:
    """Evidence after each batch: Σ_j 1 / (j (j + 1)) · ∏ f(p) from j on, with factor 1 for later j.

    Recursion S ← f(p) · (S + 1 / (j (j + 1))), plus the weight 1 / (j + 1) of later beginnings.

    >>> accumulate_evidence([0.0001, 0.0001, 0.25]).round(1)
    array([  25.5, 1258.7, 1258.7])
    """
    evidence_after = np.empty(len(p))
    started = 0.0
    for index, multiplier in enumerate(e_value(p).tolist()):
        started = multiplier * (started + 1 / ((index + 1) * (index + 2)))
        evidence_after[index] = started + 1 / (index + 2)
    return evidence_after


def monitor(
    before: Mapping[str, ScoreTable],
    batches: Mapping[str, Mapping[str, ScoreTable]],
    *,
    unlabelled: Sequence[str] = (),
    name: str = "the baseline",
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Monitoring:
    """Compare batches in their order with all earlier cases; of the `unlabelled` only scores are known.

    >>> from scorespace.tables import score_table
    >>> day = score_table([1, 0] * 30, [k % 7 / 7 for k in range(60)])
    >>> monitor({"nb": day}, {"monday": {"nb": day}, "tuesday": {"nb": day}}).alarm is None
    True
    """
    _check_batches(before, batches)
    if replicates < 1:
        raise DataError(f"replicates={replicates} cannot show a change.", hint="use at least 1")
    labelled_before, all_before = dict(before), dict(before)  # earlier labelled cases, and all earlier cases
    since_first: dict[str, ScoreTable] = {}  # labelled cases of the batches so far
    results = []
    for index, (batch, tables) in enumerate(batches.items()):
        labelled = batch not in unlabelled
        stream = int(np.random.SeedSequence([seed, index]).generate_state(1)[0])
        permutations = Permutations(replicates, stream)
        p: dict[tuple[str, str], float] = {}
        for model, table in tables.items():
            p[model, "scores"] = permutation.score_test(pooled(all_before[model], table, ROWS), permutations).p
            if labelled:
                p |= _labelled_p_values(model, labelled_before[model], table, permutations)
                labelled_before[model] = labelled_before[model] + table
                since_first[model] = since_first[model] + table if model in since_first else table
            all_before[model] = all_before[model] + table
        first = next(iter(tables.values()))
        positives = int(first.n_pos) if labelled else None
        shown = _batch_estimates(tables, labelled), _estimates_so_far(since_first)
        results.append(MonitoredBatch(batch, int(first.total), positives, p, *shown))
        if progress is not None:
            progress((index + 1) / len(batches))
    table = next(iter(before.values()))
    positive = table.classes[table.positive]
    return Monitoring(
        name, int(table.total), positive, tuple(before), tuple(results), _batch_estimates(before, labelled=True)
    )


def _batch_estimates(tables: Mapping[str, ScoreTable], labelled: bool) -> dict[tuple[str, str], BatchEstimate]:
    """Estimates of a sample; without truth, only mean scores."""
    results: dict[tuple[str, str], BatchEstimate] = {}
    for model, table in tables.items():
        if labelled:
            positives, cases = float(table.n_pos), float(table.total)
            share = positives / cases if cases else math.nan
            results["", "prevalence"] = BatchEstimate(share, *wilson(positives, cases))  # the same for every model
            auc_estimate = estimate(parse("auc"), table)
            results[model, "auc"] = BatchEstimate(auc_estimate.value, auc_estimate.low, auc_estimate.high)
        results[model, "mean"] = _estimate_mean_score(table)
    return results


def _estimates_so_far(tables: Mapping[str, ScoreTable]) -> dict[tuple[str, str], BatchEstimate]:
    """Prevalence and AUC of all labelled batches so far, with intervals that hold at every look."""
    results: dict[tuple[str, str], BatchEstimate] = {}
    for model, table in tables.items():
        positives, negatives = float(table.n_pos), float(table.n_neg)
        if not results:
            share = positives / (positives + negatives) if positives + negatives else math.nan
            results["", "prevalence"] = BatchEstimate(share, *share_limits(positives, negatives))
        area = estimate(parse("auc"), table, method=ANY_LOOK)
        results[model, "auc"] = BatchEstimate(area.value, area.low, area.high)
    return results


def _estimate_mean_score(table: ScoreTable) -> BatchEstimate:
    """Mean score with Student's t interval."""
    counts = table.counts.sum(axis=-2, dtype=np.float64)
    cases = float(counts.sum())
    if not cases:
        return BatchEstimate(math.nan)
    mean = float(counts @ table.score) / cases
    if cases < 2:
        return BatchEstimate(mean)
    error = math.sqrt(float(counts @ (table.score - mean) ** 2) / (cases - 1) / cases)
    margin = float(stdtrit(cases - 1, 0.975)) * error
    return BatchEstimate(mean, mean - margin, mean + margin)


def _labelled_p_values(
    model: str, before: ScoreTable, batch: ScoreTable, permutations: Permutations
) -> dict[tuple[str, str], float]:
    """p-values of the hypotheses that need the truth."""
    samples = pooled(before, batch, ROWS)
    names = ("within", "auc") if samples.classes_shared else ("within",)
    outcomes = permutation.within_tests(samples, names, permutations)
    p_values = {("", "prevalence"): permutation.prevalence_test(samples, permutations).p}  # the same for every model
    p_values |= {(model, name): outcome.p for name, outcome in outcomes.items()}
    return p_values | {(model, "meaning"): permutation.meaning_test(samples, permutations).p}


def _check_batches(before: Mapping[str, ScoreTable], batches: Mapping[str, Mapping[str, ScoreTable]]) -> None:
    if not batches:
        raise DataError("there are no batches to compare.", hint="give at least one later sample")
    for name, tables in batches.items():
        if set(tables) != set(before):
            raise DataError(
                "all batches need scores of the same models.",
                seen=f"{listing(before)} before and {listing(tables)} in {name}",
                hint="use the same model names in all batches",
            )
        for model in before:
            refuse_new_labels(before[model], tables[model], name)
    for tables in (before, *batches.values()):
        if not all(has_frequency_weights(table) for table in tables.values()):
            raise WeightError(
                "monitoring compares individual cases, but the weights are not integers.",
                hint="use integer frequency weights, or none",
            )

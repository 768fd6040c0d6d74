"""Batches over time against a baseline: an alarm when something moved, and hardly ever one when nothing did.

Each batch is compared with all cases before it, those of the baseline and of the earlier batches, by the permutation
tests of `drift`. If nothing ever moves and cases are independent, any division of them into batches is as likely as any
other. So each p-value is at least as large as a uniform number, the one in which ties are broken by lot, and these are
independent of each other, however many scores are tied and however small the baseline is. What is won by larger
p-values is less, so the bound holds. (Compared with the baseline alone they would depend on it: if that is unusual
by chance, every batch differs from it.)

A bet on small p-values turns each of them into a factor f(p) = 1 / (2 √p), whose mean is at most 1. The evidence that
something moved since batch j is the product of the factors from there on; over all j it is added up with weights
1 / (j (j + 1)), since nobody knows when it will begin. By Ville's inequality the chance that this ever reaches c is at
most 1 / c, whenever and however often one looks. Each question (scores, share of positives, …) bets a share of the
whole, and there is an alarm where the evidence of one, times its share, reaches 20: a chance of at most 1 / 20 for all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from scorespace.errors import DataError, WeightError, listing
from scorespace.frozen import dataclass
from scorespace.measures import parse
from scorespace.resampling.estimate import estimate
from scorespace.resampling.limits import wilson
from scorespace.results import Note, Progress, Result, Row, joined, plain, short
from scorespace.samples import permuted
from scorespace.samples.moved import LIKELY, TITLES, refuse_new_labels
from scorespace.samples.permuted import Permutations, copied, pooled
from scorespace.special import stdtrit
from scorespace.tables import Array, ScoreTable

REPLICATES: Final = 1000
ROWS: Final = 200
"""Rows that scores are merged to before cases are dealt out: batches are small."""

ALARM: Final = 1 / LIKELY
_OF_SCORES: Final = 0.5
"""The share of all bets on the scores, which are known at once; the other half is for what needs truths."""

_OF_TRUTH: Final = ("prevalence", "within", "meaning", "auc")

NUMBERS: Final = {"prevalence": "share of positives", "auc": "AUC", "mean": "mean score"}
"""What is told of each sample besides, by name."""


class Seen(NamedTuple):
    """A number of a sample with its interval at 95 %."""

    value: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class Batch:
    """A batch: its name and cases, how many are positive where that is known, and p of every question by model.

    `seen` are its own numbers, by model and name: the mean score, and with truths the AUC and the share of positives.
    """

    name: str
    cases: int
    positives: int | None
    p: Mapping[tuple[str, str], float]
    seen: Mapping[tuple[str, str], Seen] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Monitoring(Result):
    """What a sequence of batches says: the evidence that something moved, batch by batch, and the alarm.

    `seen` are the numbers of the sample before; `sample_notes` were found when the samples were read.
    """

    before: str
    cases: int
    positive: str
    models: tuple[str, ...]
    batches: tuple[Batch, ...]
    seen: Mapping[tuple[str, str], Seen] = field(default_factory=dict)
    sample_notes: tuple[Note, ...] = field(default=())

    @property
    def evidence(self) -> Array:
        """How strongly the batches up to each one speak for a change, by the strongest question; the alarm is at 20."""
        return np.max(list(self.grown.values()), axis=0)

    @cached_property
    def grown(self) -> dict[tuple[str, str], Array]:
        """The evidence of each question, times its share of the bets."""
        return {
            key: share * evidence([one.p.get(key, math.nan) for one in self.batches])
            for key, share in self._shares.items()
        }

    @property
    def _shares(self) -> dict[tuple[str, str], float]:
        """How the bets are divided: one half among models for their scores, one among what needs truths."""
        truths = [("", "prevalence"), *((model, name) for model in self.models for name in _OF_TRUTH[1:])]
        scores = [(model, "scores") for model in self.models]
        half = 1 - _OF_SCORES
        return {key: half / len(truths) for key in truths} | {key: _OF_SCORES / len(scores) for key in scores}

    @property
    def alarm(self) -> int | None:
        """The number of the batch, from 0, at which the evidence first reached the bound; None where it never did."""
        reached = np.flatnonzero(self.evidence >= ALARM)
        return int(reached[0]) if reached.size else None

    @property
    def moved(self) -> tuple[str, ...]:
        """What moved: the questions whose own evidence, without its share, reached the bound at the alarm."""
        if self.alarm is None:
            return ()
        grown = self.alone(self.alarm)
        ordered = sorted((key for key in grown if grown[key] >= ALARM), key=lambda key: -grown[key])
        return tuple(map(self.title, ordered))

    def alone(self, place: int = -1) -> dict[tuple[str, str], float]:
        """The evidence of each question after a batch, as if it were the only one asked."""
        return {key: float(of[place]) / self._shares[key] for key, of in self.grown.items()}

    def title(self, key: tuple[str, str]) -> str:
        """A question by its name, with the model where there are several."""
        model, name = key
        told = {"scores": "scores", "auc": "AUC"}.get(name, TITLES[name])
        return f"{told} of {model}" if model and len(self.models) > 1 else told

    @property
    def began(self) -> int | None:
        """From which batch on, up to the alarm, the factors of the strongest question speak most for a change."""
        if self.alarm is None:
            return None
        key, _ = max(self.grown.items(), key=lambda pair: float(pair[1][self.alarm or 0]))
        factors = factor([one.p.get(key, math.nan) for one in self.batches[: self.alarm + 1]])
        return int(np.argmax(np.cumprod(factors[::-1])[::-1]))

    @property
    def words(self) -> str:
        """Whether something moved, since when and in what; else what that is worth."""
        number = len(self.batches)
        if self.alarm is None or self.began is None:
            last = float(self.evidence[-1])
            return (
                f"No alarm in {number} batch{'es' * (number != 1)}: the evidence that something moved since "
                f"{self.before} is {evidence_text(last)}, and the alarm is at {ALARM:g}."
            )
        at, since = self.batches[self.alarm].name, self.batches[self.began].name
        seen = "" if at == since else f"; it speaks most for a change from {since} on"
        return (
            f"Alarm at {at}, batch {self.alarm + 1} of {number}: {joined(self.moved)} moved{seen}. The evidence "
            f"reached {evidence_text(float(self.evidence[self.alarm]))}; without a change that is a chance of at most "
            f"{100 * LIKELY:g} % over all batches, however many there are."
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        return self.sample_notes

    def rows(self) -> list[Row]:
        """A row for each batch: the evidence so far, p of every question beside all cases before, and its numbers."""
        found = []
        for place, (one, evidence) in enumerate(zip(self.batches, self.evidence.tolist(), strict=True)):
            row = {"batch": one.name, "cases": one.cases, "positives": one.positives, "evidence": evidence}
            alarm = self.alarm is not None and place >= self.alarm
            named = {f"p_{name}{self._of(model)}": one.p.get((model, name)) for model, name in self._shares}
            seen = {
                f"{name}{end}{self._of(model)}": getattr(number, end.strip("_") or "value")
                for (model, name), number in one.seen.items()
                for end in ("", "_low", "_high")
            }
            found.append(plain({**row, "alarm": alarm, **named, **seen}))
        return found

    def _of(self, model: str) -> str:
        return f"[{model}]" if len(self.models) > 1 and model else ""

    def facts(self) -> Row:
        at = None if self.alarm is None else self.batches[self.alarm].name
        since = None if self.began is None else self.batches[self.began].name
        data = {"before": self.cases, "batches": len(self.batches), "positive": self.positive}
        return {"data": data, "bound": ALARM, "alarm": at, "began": since, "moved": self.moved}


def factor(p: Sequence[float] | Array) -> Array:
    """What a bet against p being by chance pays: 1 / (2 √p), whose mean is 1; NaN bets nothing.

    >>> factor([0.0001, 0.01, 0.25, 1.0, math.nan])
    array([50. ,  5. ,  1. ,  0.5,  1. ])
    """
    given = np.asarray(p, dtype=np.float64)
    return np.where(np.isnan(given), 1.0, 0.5 / np.sqrt(np.where(np.isnan(given), 1.0, given)))


def evidence_text(value: float) -> str:
    """Evidence for people, with three digits that count.

    >>> evidence_text(4.2), evidence_text(1013.7), evidence_text(2.5e12)
    ('4.2', '1 010', '2.5e+12')
    """
    text = f"{value:.3g}"
    return short(float(text)) if 1000 <= value < 1e9 else text


def evidence(p: Sequence[float]) -> Array:
    """The sum over beginnings j of 1 / (j (j + 1)) · ∏ f(p) from j on, after each batch; later beginnings count 1.

    S ← f(p) · (S + 1 / (j (j + 1))), and 1 / (j + 1) is what is left for those to come.

    >>> evidence([0.0001, 0.0001, 0.25]).round(1)
    array([  25.5, 1258.7, 1258.7])
    """
    found = np.empty(len(p))
    held = 0.0
    for place, bet in enumerate(factor(p).tolist()):
        held = bet * (held + 1 / ((place + 1) * (place + 2)))
        found[place] = held + 1 / (place + 2)
    return found


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
    """Batches in their order, each compared with all cases before it; of the `unlabelled` only scores are known.

    >>> from scorespace.tables import score_table
    >>> day = score_table([1, 0] * 30, [k % 7 / 7 for k in range(60)])
    >>> monitor({"nb": day}, {"monday": {"nb": day}, "tuesday": {"nb": day}}).alarm is None
    True
    """
    _check(before, batches)
    if replicates < 1:
        raise DataError(f"replicates={replicates} cannot show a change.", hint="at least 1")
    known, seen = dict(before), dict(before)  # the cases with truths, and those with scores
    found = []
    for place, (batch, tables) in enumerate(batches.items()):
        labelled = batch not in unlabelled
        stream = int(np.random.SeedSequence([seed, place]).generate_state(1)[0])
        permutations = Permutations(replicates, stream)
        p: dict[tuple[str, str], float] = {}
        for model, table in tables.items():
            p[model, "scores"] = permuted.score_test(pooled(seen[model], table, ROWS), permutations).p
            if labelled:
                p |= _of_truths(model, known[model], table, permutations)
                known[model] = known[model] + table
            seen[model] = seen[model] + table
        first = next(iter(tables.values()))
        found.append(Batch(batch, int(first.total), int(first.n_pos) if labelled else None, p, _seen(tables, labelled)))
        if progress is not None:
            progress((place + 1) / len(batches))
    table = next(iter(before.values()))
    positive = table.classes[table.positive]
    return Monitoring(name, int(table.total), positive, tuple(before), tuple(found), _seen(before, labelled=True))


def _seen(tables: Mapping[str, ScoreTable], labelled: bool) -> dict[tuple[str, str], Seen]:
    """The numbers of a sample; of one without truths, the mean scores."""
    found: dict[tuple[str, str], Seen] = {}
    for model, table in tables.items():
        if labelled:
            positives, cases = float(table.n_pos), float(table.total)
            share = positives / cases if cases else math.nan
            found["", "prevalence"] = Seen(share, *wilson(positives, cases))  # the same of every model
            one = estimate(parse("auc"), table)
            found[model, "auc"] = Seen(one.value, one.low, one.high)
        found[model, "mean"] = _mean_score(table)
    return found


def _mean_score(table: ScoreTable) -> Seen:
    """The mean score, with Student's interval."""
    times = table.counts.sum(axis=-2, dtype=np.float64)
    cases = float(times.sum())
    if not cases:
        return Seen(math.nan)
    mean = float(times @ table.score) / cases
    if cases < 2:
        return Seen(mean)
    error = math.sqrt(float(times @ (table.score - mean) ** 2) / (cases - 1) / cases)
    reach = float(stdtrit(cases - 1, 0.975)) * error
    return Seen(mean, mean - reach, mean + reach)


def _of_truths(
    model: str, before: ScoreTable, batch: ScoreTable, permutations: Permutations
) -> dict[tuple[str, str], float]:
    both = pooled(before, batch, ROWS)
    names = ("within", "auc") if both.classes_shared else ("within",)
    tested = permuted.within_tests(both, names, permutations)
    found = {("", "prevalence"): permuted.prevalence_test(both, permutations).p}  # the same of every model
    found |= {(model, name): one.p for name, one in tested.items()}
    return found | {(model, "meaning"): permuted.meaning_test(both, permutations).p}


def _check(before: Mapping[str, ScoreTable], batches: Mapping[str, Mapping[str, ScoreTable]]) -> None:
    if not batches:
        raise DataError("there is no batch to compare.", hint="at least one later sample")
    for name, tables in batches.items():
        if set(tables) != set(before):
            raise DataError(
                "all batches need scores of the same models.",
                seen=f"{listing(before)} before and {listing(tables)} in {name}",
                hint="the same models, by the same names, in all",
            )
        for model in before:
            refuse_new_labels(before[model], tables[model], name)
    for tables in (before, *batches.values()):
        if not all(copied(table) for table in tables.values()):
            raise WeightError(
                "batches are compared case by case, and weights that are no whole numbers count none.",
                hint="weights that say how often a row occurred, or none",
            )

"""What changed since a baseline: every number beside the one that was saved, its difference, and whether chance did it.

The cases of a baseline are known as tables and not one by one, so both are taken for independent samples, also where
they are the same cases: then p is too large rather than too small. All p-values are adjusted together (Holm).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from typing import Final

from scorespace.comparisons.adjust import holm
from scorespace.comparisons.answer import UNTESTED, Comparison
from scorespace.comparisons.difference import Bounds, combined, interval_at, least_p, touching
from scorespace.comparisons.question import Unpaired
from scorespace.comparisons.slices import Gap, gap_between
from scorespace.decisions.judged import Judged
from scorespace.errors import MeasureError
from scorespace.frozen import dataclass
from scorespace.measures.catalog import MeasureSpec
from scorespace.resampling.draw import Draws, stream_seed
from scorespace.resampling.estimate import Estimate
from scorespace.resampling.share import normal_quantile
from scorespace.results import Note, Result, Row, decimals, limits, note, p_text, percent
from scorespace.special import ndtr
from scorespace.tables import Counts, Table, Top

NOW, THEN = "now", "baseline"
_MOST_NAMED: Final = 6
_CHOSEN: Final = "the cases of the baseline chose the threshold"


@dataclass(frozen=True, eq=False)
class Before:
    """A baseline: the tables of its models where they were kept, the numbers that were told, and how they were asked.

    `without` says why a model has no table, `thresholds` at which each was shown, `differs` what was asked otherwise.
    `chosen` gives, of a model whose threshold these cases chose, what it did to cases that did not choose it.
    """

    name: str
    date: str = ""
    tables: Mapping[str, Table] = field(default_factory=dict)
    rows: Sequence[Row] = ()
    classes: Mapping[str, float] = field(default_factory=dict)
    positive: str | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    differs: tuple[str, ...] = ()
    chosen: Callable[[str], Judged | None] = field(default=lambda model: None, compare=False)

    @property
    def models(self) -> tuple[str, ...]:
        return (*self.tables, *(name for name in self.without if name not in self.tables))

    @property
    def called(self) -> str:
        return f"the baseline of {self.date}" if self.date else f"the baseline {self.name}"

    def row(self, model: str, spec: MeasureSpec) -> Row | None:
        """What was told of a measure of a model, if it was."""
        at = str(spec.at) if isinstance(spec.at, Top) else spec.at
        wanted = model, spec.label, at, spec.of, None, spec.prevalence
        names = ("model", "measure", "at", "class", "slice", "prevalence")
        return next((row for row in self.rows if tuple(map(row.get, names)) == wanted), None)


@dataclass(frozen=True, repr=False)
class Changes(Result):
    """Every number now, that of the baseline, and the difference; `besides` is what a reader should know of both."""

    before: Before = field(compare=False)
    gaps: tuple[Gap, ...]
    leads: Mapping[str, MeasureSpec]
    besides: tuple[str, ...] = ()

    def rows(self) -> list[Row]:
        return [one.beside("baseline", "difference") for one in self.gaps]

    def facts(self) -> Row:
        before = self.before
        return {"baseline": {"name": before.name, "date": before.date or None, "classes": dict(before.classes)}}

    def of(self, model: str, spec: MeasureSpec) -> Gap | None:
        """The change of a measure of a model."""
        return next((one for one in self.gaps if one.estimate.model == model and one.estimate.spec == spec), None)

    def by_chance(self, one: Gap) -> bool:
        """Whether chance explains a change, of numbers without a test by their intervals: adjusted over all of them.

        Where there is neither, nothing is explained.
        """
        adjusted = holm([_chance(gap.test) for gap in self.gaps])[self.gaps.index(one)]
        return bool(adjusted >= round(1 - one.test.level, 12))

    @property
    def tested(self) -> int:
        """How many tests there are, for which p-values are adjusted."""
        return sum(not math.isnan(one.test.p) for one in self.gaps)

    @property
    def words(self) -> str:
        """Whether the leading measure of each model changed by more than chance explains."""
        found = [one for model, spec in self.leads.items() if (one := self.of(model, spec)) is not None]
        over = f" (p after Holm over {self.tested} tests, intervals single)" if self.tested > 1 else ""
        return f"Since {self.before.called}{over}: {'; '.join(map(told, found))}." if found else ""

    @property
    def notes(self) -> tuple[Note, ...]:
        found = [note("SS096", text) for text in (*self.before.differs, *self.besides)]
        for model in dict.fromkeys(one.estimate.model for one in self.gaps):
            worse = [
                f"{one.estimate.spec.shown} ({one.test.size})"
                for one in self.gaps
                if one.estimate.model == model and one.sure and one.worse and one.estimate.spec != self.leads.get(model)
            ]
            if worse:
                text = f"{model} is worse than in {self.before.called}, beyond chance, in {', '.join(worse)}."
                found.insert(0, note("SS095", text))
        return tuple(found)


def _chance(test: Comparison) -> float:
    """p of a change; without a test that of a normal distribution as wide as its interval on the side of zero.

    So it is below one minus the level where zero is outside of the interval, and nowhere else.
    """
    if not math.isnan(test.p) or math.isnan(test.low) or math.isnan(test.high):
        return test.p
    reach = test.difference - (test.low if test.difference > 0 else test.high)
    if not reach:
        return 0.0 if test.difference else 1.0
    return 2 * float(ndtr(-normal_quantile(test.level) * abs(test.difference / reach)))


def told(one: Gap) -> str:
    """A change in words: by how much, and whether chance explains it; where it does, what the interval excludes."""
    what, test = f"{one.estimate.spec.shown} of {one.estimate.model}", one.test
    if math.isnan(test.difference):
        return f"nothing can be said of {what}, {test.reason or one.estimate.reason or 'which is undefined'}"
    if math.isnan(test.p):
        return f"{what} changed by {test.size} ({test.reason})"
    if one.sure:
        ends = (test.low, test.high) if test.difference > 0 else (-test.high, -test.low)
        moved = f"{'rose' if test.difference > 0 else 'fell'} by {limits(abs(test.difference), *ends)}"
        return f"{what} {moved}, more than chance explains ({p_text(test.telling_p)})"
    best = one.estimate.spec.measure.best
    loss = -test.low if best == "high" else test.high if best == "low" else math.nan
    side = "fall" if best == "high" else "rise"
    excluded = f", which excludes a {side} by more than {decimals(loss)}" if loss > 0 else ""
    return f"{what} shows no change beyond chance, {test.size}{excluded} ({p_text(test.telling_p)})"


def changes(
    before: Before,
    now: Mapping[str, Sequence[Estimate]],
    drawn: Callable[[str], Draws],
    *,
    classes: Mapping[str, float],
    leads: Mapping[str, MeasureSpec],
    level: float = 0.95,
    seed: int = 0,
) -> Changes:
    """The numbers of every model that the baseline has, too, beside those of the baseline.

    `drawn` gives what is drawn of the cases now, for a model; `classes` counts them.
    """

    @cache
    def then(model: str) -> Draws | None:
        table = before.tables.get(model)
        return None if table is None else Draws({model: table}, seed=stream_seed(seed, 1))

    gaps = [
        _change(before, one, drawn(one.model), then(one.model), level) for several in now.values() for one in several
    ]
    adjusted = holm([one.test.p for one in gaps]).tolist() if gaps else []
    if sum(not math.isnan(p) for p in adjusted) > 1:
        gaps = [replace(one, test=replace(one.test, p_adjusted=p)) for one, p in zip(gaps, adjusted, strict=True)]
    besides = _besides(before, classes, gaps, level)
    return Changes(before, tuple(gaps), {model: lead for model, lead in leads.items() if model in now}, besides)


def _change(before: Before, one: Estimate, first: Draws, second: Draws | None, level: float) -> Gap:
    if second is not None:
        try:
            judged = _chosen(before, one)
            if judged is not None and judged.outcomes is not None:
                return _since_chosen(one, first, second, judged, level)
            gap = gap_between(NOW, one, first, second, level, other=THEN)
            reason = gap.test.reason or f"{UNTESTED}: {_CHOSEN}"
            return gap if judged is None else replace(gap, test=replace(gap.test, p=math.nan, reason=reason))
        except MeasureError as error:
            return _unsaid(one, error.problem.rstrip("."))
    row = before.row(one.model, one.spec)
    if row is None or row.get("value") is None:
        said = row.get("reason") if row else None
        return _unsaid(one, str(said or "it was not saved, and neither was a table"))
    value = float(row["value"])
    found = Comparison(NOW, THEN, "interval, unpaired", one.spec.canonical, one.value - value, level=level)
    found = replace(found, independent=True, asked=str(one.spec), reason=f"{UNTESTED}: the baseline keeps no table")
    if row.get("low") is not None and row.get("high") is not None and row.get("level") == level:
        low, high = combined(one.value, (one.low, one.high), value, (float(row["low"]), float(row["high"])))
        found = replace(found, low=low, high=high)
    return Gap(NOW, one, value, found)


def _chosen(before: Before, one: Estimate) -> Judged | None:
    """What the threshold of a number did to cases that did not choose it, where the cases of the baseline chose it."""
    own = one.spec.measure.table is Counts and one.spec.at == before.thresholds.get(one.model)
    return before.chosen(one.model) if own and one.spec.at is not None else None


def _since_chosen(one: Estimate, first: Draws, second: Draws, judged: Judged, level: float) -> Gap:
    """A number beside that of the baseline on cases that did not choose the threshold; on the others it is too good.

    Without a change, it would be worse now in some 20 % of samples of 100 cases (Youden's index at its best threshold).
    """
    question: Unpaired[Table] = Unpaired(spec=one.spec, level=level, first=first, second=second, names=(NOW, THEN))
    then = judged.measure(one.spec, level)
    found = Comparison(NOW, THEN, "interval, unpaired", one.spec.canonical, one.value - then.value, level=level)
    found = replace(found, independent=True, asked=str(one.spec), reason=one.reason or then.reason)

    def bounds(level: float) -> Bounds:
        now, other = interval_at(question.bound[0], one.model, first, level), judged.measure(one.spec, level)
        return combined(one.value, (now.low, now.high), then.value, (other.low, other.high))

    low, high = bounds(level)
    if not math.isnan(low):
        found = touching(replace(found, low=low, high=high), bounds, 0.0, least_p(question.units))
    return Gap(NOW, one, then.value, found)


def _unsaid(one: Estimate, reason: str) -> Gap:
    test = Comparison(NOW, THEN, "", one.spec.canonical, reason=reason, independent=True, asked=str(one.spec))
    return Gap(NOW, one, math.nan, test)


def _besides(before: Before, classes: Mapping[str, float], gaps: Sequence[Gap], level: float) -> tuple[str, ...]:
    """What differs between the two samples besides the numbers."""
    found = []
    chosen = dict.fromkeys(one.estimate.model for one in gaps if _chosen(before, one.estimate) is not None)
    if chosen:
        found.append(
            f"{_CHOSEN} of {', '.join(chosen)}, so that numbers at it are too good on them: told are those of cases "
            "that did not choose it."
        )
    if classes and dict(classes) == dict(before.classes):
        found.append(
            "the baseline has as many cases of each class: if they are the same cases, differences are surer than p "
            "says; compare the old and the new model as two columns of one file."
        )
    shares = _share(classes, before.positive), _share(before.classes, before.positive)
    specs = dict.fromkeys(one.estimate.spec for one in gaps)
    moved = list(dict.fromkeys(spec.shown for spec in specs if not spec.within and spec.prevalence is None))
    if moved and _apart(classes, before.classes, before.positive) < 1 - level:
        names = ", ".join(moved[:_MOST_NAMED]) + (", …" if len(moved) > _MOST_NAMED else "")
        found.append(
            f"{before.positive} is {percent(shares[0])} of the cases here and {percent(shares[1])} of those of the "
            f"baseline, beyond chance: {names} {'changes' if len(moved) == 1 else 'change'} with that alone. "
            "--prevalence compares at one share."
        )
    return tuple(found)


def _share(classes: Mapping[str, float], positive: str | None) -> float:
    total = sum(classes.values())
    return classes.get(positive or "", 0.0) / total if total and positive is not None else math.nan


def _apart(a: Mapping[str, float], b: Mapping[str, float], positive: str | None) -> float:
    """p that two shares of positives are the same: the usual z test of two proportions; 1 where nothing is known."""
    sizes = sum(a.values()), sum(b.values())
    first, second = _share(a, positive), _share(b, positive)
    if math.isnan(first) or math.isnan(second):
        return 1.0
    pooled = (first * sizes[0] + second * sizes[1]) / sum(sizes)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / sizes[0] + 1 / sizes[1]))
    return 2 * float(ndtr(-abs(first - second) / spread)) if spread else 1.0

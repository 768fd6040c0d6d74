"""The result of looking for drift: aspects before and after, the cause that explains them, and words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from scorespace.comparisons.difference import combined
from scorespace.curves.smooth import SmoothCurve
from scorespace.errors import DataError
from scorespace.frozen import dataclass
from scorespace.measures import parse
from scorespace.resampling.estimate import estimate
from scorespace.results import Note, Result, Row, decimals, grouped, note, percent, plain
from scorespace.tables import ScoreTable
from scorespace.tables.labels import class_listing

LIKELY: Final = 0.05
"""The chance of any false alarm, over all tests of all models."""

CLEAR: Final = 0.01
"""Below it a part is said to have moved when a cause is named; at or above it, not."""

HANDFUL: Final = 30
"""Samples of fewer cases, where nothing was seen to move, tell nothing."""
SMALL: Final = 200
"""With fewer cases in a sample only large changes show."""

FAMILY: Final = ("prevalence", "scores", "within", "meaning")
TITLES: Final[Mapping[str, str]] = {
    "prevalence": "share of positives",
    "scores": "scores, all cases (KS)",
    "within": "scores within classes",
    "meaning": "positives at equal scores",
    "positives": "scores of positives (KS)",
    "negatives": "scores of negatives (KS)",
    "auc": "AUC",
    "midpoint": "midpoint (mean score)",
    "cal_large": "calibration in the large",
    "cal": "calibration loss (CAL)",
    "smauc": "smAUC",
    "smooth": "area between smooth ROC curves",
}
"""Every aspect with its title; the first four are the family that the verdict rests on."""


@dataclass(frozen=True)
class Cause:
    """What explains a drift: the part that must have moved, the part that it leaves alone, and what it is called."""

    moved: str
    alone: str
    called: str


CAUSES: Final[Mapping[str, Cause]] = {
    "prevalence": Cause("prevalence", "within", "a shift of prevalence"),
    "scores": Cause("scores", "prevalence", "a shift of the scores"),
    "calibration": Cause("meaning", "scores", "a change of calibration"),
    "mix": Cause("scores", "meaning", "another mix of cases"),
}


@dataclass(frozen=True)
class Aspect:
    """One aspect before and after; `same` is its value after, at the prevalence before.

    `change` is `same` less `before`, so what a change of prevalence alone does not explain; for a distance
    between the samples it is that distance. `p` comes from permutations, adjusted for the family of tests.
    """

    name: str
    before: float = math.nan
    after: float = math.nan
    same: float = math.nan
    change: float = math.nan
    p: float = math.nan
    p_adjusted: float = math.nan
    reason: str | None = None

    @property
    def title(self) -> str:
        return TITLES[self.name]

    def row(self, model: str | None) -> Row:
        named = {"name": "aspect", "same": "at_same_prevalence"}
        return plain({"model": model} | {named.get(name, name): value for name, value in vars(self).items()})


@dataclass(frozen=True)
class ModelDrift:
    """What moved for one model: its aspects, and the cause that explains them.

    `cause` is nothing, prevalence, scores, calibration, mix or several; without truth, nothing or scores.
    """

    model: str
    aspects: tuple[Aspect, ...]
    cause: str
    tables: tuple[ScoreTable, ScoreTable] = field(repr=False, compare=False)
    curves: tuple[SmoothCurve, SmoothCurve] | None = field(default=None, repr=False, compare=False)

    @property
    def excluded(self) -> str:
        """What the samples exclude of a worse ranking, as a sentence; nothing where the AUC has no interval."""
        old, new = (estimate(parse("auc"), table) for table in self.tables)
        low, _ = combined(new.value, (new.low, new.high), old.value, (old.low, old.high))
        return "" if math.isnan(low) else f" The AUC fell by at most {decimals(max(0.0, -low))} (95 %)."

    def __getitem__(self, name: str) -> Aspect:
        return next(aspect for aspect in self.aspects if aspect.name == name)


@dataclass(frozen=True, repr=False)
class Drift(Result):
    """Two samples of the same models compared; `models` hold what moved for each."""

    positive: str
    sizes: tuple[int, int]
    prevalence: Aspect
    models: tuple[ModelDrift, ...]
    replicates: int
    labelled: bool = True
    sample_notes: tuple[Note, ...] = ()

    @property
    def cause(self) -> str:
        """The cause, when all models agree on it; else several."""
        causes = {one.cause for one in self.models if one.cause != "nothing"}
        return "nothing" if not causes else causes.pop() if len(causes) == 1 else "several"

    @property
    def moved(self) -> bool:
        return self.cause != "nothing"

    @property
    def words(self) -> str:
        """What moved, in a few sentences."""
        many = len(self.models) > 1
        return "\n".join((f"{one.model}: " if many else "") + self._words(one) for one in self.models)

    def _words(self, one: ModelDrift) -> str:
        shares = self.prevalence
        if not self.labelled and one.cause == "nothing" and min(self.sizes) < HANDFUL:
            return f"Nothing can be said: {_many(self.sizes)} scores are too few to show whether they moved."
        if not self.labelled:
            gap = f"(KS {decimals(one['scores'].change)}, {_p(one['scores'])})"
            if one.cause == "nothing":
                return f"No change of the scores is shown {gap}. What they mean cannot be tested without the truth."
            return f"The scores moved {gap}. Whether cases or model changed cannot be told without the truth."
        scores, within, meaning = one["scores"], one["within"], one["meaning"]
        match one.cause:
            case "nothing" if min(self.sizes) < HANDFUL:
                return f"Nothing can be said: {_many(self.sizes)} cases are too few to show whether anything moved."
            case "nothing":
                return f"No change is shown: no difference between the samples is beyond chance.{one.excluded}"
            case "prevalence":
                moved = f"The share of positives moved from {percent(shares.before)} to {percent(shares.after)}"
                if math.isnan(within.p):
                    return f"{moved} ({_p(shares)}). No class is in both samples: nothing else can be compared."
                return (
                    f"{moved} ({_p(shares)}). {_unshown('the scores within the classes', within)}.{one.excluded} "
                    "Thresholds and probabilities should be adapted to the new share."
                )
            case "scores":
                again = ", and the scores should be calibrated again" if meaning.p < CLEAR else ""
                where = f"within the classes ({_p(within)})" if within.p < LIKELY else f"({_p(scores)})"
                return (
                    f"The scores moved {where}. {_unshown('the share of positives', shares)}: probably the model "
                    f"scores differently, or its inputs changed. A threshold no longer means what it meant{again}."
                )
            case "calibration":
                points = f"{decimals(100 * abs(meaning.change), 1)} points {'more' if meaning.change > 0 else 'fewer'}"
                return (
                    f"What a score means moved ({_p(meaning)}): on average {points} positives at equal scores. "
                    f"{_unshown('the distribution of the scores', scores)}. The scores should be calibrated again."
                )
            case "mix":
                return (
                    f"The case mix changed: the distribution of the scores moved ({_p(scores)}). "
                    f"{_unshown('the share of positives at equal scores', meaning)}.{one.excluded}"
                )
            case _:
                family = [aspect for aspect in (shares, *one.aspects) if aspect.name in FAMILY]
                parts = [f"{aspect.title} ({_p(aspect)})" for aspect in family if aspect.p_adjusted < LIKELY]
                if len(parts) == 1:
                    return f"This moved: {parts[0]}. No single cause explains it."
                return f"Several things moved together: {', '.join(parts)}. No single cause explains them."

    @property
    def notes(self) -> tuple[Note, ...]:
        found = list(self.sample_notes)
        if self.moved:
            named = CAUSES[self.cause].called if self.cause in CAUSES else "several changes at once"
            found.insert(0, note("SS030", f"the samples differ by more than chance explains: {named}."))
        if min(self.sizes) < SMALL:
            text = f"with {grouped(self.sizes[0])} and {grouped(self.sizes[1])} cases only large changes show"
            if self.labelled:
                shares = (self.prevalence.before, self.prevalence.after)
                share = sum(size * part for size, part in zip(self.sizes, shares, strict=True)) / sum(self.sizes)
                spread = math.sqrt(max(share * (1 - share), 0.01) * sum(1 / max(1, size) for size in self.sizes))
                text += f": of the share of positives, about {decimals(min(1.0, 2.8 * spread), 2)} or more"
            found.append(note("SS029", f"{text}."))
        return tuple(found)

    def rows(self) -> list[Row]:
        """The prevalence, which models share, then the aspects of each model."""
        return [self.prevalence.row(None), *(each.row(one.model) for one in self.models for each in one.aspects)]

    def facts(self) -> Row:
        return {
            "data": {"before": self.sizes[0], "after": self.sizes[1], "positive": self.positive},
            "causes": {one.model: one.cause for one in self.models},
            "replicates": self.replicates,
        }


def refuse_new_labels(before: ScoreTable, after: ScoreTable, name: str) -> None:
    """Refuse a label that only the sample of that name has, as it would count for the other class: Bad for bad."""
    old, new = (dict(zip(table.classes, table.class_totals.tolist(), strict=True)) for table in (before, after))
    known = [label for label, cases in old.items() if cases]
    unknown = [label for label, cases in new.items() if cases and label not in known]
    if unknown and len(known) > 1:
        raise DataError(
            f"the label {unknown[0]!r} is in {name} and not in the sample before.",
            seen=f"{class_listing([*old], [*old.values()])} before; {class_listing([*new], [*new.values()])} in {name}",
            hint="the same labels in all samples",
        )


def _unshown(what: str, aspect: Aspect) -> str:
    """That a change of a part is not shown, or not clearly, with its p."""
    return f"No {'clear ' if aspect.p < LIKELY else ''}change of {what} is shown ({_p(aspect)})"


def _p(aspect: Aspect) -> str:
    chance = aspect.p if math.isnan(aspect.p_adjusted) else aspect.p_adjusted
    if math.isnan(chance):
        return "not testable"
    return "p < 0.01" if chance < 0.01 else f"p = {decimals(min(chance, 1.0), 2)}"


def _many(sizes: tuple[int, int]) -> str:
    return f"{grouped(sizes[0])} and {grouped(sizes[1])}"

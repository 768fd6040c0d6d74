"""Result of drift tests: aspects before and after, the most likely cause, and a summary in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from scorespace.comparisons.difference import mover_interval
from scorespace.curves.roc import RocCurve, roc
from scorespace.curves.smooth import SmoothCurve
from scorespace.errors import DataError
from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.results import Note, Result, Row, decimals, grouped, note, percent, to_json_types
from scorespace.tables import ScoreTable
from scorespace.tables.labels import list_classes

SIGNIFICANCE_LEVEL: Final = 0.05
"""Family-wise error rate over all tests of all models."""

CLEAR_P_VALUE: Final = 0.01
"""p-value below which a part counts as changed when a cause is named."""

MIN_CASES: Final = 30
"""Without significant change, samples of fewer cases are inconclusive."""
SMALL_SAMPLE: Final = 200
"""With fewer cases in a sample, only large changes are detectable."""

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
"""Titles of the aspects; the first four form the family of tests."""


@dataclass(frozen=True)
class DriftCause:
    """A cause of drift: the aspect that changes, the aspect that it leaves unchanged, and its name."""

    moved: str
    alone: str
    called: str


CAUSES: Final[Mapping[str, DriftCause]] = {
    "prevalence": DriftCause("prevalence", "within", "a change of prevalence"),
    "scores": DriftCause("scores", "prevalence", "a change of the scores"),
    "calibration": DriftCause("meaning", "scores", "a change of calibration"),
    "mix": DriftCause("scores", "meaning", "a change of the case mix"),
}


@dataclass(frozen=True)
class DriftAspect:
    """One aspect before and after; `same` is its later value at the earlier prevalence.

    `change` is `same` minus `before`, which a change of prevalence alone does not explain, or a distance between the
    samples. `p` is a permutation p-value, `p_adjusted` adjusted for the family of tests.
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
        return to_json_types({"model": model} | {named.get(name, name): value for name, value in vars(self).items()})


@dataclass(frozen=True)
class ModelDrift:
    """Drift of one model: its aspects and the most likely cause.

    `cause` is nothing, prevalence, scores, calibration, mix or several; without truth, nothing or scores.
    """

    model: str
    aspects: tuple[DriftAspect, ...]
    cause: str
    tables: tuple[ScoreTable, ScoreTable] = field(repr=False, compare=False)
    curves: tuple[SmoothCurve, SmoothCurve] | None = field(default=None, repr=False, compare=False)

    @property
    def roc_curves(self) -> tuple[RocCurve, RocCurve]:
        """The ROC curves before and after."""
        before, after = self.tables
        return roc(before), roc(after)

    @property
    def excluded(self) -> str:
        """Sentence with the confidence limit of a fall in AUC; empty if the AUC has no interval."""
        old, new = (estimate(parse("auc"), table) for table in self.tables)
        low, _ = mover_interval(new.value, (new.low, new.high), old.value, (old.low, old.high))
        return "" if math.isnan(low) else f" The AUC fell by at most {decimals(max(0.0, -low))} (95 %)."

    def __getitem__(self, name: str) -> DriftAspect:
        return next(aspect for aspect in self.aspects if aspect.name == name)


@dataclass(frozen=True, repr=False)
class Drift(Result):
    """Comparison of two samples of the same models."""

    positive: str
    sizes: tuple[int, int]
    prevalence: DriftAspect
    models: tuple[ModelDrift, ...]
    replicates: int
    labelled: bool = True
    sample_notes: tuple[Note, ...] = ()

    @property
    def cause(self) -> str:
        """Cause if all models agree on it, otherwise several."""
        causes = {model.cause for model in self.models if model.cause != "nothing"}
        return "nothing" if not causes else causes.pop() if len(causes) == 1 else "several"

    @property
    def moved(self) -> bool:
        return self.cause != "nothing"

    @property
    def words(self) -> str:
        """What changed, in a few sentences."""
        several = len(self.models) > 1
        return "\n".join((f"{model.model}: " if several else "") + self._words(model) for model in self.models)

    def _words(self, model: ModelDrift) -> str:
        shares = self.prevalence
        if not self.labelled and model.cause == "nothing" and min(self.sizes) < MIN_CASES:
            return f"{_sizes_text(self.sizes)} scores are too few to detect drift."
        if not self.labelled:
            gap = f"(KS {decimals(model['scores'].change)}, {_p_value_text(model['scores'])})"
            if model.cause == "nothing":
                return f"No evidence that the scores changed {gap}. Calibration cannot be tested without the truth."
            return f"The scores changed {gap}. Whether the cases or the model changed is unknown without the truth."
        scores, within, meaning = model["scores"], model["within"], model["meaning"]
        match model.cause:
            case "nothing" if min(self.sizes) < MIN_CASES:
                return f"{_sizes_text(self.sizes)} cases are too few to detect drift."
            case "nothing":
                return f"No evidence of drift: no difference between the samples is significant.{model.excluded}"
            case "prevalence":
                moved = f"The share of positives changed from {percent(shares.before)} to {percent(shares.after)}"
                if math.isnan(within.p):
                    return f"{moved} ({_p_value_text(shares)}). The samples have no class in common to compare."
                return (
                    f"{moved} ({_p_value_text(shares)}). {_no_evidence('the scores within the classes', within)}."
                    f"{model.excluded} Adapt thresholds and probabilities to the new share."
                )
            case "scores":
                recalibrate = ", and recalibrate the scores" if meaning.p < CLEAR_P_VALUE else ""
                where = (
                    f"within the classes ({_p_value_text(within)})"
                    if within.p < SIGNIFICANCE_LEVEL
                    else f"({_p_value_text(scores)})"
                )
                return (
                    f"The scores changed {where}. {_no_evidence('the share of positives', shares)}: probably the model "
                    f"or its inputs changed. Choose thresholds again{recalibrate}."
                )
            case "calibration":
                points = f"{decimals(100 * abs(meaning.change), 1)} points {'more' if meaning.change > 0 else 'fewer'}"
                return (
                    f"Calibration changed ({_p_value_text(meaning)}): on average {points} positives at equal scores. "
                    f"{_no_evidence('the distribution of the scores', scores)}. Recalibrate the scores."
                )
            case "mix":
                return (
                    f"The case mix changed: the distribution of the scores differs ({_p_value_text(scores)}). "
                    f"{_no_evidence('the share of positives at equal scores', meaning)}.{model.excluded}"
                )
            case _:
                family = [aspect for aspect in (shares, *model.aspects) if aspect.name in FAMILY]
                parts = [
                    f"{aspect.title} ({_p_value_text(aspect)})"
                    for aspect in family
                    if aspect.p_adjusted < SIGNIFICANCE_LEVEL
                ]
                if len(parts) == 1:
                    return f"Changed: {parts[0]}. No single cause explains it."
                return f"Several aspects changed: {', '.join(parts)}. No single cause explains them."

    @property
    def notes(self) -> tuple[Note, ...]:
        found = list(self.sample_notes)
        if self.moved:
            cause_name = CAUSES[self.cause].called if self.cause in CAUSES else "several changes at once"
            found.insert(0, note("SS030", f"the samples differ significantly: {cause_name}."))
        if min(self.sizes) < SMALL_SAMPLE:
            text = f"with {grouped(self.sizes[0])} and {grouped(self.sizes[1])} cases only large changes are detectable"
            if self.labelled:
                shares = (self.prevalence.before, self.prevalence.after)
                share = sum(size * part for size, part in zip(self.sizes, shares, strict=True)) / sum(self.sizes)
                standard_error = math.sqrt(
                    max(share * (1 - share), 0.01) * sum(1 / max(1, size) for size in self.sizes)
                )
                text += f": of the share of positives, about {decimals(min(1.0, 2.8 * standard_error), 2)} or more"
            found.append(note("SS029", f"{text}."))
        return tuple(found)

    def rows(self) -> list[Row]:
        """Prevalence, which models share, then the aspects of each model."""
        return [
            self.prevalence.row(None),
            *(aspect.row(model.model) for model in self.models for aspect in model.aspects),
        ]

    def facts(self) -> Row:
        return {
            "data": {"before": self.sizes[0], "after": self.sizes[1], "positive": self.positive},
            "causes": {model.model: model.cause for model in self.models},
            "replicates": self.replicates,
        }


def refuse_new_labels(before: ScoreTable, after: ScoreTable, name: str) -> None:
    """Refuse a label that only the later sample has, since it would count as the other class."""
    old, new = (dict(zip(table.classes, table.class_totals.tolist(), strict=True)) for table in (before, after))
    known = [label for label, cases in old.items() if cases]
    unknown = [label for label, cases in new.items() if cases and label not in known]
    if unknown and len(known) > 1:
        raise DataError(
            f"the label {unknown[0]!r} occurs in {name}, but not in the sample before.",
            seen=f"{list_classes([*old], [*old.values()])} before; {list_classes([*new], [*new.values()])} in {name}",
            hint="use the same labels in all samples",
        )


def _no_evidence(what: str, aspect: DriftAspect) -> str:
    """Sentence that there is no, or no clear, evidence of a change, with its p-value."""
    clear = "clear " if aspect.p < SIGNIFICANCE_LEVEL else ""
    return f"No {clear}evidence of a change of {what} ({_p_value_text(aspect)})"


def _p_value_text(aspect: DriftAspect) -> str:
    p_value = aspect.p if math.isnan(aspect.p_adjusted) else aspect.p_adjusted
    if math.isnan(p_value):
        return "not testable"
    return "p < 0.01" if p_value < 0.01 else f"p = {decimals(min(p_value, 1.0), 2)}"


def _sizes_text(sizes: tuple[int, int]) -> str:
    return f"{grouped(sizes[0])} and {grouped(sizes[1])}"

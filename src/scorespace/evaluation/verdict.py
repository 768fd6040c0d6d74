"""The verdict: a conclusion on each measure in question, and on the costs, in short sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import TYPE_CHECKING, Final

import numpy as np

from scorespace.evaluation.default_measures import RARE_MEASURE, default_measures, has_rare_positives
from scorespace.evaluation.findings import reversed_text
from scorespace.inference.estimate import Estimate
from scorespace.measures import MeasureSpec, parse
from scorespace.measures.confusion import ppv, tnr, tpr
from scorespace.profiles import Profile
from scorespace.report.screen import MAX_CONCLUSIONS
from scorespace.results import Row, decimals, grouped, join_words, p_text, percent
from scorespace.tables import ClassBins, ClassTable, ConfusionTable, Counts, ScoreTable, Table
from scorespace.tables.models import Models
from scorespace.tables.threshold import threshold_text

if TYPE_CHECKING:
    from scorespace.comparisons.result import Comparison
    from scorespace.decisions import Decision

Estimated = Callable[[Sequence[str], MeasureSpec], Sequence[Estimate]]
"""The estimates of a measure for some models."""

NOT_RANKED: Final = "The models cannot be ranked: only one class is present, so the AUC is undefined."


@dataclass(frozen=True)
class LeadingMeasure:
    """The measure that a kind of table is compared by first.

    Attributes
    ----------
    specs : tuple of MeasureSpec
        Measures in order of preference; the first that is defined is used.
    verb : str
        What the best model does: "ranks best".
    undefined : str
        The sentence when none of them is defined.
    chance : float
        The value of a model without information, if there is one.
    """

    specs: tuple[MeasureSpec, ...]
    verb: str = "is best"
    undefined: str = "No measure of these models is defined."
    chance: float = math.nan


@singledispatch
def leading(table: Table) -> LeadingMeasure:
    """The leading measure of a kind of table; by default its first measure that has a better direction."""
    return LeadingMeasure(tuple(spec for spec in default_measures(table) if spec.best is not None)[:1])


@leading.register
def _(table: ScoreTable) -> LeadingMeasure:
    if has_rare_positives(table):
        return LeadingMeasure((parse(RARE_MEASURE),), "ranks best", NOT_RANKED)
    return LeadingMeasure((parse("auc"),), "ranks best", NOT_RANKED, chance=0.5)


@leading.register(ClassBins)
@leading.register(ClassTable)
def _(table: ClassTable | ClassBins) -> LeadingMeasure:
    area = "auc" if len(table.class_names) == 2 else "auc[hand_till]"
    return LeadingMeasure((parse(area),), "ranks best", NOT_RANKED, chance=0.5)


@leading.register
def _(table: ConfusionTable) -> LeadingMeasure:
    return LeadingMeasure((parse("bacc"), parse("acc")), "is best", "No measure of these decisions is defined.")


def leading_of(models: Models) -> LeadingMeasure:
    """The leading measure of models of several kinds: binary scores come first, then multiclass scores, then others."""
    return leading(models[[*models.thresholded, *models.of_classes, *models][0]])


@dataclass(frozen=True)
class Conclusion:
    """The models ordered by one measure, with the tests of the best against the others.

    Attributes
    ----------
    label : str
        Name of the measure.
    ordered : tuple of Estimate
        Estimates of all models, the best first.
    tests : mapping of str to Comparison
        Paired tests of the best model against others, by their names; differences are best minus other.
    verb : str
        What the best model does.
    """

    label: str
    ordered: tuple[Estimate, ...]
    tests: Mapping[str, Comparison] = field(default_factory=dict)
    verb: str = "is best"

    @property
    def best(self) -> Estimate:
        """The estimate of the best model."""
        return self.ordered[0]

    @property
    def clear(self) -> bool | None:
        """Whether the best model is clearly better than the second; None without a test."""
        return None if len(self.ordered) == 1 else _is_clear(self.tests.get(self.ordered[1].model))

    @property
    def text(self) -> str:
        """The conclusion in one sentence."""
        best = self.best
        if len(self.ordered) == 1:
            return f"{best.model}: {self.label} {best.text}."
        second = self.ordered[1]
        test = self.tests.get(second.model)
        values = f"{best.value_text}, {second.model} {second.value_text}"
        if self.clear is None:
            why = f" ({test.reason})" if test is not None and test.reason else ", because the cases are not paired"
            if best.value == second.value:
                return f"{best.model} and {second.model} have the same {self.label}, {best.text}."
            return f"{best.model} {self.verb}: {self.label} {values}; the difference is not tested{why}."
        assert test is not None
        if self.clear:
            return f"{best.model} {self.verb}: {self.label} {values} ({difference_text(test)})."
        worse = [one.model for one in self.ordered[2:] if _is_clear(self.tests.get(one.model))]
        others = f"; {join_words(worse)} {'is' if len(worse) == 1 else 'are'} worse" if worse else ""
        return f"No clear difference in {self.label}: {best.model} {values} ({difference_text(test)}){others}."

    def named(self, profile: Profile) -> Conclusion:
        """With the usual name of the measure, as pages write it."""
        spec = self.best.spec
        if spec.asked is not None or not (spec.at is None or isinstance(spec.at, float)):
            return self  # as it was typed
        at = "" if spec.at is None else f"@{threshold_text(spec.at)}"
        return replace(self, label=profile.label(spec) + at)

    def row(self) -> Row:
        """The conclusion as plain data, for pages."""
        return {
            "measure": self.best.spec.canonical,
            "label": self.label,
            "models": [one.model for one in self.ordered],
            "clear": self.clear,
        }


def _is_clear(test: Comparison | None) -> bool | None:
    """Whether a difference is clear: its interval excludes 0, and its p-value, if any, is below 1 − level."""
    if test is None or math.isnan(test.difference) or (math.isnan(test.low) and math.isnan(test.p)):
        return None
    excludes_zero = math.isnan(test.low) or test.low > 0 or test.high < 0
    return excludes_zero and (math.isnan(test.p) or test.is_significant)


def headline(lead: LeadingMeasure, found: Conclusion | None, decision: Decision | None) -> tuple[str, str]:
    """The verdict in at most about 20 words, and whether the best is "clear" or "unclear"; "" for a single model."""
    if decision is not None:
        return decision.headline, "" if len(decision.choices) == 1 else "clear" if decision.is_clear else "unclear"
    if found is None:
        return lead.undefined, ""
    best = found.best
    if len(found.ordered) == 1:
        return f"{best.model}: {found.label} {best.text}.", ""
    second = found.ordered[1]
    if found.clear is False:
        worse = [one.model for one in found.ordered[2:] if _is_clear(found.tests.get(one.model))]
        others = f"; {join_words(worse)} {'is' if len(worse) == 1 else 'are'} worse" if worse else ""
        return f"No clear difference in {found.label} between {best.model} and {second.model}{others}.", "unclear"
    values = f"{found.label} {best.value_text}, {second.model} {second.value_text}"
    return f"{best.model} {found.verb}: {values}.", "clear" if found.clear else ""


def difference_text(test: Comparison) -> str:
    """A difference with its interval and p-value, for a sentence."""
    p = "" if math.isnan(test.p) else f", {p_text(test.reported_p)}"
    averaged = f" {test.averaged}" if test.averaged else ""
    return f"{test.size}{averaged}{p}"


def conclude(
    label: str,
    estimates: Sequence[Estimate],
    tested: Callable[[Sequence[Estimate]], Mapping[str, Comparison]],
    verb: str = "is best",
) -> Conclusion | None:
    """The conclusion on one measure; None where it is undefined for all models or no direction is better."""
    known = [one for one in estimates if not math.isnan(one.value)]
    if not known or known[0].spec.best not in ("high", "low"):
        return None
    ordered = sorted(known, key=lambda one: one.value, reverse=known[0].spec.best == "high")
    return Conclusion(label, tuple(ordered), tested(ordered) if len(ordered) > 1 else {}, verb)


@singledispatch
def operating_sentence(table: Table, model: str, at: float | None, profile: Profile, estimated: Estimated) -> str:
    """What a model does at its operating point, in one sentence; empty for kinds without one."""
    return ""


@operating_sentence.register
def _(table: ScoreTable, model: str, at: float | None, profile: Profile, estimated: Estimated) -> str:
    counts = table.inside(Counts, None, at)
    threshold = threshold_text(math.nan if at is None else at)
    if not float(counts.pp):
        return f"At threshold {threshold} {model} predicts no case positive."
    values = [
        f"{profile.label(replace(spec, at=None))} {estimated([model], spec)[0].value_text}"
        for spec in (MeasureSpec(measure.name, at=at) for measure in (tpr, tnr, ppv))
    ]
    text = f"{model} at threshold {threshold}: {', '.join(values)}."
    if has_rare_positives(table):
        text += (
            f" A random ranking has {profile.label(parse(RARE_MEASURE))} {decimals(float(table.n_pos / table.total))}."
        )
    return text


@operating_sentence.register(ClassBins)
@operating_sentence.register(ClassTable)
def _(table: ClassTable | ClassBins, model: str, at: float | None, profile: Profile, estimated: Estimated) -> str:
    matrix = table.decisions.matrix
    errors = np.where(np.eye(len(matrix), dtype=bool), 0.0, matrix)
    accuracy = percent(float(matrix.trace() / matrix.sum()), 0)
    if not errors.any():
        return f"{model} classifies all cases correctly."
    actual, predicted = np.unravel_index(int(errors.argmax()), errors.shape)
    often = f"{grouped(errors[actual, predicted])} of {grouped(matrix[actual].sum())}"
    names = table.classes
    return (
        f"{model} classifies {accuracy} correctly; its most frequent error is {names[actual]} predicted as "
        f"{names[predicted]} ({often})."
    )


@singledispatch
def is_constant(table: Table) -> bool:
    """Whether a model gives every case the same score, so that it ranks nothing."""
    return False


@is_constant.register
def _(table: ScoreTable) -> bool:
    return table.score.size == 1


def leading_conclusion(
    models: Models,
    estimated: Estimated,
    tested: Callable[[Sequence[Estimate]], Mapping[str, Comparison]],
    profile: Profile,
) -> tuple[LeadingMeasure, Conclusion | None]:
    """The leading measure of these models, and the conclusion on it."""
    lead = leading_of(models)
    names = [name for name, table in models.items() if leading(table).specs == lead.specs]
    for spec in lead.specs:
        found = conclude(profile.label(spec), estimated(names, spec), tested, lead.verb)
        if found is not None:
            return lead, found
    return lead, None


def default_verdict(
    models: Models,
    lead: LeadingMeasure,
    found: Conclusion | None,
    at: Mapping[str, float | None],
    profile: Profile,
    estimated: Estimated,
    decided: str | None = None,
    decided_model: str | None = None,
) -> str:
    """The verdict on the leading measure, and on the costs where some are stated.

    `decided` is the sentence on the costs, `decided_model` the model that it recommends.
    """
    if found is None:
        return _sentences(lead.undefined, decided)
    best = found.best
    table = models[best.model]
    if decided is not None and not (table.thresholded or table.scores_classes):
        return decided
    if is_constant(table):
        return _sentences(f"{best.model} gives every case the same score, and no model ranks better.", decided)
    if best.high < lead.chance and table.thresholded:
        return _sentences(reversed_text(best.model, best.value), decided)
    text = found.text
    if decided is None and best.low <= lead.chance:
        text += f" There is no evidence that {best.model} ranks better than chance."
    if decided_model is not None and decided_model != best.model and found.clear:
        text += f" {best.model} ranks best, but costs more at these costs."
    return _sentences(text, decided or operating_sentence(table, best.model, at.get(best.model), profile, estimated))


def requested_verdict(
    conclusions: Sequence[Conclusion | None], estimates: Sequence[Estimate], decided: str | None
) -> str:
    """The verdict on the requested measures, in their order."""
    sentences = [one.text for one in conclusions if one is not None]
    if not sentences:  # counts and other measures without a better direction
        sentences = [f"{one.model}: {one.spec.shown} {one.text}." for one in estimates]
    more = len(sentences) - MAX_CONCLUSIONS
    return _sentences(*sentences[:MAX_CONCLUSIONS], f"{more} more in the table." if more > 0 else None, decided)


def _sentences(*parts: str | None) -> str:
    return " ".join(filter(None, parts))

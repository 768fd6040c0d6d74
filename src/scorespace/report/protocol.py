"""Interface of an evaluation as reports see it: its models and their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from scorespace.curves import Curve
from scorespace.inference.estimate import Estimates
from scorespace.measures.catalog import MeasureSpec
from scorespace.profiles import Profile
from scorespace.report.document import Text
from scorespace.results import Note, Row, count_noun, grouped, percent
from scorespace.tables import Counts
from scorespace.tables.models import Models

if TYPE_CHECKING:
    from scorespace.calibration.summary import CalibrationSummary
    from scorespace.comparisons.baseline import BaselineChanges
    from scorespace.comparisons.folds import FoldSummary
    from scorespace.comparisons.leaderboard import Leaderboard
    from scorespace.comparisons.result import Comparison, Comparisons
    from scorespace.comparisons.slices import Slices
    from scorespace.decisions import CaseCostDecision, CostChoice, Decision, ShiftDecision
    from scorespace.drift.stability import Stability
    from scorespace.inference.bands import Band
    from scorespace.inference.bootstrap import BootstrapDraws
    from scorespace.measures.class_measures import ClassMeasures
    from scorespace.report.section_numbers import CalibrationBins, SmoothModel
    from scorespace.tables import ConfusionTable


class ResultsView(Protocol):
    """Results of an evaluation."""

    @property
    def models(self) -> Models: ...

    @property
    def at_stated_prevalence(self) -> Models: ...

    @property
    def prevalence(self) -> float | None: ...

    @property
    def draws(self) -> BootstrapDraws: ...

    @property
    def level(self) -> float: ...

    @property
    def seed(self) -> int: ...

    @property
    def interval(self) -> str | None: ...

    @property
    def stated_threshold(self) -> float | None: ...

    @property
    def requested(self) -> tuple[MeasureSpec, ...]: ...

    @property
    def summary(self) -> Estimates: ...

    @property
    def shown(self) -> Estimates: ...

    @property
    def over_folds(self) -> tuple[FoldSummary, ...]: ...

    @property
    def slices(self) -> Slices | None: ...

    @property
    def leaderboard(self) -> Leaderboard | None: ...

    @property
    def changes(self) -> BaselineChanges | None: ...

    @property
    def stability(self) -> Stability | None: ...

    @property
    def differences(self) -> Mapping[str, Comparison]: ...

    @property
    def sample_notes(self) -> tuple[Note, ...]: ...

    @property
    def notes(self) -> tuple[Note, ...]: ...

    @property
    def headlines(self) -> tuple[Note, ...]: ...

    @property
    def verdict(self) -> str: ...

    @property
    def headline(self) -> tuple[str, str]: ...

    @property
    def leader(self) -> str | None: ...

    @property
    def profile(self) -> Profile: ...

    @property
    def full(self) -> bool: ...

    @property
    def everything(self) -> Estimates: ...

    @property
    def decision(self) -> Decision | CostChoice | ShiftDecision | CaseCostDecision | None: ...

    @property
    def comparisons(self) -> Comparisons: ...

    @property
    def calibrations(self) -> Mapping[str, CalibrationSummary]: ...

    @property
    def class_calibrations(self) -> Mapping[str, Mapping[str, CalibrationSummary]]: ...

    @property
    def operating(self) -> Any: ...

    @property
    def multiclass_measures(self) -> Mapping[str, ClassMeasures]: ...

    @property
    def class_measures(self) -> Mapping[str, ClassMeasures]: ...

    @property
    def decision_tables(self) -> Mapping[str, ConfusionTable]: ...

    @property
    def smooth_models(self) -> Mapping[str, SmoothModel]: ...

    @property
    def equal_cost_decision(self) -> Decision: ...

    def herfindahl(self, model: str) -> Mapping[str, float] | None: ...

    def calibration_bins(self, model: str) -> CalibrationBins: ...

    def spread(self, *names: str) -> dict[str, dict[str, float]]: ...

    def value(self, model: str, request: str) -> float: ...

    @property
    def multiclass_panel(self) -> Any: ...

    @property
    def shift_panel(self) -> Any: ...

    def threshold(self, model: str) -> float: ...

    def estimated(self, *names: str | MeasureSpec) -> Estimates: ...

    def counts(self, model: str) -> Counts: ...


class EvaluationView(ResultsView, Protocol):
    """An evaluation: its results, and curves and charts on request."""

    def measures(self, *names: str) -> Estimates: ...

    def curve(self, kind: str, model: str | None = None, **options: Any) -> Curve: ...

    def curves(self, kind: str, **options: Any) -> dict[str, Curve]: ...

    def band(self, kind: str, model: str, *, simultaneous: bool = False, **options: Any) -> Band: ...

    def class_curves(self, kind: str, model: str) -> tuple[Mapping[str, Curve], Curve | None]: ...

    def drawing(
        self, kind: str, *, band: bool = False, models: Sequence[str] = (), axes: str = "linear", **options: Any
    ) -> Row: ...


MAX_SENTENCES: Final = 3
"""Maximum number of models that are each described in a sentence."""


def leading_model(evaluation: EvaluationView, names: Iterable[str]) -> str:
    """The model that is selected when the report opens, if it is among the names; otherwise the first name."""
    names, panel = list(names), evaluation.operating
    initial = None if panel is None else panel.models[panel.start].name
    return initial if initial in names else names[0]


def model_sentences(evaluation: EvaluationView, sentences: Mapping[str, str]) -> tuple[Text, list[Text]]:
    """The sentences of all models; with many models, that of the leading one, and the others collapsed."""
    if len(sentences) <= MAX_SENTENCES:
        return Text(" ".join(sentences.values())), []
    leading = leading_model(evaluation, sentences)
    title = f"The other {len(sentences) - 1} models"
    return Text(sentences[leading]), [Text(text, title) for name, text in sentences.items() if name != leading]


def facts(models: Models) -> str:
    """One line about the sample: number of cases and classes."""
    classes, rows = models.classes, count_noun(models.rows, "case")
    if models.pairs is not None and models.pairs.repeat is not None:  # each case has a row per repeat
        repeats = int(models.pairs.repeat.max()) + 1
        rows = f"{grouped(models.rows)} rows in {repeats} repeats"
        if all(count % repeats == 0 for count in (models.rows, *classes.values())):
            classes = {name: count / repeats for name, count in classes.items()}
            rows = f"{grouped(models.rows // repeats)} cases in {repeats} repeats"
    elif models.tables and next(iter(models.tables.values())).units_text:
        rows = next(iter(models.tables.values())).units_text
    elif classes and sum(classes.values()) != models.rows:
        rows = f"{count_noun(models.rows, 'row')}   total weight {grouped(sum(classes.values()))}"
    parts, total = [rows], sum(classes.values())
    if models.positive is None:
        parts += [f"{name} ({grouped(count)})" for name, count in classes.items()]
    else:
        positives = classes.get(models.positive, 0)
        parts.append(f"positive = {models.positive} ({grouped(positives)}, {percent(positives / total)})")
        negatives = [f"{name} ({grouped(count)})" for name, count in classes.items() if name != models.positive]
        parts += [f"negative = {', '.join(negatives)}"] if negatives else []
    return "   ".join(parts)

"""What a page asks of an evaluation: its models, and the results that were computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from scorespace.curves import Curve
from scorespace.measures.catalog import MeasureSpec
from scorespace.resampling.estimate import Estimates
from scorespace.results import Note, Row, grouped, percent, so_many
from scorespace.tables import Counts
from scorespace.tables.models import Models
from scorespace.views.document import Text

if TYPE_CHECKING:
    from scorespace.comparisons.answer import Comparison, Comparisons
    from scorespace.comparisons.fold_means import OverFolds
    from scorespace.comparisons.since import Changes
    from scorespace.comparisons.slices import Slices
    from scorespace.decisions import CostChoice, Decision, ShiftDecision
    from scorespace.probabilities.summary import CalibrationSummary
    from scorespace.resampling.band import Band
    from scorespace.resampling.draw import Draws


class Answers(Protocol):
    """An evaluation, as those see it who do not know who computes this."""

    @property
    def models(self) -> Models: ...

    @property
    def in_use(self) -> Models: ...

    @property
    def prevalence(self) -> float | None: ...

    @property
    def draws(self) -> Draws: ...

    @property
    def level(self) -> float: ...

    @property
    def seed(self) -> int: ...

    @property
    def interval(self) -> str | None: ...

    @property
    def requested(self) -> tuple[MeasureSpec, ...]: ...

    @property
    def summary(self) -> Estimates: ...

    @property
    def shown(self) -> Estimates: ...

    @property
    def over_folds(self) -> tuple[OverFolds, ...]: ...

    @property
    def slices(self) -> Slices | None: ...

    @property
    def changes(self) -> Changes | None: ...

    @property
    def differences(self) -> Mapping[str, Comparison]: ...

    @property
    def sample_notes(self) -> tuple[Note, ...]: ...

    @property
    def notes(self) -> tuple[Note, ...]: ...

    @property
    def verdict(self) -> str: ...

    @property
    def decision(self) -> Decision | CostChoice | ShiftDecision | None: ...

    @property
    def comparisons(self) -> Comparisons: ...

    @property
    def calibrations(self) -> Mapping[str, CalibrationSummary]: ...

    @property
    def class_calibrations(self) -> Mapping[str, Mapping[str, CalibrationSummary]]: ...

    @property
    def operating(self) -> Any: ...

    def spread(self, *names: str) -> dict[str, dict[str, float]]: ...

    def threshold(self, model: str) -> float: ...

    def counts(self, model: str) -> Counts: ...

    def curve(self, kind: str, model: str | None = None, **options: Any) -> Curve: ...

    def curves(self, kind: str, **options: Any) -> dict[str, Curve]: ...

    def band(self, kind: str, model: str, *, simultaneous: bool = False) -> Band: ...

    def drawing(self, kind: str, *, band: bool = False, **options: Any) -> Row: ...


FEW: Final = 3
"""Of so many models each has a sentence; of more, one."""


def foremost(evaluation: Answers, names: Iterable[str]) -> str:
    """Of some models the one that the page opens with, or else the first."""
    names, panel = list(names), evaluation.operating
    opened = None if panel is None else panel.models[panel.start].name
    return opened if opened in names else names[0]


def told(evaluation: Answers, sentences: Mapping[str, str]) -> tuple[Text, list[Text]]:
    """The sentences of few models; of many that of the foremost, and those of the others to be unfolded."""
    if len(sentences) <= FEW:
        return Text(" ".join(sentences.values())), []
    first = foremost(evaluation, sentences)
    title = f"The other {len(sentences) - 1} models in words"
    return Text(sentences[first]), [Text(words, title) for name, words in sentences.items() if name != first]


def facts(models: Models) -> str:
    """The sample in a line: how many cases, of which classes."""
    classes, rows = models.classes, so_many(models.rows, "case")
    if models.pairs is not None and models.pairs.repeat is not None:  # every case has a row in each repeat
        repeats = int(models.pairs.repeat.max()) + 1
        rows = f"{grouped(models.rows)} rows in {repeats} repeats"
        if all(count % repeats == 0 for count in (models.rows, *classes.values())):
            classes = {name: count / repeats for name, count in classes.items()}
            rows = f"{grouped(models.rows // repeats)} cases in {repeats} repeats"
    elif classes and sum(classes.values()) != models.rows:
        rows = f"{so_many(models.rows, 'row')}   total weight {grouped(sum(classes.values()))}"
    parts, total = [rows], sum(classes.values())
    if models.positive is None:
        parts += [f"{name} ({grouped(count)})" for name, count in classes.items()]
    else:
        positives = classes.get(models.positive, 0)
        parts.append(f"positive = {models.positive} ({grouped(positives)}, {percent(positives / total)})")
        rest = [f"{name} ({grouped(n)})" for name, n in classes.items() if name != models.positive]
        parts += [f"negative = {', '.join(rest)}"] if rest else []
    return "   ".join(parts)

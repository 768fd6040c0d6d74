"""The friendly front: an evaluation of the models of a sample, in short methods that call the verbs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scorespace import frames
from scorespace.arguments import checked_methods
from scorespace.conditions import Asymmetry, Condition, CostMatrix
from scorespace.curves import Curve
from scorespace.errors import ScoreSpaceError
from scorespace.evaluation import numbers
from scorespace.evaluation.finding import Look, for_all, notes_on
from scorespace.evaluation.notes import (
    calibration_notes,
    group_notes,
    interval_notes,
    prevalence_notes,
    sample_notes,
    smooth_notes,
    weight_notes,
)
from scorespace.evaluation.shown import (
    COST,
    YOUDEN,
    check_requests,
    placed,
    shown_threshold,
    stated_on,
    wanted,
    with_beside,
)
from scorespace.evaluation.verdict import leading, verdict
from scorespace.frozen import dataclass
from scorespace.later import later
from scorespace.measures import MeasureSpec, parse, parse_list
from scorespace.measures.request import bind, stated_threshold
from scorespace.resampling.draw import Draws
from scorespace.resampling.estimate import Estimate, Estimates, estimates
from scorespace.results import SCHEMA, Alternative, Note, Progress, Row
from scorespace.tables import Counts, Top
from scorespace.tables.models import Models, Parts
from scorespace.tables.threshold import Threshold

if TYPE_CHECKING:
    from scorespace.comparisons import fold_means, since
    from scorespace.comparisons import slices as sliced
    from scorespace.comparisons.answer import Comparison, Comparisons
    from scorespace.comparisons.fold_curves import Averaged
    from scorespace.comparisons.slices import Slices
    from scorespace.decisions import (
        ConstrainedChoice,
        CostChoice,
        Decision,
        MixtureChoice,
        RejectChoice,
        ShiftDecision,
        Value,
    )
    from scorespace.evaluation import baseline as saved
    from scorespace.evaluation import comparisons, curves, decisions
    from scorespace.probabilities import summary as calibrated
    from scorespace.resampling.band import Band
    from scorespace.views import notebook, panel, plots, report, terminal
    from scorespace.views import sections as pages
else:  # what few commands need of the rooms above
    comparisons = later("scorespace.evaluation.comparisons")
    curves = later("scorespace.evaluation.curves")
    decisions = later("scorespace.evaluation.decisions")
    calibrated = later("scorespace.probabilities.summary")
    saved = later("scorespace.evaluation.baseline")
    fold_means = later("scorespace.comparisons.fold_means")
    since = later("scorespace.comparisons.since")
    sliced = later("scorespace.comparisons.slices")
    notebook, panel, plots, report, pages, terminal = (
        later(f"scorespace.views.{name}") for name in ("notebook", "panel", "plots", "report", "sections", "terminal")
    )

_FROM_BESIDE: Final = (numbers,)  # a file that says what is shown of predicted numbers


def _leads(models: Models, asked: Mapping[str, Sequence[MeasureSpec]]) -> dict[str, MeasureSpec]:
    """Of the measures of each model the one it is judged by first; else the first that has a better side."""
    found: dict[str, MeasureSpec] = {}
    for name, specs in asked.items():
        first = (spec for spec in leading(models[name]).specs if spec in specs)
        for lead in (*first, *(spec for spec in specs if spec.measure.best is not None), *specs):
            found.setdefault(name, lead)
    return found


@checked_methods
@dataclass(frozen=True)
class Evaluation:
    """What a sample says about its models: measures, curves, notes, a verdict, and views of them.

    Holds tables and never the frame they came from. All numbers share one draw of the cases.
    """

    models: Models
    level: float = 0.95
    seed: int = 0
    interval: str | None = None
    requested: tuple[MeasureSpec, ...] = ()
    condition: Condition | CostMatrix | Asymmetry | None = None
    sample_notes: tuple[Note, ...] = ()
    frame_library: frames.Library | None = None
    progress: Progress | None = field(default=None, compare=False, repr=False)
    parts: tuple[Parts, ...] = field(default=(), compare=False, repr=False)
    before: since.Before | None = field(default=None, compare=False, repr=False)

    # --- numbers

    @cached_property
    def draws(self) -> Draws:
        """The cases drawn again, once for all numbers."""
        return Draws(self.models.tables, self.models.pairs, seed=self.seed, progress=self.progress)

    @property
    def prevalence(self) -> float | None:
        """The share of positives where the models will be used, if it is stated."""
        return self.condition.prevalence if isinstance(self.condition, Condition) else None

    @cached_property
    def in_use(self) -> Models:
        """The models with their cases weighed to the stated prevalence, or as they are."""
        return self.models if self.prevalence is None else self.models.at_prevalence(self.prevalence)

    def check(self, specs: Sequence[MeasureSpec]) -> None:
        """Refuse measures that suit none of the models."""
        check_requests(self.models, specs, self._thresholds, self._stated)

    def measures(self, *names: str | MeasureSpec, model: str | None = None) -> Estimates:
        """Measures by name, each with its interval, for every model or one; the usual ones without names."""
        asked = self._wanted(names)
        if model is not None:
            self.models[model]  # refuses an unknown name
        chosen = asked if model is None else {model: asked[model]}
        found = self._estimates(chosen)
        notes = (n for name in chosen for n in self._notes_on(name, found) if n.code == "SS011")
        return Estimates(tuple(found), tuple(notes), partial(frames.frame_of, library=self.frame_library))

    def spread(self, *names: str) -> dict[str, dict[str, float]]:
        """The standard deviations of measures over the same resamples of all cases, by model: which is the steadier.

        Of the requested measures, or the usual ones, without names.
        """
        every = self._wanted(names)
        asked = [(name, bind(spec, self.models[name])) for name, specs in every.items() for spec in specs]
        found = iter(self.draws.spread(asked))
        return {name: {str(spec): next(found) for spec in specs} for name, specs in every.items()}

    @cached_property
    def summary(self) -> Estimates:
        """The requested measures, or the usual ones, of all models."""
        return self.measures()

    @cached_property
    def shown(self) -> Estimates:
        """The same as a screen shows them: each beside what it is misread without."""
        held = {(one.model, str(one.spec)): one for one in self.summary}
        every = {name: with_beside([one.spec for one in self.summary if one.model == name]) for name in self.models}
        missing = {name: [spec for spec in specs if (name, str(spec)) not in held] for name, specs in every.items()}
        if any(missing.values()):
            held |= {(one.model, str(one.spec)): one for one in self._estimates(missing)}
        ordered = tuple(held[name, str(spec)] for name, specs in every.items() for spec in specs)
        return replace(self.summary, estimates=ordered)

    @cached_property
    def slices(self) -> Slices | None:
        """Every number shown in each slice of the cases, beside the rest; None where no column makes slices."""
        if not self.parts:
            return None
        asked = {name: [one.spec for one in self.shown if one.model == name] for name in self.models}
        return sliced.slices_of_columns(
            self.parts,
            asked,
            at=self._thresholds,
            leads=_leads(self.models, asked),
            prevalence=self.prevalence,
            level=self.level,
            method=self.interval,
            seed=self.seed,
            progress=self.progress,
        )

    @cached_property
    def over_folds(self) -> tuple[fold_means.OverFolds, ...]:
        """The measures shown as means over folds, beside the pooled ones; none where cases come in no folds."""
        if self.models.pairs is None or self.models.pairs.fold is None:
            return ()
        asked = {name: [one.spec for one in self.shown if one.model == name] for name in self.models}
        return fold_means.over_folds(self.models.pairs, asked)

    @cached_property
    def differences(self) -> dict[str, Comparison]:
        """The measures shown of two models compared: the first is tested, the others have intervals alone."""
        if len(self.models) != 2:
            return {}
        return comparisons.differences(self.models, self.draws, self.shown, self.level)

    def calibration(self, model: str) -> calibrated.CalibrationSummary:
        """Whether the scores of a model can be taken as probabilities, in numbers and in words."""
        if model in self.calibrations:
            return self.calibrations[model]
        table, in_groups = self.models.score_table(model), self.models.grouped
        share = self.prevalence if model in self.models else None
        return calibrated.calibration_summary(table, model=model, seed=self.seed, in_groups=in_groups, prevalence=share)

    @cached_property
    def calibrations(self) -> dict[str, calibrated.CalibrationSummary]:
        """The same for every model whose scores lie between 0 and 1."""
        return calibrated.calibration_summaries(self.models, seed=self.seed, prevalence=self.prevalence)

    @cached_property
    def class_calibrations(self) -> dict[str, dict[str, calibrated.CalibrationSummary]]:
        """By model that scores several classes: that of its highest score, and of each class unless they are many."""
        return calibrated.class_calibration_summaries(self.models, seed=self.seed)

    # --- decisions

    def decide(
        self, condition: Condition | CostMatrix | Asymmetry, *, fit: Evaluation | None = None
    ) -> Decision | CostChoice | ShiftDecision:
        """The model and threshold of least cost under a condition, and what they cost on cases that did not choose.

        With `fit`, another sample chooses and this one judges. A cost matrix of two classes is a condition too;
        one of several needs models that decide. For predicted numbers an `Asymmetry` chooses the model and its shift.
        """
        return decisions.decide(self, condition, fit=fit, level=self.level)

    def choose(
        self,
        objective: str,
        *,
        at_least: Mapping[str, float] | None = None,
        at_most: Mapping[str, float] | None = None,
        fit: Evaluation | None = None,
    ) -> ConstrainedChoice:
        """The model and threshold best for a measure, among those that keep bounds on others.

        `ev.choose("ppv", at_least={"tpr": 0.9})`; with `fit`, another sample chooses and this one judges.
        """
        other = None if fit is None else fit.models
        bounds = decisions.bounds(at_least or {}, at_most or {}, self.prevalence)
        wanted = parse(objective).for_prevalence(self.prevalence)
        return decisions.choose(self.models, wanted, bounds, fit=other, level=self.level, seed=self.seed)

    def reject(self, cost: float, condition: Condition | CostMatrix | None = None) -> RejectChoice:
        """Which cases to hand over to somebody else, when that costs the given share of an error (Chow's rule).

        With a condition or a cost matrix, decisions cost what it says. Of several classes without one, the lead of the
        best over the second counts.
        """
        return decisions.reject(self.models, cost, condition, level=self.level, seed=self.seed)

    def mix(self, *, fpr: float | None = None, tpr: float | None = None) -> MixtureChoice:
        """The mixture of two classifiers that reaches the common hull at an FPR or a TPR."""
        return decisions.mix(self.models, fpr=fpr, tpr=tpr)

    @cached_property
    def decision(self) -> Decision | CostChoice | ShiftDecision | None:
        """The decision under the evaluation's own condition, if it has one; none where cases of a class are to come."""
        return None if self.condition is None or self._waits else self.decide(self.condition)

    def threshold(self, model: str) -> float:
        """The threshold a model is shown at: stated, of least cost, 0.5 for probabilities, or Youden's."""
        chosen = None if self.decision is None else decisions.threshold_of(self.decision, model)
        return shown_threshold(model, self.models[model], self.requested, chosen)

    def judged(self, one: Estimate) -> Value | None:
        """The cost under the evaluation's own condition at a threshold chosen here, on cases that did not choose it.

        None for every other number, and where the threshold was stated or the cases are too few.
        """
        if (
            self._stated is None
            or isinstance(one.spec.at, Top)
            or one.spec != placed(MeasureSpec(COST), self.models[one.model], one.spec.at, self._stated)
        ):
            return None
        return decisions.judged(self.decision, one.model, one.spec.at)

    def counts(self, model: str) -> Counts:
        """The four outcomes of a two-class model, at its threshold."""
        return self.models.counts(model, self._thresholds.get(model))

    # --- comparisons

    def compare(
        self,
        *models: str,
        test: str | None = None,
        measure: str | None = None,
        at: float | None = None,
        alternative: Alternative = "two-sided",
        adjust: str = "holm",
    ) -> Comparisons:
        """Tests between models on the same cases: those named, or all, by the test that suits or the one named.

        `at` compares decisions at a threshold; without it, models that only decide are compared as such.
        `alternative` is two-sided, greater or less: that the first model of a pair has the greater or lesser value.
        `adjust` is how p-values of several tests are adjusted: holm, hochberg, bonferroni, finner or, of all pairs,
        shaffer.
        """
        asked: dict[str, Any] = {"test": test, "alternative": alternative, "adjust": adjust}
        return comparisons.compare_models(self, models, measure, at=at, **asked)

    @cached_property
    def comparisons(self) -> Comparisons:
        """All models compared by the test that suits."""
        return self.compare()

    def compare_with(
        self,
        other: Evaluation,
        *models: str,
        test: str | None = None,
        measure: str | None = None,
        alternative: Alternative = "two-sided",
        adjust: str = "holm",
    ) -> Comparisons:
        """Each model here against the model of the same name on another, independent sample.

        By DeLong's unpaired test for the AUC, and by the bootstrap for any other measure.
        """
        asked: dict[str, Any] = {"test": test, "alternative": alternative, "adjust": adjust}
        return comparisons.compare_samples(self, other, models, measure, **asked)

    def compare_against(
        self,
        value: float,
        *models: str,
        test: str | None = None,
        measure: str | None = None,
        alternative: Alternative = "two-sided",
        adjust: str = "holm",
    ) -> Comparisons:
        """Each model's AUC, or another measure, against a value: by DeLong's z, or by the bootstrap."""
        asked: dict[str, Any] = {"test": test, "alternative": alternative, "adjust": adjust}
        return comparisons.compare_with(self, value, models, measure, **asked)

    @cached_property
    def changes(self) -> since.Changes | None:
        """Every number shown beside that of the baseline; None where there is none."""
        return None if self.before is None else self.changed()

    def changed(self, *names: str) -> since.Changes:
        """The same of measures by name; thresholds that are not stated are those of the baseline."""
        if self.before is None:
            raise ScoreSpaceError("there is no baseline to compare with.", hint='evaluate(…, baseline="FILE.json")')
        named = [spec for name in names for spec in parse_list(name)]
        specs = stated_on(self.models.scale, named) or self.requested
        at = dict(self._thresholds)
        if stated_threshold(self.requested) is None:
            at |= {name: value for name, value in self.before.thresholds.items() if at.get(name) is not None}
        every = wanted(self.models, specs, at, self._stated)
        asked = {name: with_beside(every[name]) for name in self.models if name in self.before.models}
        found = self._estimates(asked)
        return since.changes(
            self.before,
            {name: [one for one in found if one.model == name] for name in asked},
            partial(comparisons.sample_of, self),
            classes=self.models.classes,
            leads=_leads(self.models, asked),
            level=self.level,
            seed=self.seed,
        )

    # --- curves

    def curve(self, kind: str, model: str | None = None, **options: Any) -> Curve:
        """A curve of one model, by its kind, with options in parentheses or besides: `smooth(midpoint=median)`.

        Of a model that scores several classes, name one: `ev.curve("roc", "nb[setosa]")`.
        """
        return curves.curve(self, curves.requested(kind, **options), model)

    def curves(self, kind: str, **options: Any) -> dict[str, Curve]:
        """The curve of every model that has one, and of each class of the models that score several."""
        return dict(curves.family(self, curves.requested(kind, **options)).curves)

    def average_curve(self, kind: str, model: str | None = None, *, how: str = "vertical") -> Averaged:
        """The mean of a model's curves within folds, with a band; `how`: vertical, at each rate, or by threshold."""
        return curves.averaged(self, curves.requested(kind), model, how)

    def band(self, kind: str, model: str, *, simultaneous: bool = False, **options: Any) -> Band:
        """The band around a model's curve: of each point, or of the whole curve.

        That of a calibration curve is where it would lie if the scores were probabilities.
        """
        return curves.band(self, curves.requested(kind, **options), model, simultaneous)

    # --- words

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Findings on the sample and on each model, warnings first."""
        found = [*self.sample_notes, *sample_notes(tuple(self.models.classes), tuple(self.models.classes.values()))]
        found += weight_notes(self.models.values())
        found += prevalence_notes(self.models, self.prevalence)
        for name in self.models:
            found += self._notes_on(name, self.summary)
        found += interval_notes(self.summary, self.interval)
        found += smooth_notes(self.summary, self.in_use)
        if any(one.spec.measure.probability for one in self.summary):  # else nobody takes scores as probabilities
            found += calibration_notes(self.calibrations.values(), self.summary, self.models)
        found += group_notes(self.summary, self.models.groups) if self.models.grouped else ()
        found += self.decision.notes if self.decision is not None else ()
        found += self.slices.notes if self.slices is not None else ()
        found += self.changes.notes if self.changes is not None else ()
        return tuple(sorted(for_all(found, self.models), key=lambda one: one.level != "warning"))

    @cached_property
    def verdict(self) -> str:
        """The answer in a few sentences."""
        decided = None if self.decision is None else self.decision.words
        found = verdict(self.models, self._estimated, self._best_two, decided, self._thresholds.get)
        more = [one.words for one in (self.slices, self.changes) if one is not None]
        return " ".join([found, *more])

    def save(self, path: str | Path) -> Path:
        """Write it to a JSON file, to be the baseline of others, and return where that is.

        It holds what was asked and found, and the tables of the models: counts of cases by score, and no case.
        """
        return saved.save(self, path)

    # --- views

    def plot(self, kind: str = "roc", *, band: bool = False, **options: Any) -> Any:
        """A picture as an Altair chart: the curves of all models, or "confusion", "distribution", "ranks", "measures".

        Curves have simultaneous bands on request, where the kind has them.
        """
        return plots.as_altair(self.drawing(kind, band=band, **options))

    def drawing(self, kind: str, *, band: bool = False, **options: Any) -> Row:
        """The same as a Vega-Lite specification."""
        if kind in plots.PICTURES and not options:
            return plots.PICTURES[kind](self)
        found = curves.family(self, curves.requested(kind, **options))
        if not found.curves:
            self.curve(kind, next(iter(self.models)), **options)  # says why there is none
        bands = {name: self.band(kind, name, simultaneous=True, **options) for name in found.curves} if band else {}
        return found.picture(bands)

    def report(
        self, path: str | Path, *, title: str | None = None, sections: Sequence[str] = (), command: str | None = None
    ) -> Path:
        """Write the report, one self-contained page, and return where it is.

        `sections` names those to show, in place of all; `command` is what made it, for its foot.
        """
        page = pages.document(self, title, (sections,) if isinstance(sections, str) else sections, command)
        return report.write(page, path)

    @cached_property
    def operating(self) -> Any:
        """The two-class models at all their thresholds, for the panel of the page; None where there are none."""
        return panel.operating(self)

    @cached_property
    def document(self) -> Any:
        """The page of the evaluation, which every view renders in its own way."""
        return pages.document(self)

    @cached_property
    def brief(self) -> Any:
        """What of it fits one screen of text."""
        return pages.brief_document(self)

    def to_dict(self) -> Row:
        decision = {} if self.decision is None else {"decision": self.decision.to_dict()}
        asked = {str(one.spec) for one in self.summary}
        compared = [one.row() for name, one in self.differences.items() if name in asked]
        differences = {"comparisons": compared} if compared else {}
        models = self.models
        rows, slices, since_then = self._rows, {}, {}
        if self.slices is not None:
            rows = [{"slice": None, **row} for row in rows] + self.slices.rows()
            slices = {"slices": {name: self.slices.to_dict()[name] for name in ("by", "slices", "parity", "verdict")}}
        if self.changes is not None:
            told = self.changes.to_dict()
            since_then = {"baseline": {**told["baseline"], "rows": told["rows"], "verdict": told["verdict"]}}
        return {
            "schema": SCHEMA,
            "data": {"rows": models.rows, "classes": dict(models.classes), "positive": models.positive},
            "rows": rows,
            **slices,
            **differences,
            **since_then,
            **({"folds": [one.row() for one in self.over_folds]} if self.over_folds else {}),
            **decision,
            "verdict": self.verdict,
            "notes": [note.to_dict() for note in self.notes],
        }

    @property
    def _rows(self) -> list[Row]:
        """The rows of the measures; where a threshold was chosen on these cases, they say that values are apparent."""
        rows = self.summary.rows()
        chosen = [isinstance(one.spec.at, Threshold) and one.spec.at.chosen for one in self.summary]
        if not any(chosen):
            return rows
        return [{**row, "estimand": "apparent" if its else None} for row, its in zip(rows, chosen, strict=True)]

    def __repr__(self) -> str:
        return terminal.text(self.brief)

    def _repr_html_(self) -> str:
        # The picture shows the ROC curves, or what is taken for what.
        kind = "roc" if self.models.two_class else "confusion" if self.models.classes else None
        page = pages.document(self, names=("models", "notes"))
        return notebook.html(page, lambda: None if kind is None else self.drawing(kind))

    def __getstate__(self) -> dict[str, Any]:
        """What is kept when it is stored: what it was made from; the rest is computed again."""
        return {one.name: None if one.name == "progress" else getattr(self, one.name) for one in fields(self)}

    # --- what the above share

    @cached_property
    def _thresholds(self) -> dict[str, float | None]:
        return {name: self.threshold(name) if table.thresholded else None for name, table in self.models.items()}

    @property
    def _stated(self) -> Condition | CostMatrix | None:
        """The condition that costs are shown for."""
        if self._waits and isinstance(self.condition, Condition):
            return self.condition
        return None if self.decision is None else decisions.condition_of(self.decision)

    @property
    def _waits(self) -> bool:
        """Whether costs are told at the thresholds of a baseline alone, because these cases are of one class."""
        lone = isinstance(self.condition, Condition) and not 0 < self.models.prevalence < 1
        return lone and self.before is not None

    def _wanted(self, names: Sequence[str | MeasureSpec]) -> dict[str, list[MeasureSpec]]:
        """The measures by name, else those requested or the usual ones, of every model; refused where none suits."""
        specs = [spec for name in names for spec in (parse_list(name) if isinstance(name, str) else [name])]
        specs = stated_on(self.models.scale, specs)
        self.check(specs)
        return wanted(self.models, specs or self.requested, self._thresholds, self._stated)

    def _notes_on(self, model: str, found: Sequence[Estimate] | Estimates) -> list[Note]:
        chosen = self.decision is None and stated_threshold(self.requested) is None
        own = tuple(one for one in found if one.model == model)
        youden = partial(self._youden_of, model)
        look = Look(model, self._thresholds[model], chosen, own, self.draws.times, self.prevalence, youden)
        return list(notes_on(self.models[model], look))

    @cached_property
    def _by_youden(self) -> ConstrainedChoice:
        """The thresholds of highest Youden index: at these, scores that are no probabilities are shown."""
        return self.choose(YOUDEN)

    def _youden_of(self, model: str) -> Value:
        """Youden's index of a model on cases that did not choose the threshold where it is highest."""
        return next(one.honest for one in self._by_youden.candidates if one.model == model)

    def _estimates(self, asked: Mapping[str, Sequence[MeasureSpec]]) -> list[Estimate]:
        """All that is asked, in its order, each from the draws that suit it."""
        options: dict[str, Any] = {"level": self.level, "method": self.interval, "strict": bool(self.requested)}
        return estimates(asked, self.draws, **options)

    def _estimated(self, names: Sequence[str], spec: MeasureSpec) -> list[Estimate]:
        shown = {one.model: one for one in self.summary if one.spec == spec}
        missing = self._estimates({name: [spec] for name in names if name not in shown})
        every = shown | {one.model: one for one in missing}
        return [every[name] for name in names]

    def _best_two(self, ordered: Sequence[Estimate]) -> Comparison | None:
        """The test of the best model against the next, where the cases are known pair by pair."""
        return comparisons.best_two(self, ordered) if self.models.comparable and len(ordered) > 1 else None

"""Where edges and core meet: from data and roles to an Evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from scorespace import frames
from scorespace.arguments import checked_methods
from scorespace.comparisons.comparison import Comparison, Comparisons
from scorespace.comparisons.paired import estimate_by_groups
from scorespace.conditions import Condition, CostMatrix
from scorespace.curves import Curve
from scorespace.decisions import (
    ConstrainedChoice,
    Constraint,
    CostChoice,
    Decision,
    MixtureChoice,
    RejectChoice,
    best_threshold,
    choose_mixture,
    choose_rejection,
    choose_under,
    decide,
    decide_several,
)
from scorespace.decisions.choice import with_intervals
from scorespace.errors import (
    ConditionError,
    ScoreSpaceError,
    did_you_mean,
    listing,
)
from scorespace.evaluation.comparisons import compare_models, compare_samples, compare_with, differences
from scorespace.evaluation.curves import band, curve, curve_names
from scorespace.evaluation.findings import (
    average_notes,
    calibration_notes,
    class_notes,
    decision_notes,
    group_notes,
    interval_notes,
    sample_notes,
    score_notes,
    smooth_notes,
)
from scorespace.evaluation.requests import placed, suiting, usual
from scorespace.evaluation.verdict import verdict
from scorespace.measures import MeasureSpec, parse, parse_list
from scorespace.measures.confusion import youden
from scorespace.probabilities.summary import CalibrationSummary, calibration_summary
from scorespace.resampling.band import Band
from scorespace.resampling.estimate import Estimate, Estimates, estimate, resolve
from scorespace.resampling.estimate import suiting as suiting_intervals
from scorespace.results import SCHEMA, Note, Progress, Row
from scorespace.tables import Array, ClassTable, ConfusionTable, Counts, ScoreTable, Table
from scorespace.tables.classes import TOP
from scorespace.tables.pair import PairTable

_CLASSES_JUDGED = 12


@checked_methods
@dataclass(frozen=True)
class Evaluation:
    """What a sample says about its models: measures, curves, notes, a verdict, and views of them.

    Holds tables and, for comparing models, each case's place in them (`pairs`) or, of decisions between
    several classes, which are `right`; never the frame they came from.
    """

    name: str
    rows: int
    classes: Mapping[str, float]
    positive: str | None
    models: Mapping[str, Table]
    level: float = 0.95
    seed: int = 0
    interval: str | None = None
    sample_notes: tuple[Note, ...] = ()
    requested: tuple[MeasureSpec, ...] = ()
    condition: Condition | CostMatrix | None = None
    pairs: PairTable | None = field(default=None, repr=False)
    right: Mapping[str, Array] = field(default_factory=dict, compare=False, repr=False)
    frame_library: frames.Library | None = None
    progress: Progress | None = field(default=None, compare=False, repr=False)

    def measures(self, *names: str | MeasureSpec, model: str | None = None) -> Estimates:
        """Measures by name, each with its interval, for every model or one; the usual ones without names."""
        specs = [spec for name in names for spec in (parse_list(name) if isinstance(name, str) else [name])]
        self.check_requests(specs)
        chosen = {model: self.table(model)} if model is not None else self.models
        wanted = {name: self._requests(name, specs or self.requested) for name in chosen}
        total, done, found = sum(map(len, wanted.values())), 0, []
        for name, of_model in wanted.items():
            for spec in of_model:
                found.append(self._estimate(name, spec, done, total))
                done += 1
        notes = [n for name, of_model in wanted.items() for n in self._average_notes(name, of_model)]
        return Estimates(tuple(found), tuple(notes), partial(frames.frame_of, library=self.frame_library))

    @cached_property
    def summary(self) -> Estimates:
        """The requested measures, or the usual ones, of all models."""
        return self.measures()

    @cached_property
    def differences(self) -> dict[str, Comparison]:
        """The requested measures of two scoring models compared, by measure: AUC by DeLong, others by bootstrap.

        Only where the models are two and shown at the same thresholds; beyond a few thousand cases the
        bootstrap takes long, and only the AUC is compared.
        """
        return differences(self)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Findings on the sample and on each model, warnings first."""
        found = [*self.sample_notes, *sample_notes(tuple(self.classes), tuple(self.classes.values()))]
        for name, table in self.models.items():
            if isinstance(table, ScoreTable):
                found += score_notes(
                    name, table, self.threshold(name), chosen=not (self._asked_thresholds or self.decision)
                )
            elif isinstance(table, ClassTable):
                found += class_notes(name, table)
            elif table.positive is not None and len(table.classes) == 2:
                found += decision_notes(name, table.counts_of(table.positive))
        found += self.summary.notes
        found += interval_notes(self.summary)
        found += smooth_notes(self.summary, self.models)
        found += calibration_notes(self.calibrations.values(), self.summary, self.models)
        found += group_notes(self.summary) if self.grouped else ()
        found += self.decision.notes if self.decision is not None else ()
        return tuple(sorted(dict.fromkeys(found), key=lambda one: one.level != "warning"))

    def decide(self, condition: Condition | CostMatrix) -> Decision | CostChoice:
        """The model and threshold of least cost under a condition, with intervals on both.

        A cost matrix of two classes is a condition too; one of several needs models that decide.
        """
        if isinstance(condition, CostMatrix) and self.positive is not None and len(self.classes) == 2:
            condition = condition.aligned(tuple(self.classes)).condition(self.positive)
        if isinstance(condition, Condition):
            chosen = decide(self.deciding, condition)
            return with_intervals(chosen, self.deciding, level=self.level, seed=self.seed, progress=self.progress)
        crisp = {name: table for name, table in self.deciding.items() if isinstance(table, ConfusionTable)}
        if not crisp:
            raise ConditionError("costs of several classes need decisions.", hint="decisions=… instead of scores=…")
        return decide_several(crisp, condition)

    def compare(
        self,
        *models: str,
        test: str | None = None,
        measure: str | None = None,
        at: float | None = None,
        rope: float | None = None,
    ) -> Comparisons:
        """Tests between models on the same cases: those named, or all, by the test that suits or the one named.

        `at` compares decisions at a threshold; without it, models that only decide are compared as such.
        `rope` is what the test bayes-t takes for practically equal.
        """
        return compare_models(self, models, test=test, measure=measure, at=at, rope=rope)

    @property
    def grouped(self) -> bool:
        """Whether cases come in groups that are drawn whole."""
        of_classes = (table for table in self.models.values() if isinstance(table, ClassTable))
        held = [self.pairs, *of_classes]
        return any(one is not None and one.group is not None for one in held)

    @property
    def comparable(self) -> bool:
        """Whether at least two models can be compared case by case."""
        paired = 0 if self.pairs is None else len(self.pairs.models)
        alike = [name for name in self.class_models if not self._weighted(name)]
        return max(paired, len(alike), len(self.right)) > 1

    def _weighted(self, model: str) -> bool:
        table = self.models[model]
        return isinstance(table, ClassTable) and table.weight is not None

    def compare_with(
        self, other: Evaluation, *models: str, test: str | None = None, measure: str | None = None
    ) -> Comparisons:
        """Each model here against the model of the same name on another, independent sample.

        By DeLong's unpaired test for the AUC, and by the bootstrap for any other measure.
        """
        return compare_samples(self, other, models, test=test, measure=measure)

    def compare_against(
        self, value: float, *models: str, test: str | None = None, measure: str | None = None
    ) -> Comparisons:
        """Each model's AUC, or another measure, against a value: by DeLong's z, or by the bootstrap."""
        return compare_with(self, value, models, test=test, measure=measure)

    def choose(
        self, objective: str, *, at_least: Mapping[str, float] | None = None, at_most: Mapping[str, float] | None = None
    ) -> ConstrainedChoice:
        """The model and threshold best for a measure, among those that keep bounds on others.

        `ev.choose("ppv", at_least={"tpr": 0.9})`
        """
        if not self.two_class_models:
            raise ConditionError(
                "a choice by a measure needs a positive class.",
                seen=f"decisions between {listing(self.classes)}",
                hint="state the positive class, or a cost matrix instead",
            )
        bounds = [Constraint(parse(name), bound) for name, bound in (at_least or {}).items()]
        bounds += [Constraint(parse(name), bound, least=False) for name, bound in (at_most or {}).items()]
        return choose_under({name: self.deciding[name] for name in self.two_class_models}, parse(objective), bounds)

    def reject(self, cost: float) -> RejectChoice:
        """Which cases to hand over to somebody else, when that costs the given share of an error (Chow's rule)."""
        return choose_rejection(self.deciding, cost)

    def mix(self, *, fpr: float | None = None, tpr: float | None = None) -> MixtureChoice:
        """The mixture of two classifiers that reaches the common hull at an FPR or a TPR."""
        return choose_mixture({name: self.deciding[name] for name in self.two_class_models}, fpr=fpr, tpr=tpr)

    @cached_property
    def decision(self) -> Decision | CostChoice | None:
        """The decision under the evaluation's own condition, if it has one."""
        return None if self.condition is None else self.decide(self.condition)

    @cached_property
    def verdict(self) -> str:
        """The answer in a few sentences."""
        return verdict(self)

    def check_requests(self, specs: Sequence[MeasureSpec]) -> None:
        """Refuse a request that suits none of the models, with the reason."""
        for spec in specs:
            if not any(suiting([spec], table, self._threshold_or_none(name)) for name, table in self.models.items()):
                name, table = next(iter(self.models.items()))
                resolve(placed(spec, table, self._threshold_or_none(name)), table)  # raises the error that says why

    def table(self, model: str) -> Table:
        """The table of a model."""
        if model not in self.models:
            near = did_you_mean(model, self.models)
            raise ScoreSpaceError(
                f"there is no model {model!r}.",
                seen=listing(self.models),
                hint=f"did you mean {near!r}?" if near else None,
            )
        return self.models[model]

    def threshold(self, model: str) -> float:
        """The threshold a model is shown at.

        The first one asked for; else that of least cost under the condition; else 0.5 for
        probabilities; else that of the highest Youden index.
        """
        if self._asked_thresholds:
            return self._asked_thresholds[0]
        table = self.table(model)
        if not isinstance(table, ScoreTable):
            what = "gives decisions" if isinstance(table, ConfusionTable) else "decides by the highest score"
            raise ScoreSpaceError(f"{model} {what}, so it has no threshold.")
        if isinstance(self.decision, Decision):
            return next(choice.threshold for choice in self.decision.choices if choice.model == model)
        if table.probabilities:
            return 0.5
        return best_threshold(table, youden).threshold

    def counts(self, model: str) -> Counts:
        """The four outcomes of a two-class model, at its threshold."""
        table = self.table(model)
        if isinstance(table, ScoreTable):
            return table.at(self.threshold(model))
        if isinstance(table, ClassTable) or table.positive is None:
            raise ScoreSpaceError(f"{model} decides between {len(table.classes)} classes, none of them positive.")
        return table.counts_of(table.positive)

    def curve(self, kind: str, model: str | None = None, *, measure: str = "f1", **options: Any) -> Curve:
        """A curve of one model, by its kind; threshold curves are of the given measure, options go to the curve.

        Of a model that scores several classes, name one: `ev.curve("roc", "nb[setosa]")`.
        """
        return curve(self, kind, model, measure, **options)

    def band(self, kind: str, model: str, *, simultaneous: bool = False) -> Band:
        """The band around a model's ROC or precision-recall curve: of each point, or of the whole curve.

        That of a calibration curve is where it would lie if the scores were probabilities.
        """
        return band(self, kind, model, simultaneous)

    def calibration(self, model: str) -> CalibrationSummary:
        """Whether the scores of a model can be taken as probabilities, in numbers and in words."""
        if model in self.calibrations:
            return self.calibrations[model]
        if isinstance(self.models.get(model), ConfusionTable):
            raise ScoreSpaceError(f"{model} gives decisions, so there are no probabilities to judge.")
        return calibration_summary(self.score_table(model), model=model, seed=self.seed)

    @cached_property
    def calibrations(self) -> dict[str, CalibrationSummary]:
        """The same for every model whose scores lie between 0 and 1."""
        return {
            name: calibration_summary(table, model=name, seed=self.seed)
            for name, table in self.models.items()
            if isinstance(table, ScoreTable) and table.probabilities
        }

    @cached_property
    def class_calibrations(self) -> dict[str, dict[str, CalibrationSummary]]:
        """By model that scores several classes: that of its highest score, and of each class unless they are many."""
        each = self.present if len(self.present) <= _CLASSES_JUDGED else []
        tables = {name: table for name, table in self.models.items() if isinstance(table, ClassTable)}
        return {
            name: {of: self.calibration(f"{name}[{of}]") for of in (TOP, *each)}
            for name, table in tables.items()
            if table.probabilities and len(self.present) > 1
        }

    def curves(self, kind: str, *, measure: str = "f1", **options: Any) -> dict[str, Curve]:
        """The curve of every two-class model, and of each class of the models that score several."""
        return {name: curve(self, kind, name, measure, **options) for name in curve_names(self, kind)}

    def score_table(self, model: str) -> ScoreTable:
        """The scores of a model: a crisp decision as 1 and 0, of several classes the one in brackets.

        `nb[top]` is the highest score of each case, positive where it is that of the right class.
        """
        name = next((one for one in self.class_models if model.startswith(f"{one}[")), model)
        of = model.removeprefix(name)[1:-1]
        scored = None if model in self.models else self.models.get(name)
        if isinstance(scored, ClassTable) and of in scored.classes:
            return scored.one_vs_rest(scored.classes.index(of))
        if isinstance(scored, ClassTable) and of == TOP:
            return scored.top
        table = self.table(model)
        if isinstance(table, ClassTable):
            raise ScoreSpaceError(
                f"{model} scores {len(table.classes)} classes.", hint=f"name one: {model}[{table.classes[0]}]"
            )
        return table if isinstance(table, ScoreTable) else table.score_table()

    @cached_property
    def deciding(self) -> dict[str, ScoreTable | ConfusionTable]:
        """The tables of the models, with the decisions of the highest score for those that score several classes."""
        return {
            name: table.decisions if isinstance(table, ClassTable) else table for name, table in self.models.items()
        }

    @property
    def class_models(self) -> list[str]:
        """The models that score several classes."""
        return [name for name, table in self.models.items() if isinstance(table, ClassTable)]

    @property
    def present(self) -> list[str]:
        """The classes that occur."""
        return [name for name, count in self.classes.items() if count]

    @property
    def two_class_models(self) -> list[str]:
        """The models that decide between positive and negative."""
        return [name for name, t in self.models.items() if isinstance(t, ScoreTable) or t.positive is not None]

    def plot(self, kind: str = "roc", *, measure: str = "f1", band: bool = False, **options: Any) -> Any:
        """The curves of all models as an Altair chart, with simultaneous bands on request (roc, pr, calibration)."""
        from scorespace.views import plots  # Altair loads only when a picture is wanted

        return plots.plot(self, kind, measure, band, **options)

    def report(self, path: str | Path) -> Path:
        """Write the report, one self-contained page, and return where it is."""
        from scorespace.views import report, sections  # as above

        return report.write(sections.document(self), path)

    @property
    def prevalence(self) -> float:
        """Share of positives in the sample."""
        total = sum(self.classes.values())
        if self.positive is None or not total:
            return float("nan")
        return self.classes.get(self.positive, 0.0) / total

    def to_dict(self) -> Row:
        decision = {} if self.decision is None else {"decision": self.decision.to_dict()}
        differences = {"comparisons": [one.row() for one in self.differences.values()]} if self.differences else {}
        return {
            "schema": SCHEMA,
            "data": {"rows": self.rows, "classes": dict(self.classes), "positive": self.positive},
            "rows": self.summary.rows(),
            **differences,
            **decision,
            "verdict": self.verdict,
            "notes": [note.to_dict() for note in self.notes],
        }

    def __repr__(self) -> str:
        from scorespace.views import sections, terminal  # Rich loads only when there is something to print

        return terminal.text(sections.document(self).brief())

    def _repr_html_(self) -> str:
        from scorespace.views import notebook, sections

        return notebook.html(sections.document(self).brief())

    def _estimate(self, model: str, spec: MeasureSpec, done: int, total: int) -> Estimate:
        def progress(share: float) -> None:
            if self.progress is not None:
                self.progress((done + share) / total)

        table = self.models[model]
        if self.pairs is not None and self.pairs.group is not None and isinstance(table, ScoreTable):
            found = estimate_by_groups(self.pairs, model, spec, level=self.level, seed=self.seed, progress=progress)
            progress(1.0)
            return found
        wanted = self.interval if self.interval in suiting_intervals(*_request(spec, table)) else None
        found = estimate(spec, table, model=model, level=self.level, seed=self.seed, method=wanted, progress=progress)
        progress(1.0)
        return found

    def _requests(self, model: str, asked: Sequence[MeasureSpec]) -> list[MeasureSpec]:
        table, at = self.models[model], self._threshold_or_none(model)
        condition = self.decision.condition if isinstance(self.decision, Decision) else None
        return suiting(asked, table, at) if asked else usual(table, at, condition)

    def _threshold_or_none(self, model: str) -> float | None:
        return self.threshold(model) if isinstance(self.models[model], ScoreTable) else None

    @property
    def _asked_thresholds(self) -> list[float]:
        return [spec.at for spec in self.requested if spec.at is not None]

    def _average_notes(self, model: str, specs: Sequence[MeasureSpec]) -> list[Note]:
        table = self.models[model]
        return [] if isinstance(table, ScoreTable) else list(average_notes(model, specs, table))


def _request(spec: MeasureSpec, table: Table) -> tuple[MeasureSpec, Any]:
    """A request with the form of the table that it is computed from."""
    return spec, resolve(spec, table)[1]

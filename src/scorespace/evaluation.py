"""Where edges and core meet: from data and roles to an Evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from scorespace import frames
from scorespace.comparisons.band import Band, pr_band, roc_band
from scorespace.comparisons.choice import with_intervals
from scorespace.comparisons.compare import compare
from scorespace.comparisons.comparison import Comparison, Comparisons
from scorespace.comparisons.interval import Estimate, Estimates, estimate, resolve
from scorespace.comparisons.interval import suiting as suiting_intervals
from scorespace.comparisons.paired import estimate_by_groups
from scorespace.conditions import Condition, CostMatrix
from scorespace.curves import (
    Curve,
    brier_curve,
    cost_curve,
    gain,
    hull,
    lift_curve,
    net_benefit,
    pr,
    rejection,
    roc,
    sweep,
)
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
from scorespace.errors import (
    ConditionError,
    MeasureError,
    ScoreSpaceError,
    did_you_mean,
    listing,
)
from scorespace.findings import (
    average_notes,
    decision_notes,
    group_notes,
    interval_notes,
    sample_notes,
    score_notes,
)
from scorespace.measures import MeasureSpec, parse, parse_list
from scorespace.measures.confusion import youden
from scorespace.requests import placed, suiting, usual
from scorespace.results import SCHEMA, Note, Progress, Row
from scorespace.tables import ConfusionTable, Counts, ScoreTable
from scorespace.tables.pair import PairTable
from scorespace.verdict import verdict

_BOOTSTRAPPED_ROWS = 5_000
CURVES = {
    "roc": roc,
    "pr": pr,
    "gain": gain,
    "lift": lift_curve,
    "hull": hull,
    "cost": cost_curve,
    "brier": brier_curve,
    "net_benefit": net_benefit,
    "rejection": rejection,
}
"""Curves of a score table by the kind users type; `threshold` takes a measure besides."""


@dataclass(frozen=True)
class Evaluation:
    """What a sample says about its models: measures, curves, notes, a verdict, and views of them.

    Holds tables and, for comparing models, each case's place in them; never the frame they came from.
    """

    name: str
    rows: int
    classes: Mapping[str, float]
    positive: str | None
    models: Mapping[str, ScoreTable | ConfusionTable]
    level: float = 0.95
    seed: int = 0
    interval: str | None = None
    sample_notes: tuple[Note, ...] = ()
    requested: tuple[MeasureSpec, ...] = ()
    condition: Condition | CostMatrix | None = None
    pairs: PairTable | None = field(default=None, repr=False)
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
        scoring = [name for name, table in self.models.items() if isinstance(table, ScoreTable)]
        if self.pairs is None or len(self.models) != 2 or len(scoring) != 2:
            return {}
        asked = [{str(one.spec) for one in self.summary if one.model == name} for name in scoring]
        specs = [one.spec for one in self.summary if one.model == scoring[0] and str(one.spec) in asked[1]]
        quick = self.rows <= _BOOTSTRAPPED_ROWS
        independent = self.pairs.group is None

        def test(spec: MeasureSpec) -> str:
            return "delong" if spec == MeasureSpec("auc") and independent else "bootstrap"

        return {
            str(spec): self.compare(*scoring, measure=str(spec), test=test(spec))[0]
            for spec in specs
            if quick or test(spec) == "delong"
        }

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Findings on the sample and on each model, warnings first."""
        found = [*self.sample_notes, *sample_notes(tuple(self.classes), tuple(self.classes.values()))]
        for name, table in self.models.items():
            if isinstance(table, ScoreTable):
                found += score_notes(
                    name, table, self.threshold(name), chosen=not (self._asked_thresholds or self.decision)
                )
            elif table.positive is not None and len(table.classes) == 2:
                found += decision_notes(name, table.counts_of(table.positive))
        found += self.summary.notes
        found += interval_notes(self.summary)
        found += group_notes(self.summary) if self.pairs is not None and self.pairs.group is not None else ()
        found += self.decision.notes if self.decision is not None else ()
        return tuple(sorted(dict.fromkeys(found), key=lambda one: one.level != "warning"))

    def decide(self, condition: Condition | CostMatrix) -> Decision | CostChoice:
        """The model and threshold of least cost under a condition, with intervals on both.

        A cost matrix of two classes is a condition too; one of several needs models that decide.
        """
        if isinstance(condition, CostMatrix) and self.positive is not None and len(self.classes) == 2:
            condition = condition.aligned(tuple(self.classes)).condition(self.positive)
        if isinstance(condition, Condition):
            chosen = decide(self.models, condition)
            return with_intervals(chosen, self.models, level=self.level, seed=self.seed, progress=self.progress)
        crisp = {name: table for name, table in self.models.items() if isinstance(table, ConfusionTable)}
        if not crisp:
            raise ConditionError("costs of several classes need decisions.", hint="decisions=… instead of scores=…")
        return decide_several(crisp, condition)

    def compare(
        self, *models: str, test: str | None = None, measure: str | None = None, at: float | None = None
    ) -> Comparisons:
        """Tests between models on the same cases: those named, or all, by the test that suits or the one named.

        `at` compares decisions at a threshold; without it, models that only decide are compared as such.
        """
        if len(self.models) < 2:
            raise ScoreSpaceError("a comparison needs two models.", seen=listing(self.models))
        if self.pairs is None:
            raise ScoreSpaceError(
                "these models cannot be compared case by case.",
                seen="weights, tables, several classes, or more rows than are kept",
                hint="paired=True, two classes and no weights",
            )
        if at is not None and (measure is not None or not (test or "mcnemar").startswith("mcnemar")):
            wanted = parse(measure).label if measure else "acc"
            raise MeasureError(f"at={at:g} is for McNemar's test.", hint=f"measure={wanted + f'@{at:g}'!r}")
        if measure is not None and (test or "").startswith("mcnemar"):
            raise MeasureError(f"McNemar's test is for acc, not for {measure}.", hint="test bootstrap instead")
        names = models or tuple(name for name in self.pairs.models)
        crisp = [name for name in names if isinstance(self.table(name), ConfusionTable)]
        thresholds = None
        if at is not None or (measure is None and crisp) or (test or "").startswith("mcnemar"):
            thresholds = {name: self._cut(name, at) for name in self.pairs.models}
        spec = None if measure is None else parse(measure)
        return compare(
            self.pairs,
            test=test,
            spec=spec,
            thresholds=thresholds,
            chosen=names,
            level=self.level,
            seed=self.seed,
            progress=self.progress,
        )

    def _cut(self, model: str, at: float | None) -> float:
        """Where decisions are cut: a crisp one between 0 and 1, a score where stated or where it is shown."""
        if isinstance(self.models[model], ConfusionTable):
            return 0.5
        return self.threshold(model) if at is None else at

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
        return choose_under({name: self.models[name] for name in self.two_class_models}, parse(objective), bounds)

    def reject(self, cost: float) -> RejectChoice:
        """Which cases to hand over to somebody else, when that costs the given share of an error (Chow's rule)."""
        return choose_rejection(self.models, cost)

    def mix(self, *, fpr: float | None = None, tpr: float | None = None) -> MixtureChoice:
        """The mixture of two classifiers that reaches the common hull at an FPR or a TPR."""
        return choose_mixture({name: self.models[name] for name in self.two_class_models}, fpr=fpr, tpr=tpr)

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

    def table(self, model: str) -> ScoreTable | ConfusionTable:
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
        if isinstance(table, ConfusionTable):
            raise ScoreSpaceError(f"{model} gives decisions, so it has no threshold.")
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
        if table.positive is None:
            raise ScoreSpaceError(f"{model} decides between {len(table.classes)} classes, none of them positive.")
        return table.counts_of(table.positive)

    def curve(self, kind: str, model: str | None = None, *, measure: str = "f1") -> Curve:
        """A curve of one model: roc, pr, gain, lift, hull, or threshold (of the given measure)."""
        if model is None:
            if len(self.models) != 1:
                raise ScoreSpaceError(
                    "which model?", seen=listing(self.models), hint=f"model={next(iter(self.models))!r}"
                )
            model = next(iter(self.models))
        table = self.table(model)
        if isinstance(table, ConfusionTable):
            table = table.score_table()
        if kind == "threshold":
            spec = parse(measure)
            if spec.measure.table is not Counts:
                raise MeasureError(
                    f"{spec} covers all thresholds, so it has no curve over them.", hint="such as f1 or ppv"
                )
            return sweep(table, spec.measure, **dict(spec.options))
        if kind not in CURVES:
            kinds = [*CURVES, "threshold"]
            near = did_you_mean(kind, kinds)
            raise ScoreSpaceError(
                f"there is no curve of kind {kind!r}.",
                seen=listing(kinds, most=len(kinds)),
                hint=f"did you mean {near}?" if near else None,
            )
        if kind == "rejection":  # doubt is nearness to the threshold, wherever that is
            crisp = isinstance(self.table(model), ConfusionTable)
            return rejection(table, 0.5 if crisp else self.threshold(model))
        return CURVES[kind](table)

    def band(self, kind: str, model: str, *, simultaneous: bool = False) -> Band:
        """The band around a model's ROC or precision-recall curve: of each point, or of the whole curve."""
        bands = {"roc": roc_band, "pr": pr_band}
        if kind not in bands:
            raise ScoreSpaceError(f"there is no band for {kind!r}.", seen=listing(bands))
        table = self.table(model)
        if isinstance(table, ConfusionTable):
            table = table.score_table()
        return bands[kind](table, level=self.level, simultaneous=simultaneous, seed=self.seed)

    def curves(self, kind: str, *, measure: str = "f1") -> dict[str, Curve]:
        """The curve of every two-class model."""
        return {name: self.curve(kind, name, measure=measure) for name in self.two_class_models}

    @property
    def two_class_models(self) -> list[str]:
        """The models that decide between positive and negative."""
        return [name for name, t in self.models.items() if isinstance(t, ScoreTable) or t.positive is not None]

    def plot(self, kind: str = "roc", *, measure: str = "f1", band: bool = False) -> Any:
        """The curves of all models as an Altair chart, with simultaneous bands on request (roc, pr)."""
        from scorespace.views import plots  # Altair loads only when a picture is wanted

        return plots.plot(self, kind, measure, band)

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
        return list(average_notes(model, specs, table)) if isinstance(table, ConfusionTable) else []


def _request(spec: MeasureSpec, table: ScoreTable | ConfusionTable) -> tuple[MeasureSpec, Any]:
    """A request with the form of the table that it is computed from."""
    return spec, resolve(spec, table)[1]

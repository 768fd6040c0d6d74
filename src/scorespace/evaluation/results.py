"""Results: every number of an evaluation, each computed once; the only source of numbers for all views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, Final, Literal, NamedTuple

from scorespace import io
from scorespace.argument_checks import check_method_arguments
from scorespace.calibration import summary as calibrated
from scorespace.case_costs import CaseCosts
from scorespace.comparisons import baseline, folds
from scorespace.comparisons import slices as sliced
from scorespace.comparisons.grades import MAX_GRADES, herfindahl
from scorespace.comparisons.leaderboard import Leaderboard, can_lead
from scorespace.comparisons.result import Comparison, Comparisons
from scorespace.comparisons.slices import Slices
from scorespace.costs import Asymmetry, Condition, CostMatrix
from scorespace.decisions import (
    CaseCostDecision,
    ConstrainedChoice,
    CostEstimate,
    Decision,
)
from scorespace.decisions import choose as choose_minimum_cost
from scorespace.drift.stability import Stability, index_of_tables
from scorespace.errors import ScoreSpaceError
from scorespace.evaluation import comparisons, decisions, regression, section_data, values
from scorespace.evaluation.default_measures import (
    COST,
    YOUDEN,
    check_requests,
    placed,
    shown_threshold,
    stated_on,
    wanted,
    with_companions,
)
from scorespace.evaluation.findings import (
    FindingContext,
    calibration_notes,
    for_all,
    group_notes,
    interval_notes,
    notes_on,
    notes_on_looks,
    prevalence_notes,
    sample_notes,
    smooth_notes,
    weight_notes,
)
from scorespace.evaluation.multiclass_panel import multiclass_panel
from scorespace.evaluation.operating_panel import operating_panel
from scorespace.evaluation.shift_panel import shift_panel
from scorespace.evaluation.verdict import (
    Conclusion,
    LeadingMeasure,
    conclude,
    default_verdict,
    headline,
    leading,
    leading_conclusion,
    leading_of,
    requested_verdict,
)
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import Estimate, Estimates, estimates
from scorespace.measures import MeasureSpec, parse, parse_list
from scorespace.measures.class_measures import ClassMeasures
from scorespace.measures.request import bind, stated_threshold
from scorespace.profiles import GENERAL, PROFILES, Profile
from scorespace.report.section_numbers import CalibrationBins, SmoothModel
from scorespace.results import Note, Progress, Row
from scorespace.tables import ConfusionTable, Counts, ScoreTable, TopCases
from scorespace.tables.models import Models, SubgroupModels
from scorespace.tables.threshold import Threshold

_FROM_BESIDE: Final = (regression, values)  # declare what is shown of regression models, and of values per case


def _leads(models: Models, asked: Mapping[str, Sequence[MeasureSpec]]) -> dict[str, MeasureSpec]:
    """The leading measure of each model: that of its kind, else the first with a better direction."""
    found: dict[str, MeasureSpec] = {}
    for name, specs in asked.items():
        first = (spec for spec in leading(models[name]).specs if spec in specs)
        for lead in (*first, *(spec for spec in specs if spec.best is not None), *specs):
            found.setdefault(name, lead)
    return found


MAX_MODELS_IN_PAIRS: Final = 8
"""Models up to which the verdict's p-value is adjusted over all pairs."""


class Quantity(NamedTuple):
    """What a number is an estimate of."""

    model: str
    measure: str
    population: Literal["apparent", "cross-fitted", "external"]
    at: Any
    prevalence: float | None


@check_method_arguments
@dataclass(frozen=True)
class Results:
    """Every number of an evaluation, computed when first requested, and then kept.

    Views take numbers from here and from nowhere else.

    Attributes
    ----------
    models : Models
        The tables of the models.
    level : float
        Confidence level.
    seed : int
        Seed of the bootstrap.
    interval : str or None
        Method of the confidence intervals, if one was stated.
    requested : tuple of MeasureSpec
        The requested measures; empty for the default ones.
    condition : Condition, CostMatrix, Asymmetry, CaseCosts or None
        Costs and prevalence in use.
    sample_notes : tuple of Note
        Notes on the data.
    frame_library : str or None
        Library of the data frame that the data came from.
    progress : callable or None
        Called with the share of the work that is done.
    parts : tuple of SampleParts
        The slices.
    before : Baseline or None
        The baseline.
    profile : Profile
        Names, default measures and words of a profession.
    full : bool
        Whether all usual measures are shown, instead of the short default.
    parity : bool
        Whether slices are also judged by parity of rates; profiles may do so anyway.
    stated_threshold : float or None
        Threshold at which decisions are shown, unless a measure states its own.
    stated_prevalence : float or None
        Prevalence where the models will be used, if stated without costs.
    """

    models: Models
    level: float = 0.95
    seed: int = 0
    interval: str | None = None
    requested: tuple[MeasureSpec, ...] = ()
    condition: Condition | CostMatrix | Asymmetry | CaseCosts | None = None
    sample_notes: tuple[Note, ...] = ()
    frame_library: io.Library | None = None
    progress: Progress | None = field(default=None, compare=False, repr=False)
    parts: tuple[SubgroupModels, ...] = field(default=(), compare=False, repr=False)
    before: baseline.Baseline | None = field(default=None, compare=False, repr=False)
    profile: Profile = field(default=PROFILES[GENERAL], repr=False)
    full: bool = False
    parity: bool = False
    stated_threshold: float | None = None
    stated_prevalence: float | None = None

    @cached_property
    def draws(self) -> BootstrapDraws:
        """Bootstrap replicates of the cases, shared by all numbers."""
        return BootstrapDraws(self.models.tables, self.models.pairs, seed=self.seed, progress=self.progress)

    @property
    def prevalence(self) -> float | None:
        """Prevalence where the models will be used, if stated."""
        return self.condition.prevalence if isinstance(self.condition, Condition) else self.stated_prevalence

    @cached_property
    def at_stated_prevalence(self) -> Models:
        """The models with cases reweighted to the stated prevalence, if any."""
        return self.models if self.prevalence is None else self.models.at_prevalence(self.prevalence)

    def _for_prevalence(self, specs: dict[str, list[MeasureSpec]]) -> dict[str, list[MeasureSpec]]:
        """The requests by model for a prevalence that is stated without costs."""
        return {
            name: found
            if self.models[name].positive_name is None
            else [spec.for_prevalence(self.stated_prevalence) for spec in found]
            for name, found in specs.items()
        }

    def check(self, specs: Sequence[MeasureSpec]) -> None:
        """Refuse measures that no model has.

        Parameters
        ----------
        specs : sequence of MeasureSpec
            The requested measures.
        """
        check_requests(self.models, specs, self._thresholds, self._stated)

    def estimated(self, *names: str | MeasureSpec, model: str | None = None) -> Estimates:
        """Measures by name with their confidence intervals; the requested or default ones without names.

        Parameters
        ----------
        *names : str or MeasureSpec
            Measures, such as "auc" or "ppv@0.5".
        model : str, optional
            One model instead of all.

        Returns
        -------
        Estimates
            One estimate for each model and measure.
        """
        asked = self._wanted(names)
        if model is not None:
            self.models[model]  # refuses an unknown name
        chosen = asked if model is None else {model: asked[model]}
        found = self._estimates(chosen)
        notes = (n for name in chosen for n in self._notes_on(name, found) if n.code == "SS011")
        return Estimates(tuple(found), tuple(notes), partial(io.to_frame, library=self.frame_library))

    @cached_property
    def summary(self) -> Estimates:
        """The requested or default measures of all models."""
        return self.estimated()

    @cached_property
    def everything(self) -> Estimates:
        """All usual measures of every model, for the details of the report."""
        asked = self._for_prevalence(wanted(self.models, (), self._thresholds, self._stated, self.profile, full=True))
        return Estimates(tuple(self._estimates(asked)), (), partial(io.to_frame, library=self.frame_library))

    @cached_property
    def shown(self) -> Estimates:
        """The summary with the companion of each measure that has one, as views show it."""
        held = {(one.model, str(one.spec)): one for one in self.summary}
        every = {name: with_companions([one.spec for one in self.summary if one.model == name]) for name in self.models}
        missing = {name: [spec for spec in specs if (name, str(spec)) not in held] for name, specs in every.items()}
        if any(missing.values()):
            held |= {(one.model, str(one.spec)): one for one in self._estimates(missing)}
        ordered = tuple(held[name, str(spec)] for name, specs in every.items() for spec in specs)
        return replace(self.summary, estimates=ordered)

    def spread(self, *names: str) -> dict[str, dict[str, float]]:
        """Bootstrap standard deviations of measures.

        Parameters
        ----------
        *names : str
            Measures; without them, the requested or default ones.

        Returns
        -------
        dict of dict
            Standard deviations by model and measure.
        """
        every = self._wanted(names)
        asked = [(name, bind(spec, self.models[name])) for name, specs in every.items() for spec in specs]
        found = iter(self.draws.spread(asked))
        return {name: {str(spec): next(found) for spec in specs} for name, specs in every.items()}

    @property
    def quantities(self) -> dict[Quantity, Estimate | CostEstimate]:
        """Every estimate so far by what it is: model, measure, population, operating point and prevalence.

        Values on the cases that chose their threshold are apparent; costs of the decision are cross-fitted, or
        external where another sample chose.
        """
        found: dict[Quantity, Estimate | CostEstimate] = {}
        for (model, measure, prevalence), one in self._kept.items():
            found[Quantity(model, measure, "apparent", one.spec.at, prevalence)] = one
        for model in self.models if isinstance(self.decision, Decision | CaseCostDecision) else ():
            cost = decisions.out_of_sample_cost(self.decision, model, self.threshold(model))
            if cost is not None:
                found[Quantity(model, COST, "cross-fitted", self.threshold(model), self.prevalence)] = cost
        return found

    @cached_property
    def slices(self) -> Slices | None:
        """Every measure in each slice and in the rest of the cases; None without slices."""
        if not self.parts:
            return None
        asked = {name: [one.spec for one in self.shown if one.model == name] for name in self.models}
        return sliced.slices_of_columns(
            self.parts,
            asked,
            at=self._thresholds,
            leads=_leads(self.models, asked),
            prevalence=self.prevalence,
            parity=self.parity or self.profile.parity,
            level=self.level,
            method=self.interval,
            seed=self.seed,
            progress=self.progress,
        )

    @cached_property
    def over_folds(self) -> tuple[folds.FoldSummary, ...]:
        """Means of the measures over folds beside the pooled values; empty without folds."""
        if self.models.pairs is None or self.models.pairs.fold is None:
            return ()
        asked = {name: [one.spec for one in self.shown if one.model == name] for name in self.models}
        return folds.summarise_over_folds(self.models.pairs, asked)

    @cached_property
    def differences(self) -> dict[str, Comparison]:
        """Differences of two models in every measure; the first is tested, the others have intervals."""
        if len(self.models) != 2:
            return {}
        lead = () if self.requested else leading_of(self.models).specs
        return comparisons.differences(self.models, self.draws, self.shown, self.level, lead)

    @cached_property
    def calibrations(self) -> dict[str, calibrated.CalibrationSummary]:
        """Calibration summaries of the models whose scores lie in [0, 1]."""
        return calibrated.calibration_summaries(self.models, seed=self.seed, prevalence=self.prevalence)

    @cached_property
    def class_calibrations(self) -> dict[str, dict[str, calibrated.CalibrationSummary]]:
        """Multiclass models: calibration of the highest score, and of each class unless there are many."""
        return calibrated.class_calibration_summaries(self.models, seed=self.seed)

    @cached_property
    def decision(self) -> decisions.AnyDecision | None:
        """The decision of minimum cost under the stated costs; None without costs or with one class only."""
        return (
            None if self.condition is None or self._waits else decisions.decide(self, self.condition, level=self.level)
        )

    def threshold(self, model: str) -> float:
        """The threshold of a model: stated, of minimum cost, 0.5 for probabilities, or of maximum Youden index.

        Parameters
        ----------
        model : str
            Name of a model.

        Returns
        -------
        float
            The threshold.
        """
        chosen = None if self.decision is None else decisions.threshold_of(self.decision, model)
        stated = chosen if self.stated_threshold is None else self.stated_threshold
        return shown_threshold(model, self.models[model], self.requested, stated)

    def out_of_sample_cost(self, one: Estimate) -> CostEstimate | None:
        """The cross-fitted cost that belongs to an apparent cost.

        Parameters
        ----------
        one : Estimate
            An estimate of this evaluation.

        Returns
        -------
        CostEstimate or None
            None for other measures, stated thresholds, or too few cases.
        """
        if (
            self._stated is None
            or isinstance(one.spec.at, TopCases)
            or one.spec != placed(MeasureSpec(COST), self.models[one.model], one.spec.at, self._stated)
        ):
            return None
        return decisions.out_of_sample_cost(self.decision, one.model, one.spec.at)

    def counts(self, model: str) -> Counts:
        """True and false positives and negatives of a binary model at its threshold.

        Parameters
        ----------
        model : str
            Name of a model.

        Returns
        -------
        Counts
            The four counts.
        """
        return self.models.counts(model, self._thresholds.get(model))

    @cached_property
    def comparisons(self) -> Comparisons:
        """All models compared by the default test."""
        return comparisons.compare_models(self, (), None, at=None, test=None, alternative="two-sided", adjust=None)

    @cached_property
    def leaderboard(self) -> Leaderboard | None:
        """The models by their first measure that is a mean over cases; None for fewer than three, or other measures."""
        specs = dict.fromkeys(one.spec for one in self.summary)
        spec = next((one for one in specs if can_lead(self.draws, tuple(self.models), one)), None)
        return None if spec is None else comparisons.leaderboard_of(self, tuple(self.models), spec)

    @cached_property
    def changes(self) -> baseline.BaselineChanges | None:
        """Every measure beside that of the baseline; None without one."""
        return None if self.before is None else self.changed()

    @cached_property
    def stability(self) -> Stability | None:
        """PSI of each model against the baseline; None without one that has the tables of scores."""
        before = {} if self.before is None else self.before.tables
        both = ((name, before.get(name), table) for name, table in self.models.items())
        indices = tuple(
            index_of_tables(old.inside(ScoreTable), new.inside(ScoreTable), name, self.level)
            for name, old, new in both
            if old is not None and old.thresholded and new.thresholded and new.has_positive
        )
        if not indices:
            return None
        sizes = (sum(indices[0].before), sum(indices[0].after))
        return Stability((round(sizes[0]), round(sizes[1])), indices)

    def changed(self, *names: str) -> baseline.BaselineChanges:
        """Measures now and in the baseline, with their differences.

        Parameters
        ----------
        *names : str
            Measures; without them, the requested ones. Thresholds default to those of the baseline.

        Returns
        -------
        BaselineChanges
            Both values, the difference and its p-value, for each measure and model.
        """
        if self.before is None:
            raise ScoreSpaceError("there is no baseline to compare with.", hint='evaluate(…, baseline="FILE.json")')
        named = [spec for name in names for spec in parse_list(name)]
        specs = stated_on(self.models.scale, named) or self.requested
        at = dict(self._thresholds)
        if stated_threshold(self.requested) is None and self.stated_threshold is None:
            at |= {name: value for name, value in self.before.thresholds.items() if at.get(name) is not None}
        every = self._for_prevalence(wanted(self.models, specs, at, self._stated))
        asked = {name: with_companions(every[name]) for name in self.models if name in self.before.models}
        found = self._estimates(asked)
        return baseline.baseline_changes(
            self.before,
            {name: [one for one in found if one.model == name] for name in asked},
            partial(comparisons.sample_of, self),
            classes=self.models.classes,
            leads=_leads(self.models, asked),
            level=self.level,
            seed=self.seed,
        )

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Findings on the sample and on each model, warnings first."""
        found = [*self.sample_notes, *sample_notes(tuple(self.models.classes), tuple(self.models.classes.values()))]
        found += weight_notes(self.models.values())
        found += prevalence_notes(self.models, self.prevalence)
        for name in self.models:
            found += self._notes_on(name, self.summary)
        found += interval_notes(self.summary, self.interval)
        found += notes_on_looks(self.summary, self.interval)
        found += smooth_notes(self.summary, self.at_stated_prevalence)
        if any(one.spec.measure.probability for one in self.summary):  # else nobody takes scores as probabilities
            found += calibration_notes(self.calibrations.values(), self.summary, self.models)
        found += group_notes(self.summary, self.models.groups) if self.models.grouped else ()
        found += self.decision.notes if self.decision is not None else ()
        found += self.slices.notes if self.slices is not None else ()
        found += self.changes.notes if self.changes is not None else ()
        return tuple(sorted(for_all(found, self.models), key=lambda one: one.level != "warning"))

    @property
    def headlines(self) -> tuple[Note, ...]:
        """Warnings without their details, with equal ones about several models merged."""
        warnings = [one for one in self.notes if one.level == "warning"]
        short = (replace(one, text=f"{one.text.partition(': ')[0].rstrip('.')}.") for one in warnings)
        return tuple(for_all(short, self.models))

    @cached_property
    def conclusion(self) -> tuple[LeadingMeasure, Conclusion | None]:
        """The leading measure, and which model is best by it."""
        return leading_conclusion(self.models, self._estimated, self._pair_tests, self.profile)

    @cached_property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """Which model is best by each requested measure, or by the leading one."""
        if not self.requested:
            lead = self.conclusion[1]
            return () if lead is None else (lead,)
        by_spec: dict[str, list[Estimate]] = {}
        for one in self.summary:
            if self.out_of_sample_cost(one) is None:  # costs at a chosen threshold are concluded on as cross-fitted
                by_spec.setdefault(one.spec.shown, []).append(one)
        found = (conclude(label, estimates, self._pair_tests) for label, estimates in by_spec.items())
        return tuple(one for one in found if one is not None)

    @property
    def headline(self) -> tuple[str, str]:
        """The verdict in at most about 20 words, and its status: "clear", "unclear" or ""."""
        lead, found = self.conclusion
        if self.requested:
            found = self.conclusions[0].named(self.profile) if self.conclusions else None
        return headline(lead, found, self.decision if isinstance(self.decision, Decision) else None)

    @property
    def leader(self) -> str | None:
        """The recommended model under the costs, else the best by the leading measure."""
        if isinstance(self.decision, Decision | CaseCostDecision) and self.decision.best.model in self.models:
            return self.decision.best.model
        found = self.conclusion[1]
        return None if found is None else found.best.model

    @cached_property
    def verdict(self) -> str:
        """The conclusion in a few sentences."""
        decision = self.decision
        decided = decision.brief if isinstance(decision, Decision) else None if decision is None else decision.words
        if self.requested:
            text = requested_verdict(self.conclusions, list(self.summary), decided)
        else:
            lead, found = self.conclusion
            recommended = decision.best.model if isinstance(decision, Decision | CaseCostDecision) else None
            text = default_verdict(
                self.at_stated_prevalence,
                lead,
                found,
                self._thresholds,
                self.profile,
                self._estimated,
                decided,
                recommended,
            )
        return " ".join([text, *(one.words for one in (self.slices, self.changes) if one is not None)])

    @cached_property
    def operating(self) -> Any:
        """Binary models at all thresholds, for the panel of the page; None without such models."""
        return operating_panel(self)

    @cached_property
    def multiclass_panel(self) -> Any:
        """Multiclass models at all rejection rates, for the panel of the page; None without such models."""
        return multiclass_panel(self)

    @cached_property
    def shift_panel(self) -> Any:
        """Numeric predictions at all shifts, for the panel of the page; None without such models."""
        return shift_panel(self)

    @cached_property
    def smooth_models(self) -> dict[str, SmoothModel]:
        """Smooth ROC curves and uncertain cases of the models with scores between 0 and 1."""
        return section_data.smooth_models(self)

    @cached_property
    def multiclass_measures(self) -> dict[str, ClassMeasures]:
        """Measures of each class of the multiclass models."""
        return section_data.multiclass_measures(self.models)

    @cached_property
    def class_measures(self) -> dict[str, ClassMeasures]:
        """Measures of each class of every classifier, binary ones at their threshold."""
        return section_data.every_class_measures(self)

    @cached_property
    def decision_tables(self) -> dict[str, ConfusionTable]:
        """Confusion table of every classifier, binary ones at their threshold."""
        return section_data.decision_tables(self)

    @cached_property
    def equal_cost_decision(self) -> Decision:
        """The decision at equal costs; the ranges in which each model is best follow from its hull."""
        return choose_minimum_cost({name: self.models.deciding[name] for name in self.models.two_class}, Condition())

    def herfindahl(self, model: str) -> dict[str, float] | None:
        """Concentration over the grades of a model; None without few grades."""
        table = self.models[model]
        graded = 1 < table.score.size <= MAX_GRADES
        return herfindahl(table.counts.sum(axis=0)[::-1]) if graded else None

    def calibration_bins(self, model: str) -> CalibrationBins:
        """Observed rates in bins of scores."""
        return section_data.calibration_bins(self, model)

    def value(self, model: str, request: str) -> float:
        """A measure of a model at the stated prevalence, without an interval."""
        return bind(parse(request), self.at_stated_prevalence[model]).value

    @property
    def _rows(self) -> list[Row]:
        """Rows of the measures; `estimand` says which values are apparent."""
        rows = self.summary.rows()
        chosen = [isinstance(one.spec.at, Threshold) and one.spec.at.chosen for one in self.summary]
        if not any(chosen):
            return rows
        return [{**row, "estimand": "apparent" if its else None} for row, its in zip(rows, chosen, strict=True)]

    def __getstate__(self) -> dict[str, Any]:
        """The inputs; results are computed again."""
        return {one.name: None if one.name == "progress" else getattr(self, one.name) for one in fields(self)}

    @cached_property
    def _kept(self) -> dict[tuple[str, str, float | None], Estimate]:
        """The estimates computed so far."""
        return {}

    @cached_property
    def _thresholds(self) -> dict[str, float | None]:
        return {name: self.threshold(name) if table.thresholded else None for name, table in self.models.items()}

    @property
    def _stated(self) -> Condition | CostMatrix | CaseCosts | None:
        """The costs that costs are shown for."""
        if self._waits and isinstance(self.condition, Condition):
            return self.condition
        return None if self.decision is None else decisions.condition_of(self.decision)

    @property
    def _waits(self) -> bool:
        """Whether costs exist at the thresholds of a baseline only, because the cases are of one class."""
        lone = isinstance(self.condition, Condition) and not 0 < self.models.prevalence < 1
        return lone and self.before is not None

    def _wanted(self, names: Sequence[str | MeasureSpec]) -> dict[str, list[MeasureSpec]]:
        """The named, requested or default measures of every model."""
        specs = [spec for name in names for spec in (parse_list(name) if isinstance(name, str) else [name])]
        specs = stated_on(self.models.scale, specs)
        self.check(specs)
        found = wanted(self.models, specs or self.requested, self._thresholds, self._stated, self.profile, self.full)
        return self._for_prevalence(found)

    def _notes_on(self, model: str, found: Sequence[Estimate] | Estimates) -> list[Note]:
        chosen = self.decision is None and stated_threshold(self.requested) is None and self.stated_threshold is None
        own = tuple(one for one in found if one.model == model)
        youden = partial(self._youden_of, model)
        at, times = self._thresholds[model], self.draws.times
        return list(
            notes_on(self.models[model], FindingContext(model, at, chosen, own, times, self.prevalence, youden))
        )

    @cached_property
    def _by_youden(self) -> ConstrainedChoice:
        """Thresholds of maximum Youden index, for scores that are not probabilities."""
        wanted = parse(YOUDEN).for_prevalence(self.prevalence)
        return decisions.choose(self.models, wanted, [], fit=None, level=self.level, seed=self.seed)

    def _youden_of(self, model: str) -> CostEstimate:
        """Cross-fitted Youden index of a model."""
        return next(one.out_of_sample for one in self._by_youden.candidates if one.model == model)

    def _estimates(self, asked: Mapping[str, Sequence[MeasureSpec]]) -> list[Estimate]:
        """The requested estimates in their order; each is computed once and kept."""
        wanted = {name: {str(spec): spec for spec in specs} for name, specs in asked.items()}  # names may differ
        missing = {
            name: [one for text, one in specs.items() if (name, text, one.prevalence) not in self._kept]
            for name, specs in wanted.items()
        }
        missing = {name: specs for name, specs in missing.items() if specs}
        if missing:
            options: dict[str, Any] = {"level": self.level, "method": self.interval, "strict": bool(self.requested)}
            found = estimates(missing, self.draws, **options)
            keys = ((name, str(spec), spec.prevalence) for name, specs in missing.items() for spec in specs)
            self._kept.update(zip(keys, found, strict=True))
        return [self._kept[name, str(spec), spec.prevalence] for name, specs in asked.items() for spec in specs]

    def _estimated(self, names: Sequence[str], spec: MeasureSpec) -> list[Estimate]:
        spec = spec.for_prevalence(self.prevalence)
        shown = {one.model: one for one in self.summary if one.spec == spec}
        missing = self._estimates({name: [spec] for name in names if name not in shown})
        every = shown | {one.model: one for one in missing}
        return [every[name] for name in names]

    def _pair_tests(self, ordered: Sequence[Estimate]) -> dict[str, Comparison]:
        """Paired tests of the best model against the others, adjusted over all pairs; of many models, the best two."""
        first, second = ordered[0].model, ordered[1].model
        if not self.models.comparable:
            return {}
        spec = str(ordered[0].spec)
        if spec in self.differences:
            return {second: comparisons.oriented(self.differences[spec], first)}
        if not 2 < len(ordered) <= MAX_MODELS_IN_PAIRS or len({one.spec.at for one in ordered}) > 1:
            return {second: comparisons.best_two(self, ordered)}
        return comparisons.against_best(self, ordered)

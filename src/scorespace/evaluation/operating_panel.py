"""Data of the interactive operating-point panel: thresholds, outcomes and measures of each model.

All values are computed here at the kept thresholds; the script of the report looks them up. For costs and a prevalence
entered by the reader, the script uses the same formulas, which a test compares with Python over random states.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final

import numpy as np

from scorespace.costs import Condition
from scorespace.decisions import Decision
from scorespace.decisions.cross_fitting import cost_paths as paths
from scorespace.decisions.threshold import best_threshold
from scorespace.errors import listing
from scorespace.evaluation.operating_points import OperatingPoints, encode_points, finite, net_benefit, precision
from scorespace.evaluation.panel_measures import (
    cost_text,
    estimate_text,
    measure_curve,
    units_at,
)
from scorespace.evaluation.panel_thresholds import (
    TOP_BUTTONS,
    max_thresholds,
    select_thresholds,
    simulation_nodes,
)
from scorespace.inference.interval import no_interval
from scorespace.inference.jeffreys import OutcomeCache
from scorespace.measures import MeasureSpec
from scorespace.measures.confusion import f1, fpr, mcc, npv, ppv, tnr, tpr, youden
from scorespace.measures.cost import cost
from scorespace.profiles import GENERAL, PROFILES, Profile
from scorespace.report.protocol import ResultsView
from scorespace.results import Row, decimals, format_per_thousand, format_whole_percent, grouped
from scorespace.results import join_words as listed
from scorespace.tables import ScoreTable

MAX_CLASSES: Final = 12
"""Maximum number of one-vs-rest classes, over all models, in the panel."""


RATES: Final = tuple(MeasureSpec(measure.name) for measure in (tpr, tnr, ppv, npv))
"""Rates beside the two-by-two table: of both actual and of both predicted classes."""

MAX_DRAWN: Final = 5
"""Measures in the chart of measures against the threshold, which differ by their dashes."""

_DEFAULT_MEASURES: Final = tuple(MeasureSpec(measure.name) for measure in (tpr, fpr, ppv, f1, mcc))


@dataclass(frozen=True)
class OperatingPanel:
    """Content of the interactive panel: models at their thresholds, and the costs.

    With `classes`, the entries are one-vs-rest problems of multiclass models.
    """

    models: tuple[OperatingPoints, ...]
    condition: Condition
    stated: bool
    start: int
    classes: bool = False
    left_out: str = ""
    profile: Profile = PROFILES[GENERAL]
    interval: str | None = None
    grouped: bool = False

    template, script = "panel.html", "panel.js"

    @property
    def top_buttons(self) -> tuple[str, ...]:
        """Buttons that select the top-ranked cases; fewer than all cases."""
        total = float(self.models[0].table.total)
        return tuple(top for top in TOP_BUTTONS if top.endswith("%") or float(top) < total)

    @cached_property
    def rates(self) -> tuple[int, ...]:
        """Places of the four rates of the two-by-two table among the measures."""
        names = [(curve.spec.name, curve.spec.options) for curve in self.models[0].measures]
        return tuple(names.index((spec.name, ())) for spec in RATES)

    @property
    def drawn(self) -> tuple[int, ...]:
        """Places of the measures that are drawn against the threshold, one for each dash pattern."""
        specs = [curve.spec for curve in self.models[0].measures]
        shares = [place for place, spec in enumerate(specs) if spec.measure.range[1] <= 1 and not spec.options]
        return tuple(sorted(shares, key=lambda place: place not in self.rates)[:MAX_DRAWN])

    def label(self, place: int) -> str:
        """Name of a measure as the profile writes it."""
        return self.profile.label(self.models[0].measures[place].spec)

    @property
    def unit(self) -> float:
        """Cost of a false positive above that of a true negative: the unit of costs."""
        return self.condition.fp - self.condition.tn

    @property
    def ratio(self) -> float:
        """Cost ratio FN : FP."""
        return (self.condition.fn - self.condition.tp) / self.unit

    def marker_row(self) -> Row:
        """Coordinates of the operating point in all charts when the report opens."""
        points = self.models[self.start]
        index = points.index_at(points.at)
        shares, slope = points.shares(index), self.condition.slope(points.prevalence)
        tpr, fpr, condition = shares["tp"], shares["fp"], 1 / (1 + slope)
        return {
            "model": points.name,
            "threshold": finite(points.at),
            "tpr": tpr,
            "fpr": fpr,
            "flagged": float(points.reweighted.pp[index] / points.reweighted.total[index]),
            "precision": finite(float(precision(points)[index])),
            "benefit": finite(float(net_benefit(points)[index])),
            "condition": condition,
            "loss": condition * (1 - tpr) + (1 - condition) * fpr,
            "left": 0,
            "right": 1,
            "at_left": tpr - slope * fpr,
            "at_right": tpr + slope * (1 - fpr),
            "price": self.cost(tpr, fpr, self.ratio, self.share_in_use),
        }

    @property
    def share_in_use(self) -> float:
        """Share of positives when the report opens."""
        stated = self.condition.prevalence
        return self.models[self.start].prevalence if stated is None else stated

    def texts(
        self,
        model: int,
        index: int,
        threshold: float,
        ratio: float | None = None,
        prevalence: float | None = None,
        top: str = "",
    ) -> dict[str, str]:
        """Texts of the panel at a threshold, for costs and a prevalence; the script computes the same.

        `top`: the number of top-ranked cases, if a button selected this threshold.
        """
        points, ratio = self.models[model], self.ratio if ratio is None else ratio
        share = points.prevalence if prevalence is None else prevalence
        at_stated_prevalence = {"tp": share, "fn": share, "fp": 1 - share, "tn": 1 - share}
        shares = points.shares(index)
        flagged = 1000 * (share * shares["tp"] + (1 - share) * shares["fp"])
        texts = {
            "positive": points.labels[0],
            "negative": points.labels[1],
            "threshold": points.threshold_label(index, threshold),
            "flagged": format_per_thousand(flagged),
            "cost": cost_text(self.cost(shares["tp"], shares["fp"], ratio, share)),
            "cost limits": "",
            "cross_fitted": "–",
            "tie": points.ties.get(top, "") if prevalence is None else "",  # ties are counted in the sample
            **self.headings(points),
        }
        if points.cost is not None and (ratio, prevalence) == (self.ratio, self.condition.prevalence):
            texts["cost limits"] = estimate_text(points.cost, index).partition(" ")[2]
            texts["cost limits"] = texts["cost limits"] and f" {texts['cost limits']}"
        for side, share_of_class in shares.items():
            texts[side] = grouped(float(getattr(points.counts, side)[index]))
            texts[f"{side} share"] = format_whole_percent(share_of_class)
            texts[f"{side} thousand"] = format_per_thousand(1000 * at_stated_prevalence[side] * share_of_class)
        for k, measure in enumerate(points.measures):
            is_reweighted = measure.depends_on_prevalence and prevalence != self.condition.prevalence
            text = decimals(measure.at(points.counts[index], share)) if is_reweighted else estimate_text(measure, index)
            texts[f"measure {k}"] = text
        path = points.cross_fitted[0 if prevalence is None else 1]
        if path is not None:
            worth = ratio if prevalence is None else ratio * share * points.negatives / ((1 - share) * points.positives)
            index = int(np.searchsorted(path.worth * (1 + 1e-10), worth))
            outcomes = float(path.tp[index]) / points.positives, float(path.fp[index]) / points.negatives
            texts["cross_fitted"] = cost_text(self.cost(*outcomes, ratio, share))
        return texts

    def prices(self) -> list[Row]:
        """Expected cost of the initial model by threshold, and of both constant rules; the script computes the same."""
        points = self.models[self.start]
        tpr, fpr = points.counts.tp / points.positives, points.counts.fp / points.negatives
        costs = [self.cost(*pair, self.ratio, self.share_in_use) for pair in zip(tpr, fpr, strict=True)]
        x = points.threshold
        ends = [float(x[-1]), float(x[np.isfinite(x)].max())]
        rows: list[Row] = [
            {"kind": "model", "place": place, "x": float(at), "y": float(price), "label": None}
            for place, (at, price) in enumerate(zip(x, costs, strict=True))
            if math.isfinite(at)
        ]
        for kind, place, price in (("all", 0, costs[-1]), ("none", 1, costs[0])):
            label = f"every case {self.profile.outcomes(*points.labels)[place]}"
            rows += [
                {"kind": kind, "place": k, "x": end, "y": float(price), "label": label if k else None}
                for k, end in enumerate(ends)
            ]
        return rows

    @property
    def without_intervals(self) -> str:
        """Why no measure has an interval at each threshold; empty if some have."""
        points = self.models[self.start]
        if any(np.isfinite(curve.low).any() for curve in points.measures):
            return ""
        if self.interval == no_interval.name:
            return "No intervals were asked for."
        rest = "those of the table of models allow for it"
        if not points.table.counted:
            reason = "the weights are no counts of cases"
        elif self.grouped:
            reason = "cases are grouped or repeated"
        else:
            reason, rest = f"those by {self.interval} are of stated thresholds", "the table of models has them"
        return f"No intervals at each threshold, because {reason}; {rest}."

    def headings(self, points: OperatingPoints) -> dict[str, str]:
        """Words for both predictions: as headings of the table, and in a sentence."""
        headings, predicates = self.profile.outcomes(*points.labels), self.profile.predictions(*points.labels)
        positive = points.labels[0]
        subject = positive if any(map(str.isalpha, positive)) else "positives"
        words = zip(("heading +", "heading -", "sentence +", "sentence -"), (*headings, *predicates), strict=True)
        return {**dict(words), "subject": subject}

    def shares(self) -> dict[str, float]:
        """Each outcome as a proportion of its class, when the report opens."""
        points = self.models[self.start]
        return {side: round(share, 4) for side, share in points.shares(points.index_at(points.at)).items()}

    def templates(self, model: int) -> dict[str, str]:
        """Conditional phrases of the panel."""
        points = self.models[model]
        prevalence_dependent = [measure.spec.label for measure in points.measures if measure.depends_on_prevalence]
        base = points.prevalence if self.condition.prevalence is None else self.condition.prevalence
        return {
            "caution": f"Intervals of {listed(prevalence_dependent)} are available only for {100 * base:.3g} % "
            f"{points.labels[0]}."
            if prevalence_dependent
            else "",
        }

    def initial_texts(self) -> dict[str, str]:
        """Texts when the report opens."""
        points = self.models[self.start]
        return self.texts(self.start, points.index_at(points.at), points.at, prevalence=self.condition.prevalence)

    def cost(self, tpr: float, fpr: float, ratio: float, share: float) -> float:
        """Expected cost per case at rates, for a cost ratio and a share of positives."""
        c = self.condition
        return share * (c.tp + ratio * self.unit * (1 - tpr)) + (1 - share) * (c.tn + self.unit * fpr)

    def content(self) -> Row:
        """Data of the panel for the script, arrays as base64."""
        c = self.condition
        return {
            "classes": self.classes,
            "unit": self.unit,
            "ratio": self.ratio,
            "tp": c.tp,
            "tn": c.tn,
            "prevalence": c.prevalence,
            "stated": self.stated,
            "start": self.start,
            "measures": [
                {
                    "title": measure.spec.measure.title,
                    "name": measure.spec.name,
                    "options": dict(measure.spec.options),
                    "moving": measure.depends_on_prevalence,
                    "drawn": place in self.drawn,
                }
                for place, measure in enumerate(self.models[0].measures)
            ],
            "models": [
                encode_points(points)
                | {
                    "words": self.templates(index) | {"ties": points.ties, "headings": self.headings(points)},
                    "labels": points.labels,
                    "unit": points.table.probabilities,
                }
                for index, points in enumerate(self.models)
            ],
        }


def operating_panel(evaluation: ResultsView) -> OperatingPanel | None:
    """The panel of binary classifiers at all thresholds, or of one-vs-rest classes; None without scores."""
    models = evaluation.models
    if models.of_classes and not models.two_class:
        return _one_vs_rest_panel(evaluation)
    names = [name for name in models.two_class if models[name].thresholded]
    if not names or not 0 < models.prevalence < 1:
        return None
    decision = evaluation.decision if isinstance(evaluation.decision, Decision) else None
    condition = Condition() if decision is None else decision.condition
    deciding = {name: models.deciding[name] for name in models.two_class}
    cost_paths = [
        paths(deciding, pairs=models.side_by_side, stratified=is_stratified, seed=evaluation.seed)
        for is_stratified in (False, True)
    ]
    shown = evaluation.summary if evaluation.requested else evaluation.everything
    requested = [replace(estimate.spec, at=None) for estimate in shown if estimate.spec.at is not None]
    # Measures that depend on costs are omitted: the panel shows the cost itself.
    specs = [
        spec
        for spec in dict.fromkeys(requested)
        if spec.of is None and not (spec.measure.conditioned or spec.measure.threshold_option)
    ]
    cost_spec = MeasureSpec(cost.name, tuple(condition.stated().items()))
    max_points = max_thresholds(len(names))
    points = []
    for name in models.two_class:
        table, is_crisp = models[name].inside(ScoreTable), name not in names
        threshold = math.nan if is_crisp else evaluation.threshold(name)
        kept = np.array([1]) if is_crisp else select_thresholds(table, threshold, max_points)
        measure_along = partial(
            measure_curve,
            evaluation,
            table,
            kept,
            nodes=simulation_nodes(table, kept, threshold, len(names)),
            outcomes=OutcomeCache(),
            units=units_at(table, kept),
        )
        wanted = dict.fromkeys((*(specs or _DEFAULT_MEASURES), *RATES))
        measures = tuple(measure_along(spec, condition.prevalence) for spec in wanted)
        cross_fitted = tuple(
            path and path.thinned(max_points) for path in (cost_paths[0].get(name), cost_paths[1].get(name))
        )
        fields = (
            table,
            kept,
            is_crisp,
            threshold,
            measures,
            measure_along(cost_spec),
            cross_fitted,
            condition.prevalence,
        )
        points.append(OperatingPoints(name, *fields))
    best = None if decision is None else decision.best.model
    start = next((index for index, model_points in enumerate(points) if model_points.name == best), None)
    if start is None:
        first_spec = evaluation.summary[0].spec
        sign = -1 if first_spec.best == "low" else 1
        values = {
            estimate.model: sign * estimate.value for estimate in evaluation.summary if estimate.spec == first_spec
        }
        ranked = [
            values.get(model_points.name, -math.inf) if not model_points.crisp else -math.inf for model_points in points
        ]
        start = int(np.argmax(np.nan_to_num(ranked, nan=-math.inf)))
    settings = evaluation.profile, evaluation.interval, models.grouped
    return OperatingPanel(tuple(points), condition, decision is not None, start, False, "", *settings)


def _one_vs_rest_panel(evaluation: ResultsView) -> OperatingPanel | None:
    """The panel of multiclass scores: each class against the rest, at all thresholds of its score."""
    models = evaluation.models
    all_names = [f"{name}[{label}]" for name in models.of_classes for label in models.present]
    if len(models.present) < 2:
        return None
    names = all_names[:MAX_CLASSES]
    points = []
    for name in names:
        table = models.score_table(name)
        threshold = 0.5 if table.probabilities else best_threshold(table, youden).threshold
        kept = select_thresholds(table, threshold, max_thresholds(len(names)))
        measure_along = partial(
            measure_curve,
            evaluation,
            table,
            kept,
            nodes=simulation_nodes(table, kept, threshold, len(names)),
            outcomes=OutcomeCache(),
            units=units_at(table, kept),
        )
        points.append(
            OperatingPoints(
                name,
                table,
                kept,
                False,
                threshold,
                tuple(map(measure_along, dict.fromkeys((*_DEFAULT_MEASURES, *RATES)))),
            )
        )
    omitted = all_names[MAX_CLASSES:]
    note = f"Not available here (more than {MAX_CLASSES} classes): {listing(omitted)}." if omitted else ""
    settings = evaluation.profile, evaluation.interval, evaluation.models.grouped
    return OperatingPanel(tuple(points), Condition(), False, 0, True, note, *settings)

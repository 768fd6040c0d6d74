"""Interactive panel of multiclass models: misclassification costs and a reject option.

All values are computed here at the kept rejection thresholds; the script of the report looks them up and recomputes
the cost, which is linear in the costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from scorespace.curves.rejection import rejection
from scorespace.decisions import CostChoice
from scorespace.evaluation.class_pairs import NO_SCORES_TEXT, PAIR_TEXT, REST_TEXT, ClassPairs, pairs_of
from scorespace.evaluation.panel_measures import (
    MeasureCurve,
    cost_text,
    encode_array,
    encode_measure,
    estimate_text,
    simulated_limits,
    wilson_limits,
)
from scorespace.evaluation.panel_thresholds import select_thresholds
from scorespace.inference.analytic import wilson_interval
from scorespace.inference.interval import is_proportion, resolve_interval
from scorespace.inference.jeffreys import jeffreys_interval
from scorespace.measures import MeasureSpec, parse
from scorespace.measures.request import bind, can_compute
from scorespace.profiles import GENERAL, PROFILES, Profile
from scorespace.report.protocol import ResultsView
from scorespace.results import Row, format_whole_percent, grouped
from scorespace.tables import Array, ConfusionTable, ratio

MAX_CLASSES: Final = 12
"""Maximum number of classes for a table of cells with a cost each."""
MEASURES: Final = ("acc", "bacc", "kappa", "mcc", "f1[macro]")
_MAX_MEASURES: Final = 6
_REJECT_ALL: Final = "rejecting every case"
_CONSTANT: Final = "predicting {} for every case"
_TRIVIAL_RULE: Final = " A rule without a model is at least as good: {} costs {} per case."
_MAX_POINTS: Final = 400
_MAX_CELLS: Final = 40_000  # numbers per model in the report
_MAX_SIMULATED_CELLS: Final = 2000  # cells over all points, measures and models whose intervals are simulated


@dataclass(frozen=True)
class RejectionPath:
    """A multiclass model at increasing rejection rates: confusion counts of the accepted cases, shape (points, K²).

    Cases are rejected if the highest score exceeds the second by less than `lead`; a crisp classifier has one point.
    """

    name: str
    table: ConfusionTable
    cells: Array
    lead: Array
    measures: tuple[MeasureCurve, ...] = ()
    pairs: ClassPairs | None = None

    @property
    def crisp(self) -> bool:
        return self.lead.size == 1

    @property
    def size(self) -> int:
        return len(self.table.classes)

    @cached_property
    def kept(self) -> Array:
        """Weight of the accepted cases."""
        return self.cells.sum(axis=-1)

    @cached_property
    def rejection_rates(self) -> Array:
        """Rejection rate."""
        return 1 - self.kept / self.kept[0]

    @cached_property
    def right(self) -> Array:
        """Accuracy on the accepted cases."""
        return np.asarray(ratio(self.cells[:, :: self.size + 1].sum(axis=-1), self.kept))


@dataclass(frozen=True)
class MulticlassPanel:
    """Content of the interactive panel of multiclass models and their costs."""

    models: tuple[RejectionPath, ...]
    costs: Array
    stated: bool
    start: int
    profile: Profile = PROFILES[GENERAL]

    template, script = "multiclass.html", "multiclass.js"

    @property
    def classes(self) -> tuple[str, ...]:
        return self.models[0].table.classes

    @property
    def small(self) -> bool:
        """Whether there are few enough classes for a cell each."""
        return len(self.classes) <= MAX_CLASSES

    @property
    def movable(self) -> bool:
        """Whether a model has scores, so that cases can be rejected."""
        return any(not path.crisp for path in self.models)

    @cached_property
    def pair(self) -> tuple[int, int]:
        """The initial cell: the most frequent confusion, or the first class."""
        path = self.models[self.start]
        errors = np.where(np.eye(path.size, dtype=bool), 0.0, path.cells[0].reshape(path.size, path.size))
        row, column = divmod(int(errors.argmax()), path.size)
        return row, column

    @property
    def paired(self) -> bool:
        """Whether cells can be clicked to show the ROC curves of their classes."""
        return self.small and any(path.pairs is not None for path in self.models)

    def cost(self, model: int, index: int, costs: Array | None = None, reject_cost: float | None = None) -> float:
        """Cost per accepted case, or per case of all if rejection has a cost."""
        path = self.models[model]
        spent = float((path.cells[index] * (self.costs if costs is None else costs).ravel()).sum())
        kept, total = float(path.kept[index]), float(path.kept[0])
        return spent / kept if reject_cost is None else (spent + reject_cost * (total - kept)) / total

    def best(self, model: int, costs: Array | None = None, reject_cost: float | None = None) -> int:
        """Index of minimum cost, at ties the highest lead (as in `reject`); 0 without a cost of rejection."""
        if reject_cost is None:
            return 0
        prices = np.array(
            [self.cost(model, index, costs, reject_cost) for index in range(self.models[model].lead.size)]
        )
        return int(np.flatnonzero(prices <= prices.min() + 1e-12 * np.abs(prices).max())[-1])

    def texts(
        self,
        model: int,
        index: int,
        costs: Array | None = None,
        reject_cost: float | None = None,
        pair: tuple[int, int] | None = None,
    ) -> dict[str, str]:
        """Texts of the panel at a point, for given costs; the script computes the same."""
        path = self.models[model]
        texts = {
            "model": path.name,
            "handed": format_whole_percent(float(path.rejection_rates[index])),
            "kept": grouped(float(path.kept[index])),
            "handing": _describe_rejection(path, index),
            "cost": cost_text(self.cost(model, index, costs, reject_cost)),
            "instead": self._trivial_rule(model, index, self.costs if costs is None else costs, reject_cost),
        }
        for k, measure in enumerate(path.measures):
            texts[f"measure {k}"] = estimate_text(measure, index)
        if self.paired:
            texts["pair"] = (
                NO_SCORES_TEXT.format(path.name) if path.pairs is None else path.pairs.describe(*(pair or self.pair))
            )
        if self.small:
            matrix, shares = path.cells[index].reshape(path.size, path.size), self.shares(model, index)
            for i, k in np.ndindex(matrix.shape):
                texts[f"cell {i} {k}"] = grouped(float(matrix[i, k]))
                texts[f"share {i} {k}"] = format_whole_percent(float(shares[i, k]))
        return texts

    def _trivial_rule(self, model: int, index: int, costs: Array, reject_cost: float | None) -> str:
        """A sentence if rejecting every case, or always predicting one class, costs no more."""
        if reject_cost is None and index:  # the cost per accepted case is not comparable with a cost per case
            return ""
        path = self.models[model]
        alternatives = [] if reject_cost is None else [(_REJECT_ALL, reject_cost)]
        if self.small:
            spent = path.cells[0].reshape(path.size, path.size).sum(axis=1) @ np.reshape(costs, (path.size, path.size))
            prices = spent / float(path.kept[0])
            alternatives += [
                (_CONSTANT.replace("{}", name), float(price)) for name, price in zip(self.classes, prices, strict=True)
            ]
        if not alternatives:
            return ""
        all_costs = np.array([price for _, price in alternatives])
        rule, least_cost = alternatives[int(np.argmax(all_costs <= all_costs.min() + 1e-12 * np.abs(all_costs).max()))]
        price = self.cost(model, index, costs, reject_cost)
        if least_cost > price + 1e-12 * abs(price):
            return ""
        first, second, end = _TRIVIAL_RULE.split("{}")
        return f"{first}{rule}{second}{cost_text(least_cost)}{end}"

    def shares(self, model: int, index: int) -> Array:
        """Row proportions of the confusion matrix, shape (K, K)."""
        path = self.models[model]
        matrix = path.cells[index].reshape(path.size, path.size)
        return np.asarray(np.nan_to_num(ratio(matrix, matrix.sum(axis=1, keepdims=True))))

    def initial_texts(self) -> dict[str, str]:
        """Texts when the report opens."""
        return self.texts(self.start, 0)

    def marker_row(self) -> Row:
        """Coordinates of the operating point in charts when the report opens."""
        path = self.models[self.start]
        return {"model": path.name, "handed": float(path.rejection_rates[0]), "right": float(path.right[0])}

    def content(self) -> Row:
        """Data of the panel for the script, arrays as base64."""
        return {
            "size": len(self.classes),
            "small": self.small,
            "costs": self.costs.ravel().tolist(),
            "start": self.start,
            "classes": list(self.classes),
            "pair": list(self.pair) if self.paired else None,
            "words": {
                "two": PAIR_TEXT,
                "rest": REST_TEXT,
                "none": NO_SCORES_TEXT,
                "reject": _REJECT_ALL,
                "always": _CONSTANT,
                "instead": _TRIVIAL_RULE,
            },
            "models": [self._packed(path) for path in self.models],
        }

    def _packed(self, path: RejectionPath) -> Row:
        is_integer = bool(np.all(path.cells == np.floor(path.cells))) and float(path.kept[0]) < 2**32
        return {
            "name": path.name,
            "crisp": path.crisp,
            "lead": encode_array(path.lead),
            "kept": encode_array(path.kept),
            "handed": encode_array(path.rejection_rates),
            "right": encode_array(path.right),
            "spent": None if self.small else encode_array(path.cells @ self.costs.ravel()),
            "cells": encode_array(path.cells, "u4" if is_integer else "f8") if self.small else None,
            "shown": [encode_measure(measure) for measure in path.measures],
            "pairs": None if path.pairs is None else path.pairs.encode(),
        }


def multiclass_panel(evaluation: ResultsView) -> MulticlassPanel | None:
    """The panel of multiclass models with the same classes; None if there are none."""
    models = evaluation.models
    names = [name for name, table in models.items() if table.class_names and table.positive_name is None]
    if not names:
        return None
    decision = evaluation.decision if isinstance(evaluation.decision, CostChoice) else None
    classes = models[names[0]].inside(ConfusionTable).classes
    names = [name for name in names if models[name].inside(ConfusionTable).classes == classes]
    costs = 1 - np.eye(len(classes)) if decision is None else decision.costs.aligned(classes).matrix
    paths = [_rejection_path(name, models[name]) for name in names]
    requested = dict.fromkeys(estimate.spec for estimate in evaluation.summary if not estimate.spec.measure.conditioned)
    applicable = [spec for spec in requested if can_compute(spec, paths[0].table)]
    specs = (applicable or [parse(name) for name in MEASURES])[:_MAX_MEASURES]
    measures = [
        tuple(_measure_curve(evaluation, path, spec, len(specs) * len(paths)) for spec in specs) for path in paths
    ]
    has_few_classes = len(classes) <= MAX_CLASSES
    pairs = [pairs_of(models[name], len(names)) if has_few_classes else None for name in names]
    complete_paths = tuple(
        replace(path, measures=path_measures, pairs=class_pairs)
        for path, path_measures, class_pairs in zip(paths, measures, pairs, strict=True)
    )
    prices = [float((path.cells[0] * costs.ravel()).sum()) for path in complete_paths]
    start = int(np.argmin(prices))
    return MulticlassPanel(complete_paths, costs, decision is not None, start, evaluation.profile)


def _rejection_path(name: str, table: Any) -> RejectionPath:
    """Confusion counts of the accepted cases at the kept rejection thresholds."""
    decisions, request = table.inside(ConfusionTable), rejection.fits(table)
    if request is None:  # no scores, so no rejection
        return RejectionPath(name, decisions, decisions.cells[None].astype(np.float64), np.array([-math.inf]))
    scores: Any = request.table
    margins, size = scores.margins, len(decisions.classes)
    max_points = max(20, min(_MAX_POINTS, _MAX_CELLS // size**2))
    if margins.score.size + 1 <= max_points or not (margins.n_pos and margins.n_neg):
        kept_index = np.linspace(1, margins.score.size, min(max_points, margins.score.size)).astype(np.intp)
    else:
        kept_index = select_thresholds(margins, float(margins.score[-1]), max_points)
    lead = margins.thresholds[kept_index[kept_index > 0]][::-1]
    return RejectionPath(name, decisions, scores.left(lead), lead)


def _measure_curve(evaluation: ResultsView, path: RejectionPath, spec: MeasureSpec, shared_by: int) -> MeasureCurve:
    """A measure at every point, with limits in closed form or simulated if that is fast enough."""
    request, tables = bind(spec, path.table), bind(spec, path.table.with_cells(path.cells)).table
    value = np.asarray(request.formula(tables), dtype=np.float64)
    low, high = np.full((2, value.size), math.nan)
    method = resolve_interval(request, evaluation.interval, strict=False).name
    if evaluation.models.grouped or not path.table.counted or path.table.cell_squares is not None:
        method = "none"
    if method == wilson_interval.name and is_proportion(request):
        trials = getattr(tables, str(spec.measure.trials), path.kept)  # for a single class, its own
        low, high = wilson_limits(request, value, trials, evaluation.level)
    elif method == jeffreys_interval.name:
        max_nodes = _MAX_SIMULATED_CELLS // (path.size**2 * shared_by)
        nodes = np.unique(np.linspace(0, value.size - 1, max(1, min(max_nodes, value.size))).astype(np.intp))
        if max_nodes >= 4:
            low, high = simulated_limits(evaluation, request, tables, value, nodes)
    for estimate in evaluation.summary:  # without rejection the interval is known
        if estimate.model == path.name and estimate.spec == spec:
            low[0], high[0] = estimate.low, estimate.high
    return MeasureCurve(spec, value, low, high)


def _describe_rejection(path: RejectionPath, index: int) -> str:
    """Which cases are rejected, as the end of a sentence; empty without rejection."""
    if index == 0:
        return ""
    share, lead = format_whole_percent(float(path.rejection_rates[index])), f"{float(path.lead[index]):.3g}"
    return f" and rejects {share}, whose highest score exceeds the second by less than {lead}"

"""Decisions between several classes, for a reader of the page to move: the costs, and how many cases are handed over.

Everything is computed here, over the kept leads below which a case is handed over. The script of the page looks up a
row, and multiplies and adds for the costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from scorespace.curves.rejection import rejection
from scorespace.decisions import CostChoice
from scorespace.frozen import dataclass
from scorespace.measures import MeasureSpec, parse
from scorespace.measures.request import bind, suits
from scorespace.resampling.closed import wilson_interval
from scorespace.resampling.interval import chosen, counted
from scorespace.resampling.jeffreys import jeffreys_interval
from scorespace.results import Row, grouped, whole_percent
from scorespace.tables import Array, ConfusionTable, ratio
from scorespace.views.answers import Answers
from scorespace.views.charts.here import following
from scorespace.views.charts.pairs import pair_chart
from scorespace.views.charts.theme import colour_of
from scorespace.views.document import Block, Panel, Picture
from scorespace.views.pairs import NONE, REST, TWO, Pairs, pairs_of
from scorespace.views.panel import (
    Shown,
    cost_text,
    estimate_text,
    kept_thresholds,
    packed,
    packed_measure,
    simulated,
    wilson_along,
)

MOST_CLASSES: Final = 12
"""Most classes whose cells can be shown with a cost in each."""

MEASURES: Final = ("acc", "bacc", "kappa", "mcc", "f1[macro]")
_MOST_MEASURES: Final = 6
_REJECT: Final = "rejecting every case"
_ALWAYS: Final = "deciding every case {}"
_INSTEAD: Final = " No model is needed for that: {} costs {} per case."
_PLACES: Final = 400
_CELLS: Final = 40_000  # numbers in the page, of each model
_SIMULATED: Final = 2000  # cells, of all places, measures and models, that are drawn again


@dataclass(frozen=True)
class Decided:
    """A model at each share of cases handed over, from none on: what it takes for what among the rest (places, K²).

    Handed over are cases whose best class leads the second by less than `lead`; one that only decides has one place.
    """

    name: str
    colour: str
    table: ConfusionTable
    cells: Array
    lead: Array
    shown: tuple[Shown, ...] = ()
    pairs: Pairs | None = None

    @property
    def crisp(self) -> bool:
        return self.lead.size == 1

    @property
    def size(self) -> int:
        return len(self.table.classes)

    @cached_property
    def kept(self) -> Array:
        """The weight of the cases that are decided."""
        return self.cells.sum(axis=-1)

    @cached_property
    def handed(self) -> Array:
        """The share of the cases that are handed over."""
        return 1 - self.kept / self.kept[0]

    @cached_property
    def right(self) -> Array:
        """The share of the decisions that are right."""
        return np.asarray(ratio(self.cells[:, :: self.size + 1].sum(axis=-1), self.kept))


@dataclass(frozen=True)
class Several:
    """The models that decide between several classes, and what each decision costs: a panel of the page."""

    models: tuple[Decided, ...]
    costs: Array
    stated: bool
    start: int

    template, script = "several.html", "several.js"

    @property
    def classes(self) -> tuple[str, ...]:
        return self.models[0].table.classes

    @property
    def small(self) -> bool:
        """Whether the classes are few enough for a cell each."""
        return len(self.classes) <= MOST_CLASSES

    @property
    def movable(self) -> bool:
        """Whether a model knows how sure it is, so that cases can be handed over."""
        return any(not one.crisp for one in self.models)

    @cached_property
    def pair(self) -> tuple[int, int]:
        """The cell whose two classes are looked at first: the most frequent error, or the first class."""
        one = self.models[self.start]
        errors = np.where(np.eye(one.size, dtype=bool), 0.0, one.cells[0].reshape(one.size, one.size))
        row, column = divmod(int(errors.argmax()), one.size)
        return row, column

    @property
    def paired(self) -> bool:
        """Whether the cells can be clicked for the curves of their classes."""
        return self.small and any(one.pairs is not None for one in self.models)

    def cost(self, model: int, place: int, costs: Array | None = None, hand: float | None = None) -> float:
        """What the decisions cost per case decided; where handing over has a price, per case of all."""
        one = self.models[model]
        spent = float((one.cells[place] * (self.costs if costs is None else costs).ravel()).sum())
        kept, total = float(one.kept[place]), float(one.kept[0])
        return spent / kept if hand is None else (spent + hand * (total - kept)) / total

    def best(self, model: int, costs: Array | None = None, hand: float | None = None) -> int:
        """The place of least cost, of equal ones that of the highest lead, as `reject` has it; none without a price."""
        if hand is None:
            return 0
        prices = np.array([self.cost(model, place, costs, hand) for place in range(self.models[model].lead.size)])
        return int(np.flatnonzero(prices <= prices.min() + 1e-12 * np.abs(prices).max())[-1])

    def said(
        self,
        model: int,
        place: int,
        costs: Array | None = None,
        hand: float | None = None,
        pair: tuple[int, int] | None = None,
    ) -> dict[str, str]:
        """What the panel says of a model at a place, under costs; the script says the same."""
        one = self.models[model]
        found = {
            "model": one.name,
            "handed": whole_percent(float(one.handed[place])),
            "kept": grouped(float(one.kept[place])),
            "handing": _handing(one, place),
            "cost": cost_text(self.cost(model, place, costs, hand)),
            "instead": self._instead(model, place, self.costs if costs is None else costs, hand),
        }
        for k, each in enumerate(one.shown):
            found[f"measure {k}"] = estimate_text(each, place)
        if self.paired:
            found["pair"] = NONE.format(one.name) if one.pairs is None else one.pairs.said(*(pair or self.pair))
        if self.small:
            matrix, shares = one.cells[place].reshape(one.size, one.size), self.shares(model, place)
            for i, k in np.ndindex(matrix.shape):
                found[f"cell {i} {k}"] = grouped(float(matrix[i, k]))
                found[f"share {i} {k}"] = whole_percent(float(shares[i, k]))
        return found

    def _instead(self, model: int, place: int, costs: Array, hand: float | None) -> str:
        """What costs no more without a model: rejecting every case, or deciding one class for all of them."""
        if hand is None and place:  # the cost of what is decided is beside no cost of all cases
            return ""
        one = self.models[model]
        found = [] if hand is None else [(_REJECT, hand)]
        if self.small:
            spent = one.cells[0].reshape(one.size, one.size).sum(axis=1) @ np.reshape(costs, (one.size, one.size))
            prices = spent / float(one.kept[0])
            found += [
                (_ALWAYS.replace("{}", name), float(each)) for name, each in zip(self.classes, prices, strict=True)
            ]
        if not found:
            return ""
        every = np.array([price for _, price in found])
        what, least = found[int(np.argmax(every <= every.min() + 1e-12 * np.abs(every).max()))]
        price = self.cost(model, place, costs, hand)
        if least > price + 1e-12 * abs(price):
            return ""
        first, second, end = _INSTEAD.split("{}")
        return f"{first}{what}{second}{cost_text(least)}{end}"

    def shares(self, model: int, place: int) -> Array:
        """The share of its class (K, K) that each cell has."""
        one = self.models[model]
        matrix = one.cells[place].reshape(one.size, one.size)
        return np.asarray(np.nan_to_num(ratio(matrix, matrix.sum(axis=1, keepdims=True))))

    def opening(self) -> dict[str, str]:
        """What it says where the page opens."""
        return self.said(self.start, 0)

    def here(self) -> Row:
        """The row of numbers that the marks of charts are drawn from, where the page opens."""
        one = self.models[self.start]
        return {"model": one.name, "handed": float(one.handed[0]), "right": float(one.right[0])}

    def content(self) -> Row:
        """All that the script of the page needs, arrays as base64."""
        return {
            "size": len(self.classes),
            "small": self.small,
            "costs": self.costs.ravel().tolist(),
            "start": self.start,
            "classes": list(self.classes),
            "pair": list(self.pair) if self.paired else None,
            "words": {
                "two": TWO,
                "rest": REST,
                "none": NONE,
                "reject": _REJECT,
                "always": _ALWAYS,
                "instead": _INSTEAD,
            },
            "models": [self._packed(one) for one in self.models],
        }

    def _packed(self, one: Decided) -> Row:
        whole = bool(np.all(one.cells == np.floor(one.cells))) and float(one.kept[0]) < 2**32
        return {
            "name": one.name,
            "crisp": one.crisp,
            "lead": packed(one.lead),
            "kept": packed(one.kept),
            "handed": packed(one.handed),
            "right": packed(one.right),
            "spent": None if self.small else packed(one.cells @ self.costs.ravel()),
            "cells": packed(one.cells, "u4" if whole else "f8") if self.small else None,
            "shown": [packed_measure(each) for each in one.shown],
            "pairs": None if one.pairs is None else one.pairs.packed(),
        }


def several(evaluation: Answers) -> Several | None:
    """The models for which no class is the positive one, at each share handed over; None where there are none."""
    models = evaluation.models
    names = [name for name, table in models.items() if table.class_names and table.positive_name is None]
    if not names:
        return None
    decision = evaluation.decision if isinstance(evaluation.decision, CostChoice) else None
    first = models[names[0]].inside(ConfusionTable).classes
    names = [name for name in names if models[name].inside(ConfusionTable).classes == first]
    costs = 1 - np.eye(len(first)) if decision is None else decision.costs.aligned(first).matrix
    found = [_decided(name, models[name], colour_of(name, models)) for name in names]
    asked = dict.fromkeys(one.spec for one in evaluation.summary if not one.spec.measure.conditioned)
    suiting = [spec for spec in asked if suits(spec, found[0].table)]
    specs = (suiting or [parse(name) for name in MEASURES])[:_MOST_MEASURES]
    shown = [tuple(_along(evaluation, one, spec, len(specs) * len(found)) for spec in specs) for one in found]
    few = len(first) <= MOST_CLASSES
    pairs = [pairs_of(models[name], len(names)) if few else None for name in names]
    held = tuple(replace(one, shown=its, pairs=two) for one, its, two in zip(found, shown, pairs, strict=True))
    prices = [float((one.cells[0] * costs.ravel()).sum()) for one in held]
    return Several(held, costs, decision is not None, int(np.argmin(prices)))


def several_panel(evaluation: Answers) -> Sequence[Block]:
    """Decisions between several classes, with the curve along which cases are handed over."""
    found = several(evaluation)
    if found is None:
        return []
    about = "Accuracy of the cases that are decided against the share of those handed over, by model."
    of_two = "ROC curve of two classes, each by its own score."
    pairs = found.models[found.start].pairs
    rows = [] if pairs is None or not found.paired else pairs.rows(*found.pair)
    curve = Picture(
        lambda: following(evaluation.drawing(rejection.name), "rejection", found.here()), about, about, drag=True
    )
    two = Picture(lambda: following(pair_chart(rows), "pair", found.here()), of_two)
    return [Panel(found, (*([curve] if found.movable else []), *([two] if found.paired else [])))]


def _decided(name: str, table: Any, colour: str) -> Decided:
    decisions, way = table.inside(ConfusionTable), rejection.fits(table)
    if way is None:  # it does not know of each case how sure it is
        return Decided(name, colour, decisions, decisions.cells[None].astype(np.float64), np.array([-math.inf]))
    scores: Any = way.table
    margins, size = scores.margins, len(decisions.classes)
    most = max(20, min(_PLACES, _CELLS // size**2))
    if margins.score.size + 1 <= most or not (margins.n_pos and margins.n_neg):
        kept = np.linspace(1, margins.score.size, min(most, margins.score.size)).astype(np.intp)
    else:
        kept = kept_thresholds(margins, float(margins.score[-1]), most)
    lead = margins.thresholds[kept[kept > 0]][::-1]
    return Decided(name, colour, decisions, scores.left(lead), lead)


def _along(evaluation: Answers, one: Decided, spec: MeasureSpec, shared_by: int) -> Shown:
    """A measure at every place; its limits too, where they have a closed form or are simulated soon enough."""
    request, swept = bind(spec, one.table), bind(spec, one.table.with_cells(one.cells)).table
    value = np.asarray(request.formula(swept), dtype=np.float64)
    low, high = np.full((2, value.size), math.nan)
    method = chosen(request, evaluation.interval, strict=False).name
    if evaluation.models.grouped or not one.table.counted or one.table.cell_squares is not None:
        method = "none"
    if method == wilson_interval.name and counted(request):
        trials = getattr(swept, str(spec.measure.trials), one.kept)  # of one class, its own
        low, high = wilson_along(request, value, trials, evaluation.level)
    elif method == jeffreys_interval.name:
        most = _SIMULATED // (one.size**2 * shared_by)
        nodes = np.unique(np.linspace(0, value.size - 1, max(1, min(most, value.size))).astype(np.intp))
        if most >= 4:
            low, high = simulated(evaluation, request, swept, value, nodes)
    for held in evaluation.summary:  # where all cases are decided, the interval is known
        if held.model == one.name and held.spec == spec:
            low[0], high[0] = held.low, held.high
    return Shown(spec, value, low, high)


def _handing(one: Decided, place: int) -> str:
    """Which cases are handed over, to go on a sentence; nothing where none are."""
    if place == 0:
        return ""
    share, lead = whole_percent(float(one.handed[place])), f"{float(one.lead[place]):.3g}"
    return f" and hands over {share}, those whose best class leads the second by less than {lead}"

"""The operating point that a reader of the page moves: all thresholds, what each does, and where the page opens.

Everything is computed here, over the kept thresholds. The script of the page looks up a row; for costs and a prevalence
that are typed it computes what depends on them by the same formulas, and a test compares both over random states.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final

import numpy as np

from scorespace.conditions import Condition
from scorespace.curves.hull import edges_of
from scorespace.decisions import Decision
from scorespace.decisions.honest import Path, paths
from scorespace.decisions.threshold import best_threshold
from scorespace.errors import listing
from scorespace.frozen import dataclass
from scorespace.measures import MeasureSpec
from scorespace.measures.confusion import f1, fpr, mcc, ppv, tpr, youden
from scorespace.measures.cost import cost
from scorespace.measures.request import Request, bind
from scorespace.resampling.closed import wilson_interval
from scorespace.resampling.estimate import Estimate
from scorespace.resampling.interval import chosen, counted
from scorespace.resampling.jeffreys import Outcomes, jeffreys_along, jeffreys_interval
from scorespace.resampling.limits import wilson
from scorespace.results import Row, decimals, digits_along, grouped, per_thousand, whole_percent
from scorespace.results import joined as listed
from scorespace.tables import Array, Counts, ScoreTable, Table, ratio
from scorespace.tables.pair import two_names
from scorespace.tables.threshold import Threshold, threshold_text
from scorespace.views.answers import Answers
from scorespace.views.charts.theme import colour_of

KEPT: Final = 2000
"""Most thresholds kept of a model, and the third part of what is kept of all of them; of each at least a fourth."""

MOST_CLASSES: Final = 12
"""Most classes, of all models, that can be followed."""

SIMULATED: Final = 300
"""At how many thresholds, of all models, intervals are found by simulation; between them limits run straight."""

_USUAL: Final = tuple(MeasureSpec(one.name) for one in (tpr, fpr, ppv, f1, mcc))
_ABSENT: Final = 2**31 - 1  # stands, below zero, for what is undefined
FOLLOWED: Final = frozenset(
    (
        *("tp", "fp", "fn", "tn", "p", "n", "pp", "pn", "acc", "err", "ppv", "npv", "fdr", "fomr", "f1", "fbeta", "fm"),
        *("mcc", "kappa", "markedness", "jaccard", "prevalence", "nir", "pp_rate", "lift"),
    )
)
"""Measures that depend on the prevalence and whose formulas the script of the page knows."""

TOPS: Final = ("1%", "5%", "10%", "200")
"""How many of the highest scores can be flagged by a button."""


@dataclass(frozen=True)
class Shown:
    """A measure at every kept threshold, with its limits."""

    spec: MeasureSpec
    value: Array
    low: Array
    high: Array

    @property
    def moving(self) -> bool:
        """Whether it depends on how common the classes are."""
        return not self.spec.measure.drawn_within(**dict(self.spec.options))

    def at(self, counts: Counts, share: float) -> float:
        """The value on outcomes where positives have that share, where the script of the page knows the formula."""
        known = self.spec.name in FOLLOWED
        return float(replace(self.spec, prevalence=share).along(counts)) if known else math.nan


@dataclass(frozen=True)
class Points:
    """A model at each of its kept thresholds, from +inf downwards; a crisp one has a single point."""

    name: str
    colour: str
    table: ScoreTable
    kept: Array
    crisp: bool
    at: float
    shown: tuple[Shown, ...]
    cost: Shown | None = None
    honest: tuple[Path | None, ...] = (None, None)
    stated: float | None = None
    """The prevalence that curves are drawn for, where it is not that of the sample."""

    @property
    def labels(self) -> tuple[str, str]:
        """What is flagged rightly, and what is not."""
        negative, positive = two_names(self.table.classes, self.table.positive)
        return positive, negative

    @property
    def positives(self) -> float:
        return float(self.table.n_pos)

    @property
    def negatives(self) -> float:
        return float(self.table.n_neg)

    @property
    def prevalence(self) -> float:
        return self.positives / (self.positives + self.negatives)

    @cached_property
    def counts(self) -> Counts:
        return self.table.sweep[self.kept]

    @cached_property
    def drawn(self) -> Counts:
        """The outcomes for the prevalence that curves are drawn for."""
        return self.counts if self.stated is None else self.counts.at_prevalence(self.stated)

    @cached_property
    def threshold(self) -> Array:
        return self.table.thresholds[self.kept]

    @cached_property
    def told(self) -> list[Threshold]:
        """The same with the digits that keep every case on its side."""
        return [self.table.threshold(float(at)) for at in self.threshold]

    def cut(self, place: int, at: float) -> str:
        """The text of a threshold at a point: that of its score, or what somebody typed."""
        if self.crisp:
            return "–"
        at = self.told[place] if at == self.threshold[place] else at
        return "above all" if math.isinf(at) else threshold_text(at)

    @cached_property
    def ties(self) -> dict[str, str]:
        """Of which of the highest scores no threshold flags just so many, and what is flagged instead."""
        return {} if self.crisp else {top: words for top in TOPS if (words := tied(self.table, top))}

    def shares(self, place: int) -> dict[str, float]:
        """The share of its class that each outcome has at a point."""
        of_class = {"tp": self.positives, "fn": self.positives, "fp": self.negatives, "tn": self.negatives}
        return {side: float(getattr(self.counts, side)[place]) / total for side, total in of_class.items()}

    def place(self, at: float) -> int:
        """The point at a threshold: all scores from it on are flagged."""
        return 0 if self.crisp else int(np.searchsorted(-self.threshold, -at, side="right")) - 1


@dataclass(frozen=True)
class Operating:
    """The models at all their thresholds, and the costs: what the panel of a page is made of.

    Of models that score several classes, each class against the others is one; `classes` says so.
    """

    models: tuple[Points, ...]
    condition: Condition
    stated: bool
    start: int
    classes: bool = False
    left_out: str = ""

    template, script = "panel.html", "panel.js"

    @property
    def tops(self) -> tuple[str, ...]:
        """How many of the highest scores can be flagged by a button: fewer than there are cases."""
        return tuple(top for top in TOPS if top.endswith("%") or float(top) < float(self.models[0].table.total))

    @property
    def unit(self) -> float:
        """What a false alarm costs more than leaving a negative alone: costs are told in it."""
        return self.condition.fp - self.condition.tn

    @property
    def ratio(self) -> float:
        """How many false alarms a miss costs."""
        return (self.condition.fn - self.condition.tp) / self.unit

    def here(self) -> Row:
        """The row of numbers that the marks of all charts are drawn from, where the page opens."""
        one = self.models[self.start]
        place = one.place(one.at)
        shares, slope = one.shares(place), self.condition.slope(one.prevalence)
        tpr, fpr, condition = shares["tp"], shares["fp"], 1 / (1 + slope)
        return {
            "model": one.name,
            "threshold": _number(one.at),
            "tpr": tpr,
            "fpr": fpr,
            "flagged": float(one.drawn.pp[place] / one.drawn.total[place]),
            "precision": _number(float(_precision(one)[place])),
            "benefit": _number(float(_benefit(one)[place])),
            "condition": condition,
            "loss": condition * (1 - tpr) + (1 - condition) * fpr,
            "left": 0,
            "right": 1,
            "at_left": tpr - slope * fpr,
            "at_right": tpr + slope * (1 - fpr),
        }

    def said(
        self,
        model: int,
        place: int,
        at: float,
        ratio: float | None = None,
        prevalence: float | None = None,
        top: str = "",
    ) -> dict[str, str]:
        """What the panel says at a threshold of a model, under costs and a prevalence; the script says the same.

        `top`: of which of the highest scores this is the threshold, where a button led there.
        """
        one, ratio = self.models[model], self.ratio if ratio is None else ratio
        share = one.prevalence if prevalence is None else prevalence
        in_use = {"tp": share, "fn": share, "fp": 1 - share, "tn": 1 - share}
        shares = one.shares(place)
        flagged = 1000 * (share * shares["tp"] + (1 - share) * shares["fp"])
        found = {
            "positive": one.labels[0],
            "negative": one.labels[1],
            "threshold": one.cut(place, at),
            "flagged": per_thousand(flagged),
            "cost": cost_text(self._cost(shares["tp"], shares["fp"], ratio, share)),
            "cost limits": "",
            "honest": "–",
            "tie": one.ties.get(top, "") if prevalence is None else "",  # ties are counted in the sample
        }
        if one.cost is not None and (ratio, prevalence) == (self.ratio, self.condition.prevalence):
            found["cost limits"] = estimate_text(one.cost, place).partition(" ")[2]
            found["cost limits"] = found["cost limits"] and f" {found['cost limits']}"
        for side, part in shares.items():
            found[side] = grouped(float(getattr(one.counts, side)[place]))
            found[f"{side} share"] = whole_percent(part)
            found[f"{side} thousand"] = per_thousand(1000 * in_use[side] * part)
        for k, each in enumerate(one.shown):
            moved = each.moving and prevalence != self.condition.prevalence
            found[f"measure {k}"] = decimals(each.at(one.counts[place], share)) if moved else estimate_text(each, place)
        path = one.honest[0 if prevalence is None else 1]
        if path is not None:
            worth = ratio if prevalence is None else ratio * share * one.negatives / ((1 - share) * one.positives)
            place = int(np.searchsorted(path.worth * (1 + 1e-10), worth))
            outcomes = float(path.tp[place]) / one.positives, float(path.fp[place]) / one.negatives
            found["honest"] = cost_text(self._cost(*outcomes, ratio, share))
        return found

    def shares(self) -> dict[str, float]:
        """The share of its class that each outcome has, where the page opens."""
        one = self.models[self.start]
        return {side: round(share, 4) for side, share in one.shares(one.place(one.at)).items()}

    def templates(self, model: int) -> dict[str, str]:
        """The words beside the numbers, for when they apply."""
        one = self.models[model]
        moving = [each.spec.label for each in one.shown if each.moving]
        base = one.prevalence if self.condition.prevalence is None else self.condition.prevalence
        return {
            "costs": ", if a miss costs as much as a false alarm",
            "use": f", {{}} % of them {one.labels[0]}",
            "caution": f"Intervals of {listed(moving)} are known for {100 * base:.3g} % {one.labels[0]} alone."
            if moving
            else "",
        }

    def words(self, ratio: float, prevalence: float | None) -> dict[str, str]:
        """Those that apply to the model looked at first, under costs and a prevalence."""
        told = self.templates(self.start)
        return {
            "costs": "" if self.stated or ratio != self.ratio else told["costs"],
            "use": "" if prevalence is None else told["use"].replace("{}", f"{100 * prevalence:.3g}", 1),
            "caution": told["caution"] if prevalence != self.condition.prevalence else "",
        }

    def opening(self) -> dict[str, str]:
        """What it says where the page opens."""
        one = self.models[self.start]
        return self.said(self.start, one.place(one.at), one.at, prevalence=self.condition.prevalence)

    def _cost(self, tpr: float, fpr: float, ratio: float, share: float) -> float:
        c = self.condition
        return share * (c.tp + ratio * self.unit * (1 - tpr)) + (1 - share) * (c.tn + self.unit * fpr)

    def content(self) -> Row:
        """All that the script of the page needs, arrays as base64."""
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
                    "title": one.spec.measure.title,
                    "name": one.spec.name,
                    "options": dict(one.spec.options),
                    "moving": one.moving,
                    "whole": one.spec.measure.range[1] <= 1,
                }
                for one in self.models[0].shown
            ],
            "models": [
                _packed(one) | {"words": self.templates(place) | {"ties": one.ties}, "labels": one.labels}
                for place, one in enumerate(self.models)
            ],
        }


def operating(evaluation: Answers) -> Operating | None:
    """The models that decide between two classes at all their thresholds; None where there is nothing to move."""
    models = evaluation.models
    if models.of_classes and not models.two_class:
        return _of_classes(evaluation)
    names = [name for name in models.two_class if models[name].thresholded]
    if not names or not 0 < models.prevalence < 1:
        return None
    decision = evaluation.decision if isinstance(evaluation.decision, Decision) else None
    condition = Condition() if decision is None else decision.condition
    deciding = {name: models.deciding[name] for name in models.two_class}
    judged = [paths(deciding, pairs=models.side_by_side, within_classes=w, seed=evaluation.seed) for w in (False, True)]
    asked = [replace(one.spec, at=None) for one in evaluation.summary if one.spec.at is not None]
    # What depends on costs moves with them: the panel tells the cost itself.
    specs = [spec for spec in dict.fromkeys(asked) if not spec.measure.conditioned and spec.of is None]
    priced = MeasureSpec(cost.name, tuple(condition.stated().items()))
    most = share_kept(len(names))
    points = []
    for name in models.two_class:
        table, crisp = models[name].inside(ScoreTable), name not in names
        at = math.nan if crisp else evaluation.threshold(name)
        kept = np.array([1]) if crisp else kept_thresholds(table, at, most)
        along = partial(_along, evaluation, table, kept, nodes=_nodes(table, kept, at, len(names)), drawn=Outcomes())
        shown = tuple(along(spec, condition.prevalence) for spec in specs or _USUAL)
        honest = tuple(path and path.thinned(most) for path in (judged[0].get(name), judged[1].get(name)))
        own = table, kept, crisp, at, shown, along(priced), honest, condition.prevalence
        points.append(Points(name, colour_of(name, models), *own))
    best = None if decision is None else decision.best.model
    start = next((k for k, one in enumerate(points) if one.name == best), None)
    if start is None:
        leading = evaluation.summary[0].spec
        sign = -1 if leading.measure.best == "low" else 1
        values = {one.model: sign * one.value for one in evaluation.summary if one.spec == leading}
        ranked = [values.get(one.name, -math.inf) if not one.crisp else -math.inf for one in points]
        start = int(np.argmax(np.nan_to_num(ranked, nan=-math.inf)))
    return Operating(tuple(points), condition, decision is not None, start)


def _of_classes(evaluation: Answers) -> Operating | None:
    """The classes of models that score several, each against the others at all thresholds of its own scores."""
    models = evaluation.models
    every = [f"{name}[{label}]" for name in models.of_classes for label in models.present]
    if len(models.present) < 2:
        return None
    names = every[:MOST_CLASSES]
    points = []
    for name in names:
        table = models.score_table(name)
        at = 0.5 if table.probabilities else best_threshold(table, youden).threshold
        kept = kept_thresholds(table, at, share_kept(len(names)))
        along = partial(_along, evaluation, table, kept, nodes=_nodes(table, kept, at, len(names)), drawn=Outcomes())
        points.append(Points(name, colour_of(name, names), table, kept, False, at, tuple(map(along, _USUAL))))
    rest = every[MOST_CLASSES:]
    words = f"Not to be followed here, as they are too many: {listing(rest)}." if rest else ""
    return Operating(tuple(points), Condition(), False, 0, classes=True, left_out=words)


def share_kept(models: int) -> int:
    """How many places are kept of each of so many models."""
    return max(KEPT // 4, min(KEPT, 3 * KEPT // models))


def kept_thresholds(table: ScoreTable, at: float, most: int = KEPT) -> Array:
    """Which thresholds to keep: all of few; of many the corners of the hull, and enough that no pixel changes.

    The others are spread evenly along the ROC curve and over the ranks, finer towards both ends.
    """
    size = table.score.size + 1
    if size <= most:
        return np.arange(size)
    counts = table.sweep
    along = counts.tp / counts.tp[-1] + counts.fp / counts.fp[-1]
    flagged = counts.pp / counts.pp[-1]
    on_hull = np.append(0, edges_of(table).end + 1)
    led = led_places(table)
    left = max(2, most - on_hull.size - len(led) - 3)
    even = np.searchsorted(along, np.linspace(0, 2, left // 2))
    rank = np.searchsorted(flagged, (1 - np.cos(np.linspace(0, np.pi, left - left // 2))) / 2)
    own = [np.searchsorted(-table.score, -at, side="right"), size - 1]
    return np.unique(np.concatenate([on_hull, even, rank, led, own]).clip(0, size - 1)).astype(np.intp)


def top_place(table: ScoreTable, top: str) -> int:
    """The place of the lowest threshold that flags no more than the top cases, as a share or a number of them."""
    return int(np.searchsorted(table.sweep.pp, _asked(table, top) * (1 + 1e-12), side="right")) - 1


def tied(table: ScoreTable, top: str) -> str:
    """What is flagged where no threshold flags just the top cases, as scores at the cut are equal; else nothing.

    >>> from scorespace.tables import score_table
    >>> tied(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), "2")
    'No threshold flags just the 2 highest scores: without those tied at 0.4 it is 1 case, with them 3.'
    """
    asked, place, flagged = _asked(table, top), top_place(table, top), table.sweep.pp
    if place == flagged.size - 1 or float(flagged[place]) >= asked * (1 - 1e-12):
        return ""
    without, cut = float(flagged[place]), table.threshold(float(table.thresholds[place + 1])).text
    alike = "in the bin from" if table.coarse else "tied at"
    number = f"{grouped(without)} {'case' if without == 1 else 'cases'}"
    return (
        f"No threshold flags just the {grouped(asked)} highest scores: without those {alike} {cut} it is {number}, "
        f"with them {grouped(float(flagged[place + 1]))}."
    )


def _asked(table: ScoreTable, top: str) -> float:
    """How many cases are the top, whole ones where cases are."""
    total = float(table.total)
    asked = float(top[:-1]) / 100 * total if top.endswith("%") else min(float(top), total)
    return math.floor(asked * (1 + 1e-12)) if table.whole else asked


def led_places(table: ScoreTable) -> list[int]:
    """The places of the thresholds to which buttons lead: without the cases tied at a cut, and with them."""
    return [top_place(table, top) + further for top in TOPS for further in range(2 if tied(table, top) else 1)]


def _nodes(table: ScoreTable, kept: Array, at: float, models: int) -> Array:
    """The places, among those kept, at which intervals are simulated: where buttons lead, and evenly between."""
    most = max(40, SIMULATED // models)
    own = int(np.searchsorted(-table.thresholds[kept], -at, side="right")) - 1 if math.isfinite(at) else 0
    led = np.searchsorted(kept, led_places(table))
    corners = np.flatnonzero(np.isin(kept, np.append(0, edges_of(table).end + 1)))
    even = np.linspace(0, kept.size - 1, max(2, most - min(corners.size, most // 2))).astype(np.intp)
    thin = corners[np.linspace(0, corners.size - 1, min(corners.size, most // 2)).astype(np.intp)]
    return np.unique(np.concatenate([even, thin, led, [own]]).clip(0, kept.size - 1)).astype(np.intp)


def _along(
    evaluation: Answers,
    table: ScoreTable,
    kept: Array,
    spec: MeasureSpec,
    share: float | None = None,
    *,
    nodes: Array,
    drawn: Outcomes,
) -> Shown:
    """A measure at the kept thresholds with the limits of its usual interval, where that is Wilson's or Jeffreys'."""
    spec, counts = spec.for_prevalence(share), table.sweep[kept]
    value = spec.along(counts)
    request = bind(replace(spec, at=0.5), table)
    method = chosen(request, evaluation.interval, strict=False).name
    if evaluation.models.grouped or not table.counted:
        method = "none"
    if method == jeffreys_interval.name:
        return Shown(spec, value, *simulated(evaluation, request, counts, value, nodes, drawn))
    if method == wilson_interval.name and counted(request):
        name = str(request.measure.trials)
        trials = getattr(counts, name)
        if counts.squares is not None:
            trials = ratio(trials * trials, getattr(counts.squares, name))
        return Shown(spec, value, *wilson_along(request, value, trials, evaluation.level))
    gap = np.full(kept.size, math.nan)
    return Shown(spec, value, gap, gap)


def wilson_along(request: Request, value: Array, trials: Array, level: float) -> tuple[Array, Array]:
    """Wilson's limits of a share of so many trials, at every place."""
    to_share, back = request.measure.share or (np.asarray, np.asarray)
    low, high = wilson(np.asarray(to_share(value)) * trials, trials, level)  # type: ignore[arg-type]
    return np.asarray(back(low)), np.asarray(back(high))


def simulated(
    evaluation: Answers, request: Request, table: Table, value: Array, nodes: Array, drawn: Outcomes | None = None
) -> tuple[Array, Array]:
    """Limits simulated at the nodes; between them they keep a distance from the value that changes evenly."""
    nodes = nodes[np.isfinite(value[nodes])]
    if not nodes.size:
        return value * math.nan, value * math.nan
    squares = None if table.cell_squares is None else table.cell_squares[nodes]
    found = jeffreys_along(request, table.cells[nodes], evaluation.level, evaluation.seed, drawn, squares=squares)
    places, (lowest, highest) = np.arange(value.size), request.range
    low, high = (value + np.interp(places, nodes, limit - value[nodes]) for limit in found)
    return np.maximum(low, lowest), np.minimum(high, highest)


def cost_text(value: float) -> str:
    """A cost with the digits that it has in tables and sentences."""
    return decimals(value)


def estimate_text(one: Shown, place: int) -> str:
    ends = float(one.value[place]), float(one.low[place]), float(one.high[place])
    return Estimate("", one.spec, *ends, math.nan, None, None).text


def _precision(one: Points) -> Array:
    return np.asarray(ratio(one.drawn.tp, one.drawn.pp))


def _benefit(one: Points) -> Array:
    """Net benefit at each threshold, where scores are probabilities."""
    if one.crisp or not one.table.probabilities:
        return np.full(one.kept.size, math.nan)
    below = np.where(one.threshold < 1, one.threshold, math.nan)  # at 1 a false alarm weighs infinitely much
    return np.asarray(ratio(one.drawn.tp - one.drawn.fp * below / (1 - below), one.drawn.total))


def _packed(one: Points) -> Row:
    whole = bool(one.table.whole) and float(one.table.total) < 2**32
    sides: Mapping[str, Array] = {"tp": one.counts.tp, "fp": one.counts.fp}
    return {
        "name": one.name,
        "positives": one.positives,
        "negatives": one.negatives,
        "colour": one.colour,
        "crisp": one.crisp,
        "at": _number(one.at),
        "threshold": packed(one.threshold),
        "told": packed([math.inf if math.isinf(at) else float(at.text) for at in one.told]),
        **{side: packed(counts, "u4" if whole else "f8") for side, counts in sides.items()},
        "precision": packed(_precision(one), "f4"),
        "benefit": packed(_benefit(one), "f4"),
        "shown": [packed_measure(each) for each in one.shown],
        "cost": None if one.cost is None else packed_measure(one.cost),
        "honest": [
            None if path is None else {"worth": packed(path.worth), "tp": packed(path.tp), "fp": packed(path.fp)}
            for path in one.honest
        ],
    }


def packed_measure(one: Shown) -> list[str]:
    """Value and limits as whole numbers of their last decimal, and how many decimals they have."""
    bounded = ~(np.isnan(one.low) | np.isnan(one.high))
    places = digits_along(np.stack([one.value, *(np.where(bounded, side, np.nan) for side in (one.low, one.high))]))
    # Rounded to the digits that are told: what is rounded once is told alike.
    sides = [_rounded(side, places) for side in (one.value, one.low, one.high)]
    scaled = [np.rint(side * 10.0**places) for side in sides]
    if max((float(np.nanmax(np.abs(side), initial=0.0)) for side in scaled), default=0.0) >= _ABSENT:
        return [*(packed(side) for side in sides), packed(places, "u1")]
    return [*(packed(np.where(np.isnan(side), -_ABSENT, side), "i4") for side in scaled), packed(places, "u1")]


def _rounded(values: Array, places: Array) -> Array:
    """As the texts are rounded: each number by its exact decimals, which only those near a tie need."""
    power = 10.0**places
    scaled = values * power
    found = np.rint(scaled) / power
    with np.errstate(invalid="ignore"):  # what is infinite has no decimals
        near = np.flatnonzero(np.abs(scaled - np.floor(scaled) - 0.5) < 1e-6)
    found[near] = [
        float(f"{value:.{n}f}") for value, n in zip(values[near].tolist(), places[near].tolist(), strict=True)
    ]
    return np.asarray(found)


def packed(values: Any, kind: str = "f8") -> str:
    """An array as text, in the smallest type that holds what is shown of it."""
    return f"{kind} {base64.b64encode(np.ascontiguousarray(values, dtype=f'<{kind}').tobytes()).decode()}"


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None

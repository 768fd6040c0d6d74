"""The model and threshold of least cost under an operating condition."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scorespace.conditions import Condition
from scorespace.curves.hull import ALWAYS, NEVER, TRIVIAL, Hull, Region, hull
from scorespace.errors import ConditionError, DataError
from scorespace.measures.cost import cost
from scorespace.results import SCHEMA, Note, Row, note, plain
from scorespace.tables import Array, ConfusionTable, Counts, ScoreTable
from scorespace.tables.labels import is_plain_code

Models = Mapping[str, ScoreTable | ConfusionTable]


@dataclass(frozen=True)
class Choice:
    """A model used at a threshold (none for a crisp one), with what that does and costs.

    All thresholds above `above`, up to and including `threshold`, decide alike. `calibrated` is the
    cost at the closed-form threshold for calibrated probabilities, where the scores can be such.
    """

    model: str
    threshold: float
    above: float
    counts: Counts
    cost_per_case: float
    relative_cost: float
    calibrated_threshold: float = math.nan
    calibrated_cost: float = math.nan
    threshold_interval: tuple[float, float] = (math.nan, math.nan)
    cost_interval: tuple[float, float] = (math.nan, math.nan)

    def row(self) -> Row:
        outcomes = {name: float(getattr(self.counts, name)) for name in ("tp", "fp", "fn", "tn")}
        return plain(
            {
                "model": self.model,
                "threshold": self.threshold,
                "cost_per_case": self.cost_per_case,
                "relative_cost": self.relative_cost,
                **outcomes,
                "threshold_low": self.threshold_interval[0],
                "threshold_high": self.threshold_interval[1],
                "cost_low": self.cost_interval[0],
                "cost_high": self.cost_interval[1],
                "calibrated_threshold": self.calibrated_threshold,
                "calibrated_cost": self.calibrated_cost,
            }
        )


@dataclass(frozen=True)
class Decision:
    """The choice of least cost, what the alternatives would cost, and where each model is best.

    Equal costs go to the model named first, and a model beats a trivial rule of equal cost, unless it
    decides alike for every case: then it is the trivial rule.
    """

    condition: Condition
    prevalence: float
    choices: tuple[Choice, ...]
    trivial: tuple[Choice, ...]
    dominated: Mapping[str, str]
    hull: Hull
    labels: tuple[str, str] = ("positive", "negative")

    @property
    def best(self) -> Choice:
        """The cheapest choice; a trivial rule only when it is cheaper than every model that does more."""
        useful = [choice for choice in self.choices if choice.counts.pp > 0 and choice.counts.pn > 0]
        return min((*useful, *self.trivial), key=lambda choice: choice.cost_per_case)

    @property
    def slope(self) -> float:
        """Slope of the lines of equal cost in ROC space."""
        return self.condition.slope(self.prevalence)

    @property
    def regions(self) -> list[Region]:
        """For each corner of the hull of all models, the slopes for which it is best."""
        return self.hull.regions()

    @property
    def notes(self) -> tuple[Note, ...]:
        if self.best.model in TRIVIAL or math.isnan(self.best.threshold):
            return ()
        text = (
            f"the threshold of {self.best.model} was chosen on these cases: expect a slightly higher cost on new ones."
        )
        return (note("SS013", text),)

    def model_ranges(self) -> list[tuple[str, float, float]]:
        """The slopes, from high to low, in which each model is best: neighbouring corners of one model joined."""
        ranges: list[tuple[str, float, float]] = []
        for region in self.regions:
            if ranges and ranges[-1][0] == region.model:
                ranges[-1] = (region.model, region.slope_low, ranges[-1][2])
            else:
                ranges.append((region.model, region.slope_low, region.slope_high))
        return ranges

    def cost_ratio(self, slope: float) -> float:
        """How many false positives a false negative costs on a line of that slope: (1 − π) / (π · slope)."""
        share = self.condition.share(self.prevalence)
        return (1 - share) / (share * slope) if slope else math.inf

    def rows(self) -> list[Row]:
        """One row per model, then the trivial rules, each at its least cost."""
        return [choice.row() for choice in (*self.choices, *self.trivial)]

    def to_dict(self) -> Row:
        chosen = self.best.row()
        return {
            "schema": SCHEMA,
            **{name: chosen[name] for name in ("model", "threshold", "cost_per_case", "tp", "fp", "fn", "tn")},
            "slope": plain(self.slope),
            "dominated": [{"model": name, "reason": reason} for name, reason in self.dominated.items()],
            "regions": [region.row() for region in self.regions],
            "rows": self.rows(),
            "verdict": self.words,
            "notes": [one.to_dict() for one in self.notes],
        }

    @property
    def words(self) -> str:
        """What to use, what it costs, how much worse the alternatives are, and which models never pay."""
        return " ".join(filter(None, [_use(self), _never(self)]))

    def __repr__(self) -> str:
        return self.words


def decide(models: Models, condition: Condition) -> Decision:
    """The least-cost model and threshold of several two-class models under a condition.

    >>> from scorespace.tables import score_table
    >>> decide({"nb": score_table([1, 0, 1, 0], [0.9, 0.4, 0.3, 0.1])}, Condition(fp=1, fn=5))
    Use nb at threshold 0.3: 0.25 per case, 250 per 1 000. That is 250 per 1 000 less than calling every case positive.
    """
    tables = {name: _scores(name, table) for name, table in models.items()}
    if not tables:
        raise DataError("there is no model to decide between.")
    first = next(iter(tables.values()))
    if not (first.n_pos and first.n_neg):
        raise ConditionError("a decision needs cases of both classes.", seen="one class only")
    prevalence = float(first.n_pos / first.total)
    choices = tuple(
        _choice(name, table, condition, crisp=isinstance(models[name], ConfusionTable))
        for name, table in tables.items()
    )
    trivial = tuple(_trivial(name, first, condition) for name in TRIVIAL)
    together = hull(models)
    positive = first.classes[first.positive]
    others = [name for name in first.classes if name != positive]
    labels = (positive, others[0] if len(others) == 1 else f"not {positive}")
    labels = ("positive", "negative") if is_plain_code(positive) else labels
    return Decision(condition, prevalence, choices, trivial, together.dominated(models), together, labels)


def costs_of(counts: Counts, condition: Condition) -> Array:
    """Expected cost per case of each of several outcomes, by the measure `cost`."""
    c = condition
    return np.asarray(cost(counts, fp=c.fp, fn=c.fn, tp=c.tp, tn=c.tn, prevalence=c.prevalence))


def first_least(costs: Array) -> Array:
    """The index (last axis) of the highest threshold of least cost: of equally cheap ones, the fewest alarms.

    Equal up to rounding, so that three misses at 0.1 are no dearer than a false alarm at 0.3.

    >>> int(first_least(np.array([0.5, 0.1 * 3, 0.3])))
    1
    """
    slack = 1e-12 * np.abs(costs).max(axis=-1, keepdims=True)
    return np.asarray(np.argmax(costs <= costs.min(axis=-1, keepdims=True) + slack, axis=-1))


def _scores(name: str, table: ScoreTable | ConfusionTable) -> ScoreTable:
    if isinstance(table, ScoreTable):
        return table
    if table.positive is None:
        raise ConditionError(
            f"{name} decides between {len(table.classes)} classes without a positive one.",
            hint="a cost matrix (--costs FILE.csv) for several classes, or state the positive class",
        )
    return table.score_table()


def _choice(name: str, table: ScoreTable, condition: Condition, crisp: bool) -> Choice:
    place = 1 if crisp else int(first_least(costs_of(table.sweep, condition)))
    thresholds = table.thresholds
    below = thresholds[place + 1] if place + 1 < thresholds.size else -np.inf
    limits = (math.nan, math.nan) if crisp else (float(thresholds[place]), float(below))
    counts = table.sweep[place]
    prevalence = float(table.n_pos / table.total)
    closed = math.nan
    if not crisp and table.score[0] <= 1 and table.score[-1] >= 0:
        closed = condition.threshold_for(prevalence)
    closed_cost = math.nan if math.isnan(closed) else float(costs_of(table.at(closed), condition))
    price = float(costs_of(counts, condition))
    return Choice(name, *limits, counts, price, _relative(counts, condition), closed, closed_cost)


def _trivial(name: str, table: ScoreTable, condition: Condition) -> Choice:
    counts = table.sweep[0 if name == NEVER else -1]
    return Choice(name, math.nan, math.nan, counts, float(costs_of(counts, condition)), _relative(counts, condition))


def _relative(counts: Counts, condition: Condition) -> float:
    fpr, tpr = float(counts.fp / counts.n), float(counts.tp / counts.p)
    return float(condition.relative_cost(fpr, tpr, float(counts.p / counts.total)))


def _use(decision: Decision) -> str:
    best = decision.best
    if best.model in TRIVIAL:
        use = f"Use no model: {_called(best, decision)}"
    else:
        use = f"Use {best.model}" + ("" if math.isnan(best.threshold) else f" at threshold {best.threshold:.3g}")
    price = f"{use}: {_money(best.cost_per_case)} per case, {_per_thousand(best.cost_per_case)} per 1 000."
    others = sorted((one for one in decision.choices if one is not best), key=lambda one: one.cost_per_case)
    trivial = min((one for one in decision.trivial if one is not best), key=lambda one: one.cost_per_case)
    shown = others[:3]
    gains = [
        f"{_per_thousand(other.cost_per_case - best.cost_per_case)} per 1 000 less than {_called(other, decision)}"
        for other in [*shown, trivial]
    ]
    return f"{price} That is {_joined(gains)}."


def _called(choice: Choice, decision: Decision) -> str:
    """A model by its name, a trivial rule by what it does."""
    if choice.model not in TRIVIAL:
        return choice.model
    return f"calling every case {decision.labels[0] if choice.model == ALWAYS else decision.labels[1]}"


def _never(decision: Decision) -> str:
    if not decision.dominated:
        return ""
    names = list(decision.dominated)
    return f"{_joined(names)} {'is' if len(names) == 1 else 'are'} never the better choice, whatever the costs."


def _per_thousand(cost: float) -> str:
    return f"{1000 * cost:,.0f}".replace(",", " ").replace("-", "−")


def _money(cost: float) -> str:
    return f"{cost:.3g}".replace("-", "−")


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

"""Which model of numbers to use, and by how much to shift it, when too low and too high do not cost the same."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scorespace.conditions import Asymmetry
from scorespace.curves.rroc import AlphaRange, RrocCurve, rroc, rroc_hull
from scorespace.decisions.honest import FOLDS, REPEATS, dealt
from scorespace.decisions.judged import UNKNOWN, Value, check_judged
from scorespace.errors import DataError
from scorespace.frozen import dataclass
from scorespace.resampling.limits import student
from scorespace.results import Note, Result, Row, note, plain, short
from scorespace.tables import Array
from scorespace.tables.pair import PairTable
from scorespace.tables.residual import ResidualTable

_CASES_AT_ONCE: Final = 2_000_000  # of all repeats: a split matters less the more cases there are
_LEVELS: Final = 2_000  # shifts that are tried: a part in two thousand of the cases hardly moves a loss
FEW: Final = "there are fewer than ten cases, so too few are left to choose on"
COPIED: Final = "the copies that weights stand for are too many, or not whole, to be kept apart"
_MOST_COPIES: Final = 5_000_000


@dataclass(frozen=True)
class ShiftChoice:
    """A model with the shift of least loss for it, and what that costs per case.

    `loss` is on the cases that chose the shift, and so too low; `honest` on cases that did not. `as_is` is the loss of
    the model without a shift, which nothing was chosen for, and `gain` what the shift spares of that on other cases.
    """

    model: str
    shift: float
    upto: float
    loss: float
    as_is: float
    over: float
    under: float
    share: float
    honest: Value = UNKNOWN
    gain: Value = UNKNOWN

    def row(self) -> Row:
        named = {"upto": "shift_upto", "as_is": "loss_without_shift", "share": "share_over"}
        stated = ("model", "shift", "upto", "loss", "as_is", "over", "under", "share")
        found = plain({named.get(name, name): getattr(self, name) for name in stated})
        return found | self.honest.row("honest", "honest_loss") | self.gain.row("gain")


@dataclass(frozen=True, repr=False)
class ShiftDecision(Result):
    """The model and shift of least loss, what the others would cost, and in which range of α each is best.

    Losses are in units of the stated costs. `honest` is the loss of the whole procedure, which takes the cheapest
    model with the shift that suits it, on cases that did not choose; `fitted` names the sample that chose, where it
    is another.
    """

    condition: Asymmetry
    choices: tuple[ShiftChoice, ...]
    ranges: tuple[AlphaRange, ...]
    honest: Value = UNKNOWN
    gain: Value = UNKNOWN
    curves: Mapping[str, RrocCurve] = field(default_factory=dict, compare=False, repr=False)
    fitted: str | None = None

    @property
    def best(self) -> ShiftChoice:
        """The cheapest model, shifted as suits; of equal ones the first."""
        return min(self.choices, key=lambda one: one.loss)

    @property
    def dominated(self) -> list[str]:
        """The models that, shifted as suits, are best for no α."""
        there = {one.model for one in self.ranges}
        return [one.model for one in self.choices if one.model not in there]

    @property
    def shown(self) -> bool:
        """Whether the shift is shown to spare something on other cases."""
        return self.gain.low > 0

    @property
    def notes(self) -> tuple[Note, ...]:
        if self.fitted is not None:
            return ()
        best = self.best
        text = f"the shift of {best.model} was chosen on these cases, so values at it are apparent"
        if math.isnan(self.honest.value):
            return (note("SS013", f"{text}; the loss on other cases is unknown, as {self.honest.reason}."),)
        return (note("SS013", f"{text}: {self._price}."),)

    @property
    def words(self) -> str:
        """What to use with which shift, what it costs and spares, and which models never pay."""
        return " ".join(filter(None, [self._use(), self._others(), self._never()]))

    def _use(self) -> str:
        best, honest, costs = self.best, self.honest, self._price
        where = "" if self.fitted is None else f", chosen on {self.fitted}"
        gain, by = self.gain, short(best.shift, sign=True)
        if math.isnan(gain.value):
            why = f"whether that holds on other cases cannot be said, as {honest.reason}"
            return f"Use {best.model} shifted by {by}{where}: {costs}; {why}."
        if self.shown:
            return f"Use {best.model} shifted by {by}{where}: {costs}, {gain!r} less than as it is."
        return f"Use {best.model}: a shift by {by}{where} has {costs}, and is not shown to spare anything ({gain!r})."

    @property
    def _price(self) -> str:
        """The loss under the name of what it is an estimate of, with its interval and the apparent one."""
        apparent = f"apparent {short(self.best.loss)}"
        if math.isnan(self.honest.value):
            return f"{apparent} per case"
        of = " of choosing model and shift" if len(self.choices) > 1 and self.fitted is None else ""
        kind = "cross-fitted" if self.fitted is None else "external"
        return f"{kind} loss{of} {self.honest!r} per case ({apparent})"

    def _others(self) -> str:
        others = sorted((one for one in self.choices if one is not self.best), key=lambda one: one.loss)[:3]
        if not others:
            return ""
        told = [
            f"{one.model} {f'{short(one.loss)} (apparent)' if math.isnan(one.honest.value) else repr(one.honest)}"
            for one in others
        ]
        kind = "cross-fitted" if self.fitted is None else "external"
        return f"With the shifts that suit them, the others have {kind} loss {', '.join(told)}."

    def _never(self) -> str:
        names = self.dominated
        if not names:
            return ""
        are = "is" if len(names) == 1 else "are"
        return f"On these cases {' and '.join(names)} {are} never the better choice, whatever the costs."

    def rows(self) -> list[Row]:
        return [one.row() for one in self.choices]

    def facts(self) -> Row:
        chosen = self.best.row()
        return {
            "model": chosen["model"],
            "shift": chosen["shift"],
            "alpha": self.condition.alpha,
            "loss": chosen["loss"],
            **self.honest.row("honest", "honest_loss"),
            **self.gain.row("gain"),
            "shown": self.shown,
            "reason": self.honest.reason,
            "fitted": self.fitted,
            "dominated": [{"model": name} for name in self.dominated],
            "regions": [one.row() for one in self.ranges],
        }


def decide_shift(
    models: Mapping[str, ResidualTable],
    condition: Asymmetry,
    *,
    pairs: PairTable | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> ShiftDecision:
    """The model and shift of least asymmetric loss, and its loss on cases that did not choose them.

    >>> from scorespace.tables.residual import residual_table
    >>> t = residual_table(np.arange(40.0), np.arange(40.0) + np.tile([-1, 0, 1, 2], 10))
    >>> decide_shift({"nb": t}, Asymmetry(under=3, over=1)).best.shift
    0.0
    """
    chosen = choose_shift(models, condition)
    cases = _cases(models, tuple(models), pairs)
    reason = COPIED if cases is None else FEW if cases.weight.size < FOLDS else None
    if cases is None or reason is not None:
        return replace(chosen, honest=Value(reason=reason))
    return _judged(chosen, _crossfitted(cases, condition, seed), cases, level, shared=True)


def choose_shift(models: Mapping[str, ResidualTable], condition: Asymmetry) -> ShiftDecision:
    """The model and shift of least loss on these cases; what they cost on others is not asked."""
    if not models:
        raise DataError("there is no model to decide between.", hint="name a model with scores")
    curves = {name: rroc(table) for name, table in models.items()}
    choices = tuple(_choice(name, curve, condition) for name, curve in curves.items())
    return ShiftDecision(condition, choices, tuple(rroc_hull(curves).ranges()), curves=curves)


def judge_shift_on(
    decision: ShiftDecision,
    models: Mapping[str, ResidualTable],
    *,
    fitted: str,
    pairs: PairTable | None = None,
    level: float = 0.95,
) -> ShiftDecision:
    """A decision made on one sample, which `fitted` names, judged on another by the plain losses there."""
    check_judged((one.model for one in decision.choices), models)
    cases = _cases(models, [one.model for one in decision.choices], pairs)
    if cases is None:
        return replace(decision, honest=Value(reason=COPIED), fitted=fitted)
    shifts = np.array([one.shift for one in decision.choices])[:, None]
    losses = _loss(cases.errors + shifts, decision.condition)[:, None]
    best = decision.choices.index(decision.best)
    return replace(
        _judged(decision, (losses, np.full(losses.shape[1:], best)), cases, level, shared=False), fitted=fitted
    )


def _choice(name: str, curve: RrocCurve, condition: Asymmetry) -> ShiftChoice:
    alpha, unit = condition.alpha, (condition.under + condition.over) / 2
    best = curve.best(alpha)
    loss, as_is = unit * best.loss, unit * curve.loss(alpha)
    return ShiftChoice(name, best.shift, best.upto, loss, as_is, best.over, best.under, best.share)


@dataclass(frozen=True, eq=False)
class _Cases:
    """The errors (models, cases) in the order of the cases, what each case weighs, and the group that it is of."""

    errors: NDArray[np.float64]
    weight: NDArray[np.float64]
    group: NDArray[np.int32] | None

    @property
    def worth(self) -> float:
        """How many equal cases tell as much (Kish)."""
        return float(self.weight.sum() ** 2 / (self.weight @ self.weight))


def _cases(models: Mapping[str, ResidualTable], names: Sequence[str], pairs: PairTable | None) -> _Cases | None:
    """The cases one by one, a copy being a case of its own; None where there are too many of these."""

    def ordered(name: str, column: Array) -> Array:
        return column if pairs is None else column[pairs.cell[pairs.index(name)]]

    errors = np.stack([ordered(name, models[name].numbers.error) for name in names])
    first = models[names[0]]
    weight = ordered(names[0], first.cells).astype(np.float64)
    group = None if pairs is None else pairs.group
    if not first.copies:
        return _Cases(errors, weight, group)
    if weight.sum() > _MOST_COPIES or (weight % 1).any():
        return None
    times = weight.astype(np.int64)
    group = None if group is None else np.repeat(group, times)
    return _Cases(np.repeat(errors, times, axis=1), np.ones(int(times.sum())), group)


def _loss(error: Array, condition: Asymmetry) -> Array:
    return np.where(error < 0, -condition.under * error, condition.over * error)


def _crossfitted(held: _Cases, condition: Asymmetry, seed: int) -> tuple[Array, Array]:
    """The loss (models, repeats, cases) of each case under the shift chosen without its fold, and the model chosen.

    Cases are split at random into ten folds, whole groups where there are such, twenty times unless they are many;
    on nine folds the shift is that quantile of the errors at which the loss is least, and the model the cheapest.
    """
    errors, (models, cases) = held.errors, held.errors.shape
    repeats = min(REPEATS, max(2, _CASES_AT_ONCE // cases))
    rng = np.random.default_rng(seed)  # deals cases out to folds, each once: no bootstrap
    unit = np.arange(cases) if held.group is None else np.asarray(held.group)
    fold = dealt(int(unit.max()) + 1, 0, repeats, FOLDS, rng)[:, unit]
    sizes = np.stack([np.bincount(one, held.weight, minlength=FOLDS) for one in fold])
    rest = held.weight.sum() - sizes  # (repeats, folds)
    shift, price = np.empty((models, repeats, FOLDS)), np.empty((models, repeats, FOLDS))
    for place, error in enumerate(errors):
        shift[place], price[place] = _chosen(error, held.weight, fold, rest, condition)
    own = np.take_along_axis(shift, np.broadcast_to(fold.astype(np.intp), (models, repeats, cases)), axis=-1)
    winner = np.take_along_axis(price.argmin(axis=0), fold.astype(np.intp), axis=-1)
    return _loss(errors[:, None, :] + own, condition), winner


def _chosen(
    error: NDArray[np.float64], weight: NDArray[np.float64], fold: NDArray[np.uint8], rest: Array, condition: Asymmetry
) -> tuple[Array, Array]:
    """For each fold (repeats, folds) the shift of least loss on the other folds, and the loss per case there.

    The errors are merged into at most two thousand levels of as many cases each; levels are exact where there are
    fewer cases.
    """
    order = np.argsort(error, kind="stable")
    levels = min(_LEVELS, error.size)
    level = np.empty(error.size, dtype=np.intp)
    level[order] = (np.arange(error.size) * levels) // error.size
    middle = np.bincount(level, weight * error, minlength=levels) / np.bincount(level, weight, minlength=levels)
    repeats = fold.shape[0]
    where = (np.arange(repeats)[:, None] * FOLDS + fold) * levels + level
    by = np.broadcast_to(weight, where.shape).ravel()
    held = np.bincount(where.ravel(), by, minlength=repeats * FOLDS * levels).reshape(repeats, FOLDS, levels)
    others = held.sum(axis=1, keepdims=True) - held
    below = np.cumsum(others, axis=-1)
    # −q is the (1 − α)-quantile of the errors: so the share α of them stays above.
    aim = (1 - condition.alpha) * rest[..., None]
    place = np.minimum((below < aim - 1e-9 * rest[..., None]).sum(axis=-1), levels - 1)
    shift = -middle[place]
    price = np.vecdot(others, _loss(middle + shift[..., None], condition)) / rest
    return shift, price


def _judged(
    decision: ShiftDecision, found: tuple[Array, Array], cases: _Cases, level: float, *, shared: bool
) -> ShiftDecision:
    """The decision with its losses on cases that did not choose it."""
    losses, winner = found
    plain_loss = _loss(cases.errors, decision.condition)
    best = decision.choices.index(decision.best)
    taken = np.take_along_axis(losses, winner[None], axis=0)[0]
    choices = tuple(
        replace(
            one,
            honest=_mean(losses[k], cases, level, shared, True),
            gain=_mean(plain_loss[k] - losses[k], cases, level, shared),
        )
        for k, one in enumerate(decision.choices)
    )
    return replace(
        decision,
        choices=choices,
        honest=_mean(taken, cases, level, shared, True),
        gain=_mean(plain_loss[best] - taken, cases, level, shared),
    )


def _mean(losses: Array, cases: _Cases, level: float, shared: bool, positive: bool = False) -> Value:
    """The mean over cases of their mean loss over repeats (repeats, cases), with its interval.

    Student's t over cases, or over groups of them, lengthened where they are skewed as Johnson does, and by what
    another split of the same cases changes. Cases that are judged by one another count as nine tenths as many, those
    of different weights as so many equal ones as tell as much.
    """
    part = cases.weight / cases.weight.sum()
    of_case = losses.mean(axis=0)
    value = float(part @ of_case)
    apart, worth = (of_case - value) * part * of_case.size, cases.worth
    if cases.group is not None:
        groups = int(cases.group.max()) + 1
        apart, worth = np.bincount(cases.group, apart) * groups / of_case.size, float(groups)
    kept = (FOLDS - 1) / FOLDS if shared else 1.0
    if apart.size < 2:
        return Value(value, reason="there is one group of cases only")
    variance = float(apart @ apart) / apart.size
    if variance <= 0:
        return Value(value, value, value)
    error = math.sqrt(variance / (apart.size * kept - 1))
    skew = float(((apart / math.sqrt(variance)) ** 3).mean())
    number = max(2.0, worth * kept)
    t = float(student(level, number))
    longer = error * skew * (2 * t * t + 1) / (6 * math.sqrt(number))
    split = t * float((losses @ part).std())
    below = math.hypot(t * error + max(0.0, -longer), split)
    above = math.hypot(t * error + max(0.0, longer), split)
    low = value * math.exp(-below / value) if positive and value > 0 else value - below
    return Value(value, low, value + above)

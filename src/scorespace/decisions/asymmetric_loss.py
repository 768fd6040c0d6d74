"""Regression with asymmetric costs: which model to use, and which constant shift of its predictions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scorespace.costs import Asymmetry
from scorespace.curves.rroc import AlphaRange, RrocCurve, rroc, rroc_hull
from scorespace.decisions.cross_fitting import FOLDS, REPEATS, assign_folds
from scorespace.decisions.out_of_sample import UNKNOWN_COST, CostEstimate, FormerlyHonest, check_models
from scorespace.errors import DataError
from scorespace.inference.interval_formulas import student_quantile
from scorespace.results import Note, Result, Row, note, short, to_json_types
from scorespace.tables import Array
from scorespace.tables.paired import PairTable
from scorespace.tables.regression import ResidualTable

_MAX_SPLIT_CASES: Final = 2_000_000  # total number of cases over all repeats; with many cases fewer repeats are needed
_MAX_LEVELS: Final = 2_000  # candidate shifts: quantiles of the errors
TOO_FEW_CASES: Final = "there are fewer than ten cases, too few for cross-fitting"
UNUSABLE_COPIES: Final = "the weights are too large, or not whole numbers, to assign copies of cases to folds"
_MAX_COPIES: Final = 5_000_000


@dataclass(frozen=True)
class ShiftChoice(FormerlyHonest):
    """A model with its optimal shift and the loss per case.

    `loss` is apparent, `out_of_sample` is out-of-sample. `as_is` is the loss without a shift, and `gain` the
    out-of-sample saving by the shift.
    """

    model: str
    shift: float
    upto: float
    loss: float
    as_is: float
    over: float
    under: float
    share: float
    out_of_sample: CostEstimate = UNKNOWN_COST
    gain: CostEstimate = UNKNOWN_COST

    def row(self) -> Row:
        keys = {"upto": "shift_upto", "as_is": "loss_without_shift", "share": "share_over"}
        fields = ("model", "shift", "upto", "loss", "as_is", "over", "under", "share")
        values = to_json_types({keys.get(name, name): getattr(self, name) for name in fields})
        return values | self.out_of_sample.named_row("loss") | self.gain.row("gain")


@dataclass(frozen=True, repr=False)
class ShiftDecision(FormerlyHonest, Result):
    """Model and shift of minimum loss, the loss of the others, and the range of α in which each model is best.

    Losses are in units of the stated costs. `out_of_sample` is the out-of-sample loss of the whole procedure, which
    chooses model and shift; `fitted` names the sample used for the choice, if it is another one.
    """

    condition: Asymmetry
    choices: tuple[ShiftChoice, ...]
    ranges: tuple[AlphaRange, ...]
    out_of_sample: CostEstimate = UNKNOWN_COST
    gain: CostEstimate = UNKNOWN_COST
    curves: Mapping[str, RrocCurve] = field(default_factory=dict, compare=False, repr=False)
    fitted: str | None = None

    @property
    def best(self) -> ShiftChoice:
        """The model of minimum loss with its optimal shift; the first of ties."""
        return min(self.choices, key=lambda choice: choice.loss)

    @property
    def dominated(self) -> list[str]:
        """The models that are optimal for no α, each with its optimal shift."""
        optimal = {choice.model for choice in self.ranges}
        return [choice.model for choice in self.choices if choice.model not in optimal]

    @property
    def shown(self) -> bool:
        """Whether the out-of-sample saving by the shift is significant."""
        return self.gain.low > 0

    @property
    def notes(self) -> tuple[Note, ...]:
        if self.fitted is not None:
            return ()
        best = self.best
        text = f"the shift of {best.model} was chosen on these cases, so values at it are apparent"
        if math.isnan(self.out_of_sample.value):
            return (note("SS013", f"{text}; the out-of-sample loss is unknown: {self.out_of_sample.reason}."),)
        return (note("SS013", f"{text}: {self._loss_text}."),)

    @property
    def words(self) -> str:
        """The recommendation, its loss and saving, and dominated models."""
        return " ".join(filter(None, [self._recommendation(), self._others_text(), self._dominated_text()]))

    def _recommendation(self) -> str:
        best, out_of_sample, costs = self.best, self.out_of_sample, self._loss_text
        source = "" if self.fitted is None else f", chosen on {self.fitted}"
        gain, shift = self.gain, short(best.shift, sign=True)
        if math.isnan(gain.value):
            reason = f"the out-of-sample loss is unknown: {out_of_sample.reason}"
            return f"Use {best.model} shifted by {shift}{source}: {costs}; {reason}."
        if self.shown:
            return f"Use {best.model} shifted by {shift}{source}: {costs}, {gain!r} less than without a shift."
        return f"Use {best.model}: a shift by {shift}{source} has {costs}, no clear improvement ({gain!r} less)."

    @property
    def _loss_text(self) -> str:
        """Loss with its kind (cross-fitted or external), interval and apparent value."""
        apparent = f"apparent {short(self.best.loss)}"
        if math.isnan(self.out_of_sample.value):
            return f"{apparent} per case"
        procedure = " of choosing model and shift" if len(self.choices) > 1 and self.fitted is None else ""
        kind = "cross-fitted" if self.fitted is None else "external"
        return f"{kind} loss{procedure} {self.out_of_sample!r} per case ({apparent})"

    def _others_text(self) -> str:
        others = sorted((choice for choice in self.choices if choice is not self.best), key=lambda choice: choice.loss)[
            :3
        ]
        if not others:
            return ""
        texts = [
            f"{choice.model} "
            + (
                f"{short(choice.loss)} (apparent)"
                if math.isnan(choice.out_of_sample.value)
                else repr(choice.out_of_sample)
            )
            for choice in others
        ]
        kind = "cross-fitted" if self.fitted is None else "external"
        return f"The others, each with its optimal shift, have {kind} loss {', '.join(texts)}."

    def _dominated_text(self) -> str:
        names = self.dominated
        if not names:
            return ""
        verb = "is" if len(names) == 1 else "are"
        return f"On these cases {' and '.join(names)} {verb} never the better choice, whatever the costs."

    def rows(self) -> list[Row]:
        return [choice.row() for choice in self.choices]

    def facts(self) -> Row:
        chosen = self.best.row()
        return {
            "model": chosen["model"],
            "shift": chosen["shift"],
            "alpha": self.condition.alpha,
            "loss": chosen["loss"],
            **self.out_of_sample.named_row("loss"),
            **self.gain.row("gain"),
            "shown": self.shown,
            "reason": self.out_of_sample.reason,
            "fitted": self.fitted,
            "dominated": [{"model": name} for name in self.dominated],
            "regions": [alpha_range.row() for alpha_range in self.ranges],
        }


def decide_shift(
    models: Mapping[str, ResidualTable],
    condition: Asymmetry,
    *,
    pairs: PairTable | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> ShiftDecision:
    """Choose the model and shift of minimum asymmetric loss, and estimate its loss by cross-fitting.

    >>> from scorespace.tables.regression import residual_table
    >>> t = residual_table(np.arange(40.0), np.arange(40.0) + np.tile([-1, 0, 1, 2], 10))
    >>> decide_shift({"nb": t}, Asymmetry(under=3, over=1)).best.shift
    0.0
    """
    chosen = choose_shift(models, condition)
    cases = _cases(models, tuple(models), pairs)
    reason = UNUSABLE_COPIES if cases is None else TOO_FEW_CASES if cases.weight.size < FOLDS else None
    if cases is None or reason is not None:
        return replace(chosen, out_of_sample=CostEstimate(reason=reason))
    return _add_out_of_sample(chosen, _cross_fit(cases, condition, seed), cases, level, is_cross_fitted=True)


def choose_shift(models: Mapping[str, ResidualTable], condition: Asymmetry) -> ShiftDecision:
    """Choose the model and shift of minimum apparent loss, without cross-fitting."""
    if not models:
        raise DataError("there is no model to decide between.", hint="name a model with scores")
    curves = {name: rroc(table) for name, table in models.items()}
    choices = tuple(_choice(name, curve, condition) for name, curve in curves.items())
    return ShiftDecision(condition, choices, tuple(rroc_hull(curves).ranges()), curves=curves)


def evaluate_shift_on(
    decision: ShiftDecision,
    models: Mapping[str, ResidualTable],
    *,
    fitted: str,
    pairs: PairTable | None = None,
    level: float = 0.95,
) -> ShiftDecision:
    """Evaluate a decision on another sample than the one it was made on, which `fitted` names."""
    check_models((choice.model for choice in decision.choices), models)
    cases = _cases(models, [choice.model for choice in decision.choices], pairs)
    if cases is None:
        return replace(decision, out_of_sample=CostEstimate(reason=UNUSABLE_COPIES), fitted=fitted)
    shifts = np.array([choice.shift for choice in decision.choices])[:, None]
    losses = _asymmetric_loss(cases.errors + shifts, decision.condition)[:, None]
    best = decision.choices.index(decision.best)
    return replace(
        _add_out_of_sample(decision, (losses, np.full(losses.shape[1:], best)), cases, level, is_cross_fitted=False),
        fitted=fitted,
    )


def _choice(name: str, curve: RrocCurve, condition: Asymmetry) -> ShiftChoice:
    alpha, unit = condition.alpha, (condition.under + condition.over) / 2
    best = curve.best(alpha)
    loss, as_is = unit * best.loss, unit * curve.loss(alpha)
    return ShiftChoice(name, best.shift, best.upto, loss, as_is, best.over, best.under, best.share)


@dataclass(frozen=True, eq=False)
class _ErrorCases:
    """Errors (models, cases) in case order, the weight of each case, and its group."""

    errors: NDArray[np.float64]
    weight: NDArray[np.float64]
    group: NDArray[np.int32] | None

    @property
    def effective_sample_size(self) -> float:
        """Kish's effective sample size."""
        return float(self.weight.sum() ** 2 / (self.weight @ self.weight))


def _cases(models: Mapping[str, ResidualTable], names: Sequence[str], pairs: PairTable | None) -> _ErrorCases | None:
    """Return the cases one by one, with copies repeated; None where there are too many copies."""

    def in_case_order(name: str, column: Array) -> Array:
        return column if pairs is None else column[pairs.cell[pairs.index(name)]]

    errors = np.stack([in_case_order(name, models[name].numbers.error) for name in names])
    first = models[names[0]]
    weight = in_case_order(names[0], first.cells).astype(np.float64)
    group = None if pairs is None else pairs.group
    if not first.copies:
        return _ErrorCases(errors, weight, group)
    if weight.sum() > _MAX_COPIES or (weight % 1).any():
        return None
    times = weight.astype(np.int64)
    group = None if group is None else np.repeat(group, times)
    return _ErrorCases(np.repeat(errors, times, axis=1), np.ones(int(times.sum())), group)


def _asymmetric_loss(error: Array, condition: Asymmetry) -> Array:
    return np.where(error < 0, -condition.under * error, condition.over * error)


def _cross_fit(cases_in: _ErrorCases, condition: Asymmetry, seed: int) -> tuple[Array, Array]:
    """Return the cross-fitted loss (models, repeats, cases) of each case, and the index of the chosen model.

    Cases (or groups) are assigned to ten folds at random, in twenty repeats unless there are many cases; on nine folds
    the shift is the quantile of the errors with minimum loss, and the model that of minimum loss.
    """
    errors, (models, cases) = cases_in.errors, cases_in.errors.shape
    repeats = min(REPEATS, max(2, _MAX_SPLIT_CASES // cases))
    rng = np.random.default_rng(seed)  # assigns each case to one fold per repeat
    unit = np.arange(cases) if cases_in.group is None else np.asarray(cases_in.group)
    fold = assign_folds(int(unit.max()) + 1, 0, repeats, FOLDS, rng)[:, unit]
    sizes = np.stack([np.bincount(repeat, cases_in.weight, minlength=FOLDS) for repeat in fold])
    training_weight = cases_in.weight.sum() - sizes  # (repeats, folds)
    shift, price = np.empty((models, repeats, FOLDS)), np.empty((models, repeats, FOLDS))
    for model, error in enumerate(errors):
        shift[model], price[model] = _choose_shifts(error, cases_in.weight, fold, training_weight, condition)
    shift_of_case = np.take_along_axis(shift, np.broadcast_to(fold.astype(np.intp), (models, repeats, cases)), axis=-1)
    winner = np.take_along_axis(price.argmin(axis=0), fold.astype(np.intp), axis=-1)
    return _asymmetric_loss(errors[:, None, :] + shift_of_case, condition), winner


def _choose_shifts(
    error: NDArray[np.float64], weight: NDArray[np.float64], fold: NDArray[np.uint8], rest: Array, condition: Asymmetry
) -> tuple[Array, Array]:
    """Return, for each fold (repeats, folds), the shift of minimum loss on the other folds, and the loss there.

    Errors are binned into at most two thousand levels with equally many cases; for fewer cases levels are exact.
    """
    order = np.argsort(error, kind="stable")
    levels = min(_MAX_LEVELS, error.size)
    level = np.empty(error.size, dtype=np.intp)
    level[order] = (np.arange(error.size) * levels) // error.size
    level_mean = np.bincount(level, weight * error, minlength=levels) / np.bincount(level, weight, minlength=levels)
    repeats = fold.shape[0]
    where = (np.arange(repeats)[:, None] * FOLDS + fold) * levels + level
    weights = np.broadcast_to(weight, where.shape).ravel()
    fold_weights = np.bincount(where.ravel(), weights, minlength=repeats * FOLDS * levels).reshape(
        repeats, FOLDS, levels
    )
    training = fold_weights.sum(axis=1, keepdims=True) - fold_weights
    below = np.cumsum(training, axis=-1)
    # The shift is minus the (1 − α) quantile of the errors, so that the share α of them stays above zero.
    target = (1 - condition.alpha) * rest[..., None]
    index = np.minimum((below < target - 1e-9 * rest[..., None]).sum(axis=-1), levels - 1)
    shift = -level_mean[index]
    price = np.vecdot(training, _asymmetric_loss(level_mean + shift[..., None], condition)) / rest
    return shift, price


def _add_out_of_sample(
    decision: ShiftDecision,
    crossfit_result: tuple[Array, Array],
    cases: _ErrorCases,
    level: float,
    *,
    is_cross_fitted: bool,
) -> ShiftDecision:
    """Add the out-of-sample losses to a decision."""
    losses, winner = crossfit_result
    plain_loss = _asymmetric_loss(cases.errors, decision.condition)
    best = decision.choices.index(decision.best)
    procedure_loss = np.take_along_axis(losses, winner[None], axis=0)[0]
    choices = tuple(
        replace(
            choice,
            out_of_sample=_mean_estimate(losses[k], cases, level, is_cross_fitted, True),
            gain=_mean_estimate(plain_loss[k] - losses[k], cases, level, is_cross_fitted),
        )
        for k, choice in enumerate(decision.choices)
    )
    return replace(
        decision,
        choices=choices,
        out_of_sample=_mean_estimate(procedure_loss, cases, level, is_cross_fitted, True),
        gain=_mean_estimate(plain_loss[best] - procedure_loss, cases, level, is_cross_fitted),
    )


def _mean_estimate(
    losses: Array, cases: _ErrorCases, level: float, is_cross_fitted: bool, positive: bool = False
) -> CostEstimate:
    """Mean loss over cases, averaged over repeats (repeats, cases), with its confidence interval.

    Student's t over cases or groups, with Johnson's (1978) correction for skewness and the variance between repeats.
    The effective sample size is nine tenths of the cases where training folds overlap, and Kish's for weights.
    """
    shares = cases.weight / cases.weight.sum()
    case_loss = losses.mean(axis=0)
    value = float(shares @ case_loss)
    deviations, n_effective = (case_loss - value) * shares * case_loss.size, cases.effective_sample_size
    if cases.group is not None:
        groups = int(cases.group.max()) + 1
        deviations, n_effective = np.bincount(cases.group, deviations) * groups / case_loss.size, float(groups)
    size_factor = (FOLDS - 1) / FOLDS if is_cross_fitted else 1.0
    if deviations.size < 2:
        return CostEstimate(value, reason="there is only one group of cases")
    variance = float(deviations @ deviations) / deviations.size
    if variance <= 0:
        return CostEstimate(value, value, value)
    error = math.sqrt(variance / (deviations.size * size_factor - 1))
    skew = float(((deviations / math.sqrt(variance)) ** 3).mean())
    df_cases = max(2.0, n_effective * size_factor)
    t = float(student_quantile(level, df_cases))
    skew_correction = error * skew * (2 * t * t + 1) / (6 * math.sqrt(df_cases))
    repeat_error = t * float((losses @ shares).std())
    below = math.hypot(t * error + max(0.0, -skew_correction), repeat_error)
    above = math.hypot(t * error + max(0.0, skew_correction), repeat_error)
    low = value * math.exp(-below / value) if positive and value > 0 else value - below
    return CostEstimate(value, low, value + above)

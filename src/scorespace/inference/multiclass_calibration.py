"""Intervals of multiclass calibration errors, by test inversion along recalibrations of all scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, cast

import numpy as np

from scorespace.inference import interval_formulas
from scorespace.inference.calibration_null import merge_scores, merge_starts
from scorespace.inference.interval import (
    PARAMETRIC_ROWS,
    Interval,
    IntervalRequest,
    bootstrap_method,
    clip_to_range,
    declared_interval,
    undefined_interval,
)
from scorespace.inference.parametric_bootstrap import RIDGE, STEPS, draw_labels
from scorespace.measures.average import MICRO, PAIR_AVERAGES, class_mean
from scorespace.measures.request import Request
from scorespace.tables import Array, ClassTable, ScoreTable

_DRAWS: Final = 60  # draws of labels for each recalibration
_MAX_CASES: Final = 20_000  # cases above which the labels of each class are drawn from merged scores
_MIN_SCORE: Final = 1e-6  # scores of 0 have no logarithm
_RIDGE_OF_CONSTANTS: Final = 1e-3
_MAX_NEWTON_STEPS: Final = 50


def _is_multiclass_calibration(request: Request) -> bool:
    """Whether a request is a calibration error over classes, one versus rest."""
    pairs = request.averaged and request.spec.of in PAIR_AVERAGES
    return request.table.scores_classes and declared_interval(request) == "test-inversion" and not pairs


@bootstrap_method(
    "test-inversion-multiclass",
    "test inversion for multiclass calibration",
    suits=_is_multiclass_calibration,
    general=True,
    instead="none",
)
def multiclass_calibration_interval(plan: IntervalRequest) -> Interval:
    """Test inversion for a sum or mean over classes: labels are drawn from recalibrations of all scores.

    Resampling cases adds noise of its own, so that percentiles would exclude the 0 of a calibrated model.
    """
    table = cast(ClassTable, plan.request.table)
    if int((table.class_totals > 0).sum()) < 2:
        return undefined_interval("only one class is present")
    classes = _ClassScores.of(table, plan.request)
    rng = np.random.default_rng([plan.draws.seed, 8])
    by_step = [(classes.known(rates), classes.drawn(rates, rng)) for rates in recalibrations(table)]
    expected, values = np.array([item for item, _ in by_step]), np.stack([item for _, item in by_step])
    defined, reason = plan.replicates()
    if not (np.isfinite(expected).all() and np.isfinite(values).any(axis=1).all()):
        return undefined_interval("the measure is undefined or infinite in replicates of the parametric bootstrap")
    observed = classes.value([item.pos for item in classes.tables])
    low, high = interval_formulas.invert_test(
        float(observed), expected, values, plan.rarer_class_size, plan.level, spread=float(defined.std())
    )
    result = clip_to_range(plan, low, high, f"test-inversion{plan.how}", reason)
    return replace(result, chance=float(np.nanmean(values[0])))


@dataclass(frozen=True)
class _ClassScores:
    """One-versus-rest scores of each class, merged where there are many, and the row of each case in them."""

    request: Request
    tables: list[ScoreTable]
    rows: list[Array]
    weight: Array

    @classmethod
    def of(cls, table: ClassTable, request: Request) -> _ClassScores:
        tables, rows = [], []
        for binary, score in zip(table.each(ScoreTable), table.score, strict=True):
            row = np.searchsorted(-binary.score, -score)
            if binary.score.size > 2 * PARAMETRIC_ROWS:
                row = np.searchsorted(merge_starts(binary, PARAMETRIC_ROWS), row, side="right") - 1
                binary = merge_scores(binary, PARAMETRIC_ROWS)
            tables.append(binary)
            rows.append(row)
        return cls(request, tables, rows, np.asarray(table.case_weight, dtype=np.float64))

    def value(self, positives: list[Array]) -> Array:
        """Evaluate the request with the given weight of positives (…, rows) of each class."""
        measure, options = self.request.measure, dict(self.request.spec.options)
        tables = [
            ScoreTable(table.score, np.stack([_cases(table) - hit, hit], axis=-2), ("0", "1"), 1)
            for table, hit in zip(self.tables, positives, strict=True)
        ]
        how = self.request.spec.of if self.request.averaged else None
        if how == MICRO:
            return np.asarray(measure.function(_pooled(tables), **options))
        values = np.stack([np.asarray(measure.function(table, **options)) for table in tables], axis=-1)
        if how is None:
            return np.asarray(values.sum(axis=-1))
        totals = np.stack([hit.sum(axis=-1) for hit in positives], axis=-1)
        return class_mean(values, totals, how)

    def known(self, rates: Array) -> float:
        """Evaluate the request with the expected share (K, cases) of every class."""
        pairs = zip(self.tables, self.rows, rates, strict=True)
        return float(self.value([np.bincount(row, self.weight * rate, table.score.size) for table, row, rate in pairs]))

    def drawn(self, rates: Array, rng: np.random.Generator) -> Array:
        """Evaluate the request on labels drawn from these rates."""
        if self.weight.size > _MAX_CASES:
            return self.value(list(self._by_rows(rates, rng)))
        label = (rng.random((_DRAWS, 1, self.weight.size)) > np.cumsum(rates, axis=0)[:-1]).sum(axis=1)
        positives = []
        for k, (table, row) in enumerate(zip(self.tables, self.rows, strict=True)):
            order = np.argsort(row, kind="stable")
            starts = np.searchsorted(row[order], np.arange(table.score.size))
            positives.append(np.add.reduceat(np.where(label[:, order] == k, self.weight[order], 0.0), starts, axis=1))
        return self.value(positives)

    def _by_rows(self, rates: Array, rng: np.random.Generator) -> Iterator[Array]:
        """Draw positives (draws, rows) of each class separately, for many cases, with effective sample sizes."""
        for table, row, rate in zip(self.tables, self.rows, rates, strict=True):
            weight, squares, positives = (
                np.bincount(row, part, table.score.size) for part in (self.weight, self.weight**2, self.weight * rate)
            )
            effective = np.maximum(1.0, np.round(interval_formulas.effective_sample_size(weight, squares)))
            yield draw_labels(effective, positives / weight, rng, _DRAWS) * (weight / effective)


def _cases(table: ScoreTable) -> Array:
    return np.asarray(table.counts.sum(axis=-2, dtype=np.float64))


def _pooled(tables: list[ScoreTable]) -> ScoreTable:
    """Concatenate the scores of all classes into one table."""
    score = np.concatenate([table.score for table in tables])
    order = np.argsort(-score, kind="stable")
    counts = np.concatenate(
        [np.broadcast_arrays(table.counts, tables[0].counts[..., :1])[0] for table in tables], axis=-1
    )
    distinct, start = np.unique(-score[order], return_index=True)
    return ScoreTable(-distinct, np.add.reduceat(counts[..., order], start, axis=-1), ("0", "1"), 1)


def recalibrations(table: ClassTable) -> Iterator[Array]:
    """Yield rates (K, cases) between the scores and a smooth recalibration of all of them, and beyond.

    log p_k changes by step · (a_k + b_k z_k + c_k z_k²), z_k the standardised log score of the class, fitted by the
    softmax likelihood with a small ridge penalty. A score of 0 remains 0.

    >>> from scorespace.tables import class_table
    >>> table = class_table(["a", "b", "c", "a"], [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6], [0.5, 0.3, 0.2]])
    >>> next(recalibrations(table))[:, 0].round(2)
    array([0.6, 0.3, 0.1])
    """
    weight = np.asarray(table.case_weight, dtype=np.float64)
    worth = weight * (weight.sum() / (weight @ weight) if table.cell_squares is not None else 1.0)
    logs = np.log(np.clip(table.score, _MIN_SCORE, 1.0))
    correction = _fit_logits(logs, table.label, worth) - logs
    for step in STEPS:
        rates = np.where(table.score > 0, _softmax(logs + step * correction), 0.0)
        yield rates / rates.sum(axis=0)


def _softmax(logits: Array) -> Array:
    exponentials = np.exp(logits - logits.max(axis=0))
    return np.asarray(exponentials / exponentials.sum(axis=0))


def _fit_logits(logs: Array, label: Array, weight: Array) -> Array:
    """Fit logits (K, cases) by penalised maximum likelihood with damped Newton steps."""
    size, cases = logs.shape
    truth = (label == np.arange(size)[:, None]).astype(np.float64)
    basis = np.stack([_orthonormal(log_scores, weight) for log_scores in logs])  # (K, cases, 3)
    penalty = np.diag(np.tile([_RIDGE_OF_CONSTANTS, RIDGE, RIDGE], size))
    coefficients = np.zeros(3 * size)

    def logits(coefficients: Array) -> Array:
        return np.asarray(logs + np.einsum("knj,kj->kn", basis, coefficients.reshape(size, 3)))

    def log_likelihood(coefficients: Array) -> float:
        candidate_logits = logits(coefficients)
        top = candidate_logits.max(axis=0)
        mass = top + np.log(np.exp(candidate_logits - top).sum(axis=0))
        return float(
            weight @ (candidate_logits[label, np.arange(cases)] - mass) - coefficients @ penalty @ coefficients / 2
        )

    current = log_likelihood(coefficients)
    for _ in range(_MAX_NEWTON_STEPS):
        rate = _softmax(logits(coefficients))
        gradient = np.einsum("kn,knj->kj", weight * (truth - rate), basis).ravel() - penalty @ coefficients
        hessian = -np.einsum("kni,lnj->kilj", basis * (weight * rate)[..., None], basis * rate[..., None])
        for k in range(size):
            hessian[k, :, k, :] += (basis[k] * (weight * rate[k])[:, None]).T @ basis[k]
        step = np.linalg.solve(hessian.reshape(3 * size, 3 * size) + penalty, gradient)
        if float(np.abs(step).max()) < 1e-8:
            break
        while (candidate := log_likelihood(coefficients + step)) < current - 1e-9 and float(np.abs(step).max()) > 1e-8:
            step = step / 2
        coefficients, current = coefficients + step, candidate
    return logits(coefficients)


def _orthonormal(values: Array, weight: Array) -> Array:
    """Return 1, z and z² of the standardised values (cases, 3), orthonormal over the cases; constants are 0."""
    share = np.sqrt(weight / weight.sum())
    middle = float(share**2 @ values)
    spread = float(np.sqrt(share**2 @ (values - middle) ** 2))
    z = (values - middle) / spread if spread > 0 else np.zeros_like(values)
    basis, triangle = np.linalg.qr(np.stack([np.ones_like(z), z, z * z], axis=1) * share[:, None])
    basis[:, np.abs(np.diag(triangle)) < 1e-8] = 0.0
    return np.asarray(np.divide(basis, share[:, None], out=np.zeros_like(basis), where=share[:, None] > 0))

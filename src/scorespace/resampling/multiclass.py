"""The interval of calibration errors over several classes, by test inversion along recalibrations of all scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, cast

import numpy as np

from scorespace.frozen import dataclass
from scorespace.measures.average import MICRO, OVER_PAIRS, mean_of
from scorespace.measures.request import Request
from scorespace.resampling import limits
from scorespace.resampling.chance import merged, merging
from scorespace.resampling.interval import WORLD_ROWS, Interval, Plan, by_replicates, declared, none, within
from scorespace.resampling.worlds import RIDGE, STEPS, labels_again
from scorespace.tables import Array, ClassTable, ScoreTable

_DRAWS: Final = 60  # labellings of each recalibration
_MOST_CASES: Final = 20_000  # beyond which the labels of each class are drawn by merged scores
_LEAST: Final = 1e-6  # scores of 0 have no logarithm
_RIDGE_OF_CONSTANTS: Final = 1e-3
_ROUNDS: Final = 50


def _over_classes(request: Request) -> bool:
    """Whether a request is a calibration error over classes, each against the rest."""
    pairs = request.averaged and request.spec.of in OVER_PAIRS
    return request.table.scores_classes and declared(request) == "inverted" and not pairs


@by_replicates(
    "inverted-classes",
    "the miscalibrations of several classes that the value agrees with",
    suits=_over_classes,
    general=True,
    instead="none",
)
def inverted_over_classes(plan: Plan) -> Interval:
    """As inverted, for a sum or a mean over classes: labels of cases are drawn from recalibrations of all scores.

    Bootstrap replicates add a chance part of their own, so their percentiles leave out a calibrated model's 0.
    """
    table = cast(ClassTable, plan.request.table)
    if int((table.class_totals > 0).sum()) < 2:
        return none("only one class is present")
    classes = _Classes.of(table, plan.request)
    rng = np.random.default_rng([plan.draws.seed, 8])
    found = [(classes.known(rates), classes.drawn(rates, rng)) for rates in recalibrations(table)]
    known, values = np.array([one for one, _ in found]), np.stack([one for _, one in found])
    defined, reason = plan.replicates()
    if not (np.isfinite(known).all() and np.isfinite(values).any(axis=1).all()):
        return none("the measure is undefined or infinite where labels are drawn again")
    seen = classes.value([one.pos for one in classes.tables])
    low, high = limits.inverted(float(seen), known, values, plan.rarer, plan.level, spread=float(defined.std()))
    result = within(plan, low, high, f"inverted{plan.how}", reason)
    return replace(result, chance=float(np.nanmean(values[0])))


@dataclass(frozen=True)
class _Classes:
    """The scores of each class against the rest, where many merged, and in which row of each a case is."""

    request: Request
    tables: list[ScoreTable]
    rows: list[Array]
    weight: Array

    @classmethod
    def of(cls, table: ClassTable, request: Request) -> _Classes:
        tables, rows = [], []
        for one, score in zip(table.each(ScoreTable), table.score, strict=True):
            row = np.searchsorted(-one.score, -score)
            if one.score.size > 2 * WORLD_ROWS:
                row = np.searchsorted(merging(one, WORLD_ROWS), row, side="right") - 1
                one = merged(one, WORLD_ROWS)
            tables.append(one)
            rows.append(row)
        return cls(request, tables, rows, np.asarray(table.case_weight, dtype=np.float64))

    def value(self, hits: list[Array]) -> Array:
        """The request where so much weight (…, rows) of each class is positive at its scores."""
        measure, options = self.request.measure, dict(self.request.spec.options)
        tables = [
            ScoreTable(one.score, np.stack([_cases(one) - hit, hit], axis=-2), ("0", "1"), 1)
            for one, hit in zip(self.tables, hits, strict=True)
        ]
        how = self.request.spec.of if self.request.averaged else None
        if how == MICRO:
            return np.asarray(measure.function(_pooled(tables), **options))
        values = np.stack([np.asarray(measure.function(one, **options)) for one in tables], axis=-1)
        if how is None:
            return np.asarray(values.sum(axis=-1))
        totals = np.stack([hit.sum(axis=-1) for hit in hits], axis=-1)
        return mean_of(values, totals, how)

    def known(self, rates: Array) -> float:
        """The request where every class has its expected share (K, cases) of each case."""
        pairs = zip(self.tables, self.rows, rates, strict=True)
        return float(self.value([np.bincount(row, self.weight * rate, one.score.size) for one, row, rate in pairs]))

    def drawn(self, rates: Array, rng: np.random.Generator) -> Array:
        """The request on labels that are drawn at these rates."""
        if self.weight.size > _MOST_CASES:
            return self.value(list(self._by_rows(rates, rng)))
        label = (rng.random((_DRAWS, 1, self.weight.size)) > np.cumsum(rates, axis=0)[:-1]).sum(axis=1)
        hits = []
        for k, (one, row) in enumerate(zip(self.tables, self.rows, strict=True)):
            order = np.argsort(row, kind="stable")
            starts = np.searchsorted(row[order], np.arange(one.score.size))
            hits.append(np.add.reduceat(np.where(label[:, order] == k, self.weight[order], 0.0), starts, axis=1))
        return self.value(hits)

    def _by_rows(self, rates: Array, rng: np.random.Generator) -> Iterator[Array]:
        """Hits (draws, rows) of each class by itself, where cases are many: as many as its rows are worth."""
        for one, row, rate in zip(self.tables, self.rows, rates, strict=True):
            weight, squares, hits = (
                np.bincount(row, part, one.score.size) for part in (self.weight, self.weight**2, self.weight * rate)
            )
            number = np.maximum(1.0, np.round(limits.kish(weight, squares)))
            yield labels_again(number, hits / weight, rng, _DRAWS) * (weight / number)


def _cases(table: ScoreTable) -> Array:
    return np.asarray(table.counts.sum(axis=-2, dtype=np.float64))


def _pooled(tables: list[ScoreTable]) -> ScoreTable:
    """The scores of all classes in one table."""
    score = np.concatenate([one.score for one in tables])
    order = np.argsort(-score, kind="stable")
    counts = np.concatenate([np.broadcast_arrays(one.counts, tables[0].counts[..., :1])[0] for one in tables], axis=-1)
    distinct, start = np.unique(-score[order], return_index=True)
    return ScoreTable(-distinct, np.add.reduceat(counts[..., order], start, axis=-1), ("0", "1"), 1)


def recalibrations(table: ClassTable) -> Iterator[Array]:
    """Rates (K, cases) on the way from the scores themselves to a smooth recalibration of all of them and beyond.

    log p_k is moved by step · (a_k + b_k z_k + c_k z_k²), z_k the standardised log score of the class, fitted by the
    softmax likelihood with a light penalty. A score of 0 is taken at its word.

    >>> from scorespace.tables import class_table
    >>> table = class_table(["a", "b", "c", "a"], [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6], [0.5, 0.3, 0.2]])
    >>> next(recalibrations(table))[:, 0].round(2)
    array([0.6, 0.3, 0.1])
    """
    weight = np.asarray(table.case_weight, dtype=np.float64)
    worth = weight * (weight.sum() / (weight @ weight) if table.cell_squares is not None else 1.0)
    logs = np.log(np.clip(table.score, _LEAST, 1.0))
    away = _recalibrated(logs, table.label, worth) - logs
    for step in STEPS:
        rates = np.where(table.score > 0, _softmax(logs + step * away), 0.0)
        yield rates / rates.sum(axis=0)


def _softmax(logits: Array) -> Array:
    found = np.exp(logits - logits.max(axis=0))
    return np.asarray(found / found.sum(axis=0))


def _recalibrated(logs: Array, label: Array, worth: Array) -> Array:
    """The logits (K, cases) of highest penalised likelihood, by Newton's steps, halved where one goes too far."""
    size, cases = logs.shape
    truth = (label == np.arange(size)[:, None]).astype(np.float64)
    basis = np.stack([_orthonormal(one, worth) for one in logs])  # (K, cases, 3)
    penalty = np.diag(np.tile([_RIDGE_OF_CONSTANTS, RIDGE, RIDGE], size))
    at = np.zeros(3 * size)

    def logits(at: Array) -> Array:
        return np.asarray(logs + np.einsum("knj,kj->kn", basis, at.reshape(size, 3)))

    def likely(at: Array) -> float:
        found = logits(at)
        top = found.max(axis=0)
        mass = top + np.log(np.exp(found - top).sum(axis=0))
        return float(worth @ (found[label, np.arange(cases)] - mass) - at @ penalty @ at / 2)

    now = likely(at)
    for _ in range(_ROUNDS):
        rate = _softmax(logits(at))
        slope = np.einsum("kn,knj->kj", worth * (truth - rate), basis).ravel() - penalty @ at
        bend = -np.einsum("kni,lnj->kilj", basis * (worth * rate)[..., None], basis * rate[..., None])
        for k in range(size):
            bend[k, :, k, :] += (basis[k] * (worth * rate[k])[:, None]).T @ basis[k]
        step = np.linalg.solve(bend.reshape(3 * size, 3 * size) + penalty, slope)
        if float(np.abs(step).max()) < 1e-8:
            break
        while (then := likely(at + step)) < now - 1e-9 and float(np.abs(step).max()) > 1e-8:
            step = step / 2
        at, now = at + step, then
    return logits(at)


def _orthonormal(values: Array, worth: Array) -> Array:
    """1, z and z² of the standardised values (cases, 3), orthonormal over the cases; what does not vary is 0."""
    share = np.sqrt(worth / worth.sum())
    middle = float(share**2 @ values)
    spread = float(np.sqrt(share**2 @ (values - middle) ** 2))
    z = (values - middle) / spread if spread > 0 else np.zeros_like(values)
    found, triangle = np.linalg.qr(np.stack([np.ones_like(z), z, z * z], axis=1) * share[:, None])
    found[:, np.abs(np.diag(triangle)) < 1e-8] = 0.0
    return np.asarray(np.divide(found, share[:, None], out=np.zeros_like(found), where=share[:, None] > 0))

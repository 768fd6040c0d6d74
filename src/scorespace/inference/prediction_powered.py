"""Prediction-powered estimates: truth for some rows, and a proxy for all, which adds precision but no bias.

Reference: Angelopoulos, Duchi and Zrnic (2023), "PPI++: Efficient prediction-powered inference", arXiv:2311.01453.
Verification bias: Begg and Greenes (1983), "Assessment of diagnostic tests when disease verification is subject to
selection bias", Biometrics 39.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.special import expit, logit

from scorespace.errors import MeasureError
from scorespace.inference.bootstrap import REPLICATES, run_in_blocks
from scorespace.inference.estimate import Estimate, check_level
from scorespace.inference.multinomial import draw_counts, stratified_sampler
from scorespace.inference.proportion import normal_quantile
from scorespace.inference.subsampling import CellCounts
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.request import Request, bind
from scorespace.results import Progress, Row, to_json_types
from scorespace.tables import Array, TopCases
from scorespace.tables.partial_truth import Design, PartialTruth

METHODS: Final[Mapping[Design, str]] = {
    "random": "prediction-powered",
    "probabilities": "prediction-powered, weighted",
    "strata": "verification-weighted",
}
_CHOSEN_ON_DATA: Final = "its threshold is chosen on the data"
_NOT_SMOOTH: Final = {"maximum-share": "it is the largest of several shares", "wilson-eff": _CHOSEN_ON_DATA}


@dataclass(frozen=True, repr=False)
class ProxyEstimate(Estimate):
    """An estimate from rows with a truth, sharpened by a proxy of the truth that all rows have.

    `truth_alone` is the value of the rows with a truth alone, `tuning` the weight λ of the proxy, and `worth` the
    number of rows with a truth that would give as narrow an interval without a proxy.
    """

    truth_alone: float = math.nan
    tuning: float = 0.0
    labels: int = 0
    worth: float = math.nan

    def row(self) -> Row:
        """Return a tidy row."""
        names = ("truth_alone", "tuning", "labels", "worth")
        return super().row() | to_json_types({name: getattr(self, name) for name in names})

    __repr__ = Estimate.__repr__


def reason_not_smooth(request: Request) -> str | None:
    """Why a measure does not change smoothly with the weights of the cases; None if it does."""
    measure, table = request.measure, request.table
    if isinstance(request.spec.at, TopCases):
        return _CHOSEN_ON_DATA
    if measure.interval in _NOT_SMOOTH:
        return _NOT_SMOOTH[measure.interval]
    if measure.biased is not None:
        return f"it is {measure.biased}"
    twice = np.asarray(request.formula(table.with_cells(2.0 * table.cells)), dtype=np.float64)
    if not math.isclose(float(twice), request.value, rel_tol=1e-6, abs_tol=1e-9) and math.isfinite(request.value):
        return "it depends on the number of rows"
    return None


@dataclass(frozen=True, eq=False)
class _ModelTables:
    """Fills the table of a model from weights of the rows: with the truth, and with the proxy."""

    truth: CellCounts
    proxy: CellCounts | None

    @classmethod
    def of(cls, sample: PartialTruth, model: str) -> _ModelTables:
        place = sample.cases.index(model)
        table, cell, n = sample.cases.tables[place], sample.cases.cell[place], sample.truths
        return cls(CellCounts(table, cell[:n]), CellCounts(table, cell[n:]) if sample.has_proxy else None)


def _values(
    sample: PartialTruth,
    tables: Mapping[str, _ModelTables],
    requests: Sequence[tuple[str, Request]],
    times: Array,
    flips: Array | None = None,
) -> list[Array]:
    """θ of the truth on labelled rows, and of the proxy on these and on all rows; each of shape (count, 3).

    With `flips`, a fourth column: θ of the proxy on labelled rows, with these labels taken as wrong.
    """
    gold, n = sample.gold_weights(times), sample.truths
    truth_rows, proxy_rows, share = sample.row[:n], sample.row[n:], sample.share[n:]
    weights = {"truth": gold[:, truth_rows]}
    if sample.has_proxy:
        weights |= {"labelled": gold[:, proxy_rows] * share, "all": times[:, proxy_rows] * share}
        if flips is not None:
            moved = share + flips[:, proxy_rows] * _other_share(sample, share)
            weights |= {"flipped": gold[:, proxy_rows] * moved}
    filled: dict[str, list[Any]] = {}
    for model, one in tables.items():
        filled[model] = [one.truth.table(weights["truth"])]
        if one.proxy is not None:
            filled[model] += [one.proxy.table(weight) for name, weight in weights.items() if name != "truth"]
    found = []
    for model, request in requests:
        columns = [np.broadcast_to(request.on(table), len(times)) for table in filled[model]]
        columns += [np.zeros(len(times))] * (3 - len(columns))
        found.append(np.stack(columns, axis=1))
    return found


def _other_share(sample: PartialTruth, share: Array) -> Array:
    """What is added to the share of a class when the label of the proxy is wrong: the others share it alike."""
    others = max(1, len(sample.cases.classes) - 1)
    return np.asarray((1 - share) / others - share)


def estimates_with_proxy(
    sample: PartialTruth,
    wanted: Mapping[str, Sequence[MeasureSpec]],
    *,
    level: float = 0.95,
    seed: int = 0,
    replicates: int = REPLICATES,
    progress: Progress | None = None,
) -> list[ProxyEstimate]:
    """Return θ(truth) + λ (θ(proxy of all rows) − θ(proxy of labelled rows)) for measures of every model.

    All values come from one draw of the rows: labelled and other rows apart, or all of them where strata decided which
    were labelled. λ = cov(θ*, D*) / var(D*) over the replicates minimises the variance, so that a useless proxy does
    not widen the interval. The interval is on the logit scale for measures between 0 and 1.
    """
    check_level(level)
    tables = {model: _ModelTables.of(sample, model) for model in wanted}
    once = np.ones((1, sample.rows))
    truth_weights = sample.gold_weights(once)[:, sample.row[: sample.truths]]
    requests = []
    for model, specs in wanted.items():
        base = tables[model].truth.table(truth_weights)
        base = base.with_cells(base.cells[0])
        for spec in specs:
            request = bind(spec, base)
            reason = reason_not_smooth(request)
            if reason is not None:
                raise MeasureError(
                    f"{spec} cannot be estimated with partial truth: {reason}.",
                    hint="a measure that is smooth in the weights: auc, ap, brier, tpr@0.5, cost@0.5",
                )
            requests.append((model, request))
    exact = _values(sample, tables, requests, once)
    ones, extra = np.ones(sample.rows), sample.half_cases()
    by_row, rates = sample.design == "strata", np.zeros(sample.rows)
    rates[sample.row[: sample.truths]] = sample.flip_rates()
    apart = stratified_sampler(ones, sample.labelled.astype(np.intp))

    def draw(rng: np.random.Generator, count: int) -> tuple[Array, Array | None]:
        times = draw_counts(ones, rng, count) if by_row else apart(rng, count)
        return times, rng.random((count, sample.rows), dtype=np.float32) < rates if rates.any() else None

    drawn = run_in_blocks(
        draw,
        lambda replicate: _values(sample, tables, requests, replicate[0] + extra, replicate[1]),
        2 * sample.row.size,
        replicates=replicates,
        seed=[seed, 3],
        progress=progress,
    )
    return [
        _tuned(sample, model, request, value[0], replicated, level)
        for (model, request), value, replicated in zip(requests, exact, drawn, strict=True)
    ]


def tune(values: Array) -> tuple[float, float, float]:
    """λ = cov(θ*, D*) / var(D*), and the standard errors of θ alone and of θ − λ D, from replicates (count, 3).

    A fourth column, if there is one, is the value of the proxy that counts in the error.

    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(2000, 2))
    >>> theta = noise[:, 0] + noise[:, 1]
    >>> tuning, alone, tuned = tune(np.stack([theta, noise[:, 0], 0 * theta], axis=1))
    >>> round(tuning, 1), round(alone, 1), round(tuned, 1)
    (1.0, 1.4, 1.0)
    """
    theta, gap = values[:, 0], values[:, 1] - values[:, 2]
    known = np.isfinite(theta)
    if known.sum() < 4:
        return 0.0, math.nan, math.nan
    alone = float(np.std(theta[known], ddof=1))
    both = known & np.isfinite(gap)
    if both.sum() < known.sum() / 2:  # a proxy of one class has no AUC, for example
        return 0.0, alone, alone
    covariance = np.cov(theta[both], gap[both])
    variance = float(covariance[1, 1])
    if not variance > 1e-12 * float(covariance[0, 0]):
        return 0.0, alone, alone
    tuning = float(covariance[0, 1]) / variance
    inflation = math.sqrt(1 + 1 / (int(both.sum()) - 3))  # λ is estimated from the same replicates
    seen = values[:, -1] - values[:, 2] if values.shape[1] > 3 else gap
    return tuning, alone, inflation * float(np.nanstd((theta - tuning * seen)[both], ddof=1))


def _tuned(
    sample: PartialTruth, model: str, request: Request, value: Array, replicated: Array, level: float
) -> ProxyEstimate:
    """The tuned estimate of one measure with its interval."""
    alone, proxy_labelled, proxy_all = map(float, value[:3])
    tuning, error_alone, error = tune(replicated)
    if not math.isfinite(proxy_labelled - proxy_all):
        tuning, error = 0.0, error_alone
    low_end, high_end = request.range
    estimate = alone if tuning == 0 else alone - tuning * (proxy_labelled - proxy_all)
    estimate = float(np.clip(estimate, low_end, high_end))
    reason, low, high = request.reason(estimate), math.nan, math.nan
    method: str | None = METHODS[sample.design] if sample.has_proxy or sample.design != "random" else None
    if reason is None and not error > 0:
        reason = "no interval: all bootstrap replicates gave the same value"
    elif reason is None:
        low, high = _limits(estimate, error, (low_end, high_end), level)
    worth = sample.truths * (error_alone / error) ** 2 if error > 0 else math.nan
    return ProxyEstimate(
        model,
        request.spec,
        estimate,
        low,
        high,
        level,
        None if math.isnan(low) else method,
        reason,
        truth_alone=alone,
        tuning=tuning,
        labels=sample.truths,
        worth=worth,
    )


def _limits(value: float, error: float, range: tuple[float, float], level: float) -> tuple[float, float]:
    """v ± z se, on the logit scale for values strictly between 0 and 1; clipped to the range of the measure."""
    half = normal_quantile(level) * error
    if tuple(range) == (0.0, 1.0) and 0 < value < 1:
        half /= value * (1 - value)
        centre = float(logit(value))
        return float(expit(centre - half)), float(expit(centre + half))
    return max(value - half, range[0]), min(value + half, range[1])

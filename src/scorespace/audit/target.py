"""Checks of the target and of single columns: scale, classes, missing values, labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorespace.audit.column import AuditedColumn
from scorespace.audit.column_kinds import are_integers
from scorespace.audit.finding import Occurrence, finding, first_rows
from scorespace.audit.leaks import LeakCandidates
from scorespace.comparisons.multiple_testing import holm
from scorespace.results import decimals, grouped, p_text

_MAX_INTEGER_CLASSES = 10


@dataclass(frozen=True, eq=False)
class Target:
    """The column to be predicted; `classes` is empty for a numeric target."""

    column: AuditedColumn
    classes: tuple[str, ...]


def resolve_target(column: AuditedColumn) -> Target:
    """Target from a column: classes for labels and few integers, otherwise a number.

    A column stated to be a quantity is numeric even with few values.
    """
    values = column.held
    is_stated = column.stated is not None
    has_few_integers = (
        are_integers(values) and values.distinct <= _MAX_INTEGER_CLASSES and values.rows >= 3 * values.distinct
    )
    if values.stored in ("number", "date") and (column.kind.quantity if is_stated else not has_few_integers):
        return Target(column, ())
    return Target(
        column, tuple(column.text(code).strip("'") for code in range(min(values.distinct, values.values.size)))
    )


@dataclass(frozen=True)
class Scale:
    """Skewness of a positive target on its own and on the log scale.

    `gain` is the gain in normal log-likelihood per row from taking logarithms (Box and Cox 1964, λ = 0 against 1).
    """

    skew: float
    log_skew: float
    gain: float
    tail: float


def compare_log_scale(values: NDArray[np.float64], counts: NDArray[np.int64]) -> Scale:
    """Compare positive values, with their numbers of rows, on both scales.

    >>> compare_log_scale(np.exp(np.linspace(-2, 2, 9)), np.ones(9, dtype=int)).log_skew.__round__(6)
    0.0
    """
    logs = np.log(values)
    total = counts.sum()
    middle = float(values[np.searchsorted(np.cumsum(counts), total / 2)])

    def moments(x: NDArray[np.float64]) -> tuple[float, float]:
        mean = float(np.average(x, weights=counts))
        spread = float(np.average((x - mean) ** 2, weights=counts))
        return spread, float(np.average((x - mean) ** 3, weights=counts)) / spread**1.5

    (spread, skew), (log_spread, log_skew) = moments(values), moments(logs)
    gain = 0.5 * np.log(spread) - 0.5 * np.log(log_spread) - float(np.average(logs, weights=counts))
    return Scale(skew, log_skew, float(gain), float(values[-1]) / middle)


@finding(
    "SS130",
    "warning",
    "the target is skewed and fits a log scale better",
    "Model its logarithm, and evaluate relative errors.",
)
def log_scale_target(target: Target) -> Iterator[Occurrence]:
    held = target.column.held
    if target.classes or held.stored != "number" or target.column.known < 50 or held.distinct <= 20:
        return
    values, counts = held.values, held.counts
    if not np.all(np.isfinite(values)) or float(values[0]) <= 0 or target.column.kind.name in ("identifier", "date"):
        return
    found = compare_log_scale(values, counts)
    if found.skew >= 1 and abs(found.log_skew) <= 0.5 * found.skew and found.gain >= 0.1:
        yield target.column.seen(
            f"{target.column.name!r} is positive and skewed: the largest is {grouped(round(found.tail, 1))} times the "
            f"median. Its logarithm has skewness {decimals(found.log_skew, 2)} instead of {decimals(found.skew, 2)}, "
            f"and the normal distribution fits it better by {decimals(found.gain, 2)} nats per row.",
            {"skewness": found.skew, "log_skewness": found.log_skew, "gain": found.gain},
        )


@finding("SS131", "info", "imbalanced classes", "Use measures by class; accuracy is not informative here.")
def imbalanced_classes(target: Target) -> Iterator[Occurrence]:
    if len(target.classes) < 2:
        return
    counts = target.column.held.counts
    least = int(np.argmin(counts))
    rows, share = int(counts[least]), int(counts[least]) / target.column.known
    if rows < 10 or share < 0.1 / (len(target.classes) - 1):
        name = target.classes[least] if least < len(target.classes) else "the rarest"
        yield target.column.seen(
            f"{name!r} is {100 * share:.2g} % of {target.column.name!r} ({grouped(rows)} rows).",
            {"rows": rows, "share": share},
            level="warning" if rows < 10 and len(target.classes) == 2 else "",
        )


@finding("SS132", "warning", "missing target values", "Exclude rows without a target.")
def missing_target(target: Target) -> Iterator[Occurrence]:
    missing = target.column.held.missing
    if missing:
        yield Occurrence(
            (target.column.name,),
            f"{grouped(missing)} of {grouped(target.column.held.rows)} rows have no value in {target.column.name!r}.",
            {"rows": missing},
            first_rows(target.column.held.codes < 0)[:1],
        )


@finding("SS150", "warning", "a constant column", "Exclude it: it carries no information.")
def constant_column(column: AuditedColumn) -> Iterator[Occurrence]:
    if column.kind.name == "constant" and column.held.rows > 1:
        yield column.seen(f"in {column.name!r} {column.evidence}.")


@finding("SS151", "info", "a nearly constant column", "It carries little information, and may be constant in a split.")
def nearly_constant(column: AuditedColumn) -> Iterator[Occurrence]:
    held = column.held
    if held.distinct < 2 or column.target or column.known < 50:
        return
    code = int(np.argmax(held.counts))
    share = int(held.counts[code]) / column.known
    if share >= 0.99:
        yield column.seen(f"{column.text(code)} fills {100 * share:.1f} % of {column.name!r}.", {"share": share})


@finding("SS152", "info", "a column with many missing values", "Find out why they are missing before imputing them.")
def many_missing_values(column: AuditedColumn) -> Iterator[Occurrence]:
    share = column.held.missing / column.held.rows
    if column.kind.name != "constant" and share >= 0.2 and not column.target:
        yield column.seen(f"{100 * share:.0f} % of {column.name!r} is missing.", {"share": share})


@finding("SS153", "warning", "spelling variants of a label", "Use one spelling.")
def spelling_variants(column: AuditedColumn) -> Iterator[Occurrence]:
    """Labels that differ only in case, whitespace or hyphens."""
    values = column.held
    if values.stored != "text" or column.kind.name in ("identifier", "text"):
        return
    by_folded: dict[str, list[int]] = {}
    for code, value in enumerate(values.values):
        by_folded.setdefault(re.sub(r"[\s_-]+", " ", str(value)).strip().casefold(), []).append(code)
    variants = [codes for codes in by_folded.values() if len(codes) > 1]
    if variants:
        shown = "; ".join(
            " = ".join(f"{column.text(code)} ({grouped(int(values.counts[code]))})" for code in codes[:4])
            for codes in variants[:3]
        )
        more = f" and {len(variants) - 3} more" if len(variants) > 3 else ""
        n_labels = f"{len(variants)} {'label' if len(variants) == 1 else 'labels'}"
        text = f"{column.name!r} has {n_labels} with spelling variants: {shown}{more}."
        yield column.seen(text, {"labels": len(variants)}, variants[0][-1])


@finding("SS154", "warning", "values outside the stated levels", "Correct the rows, or state the level as well.")
def unstated_levels(column: AuditedColumn) -> Iterator[Occurrence]:
    """Values outside the levels that the user stated."""
    if column.stated is None or not column.stated.levels:
        return
    found = [
        code for code in range(column.held.values.size) if column.text(code).strip("'") not in column.stated.levels
    ]
    if found:
        shown = ", ".join(f"{column.text(code)} ({grouped(int(column.held.counts[code]))})" for code in found[:5])
        text = f"{column.name!r} has values outside the stated levels: {shown}."
        yield column.seen(text, code=found[0])


@finding(
    "SS155",
    "warning",
    "missing values depend on the target",
    "Imputation hides this and dropping rows changes the class shares: keep missing as a category, and check whether "
    "it is known at prediction time.",
)
def informative_missingness(candidates: LeakCandidates) -> Iterator[Occurrence]:
    adjusted = holm([item.p for item in candidates.gaps]).tolist() if candidates.gaps else []
    target = candidates.target.name
    for item, p in zip(candidates.gaps, adjusted, strict=True):
        effect = abs(item.area - 0.5)
        if p < 0.01 and effect >= 0.05:
            more = "more" if (item.area > 0.5) else "less"
            words = (
                f"{item.column!r} is missing {more} often where {target!r} is {item.of_class!r}"
                if item.of_class
                else f"{target!r} is {'higher' if item.area > 0.5 else 'lower'} where {item.column!r} is missing"
            )
            yield Occurrence(
                (item.column, target),
                f"{words} (AUC {decimals(max(item.area, 1 - item.area))}, {p_text(p)} after Holm's correction; "
                f"{100 * item.share:.0f} % are missing).",
                {"auc": item.area, "p": item.p, "p_adjusted": p, "share": item.share},
                level="warning" if effect >= 0.1 else "info",
            )

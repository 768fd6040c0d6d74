"""Options of roles: prediction intervals, baselines, kinds of weights, and roles that exclude each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scorespace.errors import ColumnError, listing
from scorespace.tables.columns import MAX_MAGNITUDE, nominal_level


def prediction_intervals(
    requested: Mapping[str, Sequence[Any]] | Sequence[Any], predicted: Sequence[tuple[str, str]]
) -> dict[str, tuple[str, str, float]]:
    """Columns and level of each prediction interval; without a model name, of the only model."""
    models = [model for model, _ in predicted]
    if not isinstance(requested, Mapping):
        if len(models) != 1:
            raise ColumnError(
                "a prediction interval needs a model, since there are several.",
                seen=listing(models),
                hint="MODEL=LOW,HIGH,0.9",
            )
        requested = {models[0]: requested}
    resolved = {}
    for model, ends in requested.items():
        if model not in models:
            raise ColumnError(
                f"there is no prediction {model!r} to have an interval.",
                seen=listing(models),
                hint="use the name of a prediction: MODEL=LOW,HIGH,0.9",
            )
        if isinstance(ends, str) or len(ends) != 3:
            raise ColumnError(
                f"the prediction interval of {model!r} needs two columns and its nominal level.",
                seen=f"{ends!r}",
                hint="LOW,HIGH,0.9 for nominal 90 % prediction intervals",
            )
        resolved[model] = (str(ends[0]), str(ends[1]), nominal_level(ends[2]))
    return resolved


def parse_baseline(requested: str | float | None, columns: Sequence[str]) -> str | float | None:
    """A column, a number, or None for the mean of the truths."""
    if requested is None or requested in columns:
        return requested
    if requested == "mean":
        return None
    try:
        number = float(requested)
    except ValueError:
        number = float("nan")
    if not abs(number) < float("inf"):
        hint = "mean, a column, a number such as the mean of the training targets, or a file that --save wrote"
        raise ColumnError(f"baseline={requested!r} is neither a column nor a number.", seen=listing(columns), hint=hint)
    if abs(number) > MAX_MAGNITUDE:
        raise ColumnError(f"baseline={requested} is beyond 1e70, whose square would overflow.", hint="baseline=0")
    return number


def are_frequency_weights(weights: str, weight: str | None) -> bool:
    """Whether weights count copies of a row."""
    if weights not in ("cases", "copies"):
        raise ColumnError(f"weights={weights!r} is unknown.", hint='weights="cases" or weights="copies"')
    if weights == "copies" and weight is None:
        raise ColumnError('weights="copies" needs a column of weights.', hint="weight=…")
    return weights == "copies"


def refuse_together(what: str, stated: Mapping[str, Any]) -> None:
    """Refuse roles that do not go with values per case, or with rankings per query."""
    for name, given in stated.items():
        if given not in (None, "", [], ()):
            column = given if isinstance(given, str) else "…"
            raise ColumnError(f"{name}={column!r} does not go with {what}.", hint=f"leave out {name}=…")

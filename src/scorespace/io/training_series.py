"""The training series of a forecast: values of the truth before the forecasts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError
from scorespace.io.column_values import as_number
from scorespace.io.read import read
from scorespace.io.roles import Roles, missing_column_error
from scorespace.tables.labels import to_array


def training_series(data: Any, roles: Roles) -> NDArray[np.float64]:
    """Values of the truth in the training data, in the order of the time column if they have one.

    >>> training_series({"y": [5.0, 3.0], "t": [2, 1]}, Roles("y", time="t")).tolist()
    [3.0, 5.0]
    """
    if not roles.numbers and not roles.time:
        raise DataError("a training series is for predictions of numbers.", hint="predictions=…")
    is_values = not isinstance(data, Mapping) and np.ndim(data) == 1 and not isinstance(data, str)
    if is_values:
        return np.asarray(to_array(data), dtype=np.float64)
    source = read(data)
    if roles.truth not in source.columns:
        raise missing_column_error(roles.truth, source)
    frame = source.frame
    if roles.time is not None and roles.time in source.columns:
        frame = frame.sort(roles.time)
    series = source.arrays(frame.select(as_number(roles.truth).alias("value")))["value"]
    values = np.ma.filled(np.ma.asarray(series, dtype=np.float64), np.nan)
    if not np.isfinite(values).all():
        raise DataError("the training series has missing values.", hint="drop or impute them; steps must be regular")
    return np.asarray(values)

"""The rarer arguments of `evaluate`, grouped: roles of further columns, and how to compute."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar, get_type_hints

from scorespace.argument_checks import check_type
from scorespace.errors import ScoreSpaceError, did_you_mean, warn_renamed
from scorespace.tables import Table

Options = TypeVar("Options", bound="Columns | Settings")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Roles of columns beside truth and predictions.

    Attributes
    ----------
    weight : str, optional
        Column of weights.
    weights : {"cases", "copies"}
        Whether a weighted row is one case, or as many copies of it.
    group : str, optional
        Column of groups, such as patients, whose cases are resampled together.
    fold, repeat : str, optional
        Columns of the fold and the repeat of cross-validation.
    time : str, optional
        Column that orders the rows; intervals then allow for autocorrelated errors.
    names : mapping of str to str, optional
        Names of models by column.
    models : mapping of str to str, optional
        Models of other kinds as KIND(COLUMN), plug-ins' included.
    tables : mapping of str to Table, optional
        Tables of further models on the same cases, such as confusion matrices.
    order : str or sequence, optional
        Classes from the lowest to the highest, where they are ordinal.
    per : str, optional
        Column of dates or periods, in each of which ``ppv@top500`` selects 500 cases.
    scale : str or (float, float), optional
        Lowest and highest possible score where scores are ratings, or possible value per case: ``"0..10"``.
    lower_is_better : bool
        Whether low values per case are better.
    query : str, optional
        Column of queries: scores rank the documents of each, and the truth is their graded relevance.
    intervals : mapping or tuple, optional
        In regression, columns (low, high) of prediction intervals and their nominal level.
    quantiles : str, sequence or mapping, optional
        In regression, columns of predicted quantiles, whose names end in their levels: ``"q*"``, or by model
        ``{"m": "q*"}``, or with levels ``{"m": {0.05: "low", 0.5: "mid", 0.95: "high"}}``. The median is the prediction
        if none is named.
    ensemble : str, sequence or mapping, optional
        In regression, columns of the members of an ensemble, such as ``"member_*"``. Their mean is the prediction if
        none is named.
    train : path, data frame, mapping or array, optional
        In regression, the training series: data with the column of the truth, and that of the time if there is one; or
        its values. `mase` and `rmsse` are relative to its naive forecast.
    baseline : str, float, path or sequence, optional
        The file of a saved evaluation to compare with; in regression, what relative errors are relative to.
    """

    weight: str | None = None
    weights: str = "cases"
    group: str | None = None
    fold: str | None = None
    repeat: str | None = None
    time: str | None = None
    names: Mapping[str, str] | None = None
    models: Mapping[str, str] | None = None
    tables: Mapping[str, Table] | None = None
    order: str | Sequence[Any] = ()
    per: str | None = None
    scale: str | tuple[float, float] | None = None
    lower_is_better: bool = False
    query: str | None = None
    intervals: Any = ()
    quantiles: Any = ()
    ensemble: Any = ()
    train: Any = None
    baseline: str | float | os.PathLike[str] | Sequence[str | float | os.PathLike[str]] | None = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How an evaluation is computed.

    Attributes
    ----------
    level : float
        Confidence level of the intervals.
    seed : int
        Seed of the bootstrap.
    interval : str, optional
        Method of the confidence intervals, such as "bca"; each measure has a default.
    profile : str, optional
        Names, default measures and words of a profession: "general", "clinical", "credit", "fraud", "forecasting" or
        "lecture".
    full : bool
        Whether to show all usual measures instead of the short default.
    parity : bool
        Whether to judge slices by parity of rates, too; some profiles do so anyway.
    threshold : float, optional
        Threshold at which decisions are shown, unless a measure states its own: ``"ppv@0.3"``.
    where : str, optional
        Condition on the rows in use: ``"age >= 65 and sex = 'f'"``.
    missing : {"error", "drop"}
        What to do with missing values.
    memory : str or float, optional
        Memory limit, such as "2GB"; larger data are binned, with certified error bounds.
    precision : float, optional
        Maximum binning error of the AUC; reads the data twice.
    at : sequence of float
        Thresholds that stay exact when scores are binned.
    further : str or sequence of str, optional
        Measures that will be requested later; other sums of regression data beyond `memory` are not computed.
    paired : bool, optional
        Whether to keep each case for paired comparisons; by default up to a million rows.
    engine, master : str, optional
        "spark" and the address of its cluster.
    dataset : str, optional
        One data set of a benchmark run.
    sheet : str, optional
        Sheet of a spreadsheet, by name or number; by default the first.
    header : bool
        Whether the first line of a text file holds the names of the columns.
    progress : callable, optional
        Called with the share of the work that is done.
    """

    level: float = 0.95
    seed: int = 0
    interval: str | None = None
    profile: str | None = None
    full: bool = False
    parity: bool = False
    threshold: float | None = None
    where: str | None = None
    missing: str = "error"
    memory: str | float | None = None
    precision: float | None = None
    at: Sequence[float] = ()
    further: str | Sequence[str] | None = None
    paired: bool | None = None
    engine: str | None = None
    master: str | None = None
    dataset: str | None = None
    sheet: str | None = None
    header: bool = True
    progress: Callable[[int, int], None] | None = None


def as_options(stated: Options | Mapping[str, Any] | None, kind: type[Options]) -> dict[str, Any]:
    """The stated values of a group by name, each checked against its type.

    >>> as_options({"level": 0.9}, Settings)
    {'level': 0.9}
    """
    if stated is None:
        return {}
    defaults, hints = {one.name: one.default for one in fields(kind)}, get_type_hints(kind)
    values = dict(stated) if isinstance(stated, Mapping) else vars(stated)
    values = {name: value for name, value in values.items() if value is not defaults.get(name)}
    for name, value in values.items():
        if name not in hints:
            hint = did_you_mean(name, hints, f"one of {', '.join(hints)}")
            raise ScoreSpaceError(f"{kind.__name__} has no {name!r}.", hint=hint)
        check_type(name, value, hints[name])
    return values


def former_options(former: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of version 0.1 that are grouped now; unknown ones are refused."""
    found: dict[str, Any] = {}
    for name, value in former.items():
        group = next((kind for kind in (Columns, Settings) if name in {one.name for one in fields(kind)}), None)
        if group is None:
            known = ["truth", "scores", "decisions", "predictions", "positive", "measures", "condition", "by"]
            hint = did_you_mean(name, [*known, "columns", "settings"], "columns={…} or settings={…}")
            raise ScoreSpaceError(f"evaluate has no argument {name!r}.", hint=hint)
        warn_renamed(f"evaluate({name}=…)", f"evaluate({group.__name__.lower()}={{{name!r}: …}})")
        found |= as_options({name: value}, group)
    return found

"""Tabulates columns into the tables of models: in memory, or inside the engine for larger data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

from scorespace import io
from scorespace.audit.cheap_checks import check_sample
from scorespace.costs import CostMatrix
from scorespace.errors import ColumnError, DataError, listing
from scorespace.evaluation.findings import role_notes
from scorespace.io import out_of_core, slices
from scorespace.io.column_values import has_single_precision
from scorespace.io.derived_scores import add_derived_scores, parse_scale, rescale
from scorespace.io.distributions import add_distributions
from scorespace.io.error_aggregates import Needs
from scorespace.io.out_of_core import count_groups, count_slices_in_engine
from scorespace.io.slices import SliceIndex, iterate_slices, split_sample
from scorespace.io.training_series import training_series
from scorespace.results import Note
from scorespace.tables import Table
from scorespace.tables.columns import nearest_single
from scorespace.tables.models import Models, SubgroupModels, class_weights


def parts_of(
    sample: io.Sample,
    slicing: SliceIndex,
    small: bool,
    coarse: Mapping[str, Any],
    costs: CostMatrix | None,
) -> SubgroupModels:
    """The slices of a sample and their complements, tabulated like the whole sample."""
    held = split_sample(sample, slicing, settle=small)
    positive = None if sample.positive is None else sample.classes[sample.positive]
    grouped = sample.roles.group is not None

    def models(part: io.Sample, tables: Mapping[str, Table], pairs: Any = None) -> Models:
        classes = class_weights(next(iter(tables.values())))
        return Models(sample.source.name, part.rows, classes, positive, tables, pairs)

    def counted(part: io.Sample) -> Models:
        if not (grouped or sample.roles.period):
            return models(part, io.count_tables(part, costs=costs))
        pairs = io.pair_models(part, costs=costs)
        return models(part, dict(zip(pairs.models, pairs.tables, strict=True)), pairs)

    def binned(part: io.Sample, tables: Mapping[str, Table]) -> Models:
        edges: Sequence[float] = coarse.get("edges", ())
        pairs = count_groups(part, tables, edges=edges) if grouped and not sample.roles.numbers else None
        return models(part, tables, pairs)

    if small:
        both = {name: (counted(own), counted(rest)) for name, own, rest in iterate_slices(held)}
    else:
        stated = {name: coarse[name] for name in ("bits", "edges") if name in coarse}
        tables = count_slices_in_engine(held, **stated)
        both = {}
        for name, own, rest in iterate_slices(held):
            others = [tables[other] for other in tables if other != name]
            added = {model: reduce(add, (one[model] for one in others)) for model in tables[name]}
            both[name] = binned(own, tables[name]), binned(rest, added)
    slices, rests = ({name: pair[side] for name, pair in both.items()} for side in (0, 1))
    roles = sample.roles
    if roles.query:
        _refuse_split_queries(slices, rests, slicing)
    columns = [*roles.scores.items(), *roles.decisions.items()]
    columns += [(model, column) for model, of_class in roles.class_scores.items() for column in of_class.values()]
    bands = frozenset(model for model, column in columns if column in slicing.by)
    return SubgroupModels(slicing.by, slices, rests, held.shared_groups, bands)


def _refuse_split_queries(slices: Mapping[str, Models], rests: Mapping[str, Models], slicing: SliceIndex) -> None:
    """Refuse slices that divide the documents of a query, of which each part would be another ranking."""
    for name, models in slices.items():
        sides: list[Any] = [next(iter(one.values())) for one in (models, rests[name])]
        own, rest = ({*table.data.names} if table.by_query else set() for table in sides)
        if shared := sorted(own & rest):
            raise ColumnError(
                f"{listing(slicing.by)} divides the documents of a query, so slices have other rankings.",
                seen=f"query {shared[0]!r} in {name!r} and in other slices",
                hint="by=…, a column with one value for each query",
            )


_PAIRED_ROWS = 1_000_000
_ORDERED_ROWS = 50_000  # beyond which another random split hardly changes a number
_MAX_MODELS_IN_PAIRS = 3  # tabulated jointly by default; each pair is a further pass over the data


@dataclass(frozen=True)
class MemoryPlan:
    """Memory limit, and what binned tables must keep beyond it.

    Attributes
    ----------
    memory : int
        Bytes that columns may take; larger data are binned.
    precision : float or None
        Maximum binning error of the AUC.
    edges : tuple of float
        Thresholds that must stay exact.
    engine, master : str or None
        The engine that reads the data, and the address of its cluster.
    couples : bool
        Whether to tabulate every pair of models jointly.
    cross_fitted : bool
        Whether decisions will be cross-fitted.
    needs : Needs or None
        Sums that the measures of regression need.
    """

    memory: int
    precision: float | None
    edges: tuple[float, ...]
    engine: str | None = None
    master: str | None = None
    couples: bool = False
    cross_fitted: bool = False
    needs: Needs | None = None


def tabulated(
    data: Any,
    missing: str,
    order: list[Any],
    paired: bool | None,
    costs: CostMatrix | None,
    plan: MemoryPlan,
    **roles: Any,
) -> tuple[Models, tuple[SubgroupModels, ...], tuple[Note, ...], io.Library | None]:
    """The models of columns with these roles, their slices, notes, and the library of the data."""
    read = io.spark_source(data, plan.master) if plan.engine == "spark" else io.read(data)
    if roles["truth"] is None:
        if not roles["values"]:
            raise io.truth_not_named_error(read)
        roles["truth"] = ""
    by, condition = roles.pop("by", ()), roles.pop("where", None)
    if condition is not None:
        read = io.read(io.FilteredData(read, condition))
    source, roles["scores"] = add_derived_scores(read, roles["scores"], roles["positive"])
    stated = roles.pop("quantiles", ()), roles.pop("ensemble", ()), roles.get("predictions", ())
    if stated[0] or stated[1]:
        source, roles["predictions"], roles["distributions"] = add_distributions(source, *stated)
    train = roles.pop("train", None)
    ends, case_costs = parse_scale(roles.pop("scale")), roles.pop("costs_per_case", None)
    limits = ends if roles["values"] else None
    named = io.resolve_roles(source, **roles, costs=case_costs, limits=limits)
    if train is not None:
        named = replace(named, history=training_series(train, named))
    every = (column for of_class in named.class_scores.values() for column in of_class.values())
    source = rescale(source, (*named.scores.values(), *every), ends)
    slicings = slices.resolve_slices(source, by) if by else ()
    # Multiclass costs, prediction intervals, time series and most uses of groups need single cases.
    grouped = named.group is not None and bool(plan.cross_fitted or not named.scores_alone)
    by_case = bool(named.numbers) and (not named.summed or named.time is not None)
    whole = grouped or by_case or (named.class_scores and costs is not None)
    small = bool(whole) or io.fits_in_memory(source, named, plan.memory)
    if has_single_precision(source, named.scores.values()):
        plan = replace(plan, edges=tuple(sorted({*plan.edges, *map(float, nearest_single(plan.edges))})))
    pairs, order_kept, couples = None, None, {}
    coarse: dict[str, Any] = {"bits": 0} if small else {"edges": plan.edges, "precision": plan.precision}
    if io.is_distributed(source.frame):
        io.refuse_unsupported_on_cluster(named, grouped)
    if named.period is not None and (not small or io.is_distributed(source.frame)):
        raise DataError(
            f"limits per {named.period} need single cases.",
            seen="more data than the memory limit",
            hint="raise the memory limit, or use a part of the periods",
        )
    small_here = small and not io.is_distributed(source.frame)
    if small_here:
        sample = io.validate(source, named, missing=missing, order=order)
        keeps = _keeps_pairs(paired, sample)
        held = io.pair_models(sample, costs=costs) if keeps or _keeps_order(sample) else None
        pairs, order_kept = (held, None) if keeps else (None, held)
        both = None if held is None else dict(zip(held.models, held.tables, strict=True))
        tables = io.count_tables(sample, costs=costs) if both is None else both
    else:
        sample, tables = out_of_core.count_in_engine(
            source, named, missing=missing, order=order, needs=plan.needs, **coarse
        )
        pairs = (
            None if named.group is None or named.numbers else out_of_core.count_groups(sample, tables, edges=plan.edges)
        )
    wanted = paired or (paired is None and len(tables) <= _MAX_MODELS_IN_PAIRS)
    if plan.couples or (wanted and not small_here and pairs is None and not named.numbers):
        couples = out_of_core.count_model_pairs(sample, tables, edges=plan.edges)
    first = next(iter(tables.values()))
    positive = None if sample.positive is None else sample.classes[sample.positive]
    models = Models(source.name, sample.rows, class_weights(first), positive, tables, pairs, couples, order_kept)
    models = models.on_scale(ends)
    alone = (
        sample.roles.repeat if sample.roles.group is None else None
    )  # with groups, all rows of a case are resampled together
    notes = (
        *sample.notes,
        *role_notes(sample.roles.fold, alone, None if named.numbers else named.time),
        *check_sample(sample),
    )
    parts = tuple(parts_of(sample, one, small_here, coarse, costs) for one in slicings)
    return models, parts, notes, io.frame_library(source.frame)


def count_tables(
    data: Any,
    *,
    at: Sequence[float] = (),
    bins: bool = False,
    pairs: bool = False,
    missing: str = "error",
    memory: str | float | None = None,
    precision: float | None = None,
    engine: str | None = None,
    master: str | None = None,
    **roles: Any,
) -> io.TableCollection:
    """The tables of the models of the data, to be saved, merged and evaluated elsewhere.

    Parameters
    ----------
    data : path, data frame, or mapping of arrays
        The data.
    at : sequence of float
        Thresholds that stay exact when scores are binned.
    bins : bool
        Whether to bin scores even where they fit into memory.
    pairs : bool
        Whether to tabulate every pair of models jointly, so that they can be compared.
    missing : {"error", "drop"}
        What to do with missing values.
    memory : str or float, optional
        Memory limit, such as "2GB"; larger data are binned, with certified error bounds.
    precision : float, optional
        Maximum binning error of the AUC; reads the data twice.
    engine, master : str, optional
        "spark" and the address of its cluster.
    **roles
        Roles of columns, as in `evaluate`.

    Returns
    -------
    Tables
        A table for each model, the number of rows, and notes.

    Examples
    --------
    >>> count_tables({"y": [1, 0, 1], "s": [0.9, 0.4, 0.4]}, truth="y", scores="s").tables["s"]
    ScoreTable: 3 cases, 2 '1' (positive), 1 '0', 2 distinct scores
    """
    io.check_engine(engine, master)
    edges = tuple(sorted(set(at)))
    plan = MemoryPlan(0 if bins else io.parse_memory(memory), precision, edges, engine, master, couples=pairs)
    unset: dict[str, Any] = {"truth": None, "scores": (), "values": (), "positive": None, "scale": None}
    held, _, notes, _ = tabulated(data, missing, [], False, None, plan, **(unset | roles))
    coarse = {
        name: table.rounded(edges=edges) if bins and table.thresholded and not table.coarse else table
        for name, table in held.tables.items()
    }
    return io.TableCollection(coarse, held.rows, notes, held.couples, edges if held.couples else ())


def _keeps_order(sample: io.Sample) -> bool:
    """Whether to keep the order of cases of a single score, so that its folds equal those of any other model."""
    roles = sample.roles
    alone = len(roles.scores) == 1 and not (roles.class_scores or roles.decisions or roles.numbers)
    counted = sample.positive is not None and not roles.copies and roles.weight is None
    return alone and counted and sample.rows <= _ORDERED_ROWS


def _keeps_pairs(wanted: bool | None, sample: io.Sample) -> bool:
    """Whether to keep single cases: to compare models, and to resample groups, time series or weighted cases."""
    roles = sample.roles
    if roles.copies:
        return False  # one row represents many cases
    if roles.scores and sample.positive is None:
        return False  # one class only: nothing is ranked
    if roles.numbers and roles.time is not None:
        return True
    tested_in = roles.fold or roles.repeat
    if roles.group is not None or (tested_in is not None and wanted is not False and sample.rows <= _PAIRED_ROWS):
        return True
    if roles.period is not None or (roles.costs is not None and wanted is not False and sample.rows <= _PAIRED_ROWS):
        return True
    several = len(roles.scores) + len(roles.class_scores) + len(roles.decisions) + len(roles.numbers) > 1
    return several and (sample.rows <= _PAIRED_ROWS if wanted is None else wanted)

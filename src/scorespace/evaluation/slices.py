"""The slices of an evaluation: how each is counted, and what is asked of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from scorespace import frames
from scorespace.conditions import CostMatrix
from scorespace.frames.slices import Slicing, each_slice, sliced
from scorespace.frames.tally import grouped_bins, tally_slices
from scorespace.tables import Table
from scorespace.tables.models import Models, Parts, class_weights


def parts_of(
    sample: frames.Sample,
    slicing: Slicing,
    small: bool,
    coarse: Mapping[str, Any],
    costs: CostMatrix | None,
) -> Parts:
    """The slices of a sample and their complements, counted as the whole was: here, or inside the engine."""
    held = sliced(sample, slicing, settle=small)
    positive = None if sample.positive is None else sample.classes[sample.positive]
    grouped = sample.roles.group is not None

    def models(part: frames.Sample, tables: Mapping[str, Table], pairs: Any = None) -> Models:
        classes = class_weights(next(iter(tables.values())))
        return Models(sample.source.name, part.rows, classes, positive, tables, pairs)

    def counted(part: frames.Sample) -> Models:
        if not grouped:
            return models(part, frames.count(part, costs=costs))
        pairs = frames.pair(part, costs=costs)
        return models(part, dict(zip(pairs.models, pairs.tables, strict=True)), pairs)

    def binned(part: frames.Sample, tables: Mapping[str, Table]) -> Models:
        edges: Sequence[float] = coarse.get("edges", ())
        pairs = grouped_bins(part, tables, edges=edges) if grouped and not sample.roles.numbers else None
        return models(part, tables, pairs)

    if small:
        both = {name: (counted(own), counted(rest)) for name, own, rest in each_slice(held)}
    else:
        stated = {name: coarse[name] for name in ("bits", "edges") if name in coarse}
        tables = tally_slices(held, **stated)
        both = {}
        for name, own, rest in each_slice(held):
            others = [tables[other] for other in tables if other != name]
            added = {model: reduce(add, (one[model] for one in others)) for model in tables[name]}
            both[name] = binned(own, tables[name]), binned(rest, added)
    slices, rests = ({name: pair[side] for name, pair in both.items()} for side in (0, 1))
    return Parts(slicing.by, slices, rests, held.shared_groups)

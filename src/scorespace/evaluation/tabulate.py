"""From columns to the tables of models: counted in memory, or where the rows are when they are too many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scorespace import frames
from scorespace.auditing.free import free_notes
from scorespace.conditions import CostMatrix
from scorespace.evaluation.notes import role_notes
from scorespace.frames.scale import scale_of, scaled
from scorespace.frames.values import single_precision
from scorespace.frames.votes import with_votes
from scorespace.frozen import dataclass
from scorespace.later import later
from scorespace.results import Note
from scorespace.tables.columns import nearest_single
from scorespace.tables.models import Models, Parts, class_weights

if TYPE_CHECKING:
    from scorespace.evaluation import slices as counted
    from scorespace.frames import slices, tally
    from scorespace.frames.sums import Needs
else:  # for large data and slices alone
    tally = later("scorespace.frames.tally")
    counted, slices = later("scorespace.evaluation.slices"), later("scorespace.frames.slices")

_PAIRED_ROWS = 1_000_000
_ORDERED_ROWS = 50_000  # from which on another split of the cases hardly changes a number
_COUPLED = 3  # models that are counted two by two without being asked, a pass each


@dataclass(frozen=True)
class Room:
    """How much memory columns may take; beyond it, how precise tables must be and which thresholds must be exact.

    `engine` and `master` say who reads them; `couples` counts every two models together in any case; `judged` tells
    that decisions are judged on cases that did not choose them; `needs` what the measures of numbers follow from.
    """

    memory: int
    precision: float | None
    edges: tuple[float, ...]
    engine: str | None = None
    master: str | None = None
    couples: bool = False
    judged: bool = False
    needs: Needs | None = None


def tabulated(
    data: Any,
    missing: str,
    order: list[Any],
    paired: bool | None,
    costs: CostMatrix | None,
    room: Room,
    **roles: Any,
) -> tuple[Models, tuple[Parts, ...], tuple[Note, ...], frames.Library | None]:
    """The models of columns with these roles, their slices, what is to be noted, and the library of the data."""
    read = frames.spark_source(data, room.master) if room.engine == "spark" else frames.read(data)
    if roles["truth"] is None:
        raise frames.truth_unnamed(read)
    by, condition = roles.pop("by", ()), roles.pop("where", None)
    if condition is not None:
        read = frames.read(frames.Chosen(read, condition))
    source, roles["scores"] = with_votes(read, roles["scores"], roles["positive"])
    ends = scale_of(roles.pop("scale"))
    named = frames.roles(source, **roles)
    every = (column for of_class in named.class_scores.values() for column in of_class.values())
    source = scaled(source, (*named.scores.values(), *every), ends)
    slicings = slices.slicings(source, by) if by else ()
    # Multiclass costs, prediction intervals and time series need the cases themselves, groups all but their scores.
    grouped = named.group is not None and bool(room.judged or not named.scores_alone)
    by_case = bool(named.numbers) and (not named.summed or named.time is not None)
    whole = grouped or by_case or (named.class_scores and costs is not None)
    small = bool(whole) or frames.fits(source, named, room.memory)
    if single_precision(source, named.scores.values()):
        room = replace(room, edges=tuple(sorted({*room.edges, *map(float, nearest_single(room.edges))})))
    pairs, order_kept, couples = None, None, {}
    coarse: dict[str, Any] = {"bits": 0} if small else {"edges": room.edges, "precision": room.precision}
    if frames.distributed(source.frame):
        frames.refuse_on_cluster(named, grouped)
    small_here = small and not frames.distributed(source.frame)
    if small_here:
        sample = frames.check(source, named, missing=missing, order=order)
        keeps = _keeps_pairs(paired, sample)
        held = frames.pair(sample, costs=costs) if keeps or _keeps_order(sample) else None
        pairs, order_kept = (held, None) if keeps else (None, held)
        both = None if held is None else dict(zip(held.models, held.tables, strict=True))
        tables = frames.count(sample, costs=costs) if both is None else both
    else:
        sample, tables = tally.tally(source, named, missing=missing, order=order, needs=room.needs, **coarse)
        pairs = None if named.group is None or named.numbers else tally.grouped_bins(sample, tables, edges=room.edges)
    wanted = paired or (paired is None and len(tables) <= _COUPLED)
    if room.couples or (wanted and not small_here and pairs is None and not named.numbers):
        couples = tally.couples(sample, tables, edges=room.edges)
    first = next(iter(tables.values()))
    positive = None if sample.positive is None else sample.classes[sample.positive]
    models = Models(source.name, sample.rows, class_weights(first), positive, tables, pairs, couples, order_kept)
    models = models.on_scale(ends)
    alone = sample.roles.repeat if sample.roles.group is None else None  # else all rows of a case are drawn together
    notes = (
        *sample.notes,
        *role_notes(sample.roles.fold, alone, None if named.numbers else named.time),
        *free_notes(sample),
    )
    parts = tuple(counted.parts_of(sample, one, small_here, coarse, costs) for one in slicings)
    return models, parts, notes, frames.library_of(source.frame)


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
) -> frames.Tables:
    """The tables of the models of the data and no more, to be saved, merged and evaluated elsewhere.

    `at` names thresholds that stay exact, `bins` counts scores in bins however few they are, and `pairs` counts every
    two models together, too, so that they can be compared; the roles of columns are those of `evaluate`.

    >>> count_tables({"y": [1, 0, 1], "s": [0.9, 0.4, 0.4]}, truth="y", scores="s").tables["s"]
    ScoreTable: 3 cases, 2 '1' (positive), 1 '0', 2 distinct scores
    """
    frames.check_engine(engine, master)
    edges = tuple(sorted(set(at)))
    room = Room(0 if bins else frames.memory_of(memory), precision, edges, engine, master, couples=pairs)
    unset: dict[str, Any] = {"truth": None, "scores": (), "positive": None, "scale": None}
    held, _, notes, _ = tabulated(data, missing, [], False, None, room, **(unset | roles))
    coarse = {
        name: table.rounded(edges=edges) if bins and table.thresholded and not table.coarse else table
        for name, table in held.tables.items()
    }
    return frames.Tables(coarse, held.rows, notes, held.couples, edges if held.couples else ())


def _keeps_order(sample: frames.Sample) -> bool:
    """Whether the cases of a single score keep their order, so that folds are those of any other model."""
    roles = sample.roles
    alone = len(roles.scores) == 1 and not (roles.class_scores or roles.decisions or roles.numbers)
    counted = sample.positive is not None and not roles.copies and roles.weight is None
    return alone and counted and sample.rows <= _ORDERED_ROWS


def _keeps_pairs(wanted: bool | None, sample: frames.Sample) -> bool:
    """Whether each case's place is kept: to compare models, and to resample groups, time series or weighted cases."""
    roles = sample.roles
    if roles.copies:
        return False  # one row stands for many cases
    if roles.scores and sample.positive is None:
        return False  # all cases are of one class, so nothing is ranked
    if roles.numbers and roles.time is not None:
        return True
    tested_in = roles.fold or roles.repeat
    if roles.group is not None or (tested_in is not None and wanted is not False and sample.rows <= _PAIRED_ROWS):
        return True
    several = len(roles.scores) + len(roles.class_scores) + len(roles.decisions) + len(roles.numbers) > 1
    return several and (sample.rows <= _PAIRED_ROWS if wanted is None else wanted)

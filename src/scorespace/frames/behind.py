"""The rows behind a number: those of an outcome at a threshold, of a cell of decisions, or with scores in a range."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import narwhals as nw

from scorespace.errors import DataError, listing, nearest
from scorespace.frames.check import Sample, check
from scorespace.frames.engine import identifier, told
from scorespace.frames.read import Chosen, read
from scorespace.frames.roles import Roles
from scorespace.frames.roles import roles as roles_of
from scorespace.frames.source import Source
from scorespace.frames.values import label, number, single_precision
from scorespace.frames.votes import with_votes
from scorespace.frames.where import parse
from scorespace.frozen import dataclass
from scorespace.tables.columns import nearest_single
from scorespace.tables.labels import label_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

CELLS: Final = {"tp": (True, True), "fp": (False, True), "fn": (True, False), "tn": (False, False)}
"""Of each outcome, whether the case is positive and whether it is flagged."""

_PIECE: Final = 2000
_PLAIN: Final = ("VARCHAR", "BOOLEAN", "DOUBLE", "FLOAT", "BIGINT", "INTEGER", "SMALLINT", "TINYINT")


@dataclass(frozen=True)
class Wanted:
    """Which rows: of a model an outcome at a threshold, what is decided of which class, and the ends of its score.

    Of a model that scores several classes, one is named in brackets, nb[setosa]; `lead` leaves out the cases whose
    highest score leads the second by less.
    """

    model: str = ""
    cell: str = ""
    threshold: float | None = None
    actual: str | None = None
    decided: str | None = None
    lead: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False)
class Behind:
    """The rows found, from the highest score down: how many, and themselves in pieces.

    Each has its number in the file, from 1, and then all its columns, as they stand there.
    """

    columns: tuple[str, ...]
    total: int
    query: str = field(repr=False)
    connection: DuckDBPyConnection = field(repr=False)
    where: str = ""

    def first(self, most: int) -> list[tuple[Any, ...]]:
        """The first of them."""
        return self._run(f"{self.query} LIMIT {most:d}").fetchall()

    def pieces(self) -> Iterator[list[tuple[Any, ...]]]:
        """All of them, some thousand at a time."""
        found = self._run(self.query)
        while piece := found.fetchmany(_PIECE):
            yield piece

    def _run(self, query: str) -> Any:
        with told(self.where):
            return self.connection.execute(query)


def models(path: str, roles: Mapping[str, Any]) -> list[str]:
    """The models whose rows can be asked for."""
    return _named(read(path), {**roles, "where": None})[1].models


def _named(whole: Source, roles: Mapping[str, Any]) -> tuple[Source, Roles]:
    """The rows that take part, and which of their columns is what."""
    named = {name: given for name, given in roles.items() if name != "where"}
    chosen = whole if roles.get("where") is None else read(Chosen(whole, roles["where"]))
    source, named["scores"] = with_votes(chosen, named["scores"], named["positive"])
    return source, roles_of(source, **named)


def behind(path: str, roles: Mapping[str, Any], wanted: Wanted, missing: str = "error") -> Behind:
    """The rows of a file behind a number, found in the file itself; `roles` and `where` are those of `evaluate`."""
    whole = read(path)
    sample = check(*_named(whole, roles), missing=missing)
    source = sample.source
    if source.connection is None:
        raise DataError(
            f"{source.where} has columns whose names differ only in case, so no rows are looked up.",
            hint="rename the columns",
        )
    score, kept = _chosen(sample, wanted)
    marked: Any = source.frame.select((sample.used & kept).fill_null(False).alias("kept"), score.alias("score"))
    # As they are written where that is known: 007 stays 007.
    given: Any = source.frame if source.as_text is None else source.as_text(source.columns)
    taken: Any = marked.select((~nw.col("kept").is_null()).alias("taken"))  # all of them
    if roles.get("where") is not None:
        holds = parse(roles["where"], whole.columns).on(dict(whole.frame.collect_schema()))
        taken = whole.frame.select(holds.alias("taken"))
    frames = {"given_rows": given, "marked_rows": marked, "taken_rows": taken}
    return _found(source.connection, {name: frame.to_native() for name, frame in frames.items()}, source.where)


def _found(connection: DuckDBPyConnection, views: Mapping[str, DuckDBPyRelation], where: str) -> Behind:
    given = views["given_rows"]
    with told(where):
        for name, relation in views.items():
            relation.create_view(name)
        names = [(f"g.{identifier(name)}", str(kind)) for name, kind in zip(given.columns, given.types, strict=True)]
        ((total,),) = connection.execute("SELECT count(*) FROM marked_rows WHERE kept").fetchall()
    shown = [name if kind in _PLAIN else f"CAST({name} AS VARCHAR)" for name, kind in names]
    # The number of a row is that in the file, where rows may stand between those that take part.
    numbered = "(SELECT place FROM (SELECT row_number() OVER () AS place, taken FROM taken_rows) WHERE taken)"
    query = (
        f"SELECT n.place, {', '.join(shown)} FROM given_rows AS g POSITIONAL JOIN marked_rows AS m "
        f"POSITIONAL JOIN {numbered} AS n WHERE m.kept ORDER BY m.score DESC, n.place"
    )
    return Behind(tuple(given.columns), int(total), query, connection, where)


def _chosen(sample: Sample, wanted: Wanted) -> tuple[nw.Expr, nw.Expr]:
    """The score by which the rows are sorted, and whether a row is wanted."""
    named = sample.roles
    model, _, of = wanted.model.partition("[") if wanted.model.endswith("]") else (wanted.model, "", "")
    if wanted.model in named.models:
        model, of = wanted.model, ""
    positive = sample.positive_name
    if model in named.class_scores:
        of = of.removesuffix("]") or positive or ""
        if of:
            if of not in named.class_scores[model]:
                raise _unknown("class", of, named.class_scores[model])
            return _scored(sample, named.class_scores[model][of], of, wanted)
        return _of_classes(sample, model, wanted)
    if model in named.decisions:
        return _decided(sample, label(sample.source.frame, named.decisions[model]), positive, wanted)
    if model in named.scores:
        return _scored(sample, named.scores[model], positive, wanted)
    if model in named.numbers:
        return _scored(sample, named.numbers[model][1], None, wanted)
    raise _unknown("model", model, named.models)


def _scored(sample: Sample, column: str, positive: str | None, wanted: Wanted) -> tuple[nw.Expr, nw.Expr]:
    """Those flagged at a threshold or not, and those whose score lies in a range; ends belong to it."""
    score, at = number(column), wanted.threshold
    if at is not None and single_precision(sample.source, [column]):
        at = float(nearest_single(at))
    kept: nw.Expr = nw.lit(True)
    if wanted.low is not None:
        kept = kept & (score >= wanted.low)
    if wanted.high is not None:
        kept = kept & (score <= wanted.high)
    if wanted.cell:
        if wanted.threshold is None:
            raise DataError("an outcome needs the threshold that decides.", hint="threshold=0.5")
        kept = kept & _in_cell(sample, wanted.cell, positive, lambda _: score >= at)
    return score, kept


def _decided(sample: Sample, decision: nw.Expr, positive: str | None, wanted: Wanted) -> tuple[nw.Expr, nw.Expr]:
    """Those of a class for which a class is decided; decisions have no score, so they stay in order."""
    frame = sample.frame
    held = frame.select(decision.alias("label")).group_by("label").agg(rows=nw.len())
    values = sample.source.arrays(held)["label"].tolist()

    def decides(name: str) -> nw.Expr:
        return decision.is_in([value for value in values if label_text(value) == name])

    kept = _is_actual(sample, wanted.actual)
    if wanted.cell:
        kept = _in_cell(sample, wanted.cell, positive, decides)
    elif wanted.decided is not None:
        kept = kept & decides(wanted.decided)
    return nw.lit(0.0), kept


def _of_classes(sample: Sample, model: str, wanted: Wanted) -> tuple[nw.Expr, nw.Expr]:
    """Those of a class that the highest score takes for a class; of several that are highest, the first."""
    by_class = sample.roles.class_scores[model]
    classes = sample.with_classes(by_class)
    scores = [number(by_class[name]) for name in classes]
    highest = nw.max_horizontal(*scores)
    kept = _is_actual(sample, wanted.actual)
    if wanted.decided is not None:
        if wanted.decided not in classes:
            raise _unknown("class", wanted.decided, classes)
        place = classes.index(wanted.decided)
        kept = kept & (scores[place] == highest)
        for before in scores[:place]:
            kept = kept & (before < highest)
        if wanted.lead is not None:
            others = nw.max_horizontal(*(one for k, one in enumerate(scores) if k != place))
            kept = kept & (highest - others >= wanted.lead)
    return highest, kept


def _is_actual(sample: Sample, name: str | None) -> nw.Expr:
    """The rows of the class that is asked for, or all."""
    if name is None:
        return ~nw.col(sample.roles.truth).is_null()
    if name not in sample.classes:
        raise _unknown("class", name, sample.classes)
    place = sample.classes.index(name)
    values = [value for value, k in sample.labels.items() if k == place]
    return label(sample.source.frame, sample.roles.truth).is_in(values)


def _in_cell(sample: Sample, cell: str, positive: str | None, flags: Callable[[str], nw.Expr]) -> nw.Expr:
    """The rows of an outcome, by what flags a case as one of the positive class."""
    if cell not in CELLS:
        raise _unknown("outcome", cell, CELLS)
    if positive is None:
        raise DataError("an outcome needs a positive class.", hint='positive="…"')
    (is_positive, is_flagged), actual, flagged = CELLS[cell], _is_actual(sample, positive), flags(positive)
    return (actual if is_positive else ~actual) & (flagged if is_flagged else ~flagged)


def _unknown(what: str, name: str, known: Any) -> DataError:
    near = nearest(name, known)
    return DataError(f"there is no {what} {name!r}.", seen=listing(known), hint=near or next(iter(known), None))

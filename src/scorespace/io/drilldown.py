"""Rows behind a count: one cell of a confusion matrix, a decided class, or a range of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import narwhals as nw

from scorespace.errors import DataError, closest_name, listing
from scorespace.io.column_values import as_label, as_number, has_single_precision
from scorespace.io.derived_scores import add_derived_scores
from scorespace.io.duckdb_engine import engine_errors, identifier, literal
from scorespace.io.read import FilteredData, read
from scorespace.io.roles import Roles
from scorespace.io.roles import resolve_roles as roles_of
from scorespace.io.source import Source
from scorespace.io.validation import Sample, validate
from scorespace.io.where import parse_condition
from scorespace.tables.columns import nearest_single
from scorespace.tables.labels import label_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

CELLS: Final = {"tp": (True, True), "fp": (False, True), "fn": (True, False), "tn": (False, False)}
"""For each cell of the confusion matrix: whether the case is positive, and whether it is predicted positive."""

_CHUNK_ROWS: Final = 2000
_PLAIN_TYPES: Final = ("VARCHAR", "BOOLEAN", "DOUBLE", "FLOAT", "BIGINT", "INTEGER", "SMALLINT", "TINYINT")


@dataclass(frozen=True)
class RowRequest:
    """Which rows to return: a confusion cell at a threshold, a true and a decided class, or a score range.

    For multiclass scores the class is written in brackets, nb[setosa]; `lead` is the smallest accepted margin between
    the highest and the second highest score.
    """

    model: str = ""
    cell: str = ""
    threshold: float | None = None
    actual: str | None = None
    decided: str | None = None
    lead: float | None = None
    low: float | None = None
    high: float | None = None
    hard: bool = False
    """Only errors, the largest first: far on the wrong side of the threshold, or far from the truth."""


@dataclass(frozen=True, eq=False)
class SelectedRows:
    """Selected rows by descending score: their number, and access in chunks.

    Each row has its row number in the file, from 1, and then all columns as written in the file.
    """

    columns: tuple[str, ...]
    total: int
    query: str = field(repr=False)
    connection: DuckDBPyConnection = field(repr=False)
    where: str = ""

    def first(self, most: int, skip: int = 0) -> list[tuple[Any, ...]]:
        """Return the first rows after the skipped ones, at most this many."""
        return self._run(f"{self.query} LIMIT {most:d} OFFSET {skip:d}").fetchall()

    def pieces(self) -> Iterator[list[tuple[Any, ...]]]:
        """Yield all rows in chunks."""
        result = self._run(self.query)
        while chunk := result.fetchmany(_CHUNK_ROWS):
            yield chunk

    def refined(self, search: str = "", sort: str = "", descending: bool = False) -> SelectedRows:
        """The rows that contain a text, in any column and any case, sorted by a column."""
        query = self.query
        if search:
            texts = ", ".join(f"CAST({identifier(name)} AS VARCHAR)" for name in self.columns)
            found = f"contains(lower(concat_ws(chr(10), {texts})), lower({literal(search)}))"
            query = f"SELECT * FROM ({query}) WHERE {found}"
        if sort:
            if sort not in self.columns:
                raise _unknown_name("column", sort, self.columns)
            order = "DESC" if descending else "ASC"
            number = f"TRY_CAST({identifier(sort)} AS DOUBLE) {order} NULLS LAST"
            query = f"SELECT * FROM ({query}) ORDER BY {number}, {identifier(sort)} {order} NULLS LAST"
        ((total,),) = self._run(f"SELECT count(*) FROM ({query})").fetchall()
        return replace(self, query=query, total=int(total))

    def _run(self, query: str) -> Any:
        with engine_errors(self.where):
            return self.connection.execute(query)


def list_models(path: str, roles: Mapping[str, Any]) -> list[str]:
    """Names of the models whose rows can be selected."""
    return _resolve_roles(read(path), {**roles, "where": None})[1].models


def _resolve_roles(source_of_all: Source, roles: Mapping[str, Any]) -> tuple[Source, Roles]:
    """Apply the row condition, and resolve the role of each column."""
    arguments = {name: value for name, value in roles.items() if name != "where"}
    filtered = source_of_all if roles.get("where") is None else read(FilteredData(source_of_all, roles["where"]))
    arguments["truth"] = arguments.get("truth") or ""
    source, arguments["scores"] = add_derived_scores(filtered, arguments["scores"], arguments["positive"])
    return source, roles_of(source, **arguments)


def validated_sample(source: Source, roles: Mapping[str, Any], missing: str = "error") -> Sample:
    """Validate the columns in these roles, as `evaluate` does before it computes."""
    return validate(*_resolve_roles(source, roles), missing=missing)


def select_rows(path: str, roles: Mapping[str, Any], request: RowRequest, missing: str = "error") -> SelectedRows:
    """Select the rows of a file behind a number; `roles` and `where` are the arguments of `evaluate`."""
    all_rows = read(path)
    sample = validated_sample(all_rows, roles, missing)
    source = sample.source
    if source.connection is None:
        raise DataError(
            f"{source.where} has columns whose names differ only in case, so rows cannot be selected.",
            hint="rename the columns",
        )
    score, is_selected = _row_filter(sample, request)
    flags: Any = source.frame.select((sample.used & is_selected).fill_null(False).alias("kept"), score.alias("score"))
    # Values as written in the file, such as 007.
    rows: Any = source.frame if source.as_text is None else source.as_text(source.columns)
    in_scope: Any = flags.select((~nw.col("kept").is_null()).alias("taken"))
    if roles.get("where") is not None:
        condition = parse_condition(roles["where"], all_rows.columns).on(dict(all_rows.frame.collect_schema()))
        in_scope = all_rows.frame.select(condition.alias("taken"))
    frames = {"given_rows": rows, "marked_rows": flags, "taken_rows": in_scope}
    return _build_query(source.connection, {name: frame.to_native() for name, frame in frames.items()}, source.where)


def _build_query(connection: DuckDBPyConnection, views: Mapping[str, DuckDBPyRelation], where: str) -> SelectedRows:
    """Build the query of the selected rows, sorted by descending score."""
    rows = views["given_rows"]
    with engine_errors(where):
        for name, relation in views.items():
            relation.create_view(name)
        columns = [(f"g.{identifier(name)}", str(kind)) for name, kind in zip(rows.columns, rows.types, strict=True)]
        ((total,),) = connection.execute("SELECT count(*) FROM marked_rows WHERE kept").fetchall()
    selection = [name if kind in _PLAIN_TYPES else f"CAST({name} AS VARCHAR)" for name, kind in columns]
    # Row numbers refer to the file, including rows that the condition excludes.
    row_numbers = "(SELECT place FROM (SELECT row_number() OVER () AS place, taken FROM taken_rows) WHERE taken)"
    query = (
        f"SELECT n.place, {', '.join(selection)} FROM given_rows AS g POSITIONAL JOIN marked_rows AS m "
        f"POSITIONAL JOIN {row_numbers} AS n WHERE m.kept ORDER BY m.score DESC, n.place"
    )
    return SelectedRows(tuple(rows.columns), int(total), query, connection, where)


def _row_filter(sample: Sample, request: RowRequest) -> tuple[nw.Expr, nw.Expr]:
    """Return the sort score and the filter expression of the requested rows."""
    roles = sample.roles
    model, _, class_name = request.model.partition("[") if request.model.endswith("]") else (request.model, "", "")
    if request.model in roles.models:
        model, class_name = request.model, ""
    positive = sample.positive_name
    if model in roles.class_scores:
        class_name = class_name.removesuffix("]") or positive or ""
        if class_name:
            if class_name not in roles.class_scores[model]:
                raise _unknown_name("class", class_name, roles.class_scores[model])
            return _filter_by_score(sample, roles.class_scores[model][class_name], class_name, request)
        return _filter_by_class_scores(sample, model, request)
    if model in roles.decisions:
        return _filter_by_decision(sample, as_label(sample.source.frame, roles.decisions[model]), positive, request)
    if model in roles.scores:
        return _filter_by_score(sample, roles.scores[model], positive, request)
    if model in roles.numbers:
        predicted, selected = _filter_by_score(sample, roles.numbers[model][1], None, replace(request, hard=False))
        return (as_number(roles.truth) - predicted).abs() if request.hard and roles.truth else predicted, selected
    raise _unknown_name("model", model, roles.models)


def _filter_by_score(sample: Sample, column: str, positive: str | None, request: RowRequest) -> tuple[nw.Expr, nw.Expr]:
    """Rows in a confusion cell at a threshold, and with scores in a closed range."""
    score, threshold = as_number(column), request.threshold
    if threshold is not None and has_single_precision(sample.source, [column]):
        threshold = float(nearest_single(threshold))
    selected: nw.Expr = nw.lit(True)
    if request.low is not None:
        selected = selected & (score >= request.low)
    if request.high is not None:
        selected = selected & (score <= request.high)
    if request.cell:
        if request.threshold is None:
            raise DataError("a confusion cell needs a threshold.", hint="threshold=0.5")
        selected = selected & _in_confusion_cell(sample, request.cell, positive, lambda _: score >= threshold)
    if request.hard:
        if threshold is None or positive is None:
            raise DataError("hard cases need a threshold and a positive class.", hint="threshold=0.5")
        is_positive = _has_truth(sample, positive)
        selected = selected & (is_positive != (score >= threshold))
        score = nw.when(is_positive).then(threshold - score).otherwise(score - threshold)
    return score, selected


def _filter_by_decision(
    sample: Sample, decision: nw.Expr, positive: str | None, request: RowRequest
) -> tuple[nw.Expr, nw.Expr]:
    """Rows of a true class with a given decision; decisions have no score, so rows keep their order."""
    frame = sample.frame
    groups = frame.select(decision.alias("label")).group_by("label").agg(rows=nw.len())
    values = sample.source.arrays(groups)["label"].tolist()

    def decides_for(name: str) -> nw.Expr:
        return decision.is_in([value for value in values if label_text(value) == name])

    selected = _has_truth(sample, request.actual)
    if request.cell:
        selected = _in_confusion_cell(sample, request.cell, positive, decides_for)
    elif request.decided is not None:
        selected = selected & decides_for(request.decided)
    elif request.hard:
        for name in sample.classes:
            selected = selected & ~(_has_truth(sample, name) & decides_for(name))
    return nw.lit(0.0), selected


def _filter_by_class_scores(sample: Sample, model: str, request: RowRequest) -> tuple[nw.Expr, nw.Expr]:
    """Rows of a true class for which a class has the highest score; ties go to the first class."""
    by_class = sample.roles.class_scores[model]
    classes = sample.with_classes(by_class)
    scores = [as_number(by_class[name]) for name in classes]
    highest = nw.max_horizontal(*scores)
    selected = _has_truth(sample, request.actual)
    if request.decided is not None:
        if request.decided not in classes:
            raise _unknown_name("class", request.decided, classes)
        index = classes.index(request.decided)
        selected = selected & (scores[index] == highest)
        for earlier in scores[:index]:
            selected = selected & (earlier < highest)
        if request.lead is not None:
            others = nw.max_horizontal(*(score for k, score in enumerate(scores) if k != index))
            selected = selected & (highest - others >= request.lead)
    elif request.hard:
        for name, score in zip(classes, scores, strict=True):
            if name in sample.classes:
                selected = selected & ~(_has_truth(sample, name) & (score == highest))
    return highest, selected


def _has_truth(sample: Sample, name: str | None) -> nw.Expr:
    """Filter for rows of a true class, or all rows."""
    if name is None:
        return ~nw.col(sample.roles.truth).is_null()
    if name not in sample.classes:
        raise _unknown_name("class", name, sample.classes)
    index = sample.classes.index(name)
    values = [value for value, k in sample.labels.items() if k == index]
    return as_label(sample.source.frame, sample.roles.truth).is_in(values)


def _in_confusion_cell(sample: Sample, cell: str, positive: str | None, predicts: Callable[[str], nw.Expr]) -> nw.Expr:
    """Rows in a cell of the confusion matrix; `predicts` gives the filter for predictions of a class."""
    if cell not in CELLS:
        raise _unknown_name("confusion cell", cell, CELLS)
    if positive is None:
        raise DataError("a confusion cell needs a positive class.", hint='positive="…"')
    (is_positive, is_predicted), actual, predicted = CELLS[cell], _has_truth(sample, positive), predicts(positive)
    return (actual if is_positive else ~actual) & (predicted if is_predicted else ~predicted)


def _unknown_name(what: str, name: str, known: Any) -> DataError:
    suggestion = closest_name(name, known)
    return DataError(f"there is no {what} {name!r}.", seen=listing(known), hint=suggestion or next(iter(known), None))

"""Validate the columns of each role in one pass over the rows, and count the classes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, PositiveError, ScoreError, WeightError, listing
from scorespace.io.column_values import as_label, as_number, is_missing_value, refuse_nested, refuse_text, sample_values
from scorespace.io.roles import Roles
from scorespace.io.source import Frame, Source, no_rows_error
from scorespace.results import Note, count_noun, grouped, note
from scorespace.tables.columns import MAX_EXACT_INTEGER, MAX_MAGNITUDE, MIN_MAGNITUDE
from scorespace.tables.labels import class_ranks, label_text, natural_order, positive_error, positive_index

MAX_CLASSES = 1000
MAX_SCORE = 1e150
# Scores are squared at most once, errors of predictions twice.
_MAX_MAGNITUDE = {
    **dict.fromkeys(("score", "weight", "ranked"), (MAX_SCORE, "1e150")),
    **dict.fromkeys(("number", "cost", "value"), (MAX_MAGNITUDE, "1e70")),
}
_NUMERIC_ROLES = ("score", "number", "weight", "cost", "value", "ranked")
_CLASS_HINT = "truth=… a column of labels, or predictions=… for regression models"
_MAX_COLUMNS_LISTED = 5  # of those with missing values
# A single label of these implies an absent positive class 1 or True.
_NEGATIVE_ONLY_LABELS = ("0", "-1", "False")


@dataclass(frozen=True, eq=False)
class Sample:
    """A validated source: its roles, the rows in use, and the classes of the truth.

    `positive` is the index of the positive class; None if each class is evaluated in turn, or if the positive class is
    implied but absent. `labels` maps values of the truth column, as the engine holds them, to class indices.
    """

    source: Source
    roles: Roles
    rows: int
    dropped: int
    classes: tuple[str, ...]
    class_counts: tuple[int, ...]
    positive: int | None
    inferred: bool
    notes: tuple[Note, ...]
    labels: Mapping[Any, int] = field(repr=False)
    kept: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    """Cache of the class indices of the rows in use, since reading a file again takes long."""

    @property
    def positive_name(self) -> str | None:
        return None if self.positive is None else self.classes[self.positive]

    def with_classes(self, further: Iterable[str]) -> tuple[str, ...]:
        """Classes followed by labels that only models know, so that class indices stay valid."""
        return tuple(dict.fromkeys([*self.classes, *further]))

    @property
    def used(self) -> nw.Expr:
        """Whether a row of the source is in use."""
        has_all_values, weight = is_complete(self.source.frame, self.roles), self.roles.weight
        return has_all_values if weight is None else has_all_values & (as_number(weight) != 0).fill_null(False)

    @property
    def frame(self) -> Frame:
        """Rows in use: without weight 0, and without missing values if these are dropped."""
        return _used_rows(self.source.frame, self.roles, self.dropped)


@dataclass(frozen=True)
class CountedRows:
    """Row and label counts from an earlier pass that found all values valid.

    `records` counts all rows, `used` those with a weight.
    """

    records: int
    used: int
    labels: Mapping[Any, int]


def validate(
    source: Source, roles: Roles, missing: str = "error", order: Sequence[Any] = (), seen: CountedRows | None = None
) -> Sample:
    """Validate a source: count its rows, list its classes and find the positive class.

    `order` lists ordinal classes from lowest to highest. `seen` holds counts of an earlier pass, which saves this one.

    >>> from scorespace.io import read, resolve_roles
    >>> source = read({"outcome": ["bad", "good", "bad"], "nb": [0.7, 0.2, 0.4]})
    >>> sample = validate(source, resolve_roles(source, truth="outcome", scores="nb", positive="bad"))
    >>> sample.classes, sample.class_counts, sample.positive
    (('bad', 'good'), (2, 1), 0)
    """
    check_missing(missing)
    refuse_wrong_kinds(source, roles)
    if seen is None:
        problems = _count_problems(source, roles)
    else:
        problems = Counter(records=seen.records, rows=seen.used, complete=seen.used)
    source.accounts_for(problems["records"])
    if not problems["records"]:
        raise no_rows_error(source.where)
    if not problems["rows"]:
        raise WeightError(
            f"all weights in column {roles.weight!r} are zero, so there is nothing to evaluate.",
            seen=count_noun(problems["records"], "row"),
            hint="use weights ≥ 0; weight 0 excludes a case",
        )
    long_columns = [column for _, column in roles.columns() if problems[f"long {column}"]]
    if long_columns:
        source = source.written_out(long_columns)
    missing_counts = {column: problems[f"missing {column}"] for role, column in roles.columns() if role != "ranked"}
    dropped = problems["rows"] - problems["complete"]
    refuse_empty_costs(source, roles, missing_counts)
    missing_notes = note_missing_values(missing_counts, problems["rows"], dropped, missing)
    _refuse_wrong_values(source, roles, problems)
    rows_by_label: Mapping[Any, int] = {}
    rows_by_class: dict[str, int] = {}
    positive, inferred = None, False
    if not roles.numbers:
        rows_by_label = _count_labels(source, roles, dropped) if seen is None else seen.labels
        rows_by_class = _count_classes(rows_by_label, roles.truth)
        if set(rows_by_class) < set(roles.known):
            rows_by_class = {name: rows_by_class.get(name, 0) for name in sorted(roles.known, key=natural_order)}
        if order:
            rows_by_class = {name: rows_by_class.get(name, 0) for name in class_ranks(order, tuple(rows_by_class))}
        roles = _resolve_patterns(roles, tuple(rows_by_class), ordered=bool(order))
        positive, inferred = _find_positive(rows_by_class, roles)
        _refuse_unscored_classes(rows_by_class, roles)
    classes = tuple(rows_by_class)
    index_by_class = {name: k for k, name in enumerate(classes)}
    labels = {value: index_by_class[label_text(value)] for value in rows_by_label}
    notes = [*source.notes]
    if unweighted := problems["records"] - problems["rows"]:
        verb = "has weight 0 and is" if unweighted == 1 else "have weight 0 and are"
        notes.append(
            note("SS006", f"{grouped(unweighted)} of {count_noun(problems['records'], 'row')} {verb} excluded.")
        )
    notes += missing_notes
    if inferred and positive is not None:
        basis = f"label {classes[0]}" if len(classes) == 1 else f"labels {classes[0]} and {classes[1]}"
        notes.append(note("SS010", f"positive = {classes[positive]}, inferred from the {basis}."))
    rows, class_sizes = problems["complete"], tuple(rows_by_class.values())
    return Sample(source, roles, rows, dropped, classes, class_sizes, positive, inferred, tuple(notes), labels)


def check_missing(missing: str) -> None:
    """Refuse an unknown treatment of missing values."""
    if missing not in ("error", "drop"):
        raise DataError(f"missing={missing!r} is not a treatment of missing values.", hint='missing="error" or "drop"')


def is_complete(frame: Frame, roles: Roles) -> nw.Expr:
    """Whether a row has a value in every role; a document without a score was not returned."""
    schema = frame.collect_schema()
    is_missing = [is_missing_value(column, schema[column]) for role, column in roles.columns() if role != "ranked"]
    return ~nw.any_horizontal(*is_missing, ignore_nulls=True)


def refuse_empty_costs(source: Source, roles: Roles, gaps: Mapping[str, int]) -> None:
    """Refuse a column of costs that has no value for the cases of one class: it is known only after the outcome."""
    frame = source.frame
    schema = frame.collect_schema()
    for column in () if roles.costs is None else roles.costs.columns:
        if not gaps[column]:
            continue
        flags = frame.select(
            as_label(frame, roles.truth).alias("label"),
            (~is_missing_value(column, schema[column])).cast(nw.Int64).alias("known"),
        )
        counts = source.arrays(flags.group_by("label").agg(known=nw.col("known").sum()))
        for label, known in zip(counts["label"].tolist(), counts["known"].tolist(), strict=True):
            if not known and label is not None:
                raise ColumnError(
                    f"the cost column {column!r} is empty for every case of class {label_text(label)!r}.",
                    seen="a value that exists only after the outcome cannot decide on a case",
                    hint="a cost that is known for every case, or one number for all of them",
                )


def sort_labels(labels: Sequence[Any]) -> list[Any]:
    """Sort labels: numbers numerically, text in natural order.

    >>> sort_labels([10, 9.0]), sort_labels(["b", "a"])
    ([9.0, 10], ['a', 'b'])
    """
    return sorted(labels) if _are_numbers(labels) else sorted(labels, key=lambda one: natural_order(label_text(one)))


def too_many_labels_error(column: str, labels: Sequence[Any], hint: str) -> ColumnError:
    """Error for a column with more distinct values than classes are supported."""
    kind = "a number" if _are_numbers(labels) else "a name or free text"
    examples = ", ".join(map(label_text, sort_labels(labels)[:3]))
    seen = f"more than {grouped(MAX_CLASSES)} distinct values, such as {examples}"
    return ColumnError(f"column {column!r} looks like {kind}, not a class.", seen=seen, hint=hint)


def _fractional_class_error(column: str, examples: Sequence[str], hint: str) -> ColumnError:
    seen = f"values such as {', '.join(examples)}"
    return ColumnError(f"column {column!r} looks like a number, not a class.", seen=seen, hint=hint)


def _are_numbers(labels: Sequence[Any]) -> bool:
    return all(isinstance(label, (int, float)) for label in labels)


def _used_rows(frame: Frame, roles: Roles, dropped: int) -> Frame:
    used = _has_weight(roles)
    frame = frame if used is None else frame.filter(used)
    return frame.filter(is_complete(frame, roles)) if dropped else frame


def _has_weight(roles: Roles) -> nw.Expr | None:
    """Whether a row has a nonzero weight; missing weights pass, to be reported later."""
    return None if roles.weight is None else (as_number(roles.weight) != 0).fill_null(True)


def _may_lose_digits(kind: nw.dtypes.DType) -> bool:
    """Whether integers of this type may exceed the precision of NumPy's types."""
    return kind.is_float() or kind.is_decimal() or kind in (nw.Int128, nw.UInt128)


def _count_true(flag: nw.Expr) -> nw.Expr:
    """Number of rows for which a flag holds; Spark sums only numbers."""
    return flag.cast(nw.Int64).sum()


def _count_problems(source: Source, roles: Roles) -> Counter[str]:
    """Count rows, missing and invalid values of every role in one pass."""
    frame = source.frame
    schema = frame.collect_schema()
    used = _has_weight(roles)
    # The flag is stored as a column of a unique name, or each count would recompute it from all columns.
    flag_column = "ok".ljust(1 + max(map(len, source.columns)), "_")
    is_valid_row = is_complete(frame, roles) if used is None else is_complete(frame, roles) & used
    is_valid = nw.col(flag_column)
    aggregates = {
        "records": nw.len(),
        "rows": nw.len() if used is None else _count_true(used),
        "complete": _count_true(is_valid),
    }
    for role, column in roles.columns():
        kind = schema[column]
        absent = is_missing_value(column, kind)
        aggregates[f"missing {column}"] = _count_true(absent if used is None else absent & used)
        if role in _NUMERIC_ROLES:
            counted = is_valid & ~absent if role == "ranked" else is_valid
            aggregates[f"infinite {column}"] = _count_true((as_number(column).abs() == math.inf) & counted)
            aggregates[f"huge {column}"] = _count_true((as_number(column).abs() > _MAX_MAGNITUDE[role][0]) & counted)
            if role == "score" and (_may_lose_digits(kind) or kind in (nw.Int64, nw.UInt64)):
                aggregates[f"rounded {column}"] = _count_true((as_number(column).abs() >= MAX_EXACT_INTEGER) & is_valid)
        elif _may_lose_digits(kind):
            aggregates[f"long {column}"] = _count_true(as_number(column).abs() >= MAX_EXACT_INTEGER)
        if role in ("number", "value"):
            largest = as_number(column).abs().max()
            aggregates[f"tiny {column}"] = (largest > 0) & (largest < MIN_MAGNITUDE)
        if role == "weight":
            aggregates[f"negative {column}"] = _count_true((as_number(column) < 0) & is_valid)
            aggregates[f"light {column}"] = _count_true(
                (as_number(column) > 0) & (as_number(column) < MIN_MAGNITUDE) & is_valid
            )
            # Divided by the bound first, so that the sum cannot overflow.
            aggregates[f"heavy {column}"] = (as_number(column) / MAX_EXACT_INTEGER).sum() >= 1
        if role in ("truth", "decision") and (kind.is_float() or kind.is_decimal()):
            aggregates[f"fractional {column}"] = _count_true(
                (as_number(column) != as_number(column).floor()) & is_valid
            )
            aggregates[f"infinite {column}"] = _count_true((as_number(column).abs() == math.inf) & is_valid)
    return Counter(replace(source, frame=frame.with_columns(is_valid_row.alias(flag_column))).counts(**aggregates))


def refuse_wrong_kinds(source: Source, roles: Roles) -> None:
    """Refuse columns whose type does not fit their role."""
    schema = source.frame.collect_schema()
    starred = {column for columns in roles.starred.values() for column in columns.values()}
    for role, column in roles.columns():
        kind = schema[column]
        if role in _NUMERIC_ROLES:
            refuse_text(source, column, kind, role, starred=column in starred)
        if role not in ("score", "weight", "cost", "value", "ranked"):
            refuse_nested(column, kind, "classes" if role in ("truth", "decision") else f"{role}s")


def _refuse_wrong_values(source: Source, roles: Roles, problems: Counter[str]) -> None:
    """Refuse infinite, huge, tiny, negative or fractional values where the role does not allow them."""
    of_all = f"of {count_noun(problems['complete'], 'row')}"
    for role, column in roles.columns():
        infinite, negative = problems[f"infinite {column}"], problems[f"negative {column}"]
        if role in ("truth", "decision") and infinite:
            raise ColumnError(
                f"column {column!r} holds infinite values, not classes.",
                seen=f"{grouped(infinite)} {of_all}",
                hint="use one label per case",
            )
        if role in ("score", "number", "cost", "value", "ranked") and infinite:
            raise ScoreError(
                f"column {column!r} has infinite {role}s.",
                seen=f"{grouped(infinite)} {of_all}",
                hint=f"replace them by a number beyond the largest finite {role}",
            )
        if role in ("score", "number", "cost", "value", "ranked") and problems[f"huge {column}"]:
            raise ScoreError(
                f"column {column!r} has {role}s beyond {_MAX_MAGNITUDE[role][1]}, whose squares would overflow.",
                seen=f"{grouped(problems[f'huge {column}'])} {of_all}",
                hint=f"divide all {role}s by the same number, or take logarithms",
            )
        if problems[f"rounded {column}"]:
            _refuse_scores_equal_as_doubles(source, column)
        if problems[f"tiny {column}"]:
            raise ScoreError(
                f"column {column!r} has only {role}s below 1e-70, whose squares would underflow.",
                seen=count_noun(problems["complete"], "row"),
                hint=f"multiply all {role}s by the same number",
            )
        if problems[f"heavy {column}"] and not negative and not infinite:
            raise WeightError(
                f"the weights in column {column!r} add up to more than doubles count exactly.",
                seen="a sum above 9 007 199 254 740 992 (2^53)",
                hint="divide all weights by the same number",
            )
        if negative or infinite:
            raise WeightError(
                f"column {column!r} has {'negative' if negative else 'infinite'} weights.",
                seen=f"{grouped(negative or infinite)} {of_all}",
                hint="use weights ≥ 0; weight 0 excludes a case",
            )
        if problems[f"light {column}"]:
            raise WeightError(
                f"the weights in column {column!r} are too small: their products would underflow.",
                seen=f"{grouped(problems[f'light {column}'])} {of_all} between 0 and 1e-70",
                hint="multiply all weights by the same number, or set these to 0",
            )
        if problems[f"fractional {column}"]:
            hint = f'scores="{column}"' if role == "decision" else _CLASS_HINT
            raise _fractional_class_error(column, sample_values(source, column), hint)


def _refuse_scores_equal_as_doubles(source: Source, column: str) -> None:
    """Refuse scores that differ as integers but are equal as doubles, which would create ties."""
    whole_numbers = nw.col(column).str.contains("^[-+]?[0-9]+$")
    long_scores = source.written_out([column]).filtered((as_number(column).abs() >= MAX_EXACT_INTEGER) & whole_numbers)
    n_integers, n_doubles = long_scores.counts(
        integers=nw.col(column).n_unique(), doubles=as_number(column).n_unique()
    ).values()
    if n_doubles < n_integers:
        raise ScoreError(
            f"column {column!r} has integer scores that are equal as doubles.",
            seen=f"{grouped(n_integers)} distinct integers above 2^53, {grouped(n_doubles)} distinct doubles",
            hint="subtract the same number from all scores, or use ranks",
        )


def note_missing_values(gaps: Mapping[str, int], rows: int, dropped: int, missing: str) -> tuple[Note, ...]:
    """Note on rows dropped for missing values, by column; an error if dropping is not allowed or leaves nothing."""
    incomplete = {column: count for column, count in gaps.items() if count}
    if not incomplete:
        return ()
    listed = ", ".join(
        f"{column!r} ({grouped(count)})" for column, count in list(incomplete.items())[:_MAX_COLUMNS_LISTED]
    )
    if missing == "error" or dropped == rows:
        *first_columns, last = map(repr, incomplete)
        which = f"columns {', '.join(first_columns)} and {last} have" if first_columns else f"column {last} has"
        which = which if len(incomplete) <= _MAX_COLUMNS_LISTED else f"{grouped(len(incomplete))} columns have"
        hint = "fill the missing values" if dropped == rows else f'missing="drop" drops {count_noun(dropped, "row")}'
        raise DataError(f"{which} missing values.", seen=f"{listed} of {count_noun(rows, 'row')}", hint=hint)
    share = f"{grouped(dropped)} of {grouped(rows)} rows {'was' if dropped == 1 else 'were'}"
    text = f"{share} dropped because of missing values in {listed}."
    return (note("SS009", text, rows=rows, dropped=dropped, missing=incomplete),)


def _count_labels(source: Source, roles: Roles, dropped: int) -> dict[Any, int]:
    """Rows of each label, stopping after the maximum number of classes."""
    frame = _used_rows(source.frame, roles, dropped)
    labels = frame.select(as_label(frame, roles.truth).alias("label"))
    counted = source.arrays(labels.group_by("label").agg(rows=nw.len()).head(MAX_CLASSES + 1))
    return dict(zip(counted["label"].tolist(), counted["rows"].tolist(), strict=True))


def _count_classes(rows_by_label: Mapping[Any, int], truth: str) -> dict[str, int]:
    """Rows of each class by name."""
    values = list(rows_by_label)
    if len(values) > MAX_CLASSES:
        raise too_many_labels_error(
            truth, values, _CLASS_HINT if _are_numbers(values) else "truth=… a column of labels"
        )
    fractions = [label_text(value) for value in values if isinstance(value, float) and not value.is_integer()]
    if fractions:  # in columns of objects or categories, which the first pass does not check
        raise _fractional_class_error(truth, fractions[:3], _CLASS_HINT)
    rows_by_class = dict.fromkeys(map(label_text, sort_labels(values)), 0)
    for value, count in rows_by_label.items():
        rows_by_class[label_text(value)] += int(count)
    return rows_by_class


def _resolve_patterns(roles: Roles, classes: tuple[str, ...], ordered: bool) -> Roles:
    """Treat columns matched by a pattern as separate models where its star matches no class."""
    scores, class_scores = dict(roles.scores), dict(roles.class_scores)
    for model, columns in roles.starred.items():
        matches = class_scores[model]
        if len(classes) > 2 or ordered:
            continue
        if not set(matches) & set(classes):
            twice = next((name for name in columns if name in scores), None)
            if twice is not None:
                raise ColumnError(f"model {twice!r} is named twice.", hint="a name for each model")
            scores |= columns
            del class_scores[model]
        elif roles.positive is not None and set(classes) < set(matches):
            not_classes = [name for name in matches if name not in classes]
            quoted = ", ".join(f'"{column}"' for column in matches.values())
            raise ColumnError(
                f"the columns of {model!r} may be class scores of one model, or several models.",
                seen=f"columns for the classes {listing(classes)}, and for {listing(not_classes)}",
                hint=f'order="{",".join(matches)}" if all are classes; if they are models, scores=[{quoted}]',
            )
    return replace(roles, scores=scores, class_scores=class_scores)


def _refuse_unscored_classes(classes: Iterable[str], roles: Roles) -> None:
    """Refuse multiclass scores that lack a class of the truth; scores of absent classes are fine."""
    for model, by_class in roles.class_scores.items():
        absent = [name for name in classes if name not in by_class]
        if absent:
            raise ColumnError(
                f"model {model!r} has no score for the class {absent[0]!r}.",
                seen=f"scores for {listing(by_class)}",
                hint="add a score column for each class of the truth",
            )


def _find_positive(counts: Mapping[str, int], roles: Roles) -> tuple[int | None, bool]:
    """Index of the positive class, and whether it was inferred."""
    classes, stated = tuple(counts), roles.positive
    is_multiclass = any(len(by_class) > 2 for by_class in roles.class_scores.values())
    if stated is None and is_multiclass and not roles.scores:
        return None, False  # a scored class is absent, so labels 0 and 1 imply no positive class
    if stated is None and {name.casefold() for name in classes} == {"true", "false"}:
        stated = "true"  # booleans written as text
    try:
        return positive_index(classes, stated), roles.positive is None
    except PositiveError:
        if roles.positive is None and (not roles.scores or (len(classes) == 1 and classes[0] in _NEGATIVE_ONLY_LABELS)):
            return None, False
        # Most frequent class first.
        names = sorted(classes, key=lambda name: -counts[name])
        rows = [counts[name] for name in names]
        raise positive_error(names, roles.positive, rows, f"column {roles.truth!r}") from None

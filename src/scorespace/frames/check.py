"""Is every role fit for its use: one pass over the rows, one count of the classes, and clear complaints."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import narwhals as nw
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, PositiveError, ScoreError, WeightError, listing
from scorespace.frames.roles import Roles
from scorespace.frames.source import Frame, Source, no_rows
from scorespace.frames.values import gap, label, number, refuse_nested, refuse_text, some_values
from scorespace.frozen import dataclass
from scorespace.results import Note, grouped, note, so_many
from scorespace.tables.columns import LEAST_SIZE, MOST_EXACT, MOST_SIZE
from scorespace.tables.labels import label_text, natural_order, places_in, positive_error, positive_index

MOST_CLASSES = 1000
MOST_SCORE = 1e150
# Scores are squared at most, errors of predicted numbers squared twice.
_MOST = {"score": (MOST_SCORE, "1e150"), "weight": (MOST_SCORE, "1e150"), "number": (MOST_SIZE, "1e70")}
_NO_CLASS = "truth=… a column of labels; predictions=… for models of numbers"
_NAMED = 5  # columns with missing values that are named
# Alone, these labels imply the absent positive class 1 or True.
_NEGATIVES = ("0", "-1", "False")


@dataclass(frozen=True, eq=False)
class Sample:
    """A checked source: its roles, the rows in use, and the classes of the truth.

    `positive` is the index of the positive class; None when each class takes its turn, or when the
    positive class is known by its opposite but absent. `labels` maps the values of the truth column,
    as the engine holds them, to their class.
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
    """The classes of the rows in use once they are read, for whoever asks next: a pass over a file takes long."""

    @property
    def positive_name(self) -> str | None:
        return None if self.positive is None else self.classes[self.positive]

    def with_classes(self, further: Iterable[str]) -> tuple[str, ...]:
        """The classes, and labels that models alone know: these last, so that the places of classes hold for all."""
        return tuple(dict.fromkeys([*self.classes, *further]))

    @property
    def used(self) -> nw.Expr:
        """Whether a row of the source is in use."""
        whole, weight = complete(self.source.frame, self.roles), self.roles.weight
        return whole if weight is None else whole & (number(weight) != 0).fill_null(False)

    @property
    def frame(self) -> Frame:
        """The rows in use: those of weight 0 are absent, and those with missing values when dropped."""
        return _in_use(self.source.frame, self.roles, self.dropped)


@dataclass(frozen=True)
class Seen:
    """What a pass that had another aim found on its way, where all was in order: the rows, and those of each label.

    `records` counts all rows, `used` those that have a weight.
    """

    records: int
    used: int
    labels: Mapping[Any, int]


def check(
    source: Source, roles: Roles, missing: str = "error", order: Sequence[Any] = (), seen: Seen | None = None
) -> Sample:
    """The sample of a source: its rows counted, its classes listed, its positive class found.

    `order` lists the classes from the lowest to the highest, where they have an order.
    `seen` spares the passes that look for what is not in order.

    >>> from scorespace.frames import read, roles
    >>> source = read({"outcome": ["bad", "good", "bad"], "nb": [0.7, 0.2, 0.4]})
    >>> sample = check(source, roles(source, truth="outcome", scores="nb", positive="bad"))
    >>> sample.classes, sample.class_counts, sample.positive
    (('bad', 'good'), (2, 1), 0)
    """
    check_missing(missing)
    refuse_wrong_kinds(source, roles)
    if seen is None:
        found = _survey(source, roles)
    else:
        found = Counter(records=seen.records, rows=seen.used, complete=seen.used)
    source.accounts_for(found["records"])
    if not found["records"]:
        raise no_rows(source.where)
    if not found["rows"]:
        raise WeightError(
            f"all weights in column {roles.weight!r} are zero: there is nothing to evaluate.",
            seen=so_many(found["records"], "row"),
            hint="weights ≥ 0; weight 0 leaves a case out",
        )
    long = [column for _, column in roles.columns() if found[f"long {column}"]]
    if long:
        source = source.written_out(long)
    gaps = {column: found[f"missing {column}"] for _, column in roles.columns()}
    dropped = found["rows"] - found["complete"]
    told = told_gaps(gaps, found["rows"], dropped, missing)
    _refuse_wrong_values(source, roles, found)
    counted: Mapping[Any, int] = {}
    counts: dict[str, int] = {}
    positive, inferred = None, False
    if not roles.numbers:
        counted = _labels(source, roles, dropped) if seen is None else seen.labels
        counts = _classes(counted, roles.truth)
        if set(counts) < set(roles.known):
            counts = {name: counts.get(name, 0) for name in sorted(roles.known, key=natural_order)}
        if order:
            counts = {name: counts.get(name, 0) for name in places_in(order, tuple(counts))}
        roles = _told_apart(roles, tuple(counts), ordered=bool(order))
        positive, inferred = _positive(counts, roles)
        _refuse_absent_classes(counts, roles)
    classes = tuple(counts)
    places = {name: k for k, name in enumerate(classes)}
    labels = {value: places[label_text(value)] for value in counted}
    notes = [*source.notes]
    if idle := found["records"] - found["rows"]:
        weigh = "weighs nothing and is" if idle == 1 else "weigh nothing and are"
        notes.append(note("SS006", f"{grouped(idle)} of {so_many(found['records'], 'row')} {weigh} not in use."))
    notes += told
    if inferred and positive is not None:
        shown = f"label {classes[0]}" if len(classes) == 1 else f"labels {classes[0]} and {classes[1]}"
        notes.append(note("SS010", f"positive = {classes[positive]}, inferred from the {shown}."))
    rows, each = found["complete"], tuple(counts.values())
    return Sample(source, roles, rows, dropped, classes, each, positive, inferred, tuple(notes), labels)


def check_missing(missing: str) -> None:
    """Refuse a word that does not say what becomes of missing values."""
    if missing not in ("error", "drop"):
        raise DataError(f"missing={missing!r} is not a way to treat missing values.", hint='missing="error" or "drop"')


def complete(frame: Frame, roles: Roles) -> nw.Expr:
    """Whether a row has a value in every role."""
    schema = frame.collect_schema()
    gaps = [gap(column, schema[column]) for _, column in roles.columns()]
    return ~nw.any_horizontal(*gaps, ignore_nulls=True)


def in_order(labels: Sequence[Any]) -> list[Any]:
    """The labels sorted: numbers numerically, everything else by its text, in which numbers count as such.

    >>> in_order([10, 9.0]), in_order(["b", "a"])
    ([9.0, 10], ['a', 'b'])
    """
    return sorted(labels) if _all_numbers(labels) else sorted(labels, key=lambda one: natural_order(label_text(one)))


def too_many_labels(column: str, labels: Sequence[Any], hint: str) -> ColumnError:
    """The error for a column with more distinct values than classes can be."""
    kind = "a number" if _all_numbers(labels) else "a name or free text"
    some = ", ".join(map(label_text, in_order(labels)[:3]))
    seen = f"more than {grouped(MOST_CLASSES)} distinct values, such as {some}"
    return ColumnError(f"column {column!r} looks like {kind}, not a class.", seen=seen, hint=hint)


def _not_whole(column: str, some: Sequence[str], hint: str) -> ColumnError:
    seen = f"values such as {', '.join(some)}"
    return ColumnError(f"column {column!r} looks like a number, not a class.", seen=seen, hint=hint)


def _all_numbers(labels: Sequence[Any]) -> bool:
    return all(isinstance(each, (int, float)) for each in labels)


def _in_use(frame: Frame, roles: Roles, dropped: int) -> Frame:
    used = _has_weight(roles)
    frame = frame if used is None else frame.filter(used)
    return frame.filter(complete(frame, roles)) if dropped else frame


def _has_weight(roles: Roles) -> nw.Expr | None:
    """Whether a row has a weight: one of weight 0 equals an absent row; a missing weight stays, to be reported."""
    return None if roles.weight is None else (number(roles.weight) != 0).fill_null(True)


def _loses_digits(kind: nw.dtypes.DType) -> bool:
    """Whether whole numbers of that kind may be longer than NumPy's numbers can hold."""
    return kind.is_float() or kind.is_decimal() or kind in (nw.Int128, nw.UInt128)


def _how_many(flag: nw.Expr) -> nw.Expr:
    """For how many rows it holds; Spark adds up numbers alone."""
    return flag.cast(nw.Int64).sum()


def _survey(source: Source, roles: Roles) -> Counter[str]:
    """All that is counted over the rows, in one pass: the records, and of those of a weight the rows and their gaps."""
    frame = source.frame
    schema = frame.collect_schema()
    used = _has_weight(roles)
    # In a column, which has a longer name than any other: each count would else look at all columns again.
    name = "ok".ljust(1 + max(map(len, source.columns)), "_")
    whole = complete(frame, roles) if used is None else complete(frame, roles) & used
    ok = nw.col(name)
    wanted = {"records": nw.len(), "rows": nw.len() if used is None else _how_many(used), "complete": _how_many(ok)}
    for role, column in roles.columns():
        kind = schema[column]
        absent = gap(column, kind)
        wanted[f"missing {column}"] = _how_many(absent if used is None else absent & used)
        if role in ("score", "number", "weight"):
            wanted[f"infinite {column}"] = _how_many((number(column).abs() == math.inf) & ok)
            wanted[f"huge {column}"] = _how_many((number(column).abs() > _MOST[role][0]) & ok)
            if role == "score" and (_loses_digits(kind) or kind in (nw.Int64, nw.UInt64)):
                wanted[f"rounded {column}"] = _how_many((number(column).abs() >= MOST_EXACT) & ok)
        elif _loses_digits(kind):
            wanted[f"long {column}"] = _how_many(number(column).abs() >= MOST_EXACT)
        if role == "number":
            largest = number(column).abs().max()
            wanted[f"tiny {column}"] = (largest > 0) & (largest < LEAST_SIZE)
        if role == "weight":
            wanted[f"negative {column}"] = _how_many((number(column) < 0) & ok)
            wanted[f"light {column}"] = _how_many((number(column) > 0) & (number(column) < LEAST_SIZE) & ok)
            # Each of them counted as at most a share of the bound, so that the sum cannot overflow.
            wanted[f"heavy {column}"] = (number(column) / MOST_EXACT).sum() >= 1
        if role in ("truth", "decision") and (kind.is_float() or kind.is_decimal()):
            wanted[f"fractional {column}"] = _how_many((number(column) != number(column).floor()) & ok)
            wanted[f"infinite {column}"] = _how_many((number(column).abs() == math.inf) & ok)
    return Counter(replace(source, frame=frame.with_columns(whole.alias(name))).counts(**wanted))


def refuse_wrong_kinds(source: Source, roles: Roles) -> None:
    """Refuse columns of a kind that their role cannot have."""
    schema = source.frame.collect_schema()
    starred = {column for columns in roles.starred.values() for column in columns.values()}
    for role, column in roles.columns():
        kind = schema[column]
        if role in ("score", "number", "weight"):
            refuse_text(source, column, kind, role, starred=column in starred)
        if role not in ("score", "weight"):
            refuse_nested(column, kind, "classes" if role in ("truth", "decision") else f"{role}s")


def _refuse_wrong_values(source: Source, roles: Roles, found: Counter[str]) -> None:
    of_all = f"of {so_many(found['complete'], 'row')}"
    for role, column in roles.columns():
        infinite, negative = found[f"infinite {column}"], found[f"negative {column}"]
        if role in ("truth", "decision") and infinite:
            raise ColumnError(
                f"column {column!r} holds infinite values, not classes.",
                seen=f"{grouped(infinite)} {of_all}",
                hint="one label for each case",
            )
        if role in ("score", "number") and infinite:
            raise ScoreError(
                f"column {column!r} has infinite {role}s.",
                seen=f"{grouped(infinite)} {of_all}",
                hint=f"replace them by a number beyond the largest finite {role}",
            )
        if role in ("score", "number") and found[f"huge {column}"]:
            raise ScoreError(
                f"column {column!r} has {role}s beyond {_MOST[role][1]}, whose squares cannot be added up.",
                seen=f"{grouped(found[f'huge {column}'])} {of_all}",
                hint=f"divide all {role}s by the same number, or take their logarithms",
            )
        if found[f"rounded {column}"]:
            _refuse_merged(source, column)
        if found[f"tiny {column}"]:
            raise ScoreError(
                f"column {column!r} has {role}s below 1e-70 alone, whose squares cannot be added up.",
                seen=so_many(found["complete"], "row"),
                hint=f"multiply all {role}s by the same number",
            )
        if found[f"heavy {column}"] and not negative and not infinite:
            raise WeightError(
                f"the weights in column {column!r} add up to more than can be counted.",
                seen="a sum above 9 007 199 254 740 992, from where doubles leave out numbers",
                hint="divide all weights by the same number",
            )
        if negative or infinite:
            raise WeightError(
                f"column {column!r} has {'negative' if negative else 'infinite'} weights.",
                seen=f"{grouped(negative or infinite)} {of_all}",
                hint="weights ≥ 0; weight 0 leaves a case out",
            )
        if found[f"light {column}"]:
            raise WeightError(
                f"the weights in column {column!r} are too small to be multiplied.",
                seen=f"{grouped(found[f'light {column}'])} {of_all} between 0 and 1e-70",
                hint="multiply all weights by the same number, or set these to 0",
            )
        if found[f"fractional {column}"]:
            hint = f'scores="{column}"' if role == "decision" else _NO_CLASS
            raise _not_whole(column, some_values(source, column), hint)


def _refuse_merged(source: Source, column: str) -> None:
    """Refuse scores that differ as whole numbers and not as doubles: they would be ties."""
    whole_numbers = nw.col(column).str.contains("^[-+]?[0-9]+$")
    long = source.written_out([column]).filtered((number(column).abs() >= MOST_EXACT) & whole_numbers)
    whole, told = long.counts(whole=nw.col(column).n_unique(), told=number(column).n_unique()).values()
    if told < whole:
        raise ScoreError(
            f"column {column!r} has scores that differ as whole numbers, and are the same as doubles.",
            seen=f"{grouped(whole)} distinct from 9 007 199 254 740 992 on; doubles tell {grouped(told)} apart",
            hint="subtract the same number from all scores, or take their ranks",
        )


def told_gaps(gaps: Mapping[str, int], rows: int, dropped: int, missing: str) -> tuple[Note, ...]:
    """The note on rows that are dropped for missing values, by column; refused where they must not be, or are all."""
    held = {column: count for column, count in gaps.items() if count}
    if not held:
        return ()
    told = ", ".join(f"{column!r} ({grouped(count)})" for column, count in list(held.items())[:_NAMED])
    if missing == "error" or dropped == rows:
        *most, last = map(repr, held)
        which = f"columns {', '.join(most)} and {last} have" if most else f"column {last} has"
        which = which if len(held) <= _NAMED else f"{grouped(len(held))} columns have"
        hint = "fill the missing values" if dropped == rows else f'missing="drop" leaves out {so_many(dropped, "row")}'
        raise DataError(f"{which} missing values.", seen=f"{told} of {so_many(rows, 'row')}", hint=hint)
    some = f"{grouped(dropped)} of {grouped(rows)} rows {'was' if dropped == 1 else 'were'}"
    return (note("SS009", f"{some} dropped for missing values in {told}."),)


def _labels(source: Source, roles: Roles, dropped: int) -> dict[Any, int]:
    """The rows of each label, those of the first only where they are too many."""
    frame = _in_use(source.frame, roles, dropped)
    labels = frame.select(label(frame, roles.truth).alias("label"))
    counted = source.arrays(labels.group_by("label").agg(rows=nw.len()).head(MOST_CLASSES + 1))
    return dict(zip(counted["label"].tolist(), counted["rows"].tolist(), strict=True))


def _classes(counted: Mapping[Any, int], truth: str) -> dict[str, int]:
    """The rows of each class, by its name."""
    values = list(counted)
    if len(values) > MOST_CLASSES:
        raise too_many_labels(truth, values, _NO_CLASS if _all_numbers(values) else "truth=… a column of labels")
    fractions = [label_text(value) for value in values if isinstance(value, float) and not value.is_integer()]
    if fractions:  # in a column of objects or categories, where the survey does not look
        raise _not_whole(truth, fractions[:3], _NO_CLASS)
    rows = dict.fromkeys(map(label_text, in_order(values)), 0)
    for value, count in counted.items():
        rows[label_text(value)] += int(count)
    return rows


def _told_apart(roles: Roles, classes: tuple[str, ...], ordered: bool) -> Roles:
    """The roles, with columns that a pattern took as scores of their own where its star stands for no class."""
    scores, of_classes = dict(roles.scores), dict(roles.class_scores)
    for model, columns in roles.starred.items():
        stars = of_classes[model]
        if len(classes) > 2 or ordered:
            continue
        if not set(stars) & set(classes):
            twice = next((name for name in columns if name in scores), None)
            if twice is not None:
                raise ColumnError(f"model {twice!r} is named twice.", hint="a name for each model")
            scores |= columns
            del of_classes[model]
        elif roles.positive is not None and set(classes) < set(stars):
            further = [name for name in stars if name not in classes]
            named = ", ".join(f'"{column}"' for column in stars.values())
            raise ColumnError(
                f"the columns of {model!r} may be scores of classes, or of several models.",
                seen=f"columns for {listing(classes)}, which are classes, and for {listing(further)}, which are none",
                hint=f'order="{",".join(stars)}" if all are classes; if they are models, scores=[{named}]',
            )
    return replace(roles, scores=scores, class_scores=of_classes)


def _refuse_absent_classes(classes: Iterable[str], roles: Roles) -> None:
    """Every class of the truth needs a score; scores of classes that never occur do no harm."""
    for model, by_class in roles.class_scores.items():
        absent = [name for name in classes if name not in by_class]
        if absent:
            raise ColumnError(
                f"model {model!r} has no score for the class {absent[0]!r}.",
                seen=f"scores for {listing(by_class)}",
                hint="one column for each class of the truth",
            )


def _positive(counts: Mapping[str, int], roles: Roles) -> tuple[int | None, bool]:
    """The index of the positive class, and whether it was inferred."""
    classes, wanted = tuple(counts), roles.positive
    several = any(len(by_class) > 2 for by_class in roles.class_scores.values())
    if wanted is None and several and not roles.scores:
        return None, False  # one of several scored classes is absent, and the labels 0 and 1 left mean nothing
    if wanted is None and {name.casefold() for name in classes} == {"true", "false"}:
        wanted = "true"  # booleans that a file could only write as text
    try:
        return positive_index(classes, wanted), roles.positive is None
    except PositiveError:
        if roles.positive is None and (not roles.scores or (len(classes) == 1 and classes[0] in _NEGATIVES)):
            return None, False
        # The commonest class first, as people look for it.
        names = sorted(classes, key=lambda name: -counts[name])
        rows = [counts[name] for name in names]
        raise positive_error(names, roles.positive, rows, f"column {roles.truth!r}") from None

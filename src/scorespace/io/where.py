"""Conditions on rows: a small grammar that is translated to Narwhals expressions for any engine.

    age >= 65 and sex = 'f'        ward in ('A', 'B') or not (score between 0.2 and 0.8)        "blood type" is missing

User text never reaches an engine. A row is included if the condition is true; comparisons with a missing value are
neither true nor false, as in SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import Any, Final, NoReturn

import narwhals as nw

from scorespace.errors import ColumnError, ScoreSpaceError, did_you_mean, listing
from scorespace.io.column_values import as_number, is_missing_value, refuse_nested
from scorespace.io.source import Source, no_rows_error
from scorespace.results import grouped, note
from scorespace.tables.columns import nearest_single
from scorespace.tables.labels import label_text

Schema = Mapping[str, nw.dtypes.DType]

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*')|(?P<name>"(?:[^"]|"")+"|`[^`]+`)"""
    r"""|(?P<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))|(?P<word>[^\W\d][\w.]*)"""
    r"""|(?P<sign><=|>=|!=|<>|==|[=<>(),])|(?P<other>\S))"""
)
_OPERATORS: Final = {"=": eq, "==": eq, "!=": ne, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_NEGATED: Final[Mapping[Any, Any]] = {eq: ne, ne: eq, lt: ge, ge: lt, gt: le, le: gt, and_: or_, or_: and_}
_KEYWORDS: Final = ("and", "or", "not", "in", "between", "is", "missing", "true", "false")
_QUOTES: Final = '"`'
_MAX_TOKENS: Final = 1000  # engines do not plan longer conditions
_MAX_DEPTH: Final = 50  # nested parentheses
_EXAMPLE: Final = "such as \"age >= 65 and sex = 'f'\""


class WhereError(ScoreSpaceError):
    """A condition that cannot be parsed, or does not fit the columns it names."""


@dataclass(frozen=True)
class ConditionToken:
    """A token of a condition: its kind, text and position, counted from 1."""

    kind: str
    text: str
    place: int

    @property
    def keyword(self) -> str:
        """The word in lower case, or the operator; empty for quoted names."""
        return self.text.casefold() if self.kind == "word" else self.text if self.kind == "sign" else ""


@dataclass(frozen=True)
class ColumnName:
    """A column in a condition."""

    name: str

    def gap(self, schema: Schema) -> nw.Expr:
        refuse_nested(self.name, schema[self.name], "values to compare")
        return is_missing_value(self.name, schema[self.name])

    def on(self, schema: Schema) -> nw.Expr:
        """Values of the column in its numeric type, even where the frame holds it as text."""
        kind = schema[self.name]
        if kind.is_integer() and kind not in (nw.UInt64, nw.Int128, nw.UInt128):
            return nw.col(self.name).cast(nw.Int64)
        if kind.is_numeric():
            return as_number(self.name)
        if kind == nw.Boolean:
            return nw.col(self.name).cast(nw.Boolean)
        return nw.col(self.name) if kind.is_temporal() else nw.col(self.name).cast(nw.String)


Operand = ColumnName | str | float | int | bool


@dataclass(frozen=True)
class ComparisonTerm:
    """Comparison of a column with a value or another column."""

    column: ColumnName
    sign: Any
    value: Operand

    def on(self, schema: Schema, denied: bool = False) -> nw.Expr:
        absent = self.column.gap(schema)
        if isinstance(self.value, ColumnName):
            _refuse_different_types(self.column, self.value, schema)
            absent = absent | self.value.gap(schema)
            right: Any = self.value.on(schema)
        else:
            right = _convert_value(self.column, self.value, schema)
        sign = _NEGATED[self.sign] if denied else self.sign
        compared: nw.Expr = sign(self.column.on(schema), right)
        return compared.fill_null(False) & ~absent


@dataclass(frozen=True)
class IsIn:
    """A column equals one of several values."""

    column: ColumnName
    values: tuple[Operand, ...]

    def on(self, schema: Schema, denied: bool = False) -> nw.Expr:
        absent = self.column.gap(schema)
        values = [_convert_value(self.column, value, schema) for value in self.values]
        fractions = any(isinstance(value, float) for value in values)
        held = as_number(self.column.name) if fractions else self.column.on(schema)
        found = held.is_in([*map(float, values)] if fractions else values)
        return (~found if denied else found).fill_null(False) & ~absent


@dataclass(frozen=True)
class IsMissing:
    """A column has no value."""

    column: ColumnName

    def on(self, schema: Schema, denied: bool = False) -> nw.Expr:
        absent = self.column.gap(schema)
        return ~absent if denied else absent


@dataclass(frozen=True)
class AllOrAny:
    """Conjunction or disjunction of conditions."""

    by: Any
    parts: tuple[Clause, ...]

    def on(self, schema: Schema, denied: bool = False) -> nw.Expr:
        by = _NEGATED[self.by] if denied else self.by
        return reduce(by, (part.on(schema, denied) for part in self.parts))


@dataclass(frozen=True)
class Not:
    """Negation of a condition."""

    clause: Clause

    def on(self, schema: Schema, denied: bool = False) -> nw.Expr:
        return self.clause.on(schema, not denied)


Clause = ComparisonTerm | IsIn | IsMissing | AllOrAny | Not
"""Negation is pushed down to the comparisons, so that "not age < 5" also requires an age, in every engine."""


def filter_rows(source: Source, text: str) -> Source:
    """Rows of a source that meet a condition, with a note on how many were excluded.

    >>> from scorespace.io import read
    >>> held = filter_rows(read({"age": [70, 50, None], "y": [1, 0, 1]}), "age >= 65")
    >>> held.arrays(held.frame.select("y"))["y"].tolist(), held.notes[0].text
    ([1], '1 of 3 rows is included: age >= 65; of the others, 1 has a missing value.')
    """
    condition = parse_condition(text, source.columns)
    schema = dict(source.frame.collect_schema())
    is_true, is_false = condition.on(schema), condition.on(schema, denied=True)
    aggregates = {"rows": nw.len(), "held": is_true.cast(nw.Int64).sum(), "failed": is_false.cast(nw.Int64).sum()}
    rows, n_true, n_false = source.counts(**aggregates).values()
    if not rows:
        raise no_rows_error(source.where)
    source.accounts_for(rows)
    unknown = rows - n_true - n_false
    if not n_true:
        missing_text = f", {_missing_text(unknown)}" if unknown else ""
        hint = "a condition that is true for some rows"
        raise WhereError(f"where={text!r} is true for no row.", seen=f"{grouped(rows)} rows{missing_text}", hint=hint)
    verb = "is included" if n_true == 1 else "are included"
    missing_text = f"; of the others, {_missing_text(unknown)}" if unknown else ""
    summary = f"{grouped(n_true)} of {grouped(rows)} rows {verb}: {text.strip()}{missing_text}."
    return replace(source.filtered(is_true), notes=(*source.notes, note("SS090", summary, rows=rows, included=n_true)))


def _missing_text(unknown: int) -> str:
    return f"{grouped(unknown)} {'has' if unknown == 1 else 'have'} a missing value"


# --- values


def _convert_value(column: ColumnName, value: Any, schema: Schema) -> Any:
    """Convert a value to the type of the column; refuse other types."""
    kind, name = schema[column.name], column.name
    if kind == nw.Boolean:
        truth_value = {"true": True, "false": False, "1": True, "0": False}.get(label_text(value).casefold())
        if truth_value is None:
            raise _type_error(column, value, "true and false", f"{name} = true")
        return truth_value
    if kind.is_numeric():
        if isinstance(value, str | bool):
            raise _type_error(column, value, "numbers", f"{name} = 1, without quotes")
        return float(nearest_single(value)) if kind == nw.Float32 else value  # as thresholds of such a column
    if kind.is_temporal():
        return _parse_time(column, value, kind)
    if not isinstance(value, str):
        raise _type_error(column, value, "text", f"{name} = '{label_text(value)}', in quotes")
    return value


def _parse_time(column: ColumnName, value: Any, kind: nw.dtypes.DType) -> Any:
    """Parse an ISO date or time; without a zone, UTC if the column has one."""
    try:
        if kind == nw.Date:
            return date.fromisoformat(value)
        if kind == nw.Datetime:
            found = datetime.fromisoformat(value)
            zone = getattr(kind, "time_zone", None)
            return found if zone is None or found.tzinfo is not None else found.replace(tzinfo=UTC)
    except (TypeError, ValueError):
        pass
    raise _type_error(column, value, "dates or times", f"{column.name} >= '2024-01-31'")


def _type_error(column: ColumnName, value: Any, content: str, hint: str) -> WhereError:
    value_text = f"'{value}'" if isinstance(value, str) else label_text(value).casefold()
    return WhereError(f"column {column.name!r} holds {content}, but {value_text} is not.", hint=hint)


def _refuse_different_types(a: ColumnName, b: ColumnName, schema: Schema) -> None:
    """Refuse to compare columns of different types."""
    first, second = (_type_name(schema[column.name]) for column in (a, b))
    if first != second:
        raise WhereError(
            f"columns {a.name!r} and {b.name!r} have different types.",
            seen=f"{first} and {second}",
            hint="compare columns of the same type, or a column with a value",
        )


def _type_name(kind: nw.dtypes.DType) -> str:
    if kind.is_numeric():
        return "numbers"
    return "true and false" if kind == nw.Boolean else "times" if kind.is_temporal() else "text"


# --- the grammar


def parse_condition(text: str, columns: Sequence[str]) -> Clause:
    """Parse a condition on columns of these names.

    >>> parse_condition("age >= 65", ["age"])
    ComparisonTerm(column=ColumnName(name='age'), sign=<built-in function ge>, value=65)
    """
    return _Parser(text, columns).read()


class _Parser:
    """Recursive-descent parser: or binds weaker than and, and weaker than not."""

    def __init__(self, text: str, columns: Sequence[str]) -> None:
        self.text, self.columns = text, columns
        self.tokens = self._tokens()
        self.next = 0
        self.depth = 0

    def read(self) -> Clause:
        clause = self._any()
        if self._look().kind != "end":
            self._refuse(f"{self._named(self._look())} is not expected", 'join conditions by "and" or "or"')
        return clause

    def _tokens(self) -> list[ConditionToken]:
        tokens = []
        for match in _TOKEN.finditer(self.text):
            kind = str(match.lastgroup)
            tokens.append(ConditionToken(kind, match[kind], match.start(kind) + 1))
            if kind == "other":
                hint = "a closing quote" if match[kind] in "'\"`" else _EXAMPLE
                self._refuse(f"{match[kind]!r} is not understood", hint, tokens[-1].place)
        if len(tokens) > _MAX_TOKENS:
            problem = f"it has more than {grouped(_MAX_TOKENS)} tokens"
            self._refuse(problem, "add a column with the same meaning", tokens[_MAX_TOKENS].place)
        return [*tokens, ConditionToken("end", "", len(self.text) + 1)]

    def _look(self, ahead: int = 0) -> ConditionToken:
        return self.tokens[min(self.next + ahead, len(self.tokens) - 1)]

    def _take(self) -> ConditionToken:
        token = self._look()
        self.next += 1
        return token

    def _takes(self, *keywords: str) -> bool:
        """Consume these words if they come next."""
        if any(self._look(ahead).keyword != word for ahead, word in enumerate(keywords)):
            return False
        self.next += len(keywords)
        return True

    def _any(self) -> Clause:
        return self._joined("or", or_, lambda: self._joined("and", and_, self._one))

    def _joined(self, word: str, by: Any, part: Callable[[], Clause]) -> Clause:
        parts = [part()]
        while self._takes(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else AllOrAny(by, tuple(parts))

    def _one(self) -> Clause:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            self._refuse(f"it is nested deeper than {_MAX_DEPTH} times", "a shorter condition")
        clause: Clause
        if self._takes("not"):
            clause = Not(self._one())
        elif self._takes("("):
            clause = self._any()
            if not self._takes(")"):
                self._refuse("a parenthesis is not closed", "close every parenthesis")
        else:
            clause = self._test()
        self.depth -= 1
        return clause

    def _test(self) -> Clause:
        column = self._operand("a column")
        if not isinstance(column, ColumnName):
            self.next -= 1
            self._refuse(f"{self._named(self._look())} is not a column", f"write the column first, {_EXAMPLE}")
        has_is = self._takes("is")
        has_not = self._takes("not")
        clause: Clause
        if has_is:
            if not self._takes("missing"):
                self._refuse('"is" must be followed by "missing"', f"{column.name} is missing, or {column.name} = …")
            clause = IsMissing(column)
        elif self._takes("in"):
            clause = IsIn(column, tuple(self._list()))
        elif self._takes("between"):
            low = self._operand("a value")
            if not self._takes("and"):
                self._refuse('"between" needs two values', f"{column.name} between 1 and 5")
            clause = AllOrAny(
                and_, (ComparisonTerm(column, ge, low), ComparisonTerm(column, le, self._operand("a value")))
            )
        elif not has_not and self._look().keyword in _OPERATORS:
            return ComparisonTerm(column, _OPERATORS[self._take().text], self._operand("a value"))
        elif not has_not and (self._look().kind == "end" or self._look().keyword in ("and", "or", ")")):
            return ComparisonTerm(column, eq, True)  # a boolean column by itself
        else:
            self._refuse(
                f"{column.name!r} is not followed by a comparison", "one of = != < <= > >= in between is missing"
            )
        return Not(clause) if has_not else clause

    def _list(self) -> list[Operand]:
        if not self._takes("("):
            self._refuse('"in" needs a list', "in ('a', 'b')")
        values = [self._value()]
        while self._takes(","):
            values.append(self._value())
        if not self._takes(")"):
            self._refuse("the list is not closed", "in ('a', 'b')")
        return values

    def _value(self) -> Operand:
        """A value of a list; an unquoted name there is text without quotes."""
        token = self._look()
        if token.kind in ("name", "word") and token.keyword not in ("true", "false"):
            self._refuse(
                f"{self._named(token)} is not a value", f"text in single quotes: '{token.text.strip(_QUOTES)}'"
            )
        return self._operand("a value")

    def _operand(self, expected: str) -> Operand:
        token = self._take()
        match token.kind:
            case "text":
                return token.text[1:-1].replace("''", "'")
            case "number":
                return int(token.text) if re.fullmatch(r"[-+]?\d{1,18}", token.text) else float(token.text)
            case "name":
                quote = token.text[0]
                return self._column(token.text[1:-1].replace(quote * 2, quote), token)
            case "word" if token.keyword in ("true", "false") and token.text not in self.columns:
                return token.keyword == "true"
            case "word" if token.keyword not in _KEYWORDS:
                return self._column(token.text, token)
        self.next -= 1
        named = "the condition ends" if token.kind == "end" else f"{self._named(token)} is found"
        self._refuse(f"{named} where {expected} is needed", _EXAMPLE)

    def _column(self, name: str, token: ConditionToken) -> ColumnName:
        if name in self.columns:
            return ColumnName(name)
        value = self.next > 1 and self._look(-2).keyword in (*_OPERATORS, "(", ",", "between", "and")
        otherwise = f"a column, or text in single quotes: '{name}'" if value else "one of these columns"
        hint = did_you_mean(name, self.columns, otherwise, quoted=True)
        raise ColumnError(
            f"where: there is no column {name!r} (position {token.place}).", seen=listing(self.columns), hint=hint
        )

    def _named(self, token: ConditionToken) -> str:
        return "its end" if token.kind == "end" else f"{token.text!r}"

    def _refuse(self, problem: str, hint: str, place: int = 0) -> NoReturn:
        place = place or self._look().place
        raise WhereError(f"where={self.text!r} cannot be read: {problem} (position {place}).", hint=hint)

"""Which rows take part: a small grammar of conditions on columns, read here and answered by any engine.

    age >= 65 and sex = 'f'        ward in ('A', 'B') or not (score between 0.2 and 0.8)        "blood type" is missing

Nothing of what a user writes reaches an engine as text: the condition becomes expressions of Narwhals. A row takes
part where the condition is true; where a value that it asks for is missing it is neither true nor false, as in SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import Any, Final, NoReturn

import narwhals as nw

from scorespace.errors import ColumnError, ScoreSpaceError, did_you_mean, listing
from scorespace.frames.source import Source, no_rows
from scorespace.frames.values import gap, number, refuse_nested
from scorespace.frozen import dataclass
from scorespace.results import grouped, note
from scorespace.tables.labels import label_text

Schema = Mapping[str, nw.dtypes.DType]

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*')|(?P<name>"(?:[^"]|"")+"|`[^`]+`)"""
    r"""|(?P<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))|(?P<word>[^\W\d][\w.]*)"""
    r"""|(?P<sign><=|>=|!=|<>|==|[=<>(),])|(?P<other>\S))"""
)
_SIGNS: Final = {"=": eq, "==": eq, "!=": ne, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_OPPOSITE: Final[Mapping[Any, Any]] = {eq: ne, ne: eq, lt: ge, ge: lt, gt: le, le: gt, and_: or_, or_: and_}
_KEYWORDS: Final = ("and", "or", "not", "in", "between", "is", "missing", "true", "false")
_QUOTES: Final = '"`'
_LONGEST: Final = 1000  # pieces: engines plan no longer conditions
_DEEPEST: Final = 50  # parentheses inside each other: more are no condition that anybody wrote
_EXAMPLE: Final = "such as \"age >= 65 and sex = 'f'\""


class WhereError(ScoreSpaceError):
    """A condition on rows that cannot be read, or that does not suit the columns it names."""


@dataclass(frozen=True)
class Token:
    """A piece of a condition: what kind it is, what it says, and where it begins, counted from 1."""

    kind: str
    text: str
    place: int

    @property
    def keyword(self) -> str:
        """The word in lower case, where it is one and not a name in quotes."""
        return self.text.casefold() if self.kind == "word" else self.text if self.kind == "sign" else ""


@dataclass(frozen=True)
class Column:
    """A column that a condition names."""

    name: str

    def gap(self, schema: Schema) -> nw.Expr:
        refuse_nested(self.name, schema[self.name], "values to compare")
        return gap(self.name, schema[self.name])

    def on(self, schema: Schema) -> nw.Expr:
        """The values, of the kind that the column has where it is not read as text."""
        kind = schema[self.name]
        if kind.is_integer() and kind not in (nw.UInt64, nw.Int128, nw.UInt128):
            return nw.col(self.name).cast(nw.Int64)
        if kind.is_numeric():
            return number(self.name)
        if kind == nw.Boolean:
            return nw.col(self.name).cast(nw.Boolean)
        return nw.col(self.name) if kind.is_temporal() else nw.col(self.name).cast(nw.String)


Operand = Column | str | float | int | bool


@dataclass(frozen=True)
class Compared:
    """A column beside a value or another column."""

    column: Column
    sign: Any
    value: Operand

    def on(self, schema: Schema, denied: bool = False) -> nw.Expr:
        absent = self.column.gap(schema)
        if isinstance(self.value, Column):
            _refuse_unlike(self.column, self.value, schema)
            absent = absent | self.value.gap(schema)
            right: Any = self.value.on(schema)
        else:
            right = _of_value(self.column, self.value, schema)
        sign = _OPPOSITE[self.sign] if denied else self.sign
        compared: nw.Expr = sign(self.column.on(schema), right)
        return compared.fill_null(False) & ~absent


@dataclass(frozen=True)
class Among:
    """A column that has one of several values."""

    column: Column
    values: tuple[Operand, ...]

    def on(self, schema: Schema, denied: bool = False) -> nw.Expr:
        absent = self.column.gap(schema)
        values = [_of_value(self.column, one, schema) for one in self.values]
        fractions = any(isinstance(one, float) for one in values)
        held = number(self.column.name) if fractions else self.column.on(schema)
        found = held.is_in([*map(float, values)] if fractions else values)
        return (~found if denied else found).fill_null(False) & ~absent


@dataclass(frozen=True)
class Missing:
    """Whether a column has no value."""

    column: Column

    def on(self, schema: Schema, denied: bool = False) -> nw.Expr:
        absent = self.column.gap(schema)
        return ~absent if denied else absent


@dataclass(frozen=True)
class Joined:
    """All of several conditions, or any of them."""

    by: Any
    parts: tuple[Clause, ...]

    def on(self, schema: Schema, denied: bool = False) -> nw.Expr:
        by = _OPPOSITE[self.by] if denied else self.by
        return reduce(by, (one.on(schema, denied) for one in self.parts))


@dataclass(frozen=True)
class Denied:
    """What another condition is not."""

    clause: Clause

    def on(self, schema: Schema, denied: bool = False) -> nw.Expr:
        return self.clause.on(schema, not denied)


Clause = Compared | Among | Missing | Joined | Denied
"""What is denied is denied inside the tests: "not age < 5" asks for an age as well, in every engine."""


def where(source: Source, text: str) -> Source:
    """The rows of a source for which a condition holds, with a note on how many were left out.

    >>> from scorespace.frames import read
    >>> held = where(read({"age": [70, 50, None], "y": [1, 0, 1]}), "age >= 65")
    >>> held.arrays(held.frame.select("y"))["y"].tolist(), held.notes[0].text
    ([1], '1 of 3 rows takes part: age >= 65; of the others, 1 lacks a value that it asks for.')
    """
    condition = parse(text, source.columns)
    schema = dict(source.frame.collect_schema())
    holds, fails = condition.on(schema), condition.on(schema, denied=True)
    asked = {"rows": nw.len(), "held": holds.cast(nw.Int64).sum(), "failed": fails.cast(nw.Int64).sum()}
    rows, held, failed = source.counts(**asked).values()
    if not rows:
        raise no_rows(source.where)
    source.accounts_for(rows)
    unknown = rows - held - failed
    if not held:
        silent = f", {_lack(unknown)}" if unknown else ""
        hint = "a condition that some row meets"
        raise WhereError(f"where={text!r} holds for no row.", seen=f"{grouped(rows)} rows{silent}", hint=hint)
    part = "takes part" if held == 1 else "take part"
    silent = f"; of the others, {_lack(unknown)}" if unknown else ""
    told = f"{grouped(held)} of {grouped(rows)} rows {part}: {text.strip()}{silent}."
    return replace(source.filtered(holds), notes=(*source.notes, note("SS090", told)))


def _lack(unknown: int) -> str:
    return f"{grouped(unknown)} {'lacks' if unknown == 1 else 'lack'} a value that it asks for"


# --- what columns and values are to an engine


def _of_value(column: Column, value: Any, schema: Schema) -> Any:
    """A value as the column that it stands beside holds it; one of another kind is refused."""
    kind, name = schema[column.name], column.name
    if kind == nw.Boolean:
        told = {"true": True, "false": False, "1": True, "0": False}.get(label_text(value).casefold())
        if told is None:
            raise _unlike(column, value, "true and false", f"{name} = true")
        return told
    if kind.is_numeric():
        if isinstance(value, str | bool):
            raise _unlike(column, value, "numbers", f"{name} = 1, without quotes")
        return value
    if kind.is_temporal():
        return _time(column, value, kind)
    if not isinstance(value, str):
        raise _unlike(column, value, "text", f"{name} = '{label_text(value)}', in quotes")
    return value


def _time(column: Column, value: Any, kind: nw.dtypes.DType) -> Any:
    """A date or a time, written as ISO does it; without a zone where the column has one, in UTC."""
    try:
        if kind == nw.Date:
            return date.fromisoformat(value)
        if kind == nw.Datetime:
            found = datetime.fromisoformat(value)
            zone = getattr(kind, "time_zone", None)
            return found if zone is None or found.tzinfo is not None else found.replace(tzinfo=UTC)
    except (TypeError, ValueError):
        pass
    raise _unlike(column, value, "dates or times", f"{column.name} >= '2024-01-31'")


def _unlike(column: Column, value: Any, held: str, hint: str) -> WhereError:
    shown = f"'{value}'" if isinstance(value, str) else label_text(value).casefold()
    return WhereError(f"column {column.name!r} holds {held}, and {shown} is none of them.", hint=hint)


def _refuse_unlike(a: Column, b: Column, schema: Schema) -> None:
    """Refuse to compare two columns of different kinds."""
    first, second = (_sort(schema[one.name]) for one in (a, b))
    if first != second:
        raise WhereError(
            f"columns {a.name!r} and {b.name!r} hold values of different kinds.",
            seen=f"{first} and {second}",
            hint="columns of one kind, or a value",
        )


def _sort(kind: nw.dtypes.DType) -> str:
    if kind.is_numeric():
        return "numbers"
    return "true and false" if kind == nw.Boolean else "times" if kind.is_temporal() else "text"


# --- the grammar


def parse(text: str, columns: Sequence[str]) -> Clause:
    """The condition that a text states on columns of these names.

    >>> parse("age >= 65", ["age"])
    Compared(column=Column(name='age'), sign=<built-in function ge>, value=65)
    """
    return _Reader(text, columns).read()


class _Reader:
    """Reads a condition from left to right: or binds less than and, and less than not."""

    def __init__(self, text: str, columns: Sequence[str]) -> None:
        self.text, self.columns = text, columns
        self.tokens = self._tokens()
        self.next = 0
        self.depth = 0

    def read(self) -> Clause:
        found = self._any()
        if self._look().kind != "end":
            self._refuse(f"{self._named(self._look())} is not expected", 'join conditions by "and" or "or"')
        return found

    def _tokens(self) -> list[Token]:
        found = []
        for match in _TOKEN.finditer(self.text):
            kind = str(match.lastgroup)
            found.append(Token(kind, match[kind], match.start(kind) + 1))
            if kind == "other":
                hint = "a closing quote" if match[kind] in "'\"`" else _EXAMPLE
                self._refuse(f"{match[kind]!r} is not understood", hint, found[-1].place)
        if len(found) > _LONGEST:
            many = f"it has more than {grouped(_LONGEST)} pieces"
            self._refuse(many, "a column that says the same", found[_LONGEST].place)
        return [*found, Token("end", "", len(self.text) + 1)]

    def _look(self, ahead: int = 0) -> Token:
        return self.tokens[min(self.next + ahead, len(self.tokens) - 1)]

    def _take(self) -> Token:
        token = self._look()
        self.next += 1
        return token

    def _takes(self, *keywords: str) -> bool:
        """Whether these words stand next; then they are read."""
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
        return parts[0] if len(parts) == 1 else Joined(by, tuple(parts))

    def _one(self) -> Clause:
        self.depth += 1
        if self.depth > _DEEPEST:
            self._refuse(f"it is nested deeper than {_DEEPEST} times", "a shorter condition")
        found: Clause
        if self._takes("not"):
            found = Denied(self._one())
        elif self._takes("("):
            found = self._any()
            if not self._takes(")"):
                self._refuse("a parenthesis is not closed", "a closing one for each opening one")
        else:
            found = self._test()
        self.depth -= 1
        return found

    def _test(self) -> Clause:
        column = self._operand("a column")
        if not isinstance(column, Column):
            self.next -= 1
            self._refuse(f"{self._named(self._look())} is no column", f"the column first, {_EXAMPLE}")
        asks = self._takes("is")
        denied = self._takes("not")
        found: Clause
        if asks:
            if not self._takes("missing"):
                self._refuse('"is" asks whether a value is missing', f"{column.name} is missing, or {column.name} = …")
            found = Missing(column)
        elif self._takes("in"):
            found = Among(column, tuple(self._list()))
        elif self._takes("between"):
            low = self._operand("a value")
            if not self._takes("and"):
                self._refuse('"between" needs two values', f"{column.name} between 1 and 5")
            found = Joined(and_, (Compared(column, ge, low), Compared(column, le, self._operand("a value"))))
        elif not denied and self._look().keyword in _SIGNS:
            return Compared(column, _SIGNS[self._take().text], self._operand("a value"))
        elif not denied and (self._look().kind == "end" or self._look().keyword in ("and", "or", ")")):
            return Compared(column, eq, True)  # of true and false, which stands for itself
        else:
            self._refuse(f"after {column.name!r} stands no comparison", "one of = != < <= > >= in between is missing")
        return Denied(found) if denied else found

    def _list(self) -> list[Operand]:
        if not self._takes("("):
            self._refuse('"in" needs a list', "in ('a', 'b')")
        found = [self._value()]
        while self._takes(","):
            found.append(self._value())
        if not self._takes(")"):
            self._refuse("the list is not closed", "in ('a', 'b')")
        return found

    def _value(self) -> Operand:
        """A value of a list: a name there is a text that lacks its quotes."""
        token = self._look()
        if token.kind in ("name", "word") and token.keyword not in ("true", "false"):
            self._refuse(f"{self._named(token)} is no value", f"text in single quotes: '{token.text.strip(_QUOTES)}'")
        return self._operand("a value")

    def _operand(self, wanted: str) -> Operand:
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
        named = "the condition ends" if token.kind == "end" else f"{self._named(token)} stands"
        self._refuse(f"{named} where {wanted} is needed", _EXAMPLE)

    def _column(self, name: str, token: Token) -> Column:
        if name in self.columns:
            return Column(name)
        value = self.next > 1 and self._look(-2).keyword in (*_SIGNS, "(", ",", "between", "and")
        otherwise = f"a column, or text in single quotes: '{name}'" if value else "one of these columns"
        hint = did_you_mean(name, self.columns, otherwise, quoted=True)
        raise ColumnError(
            f"where: there is no column {name!r} (position {token.place}).", seen=listing(self.columns), hint=hint
        )

    def _named(self, token: Token) -> str:
        return "its end" if token.kind == "end" else f"{token.text!r}"

    def _refuse(self, problem: str, hint: str, place: int = 0) -> NoReturn:
        place = place or self._look().place
        raise WhereError(f"where={self.text!r} cannot be read: {problem} (position {place}).", hint=hint)

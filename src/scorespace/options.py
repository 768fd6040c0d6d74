"""Options of registered functions and the grammar that writes them: `NAME(option=value, …)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Annotated, Any, Protocol, get_args, get_origin

from scorespace.errors import ScoreSpaceError, did_you_mean, listing


class AcceptsList:
    """Marks an option that accepts a comma-separated list: Annotated[str, "…", ManyValues]."""


@dataclass(frozen=True)
class Option:
    """A keyword-only parameter of a registered function, as the grammar and the command line offer it.

    `several`: the option accepts a comma-separated list, and each value makes an entry of its own.
    """

    name: str
    kind: Any
    default: Any
    about: str = ""
    several: bool = field(default=False, repr=False)

    @property
    def choices(self) -> tuple[Any, ...]:
        """The allowed values, if the type is a Literal."""
        return tuple(value for value in _alternatives(self.kind) if isinstance(value, str))

    @property
    def stated(self) -> str:
        """The name with its default, as the grammar writes it; an ellipsis if there is no default."""
        return f"{self.name}={'…' if self.default is None else format_value(self.default)}"

    @property
    def text(self) -> str:
        """Name, default, description and allowed values on one line."""
        return self.stated + (f": {self.explained}" if self.explained else "")

    @property
    def explained(self) -> str:
        """The description, followed by the allowed values if they are listed."""
        return self.about + (f" ({', '.join(map(str, self.choices))})" if self.choices else "")


class Registered(Protocol):
    """Protocol of the entries of a registry."""

    @property
    def name(self) -> str: ...

    @property
    def aliases(self) -> tuple[str, ...]: ...

    @property
    def options(self) -> tuple[Option, ...]: ...


def keyword_options(function: Callable[..., Any]) -> tuple[Option, ...]:
    """Keyword-only parameters of a function, with the descriptions in their annotations.

    >>> def f(t, *, bins: Annotated[int, "number of bins"] = 10): ...
    >>> keyword_options(f)
    (Option(name='bins', kind=<class 'int'>, default=10, about='number of bins'),)
    """
    code = function.__code__
    names = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    defaults = function.__kwdefaults__ or {}
    return tuple(
        Option(
            name, *_split_annotation(annotation_of(function, name, str), defaults.get(name, inspect.Parameter.empty))
        )
        for name in names
    )


def annotation_of(function: Callable[..., Any], parameter: str, otherwise: Any) -> Any:
    """Evaluate the annotation of one parameter only: evaluating all 200 functions would slow down short commands."""
    hint = function.__annotations__.get(parameter, otherwise)
    return eval(hint, function.__globals__) if isinstance(hint, str) else hint


def _split_annotation(hint: Any, default: Any) -> tuple[Any, Any, str, bool]:
    """Type, default, description, and whether the option accepts a list."""
    if get_origin(hint) is Annotated:
        kind, *metadata = get_args(hint)
        description = next((text for text in metadata if isinstance(text, str)), "")
        return kind, default, description, AcceptsList in metadata
    return hint, default, "", False


def check_options(noun: Registered, given: Mapping[str, Any], error: type[ScoreSpaceError] = ScoreSpaceError) -> None:
    """Refuse unknown options and list the known ones."""
    known = [option.name for option in noun.options]
    for name in given:
        if name not in known:
            raise error(
                f"{noun.name} has no option {name!r}.",
                seen=f"its options: {listing(known) or 'none'}",
                hint=did_you_mean(name, known, "one of these" if known else f"write {noun.name} without options"),
            )


def parse_options(
    noun: Registered, text: str | None, whole: str, error: type[ScoreSpaceError] = ScoreSpaceError
) -> tuple[tuple[str, Any], ...]:
    """Parse options written as `name=value, name=value`; they are returned in the order of the declaration."""
    given: dict[str, str] = {}
    for piece in filter(str.strip, split_at_commas(text or "", whole, error)):
        name, equals, value = (part.strip() for part in piece.partition("="))
        if not equals or not value:
            raise error(f"the option {piece.strip()!r} of {whole!r} has no value.", hint=f"{name}=VALUE")
        if name in given:
            raise error(f"the option {name!r} of {whole!r} is given twice.", hint="specify each option once")
        given[name] = value
    check_options(noun, given, error)
    return tuple(
        (option.name, parse_value(option, given[option.name], whole, error))
        for option in noun.options
        if option.name in given
    )


def split_at_commas(text: str, whole: str, error: type[ScoreSpaceError] = ScoreSpaceError) -> list[str]:
    """Split at commas outside parentheses, brackets and quotes.

    >>> split_at_commas("measure=cost(fp=1, fn=5), steps=true", "")
    ['measure=cost(fp=1, fn=5)', ' steps=true']
    """
    pieces, closers, quoted, escaped = [""], "", False, False
    for letter in text:
        quoted ^= letter == '"' and not escaped
        escaped = quoted and letter == "\\" and not escaped
        in_label = closers.endswith("]")  # parentheses inside brackets belong to the name of a class
        if not quoted and letter in "([" and not in_label:
            closers += {"(": ")", "[": "]"}[letter]
        elif not quoted and letter in ")]" and not (in_label and letter == ")"):
            if not closers.endswith(letter):
                closers = letter
                break
            closers = closers[:-1]
        if letter == "," and not closers and not quoted:
            pieces.append("")
        else:
            pieces[-1] += letter
    if closers or quoted:
        raise error(f"a bracket or a quote in {whole!r} is not closed.", hint="close each bracket and quote")
    return pieces


def parse_value(option: Option, text: str, whole: str, error: type[ScoreSpaceError] = ScoreSpaceError) -> Any:
    """Parse the value of an option according to its type."""
    kinds = _alternatives(option.kind)
    unquoted = text.strip("\"'")
    if option.choices and float not in kinds and int not in kinds:
        if unquoted not in option.choices:
            raise error(
                f"{option.name}={text} in {whole!r} is unknown.",
                seen=f"{option.name} can be {listing(option.choices)}",
                hint=did_you_mean(unquoted, option.choices, "one of these"),
            )
        return unquoted
    try:
        if bool in kinds:
            return {"true": True, "false": False}[text.casefold()]
        return parse_number(text) if float in kinds else int(text) if int in kinds else unquoted
    except (KeyError, ValueError):
        if str in kinds or unquoted in option.choices:  # a number or a name
            return unquoted
        expected = "true or false" if bool in kinds else "a number"
        raise error(f"{option.name}={text} in {whole!r} is not {expected}.", hint=option.text) from None


def parse_number(text: str) -> float:
    """Parse a number or a fraction; ValueError if it is neither.

    >>> parse_number("0.25"), parse_number("1/4"), parse_number("-3 / 2")
    (0.25, 0.25, -1.5)
    """
    above, slash, below = text.partition("/")
    if slash and float(below) == 0:
        raise ValueError("division by zero")
    return float(above) / float(below) if slash else float(text)


def _alternatives(kind: Any) -> list[Any]:
    """Types of a union and values of a Literal, without None."""
    inner = get_args(kind)
    if not inner:
        return [] if kind is NoneType else [kind]
    return [
        kind for part in inner for kind in (_alternatives(part) if get_args(part) else [part]) if kind is not NoneType
    ]


def format_value(value: Any) -> str:
    """Format a value in the grammar of options.

    >>> format_value(2.0), format_value(True), format_value("median")
    ('2', 'true', 'median')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


class Implied(str):
    """Value of an option that the data imply, which names leave out."""


def format_call(name: str, options: tuple[tuple[str, Any], ...]) -> str:
    """Format a name with its options in the grammar.

    >>> format_call("fbeta", (("beta", 2.0),)), format_call("mean", (("best", Implied("low")),))
    ('fbeta(beta=2)', 'mean')
    """
    stated = [(option, value) for option, value in options if not isinstance(value, Implied)]
    text = ", ".join(f"{option}={format_value(value)}" for option, value in stated)
    return f"{name}({text})" if text else name

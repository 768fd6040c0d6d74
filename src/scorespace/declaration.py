"""What every declared noun has: the table it needs, options with descriptions, a registry, and one grammar to write it.

Measures, curves and tests are each one decorated function. The annotation of its first parameter names the
table, its keyword-only parameters are its options: `bins: Annotated[int, "number of bins"] = 10`.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import cache, cached_property
from importlib.machinery import PathFinder
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Concatenate,
    Final,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    cast,
    get_args,
    get_origin,
)

from scorespace.errors import ScoreSpaceError, did_you_mean, folded, listing
from scorespace.frozen import dataclass

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PLUGINS: Final = ("scorespace", "scorespace.measures")
"""The entry points of third parties: modules whose import declares nouns."""

BROKEN: Final[dict[str, str]] = {}
"""Plug-ins that could not be imported, and why."""


class Several:
    """Marks an option that may hold several values, with commas between: Annotated[str, "…", Several]."""


@dataclass(frozen=True)
class Option:
    """A keyword-only parameter of a declared function, as the grammar and the command line offer it.

    `several`: it may hold several values with commas between, and each is a noun of its own.
    """

    name: str
    kind: Any
    default: Any
    about: str = ""
    several: bool = field(default=False, repr=False)

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values it can take, where they are listed (a Literal)."""
        return tuple(value for value in _alternatives(self.kind) if isinstance(value, str))

    @property
    def stated(self) -> str:
        """Its name with its default, as the grammar writes it; without a default, an ellipsis."""
        return f"{self.name}={'…' if self.default is None else written(self.default)}"

    @property
    def text(self) -> str:
        """Name, default, description and the values it can take, in one line."""
        return self.stated + (f": {self.explained}" if self.explained else "")

    @property
    def explained(self) -> str:
        """The description, and the values it can take where they are listed."""
        return self.about + (f" ({', '.join(map(str, self.choices))})" if self.choices else "")


class Noun(Protocol):
    """What a registry asks of its nouns."""

    @property
    def name(self) -> str: ...

    @property
    def aliases(self) -> tuple[str, ...]: ...

    @property
    def options(self) -> tuple[Option, ...]: ...


Declared = TypeVar("Declared", bound=Noun)
Function = TypeVar("Function", bound=Callable[..., Any])
Said = ParamSpec("Said")


class Declaration:
    """What nouns that are one decorated function share: its name, words and options, and its place for doctest."""

    name: str
    title: str
    function: Callable[..., Any]
    __eq__, __hash__ = object.__eq__, object.__hash__  # a noun is like itself alone

    def __post_init__(self) -> None:
        """Stand for the function, behind the frozen declaration: under its name where no other is stated."""
        function = self.function
        seen = {"__wrapped__": function, "__doc__": function.__doc__, "__module__": function.__module__}
        name = vars(self).get("name") or function.__name__
        vars(self).update(seen, name=name, __name__=function.__name__)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """The keyword-only parameters of the function."""
        return options_of(self.function)

    @property
    def summary(self) -> str:
        """The first line of the docstring: what it is, and the formula."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]

    def __call__(self, *args: Any, **options: Any) -> Any:
        """What the function says, for whoever calls it by its name."""
        return self.function(*args, **options)

    def __repr__(self) -> str:
        return f"{self.name}: {self.title}. {self.summary}"


class OnTables(Declaration):
    """What nouns share that are declared on one table, or on several: `functions` holds the function by table."""

    table: Any
    functions: dict[type, Callable[..., Any]]

    def __post_init__(self) -> None:
        super().__post_init__()
        table = table_of(self.function)
        vars(self).update(table=table, functions={table: self.function})

    def on(self, function: Function) -> Function:
        """Declare the same on a further table, or on each of a union, as its first parameter is annotated."""
        self.functions.update(dict.fromkeys(_tables_of(function), function))
        return function


def _home(noun: Any) -> tuple[str, str]:
    """Where a noun is declared: a file that is loaded again declares the same one."""
    function = getattr(noun, "function", noun)
    return getattr(function, "__module__", ""), getattr(function, "__qualname__", "")


_CATALOGUES: Final[list[Registry[Any]]] = []
"""Those that a verb of their own lists, so that each knows what is a noun of another kind."""


@dataclass(frozen=True)
class Registry(Generic[Declared]):
    """The declared nouns of one kind by their names, in the order of declaration, third parties' included."""

    what: str
    catalogue: str
    error: type[ScoreSpaceError] = ScoreSpaceError
    nouns: dict[str, Declared] = field(default_factory=dict)
    _names: dict[str, Declared] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.catalogue == f"{self.what}s":
            _CATALOGUES.append(self)

    def add(self, noun: Declared) -> Declared:
        """Keep a declared noun; a name that another one bears is refused."""
        names = (noun.name, *noun.aliases)
        for name in names:
            other = self._named(name)
            if other is not None and (other.name != noun.name or _home(other) != _home(noun)):
                raise self.error(
                    f"the name {name!r} of {self.what} {noun.name} is taken by {other.name}.", hint="another name"
                )
        self.nouns[noun.name] = noun
        self._names.update(dict.fromkeys(map(_folded, names), noun))
        return noun

    def _named(self, name: str) -> Declared | None:
        """The noun that bears a name, however it is written."""
        noun = self._names.get(_folded(name))
        return noun if noun is not None and noun.name in self.nouns else None

    def _form(self, name: str) -> tuple[Declared, str] | None:
        """The noun that a name means with options, a class or an operating point, and how that is written."""
        found = ((noun, spelled) for noun in self.nouns.values() if (spelled := getattr(noun, "spelled", None)))
        wanted = _folded(name)
        return next(((noun, text) for noun, spelled in found for form, text in spelled.items() if form == wanted), None)

    def __iter__(self) -> Iterator[Declared]:
        load_plugins()
        return iter(tuple(self.nouns.values()))

    def find(self, name: str) -> Declared:
        """The noun of that name or alias; case, hyphens and blanks do not matter."""
        load_plugins()
        if name in self.nouns:  # as measures are looked up for every number
            return self.nouns[name]
        noun = self._named(name)
        if noun is not None:
            return noun
        elsewhere = next((one for one in _CATALOGUES if one is not self and one._named(name) is not None), None)
        aliases = [alias for noun in self for alias in (noun.name, *noun.aliases)]
        hint = did_you_mean(name, aliases, f"scorespace {self.catalogue} lists them all")
        if elsewhere is not None:
            known = cast(Noun, elsewhere._named(name)).name
            hint = f"it is a {elsewhere.what}: scorespace {elsewhere.catalogue} {known}"
        if (form := self._form(name)) is not None:
            hint = f"write {form[1]}"
        raise self.error(f"there is no {self.what} {name!r}.", hint=hint)

    def completed(self, incomplete: str) -> list[tuple[str, str]]:
        """What a shell offers, with its title: names that begin so, or else other names; behind ( the options of one.

        Behind an option that has listed values, these.
        """
        name, inside, last = _OPEN.fullmatch(incomplete).groups()  # type: ignore[union-attr]
        if not inside:
            own = [(one.name, getattr(one, "title", "")) for one in self if one.name.startswith(last)]
            others = ((alias, getattr(one, "title", "")) for one in self for alias in one.aliases)
            return own or [(alias, title) for alias, title in others if alias.startswith(last)]
        noun = self._named(name)
        offered = [(f"{one.name}=", one.explained) for one in (noun.options if noun else ())]
        if "=" in last:
            offered = [(f"{o.name}={v}", o.about) for o in (noun.options if noun else ()) for v in o.choices]
        return [(f"{name}{inside}{text}", about) for text, about in offered if text.startswith(last)]

    def search(self, text: str) -> list[Declared]:
        """The noun of that name, else all of which every word is said: in names, title or summary."""
        load_plugins()
        noun, form = self._named(_ASKED.split(text)[0]), self._form(text)
        if noun is not None or form is not None:
            return [noun if noun is not None else cast(tuple[Declared, str], form)[0]]
        words = [word for word in _folded(text).split("_") if word not in _SMALL] or [_folded(text)]
        said = {noun.name: _said(noun) for noun in self}
        return [noun for noun in self if all(word in said[noun.name] for word in words)] or [self.find(text)]

    def parse(self, text: str) -> Call[Declared]:
        """A noun with its options, as users write it: NAME(option=value, …)."""
        match = _CALL.fullmatch(text)
        if match is None:
            raise self.error(
                f"the {self.what} {text!r} cannot be read.", hint="NAME, or NAME(option=value, option=value)"
            )
        noun = self.find(match["name"])
        return Call(noun, read_options(noun, match["options"], text, self.error))


def _said(noun: Noun) -> str:
    """All that a catalogue says of a noun, as it is searched."""
    about = (str(getattr(noun, name, "")) for name in ("title", "summary"))
    return _folded(" ".join((noun.name, *noun.aliases, *getattr(noun, "spelled", ()), *about)))


_folded = cache(folded)
_SMALL: Final = {"a", "an", "and", "at", "for", "in", "of", "on", "or", "the", "to", "with"}  # they tell nothing apart
_ASKED: Final = re.compile(r"[(\[@]")  # where options, a class or an operating point begin
_OPEN: Final = re.compile(r"(?:([^(]*)(\((?:.*,)?\s*))?(.*)", re.DOTALL)


def declaring(
    registry: Registry[Any], kind: Callable[Concatenate[Function, Said], Declared]
) -> Callable[Said, Callable[[Function], Declared]]:
    """The decorator that declares a function as a noun of a kind; it takes what the kind is made with besides."""

    def say(*args: Said.args, **said: Said.kwargs) -> Callable[[Function], Declared]:
        return lambda function: cast(Declared, registry.add(kind(function, *args, **said)))

    say.__doc__ = kind.__doc__
    return say


@dataclass(frozen=True)
class Call(Generic[Declared]):
    """A noun with the options a user stated; `str()` of it parses back to it."""

    noun: Declared
    given: tuple[tuple[str, Any], ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.given)

    def __str__(self) -> str:
        return call_text(self.noun.name, self.given)


_CALL = re.compile(r"\s*(?P<name>[^\s()\[\]@,=]+)\s*(?:\((?P<options>.*)\))?\s*", re.DOTALL)


def table_of(function: Callable[..., Any]) -> type:
    """The table a declared function needs: the annotation of its first parameter."""
    return _tables_of(function)[0]


def _tables_of(function: Callable[..., Any]) -> tuple[type, ...]:
    kind = _hint(function, function.__code__.co_varnames[0], None)
    kinds: tuple[Any, ...] = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if not all(isinstance(one, type) and one is not NoneType for one in kinds):
        raise TypeError(f"{function.__name__}: annotate the first parameter with the table it needs")
    return kinds


def options_of(function: Callable[..., Any]) -> tuple[Option, ...]:
    """The keyword-only parameters of a declared function, with what their annotations say of them.

    >>> def f(t, *, bins: Annotated[int, "number of bins"] = 10): ...
    >>> options_of(f)
    (Option(name='bins', kind=<class 'int'>, default=10, about='number of bins'),)
    """
    code = function.__code__
    names = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    defaults = function.__kwdefaults__ or {}
    return tuple(
        Option(name, *_described(_hint(function, name, str), defaults.get(name, inspect.Parameter.empty)))
        for name in names
    )


def _hint(function: Callable[..., Any], parameter: str, otherwise: Any) -> Any:
    """The annotation of one parameter alone: to read all of 200 functions takes a tenth of a short command."""
    hint = function.__annotations__.get(parameter, otherwise)
    return eval(hint, function.__globals__) if isinstance(hint, str) else hint


def _described(hint: Any, default: Any) -> tuple[Any, Any, str, bool]:
    if get_origin(hint) is Annotated:
        kind, *about = get_args(hint)
        return kind, default, next((text for text in about if isinstance(text, str)), ""), Several in about
    return hint, default, "", False


def check_options(noun: Noun, given: Mapping[str, Any], error: type[ScoreSpaceError] = ScoreSpaceError) -> None:
    """Refuse options that a noun does not have, and say which it has."""
    known = [option.name for option in noun.options]
    for name in given:
        if name not in known:
            raise error(
                f"{noun.name} has no option {name!r}.",
                seen=f"its options: {listing(known) or 'none'}",
                hint=did_you_mean(name, known, "one of these" if known else f"{noun.name} alone"),
            )


def read_options(
    noun: Noun, text: str | None, whole: str, error: type[ScoreSpaceError] = ScoreSpaceError
) -> tuple[tuple[str, Any], ...]:
    """The options written as `name=value, name=value`, in the order of the declaration."""
    given: dict[str, str] = {}
    for piece in filter(str.strip, split_list(text or "", whole, error)):
        name, equals, value = (part.strip() for part in piece.partition("="))
        if not equals or not value:
            raise error(f"the option {piece.strip()!r} of {whole!r} has no value.", hint=f"{name}=VALUE")
        if name in given:
            raise error(f"the option {name!r} of {whole!r} is stated twice.", hint="each option once")
        given[name] = value
    check_options(noun, given, error)
    return tuple(
        (option.name, read_value(option, given[option.name], whole, error))
        for option in noun.options
        if option.name in given
    )


def split_list(text: str, whole: str, error: type[ScoreSpaceError] = ScoreSpaceError) -> list[str]:
    """The pieces between commas; those inside parentheses, brackets and quotes part nothing.

    >>> split_list("measure=cost(fp=1, fn=5), steps=true", "")
    ['measure=cost(fp=1, fn=5)', ' steps=true']
    """
    pieces, closers, quoted, escaped = [""], "", False, False
    for letter in text:
        quoted ^= letter == '"' and not escaped
        escaped = quoted and letter == "\\" and not escaped
        in_label = closers.endswith("]")  # where a parenthesis is part of the name of a class
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
        raise error(f"a bracket or a quote in {whole!r} is not closed.", hint="a closing one for each opening one")
    return pieces


def read_value(option: Option, text: str, whole: str, error: type[ScoreSpaceError] = ScoreSpaceError) -> Any:
    """The value of an option from its text."""
    kinds = _alternatives(option.kind)
    bare = text.strip("\"'")
    if option.choices and float not in kinds and int not in kinds:
        if bare not in option.choices:
            raise error(
                f"{option.name}={text} in {whole!r} is unknown.",
                seen=f"{option.name} can be {listing(option.choices)}",
                hint=did_you_mean(bare, option.choices, "one of these"),
            )
        return bare
    try:
        if bool in kinds:
            return {"true": True, "false": False}[text.casefold()]
        return float(text) if float in kinds else int(text) if int in kinds else bare
    except (KeyError, ValueError):
        if str in kinds or bare in option.choices:  # a number or a name
            return bare
        wanted = "true or false" if bool in kinds else "a number"
        raise error(f"{option.name}={text} in {whole!r} is not {wanted}.", hint=option.text) from None


def _alternatives(kind: Any) -> list[Any]:
    """The types of a union and the values of a Literal, without None."""
    inner = get_args(kind)
    if not inner:
        return [] if kind is NoneType else [kind]
    return [one for part in inner for one in (_alternatives(part) if get_args(part) else [part]) if one is not NoneType]


def written(value: Any) -> str:
    """A value as the grammar writes it.

    >>> written(2.0), written(True), written("median")
    ('2', 'true', 'median')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def call_text(name: str, options: tuple[tuple[str, Any], ...]) -> str:
    """A name with its options, as the grammar writes it.

    >>> call_text("fbeta", (("beta", 2.0),))
    'fbeta(beta=2)'
    """
    shown = ", ".join(f"{option}={written(value)}" for option, value in options)
    return f"{name}({shown})" if shown else name


@cache
def load_plugins() -> None:
    """Import what third parties declare, once; one that fails is remembered and does not stop the others."""
    for entry in plugins() if _named_anywhere() else ():
        try:
            entry.load()
        except (Exception, SystemExit) as error:  # whatever a stranger's module does must not end ours
            BROKEN[entry.name] = said = f"{type(error).__name__}: {error}"
            warnings.warn(f"the plug-in {entry.name} ({entry.value}) cannot be loaded: {said}", stacklevel=2)


def plugins() -> list[EntryPoint]:
    """The entry points of third parties."""
    from importlib.metadata import entry_points

    every = entry_points()
    return [one for group in PLUGINS for one in every.select(group=group)]


def _named_anywhere() -> bool:
    """Whether a package may name us: to look for our name alone takes a tenth of what reading all entry points does."""
    if any(hasattr(one, "find_distributions") and one is not PathFinder for one in sys.meta_path):
        return True  # packages that are found in another way than on the path
    return any(map(_named_in, sys.path))


def _named_in(place: str) -> bool:
    try:
        with os.scandir(place or ".") as found:
            about = [one.path for one in found if one.name.lower().endswith(("dist-info", "egg-info"))]
    except OSError:
        return os.path.isfile(place)  # an archive, which others know how to open
    for path in about:
        try:
            with open(os.path.join(path, "entry_points.txt"), "rb") as text:
                if f"[{PLUGINS[0]}".encode() in text.read():
                    return True
        except OSError:
            continue
    return False

"""Registries of measures, curves, tests and other declared functions, and the grammar that names them.

Each entry is one decorated function. The annotation of its first parameter names the table it needs; its
keyword-only parameters are its options: `bins: Annotated[int, "number of bins"] = 10`.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.machinery import PathFinder
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    Generic,
    ParamSpec,
    TypeVar,
    cast,
    get_args,
)

from scorespace.errors import ScoreSpaceError, did_you_mean, normalise_name, warn_renamed
from scorespace.options import (
    Option,
    Registered,
    annotation_of,
    format_call,
    keyword_options,
    parse_options,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PLUGINS: Final = ("scorespace", "scorespace.measures")
"""Entry-point groups of third parties: importing their modules registers entries."""

FAILED_PLUGINS: Final[dict[str, str]] = {}
"""Plug-ins that could not be imported, with the reason."""

Declared = TypeVar("Declared", bound=Registered)
Function = TypeVar("Function", bound=Callable[..., Any])
Fields = ParamSpec("Fields")


class RegisteredFunction:
    """Base of registry entries that wrap one decorated function: name, docstring and options come from the function."""

    name: str
    title: str
    function: Callable[..., Any]
    __eq__, __hash__ = object.__eq__, object.__hash__  # identity, because functions do not compare by value

    def __post_init__(self) -> None:
        """Copy name, docstring and module of the function, as functools.wraps does; doctest relies on it."""
        function = self.function
        metadata = {"__wrapped__": function, "__doc__": function.__doc__, "__module__": function.__module__}
        name = vars(self).get("name") or function.__name__
        vars(self).update(metadata, name=name, __name__=function.__name__)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Keyword-only parameters of the function."""
        return keyword_options(self.function)

    @property
    def summary(self) -> str:
        """First line of the docstring: the definition, with its formula."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the wrapped function."""
        return self.function(*args, **options)

    def __repr__(self) -> str:
        return f"{self.name}: {self.title}. {self.summary}"


class TableFunction(RegisteredFunction):
    """Registry entries implemented for one or more kinds of tables; `functions` maps each table to its function."""

    table: Any
    functions: dict[type, Callable[..., Any]]

    def __post_init__(self) -> None:
        super().__post_init__()
        table = required_table(self.function)
        vars(self).update(table=table, functions={table: self.function})

    def on(self, function: Function) -> Function:
        """Register an implementation for another table, or for each table of a union, given by the first annotation."""
        self.functions.update(dict.fromkeys(_tables_of(function), function))
        return function


def _origin(entry: Any) -> tuple[str, str]:
    """Module and qualified name of the function, by which an entry that is imported twice is recognised."""
    function = getattr(entry, "function", entry)
    return getattr(function, "__module__", ""), getattr(function, "__qualname__", "")


_CATALOGUES: Final[list[Registry[Any]]] = []
"""Registries that a command lists, so that an error can say where an unknown name is defined."""


@dataclass(frozen=True)
class Registry(Generic[Declared]):
    """Entries of one kind by name, in the order of registration, including those of plug-ins."""

    what: str
    catalogue: str
    error: type[ScoreSpaceError] = ScoreSpaceError
    nouns: dict[str, Declared] = field(default_factory=dict)
    former: Mapping[str, str] = field(default_factory=dict)
    """Old names and their replacements; old names work with a warning."""
    _names: dict[str, Declared] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.catalogue == f"{self.what}s":
            _CATALOGUES.append(self)

    def add(self, noun: Declared) -> Declared:
        """Register an entry; names and aliases must be unique."""
        names = (noun.name, *noun.aliases)
        for name in names:
            other = self._lookup(name)
            if other is not None and (other.name != noun.name or _origin(other) != _origin(noun)):
                raise self.error(
                    f"the name {name!r} of {self.what} {noun.name} is taken by {other.name}.",
                    hint="another name",
                )
        self.nouns[noun.name] = noun
        self._names.update(dict.fromkeys(map(_normalised, names), noun))
        return noun

    def _lookup(self, name: str) -> Declared | None:
        """The entry with this name or alias, whatever its spelling."""
        entry = self._names.get(_normalised(name))
        return entry if entry is not None and entry.name in self.nouns else None

    def _shorthand(self, name: str) -> tuple[Declared, str] | None:
        """The entry of a shorthand such as "f2", and its full spelling."""
        target = _normalised(name)
        for entry in self.nouns.values():
            for shorthand, text in (getattr(entry, "shorthands", None) or {}).items():
                if shorthand == target:
                    return entry, text
        return None

    def __iter__(self) -> Iterator[Declared]:
        load_plugins()
        return iter(tuple(self.nouns.values()))

    def find(self, name: str) -> Declared:
        """Return the entry with this name or alias; case, hyphens and blanks are ignored."""
        load_plugins()
        if name in self.nouns:  # fast path: measures are looked up for every number
            return self.nouns[name]
        entry = self._lookup(name)
        if entry is not None:
            return entry
        if name in self.former:
            warn_renamed(name, self.former[name])
            return self.find(self.former[name])
        elsewhere = next(
            (other for other in _CATALOGUES if other is not self and other._lookup(name) is not None), None
        )
        aliases = [alias for entry in self for alias in (entry.name, *entry.aliases)]
        hint = did_you_mean(name, aliases, f"scorespace {self.catalogue} lists them all")
        if elsewhere is not None:
            known = cast(Registered, elsewhere._lookup(name)).name
            hint = f"it is a {elsewhere.what}: scorespace {elsewhere.catalogue} {known}"
        if (shorthand := self._shorthand(name)) is not None:
            hint = f"write {shorthand[1]}"
        raise self.error(f"there is no {self.what} {name!r}.", hint=hint)

    def completed(self, incomplete: str) -> list[tuple[str, str]]:
        """Shell completions with descriptions: names, else aliases; inside parentheses, options and their values."""
        name, opening, last = _INCOMPLETE.fullmatch(incomplete).groups()  # type: ignore[union-attr]
        if not opening:
            names = [(entry.name, getattr(entry, "title", "")) for entry in self if entry.name.startswith(last)]
            aliases = ((alias, getattr(entry, "title", "")) for entry in self for alias in entry.aliases)
            return names or [(alias, title) for alias, title in aliases if alias.startswith(last)]
        entry = self._lookup(name)
        options = entry.options if entry else ()
        completions = [(f"{option.name}=", option.explained) for option in options]
        if "=" in last:
            completions = [(f"{option.name}={value}", option.about) for option in options for value in option.choices]
        return [(f"{name}{opening}{text}", about) for text, about in completions if text.startswith(last)]

    def search(self, text: str) -> list[Declared]:
        """Return the entry with this name, else all entries whose names, title or summary contain every word."""
        load_plugins()
        entry, shorthand = self._lookup(_SUFFIX.split(text)[0]), self._shorthand(text)
        if entry is not None or shorthand is not None:
            return [entry if entry is not None else cast(tuple[Declared, str], shorthand)[0]]
        words = [word for word in _normalised(text).split("_") if word not in _STOP_WORDS] or [_normalised(text)]
        texts = {entry.name: _search_text(entry) for entry in self}
        return [entry for entry in self if all(word in texts[entry.name] for word in words)] or [self.find(text)]

    def parse(self, text: str) -> Call[Declared]:
        """Parse an entry with its options: NAME(option=value, …)."""
        match = _CALL.fullmatch(text)
        if match is None:
            raise self.error(
                f"the {self.what} {text!r} cannot be parsed.", hint="NAME, or NAME(option=value, option=value)"
            )
        entry = self.find(match["name"])
        return Call(entry, parse_options(entry, match["options"], text, self.error))


def _search_text(entry: Registered) -> str:
    """Names, shorthands, title and summary of an entry, normalised for searching."""
    about = (str(getattr(entry, name, "")) for name in ("title", "summary"))
    return _normalised(" ".join((entry.name, *entry.aliases, *getattr(entry, "shorthands", ()), *about)))


_normalised = cache(normalise_name)
_STOP_WORDS: Final = {"a", "an", "and", "at", "for", "in", "of", "on", "or", "the", "to", "with"}
_SUFFIX: Final = re.compile(r"[(\[@]")  # start of options, a class or an operating point
_INCOMPLETE: Final = re.compile(r"(?:([^(]*)(\((?:.*,)?\s*))?(.*)", re.DOTALL)


def registering_decorator(
    registry: Registry[Any], kind: Callable[Concatenate[Function, Fields], Declared]
) -> Callable[Fields, Callable[[Function], Declared]]:
    """Make the decorator that registers functions of a kind; its arguments are the further fields of that kind."""

    def decorator(*args: Fields.args, **fields: Fields.kwargs) -> Callable[[Function], Declared]:
        return lambda function: cast(Declared, registry.add(kind(function, *args, **fields)))

    decorator.__doc__ = kind.__doc__
    return decorator


@dataclass(frozen=True)
class Call(Generic[Declared]):
    """A registry entry with the options that the user specified; `str()` of it parses back to it."""

    noun: Declared
    given: tuple[tuple[str, Any], ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.given)

    def __str__(self) -> str:
        return format_call(self.noun.name, self.given)


_CALL = re.compile(r"\s*(?P<name>[^\s()\[\]@,=]+)\s*(?:\((?P<options>.*)\))?\s*", re.DOTALL)


def required_table(function: Callable[..., Any]) -> type:
    """The table that a registered function needs: the annotation of its first parameter."""
    return _tables_of(function)[0]


def _tables_of(function: Callable[..., Any]) -> tuple[type, ...]:
    kind = annotation_of(function, function.__code__.co_varnames[0], None)
    kinds: tuple[Any, ...] = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if not all(isinstance(table, type) and table is not NoneType for table in kinds):
        raise TypeError(f"{function.__name__}: annotate the first parameter with the table it needs")
    return kinds


@cache
def load_plugins() -> None:
    """Import all plug-ins once; a plug-in that fails is recorded and skipped with a warning."""
    for entry in plugin_entry_points() if _may_have_plugins() else ():
        try:
            entry.load()
        except (Exception, SystemExit) as error:  # third-party code must not stop the program
            FAILED_PLUGINS[entry.name] = reason = f"{type(error).__name__}: {error}"
            warnings.warn(f"the plug-in {entry.name} ({entry.value}) cannot be loaded: {reason}", stacklevel=2)


def plugin_entry_points() -> list[EntryPoint]:
    """Entry points of third parties."""
    from importlib.metadata import entry_points

    all_entries = entry_points()
    return [entry for group in PLUGINS for entry in all_entries.select(group=group)]


def _may_have_plugins() -> bool:
    """Whether an installed package may have an entry point for us; ten times as fast as reading all entry points."""
    if any(hasattr(finder, "find_distributions") and finder is not PathFinder for finder in sys.meta_path):
        return True  # packages may be installed outside the path
    return any(map(_path_has_plugins, sys.path))


def _path_has_plugins(folder: str) -> bool:
    try:
        with os.scandir(folder or ".") as entries:
            metadata = [entry.path for entry in entries if entry.name.lower().endswith(("dist-info", "egg-info"))]
    except OSError:
        return os.path.isfile(folder)  # a zip archive, which importlib.metadata can read
    for path in metadata:
        try:
            with open(os.path.join(path, "entry_points.txt"), "rb") as text:
                if f"[{PLUGINS[0]}".encode() in text.read():
                    return True
        except OSError:
            continue
    return False

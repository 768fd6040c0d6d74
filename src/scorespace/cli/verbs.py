"""The `@verb` decorator and the command group that imports a verb when it is called."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from scorespace.cli import output
from scorespace.cli.config import check_keys, fit_value
from scorespace.cli.help_page import essential_options, print_short_help
from scorespace.cli.options import refuse_columns
from scorespace.cli.synonyms import translate_flags, translate_verb
from scorespace.errors import ScoreSpaceError, closest_name, normalise_name
from scorespace.registry import load_plugins

PANELS: Final = ("Evaluate models", "Drift, raters, rankings", "Data, clusters, learners", "Reference and tools")
"""Panels of the help page in their order; panels of plug-ins follow."""

Function = TypeVar("Function", bound=Callable[..., None])


class Verb(NamedTuple):
    """A registered verb of the command line."""

    name: str
    panel: str
    order: int
    summary: str
    function: str
    """Location of its function, as "module:name"."""


def verb(
    panel: str, order: int = 99, *, cls: type[VerbCommand] | None = None, runs_without_arguments: bool = False
) -> Callable[[Function], Function]:
    """Register a function as a verb of the command line, under the function's name.

    Its parameters become options and its docstring the help. With `runs_without_arguments`, calling it without
    arguments runs it instead of showing the help. A plug-in registers verbs in the module of its entry point.

    >>> @verb("Reference and tools", runs_without_arguments=True)
    ... def hello() -> None:
    ...     "Say hello."
    >>> "hello" in verbs()
    True
    """

    def register(function: Function) -> Function:
        summary = _summary(function.__doc__)
        location = f"{function.__module__}:{function.__name__}"
        _REGISTERED[function.__name__] = Verb(function.__name__, panel, order, summary, location)
        _FUNCTIONS[function.__name__] = (
            function,
            {"cls": cls or VerbCommand, "no_args_is_help": not runs_without_arguments},
        )
        return function

    return register


_REGISTERED: dict[str, Verb] = {}
_FUNCTIONS: dict[str, tuple[Callable[..., None], dict[str, Any]]] = {}


def verbs() -> dict[str, Verb]:
    """All verbs by name, built-in and of plug-ins, in the order of the help page."""
    load_plugins()
    verbs_by_name = {**_builtin_verbs(), **_REGISTERED}
    panels = [*PANELS, *dict.fromkeys(verb.panel for verb in verbs_by_name.values())]
    return {
        verb.name: verb
        for verb in sorted(verbs_by_name.values(), key=lambda verb: (panels.index(verb.panel), verb.order))
    }


@cache
def _builtin_verbs() -> dict[str, Verb]:
    """Verbs of this package, read from the source: importing all modules takes five times as long."""
    verbs_by_name = {}
    for path in Path(__file__).parent.glob("*.py"):
        functions = (node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef))
        for node in functions:
            call = node.decorator_list[-1] if node.decorator_list else None
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "verb":
                panel, order = map(ast.literal_eval, call.args)
                location = f"scorespace.cli.{path.stem}:{node.name}"
                verbs_by_name[node.name] = Verb(node.name, panel, order, _summary(ast.get_docstring(node)), location)
    return verbs_by_name


def _summary(text: str | None) -> str:
    """First paragraph of a docstring, on one line."""
    return " ".join((text or "").split("\n\n")[0].split())


class VerbCommand(TyperCommand):
    """Command of a verb: accepts spelling variants and several files, and suggests a correction for invalid input."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the options that most people need; --help-all prints all."""
        if essential_options(self.params):
            print_short_help(self, ctx)
        else:
            super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--help-all" in args:
            super().format_help(ctx, ctx.make_formatter())
            ctx.exit()
        flags = {flag for parameter in self.params for flag in parameter.opts}
        args = translate_flags([_normalise_spelling(word, flags) for word in args], flags)
        args = _join_lists(args, [flag for one in self.params if str(one.metavar) == "LIST" for flag in one.opts])
        defaults = ctx.default_map or {}
        check_keys(defaults, [str(parameter.name) for parameter in self.params], str(ctx.info_name))
        repeatable = {str(parameter.name) for parameter in self.params if getattr(parameter, "multiple", False)}
        for name, value in defaults.items():
            defaults[name] = fit_value(value, multiple=name in repeatable)
        self.no_args_is_help = self.no_args_is_help and "data" not in defaults
        if not ctx.resilient_parsing:
            self._refuse_repeated(ctx, args)
        elif args and args[-1] in flags:  # shell completion: the value of the last option is still missing
            args = args[:-1]
        if not args and self.no_args_is_help and not ctx.resilient_parsing:  # the help is shown, but not why
            output.write_stderr(f"ScoreSpaceError: {ctx.info_name} needs arguments.\n  hint: {self._example()}\n")
        takes_files = any(parameter.name == "data" for parameter in self.params)
        ctx.allow_extra_args = takes_files or ctx.allow_extra_args
        try:
            rest = list(super().parse_args(ctx, args))
        except Exception as error:
            missing = getattr(getattr(error, "param", None), "name", None)
            data = ctx.params.get("data") or ctx.params.get("before")
            if missing == "truth" and type(error).__name__ == "MissingParameter" and data:
                from scorespace.io import read, truth_not_named_error

                raise truth_not_named_error(read(data)) from None
            raise
        if rest and takes_files and ctx.params.get("data"):
            refuse_columns(ctx.params["data"], rest)
            ctx.params["data"] = [ctx.params["data"], *rest]  # the shell has expanded a pattern such as parts/*.csv
            ctx.args = []
            return []
        return rest

    def _example(self) -> str:
        """First example of the help text."""
        text = " ".join((self.help or "").split())
        return text.partition("Example: ")[2].partition(" Example: ")[0] or f"scorespace {self.name} --help"

    def _refuse_repeated(self, ctx: Any, args: list[str]) -> None:
        """Refuse an option that is passed twice although it takes one value."""
        try:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        except Exception:  # reported when the arguments are parsed
            return
        options: list[Any] = [option for option in order if option.opts[0].startswith("-")]
        single = [option for option in options if not (option.multiple or option.is_flag)]
        for position, option in enumerate(single):
            if option in single[:position]:
                flag = max(option.opts, key=len)
                raise ScoreSpaceError(f"{flag} is passed twice, but takes one value.", hint=f"pass {flag} once")


def _join_lists(args: list[str], flags: list[str]) -> list[str]:
    """Join the values of a repeated list: --measures auc --measures acc.

    >>> _join_lists(["a.csv", "--measures", "auc", "--measures=acc"], ["--measures"])
    ['a.csv', '--measures', 'auc,acc']
    """
    found: list[str] = []
    places: dict[str, int] = {}
    words = iter(args)
    for word in words:
        flag, equals, value = word.partition("=")
        if flag not in flags:
            found.append(word)
            continue
        text = value if equals else next(words, None)
        if flag in places and text is not None:
            found[places[flag]] += f",{text}"
        else:
            found += [flag] if text is None else [flag, text]
            places[flag] = len(found) - 1
    return found


def _normalise_spelling(word: str, flags: set[str]) -> str:
    """Return the flag in its known spelling (British or American)."""
    flag, equals, value = word.partition("=")
    if not flag.startswith("--") or flag in flags:
        return word
    known = {normalise_name(flag): flag for flag in flags}
    return known.get(normalise_name(flag), flag) + equals + value


class VerbGroup(TyperGroup):
    """Command group that imports a verb when it is called, through Click's hooks for lazy loading.

    Typer has no lazy groups, and Click's lazy groups do not read Typer's annotations.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        return list(verbs())

    def get_command(self, ctx: Any, name: str) -> Any:
        verb = _builtin_verbs().get(name) or verbs().get(name)
        return None if verb is None else load(verb)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if not ctx.resilient_parsing and args[0] not in verbs():
            if args == ["help"]:
                typer.echo(ctx.get_help())
                ctx.exit()
            translated = translate_verb(args, verbs())
            if translated is not None:
                args = translated
            elif Path(args[0]).is_file() or Path(args[0]).suffix or "/" in args[0]:
                # A file where a verb is expected: propose roles for its columns, or say that it is missing.
                args = ["doctor", *args]
            else:
                near = closest_name(args[0], verbs())
                ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean {near!r}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the page of all verbs in the style of Typer's help, without importing the verbs."""
        from rich.console import Console
        from rich.padding import Padding
        from rich.panel import Panel
        from rich.table import Table
        from rich.text import Text

        name_width = max(len(verb.name) for verb in verbs().values())

        def panel(title: str, rows: list[tuple[str, str]], name_width: int = 0) -> Panel:
            table = Table(box=None, show_header=False, expand=True, pad_edge=False, padding=(0, 2, 0, 0))
            table.add_column(
                style="bold cyan", no_wrap=True, min_width=max(name_width, *(len(name) for name, _ in rows))
            )
            table.add_column(ratio=1)
            for name, summary in rows:
                table.add_row(Text(name), Text(summary))
            return Panel(table, title=title, title_align="left", border_style="dim")

        options = [
            (", ".join(sorted(option.opts, reverse=True, key=len)), str(getattr(option, "help", "") or ""))
            for option in self.get_params(ctx)
        ]
        page = Console(highlight=False)
        page.print(Padding(Text(str(self.get_usage(ctx)), style="bold"), 1))
        page.print(Padding(Text(self.help or ""), (0, 1, 1, 1)))
        for title, panel_verbs in groupby(verbs().values(), key=lambda verb: verb.panel):
            page.print(panel(title, [(verb.name, verb.summary) for verb in panel_verbs], name_width))
        page.print(panel("Options", options))
        page.print(Padding(Text(self.epilog or ""), 1))


def load(verb: Verb) -> Any:
    """Build the command of a verb from its function."""
    from scorespace.cli.common_options import expand_option_groups

    import_module(verb.function.partition(":")[0])
    function, settings = _FUNCTIONS[verb.name]
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(verb.name, **settings)(expand_option_groups(function))
    return get_command(app)

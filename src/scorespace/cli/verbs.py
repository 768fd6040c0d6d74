"""The verbs, each a module that loads when it is called, and the page that lists them."""

from __future__ import annotations

import re
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from scorespace.cli import output
from scorespace.errors import ScoreSpaceError, folded


class Verb(NamedTuple):
    """A verb, whose function stands in the file of its name; `alone` does something useful without arguments."""

    name: str
    panel: str = ""
    alone: bool = False

    @property
    def summary(self) -> str:
        """The first sentence of its help, read from the file: to load what the verb needs takes much longer."""
        text = Path(__file__).with_name(f"{self.name}.py").read_text(encoding="utf-8")
        words = re.search(rf'^def {self.name}\(.*?"""(.*?)(?:\n\n|""")', text, re.DOTALL | re.MULTILINE)
        return " ".join(words[1].split()) if words else ""


_PANELS = {
    "Judge models": ("evaluate", "compare", "decide", "curve", "calibrate", "cases"),
    "Over time, raters, data sets": ("drift", "agree", "ranks", "power"),
    "Data, groups, learners": ("audit", "clusters", "rules", "benchmark", "study", "table"),
    "Look up, look around": ("demo", "measures", "curves", "tests", "serve", "doctor"),
}
_ALONE = _PANELS["Look up, look around"]
VERBS = tuple(Verb(name, panel, name in _ALONE) for panel, names in _PANELS.items() for name in names)
"""In the order in which the help lists them."""


class VerbCommand(TyperCommand):
    """A verb's command: what users type is taken as they mean it, or refused with what to type instead."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        flags = {flag for one in self.params for flag in one.opts}
        args = [_respelt(word, flags) for word in args]
        if not ctx.resilient_parsing:
            self._refuse_repeated(ctx, args)
        elif args and args[-1] in flags:  # completion: the value that the shell asks for is not there yet
            args = args[:-1]
        if (
            not args and self.no_args_is_help and not ctx.resilient_parsing
        ):  # which shows the help, but not what is wrong
            output.say(f"ScoreSpaceError: {ctx.info_name} is told nothing to work on.\n  hint: {self._example()}\n")
        several = any(one.name == "data" for one in self.params)
        ctx.allow_extra_args = several or ctx.allow_extra_args
        try:
            rest = list(super().parse_args(ctx, args))
        except Exception as error:
            missing = getattr(getattr(error, "param", None), "name", None)
            data = ctx.params.get("data") or ctx.params.get("before")
            if missing == "truth" and type(error).__name__ == "MissingParameter" and data:
                from scorespace.frames import read, truth_unnamed

                raise truth_unnamed(read(data)) from None
            raise
        if rest and several and ctx.params.get("data"):
            ctx.params["data"] = [ctx.params["data"], *rest]  # as a shell expands parts/*.csv
            ctx.args = []
            return []
        return rest

    def _example(self) -> str:
        """How the verb is called, by the example of its help."""
        words = " ".join((self.help or "").split())
        return words.partition("Example: ")[2].partition(" Example: ")[0] or f"scorespace {self.name} --help"

    def _refuse_repeated(self, ctx: Any, args: list[str]) -> None:
        """Refuse an option that is stated twice where only the last would count."""
        try:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        except Exception:  # told when it is parsed in earnest
            return
        options: list[Any] = [one for one in order if one.opts[0].startswith("-")]
        single = [one for one in options if not (one.multiple or one.is_flag)]
        for place, one in enumerate(single):
            if one in single[:place]:
                flag = max(one.opts, key=len)
                lists = str(one.metavar) == "LIST"
                hint = f'{flag} "auc, acc": one list' if lists else f"{flag} once"
                raise ScoreSpaceError(f"{flag} is stated twice, and only one can hold.", hint=hint)


def _respelt(word: str, flags: set[str]) -> str:
    """A flag in the spelling that is known: British or American."""
    flag, equals, value = word.partition("=")
    if not flag.startswith("--") or flag in flags:
        return word
    known = {folded(one): one for one in flags}
    return known.get(folded(flag), flag) + equals + value


class Verbs(TyperGroup):
    """A group that knows the summaries of its verbs, and loads a verb only when that is called."""

    def get_params(self, ctx: Any) -> list[Any]:
        return [spared(one) for one in super().get_params(ctx)]

    def get_command(self, ctx: Any, name: str) -> Any:
        command = super().get_command(ctx, name)
        if command is not None:
            command.help = Verb(name).summary  # for shells that complete it
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load(next(verb for verb in VERBS if verb.name == name)), rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The page of all verbs, in the look of Typer's own pages but without loading what these need."""
        from rich.console import Console
        from rich.padding import Padding
        from rich.panel import Panel
        from rich.table import Table
        from rich.text import Text

        names = max(len(verb.name) for verb in VERBS)

        def panel(title: str, rows: list[tuple[str, str]], least: int = 0) -> Panel:
            table = Table(box=None, show_header=False, expand=True, pad_edge=False, padding=(0, 2, 0, 0))
            table.add_column(style="bold cyan", no_wrap=True, min_width=max(least, *(len(name) for name, _ in rows)))
            table.add_column(ratio=1)
            for name, words in rows:
                table.add_row(Text(name), Text(words))
            return Panel(table, title=title, title_align="left", border_style="dim")

        options = [
            (", ".join(sorted(one.opts, reverse=True, key=len)), str(getattr(one, "help", "") or ""))
            for one in self.get_params(ctx)
        ]
        page = Console(highlight=False)
        page.print(Padding(Text(str(self.get_usage(ctx)), style="bold"), 1))
        page.print(Padding(Text(self.help or ""), (0, 1, 1, 1)))
        for title, verbs in groupby(VERBS, key=lambda verb: verb.panel):
            page.print(panel(title, [(verb.name, verb.summary) for verb in verbs], names))
        page.print(panel("Options", options))
        page.print(Padding(Text(self.epilog or ""), 1))


def load(verb: Verb) -> Any:
    """The command of a verb, made from the function of that name in the module of that name."""
    from scorespace.cli.given import spelt_out
    from scorespace.cli.memory import keep_memory

    keep_memory()
    module = import_module(f"scorespace.cli.{verb.name}")
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    function = spelt_out(getattr(module, verb.name))
    texts = {name for name, hint in get_type_hints(function).items() if _is_text(hint)}

    class Command(getattr(module, "Command", VerbCommand)):  # type: ignore[misc]
        def get_params(self, ctx: Any) -> list[Any]:
            params = [spared(one, is_text=one.name in texts) for one in super().get_params(ctx)]
            for one in params:
                if getattr(one, "is_flag", False):
                    one.metavar = ""  # a switch takes no value, and help shall not look as if it did
            return params

    alone.command(verb.name, no_args_is_help=not verb.alone, cls=Command)(function)
    return get_command(alone)


def _is_text(hint: Any) -> bool:
    """Whether a parameter is a text, or a list of texts."""
    inner = get_args(hint)
    return all(part is type(None) or _is_text(part) for part in inner) if inner else hint is str


def spared(parameter: Any, *, is_text: bool = False) -> Any:
    """The parameter, which leaves what needs no conversion as it is: Typer loads Pydantic for each value.

    That takes a sixth of a short run.
    """
    if "process_value" in vars(parameter):
        return parameter
    convert = parameter.process_value
    many = parameter.multiple or parameter.nargs == -1

    def process(ctx: Any, value: Any) -> Any:
        unset = (value is None or value is parameter.default) and not parameter.required
        parts = value if many and isinstance(value, list | tuple) else (value,)
        plain = is_text and len(parts) > 0 and all(isinstance(part, str) for part in parts)
        if not (unset or plain):
            return convert(ctx, value)
        value = () if value is None and many else value
        return value if parameter.callback is None else parameter.callback(ctx, parameter, value)

    parameter.process_value = process
    return parameter

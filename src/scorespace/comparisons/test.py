"""Declaration of tests: one decorated function per test, the designs it supports, and its eligibility rules."""

# ruff: noqa: PT028 - it declares tests of models and is none of pytest's

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args, get_origin, get_type_hints

from scorespace.comparisons.bounds import certify
from scorespace.comparisons.design import ACCURACY, Design
from scorespace.comparisons.margin import margin_test
from scorespace.comparisons.result import Comparison, one_sided
from scorespace.errors import MeasureError, ScoreSpaceError, listing
from scorespace.options import Option, check_options, keyword_options, parse_value
from scorespace.registry import Call, RegisteredFunction, Registry
from scorespace.results import Note, note
from scorespace.tables import NoTableError, Table
from scorespace.tables.case_costs import CostTable
from scorespace.tables.table import table_name


@dataclass(frozen=True)
class NotApplicable:
    """Why a test does not apply; {test} is replaced by its name, {title} by its title."""

    problem: str
    seen: str | None = None
    hint: str | None = None
    error: type[ScoreSpaceError] = ScoreSpaceError


@dataclass(frozen=True)
class Discouraged:
    """Why a test is not a default, though it can be requested; with a code, a note says so.

    `always_noted`: the note appears also where another test was chosen.
    """

    text: str
    code: str | None = None
    always_noted: bool = True


Rule = Callable[[Any], NotApplicable | Discouraged | None]


@dataclass(frozen=True)
class TestForm:
    """A test for one kind of design, of models with the given kind of table."""

    function: Callable[..., Comparison]
    table: type[Table]
    suits: tuple[Rule, ...]
    directed: bool = False

    @property
    def options(self) -> tuple[Option, ...]:
        """Options for this kind of design."""
        return keyword_options(self.function)


@dataclass(frozen=True, eq=False, repr=False)
class TestKind(RegisteredFunction):
    """A declared test.

    `for_` says what it is for. `suits` are its eligibility rules. A `general` test comes after all others when none is
    requested. `spellings` are further names that imply options. `forms` holds its functions by kind of design; a
    `directed` form supports one-sided alternatives.
    """

    __test__ = False  # not a test of this project

    name: str
    title: str
    for_: str
    function: Callable[..., Comparison]
    aliases: tuple[str, ...] = ()
    general: bool = False
    spellings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    forms: dict[type[Design[Any]], TestForm] = field(default_factory=dict)

    def __call__(self, design: Design[Any], **options: Any) -> Comparison:
        """Run the test on a design that it suits."""
        check_options(self, options)
        form = self.forms[type(design)]
        names = {option.name for option in form.options}
        for name, value in options.items():
            if name not in names:
                problem = f"{name}={value} of {self.name} does not apply: {self.name} cannot use it to {design.asks}."
                raise ScoreSpaceError(problem, hint=f'test="{self.name}"')
        if design.margin is None:
            return one_sided(certify(form.function(design, **options), design), design.alternative)

        def at_level(level: float) -> Comparison:
            interval_only = replace(design, level=level, margin=None, tested=False)
            return certify(form.function(interval_only, **options), interval_only)

        measured = design.spec or ACCURACY
        design.margin.check(str(measured), measured.best)
        return margin_test(design.margin, at_level, design.level, measured.best)

    def on(
        self, *suits: Rule, directed: bool | None = None
    ) -> Callable[[Callable[..., Comparison]], Callable[..., Comparison]]:
        """Declare the test for another kind of design, named by the annotation of the first parameter."""

        def declare(function: Callable[..., Comparison]) -> Callable[..., Comparison]:
            kind, table = _annotated_design(function)
            first = next(iter(self.forms.values()))
            self.forms[kind] = TestForm(function, table, suits, first.directed if directed is None else directed)
            return function

        return declare

    def misfit(self, design: Design[Any]) -> NotApplicable | Discouraged | None:
        """Why the test does not suit a design: the first reason against, else the first to discourage it."""
        form = self.forms.get(type(design))
        if form is None:
            names = [kind.name for kind in tests_in_order() if type(design) in kind.forms]
            return NotApplicable(
                f"{{test}} cannot {design.asks}.", seen=f"{listing(names)} can", hint=f'test="{names[-1]}"'
            )
        doubts: list[Discouraged] = []
        if design.only_table is not None and form.table is not design.only_table:
            of_costs = design.only_table is CostTable
            what = "costs that differ from case to case" if of_costs else "limits of each period"
            return NotApplicable(
                f"{{title}} cannot use {what}.", hint=f'test="{"case_costs" if of_costs else "periods"}"'
            )
        for rule in (*form.suits, self._has_tables):
            result = rule(design)
            if isinstance(result, NotApplicable):
                return result
            doubts += [] if result is None else [result]
        if design.alternative != "two-sided" and not form.directed:
            names = [
                kind.name
                for kind in tests_in_order()
                if type(design) in kind.forms and kind.forms[type(design)].directed
            ]
            return NotApplicable(
                f"{{title}} has no one-sided form{alternative_text(design)}",
                seen=f"{listing(names)} do" if names else None,
            )
        return doubts[0] if doubts else None

    def _has_tables(self, design: Design[Any]) -> NotApplicable | None:
        """Requires models with the table that the test needs."""
        wanted = self.forms[type(design)].table
        for table in design.tables:
            try:
                table.inside(wanted)
            except NoTableError:
                problem = f"{{test}} needs {table_name(wanted)}, and this is {table.described()}."
                return NotApplicable(problem, hint='test="bootstrap"', error=MeasureError)
        return None

    @property
    def options(self) -> tuple[Option, ...]:
        """Options for any design."""
        return tuple({option.name: option for form in self.forms.values() for option in form.options}.values())

    def takes(self, option: str, of: type[Design[Any]] = Design) -> bool:
        """Whether the test has that option for a kind of design."""
        forms = (form for kind, form in self.forms.items() if issubclass(kind, of))
        return any(option == option_.name for form in forms for option_ in form.options)

    @property
    def directed(self) -> bool:
        """Whether one-sided alternatives are supported."""
        return any(form.directed for form in self.forms.values())

    @property
    def named(self) -> str:
        """Title within a sentence: DeLong's test, the bootstrap."""
        return self.title if self.title[0].isupper() or self.title[0].isdigit() else f"the {self.title}"


TESTS: Registry[TestKind] = Registry("test", "tests")
"""Every declared test, in the order of declaration."""


def test(
    *,
    title: str,
    for_: str,
    suits: tuple[Rule, ...] = (),
    name: str = "",
    aliases: tuple[str, ...] = (),
    general: bool = False,
    directed: bool = False,
    spellings: Mapping[str, Mapping[str, Any]] | None = None,
) -> Callable[[Callable[..., Comparison]], TestKind]:
    """Declare a test; the annotation of the first parameter names the design and the table.

    The first line of the docstring is the explanation with the formula; keyword-only parameters are options.
    """

    def declare(function: Callable[..., Comparison]) -> TestKind:
        kind, table = _annotated_design(function)
        forms = {kind: TestForm(function, table, suits, directed)}
        names, spelt = (*aliases, *(spellings or {})), spellings or {}
        return TESTS.add(TestKind(name, title, for_, function, names, general, spelt, forms))

    return declare


test.__test__ = False  # type: ignore[attr-defined]  # no test of this project


def _annotated_design(function: Callable[..., Comparison]) -> tuple[type[Design[Any]], type[Table]]:
    """Return the design and the table in a function's annotation: `Paired[ScoreTable]`."""
    hint = next(iter(get_type_hints(function).values()), None)
    kind = get_origin(hint) or hint
    table = next(iter(get_args(hint)), Table)
    if not (isinstance(kind, type) and issubclass(kind, Design)):
        raise TypeError(f"{function.__name__}: annotate the first parameter with the design it supports")
    return kind, table if isinstance(table, type) else Table


def tests_in_order() -> list[TestKind]:
    """Return all tests in the order in which they are tried: general ones last."""
    return sorted(TESTS, key=lambda kind: kind.general)


def parse_test(text: str) -> Call[TestKind]:
    """Parse a test with its options; older spellings imply an option.

    >>> str(parse_test("mcnemar-exact")), str(parse_test("bootstrap(replicates=500)"))
    ('mcnemar(method=exact)', 'bootstrap(replicates=500)')
    """
    call = TESTS.parse(text)
    spelt = re.sub(r"[\s\-]+", "_", text.strip()).casefold()
    implied = call.noun.spellings.get(spelt)
    return call if implied is None else Call(call.noun, tuple(implied.items()))


@dataclass(frozen=True)
class ChosenTest:
    """A test with its options, and why it is discouraged, if so."""

    call: Call[TestKind]
    doubts: tuple[Discouraged, ...] = ()
    stated: bool = True

    @property
    def kind(self) -> TestKind:
        return self.call.noun

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on discouraged tests: which one is used instead, or should be."""
        instead = "" if self.stated else f"; {self.kind.named} is used instead"
        selected = (reason for reason in self._coded_doubts if self.stated or reason.always_noted)
        return tuple(note(reason.code or "", f"{reason.text}{instead}.") for reason in selected)

    @property
    def reason(self) -> str | None:
        """Why other tests were not chosen."""
        return None if self.stated else "; ".join(reason_.text for reason_ in self._coded_doubts) or None

    @property
    def _coded_doubts(self) -> list[Discouraged]:
        """The first reason of each kind."""
        return list({doubt.code: doubt for doubt in reversed(self.doubts) if doubt.code is not None}.values())[::-1]


def chosen(text: str | None, design: Design[Any]) -> ChosenTest:
    """Return the requested test, an error where it does not apply; or the first applicable one if none is requested.

    If all applicable tests are discouraged, the first of them is used.
    """

    def choice(call: Call[TestKind], *doubts: tuple[TestKind, Discouraged], stated: bool = True) -> ChosenTest:
        texts = tuple(replace(reason, text=reason.text.replace("{title}", kind.named)) for kind, reason in doubts)
        return ChosenTest(call, texts, stated)

    if text is not None:
        call = parse_test(text)
        doubt = check_applicable(call.noun, design)
        return choice(call) if doubt is None else choice(call, (call.noun, doubt))
    doubts: list[tuple[TestKind, Discouraged]] = []
    first: NotApplicable | None = None
    for kind in tests_in_order():
        result = kind.misfit(design)
        if result is None:
            return choice(Call(kind), *doubts, stated=False)
        if isinstance(result, Discouraged):
            doubts.append((kind, result))
        else:
            first = result if kind.general and first is None else first
    if doubts:
        return choice(Call(doubts[0][0]), doubts[0])
    raise not_applicable_error(tests_in_order()[0], first or NotApplicable(f"no test can {design.asks}."))


def check_applicable(kind: TestKind, design: Design[Any]) -> Discouraged | None:
    """Return why a requested test is discouraged, if so; raise an error where it does not apply."""
    result = kind.misfit(design)
    if isinstance(result, NotApplicable):
        raise not_applicable_error(kind, result)
    return result


def not_applicable_error(kind: TestKind, reason: NotApplicable) -> ScoreSpaceError:
    """Return the error that says why a test does not apply."""
    problem = reason.problem.replace("{test}", kind.name).replace("{title}", kind.named)
    return reason.error(
        problem[0].upper() + problem[1:] if "{title}" in reason.problem else problem, seen=reason.seen, hint=reason.hint
    )


def with_options(call: Call[TestKind], stated: Mapping[str, Any], of: type[Design[Any]] = Design) -> Call[TestKind]:
    """Add separately stated options to a call; unknown ones are an error that names tests with this option."""
    stated_options = {name: value for name, value in stated.items() if value is not None}
    if not stated_options:
        return call
    options = {option.name: option for option in call.noun.options}
    for name, value in stated_options.items():
        if name not in options:
            names = [kind.name for kind in tests_in_order() if kind.takes(name, of)]
            text = value if isinstance(value, str) else f"{value:g}"
            raise ScoreSpaceError(
                f"{name}={text} is for the test {' or '.join(names)}, and not for {call.noun.name}.",
                hint=f'test="{names[0]}"' if names else None,
            )
        if isinstance(value, str):
            parse_value(options[name], value, call.noun.name)  # raises an error for invalid values
    merged = {**call.options, **stated_options}
    return Call(call.noun, tuple((name, merged[name]) for name in options if name in merged))


def alternative_text(design: Design[Any]) -> str:
    return f", so alternative={design.alternative!r} is not possible."

"""The declaration of a test: one decorated function, the questions it can be asked, and what it suits."""

# ruff: noqa: PT028 - it declares tests of models and is none of pytest's

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, get_args, get_origin, get_type_hints

from scorespace.comparisons.answer import Comparison, one_sided
from scorespace.comparisons.certain import certain
from scorespace.comparisons.question import Question
from scorespace.declaration import Call, Declaration, Option, Registry, check_options, options_of, read_value
from scorespace.errors import MeasureError, ScoreSpaceError, listing
from scorespace.frozen import dataclass
from scorespace.results import Note, note
from scorespace.tables import NoTableError, Table
from scorespace.tables.table import called


@dataclass(frozen=True)
class Refused:
    """Why a test cannot answer a question; {test} stands for its name, {title} for its title."""

    problem: str
    seen: str | None = None
    hint: str | None = None
    error: type[ScoreSpaceError] = ScoreSpaceError


@dataclass(frozen=True)
class Doubt:
    """Why a test is not chosen by itself, though it can be asked for; with a code, there is a note that says so.

    `aloud`: also where another test was chosen, and does not say so itself.
    """

    text: str
    code: str | None = None
    aloud: bool = True


Rule = Callable[[Any], Refused | Doubt | None]


@dataclass(frozen=True)
class Form:
    """A test as the answer to one kind of question, of models that have such a table."""

    function: Callable[..., Comparison]
    table: type[Table]
    suits: tuple[Rule, ...]
    directed: bool = False

    @property
    def options(self) -> tuple[Option, ...]:
        """What can be said of it when it answers such a question."""
        return options_of(self.function)


@dataclass(frozen=True, eq=False, repr=False)
class TestKind(Declaration):
    """A test with all that a reader needs to choose it.

    `for_` says what it is for. `suits` are the rules of what it can be asked, each of which is silent, refuses or
    doubts. A `general` test comes after all others when none is named. `spellings` are further names that imply
    options. `forms` holds what it does by kind of question; a `directed` form tells which of two numbers is greater.
    """

    __test__ = False  # no test of this project

    name: str
    title: str
    for_: str
    function: Callable[..., Comparison]
    aliases: tuple[str, ...] = ()
    general: bool = False
    spellings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    forms: dict[type[Question[Any]], Form] = field(default_factory=dict)

    def __call__(self, question: Question[Any], **options: Any) -> Comparison:
        """The answer to a question that it suits."""
        check_options(self, options)
        form = self.forms[type(question)]
        known = {option.name for option in form.options}
        for name, value in options.items():
            if name not in known:
                problem = f"{name}={value} of {self.name} says nothing when it is to {question.asks}."
                raise ScoreSpaceError(problem, hint=f'test="{self.name}"')
        return one_sided(certain(form.function(question, **options), question), question.alternative)

    def on(
        self, *suits: Rule, directed: bool | None = None
    ) -> Callable[[Callable[..., Comparison]], Callable[..., Comparison]]:
        """Declare what it answers to another kind of question, named by the annotation of the first parameter."""

        def declare(function: Callable[..., Comparison]) -> Callable[..., Comparison]:
            kind, table = _asked(function)
            first = next(iter(self.forms.values()))
            self.forms[kind] = Form(function, table, suits, first.directed if directed is None else directed)
            return function

        return declare

    def misfit(self, question: Question[Any]) -> Refused | Doubt | None:
        """Why it does not suit a question: the first refusal, else the first doubt."""
        form = self.forms.get(type(question))
        if form is None:
            able = [one.name for one in ranked() if type(question) in one.forms]
            return Refused(f"{{test}} cannot {question.asks}.", seen=f"{listing(able)} can", hint=f'test="{able[-1]}"')
        doubts: list[Doubt] = []
        for rule in (*form.suits, self._has_tables):
            found = rule(question)
            if isinstance(found, Refused):
                return found
            doubts += [] if found is None else [found]
        if question.alternative != "two-sided" and not form.directed:
            able = [one.name for one in ranked() if type(question) in one.forms and one.forms[type(question)].directed]
            return Refused(
                f"{{title}} knows no direction{asked_for_one(question)}", seen=f"{listing(able)} do" if able else None
            )
        return doubts[0] if doubts else None

    def _has_tables(self, question: Question[Any]) -> Refused | None:
        """Models that have the table it needs."""
        wanted = self.forms[type(question)].table
        for table in question.tables:
            try:
                table.inside(wanted)
            except NoTableError:
                problem = f"{{test}} needs {called(wanted)}, and this is {table.described()}."
                return Refused(problem, hint='test="bootstrap"', error=MeasureError)
        return None

    @property
    def options(self) -> tuple[Option, ...]:
        """Its options, whatever it is asked."""
        return tuple({one.name: one for form in self.forms.values() for one in form.options}.values())

    def takes(self, option: str, of: type[Question[Any]] = Question) -> bool:
        """Whether it has that option when it answers questions of a kind."""
        forms = (form for kind, form in self.forms.items() if issubclass(kind, of))
        return any(option == one.name for form in forms for one in form.options)

    @property
    def directed(self) -> bool:
        """Whether one direction alone can be asked for."""
        return any(form.directed for form in self.forms.values())

    @property
    def named(self) -> str:
        """Its title within a sentence: DeLong's test, the bootstrap."""
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
    """Declare a test; the annotation of the first parameter says what it is asked, and of which tables.

    The docstring's first line is the explanation and the formula; keyword-only parameters are options.
    """

    def declare(function: Callable[..., Comparison]) -> TestKind:
        kind, table = _asked(function)
        forms = {kind: Form(function, table, suits, directed)}
        names, spelt = (*aliases, *(spellings or {})), spellings or {}
        return TESTS.add(TestKind(name, title, for_, function, names, general, spelt, forms))

    return declare


test.__test__ = False  # type: ignore[attr-defined]  # no test of this project


def _asked(function: Callable[..., Comparison]) -> tuple[type[Question[Any]], type[Table]]:
    """The kind of question and the table that a function is annotated with: `Paired[ScoreTable]`."""
    hint = next(iter(get_type_hints(function).values()), None)
    kind = get_origin(hint) or hint
    table = next(iter(get_args(hint)), Table)
    if not (isinstance(kind, type) and issubclass(kind, Question)):
        raise TypeError(f"{function.__name__}: annotate the first parameter with the question it answers")
    return kind, table if isinstance(table, type) else Table


def ranked() -> list[TestKind]:
    """All tests in the order in which they are tried: those that suit anything come last."""
    return sorted(TESTS, key=lambda kind: kind.general)


def parse_test(text: str) -> Call[TestKind]:
    """A test with its options, as users write it; older spellings mean one with an option.

    >>> str(parse_test("mcnemar-exact")), str(parse_test("bootstrap(replicates=500)"))
    ('mcnemar(method=exact)', 'bootstrap(replicates=500)')
    """
    call = TESTS.parse(text)
    spelt = re.sub(r"[\s\-]+", "_", text.strip()).casefold()
    implied = call.noun.spellings.get(spelt)
    return call if implied is None else Call(call.noun, tuple(implied.items()))


@dataclass(frozen=True)
class Choice:
    """A test with its options, and what there is to say about it."""

    call: Call[TestKind]
    doubts: tuple[Doubt, ...] = ()
    stated: bool = True

    @property
    def kind(self) -> TestKind:
        return self.call.noun

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes of the doubts: what was chosen instead, or what to take instead."""
        instead = "" if self.stated else f"; {self.kind.named} is used instead"
        told = (one for one in self._telling if self.stated or one.aloud)
        return tuple(note(one.code or "", f"{one.text}{instead}.") for one in told)

    @property
    def reason(self) -> str | None:
        """Why another test was passed over."""
        return None if self.stated else "; ".join(one.text for one in self._telling) or None

    @property
    def _telling(self) -> list[Doubt]:
        """The first doubt of each kind: what is too little for one test is too little for the next."""
        return list({one.code: one for one in reversed(self.doubts) if one.code is not None}.values())[::-1]


def chosen(text: str | None, question: Question[Any]) -> Choice:
    """The test that was named, refused where it does not suit; or the first that suits, when none was named.

    Where every test that could answer is in doubt, the first of them answers.
    """

    def choice(call: Call[TestKind], *doubts: tuple[TestKind, Doubt], stated: bool = True) -> Choice:
        told = tuple(replace(one, text=one.text.replace("{title}", kind.named)) for kind, one in doubts)
        return Choice(call, told, stated)

    if text is not None:
        call = parse_test(text)
        doubt = refuse_misfit(call.noun, question)
        return choice(call) if doubt is None else choice(call, (call.noun, doubt))
    doubts: list[tuple[TestKind, Doubt]] = []
    first: Refused | None = None
    for kind in ranked():
        found = kind.misfit(question)
        if found is None:
            return choice(Call(kind), *doubts, stated=False)
        if isinstance(found, Doubt):
            doubts.append((kind, found))
        else:
            first = found if kind.general and first is None else first
    if doubts:
        return choice(Call(doubts[0][0]), doubts[0])
    raise refusal(ranked()[0], first or Refused(f"no test can {question.asks}."))


def refuse_misfit(kind: TestKind, question: Question[Any]) -> Doubt | None:
    """The doubt there is about a test that was named for a question; what it cannot answer is refused."""
    found = kind.misfit(question)
    if isinstance(found, Refused):
        raise refusal(kind, found)
    return found


def refusal(kind: TestKind, found: Refused) -> ScoreSpaceError:
    """The error that says why a test does not suit."""
    problem = found.problem.replace("{test}", kind.name).replace("{title}", kind.named)
    return found.error(
        problem[0].upper() + problem[1:] if "{title}" in found.problem else problem, seen=found.seen, hint=found.hint
    )


def with_options(call: Call[TestKind], stated: Mapping[str, Any], of: type[Question[Any]] = Question) -> Call[TestKind]:
    """The call with options that were stated beside it; those it lacks are refused, naming tests of such questions."""
    given = {name: value for name, value in stated.items() if value is not None}
    if not given:
        return call
    options = {option.name: option for option in call.noun.options}
    for name, value in given.items():
        if name not in options:
            able = [one.name for one in ranked() if one.takes(name, of)]
            said = value if isinstance(value, str) else f"{value:g}"
            raise ScoreSpaceError(
                f"{name}={said} is for the test {' or '.join(able)}, and not for {call.noun.name}.",
                hint=f'test="{able[0]}"' if able else None,
            )
        if isinstance(value, str):
            read_value(options[name], value, call.noun.name)  # refuses what is none of its values
    merged = {**call.options, **given}
    return Call(call.noun, tuple((name, merged[name]) for name in options if name in merged))


def asked_for_one(question: Question[Any]) -> str:
    return f", and alternative={question.alternative!r} asks for one."

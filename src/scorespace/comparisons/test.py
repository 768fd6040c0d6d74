"""The declaration of a test: one decorated function, the questions it can be asked, and what it suits."""

# ruff: noqa: PT028 - it declares tests of models and is none of pytest's

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, get_args, get_origin, get_type_hints

from scorespace.comparisons.answer import Comparison, one_sided
from scorespace.comparisons.certain import certain
from scorespace.comparisons.question import Question
from scorespace.declaration import Call, Option, Registry, check_options, options_of
from scorespace.errors import MeasureError, ScoreSpaceError, listing
from scorespace.measures.catalog import measures
from scorespace.measures.confusion import acc
from scorespace.results import Note, note
from scorespace.tables import NoTableError, Table, Top
from scorespace.tables.table import called

FEW: Final = 20
"""Cases of the rarer class below which large-sample tests reject too often: with 10 of them 6.7 % in place of 5 %."""


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


@dataclass(frozen=True, eq=False)
class TestKind:
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
                f"{{title}} knows no direction{_asked_for_one(question)}", seen=f"{listing(able)} do" if able else None
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

    @property
    def about_decisions(self) -> bool:
        """Whether it is about which decisions are right, and about no measure."""
        return any(of_decisions in form.suits for form in self.forms.values())

    @property
    def summary(self) -> str:
        """The first line of the docstring: what it computes."""
        return (self.function.__doc__ or "").strip().splitlines()[0]

    def __repr__(self) -> str:
        return f"{self.name}: {self.title}. {self.summary}"


TESTS: Registry[TestKind] = Registry("test", "tests")
"""Every declared test, in the order of declaration."""


def test(
    *,
    title: str,
    for_: str,
    suits: tuple[Rule, ...] = (),
    name: str | None = None,
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
        declared = TestKind(
            name=name or function.__name__,
            title=title,
            for_=for_,
            function=function,
            aliases=(*aliases, *(spellings or {})),
            general=general,
            spellings=spellings or {},
            forms={kind: Form(function, table, suits, directed)},
        )
        # Introspection and doctest see the function behind the frozen declaration.
        seen = {"__wrapped__": function, "__doc__": function.__doc__, "__name__": declared.name}
        vars(declared).update(seen, __module__=function.__module__)
        return TESTS.add(declared)

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


def chosen(text: str | None, question: Question[Any], options: Mapping[str, Any] | None = None) -> Choice:
    """The test that was named, refused where it does not suit; or the first that suits, when none was named.

    Where every test that could answer is in doubt, the first of them answers.
    """
    given = options or {}
    if text is not None:
        call = parse_test(text)
        doubt = refuse_misfit(call.noun, question)
        return Choice(with_options(call, given, type(question)), () if doubt is None else (_named(call.noun, doubt),))
    doubts: list[tuple[TestKind, Doubt]] = []
    first: Refused | None = None
    for kind in ranked():
        found = kind.misfit(question)
        if found is None:
            return Choice(
                with_options(Call(kind), given, type(question)), tuple(_named(*one) for one in doubts), stated=False
            )
        if isinstance(found, Doubt):
            doubts.append((kind, found))
        else:
            first = found if kind.general and first is None else first
    if doubts:
        kind, doubt = doubts[0]
        return Choice(with_options(Call(kind), given, type(question)), (_named(kind, doubt),))
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


def _named(kind: TestKind, doubt: Doubt) -> Doubt:
    return replace(doubt, text=doubt.text.replace("{title}", kind.named))


def with_options(call: Call[TestKind], stated: Mapping[str, Any], of: type[Question[Any]] = Question) -> Call[TestKind]:
    """The call with options that were stated beside it; those it lacks are refused, naming tests of such questions."""
    given = {name: value for name, value in stated.items() if value is not None}
    if not given:
        return call
    known = {option.name for option in call.noun.options}
    for name, value in given.items():
        if name not in known:
            able = [one.name for one in ranked() if one.takes(name, of)]
            said = value if isinstance(value, str) else f"{value:g}"
            raise ScoreSpaceError(
                f"{name}={said} is for the test {' or '.join(able)}, and not for {call.noun.name}.",
                hint=f'test="{able[0]}"' if able else None,
            )
    merged = {**call.options, **given}
    return Call(
        call.noun, tuple((option.name, merged[option.name]) for option in call.noun.options if option.name in merged)
    )


# --- rules


def of_areas(question: Question[Any]) -> Refused | None:
    """Measures that follow from the area under the ROC curve."""
    spec = question.spec
    if spec is not None and spec.measure.area is not None and spec.of is None:
        return None
    able = [one.name for one in measures() if one.area is not None]
    asked = "decisions" if spec is None else str(spec)
    hint = 'test="mcnemar"' if spec is None else 'test="bootstrap", which is for any measure'
    return Refused(f"{{title}} is for {' or '.join(able)}, not for {asked}.", hint=hint, error=MeasureError)


def of_a_measure(question: Question[Any]) -> Refused | None:
    """Any measure."""
    if question.spec is not None:
        return None
    return Refused("{title} compares a measure, and a threshold alone names none.", hint='measure="acc@0.5"')


def of_decisions(question: Question[Any]) -> Refused | None:
    """Decisions, right or wrong, and the share of right ones."""
    spec = question.spec
    if spec is None or (spec.measure is acc and spec.of is None and not isinstance(spec.at, Top)):
        return None
    return Refused(
        f"{{title}} is for {acc.name}, not for {spec}.",
        hint='test="bootstrap", which is for any measure',
        error=MeasureError,
    )


def decided(question: Any) -> Refused | None:
    """Models that decide, or scores with a threshold."""
    if of_decisions(question) is not None:
        return None
    for model in question.models:
        try:
            question.right(model)
        except NoTableError as error:
            hint = "state the threshold: at=0.5" if error.hint else "another test, or models that decide"
            held = question.tables[question.models.index(model)].described()
            return Refused("{title} compares decisions.", seen=f"{held} of {model}", hint=hint)
    return None


def both_sides(question: Question[Any]) -> Refused | None:
    """Both directions at once, as squares of differences have no sign."""
    if question.alternative == "two-sided":
        return None
    hint = "leave out alternative, or a test that adds up differences"
    return Refused(f"{{title}} squares the differences, which have no sign then{_asked_for_one(question)}", hint=hint)


def any_of_several(question: Question[Any]) -> Refused | None:
    """Whether any of several differ, which has no direction."""
    if question.alternative == "two-sided":
        return None
    hint = "leave out alternative, or name a test of two models at a time"
    return Refused(
        f"{{title}} asks whether any of several differ, in whichever direction{_asked_for_one(question)}", hint=hint
    )


def each_side_by_itself(question: Question[Any]) -> Refused | None:
    """Each side by itself: the probabilities that one is lower and that it is higher."""
    if question.alternative == "two-sided":
        return None
    told = {"greater": "higher", "less": "lower"}[question.alternative]
    problem = f"{{title}} tells the probability of each side, and needs no alternative={question.alternative!r}."
    return Refused(problem, hint=f"leave it out: P {told} is what you ask for")


def _asked_for_one(question: Question[Any]) -> str:
    return f", and alternative={question.alternative!r} asks for one."


def by_request(question: Question[Any]) -> Doubt:
    """On request only: another test agrees with the interval that is shown of the same number."""
    return Doubt("another test agrees with the interval that is shown")


def each_case_once(question: Question[Any]) -> Refused | None:
    """Cases that occur once, not in several repeats."""
    pairs = question.pairs
    if pairs is None or pairs.repeat is None:
        return None
    over = [one.name for one in ranked() if in_folds in one.forms[next(iter(one.forms))].suits]
    return Refused(
        "with repeats every case occurs several times, which {test} would count as several cases.",
        seen=f"{pairs.cases} rows in {int(pairs.repeat.max()) + 1} repeats",
        hint=f"fold=… and one of {', '.join(over)}",
    )


def in_folds(question: Question[Any]) -> Refused | None:
    """Models that were tested in folds."""
    pairs = question.pairs
    if pairs is not None and pairs.fold is not None:
        return None
    return Refused("{test} compares folds, but no fold is named.", hint="fold=…")


def not_in_folds(question: Question[Any]) -> Doubt | None:
    """Models as they are; where folds are named, the question is about learners."""
    pairs = question.pairs
    if pairs is None or pairs.fold is None or question.spec is None or (pairs.fold == pairs.fold[0]).all():
        return None
    return Doubt("the models were tested in folds, and {title} is about cases")


def ungrouped(question: Question[Any]) -> Doubt | None:
    """Cases that are independent of each other, not in groups."""
    if not question.grouped:
        return None
    return Doubt(
        "cases of a group are not independent, but {title} takes them for it and is too sure", "SS016", aloud=False
    )


def unweighted(question: Question[Any]) -> Refused | None:
    """Cases without weights."""
    if not question.weighted:
        return None
    return Refused("{title} counts cases, and these have weights.", hint='test="bootstrap", which draws weighted cases')


def enough_cases(question: Question[Any]) -> Doubt | None:
    """At least 20 cases of the rarest class, or 20 groups with it."""
    if question.fewest >= FEW:
        return None
    what = "groups with the rarest class" if question.grouped else "cases of the rarest class"
    number = f"{question.fewest} {what} are" if question.fewest != 1 else f"1 {what.replace('s ', ' ', 1)} is"
    return Doubt(f"{number} too few for {{title}}, whose p would be too small", "SS001")


def enough_apart(question: Any) -> Doubt | None:
    """At least 20 cases that the two models decide differently, where a measure of decisions is asked for."""
    spec = question.spec
    if spec is None or spec.at is None or any(table.scores_classes for table in question.tables):
        return None
    a, b = (question.right(model) for model in question.names)
    differ = question.pairs.counted(a != b)
    if differ == 0 or differ >= FEW:
        return None
    cases = "1 case that is" if differ == 1 else f"{differ} cases that are"
    return Doubt(
        f"{cases} decided differently {'is' if differ == 1 else 'are'} too few for {{title}}, "
        "whose p would be too small",
        "SS001",
    )

"""What a test suits: rules of what it can be asked, each of which is silent, refuses with the reason, or doubts."""

from __future__ import annotations

from typing import Any, Final

from scorespace.comparisons.question import RIGHT, Question
from scorespace.comparisons.test import Doubt, Refused, TestKind, asked_for_one, ranked
from scorespace.errors import MeasureError
from scorespace.measures.catalog import measures
from scorespace.tables import NoTableError, Top

FEW: Final = 20
"""Cases of the rarer class below which large-sample tests reject too often: with 10 of them 6.7 % in place of 5 %."""


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
    own = spec is not None and spec.name == RIGHT.name and spec.of is None and not isinstance(spec.at, Top)
    if spec is None or (own and spec.prevalence is None):
        return None
    other = f"not for {spec}" if not own else f"not for {spec} at a stated prevalence"
    return Refused(
        f"{{title}} is for {RIGHT.name}, {other}.",
        hint='test="bootstrap", which is for any measure',
        error=MeasureError,
    )


def about_decisions(kind: TestKind) -> bool:
    """Whether a test is about which decisions are right, and about no measure."""
    return any(of_decisions in form.suits for form in kind.forms.values())


def decided(question: Any) -> Refused | None:
    """Models that decide, or scores with a threshold."""
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
    hint = "leave out alternative, or a test that adds up differences"
    return _undirected(question, "{title} squares the differences, which have no sign then", hint)


def any_of_several(question: Question[Any]) -> Refused | None:
    """Whether any of several differ, which has no direction."""
    hint = "leave out alternative, or name a test of two models at a time"
    return _undirected(question, "{title} asks whether any of several differ, in whichever direction", hint)


def _undirected(question: Question[Any], problem: str, hint: str) -> Refused | None:
    return None if question.alternative == "two-sided" else Refused(f"{problem}{asked_for_one(question)}", hint=hint)


def each_side_by_itself(question: Question[Any]) -> Refused | None:
    """Each side by itself: the probabilities that one is lower and that it is higher."""
    if question.alternative == "two-sided":
        return None
    told = {"greater": "higher", "less": "lower"}[question.alternative]
    problem = f"{{title}} tells the probability of each side, and needs no alternative={question.alternative!r}."
    return Refused(problem, hint=f"leave it out: P {told} is what you ask for")


def case_by_case(question: Any) -> Refused | None:
    """Cases of all models side by side, not of every two of them alone."""
    if not question.couples:
        return None
    return Refused("{title} needs the cases of all models at once.", seen="bins of every two", hint="two models")


def by_request(question: Question[Any]) -> Doubt:
    """On request only: another test agrees with the interval that is shown of the same number."""
    return Doubt("another test agrees with the interval that is shown")


def of_replicates(question: Question[Any]) -> Doubt | None:
    """Measures whose interval comes of replicates; those of outcomes and of sums over cases have other ones."""
    # Cases drawn again never fill an empty cell: of 1 alarm, and that false, ppv is 0 in all replicates and for sure.
    # With 20 positives, and a handful of alarms, the bootstrap of two samples called 20 % of equal ppv different.
    if any(table.summed for table in question.tables):  # sums are drawn again as they are: their cases are not known
        return by_request(question)
    tables = [request.table for request in question.bound]
    if question.grouped or not all(table.counts_outcomes and not table.by_case for table in tables):
        return None
    return by_request(question)


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

"""Eligibility rules of tests: each returns None, why a test is not applicable, or why it is discouraged."""

from __future__ import annotations

from typing import Any, Final

from scorespace.comparisons.design import ACCURACY, Design
from scorespace.comparisons.test import Discouraged, NotApplicable, TestKind, alternative_text, tests_in_order
from scorespace.errors import MeasureError
from scorespace.measures.catalog import measures
from scorespace.tables import NoTableError, TopCases

MIN_RAREST_CASES: Final = 20
"""Cases of the rarer class below which large-sample tests reject too often: with 10 cases 6.7 % instead of 5 %."""


def requires_auc(design: Design[Any]) -> NotApplicable | None:
    """Requires a measure that is linear in the AUC."""
    spec = design.spec
    if spec is not None and isinstance(spec.measure.area, tuple) and spec.of is None:
        return None
    names = [measure.name for measure in measures() if isinstance(measure.area, tuple)]
    requested = "decisions" if spec is None else str(spec)
    hint = 'test="mcnemar"' if spec is None else 'test="bootstrap", which is for any measure'
    return NotApplicable(f"{{title}} is for {' or '.join(names)}, not for {requested}.", hint=hint, error=MeasureError)


def requires_measure(design: Design[Any]) -> NotApplicable | None:
    """Requires a measure."""
    if design.spec is not None:
        return None
    return NotApplicable(
        "{title} compares a measure, and a threshold alone does not name one.", hint='measure="acc@0.5"'
    )


def requires_decisions(design: Design[Any]) -> NotApplicable | None:
    """Requires decisions, or their accuracy."""
    spec = design.spec
    is_accuracy = (
        spec is not None and spec.name == ACCURACY.name and spec.of is None and not isinstance(spec.at, TopCases)
    )
    if spec is None or (is_accuracy and spec.prevalence is None):
        return None
    exclusion = f"not for {spec}" if not is_accuracy else f"not for {spec} at a stated prevalence"
    return NotApplicable(
        f"{{title}} is for {ACCURACY.name}, {exclusion}.",
        hint='test="bootstrap", which is for any measure',
        error=MeasureError,
    )


def is_decision_test(kind: TestKind) -> bool:
    """Whether a test compares decisions rather than a measure."""
    return any(requires_decisions in form.suits for form in kind.forms.values())


def requires_threshold(design: Any) -> NotApplicable | None:
    """Requires models that decide, or scores with a threshold."""
    for model in design.models:
        try:
            design.right(model)
        except NoTableError as error:
            hint = "state the threshold: at=0.5" if error.hint else "another test, or models that decide"
            described = design.tables[design.models.index(model)].described()
            return NotApplicable("{title} compares decisions.", seen=f"{described} of {model}", hint=hint)
    return None


def requires_two_sided(design: Design[Any]) -> NotApplicable | None:
    """Requires a two-sided alternative, as squared differences have no sign."""
    hint = "omit alternative, or use a test of signed differences"
    return _require_two_sided(design, "{title} uses squared differences, which have no sign", hint)


def requires_two_sided_omnibus(design: Design[Any]) -> NotApplicable | None:
    """Requires a two-sided alternative, as a test of several models has no direction."""
    hint = "omit alternative, or use a test of two models"
    return _require_two_sided(design, "{title} tests whether any of several models differ, in any direction", hint)


def _require_two_sided(design: Design[Any], problem: str, hint: str) -> NotApplicable | None:
    return (
        None if design.alternative == "two-sided" else NotApplicable(f"{problem}{alternative_text(design)}", hint=hint)
    )


def requires_no_alternative(design: Design[Any]) -> NotApplicable | None:
    """Requires no alternative, as the test returns the probability of both sides."""
    if design.alternative == "two-sided":
        return None
    side = {"greater": "higher", "less": "lower"}[design.alternative]
    problem = f"{{title}} returns the probability of each side and takes no alternative={design.alternative!r}."
    return NotApplicable(problem, hint=f"omit it and read P {side}")


def requires_joint_cases(design: Any) -> NotApplicable | None:
    """Requires the matched cases of all models, not only of every two."""
    if not design.couples:
        return None
    return NotApplicable("{title} needs the cases of all models at once.", seen="bins of every two", hint="two models")


def only_on_request(design: Design[Any]) -> Discouraged:
    """Discouraged unless requested: another test agrees with the displayed interval."""
    return Discouraged("another test agrees with the displayed interval")


def discourages_bootstrap(design: Design[Any]) -> Discouraged | None:
    """Discourages the bootstrap for measures of decisions and sums, which have better intervals."""
    # Resampling never fills an empty cell: with one predicted positive, a false one, ppv is 0 in all replicates. With
    # 20 positives and few predicted positives, the bootstrap of two samples rejected equal ppv in 20 % of samples.
    if any(table.summed for table in design.tables):  # the cases of sums are not known one by one
        return only_on_request(design)
    tables = [request.table for request in design.bound]
    if design.grouped or not all(table.counts_outcomes and not table.by_case for table in tables):
        return None
    return only_on_request(design)


def requires_single_cases(design: Design[Any]) -> NotApplicable | None:
    """Requires that every case occurs once, not in several repeats."""
    pairs = design.pairs
    if pairs is None or pairs.repeat is None:
        return None
    names = [kind.name for kind in tests_in_order() if requires_folds in kind.forms[next(iter(kind.forms))].suits]
    return NotApplicable(
        "with repeats every case occurs several times, which {test} would count as independent cases.",
        seen=f"{pairs.cases} rows in {int(pairs.repeat.max()) + 1} repeats",
        hint=f"fold=… and one of {', '.join(names)}",
    )


def requires_folds(design: Design[Any]) -> NotApplicable | None:
    """Requires cross-validation folds."""
    pairs = design.pairs
    if pairs is not None and pairs.fold is not None:
        return None
    return NotApplicable("{test} compares folds, but there is no fold column.", hint="fold=…")


def discourages_folds(design: Design[Any]) -> Discouraged | None:
    """Discourages tests over cases where there are folds, as the comparison is then of learners."""
    pairs = design.pairs
    if pairs is None or pairs.fold is None or design.spec is None or (pairs.fold == pairs.fold[0]).all():
        return None
    return Discouraged("the models were evaluated in folds, and {title} treats cases as the units")


def discourages_groups(design: Design[Any]) -> Discouraged | None:
    """Discourages tests that assume independent cases where cases are grouped."""
    if not design.grouped:
        return None
    return Discouraged(
        "cases of a group are not independent, so the p value of {title} is too small", "SS016", always_noted=False
    )


def requires_unweighted(design: Design[Any]) -> NotApplicable | None:
    """Requires unweighted cases."""
    if not design.weighted:
        return None
    return NotApplicable("{title} is for unweighted cases.", hint='test="bootstrap", which resamples weighted cases')


def discourages_few_cases(design: Design[Any]) -> Discouraged | None:
    """Requires at least 20 cases, or groups, of the rarest class."""
    if design.fewest >= MIN_RAREST_CASES:
        return None
    what = "groups with the rarest class" if design.grouped else "cases of the rarest class"
    number = f"{design.fewest} {what} are" if design.fewest != 1 else f"1 {what.replace('s ', ' ', 1)} is"
    return Discouraged(f"{number} too few for {{title}}, whose p would be too small", "SS001")


def discourages_few_discordant(design: Any) -> Discouraged | None:
    """Requires at least 20 discordant cases for a measure of decisions."""
    spec = design.spec
    if spec is None or spec.at is None or any(table.scores_classes for table in design.tables):
        return None
    a, b = (design.right(model) for model in design.names)
    n_discordant = design.pairs.counted(a != b)
    if n_discordant == 0 or n_discordant >= MIN_RAREST_CASES:
        return None
    cases = "1 discordant case is" if n_discordant == 1 else f"{n_discordant} discordant cases are"
    return Discouraged(
        f"{cases} too few for {{title}}, whose p would be too small",
        "SS001",
    )

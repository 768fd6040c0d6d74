"""`scorespace power`: how many cases an AUC, or a difference of two, takes."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from scorespace.cli import options, output
from scorespace.cli.options import flag, switch
from scorespace.comparisons.power import (
    Power,
    auc_power,
    auc_sample_size,
    auc_width,
    difference_power,
    difference_sample_size,
    solved,
    solved_prevalence,
    split,
)
from scorespace.errors import ConditionError
from scorespace.results import decimals, grouped
from scorespace.views.document import Block, Document, Grid, Notes, Section, Verdict

_AIM, _TEST = "What to show", "How surely"


class Term(StrEnum):
    """What a plan can be solved for beside its cases and its power."""

    auc = "auc"
    against = "against"
    correlation = "correlation"
    alpha = "alpha"
    prevalence = "prevalence"


def power(
    prevalence: Annotated[float | None, flag("P", "Share of positives among the cases.", _AIM)] = None,
    auc: Annotated[float | None, flag("A", "The AUC that is expected.", _AIM)] = None,
    against: Annotated[float | None, flag("A", "The value to tell it from, or another model's AUC.", _AIM)] = None,
    half_width: Annotated[float | None, flag("W", "Instead: an interval of the AUC within ± W.", _AIM)] = None,
    paired_correlation: Annotated[
        float | None, flag("R", "Two models on the same cases, whose estimated AUCs correlate by R.", _AIM)
    ] = None,
    unpaired: Annotated[bool, switch("--unpaired", "Two models, each on cases of its own.", _AIM)] = False,
    wanted: Annotated[float | None, flag("X", "The power to reach; 0.8 if not stated.", _TEST, "--power")] = None,
    cases: Annotated[int | None, flag("N", "Instead: the power of N cases (of each model).", _TEST)] = None,
    alpha: Annotated[float, flag("X", "The chance of a false alarm.", _TEST)] = 0.05,
    one_sided: Annotated[bool, switch("--one-sided", "Look for a difference in one direction.", _TEST)] = False,
    solve: Annotated[
        Term | None,
        flag(
            None,
            "With --cases: what else to find, where --power is reached; --against or --auc if one is left out.",
            _TEST,
        ),
    ] = None,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """Plan a study: the cases that show an AUC or a difference of two, or the power of those you have.

    Any other term follows from the rest: with --cases and --power, the AUC that can just be told apart.

    Example: scorespace power --auc 0.8 --against 0.7 --prevalence 0.3 --paired-correlation 0.5
    """
    if paired_correlation is not None and unpaired:
        raise ConditionError("models are judged on the same cases or on different ones.", hint="leave out --unpaired")
    two, sides = paired_correlation is not None or unpaired, 1 if one_sided else 2
    goal = 0.8 if wanted is None else wanted
    tested: dict[str, Any] = {"alpha": alpha, "sides": sides}
    judged: dict[str, Any] = {"correlation": paired_correlation, "unpaired": unpaired, "power": goal, **tested}
    if solve is Term.prevalence:
        if prevalence is not None:
            raise ConditionError("--prevalence is stated, and to be found.", hint="leave out --prevalence")
        against = _stated(against, "what to tell it from", "--against 0.7")
        found = solved_prevalence(_known(cases, solve), auc=_stated(auc), against=against, **judged)
        output.write(document(found), found.to_dict(), format)
        return
    if prevalence is None:
        raise ConditionError(
            "it is not stated how many of the cases are positive.",
            hint="--prevalence 0.3; or --solve prevalence, for cases that are known",
        )
    term = _term(auc, against, wanted, cases, half_width, two, solve)
    if half_width is not None or (term is None and against is None):
        if against is not None or wanted is not None or one_sided or (half_width is not None and cases is not None):
            raise ConditionError("a half width needs no test.", hint="--auc, --half-width, --prevalence and --alpha")
        own = _stated(auc)
        if cases is None:
            found = auc_sample_size(own, half_width=half_width, prevalence=prevalence, alpha=alpha)
        else:
            found = auc_width(own, *split(cases, prevalence), alpha=alpha)
    elif term is not None:
        found = solved(term, *split(cases or 0, prevalence), auc=auc, against=against, **judged)
    else:
        own, other = _stated(auc), _stated(against)
        same: dict[str, Any] = {"correlation": paired_correlation} if two else {}
        if cases is None and two:
            found = difference_sample_size(own, other, prevalence=prevalence, power=goal, **same, **tested)
        elif cases is None:
            found = auc_sample_size(own, null=other, prevalence=prevalence, power=goal, **tested)
        elif two:
            n_pos, n_neg = split(cases, prevalence)
            found = difference_power(own, other, n_pos, n_neg, **same, **tested)
        else:
            n_pos, n_neg = split(cases, prevalence)
            found = auc_power(own, n_pos, n_neg, null=other, **tested)
    output.write(document(found), found.to_dict(), format)


def _stated(area: float | None, what: str = "which AUC is expected", hint: str = "--auc 0.8") -> float:
    if area is None:
        raise ConditionError(f"it is not stated {what}.", hint=hint)
    return area


def _known(cases: int | None, solve: Term) -> int:
    if cases is None:
        raise ConditionError(f"--solve {solve.value} is for cases that are known.", hint="--cases 400")
    return cases


def _term(
    auc: float | None,
    against: float | None,
    wanted: float | None,
    cases: int | None,
    half_width: float | None,
    two: bool,
    solve: Term | None,
) -> str | None:
    """What a plan is solved for beside its cases and its power."""
    if solve is not None:
        _known(cases, solve)
        if {"auc": auc, "against": against}.get(solve.value) is not None:
            raise ConditionError(f"--{solve.value} is stated, and to be found.", hint=f"leave out --{solve.value}")
        return solve.value
    if wanted is not None and cases is not None:
        if auc is not None and against is not None:
            raise ConditionError(
                "power and cases are both stated: one follows from the other.",
                hint="--power or --cases; or --solve alpha, or --solve correlation",
            )
        return "auc" if auc is None else "against"
    if against is None and (two or (half_width is None and cases is None)):
        raise ConditionError("it is not stated what to show.", hint="--against 0.7, or --half-width 0.05")
    return None


def document(found: Power) -> Document:
    """The page of a plan."""
    aim = ("half width", decimals(found.half_width)) if found.design == "width" else ("power", decimals(found.power))
    rows = (
        ("positive cases", grouped(found.n_pos)),
        ("negative cases", grouped(found.n_neg)),
        ("all cases", grouped(found.cases)),
        aim,
    )
    blocks: list[Block] = [Grid(("plan", "number"), rows), Verdict(found.words)]
    if found.notes:
        blocks.append(Notes(found.notes))
    facts = "variance of Hanley and McNeil, normal approximation"
    return Document("Power", facts, (Section("power", "Power", tuple(blocks), brief=True),))

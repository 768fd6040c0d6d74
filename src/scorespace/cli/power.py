"""`scorespace power`: how many cases an AUC, a difference of two, or a share takes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, Literal

from scorespace.cli import options, output
from scorespace.cli.options import flag, switch
from scorespace.comparisons.power import (
    Aim,
    Power,
    SharePlan,
    Variance,
    auc_width,
    sample_size,
    sample_size_of_share,
    sample_size_of_width,
    share_width,
    solved,
    solved_prevalence,
    split,
)
from scorespace.errors import ConditionError
from scorespace.results import decimals, grouped
from scorespace.views.document import Document, Grid, one_section

_AIM, _TEST = "What to show", "How surely"


Term = Literal["auc", "against", "correlation", "alpha", "prevalence"]
"""What a plan can be solved for beside its cases and its power."""


def power(
    prevalence: Annotated[float | None, flag("P", "Share of positives among the cases.", _AIM)] = None,
    auc: Annotated[float | None, flag("A", "The AUC that is expected.", _AIM)] = None,
    against: Annotated[float | None, flag("A", "The value to tell it from, or another model's AUC.", _AIM)] = None,
    half_width: Annotated[float | None, flag("W", "Instead: an interval of the AUC within ± W.", _AIM)] = None,
    paired_correlation: Annotated[
        float | None, flag("R", "Two models on the same cases, whose estimated AUCs correlate by R.", _AIM)
    ] = None,
    share: Annotated[
        float | None, flag("P", "Instead of an AUC: a share that is expected, such as a sensitivity of 0.9.", _AIM)
    ] = None,
    within: Annotated[float | None, flag("W", "With --share: its Wilson interval within ± W.", _AIM)] = None,
    unpaired: Annotated[bool, switch("--unpaired", "Two models, each on cases of its own.", _AIM)] = False,
    wanted: Annotated[float | None, flag("X", "The power to reach; 0.8 if not stated.", _TEST, "--power")] = None,
    cases: Annotated[
        int | None, flag("N", "Instead: the power, or the half width, of N cases (of each model).", _TEST)
    ] = None,
    alpha: Annotated[float, flag("X", "The chance of a false alarm.", _TEST)] = 0.05,
    one_sided: Annotated[bool, switch("--one-sided", "Look for a difference in one direction.", _TEST)] = False,
    variance: Annotated[
        Variance, flag(None, "How much an AUC varies, after Hanley and McNeil, or as in pROC.", _TEST)
    ] = "hanley",
    solve: Annotated[
        Term | None,
        flag(
            None,
            "With --cases: what else to find, where --power is reached; --against or --auc if one is left out.",
            _TEST,
        ),
    ] = None,
    format: options.OutputFormat = "table",
) -> None:
    """Plan a study: the cases that show an AUC or a difference of two, or the power of those you have.

    Any other term follows from the rest: with --cases and --power, the AUC that can just be told apart.

    Example: scorespace power --auc 0.8 --against 0.7 --prevalence 0.3 --paired-correlation 0.5

    Example: scorespace power --share 0.9 --within 0.05 --prevalence 0.2
    """
    if share is not None or within is not None:
        idle = (auc, against, half_width, paired_correlation, wanted, solve, unpaired or None, one_sided or None)
        if any(one is not None for one in idle) or variance != "hanley":
            raise ConditionError(
                "a share needs no AUC and no test.", hint="--share, --within or --cases, --prevalence and --alpha"
            )
        plan = _share(share, within, cases, prevalence, alpha)
        output.write(_share_document(plan), plan.to_dict(), format)
        return
    if paired_correlation is not None and unpaired:
        raise ConditionError("models are judged on the same cases or on different ones.", hint="leave out --unpaired")
    goal = 0.8 if wanted is None else wanted
    areas = {name: area for name, area in (("auc", auc), ("against", against)) if area is not None}
    sides = 1 if one_sided else 2
    aim = Aim(**areas, correlation=paired_correlation, unpaired=unpaired, sides=sides, alpha=alpha, variance=variance)
    if solve == "prevalence":
        if prevalence is not None:
            raise ConditionError("--prevalence is stated, and to be found.", hint="leave out --prevalence")
        _stated(against, "what to tell it from", "--against 0.7")
        known = _known(cases, solve)
        _stated(auc)
        found = solved_prevalence(aim, known, goal)
        output.write(document(found), found.to_dict(), format)
        return
    hint = "--prevalence 0.3; or --solve prevalence, for cases that are known"
    prevalence = _stated(prevalence, "how many of the cases are positive", hint)
    two = paired_correlation is not None or unpaired
    term = _term(auc, against, wanted, cases, half_width, two, solve)
    if half_width is not None or (term is None and against is None):
        if against is not None or wanted is not None or one_sided or (half_width is not None and cases is not None):
            raise ConditionError("a half width needs no test.", hint="--auc, --half-width, --prevalence and --alpha")
        how: dict[str, Any] = {"alpha": alpha, "variance": variance}
        if half_width is not None:
            found = sample_size_of_width(_stated(auc), half_width, prevalence, **how)
        else:
            found = auc_width(_stated(auc), *split(cases or 0, prevalence), **how)
    elif term is not None:
        found = solved(term, aim, *split(cases or 0, prevalence), goal)
    else:
        _stated(auc)
        found = sample_size(aim, prevalence, goal) if cases is None else aim.with_cases(*split(cases, prevalence))
    output.write(document(found), found.to_dict(), format)


def _share(
    share: float | None, within: float | None, cases: int | None, prevalence: float | None, alpha: float
) -> SharePlan:
    share = _stated(share, "which share is expected", "--share 0.9")
    if (within is None) == (cases is None):
        problem = "of the half width and the cases, one follows from the other."
        raise ConditionError(problem, hint="--within 0.05, or --cases 200")
    if within is not None:
        of = math.nan if prevalence is None else prevalence
        return sample_size_of_share(share, within, prevalence=of, alpha=alpha)
    known = cases or 0
    if prevalence is None:
        return share_width(share, known, alpha=alpha)
    plan = share_width(share, split(known, prevalence)[0], prevalence=prevalence, alpha=alpha)
    return replace(plan, cases=known)


def _share_document(found: SharePlan) -> Document:
    """The page of a share."""
    every = () if found.cases is None else (("all cases", grouped(found.cases)),)
    rows = (("cases it is a share of", grouped(found.n)), *every, ("half width", decimals(found.half_width)))
    return one_section("Power", "Wilson's interval of a share", "Power", [Grid(("plan", "number"), rows)], found.words)


def _stated(area: float | None, what: str = "which AUC is expected", hint: str = "--auc 0.8") -> float:
    if area is None:
        raise ConditionError(f"it is not stated {what}.", hint=hint)
    return area


def _known(cases: int | None, solve: Term) -> int:
    if cases is None:
        raise ConditionError(f"--solve {solve} is for cases that are known.", hint="--cases 400")
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
        if {"auc": auc, "against": against}.get(solve) is not None:
            raise ConditionError(f"--{solve} is stated, and to be found.", hint=f"leave out --{solve}")
        return solve
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
    named = {"hanley": "Hanley and McNeil", "obuchowski": "Obuchowski"}[found.variance]
    facts = f"variance of {named}, equal spreads, normal approximation"
    return one_section("Power", facts, "Power", [Grid(("plan", "number"), rows)], found.words, found.notes)

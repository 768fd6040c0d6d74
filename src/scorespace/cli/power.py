"""`scorespace power`: sample size and power for an AUC, a difference of two AUCs, or a proportion."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from scorespace.cli import options, output
from scorespace.cli.options import flag, split_pair, switch
from scorespace.cli.verbs import verb
from scorespace.comparisons.power import (
    Power,
    PowerTarget,
    SharePlan,
    Variance,
    auc_width,
    sample_size,
    sample_size_of_share,
    sample_size_of_width,
    share_width,
    solve_for,
    solve_for_prevalence,
    split_by_prevalence,
)
from scorespace.comparisons.validation_size import LinearPredictor, ValidationSize, validation_size
from scorespace.errors import ConditionError
from scorespace.report.document import Document, Grid, one_section
from scorespace.results import decimals, grouped

_AIM, _TEST, _VALIDATION = "Study design", "Test", "External validation"


Term = Literal["auc", "against", "correlation", "alpha", "prevalence"]
"""Quantities a plan can be solved for, besides cases and power."""


@verb("Drift, raters, rankings", 4)
def power(
    prevalence: Annotated[float | None, flag("P", "Prevalence: proportion of positive cases.", _AIM)] = None,
    auc: Annotated[float | None, flag("A", "Expected AUC.", _AIM)] = None,
    against: Annotated[float | None, flag("A", "AUC under the null hypothesis, or of a second model.", _AIM)] = None,
    half_width: Annotated[float | None, flag("W", "Instead of a test: half-width of the AUC interval.", _AIM)] = None,
    paired_correlation: Annotated[
        float | None, flag("R", "Two models on the same cases, with this correlation of their AUC estimates.", _AIM)
    ] = None,
    share: Annotated[
        float | None, flag("P", "Instead of an AUC: an expected proportion, such as a sensitivity of 0.9.", _AIM)
    ] = None,
    within: Annotated[float | None, flag("W", "With --share: half-width of its Wilson interval.", _AIM)] = None,
    unpaired: Annotated[bool, switch("--unpaired", "Two models on different cases.", _AIM)] = False,
    validation: Annotated[
        bool,
        switch(
            "--validation",
            "Instead of a test: cases of an external validation with precise O:E, slope, AUC and net benefit.",
            _VALIDATION,
        ),
    ] = False,
    width: Annotated[
        list[str],
        flag(
            "NAME=W",
            "With --validation: total width of the interval of oe, slope, auc or snb; default 0.2, auc 0.1.",
            _VALIDATION,
        ),
    ] = [],
    lp_mean: Annotated[
        float | None, flag("X", "Mean logit of the predicted risks; by default from --auc.", _VALIDATION)
    ] = None,
    lp_sd: Annotated[float | None, flag("X", "Standard deviation of the logits.", _VALIDATION)] = None,
    threshold: Annotated[float | None, flag("T", "Threshold probability, for the net benefit.", _VALIDATION)] = None,
    sensitivity: Annotated[
        float | None, flag("P", "Sensitivity at the threshold; by default from the risks.", _VALIDATION)
    ] = None,
    specificity: Annotated[float | None, flag("P", "Specificity at the threshold.", _VALIDATION)] = None,
    target_power: Annotated[float | None, flag("X", "Target power; default 0.8.", _TEST, "--power")] = None,
    cases: Annotated[
        int | None,
        flag("N", "Compute the power (or half-width) of N cases per model instead of the sample size.", _TEST),
    ] = None,
    alpha: Annotated[float, flag("X", "Significance level (type I error rate).", _TEST)] = 0.05,
    one_sided: Annotated[bool, switch("--one-sided", "One-sided test.", _TEST)] = False,
    variance: Annotated[
        Variance, flag(None, "Variance of the AUC: Hanley and McNeil, or Obuchowski as in pROC.", _TEST)
    ] = "hanley",
    solve: Annotated[
        Term | None,
        flag(
            None,
            "With --cases and --power: the quantity to solve for; by default the one of --auc and --against left out.",
            _TEST,
        ),
    ] = None,
    format: options.OutputFormat = "table",
) -> None:
    """Compute sample size or power for an AUC, a difference between two AUCs, or a proportion.

    With --cases and --power, any other quantity can be solved for, such as the smallest detectable AUC.

    Example: scorespace power --auc 0.8 --against 0.7 --prevalence 0.3 --paired-correlation 0.5

    Example: scorespace power --share 0.9 --within 0.05 --prevalence 0.2

    Example: scorespace power --validation --prevalence 0.1 --auc 0.8 --threshold 0.2
    """
    of_validation = {"lp-mean": lp_mean, "lp-sd": lp_sd, "threshold": threshold, "width": width or None}
    of_validation |= {"sensitivity": sensitivity, "specificity": specificity}
    of_tests = (against, half_width, paired_correlation, share, within, target_power, cases, solve)
    if validation:
        if any(option is not None for option in of_tests) or unpaired or one_sided:
            raise ConditionError(
                "--validation does not use a test.", hint="--prevalence, --auc, --width, --threshold and --alpha"
            )
        size = _validation(prevalence, auc, alpha, of_validation)
        output.write(_validation_document(size), size.to_dict(), format)
        return
    stated = next((name for name, value in of_validation.items() if value is not None), None)
    if stated is not None:
        raise ConditionError(f"--{stated} is for an external validation.", hint="add --validation")
    if share is not None or within is not None:
        auc_options = (
            auc,
            against,
            half_width,
            paired_correlation,
            target_power,
            solve,
            unpaired or None,
            one_sided or None,
        )
        if any(option is not None for option in auc_options) or variance != "hanley":
            raise ConditionError(
                "--share does not use an AUC or a test.", hint="--share, --within or --cases, --prevalence and --alpha"
            )
        plan = _share(share, within, cases, prevalence, alpha)
        output.write(_share_document(plan), plan.to_dict(), format)
        return
    if paired_correlation is not None and unpaired:
        raise ConditionError("--paired-correlation and --unpaired exclude each other.", hint="leave out --unpaired")
    power_goal = 0.8 if target_power is None else target_power
    areas = {name: area for name, area in (("auc", auc), ("against", against)) if area is not None}
    sides = 1 if one_sided else 2
    target = PowerTarget(
        **areas, correlation=paired_correlation, unpaired=unpaired, sides=sides, alpha=alpha, variance=variance
    )
    if solve == "prevalence":
        if prevalence is not None:
            raise ConditionError("--prevalence is both stated and to be solved for.", hint="leave out --prevalence")
        _require(against, "the AUC under the null hypothesis", "--against 0.7")
        n_cases = _require_cases(cases, solve)
        _require(auc)
        auc_plan = solve_for_prevalence(target, n_cases, power_goal)
        output.write(document(auc_plan), auc_plan.to_dict(), format)
        return
    hint = "--prevalence 0.3; or --solve prevalence with --cases"
    prevalence = _require(prevalence, "the prevalence", hint)
    has_two_models = paired_correlation is not None or unpaired
    term = _term(auc, against, target_power, cases, half_width, has_two_models, solve)
    if half_width is not None or (term is None and against is None):
        if (
            against is not None
            or target_power is not None
            or one_sided
            or (half_width is not None and cases is not None)
        ):
            raise ConditionError(
                "--half-width does not use a test.", hint="--auc, --half-width, --prevalence and --alpha"
            )
        settings: dict[str, Any] = {"alpha": alpha, "variance": variance}
        if half_width is not None:
            auc_plan = sample_size_of_width(_require(auc), half_width, prevalence, **settings)
        else:
            auc_plan = auc_width(_require(auc), *split_by_prevalence(cases or 0, prevalence), **settings)
    elif term is not None:
        auc_plan = solve_for(term, target, *split_by_prevalence(cases or 0, prevalence), power_goal)
    else:
        _require(auc)
        auc_plan = (
            sample_size(target, prevalence, power_goal)
            if cases is None
            else target.with_cases(*split_by_prevalence(cases, prevalence))
        )
    output.write(document(auc_plan), auc_plan.to_dict(), format)


def _validation(
    prevalence: float | None, auc: float | None, alpha: float, stated_options: Mapping[str, Any]
) -> ValidationSize:
    """Plan of an external validation."""
    predictor, rates = None, None
    moments = stated_options["lp-mean"], stated_options["lp-sd"]
    if any(moment is not None for moment in moments):
        if None in moments:
            raise ConditionError("--lp-mean and --lp-sd belong together.", hint="--lp-mean -2.6 --lp-sd 1.1")
        predictor = LinearPredictor(*moments)
    stated = stated_options["sensitivity"], stated_options["specificity"]
    if any(rate is not None for rate in stated):
        if None in stated or stated_options["threshold"] is None:
            hint = "--threshold 0.2 --sensitivity 0.4 --specificity 0.9"
            raise ConditionError("--sensitivity, --specificity and --threshold belong together.", hint=hint)
        rates = stated
    pairs = [split_pair(text, "--width", "NAME=W, such as --width slope=0.3") for text in stated_options["width"] or ()]
    widths = {name: _width(text) for name, text in pairs}
    if prevalence is None and predictor is not None:
        prevalence = predictor.prevalence
    prevalence = _require(prevalence, "the prevalence", "--prevalence 0.1")
    return validation_size(
        prevalence,
        auc,
        predictor=predictor,
        threshold=stated_options["threshold"],
        rates=rates,
        widths=widths,
        alpha=alpha,
    )


def _width(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConditionError(f"--width {text} is not a number.", hint="--width slope=0.3") from None


def _validation_document(plan: ValidationSize) -> Document:
    """Document of the plan for an external validation."""
    facts = f"prevalence {plan.prevalence:.3g}, logits N({plan.predictor.mean:.3g}, {plan.predictor.sd:.3g}²)"
    grid = Grid(("precise", "expected", "width", "cases"), plan.grid)
    return one_section("External validation", facts, "Power", [grid], plan.words)


def _share(
    share: float | None, within: float | None, cases: int | None, prevalence: float | None, alpha: float
) -> SharePlan:
    share = _require(share, "the expected proportion", "--share 0.9")
    if (within is None) == (cases is None):
        problem = "pass either the half-width or the number of cases."
        raise ConditionError(problem, hint="--within 0.05, or --cases 200")
    if within is not None:
        share_of_cases = math.nan if prevalence is None else prevalence
        return sample_size_of_share(share, within, prevalence=share_of_cases, alpha=alpha)
    n_cases = cases or 0
    if prevalence is None:
        return share_width(share, n_cases, alpha=alpha)
    plan = share_width(share, split_by_prevalence(n_cases, prevalence)[0], prevalence=prevalence, alpha=alpha)
    return replace(plan, cases=n_cases)


def _share_document(plan: SharePlan) -> Document:
    """Document of the plan for a proportion."""
    total = () if plan.cases is None else (("all cases", grouped(plan.cases)),)
    rows = (("cases in the denominator", grouped(plan.n)), *total, ("half-width", decimals(plan.half_width)))
    return one_section(
        "Power", "Wilson interval of a proportion", "Power", [Grid(("plan", "number"), rows)], plan.words
    )


def _require(value: float | None, subject: str = "the expected AUC", hint: str = "--auc 0.8") -> float:
    if value is None:
        raise ConditionError(f"{subject} is missing.", hint=hint)
    return value


def _require_cases(cases: int | None, solve: Term) -> int:
    if cases is None:
        raise ConditionError(f"--solve {solve} needs the number of cases.", hint="--cases 400")
    return cases


def _term(
    auc: float | None,
    against: float | None,
    target_power: float | None,
    cases: int | None,
    half_width: float | None,
    has_two_models: bool,
    solve: Term | None,
) -> str | None:
    """Quantity that the plan is solved for, besides cases and power."""
    if solve is not None:
        _require_cases(cases, solve)
        if {"auc": auc, "against": against}.get(solve) is not None:
            raise ConditionError(f"--{solve} is both stated and to be solved for.", hint=f"leave out --{solve}")
        return solve
    if target_power is not None and cases is not None:
        if auc is not None and against is not None:
            raise ConditionError(
                "both power and cases are stated, which leaves nothing to solve for.",
                hint="--power or --cases; or --solve alpha, or --solve correlation",
            )
        return "auc" if auc is None else "against"
    if against is None and (has_two_models or (half_width is None and cases is None)):
        raise ConditionError("the goal of the study is missing.", hint="--against 0.7, or --half-width 0.05")
    return None


def document(plan: Power) -> Document:
    """Document of the plan for AUCs."""
    goal = ("half-width", decimals(plan.half_width)) if plan.design == "width" else ("power", decimals(plan.power))
    rows = (
        ("positive cases", grouped(plan.n_pos)),
        ("negative cases", grouped(plan.n_neg)),
        ("all cases", grouped(plan.cases)),
        goal,
    )
    author = {"hanley": "Hanley and McNeil", "obuchowski": "Obuchowski"}[plan.variance]
    facts = f"variance of {author}, equal variances, normal approximation"
    return one_section("Power", facts, "Power", [Grid(("plan", "number"), rows)], plan.words, plan.notes)

"""Tests of one model's scores: are they calibrated probabilities?

References: Spiegelhalter (1986), Statistics in Medicine 5; Hosmer and Lemeshow (1980), Communications in Statistics 9;
Cox (1958), "Two further applications of a model for binary regression", Biometrika 45; Miller, Hui and Tierney (1991),
"Validation techniques for logistic regression models", Statistics in Medicine 10.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.special import chdtrc

from scorespace.calibration import tests as formulas
from scorespace.calibration.summary import CalibrationSummary
from scorespace.calibration.tests import GROUPED, CalibrationTest, undefined_test
from scorespace.comparisons.coverage import IntervalsOfModel
from scorespace.comparisons.design import Design
from scorespace.comparisons.result import Comparison
from scorespace.comparisons.test import TESTS, TestKind, parse_test, test
from scorespace.errors import ScoreSpaceError, listing
from scorespace.inference.calibration_null import as_counts
from scorespace.measures.logistic_recalibration import dot, logistic_fit, logits
from scorespace.registry import Call
from scorespace.results import Row, p_text, to_json_types
from scorespace.tables import ScoreTable


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoresOfModel(Design[ScoreTable]):
    """The scores of one model as probabilities: are they calibrated?

    `sample` is the table that the tests use; `in_groups` says that its cases are not independent.
    """

    model: str
    sample: ScoreTable
    summary: CalibrationSummary
    in_groups: bool = False
    asks: ClassVar[str] = "test whether the scores of a model are calibrated"


@dataclass(frozen=True, kw_only=True, repr=False)
class ScoreTest(Comparison):
    """A test of the scores of one model, `a`; there is no difference."""

    def row(self) -> Row:
        names = ("test", "measure", "statistic", "df", "p", "reason")
        return {"model": self.a, **to_json_types({name: getattr(self, name) for name in names})}

    @property
    def words(self) -> str:
        """Whether the test rejects calibration."""
        if math.isnan(self.p):
            return f"{self.a}: {self.test} is undefined: {self.reason}."
        doubt = "evidence against calibration" if self.is_significant else "no evidence against calibration"
        return f"{self.a}: {doubt} ({self.test}, {p_text(self.p)})."

    def __repr__(self) -> str:
        return self.words


def calibration_tests() -> list[TestKind]:
    """Return the declared tests of calibration of scores, in the order of declaration."""
    return [kind for kind in TESTS if ScoresOfModel in kind.forms]


def coverage_tests() -> list[TestKind]:
    """Return the declared tests of prediction intervals, in the order of declaration."""
    return [kind for kind in TESTS if IntervalsOfModel in kind.forms]


def find_calibration_test(text: str) -> Call[TestKind] | None:
    """Return the test of scores or prediction intervals of that name; None if the name is of something else.

    >>> str(find_calibration_test("hosmer-lemeshow(groups=5)")), find_calibration_test("auc")
    ('hosmer_lemeshow(groups=5)', None)
    """
    try:
        call = parse_test(text)
    except ScoreSpaceError:
        return None
    return call if {ScoresOfModel, IntervalsOfModel} & call.noun.forms.keys() else None


def _result(design: ScoresOfModel, name: str, found: CalibrationTest) -> ScoreTest:
    reason = found.reason
    return ScoreTest(
        design.model, "", name, "", statistic=found.statistic, df=found.df, p=found.p, level=design.level, reason=reason
    )


@test(title="Spiegelhalter's test", for_="calibration: the Brier score against its expectation, without groups")
def spiegelhalter(design: ScoresOfModel) -> Comparison:
    """z = Σ (y − p)(1 − 2p) / √Σ (1 − 2p)² p (1 − p)."""
    return _result(design, spiegelhalter.name, design.summary.spiegelhalter)


@test(title="Hosmer and Lemeshow's test", for_="calibration: observed and expected positives in groups of equal count")
def hosmer_lemeshow(design: ScoresOfModel, *, groups: Annotated[int, "number of quantile groups"] = 10) -> Comparison:
    """χ² = Σ (positives − Σp)² / (Σp · (1 − mean p)) over quantile groups of scores; as many df as groups."""
    found = design.summary.hosmer_lemeshow
    if groups != 10 and not design.in_groups:
        found = formulas.hosmer_lemeshow(design.sample, groups, fitted=False)
    return _result(design, hosmer_lemeshow.name, found)


@test(title="Cox's test", for_="calibration: intercept 0 and slope 1 of the logistic recalibration, together")
def cox(design: ScoresOfModel) -> Comparison:
    """Likelihood ratio χ² with 2 df of logit P(y) = a + b · logit p against a = 0, b = 1; scores of 0 and 1 omitted."""
    return _result(design, cox.name, _cox(design))


def _cox(design: ScoresOfModel) -> CalibrationTest:
    counts = as_counts(design.sample)
    if design.in_groups:
        return undefined_test("cox", GROUPED)
    if counts is None:
        return undefined_test("cox", "undefined: the weights do not give the number of cases")
    x, pos, neg = logits(counts)
    fit = logistic_fit(x, pos, neg)
    if not math.isfinite(float(fit.slope)):
        return undefined_test("cox", "undefined: the classes do not overlap in scores between 0 and 1")
    positives = np.asarray(pos, dtype=np.float64)
    cases = positives + neg

    def log_likelihood(intercept: float, slope: float) -> float:
        eta = intercept + slope * x
        return float(dot(positives, eta) - dot(cases, np.logaddexp(0.0, eta)))

    statistic = max(0.0, 2 * (log_likelihood(float(fit.intercept), float(fit.slope)) - log_likelihood(0.0, 1.0)))
    return CalibrationTest("cox", statistic, 2.0, float(chdtrc(2, statistic)))


@test(title="test of the calibration loss", for_="calibration: the isotonic calibration loss against chance")
def calibration_loss(design: ScoresOfModel) -> Comparison:
    """Share of labellings drawn from the scores with a calibration loss `cal` as large as observed."""
    summary = design.summary
    reason = None if not math.isnan(summary.cal_p) else (GROUPED if design.in_groups else "undefined: weighted cases")
    found = CalibrationTest("calibration_loss", summary.cal, math.nan, summary.cal_p, reason)
    return _result(design, calibration_loss.name, found)


def run_calibration_tests(design: ScoresOfModel, texts: Sequence[str] = ()) -> list[Comparison]:
    """Run tests of calibration by name on the scores of a model; all of them without names."""
    return _run(design, calibration_tests(), texts)


def run_coverage_tests(design: IntervalsOfModel, texts: Sequence[str] = ()) -> list[Comparison]:
    """Run tests by name on the prediction intervals of a model; all of them without names."""
    return _run(design, coverage_tests(), texts)


def _run(design: Design[Any], kinds: list[TestKind], texts: Sequence[str]) -> list[Comparison]:
    """The tests of a design, or those of them that are named."""
    calls = [call for call in map(_parse, texts) if call.noun in kinds] if texts else [Call(kind) for kind in kinds]
    return [call.noun(design, **call.options) for call in calls]


def _parse(text: str) -> Call[TestKind]:
    call = find_calibration_test(text)
    if call is None:
        names = listing([kind.name for kind in (*calibration_tests(), *coverage_tests())])
        raise ScoreSpaceError(f"{text!r} is not a test of calibration.", seen=f"known are {names}", hint="one of these")
    return call

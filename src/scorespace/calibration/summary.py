"""Calibration of a model: proper scores and their decomposition, tests, and a verdict in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from scorespace.calibration.tests import (
    GROUPED,
    CalibrationTest,
    hosmer_lemeshow,
    hosmer_lemeshow_test,
    quantile_starts,
    spiegelhalter,
    undefined_test,
)
from scorespace.curves.brier import probabilities
from scorespace.curves.calibration import CalibrationCurve, curve_of_groups, group_sums, width_starts
from scorespace.curves.hull import edges_of
from scorespace.inference.calibration_null import LABELLINGS, as_counts, at_sample_prevalence, calibration_null
from scorespace.measures.calibration import BINS, cal_large
from scorespace.measures.decomposition import cal, refinement, unc
from scorespace.measures.logistic_recalibration import logistic_fit, logits, neighbours, offset_fit
from scorespace.measures.measure import Measure
from scorespace.measures.probability import brier, clipped_cases, logloss
from scorespace.measures.ranking import concordant_pairs
from scorespace.results import SCHEMA, AsTable, Note, Row, count_noun, decimals, grouped, note, p_text, to_json_types
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.chunks import map_chunks
from scorespace.tables.class_scores import TOP
from scorespace.tables.models import Models

MIN_AUC: Final = 0.6
"""Models with an AUC below this are called not discriminating."""
MIN_EXCESS_SHARE: Final = 0.02
"""Miscalibration beyond chance matters from this share of the Brier score of the base rate."""
MAX_HALF_WIDTH: Final = 0.1
"""Largest half width of the interval of the prevalence for which scores may be called calibrated."""
SIGNIFICANCE: Final = 0.05
STRONG_SIGNIFICANCE: Final = 0.01
MAX_CLASSES: Final = 12
"""Largest number of classes that are assessed one by one."""


@dataclass(frozen=True)
class CalibrationSummary(AsTable):
    """Whether a model's scores are calibrated probabilities; undefined numbers are NaN.

    Decompositions: brier = cal + ref, and brier = rel − res + unc + residual over bins of equal width, the residual
    being the variation of scores within bins.

    Parameters
    ----------
    model : str
        Name of the model.
    cases : float
        Total weight of the cases.
    auc : float
        Area under the ROC curve.
    brier : float
        Brier score.
    cal : float
        Calibration loss: the part of the Brier score that isotonic recalibration removes.
    ref : float
        Refinement loss: the part that remains.
    unc : float
        Uncertainty: the Brier score of always predicting the prevalence.
    skill : float
        Brier skill score, 1 − brier / unc.
    logloss : float
        Logarithmic loss; infinite if `impossible` is above 0.
    impossible : float
        Weight of cases whose score gives probability 0 to their class.
    cal_chance : float
        Expected `cal` of a perfectly calibrated model in such a sample.
    cal_p : float
        The p-value of `cal` under perfect calibration.
    cal_large : float
        Calibration in the large: observed rate minus mean score.
    slope : float
        Slope of the logistic recalibration of the logits; 1 if calibrated.
    slope_error : float
        Standard error of `slope`.
    intercept : float
        Intercept, fitted together with `slope`.
    offset : float
        Intercept, fitted for a slope of 1.
    left_out : float
        Weight of scores of exactly 0 or 1, which have no finite logit.
    ece : float
        Expected calibration error over bins.
    mce : float
        Maximum calibration error over bins.
    rel : float
        Murphy's reliability over bins.
    res : float
        Murphy's resolution over bins.
    bins : int
        Number of bins of equal width.
    spiegelhalter : CalibrationTest
        Spiegelhalter's test.
    hosmer_lemeshow : CalibrationTest
        Hosmer and Lemeshow's test.

    References
    ----------
    Murphy, A. H. (1973). A new vector partition of the probability score. Journal of Applied Meteorology, 12, 595-600.
    """

    model: str
    cases: float
    auc: float
    brier: float
    cal: float
    ref: float
    unc: float
    skill: float
    logloss: float
    impossible: float
    cal_chance: float
    cal_p: float
    cal_large: float
    slope: float
    slope_error: float
    intercept: float
    offset: float
    left_out: float
    ece: float
    mce: float
    rel: float
    res: float
    bins: int
    spiegelhalter: CalibrationTest
    hosmer_lemeshow: CalibrationTest

    @property
    def residual(self) -> float:
        """Part of the Brier score not explained by Murphy's terms over bins, since scores within a bin differ."""
        return self.brier - (self.rel - self.res + self.unc)

    @property
    def excess(self) -> float:
        """CAL beyond its expectation under perfect calibration."""
        return max(0.0, self.cal - (0.0 if math.isnan(self.cal_chance) else self.cal_chance))

    @property
    def calibrated(self) -> bool:
        """Whether miscalibration is small or consistent with chance."""
        small = self.excess < MIN_EXCESS_SHARE * self.unc or self.cal == 0
        return small or self.cal_p >= SIGNIFICANCE

    @property
    def has_enough_cases(self) -> bool:
        """Whether there are enough cases to call scores calibrated: the prevalence is known to ±0.1."""
        return self.cases > 0 and 1.96 * math.sqrt(max(self.unc, 1 / (4 * self.cases)) / self.cases) <= MAX_HALF_WIDTH

    @property
    def disagree(self) -> bool:
        """Whether one of the two tests clearly rejects and the other does not."""
        low, high = sorted([self.spiegelhalter.p, self.hosmer_lemeshow.p])
        return low < STRONG_SIGNIFICANCE and high >= SIGNIFICANCE

    @property
    def words(self) -> str:
        """The verdict in a few sentences."""
        doubts = ["The tests of calibration disagree: inspect the calibration curve."] if self.disagree else []
        return " ".join([self._opening(), *self._directions(), *doubts])

    def _opening(self) -> str:
        name, auc_text = self.model or "The model", f"AUC {decimals(self.auc)}"
        if math.isnan(self.auc):
            return f"{name} was evaluated on one class only, so its discrimination is unknown."
        discriminates = self.auc >= MIN_AUC
        discrimination = "discriminating" if discriminates else "not discriminating"
        if math.isnan(self.cal_p) and self.cal > 0:
            why = "grouped cases" if self.spiegelhalter.reason == GROUPED else "these weights"
            return f"{name} is {discrimination} ({auc_text}); with {why}, calibration cannot be tested."
        if self.calibrated and not self.has_enough_cases:
            too_few = f"{grouped(self.cases)} cases are too few to tell whether it is calibrated"
            return f"{name} is {discrimination} ({auc_text}); {too_few}{self._mean_error_text()}."
        if self.calibrated:
            against = self._against()
            if against:
                close = f"{name} is {discrimination} ({auc_text}) and close to calibrated, but not exactly"
                return f"{close}: {'; '.join(against)}."
            remark = "" if discriminates else "; its scores give the overall rate but do not separate cases"
            evidence = f"{grouped(self.cases)} cases show no evidence of miscalibration"
            return f"{name} is {discrimination} ({auc_text}), and {evidence}{remark}."
        improvement = (
            f"recalibration alone could lower its Brier score from {decimals(self.brier)} "
            f"to {decimals(self.brier - self.excess)}"
        )
        if discriminates:
            return f"{name} is discriminating ({auc_text}) but badly calibrated: {improvement}."
        return f"{name} is neither discriminating ({auc_text}) nor calibrated: {improvement}, but not its ranking."

    @property
    def _slope_z(self) -> float:
        """Standardised difference of the slope from 1."""
        return (self.slope - 1) / self.slope_error if self.slope_error > 0 else 0.0

    def _against(self) -> list[str]:
        """Evidence against calibration, although the miscalibration is small or consistent with chance."""
        evidence = []
        if abs(self._slope_z) >= 2:
            direction = "extreme" if self._slope_z < 0 else "moderate"
            evidence.append(f"its scores are too {direction} (slope {decimals(self.slope)})")
        tests = (("Spiegelhalter", self.spiegelhalter.p), ("Hosmer-Lemeshow", self.hosmer_lemeshow.p))
        evidence += [f"{name}'s test has {p_text(p)}" for name, p in tests if p < SIGNIFICANCE]
        if self.cal_p < SIGNIFICANCE:
            evidence.append(
                f"its calibration error of {decimals(self.cal)} is larger than expected by chance "
                f"({p_text(self.cal_p)})"
            )
        if evidence:
            evidence.append(f"recalibration could lower its Brier score by about {decimals(self.excess)}")
        return evidence

    def _mean_error_text(self) -> str:
        """Difference between mean score and observed rate, if large."""
        if abs(self.cal_large) < MAX_HALF_WIDTH:
            return ""
        direction = "low" if self.cal_large > 0 else "high"
        return f" (on average its scores are too {direction} by {decimals(abs(self.cal_large))})"

    def _directions(self) -> Iterator[str]:
        slope_z = self._slope_z
        if self.calibrated or math.isnan(self.cal_p):
            return
        if abs(self.cal_large) >= 0.01:
            direction = "low" if self.cal_large > 0 else "high"
            yield f"On average its scores are too {direction} by {decimals(abs(self.cal_large))}."
        if slope_z <= -2:
            yield f"Its scores are too extreme, or overconfident (slope {decimals(self.slope)}, below 1)."
        elif slope_z >= 2:
            yield f"Its scores are too moderate, or underconfident (slope {decimals(self.slope)}, above 1)."

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks on these numbers."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[Note]:
        if self.impossible > 0:
            yield note("SS021", infinite_log_loss_text(self.model, self.impossible))
        is_significant = (
            not self.calibrated and self.cal_p < STRONG_SIGNIFICANCE
        )  # without integer weights the null distribution is unknown
        if is_significant:
            yield note(
                "SS022",
                f"the scores of {self.model} are not calibrated: of its Brier score of {decimals(self.brier)}, "
                f"{decimals(self.excess)} is miscalibration beyond chance.",
            )
        if self.disagree:
            ours, theirs = p_text(self.spiegelhalter.p), p_text(self.hosmer_lemeshow.p)
            yield note(
                "SS023",
                f"tests of calibration disagree on {self.model}: Spiegelhalter {ours}, Hosmer-Lemeshow {theirs}; "
                "inspect the calibration curve.",
            )
        is_visible = self.cal >= 0.0005  # smaller values are shown as 0.000
        if is_visible and not is_significant and self.cal_chance >= 0.2 * self.cal:  # otherwise SS022 covers it
            yield note(
                "SS024",
                f"calibration error of {self.model} {decimals(self.cal)}; a perfectly calibrated model would show "
                f"about {decimals(self.cal_chance)} in a sample of this size.",
            )

    def rows(self) -> list[Row]:
        """Return one row with all numbers; those of the tests as `spiegelhalter_p` and so on."""
        row: Row = {}
        for name, value in vars(self).items():
            if isinstance(value, CalibrationTest):
                row |= {f"{name}_{key}": to_json_types(getattr(value, key)) for key in ("statistic", "df", "p")}
            else:
                row[name] = to_json_types(value)
        return [row]

    def to_dict(self) -> Row:
        """All numbers, the verdict and the notes as a dict for JSON."""
        notes = [note.to_dict() for note in self.notes]
        return {"schema": SCHEMA, **self.rows()[0], "words": self.words, "notes": notes}

    def __repr__(self) -> str:
        return (
            f"brier {decimals(self.brier)} = cal {decimals(self.cal)} + ref {decimals(self.ref)}, "
            f"skill {decimals(self.skill)}. {self.words}"
        )


def infinite_log_loss_text(model: str, cases: float) -> str:
    """Explain an infinite log loss."""
    return (
        f"{model} gave probability 0 to the actual class of {count_noun(cases, 'case')}: its log loss is infinite. "
        "logloss(eps=1e-15) clips such probabilities."
    )


def calibration_summary(
    table: ScoreTable,
    *,
    model: str = "",
    bins: int = BINS,
    replicates: int = LABELLINGS,
    seed: int = 0,
    in_groups: bool = False,
    prevalence: float | None = None,
) -> CalibrationSummary:
    """Assess the calibration of scores; for cases in groups there are no tests.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.
    model : str
        Name of the model.
    bins : int
        Number of bins of equal width.
    replicates : int
        Number of labellings drawn from the scores, for the null distribution of the calibration loss.
    seed : int
        Seed of all random draws; equal seeds give equal results.
    in_groups : bool
        Whether cases are grouped, so that their labels may be correlated.
    prevalence : float, optional
        Assess the scores as probabilities at this prevalence: cases are weighted to it, and tests use scores with odds
        adjusted to the sample, which is equivalent.

    Returns
    -------
    CalibrationSummary
        The numbers, the tests and a verdict.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> found = calibration_summary(score_table([1, 0, 0, 0] * 25, [0.25] * 100), model="base rate")
    >>> found.brier, found.cal, found.ref
    (0.1875, 0.0, 0.1875)
    """
    probabilities(table)
    # Labels within a group are correlated, but the null distribution draws them independently.
    chance, p = (math.nan, math.nan) if in_groups else _calibration_null(table, replicates, seed, prevalence)
    counts = as_counts(table)
    has_counts, sample = counts is not None, counts or table
    impossible, left_out = clipped_cases(sample, 0.0), _weight_at_ends(sample)
    if prevalence is not None:
        table, sample = sample.at_prevalence(prevalence), at_sample_prevalence(sample, prevalence)
    else:
        table = sample
    score, log_loss, large = _chunked_means((brier, logloss, cal_large), table)
    base, total = float(unc(table)), float(table.total)
    refined = float(refinement(table, edges_of(table)))
    x, pos, neg = logits(table)
    near = neighbours(x, pos, neg)
    fit = logistic_fit(x, pos, neg, near)
    groups, deciles = _group_scores(table, bins)
    error = fit.slope_error
    if prevalence is not None:
        deciles, error = (
            _group_scores(sample, bins)[1],
            logistic_fit(*(sample_logits := logits(sample)), neighbours(*sample_logits)).slope_error,
        )
    gaps = np.abs(groups.hits - groups.x * groups.cases)
    if in_groups:
        tests = undefined_test("spiegelhalter", GROUPED), undefined_test("hosmer-lemeshow", GROUPED)
    else:
        decile_test = (
            hosmer_lemeshow_test(deciles, fitted=False) if has_counts else hosmer_lemeshow(sample, fitted=False)
        )
        tests = spiegelhalter(sample), decile_test
    return CalibrationSummary(
        model=model,
        cases=total,
        auc=_chunked_auc(table),
        brier=score,
        cal=max(0.0, score - refined),
        ref=refined,
        unc=base,
        skill=1 - score / base if base > 0 else math.nan,
        logloss=math.inf if impossible else log_loss,
        impossible=impossible,
        cal_chance=chance,
        cal_p=p,
        cal_large=large,
        slope=float(fit.slope),
        slope_error=float(error),
        intercept=float(fit.intercept),
        offset=float(offset_fit(x, pos, neg, near)),
        left_out=left_out,
        ece=float(gaps.sum() / total),
        mce=float((gaps / groups.cases).max()),
        rel=float(np.dot(groups.cases, (groups.y - groups.x) ** 2) / total),
        res=float(np.dot(groups.cases, (groups.y - float(table.n_pos) / total) ** 2) / total),
        bins=bins,
        spiegelhalter=tests[0],
        hosmer_lemeshow=tests[1],
    )


def calibration_summaries(
    models: Models, *, seed: int = 0, prevalence: float | None = None
) -> dict[str, CalibrationSummary]:
    """Return the summary of every two-class model whose scores are between 0 and 1."""
    return {
        name: _summarise(models, name, seed, prevalence) for name in models.thresholded if models[name].probabilities
    }


def class_calibration_summaries(models: Models, *, seed: int = 0) -> dict[str, dict[str, CalibrationSummary]]:
    """Return the summaries of multiclass models: of the top class, and of each class unless there are many."""
    classes = models.present if len(models.present) <= MAX_CLASSES else []
    return {
        name: {
            of: _summarise(models, f"{name}[{of}]", seed)
            for of in (TOP, *(f'"{label}"' if label == TOP else label for label in classes))
        }
        for name in models.of_classes
        if models[name].probabilities and len(models.present) > 1
    }


def _summarise(models: Models, name: str, seed: int, prevalence: float | None = None) -> CalibrationSummary:
    table, share = models.score_table(name), prevalence if 0 < models.prevalence < 1 else None
    return calibration_summary(table, model=name, seed=seed, in_groups=models.grouped, prevalence=share)


def _weight_at_ends(table: ScoreTable) -> float:
    """Weight of scores of exactly 0 and 1, which have no finite logit."""
    ends = [place for place, end in ((0, 1.0), (-1, 0.0)) if table.score[place] == end]
    return float(table.counts[:, ends].sum())


def _calibration_null(table: ScoreTable, replicates: int, seed: int, prevalence: float | None) -> tuple[float, float]:
    """Expected CAL under perfect calibration, and the p value of the observed CAL."""
    result = calibration_null(table, cal.name, cal.function, replicates=replicates, seed=seed, prevalence=prevalence)
    if result is None:
        return math.nan, math.nan
    observed, drawn = result
    # Equal sums in another order differ by rounding errors.
    return float(drawn.mean()), float((1 + np.sum(drawn >= observed - 1e-12)) / (1 + replicates))


def _group_scores(table: ScoreTable, bins: int) -> tuple[CalibrationCurve, CalibrationCurve]:
    """Bins of equal width and decile groups, from one pass over the rows."""
    starts = width_starts(table.score, bins), quantile_starts(table, 10) if table.whole else np.zeros(1, np.intp)
    all_starts = np.unique(np.concatenate(starts))
    sums = group_sums(table, all_starts)
    wide, tenth = (np.add.reduceat(sums, np.searchsorted(all_starts, group_starts), axis=1) for group_starts in starts)
    return curve_of_groups(table, starts[0], "width", wide), curve_of_groups(table, starts[1], "count", tenth)


def _chunked_means(measures: Sequence[Measure], table: ScoreTable) -> list[float]:
    """Means of measures over cases, computed in chunks of the table."""

    def sums_of(rows: slice) -> Array:
        chunk = replace(table, score=table.score[rows], counts=table.counts[:, rows])
        return float(chunk.total) * np.array([1.0, *(measure.function(chunk) for measure in measures)])

    weight, *sums = np.sum(map_chunks(sums_of, table.score.size), axis=0).tolist()
    return [value / weight for value in sums]


def _chunked_auc(table: ScoreTable) -> float:
    """The AUC, computed in chunks of the table."""

    def sums_of(rows: slice) -> tuple[float, float, float]:
        chunk = replace(table, score=table.score[rows], counts=table.counts[:, rows])
        return float(concordant_pairs(chunk)), float(chunk.n_pos), float(chunk.n_neg)

    pairs, pos, neg = np.array(map_chunks(sums_of, table.score.size)).T
    above = np.cumsum(pos) - pos
    return float(ratio(pairs.sum() + (above * neg).sum(), pos.sum() * neg.sum()))

"""What there is to say about a model's probabilities: proper scores, their parts, tests, and a verdict in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from scorespace.curves.brier import probabilities
from scorespace.curves.calibration import CalibrationCurve, curve_of_groups, group_sums, width_starts
from scorespace.curves.hull import edges_of
from scorespace.frozen import dataclass
from scorespace.measures.calibration import BINS, cal_large
from scorespace.measures.cox import logistic_fit, logits, neighbours, offset_fit
from scorespace.measures.decomposition import cal, refinement, unc
from scorespace.measures.measure import Measure
from scorespace.measures.probability import brier, clipped_cases, logloss
from scorespace.measures.ranking import concordant_pairs
from scorespace.probabilities.tests import (
    IN_GROUPS,
    CalibrationTest,
    chi_squared,
    hosmer_lemeshow,
    quantile_starts,
    spiegelhalter,
    untested,
)
from scorespace.resampling.chance import LABELLINGS, by_chance, counts_of, in_sample
from scorespace.results import SCHEMA, Note, Row, decimals, grouped, note, p_text, plain, so_many
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.classes import TOP
from scorespace.tables.models import Models
from scorespace.tables.pieces import over_pieces

RANKS: Final = 0.6
"""Below this AUC a model is called not discriminating."""
MATTERS: Final = 0.02
"""Miscalibration beyond chance matters from this share of the base rate's Brier score on."""
TELLING: Final = 0.1
"""Half width of the interval of the rate of positives up to which scores may be called calibrated."""
LIKELY: Final = 0.05
SURE: Final = 0.01
CLASSES_JUDGED: Final = 12
"""Most classes whose scores are judged one by one."""


@dataclass(frozen=True)
class CalibrationSummary:
    """Whether a model's scores can be taken as probabilities; undefined numbers are NaN.

    brier = cal + ref. `cal_chance` is the CAL that calibrated scores would show on so many cases by
    chance, `cal_p` how often it would be as large as `cal`. `intercept` is fitted with the slope,
    `offset` for a slope of 1. ECE, MCE and Murphy's terms are over `bins` bins of equal width:
    brier = rel − res + unc + residual, the residual being what differs within the bins.
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
        """What Murphy's terms over bins leave of the Brier score, because scores within a bin differ."""
        return self.brier - (self.rel - self.res + self.unc)

    @property
    def excess(self) -> float:
        """CAL beyond chance."""
        return max(0.0, self.cal - (0.0 if math.isnan(self.cal_chance) else self.cal_chance))

    @property
    def calibrated(self) -> bool:
        """Whether miscalibration is small, or no more than chance explains."""
        small = self.excess < MATTERS * self.unc or self.cal == 0
        return small or self.cal_p >= LIKELY

    @property
    def telling(self) -> bool:
        """Whether there are cases enough to call scores calibrated: their mean is known to a tenth or better."""
        return self.cases > 0 and 1.96 * math.sqrt(max(self.unc, 1 / (4 * self.cases)) / self.cases) <= TELLING

    @property
    def disagree(self) -> bool:
        """Whether one of the two tests clearly rejects what the other lets pass."""
        low, high = sorted([self.spiegelhalter.p, self.hosmer_lemeshow.p])
        return low < SURE and high >= LIKELY

    @property
    def words(self) -> str:
        """The verdict in a few plain sentences."""
        doubts = ["Tests of calibration disagree here: look at the curve first."] if self.disagree else []
        return " ".join([self._opening(), *self._directions(), *doubts])

    def _opening(self) -> str:
        name, area = self.model or "The model", f"AUC {decimals(self.auc)}"
        if math.isnan(self.auc):
            return f"{name} was tried on one class only, so nothing can be said of its discrimination."
        ranks = self.auc >= RANKS
        how = "discriminating" if ranks else "not discriminating"
        if math.isnan(self.cal_p) and self.cal > 0:
            why = "cases in groups" if self.spiegelhalter.reason == IN_GROUPS else "these weights"
            return f"{name} is {how} ({area}); with {why}, calibration cannot be told from chance."
        if self.calibrated and not self.telling:
            few = f"{grouped(self.cases)} cases are too few to tell whether its scores can be taken as probabilities"
            return f"{name} is {how} ({area}); {few}{self._far_off()}."
        if self.calibrated:
            against = self._against()
            if against:
                return f"{name} is {how} ({area}) and close to calibrated, but not exactly: {'; '.join(against)}."
            use = "" if ranks else "; its scores say how often it happens, not to whom"
            return f"{name} is {how} ({area}), and {grouped(self.cases)} cases show no miscalibration{use}."
        saved = (
            f"recalibration alone could lower its Brier score from {decimals(self.brier)} "
            f"to {decimals(self.brier - self.excess)}"
        )
        if ranks:
            return f"{name} is discriminating ({area}) but badly calibrated: {saved}."
        return f"{name} is neither discriminating ({area}) nor calibrated: {saved}, but not improve its ranking."

    @property
    def _slope_away(self) -> float:
        """How many standard errors the slope is away from 1."""
        return (self.slope - 1) / self.slope_error if self.slope_error > 0 else 0.0

    def _against(self) -> list[str]:
        """What contradicts calibration, though the miscalibration is small or no more than chance explains."""
        found = []
        if abs(self._slope_away) >= 2:
            way = "extreme" if self._slope_away < 0 else "timid"
            found.append(f"its scores are too {way} (slope {decimals(self.slope)})")
        tests = (("Spiegelhalter", self.spiegelhalter.p), ("Hosmer-Lemeshow", self.hosmer_lemeshow.p))
        found += [f"{name}'s test has {p_text(p)}" for name, p in tests if p < LIKELY]
        if self.cal_p < LIKELY:
            found.append(f"its calibration error of {decimals(self.cal)} is more than chance ({p_text(self.cal_p)})")
        if found:
            found.append(f"recalibration could lower its Brier score by about {decimals(self.excess)}")
        return found

    def _far_off(self) -> str:
        """How far the mean score is from what happened, where that is much."""
        if abs(self.cal_large) < TELLING:
            return ""
        way = "low" if self.cal_large > 0 else "high"
        return f" (on average they are too {way} by {decimals(abs(self.cal_large))})"

    def _directions(self) -> Iterator[str]:
        away = self._slope_away
        if self.calibrated or math.isnan(self.cal_p):
            return
        if abs(self.cal_large) >= 0.01:
            way = "low" if self.cal_large > 0 else "high"
            yield f"On average its scores are too {way} by {decimals(abs(self.cal_large))}."
        if away <= -2:
            yield f"Its scores are too extreme, or overconfident (slope {decimals(self.slope)}, below 1)."
        elif away >= 2:
            yield f"Its scores are too timid, or underconfident (slope {decimals(self.slope)}, above 1)."

    @property
    def notes(self) -> tuple[Note, ...]:
        """What to know before trusting these numbers."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[Note]:
        if self.impossible > 0:
            yield note("SS021", no_chance_text(self.model, self.impossible))
        surely = not self.calibrated and self.cal_p < SURE  # without whole weights chance is unknown
        if surely:
            yield note(
                "SS022",
                f"the scores of {self.model} are not calibrated: of its Brier score of {decimals(self.brier)}, "
                f"{decimals(self.excess)} is miscalibration beyond chance.",
            )
        if self.disagree:
            ours, theirs = p_text(self.spiegelhalter.p), p_text(self.hosmer_lemeshow.p)
            yield note(
                "SS023",
                f"tests of calibration disagree on {self.model}: Spiegelhalter {ours}, Hosmer-Lemeshow {theirs}. "
                "They look for different faults: look at the curve first.",
            )
        shown = self.cal >= 0.0005  # less would read 0.000
        if shown and not surely and self.cal_chance >= 0.2 * self.cal:  # else SS022 has told chance apart
            yield note(
                "SS024",
                f"cal of {self.model} comes from a curve fitted to the same cases, so it is too high: calibrated "
                f"scores would show {decimals(self.cal_chance)} by chance, it shows {decimals(self.cal)}.",
            )

    def rows(self) -> list[Row]:
        """One row with all numbers; those of the tests as `spiegelhalter_p` and so on."""
        row: Row = {}
        for name, value in vars(self).items():
            if isinstance(value, CalibrationTest):
                row |= {f"{name}_{key}": plain(getattr(value, key)) for key in ("statistic", "df", "p")}
            else:
                row[name] = plain(value)
        return [row]

    def to_dict(self) -> Row:
        notes = [note.to_dict() for note in self.notes]
        return {"schema": SCHEMA, **self.rows()[0], "words": self.words, "notes": notes}

    def __repr__(self) -> str:
        return (
            f"brier {decimals(self.brier)} = cal {decimals(self.cal)} + ref {decimals(self.ref)}, "
            f"skill {decimals(self.skill)}. {self.words}"
        )


def no_chance_text(model: str, cases: float) -> str:
    """Why a log loss is infinite, in words."""
    return (
        f"{model} gave {so_many(cases, 'case')} no chance that happened nevertheless: its log loss is infinite. "
        "logloss(eps=1e-15) clips them."
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
    """All that is to say about scores as probabilities; what chance brings is unknown where cases come `in_groups`.

    With a `prevalence`, as probabilities where positives have that share: numbers are those of the cases weighed to it,
    and tests ask whether scores with the odds of the sample are calibrated in it, which is the same question.

    >>> from scorespace.tables import score_table
    >>> found = calibration_summary(score_table([1, 0, 0, 0] * 25, [0.25] * 100), model="base rate")
    >>> found.brier, found.cal, found.ref
    (0.1875, 0.0, 0.1875)
    """
    probabilities(table)
    # Labels of one group go together: chance draws them one by one.
    chance, p = (math.nan, math.nan) if in_groups else _by_chance(table, replicates, seed, prevalence)
    counts = counts_of(table)
    whole, sample = counts is not None, counts or table
    impossible, left_out = clipped_cases(sample, 0.0), _at_ends(sample)
    if prevalence is not None:
        table, sample = sample.at_prevalence(prevalence), in_sample(sample, prevalence)
    else:
        table = sample
    score, surprise, large = _means((brier, logloss, cal_large), table)
    base, total = float(unc(table)), float(table.total)
    refined = float(refinement(table, edges_of(table)))
    x, pos, neg = logits(table)
    near = neighbours(x, pos, neg)
    fit = logistic_fit(x, pos, neg, near)
    groups, deciles = _groupings(table, bins)
    error = fit.slope_error
    if prevalence is not None:
        deciles, error = (
            _groupings(sample, bins)[1],
            logistic_fit(*(own := logits(sample)), neighbours(*own)).slope_error,
        )
    gaps = np.abs(groups.hits - groups.x * groups.cases)
    if in_groups:
        tests = untested("spiegelhalter", IN_GROUPS), untested("hosmer-lemeshow", IN_GROUPS)
    else:
        by_deciles = chi_squared(deciles, fitted=False) if whole else hosmer_lemeshow(sample, fitted=False)
        tests = spiegelhalter(sample), by_deciles
    return CalibrationSummary(
        model=model,
        cases=total,
        auc=_area(table),
        brier=score,
        cal=max(0.0, score - refined),
        ref=refined,
        unc=base,
        skill=1 - score / base if base > 0 else math.nan,
        logloss=math.inf if impossible else surprise,
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
    """That of every two-class model whose scores lie between 0 and 1."""
    return {name: _judged(models, name, seed, prevalence) for name in models.thresholded if models[name].probabilities}


def class_calibration_summaries(models: Models, *, seed: int = 0) -> dict[str, dict[str, CalibrationSummary]]:
    """By model that scores several classes: that of its highest score, and of each class unless they are many."""
    each = models.present if len(models.present) <= CLASSES_JUDGED else []
    return {
        name: {
            of: _judged(models, f"{name}[{of}]", seed)
            for of in (TOP, *(f'"{one}"' if one == TOP else one for one in each))
        }
        for name in models.of_classes
        if models[name].probabilities and len(models.present) > 1
    }


def _judged(models: Models, name: str, seed: int, prevalence: float | None = None) -> CalibrationSummary:
    table, share = models.score_table(name), prevalence if 0 < models.prevalence < 1 else None
    return calibration_summary(table, model=name, seed=seed, in_groups=models.grouped, prevalence=share)


def _at_ends(table: ScoreTable) -> float:
    """The weight of scores of exactly 0 and 1, which have no finite logit."""
    ends = [place for place, end in ((0, 1.0), (-1, 0.0)) if table.score[place] == end]
    return float(table.counts[:, ends].sum())


def _by_chance(table: ScoreTable, replicates: int, seed: int, prevalence: float | None) -> tuple[float, float]:
    """The CAL that calibrated scores would show by chance, and how often it is as large as that of the table."""
    found = by_chance(table, cal.name, cal.function, replicates=replicates, seed=seed, prevalence=prevalence)
    if found is None:
        return math.nan, math.nan
    seen, drawn = found
    # Equal sums in another order differ by rounding.
    return float(drawn.mean()), float((1 + np.sum(drawn >= seen - 1e-12)) / (1 + replicates))


def _groupings(table: ScoreTable, bins: int) -> tuple[CalibrationCurve, CalibrationCurve]:
    """Bins of equal width and groups between deciles, both from one pass over the rows."""
    starts = width_starts(table.score, bins), quantile_starts(table, 10) if table.whole else np.zeros(1, np.intp)
    every = np.unique(np.concatenate(starts))
    sums = group_sums(table, every)
    wide, tenth = (np.add.reduceat(sums, np.searchsorted(every, these), axis=1) for these in starts)
    return curve_of_groups(table, starts[0], "width", wide), curve_of_groups(table, starts[1], "count", tenth)


def _means(measures: Sequence[Measure], table: ScoreTable) -> list[float]:
    """Measures that are means over cases, from pieces of the table."""

    def of(rows: slice) -> Array:
        piece = replace(table, score=table.score[rows], counts=table.counts[:, rows])
        return float(piece.total) * np.array([1.0, *(measure.function(piece) for measure in measures)])

    weight, *sums = np.sum(over_pieces(of, table.score.size), axis=0).tolist()
    return [value / weight for value in sums]


def _area(table: ScoreTable) -> float:
    """The AUC, from pieces of the table: pairs within each, and with the positives above it."""

    def of(rows: slice) -> tuple[float, float, float]:
        piece = replace(table, score=table.score[rows], counts=table.counts[:, rows])
        return float(concordant_pairs(piece)), float(piece.n_pos), float(piece.n_neg)

    pairs, pos, neg = np.array(over_pieces(of, table.score.size)).T
    above = np.cumsum(pos) - pos
    return float(ratio(pairs.sum() + (above * neg).sum(), pos.sum() * neg.sum()))

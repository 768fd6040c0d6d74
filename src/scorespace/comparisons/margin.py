"""Non-inferiority and equivalence: a difference against a margin that was stated beforehand.

References: Schuirmann (1987), "A comparison of the two one-sided tests procedure and the power approach", Journal of
Pharmacokinetics and Biopharmaceutics 15; Piaggio et al. (2012), "Reporting of noninferiority and equivalence
randomized trials", JAMA 308.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Final, Literal, get_args

from scipy.special import ndtr, stdtr, stdtrit

from scorespace.comparisons.difference import boundary_z
from scorespace.comparisons.result import Comparison
from scorespace.errors import MeasureError, ScoreSpaceError, listing
from scorespace.inference.bootstrap import REPLICATES
from scorespace.inference.proportion import normal_quantile
from scorespace.measures.measure import Best
from scorespace.results import Row, p_text

MarginKind = Literal["noninferior", "equivalent"]
MARGIN_KINDS: Final[tuple[MarginKind, ...]] = get_args(MarginKind)
_NO_INTERVAL: Final = "the test has no interval, which a margin is compared with"


@dataclass(frozen=True)
class Margin:
    """A margin in the units of the measure, for non-inferiority or equivalence."""

    size: float
    kind: MarginKind = "noninferior"

    def __post_init__(self) -> None:
        if not 0 < self.size < math.inf:
            raise ScoreSpaceError(f"margin={self.size:g} is not a margin.", hint="above 0: margin=0.02")
        if self.kind not in MARGIN_KINDS:
            raise ScoreSpaceError(
                f"margin_kind={self.kind!r} is unknown.", seen=f"known are {listing(MARGIN_KINDS)}", hint="one of these"
            )

    def check(self, measure: str, best: Best | None) -> None:
        """Refuse non-inferiority in a measure of which neither direction is better."""
        if best is None and self.kind == "noninferior":
            raise MeasureError(
                f"{measure} has no better direction, so no model is inferior.", hint='margin_kind="equivalent"'
            )

    def shown_level(self, level: float) -> float:
        """Level of the interval that decides: for equivalence both tails count in full (90 % for a test at 5 %)."""
        return level if self.kind == "noninferior" else 2 * level - 1


def margin_of(size: float | None, kind: MarginKind | None, alternative: str = "two-sided") -> Margin | None:
    """Return the stated margin, if there is one.

    >>> margin_of(0.02, None), margin_of(None, None)
    (Margin(size=0.02, kind='noninferior'), None)
    """
    if size is None:
        if kind is not None:
            raise ScoreSpaceError(f"margin_kind={kind} needs a margin.", hint="margin=0.02")
        return None
    if alternative != "two-sided":
        raise ScoreSpaceError(
            f"alternative={alternative} and margin={size:g} are different tests.", hint="leave out the alternative"
        )
    return Margin(size, kind or "noninferior")


@dataclass(frozen=True, kw_only=True, repr=False)
class MarginTest(Comparison):
    """A test of a difference a − b against a margin; `p` is one-sided, for equivalence the larger of two.

    `best` is the better direction of the measure; `error` is the error rate that the test allows.
    """

    has_letters: ClassVar[bool] = False
    margin: Margin
    best: Best | None
    error: float

    def row(self) -> Row:
        return super().row() | {
            "margin": self.margin.size,
            "margin_kind": self.margin.kind,
            "shown": self.is_significant,
        }

    @property
    def is_significant(self) -> bool:
        """Whether non-inferiority or equivalence is shown."""
        return self.reported_p < round(self.error, 12)

    @property
    def columns(self) -> dict[str, str]:
        return {"margin": f"{self.margin.size:g}", self.margin.kind: "shown" if self.is_significant else "not shown"}

    @property
    def mark(self) -> str:
        return f"{self.margin.kind} by a margin of {self.margin.size:g} (p < {self.error:g})"

    @property
    def verdict(self) -> str:
        return f"{self.margin.kind}{'' if self.is_significant else ' not shown'}"

    @property
    def words(self) -> str:
        """What is shown or not shown, the difference with its interval, and p."""
        if math.isnan(self.p):
            return f"{self.a} and {self.b}: {self.reason or 'the difference is undefined'}."
        size = f"{self.margin.size:g}"
        if self.margin.kind == "noninferior":
            shown, not_shown = (
                f"{self.a} is not worse than {self.b} by more than",
                f"{self.a} may be worse than {self.b} by more than",
            )
        else:
            shown, not_shown = (
                f"{self.a} and {self.b} differ by less than",
                f"{self.a} and {self.b} may differ by more than",
            )
        claim = f"{shown if self.is_significant else not_shown} {size} in {self.of}"
        adjusted = "" if math.isnan(self.p_adjusted) else ", adjusted"
        sided = "one-sided" if self.margin.kind == "noninferior" else "two one-sided tests"
        return f"{claim}: difference {self.size}, {p_text(self.reported_p)} ({sided}{adjusted})."

    def __repr__(self) -> str:
        return self.words


def margin_test(margin: Margin, at_level: Callable[[float], Comparison], level: float, best: Best | None) -> MarginTest:
    """Test a margin by the interval of a comparison: p is the tail at which its limit touches the margin.

    Where the interval is symmetric, d ± q · se with the normal or Student's q, this is P(T > (d + margin) / se).
    """
    found = at_level(margin.shown_level(level))
    error = (1 - level) / 2 if margin.kind == "noninferior" else 1 - level
    names = {field.name for field in fields(Comparison)}
    values = {name: value for name, value in vars(found).items() if name in names}
    result = MarginTest(**values, margin=margin, best=best, error=error)
    if math.isnan(result.difference) or math.isnan(result.low) or math.isnan(result.high):
        reason = result.reason if math.isnan(result.difference) else _NO_INTERVAL
        return replace(result, p=math.nan, statistic=math.nan, reason=reason)
    tail = _tail_function(found, at_level)
    below, above = tail(-margin.size, True), tail(margin.size, False)
    p = max(below, above) if margin.kind == "equivalent" else (above if best == "low" else below)
    return replace(result, p=p, statistic=math.nan, df=math.nan)


def _tail_function(found: Comparison, at_level: Callable[[float], Comparison]) -> Callable[[float, bool], float]:
    """Return the one-sided p of a difference above (or below) a target."""
    half, df = (found.high - found.low) / 2, found.df if isinstance(found.df, float) else math.nan
    is_symmetric = math.isclose(found.high + found.low, 2 * found.difference, abs_tol=1e-9 * max(half, 1e-300) + 1e-12)
    statistic = abs(found.statistic)
    is_finite = math.isfinite(statistic) and statistic > 0 and half > 0
    if is_symmetric and is_finite and found.certified is None:
        error, tail = abs(found.difference) / statistic, (1 + found.level) / 2
        for freedom in (math.inf, df):
            if math.isnan(freedom):
                continue
            quantile = normal_quantile(found.level) if math.isinf(freedom) else float(stdtrit(freedom, tail))
            if math.isclose(quantile * error, half, rel_tol=1e-6):
                return lambda target, above: _closed_form(found.difference, error, freedom, target, above)

    def bounds(level: float) -> tuple[float, float]:
        one = at_level(level)
        return one.low, one.high

    def inverted(target: float, above: bool) -> float:
        z = boundary_z(bounds, target)
        is_beyond = found.difference > target if above else found.difference < target
        resolution = 1 / (1 + REPLICATES)  # intervals that are not closed forms rest on this number of draws
        return float(min(1 - resolution, max(resolution, ndtr(-z if is_beyond else z))))

    return inverted


def _closed_form(difference: float, error: float, freedom: float, target: float, above: bool) -> float:
    t = (difference - target) / error * (1 if above else -1)
    return float(ndtr(-t) if math.isinf(freedom) else stdtr(freedom, -t))

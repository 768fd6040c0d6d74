"""What tests over folds and over data sets share: their results, alternatives, and the region of equivalence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from scorespace.comparisons.comparison import Comparison
from scorespace.errors import ScoreSpaceError, listing
from scorespace.results import SCHEMA, Note, Row, decimals, p_text, plain, signed
from scorespace.tables import Array

Alternative = Literal["two-sided", "greater", "less"]
"""What a small p speaks for: a differs from b, is greater, is less. About the values, whatever their direction."""

ROPE: Final = 0.01
"""Half width of the region of practical equivalence that is customary for accuracy and AUC."""

_DIGITS: Final = 12  # the rest is rounding


@dataclass(frozen=True, kw_only=True)
class PairTest(Comparison):
    """A comparison of two models by their paired differences a − b.

    `count` is the number of differences, `over` what they are taken over. The interval from `low` to `high`
    is two-sided whatever the alternative.
    """

    over: str
    count: int
    alternative: Alternative = "two-sided"
    notes: tuple[Note, ...] = ()

    def rows(self) -> list[Row]:
        return [self.row()]

    def to_dict(self) -> Row:
        return _content(self, ("over", "count", "alternative"))

    @property
    def words(self) -> str:
        """By how much the models differ, and whether chance explains it."""
        if math.isnan(self.p):
            return f"{self._facts}; no test is possible: {self.reason}."
        if self.reason is not None:
            return f"{self.a} and {self.b} do not differ: {self.reason}."
        judged = "more than chance explains" if self.sure else "not distinguishable from chance here"
        told = f"{self.test}, {p_text(self.telling_p)}{'' if math.isnan(self.p_adjusted) else ', adjusted'}"
        told += ", which is optimistic" if any(note.code == "SS017" for note in self.notes) else ""
        sided = "" if self.alternative == "two-sided" else f", one-sided: {self.a} {self.alternative}"
        return f"{self._facts}, {judged} ({told}{sided})."

    @property
    def _facts(self) -> str:
        side = "higher" if self.difference > 0 else "lower"
        by = f"{abs(self.difference):.3g} {side} than" if self.difference else "as high as"
        measured = f" in {self.measure}" if self.measure else ""
        return f"{self.a} is {by} {self.b}{measured} on average over {extent(self.count, self.over)}"

    def __repr__(self) -> str:
        size = signed(self.difference)
        if not math.isnan(self.low):
            size += f" [{signed(self.low)}, {signed(self.high)}]"
        tested = f"  {p_text(self.p)}" if not math.isnan(self.p) else ""
        reason = f"  ({self.reason})" if self.reason else ""
        return f"{self.a} − {self.b} {size}{tested}  {self.test}, {extent(self.count, self.over)}{reason}"


@dataclass(frozen=True, kw_only=True)
class Posterior(Comparison):
    """Probabilities that a − b lies left of, in, or right of the region of practical equivalence ± `width`.

    Left means that a is lower by more than `width`, right that it is higher. There is no p-value.
    """

    over: str
    count: int
    width: float
    left: float
    rope: float
    right: float
    draws: int | None = None
    notes: tuple[Note, ...] = ()

    def row(self) -> Row:
        names = ("width", "left", "rope", "right")
        return super().row() | plain({name: getattr(self, name) for name in names})

    @property
    def sure(self) -> bool:
        """Whether one of the models is better, beyond the region, with the probability of the level."""
        return max(self.left, self.right) > self.level

    def rows(self) -> list[Row]:
        return [self.row()]

    def to_dict(self) -> Row:
        return _content(self, ("over", "count", "draws"))

    @property
    def words(self) -> str:
        """How probable each of the three is, in a sentence."""
        if math.isnan(self.left):
            return f"{self.a} and {self.b} cannot be compared: {self.reason}."
        more = f"by more than {self.width:g} " if self.width else ""
        return (
            f"{self.a} is higher than {self.b} {more}with probability {decimals(self.right)}, "
            f"lower {more}with {decimals(self.left)}, and practically equal with {decimals(self.rope)} "
            f"({self.test}, {extent(self.count, self.over)}{f'; {self.reason}' if self.reason else ''})."
        )

    def __repr__(self) -> str:
        shown = f"lower {decimals(self.left)}, equal {decimals(self.rope)}, higher {decimals(self.right)}"
        shown = f"{shown}  rope ±{self.width:g}  {self.test}, {extent(self.count, self.over)}"
        return f"{self.a} than {self.b}: {shown}" + (f"  ({self.reason})" if self.reason else "")


def extent(count: int, over: str) -> str:
    """How much was tested, for people.

    >>> extent(10, "folds"), extent(1, "folds")
    ('10 folds', '1 fold')
    """
    return f"{count} {over.removesuffix('s') if count == 1 else over}"


def tail(t: float, df: float, alternative: Alternative) -> float:
    """The p-value of a t statistic: both tails, the upper for "greater", the lower for "less".

    >>> round(tail(2.0, 9, "greater"), 4), round(tail(2.0, 9, "less"), 4)
    (0.0383, 0.9617)
    """
    if alternative == "two-sided":
        return 2 * float(stdtr(df, -abs(t)))
    return float(stdtr(df, -t if alternative == "greater" else t))


def check_alternative(alternative: str) -> None:
    """Refuse an alternative that is none of the three."""
    if alternative not in get_args(Alternative):
        raise ScoreSpaceError(
            f"alternative={alternative!r} is not an alternative.", seen=f"known are {listing(get_args(Alternative))}"
        )


def check_rope(rope: float) -> None:
    """Refuse a region of practical equivalence that has no width."""
    if not 0 <= rope < math.inf:
        raise ScoreSpaceError(
            f"rope={rope:g} is not a half width.", hint="rope=0.01, in the units of the measure, or 0 for none"
        )


def rounded(values: Array, size: ArrayLike) -> Array:
    """Each value to the twelfth digit of the size of what it was computed from, so that 0.3 − 0.2 equals 0.9 − 0.8.

    >>> rounded(np.array([0.3 - 0.2, 0.09 - 0.08, 1e-9]), [0.3, 0.09, 1e-9])
    array([1.e-01, 1.e-02, 1.e-09])
    """
    magnitude = np.asarray(size, dtype=np.float64)
    places = _DIGITS - 1 - np.floor(np.log10(np.where(magnitude > 0, magnitude, 1.0)))
    unit = 10.0 ** np.clip(places, 0, 300)  # no coarser than whole numbers, no finer than a power that is finite
    return np.where(places > 300, values, np.rint(values * unit) / unit)


def _content(result: PairTest | Posterior, names: tuple[str, ...]) -> Row:
    """What a result writes for programs: its own facts, its row, its words and notes."""
    return {
        "schema": SCHEMA,
        **{name: getattr(result, name) for name in names},
        "rows": result.rows(),
        "verdict": result.words,
        "notes": [note.to_dict() for note in result.notes],
    }

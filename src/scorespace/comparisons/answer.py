"""What a test answers: a difference with its interval and p, over cases, folds or data sets, and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import ArrayLike

from scorespace.comparisons.adjust import adjust, title
from scorespace.errors import DataError, ScoreSpaceError, listing
from scorespace.frozen import dataclass
from scorespace.results import CERTIFIED, Note, Result, Row, decimals, limits, note, p_text, plain
from scorespace.results import Alternative as Alternative
from scorespace.tables import Array
from scorespace.tables.arrays import real

ROPE: Final = 0.01
"""Half width of the region of practical equivalence that is customary for accuracy and AUC."""

UNTESTED: Final = "interval only"
"""How the reason of a difference begins that was not tested, because another one is."""

_DIGITS: Final = 12  # the rest is rounding


_IN_ROWS: Final = (
    *("a", "b", "test", "measure", "difference", "low", "high", "level", "statistic", "df", "p", "p_adjusted"),
    *("alternative", "table", "reason"),
)


@dataclass(frozen=True)
class Statistic:
    """A statistic with its degrees of freedom and p-value, and the reason when it is undefined or infinite."""

    test: str
    value: float
    df: float | tuple[float, float]
    p: float
    reason: str | None = None

    def row(self) -> Row:
        return plain({"statistic" if name == "value" else name: value for name, value in vars(self).items()})


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """A test of two models, or of several at once: then `b` names all but the first, and no difference is defined.

    `independent`: a and b were measured on two samples and not on the same cases. `table` counts the cases that
    both models decide right, only a; only b, and neither. `asked` is the measure as the user wrote it. `certified`, of
    coarse scores: what the difference lies between, whatever the order inside the bins; NaN where that is not known.
    The interval then holds, and p is the largest, wherever in between it is. The interval is two-sided whatever the
    alternative.
    """

    a: str
    b: str
    test: str
    measure: str
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    level: float = 0.95
    statistic: float = math.nan
    df: float | tuple[float, float] = math.nan
    p: float = math.nan
    p_adjusted: float = math.nan
    reason: str | None = None
    several: bool = False
    table: tuple[tuple[int, int], tuple[int, int]] | None = None
    independent: bool = False
    notes: tuple[Note, ...] = ()
    asked: str | None = field(default=None, compare=False, repr=False)
    certified: tuple[float, float] | None = None
    alternative: Alternative = "two-sided"

    def row(self) -> Row:
        certain = {} if self.certified is None else dict(zip(CERTIFIED, self.certified, strict=True))
        return plain({name: getattr(self, name) for name in _IN_ROWS} | certain)

    def rows(self) -> list[Row]:
        return [self.row()]

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """What it was judged by, where that is shown in full."""
        return (Statistic(self.test, self.statistic, self.df, self.p, self.reason),)

    @property
    def of(self) -> str:
        """What is compared, under the name that was asked for."""
        return self.asked or self.measure

    @property
    def size(self) -> str:
        """The difference with its interval, for people."""
        shown = limits(self.difference, self.low, self.high, sign=True)
        open_ = math.nan if self.certified is None else (self.certified[1] - self.certified[0]) / 2
        return shown if math.isnan(open_) else f"{shown} ±{open_:.1g}"

    @property
    def averaged(self) -> str:
        """What a difference adds that is a mean over folds, and not that of the pooled numbers beside it."""
        return ""

    @property
    def telling_p(self) -> float:
        """The p-value to judge by: adjusted where several tests are made."""
        return self.p if math.isnan(self.p_adjusted) else self.p_adjusted

    @property
    def sure(self) -> bool:
        """Whether the difference is called distinguishable from chance: p below one minus the level."""
        return self.telling_p < round(1 - self.level, 12)

    @property
    def words(self) -> str:
        """What differs, by how much, and whether chance alone could have done it."""
        if self.several and not math.isnan(self.p):
            judged = "differ by more than chance explains" if self.sure else "are not distinguishable here"
            return f"All together, {self.a}, {self.b} {judged} in {self.of} ({p_text(self.p)})."
        if math.isnan(self.difference):
            return f"{self.a} and {self.b}: {self.reason or 'the difference is undefined'}."
        return f"{self.a} and {self.b}: {self.of} differs by {self.size}{self._judged}."

    @property
    def _judged(self) -> str:
        """How a sentence goes on after the size of the difference."""
        if not math.isnan(self.p):
            return f", {self.judgement}"
        if (self.reason or "").startswith(UNTESTED):
            return f" ({self.reason})"
        return f"; no test is possible: {self.reason}"

    @property
    def columns(self) -> dict[str, str]:
        """What a table of tests shows of this one beyond what all have, by heading."""
        return {}

    @property
    def mark(self) -> str:
        """What a star behind the difference says."""
        return f"p < {round(1 - self.level, 12):g}"

    @property
    def verdict(self) -> str:
        """Whether chance alone could have done it."""
        return "more than chance explains" if self.sure else "not distinguishable from chance here"

    @property
    def judgement(self) -> str:
        """The same, with the p-value to judge by."""
        told = ["two independent samples"] if self.independent else []
        told += [p_text(self.telling_p)] + ([] if math.isnan(self.p_adjusted) else ["adjusted"])
        return f"{self.verdict} ({', '.join(told)}{self.sided})"

    @property
    def sided(self) -> str:
        """What a sentence adds where one side alone was tested."""
        return "" if self.alternative == "two-sided" else f", one-sided: {self.a} {self.alternative}"


@dataclass(frozen=True, kw_only=True, repr=False)
class ValueTest(Comparison):
    """A test of one number against a fixed value."""

    value: float

    @property
    def words(self) -> str:
        """The number, how far it is from the value, and whether chance alone could have done it."""
        if math.isnan(self.difference):
            return f"{self.a}: {self.reason or 'the difference is undefined'}."
        size = f"{self.of} is {decimals(self.value + self.difference)}, {self.size}"
        return f"{self.a}: {size} from {self.value:g}{self._judged}."


@dataclass(frozen=True, kw_only=True, repr=False)
class PairTest(Comparison):
    """A comparison of two models by their paired differences a − b.

    `count` is the number of differences, `over` what they are taken over.
    """

    over: str
    count: int

    @property
    def averaged(self) -> str:
        return f"mean over {self.over}"

    def facts(self) -> Row:
        return {"over": self.over, "count": self.count, "alternative": self.alternative}

    @property
    def words(self) -> str:
        """By how much the models differ, and whether chance explains it."""
        if math.isnan(self.p):
            return f"{self._facts}{self._judged}."
        if self.reason is not None:
            return f"{self.a} and {self.b} do not differ: {self.reason}."
        told = f"{self.test}, {p_text(self.telling_p)}{'' if math.isnan(self.p_adjusted) else ', adjusted'}"
        told += ", which is optimistic" if any(note.code == "SS017" for note in self.notes) else ""
        return f"{self._facts}, {self.verdict} ({told}{self.sided})."

    @property
    def _facts(self) -> str:
        side = "higher" if self.difference > 0 else "lower"
        by = f"{abs(self.difference):.3g} {side} than" if self.difference else "as high as"
        measured = f" in {self.of}" if self.of else ""
        return f"{self.a} is {by} {self.b}{measured} on average over {extent(self.count, self.over)}"

    def __repr__(self) -> str:
        tested = f"  {p_text(self.p)}" if not math.isnan(self.p) else ""
        reason = f"  ({self.reason})" if self.reason else ""
        return f"{self.a} − {self.b} {self.size}{tested}  {self.test}, {extent(self.count, self.over)}{reason}"


@dataclass(frozen=True, kw_only=True, repr=False)
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

    def row(self) -> Row:
        return super().row() | plain({name: getattr(self, name) for name in ("width", "left", "rope", "right")})

    @property
    def columns(self) -> dict[str, str]:
        shown = {"P lower": self.left, f"P within ±{self.width:g}": self.rope, "P higher": self.right}
        return {heading: decimals(probability) for heading, probability in shown.items()}

    @property
    def mark(self) -> str:
        return f"a difference beyond ±{self.width:g} with probability above {self.level:g}"

    @property
    def sure(self) -> bool:
        """Whether one of the models is better, beyond the region, with the probability of the level."""
        return max(self.left, self.right) > self.level

    def facts(self) -> Row:
        return {"over": self.over, "count": self.count, "draws": self.draws}

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


@dataclass(frozen=True)
class Comparisons(Result):
    """Tests between models, as tidy rows.

    `sides` is there when every model is compared with something else than the other models: what the two
    numbers of each comparison are, which `values` then holds by model.
    """

    models: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    adjustment: str | None = None
    notes: tuple[Note, ...] = ()
    sides: tuple[str, str] | None = None
    values: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def rows(self) -> list[Row]:
        return [one.row() for one in self.comparisons]

    def facts(self) -> Row:
        return {"adjustment": self.adjustment}

    @property
    def words(self) -> str:
        """One sentence per comparison."""
        return "\n".join(one.words for one in self.comparisons)

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def __getitem__(self, index: int) -> Comparison:
        return self.comparisons[index]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.comparisons))


def adjusted(
    found: Sequence[Comparison], what: str, method: str = "holm"
) -> tuple[list[Comparison], str | None, tuple[Note, ...]]:
    """The tests with adjusted p-values where there are several, by which method, and the note that says so.

    >>> two = [Comparison("a", "b", "t", "auc", p=0.01), Comparison("a", "c", "t", "auc", p=0.04)]
    >>> [one.p_adjusted for one in adjusted(two, "pairs")[0]]
    [0.02, 0.04]
    """
    named = title(method, pairs=what == "pairs")
    if len(found) < 2 or all(math.isnan(one.p) for one in found):
        return list(found), None, ()
    chances = adjust([one.p for one in found], method)
    placed = [replace(one, p_adjusted=float(p)) for one, p in zip(found, chances, strict=True)]
    told = f"p-values of the {len(found)} {what} are adjusted by {named} method"
    single = "; intervals are those of single differences" if any(not math.isnan(one.low) for one in found) else ""
    return placed, method, (note("SS015", f"{told}{single}."),)


def one_sided(found: Comparison, alternative: Alternative) -> Comparison:
    """A two-sided test of a symmetric statistic as that of one side: p/2 where the difference lies there, else 1 − p/2.

    >>> one_sided(Comparison("a", "b", "t", "auc", 0.1, p=0.04), "greater").p
    0.02
    """
    if alternative == found.alternative:
        return found
    there = found.difference > 0 if alternative == "greater" else found.difference < 0
    p = found.p if found.difference == 0 else found.p / 2 if there else 1 - found.p / 2
    return replace(found, p=p, alternative=alternative)


def extent(count: int, over: str) -> str:
    """How much was tested, for people.

    >>> extent(10, "folds"), extent(1, "folds")
    ('10 folds', '1 fold')
    """
    return f"{count} {over.removesuffix('s') if count == 1 else over}"


def check_alternative(alternative: str) -> None:
    """Refuse an alternative that is none of the three."""
    if alternative not in get_args(Alternative):
        raise ScoreSpaceError(
            f"alternative={alternative!r} is not an alternative.",
            seen=f"known are {listing(get_args(Alternative))}",
            hint="one of these",
        )


def check_rope(rope: float) -> None:
    """Refuse a region of practical equivalence that has no width."""
    if not 0 <= rope < math.inf:
        raise ScoreSpaceError(
            f"rope={rope:g} is not a half width.", hint="rope=0.01, in the units of the measure, or 0 for none"
        )


def numbers_of(values: Any, problem: str, hint: str) -> Array:
    """The values as an array of numbers; refused where they are none."""
    try:
        return real(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(problem, seen=str(error), hint=hint) from error


def rounded(values: Array, size: ArrayLike) -> Array:
    """Each value to the twelfth digit of the size of what it was computed from, so that 0.3 − 0.2 equals 0.9 − 0.8.

    >>> rounded(np.array([0.3 - 0.2, 0.09 - 0.08, 1e-9]), [0.3, 0.09, 1e-9])
    array([1.e-01, 1.e-02, 1.e-09])
    """
    magnitude = np.asarray(size, dtype=np.float64)
    places = _DIGITS - 1 - np.floor(np.log10(np.where(magnitude > 0, magnitude, 1.0)))
    unit = 10.0 ** np.clip(places, 0, 300)  # no coarser than whole numbers, no finer than a power that is finite
    return np.where(places > 300, values, np.rint(values * unit) / unit)

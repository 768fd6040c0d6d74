"""Results of tests: a difference with its interval and p value, over cases, folds or data sets, and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, get_args

import numpy as np
from numpy.typing import ArrayLike

from scorespace.comparisons.letters import compact_letters
from scorespace.comparisons.multiple_testing import adjust, title
from scorespace.errors import DataError, MeasureError, ScoreSpaceError, listing
from scorespace.measures import parse
from scorespace.measures.measure import Best
from scorespace.results import CERTIFIED, Note, Result, Row, decimals, format_interval, note, p_text, to_json_types
from scorespace.results import Alternative as Alternative
from scorespace.tables import Array
from scorespace.tables.array_tables import to_float64

ROPE: Final = 0.01
"""Half width of the region of practical equivalence (ROPE), customary for accuracy and AUC."""

UNTESTED: Final = "interval only"
"""Start of the reason of a difference that has an interval but no test."""

_SIGNIFICANT_DIGITS: Final = 12  # significant digits; the rest is rounding error


_ROW_FIELDS: Final = (
    *("a", "b", "test", "measure", "difference", "low", "high", "level", "statistic", "df", "p", "p_adjusted"),
    *("alternative", "table", "reason", "value_a", "value_b"),
)


@dataclass(frozen=True)
class TestStatistic:
    """A test statistic with its degrees of freedom and p value, and the reason when it is undefined or infinite."""

    test: str
    value: float
    df: float | tuple[float, float]
    p: float
    reason: str | None = None

    def row(self) -> Row:
        return to_json_types({"statistic" if name == "value" else name: value for name, value in vars(self).items()})


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """A test of two models, or of several at once: then `b` names all but the first, and there is no difference.

    `independent`: a and b were measured on two samples, not on the same cases. `table` counts the cases that both
    models, only a; only b, and neither decide correctly. `asked` is the measure as requested. `certified` holds bounds
    of the difference for binned scores, for any order within the bins, NaN where unknown; the interval and p are then
    valid for any difference within them. The interval is two-sided for any alternative. `value_a` and `value_b` are the
    two values, NaN where the difference is not theirs, as for means over folds.
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
    value_a: float = field(default=math.nan, compare=False)
    value_b: float = field(default=math.nan, compare=False)

    def row(self) -> Row:
        certified = {} if self.certified is None else dict(zip(CERTIFIED, self.certified, strict=True))
        return to_json_types({name: getattr(self, name) for name in _ROW_FIELDS} | certified)

    def rows(self) -> list[Row]:
        return [self.row()]

    @property
    def statistics(self) -> tuple[TestStatistic, ...]:
        """The test statistics to display."""
        return (TestStatistic(self.test, self.statistic, self.df, self.p, self.reason),)

    @property
    def of(self) -> str:
        """The compared measure as requested."""
        return self.asked or self.measure

    @property
    def size(self) -> str:
        """The difference with its interval as text."""
        text = format_interval(self.difference, self.low, self.high, sign=True, count=_is_count(self.measure))
        half_width = math.nan if self.certified is None else (self.certified[1] - self.certified[0]) / 2
        return text if math.isnan(half_width) else f"{text} ±{half_width:.1g}"

    @property
    def averaged(self) -> str:
        """Description of a difference that is a mean over folds rather than of pooled values."""
        return ""

    @property
    def reported_p(self) -> float:
        """The p value to use: adjusted where there are several tests."""
        return self.p if math.isnan(self.p_adjusted) else self.p_adjusted

    @property
    def is_significant(self) -> bool:
        """Whether the difference is significant: p below one minus the level."""
        return self.reported_p < round(1 - self.level, 12)

    @property
    def words(self) -> str:
        """The difference, its interval and its significance."""
        if self.several and not math.isnan(self.p):
            significance = "differ significantly" if self.is_significant else "do not differ significantly"
            return f"Together, {self.a}, {self.b} {significance} in {self.of} ({p_text(self.reported_p)})."
        if math.isnan(self.difference):
            return f"{self.a} and {self.b}: {self.reason or 'the difference is undefined'}."
        return f"{self.a} and {self.b}: {self.of} differs by {self.size}{self._significance_text}."

    @property
    def _significance_text(self) -> str:
        """Continuation of a sentence after the size of the difference."""
        if not math.isnan(self.p):
            return f", {self.significance_text}"
        if (self.reason or "").startswith(UNTESTED):
            return f" ({self.reason})"
        return f"; no test is possible: {self.reason}"

    has_letters: ClassVar[bool] = True
    """Whether a significant result says that two models differ, so that models can be grouped by letters."""

    @property
    def columns(self) -> dict[str, str]:
        """Additional columns in a table of tests, by heading."""
        return {}

    @property
    def mark(self) -> str:
        """Meaning of a star after the difference."""
        return f"p < {round(1 - self.level, 12):g}"

    @property
    def verdict(self) -> str:
        """Whether the difference is significant, in words."""
        return "statistically significant" if self.is_significant else "not statistically significant"

    @property
    def significance_text(self) -> str:
        """The significance with its p value."""
        parts = ["two independent samples"] if self.independent else []
        parts += [p_text(self.reported_p)] + ([] if math.isnan(self.p_adjusted) else ["adjusted"])
        return f"{self.verdict} ({', '.join(parts)}{self.sided})"

    @property
    def sided(self) -> str:
        """Addition to a sentence for one-sided tests."""
        return "" if self.alternative == "two-sided" else f", one-sided: {self.a} {self.alternative}"


@dataclass(frozen=True, kw_only=True, repr=False)
class ValueTest(Comparison):
    """A test of one value against a fixed value."""

    value: float

    @property
    def words(self) -> str:
        """The value, its distance from the fixed value, and its significance."""
        if math.isnan(self.difference):
            return f"{self.a}: {self.reason or 'the difference is undefined'}."
        size = f"{self.of} is {decimals(self.value + self.difference)}, {self.size}"
        return f"{self.a}: {size} from {self.value:g}{self._significance_text}."


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
        """The difference between the models and its significance."""
        if math.isnan(self.p):
            return f"{self._facts}{self._significance_text}."
        if self.reason is not None:
            return f"{self.a} and {self.b} do not differ: {self.reason}."
        details = f"{self.test}, {p_text(self.reported_p)}{'' if math.isnan(self.p_adjusted) else ', adjusted'}"
        details += ", which is optimistic" if any(note.code == "SS017" for note in self.notes) else ""
        return f"{self._facts}, {self.verdict} ({details}{self.sided})."

    @property
    def _facts(self) -> str:
        side = "higher" if self.difference > 0 else "lower"
        by = f"{abs(self.difference):.3g} {side} than" if self.difference else "as high as"
        measured = f" in {self.of}" if self.of else ""
        return f"{self.a} is {by} {self.b}{measured} on average over {count_text(self.count, self.over)}"

    def __repr__(self) -> str:
        tested = f"  {p_text(self.p)}" if not math.isnan(self.p) else ""
        reason = f"  ({self.reason})" if self.reason else ""
        return f"{self.a} − {self.b} {self.size}{tested}  {self.test}, {count_text(self.count, self.over)}{reason}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Posterior(Comparison):
    """Posterior probabilities that a − b is below, within or above the region of practical equivalence ± `width`.

    `left`: a is lower by more than `width`; `right`: it is higher. There is no p value.
    """

    over: str
    count: int
    width: float
    left: float
    rope: float
    right: float
    draws: int | None = None

    def row(self) -> Row:
        return super().row() | to_json_types({name: getattr(self, name) for name in ("width", "left", "rope", "right")})

    @property
    def columns(self) -> dict[str, str]:
        values = {"P lower": self.left, f"P within ±{self.width:g}": self.rope, "P higher": self.right}
        return {heading: decimals(probability) for heading, probability in values.items()}

    @property
    def mark(self) -> str:
        return f"a difference beyond ±{self.width:g} with probability above {self.level:g}"

    @property
    def is_significant(self) -> bool:
        """Whether one of the models is better by more than `width` with a probability above the level."""
        return max(self.left, self.right) > self.level

    def facts(self) -> Row:
        return {"over": self.over, "count": self.count, "draws": self.draws}

    @property
    def words(self) -> str:
        """The three probabilities in a sentence."""
        if math.isnan(self.left):
            return f"{self.a} and {self.b} cannot be compared: {self.reason}."
        more = f"by more than {self.width:g} " if self.width else ""
        return (
            f"{self.a} is higher than {self.b} {more}with probability {decimals(self.right)}, "
            f"lower {more}with {decimals(self.left)}, and practically equal with {decimals(self.rope)} "
            f"({self.test}, {count_text(self.count, self.over)}{f'; {self.reason}' if self.reason else ''})."
        )

    def __repr__(self) -> str:
        values = f"lower {decimals(self.left)}, equal {decimals(self.rope)}, higher {decimals(self.right)}"
        values = f"{values}  rope ±{self.width:g}  {self.test}, {count_text(self.count, self.over)}"
        return f"{self.a} than {self.b}: {values}" + (f"  ({self.reason})" if self.reason else "")


@dataclass(frozen=True)
class Comparisons(Result):
    """Tests between models, as tidy rows.

    `sides` names the two values of each comparison where models are not compared with each other; `models` then has the
    model of each comparison.
    """

    models: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    adjustment: str | None = None
    notes: tuple[Note, ...] = ()
    sides: tuple[str, str] | None = None

    def rows(self) -> list[Row]:
        return [comparison.row() for comparison in self.comparisons]

    def facts(self) -> Row:
        return {"adjustment": self.adjustment} | ({"letters": self.letters} if self.letters else {})

    @property
    def letters(self) -> dict[str, str]:
        """Letters of three models or more that are all compared by one measure, best first; empty otherwise.

        Models that share a letter are not shown to differ. An undefined p counts as no evidence.
        """
        pairs = {(one.a, one.b): one for one in self.comparisons if not one.several}
        n_models, measured = len(self.models), {one.measure for one in pairs.values()}
        is_of_pairs = self.sides is None and n_models > 2 and len(pairs) == n_models * (n_models - 1) // 2
        has_other_kinds = any(one.alternative != "two-sided" or not one.has_letters for one in pairs.values())
        if not is_of_pairs or len(measured) > 1 or has_other_kinds or {*sum(pairs, ())} != {*self.models}:
            return {}
        place = {model: k for k, model in enumerate(self.models)}
        gap, differs = np.zeros((n_models, n_models)), np.zeros((n_models, n_models), dtype=bool)
        for (a, b), one in pairs.items():
            i, j = place[a], place[b]
            gap[i, j], gap[j, i] = one.difference, -one.difference
            differs[i, j] = differs[j, i] = one.is_significant
        if np.isnan(gap).any():
            return {}
        order = np.argsort(gap.sum(axis=1) * (1 if _best(measured.pop()) == "low" else -1), kind="stable")
        letters = compact_letters(differs[np.ix_(order, order)])
        return {self.models[k]: letter for k, letter in zip(order.tolist(), letters, strict=True)}

    @property
    def words(self) -> str:
        """One sentence per comparison."""
        return "\n".join(comparison.words for comparison in self.comparisons)

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def __getitem__(self, index: int) -> Comparison:
        return self.comparisons[index]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.comparisons))


def _best(measure: str) -> Best | None:
    """Which direction of a measure is better; decisions are compared by their accuracy."""
    try:
        return parse(measure).best
    except MeasureError:
        return None


def _is_count(measure: str) -> bool:
    """Whether a measure is a number of cases."""
    try:
        return parse(measure).measure.count
    except MeasureError:
        return False


def adjust_tests(
    tests: Sequence[Comparison], what: str, method: str = "holm"
) -> tuple[list[Comparison], str | None, tuple[Note, ...]]:
    """Adjust the p values of several tests; return them, the method, and a note.

    >>> two = [Comparison("a", "b", "t", "auc", p=0.01), Comparison("a", "c", "t", "auc", p=0.04)]
    >>> [one.p_adjusted for one in adjust_tests(two, "pairs")[0]]
    [0.02, 0.04]
    """
    method_title = title(method, pairs=what == "pairs")
    if len(tests) < 2 or all(math.isnan(test.p) for test in tests):
        return list(tests), None, ()
    p_values = adjust([test.p for test in tests], method)
    adjusted_tests = [replace(test, p_adjusted=float(p)) for test, p in zip(tests, p_values, strict=True)]
    text = f"p-values of the {len(tests)} {what} are adjusted by {method_title} method"
    single = "; intervals are those of single differences" if any(not math.isnan(test.low) for test in tests) else ""
    return adjusted_tests, method, (note("SS015", f"{text}{single}."),)


def pool(results: Sequence[Comparisons], method: str) -> Comparisons:
    """Combine the comparisons of several measures, with p values adjusted over all of them."""
    first, *others = results
    if not others:
        return first
    tests = [replace(test, p_adjusted=math.nan) for result in results for test in result]
    tests, adjustment, adjustment_notes = adjust_tests(tests, "tests", method)
    notes = (note_ for result in results for note_ in result.notes if note_.code != "SS015")
    same_sides = all(result.sides == first.sides for result in others)
    sides = first.sides if same_sides else ("measured", "value")  # each measure against one value
    models = first.models if sides is None else tuple(model for result in results for model in result.models)
    return Comparisons(models, tuple(tests), adjustment, (*dict.fromkeys(notes), *adjustment_notes), sides)


def one_sided(test: Comparison, alternative: Alternative) -> Comparison:
    """Convert a two-sided test of a symmetric statistic to a one-sided one: p/2 on the side of the difference.

    >>> one_sided(Comparison("a", "b", "t", "auc", 0.1, p=0.04), "greater").p
    0.02
    """
    if alternative == test.alternative:
        return test
    is_on_side = test.difference > 0 if alternative == "greater" else test.difference < 0
    p = test.p if test.difference == 0 else test.p / 2 if is_on_side else 1 - test.p / 2
    return replace(test, p=p, alternative=alternative)


def count_text(count: int, over: str) -> str:
    """Format a count with its unit.

    >>> count_text(10, "folds"), count_text(1, "folds")
    ('10 folds', '1 fold')
    """
    return f"{count} {over.removesuffix('s') if count == 1 else over}"


def check_alternative(alternative: str) -> None:
    """Raise an error for an unknown alternative."""
    if alternative not in get_args(Alternative):
        raise ScoreSpaceError(
            f"alternative={alternative!r} is not an alternative.",
            seen=f"known are {listing(get_args(Alternative))}",
            hint="one of these",
        )


def check_rope(rope: float) -> None:
    """Raise an error for an invalid region of practical equivalence."""
    if not 0 <= rope < math.inf:
        raise ScoreSpaceError(
            f"rope={rope:g} is not a half width.", hint="rope=0.01, in the units of the measure, or 0 for none"
        )


def check_numbers(values: Any, problem: str, hint: str) -> Array:
    """Convert values to an array of numbers; an error where that is not possible."""
    try:
        return to_float64(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(problem, seen=str(error), hint=hint) from error


def rounded(values: Array, size: ArrayLike) -> Array:
    """Round each value to the twelfth digit of the values it was computed from, so that 0.3 − 0.2 equals 0.9 − 0.8.

    >>> rounded(np.array([0.3 - 0.2, 0.09 - 0.08, 1e-9]), [0.3, 0.09, 1e-9])
    array([1.e-01, 1.e-02, 1.e-09])
    """
    magnitude = np.asarray(size, dtype=np.float64)
    places = _SIGNIFICANT_DIGITS - 1 - np.floor(np.log10(np.where(magnitude > 0, magnitude, 1.0)))
    unit = 10.0 ** np.clip(places, 0, 300)  # between whole numbers and the smallest finite power of ten
    return np.where(places > 300, values, np.rint(values * unit) / unit)

"""Printed numbers: which confusion matrices of n cases give them, if they come from one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from scorespace.errors import DataError, MeasureError, ScoreSpaceError
from scorespace.measures import MeasureSpec, parse
from scorespace.results import Note, Result, Row, count_noun, grouped, join_words, note, to_json_types
from scorespace.tables import Array, Counts

MAX_CASES_WITHOUT_POSITIVES: Final = 5_000
_MAX_CELLS: Final = 400_000_000
_BLOCK: Final = 2_000_000  # candidate matrices that are evaluated at once
_KEPT: Final = 20  # matrices that are kept as examples
_TOLERANCE: Final = 1e-9  # relative: of rounding in double precision
_NUMBER: Final = re.compile(r"\s*([-−+]?)\s*(\d*)(?:[.,](\d*))?\s*(%?)\s*")
_HITS: Final = {"tpr": False, "fnr": True}
_TRUE_NEGATIVES: Final = {"tnr": False, "fpr": True}
_RIGHT: Final = {"acc": False, "err": True}


@dataclass(frozen=True)
class PrintedNumber:
    """A number as printed, with the interval of values that are printed so.

    >>> read_number("tpr", ".80"), read_number("acc", "85%", cut=True)
    (tpr .80: 0.795 to 0.805, acc 85%: 0.85 to 0.86)
    """

    spec: MeasureSpec
    text: str
    low: float
    high: float

    def __repr__(self) -> str:
        return f"{self.spec} {self.text}: {self.low:g} to {self.high:g}"

    @property
    def name(self) -> str:
        """The registered name of the measure."""
        return self.spec.name

    def share(self, one_minus: bool) -> tuple[float, float]:
        """The interval of a share, or of one minus it."""
        return (1 - self.high, 1 - self.low) if one_minus else (self.low, self.high)

    def holds(self, values: Array) -> Array:
        """Whether values are printed so; undefined values may be printed as 0."""
        slack = _TOLERANCE * max(1.0, abs(self.high))
        inside = (values >= self.low - slack) & (values <= self.high + slack)
        return inside | np.isnan(values) if self.low <= 0 <= self.high else inside


@dataclass(frozen=True, repr=False)
class ConsistentTables(Result):
    """The confusion matrices of n cases that give all printed numbers: how many, and the first of them.

    `without` is the number of matrices if one of the numbers is left out; it is filled only if there is none.
    """

    cases: int
    positives: int | None
    numbers: tuple[PrintedNumber, ...]
    found: int
    tables: tuple[Counts, ...]
    without: Mapping[str, int] = field(default_factory=dict)
    cut: bool = False

    @property
    def consistent(self) -> bool:
        """Whether there is a confusion matrix with all numbers."""
        return self.found > 0

    def rows(self) -> list[Row]:
        """One row per matrix: its cells, and the values of the measures with all digits."""
        return [
            to_json_types(
                {name: int(getattr(table, name)) for name in ("tp", "fn", "fp", "tn")}
                | {str(one.spec): float(one.spec.along(table)) for one in self._computed}
            )
            for table in self.tables
        ]

    @cached_property
    def _computed(self) -> tuple[PrintedNumber, ...]:
        return tuple(one for one in self.numbers if one.name != "auc")

    def facts(self) -> Row:
        """What was stated, and the number of matrices."""
        stated = {str(one.spec): {"printed": one.text, "low": one.low, "high": one.high} for one in self.numbers}
        data = {"cases": self.cases, "positives": self.positives}
        return {"data": data, "numbers": stated, "tables": self.found, "tables_without": dict(self.without)}

    @property
    def notes(self) -> tuple[Note, ...]:
        """The condition under which the answer holds."""
        if self.consistent:
            return ()
        text = (
            "Does each number come from the one confusion matrix of these cases? Macro averages, means over folds and "
            "bootstrap means do not, and nothing follows for them."
        )
        return (note("SS196", text),)

    @property
    def words(self) -> str:
        """Whether there is such a matrix, and which number is in the way."""
        share = "" if self.positives is None else f", {grouped(self.positives)} of them positive,"
        cases = f"{count_noun(self.cases, 'case')}{share}"
        if self.found:
            one = self.found == 1
            verb = "gives" if one else "give"
            return f"{count_noun(self.found, 'table')} of {cases} {verb} these numbers."
        text = f"No table of {cases} gives these numbers, if they come from one table."
        near = [f"{name} ({count_noun(count, 'table')})" for name, count in self.without.items() if count]
        if near:
            return f"{text} The others agree without {join_words(near, 'or')}."
        return f"{text} No single number explains it." if len(self.numbers) > 2 else text


def consistent_tables(
    n: int, numbers: Mapping[str, str | float], *, positives: int | None = None, cut: bool = False, explain: bool = True
) -> ConsistentTables:
    """Find the confusion matrices of `n` cases that give printed numbers, if these come from one matrix.

    A number x with d decimals stands for x ± ½·10⁻ᵈ, both ends included; all matrices are tried. An AUC must allow
    for the operating point, if the decisions come from a threshold of its score, and 2·AUC·P·N must be a whole number.

    Parameters
    ----------
    n : int
        Number of cases.
    numbers : mapping of str to str or float
        The numbers as printed, by the name of their measure: ``{"acc": ".85", "tpr": "80 %"}``. As texts, because 0.80
        and 0.8 differ.
    positives : int, optional
        Number of positive cases; by default any from 0 to n.
    cut : bool
        Whether the numbers are truncated, not rounded.
    explain : bool
        Whether to search again without each of the numbers if there is no matrix.

    Returns
    -------
    ConsistentTables
        The number of matrices, the first of them, and without which number there would be one.

    References
    ----------
    Fazekas, A., & Kovács, G. (2024). Testing the consistency of performance scores reported for binary classification
    problems. Applied Soft Computing, 164, 111993.

    Examples
    --------
    >>> consistent_tables(100, {"acc": ".85", "tpr": ".80", "tnr": ".88"}, positives=40)
    1 table of 100 cases, 40 of them positive, gives these numbers.
    >>> consistent_tables(100, {"acc": ".86", "tpr": ".80", "tnr": ".88"}, positives=40).consistent
    False
    """
    if n < 1:
        raise DataError(f"n={n} is not a number of cases.", hint="n=100")
    if positives is not None and not 0 <= positives <= n:
        raise DataError(f"positives={positives} is not between 0 and n={n}.", hint="the number of positive cases")
    if positives is None and n > MAX_CASES_WITHOUT_POSITIVES:
        hint = "positives=…, the number of positive cases"
        raise DataError(f"there are too many tables of {grouped(n)} cases to try them all.", hint=hint)
    if not numbers:
        raise DataError("there is no number to check.", hint="acc=.85 tpr=.80")
    stated = tuple(read_number(name, text, cut=cut) for name, text in numbers.items())
    found, tables = _search(n, positives, stated)
    without: dict[str, int] = {}
    if explain and not found and len(stated) > 1:
        for one in stated:
            others = tuple(other for other in stated if other is not one)
            try:
                without[str(one.spec)] = _search(n, positives, others)[0]
            except ScoreSpaceError:  # too many tables without it
                continue
    return ConsistentTables(n, positives, stated, found, tables, without, cut)


def read_number(name: str, text: str | float, *, cut: bool = False) -> PrintedNumber:
    """Read a printed number of a measure of decisions, or of the AUC."""
    spec = parse(name)
    if spec.at is not None or spec.of is not None:
        raise MeasureError(f"{name}: a printed number has no operating point or class.", hint=spec.label)
    if spec.name != "auc" and not spec.measure.table.counts_outcomes:
        raise MeasureError(f"{name} is not computed from a confusion matrix of two classes.", hint="acc=.85 tpr=.80")
    printed = str(text)
    match = _NUMBER.fullmatch(printed)
    if match is None or not (match[2] or match[3]):
        raise DataError(f"{name}={printed} is not a number.", hint=f"{name}=.85, or {name}=85%")
    sign, whole, decimals, per_cent = match.groups(default="")
    places = len(decimals) + 2 * bool(per_cent)
    size = int(f"{whole}{decimals}")
    ends = (size, size + 1) if cut else (size - 0.5, size + 0.5)
    low, high = (float(end) / 10**places for end in ends)
    if sign in ("-", "−"):
        low, high = -high, -low
    lowest, highest = spec.measure.range
    if high < lowest or low > highest:
        is_percent = 2 * highest < high <= 100 * highest and not per_cent
        hint = f"{name}={printed}%" if is_percent else f"{lowest:g} to {highest:g}"
        raise DataError(f"{name}={printed} is outside the range of {name}.", hint=hint)
    return PrintedNumber(spec, printed.strip(), max(low, lowest), min(high, highest))


def _search(n: int, positives: int | None, numbers: tuple[PrintedNumber, ...]) -> tuple[int, tuple[Counts, ...]]:
    """The number of matrices with all numbers, and the first of them."""
    found = 0
    kept: list[Counts] = []
    for p, tp, tn in _candidates(n, positives, numbers):
        counts = Counts(tp=tp, fp=n - p - tn, fn=p - tp, tn=tn)
        holds = np.ones(p.shape, dtype=bool)
        for one in numbers:
            holds &= _auc_possible(counts, one) if one.name == "auc" else one.holds(one.spec.along(counts))
        places = np.flatnonzero(holds)
        found += places.size
        kept += [Counts(tp=tp[k], fp=n - p[k] - tn[k], fn=p[k] - tp[k], tn=tn[k]) for k in places[: _KEPT - len(kept)]]
    return found, tuple(kept)


def _auc_possible(counts: Counts, auc: PrintedNumber) -> Array:
    """Whether an AUC so printed is possible for a score with these decisions at a threshold.

    The ROC curve rises through (fpr, tpr), so the AUC is from tpr · tnr to 1 − (1 − tpr)(1 − tnr); 2 · AUC · P · N
    counts pairs, twice those in order and once the tied ones.
    """
    pairs = 2 * counts.p * counts.n
    slack = _TOLERANCE * np.maximum(pairs, 1)
    low = np.maximum(auc.low * pairs, 2 * counts.tp * counts.tn)
    high = np.minimum(auc.high * pairs, pairs - 2 * counts.fn * counts.fp)
    return np.asarray((np.ceil(low - slack) <= np.floor(high + slack)) & (pairs > 0))


def _candidates(
    n: int, positives: int | None, numbers: tuple[PrintedNumber, ...]
) -> Iterator[tuple[Array, Array, Array]]:
    """Blocks of P, TP and TN that agree with sensitivity, specificity and accuracy, if these are stated."""
    p = np.arange(0.0, n + 1) if positives is None else np.array([float(positives)])
    p, tp = _expand(p, *_limits(p, numbers, _HITS))
    low, high = _limits(n - p, numbers, _TRUE_NEGATIVES)
    right_low, right_high = _limits(np.full_like(p, float(n)), numbers, _RIGHT)
    low, high = np.maximum(low, right_low - tp), np.minimum(high, right_high - tp)
    sizes = np.maximum(high - low + 1, 0)
    if sizes.sum() > _MAX_CELLS:
        raise DataError(
            f"{sizes.sum():.2g} tables agree with the shares stated, too many to try.",
            hint="state positives=…, or more numbers, such as tpr and tnr",
        )
    block = np.floor(np.cumsum(sizes) / _BLOCK)
    for start, end in zip(*_runs(block), strict=True):
        part = slice(start, end)
        places, tn = _expand(np.arange(start, end, dtype=np.float64), low[part], high[part])
        chosen = places.astype(np.intp)
        yield p[chosen], tp[chosen], tn


def _runs(values: Array) -> tuple[Array, Array]:
    """Beginning and end of each run of equal values."""
    edges = np.flatnonzero(np.diff(values)) + 1
    return np.append(0, edges), np.append(edges, values.size)


def _limits(sizes: Array, numbers: tuple[PrintedNumber, ...], names: Mapping[str, bool]) -> tuple[Array, Array]:
    """Lowest and highest whole numbers whose shares of `sizes` are printed so."""
    low, high = np.zeros_like(sizes), sizes
    for one in numbers:
        if one.name in names and not (one.low <= 0 <= one.high):
            share = one.share(names[one.name])
            slack = _TOLERANCE * np.maximum(sizes, 1)
            low = np.maximum(low, np.ceil(share[0] * sizes - slack))
            high = np.minimum(high, np.floor(share[1] * sizes + slack))
    return low, high


def _expand(values: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Each value repeated for all whole numbers from its lowest to its highest."""
    sizes = np.maximum(high - low + 1, 0).astype(np.intp)
    offset = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.repeat(values, sizes), np.repeat(low, sizes) + offset

"""What every result owes its reader: rows, a dictionary, notes, and a repr that is the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import date
from functools import singledispatch
from html import escape
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from scorespace.frozen import dataclass

SCHEMA: Final = 1
CERTIFIED: Final = ("certified_low", "certified_high")
"""What a number of a coarse table lies between, whatever the order of the cases inside its bins, in rows of data."""

Alternative = Literal["two-sided", "greater", "less"]
"""What a small p speaks for: a differs from b, is greater, is less. About the values, whatever end is best."""

Row = dict[str, Any]
Progress = Callable[[float], None]
"""Called with the finished share (0 to 1) by work that may take long."""


def part_of(progress: Progress | None, number: int, parts: int) -> Progress | None:
    """The progress of one of several parts of the work that take as long as each other."""
    return None if progress is None else lambda share: progress((number + share) / parts)


@dataclass(frozen=True)
class NoteKind:
    """A kind of finding: how serious it is and what it is about."""

    level: str
    title: str


NOTE_KINDS: Final[dict[str, NoteKind]] = {
    "SS001": NoteKind("warning", "few cases in a class"),
    "SS002": NoteKind("warning", "AUC below one half; scores are never flipped"),
    "SS003": NoteKind("info", "scores are not probabilities"),
    "SS004": NoteKind("warning", "precision is undefined at the threshold"),
    "SS005": NoteKind("warning", "a small false positive rate still means more false alarms than hits"),
    "SS006": NoteKind("info", "what intervals take weights for, and rows that weigh nothing"),
    "SS007": NoteKind("info", "many tied scores"),
    "SS008": NoteKind("info", "coarsened scores"),
    "SS009": NoteKind("warning", "rows with missing values were dropped"),
    "SS010": NoteKind("info", "the positive class was inferred"),
    "SS011": NoteKind("warning", "an average leaves out undefined classes"),
    "SS012": NoteKind("warning", "an interval has no width"),
    "SS013": NoteKind("info", "a threshold was chosen on these cases"),
    "SS014": NoteKind("warning", "few cases on which the models disagree"),
    "SS015": NoteKind("info", "p-values are adjusted for several tests"),
    "SS016": NoteKind("info", "cases are drawn in groups"),
    "SS017": NoteKind("warning", "a plain t test over folds is too optimistic"),
    "SS018": NoteKind("info", "few data sets or models for Friedman's test"),
    "SS019": NoteKind("info", "numbers are pooled over folds"),
    "SS020": NoteKind("warning", "groups of related cases are not allowed for"),
    "SS021": NoteKind("info", "log loss was clipped, or is infinite"),
    "SS022": NoteKind("warning", "scores are not calibrated"),
    "SS023": NoteKind("info", "tests of calibration disagree"),
    "SS024": NoteKind("info", "CAL is too high: its curve is fitted to the same cases"),
    "SS025": NoteKind("warning", "a recalibration map is judged on the cases it was fitted to"),
    "SS026": NoteKind("info", "scores outside the range of a recalibration map, or tied by it"),
    "SS027": NoteKind("info", "smAUC mostly measures the larger class"),
    "SS028": NoteKind("info", "the classes do not overlap around the midpoint"),
    "SS029": NoteKind("info", "two samples are too small to see drift"),
    "SS030": NoteKind("warning", "two samples differ"),
    "SS031": NoteKind("info", "raters were compared on the cases both judged"),
    "SS032": NoteKind("warning", "the design does not allow the conclusion"),
    "SS033": NoteKind("warning", "class scores do not sum to one"),
    "SS034": NoteKind("info", "classes absent from the truth or from the scores"),
    "SS035": NoteKind("info", "numbers are for a stated prevalence"),
    "SS036": NoteKind("info", "a method of intervals does not suit some measures"),
    "SS040": NoteKind("warning", "predictions are too high or too low on average"),
    "SS041": NoteKind("info", "errors grow with the prediction"),
    "SS042": NoteKind("warning", "a few cases make the squared error"),
    "SS043": NoteKind("warning", "a model predicts the same for every case"),
    "SS044": NoteKind("info", "a target that is better on a log scale"),
    "SS045": NoteKind("warning", "few cases"),
    "SS046": NoteKind("info", "what relative errors are relative to"),
    "SS047": NoteKind("warning", "a model is no better than its baseline"),
    "SS048": NoteKind("info", "losses are related over more steps of time"),
    "SS049": NoteKind("warning", "errors of neighbouring rows are correlated and no time is named"),
    "SS050": NoteKind("warning", "clusters of a single point"),
    "SS051": NoteKind("warning", "features spread on different scales"),
    "SS052": NoteKind("warning", "all points are in one cluster"),
    "SS053": NoteKind("info", "the silhouette is that of a part of the points"),
    "SS054": NoteKind("warning", "many points are nearer to another cluster than to their own"),
    "SS055": NoteKind("info", "points outside all clusters were left out"),
    "SS056": NoteKind("info", "points of different clusters coincide"),
    "SS057": NoteKind("warning", "clusters that change when the points are drawn again"),
    "SS058": NoteKind("info", "what intervals of cluster indices allow for"),
    "SS060": NoteKind("warning", "few transactions behind a rule"),
    "SS061": NoteKind("info", "p-values are adjusted for all rules that were looked at"),
    "SS062": NoteKind("info", "redundant rules were left out"),
    "SS063": NoteKind("warning", "an antecedent never occurs"),
    "SS064": NoteKind("warning", "rules that chance explains"),
    "SS065": NoteKind("warning", "no score lies on its class's side of the midpoint"),
    "SS066": NoteKind("info", "the midpoint lies outside the overlap of the classes"),
    "SS070": NoteKind("warning", "a learner overfits its training cases"),
    "SS071": NoteKind("warning", "a learner underfits its training cases"),
    "SS072": NoteKind("warning", "a stored model runs code when it is loaded"),
    "SS073": NoteKind("warning", "splits that not all learners finished are left out"),
    "SS074": NoteKind("info", "what samples drawn with replacement say, corrected by .632+"),
    "SS075": NoteKind("info", "what a choice on inner folds promised, and what it did on other cases"),
    "SS080": NoteKind("info", "rows with the same features train and test"),
    "SS081": NoteKind("warning", "rows of one group train and test"),
    "SS082": NoteKind("warning", "fits that failed"),
    "SS090": NoteKind("info", "rows were left out on request"),
    "SS091": NoteKind("warning", "a slice is worse than the rest by more than chance explains"),
    "SS092": NoteKind("info", "slices too small to tell"),
    "SS093": NoteKind("warning", "slices are selected at rates that differ by more than a fifth"),
    "SS094": NoteKind("warning", "groups of related cases lie in several slices"),
    "SS095": NoteKind("warning", "a number is worse than in the baseline by more than chance explains"),
    "SS096": NoteKind("info", "what differs from the baseline besides the numbers"),
    "SS097": NoteKind("info", "a score has its sign changed, because low ones mean positive"),
    "SS098": NoteKind("info", "a time is named that the intervals of classification do not use"),
    "SS099": NoteKind("info", "what the rows of matrices and costs were where they were read"),
    "SS100": NoteKind("info", "intervals that hold the true value less often than they promise"),
}


@dataclass(frozen=True)
class Note:
    """A finding with a stable code, so that terminal, page and JSON can all show it."""

    code: str
    level: str
    text: str

    def to_dict(self) -> Row:
        return {"code": self.code, "level": self.level, "text": self.text}


def note(code: str, text: str) -> Note:
    """The note of that code, with its level looked up.

    >>> note("SS007", "tree has 41 distinct scores for 1 000 cases.").level
    'info'
    """
    return Note(code, NOTE_KINDS[code].level, text)


def plain(value: Any) -> Any:
    """The value in plain Python for JSON: whole floats stay floats, NaN and infinities become None.

    >>> plain({"a": np.float64("nan"), "b": np.int64(3)})
    {'a': None, 'b': 3}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float):
        number = float(getattr(value, "shown", value))  # a threshold on a scale is told in its units
        return number if math.isfinite(number) else None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def grouped(number: float) -> str:
    """A number with thin groups of three digits, as people read it; at most two decimals.

    >>> grouped(12345), grouped(3.25)
    ('12 345', '3.25')
    """
    text = f"{number:,.2f}".rstrip("0").rstrip(".")
    return text.replace(",", " ").replace("-", "−")


def so_many(number: float, what: str) -> str:
    """So many of something.

    >>> so_many(1, "item"), so_many(1200, "item")
    ('1 item', '1 200 items')
    """
    return f"{grouped(number)} {what}{'' if number == 1 else 's'}"


_ZERO: Final = 1e-12
"""Below it, numbers are taken for rounding."""


def digits(*values: float) -> int:
    """The decimals that numbers which stand together deserve, such as a value and its interval.

    Three; one from 10 on, none where all of them are 1 000 or more; more where all of them would look like zero, or
    alike.

    >>> digits(0.7867), digits(128.4), digits(0.00034), digits(0.0031, 0.0030, 0.0032), digits(0.0001, -0.03, 0.03)
    (3, 1, 5, 5, 3)
    >>> digits(3803.0, 3501.9, 4166.2), digits(1766.1, -120.5, 2089.6)
    (0, 1)
    """
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return 3
    size, spread = max(map(abs, finite)), max(finite) - min(finite)
    found = 0 if min(map(abs, finite)) >= 1000 else 1 if size >= 10 else 3
    if _ZERO < size < 0.01:
        found = 1 - math.floor(math.log10(size))
    if _ZERO < spread < 2 * 10 ** -min(found, 3):
        found = max(found, 1 - math.floor(math.log10(spread)))
    return found


def digits_along(values: Any) -> Any:
    """The same rule for many of them at once (numbers, places): the decimals at each place.

    >>> digits_along(np.array([[0.7867, 0.0031], [0.75, 0.0030], [0.81, 0.0032]]))
    array([3, 5])
    """
    finite = np.isfinite(values)
    size = np.where(finite, np.abs(values), 0.0).max(axis=0)
    spread = np.where(finite, values, -np.inf).max(axis=0) - np.where(finite, values, np.inf).min(axis=0)
    least = np.where(finite, np.abs(values), np.inf).min(axis=0)
    found = np.where((least >= 1000) & finite.any(axis=0), 0, np.where(size >= 10, 1, 3))
    alike = 2.0 * 10.0**-found

    def needed(reach: Any, most: Any) -> Any:
        small = (reach > _ZERO) & (reach < most)
        return np.where(small, 1 - np.floor(np.log10(np.where(small, reach, 1.0))).astype(np.int64), found)

    return np.maximum(needed(size, 0.01), needed(spread, alike))


def limits(value: float, low: float, high: float, *, sign: bool = False) -> str:
    """A value with its interval, where it has one, all with the same decimals; `sign` for differences.

    >>> limits(0.7867, 0.7564, 0.8171), limits(0.00312, 0.00305, 0.00319), limits(0.5, math.nan, math.nan)
    ('0.787 [0.756, 0.817]', '0.00312 [0.00305, 0.00319]', '0.500')
    """
    places, write = digits(value, low, high), signed if sign else decimals
    if math.isnan(low) or math.isnan(high):
        return write(value, digits(value))
    return f"{write(value, places)} [{write(low, places)}, {write(high, places)}]"


def short(value: float, *beside: float, sign: bool = False) -> str:
    """A cost for people: three significant digits, more where those beside it would read the same; `sign` for shifts.

    From 1 000 on, whole numbers are told whole.

    >>> short(4.5), short(0.0253), short(0.17821, 0.17812, 0.17833), short(2731.4), short(1500, sign=True)
    ('4.5', '0.0253', '0.17821', '2 731', '+1 500')
    """
    if not math.isfinite(value):
        return decimals(value)
    finite = [one for one in (value, *beside) if math.isfinite(one)]
    size, spread = max(map(abs, finite)), max(finite) - min(finite)
    significant = 3
    if 0 < spread < size and size > 0:
        significant = max(3, 2 + math.floor(math.log10(size)) - math.floor(math.log10(spread)))
    significant = min(significant, 12)
    text = f"{value:.{significant}g}"
    if 1000 <= abs(float(text)) < 1e15:
        places = max(0, significant - 1 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{places}f}".replace(",", " ")
    return f"{'+' if sign and value > 0 else ''}{text.replace('-', '−')}"


def percent(share: float, places: int = 1) -> str:
    """A share in percent; more decimals where it would else read 0 or 100.

    >>> percent(0.3), percent(0.00043), percent(0.9997, 0)
    ('30.0 %', '0.043 %', '99.970 %')
    """
    if not math.isfinite(share):
        return "–"
    small = min(abs(100 * share), abs(100 - 100 * share))
    if _ZERO < small < 10**-places / 2:
        places = 1 - math.floor(math.log10(small) + 1e-9)
    return f"{decimals(100 * share, places)} %"


def decimals(value: float, places: int | None = None) -> str:
    """A number for people: as many decimals as it deserves, a true minus sign, and a dash for what is undefined.

    >>> decimals(-0.12345), decimals(0.000416), decimals(float("nan")), decimals(-34760429.2)
    ('−0.123', '0.00042', '–', '−34 760 429')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    places = digits(value) if places is None else places
    text = f"{value:.{places}f}"
    return f"{value:,.{places}f}".replace(",", " ").replace("-", "−") if float(text) else f"{0:.{places}f}"


def per_thousand(number: float) -> str:
    """So many of 1 000 cases: whole ones, with more digits for what is rare.

    >>> per_thousand(255.6), per_thousand(0.42)
    ('256', '0.4')
    """
    return decimals(number, 0 if number >= 10 or number == 0 else 1)


def whole_percent(share: float) -> str:
    """A share in whole percent, but never 0 % for some or 100 % for not all.

    >>> whole_percent(0.853), whole_percent(0.001)
    ('85 %', '<1 %')
    """
    if 0 < share < 0.005:
        return "<1 %"
    return ">99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def p_text(p: float) -> str:
    """A p-value for people.

    >>> p_text(0.0301), p_text(0.00001)
    ('p = 0.030', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def p_cell(p: float, undefined: str = "–") -> str:
    """The same in a column that is headed p.

    >>> p_cell(0.0301), p_cell(0.00001), p_cell(float("nan"))
    ('0.030', '< 0.001', '–')
    """
    return undefined if math.isnan(p) else p_text(p).removeprefix("p ").removeprefix("= ")


def joined(words: Sequence[str], by: str = "and") -> str:
    """Words as a sentence lists them.

    >>> joined(["a", "b", "c"]), joined(["a"])
    ('a, b and c', 'a')
    """
    *most, last = words
    return f"{', '.join(most)} {by} {last}" if most else last


def signed(value: float, places: int | None = None) -> str:
    """A difference with its sign.

    >>> signed(0.0842), signed(-0.1)
    ('+0.084', '−0.100')
    """
    text = decimals(value, places)
    return text if value <= 0 or not any(digit in "123456789" for digit in text) else f"+{text}"


def html_table(rows: Sequence[Row], words: str = "") -> str:
    """Rows as a table for notebooks, with words above it; undefined values are dashes, and all text is escaped.

    >>> html_table([{"model": "a<b", "auc": float("nan")}])
    '<table><thead><tr><th>model</th><th>auc</th></tr></thead><tbody><tr><td>a&lt;b</td><td>–</td></tr></tbody></table>'
    """

    def cell(value: Any) -> str:
        if value is None or isinstance(value, float):
            return "–" if value is None else f"{value:.4g}".replace("nan", "–").replace("-", "−")
        return escape(str(value))

    names = list(dict.fromkeys(name for row in rows for name in row))
    shown = [name for name in names if any(row.get(name) is not None for row in rows)]
    head = "".join(f"<th>{escape(name)}</th>" for name in shown)
    body = "".join(f"<tr>{''.join(f'<td>{cell(row.get(name))}</td>' for name in shown)}</tr>" for row in rows)
    above = f"<p>{escape(words)}</p>" if words else ""
    return f"{above}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@singledispatch
def in_notebook(found: Any) -> str:
    """A result as HTML: all its rows, unless the house declares for its kind what is shown of it."""
    return html_table(found.rows(), found.words)


class Result:
    """What a result tells: its words as its repr, a table for notebooks, and all of it as a dictionary."""

    if TYPE_CHECKING:

        @property
        def words(self) -> str: ...

        def rows(self) -> list[Row]: ...

    @property
    def notes(self) -> tuple[Note, ...]:
        return ()

    def facts(self) -> Row:
        """What the dictionary tells besides, before the rows."""
        return {}

    def to_dict(self) -> Row:
        notes = [one.to_dict() for one in self.notes]
        facts, rows = plain(self.facts()), plain(self.rows())
        return {"schema": SCHEMA, **facts, "rows": rows, "verdict": self.words, "notes": notes}

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return in_notebook(self)


class ByValue:
    """Equality by value for frozen dataclasses that hold arrays (NaN equals NaN)."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        compared = (f.name for f in fields(self) if f.compare)  # type: ignore[arg-type]
        return all(same(getattr(self, name), getattr(other, name)) for name in compared)


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal, arrays element by element, with NaN equal to NaN."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        return a.shape == b.shape and bool(np.all((a == b) | ((a != a) & (b != b))))
    return bool(a == b)

"""Base of all results: rows, dictionary, notes and repr; and the formatting of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from functools import singledispatch
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

SCHEMA: Final = 1
CERTIFIED: Final = ("certified_low", "certified_high")
"""Names of the certified bounds of a value computed from binned scores, in rows of data."""

Alternative = Literal["two-sided", "greater", "less"]
"""Alternative hypothesis about the values: a differs from b, is greater, is less; independent of which end is best."""

Row = dict[str, Any]
Progress = Callable[[float], None]
"""Callback of long computations: receives the finished share, 0 to 1."""


def partial_progress(progress: Progress | None, number: int, parts: int) -> Progress | None:
    """Progress of one of several equally long parts of a computation."""
    return None if progress is None else lambda share: progress((number + share) / parts)


@dataclass(frozen=True)
class NoteKind:
    """Severity and title of a kind of note."""

    level: str
    title: str


NOTE_KINDS: Final[dict[str, NoteKind]] = {
    "SS001": NoteKind("warning", "few cases in a class"),
    "SS002": NoteKind("warning", "AUC below one half; scores are never flipped"),
    "SS003": NoteKind("info", "scores are not probabilities"),
    "SS004": NoteKind("warning", "precision is undefined at the threshold"),
    "SS005": NoteKind("warning", "a small false positive rate still means more false positives than true positives"),
    "SS006": NoteKind("info", "how intervals treat weights, and rows of weight zero"),
    "SS007": NoteKind("info", "many tied scores"),
    "SS008": NoteKind("info", "coarsened scores"),
    "SS009": NoteKind("warning", "rows with missing values were dropped"),
    "SS010": NoteKind("info", "the positive class was inferred"),
    "SS011": NoteKind("warning", "an average omits undefined classes"),
    "SS012": NoteKind("warning", "an interval has zero width"),
    "SS013": NoteKind("info", "a threshold was chosen on these cases"),
    "SS014": NoteKind("warning", "few cases on which the models disagree"),
    "SS015": NoteKind("info", "p-values are adjusted for multiple tests"),
    "SS016": NoteKind("info", "cases are resampled in groups"),
    "SS017": NoteKind("warning", "a plain t test over folds is too optimistic"),
    "SS018": NoteKind("info", "few data sets or models for Friedman's test"),
    "SS019": NoteKind("info", "values are pooled over folds"),
    "SS020": NoteKind("warning", "groups of related cases are ignored"),
    "SS021": NoteKind("info", "log loss was clipped, or is infinite"),
    "SS022": NoteKind("warning", "scores are not calibrated"),
    "SS023": NoteKind("info", "tests of calibration disagree"),
    "SS024": NoteKind("info", "the calibration error is biased upwards: its curve is fitted to the same cases"),
    "SS025": NoteKind("warning", "a recalibration map is evaluated on the cases it was fitted to"),
    "SS026": NoteKind("info", "scores outside the range of a recalibration map, or tied by it"),
    "SS027": NoteKind("info", "smAUC mostly measures the larger class"),
    "SS028": NoteKind("info", "the classes do not overlap around the midpoint"),
    "SS029": NoteKind("info", "two samples are too small to detect drift"),
    "SS030": NoteKind("warning", "two samples differ"),
    "SS031": NoteKind("info", "raters were compared on the cases that both rated"),
    "SS032": NoteKind("warning", "the design does not allow the conclusion"),
    "SS033": NoteKind("warning", "class scores do not sum to one"),
    "SS034": NoteKind("info", "classes absent from the truth or from the scores"),
    "SS035": NoteKind("info", "values are for a stated prevalence"),
    "SS036": NoteKind("info", "an interval method does not apply to some measures"),
    "SS040": NoteKind("warning", "predictions are too high or too low on average"),
    "SS041": NoteKind("info", "errors grow with the prediction"),
    "SS042": NoteKind("warning", "a few cases dominate the squared error"),
    "SS043": NoteKind("warning", "a model predicts the same for every case"),
    "SS044": NoteKind("info", "the target is skewed; a log scale may suit it better"),
    "SS045": NoteKind("warning", "few cases"),
    "SS046": NoteKind("info", "the reference of relative errors"),
    "SS047": NoteKind("warning", "a model is no better than its baseline"),
    "SS048": NoteKind("info", "losses are autocorrelated over several time steps"),
    "SS049": NoteKind("warning", "errors of neighbouring rows are correlated and no time column is specified"),
    "SS050": NoteKind("warning", "clusters of a single point"),
    "SS051": NoteKind("warning", "features have different scales"),
    "SS052": NoteKind("warning", "all points are in one cluster"),
    "SS053": NoteKind("info", "the silhouette is estimated from a sample of the points"),
    "SS054": NoteKind("warning", "many points are nearer to another cluster than to their own"),
    "SS055": NoteKind("info", "points outside all clusters were excluded"),
    "SS056": NoteKind("info", "points of different clusters coincide"),
    "SS057": NoteKind("warning", "clusters that are unstable under resampling"),
    "SS058": NoteKind("info", "what intervals of cluster indices account for"),
    "SS060": NoteKind("warning", "a rule is supported by few transactions"),
    "SS061": NoteKind("info", "p-values are adjusted for all rules considered"),
    "SS062": NoteKind("info", "redundant rules were omitted"),
    "SS063": NoteKind("warning", "an antecedent never occurs"),
    "SS064": NoteKind("warning", "rules that chance can explain"),
    "SS065": NoteKind("warning", "no score lies on its class's side of the midpoint"),
    "SS066": NoteKind("info", "the midpoint lies outside the overlap of the classes"),
    "SS070": NoteKind("warning", "a learner overfits its training cases"),
    "SS071": NoteKind("warning", "a learner underfits its training cases"),
    "SS072": NoteKind("warning", "a stored model runs code when it is loaded"),
    "SS073": NoteKind("warning", "splits that not all learners completed are excluded"),
    "SS074": NoteKind("info", "bootstrap estimates of performance, corrected by .632+"),
    "SS075": NoteKind("info", "inner-fold performance of the selected candidate and its performance on other cases"),
    "SS080": NoteKind("info", "rows with identical features are in both training and test data"),
    "SS081": NoteKind("warning", "rows of one group are in both training and test data"),
    "SS082": NoteKind("warning", "fits that failed"),
    "SS090": NoteKind("info", "rows were excluded on request"),
    "SS091": NoteKind("warning", "a subgroup performs significantly worse than the rest"),
    "SS092": NoteKind("info", "subgroups that are too small to assess"),
    "SS093": NoteKind("warning", "selection rates of subgroups differ by more than a fifth"),
    "SS094": NoteKind("warning", "groups of related cases span several subgroups"),
    "SS095": NoteKind("warning", "a value is significantly worse than in the baseline"),
    "SS096": NoteKind("info", "other differences from the baseline"),
    "SS097": NoteKind("info", "the sign of a score is reversed, because low values indicate positive"),
    "SS098": NoteKind("info", "a time column is specified that the intervals of classification do not use"),
    "SS099": NoteKind("info", "the orientation of matrices and costs that were read"),
    "SS100": NoteKind("info", "intervals whose coverage is below their level"),
    "SS101": NoteKind("info", "the encoding or the sheet of a file that was read"),
    "SS105": NoteKind("info", "confusion matrices are compared as independent samples"),
    "SS180": NoteKind("warning", "too few cases for so skewed values"),
    "SS181": NoteKind("warning", "all values of a model are the same"),
    "SS182": NoteKind("info", "variance components of items that were repeated"),
    "SS183": NoteKind("warning", "few groups"),
    "SS184": NoteKind("info", "queries without relevant documents"),
    "SS185": NoteKind("info", "tied scores at the cut of a ranking"),
    "SS190": NoteKind("info", "what estimates from partial truth assume about the rows with a truth"),
    "SS191": NoteKind("warning", "the rows with a truth do not look chosen as stated"),
    "SS192": NoteKind("warning", "few verified cases of a class in a stratum"),
    "SS193": NoteKind("info", "a proxy adds nothing, or equals the truth"),
    "SS194": NoteKind("info", "how rows to label were chosen"),
    "SS195": NoteKind("info", "models without a threshold are left out of the regret over cost ratios"),
    "SS196": NoteKind("warning", "printed numbers that no confusion matrix gives, if they come from one"),
    "SS197": NoteKind("info", "intervals and requirements that hold at every look at growing data"),
    "SS198": NoteKind("info", "a ledger that also holds looks at another truth"),
    "SS199": NoteKind("warning", "values without labels, which follow from an assumption"),
    "SS160": NoteKind("info", "few instances for the comparison of a judge with people"),
    "SS161": NoteKind("warning", "predicted quantiles cross"),
    "SS162": NoteKind("info", "scores of distributions that depend on their levels"),
    "SS163": NoteKind("info", "the naive forecast that scaled errors are relative to"),
}


@dataclass(frozen=True)
class Note:
    """A finding with a stable code, shown in the terminal, the report and JSON; `facts` are its numbers, if any."""

    code: str
    level: str
    text: str
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def to_dict(self) -> Row:
        return {"code": self.code, "level": self.level, "text": self.text}


def note(code: str, text: str, **facts: Any) -> Note:
    """Create a note; its level follows from the code.

    >>> note("SS007", "tree has 41 distinct scores for 1 000 cases.").level
    'info'
    """
    return Note(code, NOTE_KINDS[code].level, text, facts)


def to_json_types(value: Any) -> Any:
    """Convert a value to JSON types; whole floats stay floats, NaN and infinities become None.

    >>> to_json_types({"a": np.float64("nan"), "b": np.int64(3)})
    {'a': None, 'b': 3}
    """
    if isinstance(value, Mapping):
        return {str(key): to_json_types(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return to_json_types(value.tolist())
    if isinstance(value, np.generic):
        return to_json_types(value.item())
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float):
        number = float(getattr(value, "shown", value))  # a threshold on a rating scale is shown in its units
        return number if math.isfinite(number) else None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [to_json_types(item) for item in value]
    return value


def grouped(number: float) -> str:
    """Format a number with groups of three digits and at most two decimals.

    >>> grouped(12345), grouped(3.25)
    ('12 345', '3.25')
    """
    text = f"{number:,.2f}".rstrip("0").rstrip(".")
    return text.replace(",", " ").replace("-", "−")


def count_noun(number: float, what: str) -> str:
    """Format a count with its noun, in the plural unless it is one.

    >>> count_noun(1, "item"), count_noun(1200, "item")
    ('1 item', '1 200 items')
    """
    return f"{grouped(number)} {what}{'' if number == 1 else 's'}"


_ZERO: Final = 1e-12
"""Differences and values below this are treated as rounding error."""


def decimal_places(*values: float) -> int:
    """Number of decimals for values that are shown together, such as an estimate and its interval.

    Three by default; one from 10 on; none if all are 1 000 or more; more if all would otherwise round to zero or to
    the same number.
    >>> decimal_places(0.7867), decimal_places(128.4), decimal_places(0.00034)
    (3, 1, 5)
    >>> decimal_places(0.0031, 0.0030, 0.0032), decimal_places(0.0001, -0.03, 0.03)
    (5, 3)
    >>> decimal_places(3803.0, 3501.9, 4166.2), decimal_places(1766.1, -120.5, 2089.6)
    (0, 1)
    """
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return 3
    size, spread = max(map(abs, finite)), max(finite) - min(finite)
    places = 0 if min(map(abs, finite)) >= 1000 else 1 if size >= 10 else 3
    if _ZERO < size < 0.01:
        places = 1 - math.floor(math.log10(size))
    if _ZERO < spread < 2 * 10 ** -min(places, 3):
        places = max(places, 1 - math.floor(math.log10(spread)))
    return places


def decimal_places_by_column(values: Any) -> Any:
    """Vectorised `decimal_places`: the decimals of each column of an array of shape (values, columns).

    >>> decimal_places_by_column(np.array([[0.7867, 0.0031], [0.75, 0.0030], [0.81, 0.0032]]))
    array([3, 5])
    """
    finite = np.isfinite(values)
    size = np.where(finite, np.abs(values), 0.0).max(axis=0)
    spread = np.where(finite, values, -np.inf).max(axis=0) - np.where(finite, values, np.inf).min(axis=0)
    smallest = np.where(finite, np.abs(values), np.inf).min(axis=0)
    places = np.where((smallest >= 1000) & finite.any(axis=0), 0, np.where(size >= 10, 1, 3))

    def places_below(magnitude: Any, limit: Any) -> Any:
        small = (magnitude > _ZERO) & (magnitude < limit)
        return np.where(small, 1 - np.floor(np.log10(np.where(small, magnitude, 1.0))).astype(np.int64), places)

    return np.maximum(places_below(size, 0.01), places_below(spread, 2.0 * 10.0**-places))


def format_interval(value: float, low: float, high: float, *, sign: bool = False, count: bool = False) -> str:
    """Format a value with its interval, if it has one, all with the same decimals.

    `sign` adds a plus sign to differences; a whole `count` of cases has no decimals.

    >>> format_interval(0.7867, 0.7564, 0.8171), format_interval(0.00312, 0.00305, 0.00319)
    ('0.787 [0.756, 0.817]', '0.00312 [0.00305, 0.00319]')
    >>> format_interval(0.084, -0.051, 0.117, sign=True), format_interval(205.0, 181.6, 230.1, count=True)
    ('+0.084 [−0.051, 0.117]', '205 [182, 230]')
    """
    known = not math.isnan(low) and not math.isnan(high)
    places = 0 if count and float(value).is_integer() else decimal_places(value, *((low, high) if known else ()))
    text = (format_signed if sign else decimals)(value, places)
    return f"{text} [{decimals(low, places)}, {decimals(high, places)}]" if known else text


def round_count(number: float) -> float | int:
    """A whole number as an integer; others, such as sums of weights, unchanged.

    >>> round_count(205.0), round_count(20.5)
    (205, 20.5)
    """
    return int(number) if float(number).is_integer() else number


def short(value: float, *beside: float, sign: bool = False) -> str:
    """Format a cost with three significant digits, or more if the values shown beside it would read the same.

    Whole numbers are shown from 1 000 on; `sign` adds a plus sign to differences.

    >>> short(4.5), short(0.0253), short(0.17821, 0.17812, 0.17833), short(2731.4), short(1500, sign=True)
    ('4.5', '0.0253', '0.17821', '2 731', '+1 500')
    """
    if not math.isfinite(value):
        return decimals(value)
    finite = [number for number in (value, *beside) if math.isfinite(number)]
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
    """Format a share in percent, with more decimals if it would otherwise read 0 or 100.

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
    """Format a number with suitable decimals, a minus sign, and a dash if it is undefined.

    >>> decimals(-0.12345), decimals(0.000416), decimals(float("nan")), decimals(-34760429.2)
    ('−0.123', '0.00042', '–', '−34 760 429')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    places = decimal_places(value) if places is None else places
    text = f"{value:.{places}f}"
    return f"{value:,.{places}f}".replace(",", " ").replace("-", "−") if float(text) else f"{0:.{places}f}"


def format_per_thousand(number: float) -> str:
    """Format a frequency per 1 000 cases: whole numbers, or one decimal below 10.

    >>> format_per_thousand(255.6), format_per_thousand(0.42)
    ('256', '0.4')
    """
    return decimals(number, 0 if number >= 10 or number == 0 else 1)


def format_whole_percent(share: float) -> str:
    """Format a share in whole percent; <1 % and >99 % replace a rounded 0 % and 100 %.

    >>> format_whole_percent(0.853), format_whole_percent(0.001)
    ('85 %', '<1 %')
    """
    if 0 < share < 0.005:
        return "<1 %"
    return ">99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def p_text(p: float) -> str:
    """Format a p-value with its name.

    >>> p_text(0.0301), p_text(0.00001)
    ('p = 0.030', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def format_p_cell(p: float, undefined: str = "–") -> str:
    """Format a p-value for a table column headed p.

    >>> format_p_cell(0.0301), format_p_cell(0.00001), format_p_cell(float("nan"))
    ('0.030', '< 0.001', '–')
    """
    return undefined if math.isnan(p) else p_text(p).removeprefix("p ").removeprefix("= ")


def join_words(words: Sequence[str], by: str = "and") -> str:
    """Join words as in a sentence: commas, and a conjunction before the last.

    >>> join_words(["a", "b", "c"]), join_words(["a"])
    ('a, b and c', 'a')
    """
    *others, last = words
    return f"{', '.join(others)} {by} {last}" if others else last


def format_signed(value: float, places: int | None = None) -> str:
    """Format a difference with its sign.

    >>> format_signed(0.0842), format_signed(-0.1)
    ('+0.084', '−0.100')
    """
    text = decimals(value, places)
    return text if value <= 0 or not any(digit in "123456789" for digit in text) else f"+{text}"


def html_table(rows: Sequence[Row], words: str = "") -> str:
    """Format rows as an HTML table with a caption above, which scrolls if it is wide.

    Undefined values are dashes, and all text is escaped.

    >>> "<tr><td>a&lt;b</td><td>–</td></tr>" in html_table([{"model": "a<b", "auc": float("nan")}])
    True
    """

    def cell(value: Any) -> str:
        if value is None or isinstance(value, float):
            return "–" if value is None else f"{value:.4g}".replace("nan", "–").replace("-", "−")
        return escape(str(value))

    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [name for name in names if any(row.get(name) is not None for row in rows)]
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{cell(row.get(name))}</td>' for name in columns)}</tr>" for row in rows)
    above = f"<p>{escape(words)}</p>" if words else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"{above}<div style='max-width:50rem;overflow-x:auto'>{table}</div>"


def frame_of(rows: list[Row]) -> Any:
    """Rows as a data frame of the first installed of pandas, polars and pyarrow."""
    return import_module("scorespace.io").to_frame(rows)  # the core knows no frames


def latex_of(rows: list[Row]) -> str:
    """Rows as a LaTeX table with booktabs."""
    return str(import_module("scorespace.report.serialize").latex_rows(rows))  # the core knows no formats


@singledispatch
def notebook_html(result: Any) -> str:
    """Render a result as HTML: all its rows, unless a renderer is registered for its type."""
    return html_table(result.rows(), result.words)


class Result:
    """Base of results: the verdict as repr, an HTML table for notebooks, and a dictionary."""

    if TYPE_CHECKING:

        @property
        def words(self) -> str: ...

        def rows(self) -> list[Row]: ...

    @property
    def notes(self) -> tuple[Note, ...]:
        return ()

    def facts(self) -> Row:
        """Further entries of the dictionary, before the rows."""
        return {}

    def to_dict(self) -> Row:
        notes = [note.to_dict() for note in self.notes]
        facts, rows = to_json_types(self.facts()), to_json_types(self.rows())
        return {"schema": SCHEMA, **facts, "rows": rows, "verdict": self.words, "notes": notes}

    def to_frame(self) -> Any:
        """The rows as a data frame of the first installed of pandas, polars and pyarrow."""
        return frame_of(self.rows())

    def to_latex(self) -> str:
        """The rows as a LaTeX table with booktabs."""
        return latex_of(self.rows())

    def plot(self, style: str | None = None, size: str | None = None) -> Any:
        """The chart of the result as an Altair object, if there is one.

        Parameters
        ----------
        style : {"slide", "paper"}, optional
            Fonts, lines and colours for a slide or a paper.
        size : str, optional
            Width and height, such as "12x8cm".

        Returns
        -------
        altair.Chart
            The chart.
        """
        return import_module("scorespace.report.result_charts").plot(self, style, size)  # the core knows no charts

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return notebook_html(self)


class AsTable:
    """Base of results whose HTML form for notebooks is their rows below their repr."""

    if TYPE_CHECKING:

        def rows(self) -> list[Row]: ...

    def _repr_html_(self) -> str:
        return html_table(self.rows(), repr(self))


class ByValue:
    """Equality by value for frozen dataclasses that hold arrays (NaN equals NaN)."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        compared = (f.name for f in fields(self) if f.compare)  # type: ignore[arg-type]
        return all(equal_values(getattr(self, name), getattr(other, name)) for name in compared)


def equal_values(a: Any, b: Any) -> bool:
    """Whether two values are equal, arrays element by element, with NaN equal to NaN."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        return a.shape == b.shape and bool(np.all((a == b) | ((a != a) & (b != b))))
    return bool(a == b)

"""Hard and easy cases: on which side of the midpoint a score is, and how far from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.curves.curve import distance
from scorespace.curves.midpoint import midpoint_of
from scorespace.curves.smooth import SmoothCurve, check_probabilities, smooth, softened
from scorespace.errors import ConditionError, DataError
from scorespace.results import SCHEMA, AsTable, ByValue, Note, Result, Row, decimals, grouped, to_json_types
from scorespace.tables import Array, ScoreTable, ratio, score_table
from scorespace.tables.columns import validate_scores
from scorespace.tables.labels import encode_classes

ZONES: Final = ("easy", "rescued", "hard", "error")
"""Kinds of cases, from best to worst; every case has exactly one kind."""

COLUMNS: Final = ("id", "score", "rank", "label", "appropriate", "slope", "zone", "set", "outcome")
"""Columns of the rows of cases."""
SETS: Final = ("high and positive", "low and negative", "low and positive", "high and negative")
"""The four sets of the smooth ROC curve, by side of the midpoint and class: appropriate scores first."""

OUTCOMES: Final = ("TP", "FN", "FP", "TN")

_RANDOM_SAMPLES: Final = 100  # random samples that a proposed subsample is compared with
_MIN_SHARE_OF_WIDEST: Final = 0.5  # share of the widest gap from which on a gap separates two clusters …
_MIN_SHARE_OF_RANGE: Final = (
    0.05  # … if it is also at least this share of the range, since uniform scores have gaps, too
)


def set_sizes(table: ScoreTable, midpoint: float) -> dict[str, float]:
    """Weight of the cases in each of the four sets, by side of the midpoint and class.

    >>> from scorespace.tables import score_table
    >>> set_sizes(score_table([1, 1, 0, 0], [0.9, 0.3, 0.6, 0.1]), 0.5)
    {'high and positive': 1.0, 'low and negative': 1.0, 'low and positive': 1.0, 'high and negative': 1.0}
    """
    high = table.score > midpoint
    sides = (table.pos, high), (table.neg, ~high), (table.pos, ~high), (table.neg, high)
    return {name: float(cases[side].sum()) for name, (cases, side) in zip(SETS, sides, strict=True)}


@dataclass(frozen=True, eq=False)
class CaseZones(ByValue):
    """Ranges of the kinds of cases on the score scale, and the weight of each.

    Uncertain scores, from `low` to `high`, are closer to the midpoint than to the end of the scale on their side. The
    classes overlap from the lowest positive score (`overlap_low`) to the highest negative one. On the wrong side of the
    midpoint an uncertain score is hard, any other an error; on the right side an uncertain score in the overlap is
    rescued, any other easy.
    """

    midpoint: float
    overlap_low: float
    overlap_high: float
    positives: tuple[float, ...]
    negatives: tuple[float, ...]

    @property
    def low(self) -> float:
        return self.midpoint / 2

    @property
    def high(self) -> float:
        return (1 + self.midpoint) / 2

    @property
    def overlap(self) -> bool:
        """Whether some positive has a score no higher than some negative."""
        return self.overlap_low <= self.overlap_high

    @property
    def counts(self) -> dict[str, float]:
        """Weight of the cases of each kind."""
        return {zone: self.positives[k] + self.negatives[k] for k, zone in enumerate(ZONES)}

    def kind(self, score: Array, positive: Any) -> NDArray[np.uint8]:
        """Return the kind of each case as an index into ZONES."""
        right = (score > self.midpoint) == positive
        uncertain = (score >= self.low) & (score <= self.high)
        overlapping = (score >= self.overlap_low) & (score <= self.overlap_high)
        return np.where(right, uncertain & overlapping, np.where(uncertain, 2, 3)).astype(np.uint8)


def zones(table: ScoreTable, midpoint: str | float = "mean") -> CaseZones:
    """Return the zones of a table of probabilities, with the weight of the cases of each kind.

    >>> zones(score_table([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.01])).counts
    {'easy': 4.0, 'rescued': 1.0, 'hard': 1.0, 'error': 0.0}
    """
    check_probabilities(table)
    midpoint_value = midpoint_of(table, midpoint)
    pos, neg = table.pos, table.neg
    low = float(table.score[pos > 0].min(initial=np.inf))
    high = float(table.score[neg > 0].max(initial=-np.inf))
    result = CaseZones(midpoint_value, low, high, (), ())
    positives, negatives = (
        tuple(np.bincount(result.kind(table.score, side), weight, minlength=len(ZONES)).tolist())
        for side, weight in ((True, pos), (False, neg))
    )
    return replace(result, positives=positives, negatives=negatives)


@dataclass(frozen=True)
class ScoreCluster:
    """Adjacent scores without a wide gap between them."""

    low: float
    high: float
    positives: float
    negatives: float

    def row(self) -> Row:
        return {"low": self.low, "high": self.high, "positives": self.positives, "negatives": self.negatives}


@dataclass(frozen=True, eq=False)
class ScoreGaps(ByValue, AsTable):
    """Gaps between adjacent scores, in decreasing order of score, and the clusters separated by wide gaps.

    `cut` is the middle of the widest gap: the threshold farthest from any case. A gap separates two clusters if it is
    at least half as wide as the widest and at least 5 % of the range.
    """

    score: Array
    gap: Array
    cut: float
    widest: float
    clusters: tuple[ScoreCluster, ...]

    @property
    def notes(self) -> tuple[Note, ...]:
        return ()

    def rows(self) -> list[Row]:
        """Return one row per gap: the scores above and below it, and its width."""
        columns = (to_json_types(values) for values in (self.score[:-1], self.score[1:], self.gap))
        return [{"above": above, "below": below, "gap": gap} for above, below, gap in zip(*columns, strict=True)]

    def to_dict(self) -> Row:
        clusters = [cluster.row() for cluster in self.clusters]
        values = {"schema": SCHEMA, "cut": self.cut, "widest": self.widest, "clusters": clusters, "rows": self.rows()}
        return to_json_types(values)

    def __repr__(self) -> str:
        if not self.gap.size:
            return "margins: one distinct score, so there is no gap"
        parts = f"{len(self.clusters)} clusters" if len(self.clusters) > 1 else "one cluster"
        return f"margins: widest gap {self.widest:.3g} around {self.cut:.3g}, {parts}"


def margins(table: ScoreTable) -> ScoreGaps:
    """Return the gaps between adjacent scores, the threshold in the widest gap, and the clusters between wide gaps.

    >>> margins(score_table([1, 1, 0, 0, 0], [0.9, 0.85, 0.3, 0.25, 0.2]))
    margins: widest gap 0.55 around 0.575, 2 clusters
    """
    gap = table.score[:-1] - table.score[1:]
    if not gap.size:
        widest, threshold, starts = 0.0, float("nan"), np.zeros(min(1, table.score.size), dtype=np.intp)
    else:
        index = int(np.argmax(gap))
        widest, threshold = float(gap[index]), float((table.score[index] + table.score[index + 1]) / 2)
        min_gap = max(_MIN_SHARE_OF_WIDEST * widest, _MIN_SHARE_OF_RANGE * float(table.score[0] - table.score[-1]))
        starts = np.append(0, np.flatnonzero(gap >= min_gap) + 1)
    ends = np.append(starts[1:], table.score.size) - 1
    columns = (
        table.score[ends],
        table.score[starts],
        *(np.add.reduceat(column, starts) if starts.size else column for column in (table.pos, table.neg)),
    )
    clusters = tuple(ScoreCluster(*map(float, cells)) for cells in zip(*columns, strict=True))
    return ScoreGaps(table.score, gap, threshold, widest, clusters)


@dataclass(frozen=True, eq=False, repr=False)
class HardCases(Result, ByValue):
    """Every case with its score, rank (1 is the highest; ties share the mean), label, kind and slope.

    `slope` is that of its segment of the smooth ROC curve before scaling: Σ c / Σ (1 − c) over cases with the same
    score. `zone` holds indices into ZONES. The predicted class is positive from the threshold `at` on.
    """

    id: NDArray[Any]
    score: Array
    rank: Array
    label: NDArray[Any]
    positive: NDArray[np.bool_]
    appropriate: NDArray[np.bool_]
    slope: Array
    zone: NDArray[np.uint8]
    zones: CaseZones
    margins: ScoreGaps
    table: ScoreTable
    at: float = 0.5

    @property
    def counts(self) -> dict[str, int]:
        """Number of cases of each kind."""
        return dict(zip(ZONES, np.bincount(self.zone, minlength=len(ZONES)).tolist(), strict=True))

    @property
    def set(self) -> NDArray[np.uint8]:
        """The set of each case as an index into SETS."""
        high = self.score > self.zones.midpoint
        return np.where(self.positive, np.where(high, 0, 2), np.where(high, 3, 1)).astype(np.uint8)

    @property
    def sets(self) -> dict[str, int]:
        """Number of cases in each set."""
        return dict(zip(SETS, np.bincount(self.set, minlength=len(SETS)).tolist(), strict=True))

    def members(self, name: str, most: int | None = None) -> list[Row]:
        """Return the cases of a set, those farthest from the midpoint first.

        >>> found = cases([1, 1, 0, 0], [0.9, 0.3, 0.6, 0.1], id=list("abcd"))
        >>> [[row["id"] for row in found.members(name)] for name in SETS]
        [['a'], ['d'], ['b'], ['c']]
        """
        if name not in SETS:
            raise DataError(f"there is no set {name!r}.", seen=", ".join(SETS), hint="one of these")
        return self._rows(self._sort_by_distance(np.flatnonzero(self.set == SETS.index(name)))[:most])

    def predicted_negative(self, at: float | None = None) -> NDArray[np.bool_]:
        """Whether each score is below a threshold; below `self.at` by default."""
        return self.score < float(self.table.in_precision(self.at if at is None else at))

    @property
    def outcome(self) -> NDArray[np.intp]:
        """The outcome of each case at the threshold, as an index into OUTCOMES."""
        return 2 * ~self.positive + self.predicted_negative()

    def contingency(self, at: float | None = None) -> NDArray[np.int64]:
        """Count the cases of each set (rows) predicted positive and negative (columns) at a threshold."""
        cells = 2 * self.set.astype(np.intp) + self.predicted_negative(at)
        return np.bincount(cells, minlength=2 * len(SETS)).reshape(-1, 2)

    def of(self, zone: str, most: int | None = None) -> list[Row]:
        """Return the cases of a kind: uncertain ones closest to the midpoint first, others farthest first."""
        return self._rows(self.order(zone)[:most])

    def order(self, zone: str) -> NDArray[np.intp]:
        """Return the indices of the cases of a kind, in the order of `of`."""
        if zone not in ZONES:
            raise DataError(f"there is no zone {zone!r}.", seen=", ".join(ZONES), hint="one of these")
        return self._sort_by_distance(
            np.flatnonzero(self.zone == ZONES.index(zone)), nearest=zone in ("rescued", "hard")
        )

    def _sort_by_distance(self, indices: NDArray[np.intp], nearest: bool = False) -> NDArray[np.intp]:
        distance_ = np.abs(self.score[indices] - self.zones.midpoint).round(12)  # ties keep the order of the data
        return indices[np.argsort(distance_ if nearest else -distance_, kind="stable")]

    @property
    def notes(self) -> tuple[Note, ...]:
        codes = ("SS028", "SS065", "SS066")
        return tuple(note for note in smooth(self.table, self.zones.midpoint).notes if note.code in codes)

    @property
    def words(self) -> str:
        """The verdict in a few sentences."""
        counts, total = self.counts, self.score.size
        uncertain = counts["hard"] + counts["rescued"]
        text = f"{grouped(counts['easy'])} of {grouped(total)} cases are easy. "
        if uncertain:
            text += (
                f"{grouped(uncertain)} are uncertain, around the midpoint {decimals(self.zones.midpoint)}: "
                f"{grouped(counts['rescued'])} of them on the right side, {grouped(counts['hard'])} on the wrong side. "
            )
        wrong = counts["error"]
        text += f"{grouped(wrong)} {'is' if wrong == 1 else 'are'} confident and wrong." if wrong else (
            "None is confident and wrong."
        )  # fmt: skip
        return text

    def rows(self) -> list[Row]:
        """Return one row per case, in the order of the data."""
        return self._rows(np.arange(self.score.size))

    def facts(self) -> Row:
        return {
            "midpoint": self.zones.midpoint,
            "overlap": [self.zones.overlap_low, self.zones.overlap_high] if self.zones.overlap else None,
            "cut": self.margins.cut,
            "clusters": [cluster.row() for cluster in self.margins.clusters],
            "counts": self.counts,
            "sets": self.sets,
        }

    def _rows(self, indices: NDArray[np.intp]) -> list[Row]:
        columns = (self.id, self.score, self.rank, self.label, self.appropriate, self.slope)
        named = (ZONES, self.zone), (SETS, self.set), (OUTCOMES, self.outcome)
        kinds = (np.array(names)[index[indices]].tolist() for names, index in named)
        lists = (to_json_types(column[indices]) for column in columns)
        return [dict(zip(COLUMNS, values, strict=True)) for values in zip(*lists, *kinds, strict=True)]


def cases(
    truth: Any,
    score: Any,
    id: Any = None,
    *,
    positive: Any = None,
    midpoint: str | float = "mean",
    at: float = 0.5,
) -> HardCases:
    """Classify every case by its score: easy, rescued, hard, or error (confident and wrong).

    Parameters
    ----------
    truth : array_like of shape (n_cases,)
        Actual class of each case.
    score : array_like of shape (n_cases,)
        Probabilities of the positive class.
    id : array_like of shape (n_cases,), optional
        Identifier of each case; cases are numbered from 1 by default.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.
    midpoint : str or float
        What separates high from low scores: "mean", "class_weighted", "cross_weighted", "median", "class_medians",
        "half", or a number.
    at : float
        Threshold of the predicted class, from which a case is a true or false positive or negative.

    Returns
    -------
    HardCases
        The kind of each case.

    References
    ----------
    Klement, W., Flach, P., Japkowicz, N., & Matwin, S. (2011). Smooth receiver operating characteristics (smROC)
    curves. In Machine Learning and Knowledge Discovery in Databases (ECML PKDD).

    Examples
    --------
    >>> cases([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.01], id=list("abcdef")).of("hard")[0]["id"]
    'c'
    """
    codes, classes = encode_classes(truth)
    return cases_of_codes(codes, score, classes, id, positive=positive, midpoint=midpoint, at=at)


def cases_of_codes(
    codes: NDArray[Any],
    score: Any,
    classes: Sequence[str],
    id: Any = None,
    *,
    positive: Any = None,
    midpoint: str | float = "mean",
    at: float = 0.5,
) -> HardCases:
    """Return `cases` for class codes."""
    values = validate_scores(score, codes.size)
    table = score_table(codes, values, positive=positive, classes=classes)
    # A table with one class has a name for the absent one, too, so names are looked up there.
    actual = np.array([table.classes.index(name) for name in classes])[codes]
    zones_ = zones(table, midpoint)
    is_positive = actual == table.positive
    row = np.searchsorted(-table.score, -values)
    weight = table.pos + table.neg
    rank = np.cumsum(weight) - (weight - 1) / 2
    softened_table = softened(table, zones_.midpoint)
    return HardCases(
        _check_ids(id, codes.size),
        values,
        rank[row],
        np.array(table.classes)[actual],
        is_positive,
        (values > zones_.midpoint) == is_positive,
        ratio(softened_table.pos, softened_table.neg)[row],
        zones_.kind(values, is_positive),
        zones_,
        margins(table),
        table,
        at,
    )


@dataclass(frozen=True, eq=False)
class SubSample(ByValue):
    """A subsample that preserves the shape of the smooth ROC curve: indices of its cases, and how close its curve is.

    `area` and `largest` are the distances between its curve and that of all cases; `by_chance` is the median area for
    stratified random samples of the same size.
    """

    places: NDArray[np.intp]
    cases: int
    area: float
    largest: float
    by_chance: float
    smauc: tuple[float, float]
    auc: tuple[float, float]

    @property
    def words(self) -> str:
        """Summary of the subsample."""
        return (
            f"{grouped(self.places.size)} of {grouped(self.cases)} cases preserve the shape of the curve: smAUC "
            f"{decimals(self.smauc[1])} for {decimals(self.smauc[0])}, AUC {decimals(self.auc[1])} for "
            f"{decimals(self.auc[0])}; area between the smooth curves {decimals(self.area)}, against "
            f"{decimals(self.by_chance)} for a random sample of that size."
        )

    def facts(self) -> Row:
        names = ("area", "largest", "by_chance", "smauc", "auc")
        return to_json_types({"cases": self.places.size, **{name: getattr(self, name) for name in names}})

    def __repr__(self) -> str:
        return self.words


def subsample(cases_: HardCases, size: int, seed: int = 0) -> SubSample:
    """Draw a systematic subsample, stratified by class, at even steps through the scores.

    Within a class every n-th case by score is taken, starting in the middle of the first step, so that the score
    distribution changes by at most half a step, and with it the curve.

    >>> found = cases([1, 0] * 50, [k % 10 / 10 + (k % 2 == 0) / 20 for k in range(100)])
    >>> subsample(found, 20).places.size
    20
    """
    total = cases_.score.size
    if not 2 <= size <= total:
        raise ConditionError(
            f"a subsample of {size} cases is not possible.", seen=f"{grouped(total)} cases", hint=f"from 2 to {total}"
        )
    members = [np.flatnonzero(cases_.positive == side) for side in (True, False)]
    members = [chosen[np.argsort(cases_.score[chosen], kind="stable")] for chosen in members if chosen.size]
    sizes = _allocate(size, [chosen.size for chosen in members])
    steps = [((np.arange(n) + 0.5) * m.size / n).astype(np.intp) for n, m in zip(sizes, members, strict=True)]
    chosen = np.sort(np.concatenate([m[step] for m, step in zip(members, steps, strict=True)]))
    all_curve, sample_curve = _curve(cases_, np.arange(total)), _curve(cases_, chosen)
    rng = np.random.default_rng(seed)  # random samples without replacement
    random_areas = []
    for _ in range(_RANDOM_SAMPLES):
        drawn = [rng.choice(m, n, replace=False) for n, m in zip(sizes, members, strict=True)]
        random_areas.append(distance(_curve(cases_, np.concatenate(drawn)), all_curve).area)
    gap = distance(sample_curve, all_curve)
    areas = (all_curve.area(), sample_curve.area()), (all_curve.auc, sample_curve.auc)
    return SubSample(chosen, total, gap.area, gap.largest, float(np.median(random_areas)), *areas)


def _curve(cases_: HardCases, indices: NDArray[np.intp]) -> SmoothCurve:
    """Smooth ROC curve of some of the cases, with the midpoint of all."""
    label = cases_.positive[indices].astype(np.uint8)
    return smooth(score_table(label, cases_.score[indices], positive=1, classes=("0", "1")), cases_.zones.midpoint)


def _allocate(size: int, sizes: Sequence[int]) -> list[int]:
    """Allocate `size` in proportion to class sizes by largest remainders, at least one each.

    >>> _allocate(10, [3, 97])
    [1, 9]
    """
    exact = np.array(sizes) * size / sum(sizes)
    allocated = np.maximum(1, np.floor(exact)).astype(int)
    order = np.argsort(allocated - exact, kind="stable")
    remainder = size - int(allocated.sum())
    allocated[order[:remainder]] += remainder > 0
    allocated[int(np.argmax(allocated))] += min(remainder, 0)
    return [int(n) for n in allocated]


def _check_ids(ids_in: Any, size: int) -> NDArray[Any]:
    if ids_in is None:
        return np.arange(1, size + 1)
    ids = np.asarray(ids_in)
    if ids.shape != (size,):
        raise DataError(
            "truth and id differ in length.",
            seen=f"{size} labels and ids of shape {ids.shape}",
            hint="one id for each case",
        )
    return ids

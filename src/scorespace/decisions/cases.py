"""Hard and easy cases: which scores are on the right side of the midpoint, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.curves.distance import distance
from scorespace.curves.midpoint import midpoint_of
from scorespace.curves.smooth import SmoothCurve, check_probabilities, smooth, softened
from scorespace.errors import ConditionError, DataError
from scorespace.frozen import dataclass
from scorespace.results import SCHEMA, ByValue, Note, Result, Row, decimals, grouped, plain
from scorespace.tables import Array, ScoreTable, ratio, score_table
from scorespace.tables.columns import scores_of
from scorespace.tables.labels import encode_classes

ZONES: Final = ("easy", "rescued", "hard", "error")
"""The kinds of cases, from the best to the worst; a case is of exactly one kind."""

COLUMNS: Final = ("id", "score", "rank", "label", "appropriate", "slope", "zone", "set")
"""Of the rows of cases."""
SETS: Final = ("high and positive", "low and negative", "low and positive", "high and negative")
"""The four sets of smooth ROC, by side of the midpoint and class: appropriate scores, then inappropriate ones."""

_RANDOM: Final = 100  # samples by chance that a proposed one is compared with
_CUT: Final = 0.5  # a gap at least this share of the widest parts two clusters …
_STANDS_OUT: Final = 0.05  # … if it is also at least this share of the range: scores without clusters have gaps too


def set_sizes(table: ScoreTable, midpoint: float) -> dict[str, float]:
    """How much of a table lies in each of the four sets, by the side of the midpoint and the class.

    >>> from scorespace.tables import score_table
    >>> set_sizes(score_table([1, 1, 0, 0], [0.9, 0.3, 0.6, 0.1]), 0.5)
    {'high and positive': 1.0, 'low and negative': 1.0, 'low and positive': 1.0, 'high and negative': 1.0}
    """
    high = table.score > midpoint
    sides = (table.pos, high), (table.neg, ~high), (table.pos, ~high), (table.neg, high)
    return {name: float(cases[side].sum()) for name, (cases, side) in zip(SETS, sides, strict=True)}


@dataclass(frozen=True, eq=False)
class Zones(ByValue):
    """Where the kinds of cases lie on the scale of the scores, and how many there are of each.

    Doubtful scores lie nearer to the midpoint than to the end of the scale on their side: from `low` to `high`.
    The classes overlap from the lowest positive score (`overlap_low`) to the highest negative one. On the wrong
    side of the midpoint a doubtful score is hard, any other a trivial error; on the right side a doubtful
    score in the overlap is rescued, any other easy.
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
        """Whether a positive is scored no higher than some negative."""
        return self.overlap_low <= self.overlap_high

    @property
    def counts(self) -> dict[str, float]:
        """Weight of the cases of each kind."""
        return {zone: self.positives[k] + self.negatives[k] for k, zone in enumerate(ZONES)}

    def kind(self, score: Array, positive: Any) -> NDArray[np.uint8]:
        """The kind of each case, as its place in ZONES."""
        right = (score > self.midpoint) == positive
        doubtful = (score >= self.low) & (score <= self.high)
        overlapping = (score >= self.overlap_low) & (score <= self.overlap_high)
        return np.where(right, doubtful & overlapping, np.where(doubtful, 2, 3)).astype(np.uint8)


def zones(table: ScoreTable, midpoint: str | float = "mean") -> Zones:
    """The zones of a table of scores between 0 and 1, with the weight of the cases of each kind.

    >>> zones(score_table([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.01])).counts
    {'easy': 4.0, 'rescued': 1.0, 'hard': 1.0, 'error': 0.0}
    """
    check_probabilities(table)
    middle = midpoint_of(table, midpoint)
    pos, neg = table.pos, table.neg
    low = float(table.score[pos > 0].min(initial=np.inf))
    high = float(table.score[neg > 0].max(initial=-np.inf))
    found = Zones(middle, low, high, (), ())
    positives, negatives = (
        tuple(np.bincount(found.kind(table.score, side), weight, minlength=len(ZONES)).tolist())
        for side, weight in ((True, pos), (False, neg))
    )
    return replace(found, positives=positives, negatives=negatives)


@dataclass(frozen=True)
class Cluster:
    """Neighbouring scores with no wide gap between them."""

    low: float
    high: float
    positives: float
    negatives: float

    def row(self) -> Row:
        return {"low": self.low, "high": self.high, "positives": self.positives, "negatives": self.negatives}


@dataclass(frozen=True, eq=False)
class Margins(ByValue):
    """The gaps between neighbouring scores, from the highest down, and the clusters that wide ones leave.

    `cut` lies in the middle of the widest gap: the threshold farthest from any case. A gap parts two clusters
    when it is at least half as wide as that one and takes at least 5 % of the range of the scores.
    """

    score: Array
    gap: Array
    cut: float
    widest: float
    clusters: tuple[Cluster, ...]

    @property
    def notes(self) -> tuple[Note, ...]:
        return ()

    def rows(self) -> list[Row]:
        """One row per gap: the scores above and below it, and its width."""
        columns = (plain(values) for values in (self.score[:-1], self.score[1:], self.gap))
        return [{"above": above, "below": below, "gap": gap} for above, below, gap in zip(*columns, strict=True)]

    def to_dict(self) -> Row:
        clusters = [one.row() for one in self.clusters]
        found = {"schema": SCHEMA, "cut": self.cut, "widest": self.widest, "clusters": clusters, "rows": self.rows()}
        return plain(found)

    def __repr__(self) -> str:
        if not self.gap.size:
            return "margins: one distinct score, so there is no gap"
        parts = f"{len(self.clusters)} clusters" if len(self.clusters) > 1 else "one cluster"
        return f"margins: widest gap {self.widest:.3g} around {self.cut:.3g}, {parts}"


def margins(table: ScoreTable) -> Margins:
    """The gaps between neighbouring scores, the natural cut in the widest, and the clusters between wide gaps.

    >>> margins(score_table([1, 1, 0, 0, 0], [0.9, 0.85, 0.3, 0.25, 0.2]))
    margins: widest gap 0.55 around 0.575, 2 clusters
    """
    gap = table.score[:-1] - table.score[1:]
    if not gap.size:
        widest, cut, starts = 0.0, float("nan"), np.zeros(min(1, table.score.size), dtype=np.intp)
    else:
        place = int(np.argmax(gap))
        widest, cut = float(gap[place]), float((table.score[place] + table.score[place + 1]) / 2)
        least = max(_CUT * widest, _STANDS_OUT * float(table.score[0] - table.score[-1]))
        starts = np.append(0, np.flatnonzero(gap >= least) + 1)
    ends = np.append(starts[1:], table.score.size) - 1
    columns = (
        table.score[ends],
        table.score[starts],
        *(np.add.reduceat(column, starts) if starts.size else column for column in (table.pos, table.neg)),
    )
    clusters = tuple(Cluster(*map(float, cells)) for cells in zip(*columns, strict=True))
    return Margins(table.score, gap, cut, widest, clusters)


@dataclass(frozen=True, eq=False, repr=False)
class Cases(Result, ByValue):
    """Every case with its score, rank (1 is the highest; ties share the mean), label, kind and slope.

    `slope` is that of its segment of the smooth curve before scaling: Σ c / Σ (1 − c) over the cases of the
    same score. `zone` holds places in ZONES.
    """

    id: NDArray[Any]
    score: Array
    rank: Array
    label: NDArray[Any]
    positive: NDArray[np.bool_]
    appropriate: NDArray[np.bool_]
    slope: Array
    zone: NDArray[np.uint8]
    zones: Zones
    margins: Margins
    table: ScoreTable

    @property
    def counts(self) -> dict[str, int]:
        """Number of cases of each kind."""
        return dict(zip(ZONES, np.bincount(self.zone, minlength=len(ZONES)).tolist(), strict=True))

    @property
    def set(self) -> NDArray[np.uint8]:
        """The set of each case, as its place in SETS."""
        high = self.score > self.zones.midpoint
        return np.where(self.positive, np.where(high, 0, 2), np.where(high, 3, 1)).astype(np.uint8)

    @property
    def sets(self) -> dict[str, int]:
        """Number of cases of each set."""
        return dict(zip(SETS, np.bincount(self.set, minlength=len(SETS)).tolist(), strict=True))

    def members(self, name: str, most: int | None = None) -> list[Row]:
        """The cases of a set by its name, those farthest from the midpoint first.

        >>> found = cases([1, 1, 0, 0], [0.9, 0.3, 0.6, 0.1], id=list("abcd"))
        >>> [[row["id"] for row in found.members(name)] for name in SETS]
        [['a'], ['d'], ['b'], ['c']]
        """
        if name not in SETS:
            raise DataError(f"there is no set {name!r}.", seen=", ".join(SETS), hint="one of these")
        return self._rows(self._farthest(np.flatnonzero(self.set == SETS.index(name)))[:most])

    def contingency(self, at: float = 0.5) -> NDArray[np.int64]:
        """The cases of each set (rows) that are decided positive, at or above the threshold, and negative (columns)."""
        cells = 2 * self.set.astype(np.intp) + (self.score < at)
        return np.bincount(cells, minlength=2 * len(SETS)).reshape(-1, 2)

    def of(self, zone: str, most: int | None = None) -> list[Row]:
        """The cases of a kind, the most telling first: doubtful ones nearest to the midpoint, others farthest."""
        return self._rows(self.order(zone)[:most])

    def order(self, zone: str) -> NDArray[np.intp]:
        """Places of the cases of a kind, the most telling first."""
        if zone not in ZONES:
            raise DataError(f"there is no zone {zone!r}.", seen=", ".join(ZONES), hint="one of these")
        return self._farthest(np.flatnonzero(self.zone == ZONES.index(zone)), nearest=zone in ("rescued", "hard"))

    def _farthest(self, places: NDArray[np.intp], nearest: bool = False) -> NDArray[np.intp]:
        away = np.abs(self.score[places] - self.zones.midpoint).round(12)  # equal distances stay in the order given
        return places[np.argsort(away if nearest else -away, kind="stable")]

    @property
    def notes(self) -> tuple[Note, ...]:
        told = ("SS028", "SS065", "SS066")
        return tuple(one for one in smooth(self.table, self.zones.midpoint).notes if one.code in told)

    @property
    def words(self) -> str:
        """The answer in a few sentences."""
        counts, total = self.counts, self.score.size
        doubtful = counts["hard"] + counts["rescued"]
        text = f"{grouped(counts['easy'])} of {grouped(total)} cases are easy. "
        if doubtful:
            text += (
                f"{grouped(doubtful)} lie in doubt around the midpoint {decimals(self.zones.midpoint)}: "
                f"{grouped(counts['rescued'])} of them on the right side, {grouped(counts['hard'])} on the wrong one. "
            )
        wrong = counts["error"]
        text += f"{grouped(wrong)} {'is' if wrong == 1 else 'are'} confident and wrong." if wrong else (
            "None is confident and wrong."
        )  # fmt: skip
        return text

    def rows(self) -> list[Row]:
        """One row per case, in the order given."""
        return self._rows(np.arange(self.score.size))

    def facts(self) -> Row:
        return {
            "midpoint": self.zones.midpoint,
            "overlap": [self.zones.overlap_low, self.zones.overlap_high] if self.zones.overlap else None,
            "cut": self.margins.cut,
            "clusters": [one.row() for one in self.margins.clusters],
            "counts": self.counts,
            "sets": self.sets,
        }

    def _rows(self, places: NDArray[np.intp]) -> list[Row]:
        columns = (self.id, self.score, self.rank, self.label, self.appropriate, self.slope)
        kinds = np.array(ZONES)[self.zone[places]].tolist(), np.array(SETS)[self.set[places]].tolist()
        lists = (plain(column[places]) for column in columns)
        return [dict(zip(COLUMNS, values, strict=True)) for values in zip(*lists, *kinds, strict=True)]


def cases(truth: Any, score: Any, id: Any = None, *, positive: Any = None, midpoint: str | float = "mean") -> Cases:
    """Every case by its score: easy, rescued, hard, or a trivial error (confident and wrong).

    Without `id` the cases are numbered from 1.

    >>> cases([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.01], id=list("abcdef")).of("hard")[0]["id"]
    'c'
    """
    codes, classes = encode_classes(truth)
    return of_codes(codes, score, classes, id, positive=positive, midpoint=midpoint)


def of_codes(
    codes: NDArray[Any],
    score: Any,
    classes: Sequence[str],
    id: Any = None,
    *,
    positive: Any = None,
    midpoint: str | float = "mean",
) -> Cases:
    """The same as `cases`, from codes into the classes."""
    values = scores_of(score, codes.size)
    table = score_table(codes, values, positive=positive, classes=classes)
    # A table of one class has a name for the absent one too, so the names are looked up there.
    actual = np.array([table.classes.index(name) for name in classes])[codes]
    found = zones(table, midpoint)
    is_positive = actual == table.positive
    place = np.searchsorted(-table.score, -values)
    weight = table.pos + table.neg
    rank = np.cumsum(weight) - (weight - 1) / 2
    soft = softened(table, found.midpoint)
    return Cases(
        _ids(id, codes.size),
        values,
        rank[place],
        np.array(table.classes)[actual],
        is_positive,
        (values > found.midpoint) == is_positive,
        ratio(soft.pos, soft.neg)[place],
        found.kind(values, is_positive),
        found,
        margins(table),
        table,
    )


@dataclass(frozen=True, eq=False)
class SubSample(ByValue):
    """A part of the cases that keeps the shape of the smooth ROC curve: their `places`, rising, and how near it comes.

    `area` and `largest` are the distances between the curve of the part and that of all; `by_chance` is the median
    area of parts of the same size that are drawn at random within classes.
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
        """What the part keeps, in a sentence."""
        return (
            f"{grouped(self.places.size)} of {grouped(self.cases)} cases keep the shape of the curve: smAUC "
            f"{decimals(self.smauc[1])} for {decimals(self.smauc[0])}, AUC {decimals(self.auc[1])} for "
            f"{decimals(self.auc[0])}; area between the smooth curves {decimals(self.area)}, against "
            f"{decimals(self.by_chance)} for as many cases by chance."
        )

    def facts(self) -> Row:
        names = ("area", "largest", "by_chance", "smauc", "auc")
        return plain({"cases": self.places.size, **{name: getattr(self, name) for name in names}})

    def __repr__(self) -> str:
        return self.words


def sub_sample(found: Cases, size: int, seed: int = 0) -> SubSample:
    """So many of the cases, of each class its share, at even steps through the scores: no draw is nearer on average.

    Within a class every n-th case in the order of scores is taken, from the middle of the first step on, so that the
    distribution of its scores moves by half a step at most, and with it the curve.

    >>> found = cases([1, 0] * 50, [k % 10 / 10 + (k % 2 == 0) / 20 for k in range(100)])
    >>> sub_sample(found, 20).places.size
    20
    """
    total = found.score.size
    if not 2 <= size <= total:
        raise ConditionError(
            f"a sub-sample of {size} cases cannot be taken.", seen=f"{grouped(total)} cases", hint=f"from 2 to {total}"
        )
    members = [np.flatnonzero(found.positive == side) for side in (True, False)]
    members = [places[np.argsort(found.score[places], kind="stable")] for places in members if places.size]
    sizes = _shared_out(size, [places.size for places in members])
    steps = [((np.arange(n) + 0.5) * m.size / n).astype(np.intp) for n, m in zip(sizes, members, strict=True)]
    places = np.sort(np.concatenate([m[step] for m, step in zip(members, steps, strict=True)]))
    whole, part = _curve(found, np.arange(total)), _curve(found, places)
    rng = np.random.default_rng(seed)  # parts without replacement, smaller than the sample: no bootstrap
    others = []
    for _ in range(_RANDOM):
        drawn = [rng.choice(m, n, replace=False) for n, m in zip(sizes, members, strict=True)]
        others.append(distance(_curve(found, np.concatenate(drawn)), whole).area)
    gap = distance(part, whole)
    areas = (whole.area(), part.area()), (whole.auc, part.auc)
    return SubSample(places, total, gap.area, gap.largest, float(np.median(others)), *areas)


def _curve(found: Cases, places: NDArray[np.intp]) -> SmoothCurve:
    """The smooth curve of some of the cases, about the midpoint of all."""
    label = found.positive[places].astype(np.uint8)
    return smooth(score_table(label, found.score[places], positive=1, classes=("0", "1")), found.zones.midpoint)


def _shared_out(size: int, of: Sequence[int]) -> list[int]:
    """So many places shared out by size, the largest remainders first, and at least one for each.

    >>> _shared_out(10, [3, 97])
    [1, 9]
    """
    exact = np.array(of) * size / sum(of)
    given = np.maximum(1, np.floor(exact)).astype(int)
    order = np.argsort(given - exact, kind="stable")
    left = size - int(given.sum())
    given[order[:left]] += left > 0
    given[int(np.argmax(given))] += min(left, 0)
    return [int(n) for n in given]


def _ids(given: Any, size: int) -> NDArray[Any]:
    if given is None:
        return np.arange(1, size + 1)
    ids = np.asarray(given)
    if ids.shape != (size,):
        raise DataError(
            "truth and id differ in length.",
            seen=f"{size} labels and ids of shape {ids.shape}",
            hint="one id for each case",
        )
    return ids

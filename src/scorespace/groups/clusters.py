"""Clusters judged: one labelling or several of the same points, by themselves and beside known classes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import combinations
from typing import Any, Final, Literal

import numpy as np

from scorespace.errors import ColumnError, DataError, MeasureError, listing
from scorespace.frames.points import Points, points
from scorespace.frozen import dataclass
from scorespace.groups.stability import SHAKY, Refit, Stability, stability
from scorespace.measures import MeasureSpec, parse, parse_list
from scorespace.measures.clusters import FEW_POINTS, silhouette_rows, silhouettes
from scorespace.measures.request import bind
from scorespace.resampling.draw import REPLICATES, Draws
from scorespace.resampling.estimate import Estimate, check_level, estimates
from scorespace.results import Note, Progress, Result, Row, decimals, grouped, joined, note, part_of
from scorespace.tables import Array, ratio
from scorespace.tables.cluster import ClusterTable, ContingencyTable, cluster_table, contingency
from scorespace.tables.labels import label_text

MEASURES: Final = (
    *("silhouette", "davies_bouldin", "calinski_harabasz", "dunn"),
    *("border_distance", "centroid_distance", "radius", "radius(how=mean)", "density"),
)
TRUTH_MEASURES: Final = (
    *("ari", "ami", "nmi", "mutual_info", "purity", "homogeneity", "completeness", "v_measure", "pair_fm"),
)
MOST_PAIRS: Final = 30
"""Clusters up to which every two are told apart by their borders."""
_UNEVEN: Final = 10.0
_MISPLACED: Final = 0.1

Scale = Literal["none", "standard"]


@dataclass(frozen=True)
class Cluster:
    """One cluster: how many points, how wide, how dense, how near to the next."""

    name: str
    points: float
    silhouette: float
    radius: float
    mean_radius: float
    density: float
    nearest: str | None
    border_distance: float
    centroid_distance: float
    diameter: float
    jaccard: float


@dataclass(frozen=True)
class Labelling:
    """A column of labels: its clusters, its indices with intervals, and how well it holds in resamples.

    `distances` tells for every two clusters how near their borders and their centroids are. `misplaced` is the share
    of points that are nearer to another cluster than to their own.
    """

    name: str
    clusters: tuple[Cluster, ...]
    estimates: tuple[Estimate, ...]
    distances: tuple[tuple[str, str, float, float], ...]
    misplaced: float
    stability: Stability | None
    left_out: int
    table: ClusterTable = field(repr=False, compare=False)

    def __getitem__(self, measure: str) -> Estimate:
        """The estimate of a measure, by its name as it was asked for."""
        wanted = str(parse(measure))
        return next(one for one in self.estimates if str(one.spec) == wanted)

    def value(self, measure: str) -> float:
        """The value of a measure where it was asked for, else NaN."""
        return next((one.value for one in self.estimates if str(one.spec) == measure), math.nan)


@dataclass(frozen=True, repr=False)
class Clusters(Result):
    """Labellings of the same points, judged by the distances between them and beside known classes if there are any.

    `agreement` holds the adjusted Rand index and the adjusted mutual information of every two labellings.
    """

    name: str
    points: int
    features: tuple[str, ...]
    labellings: tuple[Labelling, ...]
    agreement: tuple[tuple[str, str, float, float], ...]
    truth: str | None
    scale: str
    level: float
    spreads: tuple[float, ...]
    grouped: bool = False
    data_notes: tuple[Note, ...] = field(default=(), repr=False)

    def __iter__(self) -> Iterator[Labelling]:
        return iter(self.labellings)

    def __len__(self) -> int:
        return len(self.labellings)

    def __getitem__(self, label: str) -> Labelling:
        for one in self.labellings:
            if one.name == label:
                return one
        raise ColumnError(
            f"there is no labelling {label!r}.",
            seen=listing([one.name for one in self.labellings]),
            hint="one of these",
        )

    @property
    def words(self) -> str:
        """How well apart the clusters are, and which labelling is best by which index."""
        parts = [_of_labelling(one, self) for one in self.labellings]
        if len(self.labellings) > 1:
            parts.append(self._best())
        return "\n".join(part for part in parts if part)

    def _best(self) -> str:
        """Which labelling the indices prefer."""
        favourites: dict[str, list[str]] = {}
        for name in ("silhouette", "davies_bouldin", "calinski_harabasz", *(("ari",) if self.truth else ())):
            values = [one.value(name) for one in self.labellings]
            if not np.isfinite(values).any():
                continue
            low = parse(name).measure.best == "low"
            best = int(np.nanargmin(values) if low else np.nanargmax(values))
            favourites.setdefault(self.labellings[best].name, []).append(name)
        if not favourites:
            return ""
        if len(favourites) == 1:
            (best_one, by), *_ = favourites.items()
            return f"{best_one} is best by {joined(by)}."
        told = "; ".join(f"{who} by {joined(by)}" for who, by in favourites.items())
        return f"The indices disagree: best is {told}."

    @property
    def notes(self) -> tuple[Note, ...]:
        found = list(self.data_notes)
        many = len(self.labellings) > 1
        for one in self.labellings:
            of = f"{one.name}: " if many else ""
            found += [note(code, of + text) for code, text in _findings(one)]
        spread = [value for value in self.spreads if value > 0]
        if self.scale == "none" and len(spread) > 1 and max(spread) > _UNEVEN * min(spread):
            wide, narrow = (self.features[int(np.argmax(self.spreads))], self.features[self.spreads.index(min(spread))])
            times = grouped(round(max(spread) / min(spread)))
            text = f"{wide} spreads {times} times as widely as {narrow}: distances are mostly those of {wide}."
            found.append(note("SS051", text))
        if self.grouped and self.truth is not None:
            text = f"intervals of what is beside {self.truth} do not allow for groups of related points."
            found.append(note("SS020", text))
        if any(not math.isnan(one.low) for each in self.labellings for one in each.estimates):
            text = "intervals allow for the points that were drawn, not for clusters that would be found anew."
            found.append(note("SS058", text))
        return tuple(sorted(found, key=lambda one: ("warning", "info").index(one.level)))

    def rows(self) -> list[Row]:
        """A row for each measure of each labelling."""
        return [estimate.row() for one in self.labellings for estimate in one.estimates]

    def facts(self) -> Row:
        return {
            "data": {name: getattr(self, name) for name in ("name", "points", "features", "truth", "scale")},
            "clusters": [
                {"model": one.name, "cluster": each.name}
                | {key: value for key, value in vars(each).items() if key != "name"}
                for one in self.labellings
                for each in one.clusters
            ],
            "distances": [
                {"model": one.name, "a": a, "b": b, "border_distance": near, "centroid_distance": gap}
                for one in self.labellings
                for a, b, near, gap in one.distances
            ],
            "stability": [
                {"model": one.name} | {key: value for key, value in vars(one.stability).items() if key != "jaccard"}
                for one in self.labellings
                if one.stability is not None
            ],
            "agreement": [{"a": a, "b": b, "ari": rand, "ami": shared} for a, b, rand, shared in self.agreement],
        }


def clusters(
    data: Any,
    *,
    labels: str | Sequence[str],
    features: str | Sequence[str],
    truth: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    noise: Any = None,
    scale: Scale = "none",
    measures: str | Sequence[str] | None = None,
    resamples: int = 100,
    refit: Refit | None = None,
    missing: str = "error",
    level: float = 0.95,
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Clusters:
    """Judge the clusters that columns of `labels` name, of points whose `features` are columns or patterns (x*).

    Distances are Euclidean; `scale="standard"` divides every feature by its standard deviation first. Points with the
    label `noise` are in no cluster. With `truth` the clusters are compared with known classes. `resamples` says how
    often points are drawn again to see whether the clusters hold (0: not at all); `refit` finds clusters anew in each,
    such as `KMeans(3).fit_predict`.

    >>> found = clusters({"x": [0, 1, 1, 9, 8, 9], "k": list("aaabbb")}, labels="k", features="x", resamples=0)
    >>> found["k"]["silhouette"].value > 0.8
    True
    """
    check_level(level)
    named = (labels,) if isinstance(labels, str) else tuple(labels)
    if not named:
        raise ColumnError("no column of labels is named.", hint="labels=…")
    if scale not in ("none", "standard"):
        raise DataError(f"scale={scale!r} is not a way to scale features.", hint='scale="none" or "standard"')
    if not 0 <= resamples <= 10_000:
        raise DataError(
            f"resamples={resamples} is too {'small' if resamples < 0 else 'large'}.",
            hint="resamples=100, or 0 for none",
        )
    chosen = (features,) if isinstance(features, str) else tuple(features)
    specs = _specs(measures, truth)
    held = points(
        data,
        labels=list(dict.fromkeys(named)),
        features=chosen,
        truth=truth,
        weight=weight,
        group=group,
        missing=missing,
    )
    spreads = held.point.std(axis=0)
    if scale == "standard":
        if not (spreads > 0).any():
            raise DataError("all points coincide: no feature has any spread.", hint="other features")
        held.point[:] = (held.point - held.point.mean(axis=0)) / np.where(spreads > 0, spreads, 1.0)
    labelled = []
    for number, name in enumerate(held.labels):
        part = part_of(progress, number, len(held.labels))
        labelled.append(_labelling(held, name, noise, specs, resamples, refit, level, replicates, seed, part))
    return Clusters(
        held.name,
        len(held.point),
        held.features,
        tuple(labelled),
        _agreement(held),
        truth,
        scale,
        level,
        tuple(spreads.tolist()),
        group is not None,
        held.notes,
    )


def _specs(measures: str | Sequence[str] | None, truth: str | None) -> list[MeasureSpec]:
    """What is asked, each of clusters or of clusters beside classes."""
    if measures is None:
        return [parse(text) for text in (*MEASURES, *(TRUTH_MEASURES if truth is not None else ()))]
    specs = parse_list(measures) if isinstance(measures, str) else [parse(text) for text in measures]
    if not specs:
        raise MeasureError("no measure is named.", hint='measures="silhouette, dunn"')
    for spec in specs:
        if _beside_classes(spec) and truth is None:
            raise MeasureError(f"{spec} compares clusters with known classes.", hint="truth=…")
    return specs


def _beside_classes(spec: MeasureSpec) -> bool:
    return ContingencyTable in spec.measure.functions


def _labelling(
    held: Points,
    name: str,
    noise: Any,
    specs: Sequence[MeasureSpec],
    resamples: int,
    refit: Refit | None,
    level: float,
    replicates: int,
    seed: int,
    progress: Progress | None,
) -> Labelling:
    labels = held.labels[name]
    kept = np.ones(labels.size, dtype=bool)
    if noise is not None:
        kept = np.fromiter((label_text(one) != label_text(noise) for one in labels), dtype=bool, count=labels.size)
        if not kept.any():
            raise DataError(
                f"all points of {name!r} have the label {label_text(noise)!r} of noise.", hint="another label"
            )
    weight = None if held.weight is None else held.weight[kept]
    group = None if held.group is None else np.unique(held.group[kept], return_inverse=True)[1].astype(np.int32)
    table = cluster_table(held.point[kept], labels[kept], weight=weight, group=group)
    if len(table.names) > 1 and len(table.names) == table.label.size > 2:
        raise DataError(
            f"each point of {name!r} is a cluster of its own.",
            seen=f"{grouped(table.label.size)} labels of {grouped(table.label.size)} points",
            hint="labels=… a column that several points share",
        )
    whole = len(table.names) <= MOST_PAIRS
    if whole and len(table.names) > 1:
        _ = table.borders  # once for all that asks how near two clusters are
    tables: dict[str, Any] = {name: table}
    if held.truth is not None:
        tables[""] = contingency(held.truth[kept], labels[kept], weight=weight)
    draws = Draws(tables, replicates=replicates, seed=seed, progress=progress)
    wanted = {model: [spec for spec in specs if _beside_classes(spec) == (model == "")] for model in tables}
    found = {str(one.spec): replace(one, model=name) for one in estimates(wanted, draws, level=level)}
    told = tuple(found[str(spec)] for spec in specs)
    steady = stability(table, resamples, seed=seed, refit=refit) if resamples and len(table.names) > 1 else None
    own, misplaced = _silhouettes(table)
    return Labelling(
        name,
        _each(table, own, steady),
        told,
        _distances(table) if whole else (),
        misplaced,
        steady,
        int((~kept).sum()),
        table,
    )


def _silhouettes(table: ClusterTable) -> tuple[Array, float]:
    """The mean silhouette of each cluster, and the share of points whose own is negative."""
    if len(table.names) < 2:
        return np.full(1, np.nan), math.nan
    rows = silhouette_rows(table, 4000)
    values = silhouettes(table, rows)
    weight, label, size = table.weight[rows], table.label[rows], len(table.names)
    total, sums, negative = (
        np.bincount(label, part, minlength=size) for part in (weight, weight * values, weight * (values < 0))
    )
    means, below = ratio(sums, total), ratio(negative, total)
    return means, float((below * table.sizes).sum() / table.sizes.sum())


def _each(table: ClusterTable, silhouette: Array, steady: Stability | None) -> tuple[Cluster, ...]:
    """Every cluster with its own numbers."""
    alone = [table.inside(ClusterTable, name) for name in table.names]
    widths = [
        [float(one.measure.function(each, **dict(one.options))) for each in alone]
        for one in map(parse, ("radius", "radius(how=mean)", "density"))
    ]
    nearest: tuple[Sequence[Any], ...] = [None], [math.nan], [math.nan]
    if len(alone) > 1:
        who = [table.names[k] for k in np.argmin(table.known_borders, axis=1)]
        nearest = who, table.nearest.tolist(), np.fmin.reduce(table.gaps, axis=1).tolist()
    held = [math.nan] * len(alone) if steady is None else steady.jaccard
    sizes, own, wide = (column.tolist() for column in (table.sizes, silhouette, table.diameters))
    columns = zip(table.names, sizes, own, *widths, *nearest, wide, held, strict=True)
    return tuple(Cluster(*each) for each in columns)


def _distances(table: ClusterTable) -> tuple[tuple[str, str, float, float], ...]:
    return tuple(
        (table.names[i], table.names[j], float(table.borders[i, j]), float(table.gaps[i, j]))
        for i, j in combinations(range(len(table.names)), 2)
    )


def _agreement(held: Points) -> tuple[tuple[str, str, float, float], ...]:
    """How alike every two labellings are."""
    found = []
    for a, b in combinations(held.labels, 2):
        table = contingency(held.labels[a], held.labels[b], weight=held.weight)
        rand, shared = (bind(parse(name), table).value for name in ("ari", "ami"))
        found.append((a, b, rand, shared))
    return tuple(found)


# --- words


def _of_labelling(one: Labelling, of: Clusters) -> str:
    """What is to be said of one labelling in two sentences."""
    who = f"{one.name}: " if len(of.labellings) > 1 else ""
    if len(one.clusters) == 1:
        return f"{who}All points are in one cluster: there is nothing that it could be apart from."
    sizes = [each.points for each in one.clusters]
    same = min(sizes) == max(sizes)
    span = grouped(sizes[0]) if same else f"{grouped(min(sizes))} to {grouped(max(sizes))}"
    value = float(np.average([each.silhouette for each in one.clusters], weights=sizes))
    head = f"{who}{len(sizes)} clusters of {span} points are {_apart(value)} (silhouette {decimals(value, 2)})."
    loose = min(one.clusters, key=lambda each: each.silhouette)
    if len(sizes) > 2 and loose.silhouette < value - 0.1:
        head += f" {loose.name} is set apart least ({decimals(loose.silhouette, 2)}, next to {loose.nearest})."
    if one.stability is not None and math.isfinite(one.stability.ari):
        anew = "found anew" if one.stability.how == "refit" else "told by the nearest neighbours"
        head += f" In resamples, clusters {anew} agree with them by {decimals(one.stability.ari, 2)} (adjusted Rand)."
    known = one.value("ari")
    if of.truth is not None and math.isfinite(known):
        head += f" They agree with {of.truth} by {decimals(known, 2)}."
    return head


def _apart(silhouette: float) -> str:
    """The words of Kaufman and Rousseeuw for an average silhouette."""
    words = {0.7: "strongly set apart", 0.5: "reasonably set apart", 0.25: "weakly set apart"}
    return next((told for least, told in words.items() if silhouette > least), "hardly set apart at all")


def _findings(one: Labelling) -> Iterator[tuple[str, str]]:
    """Codes and texts of what is to be known of a labelling."""
    single = [each.name for each in one.clusters if each.points <= 1]
    if len(one.clusters) == 1:
        yield "SS052", "all points are in one cluster: indices that compare clusters are undefined."
    elif single:
        one_is = "1 cluster is" if len(single) == 1 else f"{len(single)} clusters are"
        yield "SS050", f"{one_is} a single point ({listing(single, 4)}): its silhouette counts as 0, its radius is 0."
    if one.misplaced > _MISPLACED:
        share = f"{decimals(100 * one.misplaced, 0)} % of the points"
        yield "SS054", f"{share} are nearer to another cluster than to their own (negative silhouette)."
    shaky = [each.name for each in one.clusters if each.jaccard < SHAKY]
    if shaky:
        how = "comes" if len(shaky) == 1 else "come"
        yield "SS057", f"{listing(shaky, 4)} {how} out otherwise when points are drawn again (Jaccard below {SHAKY})."
    if one.left_out:
        were = "1 point was" if one.left_out == 1 else f"{grouped(one.left_out)} points were"
        yield "SS055", f"{were} left out as being in no cluster."
    if len(one.clusters) > 1 and min(each.border_distance for each in one.clusters) == 0:
        yield "SS056", "points of different clusters coincide: their borders have no distance."
    if one.table.label.size > FEW_POINTS and len(one.clusters) > 1:
        some = f"{grouped(silhouette_rows(one.table, 4000).size)} of {grouped(one.table.label.size)} points"
        yield "SS053", f"the silhouette is that of {some}, each against all points."

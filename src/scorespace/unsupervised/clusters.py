"""Evaluate clusterings of the same points, by internal indices and against known classes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final, Literal

import numpy as np

from scorespace.errors import ColumnError, DataError, MeasureError, listing
from scorespace.inference.bootstrap import REPLICATES, BootstrapDraws
from scorespace.inference.estimate import Estimate, check_level, estimates
from scorespace.io.points import LabelledPoints, read_points
from scorespace.measures import MeasureSpec, parse, parse_list
from scorespace.measures.clusters import FEW_POINTS, silhouette_rows, silhouettes
from scorespace.measures.request import bind
from scorespace.results import Note, Progress, Result, Row, decimals, grouped, join_words, note, partial_progress
from scorespace.tables import Array, ratio
from scorespace.tables.clusters import ClusterTable, ContingencyTable, cluster_table, contingency
from scorespace.tables.labels import label_text
from scorespace.unsupervised.stability import UNSTABLE_JACCARD, ClusterStability, Refit, stability

MEASURES: Final = (
    *("silhouette", "davies_bouldin", "calinski_harabasz", "dunn"),
    *("border_distance", "centroid_distance", "radius", "radius(how=mean)", "density"),
)
TRUTH_MEASURES: Final = (
    *("ari", "ami", "nmi", "mutual_info", "purity", "homogeneity", "completeness", "v_measure", "pair_fm"),
)
MAX_CLUSTERS_FOR_PAIRS: Final = 30
"""Maximum number of clusters for which all pairwise border distances are computed."""
_UNEVEN_SPREAD_RATIO: Final = 10.0
_MISPLACED_SHARE: Final = 0.1

Scale = Literal["none", "standard"]


@dataclass(frozen=True)
class Cluster:
    """One cluster: its size, width, density and distance to the nearest cluster."""

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
    """A column of labels: its clusters, indices with intervals, and stability in resamples.

    `distances` holds border and centroid distance of every two clusters. `misplaced` is the share of points that are
    nearer to another cluster than to their own.
    """

    name: str
    clusters: tuple[Cluster, ...]
    estimates: tuple[Estimate, ...]
    distances: tuple[tuple[str, str, float, float], ...]
    misplaced: float
    stability: ClusterStability | None
    left_out: int
    table: ClusterTable = field(repr=False, compare=False)

    def __getitem__(self, measure: str) -> Estimate:
        """Estimate of a requested measure, by name."""
        name = str(parse(measure))
        return next(estimate for estimate in self.estimates if str(estimate.spec) == name)

    def value(self, measure: str) -> float:
        """Value of a requested measure, otherwise NaN."""
        return next((estimate.value for estimate in self.estimates if str(estimate.spec) == measure), math.nan)


@dataclass(frozen=True, repr=False)
class Clusters(Result):
    """Labellings of the same points, evaluated by distances and against known classes if there are any.

    Parameters
    ----------
    name : str
        Name of the data.
    points : int
        Number of points.
    features : tuple of str
        Columns of the features.
    labellings : tuple of Labelling
        Each column of labels with its clusters, measures and stability.
    agreement : tuple of tuple
        Two labellings, with their adjusted Rand index and adjusted mutual information.
    truth : str, optional
        Column of the known classes.
    scale : {"none", "standard"}
        Whether features were divided by their standard deviations.
    level : float
        Confidence level of the intervals.
    spreads : tuple of float
        Standard deviation of each feature.
    grouped : bool
        Whether points are grouped.
    data_notes : tuple of Note
        Notes on the data.
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
        for labelling in self.labellings:
            if labelling.name == label:
                return labelling
        raise ColumnError(
            f"there is no labelling {label!r}.",
            seen=listing([labelling.name for labelling in self.labellings]),
            hint="choose one of these",
        )

    @property
    def words(self) -> str:
        """How well the clusters are separated, and which labelling is best by which index."""
        parts = [_summarise_labelling(labelling, self) for labelling in self.labellings]
        if len(self.labellings) > 1:
            parts.append(self._best())
        return "\n".join(part for part in parts if part)

    def _best(self) -> str:
        """Which labelling the indices prefer."""
        favourites: dict[str, list[str]] = {}
        for name in ("silhouette", "davies_bouldin", "calinski_harabasz", *(("ari",) if self.truth else ())):
            values = [labelling.value(name) for labelling in self.labellings]
            if not np.isfinite(values).any():
                continue
            low = parse(name).measure.best == "low"
            best = int(np.nanargmin(values) if low else np.nanargmax(values))
            favourites.setdefault(self.labellings[best].name, []).append(name)
        if not favourites:
            return ""
        if len(favourites) == 1:
            (best_one, by), *_ = favourites.items()
            return f"{best_one} is best by {join_words(by)}."
        preferences = "; ".join(f"{name} by {join_words(by)}" for name, by in favourites.items())
        return f"The indices disagree: best is {preferences}."

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the data, the labellings and the scales of the features."""
        notes = list(self.data_notes)
        has_several = len(self.labellings) > 1
        for labelling in self.labellings:
            prefix = f"{labelling.name}: " if has_several else ""
            notes += [note(code, prefix + text) for code, text in _labelling_notes(labelling)]
        spread = [value for value in self.spreads if value > 0]
        if self.scale == "none" and len(spread) > 1 and max(spread) > _UNEVEN_SPREAD_RATIO * min(spread):
            wide, narrow = (self.features[int(np.argmax(self.spreads))], self.features[self.spreads.index(min(spread))])
            times = grouped(round(max(spread) / min(spread)))
            text = f"the standard deviation of {wide} is {times} times that of {narrow}, so {wide} dominates distances."
            notes.append(note("SS051", text))
        if self.grouped and self.truth is not None:
            text = f"intervals of comparisons with {self.truth} ignore the groups."
            notes.append(note("SS020", text))
        if any(not math.isnan(item.low) for labelling in self.labellings for item in labelling.estimates):
            text = "intervals reflect the sampling of points, not the uncertainty of the clustering itself."
            notes.append(note("SS058", text))
        return tuple(sorted(notes, key=lambda item: ("warning", "info").index(item.level)))

    def rows(self) -> list[Row]:
        """One row per measure and labelling."""
        return [estimate.row() for labelling in self.labellings for estimate in labelling.estimates]

    def facts(self) -> Row:
        """The data, the clusters, their distances and the agreement of labellings, for JSON."""
        return {
            "data": {name: getattr(self, name) for name in ("name", "points", "features", "truth", "scale")},
            "clusters": [
                {"model": labelling.name, "cluster": cluster.name}
                | {key: value for key, value in vars(cluster).items() if key != "name"}
                for labelling in self.labellings
                for cluster in labelling.clusters
            ],
            "distances": [
                {"model": labelling.name, "a": a, "b": b, "border_distance": border, "centroid_distance": centroid}
                for labelling in self.labellings
                for a, b, border, centroid in labelling.distances
            ],
            "stability": [
                {"model": labelling.name}
                | {key: value for key, value in vars(labelling.stability).items() if key != "jaccard"}
                for labelling in self.labellings
                if labelling.stability is not None
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
    """Evaluate clusters by the distances of their points, and against known classes if there are any.

    Distances are Euclidean.

    Parameters
    ----------
    data : path, data frame, or mapping of arrays
        A file (CSV, Parquet, JSON, Arrow), a frame of pandas, polars or pyarrow, or arrays by name.
    labels : str or sequence of str
        Columns with the cluster of each point, one per labelling.
    features : str or sequence of str
        Columns or patterns (x*) of the features.
    truth : str, optional
        Column of known classes, which the clusters are compared with.
    weight : str, optional
        Column of weights.
    group : str, optional
        Column that groups points, such as a patient.
    noise : object, optional
        Label of points that belong to no cluster.
    scale : {"none", "standard"}
        "standard" divides every feature by its standard deviation first.
    measures : str or sequence of str, optional
        Which measures, such as ``"silhouette, dunn"``.
    resamples : int
        Number of bootstrap samples for stability; 0 for none.
    refit : callable, optional
        Clusters each bootstrap sample, such as ``KMeans(3).fit_predict``.
    missing : {"error", "drop"}
        Whether rows with missing values are refused or dropped.
    level : float
        Confidence level of the intervals.
    replicates : int
        Number of bootstrap replicates of the intervals.
    seed : int
        Seed of all random draws; equal seeds give equal results.
    progress : callable, optional
        Called with the share of the work that is done, from 0 to 1.

    Returns
    -------
    Clusters
        Measures with confidence intervals, stability and notes for each labelling.

    References
    ----------
    Hennig, C. (2007). Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis, 52(1),
    258-271.

    Rousseeuw, P. J. (1987). Silhouettes: a graphical aid to the interpretation and validation of cluster analysis.
    Journal of Computational and Applied Mathematics, 20, 53-65.

    Examples
    --------
    >>> found = clusters({"x": [0, 1, 1, 9, 8, 9], "k": list("aaabbb")}, labels="k", features="x", resamples=0)
    >>> found["k"]["silhouette"].value > 0.8
    True
    """
    check_level(level)
    label_columns = (labels,) if isinstance(labels, str) else tuple(labels)
    if not label_columns:
        raise ColumnError("no label column is given.", hint="labels=…")
    if scale not in ("none", "standard"):
        raise DataError(f"scale={scale!r} is unknown.", hint='scale="none" or "standard"')
    if not 0 <= resamples <= 10_000:
        raise DataError(
            f"resamples={resamples} is too {'small' if resamples < 0 else 'large'}.",
            hint="resamples=100, or 0 for none",
        )
    patterns = (features,) if isinstance(features, str) else tuple(features)
    specs = _resolve_measures(measures, truth)
    sample = read_points(
        data,
        labels=list(dict.fromkeys(label_columns)),
        features=patterns,
        truth=truth,
        weight=weight,
        group=group,
        missing=missing,
    )
    spreads = sample.point.std(axis=0)
    if scale == "standard":
        if not (spreads > 0).any():
            raise DataError("all points coincide: every feature is constant.", hint="use other features")
        sample.point[:] = (sample.point - sample.point.mean(axis=0)) / np.where(spreads > 0, spreads, 1.0)
    labellings = []
    for number, name in enumerate(sample.labels):
        part = partial_progress(progress, number, len(sample.labels))
        labellings.append(
            _evaluate_labelling(sample, name, noise, specs, resamples, refit, level, replicates, seed, part)
        )
    return Clusters(
        sample.name,
        len(sample.point),
        sample.features,
        tuple(labellings),
        _pairwise_agreement(sample),
        truth,
        scale,
        level,
        tuple(spreads.tolist()),
        group is not None,
        sample.notes,
    )


def _resolve_measures(measures: str | Sequence[str] | None, truth: str | None) -> list[MeasureSpec]:
    """Requested measures, or the default ones."""
    if measures is None:
        return [parse(text) for text in (*MEASURES, *(TRUTH_MEASURES if truth is not None else ()))]
    specs = parse_list(measures) if isinstance(measures, str) else [parse(text) for text in measures]
    if not specs:
        raise MeasureError("no measure is given.", hint='measures="silhouette, dunn"')
    for spec in specs:
        if _needs_classes(spec) and truth is None:
            raise MeasureError(f"{spec} compares clusters with known classes.", hint="truth=…")
    return specs


def _needs_classes(spec: MeasureSpec) -> bool:
    return ContingencyTable in spec.measure.functions


def _evaluate_labelling(
    sample: LabelledPoints,
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
    """Evaluate one column of labels."""
    labels = sample.labels[name]
    is_clustered = np.ones(labels.size, dtype=bool)
    if noise is not None:
        is_clustered = np.fromiter(
            (label_text(label) != label_text(noise) for label in labels), dtype=bool, count=labels.size
        )
        if not is_clustered.any():
            raise DataError(
                f"all points of {name!r} have the noise label {label_text(noise)!r}.", hint="use another noise label"
            )
    weight = None if sample.weight is None else sample.weight[is_clustered]
    group = (
        None if sample.group is None else np.unique(sample.group[is_clustered], return_inverse=True)[1].astype(np.int32)
    )
    table = cluster_table(sample.point[is_clustered], labels[is_clustered], weight=weight, group=group)
    if len(table.names) > 1 and len(table.names) == table.label.size > 2:
        raise DataError(
            f"every point of {name!r} is its own cluster.",
            seen=f"{grouped(table.label.size)} labels of {grouped(table.label.size)} points",
            hint="labels=… a column with fewer distinct labels",
        )
    has_few_clusters = len(table.names) <= MAX_CLUSTERS_FOR_PAIRS
    if has_few_clusters and len(table.names) > 1:
        _ = table.borders  # cached for all distance measures
    tables: dict[str, Any] = {name: table}
    if sample.truth is not None:
        tables[""] = contingency(sample.truth[is_clustered], labels[is_clustered], weight=weight)
    draws = BootstrapDraws(tables, replicates=replicates, seed=seed, progress=progress)
    specs_by_table = {model: [spec for spec in specs if _needs_classes(spec) == (model == "")] for model in tables}
    estimates_by_name = {
        str(item.spec): replace(item, model=name) for item in estimates(specs_by_table, draws, level=level)
    }
    ordered = tuple(estimates_by_name[str(spec)] for spec in specs)
    stability_result = (
        stability(table, resamples, seed=seed, refit=refit) if resamples and len(table.names) > 1 else None
    )
    silhouette_means, misplaced = _mean_silhouettes(table)
    return Labelling(
        name,
        _describe_clusters(table, silhouette_means, stability_result),
        ordered,
        _cluster_distances(table) if has_few_clusters else (),
        misplaced,
        stability_result,
        int((~is_clustered).sum()),
        table,
    )


def _mean_silhouettes(table: ClusterTable) -> tuple[Array, float]:
    """Mean silhouette of each cluster, and the share of points with a negative one (Rousseeuw 1987)."""
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


def _describe_clusters(
    table: ClusterTable, silhouette: Array, stability_result: ClusterStability | None
) -> tuple[Cluster, ...]:
    """Size, width, density, nearest cluster and stability of every cluster."""
    cluster_tables = [table.inside(ClusterTable, name) for name in table.names]
    widths = [
        [float(spec.measure.function(cluster, **dict(spec.options))) for cluster in cluster_tables]
        for spec in map(parse, ("radius", "radius(how=mean)", "density"))
    ]
    nearest: tuple[Sequence[Any], ...] = [None], [math.nan], [math.nan]
    if len(cluster_tables) > 1:
        nearest_names = [table.names[k] for k in np.argmin(table.known_borders, axis=1)]
        nearest = nearest_names, table.nearest.tolist(), np.fmin.reduce(table.gaps, axis=1).tolist()
    jaccards = [math.nan] * len(cluster_tables) if stability_result is None else stability_result.jaccard
    sizes, silhouettes_listed, diameters = (column.tolist() for column in (table.sizes, silhouette, table.diameters))
    columns = zip(table.names, sizes, silhouettes_listed, *widths, *nearest, diameters, jaccards, strict=True)
    return tuple(Cluster(*values) for values in columns)


def _cluster_distances(table: ClusterTable) -> tuple[tuple[str, str, float, float], ...]:
    return tuple(
        (table.names[i], table.names[j], float(table.borders[i, j]), float(table.gaps[i, j]))
        for i, j in combinations(range(len(table.names)), 2)
    )


def _pairwise_agreement(sample: LabelledPoints) -> tuple[tuple[str, str, float, float], ...]:
    """Adjusted Rand index and adjusted mutual information of every two labellings."""
    results = []
    for a, b in combinations(sample.labels, 2):
        table = contingency(sample.labels[a], sample.labels[b], weight=sample.weight)
        rand, shared = (bind(parse(name), table).value for name in ("ari", "ami"))
        results.append((a, b, rand, shared))
    return tuple(results)


# --- text


def _summarise_labelling(labelling: Labelling, result: Clusters) -> str:
    """Summary of one labelling in a few sentences."""
    prefix = f"{labelling.name}: " if len(result.labellings) > 1 else ""
    if len(labelling.clusters) == 1:
        return f"{prefix}All points are in one cluster, so separation is undefined."
    sizes = [cluster.points for cluster in labelling.clusters]
    same = min(sizes) == max(sizes)
    span = grouped(sizes[0]) if same else f"{grouped(min(sizes))} to {grouped(max(sizes))}"
    value = float(np.average([cluster.silhouette for cluster in labelling.clusters], weights=sizes))
    separation = f"{_separation_text(value)} (silhouette {decimals(value, 2)})"
    head = f"{prefix}{len(sizes)} clusters of {span} points are {separation}."
    loose = min(labelling.clusters, key=lambda cluster: cluster.silhouette)
    if len(sizes) > 2 and loose.silhouette < value - 0.1:
        head += f" {loose.name} is separated least ({decimals(loose.silhouette, 2)}, next to {loose.nearest})."
    if labelling.stability is not None and math.isfinite(labelling.stability.ari):
        method = "refitted clusters" if labelling.stability.how == "refit" else "clusters of the nearest neighbours"
        ari_text = decimals(labelling.stability.ari, 2)
        head += f" In bootstrap samples, {method} agree with them: adjusted Rand index {ari_text}."
    ari_with_truth = labelling.value("ari")
    if result.truth is not None and math.isfinite(ari_with_truth):
        head += f" Adjusted Rand index with {result.truth}: {decimals(ari_with_truth, 2)}."
    return head


def _separation_text(silhouette: float) -> str:
    """Interpretation of an average silhouette by Kaufman and Rousseeuw (1990)."""
    words = {0.7: "strongly separated", 0.5: "reasonably separated", 0.25: "weakly separated"}
    return next((text for least, text in words.items() if silhouette > least), "hardly separated")


def _labelling_notes(labelling: Labelling) -> Iterator[tuple[str, str]]:
    """Yield codes and texts of notes on a labelling."""
    singletons = [cluster.name for cluster in labelling.clusters if cluster.points <= 1]
    if len(labelling.clusters) == 1:
        yield "SS052", "all points are in one cluster, so indices that compare clusters are undefined."
    elif singletons:
        subject = "1 cluster has" if len(singletons) == 1 else f"{len(singletons)} clusters have"
        yield "SS050", f"{subject} a single point ({listing(singletons, 4)}), with silhouette and radius 0."
    if labelling.misplaced > _MISPLACED_SHARE:
        share = f"{decimals(100 * labelling.misplaced, 0)} % of the points"
        yield "SS054", f"{share} are nearer to another cluster than to their own (negative silhouette)."
    unstable = [cluster.name for cluster in labelling.clusters if cluster.jaccard < UNSTABLE_JACCARD]
    if unstable:
        verb = "is" if len(unstable) == 1 else "are"
        yield (
            "SS057",
            f"{listing(unstable, 4)} {verb} unstable in bootstrap samples (mean Jaccard below {UNSTABLE_JACCARD}).",
        )
    if labelling.left_out:
        subject_left_out = "1 point was" if labelling.left_out == 1 else f"{grouped(labelling.left_out)} points were"
        yield "SS055", f"{subject_left_out} excluded as noise."
    if len(labelling.clusters) > 1 and min(cluster.border_distance for cluster in labelling.clusters) == 0:
        yield "SS056", "points of different clusters coincide, so their border distance is 0."
    if labelling.table.label.size > FEW_POINTS and len(labelling.clusters) > 1:
        sampled = (
            f"{grouped(silhouette_rows(labelling.table, 4000).size)} of {grouped(labelling.table.label.size)} points"
        )
        yield "SS053", f"the silhouette is computed for {sampled}, each against all points."

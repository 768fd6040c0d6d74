"""Clusters beside scikit-learn, and rules beside mlxtend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score
from timing import Line, fresh, in_turns, installed, seconds, shown, spaced

from scorespace.measures.clusters import border_distance, calinski_harabasz, davies_bouldin, dunn, silhouette
from scorespace.tables.clusters import cluster_table
from scorespace.unsupervised.clusters import clusters
from scorespace.unsupervised.rules import rules

FEATURES = 10
CLUSTERS = 20
ITEMS = 100
SECONDS = 60
MOST_MEMORY = 1000  # MB
BESIDE = 10_000  # points whose silhouettes scikit-learn computes in some seconds
PEER = 20_000  # transactions: more of them, and mlxtend takes minutes and gigabytes


def blobs(rows: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points of twenty clusters that touch, in ten dimensions."""
    rng = np.random.default_rng(0)
    centres, labels = rng.normal(0, 3, (CLUSTERS, FEATURES)), rng.integers(0, CLUSTERS, rows)
    return centres[labels] + rng.normal(0, 1, (rows, FEATURES)), labels


def baskets(rows: int) -> dict[str, NDArray[np.bool_]]:
    """Transactions of about eleven items each, three of which go together."""
    rng = np.random.default_rng(0)
    held = {f"i{k}": rng.random(rows) < share for k, share in enumerate(np.linspace(0.02, 0.2, ITEMS))}
    held["i99"] |= held["i50"] & held["i20"]
    return held


def judged(rows: int) -> None:
    """Indices of clusters, each with its table, and the whole verb."""
    points, labels = blobs(rows)
    few = slice(0, BESIDE)
    part = min(rows, BESIDE)
    pairs: list[tuple[str, Any, Any, slice]] = [
        (f"silhouette, {spaced(part)} points", lambda t: silhouette(t, points=0), silhouette_score, few),
        ("Davies-Bouldin", davies_bouldin, davies_bouldin_score, slice(None)),
        ("Calinski-Harabasz", calinski_harabasz, calinski_harabasz_score, slice(None)),
    ]
    for name, ours, theirs, rows_used in pairs:
        x, k = points[rows_used], labels[rows_used]
        times = in_turns(lambda x=x, k=k, f=ours: f(cluster_table(x, k)), lambda x=x, k=k, f=theirs: f(x, k))
        print(Line(name, times[0], "scikit-learn", times[1]))
    for name, measure in (("border distance", border_distance), ("Dunn", dunn), ("silhouette of a part", silhouette)):
        print(f"  {name:<36}{shown(seconds(lambda f=measure: f(cluster_table(points, labels)))):>9}")
    data = {**{f"x{k}": points[:, k] for k in range(FEATURES)}, "k": labels}
    whole = seconds(lambda: clusters(data, labels="k", features="x*"), 1)
    verdict = "met" if whole < SECONDS else "MISSED"
    print(f"  {'all with intervals and stability':<36}{shown(whole):>9}   aim < {SECONDS} s: {verdict}")


def mined(rows: int) -> None:
    """Rules of up to three items at one percent of the transactions: time, memory, and mlxtend on a part."""
    data = baskets(rows)
    print(f"  {'rules of up to 3 items':<36}{shown(seconds(lambda: rules(data, min_support=0.01))):>9}")
    peak = fresh(
        "import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from groups import baskets\n"
        "from scorespace.unsupervised.rules import rules\n"
        "def peak():  # in megabytes, of this process alone\n"
        "    lines = open('/proc/self/status').read().splitlines()\n"
        "    return next(float(line.split()[1]) for line in lines if line.startswith('VmHWM')) / 1024\n"
        f"data = baskets({rows})\n"
        "before = peak()\n"
        "rules(data, min_support=0.01)\n"
        "print(peak() - before)\n"
    )
    verdict = "met" if peak < MOST_MEMORY else "MISSED"
    print(f"  {'peak memory beyond the columns':<36}{peak:>6.0f} MB   aim < 1 GB: {verdict}")
    if not installed("mlxtend"):
        return
    import pandas as pd
    from mlxtend.frequent_patterns import association_rules, fpgrowth

    part = {name: column[:PEER] for name, column in data.items()}
    frame = pd.DataFrame(part)

    def theirs() -> object:
        return association_rules(fpgrowth(frame, min_support=0.01, use_colnames=True, max_len=3), min_threshold=0.0)

    times = in_turns(lambda: rules(part, min_support=0.01, redundant=True), theirs, runs=1)
    print(Line(f"rules, {spaced(min(rows, PEER))} transactions", times[0], "mlxtend fpgrowth", times[1]))

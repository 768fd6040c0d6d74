"""Group-by over bins of scores inside an engine, and validation of the rows from its counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError
from scorespace.io.column_values import as_label, as_number, if_else
from scorespace.io.memory import count_rows
from scorespace.io.roles import Roles
from scorespace.io.source import Frame, Source
from scorespace.io.tabulate import Groups
from scorespace.io.validation import MAX_CLASSES, CountedRows, Sample
from scorespace.tables import ScoreTable
from scorespace.tables.bins import BITS, MIDDLE, bin_number, bin_of_score, split_at_edge
from scorespace.tables.columns import MAX_EXACT_INTEGER, MIN_MAGNITUDE
from scorespace.tables.scores import binned_score_table


@dataclass(frozen=True)
class BinnedScan:
    """Group-by over bins of scores; bins drop `bits` bits, and none contains an edge.

    For each bin and label, groups hold the number of rows, their weight, the lowest and highest score, and score sums.
    """

    source: Source
    roles: Roles
    bits: int
    edges: tuple[float, ...] = ()

    def bins(self, frame: Frame, column: str, first: Sequence[Any] = ()) -> Groups:
        """Bins of a score column by label; `first` are the labels of the first rows."""
        score, labels, ranged = as_number(column), as_label(frame, self.roles.truth), self.source.ranged
        if ranged is not None and frame is ranged[0] and self.bits == BITS:
            found = self._numbered(ranged[1](), score, labels, first)
            if found is not None:
                return found
        return self.grouped(frame, score, labels)

    def _numbered(self, frame: Frame, score: nw.Expr, labels: nw.Expr, first: Sequence[Any]) -> Groups | None:
        """Count bins in the middle range by integer key, twice as fast as hashing; a second scan counts the rest.

        Only for two labels and files that store column ranges. None if NaN or a third label may have been missed.
        """
        if first and all(type(value) is int and value in (0, 1) for value in first):
            label_values, is_known, code = (
                [0, 1],
                (labels >= 0) & (labels <= 1),
                labels,
            )  # answered by the file statistics
        elif len(first) == 2 and not any(value is None or value != value for value in first):
            label_values = list(first)
            is_known, code = labels.is_in(label_values), if_else(labels == label_values[1], 1, 0)
        else:
            return None
        low, high = MIDDLE
        in_range, out_of_range = (
            (score >= low) & (score <= high) & is_known,
            (score < low) | (score > high) | score.is_null(),
        )
        try:
            middle = self.grouped(frame.filter(in_range), score, code, numbers=True)
            rest = self.grouped(frame.filter(out_of_range), score, labels)
        except DataError:
            return None
        key = middle.pop("key")
        if hasattr(key, "mask"):
            return None
        if self.roles.weight is not None:
            key, middle["used"] = key // 2, key % 2 == 1
        middle |= {"cell": (key // 2).astype(np.float64), "label": np.array(label_values, rest["label"].dtype)[key % 2]}
        combined = {name: _concatenate([middle[name], column]) for name, column in rest.items()}
        return combined if int(combined["rows"].sum()) == count_rows(self.source) else None

    def grouped(
        self, frame: Frame, score: nw.Expr, labels: nw.Expr, *, numbers: bool = False, by: nw.Expr | None = None
    ) -> Groups:
        """Group rows by bin, label, whether they have weight, and a further key.

        With numbered bins and 0/1 labels these are packed into one integer key, which takes two thirds of the time.
        """
        columns = {"score": score, "label": labels}
        if self.roles.weight is not None:
            weight = as_number(self.roles.weight)
            columns |= {"weight": weight, "used": weight != 0}
        if by is not None:
            columns["slice"] = by
        # In steps, since engines recompute repeated subexpressions.
        bin_key = bin_number(score, self.bits) if numbers else bin_of_score(score, self.bits, if_else)
        keyed = frame.select(**columns, cell=bin_key)
        x, w = nw.col("score"), nw.col("weight")
        for edge in self.edges:
            # Each edge below a score shifts its bin number by one, so that edges split bins.
            shifted = nw.col("cell") + if_else(x >= edge, 1, 0)
            keyed = keyed.with_columns(
                (shifted if numbers else split_at_edge(nw.col("cell"), x, edge, if_else)).alias("cell")
            )
        # Products become columns first, since some engines only sum plain columns.
        products = {"first": x, "second": x * x}
        aggregates: dict[str, nw.Expr] = {"rows": nw.len(), "low": x.min(), "high": x.max()}
        if "weight" in columns:
            products = {**{name: product * w for name, product in products.items()}, "squares": w * w}
            aggregates |= {"weight": w.sum(), "least": w.min()}
        aggregates |= {name: nw.col(name).sum() for name in products}
        values = {name: nw.col(name) for name in columns if name in ("score", "weight")}
        keys = {name: nw.col(name) for name in ("cell", *columns) if name not in values}
        if numbers:
            key = nw.col("cell") * 2 + nw.col("label")
            key = key * 2 + nw.col("used").cast(nw.Int8) if "used" in columns else key
            keys = {"key": key.cast(nw.Int64)}
        prepared = keyed.select(**keys, **values, **products)
        return self.source.arrays(prepared.group_by(*keys).agg(**aggregates))

    def exact(self, table: ScoreTable) -> ScoreTable:
        """Mark the table as exact if no bits were dropped."""
        return table if self.bits else table.uncertain()

    def table(self, sample: Sample, groups: Groups) -> ScoreTable:
        return self.table_of(groups, sample.labels, sample.classes, sample.positive_name)

    def table_of(
        self, groups: Groups, labels: Mapping[Any, int], classes: tuple[str, ...], positive: str | None
    ) -> ScoreTable:
        """Build the score table of the groups."""
        used = _has_weight(groups)
        values, index = _distinct_labels(groups["label"][used])
        code = np.array([labels[value] for value in values], dtype=np.intp)[index]
        rows = groups["rows"][used].astype(np.int64)
        weight = groups["weight"][used].astype(np.float64) if "weight" in groups else rows
        has_own_squares = "weight" in groups and not self.roles.copies
        squares = groups["squares"][used].astype(np.float64) if has_own_squares else None
        low, high, first, second = (
            groups[name][used].astype(np.float64) for name in ("low", "high", "first", "second")
        )
        if np.isnan(low).any():
            raise DataError(
                "some scores are NaN, which DuckDB can miss in Parquet files.",
                seen="a DuckDB relation with its own settings",
                hint="pass the path of the file instead of the relation",
            )
        scores = low, high, first, second
        return binned_score_table(code, weight, squares, *scores, classes, positive, self.bits, self.edges)


def _concatenate(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    if any(hasattr(part, "mask") for part in parts):  # importing np.ma takes 15 ms
        joined: NDArray[Any] = np.ma.concatenate(parts)  # type: ignore[no-untyped-call]
        return joined
    return np.concatenate(parts)


def _has_weight(groups: Groups) -> NDArray[np.bool_]:
    """Groups of rows with a weight."""
    return np.asarray(groups["used"], dtype=bool) if "used" in groups else np.ones(groups["rows"].size, dtype=bool)


def _distinct_labels(labels: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Distinct labels and the index of each; text is hashed, which is faster than sorting."""
    if labels.dtype != object:
        values, index = np.unique(labels, return_inverse=True)
        return values.tolist(), index
    indices: dict[Any, int] = {}
    index = np.fromiter((indices.setdefault(text, len(indices)) for text in labels.tolist()), np.intp, labels.size)
    return list(indices), index


def counted_rows(roles: Roles, counted: Mapping[str, Groups]) -> CountedRows | None:
    """Row and label counts from the groups, or None if some value is invalid and needs a closer look."""
    if not counted or not all(_is_valid(groups, roles.weight is not None) for groups in counted.values()):
        return None
    groups = next(iter(counted.values()))
    used = _has_weight(groups)
    labels, index = _distinct_labels(groups["label"][used])
    if not labels or len(labels) > MAX_CLASSES:
        return None
    sizes = np.zeros(len(labels), dtype=np.int64)
    np.add.at(sizes, index, groups["rows"][used])
    return CountedRows(int(groups["rows"].sum()), int(sizes.sum()), dict(zip(labels, sizes.tolist(), strict=True)))


def _is_valid(groups: Groups, weighted: bool) -> bool:
    """Whether no score, label or weight in the groups is missing, infinite or otherwise invalid."""
    if any(hasattr(column, "mask") and np.ma.is_masked(column) for column in groups.values()):
        return False
    ends = [np.asarray(groups[name], dtype=np.float64) for name in ("low", "high", "cell")]
    if not all(np.all(np.abs(end) < MAX_EXACT_INTEGER) for end in ends):  # False for NaN, too
        return False
    labels = groups["label"]
    if labels.dtype.kind == "f" and not np.all((np.abs(labels) < MAX_EXACT_INTEGER) & (labels == np.floor(labels))):
        return False
    if labels.dtype == object and any(value is None or value != value for value in labels.tolist()):
        return False
    if not weighted:
        return True
    weight = np.asarray(groups["weight"], dtype=np.float64)
    is_nonnegative = bool(np.all(np.asarray(groups["least"], dtype=np.float64) >= 0))
    has_safe_size = bool(np.all((weight == 0) | (weight >= MIN_MAGNITUDE)))
    return (
        is_nonnegative and has_safe_size and bool(np.isfinite(weight).all()) and float(weight.sum()) < MAX_EXACT_INTEGER
    )

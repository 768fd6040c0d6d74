"""Cases of which only some have a truth, while a proxy (another label, or a probability) may be known for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError
from scorespace.results import count_noun, grouped
from scorespace.tables.paired import PairTable
from scorespace.tables.table import Array

MIN_LABELLED: Final = 30
"""Rows with a truth below which nothing is estimated."""
MIN_PER_CLASS: Final = 10
"""Rows with a truth in each class below which nothing is estimated."""
MIN_VERIFIED: Final = 3
"""Rows of a class in a stratum below which an interval is not reliable."""

Design = Literal["random", "probabilities", "strata"]


@dataclass(frozen=True, eq=False)
class PartialTruth:
    """The models of a sample in which some rows have a truth, and all may have a proxy.

    `cases` holds each labelled row once, with its truth, and then each row with its proxy: once for each class, with
    the `share` of the row that the proxy gives to this class. `row` is the row of each of these cases; the first
    `truths` of them have a truth. `probability` is the probability with which each row was chosen to be labelled (NaN
    where unknown), `stratum` the value that decided which rows were labelled, an index of `strata`.

    >>> from scorespace.tables.paired import pair_table
    >>> pairs = pair_table([1, 0, 1, 1, 0], {"s": [0.9, 0.1, 0.9, 0.1, 0.5]})
    >>> partial_truth(pairs, [0, 1, 0, 1, 2], 2, 3).labelled.tolist()
    [True, True, False]
    """

    cases: PairTable
    row: NDArray[np.intp]
    share: NDArray[np.float64]
    truths: int
    rows: int
    probability: NDArray[np.float64] | None = None
    stratum: NDArray[np.intp] | None = None
    strata: tuple[str, ...] = ()
    numeric: bool = False
    proxy_values: NDArray[np.float64] | None = None
    """The proxy of each row as numbers: a column for each class, or its value in regression."""
    names: Mapping[str, str] | None = None
    """The columns of the truth, the proxy, the probabilities and the strata."""

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Whether a row has a truth that counts."""
        found = np.zeros(self.rows, dtype=bool)
        found[self.row[: self.truths]] = True
        return found

    @property
    def has_proxy(self) -> bool:
        return self.truths < self.row.size

    @property
    def design(self) -> Design:
        """How the rows with a truth were chosen."""
        return "strata" if self.stratum is not None else "random" if self.probability is None else "probabilities"

    @property
    def class_sizes(self) -> dict[str, int]:
        """Labelled rows of each class; empty in regression."""
        if self.numeric:
            return {}
        counts = np.bincount(self.cases.code[: self.truths].astype(np.intp), minlength=len(self.cases.classes))
        return dict(zip(self.cases.classes, counts.tolist(), strict=True))

    def gold_weights(self, times: Array) -> Array:
        """Weight of each row with a truth, given how often each row is drawn; shape (…, rows).

        1 / probability where it is known; in strata, rows over labelled rows of the stratum, counted in each replicate.
        """
        gold = times * self.labelled
        if self.probability is not None:
            return np.divide(gold, self.probability, out=np.zeros_like(gold), where=gold > 0)
        if self.stratum is None:
            return gold
        member = (self.stratum[:, None] == np.arange(len(self.strata))).astype(np.float64)
        verified = gold @ member
        factor = np.divide(times @ member, verified, out=np.full_like(verified, np.nan), where=verified > 0)
        return np.asarray(gold * factor[..., self.stratum])

    def half_cases(self) -> Array:
        """Half a case for each class in each stratum, spread over its labelled rows; zeros without strata.

        Added to replicates, so that a class without a drawn case in a stratum keeps a share above 0.
        """
        found = np.zeros(self.rows)
        if self.stratum is None or self.numeric:
            return found
        rows = self.row[: self.truths]
        cell = self.stratum[rows] * len(self.cases.classes) + self.cases.code[: self.truths]
        found[rows] = 0.5 / np.bincount(cell)[cell]
        return found

    def flip_rates(self) -> NDArray[np.float64]:
        """Probability that the label of the proxy is wrong in a replicate although it is right: half a case per class.

        One for each case with a truth; zeros where the proxy is no label. Few errors of a good proxy are seen, so
        replicates without it would hardly vary.
        """
        n, code = self.truths, self.cases.code[: self.truths].astype(np.intp)
        if self.numeric or not self.has_proxy or n == self.rows or ((self.share[n:] > 0) & (self.share[n:] < 1)).any():
            return np.zeros(n)
        return np.asarray(0.5 / np.bincount(code)[code])

    def fewest_verified(self) -> tuple[int, str, str] | None:
        """The fewest labelled rows of a class in a stratum that also has unlabelled rows, with its names."""
        if self.stratum is None or self.numeric:
            return None
        rows, size = self.row[: self.truths], len(self.cases.classes)
        cell = self.stratum[rows] * size + self.cases.code[: self.truths]
        counts = np.bincount(cell, minlength=len(self.strata) * size).reshape(-1, size)
        is_open = np.bincount(self.stratum, minlength=len(self.strata)) > counts.sum(axis=1)
        if not is_open.any():
            return None
        counts = np.where(is_open[:, None], counts, np.iinfo(np.int64).max)
        stratum, code = np.unravel_index(int(counts.argmin()), counts.shape)
        return int(counts.min()), self.strata[stratum], self.cases.classes[code]


def partial_truth(cases: PairTable, row: Any, truths: int, rows: int, share: Any = None, **fields: Any) -> PartialTruth:
    """Build the sample from cases whose first `truths` have a truth; `share` is 1 by default."""
    places = np.asarray(row, dtype=np.intp)
    shares = np.ones(places.size) if share is None else np.asarray(share, dtype=np.float64)
    return PartialTruth(cases, places, shares, truths, rows, **fields)


def check_partial_truth(sample: PartialTruth) -> None:
    """Refuse too few rows with a truth, strata without any, and a truth that is known only where the proxy is high."""
    if sample.truths < MIN_LABELLED:
        raise DataError(
            "too few rows have a truth.",
            seen=f"{count_noun(sample.truths, 'row')} of {grouped(sample.rows)}",
            hint=f"a truth for {MIN_LABELLED} rows at least, chosen at random",
        )
    name, fewest = min(sample.class_sizes.items(), key=lambda pair: pair[1], default=("", MIN_PER_CLASS))
    if fewest < MIN_PER_CLASS:
        raise DataError(
            f"too few rows with a truth are {name!r}.",
            seen=f"{grouped(fewest)} of {grouped(sample.truths)}",
            hint=f"a truth for {MIN_PER_CLASS} rows of each class at least",
        )
    if sample.stratum is not None:
        verified = np.bincount(sample.stratum[sample.labelled], minlength=len(sample.strata))
        if (verified == 0).any():
            raise DataError(
                f"no row with {sample.strata[int(verified.argmin())]!r} has a truth, so it can have any.",
                seen=f"{grouped(int((sample.stratum == verified.argmin()).sum()))} rows",
                hint="a truth for some rows of every stratum",
            )
    selection = selected_by_proxy(sample)
    if selection is not None and selection.apart:
        raise DataError(
            "the truth is known only where the proxy has certain values, so it says nothing about the other rows.",
            seen=f"mean proxy {selection.labelled:.3g} where the truth is known, {selection.others:.3g} elsewhere",
            hint="label rows chosen at random, or with known probabilities (scorespace label)",
        )


@dataclass(frozen=True)
class Selection:
    """How the proxy differs between rows with and without a truth: means, z statistic, and whether it is elsewhere.

    `apart`: many rows without a truth have a proxy beyond all those with one.
    """

    labelled: float
    others: float
    z: float
    apart: bool


_CLEAR_SELECTION: Final = 4.0  # standard errors: 1 in 16 000 random choices
_MOST_OUTSIDE: Final = 0.2  # of the rows without a truth; of 30 chosen at random, 2 in 31 are expected


def selected_by_proxy(sample: PartialTruth) -> Selection | None:
    """Whether rows with a truth differ in their proxy from the others, although they are taken as chosen at random."""
    values, gold = sample.proxy_values, sample.labelled
    if values is None or sample.design != "random" or gold.all():
        return None
    own, other = values[gold], values[~gold]
    error = np.sqrt(own.var(axis=0) / len(own) + other.var(axis=0) / len(other))
    gap = own.mean(axis=0) - other.mean(axis=0)
    z = np.divide(gap, error, out=np.where(gap == 0, 0.0, np.inf), where=error > 0)
    column = int(np.abs(z).argmax())
    if abs(z[column]) <= _CLEAR_SELECTION:
        return None
    own, other = own[:, column], other[:, column]
    outside = float(np.mean((other < own.min()) | (other > own.max())))
    return Selection(float(own.mean()), float(other.mean()), float(z[column]), outside > _MOST_OUTSIDE)

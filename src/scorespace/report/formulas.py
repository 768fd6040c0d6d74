"""Formulas of measures of decisions with the counts put in: PPV = 6 / (6 + 1) = 0.857."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from scorespace.measures import Measure
from scorespace.measures.catalog import find, measures
from scorespace.report.document import Grid
from scorespace.results import decimals, grouped
from scorespace.tables import Counts

_RATES: Final = ("TPR", "FPR", "TNR", "FNR", "PPV", "NPV", "prevalence", "accuracy", "expected")
_COUNTS: Final = ("TP", "FP", "FN", "TN", "P", "N", "PP", "PN")
_TERM: Final = re.compile(rf"(\d )?(?<!\w)({'|'.join((*_RATES, *_COUNTS, 'n'))})(?!\w)")
TAUGHT: Final = tuple(map(find, ("acc", "tpr", "tnr", "fpr", "ppv", "npv", "f1")))


def formula(measure: Measure) -> str | None:
    """The formula of a measure of decisions in terms of counts and rates, from its summary; None if it has others.

    >>> formula(find("ppv")), formula(find("f1"))
    ('TP / (TP + FP)', '2 TP / (2 TP + FP + FN)')
    """
    text = measure.summary.rpartition(": ")[2].rstrip(".")
    text = re.sub(r" \([A-Z][^()]*\d{4}\)$", "", text)  # without its reference
    text = text.rpartition(" = ")[2]
    unknown = re.findall(r"[A-Za-zβπ_]{2,}|[a-mo-zβπ]", _TERM.sub("", text).replace("max", ""))
    return None if unknown or measure.table is not Counts else text


def worked(measure: Measure, counts: Counts) -> str:
    """The measure on some counts, as formula, with the numbers put in, and as value.

    >>> worked(find("ppv"), Counts(tp=6, fp=1, fn=2, tn=3))
    'PPV = 6 / (6 + 1) = 0.857'
    """
    value = float(measure(counts))
    text = formula(measure)
    name = _symbol(measure)
    is_count = measure.name in ("tp", "fp", "fn", "tn", "p", "n", "pp", "pn")
    result = "undefined, 0 / 0" if math.isnan(value) else grouped(value) if is_count else decimals(value)
    if text is None or text in _COUNTS:
        return f"{name} = {result}"

    def number(found: re.Match[str]) -> str:
        factor = "" if found[1] is None else f"{found[1].strip()} · "
        return f"{factor}{_number(found[2], counts)}"

    return f"{name} = {_TERM.sub(number, text)} = {result}"


def _symbol(measure: Measure) -> str:
    short = {"tpr", "fpr", "tnr", "fnr", "ppv", "npv", "mcc", "f1", "tp", "fp", "fn", "tn", "p", "n", "pp", "pn"}
    return measure.name.upper() if measure.name in short else measure.title


def _number(term: str, counts: Counts) -> str:
    """A count, or a rate with three decimals."""
    if term == "n":
        return grouped(float(counts.total))
    if term in _COUNTS:
        return grouped(float(getattr(counts, term.lower())))
    if term == "expected":  # agreement by chance
        return decimals(float((counts.pp * counts.p + counts.pn * counts.n) / counts.total**2))
    return decimals(float(find({"accuracy": "acc"}.get(term, term.lower()))(counts)))


def worked_grid(counts: Counts, shown: Sequence[Measure] = TAUGHT) -> Grid:
    """The formulas of some measures with the counts put in."""
    rows = [(measure.title, worked(measure, counts).removeprefix(f"{measure.title} = ")) for measure in shown]
    return Grid(("measure", "on these counts"), tuple(rows))


def measures_of_decisions() -> list[Measure]:
    """All measures with a formula in counts and rates."""
    return [one for one in measures() if one.table is Counts and formula(one) is not None]

"""The cases with the highest scores: what share of them holds how many positives, as curves and in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scorespace.measures.confusion import lift, ppv, tpr
from scorespace.results import decimals, percent
from scorespace.tables import Counts, Top
from scorespace.views.answers import FEW, Answers
from scorespace.views.document import Block, Grid, Picture, Text
from scorespace.views.moving import curves_picture

SHARES: Final = (1, 5, 10, 20, 50)
"""Per cent of all cases that the numbers are told for."""

_FIRST: Final = 10  # that of the sentence


def blocks(evaluation: Answers) -> Sequence[Block]:
    """The section of a report, for models that score cases of both classes."""
    tables = {name: evaluation.in_use.score_table(name) for name in evaluation.models.thresholded}
    names = [name for name, table in tables.items() if table.n_pos * table.n_neg > 0]
    if not names:
        return []
    found = {
        name: {share: tables[name].inside(Counts, at=Top(float(share), True)) for share in SHARES} for name in names
    }
    shown = sorted(names, key=lambda name: -tpr(found[name][_FIRST]))[: FEW + 1]
    told = ", ".join(f"{percent(tpr(found[name][_FIRST]))} with {name}" for name in shown)
    rows = tuple((f"{share} %", *(_cell(found[name][share]) for name in names)) for share in SHARES)
    return [
        Text(f"Among the {_FIRST} % of the cases with the highest scores are, of all positives, {told}."),
        curves_picture(
            evaluation,
            "gain",
            "Share of the positives found against the share of cases looked at, highest scores first, by model.",
            "How many of the positives are found (up) when so many of the cases are looked at (right).",
        ),
        Picture(
            lambda: evaluation.drawing("lift"),
            "Lift against the share of cases looked at, highest scores first, by model.",
            "Lift: how many times as many positives as a random choice the cases looked at hold.",
        ),
        Grid(
            ("highest scores", *names),
            rows,
            "Positives found, share of the cases looked at that are positive, lift; cases that tie share the places.",
        ),
    ]


def _cell(counts: Counts) -> str:
    return f"{percent(tpr(counts))} found, {percent(ppv(counts))} right, lift {decimals(lift(counts), 2)}"

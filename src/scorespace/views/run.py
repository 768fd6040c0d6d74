"""The page of a run: how far each learner is on each data set, and what was noticed."""

from __future__ import annotations

from scorespace.experiments.store import Run, Status
from scorespace.results import decimals, grouped, so_many
from scorespace.views.document import Document, Grid, one_section


def document(run: Run) -> Document:
    """Where a run stands."""
    status = run.status()
    return one_section(status.path, facts(run), "Run", [status_grid(status)], status.words, status.notes)


def facts(run: Run) -> str:
    """How rows are split, and how much there is."""
    ways = {plan.described for plan in run.plans.values()}
    split = next(iter(ways)) if len(ways) == 1 else run.resampling
    sets, learners = so_many(len(run.datasets), "data set"), so_many(len(run.learners), "learner")
    return "   ".join((sets, learners, split, f"seed {run.seed}"))


def status_grid(status: Status) -> Grid:
    """A row per data set and learner."""
    rows = [
        (
            one.dataset,
            one.learner,
            f"{grouped(one.done)} of {grouped(one.splits)}",
            grouped(one.failed) if one.failed else "",
            decimals(one.seconds, 2),
        )
        for one in status.standings
    ]
    return Grid(("data set", "learner", "fits", "failed", "seconds"), tuple(rows)).without_blanks()

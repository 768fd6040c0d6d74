"""Suites: data sets, learners and a way of splitting that belong together, under one name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY
from typing import Final

from scorespace.declaration import Declaration, Registry, declaring
from scorespace.experiments.data import Dataset
from scorespace.experiments.smooth import SmoothReport, smooth_report
from scorespace.experiments.store import Run
from scorespace.experiments.uci import two_class_sets
from scorespace.frozen import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Suite(Declaration):
    """A function that reads data sets, and the learners and the resampling that belong to them."""

    function: Callable[[], Iterable[Dataset]]
    name: str
    _: KW_ONLY
    title: str
    learners: tuple[str, ...]
    resampling: str
    report: Callable[[Run], SmoothReport] | None = None
    aliases: tuple[str, ...] = ()


SUITES: Final[Registry[Suite]] = Registry("suite", "benchmark --help")


suite = declaring(SUITES, Suite)


@suite(
    "smooth-roc",
    title="Smooth ROC on 26 UCI-style sets",
    learners=("naive_bayes", "pet"),
    resampling="10x10",
    report=smooth_report,
)
def smooth_roc() -> Iterable[Dataset]:
    """26 two-class sets of the UCI kind, since those of the published experiment are not known by name."""
    return two_class_sets()

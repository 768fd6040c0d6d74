"""Suites: data sets, learners and a way of splitting that belong together, under one name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from scorespace.declaration import Option, Registry
from scorespace.experiments.data import Dataset
from scorespace.experiments.smooth import SmoothReport, smooth_report
from scorespace.experiments.store import Run
from scorespace.experiments.uci import two_class_sets

Reader = Callable[[], Iterable[Dataset]]
Report = Callable[[Run], SmoothReport]


@dataclass(frozen=True, eq=False)
class Suite:
    """A declared suite: where its data sets come from, and the learners and the resampling of its own."""

    function: Reader = field(repr=False)
    name: str
    title: str
    summary: str
    learners: tuple[str, ...]
    resampling: str
    report: Report | None = field(default=None, repr=False)
    aliases: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()


SUITES: Final[Registry[Suite]] = Registry("suite", "benchmark --help")


def suite(
    *, title: str, learners: tuple[str, ...], resampling: str, report: Report | None = None
) -> Callable[[Reader], Reader]:
    """Declare a suite: a function that reads its data sets."""

    def declare(function: Reader) -> Reader:
        summary = (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")
        name = function.__name__.replace("_", "-")
        SUITES.add(Suite(function, name, title, summary, learners, resampling, report))
        return function

    return declare


@suite(
    title="Smooth ROC on 26 UCI-style sets",
    learners=("naive_bayes", "pet"),
    resampling="10x10",
    report=smooth_report,
)
def smooth_roc() -> Iterable[Dataset]:
    """26 two-class sets of the UCI kind, since those of the published experiment are not known by name."""
    return two_class_sets()

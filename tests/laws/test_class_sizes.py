"""A measure says whether it depends on how many cases each class has, and it is true, both ways.

Cases are drawn within classes exactly for the measures whose value stays when one class is multiplied.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from laws.strategies import samples, value
from scorespace.measures import measures, parse
from scorespace.measures.request import bind
from scorespace.tables import ClassTable, Counts, ScoreTable, class_table, score_table

CATALOGUE = [measure for measure in measures() if measure.table in (Counts, ScoreTable)]
RNG = np.random.default_rng(1)
TRUTH = RNG.integers(0, 2, 40)
PLAIN = score_table(TRUTH, np.round(np.clip(0.3 * TRUTH + RNG.random(40) * 0.7, 0.05, 0.95), 2))
OTHER = score_table([1, 0, 1, 0, 0, 1], [0.5, 0.5, 0.5, 0.52, 0.53, 0.51])
SEVERAL = class_table(RNG.integers(0, 3, 60), RNG.dirichlet([1, 1, 1], 60))


def multiplied(table: ScoreTable, label: int, times: int) -> ScoreTable:
    """The table with every case of one class there so many times."""
    counts = table.counts.astype(float)
    counts[label] *= times
    return replace(table, counts=counts)


def measures_that(within: bool):
    chosen = [one for one in CATALOGUE if one.drawn_within() is within]
    return pytest.mark.parametrize("measure", chosen, ids=lambda one: one.name)


@measures_that(within=True)
@given(sample=samples(both=True), label=st.integers(0, 1), times=st.integers(2, 5))
@settings(max_examples=25)
def test_within_classes_the_size_of_a_class_does_not_matter(measure, sample, label, times):
    table = sample.unweighted()
    assert_allclose(value(measure, multiplied(table, label, times)), value(measure, table), atol=1e-9)


@measures_that(within=False)
def test_of_all_others_the_size_of_some_class_matters(measure):
    def of(table):
        if measure.name == "murphy_residual":  # 0 without bins, whatever the sample
            return np.asarray(measure(table, bins=3))
        return np.asarray(value(measure, table))

    changed = [(of(table), of(multiplied(table, label, 3))) for table in (PLAIN, OTHER) for label in (0, 1)]
    gaps = [np.nanmax(np.abs(after - before)) for before, after in changed]
    assert max(gaps) > 1e-6, "declare stratified=True: its value stays when a class is multiplied"


@pytest.mark.parametrize("text", ["cost(fp=1, fn=5, prevalence=0.2)@0.5", "nec(prevalence=0.2)@0.5"])
def test_a_stated_prevalence_makes_costs_a_matter_of_each_class_alone(text):
    assert bind(parse(text), PLAIN).within
    assert not bind(parse(text.replace(", prevalence=0.2", "").replace("(prevalence=0.2)", "")), PLAIN).within
    for label in (0, 1):
        again = multiplied(PLAIN, label, 4)
        assert bind(parse(text), again).value == pytest.approx(bind(parse(text), PLAIN).value)


def several(label: int, times: int) -> ClassTable:
    return SEVERAL.with_cells(np.where(SEVERAL.label == label, float(times), 1.0))


@pytest.mark.parametrize("text", ["auc[hand_till]", "auc[macro]", "auc[weighted]", "acc", "tpr[macro]", "auc[1]"])
def test_of_several_classes_requests_know_it_too(text):
    request = bind(parse(text), SEVERAL)
    gaps = [abs(bind(parse(text), several(label, 4)).value - request.value) for label in range(3)]
    assert not request.within or max(gaps) < 1e-9
    assert request.within == (text == "auc[hand_till]")


def test_areas_scale_as_declared():
    for measure in CATALOGUE:
        if measure.area is not None:
            slope, start = measure.in_auc(PLAIN)
            area = bind(parse("auc"), PLAIN).value
            assert measure(PLAIN) == pytest.approx(slope * area + start)

"""The area under the risk-coverage curve, counted case by case."""

import numpy as np
import pytest
from hypothesis import given, settings

import scorespace as ss
from laws.strategies import samples
from scorespace.curves import rejection
from scorespace.measures.rejection import aurc
from scorespace.tables import class_table, score_table


def by_hand(margin, wrong):
    """The mean over k of the share of errors among the k most certain; no two margins tie."""
    order = np.argsort(-margin)
    return float(np.mean(np.cumsum(wrong[order]) / np.arange(1, margin.size + 1)))


def test_two_classes_case_by_case():
    source = np.random.default_rng(1)
    truth, score = source.random(80) < 0.4, source.random(80)
    wrong = (score >= 0.3) != truth
    assert aurc(score_table(truth, score), at=0.3) == pytest.approx(by_hand(np.abs(score - 0.3), wrong))


def test_several_classes_case_by_case():
    source = np.random.default_rng(2)
    truth, score = source.integers(0, 3, 60), source.dirichlet(np.ones(3), 60)
    ordered = np.sort(score, axis=1)
    wrong = score.argmax(axis=1) != truth
    table = class_table(np.array(list("abc"))[truth], score, classes=list("abc"))
    assert aurc(table) == pytest.approx(by_hand(ordered[:, 2] - ordered[:, 1], wrong))


@given(samples(both=True))
@settings(max_examples=50)
def test_it_is_the_area_of_the_rejection_curve(sample):
    assert aurc(sample.table()) == pytest.approx(rejection(sample.table()).area())


def test_a_horizontal_curve_has_the_error_rate():
    # All margins tie: confidence carries no information.
    table = score_table([1, 1, 0, 0, 0], [0.7, 0.3, 0.3, 0.3, 0.7])
    assert aurc(table) == pytest.approx(2 / 5)


def test_drawn_again_a_group_may_be_empty():
    table = score_table([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1])
    without = table.with_cells(table.cells * np.array([1, 0, 1, 1, 1, 1, 1, 1]))
    kept = without.pos + without.neg > 0
    alone = score_table(
        np.repeat([1, 0], [int(without.n_pos), int(without.n_neg)]),
        [*np.repeat(without.score, without.pos.astype(int)), *np.repeat(without.score, without.neg.astype(int))],
    )
    assert kept.sum() == alone.score.size
    assert aurc(without) == pytest.approx(aurc(alone))


def test_by_its_name():
    truth, score = [1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1]
    assert ss.measure("risk_coverage_area", truth=truth, score=score) == pytest.approx((0 + 0 + 1 / 3 + 2 / 4) / 4)

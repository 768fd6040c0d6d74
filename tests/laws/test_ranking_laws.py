"""What the measures of ranking owe each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.strategies import samples, scores
from scorespace.curves import hull, pr, roc
from scorespace.measures.confusion import bacc, prevalence
from scorespace.measures.ranking import ap, auc, auch, auprc, gini, h, ks, pauc, u
from scorespace.tables import score_table

both = samples(both=True)
some = settings(max_examples=50)


@given(both)
@some
def test_auc_of_negated_scores_is_the_complement(sample):
    negated = score_table(sample.truth, [-s for s in sample.score], weight=sample.weight)
    assert auc(sample.table()) + auc(negated) == pytest.approx(1, abs=1e-12)


@given(samples(score=st.sampled_from([0.0, 1.0]), both=True))
@some
def test_auc_of_a_crisp_decision_is_balanced_accuracy(sample):
    table = sample.table()
    assert auc(table) == pytest.approx(bacc(table.at(0.5)), abs=1e-12)


@given(both)
@some
def test_gini_and_u_are_auc_on_other_scales(sample):
    table = sample.table()
    assert gini(table) == pytest.approx(2 * auc(table) - 1, abs=1e-12)
    assert u(table) == pytest.approx(auc(table) * table.n_pos * table.n_neg, abs=1e-9)


@given(both)
@some
def test_auc_is_the_area_of_the_roc_curve(sample):
    assert roc(sample.table()).area() == pytest.approx(auc(sample.table()), abs=1e-12)


@given(both)
@some
def test_auch_is_the_area_of_the_hull(sample):
    assert hull(sample.table()).area() == pytest.approx(auch(sample.table()), abs=1e-12)


@given(both)
@some
def test_the_hull_is_no_worse_than_the_curve_and_than_chance(sample):
    found = auch(sample.table())
    assert found >= auc(sample.table()) - 1e-12
    assert found >= 0.5 - 1e-12


@given(both)
@some
def test_auprc_is_the_area_of_the_precision_recall_curve(sample):
    assert pr(sample.table()).area() == pytest.approx(auprc(sample.table()), abs=1e-12)


@pytest.mark.parametrize("measure", [ap, auprc])
@given(sample=both, score=scores)
@some
def test_precision_of_a_constant_score_is_the_prevalence(measure, sample, score):
    table = score_table(sample.truth, [score] * len(sample), weight=sample.weight)
    assert measure(table) == pytest.approx(prevalence(table.at(score)), abs=1e-12)


@pytest.mark.parametrize(("measure", "chance"), [(auc, 0.5), (auch, 0.5), (gini, 0), (ks, 0), (h, 0)])
@given(sample=both, score=scores)
@some
def test_a_constant_score_ranks_by_chance(measure, chance, sample, score):
    table = score_table(sample.truth, [score] * len(sample), weight=sample.weight)
    assert measure(table) == pytest.approx(chance, abs=1e-12)


@pytest.mark.parametrize("measure", [auc, auch, gini, ks, ap, auprc, h])
@given(sample=both)
@some
def test_perfect_scores_have_the_value_one(measure, sample):
    table = score_table(sample.truth, sample.truth, weight=sample.weight)
    assert measure(table) == pytest.approx(1, abs=1e-12)


@given(sample=both, at=st.floats(0.05, 0.95))
@some
def test_partial_areas_add_up_to_the_area(sample, at):
    table = sample.table()
    assert pauc(table, fpr_high=at) + pauc(table, fpr_low=at) == pytest.approx(auc(table), abs=1e-12)
    assert pauc(table, tpr_high=at) + pauc(table, tpr_low=at) == pytest.approx(auc(table), abs=1e-12)


@given(both)
@some
def test_recalibrated_on_the_hull_auc_is_auch(sample):
    table = sample.table()
    found = hull(table)
    edge = [int(np.argmax(found.threshold[1:] <= score)) for score in sample.score]
    recalibrated = score_table(sample.truth, found.probability[edge], weight=sample.weight)
    assert auc(recalibrated) == pytest.approx(auch(table), abs=1e-12)

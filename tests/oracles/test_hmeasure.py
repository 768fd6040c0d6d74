"""hmeasure: H for several priors of the cost, and what it prints beside it."""

import pytest
from numpy.testing import assert_allclose

from oracles.load import columns, reference
from scorespace.curves import hull
from scorespace.decisions import best_threshold
from scorespace.measures import find
from scorespace.measures.confusion import err
from scorespace.measures.ranking import h
from scorespace.tables import score_table

SAMPLES = ("rocr_simple", "perfect")
PRIORS = {
    "H": {},
    "H_SR1": {"prior": "symmetric"},
    "H_SR0.25": {"severity_ratio": 0.25},
    "H_beta_pi1plus1_pi0plus1": {"prior": "balanced"},
}


def sample(name):
    theirs = reference("hmeasure")[name]
    if name == "rocr_simple":
        given = columns("rocr_simple_input")
        return score_table(given["label"], given["score"]), theirs
    case = reference("proc_edge_cases")["perfect"]
    return score_table(case["y"], case["s"]), theirs


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", SAMPLES)
def test_h(name, prior):
    table, theirs = sample(name)
    expected = theirs["default"]["H"] if prior == "H" else theirs[prior]
    assert h(table, **PRIORS[prior]) == pytest.approx(expected, abs=1e-9)


def test_a_severity_ratio_of_one_is_the_symmetric_prior():
    table, theirs = sample("rocr_simple")
    assert h(table, severity_ratio=1) == pytest.approx(theirs["H_SR1"], abs=1e-9)


def test_the_default_prior_is_the_severity_ratio_of_the_classes():
    table, theirs = sample("rocr_simple")
    ratio = theirs["severity_ratio_default"]
    assert h(table, severity_ratio=ratio) == pytest.approx(theirs["default"]["H"], abs=1e-9)


@pytest.mark.parametrize(("ours", "column"), [("gini", "Gini"), ("auc", "AUC"), ("auch", "AUCH"), ("ks", "KS")])
@pytest.mark.parametrize("name", SAMPLES)
def test_ranking_measure(name, ours, column):
    table, theirs = sample(name)
    assert find(ours)(table) == pytest.approx(theirs["default"][column], abs=1e-9)


@pytest.mark.parametrize("name", SAMPLES)
def test_hull(name):
    table, theirs = sample(name)
    assert_allclose(hull(table).x, theirs["hull_fpr"], atol=1e-9)
    assert_allclose(hull(table).y, theirs["hull_tpr"], atol=1e-9)


def test_probabilities_of_the_hull_are_the_costs_at_which_it_bends():
    # hmeasure lists the costs between 0 and 1 with both ends before and after them.
    table, theirs = sample("rocr_simple")
    assert_allclose(hull(table).probability, theirs["cost"][1:-1], atol=1e-9)


@pytest.mark.parametrize("name", SAMPLES)
def test_least_error_rate(name):
    table, theirs = sample(name)
    assert best_threshold(table, err).value == pytest.approx(theirs["default"]["MER"], abs=1e-9)

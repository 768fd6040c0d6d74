"""ROCR: about twenty measures at every cutoff, AUC, hull and cost curve."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from oracles.load import columns, reference
from scorespace.curves import hull, roc
from scorespace.measures import parse
from scorespace.measures.ranking import auc
from scorespace.tables import score_table

CLOSE = {"rtol": 1e-9, "atol": 1e-9}
INPUTS = ("simple", "ties")
OURS = {
    "tp": "tp",
    "fp": "fp",
    "tn": "tn",
    "fn": "fn",
    "acc": "acc",
    "err": "err",
    "fpr": "fpr",
    "tpr": "tpr",
    "fnr": "fnr",
    "tnr": "tnr",
    "ppv": "ppv",
    "npv": "npv",
    "pcfall": "fdr",
    "pcmiss": "fomr",
    "rpp": "pp_rate",
    "phi": "mcc",
    "odds": "dor",
    "lift": "lift",
    "f": "f1",
    "cost": "cost",
    "f_alpha0.2": "fbeta(beta=2)",  # alpha = 1 / (1 + beta²)
    "cost_fp2_fn5": "cost(fp=2, fn=5)",
}


def table_of(name):
    given = columns(f"rocr_{name}_input")
    return score_table(given["label"], given["score"])


@pytest.mark.parametrize("name", INPUTS)
def test_thresholds_are_rocrs_cutoffs(name):
    assert_array_equal(table_of(name).thresholds, columns(f"rocr_{name}_by_cutoff")["cutoff"])


@pytest.mark.parametrize("column", OURS)
@pytest.mark.parametrize("name", INPUTS)
def test_measure_at_every_cutoff(name, column):
    spec = parse(OURS[column])
    ours = spec.measure(table_of(name).sweep, **dict(spec.options))
    theirs = columns(f"rocr_{name}_by_cutoff")[column]
    if spec.name in ("f1", "fbeta"):
        # ROCR builds F from precision, so it has none at +inf. F = 0 exists there: see the next test.
        assert np.isnan(theirs[0])
        ours, theirs = ours[1:], theirs[1:]
    assert_allclose(ours, theirs, **CLOSE)


@pytest.mark.parametrize("spec", ["f1", "fbeta(beta=2)"])
@pytest.mark.parametrize("name", INPUTS)
def test_f_is_zero_where_nothing_is_predicted_positive(name, spec):
    spec = parse(spec)
    assert spec.measure(table_of(name).at(np.inf), **dict(spec.options)) == 0


@pytest.mark.parametrize("name", INPUTS)
def test_auc(name):
    assert auc(table_of(name)) == pytest.approx(reference("rocr_summary")[name]["auc"], abs=1e-9)


@pytest.mark.parametrize("stop", [0.1, 0.5])
@pytest.mark.parametrize("name", INPUTS)
def test_area_up_to_a_false_positive_rate(name, stop):
    area = roc(table_of(name)).partial_area(fpr_high=stop)
    assert area == pytest.approx(reference("rocr_summary")[name][f"auc_fpr.stop_{stop}"], abs=1e-9)


@pytest.mark.parametrize("name", INPUTS)
def test_hull(name):
    theirs, ours = reference("rocr_summary")[name]["rch"], hull(table_of(name))
    assert_allclose(ours.x, theirs["fpr"], **CLOSE)
    assert_allclose(ours.y, theirs["tpr"], **CLOSE)


@pytest.mark.parametrize("name", INPUTS)
def test_hull_slopes_are_the_breakpoints_of_the_cost_curve(name):
    inner = reference("rocr_summary")[name]["ecost"]["probability_cost_function"][1:-1]
    breakpoints = 1 / (1 + hull(table_of(name)).slope)
    assert_allclose(breakpoints[(breakpoints > 0) & (breakpoints < 1)], inner, **CLOSE)

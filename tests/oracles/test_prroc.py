"""PRROC: the area under the precision-recall curve by exact interpolation."""

import numpy as np
import pytest

from oracles.load import columns, reference
from scorespace.curves import pr
from scorespace.measures.ranking import auc, auprc
from scorespace.tables import score_table

SAMPLES = {"rocr_simple": "rocr_simple_input", "ties": "rocr_ties_input"}


def table_of(name):
    given = columns(SAMPLES[name])
    return score_table(given["label"], given["score"])


@pytest.mark.parametrize("name", SAMPLES)
def test_auprc(name):
    assert auprc(table_of(name)) == pytest.approx(reference("prroc")[name]["auc_integral"], abs=1e-9)


@pytest.mark.parametrize("name", SAMPLES)
def test_area_of_the_curve_is_auprc(name):
    assert pr(table_of(name)).area() == pytest.approx(reference("prroc")[name]["auc_integral"], abs=1e-9)


@pytest.mark.parametrize("name", SAMPLES)
def test_auc(name):
    assert auc(table_of(name)) == pytest.approx(reference("prroc")[name]["roc_auc"], abs=1e-9)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_worst_order_has_prrocs_smallest_area(name):
    table = table_of(name)
    worst = score_table([0] * int(table.n_neg) + [1] * int(table.n_pos), -np.arange(int(table.total)))
    assert auprc(worst) == pytest.approx(reference("prroc")[name]["min_auc_integral"], abs=1e-9)

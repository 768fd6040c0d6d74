"""Which rows to label: influences against formulas, and probabilities that fit the budget."""

import numpy as np
import pytest
from scipy.special import expit

import scorespace as ss
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.inference.label_design import gain, influences, label_probabilities, soft_table, spreads
from scorespace.measures import parse
from scorespace.measures.request import bind

RNG = np.random.default_rng(11)
P = np.round(expit(1.5 * RNG.normal(size=400) - 1.5), 3)


def influence_of(measure):
    table, place = soft_table(P, P)
    return influences(bind(parse(measure), table), table)[:, place]


def test_influence_on_the_auc():
    """y = 1: (F₀(s) − A)/π, y = 0: (1 − F₁(s) − A)/(1 − π), with half of the ties."""
    share, area = P.mean(), bind(parse("auc"), soft_table(P, P)[0]).value
    below = (P[:, None] > P) + 0.5 * (P[:, None] == P)
    positive = (below @ (1 - P) / (1 - P).sum() - area) / share
    negative = ((1 - below) @ P / P.sum() - area) / (1 - share)
    found = influence_of("auc")
    np.testing.assert_allclose(found[1], positive, atol=2e-3)
    np.testing.assert_allclose(found[0], negative, atol=2e-3)


def test_influence_on_cost_and_sensitivity():
    acts = P >= 0.1
    cost = np.where(acts, 0, 9 * P) + np.where(acts, 1 - P, 0)
    found = influence_of("cost(fp=1, fn=9)@0.1")
    np.testing.assert_allclose(found[1], np.where(acts, 0, 9) - cost.mean(), atol=1e-3)
    np.testing.assert_allclose(found[0], np.where(acts, 1, 0) - cost.mean(), atol=1e-3)
    found = influence_of("tpr@0.1")
    np.testing.assert_allclose(found[1], (acts - P[acts].sum() / P.sum()) / P.mean(), atol=1e-3)
    np.testing.assert_allclose(found[0], 0, atol=1e-3)


def test_many_scores_give_nearly_the_same_spreads():
    score = expit(1.5 * np.random.default_rng(1).normal(size=20_000) - 1.5)
    found = spreads(parse("auc"), score, score)
    order = np.argsort(score)
    share = score.mean()
    below = np.empty(score.size)
    below[order] = np.cumsum(1 - score[order]) / (1 - score).sum()
    above = np.empty(score.size)
    above[order] = 1 - np.cumsum(score[order]) / score.sum()
    area = np.average(below, weights=score)
    expected = np.sqrt(score * ((below - area) / share) ** 2 + (1 - score) * ((above - area) / (1 - share)) ** 2)
    assert np.corrcoef(found, expected)[0, 1] > 0.999


@pytest.mark.parametrize("budget", [10, 60, 399, 400])
def test_probabilities_fit_the_budget(budget):
    found = label_probabilities(np.abs(RNG.normal(size=400)) ** 4, budget)
    assert found.sum() == pytest.approx(budget)
    assert 0 < found.min() <= found.max() <= 1


def test_alike_rows_have_alike_probabilities():
    assert label_probabilities(np.zeros(50), 5) == pytest.approx(0.1)
    assert gain(np.ones(50), np.full(50, 0.1)) == pytest.approx(1)


def test_plan_gains_and_promises_no_more_than_twice():
    plan = ss.rows_to_label({"s": np.append(P, 1e-4)}, score="s", measure="cost(fp=1, fn=99)@0.9", budget=40)
    assert 1 <= plan.gain <= 2
    assert plan.rows()[0]["rows"] == 81
    assert np.isnan(plan.columns()["probability"]).sum() == 401 - plan.chosen.sum()


def test_scores_are_calibrated_on_rows_with_a_truth():
    truth = [int(v) if k < 200 else None for k, v in enumerate(RNG.random(400) < P)]
    plan = ss.rows_to_label({"s": 100 * P, "y": truth}, score="s", measure="auc", budget=40, truth="y")
    assert plan.calibrated
    assert np.corrcoef(plan.columns()["proxy"], P)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"measure": "ppv@top50"}, "label the 50 rows with the highest scores"),
        ({"measure": "ks"}, "largest of many gaps"),
        ({"budget": 401}, "not a number of rows"),
        ({"budget": 3}, "not a number of rows"),
        ({"safety": 0.0}, "not a share"),
        ({"score": "points"}, "no probabilities"),
        ({"score": "points", "truth": "none"}, "too few rows|no row"),
        ({"measure": "acu"}, "acu"),
        ({"score": "absent"}, "absent"),
    ],
)
def test_bad_requests_are_refused(options, said):
    data = {"s": P, "points": 100 * P, "none": [1, 0] + [None] * 398}
    with pytest.raises((MeasureError, ScoreSpaceError), match=said):
        ss.rows_to_label(data, **{"score": "s", "measure": "auc", "budget": 40} | options)

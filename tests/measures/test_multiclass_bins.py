"""Measures of several classes from bins: those of the cases, and certified."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.binned import class_bins
from scorespace.measures import parse
from scorespace.measures.bounds import certified
from scorespace.measures.multiclass_bins import SUMMED_OVER_CLASSES, loss_error, parts_of
from scorespace.measures.probability import logloss
from scorespace.measures.request import bind
from scorespace.tables import class_table

OF_CLASSES = (
    *("auc[hand_till]", "auc[hand_till_weighted]", "auc[macro]", "auc[weighted]", "auc[micro]", "auc[b]", "ap[macro]"),
    *("brier", "logloss", "logloss(base=2)", "cal", "ref", "unc", "brier[a]", "ks[macro]", "gini[macro]"),
    *("acc", "kappa", "mcc", "f1[macro]", "f1[weighted]", "tpr[c]", "tpr[a]@0.3"),
)


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cases = draw(st.integers(6, 40))
    score = rng.dirichlet([0.6] * 3, cases)
    if draw(st.booleans()):  # with ties
        score = (1 + np.stack([rng.multinomial(61, share) for share in score])) / 64
    return class_table(np.array(list("abc"))[np.arange(cases) % 3], score)


@pytest.mark.parametrize("text", OF_CLASSES)
@given(table=tables(), bits=st.sampled_from([38, 48, 50]))
@settings(max_examples=8)
def test_the_value_of_the_cases_is_certain(text, table, bits):
    spec = parse(text)
    true = bind(spec, table).value
    exact = bind(spec, class_bins(table)).value
    assert exact == pytest.approx(true, abs=1e-12, nan_ok=True)
    low, high = certified(spec, class_bins(table, bits))
    assert low - 1e-12 <= true <= high + 1e-12


def test_what_is_added_up():
    table = class_bins(class_table(list("abcab"), np.full((5, 3), 1 / 3)))
    assert {one.name for one in SUMMED_OVER_CLASSES} == {"brier", "cal", "ref", "unc"}
    assert [weight for weight, _ in parts_of(logloss, table)] == [0.4, 0.4, 0.2]


def _losses(label, score):
    own = score[np.arange(label.size), label]
    return {"brier": ((score - np.eye(score.shape[1])[label]) ** 2), "logloss": -np.log(own)[:, None]}


@pytest.mark.parametrize("bits", [0, 38])
def test_the_error_of_a_mean_loss_is_that_of_the_cases(bits):
    rng = np.random.default_rng(5)
    label, score = rng.integers(0, 3, 400), rng.dirichlet([2, 1, 1], 400)
    table = class_bins(class_table(np.array(list("abc"))[label], score), bits)
    for name, losses in _losses(label, score).items():
        error, known = loss_error(parse(name).measure, table)
        assert error == pytest.approx(losses.std(axis=0).sum() / np.sqrt(400), rel=1e-6)
        assert known is (name == "logloss")
        assert error >= losses.sum(axis=1).std() / np.sqrt(400) * (1 - 1e-6)
    assert loss_error(parse("logloss").measure, table, base=2)[0] == pytest.approx(
        _losses(label, score)["logloss"].std() / np.sqrt(400) / np.log(2), rel=1e-6
    )

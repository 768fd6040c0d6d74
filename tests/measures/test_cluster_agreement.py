"""Agreement of clusters with classes equals scikit-learn's, for any labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn

import scorespace as ss
from scorespace.errors import ScoreSpaceError
from scorespace.measures import find
from scorespace.tables.clusters import contingency

BESIDE = {
    "ari": sklearn.adjusted_rand_score,
    "ami": sklearn.adjusted_mutual_info_score,
    "nmi": sklearn.normalized_mutual_info_score,
    "mutual_info": sklearn.mutual_info_score,
    "homogeneity": sklearn.homogeneity_score,
    "completeness": sklearn.completeness_score,
    "v_measure": sklearn.v_measure_score,
    "pair_fm": sklearn.fowlkes_mallows_score,
}


@st.composite
def labelled(draw):
    size, most = draw(st.integers(6, 50)), draw(st.integers(1, 5))
    labels = st.lists(st.integers(0, most), min_size=size, max_size=size)
    return draw(labels), draw(labels)


@pytest.mark.parametrize("name", BESIDE)
@given(sample=labelled())
@settings(max_examples=40)
def test_agreement_equals_that_of_scikit_learn(name, sample):
    labels, classes = sample
    assert find(name)(contingency(classes, labels)) == pytest.approx(BESIDE[name](classes, labels), abs=1e-9)


def test_adjusted_mutual_information_of_many_points():
    rng = np.random.default_rng(4)
    classes = rng.integers(0, 6, 20_000)
    labels = np.where(rng.random(20_000) < 0.5, classes, rng.integers(0, 8, 20_000))
    found = find("ami")(contingency(classes, labels))
    assert found == pytest.approx(sklearn.adjusted_mutual_info_score(classes, labels), abs=1e-9)


def test_purity():
    assert ss.purity(contingency(list("xxxyyz"), list("aaabbb"))) == pytest.approx(5 / 6)


@pytest.mark.parametrize("beta", [-1.0, float("nan"), float("inf")])
def test_a_weight_of_completeness_is_a_number(beta):
    with pytest.raises(ScoreSpaceError, match="weight of completeness"):
        ss.v_measure(contingency([0, 1, 1], [0, 1, 2]), beta=beta)

"""Raters who decide between several classes: against scikit-learn, with weights, gaps and an order."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from scorespace.agreement.raters import rater_agreement
from scorespace.errors import DataError, WeightError

RNG = np.random.default_rng(6)
CLASSES = ["low", "medium", "high"]
TRUTH = RNG.integers(0, 3, 90)
RATINGS = {
    name: np.array(CLASSES)[np.clip(TRUTH + RNG.integers(-1, 2, 90) * (RNG.random(90) < 0.5), 0, 2)]
    for name in ("Ann", "Bob", "Cy")
}


def values(found):
    return {(row["a"], row["b"], row["measure"]): row["value"] for row in found.rows()}


def test_kappas_of_pairs_are_scikit_learns():
    found = values(rater_agreement(RATINGS, order=CLASSES))
    for a, b in (("Ann", "Bob"), ("Ann", "Cy"), ("Bob", "Cy")):
        for weights, name in ((None, ""), ("linear", "(weights=linear)"), ("quadratic", "(weights=quadratic)")):
            theirs = cohen_kappa_score(RATINGS[a], RATINGS[b], labels=CLASSES, weights=weights)
            assert found[a, b, f"rater_kappa{name}"] == pytest.approx(theirs)
    assert found[None, None, "agreed"] == pytest.approx(
        np.mean([(RATINGS[a] == RATINGS[b]).mean() for a, b in (("Ann", "Bob"), ("Ann", "Cy"), ("Bob", "Cy"))])
    )


def test_without_an_order_nothing_is_weighed():
    found = rater_agreement(RATINGS)
    assert not found.ordered
    assert {row["measure"] for row in found.rows()} == {
        *("agreed", "fleiss", "ac1", "krippendorff"),
        *("rater_kappa", "scott"),
    }


def test_weights_are_copies_in_value():
    weight = RNG.integers(0, 3, 90)
    copies = {name: np.repeat(one, weight) for name, one in RATINGS.items()}
    ours, theirs = (
        values(rater_agreement(RATINGS, weight=weight, order=CLASSES)),
        values(rater_agreement(copies, order=CLASSES)),
    )
    assert ours == pytest.approx(theirs)
    wide, narrow = (
        rater_agreement(RATINGS, weight=w).together[0] for w in (np.where(TRUTH == 0, 30.0, 1.0), np.ones(90))
    )
    assert wide.high - wide.low > narrow.high - narrow.low  # a few heavy instances tell less
    with pytest.raises(WeightError):
        rater_agreement(RATINGS, weight=[1, 2])


def test_instances_on_which_they_differ():
    found = rater_agreement({"Ann": ["a", "b", None, "c"], "Bob": ["a", "c", "b", None]}, ids=list("wxyz"))
    assert found.differing == ({"id": "x", "Ann": "b", "Bob": "c"},)
    assert found.gaps == 2
    assert found.words.endswith("They differ on 1 of 4 instances: x.")
    assert rater_agreement({"Ann": ["a", "b"], "Bob": ["a", "b"]}).words.endswith("They differ on no instance.")
    with pytest.raises(DataError, match="every label once"):
        rater_agreement({"Ann": ["a", "b"], "Bob": ["a", "b"]}, order=["a"])

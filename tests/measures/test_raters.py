"""Agreement between raters beyond chance: published examples, scikit-learn, and formulas written out."""

import math

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

import scorespace as ss
from scorespace.errors import MeasureError
from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.measures.raters import ac1, agreed, fleiss, krippendorff, rater_kappa, scott
from scorespace.tables.ratings import rating_table

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability": four observers, twelve units, gaps.
# The memo states 0.743 (nominal), 0.815 (ordinal) and 0.849 (interval).
_ = None
KRIPPENDORFF = {
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    "C": [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
}
# Fleiss' kappa of 14 raters on 10 subjects in 5 classes, a worked example printed with 0.210.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def of_votes(votes):
    """Ratings of so many raters that give these votes."""
    rows = [np.repeat(np.arange(len(line)), line) for line in votes]
    return rating_table({f"r{k}": [int(row[k]) for row in rows] for k in range(len(rows[0]))})


@pytest.mark.parametrize(("metric", "printed"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_own_example(metric, printed):
    assert round(krippendorff(rating_table(KRIPPENDORFF), metric=metric), 3) == printed


def test_fleiss_of_the_worked_example():
    assert round(fleiss(of_votes(FLEISS)), 3) == 0.210


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_cohen_is_that_of_scikit_learn(weights):
    rng = np.random.default_rng(5)
    a = rng.integers(0, 4, 80)
    b = np.clip(a + rng.integers(-1, 2, 80), 0, 3)
    ours = rater_kappa(rating_table({"a": a, "b": b}), weights=weights or "none")
    assert ours == pytest.approx(cohen_kappa_score(a, b, weights=weights))


def test_scott_and_gwet_by_hand():
    # 100 instances: 40 yes by both, 35 no by both, 15 yes by the first alone, 10 by the second alone.
    first, second = np.repeat([1, 0, 1, 0], [40, 35, 15, 10]), np.repeat([1, 0, 0, 1], [40, 35, 15, 10])
    table = rating_table({"a": first, "b": second})
    agree, yes = 0.75, (55 + 50) / 200
    assert agreed(table) == pytest.approx(agree)
    chance = yes**2 + (1 - yes) ** 2
    assert scott(table) == pytest.approx((agree - chance) / (1 - chance))
    assert fleiss(table) == pytest.approx(scott(table))
    chance = 2 * yes * (1 - yes)
    assert ac1(table) == pytest.approx((agree - chance) / (1 - chance))


def test_rare_classes_upset_kappa_and_not_gwet():
    rare = rating_table({"a": [0] * 95 + [1, 1, 0, 0, 1], "b": [0] * 95 + [0, 0, 1, 1, 0]})
    assert rater_kappa(rare) < 0
    assert ac1(rare) > 0.9


def test_all_the_same_is_undefined_but_for_gwet():
    same = rating_table({"a": ["x"] * 5, "b": ["x"] * 5}, classes=["x", "y"])
    assert all(math.isnan(one(same)) for one in (rater_kappa, scott, fleiss, krippendorff))
    assert ac1(same) == 1


def test_more_than_two_raters_are_refused_where_two_are_meant():
    with pytest.raises(MeasureError) as caught:
        rater_kappa(rating_table(KRIPPENDORFF))
    assert str(caught.value) == "Cohen's kappa is defined for two raters.\n  seen: 4 raters\n  hint: fleiss"
    words = rating_table({"a": ["low", "high"], "b": ["low", "low"]})
    with pytest.raises(MeasureError, match="needs numeric classes"):
        krippendorff(words, metric="interval")


def test_they_are_in_the_catalogue_and_grammar():
    table = rating_table({"a": ["low", "mid", "high"], "b": ["low", "high", "high"]}, classes=["low", "mid", "high"])
    found = ss.evaluate({"raters": table}, measures="weighted_kappa(weights=quadratic), gwet, alpha(metric=ordinal)")
    assert [row["measure"] for row in found.to_dict()["rows"]] == [
        "rater_kappa(weights=quadratic)",
        "ac1",
        "krippendorff(metric=ordinal)",
    ]


def judged(rng, size, raters, truth=0.4, error=0.15):
    actual = rng.random(size) < truth
    return {f"r{k}": (actual ^ (rng.random(size) < error)).astype(int) for k in range(raters)}


@pytest.mark.parametrize("name", ["fleiss", "ac1", "krippendorff"])
def test_intervals_hold_the_truth_about_as_often_as_they_say(name):
    true = float(parse(name).measure(rating_table(judged(np.random.default_rng(1), 400_000, 3))))
    rng, held = np.random.default_rng(2), 0
    for seed in range(60):
        found = estimate(parse(name), rating_table(judged(rng, 60, 3)), replicates=300, seed=seed)
        held += found.low <= true <= found.high
    assert held >= 51  # 85 % of 60, for 95 %

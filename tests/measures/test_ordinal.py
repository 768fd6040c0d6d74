"""Classes that have an order: how far decisions and probabilities are off."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, roc_auc_score

import scorespace as ss
from scorespace.errors import DataError
from scorespace.measures import parse
from scorespace.measures.confusion import kappa
from scorespace.measures.ordinal import class_distance, rps
from scorespace.measures.probability import brier
from scorespace.measures.request import bind
from scorespace.resampling.estimate import estimate
from scorespace.tables import class_table, confusion, score_table

STEPS = ("low", "medium", "high")


def graded(rng, cases, noise=0.8):
    """Actual and decided grades 0, 1, 2, and probabilities of them."""
    truth = rng.integers(0, 3, cases)
    seen = truth + noise * rng.normal(size=cases)
    weight = np.exp(-((seen[:, None] - np.arange(3)) ** 2))
    return truth, weight.argmax(axis=1), weight / weight.sum(axis=1, keepdims=True)


def named(codes):
    return np.array(STEPS)[codes]


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_is_that_of_scikit_learn(weights):
    truth, decided, _ = graded(np.random.default_rng(1), 200)
    table = confusion(named(truth), named(decided)).in_order(STEPS)
    assert kappa(table, weights=weights) == pytest.approx(cohen_kappa_score(truth, decided, weights=weights))


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=4, max_size=30))
def test_of_two_classes_all_weights_are_alike(cases):
    truth, decided = map(np.array, zip(*cases, strict=True))
    matrix = np.zeros((2, 2))
    np.add.at(matrix, (truth, decided), 1)
    table = confusion(matrix, classes=["1", "2"])
    for weights in ("linear", "quadratic"):
        assert kappa(table, weights=weights) == pytest.approx(kappa(table), nan_ok=True)


def test_mean_class_distance():
    truth, decided, _ = graded(np.random.default_rng(2), 100)
    table = confusion(named(truth), named(decided)).in_order(STEPS)
    assert class_distance(table) == pytest.approx(np.abs(truth - decided).mean())


def test_the_ranked_probability_score():
    # Epstein's, over K − 1: cumulated 0.2, 0.7 against 0, 1 for the middle class
    table = class_table(["medium"], {"low": [0.2], "medium": [0.5], "high": [0.3]}).in_order(STEPS)
    assert rps(table) == pytest.approx((0.2**2 + 0.3**2) / 2)


def test_of_two_classes_it_is_the_brier_score():
    rng = np.random.default_rng(3)
    truth, p = rng.integers(0, 2, 50), rng.random(50)
    table = class_table(truth, {"0": 1 - p, "1": p})
    assert rps(table) == pytest.approx(brier(score_table(truth, p)))


def test_areas_for_at_least_a_class():
    truth, decided, p = graded(np.random.default_rng(4), 200)
    table = class_table(named(truth), dict(zip(STEPS, p.T, strict=True))).in_order(STEPS)
    for step, name in ((1, "medium"), (2, "high")):
        area = bind(parse(f"auc[>={name}]"), table).value
        assert area == pytest.approx(roc_auc_score(truth >= step, p[:, step:].sum(axis=1)))
        found = bind(parse(f"tpr[>={name}]"), confusion(named(truth), named(decided)).in_order(STEPS)).value
        assert found == pytest.approx((decided[truth >= step] >= step).mean())


def test_an_order_keeps_the_cases():
    table = confusion([[3, 1, 0], [2, 5, 1], [0, 1, 4]], classes=["high", "low", "medium"])
    ordered = table.in_order(STEPS)
    assert ordered.classes == STEPS
    assert ordered.matrix.tolist() == [[5, 1, 2], [1, 4, 0], [1, 0, 3]]
    wider = table.in_order(["none", *STEPS])  # a class that never occurs still lies between others
    assert wider.class_totals.tolist() == [0, 8, 5, 4]


@pytest.mark.parametrize("measure", ["class_distance", "kappa(weights=linear)", "tpr[>=medium]"])
def test_words_have_no_order_of_their_own(measure):
    table = confusion([[3, 1, 0], [2, 5, 1], [0, 1, 4]], classes=["high", "low", "medium"])
    with pytest.raises(DataError) as found:
        bind(parse(measure), table).value  # noqa: B018
    assert str(found.value) == (
        "distances between classes need their order.\n  seen: classes 'high', 'low', 'medium'\n"
        '  hint: order="high,low,medium", from the lowest to the highest'
    )


def test_numbers_have_an_order():
    assert class_distance(confusion([[3, 1], [2, 5]], classes=["1", "2"])) == pytest.approx(3 / 11)


def test_results_come_in_the_stated_order():
    truth, decided, _ = graded(np.random.default_rng(5), 60)
    data = {"y": named(truth), "d": named(decided), "e": named(truth)}
    ev = ss.evaluate(data, truth="y", decisions=["d", "e"], order="low,medium,high")
    assert list(ev.models.classes) == list(STEPS)
    assert [str(one.spec) for one in ev.summary if one.model == "d"][-2:] == [
        "kappa(weights=quadratic)",
        "class_distance",
    ]
    assert ev.compare(measure="class_distance")[0].difference == pytest.approx(np.abs(truth - decided).mean())


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (
            "low,high",
            "the class 'medium' is not in the order.\n"
            "  seen: the order 'low', 'high'; classes 'high', 'low', 'medium'\n"
            "  hint: every class, from the lowest to the highest",
        ),
        ("low,low,high", "the order names a class twice.\n  seen: 'low', 'low', 'high'\n  hint: each class once"),
    ],
)
def test_orders_that_are_none(order, message):
    with pytest.raises(DataError) as found:
        ss.evaluate({"y": list(STEPS), "d": list(STEPS)}, truth="y", decisions="d", order=order)
    assert str(found.value) == message


@pytest.mark.parametrize("measure", ["kappa(weights=quadratic)", "class_distance", "rps"])
def test_intervals_hold_the_truth(measure):
    # A slice of a simulation; see docs/lectures.md.
    rng = np.random.default_rng(6)

    def table(cases):
        truth, decided, p = graded(rng, cases)
        if measure == "rps":
            return class_table(truth, {str(k): p[:, k] for k in range(3)})
        return confusion(truth, decided, classes=[0, 1, 2])

    true = bind(parse(measure), table(200_000)).value
    found = [estimate(parse(measure), table(150), replicates=300) for _ in range(80)]
    assert np.mean([one.low <= true <= one.high for one in found]) > 0.88

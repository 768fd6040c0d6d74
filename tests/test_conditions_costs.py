"""What decisions cost: gains, other prevalences, closed-form thresholds and cost matrices of several classes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from scorespace.costs import Condition, CostMatrix
from scorespace.errors import ConditionError
from scorespace.tables import Counts

some = settings(max_examples=50)
rates = st.floats(0, 1)
shares = st.floats(0.01, 0.99)
counted = st.tuples(*[st.integers(1, 50)] * 4).map(lambda cells: Counts(*cells))


@st.composite
def conditions(draw, prevalence=shares):
    """Costs and gains under which a model is of use."""
    tp, tn = draw(st.floats(-50, 50)), draw(st.floats(-50, 50))
    fn, fp = tp + draw(st.floats(0.1, 50)), tn + draw(st.floats(0.1, 50))
    return Condition(fp=fp, fn=fn, tp=tp, tn=tn, prevalence=draw(prevalence))


def refusal(function, *arguments, **options):
    with pytest.raises(ConditionError) as caught:
        function(*arguments, **options)
    return str(caught.value)


# --- costs of two classes


@given(conditions(st.none()), counted)
@some
def test_cost_of_the_sample_is_that_of_its_cases(condition, c):
    total = condition.fp * c.fp + condition.fn * c.fn + condition.tp * c.tp + condition.tn * c.tn
    assert condition.cost(c.fp / c.n, c.tp / c.p, float(c.p / c.total)) == pytest.approx(float(total / c.total))


def test_gains_lower_the_cost():
    # 10 cases, 4 positive: a hit earns 3, a false alarm costs 1, a miss 2; 3 hits, 2 false alarms.
    assert Condition(fp=1, fn=2, tp=-3, prevalence=0.4).cost(2 / 6, 3 / 4) == pytest.approx((2 + 2 - 9) / 10)


def test_cost_at_another_prevalence():
    # 30 % positives, of which a fifth is missed at 10 each; a tenth of the rest are false alarms at 1.
    assert Condition(fn=10, prevalence=0.3).cost(0.1, 0.8, 0.5) == pytest.approx(0.3 * 0.2 * 10 + 0.7 * 0.1)


@given(conditions(), rates, rates)
@some
def test_normalised_cost_runs_from_no_error_to_every_error(condition, fpr, tpr):
    none, every = condition.cost(0, 1), condition.cost(1, 0)
    expected = (condition.cost(fpr, tpr) - none) / (every - none)
    assert condition.normalised_cost(fpr, tpr) == pytest.approx(float(expected), abs=1e-9)


@given(conditions(), rates, rates)
@some
def test_relative_cost_counts_in_missed_positives(condition, fpr, tpr):
    none, missed = condition.cost(0, 1), condition.cost(0, 0)
    expected = (condition.cost(fpr, tpr) - none) / (missed - none)
    assert condition.relative_cost(fpr, tpr) == pytest.approx(float(expected), rel=1e-6, abs=1e-9)


@given(conditions(), rates, rates)
@some
def test_points_on_a_line_of_the_slope_cost_the_same(condition, fpr, tpr):
    along = condition.cost(fpr + 0.1, tpr + 0.1 * condition.slope())
    assert along == pytest.approx(float(condition.cost(fpr, tpr)), abs=1e-6)


def test_costs_of_a_whole_curve():
    assert Condition(prevalence=0.5).cost([0, 0.5], [0, 1]).tolist() == [0.5, 0.25]


@given(conditions(), st.floats(0.01, 0.99), shares)
@some
def test_threshold_at_another_prevalence_by_bayes(condition, p, sample):
    """Of a case with calibrated probability p, first the probability in use by Bayes, then the cheaper decision."""
    use = condition.prevalence
    adjusted = p * use / sample / (p * use / sample + (1 - p) * (1 - use) / (1 - sample))
    positive = adjusted * condition.tp + (1 - adjusted) * condition.fp
    negative = adjusted * condition.fn + (1 - adjusted) * condition.tn
    if not math.isclose(positive, negative, rel_tol=1e-6, abs_tol=1e-6):
        assert (p >= condition.threshold_for(sample)) == (positive < negative)


def test_threshold_when_positives_become_rarer():
    # Odds 1 in the sample are odds 1/9 in use; costs 1 : 3 ask for odds 1/3 in use, so odds 3 in the sample.
    assert Condition(fp=1, fn=3, prevalence=0.1).threshold_for(0.5) == pytest.approx(0.75)


@given(conditions(shares), shares)
@some
def test_threshold_at_the_prevalence_of_the_sample(condition, sample):
    same = Condition(condition.fp, condition.fn, condition.tp, condition.tn, prevalence=sample)
    assert same.threshold_for(sample) == pytest.approx(condition.calibrated_threshold)
    unstated = Condition(condition.fp, condition.fn, condition.tp, condition.tn)
    assert unstated.threshold_for(sample) == condition.calibrated_threshold


@given(st.tuples(*[st.integers(-2, 2)] * 4))
def test_refused_costs_really_need_no_model(costs):
    fp, fn, tp, tn = costs
    always = {"positive": fp <= tn and tp <= fn, "negative": tn <= fp and fn <= tp}
    if fp > tn and fn > tp:
        assert Condition(*costs).slope(0.5) == (fp - tn) / (fn - tp)
        return
    first = refusal(Condition, *costs).splitlines()[0]
    if any(always.values()):
        named = next(name for name in always if f" deciding {name} is optimal, so no model is needed." in first)
        assert always[named]
    else:
        assert first == "with these costs, every error is cheaper than the correct decision."


def test_message_for_errors_that_pay():
    assert refusal(Condition, fp=-1, fn=-2) == (
        "with these costs, every error is cheaper than the correct decision.\n"
        "  seen: fp=-1, tn=0, fn=-2, tp=0\n"
        "  hint: an error must cost more than the correct decision on the same case: fp > tn and fn > tp"
    )


# --- costs of several classes

ABC = ("a", "b", "c")
COSTS = CostMatrix(ABC, [[0, 1, 2], [5, 0, 1], [9, 4, -3]])


@st.composite
def cost_matrices(draw, classes=ABC):
    """Costs in which the right decision is the cheapest for each class."""
    size = len(classes)
    cells = np.reshape(draw(st.lists(st.integers(-9, 9), min_size=size**2, max_size=size**2)), (size, size))
    np.fill_diagonal(cells, cells.min(axis=1) - 1)
    return CostMatrix(classes, cells)


thirds = st.lists(st.integers(1, 20), min_size=3, max_size=3)
probabilities = thirds.map(lambda parts: [part / sum(parts) for part in parts])


@given(cost_matrices(), probabilities)
@some
def test_least_expected_cost_by_hand(costs, p):
    expected = [sum(p[actual] * costs.matrix[actual, decided] for actual in range(3)) for decided in range(3)]
    assert_allclose(costs.expected(p), expected, atol=1e-12)
    assert expected[int(costs.decide(p))] == pytest.approx(min(expected), abs=1e-12)


def test_rows_are_actual_classes():
    # Of ten actual c, four are taken for a at 9 each, and six are right at −3.
    assert COSTS.total([[0, 0, 0], [0, 0, 0], [4, 0, 6]]) == 4 * 9 - 6 * 3


def test_totals_of_replicates():
    eye = np.eye(3)
    assert COSTS.total(np.stack([eye, 2 * eye])).tolist() == [-3, -6]


@given(cost_matrices(), st.permutations(ABC), st.lists(st.integers(0, 9), min_size=9, max_size=9))
@some
def test_another_order_of_the_classes_costs_the_same(costs, order, cells):
    counts = np.reshape(cells, (3, 3))
    places = [ABC.index(name) for name in order]
    moved = costs.aligned(tuple(order))
    assert moved.classes == tuple(order)
    assert moved.total(counts[np.ix_(places, places)]) == costs.total(counts)


@given(st.lists(st.integers(0, 2), min_size=9, max_size=9))
def test_refused_when_one_decision_is_never_worse(cells):
    matrix = np.reshape(cells, (3, 3))
    never_worse = [name for k, name in enumerate(ABC) if all(matrix[i, k] == min(matrix[i]) for i in range(3))]
    if not never_worse:
        assert CostMatrix(ABC, matrix).matrix.tolist() == matrix.tolist()
        return
    assert refusal(CostMatrix, ABC, matrix) == (
        f"with these costs, always deciding '{never_worse[0]}' is optimal, so no model is needed.\n"
        "  hint: rows are actual classes, columns decisions; is the matrix transposed?"
    )


def test_shape_is_refused():
    assert refusal(CostMatrix, ("a", "b"), [[0, 1, 2], [1, 0, 2]]) == (
        "a cost matrix needs one row and one column for each class.\n  seen: shape (2, 3) for the classes 'a', 'b'\n"
        "  hint: as many rows and columns as classes"
    )


def test_a_class_named_twice_is_refused():
    assert refusal(CostMatrix, ("a", "a"), [[0, 1], [1, 0]]) == (
        "a cost matrix names a class twice.\n  seen: 'a', 'a'\n  hint: each class once"
    )


@pytest.mark.parametrize("cell", [math.nan, math.inf])
def test_cells_must_be_finite(cell):
    assert refusal(CostMatrix, ("a", "b"), [[0, cell], [1, 0]]) == (
        "a cost matrix must hold finite numbers.\n  hint: finite numbers; a gain is negative"
    )


def test_an_unknown_class_is_refused_with_the_nearest():
    costs = CostMatrix(("good", "bad"), [[0, 1], [5, 0]])
    assert refusal(costs.aligned, ("Good", "bad")) == (
        "the cost matrix and the data disagree on the class 'Good'.\n"
        "  seen: costs for 'good', 'bad'; data with 'Good', 'bad'\n"
        "  hint: did you mean 'good'?"
    )


def test_a_class_without_cases_is_refused():
    assert refusal(COSTS.aligned, ("a", "b")) == (
        "the cost matrix and the data disagree on the class 'c'.\n  seen: costs for 'a', 'b', 'c'; data with 'a', 'b'\n"
        "  hint: the same classes in both"
    )


@pytest.mark.parametrize("positive", ["p", "n"])
@given(costs=cost_matrices(("p", "n")), c=counted)
@some
def test_two_classes_cost_the_same_as_their_condition(positive, costs, c):
    counts = [[c.tp, c.fn], [c.fp, c.tn]] if positive == "p" else [[c.tn, c.fp], [c.fn, c.tp]]
    condition = costs.condition(positive)
    per_case = condition.cost(c.fp / c.n, c.tp / c.p, float(c.p / c.total))
    assert costs.total(counts) == pytest.approx(float(per_case * c.total), abs=1e-9)


@given(cost_matrices(("p", "n")), st.floats(0, 1))
@some
def test_two_classes_decide_by_the_closed_form_threshold(costs, p):
    threshold = costs.condition("p").calibrated_threshold
    if abs(p - threshold) > 1e-9:
        assert (int(costs.decide([p, 1 - p])) == 0) == (p > threshold)


def test_a_prevalence_goes_with_the_costs():
    assert CostMatrix(("p", "n"), [[-1, 4], [2, 0]]).condition("p", 0.3) == Condition(2, 4, -1, 0, 0.3)


@pytest.mark.parametrize(("costs", "positive"), [(COSTS, "a"), (CostMatrix(("a", "b"), [[0, 1], [1, 0]]), "c")])
def test_no_two_class_condition(costs, positive):
    message = (
        "a condition needs the costs of two classes, one of them positive.\n"
        "  hint: a 2 × 2 cost matrix, and the name of the positive class"
    )
    assert refusal(costs.condition, positive) == message


def test_cost_matrices_are_equal_by_value():
    assert CostMatrix(["a", "b"], [[0, 1], [1, 0]]) == CostMatrix(("a", "b"), np.array([[0.0, 1], [1, 0]]))
    assert CostMatrix(["a", "b"], [[0, 1], [1, 0]]) != CostMatrix(("a", "b"), [[0, 1], [2, 0]])

"""What holds between the parts of any decision: tables, sentences and the cases themselves, counted one by one."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import scorespace as ss
from laws.routes import N
from scorespace.costs import Asymmetry, Condition, CostMatrix
from scorespace.curves.hull import ALWAYS, NEVER
from scorespace.decisions import choose, choose_under, decide, decide_multiclass, decide_shift, evaluate_on
from scorespace.decisions.constraints import Constraint
from scorespace.measures import parse
from scorespace.report import decision as view
from scorespace.tables import confusion, score_table
from scorespace.tables.regression import residual_table
from scorespace.tables.threshold import threshold_text

some = settings(max_examples=30 * N)
few = settings(max_examples=12 * N)
costs = st.floats(0.1, 50).map(lambda one: round(one, 3))
shares = st.none() | st.floats(0.02, 0.98)
score_columns = st.sampled_from(
    [st.integers(0, 6).map(lambda k: k / 7), st.floats(0, 1, allow_subnormal=False), st.floats(-500, 500)]
)


@st.composite
def cases(draw, least=8, most=30, models=3):
    """Truth and scores of one to three models, as plain columns, with cases of both classes."""
    size = draw(st.integers(least, most))
    truth = [0, 1, 0, 1, *draw(st.lists(st.integers(0, 1), min_size=size - 4, max_size=size - 4))]
    column = draw(score_columns)
    names = "abc"[: draw(st.integers(1, models))]
    return truth, {name: draw(st.lists(column, min_size=size, max_size=size)) for name in names}


def tables(given_cases):
    truth, scores = given_cases
    return {name: score_table(truth, column, positive=1) for name, column in scores.items()}


def outcomes(given_cases, model, at):
    """The four outcomes of the plain columns at a threshold."""
    truth, scores = given_cases
    truth = np.array(truth)
    trivial = np.full(truth.size, model == ALWAYS)
    alarm = trivial if model in (ALWAYS, NEVER) else np.array(scores[model]) >= at
    pairs = zip(truth.tolist(), alarm.tolist(), strict=True)
    counted = dict.fromkeys(((1, True), (0, True), (1, False), (0, False)), 0)
    for pair in pairs:
        counted[pair] += 1
    return dict(zip(("tp", "fp", "fn", "tn"), counted.values(), strict=True))


def price(found, condition):
    """The expected cost per case, written out."""
    positives, negatives = found["tp"] + found["fn"], found["fp"] + found["tn"]
    share = positives / (positives + negatives) if condition.prevalence is None else condition.prevalence
    hit, alarm = found["tp"] / positives, found["fp"] / negatives
    of_positives = condition.tp * hit + condition.fn * (1 - hit)
    of_negatives = condition.fp * alarm + condition.tn * (1 - alarm)
    return share * of_positives + (1 - share) * of_negatives


def typed(at):
    """A threshold as somebody types what was printed."""
    return parse(f"tpr@{threshold_text(at)}").at


@some
@given(cases(), costs, costs, shares)
def test_the_cost_is_that_at_the_printed_threshold(sample, fp, fn, share):
    condition = Condition(fp, fn, prevalence=share)
    found = choose(tables(sample), condition)
    for one in found.choices:
        counted = outcomes(sample, one.model, typed(one.threshold))
        assert {name: float(getattr(one.counts, name)) for name in counted} == counted
        assert one.cost_per_case == pytest.approx(price(counted, condition))
        if not np.isnan(one.calibrated_cost):
            assert one.calibrated_cost == pytest.approx(
                price(outcomes(sample, one.model, typed(one.calibrated_threshold)), condition)
            )
    # No threshold of any model, and no trivial rule, is cheaper.
    every = [price(outcomes(sample, name, at), condition) for name, column in sample[1].items() for at in column]
    every += [price(outcomes(sample, rule, None), condition) for rule in (ALWAYS, NEVER)]
    assert found.best.cost_per_case == pytest.approx(min(every))


@some
@given(cases())
def test_at_every_boundary_of_the_regions_both_neighbours_cost_the_same(sample):
    found = choose(tables(sample), Condition())
    regions = found.regions
    assert regions[0].slope_high == np.inf
    assert regions[-1].slope_low == 0
    for left, right in pairwise(regions):
        assert left.slope_low == right.slope_high
        slope = left.slope_low
        prices = []
        for one in (left, right):
            c = outcomes(sample, one.model, one.threshold)
            prices.append(c["fn"] / (c["tp"] + c["fn"]) + slope * c["fp"] / (c["fp"] + c["tn"]))
        assert prices[0] == pytest.approx(prices[1])


@some
@given(cases(), cases(), costs, costs)
def test_the_cheaper_trivial_rule_is_that_of_the_sample_that_judges(first, second, fp, fn):
    names = [name for name in first[1] if name in second[1]]
    first, second = ((truth, {name: scores[name] for name in names}) for truth, scores in (first, second))
    condition = Condition(fp, fn)
    found = evaluate_on(choose(tables(first), condition), tables(second), fitted="first")
    there = {rule: price(outcomes(second, rule, None), condition) for rule in (ALWAYS, NEVER)}
    assert found.better_trivial.out_of_sample.value == pytest.approx(min(there.values()))
    assert {one.model: one.out_of_sample.value for one in found.trivial} == pytest.approx(there)
    if not found.shown:
        assert found.recommended is found.better_trivial
        told = re.search(r"(?:which costs|positive:|negative:) (\S+) per case", found.words)
        assert float(told[1].replace("−", "-")) == pytest.approx(min(there.values()), abs=0.06)
    shown = [row[0] for row in view.choice_grid(found).rows if row[0] in there]
    assert there[shown[0]] == pytest.approx(min(there.values()))


@few
@given(cases(least=12), costs, costs, st.floats(-1, 0), shares)
def test_the_cells_of_the_cost_table_add_up(sample, fp, fn, tp, share):
    condition = Condition(fp, fn, tp=tp, prevalence=share)
    found = decide(tables(sample), condition)
    for one in (*found.choices, *found.trivial):
        cells = {name: getattr(condition, name) * number for name, number in found.per_thousand(one).items()}
        assert sum(found.per_thousand(one).values()) == pytest.approx(1000)
        assert sum(cells.values()) == pytest.approx(1000 * one.out_of_sample.value)


matrices = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3).map(np.array)
prices = st.lists(st.lists(st.integers(-5, 20), min_size=3, max_size=3), min_size=3, max_size=3).map(np.array)


@some
@given(matrices, matrices, matrices, prices)
def test_costs_of_several_classes(first, second, third, cells):
    models = {"a": first, "b": second, "c": third}
    assume(all(one.sum() for one in models.values()))
    try:
        stated = CostMatrix(tuple("xyz"), cells)
    except ss.errors.ConditionError:
        assume(False)
    found = decide_multiclass({name: confusion(one, classes="xyz") for name, one in models.items()}, stated)
    spent = {name: float((one * cells).sum()) / one.sum() for name, one in models.items()}
    assert found.per_case == pytest.approx(spent)
    assert spent[found.best] == pytest.approx(min(spent.values()))
    ordered = sorted(spent.values())
    if "would cost" in found.words:
        second_best = re.search(r"(\w) would cost (.+?) per 1 000 more", found.words)
        assert spent[second_best[1]] == pytest.approx(ordered[1])
    grid = view.grids(found)[1]
    number = lambda text: float(text.replace(" ", "").replace("−", "-"))  # noqa: E731
    for row in grid.rows:
        assert sum(map(number, row[1:-1])) == pytest.approx(number(row[-1]))
    assert sum(number(row[-1]) for row in grid.rows) == pytest.approx(found.totals[found.best])
    # Transposed counts and costs are the same question.
    turned = CostMatrix.of("xyz", cells.T, rows="predicted")
    again = {name: confusion(one.T, classes="xyz", rows="predicted") for name, one in models.items()}
    assert decide_multiclass(again, turned).totals == found.totals


bounds = st.sampled_from(["tpr", "tnr", "ppv", "npv", "acc"])


@some
@given(cases(), st.dictionaries(bounds, st.floats(0.1, 1).map(lambda x: round(x, 2)), min_size=1, max_size=3), bounds)
def test_several_bounds_all_hold_at_the_printed_threshold(sample, stated, objective):
    limits = [Constraint(parse(name), bound) for name, bound in stated.items()]
    found = choose_under(tables(sample), parse(objective), limits)
    rate = {
        "tpr": lambda c: c["tp"] / (c["tp"] + c["fn"]),
        "tnr": lambda c: c["tn"] / (c["tn"] + c["fp"]),
        "ppv": lambda c: c["tp"] / (c["tp"] + c["fp"]) if c["tp"] + c["fp"] else np.nan,
        "npv": lambda c: c["tn"] / (c["tn"] + c["fn"]) if c["tn"] + c["fn"] else np.nan,
        "acc": lambda c: (c["tp"] + c["tn"]) / sum(c.values()),
    }

    def keeps(counted):
        return all(rate[name](counted) >= bound - 1e-12 for name, bound in stated.items())

    reached = {}
    for one in found.candidates:
        every = [outcomes(sample, one.model, at) for at in (*sample[1][one.model], np.inf)]
        able = [rate[objective](counted) for counted in every if keeps(counted)]
        assert one.kept == bool(able)
        if not one.kept:
            continue
        counted = outcomes(sample, one.model, typed(one.threshold))
        assert keeps(counted)
        defined = [value for value in able if not np.isnan(value)]
        if defined:
            reached[one.model] = max(defined)
            assert rate[objective](counted) == pytest.approx(max(defined))
    if found.best is not None:
        assert reached[found.best.model] == pytest.approx(max(reached.values()))
        others = sorted((value for name, value in reached.items() if name != found.best.model), reverse=True)
        told = re.search(r"; (\w) reaches", found.words)
        assert (told is None) == (not others)
        if others:
            assert reached[told[1]] == pytest.approx(others[0])


errors = st.floats(-5, 5).map(lambda one: round(one, 4))


@few
@given(st.lists(errors, min_size=12, max_size=40), costs, costs, st.data())
def test_the_loss_of_a_shift_is_that_of_its_errors(first, under, over, data):
    size = len(first)
    columns = {"a": first, "b": data.draw(st.lists(errors, min_size=size, max_size=size))}
    held = {name: residual_table(np.zeros(size), np.array(column)) for name, column in columns.items()}
    found = decide_shift(held, Asymmetry(under, over))
    losses = {}
    for one in found.choices:
        moved = np.array(columns[one.model]) + one.shift
        losses[one.model] = float(np.where(moved < 0, -under * moved, over * moved).mean())
        assert one.loss == pytest.approx(losses[one.model], abs=1e-9)
        assert one.as_is == pytest.approx(
            float(np.where(np.array(columns[one.model]) < 0, under, -over) @ -np.array(columns[one.model])) / size,
            abs=1e-9,
        )
    assert losses[found.best.model] == pytest.approx(min(losses.values()), abs=1e-9)


@few
@given(cases(least=20, most=40, models=2), costs, costs)
def test_a_model_alone_costs_what_it_costs_beside_others(sample, fp, fn):
    truth, scores = sample
    condition = Condition(fp, fn)
    data = {"y": truth, **scores}
    together = ss.evaluate(data, truth="y", scores=list(scores), positive=1).decide(condition)
    for name in scores:
        alone = ss.evaluate(data, truth="y", scores=name, positive=1).decide(condition)
        (one,), beside = alone.choices, next(each for each in together.choices if each.model == name)
        assert (one.threshold, one.cost_per_case) == (beside.threshold, beside.cost_per_case)
        assert (
            one.out_of_sample == pytest.approx(beside.out_of_sample)
            if isinstance(one.out_of_sample, float)
            else one.out_of_sample == beside.out_of_sample
        )
        assert alone.out_of_sample == one.out_of_sample  # of one model, the procedure is the choice of its threshold

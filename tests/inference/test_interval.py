"""Intervals on request: each against SciPy, a closed form or the plain loop, and defined where data are degenerate."""

import math

import numpy as np
import pytest
from scipy.special import expit

from helpers.resampled import ONE_POSITIVE, RESAMPLED, RNG, SCORE, TABLE, TRUTH, of
from scorespace.errors import MeasureError
from scorespace.inference import interval_formulas
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import UNCOUNTED, estimate, estimates
from scorespace.inference.interval import INTERVALS, _satterthwaite_cases, applicable_methods
from scorespace.measures import measures, parse
from scorespace.measures.ranking import ap
from scorespace.measures.request import bind
from scorespace.tables import ScoreTable, confusion, score_table

THREE = confusion([[5, 0, 1], [0, 2, 2], [1, 1, 3]], classes=["a", "b", "c"])
PERFECT = score_table([0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6])
REVERSED = score_table([1, 1, 1, 0, 0, 0], [1, 2, 3, 4, 5, 6])
PROBABLE = score_table(TRUTH, expit(SCORE))
CONSTANT = score_table([0, 0, 1, 1, 1], [2] * 5)
ONE_CLASS = score_table([1, 1, 1], [1, 2, 3])
AREAS = ("delong", "delong-logit", "newcombe")
WORLDS = ("bias-corrected", "test-inversion")
METHODS = tuple(one.name for one in INTERVALS if not one.every_look)  # tests/inference/test_any_look.py


@pytest.mark.parametrize(
    ("text", "table", "suitable"),
    [
        ("tpr@0.5", TABLE, ("wilson", "clopper-pearson", "jeffreys", "logit-t", *RESAMPLED)),
        ("acc", THREE, ("wilson", "clopper-pearson", "jeffreys", "logit-t", *RESAMPLED)),
        ("auc", TABLE, ("delong-newcombe", *AREAS, "logit-t", *WORLDS, *RESAMPLED)),
        ("gini", TABLE, ("delong-newcombe", *AREAS, *WORLDS, *RESAMPLED)),
        ("f1@0.5", TABLE, ("wilson", "clopper-pearson", "jeffreys", "logit-t", *RESAMPLED)),
        ("mcc@0.5", TABLE, ("jeffreys", *RESAMPLED)),
        ("tpr[macro]", THREE, ("jeffreys", *RESAMPLED)),
        ("ap", TABLE, ("precision-t", "logit-t", *WORLDS, *RESAMPLED)),
        ("ks", TABLE, ("bias-corrected", "logit-t", "test-inversion", *RESAMPLED)),
        ("brier", PROBABLE, ("log-t", "logit-t", *WORLDS, *RESAMPLED)),
    ],
)
def test_every_suiting_method_gives_an_interval_and_its_name(text, table, suitable):
    assert set(applicable_methods(bind(parse(text), table))) - {"any-look"} == set(suitable)
    assert applicable_methods(bind(parse(text), table))[0] == suitable[0]
    for method in suitable:
        found = of(text, table, method=method)
        assert found.method.split(",")[0] == method or method == "delong-newcombe"
        # One that corrects a bias may well leave out the value itself.
        assert found.low <= found.value <= found.high
    for method in set(METHODS) - {*suitable, "none"}:  # which may be wanted of all
        with pytest.raises(MeasureError, match="does not suit"):
            of(text, table, method=method)


def test_message_of_a_method_that_does_not_suit():
    with pytest.raises(MeasureError) as caught:
        of("ap", method="wilson")
    assert str(caught.value) == (
        "method='wilson' does not suit ap.\n"
        "  hint: precision-t, bootstrap, logit-t, bias-shifted, bca, studentised, bias-corrected or test-inversion"
    )


@pytest.mark.parametrize("one", [one for one in measures() if one.table is ScoreTable], ids=lambda one: one.name)
def test_the_catalogue_names_the_interval_that_is_used(one):
    assert applicable_methods(bind(parse(one.name), PROBABLE))[0] == one.interval


def test_message_of_an_unknown_method():
    with pytest.raises(MeasureError, match="intervals 'clopper'") as caught:
        of("tpr@0.5", method="clopper")
    assert caught.value.hint == "did you mean clopper_pearson?"


def test_a_method_is_refused_also_when_the_value_is_undefined():
    with pytest.raises(MeasureError, match="does not suit"):
        of("auc", ONE_CLASS, method="wilson")


@pytest.mark.parametrize("method", ["bootstrap", "bca", "studentised"])
def test_many_rows_are_condensed_and_centred(method):
    truth = np.repeat([1, 0], [6000, 6000])
    table = score_table(truth, truth + np.random.default_rng(1).normal(size=12_000))
    found = of("auc", table, method=method, replicates=300)
    usual = of("auc", table)
    assert found.method.endswith(", condensed")
    assert (found.low, found.high) == pytest.approx((usual.low, usual.high), abs=0.003)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("text", ["tpr@0.5", "auc", "f1@0.5", "ap"])
def test_a_higher_level_is_wider(text, method):
    if method not in WORLDS and method in applicable_methods(bind(parse(text), TABLE)):
        wide, narrow = (of(text, method=method, level=level) for level in (0.95, 0.7))
        assert wide.low <= narrow.low <= narrow.high <= wide.high
        assert wide.high - wide.low > narrow.high - narrow.low


@pytest.mark.parametrize("method", ["bca", "studentised"])
@pytest.mark.parametrize("text", ["auc", "ap", "acc@0.5"])
def test_whole_weights_are_cases(text, method):
    weight = RNG.integers(1, 4, 43)
    weighted = score_table(TRUTH, SCORE, weight=weight, copies=True)
    repeated = score_table(np.repeat(TRUTH, weight), np.repeat(SCORE, weight))
    assert of(text, weighted, method=method) == of(text, repeated, method=method)


ZERO = "no interval: the standard error (delong) is zero, so bootstrap-t is not possible"
NONE = "no interval: the standard error (delong) is undefined, so bootstrap-t is not possible"
SAME = "the measure is the same in every replicate"
INFINITE = "no DeLong-logit interval: the logit of an AUC of 0 or 1 is infinite"
UNDEFINED = "undefined: only one class is present"


@pytest.mark.parametrize(
    ("table", "method", "bounds", "reason"),
    [
        (PERFECT, "delong", (1, 1), None),
        (PERFECT, "delong-logit", None, INFINITE),
        (PERFECT, "bootstrap", (1, 1), None),
        (PERFECT, "bca", (1, 1), SAME),
        (PERFECT, "studentised", None, ZERO),
        (
            REVERSED,
            "delong-logit",
            None,
            INFINITE,
        ),
        (CONSTANT, "delong", (0.5, 0.5), None),
        (CONSTANT, "delong-logit", (0.5, 0.5), None),
        (CONSTANT, "bootstrap", (0.5, 0.5), None),
        (CONSTANT, "bca", (0.5, 0.5), SAME),
        (CONSTANT, "studentised", None, ZERO),
        (ONE_POSITIVE, "delong", None, "no DeLong interval: a class has fewer than two cases"),
        (ONE_POSITIVE, "delong-logit", None, "no DeLong-logit interval: a class has fewer than two cases"),
        (ONE_POSITIVE, "studentised", None, NONE),
        *((ONE_CLASS, method, None, UNDEFINED) for method in ("delong", "delong-logit", *RESAMPLED)),
        *(
            (score_table(TRUTH, SCORE, weight=TRUTH + 0.5, copies=True), method, None, UNCOUNTED)
            for method in ("delong", "delong-logit", *RESAMPLED)
        ),
    ],
)
def test_degenerate(table, method, bounds, reason):
    found = of("auc", table, method=method)
    assert found.reason == reason
    if bounds is None:
        assert found.method is None
        assert math.isnan(found.low)
        assert math.isnan(found.high)
    else:
        assert (found.low, found.high) == bounds
        assert found.method == method


def left_out_influence(table, case):
    """How far a case moves the average precision: the difference quotient when it weighs a little more."""
    cells = np.asarray(table.cells, dtype=float)
    more = cells.copy()
    more[case] += 1e-6
    both = [float(ap(table.with_cells(each))) for each in (more, cells)]
    return (both[0] - both[1]) / 1e-6


@pytest.mark.parametrize("gap", [1.5, 2.5])
def test_a_precision_is_as_sure_as_the_cases_that_bear_it(gap):
    rng = np.random.default_rng(4)
    truth = rng.random(80) < 0.5
    table = score_table(truth, np.round(rng.normal(size=80) + gap * truth, 1), positive=True)
    draws = BootstrapDraws({"": table}, replicates=200)
    found = estimates({"": [parse("ap")]}, draws)[0]
    influence = np.repeat([left_out_influence(table, k) for k in range(table.cells.size)], table.cells.astype(int))
    squares = influence**2
    spread = 2 * squares.sum() ** 2 / (squares**2).sum()
    rarer = min(truth.sum(), 80 - truth.sum())
    df_cases = min(rarer, 1 + spread / (1 - spread / 160))
    values = draws.of("", bind(parse("ap"), table))
    expected = interval_formulas.logit_t(found.value, values, rarer, df_cases=df_cases)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-4)
    assert found.method == "precision-t"
    assert df_cases < rarer
    plain = of("ap", table, method="logit-t", replicates=200)
    assert found.low < plain.low < plain.high < found.high


def test_weights_that_are_all_alike_change_nothing_of_it():
    truth = RNG.random(60) < 0.3
    score = np.round(RNG.normal(size=60) + truth, 1)
    alike = score_table(truth, score, positive=True, weight=np.full(60, 2.5))
    assert _satterthwaite_cases(alike) == pytest.approx(_satterthwaite_cases(score_table(truth, score, positive=True)))


def test_no_interval_can_be_asked_for():
    found = estimate(parse("auc"), TABLE, method="none")
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert (found.method, found.reason) == (None, None)
    assert found.value == estimate(parse("auc"), TABLE).value

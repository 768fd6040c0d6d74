"""Which measures are shown of which model, at which threshold, and what suits none of them."""

import numpy as np
import pytest

import scorespace as ss
from helpers.evaluation_data import ASAH, PROC, ROLES, SMALL
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.evaluation.default_measures import (
    applicable_specs,
    default_measures,
    placed,
    shown_threshold,
    wanted,
    with_companions,
)
from scorespace.measures import parse, parse_list
from scorespace.measures.request import can_compute
from scorespace.tables import Table, class_table, confusion, score_table
from scorespace.tables.models import models_from_tables


def test_a_measure_of_decisions_is_placed_at_the_threshold_of_the_model(asah, small):
    assert str(asah.measures("tpr", model="ndka")[0].spec) == "tpr@0.2"
    assert str(small.measures("tpr", model="s")[0].spec) == "tpr@0.5"
    assert str(small.measures("tpr", model="d")[0].spec) == "tpr"


def test_a_request_that_suits_one_kind_of_model_leaves_the_other_out(small):
    assert [e.model for e in small.measures("acc@0.5")] == ["s"]


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ("f1[macro]", MeasureError, "averages over classes"),
        ("auc@0.5", MeasureError, "covers all thresholds"),
        ("tpr[2]", MeasureError, "names a class that does not occur"),
        ("nonsense", MeasureError, "there is no measure 'nonsense'"),
    ],
)
def test_a_request_that_suits_no_model_is_an_error(asked, error, words):
    evaluation = ss.evaluate(SMALL, truth="y", scores="s")
    with pytest.raises(error, match=words.replace("[", r"\[")):
        evaluation.measures(asked)
    with pytest.raises(error):
        ss.evaluate(SMALL, truth="y", scores="s", measures=asked)


def test_decisions_have_no_threshold():
    with pytest.raises(MeasureError, match="a decision has no threshold"):
        ss.evaluate(SMALL, truth="y", decisions="d", measures="ppv@0.5")


def test_ranking_needs_a_positive_class():
    with pytest.raises(MeasureError, match="auc cannot be computed from a confusion table of 3 classes"):
        ss.evaluate({"y": list("abc"), "d": list("abb")}, truth="y", decisions="d", measures="auc")


def test_probabilities_are_shown_at_one_half(small):
    assert small.threshold("s") == 0.5
    counts = small.counts("s")
    assert [float(getattr(counts, name)) for name in ("tp", "fp", "fn", "tn")] == [2, 1, 1, 2]


def test_other_scores_are_shown_where_youden_is_highest():
    evaluation = ss.evaluate(ASAH, **ROLES)
    theirs = PROC["s100b"]["best_youden"]
    assert evaluation.models["s100b"].at(theirs["threshold"]) == evaluation.counts("s100b")


def test_the_first_threshold_asked_for_is_the_one_shown(asah):
    assert asah.threshold("s100b") == 0.2


def test_a_condition_chooses_the_threshold():
    evaluation = ss.evaluate(SMALL, truth="y", scores="s", condition=ss.Condition(fp=1, fn=5))
    assert evaluation.threshold("s") == 0.4


def test_decisions_have_no_threshold_to_show(small):
    with pytest.raises(ScoreSpaceError, match="gives decisions, so"):
        small.threshold("d")
    numbers = ss.evaluate({"y": [1.0, 2.0], "p": [1.5, 2.5]}, truth="y", predictions="p")
    with pytest.raises(ScoreSpaceError, match=r"^p .*no threshold"):
        numbers.threshold("p")


# --- the functions themselves

SCORES = score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7])
RAW = score_table([1, 0, 1, 0], [9.0, 4.0, 6.0, 7.0])
CRISP = confusion([[3, 1], [1, 3]], classes=["a", "b"], positive="a")
THREE = confusion(np.eye(3), classes=["a", "b", "c"])
OF_SEVERAL = class_table(["x", "y"], [[0.2, 0.8], [0.3, 0.7]])


@pytest.mark.parametrize(
    ("table", "short"),
    [
        (SCORES, "auc auprc brier tpr@0.5 tnr@0.5 ppv@0.5"),
        (RAW, "auc auprc tpr@0.5 tnr@0.5 ppv@0.5"),
        (CRISP, "acc bacc tpr tnr ppv"),
        (THREE, "acc bacc f1[macro]"),
        (OF_SEVERAL, "auc logloss acc bacc f1[macro]"),
    ],
)
def test_default_measures_of_every_kind(table, short):
    found = default_measures(table, 0.5)
    assert [str(spec) for spec in found] == short.split()
    everything = default_measures(table, 0.5, full=True)
    assert {str(spec) for spec in found} <= {str(spec) for spec in everything}
    assert all(can_compute(spec, table) for spec in everything)


def test_a_kind_that_names_nothing_shows_what_is_declared_on_it():
    class Own(type(THREE)):
        """Another kind, which inherits how to be a table but not what is shown of it."""

    own = Own(THREE.cells.reshape(3, 3), THREE.classes)
    assert default_measures.dispatch(Own) is default_measures.dispatch(type(THREE))
    assert default_measures.dispatch(Table)(own) == []  # no measure is declared on it


def test_what_a_measure_is_misread_without_stands_before_it():
    found = applicable_specs(parse_list("brier, smauc(midpoint=median), smauc(midpoint=median), ks"), SCORES, 0.5)
    assert [str(spec) for spec in found] == ["brier", "smauc(midpoint=median)", "ks"]  # what was asked for
    assert [str(spec) for spec in with_companions(found)] == ["brier", "auc", "smauc(midpoint=median)", "ks"]


def test_a_request_is_placed_where_it_needs_a_threshold_and_states_none():
    for text, table, expected in [
        ("tpr", SCORES, "tpr@0.25"),
        ("tpr@0.75", SCORES, "tpr@0.75"),
        ("auc", SCORES, "auc"),
        ("tpr", CRISP, "tpr"),
    ]:
        assert str(placed(parse(text), table, 0.25)) == expected


def test_the_cost_is_shown_beside_the_usual_ones_only():
    held = models_from_tables({"s": SCORES})
    condition = ss.Condition(fp=1, fn=5, tn=-2, prevalence=0.2)
    assert str(wanted(held, (), {"s": 0.5}, condition)["s"][-1]) == "cost(fp=1, fn=5, tn=-2, prevalence=0.2)@0.5"
    assert [str(one) for one in wanted(held, parse_list("auc"), {"s": 0.5}, condition)["s"]] == ["auc"]


def test_the_threshold_that_is_shown():
    assert shown_threshold("m", SCORES, parse_list("auc, tpr@0.3, fpr@0.4"), 0.9) == 0.3
    assert shown_threshold("m", SCORES, (), 0.9) == 0.9
    assert shown_threshold("m", RAW, ()) == 9.0  # TPR − FPR is ½ there, at 6 as well; the highest score comes first
    with pytest.raises(ScoreSpaceError) as caught:
        shown_threshold("m", OF_SEVERAL, ())
    assert (
        str(caught.value) == "m decides by the highest score, so it has no threshold.\n  hint: leave out the threshold"
    )

"""Evaluations of models that score several classes, from columns to the verdict."""

import json
import math

import numpy as np
import pytest

import scorespace as ss
from oracles.load import columns
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.tables import ClassTable

CLASSES = ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
GIVEN = columns("weka_iris_nb_predictions")
SCORES = np.stack([GIVEN[f"p_{name}"] for name in CLASSES], axis=1).astype(float)
RNG = np.random.default_rng(1)
BLURRED = SCORES + 0.8 * RNG.random(SCORES.shape)
BLURRED = BLURRED / BLURRED.sum(axis=1, keepdims=True)
DATA = {
    "y": GIVEN["actual"],
    **{f"nb_{name}": SCORES[:, k] for k, name in enumerate(CLASSES)},
    **{f"blurred_{name}": BLURRED[:, k] for k, name in enumerate(CLASSES)},
    "patient": np.arange(150) // 3,
    "w": np.ones(150),
}


def evaluated(*models, **options):
    return ss.evaluate(DATA, truth="y", scores=[f"{name}_*" for name in models or ("nb",)], **options)


def test_a_model_that_scores_every_class_is_a_class_table():
    found = evaluated().models["nb"]
    assert isinstance(found, ClassTable)
    assert found.decisions.matrix.tolist() == [[50, 0, 0], [0, 48, 2], [0, 4, 46]]


def test_the_usual_measures_of_classes():
    shown = [str(one.spec) for one in evaluated().summary]
    assert shown == ["auc[hand_till]", "logloss", "acc", "bacc", "f1[macro]"]
    assert "f1[macro]" in shown


def test_without_probabilities_no_proper_score_is_shown_and_a_note_says_why():
    doubled = {name: 2 * values if name.startswith("nb") else values for name, values in DATA.items()}
    found = ss.evaluate(doubled, truth="y", scores="nb_*")
    assert "brier" not in [str(one.spec) for one in found.summary]
    assert [one.code for one in found.notes if one.code == "SS033"] == ["SS033"]
    with pytest.raises(MeasureError, match="brier needs probabilities"):
        found.measures("brier")


def test_the_verdict_names_the_best_and_what_it_confuses():
    found = evaluated("nb", "blurred").verdict
    assert "AUC[hand_till]: nb 0.994" in found
    assert "Iris-virginica predicted as Iris-versicolor (4 of 50)" in found


def test_a_perfect_model_confuses_nothing():
    crisp = np.eye(3)[[CLASSES.index(name) for name in GIVEN["actual"]]]
    found = ss.evaluate({"y": GIVEN["actual"], **{f"m_{n}": crisp[:, k] for k, n in enumerate(CLASSES)}},
                        truth="y", scores="m_*")  # fmt: skip
    assert "all cases correctly" in found.verdict
    assert found.measures("auc[hand_till]")[0].value == 1


def test_a_stated_positive_class_makes_it_a_matter_of_two():
    found = evaluated(positive="Iris-virginica")
    assert found.measures("auc")[0].value == pytest.approx(0.992, abs=5e-4)


def test_curves_are_those_of_each_class():
    found = evaluated()
    assert list(found.curves("roc")) == [f"nb[{name}]" for name in CLASSES]
    assert found.curve("roc", "nb[Iris-virginica]").area() == pytest.approx(0.992, abs=5e-4)
    assert list(found.curves("calibration")) == [*(f"nb[{name}]" for name in CLASSES), "nb[top]"]
    with pytest.raises(ScoreSpaceError, match=r"name a class: nb\[Iris-setosa\]"):
        found.curve("roc", "nb")


def test_the_least_sure_cases_are_rejected_first():
    curve = evaluated().curve("rejection", "nb")
    assert curve.y[0] == pytest.approx(0.96)
    assert curve.y[-1] == 1


@pytest.mark.parametrize("kind", ["roc", "pr", "calibration", "rejection", "gain"])
def test_every_kind_of_curve_is_drawn(kind):
    assert evaluated().plot(kind).to_dict()


def test_a_band_belongs_to_a_class():
    band = evaluated().band("roc", "nb[Iris-versicolor]")
    assert np.all(band.low <= band.high)


def test_models_are_compared_case_by_case():
    found = evaluated("nb", "blurred").compare()[0]
    areas = [one.value for one in evaluated("nb", "blurred").measures("auc[hand_till]")]
    assert found.difference == pytest.approx(areas[0] - areas[1])
    assert evaluated("nb", "blurred").differences["logloss"].difference < 0
    with pytest.raises(MeasureError, match="highest score"):
        evaluated("nb", "blurred").compare(at=0.5)


def test_groups_of_cases_are_drawn_whole():
    found = evaluated(group="patient", measures="auc[hand_till], acc, brier").summary
    assert {one.method for one in found} == {"bootstrap of groups"}


def test_weights_of_one_change_no_value():
    plain, weighted = evaluated().summary, evaluated(weight="w").summary
    for one, other in zip(plain, weighted, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-12)


def test_costs_add_the_decisions_of_least_cost():
    costs = ss.CostMatrix(CLASSES, [[0, 1, 1], [1, 0, 10], [1, 1, 0]])
    found = evaluated(condition=costs)
    assert "nb (least cost)" in found.models
    assert found.decision.words


def test_a_scored_class_that_never_occurs_is_noted():
    found = ss.evaluate(DATA | {"nb_lily": np.zeros(150)}, truth="y", scores="nb_*")
    (text,) = [one.text for one in found.notes if one.code == "SS034"]
    assert "'lily'" in text
    assert found.measures("auc[hand_till]")[0].value == pytest.approx(0.9944)


def test_two_classes_without_a_positive_one_take_turns():
    found = ss.evaluate(
        {"y": ["good", "bad", "good"], "m_good": [0.8, 0.3, 0.6], "m_bad": [0.2, 0.7, 0.4]}, truth="y", scores="m_*"
    )
    assert found.measures("auc[hand_till]")[0].value == 1


def test_one_number_by_name():
    assert ss.measure("auc[hand_till]", truth=GIVEN["actual"], score=SCORES) == pytest.approx(0.9944)
    by_class = {name: SCORES[:, k] for k, name in enumerate(CLASSES)}
    assert ss.measure("brier", truth=GIVEN["actual"], score=by_class) == pytest.approx(0.0720704512)


def test_json_holds_every_number():
    found = json.loads(json.dumps(evaluated().to_dict()))
    assert found["data"]["positive"] is None
    assert all(row["value"] is not None and math.isfinite(row["value"]) for row in found["rows"])


def test_report_has_the_classes(tmp_path):
    page = evaluated("nb", "blurred").report(tmp_path / "iris.html").read_text(encoding="utf-8")
    for words in ("ROC area", "actual \\ predicted", "AUC of each pair of classes"):
        assert words in page


def test_tables_are_evaluated_as_they_are():
    table = ss.class_table(GIVEN["actual"], SCORES, classes=CLASSES)
    assert ss.evaluate({"nb": table}).measures("auc[macro]")[0].value == pytest.approx(0.9944)


def test_a_model_alone_is_compared_with_a_value_by_hand_and_till():
    (found,) = evaluated().compare_against(0.9)
    assert found.measure == "auc[hand_till]"
    assert found.p < 0.01


def test_decisions_between_classes_are_compared_by_mcnemar():
    decided = {"one": GIVEN["predicted"], "other": np.roll(GIVEN["predicted"], 1)}
    found = ss.evaluate({"y": GIVEN["actual"], **decided}, truth="y", decisions=["one", "other"]).compare()[0]
    right = [np.asarray(labels) == np.asarray(GIVEN["actual"]) for labels in decided.values()]
    assert found.test.startswith("mcnemar")
    assert found.table[0][1] == int((right[0] & ~right[1]).sum())
    assert found.table[1][0] == int((~right[0] & right[1]).sum())


def test_scores_and_decisions_are_compared_by_which_are_right():
    both = ss.evaluate(DATA | {"d": GIVEN["predicted"]}, truth="y", scores="nb_*", decisions="d")
    (found,) = both.compare()
    assert found.table == ((144, 0), (0, 6))  # WEKA decides by the highest probability too
    with pytest.raises(MeasureError, match="brier cannot"):
        both.compare(measure="brier")
    assert both.compare(test="bootstrap")[0].measure == "acc"


def test_decisions_for_a_class_that_never_occurs_are_wrong():
    found = ss.evaluate(
        {"y": ["a", "b", "c"], "one": ["a", "z", "c"], "other": ["a", "b", "c"]}, truth="y", decisions=["one", "other"]
    )
    assert found.compare()[0].table == ((2, 0), (1, 0))


def test_groups_and_fractional_weights_are_noted():
    assert "SS016" in [one.code for one in evaluated(group="patient", measures="auc[hand_till]").notes]
    halves = ss.evaluate(DATA | {"w": np.full(150, 0.5)}, truth="y", scores="nb_*", weight="w", measures="acc")
    assert "SS006" in [one.code for one in halves.notes]


def test_equal_scores_are_decided_alike_for_accuracy_and_for_the_test():
    rng = np.random.default_rng(4)
    truth, scores = rng.choice(list("abc"), 60), np.round(rng.dirichlet([1, 1, 1], 60), 1)
    data = {"y": truth, "nb_c": scores[:, 2], "nb_b": scores[:, 1], "nb_a": scores[:, 0], "d": rng.permutation(truth)}
    found = ss.evaluate(data, truth="y", scores="nb_*", decisions="d", measures="acc")
    by_model = {one.model: one.value for one in found.summary}
    assert found.compare()[0].difference == pytest.approx(by_model["nb"] - by_model["d"])


def test_weighted_models_are_compared_as_cases():
    found = evaluated("nb", "blurred", weight="w", measures="acc")
    assert found.compare(measure="acc", test="bootstrap")[0].p <= 1
    assert found.verdict


def test_a_stated_positive_class_of_three_is_compared_as_two():
    found = evaluated("nb", "blurred", positive="Iris-virginica", measures="auc")
    assert found.compare()[0].test == "delong"


def test_a_rare_class_keeps_all_its_cases_in_the_interval(monkeypatch):
    monkeypatch.setattr("scorespace.inference.subsampling.MAX_CLASS_SCORES", 500)
    rng = np.random.default_rng(1)
    label = np.repeat([0, 1, 2], [400, 400, 12])
    score = rng.random((label.size, 3)) + 0.3 * (label[:, None] == np.arange(3))
    found = ss.evaluate({"m": ss.class_table(label, score)}, measures="auc[hand_till]").summary[0]
    assert found.method.startswith(("bootstrap", "logit-t"))

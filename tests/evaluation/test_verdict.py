"""The verdict: sentences that can be read aloud, true of the numbers."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.measures.ranking import auc
from scorespace.tables import score_table

# From the highest score down: + − + + − −
SMALL = {"y": [1, 0, 1, 1, 0, 0], "s": [0.9, 0.8, 0.7, 0.4, 0.3, 0.1]}
MANY = np.tile([1, 0], 500)
SPREAD = np.random.default_rng(0).normal(size=MANY.size)


def verdict(data, **options):
    return ss.evaluate(data, **{"truth": "y", "scores": "s", **options}).verdict


def interval(data, model="s", **options):
    one = ss.evaluate(data, **{"truth": "y", "scores": "s", **options}).measures("auc", model=model)[0]
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


def test_one_model():
    assert verdict(SMALL) == (
        f"s has AUC {interval(SMALL)}. These cases do not show that s ranks better than chance. "
        "At threshold 0.5 s finds 67 % of the positive cases, and 67 % of its alarms are right."
    )


def test_one_model_that_raises_no_alarm():
    assert verdict(SMALL, measures="tpr@0.95").endswith("At threshold 0.95 s predicts no case to be positive.")


def test_several_models_that_chance_could_tell_apart():
    data = {**SMALL, "t": [0.9, 0.8, 0.2, 0.4, 0.3, 0.1]}
    both = {"scores": ["t", "s"]}
    p = ss.evaluate(data, truth="y", **both).compare("s", "t", measure="auc")[0].p
    assert verdict(data, **both).startswith(
        f"s ranks best, with AUC {interval(data, **both)}; t follows with {interval(data, 't', **both)}: "
        f"a difference of 0.111, which chance could explain (p = {p:.3f}). "
        "These cases do not show that s ranks better than chance. At threshold 0.5 s finds "
    )


def test_scores_beyond_chance_need_no_doubt():
    assert "not shown" not in verdict({"y": [0] * 50 + [1] * 50, "s": np.linspace(0, 1, 100)})


def test_constant_scores_do_not_rank_best():
    data = {"y": MANY, "s": np.full(MANY.size, 0.5), "t": np.full(MANY.size, 0.3)}
    assert "best" not in verdict(data, scores=["s", "t"], positive=1)


def test_several_models_that_differ():
    words = verdict({"y": MANY, "s": MANY + SPREAD, "t": SPREAD}, scores=["t", "s"], positive=1)
    assert words.startswith("s ranks best, with AUC ")
    assert "; t follows with " in words
    assert ", more than chance explains (p < 0.001). " in words


def tables(data, *names):
    return {name: ss.score_table(data["y"], data[name], positive=1) for name in names}


@pytest.mark.parametrize(
    "data", [{**SMALL, "t": [0.9, 0.8, 0.2, 0.4, 0.3, 0.1]}, {"y": MANY, "s": MANY + SPREAD, "t": SPREAD}]
)
def test_tables_whose_cases_are_not_known_side_by_side_are_not_judged_by_their_intervals(data):
    words = ss.evaluate(tables(data, "t", "s")).verdict
    assert ": the difference is not tested, since the cases are not known side by side. " in words
    assert "overlap" not in words


def test_without_intervals_nothing_is_said_about_certainty():
    data = {**SMALL, "t": SMALL["s"][::-1], "w": [1.5] * 6}
    words = verdict(data, scores=["s", "t"], weight="w", weights="copies")
    assert words.startswith("s ranks best, with AUC 0.778; t follows with 0.222: without intervals, ")


def test_one_class_only():
    assert verdict({"y": [1, 1], "s": [0.5, 0.6]}) == (
        "Nothing can be ranked: only one class is present, so the area under the ROC curve is undefined."
    )


def test_decisions():
    data = {**SMALL, "d": [1, 0, 1, 1, 0, 1], "e": [0, 1, 0, 1, 0, 1]}
    words = verdict(data, scores=(), decisions=["e", "d"])
    assert words.startswith("d decides best, with balanced accuracy 0.833 [")
    assert "; e follows with 0.333 [" in words


def test_one_model_that_decides():
    words = verdict({**SMALL, "d": [1, 0, 1, 1, 0, 1]}, scores=(), decisions="d")
    assert words.startswith("d has balanced accuracy 0.833 [")


def test_scores_come_before_decisions():
    assert verdict({**SMALL, "d": SMALL["y"]}, decisions="d").startswith("s has AUC ")


def test_decisions_on_several_classes():
    data = {"y": list("aabbcc"), "d": list("aabbca")}
    assert verdict(data, scores=(), decisions="d").startswith("d has balanced accuracy 0.833 [")


def test_with_a_condition_it_says_what_to_use():
    # Worked out by hand in tests/decisions/test_model.py.
    many = {name: column * 20 for name, column in SMALL.items()}
    assert verdict(many, condition=ss.Condition(fp=1, fn=5)) == (
        f"s has AUC {interval(many)}. Use s at threshold 0.4: cross-fitted cost 0.167 per case "
        "[0.108, 0.357] (apparent 0.167). "
        "That is 333 per 1 000 less than calling every case positive [143, 427]."
    )


def test_with_too_few_cases_no_model_is_shown_to_pay():
    words = verdict(SMALL, condition=ss.Condition(fp=1, fn=5))
    assert words.startswith(f"s has AUC {interval(SMALL)}. s is not shown to beat calling every case positive, ")


def test_with_a_condition_under_which_no_model_pays():
    words = verdict({**SMALL, "s": SMALL["s"][::-1]}, condition=ss.Condition(fp=1, fn=100))
    assert "Use no model: calling every case positive: 0.500 per case." in words


def test_costs_of_several_classes():
    data = {"y": list("aabbcc"), "d": list("aabbca")}
    costs = ss.CostMatrix(("a", "b", "c"), [[0, 1, 1], [1, 0, 1], [6, 1, 0]])
    assert verdict(data, scores=(), decisions="d", condition=costs) == (
        "No model beats deciding every case b, which costs 0.667 per case. The cheapest, d, costs 1.000 per case, "
        "6 in all."
    )
    right = {"y": data["y"], "d": list("aabbcb")}
    assert verdict(right, scores=(), decisions="d", condition=costs) == "Use d: 0.167 per case, 1 in all."


def test_the_level_of_confidence_is_the_one_asked_for():
    assert interval(SMALL, level=0.5) in verdict(SMALL, level=0.5)
    assert interval(SMALL, level=0.5) != interval(SMALL)


# --- rare positives


def rare(models=1):
    rng = np.random.default_rng(3)
    truth = np.repeat([1, 0], [30, 1970])
    scores = {f"m{k}": 1 / (1 + np.exp(8 - 2 * truth - rng.normal(size=2000))) for k in range(models)}
    return ss.evaluate({"y": truth, **scores}, truth="y", scores=list(scores))


def test_rare_positives_lead_with_precision_recall_and_ask_for_costs():
    found = rare()
    assert [one.spec.name for one in found.summary][:2] == ["auprc", "auc"]
    assert found.verdict.startswith("m0 has area under the precision-recall curve 0.")
    assert found.verdict.endswith(
        "With 1.5 % positives chance would reach 0.015; which threshold is right depends on what mistakes cost: "
        "state the costs."
    )
    two = rare(2)
    assert " finds the rare positives best, with area under the precision-recall curve 0." in two.verdict
    decided = ss.Evaluation(two.models, condition=ss.Condition(fp=1, fn=50)).verdict
    assert "precision-recall" in decided
    assert "per case" in decided


def test_common_positives_lead_with_the_auc():
    found = ss.evaluate({"y": [1] * 10 + [0] * 190, "s": -np.arange(200.0)}, truth="y", scores="s")  # 5 %
    assert found.verdict.startswith("s has AUC 1.000")


def test_no_miscalibration_of_zero():
    text = " ".join(note.text for note in rare(2).notes)
    assert "0.000 is" not in text


def test_what_holds_for_all_models_is_noted_once():
    codes = [note.code for note in rare(3).notes]
    assert codes.count("SS004") == codes.count("SS027") == 1
    (text,) = [note.text for note in rare(3).notes if note.code == "SS004"]
    assert text == "each of m0, m1 and m2 predicts nothing positive at 0.5: precision is undefined there."


def test_a_difference_over_folds_is_told_as_such_beside_pooled_numbers():
    rng = np.random.default_rng(4)
    label = np.tile([0, 1], 60)
    data = {"y": label, "k": np.repeat(np.arange(4), 30), **{m: label + rng.normal(0, 1.5, 120) for m in "ab"}}
    over = {"scores": ["a", "b"], "measures": "auc"}
    means = [[auc(score_table(label[data["k"] == k], data[m][data["k"] == k])) for k in range(4)] for m in "ab"]
    gap = abs(np.mean(means[0]) - np.mean(means[1]))
    assert f": a difference of {gap:.3f} as mean over folds, " in verdict(data, fold="k", **over)
    assert "mean over folds" not in verdict(data, **over)

"""The verdict concludes on what was asked, and is true of the numbers."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.measures.ranking import auc
from scorespace.tables import score_table

# From the highest score down: + − + + − −
SMALL = {"y": [1, 0, 1, 1, 0, 0], "s": [0.9, 0.8, 0.7, 0.4, 0.3, 0.1]}
MANY = np.tile([1, 0], 500)
NOISE = np.random.default_rng(0).normal(size=MANY.size)
CLEAR = {"y": MANY, "s": MANY + NOISE, "t": NOISE}


def evaluation(data, *, truth="y", scores="s", columns=None, settings=None, **options):
    return ss.evaluate(data, truth=truth, scores=scores, columns=columns, settings=settings, **options)


def verdict(data, **options):
    return evaluation(data, **options).verdict


def interval(data, model="s", **options):
    one = evaluation(data, **options).measures("auc", model=model)[0]
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


def test_one_model():
    assert verdict(SMALL) == (
        f"s: AUC {interval(SMALL)}. There is no evidence that s ranks better than chance. "
        "s at threshold 0.5: recall 0.667, specificity 0.667, precision 0.667."
    )


def test_names_of_the_profile():
    words = verdict(SMALL, settings={"profile": "clinical"})
    assert words.endswith("s at threshold 0.5: sensitivity 0.667, specificity 0.667, PPV 0.667.")


def test_a_difference_that_is_not_clear():
    data = {**SMALL, "t": [0.9, 0.8, 0.2, 0.4, 0.3, 0.1]}
    found = evaluation(data, scores=["t", "s"])
    test = found.compare("s", "t", measure="auc")[0]
    assert found.conclusion[1].clear is False
    assert found.verdict.startswith("No clear difference in AUC: s 0.778, t 0.667 (+0.111 [")
    assert f"p = {test.p:.3f}" in found.verdict
    assert "ranks best" not in found.verdict


def test_a_clear_difference():
    found = evaluation(CLEAR, scores=["t", "s"], positive=1)
    assert found.conclusion[1].clear is True
    assert found.leader == "s"
    assert found.verdict.startswith("s ranks best: AUC 0.")
    assert "p < 0.001" in found.verdict


def test_no_doubt_beside_scores_that_rank():
    assert "no evidence" not in verdict({"y": [0] * 50 + [1] * 50, "s": np.linspace(0, 1, 100)})


def test_constant_scores_do_not_rank_best():
    data = {"y": MANY, "s": np.full(MANY.size, 0.5), "t": np.full(MANY.size, 0.3)}
    assert "best" not in verdict(data, scores=["s", "t"], positive=1)


def test_three_models_are_tested_against_the_best_with_adjusted_p():
    data = {**CLEAR, "u": MANY + np.roll(NOISE, 7)}
    found = evaluation(data, scores=["t", "s", "u"], positive=1)
    conclusion = found.conclusion[1]
    by_pair = {frozenset((one.a, one.b)): one for one in found.compare() if not one.several}
    for name, test in conclusion.tests.items():
        assert test.reported_p == by_pair[frozenset((conclusion.best.model, name))].p_adjusted
    assert "t is worse" in found.verdict


# --- requested measures


def test_requested_measures_in_their_order_at_their_operating_points():
    found = evaluation(CLEAR, scores=["t", "s"], positive=1, measures="f1@0.3, auc")
    assert [one.best.spec.shown for one in found.conclusions] == ["f1@0.3", "auc"]
    assert found.verdict.index("f1@0.3") < found.verdict.index("auc")
    values = {one.model: one.value for one in found.measures("f1@0.3")}
    assert f"f1@0.3 {max(values.values()):.3f}" in found.verdict


def test_lower_is_better_where_the_measure_says_so():
    data = {"y": MANY, "s": np.where(MANY, 0.9, 0.1), "t": np.full(MANY.size, 0.5)}
    found = evaluation(data, scores=["t", "s"], measures="brier")
    assert found.verdict.startswith("s is best: brier 0.010, t 0.250 (−0.240")


def test_counts_have_no_better_side_and_are_stated():
    assert verdict(SMALL, measures="tp@0.5").startswith("s: tp@0.5 2")


def test_many_requested_measures_are_not_all_concluded_on():
    words = verdict(SMALL, measures="auc, ap, brier, logloss, ks, f1@0.5")
    assert words.endswith("2 more in the table.")


# --- without a test


def tables(data, *names):
    return {name: ss.score_table(data["y"], data[name], positive=1) for name in names}


@pytest.mark.parametrize("data", [{**SMALL, "t": [0.9, 0.8, 0.2, 0.4, 0.3, 0.1]}, CLEAR])
def test_unpaired_tables_are_not_compared_by_their_intervals(data):
    found = ss.evaluate_tables(tables(data, "t", "s"))
    assert found.conclusion[1].clear is None
    assert "the difference is not tested, because the cases are not paired." in found.verdict


def test_one_class_only():
    assert "only one class is present" in verdict({"y": [1, 1], "s": [0.5, 0.6]})


# --- decisions


def test_decisions():
    data = {**SMALL, "d": [1, 0, 1, 1, 0, 1], "e": [0, 1, 0, 1, 0, 1]}
    found = evaluation(data, scores=(), decisions=["e", "d"])
    assert [one.model for one in found.conclusion[1].ordered] == ["d", "e"]
    assert "No clear difference in balanced accuracy: d 0.833, e 0.333" in found.verdict


def test_one_model_that_decides():
    words = verdict({**SMALL, "d": [1, 0, 1, 1, 0, 1]}, scores=(), decisions="d")
    assert words.startswith("d: balanced accuracy 0.833 [")


def test_scores_come_before_decisions():
    assert verdict({**SMALL, "d": SMALL["y"]}, decisions="d").startswith("s: AUC ")


def test_multiclass_decisions():
    data = {"y": list("aabbcc"), "d": list("aabbca")}
    assert verdict(data, scores=(), decisions="d").startswith("d: balanced accuracy 0.833 [")


# --- costs


def test_with_costs_it_states_what_to_use():
    # Worked out by hand in tests/decisions.
    many = {name: column * 20 for name, column in SMALL.items()}
    found = evaluation(many, condition=ss.Condition(fp=1, fn=5))
    assert found.leader == "s"
    for fact in (f"s: AUC {interval(many)}.", "s at threshold 0.4", "0.167 per case, cross-fitted"):
        assert fact in found.verdict


def test_the_best_ranking_that_costs_more_is_explained():
    rng = np.random.default_rng(1)
    truth = np.repeat([1, 0], [200, 800])
    ranks = np.where(truth, rng.normal(2, 1, 1000), rng.normal(0, 1, 1000))  # ranks well
    sharp = np.where(rng.random(1000) < np.where(truth, 0.6, 0.0), 5.0, rng.normal(0, 0.1, 1000))
    costs = ss.Condition(fp=30, fn=1)
    found = evaluation({"y": truth, "a": ranks, "b": sharp}, scores=["a", "b"], condition=costs)
    assert found.conclusion[1].best.model == "a"
    assert found.leader == "b"
    assert "a ranks best, but costs more at these costs." in found.verdict


def test_multiclass_costs():
    data = {"y": list("aabbcc"), "d": list("aabbca")}
    costs = ss.CostMatrix(("a", "b", "c"), [[0, 1, 1], [1, 0, 1], [6, 1, 0]])
    words = verdict(data, scores=(), decisions="d", condition=costs)
    assert "0.667" in words
    assert "1.000" in words
    right = {"y": data["y"], "d": list("aabbcb")}
    assert "0.167" in verdict(right, scores=(), decisions="d", condition=costs)


def test_the_level_of_confidence_is_the_stated_one():
    half = {"settings": {"level": 0.5}}
    assert interval(SMALL, **half) in verdict(SMALL, **half)
    assert interval(SMALL, **half) != interval(SMALL)


# --- rare positives


def rare(models=1, **options):
    rng = np.random.default_rng(3)
    truth = np.repeat([1, 0], [30, 1970])
    scores = {f"m{k}": 1 / (1 + np.exp(8 - 2 * truth - rng.normal(size=2000))) for k in range(models)}
    return ss.evaluate({"y": truth, **scores}, truth="y", scores=list(scores), **options)


def test_rare_positives_lead_with_average_precision():
    found = rare()
    assert [one.spec.name for one in found.summary][:2] == ["ap", "auc"]
    assert found.verdict.startswith("m0: average precision 0.")
    assert rare(2).conclusion[1].best.spec.name == "ap"
    decided = rare(2, condition=ss.Condition(fp=1, fn=50)).verdict
    assert "average precision" in decided


def test_common_positives_lead_with_the_auc():
    found = ss.evaluate({"y": [1] * 10 + [0] * 190, "s": -np.arange(200.0)}, truth="y", scores="s")  # 5 %
    assert found.verdict.startswith("s: AUC 1.000")


def test_no_miscalibration_of_zero():
    text = " ".join(note.text for note in rare(2).notes)
    assert "0.000 is" not in text


def test_equal_notes_on_all_models_are_merged():
    notes = [note for note in rare(3).notes if note.code == "SS004"]
    assert len(notes) == 1
    assert notes[0].text.startswith("each of m0, m1 and m2 ")


def test_a_mean_difference_over_folds_is_labelled():
    rng = np.random.default_rng(4)
    label = np.tile([0, 1], 60)
    data = {"y": label, "k": np.repeat(np.arange(4), 30), **{m: label + rng.normal(0, 1.5, 120) for m in "ab"}}
    means = [[auc(score_table(label[data["k"] == k], data[m][data["k"] == k])) for k in range(4)] for m in "ab"]
    gap = abs(np.mean(means[0]) - np.mean(means[1]))
    over = {"scores": ["a", "b"], "measures": "auc"}
    words = verdict(data, columns={"fold": "k"}, **over)
    assert f"{gap:.3f}" in words
    assert "mean over folds" in words
    assert "mean over folds" not in verdict(data, **over)

"""The declaration of a finding: on which table, what it says, and how often."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import scorespace as ss
from scorespace.evaluation.findings import FEW_CASES, FINDINGS, FindingContext, finding, notes_on
from scorespace.results import NOTE_KINDS
from scorespace.tables import Counts, ScoreTable, confusion, score_table

SCORES = score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7])
CRISP = confusion([[3, 1], [1, 3]], classes=["a", "b"], positive="a")
THREE = confusion([[1, 0, 0], [0, 1, 0], [0, 0, 1]], classes=["a", "b", "c"])


@pytest.fixture
def ours():
    """Findings for the time of a test; what is said under their codes."""
    before = len(FINDINGS)

    @finding("YY001", level="warning", title="outcomes")
    def outcomes(table: Counts, look: FindingContext):
        return f"{look.model}{look.at_text}: {int(table.tp)} found."

    @finding("YY002", level="info", title="scores")
    def scores(table: ScoreTable, look: FindingContext):
        yield from (f"{look.model} scores {score:g}." for score in table.score[:2])

    @finding("YY001")
    def nothing(table: Counts, look: FindingContext):
        return None

    yield lambda table, look: [(n.code, n.level, n.text) for n in notes_on(table, look) if n.code.startswith("YY")]
    del FINDINGS[before:]
    for code in ("YY001", "YY002"):
        NOTE_KINDS.pop(code)


def test_a_finding_is_said_of_the_table_it_names_and_of_the_outcomes_inside(ours):
    assert ours(SCORES, FindingContext("nb", 0.5)) == [
        ("YY001", "warning", "nb at 0.5: 2 found."),
        ("YY002", "info", "nb scores 0.9."),
        ("YY002", "info", "nb scores 0.7."),
    ]


def test_decisions_need_no_threshold_and_have_no_scores_to_speak_of(ours):
    assert ours(CRISP, FindingContext("rule")) == [("YY001", "warning", "rule: 3 found.")]


def test_what_has_no_such_table_inside_is_passed_over(ours):
    assert ours(THREE, FindingContext("rule")) == []
    assert [code for code, _, _ in ours(SCORES, FindingContext("nb"))] == [
        "YY002",
        "YY002",
    ]  # no threshold: no outcomes


def test_a_code_keeps_the_meaning_it_was_declared_with(ours):
    @finding("YY001", level="info", title="something else")
    def again(table: Counts, look: FindingContext): ...

    assert (NOTE_KINDS["YY001"].level, NOTE_KINDS["YY001"].title) == ("warning", "outcomes")


SOURCE = Path(ss.__file__).parent
RNG = np.random.default_rng(0)
CASES = 200
TRUTH = np.tile(["bad", "good"], CASES // 2)
# Overlapping probabilities without ties, the bad ones higher, in no order: no kind of note applies.
SCORE = np.stack([RNG.beta(4, 3, CASES // 2), RNG.beta(3, 4, CASES // 2)], axis=1).ravel()
FINE = {"y": TRUTH, "s": SCORE}


def notes(data=FINE, code=None, **options):
    """The texts of the notes of one code, or all codes, on an evaluation."""
    asked = {"truth": "y", "scores": "s", "positive": "bad", "measures": "auc", **options}
    found = ss.evaluate(data, **asked).notes
    return [note.text for note in found if note.code == code] if code else [note.code for note in found]


def changed(**columns):
    return {**FINE, **columns}


def test_there_is_nothing_to_say_about_a_good_sample():
    assert notes() == []


def test_every_kind_of_note_on_an_evaluation_is_tested_here():
    tested = {name.split("_")[1].upper() for name in globals() if name.startswith("test_ss")}
    homes = ("evaluation/findings.py", "io/validation.py", "decisions/*.py")
    raised = [{*re.findall(r"\bSS\d{3}\b", path.read_text("utf-8"))} for home in homes for path in SOURCE.glob(home)]
    assert set().union(*raised) <= tested <= set(NOTE_KINDS)
    assert len(set().union(*raised)) > 20


def test_ss045_few_cases_bear_a_cost():
    data = {"y": TRUTH, "s": SCORE, "amount": np.where(np.arange(TRUTH.size) % 50, 1.0, 1e4)}
    ev = ss.evaluate(data, truth="y", scores="s", positive="bad", cost_fp=5, cost_fn="amount")
    assert "SS045" in {note.code for note in ev.notes}


def test_ss183_few_groups_of_values():
    def codes(groups):
        data = {"g": np.arange(60) % groups}
        return {note.code for note in ss.evaluate(data, values={"a": np.arange(60.0)}, columns={"group": "g"}).notes}

    assert "SS183" in codes(4)
    assert "SS183" not in codes(20)


def test_ss001_few_cases_in_a_class():
    few = np.array(["bad"] * (FEW_CASES - 1) + ["good"] * 100)
    score = np.linspace(0, 1, few.size)
    (text,) = notes({"y": few, "s": score}, "SS001")
    assert "'bad'" in text
    assert "19 cases" in text
    enough = np.array(["bad"] * FEW_CASES + ["good"] * 99)
    assert not notes({"y": enough, "s": score}, "SS001")


def test_ss002_auc_below_one_half():
    (text,) = notes(changed(s=1 - SCORE), "SS002")
    area = 1 - ss.measure("auc", truth=TRUTH, score=SCORE, positive="bad")
    assert f"AUC {area:.3f}" in text
    assert 'its direction is probably reversed: --score "reversed=minus(s)"' in text
    assert not notes(code="SS002")
    noise = np.random.default_rng(0).random(CASES)
    area = ss.measure("auc", truth=TRUTH, score=noise, positive="bad")
    (text,) = notes(changed(s=noise if area < 0.5 else 1 - noise), "SS002")
    assert text == f"s ranks no better than chance (AUC {min(area, 1 - area):.3f})."


def test_ss003_scores_that_are_not_probabilities():
    (text,) = notes(changed(s=10 * SCORE), "SS003")
    assert f"from {10 * SCORE.min():g} to {10 * SCORE.max():g}" in text
    assert "Youden" in text


def test_ss003_tells_what_the_chosen_threshold_is_worth_on_other_cases():
    noise = RNG.normal(size=CASES)
    (text,) = notes(changed(s=noise), "SS003")
    expected, low, high, here = (float(one.replace("−", "-")) for one in re.findall(r"[−-]?0\.\d{3}\b", text)[-4:])
    assert here == pytest.approx(
        max(stats.ks_2samp(noise[::2], noise[1::2], alternative="less").statistic, 0), abs=6e-4
    )
    assert low <= 0 <= high  # nothing is to be expected of noise
    assert expected < here


def test_ss003_speaks_of_no_choice_where_the_threshold_was_stated():
    (text,) = notes(changed(s=10 * SCORE), "SS003", measures="ppv@5")
    assert text.endswith("they are no probabilities.")


def test_ss004_nothing_is_predicted_positive():
    (text,) = notes(code="SS004", measures="ppv@2")
    assert "at 2" in text
    assert "@top2" in text
    assert "@top" not in notes(code="SS004", measures="ppv@1.5")[0]
    assert not notes(code="SS004", measures="ppv@0.5")


def test_ss004_of_decisions():
    decided = np.full(CASES, "good")
    (text,) = notes(changed(d=decided), "SS004", scores=(), decisions="d", measures="acc")
    assert text.startswith("d predicts no case positive")


def test_ss005_a_flood_of_false_alarms():
    # 5 % of 2 000 negatives are 100 false alarms, for 20 hits.
    truth = ["bad"] * 20 + ["good"] * 2000
    score = [0.9] * 20 + [0.8] * 100 + [0.1] * 1900
    (text,) = notes({"y": truth, "s": score}, "SS005")
    assert "at 0.5 is only 5 %" in text
    assert "100 false positives for 20 true positives" in text
    assert not notes({"y": truth, "s": score}, "SS005", measures="ppv@0.85")


def test_ss005_of_decisions():
    truth = ["bad"] * 20 + ["good"] * 2000
    decided = ["bad"] * 120 + ["good"] * 1900
    (text,) = notes({"y": truth, "d": decided}, "SS005", scores=(), decisions="d", measures="acc")
    assert "100 false positives for 20 true positives" in text


def test_ss006_weights_are_cases_unless_they_are_copies():
    for weight in (1.5, 100.0):
        (text,) = notes(changed(w=np.full(CASES, weight)), "SS006", weight="w")
        assert "each row as one case" in text
    assert not notes(changed(w=np.full(CASES, 2.0)), "SS006", weight="w", weights="copies")
    (text,) = notes(changed(w=np.full(CASES, 1.5)), "SS006", weight="w", weights="copies")
    assert "not whole numbers" in text


def test_ss006_equal_weights_change_no_interval():
    plain, weighted = (
        ss.evaluate(changed(w=np.full(CASES, 100.0)), truth="y", scores="s", positive="bad", weight=weight).measures(
            "tpr@0.5"
        )[0]
        for weight in (None, "w")
    )
    assert (weighted.low, weighted.high) == pytest.approx((plain.low, plain.high))


def test_ss007_many_tied_scores():
    (text,) = notes(changed(s=np.floor(SCORE * 20) / 20), "SS007")
    distinct = np.unique(np.floor(SCORE * 20)).size
    assert f"{distinct} distinct scores for 200 cases" in text
    assert not notes(code="SS007")


def test_ss007_is_silent_where_no_score_holds_much_of_a_class():
    # Scorecards of some hundred points, or probabilities of six decimals: ten cases to a score, and a smooth curve.
    truth = np.tile([1, 0, 0, 0], 2000)
    card = 300 + (np.arange(8000) * 7) % 400
    assert not [one for one in ss.evaluate(truth, {"card": card}).notes if one.code == "SS007"]


def test_ss007_of_weighted_rows_counts_scores_and_no_cases():
    data = changed(s=np.floor(SCORE * 5) / 5, w=np.linspace(0.5, 2.5, CASES))
    found = ss.evaluate(data, truth="y", scores="s", positive="bad", weight="w").notes
    (text,) = [one.text for one in found if one.code == "SS007"]
    assert "distinct scores: its curve" in text


def test_ss008_coarsened_scores():
    exact = ss.score_table(TRUTH, SCORE, positive="bad")
    coarse = exact.coarsen(0.01)
    found = ss.evaluate({"s": coarse}, measures="auc")
    (text,) = [note.text for note in found.notes if note.code == "SS008"]
    assert "rounded to 0.01" in text
    stated = float(text.split("±")[1].rstrip("."))
    assert abs(ss.auc(coarse) - ss.auc(exact)) <= stated * 1.05  # the text has two digits
    assert not [note for note in ss.evaluate({"s": exact}, measures="auc").notes if note.code == "SS008"]


def test_ss009_dropped_rows():
    gaps = SCORE.copy()
    gaps[:3] = np.nan
    (text,) = notes(changed(s=gaps), "SS009", missing="drop")
    assert "3 of 200 rows" in text
    assert "'s' (3)" in text
    assert not notes(code="SS009", missing="drop")


@pytest.mark.parametrize(
    ("labels", "positive"), [([1, 0], "1"), ([1, -1], "1"), ([True, False], "True")], ids=["0/1", "-1/1", "booleans"]
)
def test_ss010_the_positive_class_was_inferred(labels, positive):
    truth = np.repeat(labels, CASES // 2)
    (text,) = notes(changed(y=truth), "SS010", positive=None)
    assert f"positive = {positive}, inferred" in text
    assert not notes(changed(y=truth), "SS010", positive=labels[0])


def test_ss011_an_average_leaves_out_classes():
    truth, decided = ["a", "b", "c"] * 30, ["a", "b", "b"] * 30
    data = {"y": truth, "d": decided}
    (text,) = notes(data, "SS011", scores=(), decisions="d", positive=None, measures="ppv[macro]")
    assert "ppv[macro] of d averages 2 of 3 classes" in text
    assert "undefined for 'c'" in text
    assert not notes(data, "SS011", scores=(), decisions="d", positive=None, measures="tpr[macro], ppv[micro]")


def test_ss012_a_perfect_ranking_has_no_variance():
    apart = np.where(TRUTH == "bad", 0.6, 0.1) + SCORE / 5
    (text,) = notes(changed(s=apart), "SS012")
    # With 100 cases, an AUC of 0.025^(1/100) still looks perfect in 2.5 % of the samples.
    assert "with 100 cases in the smaller class" in text
    assert f"{0.025 ** (1 / 100):.3f}" in text
    assert not notes(code="SS012")


def test_ss012_no_width_is_a_finding_wherever_it_is():
    found = notes(changed(s=np.full(CASES, 0.3)), "SS012", measures="mean_score")
    assert any("mean_score of s" in text for text in found)


def test_ss013_a_threshold_chosen_on_the_same_cases():
    (text,) = notes(code="SS013", condition=ss.Condition(fp=1, fn=5))
    assert "the threshold of s was chosen on these cases" in text
    assert not notes(code="SS013")


def test_ss013_is_not_raised_for_decisions_without_a_threshold():
    decided = np.where(SCORE > 0.5, "bad", "good")
    asked = {"scores": (), "decisions": "d", "measures": "acc", "condition": ss.Condition(fp=1, fn=2)}
    assert not notes(changed(d=decided), "SS013", **asked)


def disagreeing(cases):
    """Two models that decide, and differ on that many cases."""
    truth = np.tile([1, 0], 50)
    other = truth.copy()
    other[:cases] = 1 - other[:cases]
    return {"y": truth, "a": truth, "b": other, "c": 1 - truth, "who": np.repeat(range(20), 5)}


def compared(data, code, models=("a", "b"), **options):
    found = ss.evaluate(data, truth="y", decisions=models, **options).compare()
    return [note.text for note in found.notes if note.code == code]


def test_ss014_few_cases_on_which_models_disagree():
    (text,) = compared(disagreeing(9), "SS014")
    assert text.startswith("a and b have only 9 ")
    assert not compared(disagreeing(10), "SS014")


def test_ss015_several_tests_are_adjusted():
    (text,) = compared(disagreeing(30), "SS015", ("a", "b", "c"))
    assert "3 pairs are adjusted" in text
    assert not compared(disagreeing(30), "SS015")


def test_ss016_cases_are_drawn_in_groups():
    grouped = ss.evaluate(disagreeing(30), truth="y", scores=("a", "b"), group="who").compare()
    assert "whole groups are drawn" in next(note.text for note in grouped.notes if note.code == "SS016")
    assert not compared(disagreeing(30), "SS016")


def test_warnings_come_first():
    data = {"y": [1, 0] * 10, "s": [1.5, 2.5] * 10}
    levels = [note.level for note in ss.evaluate(data, truth="y", scores="s", measures="auc").notes]
    assert levels == sorted(levels, key=("warning", "info").index)
    assert set(levels) == {"warning", "info"}


def test_a_note_has_the_level_of_its_kind():
    data = {"y": [1, 0] * 10, "s": [1.5, 2.5] * 10}
    for note in ss.evaluate(data, truth="y", scores="s", measures="auc").notes:
        assert note.level == NOTE_KINDS[note.code].level


def test_ss019_numbers_pooled_over_folds():
    (text,) = ss_role_note("SS019", fold="k")
    assert "'k'" in text
    assert not notes(code="SS019")


def test_ss032_rows_of_repeats_are_not_cases():
    (text,) = ss_role_note("SS032", repeat="k")
    assert "'k'" in text
    assert "too narrow" in text
    assert not notes(code="SS032")


def test_ss016_groups_are_drawn_for_intervals():
    (text,) = ss_role_note("SS016", group="k")
    assert "whole groups" in text
    assert not notes(code="SS016")


def test_decisions_are_drawn_in_groups_too():
    data = changed(k=np.arange(len(TRUTH)) % 5, d=np.where(SCORE > 0.5, "bad", "good"))
    found = ss.evaluate(data, truth="y", decisions="d", positive="bad", group="k")
    assert {one.method for one in found.summary} == {"bootstrap of groups"}
    assert not [note for note in found.notes if note.code == "SS020"]


def ss_role_note(code, **role):
    data = changed(k=np.arange(len(TRUTH)) % 5)
    found = ss.evaluate(data, truth="y", scores="s", positive="bad", **role).notes
    return [note.text for note in found if note.code == code]


def test_ss027_smooth_area_under_imbalance():
    few = np.array(["bad"] * 58 + ["good"] * 142)
    (text,) = notes(changed(y=few), "SS027", measures="smauc")
    assert "29 % of the cases" in text
    assert "AUC" in text.replace("smAUC", "")
    assert not notes(changed(y=few), "SS027")
    assert not notes(code="SS027", measures="smauc")


def test_ss028_classes_that_do_not_overlap():
    apart = np.where(TRUTH == "bad", 0.6, 0.0) + 0.4 * SCORE
    (text,) = notes(changed(s=apart), "SS028", measures="smauc")
    assert f"midpoint {apart.mean():.3f}" in text
    assert not notes(code="SS028", measures="smauc")


def test_ss065_scores_of_which_none_is_on_its_side():
    swapped = np.where(TRUTH == "bad", 0.0, 0.6) + 0.4 * SCORE
    (text,) = notes(changed(s=swapped), "SS065", measures="smauc")
    assert f"at or below the midpoint {swapped.mean():.3f}" in text
    assert not notes(code="SS065", measures="smauc")


def test_ss066_a_midpoint_away_from_where_the_classes_meet():
    far = np.where(TRUTH == "bad", 0.9, 0.1)
    far[[0, 1]] = 0.2, 0.3  # one bad case below one good one, far from the mean
    (text,) = notes(changed(s=far), "SS066", measures="smauc")
    assert "outside the scores 0.200 to 0.300" in text
    assert not notes(code="SS066", measures="smauc")


def test_ss021_log_loss_of_what_was_given_no_chance():
    score = SCORE.copy()
    score[:6:2] = 0.0
    (text,) = notes(changed(s=score), "SS021", measures="logloss")
    assert "3 cases" in text
    assert "infinite" in text
    assert not notes(code="SS021", measures="logloss")


def test_ss021_counts_what_was_clipped():
    score = SCORE.copy()
    score[-7::2] = 0.0
    (text,) = notes(changed(s=score), "SS021", measures="logloss(eps=1e-15)")
    assert text == "logloss(eps=1e-15) of s clips the scores of 4 cases."


def test_ss022_scores_that_are_not_calibrated():
    odds = (SCORE / (1 - SCORE)) ** 4
    bold = odds / (1 + odds)
    (text,) = notes(changed(s=bold), "SS022", measures="brier")
    assert "the scores of s are not calibrated" in text
    assert f"Brier score of {ss.measure('brier', truth=TRUTH, score=bold, positive='bad'):.3f}" in text
    assert not notes(code="SS022", measures="brier")


def test_ss023_tests_of_calibration_that_disagree():
    # All rates are 0.08 too high, on both sides of one half: Spiegelhalter's (1 − 2p) adds that up to nothing.
    rng = np.random.default_rng(5)
    score = rng.uniform(0.1, 0.9, 2000)
    truth = np.where(rng.random(2000) < score + 0.08, "bad", "good")
    (text,) = notes({"y": truth, "s": score}, "SS023", measures="brier")
    assert "Hosmer-Lemeshow p < 0.001" in text
    assert not notes(code="SS023", measures="brier")


def test_ss024_cal_of_a_small_sample():
    (text,) = notes(code="SS024", measures="cal")
    assert "calibrated model would show about 0.016" in text
    assert not notes(code="SS024")


def classed(**changes):
    """Scores of three classes, of which the first is told apart well."""
    truth = np.repeat(["a", "b", "c"], 40)
    raw = np.random.default_rng(2).random((120, 3)) + (truth[:, None] == np.array(["a", "b", "c"]))
    shares = raw / raw.sum(axis=1, keepdims=True)
    return {"y": truth, **{f"s_{name}": shares[:, k] for k, name in enumerate("abc")}, **changes}


def test_ss033_class_scores_that_are_no_probabilities():
    options = {"scores": "s_*", "positive": None, "measures": "acc"}
    assert not notes(classed(), "SS033", **options)
    shrunk = {f"s_{name}": 0.75 * classed()[f"s_{name}"] for name in "abc"}
    (text,) = notes(classed(**shrunk), "SS033", **options)
    assert "by up to 0.25" in text
    (text,) = notes(classed(s_a=classed()["s_a"] - 2), "SS033", **options)
    assert "range from -" in text


def test_ss034_classes_that_never_occur():
    options = {"scores": "s_*", "positive": None, "measures": "acc"}
    assert not notes(classed(), "SS034", **options)
    (text,) = notes(classed(s_z=np.zeros(120)), "SS034", **options)
    assert "'z'" in text


def test_ss026_scores_outside_the_range_of_a_map():
    here = {"y": TRUTH, "s": SCORE}
    beyond = {"y": ["bad", "good"], "s": [2.0, 0.5]}
    found = ss.recalibrate(beyond, truth="y", score="s", positive="bad", method="minmax", fit=here)
    (text,) = [one.text for one in found.notes if one.code == "SS026" and "outside" in one.text]
    assert "1 of 2 cases" in text


def test_an_infinite_log_loss_of_several_classes_has_its_reason():
    scores = {"a": [1, 0.5, 0.0, 0.0], "b": [0, 0.5, 1.0, 1.0], "c": [0.0, 0.0, 0.0, 0.0]}
    data = {"y": ["a", "b", "c", "a"], **{f"m_{name}": column for name, column in scores.items()}}
    found = ss.evaluate(data, truth="y", scores="m_*", measures="logloss")
    (reason,) = [one.text for one in found.notes if one.code == "SS021"]
    assert reason.startswith("m ")
    assert all(fact in reason for fact in ("2 cases", "infinite", "logloss(eps=1e-15)"))
    assert found.summary[0].reason == "infinite: an outcome occurred that had probability 0"
    clipped = ss.evaluate(data, truth="y", scores="m_*", measures="logloss(eps=1e-15)")
    assert "SS021" not in [one.code for one in clipped.notes]


def test_ss020_cases_of_a_group_taken_as_independent():
    grouped = changed(g=np.repeat(np.arange(CASES // 4), 4))
    asked = {"group": "g", "measures": "tpr@0.5"}
    (text,) = notes(grouped, "SS020", interval="wilson", **asked)
    assert text == "intervals of s treat cases of a group as independent, so they are too narrow."
    assert not notes(grouped, "SS020", **asked)


def test_ss035_numbers_for_a_stated_prevalence():
    (text,) = notes(code="SS035", condition=ss.Condition(fp=1, fn=5, prevalence=0.1))
    assert "stated 10 %; the sample has 50 %" in text
    assert not notes(code="SS035", condition=ss.Condition(fp=1, fn=5, prevalence=0.5))


def test_ss036_a_method_that_suits_some_of_the_usual_measures():
    (text,) = notes(code="SS036", measures="", interval="wilson")
    assert text.startswith("wilson intervals are not available for auc, auprc, brier")
    assert "tpr" not in text
    assert not notes(code="SS036", measures="")


def test_ss098_a_time_that_classification_does_not_use():
    (text,) = notes(changed(day=np.arange(SCORE.size)), "SS098", time="day")
    assert "'day'" in text


# --- what intervals do not promise


def seldom(data, **roles):
    return [one.text for one in ss.evaluate(data, truth="y", **roles).notes if one.code == "SS100"]


def test_ss100_few_positives_among_many_cases_are_told_with_the_coverage_of_what_is_shown():
    rng = np.random.default_rng(3)
    truth = (np.arange(2000) < 20).astype(int)
    data = {"y": truth, "s": 1 / (1 + np.exp(4 - rng.normal(size=2000) - 1.2 * truth))}
    roles = {"scores": "s", "positive": 1}
    (found,) = seldom(data, measures="auc,fpr_at(tpr=0.9),brier_skill", **roles)
    assert "20 of 2 000 cases" in found
    assert "(fpr_at 87 %, brier_skill 89 %)" in found
    assert not seldom(data, measures="auc,brier", **roles)


def test_ss100_few_groups_are_told_where_ks_or_h_are_shown():
    rng = np.random.default_rng(4)
    data = {"y": np.tile([0, 1], 90), "g": np.repeat(np.arange(30), 6)}
    data["s"] = 1 / (1 + np.exp(-rng.normal(size=180) - data["y"]))
    roles = {"scores": "s", "positive": 1, "group": "g"}
    (found,) = seldom(data, measures="auc,ks", **roles)
    assert "30 groups" in found
    assert "ks cover about 87 %" in found
    assert not seldom(data, measures="auc", **roles)


def test_ss100_an_area_that_a_few_heavy_cases_bear():
    rng = np.random.default_rng(5)
    truth = np.repeat([1, 1, 0, 0], [60, 1, 30, 40])
    score = np.r_[rng.uniform(0.5, 1, 60), 0.1, rng.uniform(0.46, 1, 30), rng.uniform(0, 0.44, 40)]
    data = {"y": truth, "s": score, "w": np.where(score < 0.45, 20.0, 1.0)}
    (found,) = seldom(data, scores="s", positive=1, weight="w", measures="auc")
    assert "variance of the auc of s" in found
    assert not seldom(data, scores="s", positive=1, measures="auc")


def test_ss195_a_model_that_only_decides_has_no_regret():
    data = {"y": [1, 0] * 30, "s": np.linspace(0.1, 0.9, 60), "d": [1, 0, 0] * 20}
    region = ss.evaluate(data, truth="y", scores="s", decisions="d", positive=1).regret((1, 5))
    (found,) = [one.text for one in region.notes if one.code == "SS195"]
    assert found == "d: decisions have no threshold to choose, so no regret."


def test_ss197_says_what_holds_at_every_look():
    data = {"y": [1, 0] * 60, "s": np.tile(np.linspace(0.1, 0.9, 60), 2)}
    looked = ss.evaluate(data, truth="y", scores="s", positive=1, measures="auc", settings={"interval": "any-look"})
    (found,) = [one.text for one in looked.notes if one.code == "SS197"]
    assert "hold at every look" in found
    plain = ss.evaluate(data, truth="y", scores="s", positive=1, measures="auc")
    assert not [one for one in plain.notes if one.code == "SS197"]

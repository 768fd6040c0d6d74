"""Areas in which the size of the scores counts."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from scipy import integrate, stats

import scorespace as ss
from laws.strategies import Sample, samples
from scorespace.errors import MeasureError, ScoreError
from scorespace.inference.estimate import estimate
from scorespace.measures import find, parse
from scorespace.measures.smooth import prob_auc, sauc, smauc
from scorespace.tables import confusion, score_table

SIX = score_table([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.01])
some = settings(max_examples=50)


def pairs(sample):
    """Differences of score over all pairs of a positive and a negative, and the weights of the pairs."""
    truth, score, weight = (np.array(column) for column in (sample.truth, sample.score, sample.weight))
    lead = score[truth == 1][:, None] - score[truth == 0]
    return lead, weight[truth == 1][:, None] * weight[truth == 0]


@given(sample=samples(both=True))
@some
def test_scored_auc_is_the_mean_lead_over_pairs(sample):
    lead, weight = pairs(sample)
    assert sauc(sample.table()) == pytest.approx(np.average(np.maximum(lead, 0), weights=weight), abs=1e-12)


@given(sample=samples(both=True))
@some
def test_probabilistic_auc_is_the_mean_difference_over_pairs(sample):
    lead, weight = pairs(sample)
    assert prob_auc(sample.table()) == pytest.approx((np.average(lead, weights=weight) + 1) / 2, abs=1e-12)


@given(sample=samples(both=True))
@example(sample=Sample((0, 1), (1.14e-206, 0.0), (0.25, 0.25)))  # nearly nothing of one soft class
@some
def test_smooth_area_is_that_of_the_curve(sample):
    for options in ({}, {"midpoint": "median"}, {"midpoint": 0.3, "recentre": True}):
        curve = ss.smooth(sample.table(), **options)
        if curve.tau_v and curve.tau_h:
            assert smauc(sample.table(), **options) == pytest.approx(curve.area(), abs=1e-9)


def test_values_by_hand():
    table = score_table([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    assert sauc(table) == pytest.approx((0.3 + 0.8 + 0 + 0.3) / 4)
    assert prob_auc(table) == pytest.approx((0.65 - 0.35 + 1) / 2)
    # Mean .5: up .9, .4, .6, .1 (the 0.6 and the 0.4 are inappropriate); across .1, .6, .4, .9.
    up, across = [0.9, 0.4, 0.6, 0.1], [0.1, 0.6, 0.4, 0.9]
    area = sum(up[i] * sum(across[i + 1 :]) + up[i] * across[i] / 2 for i in range(4))
    assert smauc(table) == pytest.approx(area / 4)


def test_crisp_decisions_give_the_plain_area():
    table = confusion([[6, 2], [1, 3]], classes=["cancer", "healthy"], positive="cancer")
    assert smauc(table) == pytest.approx(ss.auc(table))
    assert prob_auc(table) == pytest.approx(ss.auc(table))


@pytest.mark.parametrize("measure", [smauc, sauc, prob_auc])
def test_one_class_is_undefined(measure):
    assert math.isnan(measure(score_table([1, 1], [0.9, 0.4])))
    assert "only one class" in measure.reason(math.nan)


@pytest.mark.parametrize("how", ["cross_weighted", "class_medians"])
def test_one_class_is_undefined_for_midpoints_of_both(how):
    assert math.isnan(smauc(score_table([1, 1], [0.9, 0.4]), midpoint=how))


def test_soft_labels_of_one_class_are_undefined():
    assert math.isnan(smauc(score_table([1, 0], [1, 0]), midpoint=1.0))


@pytest.mark.parametrize("measure", [smauc, sauc, prob_auc])
def test_scores_must_be_probabilities(measure):
    with pytest.raises(MeasureError, match="scorespace calibrate"):
        measure(score_table([1, 0], [2, 1]))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("smauc", "smauc"),
        ("smauc(midpoint=median)", "smauc(midpoint=median)"),
        ("smauc( midpoint = 0.4 )", "smauc(midpoint=0.4)"),
        ("smooth-auc(midpoint=half, recentre=true)", "smauc(midpoint=half, recentre=true)"),
        ("smauc(midpoint='class_medians')", "smauc(midpoint=class_medians)"),
    ],
)
def test_the_midpoint_is_a_name_or_a_number(text, written):
    assert parse(text).canonical == written
    assert parse(written) == parse(text)


def test_by_name():
    truth, score = [1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.01]
    assert ss.measure("smauc", truth=truth, score=score) == smauc(SIX)
    assert ss.measure("smauc(midpoint=0.55)", truth=truth, score=score) == smauc(SIX, midpoint=0.55)
    with pytest.raises(ScoreError, match="you mean median"):
        ss.measure("smauc(midpoint=medain)", truth=truth, score=score)
    assert find("probabilistic_auc") is prob_auc
    assert find("partial_auc").name == "pauc"


# --- in an evaluation


def evaluated(*measures, positives=30, cases=100):
    source = np.random.default_rng(1)
    truth = np.arange(cases) < positives
    score = np.clip(source.normal(0.35 + 0.3 * truth, 0.2), 0, 1)
    return ss.evaluate({"y": truth, "s": score}, truth="y", scores="s", measures=measures)


def test_auc_stands_beside_it():
    asked = evaluated("smauc")
    assert [str(one.spec) for one in asked.shown] == ["auc", "smauc"]
    assert [str(one.spec) for one in asked.summary] == [row["measure"] for row in asked.to_dict()["rows"]] == ["smauc"]
    assert [str(one.spec) for one in evaluated("auc", "smauc(midpoint=half)").shown] == [
        "auc",
        "smauc(midpoint=half)",
    ]


def test_it_is_among_all_measures_of_probabilities():
    assert "smauc" in [one.spec.name for one in evaluated().everything]
    plain = ss.evaluate({"y": [1, 0, 1, 0], "s": [5, 2, 3, 4]}, truth="y", scores="s")
    assert "smauc" not in [one.spec.name for one in plain.everything]


def test_intervals_are_bootstrapped():
    for one in evaluated("smauc", "sauc", "prob_auc").measures("smauc", "sauc", "prob_auc"):
        if one.spec.name != "auc":
            assert one.method.startswith(("bootstrap", "logit-t"))
            assert one.low < one.value < one.high


def test_imbalance_is_noted():
    assert "SS027" in [one.code for one in evaluated("smauc", positives=10).notes]
    assert "SS027" not in [one.code for one in evaluated("auc", positives=10).notes]
    assert "SS027" not in [one.code for one in evaluated("smauc", positives=50).notes]


def test_no_overlap_is_noted():
    found = ss.evaluate({"y": [1, 1, 0, 0], "s": [0.9, 0.8, 0.3, 0.1]}, truth="y", scores="s", measures="smauc")
    (text,) = (note.text for note in found.notes if note.code == "SS028")
    assert text.startswith("no score of s is on the wrong side of the midpoint 0.525: the classes do not overlap")


# --- errors weighed by how easy the case was


def test_ease_weighs_errors_case_by_case():
    rng = np.random.default_rng(3)
    truth, score = rng.random(80) < 0.4, np.round(rng.random(80), 2)
    for midpoint, middle in (("mean", score.mean()), ("half", 0.5), (0.2, 0.2)):
        ease = np.array([(s - middle) / (1 - middle) if s > middle else (middle - s) / middle for s in score])
        wrong = (score > middle) != truth
        ours = ss.ease_err(ss.score_table(truth, score), midpoint=midpoint)
        assert ours == pytest.approx(ease[wrong].sum() / ease.sum())


def test_ease_at_the_ends():
    assert ss.ease_err(ss.score_table([1, 0], [1, 0])) == 0
    assert ss.ease_err(ss.score_table([0, 1], [1, 0])) == 1
    assert np.isnan(ss.ease_err(ss.score_table([0, 1], [0.5, 0.5])))
    assert ss.ease_err(ss.score_table([1, 0, 0], [0.5, 0, 0]), midpoint=0.0) == 0
    with pytest.raises(MeasureError, match="ease_err needs probabilities"):
        ss.ease_err(ss.score_table([0, 1], [2, 3]))
    assert "specific to scorespace" in ss.ease_err.summary


def test_its_interval_holds_the_truth():
    def ease(low, high, mean):  # of logits from N(mean, 1), |2s − 1| is |tanh(x / 2)|
        return integrate.quad(lambda x: abs(np.tanh(x / 2)) * stats.norm.pdf(x, mean), low, high)[0]

    wrong = 0.4 * ease(-9, 0, 0.9) + 0.6 * ease(0, 9, -0.6)
    true = wrong / (0.4 * ease(-9, 9, 0.9) + 0.6 * ease(-9, 9, -0.6))
    rng, held = np.random.default_rng(9), 0
    for seed in range(60):
        truth = rng.random(100) < 0.4
        score = 1 / (1 + np.exp(-rng.normal(size=100) - 1.5 * (truth - 0.4)))
        found = estimate(parse("ease_err(midpoint=half)"), ss.score_table(truth, score), seed=seed, replicates=400)
        held += found.low <= true <= found.high
    assert held >= 52


# --- how steady beside AUC


def test_standard_deviations_side_by_side():
    ev = evaluated("auc", "smauc")
    found = ev.spread()["s"]
    assert list(found) == ["auc", "smauc"]
    # By hand: the same measures of samples drawn again from all cases.
    source = ev.models.score_table("s")
    cells, rng = source.cells, np.random.default_rng(1)
    drawn = source.with_cells(rng.multinomial(int(cells.sum()), cells / cells.sum(), 2000))
    for name in found:
        assert found[name] == pytest.approx(np.std(parse(name).measure(drawn)), rel=0.1)
    assert ev.spread("smauc(midpoint=half)")["s"].keys() == {"smauc(midpoint=half)"}

"""An interval on every number, and the reason when there is none."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from helpers.binned import class_bins
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.inference.estimate import Estimates, estimate
from scorespace.inference.proportion import wilson
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.results import note
from scorespace.tables import ScoreTable, class_table, confusion, score_table

TRUTH = [1, 0, 1, 1, 0, 0, 1, 0]
SCORE = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]
TABLE = score_table(TRUTH, SCORE)
WEIGHT = [0.5, 3.0, 1.0, 2.0, 1.5, 0.7, 4.0, 1.0]
DECISIONS = confusion([[6, 2], [1, 3]], classes=["cancer", "healthy"], positive="cancer")
LARGE = score_table([1, 0] * 100, np.random.default_rng(1).normal(size=200))
THREE = confusion([[5, 0, 1], [0, 2, 2], [1, 1, 3]], classes=["a", "b", "c"])


def of(text, table=TABLE, **options):
    return estimate(parse(text), table, **{"replicates": 100, **options})


# --- which interval


@pytest.mark.parametrize(
    ("text", "table", "method"),
    [
        ("tpr@0.5", TABLE, "wilson"),
        ("prevalence@0.5", TABLE, "wilson"),
        ("acc", DECISIONS, "wilson"),
        ("acc", THREE, "wilson"),
        ("tpr[b]", THREE, "wilson"),
        ("auc", TABLE, "newcombe"),
        ("auc", LARGE, "delong"),
        ("f1@0.5", TABLE, "wilson"),
        ("mcc@0.5", TABLE, "jeffreys"),
        ("ap", TABLE, "precision-t"),
        ("h", TABLE, "bias-corrected"),
        ("mcc", THREE, "jeffreys"),
        ("tpr[macro]", THREE, "jeffreys"),
    ],
)
def test_method(text, table, method):
    assert of(text, table).method == method


def test_a_proportion_has_wilsons_interval():
    found = of("tpr@0.5")
    assert (found.low, found.high) == pytest.approx(wilson(3, 4))


@pytest.mark.parametrize(("text", "hits", "trials"), [("ppv", 6, 7), ("npv", 3, 5), ("fpr", 1, 4), ("acc", 9, 12)])
def test_trials_are_what_the_share_is_of(text, hits, trials):
    found = of(text, DECISIONS)
    assert (found.low, found.high) == pytest.approx(wilson(hits, trials))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_a_higher_level_is_wider(level):
    narrow, wide = of("tpr@0.5", level=level), of("tpr@0.5", level=(1 + level) / 2)
    assert wide.low < narrow.low
    assert narrow.high < wide.high


@pytest.mark.parametrize("text", ["tpr@0.5", "auc", "f1@0.5", "ap", "mcc@0.5"])
def test_the_interval_holds_the_value(text):
    found = of(text)
    assert found.low <= found.value <= found.high


def test_the_bootstrap_depends_on_the_seed_alone():
    assert of("ap", seed=1) == of("ap", seed=1)
    assert of("ap", seed=1) != of("ap", seed=2)


# --- undefined


def test_an_undefined_value_has_a_reason_and_no_interval():
    found = of("ppv@0.95")
    assert math.isnan(found.value)
    assert (found.method, found.reason) == (None, "undefined: nothing is predicted positive")


def test_an_infinite_value_has_a_reason():
    assert of("lr_pos@0.9").reason == "infinite: there are no false positives"


def test_one_class_has_no_area_and_says_why():
    # scikit-learn returned 0.0 (30079).
    assert of("auc", score_table([1, 1], [0.1, 0.2])).reason == "undefined: only one class is present"


def test_no_weighted_delong_is_offered_by_its_name():
    # A weighted fast DeLong is wrong (roc_comparison 1).
    found = estimate(parse("auc"), score_table(TRUTH, SCORE, weight=WEIGHT), method="delong")
    assert (found.method, found.reason) == (None, "no DeLong interval: cases have weights")


def test_a_weighted_area_has_an_interval_by_its_own_variance():
    found = of("auc", score_table(TRUTH, SCORE, weight=WEIGHT))
    assert found.method == "weighted newcombe"
    assert found.low < found.value < found.high


def test_equal_weights_change_no_interval():
    # Weight 100 on every case made intervals ten times narrower.
    for text in ("auc", "gini", "tpr@0.5", "f1@0.5", "mcc@0.5", "acc@0.5"):
        plain, heavy = of(text), of(text, score_table(TRUTH, SCORE, weight=[100] * 8))
        assert (heavy.low, heavy.high) == pytest.approx((plain.low, plain.high))
        assert heavy.method == plain.method


def test_weights_that_are_no_copies_leave_the_interval_undefined():
    found = of("auc", score_table(TRUTH, SCORE, weight=[0.5] * 8, copies=True))
    assert math.isnan(found.low)
    assert found.reason == "no interval: the weights are not whole numbers, so they are not numbers of copies"


@pytest.mark.parametrize("text", ["auc", "tpr@0.5"])
def test_copies_are_cases(text):
    weight = [1, 2, 3, 1, 1, 2, 2, 1]
    repeated = score_table(np.repeat(TRUTH, weight), np.repeat(SCORE, weight))
    assert of(text, score_table(TRUTH, SCORE, weight=weight, copies=True)) == of(text, repeated)


def test_undefined_replicates_are_counted():
    # Most of the draws from one true positive and one missed one leave nothing predicted positive, or nothing missed.
    table = score_table([1, 1, 0, 0, 0], [0.9, 0.1, 0.2, 0.1, 0.3])
    found = of("lift@0.5", table, replicates=400, method="bootstrap")
    assert found.method == "bootstrap"
    assert found.reason.startswith("interval excludes ")
    assert found.reason.endswith(" of 400 undefined replicates")


# --- which table


def test_a_class_may_be_named():
    assert of("tpr[0]@0.5").value == of("tnr@0.5").value


def test_a_named_class_of_a_decision():
    assert of("ppv[healthy]", DECISIONS).value == of("npv", DECISIONS).value


def test_a_named_class_of_a_score_is_ranked_the_other_way_round():
    assert of("ap[0]").value == of("ap", TABLE.swapped()).value


def test_a_named_class_of_a_crisp_decision_is_ranked_the_other_way_round():
    other = confusion([[6, 2], [1, 3]], classes=["cancer", "healthy"], positive="healthy")
    assert of("ap[healthy]", DECISIONS).value == of("ap", other).value


def test_a_score_for_one_of_three_classes_says_nothing_about_another():
    table = score_table(["a", "b", "c"], [0.9, 0.4, 0.1], positive="a")
    with pytest.raises(MeasureError):
        of("tpr[c]@0.5", table)


@pytest.mark.parametrize(
    ("text", "table", "message"),
    [
        ("tpr", TABLE, "tpr of a score needs a threshold.\n  hint: tpr@0.5"),
        ("auc@0.5", TABLE, "auc@0.5 specifies a threshold, but auc covers all thresholds.\n  hint: auc"),
        ("tpr@0.5", DECISIONS, "tpr@0.5 specifies a threshold, but a decision has no threshold.\n  hint: tpr"),
        (
            "f1[macro]@0.5",
            TABLE,
            "f1[macro]@0.5 averages over classes, but a single score has none.\n  hint: f1",
        ),
        (
            "tpr[ill]",
            DECISIONS,
            "tpr[ill] names a class that does not occur.\n  seen: classes 'cancer', 'healthy'\n  hint: tpr[cancer]",
        ),
        ("auc[macro]", THREE, "auc[macro] averages scores of the classes, but these are decisions."),
    ],
)
def test_message(text, table, message):
    with pytest.raises(MeasureError) as caught:
        of(text, table)
    assert str(caught.value) == message


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, float("nan")])
def test_level_must_be_a_probability(level):
    with pytest.raises(ScoreSpaceError) as caught:
        of("auc", level=level)
    assert str(caught.value) == f"level={level:g} is not a confidence level.\n  hint: between 0 and 1, such as 0.95"


# --- results


def test_row():
    found = of("fbeta(beta=2)[0]@0.5", model="nb").row()
    assert (found["model"], found["measure"], found["at"], found["class"]) == ("nb", "fbeta(beta=2)", 0.5, "0")
    assert set(found) == {"model", "measure", "at", "class", "value", "low", "high", "level", "method", "reason"}


def test_undefined_numbers_are_null_in_json():
    row = json.loads(json.dumps(of("ppv@0.95").row(), allow_nan=False))
    assert (row["value"], row["low"], row["high"]) == (None, None, None)
    assert row["reason"] == "undefined: nothing is predicted positive"


def test_text():
    assert repr(of("tpr@0.5", model="nb")) == "nb tpr@0.5 0.750 [0.301, 0.954]"


def test_text_of_an_undefined_value():
    assert repr(of("ppv@0.95")) == "ppv@0.95 –  (undefined: nothing is predicted positive)"


def test_estimates_are_a_sequence():
    found = Estimates((of("auc"), of("tpr@0.5")), (note("SS001", "few"),))
    assert len(found) == 2
    assert list(found) == [found[0], found[1]]
    assert repr(found) == f"{found[0]!r}\n{found[1]!r}"


def test_estimates_as_a_dictionary():
    found = Estimates((of("auc"),), (note("SS001", "few"),)).to_dict()
    assert found["schema"] == 1
    assert found["rows"][0]["measure"] == "auc"
    assert found["notes"] == [{"code": "SS001", "level": "warning", "text": "few"}]


def test_a_coarse_table_has_a_certificate_beside_the_interval():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 2000)
    exact = score_table(truth, np.clip(truth * 0.1 + rng.random(2000) * 0.9, 0, 1))
    coarse = exact.rounded(48)
    for text in ("auc", "ap", "brier", "acc@0.5", "smauc"):
        here, there = estimate(parse(text), exact), estimate(parse(text), coarse)
        assert here.certified is None
        assert "certified_low" not in here.row()
        low, high = there.certified
        assert low - 1e-12 <= here.value <= high + 1e-12
        assert low <= there.value <= high
        # Wherever in the certificate the value is, the interval around it is inside.
        assert there.low <= there.value - (low - there.low) or there.low <= low
        assert there.high - there.low == pytest.approx(here.high - here.low, abs=high - low + 0.02)
        assert there.row()["certified_low"] == low
    silent = estimate(parse("cal_slope"), coarse)
    assert silent.reason == "not certified: no bounds are known for binned scores"
    assert silent.row()["certified_low"] is None


def test_what_is_drawn_from_bins_is_centred_on_the_exact_value():
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 2, 3000)
    exact = score_table(truth, rng.random(3000))
    here, there = (estimate(parse("brier"), table, method="bootstrap") for table in (exact, exact.rounded(51)))
    assert there.value == pytest.approx(here.value, abs=1e-12)
    assert there.low == pytest.approx(here.low, abs=2e-3)
    assert there.high == pytest.approx(here.high, abs=2e-3)


def of_classes(rng, cases, prior=(0.5, 0.3, 0.2)):
    label, score = rng.choice(3, cases, p=prior), rng.normal(size=(cases, 3))
    score[np.arange(cases), label] += 1.2
    score = np.exp(1.6 * score)
    return class_table(np.array(list("abc"))[label], score / score.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("text", ["brier[a]", "ece", "mce", "ks[b]", "auprc[c]"])
def test_a_class_counted_in_bins_is_drawn_from_its_own_table(text):
    table = class_bins(of_classes(np.random.default_rng(2), 300))
    spec = parse(text)
    found, alone = of(text, table), table.inside(ScoreTable, spec.of or "top")
    expected = of(text.partition("[")[0], alone)
    assert (found.low, found.high, found.method) == (expected.low, expected.high, expected.method)


def test_intervals_over_classes_in_bins_cover():
    """95 % asked, 120 samples: below 88 % has a chance of 1 in 1 000. Those that are "at most" cover more."""
    rng = np.random.default_rng(4)
    texts = ("auc[weighted]", "auc[hand_till_weighted]", "brier", "logloss")
    true = class_bins(of_classes(rng, 100_000), 38)
    values = {text: bind(parse(text), true).value for text in texts}
    hits = dict.fromkeys(texts, 0)
    for _ in range(120):
        table = class_bins(of_classes(rng, 200), 38)
        for text in texts:
            found = of(text, table)
            hits[text] += found.low <= values[text] <= found.high
    assert all(hit >= 0.88 * 120 for hit in hits.values())
    assert hits["logloss"] < 120


def test_what_is_not_drawn_together_says_so():
    table = class_bins(of_classes(np.random.default_rng(2), 300))
    assert of("auc[micro]", table).reason == (
        "no interval: the scores of each class are binned separately, so cases cannot be resampled"
    )


def test_a_notebook_shows_a_table_of_the_estimates():
    one = replace(estimate(parse("auc"), score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7])), model="a<b")
    assert "<td>a&lt;b</td><td>auc</td>" in Estimates((one,))._repr_html_()


def test_an_interval_on_bins_contains_the_certified_bounds():
    """Also where the bins are so wide that the bounds reach beyond the interval of the sample."""
    rng = np.random.default_rng(4)
    label = rng.integers(0, 2, 20_000)
    table = score_table(label, np.clip(rng.normal(0.4 + 0.2 * label, 0.2), 0, 1)).rounded(51)
    one = estimate(parse("auc"), table)
    assert one.certified[1] - one.certified[0] > 0.02
    assert one.low < one.certified[0] <= one.value <= one.certified[1] < one.high

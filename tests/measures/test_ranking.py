"""Measures of ranking: ties, constants, one class, partial areas."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

import scorespace as ss
from laws.strategies import samples
from scorespace.curves import rejection
from scorespace.errors import MeasureError
from scorespace.measures import find
from scorespace.measures.ranking import ap, auc, auch, auprc, aurc, h, ks, pauc, u
from scorespace.tables import ConfusionTable, Counts, ScoreTable, class_table, score_table

TRUTH = [0, 1, 0, 1, 1, 0, 1, 0]
SCORE = np.array([0.11, 0.13, 0.12, 0.14, 0.15, 0.15, 0.16, 0.17])
RANKING = ("auc", "u", "gini", "pauc", "auch", "ks", "ap", "auprc", "h")


@pytest.mark.parametrize(
    "by",
    [
        lambda s: s * 1e-9,
        lambda s: s * 1e-300,
        lambda s: s * 1e300,
        lambda s: s + 1000,
        lambda s: s - 1000,
        np.exp,
        np.log,
        lambda s: 1 / (1 + np.exp(-s)),
    ],
    ids=["1e-9", "1e-300", "1e300", "plus", "minus", "exp", "log", "sigmoid"],
)
@pytest.mark.parametrize("name", RANKING)
def test_the_scale_of_the_scores_does_not_matter(name, by):
    # Merging close scores made the area of tiny ones 0.5 (scikit-learn 3864, 6688).
    assert find(name)(score_table(TRUTH, by(SCORE))) == find(name)(score_table(TRUTH, SCORE))


def test_ties_count_one_half():
    # P(s+ > s−) + ½ P(s+ = s−): pairs (2,2) ½, (2,1) 1, (1,2) 0, (1,1) ½ of 4.
    assert auc(score_table([1, 1, 0, 0], [2, 1, 2, 1])) == 0.5
    assert u(score_table([1, 1, 0], [2, 1, 1])) == 1.5


@pytest.mark.parametrize(("measure", "value"), [(auc, 0.5), (auch, 0.5), (ks, 0), (ap, 0.25), (auprc, 0.25)])
def test_a_constant_score(measure, value):
    assert measure(score_table([1, 0, 0, 0], [0.3] * 4)) == value


def test_area_below_one_half_stays_below():
    # pROC's automatic direction turns noise into 0.58; nothing is flipped here.
    assert auc(score_table([1, 1, 0], [0.1, 0.2, 0.9])) == 0


@pytest.mark.parametrize("truth", [[1, 1], [0, 0]])
@pytest.mark.parametrize("name", ["auc", "u", "gini", "pauc", "auch", "ks", "h"])
def test_one_class_has_no_area(name, truth):
    # It was 0.0 in scikit-learn (30079).
    measure = find(name)
    value = measure(score_table(truth, [0.1, 0.2]))
    assert math.isnan(value)
    assert measure.reason(value) == "undefined: only one class is present"


@pytest.mark.parametrize("truth", [[1, 1], [0, 0]])
@pytest.mark.parametrize("name", RANKING)
@pytest.mark.filterwarnings("error")
def test_one_class_does_not_warn(name, truth):
    find(name)(score_table(truth, [0.1, 0.2]))


@pytest.mark.parametrize("measure", [ap, auprc])
def test_precision_without_positives_is_undefined(measure):
    value = measure(score_table([0, 0], [0.1, 0.2]))
    assert measure.reason(value) == "undefined: there are no positive cases"


@pytest.mark.parametrize("measure", [ap, auprc])
def test_precision_without_negatives_is_one(measure):
    assert measure(score_table([1, 1], [0.1, 0.2])) == 1


def test_auprc_does_not_start_at_precision_one():
    # The made-up point (0, 1) and a trapezoid inflated the area (scikit-learn 4223, 5073). Here precision is ½ up to
    # recall 1, so the area is ½.
    assert auprc(score_table([1, 0], [0.5, 0.5])) == 0.5


@pytest.mark.parametrize("prior", ["prevalence", "symmetric", "balanced"])
def test_h_of_perfect_scores_is_one(prior):
    assert h(score_table([1, 1, 0], [3, 2, 1]), prior=prior) == pytest.approx(1, abs=1e-12)


def test_h_of_reversed_scores_is_zero():
    assert h(score_table([1, 1, 0], [1, 2, 3])) == pytest.approx(0, abs=1e-12)


def test_h_of_an_unknown_prior():
    with pytest.raises(MeasureError) as caught:
        h(score_table([1, 0], [1, 2]), prior="flat")
    assert str(caught.value) == "prior=flat is unknown.\n  hint: prevalence, symmetric or balanced"


@pytest.mark.parametrize("ratio", [0, -1, float("inf"), float("nan")])
def test_h_of_a_severity_ratio_that_is_none(ratio):
    with pytest.raises(MeasureError, match="severity_ratio="):
        h(score_table([1, 0], [1, 2]), severity_ratio=ratio)


# --- partial areas


def test_partial_area_is_over_the_first_tenth_unless_stated():
    table = score_table(TRUTH, SCORE)
    assert pauc(table) == pauc(table, fpr_high=0.1)


@pytest.mark.parametrize(
    "bounds",
    [
        {"fpr_high": 1.5},
        {"fpr_high": 0.0},
        {"fpr_low": -0.1},
        {"fpr_low": 0.5, "fpr_high": 0.2},
        {"fpr_low": 0.5, "fpr_high": 0.5},
        {"tpr_low": 1.0},
        {"tpr_high": 1.1},
        {"fpr_high": float("nan")},
    ],
)
def test_bounds_that_are_no_range_of_rates_are_refused(bounds):
    # An inverted check accepted max_fpr = 1.5 (torchmetrics).
    with pytest.raises(MeasureError, match="range of rates"):
        pauc(score_table(TRUTH, SCORE), **bounds)


def test_the_refused_range_is_told():
    with pytest.raises(MeasureError) as caught:
        pauc(score_table(TRUTH, SCORE), fpr_high=1.5)
    assert str(caught.value) == "fpr_low=0, fpr_high=1.5 is not a range of rates.\n  hint: 0 ≤ low < high ≤ 1"


def test_a_range_of_both_rates_is_refused():
    with pytest.raises(
        MeasureError,
        match=r"^a partial area is over a range of FPR or of TPR, not of both.\n  hint: fpr_high=0.2, or tpr_low=0.8$",
    ):
        pauc(score_table(TRUTH, SCORE), fpr_high=0.2, tpr_low=0.8)


@pytest.mark.parametrize("bounds", [{"fpr_high": 0.3}, {"fpr_low": 0.8}, {"tpr_low": 0.9}, {"tpr_high": 0.2}])
def test_corrected_area_of_a_constant_score_is_one_half(bounds):
    assert pauc(score_table([1, 0], [1, 1]), **bounds, corrected=True) == pytest.approx(0.5)


@pytest.mark.parametrize("bounds", [{"fpr_high": 0.3}, {"fpr_low": 0.8}, {"tpr_low": 0.9}, {"tpr_high": 0.2}])
def test_corrected_area_of_perfect_scores_is_one(bounds):
    assert pauc(score_table([1, 0], [2, 1]), **bounds, corrected=True) == pytest.approx(1)


@pytest.mark.parametrize("bounds", [{"fpr_high": 0.3}, {"fpr_low": 0.8}, {"tpr_low": 0.9}, {"tpr_high": 0.2}])
@pytest.mark.parametrize("corrected", [False, True])
def test_partial_area_stays_in_its_range(bounds, corrected):
    low, high = pauc.range
    assert low <= pauc(score_table([1, 0], [1, 2]), **bounds, corrected=corrected) <= high


# --- number width and axes


def test_area_of_many_cases_is_exact():
    # Products of 32-bit counts overflow; here U = 2^40.
    counts = np.array([[0, 2**20], [2**20, 0]], dtype=np.int32)
    table = ScoreTable(np.array([2.0, 1.0]), counts, ("0", "1"), 1)
    assert (auc(table), u(table)) == (1, 2**40)


def test_area_of_float32_scores_is_not_above_one():
    # float32 midranks made a DeLong area above 1 (confidenceinterval 15).
    size = 100_000
    score = np.concatenate([np.linspace(0, 0.4, size), np.linspace(0.6, 1, size)]).astype(np.float32)
    assert auc(score_table(np.repeat([0, 1], size), score)) == 1


@pytest.mark.parametrize("name", RANKING)
def test_several_axes_of_replicates(name):
    counts = np.arange(2 * 3 * 2 * 4).reshape(2, 3, 2, 4) % 5
    table = ScoreTable(np.arange(4.0)[::-1], counts, ("0", "1"), 1)
    assert find(name)(table).shape == (2, 3)


def test_area_of_crisp_decisions():
    table = ConfusionTable(np.array([[6.0, 2.0], [1.0, 3.0]]), ("p", "n"), 0)
    assert auc(table) == (6 / 8 + 3 / 4) / 2


def test_area_of_outcomes_is_refused():
    with pytest.raises(MeasureError) as caught:
        auc(Counts(1, 2, 3, 4))
    assert str(caught.value) == "auc cannot be computed from counts of outcomes.\n  hint: auc needs scores"


def test_the_rank_sum_is_that_of_scipys_ranks():
    from scipy.stats import rankdata

    truth, score = np.array([1, 0, 1, 0, 1, 0, 0]), np.array([0.9, 0.4, 0.4, 0.1, 0.6, 0.6, 0.2])
    assert ss.measure("rank sum", truth=truth, score=score) == rankdata(score)[truth == 1].sum()


def test_no_gap_between_the_classes_has_no_sign():
    assert str(ss.ks([1, 0], [0.5, 0.5])) == "0.0"


def test_the_rank_sum_of_bins_is_certain_within_the_pairs_they_leave_open():
    rng = np.random.default_rng(4)
    truth, score = rng.integers(0, 2, 200), 1e9 + rng.random(200).round(2)  # so far from 0 that bins are wide
    tables = ss.count_tables({"y": truth, "s": score}, truth="y", scores="s", bins=True).tables
    (found,) = ss.evaluate(tables).measures("rank_sum")
    low, high = found.certified
    assert low < high
    assert low <= stats.rankdata(score)[truth == 1].sum() <= high


def test_u_of_one_pair():
    assert [u(score_table([1, 0], score)) for score in ([2, 1], [1, 1], [1, 2])] == [1, 0.5, 0]


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.35, 0.5, 0.8, 1.0])
def test_rates_at_fixed_ones_are_those_of_the_curve(rate):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 50)
    table = score_table(truth, np.round(truth + rng.normal(size=50), 1))
    curve = ss.roc(table)
    assert find("tpr_at")(table, fpr=rate) == pytest.approx(float(curve.tpr_at(rate)))
    assert find("fpr_at")(table, tpr=rate) == pytest.approx(float(curve.fpr_at(rate)))


def by_hand(margin, wrong):
    """The mean over k of the share of errors among the k most certain; no two margins tie."""
    order = np.argsort(-margin)
    return float(np.mean(np.cumsum(wrong[order]) / np.arange(1, margin.size + 1)))


def test_two_classes_case_by_case():
    source = np.random.default_rng(1)
    truth, score = source.random(80) < 0.4, source.random(80)
    wrong = (score >= 0.3) != truth
    assert aurc(score_table(truth, score), at=0.3) == pytest.approx(by_hand(np.abs(score - 0.3), wrong))


def test_several_classes_case_by_case():
    source = np.random.default_rng(2)
    truth, score = source.integers(0, 3, 60), source.dirichlet(np.ones(3), 60)
    ordered = np.sort(score, axis=1)
    wrong = score.argmax(axis=1) != truth
    table = class_table(np.array(list("abc"))[truth], score, classes=list("abc"))
    assert aurc(table) == pytest.approx(by_hand(ordered[:, 2] - ordered[:, 1], wrong))


@given(samples(both=True))
@settings(max_examples=50)
def test_it_is_the_area_of_the_rejection_curve(sample):
    assert aurc(sample.table()) == pytest.approx(rejection(sample.table()).area())


def test_a_horizontal_curve_has_the_error_rate():
    # All margins tie: confidence carries no information.
    table = score_table([1, 1, 0, 0, 0], [0.7, 0.3, 0.3, 0.3, 0.7])
    assert aurc(table) == pytest.approx(2 / 5)


def test_drawn_again_a_group_may_be_empty():
    table = score_table([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1])
    without = table.with_cells(table.cells * np.array([1, 0, 1, 1, 1, 1, 1, 1]))
    kept = without.pos + without.neg > 0
    alone = score_table(
        np.repeat([1, 0], [int(without.n_pos), int(without.n_neg)]),
        [*np.repeat(without.score, without.pos.astype(int)), *np.repeat(without.score, without.neg.astype(int))],
    )
    assert kept.sum() == alone.score.size
    assert aurc(without) == pytest.approx(aurc(alone))


def test_by_its_name():
    truth, score = [1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1]
    assert ss.measure("risk_coverage_area", truth=truth, score=score) == pytest.approx((0 + 0 + 1 / 3 + 2 / 4) / 4)

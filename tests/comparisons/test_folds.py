import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.metrics import roc_auc_score

import scorespace as ss
from oracles.load import reference
from scorespace.comparisons import folds
from scorespace.comparisons.folds import (
    fold_indices,
    held_out_ratio,
    measure_by_fold,
    summarise_folds,
    summarise_over_folds,
)
from scorespace.comparisons.paired import compare
from scorespace.comparisons.result import Posterior
from scorespace.comparisons.test import parse_test
from scorespace.errors import DataError, ScoreSpaceError
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.tables.paired import pair_table

DRAWS = np.random.default_rng(4)
TRUTH = DRAWS.integers(0, 2, 300)
SCORE = np.round(DRAWS.normal(size=300) + TRUTH + np.repeat([0, 1, 2], 100), 2)  # each fold on a scale of its own
FOLD = np.repeat([0, 1, 2], 100).astype(np.int32)


def test_mean_and_pooled_are_other_numbers():
    pairs = replace(pair_table(TRUTH, {"nb": SCORE}), fold=FOLD)
    (found,) = summarise_over_folds(pairs, {"nb": [parse("auc")]})
    each = [metrics.roc_auc_score(TRUTH[k == FOLD], SCORE[k == FOLD]) for k in range(3)]
    assert found.mean == pytest.approx(np.mean(each))
    assert found.sd == pytest.approx(np.std(each, ddof=1))
    assert found.pooled == pytest.approx(metrics.roc_auc_score(TRUTH, SCORE))
    assert found.pooled < found.mean - 0.02
    assert repr(found) == f"nb auc {found.text} (mean over 3 folds), pooled {found.pooled:.3f}"


def test_undefined_folds_are_counted_and_left_out():
    found = summarise_folds("nb", parse("auc"), np.array([[0.5, math.nan], [0.7, math.nan]]), 0.6)
    assert (found.mean, found.folds, found.undefined) == (pytest.approx(0.6), 4, 2)
    nothing = summarise_folds("nb", parse("auc"), np.full((2, 2), math.nan), 0.6)
    assert (nothing.text, nothing.undefined) == ("–", 4)
    assert nothing.row()["mean"] is None


def test_without_folds_there_is_nothing():
    pairs = pair_table(TRUTH, {"nb": SCORE})
    assert summarise_over_folds(pairs, {"nb": [parse("auc")]}) == ()
    assert summarise_over_folds(None, {}) == ()
    assert summarise_over_folds(replace(pairs, fold=np.zeros_like(FOLD)), {"nb": [parse("auc")]}) == ()


def test_in_parts_it_is_the_same(monkeypatch):
    repeat = np.tile([0, 1, 2], 100).astype(np.int32)
    for given in ({"nb": SCORE}, {"nb": SCORE, "b": SCORE**2}):
        pairs = replace(pair_table(TRUTH, given), fold=FOLD, repeat=repeat)
        request = bind(parse("auc"), pairs.tables[0])
        whole = measure_by_fold(pairs, "nb", request)
        monkeypatch.setattr(folds, "_MAX_CELLS", 10)
        assert measure_by_fold(pairs, "nb", request) == pytest.approx(whole)
        monkeypatch.undo()


def test_an_evaluation_tells_both():
    data = {"y": TRUTH, "nb": SCORE, "fold": FOLD}
    found = ss.evaluate(data, truth="y", scores="nb", fold="fold", measures="auc, ks")
    assert [(one.model, str(one.spec)) for one in found.over_folds] == [("nb", "auc"), ("nb", "ks")]
    assert found.to_dict()["folds"][0]["pooled"] == pytest.approx(metrics.roc_auc_score(TRUTH, SCORE))
    assert "mean ± sd" in repr(found)
    assert "folds" not in ss.evaluate(data, truth="y", scores="nb").to_dict()


# --- cases that were tested in folds: the numbers of R, WEKA and scmamp

OVER_FOLDS = ("corrected-t", "paired-t", "5x2cv-t", "5x2cv-f", "bayes-t")
ACC = parse("acc@0.5")


def cases_of(a, b, per_fold, renumber=False):
    """Cases whose accuracies within repeats × folds are those given: the first share of every fold is right."""
    shape = np.shape(a)
    case = np.tile(np.arange(per_fold), (*shape, 1))
    label = case % 2
    scores = {}
    for name, values in (("a", a), ("b", b)):
        right = case < np.rint(np.asarray(values) * per_fold)[..., None]
        scores[name] = np.where(right, label, 1 - label).ravel()
    repeat, fold = (np.broadcast_to(np.indices(shape)[k][..., None], case.shape).ravel() for k in (0, 1))
    if renumber:
        fold = repeat * shape[1] + fold
    pairs = pair_table(label.ravel(), scores)
    return replace(pairs, fold=fold.astype(np.int32), repeat=repeat.astype(np.int32))


def thirty():
    theirs = reference("r_ttests")["paired"]
    return cases_of(*(np.reshape(theirs[name], (3, 10)) for name in "ab"), 10_000)


def five_by_two(**named):
    diffs = np.array(reference("r_ttests")["five_by_two"]["diffs"])
    return cases_of(0.8 + diffs, np.full((5, 2), 0.8), 1000, **named)


# --- numbers of others


def test_measures_within_folds():
    theirs = reference("r_ttests")["paired"]
    pairs = thirty()
    assert measure_by_fold(pairs, "a", bind(ACC, pairs.tables[0])).ravel() == pytest.approx(theirs["a"], abs=1e-12)


def test_corrected_t_of_three_times_ten_folds_is_that_of_weka_and_scmamp():
    theirs = reference("r_ttests")["nadeau_bengio"][0]
    (found,) = compare(thirty(), spec=ACC)
    assert found.test == "corrected t"
    assert (found.statistic, found.df, found.p) == pytest.approx((theirs["t"], theirs["df"], theirs["p"]), abs=1e-9)
    assert found.p == pytest.approx(0.619310, abs=1e-6)


def test_the_plain_t_is_that_of_r_and_says_that_it_is_optimistic():
    theirs = reference("r_ttests")["paired"]
    found = compare(thirty(), spec=ACC, test="paired-t")
    assert (found[0].statistic, found[0].p) == pytest.approx((theirs["t"], theirs["p"]), abs=1e-9)
    assert [note.code for note in found.notes] == ["SS017"]


def test_the_posterior_without_a_rope_is_the_one_sided_corrected_t():
    theirs = reference("r_ttests")["nadeau_bengio"][0]
    (found,) = compare(thirty(), spec=ACC, test="bayes_t(rope=0)")
    assert (found.left, found.right) == pytest.approx((theirs["p"] / 2, 1 - theirs["p"] / 2), abs=1e-9)


@pytest.mark.parametrize("renumber", [False, True])
@pytest.mark.parametrize(
    ("test", "statistic", "p"), [("5x2cv-t", "t_dietterich", "p_t_df5"), ("5x2cv-f", "F_alpaydin", "p_F_10_5")]
)
def test_five_by_two(test, statistic, p, renumber):
    # Repeats may count their folds anew, or go on counting.
    theirs = reference("r_ttests")["five_by_two"]
    (found,) = compare(five_by_two(renumber=renumber), spec=ACC, test=test)
    assert (found.statistic, found.p) == pytest.approx((theirs[statistic], theirs[p]), abs=1e-9)


# --- designs


def test_the_order_of_rows_does_not_matter():
    pairs = five_by_two()
    order = np.random.default_rng(1).permutation(pairs.cases)
    mixed = replace(
        pair_table(pairs.label[order], {name: pairs.scores(k)[order] for k, name in enumerate(pairs.models)}),
        fold=pairs.fold[order],
        repeat=pairs.repeat[order],
    )
    assert compare(mixed, spec=ACC, test="5x2cv-t")[0] == compare(pairs, spec=ACC, test="5x2cv-t")[0]


def test_without_repeats_all_folds_are_of_one():
    pairs = replace(five_by_two(renumber=True), repeat=None)
    assert fold_indices(pairs)[1] == (1, 10)
    assert measure_by_fold(pairs, "a", bind(ACC, pairs.tables[0])).shape == (1, 10)


def test_repeats_need_the_same_number_of_folds():
    pairs = five_by_two()
    short = replace(pairs, fold=np.where(pairs.repeat == 2, 0, pairs.fold).astype(np.int32))
    with pytest.raises(DataError, match="repeats have different"):
        compare(short, spec=ACC)


@pytest.mark.parametrize("test", ["5x2cv-t", "5x2cv-f"])
def test_five_by_two_needs_five_repeats_of_two(test):
    name = parse_test(test).noun.name
    with pytest.raises(DataError) as caught:
        compare(thirty(), spec=ACC, test=test)
    assert str(caught.value) == (
        f'{name} needs five repeats of two folds.\n  seen: 3 repeats of 10 folds\n  hint: test="corrected_t" is for '
        "any number"
    )
    with pytest.raises(DataError, match="seen: 1 repeat of 10 folds\n  hint: repeat=…"):
        compare(replace(five_by_two(renumber=True), repeat=None), spec=ACC, test=test)


@pytest.mark.parametrize("test", ["delong", "bootstrap", "permutation", "mcnemar"])
def test_repeats_are_not_taken_for_more_cases(test):
    thresholds = 0.5 if test == "mcnemar" else None
    with pytest.raises(ScoreSpaceError, match=f"every case occurs several times, which {test} would count"):
        compare(five_by_two(), test=test, at=thresholds)


def test_a_single_fold_is_none():
    pairs = replace(five_by_two(), repeat=None, fold=np.zeros(10_000, dtype=np.int32))
    with pytest.raises(ScoreSpaceError, match="corrected_t compares folds, but"):
        compare(pairs, spec=ACC, test="corrected-t")
    assert compare(pairs, spec=ACC)[0].test.startswith("mcnemar")


def held_out(repeats=20, cases=90, share=30):
    """Cases by name, a share of which is held out again and again; every one is held out some time."""
    rng = np.random.default_rng(4)
    group = np.concatenate([rng.permutation(cases)[:share] for _ in range(repeats)]).astype(np.int32)
    assert np.unique(group).size == cases
    repeat = np.repeat(np.arange(repeats), share).astype(np.int32)
    scores = {name: rng.random(group.size) for name in "ab"}
    return replace(pair_table(rng.permutation(group.size) % 2, scores), fold=0 * repeat, repeat=repeat, group=group)


def test_samples_held_out_are_compared_by_their_own_ratio():
    pairs = held_out()
    assert held_out_ratio(pairs) == pytest.approx(30 / 60)
    a, b = (measure_by_fold(pairs, name, bind(ACC, pairs.tables[0])) for name in "ab")
    (found,) = compare(pairs, spec=ACC, test="corrected-t")
    d = (a - b).ravel()
    t = d.mean() / math.sqrt((1 / 20 + 30 / 60) * d.var(ddof=1))
    assert (found.statistic, found.df, found.p) == pytest.approx((t, 19, 2 * stats.t.sf(abs(t), 19)), abs=1e-12)
    (posterior,) = compare(pairs, spec=ACC, test="bayes_t(rope=0)")
    assert min(posterior.left, posterior.right) == pytest.approx(found.p / 2, abs=1e-12)


def test_samples_of_nameless_cases_have_no_ratio():
    with pytest.raises(ScoreSpaceError, match="corrected_t compares folds, but"):
        compare(replace(held_out(), group=None), spec=ACC, test="corrected-t")


@pytest.mark.parametrize("test", OVER_FOLDS)
def test_identical_models_are_equal_in_every_fold(test):
    same = cases_of(np.full((5, 2), 0.8), np.full((5, 2), 0.8), 100)
    (found,) = compare(same, spec=ACC, test=test)
    assert found.difference == 0
    if isinstance(found, Posterior):
        assert (found.left, found.rope, found.right) == (0, 1, 0)
        assert "practically equal with 1.000" in found.words
    else:
        assert (found.p, found.reason) == (1, "they are equal in every fold")


@pytest.mark.parametrize("test", OVER_FOLDS)
def test_a_constant_difference_has_no_spread(test):
    (found,) = compare(cases_of(np.full((5, 2), 0.9), np.full((5, 2), 0.8), 100), spec=ACC, test=test)
    assert found.difference == pytest.approx(0.1)
    assert np.isnan(found.p)
    assert "the same" in found.reason
    assert found.reason in found.words


def test_undefined_folds_leave_five_by_two_undecided():
    pairs = five_by_two()
    first = (pairs.repeat == 0) & (pairs.fold == 0)
    kept = ~first | (pairs.label == 1)  # one fold without negatives
    part = pair_table(pairs.label[kept], {name: pairs.scores(k)[kept] for k, name in enumerate(pairs.models)})
    part = replace(part, fold=pairs.fold[kept], repeat=pairs.repeat[kept])
    (found,) = compare(part, test="5x2cv-f")
    assert found.reason == "auc is undefined in 1 of the ten folds"
    assert "9 of" not in found.words
    found = compare(part, test="bayes-t")
    assert "1 of 10 folds are excluded: auc is undefined there." in [note.text for note in found.notes]


# --- rope


def test_the_rope_is_that_stated():
    narrow, wide = (compare(thirty(), spec=ACC, test=f"bayes_t(rope={rope})")[0] for rope in (0.001, 0.02))
    assert narrow.width == 0.001
    assert wide.rope > narrow.rope
    assert compare(thirty(), spec=ACC, test="bayes-t")[0].width == 0.01


def test_a_rope_is_for_the_posterior_only():
    with pytest.raises(ScoreSpaceError, match="corrected_t has no option 'rope'"):
        compare(thirty(), spec=ACC, test="corrected_t(rope=0.1)")


def test_posteriors_are_not_adjusted():
    pairs = thirty()
    three = pair_table(pairs.label, {"a": pairs.scores(0), "b": pairs.scores(1), "c": pairs.scores(0)})
    found = compare(replace(three, fold=pairs.fold, repeat=pairs.repeat), spec=ACC, test="bayes-t")
    assert (len(found), found.adjustment, found.notes) == (3, None, ())


# --- groups


@pytest.mark.parametrize(("shift", "codes"), [(0, []), (1, ["SS032"])])
def test_groups_in_several_folds_are_noted(shift, codes):
    # Groups of four within folds of forty, or four that begin one case later and straddle the border.
    rng = np.random.default_rng(1)
    label, fold = rng.integers(0, 2, 200), np.arange(200) // 40
    pairs = pair_table(label, {name: label + rng.normal(size=200) for name in "ab"})
    pairs = replace(pairs, fold=fold.astype(np.int32), group=((np.arange(200) + shift) // 4).astype(np.int32))
    found = compare(pairs)
    assert [note.code for note in found.notes] == codes
    if codes:
        assert found.notes[0].text.startswith("4 of 51 groups are in several folds")


def test_a_group_has_rows_in_every_repeat_without_harm():
    rng = np.random.default_rng(2)
    label = np.tile(rng.integers(0, 2, 40), 2)
    group = np.tile(np.arange(40) // 2, 2)
    fold, repeat = (group + np.repeat([0, 1], 40)) % 2, np.repeat([0, 1], 40)
    pairs = pair_table(label, {name: label + rng.normal(size=80) for name in "ab"})
    pairs = replace(pairs, **{k: v.astype(np.int32) for k, v in (("fold", fold), ("repeat", repeat), ("group", group))})
    assert compare(pairs).notes == ()


def test_folds_are_compared_by_the_corrected_t():
    # The differences within folds, by scikit-learn's areas, through the formula of Nadeau and Bengio.
    rng = np.random.default_rng(8)
    truth, fold = rng.integers(0, 2, 200), np.arange(200) % 5
    scores = {name: truth + rng.normal(size=200) for name in "ab"}
    pairs = replace(pair_table(truth, scores), fold=fold.astype(np.int32))
    (found,) = compare(pairs)
    gaps = [
        roc_auc_score(truth[fold == k], scores["a"][fold == k])
        - roc_auc_score(truth[fold == k], scores["b"][fold == k])
        for k in range(5)
    ]
    t = np.mean(gaps) / np.sqrt((1 / 5 + 1 / 4) * np.var(gaps, ddof=1))
    assert (found.difference, found.statistic) == pytest.approx((np.mean(gaps), t), abs=1e-12)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), 4), abs=1e-12)


def test_folds_without_a_class_are_counted_and_left_out():
    truth, score = np.array([1, 0, 1, 0, 1, 1]), np.array([0.9, 0.2, 0.4, 0.6, 0.8, 0.1])
    pairs = replace(
        pair_table(truth, {"a": score, "b": score**2 - score}), fold=np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    )
    found = compare(pairs)
    assert found[0].count == 2
    assert "1 of 3 folds are excluded: auc is undefined there." in [note.text for note in found.notes]

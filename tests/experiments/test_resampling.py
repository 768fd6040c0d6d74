"""Splits: the notation parses back, scikit-learn's splitters agree, and the golden rule holds for all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, LeaveOneGroupOut, LeavePGroupsOut, StratifiedKFold, TimeSeriesSplit

from helpers.rows import made
from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset
from scorespace.experiments.resampling import parse_resampling
from scorespace.experiments.splits import repeat_seed

NOTATIONS = [
    *("10x10", "10", "10x10:plain", "5:stratified", "holdout:0.3", "20xholdout:0.25", "loo", "logo:speaker"),
    *("lpgo:2:speaker", "logo:professor*student", "lpgo:2*3:professor*student", "bootstrap:200", "time:5"),
]


@pytest.mark.parametrize("text", NOTATIONS)
def test_the_notation_parses_back(text):
    assert str(parse_resampling(text)) == text
    assert parse_resampling(str(parse_resampling(text))) == parse_resampling(text)


def test_one_repeat_is_not_written():
    assert str(parse_resampling("1x10")) == "10"
    assert str(parse_resampling(" 1xholdout:.3 ")) == "holdout:0.3"


@given(st.integers(1, 99), st.integers(2, 99), st.sampled_from(["", ":plain", ":stratified"]))
def test_any_folds_parse_back(repeats, folds, how):
    found = parse_resampling(f"{repeats}x{folds}{how}")
    assert parse_resampling(str(found)) == found
    assert (found.repeats, found.folds) == (repeats, folds)


@pytest.mark.parametrize("text", ["", "x", "1", "0x5", "10x1", "holdout:1.5", "holdout:0.0", "logo:", "lpgo:0:a",
                                  "logo:a*a", "logo:a*b*c", "bootstrap:0", "time:1", "ten"])  # fmt: skip
def test_what_is_no_notation_is_told(text):
    with pytest.raises(ScoreSpaceError, match="resampling="):
        parse_resampling(text)


SMALL = [
    *("3", "2x4", "4:plain", "3:stratified", "2xholdout:0.3", "loo", "logo:speaker", "lpgo:2:speaker"),
    *("logo:speaker*student", "lpgo:2*2:speaker*student", "bootstrap:3", "time:3"),
]


@given(
    st.sampled_from(SMALL), st.integers(20, 60), st.sampled_from([0, 2, 3]), st.integers(5, 8), st.integers(0, 2**32)
)
def test_the_golden_rule(text, rows, classes, groups, seed):
    """No row is on both sides, no group either where groups are kept, and rows are tested as often as they should."""
    second = 6 if "*" in text else 0
    data = made(rows, classes=classes, groups=groups, second=second, seed=seed % 1000)
    scheme = parse_resampling(text)
    splits = scheme.splits(data, seed)
    assert len({(one.repeat, one.fold) for one in splits}) == len(splits)
    for split in splits:
        assert not np.intersect1d(split.train, split.test).size
        if ":plain" not in text and ":stratified" not in text and not text.startswith(("loo", "time")):
            for codes in data.groups.values():
                assert not np.intersect1d(codes[split.train], codes[split.test]).size
    tested = np.bincount(np.concatenate([one.test for one in splits]), minlength=rows)
    if text[0].isdigit() and "holdout" not in text:
        assert (tested == scheme.repeats).all()
    if text in ("loo", "logo:speaker", "logo:speaker*student"):
        assert (tested <= 1).all()
    again = scheme.splits(data, seed)
    assert all(
        np.array_equal(a.train, b.train) and np.array_equal(a.test, b.test) for a, b in zip(splits, again, strict=True)
    )


def test_folds_are_those_of_scikit_learn():
    data = made(50)
    ours = parse_resampling("2x5").splits(data, seed=3)
    for repeat in range(2):
        theirs = StratifiedKFold(5, shuffle=True, random_state=repeat_seed(3, repeat)).split(data.matrix, data.codes)
        for fold, (train, test) in enumerate(theirs):
            split = ours[5 * repeat + fold]
            assert (split.repeat, split.fold) == (repeat, fold)
            assert np.array_equal(split.train, train)
            assert np.array_equal(split.test, test)


def test_numbers_and_plain_folds_are_not_stratified():
    data = made(50, classes=0)
    theirs = KFold(5, shuffle=True, random_state=repeat_seed(0, 0)).split(data.matrix)
    for split, (_, test) in zip(parse_resampling("5").splits(data), theirs, strict=True):
        assert np.array_equal(split.test, test)
    assert parse_resampling("5").described(data) == "5 folds, at random"
    assert parse_resampling("5:plain").described(made()) == "5 folds, at random"
    assert parse_resampling("5").described(made()) == "5 folds, stratified by class"


def test_folds_stay_stratified():
    data = made(200)
    for split in parse_resampling("10").splits(data):
        assert data.codes[split.test].mean() == 0.5


def test_the_bootstrap_draws_as_many_rows_and_tests_the_rest():
    data = made(300)
    whole, *rest = parse_resampling("bootstrap:50").splits(data)
    assert (whole.repeat, whole.train.size, whole.test.size) == (-1, 300, 0)
    assert [one.repeat for one in rest] == list(range(50))
    assert all(one.train.size == 300 for one in rest)
    assert all(np.array_equal(np.setdiff1d(np.arange(300), one.train), one.test) for one in rest)
    share = np.mean([one.test.size / 300 for one in rest])
    assert abs(share - (1 - 1 / 300) ** 300) < 0.01


def test_the_bootstrap_draws_groups_whole():
    data = made(30, groups=6)
    codes = data.groups["speaker"]
    for split in parse_resampling("bootstrap:5").splits(data)[1:]:
        counts = np.bincount(codes[split.train], minlength=6)
        assert all(count % np.sum(codes == group) == 0 for group, count in enumerate(counts))


def test_time_only_trains_on_the_past():
    data = made(60)
    splits = parse_resampling("time:4").splits(data)
    for split in splits:
        assert data.order[split.train].max() < data.order[split.test].min()
    moments = np.unique(data.order)
    wanted = [test.size for _, test in TimeSeriesSplit(4).split(moments)]
    assert [np.unique(data.order[one.test]).size for one in splits] == wanted


@pytest.mark.parametrize(
    ("text", "data", "words"),
    [
        ("50", made(40), "d has 40 rows, too few for 50 folds."),
        ("6", made(40, groups=5), "d has 5 groups, too few for 6 folds."),
        (
            "5",
            made(40, groups=5, second=3),
            "d has several groupings, but folds can keep the groups of only one together.",
        ),
        ("logo:cat", made(40, groups=5), "d has no grouping 'cat'."),
        ("lpgo:5:speaker", made(40, groups=5), "d has too few groups to leave out 5."),
        ("time:30", made(40), "d has 20 distinct times, too few for 30 periods."),
        ("holdout:0.01", made(40), "a share of 0.01 of d leaves training or test empty."),
    ],
)
def test_what_the_data_do_not_allow_is_told(text, data, words):
    with pytest.raises(ScoreSpaceError) as caught:
        parse_resampling(text).splits(data)
    assert caught.value.problem == words


def test_time_needs_an_order():
    data = Dataset("d", {"x": np.arange(9.0)}, np.arange(9) % 2, "classes")
    with pytest.raises(ScoreSpaceError, match="resampling='time:3' needs"):
        parse_resampling("time:3").splits(data)


def test_of_a_few_rows_the_bootstrap_always_leaves_one_to_test():
    """Of three rows all are drawn two times in nine."""
    assert all(0 < one.test.size < 3 for one in parse_resampling("bootstrap:100").splits(made(3))[1:])
    with pytest.raises(ScoreSpaceError) as caught:
        parse_resampling("bootstrap:3").splits(made(6, groups=1))
    assert str(caught.value) == "d is too small for a bootstrap.\n  seen: 1 of groups"


def test_leaving_groups_out_is_as_in_scikit_learn():
    data = made(40, groups=5)
    codes = data.groups["speaker"]
    for text, theirs in (("logo:speaker", LeaveOneGroupOut()), ("lpgo:2:speaker", LeavePGroupsOut(2))):
        found = parse_resampling(text).splits(data)
        wanted = list(theirs.split(data.matrix, groups=codes))
        assert len(found) == len(wanted)
        assert {tuple(one.test) for one in found} == {tuple(test) for _, test in wanted}


def test_crossed_groups_by_brute_force():
    """Every observed pair is a fold; its training rows have neither."""
    data = made(60, groups=6, second=5)
    first, second = data.groups["speaker"], data.groups["student"]
    pairs = sorted(set(zip(first.tolist(), second.tolist(), strict=True)))
    found = {tuple(one.test): one.train for one in parse_resampling("logo:speaker*student").splits(data)}
    assert len(found) == len(pairs)
    for a, b in pairs:
        test = tuple(i for i in range(60) if first[i] == a and second[i] == b)
        assert found[test].tolist() == [i for i in range(60) if first[i] != a and second[i] != b]


def test_crossed_parts_have_the_stated_sizes():
    data = made(120, groups=6, second=9)
    for split in parse_resampling("lpgo:2*3:speaker*student").splits(data):
        assert np.unique(data.groups["speaker"][split.test]).size <= 2
        assert np.unique(data.groups["student"][split.test]).size <= 3


def test_one_row_cannot_be_left_out():
    with pytest.raises(ScoreSpaceError, match="too few rows"):
        parse_resampling("loo").splits(made(1))

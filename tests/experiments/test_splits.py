"""What all notations share: numbers within limits, seeds, and the words for how rows are dealt."""

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)

import scorespace as ss
from helpers.rows import made
from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset
from scorespace.experiments.resampling import parse_resampling
from scorespace.experiments.splits import repeat_seed


def test_a_class_too_small_to_stratify_is_said():
    truth = np.array([0] * 10 + [1])
    data = Dataset("d", {"x": np.arange(11.0)}, truth, "classes")
    assert parse_resampling("3").described(data) == "3 folds, at random (a class is too small to stratify)"
    assert len(parse_resampling("3").splits(data)) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("10x1", ("resampling='10x1' has too few folds: 1.\n  hint: 10")),
        ("9999x9999", ("resampling='9999x9999' has too many repeats: 9999.\n  hint: 10")),
        ("bootstrap:0", ("resampling='bootstrap:0' has too few samples: 0.\n  hint: bootstrap:200")),
        ("lpgo:0:a", ("resampling='lpgo:0:a' has too few groups: 0.\n  hint: logo:speaker")),
        ("time:1", ("resampling='time:1' has too few stretches: 1.\n  hint: time:5")),
        ("logo:a*a", "resampling='logo:a*a' needs two different groupings.\n  hint: logo:professor*student"),
    ],
)
def test_numbers_out_of_range_are_told(text, words):
    with pytest.raises(ScoreSpaceError) as caught:
        parse_resampling(text)
    assert str(caught.value) == words


def test_seeds_share_no_repeat():
    assert len({repeat_seed(seed, repeat) for seed in range(20) for repeat in range(20)}) == 400


def test_numbers_are_not_stratified():
    assert parse_resampling("5").described(made(classes=0)) == "5 folds, at random"


class Pairs:
    """A splitter of one's own, without a text of its own."""

    def __init__(self, pairs):
        self.pairs = pairs

    def split(self, X, y=None, groups=None):  # noqa: N803
        yield from self.pairs


OWN = f"<{__name__}.Pairs object>"


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@pytest.mark.parametrize(
    ("splitter", "repeats", "folds"),
    [
        (KFold(4), 1, 4),
        (StratifiedKFold(3), 1, 3),
        (GroupKFold(5), 1, 5),
        (RepeatedKFold(n_splits=4, n_repeats=3, random_state=1), 3, 4),
        (RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=1), 5, 2),
        (ShuffleSplit(6, test_size=0.5, random_state=2), 6, 1),
        (PredefinedSplit(np.arange(40) % 4), 1, 4),
    ],
)
def test_its_splits_are_taken_as_they_are(splitter, repeats, folds):
    data = made(40, groups=5)
    found = parse_resampling(splitter).splits(data, seed=9)
    wanted = list(splitter.split(data.matrix, data.truth, data.groups["speaker"]))
    assert len(found) == len(wanted)
    for split, (train, test) in zip(found, wanted, strict=True):
        assert np.array_equal(split.train, train)
        assert np.array_equal(split.test, test)
    assert [(one.repeat, one.fold) for one in found] == [(r, f) for r in range(repeats) for f in range(folds)]


def test_an_open_random_state_is_set_by_the_seed():
    data = made(40)
    scheme = parse_resampling(KFold(4, shuffle=True))
    one, again, other = ([split.test.tolist() for split in scheme.splits(data, seed)] for seed in (1, 1, 2))
    assert one == again != other
    generator = parse_resampling(KFold(4, shuffle=True, random_state=np.random.RandomState(3)))
    assert [x.test.tolist() for x in generator.splits(data)] == [x.test.tolist() for x in generator.splits(data)]


def test_its_text_has_no_address():
    assert str(parse_resampling(KFold(3))) == "KFold(n_splits=3, random_state=None, shuffle=False)"
    assert str(parse_resampling(Pairs([]))) == OWN


def test_masks_name_rows_too():
    first = np.arange(6) < 3
    (split,) = parse_resampling(Pairs([(first, ~first)])).splits(made(6))
    assert (split.train.tolist(), split.test.tolist()) == ([0, 1, 2], [3, 4, 5])


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([], f"{OWN} yields no splits of d."),
        (
            [([0, 1, 2], [2, 3])],
            "fold 1 of repeat 1 of d trains and tests on the same rows.\n  seen: 1 rows on both sides",
        ),
        ([([0, 1], [3, 3])], f"{OWN} tests a row of d twice in one split."),
        ([([0, 1], [])], "fold 1 of repeat 1 of d has no test rows."),
        (
            [([0, 1], [9])],
            f"{OWN} returned invalid row indices for d.\n  seen: array([9])",
        ),
        (
            [([0, 1], ["a"])],
            f"{OWN} returned invalid row indices for d.\n"
            "  seen: array(['a'], dtype='<U1')",
        ),
        (
            [7],
            f"{OWN} cannot split d.\n"
            "  seen: TypeError: cannot unpack non-iterable int object",
        ),
    ],
)  # fmt: skip
def test_what_it_gives_is_checked(pairs, words):
    with pytest.raises(ScoreSpaceError) as caught:
        parse_resampling(Pairs(pairs)).splits(made(6))
    assert str(caught.value).partition("\n  hint")[0] == words


def test_groups_that_it_wants_and_does_not_get_are_told():
    with pytest.raises(ScoreSpaceError) as caught:
        parse_resampling(GroupKFold(3)).splits(made(12))
    assert caught.value.problem == "GroupKFold(n_splits=3, random_state=None, shuffle=False) cannot split d."
    assert caught.value.hint == 'ss.dataset(…, groups=["…"])'
    with pytest.raises(
        ScoreSpaceError, match="GroupKFold\\(n_splits=3, random_state=None, shuffle=False\\) cannot split d"
    ):
        parse_resampling(GroupKFold(3)).splits(made(12, groups=3, second=2))


def test_a_run_remembers_its_splits(tmp_path):
    data = made(24)
    halves = [(np.arange(12), np.arange(12, 24)), (np.arange(12, 24), np.arange(12))]
    run = ss.benchmark("majority", data, Pairs(halves), tmp_path / "run", workers=1)
    assert run.resampling == OWN
    assert run.status().finished
    said = run.predictions("d", "majority")
    assert said["row"].tolist() == [*range(12, 24), *range(12)]
    again = ss.benchmark("majority", data, Pairs(halves), tmp_path / "run", workers=1)
    assert again.files("d", "majority") == run.files("d", "majority")
    with pytest.raises(ScoreSpaceError) as caught:  # the same text, and other splits
        ss.benchmark("majority", data, Pairs(halves[:1]), tmp_path / "run", workers=1)
    assert caught.value.problem.endswith("its splits have changed.")
    with pytest.raises(
        ScoreSpaceError,
        match=("contains a run"),
    ):
        ss.benchmark("majority", data, KFold(2), tmp_path / "run", workers=1)
    replaced = ss.benchmark("majority", data, Pairs(halves[:1]), tmp_path / "run", workers=1, replace=True)
    assert replaced.predictions("d", "majority")["row"].tolist() == [*range(12, 24)]


def test_a_run_by_a_splitter_is_read_as_any_other(tmp_path):
    ss.benchmark(
        ["naive_bayes", "majority"], made(60), RepeatedStratifiedKFold(n_splits=3, n_repeats=2), tmp_path, workers=1
    )
    found = ss.benchmark_summary(tmp_path)
    assert found.result("d", "naive_bayes").values.shape == (2, 3)

"""The pair table: every case in its place in every model's score table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from scorespace.errors import ColumnError, DataError, PositiveError, ScoreError, ScoreSpaceError
from scorespace.tables import score_table
from scorespace.tables.paired import pair_table

TRUTH = [1, 0, 1, 0, 1]
SCORES = {"a": [0.9, 0.4, 0.6, 0.7, 0.4], "b": [3, -1, 3, 0, 2]}


@st.composite
def samples(draw):
    """Labels and two models' scores, with many ties."""
    size = draw(st.integers(2, 30))
    label = draw(hnp.arrays(np.int64, size, elements=st.integers(0, 1)))
    label[:2] = (0, 1)
    scores = [draw(hnp.arrays(np.float64, size, elements=st.integers(-3, 3))) for _ in "ab"]
    return label, dict(zip("ab", scores, strict=True))


@given(samples())
def test_places_and_tables_give_the_scores_back(sample):
    label, scores = sample
    pairs = pair_table(label, scores)
    for k, (model, values) in enumerate(scores.items()):
        assert pairs.index(model) == k
        assert pairs.scores(k).tolist() == values.tolist()
        expected = score_table(label, values)
        assert pairs.tables[k].score.tolist() == expected.score.tolist()
        assert pairs.tables[k].pos.tolist() == expected.pos.tolist()
        assert pairs.tables[k].neg.tolist() == expected.neg.tolist()


@given(samples(), st.integers(-4, 4))
def test_a_decision_is_positive_from_the_threshold_on(sample, at):
    label, scores = sample
    assert pair_table(label, scores).decisions(1, at).tolist() == (scores["b"] >= at).tolist()


def test_labels_count_the_positive_class():
    pairs = pair_table(["bad", "good", "bad"], {"a": [1, 2, 3]}, positive="good")
    assert pairs.label.tolist() == [0, 1, 0]
    assert repr(pairs) == "PairTable: 1 models on 3 cases, 1 positive"


def test_zero_has_one_place_whatever_its_sign():
    pairs = pair_table([1, 0, 1], {"a": [0.0, -0.0, 1.0]})
    assert pairs.place.tolist() == [[1, 1, 0]]
    assert not np.signbit(pairs.tables[0].score).any()


def test_neighbouring_numbers_keep_their_places():
    # Scores closer than any tolerance are still different scores.
    pairs = pair_table([1, 0, 1], {"a": [0.3, np.nextafter(0.3, 1), 0.3]})
    assert pairs.place.tolist() == [[1, 0, 1]]


@pytest.mark.parametrize("digits", [1, 12])
def test_many_cases_go_through_threads_to_the_same_table(digits, monkeypatch):
    rng = np.random.default_rng(3)
    label = rng.integers(0, 2, 500)
    scores = {name: np.round(rng.normal(size=500), digits) for name in "abc"}
    alone = pair_table(label, scores)
    monkeypatch.setattr("scorespace.tables.paired._MIN_CASES_FOR_THREADS", 100)
    assert pair_table(label, scores) == alone


def test_groups_are_numbered():
    pairs = pair_table(TRUTH, SCORES, group=["x", "y", "x", "z", "y"])
    assert pairs.group.max() == 2
    assert pairs.group[0] == pairs.group[2]
    assert len({int(pairs.group[k]) for k in (0, 1, 3)}) == 3
    assert pair_table(TRUTH, SCORES).group is None


def test_equal_by_value():
    assert pair_table(TRUTH, SCORES) == pair_table(np.array(TRUTH), {"a": np.array(SCORES["a"]), "b": SCORES["b"]})
    assert pair_table(TRUTH, SCORES) != pair_table(TRUTH, SCORES, group=[1, 1, 2, 2, 3])
    assert pair_table(TRUTH, SCORES) != pair_table(TRUTH, {"a": SCORES["a"], "c": SCORES["b"]})


@pytest.mark.parametrize(
    ("truth", "scores", "named", "error", "words"),
    [
        (TRUTH, {}, {}, DataError, "a pair table needs at least one model.\n  hint: the scores of a model"),
        (TRUTH, {"a": [1, 2]}, {}, ScoreSpaceError, "5"),
        (TRUTH, {"a": [1, 2, 3, 4, float("nan")]}, {}, ScoreError, "missing|NaN|nan"),
        (["x", "y", "x"], {"a": [1, 2, 3]}, {}, PositiveError, "positive"),
        (["x", "y", "x"], {"a": [1, 2, 3]}, {"positive": "q"}, PositiveError, "q"),
    ],
)
def test_wrong_input_is_refused(truth, scores, named, error, words):
    with pytest.raises(error, match=words):
        pair_table(truth, scores, **named)


def test_a_missing_group_is_refused():
    with pytest.raises((ColumnError, DataError, ScoreSpaceError)):
        pair_table(TRUTH, SCORES, group=["x", None, "x", "z", "y"])


def test_an_unknown_model():
    with pytest.raises(DataError) as caught:
        pair_table(TRUTH, SCORES).index("c")
    assert str(caught.value) == "there is no model 'c'.\n  seen: 'a', 'b'\n  hint: one of these"

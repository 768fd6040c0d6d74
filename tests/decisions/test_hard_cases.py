"""Hard and easy cases, and the gaps between scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from scipy import stats

import scorespace as ss
from laws.strategies import samples
from scorespace.decisions.hard_cases import SETS, ZONES, cases, margins, set_sizes, subsample, zones
from scorespace.errors import ConditionError, DataError, PositiveError, ScoreError
from scorespace.tables import score_table

TRUTH = [1, 1, 0, 1, 0, 0]
SCORE = [0.95, 0.7, 0.6, 0.51, 0.2, 0.01]
# Midpoint ½, so that scores from .25 to .75 are in doubt; the classes overlap from .1 to .9.
EIGHT = cases(
    [1, 0, 1, 0, 1, 0, 1, 0], [0.95, 0.9, 0.7, 0.6, 0.4, 0.3, 0.1, 0.05], id=list("abcdefgh"), midpoint="half"
)


def ids(found, zone):
    return [row["id"] for row in found.of(zone)]


def test_zones_by_hand():
    assert {zone: ids(EIGHT, zone) for zone in ZONES} == {
        "easy": ["a", "h"],  # sure and right
        "rescued": ["c", "f"],  # in doubt and right
        "hard": ["d", "e"],  # in doubt and wrong
        "error": ["b", "g"],  # sure and wrong
    }
    assert EIGHT.counts == {"easy": 2, "rescued": 2, "hard": 2, "error": 2}


def test_a_row_of_a_case():
    (row,) = [row for row in EIGHT.rows() if row["id"] == "d"]
    # The negative at 0.6 is inappropriate: c = .4, slope .4 / .6.
    slope = row.pop("slope")
    assert slope == pytest.approx(2 / 3)
    assert row == {
        "id": "d",
        "score": 0.6,
        "rank": 4,
        "label": "0",
        "appropriate": False,
        "zone": "hard",
        "set": "high and negative",
        "outcome": "FP",
    }


def test_ties_share_rank_and_segment():
    found = cases([1, 0, 1, 0], [0.8, 0.8, 0.8, 0.2])
    assert found.rank.tolist() == [2, 2, 2, 4]
    # Mean .65: the positives give c = .8 each, the negative .2: 1.8 up and 1.2 across.
    assert_allclose(found.slope, [1.5, 1.5, 1.5, 0.25])


def test_a_certain_score_has_an_infinite_slope():
    found = cases([1, 0], [1, 0])
    assert found.slope.tolist() == [np.inf, 0]
    assert found.rows()[0]["slope"] is None


def test_cases_are_numbered_from_one():
    assert [row["id"] for row in cases(TRUTH, SCORE).rows()] == [1, 2, 3, 4, 5, 6]


def test_the_most_telling_come_first():
    found = cases([1, 0, 1, 0, 1, 0], [0.3, 0.45, 0.48, 0.9, 0.05, 0.99], midpoint=0.5)
    assert ids(found, "error") == [6, 5, 4]
    assert ids(found, "hard") == [3, 1]


def test_no_overlap_leaves_all_cases_easy():
    found = cases([1, 1, 0, 0], [0.6, 0.55, 0.45, 0.4])
    assert found.counts == {"easy": 4, "rescued": 0, "hard": 0, "error": 0}
    assert [one.code for one in found.notes] == ["SS028"]
    assert found.to_dict()["overlap"] is None
    assert repr(found) == "4 of 4 cases are easy. None is confident and wrong."


def test_the_words_count():
    assert EIGHT.words == (
        "2 of 8 cases are easy. 4 are uncertain, around the midpoint 0.500: 2 of them on the right side, 2 on the "
        "wrong side. 2 are confident and wrong."
    )


@given(sample=samples(both=True))
@settings(max_examples=40)
def test_zones_of_the_table_count_the_cases(sample):
    found = cases(sample.truth, sample.score, positive=1)
    assert found.counts == {zone: int(count) for zone, count in found.zones.counts.items()}
    assert sum(found.counts.values()) == len(sample)
    right = found.counts["easy"] + found.counts["rescued"]
    curve = ss.smooth(sample.unweighted())
    assert (right, len(sample) - right) == (curve.appropriate, curve.inappropriate)
    assert int(found.appropriate.sum()) == right


def test_labels_of_any_kind():
    found = cases(["bad", "good", "bad"], [0.9, 0.2, 0.4], positive="bad")
    assert found.label.tolist() == ["bad", "good", "bad"]
    several = cases(["a", "b", "c"], [0.9, 0.2, 0.4], positive="a")
    assert several.label.tolist() == ["a", "b", "c"]
    assert several.positive.tolist() == [True, False, False]
    alone = cases(["bad", "bad"], [0.9, 0.2], positive="bad")
    assert alone.label.tolist() == ["bad", "bad"]


def test_wrong_input_is_refused():
    with pytest.raises(ScoreError, match=r"between 0 and 1.*\n.*scores from 2 to 3"):
        cases([1, 0], [3, 2])
    with pytest.raises(ScoreError, match=r"between 0 and 1.*\n.*scores from 2 to 3"):
        zones(score_table([1, 0], [3, 2]))
    with pytest.raises(DataError, match="id differ"):
        cases([1, 0], [0.3, 0.2], id=["a"])
    with pytest.raises(DataError, match="no zone 'harsh'"):
        EIGHT.of("harsh")
    with pytest.raises(PositiveError):
        cases(["a", "b"], [0.3, 0.2])


def test_plain_content():
    content = EIGHT.to_dict()
    assert content["schema"] == 1
    assert content["overlap"] == [0.1, 0.9]
    assert content["counts"]["hard"] == 2
    assert len(content["rows"]) == 8


# --- margins


def test_gaps_and_the_natural_cut():
    found = margins(score_table([1, 1, 0, 0, 0], [0.9, 0.85, 0.3, 0.25, 0.2]))
    assert_allclose(found.gap, [0.05, 0.55, 0.05, 0.05])
    assert found.cut == pytest.approx(0.575)
    assert [one.row() for one in found.clusters] == [
        {"low": 0.85, "high": 0.9, "positives": 2, "negatives": 0},
        {"low": 0.2, "high": 0.3, "positives": 0, "negatives": 3},
    ]
    assert found.rows()[1] == {"above": 0.85, "below": 0.3, "gap": pytest.approx(0.55)}
    assert found.to_dict()["clusters"][0]["positives"] == 2


def test_every_gap_half_as_wide_parts_clusters():
    found = margins(score_table([1, 1, 0, 0], [0.9, 0.5, 0.3, 0.29]))  # gaps .4, .2, .01
    assert [(one.low, one.high) for one in found.clusters] == [(0.9, 0.9), (0.5, 0.5), (0.29, 0.3)]


def test_even_scores_form_one_cluster():
    found = margins(score_table([1, 0] * 50, np.arange(100) / 100))
    assert len(found.clusters) == 1
    assert "one cluster" in repr(found)


def test_one_score_has_no_gap():
    found = margins(score_table([1, 0], [0.4, 0.4]))
    assert np.isnan(found.cut)
    assert found.to_dict()["cut"] is None
    assert [(one.low, one.high) for one in found.clusters] == [(0.4, 0.4)]
    assert "no gap" in repr(found)


def test_margins_need_no_probabilities():
    assert margins(score_table([1, 0], [7, -3])).cut == 2


# --- the four sets, and decisions


def test_the_four_sets_by_name_as_lists():
    assert {name: [row["id"] for row in EIGHT.members(name)] for name in SETS} == {
        "high and positive": ["a", "c"],
        "low and negative": ["h", "f"],
        "low and positive": ["g", "e"],
        "high and negative": ["b", "d"],
    }
    assert EIGHT.sets == dict.fromkeys(SETS, 2)
    assert [row["set"] for row in EIGHT.rows()[:2]] == ["high and positive", "high and negative"]
    with pytest.raises(DataError, match="set 'high'"):
        EIGHT.members("high")


def test_appropriate_scores_against_decisions():
    # At the midpoint itself every appropriate score decides right, at 0.65 one positive of two is missed.
    assert EIGHT.contingency(0.5).tolist() == [[2, 0], [0, 2], [0, 2], [2, 0]]
    assert EIGHT.contingency(0.65).tolist() == [[2, 0], [0, 2], [0, 2], [1, 1]]
    assert EIGHT.contingency(0.8).tolist() == [[1, 1], [0, 2], [0, 2], [1, 1]]


@given(sample=samples(both=True))
@settings(max_examples=30)
def test_sets_and_appropriateness_agree(sample):
    found = cases(sample.truth, sample.score, positive=1)
    assert (found.appropriate == (found.set < 2)).all()
    assert sum(found.sets.values()) == found.contingency().sum() == found.score.size


def test_a_note_where_nothing_is_appropriate_and_where_the_midpoint_is_astray():
    swapped = cases([1, 1, 0, 0], [0.1, 0.2, 0.8, 0.9])
    assert [one.code for one in swapped.notes] == ["SS065"]
    assert "midpoint 0.500" in swapped.notes[0].text
    assert "swapped" in swapped.notes[0].text
    astray = cases([1, 1, 1, 0, 1, 1, 0], [0.1, 0.95, 0.9, 0.15, 0.8, 0.99, 0.05])
    assert [(one.code, one.text) for one in astray.notes] == [
        (
            "SS066",
            "the midpoint 0.563 is outside the scores 0.100 to 0.150 where the classes overlap: all cases there "
            "count as low. A midpoint of 0.125 would separate them.",
        )
    ]
    apart = cases([1, 1, 0, 0], [0.9, 0.8, 0.3, 0.2], midpoint=0.1)
    assert [one.code for one in apart.notes] == ["SS066"]
    assert "where the classes meet: all cases there count as high" in apart.notes[0].text
    assert EIGHT.notes == ()


# --- a part that keeps the shape


def many(size=600):
    rng = np.random.default_rng(4)
    truth = (rng.random(size) < 0.3).astype(int)
    return cases(truth, 1 / (1 + np.exp(-rng.normal(size=size) - 2 * truth + 1)))


@pytest.mark.parametrize("size", [20, 100, 300])
def test_a_sub_sample_is_nearer_than_chance(size):
    found = many()
    part = subsample(found, size)
    assert part.places.size == np.unique(part.places).size == size
    share = found.positive.mean()
    assert found.positive[part.places].mean() == pytest.approx(share, abs=1 / size)
    assert part.area < part.by_chance / 2
    # Half a step of each class is all that the distribution of its scores can move.
    for side in (True, False):
        whole, taken = (
            found.score[found.positive == side],
            found.score[part.places][found.positive[part.places] == side],
        )
        assert stats.ks_2samp(whole, taken).statistic <= 0.5 / taken.size + 1 / whole.size + 1e-9


def test_all_cases_are_a_sub_sample_too():
    found = many(50)
    whole = subsample(found, 50)
    assert whole.places.tolist() == list(range(50))
    assert (whole.area, whole.by_chance) == (0, 0)
    assert subsample(cases([1, 0, 0, 0, 0, 0], [0.9, 0.1, 0.2, 0.3, 0.4, 0.5]), 2).places.tolist() == [0, 3]
    with pytest.raises(ConditionError, match="subsample of 51 cases"):
        subsample(found, 51)


@given(samples(both=True))
@settings(max_examples=25)
def test_the_sets_of_a_table_are_those_of_its_cases(sample):
    table = sample.table()
    sizes = set_sizes(table, 0.4)
    assert sum(sizes.values()) == float(table.total)
    assert sizes[SETS[0]] + sizes[SETS[3]] == float(table.at(np.nextafter(0.4, 1)).pp)
    assert sizes[SETS[0]] + sizes[SETS[2]] == float(table.n_pos)

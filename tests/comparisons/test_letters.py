"""Compact letters: the worked example of multcompView, and what the letters of any set of differences must say."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import scorespace as ss
from scorespace.comparisons.letters import compact_letters, letter_groups
from scorespace.comparisons.result import Comparison, Comparisons


def _matrix(models: int, pairs: list[tuple[int, int]]) -> np.ndarray:
    differs = np.zeros((models, models), dtype=bool)
    for a, b in pairs:
        differs[a, b] = differs[b, a] = True
    return differs


def test_letters_of_multcompview() -> None:
    """multcompView 0.1-8: p AB .2, AC .01, AD .001, BC .3, BD .02, CD .4."""
    assert compact_letters(_matrix(4, [(0, 2), (0, 3), (1, 3)])) == ("a", "ab", "bc", "c")


def test_no_difference_and_all_differences() -> None:
    assert compact_letters(_matrix(3, [])) == ("a", "a", "a")
    assert compact_letters(_matrix(3, [(0, 1), (0, 2), (1, 2)])) == ("a", "b", "c")
    assert compact_letters(np.zeros((0, 0))) == ()


def test_sixty_models_that_all_differ_have_sixty_letters() -> None:
    letters = compact_letters(~np.eye(60, dtype=bool))
    assert len(set(letters)) == 60
    assert letters[52] == ".a"


@given(
    st.integers(1, 7).flatmap(
        lambda m: st.tuples(st.just(m), st.sets(st.sampled_from(list(combinations(range(m), 2)) or [(0, 0)])))
    )
)
def test_models_share_a_letter_exactly_if_they_do_not_differ(case: tuple[int, set[tuple[int, int]]]) -> None:
    models, pairs = case
    differs = _matrix(models, [pair for pair in pairs if pair[0] != pair[1]])
    groups = letter_groups(differs)
    for a in range(models):
        for b in range(models):
            assert any({a, b} <= group for group in groups) == (not differs[a, b])
    for position, group in enumerate(groups):  # no letter can be left out
        others = groups[:position] + groups[position + 1 :]
        held = {pair for other in others for pair in combinations(sorted(other), 2)} | {
            (m, m) for o in others for m in o
        }
        assert any(pair not in held for pair in [*combinations(sorted(group), 2), *((m, m) for m in group)])


def compared(p, measure="auc", **options):
    pairs = [("A", "B"), ("A", "C"), ("B", "C")]
    tests = [
        Comparison(*pair, "t", measure, gap, p=one) for pair, gap, one in zip(pairs, (0.1, 0.3, 0.2), p, strict=True)
    ]
    return Comparisons(("A", "B", "C"), tuple(replace(one, **options) for one in tests))


def test_comparisons_have_letters_from_the_best_model_down():
    assert compared((0.2, 0.01, 0.3)).letters == {"A": "a", "B": "ab", "C": "b"}
    assert list(compared((0.2, 0.01, 0.3), "brier").letters) == ["C", "B", "A"]
    assert compared((0.2, math.nan, 0.3)).letters == dict.fromkeys("ABC", "a")
    assert compared((0.2, 0.01, 0.3)).to_dict()["letters"] == {"A": "a", "B": "ab", "C": "b"}


def test_no_letters_for_two_models_or_one_sided_tests():
    assert compared((0.2, 0.01, 0.3), alternative="greater").letters == {}
    assert Comparisons(("A", "B"), compared((0.2, 0.01, 0.3)).comparisons[:1]).letters == {}
    assert "letters" not in Comparisons(("A", "B"), ()).to_dict()


def test_a_screen_shows_them():
    label = np.arange(60) % 2
    scores = {"good": label + np.arange(60) % 7 / 7, "same": label + np.arange(60) % 5 / 5, "bad": np.arange(60) % 3}
    found = ss.compare(label, scores)
    assert list(found.letters) == ["good", "same", "bad"]
    assert found.letters["good"] == found.letters["same"] != found.letters["bad"]

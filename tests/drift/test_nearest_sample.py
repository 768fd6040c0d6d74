"""Which of several samples matches one."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.drift.drift import drift
from scorespace.errors import ConditionError, DataError
from scorespace.tables import score_table

RNG = np.random.default_rng(12)


def drawn(size, share=0.4, shift=0.0):
    truth = (RNG.random(size) < share).astype(int)
    return {"y": truth, "s": 1 / (1 + np.exp(-RNG.normal(size=size) - 2 * truth + 1 - shift))}


SPRING = drawn(500)
ASKED = {"truth": "y", "scores": "s", "name": "spring", "replicates": 400}


def test_the_sample_that_matches_is_named():
    found = ss.match(SPRING, {"shifted": drawn(400, shift=1.5), "alike": drawn(400), "rare": drawn(400, 0.1)}, **ASKED)
    assert found.matching == ("alike",)
    assert found.ranked[0] == "alike"
    assert [found.drifts[name].cause for name in ("shifted", "rare")] == ["scores", "prevalence"]
    assert found.words.splitlines()[0] == "alike is nearest to spring, without evidence of change; all others differ."
    assert [line.split(":")[0] for line in found.words.splitlines()[1:]] == list(found.ranked[1:])
    content = found.to_dict()
    assert content["matching"] == ["alike"]
    assert list(content["distances"]) == list(found.ranked)
    assert list(dict.fromkeys(row["sample"] for row in content["rows"])) == list(found.ranked)


def test_several_match_or_none():
    twins = {name: drawn(400) for name in ("one", "two", "three")}
    found = ss.match(SPRING, twins, **ASKED)
    assert set(found.matching) == set(twins)
    first, *rest = found.matching
    assert found.words == f"{first} is nearest to spring; no evidence of change in it or in {rest[0]} and {rest[1]}."
    none = ss.match(SPRING, {"far": drawn(400, shift=3), "near": drawn(400, shift=1)}, **ASKED)
    assert none.words.splitlines()[0] == "Every sample differs from spring; near is the nearest."


def test_p_values_are_adjusted_for_all_samples():
    twin = drawn(300, shift=0.3)
    one = ss.drift(SPRING, twin, truth="y", scores="s", replicates=400)
    assert min(aspect.p_adjusted for aspect in one.models[0].aspects[:3]) < 1 / 3  # else three times it is 1 again
    many = ss.match(SPRING, {"a": twin, "b": drawn(300), "c": drawn(300)}, **ASKED).drifts["a"]
    for first, second in zip(one.models[0].aspects[:3], many.models[0].aspects[:3], strict=True):
        assert second.p_adjusted == pytest.approx(min(1, 3 * first.p_adjusted))
    with pytest.raises(ConditionError, match="replicates=100 is too few for 12 tests at level 0\\.05"):
        ss.match(SPRING, {"a": twin, "b": twin, "c": twin}, **{**ASKED, "replicates": 100})


def test_false_alarms_over_several_samples_are_rare():
    moved = 0
    for seed in range(20):
        before, *later = ({"s": score_table(*drawn(120).values())} for _ in range(4))
        found = [drift(before, one, aspects=(), samples=3, replicates=240, seed=seed) for one in later]
        moved += any(one.moved for one in found)
    assert moved <= 4  # at most 5 % of these are expected


def test_without_scores_as_probabilities_the_distance_is_that_of_the_scores():
    plain = {name: {"y": one["y"], "s": 10 * one["s"]} for name, one in {"a": SPRING, "b": drawn(300)}.items()}
    found = ss.match(plain["a"], {"b": plain["b"]}, **ASKED)
    assert found.distance("b") == found.drifts["b"].models[0]["scores"].change
    with pytest.raises(DataError, match="sample to match"):
        ss.match(SPRING, {}, **ASKED)


def test_weights_say_how_often_a_row_occurred():
    weight = RNG.integers(0, 4, 500)
    copies = {name: np.repeat(column, weight) for name, column in SPRING.items()}
    later = drawn(300)
    settings = {"truth": "y", "scores": "s", "replicates": 300}
    ours = ss.drift({**SPRING, "w": weight}, {**later, "w": np.ones(300, dtype=int)}, weight="w", **settings)
    assert ours.rows() == ss.drift(copies, later, **settings).rows()
    found = ss.drift({**SPRING, "w": weight + 0.5}, {**later, "w": np.ones(300)}, weight="w", **settings)
    assert found.sizes == (500, 300)
    (note,) = (one.text for one in found.notes if one.code == "SS006")
    assert note.startswith("weights are not whole numbers")

"""Labellings of points judged: numbers, words, notes, JSON, and what is refused."""

import json

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, silhouette_score

import scorespace as ss
from scorespace.errors import ScoreSpaceError

RNG = np.random.default_rng(1)
CLASS = np.repeat(["x", "y", "z"], 40)
POINTS = RNG.normal(0, 1, (120, 2)) + 7 * np.eye(3, 2)[np.repeat([0, 1, 2], 40)]
GOOD = np.where(CLASS == "x", "one", np.where(CLASS == "y", "two", "three"))
POOR = np.where(np.arange(120) % 2, "odd", "even")
DATA = {"x1": POINTS[:, 0], "x2": POINTS[:, 1], "class": CLASS, "good": GOOD, "poor": POOR}


def judged(data=DATA, labels="good", **asked):
    return ss.clusters(data, labels=labels, features="x*", **{"resamples": 20, "replicates": 200, **asked})


def codes(found):
    return [one.code for one in found.notes]


def test_several_labellings_beside_classes():
    found = judged(labels=["good", "poor"], truth="class")
    assert found["good"]["silhouette"].value == pytest.approx(silhouette_score(POINTS, GOOD))
    assert found["poor"]["ari"].value == pytest.approx(adjusted_rand_score(CLASS, POOR))
    ((a, b, rand, shared),) = found.agreement
    assert (a, b) == ("good", "poor")
    assert rand == pytest.approx(adjusted_rand_score(GOOD, POOR))
    assert shared == pytest.approx(adjusted_mutual_info_score(GOOD, POOR))
    first, second, last = found.words.split("\n")
    assert first.startswith("good: 3 clusters of 40 points are strongly separated (silhouette 0.7")
    assert first.endswith("Adjusted Rand index with class: 1.00.")
    assert second.startswith("poor: 2 clusters of 60 points are hardly separated (silhouette −0.0")
    assert last == "good is best by silhouette, davies_bouldin, calinski_harabasz and ari."
    assert codes(found) == ["SS054", "SS057", "SS058"]


def test_each_cluster_and_every_two():
    (one,) = judged()
    assert [each.name for each in one.clusters] == ["one", "three", "two"]
    assert {each.points for each in one.clusters} == {40.0}
    assert len(one.distances) == 3
    nearest = min(one.distances, key=lambda pair: pair[2])
    assert nearest[2] == one["border_distance"].value
    assert one["radius"].value == max(each.radius for each in one.clusters)
    assert one["silhouette"].value == pytest.approx(np.mean([each.silhouette for each in one.clusters]))


def test_noise_is_in_no_cluster():
    labels = np.where(np.arange(120) < 5, -1, np.repeat([0, 1, 2], 40))
    found = judged({**DATA, "k": labels}, "k", noise=-1)
    assert found["k"]["silhouette"].value == pytest.approx(silhouette_score(POINTS[5:], labels[5:]))
    assert [one.text for one in found.notes if one.code == "SS055"] == ["5 points were excluded as noise."]


def test_features_on_different_scales_are_told_and_can_be_divided():
    wide = {**DATA, "x1": 1000 * DATA["x1"]}
    found = judged(wide)
    (text,) = [one.text for one in found.notes if one.code == "SS051"]
    assert text.startswith("the standard deviation of x1 ")
    assert text.endswith(" times that of x2, so x1 dominates distances.")
    assert "SS051" not in codes(judged(wide, scale="standard"))
    plain, divided = (judged(each, scale="standard")["good"]["dunn"].value for each in (DATA, wide))
    assert plain == pytest.approx(divided)


def test_one_cluster_only():
    found = judged({**DATA, "k": ["all"] * 120}, "k")
    assert found.words == "All points are in one cluster, so separation is undefined."
    assert codes(found)[0] == "SS052"
    assert found["k"]["silhouette"].reason == "undefined: there is only one cluster"


def test_clusters_of_one_point():
    labels = ["lone", *["a"] * 59, *["b"] * 60]
    found = judged({**DATA, "k": labels}, "k")
    (text,) = [one.text for one in found.notes if one.code == "SS050"]
    assert text == "1 cluster has a single point ('lone'), with silhouette and radius 0."
    with pytest.raises(ScoreSpaceError, match="point of 'k'"):
        judged({**DATA, "k": np.arange(120)}, "k")


def test_coinciding_points_of_different_clusters():
    found = judged({"x": [1.0, 1.0, 2.0, 3.0], "k": list("abab")}, "k", resamples=0)
    assert "SS056" in codes(found)


def test_of_very_many_points_a_part_is_told():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 10_500)
    data = {"x": rng.normal(0, 1, 10_500) + 5 * labels, "k": labels}
    (text,) = [one.text for one in judged(data, "k", resamples=0).notes if one.code == "SS053"]
    assert text == "the silhouette is computed for 4 001 of 10 500 points, each against all points."


def test_weights_are_copies_and_groups_are_drawn_whole():
    twice = {name: np.concatenate([column, column[:30]]) for name, column in DATA.items()}
    weight = np.where(np.arange(120) < 30, 2.0, 1.0)
    weighed, copied = judged({**DATA, "w": weight}, weight="w"), judged(twice)
    for a, b in zip(weighed["good"].estimates, copied["good"].estimates, strict=True):
        assert a.value == pytest.approx(b.value)
    grouped = judged({**DATA, "g": np.arange(120) // 10}, group="g", truth="class")
    assert grouped["good"]["davies_bouldin"].method == "bootstrap of groups"
    assert "SS020" in codes(grouped)


def test_measures_as_asked_for():
    found = judged(measures="radius(how=mean), silhouette[two], dunn")
    assert [str(one.spec) for one in found["good"].estimates] == ["radius(how=mean)", "silhouette[two]", "dunn"]


def test_json():
    content = json.loads(json.dumps(judged(truth="class").to_dict(), allow_nan=False))
    assert content["schema"] == 1
    assert content["data"]["features"] == ["x1", "x2"]
    assert {"model", "measure", "at", "class", "value", "low", "high", "level", "method", "reason"} == set(
        content["rows"][0]
    )
    assert len(content["clusters"]) == len(content["distances"]) == 3
    assert content["stability"][0]["resamples"] == 20
    assert content["verdict"].startswith("3 clusters of 40 points")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"labels": []}, "no label column is given"),
        ({"measures": "ari"}, "ari compares clusters with known classes"),
        ({"measures": "auc"}, "auc cannot be computed from points in 3 clusters"),
        ({"measures": "silhouette[four]"}, "unknown cluster 'four'"),
        ({"measures": ""}, "no measure is given"),
        ({"resamples": -1}, "resamples=-1 is too small"),
        ({"noise": "x", "labels": "class", "truth": None}, None),
        ({"labels": "absent"}, "absent"),
    ],
)
def test_what_is_refused(asked, message):
    if message is None:
        assert len(judged(**asked)["class"].clusters) == 2
        return
    with pytest.raises(ScoreSpaceError, match=message):
        judged(**asked)


def test_all_noise_is_refused():
    with pytest.raises(ScoreSpaceError, match="all points of 'k' have the noise label '-1'"):
        judged({**DATA, "k": [-1] * 120}, "k", noise=-1)


@pytest.mark.parametrize(
    ("x", "w", "said"),
    [
        ([1, 2, 5, 6], [1e300, 1e300, 1, 1], "weights in column 'w' is too large"),
        ([1, 2, 5, 6], [1e-300, 1e-300, 1, 1], "weights in column 'w' are too small"),
        ([1e-200, 2e-200, 5e-200, 6e-200], [1, 1, 1, 1], "the features hold numbers of at most 1e-70"),
        ([1e150, 2e150, 5e150, 6e150], [1, 1, 1, 1], "column 'x' has infinite or huge values"),
    ],
)
def test_numbers_at_the_edge_are_refused(x, w, said):
    with pytest.raises(ScoreSpaceError, match=said):
        ss.clusters({"x": x, "k": ["a", "a", "b", "b"], "w": w}, labels="k", features="x", weight="w", resamples=0)

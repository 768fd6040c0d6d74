"""From data to recalibrated scores: how the map was fitted is always said, and no row gets lost."""

import json

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import scorespace as ss
from scorespace.calibration.fit import cross_fit_map
from scorespace.calibration.maps import LogisticMap, PlattMap
from scorespace.errors import ColumnError, DataError, ScoreSpaceError
from scorespace.evaluation.recalibration import write_recalibrated

rng = np.random.default_rng(8)
TRUTH = rng.integers(0, 2, 200)
SCORE = rng.normal(TRUTH, 1.0)
DATA = {
    "y": TRUTH,
    "s": SCORE,
    "p": 1 / (1 + np.exp(-4 * SCORE)),
    "site": np.arange(200) % 20,
    "w": rng.integers(1, 3, 200),
}
ROLES = {"truth": "y", "score": "p"}


def codes(found):
    return [note.code for note in found.notes]


def brier(truth, p):
    return ((p - truth) ** 2).mean()


def test_cross_fitted_by_default():
    found = ss.recalibrate(DATA, **ROLES, method="platt")
    assert found.fitted == "cross-fitted over 10 folds"
    assert "SS025" not in codes(found)
    assert_array_equal(found.scores, cross_fit_map(TRUTH, DATA["p"], "platt").scores)
    effect = found.effect("brier")
    assert_allclose([effect.before, effect.after], [brier(TRUTH, DATA["p"]), brier(TRUTH, found.scores)])
    assert found.map == ss.fit_map(ss.score_table(TRUTH, DATA["p"]), "platt")  # of all cases, for later use


@pytest.mark.parametrize("how", [{"folds": 1}, {"fit": DATA}])
def test_fitted_and_judged_on_the_same_cases_is_said(how):
    found = ss.recalibrate(DATA, **ROLES, **how)
    assert found.fitted == "fitted on the same cases"
    assert found.notes[0].code == "SS025"
    assert found.notes[0].level == "warning"
    assert found.effect("cal").after == pytest.approx(0, abs=1e-12)


def test_fitted_on_other_data():
    half = {name: values[:100] for name, values in DATA.items()}
    rest = {name: values[100:] for name, values in DATA.items()}
    found = ss.recalibrate(rest, **ROLES, method="platt", fit=half)
    assert found.fitted == "fitted on 100 other cases"
    expected = ss.fit_map(ss.score_table(half["y"], half["p"]), "platt").apply(rest["p"])
    assert_array_equal(found.scores, expected)
    assert found.effect("auc").change == 0  # one rising map keeps the ranking
    assert "stays as good" in found.words


def test_scores_of_any_size_become_probabilities():
    found = ss.recalibrate(DATA, truth="y", score="s", method="platt")
    assert np.isnan(found.effect("brier").before)
    assert found.effect("brier").reason == "before: the scores are not probabilities"
    assert "between 0 and 1" in found.words
    assert found.rows()[0]["reason"]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["rows"][0]["before"] is None


@pytest.mark.parametrize("method", ["minmax", "logistic"])
def test_methods_that_do_not_look_at_the_truth_need_no_folds(method):
    found = ss.recalibrate(DATA, truth="y", score="s", method=method)
    assert found.fitted in ("fitted on the same cases", "by formula")
    assert "SS025" not in codes(found)
    assert found.effect("auc").change == 0


def test_groups_and_weights_reach_the_fit():
    found = ss.recalibrate(DATA, **ROLES, method="platt", group="site", weight="w", seed=3)
    expected = cross_fit_map(TRUTH, DATA["p"], "platt", group=DATA["site"], weight=DATA["w"], seed=3)
    assert_array_equal(found.scores, expected.scores)
    assert sum(found.classes.values()) == DATA["w"].sum()


def test_a_slope_below_zero_is_said():
    found = ss.recalibrate({"y": TRUTH, "s": -SCORE}, truth="y", score="s", method="platt")
    assert "the map reverses the ranking" in found.words


def test_ruled_out_and_tied_cases_are_said():
    found = ss.recalibrate(DATA, **ROLES)
    assert "log loss is infinite" in found.words
    texts = " ".join(note.text for note in found.notes)
    assert "200 distinct scores became" in texts
    assert "outside the range" in texts


def test_temperature_at_the_end_of_its_range_and_zeros_are_said():
    sure = ss.recalibrate({"y": [0, 1] * 6, "p": [0.2, 0.8] * 6}, **ROLES, method="temperature", folds=1)
    assert "0.01 to 100" in sure.notes[-1].text
    zeros = {"y": [0, 1, 0, 1, 1], "p": [0.2, 0.8, 0.6, 0.4, 0.0]}
    found = ss.recalibrate(zeros, **ROLES, method="temperature", folds=1)
    assert any("1 case has probability 0" in note.text for note in found.notes)
    assert found.effect("logloss").after == np.inf


def test_several_classes():
    names = np.array(["a", "b", "c"])
    truth = rng.integers(0, 3, 90)
    p = rng.dirichlet([1, 1, 1], 90) * 0.5 + 0.5 * np.eye(3)[truth]
    data = {"y": names[truth], "nb_c": p[:, 2], "nb_a": p[:, 0], "nb_b": p[:, 1]}
    found = ss.recalibrate(data, truth="y", score="nb_*", method="temperature")
    assert found.columns == ("calibrated_nb_a", "calibrated_nb_b", "calibrated_nb_c")
    assert_allclose(found.scores, cross_fit_map(names[truth], p, "temperature").scores)
    assert_allclose(found.effect("brier").before, ((p - np.eye(3)[truth]) ** 2).sum(axis=1).mean())
    assert found.effect("auc[hand_till]").before > 0.5
    by_class = ss.recalibrate(data, truth="y", score="nb_*", method="platt", folds=1)
    again = ss.apply_map(data, by_class.map, score="nb_*")  # finds the columns by the class
    assert_array_equal(again.scores, by_class.scores)
    assert again.method == "platt"
    with pytest.raises(ColumnError, match="class 'c'"):
        ss.apply_map({name: data[name] for name in ("nb_a", "nb_b")}, by_class.map, score="nb_*")
    others = {**data, "y": np.where(truth == 2, "d", names[truth]), "nb_d": p[:, 2]}
    with pytest.raises(DataError, match="class 'd'"):
        ss.apply_map(others, by_class.map, score="nb_*", truth="y")


def test_a_saved_map_is_the_same_map(tmp_path):
    found = ss.recalibrate(DATA, **ROLES)
    path = tmp_path / "map.json"
    path.write_text(json.dumps(found.saved_map(), allow_nan=False))
    assert ss.read_map(path) == found.map
    applied = ss.apply_map({"p": DATA["p"]}, ss.read_map(path), score="p")
    assert_array_equal(applied.scores, found.map.apply(DATA["p"]))
    assert applied.effects == ()
    assert "200 cases" in applied.words


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"schema": 1, "kind": "minmax", "low": NaN, "high": 1}', "\xff"])
def test_a_file_that_is_no_map_is_refused(tmp_path, text):
    path = tmp_path / "map.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match="is no map"):
        ss.read_map(path)
    with pytest.raises(DataError, match="cannot be read"):
        ss.read_map(tmp_path / "none.json")


# --- files


def test_written_rows_keep_their_values_and_their_order(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text('id,who,y,p\n007,"a, b",1,0.90\n12345678901234567890,,0,0.3\n3,"say ""x""",1,0.4\n4,NA,0,0.1\n')
    found = ss.recalibrate(source, **ROLES, method="platt", folds=1)
    write_recalibrated(source, found, target)
    lines, given = target.read_text().splitlines(), source.read_text().splitlines()
    assert lines[0] == given[0] + ",p_calibrated"
    assert [line.rpartition(",")[0] for line in lines[1:]] == given[1:]
    assert [float(line.rpartition(",")[2]) for line in lines[1:]] == found.scores.tolist()


def test_rows_left_out_stay_in_the_file_with_an_empty_score(tmp_path):
    frame = pl.DataFrame({"y": [1, 0, 1, 0, 1], "p": [0.9, None, 0.6, 0.7, 0.2], "w": [1, 1, 1, 1, 0]})
    found = ss.recalibrate(frame, **ROLES, weight="w", method="platt", folds=1, missing="drop")
    assert_array_equal(np.isnan(found.scores), [False, True, False, False, True])
    for name in ("out.csv", "out.parquet"):
        write_recalibrated(frame, found, tmp_path / name)
        back = (pl.read_csv if name.endswith("csv") else pl.read_parquet)(tmp_path / name)
        assert back["p_calibrated"].is_null().to_list() == [False, True, False, False, True]
        assert back["p"].to_list() == frame["p"].to_list()


def test_parquet_comes_back_as_it_was(tmp_path):
    frame = pl.DataFrame({"id": [2**60 + 1, 5, 6, 7], "y": [1, 0, 1, 0], "p": [0.9, 0.3, 0.4, 0.6]})
    frame.write_parquet(tmp_path / "in.parquet")
    found = ss.recalibrate(tmp_path / "in.parquet", **ROLES, method="platt", folds=2)
    write_recalibrated(tmp_path / "in.parquet", found, tmp_path / "out.parquet")
    back = pl.read_parquet(tmp_path / "out.parquet")
    assert back.drop("p_calibrated").equals(frame)
    assert back["p_calibrated"].to_list() == found.scores.tolist()


def test_files_that_must_not_be_written_are_refused(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("y,p,p_calibrated\n1,0.9,1\n0,0.3,0\n")
    found = ss.recalibrate(source, **ROLES, method="platt", folds=1)
    with pytest.raises(DataError, match="not overwritten"):
        write_recalibrated(source, found, source)
    with pytest.raises(ColumnError, match="'p_calibrated' already exists"):
        write_recalibrated(source, found, tmp_path / "out.csv")
    with pytest.raises(DataError, match=r"out\.xls.*no known file extension"):
        write_recalibrated(source, found, tmp_path / "out.xls")
    with pytest.raises(DataError, match=r"folder .*nowhere.* does not exist"):
        write_recalibrated(source, found, tmp_path / "nowhere" / "out.csv")
    with pytest.raises(DataError, match=r"changed.*\n  seen: 1 rows"):
        write_recalibrated({"y": [1]}, found, tmp_path / "out.csv")
    assert not list(tmp_path.glob("*out*"))


# --- refusals


def test_wrong_requests_are_refused():
    with pytest.raises(ScoreSpaceError, match="you mean platt"):
        ss.recalibrate(DATA, **ROLES, method="plat")
    with pytest.raises(DataError, match="folds=0"):
        ss.recalibrate(DATA, **ROLES, folds=0)
    with pytest.raises(ScoreSpaceError, match="across folds"):
        ss.recalibrate(DATA, **ROLES, fit=DATA, fold="site")
    with pytest.raises(ColumnError, match="one model"):
        ss.recalibrate(DATA, truth="y", score=["p", "s"])
    with pytest.raises(DataError, match="missing values"):
        ss.apply_map({"s": [0.1, None]}, LogisticMap(), score="s")
    with pytest.raises(ColumnError, match="'s'"):
        ss.apply_map({"s": ["a", "b"]}, LogisticMap(), score="s")
    with pytest.raises(ColumnError, match="you mean 's'"):
        ss.apply_map({"s": [0.1]}, LogisticMap(), score="S")


def test_scores_without_truth_may_have_gaps():
    found = ss.apply_map({"s": [0.0, None, 5.0]}, PlattMap(1.0, 0.0, "score", -1.0, 1.0), score="s", missing="drop")
    assert_allclose(found.scores[[0, 2]], [0.5, 1 / (1 + np.exp(-5))])
    assert np.isnan(found.scores[1])
    assert "1 of 2 cases has" in found.notes[0].text


def test_change_is_after_minus_before_and_the_sentence_agrees():
    better = ss.recalibrate(DATA, **ROLES, method="platt")
    row = better.rows()[0]
    assert row["difference"] == row["after"] - row["before"] < 0
    assert f"lowers the Brier score of p from {row['before']:.3f} to {row['after']:.3f}" in repr(better)
    worse = ss.apply_map(DATA, PlattMap(-4.0, 2.0), score="p", truth="y")
    assert worse.effect("brier").change > 0
    assert "does not help: it raises" in worse.words
    same = ss.apply_map(DATA, PlattMap(1.0, 0.0, "logit"), score="p", truth="y")
    assert "hardly changes" in same.words


def test_a_class_without_cases_is_named_and_not_called_out_of_range():
    shares = np.random.default_rng(0).dirichlet([1, 1, 1], 120)
    truth = np.where(shares[:, 0] > np.random.default_rng(1).random(120), "a", "b")
    data = {"y": truth, **{f"m_{name}": shares[:, k] for k, name in enumerate("abc")}}
    found = ss.recalibrate(data, truth="y", score="m_*", method="platt", folds=1)
    texts = [one.text for one in found.notes if one.code == "SS026"]
    assert any("no cases of 'c'" in text for text in texts)
    assert not any("outside the range" in text for text in texts)


def test_a_reversed_score_is_reported_and_not_explained_by_folds():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 400)
    score = 1 / (1 + np.exp(rng.normal(0, 1, 400) + 1.2 * (2 * label - 1)))
    found = ss.recalibrate({"y": label, "points": score}, truth="y", score="points")
    assert found.notes[0].code == "SS002"
    assert "probably reversed" in found.words
    assert "fold" not in found.words
    turned = ss.recalibrate({"y": label, "points": score}, truth="y", score="points", method="platt")
    assert turned.effect("auc").after > 0.9
    assert "the map reverses the ranking" in turned.words
    judged = ss.evaluate({"y": label, "points": score}, truth="y", scores="points")
    assert "its direction is probably reversed" in judged.verdict

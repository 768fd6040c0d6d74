"""Columns are proposed for roles with the reason, and what is in doubt is left to the user."""

import pytest

from scorespace.server.asked import Asked
from scorespace.server.pages import _cut
from scorespace.server.proposal import Column, look, propose


def column(name, labels=(), ends=None, fractions=False):
    return Column(name, labels=tuple(labels), ends=ends, fractions=fractions)


def test_a_column_of_dates_is_known_as_one(tmp_path):
    (tmp_path / "a.csv").write_text("y,day\n" + "".join(f"{k % 2},2026-0{1 + k % 9}-03\n" for k in range(40)))
    _, day = look(str(tmp_path / "a.csv")).columns
    assert (day.dates, day.labels) == (True, ())
    assert _cut(day, Asked()) == "day(every=month)"


def test_the_bundled_predictions(folder):
    seen = look(str(folder / "credit.csv"))
    assert (seen.rows, seen.whole) == (1000, True)
    found = propose("credit.csv", seen.columns)
    said = {"truth": ["outcome"], "fold": ["fold"], "score": ["naive_bayes", "tree", "logistic"]}
    assert found.asked == Asked.of("credit.csv", said)  # which of good and bad is positive nobody guesses
    assert found.why == {
        "outcome": "truth: by its name",
        "fold": "fold: by its name",
        **dict.fromkeys(said["score"], "score: numbers between 0 and 1"),
    }
    assert {one.name: one.kind for one in seen.columns}["outcome"] == "binary"


def test_scores_of_several_classes_are_one_model(folder):
    found = propose("iris.csv", look(str(folder / "iris.csv")).columns)
    assert [value for name, value in found.asked.said if name == "score"] == [one.name for one in found.patterns]
    assert all(name.endswith("*") for name in found.asked.every("score"))
    assert {len(one.labels) for one in found.patterns} == {3}
    assert found.asked.one("positive") is None


@pytest.mark.parametrize(
    ("labels", "positive"), [("01", "1"), (("-1", "1"), "1"), (("False", "True"), "True"), ("ab", None)]
)
def test_the_positive_class_is_proposed_only_where_labels_tell(labels, positive):
    found = propose("a.csv", [column("y", labels), column("s", ends=(0, 1), fractions=True)])
    assert found.asked.one("positive") == positive


def test_columns_that_hold_labels_of_the_truth_are_decisions():
    words = propose("a.csv", [column("truth", ["bad", "good"]), column("nb", ["bad"])])
    assert words.asked.every("decision") == ["nb"]
    codes = [column("truth", "01"), column("sex", "01"), column("pred", "01")]
    assert propose("a.csv", codes).asked.every("decision") == ["pred"]  # a code could be anything


def test_predicted_numbers():
    found = propose(
        "a.csv", [column("y", ends=(0, 9), fractions=True), column("pred_a", ends=(1, 8)), column("age", ends=(1, 99))]
    )
    assert found.asked == Asked.of("a.csv", {"truth": ["y"], "prediction": ["pred_a"]})


def test_nothing_is_proposed_where_nothing_tells():
    found = propose("a.csv", [column("a", ["x", "y"]), column("b", ["u", "v"]), column("c", ends=(-3, 40))])
    assert (found.asked.said, found.why) == ((), {})


def test_of_two_columns_of_groups_none_is_proposed_and_negative_weights_are_none():
    groups = [column("y", "01"), column("group", "abc"), column("patient", "abc"), column("weight", ends=(-1, 2))]
    assert propose("a.csv", groups).asked.said == (("truth", "y"), ("positive", "1"))


def test_of_a_long_file_the_first_rows_are_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr("scorespace.server.proposal.LOOKED_AT", 10)
    monkeypatch.setattr("scorespace.server.proposal.MOST", 1)
    (tmp_path / "a.csv").write_text("y,s\n" + "1,0.5\n0,0.25\n" * 20)
    seen = look(str(tmp_path / "a.csv"))
    assert (seen.rows, seen.whole) == (10, False)
    assert seen.columns[1] == Column("s", "", "not looked at: too many columns")


def test_booleans_and_hostile_names(tmp_path):
    (tmp_path / "a.csv").write_text('"<b>","a""b",y\n' + "true,x;--,1\nfalse,y,0\n" * 20)
    seen = look(str(tmp_path / "a.csv"))
    assert [one.name for one in seen.columns] == ["<b>", 'a"b', "y"]
    assert seen.columns[2].labels == ("0", "1")

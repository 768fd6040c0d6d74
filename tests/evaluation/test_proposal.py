"""Roles are proposed with a reason; what the columns do not tell is left to the user."""

from importlib.resources import files

import pytest

from scorespace.evaluation.proposal import ProposedColumn, preview, propose, sentence
from scorespace.server.request import PageRequest
from scorespace.server.setup import slice_of

DATA = files("scorespace") / "data"


def column(name, labels=(), ends=None, fractions=False):
    return ProposedColumn(name, labels=tuple(labels), ends=ends, fractions=fractions)


def test_dates_are_recognised(tmp_path):
    (tmp_path / "a.csv").write_text("y,day\n" + "".join(f"{k % 2},2026-0{1 + k % 9}-03\n" for k in range(40)))
    _, day = preview(str(tmp_path / "a.csv")).columns
    assert (day.dates, day.labels) == (True, ())
    assert slice_of(day, PageRequest()) == "day(every=month)"


def test_bundled_credit_predictions():
    seen = preview(str(DATA / "german_credit.csv"))
    assert (seen.rows, seen.whole) == (1000, True)
    found = propose(seen.columns)
    assert found.roles["truth"] == ["outcome"]
    assert found.roles["score"] == ["naive_bayes", "tree", "logistic"]
    assert found.roles["positive"] == ["bad"]
    assert found.is_complete
    assert "--truth outcome" in found.command("evaluate", "credit.csv")


def test_class_scores_are_one_model():
    found = propose(preview(str(DATA / "iris.csv")).columns)
    assert found.roles["score"] == [one.name for one in found.patterns]
    assert {len(one.labels) for one in found.patterns} == {3}
    assert "positive" not in found.roles


@pytest.mark.parametrize(
    ("labels", "positive"),
    [("01", ["1"]), (("-1", "1"), ["1"]), (("False", "True"), ["True"]), (("no", "yes"), ["yes"]), ("ab", None)],
)
def test_positive_class_is_proposed_only_where_labels_tell(labels, positive):
    found = propose([column("y", labels), column("s", ends=(0, 1), fractions=True)])
    assert found.roles.get("positive") == positive


def test_a_clinical_file():
    columns = [
        *(column("patient_id", ends=(1, 2000)), column("age", ends=(18, 97)), column("sex", "fm")),
        *(column("marker_a", ends=(0.01, 0.98), fractions=True), column("marker_b", ends=(0.2, 0.9), fractions=True)),
        column("sepsis", ["no", "yes"]),
    ]
    found = propose(columns)
    assert found.candidates == ("sepsis", "sex")
    assert found.roles["score"] == ["marker_a", "marker_b"]
    assert sentence(found, 2000) == "Compare 2 scores with sepsis (positive: yes), 2 000 rows."


def test_labels_of_the_truth_are_decisions():
    words = propose([column("truth", ["bad", "good"]), column("nb", ["bad"])])
    assert words.roles["decision"] == ["nb"]
    codes = [column("truth", "01"), column("sex", "01"), column("pred", "01")]
    assert propose(codes).roles["decision"] == ["pred"]  # codes alone could be anything


def test_predicted_numbers():
    columns = [column("y", ends=(0, 9), fractions=True), column("pred_a", ends=(1, 8)), column("age", ends=(1, 99))]
    assert propose(columns).roles == {"truth": ["y"], "prediction": ["pred_a"]}


def test_columns_without_labels_give_no_proposal():
    found = propose([column("a", ends=(0, 40)), column("c", ends=(-3, 40))])
    assert (found.roles, found.why, found.is_complete) == ({}, {}, False)


def test_a_stated_truth_wins():
    columns = [column("target", "01"), column("other", ["no", "yes"]), column("s", ends=(0, 1), fractions=True)]
    assert propose(columns, truth="other").roles == {"truth": ["other"], "score": ["s"], "positive": ["yes"]}


def test_two_group_columns_and_negative_weights_are_not_proposed():
    columns = [column("y", "01"), column("group", "abc"), column("patient", "abc"), column("weight", ends=(-1, 2))]
    assert propose(columns).roles == {"truth": ["y"], "positive": ["1"]}


def test_long_files_are_described_by_their_first_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("scorespace.evaluation.proposal.MAX_ROWS", 10)
    monkeypatch.setattr("scorespace.evaluation.proposal.MAX_COLUMNS", 1)
    (tmp_path / "a.csv").write_text("y,s\n" + "1,0.5\n0,0.25\n" * 20)
    seen = preview(str(tmp_path / "a.csv"))
    assert (seen.rows, seen.whole) == (10, False)
    assert seen.columns[1].evidence.startswith("not described")

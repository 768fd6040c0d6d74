"""`scorespace check`: whether printed numbers add up."""

import pytest


def test_there_is_one_table(run):
    done = run("check", "--n", "100", "--positives", "40", "acc=.85", "tpr=.80", "tnr=.88")
    assert done.code == 0
    assert "1 table of 100 cases, 40 of them positive, gives these numbers." in done.out


def test_there_is_none_and_the_exit_code_says_so(run):
    done = run("check", "--n", "100", "--positives", "40", "acc=.86", "tpr=.80", "tnr=.88", "--format", "json")
    found = done.json()
    assert (done.code, found["tables"], found["rows"]) == (1, 0, [])
    assert [note["code"] for note in found["notes"]] == ["SS196"]


def test_rows_are_tables_with_their_measures(run):
    rows = run("check", "-n", "100", "acc=.85", "recall=.80", "precision=82%", "--format", "json").json()["rows"]
    assert [(row["tp"], row["tn"]) for row in rows] == [(32, 53), (33, 52)]
    assert rows[0]["recall"] == 0.8


@pytest.mark.parametrize(
    "words", ["acc=.8", "--n 100", "--n 100 acc", "--n 100 acc=.8 acc=.8", "--n 100 acc=.8 --positives 300"]
)
def test_bad_input(run, words):
    done = run("check", *words.split())
    assert (done.code, done.out) == (2, "")
    assert "Error" in done.err or "Missing" in done.err


def test_a_measure_with_an_option(run):
    done = run("check", "--n", "100", "--positives", "40", "fbeta(beta=2)=.8", "acc=.85", "--format", "json")
    assert (done.code, done.json()["tables"]) == (0, 6)


def test_one_case(run):
    done = run("check", "--n", "1", "acc=1")
    assert done.code == 0
    assert "1 case   any number of positives" in done.out

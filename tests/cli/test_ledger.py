"""`evaluate --ledger` and `scorespace ledger`: looks at a test set."""

import json

import pytest

MODELS = ("logistic", "tree", "naive_bayes")
FILE = "test.ledger.jsonl"


@pytest.fixture
def look(run, credit):
    def asked(model, *further):
        words = ("--score", model, "--measures", "acc@0.5,brier", "--interval", "none", "--ledger", FILE)
        return run("evaluate", *credit, *words, *further)

    return asked


def test_looks_are_counted_once_for_each_model(look, run, tmp_path):
    for model in (*MODELS, "tree"):
        done = look(model, "--format", "json")
        assert done.code == 0
    assert done.json()["ledger"]["looks"] == 3
    assert done.json()["ledger"]["added"] == 0
    lines = (tmp_path / FILE).read_text().splitlines()
    assert len(lines) == 3
    assert "0.0459441" not in lines[0]  # no scores
    found = run("ledger", FILE, "--format", "json").json()
    assert [row["model"] for row in found["rows"]] == list(MODELS)
    best = found["best"]["acc@0.5"]
    assert (best["model"], best["value"]) == ("logistic", 0.755)
    assert best["bound"] < best["corrected"] <= best["value"] + 0.002
    assert found["best"]["brier"]["bound"] > found["best"]["brier"]["value"]  # lower is better
    shown = " ".join(run("ledger", FILE).out.split())
    assert "best of 3: 0.755 (logistic)" in shown
    assert "if no model was made with the help of earlier answers" in shown


def test_the_draws_are_those_of_the_truth(look, tmp_path):
    look("logistic")
    first = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).unlink()
    look("logistic", "--seed", "7")
    again = json.loads((tmp_path / FILE).read_text())
    assert first["measures"] == again["measures"]
    assert first["truth_hash"] == again["truth_hash"]


@pytest.mark.parametrize("edit", ["value", "removed", "text"])
def test_an_edited_line_is_detected(look, run, tmp_path, edit):
    for model in MODELS:
        look(model)
    lines = (tmp_path / FILE).read_text().splitlines()
    if edit == "value":
        lines[1] = lines[1].replace('"value":0.689', '"value":0.789')
    elif edit == "removed":
        del lines[1]
    else:
        lines[1] = "a line"
    (tmp_path / FILE).write_text("\n".join(lines) + "\n")
    for done in (run("ledger", FILE), look("logistic")):
        assert (done.code, done.out) == (2, "")
        assert "line 2" in done.err


def test_another_truth_is_counted_apart(look, run, credit, tmp_path):
    look("logistic")
    rows = (tmp_path / "credit.csv").read_text().splitlines()
    (tmp_path / "credit.csv").write_text("\n".join(rows[:-1]) + "\n")
    found = look("logistic", "--format", "json").json()
    assert found["ledger"]["looks"] == 1
    assert [note["code"] for note in run("ledger", FILE, "--format", "json").json()["notes"]] == ["SS198"]


def test_the_ladder_repeats_the_best_answer(look):
    first = look("logistic", "--ladder", "--format", "json").json()
    assert [row["answer"] for row in first["rows"]] == [pytest.approx(0.755), pytest.approx(0.164164, abs=1e-6)]
    worse = look("tree", "--ladder", "--format", "json").json()
    assert [(row["new"], row["answer"]) for row in worse["rows"]] == [(False, row["answer"]) for row in first["rows"]]
    shown = look("naive_bayes", "--ladder").out
    assert "0.753" not in shown  # its own accuracy


@pytest.mark.parametrize(
    "options",
    [
        "--score logistic --ledger l.txt --measures auc",
        "--score logistic --ledger l.jsonl",
        "--score logistic --ladder",
        "--score logistic --ledger l.jsonl --ladder --measures auc --require auc>=0.7",
        "--score logistic --ledger l.jsonl --measures auc --weight id",
        "--score logistic --ledger l.jsonl --measures auc --group fold",
        "--score logistic --ledger l.jsonl --measures cost --cost-fp 1 --cost-fn 5",
        "--score logistic --ledger credit.csv --measures auc",
    ],
)
def test_ledgers_that_cannot_be(run, credit, options, tmp_path):
    done = run("evaluate", *credit, *options.split())
    assert (done.code, done.out) == (2, "")
    assert not (tmp_path / "l.jsonl").exists()


def test_no_ledger(run):
    done = run("ledger", "none.jsonl")
    assert (done.code, "there is no ledger" in done.err) == (2, True)


def test_names_with_separators_of_lines(look, run):
    for name in ("a\u2028b", "c\x85d"):
        assert look("tree", "--name", f"tree={name}").code == 0
    assert run("ledger", FILE, "--format", "json").json()["rows"][0]["model"] == "a\u2028b"


def test_the_ladder_answers_for_all_models_of_a_look(run, credit):
    words = ("--score", "logistic,tree", "--measures", "acc@0.5", "--ledger", FILE, "--ladder", "--format", "json")
    done = run("evaluate", *credit, *words)
    assert "best answer so far" not in done.out

"""`scorespace measures`: the catalogue, or one measure explained."""

import csv
import io

import pytest

from scorespace.measures import measures

KEYS = [
    "name",
    "title",
    "topic",
    "summary",
    "needs",
    "low",
    "high",
    "best",
    "undefined",
    "interval",
    "covers",
    "options",
    "aliases",
]


def test_in_a_process_of_its_own(shell):
    done = shell("measures")
    assert (done.code, done.err) == (0, "")
    assert "Share of positives that are found: TP / (TP + FN)." in done.out


def test_json_has_every_measure(run):
    found = run("measures", "--format", "json").json()
    assert found["schema"] == 1
    assert [row["name"] for row in found["rows"]] == [measure.name for measure in measures()]
    assert all(list(row) == KEYS for row in found["rows"])


def test_csv_has_every_measure(run):
    rows = list(csv.DictReader(io.StringIO(run("measures", "--format", "csv").out)))
    assert [row["name"] for row in rows] == [measure.name for measure in measures()]
    assert next(row for row in rows if row["name"] == "tp")["high"] == ""  # unbounded


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_text_has_every_measure_within_the_width(run, columns):
    lines = run("measures", columns=columns).out.splitlines()
    assert max(map(len, lines)) <= columns
    assert {measure.name for measure in measures()} <= {line.split(" ")[0] for line in lines}


@pytest.mark.parametrize("name", ["ppv", "precision", "Precision", "positive-predictive-value"])
def test_one_measure_by_any_of_its_names(run, name):
    out = run("measures", name).out
    facts = {line[:12].strip(): line[12:].strip() for line in out.splitlines() if line.strip()}
    assert facts["ppv"] == "Positive predictive value"
    assert facts["what"] == "Share of predicted positives that are positive: TP / (TP + FP)."
    assert facts["range"] == "0 to 1; higher is better"
    assert facts["undefined"] == "when nothing is predicted positive"
    assert facts["interval"] == "wilson"
    assert "ppv@0.5" in facts["needs"]
    assert facts["names"].startswith("ppv, precision")


def test_options_with_their_defaults(run):
    assert "beta=1" in run("measures", "fbeta").out


def test_one_measure_as_json(run):
    rows = run("measures", "recall", "--format", "json").json()["rows"]
    assert [row["name"] for row in rows] == ["tpr"]


def test_markdown(run):
    lines = run("measures", "--format", "markdown").out.splitlines()
    topics = {measure.topic for measure in measures()}
    assert len(lines) == len(measures()) + 2 + 2 * len(topics)
    assert all(line.startswith("| ") and line.endswith(" |") for line in lines)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("precison", "did you mean precision?"), ("sensitvity", "did you mean sensitivity?"), ("qqq", "lists them all")],
)
def test_an_unknown_name_gets_a_suggestion(run, name, hint):
    done = run("measures", name)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"MeasureError: there is no measure '{name}'.\n  hint: ")
    assert hint in done.err


def test_a_synonym_with_blanks_finds_its_measure(run):
    for words in (["probability of detection"], ["probability", "of", "detection"], ["Probability-of-Detection"]):
        assert run("measures", *words, "--format", "json").json()["rows"][0]["name"] == "tpr"
    assert "True positive rate" in run("measures", "probability of detection").out


def test_words_search_names_titles_and_summaries(run):
    found = [row["name"] for row in run("measures", "false alarm", "--format", "json").json()["rows"]]
    assert found == ["fp"]  # a name of its own
    found = {row["name"] for row in run("measures", "detection", "--format", "json").json()["rows"]}
    assert found == {"tpr", "fpr", "pp_rate"}
    assert run("measures", "harmonic precision", "--format", "json").json()["rows"][0]["name"] == "f1"


def test_names_that_need_more_are_found_and_told(run):
    out = run("measures", "f2").out
    assert out.split()[:2] == ["fbeta", "F-beta"]
    assert "also        f2 is fbeta(beta=2); f0.5 is fbeta(beta=0.5)" in out
    (found,) = run("measures", "multiclass auc", "--format", "json").json()["rows"]
    assert found["name"] == "auc"
    # Small words tell nothing apart.
    found = run("measures", "precision", "and", "the", "recall", "--format", "json").json()["rows"]
    assert {"f1", "fbeta", "fm"} <= {row["name"] for row in found}


def test_measures_stand_under_their_topics(run):
    lines = [line.strip() for line in run("measures").out.splitlines()]
    topics = ["Measures of decisions:", "Measures of ranking:", "Measures of probabilities:"]
    assert [lines.index(topic) for topic in topics] == sorted(lines.index(topic) for topic in topics)
    names = [line.split(" ")[0] for line in lines]
    assert names.index("Measures") < names.index("tpr") < lines.index(topics[1]) < names.index("auc")

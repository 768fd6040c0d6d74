"""What the catalogues share: one noun, a search, and words that lead nowhere."""

import csv
import io
from importlib.metadata import version

import pytest

from scorespace import dependencies
from scorespace.measures import measures


@pytest.mark.parametrize(("verb", "words", "found"), [("measures", ["probability", "of", "detection"], "tpr")])
def test_words_lead_to_a_noun(run, verb, words, found):
    assert found in [row["name"] for row in run(verb, *words, "--format", "json").json()["rows"]]


def test_a_name_explains_one_and_unknown_words_are_refused(run):
    assert [row["name"] for row in run("curves", "roc", "--format", "json").json()["rows"]] == ["roc"]
    refused = run("tests", "zzzz")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("ScoreSpaceError:")


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
    "coverage_note",
    "covers",
    "options",
    "aliases",
]


def test_in_a_process_of_its_own(shell):
    done = shell("measures")
    assert (done.code, done.err) == (0, "")
    assert "(sensitivity, recall): TP / (TP + FN)." in done.out


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
    assert facts["definition"] == "Share of predicted positives that are positive: TP / (TP + FP)."
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
    assert "also         f2 is fbeta(beta=2); f0.5 is fbeta(beta=0.5)" in out
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


def test_it_lists_what_is_needed_and_what_extras_add(run):
    rows = {row["name"]: row for row in run("doctor", "--format", "json").json()["rows"]}
    assert rows["scorespace"]["version"] == version("scorespace")
    assert rows["numpy"]["needed"]
    assert not rows["scikit-learn"]["needed"]
    assert "pytest" not in rows  # an extra of those who work on it
    assert rows["Python"]["version"].startswith("3.")


def test_a_missing_extra_is_told_with_what_installs_it(run, monkeypatch):
    known = dependencies._version
    monkeypatch.setattr(dependencies, "_version", lambda name: None if name == "scikit-learn" else known(name))
    done = run("doctor", columns=120)
    assert done.code == 0
    (line,) = [line for line in done.out.splitlines() if line.startswith("scikit-learn")]
    assert " ".join(line.split()) == (
        "scikit-learn missing learners, and estimators to evaluate: pip install 'scorespace[experiments]'"
    )


def test_a_missing_need_ends_with_1(run, monkeypatch):
    known = dependencies._version
    monkeypatch.setattr(dependencies, "_version", lambda name: None if name == "duckdb" else known(name))
    done = run("doctor")
    assert (done.code, done.out) == (1, "duckdb is missing, for reading files: pip install scorespace\n")

"""Default screens: up to three models fit 24 lines of 80 columns, the answer last."""

import csv
import re

import pytest

COSTS = ("--cost-fp", "1", "--cost-fn", "5")
TWO, THREE = "naive_bayes,tree", "naive_bayes,tree,logistic"


def fits(out):
    lines = [line.rstrip() for line in out.splitlines()]
    return len(lines) <= 24 and max(map(len, lines)) <= 80


@pytest.mark.parametrize("models", [TWO, THREE])
@pytest.mark.parametrize("costs", [(), COSTS])
def test_an_evaluation_fits_a_screen(run, credit, models, costs):
    done = run("evaluate", *credit, "--score", models, *costs)
    assert fits(done.out)
    assert "+0.058 [0.025, 0.092]" in done.out or models == THREE


def test_differences_are_beside_the_models_where_they_fit(run, credit):
    wide = run("evaluate", *credit, "--score", TWO, columns=120).out
    assert "naive_bayes − tree" in wide
    assert len(wide.splitlines()) <= 24
    assert "naive_bayes − tree" not in run("evaluate", *credit, "--score", TWO).out
    assert "naive_bayes − tree" in run("evaluate", *credit, "--score", TWO, "--all").out


@pytest.mark.parametrize("verb", [("evaluate", *COSTS), ("decide", *COSTS), ("compare",)])
def test_three_models_of_a_file_with_a_long_name_fit_a_screen(run, credit, tmp_path, verb):
    (tmp_path / "credit.csv").rename(tmp_path / "german_credit_2024.csv")
    done = run(verb[0], "german_credit_2024.csv", *credit[1:], "--score", THREE, *verb[1:])
    assert fits(done.out), done.out


LONG = [
    "gradient_boosting_with_isotonic_calibration_2024_03_01",
    "points_of_the_scorecard_of_the_old_provider_2019",
]


@pytest.mark.parametrize("extra", [(), COSTS, ("--weight", "weight"), ("--group", "case")])
def test_notes_on_long_names_take_three_lines(run, tmp_path, extra):
    name = "predictions_of_the_validation_sample_of_march_2024_after_cleaning.csv"
    with (tmp_path / name).open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["outcome", *LONG, "weight", "case"])
        for i in range(99):
            rows.writerow([i % 3 == 0, (i * 7 % 11) / 10, 600 - 40 * (i % 3 == 0) + i % 50, 1 + i % 2, i // 2])
    done = run("evaluate", name, "--truth", "outcome", "--score", ",".join(LONG), *extra, "--notes")
    notes = re.split(r"\n(?=(?:notes|     ) SS\d)", done.out.partition("\nall measures")[0])[1:]
    assert len(notes) > 1
    assert all(len(line) <= 80 for note in notes for line in note.splitlines())
    assert all(len(note.strip().splitlines()) <= 3 for note in notes), done.out
    hint = f'--score"reversed=minus({LONG[1]})"'
    assert hint in re.sub(r"\s", "", done.out.partition("SS002")[2])
    assert re.search(rf"{LONG[1]} ranks worse than chance \(AUC 0\.\d", re.sub(r"\s+", " ", done.out))
    assert extra or any("…" in note for note in notes)


def test_the_hint_on_reversed_scores_can_be_run(run, credit):
    done = run("evaluate", *credit[:4], "good", "--score", "tree")
    hint = re.search(r'--score\s+"([^"]*)"', done.out)[1]
    done = run("evaluate", *credit[:4], "good", "--score", hint, "--measures", "auc")
    assert done.code == 0
    assert "0.723" in done.out

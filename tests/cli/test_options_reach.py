"""Every flag reaches the numbers of its verb on each route: other files, ranks, data sets and runs."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import scorespace as ss
from laws.routes import sample

ECHOES = {"level", "seed", "id", "at", "prevalence", "replicates", "title", "verdict"}
"""Keys that repeat what was stated, or number the rows of a file."""

ROLES = ("--truth", "y", "--score", "a", "--score", "b")
ONE = ("--truth", "y", "--score", "a")
COSTS = ("--cost-fp", "1", "--cost-fn", "3")


def numbers(content, path=()):
    """The numbers of a result by where they are, without those that repeat a flag."""
    if isinstance(content, dict):
        return {
            k: v for name, one in content.items() if name not in ECHOES for k, v in numbers(one, (*path, name)).items()
        }
    if isinstance(content, list):
        return {k: v for place, one in enumerate(content) for k, v in numbers(one, (*path, place)).items()}
    return {path: content} if isinstance(content, int | float) and not isinstance(content, bool) else {}


def write(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(rows)
        writer.writerows(zip(*rows.values(), strict=True))


def kept(rows, which):
    return {name: np.asarray(column)[which] for name, column in rows.items()}


@pytest.fixture(scope="module")
def samples():
    first, second = sample(5, 160), sample(7, 140)
    spread = {name: np.round(first[name] * np.linspace(0.97, 1, 160), 4) for name in "ab"}  # folds choose differently
    return {"here": first | spread | {"patient": np.arange(160) // 8}, "other": second}


@pytest.fixture
def told(run, tmp_path, samples):
    """The numbers of a command on the samples here.csv and other.csv."""
    for name, rows in samples.items():
        write(tmp_path / f"{name}.csv", rows)

    def command(*arguments):
        done = run(*arguments, "--format", "json")
        assert done.code == 0, done.err
        return numbers(done.json())

    return command


LEVEL, SEED = ("--level", "0.8"), ("--seed", "1")
BY_RANK = ("decide", "here.csv", *ROLES, "--maximise", "tpr@top10%")
REACHED = {
    "compare, level": (("compare", "here.csv", *ROLES), LEVEL),
    "compare with, level": (("compare", "here.csv", *ROLES, "--with", "other.csv"), LEVEL),
    "compare with, seed": (("compare", "here.csv", *ROLES, "--with", "other.csv", "--measure", "brier"), SEED),
    "compare against, seed": (("compare", "here.csv", *ROLES, "--against", "0.3", "--measure", "ks"), SEED),
    "decide, level": (("decide", "here.csv", *ROLES, *COSTS), LEVEL),
    "decide, seed": (("decide", "here.csv", *ROLES, *COSTS), SEED),
    "decide fit, level": (("decide", "here.csv", *ROLES, *COSTS, "--fit", "other.csv"), LEVEL),
    "choose, seed": (("decide", "here.csv", *ROLES, "--maximise", "mcc"), SEED),
    "choose fit, level": (("decide", "here.csv", *ROLES, "--maximise", "mcc", "--fit", "other.csv"), LEVEL),
    "choose by rank, level": (BY_RANK, LEVEL),
    "choose by rank, seed": (BY_RANK, SEED),
    "choose by rank, group": (BY_RANK, ("--group", "patient")),
    "reject, level": (("decide", "here.csv", *ROLES, "--reject", "0.2"), LEVEL),
    "reject, prevalence": (("decide", "here.csv", *ROLES, *COSTS, "--reject", "0.2"), ("--prevalence", "0.1")),
    "calibrate, seed": (("calibrate", "here.csv", *ONE), SEED),
    "drift, seed": (("drift", "here.csv", "other.csv", *ONE, "--replicates", "99"), SEED),
    "monitor, seed": (("drift", "here.csv", "other.csv", *ONE, "--over-time", "--replicates", "99"), SEED),
    "match, seed": (("drift", "here.csv", "other.csv", "again.csv", *ONE, "--replicates", "199"), SEED),
    "evaluate, seed": (("evaluate", "here.csv", *ROLES, "--measures", "brier"), SEED),
    "evaluate, spread": (("evaluate", "here.csv", *ROLES, "--measures", "auc", "--spread"), SEED),
    "evaluate, interval": (("evaluate", "here.csv", *ROLES, "--by", "site"), ("--interval", "bootstrap")),
}


@pytest.mark.parametrize("name", REACHED)
def test_a_flag_changes_the_numbers(told, tmp_path, samples, name):
    command, flag = REACHED[name]
    write(tmp_path / "again.csv", kept(samples["other"], slice(None, None, 2)))
    plain = told(*command)
    assert told(*command, *flag) != plain


FILTERED = {
    "evaluate": ("evaluate", "here.csv", *ROLES),
    "compare with": ("compare", "here.csv", *ROLES, "--with", "other.csv"),
    "decide fit": ("decide", "here.csv", *ROLES, *COSTS, "--fit", "other.csv"),
    "drift": ("drift", "here.csv", "other.csv", *ONE, "--replicates", "99"),
    "monitor": ("drift", "here.csv", "other.csv", *ONE, "--over-time", "--replicates", "99"),
    "cases": ("cases", "here.csv", *ONE, "--learn-midpoint", "other.csv"),
    "curve": ("curve", "here.csv", *ONE, "--kind", "smooth", "--learn-midpoint", "other.csv"),
    "calibrate": ("calibrate", "here.csv", *ONE, "--fit", "other.csv"),
}


@pytest.mark.parametrize("verb", FILTERED)
def test_a_condition_holds_for_every_file_of_a_verb(told, tmp_path, samples, verb):
    stated = told(*FILTERED[verb], "--where", "site == 'north'")
    for name, rows in samples.items():
        write(tmp_path / f"{name}.csv", kept(rows, rows["site"] == "north"))
    assert stated == told(*FILTERED[verb])


def test_a_slope_is_one_of_the_sample_that_chooses(told):
    chosen = told("decide", "other.csv", *ROLES, "--slope", "2")
    judged = told("decide", "here.csv", *ROLES, "--slope", "2", "--fit", "other.csv")
    assert [judged["rows", k, "threshold"] for k in (0, 1)] == [chosen["rows", k, "threshold"] for k in (0, 1)]
    assert judged["cost_per_case",] == chosen["cost_per_case",]


def test_a_midpoint_is_learned_on_the_same_scale_and_rows(told, tmp_path, samples):
    plain = told("cases", "here.csv", *ONE, "--learn-midpoint", "other.csv")["midpoint",]
    for name, rows in samples.items():
        gap = {"y": 1, "a": "", "b": ""}
        write(tmp_path / f"{name}.csv", {k: [*rows[k], gap[k]] for k in gap})
    assert told("cases", "here.csv", *ONE, "--learn-midpoint", "other.csv", "--missing", "drop")["midpoint",] == plain
    for name, rows in samples.items():
        write(tmp_path / f"{name}.csv", {"y": rows["y"], "a": 10 * rows["a"]})
    found = told("cases", "here.csv", *ONE, "--learn-midpoint", "other.csv", "--scale", "0..10")["midpoint",]
    assert found == pytest.approx(plain)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run of two learners on two small data sets."""
    rng, path = np.random.default_rng(3), tmp_path_factory.mktemp("run") / "run"
    features = rng.normal(size=(90, 3))
    data = {
        name: (features, (features[:, 0] + rng.normal(size=90) > cut).astype(int))
        for name, cut in (("even", 0), ("rare", 0.8))
    }
    ss.benchmark(["naive_bayes", "tree"], data, "2x3", path, workers=1)
    return str(path)


RUN_FLAGS = {
    "level": LEVEL,
    "seed": SEED,
    "interval": ("--interval", "bca"),
    "prevalence": ("--prevalence", "0.1"),
    "costs": COSTS,
    "at": ("--at", "0.2"),
    "all": ("--all",),
}


@pytest.mark.parametrize("name", RUN_FLAGS)
def test_a_flag_changes_the_numbers_of_a_run(told, runs, name):
    command = ("evaluate", runs, "--dataset", "rare")
    assert told(*command, *RUN_FLAGS[name]) != told(*command)


def test_a_run_has_a_baseline(told, runs):
    command = ("evaluate", runs, "--dataset", "rare", "--measures", "auc")
    told(*command, "--save", "before.json")
    changes = {path: value for path, value in told(*command, "--baseline", "before.json").items() if "baseline" in path}
    assert {value for path, value in changes.items() if path[-1] == "difference"} == {0.0}


def test_the_level_reaches_a_comparison_over_data_sets(told, runs):
    assert told("compare", runs, "--measure", "acc") != told("compare", runs, "--measure", "acc", *LEVEL)

"""The run directory: what is planned is kept, what is changed is noticed."""

import json
from dataclasses import replace

import duckdb
import numpy as np
import pytest

from scorespace.errors import DataError, PositiveError, ScoreSpaceError
from scorespace.experiments import store
from scorespace.experiments.data import Dataset, dataset
from scorespace.experiments.run import benchmark
from scorespace.experiments.store import _safe_file_name, is_run, open_run, resolve_positive

ROWS = 30
DATA = Dataset("it's odd/./*", {"x": np.arange(ROWS) / 3}, np.array(["a'b", 'c"d'])[np.arange(ROWS) % 2], "classes")


def test_what_was_written_is_read(tmp_path):
    run = benchmark(["majority", "knn(k=3)"], DATA, "2x3", tmp_path / "r", seed=5, workers=1)
    again = open_run(tmp_path / "r")
    assert again == run
    assert (again.datasets, again.learners) == (("it's odd/./*",), ("knn(k=3)", "majority"))
    assert (again.resampling, again.seed) == ("2x3", 5)
    plan = again.of("it's odd/./*")
    assert (plan.rows, plan.classes, plan.splits) == (30, ('c"d', "a'b"), 6) or plan.classes == ("a'b", 'c"d')
    found = again.predictions("it's odd/./*", "knn(k=3)")
    assert list(found) == ["row", "repeat", "fold", "part", "truth", *(f"p_{name}" for name in plan.classes)]
    assert np.array_equal(found["truth"], DATA.truth[found["row"]])
    assert sorted(found["row"][found["repeat"] == 0]) == list(range(ROWS))
    assert set(found["part"]) == {"test"}


def test_numbers(tmp_path):
    data = Dataset("n", {"x": np.arange(9.0)}, np.arange(9) * 2.0, "numbers")
    run = benchmark("linear", data, "loo", tmp_path / "r", workers=1)
    found = run.predictions("n", "linear")
    assert found["prediction"] == pytest.approx(found["truth"])


def test_training_rows_are_kept_when_asked(tmp_path):
    run = benchmark("majority", DATA, "3", tmp_path / "r", workers=1, train=True)
    assert run.predictions(DATA.name, "majority", part="train")["row"].size == 60
    assert run.predictions(DATA.name, "majority", part="test")["row"].size == 30
    assert run.predictions(DATA.name, "majority")["row"].size == 90


def test_the_footer_tells_how_it_was_made(tmp_path):
    run = benchmark("majority", DATA, "3", tmp_path / "r", workers=1)
    (job,) = run.about(DATA.name, "majority")
    assert job["data_digest"] == DATA.digest
    assert job["seed"] == 0
    assert [split[:2] for split in job["splits"]] == [[0, 0], [0, 1], [0, 2]]
    assert set(job["versions"]) == {"scorespace", "scikit-learn", "numpy", "scipy", "joblib"}
    standing = run.status().job_statuses[0]
    assert (standing.done, standing.splits, standing.failed) == (3, 3, 0)
    assert run.status().finished
    assert run.status().words.startswith("3 of 3 fits are done;")


def test_a_changed_learner_is_noticed_and_not_mixed_in(tmp_path):
    where = tmp_path / "r"
    benchmark({"model": "knn(k=1)"}, DATA, "3", where, workers=1)
    before = open_run(where).predictions(DATA.name, "model")
    with pytest.raises(ScoreSpaceError) as caught:
        benchmark({"model": "knn(k=9)"}, DATA, "3", where, workers=1)
    assert caught.value.problem == (
        f"the learner 'model' differs from the one in {str(where)!r}: its parameters, code or versions have changed."
    )
    after = open_run(where).predictions(DATA.name, "model")
    assert all(np.array_equal(before[name], after[name]) for name in before)
    benchmark({"model": "knn(k=9)"}, DATA, "3", where, workers=1, replace=True)
    replaced = open_run(where)
    assert len(replaced.files(DATA.name, "model")) == 1
    assert not np.array_equal(replaced.predictions(DATA.name, "model")["p_a'b"], before["p_a'b"])


def test_a_changed_data_set_is_noticed(tmp_path):
    benchmark("majority", DATA, "3", tmp_path / "r", workers=1)
    other = Dataset(DATA.name, {"x": np.arange(ROWS) / 2}, DATA.truth, "classes")
    with pytest.raises(ScoreSpaceError, match="roles have changed"):
        benchmark("majority", other, "3", tmp_path / "r", workers=1)


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"resampling": "4"}, "another resampling"), ({"seed": 1}, "another seed"), ({"train": True}, "another train")],
)
def test_another_way_of_splitting_wants_another_directory(tmp_path, changed, words):
    benchmark("majority", DATA, "3", tmp_path / "r", workers=1)
    with pytest.raises(ScoreSpaceError, match=words):
        benchmark("majority", DATA, **({"resampling": "3", "out": tmp_path / "r", "workers": 1} | changed))


def test_further_learners_and_data_sets_are_added(tmp_path):
    benchmark("majority", DATA, "3", tmp_path / "r", workers=1)
    other = Dataset("other", {"x": np.arange(ROWS) / 2}, DATA.truth, "classes")
    run = benchmark("naive_bayes", [DATA, other], "3", tmp_path / "r", workers=1)
    assert run.learners == ("majority", "naive_bayes")
    assert run.datasets == ("it's odd/./*", "other")
    assert not run.status().finished
    with pytest.raises(ScoreSpaceError, match="majority has finished"):
        run.predictions("other", "majority")


def test_what_is_no_run_is_told(tmp_path):
    with pytest.raises(
        ScoreSpaceError,
        match=("run directory"),
    ):
        open_run(tmp_path)
    assert not is_run(tmp_path)
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ScoreSpaceError, match="directory nor empty"):
        benchmark("majority", DATA, "3", tmp_path, workers=1)
    run = benchmark("majority", DATA, "3", tmp_path / "r", workers=1)
    assert is_run(run.path)
    with pytest.raises(ScoreSpaceError, match="learner 'majorit'"):
        run.predictions(DATA.name, "majorit")
    (run.path / "run.json").write_text(json.dumps({"schema": 99}))
    with pytest.raises(ScoreSpaceError, match="another version"):
        open_run(run.path)


def test_names_of_files_are_safe_and_differ():
    names = ["a/b", "a?b", "a b", "..", ".", "knn(k=1)", "x" * 200, "x" * 201]
    made = [_safe_file_name(name) for name in names]
    assert len(set(made)) == len(made)
    assert all("/" not in one and not one.startswith(".") and len(one) < 80 for one in made)


def test_a_directory_that_cannot_be_made(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    for out, problem in ((file, "is neither a run directory nor empty."), (file / "r", "cannot be created.")):
        with pytest.raises(DataError) as caught:
            benchmark("majority", DATA, "2", out, workers=1)
        assert caught.value.problem == f"{str(out)!r} {problem}"
        assert caught.value.hint == "another --out"
    assert file.read_text() == "mine"


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    run = benchmark("majority", DATA, "2", tmp_path / "r", workers=1)
    for file in run.files(DATA.name, "majority"):
        file.unlink()

    class Full:
        """An engine whose disk is full."""

        def register(self, *given):
            pass

        unregister = register

        def execute(self, text):
            raise duckdb.IOException("IO Error: Could not write file: No space left on device")

    monkeypatch.setattr(store, "_writing_connection", lambda path: Full())
    with pytest.raises(DataError) as caught:
        benchmark("majority", DATA, "2", tmp_path / "r", workers=1)
    assert (caught.value.seen, caught.value.hint) == (
        "no space left on the disk",
        "free some disk space and run again; finished jobs are kept",
    )
    assert not [file for file in (tmp_path / "r").rglob("*") if file.name.startswith(".scorespace-")]


def test_the_positive_class_is_never_guessed():
    told, named = (dataset({"x": [1.0, 2.0], "y": names}, "y") for names in (["0", "1"], ["bad", "good"]))
    assert resolve_positive(told) == "1"
    assert resolve_positive(named) is None
    assert resolve_positive(named, "bad") == resolve_positive(replace(named, positive="bad")) == "bad"
    with pytest.raises(PositiveError):
        resolve_positive(named, "worst")

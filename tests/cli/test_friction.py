"""What new users stumble over: several files, lists, spellings, options stated twice, completion."""

import os
import shutil
import subprocess

import pytest

from components import missing


@pytest.fixture
def parts(tmp_path, credit):
    """The bundled predictions in three files, and the arguments without them."""
    header, *lines = (tmp_path / "credit.csv").read_text().splitlines(keepends=True)
    (tmp_path / "parts").mkdir()
    for place in range(3):
        (tmp_path / "parts" / f"{place}.csv").write_text(header + "".join(lines[place::3]))
    return [f"parts/{place}.csv" for place in range(3)], credit[1:]


def test_several_files_are_one_sample(run, parts, credit):
    files, roles = parts
    asked = ["--score", "tree", "--measures", "auc,recall@0.5", "--format", "json"]
    whole = run("evaluate", *credit, *asked).json()
    apart = run("evaluate", *files, *roles, *asked).json()
    assert apart == whole
    assert run("evaluate", *roles, *asked, *files).json() == whole  # wherever they stand
    assert run("evaluate", "parts/*.csv", *roles, *asked).json() == whole
    out = run("evaluate", *files, *roles, "--score", "tree", "--measures", "auc").out
    assert out.split("\n")[0] == "0.csv and 2 more"


def test_several_files_in_python(parts, tmp_path, monkeypatch):
    import scorespace as ss

    monkeypatch.chdir(tmp_path)
    found = ss.evaluate(parts[0], truth="outcome", scores="tree", positive="bad")
    assert found.models.rows == 1000


def test_every_verb_takes_several(run, parts):
    files, roles = parts
    two = [*files, *roles, "--score", "tree", "--score", "logistic"]
    assert run("compare", *two, "--format", "json").json()["rows"][0]["p"] < 0.001
    assert run("curve", *two, "--format", "json").json()["kind"] == "roc"
    one = [*files, *roles, "--score", "tree"]
    assert run("cases", *one, "--format", "json").code == 0
    assert run("calibrate", *one, "--out", "new.csv").code == 0


def test_a_file_named_twice_is_refused(run, parts):
    files, roles = parts
    done = run("evaluate", files[0], files[1], f"./{files[0]}", *roles, "--score", "tree")
    assert (done.code, done.err) == (
        2,
        "DataError: the file './parts/0.csv' is named twice.\n"
        "  seen: 'parts/0.csv', 'parts/1.csv', './parts/0.csv'\n"
        "  hint: name each file once\n",
    )
    done = run("evaluate", files[0], "-", *roles, "--score", "tree")
    assert done.err.startswith("DataError: standard input, pipes and URLs ")


def test_an_output_over_one_of_several_is_refused(run, parts):
    files, roles = parts
    done = run("curve", *files, *roles, "--score", "tree", "--out", files[2])
    assert (done.code, done.err.split(":")[0]) == (2, "DataError")


def test_scores_in_a_list_are_several_scores(run, credit):
    asked = ["--measures", "auc", "--format", "json"]
    listed = run("evaluate", *credit, "--score", "tree,logistic", *asked).json()
    assert listed == run("evaluate", *credit, "--score", "tree", "--score", "logistic", *asked).json()
    assert [row["model"] for row in listed["rows"]] == ["tree", "logistic"]


def test_a_column_whose_name_has_a_comma_is_one_score(run, write):
    write("comma.csv", 'y,"a,b",a,b\n1,0.9,0.1,0.2\n0,0.2,0.8,0.7\n1,0.8,0.3,0.1\n0,0.1,0.9,0.6\n')
    asked = ["--truth", "y", "--score", "a,b", "--measures", "auc", "--format", "json"]
    (row,) = run("evaluate", "comma.csv", *asked).json()["rows"]
    assert (row["model"], row["value"]) == ("a,b", 1.0)


@pytest.mark.parametrize(
    "asked",
    [
        ["evaluate", "credit.csv", "--score", "tree"],
        ["compare", "credit.csv", "--score", "tree", "--score", "logistic"],
        ["curve", "credit.csv", "--score", "tree"],
        ["cases", "credit.csv", "--score", "tree"],
        ["drift", "credit.csv", "credit.csv", "--score", "tree"],
    ],
    ids=lambda asked: asked[0],
)
def test_a_missing_truth_lists_the_columns(run, credit, asked):
    done = run(*asked)
    assert (done.code, done.err) == (
        2,
        "ColumnError: no column with the actual class is given.\n"
        "  seen: columns 'id', 'fold', 'outcome', 'naive_bayes', 'tree', 'logistic'\n"
        "  hint: --truth outcome\n",
    )


def test_british_and_american_spelling(run, credit):
    asked = [*credit, "--score", "tree", "--at-least", "tpr=0.9", "--format", "json"]
    assert run("decide", *asked, "--maximize", "ppv").json() == run("decide", *asked, "--maximise", "ppv").json()
    assert run("decide", *asked, "--maximize=ppv").code == 0
    asked = [*credit, "--score", "tree", "--measures", "auc", "--format", "json", "--interval"]
    assert run("evaluate", *asked, "studentized").json() == run("evaluate", *asked, "studentised").json()


def test_an_option_stated_twice_is_refused(run, credit):
    done = run("evaluate", *credit, "--score", "tree", "--positive", "good")
    assert (done.code, done.err) == (
        2,
        "ScoreSpaceError: --positive is passed twice, but takes one value.\n  hint: pass --positive once\n",
    )
    assert run("evaluate", *credit, "--score", "tree", "--notes", "--notes").code == 0  # says the same


def test_an_option_of_another_curve_has_the_right_reason(run, credit):
    done = run("curve", *credit, "--score", "tree", "--kind", "roc", "--recentre")
    assert (done.code, done.err) == (
        2,
        "CurveError: --recentre is an option of the curve 'smooth'. roc does not have it.\n"
        '  hint: --kind "smooth(recentre=true)"\n',
    )


def test_differences_that_cannot_be_had_are_left_out_with_a_reason(run, credit):
    out = run("evaluate", *credit, "--score", "tree", "--score", "logistic", "--measures", "ppv@0.99,auc").out
    assert "No difference of ppv@0.99: nothing is predicted positive." in out


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("evaluate credit.csv --truth o", "outcome"),
        ("evaluate credit.csv --truth outcome --score t", "tree"),
        ("drift credit.csv credit.csv --score l", "logistic"),
        ("evaluate credit.csv --truth outcome --measures auc,sensi", "auc,sensitivity"),
        ("compare credit.csv --truth outcome --measure gme", "gmean"),
        ("decide credit.csv --truth outcome --maximise prec", "precision"),
        ("curve credit.csv --kind cal", "calibration"),
        ("calibrate credit.csv --method iso", "isotonic"),
        ("compare credit.csv --test mcn", "mcnemar"),
        ("curve credit.csv --kind smooth(mid", "smooth(midpoint="),
        ("measures probability_of_d", "probability_of_detection"),
        ("evaluate nowhere.csv --truth o", ""),
    ],
)
def test_completion(command, tmp_path, credit, line, offered):
    words = f"scorespace {line}"
    asked = {"_SCORESPACE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [command], env={**os.environ, **asked}, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    found = done.stdout.split()
    assert offered in found if offered else found == []


def test_the_shell_expands_patterns(command, parts, tmp_path):
    sh = shutil.which("sh")
    if sh is None:
        missing("no shell here")
    roles = " ".join(parts[1])
    line = f"{command} evaluate parts/*.csv {roles} --score tree --measures auc --format csv"
    done = subprocess.run([sh, "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 2

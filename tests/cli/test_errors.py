"""What a user can get wrong: exit code 2, the problem on the first line, and never a traceback."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

FINE = "y,s,d,w\n1,0.9,1,1\n0,0.8,1,1\n1,0.7,0,1\n0,0.1,0,1\n"
GOOD = ["--truth", "y", "--score", "s"]
SHAPE = re.compile(r"\w+Error: [^\n]+\n(  seen: [^\n]+\n)?(  hint: [^\n]+\n)?")


def assert_told(done, problem, *more):
    """The three parts of a mistake: the problem first, then what was seen and one thing to do."""
    assert (done.code, done.out) == (2, "")
    assert SHAPE.fullmatch(done.err), done.err
    assert done.err.startswith(problem)
    for words in more:
        assert words in done.err


# --- data


@pytest.mark.parametrize(
    ("content", "problem", "more"),
    [
        ("", "DataError: data.csv has no rows.", "seen: an empty file"),
        ("y,s\n", "DataError: data.csv has no rows.", "seen: columns 'y', 's'"),
        ("y,s\n1,inf\n0,0.5\n", "ScoreError: column 's' has infinite scores.", "seen: 1 of 2 rows"),
        ("y,s\n1,high\n0,low\n", "ColumnError: column 's' holds text, not scores.", "seen: 'high', 'low'"),
        ("y,s\n1,0.9\n0,\n", "DataError: column 's' has missing values.", "hint: "),
        ("y,s\n1,0.9\n,0.5\n", "DataError: column 'y' has missing values.", "hint: "),
        ("y,s,s\n1,0.9,1\n0,0.5,2\n", "ColumnError: column 's' occurs twice in data.csv.", "seen: 'y', 's', 's'"),
        ("y,s\n0.25,0.9\n0.5,0.5\n", "ColumnError: column 'y' ", "hint: "),
        ("y,s\na,0.9\nb,0.5\n", "PositiveError: the positive class is not stated", "seen: 'a' (1 row), 'b' (1 row)"),
        ("y,s\na,0.9\nb,0.5\nc,0.1\n", "PositiveError: the positive class is not stated", "hint: "),
    ],
)
def test_data_that_cannot_be_used(run, write, content, problem, more):
    write("data.csv", content)
    assert_told(run("evaluate", "data.csv", *GOOD), problem, more)


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        (["1", "-2"], "WeightError: column 'w' has negative weights."),
        (["1", "inf"], "WeightError: column 'w' has infinite weights."),
        (["0", "0"], "WeightError: all weights in column 'w' are zero"),
        (["1", ""], "DataError: column 'w' has missing values."),
        (["one", "two"], "WeightError: column 'w' holds text, not weights."),
    ],
)
def test_weights_that_cannot_be_used(run, write, weights, problem):
    write("data.csv", "y,s,w\n1,0.9,{}\n0,0.5,{}\n".format(*weights))
    assert_told(run("evaluate", "data.csv", *GOOD, "--weight", "w"), problem)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("absent.csv", "DataError: file 'absent.csv' does not exist."),
        ("absent/*.csv", "DataError: no file matches 'absent/*.csv'."),
        (".", "DataError: '.' is a folder, not a file."),
        ("data.doc", "DataError: "),
    ],
)
def test_a_file_that_is_not_there(run, path, problem):
    assert_told(run("evaluate", path, *GOOD), problem)


def test_a_misspelt_file(run, write):
    write("credit.csv", FINE)
    assert_told(run("evaluate", "credt.csv", *GOOD), "DataError: ", "did you mean 'credit.csv'?")


def test_nothing_on_standard_input(run):
    assert_told(run("evaluate", "-", *GOOD), "DataError: standard input has no rows.")


def test_a_broken_file(run, tmp_path):
    (tmp_path / "data.parquet").write_bytes(b"this is no Parquet file at all")
    done = run("evaluate", "data.parquet", *GOOD)
    assert_told(done, "DataError: data.parquet cannot be read as Parquet.")


# --- roles and options


@pytest.mark.parametrize(
    ("options", "problem", "more"),
    [
        (["--truth", "yy", "--score", "s"], "ColumnError: column 'yy' is not in fine.csv.", "seen: 'y', 's', 'd', 'w'"),
        (["--truth", "y", "--score", "S1"], "ColumnError: column 'S1' is not in fine.csv.", "did you mean 's'?"),
        (["--score", "s"], "ColumnError: ", "hint: --truth y"),
        (["--truth", "y"], "ColumnError: there is nothing to evaluate", "hint: "),
        (["--truth", "y", "--score", "y"], "ColumnError: column 'y' cannot be both truth and score.", "hint: "),
        (["--truth", "y", "--score", "s", "--score", "s"], "ColumnError: model 's' is named twice.", "hint: "),
        ([*GOOD, "--positive", "2"], "PositiveError: positive='2' never occurs in column 'y'.", "seen: '0' (2 rows)"),
        ([*GOOD, "--measures", "aucc"], "MeasureError: there is no measure 'aucc'.", "did you mean auc?"),
        ([*GOOD, "--measures", "auc@"], "MeasureError: the measure 'auc@' cannot be parsed.", "hint: NAME"),
        (
            [*GOOD, "--measures", "ppv@half"],
            "MeasureError: the threshold 'half' in 'ppv@half' is not a number.",
            "@0.5",
        ),
        ([*GOOD, "--measures", "auc@0.5"], "MeasureError: auc@0.5 ", "hint: auc"),
        ([*GOOD, "--measures", "fbeta(alpha=2)@0.5"], "MeasureError: fbeta has no option 'alpha'.", "'beta'"),
        ([*GOOD, "--measures", "fbeta(beta=two)@0.5"], "MeasureError: beta=two in", "is not a number"),
        ([*GOOD, "--measures", "f1[macro]"], "MeasureError: f1[macro]", "averages over classes"),
        (
            [*GOOD, "--measures", "tpr[7]@0.5"],
            "MeasureError: tpr[7]@0.5 names a class that does not occur.",
            "'0', '1'",
        ),
        ([*GOOD, "--level", "2"], "ScoreSpaceError: level=2 is not a confidence level.", "such as 0.95"),
        ([*GOOD, "--level", "95"], "ScoreSpaceError: level=95 is not a confidence level.", "such as 0.95"),
        ([*GOOD, "--name", "s"], "ColumnError: --name s cannot be parsed.", "hint: COL=NAME"),
        ([*GOOD, "--name", "x=tree"], "ColumnError: names='x' renames a column", "seen: 's'"),
        ([*GOOD, "--matrix", "nb=nb.csv"], "DataError: there is no file 'nb.csv'.", ""),
        ([*GOOD, "--costs", "absent.csv"], "DataError: there is no file 'absent.csv'.", ""),
        ([*GOOD, "--cost-fp", "1"], "ConditionError: the costs of both errors are needed.", "seen: --cost-fp 1"),
    ],
)
def test_options_that_cannot_be_used(run, write, options, problem, more):
    write("fine.csv", FINE)
    assert_told(run("evaluate", "fine.csv", *options), problem, more)


def test_a_report_that_cannot_be_written(run, write):
    write("fine.csv", FINE)
    done = run("evaluate", "fine.csv", *GOOD, "--measures", "auc", "--report", "absent/page.html")
    assert done.code == 2
    assert done.err.startswith("DataError: the folder 'absent' for page.html does not exist.\n")
    assert done.out == ""  # said before the work, not after it


@pytest.mark.parametrize("cell", ["1e19", "1e16"])
def test_cells_of_a_matrix_that_cannot_be_counted(run, write, cell):
    write("m.csv", f"actual,x,y\nx,{cell},3\ny,4,5\n")
    for given in ("m.csv", f"{cell} 3; 4 5"):
        done = run("evaluate", "--matrix", f"a={given}")
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("WeightError: ")
        assert "a sum above 9 007 199 254 740 992" in done.err


@pytest.mark.parametrize("models", [("a", "b"), ("a", "c")], ids=["other classes", "other totals"])
def test_matrices_of_different_samples(run, write, models):
    write("a.csv", "actual,x,y\nx,3,2\ny,5,9\n")
    write("b.csv", "actual,p,q\np,3,2\nq,5,9\n")
    write("c.csv", "actual,x,y\nx,30,2\ny,5,9\n")
    assert_told(run("evaluate", *(f"--matrix={name}={name}.csv" for name in models)), "DataError: ")


# --- usage


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evaluat"], "Did you mean 'evaluate'?"),
        (["evaluate", "fine.csv", "--truht", "y"], "No such option: --truht"),
        (["evaluate", "fine.csv", *GOOD, "--missing", "keep"], "--missing"),
        (["evaluate", "fine.csv", *GOOD, "--format", "xml"], "--format"),
        (["evaluate", "fine.csv", *GOOD, "--level", "high"], "--level"),
        (["curve"], "Usage: scorespace curve"),
        (["curve", "fine.csv"], "file 'fine.csv' does not exist"),
    ],
)
def test_wrong_usage(run, arguments, words):
    done = run(*arguments)
    assert done.code == 2
    assert words in " ".join((done.out + done.err).split())
    assert "Traceback" not in done.err


def test_no_argument_shows_the_help(run):
    assert "Start with: scorespace demo" in run().out


@pytest.mark.parametrize("verb", ["evaluate", "compare", "decide", "curve", "measures", "demo"])
def test_every_verb_has_help_with_an_example(run, verb):
    done = run(verb, "--help")
    assert done.code == 0
    assert f"Usage: scorespace {verb}" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    if verb != "demo":
        assert f"Example: scorespace {verb}" in done.out


def test_version(run):
    assert re.fullmatch(r"scorespace \d+\.\d+\.\d+\n", run("--version").out)


# --- pipes and interrupts


def test_a_reader_that_has_gone_is_no_mistake(command):
    """As with `scorespace … | head`."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([command, "measures"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode != 2


def test_an_interrupt_leaves_no_traceback(command, tmp_path):
    with subprocess.Popen(
        [command, "evaluate", "-", *GOOD],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # workers of pytest ignore it
    ) as process:
        # More than a pipe holds: once written, the command is reading and waits for the rest.
        process.stdin.write(b"y,s\n" + b"1,0.5\n" * 40_000)
        process.stdin.flush()
        for _ in range(5):  # Python can miss a signal that comes just before it waits
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=3)
                break
        else:
            process.kill()
        said = process.stderr.read().decode()
    assert process.returncode == -signal.SIGINT  # shells show 130
    assert "Traceback" not in said


def test_an_unforeseen_failure_of_the_system_is_told_in_a_line(run, write, monkeypatch):
    write("fine.csv", FINE)

    def full(*_, **__):
        raise OSError(28, "No space left on device", "page.html")

    monkeypatch.setattr("scorespace.report.html.write", full)
    done = run("evaluate", "fine.csv", *GOOD, "--measures", "auc", "--report", "page.html")
    assert (done.code, done.err) == (2, "OSError: No space left on device: page.html\n")


def test_no_python_warning_reaches_the_screen(tmp_path):
    script = "import warnings, scorespace.__main__ as m, scorespace.cli as c\n"
    script += "c.main = lambda: warnings.warn('divide by zero', RuntimeWarning)\nm.main()\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_verb_that_is_told_nothing_says_so_beside_its_help(run):
    done = run("compare")
    assert (done.code, done.err) == (
        2,
        "ScoreSpaceError: compare needs arguments.\n"
        "  hint: scorespace compare credit.csv --truth outcome --positive bad --score naive_bayes --score tree\n",
    )


def test_no_number_cannot_be_required(run):
    done = run("evaluate", "fine.csv", *GOOD, "--require", "auc>=nan")
    assert (done.code, done.err) == (
        2,
        "MeasureError: the requirement 'auc>=nan' cannot be parsed.\n"
        '  hint: such as --require "auc>=0.8", or "auc>=baseline-0.01" with --baseline FILE.json\n',
    )


TREE = ["credit.csv", "--truth", "outcome", "--positive", "bad", "--score", "tree"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", *TREE],
        ["power", "--auc", "0.7", "--against", "0.7", "--prevalence", "0.3"],
        ["compare", "--counts", "99999999,1,1,1"],
        ["evaluate", *TREE, "--report", "no/x.html"],
        ["evaluate", *TREE, "--report", "/dev/full"],
        ["curve", *TREE, "--kind", "cost(x=1)"],
        ["cases", *TREE, "--midpoint", "foo"],
        ["calibrate", *TREE, "--method", "foo"],
        ["calibrate", "credit.csv", "--score", "tree", "--apply", "odd.json", "--out", "o.csv"],
        ["decide", *TREE, "--costs", "other.csv"],
        ["decide", *TREE, "--costs", "gap.csv"],
        ["ranks", "ranks.csv", "--measure", "auc", "--control", "zz"],
        ["rules", "none.csv"],
    ],
    ids=lambda words: " ".join(words[:1] + words[-2:]),
)
def test_every_mistake_has_one_thing_to_do(run, tmp_path, arguments):
    files = {
        "odd.json": '{"a": 1}',
        "other.csv": ",x,y\nx,0,1\ny,5,0\n",
        "gap.csv": ",good,bad\ngood,0,\nbad,5,0\n",
        "ranks.csv": "d,a,b\nx,.5,.2\ny,.6,.7\nz,.5,.9\n",
        "none.csv": "a,b\n0,0\n0,0\n",
        "credit.csv": "outcome,tree,nb\nbad,0.9,0.8\ngood,0.2,0.4\nbad,0.7,0.3\ngood,0.4,0.1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n  hint: ") == 1


def test_a_sheet_of_a_file_without_sheets_is_an_error(run, credit):
    done = run("evaluate", *credit, "--score", "tree", "--sheet", "March")
    assert done.code == 2
    assert "the sheet 'March' is of a spreadsheet." in done.err
    assert "credit.csv, read as CSV" in done.err
    assert "leave out the sheet" in done.err

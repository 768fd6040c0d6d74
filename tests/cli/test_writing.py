"""What the verbs write: never over an input, whole, checked before the work, and beside what --format asks for."""

import csv
import io
import os
from pathlib import Path

import pytest

from scorespace.cli.verbs import load, verbs

DATA = "id,y,s,t,d,e\n" + "".join(
    f"{k},{k % 2},{(k * 37 % 100) / 100},{(k * 53 % 100) / 100},{k % 2},{(k // 2) % 2}\n" for k in range(60)
)
RESULTS = "data,a,b,c\n" + "".join(f"d{k},0.{k + 1},0.{9 - k},0.{(k * 3) % 9 + 1}\n" for k in range(8))
ROLES = ["--truth", "y", "--score", "s"]
PAIR = [*ROLES, "--score", "t"]
RATERS = ["--rater", "A=d,s", "--rater", "B=e,t"]
TABLE = "actual,0,1\n0,20,5\n1,4,30\n"
COSTS = "actual,0,1\n0,0,1\n1,5,0\n"

# Every verb that writes: its arguments with IN where a file is read, and the option that names the file to write.
WRITING = {
    "evaluate": (["IN.csv", *ROLES], "--report"),
    "evaluate costs": (["other.csv", *ROLES, "--costs", "IN.csv"], "--report"),
    "evaluate matrix": (["--matrix", "m=IN.csv"], "--report"),
    "compare": (["IN.csv", *PAIR], "--report"),
    "compare with": (["other.csv", *ROLES, "--with", "IN.csv"], "--report"),
    "curve": (["IN.csv", *ROLES], "--out"),
    "curve midpoint": (["other.csv", *ROLES, "--kind", "smooth", "--learn-midpoint", "IN.csv"], "--out"),
    "curve matrix": (["--matrix", "m=IN.csv"], "--out"),
    "decide": (["IN.csv", *ROLES, "--slope", "1"], "--out"),
    "decide matrix": (["--matrix", "m=IN.csv", "--slope", "1"], "--out"),
    "decide page": (["IN.csv", *ROLES, "--slope", "1"], "--report"),
    "decide page fit": (["other.csv", *ROLES, "--fit", "IN.csv", "--maximise", "f1"], "--report"),
    "calibrate": (["IN.csv", *ROLES], "--out"),
    "calibrate fit": (["other.csv", *ROLES, "--fit", "IN.csv"], "--out"),
    "calibrate map": (["IN.json", *ROLES], "--map"),
    "calibrate apply": (["other.csv", "--score", "s", "--apply", "IN.json"], "--map"),
    "calibrate page": (["IN.csv", *ROLES], "--report"),
    "calibrate page fit": (["other.csv", *ROLES, "--fit", "IN.csv"], "--report"),
    "cases": (["IN.csv", *ROLES], "--out"),
    "cases midpoint": (["other.csv", *ROLES, "--learn-midpoint", "IN.csv"], "--out"),
    "agree": (["IN.csv", *RATERS], "--out"),
    "agree page": (["IN.csv", *RATERS], "--report"),
    "drift": (["IN.csv", "other.csv", *ROLES], "--out"),
    "drift after": (["other.csv", "IN.csv", *ROLES], "--out"),
    "drift page": (["IN.csv", "other.csv", *ROLES], "--report"),
    "ranks": (["IN.csv", "--measure", "auc"], "--out"),
    "ranks page": (["IN.csv", "--measure", "auc"], "--report"),
    "demo": ([], "--report"),
    "audit": (["IN.csv", "--target", "y"], "--report"),
    "table": (["IN.csv", *ROLES], "--out"),
    "clusters": (["IN.csv", "--label", "y", "--feature", "s"], "--out"),
    "clusters page": (["IN.csv", "--label", "y", "--feature", "s"], "--report"),
    "benchmark": (["--data", "IN.csv", "--target", "y", "--learner", "majority", "--resampling", "2"], "--report"),
    "study": (["learning", "IN.csv", "--target", "y", "--learner", "majority", "--resampling", "2"], "--out"),
    "study page": (["learning", "IN.csv", "--target", "y", "--learner", "majority", "--resampling", "2"], "--report"),
    "label": (["IN.csv", "--score", "s", "--measure", "auc", "--budget", "20"], "--out"),
    "check": (["--n", "100", "--positives", "40", "acc=.85", "tpr=.80"], "--report"),
    "ledger": (["IN.jsonl"], "--report"),
    "evaluate proxy": (["IN.csv", *ROLES, "--proxy", "d"], "--report"),
    "rules": (["IN.csv"], "--out"),
    "rules page": (["IN.csv"], "--report"),
}

ENDINGS = {"table": ".parquet", **dict.fromkeys(("ranks", "decide", "clusters", "rules", "study"), ".png")}
BASKETS = "bread,milk\n" + "1,1\n1,0\n0,1\n0,0\n" * 20


def names_outputs(parameter):
    return parameter.name in ("out", "report", "map")


def test_every_verb_that_writes_is_here():
    """A new verb, or a new file that one writes, wants its line above."""
    commands = {name: load(verb) for name, verb in verbs().items()}
    found = {(verb, each.opts[0]) for verb, one in commands.items() for each in one.params if names_outputs(each)}
    assert {(verb.split()[0], option) for verb, (_, option) in WRITING.items()} == found


@pytest.fixture
def inputs(write):
    write("other.csv", DATA)

    def made(kind):
        content = {"ranks": RESULTS, "evaluate costs": COSTS, "evaluate matrix": TABLE, "rules": BASKETS}.get(
            kind, DATA
        )
        if kind == "calibrate apply":
            content = '{"schema": 1, "kind": "platt", "slope": 1.0, "intercept": 0.0}'
        if kind == "calibrate map":
            content = '[{"y": 1, "s": 0.5}, {"y": 0, "s": 0.1}]'
        name = "IN.json" if kind in ("calibrate map", "calibrate apply") else "IN.csv"
        name = "IN.jsonl" if kind == "ledger" else name
        return write(name, content)

    return made


def linked(how, name, ending):
    """Another name of the input, with the ending that the verb asks of its output."""
    other = f"same{ending}"
    if how == "hard link":
        os.link(name, other)
    elif how == "link":
        os.symlink(name, other)
    else:
        os.symlink(name, "between")
        os.symlink("between", other)
    return other


@pytest.mark.parametrize("how", ["hard link", "link", "link to a link"])
@pytest.mark.parametrize("kind", [kind for kind in WRITING if kind not in ("demo", "check")])
def test_no_verb_writes_over_what_it_reads(run, inputs, kind, how):
    name = inputs(kind)
    arguments, option = WRITING[kind]
    ending = {"--report": ".html", "--map": ".json"}.get(option, ENDINGS.get(kind.split()[0], ".csv"))
    before = Path(name).read_bytes()
    done = run(kind.split()[0], *arguments, option, linked(how, name, ending))
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"DataError: 'same{ending}' is an input file and is not overwritten.\n  hint: choose another output file\n"
    )
    assert Path(name).read_bytes() == before


@pytest.mark.parametrize("verb", ["curve", "cases", "agree", "drift", "calibrate"])
@pytest.mark.parametrize("name", ["IN.csv", "./IN.csv", "[I]N.csv", "URI", "-"])
def test_by_whatever_name_it_is_read(run, inputs, verb, name, monkeypatch):
    inputs(verb)
    given = Path("IN.csv").resolve().as_uri().replace("IN", "%49N") if name == "URI" else name
    arguments = [given if each == "IN.csv" else each for each in WRITING[verb][0]]
    if name == "-":  # standard input that is the file itself
        descriptor = os.dup(0)
        os.dup2(os.open("IN.csv", os.O_RDONLY), 0)
    try:
        done = run(verb, *arguments, "--out", "IN.csv", stdin=DATA)
    finally:
        if name == "-":
            os.dup2(descriptor, 0)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("DataError: 'IN.csv' is an input file and is not overwritten.\n")
    assert Path("IN.csv").read_text() == DATA


def test_a_report_is_a_page(run, write):
    write("in.csv", DATA)
    done = run("evaluate", "in.csv", *ROLES, "--report", "in.csv")
    assert (done.code, done.err) == (2, "DataError: 'in.csv' has no known file extension.\n  hint: .html\n")
    assert Path("in.csv").read_text() == DATA


@pytest.mark.parametrize("kind", [kind for kind in WRITING if " " not in kind and kind != "demo"])
def test_endings_are_checked_before_the_work(run, inputs, kind, monkeypatch):
    inputs(kind)
    monkeypatch.setattr("scorespace.io.files.detect_dialect", lambda *_: pytest.fail("the file was read"))
    arguments, option = WRITING[kind]
    done = run(kind, *arguments, option, "result.doc")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("DataError: 'result.doc' has no known file extension.\n  hint: .")


ALONE = [
    kind for kind in WRITING if " " not in kind and kind not in ("demo", "calibrate", "label", "benchmark", "ledger")
]


@pytest.mark.parametrize("kind", ALONE)
def test_a_failure_to_write_names_the_file_and_shows_nothing(run, inputs, kind, monkeypatch):
    inputs(kind)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("scorespace.files._flush_to_disk", full)
    arguments, option = WRITING[kind]
    ending = ".html" if option == "--report" else ".parquet" if kind == "table" else ".svg"
    done = run(kind, *arguments, option, f"out{ending}")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"DataError: 'out{ending}' cannot be written.\n  seen: No space left on device\n"
        "  hint: choose another file or folder\n"
    )
    assert [name for name in os.listdir(".") if name.startswith((".scorespace", "out"))] == []


def has_format(verb):
    return any(each.name == "format" for each in load(verbs()[verb]).params)


FORMATTED = [kind for kind in WRITING if " " not in kind and kind != "ledger" and has_format(kind)]


@pytest.mark.parametrize("kind", FORMATTED)
def test_format_is_honoured_beside_what_is_written(run, inputs, kind):
    inputs(kind)
    arguments, option = WRITING[kind]
    ending = ".html" if option == "--report" else ENDINGS.get(kind, ".csv").replace(".png", ".svg")
    done = run(kind, *arguments, option, f"out{ending}", "--format", "json")
    assert done.code == 0
    assert done.json()["schema"] == 1
    assert Path(f"out{ending}").stat().st_size > 10


def test_a_requirement_that_suits_no_model_is_told_before_the_result(run, write):
    write("in.csv", DATA)
    done = run("evaluate", "in.csv", "--truth", "y", "--decision", "d", "--require", "f1[macro]@0.5>0.5")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("MeasureError: ")


# --- spreadsheets


def test_no_cell_is_a_formula(run, write):
    write("in.csv", DATA.replace("id,y,s,t,d,e", "id,y,=cmd(),+s,d,@e"))
    arguments = ["--truth", "y", "--score", "=cmd()", "--score", "+s", "--decision", "@e", "--measures", "auc,f1"]
    done = run("evaluate", "in.csv", *arguments, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert {row["model"] for row in rows} == {"'=cmd()", "'+s", "'@e"}
    assert all(-1 <= float(row["value"]) <= 1 for row in rows)


def test_numbers_and_labels_that_are_numbers_stay_as_they_are(run, write):
    write("in.csv", "y,d\n" + "-1,-1\n1,1\n-1,1\n" * 5)
    done = run("evaluate", "in.csv", "--truth", "y", "--decision", "d", "--measures", "tpr[-1],mcc", "--format", "csv")
    assert "'" not in done.out
    assert {row["class"] for row in csv.DictReader(io.StringIO(done.out))} >= {"-1"}


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_recalibrated_rows_are_as_many_as_were_read_and_as_they_stood(run, write, tmp_path, ending):
    rows = [["#5", "1", "0.5", "007", 'say "hi"'], ["6", "0", "0.25", "9007199254740993", "two\nlines"]]
    rows += [[f"#{k}", str(k % 2), f"0.{k}", f"{k:03d}", "a,b;c"] for k in range(10, 40)]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([["id", "y", "s", "code", "text"], *rows])
    write("in.csv", out.getvalue())
    done = run("calibrate", "in.csv", *ROLES, "--folds", "2", "--method", "platt", "--out", f"out.{ending}")
    assert done.code == 0, done.err
    if ending == "parquet":
        from pyarrow import parquet

        found = [list(map(str, row.values()))[:-1] for row in parquet.read_table("out.parquet").to_pylist()]
        assert [[row[0], *row[3:]] for row in found] == [[row[0], *row[3:]] for row in rows]
        return
    with open(f"out.{ending}", newline="") as file:
        header, *found = csv.reader(file, delimiter="\t" if ending == "tsv" else ",")
    assert header == ["id", "y", "s", "code", "text", "s_calibrated"]
    assert [row[:-1] for row in found] == rows

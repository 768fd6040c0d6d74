"""`scorespace audit`: its formats, its exit codes, and that it leaves the data alone."""

import csv
import io

import numpy as np
import pytest

from helpers.audit_tables import story

SOURCE = np.random.default_rng(5)


def text(table):
    rows = zip(*(np.asarray(values).tolist() for values in table.values()), strict=True)
    return "\n".join([",".join(table), *(",".join(map(str, row)) for row in rows)]) + "\n"


@pytest.fixture
def told(write):
    return write("story.csv", text(story(2)))


@pytest.fixture
def clean(write):
    x = SOURCE.normal(size=200)
    return write("clean.csv", text({"x": x, "u": SOURCE.normal(size=200), "y": (x + SOURCE.normal(size=200) > 0) * 1}))


def test_the_whole_screen(run, write):
    write("small.csv", "size,y\n" + "small,0\nlarge,1\nmedium,1\n" * 20)
    done = run("audit", "small.csv", "--target", "y")
    assert (done.code, done.err) == (0, "")
    assert [line.rstrip() for line in done.out.strip().splitlines()] == [
        "small.csv   60 rows   2 columns   target = y",
        "",
        "column   kind              values       missing   evidence",
        "size     ordinal           3 distinct   –         words with an order: small <",
        "                                                  medium < large",
        "y        binary (target)   2 distinct   –         two values, 0 and 1",
        "",
        "notes SS103 'size' alone predicts 'y' with AUC 1.000 (cross-fitted; p < 0.001",
        "            after Holm's correction for 2 tests). Check whether it is known",
        "            before the target; if not, exclude it.",
        "      SS140 57 of 60 rows (95 %) duplicate another row in all columns except",
        "            identifiers. With few distinct values this may be chance. Remove",
        "            duplicates before splitting, or test rows may also be in training.",
        "",
        "Resolve 1 problem before modelling. Begin with the target leak in 'size'. 1 note",
        "for information.",
    ]


def test_json(run, told):
    done = run("audit", told, "--target", "target", "--format", "json")
    content = done.json()
    assert [row["code"] for row in content["rows"] if row["level"] == "warning"] == ["SS101", "SS111", "SS120", "SS130"]
    assert [row["kind"] for row in content["columns"]] == ["identifier", "ratio", "ratio", "ordinal", "ratio"]


def test_csv_and_markdown(run, told):
    rows = list(csv.DictReader(io.StringIO(run("audit", told, "--target", "target", "--format", "csv").out)))
    assert rows[0]["columns"] == "field1, target"
    assert "| field1 | identifier" in run("audit", told, "--target", "target", "--format", "markdown").out


def test_fail_on_a_code_or_a_level(run, told, clean):
    done = run("audit", told, "--target", "target", "--fail-on", "SS120")
    assert (done.code, done.err) == (1, "found SS120: 'field2' and 'field3' are equal in every row.\n")
    assert run("audit", told, "--target", "target", "--fail-on", "SS140").code == 0
    assert run("audit", told, "--target", "target", "--fail-on", "warning").code == 1
    assert run("audit", clean, "--target", "y", "--fail-on", "info").code == 0
    done = run("audit", clean, "--fail-on", "SS999")
    assert done.code == 2
    assert done.err.startswith("ScoreSpaceError: 'SS999' is neither a code nor a level of findings.")


def test_a_report_and_untouched_data(run, told, tmp_path):
    before = (tmp_path / told).read_bytes()
    done = run("audit", told, "--target", "target", "--report", "audit.html")
    assert done.code == 0
    assert "field4" in (tmp_path / "audit.html").read_text(encoding="utf-8")
    assert (tmp_path / told).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.html", told]


def test_the_data_are_never_overwritten(run, told, tmp_path):
    (tmp_path / "link.html").symlink_to(tmp_path / told)
    done = run("audit", told, "--report", "link.html")
    assert (done.code, done.out) == (2, "")
    assert "is an input file and is not overwritten" in done.err


def test_kinds_are_overruled(run, told):
    kinds = ["--kind", "field4=ordinal(1,2,3,4,5,6,7,8,9,10)", "--kind", "field1=ratio"]
    columns = run("audit", told, *kinds, "--format", "json").json()["columns"]
    assert columns[0]["kind"] == "ratio"
    assert columns[3]["evidence"] == "as stated: 1 < 2 < 3 < 4 < 5 < 6 < 7 < 8 < 9 < 10"
    assert run("audit", told, "--kind", "field4").err == (
        "ColumnError: --kind field4 cannot be parsed.\n  hint: --kind 'size=ordinal(small,medium,large)'\n"
    )


def test_another_sample(run, told, clean, write):
    write("other.csv", text(story(9)))
    done = run("audit", told, "--target", "target", "--test", "other.csv", "--format", "json")
    assert "SS163" in [row["code"] for row in done.json()["rows"]]  # the same numbers were given again
    assert run("audit", told, "--test", clean).code == 2


def test_scores(run, credit):
    data, *_ = credit
    done = run("audit", data, "--target", "outcome", "--score", "tree", "--positive", "bad", "--format", "json")
    assert done.code == 0
    assert [row["code"] for row in done.json()["rows"] if row["code"].startswith("SS17")] == []
    assert run("audit", data, "--score", "tree").err == (
        "DataError: checks of scores need a target.\n  hint: --target COL\n"
    )


def test_standard_input(run):
    done = run("audit", "-", "--target", "y", "--format", "json", stdin="x,y\n" + "1,0\n2,1\n" * 20)
    assert done.json()["data"]["rows"] == 40


def test_csv_without_findings_has_its_header(run, tmp_path):
    (tmp_path / "clean.csv").write_text("a\n1\n2\n3\n")
    done = run("audit", "clean.csv", "--format", "csv")
    assert (done.code, done.out) == (0, "code,level,columns,text,advice\n")


def test_one_column_is_one(run, tmp_path):
    (tmp_path / "clean.csv").write_text("a\n1\n2\n3\n")
    assert run("audit", "clean.csv").out.splitlines()[1] == "clean.csv   3 rows   1 column"

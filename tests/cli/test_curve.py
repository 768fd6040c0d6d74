"""`scorespace curve`: every kind of curve as data, and as a picture of every kind."""

import csv
import io
import json

import pytest
from numpy.testing import assert_allclose

from scorespace.evaluation.curves import kinds
from scorespace.inference.bands import band
from scorespace.tables import ResidualTable

NEEDS_MORE = ("case_cost", "capacity", "quantile_reliability", "pit")  # costs of cases, periods, distributions
KINDS = [kind.name for kind in kinds() if kind.table is not ResidualTable and kind.name not in NEEDS_MORE]
TABULAR = ("bands", "grades")
EVERY = [kind.name for kind in kinds()]
OF_NUMBERS = [name for name in EVERY if name not in (*KINDS, *NEEDS_MORE)]
STARTS_AT_INFINITY = ("roc", "pr", "gain", "hull", "threshold")
# From the highest score down: + − + + − −
SMALL = "y,s\n1,0.9\n0,0.8\n1,0.7\n1,0.4\n0,0.3\n0,0.1\n"
ROC = [(0, 0), (0, 1 / 3), (1 / 3, 1 / 3), (1 / 3, 2 / 3), (1 / 3, 1), (2 / 3, 1), (1, 1)]
MAGIC = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF", "html": b"<!doctype html>"}


@pytest.fixture
def small(write):
    return [write("small.csv", SMALL), "--truth", "y", "--score", "s"]


@pytest.fixture
def points(run, small):
    def rows(*options):
        return run("curve", *small, *options, "--format", "json").json()["rows"]

    return rows


def xy(rows):
    return [(row["x"], row["y"]) for row in rows]


def test_in_a_process_of_its_own(shell, small):
    done = shell("curve", *small, "--kind", "roc")
    assert (done.code, done.err) == (0, "")
    assert "false positive rate" in done.out


# --- data


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in TABULAR])
def test_rows_have_the_keys_of_the_contract(points, kind):
    rows = points("--kind", kind)
    assert rows
    more = {"calibration": ["highest", "cases", "hits"], "threshold": ["above"]}.get(kind, [])
    assert all(list(row) == ["x", "y", "threshold", *more, "model"] for row in rows)
    assert {row["model"] for row in rows} == {"s"}


@pytest.mark.parametrize("kind", TABULAR)
def test_tables_have_further_columns(points, kind):
    rows = points("--kind", kind)
    assert all({"x", "y", "threshold", "cases", "positives", "model"} <= row.keys() for row in rows)
    assert sum(row["cases"] for row in rows) == 6


def test_tables_are_printed_whole(run, small):
    done = run("curve", *small, "--kind", "bands(n=2)")
    assert done.code == 0
    assert "WoE" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize(("kind", "said"), [("case_cost", "needs the costs of each case"), ("capacity", "--per COL")])
def test_curves_that_need_more_say_so(run, small, kind, said):
    done = run("curve", *small, "--kind", kind)
    assert done.code == 2
    assert said in done.err


def test_costs_per_case_are_drawn(run, write, tmp_path):
    lines = [f"{line},{10 * k}" for k, line in enumerate(SMALL.splitlines()[1:])]
    data = write("paid.csv", "\n".join(["y,s,amount", *lines]) + "\n")
    flags = [data, "--truth", "y", "--score", "s", "--cost-fn", "amount", "--cost-fp", "5"]
    rows = run("curve", *flags, "--kind", "case_cost", "--format", "json").json()["rows"]
    assert xy(rows)[0] == (0, (0 + 20 + 30) / 6)
    assert xy(rows)[-1] == pytest.approx((1, 3 * 5 / 6))
    assert run("curve", *flags, "--kind", "case_cost", "--out", "c.svg").code == 0
    refused = run("curve", *flags, "--kind", "roc")
    assert (refused.code, "does not use costs" in refused.err) == (2, True)


@pytest.mark.parametrize("kind", STARTS_AT_INFINITY)
def test_the_first_threshold_is_null_for_infinity(points, kind):
    thresholds = [row["threshold"] for row in points("--kind", kind)]
    assert thresholds[0] is None
    assert None not in thresholds[1:]
    assert thresholds[1:] == sorted(thresholds[1:], reverse=True)


def test_roc(points):
    assert_allclose(xy(points("--kind", "roc")), ROC)


def test_pr_has_no_invented_first_point(points):
    # Recall and precision after each score; where nothing is predicted yet, the precision of the first.
    expected = [(0, 1), (1 / 3, 1), (1 / 3, 1 / 2), (2 / 3, 2 / 3), (1, 3 / 4), (1, 3 / 5), (1, 3 / 6)]
    assert_allclose(xy(points("--kind", "pr")), expected)


def test_gain(points):
    expected = [(0, 0), (1 / 6, 1 / 3), (2 / 6, 1 / 3), (3 / 6, 2 / 3), (4 / 6, 1), (5 / 6, 1), (1, 1)]
    assert_allclose(xy(points("--kind", "gain")), expected)


def test_hull(points):
    assert_allclose(xy(points("--kind", "hull")), [(0, 0), (0, 1 / 3), (1 / 3, 1), (1, 1)])


def test_threshold_of_a_measure_with_an_option(points):
    rows = points("--kind", "threshold", "--measure", "fbeta(beta=2)")
    found = {row["x"]: row["y"] for row in rows}
    # At 0.7: two hits, one false alarm, one miss.
    assert found[0.7] == pytest.approx(5 * 2 / (5 * 2 + 1 + 4 * 1))


def test_the_area_is_told(run, small):
    assert run("curve", *small, "--format", "json").json()["areas"] == pytest.approx({"s": 7 / 9})
    assert "area  s 0.7778" in run("curve", *small).out


def test_several_models_follow_each_other(run, asah):
    rows = run("curve", *asah, "--format", "json").json()["rows"]
    assert list(dict.fromkeys(row["model"] for row in rows)) == ["s100b", "ndka"]


def test_decisions_are_a_curve_of_three_points(run, write):
    write("crisp.csv", "y,d\n1,1\n1,1\n1,0\n0,0\n0,1\n")
    rows = run("curve", "crisp.csv", "--truth", "y", "--decision", "d", "--format", "json").json()["rows"]
    assert_allclose(xy(rows), [(0, 0), (1 / 2, 2 / 3), (1, 1)])


def test_one_class_only_leaves_gaps(run, write):
    write("one.csv", "y,s\n1,0.5\n1,0.6\n")
    done = run("curve", "one.csv", "--truth", "y", "--score", "s", "--format", "json")
    assert xy(done.json()["rows"]) == [(None, 0.0), (None, 0.5), (None, 1.0)]


# --- where it goes


def test_csv_on_the_screen(run, small):
    rows = list(csv.DictReader(io.StringIO(run("curve", *small, "--format", "csv").out)))
    assert rows[0] == {"x": "0.0", "y": "0.0", "threshold": "", "model": "s"}
    assert len(rows) == len(ROC)


@pytest.mark.parametrize("name", ["roc.csv", "roc.CSV"])
def test_csv_in_a_file(run, small, tmp_path, name):
    done = run("curve", *small, "--out", name)
    assert (done.code, done.out, done.err) == (0, "", f"curve  {name}\n")
    with (tmp_path / name).open() as file:
        assert_allclose([(float(row["x"]), float(row["y"])) for row in csv.DictReader(file)], ROC)


def test_json_in_a_file(run, small, tmp_path):
    run("curve", *small, "--out", "roc.json")
    content = json.loads((tmp_path / "roc.json").read_text())
    assert (content["schema"], content["kind"], len(content["rows"])) == (1, "roc", len(ROC))


@pytest.mark.parametrize("ending", MAGIC)
def test_pictures(run, small, tmp_path, ending):
    done = run("curve", *small, "--kind", "pr", "--out", f"pr.{ending}")
    assert (done.code, done.out) == (0, "")
    assert (tmp_path / f"pr.{ending}").read_bytes().lower().startswith(MAGIC[ending].lower())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_drawn(run, small, tmp_path, kind):
    assert run("curve", *small, "--kind", kind, "--out", "curve.svg").code == 0
    assert (tmp_path / "curve.svg").stat().st_size > 1000


def test_a_long_curve_is_shortened_on_the_screen_only(run, credit, tmp_path):
    done = run("curve", *credit, "--score", "logistic")
    assert "--out FILE.csv writes all points" in done.err
    assert len(done.out.splitlines()) < 25
    assert max(map(len, done.out.splitlines())) <= 80
    run("curve", *credit, "--score", "logistic", "--out", "roc.csv")
    assert len((tmp_path / "roc.csv").read_text().splitlines()) > 900


# --- mistakes


@pytest.mark.parametrize(
    ("options", "problem", "more"),
    [
        (["--kind", "rocc"], "CurveError: there is no curve 'rocc'.", "did you mean roc?"),
        (["--kind", "circle"], "CurveError: there is no curve 'circle'.", "scorespace curves lists them all"),
        (["--kind", "threshold", "--measure", "auc"], "MeasureError: auc covers all thresholds", "such as f1 or ppv"),
        (["--out", "curve.doc"], "DataError: 'curve.doc' has no known file extension.", ".png"),
        (["--out", "curve"], "DataError: 'curve' has no known file extension.", ".csv"),
        (["--out", "absent/curve.csv"], "DataError: the folder 'absent' for curve.csv does not exist.", "hint: "),
        (["--out", "absent/curve.png"], "DataError: the folder 'absent' for curve.png does not exist.", "hint: "),
        (["--kind", "brier", "--score", "y"], "ColumnError: ", "both truth and score"),
    ],
)
def test_mistakes(run, small, options, problem, more):
    done = run("curve", *small, *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(problem)
    assert more in done.err


def test_curves_of_probabilities_refuse_other_scores(run, asah):
    done = run("curve", *asah, "--kind", "brier")
    assert done.code == 2
    assert done.err.startswith("ScoreError: ")
    assert "seen: values from 0.03 to 2.07\n" in done.err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--band", "--kind", "cost", "--out", "c.png"], "DataError: bands are available for roc, pr, "),
        (["--band", "--out", "c.csv"], "DataError: a band has points of its own"),
        (["--band=exact"], "CurveError: --band exact is unknown."),
    ],
)
def test_a_band_that_would_not_be_drawn_is_refused(run, credit, options, problem):
    done = run("curve", *credit, "--score", "tree", *options)
    assert done.code == 2
    assert done.err.startswith(problem)


def test_bands_by_name(run, credit):
    """The simultaneous band is wider, and both are printed and in JSON."""
    asked = ["curve", *credit, "--score", "logistic", "--kind", "net_benefit"]
    both = {
        name: run(*asked, *option, "--format", "json").json()["bands"]["logistic"]
        for name, option in (("simultaneous", ["--band"]), ("pointwise", ["--band", "pointwise"]))
    }
    wide, narrow = (
        [row["high"] - row["low"] for row in both[name]["rows"][:90]] for name in ("simultaneous", "pointwise")
    )
    assert (both["simultaneous"]["simultaneous"], both["pointwise"]["simultaneous"]) == (True, False)
    assert all(a > b for a, b in zip(wide, narrow, strict=True))
    assert "95 % pointwise band of logistic" in run(*asked, "--band", "pointwise").out


def test_a_calibration_curve_by_bins(points):
    rows = points("--kind", "calibration(by=width, bins=2)")
    assert len(rows) == 2
    assert rows[0]["highest"] < 0.5 <= rows[1]["threshold"]


REFUSED = {
    ("--kind", "roc(bins=5)"): """CurveError: roc has no option 'bins'.
  seen: its options: 'normalised', 'fpr_low', 'fpr_high', 'tpr_low', 'tpr_high'
  hint: one of these
""",
    ("--kind", "calibration(bin=5)"): """CurveError: calibration has no option 'bin'.
  seen: its options: 'by', 'bins'
  hint: did you mean bins?
""",
    ("--kind", "calibration(by=size)"): """CurveError: by=size in 'calibration(by=size)' is unknown.
  seen: by can be 'isotonic', 'width', 'count'
  hint: one of these
""",
    ("--kind", "calibration(bins=few)"): """CurveError: bins=few in 'calibration(bins=few)' is not a number.
  hint: bins=10: number of bins, unless groups are isotonic
""",
    ("--kind", "threshold(measure=fbeta(beta=2)"): """CurveError: a bracket or a quote in \
'threshold(measure=fbeta(beta=2)' is not closed.
  hint: close each bracket and quote
""",
    (
        "--kind",
        "threshold(measure=ppv[1])",
    ): """MeasureError: ppv[1] names a class, but its curve is over all thresholds.
  hint: ppv
""",
    ("--measure", "f1"): """CurveError: roc has no option 'measure'.
  seen: its options: 'normalised', 'fpr_low', 'fpr_high', 'tpr_low', 'tpr_high'
  hint: one of these
""",
    ("--kind", "threshold(measure=f1)", "--measure", "ppv"): """CurveError: the option 'measure' of \
'threshold(measure=f1)' is stated twice.
  hint: each option once
""",
    ("--kind", "pr", "--learn-midpoint", "small.csv"): """CurveError: pr has no option 'midpoint'.
  seen: its options: none
  hint: write pr without options
""",
}


@pytest.mark.parametrize("options", REFUSED, ids=" ".join)
def test_an_option_that_a_kind_lacks_is_refused_with_the_options_it_has(run, small, options):
    done = run("curve", *small, *options)
    assert (done.code, done.out, done.err) == (2, "", REFUSED[options])


# What were flags once are options of one kind of curve.
FORMER = {
    ("--by", "width"): ("--by", "'calibration'", "calibration(by=width)"),
    ("--bins=5",): ("--bins", "'calibration', 'pit'", "calibration(bins=5)"),
    ("--recentre",): ("--recentre", "'smooth'", "smooth(recentre=true)"),
    ("--midpoint", "median"): ("--midpoint", "'smooth'", "smooth(midpoint=median)"),
    ("--at", "0.3"): ("--at", "'rejection'", "rejection(at=0.3)"),
}


@pytest.mark.parametrize("flag", FORMER, ids=" ".join)
def test_a_flag_that_is_an_option_of_a_curve_says_how_that_is_written(run, small, flag):
    name, kind, written = FORMER[flag]
    done = run("curve", *small, *flag)
    problem = f"CurveError: {name} is an option of the curve {kind}."
    assert (done.code, done.out, done.err) == (2, "", f'{problem}\n  hint: --kind "{written}"\n')


def test_another_unknown_flag_is_just_that(run, small):
    done = run("curve", *small, "--colour", "red")
    assert done.code == 2
    assert "No such option: --colour" in done.err


@pytest.mark.parametrize(
    "written",
    ["threshold(measure=fbeta(beta=2))", 'threshold(measure="fbeta(beta=2)")', "sweep( measure = fbeta(beta=2) )"],
)
def test_a_measure_with_an_option_is_an_option(points, written):
    assert points("--kind", written) == points("--kind", "threshold", "--measure", "fbeta(beta=2)")


def test_options_of_a_measure_may_hold_commas(points):
    found = {row["x"]: row["y"] for row in points("--kind", "threshold(measure=cost(fp=1, fn=5))")}
    assert found[0.7] == pytest.approx((1 * 1 + 5 * 1) / 6)


def test_the_content_says_what_was_asked_for(run, small):
    content = run("curve", *small, "--kind", "calibration(by=width, bins=2)", "--format", "json").json()
    assert {name: content[name] for name in ("kind", "options", "x", "y", "areas", "notes")} == {
        "kind": "calibration",
        "options": {"by": "width", "bins": 2},
        "x": "Mean score",
        "y": "Observed rate",
        "areas": {},
        "notes": [],
    }


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("calibration", "smooth")])
def test_areas_are_told_where_they_mean_something(run, small, kind):
    told = run("curve", *small, "--kind", kind, "--format", "json").json()["areas"]
    none = ("threshold", "space", "net_benefit", "snb", "avoided", "smooth_calibration", *TABULAR)
    assert bool(told) == (kind not in none)


def test_help_lists_the_kinds_and_those_with_bands(run):
    words = " ".join(run("curve", "--help-all", columns=200).out.replace("│", " ").split())
    assert ", ".join(EVERY) in words
    assert f"({', '.join(band.functions)})" in words


def test_a_calibration_picture_with_its_band(run, credit):
    done = run("curve", *credit, "--score", "tree", "--kind", "calibration", "--band", "--out", "c.svg")
    assert (done.code, done.out) == (0, "")


def test_models_without_such_a_curve_say_why(run, write):
    write("crisp.csv", "y,d\na,a\nb,b\nc,b\n")
    done = run("curve", "crisp.csv", "--truth", "y", "--decision", "d")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "CurveError: roc cannot be computed from a confusion table of 3 classes without a positive class.\n"
        "  hint: roc needs scores\n"
    )


# --- several measures, any two measures, counts, parts


def test_several_measures_over_the_threshold_in_one_table(run, small):
    found = run("curve", *small, "--kind", "threshold", "--measure", "fpr,tpr,err")
    assert "\n".join(line.rstrip() for line in found.out.splitlines()) + "\n" == (
        "\n"
        "model   above   up to   fpr      tpr      err\n"
        "s       0.9     1       0.0000   0.0000   0.5000\n"
        "s       0.8     0.9     0.0000   0.3333   0.3333\n"
        "s       0.7     0.8     0.3333   0.3333   0.5000\n"
        "s       0.4     0.7     0.3333   0.6667   0.3333\n"
        "s       0.3     0.4     0.3333   1.0000   0.1667\n"
        "s       0.1     0.3     0.6667   1.0000   0.3333\n"
        "s       0       0.1     1.0000   1.0000   0.5000\n"
    )


def test_several_measures_in_one_file(run, small, tmp_path):
    run("curve", *small, "--kind", "threshold", "--measure", "fpr, fbeta(beta=2)", "--out", "both.csv")
    with (tmp_path / "both.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["x", "y", "threshold", "above", "model", "measure"]
    assert [row["measure"] for row in rows] == ["fpr"] * 7 + ["fbeta(beta=2)"] * 7
    assert {row["model"] for row in rows} == {"s"}


def test_several_measures_in_one_picture(run, small, tmp_path):
    assert run("curve", *small, "--kind", 'threshold(measure="fpr, tpr")', "--out", "both.svg").code == 0
    drawn = (tmp_path / "both.svg").read_text()
    assert all(f">{word}<" in drawn for word in ("fpr", "tpr", "Value", "Threshold"))


def test_models_and_measures_are_told_apart(run, write):
    data = write("two.csv", "y,a,b\n1,0.9,0.2\n0,0.1,0.8\n")
    asked = ("curve", data, "--truth", "y", "--score", "a", "--score", "b", "--kind", "threshold")
    rows = run(*asked, "--measure", "tpr,fpr", "--format", "json").json()["rows"]
    seen = dict.fromkeys((row["model"], row["measure"]) for row in rows)
    assert list(seen) == [("a", "tpr"), ("b", "tpr"), ("a", "fpr"), ("b", "fpr")]


def test_any_measure_against_any_other(run, points, small):
    rows = points("--x", "fpr", "--y", "err")
    # from the highest score down: + − + + − −
    errors = [3 / 6, 2 / 6, 3 / 6, 2 / 6, 1 / 6, 2 / 6, 3 / 6]
    assert xy(rows) == [(pytest.approx(fpr), pytest.approx(err)) for (fpr, _), err in zip(ROC, errors, strict=True)]
    assert xy(points("--x", "fpr", "--y", "tpr")) == xy(points("--kind", "roc"))
    assert points("--kind", "space(x=fpr, y=err)") == rows
    found = run("curve", *small, "--x", "fpr", "--y", "err", "--format", "json").json()
    assert (found["x"], found["y"]) == ("False positive rate", "Error rate")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--x", "fpr"], "CurveError: --y is missing.\n  hint: two measures, such as --x fpr --y err\n"),
        (["--y", "fpr"], "CurveError: --x is missing.\n  hint: two measures, such as --x fpr --y err\n"),
        (
            ["--kind", "roc", "--x", "fpr", "--y", "err"],
            "CurveError: --kind and --x with --y are alternatives.\n  hint: pass one of them\n",
        ),
        (
            ["--x", "auc", "--y", "err"],
            "MeasureError: auc covers all thresholds, so it has no curve over them.\n  hint: such as f1 or ppv\n",
        ),
        (
            ["--kind", "roc(normalised=false, fpr_high=0.2)"],
            "CurveError: a partial area needs rates, not counts.\n  hint: roc(fpr_high=0.2)\n",
        ),
        (
            ["--kind", "roc(fpr_low=0.5, fpr_high=0.2)"],
            "MeasureError: fpr_low=0.5, fpr_high=0.2 is not a range of rates.\n  hint: 0 ≤ low < high ≤ 1\n",
        ),
    ],
)
def test_curves_of_measures_that_cannot_be(run, small, given, message):
    done = run("curve", *small, *given)
    assert (done.code, done.out, done.err) == (2, "", message)


def test_counts_on_the_axes(run, points, small):
    rows = points("--kind", "roc(normalised=false)")
    assert xy(rows) == [(round(3 * x), round(3 * y)) for x, y in ROC]
    shown = run("curve", *small, "--kind", "roc(normalised=false)").out
    assert "model   threshold   false positives   true positives" in shown
    assert "area" not in shown


def test_a_partial_area_is_told(run, asah, proc):
    found = run("curve", *asah, "--kind", "roc(fpr_high=0.1)", "--format", "json").json()
    theirs = next(part for part in proc["s100b"]["partial"] if part["range"] == [1, 0.9])
    told = found["roc"]["s100b"]
    assert told["fpr_high"] == 0.1
    assert [told["part"], told["corrected"]] == pytest.approx([theirs["pauc"], theirs["pauc_corrected"]], abs=1e-9)


# --- matrices


def test_a_matrix_is_a_point_in_roc_space(run, tmp_path):
    asked = ("curve", "--matrix", "c1=300 200; 500 99000")
    rows = run(*asked, "--format", "json").json()["rows"]
    assert xy(rows) == [(0, 0), (pytest.approx(500 / 99500), 0.6), (1, 1)]
    assert run(*asked, "--out", "roc.html").code == 0
    drawn = (tmp_path / "roc.html").read_text()
    assert '"type":"point"' in drawn.replace(" ", "")


def test_a_matrix_beside_a_curve(run, credit):
    asked = ("curve", *credit, "--score", "logistic", "--matrix", "clerk=150 150; 100 600", "--format", "json")
    rows = run(*asked).json()["rows"]
    assert [xy([row]) for row in rows if row["model"] == "clerk"][1] == [(pytest.approx(1 / 7), 0.5)]


def test_nothing_to_draw(run):
    done = run("curve", "--kind", "roc")
    assert (done.code, done.err) == (
        2,
        "DataError: name the data, or confusion matrices instead.\n  hint: DATA, or --matrix NAME=FILE.csv\n",
    )


# --- the common hull, and lines of equal cost


def test_the_common_hull(run, write):
    # bold is at (0, 1/3), wary at (1/3, 1); mixed, they are better than either
    data = write("two.csv", "y,bold,wary\n1,1,1\n1,0,1\n1,0,1\n0,0,1\n0,0,0\n0,0,0\n")
    asked = ("curve", data, "--truth", "y", "--decision", "bold", "--decision", "wary", "--kind", "hull")
    rows = run(*asked, "--format", "json").json()["rows"]
    common = xy([row for row in rows if row["model"] == "all together"])
    assert common == [(0, 0), (0, pytest.approx(1 / 3)), (pytest.approx(1 / 3), 1), (1, 1)]
    assert run(*asked, "--slope", "1.5").out.splitlines()[-1] == "best  wary: (0.333, 1), slope 1.5, M = 0.5"
    assert run(*asked, "--slope", "3").out.splitlines()[-1] == "best  bold: (0, 0.333), slope 3, M = 0.667"


def test_the_line_of_equal_cost(run, credit, tmp_path):
    asked = ("curve", *credit, "--score", "logistic", "--cost-fp", "1", "--cost-fn", "5")
    best = run(*asked, "--format", "json").json()["best"]
    chosen = run(
        "decide", *credit, "--score", "logistic", "--cost-fp", "1", "--cost-fn", "5", "--format", "json"
    ).json()
    assert best["threshold"] == chosen["threshold"]
    assert best["slope"] == pytest.approx(7 / 3 / 5)
    assert best["cost_per_case"] == pytest.approx(0.3 * 5 * (1 - best["y"]) + 0.7 * best["x"])
    assert run(*asked, "--out", "roc.svg").code == 0
    assert (tmp_path / "roc.svg").read_text().count("logistic") > 1  # in the legend, and beside the point


def test_lines_of_equal_cost_belong_to_roc_space(run, small):
    done = run("curve", *small, "--kind", "pr", "--slope", "2")
    assert (done.code, done.err) == (
        2,
        "CurveError: iso-cost lines exist in ROC space only, not with pr.\n  hint: --kind roc or hull\n",
    )


@pytest.mark.parametrize("kind", OF_NUMBERS)
def test_every_kind_of_predicted_numbers_is_told_and_drawn(run, tmp_path, kind):
    (tmp_path / "n.csv").write_text("y,m\n" + "".join(f"{k},{k + k % 3 - 1}\n" for k in range(20)))
    given = ("curve", str(tmp_path / "n.csv"), "--truth", "y", "--prediction", "m", "--kind", kind)
    rows = json.loads(run(*given, "--format", "json").out)["rows"]
    assert {"x", "y", "threshold", "model"} <= set(rows[0])
    assert run(*given, "--out", str(tmp_path / "n.svg")).code == 0
    assert (tmp_path / "n.svg").read_text().startswith("<svg")


def test_without_a_kind_numbers_have_the_first_of_theirs_and_other_kinds_are_refused(run, tmp_path):
    (tmp_path / "n.csv").write_text("y,m\n1,2\n2,2\n3,2\n", encoding="utf-8")
    given = ("curve", str(tmp_path / "n.csv"), "--truth", "y", "--prediction", "m")
    assert run(*given, "--format", "json").json()["kind"] in OF_NUMBERS
    for out in ([], ["--out", "roc.svg"]):
        done = run(*given, "--kind", "roc", *out)
        told = "CurveError: roc cannot be computed from numeric predictions.\n  hint: roc needs scores\n"
        assert (done.code, done.err) == (2, told)


def test_an_rroc_curve_goes_along_its_shifts(run, tmp_path):
    (tmp_path / "n.csv").write_text("y,m\n1,2\n2,2\n3,2\n", encoding="utf-8")
    out = run("curve", str(tmp_path / "n.csv"), "--truth", "y", "--prediction", "m", "--kind", "rroc").out
    assert out.split()[:4] == ["model", "shift", "over-prediction", "under-prediction"]


def test_a_threshold_sweep_of_other_scores_or_of_0_and_1_keeps_infinity(run, write):
    for scores, first, last in (("3,1,2,2", "∞", "−∞"), ("1,0,0.5,0.5", "∞", "−∞"), ("0.9,0.1,0.5,0.5", "1", "0")):
        rows = "".join(f"{k % 2},{score}\n" for k, score in enumerate(scores.split(",")))
        data = write("scores.csv", f"y,s\n{rows}")
        lines = run("curve", data, "--truth", "y", "--score", "s", "--kind", "threshold").out.split("\n")
        points = [line.split() for line in lines if line.startswith("s ")]
        assert (points[0][2], points[-1][1]) == (first, last)

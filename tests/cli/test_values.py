"""Values per case and rankings on the command line: evaluate, compare, ranks, TREC files and gates."""

import json
import math

import pytest

from oracles.load import HERE

BOARD = str(HERE / "values_leaderboard.csv")
QRELS = "q1 0 d1 0\nq1 0 d2 2\nq1 0 d3 0\nq1 0 d4 1\nq1 0 d5 0\nq2 0 d1 1\nq3 0 d9 -1\n"
RUN_A = (
    "q1 Q0 d1 1 .9 A\nq1 Q0 d2 2 .7 A\nq1 Q0 d3 3 .7 A\nq1 Q0 d4 4 .7 A\nq1 Q0 d5 5 .4 A\n"
    "q2 Q0 d7 1 3 A\nq2 Q0 d1 2 2 A\nq9 Q0 d1 1 1 A\n"
)
RUN_B = "q1\tQ0\td2\t1\t.9\tB\n\nq1 Q0 d4  2 .7 B\n"


@pytest.fixture
def trec(tmp_path):
    for name, text in {"qrels.txt": QRELS, "a.run": RUN_A, "b.run": RUN_B}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_evaluate_compare_and_ranks_show_the_same_numbers(run):
    content = json.loads(run("evaluate", BOARD, "--value", "m*", "--format", "json").out)
    rows = content["rows"]
    means = {row["model"]: (row["value"], row["low"], row["high"]) for row in rows if row["measure"] == "mean"}
    board = json.loads(run("ranks", BOARD, "--value", "m*", "--format", "json").out)
    assert {row["model"]: (row["value"], row["low"], row["high"]) for row in board["rows"]} == means
    assert content["leaderboard"]["rows"] == board["rows"]
    assert [row["letters"] for row in board["rows"]] == ["a", "ab", "bc", "c", "c"]
    pairs = json.loads(run("compare", BOARD, "--value", "m*", "--format", "json").out)["rows"]
    assert [(row["a"], row["b"], row["low"]) for row in pairs] == [
        (row["a"], row["b"], row["low"]) for row in board["pairs"]
    ]


def test_a_gate_on_values(run):
    assert run("evaluate", BOARD, "--value", "m4", "--require", "mean>=3.5").code == 0
    failed = run("evaluate", BOARD, "--value", "m0,m4", "--require", "mean>=3.5")
    assert failed.code == 1
    assert failed.err.startswith("requirement failed: m0 mean is 2.752500")
    assert run("evaluate", BOARD, "--value", "m0", "--lower-is-better", "--require", "mean<=2.8").code == 0


def test_ranks_of_values_in_other_formats(run, tmp_path):
    text = run("ranks", BOARD, "--value", "m0,m1,m2", "--format", "markdown").out
    assert "| letters |" in text
    assert "joint intervals" in text
    run("ranks", BOARD, "--value", "m0,m1,m2", "--out", str(tmp_path / "b.svg"), "--report", str(tmp_path / "r.html"))
    assert "<svg" in (tmp_path / "b.svg").read_text()
    assert "Leaderboard" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("ranks", BOARD, "--value", "m0,m1"), "at least three models"),
        (("ranks", BOARD, "--value", "m0,m1,m2", "--control", "m0"), "--control is for results over data sets"),
        (("ranks", BOARD, "--group", "m0"), "--group is for values per case"),
        (("evaluate", BOARD, "--value", "m9"), "m9"),
        (("evaluate", BOARD, "--value", "m0", "--truth", "m1"), "--truth"),
        (("evaluate", BOARD, "--value", "m0", "--scale", "1..2"), "outside the stated range"),
        (("evaluate", BOARD, "--score", "m0", "--truth", "m1", "--lower-is-better"), "values per case"),
        (("compare", BOARD, "--value", "m0,m1,m2", "--adjust", "max_t", "--test", "bootstrap"), "max_t"),
        (("compare", BOARD, "--value", "m0,m1", "--adjust", "max_t"), "at least three models"),
    ],
)
def test_what_is_wrong_is_said(run, arguments, text):
    found = run(*arguments)
    assert found.code == 2
    assert text in found.err
    assert "Traceback" not in found.err


def test_trec_files(run, trec):
    content = json.loads(
        run(
            *("evaluate", f"{trec}/a.run,{trec}/b.run", "--qrels", str(trec / "qrels.txt"), "--format", "json"),
            *("--measures", "ndcg@3,rr,ap[query],tpr@top3[query]"),
        ).out
    )
    found = {(row["model"], row["measure"]): row["value"] for row in content["rows"]}
    # The first query is the worked example; in the second, A finds the document at rank 2 and B returns nothing.
    assert found["A", "ndcg"] == pytest.approx((0.415295 + 1 / math.log2(3)) / 2, abs=1e-6)
    assert found["A", "rr"] == pytest.approx((4 / 9 + 1 / 2) / 2)
    assert found["A", "ap"] == pytest.approx((0.5 + 0.5) / 2)
    assert found["A", "tpr"] == pytest.approx((2 / 3 + 1) / 2)
    assert found["B", "rr"] == pytest.approx(1 / 2)
    assert "SS184" in {note["code"] for note in content["notes"]}  # q3 has none but a negative grade


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ({"a.run": "q1 Q0 d1 1 .9\n"}, "is not a TREC run file"),
        ({"a.run": "q1 Q0 d1 1 x A\n"}, "score that is not a number"),
        ({"a.run": "q1 Q0 d1 1 1 A\nq1 Q0 d1 2 1 A\n"}, "twice"),
        ({"a.run": "q7 Q0 d1 1 1 A\n"}, "no query of the runs has relevance judgements"),
        ({"qrels.txt": ""}, "is not a TREC qrels file"),
        ({"qrels.txt": "q1 0 d1 1\nq1 0 d1 0\n"}, "twice"),
    ],
)
def test_what_is_wrong_with_trec_files_is_said(run, trec, files, text):
    for name, content in files.items():
        (trec / name).write_text(content)
    found = run("evaluate", str(trec / "a.run"), "--qrels", str(trec / "qrels.txt"))
    assert found.code == 2
    assert text in found.err


def test_runs_with_the_same_tag_are_named_by_their_files(run, trec):
    (trec / "b.run").write_text(RUN_B.replace("B", "A"))
    found = run("compare", str(trec / "*.run"), "--qrels", str(trec / "qrels.txt"), "--format", "json").out
    (row,) = json.loads(found)["rows"]
    assert (row["a"], row["b"]) == ("a", "b")


@pytest.fixture
def queries(tmp_path):
    rows = [f"q{q},{'de' if q % 2 else 'fr'},{int(d == q % 3)},{d * 7 % 5},{-d}" for q in range(20) for d in range(4)]
    (tmp_path / "search.csv").write_text("\n".join(["query,lang,rel,x,y", *rows]), encoding="utf-8")
    return ("search.csv", "--truth", "rel", "--query", "query", "--score", "x,y")


def test_slices_of_rankings_have_whole_queries(run, queries):
    found = run("evaluate", *queries, "--by", "lang", "--measures", "ndcg@3,rr", "--format", "json").json()["slices"]
    assert found["verdict"].startswith("By lang, no slice is clearly worse than the rest in ndcg@3 or rr")
    done = run("evaluate", *queries, "--by", "y")
    assert done.code == 2
    assert "divides the documents of a query" in done.err


def test_no_relevant_document_at_all(run, queries, tmp_path):
    text = (tmp_path / "search.csv").read_text()
    (tmp_path / "search.csv").write_text(text.replace(",1,", ",0,"))
    done = run("evaluate", *queries)
    assert done.code == 0, done.err
    assert "no query has a relevant document" in done.out
    assert run("compare", *queries).code == 0


def test_a_single_case_has_one_verdict(run, tmp_path):
    (tmp_path / "one.csv").write_text("a,b\n0.5,0.6\n")
    found = run("evaluate", "one.csv", "--value", "a,b").out
    assert "p = 1.000" in found
    assert "No clear difference in mean: b 0.600, a 0.500 (+0.100, p = 1.000)." in found


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("evaluate", "--value", "m0", "--scale", "9..0"), "9..0 is no range of values"),
        (("evaluate", "--value", "m0", "--scale", "0..nan"), "0..nan is no range of values"),
        (("evaluate", "--value", "m0", "--baseline", "m1"), "there are no predictions of numbers"),
        (("compare", "--value", "m0"), "repeat it: --value a --value b"),
    ],
)
def test_options_that_do_not_fit(run, words, message):
    done = run(words[0], BOARD, *words[1:])
    assert done.code == 2
    assert message in " ".join(done.err.split())


def test_every_item_with_as_many_runs_has_one_number_of_them(run, tmp_path):
    rows = [f"i{k // 2},r{k % 3},{k * 7 % 11}" for k in range(20)]
    (tmp_path / "runs.csv").write_text("\n".join(["item,run,a", *rows]))
    found = run("evaluate", "runs.csv", "--value", "a", "--group", "item", "--repeat", "run", "--notes").out
    assert "means of 10 items with 2 values each" in " ".join(found.split())


def test_repeated_passes_stay_between_0_and_1(run, tmp_path):
    rows = [f"i{k // 3},r{k % 3},{int(k % 7 != 0)}" for k in range(60)]
    (tmp_path / "passes.csv").write_text("\n".join(["item,run,a", *rows]))
    words = ("--value", "a", "--group", "item", "--repeat", "run", "--format", "json")
    rows = run("evaluate", "passes.csv", *words).json()["rows"]
    limits = [row[side] for row in rows for side in ("low", "high") if row[side] is not None]
    assert limits
    assert all(0 <= limit <= 1 for limit in limits)


def test_values_have_no_threshold_and_no_prevalence(run, write):
    data = write("values.csv", "a,b\n" + "".join(f"0.{k},0.{9 - k}\n" for k in range(1, 9)))
    for given in (["--prevalence", "0.1"], ["--at", "0.5"], ["--cost-fp", "1", "--cost-fn", "2"]):
        done = run("evaluate", data, "--value", "a,b", *given)
        assert done.code == 2
        assert "does not go with values per case, which have no classes." in done.err

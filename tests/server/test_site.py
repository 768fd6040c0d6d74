"""What is at which address, asked of a real server."""

import csv
import html
import io
import json
import re
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote, urlencode

import pytest

from server.conftest import CREDIT

HOSTILE = "<script>alert(1)</script>"


def report(client, **words):
    return client.get("/report", **words)


def test_home_lists_the_files_of_the_folder_and_the_demo(client):
    page = client.get().text
    assert "credit.csv" in page
    assert "file=demo%2Fgerman_credit.csv" in page
    assert "up to 200 MB" in page
    assert "secret" not in page
    assert "notes.md" not in page
    assert client.get("/card", file="credit.csv").text == '{"text":"1 000 rows · 6 columns"}'


def test_the_set_up_proposes_roles_with_reasons(client):
    page = client.get("/setup", file="credit.csv").text
    assert "Compare 3 scores with outcome (positive: bad), 1 000 rows." in page
    assert '<option value="truth:outcome" selected>' in page
    assert "numbers between 0 and 1" in page
    assert page.count("<tr>") == 21
    assert page.count('<svg class="spark"') == 6


@pytest.mark.parametrize(
    ("content", "words", "problem", "fix"),
    [
        ("y,s\nja,0.5\nnein,0.2\n", {"truth": "y", "score": "s"}, "positive class", "Take ja as positive"),
        ("y,s\n1,0.5\n0,\n0,0.1\n", {"truth": "y", "score": "s"}, "missing values", "Leave out 1 rows with gaps"),
        (
            "y,s\n1,85\n0,20\n",
            {"truth": "y", "score": "s"},
            "between 20 and 85",
            "Scores run from 0 to 100: use the scale",
        ),
        ("y,s\n1,0.5\n0,0.2\n", {"score": "s"}, "holds the truth", "Take y as truth"),
        ("y,s\n1,0.5\n0,0.2\n", {"truth": "y"}, "hold scores", "Take s as score"),
        (
            "y,s\n1,0.5\n0,0.2\n",
            {"truth": "y", "score": "s", "cost-fp": "x"},
            "“Cost of a false positive” x",
            "Leave out the costs",
        ),
        ("y,s\n1,0.5\n0,0.2\n", {"truth": "y", "score": "s", "where": "t > 1"}, "t", "Use all rows"),
        ("y,s\n1,0.5\n0,a\n", {"truth": "y", "score": "s"}, "s", "Do not use s as score"),
    ],
)
def test_each_problem_has_its_fix_as_a_button_in_the_words_of_the_page(client, folder, content, words, problem, fix):
    (folder / "case.csv").write_text(content)
    try:
        page = html.unescape(client.get("/check", file="case.csv", **words).text)
        assert problem in page
        assert fix in page
        shown = " ".join(re.findall(r"<p>(.*?)</p>", page))
        assert "--" not in shown
        assert '="' not in shown
        (query,) = re.findall(rf'href="/setup\?([^"]*)">{fix}', page)
        fixed = client.ask("GET", f"/check?{query}").text
        assert fix not in html.unescape(fixed)
    finally:
        (folder / "case.csv").unlink()


def test_one_address_for_each_view(client):
    reply = client.get(
        "/view", file="credit.csv", role=["score:tree", "truth:outcome"], positive="bad", x="1", weight=""
    )
    assert (reply.status, reply.headers["Location"]) == (
        303,
        "/view?file=credit.csv&truth=outcome&positive=bad&score=tree",
    )


def test_a_large_file_gets_a_limit_of_its_memory(client, folder):
    with (folder / "large.csv").open("wb") as file:
        file.truncate(201_000_000)  # a hole: nothing is read before the redirect
    reply = client.get("/view", file="large.csv", truth="y", score="s")
    (folder / "large.csv").unlink()
    assert reply.headers["Location"] == "/view?file=large.csv&truth=y&score=s&memory=400MB"


@pytest.mark.parametrize(("cell", "number"), [("tp", 149), ("fp", 96), ("fn", 151), ("tn", 604)])
def test_the_rows_behind_a_cell(client, folder, cell, number):
    """149, 96, 151 and 604 as plain Python counts them in the file."""
    words = {**CREDIT, "model": "naive_bayes", "cell": cell, "threshold": 0.5}
    rows = list(csv.DictReader(io.StringIO(client.get("/rows.csv", **words).text)))
    with open(folder / "credit.csv", newline="") as file:
        every = list(csv.DictReader(file))
    flagged, bad = cell in ("tp", "fp"), cell in ("tp", "fn")
    wanted = [
        one for one in every if (float(one["naive_bayes"]) >= 0.5) == flagged and (one["outcome"] == "bad") == bad
    ]
    assert len(rows) == len(wanted) == number
    assert sorted(row["id"] for row in rows) == sorted(row["id"] for row in wanted)


def test_rows_are_sorted_searched_and_paged(client, folder):
    words = {**CREDIT, "model": "tree", "low": 0.5}
    first = client.get("/rows", **words, sort="logistic").text
    second = client.get("/rows", **words, sort="logistic", page=2).text
    with open(folder / "credit.csv", newline="") as file:
        every = [one for one in csv.DictReader(file) if float(one["tree"]) >= 0.5]
    expected = sorted(every, key=lambda one: float(one["logistic"]))
    for page, rows in ((first, expected[:50]), (second, expected[50:100])):
        assert re.findall(r'<th scope="row">(\d+)</th>', page) == [one["id"] for one in rows]
    found = client.get("/rows", **words, search="BAD").text
    assert f"{sum(one['outcome'] == 'bad' for one in every)} rows" in found
    assert client.get("/rows", **words, sort="x; drop").status == 400


def test_hard_cases_are_the_largest_errors_first(client, folder):
    words = {**CREDIT, "model": "naive_bayes", "threshold": 0.5, "hard": 1}
    rows = list(csv.DictReader(io.StringIO(client.get("/rows.csv", **words).text)))
    with open(folder / "credit.csv", newline="") as file:
        every = list(csv.DictReader(file))
    wrong = {one["id"]: abs(float(one["naive_bayes"]) - 0.5) for one in every
             if (float(one["naive_bayes"]) >= 0.5) != (one["outcome"] == "bad")}  # fmt: skip
    assert len(rows) == len(wrong) == 96 + 151
    sizes = [wrong[row["id"]] for row in rows]
    assert sizes == sorted(sizes, reverse=True)


def test_text_of_the_data_is_text_and_no_cell_of_an_export_is_a_formula(client, folder):
    name = f"{HOSTILE}\"'&.csv".replace("/", "")
    (folder / name).write_text(f'"{HOSTILE}","a""><img>",y,s\n' + f'=1+1,x,1,0.5\n"{HOSTILE}",y,0,0.25\n' * 5)
    try:
        words = {"file": name, "truth": "y", "score": "s"}
        for page in (client.get(), client.get("/setup", **words), client.get("/rows", **words)):
            assert page.status == 200
            assert "<script>alert" not in page.text
            assert "<img" not in page.text
        assert "'=1+1" in client.get("/rows.csv", **words).text
    finally:
        (folder / name).unlink()


@pytest.mark.parametrize(
    ("path", "words", "status", "message"),
    [
        ("/setup", {"file": "../secret.csv"}, 400, "There is no data file '../secret.csv'"),
        ("/view", {**CREDIT, "costs": "../secret.csv"}, 400, "There is no data file '../secret.csv'"),
        ("/view", {**CREDIT, "costs": "leads_out.csv"}, 400, "There is no data file 'leads_out.csv'"),
        ("/view", {**CREDIT, "baseline": "../secret.csv"}, 400, "There is no data file"),
        ("/saved", {"name": "../secret.json"}, 400, "There is no saved report"),
        ("/rows", {**CREDIT, "where": "id > 5000"}, 400, "is true for no row."),
        ("/rows", {**CREDIT, "model": "<b>"}, 400, "There is no model '<b>'."),
        ("/rows", {**CREDIT, "low": "x"}, 400, "is no number."),
        ("/rows.csv", {"file": "leads_out.csv", "truth": "y", "score": "s"}, 400, "There is no data file"),
        ("/report", {}, 400, "There is no evaluation yet."),
        ("/nowhere", {}, 404, "There is nothing at this address."),
        ("/../../etc/passwd", {}, 404, "There is nothing at this address."),
        ("/static/../site.py", {}, 404, "There is nothing at this address."),
    ],
)
def test_mistakes_are_told_without_flags(client, path, words, status, message):
    reply = client.ask("GET", f"{path}?{urlencode(words, doseq=True)}")
    assert reply.status == status
    assert message in html.unescape(reply.text)
    assert "Traceback" not in reply.text
    assert "--" not in re.sub("<[^>]*>", "", reply.text)


def test_a_failed_evaluation_leads_back_to_the_set_up_with_its_reason(client):
    words = {**CREDIT, "by": "naive_bayes", "measures": "auc"}
    assert client.get("/report", **words).status == 400
    page = html.unescape(client.get("/setup", **words, failed=1).text)
    assert "Column 'naive_bayes' has too many values to slice by." in page
    assert "Do not use naive_bayes as slice by" in page


def test_save_keeps_report_and_evaluation_and_never_replaces_a_file(client, folder):
    words = {**CREDIT, "measures": "auc"}
    address = quote(urlencode(words, doseq=True))
    reply = client.ask("POST", "/save", f"address={address}&name=mine.html")
    assert json.loads(reply.text) == {"saved": "mine.html", "next": "mine-2.html"}
    try:
        assert (folder / "mine.html").read_bytes() == client.get("/report", **words, download=1).body
        assert "mine.json" in client.get().text
        opened = client.get("/saved", name="mine.json")
        assert opened.headers["Content-Security-Policy"].startswith("sandbox allow-scripts;")
        for name in ("mine.html", "credit.csv", "../out.html"):
            assert client.ask("POST", "/save", f"address={address}&name={name}").status == 400
        compared = report(client, **words, baseline="mine.json")
        assert "What changed since the baseline?" in compared.text
        assert "What changed since the baseline?" in report(client, **words, against="demo/german_credit.csv").text
    finally:
        (folder / "mine.html").unlink()
        (folder / "mine.json").unlink()


def test_progress_comes_as_events_and_an_evaluation_can_be_stopped(client):
    words = {**CREDIT, "score": "logistic", "measures": "h, ks, mcc@0.3"}
    address = urlencode(words, doseq=True)
    assert 'id="working"' in client.get("/view", **words).text
    assert client.ask("POST", "/stop", address).status == 200
    events = client.get("/events", **words).text
    assert "event: progress" in events
    assert events.rstrip().endswith("event: done\ndata: {}") or "event: failed" in events


def test_uploads_and_copies(client):
    content = b"y,s\n1,0.9\n0,0.2\n1,0.7\n0,0.4\n"
    reply = client.ask("PUT", "/upload?name=four.csv", content)
    assert json.loads(reply.text) == {"address": "/setup?file=uploads%2Ffour.csv"}
    assert "Evaluate 1 score with y (positive: 1), 4 rows." in client.get("/setup", file="uploads/four.csv").text
    words = {"file": "uploads/four.csv", "truth": "y", "score": "s"}
    copied = json.loads(client.get("/copy", **words, fragment="model=s&at=0.5").text)
    assert copied["command"] == "scorespace evaluate four.csv --truth y --score s --at 0.5 --report four.html"
    assert "threshold" in copied["python"]


def test_fifty_pages_and_ten_evaluations_at_once_are_not_mixed_up(client):
    """Each of ten views has its own condition, which its report must state."""
    views = [{**CREDIT, "score": "tree", "measures": "auc", "where": f"id > {number}"} for number in range(10, 20)]
    with ThreadPoolExecutor(60) as pool:
        reports = [pool.submit(report, client, **view) for view in views]
        pages = [pool.submit(client.get, "/setup" if number % 2 else "/", file="credit.csv") for number in range(50)]
        assert {page.result().status for page in pages} == {200}
        for view, found in zip(views, reports, strict=True):
            assert found.result().status == 200
            assert f"included: {view['where']}." in html.unescape(found.result().text)

"""What is at which address, asked of a real server."""

import csv
import io
import re
from urllib.parse import quote, urlencode

import pytest

from scorespace.server import site
from server.conftest import CREDIT


@pytest.fixture(scope="module")
def credit(client):
    """The page of the bundled predictions."""
    return client.page(**CREDIT)


def test_without_a_file_the_folder_is_shown(client):
    page = client.get().text
    assert "Choose one of 2 data files above." in page
    assert "<option>credit.csv</option><option>iris.csv</option>" in page
    assert "secret" not in page
    assert "notes.txt" not in page


def test_a_file_without_roles_gets_a_proposal_and_no_evaluation(client):
    page = client.get(file="credit.csv").text
    assert "Say above which column is what, then evaluate." in page
    assert 'value="outcome" aria-label="truth: outcome" checked' in page
    assert "ranks best" not in page


def test_the_page_of_a_file(credit):
    assert credit.status == 200
    assert " ranks best, with AUC 0." in credit.text
    assert (
        "scorespace evaluate credit.csv --truth outcome --positive bad --score naive_bayes --score tree" in credit.text
    )
    assert "Save into the folder" in credit.text
    assert "<i>positive</i> bad" in credit.text


def test_the_address_says_no_more_than_it_must(client):
    reply = client.get(**CREDIT, weight="", group="", token_="x")
    assert reply.status == 303
    assert reply.headers["Location"] == "/?file=credit.csv&truth=outcome&positive=bad&score=naive_bayes&score=tree"
    assert client.get(**CREDIT, choose=1).status == 200


@pytest.mark.parametrize(("cell", "number"), [("tp", 149), ("fp", 96), ("fn", 151), ("tn", 604)])
def test_the_rows_behind_a_cell(client, cell, number):
    """149, 96, 151 and 604 as plain Python counts them in the file."""
    words = {**CREDIT, "model": "naive_bayes", "cell": cell, "threshold": 0.5}
    rows = list(csv.DictReader(io.StringIO(client.get("/rows.csv", **words).text)))
    with open(client.server.folder.root / "credit.csv", newline="") as file:
        every = list(csv.DictReader(file))
    flagged, bad = cell in ("tp", "fp"), cell in ("tp", "fn")
    wanted = [
        one for one in every if (float(one["naive_bayes"]) >= 0.5) == flagged and (one["outcome"] == "bad") == bad
    ]
    assert len(rows) == len(wanted) == number
    assert sorted((row["id"], row["logistic"]) for row in rows) == sorted(
        (row["id"], row["logistic"]) for row in wanted
    )
    scores = [float(row["naive_bayes"]) for row in rows]
    assert scores == sorted(scores, reverse=True)


def test_rows_and_slices_as_the_address_says(client):
    words = {**CREDIT, "where": "naive_bayes < 0.9", "by": "id(bins=2)", "measures": "auc"}
    page = client.page(**words)
    assert page.status == 200
    assert "rows take part: naive_bayes &lt; 0.9." in page.text
    assert "For which cases are the models worse?" in page.text
    assert "<i>where</i> naive_bayes &lt; 0.9" in page.text
    rows = client.get("/rows.csv", **words, model="naive_bayes", cell="tp", threshold=0.5).text
    with open(client.server.folder.root / "credit.csv", newline="") as file:
        every = [(one["outcome"], float(one["naive_bayes"])) for one in csv.DictReader(file)]
    assert len(rows.splitlines()) == 1 + sum(y == "bad" and 0.5 <= score < 0.9 for y, score in every)
    shown = client.get("/rows", **words, low=0.5).text
    assert '<input type="hidden" name="where" value="naive_bayes &lt; 0.9">' in shown


def test_a_file_of_costs_in_the_folder(client, folder):
    (folder / "costs.csv").write_text(",good,bad\ngood,0,1\nbad,5,0\n")
    try:
        page = client.page(**CREDIT, costs="costs.csv", measures="auc")
        (folder / "costs.csv").write_text(",good,bad\ngood,0,1\nbad,7,0\n")
        changed = client.page(**CREDIT, costs="costs.csv", measures="auc")
    finally:
        (folder / "costs.csv").unlink()
    assert "Use " in page.text
    assert "Use " in changed.text
    assert page.body != changed.body  # the costs are part of what is remembered


def test_a_page_of_rows_shows_the_first_hundred(client):
    page = client.get("/rows", **CREDIT, model="naive_bayes", cell="tp", threshold=0.5).text
    assert "Hits of naive_bayes at 0.5" in page
    assert "149 rows, of which 100 are shown." in page
    assert len(re.findall('<th scope="row">\\d+</th>', page)) == 100
    assert "/rows.csv?file=credit.csv&amp;truth=outcome" in page
    ranged = client.get("/rows", **CREDIT, low=0.99, high=1).text
    assert "Rows by naive_bayes, scores from 0.99 to 1" in ranged


@pytest.mark.parametrize(
    ("path", "words", "status", "message"),
    [
        ("/", {"file": "../secret.csv"}, 400, "There is no data file &#39;../secret.csv&#39;"),
        ("/", {**CREDIT, "truth": "outcom"}, 400, "Column &#39;outcom&#39; is not in credit.csv"),
        ("/", {**CREDIT, "where": "id >"}, 400, "Hint: "),
        ("/", {**CREDIT, "where": "idd > 5"}, 400, "idd"),
        ("/rows", {**CREDIT, "where": "id > 5000"}, 400, "holds for no row."),
        ("/", {**CREDIT, "by": "naive_bayes"}, 400, "Column &#39;naive_bayes&#39; has too many values to slice by."),
        ("/", {**CREDIT, "costs": "../secret.csv"}, 400, "There is no data file &#39;../secret.csv&#39;"),
        ("/", {**CREDIT, "costs": "leads_out.csv"}, 400, "There is no data file &#39;leads_out.csv&#39;"),
        ("/", {**CREDIT, "costs": "iris.csv"}, 400, "is not square."),
        ("/", {**CREDIT, "cost-fp": "1"}, 400, "The costs of both errors are needed."),
        ("/rows", {**CREDIT, "model": "<b>"}, 400, "There is no model &#39;&lt;b&gt;&#39;."),
        ("/rows", {**CREDIT, "low": "x"}, 400, "Low &#39;x&#39; is no number."),
        ("/rows.csv", {"file": "leads_out.csv", "truth": "y", "score": "s"}, 400, "There is no data file"),
        ("/report.html", {}, 400, "Nothing is evaluated yet."),
        ("/nowhere", {}, 404, "There is nothing at this address."),
        ("/../../etc/passwd", {}, 404, "There is nothing at this address."),
    ],
)
def test_mistakes_are_told_on_a_page_with_the_bar_open(client, path, words, status, message):
    reply = client.page(path, **words)
    assert reply.status == status
    assert message in reply.text
    assert "<details open>" in reply.text
    assert "Traceback" not in reply.text


def test_the_report_is_the_one_of_the_command_line(client, credit):
    reply = client.get("/report.html", **CREDIT)
    assert reply.headers["Content-Disposition"] == "attachment; filename*=UTF-8''credit.html"
    assert "Save into the folder" not in reply.text
    assert "rowsAt" not in reply.text
    assert "This page holds summaries and no rows of the data" in reply.text


def test_save_into_the_folder_and_never_over_a_file(client, credit, folder):
    address = quote(urlencode(CREDIT, doseq=True))
    saved = client.ask("POST", "/save", f"address={address}&name=mine.html")
    assert "mine.html is in the folder." in saved.text
    assert (folder / "mine.html").read_bytes() == client.get("/report.html", **CREDIT).body
    for name in ("mine.html", "credit.csv", "../out.html", "iris.csv"):
        reply = client.ask("POST", "/save", f"address={address}&name={name}")
        assert reply.status == 400
    assert (folder / "credit.csv").stat().st_size == 39522
    assert not (folder.parent / "out.html").exists()
    (folder / "mine.html").unlink()


def test_while_it_works_the_page_says_so_and_can_be_stopped(client, monkeypatch):
    monkeypatch.setattr(site, "PATIENCE", 0.01)
    words = {**CREDIT, "score": "logistic", "measures": "h, ks, mcc@0.3"}
    first = client.get(**words)
    assert (first.status, first.headers["Refresh"]) == (202, "1")
    assert "This page looks again every second." in first.text
    assert ">Stop</button>" in first.text
    address = quote(urlencode(words, doseq=True))
    reply = client.ask("POST", "/stop", f"address={address}")
    assert reply.status == 303
    assert reply.headers["Location"].endswith("&choose=1")
    assert all(job.asked.one("measures") != words["measures"] for job in client.server.site.work._jobs.values())

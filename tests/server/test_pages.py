"""Pages: text from data is text, the bar holds what the address says, and rows come as they stand in the file."""

import csv
import io

from scorespace.frames.behind import Wanted, behind
from scorespace.server import pages
from scorespace.server.asked import Asked
from scorespace.server.folder import open_folder
from scorespace.server.proposal import look, propose
from scorespace.views.document import Text

HOSTILE = "<script>alert(1)</script>"
ROLES = {"truth": "y", "positive": None, "scores": ["s"], "decisions": [], "predictions": []}


def shown(folder, file, **options):
    seen = look(str(folder / file))
    found = propose(file, seen.columns)
    return pages.bar(open_folder(folder), found.asked, (seen, found), **options)


def test_the_bar_of_a_proposal(folder):
    html = shown(folder, "credit.csv", open=True)
    assert '<input type="radio" name="truth" value="outcome" aria-label="truth: outcome" checked>' in html
    assert '<input type="checkbox" name="score" value="tree" aria-label="score: tree" checked>' in html
    assert "score: numbers between 0 and 1" in html
    assert "Judged by all 1 000 rows." in html
    assert '<optgroup label="outcome"><option>good</option><option>bad</option></optgroup>' in html
    assert "Save into the folder" not in html


def test_what_the_address_says_and_no_field_shows_is_kept(folder):
    seen = look(str(folder / "credit.csv"))
    asked = Asked.of("credit.csv", {"score": ["votes=sum(d*)"], "cost-tp": ["-1"]})
    html = pages.bar(open_folder(folder), asked, (seen, propose("credit.csv", seen.columns)))
    assert 'name="score" value="votes=sum(d*)" aria-label="score: votes=sum(d*)" checked>' in html
    assert '<input type="hidden" name="cost-tp" value="-1">' in html


def test_rows_slices_and_costs_are_chosen_in_the_bar(folder):
    seen = look(str(folder / "credit.csv"))
    proposal = propose("credit.csv", seen.columns)
    html = pages.bar(open_folder(folder), proposal.asked, (seen, proposal))
    assert '<input type="checkbox" name="by" value="id(bins=4)" aria-label="by: id(bins=4)"> (bins=4)</td>' in html
    assert '<input type="checkbox" name="by" value="fold" aria-label="by: fold"></td>' in html
    assert '<select name="costs"><option value="">none</option><option>iris.csv</option></select>' in html
    said = {"where": ["outcome = 'bad' & \"<b>\""], "by": ["id(bins=7)", "fold", "nowhere"], "costs": ["iris.csv"]}
    html = pages.bar(open_folder(folder), Asked.of("credit.csv", said), (seen, proposal))
    assert 'value="outcome = &#39;bad&#39; &amp; &#34;&lt;b&gt;&#34;"' in html
    assert 'name="by" value="id(bins=7)" aria-label="by: id(bins=7)" checked> (bins=7)</td>' in html
    assert 'name="by" value="fold" aria-label="by: fold" checked></td>' in html
    assert 'name="by" value="nowhere" aria-label="by: nowhere" checked></td>' in html  # to be unticked
    assert "<option selected>iris.csv</option></select></label>" in html


def test_no_text_of_the_data_becomes_a_part_of_the_page(tmp_path):
    name = f"{HOSTILE}\"'&.csv".replace("/", "")
    (tmp_path / name).write_text(f'"{HOSTILE}","a""><img>",y,s\n' + f'"{HOSTILE}",x,1,0.5\n"{HOSTILE}",y,0,0.25\n' * 5)
    html = shown(tmp_path, name, open=True, ready=True)
    assert "<script" not in html
    assert "<img" not in html
    found = behind(str(tmp_path / name), ROLES, Wanted("s"))
    page = pages.rows_page(html, HOSTILE, found, 3).decode()
    assert HOSTILE not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 3
    error = pages.error_blocks({"problem": HOSTILE, "seen": HOSTILE, "hint": ""})
    assert HOSTILE not in pages.page("", "x", error).decode()


def test_rows_are_shown_short_and_written_whole(tmp_path):
    (tmp_path / "a.csv").write_text('id,y,s,t\n007,1,0.50,"a,\nb"\n008,0,0.25,=1+1\n009,1,0.75,' + "x" * 300 + "\n")
    found = behind(str(tmp_path / "a.csv"), ROLES, Wanted("s"))
    page = pages.rows_page("", "Rows", found, 2).decode()
    assert "3 rows, of which 2 are shown." in page
    assert "x" * 200 + "…" in page
    assert "x" * 201 not in page
    whole = b"".join(pages.rows_csv(found)).decode()
    assert list(csv.reader(io.StringIO(whole))) == [
        ["row", "id", "y", "s", "t"],
        ["3", "009", "1", "0.75", "x" * 300],
        ["1", "007", "1", "0.50", "a,\nb"],
        ["2", "008", "0", "0.25", "=1+1"],
    ]


def test_what_is_around_a_page_is_not_in_a_report():
    page = pages.page("<b>bar</b>", "Title", [Text("words")], command="scorespace evaluate a.csv").decode()
    assert page.index("<b>bar</b>") < page.index("Title</h1>")
    assert "served on your own computer" in page
    assert "<code>scorespace evaluate a.csv</code>" in page
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page


def test_a_kept_page_gets_the_bar_of_now():
    kept = f"<body>{pages.SLOT}<p>{pages.SLOT}</p>".encode()
    assert pages.filled(kept, "<b>é</b>").decode() == f"<body><b>é</b><p>{pages.SLOT}</p>"
    assert pages.around("x").script == ""
    assert Asked().query == ""

"""The page in a real browser: from a file to a saved report, by mouse and keyboard; nothing leaves the computer."""

import random
import re

import pytest


@pytest.fixture
def window(client, chromium):
    """A window of the browser that has the key, watched."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(client.server.auth.address)
    yield page
    context.close()


@pytest.fixture(scope="module")
def cases(folder):
    """A clinical file with gaps, a regression file, and a file of raters."""
    draw = random.Random(1)
    rows = [(draw.random(), draw.random()) for _ in range(300)]
    texts = {
        "clinical.csv": "patient,sex,sepsis,model_a,model_b\n"
        + "".join(
            f"{k // 2},{'fm'[k % 2]},{'yes' if a + b > 1.2 else 'no'},{a:.3f},{'' if k % 25 == 0 else f'{b:.3f}'}\n"
            for k, (a, b) in enumerate(rows)
        ),
        "prices.csv": "actual,predicted_a\n" + "".join(f"{100 * a:.2f},{100 * a + 9 * b:.2f}\n" for a, b in rows),
        "films.csv": "ann,ann_score,bob,bob_score\n"
        + "".join(
            f"{'yes' if a > 0.5 else 'no'},{a:.2f},{'yes' if a + b > 1 else 'no'},{(a + b) / 2:.2f}\n" for a, b in rows
        ),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    yield
    for name in texts:
        (folder / name).unlink()


def evaluated(page):
    """The report in its frame, once it is there."""
    page.wait_for_selector("#frame:not([hidden])", timeout=60_000)
    frame = page.frame_locator("#frame")
    frame.locator("h1").wait_for(timeout=60_000)
    return frame


def test_from_the_first_page_to_a_saved_report_with_the_rows_behind_a_cell(window, client, folder):
    page = window
    assert "token" not in page.url
    page.locator("a.card[data-card='file=credit.csv']").first.click()
    page.get_by_label("Role of logistic").select_option("")
    page.get_by_label("Role of fold").select_option("")
    page.get_by_text("Compare 2 scores with outcome (positive: bad), 1 000 rows.").wait_for()
    page.get_by_role("button", name="Evaluate").click()
    frame = evaluated(page)
    assert "/view?file=credit.csv&truth=outcome&positive=bad&score=naive_bayes&score=tree" in page.url
    frame.locator("#operating.live").wait_for()
    frame.get_by_role("button", name="Top 10 %").click()
    page.wait_for_url(re.compile("#.*at=(?!shown)"))
    hits = frame.locator("[data-say='tp']").first.text_content()
    frame.locator("td:has([data-say='tp']) button.rows").click()
    page.locator("#rows-title").wait_for()
    assert page.locator("#rows-title").text_content().startswith("True positives of ")
    assert page.locator("#rows tbody tr").count() == min(50, int(hits))
    page.get_by_role("button", name="tree", exact=True).click()
    page.locator("th[aria-sort=ascending]").wait_for()
    page.keyboard.press("Escape")
    assert page.locator("#rows").is_hidden()
    at = page.url.partition("#")[2]
    page.get_by_role("button", name="Copy as command").click()
    page.get_by_text("Copied: scorespace evaluate").wait_for()
    assert "--at 0." in page.evaluate("navigator.clipboard.readText()")
    page.get_by_label("Name of the saved report").fill("walk.html")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved as walk.html.").wait_for()
    try:
        page.reload()
        page.get_by_label("Compare with").select_option(label="walk.json")
        frame = evaluated(page)
        frame.get_by_role("heading", name="What changed since the baseline?").wait_for()
        page.wait_for_timeout(300)
        assert page.url.partition("#")[2] == at  # the operating point survives
    finally:
        (folder / "walk.html").unlink()
        (folder / "walk.json").unlink()
    assert page.said == []
    assert {url.split("/")[2] for url in page.asked if url.startswith("http")} == {client.server.auth.origin[7:]}


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize(
    ("file", "fix", "heading"),
    [
        ("credit.csv", "", "outcome"),
        ("clinical.csv", "Leave out 12 rows with gaps", "sepsis"),
        ("iris.csv", "", "species"),
        ("prices.csv", "", "actual"),
        ("films.csv", "", "ann and bob"),
    ],
)
def test_each_kind_of_file_by_keyboard_to_a_saved_report(window, folder, cases, file, fix, heading, width):
    page = window
    page.set_viewport_size({"width": width, "height": 844})
    page.locator(f"a.card[data-card='file={file}']").first.press("Enter")
    assert heading in page.locator(".sentence").text_content()
    if fix:
        page.get_by_role("link", name=fix).press("Enter")
        page.wait_for_url("**missing=drop**")
    assert fits(page)
    page.get_by_role("button", name="Evaluate").press("Enter")
    evaluated(page)
    assert fits(page)
    page.get_by_label("Name of the saved report").fill("kept.html")
    page.get_by_role("button", name="Save").press("Enter")
    page.get_by_text("Saved as kept.html.").wait_for()
    for name in ("kept.html", "kept.json"):
        (folder / name).unlink(missing_ok=True)
    assert page.said == []


def fits(page):
    """Whether the page, with its style sheet, does not scroll sideways."""
    page.wait_for_load_state()
    return page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def test_a_dropped_file_is_uploaded(window):
    page = window
    make = """content => {
        const data = new DataTransfer();
        data.items.add(new File([content], "dropped.csv", { type: "text/csv" }));
        return data;
    }"""
    data = page.evaluate_handle(make, "y,s\n" + "1,0.9\n0,0.2\n1,0.7\n0,0.4\n" * 10)
    page.dispatch_event("#drop", "dragover", {"dataTransfer": data})
    assert page.locator("#drop.over").count() == 1
    page.dispatch_event("#drop", "drop", {"dataTransfer": data})
    page.get_by_text("Evaluate 1 score with y (positive: 1), 40 rows.").wait_for()
    assert "dropped.csv" in page.url


def test_a_chosen_file_is_uploaded(window):
    page = window
    content = b"y,s\n" + b"1,0.9\n0,0.2\n1,0.7\n0,0.4\n" * 10
    page.locator("#upload").set_input_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": content})
    page.get_by_text("Evaluate 1 score with y (positive: 1), 40 rows.").wait_for()


@pytest.mark.parametrize(("scheme", "rules"), [("light", {}), ("dark", {"runOnly": ["color-contrast"]})])
def test_axe_finds_no_serious_violation(window, axe, client, cases, scheme, rules):
    page, origin = window, client.server.auth.origin
    page.emulate_media(color_scheme=scheme)
    view = "/view?file=credit.csv&truth=outcome&positive=bad&score=tree&where=id+%3E+5"
    for path in ("/", "/setup?file=clinical.csv", view):
        page.goto(origin + path)
        if path == view:
            evaluated(page)
            page.get_by_role("button", name="Rows", exact=True).click()
            page.locator("#rows-title").wait_for()
        page.wait_for_timeout(500)
        page.evaluate(axe + "; undefined")
        options = {"resultTypes": ["violations"], "iframes": False, **rules}
        result = page.evaluate("options => axe.run(document, options)", options)
        serious = [one for one in result["violations"] if one["impact"] in ("serious", "critical")]
        assert [(path, one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in serious] == []


def test_no_width_scrolls_the_page_sideways(window, client, cases):
    page, origin = window, client.server.auth.origin
    for path in ("/", "/setup?file=clinical.csv", "/view?file=credit.csv&truth=outcome&positive=bad&score=tree"):
        page.goto(origin + path)
        for width in (390, 1024, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)

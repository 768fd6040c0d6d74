"""The page in a real browser: choosing, moving the threshold, the rows behind a cell; nothing leaves the computer."""

import shutil

import pytest

from components import missing


@pytest.fixture
def window(client):
    """A window of the system's Chromium that has the key, watched."""
    executable = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if executable is None:
        missing("no browser found: make browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("no Playwright found: make setup")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(client.server.guard.address)
        yield page
        browser.close()


def test_from_the_folder_to_the_rows_behind_a_cell(window, client):
    page = window
    assert "token" not in page.url
    page.get_by_label("File").select_option("credit.csv")
    page.get_by_role("button", name="Open").click()
    page.get_by_label("score: logistic").uncheck()
    page.get_by_label("fold: none").check()
    page.get_by_label("Positive class").select_option("bad")
    page.get_by_role("button", name="Evaluate").click()
    page.wait_for_selector("#operating.live", timeout=60_000)
    assert page.url.endswith("/?file=credit.csv&truth=outcome&positive=bad&score=naive_bayes&score=tree")
    page.locator("#threshold").fill(page.locator("#threshold").get_attribute("max"))  # the highest threshold
    page.get_by_role("button", name="Top 10 %").click()
    page.wait_for_timeout(100)
    hits = page.locator("[data-say='tp']").first.text_content()
    page.locator("td:has([data-say='tp']) a.rows").click()
    page.wait_for_load_state()
    assert page.locator("h1").text_content().startswith("Hits of ")
    assert f"{hits} rows" in page.locator("main").text_content()
    assert page.locator("main tbody tr").count() == int(hits)
    page.go_back()
    page.wait_for_selector("#operating.live")
    assert page.locator("[data-say='tp']").first.text_content() == hits  # the view is in the address
    assert [line for line in page.said if "favicon" not in line] == []
    assert {url.split("/")[2] for url in page.asked} == {f"127.0.0.1:{client.server.guard.port}"}

"""The page in a real browser: choosing, moving the threshold, the rows behind a cell; nothing leaves the computer."""

import pytest


@pytest.fixture
def window(client, chromium):
    """A window of the browser that has the key, watched."""
    page = chromium.new_page(viewport={"width": 1200, "height": 900})
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(client.server.guard.address)
    yield page
    page.close()


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


def test_rows_slices_and_costs_are_chosen_in_the_bar(window, folder):
    page = window
    (folder / "costs.csv").write_text(",good,bad\ngood,0,1\nbad,5,0\n")
    try:
        page.goto(f"{page.url.partition('?')[0]}?file=credit.csv")
        page.get_by_label("fold: none").check()
        page.get_by_label("score: tree").uncheck()
        page.get_by_label("score: logistic").uncheck()
        page.get_by_label("Positive class").select_option("bad")
        page.get_by_label("by: id(bins=4)").check()
        page.get_by_label("Only rows where").fill("naive_bayes >")
        page.get_by_label("Cost matrix").select_option("costs.csv")
        page.get_by_label("Measures").fill("auc")
        page.get_by_role("button", name="Evaluate").click()
        page.get_by_role("heading", name="This does not work yet").wait_for()
        assert page.get_by_label("Only rows where").input_value() == "naive_bayes >"  # to be mended where it stands
        page.said.clear()  # the browser tells that the answer was 400
        page.get_by_label("Only rows where").fill("naive_bayes < 0.9")
        page.get_by_role("button", name="Evaluate").click()
        page.wait_for_selector("#operating.live", timeout=60_000)
        words = "&where=naive_bayes+%3C+0.9&by=id%28bins%3D4%29&measures=auc&costs=costs.csv"
        assert page.url.endswith(f"/?file=credit.csv&truth=outcome&positive=bad&score=naive_bayes{words}")
        assert page.locator("#ratio").input_value() == "5"
        assert page.locator("#slices tbody tr").first.text_content().split()[:2] == ["all", "cases"]
        assert page.said == []
    finally:
        (folder / "costs.csv").unlink()


@pytest.mark.parametrize(("scheme", "rules"), [("light", {}), ("dark", {"runOnly": ["color-contrast"]})])
def test_axe_finds_no_serious_violation_in_the_bar(window, axe, scheme, rules):
    page = window
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{page.url.partition('?')[0]}?file=credit.csv")
    page.evaluate(axe + "; undefined")
    result = page.evaluate("rules => axe.run(document, {resultTypes: ['violations'], ...rules})", rules)
    serious = [one for one in result["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in serious] == []


def test_no_width_scrolls_the_bar_sideways(window):
    page = window
    page.goto(f"{page.url.partition('?')[0]}?file=credit.csv")
    for width in (390, 1024):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width

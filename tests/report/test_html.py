"""The interactive page in a real browser: every number is the one that Python computes for the same state."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import random
import re
import stat
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import numpy as np
import pytest

import scorespace as ss
from helpers.classed import scored
from helpers.runs import summary
from helpers.shown import baskets, points
from report.conftest import entered
from scorespace.curves import roc
from scorespace.evaluation.multiclass_panel import multiclass_panel
from scorespace.evaluation.panel_measures import SCRIPT_MEASURES
from scorespace.evaluation.shift_panel import shift_panel
from scorespace.measures import MeasureSpec, measures, parse, parse_list
from scorespace.report import audit, clusters, experiments, html, rules, sections
from scorespace.report import html as page_of
from scorespace.report.document import Document, Grid, Section, Text
from scorespace.results import format_per_thousand
from scorespace.tables import Counts
from scorespace.tables.threshold import threshold_text

MODELS = ("naive_bayes", "tree", "logistic")
HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def credit():
    data = str(files("scorespace.data") / "german_credit.csv")
    return ss.evaluate(data, truth="outcome", scores=list(MODELS), positive="bad", condition=ss.Condition(fp=1, fn=5))


@pytest.fixture(scope="module")
def written(credit, tmp_path_factory):
    return credit.report(tmp_path_factory.mktemp("page") / "credit.html", command="scorespace demo")


@pytest.fixture(scope="module")
def opened(chromium, written):
    """The page, opened once: drawing all charts takes a while."""
    context = chromium.new_context(viewport={"width": 1200, "height": 900})
    yield entered(context, written).settle()
    context.close()


@pytest.fixture
def page(opened):
    """The page as it opens; what other tests did to it is undone."""
    opened.page.evaluate("document.activeElement.blur()")
    go(opened, model="naive_bayes", at="best", miss=5, share="")
    opened.console.clear()
    return opened


@pytest.fixture(scope="module")
def five(credit):
    """The same with five requested measures."""
    return replace(credit, requested=tuple(parse_list("tpr, fpr, ppv, f1, mcc")))


@pytest.fixture(scope="module")
def opened_five(chromium, five, tmp_path_factory):
    context = chromium.new_context(viewport={"width": 1200, "height": 900})
    yield entered(context, five.report(tmp_path_factory.mktemp("five") / "five.html", sections=["panel"])).settle()
    context.close()


@pytest.fixture
def panel_of_five(opened_five):
    """The panel of five measures as it opens."""
    go(opened_five, model="naive_bayes", at="best", miss=5, share="")
    return opened_five


def go(found, **state):
    found.page.evaluate("hash => { location.hash = hash; }", urlencode(state))
    found.shown()


def texts(found, panel="operating"):
    """All that a panel says, by name."""
    return found.page.evaluate(
        "id => Object.fromEntries([...document.querySelectorAll(`#${id} [data-say]`)]"
        ".map(e => [e.dataset.say, e.textContent]))",
        panel,
    )


def numbers_in(text):
    return [float(one) for one in re.findall(r"-?\d+\.?\d*", text.replace("−", "-"))]


def fragment(found):
    return {name: values[0] for name, values in parse_qs(found.page.url.partition("#")[2]).items()}


def choose(found, item, figure=None):
    """An item of the menu of a chart, or of the chart that is shown."""
    figure = figure or found.page.locator(".tab:not([hidden]) figure")
    figure.locator("details.menu").evaluate("menu => { menu.open = true; }")
    figure.get_by_role("button", name=item).click()


def tab(found, key):
    """Another chart of the panel."""
    found.page.locator(f"[data-tab='{key}']").click()
    return found.settle()


def saved_data(found, figure=None):
    """The rows of the chart that is shown, and the name of their file."""
    with found.page.expect_download() as download:
        choose(found, "Save data as CSV", figure)
    text = Path(download.value.path()).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text))), download.value.suggested_filename


# --- numbers


def test_every_number_is_the_one_that_python_says_for_the_state(page, credit):
    operating, chance = credit.operating, random.Random(5)
    for _ in range(40):
        number = chance.randrange(3)
        one = operating.models[number]
        place = chance.randrange(1, one.kept.size)
        at, ratio = float(one.threshold[place]), chance.choice([0.5, 1, 2, 5, 7.3, 20])
        share = chance.choice([None, 0.02, 0.3, 0.5])
        go(page, model=one.name, at=repr(at), miss=ratio, share="" if share is None else 100 * share)
        expected = operating.texts(number, place, at, ratio, share)
        found = texts(page)
        assert {name: found[name] for name in expected} == expected, (one.name, at, ratio, share)
    assert page.console == []


@pytest.mark.parametrize(("model", "at", "miss", "share"), [("tree", 0.25, 3, None), ("logistic", 0.4, 12, 10)])
def test_it_equals_what_users_get_from_the_evaluation(panel_of_five, five, model, at, miss, share):
    score = five.models[model].score
    at = float(score[np.abs(score - at).argmin()])
    condition = ss.Condition(fp=1, fn=miss, prevalence=None if share is None else share / 100)
    go(panel_of_five, model=model, at=repr(at), miss=miss, share="" if share is None else share)
    found, counts = texts(panel_of_five), five.models[model].at(at)
    there = five if share is None else replace(five, condition=condition)
    for k, name in enumerate(("tpr", "fpr", "ppv", "f1")):
        text = there.measures(f"{name}@{at!r}", model=model)[0].text
        # For another prevalence than that of the evaluation the value follows, and no interval is known.
        assert found[f"measure {k}"] == (text if share is None or k < 2 else text.partition(" ")[0])
    mcc = there.measures(f"mcc@{at!r}", model=model)[0]
    value, *ends = numbers_in(found["measure 4"])
    assert value == round(mcc.value, 3)
    if share is None:  # limits run straight between simulated ones
        assert ends == pytest.approx((mcc.low, mcc.high), abs=0.01)
    else:
        assert not ends
    assert [found[side] for side in ("tp", "fp", "fn", "tn")] == [
        str(int(getattr(counts, side))) for side in ("tp", "fp", "fn", "tn")
    ]
    rates = float(counts.fp / counts.n), float(counts.tp / counts.p)
    assert found["cost"] == f"{float(condition.cost(*rates, of_sample=0.3)):.3f}"
    honest = {one.model: one.out_of_sample.value for one in five.decide(condition).choices}
    assert found["cross_fitted"] == f"{honest[model]:.3f}"


def at_stated_prevalence(counts, share):
    """The shares of the four outcomes where positives have a share, from the rates of the sample."""
    tpr, fpr = counts.tp / counts.p, counts.fp / counts.n
    return share * tpr, (1 - share) * fpr, share * (1 - tpr), (1 - share) * (1 - fpr)


def test_precision_f1_accuracy_and_mcc_follow_the_prevalence(visit, credit, tmp_path):
    """At 0.37 precision in the sample, 2 % bad leave 0.076 of it or less: the formulas are written out here."""
    names = "tpr@0.3, ppv@0.3, npv@0.3, f1@0.3, acc@0.3, mcc@0.3, kappa@0.3, lift@0.3"
    ev = replace(credit, requested=tuple(parse_list(names)), condition=None)
    page = visit(ev.report(tmp_path / "follow.html"))
    chance = random.Random(7)
    for _ in range(25):
        one = chance.choice(ev.operating.models)
        place = chance.randrange(5, one.kept.size - 5)
        percent = chance.choice([0.5, 2, 7.6, 30, 61.3, 95])
        at, share = float(one.threshold[place]), percent / 100
        go(page, model=one.name, at=repr(at), share=percent)
        tp, fp, fn, tn = at_stated_prevalence(credit.models[one.name].at(at), share)
        expected = {
            1: tp / (tp + fp),
            2: tn / (tn + fn),
            3: 2 * tp / (2 * tp + fp + fn),
            4: tp + tn,
            5: (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
            6: (tp + tn - (tp + fp) * share - (fn + tn) * (1 - share))
            / (1 - (tp + fp) * share - (fn + tn) * (1 - share)),
            7: tp / (tp + fp) / share,
        }
        for k, value in expected.items():
            (told,) = numbers_in(page.said(f"measure {k}"))
            assert told == pytest.approx(value, rel=0.05, abs=0.0006), (one.name, at, percent, k)
        assert "Intervals of ppv, npv, f1" in page.said("caution")
    go(page, model="tree", at=repr(at), share="")
    assert page.said("caution") == ""
    assert page.console == []


def test_all_that_depends_on_the_prevalence_is_that_of_python(visit, credit, tmp_path):
    moving = [
        one.name
        for one in measures()
        if one.table is Counts and not (one.drawn_within() or one.conditioned or one.threshold_option)
    ]
    assert set(moving) == SCRIPT_MEASURES
    asked = (*(MeasureSpec(name, at=0.3) for name in moving), parse("fbeta(beta=2)@0.3"))
    ev = replace(credit, requested=asked, condition=ss.Condition(fp=1, fn=5, prevalence=0.1))
    page = visit(ev.report(tmp_path / "all.html"))
    operating, chance = ev.operating, random.Random(3)
    for turn in range(40):
        number = chance.randrange(3)
        one = operating.models[number]
        place = chance.randrange(0 if turn else 1, one.kept.size)
        at, ratio = float(one.threshold[place]), chance.choice([1, 5, 12.5])
        percent = chance.choice([None, 10, 0.01, 3, 42.4, 88])
        share = None if percent is None else percent / 100
        go(
            page,
            model=one.name,
            at=str(at).replace("inf", "Infinity"),
            miss=ratio,
            share="" if share is None else percent,
        )
        expected, found = operating.texts(number, place, at, ratio, share), texts(page)
        assert {name: found[name] for name in expected} == expected, (one.name, at, ratio, share)
    for top, share in (("10%", 0.1), ("200", 0.1), ("5%", 0.6)):
        go(page, model="logistic", at=f"top{top}", share=100 * share)
        counts = credit.models["logistic"].sweep
        flagged = 1000 * (share * counts.tp / counts.p + (1 - share) * counts.fp / counts.n)
        most = 200 if top == "200" else 10 * float(top[:-1])
        assert page.said("flagged") == format_per_thousand(flagged[flagged <= most * (1 + 1e-12)].max())
    assert page.console == []


def test_where_the_page_opens_simulated_intervals_are_those_of_the_evaluation(panel_of_five, five):
    at = five.threshold("naive_bayes")
    assert panel_of_five.said("measure 4") == five.measures(f"mcc@{at!r}", model="naive_bayes")[0].text
    price = five.measures(f"cost(fp=1, fn=5)@{at!r}", model="naive_bayes")[0]
    assert panel_of_five.said("cost") + panel_of_five.said("cost limits") == price.text
    panel_of_five.page.fill("#ratio", "4")  # of other costs the interval is not known
    panel_of_five.shown()
    assert panel_of_five.said("cost limits") == ""


@pytest.mark.parametrize(("miss", "share"), [(5, ""), (2, ""), (20, 5), (1, 60), (0.2, 30)])
def test_the_jump_lands_on_the_threshold_of_decide(page, credit, miss, share):
    go(page, model="tree", at="0.5", miss=miss, share=share)
    page.page.click("#best")
    page.shown()
    decided = credit.decide(ss.Condition(fp=1, fn=miss, prevalence=share / 100 if share else None))
    if decided.best.model in MODELS:
        assert page.said("model") == decided.best.model
        assert float(page.said("threshold")) == pytest.approx(decided.best.threshold, rel=1e-3)
    for name in MODELS:  # and of each model alone
        page.page.get_by_role("radio", name=name).check(force=True)
        page.shown()
        threshold = {one.model: one.threshold for one in decided.choices}[name]
        assert page.said("threshold") == ("above all scores" if np.isinf(threshold) else threshold_text(threshold))


def test_the_top_is_flagged(page, credit):
    for label, most in (("Top 1 %", 10), ("Top 10 %", 100), ("Top 200", 200)):
        page.page.get_by_role("button", name=label, exact=True).click()
        page.shown()
        for name in ("naive_bayes", "tree"):
            page.page.get_by_role("radio", name=name).check(force=True)
            page.shown()
            flagged = credit.models[name].sweep.pp
            assert float(page.said("flagged")) == float(flagged[flagged <= most].max())


def test_the_top_is_that_of_measures_at_the_top(panel_of_five, five):
    for label, point in (("Top 1 %", "top1%"), ("Top 5 %", "top5%"), ("Top 200", "top200")):
        go(panel_of_five, model="logistic", at=point, miss=5, share="")
        assert panel_of_five.page.get_by_role("button", name=label, exact=True).get_attribute("aria-pressed") == "true"
        for k, name in enumerate(("tpr", "fpr", "ppv", "f1", "mcc")):
            value = five.measures(f"{name}@{point}", model="logistic")[0].value
            assert numbers_in(panel_of_five.said(f"measure {k}"))[0] == pytest.approx(value, abs=6e-4)


def test_where_scores_tie_the_cut_is_told_and_both_sides_can_be_flagged(visit, tmp_path):
    chance = np.random.default_rng(2)
    truth = (chance.random(500) < 0.3).astype(int)
    score = np.round(0.3 * truth + chance.random(500), 1)
    ev = ss.evaluate({"y": truth, "s": score}, truth="y", scores="s")
    found = visit(ev.report(tmp_path / "ties.html", sections=["panel"]))
    page, table = found.page, ev.models["s"]
    flagged, (one,) = table.sweep.pp, ev.operating.models
    page.get_by_role("button", name="Top 10 %", exact=True).click()
    found.shown()
    below = int(np.searchsorted(flagged, 50, side="right")) - 1
    assert flagged[below] < 50 < flagged[below + 1]
    assert page.locator(".tie").inner_text() == one.ties["10%"]
    for place, at in ((below + 1, "least10%"), (below, "top10%")):
        page.get_by_role("button", name="Include ties").click()
        found.shown()
        expected = ev.operating.texts(0, place, float(one.threshold[place]), top="10%")
        said = texts(found)
        assert {name: said[name] for name in expected} == expected
        assert fragment(found)["at"] == at
    page.get_by_role("button", name="Minimum cost").click()
    found.shown()
    assert not page.locator("#tied").is_visible()
    assert not page.locator(".tie").is_visible()


# --- moving


def test_the_slider_moves_over_all_thresholds_by_keyboard(page, credit):
    slider = page.page.locator("#threshold")
    slider.focus()
    table = credit.models["naive_bayes"]
    distinct = table.score
    assert (slider.get_attribute("min"), slider.get_attribute("max")) == ("0", "1")  # the score axis
    assert float(slider.input_value()) == pytest.approx(credit.threshold("naive_bayes"), abs=1e-3)
    page.page.keyboard.press("Home")
    page.shown()
    assert page.said("threshold") == table.threshold(distinct[-1]).text
    assert page.said("flagged") == "1 000"
    page.page.keyboard.press("ArrowRight")
    page.shown()
    assert page.said("threshold") == table.threshold(distinct[-2]).text
    page.page.keyboard.press("End")
    page.shown()
    assert page.said("threshold") == "above all scores"
    assert "0 of 1 000 predicted positive" in slider.get_attribute("aria-valuetext")


def test_dragging_along_the_curve_moves_the_threshold(page, credit):
    page.page.locator("figure.drag").first.scroll_into_view_if_needed()
    chart = page.page.locator("figure.drag .chart").first.bounding_box()
    axes = page.page.evaluate(
        "(() => { const g = document.querySelector('figure.drag .mark-group.role-frame .background')"
        ".getBoundingClientRect(); return [g.left, g.top, g.width, g.height]; })()"
    )
    left, top, width, height = axes
    curve = credit.curve("roc", "naive_bayes")

    def spot(fpr):
        return left + fpr * width, top + (1 - float(np.interp(fpr, curve.x, curve.y))) * height

    assert chart["width"] > width > 200
    page.page.mouse.move(*spot(0.42))
    page.page.mouse.down()
    page.page.mouse.move(*spot(0.3), steps=5)
    page.page.mouse.move(*spot(0.1), steps=5)
    page.page.mouse.up()
    page.shown()
    fpr = float(page.said("fp")) / 700
    assert fpr == pytest.approx(0.1, abs=0.02)
    at = float(fragment(page)["at"])
    assert float(credit.models["naive_bayes"].at(at).fp) / 700 == fpr


def test_costs_and_prevalence_are_typed(panel_of_five, five):
    panel_of_five.page.fill("#ratio", "2")
    panel_of_five.page.fill("#share", "5")
    panel_of_five.shown()
    decided = five.decide(ss.Condition(fp=1, fn=2, prevalence=0.05))
    choice = next(one for one in decided.choices if one.model == "naive_bayes")
    assert panel_of_five.said("threshold") == threshold_text(choice.threshold)  # it stays at the best for the costs
    assert panel_of_five.said("cost") == f"{choice.cost_per_case:.3f}"
    assert panel_of_five.said("cross_fitted") == f"{choice.out_of_sample.value:.3f}"
    assert panel_of_five.said("caution") == "Intervals of ppv, f1, mcc and npv are available only for 30 % bad."
    panel_of_five.page.fill("#ratio", "-1")  # nothing that can be a cost: nothing changes
    panel_of_five.shown()
    assert panel_of_five.said("cost") == f"{choice.cost_per_case:.3f}"


def test_a_move_takes_less_than_a_frame(page):
    """In processor time of the page: on a quiet machine a fourth of what is allowed here, as tests share theirs."""
    page.page.evaluate("scrollTo(0, 0)")
    watch = page.page.context.new_cdp_session(page.page)
    watch.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent():
        found = watch.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in found if one["name"] == "TaskDuration")

    before = spent()
    page.page.evaluate(
        """async () => {
            const slider = document.getElementById("threshold");
            for (let k = 0; k < 40; k += 1) {
                slider.value = 0.1 + 0.02 * k;
                slider.dispatchEvent(new Event("input"));
                await new Promise(requestAnimationFrame);
                await new Promise((done) => setTimeout(done));
            }
        }"""
    )
    assert (spent() - before) / 40 < 0.05
    watch.detach()
    assert page.console == []


def test_the_marks_follow(page):
    def dot():
        return page.page.evaluate(
            "[...document.querySelectorAll('[data-key=roc] .mark-symbol path')].at(-1).getAttribute('transform')"
        )

    page.page.locator("figure.drag").first.scroll_into_view_if_needed()
    page.shown()
    before = dot()
    page.page.get_by_role("button", name="Top 1 %", exact=True).click()
    page.shown()
    assert dot() != before


# --- the address


def test_the_address_holds_the_state_and_survives_reload_and_back(page):
    page.page.get_by_role("radio", name="logistic").check(force=True)
    page.page.fill("#ratio", "3")
    page.page.locator("#threshold").focus()
    page.page.keyboard.press("ArrowLeft")
    page.shown()
    before = texts(page)
    assert fragment(page)["model"] == "logistic"
    assert fragment(page)["miss"] == "3"
    page.page.reload()
    page.settle()
    assert texts(page) == before
    page.page.get_by_role("radio", name="tree").check(force=True)
    page.shown()
    assert page.said("model") == "tree"
    page.page.go_back()
    page.shown()
    assert texts(page) == before


def test_links_to_sections_open_them_and_keep_the_state(page):
    page.page.get_by_role("radio", name="tree").check(force=True)
    page.page.get_by_role("link", name="warnings").click()
    page.shown()
    assert page.page.evaluate("document.activeElement.id") == "notes"
    page.page.get_by_role("link", name="Details").click()
    page.shown()
    assert page.page.evaluate("document.activeElement.id") == "part-details"
    assert fragment(page)["model"] == "tree"


# --- charts


def test_curves_zoom(page):
    tab(page, "roc")
    labels = page.page.locator(".tab:not([hidden]) .role-axis-label text")
    drawn = labels.all_text_contents()
    choose(page, "Zoom in")
    page.page.wait_for_timeout(200)
    assert labels.all_text_contents() != drawn
    choose(page, "Reset zoom")
    page.page.wait_for_timeout(200)
    assert sorted(labels.all_text_contents()) == sorted(drawn)


def test_the_selected_model_is_in_colour_and_the_others_are_grey(page):
    def strokes():
        lines = page.page.locator(".tab:not([hidden]) .mark-line.role-mark path")
        return [lines.nth(k).get_attribute("stroke") for k in range(lines.count())]

    tab(page, "roc")
    for model in MODELS:
        go(page, model=model, at="best", miss=5, share="")
        assert strokes().count("#0072b2") == 2  # among the others, and once more above them
        assert strokes().count("#98a2ae") == 2 + 1  # and the line of chance
    names = page.page.locator(".tab:not([hidden]) [class*=beside] text").all_text_contents()
    assert sorted(names) == sorted(MODELS)


def test_hovering_tells_threshold_outcomes_and_measures(page, credit):
    figure = tab(page, "roc").page.locator(".tab:not([hidden]) figure")
    figure.scroll_into_view_if_needed()
    figure.locator('[class*="voronoi"] path').nth(150).dispatch_event("pointerover", {"bubbles": True})
    box = figure.locator(".chart svg").bounding_box()
    page.page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.4 * box["height"])
    page.page.wait_for_timeout(300)
    found = page.page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#vg-tooltip-element tr')]"
        ".map(row => [...row.cells].map(cell => cell.textContent)))"
    )
    table = credit.models[found["Model"]]
    at = float(table.score[np.abs(table.score - float(found["Threshold"])).argmin()])
    counts = table.at(at)
    for name, side, of in (
        ("True positives", "tp", 300),
        ("False positives", "fp", 700),
        ("False negatives", "fn", 300),
    ):
        number = int(getattr(counts, side))
        assert found[name] == f"{number} ({100 * number / of:.0f} %)"
    precision = credit.measures(f"ppv@{at!r}", model=found["Model"])[0].text
    assert found["Positive predictive value"] == precision


def test_charts_are_saved_as_pictures_and_as_data(page, credit):
    tab(page, "roc")
    saved = {}
    for kind in ("PNG", "SVG"):
        with page.page.expect_download() as download:
            choose(page, f"Save as {kind}")
        assert download.value.suggested_filename == f"german-credit-csv-roc.{kind.lower()}"
        saved[kind] = Path(download.value.path()).read_bytes()
    assert saved["PNG"].startswith(b"\x89PNG")
    assert len(saved["PNG"]) > 10_000
    assert saved["SVG"].startswith(b"<svg")
    assert b"naive_bayes" in saved["SVG"]
    rows, name = saved_data(page)
    assert name == "german-credit-csv-roc.csv"
    curve = credit.curve("roc", "logistic")
    points = set(zip(curve.x.tolist(), curve.y.tolist(), strict=True))  # at full precision
    own = {(float(row["fpr"]), float(row["tpr"])) for row in rows if row["model"] == "logistic"}
    assert own == points


def test_data_of_all_charts_are_those_of_python_for_the_state(page, credit):
    go(page, model="tree", at="0.25", miss=3, share=10)
    weight = 0.1 / 0.3, 0.9 / 0.7
    tables = {name: credit.models[name] for name in MODELS}

    def counts(row):
        at = float(row["threshold"]) if row["threshold"] else np.inf
        return tables[row["model"]].at(at)

    tab(page, "net_benefit")
    for row in saved_data(page)[0][::37]:
        if row["threshold"] and float(row["threshold"]) < 1:
            one, at = counts(row), float(row["threshold"])
            assert float(row["benefit"]) == pytest.approx(
                float(one.tp - one.fp * at / (1 - at)) / 1000, rel=1e-6, abs=1e-7
            )
    tab(page, "pr")
    for row in saved_data(page)[0][1::37]:
        if row["precision"]:
            one = counts(row)
            assert float(row["precision"]) == pytest.approx(float(one.tp / (one.tp + one.fp)), rel=1e-6)
            assert float(row["tpr"]) == float(one.tp / one.p)
    tab(page, "prices")
    rows, _ = saved_data(page)
    own = [row for row in rows if row["kind"] == "model"]
    assert len(own) == credit.models["tree"].score.size
    for row in own[::7]:
        one = tables["tree"].at(float(row["x"]))
        expected = (3 * weight[0] * float(one.fn) + weight[1] * float(one.fp)) / 1000
        assert float(row["y"]) == pytest.approx(expected, rel=1e-12)
    ends = {row["kind"]: float(row["y"]) for row in rows if row["kind"] != "model"}
    assert ends == pytest.approx({"all": 0.9, "none": 0.3})
    tab(page, "roc")


@pytest.mark.parametrize(
    ("key", "share"), [("net_benefit", 0.4), ("calibration", 0.7), ("scores", 0.3), ("prices", 0.6)]
)
def test_the_threshold_is_dragged_in_every_chart(page, credit, key, share):
    tab(page, key)
    left, top, width, height = page.page.evaluate(
        "(() => { const g = document.querySelector('.tab:not([hidden]) .mark-group.role-frame .background')"
        ".getBoundingClientRect(); return [g.left, g.top, g.width, g.height]; })()"
    )
    page.page.mouse.move(left + 0.5 * width, top + 0.5 * height)
    page.page.mouse.down()
    page.page.mouse.move(left + share * width, top + 0.6 * height, steps=4)
    page.page.mouse.up()
    page.shown()
    score = credit.models["naive_bayes"].score
    at = float(fragment(page)["at"])
    assert at in score
    assert at == pytest.approx(share, abs=0.02)
    assert fragment(page)["chart"] == key
    assert (
        page.page.locator("#at").input_value()
        == page.said("threshold")
        == credit.models["naive_bayes"].threshold(at).text
    )
    tab(page, "roc")


def test_the_threshold_is_typed(page, credit):
    page.page.fill("#at", "0.4")
    page.page.locator("#at").blur()
    page.shown()
    counts = credit.models["naive_bayes"].at(0.4)
    assert (page.said("tp"), page.said("fp")) == (str(int(counts.tp)), str(int(counts.fp)))
    assert float(fragment(page)["at"]) == 0.4


def test_the_address_restores_chart_and_depth(page):
    assert not page.page.locator(".binary .numbers").is_visible()
    page.page.get_by_role("button", name="Statistical").click()
    tab(page, "pr")
    assert page.page.locator(".binary .numbers").is_visible()
    assert (fragment(page)["chart"], fragment(page)["depth"]) == ("pr", "statistical")
    page.page.reload()
    page.settle()
    assert page.page.locator("[data-shown='pr'] svg.marks").is_visible()
    assert page.page.locator("body.plain").count() == 0
    page.page.go_back()
    page.shown()
    assert not page.page.locator("[data-shown='pr']").is_visible()
    page.page.get_by_role("button", name="Plain").click()


def test_models_are_chosen_and_sorted_in_their_table(page, credit):
    def order():
        return [name.strip() for name in page.page.locator("#models tbody th").all_text_contents()]

    assert order()[0] == "naive_bayes"
    page.page.locator("#models tbody tr", has_text="tree").locator("td").first.click()
    page.shown()
    assert page.said("model") == "tree"
    page.page.get_by_role("button", name="Sort by AUC").click()
    assert order() == ["logistic", "naive_bayes", "tree"]
    assert page.page.locator("#models [aria-sort]").get_attribute("aria-sort") == "descending"
    page.page.get_by_role("button", name="Sort by AUC").click()
    assert order() == ["tree", "naive_bayes", "logistic"]


def test_a_table_saves_as_it_is_read_with_limits_in_columns_of_their_own(page, credit):
    def saved(section):
        with page.page.expect_download() as download:
            page.page.locator(f"#{section} figure.grid").first.get_by_role("button", name="Save as CSV").click()
        return list(csv.DictReader(io.StringIO(open(download.value.path()).read())))

    rows = saved("models")
    assert {row["model"] for row in rows} == set(MODELS)
    for row in rows:
        auc = credit.measures("auc", model=row["model"])[0]
        assert [float(row[name]) for name in ("AUC ↑", "AUC ↑ low", "AUC ↑ high")] == pytest.approx(
            [auc.value, auc.low, auc.high], abs=5e-4
        )
    differences = saved("comparison")
    assert differences[0]["tree more"] == "*"  # p < 0.05
    assert float(differences[0]["tree low"]) > 0


def test_a_saved_table_holds_numbers_and_no_formulas(visit, tmp_path):
    odd = (("=1+1", "12 345 678", "−0.5 [−1.25, 3]"), ('+x, "y"', "–", "1 234.5"))
    grid = Grid(("model", "cases", "gap"), odd)
    path = tmp_path / "odd.html"
    path.write_text(page_of.render(Document("odd", "", (Section("a", "A", (grid,)),))), encoding="utf-8")
    found = visit(path)
    with found.page.expect_download() as download:
        found.page.get_by_role("button", name="Save as CSV").click()
    assert open(download.value.path()).read() == (  # noqa: SIM115
        'model,cases,gap,gap low,gap high\n\'=1+1,12345678,-0.5,-1.25,3\n"\'+x, ""y""",–,1234.5,,\n'
    )


# --- for everybody


def test_nothing_is_fetched_and_nothing_complains(visit, written):
    found = visit(written)
    assert found.console == []
    assert found.requests == [written.as_uri()]


@pytest.mark.parametrize(("scheme", "rules"), [("light", {}), ("dark", {"runOnly": ["color-contrast"]})])
def test_axe_finds_no_serious_violation(visit, written, axe, scheme, rules):
    found = visit(written, color_scheme=scheme)
    found.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    found.settle()
    found.page.evaluate(axe + "; undefined")
    result = found.page.evaluate("rules => axe.run(document, {resultTypes: ['violations'], ...rules})", rules)
    serious = [one for one in result["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in serious] == []


def test_the_keyboard_alone_reaches_everything(visit, written):
    found, reached = visit(written), set()
    found.page.evaluate("document.querySelectorAll('.menu').forEach(one => { one.open = true; })")
    for _ in range(600):
        found.page.keyboard.press("Tab")
        name = found.page.evaluate(
            "(() => { const e = document.activeElement;"
            " if (e === document.body) return '';"
            " return e.id || e.ariaLabel || e.textContent.trim().slice(0, 40) || e.tagName; })()"
        )
        if not name and reached:
            break
        reached.add(name)
    wanted = {"at", "ratio", "share", "best", "threshold", "Top 1 %", "link", "print", "Zoom in", "Save as PNG"}
    assert wanted | {"Plain", "Statistical", "Decision curve", "Sort by model", "Summary", "Trust"} <= reached


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_no_width_scrolls_sideways(visit, written, width):
    found = visit(written, width=width)
    assert found.console == []
    assert found.page.evaluate("document.documentElement.scrollWidth") <= width
    assert found.page.locator("h1").count() == 1


def test_the_first_screen_says_which_model_at_which_threshold_and_how_sure(visit, written):
    found = visit(written, width=1440)
    for text in ("use naive_bayes at threshold 0.1233", "0.530 [0.466, 0.612]", "of 1 000 cases", "0.853"):
        box = found.page.get_by_text(text).first.bounding_box()
        assert 0 <= box["y"] < 880
    assert len(found.page.locator(".headline").inner_text().split()) <= 20 + 3  # and the chip


@pytest.mark.parametrize(("width", "height", "least"), [(1440, 900, 420), (1024, 768, 320)])
def test_the_first_screen_has_a_large_chart(visit, written, width, height, least):
    found = visit(written, width=width, height=height)
    plot = found.page.evaluate(
        "(() => { const g = document.querySelector('.tab:not([hidden]) .mark-group.role-frame .background')"
        ".getBoundingClientRect(); return [g.top, g.bottom, g.width]; })()"
    )
    assert plot[0] > 0
    assert plot[1] <= height
    assert plot[2] >= least


def test_names_from_data_are_text_and_no_more(visit, tmp_path):
    chance = np.random.default_rng(1)
    truth = np.where(chance.random(120) < 0.4, HOSTILE, 'it\'s {{}} "good"')
    data = {"y": truth.tolist(), HOSTILE: chance.random(120).tolist(), "=1+1": chance.random(120).tolist()}
    ev = ss.evaluate(data, truth="y", scores=[HOSTILE, "=1+1"], positive=HOSTILE)
    found = visit(ev.report(tmp_path / "hostile.html", title=HOSTILE, command=HOSTILE))
    assert found.console == []
    assert found.page.locator("img").count() == 0
    assert found.page.title() == HOSTILE
    found.page.fill("#share", "10")
    found.shown()
    assert found.said("positive") == HOSTILE
    go(found, model="=1+1", at="best", miss=2, share="")
    assert found.said("model") == "=1+1"
    assert found.page.locator("img").count() == 0


def test_print_shows_what_is_folded_and_no_controls(visit, written):
    found = visit(written)
    found.page.emulate_media(media="print")
    found.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    found.settle()
    assert not found.page.locator("#smooth").is_visible()
    for name in ("models", "panel", "notes", "calibration", "method"):
        assert found.page.locator(f"#{name}").is_visible()
    found.page.evaluate("document.body.classList.add('all'); dispatchEvent(new Event('beforeprint'))")
    found.settle()
    assert found.page.locator("#smooth .chart svg").first.is_visible()
    assert not found.page.locator(".slide").is_visible()
    assert not found.page.locator(".tools").first.is_visible()


def test_the_printed_summary_has_two_pages(visit, written):
    found = visit(written)
    summary = found.page.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", summary)) == 2


def test_what_is_unfolded_is_drawn_before_its_turn(visit, written):
    found = visit(written, settle=False)
    found.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    found.settle()
    assert found.page.evaluate(
        "[...document.querySelectorAll('figure.picture')].every(one => one.querySelectorAll('.chart svg').length === 1)"
    )


def test_print_cuts_nothing_at_the_right(visit, written):
    found = visit(written, width=700)  # A4 with its margins has about as many pixels
    found.page.emulate_media(media="print")
    found.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    found.settle()
    wide = found.page.evaluate(
        "[...document.querySelectorAll('.grid table')]"
        ".filter(one => one.getBoundingClientRect().right > innerWidth + 1)"
        ".map(one => one.closest('section').id)"
    )
    assert wide == []
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 700


def test_without_scripts_the_tables_have_the_numbers(visit, written, credit):
    found = visit(written, settle=False, java_script_enabled=False)
    assert found.page.locator("noscript p").is_visible()
    assert found.page.locator("#models table").is_visible()
    assert found.said("cost") == credit.operating.initial_texts()["cost"]


# --- what the foot says, and which parts there are


def test_rows_of_tables_are_whole_pixels_high(page):
    # Else the names, which stay while a table scrolls, lie over some of the lines between its rows.
    heights = page.page.evaluate(
        "[...document.querySelectorAll('.grid tr')].map(row => row.getBoundingClientRect().height).filter(Boolean)"
    )
    assert len(heights) > 20
    assert [one for one in heights if abs(one - round(one)) > 0.01] == []


def test_the_foot_says_how_to_make_it_again(written):
    text = written.read_text(encoding="utf-8")
    foot = text[text.index("<footer>") :]
    assert f"scorespace {version('scorespace')}," in foot
    assert "german_credit.csv" in foot
    assert "seed 0" in foot
    assert "<code>scorespace demo</code>" in foot


def test_title_and_sections(credit, tmp_path):
    path = credit.report(tmp_path / "part.html", title="Credit risk", sections=["smooth"])
    text = path.read_text(encoding="utf-8")
    assert "<h1>Credit risk</h1>" in text
    assert 'id="smooth"' in text
    assert "use naive_bayes at threshold" in text
    assert 'id="curves"' not in text
    with pytest.raises(ss.ScoreSpaceError, match="you mean 'smooth'"):
        credit.report(tmp_path / "part.html", sections=["smoth"])


def test_the_data_of_the_panel_is_json(written):
    text = written.read_text(encoding="utf-8")
    start = text.index('<script type="application/json">', text.index('id="operating"')) + 32
    assert json.loads(text[start : text.index("</script>", start)])["models"][0]["name"] == "naive_bayes"


# --- multiclass


def test_of_several_classes_one_is_followed(visit, tmp_path):
    ev = ss.evaluate(str(files("scorespace.data") / "iris.csv"), truth="species", scores=["nb_*", "forest_*"])
    found = visit(ev.report(tmp_path / "iris.html"))
    assert found.console == []
    operating = ev.operating
    assert operating.left_out == ""
    assert [one.name for one in operating.models][:2] == ["nb[setosa]", "nb[versicolor]"]
    for number, place in ((1, 40), (5, 20)):
        one = operating.models[number]
        at = float(one.threshold[place])
        go(found, model=one.name, at=repr(at), miss=3, share="")
        expected = operating.texts(number, place, at, 3)
        said = texts(found)
        assert {name: said[name] for name in expected if name in said} == {
            name: text for name, text in expected.items() if name in said
        }
        assert said["positive"] == ("versicolor", "virginica")[number == 5]
    counts = ev.models.score_table("nb[versicolor]").at(operating.models[1].threshold[40])
    go(found, model="nb[versicolor]", at=repr(float(operating.models[1].threshold[40])), miss=1, share="")
    assert found.said("tp") == str(int(counts.tp))
    assert found.said("fn") == str(int(counts.fn))


@pytest.fixture(scope="module")
def iris():
    return ss.evaluate(str(files("scorespace.data") / "iris.csv"), truth="species", scores=["nb_*", "forest_*"])


@pytest.fixture(scope="module")
def classes(chromium, iris, tmp_path_factory):
    """The page of several classes, opened once."""
    context = chromium.new_context(viewport={"width": 1200, "height": 900})
    yield entered(context, iris.report(tmp_path_factory.mktemp("page") / "iris.html")).settle()
    context.close()


def test_of_several_classes_every_number_is_that_of_python(classes, iris):
    panel, chance = multiclass_panel(iris), random.Random(7)
    for _ in range(15):
        number = chance.randrange(2)
        one = panel.models[number]
        place = chance.randrange(one.lead.size)
        costs = [chance.choice([0, 1, 2.5, 10]) for _ in range(9)]
        hand = chance.choice([None, 0.1, 0.7])
        state = {"decides": one.name, "costs": " ".join(map(str, costs)), "lead": repr(float(one.lead[place]))}
        go(classes, **state, **({} if hand is None else {"hand": hand}))
        expected = panel.texts(number, place, np.array(costs).reshape(3, 3), hand)
        assert texts(classes, "multiclass") == expected
    assert classes.console == []


def test_of_several_classes_costs_are_edited_in_place_and_the_jump_is_that_of_reject(classes, iris):
    page = classes.page
    go(classes, decides="forest")
    assert classes.page.locator("#multiclass [data-say=cost]").first.text_content() == "0.247"
    page.get_by_role("button", name="Edit costs").click()
    page.get_by_label("Cost of predicting versicolor for virginica").fill("4")
    classes.shown()
    matrix = iris.models["forest"].decisions.matrix
    price = float(matrix.sum() - matrix.trace() + 3 * matrix[2, 1]) / 150
    assert texts(classes, "multiclass")["cost"] == f"{price:.3f}"
    page.get_by_role("button", name="Initial costs").click()
    page.fill("#hand", "0.2")
    page.click("#cheapest")
    classes.shown()
    choice = iris.reject(0.2)
    rule, said = choice.rules[choice.best], texts(classes, "multiclass")
    assert said["model"] == choice.best
    assert said["cost"] == f"{rule.cost:.3f}"
    assert said["handed"] == f"{100 * rule.rejected:.0f} %"
    before = texts(classes, "multiclass")
    page.reload()
    classes.settle()
    assert texts(classes, "multiclass") == before


def test_of_several_classes_slider_and_dragging_hand_over(classes, iris):
    page = classes.page
    go(classes, decides="nb")
    page.locator("#handed").focus()
    page.keyboard.press("End")
    classes.shown()
    one = multiclass_panel(iris).models[0]
    assert texts(classes, "multiclass") == multiclass_panel(iris).texts(0, one.lead.size - 1)
    page.locator("#multiclass figure.drag").scroll_into_view_if_needed()
    left, top, width, _ = page.evaluate(
        "(() => { const g = document.querySelector('#multiclass figure.drag .mark-group.role-frame .background')"
        ".getBoundingClientRect(); return [g.left, g.top, g.width, g.height]; })()"
    )
    page.mouse.move(left + width - 1, top + 1)
    page.mouse.down()
    page.mouse.move(left + 0.9 * width, top + 1, steps=3)
    page.mouse.up()
    classes.shown()
    assert 85 <= int(texts(classes, "multiclass")["handed"].split()[0]) <= 95


def test_a_click_on_a_cell_shows_the_curves_of_its_classes(classes, iris):
    page, panel = classes.page, multiclass_panel(iris)
    go(classes, decides="nb")
    row, column = panel.pair
    assert (row, column) == (2, 1)  # 19 of 50 virginica are taken for versicolor
    assert texts(classes, "multiclass")["pair"] == panel.initial_texts()["pair"]
    page.locator('[data-pair="1-0"]').focus()
    page.keyboard.press("Enter")
    classes.shown()
    assert texts(classes, "multiclass")["pair"] == panel.texts(0, 0, pair=(1, 0))["pair"]
    areas = iris.models["nb"].pair_areas()
    shown = numbers_in(texts(classes, "multiclass")["pair"])
    assert shown == pytest.approx([areas[1, 0], areas[0, 1]], abs=6e-4)
    assert fragment(classes)["pair"] == "1-0"
    assert page.locator('[data-pair="1-0"]').get_attribute("aria-pressed") == "true"
    figure = page.locator("#multiclass .beside figure.picture").last
    rows, _ = saved_data(classes, figure)
    exact = roc(iris.models["nb"].one_vs_one(1, 0))
    points = {(round(x, 4), round(y, 4)) for x, y in zip(exact.x.tolist(), exact.y.tolist(), strict=True)}
    own = {(round(float(one["x"]), 4), round(float(one["y"]), 4)) for one in rows if one["name"] == "row"}
    assert own == points
    page.locator('[data-pair="0-0"]').click()
    classes.shown()
    assert texts(classes, "multiclass")["pair"].startswith("setosa against the rest: AUC ")


# --- numbers


@pytest.fixture(scope="module")
def regression():
    chance = np.random.default_rng(1)
    x = chance.normal(size=200)
    y = 10 + 3 * x + chance.normal(size=200)
    data = {"y": y, "near": 10.4 + 3 * x, HOSTILE: 10 + 1.5 * x + chance.normal(size=200)}
    return ss.evaluate(data, truth="y", predictions=["near", HOSTILE], condition=ss.Asymmetry(under=2, over=1))


@pytest.fixture(scope="module")
def numbers(chromium, regression, tmp_path_factory):
    """The page of predicted numbers, opened once."""
    context = chromium.new_context(viewport={"width": 1200, "height": 900})
    yield entered(context, regression.report(tmp_path_factory.mktemp("page") / "numbers.html")).settle()
    context.close()


def test_of_numbers_every_number_is_that_of_python(numbers, regression):
    panel, chance = shift_panel(regression), random.Random(3)
    assert texts(numbers, "shifting") == panel.initial_texts()
    for _ in range(15):
        number = chance.randrange(2)
        one = panel.models[number]
        place, ratio = chance.randrange(one.shift.size), chance.choice([0.2, 1, 2, 7.5])
        go(numbers, model=one.name, at=repr(float(one.shift[place])), low=ratio)
        assert texts(numbers, "shifting") == panel.texts(number, place, ratio)
    assert numbers.console == []
    assert numbers.page.locator("img").count() == 0


def test_of_numbers_alpha_leads_to_the_shift_of_decide(numbers, regression):
    page = numbers.page
    go(numbers, model="near", at="own", low=1)
    page.locator("#alpha").focus()
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    page.click("#fittest")
    numbers.shown()
    ratio = float(fragment(numbers)["low"])
    assert ratio == pytest.approx(4)
    best = regression.decide(ss.Asymmetry(under=ratio, over=1)).best
    said = texts(numbers, "shifting")
    assert said["model"] == best.model
    assert float(said["shift"].replace("−", "-")) == pytest.approx(best.shift, rel=5e-3)
    assert float(said["loss"]) == pytest.approx(best.loss, rel=5e-3)
    page.reload()
    numbers.settle()
    assert texts(numbers, "shifting") == said


@pytest.mark.parametrize("which", ["iris", "regression"])
def test_the_other_panels_suit_everybody_too(visit, axe, tmp_path, request, which):
    found = visit(request.getfixturevalue(which).report(tmp_path / "page.html"), width=390)
    assert found.console == []
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 390
    found.page.evaluate(axe + "; undefined")
    result = found.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [one for one in result["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in serious] == []


# --- every kind of page


def hostile_classes():
    table = scored(3, 90, [HOSTILE, "it's {} {{7*7}}", "=1+1"])
    return sections.document(ss.evaluate({HOSTILE: table, "d": table.decisions}), title=HOSTILE)


def hostile_audit():
    chance = np.random.default_rng(0)
    table = {
        "age": chance.integers(18, 90, 60),
        HOSTILE: chance.choice(["u", HOSTILE], 60),
        "y": chance.integers(0, 2, 60),
    }
    return audit.document(ss.audit(table, target="y"))


def run_without_pictures():
    grid = Grid(("data set", "fits"), ((HOSTILE, "10 of 10"),), folded=HOSTILE)
    return Document(HOSTILE, HOSTILE, (Section("run", "Run", (Text(HOSTILE), grid)),), (HOSTILE, HOSTILE))


KINDS = {
    "classes": hostile_classes,
    "clusters": lambda: clusters.document(
        ss.clusters(points(), labels=["one", "two"], features="x*", resamples=5, replicates=20)
    ),
    "rules": lambda: rules.document(ss.rules(baskets())),
    "audit": hostile_audit,
    "benchmark": lambda: experiments.document(summary(), HOSTILE),
    "no pictures": run_without_pictures,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_page_is_quiet_safe_and_for_everybody(visit, axe, tmp_path, kind):
    path = tmp_path / "page.html"
    path.write_text(page_of.render(KINDS[kind]()), encoding="utf-8")
    found = visit(path, width=390)
    found.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    found.settle()
    assert found.console == []
    assert found.requests == [path.as_uri()]
    assert found.page.locator("img").count() == 0
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert found.page.locator("h1").count() == 1
    found.page.evaluate(axe + "; undefined")
    result = found.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [one for one in result["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in serious] == []
    wanted = found.page.evaluate(
        "[...document.querySelectorAll('button, input, summary, nav a')].filter(one => one.checkVisibility() && "
        "!one.disabled && !(one.type === 'radio' && !one.checked)).length"
    )
    reached = set()
    for _ in range(3 * wanted + 20):  # tables that scroll can be reached, too
        found.page.keyboard.press("Tab")
        one = found.page.evaluate(
            "(() => { const e = document.activeElement; if (e === document.body) return ''; "
            "window.marks ??= new Map(); if (!marks.has(e)) marks.set(e, marks.size);"
            "return e.matches('button, input, summary, nav a') ? String(marks.get(e)) : '-'; })()"
        )
        if not one and reached:
            break
        reached |= {one} - {"", "-"}
    assert len(reached) == wanted


MADE = 'drawn("</script><!-- ");'


@pytest.fixture
def made(monkeypatch, tmp_path):
    """Count how often the script is made, with an empty cache."""
    calls = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(html.sys, "platform", "linux")
    monkeypatch.setattr(html, "_build_vega", lambda: calls.append(1) or MADE)
    yield calls
    html.vega.cache_clear()


def script():
    """The script as a new process would get it."""
    html.vega.cache_clear()
    return html.vega()


def test_it_is_made_once_and_then_read(made):
    first = script()
    assert first == script() == 'drawn("<\\/script><\\!-- ");'
    assert len(made) == 1


def test_the_file_names_the_version_and_holds_its_hash(made, tmp_path):
    script()
    (kept,) = (tmp_path / "cache" / "scorespace").iterdir()
    assert kept == html.vega_cache_file()
    assert kept.name.startswith(f"vega-{version('vl-convert-python')}-")
    assert kept.read_text() == f"{hashlib.sha256(MADE.encode()).hexdigest()}\n{MADE}"


@pytest.mark.parametrize("spoil", [lambda b: b[:-1], lambda b: b + b" ", lambda b: b"", lambda b: b"\xff" * 90])
def test_what_is_not_whole_is_made_again(made, spoil):
    script()
    place = html.vega_cache_file()
    place.write_bytes(spoil(place.read_bytes()))
    assert script() == script()
    assert len(made) == 2


def test_another_version_or_snippet_has_a_file_of_its_own(made, monkeypatch):
    script()
    monkeypatch.setattr(html, "version", lambda name: "0")
    script()
    monkeypatch.setattr(html, "SNIPPET", "another")
    script()
    assert len(made) == 3
    assert len(list(html.vega_cache_file().parent.iterdir())) == 3


def test_a_cache_that_cannot_be_written_is_no_mistake(made, monkeypatch, tmp_path):
    (tmp_path / "cache").write_text("a file, and no folder")
    assert script() == script()
    assert len(made) == 2


def test_a_failure_leaves_nothing_behind(made, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    script()
    assert list(html.vega_cache_file().parent.iterdir()) == []


@pytest.mark.parametrize(
    ("platform", "stated", "usual"),
    [
        ("linux", "XDG_CACHE_HOME", ".cache"),
        ("darwin", "XDG_CACHE_HOME", "Library/Caches"),
        ("win32", "LOCALAPPDATA", "AppData/Local"),
    ],
)
def test_where_it_is_kept(monkeypatch, tmp_path, platform, stated, usual):
    monkeypatch.setattr(html.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.setenv(stated, str(tmp_path))
    assert html.vega_cache_file().parent == tmp_path / "scorespace"
    for nothing in ("", "not/absolute"):
        monkeypatch.setenv(stated, nothing)
        assert html.vega_cache_file().parent == tmp_path / "home" / usual / "scorespace"


def test_without_a_home_it_is_made_every_time(made, monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", nobody)
    assert script() == script()
    assert len(made) == 2


@pytest.mark.skipif(os.name != "posix", reason="other systems have other rights")
def test_others_cannot_write_there(made):
    script()
    assert stat.S_IMODE(html.vega_cache_file().parent.stat().st_mode) == 0o700


def test_the_real_script_is_kept_and_then_spares_loading_vl_convert(tmp_path):
    code = (
        "import sys\nfrom scorespace.report.html import vega\n"
        "text = vega()\nprint(len(text) > 500_000, '</script' in text, 'vl_convert' in sys.modules)"
    )
    where = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    runs = [
        subprocess.run([sys.executable, "-c", code], env=where, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert runs == ["True False True\n", "True False False\n"]


# --- axes


@pytest.fixture(scope="module")
def rare_page(chromium, tmp_path_factory):
    """The page of rare positives, whose ROC curve opens with a log axis."""
    chance = np.random.default_rng(3)
    truth = (chance.random(20_000) < 0.004).astype(int)
    score = 1 / (1 + np.exp(-(3.0 * truth - 6 + chance.normal(size=truth.size))))
    ev = ss.evaluate({"y": truth, "s": score}, truth="y", scores="s")
    context = chromium.new_context(viewport={"width": 1200, "height": 900})
    yield entered(context, ev.report(tmp_path_factory.mktemp("rare") / "rare.html", sections=["panel"])).settle(), ev
    context.close()


def test_a_log_axis_says_so_and_can_be_switched_off(rare_page):
    found, _ = rare_page

    def titles():
        return found.page.locator("[data-key='roc'] .role-axis-title text").all_text_contents()

    def lines():  # of equal cost
        return found.page.locator("[data-key='roc'] .mark-rule.role-mark line").count()

    assert "False positive rate (log scale)" in titles()
    assert lines() == 0
    choose(found, "Linear axis")
    found.settle()
    assert "False positive rate" in titles()
    assert lines() == 1
    assert fragment(found)["axes"] == "linear"
    found.page.reload()
    found.settle()
    assert "False positive rate" in titles()
    choose(found, "Log axis")
    found.settle()
    assert "False positive rate (log scale)" in titles()
    assert found.console == []


def test_on_a_log_axis_the_band_is_computed_where_it_is_shown(rare_page):
    _, ev = rare_page
    spec = ev.drawing("roc", band=True, axes="log")
    band = next(rows for rows in spec["datasets"].values() if rows and "low" in rows[0])
    inside = [row["x"] for row in band if 1e-5 < row["x"] < 1e-2]
    assert len(inside) > 50  # 101 evenly spaced rates have one there
    exact = ev.band("roc", "s", simultaneous=True)
    assert {row["x"] for row in band} >= {round(float(x), 6) for x in exact.x}


def test_a_page_of_one_model_and_of_ten_stay_small(tmp_path):
    chance = np.random.default_rng(6)
    truth = (chance.random(5000) < 0.3).astype(int)
    data = {"y": truth, **{f"m{k}": 1 / (1 + np.exp(-chance.normal(k / 4 * truth, 1))) for k in range(1, 11)}}
    credit = str(files("scorespace.data") / "german_credit.csv")
    one = ss.evaluate(credit, truth="outcome", scores="naive_bayes", positive="bad").report(tmp_path / "one.html")
    assert one.stat().st_size <= 1_600_000
    ten = ss.evaluate(data, truth="y", scores=[name for name in data if name != "y"]).report(tmp_path / "ten.html")
    assert ten.stat().st_size - len(html.vega()) <= 3_000_000

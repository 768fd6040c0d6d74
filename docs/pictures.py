"""Draw the figures of the documentation: `python docs/pictures.py`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import scorespace as ss
from scorespace.decisions.hard_cases import zones
from scorespace.inference import parametric_bootstrap
from scorespace.inference.bootstrap import evaluate_replicates
from scorespace.inference.subsampling import single_sample
from scorespace.measures import parse
from scorespace.measures.request import Request, bind
from scorespace.report.chart_files import save
from scorespace.report.chart_theme import COLOURS
from scorespace.report.smooth_charts import smooth_chart, zones_chart

HERE = Path(__file__).parent
SIX = ss.score_table([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.01])
RATERS = {
    "Ann": ss.score_table([1, 1, 1, 0, 0, 0], [0.95, 0.85, 0.55, 0.45, 0.15, 0.05]),
    "Bob": ss.score_table([1, 1, 0, 0, 0, 0], [0.9, 0.6, 0.48, 0.4, 0.1, 0.3]),
}


def draw(folder: Path) -> list[Path]:
    """Write every figure into a folder, and return their paths."""
    with as_file(files("scorespace.data") / "german_credit.csv") as credit:
        found = ss.evaluate(credit, truth="outcome", scores=["naive_bayes", "logistic"], positive="bad")
    bayes = found.models.score_table("naive_bayes")
    charts = {
        "six.svg": smooth_chart({"six cases": ss.smooth(SIX)}),
        "raters.svg": smooth_chart({name: ss.smooth(table) for name, table in RATERS.items()}),
        "credit.svg": found.drawing("smooth"),
        "zones.svg": zones_chart(bayes, zones(bayes)),
    }
    charts |= {"resampled-brier.svg": brier_spread(), "resampled-ks.svg": ks_spread()}
    folder.mkdir(parents=True, exist_ok=True)
    return [save(chart, folder / name) for name, chart in charts.items()]


def sample(rng: np.random.Generator, cases: int, share: float) -> ss.ScoreTable:
    """Return a sample with calibrated binormal scores and an AUC of about 0.8."""
    shift, start = 1.19, np.log(share / (1 - share))
    label = rng.random(cases) < share
    x = rng.normal(size=cases) + shift * label
    return ss.score_table(label, 1 / (1 + np.exp(-(start + shift * x - shift**2 / 2))))


def brier_spread() -> Any:
    """Chart of the Brier score over new samples and over stratified and unstratified bootstrap replicates."""
    rng, brier = np.random.default_rng(4), bind(parse("brier"), sample(np.random.default_rng(0), 50, 0.1))
    over = np.array([float(brier.on(sample(rng, 500, 0.1))) for _ in range(1500)])
    one = sample(rng, 500, 0.1)
    centre = float(brier.on(one))
    spread = {
        "new samples": over - over.mean(),
        "bootstrap of all cases": _resampled(brier, one, within=False) - centre,
        "stratified bootstrap": _resampled(brier, one, within=True) - centre,
    }
    return spread_chart(spread, "Brier score minus its mean")


def ks_spread() -> Any:
    """Chart of the error of KS over new samples, bootstrap replicates, and a parametric bootstrap."""
    rng, ks = np.random.default_rng(6), bind(parse("ks"), sample(np.random.default_rng(0), 50, 0.5))
    truth = float(ks.on(sample(rng, 400_000, 0.5)))
    over = np.array([float(ks.on(sample(rng, 100, 0.5))) for _ in range(1500)])
    one = sample(rng, 100, 0.5)
    cases, pos = one.pos + one.neg, one.pos
    rates = parametric_bootstrap.rates_by_rank(cases, pos)
    known = float(ks.on(_labelled(one, cases * rates)))
    again = ks.on(_labelled(one, parametric_bootstrap.draw_labels(cases, rates, rng, 1500)))
    spread = {
        "new samples, minus the true value": over - truth,
        "bootstrap, minus the estimate": _resampled(ks, one, within=True) - float(ks.on(one)),
        "parametric bootstrap, minus its true value": again - known,
    }
    return spread_chart(spread, "Error of KS")


def _resampled(request: Request, table: ss.ScoreTable, *, within: bool) -> np.ndarray:
    source = single_sample("model", table)
    draw = source.drawer(within)
    return evaluate_replicates(draw, lambda drawn: request.on(drawn["model"]), source.cost)


def _labelled(table: ss.ScoreTable, hits: np.ndarray) -> ss.ScoreTable:
    cases = table.pos + table.neg
    return ss.ScoreTable(table.score, np.stack([cases - hits, hits], axis=-2), ("0", "1"), 1)


def spread_chart(values: dict[str, np.ndarray], title: str) -> dict[str, Any]:
    """Return a Vega-Lite specification of smoothed densities, one line per name."""
    ends = np.quantile(np.concatenate(list(values.values())), [0.002, 0.998])
    edges = np.linspace(*ends, 61)
    kernel = np.exp(-((np.arange(-9, 10) / 3) ** 2) / 2)  # few cases have few distinct values
    rows = [
        {"name": name, "x": float(x), "y": float(y)}
        for name, found in values.items()
        for heights in [np.convolve(np.histogram(found, edges, density=True)[0], kernel, "same")]
        for x, y in zip((edges[1:] + edges[:-1]) / 2, heights, strict=True)
    ]
    line = {
        "mark": {"type": "line", "strokeWidth": 2.4, "interpolate": "monotone"},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": title},
            "y": {"field": "y", "type": "quantitative", "title": "density", "axis": {"labels": False}},
            "color": {
                "field": "name",
                "type": "nominal",
                "title": None,
                "scale": {"domain": list(values), "range": list(COLOURS[: len(values)])},
                "legend": {"orient": "top", "columns": 1, "labelLimit": 400},
            },
        },
    }
    zero = {"data": {"values": [{"x": 0}]}, "mark": {"type": "rule", "strokeDash": [3, 3], "color": "#98a2ae"}}
    zero["encoding"] = {"x": {"field": "x", "type": "quantitative"}}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": 520,
        "height": 240,
        "data": {"values": rows},
        "layer": [zero, line],
    }


def shoot(path: Path) -> Path:
    """Take a screenshot of the first screen of the demo report in the system's Chromium."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        subprocess.run([sys.executable, "-m", "scorespace", "demo"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        executable = next(filter(None, map(shutil.which, names)))
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 920})
        page.goto((Path(folder) / "scorespace-demo.html").as_uri())
        page.locator("figure.picture[data-drawn=yes]").nth(1).wait_for()
        page.wait_for_timeout(500)
        page.screenshot(path=path)
        browser.close()
    return path


if __name__ == "__main__":
    print(shoot(HERE / "report.png").name)
    for path in draw(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "smooth"):
        print(path.name)

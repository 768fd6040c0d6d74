"""Draws the pictures of the pages: `python docs/pictures.py` writes them again."""

from __future__ import annotations

import sys
from importlib.resources import as_file, files
from pathlib import Path

import scorespace as ss
from scorespace.decisions.cases import zones
from scorespace.views.charts import save, smooth_chart, zones_chart

HERE = Path(__file__).parent
SIX = ss.score_table([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.01])
RATERS = {
    "Ann": ss.score_table([1, 1, 1, 0, 0, 0], [0.95, 0.85, 0.55, 0.45, 0.15, 0.05]),
    "Bob": ss.score_table([1, 1, 0, 0, 0, 0], [0.9, 0.6, 0.48, 0.4, 0.1, 0.3]),
}


def draw(folder: Path) -> list[Path]:
    """Write every picture into a folder, and return where they are."""
    with as_file(files("scorespace.data") / "german_credit.csv") as credit:
        found = ss.evaluate(credit, truth="outcome", scores=["naive_bayes", "logistic"], positive="bad")
    bayes = found.score_table("naive_bayes")
    charts = {
        "six.svg": smooth_chart({"six cases": ss.smooth(SIX)}),
        "raters.svg": smooth_chart({name: ss.smooth(table) for name, table in RATERS.items()}),
        "credit.svg": found.plot("smooth"),
        "zones.svg": zones_chart(bayes, zones(bayes)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    return [save(chart, folder / name) for name, chart in charts.items()]


if __name__ == "__main__":
    for path in draw(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "smooth"):
        print(path.name)

"""Plots: a spec for pages and files, and the same as a chart for people who go on with Altair."""

import subprocess
import sys

import altair as alt
import numpy as np
import pytest

import scorespace as ss
from scorespace.views import plots
from scorespace.views.charts import distribution_chart
from scorespace.views.charts.drift import drift_chart


def sample(seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 60)
    return {"y": truth, "s": (rng.random(60) + truth) / 2, "p": rng.random(60)}


@pytest.fixture(scope="module")
def evaluation():
    return ss.evaluate(sample(), truth="y", scores=["s", "p"])


def without_theme(spec):
    """Altair adds the view of its own theme to the configuration."""
    view = {key: value for key, value in spec["config"]["view"].items() if not key.startswith("continuous")}
    return {**spec, "config": {**spec["config"], "view": view}}


@pytest.mark.parametrize("kind", ["roc", "pr", "cost", "smooth", "threshold", "rejection"])
def test_altair_shows_the_very_same_spec(evaluation, kind):
    chart = evaluation.plot(kind)
    assert isinstance(chart, alt.LayerChart)
    assert without_theme(chart.to_dict()) == plots.draw(evaluation, kind)


def test_it_is_displayed_saved_and_changed_like_any_chart(evaluation, tmp_path):
    chart = evaluation.plot("roc").properties(width=200, title="Mine")
    assert (chart.to_dict()["width"], chart.to_dict()["title"]) == (200, "Mine")
    assert chart._repr_mimebundle_(None, None)
    chart.save(str(tmp_path / "roc.svg"))
    assert ">Mine<" in (tmp_path / "roc.svg").read_text()


def test_every_form_of_chart_has_its_class(evaluation):
    panels = distribution_chart(dict(evaluation.models))
    assert isinstance(plots.as_altair(panels), alt.FacetChart)
    two = drift_chart(ss.drift(sample(1), sample(2), truth="y", scores="s", replicates=80))
    assert isinstance(plots.as_altair(two), alt.VConcatChart)
    assert without_theme(plots.as_altair(two).to_dict()) == two


def test_pages_and_files_need_no_altair(tmp_path):
    code = f"""
import sys
import scorespace as ss
from scorespace.views.charts import save
from scorespace.views.plots import draw
found = ss.evaluate({{"y": [1, 0, 1, 0], "s": [0.9, 0.4, 0.6, 0.7]}}, truth="y", scores="s", measures="auc")
found.report({str(tmp_path / "report.html")!r})
save(draw(found, "roc"), {str(tmp_path / "roc.svg")!r})
print("altair" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"

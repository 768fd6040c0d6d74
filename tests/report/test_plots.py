"""Plots: what belongs beside the curves; a spec for pages and files, and the same for people who go on with Altair."""

import json
import subprocess
import sys
from itertools import pairwise

import altair as alt
import numpy as np
import pytest

import scorespace as ss
from scorespace.calibration.tests import calibration_band
from scorespace.curves import brier_curve, calibration, cost_curve, net_benefit, pr, roc, smooth
from scorespace.curves.brier import net_benefit_of_all, optimal_curve
from scorespace.curves.macro_average import average_roc
from scorespace.evaluation.curves import CurveFamily, family, requested
from scorespace.report import plots
from scorespace.report.calibration import calibration_chart
from scorespace.report.confusion_charts import class_curves_chart
from scorespace.report.curve_charts import _frame, curve_chart
from scorespace.report.decision import cost_space_chart
from scorespace.report.drift import drift_chart
from scorespace.report.linked_charts import link_to_panel
from scorespace.report.score_charts import distribution_chart
from scorespace.report.smooth_charts import smooth_chart

ONE = ss.score_table([1, 0, 1, 0, 0], [0.9, 0.4, 0.6, 0.7, 0.1])
OTHER = ss.score_table([1, 0, 1, 0, 0], [0.8, 0.5, 0.3, 0.2, 0.1])
RARE = ss.score_table([1, 0, 0, 0, 0], [0.8, 0.5, 0.3, 0.2, 0.1])
TABLES = {"one": ONE, "other": OTHER}


def spec(chart):
    """A chart without the names that Altair numbers."""
    found = chart if isinstance(chart, dict) else chart.to_dict()
    return json.dumps(found, sort_keys=True)


def picture(kind, tables=TABLES, bands=None, classes=None):
    return CurveFamily(kind, curves(kind, tables), tables, classes or {}).picture(bands)


def curves(kind, tables=TABLES):
    return {name: kind(table) for name, table in tables.items()}


def test_brier_curves_stand_beside_the_recalibrated_ones():
    best = {f"{name}, recalibrated": optimal_curve(table) for name, table in TABLES.items()}
    of = {name: name.partition(",")[0] for name in best}
    chart = picture(brier_curve)
    assert spec(chart) == spec(curve_chart({**curves(brier_curve), **best}, of=of))
    scale = next(layer["encoding"]["color"]["scale"] for layer in chart["layer"] if "color" in layer["encoding"])
    colours = dict(zip(scale["domain"], scale["range"], strict=True))
    assert all(colours[name] == colours[model] for name, model in of.items())


def test_acting_on_all_is_drawn_once_where_it_is_the_same():
    all_ = {"acting on all": net_benefit_of_all(0.4)}
    assert spec(picture(net_benefit)) == spec(curve_chart({**curves(net_benefit), **all_}))


def test_acting_on_all_is_drawn_for_each_where_prevalence_differs():
    tables = {"one": ONE, "rare": RARE}
    each = {"one, acting on all": net_benefit_of_all(0.4), "rare, acting on all": net_benefit_of_all(0.2)}
    of = {name: name.partition(",")[0] for name in each}
    assert spec(picture(net_benefit, tables)) == spec(curve_chart({**curves(net_benefit, tables), **each}, of=of))


def test_chance_in_pr_space_is_the_prevalence():
    assert spec(picture(pr)) == spec(curve_chart(curves(pr), baseline=0.4))


def test_chance_of_different_prevalences_is_not_one_line():
    tables = {"one": ONE, "rare": RARE}
    assert spec(picture(pr, tables)) == spec(curve_chart(curves(pr, tables)))


def test_pictures_of_their_own():
    lines = {name: curve.lines for name, curve in curves(cost_curve).items()}
    assert spec(picture(cost_curve)) == spec(cost_space_chart(curves(cost_curve), lines))
    assert spec(picture(smooth)) == spec(smooth_chart(curves(smooth)))
    assert spec(picture(calibration)) == spec(calibration_chart(curves(calibration), TABLES))


def test_the_mean_of_classes_is_drawn_with_them():
    classes = {"m[a]": "a", "m[b]": "b"}
    tables = dict(zip(classes, TABLES.values(), strict=True))
    drawn = {"a": roc(ONE), "b": roc(OTHER)}
    assert spec(picture(roc, tables, classes=classes)) == spec(
        class_curves_chart(drawn, average_roc(drawn.values()), "roc")
    )


@pytest.mark.parametrize("kind", [roc, pr, smooth, calibration, brier_curve])
def test_the_frame_is_that_of_the_declaration(kind):
    assert _frame(kind.name) == kind.frame


def test_a_curve_of_no_declared_kind_is_framed_by_its_points():
    assert _frame("smooth_counts") == type(roc.frame)()


# --- for pages, files and Altair


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
    assert without_theme(chart.to_dict()) == family(evaluation, requested(kind)).picture()


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
from scorespace.report.chart_files import save
from scorespace.calibration.tests import calibration_band
from scorespace.evaluation.curves import CurveFamily, family, requested
found = ss.evaluate({{"y": [1, 0, 1, 0], "s": [0.9, 0.4, 0.6, 0.7]}}, truth="y", scores="s", measures="auc")
found.report({str(tmp_path / "report.html")!r})
save(family(found, requested("roc")).picture(), {str(tmp_path / "roc.svg")!r})
print("altair" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(("part", "side"), [({"fpr_high": 0.2}, ("y", 0)), ({"tpr_low": 0.8}, ("x", 1))])
def test_a_partial_area_is_shaded(part, side):
    table = ss.score_table([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.4, 0.3, 0.1])

    def shaded(curve):
        drawn = CurveFamily(requested("roc").noun, {"nb": curve}, {"nb": table}, {}).picture()
        layers = [layer for layer in drawn["layer"] if layer["mark"].get("filled") and layer["mark"]["type"] == "line"]
        return [drawn["datasets"][layer["data"]["name"]] for layer in layers]

    (rows,) = shaded(roc(table, **part))
    name, end = side
    assert [row[name] for row in rows][-2:] == [end, end]  # closed along the axis
    assert not shaded(roc(table))


# --- what was wrong with the charts of the page


def cases(size=3000, share=0.4, seed=0):
    chance = np.random.default_rng(seed)
    truth = (chance.random(size) < share).astype(int)
    return truth, 1 / (1 + np.exp(-chance.normal(2 * truth - 1, 1)))


def test_net_benefit_of_a_score_near_one_leaves_the_rest_to_be_seen():
    truth, score = cases()
    score[:2] = 1 - 1e-13, 0.9999999
    truth[:2] = 0
    chart = picture(net_benefit, {"one": ss.score_table(truth, score)})
    rows = [row for row in max(chart["datasets"].values(), key=len) if row["name"] == "one"]
    low, high = chart["layer"][2]["encoding"]["y"]["scale"]["domain"]
    assert low == pytest.approx(-0.3 / 1.05 * high)
    assert min(row["y"] for row in rows) >= 2 * low
    assert sum(low <= row["y"] <= high for row in rows) > 200


def test_cost_space_is_no_moire():
    tables = {f"m{k}": ss.score_table(*cases(seed=k)) for k in range(3)}
    chart = picture(cost_curve, tables)
    assert len({row["line"] for rows in chart["datasets"].values() for row in rows if "line" in row}) <= 15


def test_one_band_of_calibration_at_a_time():
    tables = {f"m{k}": ss.score_table(*cases(seed=k)) for k in range(2)}
    bands = {name: calibration_band(table, simultaneous=True) for name, table in tables.items()}
    chart = picture(calibration, tables, bands)
    (area,) = [layer for layer in chart["layer"] if layer["mark"]["type"] == "area"]
    assert area["transform"] == [{"filter": "datum.name === model"}]
    assert [param["value"] for param in chart["params"] if param["name"] == "model"] == ["m0"]
    link_to_panel(chart, "calibration", {"model": "m1"})  # which the page then sets


def test_false_positives_have_a_log_axis_on_request():
    truth, score = cases(20_000, 0.004)
    evaluation = ss.evaluate({"y": truth, "s": score}, truth="y", scores="s")

    def scale(**options):
        layers = evaluation.drawing("roc", **options)["layer"]
        return next(layer["encoding"]["x"]["scale"] for layer in layers if "scale" in layer["encoding"]["x"])

    assert scale().get("type") is None
    assert scale(axes="log")["type"] == "log"
    assert scale(axes="log")["domain"] == [1e-5, 1]
    with pytest.raises(ss.ScoreSpaceError, match="pr has no log axis"):
        evaluation.drawing("pr", axes="log")
    with pytest.raises(ss.ScoreSpaceError, match="there are no 'loglog' axes"):
        evaluation.plot("roc", axes="loglog")


def test_the_name_of_chance_stands_beside_the_plot():
    chart = picture(roc)
    (name,) = [layer for layer in chart["layer"] if layer["mark"]["type"] == "text"]
    (row,) = chart["datasets"][name["data"]["name"]]
    assert (row["x"], name["mark"]["align"]) == (1, "left")


def test_the_legend_of_roc_tells_the_area():
    chart = picture(roc)
    (areas,) = [param["value"] for param in chart["params"] if param["name"] == "areas"]
    assert areas == {name: f"{ss.auc(table):.3f}" for name, table in TABLES.items()}


# --- pictures that are no curves


@pytest.fixture(scope="module")
def shown():
    truth, score = cases()
    return ss.evaluate({"y": truth, "a": score, "b": score[::-1]}, truth="y", scores=["a", "b"], measures="auc,tpr")


@pytest.mark.parametrize("kind", ["confusion", "distribution", "ranks", "measures"])
def test_pictures_of_an_evaluation(shown, kind, valid):
    assert valid(shown.drawing(kind))
    assert shown.plot(kind).to_dict()


def test_the_stacked_ranks_have_the_area_u(shown):
    chart = shown.drawing("ranks")
    truth, score = shown.models["a"].pos, shown.models["a"].score
    (rows,) = chart["datasets"].values()
    own = [row for row in rows if row["name"] == "a"]
    area = sum((b["x"] - a["x"]) * a["y"] for a, b in pairwise(own))
    assert truth.size == score.size
    assert area == pytest.approx(ss.auc(shown.models["a"]) * float(truth.sum()) * (3000 - truth.sum()), rel=1e-4)

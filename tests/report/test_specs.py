"""Every chart is a spec that Vega-Lite's schema allows, whatever the data are called."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.curves import roc
from scorespace.curves.curve import CURVES
from scorespace.curves.macro_average import average_roc
from scorespace.decisions.hard_cases import zones
from scorespace.measures import confusion as counted
from scorespace.report import sections
from scorespace.report.agreement import agreement_chart
from scorespace.report.confusion_charts import class_curves_chart, confusion_chart
from scorespace.report.curve_charts import threshold_chart
from scorespace.report.document import Picture
from scorespace.report.drift import drift_chart
from scorespace.report.ranking import rank_chart
from scorespace.report.regression_charts import rroc_chart
from scorespace.report.score_charts import distribution_chart
from scorespace.report.smooth_charts import zones_chart
from scorespace.tables import ResidualTable, residual_table

NAMES = ('it\'s "a.b[0]"', "</script>", "two\nlines")


def sample(seed=0, size=80):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, size)
    return {"y": truth, **{name: (1 / (1 + np.exp(-rng.normal(truth)))).round(2) for name in NAMES}}


@pytest.fixture(scope="module")
def evaluation():
    return ss.evaluate(sample(), truth="y", scores=list(NAMES), condition=ss.Condition(fp=1, fn=3))


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 9, 90)
    scores = rng.dirichlet(np.ones(9), 90) + np.eye(9)[truth]
    return ss.class_table(truth, scores / scores.sum(axis=1, keepdims=True))


def test_every_picture_of_the_page(evaluation, valid):
    pictures = [block for part in sections.document(evaluation).sections for block in part.blocks]
    pictures = [block for block in pictures if isinstance(block, Picture)]
    assert len(pictures) >= 12
    for picture in pictures:
        valid(picture.draw())


# costs of each case, periods, few probabilities, predictive distributions
NEEDS_MORE = ("case_cost", "capacity", "grades", "quantile_reliability", "pit")


@pytest.mark.parametrize(
    "kind", [one.name for one in CURVES if one.table is not ResidualTable and one.name not in NEEDS_MORE]
)
def test_every_kind_of_curve(evaluation, kind, valid):
    spec = valid(evaluation.drawing(kind))
    told = {row["name"] for rows in spec["datasets"].values() for row in rows if "name" in row}
    assert told >= set(NAMES)


def numbers(copies=1):
    truth = np.tile(np.arange(20.0), copies)
    sizes = dict(zip(NAMES, (4, 5), strict=False))
    return {name: residual_table(truth, truth + np.tile(range(n), truth.size // n)) for name, n in sizes.items()}


@pytest.mark.parametrize("kind", [one.name for one in CURVES if one.table is ResidualTable])
@pytest.mark.parametrize("copies", [1, 100])
def test_every_kind_of_predicted_numbers(kind, copies, valid):
    assert valid(ss.evaluate(numbers(copies)).drawing(kind))


def test_rroc_with_a_decision(valid):
    evaluation = ss.evaluate(numbers(), condition=ss.Asymmetry(under=2, over=1))
    curves = evaluation.curves("rroc")
    assert valid(rroc_chart(curves, evaluation.decision))


@pytest.mark.parametrize("options", [{"by": "count", "bins": 4, "band": True}, {"band": True}])
def test_calibration(evaluation, options, valid):
    assert valid(evaluation.drawing("calibration", **options))


def test_bands(evaluation, valid):
    assert valid(evaluation.drawing("roc", band=True))


def test_many_classes(classes, valid):
    curves = {label: roc(classes.one_vs_rest(k)) for k, label in enumerate(classes.classes)}
    valid(class_curves_chart(curves, average_roc(curves.values())))
    valid(confusion_chart(classes.decisions, NAMES[0]))
    valid(confusion_chart(ss.confusion(np.eye(40))))


def test_charts_of_one_table(evaluation, valid):
    table = evaluation.models[NAMES[0]]
    valid(zones_chart(table, zones(table)))
    valid(zones_chart(table, zones(table, 0.9)))
    valid(threshold_chart(table, [ss.tp, counted.f1]))
    valid(distribution_chart({"margin": ss.score_table([1, 0, 1], [-4, 1, 9])}))


def test_ranks(valid):
    assert valid(rank_chart(NAMES, [1.2, 1.9, 2.9], 1.1, [NAMES[:2], NAMES[1:]]))


def test_two_samples(valid):
    moved = ss.drift(sample(1), sample(2), truth="y", scores=list(NAMES[:2]), replicates=140)
    assert valid(drift_chart(moved))
    data = sample(3)
    data |= {f"{name} says": (data[name] > 0.5).astype(int) for name in NAMES}
    found = ss.agree(data, raters={name: (f"{name} says", name) for name in NAMES}, positive=1)
    assert valid(agreement_chart(found))

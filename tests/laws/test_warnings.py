"""No Python warning reaches a user: every measure, curve and page of tables at the edge of what there is."""

import warnings
from contextlib import suppress

import numpy as np
import pytest

import scorespace as ss
from scorespace.errors import ScoreSpaceError
from scorespace.evaluation.curves import kinds
from scorespace.measures import measures

EDGES = {
    "one case of each": ([1, 0], [0.9, 0.1]),
    "all wrong": ([1, 0], [0, 1]),
    "constant": ([1, 0, 1], [0.5, 0.5, 0.5]),
    "one class": ([0, 0, 0], [0.0, 0.2, 0.4]),
    "tiny scores": ([1, 0, 1, 0], [1e-320, 0, 0, 1]),
    "huge scores": ([1, 1, 0], [1e150, -1e150, 0]),
    "crisp": ([1, 0, 1, 0], [1, 0, 1, 0]),
}


@pytest.fixture(autouse=True)
def _strict():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(params=EDGES)
def edge(request):
    truth, score = EDGES[request.param]
    return ss.score_table(truth, score, positive=1)


@pytest.mark.parametrize("measure", measures(), ids=lambda one: one.name)
def test_no_measure_warns(measure, edge):
    for table in (edge, edge.at(0.5)):
        with suppress(ScoreSpaceError):  # refused in words
            measure(table)


@pytest.mark.parametrize("kind", kinds(), ids=lambda one: one.name)
def test_no_curve_warns(kind, edge):
    with suppress(ScoreSpaceError):
        found = kind(edge)
        found.area()
        repr(found)


@pytest.mark.parametrize("condition", [None, ss.Condition(fp=1e-9, fn=5), ss.Condition(fp=1, fn=5, prevalence=0.01)])
def test_no_page_warns(edge, condition):
    try:
        found = ss.evaluate({"edge": edge}, condition=condition)
        repr(found)
        found.to_dict()
        repr(found.document)
    except ScoreSpaceError:
        assert condition is not None  # no decision without cases of both classes


def test_complex_weights_are_refused_and_not_cut():
    with pytest.raises(ScoreSpaceError, match=r"weights must be numbers\."):
        ss.measure("auc", truth=[1, 0], score=[0.9, 0.1], weight=np.ones(2, complex))

"""Charts as plain SVG."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import scorespace as ss
from scorespace.views.still import svg

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def evaluation():
    chance = np.random.default_rng(0)
    truth = (chance.random(600) < 0.4).astype(int)
    data = {"y": truth, "a": chance.random(600) * 0.5 + truth * 0.3, HOSTILE: chance.random(600)}
    return ss.evaluate(data, truth="y", scores=["a", HOSTILE])


@pytest.mark.parametrize(
    "kind", ["roc", "pr", "cost", "brier", "net_benefit", "calibration", "smooth", "confusion", "distribution", "ranks"]
)
def test_every_chart_has_a_picture_in_which_names_are_text(evaluation, kind):
    text = svg(evaluation.drawing(kind))
    root = ElementTree.fromstring(text)
    words = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert len(words) > 4
    assert "<img" not in text
    assert any(HOSTILE in word for word in words)
    assert not re.search(r"nan|inf\b|None", " ".join(one for one in text.split('"')[1::2] if one[:1] in "M-0123456789"))


def test_lines_lie_where_the_curve_does(evaluation):
    root = ElementTree.fromstring(svg(evaluation.drawing("roc")))
    curve = evaluation.curve("roc", "a")
    paths = [one.get("d") for one in root.iter("{http://www.w3.org/2000/svg}path") if one.get("stroke") == "#0072b2"]
    drawn = max(paths, key=len)
    points = np.array([list(map(float, pair.split())) for pair in drawn[1:].split("L")])
    fpr, tpr = points[:, 0] / 420, 1 - points[:, 1] / 420
    for x, y in zip(fpr, tpr, strict=True):
        gaps = np.hypot(curve.x - x, curve.y - y)
        assert gaps.min() < 0.001


def test_what_is_not_understood_is_left_out():
    assert svg({"mark": "no such mark", "data": {"values": [{}]}}).startswith("<svg")


def test_large_numbers_at_an_axis_are_told_whole_and_leave_room_for_its_title():
    chance = np.random.default_rng(1)
    truth = 50_000 * chance.random(50)
    text = svg(ss.evaluate({"y": truth, "p": truth * 1.1}, truth="y", predictions="p").drawing("predicted"))
    assert "20 000" in text
    assert "e+0" not in text
    (shift,) = re.findall(r"translate\((-\d+\.?\d*) \d+\.?\d*\) rotate", text)
    assert float(shift) < -46

"""Styles and sizes of charts: what is written has the stated size, and colours that differ in grey."""

import re
import struct

import pytest

import scorespace as ss
from helpers.shown import SIX
from scorespace.errors import DataError
from scorespace.report.chart_files import save
from scorespace.report.chart_styles import STYLES, parse_size, styled

EVALUATION = ss.evaluate(SIX["y"], {"a": SIX["s"], "b": [0.1, *SIX["s"][1:]]})


def written(tmp_path, chart, ending):
    return save(chart, tmp_path / f"chart{ending}").read_bytes()


@pytest.mark.parametrize("kind", ["pr", "threshold(measure=acc)", "cost", "distribution"])
@pytest.mark.parametrize("size", ["12x8cm", "20x9cm"])
def test_no_file_is_larger_than_stated(tmp_path, kind, size):
    chart = styled(EVALUATION.drawing(kind), "paper", size)
    width, height = parse_size(size)
    found = re.search(rb'width="([\d.]+)pt" height="([\d.]+)pt"', written(tmp_path, chart, ".svg"))
    sides = [float(side) / 72 * 2.54 for side in found.groups()]
    assert sides[0] <= width + 0.05
    assert sides[1] <= height + 0.05
    assert max(sides[0] / width, sides[1] / height) > 0.98


def test_png_has_the_stated_resolution(tmp_path):
    chart = styled(EVALUATION.drawing("threshold(measure=acc)"), "paper", "12x8cm")
    pixels = struct.unpack(">II", written(tmp_path, chart, ".png")[16:24])
    assert pixels == pytest.approx((12 / 2.54 * 300, 8 / 2.54 * 300), abs=10)


def test_fonts_have_the_stated_sizes(tmp_path):
    for style, points in (("slide", 18), ("paper", 8)):
        assert f'font-size="{points}px"' in written(tmp_path, styled(EVALUATION.drawing("roc"), style), ".svg").decode()


def test_a_square_stays_square():
    chart = styled(EVALUATION.drawing("roc"), "slide")
    assert chart["width"] == chart["height"]


def test_greys_differ_by_lightness():
    greys = [int(colour[1:3], 16) for colour in list(STYLES["paper"].colours.values())[-6:-3]]
    assert min(b - a for a, b in zip(sorted(greys), sorted(greys)[1:], strict=False)) > 60


@pytest.mark.parametrize("size", ["12", "12x8km", "1x8cm", "axb", "12x", "1e3x2"])
def test_sizes_that_cannot_be(size):
    with pytest.raises(DataError, match="12x8cm"):
        parse_size(size)

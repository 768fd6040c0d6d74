"""Python as people type it: curves of arrays, LaTeX, frames, and names of scikit-learn."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.dependencies import SCIKIT_LEARN

Y, P = [1, 0, 1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7, 0.8, 0.2]


@pytest.mark.parametrize("kind", ["roc", "pr", "smooth", "gain", "calibration", "cost_curve", "net_benefit"])
def test_a_curve_of_arrays_is_that_of_their_table(kind):
    curve = getattr(ss, kind)
    assert curve(Y, P) == curve(ss.score_table(Y, P))


def test_the_positive_class_is_stated_with_arrays():
    labels = ["ill" if one else "well" for one in Y]
    assert np.array_equal(ss.roc(labels, P, positive="ill").y, ss.roc(Y, P).y)
    assert ss.roc(Y, P).area() == pytest.approx(8 / 9)  # one of nine pairs is in the wrong order


def test_results_have_charts_frames_and_latex():
    curve = ss.roc(Y, P)
    assert curve.plot().to_dict()["layer"]
    assert len(curve.to_frame()) == len(curve.rows()) == 7
    found = ss.evaluate(Y, {"a_1": P, "b": P[::-1]})
    for latex in (found.to_latex(), found.measures("auc").to_latex(), found.compare().to_latex(), curve.to_latex()):
        assert latex.count(r"\toprule") == latex.count(r"\bottomrule") >= 1
    assert r"a\_1" in found.to_latex()
    assert len(found.compare().to_frame()) == 1


@pytest.mark.parametrize("name", SCIKIT_LEARN)
def test_names_of_scikit_learn_lead_to_ours(name):
    with pytest.raises(AttributeError, match=r"; use ss\.") as caught:
        getattr(ss, name)
    assert SCIKIT_LEARN[name] in str(caught.value)

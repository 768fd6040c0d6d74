"""The page of a recalibration."""

import numpy as np

from scorespace.probabilities.effect import Effect, Recalibration
from scorespace.probabilities.maps import LogisticMap
from scorespace.views import recalibration as view
from scorespace.views import terminal

EFFECTS = (
    Effect("brier", 0.25, 0.2),
    Effect("cal", 0.05, 0.0),
    Effect("ref", 0.2, 0.2),
    Effect("logloss", np.inf, np.inf, "infinite"),
    Effect("auc", 0.7, 0.71),
)


def found(effects=EFFECTS):
    return Recalibration(
        "x.csv", "nb", "platt", "by hand", 2, 2, ("nb_calibrated",), LogisticMap(), np.zeros(2), effects
    )


def test_changes_bear_their_sign():
    rows = view.effect_grid(found()).rows
    assert [row[0] for row in rows] == ["brier ↓", "cal ↓", "ref ↓", "logloss ↓", "auc ↑"]
    assert [row[3] for row in rows] == ["−0.050", "−0.050", "0.000", "–", "+0.010"]


def test_without_a_truth_there_is_no_table():
    text = terminal.text(view.document(found(())))
    assert text.splitlines()[0] == "x.csv   2 cases   platt, by hand"
    assert "before" not in text

"""What a recalibration did: measures before and after, and what is said of them."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from scorespace.calibration.maps import LogisticMap, PlattMap, TemperatureMap
from scorespace.calibration.recalibration_effect import MeasureEffect, Recalibration, effects, map_notes
from scorespace.errors import MeasureError
from scorespace.tables import class_table, score_table

INF, NAN = math.inf, math.nan


def found(*, method="isotonic", fitted="cross-fitted", map=None, **values):
    """A recalibration that changes these measures, and no other."""
    held = {"brier": (0.2, 0.2), "cal": (0.1, 0.1), "ref": (0.1, 0.1), "logloss": (0.6, 0.6), "auc": (0.8, 0.8)}
    told = tuple(MeasureEffect(name, *values.get(name, pair)) for name, pair in held.items())
    return Recalibration("x.csv", "nb", method, fitted, 1200, 1200, ("p",), map or LogisticMap(), np.zeros(2), told)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (
            found(brier=(0.25, 0.2)),
            "Isotonic lowers the Brier score of nb from 0.250 to 0.200. The ranking stays as good as it was "
            "(AUC 0.800).",
        ),
        (
            found(method="platt", brier=(0.2, 0.25), auc=(0.8, 0.7)),
            "Platt's map does not help: it raises the Brier score of nb from 0.200 to 0.250. AUC falls from 0.800 to "
            "0.700: each fold has its own map, so the ranking changes.",
        ),
        (
            found(method="minmax", fitted="on other data", brier=(NAN, 0.2), auc=(0.8, 0.9)),
            "Min-max puts the scores of nb between 0 and 1: Brier score 0.200, of which 0.100 is calibration loss. AUC "
            "rises from 0.800 to 0.900.",
        ),
        (
            found(method="logistic", brier=(NAN, NAN), auc=(NAN, 0.9)),
            "The logistic map does not make probabilities of the scores of nb.",
        ),
        (
            found(logloss=(0.6, INF), map=PlattMap(-1.0, 0.0)),
            "Isotonic hardly changes the Brier score of nb (0.200). Its log loss is infinite: the actual class of a "
            "case "
            "got probability 0. The ranking stays as good as it was (AUC 0.800).",
        ),
        (
            replace(found(), effects=()),
            "Isotonic was applied to 1 200 cases; without true labels its effect is unknown.",
        ),
    ],
)
def test_the_words(made, words):
    assert repr(made) == made.words == words


def test_one_measure_before_and_after():
    one = found(brier=(0.25, 0.2)).effect("brier")
    assert (one.change, one.arrow) == (pytest.approx(-0.05), "↓")
    assert math.isnan(MeasureEffect("logloss", INF, INF).change)
    assert MeasureEffect("logloss", INF, 0.5).change == -INF
    with pytest.raises(MeasureError) as caught:
        found().effect("ks")
    assert (
        str(caught.value)
        == "ks was not compared.\n  seen: 'brier', 'cal', 'ref', 'logloss', 'auc'\n  hint: one of these"
    )


def test_it_is_rows_and_json():
    made = found(brier=(NAN, 0.2), logloss=(INF, 0.5), map=PlattMap(2.0, -1.0))
    told = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert told["rows"][0]["before"] is told["rows"][0]["difference"] is None
    assert [row["measure"] for row in made.rows()] == ["brier", "cal", "ref", "logloss", "auc"]
    assert told["verdict"] == made.words
    assert made.saved_map()["about"] == {"model": "nb", "positive": None, "cases": 1200}


def test_effects_are_the_measures_of_both_tables():
    truth = [1, 0, 1, 0]
    before, after = score_table(truth, [9.0, 4.0, 6.0, 7.0]), score_table(truth, [0.9, 0.4, 0.4, 0.7])
    told = {one.measure: one for one in effects(before, after)}
    assert told["brier"].reason == "before: the scores are not probabilities"
    assert math.isnan(told["brier"].before)
    assert told["brier"].after == pytest.approx((0.01 + 0.16 + 0.36 + 0.49) / 4)
    assert (told["auc"].before, told["auc"].after) == (3 / 4, 2.5 / 4)
    several = class_table(list("xy"), [[0.2, 0.8], [0.3, 0.7]])
    assert [one.measure for one in effects(several, several)][-1] == "auc[hand_till]"


SCORES = np.array([0.1, 0.2, 0.3, 0.3])


@pytest.mark.parametrize(
    ("method", "map", "after", "outside", "impossible", "texts"),
    [
        ("isotonic", LogisticMap(), SCORES, 0, 0, []),
        (
            "isotonic",
            LogisticMap(),
            SCORES > 0.15,
            1,
            0,
            [
                "1 of 4 cases has a score outside the range the map was fitted to: they get the probability at "
                "the end of the range.",
                "isotonic ties cases: 3 distinct scores became 2.",
            ],
        ),
        (
            "temperature",
            TemperatureMap(100.0),
            SCORES,
            2,
            2,
            [
                "2 of 4 cases have scores outside the range the map was fitted to: the map extrapolates there.",
                "2 cases have probability 0 for the actual class, which no temperature changes; the log loss stays "
                "infinite, and the fit ignores them.",
                "the temperature is at the limit of its search range, 0.01 to 100.",
            ],
        ),
    ],
)
def test_what_a_map_does_to_some_cases(method, map, after, outside, impossible, texts):
    assert [note.text for note in map_notes(method, map, SCORES, after, outside, impossible)] == texts

"""What is said of drift: a sentence for each cause, the notes beside it, and rows."""

import json
import math
from dataclasses import replace

import pytest

from scorespace.drift.result import FAMILY, TITLES, Drift, DriftAspect, ModelDrift
from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.tables import score_table

TABLE = score_table([1, 1, 1, 0, 0, 0] * 20, [0.9, 0.8, 0.3, 0.5, 0.2, 0.1] * 20)
_AREA = estimate(parse("auc"), TABLE)
# the interval of a difference of two independent numbers, here of the same one twice (Newcombe 1998)
FELL = f" The AUC fell by at most {math.hypot(_AREA.value - _AREA.low, _AREA.high - _AREA.value):.3f} (95 %)."


def aspects(change=0.1, **chances):
    """The family of tests within a model; those without a chance here stayed."""
    return tuple(
        DriftAspect(name, change=change, p=p, p_adjusted=p) for name in FAMILY[1:] if (p := chances.get(name, 0.6))
    )


def drift(cause, *, sizes=(900, 800), labelled=True, change=0.1, models=("m",), **chances):
    shares = DriftAspect("prevalence", 0.3, 0.45, change=0.15, p=chances.pop("shares", 0.6))
    held = tuple(ModelDrift(name, aspects(change, **chances), cause, (TABLE, TABLE)) for name in models)
    return Drift("bad", sizes, replace(shares, p_adjusted=shares.p), held, 999, labelled)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (drift("nothing"), f"No evidence of drift: no difference between the samples is significant.{FELL}"),
        (
            drift("nothing", sizes=(1200, 29)),
            "1 200 and 29 cases are too few to detect drift.",
        ),
        (
            drift("prevalence", shares=0.001),
            "The share of positives changed from 30.0 % to 45.0 % (p < 0.01). No evidence of a change of the scores "
            f"within the classes (p = 0.60).{FELL} Adapt thresholds and probabilities to the new share.",
        ),
        (
            drift("prevalence", shares=0.02, within=math.nan),
            (
                "The share of positives changed from 30.0 % to 45.0 % (p = 0.02). The samples have no class in "
                "common to compare."
            ),
        ),
        (
            drift("scores", within=0.002, meaning=0.001),
            (
                "The scores changed within the classes (p < 0.01). No evidence of a change of the share of "
                "positives (p = 0.60): probably the model or its inputs changed. Choose thresholds again, and "
                "recalibrate the scores."
            ),
        ),
        (
            drift("scores", scores=0.03, shares=0.04),
            (
                "The scores changed (p = 0.03). No clear evidence of a change of the share of positives (p = "
                "0.04): probably the model or its inputs changed. Choose thresholds again."
            ),
        ),
        (
            drift("calibration", meaning=0.001, scores=0.04, change=-0.0512),
            (
                "Calibration changed (p < 0.01): on average 5.1 points fewer positives at equal scores. No "
                "clear evidence of a change of the distribution of the scores (p = 0.04). Recalibrate the "
                "scores."
            ),
        ),
        (
            drift("mix", scores=0.001),
            "The case mix changed: the distribution of the scores differs (p < 0.01). No evidence of a change of the "
            f"share of positives at equal scores (p = 0.60).{FELL}",
        ),
        (
            drift("mix", scores=0.001, meaning=math.nan),
            "The case mix changed: the distribution of the scores differs (p < 0.01). No evidence of a change of the "
            f"share of positives at equal scores (not testable).{FELL}",
        ),
        (
            drift("several", scores=0.001, meaning=0.02),
            (
                "Several aspects changed: scores, all cases (KS) (p < 0.01), positives at equal scores (p = "
                "0.02). No single cause explains them."
            ),
        ),
        (
            drift("several", scores=0.001),
            "Changed: scores, all cases (KS) (p < 0.01). No single cause explains it.",
        ),
        (
            drift("nothing", labelled=False),
            "No evidence that the scores changed (KS 0.100, p = 0.60). Calibration cannot be tested without the truth.",
        ),
        (
            drift("scores", labelled=False, scores=0.004),
            (
                "The scores changed (KS 0.100, p < 0.01). Whether the cases or the model changed is unknown "
                "without the truth."
            ),
        ),
        (
            drift("nothing", labelled=False, sizes=(29, 5)),
            "29 and 5 scores are too few to detect drift.",
        ),
        (
            drift("nothing", models=("a", "b")),
            f"a: No evidence of drift: no difference between the samples is significant.{FELL}\n"
            f"b: No evidence of drift: no difference between the samples is significant.{FELL}",
        ),
    ],
)
def test_the_words(found, words):
    assert repr(found) == found.words == words


def test_the_cause_of_several_models_is_that_on_which_they_agree():
    one, other = drift("scores").models[0], drift("mix").models[0]
    still = drift("nothing").models[0]
    for models, cause in [((one, still), "scores"), ((one, other), "several"), ((still, still), "nothing")]:
        found = replace(drift("nothing"), models=models)
        assert (found.cause, found.moved) == (cause, cause != "nothing")


def test_the_notes():
    assert drift("nothing").notes == ()
    assert [(note.code, note.text) for note in drift("mix", sizes=(150, 900)).notes] == [
        ("SS030", "the samples differ significantly: a change of the case mix."),
        # Two standard errors and the power of 80 %: 2.8 · √(p (1 − p) (1/150 + 1/900)), p the share of both.
        (
            "SS029",
            "with 150 and 900 cases only large changes are detectable: of the share of positives, about "
            f"{2.8 * math.sqrt(0.4286 * 0.5714 * (1 / 150 + 1 / 900)):.2f} or more.",
        ),
    ]
    (small,) = drift("nothing", labelled=False, sizes=(50, 60)).notes
    assert small.text == "with 50 and 60 cases only large changes are detectable."


def test_rows_and_json():
    found = drift("scores", models=("a", "b"), scores=0.001)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["causes"] == {"a": "scores", "b": "scores"}
    assert (told["data"], told["verdict"]) == ({"before": 900, "after": 800, "positive": "bad"}, found.words)
    assert [(row["model"], row["aspect"]) for row in told["rows"]] == [
        (None, "prevalence"),
        *((model, name) for model in "ab" for name in FAMILY[1:]),
    ]
    assert told["rows"][1]["before"] is None
    assert found.models[0]["scores"].title == TITLES["scores"]

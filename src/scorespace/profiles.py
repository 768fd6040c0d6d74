"""Profiles: what a profession expects of an evaluation (names, default measures, words for outcomes)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from scorespace.errors import ScoreSpaceError, did_you_mean

if TYPE_CHECKING:  # the help of the command line lists the profiles, and loads no measures
    from scorespace.measures import MeasureSpec

GENERAL: Final = "general"
ENVIRONMENT: Final = "SCORESPACE_PROFILE"

_LABELS: Final = {
    "auc": "AUC",
    "auprc": "PR AUC",
    "ap": "average precision",
    "ndcg": "nDCG",
    "rr": "reciprocal rank",
    "pauc": "partial AUC",
    "auch": "hull AUC",
    "smauc": "smooth AUC",
    "gini": "Gini",
    "ks": "KS",
    "h": "H",
    "brier": "Brier",
    "logloss": "log loss",
    "cal": "CAL",
    "ref": "REF",
    "ece": "ECE",
    "rps": "RPS",
    "acc": "accuracy",
    "bacc": "balanced accuracy",
    "tpr": "recall",
    "tnr": "specificity",
    "fpr": "FPR",
    "ppv": "precision",
    "npv": "NPV",
    "f1": "F1",
    "mcc": "MCC",
    "mae": "MAE",
    "rmse": "RMSE",
    "mse": "MSE",
    "r2": "R²",
}


@dataclass(frozen=True)
class Profile:
    """What a profession expects; no profile changes a number.

    Attributes
    ----------
    name, title : str
        The name that users type, and for whom it is.
    labels : mapping of str to str
        Names of measures as the profession writes them; a measure that a user requests keeps the typed name.
    ranking, probability, threshold, decisions : tuple of str
        Default measures of binary scores, of probabilities, at a threshold, and of crisp decisions.
    predicted : tuple of str
        Words for predicted positive and predicted negative; `{}` is replaced by the label of the class.
    parity : bool
        Whether parity criteria are also shown for slices.
    checklists : bool
        Whether the report shows the flow of participants and the reporting checklists.
    full : bool
        Whether all measures are shown and tables are not shortened.
    sections : tuple of str
        Sections of the report that come first, in this order; some are shown only where they are named here.
    """

    name: str
    title: str
    labels: Mapping[str, str] = field(default_factory=dict)
    ranking: tuple[str, ...] = ("auc", "auprc")
    probability: tuple[str, ...] = ("brier",)
    threshold: tuple[str, ...] = ("tpr", "tnr", "ppv")
    decisions: tuple[str, ...] = ("acc", "bacc", "tpr", "tnr", "ppv")
    predicted: tuple[str, str] = ("predicted {}", "predicted {}")
    parity: bool = False
    checklists: bool = False
    full: bool = False
    sections: tuple[str, ...] = ()

    def label(self, spec: MeasureSpec) -> str:
        """The name of a measure for people: the typed one, else that of the profile; with class, without threshold.

        >>> from scorespace.measures import MeasureSpec
        >>> PROFILES["clinical"].label(MeasureSpec("tpr", at=0.5)), PROFILES["general"].label(MeasureSpec("auc"))
        ('sensitivity', 'AUC')
        """
        bare = spec if getattr(spec.at, "in_name", False) else replace(spec, at=None)
        if spec.asked is not None or spec.options:
            return str(bare)
        return str(replace(bare, asked=(_LABELS | dict(self.labels)).get(spec.name)))

    def outcomes(self, positive: str, negative: str) -> tuple[str, str]:
        """The headings of predicted positives and predicted negatives.

        >>> PROFILES["general"].outcomes("bad", "good"), PROFILES["credit"].outcomes("bad", "good")
        (('predicted bad', 'predicted good'), ('rejected', 'accepted'))
        """
        return self.predicted[0].format(positive), self.predicted[1].format(negative)

    def predictions(self, positive: str, negative: str) -> tuple[str, str]:
        """What happens to predicted positives and predicted negatives, as the predicate of a sentence.

        >>> PROFILES["credit"].predictions("bad", "good"), PROFILES["clinical"].predictions("ill", "well")
        (('are rejected', 'are accepted'), ('test positive', 'test negative'))
        """
        first, second = (
            text if text.startswith("test ") else f"are {text}" for text in self.outcomes(positive, negative)
        )
        return first, second


_CLINICAL: Final = {"tpr": "sensitivity", "tnr": "specificity", "ppv": "PPV", "npv": "NPV"}

_CREDIT_SECTIONS: Final = (
    *("verdict", "discrimination", "curves", "calibration", "grades", "stability", "since", "concentration"),
)

PROFILES: Final = {
    one.name: one
    for one in (
        Profile(GENERAL, "machine learning and statistics"),
        Profile(
            "clinical",
            "diagnostic tests and clinical prediction models",
            labels=_CLINICAL,
            ranking=("auc",),
            threshold=("tpr", "tnr", "ppv", "npv"),
            decisions=("tpr", "tnr", "ppv", "npv"),
            predicted=("test positive", "test negative"),
            checklists=True,
        ),
        Profile(
            "credit",
            "credit scoring",
            ranking=("auc", "gini", "ks"),
            predicted=("rejected", "accepted"),
            parity=True,
            sections=_CREDIT_SECTIONS,
        ),
        Profile("fraud", "rare events and alerts", ranking=("ap", "auc"), predicted=("flagged", "cleared")),
        Profile("forecasting", "forecasts of numbers"),
        Profile("lecture", "teaching: every measure, no table shortened", full=True),
    )
}


def find_profile(name: str | None = None) -> Profile:
    """The profile of that name, that of the environment, or the general one.

    >>> find_profile("credit").predicted
    ('rejected', 'accepted')
    """
    wanted = name or os.environ.get(ENVIRONMENT) or GENERAL
    if wanted not in PROFILES:
        hint = did_you_mean(wanted, PROFILES, f"one of {', '.join(PROFILES)}")
        raise ScoreSpaceError(f"there is no profile {wanted!r}.", hint=hint)
    return PROFILES[wanted]

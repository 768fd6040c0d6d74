"""The operating condition: what errors cost and how common the positive class is in use."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scorespace.errors import ConditionError


@dataclass(frozen=True)
class Condition:
    """Costs of the four outcomes and the prevalence of the population the decision is for.

    Costs may be negative (gains). Without a prevalence, that of the sample holds.

    >>> round(Condition(fp=1, fn=5, prevalence=0.3).slope(), 4)
    0.4667
    """

    fp: float = 1.0
    fn: float = 1.0
    tp: float = 0.0
    tn: float = 0.0
    prevalence: float | None = None

    def __post_init__(self) -> None:
        for name in ("fp", "fn", "tp", "tn"):
            cost = getattr(self, name)
            if not math.isfinite(cost):
                raise ConditionError(f"{name}={cost} is not a cost.", hint=f"a finite number, such as {name}=1")
        if self.prevalence is not None and not 0 < self.prevalence < 1:
            raise ConditionError(
                f"prevalence={self.prevalence} is not a share of positives.",
                hint="a number between 0 and 1, such as prevalence=0.3",
            )
        if self.fp <= self.tn or self.fn <= self.tp:
            always = "positive" if self.fp <= self.tn else "negative"
            raise ConditionError(
                f"under these costs predicting {always} is never the worse decision, so no model is needed.",
                seen=f"fp={self.fp:g}, tn={self.tn:g}, fn={self.fn:g}, tp={self.tp:g}",
                hint="let each error cost more than the right decision on the same case: fp > tn and fn > tp",
            )

    def slope(self, prevalence: float | None = None) -> float:
        """Slope of the lines of equal cost in ROC space: (fp − tn)·(1 − π) / ((fn − tp)·π)."""
        share = self.prevalence if self.prevalence is not None else prevalence
        if share is None:
            raise ConditionError("the slope needs a prevalence.", hint="Condition(fp=1, fn=5, prevalence=0.3)")
        return (self.fp - self.tn) * (1 - share) / ((self.fn - self.tp) * share)

    @property
    def calibrated_threshold(self) -> float:
        """Least-cost threshold for calibrated probabilities: (fp − tn) / (fp − tn + fn − tp)."""
        return (self.fp - self.tn) / (self.fp - self.tn + self.fn - self.tp)

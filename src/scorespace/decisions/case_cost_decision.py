"""The decision under costs that differ from case to case: its choices, and its words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from scorespace.case_costs import CaseCosts, Rule
from scorespace.decisions.out_of_sample import UNKNOWN_COST, CostEstimate
from scorespace.results import Note, Result, Row, decimals, note, to_json_types
from scorespace.tables.threshold import threshold_text

_ACTING: Final = {"act on all": "acting on every case", "act on none": "acting on no case"}


@dataclass(frozen=True)
class CaseCostChoice:
    """A model with the rule and threshold of minimum cost, and its cost per case.

    `apparent` is the cost on the cases that chose the threshold, `acted` the share of them that is acted on.
    """

    model: str
    rule: Rule
    threshold: float
    apparent: CostEstimate
    acted: float
    out_of_sample: CostEstimate = UNKNOWN_COST
    savings: CostEstimate = UNKNOWN_COST

    @property
    def cost_per_case(self) -> float:
        """Apparent cost per case."""
        return self.apparent.value

    @property
    def words(self) -> str:
        """The model and the cases on which it acts."""
        if math.isnan(self.threshold):
            return self.model
        if self.rule == "score":
            return f"{self.model} at threshold {threshold_text(self.threshold)}"
        return f"{self.model} where the expected gain is {threshold_text(self.threshold)} or more"

    def row(self) -> Row:
        """A tidy row."""
        values = {"model": self.model, "rule": self.rule, "threshold": self.threshold, "acted": self.acted}
        cost = self.apparent.row("cost_per_case")
        more = self.out_of_sample.row("cross_fitted", "cross_fitted_cost") | self.savings.row("savings")
        return to_json_types(values | cost | more | {"reason": self.out_of_sample.reason})


@dataclass(frozen=True, repr=False)
class CaseCostDecision(Result):
    """Model and threshold of minimum cost where costs differ from case to case.

    `out_of_sample` is the cost of the whole procedure, which chooses model and threshold; `gain` its saving per case
    against the cheaper constant rule, `savings` the same as a share; `over` the saving against each model alone.
    `other_rules` are the rules by expected gain, `by_gain` the best of them with its saving, `miscalibrated` what the
    case-wise rule costs more than a chosen value of the gain. `fitted` names the sample that chose, if it is another
    one.
    """

    condition: CaseCosts
    choices: tuple[CaseCostChoice, ...]
    trivial: Mapping[str, CostEstimate]
    out_of_sample: CostEstimate = UNKNOWN_COST
    savings: CostEstimate = UNKNOWN_COST
    gain: CostEstimate = UNKNOWN_COST
    over: Mapping[str, CostEstimate] = field(default_factory=dict)
    other_rules: tuple[CaseCostChoice, ...] = ()
    miscalibrated: Mapping[str, CostEstimate] = field(default_factory=dict)
    fitted: str | None = None
    by_gain: tuple[CaseCostChoice, CostEstimate] | None = None

    @property
    def best(self) -> CaseCostChoice:
        """The choice of minimum apparent cost; the first of ties."""
        return min(self.choices, key=lambda choice: choice.cost_per_case)

    @property
    def better_trivial(self) -> str:
        """The cheaper of acting on all cases and on none."""
        return min(self.trivial, key=lambda name: self.trivial[name].value)

    @property
    def shown(self) -> bool:
        """Whether the out-of-sample cost is clearly below that of the cheaper constant rule."""
        return self.gain.low > 0

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on few cases that bear the cost, on miscalibrated gains, and on what was chosen on these cases."""
        found = []
        own = self.best.out_of_sample
        estimate = self.best.apparent if math.isnan(own.value) else own
        if estimate.reason is not None and estimate.known:
            found.append(note("SS045", f"The cost per case {estimate.reason}."))
        for model, more in self.misses:
            text = f"The expected gains of {model} are biased: acting on gains of 0 or more costs {more.text}"
            found.append(note("SS022", f"{text} more per case than from the chosen value on."))
        if self.fitted is None and not all(math.isnan(one.threshold) for one in self.choices):
            unknown = math.isnan(self.out_of_sample.value) and self.out_of_sample.reason
            rest = f"; the out-of-sample cost is unknown: {self.out_of_sample.reason}" if unknown else ""
            if self.condition.rule != "casewise":
                text = f"the threshold of {self.best.model} was chosen on these cases, so values at it are apparent"
                found.append(note("SS013", f"{text}{rest}."))
        return tuple(found)

    @property
    def misses(self) -> list[tuple[str, CostEstimate]]:
        """The models whose expected gains are clearly biased."""
        return list(self.miscalibrated.items())

    @property
    def kind(self) -> str:
        """Population of the out-of-sample cost."""
        return "external" if self.fitted is not None else "cross-fitted"

    @property
    def words(self) -> str:
        """The recommendation with its cost, and what the alternatives cost."""
        best, estimate = self.best, self.best.out_of_sample
        source = "" if self.fitted is None else f", chosen on {self.fitted}"
        rules = ", ".join(f"{_ACTING[name]} costs {decimals(one.value)}" for name, one in self.trivial.items())
        if math.isnan(estimate.value):
            return f"At these costs use {best.words}{source}: {best.apparent.text} per case, apparent; {rules}."
        kind = self.kind if self.condition.rule != "casewise" or self.fitted is not None else "nothing fitted"
        if not self.shown:
            subject = "no model" if len(self.choices) > 1 else best.model
            clearly = "clearly better" if len(self.choices) > 1 else "not clearly better"
            text = f"At these costs {subject} is {clearly} than {_ACTING[self.better_trivial]}"
            return f"{text}: {best.words}{source} costs {estimate.text} per case, {kind}; {rules}.{self._gain_text}"
        saved = "" if math.isnan(best.savings.value) else f"; savings {self._saved}"
        text = f"At these costs use {best.words}{source}: {estimate.text} per case, {kind}; {rules}{saved}."
        return f"{text}{self._gain_text}"

    @property
    def _gain_text(self) -> str:
        """How much a rule that uses the costs of each case would save, if clearly."""
        if self.by_gain is None or not self.by_gain[1].low > 0:
            return ""
        choice, saved = self.by_gain
        return (
            f" Acting by the expected gain of each case (--rule {choice.rule}, {choice.model}) costs {saved.text} less."
        )

    @property
    def _saved(self) -> str:
        savings = self.best.savings
        value, low, high = (f"{100 * one:.0f}".replace("-", "−") for one in (savings.value, savings.low, savings.high))
        return f"{value} % [{low}, {high}]"

    def rows(self) -> list[Row]:
        """One row for each choice, those of the other rules after those of the stated one."""
        return [choice.row() for choice in (*self.choices, *self.other_rules)]

    def facts(self) -> Row:
        """The recommendation and the costs of the alternatives."""
        chosen = self.best.row()
        return {
            "model": chosen["model"],
            "rule": chosen["rule"],
            "threshold": chosen["threshold"],
            "cost_per_case": chosen["cost_per_case"],
            "costs": self.condition.stated(),
            **self.out_of_sample.row("cross_fitted", "cross_fitted_cost"),
            **self.savings.row("savings"),
            **self.gain.row("gain"),
            "shown": self.shown,
            "reason": self.out_of_sample.reason,
            "fitted": self.fitted,
            "constant": [{"rule": name, **one.row("cost_per_case")} for name, one in self.trivial.items()],
        }

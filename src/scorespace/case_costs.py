"""Costs of each case: which of the four costs are columns, and the rule by which cases are acted on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from scorespace.argument_checks import check_type
from scorespace.costs import check_cost
from scorespace.errors import ConditionError

Rule = Literal["score", "casewise", "expected_gain"]
RULES: Final[tuple[Rule, ...]] = get_args(Rule)
SIDES: Final = ("fp", "fn", "tp", "tn")


@dataclass(frozen=True)
class CaseCosts:
    """Costs of the four outcomes that differ from case to case: each is a number, or the name of a column.

    Parameters
    ----------
    fp, fn, tp, tn : float or str
        Costs of a false positive, false negative, true positive and true negative; gains are negative.
    rule : {"score", "casewise", "expected_gain"}
        Act on scores from a threshold on; on cases whose expected gain is at least 0; or on expected gains from a
        threshold on. The last two need probabilities, and every cost known before the outcome.

    See Also
    --------
    Condition

    References
    ----------
    Bahnsen, A. C., Aouada, D., & Ottersten, B. (2015). Example-dependent cost-sensitive decision trees. Expert Systems
    with Applications, 42(19), 6609-6619.

    Examples
    --------
    >>> CaseCosts(fp=5, fn="amount", tp=5).columns
    ('amount',)
    """

    fp: float | str = 0.0
    fn: float | str = 0.0
    tp: float | str = 0.0
    tn: float | str = 0.0
    rule: Rule = "score"

    def __post_init__(self) -> None:
        for name in SIDES:
            value = getattr(self, name)
            check_type(name, value, float | str)
            if not isinstance(value, str):
                check_cost(name, value)
        if self.rule not in RULES:
            raise ConditionError(f"rule={self.rule!r} is unknown.", hint=f"one of {', '.join(RULES)}")
        if not self.columns:
            raise ConditionError("no cost is a column.", hint="Condition(fp=1, fn=5) for costs that all cases share")
        for error, right, example in (("fp", "tn", "fp=5"), ("fn", "tp", "fn='amount'")):
            if not getattr(self, error) and not getattr(self, right):
                raise ConditionError(
                    f"an error costs nothing: {error} and {right} are both 0.",
                    seen=", ".join(f"{name}={value}" for name, value in self.stated().items()),
                    hint=f"state both sides, such as {example}",
                )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that hold costs, each once."""
        values = (getattr(self, name) for name in SIDES)
        return tuple(dict.fromkeys(value for value in values if isinstance(value, str)))

    def stated(self, classes: tuple[str, ...] = ()) -> dict[str, Any]:
        """Costs as options of a measure: those of both errors, and others that are not 0.

        Parameters
        ----------
        classes : tuple of str
            Not used; a cost matrix needs it.

        Returns
        -------
        dict
            Numbers and names of columns, by name.
        """
        return {name: getattr(self, name) for name in SIDES if name in ("fp", "fn") or getattr(self, name)}

    def swapped(self) -> CaseCosts:
        """The costs with the other class as positive."""
        return CaseCosts(fp=self.fn, fn=self.fp, tp=self.tn, tn=self.tp, rule=self.rule)

    def describe(self) -> str:
        """The costs in words, such as "FP 5, FN amount"."""
        return ", ".join(
            f"{name.upper()} {value if isinstance(value, str) else format(value, 'g')}"
            for name, value in self.stated().items()
        )


def case_costs_from_flags(stated: Mapping[str, Any], rule: str | None = None) -> CaseCosts | None:
    """Build costs per case from command-line flags, if any of them is a column; None if all are numbers.

    >>> case_costs_from_flags({"cost-fp": 5.0, "cost-fn": "amount", "prevalence": None})
    CaseCosts(fp=5.0, fn='amount', tp=0.0, tn=0.0, rule='score')
    """
    sides = {name.removeprefix("cost-"): value for name, value in stated.items() if value is not None}
    if not any(isinstance(value, str) for value in sides.values()):
        if rule is not None:
            raise ConditionError(
                f"--rule {rule} needs costs that differ from case to case.",
                hint="--cost-fn COL --cost-fp 5; with equal costs, decide's threshold does the same",
            )
        return None
    prevalence = sides.pop("prevalence", None)
    if prevalence is not None and not math.isnan(prevalence):
        raise ConditionError(
            "costs per case and a stated prevalence cannot be combined.",
            seen=f"--prevalence {prevalence:g}",
            hint="leave out --prevalence, or weight the cases: --weight COL",
        )
    sides = {name: value for name, value in sides.items() if name in SIDES}
    return CaseCosts(**sides, **({} if rule is None else {"rule": rule}))  # type: ignore[arg-type]

"""So what: which model and which threshold to use."""

from scorespace.decisions.constraint import ConstrainedChoice, Constraint, best_value, choose_on, choose_under
from scorespace.decisions.honest import Crossfit, crossfit
from scorespace.decisions.judged import Judged, Value
from scorespace.decisions.model import Choice, Decision, choose, decide, judge_on, least_cost
from scorespace.decisions.reject import MixtureChoice, RejectChoice, choose_mixture, choose_rejection
from scorespace.decisions.several import CostChoice, LeastCost, decide_several, least_cost_decisions
from scorespace.decisions.shift import ShiftChoice, ShiftDecision, choose_shift, decide_shift, judge_shift_on
from scorespace.decisions.threshold import BestThreshold, best_threshold

__all__ = [
    "BestThreshold",
    "Choice",
    "ConstrainedChoice",
    "Constraint",
    "CostChoice",
    "Crossfit",
    "Decision",
    "Judged",
    "LeastCost",
    "MixtureChoice",
    "RejectChoice",
    "ShiftChoice",
    "ShiftDecision",
    "Value",
    "best_threshold",
    "best_value",
    "choose",
    "choose_mixture",
    "choose_on",
    "choose_rejection",
    "choose_shift",
    "choose_under",
    "crossfit",
    "decide",
    "decide_several",
    "decide_shift",
    "judge_on",
    "judge_shift_on",
    "least_cost",
    "least_cost_decisions",
]

"""So what: which model and which threshold to use."""

from scorespace.decisions.constraint import ConstrainedChoice, Constraint, choose_under
from scorespace.decisions.model import Choice, Decision, decide
from scorespace.decisions.reject import MixtureChoice, RejectChoice, choose_mixture, choose_rejection
from scorespace.decisions.several import CostChoice, LeastCost, decide_several, least_cost_decisions
from scorespace.decisions.threshold import BestThreshold, best_threshold

__all__ = [
    "BestThreshold",
    "Choice",
    "ConstrainedChoice",
    "Constraint",
    "CostChoice",
    "Decision",
    "LeastCost",
    "MixtureChoice",
    "RejectChoice",
    "best_threshold",
    "choose_mixture",
    "choose_rejection",
    "choose_under",
    "decide",
    "decide_several",
    "least_cost_decisions",
]

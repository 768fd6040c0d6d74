"""So what: which model and which threshold to use."""

from scorespace.decisions.constraint import ConstrainedChoice, Constraint, best_value, choose_on, choose_under
from scorespace.decisions.honest import crossfit
from scorespace.decisions.judged import Value
from scorespace.decisions.model import Choice, Decision, choose, decide, judge_on, least_cost
from scorespace.decisions.reject import MixtureChoice, RejectChoice, choose_mixture, choose_rejection
from scorespace.decisions.several import CostChoice, decide_several, least_cost_decisions
from scorespace.decisions.shift import ShiftDecision, choose_shift, decide_shift, judge_shift_on
from scorespace.decisions.threshold import best_threshold

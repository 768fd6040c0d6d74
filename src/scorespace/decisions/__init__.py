"""Decisions: which model and which threshold to use."""

from scorespace.decisions.constraints import ConstrainedChoice
from scorespace.decisions.constraints import Constraint
from scorespace.decisions.constraints import best_value
from scorespace.decisions.constraints import evaluate_choice_on
from scorespace.decisions.constraints import choose_under
from scorespace.decisions.cross_fitting import crossfit
from scorespace.decisions.out_of_sample import CostEstimate
from scorespace.decisions.cost_decision import ModelAtThreshold
from scorespace.decisions.cost_decision import Decision
from scorespace.decisions.minimum_cost import choose
from scorespace.decisions.minimum_cost import decide
from scorespace.decisions.minimum_cost import evaluate_on
from scorespace.decisions.minimum_cost import least_cost
from scorespace.decisions.rejection import MixtureChoice
from scorespace.decisions.rejection import RejectChoice
from scorespace.decisions.rejection import choose_mixture
from scorespace.decisions.rejection import choose_rejection
from scorespace.decisions.multiclass import CostChoice
from scorespace.decisions.multiclass import decide_multiclass
from scorespace.decisions.multiclass import least_cost_decisions
from scorespace.decisions.asymmetric_loss import ShiftDecision
from scorespace.decisions.asymmetric_loss import choose_shift
from scorespace.decisions.asymmetric_loss import decide_shift
from scorespace.decisions.asymmetric_loss import evaluate_shift_on
from scorespace.decisions.threshold import best_threshold

"""How it changes: curves over all thresholds, from one table each, every kind declared once."""

from scorespace.curves.curve import CURVES, Curve, curve
from scorespace.curves.hull import Corner, Hull, Mixture, hull  # this and what follows: the order of the catalogue
from scorespace.curves.roc import RocCurve, roc
from scorespace.curves.pr import PrCurve, pr
from scorespace.curves.smooth import SmoothCurve, smooth, softened
from scorespace.curves.cost import cost_curve, iso_line
from scorespace.curves.brier import brier_curve, net_benefit, optimal_curve
from scorespace.curves.calibration import CalibrationCurve, calibration
from scorespace.curves.gain import gain, lift_curve
from scorespace.curves.isotonic import isotonic
from scorespace.curves.midpoint import learn_midpoint
from scorespace.curves.rejection import RejectRule, chow, rejection
from scorespace.curves.residuals import error_size, predicted, quantiles, residuals
from scorespace.curves.rroc import RrocCurve, rroc, rroc_hull
from scorespace.curves.sweep import sweep
from scorespace.curves.certain import bounded_area
